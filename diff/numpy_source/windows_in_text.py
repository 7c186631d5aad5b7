"""Windows in text: sums over windows, windows side by side and laid over each other, and their adjoints."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from diff.python_text.axis_text import behind, permuted, reshaped
from diff.python_text.expressions import Node, name, put, text
from diff.python_text.scope import Value, zeros

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.numpy_source.one_axis import Axis

WINDOWS = "sliding_window_view"
IMPORT = "from numpy.lib.stride_tricks import sliding_window_view"


def window_sums(p: Axis, r: Any, node: Node) -> Node:
    """(red v)_y = Σ_k v[stride·y + offset + dilation·k], 0 where that lies outside."""
    if not r.width:
        return put(zeros(p.sizes, p.leaf))
    reach = r.dilation * (r.width - 1) + 1
    stop = r.offset + r.stride * (p.m - 1) + reach
    node = _between_zeros(p, node, -r.offset, stop - p.n)
    entry = f"::{r.stride}" if r.stride > 1 else ":"
    if r.width == 1:
        return node if entry == ":" else p.cut(node, entry)
    return put("{0}.sum(axis=-1)", _windows(p, node, reach, entry, r.dilation))


def _windows(p: Axis, node: Node, reach: int, entry: str, dilation: int) -> Node:
    """Windows of consecutive entries, those that an entry takes, along a new last axis."""
    p.scope.page.imports.add(IMPORT)
    node = p.scope.light(Value(node, p.leaf), "padded").node
    node = put(f"{WINDOWS}({{0}}, {reach}{p.argument})", node)
    rest = [":"] * len(p.after)
    marks = [*[":"] * p.at, entry, *rest] if entry != ":" else []
    if dilation > 1:
        marks = [*[":"] * p.at, entry, *rest, f"::{dilation}"]
    return put(f"{{0}}[{', '.join(marks)}]", node) if marks else node


def _between_zeros(p: Axis, node: Node, low: int, high: int) -> Node:
    """The entries along the axis with zeros on both sides; where a number is negative entries are left out."""
    size = p.n
    if low < 0 or high < 0:
        first, last = max(-low, 0), size - max(-high, 0)
        if first >= last:
            return put(zeros((*p.before, size + low + high, *p.after), p.leaf))
        node = p.cut(node, f"{first or ''}:{last if last < size else ''}")
    low, high = max(low, 0), max(high, 0)
    if not low and not high:
        return node
    if p.is_alone:
        return put(f"np.pad({{0}}, ({low}, {high}))", node)
    widths = ["(0, 0)"] * p.at + [f"({low}, {high})"] + ["(0, 0)"] * len(p.after)
    return put(f"np.pad({{0}}, ({', '.join(widths)}))", node)


def side_by_side(p: Axis, r: Any, node: Node) -> Node:
    """(y, k) ↦ v[stride·y + offset + dilation·k], y and k as one axis."""
    windows, width = r.dom.left.size, r.dom.right.size
    reach = r.dilation * (width - 1) + 1
    entry = f"{r.offset or ''}:" + (f":{r.stride}" if r.stride > 1 else "")
    node = _windows(p, node, reach, entry, r.dilation)
    rank = p.at + 2 + len(p.after)
    if p.after:
        node = p.scope.light(Value(node, p.leaf), "windows").node
    order = [*range(p.at + 1), rank - 1, *range(p.at + 1, rank - 1)]
    node = permuted(node, order)
    return reshaped(node, (*p.before, windows, width, *p.after), (*p.before, windows * width, *p.after))


def laid_over(p: Axis, r: Any, node: Node) -> Node:
    """Entry (y, k) added at stride·y + offset + dilation·k."""
    windows, width = r.dom.left.size, r.dom.right.size
    apart = (*p.before, windows, width, *p.after)
    word = _named(p, reshaped(node, (*p.before, windows * width, *p.after), apart), "windows")
    y = p.zeros("y")
    _added(p, y, r.offset, r, windows, width, lambda k: f"{word}[{behind(p.at, ':', k)}]")
    return name(y)


def spread_out(p: Axis, r: Any, node: Node) -> Node:
    """The adjoint of windows with a stride: v_y added to all of its window, as far as the window lies inside."""
    if not r.width:
        return put(zeros(p.sizes, p.leaf))
    reach = r.dilation * (r.width - 1) + 1
    if r.width == r.stride and r.dilation == 1 and not r.offset and p.n * r.stride == p.m:
        return put(f"np.repeat({{0}}, {r.stride}, axis={p.at})", node)
    low = max(-r.offset, 0)
    length = max(low + p.m, low + r.offset + r.stride * (p.n - 1) + reach)
    word = _named(p, node, "part")
    y = p.zeros("y", length)
    _added(p, y, low + r.offset, r, p.n, r.width, lambda _: word)
    if low or length > p.m:
        return p.cut(name(y), f"{low or ''}:{low + p.m if low + p.m < length else ''}")
    return name(y)


def _added(p: Axis, y: str, start: int, r: Any, windows: int, width: int, part: Callable[[str], str]) -> None:
    """The statements that add a part for each place of the windows."""
    reach = r.stride * (windows - 1) + 1
    taken = set(p.scope.page.taken)
    k = p.scope.page.fresh("k")
    first = k if r.dilation == 1 else f"{r.dilation} * {k}"
    first = first if not start else f"{first} + {start}"
    last = f"{first} + {reach}" if not start else f"{first.rpartition(' + ')[0]} + {start + reach}"
    step = f":{r.stride}" if r.stride > 1 else ""
    p.scope.put(f"for {k} in range({width}):")
    p.scope.put(f"    {y}[{behind(p.at, f'{first}:{last}{step}')}] += {part(k)}")
    p.scope.page.end(taken)


def _named(p: Axis, node: Node, base: str) -> str:
    if isinstance(node, ast.Name):
        return node.id
    word = p.scope.page.fresh(base)
    p.scope.put(f"{word} = {text(node)}")
    return word
