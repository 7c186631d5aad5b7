"""Linear functions by a table of elements: gather, segment sum, scatter-add, group-by, permutation.

The table is a relation that is a function (the graph of one, `by_key` of a column, an inclusion, …), or a column: an
array or list of positions, or of labels that are strings or a categorical column (see `X.at` for others); or it is
data found at the point, a vector of type X^Y (`Elements(X) ** Y`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from hilbert import Copower, DirectSum, Fin, Index, Relation, SpaceError, Type, Vec
from hilbert.arrays.namespace import to_numpy
from hilbert.errors import shown
from hilbert.index import require_index
from hilbert.labels import is_labels
from hilbert.relation import by_key, function
from hilbert.relation.make import array_of
from hilbert.space import Elements
from linmap import contraction
from linmap.term.maps import identity, join, red
from linmap.term.nodes import LinMap, Section

if TYPE_CHECKING:
    from hilbert.index import Anonymous

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
T = TypeVar("T")
W = TypeVar("W", bound=Type)


@overload
def gather(V: W, indices: Relation[J, I]) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def gather(V: W, indices: Vec[Copower[Elements[I], J]]) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def gather(V: W, indices: Any, X: I, *, rows: J) -> LinMap[Copower[W, I], Copower[W, J]]: ...
@overload
def gather(V: W, indices: Any, X: I) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
def gather(V: Any, indices: Any, X: Any = None, *, rows: Any = None) -> Any:
    """gather : V^X ⊸ V^Y, v ↦ (v_{x(y)})_y for a table x : Y → X; red of its converse, as `take` in numpy.

    `rows` is Y. Raises SpaceError for an element that is not in X, for another number of rows than Y has, and for a
    relation that is no function.
    """
    if isinstance(indices, Vec):
        X, Y = _found(indices, X, rows, "gather")
        return Section(contraction.gather(V, X, Y), 1, indices)
    return red(table_of(indices, X, rows, "gather").T, V)


@overload
def segment_sum(V: W, indices: Relation[J, I]) -> LinMap[Copower[W, J], Copower[W, I]]: ...
@overload
def segment_sum(V: W, indices: Vec[Copower[Elements[I], J]]) -> LinMap[Copower[W, J], Copower[W, I]]: ...
@overload
def segment_sum(V: W, indices: Any, X: I, *, rows: J) -> LinMap[Copower[W, J], Copower[W, I]]: ...
@overload
def segment_sum(V: W, indices: Any, X: I) -> LinMap[Copower[W, Fin[Anonymous]], Copower[W, I]]: ...
def segment_sum(V: Any, indices: Any, X: Any = None, *, rows: Any = None) -> Any:
    """segment_sum : V^Y ⊸ V^X, v ↦ (Σ_{x(y)=x} v_y)_x for a table x : Y → X; red of its graph, gather*.

    `rows` is Y. Raises SpaceError as `gather` does.
    """
    if isinstance(indices, Vec):
        X, Y = _found(indices, X, rows, "segment_sum")
        return Section(contraction.segment_sum(V, X, Y), 1, indices)
    return red(table_of(indices, X, rows, "segment_sum"), V)


@overload
def scatter_add(
    V: W, indices: Relation[J, I] | Vec[Copower[Elements[I], J]]
) -> LinMap[DirectSum[Copower[W, I], Copower[W, J]], Copower[W, I]]: ...
@overload
def scatter_add(
    V: W, indices: Any, X: I, *, rows: J
) -> LinMap[DirectSum[Copower[W, I], Copower[W, J]], Copower[W, I]]: ...
@overload
def scatter_add(
    V: W, indices: Any, X: I
) -> LinMap[DirectSum[Copower[W, I], Copower[W, Fin[Anonymous]]], Copower[W, I]]: ...
def scatter_add(V: Any, indices: Any, X: Any = None, *, rows: Any = None) -> Any:
    """scatter_add : V^X ⊕ V^Y ⊸ V^X, (w, v) ↦ w + segment_sum v, as `add.at` in numpy and `at[].add` in JAX.

    `rows` is Y. Raises SpaceError as `gather` does.
    """
    added: LinMap[Any, Any] = segment_sum(V, indices, X, rows=rows)
    return join(identity(added.cod), added)


@overload
def group_by(V: W, column: Any) -> LinMap[Copower[W, Fin[Anonymous]], Copower[W, Fin[Anonymous]]]: ...
@overload
def group_by(V: W, column: Any, keys: Fin[T]) -> LinMap[Copower[W, Fin[Anonymous]], Copower[W, Fin[T]]]: ...
@overload
def group_by(V: W, column: Any, *, rows: I) -> LinMap[Copower[W, I], Copower[W, Fin[Anonymous]]]: ...
@overload
def group_by(V: W, column: Any, keys: Fin[T], *, rows: I) -> LinMap[Copower[W, I], Copower[W, Fin[T]]]: ...
def group_by(V: Any, column: Any, keys: Any = None, *, rows: Any = None) -> Any:
    """group_by : V^X ⊸ V^K, v ↦ (Σ_{key(x)=k} v_x)_k for a column of keys of any hashable type, one for each row.

    K is `keys`, or the distinct keys in the order in which they first occur; `rows` is X. Raises SpaceError for a key
    that is missing, not hashable or not among `keys`, and for another number of rows than X has.
    """
    return red(by_key(column, rows=rows, keys=keys), V)


def permute(V: W, order: Any, X: I) -> LinMap[Copower[W, I], Copower[W, I]]:
    """permute : V^X ⊸ V^X, v ↦ (v_{order(x)})_x, as v[order] in numpy; unitary, its adjoint permutes back.

    Raises SpaceError unless every element of X stands in the order once.
    """
    table = table_of(order, X, X, "permute")
    if not table.T.is_function:
        msg = f"the order of permute(V, order, {X}) has every element of {X} once"
        raise SpaceError(msg)
    return red(table.T, V)


def table_of(indices: Any, X: Any, rows: Any, name: str) -> Relation[Any, Any]:
    """The function x : Y → X as a relation."""
    if isinstance(indices, Relation):
        if not indices.is_function:
            msg = f"{name} takes the relation of a function, but {indices} ⊆ {indices.dom}×{indices.cod} is none"
            raise SpaceError(msg)
        _agree(indices.dom, indices.cod, X, rows, name)
        return indices
    require_index(X, f"{name}(V, indices, X)")
    if isinstance(X, Fin) and not isinstance(indices, str) and is_labels(indices):
        return by_key(indices, rows=rows, keys=X)
    if isinstance(indices, Vec):
        _, rows = _found(indices, X, rows, name)
        indices = to_numpy(indices.array)
    entries = array_of(indices, f"the table of {name} into {X}")
    if rows is None:
        rows = Fin.of(entries.size)
    require_index(rows, f"{name}(V, indices, X, rows=Y)")
    if entries.shape == rows.shape:
        entries = np.reshape(entries, -1)
    return function(rows, X, entries)


def _found(indices: Vec[Any], X: Any, rows: Any, name: str) -> tuple[Index, Index]:
    """X and Y of a vector of elements of X for each y ∈ Y."""
    space = indices.space
    if not isinstance(space, Copower) or not isinstance(space.base, Elements):
        msg = f"{name} takes elements of X, a vector of Elements(X) ** Y, not {shown(indices)}"
        raise SpaceError(msg)
    _agree(space.index, space.base.index, X, rows, name)
    return space.base.index, space.index


def _agree(Y: Index, X: Index, due: Any, rows: Any, name: str) -> None:
    """Raise SpaceError where index sets are given beside a table that has others."""
    for have, want in ((X, due), (Y, rows)):
        if want is not None and have != want:
            msg = f"{name} by a table {Y} → {X} does not fit {shown(want)}: leave it out"
            raise SpaceError(msg)
