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

from attrs import evolve

from adjoint.languages.ks.builtin import effects
from adjoint.languages.ks.builtin.linear_primitives import add, compose, scale, transposed
from adjoint.languages.ks.builtin.shapes import shape_of
from adjoint.languages.ks.run.function_maps import Tracing, by_name, call, map_at, traced, written
from adjoint.languages.ks.run.map_arguments import no_cotangent
from adjoint.languages.ks.text.function_names import Callee, Written
from adjoint.languages.ks.value.convert import require_shape
from adjoint.languages.ks.value.ks_values import NO_COTANGENT, filled, is_map, leaves_of, linear_maps, mapped, zero_like
from adjoint.languages.ks.value.packing import along, packed, parts, reals, split, with_reals
from adjoint.languages.ks.value.types import has_maps, is_real
from adjoint.languages.ks.value.value_classes import Linear, Value
from adjoint.reverse.adjoint_affine import vjp
from adjoint.reverse.rules import adjoint
from diff import affine, const, jvp, program
from diff.lam.term.lam_values import Native
from diff.lam.term.term_error import TermError
from diff.terms.program import Program
from diff.terms.user_operation import Custom
from diff.trace.expr import Expr
from hilbert import R, SpaceError, Vec
from hilbert.program.control.control_flow import on_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.ks.run.evaluate import KsEvaluator, LinkedText
    from adjoint.languages.ks.run.function_maps import Mapped
    from diff.lam.term.binding import Pass
    from diff.lam.term.term_error import Place
    from hilbert.map.map import AnyMap
    from hilbert.program.line.line import Line, Step


def derived(linked: LinkedText, callee: Callee, ev: KsEvaluator, place: Place | None) -> Native:
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


def _applied(f: AnyMap, x: Any, dx: Any) -> Any:
    some = isinstance(x, Expr) or isinstance(dx, Expr)
    return f(*[const(v) if some and isinstance(v, Vec) else v for v in (x, dx)])


def _require_tangent(x: Value, dx: Value) -> None:
    try:
        require_shape(x, dx)
    except SpaceError as error:
        raise TermError("shape", str(error)) from None


# --- the derivations ---


def forward(linked: LinkedText, callee: Callee, arg: Value, ev: KsEvaluator) -> Value:
    """[fwd f] (x, dx) = ∂f(x) ⊙ dx."""
    x, dx = arg
    if (hand := by_name(linked, "fwd", callee)) is not None:
        return call(linked, hand, arg, ev)
    if linear_maps(x):
        return _along_maps(linked, callee, arg, ev)
    if not reals(x):
        return zero_like(call(linked, callee, x, ev))
    _require_tangent(x, dx)
    f = map_at(linked, callee, x, ev, "fwd")
    _require_apart(f, ev)
    if f.effects and not reals(f.result):
        call(linked, callee, x, ev)

    def run(arg: Value, inside: KsEvaluator) -> Value:
        return call(linked, callee, arg, inside, ("fwd",))

    return _pushed(linked, callee, f, run, arg, ev)


def _require_apart(f: Mapped, ev: KsEvaluator) -> None:
    """Raise where a derivative prints something in a body."""
    if "write" in f.effects and not ev.where.is_outside:
        effects.not_at_once(ev)


def _along_maps(linked: LinkedText, callee: Callee, arg: Value, ev: KsEvaluator) -> Value:
    """The tangent where arguments are linear maps: that of f at m ⊕ ε·dm, along ε, too."""
    x, dx = arg
    _require_tangent(x, dx)

    def run(given: Value, inside: KsEvaluator) -> Value:
        eps, at = given

        def moved(m: Value, dm: Value) -> Value:
            return add((m, compose((scale((None, eps)), dm)))) if is_map(m) else m

        return call(linked, callee, mapped(moved, at, dx), inside, ("fwd",))

    here = all(isinstance(leaf, Vec) for leaf in leaves_of(x))
    f = traced(linked, callee, run, (R.zeros(), x), ev, Tracing("fwd", is_local=here))
    _require_apart(f, ev)
    if f.effects and not reals(f.result):
        call(linked, callee, x, ev)
    return _pushed(linked, callee, f, run, ((R.zeros(), x), (R.vec(1.0), dx)), ev)


