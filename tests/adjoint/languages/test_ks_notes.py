"""The pipeline of the notes: every stage is a text that runs, and gives the derivative of the program."""

import re
import time
from functools import cache
from typing import Any

import numpy as np
import pytest

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.builtin import linear_primitives
from adjoint.languages.ks.notes import NAMES
from adjoint.languages.ks.notes.jacobian.numbering import Numbering
from adjoint.languages.ks.run import derivatives, function_maps
from adjoint.languages.ks.run.evaluate import KsEvaluator
from adjoint.languages.ks.run.ks_functions import KsFunction
from adjoint.languages.ks.text.function_names import Written
from adjoint.languages.ks.value.convert import arguments_of
from adjoint.languages.ks.value.ks_values import tangent
from adjoint.languages.ks.value.value_syntax import plain
from diff.higher import TermError
from diff.lam.term.terms import Lam, Let, Lit, Var, real
from hilbert import Bool, SpaceError
from tests.ks_programs import PROGRAMS
from tests.test_shared_size import calls

F2 = "(def f Float (x : Float) (let (y (mul x x)) (let (z (add x y)) (mul y z))))"
REFUSED = r"lm[A-Z]|\(\[|\(f "
"""What the figure does not speak of, derived functions in a body, and recursion, which is tested below."""
DEFINED = {
    "anf": "f",
    "CL": "f",
    "jacobian": "[D [f ",
    "transposed": "[R [f ",
    "tupled": "[tupled [f ",
    "polymorphic": "[polyR [f ",
    "split": "[sufrevpass [f ",
}
TAKEN = [(body, points) for body, _, points in PROGRAMS if not re.search(REFUSED, body)]


def function(text: str, name: str = "f") -> KsFunction:
    found = load([Source("t.ks", text)]).functions[name]
    assert isinstance(found, KsFunction)
    return found


@cache
def program(body: str) -> tuple[KsFunction, dict[int, list[float]]]:
    """A program, and its numbers at points that have been asked for: they are the same for all of its stages."""
    return function(f"(def f {body})"), {}


def stage(f: KsFunction, name: str) -> str:
    return f.stages()[name](None, None)


def numbers(f: KsFunction, args: list[object]) -> list[float]:
    """The derivative along a tangent, against a cotangent, in each form."""
    x = arguments_of(f.callee.arg, args)
    rng = np.random.default_rng(3)

    def call(derivation: str | None, arg: Any) -> Any:
        callee = f.callee
        if derivation is not None:
            callee = f.linked.scope.named(Written((derivation,), callee.base, callee.of), callee.of, f.place)
        return function_maps.call(f.linked, callee, arg, KsEvaluator(f.linked))

    y = call(None, x)
    dx, dy = (tangent(lambda v: v.space.vec(rng.standard_normal(v.array.shape)), one) for one in (x, y))
    m, back = call("D", x), call("R", x)
    one = linear_primitives.one(())
    pairs = [call("tupled", x), call("poly", (x, one)), call("polyR", (x, one)), call("suffwdpass", x)]
    assert [plain(value) for value, _ in pairs] == [plain(y)] * 4
    (_, tupled), (_, poly), (_, poly_r), (_, record) = pairs
    found = (
        linear_primitives.dot(tupled.apply(dx), dy),
        linear_primitives.dot(poly.apply(dx), dy),
        linear_primitives.dot(poly_r.apply(dy), dx),
        linear_primitives.dot(call("sufrevpass", (dy, record)), dx),
        linear_primitives.dot(call("sufrev", (x, dy)), dx),
        linear_primitives.dot(call("fwd", (x, dx)), dy),
        linear_primitives.dot(call("rev", (x, dy)), dx),
        linear_primitives.dot(m.apply(dx), dy),
        linear_primitives.dot(back.apply(dy), dx),
    )
    return [float(one.array) for one in found]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("body", "points"), TAKEN, ids=[body[:60] for body, _ in TAKEN])
