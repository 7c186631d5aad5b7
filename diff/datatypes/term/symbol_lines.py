"""Lines of functions that are run on symbols: which variables of their terms stand for which slots.

A slot of the line around is captured, and has a variable there.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from diff.datatypes.term.recorded_terms import Given
from diff.lam.term.terms import Var, fresh
from diff.lam.term.types import ground
from diff.trace.error_place import here
from hilbert import Type
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Captured
from hilbert.space.space import type_of as space_of_leaf

recordings: ContextVar[tuple[Line, ...]] = ContextVar("recordings", default=())
"""The functions that are being run on symbols here, innermost last."""


class Line:
    """Vectors as expressions under construction; those that it captures are variables."""

    def __init__(self, name: str, outer: Line | None = None) -> None:
        self.name, self.outer = name, outer
        self.of: Any = None  # the run of a function that this is the whole of
        self.builder = Builder([])
        self.builder.watch = here
        self.known: dict[int, Var] = {}  # the variables that hold slots from outside
        self.slots: dict[Var, tuple[int, ...]] = {}
        self.outside: Given = []  # what a λ inside captures of the line around it

    def _captured(self, x: Var, space: Type, numbers: tuple[int, ...], sign: int) -> tuple[int, ...]:
        """Slots for a variable; those of the line around have its numbers, others negative ones."""
        codes = [k if sign > 0 else -1 - k for k in numbers]
        made = tuple(self.builder.emit(Captured(k), (), leaf) for k, leaf in zip(codes, space.leaves, strict=True))
        self.known |= dict.fromkeys(made, x)
        self.slots[x] = made
        return made

    def variable(self, space: Type, slots: tuple[int, ...], given: Given) -> Var:
        """The variable that has these slots, or a new one for them."""
        self._adopt(space, slots)
        x = self.known.get(slots[0]) if slots else None
        if x is not None and self.slots[x] == slots and x.type is ground(space):
            return x
        x = fresh("v", ground(space))
        given.append((x, space, slots))
        return x

    def _captures(self) -> None:
        """Variables for the slots of the line around that this one has captured."""
        for slot in range(len(self.builder.steps)):
            self._adopt(space_of_leaf(self.builder.slots[slot]), (slot,))

    def _adopt(self, space: Type, slots: tuple[int, ...]) -> None:
        """A variable for slots that are captured of the line around, where they have none."""
        operations = [self.builder.steps[slot].operation for slot in slots if slot not in self.known]
        codes = tuple(one.slot for one in operations if isinstance(one, Captured))
        outer = self.outer
        if outer is None or not slots or len(codes) != len(slots):
            return
        outer._adopt(space, codes)
        x = outer.known.get(codes[0])
        if x is not None and set(codes) <= set(outer.slots[x]):
            codes = outer.slots[x]
            slots = tuple(self.builder.emit(Captured(k), (), outer.builder.slots[k]) for k in codes)
        else:
            x = outer.variable(space, codes, self.outside)
        self.known |= dict.fromkeys(slots, x)
        self.slots.setdefault(x, slots)
