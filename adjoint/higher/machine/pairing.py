"""⟪c, d⟫: a covector at a direction (§10.1 of the paper)."""

from __future__ import annotations

from typing import Any, assert_never

from adjoint.higher.machine.machine import Machine, refusal
from adjoint.higher.machine.paired_values import paired
from adjoint.higher.value.pullback_values import Pulled, Stuck
from diff.jets.multiindex import count
from diff.lam.check.library_names import sign
from diff.lam.files.type_of_term import free_variables, type_of
from diff.lam.run.evaluate import STEPS
from diff.lam.run.matching import bind
from diff.lam.term.binding import Pass
from diff.lam.term.lam_values import Closure, Native, Value
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, Lam, Let, Plus, pattern_type, require_term
from diff.lam.term.types import REAL, Arrow, DataType, Ground, Int, Lin, TupleType, Ty, TypeVariable
from hilbert import R, Vec
from hilbert.base.term import driven


def pairing(covector: AnyTerm, direction: AnyTerm, steps: int = STEPS) -> Vec[Any]:
    """⟪c, d⟫ of closed terms c : σ* and d : σ (§10.1).

    Raises TermError: `type` for terms of other types, `unbound` where a free variable stops it.
    """
    require_term(covector, "pairing(c, d)")
    require_term(direction, "pairing(c, d)")
    machine = Machine(count(steps, "pairing(c, d, steps=…)"))
    ty, along = type_of(covector), type_of(direction)
    if not isinstance(ty, Lin):
        raise TermError("type", f"a covector is paired with a direction, not a term of type {ty}", covector.place)
    if along is not ty.dom:
        due = f"a covector of type {ty} is paired with a direction of type {ty.dom}, not {along}"
        raise TermError("type", due, direction.place)
    number: Vec[Any] = driven(_paired(machine, covector, direction, ty.dom))
    return number


def _paired(machine: Machine, covector: AnyTerm, direction: AnyTerm, ty: Ty) -> Pass:
    d = yield machine.value(direction, {})
    try:
        c = driven(machine.value(covector, {}))
        return driven(paired(machine, c, d, ty))
    except Stuck as stuck:
        first = stuck
    if free_variables(covector) or free_variables(direction):
        raise TermError("unbound", "the covector or the direction has a free variable", covector.place)
    try:
        return driven(_along(machine, covector, {}, d))
    except Stuck:
        raise refusal(covector, first) from None


def _along(machine: Machine, covector: AnyTerm, env: dict[int, Value], direction: Value) -> Pass:
    """⟪((Ω λp. t)·ω) a, u⟫ = ⟪ω(t[a/p]), d/ds t[a + s·u/p]⟫ at s = 0: forward, so that no covector of u is due."""
    total: Value = R.vec(0.0)
    todo = [(covector, env)]
    while todo:
        term, env = todo.pop()
        match term:
            case Let(pattern, of, body) | App(Lam(pattern, body), of):
                value = yield machine.value(of, env)
                bind(pattern, value, inner := dict(env))
                todo.append((body, inner))
            case Plus(left, right):
                todo += (left, env), (right, env)
            case App(function, arg):
                f = yield machine.value(function, env)
                point = yield machine.value(arg, env)
                if isinstance(f, Closure):
                    bind(f.lam.pattern, point, inner := dict(f.values))
                    todo.append((f.lam.body, inner))
                    continue
                if not isinstance(f, Pulled):
                    raise Stuck
                entry = yield _pulled(machine, f, point, direction)
                total = machine.primitive(sign("+", R, R), (total, entry))
            case _:  # asks for what may hold a pullback: of other terms the covector is known
                value = yield machine.value(term, env)
                entry = yield paired(machine, value, direction, type_of(term).dom)  # type: ignore[union-attr]
                total = machine.primitive(sign("+", R, R), (total, entry))
    return total


def _pulled(machine: Machine, f: Pulled, point: Value, direction: Value) -> Pass:
    tape = machine.tape()
    s = machine.lifted(R.vec(0.0), REAL, tape)
    inner = dict(f.values)
    bind(f.pattern, _line(machine, point, direction, s, pattern_type(f.pattern)), inner)
    result = yield machine.value(f.body, inner)
    tape.forward[tape.nodes[0]] = [R.vec(1.0)]
    tangent = yield machine.pushed(tape, result, f.type)
    covector = yield machine.call(f.form, machine.still(result, tape.level))
    return (yield paired(machine, covector, tangent, f.type))


def _line(machine: Machine, a: Value, u: Value, s: Value, ty: Ty) -> Value:
    """a + s·u."""
    match ty:
        case TupleType(parts):
            return tuple(_line(machine, x, y, s, part) for x, y, part in zip(a, u, parts, strict=True))
        case Ground(space) if space.is_space:
            step = machine.primitive(sign("*", R, space), (s, u))
            return machine.primitive(sign("+", space, space), (a, step))
        case Arrow(_, cod):

            def run(x: Value) -> Pass:
                left = yield machine.call(a, x)
                right = yield machine.call(u, x)
                return _line(machine, left, right, s, cod)

            return Native(run, (a, u, s))
        case Ground() | Int() | DataType() | Lin() | TypeVariable():
            raise Stuck
        case _:
            assert_never(ty)
