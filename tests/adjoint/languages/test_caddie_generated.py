"""Generated programs of caddie: values against plain Python, derivatives against differences and each other, printing.

    python -m tests.adjoint.languages.test_caddie_generated 2000 SEED

tries so many, at two points each, and counts what was in them (`make programs` does).
"""

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from adjoint import adjoint
from adjoint.languages import Source
from adjoint.languages.caddie import load
from adjoint.languages.caddie.parser import definitions
from adjoint.languages.value_spaces import element, value_of
from diff import derivative
from diff.lam.term.binding import mapped
from diff.lam.term.terms import AnyTerm, Lam, Name, Var
from diff.lam.term.types import REAL
from tests.caddie_programs import Programs, UnfitError

COUNTS: Counter[str] = Counter()
STEP = 1e-4


def flat(value: Any) -> np.ndarray[Any, Any]:
    """The numbers of a value."""
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(part) for part in value])
    return np.array([value], float)


Points = list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]]
"""Points, the values there, and the matrices of the derivatives by differences."""


def differences(value: Callable[..., np.ndarray[Any, Any]], at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The matrix of the derivative from two steps; raises UnfitError where they do not agree, and say nothing."""
    coarse, fine = (
        np.stack([(value(at + e) - value(at - e)) / (2 * h) for e in h * np.eye(4)], axis=1) for h in (STEP, STEP / 2)
    )
    if np.abs(coarse - fine).max() > 1e-5 * max(1.0, float(np.abs(fine).max())):
        raise UnfitError
    found: np.ndarray[Any, Any] = (4 * fine - coarse) / 3
    return found


def fitting(seed: int, n: int) -> tuple[str, Points]:
    """A program whose values at two points, and near them, are moderate, smooth, and not near a kink; the points."""
    for again in range(200):
        programs, rng = Programs(1000 * seed + again), np.random.default_rng(seed)
        text, oracle = programs.program(n)

        def value(at: np.ndarray[Any, Any], oracle: Callable[..., Any] = oracle) -> np.ndarray[Any, Any]:
            return flat(oracle(float(at[0]), at[1:].tolist()))

        points: Points = []
        for at in rng.uniform(-1.5, 1.5, (20, 4)):
            with suppress(UnfitError):
                points.append((at, value(at), differences(value, at)))
            if len(points) == 2:
                COUNTS.update(programs.counts)
                return text, points
    msg = f"no program of {n} nodes fits at seed {seed}"
    raise RuntimeError(msg)


def closed(text: str) -> list[tuple[str, AnyTerm]]:
    """The functions of a text, those before them by name, without what is not known of types."""

    def of(function: Lam, known: dict[int, str]) -> AnyTerm:
        def named(e: AnyTerm) -> AnyTerm | None:
            return Name(known[e.number]) if isinstance(e, Var) and e.number in known else None

        return mapped(function, named, lambda _: REAL)

    found = definitions([Source("t.cad", text)])
    known = {one.itself.number: one.name for one in found}
    return [(one.name, of(one.function, known)) for one in found]


def require_right(seed: int, n: int) -> None:
    """Value, D, D* and the text of a program."""
    text, points = fitting(seed, n)
    loaded, rng = load([Source("t.cad", text)]), np.random.default_rng(seed)
    printed = "\n".join(one.stages()["text"](None, None) for one in loaded.functions.values())
    assert closed(printed) == closed(text), text
    again = load([Source("t.cad", printed)])
    for at, due, jacobian in points:
        args = (float(at[0]), at[1:].tolist())
        f = loaded.f.like(args)
        x = element(args, f.dom)
        np.testing.assert_allclose(flat(value_of(f(x))), due, rtol=1e-11, atol=1e-11, err_msg=text)
        assert again.f.like(args)(x).flat().tobytes() == f(x).flat().tobytes(), text
        linear = derivative(f)(x)
        dx, dy = linear.dom.random(rng), linear.cod.random(rng)
        moved, back = linear(dx), adjoint(linear)(dy)
        bound = 1e-6 * max(1.0, float(np.abs(jacobian).max()))
        np.testing.assert_allclose(flat(value_of(moved)), jacobian @ dx.flat(), rtol=1e-6, atol=bound, err_msg=text)
        np.testing.assert_allclose(back.flat(), jacobian.T @ flat(value_of(dy)), rtol=1e-6, atol=bound, err_msg=text)
        left, right = moved.inner(dy), dx.inner(back)
        assert abs(left - right) <= 1e-12 * max(1.0, moved.norm() * dy.norm(), dx.norm() * back.norm()), text
    for name in ("expression", "forward", "reverse"):
        assert loaded.f.stages()[name](None, None)


@pytest.mark.parametrize("seed", range(10))
def test_generated(seed: int) -> None:
    """Programs of 5 to 60 nodes."""
    for n in (5, 20, 60):
        require_right(seed, n)


if __name__ == "__main__":
    number, seed = int(sys.argv[1]), int(sys.argv[2])
    for k in range(number):
        try:
            require_right(seed * 10**6 + k, 5 + k % 96)
        except BaseException:
            sys.stdout.write(f"seed {seed * 10**6 + k}, {5 + k % 96} nodes\n")
            raise
    sys.stdout.write(f"caddie, seed {seed}: {number} programs, {dict(COUNTS.most_common())}\n")
