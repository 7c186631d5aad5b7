"""What is given is checked where it enters: masked and missing data, precision, huge numbers, options, nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, get_args

import attrs
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adjoint import check_adjoint, hessian, jacobian
from diff import contract, derivative, each, fun, maximum, program, register, sin
from diff.terms import nodes as functions
from hilbert import R32, Bool, Elements, Fin, Labelled, R, SpaceError, Vec, Z, direct_sum
from hilbert.program.line.external import MapRule
from hilbert.relation import by_key, function, labels, leq, pairs, run, sliding, window
from linmap import (
    cost,
    cumsum,
    from_scipy,
    gather,
    group_by,
    identity,
    permute,
    scale,
    segment_sum,
    sparse,
    stack,
    tensor,
    unstack,
    windows,
)
from linmap.contraction import inner, labelled
from linmap.term.net import Closed
from linmap.term.nodes import (
    Cast,
    Compose,
    Fork,
    Inject,
    Join,
    Lifted,
    Node,
    Own,
    Parallel,
    Project,
    Reduce,
    Scaled,
    Section,
    Sum,
    Unitary,
)

X, Y = Fin.of(3), Fin.of(2)
V: Any = R**X  # of no static type: much below is wrong on purpose
M: Any = R ** (X * Y)
S, I = direct_sum(V, R), identity(V)
f = fun(V)(lambda v: sin(v))  # noqa: PLW0108 - a function of its own
masked: Any = np.ma.masked_array
NUMBERS = masked([1.0, 2.0, 3.0], [False, True, False])
PLACES = masked([0, 1, 2], [False, True, False])
ONE = masked(2.0, mask=True)
HUGE = 10**400


MASKED: dict[str, Callable[[], object]] = {
    "vec": lambda: V.vec(NUMBERS),
    "a list of them": lambda: (R ** (Y * X)).vec([NUMBERS, NUMBERS]),
    "a list with the constant": lambda: V.vec([1.0, np.ma.masked, 2.0]),
    "unflat": lambda: V.unflat(NUMBERS),
    "elements": lambda: (Elements(X) ** X).vec(PLACES),
    "labels of elements": lambda: (Elements(Labelled.of("abc")) ** Y).vec(masked(["a", "b"], [0, 1])),
    "truth values": lambda: (Bool**X).vec(masked([True, False, True], [0, 1, 0])),
    "full": lambda: V.full(ONE),
    "a factor": lambda: V.ones() * ONE,
    "a summand": lambda: V.ones() + ONE,
    "a number of a map": lambda: scale(ONE),
    "an argument": lambda: maximum(V.ones(), ONE),
    "a size": lambda: Fin.of(masked(3, mask=True)),
    "a position": lambda: V.ones()[masked(1, mask=True)],
    "function": lambda: function(PLACES, X, X),
    "pairs": lambda: pairs(masked([[0, 1]], [[0, 1]]), X, X),
    "gather": lambda: gather(PLACES, X),
    "segment_sum": lambda: segment_sum(PLACES, X),
    "permute": lambda: permute(PLACES, X),
    "weights": lambda: sparse([0, 1, 2], [0, 1, 2], NUMBERS, X, X),
    "rows of a matrix": lambda: sparse(PLACES, [0, 1, 2], [1.0, 2.0, 3.0], X, X),
    "by_key": lambda: by_key(PLACES),
    "by_key of a list": lambda: by_key(["a", np.ma.masked]),
    "labels": lambda: labels(PLACES, int),
    "Labelled": lambda: Labelled.of(PLACES),
    "group_by": lambda: group_by(PLACES),
    "at": lambda: Labelled.of("abc").at(masked(["a", "b"], [0, 1])),
    "an expression": lambda: fun(V)(lambda v: v * ONE),
}


@pytest.mark.parametrize("name", MASKED)
def test_masked_arrays_are_refused(name: str) -> None:
    """At no entrance is a mask left out."""
    with pytest.raises(SpaceError):
        MASKED[name]()


@pytest.mark.parametrize(
    ("space", "entries"), [(Elements(X) ** X, [0, 1, 2]), (Bool**X, [True, True, False]), (Z**X, [1, 2, 3])], ids=str
)
def test_discrete_data_are_copied(space: Any, entries: list[Any]) -> None:
    """What was checked stays: a label that its owner changes later would be no element."""
    array = np.array(entries)
    v = space.vec(array)
    array[:] = array[::-1].copy()
    array[0] = 0
    assert v.array.tolist() == entries


def test_a_primitive_cannot_write_into_what_others_read() -> None:
    """The argument of a registered primitive is read-only, intermediate results too; else it is a copy."""
    strict = pytest.importorskip("array_api_strict")

    def greedy(_: Any, x: Any) -> Any:
        x[...] = x * 2.0
        return x

    g = fun(V)(lambda v: (v + 1.0, register("greedy", greedy, lambda x, _: x)(v + 1.0), (v + 1.0) * 1.0))
    with pytest.raises(ValueError, match="read-only"):
        g(V.vec([1.0, 2.0, 3.0]))
    found = g(V.vec(strict.asarray([1.0, 2.0, 3.0])))
    assert [np.asarray(a).tolist() for a in found.leaves] == [[2.0, 3.0, 4.0], [4.0, 6.0, 8.0], [2.0, 3.0, 4.0]]


OPTIONS: list[Callable[[Any], object]] = [
    lambda k: cumsum(X, reverse=k),
    lambda k: cumsum(X, exclusive=k),
    lambda k: V.ones().cumsum(reverse=k),
    lambda k: jacobian(f, V.ones(), blocks=k),
    lambda k: hessian(fun(V)(lambda v: v @ v), V.ones(), blocks=k),
    lambda k: tensor(I, dense=k),
]


@pytest.mark.parametrize("call", OPTIONS)
@pytest.mark.parametrize("value", ["no", 1, None, np.ones(2)], ids=str)
def test_options_are_truth_values(call: Callable[[Any], object], value: Any) -> None:
    """An option is True or False; what counts as true elsewhere is refused."""
    with pytest.raises(SpaceError, match="is True or False"):
        call(value)
    call(np.True_)


def test_double_precision_never_becomes_single() -> None:
    """Neither an array, nor one in a list, nor weights; Python's numbers do, unless they would be infinite."""
    W = R32**X
    doubles = np.array([0.1, 0.2, 0.3])
    given: list[Callable[[], object]] = [
        lambda: R32.vec(np.float64(0.1)),
        lambda: W.vec(doubles),
        lambda: W.vec(list(doubles)),
        lambda: (R32 ** (Y * X)).vec([doubles, doubles]),
        lambda: W.unflat(doubles),
        lambda: R32.vec(1e300),
        lambda: W.vec([1.0, -1e300, 0.0]),
        lambda: W.full(1e300),
        lambda: W.random(np.random.default_rng(0), scale=1e300),
        lambda: sparse([0, 1, 2], [0, 1, 2], doubles, X, X, R32),
        lambda: sparse([0, 1, 2], [0, 1, 2], [1.0, 1e300, 1.0], X, X, R32),
        lambda: V.vec(doubles.astype(np.longdouble)),
    ]
    for call in given:
        with pytest.raises(SpaceError):
            call()
    assert W.vec([0.1, float("inf"), float("nan")]).array.dtype == np.float32
    assert sparse([0, 1, 2], [0, 1, 2], doubles.astype(np.float32), X, X, R32).dom == W
    scipy_sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(SpaceError, match="float64"):
        from_scipy(scipy_sparse.eye(3).tocsr(), X, X, R32)


