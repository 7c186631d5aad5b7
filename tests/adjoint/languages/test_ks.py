"""What the notes and their language say, construct by construct."""

import math
import re
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjoint import grad
from adjoint.languages import Loaded, Source
from adjoint.languages import load as load_file
from adjoint.languages.ks import load as load_text
from adjoint.languages.ks.builtin import linear_primitives as linear
from adjoint.languages.ks.run import function_maps as maps
from adjoint.languages.ks.run import probe
from adjoint.languages.ks.run.evaluate import KsEvaluator
from adjoint.languages.ks.run.ks_functions import KsFunction
from adjoint.languages.ks.text.function_names import Callee, Written
from adjoint.languages.ks.text.text_scope import read as read_scope
from adjoint.languages.ks.value import convert
from adjoint.languages.ks.value.convert import arguments_of
from adjoint.languages.ks.value.ks_values import leaves_of, tangent
from adjoint.languages.ks.value.value_syntax import plain
from diff import fun, program
from diff.higher import TermError
from docs.examples import gmm
from hilbert import Fin, Labelled, R, SpaceError
from hilbert.program.line.builder import Builder
from tests.ks_programs import PROGRAMS, A


def read(text: str, **options: Any) -> Loaded:
    return load_text([Source("t.ks", text)], **options)


def run(text: str, expression: str) -> str:
    return read(text).expression(expression)


def refused(text: str) -> TermError:
    with pytest.raises(TermError) as caught:
        read(text)
    assert caught.value.place is not None
    return caught.value


def function(text: str, name: str = "f") -> KsFunction:
    found = read(text).functions[name]
    assert isinstance(found, KsFunction)
    return found


NAMES = [f"{k} {body[:60]}" for k, (body, _, _) in enumerate(PROGRAMS)]


def as_python(value: Any) -> Any:
    """Arrays as lists, numpy's numbers as Python's."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return type(value)(map(as_python, value))
    return value.item() if isinstance(value, np.generic) else value


def as_numpy(value: Any) -> Any:
    """A list of numbers as an array, where it is one."""
    if not isinstance(value, list):
        return value
    try:
        return np.array(value) if not any(isinstance(x, tuple) for x in value) else value
    except ValueError:  # of rows of unequal lengths
        return value


def require_close(found: Any, due: Any) -> None:
    if isinstance(due, (tuple, list)):
        assert type(found) is type(due)
        assert len(found) == len(due)
        for x, y in zip(found, due, strict=True):
            require_close(x, y)
    else:
        assert type(found) is type(due)
        assert found == pytest.approx(due, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("body", "oracle", "points"), PROGRAMS, ids=NAMES)
def test_value(body: str, oracle: Callable[..., Any] | None, points: list[list[Any]]) -> None:
    """The value is that of numpy."""
    f = function(f"(def f {body})")
    for args in points:
        value = f.value(args)
        if oracle is not None:
            require_close(value, as_python(oracle(*map(as_numpy, args))))


@pytest.mark.parametrize(("body", "points"), [(body, points) for body, _, points in PROGRAMS], ids=NAMES)
def test_derivatives(body: str, points: list[list[Any]]) -> None:
    """fwd against differences; rev, sufrev, the two passes and D against fwd."""
    f = function(f"(def f {body})")
    for args in points:
        assert not f.verified(args)
        x = arguments_of(f.callee.arg, args)
        ev = KsEvaluator(f.linked)
        rng = np.random.default_rng(1)
        y, record = maps.call(f.linked, derived(f, "suffwdpass"), x, ev)
        dy = drawn(y, rng)
        dx = drawn(x, rng)
        assert plain(y) == plain(maps.call(f.linked, f.callee, x, ev))
        back = maps.call(f.linked, derived(f, "sufrevpass"), (dy, record), ev)
        m = maps.call(f.linked, derived(f, "D"), x, ev)
        assert plain(back) == plain(m.transposed(dy))
        forward, backward = linear.dot(m.apply(dx), dy), linear.dot(back, dx)
        assert float(forward.array) == pytest.approx(float(backward.array), rel=1e-12, abs=1e-12)


def drawn(value: Any, rng: np.random.Generator) -> Any:
    """A tangent at a value."""
    return tangent(lambda v: v.space.vec(rng.standard_normal(v.array.shape)), value)


def derived(f: KsFunction, derivation: str) -> Callee:
    """[d f]."""
    return f.linked.scope.named(Written((derivation,), f.callee.base, f.callee.of), f.callee.of, f.place)


SECOND = [(body, points) for body, _, points in PROGRAMS if leaves_of(arguments_of(
    function(f"(def f {body})").callee.arg, points[0])) and "buildFromSparse" not in body]  # fmt: skip


@pytest.mark.parametrize(("body", "points"), SECOND, ids=[body[:60] for body, _ in SECOND])
def test_second_derivatives(body: str, points: list[list[Any]]) -> None:
    """[fwd [rev f]] against differences of [rev f], and [rev [rev f]] against it."""
    loaded = read(f"(def f {body})")
    f, back = loaded.functions["f"], loaded.functions["[rev f]"]
    assert isinstance(f, KsFunction)
    assert isinstance(back, KsFunction)
    for args in points:
        x = arguments_of(f.callee.arg, args)
        y = maps.call(f.linked, f.callee, x, KsEvaluator(f.linked))
        rng = np.random.default_rng(2)
        dy = drawn(y, rng)
        assert not back.verified([(plain(x), plain(dy))])


def test_truth_values_at_another_index() -> None:
    """A vector of conditions on reals, read at an index that is not the one that it was built with."""
    f = function(
        "(def f Float (v : Vec Float) (let (c (map (lam (x : Float) (gt x 0.0)) v)) (sum (build 3"
        " (lam (i : Integer) (if (index (sub 2 i) c) (index i v) (mul 2.0 (index i v))))))))",
        "f",
    )
    assert f.value([[1.0, -2.0, 3.5]]) == 0.5
    assert f.differential([[1.0, -2.0, -3.5]], None, reverse=True) == [2.0, 2.0, 1.0]


def test_truth_values_that_are_found_one_by_one() -> None:
    """A vector of conditions that a recursion decides."""
    text = "(def r Float (x : Float) (if (gt x 8.0) x (r (mul 2.0 x)))) (def f Float (v : Vec Float)"
    text += " (let (c (map (lam (x : Float) (gt (r x) 10.0)) v))"
    body = "(if (index i c) (index i v) (mul 3.0 (index i v)))"
    f = function(f"{text} (sum (build (size v) (lam (i : Integer) {body})))))")
    assert as_python(f.differential([[1.5, 5.0, 1.0]], None, reverse=True)) == [1.0, 3.0, 1.0]


def test_branches_of_different_lengths_without_reals() -> None:
    """A condition that decides the length of a vector of nothing, beside a real, is decided element by element."""
    nothing = "(tuple (index i v) (build {} (lam (j : Integer) (tuple))))"
    f = function(
        "(def f (Vec Float) (v : Vec Float) (build (size v) (lam (i : Integer)"
        f" (let ((x n) (if (lt i 1) {nothing.format(2)} {nothing.format(3)})) (mul x (to_float (size n)))))))",
        "f",
    )
    assert f.value([[1.0, -2.0, 3.5]]) == [2.0, -6.0, 10.5]


def test_growing_fold() -> None:
    """A state that changes its shape: (x₁, …) ↦ what the definition says, round by round."""
    (program,) = [text for text, *_ in PROGRAMS if "(build (add 1 (size a))" in text]
    f = function(f"(def f {program})")
    state = [1.0]
    for x in A:
        state = [x, *(x * s for s in state)]
    assert f.value([A]) == state


def test_lgamma_of_all_orders() -> None:
    """ψ, ψ′, …: five derivatives, and no sixth."""
    special: Any = pytest.importorskip("scipy.special")
    f: Any = load_text([Source("t.ks", "(def f Float (x : Float) (lgamma x))")]).functions["f"]
    g: Any = f.of(R)
    for n in range(5):
        g = grad(g)
        assert float(g(R.vec(2.5))) == pytest.approx(special.polygamma(n, 2.5), rel=1e-12)
    with pytest.raises(SpaceError, match="has no derivative"):
        grad(g)


def test_lgamma() -> None:
    """lgamma has derivatives (the originals' has none): ψ(1) = −γ, ψ′(1) = π²/6."""
    assert run("", "([rev [lgamma Float]] 1.0 1.0)") == run("", "(digamma 1.0)")
    assert float(run("", "(digamma 1.0)")) == pytest.approx(-0.57721566490153286, rel=1e-14)
    assert float(run("", "([fwd [digamma Float]] 1.0 1.0)")) == pytest.approx(math.pi**2 / 6, rel=1e-13)
    assert float(run("", "(digamma -0.5)")) == pytest.approx(0.03648997397857652, rel=1e-11)
    assert run("", "(digamma -2.0)") == "nan"


# --- lexical, grammar, types ---


def test_words() -> None:
    """Comments, strings, signs, names of any letters."""
    text = """; a comment
#| nested #| comments |# |#
(def f' Float (x|y~ : Float) (add x|y~ -1e-3)) ; the end
(def g String () "a \\"b\\"\n;")
"""
    assert run(text, "(f' 2.)") == "1.999"
    assert run(text, "(g)") == '"a \\"b\\"\\n;"'
    assert run("", "(tuple true -7 1e3)") == "(true, -7, 1000.0)"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("(let (x 1) (let (x (add x 1)) x))", "2"),
        ("(let ((x 1) (y (add x 1))) y)", "2"),
        ("(let ((a b) (tuple 1 2)) (sub a b))", "-1"),
        ("(let (p (tuple 1 2)) (let ((a b) p) b))", "2"),
        ("(let ((y 3) (z y)) z)", "3"),
        ("(get$2$3 (tuple 1 2.0 true))", "2.0"),
        ("((lam (x : Integer) (mul x x)) 3)", "9"),
        ("(tuple)", "()"),
        ("(tuple 5)", "5"),
        ("(add (tuple 1 2))", "3"),
        ("(build 2 (lam (i : Integer) (tuple i \"a\")))", '[(0, "a"), (1, "a")]'),
        ("(if (lt 1 2) 1 (div 1 0))", "1"),
        ("(or true (eq (div 1 1) 1))", "true"),
        ("($dummy (Tuple Float Integer))", "(0.0, 0)"),
        ("(shape (tuple 1.0 (Vec_init 1.0 2.0) (build 2 (lam (i : Integer) (constVec i 1.0)))))", "((), 2, [0, 1])"),
        ("([shape f] (Vec_init 1.0 2.0))", "2"),
        ("([CL f] (Vec_init 1.0 2.0))", "[2.0, 4.0]"),
        ("(ne (Vec_init 1.0 2.0) (Vec_init 1.0 3.0))", "true"),
        ("(eq \"a\" \"a\")", "true"),
        ("(sum (build 4 (lam (i : Integer) (mul i i))))", "14"),
        ("(sum (build 0 (lam (i : Integer) 1.0)))", "0.0"),
        ("(index 1 (index 2 (build 3 (lam (i : Integer) (build 2 (lam (j : Integer) (add i (mul 10 j))))))))", "12"),
        ("(div -7 2)", "-3"),
        ("(div 7 -2)", "-3"),
        ("(build 4 (lam (i : Integer) (div (sub (mul 3 i) 5) 2)))", "[-2, -1, 0, 2]"),
        ("(build 4 (lam (i : Integer) (div (sub (mul 3 i) 5) -2)))", "[2, 1, 0, -2]"),
        (
            "(build 2 (lam (i : Integer) (div (sub -9223372036854775807 i) 2)))",
            "[-4611686018427387903, -4611686018427387904]",
        ),
        ("(sub (mul 3037000499 3037000499) 1)", "9223372030926249000"),
        ("(div 1.0 0.0)", "inf"),
        ("(lt ($ranhashdoub 3) 1.0)", "true"),
        ("(fold (lam ((s : Float) (e : Tuple Integer Float)) (if (eq (get$1$2 e) 1) (add s (get$2$2 e)) s)) 0.0 (build 3 (lam (i : Integer) (tuple i (to_float i)))))", "1.0"),  # noqa: E501
        ("(build 2 (lam (i : Integer) (index 0 (if (eq i 0) (Vec_init 3 4) (build 2 (lam (j : Integer) (add i j)))))))", "[3, 1]"),  # noqa: E501
        ("(tuple (constVec 0 \"a\") (constVec (tuple 0 2) 1) (constVec 2 (constVec 0 true)))", "([], [], [[], []])"),
        ("(constVec 2 (build 3 (lam (i : Integer) (constVec i 1.0))))", "[[[], [1.0], [1.0, 1.0]], [[], [1.0], [1.0, 1.0]]]"),  # noqa: E501
        ("(constVec (tuple 1 2) 1.5)", "[[1.5, 1.5]]"),
        ("(constVec 2 (Vec_init 1 2 3))", "[[1, 2, 3], [1, 2, 3]]"),
        ("(build 3 (lam (i : Integer) (index 1 (build 2 (lam (j : Integer) (add i (mul 2 j)))))))", "[2, 3, 4]"),
        ("(constVec (tuple 1 2) (tuple \"a\" 1.0))", '[[("a", 1.0), ("a", 1.0)]]'),
        ("(build 2 (lam (i : Integer) (if (eq i 0) (Vec_init 3) (Vec_init i))))", "[[3], [1]]"),
        ("(build 2 (lam (i : Integer) (build 3 (lam (j : Integer) (mul 2 i)))))", "[[0, 0, 0], [2, 2, 2]]"),
        ("(build 2 (lam (i : Integer) (build 2 (lam (j : Integer) (if (eq i 0) j i)))))", "[[0, 1], [1, 1]]"),
        ("(build 2 (lam (i : Integer) (if (eq i 0) \"a\" \"b\")))", '["a", "b"]'),
        ("(build 2 (lam (i : Integer) ((if (eq i 0) (lam (x : Float) (neg x)) (lam (x : Float) (exp x))) 0.0)))", "[-0.0, 1.0]"),  # noqa: E501
        ("(map (lam (x : Float) (if (gt x 0.0) 1 2)) (Vec_init 1.0 -1.0))", "[1, 2]"),
        ("(map (lam (x : Float) (mul (to_float (if (gt x 0.0) 1 2)) x)) (Vec_init 1.0 -1.0))", "[1.0, -2.0]"),
        ("(fold (lam (t : Tuple Integer Integer) (add (mul 10 (get$1$2 t)) (get$2$2 t))) 0 (Vec_init 1 2 3))", "123"),
        ("(lmApply (lmFold (lam (t : Tuple Float Float) (mul (get$1$2 t) (get$2$2 t))) (lam (t : Tuple Float Float) (lmCompose (lmHCat (lmScale 1.0 (get$2$2 t)) (lmScale 1.0 (get$1$2 t))) (lmHCat (lmZero 0.0 t) (lmOne t)))) 1.0 (Vec_init 2.0 3.0)) (tuple 0.0 (tuple 0.0 (Vec_init 1.0 1.0))))", "5.0"),  # noqa: E501
        ("(RFold (lam (t : Tuple Float Float) (mul (get$1$2 t) (get$2$2 t))) (lam (t : Tuple (Tuple Float Float) Float) (let ((p dr) t) (let ((a b) p) (tuple 0.0 (tuple (mul b dr) (mul a dr)))))) 1.0 (Vec_init 2.0 3.0) 1.0)", "(0.0, (6.0, [3.0, 2.0]))"),  # noqa: E501
        ("(FFold (lam (t : Tuple Float Float) (mul (get$1$2 t) (get$2$2 t))) 1.0 (Vec_init 2.0 3.0) (lam (t : Tuple (Tuple Float Float) (Tuple Float Float)) (let ((p d) t) (add (mul (get$1$2 d) (get$2$2 p)) (mul (get$1$2 p) (get$2$2 d))))) 0.0 (Vec_init 1.0 0.0))", "3.0"),  # noqa: E501
    ],
)  # fmt: skip
def test_expression(expression: str, value: str) -> None:
    """What an expression is."""
    assert run("(def f (Vec Float) (v : Vec Float) (mul 2.0 v))", expression) == value


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("(def f Float (x : Float) y)", (1, 26), "y is not defined here"),
        ("(def f Float (x : Float) (sinn x))", (1, 27), "sinn is not defined before this place; near: sin"),
        ("(def f Float (x : Float) (add x 1))", (1, 27), "add takes"),
        ("(def f Float (x : Float) 1)", (1, 26), "the body must be of type Float, not Integer"),
        ("(def f Float (x : Float) (if x 1.0 2.0))", (1, 30), "a condition must be of type Bool, not Float"),
        ("(def f Float (x : Float) (if true 1.0 2))", (1, 39), "the branches have types Float and Integer"),
        ("(def f Float (x : Float) (get$3$2 x))", (1, 27), "get$3$2 is no selection"),
        ("(def f Float (x : Float) (get$1$2 x))", (1, 27), "get$1$2 takes a tuple of 2, not Float"),
        ("(def f Float (x : Flot) x)", (1, 19), "'Flot' is no type: did you mean Float?"),
        ("(def f Float (x : Float) x)\n(def f Float (y : Float) y)", (2, 6), "f on Float is defined twice"),
        ("(def f Float (x : Float) (g x))\n(def g Float (x : Float) x)", (1, 27), "g is not defined before"),
        ("(gdef rev [f Float])", (1, 11), "f is not defined before this place"),
        ("(def f Float (x : Float) (x x))", (1, 26), "a value of type Float is applied"),
        ("(def f Float (x : Float) sin)", (1, 26), "sin is a function, and no value"),
        ("(def f Float ((x : Float) (x : Float)) x)", (1, 28), "two parameters are named x"),
        ("(def add Float ((x : Float) (y : Float)) x)", (1, 6), "add on (Tuple Float Float) is in the prelude"),
        ("(def build Float (x : Float) x)", (1, 6), "build is built in"),
        ("(def f Float (x : Float) (let (x) x))", (1, 32), "expected a binding"),
        ("(def f (Tensor 0 Float) (x : Float) x)", (1, 16), "the order of a tensor is an integer from 1"),
        ("(def f Float (x : Float) x", (1, 1), "this bracket does not end"),
        ("(def f Float (x : Float) x))", (1, 28), "this ) closes nothing"),
        ("(def f Float (x : Float) x]", (1, 27), "expected )"),
        ("(def f Float (x : Float) 9223372036854775808)", (1, 26), "9223372036854775808… does not fit"),
        ('(def f Float (x : Float) "abc)', (1, 26), "this text does not end"),
        ("(def f Float (x : Float) 1.0x)", (1, 26), "no word begins with"),
        ("(def f Float (x : Float) ([rev f] x))", (1, 27), "which f is [rev f] derived from?"),
        ("(def f Float (x : Float) ([rev f] x 1))", (1, 27), "[rev f] takes (Tuple Float Float), not"),
        ("(def [rev sin] Float (x : Float) x)", (1, 6), "which sin is [rev sin] derived from?"),
        ("(def [rev sin] Float ((x : Float) (d : Integer)) x)", (1, 6), "[rev sin] is of type (Tuple Float Float)"),
        ("(foo)", (1, 1), "expected a definition"),
    ],
)  # fmt: skip
def test_refused(text: str, place: tuple[int, int], message: str) -> None:
    """The first mistake, where it stands."""
    error = refused(text)
    assert (error.place.line, error.place.column) == place  # type: ignore[union-attr]  # as was seen in `refused`
    assert error.message.startswith(message)