def test_stages_run(body: str, points: list[list[object]], name: str) -> None:
    """A stage defines what it is named for, and gives the numbers of the derivative of the program; it reads back."""
    f, known = program(body)
    text = stage(f, name)
    again = function(text)
    assert again.linked.scope.definitions[-1].name.startswith(DEFINED.get(name.partition("-")[0], f"[{name[:3]} [f "))
    k = len(name) % 2
    args = points[k]
    if k not in known:
        known[k] = numbers(f, args)
    assert numbers(again, args) == pytest.approx(known[k], rel=1e-10, abs=1e-10)
    assert again.value(args) == f.value(args)


def test_f2() -> None:
    """8.4375 and 20.25 (the notes print 22.5); at most four products and four sums after sharing."""
    f = function(F2)
    assert f.value([1.5]) == 8.4375
    for name in NAMES:
        assert numbers(function(stage(f, name)), [1.5])[0] / numbers(f, [1.5])[0] == pytest.approx(1.0)
    assert f.differential([1.5], None, reverse=True) == 20.25
    for name in ("fwd-cse", "rev-cse"):
        text = stage(f, name).partition("\n")[2]
        assert text.count("(mul ") == 4
        assert text.count("(add ") == 4


def test_jacobian_of_f2() -> None:
    """S((x+y)·(x+x) + y·(1+(x+x))), the notes' scalar."""
    assert stage(function(F2), "jacobian-opt").splitlines()[1:] == [
        "(def [D [f Float]] (LM Float Float)",
        "  (x : Float)",
        "  (let",
        "    (k (add x x))",
        "    (let (y (mul x x)) (let (k$2 (add 1.0 k)) (let (z (add x y)) (lmScale x (add (mul z k) (mul y k$2))))))))",
    ]


def test_cl() -> None:
    """The term of CL, in full and pruned: a variable of a pruned environment of one is I."""
    first, pruned = (stage(function(F2), name).partition("(def")[0] for name in ("CL", "CL-pruned"))
    assert first == "; f = Let(y, (I, I) ; F(mul), Let(z, (P[1/2], P[2/2]) ; F(add), (P[2/3], P[3/3]) ; F(mul)))\n"
    assert "P[2,3/3] ; (P[1/2] ; I, P[2/2] ; I) ;" in pruned
    build = "(def f (Vec Float) ((x : Float) (v : Vec Float)) (build 3 (lam (i : Integer) (if true 2.0 (index i v)))))"
    text = stage(function(build), "CL").partition("(def")[0]
    assert text == "; f = B(P[/2] ; K(3), i, IF(P[/3] ; K(true), P[/3] ; K(2.0), (P[3/3], P[2/3]) ; F(index)))\n"


def test_calls_stay_calls() -> None:
    """200 functions that call the one before twice: all stages are linear in the text, and run."""

    def text(n: int) -> str:
        first = "(def f0 Float (x : Float) (mul 0.5 x))\n"
        calls = (f"(def f{k} Float (x : Float) (add (f{k - 1} x) (f{k - 1} (mul 0.5 x))))" for k in range(1, n))
        return first + "\n".join(calls)

    for name in NAMES:
        small, large = (len(stage(function(text(n), f"f{n - 1}"), name)) for n in (20, 40))
        assert large <= 2.2 * small
        again = function(stage(function(text(6), "f5"), name), "f5")
        assert again.differential([1.0], None, reverse=True) == function(text(6), "f5").differential(
            [1.0], None, reverse=True
        )


def test_recursion_is_a_call() -> None:
    """[D f] calls itself as f does."""
    text = "(def f Float ((i : Integer) (v : Vec Float)) (if (eq i (size v)) 1.0 (mul (index i v) (f (add i 1) v))))"
    f = function(text)
    for name in ("anf", "jacobian", "fwd", "fwd-opt", "fwd-cse", "rev", "rev-opt", "rev-cse", "tupled"):
        again = function(stage(f, name))
        assert again.differential([0, [2.0, 3.0, 4.0]], None, reverse=True) == ((), [12.0, 8.0, 6.0])


