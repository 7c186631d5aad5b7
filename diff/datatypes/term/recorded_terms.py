"""The steps of a function that was run on symbols, as a term: by turns a program and a call.

A line of steps is cut at the calls. Between two calls stands the program of the slots that are needed later, so that an
expression that Python evaluates once is one `let`, and one that nobody needs is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import frozen

from diff.lam.term.lam_values import nested
from diff.lam.term.terms import AnyTerm, Let, Lit, Pattern, Prim, Tuple, Var, fresh
from diff.lam.term.types import ground, space_of
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, Type, Vec, Zero
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Captured, Literal
from hilbert.space.space import type_of as space_of_leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Given: TypeAlias = "list[tuple[Var, Any, tuple[int, ...]]]"
"""Variables that stand for expressions, with their spaces and slots."""


@final
@frozen
class Call:
    """let p = t in …, at a step of the line; t speaks of expressions by variables: their slots are in `given`."""

    at: int
    given: tuple[tuple[Var, Any, tuple[int, ...]], ...]
    pattern: Pattern | None
    term: AnyTerm


@final
@frozen
class Recorded:
    """A line without inputs: the slots that it captures belong to variables, each of which holds some."""

    name: str
    builder: Builder
    known: dict[int, Var]
    slots: dict[Var, tuple[int, ...]]


def packed(parts: Sequence[AnyTerm]) -> AnyTerm:
    """One term, or the tuple of several."""
    return parts[0] if len(parts) == 1 else Tuple(tuple(parts))


def literals(space: Type, v: Vec[Any]) -> AnyTerm:
    """A vector as a term: of a direct sum, the tuple of its parts."""

    def made(part: Any) -> AnyTerm:
        return Tuple(tuple(map(made, part))) if isinstance(part, tuple) else Lit(part)

    return made(nested(space, v))


def series(of: Recorded, calls: list[Call]) -> AnyTerm:
    """let p = t in … for each program between calls and each call, in order; the last call has the result."""
    b = of.builder
    segment: dict[int, int] = {}
    start = 0
    for k, one in enumerate(calls):
        segment |= dict.fromkeys(range(start, one.at), k)
        start = max(start, one.at)
    alive, exported = _needs(b, calls, segment)
    leaves = {slot: fresh("v", ground(space_of_leaf(b.slots[slot]))) for slot in sorted(exported)}
    lets: list[tuple[Pattern, AnyTerm]] = []
    for k, one in enumerate(calls):
        steps = [s for s in alive if segment[s] == k]
        made = [(leaves[s], space_of_leaf(b.slots[s]), (s,)) for s in steps if s in exported]
        lets += _program(of, [*one.given, *made], lambda s, k=k: s in leaves and segment[s] < k, leaves)  # type: ignore[misc]
        if one.pattern is not None:
            lets.append((one.pattern, one.term))
    term = calls[-1].term
    if lets and lets[-1][0] is term:  # let x = t in x is t
        term = lets.pop()[1]
    for pattern, value in reversed(lets):
        term = Let(pattern, value, term)
    return term


def _program(
    of: Recorded, wanted: Given, before: Callable[[int], bool], leaves: dict[int, Var]
) -> list[tuple[Pattern, AnyTerm]]:
    """let ⟨v, …⟩ = p ⟨x, …⟩, p the program of the wanted slots; slots that are known `before` are variables."""
    if not wanted:
        return []
    src = of.builder
    needed = _reached(src, [s for _, _, slots in wanted for s in slots], before)
    inputs: dict[Var, tuple[int, ...]] = {}
    for s in needed:
        if s in of.known:
            inputs.setdefault(of.known[s], of.slots[of.known[s]])
        elif before(s):
            inputs[leaves[s]] = (s,)
    b = Builder([src.slots[s] for slots in inputs.values() for s in slots])
    where = {s: at for at, s in enumerate(s for slots in inputs.values() for s in slots)}
    for s in needed:
        if s not in where:
            step = src.steps[s]
            b.place = step.place
            where[s] = b.emit(step.operation, tuple([where[a] for a in step.args]), src.slots[s])
    dom, cod = _sum([_space_of(x) for x in inputs]), _sum([space for _, space, _ in wanted])
    p: AnyProgram = Program(dom, cod, b.line(where[s] for _, _, slots in wanted for s in slots))
    pattern: Any = packed([x for x, _, _ in wanted])
    if not inputs:
        return [(pattern, literals(cod, p(Zero().zeros())))]
    return [(pattern, Prim(p, packed(list(inputs)), of.name, is_shown=True))]


def _sum(spaces: list[Any]) -> Any:
    """0, the space, or the direct sum of several."""
    return spaces[0] if len(spaces) == 1 else DirectSum(tuple(spaces)) if spaces else Zero()


def _space_of(x: Var) -> Type:
    found = space_of(x.type)
    assert found is not None
    return found


def _reached(b: Builder, roots: list[int], stops: Callable[[int], bool]) -> list[int]:
    """The slots that some are made of, in order; those that only a slot in `stops` is made of are left out."""
    found: set[int] = set()
    stack = list(roots)
    while stack:
        s = stack.pop()
        if s not in found:
            found.add(s)
            if not stops(s):
                stack.extend(b.steps[s].args)
    return sorted(found)


def _needs(b: Builder, calls: list[Call], segment: dict[int, int]) -> tuple[list[int], set[int]]:
    """The slots that are needed, and those that are needed in a later segment than their own."""
    roots = [(s, k) for k, one in enumerate(calls) for _, _, slots in one.given for s in slots]
    alive = _reached(b, [s for s, _ in roots], lambda _: False)
    uses = [*roots, *((a, segment[s]) for s in alive for a in b.steps[s].args)]
    own = (Captured, Literal)
    exported = {a for a, k in uses if segment[a] < k and not isinstance(b.steps[a].operation, own)}
    return alive, exported
