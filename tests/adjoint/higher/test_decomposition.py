"""Lemma 3.6: a term of the published fragment is a value, or C[r] for one context C and one redex r.

Contexts are enumerated here by the grammar of §10, without the strategy: every split of a term that the grammar allows.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from adjoint.higher.term.anormal import is_elementary
from adjoint.higher.term.steps import steps
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Case,
    Con,
    Cov,
    Diff,
    Dual,
    Dv,
    Ev,
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
    below,
    fresh,
    real,
)
from diff.lam.term.types import REAL, Ground, TupleType
from hilbert import Fin, R
from tests.lambda_terms import Terms

UNPUBLISHED = (If, Case, Fold, Con, Fix, Diff, Sharp, Point, Ev, Dv)
Path = tuple[int, ...]


def contexts(term: AnyTerm) -> list[list[AnyTerm]]:
    """The parts that a context may go into: each after those before it are values."""
    match term:
        case Plus(left, right):  # C + P | V + C
            return [[left, right]]
        case App(function, arg):  # C P | V C
            return [[function, arg]]
        case Let(_, value, _):  # (λx. S) C
            return [[value]]
        case Proj(_, of) | Cov(of):
            return [[of]]
        case Tuple(parts):  # ⟨C, S⟩ | ⟨V, C⟩
            return [list(parts)]
        case Prim(_, arg):
            return [[arg]]
        case Jac(_, direction):
            return [[direction]]
        case Dual(_, _, covector):  # (λx. S)*·C; a let under a dual map is transposed
            return [[covector]]
        case Pull(_, body, form) if is_elementary(body) or tupled(term):  # (Ω λy. E)·C | (Ω λy. ⟨y, E⟩)·C
            return [[form]]
        case _:  # (Ω λy. C_A)·S: what is reduced there is the series
            return []


def tupled(term: Pull) -> bool:
    """⟨y, E⟩: what rule 8 leaves behind, before a pullback of what follows."""
    body, pattern = term.body, term.pattern
    if not isinstance(body, Tuple) or len(body.parts) < 2 or not isinstance(term.form, (Pull, Lam)):
        return False
    first = body.parts[:-1]
    return first == (pattern,) or (isinstance(pattern, Tuple) and first == pattern.parts)


def is_number(term: AnyTerm) -> bool:
    """A numeral, or a tuple of such."""
    return isinstance(term, Lit) or (isinstance(term, Tuple) and all(map(is_number, term.parts)))


def is_redex(term: AnyTerm) -> bool:
    """Whether a term whose parts are values is contracted, by rules 1–20 and the sums of §7."""
    match term:
        case App(Lam() | Pull(), _) | Let() | Dual():
            return True
        case App(Jac(), point):
            return is_number(point)
        case App(Plus() | Zero(), _):
            return True
        case Proj(_, of):
            return isinstance(of, (Tuple, Plus, Zero))
        case Prim(_, arg):
            return is_number(arg) or (isinstance(arg, Tuple) and any(isinstance(part, Zero) for part in arg.parts))
        case Pull(_, body, _):  # the series: A-reduction, 7, 8
            return not (is_elementary(body) or tupled(term))
        case Plus(left, right):
            return not any(isinstance(one, (Lam, Jac, Pull, Var)) for one in (left, right))
        case _:
            return False


def redexes(term: AnyTerm, at: Path = ()) -> list[Path]:
    """Where a context of the grammar finds a redex."""
    found: list[Path] = []
    is_stuck = False
    for parts in contexts(term):
        for k, part in enumerate(parts):
            inner = redexes(part, (*at, k))
            found += inner
            if inner:  # what comes after is no value's neighbour
                is_stuck = True
                break
    return [*found, at] if not is_stuck and is_redex(term) else found


def differ_at(a: Any, b: Any, path: Path) -> bool:
    """Whether two terms are the same but for what stands at a path of contexts."""
    for k in path:
        (parts,) = contexts(a)
        mine, yours = below(a), below(b)
        if type(a) is not type(b) or len(mine) != len(yours):
            return False
        at = next(n for n, one in enumerate(mine) if one is parts[k])
        if any(one != other for n, (one, other) in enumerate(zip(mine, yours, strict=True)) if n != at):
            return False
        a, b = mine[at], yours[at]
    return bool(a != b)


def is_published(term: AnyTerm) -> bool:
    stack: list[Any] = [term]
    while stack:
        node = stack.pop()
        if isinstance(node, UNPUBLISHED):
            return False
        stack.extend(below(node))
    return True


def terms(count: int) -> list[AnyTerm]:
    """Pullbacks of generated functions, at points."""
    types = (REAL, Ground(R ** Fin.of(2)), TupleType((REAL, REAL)))
    found: list[AnyTerm] = []
    seed = 0
    while len(found) < count:
        ty = types[seed % 3]
        x = fresh("x", ty)
        source = Terms(seed)
        body = source.term(REAL, (x,), 4 + seed % 14)
        seed += 1
        term = App(Pull(x, body, Lam(fresh("_", REAL), Cov(real(1.0)))), source.leaf(ty, ()))
        if is_published(term):
            found.append(term)
    return found


def test_unique_decomposition() -> None:
    """300 terms and all terms on their way: one redex, the one that `steps` contracts, or none at the end."""
    rules: Counter[str] = Counter()
    for start in terms(300):
        term = start
        for step in steps(start, 400):
            if step.rule.startswith("§") or step.premise.startswith("§"):
                break  # ours
            found = redexes(term)
            assert len(found) == 1, (str(term), found)
            assert differ_at(term, step.term, found[0]), (str(term), step.rule)
            rules[step.rule] += 1
            term = step.term
        else:
            assert redexes(term) == [], str(term)
            rules["value"] += 1
    assert rules["value"] >= 200
    assert {"A", "1", "3", "5", "7", "8"} <= set(rules)
