"""Bad input in the body of a traced function: the message ends with the line of the body that does not fit."""

# ruff: noqa: ARG005, PLW0108, PLR0124, FURB110 - mistakes on purpose

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.numpy import exp as exp_of_jax

from diff import fold, fun, lift
from hilbert import Fin, SpaceError, direct_sum
from tests.bad_input import R32, D, L, M, R, S, V, W, f, first_line, labels, none, p, says, two, v, v32, w
from tests.message_lines import apart

BODIES: list[tuple[Any, Callable[..., Any], str]] = [
    # sums and products
    (V, lambda e: e + w, "ℝ^Pixel4 + ℝ^Hidden3: both sides must be in one space"),
    (V, lambda e: w - e, "cannot form ℝ^Hidden3 - ℝ^Pixel4: both sides must be in one space"),
    (V, lambda e: e + v32, "ℝ^Pixel4 + ℝ₃₂^Pixel4"),
    (V, lambda e: e + np.zeros(4), "+ of an expression of ℝ^Pixel4 and an array …: write const(V.vec(array))"),
    (V, lambda e: np.zeros(4) + e, "+ of an array … and an expression of ℝ^Pixel4: … write const(V.vec(array))"),
    (V, lambda e: np.zeros((4, 4)) @ e, "@ of an array of shape (4, 4) … and an expression of ℝ^Pixel4"),
    (V, lambda e: e + "a", "+ of an expression of ℝ^Pixel4 and 'a': a vector would fit"),
    (V, lambda e: e * None, "* of an expression of ℝ^Pixel4 and None"),
    (V, lambda e: e + True, "+ of an expression of ℝ^Pixel4 and True"),
    (V, lambda e: e * w, "cannot multiply ℝ^Pixel4 and ℝ^Hidden3: * is scalar times vector, or entry by entry"),
    (V, lambda e: R32.vec(1.0) * e, "ℝ × ℝ^Pixel4 → ℝ^Pixel4 does not apply to ℝ₃₂ and ℝ^Pixel4"),
    (V, lambda e: e / w, "ℝ^Pixel4 / ℝ^Hidden3"),
    (V, lambda e: (1.0 / w) * e, "cannot multiply ℝ^Hidden3 and ℝ^Pixel4"),
    (V, lambda e: e**e, "the exponent of ** is a number, not an expression of ℝ^Pixel4: pow(x, y)"),
    (V, lambda e: 2.0**e, "k ** x: k is 2.0 and x is in ℝ^Pixel4; write exp(math.log(k) * x)"),
    (V, lambda e: e @ w, "ℝ^Pixel4 @ ℝ^Hidden3: Pixel4 meets Hidden3, but the inner axes must be the same"),
    ((M, W), lambda m, e: m @ e, "ℝ^{Hidden3×Pixel4} @ ℝ^Hidden3: Pixel4 meets Hidden3…transpose the left side"),
    ((V, M), lambda e, m: e @ m, "ℝ^Pixel4 @ ℝ^{Hidden3×Pixel4}…the inner axes must be the same…b @ a"),
    (S, lambda e: e @ e, "@ is for vectors ℝ^X and matrices"),
    # parts and sums
    (V, lambda e: e.T, ".T transposes V^{X×Y}, not ℝ^Pixel4"),
    (two.dom, lambda e: e.sum(p), ".sum(Pixel4) of an expression of ℝ^Pixel4 ⊕ ℝ^Hidden3: Pixel4 is no factor"),
    (
        R ** (p * p),
        lambda e: e.sum(p),
        "2 factors of its index sets are Pixel4; say which by its position, over=0 or over=1",
    ),
    (V, lambda e: e.sum(3), ".sum(over=3) of an expression of ℝ^Pixel4: axis 3 does not exist: its axes are Pixel4"),
    (R**p, lambda e: e.sqrt(), "an expression of ℝ^Pixel4 has no .sqrt: write hb.sqrt(x)"),
    (R**none, lambda e: e.mean(), "the mean over ℝ^0 is not defined: it has no elements"),
    (R**none, lambda e: e.mean(none), "the mean over 0 is not defined: it has no elements"),
    (labels**p, lambda e: e.sum(), ".sum() needs a vector space, but Hidden3^Pixel4 has a discrete part"),
    (R, lambda e: e[0], "ℝ has no components, so v[0] does not exist: [k] takes a part of a direct sum"),
    (V, lambda e: e[4], "position 4 of a vector of ℝ^Pixel4 does not exist: Pixel4 has 4 elements, give -4 to 3"),
    (V, lambda e: e[0, 0], "v[0, 0] for v in ℝ^Pixel4 gives 2 positions: one would fit"),
    (V, lambda e: e[0.5:], "the bounds of a slice of a vector of ℝ^Pixel4 are integers, not 0.5"),
    (V, lambda e: e[::0], "the step of a slice of a vector of ℝ^Pixel4 is not 0"),
    (V, lambda e: e["a"], "takes an integer or a slice, not 'a': only Labelled index sets have labels"),
    (V, lambda e: e[np.array([0, 1])], "several positions are elements of Pixel4, v[(Elements(X) ** Y)"),
    (V, lambda e: e[e > 0.0], "not v in ℝ^Pixel4 and x in Bool^Pixel4; a condition selects by select(c, v)"),
    (M, lambda m: m[0], "A[0] for A in ℝ^{Hidden3×Pixel4} does not say along which axis: write A[0, :]"),
    (M, lambda m: m[0, 0, 0], "gives 3 positions: one for each of the 2 axes would fit"),
    (M, lambda m: list(m), "a vector of ℝ^{Hidden3×Pixel4} is not iterated…A[i, :]…lift(f, X)"),
    (R ** Fin.of(65), lambda e: list(e), "a loop over the 65 components…lift(f, X)….array"),
    (S, lambda e: e[2], "ℝ^Pixel4 ⊕ ℝ^Hidden3 has 2 parts, so position 2 does not exist: give 0 to 1"),
    (S, lambda e: e[-1], "position -1 does not exist"),
    (S, lambda e: e[True], "position True does not exist"),
    (S, lambda e: e[0:1], "position a value of type slice does not exist"),
    (
        (V, labels),
        lambda e, y: e[y],
        "v ∈ V^X and an element x of X, or one for each y ∈ Y, not v in ℝ^Pixel4 and x in Hidden3",
    ),
    (V, lambda e: e.split(), "ℝ^Pixel4 has no parts to split"),
    (R, lambda e: sum(e), "an element of ℝ has no parts and no components"),
    # what Python and numpy would do
    (V, lambda e: math.sin(e), "expression of ℝ^Pixel4 has no value while a function is traced; write hb.sin(x)"),
    (V, lambda e: math.gamma(e), "has no value while a function is traced; write register(name, value, derivative)"),
    (V, lambda e: float(e.sum()), "an expression of ℝ has no value…write x itself…and float(f(v)) of the result"),
    (R, lambda e: max(e, 0.0), "an expression of Bool has no truth value…write maximum(x, y) for the larger of two"),
    (V, lambda e: min(e[0], e[1]), "an expression of Bool has no truth value…write minimum(x, y)"),
    (
        V,
        lambda e: jnp.exp(e),
        "jnp.exp does not apply to an expression of ℝ^Pixel4: write hb.exp(x)",
    ),
    (V, lambda e: jnp.sum(e), "jnp.sum does not apply to an expression of ℝ^Pixel4: write x.sum()"),
    (V, lambda e: exp_of_jax(e), "exp_of_jax does not apply to an expression of ℝ^Pixel4: write hb.exp(x)"),
    (R ** (p * p), lambda e: jnp.linalg.inv(e), "jnp.linalg.inv does not apply to an expression of…write inverse(A)"),
    (V, lambda e: jax.vmap(lambda x: x)(e), "jax.vmap does not apply to an expression of ℝ^Pixel4: write each(f, xs)"),
    (V, lambda e: np.sin(e), "numpy's sin does not apply to an expression of ℝ^Pixel4: write hb.sin(x)"),
    (V, lambda e: np.dot(e, e), "numpy's dot does not apply to an expression of ℝ^Pixel4"),
    (V, lambda e: np.sum(e), "numpy's sum does not apply to an expression of ℝ^Pixel4"),
    (V, lambda e: np.asarray(e), "np.asarray does not apply to an expression of ℝ^Pixel4"),
    (V, lambda e: e if e else -e, "an expression of ℝ^Pixel4 has no truth value while a function is traced"),
    (V, lambda e: e if e > 0.0 else -e, "an expression of Bool^Pixel4 has no truth value"),
    (V, lambda e: e == e, "expressions of ℝ^Pixel4 are not compared by =="),
    (V, lambda e: e != v, "expressions of ℝ^Pixel4 are not compared by =="),
    # comparisons and discrete values
    (V, lambda e: e > w, "cannot form ℝ^Pixel4 > ℝ^Hidden3"),
    (V, lambda e: e <= None, "of an expression of ℝ^Pixel4 and None"),
    (labels, lambda y: D.cos(y), "applies to entries of ℝ, not of Hidden3"),
    (V, lambda e: ~e, "logical_not applies to entries of Bool, not of ℝ"),
    (V, lambda e: (e > 0.0) & e, "Bool^Pixel4 ∧ ℝ^Pixel4: both sides must be in one space"),
    (V, lambda e: (e > 0.0) & True, "logical_and of an expression of Bool^Pixel4 and True"),
    (labels, lambda y: D.sin(y), "sin applies to entries of ℝ, not of Hidden3"),
    (labels, lambda y: y + 1.0, "needs a vector space, but Hidden3 has a discrete part"),
    (V, lambda e: D.onehot(e), "onehot takes an element of an index set, not an expression of ℝ^Pixel4"),
    (labels, lambda y: D.onehot(y, V), "onehot of an element of Hidden3 is over R or R32, not over the space ℝ^Pixel4"),
    (V, lambda e: D.select(e, e), "select takes a condition and a vector, not ℝ^Pixel4 and ℝ^Pixel4"),
    ((V, W), lambda e, g: D.select(e > 0.0, g), "select by Bool^Pixel4 does not fit ℝ^Hidden3"),
    # functions
    (V, lambda e: D.maximum(e, w), "ℝ^Pixel4 max ℝ^Hidden3"),
    (V, lambda e: D.sin(e, e), "sin takes one argument, not 2"),
    (V, lambda e: two(e), "f : ℝ^Pixel4 ⊕ ℝ^Hidden3 → ℝ to an expression of ℝ^Pixel4"),
    (V, lambda e: two(w, e), "f : ℝ^Pixel4 ⊕ ℝ^Hidden3 → ℝ to an expression of ℝ^Hidden3 ⊕ ℝ^Pixel4"),
    (V, lambda e: f(np.zeros(4), e), "of an expression of ℝ^Pixel4 and an array …: write const(V.vec(array))"),
    (V, lambda e: D.inner(e, w), "ℝ^Pixel4 ⊙ ℝ^Hidden3: both sides must be in one space"),
    (V, lambda e: D.outer(e, 3), "outer of an expression of ℝ^Pixel4 and 3: a vector would fit"),
    (V, lambda e: D.contract("ij,j->i", e, v), "ij,j->i: ℝ^Pixel4 has 1 axes where ij needs 2"),
    (V, lambda e: D.contract("i,i->", e, w), "label i is both Pixel4 and Hidden3"),
    (V, lambda e: D.contract("i,i->", e, v, to=V), "ℝ^Pixel4 and ℝ^Pixel4 is in ℝ, not in ℝ^Pixel4"),
    (V, lambda e: D.contract("i,i->", e, v, to=3), "contraction i,i-> takes a space, not 3"),
    (V, lambda e: D.contract("i,i->", e, v32), "ℝ^Pixel4 and ℝ₃₂^Pixel4: the operands have no field in common"),
    (V, lambda e: D.const(3) + e, "const takes a vector, not 3"),
    (V, lambda e: D.fun(W)(lambda g: e), "the body returns an expression of ℝ^Pixel4 of another function"),
    (V, lambda e: D.fun(V)(lambda g: g + e)(e), "+ of expressions of two functions"),
    # what a body returns
    (V, lambda e: None, "returns expressions, not None: write a `return`, which is missing"),
    (V, lambda e: 1.0, "returns expressions, not 1.0"),
    (V, lambda e: (e, 1.0), "returns expressions, not 1.0"),
    (V, lambda e: v, "returns expressions, not a vector of ℝ^Pixel4"),
    (V, lambda e: f, "returns expressions, not a map ℝ^Pixel4 → ℝ^Pixel4"),
    (V, lambda e: {"a": e}, "returns expressions, not a value of type dict: write a tuple, or made(P, entry("),
]


