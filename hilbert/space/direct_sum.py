"""V₁ ⊕ … ⊕ Vₙ, of numbered parts, or of named ones (paper §2.2).

>>> from hilbert import R
>>> V = direct_sum(R, direct_sum(R, R))
>>> print(V, V.dim, V.vec((1.0, (2.0, 3.0)))[1])
ℝ ⊕ (ℝ ⊕ ℝ) 3 (2.0, 3.0) ∈ ℝ ⊕ ℝ
"""

# pyright: reportIncompatibleMethodOverride=false
# a cached property implements a property
from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVarTuple, final, overload

from attrs import field, frozen

from hilbert.base.once import cached_property, once
from hilbert.base.tag_classes import require_importable
from hilbert.errors import SpaceError, shown
from hilbert.index.index import Fin, has_labels
from hilbert.index.leaf import Bundle, Leaf
from hilbert.space import nested_sums
from hilbert.space.space import PartlyDiscrete, Space, Type, items, require_type, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Vs = TypeVarTuple("Vs")


class Biproduct(PartlyDiscrete, Space):
    """V₁ ⊕ … ⊕ Vₙ: tuples, componentwise (§2.2). With a discrete part it is a type and no space.

    It has two forms: a direct sum, and a record, whose parts have names (see `hilbert.map.record`).
    """

    is_sum = True
    _parts: tuple[Any, ...]

    @property
    def _form(self) -> Any:
        """The form, which makes sums of parts: DirectSum, an index set of labels, or the class of a record."""
        return type(self)

    def settle(self) -> None:
        """Check the parts, and cache the leaves while the parts' are known: asked later, a deep sum would overflow."""
        for part in self._parts:
            require_type(part, "a direct sum")
        _ = self.leaves, hash(self)

    @once
    def __hash__(self) -> int:
        return hash((self._form, self._parts))

    def __eq__(self, other: object) -> bool:
        return nested_sums.same(self, other)

    def __reduce__(self) -> tuple[Any, ...]:
        rows = nested_sums.rows(self)
        for form in {row[0] for row in rows if isinstance(row, tuple) and isinstance(row[0], type)}:
            require_importable(form, f"the record {form.__qualname__}")
        return nested_sums.built, (rows,)

    @classmethod
    def of_parts(cls, parts: tuple[Any, ...]) -> Biproduct:
        """The sum of this form with these parts: a direct sum, or a record of this class."""
        raise TypeError(cls.__name__)

    @property
    def parts(self) -> tuple[Any, ...]:
        """The summands."""
        return self._parts

    @property
    def _part_names(self) -> tuple[str, ...] | None:
        """The names of the parts in texts: those of a record, the labels of a direct sum over an index set, or None."""
        over = self._index_set
        return self.names if over is None or not has_labels(over) else tuple(map(str, over.labels))

    @property
    def places(self) -> range:
        """The positions of the parts."""
        return range(len(self._parts))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The positions among all leaves where those of each part begin, and where the last ones end."""
        return tuple(itertools.accumulate((len(part.leaves) for part in self.parts), initial=0))

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of the parts, in order."""
        return tuple(leaf for part in self.parts for leaf in part.leaves)

    def pack(self, flat: Iterator[Any]) -> Any:
        """The tuple tree of a flat sequence of leaves."""
        return nested_sums.pack(self, flat)

    def unpack(self, tree: Any) -> list[Any]:
        """The leaves of a tuple tree, in order."""
        return nested_sums.unpack(self, tree, items)

    @cached_property
    def tangent(self) -> Space:
        """The sum of the parts' tangents, in the same form: that of a discrete part is 0, in its place."""
        tangent: Space = self if self.is_space else nested_sums.tangent(self)
        return tangent

    def __str__(self) -> str:
        return nested_sums.text(self)

    def __repr__(self) -> str:
        return nested_sums.source(self)


