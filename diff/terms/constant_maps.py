"""Functions that are not made by tracing: constants and bilinear maps (paper §3.1, §3.4).

>>> from hilbert import Fin, R
>>> from linmap.contraction import matrix_vector
>>> X, Y = Fin.of(3), Fin.of(2)
>>> print(constant(R.vec(2.0), R), bilinear(matrix_vector(Y, X)))
K[2] (⋆)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from diff.terms.nodes import Bilinear, Constant
from hilbert import R, Type
from hilbert.base.attach import overloaded
from hilbert.space.space import require_type
from hilbert.space.vector import require_vector
from linmap import identity, parallel, red
from linmap.contraction import require_contraction, scalar
from linmap.relational.entries import table_of
from linmap.term.maps import in_order

if TYPE_CHECKING:
    from diff import _calls
    from diff.terms.function import Fun
    from hilbert import DirectSum, Vec
    from linmap import Contraction

U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def constant(w: Vec[W], V: V) -> Fun[V, W]:
    """K_w : V → W, v ↦ w; raises SpaceError unless V is a type and w a vector."""
    require_vector(w, "constant(w, V)")
    require_type(V, "constant(w, V)")
    return Constant(V, w)


def bilinear(c: Contraction[U, V, W]) -> Fun[DirectSum[U, V], W]:
    """⋄ : U ⊕ V → W, a bilinear map as its contraction (see `linmap.contraction`); SpaceError for other things."""
    require_contraction(c, "bilinear")
    return Bilinear(c)


@overloaded(lambda: _calls.sparse_product)
def sparse_product(rows: Any, cols: Any, X: Any, Y: Any, V: Any = R, *, entries: Any = None) -> Any:
    """sparse_product : ℝ^K ⊕ V^X → V^Y, (w, v) ↦ (Σ w_k·v_{cols[k]} over rows[k] = y)_y, bilinear.

    A sparse matrix whose entries w are an argument: `entries` is K, one for each of its pairs; rows are elements of Y,
    columns of X. Raises SpaceError for elements outside X or Y, and for unequal lengths.
    """
    in_order("sparse_product(rows, cols, X, Y, V)", V, X, Y, tables=(rows, cols))
    target = table_of(rows, Y, entries, "sparse_product")
    source = table_of(cols, X, target.dom, "sparse_product")
    c = scalar(V)
    gathered = parallel(identity(c.left**target.dom), red(source.T, V))
    return red(target, V) @ bilinear(c.lifted(target.dom)) @ gathered