ROWS = "(lmVCatV (build {} (lam (i : Integer) (lmVCatV (build (add i 1) (lam (j : Integer) (lmOne 1.0)))))))"


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("(add 9223372036854775807 1)", 1, "this integer does not fit into 64 bits"),
        ("(div 1 0)", 1, "an integer is divided by zero"),
        ("(index 2 (Vec_init 1.0 2.0))", 1, "index 2 of 2 elements"),
        ("(index -1 (Vec_init 1.0 2.0))", 1, "index -1 of 2 elements"),
        ("(build 3 (lam (i : Integer) (index i (Vec_init 1.0 2.0))))", 29, "index 2 of 2 elements"),
        ("(div (sub -9223372036854775807 1) -1)", 1, "this integer does not fit into 64 bits"),
        (
            "(build 2 (lam (i : Integer) (div (sub -9223372036854775807 i) -1)))",
            29,
            "this integer does not fit into 64 bits",
        ),
        ("(build 3 (lam (i : Integer) (div 6 i)))", 29, "an integer is divided by zero"),
        ("(assert (gt 1 2) 1.0)", 1, "the assertion does not hold"),
        ("(map (lam (x : Float) (assert (gt x 1.0) (log x))) (Vec_init 2.0 1.0))", 23, "the assertion does not hold"),
        ("(add (Vec_init 1.0) (Vec_init 1.0 2.0))", 1, "tensors of 1 and 2 elements: one size is due"),
        ("(build -1 (lam (i : Integer) 1.0))", 1, "a size is not negative"),
        ("(sum (build 1000000000 (lam (i : Integer) 1.0)))", 6, "a tensor of 1000000000 elements, more than 100000000"),
        ("(sum (constVec 1000000000 1.0))", 6, "a tensor of 1000000000 elements, more than 100000000"),
        ("(sum (constVec (tuple 100000 100000) 1.0))", 6, "a tensor of 10000000000 elements"),
        ("(sum (deltaVec 1000000000 3 1.0))", 6, "a tensor of 1000000000 elements"),
        (
            "(build 100000 (lam (i : Integer) (sum (build 100000 (lam (j : Integer) (add i j))))))",
            72,
            "a tensor of 10000000000 elements, more than 100000000",
        ),
        (
            "(buildFromSparse 10000000 1 (lam (i : Integer) (tuple i 1.0)))",
            1,
            "a tensor of 10000000 elements, more than 1000000",
        ),
        (f"(lmApply (lmAdd {ROWS.format(2)} {ROWS.format(1)}) 1.0)", 1, "tensors of 2 and 1 elements: one size is due"),
        (
            "(lmApply (lmTranspose (lmVCatV (build 2 (lam (i : Integer) (lmScaleR 2.0))))) (Vec_init 1.0))",
            1,
            "vectors of 2 and of 1 elements meet",
        ),
        (
            (
                "(FFold (lam (t : Tuple Float Float) (get$1$2 t)) 0.0 (Vec_init 1.0 2.0)"
                " (lam (t : Tuple (Tuple Float Float) (Tuple Float Float)) (get$1$2 (get$2$2 t))) 0.0 (Vec_init 1.0))"
            ),
            1,
            "a vector and its tangent of 2 and of 1 elements meet",
        ),
        (
            (
                "(lmApply (lmFold (lam (t : Tuple Float Float) (get$1$2 t))"
                " (lam (t : Tuple Float Float) (lmHCat (lmZero 0.0 0.0) (lmHCat (lmOne 1.0) (lmOne 1.0)))) 0.0"
                " (Vec_init 1.0 2.0)) (tuple 0.0 (tuple 0.0 (Vec_init 1.0))))"
            ),
            1,
            "a vector and its tangent of 2 and of 1 elements meet",
        ),
        ("(max (constVec 0 1.0))", 1, "the largest of no elements"),
        ("([D [sin Float]] 1.0)", 1, "a linear map has no text"),
        ("(loop 1.0)", 29, "no value after 1000 steps"),
        ("(ext 1.0)", 1, "ext is declared, and has no body"),
    ],
)
def test_errors_while_running(expression: str, column: int, message: str) -> None:
    """Located, where the expression stands."""
    text = "(edef ext Float (Float))\n(def loop Float (x : Float) (loop x))"
    with pytest.raises(TermError) as caught:
        read(text, steps=1000).expression(expression)
    assert caught.value.place is not None
    assert caught.value.place.column == column
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("(build 3 (lam (i : Integer) (if (lt i 2) (index i (Vec_init 1.0 2.0)) 7.0)))", "[1.0, 2.0, 7.0]"),
        ("(build 3 (lam (i : Integer) (if (eq i 0) 1 (div 6 i))))", "[1, 6, 3]"),
        ("(map (lam (x : Float) (if (gt x 1.5) (assert (gt x 1.5) x) 0.0)) (Vec_init 1.0 2.0))", "[0.0, 2.0]"),
        ("(map (lam (x : Float) (if (gt x 0.0) (index 0 (Vec_init x)) 0.0)) (Vec_init -1.0 2.0))", "[0.0, 2.0]"),
        ("(build 2 (lam (i : Integer) (if (eq i 1) (if (eq i 1) 1 (assert false 2)) 3)))", "[3, 1]"),
        ("(map (lam (x : Float) (if (gt x 9.0) (index 5 (Vec_init x)) 0.0)) (Vec_init -1.0 2.0))", "[0.0, 0.0]"),
        ("(map (lam (x : Float) (if (gt x 9.0) (assert false 1.0) 0.0)) (Vec_init -1.0 2.0))", "[0.0, 0.0]"),
        ("(map (lam (x : Float) (if (lt x 9.0) 0.0 (assert false 1.0))) (Vec_init -1.0 2.0))", "[0.0, 0.0]"),
        ("(map (lam (x : Float) (if (gt x 9.0) (div 1 0) 0)) (Vec_init -1.0 2.0))", "[0, 0]"),
        ("(map (lam (x : Float) (if (gt x 9.0) (f x) 0.0)) (Vec_init -1.0 2.0))", "[0.0, 0.0]"),
    ],
)
def test_checks_where_a_branch_is_taken(expression: str, value: str) -> None:
    """Element by element, and nowhere else."""
    text = "(def f Float (x : Float) (sum (build 2 (lam (i : Integer) (if (eq i 0) (assert false x) x)))))"
    assert run(text, expression) == value


