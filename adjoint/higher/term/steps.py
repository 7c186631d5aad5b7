"""The call-by-value strategy (§10 of the paper), one step at a time, each with the number of its rule.

    (1) (λx. S) V → S[V/x]       (4) (𝒥f·r) r' → 𝒥(f)(r')(r)          (7) (Ω λy. let x = E in x)·ω → (Ω λy. E)·ω
    (2) π_i ⟨V₁, V₂⟩ → V_i       (5) (λv. S)*·c → T(v. S; c)           (8) (Ω λy. let x = E in L)·ω
    (3) f(r) → its value         (6) of two dual maps before a               → (Ω λy. ⟨y, E⟩)·((Ω λ⟨y, x⟩. L)·ω)
                                     neutral covector one              (9)–(20) ((Ω λy. E)·ω) V → (λv. S)*·(ω E[V/y])

A is A-reduction under Ω, § a rule for what the paper has no rule for. Rule 6 is also for dual maps on data that hold
functions, where covectors have no normal form. §14 is the machine, `reduce`: the rest at once, where a covector within
has no normal form, and the value as the machine writes one, with its functions as they were before A-reduction.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import TYPE_CHECKING, Any, assert_never, final

from attrs import evolve, frozen

from adjoint.higher.machine.machine import reduce
from adjoint.higher.term.anormal import a_normal, contexts, is_a_normal
from adjoint.higher.term.claims import same
from adjoint.higher.term.jacobian import Moved, at, bind, elementary, tangent_point, unfolded, zero_like
from adjoint.higher.term.redexes import (
    folded,
    has_normal,
    is_longer,
    is_open,
    joined,
    last_of,
    matched,
    mirrored,
    spread,
)
from diff.jets.multiindex import count
from diff.lam.files.type_of_term import free_variables, type_of
from diff.lam.run.matching import chosen, fields
from diff.lam.term.binding import Pass, substitute
from diff.lam.term.former import OpenFormer, Strict
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Case,
    Con,
    Cov,
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
    Tuple,
    Var,
    Zero,
    pattern_type,
    real,
    require_term,
)
from diff.lam.term.types import REAL, DataType
from hilbert.base.term import driven
from hilbert.displayed import Displayed

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 10_000
"""More steps are not taken."""


@final
@frozen
class ReductionStep(Displayed):
    """A term, and the rule that made it from the one before; for a tupled step (20) also the rule of its premise."""

    rule: str
    term: AnyTerm
    premise: str = ""

    def __str__(self) -> str:
        rule = f"{self.rule} ({self.premise})" if self.premise else self.rule
        return f"{rule:<10} {self.term}"


def steps(term: AnyTerm, most: int = MOST) -> Iterator[ReductionStep]:
    """The steps from a checked term to its normal form: t → … → V. Each costs time in the size of the term.

    Raises TermError: `limit` after so many, `type` for what is no term.
    """
    require_term(term, "steps(t)")
    count(most, "steps(t, most=…)")
    strategy, first = _Strategy(), term
    stops = () if free_variables(term) else (TermError,)  # of a closed term the machine takes the rest
    for k in itertools.count():
        found: ReductionStep | None = None
        with suppress(*stops):
            found = driven(strategy.step(term))
        if found is None:
            found = ReductionStep("§14", reduce(first))  # refuses, where there is no normal form
            if found.term == term or not (stops or same(term, found.term)):
                return
        if k == most:
            raise TermError("limit", f"no normal form after {most} steps", term.place)
        term = found.term
        yield found
        if found.rule == "§14":
            return


class _Strategy:
    """The contexts of §10; `extended` are the variables that rule 8 has put at the ends of patterns."""

    def __init__(self) -> None:
        self.extended: set[AnyTerm] = set()

    def step(self, term: AnyTerm) -> Pass:
        """The next step, or None for a value."""
        for name in contexts(term):  # C P, V C, ⟨V, C⟩, …: from left to right
            part = getattr(term, name)
            if isinstance(part, tuple):
                for k, one in enumerate(part):
                    found = yield self.step(one)
                    if found is not None:
                        return evolve(found, term=_with_part(term, name, (*part[:k], found.term, *part[k + 1 :])))
                continue
            if name == "form":
                unfolding = self._series(term)
                if unfolding is not None:
                    return unfolding
            found = yield self.step(part)
            if found is not None:
                return evolve(found, term=_with_part(term, name, found.term))
        made = self._contracted(term)
        return None if made is None or made.term in {term, spread(term, type_of(term))} else made

    def _series(self, term: Any) -> ReductionStep | None:
        """(Ω λy. P)·ω: A-reduction, then rules 7 and 8."""
        pattern, body, form = term.pattern, term.body, term.form
        if last_of(pattern, body) is not None and isinstance(form, Pull):
            return None
        if not is_a_normal(body):
            return ReductionStep("A", evolve(term, body=a_normal(body)))
        if not isinstance(body, Let):
            return None
        x: Any = body.pattern
        if isinstance(body.body, Var) and body.body.number == x.number:
            return ReductionStep("7", evolve(term, body=body.value))
        is_flat = isinstance(pattern, Tuple) and not self.extended.isdisjoint(pattern.parts[-1:])
        longer = joined(pattern, x, is_flat=is_flat)
        self.extended.add(x)
        inner = evolve(term, pattern=longer, body=body.body)
        return ReductionStep("8", evolve(term, body=joined(pattern, body.value, is_flat=is_flat), form=inner))

    def _contracted(self, term: AnyTerm) -> ReductionStep | None:
        """A redex whose parts are values, by its rule."""
        match term:
            case App(Lam(pattern, body), arg) | Let(pattern, arg, body):
                return ReductionStep("1", matched(pattern, arg, body))
            case App(Pull() as pull, point):
                return self._pulled(pull, point)
            case App(Jac()):
                return ReductionStep("4", reduce(term))
            case App(Fix(var, body), arg):
                return ReductionStep("§", App(substitute(body, {var.number: term.function}), arg))
            case If(Lit(value), then, otherwise):
                return ReductionStep("§", then if bool(value.array) else otherwise)  # type: ignore[union-attr]  # no integer
            case Case(Con(label, _, value), branches):
                branch = chosen(branches, label)
                return ReductionStep("§", matched(branch.pattern, value, branch.body))
            case Fold(DataType() as ty, Con(label, _, value), branches):
                branch, field = chosen(branches, label), fields(ty)[label]
                folds: AnyTerm = driven(folded(term, field, value))
                return ReductionStep("§", Let(branch.pattern, folds, branch.body))
            case Proj(index, Tuple(parts)):
                return ReductionStep("2", parts[index])
            case App(Plus() | Zero()) | Proj(_, Plus() | Zero()):
                return ReductionStep("§", reduce(term))
            case Prim():
                return ReductionStep("3", reduce(term))
            case Dual(_, body, Dual(inner, outer, covector)) if not has_normal(term.covector) or is_open(term):
                return ReductionStep("6", evolve(term, body=matched(inner, body, outer), covector=covector))
            case Dual() if not has_normal(term):  # it waits for rule 6
                return None
            case Dual():
                return ReductionStep("5", reduce(term))
            case Var() | Lit() | Lam() | Fix() | Pull() | Zero():
                return None  # a value
            case Tuple() | Con() | Jac() | Cov() | Point() | Ev() | Dv():
                return None  # a value, as its parts are
            case App() | Proj() | OpenFormer():
                return None  # a free variable stops it
            case If() | Case() | Fold() | Strict():
                return ReductionStep("§", reduce(term))
            case _:
                assert_never(term)

    def _pulled(self, pull: Pull, point: AnyTerm) -> ReductionStep:
        """((Ω λy. E)·ω) V and ((Ω λy. ⟨y, E⟩)·ω) V."""
        pattern, form = pull.pattern, pull.form
        tupled = last_of(pattern, pull.body)
        body = pull.body if tupled is None else tupled
        is_flat = isinstance(form, Pull) and is_longer(form.pattern, pattern)
        if isinstance(body, Pull):  # (17)
            new = unfolded(body)
            whole = new if tupled is None else joined(pattern, new, is_flat=is_flat)
            return ReductionStep("17", App(evolve(pull, body=whole), point))
        moved: Moved = {}
        v = mirrored(pattern)
        bind(pattern, point, v, moved)
        rule, tangent = elementary(body, moved)
        value, spot = at(body, moved), tangent_point(point, pattern_type(pattern))
        if tupled is not None:
            along = joined(v, zero_like(value) if tangent is None else tangent, is_flat=is_flat)
            rule_20 = "20b" if tangent is None else "20a"
            return ReductionStep(rule_20, Dual(v, along, App(form, joined(point, value, is_flat=is_flat)), spot), rule)
        if tangent is None:
            return ReductionStep(rule, reduce(Dual(v, Zero(REAL), Cov(real(0.0)), spot)))
        return ReductionStep(rule, Dual(v, tangent, App(form, value), spot))


def _with_part(term: Any, name: str, part: Any) -> AnyTerm:
    whole: AnyTerm = evolve(term, **{name: part})
    return whole
