"""CL (notes §8): typed terms, by conversion from programs, pruned or not, to combinators, and back."""

from typing import Any, get_args

import numpy as np
import pytest
from attrs import evolve, fields

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.notes.categories import categorical, cl, combinators
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
from adjoint.languages.ks.notes.reverse.anf import unique
from adjoint.languages.ks.notes.reverse.written_builds import built
from adjoint.languages.ks.run.ks_functions import KsFunction
from adjoint.languages.ks.text import printer
from adjoint.languages.ks.text.typed_terms import Maker
from adjoint.languages.ks.value.types import BOOL, arguments, tensor, text, vec
from diff.higher import TermError
from diff.lam.term.terms import Lam, Lit, Name, Tuple, fresh, real, variables
from diff.lam.term.types import INT, REAL, UNIT, TupleType
from tests.adjoint.languages.test_ks_generated import Programs

SEEDS = range(40)
FOLDED = "(fold (lam (t : Tuple Float Float) (mul (get$1$2 t) (get$2$2 t))) 1.0 v)"
BOTH = TupleType((REAL, REAL))


def function(text: str) -> KsFunction:
    found = load([Source("t.ks", text)]).functions["f"]
    assert isinstance(found, KsFunction)
    return found


def generated(seed: int) -> KsFunction:
    return function(Programs(seed).text(5 + seed))


def term(f: KsFunction, *, prunes: bool) -> tuple[Maker, Cl, Lam]:
    """The term of CL, and the function that it is of."""
    made = f.one.function
    assert made is not None
    make = Maker(f.linked.scope)
    body = built(make, made.body)
    return make, categorical.converted(body, tuple(variables(made.pattern)), prunes=prunes), made


