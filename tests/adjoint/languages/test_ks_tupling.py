"""Tupling and the split (notes §§6, 7): the laws, on generated programs, of what the stages define."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.builtin import linear_primitives
from adjoint.languages.ks.run import function_maps
from adjoint.languages.ks.run.evaluate import KsEvaluator
from adjoint.languages.ks.run.ks_functions import KsFunction
from adjoint.languages.ks.text.function_names import Written
from adjoint.languages.ks.value.convert import arguments_of
from adjoint.languages.ks.value.ks_values import leaves_of, tangent
from adjoint.languages.ks.value.value_classes import Linear
from adjoint.languages.ks.value.value_syntax import plain
from tests.adjoint.languages.test_ks_generated import Programs, flat

SEEDS = range(40)


def function(text: str) -> KsFunction:
    found = load([Source("t.ks", text)]).functions["f"]
    assert isinstance(found, KsFunction)
    return found


def generated(seed: int) -> str:
    """A program of up to 40 nodes."""
    return Programs(seed).text(5 + seed)


def staged(text: str, stage: str) -> Callable[[str | None, Any], Any]:
    """Calls of f, and of what is derived from it, in the text of a stage."""
    f = function(function(text).stages()[stage](None, None))

    def call(derivation: str | None, arg: Any) -> Any:
        callee = f.callee
        if derivation is not None:
            callee = f.linked.scope.named(Written((derivation,), callee.base, callee.of), callee.of, f.place)
            assert f.linked.scope.defined(callee) or derivation in ("fwd", "rev", "sufrev")
        return function_maps.call(f.linked, callee, arg, KsEvaluator(f.linked))

    return call


def point(text: str, rng: np.random.Generator) -> Any:
    return arguments_of(function(text).callee.arg, [float(rng.uniform(-1, 1)), rng.uniform(-1, 1, 3).tolist()])


def drawn(value: Any, rng: np.random.Generator) -> Any:
    """A tangent at a value."""
    return tangent(lambda v: v.space.vec(rng.standard_normal(v.array.shape)), value)


def numbers(value: Any) -> Any:
    return np.hstack([np.ravel(x) for x in flat(plain(value))])


def endomorphism(like: Any, rng: np.random.Generator) -> Linear:
    """A linear map from the space of a value into itself, by a matrix."""
    n = sum(leaf.array.size for leaf in leaves_of(like))
    matrix = rng.standard_normal((n, n))

    def by(m: Any) -> Callable[[Any], Any]:
        def apply(x: Any) -> Any:
            rest: Iterator[float] = iter(m @ numbers(x))
            return tangent(
                lambda v: v.space.vec(np.reshape([next(rest) for _ in range(v.array.size)], v.array.shape)), like
            )

        return apply

    return Linear(by(matrix), by(matrix.T))


def require_equal(a: Any, b: Any) -> None:
    np.testing.assert_allclose(numbers(a), numbers(b), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_crucial_property(seed: int) -> None:
    """(CP): ∂̄f(e) ⊙̄ dx = fwd$f(e ⊙̄ dx), for e = (x, m)."""
    rng, text = np.random.default_rng(seed), generated(seed)
    call, x = staged(text, "polymorphic"), point(text, rng)
    m, dx = endomorphism(x, rng), drawn(x, rng)
    value, n = call("poly", (x, m))
    require_equal(value, call(None, x))
    require_equal(n.apply(dx), call("fwd", (x, m.apply(dx))))


@pytest.mark.parametrize("seed", SEEDS)
def test_naturality(seed: int) -> None:
    """∂̄f(x, m₁) ⊙̄ (m₂ ⊙ db) = ∂̄f(x, m₁∘m₂) ⊙̄ db."""
    rng, text = np.random.default_rng(seed), generated(seed)
    call, x = staged(text, "polymorphic"), point(text, rng)
    m1, m2, db = endomorphism(x, rng), endomorphism(x, rng), drawn(x, rng)
    require_equal(
        call("poly", (x, m1))[1].apply(m2.apply(db)),
        call("poly", (x, linear_primitives.compose((m1, m2))))[1].apply(db),
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_naturality_of_the_transpose(seed: int) -> None:
    """m₂ ⊙ (∂̄_R f(x, m₁) ⊙̄ dr) = ∂̄_R f(x, m₂∘m₁) ⊙̄ dr."""
    rng, text = np.random.default_rng(seed), generated(seed)
    call, x = staged(text, "polymorphic"), point(text, rng)
    m1, m2 = endomorphism(x, rng), endomorphism(x, rng)
    y, n = call("polyR", (x, m1))
    dr = drawn(y, rng)
    require_equal(m2.apply(n.apply(dr)), call("polyR", (x, linear_primitives.compose((m2, m1))))[1].apply(dr))


@pytest.mark.parametrize("seed", SEEDS)
def test_they_agree_with_rev(seed: int) -> None:
    """dr ⊙R of `tupled`, ∂̄_R f(x, 1) ⊙̄ dr, and the two passes give what rev gives."""
    rng, text = np.random.default_rng(seed), generated(seed)
    x, one = point(text, rng), linear_primitives.one(())
    tupled, polymorphic, split = (staged(text, stage) for stage in ("tupled", "polymorphic", "split"))
    y, m = tupled("tupled", x)
    dr = drawn(y, rng)
    due = tupled("rev", (x, dr))
    require_equal(m.transposed(dr), due)
    require_equal(polymorphic("poly", (x, one))[1].transposed(dr), due)
    require_equal(polymorphic("polyR", (x, one))[1].apply(dr), due)
    value, record = split("suffwdpass", x)
    require_equal(value, y)
    require_equal(split("sufrevpass", (dr, record)), due)
    require_equal(split("sufrev", (x, dr)), due)


# --- records ---


def parts_of_split(body: str) -> tuple[str, str]:
    text = " ".join(function(f"(def f {body})").stages()["split"](None, None).split())
    _, first, second = text.split("(def ")[-3:]
    return first, second


@pytest.mark.parametrize(
    ("body", "record"),
    [
        ("Float (v : Vec Float) (sum (exp v))", "(Tuple (Vec Float) Integer)"),
        ("Float (v : Vec Float) (sum (map (lam (x : Float) (exp x)) v))", "(Tuple Integer (Vec Float) Integer)"),
        ("Float ((x : Float) (y : Float)) (add x y)", "(Tuple)"),
        ("Float ((x : Float) (y : Float)) (mul (sin x) y)", "(Tuple Float Float Float)"),
        ("Float (x : Float) (tanh (add x 1.0))", "Float"),
        ("Float (x : Float) (if (gt x 1.0) (mul x x) (neg x))", "(Tuple Float Bool)"),
    ],
)  # fmt: skip
def test_records(body: str, record: str) -> None:
    """What the second pass reads, once each: no argument that it does not need."""
    first, second = parts_of_split(body)
    found = first.partition("]] (Tuple Float ")[2].partition(") (")[0]
    assert found.removesuffix(")") == record.removesuffix(")")
    for primal in ("(exp ", "(sin ", "(tanh ", "[rev ", "[fwd "):
        assert primal not in second


def test_no_primal_work(capsys: pytest.CaptureFixture[str]) -> None:
    """The first pass prints what the value prints; the second nothing."""
    text = (
        "(def f Float (x : Float) (let (y ($trace (mul x x))) (mul y y)))\n"
        "(def g Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (f (index i v))))))"
    )
    found = load([Source("t.ks", text)]).functions["g"]
    assert isinstance(found, KsFunction)
    stage = load([Source("s.ks", found.stages()["split"](None, None))])
    capsys.readouterr()
    assert stage.expression("(get$1$2 ([suffwdpass g] (Vec_init 1.0 2.0)))") == "17.0"
    assert capsys.readouterr().err.splitlines() == ["Trace[1.0]", "Trace[4.0]"]
    both = "(let ((t b) ([suffwdpass g] (Vec_init 1.0 2.0))) ([sufrevpass [g (Vec Float)]] 1.0 b))"
    assert stage.expression(both) == "[4.0, 32.0]"
    assert capsys.readouterr().err.splitlines() == ["Trace[1.0]", "Trace[4.0]"]


def test_recursion_and_nothing() -> None:
    """A call of the function itself is reversed by `[rev f]`; a sum of no elements has a zero of its own shape."""
    text = "(def f Float ((i : Integer) (v : Vec Float)) (if (eq i (size v)) 1.0 (mul (index i v) (f (add i 1) v))))"
    again = load([Source("s.ks", function(text).stages()["split"](None, None))])
    assert again.expression("([sufrev f] (tuple 0 (Vec_init 2.0 3.0 4.0)) 1.0)") == "((), [12.0, 8.0, 6.0])"
    text = "(def f Float ((n : Integer) (v : Vec Float)) (sumbuild n (lam (i : Integer) (sum (mul v v)))))"
    again = load([Source("s.ks", function(text).stages()["split"](None, None))])
    for n, due in ((0, "[0.0, 0.0]"), (2, "[8.0, 12.0]")):
        assert again.expression(f"([sufrev f] (tuple {n} (Vec_init 2.0 3.0)) 1.0)") == f"((), {due})"
