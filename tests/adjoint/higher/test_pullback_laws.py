"""Laws of reduction on generated well-typed terms (§15): gradients, the macro, linearity, contravariance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint import grad
from adjoint.higher import pairing, reduce
from adjoint.higher.machine.primitive_adjoints import moving_part
from adjoint.higher.term.claims import same
from diff import fun, jvp
from diff.higher import Taylor, evaluate, program
from diff.lam.check.library_names import sign
from diff.lam.files.claims import gradient
from diff.lam.files.type_of_term import type_of
from diff.lam.run.closeness import agree
from diff.lam.term.inductive import list_of
from diff.lam.term.lam_values import shape_of
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Cov,
    Diff,
    Lam,
    Let,
    Lit,
    Plus,
    Point,
    Prim,
    Proj,
    Pull,
    Tuple,
    Var,
    Zero,
    fresh,
    real,
)
from diff.lam.term.types import REAL, Arrow, DataType, Ground, TupleType, Ty, dual
from hilbert import R, direct_sum
from tests.lambda_terms import MAYBE, PLANE, ROSE, SHAPE, Terms

GROUND = (REAL, PLANE, TupleType((REAL, PLANE)))
POINTS = (*GROUND, DataType(MAYBE, (REAL,)), list_of(REAL), DataType(SHAPE, ()), DataType(ROSE, (REAL,)))
OF_NUMBERS = (
    Arrow(REAL, REAL),
    Arrow(TupleType((REAL, REAL)), REAL),
    Arrow(REAL, TupleType((REAL, PLANE))),
    Arrow(REAL, Arrow(REAL, REAL)),
    TupleType((Arrow(REAL, REAL), REAL)),
)
HIGHER = (
    *OF_NUMBERS,
    Arrow(Arrow(REAL, REAL), REAL),
    Arrow(Arrow(REAL, Arrow(REAL, REAL)), Arrow(REAL, REAL)),
)


def constant(form: AnyTerm, ty: Ty) -> AnyTerm:
    return Lam(fresh("_", ty), form)


def pulled(x: Var, body: AnyTerm, at: AnyTerm, cod: Ty = REAL, covector: AnyTerm | None = None) -> AnyTerm:
    """((Ω λx. t)·(λ_. c)) a; c = [1]* unless it is given."""
    return App(Pull(x, body, constant(covector or Cov(real(1.0)), cod)), at)


def function(seed: int, ty: Ty, size: int = 40) -> tuple[Var, AnyTerm, AnyTerm, Terms]:
    """A variable, a body, and a point."""
    terms = Terms(seed)
    x = fresh("x", ty)
    return x, terms.term(REAL, (x,), size), terms.term(ty, (), 8), terms


# --- first order: Ω is the gradient of the program ---


@pytest.mark.parametrize("seed", range(140))
def test_pullbacks_are_gradients(seed: int) -> None:
    """((Ω λx. t)·[1]*) a is the gradient of t's program at a, on numbers, spaces, tuples, variants, lists and trees."""
    ty = POINTS[seed % len(POINTS)]
    x, body, at, _ = function(seed, ty)
    found = reduce(pulled(x, body, at))
    assert isinstance(found, Cov)
    assert type_of(found) is dual(ty)
    point = evaluate(at)
    if shape_of(point)[1]:
        assert agree(evaluate(found.of), gradient(Lam(x, body), point))


@pytest.mark.parametrize("seed", range(40))
def test_rows_of_jacobians(seed: int) -> None:
    """The main theorem at first order: ((Ω λx. t)·(λ_. c)) r is c on the Jacobian, for t into ℝ × ℝ²."""
    terms, x, cod = Terms(seed), fresh("x", PLANE), TupleType((REAL, PLANE))
    body, at = terms.term(cod, (x,), 50), terms.leaf(PLANE, ())
    c = terms.leaf(cod, ())
    found = reduce(pulled(x, body, at, cod, Cov(c)))
    p: Any = program(Lam(x, body), evaluate(at))
    weights = [w.flat() for w in evaluate(c)]
    rows = sum(
        w @ np.asarray(part).reshape(len(w), 2) for w, part in zip(weights, _blocks(p, evaluate(at)), strict=True)
    )
    assert isinstance(found, Cov)
    np.testing.assert_allclose(evaluate(found.of).array, rows, rtol=1e-9, atol=1e-9)


def _blocks(p: Any, at: Any) -> list[Any]:
    """The rows of the Jacobian, from one jvp for each direction."""
    step = jvp(p)
    columns = [step(at, at.space.vec(e)).split() for e in np.eye(2)]
    return [np.stack([np.atleast_1d(column[k].array) for column in columns], axis=-1) for k in range(2)]


# --- functions as arguments: Ω and D_(1,1) ---


