"""Steps, multiplications, calls and memory of twelve programs do not rise: a golden file, `tests/counts.txt`.

`python -m tests.test_counts` writes the counts as they are now. A step of a loop counts in each of its rounds, and
those of both branches of a condition do; a multiplication is one of two entries in a contraction. A call is one of
numpy that a run of the line makes, a loop one; bytes are those of the arrays that a run makes and holds at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import hilbert.all as hb
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.run import Runner
from linmap.matrices.made.peak_memory import peak

FILE = Path(__file__).with_name("counts.txt")
R, Fin = hb.R, hb.Fin
n, m, few, one, rounds = Fin.of(5), Fin.of(4), Fin.of(3), Fin.of(1), Fin.of(7)
V, W, A, rows = R**n, R**m, R ** (n * n), R ** (m * n)
each: Any = hb.each
fold: Any = hb.fold
iterate: Any = hb.iterate
where: Any = hb.where


def network(A: Any, B: Any, x: Any) -> Any:
    """Two dense layers, and cross entropy."""
    y = B @ hb.tanh(A @ x)
    return y.logsumexp() - y[0]


def mixture(A: Any, means: Any) -> Any:
    """The log likelihood of a mixture of Gaussians with one covariance."""
    return each(lambda x: each(lambda c: -0.5 * (A @ (x - c)) @ (A @ (x - c)), means).logsumexp(), means).sum()


def recurrent(A: Any, x: Any) -> Any:
    """A recurrent network."""
    return iterate(lambda s: hb.tanh(A @ s + x), x, rounds).sum()


def masks(A: Any, x: Any) -> Any:
    """Masks between slopes that may be infinite."""
    return hb.sqrt((A @ hb.relu(hb.log(A @ x))).clip(0.1, 4.0)).max()


def rotation(A: Any, x: Any) -> Any:
    """Rodrigues' formula in lanes, with its limit."""

    def turned(r: Any) -> Any:
        angle = r @ r
        return where(angle > 0, lambda: hb.sin(hb.sqrt(angle)) / hb.sqrt(angle) * r, lambda: r) @ x

    return hb.square(each(turned, A.rows())).sum()


def windows(A: Any, k: Any) -> Any:
    """A convolution, and differences along an axis."""
    y = hb.relu(hb.conv(A, k))
    return hb.square(y - y.roll(1, over=0)).sum()


def attention(A: Any, B: Any, C: Any) -> Any:
    """One head of attention."""
    return hb.square((A @ B.T).softmax(over=1) @ C).sum()


def process(A: Any, y: Any) -> Any:
    """The marginal likelihood of a Gaussian process."""
    K = A @ A.T + hb.const(A_ID)
    return 0.5 * y @ hb.solve(K, y) + 0.5 * hb.logdet(K)


def trajectory(A: Any, x: Any) -> Any:
    """An ordinary differential equation by Heun's method."""

    def slope(s: Any) -> Any:
        return hb.sin(A @ s) - s * s * s

    def step(s: Any) -> Any:
        k = slope(s)
        return s + 0.05 * (k + slope(s + 0.1 * k))

    return hb.square(iterate(step, x, rounds)).sum()


def table(A: Any, picks: Any) -> Any:
    """Rows of a table, picked and put in order."""
    y = each(lambda p: A.rows()[p].sum(), picks)
    return (y.sort() * hb.const(W.vec([1.0, 2.0, 3.0, 4.0]))).sum() + hb.log(y).logsumexp()


def points(xs: Any, c: Any) -> Any:
    """Small vectors, many of them, in a formula of their own."""
    return each(lambda x: hb.log(x @ x + 1.0) * (c - x), xs).sum()


def directions(x: Any, c: Any) -> Any:
    """A sum in three directions, whose Hessian has low rank beside a diagonal."""
    return hb.exp(x).sum() + hb.cos(c @ x) + hb.sin(x[0]) + hb.cos(x.sum())


A_ID = A.vec([[float(i == j) for i in range(5)] for j in range(5)])
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "network": (network, (A, rows, V)),
    "mixture": (mixture, (A, V**m)),
    "recurrent": (recurrent, (A, V)),
    "masks": (masks, (A, V)),
    "rotation": (rotation, (rows, V)),
    "windows": (windows, (R ** (Fin.of(12) * one), R ** (few * one * few))),
    "attention": (attention, (rows, rows, rows)),
    "process": (process, (A, V)),
    "trajectory": (trajectory, (A, V)),
    "points": (points, ((R**few) ** Fin.of(5000), R**few)),
    "directions": (directions, (R ** Fin.of(80), R ** Fin.of(80))),
    "table": (table, (R ** (n * few), hb.Elements(n) ** m)),
}
FORMS: dict[str, Callable[[Any], Any]] = {
    "value": lambda f: f,
    "gradient": lambda f: hb.grad(f, 0),
    "jvp": hb.jvp,
    "Hessian and vector": lambda f: hb.jvp(hb.grad(f, 0)),
}


def counted(line: Any) -> tuple[int, int]:
    """The steps and the multiplications of a line."""
    steps = multiplications = 0
    for step, result in zip(line.steps, line.slots[line.arity :], strict=True):
        operation = step.operation
        inside = [getattr(operation, name) for name in ("body", "then", "otherwise") if hasattr(operation, name)]
        if type(operation).__name__ in {"Literal", "Pack", "Unpack"}:
            continue
        times = operation.index.size if type(operation).__name__ == "Loop" else 1
        found = [counted(body) for body in inside]
        steps += 1 + times * sum(s for s, _ in found)
        multiplications += times * sum(m for _, m in found)
        if type(operation).__name__ == "Contract":
            sizes: dict[str, int] = {}
            for labels, slot in zip((operation.spec.left, operation.spec.right), step.args, strict=True):
                sizes |= zip(labels, (axis.size for axis in line.slots[slot].axes), strict=False)
            multiplications += math.prod(sizes.values())
        elif type(operation).__name__ == "Scale":
            multiplications += result.size
    return steps, multiplications


def lines() -> Iterator[str]:
    """The rows of the file."""
    for name, (body, spaces) in PROGRAMS.items():
        f = hb.fun(*spaces)(body)
        for form, made in FORMS.items():
            line = hb.program(made(f)).line
            steps, multiplications = counted(line)
            calls = len(BoundLine(Runner(line).line, NUMPY, []).steps)
            text = f"{steps:>6} steps{multiplications:>8} multiplications{calls:>5} calls{peak(line):>8} bytes"
            yield f"{name + ', ' + form:<32}{text}"


def test_counts() -> None:
    """As many as in the file; where there are fewer, `python -m tests.test_counts` writes that down."""
    before, now = FILE.read_text("utf-8").splitlines(), list(lines())
    changed = [
        f"  {a}\n  → {b[len(a.partition('  ')[0]) :].strip()}" for a, b in zip(before, now, strict=True) if a != b
    ]
    if changed:
        pytest.fail(f"counts of {FILE.name} that changed:\n" + "\n".join(changed), pytrace=False)


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", "utf-8")
