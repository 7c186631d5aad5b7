"""KS-Lisp: the language of Knossos, first-order functions of reals, integers, tuples and tensors."""

from adjoint.languages.ks.run.ks_functions import load

__all__ = ["load"]
