"""Each case of the Taylor paper four ways (§14): the macro, the jet of the program, nested derivatives, and Ω.

The macro is the claim itself. The others are here: each claim of `taylor.lam` on numbers, whatever its result; Ω where
the result is a number, by the slots of first order.
"""

from __future__ import annotations

from itertools import product
from math import factorial, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjoint.higher import pairing
from diff import fun, jet, jvp
from diff.higher import Module, Taylor, evaluate, program
from diff.lam.term.lam_values import Tagged
from diff.lam.term.terms import AnyTerm, App, Cov, Lam, Pull, Tuple, fresh, real
from diff.lam.term.types import REAL, Arrow
from diff.lam.text.items import Claim
from hilbert import R, Vec

MODULE = Module()
TEXT = Path(__file__).parents[2].joinpath("diff/higher/taylor.lam").read_text("utf-8")


class Case:
    """A claim on numbers: t as a function of the tuple of its arguments, their jets, and the jet that is due."""

    def __init__(self, claim: Claim) -> None:
        orders: Any = claim.orders
        self.macro = Taylor(orders.listed) if orders.listed else Taylor.of(orders.k, orders.order)
        self.orders = self.macro.orders
        term, ty = MODULE.checked(claim.terms[0])
        xs: list[Any] = []
        self.jets: list[list[float]] = []
        for given in claim.terms[1:-1]:
            assert isinstance(ty, Arrow)
            if ty.dom is not REAL:
                raise LookupError
            x = fresh(f"x{len(xs)}")
            term, ty, xs = App(term, x), ty.cod, [*xs, x]
            self.jets.append(numbers(evaluate(MODULE.checked(given, self.macro.type(REAL))[0])))
        self.type, self.body = ty, term
        self.pattern: Any = xs[0] if len(xs) == 1 else Tuple(tuple(xs))
        due = numbers(evaluate(MODULE.checked(claim.terms[-1], self.macro.type(ty))[0]))
        self.due = np.reshape(due, (-1, len(self.orders)))
        self.function: AnyTerm = Lam(self.pattern, self.body)
        self.line = claim.place.line

    def at(self) -> AnyTerm:
        return packed([u[0] for u in self.jets])

    def program(self) -> Any:
        return program(self.function, evaluate(self.at()))


def packed(values: list[float]) -> AnyTerm:
    terms = tuple(map(real, values))
    return terms[0] if len(terms) == 1 else Tuple(terms)


def numbers(value: Any) -> list[float]:
    """The numbers of a value, in order."""
    if isinstance(value, Vec):
        return list(map(float, value.flat()))
    parts = (value.payload,) if isinstance(value, Tagged) else value
    return [x for part in parts for x in numbers(part)] if isinstance(parts, tuple) else []


def cases() -> list[Case]:
    found = []
    for claim in MODULE.read(TEXT):
        if isinstance(claim, Claim) and claim.word == "taylor":
            try:
                found.append(Case(claim))
            except LookupError:  # on lists and spaces
                continue
    return found


CASES = cases()
SCALAR = [case for case in CASES if case.type is REAL]


def close(found: Any, due: Any) -> None:
    np.testing.assert_allclose(found, due, rtol=1e-10, atol=1e-10)


def test_no_case_is_missing() -> None:
    assert len(CASES) >= 40
    assert len(SCALAR) >= 35


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.line))
def test_the_jet_of_the_program(case: Case) -> None:
    k, order = len(case.orders[0]), max(map(sum, case.orders))
    slots: Any = jet(case.program(), k, order, given=case.orders, wanted=case.orders)
    made = slots(slots.dom.unflat(np.concatenate([[u[n] for u in case.jets] for n in range(len(case.orders))])))
    close(made.flat().reshape(len(case.orders), -1).T, case.due)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.line))
def test_nested_derivatives(case: Case) -> None:
    """∂^α of the program along the polynomials with these jets, |α| ≤ 3, by a jvp for each order."""
    p, k = case.program(), len(case.orders[0])

    def polynomial(u: list[float], t: tuple[Any, ...]) -> Any:
        total: Any = R.vec(u[0])
        for value, alpha in zip(u[1:], case.orders[1:], strict=True):
            if value:
                total = total + value / prod(map(factorial, alpha)) * prod_of(t, alpha)
        return total

    def along(*t: Any) -> Any:
        return p(*[polynomial(u, t) + 0.0 * t[0] for u in case.jets])

    zero = [R.vec(0.0)] * k
    made: dict[tuple[int, ...], Any] = {(0,) * k: fun(*(R,) * k)(along)}
    for n, alpha in enumerate(case.orders):
        if not 0 < sum(alpha) <= 3:
            continue
        i = next(i for i, a in enumerate(alpha) if a)
        before = made[(*alpha[:i], alpha[i] - 1, *alpha[i + 1 :])]
        made[alpha] = derivative_in(before, i, k)
        close(made[alpha](*zero).flat(), case.due[:, n])
    close(made[(0,) * k](*zero).flat(), case.due[:, 0])


def prod_of(t: tuple[Any, ...], alpha: tuple[int, ...]) -> Any:
    factors = [x for x, a in zip(t, alpha, strict=True) for _ in range(a)]
    made = factors[0]
    for factor in factors[1:]:
        made = made * factor
    return made


def derivative_in(f: Any, i: int, k: int) -> Any:
    step: Any = jvp(f)
    unit = [R.vec(float(j == i)) for j in range(k)]
    return fun(*(R,) * k)(lambda *t: step(t, tuple(unit)) if k > 1 else step(*t, *unit))


@pytest.mark.parametrize("case", SCALAR, ids=lambda case: str(case.line))
def test_the_pullback(case: Case) -> None:
    """⟪((Ω λx. t)·1) u₀, u_e⟫ is the slot at e, for each e of first order."""
    covector = App(Pull(case.pattern, case.body, Lam(fresh("_", REAL), Cov(real(1.0)))), case.at())
    for n, alpha in enumerate(case.orders):
        if sum(alpha) == 1:
            close(float(pairing(covector, packed([u[n] for u in case.jets]))), case.due[0, n])


def test_orders_are_those_of_the_paper() -> None:
    """The cases have one parameter and several, and orders 1 to 5."""
    seen = {(len(case.orders[0]), max(map(sum, case.orders))) for case in CASES}
    assert set(product((1, 2, 3), (1, 2, 3))) & seen >= {(1, 1), (1, 2), (2, 2), (3, 3)}
    assert (1, 5) in seen