@pytest.mark.parametrize(
    ("name", "said"), [("fwd", "([fwd [fwd [g Float]]] (tuple x t) (tuple dx d))"), ("rev", "([rev [fwd [g Float]]] ")]
)
def test_calls_of_derivatives(name: str, said: str) -> None:
    """A call of [fwd g] is derived as that of any function: by [fwd [fwd g]], and [rev [fwd g]]."""
    g = "(def g Float (x : Float) (mul x (sin x)))"
    f = function(f"{g} (def f Float (x : Float) ([fwd g] x (mul x x)))")
    assert said in " ".join(f.stages()[name](None, None).split())


def test_what_a_derivative_by_hand_belongs_to_is_there() -> None:
    """A stage that calls [rev g] holds g as well, though nothing calls that: what it holds can be checked by itself."""
    g = "(def g Float (x : Float) (mul x x))"
    hand = "(def [rev g] Float ((x : Float) (d : Float)) (mul 3.0 (mul x d)))"
    f = function(f"{g} {hand} (def f Float (x : Float) ([rev g] x 1.0))")
    text = stage(f, "anf")
    assert g in text
    assert numbers(function(text), [2.0]) == pytest.approx(numbers(f, [2.0]))


@pytest.mark.parametrize("called", ["d", "k", "r", "t", "r$2", "D"])
def test_a_function_named_as_a_variable_of_a_stage(called: str) -> None:
    """The variable has another name: a stage calls what the function calls."""
    of = f"(def {called} Float (x : Float) (mul x x))"
    f = function(f"{of} (def f Float (x : Float) (let (y (sin x)) (mul y (add ({called} y) (mul y (exp y))))))")
    for name in NAMES:
        assert numbers(function(stage(f, name)), [1.5]) == pytest.approx(numbers(f, [1.5])), name


def test_shadowing() -> None:
    """The order of the let rule: e₁ may mention an outer x."""
    f = function("(def f Float (x : Float) (let (x (mul x x)) (let (x (sin x)) (mul x x))))")
    for name in NAMES:
        assert numbers(function(stage(f, name)), [1.5]) == pytest.approx(numbers(f, [1.5]))


BY_HAND = {
    "fwd": "(def [fwd h] Float ((x : Float) (dx : Float)) (mul 5.0 (k dx)))",
    "rev": "(def [rev h] Float ((x : Float) (dr : Float)) (mul 5.0 (k dr)))",
    "sufrev": "(def [sufrev h] Float ((x : Float) (dr : Float)) (mul (k x) dr))",
    "passes": "(def [suffwdpass h] (Tuple Float Float) (x : Float) (tuple (mul x x) (k x)))"
    "(def [sufrevpass [h Float]] Float ((dr : Float) (b : Float)) (mul 50.0 (mul b dr)))",
}
"""Wrong on purpose: each is seen where it is used."""


@pytest.mark.parametrize("defined", ["f", "[f Float]"])
@pytest.mark.parametrize("called", ["f", "[f Float]"])
def test_a_function_by_its_type(defined: str, called: str) -> None:
    """f and [f T] are one function in each stage, however it is defined and called."""
    g = function(f"(def {defined} Float (x : Float) (sin x)) (def g Float (x : Float) ({called} x))", "g")
    due = pytest.approx(numbers(g, [0.5]), rel=1e-14)
    for name in NAMES:
        assert numbers(function(stage(g, name), "g"), [0.5]) == due, name


@pytest.mark.parametrize("mode", BY_HAND)
def test_what_is_called_is_derived_by_hand(mode: str) -> None:
    """A derivative by hand replaces ours in the stages of callers, as it does in their derivatives."""
    h = f"(def k Float (x : Float) (mul 3.0 x)) (def h Float (x : Float) (mul x x)) {BY_HAND[mode]}"
    f = function(f"{h} (def f Float (x : Float) (mul x (h (sin x))))")
    found = numbers(f, [1.5])
    assert len({round(abs(of), 9) for of in found}) == 2  # of one mode or two, beside those of the body
    if mode in ("sufrev", "passes"):
        assert found[3:5] == pytest.approx([found[3]] * 2)
    for name in NAMES:
        if name != "anf" and not name.startswith("CL"):  # those hold values alone
            written = numbers(function(stage(f, name)), [1.5])
            at = {"fwd": [5], "rev": [6]}.get(name.partition("-")[0], range(len(found)))
            assert [written[k] for k in at] == pytest.approx([found[k] for k in at]), name


