"""Checks of adjoints and derivatives by numbers, with a report that names the failing subterm (paper §8's laws).

>>> from hilbert import R
>>> from diff import exp, fun, sin
>>> f = fun(R)(lambda x: exp(x * sin(x)))
>>> bool(check_derivative(f, R.vec(0.5))), bool(check_adjoint(f, R.vec(0.5)))
(True, True)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, TypeVarTuple, final, overload

import numpy as np
from attrs import frozen

from adjoint.rules import adjoint
from diff import derivative
from diff.elementwise import Elementwise
from diff.lower import program
from diff.programs import AnyProgram, Program
from hilbert import DirectSum, Map, SpaceError, Type, Vec
from hilbert.arrays.libraries import NUMPY
from hilbert.arrays.library import find
from hilbert.arrays.namespace import moved, namespace
from hilbert.errors import integer, shown
from hilbert.map import AnyMap, argument, require_map
from hilbert.program.constant import Const
from hilbert.program.line import Line, Step
from hilbert.program.run import Runner
from hilbert.space import type_of
from hilbert.term import postorder
from linmap.net.lower import net
from linmap.term.base import AnyLinMap, LinMap
from linmap.term.nets import Closed, Net, refs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}


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


def _tolerance(*spaces: Any) -> float:
    return max((TOLERANCE[leaf.dtype] for s in spaces for leaf in s.leaves if leaf.is_field), default=1e-9)


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


def _dot_error(f: AnyLinMap, g: AnyLinMap, rng: np.random.Generator, samples: int) -> float:
    """The largest |f(v) ⊙ w − v ⊙ g(w)|, relative to ‖f(v)‖·‖w‖ + ‖v‖·‖g(w)‖."""
    worst, like = 0.0, _home(f)
    for _ in range(samples):
        v, w = _drawn(f.dom, rng, like), _drawn(f.cod, rng, like)
        fv, gw = f(v), g(w)
        scale = fv.norm() * w.norm() + v.norm() * gw.norm()
        error = abs(fv.inner(w) - v.inner(gw)) / scale if scale else 0.0
        if not math.isfinite(error):
            return math.inf
        worst = max(worst, error)
    return worst


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
    limit = _tolerance(linear.dom, linear.cod)
    error = _dot_error(linear, g, rng, samples)
    failing = None
    if error > limit:
        failing = str(linear) if star is not None else _failing_part(linear, rng, samples)
    what = f"f(v) ⊙ w = v ⊙ f*(w) for f : {linear.dom} ⊸ {linear.cod}"
    return Report(error <= limit, what, (("largest relative error", error), ("tolerance", limit)), failing)


def _failing_part(f: AnyLinMap, rng: np.random.Generator, samples: int) -> str:
    for part in postorder(f):
        if isinstance(part, Net) and refs(part):
            continue  # open: what it refers to is data of the map above it
        if isinstance(part, LinMap) and _dot_error(part, adjoint(part), rng, samples) > _tolerance(part.dom, part.cod):
            return str(part)
    return str(f)


@_at_point
def check_derivative(f: AnyMap, *x: Vec[Any], seed: int = 0) -> Report:
    """The remainder ‖(f(x+t·dx) − f(x−t·dx))/2 − t·f'(x)(dx)‖ falls as t³: a log–log fit, over shrinking t.

    A wrong derivative leaves a term in t. There is none in t², which might hide it, or cancel with that in t³.
    Where the remainder does not fall, every step of the program is tested at the values it has at x, and the first that
    fails is named. Values that are not finite, however small the step, fail the check. Raises SpaceError for a point of
    another space.
    """
    require_map(f, "check_derivative")
    point = argument(f, x)
    rng = _generator(seed)
    ok, numbers = _remainder(f, point, rng)
    failing = None if ok else _failing_step(f, point, rng)
    return Report(
        ok, f"(f(x + t·dx) − f(x − t·dx))/2 − t·f'(x)(dx) falls as t³ for f : {f.dom} → {f.cod}", numbers, failing
    )


@_at_point
def check(f: AnyMap, *x: Vec[Any], seed: int = 0) -> tuple[Report, Report]:
    """Both checks of a function at a point: its derivative, and the derivative's adjoint."""
    return check_derivative(f, *x, seed=seed), check_adjoint(f, *x, seed=seed)


