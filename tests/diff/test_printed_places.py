"""Slices and arrays with zeros around print as entries, x[2·i] and [i≥1]·x[i−1]: the text says what is computed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint import vjp
from diff import exp, fun
from hilbert import Fin, R
from linmap.printing import notation

STEPS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([1, 1, 1, 2, 3, -1, -2]))
"""Entries left out in front and behind, and the step."""


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are not broken."""
    monkeypatch.setattr(notation, "WIDTH", 10**9)


def read(text: str, i: int, values: dict[str, Any]) -> float:
    """The entry number i of a text, by arithmetic on its signs."""
    code = text.split("] ↦ ", 1)[1]
    code = re.sub(r"(^|[·+− (])\[([^\]]*[<≥≤][^\]]*)\]", r"\1(\2)", code)  # conditions
    code = re.sub(r"(\w+)\[([^\]]*)\]", r"at(\1, \2)", code)
    for sign, python in {"·": "*", "−": "-", "≤": "<=", "≥": ">="}.items():
        code = code.replace(sign, python)

    def at(v: Any, k: int) -> float:
        return float(v[k]) if 0 <= k < len(v) else 0.0

    return float(eval(code, {"at": at, "i": i, **values}))  # noqa: S307


def sliced(x: Any, cuts: list[tuple[int, int, int]], size: int) -> Any:
    """Some slices after each other, none of them empty."""
    for front, behind, step in cuts:
        if size - front - behind < 2:
            continue
        x = x[front : size - behind][::step]
        size = -(-(size - front - behind) // abs(step))
    return x


@settings(max_examples=60)
@given(st.lists(STEPS, min_size=1, max_size=3), st.lists(STEPS, max_size=2))
def test_slices(cuts: list[tuple[int, int, int]], inner: list[tuple[int, int, int]]) -> None:
    """Slices of slices: one place, linear in the index, and the right one."""
    v = np.random.default_rng(len(cuts)).random(12)
    f = fun(R ** Fin.of(12))(lambda x: sliced(2.0 * sliced(x, cuts, 12), inner, len(sliced(v, cuts, 12))))
    text = str(f)
    assert "red[" not in text
    if "[i" in text:
        due = f((R ** Fin.of(12)).vec(v)).array
        assert [read(text, i, {"x": v}) for i in range(len(due))] == pytest.approx(due)


@settings(max_examples=40)
@given(st.lists(STEPS.filter(lambda cut: abs(cut[2]) == 1), min_size=1, max_size=3))
def test_zeros_around(cuts: list[tuple[int, int, int]]) -> None:
    """The adjoint of slices, plus the array itself."""
    f = vjp(fun(R ** Fin.of(12))(lambda x: sliced(x, cuts, 12)))
    text = str(f)
    n = f.dom.parts[1].leaves[0].size
    dy = np.random.default_rng(n).random(n)
    due = f((R ** Fin.of(12)).zeros(), f.dom.parts[1].vec(dy)).array
    assert "red[" not in text
    if "where" not in text and "[i" in text:
        assert [read(text, i, {"dy": dy}) for i in range(12)] == pytest.approx(due)


def test_differences() -> None:
    """The forms that models have."""
    V, M = R ** Fin.of(6), R ** (Fin.of(6) * Fin.of(4))
    assert str(fun(V)(lambda x: exp(x[1:] - x[:-1]))) == "x ↦ [i∈5] ↦ exp(x[i+1]−x[i])"
    assert str(fun(V)(lambda x: x[1::2])) == "x ↦ [i∈3] ↦ x[2·i+1]"
    assert str(fun(V)(lambda x: x[::2])) == "x ↦ [i∈3] ↦ x[2·i]"
    assert str(fun(V)(lambda x: x[::-1])) == "x ↦ [i] ↦ x[5−i]"
    assert str(fun(M)(lambda m: m[1:, :-1] * m[:-1, 1:])) == "m ↦ [i∈5, j∈3] ↦ m[i+1, j]·m[i, j+1]"
    assert str(vjp(fun(V)(lambda x: x[1:4]))) == "(x, dy) ↦ [i∈6] ↦ [1≤i<4]·dy[i−1]"
    assert str(fun(V)(lambda x: x.concatenate(2.0 * x))) == "x ↦ [i∈6+6] ↦ [i<6]·x[i] + [i≥6]·2·x[i−6]"
    assert str(fun(M)(lambda m: m[0, :] * m[-1, :])) == "m ↦ [i] ↦ m[0, i]·m[5, i]"
