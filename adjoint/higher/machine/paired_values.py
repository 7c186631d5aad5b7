"""⟪c, d⟫ of values: a covector at a direction (§10.1 of the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.higher.value.moving_levels import is_vector, space_below
from adjoint.higher.value.pullback_values import At, Functional, Stuck
from adjoint.higher.value.stored_types import stored
from diff.lam.check.library_names import primitive, sign
from diff.lam.term.inductive import payload
from diff.lam.term.lam_values import Tagged, Value
from diff.lam.term.term_error import TermError
from diff.lam.term.types import Arrow, DataType, Lin, TupleType, Ty
from hilbert import R

if TYPE_CHECKING:
    from adjoint.higher.machine.pushforward import Pusher
    from diff.lam.term.binding import Pass


def paired(machine: Pusher, covector: Value, direction: Value, ty: Ty) -> Pass:
    """⟪c, d⟫, d : σ, a number that moves where they do; raises Stuck at a neutral term."""
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
            case _ if is_vector(c) and is_vector(d):
                space = space_below(c)
                if space.is_space:
                    product = machine.primitive(primitive("inner", space), (c, d))
                    total = machine.primitive(sign("+", R, R), (total, product))
            case _:  # asks for what can be paired: another value, as a free variable, is unknown
                raise Stuck
    return total
