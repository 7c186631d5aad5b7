"""An array library is one class: defining it is all that it takes, and what it does otherwise is a method of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import numpy as np
import pytest
from jax import numpy as jnp

from diff import fun, sin
from hilbert import Fin, R
from hilbert.arrays.kernels.library import find, library
from hilbert.arrays.libraries import namespace
from hilbert.arrays.libraries.array_api import ArrayAPI
from hilbert.arrays.libraries.libraries import Jax
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Leaf
from hilbert.relation import geq, leq
from linmap import red

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.arrays.kernels.kernel import Kernel
    from hilbert.arrays.kernels.reduced_axes import ReducedAxes
    from hilbert.relation import Order

jax.config.update("jax_enable_x64", val=True)

X = Fin.of(3)
V = R**X


class Tagged(np.ndarray[Any, Any]):
    """An array of a library of our own, which numpy would take for one of its arrays."""


class Own(ArrayAPI):
    """Its library: cumulative sums are counted, results are tagged as frozen."""

    sums: ClassVar[list[Any]] = []
    frozen: ClassVar[list[Any]] = []

    @classmethod
    def owns(cls, array: Any) -> bool:
        """Tagged arrays."""
        return isinstance(array, Tagged)

    def order(self, p: ReducedAxes, r: Order[Any]) -> Kernel:
        """Counted."""
        self.sums.append(r)
        return NUMPY.order(p, r)

    def freezing(self, kind: type) -> Callable[[Any], Any] | None:
        """Noted."""

        def noted(array: Any) -> Any:
            self.frozen.append(array)
            return array

        return noted


def test_a_library_is_found_by_being_defined() -> None:
    """Also where a class from before would have taken the array."""
    assert type(library(np.zeros(3).view(Tagged))) is Own
    assert library(np.zeros(3)) is NUMPY


def test_its_methods_are_what_runs() -> None:
    """A kernel and a service of its own; all else by the array API, in its arrays."""
    x = V.vec(np.array([1.0, 2.0, 4.0]).view(Tagged))
    f = fun(V)(lambda e: red(leq(X))(e) * sin(e))
    Own.sums.clear()
    Own.frozen.clear()
    y = f(x)
    assert Own.sums == [leq(X)]
    assert any(a is y.array for a in Own.frozen)
    assert type(y.array) is Tagged
    np.testing.assert_array_equal(np.asarray(y.array), f(V.vec([1.0, 2.0, 4.0])).array)


def test_others_are_not_touched() -> None:
    """numpy's arrays go on as before."""
    Own.sums.clear()
    NUMPY.reduce(geq(X), 0, Leaf(R.entry, (X,))).call(np.ones(3))
    assert Own.sums == []


def test_one_object_for_a_namespace() -> None:
    """JAX's arrays and tracers have one library."""
    found: list[Any] = []

    def note(a: Any) -> Any:
        found.append(find(a))
        return a

    jax.jit(note)(jnp.ones(3))
    assert found == [library(jnp.ones(3))]
    assert type(found[0]) is Jax


@pytest.mark.parametrize("thing", [1.0, [1.0], "a", SimpleNamespace(shape=(3,))], ids=str)
def test_what_is_no_array(thing: Any) -> None:
    """It has no library; freezing leaves it as it is."""
    assert find(thing) is None
    assert namespace.freeze(thing) is thing
    with pytest.raises(TypeError, match="is no array of a library that is known here"):
        library(thing)
