"""Functions that are not made by tracing: constants and bilinear maps (paper §3.1, §3.4).

>>> from hilbert import Fin, R
>>> from linmap.contraction import matrix_vector
>>> X, Y = Fin.of(3), Fin.of(2)
>>> print(constant(R, R.vec(2.0)), bilinear(matrix_vector(Y, X)))
K[2] (⋆)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from diff.term import Bilinear, Constant
from hilbert import Type
from hilbert.space import require_type
from hilbert.vector import require_vector
from linmap.contraction import require_contraction

if TYPE_CHECKING:
    from diff.term import Fun
    from hilbert import DirectSum, Vec
    from linmap import Contraction

U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def constant(V: V, w: Vec[W]) -> Fun[V, W]:
    """K_w : V → W, v ↦ w; raises SpaceError unless V is a type and w a vector."""
    require_type(V, "constant(V, w)")
    require_vector(w, "constant(V, w)")
    return Constant(V, w)


def bilinear(c: Contraction[U, V, W]) -> Fun[DirectSum[U, V], W]:
    """⋄ : U ⊕ V → W, a bilinear map as its contraction (see `linmap.contraction`); SpaceError for other things."""
    require_contraction(c, "bilinear")
    return Bilinear(c)
