"""The remainder of a function beside its derivative, for the whole and for its steps."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from adjoint.checks.rounding import size, spread
from diff import derivative
from diff.terms.elementwise import Elementwise
from diff.terms.lower import program
from diff.terms.program import Program
from diff.terms.user_operation import Custom
from hilbert import DirectSum, SpaceError, Vec
from hilbert.arrays.kernels.library import find
from hilbert.arrays.libraries.namespace import moved
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Bundle
from hilbert.map.map import AnyMap
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.source_line import told
from hilbert.program.run.run import Runner
from hilbert.space.space import type_of
from linmap.net.apply import line
from linmap.net.lower import net
from linmap.term.linear_map import AnyLinMap
from linmap.term.net import Closed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

STEPS = tuple(10.0 ** (-k / 2) for k in range(2, 10))
SLOPE = 2.0
MARGIN = 10.0
"""A difference counts if it is so many times what rounding makes."""
VISIBLE = 0.01
"""The part of the derivative that must count: else the steps are tested one by one."""


def abroad(arrays: Iterable[Any]) -> Any:
    """The first array that lives outside numpy, if there is one."""
    return next((a for a in arrays if find(a) not in (None, NUMPY)), None)


def drawn(space: Any, rng: np.random.Generator, like: Any) -> Vec[Any]:
    """A random vector, in the library and on the device of an array if that is given."""
    v: Vec[Any] = space.random(rng)
    return v if like is None else Vec(space, tuple(moved(a, like) for a in v.leaves))


def noise(f: AnyLinMap, v: Vec[Any], rng: np.random.Generator) -> float:
    """The error that rounding may make of f(v)."""
    if isinstance(f, Closed):
        return spread(line(f.body), [*v.leaves, *f.data.arrays], rng)
    return spread(line(net(f)), v.leaves, rng)


def _moved(x: Vec[Any], dx: Vec[Any], t: float) -> Vec[Any]:
    """x + t·dx, where the discrete parts of x stay."""
    flow = iter(dx.leaves)
    pairs = zip(x.leaves, x.space.leaves, strict=True)
    return Vec(x.space, tuple(array + t * next(flow) if leaf.is_field else array for array, leaf in pairs))


@final
@frozen
class Remainder:
    """Tell if the remainder is of third order, the numbers that show it, and what differs on both sides of the point.

    Where it soon falls below rounding it may be of first order, too, and it is not `sure`.
    """

    ok: bool
    numbers: tuple[tuple[str, float], ...] = ()
    broken: str = ""
    sure: bool = True


def remainder_of(f: AnyMap, x: Vec[Any], dx: Vec[Any], rng: np.random.Generator) -> Remainder:
    """The remainder and the second difference of f at x along dx, for shrinking steps."""
    d = derivative(f)
    if not d.dom.leaves or not d.cod.leaves:
        return Remainder(ok=True)
    y, linear = d.run(x)
    slope_vector = linear(dx)
    first = math.nan
    p = program(f)
    rounding = spread(p.line, x.leaves, rng)
    with suppress(SpaceError):  # a large step may leave where f is defined
        rounding = max(rounding, spread(p.line, _moved(x, dx, STEPS[0]).leaves, rng))
    of_slope = noise(linear, dx, rng)
    remainder, second = list[Sample](), list[Sample]()
    for t in STEPS:
        try:
            ahead, behind = f(_moved(x, dx, t)), f(_moved(x, dx, -t))
        except SpaceError:  # no convergence, a matrix that is not positive
            first, remainder, second = math.nan, [], []
            continue
        first = _difference(ahead, behind, slope_vector, t)
        if not math.isfinite(first):  # a large step may leave where f is defined
            remainder, second = [], []
            continue
        limit = MARGIN * (rounding + t * of_slope + _epsilon(p.cod) * _norm(y))
        remainder.append(Sample(t, first, limit))
        second.append(Sample(t, _bend(ahead, y, behind), limit))
    if not math.isfinite(first):
        return Remainder(ok=False, numbers=(("remainder", first), ("t", STEPS[-1])))
    largest = ("largest remainder / t", max(sample.value / sample.t for sample in remainder))
    for power, samples, what in ((0, remainder, "jump: the values"), (1, second, "kink: the slopes")):
        if _falls_as(power, samples):
            return Remainder(ok=False, numbers=(largest,), broken=what)
    points = [(math.log(s.t), math.log(s.value)) for s in remainder if s.counts][-5:]
    if len(points) < 3 or _refuted(remainder):  # below rounding: f is quadratic here
        t, limit = remainder[0].t, remainder[0].limit
        seen = VISIBLE * t * _norm(slope_vector) > limit if not points else len(points) > 2
        return Remainder(ok=True, numbers=(largest,), sure=seen)
    slope = float(np.polyfit([p[0] for p in points], [p[1] for p in points], 1)[0])
    return Remainder(slope >= SLOPE, (("slope", slope), largest))


@final
@frozen
class Sample:
    """A difference at a step t, and what rounding may make of it."""

    t: float
    value: float
    limit: float

    @property
    def counts(self) -> bool:
        """Tell if it is more than rounding."""
        return self.value > self.limit


def _refuted(samples: Sequence[Sample]) -> bool:
    """Tell if smaller steps show no more than rounding, where a term in t would still be seen."""
    last = next((k for k in range(len(samples) - 1, -1, -1) if samples[k].counts), None)
    if last is None:
        return True
    steep = samples[last].value / samples[last].t
    return any(steep * s.t > 2.0 * s.limit for s in samples[last + 1 :])


def _falls_as(power: int, samples: Sequence[Sample]) -> bool:
    """Tell if a difference falls as this power of t, and no faster, down to rounding."""
    seen = [s for s in samples if s.counts][-4:]
    if len(seen) < 4 or _refuted(samples):
        return False
    slopes = [math.log(a.value / b.value) / math.log(a.t / b.t) for a, b in pairwise(seen)]
    return all(abs(slope - power) < 0.25 for slope in slopes)


def _epsilon(space: Any) -> float:
    return max(float(np.finfo(leaf.dtype).eps) for leaf in space.leaves if leaf.is_field)


def _norm(y: Vec[Any]) -> float:
    return size(a for a, _ in _real(y))


def _bend(ahead: Vec[Any], y: Vec[Any], behind: Vec[Any]) -> float:
    """‖f(x + t·dx) − 2·f(x) + f(x − t·dx)‖/2."""
    triples = zip(_real(ahead), _real(y), _real(behind), strict=True)
    return size(0.5 * (a + c) - b for (a, _), (b, _), (c, _) in triples)


def _real(y: Vec[Any]) -> Iterable[tuple[Any, Any]]:
    return ((a, leaf) for a, leaf in zip(y.leaves, y.space.leaves, strict=True) if leaf.is_field)


def _difference(ahead: Vec[Any], behind: Vec[Any], slope: Vec[Any], t: float) -> float:
    triples = zip(_real(ahead), _real(behind), slope.leaves, strict=True)
    return size(0.5 * (a - b) - t * c for (a, _), (b, _), c in triples)


def _values_beside(run: Callable[[Any], Any], x: Vec[Any], dx: Vec[Any]) -> Iterator[Any]:
    """The results at x + t·dx, for those t for which all of them are defined."""
    for t in STEPS:
        with suppress(SpaceError):
            yield run(_moved(x, dx, t).leaves)


def _scaled(space: Any, moves: Sequence[Any], rng: np.random.Generator) -> Vec[Any] | None:
    """The direction with entries of size 1; none if nothing moves, a random one if the moves are no numbers."""
    length = size(moves)
    if not math.isfinite(length):
        return drawn(space, rng, abroad(moves))
    if not length:
        return None
    factor = math.sqrt(sum(math.prod(a.shape) for a in moves))
    return Vec(space, tuple(factor * (a / length) for a in moves))


def failing_step(f: AnyMap, x: Vec[Any], dx: Vec[Any], rng: np.random.Generator, *, every: bool) -> str | None:
    """The first step with a wrong derivative or at a kink; if not of `every` step, of those with a rule, at no kink.

    Arguments move as they do when x moves along dx: a step may know more of them, as `cholesky` of symmetric ones.
    """
    p = program(f)
    run = Runner(p.line.ending(range(len(p.slots)))).run
    values = run(x.leaves)
    later = next(_values_beside(run, x, dx), values)
    for k, step in enumerate(p.steps):
        if not (every or isinstance(step.operation, (Elementwise, Custom))):
            continue
        leaf = p.slots[p.arity + k]
        if not step.args or isinstance(step.operation, (Pack, Unpack)):
            continue
        given = p.slots[step.args[0]]
        held = isinstance(given, Bundle)  # a loop or a condition, on the arrays of its bundle
        leaves = list(given.leaves) if isinstance(given, Bundle) else [p.slots[a] for a in step.args]
        dom = DirectSum(tuple(type_of(leaf) for leaf in leaves))
        if not held and not (dom.is_space and type_of(leaf).is_space):
            continue
        b = Builder(leaves)
        slot = b.step(step.operation, (b.pack(range(b.arity)),) if held else tuple(range(b.arity)))
        made = b.unpack(slot) if isinstance(leaf, Bundle) else (slot,)
        one = Program.of(b, dom, made, type_of(leaf))
        arrays, ends = (v[step.args[0]] if held else [v[a] for a in step.args] for v in (values, later))
        moves = [b - a for a, b, leaf in zip(arrays, ends, leaves, strict=True) if leaf.is_field]
        direction = _scaled(derivative(one).dom, moves, rng)
        if direction is None:
            continue
        found = remainder_of(one, Vec(dom, tuple(arrays)), direction, rng)
        if not found.ok and (every or not found.broken):
            name = getattr(step.operation, "name", None) or (type(step.operation).__name__ if held else step.operation)
            place = told(step.place) if step.place else "<"
            where = "" if place.startswith("<") else f" at {place}"  # of a session there is no file
            on = dom if len(leaves) > 1 else dom.parts[0]
            return f"step {k + 1} of {len(p.steps)}, {name} on {on}{where}: {one}"
    return None
