"""The terms of the λ-language: a closed union for the functional language, for pullbacks and for texts not yet checked.

A binder takes a *pattern*, which is a variable or a tuple of patterns, so that `case t of ⟨x, y⟩ → s` and
`let ⟨x, y⟩ = t in s` are one term. A primitive is any map of the library. Variables have numbers, which are unique: a
name is for readers only. Two terms are equal if they are equal up to the names and numbers of bound variables.

A term remembers where it was written (`place`), which is no part of its value.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from diff.lam.term.former import Former, OpenFormer, PullbackFormer, Strict, Worded
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.types import REAL, TupleType, Ty
from hilbert import R, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.term import as_tuple, bottom_up, compared
from hilbert.errors import shown
from hilbert.map.map import AnyMap
from hilbert.space.snapshot import fixed

if TYPE_CHECKING:
    from collections.abc import Callable

_numbers = count()


@final
@frozen(eq=False, repr=False)
class Var(Former):
    """x : σ; a pattern too."""

    name: str
    number: int
    type: Ty


@final
@frozen(eq=False, repr=False)
class Lit(Former):
    """A vector of the library, or an integer."""

    value: Vec[Any] | int = field(converter=fixed)


@final
@frozen(eq=False, repr=False)
class Prim(Strict):
    """op(t), op any map of the library; `name` is for readers, and empty where there is none.

    Where `is_shown`, readers see what the map does instead, if that is short.
    """

    op: AnyMap
    arg: AnyTerm
    name: str = field(default="", eq=False)
    is_shown: bool = field(default=False, eq=False)


@final
@frozen(eq=False, repr=False)
class Lam(Former):
    """λp. t."""

    pattern: Var | Tuple
    body: AnyTerm


@final
@frozen(eq=False, repr=False)
class App(Strict):
    """t s."""

    function: AnyTerm
    arg: AnyTerm


@final
@frozen(eq=False, repr=False)
class Let(Former):
    """let p = t in s, which is also case t of p → s."""

    pattern: Var | Tuple
    value: AnyTerm
    body: AnyTerm


@final
@frozen(eq=False, repr=False)
class Tuple(Strict):
    """⟨t₁, …, tₙ⟩; a pattern if its parts are."""

    parts: tuple[AnyTerm, ...] = field(converter=as_tuple)


@final
@frozen(eq=False, repr=False)
class Proj(Strict):
    """πᵢ t, i counted from 0."""

    index: int
    of: AnyTerm


@final
@frozen(eq=False, repr=False)
class If(Former):
    """if c then t else s."""

    condition: AnyTerm
    then: AnyTerm
    otherwise: AnyTerm


@final
@frozen(eq=False, repr=False)
class Con(Strict):
    """ℓ t, of a declared type: an injection, or the constructor of a μ."""

    label: str
    type: Ty
    arg: AnyTerm


@final
@frozen(eq=False, repr=False)
class Branch(Former):
    """ℓ p → t."""

    label: str
    pattern: Var | Tuple
    body: AnyTerm


@final
@frozen(eq=False, repr=False)
class Case(Former):
    """case t of {ℓ p → s | …}."""

    of: AnyTerm
    branches: tuple[Branch, ...] = field(converter=as_tuple)


@final
@frozen(eq=False, repr=False)
class Fold(Former):
    """fold t of {ℓ p → s | …}: where `type`, that of t, recurs, p has the results for the parts."""

    type: Ty
    of: AnyTerm
    branches: tuple[Branch, ...] = field(converter=as_tuple)


@final
@frozen(eq=False, repr=False)
class Fix(Former):
    """The f with f = t, a recursive definition of a text."""

    var: Var
    body: AnyTerm


# --- the language of pullbacks (S1 §2–4): its formers, 0 and + at every type ---


@final
@frozen(eq=False, repr=False)
class Pull(PullbackFormer):
    """(Ω λp. t)·ω."""

    pattern: Var | Tuple
    body: AnyTerm
    form: AnyTerm


@final
@frozen(eq=False, repr=False)
class Dual(PullbackFormer):
    """(λp. t)*·c, t linear in p: in tangents at `point`, which has the tags where p has variants, and is not shown."""

    pattern: Var | Tuple
    body: AnyTerm
    covector: AnyTerm
    point: AnyTerm | None = None


@final
@frozen(eq=False, repr=False)
class Jac(Strict, PullbackFormer):
    """𝒥f·t, the Jacobian of a primitive along t, a function of the point."""

    op: AnyMap
    direction: AnyTerm
    name: str = field(default="", eq=False)


@final
@frozen(eq=False, repr=False)
class Cov(Strict, PullbackFormer):
    """[r]*, the covector v ↦ r·v, of numbers or of a vector."""

    of: AnyTerm


@final
@frozen(eq=False, repr=False)
class Diff(Worded, PullbackFormer):
    """𝒟F(a)(u)."""

    word = "diff"
    function: AnyTerm
    point: AnyTerm
    direction: AnyTerm


@final
@frozen(eq=False, repr=False)
class Sharp(Worded, PullbackFormer):
    """♯c, a covector as a vector."""

    word = "sharp"
    of: AnyTerm


@final
@frozen(eq=False, repr=False)
class Point(Worded, PullbackFormer):
    """ε_u : σ**, φ ↦ φ(u); pt(u) among covectors."""

    word = "eps"
    of: AnyTerm


@final
@frozen(eq=False, repr=False)
class Ev(Worded, PullbackFormer):
    """ev(a; c), h ↦ c(h a)."""

    word = "ev"
    semicolon = 1
    at: AnyTerm
    covector: AnyTerm


@final
@frozen(eq=False, repr=False)
class Dv(Worded, PullbackFormer):
    """dv(a, u; c), h ↦ c(𝒟h(a)(u))."""

    word = "dv"
    semicolon = 2
    at: AnyTerm
    along: AnyTerm
    covector: AnyTerm


@final
@frozen(eq=False, repr=False)
class Zero(Former):
    """0 at any type."""

    type: Ty


@final
@frozen(eq=False, repr=False)
class Plus(Strict):
    """t + s where it is no primitive: functions, tuples and covectors."""

    left: AnyTerm
    right: AnyTerm


# --- what a front end may write beside the terms; the checker replaces it ---


@final
@frozen(eq=False, repr=False)
class Name(OpenFormer):
    """A definition, a constructor or a primitive; after checking a definition, at these types."""

    name: str
    at: tuple[Ty, ...] = ()


@final
@frozen(eq=False, repr=False)
class Number(OpenFormer):
    """A number as it is written: a real, or an integer where one is due."""

    text: str


@final
@frozen(eq=False, repr=False)
class Sign(OpenFormer):
    """An operator that is a primitive at the types of its arguments."""

    sign: str
    args: tuple[AnyTerm, ...] = field(converter=as_tuple)


@final
@frozen(eq=False, repr=False)
class Typed(OpenFormer):
    """(t : σ)."""

    of: AnyTerm
    type: Ty


Core: TypeAlias = Var | Lit | Prim | Lam | App | Let | Tuple | Proj | If | Con | Case | Fold | Fix
"""The functional language."""
Pullbacks: TypeAlias = Pull | Dual | Jac | Cov | Diff | Sharp | Point | Ev | Dv | Zero | Plus
"""The formers that the language of pullbacks adds."""
Open: TypeAlias = Name | Number | Sign | Typed
"""The formers that are gone once a term is checked."""
AnyTerm: TypeAlias = Core | Pullbacks | Open
"""The closed union of terms (a `Branch` is part of one)."""
Pattern: TypeAlias = Var | Tuple


def fresh(name: str = "x", ty: Ty = REAL, place: Place | None = None) -> Var:
    """A variable that occurs nowhere else."""
    return Var(name, next(_numbers), ty, place=place)


def real(value: float, place: Place | None = None) -> Lit:
    """The number as a term of type ℝ."""
    return Lit(Vec(R, (freeze(np.array(float(value))),)), place=place)  # which R.vec checks in three times the time


def require_term(value: Any, what: str) -> None:
    """Raise TermError `type` unless a value is a term; `what` is the call that takes it."""
    if isinstance(value, Former) and not isinstance(value, Branch):
        return
    if isinstance(value, tuple) and value and isinstance(value[0], Former):
        remedy = "not the pair of a term and its type: write [0] after the pair"
    elif isinstance(value, str):
        remedy = f"not {shown(value)}: Module().term(text)[0] is that of a text"
    else:
        remedy = f"such as Module().term(text)[0] or, of a function on data, f.term, not {shown(value)}"
    raise TermError("type", f"{what} takes a term, {remedy}")


def variables(pattern: Pattern) -> list[Var]:
    """The variables of a pattern, from left to right."""
    names: list[Var] = []
    stack: list[Any] = [pattern]
    while stack:
        node = stack.pop()
        if isinstance(node, Var):
            names.append(node)
        else:
            stack.extend(reversed(node.parts))
    return names


def pattern_type(pattern: Any) -> Ty:
    """The type of the values that a pattern takes apart."""
    if isinstance(pattern, Var):
        return pattern.type

    def step(node: Any, rec: Callable[[Any], Ty]) -> Ty:
        return node.type if isinstance(node, Var) else TupleType(tuple(map(rec, node.parts)))

    ty: Ty = bottom_up(pattern, step, lambda node: [] if isinstance(node, Var) else list(node.parts))
    return ty


def below(term: Any) -> list[Any]:
    """The direct subterms, patterns among them."""
    parts: list[Any] = []
    cls: type = type(term)
    for name in compared(cls):
        value = getattr(term, name)
        if isinstance(value, Former):
            parts.append(value)
        elif type(value) is tuple and value and isinstance(value[0], Former):
            parts += value
    return parts
