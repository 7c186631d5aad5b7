"""Contractions as numpy writes them: `*`, `@` with transposes, `np.outer`, sums of products, `np.einsum`.

>>> from diff.python_text.expressions import name, text
>>> from hilbert.index.spec import Spec
>>> a, b = name("a"), name("b")
>>> for spec in (("ij", "j", "i"), ("ki", "kj", "ij"), ("i", "j", "ij"), ("ij", "i", "ij"), ("bij", "ki", "bkj")):
...     print(text(contracted(Spec.of(*spec), a, b)))
a @ b
a.T @ b
np.outer(a, b)
a * b[:, None]
b @ a
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from diff.python_text.axis_text import aligned, permuted
from diff.python_text.expressions import Node, added, is_number, put, text, times
from diff.python_text.scope import Value, spread, whole
from hilbert.index.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.index.leaf import Leaf


def contraction(spec: Spec, left: Value, right: Value, leaf: Leaf) -> Value:
    """The contraction of two arrays of numbers."""
    sides = ((left, right, spec.left, spec.right), (right, left, spec.right, spec.left))
    for k, other, labels, others in sides:  # a number in every entry
        if not k.whole and is_number(k.node) and set(labels) <= set(others) and (other.whole or others == spec.out):
            return _multiple(k, other, others, spec, leaf)
    if spec.is_pointwise:
        return Value(times(left.node, right.node), leaf, spread(leaf, left.actual, right.actual))
    first, second = _short(left, spec.left, spec.right + spec.out), _short(right, spec.right, spec.left + spec.out)
    if spec.contracted and not (first and second):  # axes in front that matmul and einsum broadcast
        left, right = Value(left.node, left.leaf) if first else left, Value(right.node, right.leaf) if second else right
        spec = Spec.of(spec.left[first:], spec.right[second:], spec.out)
    return Value(contracted(spec, whole(left), whole(right)), leaf)


def _short(value: Value, labels: str, others: str) -> int:
    """The number of axes in front that an array lacks, where the other operand and the result have them."""
    count = len(labels) - len(value.actual)
    is_short = value.actual == value.shape[count:] and all(others.count(c) == 2 for c in labels[:count])
    return count if is_short else 0


def _multiple(k: Value, other: Value, labels: str, spec: Spec, leaf: Leaf) -> Value:
    node, summed = other.node, [at for at, c in enumerate(labels) if c not in spec.out]
    if summed:
        axes = "" if len(summed) == len(labels) else f", axis={summed[0] if len(summed) == 1 else tuple(summed)}"
        node = put(f"np.sum({{0}}{axes})", node)
    kept = "".join(c for c in labels if c in spec.out)
    return Value(times(k.node, permuted(node, [kept.index(c) for c in spec.out])), leaf, other.have)


def contracted(spec: Spec, a: Node, b: Node) -> Node:
    """The contraction of two arrays, both with all of their axes."""
    if not spec.contracted:
        if len(spec.left) == len(spec.right) == 1 and spec.left != spec.right:
            return put("np.outer({0}, {1})", *((a, b) if spec.out[0] == spec.left else (b, a)))
        return times(aligned(a, spec.left, spec.out), aligned(b, spec.right, spec.out))
    found = min(_products(spec), default=None)
    if found is not None:
        return put(found[2], a, b)
    if not spec.out and len(spec.left) > 1:
        return _inner(spec, a, b)
    if spec.left == spec.right:
        summed = tuple(k for k, c in enumerate(spec.left) if c not in spec.out)
        kept = "".join(c for c in spec.left if c in spec.out)
        axes = str(summed[0]) if len(summed) == 1 else str(summed)
        return permuted(put(f"np.sum({{0}}, axis={axes})", times(a, b)), [kept.index(c) for c in spec.out])
    return put(f'np.einsum("{spec}", {{0}}, {{1}})', a, b)


def _inner(spec: Spec, a: Node, b: Node) -> Node:
    b = permuted(b, [spec.right.index(c) for c in spec.left])
    return put("np.sum({0} ** 2)", a) if text(a) == text(b) else put("np.sum({0})", times(a, b))


def _products(spec: Spec) -> Iterator[tuple[int, int, str]]:
    """The ways to write a contraction by `@`: how many transposes, whether operands are exchanged, the template."""
    if len(spec.contracted) != 1:
        return
    for k, (first, second) in enumerate(((spec.left, spec.right), (spec.right, spec.left))):
        one, other = (("{0}", "{1}"), ("{1}", "{0}"))[k]
        for turns, x, x_text in _turned(first, one):
            for more, y, y_text in _turned(second, other):
                made = _matmul(x, y, spec.contracted)
                if made == spec.out:
                    yield turns + more, k, f"{x_text} @ {y_text}"
                elif made is not None and len(made) == 2 and made[::-1] == spec.out:
                    yield turns + more + 1, k, f"({x_text} @ {y_text}).T"


def _turned(labels: str, operand: str) -> Iterator[tuple[int, str, str]]:
    yield 0, labels, operand
    if len(labels) == 2:
        yield 1, labels[::-1], f"{operand}.T"
    if len(labels) > 2:
        yield 1, labels[:-2] + labels[-1] + labels[-2], f"{operand}.mT"


def _matmul(x: str, y: str, c: str) -> str | None:
    """The labels of x @ y that sums over c; None where `@` does otherwise."""
    if x[-1] != c or y[-2:][0] != c:
        return None
    if len(x) == 1 or len(y) == 1:
        return y[:-2] + y[-1] if len(y) > 1 else x[:-1]
    front, short = sorted((x[:-2], y[:-2]), key=len, reverse=True)
    if not front.endswith(short) or set(front) & {x[-2], y[-1]} or x[-2] == y[-1]:
        return None
    if c in front:
        return None
    return front + x[-2] + y[-1]


def total(node: Node, axes: str = "") -> Node:
    """The sum of an array, along some axes."""
    if isinstance(node, ast.BinOp | ast.UnaryOp):
        return put(f"np.sum({{0}}{f', axis={axes}' if axes else ''})", node)
    return put(f"{{0}}.sum({f'axis={axes}' if axes else ''})", node)


__all__ = ["added", "contracted", "contraction", "total"]
