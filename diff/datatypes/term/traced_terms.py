"""The term of a Python function on data: its body is run on symbols, once for each class of the data it takes apart.

A call of the function itself on a part of these data is the result of the fold there.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, final

from diff.datatypes.kinds.kinds import Data, Itself, Kind, Sequence, type_of
from diff.datatypes.kinds.misfits import nothing
from diff.datatypes.term.recorded_terms import packed
from diff.datatypes.term.symbol_lines import recordings
from diff.datatypes.term.symbolic import PartSymbol, Recording
from diff.datatypes.term.symbols import TakenApart, WholeSymbol
from diff.lam.term.inductive import list_of
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, Branch, Case, Fold, Lam, Pattern, fresh
from diff.lam.term.types import Ty
from diff.trace.error_place import origin, understood
from diff.trace.expr import Expr
from hilbert import SpaceError, Type, Vec
from hilbert.base.once import Remembering, once
from hilbert.tracebacks import shortened

if TYPE_CHECKING:
    from collections.abc import Callable


class _Later(Exception):  # noqa: N818 - no error: the branch is run again
    """A function calls itself before the kind of its result is known."""


@final
class Running:
    """A run of a function on symbols: the argument that is taken apart, and the kind of the result once it is known.

    `by` is the class whose branch has made it known.
    """

    def __init__(self, function: Any, at: int | None, args: list[Any], result: Kind | None) -> None:
        self.function, self.at, self.args, self.result = function, at, args, result
        self.by: type[Any] | None = None


class Traced(Remembering):
    """A Python function of these kinds, and its term, made when asked for; `to` is the kind of the result, if given."""

    def __init__(self, body: Callable[..., Any], kinds: tuple[Kind, ...], to: Kind | None) -> None:
        self.body, self.kinds, self._to = body, kinds, to
        self.name = getattr(body, "__name__", "f").strip("<>")

    @once
    @shortened
    def _traced(self) -> tuple[AnyTerm, Kind]:
        try:
            return self._made()
        except RecursionError as error:
            if not recordings.get():  # no trace is running: the recursion is over the user's data, which are deep
                raise
            message = f"{self.name} calls functions that call others, too many in each other for Python's stack"
            raise _placed(TermError("recursion", message)) from error
        except (TypeError, AttributeError, SpaceError) as error:
            around = recordings.set(())  # symbols may be described now
            try:
                made = _described(error, self.body)
            finally:
                recordings.reset(around)
            if made is None or "is_placed" in error.__dict__:
                raise
            raise _placed(made) from error

    def _made(self) -> tuple[AnyTerm, Kind]:
        places = [k for k, kind in enumerate(self.kinds) if isinstance(kind, Data)]
        if places:
            try:
                return self._recorded(None, places[-1])
            except TakenApart:  # and so it is run for each class
                return self._recorded(places[-1], None)
        return self._recorded(None, None)

    def _recorded(self, at: int | None, whole: int | None) -> tuple[AnyTerm, Kind]:
        """λ⟨x, …⟩. t, where the argument `at` is taken apart, and `whole` must not be."""
        outer = Recording(self.name)
        names = parameters(self.body, len(self.kinds))
        both = [outer.symbol(kind, name) for kind, name in zip(self.kinds, names, strict=True)]
        patterns, symbols = [p for p, _ in both], [v for _, v in both]
        if whole is not None:
            symbols[whole] = WholeSymbol(symbols[whole].kind, symbols[whole].var)
        outer.of = running = Running(self, at, symbols, self._to)
        body = self.body if at is None else lambda *_: self._taken_apart(outer, running)
        made, gives = outer.run(body, symbols, self._to)
        return Lam(packed(patterns), made), gives  # type: ignore[arg-type]  # of patterns

    def _taken_apart(self, outer: Recording, running: Running) -> Any:
        """The case or fold of the data that are taken apart: the body is run once for each class."""
        kind: Any = self.kinds[running.at]  # type: ignore[index]  # there are some
        left = list(kind.classes)
        branches: dict[str, tuple[list[Any], AnyTerm]] = {}
        given: list[Any] = []
        while left:
            later = []
            for cls in left:
                try:
                    branches[cls.__name__] = self._branch(outer, running, cls, given)
                except _Later:
                    later.append(cls)
            if len(later) == len(left):
                message = f"the result of {self.name} is not known where it calls itself: give its kind, term(…, to=…)"
                raise TermError("recursion", message)
            left = later
        parts = [p for fields, _ in branches.values() for p in fields if type(p) is PartSymbol]
        recursive = any(p.result is not None for p in parts)
        if recursive and any(p.whole for p in parts):
            message = (
                f"{self.name} calls itself on parts of its argument and uses such a part itself, too: a fold has the "
            )
            raise TermError(
                "recursion", f"{message}results of the parts only; give what it needs of the part as a result"
            )
        gives = running.result
        assert gives is not None  # a branch has been run
        result = type_of(gives)
        made = []
        for cls in kind.classes:
            fields, body = branches[cls.__name__]
            bound = [_pattern(field, result if recursive else None) for field in fields]
            made.append(Branch(cls.__name__, packed(bound), body))  # type: ignore[arg-type]  # of patterns
        of = running.args[running.at].var  # type: ignore[index]
        term = Fold(kind.core, of, made) if recursive else Case(of, made)
        return outer.let(term, given, gives)

    def _branch(self, outer: Recording, running: Running, cls: type[Any], given: list[Any]) -> Any:
        """The patterns or parts that a branch binds, field by field, and its body."""
        kind: Any = self.kinds[running.at]  # type: ignore[index]
        fields: list[Any] = []

        def bound(inner: Recording) -> list[Any]:
            both = []
            own = kind.fields[kind.classes.index(cls)]
            for (name, of), (_, closed) in zip(own, kind.at(cls), strict=True):
                if isinstance(of, Itself) or (isinstance(of, Sequence) and isinstance(of.of, Itself)):
                    x = fresh(name, type_of(closed))
                    symbol: Any = PartSymbol(closed, x, self, inner)
                    pattern: Pattern = x
                else:
                    pattern, symbol = inner.symbol(closed, name)
                fields.append(symbol if type(symbol) is PartSymbol else pattern)
                both.append((pattern, symbol))
            return both

        def body(*parts: Any) -> Any:
            names = [name for name, _ in kind.at(cls)]
            value = cls(**dict(zip(names, parts, strict=True)))
            found = self.body(*(value if k == running.at else one for k, one in enumerate(running.args)))
            if found is None:
                raise nothing(self.name, self.kinds, cls)
            due = running.result
            if isinstance(due, Type) and isinstance(found, (Expr, Vec)) and found.space != due:
                other = f"one of {due} for {running.by.__name__}" if running.by else f"to={due!r} says {due}"
                message = f"{self.name} gives a vector of {found.space} for {cls.__name__}, and {other}: give one space"
                raise TermError("shape", message)
            return found

        is_first = running.result is None
        _, term, running.result = outer.abstraction((), body, given, running.result, bound)
        running.by = cls if is_first else running.by
        return fields, term

    # --- calls of itself ---

    def _running(self) -> Running | None:
        """The run of this function on symbols that is going on."""
        return next((one.of for one in recordings.get() if one.of is not None and one.of.function is self), None)

    def _again(self, running: Running, args: tuple[Any, ...]) -> Any:
        """The result at a part of the argument."""
        at = running.at
        part: Any = None if at is None else args[at]
        if type(part) is not PartSymbol or part.owner is not self:
            raise self._no_part(running)
        for k, (arg, mine) in enumerate(zip(args, running.args, strict=True)):
            if k != at and not _is_same(arg, mine):
                message = (
                    f"{self.name} calls itself with another argument {k + 1}: recursion is on parts of the data, and "
                )
                raise TermError("recursion", f"{message}all else stays; give a function of what varies, to=arrow(…)")
        if running.result is None:
            raise _Later
        return part.folded(running.result)

    def _no_part(self, running: Running) -> TermError:
        """The error for a function that calls itself on something that is no part of its argument."""
        runs = [one.of for one in recordings.get() if one.of is not None]
        others = ", ".join(run.function.name for run in runs[runs.index(running) + 1 :])
        if not others:
            return TermError("recursion", f"{self.name} calls itself on something that is no part of its argument")
        both = f"{self.name} and {others} call each other"
        remedy = (
            "recursion is of one function on the parts of its argument: write one that gives both results, to=(V, W)"
        )
        return TermError("recursion", f"{both}, and {remedy}")


def _placed(error: TermError) -> TermError:
    """The error, marked so that the functions around that where it arose leave it as it is."""
    error.__dict__["is_placed"] = True
    return error


def _described(error: Exception, body: Any) -> TermError | None:
    """A mistake in a body, with its line; None for what is none of ours."""
    if isinstance(error, TermError):
        return TermError(error.code, f"{error.message}{origin(error, body)}")
    if isinstance(error, SpaceError):
        return TermError("shape", f"{error}{origin(error, body)}")
    text = understood(error) if isinstance(error, (TypeError, AttributeError)) else None
    return TermError("type", f"{text}{origin(error, body)}") if text else None


def _is_same(a: Any, b: Any) -> bool:
    if type(a) is Expr and type(b) is Expr:
        return a._builder is b._builder and a._slots == b._slots
    if type(a) is tuple and type(b) is tuple:
        return len(a) == len(b) and all(map(_is_same, a, b))
    return a is b


def _pattern(field: Any, gives: Ty | None) -> Pattern:
    """The pattern of a field in a branch; of a part of a fold, with results of type `gives`, that of its result."""
    if type(field) is not PartSymbol:
        return field  # type: ignore[no-any-return]
    many = gives is not None and isinstance(field.kind, Sequence)
    return field.pattern(list_of(gives) if many and gives is not None else gives)


def parameters(body: Any, count: int) -> list[str]:
    """The names of the parameters of a function; raises TermError unless there are so many."""
    try:
        names = list(inspect.signature(body).parameters)
    except (TypeError, ValueError):
        names = []
    if len(names) != count:
        given = f"{count} argument{'' if count == 1 else 's'}"
        raise TermError("type", f"term(…) gives {given} to its function, whose parameters are ({', '.join(names)})")
    return names
