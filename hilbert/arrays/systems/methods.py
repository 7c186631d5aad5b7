"""The names of methods for linear systems: `how=` takes another one than that which is estimated to be quickest."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients
from hilbert.errors import SpaceError, shown

Method: TypeAlias = Literal["full", "band", "blocks", "elimination", "sparse", "low rank", "GMRES"]
UNKNOWN = "which entries are zero depends on the point"
NO_SCIPY = 'scipy is not installed: pip install "hilbert[sparse]"'
TOO_MANY = "its entries are sums of too many products"
NO_TERMS = "it is no sparse matrix plus terms of low rank"
"""The reasons that methods by the places of the entries, or by terms of low rank, do not solve a system."""
By: TypeAlias = ConjugateGradients | Method
"""A method, or the options of conjugate gradients."""


def require_method(how: object, what: str) -> None:
    """Raise SpaceError unless `how` is the name of a method, or None."""
    if how is not None and how not in get_args(Method):
        *most, last = map(repr, get_args(Method))
        raise SpaceError(f"{what}(…, how=…) is None, {', '.join(most)} or {last}, not {shown(how)}")


LEAVE = "; leave how= out, and cost says the method"


def without(how: Method, why: str) -> SpaceError:
    """The error for a system that has no solution by a method."""
    return SpaceError(f"{_refused(how)}{why}{LEAVE}")


def reason(error: SpaceError, how: Method) -> str:
    """The reason in an error that `without` made."""
    return str(error).removeprefix(_refused(how)).removesuffix(LEAVE)


def _refused(how: Method) -> str:
    return f"how={how!r} does not solve this system: "
