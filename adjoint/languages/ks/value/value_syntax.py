"""Values as texts, in the syntax that they are given in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

import numpy as np

from adjoint.languages.ks.value.value_classes import Arr, Items, Linear, Table
from adjoint.languages.value_spaces import value_of
from adjoint.languages.value_text import text as value_text
from diff.lam.term.lam_values import Closure, Native
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr
from hilbert import Vec

if TYPE_CHECKING:
    from adjoint.languages.ks.value.value_classes import AnyValue, Value


def text(value: Value) -> str:
    """A value as it is written."""
    return value_text(plain(value))


def plain(value: AnyValue, dims: tuple[int, ...] = ()) -> Any:
    """A value as numbers, truth values, texts, tuples and lists; raises TermError for a function.

    The leaves of an element of tensors have axes of these sizes in front.
    """
    match value:
        case Vec():
            return value_of(value)
        case tuple():
            return _zipped(dims, [plain(part, dims) for part in value])
        case Table():
            return value.array.tolist()
        case Arr(more, item):
            return plain(item, (*dims, *more))
        case Items(more, items):
            return _nested(more, [plain(one) for one in items])
        case int() | str():
            return value
        case Linear(is_record=True):
            raise TermError(
                "type", "the record of suffwdpass has no text: give it to sufrevpass, ([sufrevpass f] dt b)"
            )
        case Linear(missing=str(why)):
            raise TermError("linear", why)
        case Linear():
            raise TermError("type", "a linear map has no text: apply it with lmApply or lmApplyR")
        case Expr() | Closure() | Native():
            raise TermError("type", "a function has no text: apply it")
        case _:
            assert_never(value)


def _zipped(dims: tuple[int, ...], parts: list[Any]) -> Any:
    if not dims:
        return tuple(parts)
    return [_zipped(dims[1:], [part[k] for part in parts]) for k in range(dims[0])]


def _nested(dims: tuple[int, ...], items: list[Any]) -> Any:
    if len(dims) <= 1:
        return items
    m = int(np.prod(dims[1:]))
    return [_nested(dims[1:], items[k * m : (k + 1) * m]) for k in range(dims[0])]