@pytest.mark.parametrize("body", ["(if (gt x 0.0) (assert false 1.0) x)", "(if (lt x 0.0) x (assert false 1.0))"])
def test_a_check_that_never_holds(body: str) -> None:
    """It is made where its branch is taken; under a condition on an index, when the function is traced."""
    loaded = read(f"(def f (Vec Float) (v : Vec Float) (map (lam (x : Float) {body}) v))")
    assert loaded.f([-1.0, -2.0]) == [-1.0, -2.0]
    with pytest.raises(TermError, match="the assertion does not hold"):
        loaded.f([-1.0, 2.0])
    each = "(def f (Vec Float) (v : Vec Float) (build 2 (lam (i : Integer) (if (eq i 0) (index 9 v) 0.0))))"
    with pytest.raises(TermError, match="index 9 of 3 elements"):
        function(each).of(R ** Fin.of(3))


def test_a_branch_that_no_lane_takes() -> None:
    """A condition that holds in all lanes that come to it takes its branch alone, as one without it does."""
    once = "(if (gt i 0) (exp (index i v)) 0.0)"
    twice = "(if (gt i 0) (if (gt i 0) (exp (index i v)) (sin (index i v))) 0.0)"
    first, second = (
        function(f"(def f (Vec Float) (v : Vec Float) (build (size v) (lam (i : Integer) {body})))").of(R ** Fin.of(4))
        for body in (once, twice)
    )
    assert len(program(first).steps) == len(program(second).steps)


def test_print_of_a_text_reads_back() -> None:
    """print ∘ parse is the identity on terms."""
    for body, _, _ in PROGRAMS:
        text = f"(edef ext Float (Tuple Float Integer))\n(def f {body})\n(gdef rev [f {read_type(body)}])"
        first = read_scope([Source("t.ks", text)])
        printed = [read(text).functions[one.name].stages()["text"](None, None) for one in first.definitions]
        again = read_scope([Source("t.ks", "\n".join(printed))])
        assert [one.function for one in first.definitions] == [one.function for one in again.definitions]
        assert [one.signature for one in first.definitions] == [one.signature for one in again.definitions]


def read_type(body: str) -> str:
    """The type of the argument."""
    return function(f"(def f {body})").signature.partition(" -> ")[0]


# --- names, overloads, externals, derivatives by hand ---


def test_overloads() -> None:
    """A function is told by its name and the type of its argument."""
    text = (
        "(def f Float (x : Float) (mul 2.0 x))\n(def f Integer (n : Integer) (mul 3 n))\n(edef add Float (Float Float))"
    )
    assert (run(text, "(f 2.0)"), run(text, "(f 2)"), run(text, "([f Integer] 2)")) == ("4.0", "6", "6")
    assert run(text, "([rev f] 1.0 1.0)") == "2.0"
    assert list(read(text).functions) == ["[f Float]", "[f Integer]"]


def test_without_prelude() -> None:
    """The file declares what it uses, which is bound to ours."""
    with pytest.raises(TermError, match=r"mul is not declared .*, \(edef mul Float \(Float Float\)\)"):
        read("(def f Float (x : Float) (mul x x))", prelude=False)
    text = "(edef mul Float (Tuple Float Float))\n(def sin Float (x : Float) (mul x x))"
    loaded = read(text, prelude=False)
    assert loaded.expression("(sin 3.0)") == "9.0"
    assert loaded.expression("([rev sin] 3.0 1.0)") == "6.0"


WRONG = """(def f Float (x : Float) (mul x x))
(def [rev f] Float ((x : Float) (dr : Float)) (mul (mul 5.0 x) dr))
(def g Float (x : Float) (mul 2.0 (f (mul 3.0 x))))
"""


def test_by_hand() -> None:
    """What is written replaces ours in that mode, in callers too, and at higher order; `verify` names it."""
    assert run(WRONG, "(tuple ([rev f] 2.0 1.0) ([fwd f] 2.0 1.0))") == "(10.0, 4.0)"
    assert run(WRONG, "(tuple ([rev g] 2.0 1.0) ([fwd g] 2.0 1.0))") == "(180.0, 72.0)"
    assert run(WRONG, "([fwd [rev g]] (tuple 2.0 1.0) (tuple 1.0 0.0))") == "90.0"
    loaded = read(WRONG)
    found = {name: loaded.functions[name].verified([2.0]) for name in ("f", "g")}  # type: ignore[attr-defined]
    assert [fault.place.line for fault in found["f"]] == [2]
    assert found["f"][0].message.startswith("[rev f], written by hand, gives")
    assert found["g"][0].message.startswith("g: [rev g] gives")
    assert function(WRONG, "f").differential([2.0], None, reverse=True) == 10.0


def test_what_is_by_hand_is_the_same_whatever_was_asked_before() -> None:
    """At first order and at second, in any order of the questions."""
    text = f"{WRONG} (def h Float (x : Float) (mul (f x) (f x)))"
    point = "(tuple 2.0 1.0)"
    asked = ["([rev h] 2.0 1.0)", "([fwd h] 2.0 1.0)", f"([fwd [rev h]] {point} (tuple 1.0 0.0))"]
    asked += [f"([rev [rev h]] {point} 1.0)", f"([rev [fwd h]] {point} 1.0)"]
    due = [run(text, expression) for expression in asked]
    for order in permutations((0, 1, 2, 3, 4, 0, 1, 2, 3, 4), 2):
        loaded = read(text)
        assert [loaded.expression(asked[k]) for k in order] == [due[k] for k in order], order


def test_by_hand_in_lanes_loops_and_branches() -> None:
    """A rule is that of each element."""
    text = """(def sq Float (x : Float) (mul x x))
(def [rev sq] Float ((x : Float) (dr : Float)) (mul 2.0 (mul x dr)))
(def f Float (v : Vec Float) (sum (map (lam (x : Float) (if (gt x 0.0) (sq x) (mul 3.0 x))) v)))
(def g Float (v : Vec Float) (fold (lam (t : Tuple Float Float) (add (get$1$2 t) (sq (get$2$2 t)))) 0.0 v))
"""
    assert run(text, "([rev f] (Vec_init 2.0 -1.0) 1.0)") == "[4.0, 3.0]"
    assert run(text, "([rev g] (Vec_init 2.0 -1.0) 1.0)") == "[4.0, -2.0]"


def test_externals() -> None:
    """A derivative that is written makes an external differentiable, at second order too; its value is an error."""
    text = """(edef s Float (Float))
(edef [D s] (LM Float Float) (Float))
(def [fwd s] Float ((x : Float) (dx : Float)) (mul (cos x) dx))
(def g Float (x : Float) (mul 2.0 (s x)))
"""
    assert run(text, "([fwd g] 0.0 1.0)") == "2.0"
    assert run(text, "([rev g] 0.0 1.0)") == "2.0"
    assert float(run(text, "([fwd [rev g]] (tuple 1.0 1.0) (tuple 1.0 0.0))")) == pytest.approx(-2 * math.sin(1))
    with pytest.raises(TermError, match="s is declared, and has no body"):
        run(text, "(g 0.0)")
    back = text.replace("[fwd s] Float ((x : Float) (dx : Float))", "[rev s] Float ((x : Float) (dx : Float))")
    assert run(back, "([fwd g] 0.0 1.0)") == "2.0"
    declared = back.replace("(edef [D s] (LM Float Float) (Float))", "(edef [fwd s] Float (Tuple Float Float))")
    assert run(declared, "([fwd g] 0.0 1.0)") == "2.0"
    square = back.replace("(mul (cos x) dx)", "(mul dx dx)")
    with pytest.raises(TermError, match="is not linear in the cotangent, by inspection"):
        run(square, "([fwd g] 0.0 1.0)")