def still(ty: Ty, moving: AnyTerm) -> AnyTerm:
    """The value of a term of type D(σ)."""
    match ty:
        case TupleType(parts):
            return Tuple(tuple(still(part, Proj(k, moving)) for k, part in enumerate(parts)))
        case Arrow(dom, cod):
            y = fresh("y", dom)
            return Lam(y, still(cod, App(moving, embedded(dom, y, Zero(dom)))))
        case _:
            return Proj(0, moving)


def nudged(ty: Ty, moving: AnyTerm, tangent: AnyTerm) -> AnyTerm:
    """A term of type D(σ), to whose tangent one of type σ is added."""
    match ty:
        case TupleType(parts):
            return Tuple(tuple(nudged(part, Proj(k, moving), Proj(k, tangent)) for k, part in enumerate(parts)))
        case Arrow(dom, cod):
            y = fresh("y", D.type(dom))
            return Lam(y, nudged(cod, App(moving, y), App(tangent, still(dom, y))))
        case _:
            assert isinstance(ty, Ground)
            plus = Prim(sign("+", ty.space, ty.space), Tuple((Proj(1, moving), tangent)), "+")
            return Tuple((Proj(0, moving), plus))


def embedded(ty: Ty, value: AnyTerm, tangent: AnyTerm) -> AnyTerm:
    """The pair of a closed value, or a variable of ground type, and a tangent, as a term of type D(σ)."""
    match ty:
        case TupleType(parts):
            return Tuple(tuple(embedded(part, Proj(k, value), Proj(k, tangent)) for k, part in enumerate(parts)))
        case Ground(space):
            return Tuple(
                (value, Lit(space.zeros()) if isinstance(tangent, (Zero, Proj)) and _zero(tangent) else tangent)
            )
        case _:
            return nudged(ty, D.term(value), tangent) if not _zero(tangent) else D.term(value)


def _zero(term: AnyTerm) -> bool:
    while isinstance(term, Proj):
        term = term.of
    return isinstance(term, Zero)


D = Taylor.of(1, 1)


@pytest.mark.parametrize("seed", range(70))
def test_pullbacks_agree_with_the_macro(seed: int) -> None:
    """⟪((Ω λx. P)·1) S, v⟫ is slot 1 of D_(1,1)(P) at the embedded pair (S, v), at types of functions of functions."""
    ty = (*OF_NUMBERS, *GROUND)[seed % 8]
    x, body, at, terms = function(seed, ty)
    along = terms.term(ty, (), 12)
    found = pairing(reduce(pulled(x, body, at)), along)
    jet = evaluate(Let(D.term(x), embedded(ty, at, along), D.term(body)))  # type: ignore[arg-type]
    assert agree(found, jet[1])


@pytest.mark.parametrize("seed", range(70))
def test_pullbacks_are_slopes_of_families(seed: int) -> None:
    """⟪((Ω λx. P)·1) S, v⟫ is the slope of s ↦ P(S + s·v), which is one program, at every type."""
    ty = HIGHER[seed % len(HIGHER)]
    x, body, at, terms = function(seed, ty)
    along = terms.term(ty, (), 12)
    found = pairing(reduce(pulled(x, body, at)), along)
    s = fresh("s", REAL)
    family = Lam(s, Let(x, moved(ty, at, along, s), body))
    slope: Any = grad(program(family, R.vec(0.0)))
    assert agree(found, slope(R.vec(0.0)))
    assert agree(evaluate_reduced(Diff(Lam(x, body), at, along)), found)


def moved(ty: Ty, at: AnyTerm, along: AnyTerm, s: AnyTerm) -> AnyTerm:
    """a + s·u."""
    match ty:
        case TupleType(parts):
            return Tuple(tuple(moved(p, Proj(k, at), Proj(k, along), s) for k, p in enumerate(parts)))
        case Arrow(dom, cod):
            y = fresh("y", dom)
            return Lam(y, moved(cod, App(at, y), App(along, y), s))
        case _:
            assert isinstance(ty, Ground)
            scaled = Prim(sign("*", R, ty.space), Tuple((s, along)), "*")
            return Prim(sign("+", ty.space, ty.space), Tuple((at, scaled)), "+")


def evaluate_reduced(term: AnyTerm) -> Any:
    return evaluate(reduce(term))


# --- nested pullbacks ---


