"""The Hessian of the Lagrangian of a cart-pole: trapezoids of RK4, N stages, 1 to 4 sub-steps that are unrolled.

Each call starts at a new point (states, controls and multipliers) and ends with the sparse Hessian in states and
controls. We are given the function of one stage and `lift`; so is JAX by hand, `vmap` of the dense Hessian of a stage.
CasADi (its virtual machine, all stages as one graph of scalars, or one function that is mapped) and asdex (sparsity
detected and coloured, on JAX) are given the whole Lagrangian. The first call, from text to numbers, is printed too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

import hilbert.all as hb
from benchmarks.timing import HAND, OURS, Line, Options, agree, compare, duration, jax, optional
from hilbert.map.map import runner

STATE, STEP = 4, 0.05
Values: TypeAlias = Sequence[Any]
Hessian: TypeAlias = Callable[[Any, Any, Any], Any]
"""Of states (4, N), controls (N,) and multipliers (4, N)."""


def slope(xp: Any, state: Values, force: Any) -> Values:
    """The derivative of position, angle and their speeds; `xp` has sin and cos."""
    _, angle, speed, turning = state
    s, c = xp.sin(angle), xp.cos(angle)
    across = (force + 0.3 * s * (turning * turning - 9.81 * c)) / (1.3 - 0.3 * c * c)
    return speed, turning, across, 2.0 * (9.81 * s - across * c)


def stage(xp: Any, x: Values, u: Any, y: Values, steps: int) -> Any:
    """The cost of one stage and the multipliers times the state after it."""
    end, h = tuple(x), STEP / steps
    for _ in range(steps):
        k1 = slope(xp, end, u)
        k2 = slope(xp, [a + h / 2 * k for a, k in zip(end, k1, strict=True)], u)
        k3 = slope(xp, [a + h / 2 * k for a, k in zip(end, k2, strict=True)], u)
        k4 = slope(xp, [a + h * k for a, k in zip(end, k3, strict=True)], u)
        end = tuple(a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(end, k1, k2, k3, k4, strict=True))
    return sum(a * a for a in x) + 0.1 * u * u + sum(a * b for a, b in zip(y, end, strict=True))


def lagrangian(n: int, steps: int) -> Any:
    """States are a tuple of four arrays."""
    space, count = hb.direct_sum(hb.R, hb.R, hb.R, hb.R), hb.Fin.of(n)
    one = hb.fun(space, hb.R, space)(lambda x, u, y: stage(hb, x.split(), u, y.split(), steps))
    many: Any = hb.lift(one, count, over=(0, 1, 2))
    return hb.fun.over(many.dom)(lambda x, u, y: many(x, u, y).sum())


def ours(n: int, steps: int, *, compiled: bool = False) -> Hessian:
    """From arrays to the matrix; compiled, by the arrays of the program, without vectors."""
    f = lagrangian(n, steps)
    if compiled:
        p = hb.compiled(hb.hessian_program(f, wrt=(0, 1), as_="sparse"))
        return lambda x, u, y: p.pattern.matrix(p.on_arrays(*x, u, *y))
    xs, us, ys = f.dom.parts
    matrix = matrix_of(f, compiled=False, wrt=(0, 1), as_="sparse")

    def hessian(x: Any, u: Any, y: Any) -> Any:
        point = xs.vec(tuple(x)), us.vec(u), ys.vec(tuple(y))
        return matrix(*point)

    return hessian


def matrix_of(f: Any, *, compiled: bool, **names: Any) -> Callable[..., Any]:
    """The Hessian's matrix at a point; compiled, that of its program."""
    if compiled:
        return hb.compiled(hb.hessian_program(f, **names)).matrix
    return lambda *x: hb.hessian(f, *x, **names)


def by_hand(n: int, steps: int) -> Hessian:
    """JAX: the dense Hessian of a stage, mapped, and put at places that are known."""
    found, sparse = jax(), optional("scipy.sparse")

    def one(z: Any, y: Any) -> Any:
        return stage(found.numpy, tuple(z[:STATE]), z[STATE], tuple(y), steps)

    blocks = found.jit(found.vmap(found.hessian(one), in_axes=(1, 1)))
    here = np.arange(n)[:, None, None]
    rows = here + n * np.arange(STATE + 1)[None, :, None] + np.zeros((1, 1, STATE + 1), int)
    cols = here + n * np.arange(STATE + 1)[None, None, :] + np.zeros((1, STATE + 1, 1), int)
    order = np.lexsort((cols.reshape(-1), rows.reshape(-1)))
    indices, starts = cols.reshape(-1)[order], np.arange(n * (STATE + 1) + 1) * (STATE + 1)

    def hessian(x: Any, u: Any, y: Any) -> Any:
        entries = np.asarray(blocks(np.concatenate([x, u[None]]), y)).reshape(-1)[order]
        return sparse.csr_array((entries, indices, starts), shape=(n * (STATE + 1),) * 2)

    return hessian