def _moved(x: Vec[Any], dx: Vec[Any], t: float) -> Vec[Any]:
    """x + t·dx, where the discrete parts of x stay."""
    flow = iter(dx.leaves)
    pairs = zip(x.leaves, x.space.leaves, strict=True)
    return Vec(x.space, tuple(array + t * next(flow) if leaf.is_field else array for array, leaf in pairs))


def _remainder(f: AnyMap, x: Vec[Any], rng: np.random.Generator) -> tuple[bool, tuple[tuple[str, float], ...]]:
    """Whether the remainder is of third order, and the numbers that show it."""
    d = derivative(f)
    if not d.dom.leaves or not d.cod.leaves:
        return True, ()
    dx = _drawn(d.dom, rng, _abroad(x.leaves))
    y, linear = d.run(x)
    slope_vector = linear(dx)
    size = _norm(y) + slope_vector.norm() + 1e-300
    precision = float(np.finfo(d.cod.leaves[0].dtype).eps)
    points: list[tuple[float, float]] = []
    first = difference = 0.0
    for t in STEPS:
        difference = _difference(f(_moved(x, dx, t)), f(_moved(x, dx, -t)), slope_vector, t)
        if not math.isfinite(difference):  # a large step may leave where f is defined
            points, first = [], 0.0
            continue
        first = max(first, difference / t)
        if difference > 40 * precision * size:
            points.append((math.log(t), math.log(difference)))
    if not math.isfinite(difference):
        return False, (("remainder", difference), ("t", STEPS[-1]))
    if len(points) < 3:  # below rounding: f is quadratic here
        return True, (("largest remainder / t", first),)
    tail = points[-5:]
    slope = float(np.polyfit([p[0] for p in tail], [p[1] for p in tail], 1)[0])
    return slope >= SLOPE, (("slope", slope), ("largest remainder / t", first))


def _norm(y: Vec[Any]) -> float:
    return math.sqrt(sum(_squares(a) for a, _ in _real(y)))


def _squares(a: Any) -> float:
    return float(namespace(a).sum(a * a))


def _real(y: Vec[Any]) -> Iterable[tuple[Any, Any]]:
    return ((a, leaf) for a, leaf in zip(y.leaves, y.space.leaves, strict=True) if leaf.is_field)


def _difference(ahead: Vec[Any], behind: Vec[Any], slope: Vec[Any], t: float) -> float:
    total = 0.0
    for (a, _), (b, _), c in zip(_real(ahead), _real(behind), slope.leaves, strict=True):
        total += _squares(0.5 * (a - b) - t * c)
    return math.sqrt(total)


def _failing_step(f: AnyMap, x: Vec[Any], rng: np.random.Generator) -> str | None:
    p = program(f)
    values = Runner(p.line.ending(range(len(p.slots)))).run(x.leaves)
    for k, step in enumerate(p.steps):
        if not step.args:
            continue
        leaves = [p.slots[a] for a in step.args]
        dom = DirectSum(tuple(type_of(leaf) for leaf in leaves))
        leaf = p.slots[p.arity + k]
        if not dom.is_space or not leaf.is_field:
            continue
        n = len(leaves)
        alone = Step(step.operation, tuple(range(n)))
        one: AnyProgram = Program(dom, type_of(leaf), Line((*leaves, leaf), (alone,), (n,)))
        if not _remainder(one, Vec(dom, tuple(values[a] for a in step.args)), rng)[0]:
            name = step.operation.name if isinstance(step.operation, Elementwise) else str(step.operation)
            return f"step {k + 1} of {len(p.steps)}, {name} on {dom if n > 1 else dom.parts[0]}: {one}"
    return None
