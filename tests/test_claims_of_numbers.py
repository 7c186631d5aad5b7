"""Sentences of the documentation that a single changed number or condition of the code would make false."""

from __future__ import annotations

import functools
import operator
import pickle
import traceback
from typing import Any

import numpy as np
import pytest

import diff.compiled.compiled_program as codes
import hilbert.all as hb
from hilbert.display import number_table
from hilbert.display.lines import wrapped
from hilbert.relation import function
from linmap.matrices.made import matrix_plans

R, Fin = hb.R, hb.Fin
V = R ** Fin.of(5)


def test_the_code_of_some_last_programs_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert codes.KEPT == 128
    monkeypatch.setattr(codes, "KEPT", 2)
    codes._codes.clear()
    for k in (2.0, 3.0, 4.0):
        hb.compiled(hb.fun(R)(functools.partial(operator.mul, k)))(R.vec(1.0))
    assert len(codes._codes) == 2


@pytest.mark.parametrize(("n", "is_small"), [(2048, True), (2049, False)])
def test_small_inputs_are_copied(n: int, *, is_small: bool) -> None:
    assert hb.compiled(hb.fun(R ** Fin.of(n))(lambda x: x.sum()))._code.is_small[0] == is_small


def test_long_loops_run_in_turns() -> None:
    f: Any = hb.compiled(hb.fun(R)(lambda x: hb.iterate(lambda s: hb.sin(s) + x, x, Fin.of(10**12))))
    (step,) = [s for s in f._code.plan.steps if s.rounds > 1]
    assert step.turn <= 20_000_000


def test_a_program_of_the_interpreter_pickles_as_one() -> None:
    f = hb.compiled(hb.fun(R)(hb.sin), backend="interpreter")
    assert pickle.loads(pickle.dumps(f)).backend == "interpreter"


def test_kernels_may_keep_what_they_are_given() -> None:
    last: list[Any] = []

    def remembered(xp: Any, x: Any) -> Any:
        """Twice the argument, computed anew for another one."""
        if not last or not xp.array_equal(last[0], x):
            last[:] = [x, 2.0 * x]
        return last[1]

    op = hb.operation("remembered", V, to=V, value=remembered)
    c = hb.compiled(hb.fun(V)(op))
    for k in (1.0, 2.0, 3.0):
        assert np.allclose(c.on_arrays(np.full(5, k))[0], 2.0 * k)


def test_results_of_the_interpreter_are_fresh() -> None:
    a = np.ones(5)
    (made,) = hb.compiled(hb.fun(V)(lambda x: x), backend="interpreter").on_arrays(a)
    assert made.flags.writeable
    assert not np.shares_memory(made, a)


def test_two_results_in_one_array_are_refused() -> None:
    c, b = hb.compiled(hb.fun(V)(lambda x: (x + x, 3.0 * x))), np.empty(5)
    with pytest.raises(hb.SpaceError, match="with another result"):
        c.on_arrays(np.ones(5), out=[b, b])


def test_only_the_numbers_that_are_shown_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    module: Any = number_table
    real = module.to_numpy

    def watched(a: Any) -> Any:
        seen.append(a.size)
        return real(a)

    monkeypatch.setattr(number_table, "to_numpy", watched)
    (R ** Fin.of(5000)).ones()._repr_html_()
    assert sum(seen) <= 200


def test_formulas_are_cut_at_columns_and_lines() -> None:
    assert max(map(len, wrapped(" + ".join(["x"] * 200)))) in range(95, 101)
    f = hb.direct_sum(*[R ** (Fin.of(4) * Fin.of(3))] * 500)._repr_latex_() or ""
    assert f.count(r"\\") == 19


def test_diagrams_are_folded_beyond_forty_boxes() -> None:
    assert hb.diagram(hb.compose([hb.sin] * 40)).boxes == 40
    assert hb.diagram(hb.compose([hb.sin] * 41)).boxes < 41


@pytest.mark.parametrize(("shape", "sparse"), [((4, 25), True), ((3, 34), False), ((100, 1), True), ((99, 1), False)])
def test_hessians_are_sparse_where_large_and_empty(shape: tuple[int, int], *, sparse: bool) -> None:
    n, m = map(Fin.of, shape)
    s = hb.as_scipy(hb.fun(R ** (n * m))(lambda A: (hb.sin(A.sum(over=1)) ** 2).sum()))
    assert hasattr(s.hess(np.zeros(s.size)), "nnz") == sparse


