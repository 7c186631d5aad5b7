"""Statements merged, cut to one round and marked do what they did: a case for each condition that this asks.

Statements are run here one by one; rounds of a marked loop at once, each with its own of what lives in one round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hilbert.compiled.merge.buffer_axes import LOCAL, contract
from hilbert.compiled.merge.fusion import fused
from hilbert.compiled.merge.marks import mark_parallel
from hilbert.compiled.tree.accesses import accesses, writes
from hilbert.compiled.tree.arrays import Loops
from hilbert.compiled.tree.buffers import Buffer
from hilbert.compiled.tree.places import Place, Variable
from hilbert.compiled.tree.statements import For, Store, inside
from hilbert.compiled.tree.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.tree.places import Atom
    from hilbert.compiled.tree.statements import Statement

N = 4
I, J, K = (Variable(name, N) for name in "ijk")
i, j, k = map(Place.of, (I, J, K))


class Memory:
    """The entries of buffers, and the places of loops that are run."""

    def __init__(self, given: dict[Buffer, Any]) -> None:
        self.arrays = {b: a.copy() for b, a in given.items()}
        self.at: dict[Any, int] = {}
        self.own: frozenset[Buffer] = frozenset()
        self.round = -1

    def entry(self, buffer: Buffer, places: Sequence[Place]) -> tuple[Any, tuple[int, ...]]:
        """The array that an entry stands in, and where."""
        key: Any = (buffer, self.round) if buffer in self.own else buffer
        array = self.arrays.setdefault(key, np.full(buffer.shape, np.nan))
        where = tuple(p.offset + sum(n * self.atom(atom) for atom, n in p.terms) for p in places)
        assert all(0 <= n < size for n, size in zip(where, buffer.shape, strict=True))
        return array, where

    def atom(self, atom: Atom) -> int:
        """The integer that a part of a place is."""
        return int(self.value(atom)) if isinstance(atom, Value) else self.at[atom]

    def value(self, value: Value) -> float:
        """The number that a value is."""
        match value.name:
            case "number":
                return float(value.args[0])
            case "load":
                array, where = self.entry(*value.args)
                return float(array[where])
            case name:
                a, b = map(self.value, value.values)
                return {"add": a + b, "mul": a * b, "sub": a - b, "max": max(a, b)}[name]

    def run(self, statements: Sequence[Statement]) -> None:
        """Run statements."""
        for statement in statements:
            if isinstance(statement, Store):
                new = self.value(statement.value)
                array, where = self.entry(statement.buffer, statement.places)
                old = {None: 0.0 * new, "add": array[where], "max": array[where]}[statement.monoid]
                array[where] = max(old, new) if statement.monoid == "max" else old + new
            else:
                assert isinstance(statement, For)
                if statement.is_parallel:
                    self.at_once(statement)
                    continue
                for n in range(statement.variable.size):
                    self.at[statement.variable] = n
                    self.run(statement.body)

    def at_once(self, loop: For) -> None:
        """Each statement in all rounds, the last one first, then the next statement."""
        found = accesses(loop)
        fixed = {b for b in found if all(p.number is not None for a in found[b] for p in a.places or ())}
        self.own = frozenset(b for b in fixed if b.is_local and writes(found[b])) - loop.totals
        for statement in loop.body:
            for n in reversed(range(loop.variable.size)):
                self.at[loop.variable] = self.round = n
                self.run([statement])
        self.own = frozenset()


class Case:
    """Buffers, statements, and what they leave in the outputs."""

    def __init__(self) -> None:
        self.to = Loops()
        self.given: dict[Buffer, Any] = {}
        self.outputs: list[Buffer] = []
        rng = np.random.default_rng(0)
        self.x, self.y = (Buffer(name, (N,), "float64", "in") for name in "xy")
        self.given |= {b: rng.uniform(0.5, 1.5, N) for b in (self.x, self.y)}

    def buffer(self, *shape: int, is_output: bool = True) -> Buffer:
        """A new buffer; outputs are compared, and keep their axes."""
        made = self.to.buffer(shape, "float64")
        made.is_whole = is_output
        self.outputs += [made] if is_output else []
        return made

    def at(self, buffer: Buffer, *places: Place | int) -> Value:
        """An entry."""
        return self.to.pool.load(buffer, tuple(map(Place.of, places)))

    @staticmethod
    def put(buffer: Buffer, *places: Place | int, value: Value, monoid: str | None = None) -> Store:
        """A store."""
        return Store(buffer, tuple(map(Place.of, places)), value, monoid)

    def left(self, parts: Sequence[Sequence[Statement]]) -> list[Any]:
        """What the statements of parts leave in the outputs and the inputs; a part's own buffers end with it."""
        memory = Memory(self.given)
        for part in parts:
            memory.run(part)
            memory.arrays = {b: array for b, array in memory.arrays.items() if isinstance(b, Buffer) and not b.is_local}
        return [memory.arrays.get(b, np.zeros(0)) for b in [*self.outputs, *self.given]]

    def is_kept(self, *parts: list[Statement]) -> bool:
        """Whether the statements of parts leave the same once they are merged, cut and marked."""
        due = self.left(parts)
        made = [fused(part) for part in parts]
        contract(self.to, made)
        mark_parallel([s for part in made for s in part])
        return same(due, self.left(made))


