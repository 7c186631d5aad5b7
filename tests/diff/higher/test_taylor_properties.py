"""Statements of the Taylor paper that one rule of D alone does not give: §§6.3, 8.4, 8.5, 9 (P10, P12, P13), 12.4."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import numpy as np
import pytest

from diff import fun, jet, sin, where
from diff.higher import Module, Taylor, TermError, evaluate, program
from diff.lam.check.check import Checker
from diff.lam.run.closeness import agree
from diff.lam.run.scalar_partials import partial, vanishes
from diff.lam.term.inductive import list_of
from diff.lam.term.lam_values import applied, flat
from diff.lam.term.terms import AnyTerm, App, Branch, Case, Con, Fold, Lam, Let, Prim, Tuple, Var, fresh, real
from diff.lam.term.types import REAL, Arrow, DataType, ground
from hilbert import Bool, DirectSum, Fin, R, SpaceError, direct_sum
from tests.lambda_terms import MAYBE, Terms

SEEDS = range(30)
ORDERS = [(1, 1), (1, 3), (2, 2)]


def term(text: str) -> AnyTerm:
    module = Module()
    list(module.read("data Maybe a = Nothing | Just a\ndef fromMaybe x m = case m of {Nothing -> x | Just y -> y}"))
    return module.term(text)[0]


def numbers(values: Any) -> AnyTerm:
    """A jet as a term: the number alone where it has one slot."""
    return Tuple(tuple(real(v) for v in values)) if len(values) > 1 else real(values[0])


def drawn(random: Random, macro: Taylor) -> list[float]:
    return [random.randrange(-4, 5) / 4 for _ in macro.orders]


def floats(value: Any) -> list[float]:
    return [float(v.array) for v in value]


# --- §6.3 ---


def logaddexp(x: float, y: float) -> Any:
    s = 1 / (1 + np.exp(y - x))
    return np.logaddexp(x, y), (s, 1 - s), ((s - s * s, s * s - s), (s * s - s, s - s * s))


TWO: dict[str, Any] = {
    r"\x y. x / y": lambda x, y: (x / y, (1 / y, -x / y**2), ((0, -1 / y**2), (-1 / y**2, 2 * x / y**3))),
    r"\x y. logaddexp(x, y)": logaddexp,
}


@pytest.mark.parametrize("text", TWO)
def test_first_and_second_orders_written_out(text: str) -> None:
    """(1,1), (1,2), (2,2) and the restricted (2,2)' at an operation, by its first and second partial derivatives."""
    us = [[0.5, 2.0, -1.0, 3.0, 0.25, -2.0], [2.0, -1.5, 1.0, 0.5, -3.0, 4.0]]  # 00, 01, 02, 10, 11, 20
    g, first, second = TWO[text](us[0][0], us[1][0])

    def linear(a: int) -> Any:
        return sum(first[j] * us[j][a] for j in range(2))

    def squares(a: int, b: int) -> Any:
        return sum(second[i][j] * us[i][a] * us[j][b] for i in range(2) for j in range(2))

    due = {
        ((0,), (1,)): [g, linear(1)],
        ((0,), (1,), (2,)): [g, linear(1), linear(2) + squares(1, 1)],
        ((0, 0), (0, 1), (1, 0), (1, 1)): [g, linear(1), linear(3), linear(4) + squares(3, 1)],
        tuple(Taylor.of(2, 2).orders): [
            g,
            linear(1),
            linear(2) + squares(1, 1),
            linear(3),
            linear(4) + squares(3, 1),
            linear(5) + squares(3, 3),
        ],
    }
    places = {4: [0, 1, 3, 4]}
    for orders, values in due.items():
        slots = places.get(len(orders), list(range(len(orders))))
        made = Taylor(orders).term(term(text))
        for u in us:
            made = App(made, numbers([u[k] for k in slots]))
        np.testing.assert_allclose(floats(evaluate(made)), values, rtol=1e-12)


# --- §§6.6, 7 ---


def test_primitives_of_several_results() -> None:
    """D of p : ℝ ⊕ ℝ → ℝ ⊕ ℝ, by its derivatives: each part of the result has its jet."""
    op, x, y = fun(R, R)(lambda x, y: (x * x * y, sin(x) * y)), fresh("x"), fresh("y")
    made = Taylor.of(1, 2).term(Lam(x, Lam(y, Prim(op, Tuple((x, y)), "p"))))
    first, second = evaluate(App(App(made, numbers([2.0, 1.0, 0.5])), numbers([3.0, -1.0, 2.0])))
    s, c = np.sin(2.0), np.cos(2.0)
    np.testing.assert_allclose(floats(first), [12.0, 8.0, 12.0], rtol=1e-12)
    np.testing.assert_allclose(floats(second), [3 * s, 3 * c - s, 3 * (-s + 0.5 * c) - 2 * c + 2 * s], rtol=1e-12)


