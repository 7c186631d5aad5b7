"""The terms of CL, the categorical language (§8), and their text.

The environment of a term is a tuple, of one variable the variable itself. `;` is diagrammatic: the left one first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never, final

from attrs import frozen

from adjoint.languages.ks.text import printer
from diff.lam.term.binding import each
from hilbert.base.term import driven

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass
    from diff.lam.term.terms import AnyTerm, Name
    from diff.lam.term.types import TupleType, Ty


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


@final
@frozen
class Fold:
    """FOLD(c, x, c_e), in an environment of n: c : S ⇒ (A, Vec B), c_e : S ▷ (A, B) ⇒ A; `type` is (A, B)."""

    over: Cl
    name: str
    type: TupleType
    body: Cl
    n: int


@final
@frozen
class Reduce:
    """R(c) : S ▷ (A, Vec B) ⇒ A, for c : S ▷ (A, B) ⇒ A: t ▷ (a, v) ↦ fold (λx. (t ▷ x) ◇ c) a v; of combinators."""

    type: TupleType
    body: Cl
    n: int


Cl: TypeAlias = (
    Identity | Constant | Select | Call | Then | Pair | Choose | Bind | Build | Fold | Extend | Tabulate | Reduce
)
"""The closed union of terms; combinators are those without Bind, Build and Fold, which name variables."""


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
        case Fold(over, name, _, body, _):
            a = yield _shown(over)
            b = yield _shown(body)
            return f"FOLD({a}, {name}, {b})"
        case Extend(value, _):
            a = yield _shown(value)
            return f"(I ▷ {a})"
        case Tabulate(_, body, _) | Reduce(_, body, _):
            b = yield _shown(body)
            return f"{'T' if isinstance(c, Tabulate) else 'R'}({b})"
        case _:
            assert_never(c)