@pytest.mark.parametrize(("mode", "what", "due"), [("fwd", "tangent", "6.0"), ("rev", "cotangent", "12.0")])
def test_what_is_by_hand_is_linear(mode: str, what: str, due: str) -> None:
    """That is asked where the derivative of a caller is computed; a stage warns, and calls it as it is written."""
    text = f"""(def f Float (x : Float) (mul x x))
(def [{mode} f] Float ((x : Float) (d : Float)) (mul x (mul d d)))
(def g Float (x : Float) (mul 2.0 (f x)))
"""
    assert run(text, f"([{mode} f] 3.0 2.0)") == "12.0"
    with pytest.warns(
        UserWarning, match=rf"^t.ks:2:6: .* is not linear in the {what}, by inspection: the stage {mode} "
    ):
        stage = function(text, "g").stages()[mode](None, None)
    assert run(stage, f"([{mode} g] 3.0 1.0)") == due
    with pytest.raises(
        TermError, match=rf"\[{mode} \[f Float\]\] is not linear in the {what}, by inspection$"
    ) as caught:
        run(text, f"([{mode} g] 3.0 1.0)")
    assert str(caught.value.place) == "t.ks:2:6"


def test_passes_by_hand() -> None:
    """A pair of passes, with a record of its own type."""
    text = """(def f Float (x : Float) (mul x x))
(def [suffwdpass f] (Tuple Float Float) (x : Float) (tuple (mul x x) (mul 7.0 x)))
(def [sufrevpass [f Float]] Float ((dt : Float) (b : Float)) (mul dt b))
"""
    assert run(text, "([sufrev f] 2.0 1.0)") == "14.0"
    assert run(text, "(let ((t b) ([suffwdpass f] 2.0)) ([sufrevpass [f Float]] 1.0 b))") == "14.0"
    assert run(text, "([rev f] 2.0 1.0)") == "4.0"


def test_the_split_mode_by_hand_in_callers() -> None:
    """A pair of passes, or a sufrev, replaces ours in both passes of callers, and at higher order; others are ours."""
    pair = """(def f Float (x : Float) (mul x x))
(def [suffwdpass f] (Tuple Float Float) (x : Float) (tuple (mul x x) (mul 7.0 x)))
(def [sufrevpass [f Float]] Float ((dt : Float) (b : Float)) (mul dt b))
(def g Float (x : Float) (mul 2.0 (f x)))
(def h Float (v : Vec Float) (sum (map (lam (x : Float) (if (gt x 0.0) (f x) (mul 3.0 x))) v)))
"""
    whole = """(def f Float (x : Float) (mul x x))
(def [sufrev f] Float ((x : Float) (dt : Float)) (mul dt (mul 7.0 x)))
(def g Float (x : Float) (mul 2.0 (f x)))
(def h Float (v : Vec Float) (sum (map (lam (x : Float) (if (gt x 0.0) (f x) (mul 3.0 x))) v)))
"""
    for text in (pair, whole):
        assert run(text, "([sufrev g] 2.0 1.0)") == "28.0"
        assert run(text, "(let ((t b) ([suffwdpass g] 2.0)) (tuple t ([sufrevpass [g Float]] 1.0 b)))") == "(8.0, 28.0)"
        assert run(text, "(tuple ([rev g] 2.0 1.0) ([fwd g] 2.0 1.0))") == "(8.0, 8.0)"
        assert run(text, "([fwd [sufrev g]] (tuple 2.0 1.0) (tuple 1.0 0.0))") == "14.0"
        assert run(text, "([sufrev h] (Vec_init 2.0 -1.0) 1.0)") == "[14.0, 3.0]"
        (wrong,) = function(text, "f").verified([2.0])
        assert "written by hand, gives" in wrong.message
    external = pair.replace("(def f Float (x : Float) (mul x x))", "(edef f Float (Float))")
    assert run(external, "(tuple ([fwd g] 2.0 1.0) ([rev g] 2.0 1.0) ([sufrev g] 2.0 1.0))") == "(28.0, 28.0, 28.0)"


def test_the_value_of_a_pass_by_hand() -> None:
    """`verify` looks at both halves of a suffwdpass: the record by what sufrevpass makes of it, and the value."""
    text = """(def f (Tuple Float (Vec Float)) (x : Float) (tuple (mul x x) (Vec_init x 1.0)))
(def [suffwdpass f] (Tuple (Tuple Float (Vec Float)) Float) (x : Float) (tuple (tuple (mul x x) (Vec_init x 1.0)) x))
(def [sufrevpass [f Float]] Float ((dt : Tuple Float (Vec Float)) (b : Float))
  (add (mul (mul 2.0 b) (get$1$2 dt)) (index 0 (get$2$2 dt))))
"""
    assert not function(text).verified([2.0])
    wrong = text.replace("(Vec_init x 1.0)) x)", "(Vec_init x 1.5)) x)")
    (fault,) = function(wrong).verified([2.0])
    assert fault.message == "[suffwdpass f], written by hand, gives another value than f"


# --- work, programs ---


def lines(capsys: pytest.CaptureFixture[str], text: str, expression: str) -> list[str]:
    capsys.readouterr()
    run(text, expression)
    return capsys.readouterr().err.splitlines()


def test_traces(capsys: pytest.CaptureFixture[str]) -> None:
    """As often as the argument is computed: once in each mode, n times in a build, only where a branch is taken."""
    text = "(def f Float (x : Float) (let (y ($trace (mul x x))) (mul y y)))"
    for expression in (
        "(f 3.0)",
        "([fwd f] 3.0 1.0)",
        "([rev f] 3.0 1.0)",
        "([sufrev f] 3.0 1.0)",
        "(get$1$2 ([suffwdpass f] 3.0))",
    ):
        assert lines(capsys, text, expression) == ["Trace[9.0]"], expression
    both = "(let ((t b) ([suffwdpass f] 3.0)) ([sufrevpass [f Float]] 1.0 b))"
    assert lines(capsys, text, both) == ["Trace[9.0]"]
    assert lines(capsys, text, "(build 3 (lam (i : Integer) ($trace i)))") == [f"Trace[{k}]" for k in range(3)]
    assert lines(capsys, text, "(sum (build 2 (lam (i : Integer) (f (to_float i)))))") == ["Trace[0.0]", "Trace[1.0]"]
    two = "(build 2 (lam (i : Integer) (add ($trace i) ($trace (mul 10 i)))))"
    assert lines(capsys, text, two) == ["Trace[0]", "Trace[1]", "Trace[0]", "Trace[10]"]
    assert lines(capsys, text, "(if (gt 1.0 2.0) (f 1.0) 0.0)") == []
    assert lines(capsys, text, "(build 3 (lam (i : Integer) (if (eq i 1) ($trace i) 0)))") == ["Trace[1]"]
    assert lines(capsys, text, '($trace (tuple 1 "a" (Vec_init 1.0)))') == ['Trace[(1, "a", [1.0])]']


def test_deep_recursion_that_reals_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no recursion of Python, and each step runs once for all conditions at the point."""
    steps: list[int] = []

    class Counted(Builder):
        def emit(self, operation: Any, args: tuple[int, ...], leaf: Any) -> int:
            steps.append(len(args))
            return super().emit(operation, args, leaf)

    monkeypatch.setattr(probe, "Builder", Counted)
    f = function("(def f Float (x : Float) (if (lt x 1.0) (mul x x) (add (sin x) (f (sub x 1.0)))))")
    found = f.differential([1000.0], None, reverse=True)
    assert found == pytest.approx(np.cos(np.arange(1.0, 1001.0)).sum())
    assert 1000 <= len(steps) <= 8000


@pytest.mark.parametrize(
    ("body", "due"),
    [
        ("(sum (build 3 (lam (i : Integer) (if (eq i 1) ($trace (index i v)) 0.0))))", [2.0]),
        ("(sum (build 3 (lam (i : Integer) (if (eq i 1) (to_float ($trace i)) (index i v)))))", [1]),
        ("(sum (build 3 (lam (i : Integer) (if (eq i 1) (g (index i v)) 0.0))))", [2.0]),
        ("(sum (build 3 (lam (i : Integer) (if (eq i 1) ([rev g] (index i v) 1.0) 0.0))))", [2.0]),
        ("(sum (map (lam (x : Float) (if (gt x 1.5) ([fwd g] x 1.0) 0.0)) v))", [2.0, 3.0]),
        ("(sum (map (lam (x : Float) (if (gt x 1.5) ([fwd h] (tuple m x) (tuple m 1.0)) 0.0)) v))", [2.0, 3.0]),
        ("(sum (map (lam (x : Float) (if (gt x 9.0) ([rev g] 7.0 1.0) x)) v))", []),
        ("(sum (map (lam (x : Float) (mul x ([sufrev g] 7.0 1.0))) v))", [7.0, 7.0, 7.0]),
        ("(sum (map (lam (x : Float) (let ((t b) ([suffwdpass g] 7.0)) (mul x t))) v))", [7.0, 7.0, 7.0]),
        ("(fold (lam ((a : Float) (x : Float)) (add a (mul x ($trace 7.0)))) 0.0 v)", [7.0, 7.0, 7.0]),
        ("(let (y (index 0 v)) (fold (lam ((a : Float) (x : Float)) (add a (mul x ($trace y)))) 0.0 v))", [1.0] * 3),
    ],
)
@pytest.mark.parametrize("expression", ["(f {})", "([fwd f] {0} {0})", "([rev f] {} 1.0)"])
def test_traces_in_bodies(capsys: pytest.CaptureFixture[str], expression: str, body: str, due: list[float]) -> None:
    """Once for each element that prints, not for those that are computed beside it, however the body is computed."""
    text = "(def g Float (x : Float) (mul x ($trace x))) "
    text += "(def h Float ((m : LM Float Float) (x : Float)) (lmApply m (g x))) "
    text += f"(def f Float (v : Vec Float) (let (m (lmScale 1.0 2.0)) {body}))"
    found = lines(capsys, text, expression.format("(Vec_init 1.0 2.0 3.0)"))
    assert found == [f"Trace[{x}]" for x in due]


UNDER_CONDITIONS = """
(def map_ (Vec Float) (v : Vec Float) (map (lam (x : Float) (if (gt x 0.0) ($trace x) x)) v))
(def fold_ Float (v : Vec Float)
  (fold (lam ((a : Float) (x : Float)) (add a (if (gt x 0.0) ($trace x) x))) 1.0 v))
(def build_ (Vec Float) (v : Vec Float)
  (build (size v) (lam (i : Integer) (if (gt (index i v) 0.0) (if (lt (index i v) 9.0) ($trace (index i v)) 2.0) 2.0))))
(def sumbuild_ Float (v : Vec Float)
  (sumbuild 3 (lam (i : Integer) (if (gt (index i v) 0.0) (let (z ($trace (index i v))) (mul z z)) 2.0))))