def test_leaves_of_nested_sums() -> None:
    """A map applies to the leaves of its argument, however its domain groups them."""
    for space, count in ((DirectSum((direct_sum(R, R),)), 2), (DirectSum((DirectSum((R,)),)), 1)):
        leaves = tuple(R.vec(1.0 + k) for k in range(count))
        double = fun(space)(lambda x: 2.0 * x)
        found = applied(double, leaves)
        assert [float(v.array) for v in flat(found)] == [2.0 * float(v.array) for v in leaves]

        def body(*xs: Any, double: Any = double) -> Any:
            made = flat(applied(double, xs))
            return made[0] + 10.0 * made[-1]

        f: Any = fun(*[R] * count)(body)
        assert float(f(*leaves).array) == 2.0 + 20.0 * count


def test_leaves_of_nested_results() -> None:
    """Where expressions are given for the leaves, results are grouped as the codomain is."""
    two = fun(R, R)(lambda x, y: (x, x * y))
    op = fun(R, R)(lambda x, y: (two(x, y), y))

    def body(x: Any, y: Any) -> Any:
        a, b, c = flat(applied(op, (x, y)))
        return a + 10.0 * b + 100.0 * c

    f: Any = fun(R, R)(body)
    assert float(f(R.vec(2.0), R.vec(3.0)).array) == 2.0 + 60.0 + 300.0


def test_leaves_of_another_space() -> None:
    """A map is not computed at vectors of another space, also where NumPy could."""
    double = fun(R ** Fin.of(2))(lambda x: 2.0 * x)
    with pytest.raises(SpaceError, match=r"to a vector of ℝ\^3: a vector of ℝ\^2 is due"):
        applied(double, (R ** Fin.of(3)).vec([1.0, 2.0, 3.0]))


def test_what_is_discrete_beside_numbers_has_no_derivative() -> None:
    """A primitive ℝ ⊕ Bool → ℝ: an error that says so, and at order 0 the primitive itself."""
    op, x, b = fun(R, Bool)(lambda x, b: where(b, x * x, x)), fresh("x"), fresh("b", ground(Bool))
    made = Lam(x, Lam(b, Prim(op, Tuple((x, b)), "p")))
    with pytest.raises(TermError, match="with discrete and real arguments has no D") as caught:
        Taylor.of(1, 1).term(made)
    assert caught.value.code == "type"
    assert str(Taylor.of(1, 0).term(made)).endswith("p ⟨x0_0, x1_0⟩")


@pytest.mark.parametrize("name", ["square", "exp", "ln", "sqrt", "tanh", "atan"])
def test_what_is_known_to_vanish_does(name: str) -> None:
    """A derivative that is said to be 0 is 0 everywhere, and that of a square is."""
    lam: Any = term(rf"\x. {name} x")
    for n in range(1, 5):
        made = partial(lam.body.op, (n,))
        assert vanishes(made) == (name == "square" and n > 2)
        assert vanishes(made) == all(float(made(R.vec(x))) == 0.0 for x in (0.5, 2.0))


# --- §8.4 ---


def test_tags_and_lengths_do_not_vary_with_the_parameter() -> None:
    """What D(t) makes of a jet has the tags and the length of the value, at every leaf a jet."""
    text = r"\x. <Just (x*x), (if less(1, 2) then [x, 3] else []), (Nothing : Maybe real)>"
    value = evaluate(App(term(text), real(3.0)))
    just, listed, nothing = evaluate(App(Taylor.of(1, 2).term(term(text)), numbers([3.0, 1.0, 0.0])))
    assert (just.label, nothing.label) == (value[0].label, value[2].label) == ("Just", "Nothing")
    assert floats(just.payload) == [9.0, 6.0, 2.0]
    assert agree(listed, evaluate(term("[<3, 1, 0>, <3, 0, 0>]")))
    with pytest.raises(ValueError, match="use it in both branches"):  # a tag that varied would be no smooth family
        program(term(r"\x. if less(x, 1) then Just x else Nothing"), R.vec(0.0))


# --- §8.5 ---

LOSS = r"(\<x, w>. sin (x*w) + w*w)"


def test_a_sum_over_data_has_the_sum_of_the_jets() -> None:
    """g⟨l, w⟩ = Σ f⟨x, w⟩ over a data set: its jet in w is the sum of those of f."""
    data, w = [0.5, -1.0, 2.0], [0.75, 1.0, 0.5]
    macro = Taylor.of(1, 2)
    one = macro.term(term(LOSS))
    total = np.zeros(3)
    for x in data:
        total += floats(evaluate(App(one, Tuple((numbers([x, 0, 0]), numbers(w))))))
    whole = macro.term(term(rf"\l w. fold (x1, x2). {LOSS} <x1, w> + x2 over l from 0"))
    at = macro.term(term(f"[{', '.join(map(str, data))}]"))
    np.testing.assert_allclose(floats(evaluate(App(App(whole, at), numbers(w)))), total, rtol=1e-12)


