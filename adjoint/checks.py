"""Checks of adjoints and derivatives by numbers, with a report that names the failing subterm (paper §8's laws).

>>> from hilbert import R
>>> from diff import exp, fun, sin
>>> f = fun(R)(lambda x: exp(x * sin(x)))
>>> bool(check_derivative(f, R.vec(0.5))), bool(check_adjoint(f, R.vec(0.5)))
(True, True)
"""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, TypeVarTuple, final, overload

import numpy as np
from attrs import frozen

from adjoint.rounding import size, spread
from adjoint.rules import adjoint
from adjoint.undefined import first_nan
from diff import derivative
from diff.custom import Custom
from diff.elementwise import Elementwise
from diff.lower import program
from diff.programs import Program
from hilbert import DirectSum, Map, SpaceError, Type, Vec
from hilbert.arrays.libraries import NUMPY
from hilbert.arrays.library import find
from hilbert.arrays.namespace import moved
from hilbert.errors import integer, shown
from hilbert.leaf import Bundle
from hilbert.map import AnyMap, argument, require_map
from hilbert.program.builder import Builder
from hilbert.program.bundle import Pack, Unpack
from hilbert.program.constant import Const
from hilbert.program.run import Runner
from hilbert.program.written import told
from hilbert.space import type_of
from hilbert.term import postorder
from linmap.net.apply import line
from linmap.net.lower import net
from linmap.term.base import AnyLinMap, LinMap
from linmap.term.nets import Closed, Net, refs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Rest = TypeVarTuple("Rest")
STEPS = tuple(10.0 ** (-k / 2) for k in range(2, 10))
SLOPE = 2.0
MARGIN = 10.0
"""A difference counts if it is so many times what rounding makes."""
VISIBLE = 0.01
"""Where not even such a part of the derivative would count, the steps are tested one by one."""


@final
@frozen
class Report:
    """The outcome of a check; true if it passed. `failing` is the smallest subterm found to fail."""

    ok: bool
    what: str
    numbers: tuple[tuple[str, float], ...]
    failing: str | None = None

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"{'passed' if self.ok else 'FAILED'}: {self.what}"]
        lines += [f"  {name}: {value:.3g}" for name, value in self.numbers]
        if self.failing:
            lines.append(f"  failing subterm: {self.failing}")
        return "\n".join(lines)


class Checks(NamedTuple):
    """The outcomes of both checks of a function; true if both passed."""

    derivative: Report
    adjoint: Report

    def __bool__(self) -> bool:
        return self.derivative.ok and self.adjoint.ok

    def __str__(self) -> str:
        return f"{self.derivative}\n{self.adjoint}"


class AtPoint(Protocol[T_co]):
    """What takes a map and a point of its domain, as one vector or as one for each part: typed up to six."""

    @overload
    def __call__(self, f: Map[V, Any], x: Vec[V], /, *, seed: int = 0) -> T_co: ...
    @overload
    def __call__(self, f: Map[DirectSum[A, B], Any], a: Vec[A], b: Vec[B], /, *, seed: int = 0) -> T_co: ...
    @overload
    def __call__(
        self, f: Map[DirectSum[A, B, C], Any], a: Vec[A], b: Vec[B], c: Vec[C], /, *, seed: int = 0
    ) -> T_co: ...
    @overload
    def __call__(
        self, f: Map[DirectSum[A, B, C, D], Any], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /, *, seed: int = 0
    ) -> T_co: ...
    @overload
    def __call__(
        self,
        f: Map[DirectSum[A, B, C, D, E], Any],
        a: Vec[A],
        b: Vec[B],
        c: Vec[C],
        d: Vec[D],
        e: Vec[E],
        /,
        *,
        seed: int = 0,
    ) -> T_co: ...
    @overload
    def __call__(
        self,
        f: Map[DirectSum[A, B, C, D, E, F], Any],
        a: Vec[A],
        b: Vec[B],
        c: Vec[C],
        d: Vec[D],
        e: Vec[E],
        g: Vec[F],
        /,
        *,
        seed: int = 0,
    ) -> T_co: ...
    @overload
    def __call__(
        self,
        f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Any],
        a: Vec[A],
        b: Vec[B],
        c: Vec[C],
        d: Vec[D],
        e: Vec[E],
        g: Vec[F],
        h: Vec[G],
        /,
        *more: Vec[Any],
        seed: int = 0,
    ) -> T_co: ...


