"""First calls do no more than they must: short code for what is done rarely, no module that is not needed."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import hilbert.all as hb
from diff.terms.lower import planned
from hilbert.compiled.machine import compiled_line
from hilbert.compiled.machine.llvm_code import LINES, UNROLLED, VECTORS, host
from hilbert.compiled.tree.places import Place, Variable, combined

NEAR = hb.Fin.of(10)


@pytest.mark.parametrize(("count", "is_short"), [(1000, True), (100_001, False)])
def test_nests_of_little_work_are_loops(count: int, is_short: bool) -> None:  # noqa: FBT001 - of the table
    """A matrix of 100 entries is written out where each point needs it; where it is made only for very many points."""
    V, FAR = hb.R ** (NEAR * NEAR), hb.Fin.of(count)
    points = (hb.R ** (FAR * NEAR)).vec(np.random.default_rng(0).standard_normal((count, 10)))

    def spread(a: Any) -> Any:
        return hb.square(hb.contract("pi,ij->pj", points, hb.tanh(a) * hb.exp(a) - hb.square(a))).sum()

    f = hb.value_and_grad(hb.fun(V)(spread))
    x = V.vec(np.random.default_rng(1).standard_normal((10, 10)) / 4)
    made = hb.compiled(f)
    assert (made.report.statements < 400) == is_short
    for a, b in zip(made(x).leaves, f(x).leaves, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11 * float(np.max(np.abs(b))))


def test_vectors_of_sines_are_made_where_loops_need_them() -> None:
    """The function of vectors of sines is defined in a program with a loop over them, not in one of single numbers."""
    alone = hb.compiled(hb.fun(hb.R)(hb.sin))
    many = hb.compiled(hb.fun(hb.R ** hb.Fin.of(64))(lambda x: hb.sin(x) * x))
    assert "_some(" not in alone.llvm
    assert ("_some(" in many.llvm) == (host().vector_bits > 0)


def test_matrix_products_do_not_load_scipys_linear_algebra() -> None:
    """The functions of BLAS are there without scipy.linalg, which is whole when it is imported later."""
    text = """
import sys
from hilbert.compiled.machine.llvm_code import _blas, blas
before = blas()[:]
assert "scipy.linalg" not in sys.modules
import scipy.linalg
assert scipy.linalg.cython_blas.__pyx_capi__
assert scipy.linalg.det([[2.0]]) == 2.0
_blas.cache_clear()
assert blas()[:] == before
"""
    pytest.importorskip("scipy")
    subprocess.run([sys.executable, "-c", text], check=True)  # noqa: S603 - our own text


def test_places_are_put_together() -> None:
    """offset + Σ k·part is what sums of products are; parts that cancel are gone."""
    i, j = Variable("i", 3), Variable("j", 4)
    assert combined([(i, 2), (Place.of(j) + 1, 3), (5, 1), (i, -2)], 7) == Place(15, ((j, 3),))
    assert combined([(Place.of(i) * 2 + 1, 1), (j, 0)]) == Place.of(i) * 2 + 1


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The levels of optimisation of what is compiled."""
    found: list[int] = []
    module: Any = compiled_line
    real = module.Code

    def recorded(text: str, names: Any, target: Any, level: int) -> Any:
        found.append(level)
        return real(text, names, target, level)

    monkeypatch.setattr(compiled_line, "Code", recorded)
    return found


def test_short_programs_without_loops_are_not_optimised(levels: list[int]) -> None:
    """Passes take longer than many calls; a loop, or a long program, is worth them."""

    def chain(space: Any, steps: int) -> Any:
        return planned(hb.fun(space)(lambda x: functools.reduce(lambda y, _: hb.sin(y), range(steps), x))).line

    for space, steps in ((hb.R, 1), (hb.R ** hb.Fin.of(100), 1), (hb.R, 200)):
        compiled_line.CompiledLine(chain(space, steps))
    assert levels == [0, LINES, LINES]


def test_loops_around_many_calls_are_not_written_out(levels: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 200 layers took 23 s to be written out, and takes one."""
    layer = planned(hb.fun(hb.R)(lambda x: hb.tanh(hb.sin(hb.tanh(x)))))
    monkeypatch.setattr(compiled_line, "SHORT", 0)
    for many in (100_000, 1):
        monkeypatch.setattr(compiled_line, "MANY", many)
        monkeypatch.setattr(compiled_line, "CALLS", 0)
        compiled_line.CompiledLine(layer.line)
    assert levels == [LINES, VECTORS]


def test_long_programs_are_optimised_less(levels: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without vectors of straight lines where loops make most stores; without loops of vectors where very long."""
    loop = planned(hb.fun(hb.R ** hb.Fin.of(100))(hb.sin))
    for name in ("STRAIGHT", "MOST"):
        monkeypatch.setattr(compiled_line, name, 0)
        compiled_line.CompiledLine(loop.line)
    assert levels == [UNROLLED, 1]
