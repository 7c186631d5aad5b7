"""The base class of relations: pairs, transpose, operators, pictures (paper §2.2.3)."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, final

import attrs
import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from hilbert.base.attach import declared
from hilbert.base.once import Unchanging, first
from hilbert.base.repr_names import spelled
from hilbert.displayed import DisplayedAsFormula
from hilbert.errors import SpaceError, shown
from hilbert.index.index import Coproduct, Index, Product

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
H = TypeVar("H", bound=Index)
K = TypeVar("K", bound=Index)
P = TypeVar("P")
Ints: TypeAlias = npt.NDArray[np.int64]


@final
@frozen
class Prepared:
    """Data that a kernel has computed from a table once: a sorted order, pointers, a mask as bits."""

    what: str
    value: Any = field(repr=False, eq=False)
    seconds: float

    def __str__(self) -> str:
        return f"{self.what}: {1e3 * self.seconds:.1f} ms"


@final
@frozen(repr=False)
class Table:
    """A read-only array of integers or truth values, compared by a token, which travels with the pickle."""

    array: npt.NDArray[Any] = field(eq=False)
    token: int = field(factory=lambda: uuid.uuid4().int)
    _prepared: dict[Hashable, Prepared] = field(factory=dict, eq=False, init=False)

    def prepare(self, what: str, build: Callable[[], P], *key: Hashable) -> P:
        """The result of `build`, made once for this table and key; the time that it took is kept with it."""
        found = self._prepared.get((what, *key))
        if found is None:
            start = time.perf_counter()
            value = build()
            found = first(self._prepared, (what, *key), Prepared(what, value, time.perf_counter() - start))
        made: P = found.value
        return made

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """All data that have been prepared from the table so far."""
        return tuple(self._prepared.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return table, (self.array, self.token)

    def __repr__(self) -> str:
        return spelled(self, f"{self.token:032x}", f"{self.array.dtype}{list(self.array.shape)}")


def table(entries: Any, token: int | None = None) -> Table:
    """A table with a copy of the entries: truth values, or integers of 64 bits."""
    array = np.array(entries)
    array = array if array.dtype == np.bool_ else array.astype(np.int64, copy=False)
    array.flags.writeable = False
    return Table(array) if token is None else Table(array, token)


class Relation(DisplayedAsFormula, Unchanging, Generic[I, J]):
    """R ⊆ X × Y; `red_R : V^X ⊸ V^Y` sums over the related: (red_R v)_y = Σ_{(x,y)∈R} v_x.

    `R * S` is the product on X×X' and Y×Y', `R + S` the sum on X+X' and Y+Y', `S @ R` the composition, `R.T` the
    transpose, and R.T.T == R.
    """

    __slots__ = ()

    @property
    def dom(self) -> I:
        """X."""
        raise TypeError(type(self).__name__)

    @property
    def cod(self) -> J:
        """Y."""
        raise TypeError(type(self).__name__)

    @property
    def T(self) -> Relation[J, I]:
        """The transpose {(y, x) : (x, y) ∈ R}."""
        raise TypeError(type(self).__name__)

    def holds(self) -> tuple[Ints, Ints]:
        """Every pair once, as two arrays of flat positions: the definition. The arrays take memory for all pairs."""
        raise TypeError(type(self).__name__)

    @declared
    def degrees(self) -> Ints:
        """The number of y that each x is related to, by flat position: red_{Rᵀ} of ones."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self.degrees().sum())

    @property
    def is_function(self) -> bool:
        """True if each x is related to exactly one y."""
        return bool((self.degrees() == 1).all())

    @property
    def is_partial_function(self) -> bool:
        """True if each x is related to at most one y."""
        return bool((self.degrees() <= 1).all())

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """Data that kernels have computed from this relation's tables so far, with the time that each took.

        They are computed once for each table, when a program that reduces by the relation is first run.
        """
        return tuple(made for found in _tables(self) for made in found.prepared)

    @declared
    def picture(self, rows: int = 16, columns: int = 32) -> str:
        """The matrix of red_R in characters: a row for each y (or run of them), a column for each x."""
        raise NotImplementedError

    @declared
    def plot(self, ax: Any = None, pixels: int = 256) -> Any:
        """The matrix of red_R as a picture on matplotlib axes (`ax`, or new ones), which are returned.

        Raises SpaceError where matplotlib is not installed, and for other things than axes.
        """
        raise NotImplementedError

    @declared
    def __mul__(self, other: Relation[H, K]) -> Relation[Product[I, H], Product[J, K]]:
        """R × S = {((x, x'), (y, y')) : (x, y) ∈ R, (x', y') ∈ S}."""
        raise NotImplementedError

    @declared
    def __add__(self, other: Relation[H, K]) -> Relation[Coproduct[I, H], Coproduct[J, K]]:
        """R + S: R between the first parts of X+X' and Y+Y', S between the second."""
        raise NotImplementedError

    @declared
    def __matmul__(self, first: Relation[H, I]) -> Relation[H, J]:
        """S ∘ R = {(x, z) : (x, y) ∈ R and (y, z) ∈ S for some y}.

        It stays symbolic if R is a partial function, or S the converse of one: then each (x, z) has at most one such y,
        and red_{S∘R} = red_S • red_R. So it does for id ∘ R, S ∘ id, full ∘ full, ≤ ∘ ≤, ≥ ∘ ≥, and bands that
        have the diagonal, or lie on one side of it. Everything else becomes explicit pairs, each of which counts once,
        however many paths there are. Raises SpaceError where the sets do not meet, and for more paths than can be
        written out.
        """
        raise NotImplementedError


AnyRelation: TypeAlias = Relation[Any, Any]
"""A relation between any index sets."""


class Function(Relation[I, J]):
    """{(x, f(x))} for a function f : X → Y: red scatters and adds, red of its transpose gathers."""

    __slots__ = ()

    @property
    def size(self) -> int:
        """|X|."""
        return self.dom.size

    @property
    def is_function(self) -> bool:
        """True, for a function."""
        return True

    @property
    def is_partial_function(self) -> bool:
        """True, for a function."""
        return True


def require_relation(value: Any, what: str) -> None:
    """Raise SpaceError unless a value is a relation."""
    if not isinstance(value, Relation):
        msg = f"{what} takes a relation, not {shown(value)}: see hilbert.relation"
        raise SpaceError(msg)


def _tables(relation: Any) -> Iterator[Table]:
    """The tables of all forms that a relation is made of, in order."""
    waiting = [relation]
    while waiting:
        top: Any = waiting.pop()
        if isinstance(top, Table):
            yield top
        elif isinstance(top, Relation):
            form: Any = type(top)
            waiting.extend(getattr(top, f.name) for f in reversed(attrs.fields(form)))


shown.register(Relation, lambda relation: f"a relation {relation.dom} × {relation.cod}")
