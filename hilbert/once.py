"""Derived facts: what a function finds out about a term is found once, and kept on the term under the function itself.

>>> from hilbert.term import Term
>>> class Word(Term):
...     pass
>>> @once
... def length(word: Word, scale: int = 1) -> int:
...     print("counted")
...     return 4 * scale
>>> word = Word()
>>> length(word), length(word, 1), length(word, 2), length(word, 2)
counted
counted
(4, 4, 8, 8)

What is kept is not part of the term's value, and no pickle carries it. Arguments beside the term must be hashable.
"""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.term import Term

F = TypeVar("F", bound="Callable[..., Any]")
R = TypeVar("R")


def once(function: F) -> F:
    """The function of a term (and perhaps of more arguments) that computes each result once.

    Under `@property` it is a property that is computed once.
    """
    return cast("F", _of_a_term(function) if len(signature(function).parameters) == 1 else _of_more(function))


def _of_a_term(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @wraps(function)
    def found(term: Any) -> Any:
        try:
            return term._memo[function]
        except (AttributeError, KeyError):
            pass  # an error of the function is not raised in the handling of this one
        made = function(term)
        term.memo()[function] = made
        return made

    return found


def _of_more(function: Callable[..., Any]) -> Callable[..., Any]:
    places = [p for p in signature(function).parameters.values() if p.kind is not Parameter.KEYWORD_ONLY]
    usual = tuple(p.default for p in places[1:])

    @wraps(function)
    def found(term: Any, *args: Any, **named: Any) -> Any:
        key = (function, *args, *usual[len(args) :], *sorted(named.items()))
        memo = term.memo()
        if key not in memo:
            memo[key] = function(term, *args, **named)
        return memo[key]

    return found


def kept(function: Callable[[Any], R], term: Term) -> R | None:
    """What a function of `once` has found for a term; None if it has not been asked."""
    try:
        found: R = term._memo[function.__wrapped__]  # type: ignore[attr-defined]  # `wraps` sets it
    except (AttributeError, KeyError):
        return None
    return found


def known(function: Callable[[Any], Any], term: Term, value: Any) -> None:
    """Keep what a function of `once` gives for a term, where it is known without being computed."""
    term.memo()[cast("Any", function).__wrapped__] = value
