"""What the language of pullbacks adds to the terms (S1 §2–4): its formers, 0 and + at every type."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import field, frozen

from diff.lam.term.former import Former
from hilbert.map.map import AnyMap

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm, Tuple, Var
    from diff.lam.term.types import Ty


@final
@frozen(eq=False, repr=False)
class Pull(Former):
    """(Ω λp. t)·ω."""

    pattern: Var | Tuple
    body: AnyTerm
    form: AnyTerm


@final
@frozen(eq=False, repr=False)
class Dual(Former):
    """(λp. t)*·c, t linear in p: in tangents at `point`, which has the tags where p has variants. It is not printed."""

    pattern: Var | Tuple
    body: AnyTerm
    covector: AnyTerm
    point: AnyTerm | None = None


@final
@frozen(eq=False, repr=False)
class Jac(Former):
    """𝒥f·t, the Jacobian of a primitive along t, a function of the point."""

    op: AnyMap
    direction: AnyTerm
    name: str = field(default="", eq=False)


@final
@frozen(eq=False, repr=False)
class Cov(Former):
    """[r]*, the covector v ↦ r·v, of numbers or of a vector."""

    of: AnyTerm


@final
@frozen(eq=False, repr=False)
class Diff(Former):
    """𝒟F(a)(u)."""

    function: AnyTerm
    point: AnyTerm
    direction: AnyTerm


@final
@frozen(eq=False, repr=False)
class Sharp(Former):
    """♯c, a covector as a vector."""

    of: AnyTerm


@final
@frozen(eq=False, repr=False)
class Point(Former):
    """ε_u : σ**, φ ↦ φ(u); pt(u) among covectors."""

    of: AnyTerm


@final
@frozen(eq=False, repr=False)
class Ev(Former):
    """ev(a; c), h ↦ c(h a)."""

    at: AnyTerm
    covector: AnyTerm


@final
@frozen(eq=False, repr=False)
class Dv(Former):
    """dv(a, u; c), h ↦ c(𝒟h(a)(u))."""

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
class Plus(Former):
    """t + s where it is no primitive: functions, tuples and covectors."""

    left: AnyTerm
    right: AnyTerm
