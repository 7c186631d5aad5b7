"""Derivatives by hand in derivatives of derivatives: of f(x) = x², wrong on purpose."""

from __future__ import annotations

import ast
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from adjoint import check
from adjoint.languages.ks import load
from adjoint.languages.source_text import Source
from diff.lam.term.term_error import TermError
from diff.terms.user_operation import Call
from hilbert import Fin, R

if TYPE_CHECKING:
    from collections.abc import Mapping

BODY = "(def f Float (x : Float) (mul x x))"
EXTERNAL = "(edef f Float (Float))"
HANDS = {
    "fwd": "(def [fwd f] Float ((x : Float) (dx : Float)) (mul (mul 7.0 x) dx))",
    "rev": "(def [rev f] Float ((x : Float) (dr : Float)) (mul (mul 5.0 x) dr))",
    "sufrev": "(def [sufrev f] Float ((x : Float) (dr : Float)) (mul (mul 11.0 x) dr))",
    "suffwdpass": "(def [suffwdpass f] (Tuple Float Float) (x : Float) (tuple (mul x x) (mul 13.0 x)))"
    "(def [sufrevpass [f Float]] Float ((dt : Float) (b : Float)) (mul b dt))",
}
FACTORS = {"fwd": 7.0, "rev": 5.0, "sufrev": 11.0, "suffwdpass": 13.0}
"""c of c·x, what each has for the derivative."""
MODES = {"fwd": ("fwd",), "rev": ("rev",), "sufrev": ("suffwdpass", "sufrev", "rev")}
CALLERS = {
    "plain": "(def h Float (x : Float) (mul x (f x)))",
    "called": "(def k Float (x : Float) (f x)) (def h Float (x : Float) (mul x (k x)))",
    "lanes": "(def h Float (x : Float) (sum (build 2 (lam (i : Integer) (mul (mul 0.5 x) (f x))))))",
    "branch": "(def h Float (v : Float) (sum (map (lam (x : Float) (if (gt x 1.0) (mul x (f x)) 0.0)) (Vec_init v))))",
    "loop": "(def h Float (y : Float) (fold (lam ((a : Float) (x : Float)) (add a (mul y (f x)))) 0.0 (Vec_init y)))",
    "recursion": "(def r Float ((n : Integer) (x : Float)) (if (eq n 0) (f x) (r (sub n 1) x)))"
    "(def h Float (x : Float) (mul x (r 2 x)))",
}
X, D, U, W = 3.0, 0.5, 1.25, -2.0


def numbers(text: str, expression: str) -> list[float]:
    """The numbers of an expression after a text."""
    found = load([Source("hand.ks", text)]).expression(expression)
    return [float(word) for word in found.translate(str.maketrans("()[],", "     ")).split()]


def factor(mode: str, hands: Mapping[str, float], other: float = 2.0) -> float:
    """c of the derivative of f in a mode: of what is written by hand, else of another."""
    return next((hands[kind] for kind in MODES[mode] if kind in hands), other)


HELPERS = """(def split_h Float ((x : Float) (d : Float)) (let ((t b) ([suffwdpass h] x)) ([sufrevpass [h Float]] d b)))
(def rev_h Float ((x : Float) (d : Float)) ([rev h] x d))
"""
INNER = {"fwd": "[fwd h]", "rev": "[rev h]", "sufrev": "[sufrev h]", "split": "split_h"}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("hand", [*HANDS, "fwd rev", "fwd suffwdpass"])
def test_the_modes_of_a_derivative_of_a_derivative(hand: str, caller: str) -> None:
    """c·x is f′ in the inner mode, e·x in the outer: [d h] (x, d) = f(x)·d + x·c·x·d is derived as it is written."""
    kinds = hand.split()
    text = " ".join([BODY, *(HANDS[kind] for kind in kinds), CALLERS[caller], HELPERS])
    hands = {kind: FACTORS[kind] for kind in kinds}
    for (inner, name), outer in product(INNER.items(), ("fwd", "rev", "sufrev", "split")):
        c = factor("sufrev" if inner == "split" else inner, hands)
        e = factor("sufrev" if outer == "split" else outer, hands)
        by_x, by_d = (e + 2.0 * c) * X * D, (1.0 + c) * X * X
        if outer == "fwd":
            made = f"([fwd {name}] (tuple {X} {D}) (tuple {U} {W}))"
            due = [by_x * U + by_d * W]
        elif outer == "split":
            whole = "[sufrevpass [split_h (Tuple Float Float)]]" if inner == "split" else f"[sufrevpass {name}]"
            made = f"(let ((t b) ([suffwdpass {name}] (tuple {X} {D}))) ({whole} {U} b))"
            due = [by_x * U, by_d * U]
        else:
            made = f"([{outer} {name}] (tuple {X} {D}) {U})"
            due = [by_x * U, by_d * U]
        assert numbers(text, made) == pytest.approx(due), (inner, outer)


