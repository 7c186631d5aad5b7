"""A Python function that is run once on symbols, as a term: its operations on vectors are a series of programs.

Vectors are expressions of one line under construction, as in a traced function; variables of the term, and results of
unknown functions, are captured from outside. The line is cut where an unknown function is applied: a *call*.
`diff.datatypes.term.recorded_terms` makes the term of the line and the calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final

from diff.datatypes.kinds.conversion import fault
from diff.datatypes.kinds.kinds import Data, Function, Itself, Kind, Sequence, attributes, type_of
from diff.datatypes.kinds.layout import cycle
from diff.datatypes.term.recorded_terms import Call, Given, Recorded, literals, packed, series
from diff.datatypes.term.symbol_lines import Line, recordings
from diff.datatypes.term.symbols import Symbol
from diff.lam.term.binding import Pass, each
from diff.lam.term.inductive import list_term
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, Con, Lam, Pattern, Tuple, Var, fresh
from diff.lam.term.types import Ty
from diff.trace.expr import Expr
from hilbert import Type, Vec
from hilbert.base.term import driven
from hilbert.errors import shown
from hilbert.tracebacks import tracing

if TYPE_CHECKING:
    from collections.abc import Callable


@final
class UnknownFunction(Symbol):
    """A function that is an argument: a call of it is one of the term."""

    __slots__ = ()

    @property
    def __class__(self) -> Any:
        """The class itself: an unknown function may be asked for it, unlike other symbols, whose data are unknown."""
        return UnknownFunction

    @__class__.setter
    def __class__(self, cls: Any) -> None:
        self._refuse("another class")

    def __call__(self, *args: Any) -> Any:
        """The result of a call, as a symbol; raises TermError for arguments of other kinds."""
        kind = self.kind
        assert type(kind) is Function
        return current().call(kind.takes, args, kind.gives, lambda parts: App(self.var, packed(parts)))


@final
class PartSymbol(Symbol):
    """A part of the data that a function takes apart: the function may call itself on it, or pass it on; not both."""

    __slots__ = ("home", "owner", "result", "whole")

    def __init__(self, kind: Kind, var: Var, owner: Any, home: Recording) -> None:
        super().__init__(kind, var)
        self.owner, self.home = owner, home
        self.result: tuple[Pattern, Any] | None = None  # of the function at this part, once it is asked for
        self.whole = False  # True once the body reads the part itself, which a fold cannot express

    def term(self) -> AnyTerm:
        """The part itself."""
        self.whole = True
        return self.var

    def folded(self, gives: Kind) -> Any:
        """The result at this part, as a symbol."""
        if self.result is None:
            self.result = self.home.symbol(gives, self.var.name)
        return self.result[1]

    def results(self, ty: Ty) -> Var:
        """The results at all items of a sequence of parts."""
        if self.result is None:
            self.result = fresh(self.var.name, ty), None
        return self.result[0]  # type: ignore[return-value]  # a variable

    def pattern(self, gives: Ty | None) -> Pattern:
        """The pattern that stands for the part in a branch: its result in a fold of results `gives`, else the part."""
        if gives is None:
            return self.var
        return fresh(self.var.name, gives) if self.result is None else self.result[0]


def current() -> Recording:
    """The innermost function that is being run on symbols."""
    found = recordings.get()
    if not found:
        raise TermError("type", "an unknown function is called after its function was traced: pass it as an argument")
    innermost = found[-1]
    assert isinstance(innermost, Recording)
    return innermost


@final
class Recording(Line):
    """One run of a function on symbols."""

    def __init__(self, name: str, outer: Line | None = None) -> None:
        super().__init__(name, outer)
        self.calls: list[Call] = []

    def symbol(self, kind: Kind, name: str) -> tuple[Pattern, Any]:
        """A variable, or a tuple of them, and the symbol that stands for it."""
        if isinstance(kind, tuple):
            both = [self.symbol(part, name) for part in kind]
            return Tuple(tuple(p for p, _ in both)), tuple(v for _, v in both)
        x = fresh(name, type_of(kind))
        if isinstance(kind, Type):
            slots = self._captured(x, kind, tuple(range(len(self.known), len(self.known) + len(kind.leaves))), -1)
            return x, Expr(self.builder, kind, slots)
        return x, (UnknownFunction if type(kind) is Function else Symbol)(kind, x)

    def call(
        self, kinds: tuple[Kind, ...], args: tuple[Any, ...], gives: Kind, made: Callable[[list[AnyTerm]], AnyTerm]
    ) -> Any:
        """The result of a call on these arguments, as a symbol."""
        if len(args) != len(kinds):
            raise TermError("type", f"{len(args)} arguments are given, and {len(kinds)} are due")
        self._require_here()
        given: Given = []
        term = made([self.term(kind, arg, given) for kind, arg in zip(kinds, args, strict=True)])
        return self.let(term, given, gives)

    def let(self, term: AnyTerm, given: Given, gives: Kind) -> Any:
        """The value of a term that is bound here, as a symbol."""
        at = len(self.builder.steps)
        pattern, symbol = self.symbol(gives, "y")
        self.calls.append(Call(at, tuple(given), pattern, term))
        return symbol

    def _require_here(self) -> None:
        if self.builder.inner is not None:
            what = (
                f"{self.name} calls an unknown function, one on data, or itself, in the body of a loop, each or where"
            )
            remedy = (
                "do it outside, with data at hand as in fun(V)(lambda xs: each(lambda x: f(x, data), xs)), or write "
            )
            raise TermError("tag", f"{what}: {remedy}case(v, …) and folded(step, start, items)")

    # --- values as terms ---

    def term(self, kind: Kind, value: Any, given: Given) -> AnyTerm:
        """A value of a kind as a term; expressions in it are variables that `given` has the slots of.

        Raises TermError for one of another kind, and `infinite` for data that hold themselves.
        """
        made: AnyTerm = driven(self._term(kind, value, given, set()))
        return made

    def _term(self, kind: Kind, value: Any, given: Given, above: set[int]) -> Pass:
        """The pass of `term`; `above` are the data that hold the value, by their identities."""
        if issubclass(type(value), Symbol):
            if type_of(value.kind) is not type_of(kind):
                raise TermError("type", f"a value of {value.kind} where one of {kind} is due")
            return value.term()
        wrong = fault(kind, value)
        if wrong is not None:
            raise wrong
        match kind:
            case tuple():
                pairs = zip(kind, value, strict=True)
                return Tuple(tuple((yield each(lambda pair: self._term(pair[0], pair[1], given, above), pairs))))
            case Data():
                if id(value) in above:
                    raise cycle(type(value).__name__)
                above.add(id(value))
                fields = [(of, getattr(value, name)) for name, of in attributes(kind, type(value))]
                parts = yield each(lambda pair: self._term(pair[0], pair[1], given, above), fields)
                above.remove(id(value))
                return Con(type(value).__name__, kind.core, packed(parts))
            case Sequence(of):
                items = yield each(lambda item: self._term(of, item, given, above), value)
                return list_term(items, kind.core)
            case Function(takes, gives):
                pattern, body, _ = self.abstraction(takes, value, given, gives)
                return Lam(pattern, body)
            case Type():
                return self._vector(kind, value, given)
            case Itself():  # where a field recurs it is closed
                raise TypeError(kind)
            case never:
                assert_never(never)

    def _vector(self, space: Type, value: Any, given: Given) -> AnyTerm:
        if isinstance(value, Vec):
            return literals(space, value)
        if value.builder is not self.builder:
            message = f"{shown(value)} belongs to another function, or to a body that is complete: return it from there"
            raise TermError("unbound", message)
        return self.variable(space, value.slots, given)

    def abstraction(
        self,
        kinds: tuple[Kind, ...],
        function: Any,
        given: Given,
        gives: Kind | None,
        symbols: Any = None,
    ) -> tuple[Pattern, AnyTerm, Kind]:
        """λ of a Python function on symbols of these kinds: its pattern, its body, and the kind of its result."""
        self._require_here()
        inner = Recording(self.name, self)
        both = [inner.symbol(kind, "x") for kind in kinds] if symbols is None else symbols(inner)
        self.builder.inner = inner.builder
        try:
            body, found = inner.run(function, [v for _, v in both], gives)
        finally:
            self.builder.inner = None
        for x, space, slots in inner.outside:
            given.append((x, space, slots))
        return packed([p for p, _ in both]), body, found  # type: ignore[return-value]  # of patterns

    # --- running ---

    def run(self, function: Callable[..., Any], symbols: list[Any], gives: Kind | None) -> tuple[AnyTerm, Kind]:
        """The term that a Python function computes of symbols, and the kind of its result if that is not given."""
        around = tracing.set((*tracing.get(), self.builder))
        outer = recordings.set((*recordings.get(), self))
        try:
            value = function(*symbols)
            kind = kind_of(value) if gives is None else gives
            given: Given = []
            result = self.term(kind, value, given)
            self._captures()
        finally:
            tracing.reset(around)
            recordings.reset(outer)
            self.builder.traced, self.builder.watch = True, None
        calls = [*self.calls, Call(len(self.builder.steps), tuple(given), None, result)]
        return series(Recorded(self.name, self.builder, self.known, self.slots), calls), kind


def kind_of(value: Any) -> Kind:
    """The kind of a result; raises TermError where that has to be given."""
    if issubclass(type(value), Symbol):
        kind: Kind = value.kind
        return kind
    if isinstance(value, (Expr, Vec)):
        space: Type = value.space
        return space
    if isinstance(value, tuple):
        return tuple(map(kind_of, value))
    raise TermError("type", f"a result is vectors, data or tuples of them, not {shown(value)}: say its kind, to=…")