BEYOND: list[Callable[[], object]] = [
    lambda: scale(HUGE),
    lambda: V.ones() * HUGE,
    lambda: V.ones() + HUGE,
    lambda: V.ones() - HUGE,
    lambda: V.ones() / HUGE,
    lambda: V.ones() ** HUGE,
    lambda: V.ones() > HUGE,
    lambda: V.full(HUGE),
    lambda: R.vec(HUGE),
    lambda: V.random(np.random.default_rng(0), scale=HUGE),
    lambda: HUGE * I,
    lambda: I / HUGE,
    lambda: Scaled(HUGE, I),
    lambda: maximum(V.ones(), HUGE),
    lambda: fun(V)(lambda v: v * HUGE),
    lambda: fun(V)(lambda v: v + HUGE),
    lambda: fun(V)(lambda v: v - HUGE),
    lambda: fun(V)(lambda v: v / HUGE),
    lambda: fun(V)(lambda v: HUGE / v),
    lambda: fun(V)(lambda v: v**HUGE),
]


@pytest.mark.parametrize("call", BEYOND)
def test_numbers_beyond_double_precision(call: Callable[[], object]) -> None:
    """An integer that is no double is a SpaceError, which does not write it out."""
    with pytest.raises(SpaceError) as caught:
        call()
    assert len(str(caught.value).splitlines()[0]) < 200


