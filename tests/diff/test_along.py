"""Steps along axes go through every pass: text, repr, pickle, equality, point-free form, Jacobians, cost, structure."""

import pickle
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Entry, Leaf
from hilbert.program.line.bundle import Unpack
from hilbert.program.line.operation import COMPUTED, FOUND, Along, Literal
from hilbert.program.run.bound_line import BoundLine
from hilbert.program.run.run import Runner
from tests import oracle


class Row:
    """An axis."""


class Column:
    """An axis."""


row, column = hb.Fin(Row, 3), hb.Fin(Column, 4)
M = hb.R ** (row * column)
A = M.random(np.random.default_rng(0))
BODIES: dict[str, Any] = {
    "argmax": lambda a: a.argmax(over=column),
    "argmax of all": lambda a: a.argmax(),
    "argmin": lambda a: a.argmin(over=row),
    "argsort": lambda a: a.argsort(over=row),
    "logsumexp": lambda a: a.logsumexp(over=column),
    "softmax": lambda a: a.softmax(over=row),
    "log_softmax": lambda a: a.log_softmax(over=row),
    "all three": lambda a: a.log_softmax(over=row) * a.softmax(over=row) * a.logsumexp(over=row).rep(M),
    "both": lambda a: a.softmax(over=row) * a.logsumexp(over=row).rep(M),
    "twice": lambda a: a.softmax(over=row).softmax(over=column),
    "max": lambda a: a.max(over=column),
    "max of all": lambda a: a.max(),
    "sort": lambda a: a.sort(over=row),
    "top": lambda a: a[0, :][a[0, :].top(2)],
    "cumprod": lambda a: a.cumprod(over=column),
}


@pytest.mark.parametrize("name", BODIES)
def test_every_pass(name: str) -> None:
    """repr and pickle give the term back; equal, pointfree, jacobian, cost and structure take it."""
    f: Any = hb.fun(M)(BODIES[name])
    assert eval(repr(f), hb.NAMES | {"Row": Row, "Column": Column}) == f  # noqa: S307 - our own text
    assert pickle.loads(pickle.dumps(f)) == f
    assert hb.equal(f, hb.fun(M)(BODIES[name]))
    assert hb.equal(hb.simplify(f), f)
    assert all(np.array_equal(a, b) for a, b in zip(hb.pointfree(f)(A).leaves, f(A).leaves, strict=True))
    assert str(f)
    assert str(hb.cost(f))
    assert str(hb.explain(f))
    assert all(np.allclose(a, b) for a, b in zip(f(A).leaves, oracle.value(f, A).leaves, strict=True))
    if not f.cod.is_space:
        return
    d: Any = hb.derivative(f)
    assert pickle.loads(pickle.dumps(d)) == d
    assert str(d)
    basis = np.stack([d.at(A)(e).flat() for e in M.basis()], axis=1)
    assert np.allclose(hb.jacobian(f, A), basis)
    assert hb.structure(d) is not None
    assert all(hb.check(f, A))
    assert all(hb.check(hb.jvp(f), hb.direct_sum(M, M).random(np.random.default_rng(1))))


@pytest.mark.parametrize("n", [5, 1000])
def test_equal_entries_keep_their_order(n: int) -> None:
    """argsort is stable, and so are sort and top by it: of equal entries the first comes first."""
    v = (hb.R ** hb.Fin.of(n)).vec(np.arange(n) % 7 / 1.0)
    order = v.argsort().array
    assert order.tolist() == sorted(range(n), key=lambda k: v.array[k])
    assert v.sort().array.tolist() == sorted(v.array.tolist())


def test_texts() -> None:
    """Along an axis with indices, of all entries without."""
    texts = {name: str(hb.fun(M)(BODIES[name])) for name in ("argmax", "argmax of all", "softmax", "max", "sort")}
    assert texts == {
        "argmax": "a ↦ [row] ↦ argmax_column(a[row, column])",
        "argmax of all": "a ↦ argmax a",
        "softmax": "a ↦ [i, j] ↦ softmax_k(a[k, j])[i]",
        "max": "a ↦ [row] ↦ a[row, argmax_column(a[row, column])]",
        "sort": "a ↦ [i, j] ↦ a[argsort_k(a[k, j])[i], j]",
    }


def test_softmax_shares_the_flow_of_its_sum() -> None:
    """ln Σ exp x beside softmax x has one differential: the derivative has no arc twice."""
    f = hb.fun(M)(lambda a: (a.logsumexp(), a.softmax()))
    g = hb.fun(M)(lambda a: (a.softmax(), a.logsumexp()))
    alone = len(hb.derivative(hb.fun(M)(lambda a: a.softmax())).body.arcs)
    assert len(hb.derivative(f).body.arcs) == len(hb.derivative(g).body.arcs) == alone
    assert all(hb.check(f, A))
    assert all(hb.check(g, A))


