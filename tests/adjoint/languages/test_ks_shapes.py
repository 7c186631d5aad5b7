"""Shapes of tensors that are built of values at their indices, the empty tuple as a type, and the notes' hash."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint.languages import Source
from adjoint.languages.ks import load
from diff.higher import TermError

PAIRS = "(lam (i : Integer) (index i (Vec_init (tuple 1 1.0) (tuple 3 3.0) (tuple 0 5.0) (tuple 1 1.5))))"
NOTES = {
    **dict(enumerate([0.48150045, 0.74477116, 0.28484532, 0.45437577, 0.04655061, 0.88648290])),
    1000: 0.14770605,
    -1: 0.54305929,
}


def value(expression: str, text: str = "") -> Any:
    found = load([Source("t.ks", text)]).expression(expression)
    assert isinstance(found, str)
    return json.loads(found.replace("(", "[").replace(")", "]"))


def test_shape_in_both_forms() -> None:
    """A shape made of (tuple), and the size that says as much."""
    for shape in ("(constVec 5 (tuple))", "(shape (constVec 5 1.0))", "(build 5 (lam (i : Integer) (tuple)))"):
        assert value(f"(buildFromSparse {shape} 4 {PAIRS})") == [5, 2.5, 0, 3, 0]
    assert value("(constVec (tuple 2 4) (tuple))") == [[[]] * 4] * 2


@given(st.data())
def test_sums_at_indices(data: st.DataObject) -> None:
    """buildFromSparse shape n f is Σᵢ vᵢ at jᵢ in zeros of the shape, in each form of the shape, nested as well."""
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    n = data.draw(st.integers(1, 4))
    at = data.draw(st.lists(st.integers(0, len(sizes) - 1), min_size=n, max_size=n))
    rows = [np.zeros(size) for size in sizes]
    for k, j in enumerate(at):
        rows[j] += k + 1.0
    where = f"(index i (Vec_init {' '.join(map(str, at))}))"
    full = f"(Vec_init {' '.join(f'(constVec {size} (tuple))' for size in sizes)})"
    short = f"(Vec_init {' '.join(map(str, sizes))})"
    length = f"(index {where} {short})"
    entry = f"(lam (i : Integer) (tuple {where} (constVec {length} (to_float (add i 1)))))"
    due = [row.tolist() for row in rows]
    assert value(f"(buildFromSparse {full} {n} {entry})") == due
    assert value(f"(buildFromSparse {short} {n} {entry})") == due
    flat = f"(lam (i : Integer) (tuple {where} (to_float (add i 1))))"
    sums = [sum(k + 1.0 for k, i in enumerate(at) if i == j) for j in range(len(sizes))]
    for shape in (f"(constVec {len(sizes)} (tuple))", str(len(sizes))):
        assert value(f"(buildFromSparse {shape} {n} {flat})") == sums


def test_derivatives_and_stages() -> None:
    """Forwards, backwards and by the notes' stages, at a shape of (tuple)."""
    text = """(def f (Tensor 2 Float) (v : Vec Float) (buildFromSparse (constVec (tuple 2 2) (tuple)) (size v)
        (lam (i : Integer) (tuple (tuple (div i 2) 1) (mul (index i v) (index i v))))))"""
    v, d = (
        "(Vec_init 1.0 2.0 3.0)",
        "(build (tuple 2 2) (lam ((i : Integer) (j : Integer)) (to_float (add i (mul 3 j)))))",
    )
    assert value(f"(f {v})", text) == [[0, 5], [0, 9]]
    assert value(f"([rev f] {v} {d})", text) == [6, 12, 24]
    assert value(f"([fwd f] {v} {v})", text) == [[0, 10], [0, 18]]
    made = load([Source("t.ks", text)]).functions["f"].stages()
    for stage in ("rev", "rev-cse"):
        assert value(f"([rev f] {v} {d})", made[stage](None, None)) == [6, 12, 24]
    text = """(def f (Vec (Vec Float)) (v : Vec Float) (buildFromSparse (Vec_init 1 3) 1
        (lam (i : Integer) (tuple 1 (mul 2.0 v)))))"""
    assert value(f"([rev f] {v} (f {v}))", text) == [4, 8, 12]


def test_what_does_not_fit() -> None:
    """A value of another shape than its cell, a type that is no shape, a negative size."""
    for shape, message in {
        "(Vec_init 2 3)": "tensors of 2 and 3 elements",
        "(constVec 2 1.0)": "buildFromSparse takes (Tuple S Integer",
        "(Vec_init 3 (sub 0 1))": "a size is not negative, and this one is -1",
        "(constVec 2 (constVec 2 (tuple)))": "tensors of 2 and 3 elements",
    }.items():
        with pytest.raises(TermError) as error:
            value(f"(buildFromSparse {shape} 1 (lam (i : Integer) (tuple 0 (constVec 3 1.0))))")
        assert message in str(error.value)


def test_the_type_of_the_empty_tuple() -> None:
    """`Tuple` is `(Tuple)`: as a parameter, a result, in brackets, and where a function is told by its type."""
    text = """(def f Float ((x : Float) (b : Tuple)) x)
        (def g Tuple (x : Float) (tuple)) (def h Float (b : Tuple) 2.0)
        (def k (Vec Tuple) (n : Integer) (constVec n (tuple)))
        (edef e Float Tuple) (def first Float (t : Tuple Float (Vec Tuple)) (get$1$2 t))"""
    assert value("(f 1.0 (tuple))", text) == 1
    assert value("(tuple ([h Tuple] (tuple)) (h))", text) == [2, 2]
    assert value("(tuple (g 1.0) (k 2) (first 3.0 (k 1)))", text) == [[], [[], []], 3]
    assert value("(tuple ([rev f] (tuple 1.0 (tuple)) 1.0) ([rev g] 1.0 (tuple)))", text) == [[1, []], 0]
    assert load([Source("t.ks", text)]).functions["f"].signature == "(Tuple Float (Tuple)) -> Float"


def _by_hand(k: int) -> float:
    v = (k * 3935559000370003845 + 2691343689449507681) % 2**64
    for factor, shifts in ((4768777513237032717, (-21, 37, -4)), (1, (20, -41, 5))):
        for by in shifts:
            v ^= v >> -by if by < 0 else (v << by) % 2**64
        v = v * factor % 2**64
    return v * 5.42101086242752217e-20


def test_hash_of_the_notes() -> None:
    """The values that the notes give, one by one and in a build."""
    found = value(f"(tuple {' '.join(f'($ranhashdoub {k})' for k in NOTES)})")
    np.testing.assert_allclose(found, list(NOTES.values()), atol=5e-9)
    listed = f"(Vec_init {' '.join(map(str, NOTES))})"
    assert value(f"(map (lam (k : Integer) ($ranhashdoub k)) {listed})") == found


@given(st.integers(-(2**63), 2**63 - 1))
def test_hash_of_any_integer(k: int) -> None:
    """Modulo 2⁶⁴, as Python's integers say."""
    found = value(f"($ranhashdoub {k})")
    assert found == _by_hand(k)
    assert 0 <= found <= 1
