"""The spaces of a record's parts, read from their annotations; axes have the sizes of their classes, or those given.

>>> from hilbert import Axis, Matrix, Part, Record
>>> class Pixel(Axis, size=3): ...
>>> class Hidden(Axis): ...
>>> Params = type("Params", (Record,), {"__annotations__": {"weights": Part[Matrix[Hidden, Pixel]]}})
>>> print(Params.space(Hidden=2))
Params(weights: ℝ^{Hidden2×Pixel3})
"""

from __future__ import annotations

import inspect
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from types import FrameType, SimpleNamespace
from typing import Any, get_args, get_origin, get_type_hints

from attrs import evolve, frozen

from hilbert.base.tag_classes import SizedTag
from hilbert.errors import SpaceError, shown
from hilbert.index.index import Anonymous, Coproduct, Fin, Index, Product, Unit
from hilbert.space.direct_sum import Biproduct, DirectSum
from hilbert.space.space import Bool, Boolean, Copower, Elements, Field, Integers, TensorProduct, Type, Z, Zero

CONSTANT: dict[Any, Type] = {Boolean: Bool, Integers: Z, Zero: Zero()}
"""The types that an annotation says without an axis or a field."""


def scope(record: type, frame: FrameType) -> Mapping[str, Any]:
    """The names that the annotations of a class may mean: those of its module, and of the function around it.

    Of a function only the values that its annotations name are kept. The frame is that of the class statement.
    """
    if frame.f_locals is frame.f_globals:
        return frame.f_globals
    texts = [text for text in inspect.get_annotations(record).values() if isinstance(text, str)]
    used = {name for text in texts for name in compile(text, "<annotation>", "eval").co_names}
    return ChainMap({name: value for name, value in frame.f_locals.items() if name in used}, frame.f_globals)


def annotated_spaces(record: Any, scalars: Any, given: Mapping[str, Any]) -> tuple[Type, ...]:
    """The spaces of a record's parts, in order, with a field for their scalars, and sizes of axes by their names.

    Raises SpaceError for an axis whose size is missing, a name that no axis or more than one has, a size that is none,
    and an annotation that says no space.
    """
    call = f"{record.__name__}.space"
    if not isinstance(scalars, Field):
        msg = f"{call} takes sizes by the names of axes, {call}(Pixel=8), and before them R or R32, "
        raise SpaceError(f"{msg}the field of scalars, not {shown(scalars)}")
    tags = dict[type, None]()

    def noted(tag: type) -> Index:
        tags[tag] = None
        return Fin(tag, 1)

    _Reader(scalars, noted).parts(record)
    axes = _sized(call, list(tags), given)
    return _Reader(scalars, axes.__getitem__).parts(record)


def _sized(call: str, tags: list[type], given: Mapping[str, Any]) -> dict[type, Index]:
    """The index set of each tag: one that is given, or the one that its class was declared with."""
    names = [tag.__name__ for tag in tags]
    unknown = [name for name in given if name not in names]
    if unknown:
        have = f"its axes are {', '.join(dict.fromkeys(names))}" if names else "it has no axes"
        msg = f"{call}: no axis is called {', '.join(unknown)}; {have}"
        raise SpaceError(msg)
    axes: dict[type, Index | None] = {
        tag: _given(call, tag, given[tag.__name__]) if tag.__name__ in given else _declared(tag) for tag in tags
    }
    for name in names:
        alike = [tag for tag in tags if tag.__name__ == name]
        if len(alike) > 1 and (name in given or None in map(axes.get, alike)):
            both = " and ".join(f"{tag.__module__}.{tag.__qualname__}" for tag in alike)
            msg = f"{call}: {name} is the name of {len(alike)} axes, {both}: rename one, or declare their sizes"
            raise SpaceError(msg)
    missing = [tag.__name__ for tag, axis in axes.items() if axis is None]
    if missing:
        written = ", ".join([*(f"{name}=…" for name in given), *(f"{name}=n" for name in missing)])
        msg = f"{call}: no size is given for {', '.join(missing)}: write {call}({written})"
        raise SpaceError(msg)
    return {tag: axis for tag, axis in axes.items() if axis is not None}


