"""What the functions of terms and of data say of things of the wrong kind: an error of the library, and what to write.

Each entrance is given each thing; what it takes is among them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint.higher as backward
import diff.higher as forward
from adjoint import grad
from diff import (
    Expr,
    TermFunction,
    arrow,
    as_vector,
    case,
    data,
    folded,
    forest,
    fun,
    on,
    program,
    sequence,
    term,
    variant,
)
from hilbert import Fin, R, Scalar, SpaceError, direct_sum

V = R ** Fin.of(3)
MODULE = forward.Module()
assert not list(
    MODULE.read(r"""def sum l = fold (e, a). e + a over l from 0
def sq x = x*x
def power n = fold (e, f). \x. x * f x over n from \x. 1
data Maybe a = Nothing | Just a
def given x m = case m of {Nothing -> x | Just y -> y}
""")
)
ONE = R.vec(1.0)


def t(text: str) -> Any:
    """A term of the module."""
    return MODULE.term(text)[0]


def untyped(value: Any) -> Any:
    """The same, whatever its type."""
    return value


@variant
class Leaf:
    """A leaf."""

    value: Expr[Scalar]


@variant
class Node:
    """A node."""

    left: Leaf | Node
    right: Leaf | Node


TREE = data(Leaf, Node, value=R)


@term(R, TREE)
def total(w: Expr[Scalar], tree: Leaf | Node) -> Expr[Scalar]:
    """w times the sum of the leaves."""
    match tree:
        case Leaf(value):
            return w * value
        case Node(left, right):
            return total(w, left) + total(w, right)


SQ, F = t("sq"), t(r"\f. f 1")
D = backward.differential(F, SQ)
LEAF = Leaf(ONE)
THINGS: dict[str, Any] = {
    "a string": "sq",
    "a float": 3.0,
    "an integer": 3,
    "a negative integer": -1,
    "None": None,
    "a list": [1.0],
    "a dict": {},
    "a set": {1},
    "an array": np.ones(3),
    "a number": ONE,
    "a vector": V.ones(),
    "two numbers": (ONE, ONE),
    "a space": V,
    "a map": fun(V)(lambda x: x @ x),
    "a function": lambda x: x,
    "a class": Leaf,
    "a tree": LEAF,
    "data": TREE,
    "a function on data": total,
    "a term": SQ,
    "a number as a term": t("3"),
    "a functional": F,
    "a covector": t("cov(1)"),
    "an open term": MODULE.reader.term("zz 1"),
    "a term and its type": MODULE.term("sq"),
    "the value of a function": forward.evaluate(SQ),
    "the value of a list": forward.evaluate(t("[1, 2]")),
    "a module": MODULE,
}
Entrance = Callable[[Any], Any]
ENTRANCES: dict[str, Entrance] = {
    "evaluate(…)": forward.evaluate,
    "evaluate(t, …)": lambda a: forward.evaluate(SQ, a),
    "evaluate(t, None, …)": lambda a: forward.evaluate(SQ, None, a),
    "call(…)": lambda a: forward.call(a),  # noqa: PLW0108 - none of the arguments after
    "call(…, v)": lambda a: forward.call(a, ONE),
    "call(f, v, …)": lambda a: forward.call(forward.evaluate(SQ), ONE, a),
    "call(f, v, steps=…)": lambda a: forward.call(forward.evaluate(SQ), ONE, steps=a),
    **{
        f"call(evaluate({text}), …)": lambda a, text=text: forward.call(forward.evaluate(t(text)), a)  # type: ignore[misc]
        for text in ("sq", "sum", "given 3", r"\<x, y>. x*y", r"\f. f 1", "power [1, 2]", "power")
    },
    "program(…, v)": lambda a: forward.program(a, ONE),
    **{
        f"program({text}, …)": lambda a, text=text: forward.program(t(text), a)  # type: ignore[misc]
        for text in ("sq", "sum", "given 3", r"\<x, y>. x*y", r"\f. f 1", r"\x. x")
    },
    "run(…)": forward.run,
    "run(text, …)": lambda a: forward.run("value 1 = 1", a),
    "run(text, file, …)": lambda a: forward.run("value 1 = 1", "x.lam", a),
    "Module.read(…)": lambda a: list(forward.Module().read(a)),
    "Module.term(…)": MODULE.term,
    "checked(…)": MODULE.checked,
    "general(…)": MODULE.general,
    "Taylor(…)": forward.Taylor,
    "Taylor.of(…, R)": lambda a: forward.Taylor.of(a, 1),
    "Taylor.of(k, …)": lambda a: forward.Taylor.of(1, a),
    "Taylor.of(k, R).term(…)": forward.Taylor.of(1, 1).term,
    "Taylor.of(k, R).type(…)": forward.Taylor.of(1, 1).type,
    "reduce(…)": backward.reduce,
    "reduce(t, …)": lambda a: backward.reduce(SQ, a),
    "pairing(…, d)": lambda a: backward.pairing(a, SQ),
    "pairing(c, …)": lambda a: backward.pairing(D.term, a),
    "pairing(c, d, …)": lambda a: backward.pairing(t("cov(1)"), t("1"), a),
    "differential(…, f)": lambda a: backward.differential(a, SQ),
    "differential(F, …)": lambda a: backward.differential(F, a),
    "Covector(…)": backward.Covector,
    "differential(F, f)(…)": D,
    "differential(F, f).representer(…)": D.representer,
    "steps(…)": lambda a: list(backward.steps(a)),
    "steps(t, …)": lambda a: list(backward.steps(SQ, a)),
    "run(…) of pullbacks": backward.run,
    "variant(…)": variant,
    "data(…)": data,
    "data(A, B, x=…)": lambda a: data(Leaf, Node, value=a),
    "sequence(…)": sequence,
    "arrow(…, V)": lambda a: arrow(a, R),
    "arrow(V, …)": lambda a: arrow(R, a),
    "term(…)": term,
    "term(V, to=…)": lambda a: term(R, to=a),
    "term(V)(…)": term(R),
    "case(…, on(A, f))": lambda a: case(a, on(Leaf, lambda x: x)),
    "case(v, …)": lambda a: case(LEAF, a),
    "on(…, f)": lambda a: on(a, lambda x: x),
    "on(A, …)": lambda a: on(Leaf, a),
    "on(A, f) | …": lambda a: on(Leaf, lambda x: x) | a,
    "folded(f, …, items)": lambda a: folded(lambda x, s: s + x, a, (ONE,)),
    "folded(f, v, …)": lambda a: folded(lambda x, s: s + x, R.vec(0.0), a),
    "forest(…, trees)": lambda a: forest(a, [LEAF]),
    "forest(f, …)": lambda a: forest(total, a),
    "forest(f, […])": lambda a: forest(total, [a]),
    "forest(f, trees)(…)": forest(total, [LEAF]),
    "as_vector(…)": as_vector,
    "f(…, t)": lambda a: total(a, LEAF),
    "f(…)": untyped(total),
    "f(v, t, …)": lambda a: total(ONE, LEAF, a),  # type: ignore[call-overload]
    "f(v, word=…)": lambda a: total(ONE, word=a),  # type: ignore[call-overload]
    "f.at(…, t)": lambda a: total.at(a, LEAF),
    "f.at(v, …)": lambda a: total.at(ONE, a),
    "f.at(…)": total.at,
    "f.at(v, word=…)": lambda a: total.at(ONE, word=a),
    "f.at(v, t).arguments(…)": total.at(ONE, LEAF).arguments,
    "f.at(v, t).argument(1, …)": lambda a: total.at(ONE, LEAF).argument(1, a),
    "f.at(v, t).argument(…, v)": lambda a: total.at(ONE, LEAF).argument(a, ONE),
    "f.at(v, t).positions(…)": total.at(ONE, LEAF).positions,
    "f.at(v, t).result(…)": total.at(ONE, LEAF).result,
    "grad(f, …)": lambda a: grad(total, a),
    "grad(f)(…, t)": lambda a: grad(total)(a, LEAF),
    "grad(f)(v, …)": lambda a: grad(total)(ONE, a),
    "grad(f)(…)": untyped(grad(total)),
    "grad(f)(v, Leaf(…))": lambda a: grad(total)(ONE, Leaf(a)),
    "program(f, at=…)": lambda a: program(total, at=a),
    "program(f, …)": lambda a: program(total, a),  # type: ignore[call-overload]
    "save(…, file)": lambda a: TREE.save(a, "x.npz"),
    "load(…)": lambda a: TREE.load(a) if a is not THINGS["a string"] else None,  # a name of no file is Python's error
}


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_no_error_but_the_library_s(entrance: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each entrance takes a thing or refuses it by a SpaceError."""
    monkeypatch.chdir(tmp_path)  # some of them write files
    for thing in THINGS.values():
        with contextlib.suppress(SpaceError):
            ENTRANCES[entrance](thing)


