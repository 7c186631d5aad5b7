"""A star import of the door has every public name, for both type checkers."""

from typing import reveal_type

from hilbert.all import *

X = Fin.of(3)
f = fun(R**X)(lambda x: sin(x) @ x)
reveal_type(grad(f)((R**X).zeros()))  # N: Vec[Copower[Field, Fin[Anonymous]]]
solve_in_linalg = linalg.solve
factor = cholesky