@pytest.mark.parametrize("scale_of", [float("nan"), float("inf"), -1.0, "1", None])
def test_the_scale_of_random_vectors(scale_of: Any) -> None:
    """A standard deviation is a finite number ≥ 0."""
    with pytest.raises(SpaceError, match="a finite number ≥ 0"):
        V.random(np.random.default_rng(0), scale=scale_of)


@pytest.mark.parametrize("make", [stack, unstack])
def test_a_term_with_too_many_parts(make: Any) -> None:
    """A part for each of 10¹² elements is refused at once."""
    with pytest.raises(SpaceError, match="a part for each of the 1000000000000 elements"):
        make(Fin.of(10**12))


MODULES: list[Callable[[Any], object]] = [
    V.vec,
    R.vec,
    scale,
    lambda m: R**m,
    lambda m: Fin(m, 3),
    Labelled.of,
    lambda m: I + m,
    lambda m: I @ m,
    I,
    lambda m: V.ones() + m,
    lambda m: V.ones()[m],
    lambda m: fun(V)(lambda v: v * m),
    cost,
    from_scipy,
]


@pytest.mark.parametrize("call", MODULES)
def test_modules(call: Callable[[Any], object]) -> None:
    """numpy itself has a shape and a dtype, and is no array."""
    with pytest.raises(SpaceError, match=r"the module numpy|labels"):
        call(np)


def test_the_cost_does_not_depend_on_entries() -> None:
    """cost(f, array) is a mistake for cost(f, as_)."""
    with pytest.raises(SpaceError, match="takes the name of a form"):
        cost(I, np.ones(3))  # type: ignore[call-overload]


RULE = MapRule("rule", lambda _, a: a, lambda _, a: a)
NODES: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
    "Compose": (Compose, [5, None, (), (5,), I]),
    "Sum": (Sum, [5, None, (), (5,), I]),
    "Scaled, k": (lambda a: Scaled(a, I), [None, "2", True, np.ones(3), (), I]),
    "Scaled, of": (lambda a: Scaled(2.0, a), [5, None, np.ones(3), f]),
    "Section, side": (lambda a: Section(inner(V), a, V.ones()), [2, -1, True, 1.0, None, "a"]),
    "Section, datum": (lambda a: Section(inner(V), 0, a), [5, None, np.ones(3)]),
    "Project, space": (lambda a: Project(a, 0), [5, None, np.ones(3), np]),
    "Project, position": (lambda a: Project(S, a), [2, -1, True, 1.0, None, "a", np]),
    "Inject, position": (lambda a: Inject(S, a), [2, -1, True, 1.0, None, "a", np]),
    "Fork": (Fork, [5, None, (), (5,), I]),
    "Join": (Join, [5, None, (), (5,), I]),
    "Parallel": (Parallel, [5, None, (), (5,), I]),
    "Reduce, relation": (lambda a: Reduce(a, R), [5, None, "a", np.ones(3), X, np]),
    "Reduce, base": (lambda a: Reduce(leq(X), a), [5, None, Bool]),
    "Unitary, name": (lambda a: Unitary(a, V, V, (0,), ((0,),)), [5, None]),
    "Unitary, source": (lambda a: Unitary("u", V, V, a, ((0,),)), [5, "a", (), (1,), (-1,), (0, 0), ("a",), [0]]),
    "Unitary, order": (
        lambda a: Unitary("u", V, V, (0,), a),
        [5, (), ((1,),), ((-1,),), (("a",),), ((),), ((0, 0),), [(0,)]],
    ),
    "Lifted, of": (lambda a: Lifted(a, X), [5, None, np, f]),
    "Lifted, index": (lambda a: Lifted(I, a), [5, None, "a", np, V]),
    "Cast": (lambda a: Cast(V, a), [5, None, R ** Fin.of(4), np]),
    "Own, rule": (lambda a: Own(a, V, V), [5, None, "a", np]),
    "Own, dom": (lambda a: Own(RULE, a, V), [5, None, "a", np, direct_sum(V, V), Bool]),
    "Own, cod": (lambda a: Own(RULE, V, a), [5, None, "a", np, direct_sum(V, V), Bool]),
    "Closed, body": (lambda a: Closed(a, ()), [5, None, I]),
    "Closed, data": (lambda a: Closed(derivative(f).body, a), [5, None, (5,), ()]),
    "Constant": (lambda a: functions.Constant(a, V.ones()), [5, None]),
    "Constant, value": (lambda a: functions.Constant(V, a), [5, np.ones(3)]),
    "Bilinear": (functions.Bilinear, [5, None, f]),
    "function Compose": (functions.Compose, [5, None, (5,), f]),
    "function Scaled": (lambda a: functions.Scaled(a, f), [None, "2", True]),
    "function Scaled, of": (lambda a: functions.Scaled(2.0, a), [5, None]),
    "Power": (lambda a: functions.Power(a, X), [5, None]),
    "Power, index": (lambda a: functions.Power(f, a), [5, None, "a"]),
    "Lift": (lambda a: functions.Lift(a, X, (0,)), [5, None]),
    "Lift, over": (lambda a: functions.Lift(f, X, a), [5, None, (7,), ("a",), (-1,)]),
}


