r"""Derivatives of functionals that can be read: sums of evaluations, with points and weights.

>>> from diff.higher import Module
>>> term = lambda text: Module().term(text)[0]
>>> d = differential(term(r"\f. (f 1)^2 + 3 * f 2"), term(r"\x. x*x"))
>>> print(d)
ev(2; cov(3)) + ev(1; cov(2))
>>> d.points, d.weights
([2.0, 1.0], [3.0, 2.0])
>>> d(term(r"\x. x"))
8.0
>>> print(d.representer(term(r"\a y. exp (a*y)")))
λy. 3*exp (2*y) + 2*exp (1*y)
"""

from __future__ import annotations

from typing import Any, final

from attrs import field, frozen

from adjoint.higher.machine.machine import reduce
from adjoint.higher.machine.pairing import pairing
from diff.lam.check.library_names import sign
from diff.lam.files.type_of_term import free_variables, type_of
from diff.lam.run.evaluate import evaluate
from diff.lam.term.lam_values import Value
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Cov,
    Diff,
    Dv,
    Ev,
    Lam,
    Plus,
    Prim,
    Pull,
    Tuple,
    Zero,
    fresh,
    real,
    require_term,
)
from diff.lam.term.types import REAL, Arrow
from hilbert import R, Vec
from hilbert.displayed import Displayed


@final
@frozen
class Covector(Displayed):
    """σ* : a linear functional on functions in its normal form, a sum of ev(a; c) and dv(a, u; c)."""

    term: AnyTerm
    terms: tuple[Ev | Dv, ...] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        require_term(self.term, "Covector(c)")
        object.__setattr__(self, "terms", tuple(_summands(self.term)))

    def __str__(self) -> str:
        return str(self.term)

    def __call__(self, direction: AnyTerm) -> float:
        """⟪c, h⟫, h a closed term; raises TermError `type` for one of another type than the functions."""
        require_term(direction, "d(h)")
        return float(pairing(self.term, direction).array)

    @property
    def points(self) -> list[Value]:
        """The points at which the functional looks at its argument: numbers as floats, the others as values."""
        return [_plain(evaluate(one.at)) for one in self.terms]

    @property
    def directions(self) -> list[Value]:
        """Along which vector it differentiates there, as dv(a, u; c) does; None where it evaluates, as ev(a; c)."""
        return [_plain(evaluate(one.along)) if isinstance(one, Dv) else None for one in self.terms]

    @property
    def weights(self) -> list[Value]:
        """The covectors that it puts there, as the vectors that they are."""
        return [_plain(evaluate(one.covector.of)) for one in self.terms if isinstance(one.covector, Cov)]

    def representer(self, kernel: AnyTerm) -> AnyTerm:
        """y ↦ Σ c·k(a)(y): the gradient in the space of functions whose reproducing kernel is k : σ → σ → ℝ.

        Raises TermError `type` where the functional is on functions with other values than numbers, or k no kernel.
        """
        require_term(kernel, "d.representer(k)")
        ty = type_of(kernel)
        if not isinstance(ty, Arrow) or ty is not Arrow(ty.dom, Arrow(ty.dom, REAL)):
            raise TermError("type", f"a kernel is of type σ → σ → real, not {ty}", kernel.place)
        y = fresh("y", ty.dom)
        sums: AnyTerm | None = None
        for one in self.terms:
            if not isinstance(one.covector, Cov) or type_of(one.covector.of) is not REAL:
                raise TermError("type", "a representer is of functions whose values are numbers", kernel.place)
            a = fresh("a", ty.dom)
            section = Lam(a, App(App(kernel, a), y))
            value = App(section, one.at) if isinstance(one, Ev) else Diff(section, one.at, one.along)
            weighted = Prim(sign("*", R, R), Tuple((one.covector.of, value)), "*")
            sums = weighted if sums is None else Prim(sign("+", R, R), Tuple((sums, weighted)), "+")
        return Lam(y, real(0.0) if sums is None else reduce(sums))


def differential(functional: AnyTerm, at: AnyTerm) -> Covector:
    """The derivative of F : (σ → τ) → ℝ at f along f + s·h, linear in h, function types as vector spaces (§10.1).

    F and f are closed terms. Raises TermError `type` for an F that is no functional of functions, and an f of another
    type than these.
    """
    require_term(functional, "differential(F, f)")
    require_term(at, "differential(F, f)")
    ty = type_of(functional)
    if not isinstance(ty, Arrow) or not isinstance(ty.dom, Arrow) or ty.cod is not REAL:
        message = f"a functional is of type (σ → τ) → real, not {ty}; gradients in vectors are those of grad"
        raise TermError("type", message, functional.place)
    found = type_of(at)
    if found is not ty.dom:
        raise TermError("type", f"F is of type {ty}: f is due of type {ty.dom}, not {found}", at.place)
    x = fresh("f", ty.dom)
    form = Lam(fresh("_", REAL), Cov(real(1.0)))
    return Covector(reduce(App(Pull(x, App(functional, x), form), at)))


def _summands(term: AnyTerm) -> list[Any]:
    found, stack = [], [term]
    while stack:
        one = stack.pop()
        match one:
            case Plus(left, right):
                stack += [right, left]
            case Ev() | Dv():
                found.append(one)
            case Zero():
                pass
            case _ if not free_variables(one):
                message = f"a covector of functions is a sum of ev and dv, as differential(F, f) gives, not {one}"
                raise TermError("type", message, term.place)
            case _:  # asks for sums of ev and dv: another term with a variable is neutral
                raise TermError("unbound", f"the functional or the function has a free variable: {one}", term.place)
    return found


def _plain(value: Value) -> Value:
    return float(value.array) if isinstance(value, Vec) and value.space == R else value
