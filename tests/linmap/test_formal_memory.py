"""Nothing of dim V·dim W entries is made unless asked: the peak of all memory that numpy takes is recorded."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from adjoint import adjoint, grad, value_and_grad, vjp
from diff import affine, contract, derivative, dot, fun, inner, jvp, lift, outer, sin
from hilbert import R32, Copower, Fin, R, TensorProduct, Vec, compress, direct_sum, formal, from_factors
from hilbert.relation import full, function, leq
from hilbert.tensors.formal_tensors import alike
from linmap import contraction as bilinear
from linmap import red, section, total, transpose, zip_parts
from linmap.unitary import assoc, bars, bra, distrib, ket, tensor_copower, tensor_matrix, unassoc, undistrib

if TYPE_CHECKING:
    from collections.abc import Callable

X, Y, Z = Fin.of(700), Fin.of(640), Fin.of(5)
V = direct_sum(R**X, R ** (Fin.of(20) * Fin.of(30)))
W = direct_sum(R, R**Y, R ** Fin.of(200))
SPACE = TensorProduct(V, W)
LIMIT = SPACE.dim * 8 // 4
"""A quarter of the bytes of the dense tensor; the factors of a tensor of rank 3 take a hundredth of it."""
RNG = np.random.default_rng(0)
A, B = SPACE.left.random(RNG), SPACE.right.random(RNG)
T = formal(SPACE, [(A, B), (V.random(RNG), W.random(RNG)), (V.random(RNG), W.random(RNG))])
S = from_factors((V**Z).random(RNG), (W**Z).random(RNG))
M = (R**X).random(RNG).tensor((R**Y).random(RNG)) + (R**X).random(RNG).tensor((R**Y).random(RNG))
N = (R**Y).random(RNG).tensor((R**X).random(RNG))
MATRIX = tensor_matrix(M.space)(M)


def peak(call: Callable[[], Any]) -> int:
    """The largest number of bytes that a call holds at once."""
    call()  # plans and kernels are kept
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def joined(*vectors: Vec[Any]) -> Vec[Any]:
    """(v, w) ∈ V ⊕ W."""
    return Vec(direct_sum(*(v.space for v in vectors)), tuple(leaf for v in vectors for leaf in v.leaves))


def parts(v: Vec[Any]) -> list[Any]:
    """All arrays that a vector keeps."""
    return [part for leaf in v.leaves for part in getattr(leaf, "parts", (leaf,))]


PAIR = joined(distrib(M.space)(M), distrib(M.space)(M))
weighted = fun(M.space, R**Y)(lambda t, y: inner(t, t) * y)
quadratic = fun(M.space)(lambda t: 0.5 * inner(t, t))
fit = fun(MATRIX.space, R**Y, R**X)(lambda m, y, x: inner(m @ y - x, m @ y - x))
rows = fun(M.space, R**Y)(lambda t, y: contract("ij,j->i", t, y, to=R**X))
batch = lift(fun(MATRIX.space, R**Y)(lambda m, y: inner(sin(m @ y), sin(m @ y))), Z)
mean = fun(MATRIX.space, (R**Y) ** Z)(lambda m, ys: batch(m, ys).mean())
shifted = fun(M.space)(lambda t: inner(t + 1.5, t / 3.0 + 1.5))
pair = fun(R**X, R**Y, M.space)(lambda x, y, t: outer(x, y) + t)

OPERATIONS: dict[str, Callable[[], Any]] = {
    "add": lambda: T + S,
    "subtract": lambda: T - S - T,
    "scale": lambda: 2.0 * T / 3.0,
    "inner": lambda: T.inner(S),
    "norm": (T - S).norm,
    "equal": lambda: alike(T + S, S + T),
    "compress": lambda: compress(T + S + T, 1e-12),
    "many": lambda: sum((A.tensor(B) for _ in range(20)), T),
    "transpose": lambda: transpose(SPACE)(T),
    "distrib": lambda: distrib(SPACE)(T),
    "undistrib": lambda: undistrib(distrib(SPACE).cod)(distrib(SPACE)(T)),
    "matrix": lambda: tensor_matrix(M.space)(M),
    "matrix transposed": lambda: transpose(R ** (X * Y))(MATRIX),
    "copowers": lambda: tensor_copower(M.space)(M),
    "bra": lambda: bra(SPACE)(T),
    "ket": lambda: ket(SPACE)(T),
    "bars": lambda: bars(bra(SPACE).cod)(bra(SPACE)(T)),
    "assoc": lambda: assoc(TensorProduct(M.space, W))(M.tensor(B)),
    "unassoc": lambda: unassoc(TensorProduct(V, M.space))(A.tensor(M)),
    "zip": lambda: zip_parts(PAIR.space)(PAIR),
    "(t∗)": lambda: section(bilinear.tensor_contraction(R**X, R**Y, R**X), 0, M)(N),
    "(∗t)": lambda: section(bilinear.tensor_contraction(R**X, R**Y, R**X), 1, N)(M),
    "(⊙t)": lambda: dot(T)(S),
    "(t⊗)": lambda: section(bilinear.outer(M.space, R**Z), 0, M)((R**Z).zeros()),
    "(⊗t)": lambda: section(bilinear.outer(R**Z, M.space), 1, M)((R**Z).zeros()),
    "(t·)": lambda: section(bilinear.hadamard(M.space), 0, M)(M),
    "red": lambda: red(leq(X), TensorProduct(R, R**Y))(distrib(M.space)(M)),
    "gather": lambda: red(function(np.arange(X.size) % 5, X, Z), TensorProduct(R, R**Y))(distrib(M.space)(M)),
    "Σ over both": lambda: red(full(X * Y, Z), R)(MATRIX),
    "Σ": lambda: total(X, TensorProduct(R, R**Y))(distrib(M.space)(M)),
    "function": lambda: weighted(M, (R**Y).zeros()),
    "contract": lambda: rows(M, (R**Y).zeros()),
    "outer in a function": lambda: pair((R**X).zeros(), (R**Y).zeros(), M),
    "derivative": lambda: affine(weighted, M, (R**Y).zeros())[1](M, (R**Y).zeros()),
    "adjoint": lambda: adjoint(affine(weighted, M, (R**Y).random(RNG))[1])((R**Y).random(RNG)),
    "adjoint of ⋆": lambda: adjoint(affine(rows, M, (R**Y).random(RNG))[1])((R**X).random(RNG)),
    "jvp": lambda: jvp(rows)(joined(M, (R**Y).zeros()), joined(M, (R**Y).zeros())),
    "vjp": lambda: vjp(rows)(joined(M, (R**Y).zeros()), (R**X).zeros()),
    "grad": lambda: grad(quadratic)(M),
    "grad of a batch": lambda: grad(mean)(MATRIX, ((R**Y) ** Z).random(RNG)),
    "constants": lambda: value_and_grad(shifted)(M),
    "second derivative": lambda: derivative(grad(quadratic)).at(M)(M),
    "grad of a fit": lambda: grad(fit)(MATRIX, (R**Y).random(RNG), (R**X).random(RNG)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_on_formal_tensors(name: str) -> None:
    """Neither an array nor all arrays together come near dim V·dim W; what is kept is O(r (dim V + dim W))."""
    made = OPERATIONS[name]()
    if isinstance(made, Vec):
        assert max(part.size for part in parts(made)) < LIMIT // 8
    assert peak(OPERATIONS[name]) < LIMIT


def test_storage() -> None:
    """A tensor of rank r keeps r·(dim V + dim W) entries: the leaves share the factors."""
    kept = {id(part): part.size for part in parts(S)}
    assert sum(kept.values()) == 5 * (V.dim + W.dim)


def test_single_precision() -> None:
    """The factors stay in single precision."""
    t = (R32**X).random(RNG).tensor((R32**Y).random(RNG))
    for made in (t + t, 2 * t - t, transpose(t.space)(t), dot(t)(t), t.dense()):
        assert {str(part.dtype) for part in parts(made)} == {"float32"}


def test_dense_is_asked_for() -> None:
    """`.dense()`, `.array` and `.flat()` make the whole array: the recorder sees it."""
    for call in (M.dense, lambda: M.array, M.flat, lambda: Copower(R, X).zeros().tensor((R**Y).zeros()).flat()):
        assert peak(call) >= M.space.dim * 8
