"""Vectors as pytrees of JAX, whose transformations put axes in front of arrays and take them away.

>>> from hilbert import Fin, R, direct_sum
>>> V = direct_sum(R ** Fin.of(3), R)
>>> print(space_of(V, ((5, 3), (5,))), "|", space_of(V ** Fin.of(5), ((3,), ())), "|", space_of(V, ((5, 3), (7,))))
(ℝ^3 ⊕ ℝ)^5 | ℝ^3 ⊕ ℝ | None
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast, final

from attrs import frozen

from hilbert import Anonymous, Copower, Fin, SpaceError, Type, Vec
from hilbert.base.once import once
from hilbert.space.direct_sum import Biproduct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.index.index import Index

Shapes: TypeAlias = "tuple[tuple[int, ...], ...]"


@final
@frozen(repr=False, eq=False)
class Structure:
    """The space of a vector as JAX compares it: tables of one space, over any number of rows, have one structure.

    JAX compares a point with a batch of directions, as in `jacrev`, and knows how many there are from the arrays.
    """

    space: Type

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Structure):
            return NotImplemented
        if self.space == other.space:
            return True
        return _row(self.space) == _row(other.space) and _shapes(self.space) != _shapes(other.space)

    def __hash__(self) -> int:
        return hash(_row(self.space))

    def __repr__(self) -> str:
        return repr(self.space)


@final
class Unfit:
    """In place of the space of a vector whose arrays do not fit the space: what asks for anything raises SpaceError."""

    __slots__ = ("_shapes", "_space")

    def __init__(self, space: Type, shapes: Shapes) -> None:
        self._space, self._shapes = space, shapes

    def _refuse(self) -> NoReturn:
        have = ", ".join(map(str, self._shapes))
        msg = f"JAX made a vector of {self._space} with arrays of shapes {have}, where "
        msg += f"{', '.join(map(str, _shapes(self._space)))} are due: only an axis in front of all of "
        raise SpaceError(f"{msg}them may come or go, as in vmap and scan; jax.tree.leaves(v) has the arrays")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in Unfit.__slots__:
            raise AttributeError(name=name, obj=self)
        return self._refuse()

    def __eq__(self, other: object) -> bool:
        return self._refuse()

    def __hash__(self) -> int:
        return self._refuse()

    def __str__(self) -> str:
        return self._refuse()

    __repr__ = __str__


def flattened(v: Vec[Any]) -> tuple[tuple[Any, ...], Structure]:
    """The arrays of a vector, and what JAX keeps beside them."""
    space: Any = v.space
    return v.leaves, Structure(space._space if type(space) is Unfit else space)


def unflattened(structure: Structure, leaves: Iterable[Any]) -> Vec[Any]:
    """The vector with these arrays: of the space, of a table of the space, or of a row.

    JAX calls it with other objects than arrays, too: a vector of these is made unchecked.
    """
    space, arrays = structure.space, tuple(leaves)
    shapes: Any = tuple(getattr(a, "shape", None) for a in arrays)
    if not all(type(shape) is tuple and all(type(n) is int for n in shape) for shape in shapes):
        return Vec(space, arrays)
    own: Any = space_of(space, shapes) or Unfit(space, shapes)
    return Vec(own, arrays)


def _shapes(space: Type) -> Shapes:
    return tuple(leaf.shape for leaf in space.leaves)


@once
def space_of(space: Type, shapes: Shapes) -> Type | None:
    """V for arrays of V, V^n or V^{m×n} for those with axes in front, U for V = U^X without the first; else None."""
    due = _shapes(space)
    if shapes == due:
        return space
    more = [shape[: len(shape) - len(own)] for shape, own in zip(shapes, due, strict=True)]
    behind = tuple(shape[len(front) :] for shape, front in zip(shapes, more, strict=True))
    if behind == due and more and more[0] and len(set(more)) == 1:
        return space ** _of_shape(more[0])
    return _first_row(space) if all(due) and tuple(own[1:] for own in due) == shapes else None


def _of_shape(shape: Sequence[int]) -> Index:
    first: Any = Fin.of(shape[0])
    made: Index = math.prod(map(Fin.of, shape[1:]), start=first)
    return made


def _first_row(space: Any) -> Type | None:
    """The space without the first axis of each array; None where the arrays have no such axis in common."""
    if isinstance(space, Copower) and space.index.axes:
        axes = space.index.axes[1:]
        behind: Any = axes and math.prod(axes[1:], start=axes[0])
        return cast("Type", space.base**behind if axes else space.base)
    if isinstance(space, Biproduct):
        parts = [_first_row(part) for part in space.parts]
        return None if None in parts else cast("Type", space.of_parts(tuple(parts)))
    return None


@once
def _row(space: Type) -> Type:
    """V for V^n, V^{m×n}, (V^n)^m, …, the axes without names."""
    while isinstance(space, Copower) and all(type(axis) is Fin and axis.tag is Anonymous for axis in space.index.axes):
        space = space.base
    return space
