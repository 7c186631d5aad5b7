"""Programs that run in a way of their own, as machine code or block by block; derivatives of them do, too."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from diff.terms.program import AnyProgram, Program

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


class OwnRunner:
    """A program with a runner of its own; `map` is the function that is run so."""

    __slots__ = ()
    map: AnyProgram

    def alike(self, p: AnyProgram) -> AnyProgram:
        """Another program with a runner of this kind."""
        raise TypeError(type(self).__name__)


def keeps_runner(operation: F) -> F:
    """An operation on functions, which gives of one with a runner of its own the result for its map, run alike."""

    @wraps(operation)
    def kept(f: Any, *args: Any, **names: Any) -> Any:
        if not isinstance(f, OwnRunner):
            return operation(f, *args, **names)
        made = operation(f.map, *args, **names)
        return f.alike(made) if isinstance(made, Program) else made

    return cast("F", kept)
