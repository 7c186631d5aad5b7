"""The methods along axes, which vectors and expressions have: name, kind of signature and documentation of each.

`over` is the index set of an axis, which a type checker tells by its tag, or, where two axes have one tag, a position
from 0 on: 0 and 1 are the axes of V^{X×Y}, and of (V^Y)^X. Without it, a method is about all entries.

The meaning of each is a function of `diff.vocabulary.reductions`. Type checkers read classes in the stubs `_calls.pyi`
that are written from this table (`tests/typing/rows/methods.py`), one for vectors and one for expressions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hilbert.base.attach import declared


class Method(NamedTuple):
    """The kind of the signature of a method, a class of the stubs; and the documentation."""

    kind: str
    doc: str


METHODS = {
    "sum": Method(
        "Reduction",
        "The sum of all entries, or of those along an axis; raises SpaceError for discrete entries, mixed "
        "fields, and an axis that is not there or stands twice.",
    ),
    "mean": Method(
        "Reduction",
        "`sum` divided by the number of what it adds; raises SpaceError where there is nothing to add, too.",
    ),
    "product": Method(
        "Reduction",
        "The product of all entries, or of those along an axis; 1 of none. Its derivatives are right at 0, too.",
    ),
    "max": Method("Reduction", "The largest entry, the first of equal ones; raises SpaceError where there is none."),
    "min": Method("Reduction", "The least entry, the first of equal ones; raises SpaceError where there is none."),
    "norm": Method("Reduction", "√(v ⊙ v), or the norms of the parts of v along an axis; not differentiable at 0."),
    "logsumexp": Method("Reduction", "ln Σ exp v, where no exponential overflows; −∞ of no entries."),
    "softmax": Method("Kept", "exp v / Σ exp v, positive numbers of sum 1, where no exponential overflows."),
    "log_softmax": Method("Kept", "v − ln Σ exp v, the logarithm of `softmax` without its loss of digits."),
    "sort": Method("Kept", "The entries in ascending order, equal ones in theirs."),
    "cumprod": Method("Kept", "(Π_{y≤x} v_y)_x along an axis."),
    "argmax": Method(
        "Found",
        "The element at which the largest entry stands, the first of equal ones: discrete. SpaceError for none.",
    ),
    "argmin": Method(
        "Found",
        "The element at which the least entry stands, the first of equal ones: discrete. SpaceError for none.",
    ),
    "argsort": Method(
        "Ordered",
        "The elements in ascending order of their entries, a stable order: v[v.argsort()] is v.sort().",
    ),
    "top": Method(
        "Ranked",
        "The k elements with the largest entries, the largest first; of equal entries the first. `to` names them.",
    ),
    "equals": Method(
        "Compared",
        "Entry by entry, whether two are equal: numbers, integers, truth values, elements of one index set.",
    ),
    "differs": Method("Compared", "Entry by entry, whether two differ: see `equals`."),
    "diagonal": Method("Diagonal", "A_xx for each x, of A ∈ V^{X×X}; raises SpaceError for another index set."),
    "trace": Method("Trace", "Σ_x A_xx, of A ∈ V^{X×X}; raises SpaceError for another index set."),
    "diag": Method("Diag", "The matrix of V^{X×X} with v ∈ V^X on its diagonal and 0 elsewhere."),
    "named": Method(
        "Named",
        "The same entries with other names for the axes, v : Y, or for the one axis that `over` is; raises SpaceError "
        "where the sizes differ.",
    ),
    "pad": Method(
        "Padded",
        "Zeros before and after, along the one axis, or along `over`; `to` names the new one. See `linmap.pad`.",
    ),
    "crop": Method(
        "Cropped",
        "The components start:stop:step along the one axis, or along `over`, indexed by `to`; see `linmap.crop`.",
    ),
    "add": Method(
        "Along",
        "v added along the axes that it names, for each element of the others; raises SpaceError unless it fits in one "
        "way.",
    ),
    "times": Method("Along", "The product with v along the axes that it names; fits as in `add`."),
}
"""The methods of vectors and expressions along axes; that of vectors without an axis is another `norm`."""


class Reductions:
    """The methods of a vector, or of an expression, along its axes."""

    __slots__ = ()


def _declared(name: str, doc: str) -> Any:
    """A method that `diff` attaches."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        raise NotImplementedError

    method.__name__, method.__qualname__, method.__doc__ = name, f"Vec.{name}", doc
    return declared(method)


for _name, _row in METHODS.items():
    setattr(Reductions, _name, _declared(_name, _row.doc))