"""


UNREAD = """(def u Float (x : Float) (let (y ($trace (mul x x))) (mul x 3.0)))
(def b Float (x : Float) (sumbuild 2 (lam (i : Integer)
  (let (y ($trace (mul x (to_float i)))) (let (z ($trace (add x (to_float i)))) (mul x z))))))
(def l Float (x : Float)
  (fold (lam ((a : Float) (e : Float)) (let (y ($trace (mul x e))) (add a x))) 0.0 (Vec_init 1.0 2.0)))
(def m Float (x : Float)
  (sum (map (lam (e : Float) (if (gt e 1.0) (let (y ($trace (mul x e))) x) 0.0)) (Vec_init 1.0 2.0))))
"""


@pytest.mark.parametrize(("name", "due"), [("u", [9.0]), ("b", [0.0, 3.0, 3.0, 4.0]), ("l", [3.0, 6.0]), ("m", [6.0])])
@pytest.mark.parametrize(
    "expression",
    [
        "({} 3.0)",
        "([fwd {}] 3.0 1.0)",
        "([rev {}] 3.0 1.0)",
        "([sufrev {}] 3.0 1.0)",
        "(let ((t b) ([suffwdpass {0}] 3.0)) ([sufrevpass [{0} Float]] t b))",
    ],
)
def test_traces_that_nothing_reads(
    capsys: pytest.CaptureFixture[str], expression: str, name: str, due: list[float]
) -> None:
    """They are printed with the value and with each derivative, once: in a body all of the first, then of the next."""
    assert lines(capsys, UNREAD, expression.format(name)) == [f"Trace[{x}]" for x in due]


@pytest.mark.parametrize("name", ["map_", "fold_", "build_", "sumbuild_"])
def test_traces_under_conditions_on_reals(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Of the branch that is taken, in the order of the index, at a point; without one it is an error at its place."""
    at, due = "(Vec_init 1.0 -2.0 3.0)", ["Trace[1.0]", "Trace[3.0]"]
    one = "(Vec_init 1.0 1.0 1.0)" if name in ("map_", "build_") else "1.0"
    assert lines(capsys, UNDER_CONDITIONS, f"({name} {at})") == due
    assert lines(capsys, UNDER_CONDITIONS, f"([fwd {name}] {at} (Vec_init 1.0 1.0 1.0))") == due
    assert lines(capsys, UNDER_CONDITIONS, f"([rev {name}] {at} {one})") == due
    with pytest.raises(TermError, match="printed under a condition on reals is printed at a point only") as caught:
        function(UNDER_CONDITIONS, name).of(R ** Fin.of(3))
    assert caught.value.place is not None


def test_what_a_condition_is_found_from_is_traced_once(capsys: pytest.CaptureFixture[str]) -> None:
    """A condition is decided without printing; what is printed is that of the value."""
    text = "(def f Float (x : Float) (let (y ($trace (mul x x))) (if (gt y 0.0) (mul y y) 1.0)))"
    assert lines(capsys, text, "([rev f] 2.0 1.0)") == ["Trace[4.0]"]
    assert lines(capsys, text, "([fwd f] 2.0 1.0)") == ["Trace[4.0]"]


TRUTHS = """(def h Float ((b : Bool) (x : Float)) (if b (mul x x) 0.0))
(def e (Vec Bool) (v : Vec Float) (map (lam (x : Float) (gt x 0.5)) v))
(def hs Float ((b : Vec Bool) (x : Float)) (sum (build (size b) (lam (i : Integer) (if (index i b) (mul x x) 0.0)))))
(def at Float ((i : Integer) (v : Vec Float)) (index i v))
(def by_fwd Float (v : Vec Float)
  (sum (map (lam (x : Float) ([fwd h] (tuple (gt x 0.5) x) (tuple (tuple) 1.0))) v)))
(def by_rev Float (v : Vec Float) (sum (map (lam (x : Float) (get$2$2 ([rev h] (tuple (gt x 0.5) x) 1.0))) v)))
(def by_split Float (v : Vec Float) (sum (map (lam (x : Float)
  (let ((t b) ([suffwdpass h] (tuple (gt x 0.5) x))) (get$2$2 ([sufrevpass [h (Tuple Bool Float)]] 1.0 b)))) v)))
(def of_vector Float (v : Vec Float) (get$2$2 ([rev hs] (tuple (e v) (index 2 v)) 0.5)))
(def of_index Float (v : Vec Float) (sum (build 1 (lam (i : Integer)
  (let (w (build (size v) (lam (j : Integer) (mul 2.0 (index j v)))))
    (dot v (get$2$2 ([rev at] (tuple (imax w) w) 1.0))))))))
"""


@pytest.mark.parametrize(
    ("name", "value", "slope"),
    [
        ("by_fwd", 8.0, [2.0, 0.0, 2.0]),
        ("by_rev", 8.0, [2.0, 0.0, 2.0]),
        ("by_split", 8.0, [2.0, 0.0, 2.0]),
        ("of_vector", 6.0, [0.0, 0.0, 2.0]),
        ("of_index", 3.0, [0.0, 0.0, 1.0]),
    ],
)
def test_what_is_discrete_and_found_from_reals_in_derivatives(name: str, value: float, slope: list[float]) -> None:
    """It may be an argument of a derivative, with the tangent (); it stands beside what a first pass gives."""
    v = [1.0, -2.0, 3.0]
    f = function(TRUTHS, name)
    assert f.value([v]) == value
    assert as_python(f.differential([v], None, reverse=True)) == slope
    assert f.differential([v], [[1.0, 1.0, 1.0]], reverse=False) == sum(slope)


RESULTS = """(def p (Tuple Float Bool) (x : Float) (tuple (mul x x) (gt x 0.0)))
(def q (Tuple Bool Float) (x : Float) (tuple (gt x 0.0) (mul x x)))
(def w (Tuple Float (Vec Bool)) (v : Vec Float) (tuple (sum (mul v v)) (map (lam (x : Float) (gt x 0.0)) v)))
"""


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("([fwd p] 2.0 1.0)", "(4.0, ())"),
        ("([rev p] 2.0 (tuple 1.0 (tuple)))", "4.0"),
        ("([fwd q] 2.0 1.0)", "((), 4.0)"),
        ("([rev q] 2.0 (tuple (tuple) 1.0))", "4.0"),
        ("([fwd w] (Vec_init 1.0 2.0) (Vec_init 1.0 2.0))", "(10.0, [(), ()])"),
        ("([sufrev w] (Vec_init 1.0 2.0) (tuple 1.0 (constVec 2 (tuple))))", "[2.0, 4.0]"),
        ("(map (lam (x : Float) (get$1$2 ([fwd p] x 1.0))) (Vec_init 1.0 2.0))", "[2.0, 4.0]"),
        ("(map (lam (x : Float) ([rev q] x (tuple (tuple) 1.0))) (Vec_init 1.0 2.0))", "[2.0, 4.0]"),
    ],
)
def test_derivatives_of_what_also_returns_truth_values(expression: str, due: str) -> None:
    """Their tangents and cotangents are ()."""
    assert run(RESULTS, expression) == due


def test_the_truth_values_of_a_first_pass() -> None:
    """They are those of the value."""
    text = f"{TRUTHS}(def f (Tuple Float (Vec Bool)) (v : Vec Float) (tuple ($trace (sum v)) (e v)))"
    found = run(text, "(let ((t b) ([suffwdpass f] (Vec_init 1.0 -2.0 3.0))) t)")
    assert found == "(2.0, [true, false, true])"


@pytest.mark.parametrize("name", ["fwd-opt", "fwd-cse", "rev-opt", "rev"])
def test_stages_derive_truth_values(name: str) -> None:
    """[fwd bool_to_float] of a condition, element by element."""
    text = "(def f Float (v : Vec Float) (sum (map (lam (x : Float) (mul x (bool_to_float (gt x 0.5)))) v)))"
    f = function(function(text).stages()[name](None, None))
    v = [1.0, -2.0, 3.0]
    if name.startswith("fwd"):
        assert f.differential([v], [v], reverse=False) == 4.0
    else:
        assert as_python(f.differential([v], None, reverse=True)) == [1.0, 0.0, 1.0]


