"""What stands in each other n times takes no 2ⁿ steps: counted in functions that are entered, and in words of texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

import pytest

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.run import evaluate
from adjoint.languages.ks.run.evaluate import KsEvaluator
from adjoint.languages.ks.run.ks_functions import KsFunction
from adjoint.languages.ks.value.value_classes import Lane
from diff.lam.term.term_error import TermError

ONE = "(f 0.5 (Vec_init 0.5))"
BACK = "([rev f] (tuple 0.5 (Vec_init 0.5)) 1.0)"
IFS = "(let (x{k} (if (gt x{j} 0.0) (mul x{j} x{j}) (sin x{j}))) "
BUILDS = "(let (x{k} (build (size x{j}) (lam (i : Integer) (mul (index i x{j}) (index i x{j}))))) "
ASSERTS = "(let (x{k} (assert (gt x{j} -9.0) (mul x{j} x{j}))) "
PASSES = "(let ((t b) ([suffwdpass f] 0.5 (Vec_init 0.5))) ([sufrevpass [f (Tuple Float (Vec Float))]] 1.0 b))"


def folds(n: int, state: str, body: str) -> str:
    for _ in range(n):
        body = f"(fold (lam ((s : {state}) (x : Float)) {body}) s v)"
    return body


def counting(n: int) -> str:
    """The state counts its rounds: no loop."""
    step = "(let ((k a) s) (tuple (add k 1) (add a (mul x a))))"
    body = folds(n, "(Tuple Integer Float)", step)
    return f"(def f Float ((y : Float) (v : Vec Float)) (let (s (tuple 0 y)) (get$2$2 {body})))"


def deciding(n: int) -> str:
    """A recursion that reals decide: no loop, and neither is what it stands in."""
    body = folds(n, "Float", "(add s (r x))")
    recursion = "(def r Float (x : Float) (if (gt x 0.0) (r (sub x 1.0)) x))"
    return f"{recursion} (def f Float ((s : Float) (v : Vec Float)) {body})"


def plain(n: int) -> str:
    """A loop, whose two passes are none: they keep a record of each round."""
    return f"(def f Float ((s : Float) (v : Vec Float)) {folds(n, 'Float', '(add s (mul x s))')})"


def builds(n: int, size: str, of: str = "{}") -> str:
    body = of.format(f"(sum (build {size} (lam (j : Integer) y)))")
    for k in reversed(range(n)):
        body = f"(sum (build 1 (lam (i{k} : Integer) {body})))"
    return f"(def f Float ((y : Float) (v : Vec Float)) {body})"


def builds_of_the_first(n: int) -> str:
    """A size that depends on the index of the outermost build."""
    return builds(n, "(add i0 1)")


def conditions_of_the_first(n: int) -> str:
    """The same under a condition on reals."""
    return builds(n, "(add i0 1)", "(if (lt y 0.0) 0.0 {})")


def under_conditions(n: int) -> str:
    """What a condition on reals decides there."""
    return builds(n, "(if (lt y 0.0) 3 2)")


def of_sizes(n: int) -> str:
    """A size that is found from reals."""
    return builds(n, "(imax (Vec_init 0.0 y))")


def recursions(n: int) -> str:
    return "(def r Float (x : Float) (if (gt x 0.0) (r (sub x 1.0)) x)) " + builds(n, "1", "(add (r y) {})")


def lines_under_conditions(n: int) -> str:
    return builds(n, "1", "(if (gt y 0.0) ($trace {}) 0.0)")


def lines_of_derivatives(n: int) -> str:
    return "(def p Float (x : Float) (mul x ($trace x))) " + builds(n, "1", "([fwd p] {} 1.0)")


def builds_of_all(n: int) -> str:
    """A size that depends on the indices of all builds."""
    size = "1"
    for k in range(n):
        size = f"(add i{k} {size})"
    return builds(n, size)


def function(text: str) -> KsFunction:
    found = load([Source("t.ks", text)]).functions["f"]
    assert isinstance(found, KsFunction)
    return found


def stage(text: str, name: str) -> str:
    return function(text).stages()[name](None, None)


def chain(n: int, step: str, end: str = "x", ty: str = "Float") -> str:
    """n lets, each of which reads the one before."""
    lets = "".join(step.format(j=k, k=k + 1) for k in range(n))
    return f"(def f Float (x0 : {ty}) {lets}{end.replace('x', f'x{n}')}{')' * n})"


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The functions that evaluations enter."""
    found: list[Any] = []
    enter = KsEvaluator._enter

    def counted(self: KsEvaluator, term: Any) -> None:
        found.append(term)
        enter(self, term)

    monkeypatch.setattr(KsEvaluator, "_enter", counted)
    return found


