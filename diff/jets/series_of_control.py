"""Taylor coefficients of what loops and branches give: the jet of a loop is a loop of the jet of its body.

Each coefficient of a state is a state, each of a shared array or slice is one more of these. Which states have
coefficients above the value is found first: those that depend, through any number of rounds, on what has.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, final

from diff.derive.finite_slopes import line_may_break
from diff.jets.multiindex import Alpha
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.control.branch import Cond
from hilbert.program.control.loop import Loop
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import TRUTH, Choose
from hilbert.program.line.constant import Const
from hilbert.program.line.operation import Move
from hilbert.program.transform.emit_loop import emitted, looped
from linmap.net.loop_masks import ROUNDS, grown, in_all_rounds, in_each_round
from linmap.net.support import Given

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from diff.jets.taylor_series import Results, TaylorSeries
    from hilbert.program.line.line import Line


def unpacked(series: TaylorSeries, k: int, bundle: int, alpha: Alpha) -> int | None:
    """A coefficient of array k of a bundle."""
    if isinstance(series.src.operation(bundle), Pack):
        return series.known.get((series.src.steps[bundle - series.src.arity].args[k], alpha))
    return _results(series, bundle, sum(alpha)).get((k, alpha))


def chosen(series: TaylorSeries, condition: int, sides: tuple[int | None, int | None], alpha: Alpha) -> int | None:
    """The coefficient of the one side where a condition holds, and of the other elsewhere; no side is 0."""
    a, b = (None if side is None else series.known.get((side, alpha)) for side in sides)
    some = b if a is None else a
    if some is None:
        return None
    out = series.out
    zero = out.number(0.0, out.slots[some])
    mask = series.known[condition, (0,) * len(alpha)]
    assert mask is not None  # conditions have a value
    mask = out.rep(mask, series.family) if series.varies(alpha) else mask
    return out.step(Choose(), (mask, zero if a is None else a, zero if b is None else b))


def _results(series: TaylorSeries, slot: int, order: int) -> Results:
    """The coefficients, up to an order, of what the loop or the branches of a slot give; raises SpaceError for others.

    They are found once, of all orders that are needed, where all that they are made of is known.
    """
    whole = len(series.levels) - 1
    (bundle,) = series.src.steps[slot - series.src.arity].args
    leaves = _packed(series, bundle, slot)
    alphas = [alpha for level in series.levels for alpha in level]
    need = series.need[slot]
    if all((leaf, alpha) in series.known for leaf in leaves for alpha in alphas if sum(alpha) <= series.need[leaf]):
        order = min(need, whole)
    found = series.bodies.get((slot, order))
    if found is None:
        alphas = [alpha for alpha in alphas if sum(alpha) <= order]
        operation = series.src.operation(slot)
        match operation:
            case Loop():
                found, masks = _of_loop(series, operation, leaves, alphas)
                series.supports.of_results |= {(slot, k): mask for k, mask in masks.items()}
            case Cond():
                found = _of_branches(series, operation, leaves, alphas)
            case _:  # one question: other steps have no body, or one that is run until it stops
                raise series.no_jet(slot, operation)
        series.bodies[slot, order] = found
    return found


def _packed(series: TaylorSeries, bundle: int, slot: int) -> tuple[int, ...]:
    if not isinstance(series.src.operation(bundle), Pack):
        raise series.no_jet(slot, series.src.operation(slot))
    return series.src.steps[bundle - series.src.arity].args


def _known(series: TaylorSeries, leaves: tuple[int, ...], alphas: list[Alpha]) -> list[dict[Alpha, int]]:
    """The coefficients of each array that are not 0."""
    pairs = [[(alpha, series.known.get((leaf, alpha))) for alpha in alphas] for leaf in leaves]
    return [{alpha: found for alpha, found in some if found is not None} for some in pairs]


def _under(series: TaylorSeries, leaf: Leaf, alpha: Alpha) -> Leaf:
    return leaf.under(series.family) if series.varies(alpha) else leaf


MASK: Alpha = ()
"""The key, in the place of an order, of the mask of an array, where that is computed."""


def _inner(
    series: TaylorSeries,
    body: Line,
    keys: list[tuple[int, Alpha]],
    alphas: list[Alpha],
    masks: Mapping[int, Const | int],
) -> tuple[Builder, TaylorSeries]:
    """The coefficients of a body's slots, those of its arguments being the arguments of a line."""
    leaves = [_mask_of(body.slots[i]) if alpha == MASK else _under(series, body.slots[i], alpha) for i, alpha in keys]
    b = Builder(leaves, fold=True, fixed=body.fixed)
    given = {key: k for k, key in enumerate(keys)}
    where = {i: Given(given.get((i, MASK), mask)) for i, mask in masks.items()}
    return b, series.of_body(body, b, alphas, given, where)


