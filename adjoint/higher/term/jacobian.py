"""The Jacobian judgement (§9.2 of the paper): Jac(y. E; V; v) = S, with the numbers of its rules.

Rules 7, 8 and 20 are unrolled: an environment has the value and the tangent of each name of a let series. The machine
does the same without terms; here it finds the values.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from attrs import evolve

from adjoint.higher.machine.machine import reduce
from adjoint.higher.term.anormal import a_normal, series
from adjoint.higher.value.product_components import component
from diff.lam.files.type_of_term import free_variables, type_of
from diff.lam.term.binding import Pass, each, substitute
from diff.lam.term.former import OpenFormer, Strict
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Case,
    Con,
    Cov,
    Diff,
    Dual,
    Fix,
    Fold,
    If,
    Jac,
    Lam,
    Let,
    Lit,
    Plus,
    Point,
    Prim,
    Proj,
    Pull,
    Sharp,
    Tuple,
    Var,
    Zero,
    fresh,
    pattern_type,
    real,
)
from diff.lam.term.types import DataType, Ty, mentions
from hilbert.base.term import driven

Moved: TypeAlias = dict[int, tuple[AnyTerm, AnyTerm | None]]
"""The value and the tangent (None for 0) of each variable that has been pulled back or bound since, by number."""


def at(term: AnyTerm, moved: Moved) -> AnyTerm:
    """W: E[V/y]."""
    free = free_variables(term)
    return substitute(term, {k: value for k, (value, _) in moved.items() if k in free})


def elementary(term: AnyTerm, moved: Moved) -> tuple[str, AnyTerm | None]:
    """Jac(y. E; V; v) of an elementary term: the number of the rule, and S, None for 0."""
    judgement: tuple[str, AnyTerm | None] = driven(rule(term, moved))
    return judgement


def unfolded(term: Pull) -> Lam:
    """(17): (Ω λx. L)·z as λa. (λu. S')*·(z L[a/x]), S' = Jac(x. L; a; u)."""
    function: Lam = driven(_unfolded(term))
    return function


def _series(body: AnyTerm, moved: Moved) -> Pass:
    """Jac(y. L; V; v) of a term, as a series of lets; None for 0."""
    bindings, last = series(body)
    moved = dict(moved)
    lets: list[tuple[Var, AnyTerm]] = []
    for z, term in bindings:
        whole = (yield _unfolded(term)) if isinstance(term, Pull) else term
        value = reduce(at(whole, moved))
        _, tangent = yield rule(term, moved)
        if tangent is not None and not isinstance(tangent, Var):
            d = fresh("d", z.type)
            lets.append((d, tangent))
            tangent = d
        moved[z.number] = value, tangent
    tangent_term = _tangent(last, moved)
    if tangent_term is None:
        return None
    for d, tangent in reversed(lets):
        tangent_term = Let(d, tangent, tangent_term)
    return tangent_term


def rule(term: AnyTerm, moved: Moved) -> Pass:
    """As `elementary`, a pass."""
    moving = [x for x, _ in free_variables(term).values() if _tangent(x, moved) is not None]
    if not moving:
        return "9", None

    def d(atom: AnyTerm) -> AnyTerm | None:
        return _tangent(atom, moved)

    match term:
        case Plus(left, right) | Prim(_, Tuple((left, right)), "+"):
            return "10", _sum(term, d(left), d(right))
        case Var():
            return "11", d(term)
        case Proj(index, of):
            return "12", Proj(index, _some(d(of)))
        case Tuple(parts):
            return "13", Tuple(tuple(_or_zero(d(part), at(part, moved)) for part in parts))
        case Jac(_, direction):
            return "14", evolve(term, direction=_some(d(direction)))
        case Prim(op, arg, name):
            return "15", App(Jac(op, _some(d(arg)), name), at(arg, moved))
        case Dual(_, body, atom, point):
            inner = yield _series(body, moved)
            spot = None if point is None else at(point, moved)
            first = None if d(atom) is None else _dual(at(Lam(term.pattern, body), moved), _some(d(atom)), spot)
            second = None if inner is None else evolve(term, body=inner, covector=at(atom, moved), point=spot)
            if second is None:
                return "16a", first
            return ("16b", second) if first is None else ("16c", Plus(first, second))
        case Pull():
            whole = yield _unfolded(term)
            _, made = yield rule(whole, moved)
            return "17", made
        case Lam(_, body):
            inner = yield _series(body, moved)
            return "18", None if inner is None else evolve(term, body=inner)
        case App(function, arg):
            still_arg = at(arg, moved)
            linear = None if d(function) is None else App(_some(d(function)), still_arg)
            along = d(arg)
            if along is None:
                return "19a", linear
            f = reduce(at(function, moved))
            if not isinstance(f, Lam) or not isinstance(f.pattern, Var):  # values 1 and 2 of the paper (§13.1)
                return "19d", _sum(term, linear, Diff(f, still_arg, along))
            inner = yield _series(f.body, {f.pattern.number: (still_arg, along)})
            return ("19c", linear) if inner is None else ("19b", _sum(term, linear, inner))
        case Cov(of) | Sharp(of) | Point(of):  # linear (§13.4)
            return "§13", evolve(term, of=_some(d(of)))
        case Con(_, _, arg):  # ours: the tag stays
            return "§13", evolve(term, arg=_some(d(arg)))
        case If() | Case() | Fold() | Fix() | Let() | Strict():  # ours: the value decides
            names = Tuple(tuple(fresh(x.name, x.type) for x in moving))
            values = {x.number: y for x, y in zip(moving, names.parts, strict=True)}
            rest = {k: pair for k, pair in moved.items() if k not in values}
            function = Lam(names, at(substitute(term, values), rest))
            pairs = [moved[x.number] for x in moving]
            point, tangent = Tuple(tuple(v for v, _ in pairs)), Tuple(tuple(_some(t) for _, t in pairs))
            return "§13", Diff(function, point, tangent)
        case Lit() | Zero() | OpenFormer():
            raise AssertionError("constants do not move")
        case _:
            assert_never(term)


def _unfolded(term: Pull) -> Pass:
    """(17)."""
    ty = pattern_type(term.pattern)
    a, u = fresh("a", ty), fresh("u", ty)
    moved: Moved = {}
    bind(term.pattern, a, u, moved)
    inner = yield _series(term.body, moved)
    value = at(term.body, moved)
    body = _or_zero(inner, value)
    return Lam(a, a_normal(Dual(u, body, App(term.form, value), tangent_point(a, ty))))


def bind(pattern: AnyTerm, value: AnyTerm, tangent: AnyTerm, moved: Moved) -> None:
    """Match a pattern with a value and a tangent."""
    todo = [(pattern, value, tangent)]
    while todo:
        one, v, u = todo.pop()
        if isinstance(one, Var):
            moved[one.number] = v, u
        else:
            assert isinstance(one, Tuple)
            todo += [(part, component(v, k), component(u, k)) for k, part in enumerate(one.parts)]


def _tangent(atom: AnyTerm, moved: Moved) -> AnyTerm | None:
    """ȧ."""
    assert isinstance(atom, Var)
    return moved[atom.number][1] if atom.number in moved else None


def _some(tangent: AnyTerm | None) -> AnyTerm:
    assert tangent is not None, "rule 9 is asked first"
    return tangent


def _or_zero(tangent: AnyTerm | None, value: AnyTerm) -> AnyTerm:
    return zero_like(value) if tangent is None else tangent


def zero_like(value: AnyTerm) -> AnyTerm:
    """0 among the tangents at a value: of a variant, with its tags; where these are not seen, 𝒟(λ_. t)(0)(0)."""
    zero: AnyTerm = driven(_zero_like(value))
    return zero


def _zero_like(value: AnyTerm) -> Pass:
    match value:
        case Con(_, _, arg):
            arg = yield _zero_like(arg)
            return evolve(value, arg=arg)
        case Tuple(parts):
            zeros = yield each(_zero_like, parts)
            return Tuple(tuple(zeros))
        case _:  # tags are seen in constructors and tuples alone
            ty = type_of(value)
            if not mentions(ty, DataType):
                return Zero(ty)
            return Diff(Lam(fresh("_"), value), real(0.0), real(0.0))


def tangent_point(point: AnyTerm, ty: Ty) -> AnyTerm | None:
    """The point that a dual map on σ keeps, at which its argument is a tangent: none, unless σ has variants."""
    return point if mentions(ty, DataType) else None


def _sum(term: AnyTerm, left: AnyTerm | None, right: AnyTerm | None) -> AnyTerm | None:
    """A + B in the form of the sum at hand."""
    if left is None or right is None:
        return right if left is None else left
    return Prim(term.op, Tuple((left, right)), "+") if isinstance(term, Prim) else Plus(left, right)


def _dual(function: AnyTerm, covector: AnyTerm, point: AnyTerm | None) -> Dual:
    assert isinstance(function, Lam)
    return Dual(function.pattern, function.body, covector, point)