def test_conditions_of_compiled_programs_are_compiled() -> None:
    f = hb.compiled(hb.fun(V)(lambda x: x @ x))
    p = hb.nlp(f, equal=hb.fun(V)(lambda x: x.sum()))
    assert all(c.jac.__self__.map.backend == "llvm" for c in p.conditions)


def test_a_primitive_cannot_write_into_its_argument() -> None:
    p = hb.register("writes into x", lambda _, x: np.multiply(x, 2.0, out=x), lambda *_: 2.0)
    with pytest.raises(ValueError, match="read-only"):
        hb.fun(V)(lambda x: p(x + 1.0))(V.ones())


def test_the_largest_index_set() -> None:
    assert Fin.of(2**63 - 1).size == 2**63 - 1
    with pytest.raises(hb.SpaceError):
        Fin.of(2**63)


@pytest.mark.parametrize(("n", "fits"), [(26, True), (27, False)])
def test_a_contraction_has_at_most_52_axes(n: int, *, fits: bool) -> None:
    u, v = ((R ** functools.reduce(operator.mul, [Fin.of(1)] * k)).ones() for k in (n, 26))
    if fits:
        assert hb.outer(u, v).space.dim == 1
    else:
        with pytest.raises(hb.SpaceError):
            hb.outer(u, v)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype")
def test_double_precision_needs_a_setting_of_jax() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False), pytest.raises(hb.SpaceError, match="jax_enable_x64"):  # noqa: FBT003
        V.vec(jax.numpy.ones(5))


def test_vectors_are_trees_of_their_own_space() -> None:
    jax = pytest.importorskip("jax")
    D = hb.direct_sum(R, hb.Elements(Fin.of(3)))
    hb.as_jax(hb.fun(D)(lambda d: d[0]))
    assert jax.tree_util.tree_map(lambda a: a, D.vec((1.0, 2))).space == D


def test_the_third_call_is_one_function() -> None:
    f = hb.fun(R)(lambda x: hb.log(x) * x)
    for _ in range(2):
        f(R.vec(2.0))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError) as e:
        f(R.vec(0.0))
    assert "log_0" in (traceback.extract_tb(e.value.__traceback__)[-1].line or "")


@pytest.mark.parametrize(("k", "size"), [(8, (8, 8)), (9, (1, 9))])
def test_short_axes_keep_blocks_whole(k: int, size: tuple[int, int]) -> None:
    place, point, spring = R ** Fin.of(k), Fin.of(20), Fin.of(19)
    start, end = (hb.gather(function(list(e), spring, point), place) for e in (range(19), range(1, 20)))
    M = (R ** (place.index * place.index)).random(np.random.default_rng(0))

    def force(d: Any) -> Any:
        y = hb.sin(M @ d)
        return y.crop(0, 2).pad(0, k - 2) + y.crop(2, k).pad(2, 0)

    f = hb.fun(place)(force) ** spring
    d = hb.derivative(hb.fun(place**point)(lambda p: f(end(p) - start(p))))
    ((b,),) = hb.matrix(d.at((place**point).zeros()), as_="blocks")
    assert b.blocksize == size


def test_objectives_of_compiled_functions_are_compiled() -> None:
    f = hb.compiled(hb.fun(V, R)(lambda x, k: k * (hb.sin(x) @ x)))
    s: Any = hb.as_scipy(f, 2.0, wrt=0)
    assert s._varied.program.backend == s.hessian_program.backend == "llvm"


def test_a_report_names_the_kernel_in_a_loop() -> None:
    f = hb.compiled(hb.fun(V)(lambda x: hb.iterate(lambda s: hb.sin(s).sort(), x, Fin.of(20))))
    assert f.report.calls == ("loop with argsort",)


def test_a_pattern_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    real = matrix_plans._sparse_plan

    def counted(n: Any) -> Any:
        made.append(n)
        return real(n)

    monkeypatch.setattr(matrix_plans, "_sparse_plan", counted)
    d = hb.derivative(hb.fun(V)(lambda x: hb.sin(x).roll(1) * x))
    for k in (1.0, 2.0):
        hb.matrix(d.at(V.full(k)), "sparse")
    assert len(made) == 1


def test_factors_of_huge_maps_are_refused() -> None:
    R ** Fin.of(10**10)
    with pytest.raises(hb.SpaceError, match="limit=N looks for an order"):
        hb.factors(hb.fork(hb.total(Fin.of(10**10)), hb.total(Fin.of(10**10))))
