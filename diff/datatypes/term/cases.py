"""`case`, `on` and `folded`: values that are taken apart, also where they are not known while a term is traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

import attrs

from diff.datatypes.kinds.kinds import Data, Kind, Sequence, type_of
from diff.datatypes.term.symbolic import PartSymbol, Recording, current, kind_of
from diff.datatypes.term.symbols import Symbol
from diff.lam.term.inductive import list_of
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import Branch, Case, Fold, Tuple, fresh, pattern_type
from hilbert.base.attach import overloaded
from hilbert.errors import is_number, shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Several

    from diff import _calls

S = TypeVar("S")
T = TypeVar("T")
X = TypeVar("X")
Y = TypeVar("Y")
S_contra = TypeVar("S_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)


@final
@attrs.frozen
class Alternatives(Generic[S_contra, T_co]):
    """Functions for values of some classes, one for each: see `on`."""

    cases: tuple[tuple[type[Any], Callable[[Any], Any]], ...]

    def __or__(self, other: Alternatives[X, Y]) -> Alternatives[S_contra | X, T_co | Y]:
        """These alternatives and others; raises TermError for what are none."""
        if not isinstance(other, Alternatives):
            raise TermError("type", f"on(A, f) | on(B, g) joins alternatives, not one and {shown(other)}")
        return Alternatives(self.cases + other.cases)


def on(cls: type[S], then: Callable[[S], T]) -> Alternatives[S, T]:
    """An alternative of `case`: a function of values of one class. Raises TermError for another class or function."""
    if not isinstance(cls, type) or not callable(then):
        raise TermError("type", f"on(A, f) takes a class and a function, not {shown(cls)} and {shown(then)}")
    return Alternatives(((cls, then),))


def case(v: S, alternatives: Alternatives[S, T]) -> T:
    """case(v, on(A, f) | on(B, g)): f(v) or g(v), by the class of v; also where v is not known while a term is traced.

    Raises TermError `branches` for a class that is missing and, while a term is traced, for one that is given twice or
    none of the data; `type` for what are no alternatives, and for a symbol that is no data.
    """
    if not isinstance(alternatives, Alternatives):
        raise TermError("type", f"case(v, on(A, f) | on(B, g)) takes alternatives, not {shown(alternatives)}")
    made: T = _case(v, alternatives.cases)
    return made


def _case(v: Any, alternatives: Several[tuple[type[Any], Callable[[Any], Any]]]) -> Any:
    if not issubclass(type(v), Symbol):
        for cls, then in alternatives:
            if type(v) is cls:
                return then(v)
        raise TermError("branches", f"case(v, …) has no alternative for the class {type(v).__name__}")
    kind: Any = v.kind
    if type(kind) is not Data:
        raise TermError("type", f"case(v, …) takes data apart, not a value of {kind}")
    given = [cls.__name__ for cls, _ in alternatives]
    due = [cls.__name__ for cls in kind.classes]
    if sorted(given) != sorted(due):
        raise TermError(
            "branches", f"case(v, …) of {kind} has alternatives for {', '.join(given)}; due are {', '.join(due)}"
        )
    here = current()
    slots: list[Any] = []
    branches: dict[str, Branch] = {}
    gives: Kind | None = None
    for cls, then in alternatives:
        fields = kind.at(cls)

        def body(*parts: Any, cls: Any = cls, then: Any = then, fields: Any = fields) -> Any:
            return then(cls(**dict(zip([name for name, _ in fields], parts, strict=True))))

        pattern, made, gives = here.abstraction(tuple(of for _, of in fields), body, slots, gives)
        branches[cls.__name__] = Branch(cls.__name__, pattern, made)
    assert gives is not None
    return here.let(Case(v.term(), tuple(branches[label] for label in due)), slots, gives)


@overloaded(lambda: _calls.folded)
def folded(step: Any, start: Any, items: Any) -> Any:
    """step(x₁, step(x₂, … step(xₙ, start))): a right fold; also over items that are not known while a term is traced.

    In a function that calls itself on parts of data, the items may be such parts.
    """
    if not callable(step):
        raise TermError("type", f"folded(step, start, items) takes a function, not {shown(step)}")
    if not issubclass(type(items), Symbol):
        if not isinstance(items, tuple | list):
            raise TermError("type", f"folded(step, start, items) goes over a tuple, not over {shown(items)}")
        for item in reversed(items):
            start = step(item, start)
        return start
    symbol: Any = items
    if type(symbol.kind) is not Sequence:
        raise TermError("type", f"folded(step, start, items) goes over a sequence, not over a value of {symbol.kind}")
    if is_number(start):
        raise TermError("type", f"folded(step, start, items) starts from vectors: write R.vec({start}), not {start}")
    here = current()
    of = symbol.kind.of
    slots: list[Any] = []
    try:
        gives = kind_of(start)
    except TermError:
        what = "folded(step, start, items) starts from vectors, from data that the function is given, or tuples of them"
        raise TermError("type", f"{what}, not from {shown(start)}") from None
    first = here.term(gives, start, slots)
    parts: list[Any] = []

    def symbols(inner: Recording) -> list[Any]:
        if type(symbol) is PartSymbol:
            x = fresh("e", type_of(of))
            parts.append(PartSymbol(of, x, symbol.owner, inner))
            return [(x, parts[0]), inner.symbol(gives, "a")]
        return [inner.symbol(of, "e"), inner.symbol(gives, "a")]

    pattern, body, _ = here.abstraction((of, gives), step, slots, gives, symbols)
    found: Any = parts[0].result if parts else None
    if found is None:
        ty, over = symbol.kind.core, symbol.term()
    else:
        one = found[0]
        ty = list_of(pattern_type(one))
        over, pattern = symbol.results(ty), Tuple((one, pattern.parts[1]))  # type: ignore[union-attr]  # of a pair
    branches = (Branch("Nil", Tuple(()), first), Branch("Cons", pattern, body))
    return here.let(Fold(ty, over, branches), slots, gives)