def test_cross_entropy_in_nine_steps() -> None:
    """Value and gradient of the mean of ln Σ exp z − z_y, 64×10: nine steps run; one array of two is none."""
    batch, label = hb.Fin.of(64), hb.Fin.of(10)
    loss = hb.fun(hb.R**label, hb.Elements(label))(lambda z, y: z.logsumexp() - z[y])
    each = hb.lift(loss, batch, over=(0, 1))
    f = hb.fun.over(each.dom)(lambda z, y: each(z, y).mean())
    line = Runner(hb.planned(hb.value_and_grad(f, 0)).line).line
    assert len([step for step in line.steps if not isinstance(step.operation, (Literal, Unpack))]) <= 9


@pytest.mark.parametrize("field", [hb.R, hb.R32])
@pytest.mark.parametrize("over", [0, 1, None])
def test_softmax_beside_its_sum(field: hb.Field, over: Any) -> None:
    """ln Σ exp x and softmax x, in either order, are one step: as each alone, for large, infinite and no entries."""
    rows = [[1e4, 1e4 - 1, -3.0, 0.5], [-np.inf] * 4, [np.inf, 1.0, 2.0, 3.0], [-np.inf, 0.0, 3.0, np.nan]]
    whole = np.array(np.transpose(rows) if over == 0 else rows, field.dtype)
    for a in (whole, whole[:2], whole[:, 2:], whole[1:2], whole[:0], whole[:, :0]):
        V: Any = field ** (hb.Fin.of(a.shape[0]) * hb.Fin.of(a.shape[1]))
        forth: Any = hb.program(hb.fun(V)(lambda a: (a.logsumexp(over=over), a.softmax(over=over))))
        back: Any = hb.program(hb.fun(V)(lambda a: (a.softmax(over=over), a.logsumexp(over=over))))
        for f in (forth, back):
            line = Runner(f.line).line
            assert [type(step.operation).__name__ for step in line.steps] == ["Exponentials", "Unpack", "Unpack"]
            with np.errstate(all="ignore"):
                found = Runner(f.line).run([a])
                due = BoundLine(f.line, NUMPY, [a])([a])
            for one, other in zip(found, due, strict=True):
                np.testing.assert_array_equal(one, other)
            there = Runner(f.line).run([pytest.importorskip("jax").numpy.asarray(a)])
            for one, other in zip(there, due, strict=True):
                np.testing.assert_allclose(np.asarray(one), other, rtol=1e-6, atol=0)


def test_what_is_found_beside_both() -> None:
    """An argmax along the same axes is none of the two."""
    f: Any = hb.fun(M)(lambda a: (a.logsumexp(), a.softmax(), a.argmax(), a.argsort()))
    for found, due in zip(f(A).leaves, oracle.value(f, A).leaves, strict=True):
        np.testing.assert_allclose(found, due)


def test_a_gradient_has_one_exponential_of_each_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Value and gradient of ln Σ exp share exp(x − max)."""
    exponentials = []
    exp = np.exp

    def counted(x: Any, *args: Any, **options: Any) -> Any:
        exponentials.append(np.size(x))
        return exp(x, *args, **options)

    f = hb.value_and_grad(hb.fun(M)(lambda a: a.logsumexp(over=column).sum()))
    monkeypatch.setattr(np, "exp", counted)
    value, gradient = f(A)
    assert exponentials == [M.dim]
    np.testing.assert_allclose(float(value), np.log(exp(A.array).sum(1)).sum())
    np.testing.assert_allclose(gradient.array, exp(A.array) / exp(A.array).sum(1, keepdims=True))


def test_what_does_not_fit() -> None:
    """A step along axes that are not there, of discrete entries, or of no entries, is refused when it is made."""
    real, empty = Entry("float64"), hb.Fin.of(0)
    for name in (*FOUND, *COMPUTED):
        with pytest.raises(SpaceError, match=rf"{name} along Row3 does not apply at axis 1 of"):
            Along(name, row, 1).image(Leaf(real, (row, column)))
        with pytest.raises(SpaceError, match=rf"{name} along Row3 does not apply at axis 0 of Bool"):
            Along(name, row, 0).image(Leaf(Entry("bool"), (row,)))
    for name in ("argmax", "argmin"):
        with pytest.raises(SpaceError, match=rf"{name} along 0 is not defined: it has no elements"):
            Along(name, empty, 0).image(Leaf(real, (empty,)))