def test_defaults_are_differentiated_with_the_weights() -> None:
    """Missing data: the gradient in a default collects the rows where its entry is missing, and no others."""
    text = r"""\m n w. fold (r, a). (case r of <p, q> -> sin (fromMaybe m p * w) * fromMaybe n q) + a
        over [<Just 0.5, Just 2>, <Nothing, Just 3>, <Nothing, Nothing>] from 0"""
    at, macro = (0.4, -1.5, 0.8), Taylor.of(3, 1)
    made = macro.term(term(text))
    for k, a in enumerate(at):
        made = App(made, numbers([a, *(float(alpha[k]) for alpha in macro.orders[1:])]))
    found = dict(zip(macro.orders, floats(evaluate(made)), strict=True))
    m, n, w = at
    s, c = np.sin(m * w), np.cos(m * w)
    assert found[0, 0, 0] == pytest.approx(2 * np.sin(0.5 * w) + 3 * s + n * s)
    assert found[1, 0, 0] == pytest.approx((3 + n) * w * c)
    assert found[0, 1, 0] == pytest.approx(s)
    assert found[0, 0, 1] == pytest.approx(np.cos(0.5 * w) + (3 + n) * m * c)


# --- §9 ---

FAMILY = r"\y. x * sin y + y"
RELATED = {  # γ_x(y) = x·sin y + y, x along (2, 1, 3): its Taylor representation, written by hand, not by D
    (1, 1): r"\<y, y1>. <2*sin y + y, sin y + (2*cos y + 1)*y1>",
    (1, 2): r"""\<y, y1, y2>. <2*sin y + y, sin y + (2*cos y + 1)*y1,
        3*sin y + 2*cos y*y1 - 2*sin y*y1*y1 + (2*cos y + 1)*y2>""",
}


