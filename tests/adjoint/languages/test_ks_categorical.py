"""CL (notes §8): typed terms, by conversion from programs, pruned or not, and back."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.functions import KsFunction
from adjoint.languages.ks.making import Maker
from adjoint.languages.ks.notes import categorical
from adjoint.languages.ks.notes.categorical import Bind, Build, Call, Choose, Cl, Constant, Identity, Pair, Select, Then
from adjoint.languages.ks.notes.written import built
from adjoint.languages.ks.types import BOOL, arguments
from diff.higher import TermError
from diff.higher.terms import Lam, Lit, Name, real, variables
from diff.higher.types import INT, REAL, UNIT, TupleType
from tests.adjoint.languages.test_ks_generated import Programs

SEEDS = range(40)


def function(text: str) -> KsFunction:
    found = load([Source("t.ks", text)]).functions["f"]
    assert isinstance(found, KsFunction)
    return found


def generated(seed: int) -> KsFunction:
    return function(Programs(seed, folds=False).text(5 + seed))


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


@pytest.mark.parametrize("stage", ["CL", "CL-pruned"])
@pytest.mark.parametrize("seed", SEEDS)
def test_values(seed: int, stage: str) -> None:
    """t ◇ C⟦e⟧Γ is the value of e."""
    f, rng = generated(seed), np.random.default_rng(seed)
    again = function(f.stages()[stage](None, None))
    args: list[Any] = [float(rng.uniform(-1, 1)), rng.uniform(-1, 1, 3).tolist()]
    np.testing.assert_allclose(again.value(args), f.value(args), rtol=1e-13, atol=1e-13)


SIN, ADD = Name("sin", (REAL,)), Name("add", (TupleType((REAL, REAL)),))
TWO, YES = Constant(real(2.0)), Constant(Name("true"))


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
