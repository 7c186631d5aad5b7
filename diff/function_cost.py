"""The cost of a function, as it is written and as it runs, and the contractions that run in another order.

>>> from diff import fun
>>> from hilbert import Fin, R
>>> from linmap import cost
>>> X = Fin.of(100)
>>> print(cost(fun(R ** (X * X), R ** (X * X), R ** X)(lambda A, B, x: A @ B @ x)))
written    2.02e+06 flops    321600 bytes   largest array     10000   memory     80800 bytes
run           4e+04 flops    163200 bytes   largest array       100   memory      1600 bytes
order  1010000 → 20000 multiplications:
    (A, B, x) ↦ (A∗B)⋆x
    (A, B, x) ↦ A⋆(B⋆x)
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from diff.blocks.nested_blocks import passes_of
from diff.printing.program_names import leaf_names
from diff.terms.lower import planned, program
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, SpaceError
from hilbert.displayed import Displayed
from hilbert.program.blocks.block_sizes import block_size, bytes_at_once
from hilbert.program.line.builder import Builder
from hilbert.program.planning import contraction_plan
from hilbert.program.planning.contraction_tree import ContractionTree
from hilbert.program.planning.multiplications import multiplications
from hilbert.program.run.fuse import fused
from hilbert.space.space import type_of
from linmap.matrices.made.predicted_work import Work, whole_work
from linmap.matrices.made.systems import systems

if TYPE_CHECKING:
    from diff.terms.function import AnyFun
    from hilbert.program.line.line import Line


@final
@frozen
class Reordered(Displayed):
    """Contractions as they are written, and as they run; both are programs of the factors."""

    written: AnyProgram
    run: AnyProgram

    def __str__(self) -> str:
        before, after = (multiplications(p.line) for p in (self.written, self.run))
        texts = list(dict.fromkeys((str(self.written), str(self.run))))  # one where the order shows in neither
        lines = [line for text in texts for line in text.splitlines()]
        return "\n    ".join([f"order  {before} → {after} multiplications:", *lines])


@final
@frozen
class Running(Displayed):
    """The work of a function as it is written, as it runs, and what makes the difference; how it solves systems."""

    written: Work
    run: Work
    orders: tuple[Reordered, ...]
    systems: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()

    def __str__(self) -> str:
        solved = (f"system {system}" for system in self.systems)
        return "\n".join(
            [f"written{self.written}", f"run    {self.run}", *map(str, self.orders), *solved, *self.blocks]
        )


def lines(f: AnyFun) -> tuple[Line, ...]:
    """The line that a function runs."""
    return (planned(f).line,)


def orders(f: AnyFun) -> tuple[Reordered, ...]:
    """The contractions of a function that run in another order; of a program derived from planned values, the whole."""
    p = program(f)
    if p.written is not None:
        return (Reordered(p.written, p),)
    return tuple(_reordered(p, tree, other) for tree, other in contraction_plan.orders(p.line))


def _reordered(p: AnyProgram, tree: ContractionTree, other: Line) -> Reordered:
    """A tree of contractions as two programs of its factors; those that are inputs keep their names."""
    place = {slot: k for k, slot in enumerate(dict.fromkeys(tree.factors))}
    known = dict(enumerate(leaf_names(p)))
    others = count(1)
    names = tuple(known.get(slot) or f"u{next(others)}" for slot in place)
    spaces = tuple(type_of(p.slots[slot]) for slot in place)
    dom: Any = spaces[0] if len(spaces) == 1 else DirectSum(spaces)
    cod = type_of(p.slots[tree.inner[0]])
    written, run = Builder(dom.leaves), Builder(dom.leaves)
    where = dict(place)
    for slot in sorted(tree.inner):
        step = p.steps[slot - p.arity]
        for a in step.args:  # a number in every entry is no factor
            if a not in where:
                where[a] = written.emit(p.steps[a - p.arity].operation, (), p.slots[a])
        where[slot] = written.emit(step.operation, tuple(where[a] for a in step.args), p.slots[slot])
    result = run.inline(other, [place[slot] for slot in tree.factors])[other.outputs[0]]
    before = Program.of(written, dom, [where[tree.inner[0]]], cod, names)
    return Reordered(before, Program.of(run, dom, [result], cod, names))


def costed(f: AnyFun) -> Running:
    """The cost of a function; one that holds much memory at once says which axes it would run in blocks along."""
    run = planned(f)
    before, after = (whole_work(fused(p.line)) for p in (run.written or run, run))
    return Running(before, after, orders(f), systems([run.line]), in_blocks(run.line, after.memory))


MUCH, MANY = 1 << 24, 1 << 10
"""The bytes held at once, and the elements of an axis, from which on blocks are looked for."""


def in_blocks(line: Line, memory: int) -> tuple[str, ...]:
    """The axes of arguments along which a line that holds so many bytes runs in blocks with less than half of them."""
    axes = dict.fromkeys(axis for leaf in line.slots[: line.arity] for axis in leaf.axes) if memory > MUCH else ()
    made = []
    for axis in axes:
        if axis.size >= MANY and len(axis.axes) == 1:
            try:
                found = passes_of(line, (axis,), is_compiled=False)
            except SpaceError:  # no blocks along this axis
                continue
            size = block_size(found)
            held, n = bytes_at_once(found, size), len(found.passes)
            if 2 * held < memory:
                made.append(f"blocked over={axis}: {n} pass{'es' * (n != 1)} in blocks of {size}   memory {held} bytes")
    return tuple(made)
