"""A fold over data is tried as a loop; what stands in it, or starts it, is not evaluated again by each try around."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from diff.higher import Module, call, evaluate, program
from diff.lam.run.folding import Folds
from diff.lam.term.lam_values import signature
from hilbert import R

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm


def starts(n: int) -> str:
    """Lists that grow, each fold from what the one in its start makes."""
    body = "[]"
    for _ in range(n):
        body = f"(fold (e, a). e :: a over l from {body})"
    return rf"\l. fold (e, a). e + a over {body} from 0"


def tags(n: int) -> str:
    """Folds in each other whose tag changes in each round."""
    body = "case s of {A y -> B (y + e) | B y -> A (2*y + e)}"
    for _ in range(n):
        body = f"fold (e, s). {body} over l from s"
    return rf"\l. (\s. case {body} of {{A y -> y | B y -> 10*y}}) (A 0)"


def folds(monkeypatch: pytest.MonkeyPatch, text: str, length: int) -> int:
    """How many folds are evaluated for the program of a function of a list, which has its value."""
    module = Module()
    list(module.read("data E = A real | B real"))
    term, _ = module.term(text)
    given = evaluate(module.term(str([1] * length))[0])
    value = call(evaluate(term), given)
    found: list[AnyTerm] = []
    fold = Folds.fold

    def counted(self: Folds, one: Any, *args: Any) -> Any:
        found.append(one)
        return fold(self, one, *args)

    with monkeypatch.context() as patched:
        patched.setattr(Folds, "fold", counted)
        p = program(term, given)
    assert float(p(p.dom.unflat([1.0] * length))) == float(value)
    return len(found)


def test_signatures() -> None:
    """Vectors of one space have one; functions that of their terms and of the values in them; others are one each."""
    module = Module()
    f, _ = module.term(r"(\k x. k x) (\y. y + 1)")
    other, _ = module.term(r"(\k x. k x) (\y. y + 2)")
    one, two = object(), object()
    assert signature((R.vec(1.0), 2, one)) == signature((R.vec(3.0), 2, one))
    assert signature((R.vec(1.0), 2, one)) != signature((R.vec(1.0), 3, one))
    assert signature(one) != signature(two)
    assert signature(evaluate(f)) == signature(evaluate(f)) != signature(evaluate(other))


@pytest.mark.parametrize("n", [1, 4, 12])
def test_a_fold_that_starts_another_is_evaluated_once(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    assert folds(monkeypatch, starts(n), 2) == n + 1


def test_a_fold_in_another_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three rounds at each of n depths, 3ⁿ; that of a shape that varied is not tried again."""
    for n in range(1, 6):
        due = sum(3**k for k in range(n))
        assert due <= folds(monkeypatch, tags(n), 3) <= due + 3 ** (n - 1) + n**2, n
