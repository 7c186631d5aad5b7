"""An error in a traced function shows the expression that fails, and its operands in the user's own words."""

# ruff: noqa: ARG001, ARG005, PLC2401, PLW0108, SIM300 - bodies that fail before they use all of their arguments

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from diff import fold
from diff.mistakes.user_source import COLUMNS
from diff.trace.error_place import CALLS
from tests.message_lines import apart


class Pixel:
    """The tag of an axis."""


class Hidden:
    """The tag of another."""


pixel, hidden = hb.Fin(Pixel, 3), hb.Fin(Hidden, 2)
V, W, M = hb.R**pixel, hb.R**hidden, hb.R ** (hidden * pixel)
NUMBERS: Any = np.ones(3)
TABLE: Any = M.ones()
both = hb.fun(V, W)(lambda x, y: x.sum() * y.sum())


def several_lines(m: Any, x: Any, b: Any) -> Any:
    return hb.tanh(m @ x + b) @ (x +
        2.0 * b)  # fmt: skip


def helper(p: Any) -> Any:
    return p + TABLE


def in_a_helper(m: Any, x: Any, b: Any) -> Any:
    return helper(x)


def behind_umlauts(m: Any, x: Any, b: Any) -> Any:
    größe = m @ x
    return ("ä", größe * x)


def in_a_helper_twice(m: Any, x: Any, b: Any) -> Any:
    return [helper(row) for row in (m, x)]


def wide(m: Any, x: Any, b: Any) -> Any:
    return [b * 1.0, b * 2.0, b * 3.0, b * 4.0, b * 5.0, b * 6.0, b * 7.0, b * 8.0, b * 9.0, b * 10.0, x + b, b * 11.0]


def looped(m: Any, x: Any, b: Any) -> Any:
    return hb.iterate(
        grown, x, hidden
    )  # fmt: skip


def grown(s: Any) -> Any:
    return s.sum() * 2.0


def calls(m: Any, x: Any, b: Any) -> Any:
    return hb.iterate(lambda s: in_a_helper(m, s, b), x, hidden)


def line_of(f: Callable[..., Any], below: int) -> int:
    return f.__code__.co_firstlineno + below


def through_a_sequence(m: Any, x: Any, b: Any) -> Any:
    rows = enumerate((m, x), 1)
    return [row + TABLE for _, row in rows]


def of_the_function_around(m: Any, x: Any, b: Any) -> Any:
    angle = TABLE.norm()

    def turned() -> Any:
        return hb.sin(angle) * x

    return turned()


