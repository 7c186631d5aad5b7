"""The layout of terms on the page: lines, sums and brackets, broken where a page is full."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never, final

from attrs import frozen

from hilbert.display.lines import WIDTH, wrapped
from hilbert.displayed import Displayed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LINES = 40
DIGITS = 6
IN_FULL = "show(f, lines=None) has them"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Listing(Displayed):
    """An object whose text is a list of lines, which `show` cuts at a number of them."""

    __slots__ = ()

    def text(self, lines: int | None = None) -> str:
        """The text in at most so many lines; None for all of them."""
        raise TypeError(type(self).__name__)


@final
@frozen
class Word:
    """Text that is never broken up or bracketed."""

    text: str


@final
@frozen
class Chained:
    """f • g, f ∘ g: parts joined by a sign, outermost first."""

    sign: str
    parts: tuple[Doc, ...]


@final
@frozen
class Signed:
    """f + g − h: parts with signs."""

    parts: tuple[tuple[bool, Doc], ...]


@final
@frozen
class Bracket:
    """⟨f, g⟩, [f, g]; ⟨weights: f, bias: g⟩ for a record."""

    opening: str
    parts: tuple[Doc, ...]
    closing: str
    names: tuple[str, ...] | None = None


@final
@frozen
class Times:
    """f × g."""

    parts: tuple[Doc, ...]


Doc: TypeAlias = Word | Chained | Signed | Bracket | Times
Piece: TypeAlias = "str | tuple[Doc, bool, str]"
"""Text, or a doc with how it is set."""
IDENTITY = Word("id")


def subscript(n: int) -> str:
    """₁, ₂, …"""
    return str(n).translate(SUBSCRIPTS)


def indented(block: str) -> str:
    """All lines of a block moved to the right."""
    return "\n".join(f"  {one}" for one in block.split("\n"))


def line(sign: str, parts: Iterable[Doc]) -> Doc:
    """f • g with nested lines of the same sign flattened and a minus in front; one part alone is itself."""
    flat: list[Doc] = []
    positive = True
    for part in parts:
        doc = part
        if isinstance(doc, Signed) and len(doc.parts) == 1 and (sign == "•" or not flat):  # (−f) ∘ g = −(f ∘ g)
            positive, doc = not positive, doc.parts[0][1]
            if doc == IDENTITY:  # (−id) ∘ g = −g
                continue
        flat.extend(doc.parts if isinstance(doc, Chained) and doc.sign == sign else (doc,))
    whole: Doc = (flat or [IDENTITY])[0] if len(flat) <= 1 else Chained(sign, tuple(flat))
    return whole if positive else negative(whole)


def negative(part: Doc) -> Doc:
    """−f; of −g this is g."""
    return _opposite(part) or Signed(((False, part),))


def total(parts: Iterable[Doc]) -> Doc:
    """f + g with nested sums flattened, a positive part first if there is one; one part alone is itself."""
    parts = list(parts)
    if len(parts) == 1:
        return parts[0]
    flat: list[tuple[bool, Doc]] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Signed) else ((True, part),))
    if not flat:
        return Word("0")
    first = next((k for k, (positive, _) in enumerate(flat) if positive), 0)
    flat.insert(0, flat.pop(first))
    return Signed(tuple(flat))


def times(k: str, part: Doc | None, sign: str = "•") -> Doc:
    """(k ·) • f, or −f; id is not written."""
    if k.startswith("−") and (opposite := _opposite(part)) is not None:
        k, part = k[1:], opposite
        if k == "1":
            return part
    if k == "−1":
        return negative(part or IDENTITY)
    factor = Word(f"({k} ·)")
    return factor if part is None else line(sign, [factor, part])


def _opposite(part: Doc | None) -> Doc | None:
    """−f without a minus, for an f that begins with one."""
    if isinstance(part, Signed) and len(part.parts) == 1 and not part.parts[0][0]:
        return part.parts[0][1]
    if isinstance(part, Word) and part.text.startswith("(−") and part.text.endswith((" ·)", " ⋆)")):
        return Word(f"({part.text[2:]}")
    if isinstance(part, Chained) and isinstance(part.parts[0], Word) and (opposite := _opposite(part.parts[0])):
        return Chained(part.sign, (opposite, *part.parts[1:]))
    return None


def render(doc: Doc, *, tight: bool = False, within: str = "") -> str:
    """The text of a doc; inside a sum, compositions are set tight. Iterative: docs may be nested deeply."""
    text: list[str] = []
    stack: list[Piece] = [(doc, tight, within)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            text.append(piece)
        else:
            stack.extend(reversed(_pieces(*piece)))
    return "".join(text)


def _pieces(doc: Doc, tight: bool, within: str) -> list[Piece]:  # noqa: FBT001 - as in `render`
    """The pieces of the text of a doc, in order."""
    match doc:
        case Word(text):
            return [text]
        case Chained(sign, parts):
            return _joined(sign if tight else f" {sign} ", [(p, tight, "line") for p in parts])
        case Times(parts):
            inner = _joined(" × ", [(p, True, "line") for p in parts])
            return ["(", *inner, ")"] if within else inner
        case Bracket(opening, parts, closing, names):
            pieces: list[Piece] = [(p, tight, "") for p in parts]
            if names is None:
                return [opening, *_joined(", ", pieces), closing]
            inner = [one for name, piece in zip(names, pieces, strict=True) for one in (f", {name}: ", piece)]
            return [f"{opening}{names[0]}: ", *inner[1:], closing] if names else [opening, closing]
        case Signed(parts):
            inner = []
            for k, (positive, part) in enumerate(parts):
                inner.append("" if positive and not k else " + " if positive else "−" if not k else " − ")
                inner.append((part, tight or len(parts) > 1, "sum"))
            return ["(", *inner, ")"] if within in ("line", "sum") else inner
        case _:
            assert_never(doc)


def _joined(sign: str, pieces: list[Piece]) -> list[Piece]:
    """The pieces with a sign between them."""
    return [one for piece in pieces for one in (sign, piece)][1:]


@final
@frozen
class Page:
    """Limits on a text that is shown: so many lines of 100 columns, numbers to so many digits; None for no limit."""

    lines: int | None = LINES
    digits: int | None = DIGITS

    def number(self, k: float) -> str:
        """A number as short as it can be read back to so many digits."""
        text = repr(k).removesuffix(".0") if self.digits is None else f"{k:.{self.digits}g}"
        return text.replace("-", "−")

    def lay(self, text: str, lets: Sequence[str] = (), hidden: int = 0) -> str:
        """The text with a line for each definition, and those below it; what is cut is counted and named.

        Parts that are `hidden` count, too.
        """
        lines = wrapped(text, WIDTH)
        left = len(lets)
        for let in lets:
            if self.lines is not None and len(lines) > self.lines:
                break
            for one in let.split("\n"):
                bare = one.lstrip(" ")
                indent = " " * (2 + len(one) - len(bare))
                lines += [indent + part for part in wrapped(bare, WIDTH - len(indent))]
            left -= 1
        if self.lines is not None and len(lines) + (hidden > 0) > self.lines:
            rest = f"{len(lines) - self.lines + 1} more lines{f' and {left} more definitions' if left else ''}"
            lines[self.lines - 1 :] = [f"  … {rest}: {IN_FULL}"]
        elif hidden:
            lines.append(f"  … {hidden} parts are left out: {IN_FULL}")
        return "\n".join(lines)


PAGE = Page()
"""The limits of `str`."""