def test_a_function_at_a_point_is_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its derivative and its adjoint there are those of one map, unless something is written by hand."""
    made: list[str | None] = []
    as_map = maps.as_map

    def counted(*args: Any, **options: Any) -> Any:
        made.append(args[4].mode)
        return as_map(*args, **options)

    monkeypatch.setattr(maps, "as_map", counted)
    text = "(def f Float (x : Float) (if (gt x 1.0) (mul x x) (sin x)))"
    f = function(text)
    assert f.differential([2.0], [1.0], reverse=False) == f.differential([2.0], None, reverse=True) == 4.0
    assert made == ["fwd"]
    assert f.differential([0.0], None, reverse=True) == 1.0
    assert made == ["fwd", "rev"]
    f = function(f"{text} (def [fwd f] Float ((x : Float) (dx : Float)) dx) (def g Float (x : Float) (f x))", "g")
    assert f.differential([2.0], [1.0], reverse=False) == 1.0
    assert f.differential([2.0], None, reverse=True) == 4.0


def test_branches_at_a_point(capsys: pytest.CaptureFixture[str]) -> None:
    """A derivative at a point has the branch that is taken there, and what it prints, asked for once or again."""
    text = "(def f Float (x : Float) (if (gt x 0.0) ($trace (mul x x)) (neg x)))"
    loaded = read(text)
    for x, due, said in ((3.0, "6.0", 1), (-3.0, "-1.0", 0), (4.0, "8.0", 1), (2.0, "4.0", 1)):
        for form in ("([rev f] {} 1.0)", "([fwd f] {} 1.0)", "([sufrev f] {} 1.0)"):
            capsys.readouterr()
            assert loaded.expression(form.format(x)) == due
            assert len(capsys.readouterr().err.splitlines()) == said
    other = read("(def f Float (x : Float) (if (gt x 0.0) (mul x x) (neg x)))")
    assert [other.expression(f"([rev f] {x} 1.0)") for x in (3.0, -3.0, 4.0)] == ["6.0", "-1.0", "8.0"]


def test_print(capsys: pytest.CaptureFixture[str]) -> None:
    """Without separators: texts raw, truth values 1 or 0, all else as values."""
    run("", '(print "a\n" 1.5 true (tuple 1 false) "\n")')
    assert capsys.readouterr().out == "a\n1.51(1, false)\n"


@pytest.mark.parametrize(
    "body",
    [
        "Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (mul (index i v) (index i v)))))",
        "Float (v : Vec Float) (fold (lam (t : Tuple Float Float) (mul (get$1$2 t) (get$2$2 t))) 1.0 v)",
        "Float (v : Vec Float) (sumbuild (sub (size v) 1) (lam (i : Integer) (mul (index i v) (index (add i 1) v))))",
    ],
)
def test_size_of_programs(body: str) -> None:
    """A body is traced once, not once an element; so is a loop."""
    f = function(f"(def f {body})")
    sizes = {
        (len(program(f.of(R ** Fin.of(n))).steps), len(program(grad(f.of(R ** Fin.of(n)))).steps)) for n in (10, 1000)
    }
    assert len(sizes) == 1


TEXTS = Path(__file__).parents[3] / "benchmarks" / "texts"


def test_size_of_the_mixture() -> None:
    """As many steps, whatever the number of points is; value and gradient those of the model by `fun`."""
    d, k = 2, 3
    found = load_file(TEXTS / "gmm.ks").objective
    D, K, B = Fin.of(d), Fin.of(k), Fin.of(1)
    maps = [found.of(R**K, (R**D) ** K, (R**D) ** K, (R**B) ** K, (R**D) ** Fin.of(n)) for n in (5, 50)]
    assert len({len(program(f).steps) for f in maps}) == 1
    assert len({len(program(grad(f)).steps) for f in maps}) == 1
    rng = np.random.default_rng(0)
    xs = [V.random(rng) for V in maps[0].dom.parts]
    due = gmm.objective(d, k, 5, 1.0, 0)
    M, X = due.dom.parts
    at = (M.vec(tuple(x.array for x in xs[:4])), X.vec(xs[4].array))
    for mine, theirs in zip(grad(maps[0])(*xs).leaves, grad(due)(*at).leaves, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


def test_size_of_a_convolution() -> None:
    """By index arithmetic, in as many steps at each size; the index of a `build` is no step of its own."""
    found = load_file(TEXTS / "convolution.ks").convolved
    image = np.random.default_rng(0).standard_normal((7, 6))
    kernel = np.arange(6.0).reshape(2, 3)
    windows = np.lib.stride_tricks.sliding_window_view(image, kernel.shape)
    np.testing.assert_allclose(found(kernel.tolist(), image.tolist()), np.einsum("ijab,ab->ij", windows, kernel))
    spaces = [R ** (Fin.of(n) * Fin.of(n)) for n in (8, 32)]
    assert len({len(program(found.of(R ** (Fin.of(3) * Fin.of(2)), V)).steps) for V in spaces}) == 1
    sines = function("(def f Float (v : Vec Float) (sum (map (lam (x : Float) (sin x)) v)))")
    assert "red[id]" not in str(sines.of(R ** Fin.of(3)))


def test_maps() -> None:
    """Functions are functions of the library, on vectors and in traced functions."""
    gradient: Any = grad
    loaded = read(
        "(def norm Float (v : Vec Float) (sum (mul v v)))\n(def h Float (x : Float) (if (lt x 1.0) x (h (div x 2.0))))"
    )
    V = R ** Fin.of(2)
    assert float(loaded.norm(V.vec([3.0, 4.0]))) == 25.0
    assert loaded.norm([3, 4]) == 25.0
    assert grad(loaded.norm.of(V))(V.vec([3.0, 4.0])).array.tolist() == [6.0, 8.0]
    with pytest.raises(SpaceError, match="is no space for"):
        loaded.norm.of(R)
    with pytest.raises(SpaceError, match="which sizes"):
        loaded.norm.of()
    with pytest.raises(SpaceError, match=r"grad takes a map, not .*: take that on given spaces, f\.of\(R \*\* Fin"):
        gradient(loaded.norm)
    rows = read("(def f Float (x : Vec (Vec Float)) (sumbuild (size x) (lam (i : Integer) (sum (index i x)))))")
    I, J = Fin.of(2), Fin.of(3)
    with pytest.raises(
        SpaceError, match=r"one index set after the other is, as \(R \*\* I\) \*\* J for R \*\* \(J \* I\)"
    ):
        rows.f.of(R ** (J * I))
    assert rows.f.of((R**I) ** J).dom == (R**I) ** J


def test_derivatives_at_a_point_of_a_recursion() -> None:
    """A condition on reals in a recursion is decided at the point; without one it is an error."""
    f = function("(def f Float (x : Float) (if (lt x 1.0) x (f (div x 2.0))))")
    assert f.differential([10.0], None, reverse=True) == 0.0625
    with pytest.raises(TermError, match="give a point"):
        f.stages()["program"](None, None)


def test_a_recursion_in_a_branch_that_is_not_taken() -> None:
    """It need not end there: a condition around it is decided at the point, whatever was asked for before."""
    text = "(def r Float (x : Float) (if (gt x 8.0) x (r (mul 2.0 x))))"
    loaded = read(f"{text} (def f Float (x : Float) (if (gt x 0.0) (r x) (neg x)))")
    for x, due in (("-1.0", "-1.0"), ("-1.0", "-1.0"), ("1.0", "16.0"), ("-2.0", "-1.0"), ("5.0", "2.0")):
        assert loaded.expression(f"([rev f] {x} 1.0)") == due


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("(sum (build 100 (lam (i : Integer) (r i 1.0))))", "100.0"),
        ("(fold (lam ((a : Float) (n : Integer)) (r n a)) 2.0 (build 100 (lam (i : Integer) i)))", "2.0"),
        ("(q 400 0.5)", "0.5"),
    ],
)
def test_recursions_of_any_depth_in_bodies(expression: str, due: str) -> None:
    """They are no recursions of Python: of elements whose depths are not the same, and through folds."""
    text = "(def r Float ((n : Integer) (x : Float)) (if (eq n 0) x (mul 1.0 (r (sub n 1) x))))"
    fold = "(fold (lam ((a : Float) (e : Float)) (mul e (q (sub n 1) a))) x (Vec_init 1.0))"
    assert run(f"{text} (def q Float ((n : Integer) (x : Float)) (if (eq n 0) x {fold}))", expression) == due


def test_checks_in_derivatives(capsys: pytest.CaptureFixture[str]) -> None:
    """What the value checks and prints, its derivatives do, too, nested ones and those in a build."""
    text = "(def g Float (x : Float) (mul 3.0 ($trace (assert (gt x 0.0) x))))"
    for expression in ("([fwd g] -1.0 1.0)", "([rev g] -1.0 1.0)", "([fwd [rev g]] (tuple -1.0 1.0) (tuple 1.0 0.0))"):
        with pytest.raises(TermError, match="the assertion does not hold"):
            run(text, expression)
    for expression in ("([fwd g] 2.0 1.0)", "([rev g] 2.0 1.0)", "([fwd [rev g]] (tuple 2.0 1.0) (tuple 1.0 0.0))"):
        assert lines(capsys, text, expression) == ["Trace[2.0]"]
    constant = "(def c Float (x : Float) (assert (gt x 0.0) 3.0)) (def n Integer (x : Float) (assert (gt x 0.0) 3))"
    for expression in ("([fwd c] -1.0 1.0)", "([rev c] -1.0 1.0)", "([fwd n] -1.0 1.0)", "([rev n] -1.0 (tuple))"):
        with pytest.raises(TermError, match="the assertion does not hold"):
            run(constant, expression)
        assert run(constant, expression.replace("-1.0", "1.0")) in ("0.0", "()")
    each = "(build 2 (lam (i : Integer) ([rev g] (to_float (add 1 i)) 1.0)))"
    assert lines(capsys, text, each) == ["Trace[1.0]", "Trace[2.0]"]


def test_integers_at_the_end_of_their_range_are_divided_in_lanes() -> None:
    """Towards zero, as one by one; the least by −1 does not fit."""
    body = "(build 2 (lam (i : Integer) (to_float (div (sub -9223372036854775807 i) n))))"
    f = function(f"(def f (Vec Float) (n : Integer) {body})")
    assert f.value([2]) == [-4611686018427387903.0, -4611686018427387904.0]
    assert f.value([-4]) == [2305843009213693951.0, 2305843009213693952.0]
    with pytest.raises(TermError, match="this integer does not fit into 64 bits"):
        f.value([-1])


def test_tangents_of_no_elements() -> None:
    """A vector without elements has a tangent that may be a list of nothing, beside others that are not."""
    loaded = read("(def f Float ((x : Float) (v : Vec Float)) (sum (build 0 (lam (i : Integer) x))))")
    empty = "(lmVCatV (build 0 (lam (i : Integer) (lmOne 1.0))))"
    assert loaded.expression(f"(lmApply (lmCompose ([D [exp (Vec Float)]] (constVec 0 1.0)) {empty}) 2.0)") == "[]"
    two = "(build 2 (lam (i : Integer) 2.0))"
    for stage in ("jacobian", "tupled"):
        made = read(loaded.f.stages()[stage](None, None))
        name = "D" if stage == "jacobian" else "tupled"
        call = f"([{name} [f (Tuple Float (Vec Float))]] (tuple 1.0 {two}))"
        linear = call if stage == "jacobian" else f"(get$2$2 {call})"
        assert made.expression(f"(lmApply {linear} (tuple 1.0 {two}))") == "0.0"


def test_the_tangent_of_a_linear_map_of_integers() -> None:
    """It is zero, and so is its transpose."""
    text = "(def z (LM (Tuple Float Float) Float) (n : Integer) (lmHCat (lmOne 1.0) (lmOne 1.0)))"
    assert run(text, "(lmApply ([fwd z] 2 (tuple)) (tuple 1.0 2.0))") == "0.0"
    assert run(text, "(lmApplyR 1.0 ([fwd z] 2 (tuple)))") == "(0.0, 0.0)"


def test_shapes_of_tensors_of_vectors_are_told_apart() -> None:
    """The derivative at six vectors of unequal lengths, as two rows of three and as three rows of two."""
    text = "(def f Float ((x : Float) (w : Tensor 2 (Vec Integer))) (mul x (to_float (get$1$2 (size w)))))"
    text += "(def row (Vec Integer) (n : Integer) (build n (lam (k : Integer) k)))"
    each = "(lam (t : Tuple Integer Integer) (let ((i j) t) (row (add (mul {1} i) j))))"
    w = f"(build (tuple {{0}} {{1}}) {each})"
    slopes = " ".join(f"(get$1$2 ([rev f] (tuple 1.0 {w.format(*dims)}) 1.0))" for dims in ((2, 3), (3, 2)))
    assert run(text, f"(tuple {slopes})") == "(2.0, 3.0)"
    assert run(text, f"(map (lam (r : Vec Integer) (size r)) {w.format(2, 3)})") == "[[0, 1, 2], [3, 4, 5]]"


def test_conditions_on_indices_in_each_other() -> None:
    """The inner branch is taken where the outer one is: an index out of range stands in no branch that is."""
    text = "(def f (Vec Float) (v : Vec Float) (build 6 (lam (i : Integer) "
    loaded = read(f"{text}(if (lt i 3) (if (gt i 0) (index i v) 0.5) 1.0))))")
    assert loaded.f([1.0, 2.0, 3.0]) == [0.5, 2.0, 3.0, 1.0, 1.0, 1.0]
    assert loaded.expression("([rev f] (Vec_init 1.0 2.0 3.0) (constVec 6 2.0))") == "[0.0, 2.0, 2.0]"


def test_steps_inside_of_builds_count() -> None:
    """100 functions are entered in builds, and 21 outside."""
    text = "(def g Float (x : Float) (mul x x)) "
    text += "(def h Float (x : Float) (sum (build 3 (lam (i : Integer) (g (g (g x))))))) "
    text += "(def f Float (n : Integer) (if (eq n 0) 1.0 (add (h 0.5) (f (sub n 1)))))"
    with pytest.raises(TermError, match="no value after 50 steps"):
        read(text, steps=50).expression("(f 20)")


def test_steps_of_derivatives_count() -> None:
    """A derivative has the steps that are left where it is asked for, as many as a value takes."""
    text = "(def g Float ((n : Integer) (x : Float)) (if (eq n 0) x (g (sub n 1) (mul 2.0 x))))"
    expression = "(add (g {} 1.0) (get$2$2 ([rev g] (tuple 20 1.0) 1.0)))"
    assert read(text, steps=50).expression(expression.format(10)) == f"{2.0**10 + 2.0**20}"
    with pytest.raises(TermError, match="no value after 50 steps"):
        read(text, steps=50).expression(expression.format(30))


NOT_TAKEN = """(def whole Float ((x : Float) (v : Vec Float)) (if (gt x 0.0) (mul x x) (index 7 v)))
(def each Float ((x : Float) (v : Vec Float))
  (sum (build (size v) (lam (i : Integer) (if (gt (index i v) 0.0) (mul x x) (index 7 v))))))
