"""Derived facts: each result of a function of a term is computed once, and kept on the term under the function itself.

>>> from hilbert.base.term import Term
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

Results are no part of the term's value, and no pickle carries them. Arguments beside the term must be hashable.
Results die with the term. Two threads may compute the same one at once; then all get that which was kept first.
"""

from __future__ import annotations

import functools
import os
from functools import wraps
from inspect import Parameter, signature
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload
from weakref import ref

from attrs import fields

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

F = TypeVar("F", bound="Callable[..., Any]")
R = TypeVar("R")


LOCK = RLock()
"""Held while something is put where several threads look for it; never while results are computed."""

if hasattr(os, "register_at_fork"):  # a forked process has none of the other threads, and would wait for one for ever
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


class Unchanging:
    """A base class for objects that never change: a copy is the object itself."""

    __slots__ = ()

    def __copy__(self) -> Self:
        """The object itself."""
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        """The object itself."""
        return self


class OfFields:
    """A base class whose pickles hold the fields alone: caches are no fields, and may grow while the pickle is made."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, f.name) for f in fields(type(self)))  # type: ignore[arg-type]


class Remembering(Unchanging):
    """A base class with a place for derived facts: terms, spaces, leaves."""

    __slots__ = ("_memo",)
    _memo: dict[Any, Any]

    def memo(self) -> dict[Any, Any]:
        """The place for facts derived from this object; not part of its value."""
        found: dict[Any, Any] | None = getattr(self, "_memo", None)
        if found is None:
            with LOCK:
                found = getattr(self, "_memo", None)
                if found is None:
                    found = {}
                    object.__setattr__(self, "_memo", found)
        return found


def first(kept: dict[Any, R], key: Any, made: R) -> R:
    """Keep a result under a key, unless another thread was quicker; give the one that is kept."""
    with LOCK:
        return kept.setdefault(key, made)


def latest(base: Any, X: Any, make: Callable[[Any, Any], R]) -> R:
    """make(base, X): the same object, where it is the last that was made of the base and still lives."""
    memo = base.memo()
    known = memo.get(make)
    found: Any = None if known is None else known()
    if found is None or found.index is not X:
        found = make(base, X)
        memo[make] = ref(found)
    return found  # type: ignore[no-any-return]


class cached_property(functools.cached_property[R]):
    """A property that is computed once, also where two threads ask at once: both get the same object."""

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> R: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Any:
        """The value that is kept, or computed now."""
        if instance is None:
            return self
        made = self.func(instance)
        return instance.__dict__.setdefault(self.attrname, made)  # type: ignore[arg-type]  # atomic: a str is the key


class WhileAlive:
    """A function whose results are kept as long as all of the weakly referenced arguments live.

    Those are the arguments of the classes `weakly`; neither other arguments nor a result may keep them alive.
    """

    def __init__(self, function: Callable[..., Any], weakly: tuple[type, ...]) -> None:
        self.function, self._weakly = function, weakly
        self._found: dict[Any, Any] = {}

    def __call__(self, *args: Any) -> Any:
        """The result, made at the first call with equal arguments."""
        found = self._found
        try:
            return found[tuple([ref(a) if isinstance(a, self._weakly) else a for a in args])]
        except KeyError:
            pass
        made = self.function(*args)
        key: list[Any] = []

        def gone(_: Any) -> None:
            found.pop(tuple(key), None)

        key += [ref(a, gone) if isinstance(a, self._weakly) else a for a in args]
        return first(found, tuple(key), made)

    def __len__(self) -> int:
        """The number of results that are kept."""
        return len(self._found)


def while_alive(*weakly: type) -> Callable[[F], F]:
    """A cache of a function that holds the arguments of some classes weakly."""

    def kept_so(function: F) -> F:
        return cast("F", wraps(function)(WhileAlive(function, weakly)))

    return kept_so


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
        return term.memo().setdefault(function, made)  # atomic: functions are compared by identity

    return found


def _of_more(function: Callable[..., Any]) -> Callable[..., Any]:
    places = [p for p in signature(function).parameters.values() if p.kind is not Parameter.KEYWORD_ONLY]
    usual = tuple(p.default for p in places[1:])
    count = len(usual)

    @wraps(function)
    def found(term: Any, *args: Any, **named: Any) -> Any:
        if len(args) < count:
            args += usual[len(args) :]
        key = (function, args, *sorted(named.items())) if named else (function, args)
        try:
            return term._memo[key]
        except (AttributeError, KeyError):
            pass  # an error of the function is not raised in the handling of this one
        made = function(term, *args, **named)
        return first(term.memo(), key, made)

    return found


def kept(function: Callable[[Any], R], term: Remembering) -> R | None:
    """The result that a function of `once` has kept for a term; None if the function was not called on it."""
    try:
        found: R = term._memo[function.__wrapped__]  # type: ignore[attr-defined]  # `wraps` sets it
    except (AttributeError, KeyError):
        return None
    return found


def known(function: Callable[[Any], Any], term: Remembering, value: Any) -> None:
    """Keep the result of a function of `once` for a term, where the result is known without being computed."""
    first(term.memo(), cast("Any", function).__wrapped__, value)
