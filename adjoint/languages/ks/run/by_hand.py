"""Calls of functions whose derivative is written by hand: one step each, with a rule for the mode of the program."""

from __future__ import annotations

import math
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final
from warnings import warn

import numpy as np
from attrs import evolve, frozen

from adjoint.languages.ks.builtin import effects
from adjoint.languages.ks.builtin.evaluation import Where
from adjoint.languages.ks.run.derivatives import later, reversed_by
from adjoint.languages.ks.run.evaluate import KsEvaluator
from adjoint.languages.ks.run.function_maps import MODES, Tracing, as_map, call, written
from adjoint.languages.ks.value.convert import drawn
from adjoint.languages.ks.value.ks_values import filled, leaves_of, mapped, real
from adjoint.languages.ks.value.packing import along, packed, packed_space, reals, split, with_reals
from adjoint.languages.ks.value.types import has_maps, tangent
from adjoint.languages.ks.value.value_classes import Value
from adjoint.reverse.adjoint_affine import vjp
from diff import const, fun, jvp, lift, operation, program
from diff.derive.user_operation_derivative import TangentRule, require_linear
from diff.lam.term.term_error import TermError
from diff.lam.term.types import Arrow, DataType, Ground, LeafType, Lin, TupleType
from diff.terms.user_operation import Custom
from hilbert import Copower, Fin, SpaceError, Vec
from hilbert.errors import raised_for
from hilbert.tracebacks import tracing

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
    """Tell if calls of a function are steps with a rule that is written by hand, in one of the modes."""
    if any(written(linked, mode, callee) is not None for mode in modes):
        return True
    return bool(modes) and is_external(linked, callee) and any(written(linked, m, callee) is not None for m in MODES)


def is_external(linked: LinkedText, callee: Callee) -> bool:
    """Tell if a function is declared, and has no body."""
    own = linked.scope.defined(callee)
    return own is not None and own.function is None


def opaque(linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator) -> Value:
    """A call as one step, with a rule for each mode: by what is written, or by the derivative of the body."""
    if has_maps(callee.arg, linear=True) or has_maps(callee.result, linear=True):
        what = f"{callee.key} has a derivative by hand, and takes or returns a linear map: what calls it is not derived"
        raise TermError("linear", f"{what}; leave that out, or write it for a function of reals", ev.place)
    if not leaves_of(x):
        with ev.inside(evolve(ev.where, modes=())):
            return call(linked, callee, x, ev)
    opaque_call, modes = _OpaqueCall.at(linked, callee, x, ev), ev.where.modes
    steps = [opaque_call.step(mode, modes[k:]) for k, mode in enumerate(modes, 1)]
    rules = [_rule(step) for step in steps]
    for k, (rule, after) in enumerate(pairwise(rules), 1):
        linked.rules[rule] = len(rules) - k + 1, after
    leaves = [const(leaf) if isinstance(leaf, Vec) else leaf for leaf in leaves_of(x)]
    return filled(opaque_call.result, iter(split(steps[0](*leaves), len(leaves_of(opaque_call.result)))))


Tangents: TypeAlias = "Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]"
"""(x, dx) ↦ the reals of dy, as expressions of the line that is traced."""


