"""Values back as terms: normal forms. Functions are not entered, but for those that have no λ: they are applied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from adjoint.higher.value.product_components import component
from adjoint.higher.value.pullback_values import (
    AnyValue,
    At,
    DirectionalCovector,
    DualNumber,
    Functional,
    Jacobian,
    Neutral,
    Pulled,
    Still,
    Stuck,
)
from adjoint.higher.value.stored_types import stored
from diff.lam.files.type_of_term import free_variables, type_of
from diff.lam.run.evaluate import Evaluator
from diff.lam.term.binding import Pass, each, substitute
from diff.lam.term.inductive import is_first_order, payload
from diff.lam.term.lam_values import Closure, Native, Stack, Tagged, Value
from diff.lam.term.terms import (
    AnyTerm,
    Con,
    Cov,
    Dv,
    Ev,
    Jac,
    Lam,
    Let,
    Lit,
    Plus,
    Point,
    Pull,
    Tuple,
    Var,
    Zero,
    fresh,
)
from diff.lam.term.types import Arrow, DataType, LeafType, Lin, TupleType, Ty, dual, ground
from hilbert import Vec
from hilbert.base.notarray import Applicable

if TYPE_CHECKING:
    from collections.abc import Sequence


class Reader(Evaluator):
    """Reads values back."""

    def read(self, value: AnyValue, ty: Ty) -> Pass:
        """Read a value back as a term in normal form; raise Stuck for one that moves with a tape (`DualNumber`)."""
        match value:
            case Neutral(term, kind):
                return _covector_of(term, kind, ty)
            case DualNumber():
                raise Stuck
            case Pulled() | Jacobian() | Closure() if isinstance(ty, Lin):  # pt(u) is stored as the function u
                return (yield self._covector(value, ty.dom))
            case Pulled(pattern, body, values, form, cod):
                (closed, names) = yield self.closed(Lam(pattern, body), values)
                form = yield self.read(form, Arrow(cod, dual(cod)))
                return with_lets(names, Pull(closed.pattern, closed.body, form))
            case Jacobian(op, direction, name):
                direction = yield self.read(direction, ground(op.dom))
                return Jac(op, direction, name)
            case Closure(lam, values):
                (closed, names) = yield self.closed(lam, values)
                return with_lets(names, closed)
            case Vec() | int() if not isinstance(ty, Lin):
                return Lit(value)
            case tuple() | Tagged() | Stack() | Vec() | int() | Applicable() | Native() | Still() | Functional():
                return (yield from self._typed(value, ty))
            case _:
                assert_never(value)

    def _typed(self, value: Value, ty: Ty) -> Pass:
        match ty:
            case Lin(dom, _):
                return (yield self._covector(value, dom))
            case TupleType(parts):
                components = []
                for one, part in zip(value, parts, strict=True):
                    components.append(Lit(one) if _is_number(one, part) else (yield self.read(one, part)))
                return Tuple(tuple(components))
            case DataType():
                return (yield from self._variant(value, ty))
            case Arrow(dom, cod):  # a sum of functions, or one whose derivative is left out
                x = fresh("x", dom)
                body = yield self.call(value, self.free(x))
                body = yield self.read(body, cod)
                return Lam(x, body)
            case LeafType():  # `read` has read its values
                raise AssertionError(value)
            case _:
                assert_never(ty)

    def _variant(self, value: Value, ty: DataType) -> Pass:
        """ℓ t; the rest of a list needs no pass of its own."""
        cells: list[tuple[str, list[AnyTerm]]] = []
        while isinstance(value, Tagged) and type(value.payload) is tuple and value.payload:
            kinds: Any = payload(ty, value.label)
            if kinds.parts[-1] is not ty:
                break
            made = []
            for one, part in zip(value.payload[:-1], kinds.parts, strict=False):
                made.append(Lit(one) if _is_number(one, part) else (yield self.read(one, part)))
            cells.append((value.label, made))
            value = value.payload[-1]
        term: AnyTerm
        if isinstance(value, Tagged):
            arg = yield self.read(value.payload, payload(ty, value.label))
            term = Con(value.label, ty, arg)
        else:  # the end of a list is neutral, or moves
            assert cells
            term = yield self.read(value, ty)
        while cells:
            label, made = cells.pop()
            term = Con(label, ty, Tuple((*made, term)))
        return term

    def _covector(self, value: Value, dom: Ty) -> Pass:
        """The normal forms of covectors."""
        if isinstance(dom, Lin):  # pt(u) is stored as u
            point = yield self.read(value, dom.dom)
            return Point(point)
        if isinstance(value, Functional):
            sums: AnyTerm = Zero(dual(dom))
            for k, one in enumerate(one for one in _collected(value.terms) if not _is_zero(one.covector)):
                term = yield self._evaluation(one, dom)
                sums = term if not k else Plus(sums, term)
            return sums
        match dom:
            case TupleType(parts):  # (c₁, …, cₙ): numbers, and covectors where there are functions
                made = yield each(lambda one: self._component(*one), list(zip(value, parts, strict=True)))
                return Cov(Tuple(tuple(made)))
            case DataType() if not is_first_order(dom):
                stored(dual(dom))  # refuses
                raise AssertionError(dom)
            case LeafType() | DataType() | Arrow():
                of = yield self.read(value, dom)
                return Cov(of)
            case _:
                assert_never(dom)

    def _component(self, value: Value, ty: Ty) -> Pass:
        """A covector among others: as numbers, where it has them."""
        term = yield self.read(value, dual(ty))
        return term.of if isinstance(term, Cov) and not isinstance(type_of(term.of), Lin) else term

    def _evaluation(self, one: At | DirectionalCovector, dom: Any) -> Pass:
        point = yield self.read(one.point, dom.dom)
        covector = yield self.read(one.covector, dual(dom.cod))
        if isinstance(one, At):
            return Ev(point, covector)
        direction = yield self.read(one.direction, dom.dom)
        return Dv(point, direction, covector)

    def closed(self, lam: Lam, values: dict[int, Value]) -> Pass:
        """A function with its variables replaced: atoms in their places, and the others as a list of lets."""
        put: dict[int, AnyTerm] = {}
        lets: list[tuple[Var, AnyTerm]] = []
        for x, uses in free_variables(lam).values():
            if x.number not in values:
                continue
            term = yield self.read(values[x.number], x.type)
            if uses == 1 or isinstance(term, (Var, Lit, Zero)):
                put[x.number] = term
            else:
                put[x.number] = name = fresh(x.name, x.type)
                lets.append((name, term))
        return (substitute(lam, put) if put else lam), lets


def _collected(terms: Sequence[At | DirectionalCovector]) -> list[At | DirectionalCovector]:
    """Evaluations at one vector with numbers are one: c(h a) + d(h a) = (c + d)(h a)."""
    evaluations: dict[Any, Any] = {}
    for k, one in enumerate(terms):
        if isinstance(one, At) and isinstance(one.point, Vec) and isinstance(one.covector, Vec):
            key = one.point.flat().tobytes()
            before = evaluations.get(key)
            sums: Any = one.covector if before is None else before.covector + one.covector
            evaluations[key] = At(one.point, sums)
        else:
            evaluations[k] = one
    return list(evaluations.values())


def _covector_of(term: AnyTerm, kind: Ty, ty: Ty) -> AnyTerm:
    """A covector that is stored as a neutral term of another type: pt(u) as u, [r]* as r."""
    if kind is ty or not isinstance(ty, Lin):
        return term
    if isinstance(ty.dom, Lin):
        return Point(_covector_of(term, kind, ty.dom.dom))
    return term if isinstance(kind, Lin) else Cov(term)


def _is_number(value: Value, ty: Ty) -> bool:
    """Tell if a value is read at once: numbers, but for those of covectors."""
    return isinstance(value, (Vec, int)) and not isinstance(ty, Lin)


def _is_zero(covector: Value) -> bool:
    """Tell if a covector is a 0 of numbers: ev(a; 0) = 0."""
    if isinstance(covector, tuple):
        return all(map(_is_zero, covector))
    return isinstance(covector, Vec) and not covector.array.any()


def with_lets(lets: list[tuple[Var, AnyTerm]], term: AnyTerm) -> AnyTerm:
    """let … in t."""
    for x, value in reversed(lets):
        term = Let(x, value, term)
    return term


def neutral(term: AnyTerm, ty: Ty) -> Value:
    """A neutral term as a value: of a product, the tuple of its components."""
    if isinstance(ty, TupleType):
        return tuple(neutral(component(term, k), part) for k, part in enumerate(ty.parts))
    return Neutral(term, ty)
