"""Loops distributed (Allen & Kennedy 2001, ch. 2 and 5): steps that do not feed the next round leave the rounds.

They are run for a block of rounds at once, before or after the other steps, which are run round by round.
A total that each round adds to is the sum of the terms of a block: for products that is one contraction.

>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.program.line.builder import Builder
>>> x = Leaf(Entry("float64"))
>>> b = Builder([x, x, x])  # two states and a slice: s ↦ s·(2·x), t ↦ t + s·s
>>> product = Spec.scalar(0)
>>> after = b.contract(product, 0, b.scale(2.0, 2)), b.add(1, b.contract(product, 0, 0))
>>> parts = distributed(b.line(after), 2, 0)
>>> [(part.in_rounds, [type(step.operation).__name__ for step in part.line.steps], part.totals) for part in parts]
[(False, ['Scale'], ()), (True, ['Contract'], ()), (False, ['Contract'], (1,))]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.index.index import Fin, Unit
from hilbert.index.leaf import Bundle
from hilbert.index.spec import Spec  # noqa: F401 - the example's
from hilbert.program.line.builder import Builder
from hilbert.program.line.lift_step import lifted_step
from hilbert.program.line.operation import Add, Contract, Literal, Move, Reduce, Scale
from hilbert.relation import Full

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.program.line.line import Line, Step


@final
@frozen
class Part:
    """Some steps of a round, as a line of their own.

    Its inputs are the slots `states` before the round and then the slots `reads` of the whole body, of which the first
    `shared` are the same in all rounds; its outputs are the states after it, then the slots `makes`, and then the term
    added to each of the states `totals`.
    """

    line: Line
    states: tuple[int, ...]
    reads: tuple[int, ...]
    shared: int
    makes: tuple[int, ...]
    totals: tuple[int, ...] = ()
    in_rounds: bool = True


def distributed(body: Line, states: int, shared: int) -> list[Part]:
    """The parts of a loop's body, in an order in which each finds the slots that it reads."""
    totals = _totals(body, states)
    level = _levels(body, states, totals)
    read = _readers(body, states, level, totals)
    count = max(level, default=0) + 2
    own, steps = [list[int]() for _ in range(count)], [list[int]() for _ in range(count)]
    adds = [dict[int, int]() for _ in range(count)]
    for k in range(states):
        if k in totals:  # behind the part of its term
            adds[_even(level[totals[k]])][k] = totals[k]
        else:
            own[level[k]].append(k)
    for k in range(body.arity, len(level)):
        if level[k] >= 0 and (not _is_constant(body, k) or -1 in read[k]):
            steps[level[k]].append(k)
    found = enumerate(zip(own, steps, adds, strict=True))
    same = range(states, states + shared)
    return [_part(body, *part, read, n, same) for n, part in found if any(part)]


def _step(body: Line, slot: int) -> Step[Any] | None:
    return body.steps[slot - body.arity] if slot >= body.arity else None


def _is_constant(body: Line, slot: int) -> bool:
    step = _step(body, slot)
    return step is not None and isinstance(step.operation, Literal)


def _even(level: int) -> int:
    return level + level % 2


def _totals(body: Line, states: int) -> dict[int, int]:
    """The states that a round only adds to, and the slots that it adds."""
    found = dict[int, int]()
    for k, slot in enumerate(body.outputs[:states]):
        step = _step(body, slot)
        if step is not None and type(step.operation) is Add and body.reads[slot] == 1 == body.reads[k]:
            if step.args[0] == k != step.args[1]:
                found[k] = step.args[1]
            elif step.args[1] == k != step.args[0]:
                found[k] = step.args[0]
    return found


def _levels(body: Line, states: int, totals: dict[int, int]) -> list[int]:
    """The part of each slot: even ones are run for all rounds of a block at once, odd ones round by round.

    Inputs that are no states and constants are in part 0, the sums of totals in none.
    """
    deps: list[tuple[int, ...]] = [(body.outputs[k],) if k < states else () for k in range(body.arity)]
    deps += [step.args for step in body.steps]
    sums = {body.outputs[k] for k in totals}
    for k in (*totals, *sums):
        deps[k] = ()
    level = [0] * len(deps)
    for component in _components(deps):
        members = set(component)
        first = component[0]
        in_rounds = len(component) > 1 or first in deps[first] or first < states or not _is_plain(body, first)
        found = int(in_rounds)
        for k in component:
            for a in deps[k]:
                if a not in members:
                    found = max(found, level[a] + (level[a] % 2 != in_rounds))
        for k in component:
            level[k] = found
    for k in (*totals, *sums):
        level[k] = -1
    for k in range(states, body.arity):
        level[k] = 0
    return level


def _is_plain(body: Line, slot: int) -> bool:
    """Tell if a step acts on arrays, and can be run for many rounds at once; control flow stays in the rounds."""
    step = _step(body, slot)
    return step is None or not any(isinstance(body.slots[k], Bundle) for k in (slot, *step.args))


