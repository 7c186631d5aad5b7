"""Operations that are functions: products, contractions, labels and selection, on expressions and vectors alike."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from diff.eager import eager
from diff.expr import Expr, bilinear, same
from hilbert import Boolean, Copower, Elements, Field, Index, Space, SpaceError, TensorProduct, Type, Vec
from hilbert.errors import shown
from hilbert.map import Unknown
from hilbert.spec import Spec
from linmap import contraction

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
S = TypeVar("S", bound=Space)
Z = TypeVar("Z", bound=Space)
W = TypeVar("W", bound=Type)


def _require(name: str, *values: Any) -> None:
    """Raise SpaceError unless all are expressions, vectors among them being constants by now."""
    for value in values:
        if not isinstance(value, Expr):
            like = [shown(other) for other in values if isinstance(other, Expr)]
            what = f"{name} of {like[0]} and {shown(value)}" if like else f"{name} takes vectors, not {shown(value)}"
            hint = "a plain array has no space: write V.vec(array)" if hasattr(value, "dtype") else "a vector would fit"
            msg = f"{what}: {hint}"
            raise SpaceError(msg)


@overload
def inner(a: Vec[S], b: Vec[S]) -> Vec[Field]: ...
@overload
def inner(a: Expr[S], b: Expr[S] | Vec[S]) -> Expr[Field]: ...
@overload
def inner(a: Vec[S], b: Expr[S]) -> Expr[Field]: ...
@eager
def inner(a: Any, b: Any) -> Any:
    """v ⊙ w in any space; raises SpaceError for two spaces."""
    _require("inner", a, b)
    return bilinear(contraction.inner(a.space), a, same(a, b, "⊙"))


@overload
def outer(a: Vec[S], b: Vec[Z]) -> Vec[TensorProduct[S, Z]]: ...
@overload
def outer(a: Expr[S], b: Expr[Z] | Vec[Z]) -> Expr[TensorProduct[S, Z]]: ...
@overload
def outer(a: Vec[S], b: Expr[Z]) -> Expr[TensorProduct[S, Z]]: ...
@eager
def outer(a: Any, b: Any) -> Any:
    """v ⊗ w, an element of V ⊗ W; u.tensor(v) keeps the factors of vectors."""
    _require("outer", a, b)
    return bilinear(contraction.outer(a.space, b.space), a, b)


@overload
def contract(labels: str, a: Vec[Any], b: Vec[Any], cod: None = None) -> Vec[Any]: ...
@overload
def contract(labels: str, a: Vec[Any], b: Vec[Any], cod: W) -> Vec[W]: ...
@overload
def contract(labels: str, a: Expr[Any], b: Expr[Any] | Vec[Any], cod: None = None) -> Expr[Any]: ...
@overload
def contract(labels: str, a: Vec[Any], b: Expr[Any], cod: None = None) -> Expr[Any]: ...
@overload
def contract(labels: str, a: Expr[Any], b: Expr[Any] | Vec[Any], cod: W) -> Expr[W]: ...
@overload
def contract(labels: str, a: Vec[Any], b: Expr[Any], cod: W) -> Expr[W]: ...
@eager
def contract(labels: str, a: Any, b: Any, cod: Any = None) -> Any:
    """A labelled contraction such as contract("ij,j->i", W, x); the result is in ℝ^{axes of the labels} or in `cod`.

    Raises SpaceError for labels that do not fit the axes, and for another `cod`.
    """
    _require("contract", a, b)
    return bilinear(contraction.labelled(labels, a.space, b.space, cod), a, b)


@overload
def onehot(x: Expr[Elements[I]], field: Field | None = None) -> Expr[Copower[Field, I]]: ...
@overload
def onehot(x: Vec[Elements[I]], field: Field | None = None) -> Vec[Copower[Field, I]]: ...
@eager
def onehot(x: Any, field: Field | None = None) -> Any:
    """e_x ∈ ℝ^X for a dynamic element x ∈ X."""
    if not isinstance(x, Expr) or not isinstance(x.space, Elements):
        msg = f"onehot takes an element of an index set, not {shown(x)}: declare the argument as Elements(X)"
        raise SpaceError(msg)
    if field is not None and not isinstance(field, Field):
        msg = f"onehot of an element of {x.space} is over R or R32, not over {shown(field)}"
        raise SpaceError(msg)
    c = contraction.basis_vector(x.space.index, field or Field())
    one = Expr(x.builder, c.left, (x.builder.number(1.0, c.left.leaves[0]),))
    return bilinear(c, one, x)


@overload
def select(c: Unknown, x: Unknown) -> Any: ...
@overload
def select(c: Expr[Boolean], x: Expr[S] | Vec[S]) -> Expr[S]: ...
@overload
def select(c: Vec[Boolean], x: Expr[S]) -> Expr[S]: ...
@overload
def select(c: Vec[Boolean], x: Vec[S]) -> Vec[S]: ...
@overload
def select(c: Expr[Copower[Boolean, I]], x: Expr[Copower[S, I]] | Vec[Copower[S, I]]) -> Expr[Copower[S, I]]: ...
@overload
def select(c: Vec[Copower[Boolean, I]], x: Expr[Copower[S, I]]) -> Expr[Copower[S, I]]: ...
@overload
def select(c: Vec[Copower[Boolean, I]], x: Vec[Copower[S, I]]) -> Vec[Copower[S, I]]: ...
@overload
def select(
    c: Expr[Copower[Copower[Boolean, J], I]], x: Expr[Copower[Copower[S, J], I]] | Vec[Copower[Copower[S, J], I]]
) -> Expr[Copower[Copower[S, J], I]]: ...
@overload
def select(
    c: Vec[Copower[Copower[Boolean, J], I]], x: Expr[Copower[Copower[S, J], I]]
) -> Expr[Copower[Copower[S, J], I]]: ...
@overload
def select(
    c: Vec[Copower[Copower[Boolean, J], I]], x: Vec[Copower[Copower[S, J], I]]
) -> Vec[Copower[Copower[S, J], I]]: ...
@eager
def select(c: Any, x: Any) -> Any:
    """x where the condition holds, 0 elsewhere: selection, not multiplication, so a NaN that is not selected is gone.

    The condition is a Bool, or one Bool for each element of X where x is in V^X. Raises SpaceError for others.
    """
    _require("select", c, x)
    lead = len(c.space.leaves[0].axes) if len(c.space.leaves) == 1 else -1
    if lead < 0 or c.space.leaves[0].kind != "b" or not x.space.is_space:
        msg = f"select takes a condition and a vector, not {c.space} and {x.space}"
        raise SpaceError(msg)
    slots = []
    for slot, leaf in zip(x.slots, x.space.leaves, strict=True):
        if leaf.axes[:lead] != c.space.leaves[0].axes:
            msg = f"select by {c.space} does not fit {x.space}: its index set must come first"
            raise SpaceError(msg)
        labels = Spec.pointwise(len(leaf.axes)).left
        slots.append(x.builder.contract(Spec.of(labels[:lead], labels, labels), c.slots[0], slot))
    return Expr(x.builder, x.space, tuple(slots))