(def divided Float ((x : Float) (v : Vec Float))
  (sum (map (lam (t : Float) (if (gt t 0.0) (mul x x) (to_float (div 1 0)))) v)))
(def asserted Float ((x : Float) (v : Vec Float))
  (fold (lam ((s : Float) (t : Float)) (add s (if (gt t 0.0) (mul x x) (assert false x)))) 0.0 v))
"""


@pytest.mark.parametrize(
    ("name", "count", "message"),
    [("whole", 1, "index 7"), ("each", 2, "index 7"), ("divided", 2, "by zero"), ("asserted", 2, "does not hold")],
)
def test_checks_of_constants_where_a_branch_is_not_taken(name: str, count: int, message: str) -> None:
    """Nothing is checked there, in the value and in derivatives, at first and at second order, again and again."""
    for x in (2.0, 3.0, 5.0):
        at = f"{x} (Vec_init 1.0 2.0)"
        assert run(NOT_TAKEN, f"({name} {at})") == f"{count * x * x}"
        assert run(NOT_TAKEN, f"([fwd {name}] (tuple {at}) (tuple 1.0 (Vec_init 0.0 0.0)))") == f"{2 * count * x}"
        assert run(NOT_TAKEN, f"(get$1$2 ([rev {name}] (tuple {at}) 1.0))") == f"{2 * count * x}"
        twice = f"(tuple (tuple {at}) 1.0) (tuple (tuple 1.0 (Vec_init 0.0 0.0)) 0.0)"
        assert run(NOT_TAKEN, f"(get$1$2 ([fwd [rev {name}]] {twice}))") == f"{2.0 * count}"
    f = function(NOT_TAKEN, name)
    for x in (2.0, 3.0):
        assert f.differential([x, [1.0, 2.0]], None, reverse=True) == (2 * count * x, [0.0, 0.0])
    with pytest.raises(TermError, match=message):
        f.value([-1.0, [-1.0, 2.0]])


MASKED = """(def some Float (v : Vec Float) (sum (build (size v) (lam (i : Integer)
  (if (gt i 0) ($trace (to_float i)) (index i v))))))
(def last Float (v : Vec Float) (sum (build (size v) (lam (i : Integer)
  (if (eq i 2) ($trace (mul 2.0 (index i v))) (index i v))))))
(def pairs Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (sum (build 2 (lam (j : Integer)
  (if (eq i j) ($trace (add (index i v) (to_float j))) 0.0))))))))
(def constant Float (v : Vec Float) (sum (build 2 (lam (i : Integer) (mul (index i v) ($trace 2.0))))))
"""


@pytest.mark.parametrize(
    ("name", "due"),
    [("some", [1.0, 2.0]), ("last", [6.0]), ("pairs", [1.0, 3.0]), ("constant", [2.0, 2.0])],
)
def test_traces_under_conditions_on_the_index(capsys: pytest.CaptureFixture[str], name: str, due: list[float]) -> None:
    """One line where the branch is taken, none elsewhere: with the value, each derivative, at each call from Python."""
    printed = [f"Trace[{x}]" for x in due]
    at = "(Vec_init 1.0 2.0 3.0)"
    for expression in (f"({name} {at})", f"([fwd {name}] {at} {at})", f"([rev {name}] {at} 1.0)"):
        assert lines(capsys, MASKED, expression) == printed
    V = R ** Fin.of(3)
    f = function(MASKED, name).of(V)
    for _ in range(3):
        f(V.vec([1.0, 2.0, 3.0]))
        assert capsys.readouterr().err.splitlines() == printed


class Pixel: ...


YES, NO = True, False
CALLED = """(def total Float (m : Tensor 2 Float)
  (sum (build (get$1$2 (size m)) (lam (i : Integer) (index (tuple i 1) m)))))
(def times Float ((k : Float) (v : Vec Float)) (mul k (sum v)))
(def nth Float ((i : Integer) (on : Bool) (v : Vec Float)) (if on (mul 3.0 (index i v)) 0.0))
"""


def test_axes_with_tags_and_labels() -> None:
    """They are taken for what they are, axes of some length; gradients have them again."""
    X, Y = Fin(Pixel, 2), Labelled(Pixel, ["a", "b", "c"])
    for V in (R ** (X * Y), (R**Y) ** X, (R ** Fin.of(3)) ** X):
        f = function(CALLED, "total").of(V)
        assert f.dom == V
        v = V.vec(np.arange(6.0).reshape(2, 3))
        assert float(f(v)) == 5.0
        assert grad(f)(v).array.tolist() == [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]


def test_values_beside_vectors() -> None:
    """A number is one of Float; what is discrete is fixed."""
    V = R ** Fin(Pixel, 3)
    v = V.vec([1.0, 2.0, 4.0])
    times, nth = function(CALLED, "times"), function(CALLED, "nth")
    assert [float(times(k, v)) for k in (2, 2.0, R.vec(2.0))] == [14.0] * 3
    assert float(nth(2, YES, v)) == 12.0
    assert float(nth(2, NO, v)) == 0.0
    assert grad(nth.of(1, YES, V))(v).array.tolist() == [0.0, 3.0, 0.0]
    f: Any = fun(V)(lambda x: times(2.0, x) * nth(0, YES, x))
    assert float(f(v)) == 42.0


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda f, v: f(2, 1.0, v), "Bool is due, not 1.0"),
        (lambda f, v: f(2.5, YES, v), "Integer is due, not 2.5"),
        (lambda f, v: f(v, YES, 2), "no space for Integer"),
        (lambda f, v: f(2, v), "a space for each component is due, or its value where it is discrete, not 2"),
        (lambda f, _: f.of(2, YES, 3), r"a space, or a vector, is due for \(Vec Float\), not 3"),
        (lambda f, v: f.of(v.space), r"is no space for \(Tuple Integer Bool \(Vec Float\)\)"),
        (lambda f, _: f(2, YES), r"3 arguments, or one tuple, are due, \(Tuple .*\): 2 were given"),
        (lambda f, _: f(2, YES, ["a"]), 'argument 3: Float is due, not "a"'),
    ],
)
def test_what_does_not_fit(made: Any, message: str) -> None:
    """The message says what is due."""
    with pytest.raises(SpaceError, match=message):
        made(function(CALLED, "nth"), (R ** Fin.of(3)).ones())


def test_recursions_that_vectors_decide() -> None:
    """A call at vectors has the branches that are taken there; in a traced function there is no point."""
    text = """(def root Float ((x : Float) (y : Float))
  (if (lt (abs (sub (mul y y) x)) 1e-12) y (root x (mul 0.5 (add y (div x y))))))"""
    root = function(text, "root")
    for x in (2.0, 9.0):
        assert float(root(R.vec(x), R.vec(1.0))) == root(x, 1.0) == pytest.approx(math.sqrt(x), rel=1e-12)
        dx, _ = grad(root.like([x, 1.0]))(R.vec(x), R.vec(1.0))
        assert float(dx) == pytest.approx(0.5 / math.sqrt(x), rel=1e-6)
    with pytest.raises(SpaceError, match="decides a shape or a recursion here: give a point"):
        fun(R)(lambda x: root(x, 1.0))


ARRAYS = """(def id (Vec (Vec Float)) (v : Vec (Vec Float)) v)
(def second (Tensor 2 Float) (m : Vec (Tensor 2 Float)) (index 1 m))
(def integers (Vec (Vec Integer)) (m : Vec (Vec Integer)) m)
(def sizes (Tuple Integer Integer) (m : Vec (Vec Float)) (tuple (size m) (size (index 0 m))))
"""


def test_arrays_as_nested_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read at once, not row by row; without elements they are, too."""
    a = np.arange(12.0).reshape(4, 3)
    assert function(ARRAYS, "id").value([a[:0]]) == []
    assert function(ARRAYS, "id").value([a[:2, :0]]) == [[], []]
    assert function(ARRAYS, "integers").value([np.arange(4).reshape(2, 2)]) == [[0, 1], [2, 3]]
    assert function(ARRAYS, "integers").value([np.zeros((0, 2), int)]) == []
    for rows in (a[0], a[None], np.array([["a"]])):
        with pytest.raises(SpaceError, match="is due, not an array"):
            function(ARRAYS, "id").value([rows])
    f = function(ARRAYS, "id"), function(ARRAYS, "sizes"), function(ARRAYS, "second")
    monkeypatch.setattr(convert, "stacked", None)  # which puts rows together
    assert f[0].value([a]) == f[0].value([a.astype(int)]) == a.tolist()
    assert f[1].value([a]) == (4, 3)
    assert f[2].value([np.stack([a, 2 * a])]) == (2 * a).tolist()


FOUND = """(def mx Float (v : Vec Float) (index (imax v) v))
(def [rev mx] (Vec Float) ((v : Vec Float) (dr : Float)) (deltaVec (size v) (imax v) dr))
(def by_hand Float (v : Vec Float) (mul 2.0 (mx v)))
(def delta_vec Float (v : Vec Float) (sum (deltaVec (size v) (imax v) (index 0 v))))
(def deltas Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (delta i (imax v) (index i v))))))
(def equal Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (if (eq i (imax v)) (index i v) 0.0)))))
(def below Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (if (lt i (imax v)) (index i v) 0.0)))))
(def prefix Float (v : Vec Float) (sum (build (size v) (lam (i : Integer)
  (index (imax (build (add i 1) (lam (j : Integer) (index j v)))) v)))))
(def constant Float (v : Vec Float) (if (gte (imax v) 1) (index 0 v) (mul 3.0 (index 1 v))))
(def real Float (v : Vec Float) (mul (to_float (imax v)) (index 0 v)))
(def longer Float (v : Vec Float) (index (imax v) (build 5 (lam (i : Integer) (mul (to_float i) (index 0 v))))))
(def shorter Float (v : Vec Float) (index (imax v) (build 2 (lam (i : Integer) (mul 2.0 (index i v))))))
(def twice Float (v : Vec Float) (if (eq (imax v) (imax (map (lam (x : Float) (mul x x)) v))) (index 1 v) (index 0 v)))
(def vector Float (v : Vec Float) (let (js (build 2 (lam (i : Integer)
  (imax (map (lam (x : Float) (mul x (sub 0.5 (to_float i)))) v))))) (index (index 1 js) v)))
(def of_vector Float (v : Vec Float) (let (u (build 2 (lam (i : Integer) (imax (Vec_init (index i v) 2.0)))))
  (if (eq (index 0 u) 1) (index 1 v) (index 0 v))))
(def of_itself Float (v : Vec Float) (let (u (build 2 (lam (i : Integer) (imax (Vec_init (index i v) 2.0)))))
  (sum (deltaVec 3 (index (index 0 u) u) (index 0 v)))))
(def in_build Float (v : Vec Float) (sum (build 2 (lam (j : Integer)
  (let (u (build 2 (lam (i : Integer) (imax (Vec_init (index i v) 2.0))))) (index (index (index j u) u) v))))))
(def truths Float (v : Vec Float) (let (u (build 2 (lam (i : Integer) (gt (index i v) 2.0))))
  (if (index 0 u) (index 1 v) (index 0 v))))
(def sized Float (v : Vec Float) (sum (build (imax v) (lam (i : Integer) (mul (index i v) (index 2 v))))))
"""


