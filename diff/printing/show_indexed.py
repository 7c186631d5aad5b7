"""Steps that do not act on all axes of their operands, written with bound indices: [i, j] ↦ v[i] − v[j], Σ_k u[i, k].

A text is *read* by default: a step acts on all axes, and what lacks axes in front is repeated along them. Where that
would read another step, the text of the slot is written entry by entry. In it, an index stands for an axis; while
texts are put into each other, it is one character of Unicode's private use, which gets its name when its line is laid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final

from attrs import evolve

from diff.printing.index_places import PART, padded, partial, place_in, ranged, replaced
from diff.terms.elementwise import Elementwise
from diff.terms.user_operation import Custom
from hilbert import Unit
from hilbert.index.index import Anonymous, Fin
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal
from hilbert.relation import Converse, Full, Inclusion
from linmap.signs import acts_on_all
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from diff.printing.slot_text import Text
    from diff.terms.program import Operation
    from hilbert.index.index import Index
    from hilbert.index.leaf import Leaf
    from linmap.printing.text_names import Names

FREE, BOUND, ABOVE = 0xE000, 0xF0000, 0x100000
LETTERS = "ijklmnpqrstabcdfgh"


def is_rep(operation: Any) -> bool:
    """Tell if a step repeats its operand along further axes."""
    return (
        isinstance(operation, wire.Reduce)
        and isinstance(operation.relation, Full)
        and isinstance(operation.relation.dom, Unit)
    )


def is_renaming(operation: Any) -> bool:
    """Tell if a step gives one axis another index set of the same size."""
    if not isinstance(operation, wire.Reduce):
        return False
    relation = operation.relation
    of = relation.of if isinstance(relation, Converse) else relation
    if not isinstance(of, Inclusion) or len(of.dom.axes) != 1 or len(of.cod.axes) != 1:
        return False
    return of.dom.size == of.cod.size and (of.offset, of.stride) == (0, 1)


def free(axes: Iterable[int]) -> str:
    """The indices of some axes."""
    return "".join(chr(FREE + k) for k in axes)


def braced(indices: Sequence[str]) -> str:
    """One index, or several in braces."""
    return indices[0] if len(indices) == 1 else f"{{{', '.join(indices)}}}"


def reads_all(operation: Operation, operands: Sequence[Leaf]) -> bool:
    """Tell if a step acts as its sign alone says: on all axes of its operands."""
    match operation:
        case wire.Reduce(relation, at):
            whole = at == 0 and (is_rep(operation) or relation.dom.axes == operands[0].axes)
            if place_in(relation, chr(FREE)) or padded(relation, chr(FREE)):
                return is_renaming(operation)
            return whole or is_renaming(operation)
        case Along(_, index, _):
            return index.axes == operands[0].axes
        case wire.Move(order):
            return order == (1, 0)
        case Contract(spec):
            return acts_on_all(spec, *operands)
        case Custom(n=n) | wire.External(n=n):
            return n == 0
        case Elementwise() | Literal() | Add() | Keep() | Cast() | wire.Scale() | Choose() | Fill() | AnyLane():
            return True  # element by element
        case Pack() | Unpack() | ControlFlow():
            return True
        case _:
            assert_never(operation)


@final
class Indexed:
    """The indices of a program's lines: their names, and the texts that have them."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.axes: list[Index] = []

    def bind(self, axis: Index) -> str:
        """A new bound index along an axis."""
        self.axes.append(axis)
        return chr(BOUND + len(self.axes) - 1)

    def head(self, text: str, axes: Sequence[Index], *, ranges: bool) -> str:
        """[i, j] ↦ text, where the indices have names; `ranges` says along what those run that the text does not show.

        An index of parts of arrays alone has a range, too. A text without axes has no head.
        """
        bound = list(dict.fromkeys(c for c in text if BOUND <= ord(c) < ABOVE))
        for c in bound:
            if partial(text, c):  # Σ_{i∈5} x[i+1]
                text = ranged(text, c, str(self.axes[ord(c) - BOUND]))
        short = {k for k in range(len(axes)) if partial(text, chr(FREE + k))}
        text = text.replace(PART, "")
        over = [*axes, *(self.axes[ord(c) - BOUND] for c in bound)]
        table = dict(zip([*(FREE + k for k in range(len(axes))), *map(ord, bound)], self._named(over), strict=True))
        if not axes:
            return text.translate(table)
        shown = [
            table[FREE + k] + (f"∈{axis}" if k in short and (ranges or chr(FREE + k) in text) else "")
            for k, axis in enumerate(axes)
        ]
        return f"[{', '.join(shown)}] ↦ {text.translate(table)}"

    def _named(self, axes: Sequence[Index]) -> list[str]:
        """The tags, if they differ, and letters otherwise; none of them is a name that stands for something else."""
        tags = [
            axis.tag.__name__.lower() if isinstance(axis, Fin) and axis.tag is not Anonymous else "" for axis in axes
        ]
        if all(tags) and len(set(tags)) == len(tags) and not self.names.taken.intersection(tags):
            self.names.reserved.update(tags)
            return tags
        letters = [c for c in LETTERS if c not in self.names.taken]
        letters += [f"{c}′" for c in letters] + [f"i{k}" for k in range(len(axes))]
        self.names.reserved.update(letters[: len(axes)])
        return letters[: len(axes)]


def at(text: Text, table: dict[int, str]) -> Text:
    """A text with other indices: i, or i+1 in place of j."""
    fields: dict[str, Any] = {name: replaced(getattr(text, name), table) for name in ("tight", "rest", "wide")}
    return evolve(text, **fields)


def along(labels: str, known: dict[str, str]) -> dict[int, str]:
    """The indices of an operand whose axes have these labels."""
    return {FREE + k: known[c] for k, c in enumerate(labels)}


def missing(text: str, count: int) -> list[int]:
    """Axes along which a text does not change."""
    return [k for k in range(count) if chr(FREE + k) not in text]
