"""caddie: a small language of first-order functions of reals, tuples and arrays, with combinatory derivatives."""

from adjoint.languages.caddie.caddie_functions import load

__all__ = ["load"]
