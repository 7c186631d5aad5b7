# Written by `make signatures` from tests/typing/rows/hilbert.py: change the rows there, not this file.
# No module stands behind it: the functions are in the modules that the comments name.

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, ClassVar, Generic, Literal, Never, TypeVar, TypeVarTuple, final, overload

from hilbert import (
    Anonymous,
    Boolean,
    Copower,
    Coproduct,
    DirectSum,
    Elements,
    Field,
    Fin,
    Index,
    Integers,
    Labelled,
    Lens,
    Map,
    Product,
    Space,
    TensorProduct,
    Type,
)
from hilbert import Vec as Vec
from hilbert.map.map import Columnwise, Operand
from hilbert.space.linear import Linear
from hilbert.space.vector import Number, Whole

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
L = TypeVar("L", bound=Type)
M = TypeVar("M", bound=Type)
N = TypeVar("N", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
X = TypeVar("X", bound=Space)
H = TypeVar("H", bound=Index)
I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
K = TypeVar("K", bound=Index)
T = TypeVar("T")
Unknown = TypeVar("Unknown", bound=Never)
Rest = TypeVarTuple("Rest")
Axis = TypeVar("Axis", bound=Fin[Any] | Coproduct[Any, Any])
Count = TypeVar("Count", bound=Boolean | Integers)


# the methods along axes, from hilbert.space.vector_methods
V_co = TypeVar("V_co", bound=Type, covariant=True)
class Reducing(Generic[V_co]):
    @overload
    def __call__(self: Reducing[V]) -> Vec[Field]: ...
    @overload
    def __call__(self: Reducing[Copower[W, Product[Product[Product[Any, Any], Any], Any]]], over: Index | int) -> Vec[Any]: ...
    @overload
    def __call__(self: Reducing[Copower[W, Product[Product[I, J], K]]], over: I | Literal[0]) -> Vec[Copower[W, Product[J, K]]]: ...
    @overload
    def __call__(self: Reducing[Copower[W, Product[Product[I, J], K]]], over: J | Literal[1]) -> Vec[Copower[W, Product[I, K]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Reducing[Copower[W, Product[Product[I, J], K]]], over: K | Literal[2]) -> Vec[Copower[W, Product[I, J]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Reducing[Copower[W, Product[I, J]]], over: I | Literal[0]) -> Vec[Copower[W, J]]: ...
    @overload
    def __call__(self: Reducing[Copower[W, Product[I, J]]], over: J | Literal[1]) -> Vec[Copower[W, I]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Reducing[Copower[Copower[W, J], I]], over: J | Literal[1]) -> Vec[Copower[W, I]]: ...
    @overload
    def __call__(self: Reducing[Copower[W, I]], over: I | Literal[0]) -> Vec[W]: ...
class Keeping(Generic[V_co]):
    def __call__(self: Keeping[V], over: Index | int | None = None) -> Vec[V]: ...
class Finding(Generic[V_co]):
    @overload
    def __call__(self: Finding[Copower[Field, Product[Product[Product[Any, Any], Any], Any]]], over: Index | int) -> Vec[Any]: ...
    @overload
    def __call__(self: Finding[Copower[Field, Product[Product[I, J], K]]], over: I | Literal[0]) -> Vec[Copower[Elements[I], Product[J, K]]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self: Finding[Copower[Field, Product[Product[I, J], K]]], over: J | Literal[1]) -> Vec[Copower[Elements[J], Product[I, K]]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Finding[Copower[Field, Product[Product[I, J], K]]], over: K | Literal[2]) -> Vec[Copower[Elements[K], Product[I, J]]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Finding[Copower[Field, Product[I, J]]], over: I | Literal[0]) -> Vec[Copower[Elements[I], J]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self: Finding[Copower[Field, Product[I, J]]], over: J | Literal[1]) -> Vec[Copower[Elements[J], I]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Finding[Copower[Copower[Field, J], I]], over: J | Literal[1]) -> Vec[Copower[Elements[J], I]]: ...
    @overload
    def __call__(self: Finding[Copower[Copower[Field, J], I]], over: I | Literal[0]) -> Vec[Copower[Elements[I], J]]: ...
    @overload
    def __call__(self: Finding[Copower[Field, I]], over: I | Literal[0] | None = None) -> Vec[Elements[I]]: ...
class Ordering(Generic[V_co]):
    @overload
    def __call__(self: Ordering[Copower[Field, I]], over: I | None = None) -> Vec[Copower[Elements[I], I]]: ...
    @overload
    def __call__(self: Ordering[V], over: Index | int | None = None) -> Vec[Any]: ...
class Ranking(Generic[V_co]):
    @overload
    def __call__(self: Ranking[Copower[Field, I]], k: int) -> Vec[Copower[Elements[I], Fin[Anonymous]]]: ...
    @overload
    def __call__(self: Ranking[Copower[Field, I]], k: int, *, to: K) -> Vec[Copower[Elements[I], K]]: ...
    @overload
    def __call__(self: Ranking[V], k: int, over: Index | int, *, to: Index | None = None) -> Vec[Any]: ...
class Comparing(Generic[V_co]):
    @overload
    def __call__(self: Comparing[Field], o: Vec[Field] | Number) -> Vec[Boolean]: ...
    @overload
    def __call__(self: Comparing[Integers], o: Vec[Integers] | int) -> Vec[Boolean]: ...
    @overload
    def __call__(self: Comparing[Boolean], o: Vec[Boolean]) -> Vec[Boolean]: ...
    @overload
    def __call__(self: Comparing[Elements[K]], o: Vec[Elements[K]] | int) -> Vec[Boolean]: ...
    @overload
    def __call__(self: Comparing[Copower[Field, I]], o: Vec[Copower[Field, I]] | Number) -> Vec[Copower[Boolean, I]]: ...
    @overload
    def __call__(self: Comparing[Copower[Integers, I]], o: Vec[Copower[Integers, I]] | int) -> Vec[Copower[Boolean, I]]: ...
    @overload
    def __call__(self: Comparing[Copower[Boolean, I]], o: Vec[Copower[Boolean, I]]) -> Vec[Copower[Boolean, I]]: ...
    @overload
    def __call__(self: Comparing[Copower[Elements[K], I]], o: Vec[Copower[Elements[K], I]] | int) -> Vec[Copower[Boolean, I]]: ...
    @overload
    def __call__(self: Comparing[Copower[Copower[Field, J], I]], o: Vec[Copower[Copower[Field, J], I]] | Number) -> Vec[Copower[Copower[Boolean, J], I]]: ...
class Naming(Generic[V_co]):
    @overload
    def __call__(self: Naming[Copower[W, I]], Y: H) -> Vec[Copower[W, H]]: ...
    @overload
    def __call__(self: Naming[Copower[W, Product[Product[Product[Any, Any], Any], Any]]], Y: Index, *, over: Index | int) -> Vec[Any]: ...
    @overload
    def __call__(self: Naming[Copower[W, Product[Product[I, J], K]]], Y: H, *, over: I | Literal[0]) -> Vec[Copower[W, Product[Product[H, J], K]]]: ...
    @overload
    def __call__(self: Naming[Copower[W, Product[Product[I, J], K]]], Y: H, *, over: J | Literal[1]) -> Vec[Copower[W, Product[Product[I, H], K]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Naming[Copower[W, Product[Product[I, J], K]]], Y: H, *, over: K | Literal[2]) -> Vec[Copower[W, Product[Product[I, J], H]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Naming[Copower[W, Product[I, J]]], Y: H, *, over: I | Literal[0]) -> Vec[Copower[W, Product[H, J]]]: ...
    @overload
    def __call__(self: Naming[Copower[W, Product[I, J]]], Y: H, *, over: J | Literal[1]) -> Vec[Copower[W, Product[I, H]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Naming[Copower[Copower[W, J], Axis]], Y: H, *, over: J | Literal[1]) -> Vec[Copower[Copower[W, H], Axis]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Naming[Copower[W, Axis]], Y: H, *, over: Axis | Literal[0]) -> Vec[Copower[W, H]]: ...
class Widening(Generic[V_co]):
    @overload
    def __call__(self: Widening[Copower[W, Product[Product[Product[Any, Any], Any], Any]]], before: int, after: int, *, over: Index | int, to: Index | None = None) -> Vec[Any]: ...
    @overload
    def __call__(self: Widening[Copower[W, Axis]], before: int, after: int) -> Vec[Copower[W, Fin[Anonymous]]]: ...
    @overload
    def __call__(self: Widening[Copower[W, Axis]], before: int, after: int, *, to: H) -> Vec[Copower[W, H]]: ...
    @overload
    def __call__(self: Widening[Copower[W, Product[Product[I, J], K]]], before: int, after: int, *, over: I | Literal[0]) -> Vec[Copower[W, Product[Product[Fin[Anonymous], J], K]]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self: Widening[Copower[W, Product[Product[I, J], K]]], before: int, after: int, *, over: I | Literal[0], to: H) -> Vec[Copower[W, Product[Product[H, J], K]]]: ...
    @overload
    def __call__(self: Widening[Copower[W, Product[Product[I, J], K]]], before: int, after: int, *, over: J | Literal[1]) -> Vec[Copower[W, Product[Product[I, Fin[Anonymous]], K]]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Widening[Copower[W, Product[Product[I, J], K]]], before: int, after: int, *, over: J | Literal[1], to: H) -> Vec[Copower[W, Product[Product[I, H], K]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Widening[Copower[W, Product[Product[I, J], K]]], before: int, after: int, *, over: K | Literal[2]) -> Vec[Copower[W, Product[Product[I, J], Fin[Anonymous]]]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Widening[Copower[W, Product[Product[I, J], K]]], before: int, after: int, *, over: K | Literal[2], to: H) -> Vec[Copower[W, Product[Product[I, J], H]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Widening[Copower[W, Product[I, J]]], before: int, after: int, *, over: I | Literal[0]) -> Vec[Copower[W, Product[Fin[Anonymous], J]]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self: Widening[Copower[W, Product[I, J]]], before: int, after: int, *, over: I | Literal[0], to: H) -> Vec[Copower[W, Product[H, J]]]: ...
    @overload
    def __call__(self: Widening[Copower[W, Product[I, J]]], before: int, after: int, *, over: J | Literal[1]) -> Vec[Copower[W, Product[I, Fin[Anonymous]]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Widening[Copower[W, Product[I, J]]], before: int, after: int, *, over: J | Literal[1], to: H) -> Vec[Copower[W, Product[I, H]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Widening[Copower[Copower[W, J], Axis]], before: int, after: int, *, over: J | Literal[1]) -> Vec[Copower[Copower[W, Fin[Anonymous]], Axis]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Widening[Copower[Copower[W, J], Axis]], before: int, after: int, *, over: J | Literal[1], to: H) -> Vec[Copower[Copower[W, H], Axis]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Widening[Copower[W, Axis]], before: int, after: int, *, over: Axis | Literal[0]) -> Vec[Copower[W, Fin[Anonymous]]]: ...
    @overload
    def __call__(self: Widening[Copower[W, Axis]], before: int, after: int, *, over: Axis | Literal[0], to: H) -> Vec[Copower[W, H]]: ...
class Cropping(Generic[V_co]):
    @overload
    def __call__(self: Cropping[Copower[W, Product[Product[Product[Any, Any], Any], Any]]], start: int | None, stop: int | None, *, step: int = ..., over: Index | int, to: Index | None = None) -> Vec[Any]: ...
    @overload
    def __call__(self: Cropping[Copower[W, Axis]], start: int | None, stop: int | None, *, step: int = ...) -> Vec[Copower[W, Fin[Anonymous]]]: ...
    @overload
    def __call__(self: Cropping[Copower[W, Axis]], start: int | None, stop: int | None, *, step: int = ..., to: H) -> Vec[Copower[W, H]]: ...
    @overload
    def __call__(self: Cropping[Copower[W, Product[Product[I, J], K]]], start: int | None, stop: int | None, *, step: int = ..., over: I | Literal[0]) -> Vec[Copower[W, Product[Product[Fin[Anonymous], J], K]]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self: Cropping[Copower[W, Product[Product[I, J], K]]], start: int | None, stop: int | None, *, step: int = ..., over: I | Literal[0], to: H) -> Vec[Copower[W, Product[Product[H, J], K]]]: ...
    @overload
    def __call__(self: Cropping[Copower[W, Product[Product[I, J], K]]], start: int | None, stop: int | None, *, step: int = ..., over: J | Literal[1]) -> Vec[Copower[W, Product[Product[I, Fin[Anonymous]], K]]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Cropping[Copower[W, Product[Product[I, J], K]]], start: int | None, stop: int | None, *, step: int = ..., over: J | Literal[1], to: H) -> Vec[Copower[W, Product[Product[I, H], K]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Cropping[Copower[W, Product[Product[I, J], K]]], start: int | None, stop: int | None, *, step: int = ..., over: K | Literal[2]) -> Vec[Copower[W, Product[Product[I, J], Fin[Anonymous]]]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Cropping[Copower[W, Product[Product[I, J], K]]], start: int | None, stop: int | None, *, step: int = ..., over: K | Literal[2], to: H) -> Vec[Copower[W, Product[Product[I, J], H]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Cropping[Copower[W, Product[I, J]]], start: int | None, stop: int | None, *, step: int = ..., over: I | Literal[0]) -> Vec[Copower[W, Product[Fin[Anonymous], J]]]: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self: Cropping[Copower[W, Product[I, J]]], start: int | None, stop: int | None, *, step: int = ..., over: I | Literal[0], to: H) -> Vec[Copower[W, Product[H, J]]]: ...
    @overload
    def __call__(self: Cropping[Copower[W, Product[I, J]]], start: int | None, stop: int | None, *, step: int = ..., over: J | Literal[1]) -> Vec[Copower[W, Product[I, Fin[Anonymous]]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Cropping[Copower[W, Product[I, J]]], start: int | None, stop: int | None, *, step: int = ..., over: J | Literal[1], to: H) -> Vec[Copower[W, Product[I, H]]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Cropping[Copower[Copower[W, J], Axis]], start: int | None, stop: int | None, *, step: int = ..., over: J | Literal[1]) -> Vec[Copower[Copower[W, Fin[Anonymous]], Axis]]: ...  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Cropping[Copower[Copower[W, J], Axis]], start: int | None, stop: int | None, *, step: int = ..., over: J | Literal[1], to: H) -> Vec[Copower[Copower[W, H], Axis]]: ...  # pyright: ignore[reportOverlappingOverload]
    @overload
    def __call__(self: Cropping[Copower[W, Axis]], start: int | None, stop: int | None, *, step: int = ..., over: Axis | Literal[0]) -> Vec[Copower[W, Fin[Anonymous]]]: ...
    @overload
    def __call__(self: Cropping[Copower[W, Axis]], start: int | None, stop: int | None, *, step: int = ..., over: Axis | Literal[0], to: H) -> Vec[Copower[W, H]]: ...
class Fitting(Generic[V_co]):
    @overload
    def __call__(self: Fitting[Copower[Field, Product[Product[Product[Any, Any], Any], Any]]], v: Vec[Any]) -> Vec[Copower[Field, Product[Product[Product[Any, Any], Any], Any]]]: ...
    @overload
    def __call__(self: Fitting[Copower[Field, Product[Product[I, J], K]]], v: Vec[Copower[Field, I]] | Vec[Copower[Field, J]] | Vec[Copower[Field, K]] | Vec[Copower[Field, Product[I, J]]] | Vec[Copower[Field, Product[I, K]]] | Vec[Copower[Field, Product[J, K]]]) -> Vec[Copower[Field, Product[Product[I, J], K]]]: ...
    @overload
    def __call__(self: Fitting[Copower[Field, Product[I, J]]], v: Vec[Copower[Field, I]] | Vec[Copower[Field, J]] | Vec[Copower[Field, Product[I, J]]]) -> Vec[Copower[Field, Product[I, J]]]: ...
    @overload
    def __call__(self: Fitting[Copower[Copower[Field, J], I]], v: Vec[Copower[Field, I]] | Vec[Copower[Field, J]]) -> Vec[Copower[Copower[Field, J], I]]: ...
    @overload
    def __call__(self: Fitting[Copower[Field, Axis]], v: Vec[Copower[Field, Axis]]) -> Vec[Copower[Field, Axis]]: ...
@final
class Reduction:
    def __get__(self, v: Linear[X], owner: Any = ...) -> Reducing[X]: ...
@final
class Kept:
    def __get__(self, v: Linear[X], owner: Any = ...) -> Keeping[X]: ...
@final
class Found:
    def __get__(self, v: Linear[X], owner: Any = ...) -> Finding[X]: ...
@final
class Ordered:
    def __get__(self, v: Linear[X], owner: Any = ...) -> Ordering[X]: ...
@final
class Ranked:
    def __get__(self, v: Linear[X], owner: Any = ...) -> Ranking[X]: ...
@final
class Compared:
    def __get__(self, v: Vec[W], owner: Any = ...) -> Comparing[W]: ...
@final
class Diagonal:
    def __get__(self, v: Vec[Copower[W, Product[I, I]]], owner: Any = ...) -> Callable[[], Vec[Copower[W, I]]]: ...
@final
class Trace:
    def __get__(self, v: Vec[Copower[W, Product[I, I]]], owner: Any = ...) -> Callable[[], Vec[W]]: ...
@final
class Named:
    def __get__(self, v: Vec[W], owner: Any = ...) -> Naming[W]: ...
@final
class Padded:
    def __get__(self, v: Vec[W], owner: Any = ...) -> Widening[W]: ...
@final
class Cropped:
    def __get__(self, v: Vec[W], owner: Any = ...) -> Cropping[W]: ...
@final
class Along:
    def __get__(self, v: Linear[X], owner: Any = ...) -> Fitting[X]: ...
@final
class Diag:
    def __get__(self, v: Vec[Copower[W, I]], owner: Any = ...) -> Callable[[], Vec[Copower[W, Product[I, I]]]]: ...
class Reductions:
    __slots__ = ()
    sum: ClassVar[Reduction]
    """The sum of all entries, or of those along an axis; raises SpaceError for discrete entries, mixed fields, and an axis that is not there or stands twice."""
    mean: ClassVar[Reduction]
    """`sum` divided by the number of what it adds; raises SpaceError where there is nothing to add, too."""
    product: ClassVar[Reduction]
    """The product of all entries, or of those along an axis; 1 of none. Its derivatives are right at 0, too."""
    max: ClassVar[Reduction]
    """The largest entry, the first of equal ones; raises SpaceError where there is none."""
    min: ClassVar[Reduction]
    """The least entry, the first of equal ones; raises SpaceError where there is none."""
    logsumexp: ClassVar[Reduction]
    """ln Σ exp v, where no exponential overflows; −∞ of no entries."""
    softmax: ClassVar[Kept]
    """exp v / Σ exp v, positive numbers of sum 1, where no exponential overflows."""
    log_softmax: ClassVar[Kept]
    """v − ln Σ exp v, the logarithm of `softmax` without its loss of digits."""
    sort: ClassVar[Kept]
    """The entries in ascending order, equal ones in theirs."""
    cumprod: ClassVar[Kept]
    """(Π_{y≤x} v_y)_x along an axis."""
    argmax: ClassVar[Found]
    """The element at which the largest entry stands, the first of equal ones: discrete. SpaceError for none."""
    argmin: ClassVar[Found]
    """The element at which the least entry stands, the first of equal ones: discrete. SpaceError for none."""
    argsort: ClassVar[Ordered]
    """The elements in ascending order of their entries, a stable order: v[v.argsort()] is v.sort()."""
    top: ClassVar[Ranked]
    """The k elements with the largest entries, the largest first; of equal entries the first. `to` names them."""
    equals: ClassVar[Compared]
    """Entry by entry, whether two are equal: numbers, integers, truth values, elements of one index set."""
    differs: ClassVar[Compared]
    """Entry by entry, whether two differ: see `equals`."""
    diagonal: ClassVar[Diagonal]
    """A_xx for each x, of A ∈ V^{X×X}; raises SpaceError for another index set."""
    trace: ClassVar[Trace]
    """Σ_x A_xx, of A ∈ V^{X×X}; raises SpaceError for another index set."""
    diag: ClassVar[Diag]
    """The matrix of V^{X×X} with v ∈ V^X on its diagonal and 0 elsewhere."""
    named: ClassVar[Named]
    """The same entries with other names for the axes, v : Y, or for the one axis that `over` is; raises SpaceError where the sizes differ."""
    pad: ClassVar[Padded]
    """Zeros before and after, along the one axis, or along `over`; `to` names the new one. See `linmap.pad`."""
    crop: ClassVar[Cropped]
    """The components start:stop:step along the one axis, or along `over`, indexed by `to`; see `linmap.crop`."""
    add: ClassVar[Along]
    """v added along the axes that it names, for each element of the others; raises SpaceError unless it fits in one way."""
    times: ClassVar[Along]
    """The product with v along the axes that it names; fits as in `add`."""

# hilbert.index.index
@overload
def Labelled_at(self: Labelled[T], column: Any, rows: None = None) -> Vec[Copower[Elements[Fin[T]], Fin[Anonymous]]]:
    """The positions of a column of labels of any type, as elements: one for each row."""
@overload
def Labelled_at(self: Labelled[T], column: Any, rows: I) -> Vec[Copower[Elements[Fin[T]], I]]: ...

# hilbert.space.vector
@overload
def Vec___add__(self: Linear[X], other: Vec[X] | Vec[Field] | Number) -> Vec[X]:
    """v + w; a scalar or a number is added to every entry."""
@overload
def Vec___add__(self: Vec[Field], other: Vec[X]) -> Vec[X]: ...
@overload
def Vec___sub__(self: Linear[X], other: Vec[X] | Vec[Field] | Number) -> Vec[X]:
    """v − w; a scalar or a number is taken from every entry."""
@overload
def Vec___sub__(self: Vec[Field], other: Vec[X]) -> Vec[X]: ...
@overload
def Vec___mul__(self: Linear[X], k: Vec[X] | Vec[Field] | Number) -> Vec[X]:
    """k·v for a number or scalar k, v·w entry by entry for two vectors of one space."""
@overload
def Vec___mul__(self: Vec[Field], k: Vec[X]) -> Vec[X]: ...
@overload
def Vec___matmul__(self: Vec[Copower[Field, Product[I, J]]], other: Vec[Copower[Field, J]]) -> Vec[Copower[Field, I]]:
    """Matrix product, matrix–vector product, inner product of vectors; SpaceError where inner axes differ."""
@overload
def Vec___matmul__(self: Vec[Copower[Field, Product[I, J]]], other: Vec[Copower[Field, Product[J, K]]]) -> Vec[Copower[Field, Product[I, K]]]: ...
@overload
def Vec___matmul__(self: Vec[Copower[Field, Fin[T]]], other: Vec[Copower[Field, Fin[T]]]) -> Vec[Field]: ...
@overload
def Vec_norm(self: Linear[X]) -> float:
    """‖v‖ = √(v ⊙ v), of a formal tensor by orthonormalising its factors; along an axis a vector of norms."""
@overload
def Vec_norm(self: Vec[Copower[W, Product[Product[Product[Any, Any], Any], Any]]], over: Index | int) -> Vec[Any]: ...
@overload
def Vec_norm(self: Vec[Copower[W, Product[Product[I, J], K]]], over: I | Literal[0]) -> Vec[Copower[W, Product[J, K]]]: ...
@overload
def Vec_norm(self: Vec[Copower[W, Product[Product[I, J], K]]], over: J | Literal[1]) -> Vec[Copower[W, Product[I, K]]]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def Vec_norm(self: Vec[Copower[W, Product[Product[I, J], K]]], over: K | Literal[2]) -> Vec[Copower[W, Product[I, J]]]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def Vec_norm(self: Vec[Copower[W, Product[I, J]]], over: I | Literal[0]) -> Vec[Copower[W, J]]: ...
@overload
def Vec_norm(self: Vec[Copower[W, Product[I, J]]], over: J | Literal[1]) -> Vec[Copower[W, I]]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def Vec_norm(self: Vec[Copower[Copower[W, J], I]], over: J | Literal[1]) -> Vec[Copower[W, I]]: ...
@overload
def Vec_norm(self: Vec[Copower[W, I]], over: I | Literal[0]) -> Vec[W]: ...
@overload
def Vec___getitem__(self: Vec[DirectSum[A, *Rest]], i: Literal[0]) -> Vec[A]:
    """π_k: part k of a direct sum, or the component of V^X at a position or label; V^{X×Y} takes A[i, j]."""
@overload
def Vec___getitem__(self: Vec[DirectSum[A, B, *Rest]], i: Literal[1]) -> Vec[B]: ...
@overload
def Vec___getitem__(self: Vec[DirectSum[A, B, C, *Rest]], i: Literal[2]) -> Vec[C]: ...
@overload
def Vec___getitem__(self: Vec[DirectSum[A, B, C, D, *Rest]], i: Literal[3]) -> Vec[D]: ...
@overload
def Vec___getitem__(self: Vec[DirectSum[A, B, C, D, E, *Rest]], i: Literal[4]) -> Vec[E]: ...
@overload
def Vec___getitem__(self: Vec[DirectSum[A, B, C, D, E, F, *Rest]], i: Literal[5]) -> Vec[F]: ...
@overload
def Vec___getitem__(self: Vec[DirectSum[*Rest]], i: int | str) -> Vec[Any]: ...
@overload
def Vec___getitem__(self: Vec[A], i: Lens[A, W]) -> Vec[W]: ...
@overload
def Vec___getitem__(self: Vec[Copower[A, I]], i: Lens[A, W]) -> Vec[Copower[W, I]]: ...
@overload
def Vec___getitem__(self: Vec[Copower[Copower[A, J], I]], i: Lens[A, W]) -> Vec[Copower[Copower[W, J], I]]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, I]], i: Vec[Elements[I]]) -> Vec[W]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, I]], i: Vec[Copower[Elements[I], J]]) -> Vec[Copower[W, J]]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, Axis]], i: int) -> Vec[W]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, Axis]], i: Whole) -> Vec[Copower[W, Axis]]: ...  # pyright: ignore[reportOverlappingOverload]
@overload
def Vec___getitem__(self: Vec[Copower[W, Axis]], i: slice) -> Vec[Copower[W, Fin[Anonymous]]]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, Fin[T]]], i: str | date) -> Vec[W]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, Product[I, J]]], i: tuple[int | str, Whole]) -> Vec[Copower[W, J]]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, Product[I, J]]], i: tuple[Whole, int | str]) -> Vec[Copower[W, I]]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, Product[I, J]]], i: tuple[int | str, int | str]) -> Vec[W]: ...
@overload
def Vec___getitem__(self: Vec[Copower[W, Product[I, J]]], i: tuple[int | str | slice, ...]) -> Vec[Any]: ...
@overload
def Vec_replace(self: Vec[A], lens: Lens[A, W], part: Vec[W]) -> Vec[A]:
    """The same vector but for one part of its record; raises SpaceError for a part of another space."""
