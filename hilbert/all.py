"""One door: every public name of the four packages, as in `import hilbert.all as hb`.

The packages stay layers, of which each imports only those below it; this module stands above them all, and none imports
it. A test holds it to the union of their names.

>>> import hilbert.all as hb
>>> X = hb.Fin.of(3)
>>> f = hb.fun(hb.R**X)(lambda x: hb.sin(x) @ x)
>>> print(hb.grad(f))
x ↦ sin x + (cos x)·x
"""

from sys import modules as _modules
from typing import TYPE_CHECKING, Any

import adjoint as _adjoint
import diff as _diff
import hilbert as _hilbert
import linmap as _linmap
from adjoint import *
from diff import *
from hilbert import *
from hilbert.base.numpy_names import ARRAYS as _ATTRIBUTES
from hilbert.base.numpy_names import FUNCTIONS as _FUNCTIONS
from linmap import *

__all__: list[str] = []
__all__ += _hilbert.__all__
__all__ += _linmap.__all__
__all__ += _diff.__all__
__all__ += _adjoint.__all__

if not TYPE_CHECKING:  # to a type checker there are the public names only

    def __getattr__(name: str) -> Any:
        """What to write for a function of numpy; raises AttributeError."""
        if name == "relation":  # a room of hilbert, that is no name of its own
            raise AttributeError("hilbert.all has no relation: write from hilbert import relation", name=name)
        remedy = _FUNCTIONS.get(name) or _ATTRIBUTES.get(name)
        raise AttributeError(
            f"hilbert has no {name}" + (f": write {remedy}" if remedy else ""), name=name, obj=_modules[__name__]
        )
