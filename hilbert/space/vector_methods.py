"""The methods of vectors along axes, as type checkers see them; `diff` attaches their meaning (`hilbert.base.attach`).

`over` is the index set of an axis, which a type checker tells by its tag, or, where two axes have one tag, a position
from 0 on: 0 and 1 are the axes of V^{X×Y}, and of (V^Y)^X. Without it, a method is about all entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, final

from hilbert.base.attach import declared, overloaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert import _calls
    from hilbert.index.index import Index, Product
    from hilbert.space.space import Copower, Space, Type
    from hilbert.space.vector import Linear, Vec

I = TypeVar("I", bound="Index")
S = TypeVar("S", bound="Space")
V_co = TypeVar("V_co", bound="Type", covariant=True)
W = TypeVar("W", bound="Type")


class Bound(Generic[V_co]):
    """A method of an element of V."""


class Reducing(Bound[V_co]):
    """What gives one number for all entries, or for those along one axis."""

    @overloaded(lambda: _calls.Reducing___call__)
    def __call__(self: Reducing[V_co], over: Any = None) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Keeping(Bound[V_co]):
    """What gives an entry for each entry."""

    def __call__(self, over: Index | int | None = None) -> Vec[V_co]:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Finding(Bound[V_co]):
    """What gives the element of an index set at which something is found."""

    @overloaded(lambda: _calls.Finding___call__)
    def __call__(self: Finding[V_co], over: Any = None) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Ordering(Bound[V_co]):
    """What gives the elements of an index set in an order."""

    @overloaded(lambda: _calls.Ordering___call__)
    def __call__(self: Ordering[V_co], over: Any = None) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Ranking(Bound[V_co]):
    """What gives the first elements of an index set in an order."""

    @overloaded(lambda: _calls.Ranking___call__)
    def __call__(self: Ranking[V_co], k: int, over: Any = None, *, to: Any = None) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Comparing(Bound[V_co]):
    """What compares entry by entry: numbers, integers, truth values, elements of one index set."""

    @overloaded(lambda: _calls.Comparing___call__)
    def __call__(self: Comparing[V_co], o: Any) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


@final
class Reduction:
    """The attribute of vectors whose value is `Reducing`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Reducing[S]:
        raise NotImplementedError


@final
class Kept:
    """The attribute of vectors whose value is `Keeping`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Keeping[S]:
        raise NotImplementedError


@final
class Found:
    """The attribute of vectors whose value is `Finding`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Finding[S]:
        raise NotImplementedError


@final
class Ordered:
    """The attribute of vectors whose value is `Ordering`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Ordering[S]:
        raise NotImplementedError


@final
class Ranked:
    """The attribute of vectors whose value is `Ranking`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Ranking[S]:
        raise NotImplementedError


@final
class Compared:
    """The attribute of vectors whose value is `Comparing`."""

    def __get__(self, v: Vec[W], owner: Any = ...) -> Comparing[W]:
        raise NotImplementedError


@final
class Diagonal:
    """The attribute of square matrices that gives what stands on the diagonal."""

    def __get__(self, v: Vec[Copower[W, Product[I, I]]], owner: Any = ...) -> Callable[[], Vec[Copower[W, I]]]:
        raise NotImplementedError


@final
class Trace:
    """The attribute of square matrices that gives the sum of the diagonal."""

    def __get__(self, v: Vec[Copower[W, Product[I, I]]], owner: Any = ...) -> Callable[[], Vec[W]]:
        raise NotImplementedError


@final
class Diag:
    """The attribute of vectors that gives the matrix with them on its diagonal."""

    def __get__(self, v: Vec[Copower[W, I]], owner: Any = ...) -> Callable[[], Vec[Copower[W, Product[I, I]]]]:
        raise NotImplementedError


def stub(name: str, doc: str) -> Any:
    """A method that `diff` attaches."""

    def method(self: Any, *args: Any, **options: Any) -> Any:
        raise NotImplementedError

    method.__name__, method.__qualname__, method.__doc__ = name, f"Vec.{name}", doc
    return declared(method)


DOCS = {
    "sum": "The sum of all entries, or of those along an axis; raises SpaceError for discrete entries, mixed fields, "
    "and an axis that is not there or stands twice.",
    "mean": "`sum` divided by the number of what it adds; raises SpaceError where there is nothing to add, too.",
    "product": "The product of all entries, or of those along an axis; 1 of none. Its derivatives are right at 0, too.",
    "max": "The largest entry, the first of equal ones; raises SpaceError where there is none.",
    "min": "The least entry, the first of equal ones; raises SpaceError where there is none.",
    "logsumexp": "ln Σ exp v, where no exponential overflows; −∞ of no entries.",
    "norm": "√(v ⊙ v), or the norms of the parts of v along an axis; not differentiable at 0.",
    "softmax": "exp v / Σ exp v, positive numbers of sum 1, where no exponential overflows.",
    "log_softmax": "v − ln Σ exp v, the logarithm of `softmax` without its loss of digits.",
    "sort": "The entries in ascending order, equal ones in theirs.",
    "cumprod": "(Π_{y≤x} v_y)_x along an axis.",
    "argmax": "The element at which the largest entry stands, the first of equal ones: discrete. SpaceError for none.",
    "argmin": "The element at which the least entry stands, the first of equal ones: discrete. SpaceError for none.",
    "argsort": "The elements in ascending order of their entries, a stable order: v[v.argsort()] is v.sort().",
    "top": "The k elements with the largest entries, the largest first; of equal entries the first. `to` names them.",
    "equals": "Entry by entry, whether two are equal: numbers, integers, truth values, elements of one index set.",
    "differs": "Entry by entry, whether two differ: see `equals`.",
    "diagonal": "A_xx for each x, of A ∈ V^{X×X}; raises SpaceError for another index set.",
    "trace": "Σ_x A_xx, of A ∈ V^{X×X}; raises SpaceError for another index set.",
    "diag": "The matrix of V^{X×X} with v ∈ V^X on its diagonal and 0 elsewhere.",
}
"""What the methods of vectors and expressions along axes do."""


class Reductions:
    """The methods of a vector along its axes."""

    __slots__ = ()
    sum = cast("Reduction", stub("sum", DOCS["sum"]))
    mean = cast("Reduction", stub("mean", DOCS["mean"]))
    product = cast("Reduction", stub("product", DOCS["product"]))
    max = cast("Reduction", stub("max", DOCS["max"]))
    min = cast("Reduction", stub("min", DOCS["min"]))
    logsumexp = cast("Reduction", stub("logsumexp", DOCS["logsumexp"]))
    _normed = stub("_normed", "The norms along an axis.")
    softmax = cast("Kept", stub("softmax", DOCS["softmax"]))
    log_softmax = cast("Kept", stub("log_softmax", DOCS["log_softmax"]))
    sort = cast("Kept", stub("sort", DOCS["sort"]))
    cumprod = cast("Kept", stub("cumprod", DOCS["cumprod"]))
    argmax = cast("Found", stub("argmax", DOCS["argmax"]))
    argmin = cast("Found", stub("argmin", DOCS["argmin"]))
    argsort = cast("Ordered", stub("argsort", DOCS["argsort"]))
    top = cast("Ranked", stub("top", DOCS["top"]))
    equals = cast("Compared", stub("equals", DOCS["equals"]))
    differs = cast("Compared", stub("differs", DOCS["differs"]))
    diagonal = cast("Diagonal", stub("diagonal", DOCS["diagonal"]))
    trace = cast("Trace", stub("trace", DOCS["trace"]))
    diag = cast("Diag", stub("diag", DOCS["diag"]))