def _components(deps: Sequence[tuple[int, ...]]) -> list[list[int]]:
    """The strongly connected components of a graph, each behind those that it depends on (Tarjan 1972)."""
    number, low, open_ = [0] * len(deps), [0] * len(deps), bytearray(len(deps))
    count, path, found = 0, list[int](), list[list[int]]()
    for root in range(len(deps)):
        work = [] if number[root] else [(root, iter(deps[root]))]
        while work:
            v, left = work[-1]
            if not number[v]:
                count += 1
                number[v] = low[v] = count
                path.append(v)
                open_[v] = 1
            for w in left:
                if not number[w]:
                    work.append((w, iter(deps[w])))
                    break
                if open_[w]:
                    low[v] = min(low[v], number[w])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == number[v]:
                    at = path.index(v, max(0, len(path) - (count - number[v]) - 1))
                    found.append(sorted(path[at:]))
                    for w in path[at:]:
                        open_[w] = 0
                    del path[at:]
    return found


def _readers(body: Line, states: int, level: list[int], totals: dict[int, int]) -> list[set[int]]:
    """The parts that read each slot; −1 is the result of the loop."""
    read = [set[int]() for _ in level]
    for slot, step in enumerate(body.steps, body.arity):
        if level[slot] >= 0:
            for a in step.args:
                read[a].add(level[slot])
    for k in range(states):
        if k not in totals:
            read[body.outputs[k]].add(level[k])
    for slot in totals.values():
        read[slot].add(_even(level[slot]))
    for slot in body.outputs[states:]:
        read[slot].add(-1)
    return read


def _part(
    body: Line,
    own: list[int],
    slots: list[int],
    totals: dict[int, int],
    read: list[set[int]],
    n: int,
    same: range,
) -> Part:
    """Part n: its states, its steps and the states that it adds to."""
    ends = [body.outputs[k] for k in own]
    inside = {*own, *slots}
    needed = {a for k in slots for a in body.steps[k - body.arity].args}.union(ends, totals.values()) - inside
    constants = [k for k in sorted(needed) if _is_constant(body, k)]
    shared = [k for k in sorted(needed) if k in same]
    reads = [*shared, *(k for k in sorted(needed) if k not in same and not _is_constant(body, k))]
    makes = [k for k in sorted(inside) if read[k] - {n}]
    b = Builder([body.slots[k] for k in (*own, *reads)], fixed=body.fixed)
    where = {k: at for at, k in enumerate((*own, *reads))}
    for k in (*constants, *slots):
        step = body.steps[k - body.arity]
        b.place = step.place
        where[k] = b.emit(step.operation, tuple(where[a] for a in step.args), body.slots[k])
    line = b.line(where[k] for k in (*ends, *makes, *totals.values()))
    return Part(line, tuple(own), tuple(reads), len(shared), tuple(makes), tuple(totals), n % 2 == 1)


# --- a block of rounds at once ---


def blocked(part: Part, size: int) -> Line:
    """A part that is not run in rounds, for so many of them: its inputs are its totals, and the slots that it reads.

    Slots that differ between rounds have an axis in front, and so have all results.
    """
    line, axes = part.line, (Fin.of(size),)
    ends, adds = line.outputs[: len(part.makes)], line.outputs[len(part.makes) :]
    up = [k >= part.shared for k in range(line.arity)]
    inputs = [leaf.under(axes) if u else leaf for leaf, u in zip(line.slots, up, strict=False)]
    b = Builder([*(line.slots[k] for k in adds), *inputs], fixed=line.fixed)
    where = list(range(len(adds), b.arity))

    def rep(k: int) -> int:
        return where[k] if up[k] else b.rep(where[k], axes)

    for step in line.steps:
        b.place = step.place
        args = [where[a] for a in step.args]
        varies = [up[a] for a in step.args]
        up.append(any(varies))
        if any(varies):
            where.append(lifted_step(b, step.operation, 1, args, varies, [rep(a) for a in step.args].__getitem__))
        else:
            where.append(b.step(step.operation, tuple(args)))
    sums = _sums(b, line, adds, where, up, rep)
    return b.line([*map(rep, ends), *(b.add(k, sums[slot]) for k, slot in enumerate(adds))])


def _sums(
    b: Builder, line: Line, adds: Sequence[int], where: list[int], up: list[bool], rep: Callable[[int], int]
) -> dict[int, int]:
    """The sums of some slots over the rounds: for linear steps the step on the sum, for products one contraction.

    A value of a round that another step reads is made anyway, and added up directly.
    """
    todo, needed = list(adds), dict[int, None]()
    while todo:
        k = todo.pop()
        needed[k] = None
        if _is_linear(line, k, up):
            todo += line.steps[k - line.arity].args
    found = dict[int, int]()
    for k in sorted(needed):
        step = _step(line, k)
        if step is not None and _is_linear(line, k, up):
            found[k] = b.step(step.operation, tuple(found[a] for a in step.args))
        elif step is not None and type(step.operation) is Contract and _is_alone(line, k, up):
            found[k] = b.contract(step.operation.spec.summed, *(where[a] for a in step.args))
        else:
            found[k] = b.apply(Reduce(Full(b.slots[rep(k)].axes[0], Unit()), 0), rep(k))
    return found


def _is_alone(line: Line, slot: int, up: list[bool]) -> bool:
    """Tell if a step's value is needed for one sum only, and all its operands are numbers that differ by rounds."""
    step = _step(line, slot)
    return step is not None and line.reads[slot] == 1 and all(up[a] and line.slots[a].is_field for a in step.args)


def _is_linear(line: Line, slot: int, up: list[bool]) -> bool:
    step = _step(line, slot)
    linear = step is not None and isinstance(step.operation, Scale | Move | Reduce | Add)
    return linear and _is_alone(line, slot, up)
