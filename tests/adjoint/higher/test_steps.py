"""The small steps of the paper's strategy (§10), Example 12.1, and that the machine comes to the same end."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjoint.higher import reduce, steps
from adjoint.higher.term.anormal import a_normal, is_a_normal
from adjoint.higher.term.claims import same
from adjoint.higher.term.jacobian import Moved, elementary
from diff.higher import Module, TermError, evaluate
from diff.lam.files.type_of_term import type_of
from diff.lam.run.closeness import agree
from diff.lam.term.terms import App, Cov, Lam, Let, Lit, Proj, Pull, Tuple, fresh, real
from diff.lam.term.types import REAL, Arrow, TupleType
from diff.lam.text.items import Claim
from tests.adjoint.higher.test_pullback_laws import HIGHER, POINTS
from tests.lambda_terms import Terms, size

TEXT = (Path(__file__).parent / "pullback.lam").read_text("utf-8")
MODULE = Module()
CLAIMS: list[Claim] = [claim for claim in MODULE.read(TEXT) if claim.word == "reduce"]
LONG = "pull(\\t. sharp(pull(\\s. sharp("
"""The third derivative, whose terms are long."""
SHORT = [c for c in CLAIMS if LONG not in TEXT.splitlines()[c.place.line - 1]]

EXAMPLE = [
    ("A", r"pull(λ⟨x, y⟩. let z = ⟨x, y⟩ in let z1 = g z in let z2 = mult z1 in let z3 = pow2 z2 in z3, w) ⟨1, 3⟩"),
    ("8", r"pull(λ⟨x, y⟩. ⟨⟨x, y⟩, ⟨x, y⟩⟩, pull(λ⟨⟨x, y⟩, z⟩. let z1 = g z in …, w)) ⟨1, 3⟩"),
    ("8", r"…, pull(λ⟨⟨x, y⟩, z⟩. ⟨⟨x, y⟩, z, g z⟩, pull(λ⟨⟨x, y⟩, z, z1⟩. let z2 = mult z1 in …"),
    (
        "8",
        r"…, pull(λ⟨⟨x, y⟩, z, z1⟩. ⟨⟨x, y⟩, z, z1, mult z1⟩, pull(λ⟨⟨x, y⟩, z, z2, z3⟩. let z4 = pow2 z3 in z4, w)…",
    ),
    ("7", r"…, pull(λ⟨⟨x, y⟩, z, z2, z3⟩. pow2 z3, w)…"),
    ("20a (13)", r"dual(λ⟨v, v1⟩. ⟨⟨v, v1⟩, ⟨v, v1⟩⟩, pull(… ⟨⟨1, 3⟩, ⟨1, 3⟩⟩)"),
    ("20a (15)", r"…, dual(λ⟨⟨v, v2⟩, v3⟩. ⟨⟨v, v2⟩, v3, jac(g, v3) ⟨1, 3⟩⟩, pull(… ⟨⟨1, 3⟩, ⟨1, 3⟩, g ⟨1, 3⟩⟩))"),
    ("3", r"… ⟨⟨1, 3⟩, ⟨1, 3⟩, ⟨2, 11⟩⟩))"),
    ("20a (15)", r"…dual(λ⟨⟨v, v4⟩, v5, v6⟩. ⟨⟨v, v4⟩, v5, v6, jac(mult, v6) ⟨2, 11⟩⟩, pull(…, mult ⟨2, 11⟩⟩)))"),
    ("3", r"… ⟨⟨1, 3⟩, ⟨1, 3⟩, ⟨2, 11⟩, 22⟩)))"),
    ("15", r"…, dual(λ⟨⟨v, v7⟩, v8, v9, v10⟩. jac(pow2, v10) 22, w (pow2 22)))))"),
    ("3", r"…, w 484))))"),
    ("5", r"…, cov(⟨0, 0⟩, ⟨0, 0⟩, ⟨0, 0⟩, 44))))"),
    ("5", r"…, cov(⟨0, 0⟩, ⟨0, 0⟩, ⟨484, 88⟩)))"),
    ("5", r"…, cov(⟨0, 0⟩, ⟨660, 528⟩))"),
    ("5", r"cov(660, 528)"),
]


def test_the_example() -> None:
    """§12.1: the let series, the products, the dual maps, then the covectors, each step with its rule."""
    term, _ = MODULE.term(r"pull(\<x, y>. pow2 (mult (g <x, y>)), cov(1)) <1, 3>")
    found = [step for step in steps(term) if step.rule != "1"]  # ω at the value
    assert [str(step).split("  ")[0].strip() for step in found] == [rule for rule, _ in EXAMPLE]
    for step, (_, due) in zip(found, EXAMPLE, strict=True):
        text = str(step.term).replace("λ_. cov(1)", "w").replace("(w)", "w")
        at = 0
        for piece in due.split("…"):
            at = text.index(piece, at) + len(piece)
        assert due.endswith("…") or at == len(text)


@pytest.mark.parametrize("claim", SHORT, ids=lambda c: str(c.place.line))
def test_steps_and_the_machine(claim: Claim) -> None:
    """The last of the steps is the normal form; every step keeps the type."""
    term, ty = MODULE.checked(claim.terms[0])
    last = term
    for step in steps(term, 400):
        assert type_of(step.term) is ty
        assert step.rule != "§14" or same(step.term, last)  # nothing but A-reduction is undone
        last = step.term
    assert last == reduce(term)


def test_rules_are_reached() -> None:
    """The rules 1–20 of the paper occur in its test cases."""
    reached: Counter[str] = Counter()
    for claim in SHORT:
        for step in steps(MODULE.checked(claim.terms[0])[0], 400):
            reached.update((step.rule, step.premise))
    due = "A 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16a 16c 17 18 19b 19c 19d 20a 20b"
    assert set(due.split()) <= set(reached), set(due.split()) - set(reached)


SINGLE = [
    ("9", r"pull(\x. 7, cov(1)) 2", "cov(0)"),
    ("19b", r"pull(\l. sum l, w) (list2 7 (-1))", "dual(λv. v (λm. λn. m + n) 0, w 6)"),
    ("§13", r"pull(\x. if less(x, 1) then x else x*x, cov(1)) 3", "cov(6)"),
    ("5", r"pull(\x. <x, less(x, [|1, 2|])>, \y. cov(y)) [|1, 1|]", "cov([|1.0, 1.0|])"),
    ("8", r"pull(\<x, <y, z>>. let a = x*y in a*z, cov(1)) <2, <3, 5>>", "cov(15, ⟨10, 6⟩)"),
]


@pytest.mark.parametrize(("rule", "text", "due"), SINGLE, ids=[text for _, text, _ in SINGLE])
def test_single_rules(rule: str, text: str, due: str) -> None:
    term, _ = MODULE.term(text)
    found = list(steps(term))
    assert rule in {name for step in found for name in (step.rule, step.premise)}
    assert same(found[-1].term, reduce(term))
    assert str(reduce(term)) == due


IN_ORDER = [
    ("<1 + 1, 2 + 2>", ["⟨2, 2 + 2⟩", "⟨2, 4⟩"]),
    (r"(\f. f) sin (1 + 1)", ["(λx. sin x) (1 + 1)", "(λx. sin x) 2", "sin 2"]),
    ("cov(1 + 1) + cov(2 + 2)", ["cov(2) + cov(2 + 2)", "cov(2) + cov(4)", "cov(6)"]),
    ("jac(sin, 1 + 1) (2 + 2)", ["jac(sin, 2) (2 + 2)", "jac(sin, 2) 4"]),
    ("if less(1, 2) then 1 + 1 else 2", ["if true then 1 + 1 else 2", "1 + 1", "2"]),
    (
        r"diff((\f. f) sin, 1 + 1, 2 + 2)",
        ["diff(λx. sin x, 1 + 1, 2 + 2)", "diff(λx. sin x, 2, 2 + 2)", "diff(λx. sin x, 2, 4)"],
    ),
    ("ev(1 + 1; cov(3 + 3))", ["ev(2; cov(3 + 3))", "ev(2; cov(6))"]),
    ("dv(1 + 1, 2 + 2; cov(3 + 3))", ["dv(2, 2 + 2; cov(3 + 3))", "dv(2, 4; cov(3 + 3))", "dv(2, 4; cov(6))"]),
]


@pytest.mark.parametrize(("text", "due"), IN_ORDER, ids=[text for text, _ in IN_ORDER])
def test_parts_are_evaluated_from_left_to_right(text: str, due: list[str]) -> None:
    """The contexts of §10."""
    found = [str(step.term) for step in steps(MODULE.term(text)[0])]
    assert found[: len(due)] == due


FREE = "data Maybe a = Nothing | Just a\nvar z : real\nvar u : Maybe real\n"
FREE += "var pair : real -> real * real\nvar three : real -> real * (real * real)\nvar c : (real * real)^*"
STOPPED = [
    (r"diff(pair, 1 + 1, 3)", "diff(pair, 2, 3)"),
    (r"diff(three, 2, 3)", "diff(three, 2, 3)"),
    (r"(\<x, y>. x + y) diff(pair, 2, 3)", "pi_1 diff(pair, 2, 3) + pi_2 diff(pair, 2, 3)"),
    (r"diff(\x. pair (x*x), 2, 3)", "⟨pi_1 diff(pair, 4, 12), pi_2 diff(pair, 4, 12)⟩"),
    (r"case sharp(c) of <x, y> -> x*y", "pi_1 sharp(c)*pi_2 sharp(c)"),
    (r"if less(z, 1) then <1, 2> else <3, 4>", "if less ⟨z, 1⟩ then ⟨1, 2⟩ else ⟨3, 4⟩"),
    (r"case u of {Nothing -> <z, 1> | Just x -> <x, x>}", "case u of {Nothing → ⟨z, 1⟩ | Just x → ⟨x, x⟩}"),
]


@pytest.mark.parametrize(("text", "due"), STOPPED, ids=[text for text, _ in STOPPED])
def test_terms_of_products_that_reduction_stops_at(text: str, due: str) -> None:
    """They are not taken apart again and again: the steps end, at the normal form or at t for ⟨π₁ t, …⟩."""
    made = Module()
    assert not list(made.read(FREE))
    term, _ = made.term(text)
    *_, last = term, *(step.term for step in steps(term, 20))
    assert str(last) == due
    assert same(reduce(last), reduce(term))


def elementary_term(text: str) -> tuple[Any, Moved]:
    """An elementary term in y and k, which move, and z, which does not."""
    names = r"\(y : real) (k : real -> real) (phi : real^*) (z : real) (c : real^*) (free : real -> real). "
    term, _ = MODULE.term(names + text)
    moved: Moved = {}
    values = (real(3.0), MODULE.term("sq")[0], Cov(real(4.0)))
    while isinstance(term, Let):  # of definitions
        term = term.body
    for value in values:
        assert isinstance(term, Lam)
        x: Any = term.pattern
        moved[x.number] = value, fresh(f"d{x.name}", x.type)
        term = term.body
    for _ in range(3):
        assert isinstance(term, Lam)
        term = term.body
    return term, moved


RULES = [
    ("9", "z", None),
    ("9", r"\x. x", None),
    ("10", "y + z", "dy"),
    ("10", "y + y", "dy + dy"),
    ("11", "k", "dk"),
    ("12", "pi_1 y", None),
    ("13", "<y, z>", "⟨dy, zero⟩"),
    ("14", "jac(sin, y)", "jac(sin, dy)"),
    ("15", "sin y", "jac(sin, dy) 3"),
    ("16a", r"dual(\(s : real). s, phi)", "dual(λs. s, dphi)"),
    ("16b", r"dual(\s. y*s, c)", "dual(λs. let d = ⟨dy, zero⟩ in let d1 = jac(*, d) ⟨3, s⟩ in d1, c)"),
    (
        "16c",
        r"dual(\s. y*s, phi)",
        "dual(λs. 3*s, dphi) + dual(λs. let d = ⟨dy, zero⟩ in let d1 = jac(*, d) ⟨3, s⟩ in d1, cov(4))",
    ),
    (
        "17",
        r"pull(\x. y*x, \u. c)",
        (
            "λa. let d = ⟨dy, zero⟩ in let d1 = jac(*, d) ⟨3, a⟩ in "
            "let d2 = dual(λu. let d3 = ⟨dy, zero⟩ in let d4 = diff(jac(*, ⟨0, u⟩), ⟨3, a⟩, d3) in d4, c) in d2"
        ),
    ),
    ("18", r"\a. k a", "λa. let d = dk a in d"),
    ("19a", "k z", "dk z"),
    ("19b", "k y", "dk 3 + (let d = ⟨dy, dy⟩ in let d1 = jac(mult, d) ⟨3, 3⟩ in d1)"),
    ("19d", "free y", "diff(free, 3, dy)"),
    ("§13", "sharp(phi)", "sharp(dphi)"),
    ("§13", "if less(z, 1) then y else z", None),
]


@pytest.mark.parametrize(("rule", "text", "due"), RULES, ids=[f"{rule}: {text}" for rule, text, _ in RULES])
def test_rules(rule: str, text: str, due: str | None) -> None:
    """Jac(y. E; V; v) for each form of E."""
    if text == "pi_1 y":
        y, v = fresh("y", TupleType((REAL, REAL))), fresh("v", TupleType((REAL, REAL)))
        for k in range(2):
            assert str(elementary(Proj(k, y), {y.number: (y, v)})[1]) == f"pi_{k + 1} v"
        return
    term, moved = elementary_term(text)
    found, made = elementary(term, moved)
    assert found == rule
    assert due is None or str(made) == due
    assert (made is None) == (rule == "9" or text == r"\a. z")


def test_a_function_that_moves_and_has_no_body() -> None:
    """(19d): ḟ a + 𝒟k(a)(ȧ), f = k a free function."""
    f, dk, k = (fresh(name, Arrow(REAL, REAL)) for name in ("f", "df", "k"))
    y, dy = fresh("y", REAL), fresh("dy", REAL)
    found, made = elementary(App(f, y), {f.number: (k, dk), y.number: (real(3.0), dy)})
    assert (found, str(made)) == ("19d", "df 3 + diff(k, 3, dy)")


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (r"pull(\<a, b>. (\l. l add 0) (list2 a b), cov(1)) <7, -1>", "cov(1, 1)"),  # H8
        (r"pull(\x. k x, cov(1)) 0.4", "dual(λv. diff(k, 0.4, v), cov(1))"),  # H15
        (
            r"pull(\h. pull(\x. h (h x), \u. cov(1)) 2, \phi. eps(1)) sq",
            "dv(2, 1; cov(8)) + dv(4, 4; cov(1)) + ev(2; cov(8))",
        ),  # H19
        (r"pull(\<a, b, c>. squares (list3 a b c), cov(1)) <1, -2, 3>", "cov(2, -4, 6)"),  # H20
    ],
)
def test_what_is_stuck_in_the_published_rules(text: str, due: str) -> None:
    """§11: without (19d), 𝒟F(a)(u), these stop at values 1 and 2; here it is on the way, or is what is left."""
    term, _ = MODULE.term(text)
    texts = [str(step.term) for step in steps(term, 400)]
    assert any("diff(" in one for one in texts)
    assert str(reduce(term)) == due


@pytest.mark.parametrize(
    ("body", "rules"),
    [("2*x", ["6"]), ("(zero : real)", ["5"])],
)
def test_dual_maps_before_a_free_covector(body: str, rules: list[str]) -> None:
    """Rule 6 joins a dual map with one that a free covector stops; where the first is 0, rule 5 needs no covector."""
    module = Module()
    assert not list(module.read("var c : real^*"))
    term, _ = module.term(rf"dual(\(x : real). {body}, dual(\y. 3*y, c))")
    assert [step.rule for step in steps(term)] == rules


IN_TURN = [
    (r"pull(\x. <x, x>, cov(1, 2)) 3", "13 1 5"),  # no ⟨y, E⟩ of rule 8
    (r"pull(\<x, y>. <x, y, y>, cov(1, 2, 3)) <3, 4>", "13 1 5"),
    (r"pull(\x. <x, sin x>, cov(1, 2)) 3", "A 8 7 20a (15) 3 13 1 5 5"),
    (r"dual(\(u : real^*). (zero : real), dual(\y. 3*y, c))", "5"),
    (r"dual(\(u : real -> real). (zero : real), dual(\y. 3*y, c))", "5"),
    (r"dual(\(u : real * real). (zero : real), dual(\y. 3*y, c))", "5"),
    (r"dual(\(u : real -> real). u 2, dual(\y. 3*y, c))", "6"),
    (r"dual(\(u : real -> real). u 2, dual(\y. 3*y, cov(1)))", "5 5"),
]


@pytest.mark.parametrize(("text", "due"), IN_TURN, ids=[text for text, _ in IN_TURN])
def test_rules_in_turn(text: str, due: str) -> None:
    module = Module()
    assert not list(module.read("var c : real^*"))
    found = [f"{step.rule} ({step.premise})" if step.premise else step.rule for step in steps(module.term(text)[0])]
    assert " ".join(found) == due


def test_tuples_of_one() -> None:
    """The ⟨y, z⟩ of rule 8 is a pair where y is a tuple of one: of s²·s², s = sin x, the slope is 4·s³·cos x."""
    x = fresh("x", REAL)
    body = App(MODULE.term(r"\x. let a = sin x in let b = a*a in b*b")[0], x)
    form = Lam(fresh("_", REAL), Cov(real(1.0)))
    for pattern, point in ((Tuple((x,)), Tuple((real(3.0),))), (Tuple((Tuple((x,)),)), Tuple((Tuple((real(3.0),)),)))):
        *_, last = steps(App(Pull(pattern, body, form), point))
        assert same(last.term, reduce(App(Pull(pattern, body, form), point)))
        made: Any = last.term
        while not isinstance(made, Lit):
            made = made.of if isinstance(made, Cov) else made.parts[0]
        np.testing.assert_allclose(evaluate(made).array, 4 * np.sin(3) ** 3 * np.cos(3), rtol=1e-14)


def generated(seed: int) -> Any:
    """A function of a generated term, and a point: numbers, spaces, tuples, variants, lists, trees and functions."""
    types = (*POINTS, *HIGHER)
    ty = types[seed % len(types)]
    terms, x = Terms(seed), fresh("x", ty)
    return x, terms.term(REAL, (x,), 14), terms.term(ty, (), 6)


@pytest.mark.parametrize("seed", range(70))
def test_steps_of_generated_terms(seed: int) -> None:
    """`steps` and `reduce` agree, and every step keeps the type."""
    x, body, at = generated(seed)
    term = App(Pull(x, body, Lam(fresh("_", REAL), Cov(real(1.0)))), at)
    last: Any = term
    for step in steps(term):
        last = step.term
        assert type_of(last) is type_of(term)
    assert same(last, reduce(term))


DECLARED = """data Maybe a = Nothing | Just a
data Shape a = Dot | Ball a | Op (real -> a)
data Rose a = Node (a * list (Rose a))
var f : real -> Maybe real
"""
SHAPES = "case c of {Dot -> x*x | Ball y -> y*d*x/2 | Op f -> x}"
FOLDED = r"(fold Node <Dot, []> of {Node <a, b> -> (\z. <(Ball 1 : Shape real), 1>)})"
VARIANTS = [
    (r"pull(\m. case m of {Nothing -> 0 | Just y -> y*y}, cov(1)) (Just 3)", "cov(Just 6)"),
    (r"pull(\x. case Just x of {Nothing -> 0 | Just y -> y*y}, cov(1)) 3", "cov(6)"),
    (r"pull(\x. case (Nothing : Maybe real) of {Nothing -> x*x | Just y -> y}, cov(1)) 3", "cov(6)"),
    (r"pull(\l. fold (e, a). e*a over l from 1, cov(1)) [2, 3, 4]", "cov([12, 8, 6])"),
    (r"pull(\(l : list real). 7, cov(1)) [2, 3]", "cov([0, 0])"),
    (r"pull(\<x, l>. fold (e, a). x*e + a over l from 0, cov(1)) <2, [3, 4]>", "cov(7, [2, 2])"),
    (r"pull(\x. let l = [x, 2] in fold (e, a). x*e*a over l from 1, cov(1)) 3", "cov(54)"),
    (r"pull(\l. (fold (e, k). (\s. k (s*s + e)) over l from (\s. s)) 2, cov(1)) [1, 3]", "cov([10, 1])"),
    (r"pull(\x. pull(\l. fold (e, a). e*x + a over l from 0, cov(1)) [x, 1], \_. pt([1, 2])) 3", "cov(3)"),
    (r"pull(\x. case f x of {Nothing -> 0 | Just y -> y}, cov(1)) 3", None),
    (rf"pull(\x. case (\z. <(Ball 2 : Shape real), z>) x of <c, d> -> {SHAPES}, cov(1)) 0.5", "cov(1)"),
    (rf"pull(\x. case {FOLDED} x of <c, d> -> {SHAPES}, cov(1)) 0.5", "cov(0.5)"),
    (r"pull(\x. if not (less <x, 0>) then x*x*x else x, cov(1)) 0.5", "cov(0.75)"),
    (r"pull(\x. if and <true, equal <x, x>> then x*x*x else x, cov(1)) 0.5", "cov(0.75)"),
    (r"pull(\x. if or <less <x, 0>, not true> then x*x*x else x, cov(1)) 0.5", "cov(1)"),
]


@pytest.mark.parametrize(("text", "due"), VARIANTS, ids=[text for text, _ in VARIANTS])
def test_steps_of_variants(text: str, due: str | None) -> None:
    """Case, if, fold and constructors, one step at a time; only a free function of which the tag depends stops them."""
    module = Module()
    list(module.read(DECLARED))
    term, ty = module.checked(module.term(text)[0])
    last: Any = term
    for step in steps(term):
        last = step.term
        assert type_of(last) is ty
    if due is None:
        assert "f 3" in str(last)
        return
    assert same(last, reduce(term))
    assert str(last) == due


def test_folds_over_trees() -> None:
    """A fold goes into the lists of its data: 1·(2·(5 + 1) + 3 + 1), and the same along the first number."""
    module = Module()
    list(module.read(DECLARED))
    branches = r"{Node <a, b> -> a * (fold (e, s). e + s over b from 1)}"
    text = rf"\x. fold (Node <x, [Node <2, [Node <5, []>]>, Node <3, []>]>) of {branches}"
    for term, due in ((f"({text}) 1", "16"), (f"pull({text}, cov(1)) 1", "cov(16)")):
        *_, last = steps(module.term(term)[0])
        assert str(last.term) == due


def test_folds_over_functions() -> None:
    """A fold goes into the functions of its data, one step at a time."""
    module = Module()
    list(module.read("data Game = Stop real | Go (real -> Game)"))
    term, ty = module.term(r"fold (Go (\x. Go (\y. Stop (x*y + y)))) of {Stop z -> z*z | Go f -> f 2}")
    last: Any = term
    for step in steps(term):
        last = step.term
        assert type_of(last) is ty
    assert str(last) == str(reduce(term)) == "36"


FOLD = "{Stop z -> z*z | Go f -> f 2}"
GAMES = [  # (4·y²)' = 8·y, (4·y⁴)' = 16·y³, (4·y³)' = 12·y², (16·y⁴)' = 64·y³, all at 3
    (rf"pull(\y. fold (Go (\x. Stop (x*y))) of {FOLD}, cov(1)) 3", "cov(24)"),
    (rf"pull(\y. (\h. fold (h y) of {FOLD}) (\z. Go (\x. Stop (x*y*z))), cov(1)) 3", "cov(432)"),
    (rf"pull(\y. let <a, g> = <y, Go (\x. Stop (x*y))> in a * (fold g of {FOLD}), cov(1)) 3", "cov(108)"),
    (rf"pull(\y. fold (Go (\x. Go (\z. Stop (x*y*y*z)))) of {FOLD}, cov(1)) 3", "cov(1728)"),
]


@pytest.mark.parametrize(("text", "due"), GAMES, ids=[text for text, _ in GAMES])
def test_covectors_on_data_with_functions(text: str, due: str) -> None:
    """These have no normal form: dual maps on such data are joined by rule 6, until one is on what has covectors."""
    module = Module()
    list(module.read("data Game = Stop real | Go (real -> Game)"))
    term, ty = module.term(text)
    rules, last = [], term
    for step in steps(term):
        rules.append(step.rule)
        last = step.term
        assert type_of(last) is ty
    assert "6" in rules
    assert str(last) == str(reduce(term)) == due


def test_a_result_without_normal_form() -> None:
    """Where the whole term is a covector on such data, `steps` ends with the error of `reduce`."""
    module = Module()
    list(module.read("data Game = Stop real | Go (real -> Game)"))
    for text in (
        rf"pull(\g. fold g of {FOLD}, cov(1)) (Go (\x. Stop (x*x)))",
        rf"pull(\g. fold (g 3) of {FOLD}, cov(1)) (\y. Go (\x. Stop (x*y)))",
    ):
        term, _ = module.term(text)
        for run in (reduce, lambda one: list(steps(one))):
            with pytest.raises(TermError, match="there are no covectors on Game"):
                run(term)


def test_all_parts_of_an_entry_have_names() -> None:
    """A-normal form of dv(t, u; c): the covector is a value, too."""
    term, _ = MODULE.term(r"\x. (dv(sin x, cos x; cov(exp x)) : (real -> real)^*)")
    assert isinstance(term, Lam)
    named = "let z = sin x in let z1 = cos x in let z2 = exp x in let z3 = cov(z2) in let z4 = dv(z, z1; z3) in z4"
    assert str(a_normal(term.body)) == named


def test_functions_are_evaluated_before_their_arguments() -> None:
    """A-normal form names them in the order of evaluation."""
    term, _ = MODULE.term(r"\(f : real -> real -> real). (f 1) (f 2 3)")
    assert isinstance(term, Lam)
    due = "let z = 1 in let z1 = f z in let z2 = 2 in let z3 = f z2 in let z4 = 3 in let z5 = z3 z4 in"
    assert str(a_normal(term.body)) == f"{due} let z6 = z1 z5 in z6"


def test_series_in_series_are_not_a_normal() -> None:
    """A let whose value is a series is no series yet."""
    term, _ = MODULE.term(r"\x. let a = (let b = sin x in let c = sin b in c) in let d = sin a in d")
    assert isinstance(term, Lam)
    assert not is_a_normal(term.body)
    assert is_a_normal(a_normal(term.body))


def test_a_covector_of_a_number_in_a_primitive() -> None:
    """A free covector that a transposed map multiplies is a number there: of g(y) = −y·eʸ, g''(2) = −4·e²."""
    inner = r"pull(\y. sharp(dual(\v. cov(-(jac(exp, v) y)), eps(y))), cov(1))"
    term, _ = Module().term(rf"pull(\x. sharp({inner} x), cov(1)) 2")
    last: Any = term
    for step in steps(term):
        last = step.term
        assert type_of(last) is type_of(term)
    assert same(last, reduce(term))
    assert isinstance(last, Cov)
    np.testing.assert_allclose(evaluate(last.of).array, -4 * np.exp(2), rtol=1e-14)


@pytest.mark.parametrize("seed", range(60))
def test_a_reduction(seed: int) -> None:
    """𝒜 keeps type and value; its result is a let series, of a size linear in that of the term."""
    x, body, at = generated(seed)
    made = a_normal(body)
    assert is_a_normal(made)
    assert type_of(made) is type_of(body)
    assert size(made) <= 6 * size(body) + 6
    assert agree(evaluate(Let(x, at, made)), evaluate(Let(x, at, body)))
    left, right = (App(Pull(x, t, Lam(fresh("_", REAL), Cov(real(1.0)))), at) for t in (body, made))
    assert same(reduce(left), reduce(right))


def test_too_many_steps() -> None:
    with pytest.raises(TermError, match="no normal form after 3 steps") as caught:
        list(steps(MODULE.term(r"pull(\x. x*x, cov(1)) 3")[0], 3))
    assert caught.value.code == "limit"


def test_directions_have_the_tags_of_their_point() -> None:
    term, _ = MODULE.term(r"diff(\l. fold (e, a). e*a over l from 1, [1, 2], [1])")
    with pytest.raises(TermError, match="the direction has other tags, or another length, than the point") as caught:
        reduce(term)
    assert caught.value.code == "shape"


def test_as_many_steps_as_are_allowed() -> None:
    """The last may give the normal form."""
    term = Module().term(r"(\x. x*x) 3")[0]
    assert len(list(steps(term, most=2))) == len(list(steps(term))) == 2
    with pytest.raises(TermError, match="no normal form after 1 steps"):
        list(steps(term, most=1))