@pytest.mark.parametrize(
    ("made", "expression", "value"),
    [
        (counting, ONE, "0.75"),
        (counting, BACK, "(1.5, [0.5])"),
        (deciding, BACK, None),
        (builds_of_the_first, ONE, "0.5"),
        (conditions_of_the_first, BACK, "(1.0, [0.0])"),
        (under_conditions, BACK, "(2.0, [0.0])"),
        (of_sizes, BACK, "(1.0, [0.0])"),
        (recursions, BACK, "(2.0, [0.0])"),
        (lines_under_conditions, BACK, "(1.0, [0.0])"),
        (lines_of_derivatives, BACK, "(2.0, [0.0])"),
        (builds_of_all, ONE, "0.5"),
        (builds_of_all, BACK, "(1.0, [0.0])"),
    ],
)
def test_what_is_tried_at_once_is_tried_once(entered: list[Any], made: Any, expression: str, value: str | None) -> None:
    """Twice as many folds or builds in each other take four times the steps: each is tried by the one around it."""

    def steps(n: int) -> int:
        entered.clear()
        found = load([Source("t.ks", made(n))]).expression(expression)
        assert value is None or found == value
        return len(entered)

    few, many = steps(5), steps(10)
    assert many <= 4 * few


def test_passes_of_folds_in_folds(entered: list[Any]) -> None:
    """Those that `split` writes keep records, which grow: no loops."""

    def steps(n: int) -> int:
        text = stage(plain(n), "split")
        entered.clear()
        assert load([Source("t.ks", text)]).expression(PASSES) == "(1.5, [0.5])"
        return len(entered)

    few, many = steps(3), steps(6)
    assert many <= 5 * few


@pytest.mark.parametrize(
    ("name", "expression"),
    [
        ("jacobian-opt", "(lmApplyR 1.0 ([D f] 0.5))"),
        ("tupled", "(let ((t m) ([tupled f] 0.5)) (lmApplyR 1.0 m))"),
    ],
)
def test_builds_of_linear_maps(entered: list[Any], name: str, expression: str) -> None:
    """They are computed one by one, as their type says, and not tried at once."""

    def steps(n: int) -> int:
        body = "(mul x x)"
        for k in range(n):
            body = f"(sum (build 1 (lam (i{k} : Integer) {body})))"
        text = stage(f"(def f Float (x : Float) {body})", name)
        entered.clear()
        assert load([Source("t.ks", text)]).expression(expression) == "1.0"
        return len(entered)

    few, many = steps(4), steps(8)
    assert many <= 4 * few


def test_what_depends_on_the_lane_is_no_loop(entered: list[Any]) -> None:
    """A fold in a build of which a size depends on the index is not tried round by round: the build is computed so."""

    def steps(n: int) -> int:
        body = folds(n, "Float", "(add s (sum (build (add i 1) (lam (j : Integer) x))))")
        text = f"(def f (Vec Float) ((s : Float) (v : Vec Float)) (build 1 (lam (i : Integer) {body})))"
        entered.clear()
        assert load([Source("t.ks", text)]).expression(ONE) == "[1.0]"
        return len(entered)

    few, many = steps(5), steps(10)
    assert many <= 2 * few


@pytest.mark.parametrize(
    "body",
    [
        "(sum (map (lam (x : Float) (if (gt x 0.0) (mul x x) (sin x))) v))",
        "(sum (map (lam (x : Float) ([rev g] x 1.0)) v))",
        "(fold (lam ((s : Float) (x : Float)) (if (gt x 0.0) (mul s x) (sin s))) 1.0 v)",
        "(to_float (sum (build (size v) (lam (i : Integer) (if (eq i 0) 3 (if (gt i 1) i 4))))))",
    ],
)
def test_conditions_in_a_body_leave_it_one(entered: list[Any], body: str) -> None:
    """A body is entered as often for many elements as for few, also at a point and where branches are discrete."""
    text = f"(def g Float (x : Float) (assert (gt x 0.0) (sin x))) (def f Float (v : Vec Float) {body})"
    found = set()
    for n in (3, 30):
        entered.clear()
        load([Source("t.ks", text)]).expression(f"([rev f] (constVec {n} 1.0) 1.0)")
        found.add(len(entered))
    assert len(found) == 1


