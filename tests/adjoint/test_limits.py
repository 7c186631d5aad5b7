"""limit= of everything that contracts: kept, or an error before an array is made; the numbers are the same."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pytest

import hilbert.all as hb

R: Any = hb.R


class Request(Protocol):
    """What is asked, with a limit or without."""

    def __call__(self, **limit: Any) -> Any: ...


def chain(*sizes: int) -> tuple[Any, Any]:
    """x ↦ …tanh(B⋆tanh(A⋆x)) for these sizes, and a point."""
    rng = np.random.default_rng(0)
    sets = [hb.Fin.of(n) for n in sizes]
    matrices = [(R ** (y * x)).random(rng, scale=0.03) for x, y in pairwise(sets)]

    def body(x: Any) -> Any:
        for A in matrices:
            x = hb.tanh(A @ x)
        return x

    f = hb.fun(R ** sets[0])(body)
    return f, f.dom.random(rng)


def product(left: hb.Vec[Any], right: hb.Vec[Any]) -> Any:
    """The matrix of a low-rank map."""
    return left.array.T @ right.array


def requests() -> dict[str, tuple[Request, int]]:
    """Each with the entries of an array that every order has on the way; results are smaller."""
    f, x = chain(100, 1500, 1500, 100)
    loss: Any = hb.fun(f.dom)(lambda x: f(x).sum())
    narrow, y = chain(200, 50, 1500, 1500, 100)
    d = hb.derivative(narrow).at(y)
    square, z = chain(400, 401, 402, 400)
    e = hb.derivative(square).at(z)
    return {
        "jacobian": (lambda **limit: hb.jacobian(f, x, **limit), 100 * 1500),
        "hessian": (lambda **limit: hb.hessian(loss, x, **limit), 100 * 1500),
        "matrix": (lambda **limit: hb.matrix(d, "array", **limit), 50 * 1500),
        "factors": (lambda **limit: product(*hb.factors(d, **limit)), 50 * 1500),
        "diagonal": (lambda **limit: hb.diagonal(e, **limit).array, 400 * 400),
        "trace": (lambda **limit: hb.trace(e, **limit), 400 * 400),
    }


REQUESTS = requests()


@pytest.mark.parametrize("name", REQUESTS)
def test_a_limit_that_no_order_keeps(name: str) -> None:
    """It is an error, and the array that it forbids is not made."""
    request, least = REQUESTS[name]
    tracemalloc.start()
    try:
        with pytest.raises(hb.SpaceError, match=r"no order keeps every intermediate array within \d+ entries"):
            request(limit=least // 3)
        assert tracemalloc.get_traced_memory()[1] < 8 * least
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", REQUESTS)
def test_a_limit_that_is_kept(name: str) -> None:
    """The numbers are those of the request without one."""
    request, least = REQUESTS[name]
    np.testing.assert_allclose(request(limit=2 * least), request(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "all"])
@pytest.mark.parametrize("name", REQUESTS)
def test_limits_that_are_none(name: str, limit: Any) -> None:
    """A limit is a whole number, from 1 on."""
    with pytest.raises(hb.SpaceError, match=r"limit is the number of entries .* from 1 on, not"):
        REQUESTS[name][0](limit=limit)


def test_gram_makes_no_array() -> None:
    """The limit is that of what reads it."""
    f, x = chain(100, 1500, 1500, 100)
    d = hb.gram(hb.derivative(f).at(x))
    with pytest.raises(hb.SpaceError, match="no order keeps"):
        hb.matrix(d, "array", limit=50_000)
    with pytest.raises(hb.SpaceError, match="no order keeps"):
        hb.diagonal(d, limit=50_000)


def test_a_dense_tensor_keeps_a_limit() -> None:
    """`tensor` takes a limit where it makes one array, too."""
    f, x = chain(30, 40, 40, 30)
    d = hb.derivative(f).at(x)
    with pytest.raises(hb.SpaceError, match="no order keeps"):
        hb.tensor(d, dense=True, limit=1000)
    most: Any = np.int64(1200)  # numpy's integers, too
    kept = hb.tensor(d, dense=True, limit=most)
    np.testing.assert_allclose(kept.array, hb.matrix(d, "array"), rtol=1e-12, atol=1e-15)
