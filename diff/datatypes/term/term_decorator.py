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

from diff.datatypes.kinds.kinds import Kind, Values, is_kind
from diff.datatypes.term.term_functions import TermFunction
from diff.datatypes.term.traced_terms import parameters
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr
from hilbert import SpaceError, Type, Vec
from hilbert.errors import shown
from hilbert.space.vector import require_vector

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
Q = ParamSpec("Q")
A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
W = TypeVar("W", bound=Type)
S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")


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


def as_vector(x: Expr[A] | Vec[A]) -> Vec[A]:
    """The vector that a field of data holds, which is annotated `Expr[V]`: its type for checkers, and `x.array` of it.

    Raises SpaceError for an expression of a function that is being traced, and for other things.
    """
    if isinstance(x, Expr):
        raise SpaceError(f"as_vector(x): an expression of {x.space} has no entries while its function is traced")
    require_vector(x, "as_vector(x)")
    return x
