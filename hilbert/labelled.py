"""Index sets whose elements have labels: the distinct keys of a column of a table.

>>> class City: ...
>>> X = Labelled(City, ("Bergen", "Turku", "Aarhus"))
>>> print(X, X.size, X.position("Turku"))
City3 3 1
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, Generic, TypeVar, final

from attrs import field, frozen

from hilbert.errors import SpaceError, shown
from hilbert.index import Anonymous, Index, as_tag, require_importable, tagged
from hilbert.repr_names import spelled

T = TypeVar("T")
SHORT = 12
"""The `repr` of longer index sets names them."""


def _labels(given: Any) -> tuple[Hashable, ...]:
    try:
        return tuple(given)
    except TypeError:
        msg = f"the labels of an index set are a sequence, not {shown(given)}"
        raise SpaceError(msg) from None


@final
@frozen(repr=False, cache_hash=True, slots=False)
class Labelled(Index, Generic[T]):
    """A finite index set with a label for each element: any distinct hashable values, in order.

    Two are equal if they have the same tag and the same labels in the same order.
    """

    tag: type[T] = field(validator=as_tag)
    labels: tuple[Hashable, ...] = field(converter=_labels)

    def __attrs_post_init__(self) -> None:
        if len(self._places) != len(self.labels):
            again = next(label for k, label in enumerate(self.labels) if self._places[label] != k)
            msg = f"the labels of an index set are distinct, but {shown(again)} stands twice"
            raise SpaceError(msg)

    @staticmethod
    def of(labels: Any) -> Labelled[Anonymous]:
        """The anonymous index set with these labels."""
        return Labelled(Anonymous, labels)

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        try:
            return {label: k for k, label in enumerate(self.labels)}
        except TypeError:
            msg = "the labels of an index set are hashable; a list may become a tuple"
            raise SpaceError(msg) from None

    @property
    def size(self) -> int:
        """The number of labels."""
        return len(self.labels)

    def position(self, element: Any) -> int:
        """The place of a label; raises SpaceError if there is no such label."""
        try:
            return self._places[element]
        except (KeyError, TypeError):
            examples = ", ".join(shown(label) for label in self.labels[:3])
            some = f"its labels are {examples}{', …' if self.size > 3 else ''}" if self.size else "it has none"
            msg = f"{shown(element)} is not a label of {self}: {some}"
            raise SpaceError(msg) from None

    def __str__(self) -> str:
        return tagged(self.tag, self.size)

    def __repr__(self) -> str:
        if self.size > SHORT:
            return spelled(self, f"labels {id(self):x}", f"{self.size} labels")
        start = "Labelled.of(" if self.tag is Anonymous else f"Labelled({self.tag.__qualname__}, "
        return f"{start}{self.labels!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        require_importable(self.tag, self)
        return Labelled, (self.tag, self.labels)
