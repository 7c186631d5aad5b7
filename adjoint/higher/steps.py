"""The call-by-value strategy (§10 of the paper), one step at a time, each with the number of its rule.

    (1) (λx. S) V → S[V/x]       (4) (𝒥f·r) r' → 𝒥(f)(r')(r)          (7) (Ω λy. let x = E in x)·ω → (Ω λy. E)·ω
    (2) π_i ⟨V₁, V₂⟩ → V_i       (5) (λv. S)*·c → T(v. S; c)           (8) (Ω λy. let x = E in L)·ω
    (3) f(r) → its value         (6) of two dual maps before a               → (Ω λy. ⟨y, E⟩)·((Ω λ⟨y, x⟩. L)·ω)
                                     neutral covector one              (9)–(20) ((Ω λy. E)·ω) V → (λv. S)*·(ω E[V/y])

A is A-reduction under Ω, § a rule for what the paper has no rule for. Rule 6 is also for dual maps on data that hold
functions, where covectors have no normal form. `reduce` comes to the same end at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, frozen

from adjoint.higher.anormal import a_normal, is_a_normal, is_elementary
from adjoint.higher.jacobian import Moved, at, bind, component, elementary, tangent_point, unfolded, zero_like
from adjoint.higher.machine import reduce
from adjoint.higher.reader import type_of
from diff.higher.binding import Pass, each, renamed, substitute
from diff.higher.errors import TermError
from diff.higher.evaluate import chosen, fields
from diff.higher.terms import (
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
    Pattern,
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
from diff.higher.types import (
    REAL,
    Arrow,
    DataType,
    Lin,
    SelfType,
    TupleType,
    Ty,
    instance,
    is_first_order,
    mentions,
    payload,
)
from hilbert.term import bottom_up, driven

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST = 10_000
"""More steps are not taken."""


@final
@frozen
class ReductionStep:
    """A term, and the rule that made it from the one before; for a tupled step (20) also the rule of its premise."""

    rule: str
    term: AnyTerm
    premise: str = ""

    def __str__(self) -> str:
        rule = f"{self.rule} ({self.premise})" if self.premise else self.rule
        return f"{rule:<10} {self.term}"


def steps(term: AnyTerm, most: int = MOST) -> Iterator[ReductionStep]:
    """The steps from a checked term to its normal form: t → … → V. Each costs time in the size of the term.

    Raises TermError `limit` after so many.
    """
    strategy = _Strategy()
    for _ in range(most):
        found = driven(strategy.step(term))
        if found is None:
            if not _has_normal(term):
                reduce(term)  # refuses
            return
        step: ReductionStep = found
        term = step.term
        yield step
    raise TermError("limit", f"no normal form after {most} steps", term.place)


class _Strategy:
    """The contexts of §10; `extended` are the variables that rule 8 has put at the ends of patterns."""

    def __init__(self) -> None:
        self.extended: set[int] = set()

    def step(self, term: AnyTerm) -> Pass:
        """The next step, or None for a value."""
        for name in _contexts(term):  # C P, V C, ⟨V, C⟩, …: from left to right
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
        return None if made is None or made.term == term else made

    def _series(self, term: Any) -> ReductionStep | None:
        """(Ω λy. P)·ω: A-reduction, then rules 7 and 8."""
        pattern, body, form = term.pattern, term.body, term.form
        if _tupled(pattern, body) is not None and isinstance(form, Pull):
            return None
        if not is_a_normal(body):
            return ReductionStep("A", evolve(term, body=a_normal(body)))
        if not isinstance(body, Let):
            return None
        x: Any = body.pattern
        if isinstance(body.body, Var) and body.body.number == x.number:
            return ReductionStep("7", evolve(term, body=body.value))
        is_flat = isinstance(pattern, Tuple) and bool(pattern.parts) and _number(pattern.parts[-1]) in self.extended
        longer = _with(pattern, x, is_flat=is_flat)
        self.extended.add(x.number)
        inner = evolve(term, pattern=longer, body=body.body)
        return ReductionStep("8", evolve(term, body=_with(pattern, body.value, is_flat=is_flat), form=inner))

    def _contracted(self, term: AnyTerm) -> ReductionStep | None:
        """A redex whose parts are values, by its rule."""
        match term:
            case App(Lam(pattern, body), arg) | Let(pattern, arg, body):
                return ReductionStep("1", _matched(pattern, arg, body))
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
                return ReductionStep("§", _matched(branch.pattern, value, branch.body))
            case Fold(DataType() as ty, Con(label, _, value), branches):
                branch, field = chosen(branches, label), fields(ty)[label]
                folds: AnyTerm = driven(_folded(term, field, value))
                return ReductionStep("§", Let(branch.pattern, folds, branch.body))
            case App(Plus() | Zero()) | If() | Case() | Fold() | Diff() | Sharp() | Plus():
                return ReductionStep("§", reduce(term))
            case Proj(index, Tuple(parts)):
                return ReductionStep("2", parts[index])
            case Proj(_, Plus() | Zero()):
                return ReductionStep("§", reduce(term))
            case Prim():
                return ReductionStep("3", reduce(term))
            case Dual(_, body, Dual(inner, outer, covector)) if not _has_normal(term.covector) or _is_open(term):
                return ReductionStep("6", evolve(term, body=_matched(inner, body, outer), covector=covector))
            case Dual() if not _has_normal(term):  # it waits for rule 6
                return None
            case Dual():
                return ReductionStep("5", reduce(term))
            case _:  # this is a value
                return None

    def _pulled(self, pull: Pull, point: AnyTerm) -> ReductionStep:
        """((Ω λy. E)·ω) V and ((Ω λy. ⟨y, E⟩)·ω) V."""
        pattern, form = pull.pattern, pull.form
        tupled = _tupled(pattern, pull.body) if isinstance(form, Pull) else None
        body = pull.body if tupled is None else tupled
        is_flat = isinstance(form, Pull) and _is_longer(form.pattern, pattern)
        if isinstance(body, Pull):  # (17)
            new = unfolded(body)
            whole = new if tupled is None else _with(pattern, new, is_flat=is_flat)
            return ReductionStep("17", App(evolve(pull, body=whole), point))
        moved: Moved = {}
        v = _mirrored(pattern)
        bind(pattern, point, v, moved)
        rule, tangent = elementary(body, moved)
        value, spot = at(body, moved), tangent_point(point, pattern_type(pattern))
        if tupled is not None:
            along = _with(v, zero_like(value) if tangent is None else tangent, is_flat=is_flat)
            number = "20b" if tangent is None else "20a"
            return ReductionStep(number, Dual(v, along, App(form, _with(point, value, is_flat=is_flat)), spot), rule)
        if tangent is None:
            return ReductionStep(rule, reduce(Dual(v, Zero(REAL), Cov(real(0.0)), spot)))
        return ReductionStep(rule, Dual(v, tangent, App(form, value), spot))


def _contexts(term: AnyTerm) -> tuple[str, ...]:
    """The parts that are evaluated, in order: the contexts of §10."""
    match term:
        case App():
            return "function", "arg"
        case Plus():
            return "left", "right"
        case Proj() | Cov() | Sharp() | Point() | Case() | Fold():
            return ("of",)
        case Tuple():
            return ("parts",)
        case Prim() | Con():
            return ("arg",)
        case Jac():
            return ("direction",)
        case Dual():
            return ("covector",)
        case Pull():
            return ("form",)
        case Let():
            return ("value",)
        case If():
            return ("condition",)
        case Diff():
            return "function", "point", "direction"
        case Ev():
            return "at", "covector"
        case Dv():
            return "at", "along", "covector"
        case _:  # values have none
            return ()


def _is_open(term: Dual) -> bool:
    """Whether a dual map stays before a neutral covector."""
    return _has_normal(term) and not isinstance(reduce(term), (Cov, Zero, Ev, Dv))


def _has_normal(term: AnyTerm) -> bool:
    """Whether covectors of this type have normal forms: those on data that hold functions have none."""
    stack: list[Ty] = [type_of(term)]
    while stack:
        match stack.pop():
            case DataType() as ty if not is_first_order(ty):
                return False
            case TupleType(parts):
                stack.extend(parts)
            case Arrow(dom, cod) | Lin(dom, cod):
                stack += [dom, cod]
            case _:  # a leaf has no parts
                pass
    return True


def _with_part(term: Any, name: str, part: Any) -> AnyTerm:
    made: AnyTerm = evolve(term, **{name: part})
    return made


def _tupled(pattern: Pattern, body: AnyTerm) -> AnyTerm | None:
    """The E of ⟨y, E⟩, which rule 8 makes."""
    if not isinstance(body, Tuple) or len(body.parts) < 2 or isinstance(body.parts[-1], Var):
        return None
    first = body.parts[:-1]
    same = first == (pattern,) or (isinstance(pattern, Tuple) and first == pattern.parts)
    return body.parts[-1] if same and is_elementary(body.parts[-1]) else None


def _with(first: AnyTerm, last: AnyTerm, *, is_flat: bool) -> Tuple:
    """⟨y, t⟩, flat where y is a tuple that rule 8 has made."""
    return Tuple((*first.parts, last) if is_flat and isinstance(first, Tuple) else (first, last))


def _is_longer(pattern: Pattern, than: Pattern) -> bool:
    """Whether a pattern is another one and one part more."""
    if not (isinstance(pattern, Tuple) and isinstance(than, Tuple)) or len(than.parts) == 1:
        return False
    return len(pattern.parts) == len(than.parts) + 1


def _number(term: AnyTerm) -> int:
    return term.number if isinstance(term, Var) else -1


def _mirrored(pattern: Pattern) -> Pattern:
    """Fresh variables for a pattern: v for y."""

    def step(node: Any, rec: Callable[[Any], Pattern]) -> Pattern:
        return fresh("v", node.type) if isinstance(node, Var) else Tuple(tuple(map(rec, node.parts)))

    made: Pattern = bottom_up(pattern, step, lambda node: [] if isinstance(node, Var) else list(node.parts))
    return made


def _matched(pattern: Pattern, value: AnyTerm, body: AnyTerm) -> AnyTerm:
    """S[V/p]."""
    moved: Moved = {}
    bind(pattern, value, value, moved)
    return substitute(body, {k: one for k, (one, _) in moved.items()})


def _folded(fold: Fold, ty: Ty, value: AnyTerm) -> Pass:
    """F(fold)(V), F(X) a type that speaks of X: a fold of each part where the type of the fold recurs."""
    match ty, value:
        case SelfType(), _:
            return renamed(evolve(fold, of=value))
        case TupleType(parts), _ if mentions(ty, SelfType):
            made = yield each(lambda pair: _folded(fold, pair[1], component(value, pair[0])), list(enumerate(parts)))
            return Tuple(tuple(made))
        case DataType(), Con(label, _, arg) if mentions(ty, SelfType):
            arg = yield _folded(fold, payload(ty, label), arg)
            return Con(label, instance(ty, (), type_of(fold)), arg)
        case Arrow(dom, cod), _ if mentions(cod, SelfType):
            x = fresh("x", dom)
            body = yield _folded(fold, cod, App(value, x))
            return Lam(x, body)
        case _:  # X does not occur
            return value
