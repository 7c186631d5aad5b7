"""Single precision stays single precision, NaN passes through, and no input is changed."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from adjoint import adjoint
from diff import affine, derivative, fun, program, relu, sin, square, tanh
from diff.primitives.primitives import BINARY, PRIMITIVES
from diff.terms.elementwise import Primitive
from hilbert import R32, Fin, R
from hilbert.program.line.operation import Literal
from tests.function_terms import between, function, traced
from tests.strategies import Source, sources


@settings(max_examples=100)
@given(sources(smooth=True, single=False))
def test_every_slot_is_in_single_precision(s: Source) -> None:
    """A function over ℝ₃₂ has no slot, no constant, no value and no derivative in double precision."""
    single = Source(s.draw, R32, smooth=True)
    f = traced(single) if s.flag() else between(single, single.space(8), single.space(8), 2, kinks=True)
    note(f)
    d = derivative(f)
    for p in (program(f), d.program, d.uncurried, adjoint(d).uncurried):
        assert all(leaf.dtype == "float32" for leaf in p.slots if leaf.is_field)
        literals = [step.operation.value for step in p.steps if isinstance(step.operation, Literal)]
        assert all(const.array.dtype == np.float32 for const in literals if const.leaf.is_field)
    x = single.vector(f.dom)
    value, linear = affine(f, x)
    back = adjoint(linear)
    for v in (f(x), value, linear(single.vector(linear.dom)), back(single.vector(back.dom))):
        assert all(a.dtype == np.float32 for a, leaf in zip(v.leaves, v.space.leaves, strict=True) if leaf.is_field)


@pytest.mark.parametrize("p", PRIMITIVES, ids=lambda p: p.name)
def test_primitives_in_single_precision(p: Primitive) -> None:
    """p and p' map ℝ₃₂^X to ℝ₃₂^X, for arrays and for scalars, with the values of double precision."""
    point = 1.5 if p.name == "acosh" else 0.6
    spaces: list[Any] = [R32, R32 ** Fin.of(2)]
    for V in spaces:
        x = V.unflat(np.full(V.dim, point, np.float32))
        value, linear = affine(fun(V)(p), x)
        due, slope = affine(p, R.vec(point))
        for found, number in ((value, due), (linear(V.unflat(np.ones(V.dim, np.float32))), slope(R.vec(1.0)))):
            assert found.leaves[0].dtype == np.float32
            np.testing.assert_allclose(found.flat(), float(number), rtol=1e-5)


@pytest.mark.parametrize("p", [*PRIMITIVES, *BINARY], ids=lambda p: p.name)
def test_nan_passes_through(p: Primitive) -> None:
    """A NaN in an argument is a NaN in the result, and only there."""
    V = R ** Fin.of(2)
    good = 1.5
    args = [V.vec([np.nan, good])] + [V.vec([good, good])] * (p.rule.arity - 1)
    for given_args in (args, args[::-1]):
        with np.errstate(invalid="ignore"):  # asin of 1.5
            found = np.asarray(p(*given_args).array)  # type: ignore[arg-type]
        assert np.isnan(found[0])
        assert not np.isnan(found[1]) or p.name in {"asin", "acos", "atanh", "ndtri"}


def test_nan_passes_through_derivatives() -> None:
    """The derivative at a NaN is NaN, through a chain of steps that overwrite each other's memory."""
    V = R ** Fin.of(3)
    f = fun(V)(lambda x: tanh(square(sin(x)) + x) * 2.0 - relu(x))
    x = V.vec([0.1, np.nan, 0.3])
    value, linear = affine(f, x)
    found = linear(V.vec([1.0, 1.0, 1.0])).array
    assert np.isnan(value.array).tolist() == np.isnan(found).tolist() == [False, True, False]


@settings(max_examples=100)
@given(sources(smooth=True))
def test_no_input_is_changed(s: Source) -> None:
    """Values, derivatives and adjoints leave the points, the tangents and the constants as they are, run after run."""
    f = function(s, 3)
    note(f)
    x = s.vector(f.dom)
    value, linear = affine(f, x)
    dx, dy = s.vector(linear.dom), s.vector(linear.cod)
    first = [v.leaves for v in (f(x), value, linear(dx), adjoint(linear)(dy))]
    copies = [[np.array(a) for a in leaves] for leaves in first]
    again = [v.leaves for v in (f(x), affine(f, x)[0], linear(dx), adjoint(linear)(dy))]
    assert s.unchanged()
    for leaves, copy, more in zip(first, copies, again, strict=True):
        for a, b, c in zip(leaves, copy, more, strict=True):
            assert np.array_equal(a, b)
            assert np.array_equal(a, c)
            assert not a.flags.writeable