ASSERTED = {
    "the result": "(assert (gt x 0.0) (mul x (sin x)))",
    "a let": "(let (y (assert (gt x 0.0) (mul x (sin x)))) (mul y y))",
    "an argument": "(mul x (assert (gt x 0.0) (mul x (assert (gt (sin x) 0.0) (sin x)))))",
    "a tuple": "(let ((a b) (assert (gt x 0.0) (tuple x (mul x x)))) (mul a b))",
    "a constant": "(let (y (assert (gt x 0.0) 2.0)) (mul x y))",
    "a build": "(sum (build 3 (lam (i : Integer) (mul (assert (gt x 0.0) (mul x x)) (to_float i)))))",
    "a fold": "(fold (lam ((a : Float) (b : Float)) (add b (assert (gt a 0.0) (mul a x)))) x (Vec_init x x))",
    "a branch": "(if (lt x 9.0) (mul x (assert (gt x 0.0) (sin x))) x)",
}


@pytest.mark.parametrize("body", ASSERTED.values(), ids=ASSERTED)
def test_an_assertion_is_made_in_the_first_pass(body: str) -> None:
    """Its record is that of what is asserted; it is made in the other stages, too, but those of CL."""
    f = function(f"(def f Float (x : Float) {body})")
    for name in NAMES:
        assert numbers(function(stage(f, name)), [1.5]) == pytest.approx(numbers(f, [1.5])), name
    split = load([Source("s.ks", stage(f, "split"))])
    with pytest.raises(TermError, match="the assertion does not hold"):
        split.expression("([suffwdpass f] -1.5)")
    first, second = stage(f, "split").split("(def [sufrevpass")
    assert "(assert" in first
    assert "(assert" not in second


LINEAR = {
    "jacobian": ("(lmApply ([D {f}] 1.5) 1.0)", "(lmApplyR 1.0 ([D {f}] 1.5))"),
    "jacobian-opt": ("(lmApply ([D {f}] 1.5) 1.0)", "(lmApplyR 1.0 ([D {f}] 1.5))"),
    "tupled": (
        "(let ((t m) ([tupled {f}] 1.5)) (lmApply m 1.0))",
        "(let ((t m) ([tupled {f}] 1.5)) (lmApplyR 1.0 m))",
    ),
    "polymorphic": (
        "(let ((t m) ([poly {f}] 1.5 (lmOne 1.5))) (lmApply m 1.0))",
        "(let ((t m) ([polyR {f}] 1.5 (lmOne 1.5))) (lmApply m 1.0))",
    ),
}