@pytest.mark.parametrize(("spaces", "body", "message"), BODIES)
def test_the_message_ends_with_the_users_line(spaces: Any, body: Callable[..., Any], message: str) -> None:
    """What does not fit in a traced function is reported with the line that says it."""
    with pytest.raises(SpaceError) as caught:
        D.fun(*(spaces if isinstance(spaces, tuple) else (spaces,)))(body)
    text = str(caught.value)
    assert says(message, first_line(caught.value)), text
    line = body.__code__.co_firstlineno
    source = Path(__file__).read_text(encoding="utf-8").splitlines()[line - 1].strip()
    assert f"\n  at {__file__}:{line}\n" in text
    assert source[: source.find("says")][:90].strip() in text


def test_the_line_is_the_one_inside_the_body() -> None:
    """Of a body of many lines, the line that does not fit; a tracing that failed leaves nothing behind."""

    def body(m: Any, e: Any) -> Any:
        u = D.tanh(m @ e)
        return u + e

    with pytest.raises(SpaceError) as caught:
        D.fun(M, V)(body)
    line = body.__code__.co_firstlineno + 2
    assert str(caught.value).splitlines()[1:] == [
        f"  at {__file__}:{line} in body",
        "    return u + e",
        f"           ^^^^^  u ∈ ℝ^Hidden3 (of line {line - 1}), e ∈ ℝ^Pixel4",
    ]
    assert D.const(v) is v  # nothing is traced


