"""Loops, statements, workspace and calls of eleven programs do not rise: a golden file, `tests/compiled/counts.txt`.

`python -m tests.compiled.test_counts_of_code` writes the counts as they are now. Statements are all those of the tree,
loops among them; bytes are those of the workspace of a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("llvmlite")

import hilbert.all as hb
from benchmarks import control
from benchmarks.peers.arrays import bundle, mixture
from benchmarks.peers.loops import heat as heat_row
from benchmarks.peers.loops import pendulum
from diff.terms.lower import planned
from docs.examples import heat, kalman, lstm, transformer
from hilbert.compiled.machine.compiled_line import CompiledLine

FILE = Path(__file__).with_name("counts.txt")


def adjusted(made: Callable[[Any], Any]) -> Any:
    """The Jacobian of bundle adjustment, by blocks."""
    given = bundle.drawn(49, 776, 3184)
    return hb.jacobian_program(made(given), as_="blocks")


def warmed() -> Any:
    """The value and gradient of heat."""
    seen = heat.observed.cod.vec(heat_row.drawn()[2])
    f: Any = hb.fun(heat.observed.dom)(lambda u: hb.square(heat.observed(u) - seen).sum())
    return hb.value_and_grad(f)


def swung() -> Any:
    """The value and gradient of a pendulum."""
    f: Any = hb.fun(hb.R, hb.R)(lambda *s: hb.iterate(pendulum.single(hb), s, hb.Fin.of(1000))[0])
    return hb.value_and_grad(f)


def paired() -> Any:
    """The gradient of a kernel's sum over all pairs of one set of points: no array of as many entries as pairs."""
    points, V = hb.Fin.of(300), hb.R ** hb.Fin.of(3)
    kernel = hb.lift(hb.fun(V, V)(lambda a, b: hb.exp(-((a - b) @ (a - b)))), points, over=(1,))
    row: Any = hb.fun(*kernel.dom.parts)(lambda a, t: kernel(a, t).sum())
    pairs = hb.lift(row, points, over=(0,))
    f: Any = hb.fun(pairs.dom.parts[0])(lambda x: pairs(x, x).sum())
    return hb.grad(f)


PROGRAMS: dict[str, Callable[[], Any]] = {
    "bundle adjustment, by hand": lambda: adjusted(bundle.residuals),
    "bundle adjustment, docs": lambda: adjusted(bundle.example),
    "mixture, d2 k5": lambda: hb.grad(mixture.objective(mixture.drawn(2, 5, 1000)), 0),
    "mixture, d10 k10": lambda: hb.grad(mixture.objective(mixture.drawn(10, 10, 1000)), 0),
    "LSTM": lambda: hb.grad(lstm.loss(2, 14, 127), 0),
    "cart-pole, Hessian": lambda: hb.hessian_program(control.lagrangian(200, 1), wrt=(0, 1), as_="sparse"),
    "Kalman": lambda: hb.value_and_grad(kalman.log_likelihood(500), 0),
    "heat": warmed,
    "pendulum": swung,
    "kernel of pairs": paired,
    "transformer": lambda: hb.value_and_grad(transformer.loss, 0),
}


def lines() -> Iterator[str]:
    """The rows of the file."""
    for name, make in PROGRAMS.items():
        made = CompiledLine(planned(make()).line, level=0).report
        calls = f"calls of {', '.join(made.calls)}" if made.calls else "no calls"
        yield f"{name:<28}{made.loops:>4} loops{made.statements:>6} statements{made.bytes:>9} bytes, {calls}"


def test_counts() -> None:
    """As many as in the file; fewer are written down by `python -m tests.compiled.test_counts_of_code`."""
    before, now = FILE.read_text("utf-8").splitlines(), list(lines())
    changed = [f"  {a}\n  → {b[28:].strip()}" for a, b in zip(before, now, strict=True) if a != b]
    if changed:
        pytest.fail(f"counts of {FILE.name} that changed:\n" + "\n".join(changed), pytrace=False)


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", "utf-8")
