"""Programs on a device, beside JAX on it: gradients of a network and of mixtures, a Jacobian, Hessians of many stages.

    python -m benchmarks.devices [--small] [--library NAME]

Ours runs on arrays of JAX, compiled by `jax.jit`, and on arrays of cupy where that is installed. Arguments lie on the
device, results stay there; a time is the least of a few calls, each waited for. Beside it stands the largest difference
of a result from JAX's, relative to the largest entry. The whole takes less than eight minutes, text and compilation
included. `--small` takes small sizes, for a machine without a device.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import hilbert.all as hb
from benchmarks import control
from benchmarks.peers.arrays import bundle, mixture, mlp
from benchmarks.peers.row import Call, leaves
from benchmarks.timing import duration, optional

SECONDS, CALLS = 5.0, 50
"""The time and the calls after which a program is timed."""
LIBRARIES = ("jax", "cupy", "numpy")


class Program(NamedTuple):
    """A program in JAX, and ours with arrays of a library."""

    theirs: Call
    ours: Callable[[str], Call]


def main() -> None:
    """Print a line for each program and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="small sizes")
    parser.add_argument("--library", choices=LIBRARIES, action="append", help="arrays of ours; default: jax, and cupy")
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", val=True)
    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}")
    libraries = given.library or [name for name in LIBRARIES[:2] if optional(name) is not None]
    for line in lines(libraries, small=given.small):
        print(line, flush=True)


def lines(libraries: list[str], *, small: bool) -> Iterator[str]:
    """The lines of the table."""
    yield f"{'program':<44} {'on':<10} {'first call':>10} {'a call':>10} {'of JAX':>7} {'difference':>10}"
    for what, make in programs(small=small).items():
        made = make()
        found = {"jax": timed(made.theirs)} | {f"ours, {name}": timed(made.ours(name)) for name in libraries}
        _, base, due = found["jax"]
        for who, (first, least, got) in found.items():
            far = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(got, due, strict=True))
            ratio = f"{least / base:7.2f} {far:10.1e}"
            yield f"{what:<44} {who:<10} {duration(first):>10} {duration(least):>10} {ratio}"


def timed(call: Call) -> tuple[float, float, list[Any]]:
    """The seconds of the first call, the least of the others, and the numbers of the result."""
    start = time.perf_counter()
    result = finished(call.run())
    first = time.perf_counter() - start
    least, calls = np.inf, 0
    while calls < CALLS and time.perf_counter() - start < SECONDS + first:
        before = time.perf_counter()
        finished(call.run())
        least = min(least, time.perf_counter() - before)
        calls += 1
    return first, least, [host(a) for a in call.numbers(result)]


def finished(result: Any) -> Any:
    """The result, when all work on the device is done."""
    for array in leaves(result):
        wait = getattr(array, "block_until_ready", None) or getattr(array.device, "synchronize", None)
        if wait is not None:
            wait()
    return result


def host(array: Any) -> Any:
    """The array in numpy."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


def programs(*, small: bool) -> dict[str, Callable[[], Program]]:
    """The programs by their names and sizes."""
    batch, points, more, stages = (8, 100, 200, 50) if small else (128, 100_000, 1_000_000, 1_000_000)
    cameras, places, seen = (3, 20, 60) if small else (49, 7776, 31_843)
    return {
        f"MLP 784-512-256-10, batch {batch}, float32": partial(network, "float32", batch),
        f"MLP 784-512-256-10, batch {batch}, float64": partial(network, "float64", batch),
        f"mixture d 10, k 25, {points:,} points": partial(mixed, points),
        f"mixture d 10, k 25, {more:,} points": partial(mixed, more),
        f"bundle adjustment, {seen:,} observations": partial(adjusted, cameras, places, seen),
        f"cart-pole, {stages:,} stages": partial(steered, stages),
    }


def placed(name: str, f: Any, at: tuple[Any, ...], numbers: Callable[[Any], list[Any]] = leaves) -> Call:
    """A call of our function, compiled in JAX, at vectors whose arrays are those of a library."""
    move = jnp.asarray if name == "jax" else optional(name).asarray
    here = [x.space.vec(jax.tree.map(move, x.space.pack(iter(x.leaves)))) for x in at]
    run = jax.jit(hb.as_jax(f)) if name == "jax" else f
    return Call(lambda: run(*here), numbers)


def of_row(ours: Any, given: Any, name: str) -> Call:
    """Our formulation of a row of the table of peers, at arrays of a library."""
    made: list[Call] = []

    def caught(f: Any) -> Callable[..., None]:
        return lambda *at: made.append(placed(name, f, at))

    (call,) = ours(given, caught).values()
    call.run()
    return made[0]


def network(dtype: str, batch: int) -> Program:
    """The gradient of a network in its parameters."""
    given = mlp.drawn(dtype, (784, 512, 256, 10), batch)
    return Program(mlp.in_jax(given)[mlp.GRADIENT], partial(of_row, mlp.ours, given))


def mixed(points: int) -> Program:
    """The gradient of a mixture in its parameters, JAX's by one product of matrices for all points."""
    given = mixture.drawn(10, 25, points)
    theirs = mixture.in_jax(mixture.by_product)(given)[mixture.GRADIENT]
    return Program(theirs, partial(of_row, mixture.ours(mixture.objective), given))


def adjusted(cameras: int, points: int, seen: int) -> Program:
    """The Jacobian of bundle adjustment in blocks."""
    given = bundle.drawn(cameras, points, seen)
    f = bundle.residuals(given)
    p = hb.jacobian_program(f, as_="blocks")
    views = [np.ascontiguousarray(part) for part in np.split(given[0], bundle.CUTS, axis=1)]
    views[2] = views[2][:, 0]
    at = f.dom.vec((tuple(views), given[1], given[2]))

    def numbers(result: Any) -> list[Any]:
        return bundle.from_blocks(p.pattern.matrix([*map(host, leaves(result))]), seen)

    return Program(
        bundle.in_jax("jacrev")(given)[bundle.JACOBIAN], lambda name: placed(name, p, tuple(at.split()), numbers)
    )


def steered(stages: int) -> Program:
    """The entries of the Hessian of the Lagrangian of a cart-pole in states and controls."""
    f, size = control.lagrangian(stages, 1), control.STATE + 1
    p = hb.hessian_program(f, wrt=(0, 1), as_="sparse")
    at = tuple(part.random(np.random.default_rng(k)) for k, part in enumerate(f.dom.parts))
    x, u, y = (np.array(part.leaves) for part in at)

    def one(z: Any, y: Any) -> Any:
        return control.stage(jnp, tuple(z[: control.STATE]), z[control.STATE], tuple(y), 1)

    blocks = jax.jit(jax.vmap(jax.hessian(one), in_axes=(1, 1)))
    here = jnp.asarray(np.concatenate([x, u])), jnp.asarray(y)

    def numbers(result: Any) -> list[Any]:
        matrix, whole = p.pattern.matrix([*map(host, leaves(result))]).tocoo(), np.zeros((stages, size, size))
        whole[matrix.row % stages, matrix.row // stages, matrix.col // stages] = matrix.data
        return [whole]

    return Program(Call(lambda: blocks(*here)), lambda name: placed(name, p, at, numbers))


if __name__ == "__main__":
    main()
