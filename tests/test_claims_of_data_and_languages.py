"""Claims of the pages on data, KS-Lisp and caddie, each with a test that fails without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjoint import grad
from adjoint.command.main import main
from adjoint.languages import load
from diff import Expr, data, folded, forest, program, sequence, tanh, term, variant
from diff.higher import TermError
from hilbert import Fin, R, Scalar, SpaceError

# --- docs/data.md ---


@variant
class Leaf:
    """A leaf."""

    value: Expr[Scalar]


@variant
class Node:
    """A node."""

    left: Leaf | Node
    right: Leaf | Node


TREES = data(Leaf, Node, value=R)


@term(R, TREES)
def total_of(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
    match t:
        case Leaf(value):
            return tanh(w) * value
        case Node(left, right):
            return tanh(w) * total_of(w, left) + total_of(w, right)


def leaf(x: float) -> Leaf:
    return Leaf(R.vec(x))


def slots_of(trees: list[Leaf | Node]) -> list[int]:
    return [slot.size for slot in program(forest(total_of, trees)).slots]


def test_arguments_of_gradients_count_from_0() -> None:
    """grad(f, -1) of a function on data is no argument."""
    with pytest.raises(TermError, match="has the arguments 0 to 1"):
        grad(total_of, -1)


def test_a_value_with_more_in_its_file(tmp_path: Path) -> None:
    """Classes beyond those of one value are refused."""
    TREES.save(leaf(1.0), tmp_path / "t.npz")
    arrays = dict(np.load(tmp_path / "t.npz"))
    np.savez(tmp_path / "t.npz", **{**arrays, "key": np.append(arrays["key"], arrays["key"])})
    with pytest.raises(TermError, match="there is more in it"):
        TREES.load(tmp_path / "t.npz")


@pytest.mark.parametrize("shared", [False, True])
def test_a_forest_keeps_what_is_still_needed(*, shared: bool) -> None:
    """Of a tree that is all depth at one side a level has a leaf and one result, and a node that all levels read."""

    def numbers(depth: int) -> int:
        below = Node(leaf(0.5), leaf(1.5))
        comb: Leaf | Node = below
        for k in range(depth):
            comb = Node(comb, below if shared else leaf(float(k)))
        return sum(slots_of([comb]))

    assert numbers(60) - numbers(40) <= 1.01 * (numbers(40) - numbers(20))


def test_a_forest_computes_what_all_trees_share_once() -> None:
    """tanh(w) is one number for all lanes, and leaves in order are not gathered."""
    assert slots_of([leaf(3.0), leaf(4.0)]) == [1, 2, 1, 2]


def test_a_node_that_stands_twice_in_a_forest_is_computed_once() -> None:
    """Four times one tree of two leaves: two leaves, not eight, and one node, whose four uses are gathered."""
    t = Node(leaf(1.0), leaf(2.0))
    found = slots_of([Node(t, t), Node(t, t)])
    assert found[:2] == [1, 2]
    assert max(found) == 5  # what the levels read: two leaves, one node, two trees


@pytest.mark.parametrize("depth", range(1, 12))
def test_a_leaf_that_stands_twice_in_a_forest_is_computed_once(depth: int) -> None:
    """At any two levels below a comb: it is one entry of what the leaves hold."""
    x = leaf(1.0)
    comb: Leaf | Node = Node(x, Node(x, x))
    for k in range(depth):
        comb = Node(leaf(float(k)), comb)
    assert slots_of([comb])[1] == depth + 1


def test_a_sequence_is_one_argument() -> None:
    """program(f, at=…) of a function of one argument takes a tuple as that argument."""
    plus = term(sequence(R))(lambda xs: folded(lambda x, a: x + a, R.vec(0.0), xs))
    assert program(plus, at=(R.vec(1.0), R.vec(2.0))).dom == R ** Fin.of(2)


# --- docs/ks.md, docs/caddie.md ---


def loaded(folder: Path, text: str, ending: str) -> Any:
    (folder / f"text.{ending}").write_text(text)
    return load(folder / f"text.{ending}")


def test_integers_of_a_build(tmp_path: Path) -> None:
    """They divide towards zero, have 64 bits in each entry and in sums; a size is not negative."""
    ks = loaded(tmp_path, "(def f Float (x : Float) x)", "ks")
    assert ks.expression("(build 5 (lam (i : Integer) (div (sub i 2) 2)))") == "[-1, 0, 0, 0, 1]"
    assert ks.expression("(eq (build 2 (lam (i : Integer) i)) (build 3 (lam (i : Integer) i)))") == "false"
    large = "(build 3 (lam (i : Integer) ({} 4611686018427387904 i)))"
    for text in (large.format("mul"), f"(sum {large.format('add')})"):
        with pytest.raises(SpaceError, match="does not fit into 64 bits"):
            ks.expression(text)
    with pytest.raises(SpaceError, match="a size is not negative"):
        ks.expression("(build -1 (lam (i : Integer) 1.0))")


def test_checks_of_constant_functions(tmp_path: Path) -> None:
    """`$check` of 0 against 0 is 0, and no NaN."""
    ks = loaded(tmp_path, "(def f Float (x : Float) 0.0)", "ks")
    zero = "(lam (x : Float) 0.0) (lam (t : (Tuple Float Float)) 0.0)"
    assert ks.expression(f"($check {zero} 1.0 1.0 1.0)") == "0.0"


def test_a_reverse_mode_by_hand_that_is_wrong_in_the_last_digits(tmp_path: Path) -> None:
    """`verify` compares [rev f] with [fwd f] to rounding, where differences would not see it."""
    text = "(def [rev f] Float ((x : Float) (dr : Float)) (mul (mul 2.00000002 x) dr))"
    f = loaded(tmp_path, f"(def f Float (x : Float) (mul x x))\n{text}\n", "ks").f
    assert "is not the transpose of" in str(f.verified([1.5]))


def test_functions_of_a_caddie_text(tmp_path: Path) -> None:
    """`repl` repeats indices; tuples may be nested 200 deep."""
    text = "fun g v = red (to 0 (repl 3 1) [0]) v\nfun h x = "
    cad = loaded(tmp_path, text + "(" * 190 + "x" + ", x)" * 190, "cad")
    assert cad.g([1.0, 2.0]).array.tolist() == [1.0, 1.0, 1.0]
    assert cad.h(1.0).space.dim == 191


def test_what_is_traced_under_a_condition_on_reals(tmp_path: Path) -> None:
    """In a program it is an error; at a point it is written."""
    f = loaded(tmp_path, "(def f Float (x : Float) (if (gt x 0.0) ($trace x) x))", "ks").f
    with pytest.raises(SpaceError, match="at a point only"):
        f.of()


# --- docs/command.md ---


def test_columns_of_errors_are_counted_in_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not in bytes: letters with accents stand before the expression."""
    file = tmp_path / "accents.py"
    spaces = "X, Y = hb.R ** hb.Fin.of(2), hb.R ** hb.Fin.of(3)"
    file.write_text(f"import hilbert.all as hb\n{spaces}\nz = 'ääää' and X.ones() + Y.ones()\n", "utf-8")
    assert main(["check", str(file)]) == 1
    assert ":3:16: cannot form v + w" in capsys.readouterr().err