def refusal(body: Callable[..., Any], *spaces: Any) -> tuple[str, int]:
    """What is said of a body, and its first line."""
    with pytest.raises(SpaceError) as caught:
        D.fun(*spaces)(body)
    return apart(caught.value), body.__code__.co_firstlineno


def test_what_a_loop_begins_with_is_of_its_line() -> None:
    """The state is of the line that makes the first one, also in a loop in a loop; so is what is gone through."""

    def body(m: Any, e: Any) -> Any:
        start = (D.tanh(e), D.sin(e))
        return D.iterate(lambda s: D.iterate(lambda t: (m @ t[0], m @ t[1]), s, p), start, p)[0]

    text, line = refusal(body, R ** (p * p), W)
    assert f"    m ∈ ℝ^{{Pixel4×Pixel4}}, t[0] ∈ ℝ^Hidden3 (of line {line + 1})" in text

    def every(m: Any, e: Any) -> Any:
        rows = D.tanh(m)
        return D.each(lambda row: row + e, rows)

    text, line = refusal(every, V**labels.index, W)
    assert f"    row ∈ ℝ^Pixel4 (of line {line + 1}), e ∈ ℝ^Hidden3" in text


def test_a_state_of_another_space() -> None:
    """A tuple in a state: where it differs first, and the lines that made what stands beside that."""

    def body(e: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            (a, b), c = state
            pair = D.sin(a), (b, x)
            other = c + c
            return (pair, other), x

        return D.fold(step, ((e, e), e), e)[1]

    text, line = refusal(body, M)
    assert text.startswith(
        "at [0][1] (ℝ^{Hidden3×Pixel4}, ℝ), not ℝ^{Hidden3×Pixel4}: the step of fold takes a state in"
    )
    assert f"  returned at {__file__}:{line + 5} in step\n" in text
    assert f"\n  a part of it made at {__file__}:{line + 3} in step\n" in text
    assert f":{line + 4}" not in text


def _entry(e: Any) -> Any:
    out = np.zeros(2)
    out[0] = e[0]
    return out


def _added_entry(e: Any) -> Any:
    out = np.zeros(2)
    out[0] += e[0]
    return out


def _row(e: Any) -> Any:
    out = np.zeros((2, 4))
    out[0, :] = e
    return out


@pytest.mark.parametrize(("body", "what"), [(_entry, "ℝ has no value"), (_added_entry, "ℝ has no"), (_row, "ℝ^Pixel4")])
def test_what_is_written_into_arrays_of_numpy(body: Any, what: str) -> None:
    """It is refused at its line, and the message says how numbers and vectors are put together; that works."""
    text, line = refusal(body, V)
    assert text.startswith(f"an expression of {what}")
    assert "nothing is written into numpy's arrays: put numbers together by stack(X)(a, b)" in text
    assert f"\n  at {__file__}:{line + 2} in {body.__name__}\n" in text
    X = Fin.of(2)
    entries = D.fun(V)(lambda e: L.stack(X)(e[0], e[1]))
    rows = D.fun(V)(lambda e: L.stack(X, V)(e, e))
    assert entries(v).array.tolist() == [1.0, 2.0]
    assert rows(v).array.tolist() == [[1.0, 2.0, 3.0, 4.0]] * 2


def test_what_is_written_in_the_step_of_a_loop() -> None:
    """It is refused in a loop on vectors and in one in a traced function, there at the line of the step."""
    with pytest.raises(SpaceError, match="nothing is written into numpy's arrays"):
        fold(lambda s, _: _entry(s), v, v)
    text, _ = refusal(lambda e: fold(lambda s, _: _entry(s), e, e), V)
    assert "nothing is written into numpy's arrays" in text
    assert "in _entry\n    out[0] = e[0]\n    ^^^^^^\n" in text


def test_other_errors_of_stores_are_numpys() -> None:
    """A sequence that an array does not hold."""

    def body(e: Any) -> Any:
        out = np.zeros(2)
        out[0] = [1.0, 2.0]
        return e

    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        D.fun(V)(body)


def test_what_is_no_expression_is_of_its_line() -> None:
    """Python's own message of an attribute that an index set has not says what the name stands for."""

    def body(e: Any) -> Any:
        axes = [p, p]
        return e @ next(axis.T for axis in axes)

    text, line = refusal(body, V)
    assert text.startswith(f"'Fin' object has no attribute 'T'\n  at {__file__}:{line + 2}")
    assert f"\n    axis is the index set Pixel4 (of line {line + 1})" in text


def _if(e: Any) -> Any:
    if e.sum() > 0.0:
        return e
    return -e


def _if_array(e: Any) -> Any:
    if e > 0.0:
        return e
    return -e


def _if_and(e: Any) -> Any:
    if e.sum() > 0.0 and e.sum() < 1.0:
        return e
    return -e


def _while(e: Any) -> Any:
    while e.sum() > 1.0:
        e = e / 2.0
    return e


def _while_not(e: Any) -> Any:
    while not e.sum() < 1.0:
        e = e / 2.0
    return e


def _assert(e: Any) -> Any:
    assert e.sum() > 0.0
    return e


def _between(e: Any) -> Any:
    return e if 0.0 < e.sum() < 1.0 else -e


def _a_number(e: Any) -> Any:
    return e if e.sum() else -e


def _searched(e: Any) -> Any:
    return next(1.0 for _ in range(2) if e.sum() > 0.0) * e


IF = "where(c, lambda: x, lambda: y) for an `if`"
WHILE = "while_(lambda s: c, step, start, at_most=X) for a `while`"
TRUTHS: list[tuple[Any, str]] = [
    (_if, IF),
    (_if_array, "where(c, x, y) for an `if` in each entry, or each(f, xs) with the `if` in f as a where"),
    (_if_and, f"c & d for `c and d`, {IF}"),
    (_while, WHILE),
    (_while_not, f"~c for `not c`, {WHILE}"),
    (_assert, "the `assert` of a value, f(v), outside the function"),
    (_between, f"(a < x) & (x < b) for `a < x < b`, {IF}"),
    (_a_number, f"x > 0.0 or another condition, {IF}"),
    (_searched, f"{IF}, {WHILE}, c & d for `c and d`, c | d for `c or d`, ~c for `not c`"),
    (lambda e: D.where(e.sum() > 0.0 and e.sum() < 1.0, lambda: e, lambda: -e), "c & d for `c and d`"),
    (lambda e: D.where(e.sum() > 0.0 or e.sum() < 1.0, lambda: e, lambda: -e), "c | d for `c or d`"),
    (lambda e: D.where(not e.sum() > 0.0, lambda: e, lambda: -e), "~c for `not c`"),
    (lambda e: e.cast(R) if bool(e > 0.0) else e, "c itself, it is a condition already"),
]


@pytest.mark.parametrize(("body", "remedy"), TRUTHS, ids=range(len(TRUTHS)))
def test_what_pythons_own_conditions_are_here(body: Any, remedy: str) -> None:
    """The remedy is that of the user's word: if, while, and, or, not, assert, max; for a list of words, all."""
    text, _ = refusal(body, V)
    assert text.splitlines()[0].partition("has no truth value while a function is traced; write ")[2] == remedy


def test_names_for_parts_and_components() -> None:
    """Another number of names than parts, components or items of a state: what it has, at the line."""
    V, pair = R ** Fin.of(3), direct_sum(R, R)
    rows = V ** Fin.of(5)

    def components(v: Any) -> Any:
        a, b = v
        return a + b

    def parts(s: Any) -> Any:
        a, b, c = s
        return a + b + c

    def state(v: Any, xs: Any) -> Any:
        def step(s: Any, x: Any) -> Any:
            a, b, c = s
            return a + x, b * c

        return fold(step, (v, v), xs)

    for body, spaces, due in (
        (components, (V,), "an expression of ℝ^3 has 3 components, and 2 names are given for them"),
        (parts, (pair,), "an expression of ℝ ⊕ ℝ has 2 parts, and 3 names are given for them"),
        (state, (V, rows), "s is a tuple of 2, (ℝ^3, ℝ^3), and 3 names are given for it"),
    ):
        with pytest.raises(SpaceError) as caught:
            fun(*spaces)(body)
        first, place, line, *_ = str(caught.value).splitlines()
        assert first == due
        assert f"{__file__}:" in place
        assert "= v" in line or "= s" in line
    with pytest.raises(SpaceError, match="a vector of ℝ ⊕ ℝ has 2 parts, and 3 names"):
        _, _, _ = pair.zeros()
    with pytest.raises(ValueError, match="not enough values to unpack"):  # a list of the user's own
        fun(V)(lambda v: v * next(a for a, b in [[1.0]]))
    first, *others = V.ones()
    assert len(others) == 2


def test_arguments_that_fit_otherwise() -> None:
    """In another order, or each of their elements: the message says how to write that, and that works."""
    X, V = Fin.of(3), R ** Fin.of(2)
    f: Any = fun(R, V)(lambda k, v: k * v.sum())
    for args, due in (
        ((V, R), "the arguments 2, 1, in this order, would fit"),
        ((R, V**X), "f for each element of 3 is lift(f, X, over=(1,))"),
        ((R, R ** (X * Fin.of(2))), "f for each element of 3 is lift(f, X, over=(1,))"),
        ((R**X, V**X), "f for each element of 3 is lift(f, X, over=(0, 1))"),
    ):
        with pytest.raises(SpaceError) as caught:
            fun(*args)(f)
        assert str(caught.value).splitlines()[0].endswith(f"; {due}")
    whole: Any = lift(f, X, over=(1,))
    assert fun(R, V**X)(whole)(R.vec(2.0), (V**X).ones()).array.tolist() == [4.0, 4.0, 4.0]
    with pytest.raises(SpaceError, match=r"; f for each element of 3 is lift\(f, X, over=\(1,\)\)"):
        f(R.vec(2.0), (V**X).ones())


def test_conditions_without_source() -> None:
    """Where nobody knows the line, all words are named."""
    with pytest.raises(SpaceError, match="write where") as caught:
        eval("fun(V)(lambda e: e if e.sum() > 0.0 else -e)", {"fun": D.fun, "V": V})  # noqa: S307 - no source
    assert first_line(caught.value).endswith(f"{IF}, {WHILE}, c & d for `c and d`, c | d for `c or d`, ~c for `not c`")


def test_a_library_that_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function in C, as those of torch, leaves no frame: it is named by the user's words."""
    other = types.ModuleType("other")
    other.__file__ = str(Path(jax.__file__))
    other.exp = bytes.fromhex  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "other", other)
    text, _ = refusal(lambda e: other.exp(e), V)
    assert text.startswith("other.exp does not apply to an expression of ℝ^Pixel4: write hb.exp(x)")
    text, _ = refusal(lambda e: other.exp(2.0 * e), V)
    assert text.startswith("other.exp does not apply to an expression: write")
    with pytest.raises(TypeError, match="takes exactly one argument"):
        D.fun(V)(lambda e: other.exp(e, e))


def test_a_body_inside_a_body() -> None:
    """Both lines are named, the inner one first."""

    def inner(e: Any) -> Any:
        return e + w

    def outer(e: Any) -> Any:
        return D.fun(V)(inner)(e)

    with pytest.raises(
        SpaceError, match=r"(?s) in inner\n    return e \+ w\n .* in outer\n    return D\.fun\(V\)\(inner\)\(e\)\n"
    ):
        D.fun(V)(outer)


def test_other_errors_of_a_body_are_its_own() -> None:
    """An exception that is not about spaces passes unchanged."""
    with pytest.raises(ZeroDivisionError):
        D.fun(V)(lambda e: e * (1 / 0))
    with pytest.raises(AttributeError, match="'dict' object has no attribute 'colour'"):
        D.fun(V)(lambda e: {}.colour)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="can only concatenate str"):
        D.fun(V)(lambda e: "a" + 1)  # type: ignore[operator]
