"""Pullbacks in pullbacks over functions: covectors that move, or an error that names what has none (§10.1)."""

from __future__ import annotations

import os
import random
from functools import cache

import pytest

from adjoint.higher import pairing, reduce, steps
from adjoint.higher.term.claims import run
from diff.higher import Module, TermError, evaluate
from diff.lam.term.terms import AnyTerm, Cov

SEEDS = int(os.environ.get("PULLBACKS", "6"))
"""How many programs of each kind are generated."""
KINDS = {  # the type of y, where it is, and a direction
    "functional": ("(real -> real) -> real", r"h (h 1) + s*(h 3 * h 2)", r"\h. h 3 * h 2", r"\h. "),
    "function": ("real -> real", "a*a + s*sin a", r"\a. sin a", r"\a. "),
}


class Programs:
    """Texts of numbers and functions, in the names at hand: r a number, f a function, u a functional."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def number(self, env: dict[str, str], depth: int) -> str:
        """A real."""
        r = self.random
        names = {k: [x for x, kind in env.items() if kind == k] for k in "rfu"}
        if depth <= 0:
            return r.choice([*names["r"], "0.5", "1.5"])
        forms = [
            "product",
            "sine",
            "sum",
            "gradient",
            *["call"] * 3 * bool(names["f"]),
            *["apply"] * 4 * bool(names["u"]),
        ]
        match r.choice(forms):
            case "product":
                return f"({self.number(env, depth - 1)} * {self.number(env, depth - 1)})"
            case "sum":
                return f"({self.number(env, depth - 1)} + {self.number(env, depth - 1)})"
            case "sine":
                return f"sin ({self.number(env, depth - 1)})"
            case "call":
                return f"{r.choice(names['f'])} ({self.number(env, depth - 1)})"
            case "apply":
                return f"{r.choice(names['u'])} ({self.function(env, depth - 1)})"
            case _:
                return f"sharp({self.gradient(env, depth - 1)})"

    def function(self, env: dict[str, str], depth: int) -> str:
        """A function of reals."""
        x = f"x{len(env)}"
        return rf"\({x} : real). {self.number({**env, x: 'r'}, depth - 1)}"

    def gradient(self, env: dict[str, str], depth: int) -> str:
        """A covector of reals."""
        return f"pull({self.function(env, depth)}, cov(1)) ({self.number(env, depth - 1)})"


@cache
def term_of(text: str) -> AnyTerm:
    return Module().term(text)[0]


def number_of(text: str) -> float:
    found = reduce(term_of(text))
    return float(evaluate(found.of if isinstance(found, Cov) else found).array)


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("kind", KINDS)
def test_pairings_are_differences(kind: str, seed: int) -> None:
    """⟪((Ω λy. t)·ω) S, h⟫ is the difference of t along S + s·h, t with gradients in it; steps end as reduce does."""
    ty, at, along, binder = KINDS[kind]
    programs = Programs(seed)
    env = {"y": "u" if kind == "functional" else "f"}
    body = programs.number(env, 4) if seed % 2 else programs.gradient(env, 4)
    if seed % 2:
        text, value = rf"pull(\(y : {ty}). {body}, cov(1))", body
    else:
        text, value = rf"pull(\(y : {ty}). {body}, \c. eps(1))", f"sharp({body})"

    def line(s: float) -> float:
        return number_of(rf"(\(y : {ty}). {value}) ({binder}{at.replace('s*', f'({s})*')})")

    term, direction = term_of(f"{text} ({binder}{at.replace('s*', '0*')})"), term_of(along)
    h = 1e-3
    due = (8 * (line(h) - line(-h)) - (line(2 * h) - line(-2 * h))) / (12 * h)
    assert float(pairing(term, direction).array) == pytest.approx(due, rel=1e-6, abs=1e-6)
    found = normal_form(term)
    if found is None:
        return
    assert float(pairing(found, direction).array) == pytest.approx(due, rel=1e-6, abs=1e-6)
    *_, last = steps(term)
    assert last.term == found


def normal_form(term: AnyTerm) -> AnyTerm | None:
    """What a term reduces to; None where the error says that there is a second derivative of a function."""
    try:
        return reduce(term)
    except TermError as error:
        if error.code == "limit" and "a second derivative, 𝒟(𝒟h)(a)(u)(v)" in error.message:
            return None
        raise


NONE = {
    "a second derivative, 𝒟(𝒟h)(a)(u)(v)": (
        r"pull(\(y : real -> real). pull(\x. y (sharp(pull(\z. y (z + x), cov(1)) (y (0.5*x)))), cov(1)) (y 1),"
        r" \c. eps(1)) (\a. a*a)"
    ),
    "the derivative 𝒟h(a)(u), where h moves": (
        r"pull(\(u : (real -> real) -> real). pull(\(g : real -> real). u (\a. g (a*a)), \_. cov(1)) sin,"
        r" \c. eps(\x. x)) (\h. h (h 1))"
    ),
}


@pytest.mark.parametrize("construct", NONE)
def test_covectors_that_have_no_normal_form(construct: str) -> None:
    """The error names the construct, cites the figure and has a remedy."""
    for end in (reduce, lambda term: list(steps(term))):
        with pytest.raises(TermError, match=r"\(§10\.1\): a covector of functions moves: for the entry of") as caught:
            end(term_of(NONE[construct]))
        assert caught.value.code == "limit"
        assert caught.value.message.startswith(construct)
        assert caught.value.place is not None


def test_programs_of_a_page() -> None:
    """One normal form; dv at functions, in each of its places, and along directions that have no covector."""
    report = run(r"""
reduce pull(\l. l (\m n. m*m + n) 0, cov(1)) (\f d. f (-2) (f 1 d)) = ev(\m n. m*m + n; ev(0; cov(1)))
pair pull(\u. pull(\x. u (\a. a*x), cov(1)) 2, \c. eps(1)) (\h. h (h 1)) with (\h. h 3) = 3
pair pull(\u. pull(\x. u (\a. a*x), cov(1)) 2, \c. eps(1)) (\h. h (h 1)) with (\h. h (h 3)) = 12
reduce pull(\u. pull(\(g : real -> real). u g, cov(1)) sin, \c. eps(\x. x)) (\h. h (h 1)) = dv(sin, \x. x; cov(1))
pair pull(\u. pull(\(g : real -> real). u (\a. g (a*a)), \_. cov(1)) sin, \c. eps(\x. x)) (\h. h 1) with (\h. h 3) = 9
pair pull(\u. pull(\<x, z>. u (\a. a*x*z), cov(1)) <2, 3>, \c. eps(<0, 1>)) (\h. h (h 1)) with (\h. h 3) = 6
pair (\k. pull(\u. pull(\x. u (\a. a*x), cov(1)) k, \c. eps(1)) (\h. h (h 1))) 2 with (\h. h 3) = 3
""")
    assert all(result.found is None for result in report.results), str(report)
    term = term_of(r"pull(\l. l (\m n. m*m + n) 0, cov(1)) (\f d. f (-2) (f 1 d))")
    *_, last = steps(term)
    assert (last.term, str(last.term)) == (reduce(term), r"ev(λm. λn. m*m + n; ev(0; cov(1)))")
