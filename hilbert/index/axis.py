"""Axes declared in one statement: the class that names an axis, with its size and its index set.

>>> class Pixel(Axis, size=784): ...
>>> print(Pixel.set, Pixel.of(100), Pixel.set == Fin(Pixel, 784))
Pixel784 Pixel100 True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Never, TypeVar, overload

from hilbert.base.tag_classes import SizedTag
from hilbert.errors import SpaceError
from hilbert.index.index import Fin

T = TypeVar("T")


class _IndexSet:
    """The attribute `set` of the classes of axes, with its type for checkers."""

    @overload
    def __get__(self, tag: None, owner: type[T]) -> Fin[T]: ...
    @overload
    def __get__(self, tag: Never, owner: Any) -> Never: ...
    def __get__(self, tag: Any, owner: Any) -> Any:
        """The index set of the size that the class was declared with; raises SpaceError if there was none."""
        if owner.declared is None:
            name = owner.__name__
            msg = f"the axis {name} has no size: write {name}.of(n), or declare one, class {name}(Axis, size=n)"
            raise SpaceError(msg)
        return owner.declared


class Axis(SizedTag):
    """The tag of an axis: `class Pixel(Axis, size=784): ...` names one and gives it the index set `Pixel.set`.

    `Pixel.set` is Fin(Pixel, 784), of type `Fin[Pixel]`; `Pixel.of(n)` is the index set of another size. Without
    `size` only `Pixel.of(n)` is there. Axes have no elements of their own, no type parameters and no subclasses:
    SpaceError for these, and for a size that is no integer ≥ 0.
    """

    set = _IndexSet()
    """The index set of the declared size; SpaceError if none was declared."""
    declared: ClassVar[Fin[Any] | None] = None
    """The index set of the declared size, or None."""

    def __init_subclass__(cls, *, size: int | None = None) -> None:
        """Keep the index set of the declared size; raises SpaceError for one that is no axis."""
        if cls.__bases__ != (Axis,):
            others = ", ".join(base.__name__ for base in cls.__bases__)
            msg = f"the axis {cls.__name__} is a subclass of {others}, and axes are classes of their own, without "
            raise SpaceError(f"{msg}type parameters: write class {cls.__name__}(Axis, size=n)")
        own = sorted({"set", "of", "declared"} & vars(cls).keys())
        if own:
            msg = f"the axis {cls.__name__} has an attribute {own[0]}, which every axis has: give it another name"
            raise SpaceError(msg)
        super().__init_subclass__()
        cls.declared = None if size is None else Fin(cls, size)

    def __init__(self, no_elements: Never, /) -> None:
        """Nothing is made of an axis."""

    if not TYPE_CHECKING:  # to a checker the call lacks an argument

        def __new__(cls, *_: Any, **__: Any) -> Never:
            """Raise SpaceError: the elements of an index set are positions."""
            name = cls.__name__
            msg = f"{name}(…) makes nothing: {name} names an axis; write {name}.set for its index set, or {name}.of(n)"
            raise SpaceError(msg)

    @classmethod
    def of(cls: type[T], size: int) -> Fin[T]:
        """The index set of this axis with n elements; raises SpaceError unless n is an integer ≥ 0."""
        return Fin(cls, size)
