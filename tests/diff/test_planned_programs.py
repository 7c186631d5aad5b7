"""Planning, on generated programs: never more multiplications or larger arrays than as written, and the same values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given, settings

from adjoint import vjp
from diff import jvp, lift, planned, program
from diff.terms.elementwise import Elementwise
from hilbert import Fin
from hilbert.program.line.operation import Contract
from hilbert.program.planning.multiplications import largest, multiplications
from hilbert.program.run.run import Runner
from tests.contraction_programs import Choices, Dice, Recipe, exact, recipe
from tests.strategies import Source, sources

if TYPE_CHECKING:
    from collections.abc import Callable

EPSILON = float(np.finfo(np.float64).eps)
DERIVED: dict[str, Callable[[Any], Any]] = {
    "program": lambda f: f,
    "vjp": vjp,
    "jvp": jvp,
    "vjp of jvp": lambda f: vjp(jvp(f)),
}


def forms(s: Choices, drawn: Recipe) -> list[tuple[str, Any, Any]]:
    """What is made of a program: derivatives, lifted once or twice over some arguments; planned and as written."""
    f, g = drawn.traced(planned=True), drawn.traced(planned=False)
    found: list[tuple[str, Any, Any]] = [(name, derive(f), derive(g)) for name, derive in DERIVED.items()]
    if len(drawn.spaces) > 1:
        over = tuple(k for k in range(len(drawn.spaces)) if s.flag()) or (0,)
        X, Y = Fin.of(s.integer(1, 300)), Fin.of(s.integer(1, 10))
        found.append(("lift", lift(f, X, over=over), lift(g, X, over=over)))
        lifts: dict[str, Callable[[Any], Any]] = {
            "lift of lift": lambda h: lift(lift(h, X, over=over), Y, over=(0,)),
            "vjp of lift": lambda h: vjp(lift(h, X, over=over)),
            "lift of vjp": lambda h: lift(vjp(h), X, over=(0,)),
        }
        found += [(name, make(f), make(g)) for name, make in lifts.items()]
    return found


@settings(max_examples=40, deadline=None)
@given(sources(single=False))
def test_never_more_than_as_written(s: Source) -> None:
    """Multiplications and the largest array of a program, its derivatives, its lifts; nothing saved, nothing done."""
    never_more(s)


@settings(max_examples=40, deadline=None)
@given(sources(single=False))
def test_the_gradient_costs_three_times_the_value(s: Source) -> None:
    """vjp in all operands ≤ 3 × the planned value, and a product for each entry of a primitive's derivative."""
    three_times(s)


@settings(max_examples=40, deadline=None)
@given(sources(single=False))
def test_values_change_by_rounding(s: Source) -> None:
    """The error against longer floats is at most four times that as written, or rounding."""
    by_rounding(s)


def never_more(s: Choices) -> None:
    drawn = recipe(s)
    for name, mine, written in forms(s, drawn):
        ours, theirs = planned(mine), program(written)
        assert theirs.line.fixed
        assert planned(written) is theirs
        assert multiplications(ours.line) <= multiplications(theirs.line), name
        assert largest(ours.line) <= largest(theirs.line), name
        if name == "program":
            saved = multiplications(theirs.line) - multiplications(ours.line)
            assert saved > 0 or ours is program(mine)
        assert planned(ours) is ours


def three_times(s: Choices) -> None:
    f = recipe(s).traced(planned=True)
    value = planned(f)
    entries = sum(
        leaf.size
        for step, leaf in zip(value.steps, value.slots[value.arity :], strict=True)
        if isinstance(step.operation, Elementwise)
    )
    assert multiplications(vjp(f).line) <= 3 * multiplications(value.line) + entries


def by_rounding(s: Choices) -> None:
    drawn = recipe(s, size=12)
    f, g = drawn.traced(planned=True), drawn.traced(planned=False)
    x = drawn.point(s.rng())
    (due,), (size,) = exact(g, x), exact(g, x, absolute=True)
    (mine,), (written,) = (Runner(planned(h).line).run(x) for h in (f, g))
    terms = sum(max(leaf.shape, default=1) for leaf in g.slots)
    bound = np.maximum(np.abs(written - due), terms * EPSILON * size)
    assert np.all(np.abs(mine - due) <= 4 * bound)


def test_the_recipes_are_worth_planning() -> None:
    """What the laws above are about occurs: orders that change, of programs and of their derivatives."""
    functions = [recipe(Dice(seed)).traced(planned=True) for seed in range(60)]
    assert sum(planned(f) is not f for f in functions) > 15
    assert sum(multiplications(vjp(planned(f)).line) < multiplications(vjp(f).line) for f in functions) == 0
    assert sum(isinstance(step.operation, Contract) for f in functions for step in f.steps) > 200
