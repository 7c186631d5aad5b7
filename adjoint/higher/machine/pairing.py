"""⟪c, d⟫: a covector at a direction (§10.1 of the paper)."""

from __future__ import annotations

from typing import Any

from adjoint.higher.machine.machine import Machine
from adjoint.higher.value.pullback_values import At, Functional, Stuck
from adjoint.higher.value.stored_types import stored
from diff.jets.multiindex import count
from diff.lam.check.library_names import primitive, sign
from diff.lam.files.type_of_term import type_of
from diff.lam.run.evaluate import STEPS
from diff.lam.term.binding import Pass
from diff.lam.term.inductive import payload
from diff.lam.term.lam_values import Tagged, Value
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, require_term
from diff.lam.term.types import Arrow, DataType, Lin, TupleType, Ty
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
    found: Vec[Any] = driven(_paired(machine, covector, direction, ty.dom))
    return found


def _paired(machine: Machine, covector: AnyTerm, direction: AnyTerm, ty: Ty) -> Pass:
    c = yield machine.value(covector, {})
    d = yield machine.value(direction, {})
    try:
        return driven(_of_values(machine, c, d, ty))
    except Stuck:
        raise TermError("unbound", "the covector or the direction has a free variable", covector.place) from None


def _of_values(machine: Machine, covector: Value, direction: Value, ty: Ty) -> Pass:
    """⟪c, d⟫ of values that do not move, d : σ."""
    total: Value = R.vec(0.0)
    todo = [(covector, direction, ty)]
    while todo:
        c, d, kind = todo.pop()
        match c, d, kind:
            case Functional(terms), _, Arrow(_, cod):
                for term in terms:
                    if isinstance(term, At):  # ⟪ev(a; c), d⟫ = ⟪c, d a⟫
                        value = yield machine.call(d, term.point)
                    else:  # ⟪dv(a, u; c), d⟫ = ⟪c, 𝒟d(a)(u)⟫
                        value = yield machine.differential(d, term.point, term.direction, kind)
                    todo.append((term.covector, value, cod))
            case _, Functional(), Lin(Arrow() as arrow, _):  # ⟪pt(u), φ⟫ = φ(u)
                todo.append((d, c, arrow))
            case tuple(), tuple(), _:
                kind = stored(kind)
                assert isinstance(kind, TupleType)
                todo.extend(zip(c, d, kind.parts, strict=True))
            case Tagged(label, x), Tagged(other, y), _:
                if label != other:
                    raise TermError("shape", f"a covector at {label} is paired with a direction at {other}")
                kind = stored(kind)
                assert isinstance(kind, DataType)
                todo.append((x, y, payload(kind, label)))
            case int(), _, _:
                pass
            case Vec(), Vec(), _:
                if c.space.is_space:
                    product = machine.primitive(primitive("inner", c.space), (c, d))
                    total = machine.primitive(sign("+", R, R), (total, product))
            case _:  # a free variable
                raise Stuck
    return total
