"""Ex. 7.1 at full size: 784-512-256-10, tanh, tanh, identity; the paper's squared loss, averaged over a batch of 128.

Targets are one-hot vectors, parameters are what the gradient is taken in; the same for all candidates.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from adjoint import grad, value_and_grad
from benchmarks.timing import HAND, OURS, Line, Options, agree, compare, jax, optional
from diff import fun, lift, program, tanh
from diff.trace.expr import Expr
from hilbert import R32, Copower, DirectSum, Field, Fin, Map, Matrix, R, Vec, Vector, direct_sum


class Pixel:
    """Tag of an axis."""


class Hidden:
    """Tag of an axis."""


class Code:
    """Tag of an axis."""


class Label:
    """Tag of an axis."""


class Batch:
    """Tag of an axis."""


PIXEL, HIDDEN, CODE, LABEL, BATCH = Fin(Pixel, 784), Fin(Hidden, 512), Fin(Code, 256), Fin(Label, 10), Fin(Batch, 128)
LARGEST_LITERAL = BATCH.size * HIDDEN.size * PIXEL.size
"""Entries of batch × out × in in the first layer: what a literal reading of the copower would make."""
TOLERANCE = {"float64": 1e-10, "float32": 1e-4}
OBJECTIVE_LIMIT, GRADIENT_LIMIT = 1.3, 1.4

Params: TypeAlias = DirectSum[
    Matrix[Hidden, Pixel], Vector[Hidden], Matrix[Code, Hidden], Vector[Code], Matrix[Label, Code], Vector[Label]
]
Sample: TypeAlias = DirectSum[Vector[Pixel], Vector[Label]]
Arrays: TypeAlias = tuple[Any, ...]
Outputs: TypeAlias = tuple[Any, Arrays]


def model(field: Field) -> Map[DirectSum[Params, Copower[Sample, Fin[Batch]]], Field]:
    """The mean loss : Params ⊕ (Input ⊕ Target)^Batch → K."""
    params = direct_sum(
        field ** (HIDDEN * PIXEL), field**HIDDEN,
        field ** (CODE * HIDDEN), field**CODE,
        field ** (LABEL * CODE), field**LABEL,
    )  # fmt: skip
    sample = direct_sum(field**PIXEL, field**LABEL)

    def loss(p: Expr[Params], d: Expr[Sample]) -> Expr[Field]:
        w1, b1, w2, b2, w3, b3 = p.split()
        x, y = d.split()
        error: Expr[Vector[Label]] = w3 @ tanh(w2 @ tanh(w1 @ x + b1) + b2) + b3 - y
        return error @ error

    mean = fun(field**BATCH)(lambda losses: losses.mean())
    return mean @ lift(fun(params, sample)(loss), BATCH)


def objective_by_hand(p: Arrays, x: Any, y: Any) -> Any:
    """In place wherever an operand dies."""
    w1, b1, w2, b2, w3, b3 = p
    h = x @ w1.T
    h += b1
    h = np.tanh(h, out=h)
    g = h @ w2.T
    g += b2
    g = np.tanh(g, out=g)
    v = g @ w3.T
    v += b3
    v -= y
    return np.vdot(v, v) / len(x)


def gradient_by_hand(p: Arrays, x: Any, y: Any) -> Outputs:
    """Value and gradient: back-propagation as one writes it in numpy, in place wherever an operand dies."""
    w1, b1, w2, b2, w3, b3 = p
    h = x @ w1.T
    h += b1
    h = np.tanh(h, out=h)
    g = h @ w2.T
    g += b2
    g = np.tanh(g, out=g)
    v = g @ w3.T
    v += b3
    v -= y
    value = np.vdot(v, v) / len(x)
    v *= 2 / len(x)
    dw3, db3 = v.T @ g, v.sum(axis=0)
    dg = v @ w3
    g *= g
    dg *= np.subtract(1, g, out=g)
    dw2, db2 = dg.T @ h, dg.sum(axis=0)
    dh = dg @ w2
    h *= h
    dh *= np.subtract(1, h, out=h)
    return value, (dh.T @ x, dh.sum(axis=0), dw2, db2, dw3, db3)


def objective_in(xp: Any) -> Callable[[Arrays, Any, Any], Any]:
    """The objective for a library with numpy's functions."""

    def objective(p: Arrays, x: Any, y: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = p
        error = xp.tanh(xp.tanh(x @ w1.T + b1) @ w2.T + b2) @ w3.T + b3 - y
        return xp.mean(xp.sum(error * error, axis=1))

    return objective


def data(field: Field, f: Map[Any, Any]) -> tuple[Arrays, Any, Any]:
    """Parameters as for the start of training, pixels in [0, 1), random labels as one-hot vectors."""
    rng = np.random.default_rng(0)
    shapes = [leaf.shape for leaf in f.dom.parts[0].leaves]
    params = tuple((rng.standard_normal(shape) / shape[-1] ** 0.5).astype(field.dtype) for shape in shapes)
    pixels = rng.random((BATCH.size, PIXEL.size)).astype(field.dtype)
    return params, pixels, np.eye(LABEL.size, dtype=field.dtype)[rng.integers(0, LABEL.size, BATCH.size)]


def lines(options: Options) -> Iterator[Line | str]:
    """Objective and gradient in both precisions, then the largest arrays."""
    for field in (R, R32):
        yield from in_precision(field, options)


def in_precision(field: Field, options: Options) -> Iterator[Line | str]:
    """Check that all candidates agree, then time them."""
    f = model(field)
    params, pixels, targets = data(field, f)
    p, d = f.dom.parts[0].vec(params), f.dom.parts[1].vec((pixels, targets))
    both, gradient = value_and_grad(f, wrt=0), grad(f, wrt=0)
    objectives: dict[str, Callable[[], Any]] = {
        HAND: partial(objective_by_hand, params, pixels, targets),
        OURS: lambda: f(p, d),
    }
    gradients: dict[str, Callable[[], Outputs]] = {
        HAND: partial(gradient_by_hand, params, pixels, targets),
        OURS: lambda: outputs(both(p, d)),
        f"{OURS}, no value": lambda: (0.0, gradient(p, d).leaves),
    }
    peers((params, pixels, targets), objectives, gradients)
    name, tolerance = field.dtype, TOLERANCE[field.dtype]
    agree(f"MLP objective, {name}", {who: [float(call())] for who, call in objectives.items()}, tolerance)
    whole = {who: call() for who, call in gradients.items()}
    agree(f"MLP gradient, {name}", {who: grads for who, (_, grads) in whole.items()}, tolerance)
    values = {who: [float(value)] for who, (value, _) in whole.items() if "no value" not in who}
    agree(f"MLP value, {name}", values, tolerance)
    yield from compare(f"MLP objective, {name}", objectives, options, limit=OBJECTIVE_LIMIT)
    yield from compare(f"MLP value and gradient, {name}", gradients, options, limit=GRADIENT_LIMIT)
    yield from sizes(f"MLP, {name}", both, (p, d))


def outputs(x: Vec[Any]) -> Outputs:
    """The value and the arrays of the gradient."""
    value, *gradient = x.leaves
    return value, tuple(gradient)


def peers(
    arrays: tuple[Arrays, Any, Any],
    objectives: dict[str, Callable[[], Any]],
    gradients: dict[str, Callable[[], Outputs]],
) -> None:
    """JAX and autograd, where they are installed."""
    found = jax()
    if found is not None:
        f = objective_in(found.numpy)
        here = found.device_put(arrays)
        compiled, with_gradient = found.jit(f), found.jit(found.value_and_grad(f))
        objectives["jax (jit)"] = lambda: found.block_until_ready(compiled(*here))
        gradients["jax (jit)"] = lambda: found.block_until_ready(with_gradient(*here))
    autograd, traced = optional("autograd"), optional("autograd.numpy")
    if autograd is not None:
        g = objective_in(traced)
        taped = autograd.value_and_grad(g)
        objectives["autograd"] = partial(g, *arrays)
        gradients["autograd"] = partial(taped, *arrays)


def sizes(what: str, f: Map[Any, Any], x: tuple[Vec[Any], ...]) -> Iterator[str]:
    """The largest array of the program and the peak of memory; raises ValueError if one is as large as batch·out·in."""
    p = program(f)
    largest = max(leaf.size for leaf in p.slots)
    tracemalloc.start()
    f(*x)
    peak = tracemalloc.get_traced_memory()[1] // np.dtype(p.slots[0].dtype).itemsize
    tracemalloc.stop()
    if max(largest, peak) >= LARGEST_LITERAL:
        msg = f"{what}: an array of {largest} entries or a peak of {peak} where batch·out·in is {LARGEST_LITERAL}"
        raise ValueError(msg)
    yield (
        f"{what}: largest array {largest:,} entries, peak of all new ones {peak:,}; "
        f"batch·out·in would be {LARGEST_LITERAL:,}"
    )
