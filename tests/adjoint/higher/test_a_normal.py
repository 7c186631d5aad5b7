"""A-reduction (§8 of the paper) as text: what is named, in which order, and what is a series already."""

from __future__ import annotations

from typing import Any

import pytest

from adjoint.higher.term.anormal import a_normal, is_a_normal, is_elementary
from diff.higher import Module

FREE = """data Maybe a = Nothing | Just a
var s : real
var k : real -> real
var u : Maybe real
var p : real * real
var w : real -> real^*
var c : real^*
"""
REDUCED = [
    ("s", "let z = s in z"),
    ("2", "let z = 2 in z"),
    ("(zero : real)", "let z = zero in z"),
    ("cov(2, 3)", "let z = cov(2, 3) in z"),
    ("cov(2, s)", "let z = 2 in let z1 = ⟨z, s⟩ in let z2 = cov(z1) in z2"),
    ("sin (cos s)", "let z = cos s in let z1 = sin z in z1"),
    ("sin s + cos s", "let z = sin s in let z1 = cos s in let z2 = z + z1 in z2"),
    ("<sin s, s>", "let z = sin s in let z1 = ⟨z, s⟩ in z1"),
    ("pi_2 <s, sin s>", "let z = sin s in let z1 = ⟨s, z⟩ in let z2 = pi_2 z1 in z2"),
    ("Just (sin s)", "let z = sin s in let z1 = Just z in z1"),
    (r"\x. sin (cos x)", "let z = λx. let z1 = cos x in let z2 = sin z1 in z2 in z"),
    (
        r"dual(\v. jac(sin, -v) s, c)",
        "let z = dual(λv. let z1 = -v in let z2 = jac(sin, z1) in let z3 = z2 s in z3, c) in z",
    ),
    (r"dual(\(v : real). v + v, w s)", "let z = w s in let z1 = dual(λv. let z2 = v + v in z2, z) in z1"),
    (r"pull(\x. sin (cos x), w)", "let z = pull(λx. let z1 = cos x in let z2 = sin z1 in z2, w) in z"),
    (r"let a = sin s in \x. a + x", "let z = sin s in let z1 = λx. let z2 = z + x in z2 in z1"),
    (
        "if less p then sin (cos s) else s",
        "let z = less p in let z1 = if z then let z2 = cos s in let z3 = sin z2 in z3 else let z4 = s in z4 in z1",
    ),
    (
        "case u of {Nothing -> s | Just y -> sin (cos y)}",
        "let z = case u of {Nothing → let z1 = s in z1 | Just y → let z2 = cos y in let z3 = sin z2 in z3} in z",
    ),
    (
        "case Just s of {Nothing -> s | Just y -> y}",
        "let z = Just s in let z1 = case z of {Nothing → let z2 = s in z2 | Just y → let z3 = y in z3} in z1",
    ),
    (
        "fold (e, a). e + a over [s] from s",
        (
            "let z = () in let z1 = Nil z in let z2 = ⟨s, z1⟩ in let z3 = Cons z2 in "
            "let z4 = fold (e, a). let z5 = e + a in z5 over z3 from let z6 = s in z6 in z4"
        ),
    ),
    ("jac(sin, cos s) s", "let z = cos s in let z1 = jac(sin, z) in let z2 = z1 s in z2"),
    ("sharp(w s)", "let z = w s in let z1 = sharp(z) in z1"),
    ("eps(k s)", "let z = k s in let z1 = eps(z) in z1"),
    ("diff(k, sin s, cos s)", "let z = sin s in let z1 = cos s in let z2 = diff(k, z, z1) in z2"),
    ("ev(sin s; w s)", "let z = sin s in let z1 = w s in let z2 = ev(z; z1) in z2"),
    ("cov(1) + w s", "let z = cov(1) in let z1 = w s in let z2 = z + z1 in z2"),
]
LETS = [
    ("let a = sin s in cos a", "let z = sin s in let z1 = cos z in z1"),
    ("let a = sin s in a", "let z = sin s in z"),
    ("let a = s in a", "let z = s in z"),
    (r"(\x. x + s) s", "let z = s + s in z"),
    (
        "case p of <a, b> -> less(a, b)",
        "let z = pi_1 p in let z1 = pi_2 p in let z2 = ⟨z, z1⟩ in let z3 = less z2 in z3",
    ),
    (
        "let <a, <b, d>> = <s, p> in d",
        "let z = ⟨s, p⟩ in let z1 = pi_1 z in let z2 = pi_2 z in let z3 = pi_1 z2 in let z4 = pi_2 z2 in z4",
    ),
    ("let a = sin s in let b = cos s in a", "let z = sin s in let z1 = cos s in let z2 = z in z2"),
]


def term_of(text: str) -> Any:
    module = Module()
    assert not list(module.read(FREE))
    return module.term(text)[0]


@pytest.mark.parametrize(("text", "due"), REDUCED, ids=[text for text, _ in REDUCED])
def test_a_reduction_as_text(text: str, due: str) -> None:
    """Every part has a name, in the order of evaluation; the result is a series."""
    made = a_normal(term_of(text))
    assert str(made) == due
    assert is_a_normal(made)
    assert a_normal(made) == made


@pytest.mark.parametrize(("text", "due"), LETS, ids=[text for text, _ in LETS])
def test_lets_in_a_row(text: str, due: str) -> None:
    """What has a name gets no other, but for the last; the variables of a pattern are components."""
    assert str(a_normal(term_of(text))) == due


SERIES = [
    ("s", True, True),
    ("sin s", True, True),
    ("<s, s>", True, True),
    ("s + s", True, True),
    ("cov(s)", True, True),
    ("cov(2, 3)", True, True),
    ("pi_1 p", True, True),
    ("ev(s; c)", True, True),
    ("dv(s, s; c)", True, True),
    ("let a = sin s in a", True, False),
    ("let a = sin s in let b = cos a in b", True, False),
    ("let a = sin s in cos a", True, False),
    ("sin (cos s)", False, False),
    ("<s, 2>", False, False),
    ("s + 2", False, False),
    ("s * s", False, False),
    ("cov(s, 2)", False, False),
    ("cov(cos s)", False, False),
    ("ev(s; cov(1))", False, False),
    ("ev(2; c)", False, False),
    ("case p of <a, b> -> a", False, False),
    ("case p of <a, b> -> sin a", False, False),
    ("let a = sin (cos s) in a", False, False),
    ("let a = sin s in sin (cos a)", False, False),
    ("let a = (let b = s in b) in a", False, False),
    (r"\x. sin x", True, True),
    (r"\x. sin (cos x)", False, False),
    (r"let f = \x. sin (cos x) in f", False, False),
    (r"let f = \x. sin (cos x) in let b = f s in b", False, False),
    (r"let f = \x. sin x in \x. f (f x)", False, False),
    (r"dual(\(v : real). v + v, c)", True, True),
    (r"dual(\(v : real). v + (v + v), c)", False, False),
    (r"dual(\(v : real). v, w s)", False, False),
    (r"pull(\x. sin x, w)", True, True),
    (r"pull(\x. sin (cos x), w)", False, False),
    (r"pull(\x. x, \y. w y)", False, False),
]


@pytest.mark.parametrize(("text", "is_series", "is_one"), SERIES, ids=[text for text, *_ in SERIES])
def test_what_is_a_series(text: str, *, is_series: bool, is_one: bool) -> None:
    """Lets of elementary terms, also in the bodies of functions, dual maps and pullbacks; one elementary term."""
    term = term_of(text)
    assert is_a_normal(term) is is_series
    assert is_elementary(term) is is_one
