"""Methods whose meaning lives in a layer above: their class declares them with their types, that layer attaches them.

A package names the modules that attach methods (`hilbert.base.lazy.later`), which are imported when such a method is
first called. A method that no imported package knows says what to import:

>>> class Value:
...     @declared
...     def doubled(self) -> int:
...         '''Twice the value.'''
...         raise NotImplementedError
>>> Value().doubled()
Traceback (most recent call last):
    ...
hilbert.errors.SpaceError: this operation (doubled) comes with diff: write import diff, or import hilbert.all as hb
>>> attach(Value, "doubled", lambda self: 42)
>>> Value().doubled(), unattached(Value)
(42, [])
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hilbert.base.lazy import imported, modules_of
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def overloaded(signatures: Callable[[], F]) -> Callable[[Callable[..., Any]], F]:  # noqa: ARG001
    """A function whose signatures for type checkers stand in the stub `_calls.pyi` of its package, by their name there.

    No module stands behind a stub, so that the name is given by a function that is never called. A method says the type
    of its `self`: of one that does not, mypy's cache forgets that it has a decorator.
    """
    return cast("Callable[[Callable[..., Any]], F]", lambda function: function)


def declared(method: F) -> F:
    """A method that a layer above attaches: the first call imports the modules that may; SpaceError if none does."""
    name = method.__name__

    @wraps(method)
    def missing(self: Any, *args: Any, **options: Any) -> Any:
        for topic in (cls.__name__ for cls in type(self).__mro__):
            for module in modules_of(topic):
                imported(module)
                found = getattr(type(self), name)
                if found is not missing:
                    return found(self, *args, **options)
        msg = f"this operation ({name.strip('_')}) comes with diff: write import diff, or import hilbert.all as hb"
        raise SpaceError(msg)

    vars(missing)["is_declared"] = True
    return cast("F", missing)


def unattached(cls: type) -> list[str]:
    """The names of the methods that a class declares and that nobody has attached."""
    found = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
    return [name for name, value in found.items() if callable(value) and getattr(value, "is_declared", False)]


def attach(cls: type, name: str, method: Callable[..., Any]) -> None:
    """Give a declared method its meaning; its documentation and its signature stay."""
    there = getattr(cls, name)
    setattr(cls, name, wraps(getattr(there, "__wrapped__", there))(method))
