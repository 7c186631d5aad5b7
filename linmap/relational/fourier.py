"""Discrete Fourier transforms on pairs of real numbers, as terms of small ones (Cooley & Tukey 1965).

A transform of n = p·q numbers is q of p numbers, n turns, a transposition, and p of q numbers: n·(p + q) products
where a matrix has n². The small ones are products with constant matrices, so that the term has a structure, an adjoint
and a lift like any other, and runs in every array library. A prime n is one matrix.

>>> from hilbert import Fin, R, direct_sum
>>> X = Fin.of(4)
>>> v = (direct_sum(R, R) ** X).vec(([1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]))
>>> print(fft(X)(v))
([0.5, 0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0]) ∈ (ℝ ⊕ ℝ)^4
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from hilbert import Copower, DirectSum, Field, Fin, Index, Product, R, SpaceError, Unit
from hilbert.base.sizes import addressable, held
from hilbert.errors import shown
from hilbert.index.index import require_index
from linmap import contraction
from linmap.relational.axis_maps import reshape
from linmap.term.maps import compose, fork, identity, parallel, project, section
from linmap.unitary import curry, transpose, uncurry, unzip_parts, zip_parts

if TYPE_CHECKING:
    from linmap.term.linear_map import LinMap

I = TypeVar("I", bound=Index)
ComplexVector: TypeAlias = Copower[DirectSum[Field, Field], I]
"""(K ⊕ K)^X: real and imaginary parts."""
SMALL = 32
"""A transform of so many numbers is one matrix (measured)."""


def fft(X: I, V: Field = R) -> LinMap[ComplexVector[I], ComplexVector[I]]:
    """fft : (K ⊕ K)^X ⊸ (K ⊕ K)^X, z ↦ (Σ_x exp(−2πi·x·y/n)·z_x / √n)_y for z = (real, imaginary part), unitary.

    Along each axis of X. Raises SpaceError for an X that is no index set, and a V that is no field.
    """
    return _transform(X, V, -1, "fft(X)")


def ifft(X: I, V: Field = R) -> LinMap[ComplexVector[I], ComplexVector[I]]:
    """ifft : (K ⊕ K)^X ⊸ (K ⊕ K)^X, the inverse of `fft`, and its adjoint."""
    return _transform(X, V, 1, "ifft(X)")


def _transform(X: I, V: Any, sign: int, what: str) -> LinMap[ComplexVector[I], ComplexVector[I]]:
    require_index(X, what)
    if not isinstance(V, Field):
        msg = f"{what} is over R or R32, not over {shown(V)}"
        raise SpaceError(msg)
    pairs = Copower(DirectSum((V, V)), X)
    split: Any = unzip_parts(pairs)
    joined: LinMap[Any, ComplexVector[I]] = zip_parts(split.cod)
    made: LinMap[ComplexVector[I], ComplexVector[I]] = joined @ _along(X, V, sign) @ split
    return made


def _along(X: Any, V: Field, sign: int) -> Any:
    """The transform on V^X ⊕ V^X, along each axis of X."""
    if isinstance(X, Unit):
        return identity(DirectSum((Copower(V, X), Copower(V, X))))
    if isinstance(X, Product):  # along the axes behind, and, transposed, along those in front
        behind, front = _rows(X.left, X.right, V, sign), _rows(X.right, X.left, V, sign)
        turn, back = transpose(Copower(V, X)), transpose(Copower(V, X.right * X.left))
        return compose(parallel(back, back), front, parallel(turn, turn), behind)
    n, one = X.size, Fin.of(1)
    if not n:
        return identity(DirectSum((Copower(V, X), Copower(V, X))))
    table = Fin.of(n) * one
    there, back = reshape(X, table, V), reshape(table, X, V)
    return compose(parallel(back, back), _dft(n, 1, V, sign), parallel(there, there))


def _rows(X: Index, Y: Index, V: Field, sign: int) -> Any:
    """The transform on V^{X×Y} ⊕ V^{X×Y}, along Y."""
    rows = curry(Copower(V, X * Y))
    inner = _along(Y, V, sign) ** X
    return compose(
        parallel(uncurry(rows.cod), uncurry(rows.cod)),
        unzip_parts(inner.cod),
        inner,
        zip_parts(DirectSum((rows.cod, rows.cod))),
        parallel(rows, rows),
    )


@cache
@held("fft of a size with small factors needs tables of their sizes only; see pad")
def _dft(n: int, m: int, V: Field, sign: int) -> Any:
    """The transform on V^{n×m} ⊕ V^{n×m}, along the axis in front."""
    what = "a table of the angles of a Fourier transform"
    p = 1 if addressable(n, what) <= SMALL else next(d for d in range(math.isqrt(n), 0, -1) if n % d == 0)
    addressable(n * (n if p == 1 else 1), what)
    N, M = Fin.of(n), Fin.of(m)
    if p == 1:
        angles = sign * 2.0 * math.pi / n * (np.outer(np.arange(n), np.arange(n)) % n)
        return _times("kj,jm->km", angles, 1.0 / math.sqrt(n), N * N, Copower(V, N * M))
    q = n // p
    P, Q = Fin.of(p), Fin.of(q)
    turns = sign * 2.0 * math.pi / n * np.outer(np.arange(p), np.arange(q))
    turn = transpose(Copower(Copower(V, M), P * Q))
    cube, flat = Copower(V, P * Q * M), Copower(Copower(V, M), P * Q)
    steps = [
        _both(reshape(N * M, P * Fin.of(q * m), V)),
        _dft(p, q * m, V, sign),
        _both(reshape(P * Fin.of(q * m), P * Q * M, V)),
        _times("kj,kjm->kjm", turns, 1.0, P * Q, cube),
        _both(curry(cube)),
        _both(turn),
        _both(uncurry(turn.cod)),
        _both(reshape(Q * P * M, Q * Fin.of(p * m), V)),
        _dft(q, p * m, V, sign),
        _both(reshape(Q * Fin.of(p * m), N * M, V)),
    ]
    assert curry(cube).cod == flat  # the axes in front are a table
    return compose(*reversed(steps))


def _both(f: Any) -> Any:
    return parallel(f, f)


def _times(labels: str, angles: Any, scale: float, X: Index, V: Any) -> Any:
    """(cos + i·sin)(angles), times a pair of V, by the labels of a contraction."""
    field: Field = V.base
    table = Copower(field, X)
    cos, sin = (table.vec((f(angles) * scale).astype(field.dtype)) for f in (np.cos, np.sin))
    c = contraction.labelled(labels, table, V)
    real, imaginary = section(c, 0, cos), section(c, 0, sin)
    first, second = (project(DirectSum((V, V)), k) for k in (0, 1))
    return fork(real @ first - imaginary @ second, imaginary @ first + real @ second)