def by_asdex(n: int, steps: int) -> Hessian:
    """Detected, coloured, compressed; jitted, on the whole Lagrangian."""
    found, asdex = jax(), optional("asdex")

    def lagrangian(z: Any, y: Any) -> Any:
        x = z.reshape(STATE + 1, n)
        return stage(found.numpy, tuple(x[:STATE]), x[STATE], tuple(y), steps).sum()

    made = found.jit(asdex.hessian(lagrangian, np.zeros((STATE + 1) * n), np.zeros((STATE, n))))
    sparse = optional("scipy.sparse")

    def hessian(x: Any, u: Any, y: Any) -> Any:
        h = made(np.concatenate([x.reshape(-1), u]), y)
        places = np.asarray(h.indices)
        return sparse.coo_array((np.asarray(h.data), (places[:, 0], places[:, 1])), shape=h.shape)

    return hessian


def by_casadi(n: int, steps: int, *, mapped: bool) -> Hessian:
    """The Hessian of the whole, by CasADi's own colouring; scalars in one graph, or a function of a stage, mapped."""
    ca = optional("casadi")
    sx, su, sy = ca.SX.sym("x", STATE), ca.SX.sym("u"), ca.SX.sym("y", STATE)
    cost = stage(ca, ca.vertsplit(sx), su, ca.vertsplit(sy), steps)
    one = ca.Function("stage", [sx, su, sy], [cost])
    kind = ca.MX if mapped else ca.SX
    z, y = kind.sym("z", n, STATE + 1), kind.sym("y", STATE, n)
    rows = z.T
    if mapped:
        whole = ca.sum2(one.map(n)(rows[:STATE, :], rows[STATE, :], y))
    else:
        whole = sum(one(rows[:STATE, k], rows[STATE, k], y[:, k]) for k in range(n))
    flat = kind.sym("flat", n * (STATE + 1))
    whole = (
        ca.substitute(whole, z, ca.reshape(flat, n, STATE + 1))
        if not mapped
        else ca.graph_substitute(whole, [z], [ca.reshape(flat, n, STATE + 1)])
    )
    made = ca.Function("hessian", [flat, y], [ca.hessian(whole, flat)[0]])

    def hessian(x: Any, u: Any, multipliers: Any) -> Any:
        return made(np.concatenate([x.reshape(-1), u]), multipliers)

    return hessian


def lines(options: Options) -> Iterator[Line | str]:
    """N = 50 to 20,000 with one sub-step; 1 to 4 sub-steps at N = 200."""
    if optional("scipy") is None:
        yield "control: scipy is not installed, there are no sparse matrices"
        return
    rounds = Options(min(options.rounds, 9), options.quick, options.clock)
    for n, steps in [(50, 1), (200, 1), (200, 2), (200, 4), (2000, 1), *([] if options.quick else [(20_000, 1)])]:
        yield from row(n, steps, rounds)
    yield from beside_its_line(200, Options(options.rounds, options.quick, options.clock))


def beside_its_line(n: int, options: Options) -> Iterator[Line]:
    """The whole call beside the line from the point's arrays to the entries, run by hand."""
    f = lagrangian(n, 1)
    p, rng = hb.hessian_program(f, wrt=(0, 1), as_="sparse"), np.random.default_rng(0)
    points = itertools.cycle([[part.random(rng) for part in f.dom.parts] for _ in range(4)])
    line = runner(p)
    candidates = {
        HAND: lambda: line([leaf for part in next(points) for leaf in part.leaves]),
        "p.matrix(x)": lambda: p.matrix(*next(points)),
        OURS: lambda: hb.hessian(f, *next(points), wrt=(0, 1), as_="sparse"),
    }
    yield from compare(f"cart-pole, N = {n:,}, a call beside its line", candidates, options, limit=1.25)


def row(n: int, steps: int, options: Options) -> Iterator[Line | str]:
    """One size."""
    what = f"cart-pole, N = {n:,}, {steps} sub-step{'s' * (steps > 1)}"
    makers: dict[str, Callable[[], Hessian]] = {OURS: lambda: ours(n, steps)}
    if jax() is not None:
        makers["jax vmap by hand"] = lambda: by_hand(n, steps)
        if optional("asdex") is not None:
            makers["asdex (jit)"] = lambda: by_asdex(n, steps)
    if optional("casadi") is not None:
        makers["casadi, mapped"] = lambda: by_casadi(n, steps, mapped=True)
        if n <= 2000:
            makers["casadi, scalars"] = lambda: by_casadi(n, steps, mapped=False)
    rng = np.random.default_rng(0)
    points = itertools.cycle(
        [(rng.standard_normal((STATE, n)), rng.standard_normal(n), rng.standard_normal((STATE, n))) for _ in range(4)]
    )
    first, made, calls = next(points), dict[str, Any](), dict[str, Callable[[], object]]()
    for who, make in makers.items():
        start = options.clock()
        hessian = make()
        made[who] = hessian(*first)
        yield f"{what}, first call: {who} {duration(options.clock() - start)}"
        calls[who] = lambda f=hessian: f(*next(points))  # type: ignore[misc]
    probes = rng.standard_normal((n * (STATE + 1), 3))
    agree(what, {who: [np.asarray(h @ probes)] for who, h in made.items()}, 1e-9)
    yield from compare(what, calls, options, baseline=OURS)