def same(due: Sequence[Any], found: Sequence[Any]) -> bool:
    """Whether arrays are equal; entries that nobody has written are NaN."""
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(due, found, strict=True))


def loop(*body: Statement, over: Variable = I) -> For:
    """A loop."""
    return For(over, [*body])


def loops(statements: Sequence[Statement]) -> int:
    """The number of loops."""
    return sum(isinstance(s, For) for s in inside([*statements]))


# --- merging ---


def test_loops_are_merged() -> None:
    """Two that stand at their own places are one."""
    c = Case()
    a, b = c.buffer(N), c.buffer(N)
    parts: list[Statement] = [
        loop(c.put(a, i, value=c.at(c.x, i) * 2.0)),
        loop(c.put(b, i, value=c.at(a, i) * 3.0)),
    ]
    assert loops(fused([*parts])) == 1
    assert c.is_kept(parts)


def test_a_read_at_another_place() -> None:
    """A loop that reads what other rounds have written is not merged."""
    c = Case()
    a, b = c.buffer(N), c.buffer(N)
    assert c.is_kept(
        [
            loop(c.put(a, i, value=c.at(c.x, i) * 2.0)),
            loop(c.put(b, i, value=c.at(a, i * -1 + (N - 1)))),
        ]
    )


def test_a_write_after_a_read_at_another_place() -> None:
    """A loop that writes what other rounds have read is not merged."""
    c = Case()
    a = c.buffer(N)
    assert c.is_kept(
        [
            loop(c.put(a, i, value=c.at(c.x, i * -1 + (N - 1)))),
            loop(c.put(c.x, i, value=c.at(c.y, i))),
        ]
    )


@pytest.mark.parametrize("is_read", [True, False])
def test_a_statement_between_stays_before(*, is_read: bool) -> None:
    """What reads, or writes, entries that the second loop writes stays before both."""
    c = Case()
    a, t = c.buffer(N), c.buffer()
    third = c.put(t, value=c.at(c.x, 0)) if is_read else c.put(c.x, 0, value=c.at(c.y, 1))
    assert c.is_kept(
        [
            loop(c.put(a, i, value=c.at(c.y, i))),
            third,
            loop(c.put(c.x, i, value=c.at(a, i) * 2.0)),
        ]
    )


def test_a_statement_between_stays_behind_what_it_reads() -> None:
    """What the second loop reads is computed before both."""
    c = Case()
    a, b, t = c.buffer(N), c.buffer(N), c.buffer()
    assert c.is_kept(
        [
            loop(c.put(a, i, value=c.at(c.y, i))),
            c.put(t, value=c.at(c.x, 0)),
            loop(c.put(b, i, value=c.at(a, i) * c.at(t))),
        ]
    )


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_statements_from_one_loop_to_the_next(steps: int) -> None:
    """Loops are not merged if the second needs the first by other statements, however many."""
    c = Case()
    a, b = c.buffer(N), c.buffer(N)
    between: list[Statement] = []
    value = c.at(a, 1)
    for _ in range(steps):
        t = c.buffer()
        between.append(c.put(t, value=value * 2.0))
        value = c.at(t)
    assert c.is_kept(
        [
            loop(c.put(a, i, value=c.at(c.x, i))),
            *between,
            loop(c.put(b, i, value=c.at(a, i) * value)),
        ]
    )


@pytest.mark.parametrize("by", ["the first", "the second"])
@pytest.mark.parametrize("is_next", [True, False])
def test_statements_from_merged_loops_to_the_next(by: str, *, is_next: bool) -> None:
    """The same behind two loops that are merged before: by what either of them has written."""
    c = Case()
    a, b, d, s, t = c.buffer(N), c.buffer(N), c.buffer(N), c.buffer(), c.buffer()
    read = a if by == "the first" else b
    assert c.is_kept(
        [
            loop(c.put(a, i, value=c.at(c.x, i))),
            loop(c.put(b, i, value=c.at(a if is_next else c.y, i) * 2.0)),
            c.put(s, value=c.at(read, 2) * 2.0),
            c.put(t, value=c.at(s) * 2.0),
            loop(c.put(d, i, value=c.at(c.x, i) * c.at(t))),
        ]
    )


