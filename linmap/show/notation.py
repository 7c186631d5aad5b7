"""The paper's signs for labelled contractions, and the layout of terms on the page.

| sign | contraction | |
|---|---|---|
| `·` | `,->` `,i->i` `i,i->i` | scalar product; entry by entry |
| `⊙` | `i,i->` | inner product |
| `⋆` | `ij,j->i` | matrix–vector product; `Wᵀ⋆` where the matrix is read the other way |
| `∗` | `ij,jk->ik` | matrix product, tensor contraction; `ᵀ` likewise |
| `⊗` | `i,j->ij` | outer product |
| `[bi,bj→ijb]` | anything else | |

A lifted contraction has the sign of the one that it lifts: its spaces tell over which axes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, final

from attrs import frozen

from hilbert.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH = 100
LINES = 40


@cache
def operator(spec: Spec) -> tuple[str, bool, bool, bool]:
    """(sign, left transposed, right transposed, operands swapped) of a contraction."""
    left, right, out = spec.left, spec.right, spec.out
    plain = _blocks(left, right, out)
    if plain and (plain[0] == "⊗" or not any(plain[1:])):
        return plain
    while out and (out[0] in left[:1] or out[0] in right[:1]):
        c = out[0]
        left, right, out = left.removeprefix(c), right.removeprefix(c), out[1:]
        found = _blocks(left, right, out)
        if found:
            return plain if found[3] and plain else found
    return plain or (f"[{str(spec).replace('->', '→')}]", False, False, False)


def _blocks(left: str, right: str, out: str) -> tuple[str, bool, bool, bool] | None:
    """Signs of contractions without lifted labels."""
    if left == right == out or (not left and right == out) or (not right and left == out):
        return "·", False, False, False
    con = "".join(c for c in left if c in right and c not in out)
    a = "".join(c for c in left if c not in con)
    b = "".join(c for c in right if c not in con)
    if any(c in b for c in a):
        return None
    forms = {a + b: False, b + a: True}
    if out not in forms or (con and (left not in (a + con, con + a) or right not in (con + b, b + con))):
        return None
    sign = "⊗" if not con else "⊙" if not a and not b else "⋆" if not a or not b else "∗"
    swapped = forms[out] and bool(a) and bool(b)
    if sign == "⋆" and not a:  # a vector on the left of a matrix: Mᵀ⋆v
        return sign, False, right == con + b and bool(b), True
    flip_left, flip_right = bool(a) and bool(con) and left == con + a, bool(b) and bool(con) and right == b + con
    if swapped:  # b ∗ a: what was to the right now stands to the left
        flip_left, flip_right = bool(a) and bool(con) and left == a + con, bool(b) and bool(con) and right == con + b
    return sign, flip_left, flip_right, swapped


# --- terms on the page ---


@final
@frozen
class Atom:
    """Text that is never broken up or bracketed."""

    text: str


@final
@frozen
class Line:
    """f • g, f ∘ g: parts joined by a sign, outermost first."""

    sign: str
    parts: tuple[Doc, ...]


@final
@frozen
class Total:
    """f + g − h: parts with signs."""

    parts: tuple[tuple[bool, Doc], ...]


@final
@frozen
class Bracket:
    """⟨f, g⟩, [f, g]."""

    opening: str
    parts: tuple[Doc, ...]
    closing: str


@final
@frozen
class Times:
    """f × g."""

    parts: tuple[Doc, ...]


Doc: TypeAlias = Atom | Line | Total | Bracket | Times


def line(sign: str, parts: Iterable[Doc]) -> Doc:
    """f • g with nested lines of the same sign flattened and a minus in front; one part alone is itself."""
    flat: list[Doc] = []
    positive = True
    for part in parts:
        doc = part
        if isinstance(doc, Total) and len(doc.parts) == 1 and (sign == "•" or not flat):  # (−f) ∘ g = −(f ∘ g)
            positive, doc = not positive, doc.parts[0][1]
        flat.extend(doc.parts if isinstance(doc, Line) and doc.sign == sign else (doc,))
    whole: Doc = flat[0] if len(flat) == 1 else Line(sign, tuple(flat))
    return whole if positive else negative(whole)


def negative(part: Doc) -> Doc:
    """−f."""
    return Total(((False, part),))


def total(parts: Iterable[Doc]) -> Doc:
    """f + g with nested sums flattened, a positive part first if there is one; one part alone is itself."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    flat: list[tuple[bool, Doc]] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Total) else ((True, part),))
    if not flat:
        return Atom("0")
    first = next((k for k, (positive, _) in enumerate(flat) if positive), 0)
    flat.insert(0, flat.pop(first))
    return Total(tuple(flat))


def times(k: str, part: Doc | None, sign: str = "•") -> Doc:
    """(k ·) • f, or −f; id is not written."""
    if k == "−1":
        return negative(part or Atom("id"))
    factor = Atom(f"({k} ·)")
    return factor if part is None else line(sign, [factor, part])


def render(doc: Doc, *, tight: bool = False, within: str = "") -> str:
    """The text of a doc; inside a sum, compositions are set tight."""
    match doc:
        case Atom(text):
            return text
        case Line(sign, parts):
            join = sign if tight else f" {sign} "
            return join.join(render(p, tight=tight, within="line") for p in parts)
        case Times(parts):
            text = " × ".join(render(p, tight=True, within="line") for p in parts)
            return f"({text})" if within else text
        case Bracket(opening, parts, closing):
            return f"{opening}{', '.join(render(p, tight=tight) for p in parts)}{closing}"
        case Total(parts):
            text = ""
            for k, (positive, part) in enumerate(parts):
                sign = "" if positive and not k else " + " if positive else "−" if not k else " − "
                text += sign + render(part, tight=tight or len(parts) > 1, within="sum")
            return f"({text})" if within in ("line", "sum") else text
    return ""


def page(text: str, lets: Sequence[str] = ()) -> str:
    """At most 40 lines of 100 columns; what does not fit is counted."""
    lines = _wrapped(text)
    hidden = len(lets)
    for let in lets:
        if len(lines) > LINES:
            break
        lines += [f"  {line_}" for line_ in _wrapped(let, WIDTH - 2)]
        hidden -= 1
    if len(lines) > LINES:
        rest = f"  … {len(lines) - LINES + 1} more lines"
        lines[LINES - 1 :] = [f"{rest} and {hidden} more definitions" if hidden else rest]
    return "\n".join(lines)


BREAKS = (
    re.compile(r"(?<=, )|(?<=↦ )|(?= [+−] )"),  # between arguments and terms,
    re.compile(r"(?= [•∘×] )"),  # else between factors,
    re.compile(r"(?=[•∘])"),  # else inside a sum
)


def _wrapped(text: str, width: int = WIDTH) -> list[str]:
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