@overload
def Vec_replace(self: Vec[Copower[A, I]], lens: Lens[A, W], part: Vec[Copower[W, I]]) -> Vec[Copower[A, I]]: ...
@overload
def Vec_split(self: Vec[DirectSum[A, B]]) -> tuple[Vec[A], Vec[B]]:
    """All parts of an element of a direct sum; of (V ⊕ W)^X those of V^X ⊕ W^X, which holds the same arrays."""
@overload
def Vec_split(self: Vec[DirectSum[A, B, C]]) -> tuple[Vec[A], Vec[B], Vec[C]]: ...
@overload
def Vec_split(self: Vec[DirectSum[A, B, C, D]]) -> tuple[Vec[A], Vec[B], Vec[C], Vec[D]]: ...
@overload
def Vec_split(self: Vec[DirectSum[A, B, C, D, E]]) -> tuple[Vec[A], Vec[B], Vec[C], Vec[D], Vec[E]]: ...
@overload
def Vec_split(self: Vec[DirectSum[A, B, C, D, E, F]]) -> tuple[Vec[A], Vec[B], Vec[C], Vec[D], Vec[E], Vec[F]]: ...
@overload
def Vec_split(self: Vec[DirectSum[A, B, C, D, E, F, G, *Rest]]) -> tuple[Vec[Any], ...]: ...
@overload
def Vec_split(self: Vec[Copower[DirectSum[A, B], I]]) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]]]: ...
@overload
def Vec_split(self: Vec[Copower[DirectSum[A, B, C], I]]) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]], Vec[Copower[C, I]]]: ...
@overload
def Vec_split(self: Vec[Copower[DirectSum[A, B, C, D], I]]) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]], Vec[Copower[C, I]], Vec[Copower[D, I]]]: ...
@overload
def Vec_split(self: Vec[Copower[DirectSum[A, B, C, D, E], I]]) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]], Vec[Copower[C, I]], Vec[Copower[D, I]], Vec[Copower[E, I]]]: ...
@overload
def Vec_split(self: Vec[Copower[DirectSum[A, B, C, D, E, F], I]]) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]], Vec[Copower[C, I]], Vec[Copower[D, I]], Vec[Copower[E, I]], Vec[Copower[F, I]]]: ...
@overload
def Vec_split(self: Vec[Copower[DirectSum[A, B, C, D, E, F, G, *Rest], I]]) -> tuple[Vec[Copower[Any, I]], ...]: ...
@overload
def Vec_split(self: Vec[Copower[Copower[DirectSum[A, *Rest], J], I]]) -> tuple[Vec[Copower[Copower[Any, J], I]], ...]: ...
@overload
def Vec___iter__(self: Vec[Copower[W, Axis]]) -> Iterator[Vec[W]]: ...
@overload
def Vec___iter__(self: Vec[DirectSum[*Rest]]) -> Iterator[Vec[Any]]: ...
@overload
def Vec_cast(self: Vec[Copower[Copower[Count, J], I]], field: Field) -> Vec[Copower[Copower[Field, J], I]]:
    """The same numbers in another precision; truth values as 1 and 0, integers as numbers, without a derivative."""
