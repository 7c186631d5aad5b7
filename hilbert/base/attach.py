"""Methods whose meaning lives in a layer above: their class declares them with their types, that layer attaches them.

The `__init__` of a package says which function is the meaning of which declared method, in a line
`from linmap.printing.show import show as LinMap___str__` for type checkers (`hilbert.base.lazy`). The first call
imports the function and puts it on the class. A function `as Vec_` gives the meaning of each method of that class
without a line of its own, from its name. A method that no imported package knows says what to import:

>>> class Value:
...     @declared
...     def doubled(self) -> int:
...         '''Twice the value.'''
...         raise NotImplementedError
>>> Value().doubled()
Traceback (most recent call last):
    ...
hilbert.errors.SpaceError: this operation (doubled) comes with diff: write import diff, or import hilbert.all as hb
"""

from __future__ import annotations

from functools import wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hilbert.base.lazy import methods, packages
from hilbert.errors import SpaceError
from hilbert.tracebacks import cut

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
    """A method that a layer above attaches, when it is first called; SpaceError if no imported package does."""
    name = method.__name__

    @wraps(method)
    def missing(self: Any, *args: Any, **options: Any) -> Any:
        try:
            return attached(type(self), name)(self, *args, **options)
        except SpaceError as error:
            cut(error)
            raise

    vars(missing)["is_declared"] = True
    return cast("F", missing)


def attached(cls: type, name: str) -> Callable[..., Any]:
    """The method of a class, which is given its meaning if it is only declared: by a row of its own before any rule."""
    # a class of a user's may have the name of one of the library's
    bases = [base for base in cls.__mro__ if base.__module__.partition(".")[0] in packages]
    for suffix in (name, ""):
        for base in bases:
            home = methods.get(f"{base.__name__}_{suffix}")
            if home is not None:
                method = getattr(base, name)
                if hasattr(method, "is_declared"):
                    _attach(base, method, home.imported() if suffix else home.imported()(name))
                return cast("Callable[..., Any]", getattr(base, name))
    msg = f"this operation ({name.strip('_')}) comes with diff: write import diff, or import hilbert.all as hb"
    raise SpaceError(msg)


def _attach(cls: type, declaration: Any, meaning: Callable[..., Any]) -> None:
    """Put a function on a class, in a copy with the name, the documentation and the signature of the declaration."""
    made: Any = meaning
    method = FunctionType(made.__code__, made.__globals__, made.__name__, made.__defaults__, made.__closure__)
    method.__kwdefaults__ = made.__kwdefaults__
    setattr(cls, declaration.__name__, wraps(declaration.__wrapped__)(method))