@pytest.mark.parametrize(
    ("body", "due"),
    [
        ("(add (g 0 1.0 v) (g 1 1.0 v))", "102.0"),
        ("(sum (build 2 (lam (i : Integer) (if (eq i 0) (g i 1.0 v) (g i 2.0 v)))))", "103.0"),
        (
            (
                "(sum (build 2 (lam (i : Integer) (sum (build 2 (lam (j : Integer)"
                " (if (eq i 0) 0.0 (add (g j 1.0 v) (g i 1.0 v)))))))))"
            ),
            "204.0",
        ),
        ("(add (h (constVec (tuple 2 3) 7) 1.0 v) (h (constVec (tuple 3 2) 7) 1.0 v))", "102.0"),
    ],
)
def test_a_fold_varies_where_it_varied(entered: list[Any], body: str, due: str) -> None:
    """One is a loop at other integers, in other lanes and at tensors of other shapes than those where it was none."""
    step = "(let ((k a) s) (tuple (if (eq n 0) (add k 1) k) (add a x)))"
    inner = f"(get$2$2 (fold (lam ((s : Tuple Integer Float) (x : Float)) {step}) (tuple 0 a) v))"
    text = f"(def g Float ((n : Integer) (a : Float) (v : Vec Float)) {inner})"
    of_shape = inner.replace("(eq n 0)", "(eq (get$1$2 (size w)) 2)")
    text += f"(def h Float ((w : Tensor 2 Integer) (a : Float) (v : Vec Float)) {of_shape})"
    text += f"(def f Float (v : Vec Float) {body})"
    assert load([Source("t.ks", text)]).expression("(f (constVec 50 1.0))") == due
    assert 50 < len(entered) < 60


@pytest.mark.parametrize("name", ["rev-opt", "rev-cse"])
@pytest.mark.parametrize(
    "made", [(IFS,), (ASSERTS,), (BUILDS, "(sum x)", "Vec Float")], ids=["conditions", "assertions", "builds"]
)
def test_a_chain_of_scopes_is_as_long_as_the_function(made: tuple[str, ...], name: str) -> None:
    """What comes to a variable in a scope leaves it: the map of the variable is not written out within."""
    few, many = (len(stage(chain(n, *made), name).split()) for n in (5, 10))
    assert many <= 2.1 * few


