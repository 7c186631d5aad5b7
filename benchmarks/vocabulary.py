"""Operations along axes: a convolution with both gradients, softmax cross-entropy, a mixture by log Σ exp, and masks.

The convolution is 32 → 32 channels, 3×3, 8×8 places, a batch of 64, padded to the same places; the mixture has 25
components in 10 dimensions, and is compared with itself without the shift by the largest entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from adjoint import grad, value_and_grad
from benchmarks.timing import OURS, Line, Options, agree, compare, jax
from diff import contract, conv, exp, fun, inner, lift, log, relu
from hilbert import R32, Elements, Field, Fin, Map, R

JAX, PLAIN = "jax (jit)", "without the shift"
TOLERANCE = {"float64": 1e-10, "float32": 1e-4}


def lines(options: Options) -> Iterator[Line | str]:
    """All four."""
    for field in (R, R32):
        yield from convolution(field, options)
    yield from cross_entropy(options)
    yield from mixture(options)
    yield from masks(options)


def convolution(field: Field, options: Options) -> Iterator[Line | str]:
    """∇ ‖conv‖² in the kernel and the images."""
    y, x, c, o, k, offset, b = (Fin.of(n) for n in (8, 8, 32, 32, 3, 3, 64))
    one = fun(field ** (k * offset * c * o), field ** (y * x * c))(lambda w, image: conv(image, w, padding="same"))
    many: Any = lift(one, b)
    square = fun(many.cod)(lambda z: inner(z, z))
    gradient = grad(fun.over(many.dom)(lambda w, images: square(many(w, images))))
    point = many.dom.random(np.random.default_rng(0))
    candidates: dict[str, Callable[[], Any]] = {OURS: lambda: gradient(point).leaves}
    found = jax()
    if found is None:
        return
    layout = ("NHWC", "HWIO", "NHWC")

    def squares(w: Any, images: Any) -> Any:
        z = found.lax.conv_general_dilated(images, w, (1, 1), "SAME", dimension_numbers=layout)
        return (z * z).sum()

    compiled = found.jit(found.grad(squares, (0, 1)))
    here = tuple(map(found.numpy.asarray, point.leaves))
    candidates[JAX] = lambda: found.block_until_ready(compiled(*here))
    what = f"conv, both gradients, {field.dtype}"
    agree(what, {who: list(call()) for who, call in candidates.items()}, TOLERANCE[field.dtype])
    yield from compare(what, candidates, options, baseline=JAX)


def cross_entropy(options: Options) -> Iterator[Line | str]:
    """Value and gradient of the mean of log Σ exp z − z_y, 64×10."""
    batch, label = Fin.of(64), Fin.of(10)
    each: Any = lift(fun(R**label, Elements(label))(lambda z, y: z.logsumexp() - z[y]), batch, over=(0, 1))
    f = value_and_grad(fun.over(each.dom)(lambda z, y: each(z, y).mean()), 0)
    rng = np.random.default_rng(0)
    z, y = ((R**label) ** batch).random(rng), (Elements(label) ** batch).vec(rng.integers(0, 10, 64))
    candidates: dict[str, Callable[[], Any]] = {OURS: lambda: f(z, y).leaves}
    found = jax()
    if found is None:
        return

    def loss(logits: Any, labels: Any) -> Any:
        picked = found.numpy.take_along_axis(logits, labels[:, None], 1)[:, 0]
        return (found.nn.logsumexp(logits, 1) - picked).mean()

    compiled = found.jit(found.value_and_grad(loss))
    here = tuple(map(found.numpy.asarray, (z.array, y.array)))
    candidates[JAX] = lambda: found.block_until_ready(compiled(*here))
    agree("cross-entropy", {who: list(call()) for who, call in candidates.items()}, 1e-10)
    yield from compare("softmax cross-entropy, 64×10", candidates, options, baseline=JAX)


def mixture(options: Options) -> Iterator[Line | str]:
    """Value and gradient of Σ_n log Σ_k exp of the scores of 1,000 points."""
    n, k, d = Fin.of(1000), Fin.of(25), Fin.of(10)
    params = (R**k, R ** (k * d), R ** (k * d * d))

    def scores(a: Any, m: Any, q: Any, x: Any) -> Any:
        z = contract("kij,kj->ki", q, x.rep(m.space) - m)
        return a - 0.5 * (z * z).sum(over=d)

    def total(a: Any, m: Any, q: Any, x: Any) -> Any:
        return scores(a, m, q, x).logsumexp()

    def plain(a: Any, m: Any, q: Any, x: Any) -> Any:
        return log(exp(scores(a, m, q, x)).sum())

    def added(f: Map[Any, Any]) -> Map[Any, Any]:
        made: Map[Any, Any] = fun(*f.dom.parts)(lambda *args: f(*args).sum())
        return made

    candidates = dict[str, Callable[[], Any]]()
    for who in (OURS, PLAIN):
        one = fun(*params, R**d)(total if who == OURS else plain)
        many = lift(one, n, over=(3,))
        f = value_and_grad(added(many), (0, 1, 2))
        point = f.dom.random(np.random.default_rng(0), scale=0.3)
        candidates[who] = partial(f, point)
    agree("mixture", {who: list(call().leaves) for who, call in candidates.items()}, 1e-10)
    yield from compare("mixture, d = 10, K = 25", candidates, options, baseline=PLAIN, limit=1.1)


def masks(options: Options) -> Iterator[Line | str]:
    """relu, clip and max between layers whose slopes may be infinite: value and gradient, 10⁶ entries."""
    found = jax()
    if found is None:
        return
    space = R ** (Fin.of(1000) * Fin.of(1000))
    x = space.vec(np.random.default_rng(0).random((1000, 1000)) + 0.5)
    f = fun(space)(lambda x: log(relu(log(x)) + 1.0).clip(0.1, 0.3).max(over=1).sum())
    both = value_and_grad(f)

    def plain(x: Any) -> Any:
        xp = found.numpy
        return xp.clip(xp.log(found.nn.relu(xp.log(x)) + 1.0), 0.1, 0.3).max(axis=1).sum()

    compiled, here = found.jit(found.value_and_grad(plain)), found.numpy.asarray(x.array)
    candidates: dict[str, Callable[[], Any]] = {
        OURS: lambda: both(x).leaves,
        JAX: lambda: found.block_until_ready(compiled(here)),
    }
    agree("masks, value", {who: [float(call()[0])] for who, call in candidates.items()}, TOLERANCE["float64"])
    yield from compare("relu, clip and max between logarithms, 10⁶", candidates, options, baseline=JAX)