@pytest.mark.parametrize("prunes", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_types(seed: int, *, prunes: bool) -> None:
    """C⟦e⟧Γ : T(Γ) ⇒ τ, for e : τ."""
    make, c, lam = term(generated(seed), prunes=prunes)
    around = arguments(tuple(x.type for x in variables(lam.pattern)))
    assert categorical.typed(make, c, around) is make.type(lam.body)


@pytest.mark.parametrize("stage", ["CL", "CL-pruned", "CL-pointfree"])
@pytest.mark.parametrize("seed", SEEDS)
def test_values(seed: int, stage: str) -> None:
    """t ◇ C⟦e⟧Γ is the value of e."""
    f, rng = generated(seed), np.random.default_rng(seed)
    again = function(f.stages()[stage](None, None))
    args: list[Any] = [float(rng.uniform(-1, 1)), rng.uniform(-1, 1, 3).tolist()]
    np.testing.assert_allclose(again.value(args), f.value(args), rtol=1e-13, atol=1e-13)


def below(c: Cl) -> list[Cl]:
    """All terms in a term, and itself."""
    found, stack = list[Cl](), [c]
    while stack:
        one = stack.pop()
        found.append(one)
        values = [getattr(one, field.name) for field in fields(type(one))]
        stack += [x for v in values for x in (v if isinstance(v, tuple) else (v,)) if isinstance(x, get_args(Cl))]
    return found


def rewritten(c: Cl, rng: np.random.Generator) -> Cl:
    """An equal term: I ; c or c ; I for some of its terms, and (c ; d) ; e for c ; (d ; e) or the other way."""
    changes: dict[str, Any] = {}
    for field in fields(type(c)):
        value = getattr(c, field.name)
        if isinstance(value, get_args(Cl)):
            changes[field.name] = rewritten(value, rng)
        elif isinstance(c, Pair):
            changes[field.name] = tuple(rewritten(part, rng) for part in value)
    c = evolve(c, **changes)
    match c, int(rng.integers(4)):
        case Then(Then(a, b), d), (0 | 1):
            return Then(a, Then(b, d))
        case Then(a, Then(b, d)), (0 | 1):
            return Then(Then(a, b), d)
        case _, 2:
            return Then(Identity(), c)
        case _, 3:
            return Then(c, Identity())
        case _:
            return c


@pytest.mark.parametrize("prunes", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_combinators_and_back(seed: int, *, prunes: bool) -> None:
    """The term without Let, B and FOLD has the type of c; back from it, or from one equal by the laws, it."""
    make, c, lam = term(generated(seed), prunes=prunes)
    around = arguments(tuple(x.type for x in variables(lam.pattern)))
    free = combinators.pointfree(c)
    assert not any(isinstance(one, (Bind, Build, Fold)) for one in below(free))
    assert categorical.typed(make, free, around) is categorical.typed(make, c, around)
    back = combinators.named(free)
    assert not any(isinstance(one, (Extend, Tabulate, Reduce)) for one in below(back))
    assert combinators.equal(back, c)
    other = rewritten(free, np.random.default_rng(seed))
    assert categorical.typed(make, other, around) is categorical.typed(make, c, around)
    again = combinators.named(other)
    assert combinators.equal(again, c)
    assert combinators.equal(other, c)
    assert categorical.typed(make, again, around) is categorical.typed(make, c, around)
    assert combinators.shown(again) == combinators.shown(c)


@pytest.mark.parametrize("seed", SEEDS[5:15])
def test_values_of_equal_terms(seed: int) -> None:
    """t ◇ c is the same for c, its combinators, terms that are equal to these by the laws, and back from them."""
    f, rng = generated(seed), np.random.default_rng(seed)
    make, c, lam = term(f, prunes=True)
    args: list[Any] = [float(rng.uniform(-1, 1)), rng.uniform(-1, 1, 3).tolist()]
    other = rewritten(combinators.pointfree(c), rng)
    around = tuple(variables(lam.pattern))
    for one in (combinators.pointfree(c), other, combinators.named(other)):
        body = categorical.back(make, one, Tuple(around))
        last = printer.function("f", text(make.type(lam.body)), unique(Lam(Tuple(around), body)))  # type: ignore[arg-type]  # it is a λ again
        before = f.linked.scope.definitions[:-1]
        whole = "\n".join([*map(printer.definition, before), last])
        np.testing.assert_allclose(function(whole).value(args), f.value(args), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("seed", SEEDS[:20])
def test_other_terms_are_not_equal(seed: int) -> None:
    """A term with one part changed is another one."""
    _, c, _ = term(generated(seed), prunes=False)
    free = combinators.pointfree(c)
    for k, one in enumerate(below(free)):
        if isinstance(one, Identity | Then):
            continue
        changed = replaced(free, k, Then(one, Pair((Identity(),))))
        assert not combinators.equal(changed, c)


def replaced(c: Cl, k: int, by: Cl) -> Cl:
    """The term with its k-th term, in the order of `below`, replaced."""
    at = below(c)[k]

    def step(one: Cl) -> Cl:
        if one is at:
            return by
        changes: dict[str, Any] = {}
        for field in fields(type(one)):
            value = getattr(one, field.name)
            if isinstance(value, get_args(Cl)):
                changes[field.name] = step(value)
            elif isinstance(one, Pair):
                changes[field.name] = tuple(map(step, value))
        return evolve(one, **changes)

    return step(c)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Identity(), Select((1,), 2)),
        (Select((1,), 2), Select((2,), 2)),
        (Select((1,), 2), Select((1,), 3)),
        (Select((1,), 2), Select((1, 1), 2)),
        (Constant(real(1.0)), Constant(real(2.0))),
        (Call(Name("sin", (REAL,))), Call(Name("cos", (REAL,)))),
        (Call(Name("neg", (REAL,))), Call(Name("neg", (INT,)))),
        (Pair((Identity(),)), Pair((Identity(), Identity()))),
        (Pair(()), Identity()),
        (Extend(Identity(), 1), Extend(Identity(), 2)),
        (Bind("x", Identity(), Identity(), 1), Extend(Identity(), 2)),
        (Tabulate(INT, Identity(), 1), Tabulate(INT, Identity(), 2)),
        (Tabulate(INT, Identity(), 1), Tabulate(TupleType((INT, INT)), Identity(), 1)),
        (Reduce(BOTH, Identity(), 1), Reduce(TupleType((INT, INT)), Identity(), 1)),
        (Reduce(BOTH, Identity(), 1), Reduce(BOTH, Identity(), 2)),
    ],
)  # fmt: skip
def test_what_is_not_equal(one: Cl, other: Cl) -> None:
    """The laws of `;` and its unit say nothing of these."""
    assert not combinators.equal(one, other)
    assert combinators.equal(one, one)
    assert combinators.equal(Then(one, other), Then(Then(one, Identity()), other))
    assert not combinators.equal(Then(one, Pair(())), Then(other, Pair(())))


