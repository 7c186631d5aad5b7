"""The classes of values of KS-Lisp: constants over lanes, tensors, linear maps and how these are made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import frozen

from diff.lam.term.lam_values import Closure, Native
from diff.trace.expr import Expr
from hilbert import Fin, SpaceError, Vec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hilbert.program.line.builder import Builder

Value: TypeAlias = Any
"""An int, bool, str, Table, vector or expression, a tuple of values, Arr, Items, Linear, or a function."""
LEAF = (Vec, Expr)


class UnrolledError(SpaceError):
    """A value is not the same for all elements: each is computed by itself, and not all at once.

    A value that depends on lanes is no longer a table once the outermost of these is computed one by one: `depth` is
    that of this lane, if tables are given. Other values are computed one by one where all were last tried at once.
    """

    def __init__(self, message: str, tables: Iterable[Value] = ()) -> None:
        super().__init__(message)
        self.depth = min((lane.depth for t in tables if isinstance(t, Table) for lane in t.lanes), default=None)


@final
class Lane:
    """The elements of a `build`, all at once: its index is a table over it."""

    def __init__(self, n: int, depth: int, outer: Builder) -> None:
        self.n, self.depth, self.outer = n, depth, outer
        self.axis = Fin.of(n)
        self.body: Any = None
        self.sources: dict[int, int] = {}  # slots of vectors that are seen element by element, and what they are
        self.index = Table((self,), np.arange(n))


@final
@frozen(eq=False)
class Table:
    """Constants, integers or truth values: an axis for each of some lanes, then those of the tensors around."""

    lanes: tuple[Lane, ...]
    array: Any

    @property
    def own(self) -> int:
        """The number of axes that are those of tensors."""
        return int(self.array.ndim) - len(self.lanes)


@final
@frozen(eq=False)
class Arr:
    """A tensor of elements of one shape."""

    dims: tuple[int, ...]
    item: Value


@final
@frozen(eq=False)
class Items:
    """A tensor of any elements, in the order of their indices."""

    dims: tuple[int, ...]
    items: tuple[Value, ...]


@final
@frozen(eq=False)
class Linear:
    """A linear map, and its transpose."""

    apply: Callable[[Value], Value]
    transposed: Callable[[Value], Value]
    made: Made | None = None
    """The maps that it is made of, if it is."""
    height: int = 0
    """More than that of each of those."""
    is_record: bool = False
    """True if it is what suffwdpass keeps, of which only the transpose is."""
    missing: str | None = None
    """The reason that a value is not computed, where there is one."""


@final
@frozen(eq=False)
class Compose:
    """m₁ ∘ m₂."""

    after: Linear
    first: Linear


@final
@frozen(eq=False)
class Add:
    """m₁ ⊕ m₂."""

    left: Linear
    right: Linear


@final
@frozen(eq=False)
class Stack:
    """m₁ × m₂ × …: x ↦ gathered (m₁ ⊙ x, …), whose transpose adds those of the parts that r is spread to."""

    maps: Sequence[Linear]
    gathered: Callable[[list[Value]], Value]
    spread: Callable[[Value], Sequence[Value]]
    nothing: Callable[[], Value]
    """The sum of none."""


@final
@frozen(eq=False)
class Transpose:
    """mᵀ."""

    of: Linear


Made: TypeAlias = Compose | Add | Stack | Transpose

AnyValue: TypeAlias = (
    int | str | Vec[Any] | Expr[Any] | Table | tuple[Any, ...] | Arr | Items | Linear | Closure | Native
)
"""The closed union of values; a truth value is an int here."""
