"""Methods of vectors and index sets that need higher rooms: norms, matrix products, scalars, tables.

>>> from hilbert import Fin, R
>>> v = (R ** Fin.of(2)).vec([3.0, 4.0])
>>> (v.tensor(v)).norm()
25.0
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hilbert.arrays.libraries.namespace import in_numpy, namespace
from hilbert.base.notarray import NotArray
from hilbert.errors import SpaceError
from hilbert.index.index import Anonymous, Fin, Index, Labelled, Product, require_index
from hilbert.index.labels import column_of, distinct_labels
from hilbert.index.spec import ALPHABET
from hilbert.map import matrix_product as matrices
from hilbert.space.nested_sums import apart
from hilbert.space.space import Copower, Elements, Field, Type, bracketing
from hilbert.space.vector import Vec
from hilbert.tensors import formal_tensors
from hilbert.tracebacks import cut

if TYPE_CHECKING:
    from collections.abc import Callable


def norm(v: Vec[Any], over: Any = None, **options: Any) -> Any:
    """‖v‖, or the norms along an axis."""
    if over is not None or options:
        return v._normed(over, **options)
    if v.is_formal:
        return formal_tensors.norm(v)
    try:
        square = v.inner(v)
        if LEAST < square < math.inf or math.isnan(square):
            return math.sqrt(square)
    except (RuntimeWarning, FloatingPointError):  # numpy's for an overflow
        pass
    return _scaled_norm(v)


LEAST = 1e-30
"""Sums of squares up to here may have lost some terms, in single precision."""


def _scaled_norm(v: Vec[Any]) -> float:
    """The norm of a vector whose squares leave the range of the numbers, or are 0."""
    most = 0.0
    for a in v.leaves:
        xp = namespace(a)
        most = max(most, float(xp.max(xp.abs(a)))) if math.prod(a.shape) else most
    if most in {0.0, math.inf}:
        return most
    w = v / most
    return most * math.sqrt(w.inner(w))


def matrix_product(v: Vec[Any], other: Any) -> Any:
    """v @ w."""
    try:
        if isinstance(other, Vec):
            return matrices.matrix_product(v, other)
        if isinstance(other, NotArray):  # an expression, or a map, which says how it is applied
            return NotImplemented
        return v._other(other, "v @ w", "a vector or a matrix would fit")
    except SpaceError as error:
        cut(error)
        raise


def zip_apart(v: Vec[Any], w: Vec[Any], sign: str, operation: Callable[[Any, Any], Any]) -> Any:
    """v + w of two spaces: one of them is a scalar, which stands for the vector with it in every entry."""
    a, b = _spread(v, w), _spread(w, v)
    if a.space == b.space:
        return a._zip(b, sign, operation)
    msg = f"cannot form v {sign} w: v is in {v.space} but w in {w.space}; both must be in one space"
    raise SpaceError(apart(v.space, w.space) + msg + difference(v.space, w.space))


def _spread(k: Vec[Any], like: Vec[Any]) -> Vec[Any]:
    """A scalar as a vector of the other's space; any other vector as it is."""
    if not is_over(like.space, k.space):
        return k
    (a,) = k.leaves
    if in_numpy(k.leaves):
        return like.filled(float(a))
    return Vec(like.space, tuple(namespace(a).broadcast_to(a, leaf.shape) for leaf in like.space.leaves))


def is_over(V: Type, K: Type) -> bool:
    """True if K is the field that all entries of V are in, and V is not K itself."""
    differ = isinstance(K, Field) and not isinstance(V, Field)
    return differ and all(leaf.entry == K.leaves[0].entry for leaf in V.leaves)


def difference(have: Type, want: Type) -> str:
    """The end of an error about two spaces that ought to be one."""
    found = bracketing(have, want) or _cast(have, want) or common_cells(have, want)
    return found or reshaping(have, want) or broadcasting(have, want)


def _cast(have: Type, want: Type) -> str:
    """The end of an error for the same space in the other precision."""
    axes = [[leaf.axes for leaf in space.leaves] for space in (have, want)]
    if axes[0] != axes[1] or not (have.is_space and want.is_space):
        return ""
    return "; the precisions differ: v.cast(R) is v in double precision, v.cast(R32) in single precision"


