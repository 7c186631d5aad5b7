"""f ** X for an element-wise function: f's five steps on whole arrays, from |X| = 10 to 10⁶."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adjoint import grad
from benchmarks.timing import HAND, OURS, Line, Options, agree, compare, jax
from diff import exp, fun, sin, square
from diff.trace.expr import Expr
from hilbert import Field, Fin, Map, R
from linmap import total

SIZES = (10, 1_000, 100_000, 1_000_000)


class X:
    """Tag of an axis."""


def body(x: Expr[Field]) -> Expr[Field]:
    """x·sin x + exp(−x²)."""
    return x * sin(x) + exp(-square(x))


def by_hand(x: Any) -> Any:
    """The same in numpy, in place wherever an operand dies."""
    y = np.sin(x)
    y *= x
    z = np.square(x)
    z = np.exp(np.negative(z, out=z), out=z)
    y += z
    return y


def gradient_by_hand(x: Any) -> Any:
    """Sin x + x·cos x − 2x·exp(−x²)."""
    y = np.cos(x)
    y *= x
    y += np.sin(x)
    z = np.square(x)
    z = np.exp(np.negative(z, out=z), out=z)
    z *= x
    z *= 2
    y -= z
    return y


def lines(options: Options) -> Iterator[Line | str]:
    """f^X and the gradient of Σ_X ∘ f^X, for each size."""
    f = fun(R)(body)
    for size in SIZES[: 3 if options.quick else None]:
        yield from of_size(f, size, options)


def of_size(f: Map[Field, Field], size: int, options: Options) -> Iterator[Line | str]:
    """Check that all candidates agree, then time them."""
    index = Fin(X, size)
    lifted = f**index
    gradient = grad(total(index) @ lifted)
    array = np.random.default_rng(0).standard_normal(size)
    x = lifted.dom.vec(array)
    values: dict[str, Callable[[], Any]] = {HAND: lambda: by_hand(array), OURS: lambda: lifted(x).array}
    gradients: dict[str, Callable[[], Any]] = {HAND: lambda: gradient_by_hand(array), OURS: lambda: gradient(x).array}
    found = jax()
    if found is not None:
        np_ = found.numpy

        def elementwise(v: Any) -> Any:
            return v * np_.sin(v) + np_.exp(-np_.square(v))

        compiled = found.jit(elementwise)
        compiled_gradient = found.jit(found.grad(lambda v: np_.sum(elementwise(v))))
        here = np_.asarray(array)
        values["jax (jit)"] = lambda: found.block_until_ready(compiled(here))
        gradients["jax (jit)"] = lambda: found.block_until_ready(compiled_gradient(here))
    agree(f"f ** X, {size}", {who: [call()] for who, call in values.items()}, 1e-10)
    agree(f"gradient of the sum, {size}", {who: [call()] for who, call in gradients.items()}, 1e-10)
    yield from compare(f"f ** X, |X| = {size:,}", values, options)
    yield from compare(f"∇(Σ_X ∘ f ** X), |X| = {size:,}", gradients, options)