def _at_point(check: Callable[..., T]) -> AtPoint[T]:
    typed: AtPoint[T] = check
    return typed


def _generator(seed: int) -> np.random.Generator:
    number = integer(seed)
    if number is None or number < 0:
        msg = f"a seed is an integer ≥ 0, not {shown(seed)}"
        raise SpaceError(msg)
    return np.random.default_rng(number)


def _home(f: AnyLinMap) -> Any:
    """An array of the map that lives outside numpy, if there is one."""
    data = f.data if isinstance(f, Closed) else [getattr(arc.map, "datum", None) for arc in net(f).arcs]
    return _abroad(datum.array for datum in data if isinstance(datum, Const))


def _abroad(arrays: Iterable[Any]) -> Any:
    return next((a for a in arrays if find(a) not in (None, NUMPY)), None)


def _drawn(space: Any, rng: np.random.Generator, like: Any) -> Vec[Any]:
    """A random vector, in the library and on the device of an array if that is given."""
    v: Vec[Any] = space.random(rng)
    return v if like is None else Vec(space, tuple(moved(a, like) for a in v.leaves))


def _dot_error(f: AnyLinMap, g: AnyLinMap, rng: np.random.Generator, samples: int) -> tuple[float, float]:
    """|f(v) ⊙ w − v ⊙ g(w)|, relative to ‖f(v)‖·‖w‖ + ‖v‖·‖g(w)‖, and what rounding may make of it: the worst pair."""
    worst, like = (0.0, 0.0), _home(f)
    leaves = [leaf for space in (f.dom, f.cod) for leaf in space.leaves]
    epsilon = max((float(np.finfo(leaf.dtype).eps) for leaf in leaves), default=0.0)
    least = max((float(np.finfo(leaf.dtype).tiny) for leaf in leaves), default=0.0) / (epsilon or 1.0)
    for _ in range(samples):
        v, w = _drawn(f.dom, rng, like), _drawn(f.cod, rng, like)
        fv, gw = f(v), g(w)
        scale = max(_size(fv) * _size(w) + _size(v) * _size(gw), least)
        error = abs(fv.inner(w) - v.inner(gw))
        if not math.isfinite(error):
            return math.inf, MARGIN * epsilon
        limit = MARGIN * epsilon
        if error > limit * scale:  # the sizes inside of f matter only then
            limit += MARGIN * (_noise(f, v, rng) * w.norm() + v.norm() * _noise(g, w, rng)) / scale
        found = (error / scale if scale else 0.0), limit
        worst = max(worst, found, key=lambda pair: pair[0] / (pair[1] or 1.0))
    return worst


def _size(v: Vec[Any]) -> float:
    """‖v‖, where its square is 0 or no number, too."""
    return v.norm() if v.is_formal else size(v.leaves)


def _noise(f: AnyLinMap, v: Vec[Any], rng: np.random.Generator) -> float:
    """What rounding may make of f(v)."""
    if isinstance(f, Closed):
        return spread(line(f.body), [*v.leaves, *f.data.arrays], rng)
    return spread(line(net(f)), v.leaves, rng)