@pytest.mark.parametrize("hand", HANDS)
def test_three_modes(hand: str) -> None:
    """[fwd [d h]] ((x, y), (u, w)) = f(x)·w + b·x·u·y + c·(2x·u·y + x²·w), with b of fwd, is derived again."""
    text, hands = f"{BODY} {HANDS[hand]} {CALLERS['plain']}", {hand: FACTORS[hand]}
    for inner, outer in product(MODES, MODES):
        c, b, e = factor(inner, hands), factor("fwd", hands), factor(outer, hands)
        by_x = e * X * W + b * U * D + c * (2.0 * U * D + 2.0 * X * W)
        at = f"(tuple (tuple {X} {D}) (tuple {U} {W}))"
        if outer == "fwd":
            assert numbers(text, f"([fwd [fwd [{inner} h]]] {at} (tuple (tuple 1.0 0.0) (tuple 0.0 0.0)))") == (
                pytest.approx([by_x])
            )
        else:
            assert numbers(text, f"([{outer} [fwd [{inner} h]]] {at} 1.0)")[0] == pytest.approx(by_x)


@pytest.mark.parametrize("hand", HANDS)
def test_externals_in_two_modes(hand: str) -> None:
    """What is written for one mode of an external is that of all, and is derived as written."""
    text = f"{EXTERNAL} {HANDS[hand]} (def h Float (x : Float) (mul 2.0 (f x)))"
    c = FACTORS[hand]
    for inner in MODES:
        made = f"([fwd [{inner} h]] (tuple {X} {D}) (tuple {U} {W}))"
        assert numbers(text, made) == pytest.approx([2.0 * c * (D * U + X * W)]), inner


def test_the_two_passes_before_the_split_mode() -> None:
    """Where both are written by hand, callers take the two passes; each name is what is written."""
    text = f"{BODY} {HANDS['sufrev']} {HANDS['suffwdpass']} {CALLERS['plain'].replace('mul x', 'mul 2.0')} {HELPERS}"
    for derivative in ("[sufrev h]", "split_h"):
        assert numbers(text, f"({derivative} {X} {D})") == pytest.approx([2.0 * FACTORS["suffwdpass"] * X * D])
    assert numbers(text, f"([sufrev f] {X} {D})") == [FACTORS["sufrev"] * X * D]


def test_what_a_derivative_by_hand_calls() -> None:
    """It is derived as written, calls at the point by the next mode; in its cotangent it is its own derivative."""
    text = f"""{BODY} {HANDS["fwd"]}
(def twice Float (x : Float) (mul 2.0 x))
(def [fwd twice] Float ((x : Float) (dx : Float)) (mul 3.0 dx))
(def g Float (x : Float) x)
(def [rev g] Float ((x : Float) (dr : Float)) (mul (f x) (twice dr)))
(def h Float (x : Float) (g x))
"""
    assert numbers(text, f"([rev h] {X} {D})") == [2.0 * X * X * D]
    assert numbers(text, f"([fwd [rev h]] (tuple {X} {D}) (tuple {U} {W}))") == pytest.approx(
        [7.0 * X * U * 2.0 * D + X * X * 2.0 * W]
    )


def test_a_derivative_by_hand_of_a_derivative_by_hand() -> None:
    """[fwd [rev f]] replaces ours in the derivatives of what calls [rev f]."""
    text = f"""{BODY} {HANDS["rev"]}
(def [fwd [rev f]] Float ((t : Tuple Float Float) (dt : Tuple Float Float)) (mul 100.0 (get$1$2 dt)))
(def h Float (x : Float) (mul 3.0 ([rev f] x 1.0)))
"""
    assert numbers(text, f"([fwd h] {X} {U})") == [300.0 * U]
    assert numbers(text, f"([rev h] {X} {U})") == [15.0 * U]


