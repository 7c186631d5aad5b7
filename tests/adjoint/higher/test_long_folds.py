"""What is done at each element of a long list is one map: the same results, with one call where there were several."""

import gc
from collections import Counter
from typing import Any

import pytest

import adjoint.higher.machine.forward_values
import diff.lam.run.folding
from adjoint.higher import reduce
from adjoint.higher.machine import forward_values as moving_values
from adjoint.higher.machine.composed_primitives import composed
from diff.higher import TermError
from diff.lam.term.terms import Fold, below
from hilbert import SpaceError
from hilbert.base.term import postorder
from tests.adjoint.higher.test_pullback_cases import term_of

moving: Any = moving_values
LIST = "[1.5, 0.25, -2, 0.5, 3]"
FOLDS = {
    "one state": (rf"pull(\l. fold (e, a). e*e + a over l from 0, cov(1)) {LIST}", 1),
    "a product": (rf"pull(\l. fold (e, a). sin e * a + e over l from 2, cov(1)) {LIST}", 1),
    "two states": (rf"pull(\l. (\<p, _>. p) (fold (e, <a, b>). <e * b, a + e> over l from <1, 2>), cov(1)) {LIST}", 1),
    "pairs": (r"pull(\l. fold (<x, y>, a). x * a + y over l from 0, cov(1)) [<1, 2>, <3, 4>, <5, 6>, <-1, 0.5>]", 1),
    "what is captured moves": (rf"pull(\x. fold (e, a). e * a * x + x over {LIST} from 1, cov(1)) 0.5", 1),
    "a direction": (rf"diff(\l. fold (e, a). e*e*a + a over l from 1, {LIST}, [1, 1, 1, 1, 1])", 1),
    "twice": (rf"diff(\x. diff(\y. fold (e, a). e * a * y + x * a over {LIST} from 1, x, 1), 0.5, 1)", 1),
    "a conditional": (
        rf"pull(\l. fold (e, a). (if less(0, e) then e * a else a + e) + a over l from 1, cov(1)) {LIST}",
        0,
    ),
    "a free element between others": (
        r"pull(\x. fold (e, a). sin (e*a*x) + e over [1, 2, u, 3] from 0.1, cov(1)) 0.8",
        0,
    ),
    "a free element": (r"pull(\l. fold (e, a). e*e + a over l from 0, cov(1)) [1.5, u, 2]", 0),
    "a free start": (rf"pull(\l. fold (e, a). e*e*a + a over l from u, cov(1)) {LIST}", 0),
    "a free variable": (rf"pull(\l. fold (e, a). e*u + a over l from 0, cov(1)) {LIST}", 0),
}


@pytest.mark.parametrize("what", FOLDS)
def test_the_same_results(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, maps = FOLDS[what]
    term = term_of(text, "var u : real")
    due = str(reduce(term))
    monkeypatch.setattr(diff.lam.run.folding, "MANY", 1)
    found: list[Any] = []

    def counting(body: Any) -> Any:
        made = composed(body)
        found.append(made)
        return made

    monkeypatch.setattr(adjoint.higher.machine.forward_values, "composed", counting)
    made = str(reduce(term))
    assert made == due
    assert str(term_of(made, "var u : real")) == due  # it reads back: each primitive has a name
    assert len({id(made) for made in found if made is not None}) == maps


def calls(n: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many maps are applied to a list of so many elements."""
    counted: Counter[str] = Counter()
    on_leaves = moving.on_leaves

    def counting(op: Any, leaves: Any) -> Any:
        counted["all"] += 1
        return on_leaves(op, leaves)

    monkeypatch.setattr(moving, "on_leaves", counting)
    reduce(term_of(rf"pull(\l. fold (e, a). e*e + a over l from 0, cov(1)) [{', '.join(['1.5'] * n)}]"))
    monkeypatch.setattr(moving, "on_leaves", on_leaves)
    return counted["all"]


def test_one_call_forward_and_one_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 256 elements on; e*e + a alone is two forward, and three back."""
    assert calls(diff.lam.run.folding.MANY, monkeypatch) == 2 * diff.lam.run.folding.MANY
    assert calls(100, monkeypatch) == 5 * 100


def test_an_error_is_told_at_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The map of all has no place in the text."""
    on_leaves = moving.on_leaves

    def failing(op: Any, leaves: Any) -> Any:
        if str(op) == "sin" or op is composed(body)[0]:  # type: ignore[index]
            raise SpaceError("it does not go")
        return on_leaves(op, leaves)

    text = r"pull(\l. fold (e, a). e + a * sin e over l from 1, cov(1)) [1, 2]"
    term = term_of(text)
    (body,) = [node.branches[1].body for node in postorder(term, below) if isinstance(node, Fold)]
    monkeypatch.setattr(diff.lam.run.folding, "MANY", 1)
    monkeypatch.setattr(moving, "on_leaves", failing)
    with pytest.raises(TermError, match="it does not go") as told:
        reduce(term)
    assert told.value.place is not None
    assert told.value.place.column == text.index("sin") + 1


def test_nothing_is_left_in_cycles() -> None:
    """What a reduction has written is let go of at once, and not by a search for garbage that visits all of it."""
    term = term_of(rf"pull(\l. fold (e, a). e*e + a over l from 0, cov(1)) [{', '.join(['1.5'] * 300)}]")
    reduce(term)
    gc.collect()
    gc.disable()
    try:
        made = reduce(term)
        assert gc.collect() < 300
        assert made is not None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (r"\<e, a>. e * a + e", True),
        (r"\<e, a>. <e * a, a + e>", True),
        (r"\<e, a>. e + a", False),
        (r"\<e, a>. <e * a + e, ()>", False),
        (r"\<e, a>. <e * a + e, \x. x>", False),
        (r"\<e, a>. f (e * a + e)", False),
        (r"\<e, (k : real -> real)>. <e * e + e, k>", False),
    ],
)
def test_what_is_one_map(text: str, is_one: bool) -> None:  # noqa: FBT001
    """Two primitives or more, of vectors, and nothing else."""
    term = term_of(text, "var f : real -> real")
    assert (composed(term.body) is not None) == is_one