def test_laws() -> None:
    """Let, B and FOLD by ▷, T and R; names are not read."""
    c, d = Call(SIN), Select((2,), 2)
    assert combinators.equal(Bind("x", c, d, 1), Bind("y", c, d, 1))
    assert combinators.equal(Bind("x", c, d, 1), Then(Extend(c, 1), d))
    assert combinators.equal(Build(c, "i", INT, d, 1), Then(Extend(c, 1), Tabulate(INT, d, 1)))
    assert combinators.equal(Fold(c, "x", BOTH, d, 1), Then(Extend(c, 1), Reduce(BOTH, d, 1)))
    assert combinators.named(Then(Extend(c, 1), Then(Reduce(BOTH, d, 1), c))) == Then(Fold(c, "x", BOTH, d, 1), c)
    assert combinators.named(Then(Extend(c, 1), Then(Tabulate(INT, d, 1), c))) == Then(Build(c, "i", INT, d, 1), c)
    assert combinators.named(Then(Then(Extend(c, 1), d), c)) == Bind("x", c, Then(d, c), 1)
    assert combinators.named(Then(Identity(), Identity())) == Identity()
    assert combinators.named(Extend(c, 1)) == Bind("x", c, Identity(), 1)


def test_combinators_of_the_notes_function() -> None:
    """Its text, in the usual notation."""
    f = function("(def f Float (x : Float) (let (y (mul x x)) (let (z (add x y)) (mul y z))))")
    _, c, _ = term(f, prunes=False)
    assert combinators.shown(c) == "mul ∘ ⟨π₂, π₃⟩ ∘ (id ▷ add ∘ ⟨π₁, π₂⟩) ∘ (id ▷ mul ∘ ⟨id, id⟩)"
    f = function("(def f (Vec Float) (n : Integer) (build n (lam (i : Integer) (if (gt i 1) (to_float i) 2.0))))")
    _, c, _ = term(f, prunes=True)
    assert combinators.shown(c) == "build(if(gt ∘ ⟨id, K(1) ∘ ⟨⟩⟩, to_float, K(2.0) ∘ ⟨⟩) ∘ π₂) ∘ (id ▷ id)"
    f = function(f"(def f Float (v : Vec Float) {FOLDED})")
    _, c, _ = term(f, prunes=False)
    assert cl.shown(c) == "FOLD((P[/1] ; K(1.0), I), t, (P[2/2] ; F(get$1$2), P[2/2] ; F(get$2$2)) ; F(mul))"
    assert combinators.shown(c) == "fold(mul ∘ ⟨get$1$2 ∘ π₂, get$2$2 ∘ π₂⟩) ∘ (id ▷ ⟨K(1.0) ∘ ⟨⟩, id⟩)"
    assert combinators.shown(Then(Identity(), Identity())) == "id"
    assert combinators.shown(Then(Select((2, 1), 3), Pair(()))) == "⟨⟩ ∘ ⟨π₂, π₁⟩"


def test_deep_terms() -> None:
    """3,000 lets in one another are no recursion of Python."""
    c: Cl = Identity()
    for _ in range(3_000):
        c = Bind("x", Identity(), Then(Select((2,), 2), c), 1)
    free = combinators.pointfree(c)
    assert combinators.equal(combinators.named(free), c)
    assert len(combinators.shown(c)) > 3_000


SIN, ADD = Name("sin", (REAL,)), Name("add", (TupleType((REAL, REAL)),))
EXP = Name("exp", (vec(REAL),))
TWO, YES = Constant(real(2.0)), Constant(Name("true"))
CONSTANT = Then(Select((), 1), TWO)


