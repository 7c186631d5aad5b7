"""Every pass over terms is linear in their depth: counted in calls of functions; no pass uses the stack of Python."""

from __future__ import annotations

import inspect
import pickle
import sys
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest

from adjoint.higher import reduce, steps
from adjoint.higher.term.anormal import a_normal
from diff.higher import Module, evaluate
from diff.lam.check.library_names import primitive, sign
from diff.lam.files.type_of_term import type_of
from diff.lam.run.taylor_macro import Taylor
from diff.lam.term.inductive import list_of, list_term
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Branch,
    Case,
    Cov,
    Fold,
    If,
    Lam,
    Let,
    Plus,
    Prim,
    Proj,
    Pull,
    Tuple,
    Var,
    fresh,
    real,
)
from diff.lam.term.types import REAL, Arrow
from hilbert import R
from tests.test_shared_size import calls

if TYPE_CHECKING:
    from collections.abc import Callable

LIST, ENDO = list_of(REAL), Arrow(REAL, REAL)
HALF = real(0.5)


def sine(term: AnyTerm) -> AnyTerm:
    return Prim(primitive("sin", R), term, "sin")


def plus(left: AnyTerm, right: AnyTerm) -> AnyTerm:
    return Prim(sign("+", R, R), Tuple((left, right)), "+")


def case(of: AnyTerm, x: Var) -> AnyTerm:
    """case [t] of {Nil → x | Cons ⟨e, _⟩ → sin e}."""
    e = fresh("e")
    cons = Branch("Cons", Tuple((e, fresh("_", LIST))), sine(e))
    return Case(list_term([of], LIST), (Branch("Nil", Tuple(()), x), cons))


def fold(first: AnyTerm, items: list[AnyTerm], more: AnyTerm | None = None) -> AnyTerm:
    """fold (e, a). e + a over the items from t."""
    e, a = fresh("e"), fresh("a")
    body = plus(e, a) if more is None else plus(a, more)
    cons = Branch("Cons", Tuple((e, a)), body)
    return Fold(LIST, list_term(items, LIST), (Branch("Nil", Tuple(()), first), cons))


def choice(t: AnyTerm, x: Var) -> AnyTerm:
    """if 0 < 1 then sin t else x."""
    return If(Prim(primitive("less", R), Tuple((real(0.0), real(1.0))), "less"), sine(t), x)


def again(step: Callable[[Any, Var], AnyTerm]) -> Callable[[Var, int], AnyTerm]:
    """A term of x in which each level is made from the one below."""

    def made(x: Var, n: int) -> AnyTerm:
        term: AnyTerm = x
        for _ in range(n):
            term = step(term, x)
        return term

    return made


def lets(x: Var, n: int) -> AnyTerm:
    """let x₁ = sin x in let x₂ = sin x₁ in … xₙ."""
    names = [x, *(fresh() for _ in range(n))]
    term: AnyTerm = names[-1]
    for before, name in zip(reversed(names[:-1]), reversed(names[1:]), strict=True):
        term = Let(name, sine(before), term)
    return term


def functions(x: Var, n: int) -> AnyTerm:
    """(λx₁. … λxₙ. x₁) x … x."""
    names = [fresh() for _ in range(n)]
    term: AnyTerm = names[0]
    for name in reversed(names):
        term = Lam(name, term)
    for _ in range(n):
        term = App(term, x)
    return term


def functions_and_lets(x: Var, n: int) -> AnyTerm:
    """(λx₁. let y₁ = x₁ in λx₂. let y₂ = x₂ + y₁ in … yₙ) x … x."""
    names = [(fresh(), fresh("y")) for _ in range(n)]
    term: AnyTerm = names[-1][1]
    for k in reversed(range(n)):
        a, y = names[k]
        term = Lam(a, Let(y, plus(a, names[k - 1][1] if k else a), term))
    for _ in range(n):
        term = App(term, x)
    return term


def named_functions(x: Var, n: int) -> AnyTerm:
    """let f₁ = λy. sin y in let f₂ = λy. f₁ (sin y) in … fₙ x."""
    names = [fresh("f", ENDO) for _ in range(n)]
    term: AnyTerm = App(names[-1], x)
    for k in reversed(range(n)):
        y = fresh("y")
        term = Let(names[k], Lam(y, App(names[k - 1], sine(y)) if k else sine(y)), term)
    return term


def tuples(x: Var, n: int) -> AnyTerm:
    """π₁ … π₁ ⟨… ⟨x, x⟩ …, x⟩."""
    term: AnyTerm = x
    for _ in range(n):
        term = Tuple((term, x))
    for _ in range(n):
        term = Proj(0, term)
    return term


def sums(x: Var, n: int) -> AnyTerm:
    """π₁ (⟨x, x⟩ + … + ⟨x, x⟩)."""
    term: AnyTerm = Tuple((x, x))
    for _ in range(n):
        term = Plus(term, Tuple((x, x)))
    return Proj(0, term)


SHAPES: dict[str, Callable[[Var, int], AnyTerm]] = {
    "lets": lets,
    "calls": again(lambda t, _: sine(t)),
    "redexes": again(lambda t, x: App(Lam(y := fresh(), plus(x, y)), t)),
    "functions": functions,
    "functions and lets": functions_and_lets,
    "named functions": named_functions,
    "tuples": tuples,
    "sums": sums,
    "conditions": again(choice),
    "cases": again(case),
    "a list": lambda x, n: fold(x, [x] * n),
    "folds": again(lambda t, x: fold(t, [x])),
    "folds in folds": again(lambda t, x: fold(x, [x], t)),
}


def pulled(f: Lam) -> AnyTerm:
    """((Ω f)·1) ½."""
    return App(Pull(f.pattern, f.body, Lam(fresh("_"), Cov(real(1.0)))), HALF)


PASSES: dict[str, Callable[[Lam], Any]] = {
    "type": type_of,
    "value": lambda f: evaluate(App(f, HALF)),
    "D": Taylor.of(1, 1).term,
    "A-reduction": a_normal,
    "reduce": lambda f: reduce(App(f, HALF)),
    "pullback": lambda f: reduce(pulled(f)),
    "a step": lambda f: list(islice(steps(pulled(f)), 1)),
    "print and parse": lambda f: Module().term(str(f))[0] == f,
    "hash": hash,
    "pickle": lambda f: pickle.loads(pickle.dumps(f)) == f,
}


def function(name: str, n: int) -> Lam:
    """λx. t, t of so many levels."""
    x = fresh()
    return Lam(x, SHAPES[name](x, n))


@pytest.mark.parametrize("name", SHAPES)
def test_passes_are_linear_in_the_depth(name: str) -> None:
    """Twice the depth takes at most 2.3 times the calls."""
    for what, run in PASSES.items():
        run(function(name, 2))  # what is loaded or found out once
        small, large = function(name, 40), function(name, 80)
        assert calls(lambda: run(large)) <= 2.3 * calls(lambda: run(small)), what  # noqa: B023 - called here


@pytest.mark.parametrize("name", SHAPES)
def test_no_pass_recurs(name: str) -> None:
    """A term may be deeper than the stack of Python: here one of 100 more frames."""
    for what, run in PASSES.items():
        run(function(name, 2))
        term, before = function(name, 150), sys.getrecursionlimit()
        sys.setrecursionlimit(len(inspect.stack(0)) + 100)
        try:
            assert run(term) is not False, what
        finally:
            sys.setrecursionlimit(before)
