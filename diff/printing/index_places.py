"""Places in arrays, linear in an index: x[i+1], x[2·i] and x[5−i] of slices, [i≥1]·x[i−1] with zeros around.

Indices and places are counted from 0, as numpy's are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hilbert import Unit
from hilbert.relation import Converse, Inclusion

if TYPE_CHECKING:
    from collections.abc import Mapping

INDEX = "[\ue000-\uf8ff\U000f0000-\U000fffff]"
"""The sign that stands for an index while texts are put into each other."""
PART = "\u2063"
"""Follows a place that does not run over its whole axis, so that the range of the index is to be said."""
LINEAR = re.compile(rf"(?:((?:(?<=[\[ ])−)?\d+)−)?(?:(\d+)·)?({INDEX})([+−]\d+)?({PART}?)")
INSIDE = re.compile(rf"\[(?:(\d+)≤)?({INDEX})([+−]\d+){PART}(?:([<≥])(\d+))?\]")
"""A condition on an index that a number is added to."""


SUBSCRIPTS = re.compile(r"_\{([^}]*)\}")


def place_in(relation: Any, index: str) -> str:
    """The place of an entry of a slice, by its index: j+1, or 2·j; nothing for another relation."""
    of: Any = relation.of if isinstance(relation, Converse) else None
    if of is None or not _is_run(of):
        return ""
    part = PART if of.dom.size < of.cod.size else ""
    return _line(of.stride, of.offset, index) + part


def padded(relation: Any, index: str) -> tuple[str, str] | None:
    """Of an array with zeros around, the condition that an index is inside, and the place there; or nothing.

    Entries in steps have none: where they lie is no interval.
    """
    if not _is_run(relation) or abs(relation.stride) != 1:
        return None
    size, last = relation.dom.size, relation.cod.size
    low = relation.offset if relation.stride == 1 else relation.offset + 1 - size
    high = low + size
    above, below = low > 0, high < last
    place = _line(1, -low, index) if relation.stride == 1 else _line(-1, high - 1, index)
    if not above and not below:
        return "", place
    index += PART
    inside = f"{low}≤{index}<{high}" if above and below else f"{index}≥{low}" if above else f"{index}<{high}"
    return f"[{inside}]·", place + PART


def _is_run(relation: Any) -> bool:
    """Tell if a relation takes one axis into one axis, as evenly spaced places."""
    if not isinstance(relation, Inclusion) or isinstance(relation.dom, Unit):
        return False
    return len(relation.dom.axes) == len(relation.cod.axes) == 1


def _line(factor: int, constant: int, index: str) -> str:
    """factor·index + constant."""
    if not factor:
        return str(constant)
    front = index if abs(factor) == 1 else f"{abs(factor)}·{index}"
    if factor < 0:
        return f"{'−' * (constant < 0)}{abs(constant)}−{front}"
    return front if not constant else f"{front}{'+' if constant > 0 else '−'}{abs(constant)}"


def _parsed(found: re.Match[str]) -> tuple[int, int, str]:
    """The factor, the constant and the index of a place."""
    before, factor, index, behind, _ = found.groups()
    k = int(factor or 1)
    return (k if before is None else -k), _number(before) + _number(behind), index


def _number(text: str | None) -> int:
    return int((text or "0").replace("−", "-"))


def replaced(text: str, table: Mapping[int, str]) -> str:
    """A text with places put in for indices: 2·(i+1)−1 is 2·i+1, and 2·3−1 is 5."""
    if all(len(to) == 1 and not to.isdigit() for to in table.values()):
        return text.translate(table)

    def put(found: re.Match[str]) -> str:
        factor, constant, index = _parsed(found)
        to = table.get(ord(index), index)
        if to.isdigit():
            return str(factor * int(to) + constant)
        inner = LINEAR.fullmatch(to)
        if inner is None:  # a table's entry f(i)
            return _line(factor, constant, to)
        k, c, into = _parsed(inner)
        return _line(factor * k, factor * c + constant, into) + (found[5] or inner[5])

    return INSIDE.sub(_moved, LINEAR.sub(put, text))


def _moved(found: re.Match[str]) -> str:
    """[i−1≥1] is [i≥2]."""
    low, index, added, sign, bound = found.groups()
    shift = _number(added)
    before = f"{int(low) - shift}≤" if low else ""
    behind = f"{sign}{int(bound) - shift}" if sign else ""
    return f"[{before}{index}{PART}{behind}]" if low or sign else found[0]


def partial(text: str, index: str) -> bool:
    """Tell if no place in a text says along what an index runs: each is a part of an axis."""
    found = [one for one in LINEAR.finditer(text) if one[3] == index and text[one.start() - 1] != "_"]
    subscripts = SUBSCRIPTS.findall(text)
    parts: int = sum(one[5] == PART for one in found)
    return len(found) - sum(index in some for some in subscripts) == parts


def ranged(text: str, index: str, axis: str) -> str:
    """A text that says below the sign of a sum along what an index runs."""
    text = text.replace(f"_{index}", f"_{{{index}∈{axis}}}")
    return SUBSCRIPTS.sub(lambda found: re.sub(f"{index}(?!∈)", f"{index}∈{axis}", found[0]), text)
