"""CL without names: Let, B and FOLD by combinators I ▷ c, T(c), R(c), back, and equality up to the laws of `;` and I.

    Let(x, c, d) = (I ▷ c) ; d        B(c, i, d) = (I ▷ c) ; T(d)        FOLD(c, x, d) = (I ▷ c) ; R(d)

No term reads a name that CL binds: it is a word for the reader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, get_args

from attrs import evolve, fields

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
)
from adjoint.languages.ks.text import printer
from diff.lam.term.binding import each
from hilbert.base.term import driven
from linmap.printing.notation import subscript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from diff.lam.term.binding import Pass

KINDS = get_args(Cl)


def pointfree(c: Cl) -> Cl:
    """The term without Let, B and FOLD, of the same type and value."""
    made: Cl = driven(_pointfree(c))
    return made


def _pointfree(c: Cl) -> Pass:
    made: Cl = yield _mapped(c, _pointfree)
    match made:
        case Bind(_, value, body, n):
            return Then(Extend(value, n), body)
        case Build(size, _, ty, body, n):
            return Then(Extend(size, n), Tabulate(ty, body, n))
        case Fold(over, _, ty, body, n):
            return Then(Extend(over, n), Reduce(ty, body, n))
        case (
            Identity() | Constant() | Select() | Call() | Then() | Pair() | Choose() | Extend() | Tabulate() | Reduce()
        ):
            return made
        case _:
            assert_never(made)


def named(c: Cl) -> Cl:
    """The term with Let, B and FOLD for I ▷ c: back from `pointfree`, up to names and the laws of `;`."""
    made: Cl = driven(_named(c))
    return made


def _named(c: Cl) -> Pass:
    after: list[Cl] = []  # the last first
    for factor in reversed(_factors(c)):
        one = yield _mapped(factor, _named)
        if not isinstance(one, Extend):
            after.append(one)
        elif after and isinstance(after[-1], (Tabulate, Reduce)):
            last = after.pop()
            if isinstance(last, Tabulate):
                after.append(Build(one.value, "i", last.type, last.body, one.n))
            elif isinstance(last, Reduce):
                after.append(Fold(one.value, "x", last.type, last.body, one.n))
        else:
            after = [Bind("x", one.value, _composed(reversed(after)), one.n)]
    return _composed(reversed(after))


def equal(a: Cl, b: Cl) -> bool:
    """Tell if a = b by (a ; b) ; c = a ; (b ; c), I ; c = c = c ; I and what Let, B and FOLD are, up to names."""
    pairs: list[tuple[Cl, Cl]] = [(pointfree(a), pointfree(b))]
    while pairs:
        left, right = map(_factors, pairs.pop())
        if list(map(_head, left)) != list(map(_head, right)):
            return False
        for one, other in zip(left, right, strict=True):
            pairs.extend(zip(_below(one), _below(other), strict=True))
    return True


def _factors(c: Cl) -> list[Cl]:
    """c₁, c₂, … of c₁ ; c₂ ; …, without I."""
    found, stack = list[Cl](), [c]
    while stack:
        one = stack.pop()
        if isinstance(one, Then):
            stack += (one.second, one.first)
        elif not isinstance(one, Identity):
            found.append(one)
    return found


def _composed(factors: Iterable[Cl]) -> Cl:
    """c₁ ; (c₂ ; …)."""
    *first, made = [*factors] or [Identity()]
    for one in reversed(first):
        made = Then(one, made)
    return made


def _below(c: Cl) -> list[Cl]:
    """The terms that a term is made of."""
    values = (getattr(c, field.name) for field in fields(type(c)))
    return [x for v in values for x in (v if isinstance(v, tuple) else (v,)) if isinstance(x, KINDS)]


def _head(c: Cl) -> tuple[Any, ...]:
    """The contents of a term beside its subterms, and the number of these."""
    values = (getattr(c, field.name) for field in fields(type(c)))
    return type(c), len(_below(c)), *(v for v in values if not isinstance(v, (*KINDS, tuple)) or isinstance(c, Select))


def _mapped(c: Cl, step: Callable[[Cl], Pass]) -> Pass:
    """The term of changed parts."""
    changes: dict[str, Any] = {}
    for field in fields(type(c)):
        value = getattr(c, field.name)
        if isinstance(value, KINDS):
            changes[field.name] = yield step(value)
        elif isinstance(c, Pair):
            parts = yield each(step, value)
            changes[field.name] = tuple(parts)
    return evolve(c, **changes)


# --- text ---


def shown(c: Cl) -> str:
    """The combinators of a term in the usual notation: ∘, which takes the right one first, ⟨…⟩ and projections."""
    made: str = driven(_shown(pointfree(c)))
    return made


def _shown(c: Cl) -> Pass:
    match c:
        case Identity():
            return "id"
        case Constant(value):
            return f"K({printer.term(value)})"
        case Select((k,), _):
            return f"π{subscript(k)}"
        case Select(indices, _):
            return f"⟨{', '.join(f'π{subscript(k)}' for k in indices)}⟩"
        case Call(name):
            return name.name
        case Then():
            texts = yield each(_shown, reversed(_factors(c)))
            return " ∘ ".join(texts) or "id"
        case Pair(parts):
            texts = yield each(_shown, parts)
            return f"⟨{', '.join(texts)}⟩"
        case Choose(condition, then, otherwise):
            texts = yield each(_shown, (condition, then, otherwise))
            return f"if({', '.join(texts)})"
        case Extend(value, _):
            text = yield _shown(value)
            return f"(id ▷ {text})"
        case Tabulate(_, body, _):
            text = yield _shown(body)
            return f"build({text})"
        case Reduce(_, body, _):
            text = yield _shown(body)
            return f"fold({text})"
        case Bind() | Build() | Fold():
            raise TypeError(type(c).__name__)
        case _:
            assert_never(c)
