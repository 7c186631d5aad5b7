"""Calls of functions whose derivative is written by hand: one step each, with a rule for the mode of the program."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from adjoint.affine import vjp
from adjoint.languages.ks.derivatives import (
    MODES,
    as_map,
    call,
    packed,
    packed_space,
    reals,
    reversed_by,
    split,
    with_reals,
    written,
)
from adjoint.languages.ks.evaluate import KsEvaluator
from adjoint.languages.ks.values import Value, filled, leaves_of, real
from diff import const, fun, operation, program
from diff.expr import tracing
from diff.higher.errors import TermError
from diff.higher.types import Ground, TupleType
from hilbert import Vec
from linmap import identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjoint.languages.ks.linked import Linked
    from adjoint.languages.ks.names import Callee
    from diff.higher.errors import Place
    from diff.higher.types import Ty
    from hilbert.map import AnyMap

_numbers = count()


def by_hand(linked: Linked, callee: Callee, ev: KsEvaluator) -> bool:
    """Whether calls of a function are steps with a rule that is written by hand, in this mode."""
    if ev.mode is None:
        return False
    if written(linked, ev.mode, callee) is not None:
        return True
    own = linked.scope.defined(callee)
    return own is not None and own.function is None and any(written(linked, m, callee) is not None for m in MODES)


def opaque(linked: Linked, callee: Callee, x: Value, ev: KsEvaluator) -> Value:
    """A call as one step, whose derivative is what is written."""
    given = leaves_of(x)
    if not given:
        with ev.inside(mode=None):
            return call(linked, callee, x, ev)
    own = linked.scope.defined(callee)
    if own is not None and own.function is not None:
        f: AnyMap | None
        whole = as_map(linked, callee, x, ev, None)
        f, result = whole.map, whole.result
    else:
        f, result = None, _zero(callee.result)
    ys = leaves_of(result)
    n, m = len(given), len(ys)
    mode = ev.mode
    assert mode is not None

    def value(_: Any, *arrays: Any) -> Any:
        if f is None:
            what = f"{callee.base} is declared, and has no body: its value is needed here"
            raise TermError("unbound", what, ev.place)
        vectors = [leaf.space.vec(a) for leaf, a in zip(given, arrays, strict=True)]
        found = split(f(*vectors), m)
        return found[0].array if m == 1 else tuple(v.array for v in found)

    def rule(*args: Any) -> Any:
        xs, dxs = args[:n], args[n + 1 :]
        inside = KsEvaluator(linked, ev.left)
        inside.place = ev.place
        token = tracing.set((*tracing.get(), xs[0].builder))  # what the rule is made of are steps of that line
        try:
            return made_by(inside, xs, dxs)
        finally:
            tracing.reset(token)

    def made_by(inside: KsEvaluator, xs: Sequence[Any], dxs: Sequence[Any]) -> Any:
        at = filled(x, iter(xs))
        hand = written(linked, mode, callee) or written(linked, "fwd", callee) or written(linked, "sufrev", callee)
        assert hand is not None
        if hand.derivations[0] == "fwd":
            made = reals(call(linked, hand, (at, with_reals(x, dxs)), inside))
        else:
            made = _transposed(linked, callee, hand, x, result, xs, dxs, inside)
        made = [const(v) if isinstance(v, Vec) else v for v in made]
        return made[0] if m == 1 else tuple(made)

    to = packed_space(ys)
    step = operation(
        f"{callee.base} {next(_numbers)}",
        *(leaf.space for leaf in given),
        to=to,
        value=value,
        tangent=rule,
        batched=False,
    )
    some = [const(leaf) if isinstance(leaf, Vec) else leaf for leaf in given]
    return filled(result, iter(split(step(*some), m)))


def _transposed(
    linked: Linked,
    callee: Callee,
    hand: Callee,
    x: Value,
    y: Value,
    xs: Sequence[Any],
    dxs: Sequence[Any],
    ev: KsEvaluator,
) -> list[Any]:
    """The linear map whose transpose is dt ↦ [rev f] (x, dt) as it is written by hand, along dx."""
    n, ys = len(xs), reals(y)

    def body(at: Any, dt: Any) -> Any:
        arg = filled(x, iter(split(at, n))), with_reals(y, split(dt, len(ys)))
        found = reals(reversed_by(linked, hand, callee, arg, ev))
        return packed(found, expressions=True)

    g = fun(packed_space(xs), packed_space(ys))(body)
    back = program(vjp(g, wrt=1))
    inputs = len(g.dom.parts[0].leaves)
    dt = range(inputs, inputs + len(g.dom.parts[1].leaves))
    if any(k in dt for step in back.line.steps for k in step.args) or any(k in dt for k in back.line.outputs):
        what = f"{hand.key} is not linear in the cotangent, by inspection"
        raise TermError("linear", what, hand_place(linked, hand))
    zeros = packed([const(leaf.space.zeros()) for leaf in ys], expressions=True)
    point = identity(g.dom)(packed(xs, expressions=True), zeros)
    return list(split(back(point, packed(dxs, expressions=True)), len(ys)))


def hand_place(linked: Linked, hand: Callee) -> Place | None:
    """Where a derivative is written by hand."""
    return linked.scope.table[hand.identity].place


def _zero(ty: Ty) -> Value:
    """A result of an external function, which has one shape."""
    match ty:
        case Ground():
            return real(0.0)
        case TupleType(parts) if parts:
            return tuple(map(_zero, parts))
        case _:  # a tensor, or what is discrete
            raise TermError("shape", "a function without a body that is derived by hand gives reals, or tuples")