def test_a_truth_value_that_is_found_from_reals() -> None:
    """It is an argument, and a part of the result, of what is derived by hand."""
    text = """(def f (Tuple Bool Float) ((b : Bool) (x : Float)) (tuple (not b) (if b (mul x x) x)))
(def [rev f] (Tuple (Tuple) Float) ((s : Tuple Bool Float) (dt : Tuple (Tuple) Float))
  (let (((b x) s) ((u d) dt)) (tuple u (if b (mul (mul 7.0 x) d) d))))
(def h Float (v : Vec Float) (sum (map (lam (x : Float) (get$2$2 (f (gt x 1.0) x))) v)))
"""
    assert numbers(text.replace("[rev f]", "[sufrev f]"), "([rev h] (Vec_init 3.0 0.5) 1.0)") == [6.0, 1.0]
    assert numbers(text, "(h (Vec_init 3.0 0.5))") == [9.5]
    assert numbers(text, "([rev h] (Vec_init 3.0 0.5) 1.0)") == [21.0, 1.0]
    assert numbers(text, "([fwd h] (Vec_init 3.0 0.5) (Vec_init 1.0 1.0))") == [7.0]


NOT_LINEAR = {
    "fwd": "(def [fwd f] Float ((x : Float) (dx : Float)) (mul dx dx))",
    "rev": "(def [rev f] Float ((x : Float) (dr : Float)) (mul dr dr))",
    "sufrev": "(def [sufrev f] Float ((x : Float) (dr : Float)) (mul dr dr))",
    "suffwdpass": "(def [suffwdpass f] (Tuple Float Float) (x : Float) (tuple (mul x x) x))"
    "(def [sufrevpass [f Float]] Float ((dt : Float) (b : Float)) (mul b (mul dt dt)))",
}


@pytest.mark.parametrize("stage", ["fwd", "fwd-opt", "rev", "rev-cse", "split"])
@pytest.mark.parametrize("hand", NOT_LINEAR)
@pytest.mark.parametrize("base", [BODY, EXTERNAL])
def test_a_stage_warns_of_what_is_not_linear_by_hand(base: str, hand: str, stage: str) -> None:
    """The stage of a caller that calls it says what its derivative refuses; f itself has it as it is written."""
    mode = "sufrev" if stage == "split" else stage.partition("-")[0]
    text = f"{base}\n{NOT_LINEAR[hand]}\n(def h Float (x : Float) (mul x (f x)))"
    loaded = load([Source("hand.ks", text)])
    is_called = hand in MODES[mode]
    if not is_called:
        if base == BODY:
            assert loaded.functions["h"].stages()[stage](None, None)
        return
    says = rf"hand.ks:2:.* is not linear in the (co)?tangent, by inspection: the stage {stage} calls it as"
    with pytest.warns(UserWarning, match=says):
        assert loaded.functions["h"].stages()[stage](None, None)
    if base == BODY:
        with pytest.raises(TermError, match=r"hand.ks:2:.* is not linear in the (co)?tangent, by inspection"):
            loaded.expression(f"([{mode} h] {X} {D})")
        assert loaded.functions["f"].stages()[stage](None, None)


def test_a_stage_calls_what_is_not_computed_where_it_looks(capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing is known of what needs another size, and nothing is printed for what is only looked at."""
    text = """(def f Float (v : Vec Float) (index ($trace 6) v))
(def [rev f] (Vec Float) ((v : Vec Float) (dr : Float)) (constVec 7 (mul dr dr)))
(def h Float (x : Vec Float) (mul 2.0 (f x)))
"""
    assert "[rev [f (Vec Float)]]" in load([Source("hand.ks", text)]).functions["h"].stages()["rev"](None, None)
    assert capfd.readouterr() == ("", "")


IN_BODIES = """(def h Float (m : Float) (exp m))
(def [rev h] Float ((m : Float) (dr : Float)) (mul dr (exp m)))
(def two (Tuple Float (Vec Float)) ((k : Float) (v : Vec Float))
  (tuple (mul k k) (build (size v) (lam (i : Integer) (mul k (index i v))))))
(def [fwd two] (Tuple Float (Vec Float)) ((p : Tuple Float (Vec Float)) (d : Tuple Float (Vec Float)))
  (let ((k v) p) (let ((dk dv) d) (tuple (mul 2.0 (mul k dk))
    (build (size v) (lam (i : Integer) (add (mul dk (index i v)) (mul k (index i dv)))))))))
(def one Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (h (index i v))))))
(def where Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (if (gt i 0) (h (index i v)) 2.0)))))
(def nested Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (sum (build 2 (lam (j : Integer)
  (h (add (index i v) (to_float j))))))))))
(def parts Float (v : Vec Float) (sum (build (size v) (lam (i : Integer)
  (let ((a w) (two (index i v) v)) (add a (sum w)))))))