@final
@frozen(repr=False, eq=False, slots=False)
class DirectSum(Biproduct, Generic[*Vs]):
    """V₁ ⊕ … ⊕ Vₙ: its parts are numbered, and have the labels of the index set that it is over."""

    _parts: tuple[*Vs] = field(alias="parts")
    _over: Fin[Any] | None = field(default=None, kw_only=True, alias="over")

    def __attrs_post_init__(self) -> None:
        if not isinstance(self._parts, tuple):
            msg = f"a direct sum is of a tuple of spaces, not of {shown(self._parts)}: write direct_sum(V, W)"
            raise SpaceError(msg)
        self.settle()

    @classmethod
    def of_parts(cls, parts: tuple[Any, ...]) -> DirectSum[*tuple[Any, ...]]:
        """DirectSum(parts)."""
        return DirectSum(parts)

    @property
    def _index_set(self) -> Fin[Any] | None:
        """The index set, if it has a tag or labels."""
        return self._over

    @property
    def _form(self) -> Any:
        """DirectSum, or the form of sums over the index set."""
        return DirectSum if self._index_set is None else SumOver(self._index_set)

    @property
    def _summands(self) -> tuple[*Vs]:  # type: ignore[override]  # with a discrete part it is a type and no space
        return self._parts


@final
@frozen
class SumOver:
    """The form of direct sums over an index set, which makes them of parts."""

    index: Fin[Any]

    def of_parts(self, parts: tuple[Any, ...]) -> DirectSum[*tuple[Any, ...]]:
        """The sum of these parts, one for each element."""
        return DirectSum(parts, over=self.index)


MOST = 1000
"""The most elements of an index set of a direct sum, whose parts are spaces of their own."""


class _DirectSumOf:
    """The function `direct_sum`."""

    __name__ = __qualname__ = "direct_sum"

    def __call__(self, *parts: *Vs) -> DirectSum[*Vs]:
        """V₁ ⊕ … ⊕ Vₙ of any arity (§2.2); raises SpaceError for a part that is no space or type."""
        return DirectSum(parts)

    @overload
    def over(self, X: Fin[Any], spaces: tuple[*Vs]) -> DirectSum[*Vs]: ...
    @overload
    def over(self, X: Fin[Any], spaces: Iterable[Type]) -> DirectSum[*tuple[Any, ...]]: ...
    def over(self, X: Any, spaces: Any) -> Any:
        """⊕_{x ∈ X} V_x: a part for each element of one axis X, in order, that is named by its label.

        An anonymous `Fin.of(n)` has no labels but the positions: the sum is direct_sum(V₁, …, Vₙ). Raises SpaceError
        for another index set, one of more than 1,000 elements, and unless there is one space for each element.
        """
        if not isinstance(X, Fin):
            msg = f"direct_sum.over(X, spaces) is over one axis, Fin or Labelled, not over {shown(X)}"
            raise SpaceError(msg)
        if X.size > MOST:
            msg = f"direct_sum.over({X}, …) has a space for each element, and {X} has {X.size}, more than {MOST}"
            raise SpaceError(f"{msg}: where all are one space V, write V ** X")
        parts = tuple(spaces) if isinstance(spaces, Iterable) and not isinstance(spaces, (dict, Type)) else None
        if parts is None or len(parts) != X.size:
            given = f"{len(parts)} spaces" if parts is not None else shown(spaces)
            msg = f"direct_sum.over({X}, spaces) takes a space for each of {X.size} elements, in order, not {given}"
            raise SpaceError(msg)
        return DirectSum(parts, over=None if Fin.of(X.size) == X else X)

    def __repr__(self) -> str:
        return "direct_sum"


direct_sum = _DirectSumOf()
"""V₁ ⊕ … ⊕ Vₙ, and `direct_sum.over(X, spaces)` over an index set."""


def flat(dom: Type) -> tuple[Type, ...]:
    """The parts of the parts of a direct sum: the arguments (x, y, dx, dy) of a function of ((x, y), (dx, dy))."""
    groups = (part.parts if isinstance(part, DirectSum) else (part,) for part in dom.parts)
    return tuple(part for group in groups for part in group)


def sum_of_bundle(bundle: Bundle) -> Type:
    """The direct sum of the leaves of a bundle, each as a type."""
    return DirectSum(tuple(map(type_of, bundle.leaves)))