@pytest.mark.parametrize("seed", range(60))
def test_nested_pullbacks_are_second_derivatives(seed: int) -> None:
    """((Ω λx. ((Ω λy. P)·1) x)·ε_u) a is the row of the Hessian along u."""
    ty = (REAL, PLANE, TupleType((REAL, PLANE)))[seed % 3]
    terms = Terms(seed)
    x, y = fresh("x", ty), fresh("y", ty)
    body, at, u = terms.term(REAL, (y,), 30), terms.leaf(ty, ()), terms.leaf(ty, ())
    inner = pulled(y, body, x)
    form = constant(Point(u), dual(ty))
    found = reduce(App(Pull(x, inner, form), at))
    assert isinstance(found, Cov)
    z = fresh("z", ty)
    slope = Pull(z, Diff(Lam(y, body), z, u), constant(Cov(real(1.0)), REAL))  # the gradient of the slope along u
    due = reduce(App(slope, at))
    assert same(found, due)
    p: Any = program(Lam(y, body), evaluate(at))
    leaves = shape_of(evaluate(at))[1]
    point = leaves[0] if len(leaves) == 1 else p.dom.vec(tuple(leaf.array for leaf in leaves))
    along = shape_of(evaluate(u))[1]
    direction = along[0] if len(along) == 1 else p.dom.vec(tuple(leaf.array for leaf in along))
    row: Any = jvp(grad(p))(point, direction)
    flat = np.concatenate([leaf.flat() for leaf in shape_of(evaluate(found.of))[1]])
    np.testing.assert_allclose(flat, row.flat(), rtol=1e-9, atol=1e-9)


# --- algebra ---


@pytest.mark.parametrize("seed", range(35))
def test_identity_constants_and_sums(seed: int) -> None:
    """(Ω λx. x)·ω ≃ ω; constants give 0; λx. A + B, for a constant 1-form, as the sum of covectors; linear in ω."""
    ty = HIGHER[seed % len(HIGHER)]
    x, a, at, terms = function(seed, ty, 30)
    b = terms.term(REAL, (x,), 30)
    v = terms.term(ty, (), 12)
    plus = Prim(sign("+", R, R), Tuple((a, b)), "+")
    sums = pairing(reduce(pulled(x, plus, at)), v)
    parts = [float(pairing(reduce(pulled(x, one, at)), v).array) for one in (a, b)]
    assert float(sums.array) == pytest.approx(sum(parts), rel=1e-9, abs=1e-9)
    k = terms.number()
    scaled = pairing(reduce(pulled(x, a, at, REAL, Cov(real(k)))), v)
    assert float(scaled.array) == pytest.approx(k * parts[0], rel=1e-9, abs=1e-9)
    closed = terms.term(REAL, (), 20)
    assert float(pairing(reduce(pulled(x, closed, at)), v).array) == 0.0
    covector = reduce(pulled(x, a, at))
    y = fresh("y", ty)
    again = reduce(App(Pull(y, y, constant(covector, ty)), at))
    assert same(again, covector)
    assert same(reduce(Plus(covector, Zero(dual(ty)))), covector)
    other = reduce(pulled(x, b, at))
    added = pairing(reduce(Plus(covector, other)), v)
    assert float(added.array) == pytest.approx(sum(parts), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(35))
def test_contravariance(seed: int) -> None:
    """(Ω λx. Q[P/z])·ω ≃ (Ω λx. P)·((Ω λz. Q)·ω), z of any type."""
    ty = HIGHER[seed % len(HIGHER)]
    terms = Terms(seed)
    x, z = fresh("x", PLANE), fresh("z", ty)
    p, q, at = terms.term(ty, (x,), 25), terms.term(REAL, (z,), 25), terms.leaf(PLANE, ())
    one = constant(Cov(real(1.0)), REAL)
    left = reduce(App(Pull(x, Let(z, p, q), one), at))
    right = reduce(App(Pull(x, p, Pull(z, q, one)), at))
    assert isinstance(left, Cov)
    assert isinstance(right, Cov)
    assert agree(evaluate(left.of), evaluate(right.of))


@pytest.mark.parametrize("seed", range(40))
def test_free_variables_may_be_given_later(seed: int) -> None:
    """Substituting a closed value for a free variable before or after reduction agrees."""
    terms = Terms(seed)
    ty = (REAL, Arrow(REAL, REAL))[seed % 2]
    x, free = fresh("x", REAL), fresh("free", ty)
    body, at, value = terms.term(REAL, (x, free), 30), terms.leaf(REAL, ()), terms.term(ty, (), 8)
    term = pulled(x, body, at)
    before = reduce(Let(free, value, term))
    after = reduce(Let(free, value, reduce(term)))
    assert isinstance(before, Cov)
    assert isinstance(after, Cov)
    assert agree(evaluate(after.of), evaluate(before.of))


def test_the_part_that_moves() -> None:
    """A covector goes back to one part of the domain where no leaf of another part moves."""
    f = fun(direct_sum(R, direct_sum(R, R), R))(lambda x: x)
    assert moving_part(f, (True, False, False, False)) == (0, range(1))
    assert moving_part(f, (False, True, True, False)) == (1, range(1, 3))
    assert moving_part(f, (False, False, True, False)) == (1, range(1, 3))
    assert moving_part(f, (False, False, False, True)) == (2, range(3, 4))
    assert moving_part(f, (True, False, False, True)) == (None, range(4))
    assert moving_part(fun(R)(lambda x: x), (True,)) == (None, range(1))