SAID: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: forward.evaluate(MODULE.term("sum [1,2]")),  # type: ignore[arg-type]
        "not the pair of a term and its type: write [0] after the pair",
    ),
    (lambda: backward.reduce("sq"), "reduce(t) takes a term, not 'sq': Module().term(text)[0] is that of a text"),  # type: ignore[arg-type]
    (lambda: backward.reduce(SQ, -1), "reduce(t, steps=…)"),
    (lambda: backward.reduce(SQ, 2.5), "reduce(t, steps=…)"),  # type: ignore[arg-type]
    (lambda: backward.reduce(total), "or, of a function on data, f.term, not "),  # type: ignore[arg-type]
    (lambda: forward.call(t("sum"), ONE), "takes the value of a term, not a term: call(evaluate(t), …)"),
    (lambda: forward.call(forward.evaluate(SQ), ONE, ONE), "f takes 1 argument, and more are given"),
    (
        lambda: forward.call(forward.evaluate(t("sum")), V.ones()),
        "argument 1 of call(f, …): a vector of ℝ^3 where a value of type list real is due: evaluate(",
    ),
    (
        lambda: forward.program(t("sum"), [ONE]),
        "a list of 1 where a value of type list real is due: evaluate(Module().",
    ),
    (lambda: forward.program(t("sum"), t("[1]")), "a term where a value of type list real is due: evaluate(t) is the"),
    (lambda: forward.program(SQ, at=3.0), "program(t, at=v): 3.0 where a vector of ℝ is due: make it by V.vec(data)"),
    (lambda: forward.program(SQ, at=V.ones()), "program(t, at=v): a vector of ℝ^3 where a vector of ℝ is due"),
    (lambda: forward.program(t("3"), at=ONE), "program(t, at=v) takes a function, and t is of type real"),
    (
        lambda: backward.differential(F, t("3")),
        "F is of type (real → real) → real: f is due of type real → real, not real",
    ),
    (lambda: D(t(r"\x. [x]")), "is paired with a direction of type real → real, not real → list real"),
    (lambda: D(t("Just")), "is paired with a direction of type real → real, not real → Maybe real"),
    (lambda: D(2.0), "d(h) takes a term, such as Module().term(text)[0] or, of a function on data, f.term, not 2.0"),  # type: ignore[arg-type]
    (lambda: backward.Covector(t("3")), "a sum of ev and dv, as differential(F, f) gives, not 3"),
    (lambda: program(total, (ONE, LEAF)), "write program(f) of a map, and program(f, at=(v, w)) of a function on data"),  # type: ignore[call-overload]
    (untyped(V).random, "write V.random(rng), where rng = numpy.random.default_rng(seed)"),
    (lambda: V.ones().replace(s=1.0), "write p.replace(Layer.bias, v), with the lens of a part"),  # type: ignore[call-overload]
    (lambda: V.ones().sum(1, 2), ".sum() takes from 1 to 2 positional arguments but 3 were given: one axis at a time"),  # type: ignore[call-overload]
    (lambda: total(ONE), "total(w, tree) takes 2 arguments, not 1"),  # type: ignore[call-overload]
]


@pytest.mark.parametrize("k", range(len(SAID)))
def test_what_is_said(k: int) -> None:
    """What is given, what is due, and what to write."""
    call, said = SAID[k]
    with pytest.raises(SpaceError) as caught:
        call()
    assert said in str(caught.value)


def test_what_is_said_works() -> None:
    """The remedies that these messages name."""
    assert float(forward.call(forward.evaluate(t("sum")), forward.evaluate(t("[1, 2]")))) == 3.0
    assert float(forward.evaluate(MODULE.term("sum [1,2]")[0])) == 3.0
    pair = forward.evaluate(t(r"\<x, y>. x*y"))
    assert float(forward.call(pair, direct_sum(R, R).vec((2.0, 3.0)).split())) == 6.0
    assert program(total, at=(ONE, LEAF)).dom == direct_sum(R, R)
    assert backward.reduce(total.term) == total.term


def test_a_function_on_data_is_made_by_its_decorator() -> None:
    """Its class says so of what is no function, and of kinds that are no tuple."""
    for given in ((1, (V,), None), (len, None, None)):
        with pytest.raises(
            SpaceError, match=r"TermFunction takes a function and a tuple of kinds, not .*: write @term"
        ):
            TermFunction(*given)
