"""Functions of the library in torch: `make test-torch` runs these tests in an environment with torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from adjoint.bridges.as_torch import as_torch

torch: Any = pytest.importorskip("torch")
X = hb.Fin.of(3)


def f() -> Any:
    return hb.fun(hb.R**X, hb.R)(lambda x, k: (hb.sin(x * k), (x @ x) * k))


def plain(x: Any, k: Any) -> Any:
    return torch.sin(x * k), (x @ x) * k


def at() -> Any:
    return (
        torch.arange(3.0, dtype=torch.float64, requires_grad=True),
        torch.tensor(1.5, dtype=torch.float64, requires_grad=True),
    )


def third(h: Any, x: Any, k: Any) -> Any:
    first, second = h(x, k)
    one = first.sum() * second
    for _ in range(2):
        (one,) = torch.autograd.grad(one, k, create_graph=True)
    return torch.autograd.grad(one, (x, k))


def test_gradients() -> None:
    """Torch's own checks, and the third derivative of the function written in torch."""
    assert torch.autograd.gradcheck(as_torch(f()), at())
    assert torch.autograd.gradgradcheck(as_torch(f()), at())
    for found, wanted in zip(third(as_torch(f()), *at()), third(plain, *at()), strict=True):
        torch.testing.assert_close(found, wanted)


def test_what_is_discrete() -> None:
    """An element has no slope, and results that are elements have none either."""
    g = as_torch(hb.fun(hb.R**X, hb.Elements(X))(lambda x, i: (x[i] * x[i], x.argmax())))
    x = torch.tensor([1.0, 4.0, 2.0], dtype=torch.float64, requires_grad=True)
    value, largest = g(x, 1)
    value.backward()
    assert x.grad.tolist() == [0.0, 8.0, 0.0]
    assert (int(largest), largest.requires_grad) == (1, False)


class Line(hb.Record):
    slope: hb.Part[hb.Scalar]
    at_zero: hb.Part[hb.Scalar]


def test_a_module() -> None:
    """The parts of a record are a module's parameters; training reaches the line through the points."""
    P = Line(slope=hb.R, at_zero=hb.R)
    net = hb.fun(P, hb.R**X)(lambda p, x: p[Line.slope] * x + p[Line.at_zero])
    model = as_torch(net, P.of(slope=hb.R.vec(0.0), at_zero=hb.R.vec(0.0)))
    assert list(model.state_dict()) == ["slope", "at_zero"]
    x = torch.arange(3.0, dtype=torch.float64)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(300):
        optimiser.zero_grad()
        ((model(x) - (2.0 * x + 1.0)) ** 2).mean().backward()
        optimiser.step()
    assert np.allclose([p.item() for p in model.parameters()], [2.0, 1.0], atol=1e-3)
    model.load_state_dict(model.state_dict())


BAD = (
    (lambda g: g(at()[0]), "takes 2 arguments"),
    (lambda g: g(at()[0][:2], 1.0), "a tensor of shape (2,) and torch.float64 is no element of"),
    (lambda g: g(at()[0].float(), 1.0), "one of shape (3,) and float64 would fit"),
    (lambda g: g(hb.R.vec(1.0), 1.0), "a vector of ℝ is given to f"),
    (lambda _: as_torch(3), "as_torch takes a map, not 3"),  # type: ignore[arg-type]
    (lambda _: as_torch(f(), hb.R.vec(1.0)), "are a vector of ℝ^3, not a vector of ℝ"),
)


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input(call: Any, message: str) -> None:
    """Errors are ours, and say the part."""
    with pytest.raises(hb.SpaceError) as error:
        call(as_torch(f()))
    assert message in str(error.value)