PLUS = ["return p + TABLE", "       ^^^^^^^^^", "p ∈ ℝ^Pixel3, TABLE ∈ ℝ^{Hidden2×Pixel3}"]
SHOWN: list[tuple[Callable[..., Any], str, list[str]]] = [
    (
        several_lines,
        "several_lines",
        [
            "return hb.tanh(m @ x + b) @ (x +",
            "                             ^^^",
            "    2.0 * b)  # fmt: skip",
            "    ^^^^^^^",
            "x ∈ ℝ^Pixel3, 2.0 * b ∈ ℝ^Hidden2",
        ],
    ),
    (
        in_a_helper,
        "helper",
        [
            *PLUS,
            f"called at {__file__}:{line_of(in_a_helper, 1)} in in_a_helper",
            "return helper(x)",
            "       ^^^^^^^^^",
        ],
    ),
    (
        in_a_helper_twice,
        "helper",
        [
            *PLUS,
            f"called at {__file__}:{line_of(in_a_helper_twice, 1)} in in_a_helper_twice",
            "return [helper(row) for row in (m, x)]",
            "        ^^^^^^^^^^^",
        ],
    ),
    (
        calls,
        "helper",
        [
            *PLUS,
            f"called at {__file__}:{line_of(in_a_helper, 1)} in in_a_helper",
            "return helper(x)",
            "       ^^^^^^^^^",
            f"called at {__file__}:{line_of(calls, 1)}",
            "return hb.iterate(lambda s: in_a_helper(m, s, b), x, hidden)",
            "                            ^^^^^^^^^^^^^^^^^^^^",
        ],
    ),
    (
        behind_umlauts,
        "behind_umlauts",
        [
            'return ("ä", größe * x)',
            "             ^^^^^^^^^",
            f"größe ∈ ℝ^Hidden2 (of line {line_of(behind_umlauts, 1)}), x ∈ ℝ^Pixel3",
        ],
    ),
]
SHOWN += [
    (
        of_the_function_around,
        "turned",
        [
            "return hb.sin(angle) * x",
            "       ^^^^^^^^^^^^^",
            f"hb.sin : ℝ → ℝ, angle is {6**0.5} (of line {line_of(of_the_function_around, 1)})",
            f"called at {__file__}:{line_of(of_the_function_around, 6)} in of_the_function_around",
            "return turned()",
            "       ^^^^^^^^",
        ],
    ),
]
OPERANDS: list[tuple[Callable[..., Any], str]] = [
    (lambda m, x, b: np.eye(2) * b, "np.eye(2) is an array of shape (2, 2) and dtype float64, b ∈ ℝ^Hidden2"),
    (lambda m, x, b: NUMBERS < b, "NUMBERS is an array of shape (3,) and dtype float64, b ∈ ℝ^Hidden2"),
    (lambda m, x, b: (2.0 * b).std(), "2.0 * b ∈ ℝ^Hidden2"),
    (lambda m, x, b: hb.inner(x * 2.0, b), "x * 2.0 ∈ ℝ^Pixel3, b ∈ ℝ^Hidden2"),
    (
        lambda m, x, b: hb.fold(lambda s, y: s, b, 3.0 * NUMBERS),
        "b ∈ ℝ^Hidden2, 3.0 * NUMBERS is an array of shape (3,) and dtype float64",
    ),
    (
        lambda m, x, b: hb.fold(lambda s, y: s, NUMBERS, x),
        "NUMBERS is an array of shape (3,) and dtype float64, x ∈ ℝ^Pixel3",
    ),
    (
        lambda m, x, b: fold(lambda s, y: s, NUMBERS, x),
        "NUMBERS is an array of shape (3,) and dtype float64, x ∈ ℝ^Pixel3",
    ),
    (lambda m, x, b: 3.0 - x > b, "3.0 - x ∈ ℝ^Pixel3, b ∈ ℝ^Hidden2"),
    (lambda m, x, b: x if x.max() < 1 else b, "x.max() < 1 ∈ Bool"),
    (lambda m, x, b: x if not (x @ x) > 0.0 else b, "(x @ x) > 0.0 ∈ Bool"),
    (lambda m, x, b: TABLE < b, "TABLE ∈ ℝ^{Hidden2×Pixel3}, b ∈ ℝ^Hidden2"),
    (lambda m, x, b: TABLE @ b, "TABLE ∈ ℝ^{Hidden2×Pixel3}, b ∈ ℝ^Hidden2"),
    (lambda m, x, b: -(m.T @ x), "m.T ∈ ℝ^{Pixel3×Hidden2}, x ∈ ℝ^Pixel3"),
    (lambda m, x, b: both(b, x), "both : ℝ^Pixel3 ⊕ ℝ^Hidden2 → ℝ, b ∈ ℝ^Hidden2, x ∈ ℝ^Pixel3"),
    (lambda m, x, b: hb.select(x > 0.0, b), "x > 0.0 ∈ Bool^Pixel3, b ∈ ℝ^Hidden2"),
    (lambda m, x, b: x[b > 0.0], "x ∈ ℝ^Pixel3, b > 0.0 ∈ Bool^Hidden2"),
    (lambda m, x, b: (x * 2.0).T, "x * 2.0 ∈ ℝ^Pixel3"),
    (lambda m, x, b: hb.contract("ij,j->i", m, b), "m ∈ ℝ^{Hidden2×Pixel3}, b ∈ ℝ^Hidden2"),
    (lambda m, x, b: np.exp(x), "x ∈ ℝ^Pixel3"),
    (lambda m, x, b: x % 2.0, "x ∈ ℝ^Pixel3"),
    (lambda m, x, b: x + np.ones(3), "x ∈ ℝ^Pixel3, np.ones(3) is an array of shape (3,) and dtype float64"),
    (
        lambda m, x, b: hb.exp(x) * (hb.exp(m @ x) + hb.exp(b) + hb.exp(b * 2.0) * 3.0),
        "hb.exp(x) ∈ ℝ^Pixel3, hb.exp(m @ x) + hb.exp(b) + hb.exp(b * … ∈ ℝ^Hidden2",
    ),
]
REMEDIES: list[tuple[Callable[..., Any], str]] = [
    (lambda x: x % 2.0, "% of an expression of ℝ^Pixel3 is not defined: it has jumps; write register("),
    (lambda x: 2.0 % x, "% of an expression"),
    (lambda x: x // 2.0, "// of an expression of ℝ^Pixel3 is not defined: it has jumps"),
    (lambda x: 2.0 // x, "// of an expression"),
    (lambda x: divmod(x, 2.0), "divmod of an expression"),
    (round, "round of an expression of ℝ^Pixel3 is not defined: it has jumps"),
    (math.floor, "floor of an expression"),
    (math.ceil, "ceil of an expression"),
    (math.trunc, "trunc of an expression"),
    (range, "the whole number of an expression of ℝ^Pixel3 is not defined: a whole number is one of Python"),
    (lambda x: [1, 2][x], "the whole number of an expression"),
    (int, "the integer of an expression"),
    (complex, "the complex number of an expression of ℝ^Pixel3 is not defined: entries are real"),
    (lambda x: x ^ 2, "^ of an expression of ℝ^Pixel3 is not defined: write x ** 2.0"),
    (
        lambda x: x.__setitem__(0, 1.0),
        "a change x[k] = … of an expression of ℝ^Pixel3 is not defined: nothing is changed",
    ),
    (lambda x: x.__delitem__(0), "a change del x[k] of an expression"),
    (lambda x: 1.0 in x, "a search k in x of an expression of ℝ^Pixel3 is not defined: write (v.array == k).any()"),
    (lambda x: f"{x:.2f}", "the format '.2f' does not apply to an expression of ℝ^Pixel3"),
    (lambda x: x.sum(axis=0), ".sum(X) of an expression of ℝ^Pixel3 takes the index set of an axis, not axis=0"),
    (
        lambda x: x.mean(keepdims=True),
        ".mean(X) of an expression of ℝ^Pixel3 takes the index set of an axis, not keepdims",
    ),
    (lambda x: x.prod(), "an expression of ℝ^Pixel3 has no .prod: write x.product()"),
    (lambda x: x.nothing, "an expression of ℝ^Pixel3 has no .nothing"),
    (lambda x: x.rol(1), "an expression of ℝ^Pixel3 has no .rol; it has roll"),
    (lambda x: x.roll(1, 2, 3), ".roll() takes from 2 to 3 positional arguments but 4 were given"),
    (lambda x: hb.inner(x), "inner() missing 1 required positional argument: 'b'"),  # type: ignore[call-overload]
    (lambda x: hb.cumsum(pixel, 1, 2, 3)(x), "cumsum() takes from 1 to 2 positional arguments but 4 were given"),  # type: ignore[call-overload]
    (lambda x: hb.tanhh(x), "hilbert has no tanhh; it has tanh"),  # type: ignore[attr-defined]
    (lambda x: x(x), "an expression is not callable"),
    (lambda x: x << 2, "unsupported operand type(s) for <<: an expression and 'int'"),
    (lambda x: {x: 1}, "unhashable type: an expression"),
    (
        lambda x: hb.R**x,
        "the exponent of a copower is an index set, not an expression of ℝ^Pixel3: write R ** Fin.of(n)",
    ),
]


def message(spaces: tuple[Any, ...], body: Callable[..., Any]) -> list[str]:
    with pytest.raises(hb.SpaceError) as caught:
        hb.fun(*spaces)(body)
    return apart(caught.value).splitlines()


def test_what_runs_through_a_sequence_is_of_its_line() -> None:
    """The line that binds the sequence, where that is another one; the name of the function around a comprehension."""
    due = f"    row ∈ ℝ^Pixel3 (of line {line_of(through_a_sequence, 1)}), TABLE ∈ ℝ^{{Hidden2×Pixel3}}"
    lines = message((M, V, W), through_a_sequence)
    assert lines[1].endswith(f":{line_of(through_a_sequence, 2)} in through_a_sequence")
    assert due in lines


@pytest.mark.parametrize(("body", "name", "due"), SHOWN, ids=lambda value: getattr(value, "__name__", ""))
def test_the_expression_is_marked(body: Callable[..., Any], name: str, due: list[str]) -> None:
    """File, line and name of the function; the expression with carets, on several lines, too."""
    _, place, *shown = message((M, V, W), body)
    assert place.startswith(f"  at {__file__}:")
    assert place.endswith(f" in {name}")
    assert [line[4 if line.startswith("    ") else 2 :] for line in shown] == due


def test_what_returns_a_wrong_result() -> None:
    """Of a body, and of the step of a loop: the line that returns it, if there is one."""
    _, returned, _, place, *_ = message((M, V, W), looped)
    assert returned == f"  returned at {__file__}:{line_of(grown, 1)} in grown"
    assert place == f"  at {__file__}:{line_of(looped, 1)} in looped"

    def wrong(m: Any, x: Any, b: Any) -> Any:
        x = x + 1.0
        return 3

    def wrong_twice(m: Any, x: Any, b: Any) -> Any:
        if m is None:
            return m
        return 3

    assert message((M, V, W), wrong)[1:] == [f"  at {__file__}:{line_of(wrong, 2)} in wrong", "    return 3"]
    assert message((M, V, W), wrong_twice)[1].endswith(f":{line_of(wrong_twice, 0)} in wrong_twice")


def test_what_a_computed_function_holds_is_no_operand() -> None:
    """Of `partial(f, x)(y)` no operands are listed: x is not written there."""
    *_, last = message((V, W), lambda x, y: partial(hb.inner, x)(y))
    assert set(last.strip()) == {"^"}


def test_few_calls_are_quoted() -> None:
    """Of a recursion the last calls."""

    def deep(x: Any, n: int) -> Any:
        return deep(x, n - 1) if n else x + TABLE

    def body(m: Any, x: Any, b: Any) -> Any:
        return deep(x, 100)

    texts = message((M, V, W), body)
    assert sum("called at" in text for text in texts) <= CALLS


@pytest.mark.parametrize(("body", "due"), OPERANDS)
def test_operands_in_the_users_words(body: Callable[..., Any], due: str) -> None:
    """Each operand as it is written, with its space."""
    assert message((M, V, W), body)[-1] == f"    {due}"


def test_long_lines_are_cut_around_the_expression() -> None:
    """What is quoted is no wider than a screen, and holds what fails."""
    _, _, line, carets, operands = message((M, V, W), wide)
    assert max(len(line), len(carets)) <= COLUMNS + 6
    assert line[carets.index("^") : carets.rindex("^") + 1] == "x + b"
    assert operands == "    x ∈ ℝ^Pixel3, b ∈ ℝ^Hidden2"


def test_without_source() -> None:
    """In a session without a file the operands are printed as the library prints them."""
    scope: dict[str, Any] = {"hb": hb}
    exec("def body(x, y):\n    return x * 2.0 + y", scope)  # noqa: S102 - as a session does
    assert message((V, W), scope["body"])[1:] == [
        "  at <string>:2 in body",
        "    (the source of this line is not known)",
        "    an expression of ℝ^Pixel3, an expression of ℝ^Hidden2",
    ]


@pytest.mark.parametrize(("body", "due"), REMEDIES)
def test_what_python_would_refuse(body: Callable[..., Any], due: str) -> None:
    """Operators, attributes and calls that there are not: a SpaceError says what to write, with the place."""
    first, place, *_ = message((V,), lambda x: body(x))
    assert due in first
    assert place.startswith(f"  at {__file__}:")


def test_vectors_answer_alike() -> None:
    """Outside a trace vectors say the same; a number in a format is the number."""
    v: Any = V.ones()
    for use in (lambda: v % 2.0, lambda: math.floor(v), lambda: int(v), lambda: range(v), lambda: 1.0 in v):
        with pytest.raises(hb.SpaceError, match=r"of a vector of ℝ\^Pixel3 is not defined"):
            use()
    with pytest.raises(hb.SpaceError, match="takes the index set of an axis, not axis=0"):
        v.sum(axis=0)
    with pytest.raises(hb.SpaceError, match="write show"):
        f"{v:.2f}"
    with pytest.raises(hb.SpaceError, match="no number to round: write show"):
        round(v, 2)
    loss = hb.R.vec(2.0 / 3.0)
    assert f"{loss:.2f}" == "0.67"
    assert round(loss, 2) == 0.67
    assert f"{v}" == str(v)
    assert hb.equal(+v, v)
    assert hb.equal(hb.fun(V)(lambda x: +x)(v), v)