@pytest.mark.parametrize("name", NODES)
def test_nodes_check_their_fields(name: str) -> None:
    """A node that does not fit is refused when it is made, by a SpaceError."""
    make, values = NODES[name]
    for value in values:
        with pytest.raises(SpaceError):
            make(value)


@pytest.mark.parametrize("field", ["dom", "cod", "inputs", "arcs", "outputs", "wires"])
@pytest.mark.parametrize("value", [5, None, "a", (5,), ("a",), [1], np.ones(3)], ids=str)
def test_nets_check_their_fields(field: str, value: Any) -> None:
    """A net, and its arcs."""
    body = derivative(f).body
    with pytest.raises(SpaceError):
        attrs.evolve(body, **{field: value})
    with pytest.raises(SpaceError):
        attrs.evolve(body.arcs[0], map=value)


def test_every_node_class_has_a_row() -> None:
    """No class of linear terms is left out above; identities, zeros and nets have rows of their own."""
    rows = {name.partition(",")[0] for name in NODES}
    assert {cls.__name__ for cls in get_args(Node)} - rows <= {"Identity", "ZeroMap", "Net"}


def test_comparisons_of_tensors() -> None:
    """Entry by entry on V ⊗ W, for vectors and expressions."""
    T = V * (R**Y)
    a, b = T.random(np.random.default_rng(0)), T.random(np.random.default_rng(1))
    assert np.array_equal((a > b).array, a.array > b.array)
    assert np.array_equal(fun(T)(lambda t: t <= 0.0)(a).array, a.array <= 0.0)


def test_strict_arrays_in_formal_tensors() -> None:
    """u ⊗ v of arrays that allow no a[None]."""
    strict = pytest.importorskip("array_api_strict")
    u = V.vec(strict.asarray([1.0, 2.0, 3.0]))
    t = u.tensor(u)
    assert np.asarray(t.dense().leaves[0]).tolist() == np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]).tolist()
    assert (t + t).norm() == pytest.approx(28.0)


@pytest.mark.parametrize("library", ["jax.numpy", "array_api_strict"])
def test_a_number_goes_with_any_library(library: str) -> None:
    """R.vec(2.0) meets arrays of JAX and of the strict array API, in operators and as an argument."""
    xp = pytest.importorskip(library)
    v = (R32**X).vec(xp.asarray([1.0, 2.0, 3.0], dtype=xp.float32))
    k = R32.vec(2.0)
    for found in (k * v, v / k, fun(R32, R32**X)(lambda k, v: k * v)(k, v)):
        assert isinstance(found.array, type(v.array))
    with pytest.raises(SpaceError, match="different array libraries"):
        _ = v * (R32**X).ones()


