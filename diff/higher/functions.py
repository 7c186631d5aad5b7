"""Functions on data: Python functions that are terms, too; their terms, and their programs for arguments of one shape.

The term is made when it is asked for: the body is run once for each class of the last argument of data, and a call of
the function itself on a part of that argument is the result of the fold there. See `diff.higher.surface`.
"""

from __future__ import annotations

import inspect
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar, final, overload

from diff.expr import Expr, tracing
from diff.higher.conversion import fault, from_core, to_core
from diff.higher.errors import TermError
from diff.higher.evaluate import call, evaluate
from diff.higher.inductive import list_of
from diff.higher.instance import Form, Instance
from diff.higher.kinds import Data, Itself, Kind, Sequence, type_of
from diff.higher.layout import Key, reader, taken
from diff.higher.misfits import misfit
from diff.higher.recorded import packed
from diff.higher.symbolic import PartSymbol, Recording, TakenApart, WholeSymbol, current, recordings
from diff.higher.terms import AnyTerm, App, Branch, Case, Fold, Lam, Pattern, fresh
from diff.higher.types import Ty
from diff.higher.values import shape_of, stacked
from diff.lower import Shaped
from diff.origin import origin, understood
from hilbert import SpaceError, Type, Vec
from hilbert.once import Remembering, first, kept, once

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.programs import AnyProgram

P = ParamSpec("P")
Q = ParamSpec("Q")
X = TypeVar("X")
Y = TypeVar("Y")


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