@overload
def Vec_cast(self: Vec[Copower[Count, I]], field: Field) -> Vec[Copower[Field, I]]: ...
@overload
def Vec_cast(self: Vec[Count], field: Field) -> Vec[Field]: ...
@overload
def Vec_cast(self: Linear[X], field: Field) -> Vec[X]: ...
@overload
def Vec_concatenate(self: Vec[Copower[W, I]], other: Vec[Copower[W, J]]) -> Vec[Copower[W, Coproduct[I, J]]]:
    """V^X and V^Y one after the other in V^{X+Y}, or in V^Z for Z = `to`; see `linmap.concatenate`."""
@overload
def Vec_concatenate(self: Vec[Copower[W, I]], other: Vec[Copower[W, J]], *, to: K) -> Vec[Copower[W, K]]: ...
@overload
def Vec_transpose(self: Vec[Copower[W, Product[I, J]]]) -> Vec[Copower[W, Product[J, I]]]:
    """`T`; or the factors of the index set in another order, v.transpose(Z * X) of V^{X×Z}."""
@overload
def Vec_transpose(self: Vec[Copower[W, I]], Y: K) -> Vec[Copower[W, K]]: ...
@overload
def Vec___gt__(self: Vec[Field], o: Vec[Field] | Number) -> Vec[Boolean]: ...
@overload
def Vec___gt__(self: Vec[TensorProduct[A, B]], o: Vec[TensorProduct[A, B]] | Number) -> Vec[Any]: ...
@overload
def Vec___gt__(self: Vec[Copower[Field, I]], o: Vec[Copower[Field, I]] | Number) -> Vec[Copower[Boolean, I]]: ...
@overload
def Vec___gt__(self: Vec[Copower[Copower[Field, J], I]], o: Vec[Copower[Copower[Field, J], I]] | Number) -> Vec[Copower[Copower[Boolean, J], I]]: ...
@overload
def Vec___ge__(self: Vec[Field], o: Vec[Field] | Number) -> Vec[Boolean]: ...
@overload
def Vec___ge__(self: Vec[TensorProduct[A, B]], o: Vec[TensorProduct[A, B]] | Number) -> Vec[Any]: ...
@overload
def Vec___ge__(self: Vec[Copower[Field, I]], o: Vec[Copower[Field, I]] | Number) -> Vec[Copower[Boolean, I]]: ...
@overload
def Vec___ge__(self: Vec[Copower[Copower[Field, J], I]], o: Vec[Copower[Copower[Field, J], I]] | Number) -> Vec[Copower[Copower[Boolean, J], I]]: ...
@overload
def Vec___lt__(self: Vec[Field], o: Vec[Field] | Number) -> Vec[Boolean]: ...
@overload
def Vec___lt__(self: Vec[TensorProduct[A, B]], o: Vec[TensorProduct[A, B]] | Number) -> Vec[Any]: ...
@overload
def Vec___lt__(self: Vec[Copower[Field, I]], o: Vec[Copower[Field, I]] | Number) -> Vec[Copower[Boolean, I]]: ...
@overload
def Vec___lt__(self: Vec[Copower[Copower[Field, J], I]], o: Vec[Copower[Copower[Field, J], I]] | Number) -> Vec[Copower[Copower[Boolean, J], I]]: ...
@overload
def Vec___le__(self: Vec[Field], o: Vec[Field] | Number) -> Vec[Boolean]: ...
@overload
def Vec___le__(self: Vec[TensorProduct[A, B]], o: Vec[TensorProduct[A, B]] | Number) -> Vec[Any]: ...
@overload
def Vec___le__(self: Vec[Copower[Field, I]], o: Vec[Copower[Field, I]] | Number) -> Vec[Copower[Boolean, I]]: ...
@overload
def Vec___le__(self: Vec[Copower[Copower[Field, J], I]], o: Vec[Copower[Copower[Field, J], I]] | Number) -> Vec[Copower[Copower[Boolean, J], I]]: ...

