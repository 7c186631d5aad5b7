"""Texts in lines of at most 100 columns, which break where a reader expects it.

>>> for line in wrapped("(first, second) ↦ first + second", 20):
...     print(line)
(first, second) ↦
    first + second
"""

from __future__ import annotations

import re

WIDTH = 100
BREAKS = (
    re.compile(r"(?<=, )|(?<=↦ )|(?= [+−] )"),  # between arguments and terms,
    re.compile(r"(?= [•∘×⊕] )"),  # else between factors,
    re.compile(r"(?=[•∘])"),  # else inside a sum
)


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """Lines that break after a comma or before an operator; in the middle of a name only if there is no other way."""
    lines, start, indent = [], 0, ""
    while len(text) - start > width - len(indent):
        cut = _cut(text, start, start + width - len(indent))
        lines.append(indent + text[start:cut].rstrip())
        start, indent = cut + (text[cut] == " "), "    "
    return [*lines, indent + text[start:]]


def _cut(text: str, start: int, stop: int) -> int:
    """The place in a text to break a line: the last good one, if it leaves the line more than half full."""
    last = start
    for pattern in BREAKS:
        places = [m.start() for m in pattern.finditer(text, start + 1, stop + 3) if m.start() <= stop]
        last = max(last, *places[-1:], start)
        if places and places[-1] - start > (stop - start) // 2:
            return places[-1]
    return last if last > start else stop
