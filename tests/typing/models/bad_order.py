"""The space in the first place: a table, an index set or a number comes first, the space last."""

from diff import constant
from hilbert import Elements, Fin, R
from hilbert.relation import agreement, columns, function, leq, pairs, partial
from linmap import (
    concatenate,
    crop,
    cumsum,
    differences,
    flip,
    gather,
    group_by,
    pad,
    permute,
    pool,
    red,
    rep,
    reshape,
    roll,
    scale,
    segment_sum,
    sparse,
    stack,
    total,
    transpose,
    windows,
)


class Node: ...


class Edge: ...


node, edge = Fin(Node, 4), Fin(Edge, 3)
X = R**node
ends = function([0, 1, 2], edge, node)


def bad_vector() -> None:
    total(R, node)  # E: call-overload


def bad_matrix() -> None:
    reshape(R, node, edge * edge)  # E: call-overload


def bad_nested() -> None:
    rep(X, edge)  # E: call-overload


def bad_relation() -> None:
    red(X, leq(node))  # E: call-overload


def bad_sums() -> None:
    cumsum(R, node)  # E: call-overload


def bad_differences() -> None:
    differences(R, node)  # E: call-overload


def bad_flip() -> None:
    flip(X, node)  # E: call-overload


def bad_roll() -> None:
    roll(R, node, 1)  # E: call-overload


def bad_amount() -> None:
    roll(node, R, 1)  # E: call-overload


def bad_pad() -> None:
    pad(R, node, 1, 1)  # E: call-overload


def bad_crop() -> None:
    crop(R, node, 1, None)  # E: call-overload


def bad_windows() -> None:
    windows(R, node, 2)  # E: call-overload


def bad_pool() -> None:
    pool(R, node, 2)  # E: call-overload


def bad_sets() -> None:
    concatenate(R, node, edge)  # E: call-overload


def bad_last_set() -> None:
    concatenate(node, edge, R)  # E: call-overload


def bad_gather() -> None:
    gather(R, [0, 1], node)  # E: call-overload


def bad_gather_by_relation() -> None:
    gather(R, ends)  # E: call-overload


def bad_gather_by_elements() -> None:
    gather(X, Elements(node).vec(1))  # E: call-overload


def bad_segment_sum() -> None:
    segment_sum(R, [0, 1], node)  # E: call-overload


def bad_segment_sum_by_relation() -> None:
    segment_sum(X, ends)  # E: call-overload


def bad_groups() -> None:
    group_by(R, ["a", "b"])  # E: call-overload


def bad_permutation() -> None:
    permute(R, [1, 0, 2], edge)  # E: call-overload


def bad_entries() -> None:
    sparse(node, edge, [0], [1], [1.0])  # E: call-overload


def bad_factor() -> None:
    scale(X, 2.0)  # E: call-overload


def bad_stack() -> None:
    stack(X, edge)  # E: call-overload


def bad_transpose() -> None:
    transpose(edge * node)  # E: call-overload


def bad_table() -> None:
    function(edge, node, [0, 1, 2])  # E: type-var


def bad_pairs() -> None:
    pairs(edge, node, [(0, 1)])  # E: type-var


def bad_columns() -> None:
    columns(edge, node, [0], [1])  # E: type-var


def bad_mask() -> None:
    partial(edge, [True, False, True])  # E: type-var


def bad_labels() -> None:
    agreement(node * node, node, "ii->i")  # E: arg-type, type-var


def bad_constant() -> None:
    constant(X, R.vec(1.0))  # E: arg-type, type-var