def common_cells(have: Type, want: Type) -> str:
    """The end of an error for slices of other sizes, as of the differences of neighbours along two axes."""
    if not (isinstance(have, Copower) and isinstance(want, Copower)) or have.base != want.base:
        return ""
    X, Y = have.index, want.index
    pairs = [(a, b) for a, b in zip(X.axes, Y.axes, strict=False) if a != b]
    is_repeated = any({a.size, b.size} & {0, 1} for a, b in pairs)
    if len(X.axes) != len(Y.axes) or X.shape == Y.shape or is_repeated:
        return ""
    if not all(_is_slice(a) or _is_slice(b) for a, b in pairs):
        return ""
    keys = ", ".join(":" if a == b else f":{min(a.size, b.size)}" for a, b in zip(X.axes, Y.axes, strict=True))
    both = f"of the left side x and the right side y, x[{keys}] and y[{keys}] are over the cells that both have"
    return f"; their shapes are {X.shape} and {Y.shape}: {both}"


def _is_slice(axis: Index) -> bool:
    """True for an axis without a name, as slices have."""
    return isinstance(axis, Fin) and axis.tag is Anonymous


def reshaping(have: Type, want: Type) -> str:
    """The end of an error for as many entries along other axes, as of ℝ^{X×1} beside ℝ^X: nothing is to be repeated."""
    if not (isinstance(have, Copower) and isinstance(want, Copower)) or have.base != want.base:
        return ""
    X, Y = have.index, want.index
    if X.size != Y.size or not X.size:
        return ""
    if isinstance(X, Product) and X.right * X.left == Y:
        return "; of the left side x, x.T is in the space of the right"
    if len(X.axes) == len(Y.axes) and 1 not in X.shape + Y.shape:
        return f"; their shapes are {X.shape} and {Y.shape}"
    return f"; they have as many entries: of the left side x, x.reshape(X) is over the index set X = {Y} of the right"


def broadcasting(have: Type, want: Type) -> str:
    """The end of an error where numpy would repeat the smaller of two along the axes that only the larger has."""
    if len(have.leaves) != 1 or len(want.leaves) != 1:
        return ""
    (a, b) = (have, want) if len(have.leaves[0].axes) >= len(want.leaves[0].axes) else (want, have)
    axes, few = a.leaves[0].axes, b.leaves[0].axes
    if not isinstance(a, Copower) or len(axes) == len(few) or not (a.is_space and b.is_space):
        return ""
    if not few and a.leaves[0].entry != b.leaves[0].entry:
        return "; the precisions differ: k.cast(F) is k in the field F"
    if not few:
        return f"; only +, - and * repeat a scalar: k.rep(V) is the vector with k in each entry, of V = {a}"
    letters = dict(zip(axes, ALPHABET, strict=False))
    if len(few) == 1 and axes == few * 2:
        return (
            f"; nothing is repeated by itself: for A ∈ V = {a} and v ∈ {b} write A + v.rep(V, over=0) to repeat v "
            "along axis 0, over=1 along axis 1"
        )
    if len(letters) != len(axes) or not set(few) <= set(axes):
        return ""
    whole, part = ("".join(letters[axis] for axis in some) for some in (axes, few))
    rule = f'"{whole},{part}->{whole}"'
    return (
        f"; nothing is repeated by itself: for A ∈ V = {a} and v ∈ {b} write A + v.rep(V), "
        f"or contract({rule}, A, v, to=V) for products of entries"
    )


def elements_at(X: Labelled[Any], column: Any, rows: Index | None = None) -> Vec[Any]:
    """The elements of X with the labels of a column, one for each row; see `Labelled.at`."""
    entries = column_of(column)
    Y = Fin.of(len(entries)) if rows is None else rows
    require_index(Y, "X.at(column, rows)")
    if Y.size != len(entries):
        msg = f"a column of {len(entries)} entries does not have the rows {Y}"
        raise SpaceError(msg)
    return Copower(Elements(X), Y).vec(distinct_labels(entries, X)[1].reshape(Y.shape))
