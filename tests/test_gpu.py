"""On a GPU the arrays stay there: the demo's gradient and every kind of kernel on cupy, against numpy.

Where there is no cupy with a device these tests are skipped (tests/conftest.py); that programs run where their
arguments live is tested on other libraries in `test_namespaces`.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from adjoint import adjoint_affine, jacobian
from diff import derivative, fun, tanh
from hilbert import R32, SpaceError, Vec
from tests.programs import ASKING, PROGRAMS, Place, V, close, demo, label, moved, p, point, v0

pytestmark = pytest.mark.gpu


@pytest.fixture
def gpu() -> Place:
    """cupy's current device."""
    cupy: Any = importlib.import_module("cupy")
    return Place(cupy, cupy.ndarray, cupy.asarray, cupy.asnumpy, segments=True)


def ran(f: Any, x: Vec[Any], gpu: Place) -> Vec[Any]:
    """f(x), where no array is copied to the host."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu.kind, "get", lambda *_, **__: pytest.fail("an array was copied to the host"))
        result: Vec[Any] = f(x)
    assert all(isinstance(a, gpu.kind) for a in result.leaves)
    return result


def test_the_gradient_of_the_digits_demo(gpu: Place) -> None:
    """Loss and gradient of a mini-batch of digits are numpy's, and cupy arrays from input to gradient."""
    step, x = demo()
    there = moved(x, gpu)
    assert all(isinstance(a, gpu.kind) for a in there.leaves)
    assert close(gpu, ran(step, there, gpu), step(x))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_kernel(name: str, gpu: Place) -> None:
    """f(x) on cupy is f(x) on numpy."""
    f = PROGRAMS[name]
    x = point(name, f)
    got = f(moved(x, gpu)) if name in ASKING else ran(f, moved(x, gpu), gpu)
    assert close(gpu, got, f(x))


def test_derivatives_and_matrices(gpu: Place) -> None:
    """A linear map at a point on the GPU, its adjoint and its matrix are there too."""
    f = fun(V)(lambda e: tanh(e * v0) + v0)
    x, y = v0 / 8.0, moved(v0 / 8.0, gpu)
    assert close(gpu, ran(derivative(f).at(y), y, gpu), derivative(f).at(x)(x))
    assert close(gpu, ran(adjoint_affine(f, y)[1], y, gpu), adjoint_affine(f, x)[1](x))
    matrix = jacobian(f, y)
    assert isinstance(matrix, gpu.kind)
    assert np.allclose(gpu.back(matrix), jacobian(f, x), rtol=1e-12)


def test_vectors(gpu: Place) -> None:
    """The vector operations stay; ⊙, ‖·‖ and float are numbers; the rule of conversion is that of numpy."""
    x = moved(v0, gpu)
    assert close(gpu, x + 2.0 * x - x / 2.0, 2.5 * v0)
    assert (x.inner(x), x.norm()) == (v0.inner(v0), v0.norm())
    assert close(gpu, x.space.unflat(x.flat()), v0)
    assert close(gpu, V.vec(gpu.there(np.arange(4))), V.vec(np.arange(4)))
    with pytest.raises(SpaceError, match=r"float64 is not an element of ℝ₃₂\^Pixel4"):
        (R32**p).vec(gpu.there(np.zeros(4)))
    with pytest.raises(SpaceError, match=r"entries from 0 to 3 are not elements of Hidden3"):
        (label**p).vec(gpu.there(np.arange(4)))
    with pytest.raises(SpaceError, match="different array libraries"):
        fun(V, V)(lambda e, g: e @ g)(x, v0)
