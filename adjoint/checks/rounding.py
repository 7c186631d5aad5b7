"""The error of a result by rounding, measured in runs in which every intermediate result is changed by its last digit.

What cancels counts by the size that it had before: (x + 10⁶) − 10⁶ is uncertain by the last digit of 10⁶. No bound is
proved; the spread of a few random runs is measured (Parker, *Monte Carlo Arithmetic*, 1997, §5).

>>> from hilbert import R
>>> from diff import fun, program
>>> rng = np.random.default_rng(0)
>>> f = program(fun(R)(lambda x: (x + 1e6) - 1e6 - x))
>>> 1e-11 < spread(f.line, R.vec(0.5).leaves, rng) < 1e-9
True
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.formal.formal_kernels import dense
from hilbert.arrays.libraries.namespace import moved, namespace
from hilbert.index.spec import Spec
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import Contract, Literal
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.index.leaf import Leaf

RUNS = 3
SIGNS = 8
"""So many arrays of random signs are drawn for each leaf, and every slot takes one of them."""


def spread(line: Line, arrays: Sequence[Any], rng: np.random.Generator) -> float:
    """The root mean square distance of the outputs from those of runs in which each slot is changed by its last digit.

    0 where that is no finite number: outside the domain of a function nothing is known.
    """
    line = line.pruned()
    plain = [dense(a) if isinstance(a, Formal) else a for a in arrays]
    whole, noisy = _shaken(line)
    runner, like = Runner(whole), next(iter(plain), None)
    with np.errstate(all="ignore"):
        exact = Runner(line).run(plain)
        found = list[Any]()
        for _ in range(RUNS):
            signs: dict[Leaf, list[Any]] = {}
            noise = [_noise(leaf, rng, signs, like) for leaf in noisy]
            found += [a - b for a, b in zip(runner.run([*plain, *noise]), exact, strict=True) if _real(a)]
        total = size(found)
    return total / math.sqrt(RUNS) if math.isfinite(total) else 0.0


def size(arrays: Iterable[Any]) -> float:
    """√Σ aᵢ² over the entries of some arrays, computed in units of the largest, so that no square is out of range."""
    arrays = [a for a in arrays if 0 not in a.shape]
    highest = [float(namespace(a).max(namespace(a).abs(a))) for a in arrays]
    if not all(map(math.isfinite, highest)):
        return sum(highest)  # infinite, or NaN
    unit = math.ldexp(1.0, math.frexp(max(highest, default=0.0))[1] - 1)  # a power of two: division by it is exact
    return unit * math.sqrt(sum(float(namespace(a).sum((a / unit) ** 2)) for a in arrays))


def _real(a: Any) -> bool:
    return "float" in str(a.dtype)


def _noise(leaf: Leaf, rng: np.random.Generator, signs: dict[Leaf, list[Any]], like: Any) -> Any:
    """1 ± ε in every entry, in the library of an array if one is given."""
    drawn = signs.setdefault(leaf, [])
    k = int(rng.integers(SIGNS))
    if k >= len(drawn):
        epsilon = np.finfo(leaf.dtype).eps
        one = np.asarray(1.0 + epsilon * rng.choice([-1.0, 1.0], leaf.shape), leaf.dtype)
        drawn.append(one if like is None else moved(one, like))
        k = len(drawn) - 1
    return drawn[k]


def _shaken(line: Line) -> tuple[Line, tuple[Leaf, ...]]:
    """The line in which every real slot is multiplied by a further input, and the leaves of these."""
    operations = [None] * line.arity + [step.operation for step in line.steps]
    real = [k for k, leaf in enumerate(line.slots) if leaf.is_field and not isinstance(operations[k], Literal)]
    noisy = tuple(line.slots[k] for k in real)
    place = {k: line.arity + n for n, k in enumerate(real)}
    slots, steps = [*line.slots[: line.arity], *noisy], list[Step[Any]]()
    where: list[int] = []

    def emit(step: Step[Any], leaf: Leaf) -> int:
        steps.append(step)
        slots.append(leaf)
        return len(slots) - 1

    for k, leaf in enumerate(line.slots):
        at = k
        if k >= line.arity:
            step = line.steps[k - line.arity]
            at = emit(Step(_plain(step.operation), tuple(where[a] for a in step.args)), leaf)
        if k in place:
            at = emit(Step(Contract(Spec.pointwise(len(leaf.axes))), (at, place[k])), leaf)
        where.append(at)
    return Line(tuple(slots), tuple(steps), tuple(where[k] for k in line.outputs)), noisy


def _plain(operation: Any) -> Any:
    """A constant that is formal, multiplied out: noise has no low rank."""
    if isinstance(operation, Literal) and isinstance(operation.value.array, Formal):
        value = operation.value
        return Literal(type(value)(dense(value.array), value.leaf, ("dense", value.key)))
    return operation