def _pushed(
    linked: LinkedText, callee: Callee, f: Mapped, run: Callable[..., Value], arg: Value, ev: KsEvaluator
) -> Value:
    """The tangent of what `run` gives: of a linear map m in it, u ↦ that of m ⊙ u, and so its transpose."""
    x, dx = arg
    ys, at = reals(f.result), packed(leaves_of(x))
    found: Sequence[Any] = ()
    if not ys:
        pass  # linear maps alone, or what is discrete
    elif f.effects and not _has_expressions(x, dx):
        found = split(affine(f.map, at)[1](packed(along(x, dx))), len(ys))
    else:
        derivative = later(linked, jvp(f.map), ev.where.modes)
        found = _kept(f, x, split(_applied(derivative, at, packed(along(x, dx))), len(ys)), ev)

    def moved(k: int, *, is_back: bool) -> Callable[[Value], Value]:
        def applied(given: Value, inside: KsEvaluator) -> Value:
            m = linear_maps(run(given[0], inside))[k]
            return m.transposed(given[1]) if is_back else m.apply(given[1])

        def along_u(u: Value) -> Value:
            there = traced(linked, callee, applied, (x, u), ev, Tracing("fwd"))
            return _pushed(linked, callee, there, applied, ((x, u), (dx, zero_like(u))), ev)

        return along_u

    count = len(linear_maps(f.result))
    maps = iter([Linear(moved(k, is_back=False), moved(k, is_back=True)) for k in range(count)])
    return mapped(lambda v, dv: next(maps) if is_map(v) else dv, f.result, with_reals(f.result, found))


def backward(linked: LinkedText, callee: Callee, arg: Value, ev: KsEvaluator, mode: str = "rev") -> Value:
    """[rev f] (x, dt) = dt ⊙R ∂f(x); in the mode sufrev, what is called is in two passes where it is so by hand."""
    x, dt = arg
    if (hand := written(linked, mode, callee)) is not None:
        return reversed_by(linked, hand, callee, arg, ev)
    if reals(x):
        require_reversible(callee)
    if not reals(x) or not is_real(callee.result):
        return _of_nothing(callee, x, call(linked, callee, x, ev), dt)  # it may check or print something
    f = map_at(linked, callee, x, ev, mode)
    _require_apart(f, ev)
    _require_tangent(f.result, dt)
    if not reals(dt):
        return _no_cotangent(callee, x)
    if f.effects and not _has_expressions(x, dt):
        back = adjoint(affine(f.map, packed(leaves_of(x)))[1])
        return _cotangent(callee, x, parts(x, back(packed(reals(dt)))))
    found = parts(x, _applied(later(linked, vjp(f.map), ev.where.modes), packed(leaves_of(x)), packed(reals(dt))))
    return _cotangent(callee, x, _kept(f, x, found, ev))


def require_reversible(callee: Callee) -> None:
    """Raise TermError for a function that returns a linear map."""
    if has_maps(callee.result, linear=True):
        what = f"{callee.key} returns a linear map, and is not derived in reverse"
        raise TermError("linear", f"{what}: derive a function that applies the map by lmApply or lmApplyR")


def _cotangent(callee: Callee, x: Value, leaves: Sequence[Any]) -> Value:
    """The cotangent at an argument with these reals, without those of linear maps."""
    return with_reals(x, leaves, no_cotangent(callee) if linear_maps(x) else NO_COTANGENT)


def _no_cotangent(callee: Callee, x: Value) -> Value:
    return _cotangent(callee, x, [leaf.space.zeros() for leaf in reals(x)])


def _of_nothing(callee: Callee, x: Value, value: Value, dt: Value) -> Value:
    """The cotangent at an argument without reals."""
    _require_tangent(value, dt)
    return _no_cotangent(callee, x)


def _has_expressions(*values: Value) -> bool:
    return any(isinstance(leaf, Expr) for value in values for leaf in leaves_of(value))


def _kept(f: Mapped, x: Value, found: Sequence[Any], ev: KsEvaluator) -> Sequence[Any]:
    """The leaves of a derivative, after what the value checks and prints."""
    if not f.effects:
        return found
    ev.effects |= f.effects
    value = f.map(packed(leaves_of(x), expressions=True))
    return [effects.after(found[0], split(value, len(leaves_of(f.result)))[0]), *found[1:]]


def linear(linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator) -> Linear:
    """[D f] x = ∂f(x)."""
    return Linear(
        lambda dx: forward(linked, callee, (x, dx), ev),
        lambda r: backward(linked, callee, (x, r), ev),
    )


def _polymorphic(linked: LinkedText, callee: Callee, arg: Value, ev: KsEvaluator, *, is_reverse: bool) -> Value:
    """[poly f] (x, m) = (f x, ∂f(x) ∘ m); [polyR f] (x, m) = (f x, m ∘ ∂f(x)ᵀ)."""
    x, m = arg
    d = linear(linked, callee, x, ev)
    return call(linked, callee, x, ev), compose((m, transposed(d)) if is_reverse else (d, m))