@pytest.mark.parametrize("name", ["rev-opt", "rev-cse"])
def test_a_chain_of_builds_is_run_build_by_build(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The sum over one is known when that over the next begins: of m elements, m² are computed at once, and not mⁿ."""
    depths: list[int] = []

    def lane(n: int, depth: int, outer: Any) -> Lane:
        depths.append(depth)
        return Lane(n, depth, outer)

    n = 5
    text = stage(chain(n, BUILDS, "(sum x)", "Vec Float"), name)
    monkeypatch.setattr(evaluate, "Lane", lane)
    assert load([Source("t.ks", text)]).expression("([rev f] (Vec_init 1.0 1.0 1.0) 1.0)") == str([2.0**n] * 3)
    assert max(depths) == 1


SCOPES = {
    "one branch": "(let (y (sin x)) (let (w (exp y)) (if (gt x 0.0) (mul y x) w)))",
    "one branch, of vectors": "(let (y (mul x v)) (let (w (exp v)) (if (gt x 0.0) (sum (mul x y)) (sum w))))",
    "a branch that reads x alone": "(let (y (sin x)) (if (gt x 0.0) (mul x x) y))",
    "a constant branch": "(let (y (sin x)) (if (gt x 0.0) 3.0 (mul y y)))",
    "two constant branches": "(let (y (sin x)) (mul y (if (gt x 0.0) 3.0 4.0)))",
    "a tuple": "(let ((a b) (if (gt x 0.0) (tuple x (sin x)) (tuple (exp x) 1.0))) (if (gt a 1.0) (mul a b) b))",
    "conditions in builds": "(let (w (exp v)) (let (y (sin x)) (sum (build (size w)"
    " (lam (i : Integer) (if (gt (index i v) y) (mul y (index i w)) (index i v)))))))",
    "builds in builds": "(let (w (exp v)) (let (y (sin x)) (sum (build 2 (lam (i : Integer)"
    " (let (z (mul y (to_float i))) (sum (build (size w) (lam (j : Integer) (mul z (index j w)))))))))))",
    "a build of nothing": "(let (w (exp v)) (let (y (sin x))"
    " (add y (sum (build 0 (lam (i : Integer) (mul y (index i w))))))))",
    "a condition in a fold": "(let (y (sin x)) (fold (lam ((a : Float) (b : Float))"
    " (let (c (mul a y)) (let (d (mul c b)) (if (gt b 0.0) (mul c d) (mul b y))))) y v))",
    "a state in one branch": "(fold (lam ((a : Float) (b : Float)) (if (gt b 0.0) (mul b b) (mul a x))) x v)",
    "a constant branch in a fold": "(fold (lam ((a : Float) (b : Float))"
    " (if (gt b 0.0) (sum (build 3 (lam (i : Integer) 2.0))) (mul x (mul a b)))) x v)",
    "an assertion": "(let (y (sin x)) (assert (gt y -2.0) (mul y (assert (gt x -9.0) (mul y x)))))",
}


@pytest.mark.parametrize("name", ["rev-opt", "rev-cse"])
@pytest.mark.parametrize("body", SCOPES.values(), ids=SCOPES)
def test_what_leaves_a_scope(body: str, name: str) -> None:
    """Cotangents of what is bound around branches, builds, folds and assertions, zero where a branch reads it not."""
    text = f"(def f Float ((x : Float) (v : Vec Float)) {body})"
    written, ours = function(stage(text, name)), function(text)
    for x in (0.75, -0.75):
        point = [x, [0.5, -0.25, 2.0]]
        found, due = (f.differential(point, None, reverse=True) for f in (written, ours))
        assert found[0] == pytest.approx(due[0])
        assert found[1] == pytest.approx(due[1])


@pytest.mark.parametrize("name", ["jacobian-opt", "fwd-opt", "fwd-cse", "transposed-opt", "rev-opt", "rev-cse"])
def test_values_that_nothing_reads_leave_a_stage(name: str) -> None:
    """So that a function without a body may be called where its derivative is written by hand."""
    text = (
        "(edef s Float (Float)) (def [fwd s] Float ((x : Float) (dx : Float)) (mul (cos x) dx))"
        "(def f Float (x : Float) (add (s x) (s (mul 2.0 x))))"
    )
    written = load([Source("t.ks", stage(text, name))])
    applied = {
        "jacobian-opt": "(lmApply ([D [f Float]] 0.5) 1.0)",
        "transposed-opt": "(lmApply ([R [f Float]] 0.5) 1.0)",
    }
    kind = name.partition("-")[0]
    found = float(written.expression(applied.get(name, f"([{kind} [f Float]] 0.5 1.0)")))
    assert found == pytest.approx(math.cos(0.5) + 2 * math.cos(1.0), rel=1e-14)


def of_scopes(name: str) -> str:
    return f"(def f Float ((x : Float) (v : Vec Float)) {SCOPES[name]})"


PRODUCTS = "(def f Float ((x : Float) (y : Float)) (let (z (mul x y)) (let (w (mul y z)) (mul (mul z w) w))))"
POWER = "(def f Float ((a : Float) (v : Vec Float)) (fold (lam ((s : Float) (x : Float)) (mul s (mul x a))) a v))"
CONDITION = (
    "(def f (Vec Float) (v : Vec Float) (build (size v)"
    " (lam (i : Integer) (let (x (index i v)) (if (gt x 0.0) (mul x x) (sin x))))))"
)
CALLS = {
    "a conditional chain": ("rev-opt", chain(5, IFS), {"if": 9, "mul": 18, "add": 5, "tuple": 0}),
    "a chain of builds": (
        "rev-opt",
        chain(5, BUILDS, "(sum x)", "Vec Float"),
        {"sumbuild": 5, "mul": 15, "ts_add": 5, "tuple": 0},
    ),
    "a constant branch": ("rev-opt", of_scopes("a constant branch"), {"mul": 3, "add": 1, "tuple": 1, "build": 1}),
    "builds in builds": ("rev-opt", of_scopes("builds in builds"), {"sumbuild": 2, "mul": 8, "exp": 1}),
    "a condition in a build": ("rev-opt", CONDITION, {"mul": 3, "index": 2}),
    "a fold": ("rev-opt", POWER, {"RFold": 1, "mul": 7}),
    "products": ("rev-opt", PRODUCTS, {"mul": 11, "add": 3}),
    "products, as in the notes": ("rev", PRODUCTS, {"mul": 3, "add": 6, "let": 17}),
    "products, forward": ("fwd", PRODUCTS, {"mul": 3, "let": 8}),
}


@pytest.mark.parametrize(("name", "text", "due"), CALLS.values(), ids=CALLS)
def test_calls_of_a_derivative(name: str, text: str, due: dict[str, int]) -> None:
    """Each cotangent is computed once and added up once, and what leaves a scope has no zeros that nobody reads."""
    shown = stage(text, name)
    found = Counter(re.findall(r"\((\w+)\s", shown[shown.index("(def [") :]))
    assert {called: found[called] for called in due} == due


def test_bodies_count_as_steps() -> None:
    """What takes time is limited: a build that is traced is more than a call."""
    one = "(sum (build 2 (lam (i : Integer) x)))"
    text = f"(def f Float (x : Float) {'(add ' * 20}x{f' {one})' * 20})"
    assert load([Source("t.ks", text)], steps=120).expression("(f 1.0)") == "41.0"
    with pytest.raises(TermError, match="no value after 60 steps"):
        load([Source("t.ks", text)], steps=60).expression("(f 1.0)")
