"""What an evaluation does how often: primitives, functions that are entered, folds that are tried as loops."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from diff.higher import Module, TermError, call, evaluate, program
from diff.lam.term.lam_values import Stack, Tagged, applied, opened
from hilbert import Copower, Fin, R, Vec
from hilbert.errors import shown

DEFINITIONS = r"""
data Maybe a = Nothing | Just a
data Rose a = Node (a * list (Rose a))
data E = A real | B real
def down (n : real) : real = if less(n, 1) then n else down (n - 1)
def powered (v : R^2) (n : real) : real = if less(n, 1) then v @ v else powered v (n - 1)
"""


def module() -> Module:
    made = Module()
    assert not list(made.read(DEFINITIONS))
    return made


def term_of(text: str) -> Any:
    return module().term(text)[0]


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (r"(\u. u) (sin 1)", 1),
        (r"(\u v. v) 2 (sin 1)", 1),
        ("down (sin 1)", 1),
        ("<sin 1, 2>", 1),
        ("pi_1 <sin 1, 2>", 1),
        ("if less(sin 1, 2) then 1 else 2", 1),
        ("Just (sin 1)", 1),
        ("[sin 1, sin 2]", 2),
        ("1 :: sin 1 :: []", 1),
        ("case Just (sin 1) of {Nothing -> 0 | Just x -> x}", 1),
        ("let x = sin 1 in x + x", 1),
        ("fold (e, a). sin e over [1, 2, 3] from 0", 3),
        ("fold (e, a). a over [1, 2, 3] from sin 0", 1),
        ("fold Node <sin 1, []> of {Node <x, l> -> x}", 1),
    ],
)
def test_what_is_at_hand_is_computed_once(monkeypatch: pytest.MonkeyPatch, text: str, due: int) -> None:
    """Wherever it stands, a primitive is applied once for each time that its place is reached."""
    counted: Counter[str] = Counter()

    def counting(op: Any, value: Any) -> Any:
        counted[str(op)] += 1
        return applied(op, value)

    monkeypatch.setattr(import_module("diff.lam.run.evaluate"), "applied", counting)
    evaluate(term_of(text))
    assert counted["sin"] == due


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("1", 0),
        (r"(\x. x) 1", 1),
        (r"(\x y. x) 1 2", 2),
        (r"let f = \x. x in f (f 1)", 2),
        (r"let f = (\y. \x. x + y) 1 in f (f 1)", 3),
        ("down 0.5", 1),
        ("down 2.5", 5),
        (r"fold (e, a). (\x. x + e) a over [1, 2, 3] from 0", 3),
    ],
)
def test_how_many_functions_are_entered(text: str, due: int) -> None:
    """So many steps are enough, and one less is not; a recursive function is entered by its unrolling, too."""
    term = term_of(text)
    evaluate(term, steps=due)
    if due:
        with pytest.raises(TermError, match=f"no value after {due - 1} steps") as caught:
            evaluate(term, steps=due - 1)
        assert caught.value.code == "limit"


FIRST = "case a of {A y -> A (y + e) | B y -> A (y*e)}"
OTHER = "case c of {Nothing -> [e] | Just x -> case a of {Nil -> [] | Cons <y, r> -> y + e :: r}}"


@pytest.mark.parametrize(
    ("text", "varying"),
    [
        (rf"\l. let f = \s. fold (e, a). {FIRST} over l from s in <f (B 1), f (A 1), f (B 2)>", 1),
        (rf"\l. let f = \c. fold (e, a). {OTHER} over l from [0, 0] in <f Nothing, f (Just 0), f Nothing>", 1),
        (rf"\l. let f = \c. fold (e, a). {OTHER} over l from [0, 0] in <f (Just 0), f (Just 1)>", 0),
    ],
)
def test_what_varied_is_told_from_what_does_not(monkeypatch: pytest.MonkeyPatch, text: str, varying: int) -> None:
    """A fold that was no loop is one where it starts from another shape, or where other tags are captured."""
    folding: Any = import_module("diff.lam.run.folding")
    loop, tried, made = folding.loop, [], []

    def counting(*args: Any, **named: Any) -> Any:
        tried.append(args)
        found = loop(*args, **named)
        made.append(found)
        return found

    monkeypatch.setattr(folding, "loop", counting)
    term, numbers = term_of(text), evaluate(term_of("[1, 2, 3]"))
    p = program(term, numbers)
    assert (len(tried) - len(made), len(made)) == (varying, 2 - varying)
    found = p(p.dom.unflat(np.array([1.0, 2.0, 3.0])))
    due = _floats(call(evaluate(term), numbers))
    assert [float(v.array) for v in found.split()] == due


def _floats(value: Any) -> list[float]:
    match value:
        case Vec():
            return [float(value.array)]
        case tuple():
            return [x for part in value for x in _floats(part)]
        case Tagged(_, payload):
            return _floats(payload)
        case _:  # nothing else is in these values
            raise TypeError(value)


OF_LISTS = r"\<x, (l : list real), (m : list real)>. "
CHOSEN = [  # a function of a number and two lists, and its values at -1 and at 1
    (
        r"fold (e, a). e + a over (if less <x, 0> then l else m) from 0",
        3.0,
        7.0,
    ),
    (
        r"fold (e, a). e + a over (if less <x, 0> then 5 :: l else 6 :: m) from 0",
        8.0,
        13.0,
    ),
    (
        r"(\<(n : int), y>. y) (if less <x, 0> then <2, x> else <2, 2*x>)",
        -1.0,
        2.0,
    ),
    (
        r"case (if less <x, 0> then Just x else Just 4) of {Nothing -> 9 | Just y -> y}",
        -1.0,
        4.0,
    ),
]


@pytest.mark.parametrize(("text", "below", "above"), CHOSEN)
def test_what_a_condition_on_data_chooses(text: str, below: float, above: float) -> None:
    """Lists of one length, integers that are equal, and constructors that are the same."""
    data = tuple(evaluate(term_of(f"<{x}, [1, 2], [3, 4]>")) for x in ("-1*1", "1"))
    term = term_of(OF_LISTS + text)
    p = program(term, data[0])
    for given, due in zip(data, (below, above), strict=True):
        numbers = np.array([*_floats(given[0]), 1.0, 2.0, 3.0, 4.0])
        assert float(p(p.dom.unflat(numbers)).array) == due == float(call(evaluate(term), given).array)


@pytest.mark.parametrize(
    "text",
    [
        r"fold (e, a). e + a over (if less <x, 0> then l else m) from 0",
        r"(\<(n : int), y>. y) (if less <x, 0> then <2, x> else <3, x>)",
        r"case (if less <x, 0> then Just x else Nothing) of {Nothing -> 9 | Just y -> y}",
    ],
)
def test_what_no_condition_on_data_chooses(text: str) -> None:
    """Lists of two lengths, two integers, two constructors."""
    with pytest.raises(TermError, match="a condition on data decides a tag, a length or an integer") as caught:
        program(term_of(OF_LISTS + text), evaluate(term_of("<1, [1, 2], [3, 4, 5]>")))
    assert caught.value.code == "tag"


@pytest.mark.parametrize(
    "text",
    [
        "powered",
        r"(\(v : R^2). v @ v) + (\(v : R^2). v @ v)",
        r"(\(v : R^2). v @ v) + (\(v : R^2). v @ v) + (\(v : R^2). v @ v)",
        r"powered + powered",
    ],
)
def test_functions_know_what_they_take(text: str) -> None:
    """A recursive function, and a sum of functions: an argument of another space is refused by name."""
    f = evaluate(term_of(text))
    with pytest.raises(TermError, match=r"argument 1 of call\(f, …\): a vector of ℝ where a vector of ℝ\^2 is due"):
        call(f, R.vec(1.0))


def test_how_values_are_spoken_of() -> None:
    """In messages: functions and constructors without what is in them."""
    assert shown(evaluate(term_of(r"\x. x"))) == "a function of terms"
    assert shown(evaluate(term_of("down"))) == "a function of terms"
    assert shown(evaluate(term_of("Just 1"))) == "a value Just …"


def test_a_rest_that_is_a_stack() -> None:
    """A list whose first elements are in cells and whose rest is a stack is opened as one."""
    numbers = Stack(2, Vec(Copower(R, Fin.of(2)), (np.array([1.0, 2.0]),)))
    value = Tagged("Cons", (R.vec(5.0), Tagged("Cons", (R.vec(4.0), numbers))))
    found = opened((value, numbers))
    assert str(found) == str((evaluate(term_of("[5, 4, 1, 2]")), evaluate(term_of("[1, 2]"))))


@pytest.mark.parametrize("empty", ["Nil u -> (\\w. 1) u", "Nil _ -> 1"])
def test_a_fold_by_branches_binds_what_the_end_holds(empty: str) -> None:
    """Of a list at hand, and of vectors in a loop."""
    term, numbers = term_of(rf"\l. fold l of {{{empty} | Cons <e, a> -> e + a}}"), evaluate(term_of("[1, 2, 3]"))
    assert _floats(call(evaluate(term), numbers)) == [7.0]
    p = program(term, numbers)
    assert float(p(p.dom.unflat(np.array([1.0, 2.0, 4.0])))) == 8.0


def test_a_fold_over_what_functions_make() -> None:
    """Of a part that is a function, what the fold makes of its results."""
    made = module()
    assert not list(made.read("data Stages = End real | More (real -> Stages)"))
    text = r"fold More (\x. More (\y. End (x * y))) of {End x -> 2*x | More f -> f 3 + 1}"
    assert float(evaluate(made.term(text)[0])) == 20.0
