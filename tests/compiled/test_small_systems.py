"""Small systems of compiled programs: beside the interpreter, exact numbers, and its errors."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from diff.terms.lower import planned
from hilbert.program.run.run import Runner

pytest.importorskip("llvmlite")
from hilbert.compiled.machine.compiled_line import CompiledLine

Z = hb.Fin.of(3)
OPERATIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "solve": (hb.solve, ("A", "x")),
    "solve of matrices": (hb.solve, ("A", "B")),
    "inverse": (hb.inverse, ("A",)),
    "det": (hb.det, ("A",)),
    "logdet": (hb.logdet, ("A",)),
    "cholesky": (lambda a: hb.cholesky(a @ a.T), ("A",)),
    "lower": (hb.solve_triangular, ("A", "x")),
    "upper": (lambda a, b: hb.solve_triangular(a, b, lower=False), ("A", "B")),
}
CONDITION = 1e3
"""A bound of the condition numbers of what is drawn."""


def function(name: str, n: int, field: Any = hb.R) -> Any:
    """The operation on matrices with n rows."""
    X = hb.Fin.of(n)
    spaces = {"A": field ** (X * X), "x": field**X, "B": field ** (X * Z)}
    operation, letters = OPERATIONS[name]
    return hb.fun(*(spaces[k] for k in letters))(operation)


def drawn(f: Any, seed: int = 0) -> list[Any]:
    """Entries for the inputs of a function; square matrices are regular."""
    rng, made = np.random.default_rng(seed), []
    for leaf in f.dom.leaves:
        a = rng.standard_normal(leaf.shape)
        if len(leaf.shape) > 1 and leaf.shape[-1] == leaf.shape[-2]:
            a = a + 3 * np.roll(np.eye(leaf.shape[-1]), seed, axis=0)
            a = a + 3 * np.eye(leaf.shape[-1])
        made.append(a.astype(leaf.dtype))
    return made


def compared(f: Any, arrays: list[Any], calls: tuple[str, ...] = ()) -> CompiledLine:
    """The compiled function, which is right."""
    line = planned(f).line
    code = CompiledLine(line)
    assert code.report.calls == calls
    for want, got in zip(Runner(line).run(arrays), code(arrays), strict=True):
        assert np.shape(want) == np.shape(got)
        assert np.asarray(want).dtype == got.dtype
        bound = CONDITION * float(np.finfo(got.dtype).eps) * np.max(np.abs(want), initial=0.0)
        assert np.max(np.abs(want - got), initial=0.0) <= bound
    assert not is_interpreted(code)
    return code


def is_interpreted(code: CompiledLine) -> bool:
    """Tell if the last call was left to the interpreter."""
    return "interpreted" in vars(code)


@pytest.mark.parametrize("field", [hb.R, hb.R32], ids=["64 bits", "32 bits"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_value_is_the_interpreters(name: str, field: Any) -> None:
    """With 0 to 6 rows."""
    for n in (0, 1, 2, 4, 6) if field is hb.R else (1, 3, 5):
        f = function(name, n, field)
        compared(f, drawn(f, n))


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_lifted_value_is_the_interpreters(name: str) -> None:
    """Over any of the operands, under one axis or two of which each operand has one, as one loop."""
    f: Any = function(name, 2)
    count = len(f.dom.leaves)
    for over in itertools.chain.from_iterable(itertools.combinations(range(count), k) for k in range(1, count + 1)):
        g: Any = hb.lift(f, hb.Fin.of(40), over=over) if count > 1 else f ** hb.Fin.of(40)
        assert compared(g, drawn(g)).report.loops == 1
    if count > 1:
        both: Any = hb.lift(hb.lift(f, hb.Fin.of(20), over=(0,)), hb.Fin.of(5), over=(1,))
        compared(both, drawn(both))
        none: Any = hb.lift(f, hb.Fin.of(0), over=(0,))
        compared(none, drawn(none))


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_gradient_is_the_interpreters(name: str) -> None:
    """Of the sum of squares; there is no call."""
    f: Any = function(name, 3)

    def squares(*args: Any) -> Any:
        y = OPERATIONS[name][0](*args)
        return hb.inner(y, y)

    g: Any = hb.value_and_grad(hb.fun(*(f.dom.parts if len(f.dom.leaves) > 1 else (f.dom,)))(squares))
    compared(g, drawn(g))


def test_a_long_right_side_and_a_loop() -> None:
    """Many columns are a loop; rounds of a loop have no calls."""
    X, Y, T = hb.Fin.of(4), hb.Fin.of(300), hb.Fin.of(20)
    f: Any = hb.fun(hb.R ** (X * X), hb.R ** (X * Y))(hb.solve)
    assert compared(f, drawn(f)).report.loops == 1

    def rounds(a: Any, x: Any, steps: Any) -> Any:
        return hb.fold(lambda s, y: hb.solve(a, s + y) + s, x, steps)

    g: Any = hb.fun(hb.R ** (X * X), hb.R**X, (hb.R**X) ** T)(rounds)
    compared(g, drawn(g))


def exact(a: Any, b: Any) -> Any:
    """A⁻¹b in rational numbers."""
    n = len(a)
    rows = [[Fraction(float(x)) for x in (*a[i], b[i])] for i in range(n)]
    for k in range(n):
        p = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[p] = rows[p], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for i in range(n):
            if i != k:
                rows[i] = [x - rows[i][k] * y for x, y in zip(rows[i], rows[k], strict=True)]
    return np.array([float(row[-1]) for row in rows])


@pytest.mark.parametrize("n", [2, 4, 6])
def test_columns_of_any_size_are_exact_up_to_condition(n: int) -> None:
    """‖(x − A⁻¹b)·scales‖ within some units of ε·‖|A⁻¹||A|‖·‖x·scales‖, without the interpreter."""
    f = function("solve", n)
    code, rng = CompiledLine(planned(f).line), np.random.default_rng(n)
    for _ in range(30):
        q, scales = rng.standard_normal((n, n)), 10.0 ** rng.uniform(-100, 100, n)
        a, b = q * scales, rng.standard_normal(n)
        want, (got,) = exact(a, b), code([a, b])
        condition = np.max(np.sum(np.abs(np.linalg.inv(q)) @ np.abs(q), axis=1))
        assert np.max(np.abs(got - want) * scales) <= 8 * n * 2.0**-52 * condition * np.max(np.abs(want) * scales)


@pytest.mark.parametrize("rows", [1e-9, 1e-30])
def test_rows_of_any_size(rows: float) -> None:
    """Rows that are small beside others; where they may be rounding, the interpreter is asked."""
    a = np.array([[2.0, 1.0, 0.5], [1.0, 3.0, 1.0], [rows, rows, 3 * rows]])
    f = function("solve", 3)
    code = CompiledLine(planned(f).line)
    (got,) = code([a, np.array([1.0, 2.0, rows])])
    assert np.allclose(got, exact(a, [1.0, 2.0, rows]), rtol=1e-14)
    assert is_interpreted(code) == (rows < 1e-20)


SINGULAR = {
    "0": np.zeros((3, 3)),
    "sums": np.array([[0.1, 0.3, 0.2], [0.3, 0.9, 0.6], [1.0, 2.0, 3.0]]),
    "whole numbers": np.arange(1.0, 10.0).reshape(3, 3),
    "one column": np.outer([0.1, 0.2, 0.7], [1.0, 3.0, 0.0]),
}


@pytest.mark.parametrize("name", ["solve", "solve of matrices", "inverse", "logdet", "lower", "upper"])
@pytest.mark.parametrize("which", SINGULAR)
def test_a_singular_matrix_is_what_the_interpreter_says(name: str, which: str) -> None:
    """The error, or the value."""
    f = function(name, 3)
    line = planned(f).line
    arrays = [SINGULAR[which].copy(), *drawn(f)[1:]]
    code = CompiledLine(line)
    assert said(code, arrays) == said(Runner(line).run, arrays)


def test_an_error_of_one_matrix_has_its_place() -> None:
    """Only one matrix of many is singular; the next call is right."""
    f: Any = function("inverse", 2) ** hb.Fin.of(50)
    line = planned(f).line
    code, good = CompiledLine(line), drawn(f)
    bad = [good[0].copy()]
    bad[0][31] = 1.0
    for arrays in (good, bad, good):
        assert said(code, arrays) == said(Runner(line).run, arrays)
    assert "Singular matrix" in said(code, bad)
    assert f"computed by {__file__}" in said(code, bad)
    into = np.empty_like(good[0])
    assert code(good, [into])[0] is into
    assert np.allclose(into @ good[0], np.eye(2))


def test_what_is_no_error_is_right_where_the_interpreter_is_asked() -> None:
    """Determinants of singular matrices and out of the range of numbers, NaN, subnormal pivots; Cholesky's error."""
    code = CompiledLine(planned(function("det", 2)).line)
    assert code([np.ones((2, 2))])[0] == 0.0
    assert not is_interpreted(code)
    for a in (np.diag([1e-200, 1e-200]), np.diag([1e200, -1e200]), np.full((2, 2), np.nan)):
        with np.errstate(all="ignore"):
            assert np.array_equal(code([a])[0], np.linalg.det(a), equal_nan=True)
    assert CompiledLine(planned(function("solve", 1)).line)([np.array([[1e-310]]), np.array([1e-310])])[0] == 1.0
    for a in (np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros((2, 2)), np.full((2, 2), np.nan)):
        X = hb.Fin.of(2)
        line = planned(hb.fun(hb.R ** (X * X))(hb.cholesky)).line
        assert said(CompiledLine(line), [a]) == said(Runner(line).run, [a])


@pytest.mark.parametrize("name", ["solve", "solve of matrices", "lower", "upper"])
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite(name: str, number: float) -> None:
    """Anywhere in any operand: the interpreter's values, or its error."""
    f = function(name, 4)
    line = planned(f).line
    code = CompiledLine(line)
    for k, leaf in enumerate(f.dom.leaves):
        for place in np.ndindex(*leaf.shape):
            arrays = drawn(f)
            arrays[k][place] = number
            with np.errstate(all="ignore"):
                assert said(code, arrays) == said(Runner(line).run, arrays)


def test_a_gradient_of_det_at_singular_matrices() -> None:
    """The adjugate is the interpreter's there, and not NaN."""
    line = planned(hb.value_and_grad(function("det", 3))).line
    code = CompiledLine(line)
    assert code.report.calls == ()
    for a in SINGULAR.values():
        assert said(code, [a]) == said(Runner(line).run, [a])


def said(run: Callable[[list[Any]], Any], arrays: list[Any]) -> str:
    """The error of a call, or its value."""
    try:
        return "; ".join(np.array2string(np.asarray(a), precision=8) for a in run(arrays))
    except hb.SpaceError as error:
        return "\n".join((str(error), *getattr(error, "__notes__", ())))