@pytest.mark.parametrize("is_reached", [True, False])
def test_what_stands_behind_merged_loops(*, is_reached: bool) -> None:
    """What was behind the first of two loops is behind what the second one needs, wherever it stands."""
    c = Case()
    z, b, w, q, s = c.buffer(N), c.buffer(N), c.buffer(N), c.buffer(), c.buffer()
    reader = c.put(s, value=c.at(b, 1) * 2.0)
    second = loop(c.put(c.y, i, value=c.at(b, i) * 3.0))
    assert c.is_kept(
        [
            loop(c.put(z, i, value=c.at(c.x, i))),
            loop(c.put(b, i, value=c.at(c.x, i) * 5.0)),
            *([reader] if is_reached else []),
            c.put(q, value=c.at(c.y, 0) * c.at(z, 1)),
            second,
            *([] if is_reached else [reader]),
            loop(c.put(w, i, value=c.at(z, i) * c.at(s))),
        ]
    )


def test_what_merged_loops_need() -> None:
    """Loops that are merged need what the second one needs, when they are merged with one before."""
    c = Case()
    z, b, d, q = c.buffer(N), c.buffer(N), c.buffer(N), c.buffer()
    assert c.is_kept(
        [
            loop(c.put(z, i, value=c.at(c.x, i))),
            c.put(q, value=c.at(z, 1)),
            loop(c.put(b, i, value=c.at(c.x, i) * 5.0)),
            loop(c.put(d, i, value=c.at(b, i) * c.at(q))),
        ]
    )


@pytest.mark.parametrize("seed", range(40))
def test_statements_at_random(seed: int) -> None:
    """Loops over two variables and single statements, with totals, at their own places, at others and at numbers."""
    rng = np.random.default_rng(seed)
    c = Case()
    kept = [c.x, c.y, *(c.buffer(N, is_output=bool(k)) for k in (0, 1, 1, 1))]
    begin: list[Statement] = [loop(*(c.put(b, i, value=c.at(c.x, i) * 0.5) for b in kept[2:]))]
    for _ in range(int(rng.integers(4, 24))):
        variable = (I, J, None)[rng.integers(3)]

        def entry(own: Variable | None = variable) -> tuple[Buffer, Place]:
            at = Place(int(rng.integers(N))) if own is None or rng.random() < 0.1 else Place.of(own)
            moved = at * -1 + (N - 1) if rng.random() < 0.1 else at
            return kept[rng.integers(len(kept))], moved

        monoid = "max" if rng.random() < 0.1 else None
        store = c.put(*entry(), value=c.at(*entry()) * 0.5 + c.at(*entry()), monoid=monoid)
        begin.append(store if variable is None else loop(store, over=variable))
    assert c.is_kept(begin)


# --- axes that are cut ---


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_buffer_of_two_loops_keeps_its_axis(*, is_whole: bool) -> None:
    """It holds the entries of all rounds, also where both loops are over one variable, or within one loop."""
    c = Case()
    a, b, t = (c.buffer(N, N, is_output=k > 0) for k in range(3))
    first, second = (c.put(a, j, i, value=c.at(c.x, i) * c.at(c.y, j)), c.put(b, j, i, value=c.at(a, j, i) * 3.0))
    between = c.put(c.x, 0, value=c.at(c.y, 2))
    kept: list[Statement] = [loop(loop(first), between, loop(second), c.put(t, j, 0, value=c.at(c.x, 0)), over=J)]
    if is_whole:
        kept = [loop(loop(first, over=I), over=J), between, loop(loop(second), over=J)]
    due = c.left([kept])
    contract(c.to, [kept])
    assert a.shape == ((N, N) if is_whole else (1, N))
    assert same(due, c.left([kept]))


def test_a_buffer_of_two_parts() -> None:
    """It is no function's own."""
    c = Case()
    a, b, s, t = c.buffer(N, is_output=False), c.buffer(N), c.buffer(is_output=False), c.buffer()
    assert c.is_kept(
        [loop(c.put(a, i, value=c.at(c.x, i))), c.put(s, value=c.at(c.x, 0))],
        [loop(c.put(b, i, value=c.at(a, i) * 2.0)), c.put(t, value=c.at(s))],
    )


@pytest.mark.parametrize("size", [LOCAL, LOCAL + 1])
def test_large_buffers_lie_in_memory(size: int) -> None:
    """The stack is small."""
    c = Case()
    t = c.buffer(size, is_output=False)
    assert c.is_kept([c.put(t, 0, value=c.at(c.x, 0))])
    assert t.is_local == (size <= LOCAL)


# --- marks ---


