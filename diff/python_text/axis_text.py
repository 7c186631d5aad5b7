"""Axes of arrays in text: transpositions, new axes, slices behind other axes, reshaping."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING

from diff.python_text.expressions import put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.python_text.expressions import Node


def permuted(node: Node, order: Sequence[int]) -> Node:
    """The axes in another order."""
    n = len(order)
    match node:
        case ast.Attribute(of, "T") if n == 2 and list(order) == [1, 0]:
            return of
        case ast.BinOp(ast.Attribute(a, "T" | "mT"), ast.MatMult(), b) if _turns(order):
            turn = "T" if n == 2 else "mT"
            return put(f"{{0}}.{turn} @ {{1}}", b, a)
        case ast.Call(ast.Attribute(of, "transpose"), args) if len(args) == n:
            before = [int(ast.unparse(arg)) for arg in args]
            return permuted(of, [before[k] for k in order])
        case _:  # not transposed yet
            pass
    if list(order) == list(range(n)):
        return node
    if list(order) == list(range(n))[::-1]:
        return put("{0}.T", node)
    if list(order) == [*range(n - 2), n - 1, n - 2]:
        return put("{0}.mT", node)
    return put(f"{{0}}.transpose({', '.join(map(str, order))})", node)


def _turns(order: Sequence[int]) -> bool:
    """Tell if an order exchanges the last two axes only."""
    n = len(order)
    return n > 1 and list(order) == [*range(n - 2), n - 1, n - 2]


def aligned(node: Node, have: str, over: str) -> Node:
    """An array with labels `have` made to broadcast against labels `over`, which has all of them."""
    want = [c for c in over if c in have]
    node = permuted(node, [have.index(c) for c in want])
    if not want:
        return node
    rest = over[over.index(want[0]) :]
    marks = [":" if c in have else "None" for c in rest]
    if "None" not in marks:
        return node
    last = max(k for k, mark in enumerate(marks) if mark == "None")
    if last < len(marks) - 1:
        marks = marks[: last + 1]
    elif marks.count("None") == 1 and len(marks) > 2:
        marks = ["...", "None"]
    return put(f"{{0}}[{', '.join(marks)}]", node)


def behind(at: int, *entries: str) -> str:
    """The text of an index behind so many axes that are taken whole."""
    return ", ".join([*[":"] * at, *entries])


def indexed(node: Node, at: int, entry: str) -> Node:
    """An index behind so many axes; one of a component is one index."""
    if isinstance(node, ast.Subscript) and not at:
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if all(isinstance(one, ast.Constant) and isinstance(one.value, int) for one in entries):
            return put(f"{{0}}[{', '.join([*map(ast.unparse, entries), entry])}]", node.value)
    return put(f"{{0}}[{behind(at, entry)}]", node)


def span(start: int, stop: int, step: int, size: int) -> str:
    """The text of a slice of an axis of a size; `stop` may be −1 for a step backwards to the front."""
    first = "" if start == (0 if step > 0 else size - 1) else str(start)
    last = "" if (stop >= size if step > 0 else stop < 0) else str(stop)
    return f"{first}:{last}" + (f":{step}" if step != 1 else "")


def reshaped(node: Node, have: Sequence[int], want: Sequence[int]) -> Node:
    """An array of one shape in another."""
    if tuple(have) == tuple(want):
        return node
    match node:
        case ast.Call(ast.Attribute(of, "reshape")) if have and want and ast.unparse(of) != "np":
            node = of  # is reshaped once
        case _:  # not reshaped yet
            pass
    if not have:
        return put(f"np.reshape({{0}}, {shape(want)})", node)
    if not want:
        return put(f"{{0}}[{', '.join(['0'] * len(have))}]", node)
    if len(want) == 1 and len(have) > 1:
        return put("{0}.reshape(-1)", node) if math.prod(want) else put(f"{{0}}.reshape({want[0]})", node)
    return put(f"{{0}}.reshape({', '.join(map(str, want))})", node)


def shape(sizes: Sequence[int]) -> str:
    """The text of a shape, a number where it is one."""
    return str(sizes[0]) if len(sizes) == 1 else str(tuple(sizes))


def axis(at: int, count: int = 1) -> str:
    """The text of some axes in a row as an argument."""
    return str(at) if count == 1 else str(tuple(range(at, at + count)))
