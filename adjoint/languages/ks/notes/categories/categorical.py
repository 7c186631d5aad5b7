"""CL, the categorical language (§8): by conversion from terms with variables, and back; its types."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from adjoint.languages.ks.notes.categories.cl import (
    Bind,
    Build,
    Call,
    Choose,
    Cl,
    Constant,
    Extend,
    Fold,
    Identity,
    Pair,
    Reduce,
    Select,
    Tabulate,
    Then,
    shown,
)
from adjoint.languages.ks.notes.jacobian.nabla import refused
from adjoint.languages.ks.notes.reverse.pass_scopes import packed
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.text.typed_terms import Maker, reads
from adjoint.languages.ks.value.types import BOOL, arguments, rank, tensor, text, vec
from diff.lam.term.binding import binder, each
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, below, fresh, pattern_type, variables
from diff.lam.term.types import UNIT, TupleType
from hilbert.base.term import driven, postorder

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass
    from diff.lam.term.types import Ty


# --- from terms: C⟦e⟧Γ ---


def converted(e: AnyTerm, around: tuple[Var, ...], *, prunes: bool) -> Cl:
    """C⟦e⟧Γ, with the environment restricted to what is read at each point if it prunes. Assertions are dropped."""
    made: Cl = driven(_converted(e, around, _free(e) if prunes else None))
    return made


def _free(e: AnyTerm) -> dict[int, frozenset[int]]:
    """The free variables of each subterm, by its identity."""
    found: dict[int, frozenset[int]] = {}
    for node in postorder(e, below):
        if isinstance(node, Var):
            found[id(node)] = frozenset([node.number])
            continue
        bound = [x.number for x in variables(p)] if (p := binder(node)) is not None else []
        found[id(node)] = frozenset().union(*(found[id(part)] for part in below(node))).difference(bound)
    return found


def _converted(e: AnyTerm, around: tuple[Var, ...], free: dict[int, frozenset[int]] | None) -> Pass:
    prunes = free is not None
    if free is not None:
        read = free[id(e)] if id(e) in free else reads(e)
        kept = tuple(x for x in around if x.number in read)
        if len(kept) < len(around):
            numbers = tuple(k for k, x in enumerate(around, 1) if x.number in read)
            inner = yield _converted(e, kept, free)
            return Then(Select(numbers, len(around)), inner)

    def again(part: AnyTerm, inside: tuple[Var, ...] = around) -> Pass:
        return _converted(part, inside, free)

    e = ks_term(e)
    match e:
        case Lit() | Name():
            return Constant(e) if prunes or not around else Then(Select((), len(around)), Constant(e))
        case Var(_, number):
            at = max(k for k, x in enumerate(around, 1) if x.number == number)
            return Identity() if len(around) == 1 else Select((at,), len(around))
        case Tuple(parts):
            made = yield each(again, parts)
            return Pair(tuple(made))
        case Let(Var(name) as x, value, body):
            first = yield again(value)
            second = yield again(body, (*around, x))
            return Bind(name, first, second, len(around))
        case Let(pattern, value, body):  # the parts of the tuple by name
            whole, inner = _whole(pattern, body)
            return (yield again(Let(whole, value, inner)))
        case If(c, then, otherwise):
            several = yield each(again, (c, then, otherwise))
            return Choose(*several)
        case App(Name("assert"), Tuple((_, Lam(_, body)))):
            return (yield again(body))
        case App(Name("build"), Tuple((n, Lam(Var(name, _, ty) as i, body)))):
            size = yield again(n)
            inner = yield again(body, (*around, i))
            return Build(size, name, ty, inner, len(around))
        case App(Name("build") as f, Tuple((n, Lam(pattern, body)))):
            return (yield again(App(f, Tuple((n, Lam(*_whole(pattern, body)))), place=e.place)))
        case App(Name("fold"), Tuple((Lam(Var(name, _, TupleType() as ty) as x, body), start, v))):
            over = yield again(Tuple((start, v)))
            inner = yield again(body, (*around, x))
            return Fold(over, name, ty, inner, len(around))
        case App(Name("fold") as f, Tuple((Lam(pattern, body), start, v))):
            return (yield again(App(f, Tuple((Lam(*_whole(pattern, body)), start, v)), place=e.place)))
        case App(Name() as f, arg):
            if isinstance(arg, Lam) or (isinstance(arg, Tuple) and any(isinstance(p, Lam) for p in arg.parts)):
                refused(f"{f.name} is not in CL", e)
            first = yield again(arg)
            return Then(first, Call(f))
        case Lam() | App():  # a lambda elsewhere, or its application
            refused("a lambda is the argument of build or fold here", e)
        case _:
            assert_never(e)


def _whole(pattern: Var | Tuple, body: AnyTerm) -> tuple[Var, AnyTerm]:
    """A variable for a tuple of variables, and the body with them taken from it."""
    whole = fresh("p", pattern_type(pattern))
    xs = variables(pattern)
    for k, x in reversed(list(enumerate(xs, 1))):
        body = Let(x, App(Name(f"get${k}${len(xs)}", (whole.type,)), whole), body)
    return whole, body


# --- types: c : S ⇒ T ---


def typed(make: Maker, c: Cl, s: Ty) -> Ty:
    """T of c : S ⇒ T; raises TermError `type` where c takes no S."""
    made: Ty = driven(_typed(make, c, s))
    return made


def _typed(make: Maker, c: Cl, s: Ty) -> Pass:
    match c:
        case Identity():
            return s
        case Constant(value):
            _require(s, UNIT, c)
            return make.type(value)
        case Select(indices, n):
            of = _environment(s, n, c)
            _require_in(indices, n, c)
            return arguments(tuple(of[k - 1] for k in indices))
        case Call(name):
            _require(s, name.at[0], c)
            return make.type(App(name, Tuple(())))
        case Then(first, second):
            middle = yield _typed(make, first, s)
            return (yield _typed(make, second, middle))
        case Pair(parts):
            types = yield each(lambda part: _typed(make, part, s), parts)
            return TupleType(tuple(types))
        case Choose(condition, then, otherwise):
            test, left, right = yield each(lambda part: _typed(make, part, s), (condition, then, otherwise))
            _require(test, BOOL, c)
            _require(right, left, c)
            return left
        case Bind(_, value_, body, n):
            of = _environment(s, n, c)
            x = yield _typed(make, value_, s)
            return (yield _typed(make, body, arguments((*of, x))))
        case Build(size, _, ty, body, n):
            of = _environment(s, n, c)
            found = yield _typed(make, size, s)
            _require(found, ty, c)
            inner = yield _typed(make, body, arguments((*of, ty)))
            return tensor(rank(ty), inner)
        case Fold(over, _, ty, body, n):
            of = _environment(s, n, c)
            found = yield _typed(make, over, s)
            return (yield _state(make, found, ty, body, of, c))
        case Reduce(ty, body, n):
            of = _environment(s, n + 1, c)
            return (yield _state(make, of[-1], ty, body, of[:-1], c))
        case Extend(value_, n):
            of = _environment(s, n, c)
            x = yield _typed(make, value_, s)
            return arguments((*of, x))
        case Tabulate(ty, body, n):
            _require(_environment(s, n + 1, c)[-1], ty, c)
            inner = yield _typed(make, body, s)
            return tensor(rank(ty), inner)
        case _:
            assert_never(c)


def _state(make: Maker, over: Ty, ty: TupleType, body: Cl, of: tuple[Ty, ...], c: Cl) -> Pass:
    """A, of a fold over (A, Vec B)."""
    a, b = ty.parts
    _require(over, TupleType((a, vec(b))), c)
    found = yield _typed(make, body, arguments((*of, ty)))
    _require(found, a, c)
    return a


def _environment(s: Ty, n: int, c: Cl) -> tuple[Ty, ...]:
    """The types of n variables: of one, the type itself."""
    of = (s,) if n == 1 else s.parts if isinstance(s, TupleType) else ()
    if len(of) != n:
        raise TermError("type", f"{shown(c)[:80]} is in an environment of {n}, not in {text(s)}")
    return of


def _require(found: Ty, due: Ty, c: Cl) -> None:
    if found is not due:
        raise TermError("type", f"{shown(c)[:80]}: {text(due)} is due, not {text(found)}")


def _require_in(indices: tuple[int, ...], n: int, c: Cl) -> None:
    if not all(1 <= k <= n for k in indices):
        raise TermError("type", f"{shown(c)[:80]} selects what is not there")


# --- back: t ◇ c ---


def back(make: Maker, c: Cl, t: AnyTerm) -> AnyTerm:
    """t ◇ c as a term with variables."""
    made: AnyTerm = driven(_back(make, c, t))
    return made


def _back(make: Maker, c: Cl, t: AnyTerm) -> Pass:
    match c:
        case Identity():
            return t
        case Constant(value):
            return value
        case Select(indices, n):
            parts = [t if n == 1 else make.component(k - 1, t) for k in indices]
            return parts[0] if len(parts) == 1 else Tuple(tuple(parts))
        case Call(name):
            return App(name, t)
        case Then(first, second):
            middle = yield _back(make, first, t)
            if isinstance(second, (Call, Constant, Identity)) or isinstance(middle, (Var, Lit)) or _is_plain(middle):
                return (yield _back(make, second, middle))
            x = fresh("t", make.type(middle))
            after = yield _back(make, second, x)
            return Let(x, middle, after)
        case Pair(parts_):
            made = yield each(lambda part: _back(make, part, t), parts_)
            return Tuple(tuple(made))
        case Choose(condition, then, otherwise):
            several = yield each(lambda part: _back(make, part, t), (condition, then, otherwise))
            return If(*several)
        case Bind(name, value_, body, n):
            given = yield _back(make, value_, t)
            x = fresh(name, make.type(given))
            after = yield _back(make, body, _extended(make, t, n, x))
            return Let(x, given, after)
        case Build(size, name, ty, body, n):
            count = yield _back(make, size, t)
            i = fresh(name, ty)
            entry = yield _back(make, body, _extended(make, t, n, i))
            return make.call("build", count, Lam(i, entry))
        case Fold(over, name, ty, body, n):
            given = yield _back(make, over, t)
            return (yield _fold(make, given, fresh(name, ty), body, t, n))
        case Reduce(ty, body, n):
            parts = [make.component(k, t) for k in range(n + 1)] if n else [t]
            return (yield _fold(make, parts[n], fresh("x", ty), body, packed(parts[:n]), n))
        case Extend(value_, n):
            given = yield _back(make, value_, t)
            return _extended(make, t, n, given)
        case Tabulate(ty, body, n):
            of = tuple(make.component(k, t) for k in range(n + 1)) if n else (t,)
            i = fresh("i", ty)
            entry = yield _back(make, body, packed((*of[:n], i)))
            return make.call("build", of[n], Lam(i, entry))
        case _:
            assert_never(c)


def _fold(make: Maker, over: AnyTerm, x: Var, body: Cl, t: AnyTerm, n: int) -> Pass:
    """fold (λx. (t ▷ x) ◇ c) a v, of over = (a, v)."""
    after = yield _back(make, body, _extended(make, t, n, x))
    return make.let("p", over, lambda p: make.call("fold", Lam(x, after), make.component(0, p), make.component(1, p)))


def _is_plain(t: AnyTerm) -> bool:
    return isinstance(t, Tuple) and all(isinstance(part, (Var, Lit)) for part in t.parts)


def _extended(make: Maker, t: AnyTerm, n: int, x: AnyTerm) -> AnyTerm:
    """t ▷ x."""
    of = (t,) if n == 1 else (make.component(k, t) for k in range(n))
    return packed((*of, x))