@final
class TermFunction(Remembering, Shaped, Generic[P, Q, X, Y]):
    """A Python function on data, which is also a term: see `term`."""

    def __init__(self, body: Callable[..., Any], kinds: tuple[Kind, ...], to: Kind | None) -> None:
        self.body, self.kinds, self._to = body, kinds, to
        self.name = getattr(body, "__name__", "f").strip("<>")
        self._reader, self._forms = reader(kinds), dict[Key, Form]()
        self._vectors = [(k, kind) for k, kind in enumerate(kinds) if isinstance(kind, Type)]
        update_wrapper(self, body)

    def __repr__(self) -> str:
        made = kept(TermFunction._traced, self)
        gives = self._to if made is None else made[1]
        kinds = self.kinds if len(self.kinds) != 1 else self.kinds[0]
        return f"<{self.name} : {type_of(kinds)} → {'…' if gives is None else type_of(gives)}>"

    def __reduce__(self) -> str:
        """By the name under which its module has it, as Python's functions are pickled."""
        return self.body.__qualname__

    # --- as a Python function ---

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> X: ...
    @overload
    def __call__(self, *args: Q.args, **kwargs: Q.kwargs) -> Y: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value at data, by the Python function itself; on expressions and symbols that of the term.

        Raises TermError: `shape` for a vector of another space, `type` for what is none; in a body `recursion` for a
        call of itself on what is no part of its argument or with other arguments.
        """
        if kwargs or len(args) != len(self.kinds):
            args = self._positional(args, kwargs)
        if not tracing.get():
            for k, kind in self._vectors[: len(args)]:
                space = getattr(args[k], "space", None)
                if space is not kind and space != kind:
                    self._require_kinds(args)
            try:
                found = self.body(*args)
            except RecursionError:  # data that are deeper than Python's stack: the evaluator has none
                return self.evaluated(*args)
            if found is None:
                some = [type(arg) for arg, kind in zip(args, self.kinds, strict=False) if isinstance(kind, Data)]
                raise self._nothing(some[-1] if some else None)
            return found
        if not recordings.get():
            return self.evaluated(*args)
        if len(args) != len(self.kinds):
            raise TermError("type", f"{self.name} takes {len(self.kinds)} arguments, not {len(args)}")
        running = self._running()
        if running is not None:
            return self._again(running, args)
        return current().call(self.kinds, args, self.result, lambda parts: App(self.term, packed(parts)))

    def _nothing(self, cls: type[Any] | None) -> TermError:
        """What is wrong where the function gives None, for values of a class."""
        if cls is None:
            return TermError("type", f"{self.name} gives None: let it return its result")
        message = f"{self.name} gives None for {cls.__name__}: write case {cls.__name__}(…), which returns its result"
        return TermError("branches", message)

    def _require_kinds(self, args: tuple[Any, ...]) -> None:
        """Raise TermError for the first argument that is not of its kind, with the way to what does not fit."""
        names = parameters(self.body, len(self.kinds))
        found = misfit(self.kinds, args, names)
        if found is None:
            return
        k, wrong = found
        fits = [str(j + 1) for j, kind in enumerate(self.kinds) if j != k and fault(kind, args[k]) is None]
        is_whole = fault(self.kinds[k], args[k]) is not None
        what = f"argument {k + 1} of {self.name}{f', {names[k]}' if is_whole else ''}"
        if is_whole and fits:  # which is the remedy
            swapped = f"{what} (it would fit as argument {', '.join(fits)}): {wrong.message.partition(': ')[0]}"
            raise TermError(wrong.code, swapped)
        raise TermError(wrong.code, f"{what}: {wrong.message}")

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        try:
            return inspect.signature(self.body).bind(*args, **kwargs).args
        except TypeError as error:
            due, given = len(self.kinds), len(args) + len(kwargs)
            what = f"{self.name}({', '.join(parameters(self.body, due))})"
            why = f"{what}: {error}" if due == given else f"{what} takes {due} arguments, not {given}"
            raise TermError("type", why) from None

    def evaluated(self, *args: Any) -> Any:
        """The value of the term at data, which may hold expressions of a traced function."""
        return from_core(self.result, call(evaluate(self.term), self._argument(args)))

    def _argument(self, args: tuple[Any, ...]) -> Any:
        if len(args) != len(self.kinds):
            raise TermError("type", f"{self.name} takes {len(self.kinds)} arguments, not {len(args)}")
        try:
            values = to_core(self.kinds, args)
        except TermError:
            self._require_kinds(args)
            raise
        return values[0] if len(args) == 1 else values

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
        """What is wrong with a call of itself on no part of its argument."""
        runs = [one.of for one in recordings.get() if one.of is not None]
        others = ", ".join(run.function.name for run in runs[runs.index(running) + 1 :])
        if not others:
            return TermError("recursion", f"{self.name} calls itself on something that is no part of its argument")
        message = f"{self.name} and {others} call each other, and recursion is of one function on the parts of its "
        return TermError(
            "recursion", f"{message}argument: write one function that gives their results as a tuple, to=…"
        )

    # --- as a term ---

    @property
    def term(self) -> AnyTerm:
        """λ⟨x, …⟩. t. Raises TermError, with the line of the body, for what is no term."""
        return self._traced()[0]

    @property
    def result(self) -> Kind:
        """The kind of its results."""
        return self._traced()[1]

    @once
    def _traced(self) -> tuple[AnyTerm, Kind]:
        try:
            return self._made()
        except RecursionError as error:
            if not recordings.get():  # it is the data that are deep
                raise
            message = f"{self.name} calls functions that call others, too many in each other for Python's stack"
            raise _placed(TermError("recursion", message)) from error
        except (TypeError, AttributeError, SpaceError) as error:
            around = recordings.set(())  # symbols may be described now
            try:
                made = _described(error, self.body)
            finally:
                recordings.reset(around)
            if made is None or _is_placed(error):
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
        """What a branch binds, field by field, and its body."""
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
                raise self._nothing(cls)
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

    # --- as a program ---

    def at(self, *args: Any, **kwargs: Any) -> Instance:
        """The function for all arguments of the shape of these. Raises TermError for arguments of other kinds."""
        if kwargs or len(args) != len(self.kinds):
            args = self._positional(args, kwargs)
        try:
            read = taken(self._reader, args)
        except TermError:
            self._require_kinds(args)
            raise
        if read is None:  # arguments of other kinds, or with expressions in them
            shape, leaves = shape_of(stacked(self._argument(args)))
            return Instance(Form(self.term, self.kinds, self.result, shape, None), leaves)
        key, vectors = read
        form = self._forms.get(key)
        if form is None:
            shape, _ = shape_of(stacked(self._argument(args)))
            form = first(self._forms, key, Form(self.term, self.kinds, self.result, shape, key))
        return Instance(form, vectors)

    def program_at(self, at: Any) -> AnyProgram:
        """See `diff.program`."""
        return self.at(*(at if isinstance(at, tuple) and len(self.kinds) != 1 else (at,))).program


AnyTermFunction: TypeAlias = TermFunction[..., ..., Any, Any]
"""A function on data of any arguments."""


def _placed(error: TermError) -> TermError:
    """The error, marked so that the functions around that where it arose leave it as it is."""
    error.__dict__["is_placed"] = True
    return error


def _is_placed(error: Exception) -> bool:
    """Whether a function on data said already where it arose."""
    return "is_placed" in error.__dict__


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
    """What a branch binds to a field, which is a pattern or a part; of a fold the results at parts."""
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
