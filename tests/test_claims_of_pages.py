"""Claims of the pages of the languages, and of `verify` and `check_derivative`, each at its limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint import check_adjoint, check_derivative, verify
from adjoint.higher import differential, reduce
from adjoint.higher import run as run_pullbacks
from adjoint.languages import Loaded, Source
from adjoint.languages.caddie import load as load_caddie
from adjoint.languages.ks import load as load_ks
from diff import log, operation
from diff.higher import Module, TermError
from diff.lam.files.claims import run
from diff.lam.run.taylor_macro import Taylor
from diff.lam.term.terms import AnyTerm
from diff.lam.term.types import ground
from hilbert import Elements, Fin, R, SpaceError
from linmap import identity

X = Fin.of(4)


def term(text: str) -> AnyTerm:
    return Module().term(text)[0]


def ks(text: str) -> Loaded:
    return load_ks([Source("t.ks", text)])


def anf(text: str) -> str:
    return " ".join(ks(text).functions["f"].stages()["anf"](None, None).split())


# --- docs/higher.md ---


def test_an_infinite_number_is_as_claimed() -> None:
    """value t = s: numbers agree to rounding; ∞ is ∞."""
    with np.errstate(divide="ignore"):
        assert run("value log 0 = log 0\n").holds


def test_a_gradient_is_of_a_function_into_real() -> None:
    """grad t at v = w: t is a function into real."""
    found = str(run(r"grad (\x. <x, x>) at 1 = 1"))
    assert "error type: <text>:1:7: a gradient is of a function into real, not of type real → real * real" in found


def test_discrete_types_have_no_derivatives() -> None:
    """D(V) = Vᴺ; D of a discrete type is that type."""
    kind = ground(Elements(Fin.of(3)))
    assert Taylor.of(1, 1).type(kind) == kind
    assert Taylor.of(1, 1).type(ground(R)) != ground(R)


def test_a_definition_has_at_most_400000_words() -> None:
    """A definition of more than 400,000 words is refused."""
    with pytest.raises(TermError, match="a definition of more than 400000 words"):
        Module().term("+".join(["1"] * 225_000))


# --- docs/pullbacks.md, docs/functionals.md ---


def test_a_functional_gives_a_number() -> None:
    """differential(F, f) is of F : (σ → τ) → ℝ, and says so of others."""
    with pytest.raises(TermError, match=r"a functional is of type \(σ → τ\) → real, not "):
        differential(term(r"\f. <f 0, f 1>"), term(r"\x. x"))


def test_what_a_function_uses_once_stands_in_its_place() -> None:
    """A normal form names by `let` what a function uses more than once."""
    assert str(reduce(term(r"(\g. \x. g x) (\a. a*a)"))) == "λx. (λa. a*a) x"
    assert str(reduce(term(r"(\g. \x. g x + g 1) (\a. a*a)"))) == "let g = λa. a*a in λx. g x + g 1"


def test_numbers_of_normal_forms_agree_to_rounding() -> None:
    """reduce t = s: numbers up to rounding, 1e-10."""
    assert run_pullbacks("reduce cov(1) = cov(1.00000000001)\n").holds
    assert not run_pullbacks("reduce cov(1) = cov(1.000001)\n").holds


def test_sums_of_normal_forms_have_as_many_terms() -> None:
    """reduce t = s: sums up to order; a longer one is another."""
    given = r"reduce pull(\h. h 1 + h 2, cov(1)) (\a. a*a) = ev(1; cov(1)) + ev(2; cov(1))"
    assert run_pullbacks(given).holds
    assert not run_pullbacks(f"{given} + ev(3; cov(1))").holds


# --- docs/caddie.md ---


def test_pairs_have_their_domain_by_first_appearance() -> None:
    """The results stand in the order in which the left indices first appear: for 2, and then for 0."""
    f = load_caddie([Source("t.cad", "fun f v = red [(2, 0), (0, 1)] v")]).functions["f"]
    assert f([1.0, 10.0, 100.0]).array.tolist() == [1.0, 10.0]


def test_no_position_is_below_0() -> None:
    """`red r v` reads v by position from 0."""
    f = load_caddie([Source("t.cad", "fun f v = red [(0, -1)] v")]).functions["f"]
    with pytest.raises(TermError, match="red reads position -1 of an array of 3"):
        f([1.0, 10.0, 100.0])


# --- docs/ks.md ---


def test_a_first_power_is_its_base() -> None:
    """x ↦ (pow x 1) is the identity, and known to be it."""
    f = ks("(def f Float (x : Float) (pow x 1))").functions["f"]
    assert f.stages()["structure"](None, None) == "identity"
    assert f.stages()["pointfree"](None, None) == "id"


def test_a_rule_is_for_expressions_of_its_types() -> None:
    """A variable of a rule stands for an expression of its type."""
    rule = '(rule "two" (x : Float) (size (build 2 (lam (i : Integer) x))) 2)\n'
    assert anf(f"{rule}(def f Integer (n : Integer) (size (build 2 (lam (i : Integer) 1.5))))").endswith(" 2)")
    assert not anf(f"{rule}(def f Integer (n : Integer) (size (build 2 (lam (i : Integer) n))))").endswith(" 2)")


@pytest.mark.parametrize(("steps", "is_kept"), [(190, True), (250, False)])
def test_a_record_has_at_most_200_parts(steps: int, *, is_kept: bool) -> None:
    """In the stage `split` a call whose record has more than 200 parts keeps none."""
    body = "x"
    for _ in range(steps):
        body = f"(sin {body})"
    found = ks(f"(def g Float (x : Float) {body}) (def h Float (x : Float) (mul (g x) (g (neg x))))").functions["h"]
    _, of_h = found.stages()["split"](None, None).split("(def [suffwdpass [h Float]]")
    assert ("[sufrevpass [g Float]]" in of_h) == is_kept


# --- docs/limits.md, adjoint.verify ---


def test_an_adjoint_is_checked_by_at_least_one_sample() -> None:
    """check_adjoint(f, samples=n) draws n directions, from one on."""
    with pytest.raises(SpaceError, match="at least one sample, not 0"):
        check_adjoint(identity(R**X), samples=0)


def test_operations_run_side_by_side_in_all_arguments_together() -> None:
    """verify runs a function beside another point, in one argument or in all: each value is as alone."""

    def value(xp: Any, a: Any, b: Any) -> Any:
        wrong = [xp.sum(xp.abs(one - one[:1])) if one.ndim > 1 else 0.0 for one in (a, b)]
        return a * b + wrong[0] * wrong[1]

    f = operation(
        "product of lanes", R**X, R**X, to=R**X, value=value, tangent=lambda a, b, _y, da, db: da * b + a * db
    )
    x = (R**X).vec([1.0, 2.0, 3.0, 4.0])
    assert "lifted over all arguments: its values are not those" in str(verify(f, at=(x, x)))


@pytest.mark.parametrize(("point", "passes"), [(7e-5, True), (2e-5, False)])
def test_a_derivative_is_checked_by_steps_from_a_tenth_to_3e_5(point: float, *, passes: bool) -> None:
    """check_derivative takes steps from 0.1 to 3·10⁻⁵: where all of them leave the domain, it fails."""
    with np.errstate(all="ignore"):
        assert bool(check_derivative(log, R.vec(point))) == passes
