"""Laws of terms with pullbacks in them: `steps`, `reduce`, types, and differences of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint.higher import pairing, reduce, steps
from adjoint.higher.term.claims import same
from diff.higher import evaluate
from diff.lam.check.library_names import sign
from diff.lam.files.type_of_term import type_of
from diff.lam.term.terms import AnyTerm, App, Cov, Lam, Let, Lit, Prim, Pull, Tuple, Var, fresh, real
from diff.lam.term.types import REAL, Arrow, TupleType, dual
from hilbert import R
from tests.lambda_terms import PLANE
from tests.pullback_terms import ENDO, Pullbacks

TYPES = (REAL, PLANE, TupleType((REAL, PLANE)), dual(REAL), TupleType((REAL, dual(REAL))), ENDO)
ONE = Lam(fresh("_", REAL), Cov(real(1.0)))


def generated(seed: int, form: AnyTerm = ONE) -> tuple[Any, Var, AnyTerm, AnyTerm]:
    """((Ω λx. t)·ω) a, and x, t, a."""
    ty = TYPES[seed % len(TYPES)]
    terms, x = Pullbacks(seed), fresh("x", ty)
    body, at = terms.term(REAL, (x,), 16), terms.leaf(ty, ())
    return App(Pull(x, body, form), at), x, body, at


@pytest.mark.parametrize("seed", range(60))
def test_steps_and_reduce(seed: int) -> None:
    """Every step keeps the type, and the last one is the normal form."""
    term, *_ = generated(seed)
    last = term
    for step in steps(term):
        last = step.term
        assert step.rule != "§14"  # no rest is left to the machine
        assert type_of(last) is type_of(term)
    assert last == reduce(term)


def test_the_tangent_of_a_function_does_not_move_again() -> None:
    """Where a step has no normal form the machine takes the rest."""
    term, *_ = generated(763)
    *_, last = steps(term)
    assert last.rule == "§14"
    assert last.term == reduce(term) == reduce(reduce(term))


@pytest.mark.parametrize("seed", range(60))
def test_steps_with_a_free_form(seed: int) -> None:
    """With a free 1-form steps and the machine may stop at other terms; they agree once the form is given."""
    w = fresh("w", Arrow(REAL, dual(REAL)))
    term, *_ = generated(seed, w)
    last = term
    for step in steps(term):
        last = step.term
        assert type_of(last) is type_of(term)
    u = fresh("u", REAL)
    form = Lam(u, Cov(Prim(sign("*", R, R), Tuple((real(1.5), u)), "*")))
    assert same(reduce(Let(w, form, last)), reduce(Let(w, form, reduce(term))))


@pytest.mark.parametrize("seed", range(60))
def test_pullbacks_are_differences(seed: int) -> None:
    """⟪((Ω λx. t)·1) a, u⟫ is the central difference of values of t, which has pullbacks itself, by numpy."""
    seed = 6 * (seed // 2) + seed % 2  # numbers and vectors
    term, x, body, at = generated(seed)
    assert isinstance(at, Lit)
    u = Pullbacks(seed + 1).leaf(type_of(at), ())
    assert isinstance(u, Lit)

    def value(t: float) -> float:
        point: Any = at.value + t * u.value
        return float(evaluate(reduce(Let(x, Lit(point), body))).array)

    h = 1e-3
    d1, d2 = ((value(k * h) - value(-k * h)) / (2 * k * h) for k in (1, 2))
    slope = (4 * d1 - d2) / 3  # Richardson
    if not np.isfinite(slope) or abs(d1 - d2) > 1e-3 * (1 + abs(d1)):
        return  # too steep for differences
    assert float(pairing(reduce(term), u).array) == pytest.approx(slope, rel=1e-5, abs=1e-5)
