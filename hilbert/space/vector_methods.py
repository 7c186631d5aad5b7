"""The methods of vectors along axes, as type checkers see them; `diff` attaches their meaning (`hilbert.base.attach`).

`over` is the index set of an axis, which a type checker tells by its tag, or, where two axes have one tag, a position
from 0 on: 0 and 1 are the axes of V^{X×Y}, and of (V^Y)^X. Without it, a method is about all entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, final, overload

from hilbert.base.attach import declared

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.index.index import Anonymous, Fin, Index, Product
    from hilbert.space.space import Boolean, Copower, Elements, Field, Integers, Space, Type
    from hilbert.space.vector import Linear, Number, Vec

I = TypeVar("I", bound="Index")
J = TypeVar("J", bound="Index")
K = TypeVar("K", bound="Index")
S = TypeVar("S", bound="Space")
V_co = TypeVar("V_co", bound="Type", covariant=True)
W = TypeVar("W", bound="Type")


class Bound(Generic[V_co]):
    """A method of an element of V."""


class Reducing(Bound[V_co]):
    """What gives one number for all entries, or for those along one axis."""

    @overload
    def __call__(self) -> Vec[Field]: ...
    @overload
    def __call__(
        self: Reducing[Copower[W, Product[Product[Product[Any, Any], Any], Any]]], over: Index | int
    ) -> Vec[Any]: ...
    @overload
    def __call__(
        self: Reducing[Copower[W, Product[Product[I, J], K]]], over: I | Literal[0]
    ) -> Vec[Copower[W, Product[J, K]]]: ...
    @overload
    def __call__(  # pyright: ignore[reportOverlappingOverload]
        self: Reducing[Copower[W, Product[Product[I, J], K]]], over: J | Literal[1]
    ) -> Vec[Copower[W, Product[I, K]]]: ...
    @overload
    def __call__(  # pyright: ignore[reportOverlappingOverload]
        self: Reducing[Copower[W, Product[Product[I, J], K]]], over: K | Literal[2]
    ) -> Vec[Copower[W, Product[I, J]]]: ...
    @overload
    def __call__(self: Reducing[Copower[W, Product[I, J]]], over: I | Literal[0]) -> Vec[Copower[W, J]]: ...
    @overload
    def __call__(self: Reducing[Copower[W, Product[I, J]]], over: J | Literal[1]) -> Vec[Copower[W, I]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Reducing[Copower[Copower[W, J], I]], over: J | Literal[1]) -> Vec[Copower[W, I]]: ...
    @overload
    def __call__(self: Reducing[Copower[W, I]], over: I | Literal[0]) -> Vec[W]: ...
    def __call__(self, over: Any = None) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Keeping(Bound[V_co]):
    """What gives an entry for each entry."""

    def __call__(self, over: Index | int | None = None) -> Vec[V_co]:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Finding(Bound[V_co]):
    """What gives the element of an index set at which something is found."""

    @overload
    def __call__(
        self: Finding[Copower[Field, Product[Product[Product[Any, Any], Any], Any]]], over: Index | int
    ) -> Vec[Any]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self: Finding[Copower[Field, Product[Product[I, J], K]]], over: I | Literal[0]
    ) -> Vec[Copower[Elements[I], Product[J, K]]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self: Finding[Copower[Field, Product[Product[I, J], K]]], over: J | Literal[1]
    ) -> Vec[Copower[Elements[J], Product[I, K]]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self: Finding[Copower[Field, Product[Product[I, J], K]]], over: K | Literal[2]
    ) -> Vec[Copower[Elements[K], Product[I, J]]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self: Finding[Copower[Field, Product[I, J]]], over: I | Literal[0]
    ) -> Vec[Copower[Elements[I], J]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self: Finding[Copower[Field, Product[I, J]]], over: J | Literal[1]
    ) -> Vec[Copower[Elements[J], I]]: ...
    @overload
    def __call__(
        self: Finding[Copower[Copower[Field, J], I]], over: J | Literal[1]
    ) -> Vec[Copower[Elements[J], I]]: ...
    @overload
    def __call__(
        self: Finding[Copower[Copower[Field, J], I]], over: I | Literal[0]
    ) -> Vec[Copower[Elements[I], J]]: ...
    @overload
    def __call__(self: Finding[Copower[Field, I]], over: I | Literal[0] | None = None) -> Vec[Elements[I]]: ...
    def __call__(self, over: Any = None) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Ordering(Bound[V_co]):
    """What gives the elements of an index set in an order."""

    @overload
    def __call__(self: Ordering[Copower[Field, I]], over: I | None = None) -> Vec[Copower[Elements[I], I]]: ...
    @overload
    def __call__(self, over: Index | int | None = None) -> Vec[Any]: ...
    def __call__(self, over: Any = None) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Ranking(Bound[V_co]):
    """What gives the first elements of an index set in an order."""

    @overload
    def __call__(self: Ranking[Copower[Field, I]], k: int) -> Vec[Copower[Elements[I], Fin[Anonymous]]]: ...
    @overload
    def __call__(self: Ranking[Copower[Field, I]], k: int, *, to: K) -> Vec[Copower[Elements[I], K]]: ...
    @overload
    def __call__(self, k: int, over: Index | int, *, to: Index | None = None) -> Vec[Any]: ...
    def __call__(self, k: int, over: Any = None, *, to: Any = None) -> Any:
        """See the attributes of `Reductions`."""
        raise NotImplementedError


class Comparing(Bound[V_co]):
    """What compares entry by entry: numbers, integers, truth values, elements of one index set."""

    @overload
    def __call__(self: Comparing[Field], o: Vec[Field] | Number) -> Vec[Boolean]: ...
    @overload
    def __call__(self: Comparing[Integers], o: Vec[Integers] | int) -> Vec[Boolean]: ...
    @overload
    def __call__(self: Comparing[Boolean], o: Vec[Boolean]) -> Vec[Boolean]: ...
    @overload
    def __call__(self: Comparing[Elements[K]], o: Vec[Elements[K]] | int) -> Vec[Boolean]: ...
    @overload
    def __call__(
        self: Comparing[Copower[Field, I]], o: Vec[Copower[Field, I]] | Number
    ) -> Vec[Copower[Boolean, I]]: ...
    @overload
    def __call__(
        self: Comparing[Copower[Integers, I]], o: Vec[Copower[Integers, I]] | int
    ) -> Vec[Copower[Boolean, I]]: ...
    @overload
    def __call__(self: Comparing[Copower[Boolean, I]], o: Vec[Copower[Boolean, I]]) -> Vec[Copower[Boolean, I]]: ...
    @overload
    def __call__(
        self: Comparing[Copower[Elements[K], I]], o: Vec[Copower[Elements[K], I]] | int
    ) -> Vec[Copower[Boolean, I]]: ...
    @overload
    def __call__(
        self: Comparing[Copower[Copower[Field, J], I]], o: Vec[Copower[Copower[Field, J], I]] | Number
    ) -> Vec[Copower[Copower[Boolean, J], I]]: ...
    def __call__(self, o: Any) -> Any:
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

    method.__name__, method.__doc__ = name, doc
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