def _mask_of(leaf: Leaf) -> Leaf:
    return Leaf(TRUTH.entry, leaf.axes)


def _masks(
    series: TaylorSeries, lines: Sequence[Line], leaves: Sequence[int], moving: Collection[int]
) -> dict[int, Const | int]:
    """The masks outside of which moving arrays have no coefficients but values; none where no round is singular."""
    if not any(map(line_may_break, lines)):
        return {}
    found = {i: series.supports.mask(leaves[i]) for i in moving if lines[0].slots[i].is_field}
    return {i: mask for i, mask in found.items() if mask is not None}


def _of_loop(
    series: TaylorSeries, loop: Loop, leaves: tuple[int, ...], alphas: list[Alpha]
) -> tuple[Results, dict[int, Const]]:
    """The coefficients of the results of a loop, and their masks as far as known."""
    body, states, whole = loop.body, loop.states, loop.states + loop.shared
    known, zero = _known(series, leaves, alphas), alphas[0]
    moving = _moving(loop, {k for k, some in enumerate(known) if any(map(any, some))})
    found, computed, carried = _masks(series, [body], leaves, moving), dict[int, int](), dict[int, Const]()
    for i, mask in found.items():
        same = in_each_round(loop.index, mask) if i >= whole and isinstance(mask, Const) else mask
        if isinstance(same, Const):
            carried[i] = same
        elif i >= states:  # not of what is carried
            computed[i] = series.supports.slot(mask)

    def keys_of(some: Iterable[int]) -> list[tuple[int, Alpha]]:
        given = [(i, alpha) for i in some for alpha in alphas if alpha in known[i]]
        return given + [(i, MASK) for i in some if i in computed]

    ends = [(j, alpha) for j in range(states) for alpha in (alphas if j in moving else [zero])]
    keys = [*ends, *keys_of(range(states, whole)), *keys_of(range(whole, body.arity))]
    count, shared = len(ends), len(keys_of(range(states, whole)))
    for _ in range(ROUNDS + 1):
        b, inner = _inner(series, body, keys, alphas, {**carried, **computed})
        after = {i: mask if i >= states else grown(mask, inner.mask_of(i)) for i, mask in carried.items()}
        if all(after[i] is mask for i, mask in carried.items()):
            break
        carried = {i: mask for i, mask in after.items() if mask is not None}
    else:  # they still grow
        carried = {i: mask for i, mask in carried.items() if i >= states}
        b, inner = _inner(series, body, keys, alphas, {**carried, **computed})
    stacks = [(k, a) for k in range(states, len(body.outputs)) for a in alphas if a == zero or inner.has(k, a)]
    line = b.line([inner.output(k, alpha) for k, alpha in (*ends, *stacks)])
    given = []
    for i, alpha in keys:
        slot = computed[i] if alpha == MASK else known[i].get(alpha)
        if slot is None:
            slot = series.out.number(0.0, _under(series, body.slots[i], alpha))
        given.append(_turned(series, slot, alpha, loop, inside=True) if i >= whole else slot)
    made = looped(series.out, Loop(line, loop.index, count, shared, loop.reverse, loop.again), given)
    parts = zip((*ends, *stacks), made, strict=True)
    results = {(k, a): _turned(series, x, a, loop, inside=False) if k >= states else x for (k, a), x in parts}
    made_masks = {j: mask for j, mask in carried.items() if j < states}
    for k in {k for k, a in stacks if found and a != zero}:
        end = inner.mask_of(k)
        if isinstance(end, Const):
            made_masks[k] = in_all_rounds(loop.index, end)
    return results, made_masks


def _turned(series: TaylorSeries, slot: int, alpha: Alpha, loop: Loop, *, inside: bool) -> int:
    """A stack with the axes of the rounds before those of the family, as it is inside a loop, or else the other way."""
    family, rounds = len(series.family), len(loop.index.axes)
    if not series.varies(alpha) or not rounds:
        return slot
    first, second = (family, rounds) if inside else (rounds, family)
    n = len(series.out.slots[slot].axes)
    return series.out.apply(Move((*range(first, first + second), *range(first), *range(family + rounds, n))), slot)


