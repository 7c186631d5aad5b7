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
from hilbert.base.attach import overloaded
from hilbert.errors import shown
from hilbert.space.vector import require_vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff import _calls

P = ParamSpec("P")
Q = ParamSpec("Q")
A = TypeVar("A", bound=Type)
T = TypeVar("T")
W = TypeVar("W", bound=Type)


@final
class TermMaker(Generic[P, Q]):
    """The result of `term(…)`: a decorator of functions of these arguments."""

    __slots__ = ("_kinds", "_to")

    def __init__(self, kinds: tuple[Kind, ...], to: Kind | None) -> None:
        self._kinds, self._to = kinds, to

    @overload  # written here, since mypy finds no P for a self that is TermMaker[..., ...]
    def __call__(self, body: Callable[P, Expr[W]], /) -> TermFunction[P, Q, Expr[W], Vec[W]]: ...
    @overload
    def __call__(self, body: Callable[P, T], /) -> TermFunction[P, Q, T, T]: ...
    def __call__(self, body: Any, /) -> Any:
        """The function as a term; it is not run. Raises TermError for what is no function of as many arguments."""
        if not callable(body):
            raise TermError("type", f"term(…)(f) takes a Python function, not {shown(body)}")
        parameters(body, len(self._kinds))
        return TermFunction(body, self._kinds, self._to)


@overloaded(lambda: _calls.term)
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
