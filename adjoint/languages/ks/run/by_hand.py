"""Calls of functions whose derivative is written by hand: one step each, with a rule for the mode of the program."""

from __future__ import annotations

import math
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np
from attrs import evolve

from adjoint.languages.ks.builtin import effects
from adjoint.languages.ks.builtin.evaluation import Where
from adjoint.languages.ks.run.derivatives import later, reversed_by
from adjoint.languages.ks.run.evaluate import KsEvaluator
from adjoint.languages.ks.run.function_maps import MODES, as_map, call, written
from adjoint.languages.ks.value.convert import drawn
from adjoint.languages.ks.value.ks_values import filled, leaves_of, mapped, real
from adjoint.languages.ks.value.packing import along, packed, packed_space, reals, split, with_reals
from adjoint.languages.ks.value.types import has_maps, tangent
from adjoint.languages.ks.value.value_classes import Value
from adjoint.reverse.adjoint_affine import vjp
from diff import const, fun, jvp, lift, operation, program
from diff.derive.user_operation_derivative import TangentRule, require_linear
from diff.lam.term.term_error import TermError
from diff.lam.term.types import Ground, TupleType
from diff.terms.user_operation import Custom
from diff.trace.expr import tracing
from hilbert import Copower, Fin, SpaceError, Vec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.ks.run.evaluate import LinkedText
    from adjoint.languages.ks.text.function_names import Callee
    from diff.lam.term.term_error import Place
    from diff.lam.term.types import Ty
    from diff.terms.user_operation import OperationRule
    from hilbert import Type
    from hilbert.map.map import AnyMap

FEW = 1000
"""The functions that are entered where a stage looks whether a derivative by hand is linear."""
_numbers = count()
_LINEAR = "linear"
"""The mode of what is transposed since it is linear: nothing in it is by hand."""


def by_hand(linked: LinkedText, callee: Callee, modes: tuple[str, ...]) -> bool:
    """Whether calls of a function are steps with a rule that is written by hand, in one of the modes."""
    if any(written(linked, mode, callee) is not None for mode in modes):
        return True
    return bool(modes) and is_external(linked, callee) and any(written(linked, m, callee) is not None for m in MODES)


def is_external(linked: LinkedText, callee: Callee) -> bool:
    """Whether a function is declared, and has no body."""
    own = linked.scope.defined(callee)
    return own is not None and own.function is None


def opaque(linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator) -> Value:
    """A call as one step, with a rule for each mode: by what is written, or by the derivative of the body."""
    if has_maps(callee.arg, linear=True) or has_maps(callee.result, linear=True):
        what = f"{callee.key} has a derivative by hand, and takes or returns a linear map: what calls it is not derived"
        raise TermError("linear", f"{what}; leave that out, or write it for a function of reals", ev.place)
    given, place = leaves_of(x), ev.place
    if not given:
        with ev.inside(evolve(ev.where, modes=())):
            return call(linked, callee, x, ev)
    f: AnyMap | None
    if is_external(linked, callee):
        f, result = None, _of_external(linked, callee, x, ev)
    else:
        whole = as_map(linked, callee, x, ev, None)
        f, result = whole.map, whole.result
    ys = leaves_of(result)
    n, m = len(given), len(ys)
    run = None if f is None else _on_arrays(f, [leaf.space for leaf in given])

    def value(_: Any, *arrays: Any) -> Any:
        if run is None:
            what = f"{callee.base} is declared, and has no body: its value is needed here"
            raise TermError("unbound", what, place)
        found = run(arrays)
        return found[0] if m == 1 else tuple(found)

    def step(mode: str, after: tuple[str, ...]) -> Any:
        hand = written(linked, mode, callee)
        if hand is None and f is None:
            hand = written(linked, "fwd", callee) or written(linked, "sufrev", callee)
        body: AnyMap | None = None
        if hand is None:
            with ev.inside(evolve(ev.where, modes=after)):
                body = as_map(linked, callee, x, ev, mode).map

        def rule(*args: Any) -> Any:
            xs, dxs = args[:n], [dx for dx in args[n + 1 :] if dx is not None]
            token = tracing.set((*tracing.get(), xs[0].builder))  # what the rule is made of are steps of that line
            try:
                dys = along(result, with_reals(result, made_by(xs, dxs)))
                made = [const(v) if isinstance(v, Vec) else v for v in dys]
                if hand is not None and hand.derivations[0] == "fwd":
                    _require_linear(linked, hand, made, dxs)
            finally:
                tracing.reset(token)
            return made[0] if m == 1 else tuple(made)

        def made_by(xs: Sequence[Any], dxs: Sequence[Any]) -> Sequence[Any]:
            at = filled(x, iter(xs))
            if hand is None:
                assert body is not None
                dx = packed(along(at, with_reals(at, dxs)), expressions=True)
                return split(later(linked, jvp(body), after)(packed(xs, expressions=True), dx), len(reals(result)))
            inside = KsEvaluator(linked, ev.left)
            inside.where, inside.place = Where(modes=after), place
            if hand.derivations[0] == "fwd":
                return reals(call(linked, hand, (at, with_reals(at, dxs)), inside))
            return _transposed(linked, callee, hand, at, result, dxs, inside)

        spaces, to = [leaf.space for leaf in given], packed_space(ys)
        name = f"{callee.base} {next(_numbers)}"
        return operation(name, *spaces, to=to, value=value, tangent=rule)

    steps = [step(mode, ev.where.modes[k:]) for k, mode in enumerate(ev.where.modes, 1)]
    rules = [_rule(one) for one in steps]
    for k, (rule, after) in enumerate(pairwise(rules), 1):
        linked.rules[rule] = len(rules) - k + 1, after
    some = [const(leaf) if isinstance(leaf, Vec) else leaf for leaf in given]
    return filled(result, iter(split(steps[0](*some), m)))