# hilbert.map.map
@overload
def Map___call__(self: Map[V, W], x: Unknown, /, *more: Unknown) -> Any:
    """f(x); f(a, b, c) for a direct sum, f(a, (b, c)) or f(a, b, c) where a part is one. SpaceError for others."""
@overload
def Map___call__(self: Map[V, W], x: Vec[V], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B], W], a: Vec[A], b: Vec[B], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C], W], a: Vec[A], b: Vec[B], c: Vec[C], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F, G], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F, G, L], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], k: Vec[L], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F, G, L, M], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], k: Vec[L], l: Vec[M], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F, G, L, M, N], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], h: Vec[G], k: Vec[L], l: Vec[M], m: Vec[N], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, B], W], x: tuple[Vec[A], Vec[B]], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, DirectSum[B, C]], W], a: Vec[A], bc: tuple[Vec[B], Vec[C]], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[A, DirectSum[B, C, D]], W], a: Vec[A], bc: tuple[Vec[B], Vec[C], Vec[D]], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[DirectSum[A, B], C], W], a: Vec[A], b: Vec[B], c: Vec[C], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[DirectSum[A, B, C], D], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[DirectSum[A, B], DirectSum[C, D]], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[DirectSum[DirectSum[A, B, C], DirectSum[D, E, F]], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /) -> Vec[W]: ...
@overload
def Map___call__(self: Map[V, W], x: Operand[V, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B], W], x: tuple[Operand[A, W, T], Operand[B, W, T]], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, DirectSum[B, C]], W], a: Operand[A, W, T], bc: tuple[Operand[B, W, T], Operand[C, W, T]], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, DirectSum[B, C, D]], W], a: Operand[A, W, T], bc: tuple[Operand[B, W, T], Operand[C, W, T], Operand[D, W, T]], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[DirectSum[A, B], C], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[DirectSum[A, B, C], D], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[DirectSum[A, B], DirectSum[C, D]], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[DirectSum[A, B, C], DirectSum[D, E, F]], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], e: Operand[E, W, T], g: Operand[F, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B], W], a: Operand[A, W, T], b: Operand[B, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], e: Operand[E, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], e: Operand[E, W, T], g: Operand[F, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F, G], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], e: Operand[E, W, T], g: Operand[F, W, T], h: Operand[G, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F, G, L], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], e: Operand[E, W, T], g: Operand[F, W, T], h: Operand[G, W, T], k: Operand[L, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F, G, L, M], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], e: Operand[E, W, T], g: Operand[F, W, T], h: Operand[G, W, T], k: Operand[L, W, T], l: Operand[M, W, T], /) -> T: ...
@overload
def Map___call__(self: Map[DirectSum[A, B, C, D, E, F, G, L, M, N], W], a: Operand[A, W, T], b: Operand[B, W, T], c: Operand[C, W, T], d: Operand[D, W, T], e: Operand[E, W, T], g: Operand[F, W, T], h: Operand[G, W, T], k: Operand[L, W, T], l: Operand[M, W, T], m: Operand[N, W, T], /) -> T: ...
@overload
def Map___call__(self: Columnwise[Copower[Field, I], Copower[Field, J]], x: Vec[Copower[Field, Product[I, K]]], /) -> Vec[Copower[Field, Product[J, K]]]: ...
@overload
def Map___call__(self: Columnwise[Copower[Field, I], Copower[Field, J]], x: Vec[Copower[Copower[Field, K], I]], /) -> Vec[Copower[Copower[Field, K], J]]: ...
@overload
def Map___call__(self: Columnwise[Copower[Field, I], Field], x: Vec[Copower[Field, Product[I, K]]], /) -> Vec[Copower[Field, K]]: ...
@overload
def Map___call__(self: Columnwise[Copower[Field, I], Field], x: Vec[Copower[Copower[Field, K], I]], /) -> Vec[Copower[Field, K]]: ...
