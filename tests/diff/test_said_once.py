"""What is the same is said once: programs of equal text in a cost, sizes of a term that no law changes."""

from typing import Any

from diff import fun, inner, sin
from diff.function_cost import Reordered
from diff.terms.lower import program
from hilbert import Fin, R
from linmap import cost, explain, rep, scale, total

X = Fin.of(100)


def test_orders_of_one_text() -> None:
    """Two programs that print alike are printed once, two others both."""
    f, g = program(fun(R)(lambda x: x * sin(x))), program(fun(R)(lambda x: sin(x) * sin(x)))
    assert str(Reordered(f, f)).count("↦") == 1
    assert str(Reordered(f, g)).count("↦") == 2
    chain: Any = fun(R ** (X * X), R ** (X * X), R**X)(lambda a, b, x: a @ b @ x)
    assert str(cost(chain)).count("(a, b, x) ↦") == 2


def test_nothing_to_simplify() -> None:
    """The sizes once where no law applies, else both."""
    f = fun(R**X)(lambda x: inner(x, sin(x)))
    assert str(explain(f)).startswith("nothing to simplify: size ")
    assert "→" not in str(explain(f))
    assert "→" in str(explain(total(X) @ scale(2, R**X) @ rep(X))).splitlines()[0]