@final
@frozen(eq=False)
class _OpaqueCall:
    """A call at an argument: its result, and its body on arrays, None where the function has none."""

    linked: LinkedText
    callee: Callee
    x: Value
    result: Value
    run: Callable[[Sequence[Any]], list[Any]] | None
    ev: KsEvaluator
    place: Place | None

    @classmethod
    def at(cls, linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator) -> _OpaqueCall:
        """The call of a function at an argument."""
        place = ev.place
        if is_external(linked, callee):
            return cls(linked, callee, x, _of_external(linked, callee, x, ev), None, ev, place)
        whole = as_map(linked, callee, x, ev, Tracing(None))
        run = _on_arrays(whole.map, [leaf.space for leaf in leaves_of(x)])
        return cls(linked, callee, x, whole.result, run, ev, place)

    def step(self, mode: str, after: tuple[str, ...]) -> AnyMap:
        """The step of a program that is derived in a mode; what the rule writes is derived in those after it."""
        hand = written(self.linked, mode, self.callee)
        if hand is None and self.run is None:
            hand = written(self.linked, "fwd", self.callee) or written(self.linked, "sufrev", self.callee)
        is_forward = hand is not None and hand.derivations[0] == "fwd"
        if hand is None:
            tangents = self._of_body(mode, after)
        else:
            tangents = self._forwards(hand, after) if is_forward else self._backwards(hand, after)
        given = leaves_of(self.x)

        def rule(*args: Any) -> Any:
            xs, dxs = args[: len(given)], [dx for dx in args[len(given) + 1 :] if dx is not None]
            token = tracing.set((*tracing.get(), xs[0].builder))  # what the rule is made of are steps of that line
            try:
                dys = along(self.result, with_reals(self.result, tangents(xs, dxs)))
                made = [const(v) if isinstance(v, Vec) else v for v in dys]
                if hand is not None and is_forward:
                    _require_linear(self.linked, hand, made, dxs)
            finally:
                tracing.reset(token)
            return _one_or_all(made)

        name = f"{self.callee.base} {next(_numbers)}"
        spaces, to = [leaf.space for leaf in given], packed_space(leaves_of(self.result))
        return operation(name, *spaces, to=to, value=self._value, tangent=rule)

    def _value(self, _: Any, *arrays: Any) -> Any:
        """The value of the step; raises TermError where the function has no body."""
        if self.run is None:
            what = f"{self.callee.base} is declared, and has no body: its value is needed here"
            raise TermError("unbound", what, self.place)
        return _one_or_all(self.run(arrays))

    def _of_body(self, mode: str, after: tuple[str, ...]) -> Tangents:
        """By the derivative of the body, which is traced now."""
        with self.ev.inside(evolve(self.ev.where, modes=after)):
            body = as_map(self.linked, self.callee, self.x, self.ev, Tracing(mode)).map

        def tangents(xs: Sequence[Any], dxs: Sequence[Any]) -> Sequence[Any]:
            at = filled(self.x, iter(xs))
            dx = packed(along(at, with_reals(at, dxs)), expressions=True)
            dy = later(self.linked, jvp(body), after)(packed(xs, expressions=True), dx)
            return split(dy, len(reals(self.result)))

        return tangents

    def _evaluator(self, after: tuple[str, ...]) -> KsEvaluator:
        """The evaluator of what is written by hand."""
        ev = KsEvaluator(self.linked, self.ev.left)
        ev.where, ev.place = Where(modes=after), self.place
        return ev

    def _forwards(self, hand: Callee, after: tuple[str, ...]) -> Tangents:
        """By [fwd f], as it is written by hand."""

        def tangents(xs: Sequence[Any], dxs: Sequence[Any]) -> Sequence[Any]:
            at = filled(self.x, iter(xs))
            return reals(call(self.linked, hand, (at, with_reals(at, dxs)), self._evaluator(after)))

        return tangents

    def _backwards(self, hand: Callee, after: tuple[str, ...]) -> Tangents:
        """By the linear map whose transpose is dt ↦ [rev f] (x, dt), as it is written by hand."""
        ys = reals(self.result)

        def tangents(xs: Sequence[Any], dxs: Sequence[Any]) -> Sequence[Any]:
            ev = self._evaluator(after)

            def body(at: Any, dt: Any) -> Any:
                arg = filled(self.x, iter(split(at, len(xs)))), with_reals(self.result, split(dt, len(ys)))
                with ev.inside(evolve(ev.where, modes=(_LINEAR, *after))):
                    cotangents = reals(reversed_by(self.linked, hand, self.callee, arg, ev))
                return packed(cotangents, expressions=True)

            g = fun(packed_space(xs), packed_space(ys))(body)
            back = program(later(self.linked, vjp(g, wrt=1), after))
            inputs = len(g.dom.parts[0].leaves)
            dt = range(inputs, inputs + len(g.dom.parts[1].leaves))
            if any(k in dt for step in back.line.steps for k in step.args) or any(k in dt for k in back.line.outputs):
                what = f"{hand.key} is not linear in the cotangent, by inspection"
                raise TermError("linear", what, hand_place(self.linked, hand))
            zeros = packed([const(leaf.space.zeros()) for leaf in ys], expressions=True)
            point = packed([packed(xs, expressions=True), zeros])
            return split(back(point, packed(dxs, expressions=True)), len(ys))

        return tangents


def _one_or_all(values: Sequence[Any]) -> Any:
    """Values as an operation gives them: one alone, or a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


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
            f = as_map(linked, callee, x, KsEvaluator(linked, FEW), Tracing(mode, is_local=True)).map
            program(jvp(f) if mode == "fwd" else vjp(f))
    except SpaceError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, TermError) and cause.code == "linear":
                warn(f"{cause}: the stage {stage} calls it as it is written", stacklevel=2)
                return
            cause = raised_for(cause)


def hand_place(linked: LinkedText, hand: Callee) -> Place | None:
    """The place of a derivative that is written by hand."""
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
        case LeafType() | TupleType() | DataType() | Arrow() | Lin():
            return None
        case _:
            assert_never(ty)