MISSING: dict[str, Any] = {
    "float64": pd.Series([1.0, float("nan"), 2.0]),
    "Int64": pd.Series(pd.array([1, None, 3], dtype="Int64")),
    "Float64": pd.Series(pd.array([1.0, None, 3.0], dtype="Float64")),
    "Arrow": pa.array([1.0, None, 2.0]),
    "chunks of Arrow": pa.chunked_array([[1.0, 2.0, None]]),
}


@pytest.mark.parametrize("name", MISSING)
def test_columns_with_missing_entries(name: str) -> None:
    """A column of values with NaN, NA or null is refused, in lists and as weights too; numpy's NaN is a number."""
    column = MISSING[name]
    for call in (
        lambda: V.vec(column),
        lambda: V.unflat(column),
        lambda: (R ** (Y * X)).vec([column, column]),
        lambda: sparse([0, 1, 2], [0, 1, 2], column, X, X),
    ):
        with pytest.raises(SpaceError, match="missing entries"):
            call()
    if name == "float64":
        assert np.isnan(V.vec(column.to_numpy()).array[1])
        assert V.vec(column.fillna(0.0)).array.tolist() == [1.0, 0.0, 2.0]
        assert (R**Y).vec(column.dropna()).array.tolist() == [1.0, 2.0]


def test_a_frame_with_missing_entries() -> None:
    """So is a table of two axes."""
    with pytest.raises(SpaceError, match="missing entries"):
        M.vec(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, float("nan"), 2.0]}))


def test_contractions_quote_the_labels_as_written() -> None:
    """Not the canonical ones."""
    with pytest.raises(SpaceError, match="label a is both 3 and 2"):
        fun(M, R**Y)(lambda A, x: contract("ab,a->b", A, x))
    with pytest.raises(SpaceError, match="contraction pq,q->p: ℝ\\^3 has 1 axes where pq needs 2"):
        labelled("pq,q->p", V, R**Y)


def test_means_name_themselves() -> None:
    """An error of .mean() is not about .sum()."""
    calls: list[Callable[[], object]] = [
        lambda: V.ones().mean(Y),
        lambda: V.ones().mean(3),
        lambda: fun(V)(lambda v: v.mean(Y)),
    ]
    for call in calls:
        with pytest.raises(SpaceError, match=r"^\.mean\("):
            call()
    with pytest.raises(SpaceError, match=r"^\.mean\(\) needs a vector space"):
        (Z**X).vec([1, 2, 3]).mean()


def test_sliding_and_windows_as_documented() -> None:
    """Y×K has exactly as many windows as lie in X; an offset below 0 would begin outside."""
    X4 = Fin.of(4)
    for to in (Fin.of(2) * Fin.of(2), Fin.of(4) * Fin.of(2), Fin.of(3) * Fin.of(3), Fin.of(6)):
        with pytest.raises(SpaceError, match="the 3 windows of width 2"):
            sliding(X4, 2, to=to)  # type: ignore[arg-type]
    with pytest.raises(SpaceError, match="the 3 windows"):
        windows(X4, 2, to=Fin.of(2) * Fin.of(2))
    with pytest.raises(SpaceError, match="an offset is at least 0"):
        sliding(X4, 2, offset=-1)
    assert sliding(X4, 2).dom.shape == sliding(X4, 2, to=Fin.of(3) * Fin.of(2)).dom.shape == (3, 2)
    assert window(X4, 2, offset=-1).cod.size == 4  # windows that end in X, cut off where they begin outside


