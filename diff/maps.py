"""Functions that are not made by tracing: constants and bilinear maps (paper §3.1, §3.4).

>>> from hilbert import Fin, R
>>> from linmap.contraction import matrix_vector
>>> X, Y = Fin.of(3), Fin.of(2)
>>> print(constant(R, R.vec(2.0)), bilinear(matrix_vector(Y, X)))
K[2] (⋆)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from diff.term import Bilinear, Constant
from hilbert import SpaceError, Type, Vec
from linmap.contraction import Contraction

if TYPE_CHECKING:
    from diff.term import Fun

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def constant(V: V, w: Vec[W]) -> Fun[V, W]:
    """K_w : V → W, v ↦ w; raises SpaceError unless V is a type and w a vector."""
    if not isinstance(V, Type) or not isinstance(w, Vec):
        what = f"{type(V).__name__} and {type(w).__name__}"
        msg = f"constant takes a space and a vector, not {what}: constant(V, W.vec(data))"
        raise SpaceError(msg)
    return Constant(V, w)


def bilinear(c: Contraction) -> Fun[Any, Any]:
    """⋄ : U ⊕ V → W, a bilinear map as its contraction (see `linmap.contraction`); SpaceError for other things."""
    if not isinstance(c, Contraction):
        msg = f"bilinear takes a Contraction, not {type(c).__name__}: see linmap.contraction"
        raise SpaceError(msg)
    return Bilinear(c)
