"""The line and the net of a derivative: each step has its arcs once, constant elements are known, plans are kept."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve

import hilbert.all as hb
from diff.terms.program import AnyProgram, Program
from hilbert.program.line.constant import Const
from hilbert.program.line.line import Step
from hilbert.program.line.operation import Add
from linmap.term import wire
from linmap.term.datum import Ref

X = hb.Fin.of(3)


def twice(f: Any) -> AnyProgram:
    """f + f as a line that has each step of f two times."""
    p = hb.program(f)
    line, n = p.line, len(p.steps)
    (last,) = line.outputs
    again = [Step(s.operation, tuple(a if a < p.arity else a + n for a in s.args), s.place) for s in line.steps]
    steps = (*line.steps, *again, Step(Add(), (last, last + n)))
    slots = (*line.slots, *line.slots[p.arity :], line.slots[last])
    return Program(p.dom, p.cod, evolve(line, slots=slots, steps=steps, outputs=(len(slots) - 1,)), p.names)


@pytest.mark.parametrize(
    "f",
    [
        hb.fun(hb.R**X)(hb.sin),
        hb.fun(hb.R**X)(lambda x: hb.fold(lambda t, y: t * y, hb.const(hb.R.vec(1.0)), x)),
        hb.fun(hb.R**X)(lambda x: hb.where(x.sum() > 0.0, x * x, hb.sin(x)).sum()),
    ],
    ids=["step", "loop", "branch"],
)
def test_equal_steps_have_their_arcs_once(f: Any) -> None:
    """Steps that become one slot of the derivative's line are not counted twice."""
    v, u = (hb.R**X).vec([0.5, 1.5, -1.0]), (hb.R**X).vec([1.0, 2.0, 3.0])
    g = twice(f)
    np.testing.assert_allclose(g(v).array, 2.0 * f(v).array)
    np.testing.assert_allclose(hb.derivative(g).at(v)(u).array, 2.0 * hb.derivative(f).at(v)(u).array)


def test_constant_elements_are_known() -> None:
    """The entries of the matrix depend on elements of an index set, so that constant ones stand in the net."""
    at = (hb.Elements(X) ** hb.Fin.of(2)).vec([2, 0])
    data = [
        wire.datum_of(arc.map) for arc in hb.derivative(hb.fun(hb.R**X)(lambda v: hb.sin(v)[hb.const(at)])).body.arcs
    ]
    assert {type(datum): datum.leaf.entry.index for datum in data if datum} == {Ref: None, Const: X}


@pytest.mark.parametrize("fixed", [False, True])
def test_the_line_is_planned_as_that_of_the_function(fixed: bool) -> None:  # noqa: FBT001
    """A line that is run as it stands has a derivative of that kind."""
    p = hb.program(hb.fun(hb.R**X)(hb.sin))
    p = evolve(p, line=evolve(p.line, fixed=fixed))
    assert hb.derivative(p).value.line.fixed is fixed
