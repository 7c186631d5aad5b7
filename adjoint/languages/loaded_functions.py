"""The functions of a text in one of the languages: maps of the library once shapes are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, final

from attrs import frozen

from adjoint.languages.value_spaces import element
from diff.trace.expr import Expr
from hilbert import R, SpaceError, Type, Vec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjoint.languages.value_text import Value
    from diff.lam.term.term_error import Place
    from hilbert.map.map import AnyMap


@final
@frozen
class Fault:
    """A fault of a function or its derivatives, and its place in the text."""

    place: Place
    message: str


Given: TypeAlias = "Type | bool | int | str | tuple[Any, ...] | list[Any]"
"""An argument as a map is made for it: its space, or the value of one that is discrete."""


class LoadedFunction(ABC):
    """A function of a text. Its arguments are one tuple where there are several."""

    as_map: ClassVar[str] = "take that on given spaces, f.of(R ** Fin.of(3)), one for each argument"
    name: str
    place: Place
    """Its place in the text."""

    @property
    @abstractmethod
    def signature(self) -> str:
        """ARGUMENT -> RESULT, in the types of its language."""

    @abstractmethod
    def of(self, *spaces: Given) -> AnyMap:
        """The map on these spaces, one for each component of a tuple; made once. Raises SpaceError if they do not fit.

        None are needed where the types leave no length open.
        """

    @abstractmethod
    def like(self, args: Sequence[Value] | None) -> AnyMap:
        """The map for arguments of the shapes of values; for None of shapes that the language chooses."""

    @abstractmethod
    def stages(self) -> Mapping[str, Callable[[Sequence[Value] | None, Vec[Any] | None], str]]:
        """Its stages as texts; they are given the arguments, and the point that they are."""

    def __call__(self, *args: Any) -> Any:
        """The value at vectors, expressions of a traced function, numbers, or nested lists and tuples of numbers.

        Raises SpaceError for arguments that do not fit.
        """
        if any(isinstance(arg, (Vec, Expr)) for arg in args):
            given = [R.vec(float(arg)) if isinstance(arg, (int, float)) else arg for arg in args]
            if not all(isinstance(arg, (Vec, Expr)) for arg in given):
                raise SpaceError(f"{self.name} takes vectors and expressions, or plain values, and not both")
            return self.of(*(arg.space for arg in given))(*given)
        f = self.like(args)
        return f(element(args, f.dom))

    def __repr__(self) -> str:
        return f"<{self.name} : {self.signature}>"


class LoadedValues(LoadedFunction):
    """A function whose arguments are values of its language, not all of them elements of spaces."""

    @abstractmethod
    def value(self, args: Sequence[Value]) -> Value:
        """The value at arguments; raises SpaceError where they do not fit."""

    @abstractmethod
    def differential(self, at: Sequence[Value], along: Sequence[Value] | None, *, reverse: bool) -> Value:
        """The derivative at a point along a tangent; its adjoint at a cotangent in reverse, 1.0 by default."""

    @abstractmethod
    def verified(self, at: Sequence[Value] | None) -> Sequence[Fault]:
        """The faults of the function and its derivatives at a point, or at one that is drawn.

        Raises TermError where nothing is found: `unbound` or `type` for a function that has no value or derivative,
        `limit` at a point that is drawn.
        """


@final
@frozen
class Loaded:
    """The functions that texts define; each is an attribute."""

    functions: Mapping[str, LoadedFunction]
    """By their names, in the order of the text."""
    expression: Callable[[str], str]
    """The value of an expression of the language, as text."""

    def __getattr__(self, name: str) -> LoadedFunction:
        """The function of this name."""
        try:
            return self.functions[name]
        except KeyError:
            raise AttributeError(f"no function {name}: there are {', '.join(self.functions) or 'none'}") from None

    def __dir__(self) -> list[str]:
        return [*self.functions, "expression", "functions"]