def test_gather_takes_rows_of_the_right_number() -> None:
    """`rows` names Y for every form of the table; another number of rows is refused."""

    class Row: ...

    X4, rows, v = Fin.of(4), Fin(Row, 2), (R ** Fin.of(4)).vec([1.0, 2.0, 3.0, 4.0])
    named = Labelled.of("abcd")
    elements: Vec[Any] = (Elements(X4) ** Y).vec([3, 1])
    tables: list[tuple[Any, Any]] = [
        ([3, 1], X4),
        (function([3, 1], Y, X4), X4),
        (run(Y, X4, 1), X4),
        (elements, X4),
        (named.at(["d", "b"]), named),
    ]
    for table, of in tables:
        g = gather(table, of, rows=rows)
        assert g.cod == R**rows
        w = g.dom.vec(v.array)
        assert g(w).array.tolist() == gather(table, of)(w).array.tolist()
        assert segment_sum(table, of, rows=rows).dom == R**rows
        with pytest.raises(SpaceError):
            gather(table, of, rows=Fin(Row, 3))


def test_a_coefficient_is_one_step() -> None:
    """x − 6·x scales once, in the program and in its derivative; −(k·x) is (−k)·x."""
    for body, k in ((lambda x: x - 6.0 * x, -5.0), (lambda x: -(6.0 * x), -6.0), (lambda x: 2.0 - 6.0 * x, -6.0)):
        g = fun(V)(body)
        assert sum(type(step.operation).__name__ == "Scale" for step in program(g).steps) == 1
        assert sum(type(arc.map).__name__ == "Scale" for arc in derivative(g).body.arcs) == 1
        assert derivative(g)(V.ones())(V.ones()).array.tolist() == [k] * 3
    assert str(fun(V)(lambda x: x - 6.0 * x)) == "x ↦ x − 6·x"


def test_python_s_sum_begins_with_nothing() -> None:
    """sum([x, x]) is x + x: its 0 is no step."""
    g = fun(V)(lambda x: sum([x, x], 0.0))
    assert str(g) == "x ↦ x + x"
    assert len(program(g).steps) == 1


def test_the_adjoint_is_tested_at_a_point_of_the_domain() -> None:
    """check_adjoint of a linear map takes no point of another space."""
    assert check_adjoint(I)
    assert check_adjoint(I, V.ones())
    for wrong in ((R**Y).ones(), 5):
        with pytest.raises(SpaceError, match=r"a vector of ℝ\^3 is due|takes a vector"):
            check_adjoint(I, wrong)  # type: ignore[arg-type]
    with pytest.raises(SpaceError):
        check_adjoint(I, V.ones(), V.ones())


def test_rows_and_columns_by_dynamic_elements() -> None:
    """The messages say what to write, and that works."""
    A, i, j = M.vec([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), Elements(X).vec(1), Elements(Y).vec(1)
    calls: list[Callable[[], object]] = [lambda: A[:, j], lambda: A[i, :], lambda: A[i, j], lambda: A[i]]
    for call in calls:
        with pytest.raises(SpaceError, match=r"A\.T\.rows\(\)\[x\] for A\[:, x\]"):
            call()
    with pytest.raises(SpaceError, match=r"A\.rows\(\)\[x\] for A\[x, :\]"):
        fun(M, Elements(Y))(lambda a, y: a[:, y])
    assert A.rows()[i].array.tolist() == [3.0, 4.0]
    assert A.T.rows()[j].array.tolist() == [2.0, 4.0, 6.0]


def test_a_list_of_vectors() -> None:
    """The message names `stack`, and that works."""
    v = V.ones()
    for call in (lambda: (V**Y).vec([v, v]), lambda: (R ** (Y * X)).vec((v, v)), lambda: V.vec([R.vec(1.0)] * 3)):
        with pytest.raises(SpaceError, match=r"stack\(X, V\)\(v, w, …\) puts vectors side by side"):
            call()
    assert stack(Y, V)(v, v).space == V**Y


def test_a_module_that_another_thread_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data are read while numpy.ma is only begun."""
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))
    assert V.vec(np.ones(V.dim)) is not None


def test_lists_in_lists_in_lists() -> None:
    """However deep, they are data that do not fit."""
    deep: Any = 1.0
    for _ in range(5000):
        deep = [deep]
    for space in (V, Elements(Fin.of(3))):
        with pytest.raises(SpaceError, match="a list nested more than 64 deep is not an element of"):
            space.vec(deep)
    with pytest.raises(SpaceError, match="each takes a function of expressions, not a list of 1"):
        each(deep, V.ones())
