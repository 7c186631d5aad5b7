"""A step knows the line that it was written on: no part of its value, but of what goes wrong when it is run."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

from adjoint import check_derivative, grad, value_and_grad
from diff import fun, lift, log, program, solve
from hilbert import Fin, R, SpaceError
from hilbert.program.line.source_line import told
from hilbert.program.run.fused_steps import Exponentials
from hilbert.program.run.shared_exponentials import shared_exponentials
from tests.untyped import each, iterate, where

X = Fin.of(3)
V = R**X
HERE = __file__


def model(x: Any) -> Any:
    y = x - 1.0
    z = log(y)  # the second line
    return z * 2.0


def line_of(text: str) -> int:
    source, first = inspect.getsourcelines(model)
    return next(first + k for k, line in enumerate(source) if text in line)


def places(f: Any) -> set[str]:
    return {told(step.place) for step in program(f).steps if step.place}


def test_steps_know_their_line() -> None:
    """Of what is traced, lifted, differentiated and pickled; two programs of other lines are equal."""
    f = fun(V)(model)
    want = f"{HERE}:{line_of('second')} in model"
    for g in (f, lift(fun(V, V)(lambda a, b: model(a) + b), Fin.of(2)), grad(fun(V)(lambda x: model(x).sum()))):
        assert want in places(g)
        assert want in places(pickle.loads(pickle.dumps(program(g))))
    assert program(f) == program(fun(V)(lambda x: log(x - 1.0) * 2.0))
    assert hash(program(f)) == hash(program(fun(V)(lambda x: log(x - 1.0) * 2.0)))


@pytest.mark.parametrize(
    "body",
    [
        model,
        lambda x: iterate(model, x, X),
        lambda x: each(lambda y: where(y > -1.0, lambda: model(y), lambda: y), x),
    ],
)
def test_warnings_and_errors_name_it(body: Any) -> None:
    """What numpy raises when a program is run says where its step was written, inside loops and branches too."""
    f = fun(V)(body)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
        f(V.vec([0.5, 0.25, 0.125]))
    assert caught.value.__notes__ == [f"  computed by {HERE}:{line_of('second')} in model"]


def test_check_names_the_first_nan() -> None:
    """check_derivative outside of the domain: the line of log, not those that read its value."""
    with np.errstate(all="ignore"):
        report = check_derivative(fun(V)(model), V.vec([0.5, 3.0, 4.0]))
    assert not report
    assert report.failing == f"NaN at {HERE}:{line_of('second')} in model"


def test_operations_made_of_functions_name_the_line_of_their_call() -> None:
    """solve is a function that is written into the line: its steps are of the line that calls it."""

    def solved(A: Any, b: Any) -> Any:
        return solve(A, b)

    f = fun(R ** (X * X), V)(solved)
    with pytest.raises(SpaceError, match="Singular matrix") as caught:
        f((R ** (X * X)).zeros(), V.ones())
    assert caught.value.__notes__ == [f"  computed by {HERE}:{solved.__code__.co_firstlineno + 1} in solved"]


def test_shared_exponentials_name_the_line_of_the_first() -> None:
    """log Σ exp and its derivative share their exponentials: what overflows in them is of the line that has them."""

    def shifted(x: Any) -> Any:
        return x.logsumexp()

    both = value_and_grad(fun(V)(shifted))
    steps = [step for step in shared_exponentials(program(both).line).steps if isinstance(step.operation, Exponentials)]
    assert [told(step.place) for step in steps if step.place] == [
        f"{HERE}:{shifted.__code__.co_firstlineno + 1} in shifted"
    ]
