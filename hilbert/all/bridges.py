"""Functions for the solvers of other packages."""

from adjoint import FlatMap, FlatObjective, NonlinearProgram, as_scipy, nlp

__all__ = ["FlatMap", "FlatObjective", "NonlinearProgram", "as_scipy", "nlp"]