@pytest.mark.parametrize(
    ("c", "s", "t"),
    [
        (Identity(), REAL, REAL),
        (TWO, UNIT, REAL),
        (TWO, REAL, None),
        (Select((2,), 2), TupleType((REAL, INT)), INT),
        (Select((2, 1), 2), TupleType((REAL, INT)), TupleType((INT, REAL))),
        (Select((), 2), TupleType((REAL, INT)), UNIT),
        (Select((3,), 2), TupleType((REAL, INT)), None),
        (Select((1,), 3), TupleType((REAL, INT)), None),
        (Call(SIN), REAL, REAL),
        (Call(SIN), INT, None),
        (Then(Call(SIN), Call(SIN)), REAL, REAL),
        (Then(Pair((Identity(), Identity())), Call(ADD)), REAL, REAL),
        (Then(Pair((Identity(), Identity(), Identity())), Call(ADD)), REAL, None),
        (Choose(Then(Select((), 1), YES), Identity(), Call(SIN)), REAL, REAL),
        (Choose(Identity(), Identity(), Identity()), REAL, None),
        (Choose(Identity(), Then(Select((), 1), TWO), Identity()), BOOL, None),
        (Bind("y", Call(SIN), Call(ADD), 1), REAL, REAL),
        (Bind("y", TWO, Call(SIN), 0), UNIT, REAL),
        (Bind("y", Identity(), Call(SIN), 1), REAL, None),
        (Bind("y", Call(SIN), Call(ADD), 2), REAL, None),
        (Build(Identity(), "i", INT, Select((2,), 2), 1), REAL, None),
        (Extend(Call(SIN), 1), REAL, TupleType((REAL, REAL))),
        (Extend(TWO, 0), UNIT, REAL),
        (Extend(Select((1,), 2), 2), TupleType((INT, REAL)), TupleType((INT, REAL, INT))),
        (Extend(Call(SIN), 2), REAL, None),
        (Tabulate(INT, Select((1,), 2), 1), TupleType((REAL, INT)), tensor(1, REAL)),
        (Tabulate(INT, Identity(), 0), INT, tensor(1, INT)),
        (Tabulate(TupleType((INT, INT)), Select((1,), 2), 0), TupleType((INT, INT)), tensor(2, INT)),
        (Tabulate(INT, Select((1,), 2), 1), TupleType((INT, REAL)), None),
        (Tabulate(INT, Select((1,), 2), 2), TupleType((REAL, INT)), None),
        (Reduce(BOTH, Call(ADD), 0), TupleType((REAL, vec(REAL))), REAL),
        (Reduce(BOTH, Call(ADD), 0), TupleType((REAL, REAL)), None),
        (Reduce(BOTH, Identity(), 0), TupleType((REAL, vec(REAL))), None),
        (Reduce(BOTH, Select((1,), 2), 1), TupleType((REAL, TupleType((REAL, vec(REAL))))), REAL),
        (Reduce(BOTH, Select((2,), 2), 1), TupleType((REAL, TupleType((REAL, vec(REAL))))), None),
        (Fold(Pair((Identity(), Then(Identity(), Call(EXP)))), "t", BOTH, Select((1,), 2), 1), vec(REAL), None),
        (Fold(Pair((CONSTANT, Call(EXP))), "t", BOTH, Then(Select((2,), 2), Call(ADD)), 1), vec(REAL), REAL),
        (Fold(Pair((CONSTANT, Call(EXP))), "t", BOTH, Then(Select((2,), 2), Call(ADD)), 2), vec(REAL), None),
    ],
)  # fmt: skip
def test_typing(c: Cl, s: Any, t: Any) -> None:
    """The figure, case by case; what it does not type is refused."""
    make = Maker(function("(def f Float (x : Float) x)").linked.scope)
    if t is None:
        with pytest.raises(TermError) as caught:
            categorical.typed(make, c, s)
        assert caught.value.code == "type"
    else:
        assert categorical.typed(make, c, s) is t


def test_what_is_due() -> None:
    """The message says what a constant or a condition takes, and what it was given."""
    make = Maker(function("(def f Float (x : Float) x)").linked.scope)
    with pytest.raises(TermError, match=r"\(Tuple\) is due, not Float"):
        categorical.typed(make, TWO, REAL)
    with pytest.raises(TermError, match="Bool is due, not Float"):
        categorical.typed(make, Choose(Identity(), Identity(), Identity()), REAL)


def test_type_of_a_build() -> None:
    """B(c_s, i, c_e) : S ⇒ Vec T."""
    make, c, _ = term(
        function("(def f (Vec Float) (x : Float) (build 3 (lam (i : Integer) (mul x (to_float i)))))"), prunes=False
    )
    assert str(categorical.typed(make, c, REAL)) == str(make.type(categorical.back(make, c, real(1.0))))
    assert isinstance(c, Build)
    with pytest.raises(TermError, match="Integer is due, not Float"):
        categorical.typed(make, evolve(c, size=Identity()), REAL)
    with pytest.raises(TermError, match="is in an environment of"):
        categorical.typed(make, evolve(c, n=2), REAL)
    assert categorical.typed(make, Then(Constant(Lit(3)), Identity()), UNIT) is INT


def test_back_to_a_term() -> None:
    """Calls take their argument without a variable; what is read twice has one; a reduction takes parts of a tuple."""
    make = Maker(function("(def f Float (x : Float) x)").linked.scope)
    a, v = fresh("a", REAL), fresh("v", vec(REAL))
    assert printer.term(categorical.back(make, Then(Call(SIN), Call(SIN)), a)) == "(sin (sin a))"
    twice = Then(Pair((Call(SIN), Call(SIN))), Pair((Select((1,), 2), Select((1,), 2))))
    assert " ".join(printer.term(categorical.back(make, twice, a)).split()) == (
        "(let (t (tuple (sin a) (sin a))) (tuple (get$1$2 t) (get$1$2 t)))"
    )
    found = categorical.back(make, Reduce(BOTH, Select((1,), 2), 1), Tuple((a, Tuple((real(0.0), v)))))
    assert " ".join(printer.term(found).split()) == (
        "(let (p (tuple 0.0 v)) (fold (lam (x : (Tuple Float Float)) a) (get$1$2 p) (get$2$2 p)))"
    )
