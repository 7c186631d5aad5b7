"""Each name in a printed text is an argument, or has a definition or a binder around it; no two share one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import adjoint, grad
from diff import cos, derivative, exp, fun, program, show, sin, tanh
from diff.printing.program_names import heads
from diff.terms.program import Program
from hilbert import Fin, R, Vec
from linmap.printing import notation
from tests.function_terms import function
from tests.loop_programs import PAIRS
from tests.printed_scopes import unbound
from tests.programs import PROGRAMS, VALUES_ONLY
from tests.strategies import Source, sources
from tests.untyped import each, fold, iterate, root

DATA: list[Vec[Any]] = [(R ** Fin.of(3)).random(np.random.default_rng(k)) for k in range(3)]
NAMES = ("p", "y", "a", "u1", "p")
"""Parameters, few enough that they meet; `a` and u₁ are what constants and definitions are called otherwise."""


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are not broken."""
    monkeypatch.setattr(notation, "WIDTH", 10**9)


def named(names: str, body: Any) -> Any:
    """The function with parameters of these names."""
    made: Any = eval(f"lambda {names}: body({names})", {"body": body})  # noqa: S307
    return made


def expression(s: Source, known: list[Any], depth: int) -> Any:
    """A scalar made of known ones, in which loops, equations and lanes bind names that may be taken."""
    if not depth:
        return s.one_of(known)
    kind = s.integer(0, 7)

    def some(extra: list[Any] | None = None) -> Any:
        return expression(s, known + (extra or []), depth - 1)

    name, other = s.one_of(NAMES), s.one_of([n for n in NAMES if n != "p"])
    match kind:
        case 0:
            return some() * some()
        case 1:
            return exp(-0.5 * (some() - some()) ** 2)
        case 2:
            return tanh(some() + some()) - some()
        case 3:
            return iterate(named(name, lambda x: sin(x * some([x])) + some([x]) * cos(some([x]))), some(), Fin.of(3))
        case 4:
            names = f"{name}, {other if other != name else 'q'}"
            return fold(named(names, lambda x, y: sin(x) * some([x, y]) + exp(some([x, y]))), some(), s.one_of(DATA))
        case 5:
            return each(named(name, lambda x: exp(some([x])) * some([x]) + some([x])), s.one_of(DATA)).sum()
        case 6:
            return root(named(name, lambda x: x + 0.1 * sin(x * some()) - some()), some())
        case _:
            return sin(some() * some()) * exp(some() * cos(some()))


def drawn(s: Source, depth: int = 3) -> Any:
    """A function of two numbers, whose names are among those of the parameters."""
    body = named(s.one_of(["p, y", "y, a", "x, p"]), lambda x, y: expression(s, [x, y], depth))
    return fun(R, R)(body)


def check(f: Any, arguments: set[str]) -> None:
    """No name is unbound."""
    text = show(f).replace(", one by one", "")  # the name of an operation
    assert not unbound(text, arguments), f"{unbound(text, arguments)}: {text}"


@settings(max_examples=150, deadline=None)
@given(sources())
def test_names_in_bodies(s: Source) -> None:
    """Loops, equations and lanes in each other, their gradients and derivatives."""
    f = drawn(s)
    check(f, set())
    check(grad(f, 0), set())
    d = derivative(f)
    check(d, set(heads(program(f))))


@settings(max_examples=200)
@given(sources())
def test_names_in_terms(s: Source) -> None:
    """Random functions, as terms and as programs, and what is derived from them."""
    f = function(s, 3)
    for term in (f, program(f)):
        check(term, set())
    for linear in (derivative(f), adjoint(derivative(f))):
        check(linear, set(heads(linear.program)))


@pytest.mark.parametrize("name", [*PROGRAMS, *PAIRS])
def test_names_in_programs(name: str) -> None:
    """Every kind of step, and the loops."""
    f: Any = PROGRAMS[name] if name in PROGRAMS else PAIRS[name](2).loop
    check(f, set())
    if name not in VALUES_ONLY:
        d = derivative(f)
        check(d, set(heads(d.program)))
        check(program(d.uncurried), set())


def test_constants_have_other_names_than_arguments() -> None:
    """Of eleven constants none is called p, and a state a keeps its name."""

    @fun(R ** Fin.of(3))
    def f(p: Any) -> Any:
        out = p @ p
        for k in range(11):
            out = out * sin((R ** Fin.of(3)).random(np.random.default_rng(k)) @ p)
        return out

    text = str(f)
    assert "where p ∈" not in text
    assert text.count(" ∈ ") == 11
    g = fun(R ** Fin.of(3))(lambda z: iterate(named("a", lambda x: sin(x * DATA[0]) + z), z, Fin.of(2)))
    assert str(g) == "z ↦ iterate[2](a ↦ sin(a·b)+z, z)\n  where b ∈ ℝ^3"


def test_definitions_of_a_body_stand_below_it() -> None:
    """What a body computes is defined in its scope, and what does without its parameters is not."""
    f = fun(R, R)(
        lambda mu, s: fold(lambda h, y: h * exp(-0.5 * (y - mu) ** 2 / s) / exp(s) + (y - mu) ** 2, s, DATA[0])
    )
    assert show(f).splitlines() == [
        "(mu, s) ↦ fold[3](f₁, s, a)",
        "  where f₁ = (h, y) ↦ u₁+(y−mu)²",
        "    where u₁ = h·exp(−0.5·(y−mu)² / s) / exp s",
        "  where a ∈ ℝ^3",
    ]
    inner = program(fun(R)(lambda z: exp(sin(z) * cos(z) + z * tanh(z)) * exp(sin(z) * cos(z) + z * tanh(z)) + z))
    assert show(sin @ inner).splitlines() == [
        "sin ∘ f₁",
        "  where f₁ = z ↦ u₁·u₁+z",
        "    where u₁ = exp((sin z)·cos z+z·tanh z)",
    ]
    assert isinstance(inner, Program)


def test_what_is_unbound_is_found() -> None:
    """A definition outside of the binder that it needs, an index without one, a name that nothing defines."""
    outside = "(mu, s) ↦ fold[5]((h, y) ↦ h·u₁+y, s, a)\n  where u₁ = exp((y−mu)² / s)\n  where a ∈ ℝ^5"
    assert unbound(outside) == {"y"}
    assert unbound("x ↦ [i, j] ↦ Σ_k x[i, k]·x[k, j] + c₄[l]") == {"c₄", "l"}
    assert unbound("x ↦ u₁+(y ↦ y)(x)·y") == {"u₁", "y"}