def first_pass(linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator) -> Value:
    """[suffwdpass f] x: the value, and what the second pass needs; at a point, the linear map there."""
    if has_maps(callee.result, linear=True) or written(linked, "sufrev", callee) is not None:
        return call(linked, callee, x, ev), _record(lambda r: backward(linked, callee, (x, r), ev, "sufrev"))
    if not reals(x):
        value = call(linked, callee, x, ev)
        return value, _record(lambda r: _of_nothing(callee, x, value, r))
    f, xs = map_at(linked, callee, x, ev, "sufrev"), leaves_of(x)
    _require_apart(f, ev)
    if any(isinstance(leaf, Expr) for leaf in xs):
        return _first_pass_in_a_program(linked, callee, x, f, ev)
    if not reals(f.result):
        return call(linked, callee, x, ev), _record(lambda _: _no_cotangent(callee, x))
    made = call(linked, callee, x, ev) if f.is_partial else None
    with effects.quiet() if f.is_partial else nullcontext():
        value, derivative = affine(f.map, packed(xs))
    back = adjoint(derivative)
    if made is None:
        made = filled(f.result, iter(split(value, len(reals(f.result)))))

    def run(r: Value) -> Value:
        some = any(isinstance(leaf, Expr) for leaf in reals(r))
        return _cotangent(callee, x, parts(x, back(packed(reals(r), expressions=some))))

    return made, _record(run)


def _first_pass_in_a_program(linked: LinkedText, callee: Callee, x: Value, f: Mapped, ev: KsEvaluator) -> Value:
    """The value, and the adjoint as steps that share what checks or prints something with it, outside of bodies."""
    if not f.effects or f.is_partial or not reals(f.result) or not ev.where.is_outside:
        return call(linked, callee, x, ev), _record(lambda r: backward(linked, callee, (x, r), ev, "sufrev"))
    ev.effects |= f.effects
    at = packed(leaves_of(x), expressions=True)
    value = filled(f.result, iter(split(f.map(at), len(reals(f.result)))))
    back = later(linked, vjp(f.map), ev.where.modes)
    return value, _record(lambda r: _cotangent(callee, x, parts(x, back(at, packed(reals(r), expressions=True)))))


def _record(back: Callable[[Value], Value]) -> Linear:
    return Linear(_no_tangent, back, is_record=True)


def _no_tangent(_: Value) -> Value:
    raise TermError("type", "the record of suffwdpass is for sufrevpass only")


def second_pass(_linked: LinkedText, callee: Callee, arg: Value, _ev: KsEvaluator) -> Value:
    """[sufrevpass f] (dt, b)."""
    dt, kept = arg
    if not isinstance(kept, Linear):
        what = f"the suffwdpass of {callee.base} is written by hand: write the sufrevpass, too"
        raise TermError("unbound", what)
    return kept.transposed(dt)


def split_reverse(linked: LinkedText, callee: Callee, arg: Value, ev: KsEvaluator) -> Value:
    """[sufrev f] (x, dt): one pass after the other."""
    return backward(linked, callee, arg, ev, "sufrev")


def _shape(linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator) -> Value:
    return shape_of(call(linked, callee, x, ev), callee.result)


_DERIVED: dict[str, Callable[[LinkedText, Callee, Value, KsEvaluator], Value]] = {
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


def later(linked: LinkedText, f: AnyMap, modes: tuple[str, ...]) -> AnyMap:
    """A derivative that will be derived in modes: the values of opaque calls in it have the rule of the next one."""
    if not modes or not linked.rules:
        return f

    def step(one: Step[Any]) -> Step[Any]:
        made = on_lines(one.operation, changed)
        if isinstance(made, Custom) and made.rule in linked.rules:
            depth, rule = linked.rules[made.rule]
            made = evolve(made, rule=rule) if depth > len(modes) else made
        return one if made is one.operation else evolve(one, operation=made)

    def changed(line: Line) -> Line:
        return evolve(line, steps=tuple(map(step, line.steps)))

    p = program(f)
    return Program(p.dom, p.cod, changed(p.line), p.names)


def reversed_by(linked: LinkedText, hand: Callee, callee: Callee, arg: Value, ev: KsEvaluator) -> Value:
    """dt ⊙R ∂f(x), by what is written by hand: at once, or in two passes."""
    if hand.derivations[0] != "suffwdpass":
        return call(linked, hand, arg, ev)
    second = by_name(linked, "sufrevpass", callee)
    if second is None:
        raise TermError("unbound", f"the suffwdpass of {callee.base} is written by hand, and no sufrevpass is")
    x, dt = arg
    _, kept = call(linked, hand, x, ev)
    return call(linked, second, (dt, kept), ev)
