"""Laws of the λ-language on generated well-typed terms (the Taylor paper, §§6.4, 9)."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from diff import derivative, jet, sin, sinh
from diff.higher import Taylor, TermError, evaluate, program
from diff.lam.check.check import Checker
from diff.lam.run.closeness import agree
from diff.lam.run.evaluate import Evaluator
from diff.lam.term.binding import renamed, substitute
from diff.lam.term.former import Former
from diff.lam.term.inductive import is_first_order
from diff.lam.term.lam_values import Tagged
from diff.lam.term.terms import AnyTerm, App, Lam, Let, Plus, Prim, Tuple, Var, below, fresh, real, variables
from diff.lam.term.types import REAL, Ty
from hilbert import R, Vec
from tests.lambda_terms import Terms, module

MODULE = module()
SEEDS = range(60)
ORDERS = [(1, 1), (1, 3), (2, 2)]


def type_of(term: AnyTerm) -> Ty:
    checker = Checker(MODULE)
    made, ty = checker.check(term)
    return checker.finish(made, ty, lambda u: u)[1]


def closed(seed: int, *, size: int = 30) -> tuple[AnyTerm, Ty]:
    terms = Terms(seed)
    ty = terms.type()
    return terms.term(ty, (), size), ty


def first_order(seed: int) -> tuple[AnyTerm, Ty]:
    terms = Terms(seed)
    ty = next(t for t in (terms.type() for _ in range(1000)) if is_first_order(t))
    return terms.term(ty, (), 40), ty


@pytest.mark.parametrize("seed", SEEDS)
def test_generated_terms_have_their_type(seed: int) -> None:
    term, ty = closed(seed)
    assert type_of(term) is ty


def test_summands_have_one_type() -> None:
    """t + s at any type, and no sum of two."""
    sine, pair = Lam(x := fresh("x"), Prim(sin, x)), Tuple((real(1.0), real(2.0)))
    for term in (sine, pair):
        assert type_of(Plus(term, term)) is type_of(term)
    for left, right in ((sine, pair), (pair, sine), (pair, Tuple((pair, pair))), (sine, Lam(fresh("x"), pair))):
        with pytest.raises(TermError, match=r"the (other summand|result) is of type"):
            type_of(Plus(left, right))


def test_every_former_is_generated() -> None:
    seen: Counter[str] = Counter()
    for seed in range(300):
        stack: list[Any] = [closed(seed)[0]]
        while stack:
            node = stack.pop()
            seen[type(node).__name__] += 1
            stack.extend(below(node))
    due = {"Var", "Lit", "Prim", "Lam", "App", "Let", "Tuple", "Proj", "If", "Con", "Branch", "Case", "Fold", "Plus"}
    assert {name for name in due if seen[name] >= 100} == due, seen


@pytest.mark.parametrize("orders", ORDERS, ids=str)
@pytest.mark.parametrize("seed", SEEDS[:25])
def test_macro_preserves_types(seed: int, orders: tuple[int, int]) -> None:
    """Γ ⊢ t : σ implies D(Γ) ⊢ D(t) : D(σ), by the ordinary checker (Lemma 1, P1)."""
    term, ty = closed(seed)
    macro = Taylor.of(*orders)
    assert type_of(macro.term(term)) is macro.type(ty)


@pytest.mark.parametrize("seed", SEEDS[:25])
def test_macro_commutes_with_substitution(seed: int) -> None:
    """D(t[s/x]) = D(t)[D(s)/x] up to names (Lemma 1, P2)."""
    terms = Terms(seed)
    dom, ty = terms.type(), terms.type()
    x = fresh("x", dom)
    term, argument = terms.term(ty, (x,), 25), terms.term(dom, (), 10)
    macro = Taylor.of(1, 2)
    left = macro.term(substitute(term, {x.number: argument}))
    right = substitute(macro.term(term), {x.number: macro.term(argument)})
    assert left == right
    assert hash(left) == hash(right)


@pytest.mark.parametrize("seed", SEEDS)
def test_value_before_and_after_beta(seed: int) -> None:
    """(λx. t) s, let x = s in t and t[s/x] have one value."""
    terms = Terms(seed)
    dom = terms.type()
    _, ty = first_order(seed)
    x = fresh("x", dom)
    term, argument = terms.term(ty, (x,), 25), terms.term(dom, (), 10)
    value = evaluate(App(Lam(x, term), argument))
    assert agree(evaluate(Let(x, renamed(argument), term)), value)
    assert agree(evaluate(substitute(term, {x.number: argument})), value)


@pytest.mark.parametrize("seed", SEEDS)
def test_slot_zero_is_the_value(seed: int) -> None:
    """Without slots but 0, D(t) is t (P3)."""
    term, _ = first_order(seed)
    for orders in ORDERS:
        assert agree(primal(evaluate(Taylor.of(*orders).term(term)), len(Taylor.of(*orders).orders)), evaluate(term))


def primitives(term: AnyTerm, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many primitives the evaluation of a term computes."""
    count = [0]
    plain = Evaluator.primitive

    def counting(self: Evaluator, op: Any, value: Any, name: str = "") -> Any:
        count[0] += 1
        return plain(self, op, value, name)

    with monkeypatch.context() as patch:
        patch.setattr(Evaluator, "primitive", counting)
        evaluate(term)
    return count[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_written_once_is_computed_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed argument and a right-hand side of a let cost what they cost alone, in a value and in D(t)."""
    terms = Terms(seed)
    x = fresh("x")
    body = Tuple((terms.term(REAL, (x,), 25), x, x, terms.term(REAL, (x,), 25)))
    once = Prim(sinh, Prim(sinh, real(0.5)))
    same = real(float(sinh(sinh(R.vec(0.5)))))
    for macro in (None, Taylor.of(1, 1), Taylor.of(1, 3)):

        def count(term: AnyTerm, macro: Taylor | None = macro) -> int:
            return primitives(term if macro is None else macro.term(term), monkeypatch)

        due = count(once) - count(same)
        assert due >= 2
        assert count(Let(x, once, body)) - count(Let(x, same, body)) == due
        assert count(App(Lam(x, body), once)) - count(App(Lam(x, body), same)) == due


@pytest.mark.parametrize("orders", ORDERS, ids=str)
@pytest.mark.parametrize("seed", SEEDS[:25])
def test_macro_agrees_with_jets(seed: int, orders: tuple[int, int]) -> None:
    """D_(k,R)(t) by terms, and `jet` of t's program by recurrences (P9)."""
    terms, random = Terms(seed), Random(seed)
    x, y = fresh("x"), fresh("y")
    term = Lam(Tuple((x, y)), terms.term(REAL, (x, y), 40))
    macro = Taylor.of(*orders)
    us = [[random.randrange(-4, 5) / 4 for _ in macro.orders] for _ in range(2)]
    found = evaluate(App(macro.term(term), numbers(us)))
    p = program(term, (R.vec(0.0), R.vec(0.0)))
    slots = jet(p, *orders)
    due = slots(slots.dom.vec(tuple(zip(*us, strict=True))))
    assert agree(found, tuple(due.split()))


def primal(value: Any, slots: int) -> Any:
    """The value in slot 0 of each leaf: a tuple of so many vectors of one space whose first is it."""
    match value:
        case (Vec(), *rest) if len(value) == slots and all(isinstance(v, Vec) for v in rest):
            return value[0]
        case tuple():
            return tuple(primal(part, slots) for part in value)
        case Tagged(label, payload):
            return Tagged(label, primal(payload, slots))
        case _:
            return value


@pytest.mark.parametrize("seed", SEEDS[:30])
def test_iterated_macro_is_the_squarefree_one(seed: int) -> None:
    """D_(1,1) twice is D at {00, 01, 10, 11} regrouped, the outer one with index 01 (§4.3)."""
    terms = Terms(seed)
    x, y = fresh("x"), fresh("y")
    term = Lam(x, Lam(y, terms.term(REAL, (x, y), 20)))
    once = Taylor.of(1, 1)
    twice = once.term(once.term(term))
    square = Taylor([(0, 0), (0, 1), (1, 0), (1, 1)]).term(term)
    random = Random(seed)
    jets = [[random.randrange(-4, 5) / 4 for _ in range(4)] for _ in range(2)]
    nested = [numbers([jet[:2], jet[2:]]) for jet in jets]
    flat = [numbers(jet) for jet in jets]
    (a, b), (c, d) = evaluate(App(App(twice, nested[0]), nested[1]))
    assert agree((a, b, c, d), evaluate(App(App(square, flat[0]), flat[1])))


def on_jets(seed: int) -> tuple[AnyTerm, list[float]]:
    """A function ℝ → ℝ and a jet of order 3."""
    terms, random = Terms(seed), Random(seed)
    x = fresh("x")
    return Lam(x, terms.term(REAL, (x,), 25)), [random.randrange(-4, 5) / 4 for _ in range(4)]


@pytest.mark.parametrize("seed", SEEDS[:30])
def test_truncation_commutes(seed: int) -> None:
    """The first slots of a jet of order 3 are the jet of order 2 (P6)."""
    term, jet = on_jets(seed)
    three = evaluate(App(Taylor.of(1, 3).term(term), numbers(jet)))
    assert agree(three[:3], evaluate(App(Taylor.of(1, 2).term(term), numbers(jet[:3]))))


@pytest.mark.parametrize("seed", SEEDS[:30])
def test_constants_go_to_constants(seed: int) -> None:
    """A jet whose derivatives are 0 goes to one (P7)."""
    term, jet = on_jets(seed)
    found = evaluate(App(Taylor.of(1, 3).term(term), numbers([jet[0], 0, 0, 0])))
    assert agree(found[1:], evaluate(numbers([0, 0, 0])))


@pytest.mark.parametrize("seed", SEEDS[:30])
def test_linear_change_of_the_parameter(seed: int) -> None:
    """t ↦ 2t multiplies slot r by 2^r, before and after (P6)."""
    term, jet = on_jets(seed)
    D = Taylor.of(1, 3).term(term)
    found = evaluate(App(D, numbers([2**r * u for r, u in enumerate(jet)])))
    due = [2**r * float(v.array) for r, v in enumerate(evaluate(App(D, numbers(jet))))]
    assert agree(found, evaluate(numbers(due)))


@pytest.mark.parametrize("seed", SEEDS[:30])
def test_macro_is_the_jet_of_the_program(seed: int) -> None:
    """Slots 0 and 1 are the value and the derivative of t's program."""
    term, jet = on_jets(seed)
    value, slope = evaluate(App(Taylor.of(1, 1).term(term), numbers(jet[:2])))
    p = program(term, R.vec(0.0))
    assert agree(value, p(R.vec(jet[0])))
    assert agree(slope, derivative(p)(R.vec(jet[0]))(R.vec(jet[1])))


def numbers(tree: Any) -> AnyTerm:
    return Tuple(tuple(map(numbers, tree))) if isinstance(tree, list) else real(tree)


@pytest.mark.parametrize("seed", SEEDS)
def test_equality_is_up_to_names(seed: int) -> None:
    term, _ = closed(seed)
    other = renamed(term)
    assert term == other
    assert hash(term) == hash(other)
    assert {x.number for x in bound(term)}.isdisjoint(x.number for x in bound(other))


@pytest.mark.parametrize("seed", SEEDS)
def test_binders_are_unique(seed: int) -> None:
    """A term that is substituted twice binds other variables in each copy."""
    term, ty = closed(seed)
    x = fresh("x", ty)
    numbers = [y.number for y in bound(substitute(Tuple((x, Tuple((x, x)))), {x.number: term}))]
    assert len(numbers) == len(set(numbers)) == 3 * len(bound(term))


def bound(term: Former) -> list[Var]:
    found: list[Var] = []
    stack: list[Any] = [term]
    while stack:
        node = stack.pop()
        if hasattr(node, "pattern"):
            found += variables(node.pattern)
        stack.extend(below(node))
    return found