def _moving(loop: Loop, moving: set[int]) -> set[int]:
    """The arguments of a round that have coefficients above the value, in some round."""
    return _flow_of_rounds(loop, moving)[0]


def _flow_of_rounds(loop: Loop, given: set[int]) -> tuple[set[int], _Flow]:
    """The arguments that move in some round, a state where its result does; and what moves with them."""
    body = loop.body
    flow, moving, new = _Flow(body), set(given), set(given)
    of: dict[int, list[int]] = {}
    for j in range(loop.states):
        if body.slots[j].is_field:
            of.setdefault(body.outputs[j], []).append(j)
    while new:
        new = {j for slot in flow.move(new) for j in of.get(slot, ())} - moving
        moving |= new
    return moving, flow


@final
class _Flow:
    """For each slot of a line which of its arrays depend on the arguments that are said to move."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.parts = [set[int]() for _ in line.slots]
        self.readers: list[list[int]] = [[] for _ in line.slots]
        for slot, step in enumerate(line.steps, line.arity):
            for a in dict.fromkeys(step.args):
                self.readers[a].append(slot)

    def move(self, arguments: set[int]) -> set[int]:
        """Let arguments move; the slots that move since. What moved already is not looked at again."""
        found, ahead = set[int](), sorted(arguments)  # a heap: all that a slot depends on comes before it
        for k in arguments:
            self.parts[k] = _every(self.line.slots[k])
        while ahead:
            slot = heapq.heappop(ahead)
            while ahead and ahead[0] == slot:
                heapq.heappop(ahead)
            if slot >= self.line.arity:
                moved = self._moved(slot)
                if moved <= self.parts[slot]:
                    continue
                self.parts[slot] |= moved
            found.add(slot)
            for reader in self.readers[slot]:
                heapq.heappush(ahead, reader)
        return found

    def outputs(self) -> set[int]:
        """The outputs that move."""
        return {k for k, slot in enumerate(self.line.outputs) if self.parts[slot]}

    def _moved(self, slot: int) -> set[int]:
        step, parts = self.line.steps[slot - self.line.arity], self.parts
        match step.operation:
            case Pack():
                return {k for k, a in enumerate(step.args) if parts[a]}
            case Unpack(j):
                return {0} if j in parts[step.args[0]] else set()
            case Loop() as loop:
                moving, flow = _flow_of_rounds(loop, parts[step.args[0]])
                return {k for k in flow.outputs() if k >= loop.states or k in moving}
            case Cond(then, otherwise):
                flows = [_Flow(line) for line in (then, otherwise)]
                for flow in flows:
                    flow.move({k - 1 for k in parts[step.args[0]] if k})
                return set().union(*(flow.outputs() for flow in flows))
            case _:  # right for every step: all of them
                return _every(self.line.slots[slot])


def _every(leaf: Leaf) -> set[int]:
    return set(range(len(leaf.leaves))) if isinstance(leaf, Bundle) else {0}


def _of_branches(series: TaylorSeries, cond: Cond, leaves: tuple[int, ...], alphas: list[Alpha]) -> Results:
    condition, *captures = leaves
    known = _known(series, tuple(captures), alphas)
    masks = _masks(series, cond.lines, captures, [i for i, some in enumerate(known) if any(map(any, some))])
    keys = [(i, alpha) for i, some in enumerate(known) for alpha in some]
    keys += [(i, MASK) for i, mask in masks.items() if isinstance(mask, int)]
    both = [_inner(series, line, keys, alphas, masks) for line in cond.lines]
    zero = alphas[0]
    ends = [
        (k, alpha)
        for k in range(len(cond.then.outputs))
        for alpha in alphas
        if alpha == zero or any(inner.has(k, alpha) for _, inner in both)
    ]
    lines: Any = [b.line([inner.output(k, alpha) for k, alpha in ends]) for b, inner in both]
    c = series.known[condition, zero]
    assert c is not None  # conditions have a value
    given: Any = [masks[i] if alpha == MASK else known[i][alpha] for i, alpha in keys]
    made = emitted(series.out, Cond(*lines), [c, *given])
    return dict(zip(ends, made, strict=True))
