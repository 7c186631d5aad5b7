"""Systems of more than six unknowns in compiled programs: LAPACK beside the interpreter, its errors, loops, threads."""

import itertools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from diff.terms.lower import planned
from hilbert.program.run.run import Runner
from tests.compiled.test_small_systems import (
    OPERATIONS,
    compared,
    drawn,
    function,
    is_interpreted,
    said,
)

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")
from hilbert.compiled.machine.compiled_line import CompiledLine
from hilbert.compiled.machine.ir_words import ROUTINES
from hilbert.compiled.operations import dense_systems

SINGULAR_OF: dict[str, Callable[[int], Any]] = {
    "0": lambda n: np.zeros((n, n)),
    "whole numbers": lambda n: np.arange(1.0, n * n + 1).reshape(n, n),
    "one column": lambda n: np.outer(np.linspace(0.1, 0.7, n), np.arange(n)),
    "a row of 0": lambda n: np.eye(n) * (np.arange(n) != 3),
}


@pytest.mark.parametrize("field", [hb.R, hb.R32], ids=["64 bits", "32 bits"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_value_is_the_interpreters(name: str, field: Any) -> None:
    """With 7 to 33 rows, and without calls of the interpreter."""
    for n in (7, 9, 16, 33) if field is hb.R else (7, 17):
        f = function(name, n, field)
        compared(f, drawn(f, n))


def test_many_unknowns() -> None:
    """500."""
    for name in ("solve", "inverse", "logdet", "cholesky", "lower"):
        f = function(name, 500)
        compared(f, [a + 40 * np.eye(500) if a.ndim > 1 else a for a in drawn(f)])


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_lifted_value_is_the_interpreters(name: str) -> None:
    """Over any of the operands, under one axis or two of which each operand has one, and under none at all."""
    f: Any = function(name, 7)
    count = len(f.dom.leaves)
    for over in itertools.chain.from_iterable(itertools.combinations(range(count), k) for k in range(1, count + 1)):
        for size in (0, 1, 5) if len(over) == count else (5,):
            g: Any = hb.lift(f, hb.Fin.of(size), over=over) if count > 1 else f ** hb.Fin.of(size)
            compared(g, drawn(g))
    if count > 1:
        for first, second in ((0, 1), (1, 0)):
            both: Any = hb.lift(hb.lift(f, hb.Fin.of(4), over=(first,)), hb.Fin.of(3), over=(second,))
            compared(both, drawn(both))


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_gradient_is_the_interpreters(name: str) -> None:
    """Of the sum of squares; there is no call."""
    f: Any = function(name, 8)

    def squares(*args: Any) -> Any:
        y = OPERATIONS[name][0](*args)
        return hb.inner(y, y)

    parts = f.dom.parts if len(f.dom.leaves) > 1 else (f.dom,)
    g: Any = hb.value_and_grad(hb.fun(*parts)(squares))
    compared(g, [a + 4 * np.eye(8) if a.ndim > 1 and a.shape[0] == a.shape[1] else a for a in drawn(g)])


def test_exchanged_rows_and_signs() -> None:
    """det and logdet of permutations and of reflections; of a matrix that must be pivoted."""
    rng = np.random.default_rng(0)
    code = CompiledLine(planned(function("det", 9)).line)
    for _ in range(10):
        p = np.eye(9)[rng.permutation(9)] * rng.choice([-1.0, 1.0], 9)
        assert code([p])[0] == np.linalg.det(p)
    f = function("solve", 9)
    compared(f, [np.eye(9)[rng.permutation(9)] + 1e-12 * rng.standard_normal((9, 9)), rng.standard_normal(9)])
    assert not is_interpreted(code)


@pytest.mark.parametrize("rows", [False, True])
def test_rows_or_columns_of_any_size(rows: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """As accurate as the interpreter where they are scaled by 10⁻⁵⁰ to 10⁵⁰: no result is another one's rounding."""
    rng = np.random.default_rng(1)
    scales = 10.0 ** rng.uniform(-50, 50, 8)
    q, due = rng.standard_normal((8, 8)) + 3 * np.eye(8), rng.standard_normal(8)
    a, x = (scales[:, None] * q, due) if rows else (q * scales, due / scales)
    b = scales * (q @ due) if rows else q @ due
    (got,) = CompiledLine(planned(function("solve", 8)).line)([a, b])
    assert np.allclose(got / x, 1.0, rtol=1e-12)


@pytest.mark.parametrize("name", ["solve", "solve of matrices", "inverse", "logdet", "lower", "upper", "cholesky"])
@pytest.mark.parametrize("which", SINGULAR_OF)
def test_a_singular_matrix_is_what_the_interpreter_says(name: str, which: str) -> None:
    """The error, or the value, and the next call is right."""
    f = function(name, 8)
    line = planned(f).line
    code = CompiledLine(line)
    good = drawn(f)
    bad = [SINGULAR_OF[which](8), *good[1:]]
    for arrays in (good, bad, good):
        assert said(code, arrays) == said(Runner(line).run, arrays)


def test_det_of_singular_matrices() -> None:
    """0, or what rounding leaves; ∞ and 0 where the number has no other place."""
    code = CompiledLine(planned(function("det", 8)).line)
    for make in SINGULAR_OF.values():
        assert abs(code([make(8)])[0] - np.linalg.det(make(8))) <= 1e-12
    assert not is_interpreted(code)
    for scale in (1e-60, 1e60):
        with np.errstate(all="ignore"):
            assert code([scale * np.eye(8)])[0] == np.linalg.det(scale * np.eye(8))


def test_one_matrix_of_many() -> None:
    """An error is that of the matrix."""
    for name in ("inverse", "cholesky", "logdet"):
        f: Any = function(name, 7) ** hb.Fin.of(20)
        line = planned(f).line
        code, good = CompiledLine(line), drawn(f)
        bad = [good[0].copy()]
        bad[0][13] = 1.0
        for arrays in (good, bad, good):
            assert said(code, arrays) == said(Runner(line).run, arrays)
        assert code.reruns == 1


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite(name: str, number: float) -> None:
    """Anywhere in any operand: the interpreter's values, or its error."""
    f = function(name, 7)
    line = planned(f).line
    code, rng = CompiledLine(line), np.random.default_rng(0)
    for k in range(len(f.dom.leaves)):
        for _ in range(12):
            arrays = drawn(f)
            arrays[k][tuple(rng.integers(0, n) for n in arrays[k].shape)] = number
            with np.errstate(all="ignore"):
                assert said(code, arrays) == said(Runner(line).run, arrays)


def filter_of(n: int, steps: int) -> Any:
    """A Kalman filter with n observations of 4 states: log-likelihood of the data, of transition and noise."""
    X, Y, T = hb.Fin.of(4), hb.Fin.of(n), hb.Fin.of(steps)
    rng = np.random.default_rng(0)
    H = (hb.R ** (Y * X)).vec(rng.standard_normal((n, 4)))
    unit, small = (hb.R ** (Y * Y)).vec(np.eye(n)), (hb.R ** (X * X)).vec(0.1 * np.eye(4))

    def f(F: Any, noise: Any, data: Any) -> Any:
        def step(state: Any, y: Any) -> Any:
            x, P, total = state
            x, P = F @ x, F @ P @ F.T + small
            S = H @ P @ H.T + hb.exp(noise) * unit
            r = y - H @ x
            w = hb.solve(S, r)
            gain = P @ H.T
            total = total - 0.5 * (r @ w + hb.logdet(S))
            return x + gain @ w, P - gain @ hb.solve(S, gain.T), total

        start = (hb.const((hb.R**X).zeros()), hb.const((hb.R ** (X * X)).vec(np.eye(4))), hb.const(hb.R.vec(0.0)))
        return hb.fold(step, start, data)[2]

    return hb.fun(hb.R ** (X * X), hb.R, (hb.R**Y) ** T)(f)


@pytest.mark.parametrize("n", [7, 20])
def test_a_kalman_filter_is_compiled_whole(n: int) -> None:
    """Value and gradient of a loop with LAPACK inside, and lifted over data sets."""
    f = filter_of(n, 12)
    rng = np.random.default_rng(1)
    arrays = [0.5 * np.eye(4), np.array(0.3), rng.standard_normal((12, n))]
    g: Any = hb.value_and_grad(f)
    code = compared(g, arrays)
    many: Any = hb.lift(f, hb.Fin.of(3), over=(2,))
    compared(many, [*arrays[:2], rng.standard_normal((3, 12, n))])
    bad = [arrays[0] * np.nan, *arrays[1:]]
    with np.errstate(all="ignore"):
        assert said(code, bad) == said(Runner(planned(g).line).run, bad)


def test_systems_in_a_branch_and_after() -> None:
    """What is factored in a branch, or in a loop, is not there for what follows."""
    X = hb.Fin.of(8)

    def f(a: Any, b: Any, s: Any) -> Any:
        y = hb.where(s > 0.0, lambda: hb.solve(a, b), lambda: b)
        z = hb.iterate(lambda v: hb.solve(a, v), b, hb.Fin.of(3))
        return y + z + hb.solve(a, b) * hb.logdet(a)

    g: Any = hb.fun(hb.R ** (X * X), hb.R**X, hb.R)(f)
    for sign in (1.0, -1.0):
        arrays = drawn(g)
        arrays[0] += 3 * np.eye(8)
        arrays[2] = np.array(sign)
        compared(g, arrays)


def test_a_matrix_is_factored_once() -> None:
    """solve, logdet and their gradients ask for one factorization."""
    X = hb.Fin.of(9)
    f: Any = hb.fun(hb.R ** (X * X), hb.R**X)(lambda a, b: b @ hb.solve(a, b) + hb.logdet(a))
    code = compared(hb.value_and_grad(f), drawn(f))
    assert code.text.count(f"ptr %blas, i64 {ROUTINES.index('dgetrf')}\n") == 1


def test_the_inverse_of_a_triangle() -> None:
    """That of a Cholesky factor, and of its transpose, is no elimination; a singular one is the interpreter's."""
    X = hb.Fin.of(20)
    f: Any = hb.fun(hb.R ** (X * X))(lambda a: hb.inverse(hb.cholesky(a @ a.T).T) @ hb.inverse(hb.cholesky(a @ a.T)))
    for g in (f, f ** hb.Fin.of(3)):
        code = compared(g, drawn(g))
        assert f"ptr %blas, i64 {ROUTINES.index('dgetrf')}\n" not in code.text
    near = np.diag(np.where(np.arange(20) == 5, 1e-160, 1.0))
    line = planned(f).line
    with np.errstate(all="ignore"):
        assert said(CompiledLine(line), [near]) == said(Runner(line).run, [near])


def test_results_that_are_read_and_given() -> None:
    """A⁻¹ twice, turned, and as an operand of a product; inputs are not written."""
    X = hb.Fin.of(20)
    V = hb.R ** (X * X)

    def f(a: Any) -> Any:
        b, c = hb.inverse(a), hb.cholesky(a @ a.T)
        return b, b.T @ a, c.T, hb.solve_triangular(c.T, a, lower=False), c @ b

    g: Any = hb.fun(V)(f)
    arrays = drawn(g)
    kept = arrays[0].copy()
    compared(g, arrays)
    assert np.array_equal(arrays[0], kept)


def test_threads() -> None:
    """Four threads on one function."""
    f: Any = hb.fun(*function("solve of matrices", 12).dom.parts)(lambda a, b: hb.solve(a, b) * hb.logdet(a))
    line = planned(f).line
    code = CompiledLine(line)
    cases = [drawn(f, k) for k in range(4)]
    due = [Runner(line).run(arrays) for arrays in cases]
    bad: list[int] = []

    def run(k: int) -> None:
        bad.extend(k for _ in range(200) if not np.allclose(code(cases[k])[0], due[k][0], rtol=1e-10))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not bad


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter's kernels are called."""
    monkeypatch.setattr(dense_systems, "has_scipy", lambda: False)
    for name in OPERATIONS:
        f = function(name, 7)
        assert CompiledLine(planned(f).line).report.calls