@pytest.mark.parametrize("orders", RELATED, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_related_functions_have_related_results(seed: int, orders: tuple[int, int]) -> None:
    """The fundamental lemma at a higher type: D(F) takes any representation of a family of functions, to that of F's
    (P10)."""
    f = fresh("f", Arrow(REAL, REAL))
    macro = Taylor.of(*orders)
    functional = Lam(f, Terms(seed).term(REAL, (f,), 25))
    found = evaluate(App(macro.term(functional), term(RELATED[orders])))
    x = fresh("x")
    of_family = Lam(x, App(functional, App(term(rf"\x. {FAMILY}"), x)))
    p: Any = program(of_family, R.vec(0.0))
    slots = jet(p, *orders)
    assert agree(found, tuple(slots(slots.dom.vec((2.0, 1.0, 3.0)[: len(macro.orders)])).split()))


@pytest.mark.parametrize("orders", ORDERS, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_mapped_function_acts_on_each_element(seed: int, orders: tuple[int, int]) -> None:
    """D(map f) is D(f), element by element (P12)."""
    macro, random = Taylor.of(*orders), Random(seed)
    e, a, x = fresh("e"), fresh("a", list_of(REAL)), fresh("x", list_of(REAL))
    f = Lam(e, Terms(seed).term(REAL, (e,), 15))
    jets = [numbers(drawn(random, macro)) for _ in range(seed % 4)]
    mapped = macro.term(Lam(x, Fold(list_of(REAL), x, cons(e, a, prepended(App(f, e), a), nothing()))))
    due: list[Any] = [evaluate(App(macro.term(f), one)) for one in jets]
    found = elements(evaluate(App(mapped, listed(jets, macro))))
    assert len(found) == len(due)
    assert all(agree(one, other) for one, other in zip(found, due, strict=True))


@pytest.mark.parametrize("orders", ORDERS, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_fold_is_its_unrolled_term(seed: int, orders: tuple[int, int]) -> None:
    """D(fold) over a list of n elements is D of the n steps, written out (P12)."""
    macro, random = Taylor.of(*orders), Random(seed)
    xs = tuple(fresh(f"x{k}") for k in range(1 + seed % 4))
    e, a = fresh("e"), fresh("a")
    body = Terms(seed).term(REAL, (e, a), 12)
    listed_terms = nothing()
    unrolled: AnyTerm = real(0.5)
    for x in reversed(xs):
        listed_terms = prepended(x, listed_terms)
        unrolled = App(App(Lam(e, Lam(a, body)), x), unrolled)
    jets = Tuple(tuple(numbers(drawn(random, macro)) for _ in xs)) if len(xs) > 1 else numbers(drawn(random, macro))
    pattern: Any = Tuple(xs) if len(xs) > 1 else xs[0]
    folded = Lam(pattern, Fold(list_of(REAL), listed_terms, cons(e, a, body, real(0.5))))
    left, right = (evaluate(App(macro.term(t), jets)) for t in (folded, Lam(pattern, unrolled)))
    assert agree(left, right)


@pytest.mark.parametrize("orders", ORDERS, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_branch_does_not_see_the_others(seed: int, orders: tuple[int, int]) -> None:
    """D(case ℓ t of …) is D of the chosen branch, whatever the other is; it may have no value there (P13)."""
    macro, random, terms = Taylor.of(*orders), Random(seed), Terms(seed)
    x, y = fresh("x"), fresh("y")
    chosen = terms.term(REAL, (x, y), 15)
    maybe = DataType(MAYBE, (REAL,))
    jets = numbers(drawn(random, macro))
    due = evaluate(App(macro.term(Lam(x, Let(y, App(term("sin"), x), chosen))), jets))
    for other in (terms.term(REAL, (x,), 15), App(term(r"\x. ln (0*x - 1) / (x - x)"), x)):
        branches = (Branch("Nothing", Tuple(()), other), Branch("Just", y, chosen))
        found = macro.term(Lam(x, Case(Con("Just", maybe, App(term("sin"), x)), branches)))
        assert agree(evaluate(App(found, jets)), due)


def nothing() -> AnyTerm:
    made: AnyTerm = term("([] : list real)")
    return made


def prepended(x: AnyTerm, rest: AnyTerm) -> AnyTerm:
    return Con("Cons", list_of(REAL), Tuple((x, rest)))


def cons(e: Var, a: Var, body: AnyTerm, start: AnyTerm) -> tuple[Branch, ...]:
    return Branch("Nil", Tuple(()), start), Branch("Cons", Tuple((e, a)), body)


def listed(jets: list[AnyTerm], macro: Taylor) -> AnyTerm:
    """A list of jets."""
    ty: Any = macro.type(list_of(REAL))
    made: AnyTerm = Con("Nil", ty, Tuple(()))
    for one in reversed(jets):
        made = Con("Cons", ty, Tuple((one, made)))
    return made


def elements(value: Any) -> list[Any]:
    found = []
    while value.label != "Nil":
        first, value = value.payload
        found.append(first)
    return found


# --- §12.4 ---


def test_outside_the_domain_is_numpys_answer() -> None:
    """NaN or ±∞ with numpy's warning, in the value and in the derivatives; no error (docs/higher.md)."""
    for text, at in (("ln", -1.0), (r"\x. 1/x", 0.0), ("sqrt", 0.0)):
        made = App(Taylor.of(1, 2).term(term(text)), numbers([at, 1.0, 0.0]))
        with pytest.warns(RuntimeWarning, match="invalid|divide"):
            found = floats(evaluate(made))
        assert not all(np.isfinite(found))


def test_conditions_look_at_the_value_alone() -> None:
    """D branches on slot 0; powers are repeated products, which have a derivative at 0."""
    made = Taylor.of(1, 2).term(term(r"\x. if less(x, 0) then -x else x^3"))
    for x, due in ((-2.0, [2.0, -5.0, -7.0]), (2.0, [8.0, 60.0, 12 * 25.0 + 12 * 7.0]), (0.0, [0.0, 0.0, 0.0])):
        assert floats(evaluate(App(made, numbers([x, 5.0, 7.0])))) == due


# --- §6.5 ---

COMBINATORS = [
    r"\(x : real). x",
    r"\(f : real -> real) (g : real -> real) x. g (f x)",
    r"\(f : real -> real) (g : real -> real) x. <f x, g x>",
    r"\(p : real * real). pi_1 p",
    r"\(f : real * real -> real) x y. f <x, y>",
    r"\(p : (real -> real) * real). (pi_1 p) (pi_2 p)",
    r"\(x : real). Just x",
    r"\(f : real) (g : real -> real) m. case m of {Nothing -> f | Just x -> g x}",
    r"\(x : real) (m : Maybe real). case m of {Nothing -> (Nothing : Maybe (real * real)) | Just y -> Just <x, y>}",
    r"\(x : real) (l : list real). x :: l",
    r"\(f : real * real -> real) (r : real) l. fold (e, a). f <e, a> over l from r",
]


@pytest.mark.parametrize("text", COMBINATORS)
def test_combinators_commute(text: str) -> None:
    """The combinators of the point-free form, as terms, are their own D: there is no second form of the language."""
    one, macro = term(text), Taylor.of(1, 2)
    made = macro.term(one)
    assert re.sub(r"\((\w+) : [^()]*\)", r"\1", str(made)) == str(one)  # but for annotations
    assert type_of(made) is macro.type(type_of(one))


def type_of(one: AnyTerm) -> Any:
    checker = Checker(Module())
    made, ty = checker.check(one)
    return checker.finish(made, ty, lambda u: u)[1]
