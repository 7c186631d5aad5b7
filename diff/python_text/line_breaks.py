"""Long statements on several lines, broken in brackets."""

from __future__ import annotations

import ast
import textwrap

WIDTH = 88
"""The longest line."""
GLUE = "\0"
"""A space at which no line is broken."""


def broken(line: str) -> list[str]:
    """A statement on as many lines as it takes; one that has no place to break stays as it is."""
    if len(line) <= WIDTH:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    if line.lstrip().startswith('"""'):
        *parts, last = textwrap.wrap(line, WIDTH - 3, subsequent_indent=indent)
        return [*parts, last]
    if line.lstrip().startswith("return ") and len(_items(line)) > 1:
        items = [item.replace(" ", GLUE) for item in _items(line.strip().removeprefix("return "))]
        wrapped = textwrap.wrap(", ".join(items), WIDTH - len(indent) - 4, break_long_words=False)
        return [f"{indent}return (", *(f"{indent}    {one}".replace(GLUE, " ") for one in wrapped), f"{indent})"]
    for start, end in _brackets(line):
        head, inner, tail = line[: start + 1], f"{indent}    {line[start + 1 : end]}", indent + line[end:]
        if max(map(len, (head, inner, tail))) <= WIDTH and _is_whole([head, inner, tail]):
            return [head, inner, tail]
        items = [f"{indent}    {item}," for item in _items(line[start + 1 : end])]
        if len(items) > 1 and max(map(len, (head, *items, tail))) <= WIDTH and _is_whole([head, *items, tail]):
            return [head, *items, tail]
    parts = textwrap.wrap(
        line, WIDTH, subsequent_indent=f"{indent}    ", break_long_words=False, break_on_hyphens=False
    )
    return parts if _is_whole(parts) else [line]


def _brackets(line: str) -> list[tuple[int, int]]:
    """The brackets of a line that are not within others, the last ones first: breaks there read best."""
    found, opened = [], list[int]()
    for k, c in enumerate(line):
        if c in "([":
            opened.append(k)
        elif c in ")]":
            start = opened.pop()
            if not opened and k - start > 20:
                found.append((start, k))
    return found[::-1]


def _items(inner: str) -> list[str]:
    """The texts between the commas of a bracket."""
    found, depth, start = [], 0, 0
    for k, c in enumerate(inner):
        depth += (c in "([") - (c in ")]")
        if c == "," and not depth:
            found.append(inner[start:k].strip())
            start = k + 1
    return [*found, inner[start:].strip()]


def _is_whole(lines: list[str]) -> bool:
    """Tell if lines are one statement, or the head of one."""
    text = textwrap.dedent("\n".join(lines))
    try:
        tree = ast.parse(text + ("\n    pass" if text.endswith(":") else ""))
    except SyntaxError:
        return text.startswith("return") and _is_whole(["x = " + text.removeprefix("return ")])
    return len(tree.body) == 1
