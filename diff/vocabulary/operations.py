"""Operations that are functions: products, contractions, labels and selection, on expressions and vectors alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from diff.trace.expr import Expr, bilinear, same
from diff.vocabulary.eager import eager
from hilbert import Elements, Field, Index, Space, SpaceError, Type
from hilbert.base.attach import overloaded
from hilbert.errors import shown
from hilbert.index.spec import Spec
from hilbert.program.line.operation import Keep, Move, labelled
from hilbert.space.space import require_type, type_of
from linmap import contraction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff import _calls

Z = TypeVar("Z", bound=Space)


def _require(name: str, *values: Any) -> None:
    """Raise SpaceError unless all are expressions, vectors among them being constants by now."""
    for value in values:
        if not isinstance(value, Expr):
            like = [shown(other) for other in values if isinstance(other, Expr)]
            what = f"{name} of {like[0]} and {shown(value)}" if like else f"{name} takes vectors, not {shown(value)}"
            hint = "a plain array has no space: write V.vec(array)" if hasattr(value, "dtype") else "a vector would fit"
            msg = f"{what}: {hint}"
            raise SpaceError(msg)


@overloaded(lambda: _calls.inner)
@eager
def inner(a: Any, b: Any) -> Any:
    """v ⊙ w in any space; raises SpaceError for two spaces."""
    _require("inner", a, b)
    return bilinear(contraction.inner(a.space), a, same(a, b, "⊙"))


@overloaded(lambda: _calls.outer)
@eager
def outer(a: Any, b: Any) -> Any:
    """v ⊗ w, an element of V ⊗ W; u.tensor(v) keeps the factors of vectors."""
    _require("outer", a, b)
    return bilinear(contraction.outer(a.space, b.space), a, b)


@overloaded(lambda: _calls.kept)
@eager
def kept(x: Any) -> Any:
    """x itself, computed as it is written: no contraction is moved across it, as in kept(A @ B) @ x (see `planned`)."""
    _require("kept", x)
    b = x.builder
    return Expr(b, x.space, tuple(b.step(Keep(), (slot,)) for slot in x.slots))


@overloaded(lambda: _calls.contract)
@eager
def contract(labels: str, /, *operands: Any, to: Any = None) -> Any:
    """A labelled contraction of any number of operands such as contract("ij,jk,k->i", A, B, x), in ℝ^{axes} or in `to`.

    It is written from the left to the right; see `planned` for the order in which it runs. Raises SpaceError for labels
    that do not fit the operands and their axes, and for another `to`.
    """
    for x in operands:
        if isinstance(x, Type):
            msg = f"contract takes vectors, not {shown(x)}: the space of the result is named, contract(labels, …, to=V)"
            raise SpaceError(msg)
    _require("contract", *operands)
    what = f"contraction {labels}"
    lists, out = _lists(labels, len(operands), what)
    _fits(lists, operands, what)
    real = [k for k, x in enumerate(operands) if x.space.leaves[0].is_field]
    first = real[0] if real and len(operands) > 2 else 0  # two masks have no product
    order = [first, *(k for k in range(len(operands)) if k != first)]
    b, slot, have = operands[first].builder, operands[first].slots[0], lists[first]
    for place, k in enumerate(order[1:], 2):
        left = set(out).union(*(lists[j] for j in order[place:]))
        made = out if place == len(order) else "".join(c for c in dict.fromkeys(have + lists[k]) if c in left)
        slot = b.contract(Spec.of(have, lists[k], made), slot, operands[k].slots[0])
        have = made
    if have != out:
        slot = b.apply(Move(tuple(map(have.index, out))), slot)
    leaf = b.slots[slot]
    if to is not None:
        require_type(to, what)
    if to is not None and to.leaves != (leaf,):
        msg = f"{what} of {' and '.join(str(x.space) for x in operands)} is in {leaf}, not in {to}"
        raise SpaceError(msg)
    return Expr(b, to or type_of(leaf), (slot,))


def _lists(labels: Any, count: int, what: str) -> tuple[list[str], str]:
    """The labels of each operand and of the result; raises SpaceError where they are no contraction."""
    text = labels.replace(" ", "") if isinstance(labels, str) else ""
    if not re.fullmatch(r"[a-zA-Z]*(,[a-zA-Z]*)*->[a-zA-Z]*", text):
        msg = f"{shown(labels)} is not a contraction: write a list of labels for each operand, like 'ij,jk,k->i'"
        raise SpaceError(msg)
    given, out = text.split("->")
    lists = given.split(",")
    if len(lists) != count:
        due = "1 operand" if len(lists) == 1 else f"{len(lists)} operands"
        msg = f"{what} has labels for {due}, and {count} were given"
        raise SpaceError(msg)
    for one in (*lists, out):
        for c in one:
            if one.count(c) > 1:
                msg = f"{what}: label {c} stands twice in {one}; A.diagonal() is that of a matrix, A.trace() its sum"
                raise SpaceError(msg)
    for c in dict.fromkeys(given.replace(",", "") + out):
        if sum(c in one for one in (*lists, out)) < 2:
            msg = f"{what}: label {c} stands in one list only; sum by x.sum(over=X), repeat by x.rep(V)"
            raise SpaceError(msg)
    return lists, out


def _fits(lists: list[str], operands: Sequence[Expr[Any]], what: str) -> None:
    """Raise SpaceError unless each operand is one array whose axes fit its labels."""
    axes: dict[str, Index] = {}
    for k, (one, x) in enumerate(zip(lists, operands, strict=True), 1):
        if len(x.space.leaves) != 1:
            msg = f"{what} needs spaces of one array, but operand {k} is in {x.space}, which has {len(x.space.leaves)}"
            raise SpaceError(msg)
        have = labelled(x.space.leaves[0])
        if len(have) != len(one):
            msg = f"{what}: {x.space} has {len(have)} axes where {one or 'none'} needs {len(one)}, operand {k}"
            raise SpaceError(msg)
        for c, axis in zip(one, have, strict=True):
            if axes.setdefault(c, axis) != axis:
                msg = f"{what}: label {c} is both {axes[c]} and {axis}"
                raise SpaceError(msg)


@overloaded(lambda: _calls.onehot)
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


@overloaded(lambda: _calls.select)
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
