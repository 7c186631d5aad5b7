r"""Programs as texts: languages whose functions are functions of the library.

>>> import tempfile
>>> from pathlib import Path
>>> from adjoint import grad
>>> file = Path(tempfile.mkdtemp()) / "page.cad"
>>> _ = file.write_text("fun f x = ln (#1 x * cos (#2 x))\nfun norm v = dprod (v, v)\n")
>>> page = load(file)
>>> page.f
<f : (real * real) -> real>
>>> print(page.f(2.0, 0.0), "|", page.f.of())
0.6931471805599453 ∈ ℝ | (x₁, x₂) ↦ ln(x₁·cos x₂)
>>> from hilbert import Fin, R
>>> print(grad(page.norm.of(R ** Fin.of(2)))((R ** Fin.of(2)).vec([1.0, 2.0])))
[2.0, 4.0] ∈ ℝ^2
"""

from adjoint.languages.load import LANGUAGES, load
from adjoint.languages.loaded_functions import Loaded, LoadedFunction
from adjoint.languages.source_text import Source

__all__ = ["LANGUAGES", "Loaded", "LoadedFunction", "Source", "load"]