def by_numpy(name: str, v: Any) -> Any:
    """The value with integers that are found from reals."""
    k, n = int(np.argmax(v)), len(v)
    u = [int(x < 2.0) for x in v[:2]]
    made: dict[str, Callable[[], Any]] = {
        "by_hand": lambda: 2 * v[k],
        "delta_vec": lambda: v[0],
        "deltas": lambda: v[k],
        "equal": lambda: v[k],
        "below": lambda: np.sum(v[:k]),
        "prefix": lambda: sum(v[: i + 1].max() for i in range(n)),
        "constant": lambda: v[0] if k >= 1 else 3 * v[1],
        "real": lambda: k * v[0],
        "longer": lambda: k * v[0],
        "shorter": lambda: 2 * v[k],
        "twice": lambda: v[1] if k == int(np.argmax(v * v)) else v[0],
        "vector": lambda: v[np.argmin(v)],
        "of_vector": lambda: v[1] if u[0] == 1 else v[0],
        "of_itself": lambda: v[0],
        "in_build": lambda: v[u[u[0]]] + v[u[u[1]]],
        "truths": lambda: v[1] if v[0] > 2.0 else v[0],
        "sized": lambda: np.sum(v[:k]) * v[2],
    }
    return made[name]()


@pytest.mark.parametrize("name", re.findall(r"\(def (\w+)", FOUND)[1:])
def test_integers_that_are_found_from_reals(name: str) -> None:
    """They are compared, select from vectors of any length, and are sizes at a point, whatever points decide."""
    f = function(FOUND, name)
    points = [[1.0, 3.0, 2.0], [4.0, 1.5, -5.0], [1.0, 2.25, 2.5]]
    for point in points:
        v = np.array(point)
        if name == "shorter" and point is points[2]:
            with pytest.raises(TermError, match="of 2 elements"):
                f.value([point])
            with pytest.raises(TermError, match="of 2 elements"):
                f.differential([point], None, reverse=True)
            continue
        assert f.value([point]) == pytest.approx(by_numpy(name, v), rel=1e-12)
        due = [(by_numpy(name, v + h) - by_numpy(name, v - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
        assert f.differential([point], None, reverse=True) == pytest.approx(due, abs=1e-6)
        along = f.differential([point], [[1.0, -2.0, 0.5]], reverse=False)
        assert along == pytest.approx(np.dot(due, [1.0, -2.0, 0.5]), abs=1e-6)


@pytest.mark.parametrize(
    ("body", "column"),
    [
        ("(to_float (mul 2 (imax v)))", 40),
        ("(mul (index 0 v) (to_float (neg (imax v))))", 57),
        ("(mul (index 0 v) (to_float (div (imax v) 2)))", 57),
        ("(sum (build 2 (lam (i : Integer) (mul (index 0 v) (to_float (add i (imax v)))))))", 90),
        ("(sum (map (lam (x : Float) (to_float (add (imax (Vec_init x 2.0)) 1))) v))", 67),
    ],
)
def test_no_arithmetic_of_integers_that_are_found(body: str, column: int) -> None:
    """At a point they are integers; where they are data the error stands at the operation."""
    f = function(f"(def f Float (v : Vec Float) {body})")
    assert isinstance(f.value([[1.0, 3.0, 2.0]]), float)  # also where it is computed element by element
    with pytest.raises(TermError, match="there is no arithmetic of an integer that is found from reals") as caught:
        f.differential([[1.0, 3.0, 2.0]], None, reverse=True)
    assert caught.value.place is not None
    assert caught.value.place.column == column


NOWHERE = """(def asserted Float ((n : Integer) (x : Float))
  (sum (build n (lam (i : Integer) (assert (lt 2.0 1.0) x)))))
(def divided Float ((n : Integer) (x : Float)) (sum (build n (lam (i : Integer) (mul x (to_float (div 1 n)))))))
(def mapped Float ((n : Integer) (x : Float)) (sum (map (lam (y : Float) (assert (lt n 0) y)) (constVec n x))))
(def indexed Float ((n : Integer) (x : Float)) (sum (build n (lam (i : Integer) (index 7 (Vec_init x x))))))
(def nested Float ((n : Integer) (x : Float)) (sum (build n (lam (i : Integer)
  (fold (lam ((a : Float) (b : Float)) (assert (lt 2.0 1.0) a)) x (Vec_init x))))))
(def traced Float ((n : Integer) (x : Float)) (sum (build n (lam (i : Integer) ($trace (mul 2.0 3.0))))))
"""


@pytest.mark.parametrize("name", re.findall(r"\(def (\w+)", NOWHERE))
def test_bodies_of_no_elements_check_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is constant in them is not checked, and nothing is printed."""
    f = function(NOWHERE, name)
    assert f.value([0, 2.0]) == 0.0
    assert f.differential([0, 2.0], None, reverse=True) == ((), 0.0)
    assert float(f.of(0, R)(R.vec(2.0))) == 0.0
    assert capsys.readouterr().err == ""


UNREAD_BODIES = """(def fold_of Float (v : Vec Float) (sum (build 2 (lam (i : Integer)
  (fold (lam ((a : Float) (b : Float)) a) (index i v)
    (build 2 (lam (q : Integer) (assert (gt (index q v) 10.0) 1.0))))))))
(def fold_alone Float (v : Vec Float)
  (fold (lam ((a : Float) (b : Float)) a) (index 0 v) (build 2 (lam (q : Integer) (assert (gt (index q v) 10.0) 1.0)))))
(def let_of Float (v : Vec Float)
  (let (u (build 2 (lam (q : Integer) (assert (gt (index q v) 10.0) 1.0)))) (index 0 v)))
(def in_fold Float (v : Vec Float)
  (let (u (fold (lam ((a : Float) (b : Float)) (assert (gt b 10.0) a)) 1.0 v)) (index 0 v)))
(def let_in Float (v : Vec Float) (sum (build 2 (lam (j : Integer)
  (let (u (build 2 (lam (i : Integer) (assert (gt (index i v) 10.0) 1.0)))) (index j v))))))
"""


@pytest.mark.parametrize("name", re.findall(r"\(def (\w+)", UNREAD_BODIES))
def test_bodies_whose_values_are_not_read_are_checked(name: str) -> None:
    """Whether or not somebody reads an element, it is computed."""
    f = function(UNREAD_BODIES, name)
    f.value([[11.0, 12.0]])
    f.differential([[11.0, 12.0]], None, reverse=True)
    with pytest.raises(TermError, match="the assertion does not hold"):
        f.value([[11.0, 9.0]])
    with pytest.raises(TermError, match="the assertion does not hold"):
        f.differential([[11.0, 9.0]], None, reverse=True)


CONSTANT_TRACES = """(def a Float (x : Float) (if (lte 0.4 ($trace (to_float 1))) x 2.0))
(def b Float (x : Float) (get$2$2 (tuple ($trace (mul 2.0 3.0)) x)))
(def c Float (x : Float) (mul x ($trace 2.0)))
(def d Float (x : Float) (sum (build 2 (lam (j : Integer)
  (let (u (build 2 (lam (i : Integer) ($trace (to_float i))))) (mul x (to_float j)))))))
"""


@pytest.mark.parametrize(("name", "due"), [("a", [1.0]), ("b", [6.0]), ("c", [2.0]), ("d", [0.0, 1.0, 0.0, 1.0])])
def test_constants_are_printed_at_each_call(name: str, due: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """With the value, with each derivative, and by the map at each call."""
    printed = [f"Trace[{x}]" for x in due]
    for expression in (f"({name} 2.0)", f"([fwd {name}] 2.0 1.0)", f"([rev {name}] 2.0 1.0)"):
        assert lines(capsys, CONSTANT_TRACES, expression) == printed
    f = function(CONSTANT_TRACES, name).of()
    capsys.readouterr()
    for x in (1.0, 2.0):
        f(R.vec(x))
        assert capsys.readouterr().err.splitlines() == printed


def test_arrays_of_all_kinds() -> None:
    """Truth values and texts; integers of 64 bits; what has no axes is no row."""
    text = (
        "(def i (Vec Integer) (v : Vec Integer) v) (def b (Vec Bool) (v : Vec Bool) v)"
        "(def s (Vec String) (v : Vec String) v) (def t (Tensor 2 Float) (m : Tensor 2 Float) m)"
    )
    f = read(text).functions
    values = {name: function(text, name).value for name in f}
    assert values["i"]([np.array([5, 1], np.uint64)]) == [5, 1]
    assert values["b"]([np.array([True, False])]) == [True, False]
    assert values["s"]([np.array(["a", "b"])]) == ["a", "b"]
    assert values["t"]([[np.ones(2), [1, 2]]]) == [[1.0, 1.0], [1.0, 2.0]]
    for name, wrong, message in (
        ("i", np.array([2**63, 1], np.uint64), "9223372036854775808 does not fit into 64 bits"),
        ("t", [np.array(1.0), np.array(2.0)], "is due, not an array of shape"),
        ("t", [(1.0, 2.0)], "is due, not a tuple of 2"),
        ("b", np.array([1, 0]), "is due, not an array"),
    ):
        with pytest.raises(SpaceError, match=message):
            values[name]([wrong])
    V = R ** Fin.of(2)
    assert str(function("(def f Float (v : Vec Float) (sum v))").like([V.ones()]).dom) == "ℝ^2"


NOT_LINEAR = """(def f Float (x : Float) (mul x x))
(def [rev f] Float ((x : Float) (dr : Float)) (abs (mul 2.0 (mul x dr))))
(def g Float (x : Float) (mul x x))
(def [fwd g] Float ((x : Float) (dx : Float)) (if (gt dx 0.0) (mul 2.0 (mul x dx)) 77.0))
(def h Float (x : Float) (mul x x))
(def [fwd h] Float ((x : Float) (dx : Float)) (if (gt dx 0.0) 77.0 (mul 2.0 (mul x dx))))
"""


@pytest.mark.parametrize("name", ["f", "g", "h"])
def test_derivatives_by_hand_that_are_right_along_some_directions(name: str) -> None:
    """They are found out, along the others."""
    (fault,) = function(NOT_LINEAR, name).verified(None)
    assert "written by hand, gives" in fault.message
