"""Objects as notebooks, IPython and Rich show them: the methods that those call; `hilbert.display` attaches them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from hilbert.base.attach import declared

if TYPE_CHECKING:
    from collections.abc import Iterator

F = TypeVar("F")


def _angular(method: F) -> F:
    """A method of which Rich writes the result between < and >."""
    method.angular = True  # type: ignore[attr-defined]
    return method


class Displayed:
    """A base class for what a person looks at: a notebook shows its `str`; `repr` stays Python."""

    __slots__ = ()
    _displays: ClassVar[Literal["text", "formula", "numbers"]] = "text"

    def __init_subclass__(cls, **options: Any) -> None:
        """Put IPython's method on each class: IPython prefers the `__repr__` of a class to what its bases have."""
        super().__init_subclass__(**options)
        if "_repr_pretty_" not in vars(cls):
            cls._repr_pretty_ = Displayed._repr_pretty_  # type: ignore[method-assign]

    @declared
    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython's signature
        """Print the text; for IPython."""
        raise NotImplementedError

    @declared
    def _repr_latex_(self) -> str | None:
        """The text as mathematics, for MathJax and KaTeX; None where it is none."""
        raise NotImplementedError

    @declared
    def _repr_html_(self) -> str | None:
        """The text, or a table of numbers; None of mathematics."""
        raise NotImplementedError

    @declared
    @_angular
    def __rich_repr__(self) -> Iterator[Any]:
        """The text, behind the name of the class; for Rich."""
        raise NotImplementedError


class DisplayedAsFormula(Displayed):
    """A base class for what a notebook shows as mathematics."""

    __slots__ = ()
    _displays = "formula"


class DisplayedAsNumbers(Displayed):
    """A base class for vectors, which a notebook shows as tables of their numbers, or as mathematics."""

    __slots__ = ()
    _displays = "numbers"