def _declared(tag: type) -> Index | None:
    axis: Index | None = vars(tag)["declared"] if issubclass(tag, SizedTag) else None
    return axis


def _given(call: str, tag: type, size: Any) -> Index:
    if not isinstance(size, Index):
        try:
            return Fin(tag, size)
        except SpaceError as error:
            msg = f"{call}({tag.__name__}=…): {error}"
            raise SpaceError(msg) from None
    if not isinstance(size, Fin) or size.tag is not tag:
        msg = f"{call}: {tag.__name__}=… is a size, or an index set of the axis {tag.__name__}, not {shown(size)}"
        raise SpaceError(msg)
    return size


def _annotations(record: Any) -> Iterable[tuple[str, Any]]:
    """The name of each part of a record, and the V of its `Part[V]`."""
    for name in record.lenses:
        owner = next(base for base in record.__mro__ if name in inspect.get_annotations(base))
        written = SimpleNamespace(__annotations__={name: inspect.get_annotations(owner)[name]})
        names = {name: value for name, value in vars(owner).items() if name not in owner.lenses}
        try:
            hint = get_type_hints(written, {}, ChainMap(names, owner._scope))[name]
        except NameError as error:
            msg = f"{record.__name__}.{name} is annotated with {error.name}, which is not known where "
            msg += f"{owner.__name__} is defined: define it before, or give the spaces of the parts"
            raise SpaceError(msg) from None
        if not get_args(hint):
            raise _no_space(f"{record.__name__}.{name}", hint)
        yield name, get_args(hint)[0]


@frozen
class _Reader:
    """Reads spaces from annotations."""

    scalars: Field
    axis: Callable[[type], Index]
    """The index set of a tag."""
    within: tuple[Any, ...] = ()
    """The records whose parts are being read."""

    def parts(self, record: Any) -> tuple[Type, ...]:
        """The spaces of the parts of a record."""
        if record in self.within:
            msg = f"{record.__name__} is a part of itself, and spaces are finite: give the spaces of the parts"
            raise SpaceError(msg)
        inside = evolve(self, within=(*self.within, record))
        return tuple(inside.space(f"{record.__name__}.{name}", form) for name, form in _annotations(record))

    def space(self, part: str, form: Any) -> Type:
        """The space that a type says."""
        head: Any = get_origin(form) or form
        if isinstance(head, type) and issubclass(head, Biproduct) and head.names:
            record: Any = head
            made: Type = record.of_parts(self.parts(record))
            return made
        match get_args(form):
            case () if head is Field:
                return self.scalars
            case () if head in CONSTANT:
                return CONSTANT[head]
            case (X,) if head is Elements:
                return Elements(self.index(part, X))
            case base, X if head is Copower:
                return self.space(part, base) ** self.index(part, X)
            case parts if head is DirectSum:
                return DirectSum(tuple(self.space(part, one) for one in parts))
            case left, right if head is TensorProduct:
                return TensorProduct(self.space(part, left), self.space(part, right))
            case _:  # any other annotation says no space
                raise _no_space(part, form)

    def index(self, part: str, form: Any) -> Index:
        """The index set that a type says."""
        head: Any = get_origin(form) or form
        match get_args(form):
            case () if head is Unit:
                return Unit()
            case (tag,) if tag is Anonymous:
                msg = f"{part} has an axis without a name, which no size can be given for: give the spaces of the parts"
                raise SpaceError(msg)
            case (tag,) if head is Fin and isinstance(tag, type):
                return self.axis(tag)
            case left, right if head in {Product, Coproduct}:
                made: Index = head(self.index(part, left), self.index(part, right))
                return made
            case _:  # any other annotation says no index set
                raise _no_space(part, form)


def _no_space(part: str, form: Any) -> SpaceError:
    said = form.__name__ if isinstance(form, type) else str(form)
    msg = f"the annotation of {part} does not say its space, for {said} is none: give the spaces of the parts"
    return SpaceError(msg)
