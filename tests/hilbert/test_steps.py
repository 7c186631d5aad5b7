"""Steps of control flow that are built by hand: each condition on what they are made of and act on, by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import evolve

from hilbert import Fin, SpaceError
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Literal, Scale
from hilbert.program.transform.emit_loop import looped

X, Y = Fin.of(3), Fin.of(2)
TRUTH, NUMBER = Leaf(Entry("bool")), Leaf(Entry("float64"))
TRUTHS, ROW, SHORT, PAIR = TRUTH.under((X,)), NUMBER.under((X,)), NUMBER.under((Y,)), NUMBER.under((Y, X))


def line(leaves: Sequence[Leaf], outputs: Sequence[int]) -> Line:
    """One that computes nothing."""
    return Builder(list(leaves)).line(outputs)


LOOP = Loop(line([NUMBER, ROW, SHORT], [0, 2, 0]), X, 1, 1, names=("s", "x"))
COND = Cond(line([NUMBER, ROW], [0, 1]), line([NUMBER, ROW], [0, 1]))
WHILE = While(line([TRUTH, NUMBER, ROW], [0, 1]), 2)
ROOT = Implicit(line([NUMBER, ROW, SHORT], [0, 1]), 2, True, 1e-9, 9, lanes=((Y, (True,)),))  # noqa: FBT003
SYSTEM = Solve(line([ROW, SHORT, PAIR], [0, 1]), 2, many=(Y,))
STEPS: list[Any] = [LOOP, COND, WHILE, ROOT, SYSTEM]


def fixed(ends: Sequence[int], lanes: Any = ()) -> Implicit:
    """An equation x = body(x, capture) for three numbers."""
    return Implicit(line([ROW, ROW, NUMBER], ends), 1, False, 1e-9, 9, lanes=lanes)  # noqa: FBT003


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a state of another space": (lambda: Loop(line([NUMBER, ROW], [1, 0]), X, 2, 0), "the states of a loop are in"),
    "more shared arrays than there are": (lambda: Loop(line([ROW], [0]), X, 1, 1), "the states of a loop are in"),
    "branches that end otherwise": (
        lambda: Cond(line([NUMBER, ROW], [0]), line([NUMBER, ROW], [1])),
        r"both branches of a condition end in one space, not in \(ℝ\) and \(ℝ\^3\)",
    ),
    "branches on other arrays": (lambda: Cond(line([NUMBER], [0]), line([NUMBER, ROW], [0])), "both branches"),
    "a loop without a condition": (lambda: While(line([NUMBER], [0]), 1), "a state is in"),
    "a loop without a state": (lambda: While(line([], []), 0), "a state is in"),
    "a loop whose state moves": (lambda: While(line([TRUTH, NUMBER, ROW], [0, 2, 1]), 3), "a state is in"),
    "fewer equations": (lambda: fixed([2]), r"an equation for \(ℝ\^3\) ends in \(ℝ\)"),
    "as many equations in another space": (
        lambda: Implicit(line([ROW, NUMBER], [1, 1, 1]), 1, False, 1e-9, 9),  # noqa: FBT003
        r"an equation for \(ℝ\^3\) ends in \(ℝ, ℝ, ℝ\)",
    ),
    "lanes that say too little": (lambda: fixed([1], ((X, (True,)),)), "each axis of lanes says of 2 captures"),
    "lanes that say too much": (lambda: fixed([1], ((X, (True,) * 2), (Y, (True,) * 3))), "each axis of lanes says"),
    "a system that is not square": (
        lambda: Solve(line([ROW, NUMBER], [1]), 1),
        "a linear system of 1 equations for 3 unknowns: there must be as many",
    ),
    "a choice between two spaces": (lambda: Choose().image(TRUTH, ROW, SHORT), r"a choice between ℝ\^3 and ℝ\^2"),
    "a choice by a number": (lambda: Choose().image(NUMBER, ROW, ROW), "a choice by ℝ does not fit"),
    "a choice by other lanes": (lambda: Choose().image(TRUTHS, SHORT, SHORT), "a choice by Bool.3 does not fit"),
    "a filling by a number": (lambda: Fill(0, when=True).image(ROW, ROW), "a filling by ℝ.3 does not fit"),
    "a filling of other lanes": (lambda: Fill(0, when=True).image(TRUTHS, PAIR), "a filling by Bool.3 does not fit"),
    "an array before the first": (lambda: Unpack(-1).image(Bundle((ROW,))), "which .* has not"),
    "an array behind the last": (lambda: Unpack(1).image(Bundle((ROW,))), "which .* has not"),
    "an array of an array": (lambda: Unpack(0).image(ROW), "which .* has not"),
    **{
        f"{type(step).__name__} on other arrays": (
            lambda step=step: step.image(Bundle(step.given.leaves[1:])),  # type: ignore[misc]
            r"does not apply to \(|is not one on \(",
        )
        for step in STEPS
    },
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit(what: str) -> None:
    """The message names both."""
    call, message = REFUSED[what]
    with pytest.raises(SpaceError, match=message):
        call()


def test_what_fits() -> None:
    """The leaves of what each gives."""
    assert [step.image(step.given) for step in STEPS] == [step.made for step in STEPS]
    assert LOOP.given.leaves == (NUMBER, ROW, SHORT.under((X,)))
    assert LOOP.made.leaves == (NUMBER, SHORT.under((X,)), NUMBER.under((X,)))
    assert COND.given.leaves == (TRUTH, NUMBER, ROW)
    assert ROOT.given.leaves == (SHORT, PAIR, SHORT.under((Y,)))
    assert SYSTEM.given.leaves == (PAIR, SHORT.under((Y,)), PAIR)
    assert Choose().image(TRUTHS, ROW, ROW) == Fill(0, when=True).image(TRUTHS, ROW) == ROW
    assert AnyLane(1, when=True).image(TRUTH.under((Y, X))) == TRUTH.under((Y,))
    assert Pack().image(ROW, NUMBER) == Bundle((ROW, NUMBER))


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_on_lines_that_do_the_same(step: Any) -> None:
    """A step on the lines that it has is the step itself."""
    assert step.on_lines(lambda found: found) is step
    changed: list[Line] = []

    def copied(found: Line) -> Line:
        changed.append(found)
        return evolve(found)

    other = step.on_lines(copied)
    assert other == step
    assert other is not step
    if isinstance(step, Cond):
        assert changed == list(step.lines)
        one = step.on_lines(lambda found: evolve(found) if found is step.then else found)
        assert (one.then is not step.then, one.otherwise is step.otherwise) == (True, True)
        two = step.on_lines(lambda found: evolve(found) if found is step.otherwise else found)
        assert (two.then is step.then, two.otherwise is not step.otherwise) == (True, True)


def test_what_is_read_of_a_step() -> None:
    """What must be made and given for some results, and the step for these alone."""
    assert LOOP.needed({2}) == ({0, 2}, {0})
    assert LOOP.needed({1}) == ({1}, {2})
    assert LOOP.narrowed({0, 2}, {0}) == Loop(line([NUMBER], [0, 0]), X, 1, 0)
    assert LOOP.narrowed({0, 2}, {0}).names == ("s",)
    assert LOOP.narrowed({1}, {2}).names == ("x",)
    assert LOOP.narrowed({0, 1, 2}, {0, 1, 2}) is LOOP
    assert Loop(line([NUMBER, ROW], [0]), X, 1, 1).narrowed({0}, {0}) == Loop(line([NUMBER], [0]), X, 1, 0)
    assert COND.needed({1}) == ({1}, {0, 2})
    assert COND.narrowed({1}, {0, 2}) == Cond(line([ROW], [0]), line([ROW], [0]))
    assert WHILE.needed({1}) == ({0, 1}, {0, 1})
    assert WHILE.narrowed({0, 1}, {0, 1}) == While(line([TRUTH, NUMBER], [0, 1]), 2)
    assert ROOT.needed({0}) == ({0, 1}, {0, 1})
    assert ROOT.narrowed({0, 1}, {0, 1}) == Implicit(line([NUMBER, ROW], [0, 1]), 2, True, 1e-9, 9, lanes=((Y, ()),))  # noqa: FBT003
    assert SYSTEM.needed({0}) == ({0, 1}, {0, 1})
    assert SYSTEM.narrowed({0, 1}, {0, 1}) == Solve(line([ROW, SHORT], [0, 1]), 2, many=(Y,))


def test_what_a_loop_is_given() -> None:
    """What does not vary is computed outside; nothing is given that no round reads, and nothing twice."""
    inner = Builder([NUMBER, NUMBER, NUMBER, NUMBER])  # s, a, b, and the slice x
    fixed_, unread = inner.scale(2.0, 1), inner.scale(3.0, 2)
    body = inner.line([inner.add(0, fixed_), inner.add(3, fixed_), unread, 3])
    b = Builder([NUMBER, NUMBER, NUMBER, ROW])
    found = looped(b, Loop(body, X, 1, 2), range(4))
    (made,) = [step for step in b.steps if isinstance(step.operation, Loop)]
    (pack,) = made.args
    assert (made.operation.states, made.operation.shared) == (1, 1)
    assert b.steps[pack - b.arity].args == (0, b.step(Scale(2.0), (1,)), 3)
    assert found[3] == 3  # the stack of a slice is the stack that it is of
    assert found[2] == b.rep(b.step(Scale(3.0), (2,)), X.axes)


def test_a_constant_that_is_read_inside_and_outside() -> None:
    """It is a constant of both, and nothing that is given."""
    inner = Builder([NUMBER, NUMBER])
    two = inner.number(2.0, NUMBER)
    outside = inner.add(1, two)
    body = inner.line([inner.add(inner.add(0, two), outside), two, outside])
    b = Builder([NUMBER, NUMBER])
    found = looped(b, Loop(body, X, 1, 1), range(2))
    (made,) = [step for step in b.steps if isinstance(step.operation, Loop)]
    loop, (pack,) = made.operation, made.args
    assert (loop.states, loop.shared, len(loop.body.outputs)) == (1, 1, 1)
    assert sum(isinstance(step.operation, Literal) for step in loop.body.steps) == 1
    assert b.steps[pack - b.arity].args == (0, b.add(1, b.number(2.0, NUMBER)))
    assert found[1:] == [b.rep(b.number(2.0, NUMBER), X.axes), b.rep(b.add(1, b.number(2.0, NUMBER)), X.axes)]
