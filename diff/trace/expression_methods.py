"""The methods of expressions along axes, as type checkers see them: those of vectors, with expressions for vectors.

`diff.vocabulary.reductions` attaches their meaning. See `hilbert.space.vector_methods` for what `over` is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast, final

from hilbert.base.attach import overloaded
from hilbert.space.vector_methods import DOCS, stub

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff import _calls
    from diff.trace.expr import Expr
    from hilbert.index.index import Index, Product
    from hilbert.space.space import Copower, Space, Type
    from hilbert.space.vector import Linear

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

    def __call__(self, over: Index | int | None = None) -> Expr[V_co]:
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
    """The attribute of expressions whose value is `Reducing`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Reducing[S]:
        raise NotImplementedError


@final
class Kept:
    """The attribute of expressions whose value is `Keeping`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Keeping[S]:
        raise NotImplementedError


@final
class Found:
    """The attribute of expressions whose value is `Finding`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Finding[S]:
        raise NotImplementedError


@final
class Ordered:
    """The attribute of expressions whose value is `Ordering`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Ordering[S]:
        raise NotImplementedError


@final
class Ranked:
    """The attribute of expressions whose value is `Ranking`."""

    def __get__(self, v: Linear[S], owner: Any = ...) -> Ranking[S]:
        raise NotImplementedError


@final
class Compared:
    """The attribute of expressions whose value is `Comparing`."""

    def __get__(self, v: Expr[W], owner: Any = ...) -> Comparing[W]:
        raise NotImplementedError


@final
class Diagonal:
    """The attribute of square expressions that gives what stands on the diagonal."""

    def __get__(self, v: Expr[Copower[W, Product[I, I]]], owner: Any = ...) -> Callable[[], Expr[Copower[W, I]]]:
        raise NotImplementedError


@final
class Trace:
    """The attribute of square expressions that gives the sum of the diagonal."""

    def __get__(self, v: Expr[Copower[W, Product[I, I]]], owner: Any = ...) -> Callable[[], Expr[W]]:
        raise NotImplementedError


@final
class Diag:
    """The attribute of expressions that gives the matrix with them on its diagonal."""

    def __get__(self, v: Expr[Copower[W, I]], owner: Any = ...) -> Callable[[], Expr[Copower[W, Product[I, I]]]]:
        raise NotImplementedError


class Reductions:
    """The methods of an expression along its axes."""

    __slots__ = ()
    sum = cast("Reduction", stub("sum", DOCS["sum"]))
    mean = cast("Reduction", stub("mean", DOCS["mean"]))
    product = cast("Reduction", stub("product", DOCS["product"]))
    max = cast("Reduction", stub("max", DOCS["max"]))
    min = cast("Reduction", stub("min", DOCS["min"]))
    norm = cast("Reduction", stub("norm", DOCS["norm"]))
    logsumexp = cast("Reduction", stub("logsumexp", DOCS["logsumexp"]))
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
