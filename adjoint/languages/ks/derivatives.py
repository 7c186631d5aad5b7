"""Derived functions: of a function's program, or as they are written by hand.

A function at an argument is a map of the library on the reals of the argument, traced once for all arguments of its
shape. Where a derivative is written by hand for a mode, calls of the function are opaque in programs of that mode: they
are one step, whose rule is what is written. A rule for `rev` is read as the linear map that it is the transpose of. In
[e [d f]] the program of f is derived by d first: what that writes of the rule of d is derived by e as it is written,
and the values of the same calls, which stand beside it, by the rule of e.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import evolve, frozen

from adjoint.affine import vjp
from adjoint.languages.ks import builtins, effects, types
from adjoint.languages.ks.convert import require_shape
from adjoint.languages.ks.evaluate import KsEvaluator
from adjoint.languages.ks.lanes import constants_of
from adjoint.languages.ks.linear import compose, transposed
from adjoint.languages.ks.names import Callee, Written
from adjoint.languages.ks.packing import along, packed, parts, reals, split, with_reals
from adjoint.languages.ks.probe import Probe
from adjoint.languages.ks.values import (
    LEAF,
    Linear,
    Table,
    UnrolledError,
    Value,
    filled,
    form,
    has_function,
    is_real,
    leaves_of,
    mapped,
    zero_like,
)
from adjoint.rules import adjoint
from diff import affine, const, fun, jvp, program
from diff.custom import Custom
from diff.expr import Expr
from diff.higher.errors import TermError
from diff.higher.values import Native
from diff.programs import Program
from hilbert import SpaceError, Vec
from hilbert.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.ks.linked import Linked
    from diff.higher.binding import Pass
    from diff.higher.errors import Place
    from hilbert.map import AnyMap
    from hilbert.program.line import Line, Step

MODES = {"fwd": ("fwd",), "rev": ("rev",), "sufrev": ("suffwdpass", "sufrev", "rev")}
"""The modes of a program, each with what is written by hand for it: the first there is."""


@frozen(eq=False)
class Mapped:
    """A function on the reals of its arguments of one shape, and its result, whose leaves are those of the map."""

    map: AnyMap
    result: Value
    is_at_point: bool
    """Whether a condition was decided at the point."""
    has_effects: bool
    """Whether something is checked or printed in it: then its value is computed with its derivative."""
    is_partial: bool
    """Whether the result has truth values or indices that are found from reals, which are 0 here."""


def derived(linked: Linked, callee: Callee, ev: KsEvaluator, place: Place | None) -> Native:
    """[d f], that is not written by hand."""
    kind, *rest = callee.derivations
    inner = linked.scope.named(Written(tuple(rest), callee.base, callee.of), callee.of, place)  # type: ignore[arg-type]
    rule = _DERIVED[kind]

    def run(arg: Value) -> Pass:
        ev.place = place
        try:
            return rule(linked, inner, arg, ev)
        except TermError as error:
            raise error.at(place) from None
        yield

    return Native(run)


# --- functions as maps ---


def call(linked: Linked, callee: Callee, arg: Value, ev: KsEvaluator, modes: tuple[str, ...] | None = None) -> Value:
    """The value of a function; it is opaque where it is by hand in one of the modes, those of the program if None."""
    return driven(ev.call(linked.function(callee, ev, ev.place, modes), arg))


def as_map(
    linked: Linked,
    callee: Callee,
    x: Value,
    ev: KsEvaluator,
    mode: str | None,
    *,
    decides: bool = True,
    is_local: bool = False,
) -> Mapped:
    """The function on the leaves of its argument; with a mode, only the reals of its result are results.

    Conditions that must be are decided at the argument, unless it is there for its shape only. Of a map that is for its
    argument only (`is_local`), all are: a branch that is not taken is not traced.
    """
    if any(isinstance(c, Table) and c.lanes for c in constants_of(x)):
        raise UnrolledError("an integer that depends on the lane is an argument of a function that is derived")
    modes = () if mode is None else (mode, *ev.modes)
    key = None if has_function(x) else (callee.identity, modes if linked.is_by_hand else mode, form(x))
    found = linked.maps.get(key) if key is not None else None
    if found is not None:
        made: Mapped = found
        return made
    probes: list[Probe] = []
    given = leaves_of(x)

    def point(c: Any) -> Any:
        if not probes:
            probes.append(Probe([leaf if isinstance(leaf, Vec) else ev.probe(leaf) for leaf in given]))
        return probes[0](c)

    values: list[Value] = []
    is_partial: list[bool] = []
    inside = KsEvaluator(linked, ev.left, point if decides else None)
    inside.is_local = is_local

    def body(*leaves: Any) -> Any:
        inside.modes, inside.place = modes, ev.place
        result = call(linked, callee, filled(x, iter(leaves)), inside, modes[:1])
        is_partial.append(mode is not None and len(reals(result)) < len(leaves_of(result)))
        if mode is not None:
            result = mapped(lambda v: 0 if isinstance(v, LEAF) and not is_real(v) else v, result)
        made = effects.tied(inside, leaves_of(result))
        values.append(result)
        return made[0] if len(made) == 1 else tuple(made)

    f = fun(*(leaf.space for leaf in given))(body)
    made = Mapped(f, values[0], bool(probes), bool(inside.effects), is_partial[0])
    if key is not None and not probes:
        linked.maps[key] = made
    return made


def _map_at(linked: Linked, callee: Callee, x: Value, ev: KsEvaluator, mode: str) -> Mapped:
    """The map for an argument: for that only the first time; then for all of its shape, where there is one.

    The last one that is for its argument only is that of the other modes there, where nothing is written by hand.
    """
    key, leaves = (callee.identity, (mode, *ev.modes), form(x)), leaves_of(x)
    is_at_point = all(isinstance(leaf, Vec) for leaf in leaves)
    here = None
    if is_at_point:
        values = [np.asarray(a).tobytes() for leaf in leaves for a in leaf.leaves]
        here = callee.identity, key[1] if linked.is_by_hand else None, key[2], values
    if here is not None and linked.last is not None and linked.last[0] == here:
        linked.asked.add(key)
        last: Mapped = linked.last[1]
        return last
    if not is_at_point or key in linked.asked:
        try:
            return as_map(linked, callee, x, ev, mode)
        except SpaceError:
            if key not in linked.asked:
                raise
    linked.asked.add(key)
    made = as_map(linked, callee, x, ev, mode, is_local=True)
    if here is not None and not made.has_effects and not has_function(x):
        linked.last = here, made
    return made


def _applied(f: AnyMap, x: Any, dx: Any) -> Any:
    some = isinstance(x, Expr) or isinstance(dx, Expr)
    return f(*[const(v) if some and isinstance(v, Vec) else v for v in (x, dx)])


def _require_tangent(x: Value, dx: Value) -> None:
    try:
        require_shape(x, dx)
    except SpaceError as error:
        raise TermError("shape", str(error)) from None


# --- the derivations ---


def forward(linked: Linked, callee: Callee, arg: Value, ev: KsEvaluator) -> Value:
    """[fwd f] (x, dx) = ∂f(x) ⊙ dx."""
    x, dx = arg
    if (hand := by_name(linked, "fwd", callee)) is not None:
        return call(linked, hand, arg, ev)
    if not reals(x):
        return zero_like(call(linked, callee, x, ev))
    _require_tangent(x, dx)
    f = _map_at(linked, callee, x, ev, "fwd")
    ys = reals(f.result)
    if not ys:
        return zero_like(call(linked, callee, x, ev) if f.has_effects else f.result)
    if f.has_effects and not _has_expressions(x, dx):
        return with_reals(f.result, split(affine(f.map, packed(leaves_of(x)))[1](packed(along(x, dx))), len(ys)))
    found = split(_applied(later(linked, jvp(f.map), ev.modes), packed(leaves_of(x)), packed(along(x, dx))), len(ys))
    return with_reals(f.result, _kept(f, x, found, ev))


def backward(linked: Linked, callee: Callee, arg: Value, ev: KsEvaluator, mode: str = "rev") -> Value:
    """[rev f] (x, dt) = dt ⊙R ∂f(x); in the mode sufrev, what is called is in two passes where it is so by hand."""
    x, dt = arg
    if (hand := written(linked, mode, callee)) is not None:
        return reversed_by(linked, hand, callee, arg, ev)
    if not reals(x) or not types.is_real(callee.result):
        _require_tangent(call(linked, callee, x, ev), dt)  # it may check or print something
        return zero_like(x)
    f = _map_at(linked, callee, x, ev, mode)
    _require_tangent(f.result, dt)
    if not reals(dt):
        return zero_like(x)
    if f.has_effects and not _has_expressions(x, dt):
        back = adjoint(affine(f.map, packed(leaves_of(x)))[1])
        return with_reals(x, parts(x, back(packed(reals(dt)))))
    found = parts(x, _applied(later(linked, vjp(f.map), ev.modes), packed(leaves_of(x)), packed(reals(dt))))
    return with_reals(x, _kept(f, x, found, ev))


def _has_expressions(*values: Value) -> bool:
    return any(isinstance(leaf, Expr) for value in values for leaf in leaves_of(value))


def _kept(f: Mapped, x: Value, found: Sequence[Any], ev: KsEvaluator) -> Sequence[Any]:
    """The leaves of a derivative, after what the value checks and prints."""
    if not f.has_effects:
        return found
    ev.effects.append("derived")
    value = f.map(packed(leaves_of(x), expressions=True))
    return [effects.after(found[0], split(value, len(leaves_of(f.result)))[0]), *found[1:]]


def linear(linked: Linked, callee: Callee, x: Value, ev: KsEvaluator) -> Linear:
    """[D f] x = ∂f(x)."""
    return Linear(
        lambda dx: forward(linked, callee, (x, dx), ev),
        lambda r: backward(linked, callee, (x, r), ev),
    )


def _polymorphic(linked: Linked, callee: Callee, arg: Value, ev: KsEvaluator, *, is_reverse: bool) -> Value:
    """[poly f] (x, m) = (f x, ∂f(x) ∘ m); [polyR f] (x, m) = (f x, m ∘ ∂f(x)ᵀ)."""
    x, m = arg
    d = linear(linked, callee, x, ev)
    return call(linked, callee, x, ev), compose((m, transposed(d)) if is_reverse else (d, m))


def first_pass(linked: Linked, callee: Callee, x: Value, ev: KsEvaluator) -> Value:
    """[suffwdpass f] x: the value, and what the second pass needs; at a point, the linear map there."""
    xs = leaves_of(x)
    if not reals(x) or any(isinstance(leaf, Expr) for leaf in xs) or written(linked, "sufrev", callee) is not None:
        value = call(linked, callee, x, ev)
        return value, _record(lambda r: backward(linked, callee, (x, r), ev, "sufrev"))
    f = _map_at(linked, callee, x, ev, "sufrev")
    if not reals(f.result):
        return call(linked, callee, x, ev), _record(lambda _: zero_like(x))
    made = call(linked, callee, x, ev) if f.is_partial else None
    with effects.quiet() if f.is_partial else nullcontext():
        value, derivative = affine(f.map, packed(xs))
    back = adjoint(derivative)
    if made is None:
        made = filled(f.result, iter(split(value, len(reals(f.result)))))

    def run(r: Value) -> Value:
        some = any(isinstance(leaf, Expr) for leaf in reals(r))
        return with_reals(x, parts(x, back(packed(reals(r), expressions=some))))

    return made, _record(run)


def _record(back: Callable[[Value], Value]) -> Linear:
    return Linear(_no_tangent, back, is_record=True)


def _no_tangent(_: Value) -> Value:
    raise TermError("type", "the record of suffwdpass is for sufrevpass only")


def second_pass(_linked: Linked, callee: Callee, arg: Value, _ev: KsEvaluator) -> Value:
    """[sufrevpass f] (dt, b)."""
    dt, kept = arg
    if not isinstance(kept, Linear):
        what = f"the suffwdpass of {callee.base} is written by hand: write the sufrevpass, too"
        raise TermError("unbound", what)
    return kept.transposed(dt)


def split_reverse(linked: Linked, callee: Callee, arg: Value, ev: KsEvaluator) -> Value:
    """[sufrev f] (x, dt): one pass after the other."""
    return backward(linked, callee, arg, ev, "sufrev")


def _shape(linked: Linked, callee: Callee, x: Value, ev: KsEvaluator) -> Value:
    return builtins.shape_of(call(linked, callee, x, ev), callee.result)


_DERIVED: dict[str, Callable[[Linked, Callee, Value, KsEvaluator], Value]] = {
    "D": linear,
    "tupled": lambda *of: (call(*of), linear(*of)),
    "poly": lambda *of: _polymorphic(*of, is_reverse=False),
    "polyR": lambda *of: _polymorphic(*of, is_reverse=True),
    "R": lambda *of: transposed(linear(*of)),
    "fwd": forward,
    "rev": backward,
    "sufrev": split_reverse,
    "suffwdpass": first_pass,
    "sufrevpass": second_pass,
    "shape": _shape,
    "CL": call,
}


# --- derivatives by hand ---


def by_name(linked: Linked, derivation: str, callee: Callee) -> Callee | None:
    """What is written by hand for [d f]."""
    one = linked.scope.table.get(((derivation, *callee.derivations), callee.base, callee.of))
    return one.callee if one is not None and one.function is not None else None


def written(linked: Linked, mode: str, callee: Callee) -> Callee | None:
    """What is written by hand for a mode."""
    found = (by_name(linked, derivation, callee) for derivation in MODES.get(mode, ()))
    return next((one for one in found if one is not None), None)


def later(linked: Linked, f: AnyMap, modes: tuple[str, ...]) -> AnyMap:
    """A derivative that will be derived in modes: the values of opaque calls in it have the rule of the next one."""
    if not modes or not linked.rules:
        return f

    def step(one: Step[Any]) -> Step[Any]:
        made = one.operation.on_lines(changed)
        if isinstance(made, Custom) and made.rule in linked.rules:
            depth, rule = linked.rules[made.rule]
            made = evolve(made, rule=rule) if depth > len(modes) else made
        return one if made is one.operation else evolve(one, operation=made)

    def changed(line: Line) -> Line:
        return evolve(line, steps=tuple(map(step, line.steps)))

    p = program(f)
    return Program(p.dom, p.cod, changed(p.line), p.names)


def reversed_by(linked: Linked, hand: Callee, callee: Callee, arg: Value, ev: KsEvaluator) -> Value:
    """dt ⊙R ∂f(x), by what is written by hand: at once, or in two passes."""
    if hand.derivations[0] != "suffwdpass":
        return call(linked, hand, arg, ev)
    second = by_name(linked, "sufrevpass", callee)
    if second is None:
        raise TermError("unbound", f"the suffwdpass of {callee.base} is written by hand, and no sufrevpass is")
    x, dt = arg
    _, kept = call(linked, hand, x, ev)
    return call(linked, second, (dt, kept), ev)
