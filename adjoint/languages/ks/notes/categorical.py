"""CL, the categorical language (§8): terms without variables, by conversion from those with, and back.

The environment of a term is a tuple, of one variable the variable itself. `;` is diagrammatic: the left one first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never, final

from attrs import frozen

from adjoint.languages.ks import printer
from adjoint.languages.ks.making import Maker, reads
from adjoint.languages.ks.notes.nabla import refused
from adjoint.languages.ks.notes.passes import packed
from adjoint.languages.ks.types import BOOL, arguments, rank, tensor, text
from diff.higher.binding import binder, each
from diff.higher.errors import TermError
from diff.higher.open_terms import Name
from diff.higher.terms import AnyTerm, App, If, Lam, Let, Lit, Tuple, Var, below, fresh, pattern_type, variables
from diff.higher.types import UNIT, TupleType
from hilbert.term import driven, postorder

if TYPE_CHECKING:
    from diff.higher.binding import Pass
    from diff.higher.types import Ty


@final
@frozen
class Identity:
    """I : S ⇒ S."""


@final
@frozen
class Constant:
    """K(k) : () ⇒ R."""

    value: AnyTerm


@final
@frozen
class Select:
    """P[i₁ … iₘ/n] : (s₁ … sₙ) ⇒ (s_i₁ … s_iₘ), counted from 1."""

    indices: tuple[int, ...]
    of: int


@final
@frozen
class Call:
    """F(f) : S ⇒ T."""

    name: Name


@final
@frozen
class Then:
    """c₁ ; c₂."""

    first: Cl
    second: Cl


@final
@frozen
class Pair:
    """(c₁ … cₙ)."""

    parts: tuple[Cl, ...]


@final
@frozen
class Choose:
    """IF(c₁, c₂, c₃)."""

    condition: Cl
    then: Cl
    otherwise: Cl


@final
@frozen
class Bind:
    """Let(x, c_r, c_b), in an environment of n."""

    name: str
    value: Cl
    body: Cl
    n: int


@final
@frozen
class Build:
    """B(c_s, i, c_e), in an environment of n."""

    size: Cl
    name: str
    type: Ty
    body: Cl
    n: int


@final
@frozen
class Extend:
    """I ▷ c, in an environment of n: t ↦ t ▷ (t ◇ c); of combinators."""

    value: Cl
    n: int


@final
@frozen
class Tabulate:
    """T(c) : S ▷ N ⇒ Vec T, for c : S ▷ N ⇒ T and S of n: t ▷ k ↦ build k (λi. (t ▷ i) ◇ c); of combinators."""

    type: Ty
    body: Cl
    n: int


Cl: TypeAlias = Identity | Constant | Select | Call | Then | Pair | Choose | Bind | Build | Extend | Tabulate
"""The closed union of terms; combinators are those without Bind and Build, which name variables."""


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
        case App(Name() as f, arg):
            if isinstance(arg, Lam) or (isinstance(arg, Tuple) and any(isinstance(p, Lam) for p in arg.parts)):
                refused(f"{f.name} is not in CL", e)
            first = yield again(arg)
            return Then(first, Call(f))
        case _:  # a lambda elsewhere, or its application
            refused("a lambda is the argument of build here", e)


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


def _is_plain(t: AnyTerm) -> bool:
    return isinstance(t, Tuple) and all(isinstance(part, (Var, Lit)) for part in t.parts)


def _extended(make: Maker, t: AnyTerm, n: int, x: AnyTerm) -> AnyTerm:
    """t ▷ x."""
    of = (t,) if n == 1 else (make.component(k, t) for k in range(n))
    return packed((*of, x))


# --- text ---


def shown(c: Cl) -> str:
    """A term as the notes write it."""
    made: str = driven(_shown(c))
    return made


def _shown(c: Cl) -> Pass:
    match c:
        case Identity():
            return "I"
        case Constant(value):
            return f"K({printer.term(value)})"
        case Select(indices, n):
            return f"P[{','.join(map(str, indices))}/{n}]"
        case Call(name):
            return f"F({name.name})"
        case Then(first, second):
            a = yield _shown(first)
            b = yield _shown(second)
            return f"{a} ; {b}"
        case Pair(parts):
            texts = yield each(_shown, parts)
            return f"({', '.join(texts)})"
        case Choose(condition, then, otherwise):
            texts = yield each(_shown, (condition, then, otherwise))
            return f"IF({', '.join(texts)})"
        case Bind(name, value, body, _):
            a = yield _shown(value)
            b = yield _shown(body)
            return f"Let({name}, {a}, {b})"
        case Build(size, name, _, body, _):
            a = yield _shown(size)
            b = yield _shown(body)
            return f"B({a}, {name}, {b})"
        case Extend(value, _):
            a = yield _shown(value)
            return f"(I ▷ {a})"
        case Tabulate(_, body, _):
            b = yield _shown(body)
            return f"T({b})"
        case _:
            assert_never(c)