def test_entries_of_each_round() -> None:
    """Rounds that write an entry each are run at once, also beside something that lives in one round."""
    c = Case()
    a, t = c.buffer(N), c.buffer(is_output=False)
    made = loop(c.put(t, value=c.at(c.x, i) * 2.0), c.put(a, i, value=c.at(t) * c.at(c.y, 0)))
    assert c.is_kept([made])
    assert t.is_local
    assert made.is_parallel


@pytest.mark.parametrize("of", ["a round before", "another place", "one entry", "entries of two loops"])
def test_rounds_that_meet(of: str) -> None:
    """Rounds that read, or write, what another one has written are run in order."""
    c = Case()
    a = c.buffer(2 * N)
    match of:
        case "a round before":
            body = c.put(a, i + 1, value=c.at(a, i) * 2.0)
        case "another place":
            body = c.put(c.x, i, value=c.at(c.x, i * -1 + (N - 1)))
        case "one entry":
            body = c.put(a, 0, value=c.at(c.x, i))
        case _:
            body = c.put(a, i + j, value=c.at(c.x, i))
    before = [loop(c.put(a, j, value=c.at(c.y, j)), c.put(a, j + N, value=c.at(c.y, j)), over=J)]
    if of == "entries of two loops":
        inner = loop(body)
        assert c.is_kept([*before, loop(inner, over=J)])
        return
    made = loop(body)
    assert c.is_kept([*before, made])
    assert not made.is_parallel


@pytest.mark.parametrize("of", ["a round", "the loop", "a total", "a total that is read"])
def test_what_lives_longer_than_a_round(of: str) -> None:
    """An entry that is read in a round before it is written, or behind the loop, is not a round's own."""
    c = Case()
    a, b, t = c.buffer(N), c.buffer(), c.buffer(is_output=False)
    start, put = c.put(t, value=c.to.number(1.0, "float64")), c.put(a, i, value=c.at(t) * c.at(c.y, i))
    match of:
        case "a round":
            parts: list[Statement] = [start, loop(put, c.put(t, value=c.at(c.x, i)))]
        case "the loop":
            parts = [loop(c.put(t, value=c.at(c.x, i)), put), c.put(b, value=c.at(t))]
        case "a total":
            parts = [start, loop(c.put(t, value=c.at(c.x, i), monoid="max")), c.put(b, value=c.at(t))]
        case _:
            parts = [start, loop(c.put(t, value=c.at(c.x, i), monoid="max"), put)]
    assert c.is_kept(parts)
    assert [s.is_parallel for s in inside(parts) if isinstance(s, For)] == [of == "a total"]


@pytest.mark.parametrize("is_output", [True, False])
def test_entries_that_are_not_a_rounds_own(*, is_output: bool) -> None:
    """What lies in memory, or at a place that is not a number, is one entry for all rounds."""
    c = Case()
    a, t = c.buffer(N, N), c.buffer(N, is_output=is_output)
    place = Place(0) if is_output else j
    inner = loop(c.put(t, place, value=c.at(c.x, i)), c.put(a, j, i, value=c.at(t, place) * 2.0))
    assert c.is_kept([loop(inner, over=J), loop(c.put(t, k, value=c.at(c.x, k)), over=K)])
    assert t.is_local != is_output
    assert not inner.is_parallel


def test_places_that_only_seem_to_move() -> None:
    """The sum of a loop's place and of one that is read may be one entry for all rounds."""
    c = Case()
    a, table = c.buffer(N), Buffer("table", (N,), "int64", "in")
    c.given[table] = np.arange(N)[::-1]
    made = loop(c.put(a, i + c.at(table, i), value=c.at(c.x, i)))
    assert c.is_kept([made])
    assert not made.is_parallel


def test_totals_at_places_of_the_loop() -> None:
    """Values are put at once to one entry only, not to places that are computed, and are not stored there."""
    c = Case()
    a = c.buffer(2 * N)
    begin = loop(c.put(a, j, value=c.at(c.y, j)), c.put(a, j + N, value=c.at(c.y, j)), over=J)
    made = loop(c.put(a, 0, value=c.at(c.x, i), monoid="max"), c.put(a, i, value=c.at(c.x, i), monoid="max"))
    assert c.is_kept([begin, made])
    assert not made.is_parallel
    both = loop(c.put(a, 1, value=c.at(c.x, i), monoid="max"), c.put(a, 1, value=c.at(c.y, i)))
    assert c.is_kept([begin, both])
    assert not both.is_parallel


def test_loops_within_a_loop_are_not_marked() -> None:
    """Only the innermost loop is."""
    c = Case()
    a, b = c.buffer(N), c.buffer(N)
    made = loop(c.put(b, i, value=c.at(c.x, i)), loop(c.put(a, i, value=c.at(c.y, j), monoid="max"), over=J))
    begin = loop(c.put(a, k, value=c.at(c.x, k)), over=K)
    assert c.is_kept([begin, made])
    assert not made.is_parallel
