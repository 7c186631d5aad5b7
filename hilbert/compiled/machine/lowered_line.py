"""A line lowered: its statements in parts, each of which becomes a function, and the buffers that they use."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, final

from hilbert.compiled.lower.expanded import expanded
from hilbert.compiled.lower.line_loops import whole
from hilbert.compiled.merge.buffer_axes import contract
from hilbert.compiled.merge.cuts import cut
from hilbert.compiled.merge.fusion import fused, work_of
from hilbert.compiled.merge.known_entries import settled
from hilbert.compiled.merge.marks import mark_parallel
from hilbert.compiled.merge.strips import in_strips
from hilbert.compiled.tree.accesses import accesses
from hilbert.compiled.tree.arrays import Loops
from hilbert.compiled.tree.statements import Called, For, inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Statement
    from hilbert.program.line.line import Line

LONG = 500
"""The statements of a function."""
TURN = 20_000_000
"""The stores of a turn, some 50 ms: a loop of more is entered again, so that a signal is seen between its turns."""


@final
class Part(NamedTuple):
    """Statements that become a function; the rounds of a loop alone that is long, and how many of them are a turn."""

    statements: Sequence[Statement]
    rounds: int = 1
    turn: int = 1

    @property
    def call(self) -> Called | None:
        """The call of a kernel, if the part is one."""
        first = self.statements[0]
        return first if isinstance(first, Called) else None


@final
class Lowered(NamedTuple):
    """The parts of a program and its buffers in memory; `doubted` is true after a run whose results are in doubt."""

    parts: Sequence[Part]
    inputs: Sequence[Buffer]
    outputs: Sequence[Buffer]
    constants: Sequence[Buffer]
    work: Sequence[Buffer]
    doubted: Buffer | None

    @property
    def table(self) -> Sequence[Buffer]:
        """The buffers in the order of their addresses."""
        return [*self.inputs, *self.outputs, *self.constants, *self.work]

    @property
    def statements(self) -> Sequence[Statement]:
        """All statements, outer ones first."""
        return [s for part in self.parts for s in inside(list(part.statements))]

    @property
    def stores(self) -> int:
        """The number of stores of a run, kernels' apart."""
        return sum(work_of(s) for part in self.parts for s in part.statements if part.call is None)


def lowered(line: Line, *, merge: bool = True, often: bool = False) -> Lowered:
    """The line as merged loops; without `merge` as its nests stand. Code that runs `often` may be long."""
    to = Loops()
    inputs, outputs = whole(to, line)
    if to.doubted is not None:
        to.begin(to.doubted)
        to.statements.insert(0, to.statements.pop())
    statements = expanded(to, often=often)
    parts = _parts(settled(to.pool, statements) if merge else statements, merge=merge)
    contract(to, parts)
    if merge:
        parts = [in_strips(to.pool, cut(to.pool, part)) for part in parts]
        mark_parallel([statement for part in parts for statement in part])
    used = {buffer for part in parts for s in part for buffer in accesses(s)}
    work = [b for b in to.buffers if b in used and not b.is_local]
    return Lowered([*map(_turns, parts)], inputs, outputs, [*to.constants.values()], work, to.doubted)


def _parts(statements: list[Statement], *, merge: bool) -> list[list[Statement]]:
    """The statements in parts: calls of kernels alone, loops of much work alone, others up to so many statements."""
    parts: list[list[Statement]] = []
    for is_call, group in groupby(statements, lambda s: isinstance(s, Called)):
        if is_call:
            parts += [[call] for call in group]
            continue
        size = LONG
        for statement in fused(list(group)) if merge else group:
            is_long = _rounds_of(statement) > TURN
            count = LONG if is_long else sum(1 for _ in inside([statement]))
            if size + count > LONG:
                parts.append([])
                size = 0
            parts[-1].append(statement)
            size += count
    return parts


def _turns(statements: Sequence[Statement]) -> Part:
    """The part of statements, of a long loop in turns."""
    first = statements[0] if len(statements) == 1 else None
    work = 0 if first is None else _rounds_of(first)
    if not isinstance(first, For) or work <= TURN:
        return Part(statements)
    rounds = first.variable.size
    return Part(statements, rounds, max(1, TURN * rounds // work))


def _rounds_of(statement: Statement) -> int:
    """The stores of a loop in all of its rounds; 0 for other statements."""
    return statement.variable.size * sum(map(work_of, statement.body)) if isinstance(statement, For) else 0
