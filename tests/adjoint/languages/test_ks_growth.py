"""What stands in each other n times takes no 2ⁿ steps: counted in functions that are entered, and in words of texts."""

from __future__ import annotations

from typing import Any

import pytest

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.evaluate import KsEvaluator

ONE = "(f 0.5 (Vec_init 0.5))"
BACK = "([rev f] (tuple 0.5 (Vec_init 0.5)) 1.0)"
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


def builds(n: int, size: str) -> str:
    body = f"(sum (build {size} (lam (j : Integer) y)))"
    for k in reversed(range(n)):
        body = f"(sum (build 1 (lam (i{k} : Integer) {body})))"
    return f"(def f Float ((y : Float) (v : Vec Float)) {body})"


def builds_of_the_first(n: int) -> str:
    """A size that depends on the index of the outermost build."""
    return builds(n, "(add i0 1)")


def builds_of_all(n: int) -> str:
    """A size that depends on the indices of all builds."""
    size = "1"
    for k in range(n):
        size = f"(add i{k} {size})"
    return builds(n, size)


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
        text = load([Source("t.ks", plain(n))]).functions["f"].stages()["split"](None, None)
        entered.clear()
        assert load([Source("t.ks", text)]).expression(PASSES) == "(1.5, [0.5])"
        return len(entered)

    few, many = steps(3), steps(6)
    assert many <= 5 * few


def test_a_fold_varies_where_it_varied(entered: list[Any]) -> None:
    """One is a loop at other integers than those at which it was none."""
    step = "(let ((k a) s) (tuple (if (eq n 0) (add k 1) k) (add a x)))"
    inner = f"(get$2$2 (fold (lam ((s : Tuple Integer Float) (x : Float)) {step}) (tuple 0 a) v))"
    text = f"(def g Float ((n : Integer) (a : Float) (v : Vec Float)) {inner})"
    text += "(def f Float (v : Vec Float) (add (g 0 1.0 v) (g 1 1.0 v)))"
    assert load([Source("t.ks", text)]).expression("(f (constVec 50 1.0))") == "102.0"
    assert 50 < len(entered) < 60
