"""red_R in text: a sum, a slice, a roll, a flip, an array between zeros, an index array, a cumulative sum, windows."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast

import numpy as np

from diff.numpy_source.contractions_in_text import total
from diff.numpy_source.one_axis import Axis
from diff.numpy_source.windows_in_text import laid_over, side_by_side, spread_out, window_sums
from diff.python_text import helpers
from diff.python_text.axis_text import axis, behind, indexed, permuted, reshaped, shape, span
from diff.python_text.carried import carried
from diff.python_text.constants import array_of
from diff.python_text.expressions import Node, is_light, is_number, name, put, text
from diff.python_text.scope import Part, Scope, Value, placed, spread, whole, zeros
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET
from hilbert.relation import (
    Agreement,
    Composite,
    Converse,
    Equality,
    Full,
    Graph,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    Sliding,
    SumRelation,
    Window,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.relation import Form
    from hilbert.relation.function_forms import Directed
    from hilbert.relation.relation import AnyRelation

PARTS = 6
"""The most parts of a sum of relations that are written one by one."""


def reduction(scope: Scope, relation: AnyRelation, at: int, value: Value, leaf: Leaf) -> Value:
    """red_R on the axes of R's domain, which start at axis `at`; the leaf is the result's."""
    if value.parts and not _can_be_placed(relation, at, value):
        value = placed(scope, value, "y")
    if 0 in leaf.shape or not relation.dom.size or not relation.cod.size:
        return Value(put(zeros(leaf.shape, leaf)), leaf)
    form = cast("Form", relation)
    match form:
        case Full():
            return _full(relation, at, value, leaf)
        case Equality():
            return value
        case ProductRelation(left, right):
            first_left = left.cod.size * right.dom.size <= left.dom.size * right.cod.size
            order = [(left, at), (right, at + len(left.cod.axes))]
            return _in_turn(scope, order if first_left else [(right, at + len(left.dom.axes)), (left, at)], value)
        case Composite(outer, inner):
            return _in_turn(scope, [(inner, at), (outer, at)], value)
        case Agreement():
            return _agreement(scope, form, at, value, leaf)
        case Partial():
            rest = len(value.shape) - at - len(form.dom.axes)
            mask = array_of(scope.page, form.keep.array.reshape(form.dom.shape + (1,) * rest), "mask")
            return Value(put("np.where({0}, {1}, 0.0)", mask, whole(value)), leaf)
        case Inclusion():
            return _included(scope, form, at, value, leaf)
        case Converse(Inclusion() as of):
            return _part_of(of, at, value, leaf)
        case _:  # one array operation along one axis
            return _alone(scope, form, at, value, leaf)


def _in_turn(scope: Scope, order: list[tuple[AnyRelation, int]], value: Value) -> Value:
    for relation, at in order:
        axes = value.leaf.axes
        leaf = Leaf(value.leaf.entry, axes[:at] + relation.cod.axes + axes[at + len(relation.dom.axes) :])
        value = reduction(scope, relation, at, value, leaf)
    return value


def _full(relation: AnyRelation, at: int, value: Value, leaf: Leaf) -> Value:
    n, m = len(relation.dom.axes), len(relation.cod.axes)
    node, rank = value.node, len(value.shape)
    if n:
        node = total(whole(value), "" if n == rank else axis(at, n))
    if not m:
        return Value(node, leaf, summed=relation.dom.size)
    have = (*value.shape[:at], *value.shape[at + n :]) if n else value.actual
    before = max(len(have) - (rank - n - at), 0)  # axes that are missing in front broadcast
    if before:
        node = put(f"{{0}}[{', '.join([':'] * before + ['None'] * m)}]", node)
        have = (*have[:before], *(1,) * m, *have[before:])
    return Value(node, leaf, spread(leaf, have))


Alone: TypeAlias = (
    Order[Any]
    | Rotation[Any]
    | Graph[Any, Any]
    | Pairs[Any, Any]
    | Window[Any, Any]
    | Sliding[Any, Any, Any]
    | SumRelation[Any, Any, Any, Any]
    | Converse[Any, Any]
)
"""The forms that are one operation along one axis."""


def _alone(scope: Scope, form: Alone, at: int, value: Value, leaf: Leaf) -> Value:
    """A relation along one axis: several axes of X or Y are put together, and apart again."""
    have, n = value.shape, len(form.dom.axes)
    before, after = have[:at], have[at + n :]
    p = Axis(scope, before, form.dom.size, form.cod.size, after, leaf)
    node = reshaped(whole(value), have, (*before, p.n, *after))
    return Value(reshaped(_along(p, form, node), p.sizes, leaf.shape), leaf)


def _along(p: Axis, form: Alone, node: Node) -> Node:
    match form:
        case Order(_, reverse, strict):
            return _sums(p, node, reverse=reverse, strict=strict)
        case Rotation(_, by):
            return put(f"np.roll({{0}}, {by if by <= p.n // 2 else by - p.n}{p.argument})", node) if by else node
        case Graph(_, _, positions):
            return _segments(p, node, positions.array)
        case Pairs(_, _, sources, targets):
            return _segments(p, taken(p, node, sources.array), targets.array)
        case Window():
            return window_sums(p, form, node)
        case Sliding():
            return laid_over(p, form, node)
        case SumRelation():
            return _blocks(p, form, node)
        case Converse(of):
            return _converse(p, of, node)
        case _:
            assert_never(form)


def _converse(p: Axis, of: Directed[Any, Any], node: Node) -> Node:
    match of:
        case Graph(_, _, positions):
            return taken(p, node, positions.array)
        case Window():
            return spread_out(p, of, node)
        case Sliding():
            return side_by_side(p, of, node)
        case Inclusion(_, _, offset, stride):
            return p.cut(node, span(offset, offset + stride * p.m, stride, p.n))
        case _:
            assert_never(of)


def _sums(p: Axis, node: Node, *, reverse: bool, strict: bool) -> Node:
    if strict:
        word = carried(p.scope.page, helpers.sums_behind if reverse else helpers.sums_before)
        return put(f"{word}({{0}}, {p.at})", node)
    if not reverse:
        return put(f"np.cumsum({{0}}{p.argument})", node)
    back = behind(p.at, "::-1")
    return put(f"np.cumsum({{0}}[{back}]{p.argument})[{back}]", node)


def taken(p: Axis, node: Node, positions: Any) -> Node:
    """The entries at positions."""
    if not positions.size:
        return put(zeros((*p.before, 0, *p.after), p.leaf))
    table = p.table(positions, "at")
    return put(f"{{0}}[{behind(p.at, '{1}')}]", node, table)


def _segments(p: Axis, node: Node, positions: Any) -> Node:
    """Each entry added at its position."""
    if not positions.size:
        return put(zeros(p.sizes, p.leaf))
    table = p.table(positions, "to")
    if p.is_alone and p.leaf.dtype == "float64":
        return put(f"np.bincount({{0}}, weights={{1}}, minlength={p.m})", table, node)
    word = p.zeros("sums")
    index = text(table) if not p.at else f"({'slice(None), ' * p.at}{text(table)})"
    if np.unique(positions).size == positions.size:
        p.scope.put(f"{word}[{behind(p.at, text(table))}] = {text(node)}")
    else:
        p.scope.put(f"np.add.at({word}, {index}, {text(node)})")
    return name(word)


def _blocks(p: Axis, relation: Any, node: Node) -> Node:
    """R + S: block by block, or all pairs at once where there are many blocks."""
    parts = list(relation.run)
    if len(parts) > PARTS:
        x, y = relation.holds()
        return _segments(p, taken(p, node, x), y)
    if not is_light(node):
        word = p.scope.page.fresh("whole")
        p.scope.put(f"{word} = {text(node)}")
        node = name(word)
    ends = list(accumulate((part.dom.size for part in parts), initial=0))
    made = []
    for part, start in zip(parts, ends, strict=False):
        axes = (*p.leaf.axes[: p.at], *part.dom.axes, *p.leaf.axes[len(p.leaf.axes) - len(p.after) :])
        leaf = Leaf(p.leaf.entry, axes)
        block = p.cut(node, span(start, start + part.dom.size, 1, p.n))
        value = Value(reshaped(block, (*p.before, part.dom.size, *p.after), leaf.shape), leaf)
        result = Leaf(p.leaf.entry, (*axes[: p.at], *part.cod.axes, *axes[p.at + len(part.dom.axes) :]))
        done = reduction(p.scope, part, p.at, value, result)
        flat = (*p.before, part.cod.size, *p.after)
        made.append(p.scope.light(Value(reshaped(whole(done), result.shape, flat), leaf), "block", 2).node)
    each = ", ".join(f"{{{k}}}" for k in range(len(made)))
    return put(f"np.concatenate([{each}]{p.argument if p.at else ''})", *made)


# --- inclusions ---


def _part_of(r: Inclusion[Any, Any], at: int, value: Value, leaf: Leaf) -> Value:
    """The converse of an inclusion: a slice, or one element."""
    n, m = r.dom.size, r.cod.size
    before, after = value.shape[:at], value.shape[at + len(r.cod.axes) :]
    node = reshaped(whole(value), value.shape, (*before, m, *after))
    entry = span(r.offset, r.offset + r.stride * n, r.stride, m) if r.dom.axes else str(r.offset)
    made = node if entry == ":" else indexed(node, at, entry)
    return Value(reshaped(made, (*before, *(n,) * bool(r.dom.axes), *after), leaf.shape), leaf)


def _included(scope: Scope, r: Inclusion[Any, Any], at: int, value: Value, leaf: Leaf) -> Value:
    """An inclusion: an array between zeros, or backwards."""
    n, m = r.dom.size, r.cod.size
    before, after = value.shape[:at], value.shape[at + len(r.dom.axes) :]
    entry = span(r.offset, r.offset + r.stride * n, r.stride, m) if r.dom.axes else str(r.offset)
    if n != m and len(r.dom.axes) < 2 and len(r.cod.axes) == 1:
        return Value(put("None"), leaf, parts=tuple(_parts(value, at, entry, wide=bool(r.dom.axes))))
    p = Axis(scope, before, n, m, after, leaf)
    if n == m:
        node = whole(value) if r.dom.axes else put(f"np.reshape({{0}}, {p.sizes})", whole(value))
        node = reshaped(node, value.shape if r.dom.axes else p.sizes, p.sizes)
        return Value(reshaped(node if r.stride == 1 else p.cut(node, "::-1"), p.sizes, leaf.shape), leaf)
    sizes = (*before, *(n,) * bool(r.dom.axes), *after)
    node = reshaped(whole(value), value.shape, sizes)
    word = p.zeros("y")
    scope.put(f"{word}[{behind(at, entry)}] = {text(node)}")
    return Value(reshaped(name(word), p.sizes, leaf.shape), leaf)


def _parts(value: Value, at: int, entry: str, *, wide: bool) -> Iterator[Part]:
    """The parts of an array between zeros, or of one that has parts itself."""
    one = value.node if is_number(value.node) else whole(value)
    given = value.parts or (((":",) * len(value.shape), one),)
    for entries, node in given:
        yield (*entries[:at], entry, *entries[at + wide :]), node


def _can_be_placed(relation: AnyRelation, at: int, value: Value) -> bool:
    """Tell if an inclusion of an array that has parts is that of its parts."""
    if not isinstance(relation, Inclusion) or len(relation.cod.axes) != 1 or relation.dom.size == relation.cod.size:
        return False
    wide = len(relation.dom.axes)
    return wide == 0 or (wide == 1 and all(entries[at] == ":" for entries, _ in value.parts))


# --- labels ---


def _agreement(scope: Scope, form: Agreement[Any, Any], at: int, value: Value, leaf: Leaf) -> Value:
    """Diagonals, sums, transpositions and replication by labels, as einsum's."""
    source, target = form.source, form.target
    free = [c for c in ALPHABET if c not in source + target]
    head, tail = "".join(free[:at]), "".join(free[at : len(value.shape) - len(source)])
    have, due = head + source + tail, head + target + tail
    once = "".join(dict.fromkeys(due))
    kept = "".join(c for c in once if c in have)
    node = whole(value)
    if sorted(have) == sorted(kept):
        node = permuted(node, [have.index(c) for c in kept])
    else:
        node = put("np.diagonal({0})" if have == "ii" == kept * 2 else f'np.einsum("{have}->{kept}", {{0}})', node)
    if kept != once:
        first = once.index(next(c for c in once if c not in kept)) if kept else 0
        del first
        marks = [":" if c in kept else "None" for c in once]
        while marks and marks[0] == "None":
            marks.pop(0)
        if "None" in marks:
            node = put(f"{{0}}[{', '.join(marks)}]", node)
    if once == due:
        return Value(node, leaf, None if kept == once else tuple(_sizes(once, due, kept, leaf)))
    if due == "ii" and kept == once:
        return Value(put("np.diag({0})", node), leaf)
    word = scope.page.fresh("y")
    scope.put(f"{word} = {zeros(leaf.shape, leaf)}")
    scope.put(f'np.einsum("{due}->{once}", {word})[...] = {text(node)}')
    return Value(name(word), leaf)


def _sizes(once: str, due: str, kept: str, leaf: Leaf) -> Iterator[int]:
    """The shape of an array with axes for labels that are kept, behind the first one, and 1 for the others."""
    for c in once[next((k for k, c in enumerate(once) if c in kept), len(once)) :]:
        yield leaf.shape[due.index(c)] if c in kept else 1


__all__ = ["Axis", "reduction", "shape"]
