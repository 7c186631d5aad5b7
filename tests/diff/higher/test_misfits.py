"""What does not fit in data is named by its class, its field and the way to it, wherever it is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from adjoint import grad
from diff import Expr, data, folded, forest, fun, program, sequence, term, variant
from diff.datatypes.kinds import layout
from diff.higher import TermError
from hilbert import Fin, R, Scalar, SpaceError, Vector


class Word:
    """The tag of an axis."""


V = R ** Fin(Word, 3)
W = R ** Fin.of(2)


@variant
class Leaf:
    """A word."""

    word: Expr[Vector[Word]]


@variant
class Node:
    """Two trees."""

    left: Leaf | Node
    right: Leaf | Node


@variant
class Rose:
    """A number and trees."""

    number: Expr[Scalar]
    parts: tuple[Rose, ...]


TREE, ROSE = data(Leaf, Node, word=V), data(Rose, number=R)


@term(R, TREE)
def total(w: Expr[Scalar], tree: Leaf | Node) -> Expr[Scalar]:
    """The words, squared, and what joins them."""
    match tree:
        case Leaf(word):
            return w * (word @ word)
        case Node(left, right):
            return total(w, left) + total(w, right)


@term(R, ROSE, to=R)
def weight(w: Expr[Scalar], t: Rose) -> Expr[Scalar]:
    """The sum of the numbers, each times w."""
    return folded(lambda part, s: weight(w, part) + s, w * t.number, t.parts)


@term(sequence(R))
def added(items: tuple[Expr[Scalar], ...]) -> Expr[Scalar]:
    """Σ."""
    return folded(lambda x, s: x + s, R.vec(0.0), items)


def untyped(value: Any) -> Any:
    """The same, whatever its type."""
    return value


ONE, GOOD, BAD = R.vec(1.0), Leaf(V.ones()), Leaf(untyped(W.ones()))
AT = Node(GOOD, Node(Node(GOOD, BAD), GOOD))
DUE = "a vector of ℝ^2 where one of ℝ^Word3 is due"
ROSES = untyped(Rose)


def deep(depth: int, end: Any) -> Any:
    """A tree of many nodes that ends in this one."""
    for _ in range(depth):
        end = Node(GOOD, end)
    return end


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: grad(total)(ONE, AT), f"argument 2 of total: tree.right.left.right.word (Leaf.word): {DUE}"),
        (lambda: total.at(ONE, AT), f"tree.right.left.right.word (Leaf.word): {DUE}"),
        (lambda: program(total, at=(ONE, AT)), f"tree.right.left.right.word (Leaf.word): {DUE}"),
        (lambda: forest(total, [GOOD, AT]), f"forest(total, trees): trees[1].right.left.right.word (Leaf.word): {DUE}"),
        (
            lambda: grad(total)(ONE, deep(300, BAD)),
            "tree.right.right.right.right.right …(290 steps)… .right.right.right.right.right.word (Leaf.word): ",
        ),
        (lambda: forest(total, [deep(3000, BAD)]), "trees[0].right.right.right.right.right …(2990 steps)… .right"),
        (
            lambda: grad(total)(ONE, Node(GOOD, untyped(3.0))),
            "argument 2 of total: tree.right (Node.right): 3.0 where a value of data(Leaf, Node",
        ),
        (
            lambda: grad(weight)(ONE, ROSES(ONE, (ROSES(ONE, ()), ROSES(V.ones(), ())))),
            "argument 2 of weight: t.parts[1].number (Rose.number): a vector of ℝ^Word3 where one of ℝ is due",
        ),
        (
            lambda: grad(weight)(ONE, ROSES(ONE, [ROSES(ONE, ())])),
            "t.parts (Rose.parts): a list of 1 where a tuple of values of data(Rose",
        ),
        (
            lambda: forest(weight, [ROSES(ONE, (3,))]),
            "forest(weight, trees): trees[0].parts[0] (Rose.parts): 3 where a value of data(Rose",
        ),
        (lambda: forest(weight, [ROSES(ONE, None)]), "trees[0].parts (Rose.parts): None where a tuple of values of"),
        (lambda: forest(total, [GOOD, untyped(ONE)]), "forest(total, trees): trees[1]: a vector of ℝ where a value of"),
        (
            lambda: grad(added)(untyped((ONE, V.ones()))),
            "argument 1 of added: items[1]: a vector of ℝ^Word3 where one of",
        ),
        (
            lambda: grad(total)(untyped(GOOD), untyped(ONE)),
            "argument 1 of total, w (it would fit as argument 2): a value of type Leaf where a vector of ℝ is due",
        ),
        (lambda: total(untyped(GOOD), untyped(ONE)), "argument 1 of total, w (it would fit as argument 2): a value of"),
        (lambda: total(untyped(V.ones()), GOOD), "argument 1 of total, w: a vector of ℝ^Word3 where one of ℝ is due"),
    ],
)
def test_the_way_to_what_does_not_fit(made: Callable[[], Any], said: str) -> None:
    """The argument, the fields from it on, and the class that holds what does not fit."""
    with pytest.raises(TermError) as found:
        made()
    assert said in str(found.value)
    assert "it would fit" not in said or "V.vec" not in str(found.value)


def test_shared_data_are_looked_into_once() -> None:
    """A tree that holds itself twice at each of a hundred levels."""
    tree: Any = BAD
    for _ in range(100):
        tree = Node(tree, tree)
    with pytest.raises(TermError, match=r"trees\[1\]\.left\.left"):
        forest(total, [GOOD, tree])


def test_data_that_hold_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle is told with the way to it by a call, too, in a traced function, and beside expressions in the data."""
    monkeypatch.setattr(layout, "FEW", 1000)
    tree = deep(3, GOOD)
    object.__setattr__(tree.right.right, "right", tree.right)
    rose = untyped(Rose)(ONE, (ROSES(ONE, ()),))
    object.__setattr__(rose.parts[0], "parts", (rose.parts[0],))
    again = r"argument 2 of total: tree(\.right)+ \(Node\.right\): "
    made: list[tuple[Callable[[], Any], str]] = [
        (lambda: total(ONE, tree), again),
        (lambda: total.at(ONE, tree), again),
        (lambda: grad(total)(ONE, tree), again),
        (lambda: fun(R)(lambda w: total(w, tree)), again),
        (lambda: fun(V)(lambda v: total(untyped(ONE), Node(Leaf(v), tree))), again),
        (lambda: untyped(grad(term(R)(lambda w: total(w, tree))))(ONE), ""),
        (lambda: weight(ONE, rose), r"argument 2 of weight: t\.parts\[0\](\.parts\[0\])? \(Rose\.parts\): "),
    ]
    for make, said in made:
        with pytest.raises(SpaceError, match=f"{said}a cycle: some .* is a part of itself") as found:
            make()
        assert getattr(found.value, "code", "infinite") == "infinite"  # a traced function adds its line
    shared: Any = GOOD
    for _ in range(10):
        shared = Node(shared, shared)
    below = deep(2000, GOOD)  # than Python's stack
    assert float(untyped(grad(term(R)(lambda w: total(w, below))))(ONE).array) == 2001 * 3
    assert float(total(ONE, shared).array) == float(total.evaluated(ONE, shared).array) == 1024 * 3


