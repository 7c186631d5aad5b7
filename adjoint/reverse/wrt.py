"""With respect to some arguments: the parts of a domain that `wrt` names, by positions or lenses."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hilbert import SpaceError
from hilbert.tracebacks import called

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def takes_wrt(function: F) -> F:
    """A function that takes `wrt`, and tells those who know JAX so."""

    @wraps(function)
    def told(*args: Any, **options: Any) -> Any:
        if "sparse" in options and "as_" in function.__annotations__:
            msg = f'{function.__name__} has no sparse=: write as_="sparse" for a sparse matrix of scipy'
            raise SpaceError(msg)
        if "argnums" in options:
            msg = f"{function.__name__} has no argnums=: write wrt=k, the position of an argument from 0 on, or a lens"
            raise SpaceError(msg)
        return function(*args, **options)

    return cast("F", called(told))
