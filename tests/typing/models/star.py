"""A star import of the door has every public name, for both type checkers."""

from typing import reveal_type

from hilbert.all import *

X = Fin.of(3)
f = fun(R**X)(lambda x: sin(x) @ x)
reveal_type(grad(f)((R**X).zeros()))  # N: Vec[Vector[Anonymous]]


def main() -> None:
    """Use a name of the door, and one of a door."""
    assert str(grad(f))
    assert callable(linalg.cholesky)
