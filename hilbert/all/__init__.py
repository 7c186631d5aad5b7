"""One door: every public name of the four packages, as in `import hilbert.all as hb`.

A name is imported when somebody asks for it first. `dir(hb)` and `from hilbert.all import *` show the names that models
are written with; the others are reached as `hb.name` as well, and are listed by subject in modules: `hb.bridges`,
`hb.checks`, `hb.datatypes`, `hb.fitting`, `hb.jets`, `hb.laws`, `hb.linalg`, `hb.matrices`, `hb.relations`,
`hb.special`, `hb.tensors` and `hb.terms`.

The packages stay layers, of which each imports only those below it; the door stands above them all, and none imports
it. Tests hold its names to theirs.

>>> import hilbert.all as hb
>>> X = hb.Fin.of(3)
>>> f = hb.fun(hb.R**X)(lambda x: hb.sin(x) @ x)
>>> print(hb.grad(f))
x ↦ sin x + (cos x)·x
"""

from importlib import import_module as _import_module
from sys import modules as _modules
from typing import TYPE_CHECKING

from hilbert.base.lazy import require_own as _require_own

_require_own("linmap", "diff", "adjoint")  # before they are imported

import adjoint as _adjoint
import diff as _diff
import hilbert as _hilbert
import linmap as _linmap
from hilbert import __version__ as __version__

if TYPE_CHECKING:
    from adjoint import *
    from diff import *
    from hilbert import *
    from hilbert.all import (
        bridges as bridges,
    )
    from hilbert.all import (
        checks as checks,
    )
    from hilbert.all import (
        datatypes as datatypes,
    )
    from hilbert.all import (
        fitting as fitting,
    )
    from hilbert.all import (
        jets as jets,
    )
    from hilbert.all import (
        laws as laws,
    )
    from hilbert.all import (
        linalg as linalg,
    )
    from hilbert.all import (
        matrices as matrices,
    )
    from hilbert.all import (
        relations as relations,
    )
    from hilbert.all import (
        special as special,
    )
    from hilbert.all import (
        tensors as tensors,
    )
    from hilbert.all import (
        terms as terms,
    )
    from linmap import *
else:
    _SHOWN = {
        "spaces": "Axis Bool Boolean Copower Coproduct DirectSum Elements Field Fin Index Integers Labelled Map Matrix "
        "Part Product R R32 Record Relation Scalar Space SpaceError TensorProduct Type Vec Vector Z direct_sum fan_in "
        "initial load save",
        "functions": "Expr Fun batched blocked build compiled const constant distributed each entry fixed_point fold "
        "fun iterate kept lift made onehot operation program root select show where while_ again",
        "primitives": "absolute acos acosh asin asinh atan atan2 atanh cos cosh divide erf exact_tanh exp expm1 gelu "
        "hypot log log10 log1p log2 logaddexp maximum minimum pow power reciprocal relu sigmoid sign sin sinh softplus "
        "sqrt square stop_gradient tan tanh",
        "vocabulary": "concatenate contract conv dot gather inner outer segment_sum solve stack",
        "derivatives": "Derivative LinMap adjoint cost derivative equal explain grad hessian hvp jacobian jvp matrix "
        "simplify structure value_and_grad vjp",
        "checks": "check check_adjoint check_derivative verify",
        "fitting": "gauss_newton laplace levenberg_marquardt minimizer",
        "bridges": "as_jax as_scipy as_torch nlp parquet",
    }
    _DOORS = (
        "bridges",
        "checks",
        "datatypes",
        "fitting",
        "jets",
        "laws",
        "linalg",
        "matrices",
        "relations",
        "special",
        "tensors",
        "terms",
    )
    __all__: list[str] = list(_DOORS)
    __all__ += [name for names in _SHOWN.values() for name in names.split()]

    def __getattr__(name: str) -> object:
        """A public name of a package, or a module of this one; for a function of numpy the error says what to write."""
        if name in _DOORS:
            return _import_module(f"{__name__}.{name}")
        for package in (_hilbert, _linmap, _diff, _adjoint):
            if name in package.__all__:
                value = globals()[name] = getattr(package, name)
                return value
        if name == "relation":  # a room of hilbert, that is no name of its own
            raise AttributeError("hilbert.all has no relation: write from hilbert import relation", name=name)
        words = _import_module("hilbert.base.numpy_names")
        remedy = words.FUNCTIONS.get(name) or words.ARRAYS.get(name)
        raise AttributeError(
            f"hilbert has no {name}" + (f": write {remedy}" if remedy else ""), name=name, obj=_modules[__name__]
        )

    def __dir__() -> list[str]:
        return ["__all__", "__doc__", "__name__", "__version__", *__all__]
