"""Python functions on data as terms: variants, trees and functions as arguments, `match`, recursion on parts.

>>> from hilbert import R, Scalar
>>> from diff import Expr, case, data, folded, on, program, sequence, tanh, term, variant
>>> @variant
... class Leaf:
...     value: Expr[Scalar]
>>> @variant
... class Node:
...     left: "Leaf | Node"
...     right: "Leaf | Node"
>>> tree = data(Leaf, Node, value=R)
>>> @term(R, tree)
... def encode(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
...     match t:
...         case Leaf(value):
...             return value
...         case Node(left, right):
...             return tanh(w * encode(w, left) + encode(w, right))
>>> t = Node(Leaf(R.vec(1.0)), Node(Leaf(R.vec(2.0)), Leaf(R.vec(3.0))))
>>> print(encode(R.vec(0.5), t))
0.9050269800500141 ∈ ℝ
>>> print(encode.term)
λ⟨w, t⟩. fold t of {Leaf value → value | Node ⟨left, right⟩ → tanh(w·left+right)}
>>> print(program(encode, at=(R.vec(0.5), t)))
(x₁, x₂, x₃, x₄) ↦ tanh(x₁·x₂+tanh(x₁·x₃+x₄))

Called on data, a function is the Python function that it is. Its term is made when a program is asked for, or where it
is called on expressions: the body is run once for each class of its last argument of data, and a call of the function
itself on parts of that argument is the result of the fold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, final, overload

import attrs

from diff.expr import Expr
from diff.higher.errors import TermError
from diff.higher.functions import TermFunction, parameters
from diff.higher.inductive import list_of
from diff.higher.kinds import (
    Data,
    Kind,
    Sequence,
    Values,
    is_kind,
    type_of,
)
from diff.higher.symbolic import PartSymbol, Recording, Symbol, current, kind_of
from diff.higher.terms import Branch, Case, Fold, Tuple, fresh, pattern_type
from hilbert import SpaceError, Type, Vec
from hilbert.errors import is_number, shown
from hilbert.vector import require_vector

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Sequence as Several


P = ParamSpec("P")
Q = ParamSpec("Q")
A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
W = TypeVar("W", bound=Type)
S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")
X = TypeVar("X")
Y = TypeVar("Y")
S_contra = TypeVar("S_contra", contravariant=True)
T_co = TypeVar("T_co", covariant=True)


@final
class TermMaker(Generic[P, Q]):
    """What `term(…)` returns: a decorator of functions of these arguments."""

    __slots__ = ("_kinds", "_to")

    def __init__(self, kinds: tuple[Kind, ...], to: Kind | None) -> None:
        self._kinds, self._to = kinds, to

    @overload
    def __call__(self, body: Callable[P, Expr[W]], /) -> TermFunction[P, Q, Expr[W], Vec[W]]: ...
    @overload
    def __call__(self, body: Callable[P, T], /) -> TermFunction[P, Q, T, T]: ...
    def __call__(self, body: Any, /) -> Any:
        """The function as a term; it is not run. Raises TermError for what is no function of as many arguments."""
        if not callable(body):
            raise TermError("type", f"term(…)(f) takes a Python function, not {shown(body)}")
        parameters(body, len(self._kinds))
        return TermFunction(body, self._kinds, self._to)


@overload
def term(a: A, /, *, to: Kind | None = None) -> TermMaker[[Expr[A]], [Vec[A]]]: ...
@overload
def term(a: Values[S], /, *, to: Kind | None = None) -> TermMaker[[S], [S]]: ...
@overload
def term(a: A, b: B, /, *, to: Kind | None = None) -> TermMaker[[Expr[A], Expr[B]], [Vec[A], Vec[B]]]: ...
@overload
def term(a: A, b: Values[T], /, *, to: Kind | None = None) -> TermMaker[[Expr[A], T], [Vec[A], T]]: ...
@overload
def term(a: Values[S], b: B, /, *, to: Kind | None = None) -> TermMaker[[S, Expr[B]], [S, Vec[B]]]: ...
@overload
def term(a: Values[S], b: Values[T], /, *, to: Kind | None = None) -> TermMaker[[S, T], [S, T]]: ...
@overload
def term(
    a: A, b: B, c: C, /, *, to: Kind | None = None
) -> TermMaker[[Expr[A], Expr[B], Expr[C]], [Vec[A], Vec[B], Vec[C]]]: ...
@overload
def term(
    a: A, b: B, c: Values[U], /, *, to: Kind | None = None
) -> TermMaker[[Expr[A], Expr[B], U], [Vec[A], Vec[B], U]]: ...
@overload
def term(
    a: A, b: Values[T], c: C, /, *, to: Kind | None = None
) -> TermMaker[[Expr[A], T, Expr[C]], [Vec[A], T, Vec[C]]]: ...
@overload
def term(
    a: A, b: Values[T], c: Values[U], /, *, to: Kind | None = None
) -> TermMaker[[Expr[A], T, U], [Vec[A], T, U]]: ...
@overload
def term(
    a: Values[S], b: B, c: C, /, *, to: Kind | None = None
) -> TermMaker[[S, Expr[B], Expr[C]], [S, Vec[B], Vec[C]]]: ...
@overload
def term(
    a: Values[S], b: B, c: Values[U], /, *, to: Kind | None = None
) -> TermMaker[[S, Expr[B], U], [S, Vec[B], U]]: ...
@overload
def term(
    a: Values[S], b: Values[T], c: C, /, *, to: Kind | None = None
) -> TermMaker[[S, T, Expr[C]], [S, T, Vec[C]]]: ...
@overload
def term(a: Values[S], b: Values[T], c: Values[U], /, *, to: Kind | None = None) -> TermMaker[[S, T, U], [S, T, U]]: ...
@overload
def term(*kinds: Type | Values[Any], to: Kind | None = None) -> TermMaker[..., ...]: ...
def term(*kinds: Any, to: Any = None) -> Any:
    """term(V, tree)(f): a Python function of vectors and data as a term; `to` is the kind of its result.

    `to` is found by tracing but for functions, and where each branch calls the function itself. Raises TermError for
    what is no space and no set of values.
    """
    if not kinds:
        raise TermError("type", "term needs at least one space or set of values: term(V, data(…))(f)")
    for kind in kinds:
        if not isinstance(kind, (Type, Values)):
            what = "a space, data(…), sequence(…) or arrow(…)"
            raise TermError("type", f"term(…) takes {what}, not {shown(kind)}; apply it to the function: term(V)(f)")
    if to is not None and not is_kind(to):
        raise TermError(
            "type", f"term(…, to=…) takes a space, data(…), sequence(…) or a tuple of them, not {shown(to)}"
        )
    return TermMaker(kinds, to)


@final
@attrs.frozen
class Alternatives(Generic[S_contra, T_co]):
    """What to do with values of some classes: see `on`."""

    cases: tuple[tuple[type[Any], Callable[[Any], Any]], ...]

    def __or__(self, other: Alternatives[X, Y]) -> Alternatives[S_contra | X, T_co | Y]:
        """These and others; raises TermError for what are none."""
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

    Raises TermError `branches` for a class that is missing, given twice or none of the data.
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


@overload
def folded(step: Callable[[S, Expr[W]], Expr[W]], start: Vec[W], items: tuple[S, ...]) -> Expr[W]: ...
@overload
def folded(step: Callable[[S, T], T], start: T, items: tuple[S, ...]) -> T: ...
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


def as_vector(x: Expr[A] | Vec[A]) -> Vec[A]:
    """The vector that a field of data holds, which is annotated `Expr[V]`: its type for checkers, and `x.array` of it.

    Raises SpaceError for an expression of a function that is being traced, and for other things.
    """
    if isinstance(x, Expr):
        raise SpaceError(f"as_vector(x): an expression of {x.space} has no entries while its function is traced")
    require_vector(x, "as_vector(x)")
    return x
