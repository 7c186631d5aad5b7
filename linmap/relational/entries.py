"""Linear functions by a table of elements: gather, segment sum, group-by, permutation.

The table is a relation that is a function (the graph of one, `by_key` of a column, an inclusion, …), or a column: an
array or list of positions, or of labels that are strings or a categorical column (see `X.at` for others); or it is
dynamic data, a vector of type X^Y (`Elements(X) ** Y`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve

from hilbert import Copower, Fin, Index, R, Relation, SpaceError, Type, Vec
from hilbert.arrays.libraries.namespace import freeze, namespace, to_numpy
from hilbert.base.attach import overloaded
from hilbert.errors import shown
from hilbert.index.index import require_index
from hilbert.index.labels import is_labels
from hilbert.relation import Graph, by_key, function, run
from hilbert.relation.relation import AnyRelation
from hilbert.relation.relation_checks import array_of
from hilbert.space.space import Elements
from linmap import contraction
from linmap.term.maps import in_order, red
from linmap.term.nodes import Section

if TYPE_CHECKING:
    from linmap import _calls


@overloaded(lambda: _calls.gather)
def gather(indices: Any, X: Any = None, V: Any = None, *, rows: Any = None) -> Any:
    """gather : V^X ⊸ V^Y, v ↦ (v_{x(y)})_y for a table x : Y → X; red of its converse, as `take` in numpy.

    `rows` is Y. One dynamic element x of X gives π_x : V^X ⊸ V. Raises SpaceError for an element
    that is not in X, for another number of rows than Y has, and for a relation that is no function.
    """
    X, V = _space_last("gather(indices, X, V)", indices, X, V)
    if not isinstance(indices, Vec):
        return red(table_of(indices, X, rows, "gather", V).T, V)
    if isinstance(indices.space, Elements):
        if X is not None or rows is not None:
            msg = (
                f"gather by {shown(indices)} takes no index sets beside it: leave {shown(rows if X is None else X)} out"
            )
            raise SpaceError(msg)
        return Section(contraction.pick(indices.space.index, V), 1, indices)
    X, Y, indices = _found(indices, X, rows, "gather")
    return Section(contraction.gather(X, Y, V), 1, indices)


@overloaded(lambda: _calls.segment_sum)
def segment_sum(indices: Any, X: Any = None, V: Any = None, *, rows: Any = None) -> Any:
    """segment_sum : V^Y ⊸ V^X, v ↦ (Σ_{x(y)=x} v_y)_x for a table x : Y → X; red of its graph, gather*.

    `rows` is Y. Raises SpaceError as `gather` does.
    """
    X, V = _space_last("segment_sum(indices, X, V)", indices, X, V)
    if isinstance(indices, Vec):
        X, Y, indices = _found(indices, X, rows, "segment_sum")
        return Section(contraction.segment_sum(X, Y, V), 1, indices)
    return red(table_of(indices, X, rows, "segment_sum", V), V)


@overloaded(lambda: _calls.group_by)
def group_by(column: Any, keys: Any = None, V: Any = None, *, rows: Any = None) -> Any:
    """group_by : V^X ⊸ V^K, v ↦ (Σ_{key(x)=k} v_x)_k for a column of keys of any hashable type, one for each row.

    K is `keys`, or the distinct keys in the order in which they first occur; `rows` is X. Raises SpaceError for a key
    that is missing, not hashable or not among `keys`, and for another number of rows than X has.
    """
    keys, V = _space_last("group_by(column, keys, V)", column, keys, V)
    return red(by_key(column, rows=rows, keys=keys), V)


@overloaded(lambda: _calls.permute)
def permute(order: Any, X: Any, V: Any = R) -> Any:
    """permute : V^X ⊸ V^X, v ↦ (v_{order(x)})_x, as v[order] in numpy; unitary, its adjoint permutes back.

    Raises SpaceError unless every element of X stands in the order once.
    """
    in_order("permute(order, X, V)", V, X, tables=(order,))
    table = table_of(order, X, X, "permute")
    if not table.T.is_function:
        msg = f"the order of permute(order, {X}) has every element of {X} once"
        raise SpaceError(msg)
    return red(table.T, V)


def _space_last(form: str, table: Any, X: Any, V: Any) -> tuple[Any, Any]:
    """X and V, of which either may be left out; SpaceError for another order."""
    if V is None:
        X, V = (None, X) if isinstance(X, Type) else (X, R)
    in_order(form, V, X, tables=(table,))
    return X, V


def table_of(indices: Any, X: Any, rows: Any, name: str, V: Any = R) -> AnyRelation:
    """The function x : Y → X as a relation, for vectors of V^X or V^Y."""
    if isinstance(indices, Relation):
        if not indices.is_function:
            msg = f"{name} takes the relation of a function, but {indices} ⊆ {indices.dom}×{indices.cod} is none"
            raise SpaceError(msg)
        _agree(indices.dom, indices.cod, X, rows, name)
        if rows is None or rows == indices.dom:
            return indices
        renamed = run(rows, indices.dom, 0)
        return evolve(indices, dom=rows) if isinstance(indices, Graph) else indices @ renamed
    if X is None and isinstance(V, Copower):
        msg = f"{name} by a table into X takes an index set, not {shown(V)} alone: write {name}(table, X, V)"
        raise SpaceError(f"{msg} with X = {V.index} and V = {V.base}")
    require_index(X, f"{name} by a table into X")
    if isinstance(X, Fin) and not isinstance(indices, str) and is_labels(indices):
        return by_key(indices, rows=rows, keys=X)
    if isinstance(indices, Vec):
        _, rows, indices = _found(indices, X, rows, name)
        indices = to_numpy(indices.array)
    entries = array_of(indices, f"the table of {name} into {X}")
    if rows is None:
        rows = Fin.of(entries.size)
    require_index(rows, f"{name}(…, rows=Y)")
    if entries.shape == rows.shape:
        entries = np.reshape(entries, -1)
    return function(entries, rows, X)


def _found(indices: Vec[Any], X: Any, rows: Any, name: str) -> tuple[Index, Index, Vec[Any]]:
    """X and Y of a vector of elements of X for each y ∈ Y; where `rows` names Y, the vector with that index set."""
    space = indices.space
    if not isinstance(space, Copower) or not isinstance(space.base, Elements):
        msg = f"{name} takes elements of X, a vector of Elements(X) ** Y, not {shown(indices)}"
        raise SpaceError(msg)
    _agree(space.index, space.base.index, X, rows, name)
    if rows is not None and rows != space.index:
        (leaf,) = indices.leaves
        indices = Vec(Copower(space.base, rows), (freeze(namespace(leaf).reshape(leaf, rows.shape)),))
    return space.base.index, indices.space.index, indices


def _agree(Y: Index, X: Index, due: Any, rows: Any, name: str) -> None:
    """Raise SpaceError where another X, or rows of another number, are given beside a table Y → X."""
    fits = due is None or (isinstance(due, Index) and due == X)
    if not fits or not (rows is None or (isinstance(rows, Index) and rows.size == Y.size)):
        msg = f"{name} by a table {Y} → {X} does not fit {shown(rows if fits else due)}: leave it out"
        raise SpaceError(msg)
