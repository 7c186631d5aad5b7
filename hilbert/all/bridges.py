"""Functions and linear maps for the solvers of other packages, and linear maps made of their operators."""

from adjoint import FlatMap, FlatObjective, NonlinearProgram, as_jax, as_scipy, as_torch, nlp
from linmap import from_scipy, linear_map, linear_operator

__all__ = [
    "FlatMap",
    "FlatObjective",
    "NonlinearProgram",
    "as_jax",
    "as_scipy",
    "as_torch",
    "from_scipy",
    "linear_map",
    "linear_operator",
    "nlp",
]