@pytest.mark.parametrize("name", LINEAR)
def test_a_linear_map_is_applied_once(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """However often it is read: in a chain of n squares the work is that of n, not of 2ⁿ."""
    calls: list[str] = []

    def counted(module: Any, work: str) -> None:
        do = getattr(module, work)

        def run(*given: Any) -> Any:
            calls.append(work)
            return do(*given)

        monkeypatch.setattr(module, work, run)

    for module, work in ((derivatives, "forward"), (derivatives, "backward"), (linear_primitives, "scaled")):
        counted(module, work)
    found = []
    for n in (6, 12):
        squares = [f"(def f{k} Float (x : Float) (let (z (f{k - 1} (sin x))) (mul z z)))" for k in range(1, n)]
        chain = load([Source("t.ks", f"(def f0 Float (x : Float) x) {' '.join(squares)}")])
        text = load([Source("s.ks", chain.functions[f"f{n - 1}"].stages()[name](None, None))])
        due = float(chain.expression(f"([fwd f{n - 1}] 1.5 1.0)"))
        calls.clear()
        for expression in LINEAR[name]:
            assert float(text.expression(expression.format(f=f"f{n - 1}"))) == pytest.approx(due)
        found.append(len(calls))
    assert 0 < found[0] < found[1] <= 2.5 * found[0]


@pytest.mark.parametrize("name", ["rev-opt", "rev-cse"])
def test_what_comes_to_a_variable_is_added_first(name: str) -> None:
    """So [rev g] is called once for a value that is read several times, beside others and through them."""
    g = "(def g (Tuple Float Float) (x : Float) (tuple (sin x) (mul x x)))"
    f = function(
        f"{g} (def f Float (x : Float) (let ((a b) (g (mul 0.5 x))) (let (y (mul a x))"
        " (let (w (mul y (mul b a))) (add (mul w a) (mul y b))))))"
    )
    text = stage(f, name)
    assert text.count("([rev [g Float]]") == 1
    assert numbers(function(text), [1.5]) == pytest.approx(numbers(f, [1.5]))


@pytest.mark.parametrize("name", ["rev-opt", "rev-cse", "fwd-opt", "split"])
def test_a_recursion_whose_value_is_read_twice(name: str) -> None:
    """Each level calls the one below once."""
    f = function(
        "(def f Float ((n : Integer) (x : Float)) (if (lte n 0) x"
        " (let (z (f (sub n 1) (mul x 0.5))) (add z (mul z x)))))"
    )
    assert numbers(function(stage(f, name)), [40, 1.5]) == pytest.approx(numbers(f, [40, 1.5]))


def test_refused() -> None:
    """What the figure does not speak of is an error at its place."""
    f = function(
        "(def f Float (v : Vec Float) (FFold (lam (t : Tuple Float Float) (mul (get$1$2 t) (get$2$2 t))) 1.0 v"
        " (lam (t : Tuple (Tuple Float Float) (Tuple Float Float)) 2.0) 1.0 v))"
    )
    assert stage(f, "anf")
    for name, message in {
        "CL": "FFold is not in CL",
        "tupled": "FFold is not tupled",
        "split": "FFold is not split",
        "jacobian": "FFold has no Jacobian as a text",
    }.items():
        with pytest.raises(TermError, match=message) as caught:
            stage(f, name)
        assert caught.value.place is not None
        assert caught.value.place.column == len("(def f Float (v : Vec Float) (")


FOLDS = {
    "a power": "Float ((x : Float) (v : Vec Float)) (fold (lam (t : Tuple Float Float) (mul (get$1$2 t) x)) x v)",
    "a fold in a fold": "Float ((x : Float) (v : Vec Float)) (let (y (sin x)) (fold (lam ((a : Float) (b : Float))"
    " (fold (lam (t : Tuple Float Float) (add (mul (get$1$2 t) (tanh (mul a y))) (mul b (get$2$2 t)))) x v)) y v))",
    "a tuple": "(Tuple Float Float) (v : Vec Float) (fold (lam (t : Tuple (Tuple Float Float) Float)"
    " (let ((s x) t) (let ((a b) s) (if (gt x 0.6) (tuple (mul a x) (add a b)) (tuple (sub a x) (mul b x))))))"
    " (tuple 1.0 2.0) v)",
    "an integer": "Float (v : Vec Float) (mul (index 1 v) (to_float (fold (lam ((a : Integer) (b : Integer))"
    " (add (mul 2 a) b)) 1 (Vec_init 1 0 1))))",
    "over integers": "Float (x : Float)"
    " (fold (lam ((a : Float) (n : Integer)) (mul (to_float n) (pow a n))) x (Vec_init 1 2))",
    "in a build": "(Vec Float) (v : Vec Float) (build (size v) (lam (i : Integer)"
    " (fold (lam ((a : Float) (x : Float)) (tanh (add a (mul x (index i v))))) (to_float i) v)))",
    "a vector": "(Vec Float) ((m : Vec (Vec Float)) (v : Vec Float)) (fold (lam ((a : Vec Float) (r : Vec Float))"
    " (build (size a) (lam (i : Integer) (mul (index i a) (add (index i v) (index i r)))))) v m)",
    "an assertion": "Float (v : Vec Float) (fold (lam ((a : Float) (x : Float)) (assert (lt x 9.0) (mul a x))) 2.0 v)",
    "vectors of nothing": "Float ((x : Float) (v : Vec Float)) (fold (lam ((a : Float) (b : Float)) (if (gt b 0.6)"
    " (sum (build 3 (lam (i : Integer) a))) (mul x b))) x v)",
}
POINTS: dict[str, list[object]] = {
    "Float ((x": [0.5, [0.5, -1.25, 0.75]],
    "(Vec Float) ((m": [[[0.5, 1.0], [2.0, -0.5], [1.5, 0.25]], [0.75, -1.5]],
    "Float (x": [0.5],
    "": [[0.5, -1.25, 0.75]],
}


@pytest.mark.parametrize("name", FOLDS)
def test_folds(name: str) -> None:
    """Of every kind of state, in each stage; `diff`, which goes by the program, is the oracle."""
    body = FOLDS[name]
    args = next(args for start, args in POINTS.items() if body.startswith(start))
    f = function(f"(def f {body})")
    due = numbers(f, args)
    for stage_name in NAMES:
        again = function(stage(f, stage_name))
        assert numbers(again, args) == pytest.approx(due, rel=1e-10, abs=1e-10), stage_name
        assert again.value(args) == f.value(args)


def test_the_rule_of_the_notes_for_folds() -> None:
    """∇⟦fold (λt. e) a v⟧ = lmFold (λt. e) (λt. e′) a v ∘ (1_s × (∇a × ∇v)), with all of s in e′, is the same map."""
    step = "(lam (t : Tuple Float Float) (mul (get$1$2 t) (mul x (get$2$2 t))))"
    text = f"""
        (def f Float ((x : Float) (v : Vec Float)) (fold {step} x v))
        (def m (LM (Tuple Float (Vec Float)) Float) ((x : Float) (v : Vec Float))
          (lmCompose
            (lmFold {step}
              (lam (t : Tuple Float Float) (let ((a b) t)
                (lmHCat (lmHCat (lmScale 1.0 (mul a b)) (lmZero v 1.0))
                        (lmHCat (lmScale 1.0 (mul x b)) (lmScale 1.0 (mul x a))))))
              x v)
            (lmVCat (lmOne (tuple x v))
                    (lmVCat (lmHCat (lmOne x) (lmZero v x)) (lmHCat (lmZero x v) (lmOne v))))))"""
    literal = load([Source("t.ks", text)]).expression
    stage_text = stage(function(text), "jacobian")
    ours = load([Source("s.ks", stage_text)]).expression
    for apply in ("(lmApplyR 1.5 {})", "(lmApply {} (tuple 0.5 (Vec_init 1.0 -2.0 0.25)))"):
        at = "0.5 (Vec_init 2.0 3.0 -1.0)"
        assert literal(apply.format(f"(m {at})")) == ours(apply.format(f"([D f] {at})"))


def test_folds_of_nothing() -> None:
    """The cotangent of what is around a fold is zero then, where its shape is known."""
    f = function(f"(def f {FOLDS['a power']})")
    for name in NAMES:
        assert function(stage(f, name)).differential([0.5, []], None, reverse=True) == (1.0, [])
    vectors = "Float ((w : Vec Float) (v : Vec Float)) (fold (lam ((a : Float) (b : Float)) (mul a (sum w))) 2.0 v)"
    f = function(f"(def f {vectors})")
    again = load([Source("s.ks", stage(f, "split"))])
    assert again.expression("([sufrev f] (tuple (Vec_init 1.0 2.0) (constVec 0 1.0)) 1.0)") == "([0.0, 0.0], [])"
    again = load([Source("s.ks", stage(f, "rev"))])
    with pytest.raises(SpaceError, match="the zero of a tensor whose size is not known"):
        again.expression("([rev f] (tuple (Vec_init 1.0 2.0) (constVec 0 1.0)) 1.0)")


def test_cotangents_in_a_fold_are_of_what_it_reads() -> None:
    """Of x, and not of the whole argument: a fold over n numbers adds up n numbers, not n vectors."""
    text = stage(function(f"(def f {FOLDS['a power']})"), "rev-cse")
    step = text[text.index("(RFold") : text.index("        dr))")]
    assert "size" not in step
    assert step.count("(mul ") == 3
    text = stage(
        function("(def f Float (v : Vec Float) (fold (lam ((a : Float) (b : Float)) (mul a b)) 1.0 v))"), "jacobian"
    )
    assert "(lmVCat (lmZero v (tuple)) (lmVCat (lmZero v 1.0) (lmOne v)))" in " ".join(text.split()).replace(
        "D)", "(lmOne v))"
    )


def test_folds_in_folds_grow_no_faster() -> None:
    """What is added up is named: a text grows with f and f′ of each depth, not by a factor with each."""

    def text(n: int) -> str:
        body = "(mul a b)"
        for k in range(n):
            body = f"(fold (lam ((a : Float) (b : Float)) (mul {body} (add x y))) {'x' if k == n - 1 else 'a'} v)"
        return f"(def f Float ((x : Float) (y : Float) (v : Vec Float)) {body})"

    for name in NAMES:
        sizes = [len(stage(function(text(n)), name).split()) for n in (2, 4, 8)]
        assert sizes[2] - sizes[1] <= 4.5 * (sizes[1] - sizes[0]), name


def test_refused_with_a_function_alone() -> None:
    """What takes a function and nothing else: A-normal form names its argument, which is refused where it stands."""
    f = function(
        "(def g Float (h : Lam Float Float) 2.0) (def f Float (x : Float) (mul x (g (lam (y : Float) (mul y x)))))"
    )
    assert numbers(function(stage(f, "anf")), [1.5]) == pytest.approx(numbers(f, [1.5]))
    for name in ("jacobian", "tupled", "split"):
        with pytest.raises(TermError, match="a lambda is the argument of build or fold here") as caught:
            stage(f, name)
        assert caught.value.place is not None
        assert caught.value.place.column == len(
            "(def g Float (h : Lam Float Float) 2.0) (def f Float (x : Float) (mul x (g ("
        )
    with pytest.raises(TermError, match="g is not in CL"):
        stage(f, "CL")


@pytest.mark.parametrize("name", ["fwd-cse", "rev-cse"])
def test_what_nobody_reads_is_found_in_one_walk(name: str) -> None:
    """A chain of values that only the next one reads: four times as many take some four times as long, not sixteen."""

    def seconds(n: int) -> float:
        f = function(f"(def f Float (x : Float) {'(add (sin x) ' * n}x{')' * n})")
        start = time.process_time()
        f.stages()[name](None, None)
        return time.process_time() - start

    few, many = (min(seconds(n) for _ in range(2)) for n in (150, 600))
    assert many <= 9 * few


def test_what_is_needed_stays() -> None:
    """What is printed or asserted, and what that reads; a value that an inner value reads, or one of two branches."""
    text = """(def f Float ((x : Float) (v : Vec Float))
  (let ((a (sin x)) (b (cos a)) (c ($trace b)) (d (exp x)) (e (exp d)) (g (assert (gt d 0.0) 1.0)))
    (if (gt x 0.0) (let ((h (mul x x)) (k (mul h h))) h) (sum (map (lam (y : Float) (let (z (mul d d)) y)) v)))))"""
    shown = function(text).stages()["fwd-cse"](None, None)
    derived = shown[shown.index("(def [fwd ") :]
    assert "$trace" in derived
    assert "assert" in derived
    assert "(mul h h)" not in derived
    assert "(exp d)" not in derived
    assert "(z " not in derived


def numbered(body: str) -> tuple[Numbering, dict[str, int]]:
    """The numbers of the values that are bound by lets of one body, outside of functions, by name."""
    numbers = Numbering()
    e = function(f"(def f Float ((x : Float) (v : Vec Float)) {body})").linked.scope.definitions[0].function
    assert isinstance(e, Lam)
    found: dict[str, int] = {}
    rest = e.body
    while isinstance(rest, Let):
        assert isinstance(rest.pattern, Var)
        numbers.bound(rest.pattern, rest.value)
        found[rest.pattern.name] = numbers.of(rest.value)
        rest = rest.body
    return numbers, found


def test_equal_values_have_one_number() -> None:
    """Up to the names of what lets and functions bind: variables, components, functions in functions."""
    rows = [
        ("(sin x)", "(sin x)"),
        ("(let (y (sin x)) (mul y y))", "(let (z (sin x)) (mul z z))"),
        ("(let (p (tuple x 1.0)) (let ((b c) p) (add b c)))", "(let (q (tuple x 1.0)) (let ((d e) q) (add d e)))"),
        ("(if (lt x 1.0) (let (y (exp x)) y) 0.0)", "(if (lt x 1.0) (let (z (exp x)) z) 0.0)"),
        ("(sumbuild 3 (lam (i : Integer) (index i v)))", "(sumbuild 3 (lam (j : Integer) (index j v)))"),
        (
            "(sumbuild 3 (lam (i : Integer) (sumbuild 2 (lam (j : Integer) (mul (index i v) (index j v))))))",
            "(sumbuild 3 (lam (j : Integer) (sumbuild 2 (lam (i : Integer) (mul (index j v) (index i v))))))",
        ),
    ]
    for one, other in rows:
        _, found = numbered(f"(let ((a {one}) (b {other})) x)")
        assert found["a"] == found["b"], one


def test_values_that_differ_have_two_numbers() -> None:
    """What is read, how it is computed, in what order, literals of two types, and which of two functions binds."""
    rows = [
        ("(sin x)", "(cos x)"),
        ("(sub x 1.0)", "(sub 1.0 x)"),
        ("(add x 0.0)", "(add x -0.0)"),
        ("(let (y (sin x)) (mul y x))", "(let (y (sin x)) (mul x y))"),
        ("(let (p (tuple x 1.0)) (let ((b c) p) (sub b c)))", "(let (q (tuple x 1.0)) (let ((d e) q) (sub e d)))"),
        ("(if (lt x 1.0) (exp x) 0.0)", "(if (lt x 1.0) 0.0 (exp x))"),
        ("(sumbuild 3 (lam (i : Integer) (index i v)))", "(sumbuild 2 (lam (i : Integer) (index i v)))"),
        (
            "(sumbuild 3 (lam (i : Integer) (sumbuild 3 (lam (j : Integer) (mul (index i v) (to_float j))))))",
            "(sumbuild 3 (lam (i : Integer) (sumbuild 3 (lam (j : Integer) (mul (index j v) (to_float i))))))",
        ),
        (
            "(sumbuild 2 (lam (i : Integer) (sumbuild 2 (lam (j : Integer) (index i v)))))",
            "(sumbuild 2 (lam (i : Integer) (sumbuild 2 (lam (j : Integer) (index j v)))))",
        ),
    ]
    for one, other in rows:
        _, found = numbered(f"(let ((a {one}) (b {other})) x)")
        assert found["a"] != found["b"], one
    numbers = Numbering()
    assert len({numbers.of(one) for one in (Lit(1), real(1.0), Lit(Bool.vec(np.True_)))}) == 3


def test_what_one_branch_computes_is_not_read_by_the_other() -> None:
    """Nor after the condition; what is computed before it is."""
    f = function(
        "(def f Float (x : Float) (let (k (exp x))"
        " (add (if (lt x 0.5) (mul (sin x) (exp x)) (mul (sin x) k)) (mul (sin x) (exp x)))))"
    )
    shown = stage(f, "fwd-cse")
    run = function(shown)
    for x in (0.25, 0.75):
        assert numbers(run, [x]) == pytest.approx(numbers(f, [x]))
    derived = shown[shown.index("(def [fwd ") :]
    assert derived.count("(exp x)") == 1
    assert derived.count("(sin x)") == 3


@pytest.mark.parametrize("name", ["fwd-cse", "rev-opt", "rev-cse", "split"])
def test_conditions_in_each_other_grow_as_their_derivative(name: str) -> None:
    """It has n² words: twice as many conditions take four times the steps, not eight."""

    def steps(n: int) -> int:
        text = "x"
        for k in range(n):
            text = f"(if (lt x {k}.0) (mul x {text}) (add x {k}.5))"
        f = function(f"(def f Float (x : Float) {text})")
        return calls(lambda: f.stages()[name](None, None))

    steps(2)  # what is found out once
    few, many = steps(16), steps(32)
    assert many <= 4 * few