def test_a_case_that_is_missing() -> None:
    """By its class, called, differentiated or on many trees; so is one of another space."""

    @term(R, TREE)
    def only(w: Expr[Scalar], tree: Any) -> Any:
        match tree:
            case Leaf(word):
                return w * (word @ word)
            case _:
                return None

    both = Node(GOOD, GOOD)
    said = r"only gives None for Node: write case Node\(…\), which returns its result"
    for made in (lambda: only(ONE, both), lambda: untyped(grad(only))(ONE, both), lambda: forest(only, [both])):
        with pytest.raises(TermError, match=said) as found:
            made()
        assert found.value.code == "branches"

    with pytest.raises(TermError, match="only is given a value of type float, which is no class of its data"):
        untyped(only)(ONE, 3.0)

    def mixed(w: Any, tree: Any) -> Any:
        match tree:
            case Leaf(word):
                return word
            case _:
                return w

    with pytest.raises(TermError, match=r"mixed gives a vector of ℝ for Node, and one of ℝ\^Word3 for Leaf"):
        program(term(R, TREE)(mixed), at=(ONE, both))
    with pytest.raises(TermError, match=r"mixed gives a vector of ℝ\^Word3 for Leaf, and to=R says ℝ: give one space"):
        program(term(R, TREE, to=R)(mixed), at=(ONE, both))
    with pytest.raises(TermError, match="nothing gives None: let it return its result"):
        term(R)(nothing)(ONE)


def nothing(w: Any) -> None:
    """No result."""


def started(start: Any) -> Callable[[Any], Any]:
    """A fold that starts from this."""
    return lambda items: folded(lambda x, s: x + s, start, items)


def test_a_fold_starts_from_a_vector() -> None:
    """And says how it is written, which works."""
    for start, said in ((0.0, r"write R.vec\(0.0\), not 0.0"), (None, "starts from vectors, .* not from None")):
        with pytest.raises(TermError, match=said):
            untyped(grad(term(sequence(R))(started(start))))((ONE, ONE))
    assert untyped(grad(added))((ONE, ONE))[1].space == R


def test_data_are_no_vectors() -> None:
    """A step on data goes over the vectors in them."""
    at = total.at(ONE, AT.left)
    leaf = untyped(GOOD)
    steps: list[Callable[[], Any]] = [lambda: 0.1 * leaf, lambda: leaf - leaf, lambda: -leaf, lambda: leaf / 2]
    for made in steps:
        with pytest.raises(SpaceError, match="of a value of Leaf is not defined: a step on data is one on the vectors"):
            made()
    moved = at.arguments(at.point.moved(-0.1 * grad(untyped(at).program)(at.point)))
    assert float(moved[0].array) == pytest.approx(0.7)
