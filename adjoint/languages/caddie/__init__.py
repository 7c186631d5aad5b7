"""caddie: a small language of first-order functions of reals, tuples and arrays, with combinatory derivatives."""

from adjoint.languages.caddie.functions import load

__all__ = ["load"]