def _on_arrays(f: AnyMap, spaces: Sequence[Type]) -> Callable[[Sequence[Any]], list[Any]]:
    """f on arrays that may have axes in front: for all of their elements at once."""
    lifted: dict[int, AnyMap] = {}

    def run(arrays: Sequence[Any]) -> list[Any]:
        front = arrays[0].shape[: arrays[0].ndim - len(spaces[0].leaves[0].axes)]
        if not front:
            return list(f(*[space.vec(a) for space, a in zip(spaces, arrays, strict=True)]).dense().leaves)
        X = Fin.of(math.prod(front))
        if X.size not in lifted:
            lifted[X.size] = lift(f, X, over=range(len(spaces))) if len(spaces) > 1 else f**X
        flat = [
            Copower(space, X).vec(a.reshape(X.size, *space.leaves[0].shape))
            for space, a in zip(spaces, arrays, strict=True)
        ]
        return [a.reshape(*front, *a.shape[1:]) for a in lifted[X.size](*flat).dense().leaves]

    return run


def _rule(step: AnyMap) -> OperationRule:
    found = program(step).steps[0].operation
    assert isinstance(found, Custom)
    return found.rule


def _transposed(
    linked: LinkedText,
    callee: Callee,
    hand: Callee,
    x: Value,
    y: Value,
    dxs: Sequence[Any],
    ev: KsEvaluator,
) -> Sequence[Any]:
    """The linear map whose transpose is dt ↦ [rev f] (x, dt) as it is written by hand, along dx."""
    xs, ys, after = leaves_of(x), reals(y), ev.where.modes

    def body(at: Any, dt: Any) -> Any:
        arg = filled(x, iter(split(at, len(xs)))), with_reals(y, split(dt, len(ys)))
        with ev.inside(evolve(ev.where, modes=(_LINEAR, *after))):
            found = reals(reversed_by(linked, hand, callee, arg, ev))
        return packed(found, expressions=True)

    g = fun(packed_space(xs), packed_space(ys))(body)
    back = program(later(linked, vjp(g, wrt=1), after))
    inputs = len(g.dom.parts[0].leaves)
    dt = range(inputs, inputs + len(g.dom.parts[1].leaves))
    if any(k in dt for step in back.line.steps for k in step.args) or any(k in dt for k in back.line.outputs):
        what = f"{hand.key} is not linear in the cotangent, by inspection"
        raise TermError("linear", what, hand_place(linked, hand))
    zeros = packed([const(leaf.space.zeros()) for leaf in ys], expressions=True)
    point = packed([packed(xs, expressions=True), zeros])
    return split(back(point, packed(dxs, expressions=True)), len(ys))


def _require_linear(linked: LinkedText, hand: Callee, dys: Sequence[Any], dxs: Sequence[Any]) -> None:
    """Raise TermError unless what [fwd f] gives, as it is written by hand, is linear in dx."""
    line = dxs[0].builder.line(k for dy in dys for k in dy.slots)
    try:
        require_linear(TangentRule(line, dxs[0].slots[0]), hand.key)
    except SpaceError as error:
        what = f"{hand.key} is not linear in the tangent, by inspection"
        raise TermError("linear", what, hand_place(linked, hand)) from error


def warn_unless_linear(linked: LinkedText, callee: Callee, mode: str, stage: str) -> None:
    """Warn of what a stage calls by its name, and the derivative of the program refuses, at an argument that is chosen.

    Of a function that has no derivative there, nothing is known.
    """
    if written(linked, mode, callee) is None:
        return
    try:
        x = drawn(callee.arg, np.random.default_rng(0))
        with effects.quiet():
            f = as_map(linked, callee, x, KsEvaluator(linked, FEW), mode, is_local=True).map
            program(jvp(f) if mode == "fwd" else vjp(f))
    except SpaceError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, TermError) and cause.code == "linear":
                warn(f"{cause}: the stage {stage} calls it as it is written", stacklevel=2)
                return
            cause = cause.__cause__


def hand_place(linked: LinkedText, hand: Callee) -> Place | None:
    """Where a derivative is written by hand."""
    return linked.scope.table[hand.identity].place


def _of_external(linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator) -> Value:
    """A value of the shape of an external function's: where it has tensors that of its tangent by hand, along zero."""
    made = _zero(callee.result)
    if made is not None:
        return made
    hand = written(linked, "fwd", callee)
    if hand is None or tangent(callee.result) != callee.result:
        what = f"the size of what {callee.base} gives is not known, for it has no body"
        raise TermError("shape", f"{what}: write [fwd {callee.base}] by hand, whose results are of that size", ev.place)
    zero = with_reals(x, [const(leaf.space.zeros()) for leaf in reals(x)])
    with ev.inside(evolve(ev.where, modes=())):
        return mapped(lambda leaf: leaf.space.zeros(), call(linked, hand, (x, zero), ev))


def _zero(ty: Ty) -> Value | None:
    """The zero of a type of reals and tuples of them; None for any other."""
    match ty:
        case Ground():
            return real(0.0)
        case TupleType(parts) if parts:
            found = tuple(map(_zero, parts))
            return None if None in found else found
        case _:  # a tensor, or what is discrete
            return None