"""


def at_once(name: str, v: Any) -> float:
    """The value in numpy."""
    match name:
        case "one":
            return float(np.exp(v).sum())
        case "where":
            return float(np.exp(v[1:]).sum() + 2.0 * (len(v) > 0))
        case "nested":
            return float(np.exp(v).sum() + np.exp(v + 1).sum())
        case _:  # two parts
            return float((v * v).sum() + v.sum() ** 2)


@pytest.mark.parametrize("name", ["one", "where", "nested", "parts"])
def test_values_in_bodies_are_computed_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function that has a derivative by hand costs its value once in a build, and not once an element."""

    def refused(*_: Any) -> Any:
        msg = "element by element"
        raise AssertionError(msg)

    monkeypatch.setattr(Call, "_each", refused)
    for n in (1, 4):
        V = R ** Fin.of(n)
        f: Any = load([Source("t.ks", IN_BODIES)]).functions[name].of(V)
        for seed in (0, 1):
            v = V.random(np.random.default_rng(seed))
            assert float(f(v)) == pytest.approx(at_once(name, v.array), rel=1e-12)
            assert check(f, v)


def test_externals_that_give_vectors() -> None:
    """The size of what they give is that of their tangent along zero; without one it is not known."""
    forward = "(def [fwd g] (Tuple Float (Vec Float)) ((v : Vec Float) (dv : Vec Float)) (tuple (sum dv) {}))"
    body = "(build (size v) (lam (i : Integer) (mul (cos (index i v)) (index i dv))))"
    text = (
        "(edef g (Tuple Float (Vec Float)) (Vec Float))"
        + forward.format(body)
        + "(def h Float (v : Vec Float) (let ((a w) (g (mul 2.0 v))) (add a (sum w))))"
    )
    f: Any = load([Source("t.ks", text)]).functions["h"]
    for point in ([1.0, 2.0], [0.5, -1.0, 3.0]):
        v = np.array(point)
        due = 2.0 + 2.0 * np.cos(2.0 * v)
        assert f.differential([point], None, reverse=True) == pytest.approx(due, rel=1e-14)
        assert f.differential([point], [point], reverse=False) == pytest.approx(due @ v, rel=1e-14)
        at, ones = " ".join(map(str, point)), "1.0 " * len(point)
        twice = f"([fwd [rev h]] (tuple (Vec_init {at}) 1.0) (tuple (Vec_init {ones}) 0.0))"
        found = load([Source("t.ks", text)]).expression(twice)
        assert ast.literal_eval(found) == pytest.approx((-4.0 * np.sin(2.0 * v)).tolist(), rel=1e-14)
    backward = "(edef k (Vec Float) (Vec Float)) (def [rev k] (Vec Float) ((v : Vec Float) (dr : Vec Float)) dr)"
    lone: Any = load([Source("t.ks", f"{backward} (def h Float (v : Vec Float) (sum (k v)))")]).functions["h"]
    with pytest.raises(TermError, match=r"the size of what k gives is not known, .*: write \[fwd k\] by hand"):
        lone.differential([[1.0, 2.0]], None, reverse=True)


CONSTANT_PARTS = """(def r (Tuple Float Float) (t : Tuple Float Float) (tuple (mul (get$1$2 t) (get$2$2 t)) 1.0))
(def [rev r] (Tuple Float Float) ((t : Tuple Float Float) (d : Tuple Float Float))
  (let ((x y) t) (let ((a b) d) (tuple (mul a y) (mul a x)))))
(def s (Tuple Float Float) (x : Float) (tuple (mul x x) 1.0))
(def [fwd s] (Tuple Float Float) ((x : Float) (d : Float)) (tuple (mul 2.0 (mul x d)) 0.0))
(def alone Float (x : Float) (let ((a b) (r x x)) (add a b)))
(def each Float (x : Float) (sum (map (lam (y : Float) (let ((a b) (r y x)) (add a b))) (Vec_init x 2.0))))
(def of_s Float (x : Float) (let ((a b) (s x)) (add a b)))
(def each_s Float (x : Float) (sum (build 3 (lam (i : Integer) (let ((a b) (s x)) (add a b))))))
"""


@pytest.mark.parametrize(
    ("name", "factor", "constant"), [("alone", 2, 0), ("each", 2, 2), ("of_s", 2, 0), ("each_s", 6, 0)]
)
def test_parts_that_are_constant(name: str, factor: float, constant: float) -> None:
    """Their derivative by hand is 0, which is linear: at a point, and for all elements of a body."""
    f: Any = load([Source("t.ks", CONSTANT_PARTS)]).functions[name]
    for x in (2.0, -3.0):
        due = factor * x + constant
        assert f.differential([x], None, reverse=True) == pytest.approx(due, rel=1e-14)
        assert f.differential([x], [1.5], reverse=False) == pytest.approx(1.5 * due, rel=1e-14)