@overload
def check_adjoint(
    f: LinMap[V, W], /, *, star: LinMap[W, V] | None = None, samples: int = 5, seed: int = 0
) -> Report: ...
@overload
def check_adjoint(
    f: Map[V, Any], x: Vec[V], /, *, star: AnyLinMap | None = None, samples: int = 5, seed: int = 0
) -> Report: ...
@overload
def check_adjoint(
    f: Map[DirectSum[A, B], Any],
    a: Vec[A],
    b: Vec[B],
    /,
    *,
    star: AnyLinMap | None = None,
    samples: int = 5,
    seed: int = 0,
) -> Report: ...
@overload
def check_adjoint(
    f: Map[DirectSum[A, B, C], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    /,
    *,
    star: AnyLinMap | None = None,
    samples: int = 5,
    seed: int = 0,
) -> Report: ...
@overload
def check_adjoint(
    f: Map[DirectSum[A, B, C, D], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    /,
    *,
    star: AnyLinMap | None = None,
    samples: int = 5,
    seed: int = 0,
) -> Report: ...
@overload
def check_adjoint(
    f: Map[DirectSum[A, B, C, D, E], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    /,
    *,
    star: AnyLinMap | None = None,
    samples: int = 5,
    seed: int = 0,
) -> Report: ...
@overload
def check_adjoint(
    f: Map[DirectSum[A, B, C, D, E, F], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    g: Vec[F],
    /,
    *,
    star: AnyLinMap | None = None,
    samples: int = 5,
    seed: int = 0,
) -> Report: ...
@overload
def check_adjoint(
    f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], Any],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    g: Vec[F],
    h: Vec[G],
    /,
    *more: Vec[Any],
    star: AnyLinMap | None = None,
    samples: int = 5,
    seed: int = 0,
) -> Report: ...
def check_adjoint(f: AnyMap, *x: Vec[Any], star: AnyLinMap | None = None, samples: int = 5, seed: int = 0) -> Report:
    """The dot test f(v) ⊙ w = v ⊙ f*(w) over random vectors, of a linear map or of a function's derivative at x.

    `star` is the map to test instead of adjoint(f). Where the test fails, every subterm is tested with its own adjoint.
    What rounding may make of both sides is measured, in the precision of each space, with what cancels inside of f.
    Raises SpaceError if f is neither linear nor given a point, for a point of another space, and if `star` has other
    spaces.
    """
    rng = _generator(seed)
    if (integer(samples) or 0) < 1:
        msg = f"check_adjoint draws at least one sample, not {shown(samples)}"
        raise SpaceError(msg)
    if isinstance(f, LinMap):
        linear = f
        if x:  # where a linear map is tested does not matter, but the point is one of its domain
            argument(f, x)
    elif isinstance(f, Map) and x:
        linear = derivative(f).at(argument(f, x))
    else:
        msg = "check_adjoint takes a linear map, or a function and a point: check_adjoint(f, x)"
        raise SpaceError(msg)
    g = adjoint(linear) if star is None else star
    if not isinstance(g, LinMap) or g.dom != linear.cod or g.cod != linear.dom:
        due = f"a linear map {linear.cod} ⊸ {linear.dom}"
        msg = f"the adjoint of f : {linear.dom} ⊸ {linear.cod} is {due}, not {shown(g)}"
        raise SpaceError(msg)
    error, limit = _dot_error(linear, g, rng, samples)
    failing = None
    if error > limit:
        failing = str(linear) if star is not None else _failing_part(linear, rng, samples)
    what = f"f(v) ⊙ w = v ⊙ f*(w) for f : {linear.dom} ⊸ {linear.cod}"
    return Report(error <= limit, what, (("largest relative error", error), ("tolerance", limit)), failing)


def _failing_part(f: AnyLinMap, rng: np.random.Generator, samples: int) -> str:
    for part in postorder(f):
        if isinstance(part, Net) and refs(part):
            continue  # open: what it refers to is data of the map above it
        if isinstance(part, LinMap):
            error, limit = _dot_error(part, adjoint(part), rng, samples)
            if error > limit:
                return str(part)
    return str(f)


@_at_point
def check_derivative(f: AnyMap, *x: Vec[Any], seed: int = 0) -> Report:
    """The remainder ‖(f(x+t·dx) − f(x−t·dx))/2 − t·f'(x)(dx)‖ falls as t³: a log–log fit, over shrinking t.

    A wrong derivative leaves a term in t. There is none in t², which might hide it, or cancel with that in t³.
    What rounding makes of it is measured, and does not count. Where the remainder does not fall, or soon is below
    rounding, steps are tested at the values that they have at x, and the first that fails is named. At a kink, where
    the slopes on both sides differ, there is no derivative: the check fails, and says "kink". Values that are not
    finite, however small the step, fail the check. Raises SpaceError for a point of another space.
    """
    require_map(f, "check_derivative")
    point = argument(f, x, "check_derivative")
    rng = _generator(seed)
    found = _remainder(f, point, rng)
    failing = None if found.ok and found.sure else _failing_step(f, point, rng, every=not found.ok)
    if not all(math.isfinite(number) for _, number in found.numbers):
        place = first_nan(program(f).line, point.leaves)
        failing = failing if place is None else f"NaN at {place}"
    if found.kink:
        failing = f"kink: the slopes on both sides of the point differ{f', in {failing}' if failing else ''}"
    what = f"(f(x + t·dx) − f(x − t·dx))/2 − t·f'(x)(dx) falls as t³ for f : {f.dom} → {f.cod}"
    return Report(found.ok and failing is None, what, found.numbers, failing)


@_at_point
def check(f: AnyMap, *x: Vec[Any], seed: int = 0) -> Checks:
    """Both checks of a function at a point: its derivative, and the derivative's adjoint."""
    require_map(f, "check")
    argument(f, x, "check")
    return Checks(check_derivative(f, *x, seed=seed), check_adjoint(f, *x, seed=seed))


def _moved(x: Vec[Any], dx: Vec[Any], t: float) -> Vec[Any]:
    """x + t·dx, where the discrete parts of x stay."""
    flow = iter(dx.leaves)
    pairs = zip(x.leaves, x.space.leaves, strict=True)
    return Vec(x.space, tuple(array + t * next(flow) if leaf.is_field else array for array, leaf in pairs))


@final
@frozen
class Remainder:
    """Whether the remainder is of third order, the numbers that show it, and whether the point is a kink.

    Where it soon falls below rounding it may be of first order, too, and it is not `sure`.
    """

    ok: bool
    numbers: tuple[tuple[str, float], ...] = ()
    kink: bool = False
    sure: bool = True


def _remainder(f: AnyMap, x: Vec[Any], rng: np.random.Generator) -> Remainder:
    """The remainder and the second difference of f at x along a random direction, for shrinking steps."""
    d = derivative(f)
    if not d.dom.leaves or not d.cod.leaves:
        return Remainder(ok=True)
    dx = _drawn(d.dom, rng, _abroad(x.leaves))
    y, linear = d.run(x)
    slope_vector = linear(dx)
    first = math.nan
    p = program(f)
    noise = spread(p.line, x.leaves, rng)
    with suppress(SpaceError):  # a large step may leave where f is defined
        noise = max(noise, spread(p.line, _moved(x, dx, STEPS[0]).leaves, rng))
    of_slope = _noise(linear, dx, rng)
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
        limit = MARGIN * (noise + t * of_slope + _epsilon(p.cod) * _norm(y))
        remainder.append(Sample(t, first, limit))
        second.append(Sample(t, _bend(ahead, y, behind), limit))
    if not math.isfinite(first):
        return Remainder(ok=False, numbers=(("remainder", first), ("t", STEPS[-1])))
    largest = ("largest remainder / t", max(sample.value / sample.t for sample in remainder))
    if _is_linear(second):
        return Remainder(ok=False, numbers=(largest,), kink=True)
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
        """Whether it is more than rounding."""
        return self.value > self.limit


def _refuted(samples: Sequence[Sample]) -> bool:
    """Whether smaller steps show no more than rounding, where a term in t would still be seen."""
    last = next((k for k in range(len(samples) - 1, -1, -1) if samples[k].counts), None)
    if last is None:
        return True
    steep = samples[last].value / samples[last].t
    return any(steep * s.t > 2.0 * s.limit for s in samples[last + 1 :])


def _is_linear(samples: Sequence[Sample]) -> bool:
    """Whether a difference falls as t, and no faster, down to rounding."""
    seen = [s for s in samples if s.counts][-4:]
    if len(seen) < 4 or _refuted(samples):
        return False
    slopes = [math.log(a.value / b.value) / math.log(a.t / b.t) for a, b in pairwise(seen)]
    return all(0.75 < slope < 1.25 for slope in slopes)


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


def _failing_step(f: AnyMap, x: Vec[Any], rng: np.random.Generator, *, every: bool) -> str | None:
    """The first step with a wrong derivative or at a kink; if not of `every` step, of those with a rule, at no kink."""
    p = program(f)
    values = Runner(p.line.ending(range(len(p.slots)))).run(x.leaves)
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
        arrays = values[step.args[0]] if held else [values[a] for a in step.args]
        found = _remainder(one, Vec(dom, tuple(arrays)), rng)
        if not found.ok and (every or not found.kink):
            name = getattr(step.operation, "name", None) or (type(step.operation).__name__ if held else step.operation)
            place = told(step.place) if step.place else "<"
            where = "" if place.startswith("<") else f" at {place}"  # of a session there is no file
            on = dom if len(leaves) > 1 else dom.parts[0]
            return f"step {k + 1} of {len(p.steps)}, {name} on {on}{where}: {one}"
    return None
