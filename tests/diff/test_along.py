"""Steps along axes go through every pass: text, repr, pickle, equality, point-free form, Jacobians, cost, structure."""

import pickle
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from hilbert.arrays.libraries import NUMPY
from hilbert.leaf import Entry, Leaf
from hilbert.program.bind import BoundLine
from hilbert.program.operation import COMPUTED, FOUND, Along, Literal
from hilbert.program.run import Runner
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
    """Value and gradient of the mean of ln Σ exp z − z_y, 64×10: nine steps run."""
    batch, label = hb.Fin.of(64), hb.Fin.of(10)
    loss = hb.fun(hb.R**label, hb.Elements(label))(lambda z, y: z.logsumexp() - z[y])
    each = hb.lift(loss, batch, over=(0, 1))
    f = hb.fun.over(each.dom)(lambda z, y: each(z, y).mean())
    line = Runner(hb.planned(hb.value_and_grad(f, 0)).line).line
    assert len([step for step in line.steps if not isinstance(step.operation, Literal)]) <= 9


@pytest.mark.parametrize("field", [hb.R, hb.R32])
@pytest.mark.parametrize("at", [0, 1])
def test_softmax_beside_its_sum(field: hb.Field, at: Any) -> None:
    """softmax x from x and ln Σ exp x: the same to the last digits for large entries and infinite ones."""
    space = field ** (hb.Fin.of(4) * hb.Fin.of(4))
    f: Any = hb.program(hb.fun(space)(lambda a: (a.logsumexp(over=at), a.softmax(over=at))))
    rows = [[1e4, 1e4 - 1, -3.0, 0.5], [-np.inf] * 4, [np.inf, 1.0, 2.0, 3.0], [-np.inf, 0.0, 3.0, np.nan]]
    a = np.array(rows if at else np.transpose(rows), space.leaves[0].dtype)
    line = Runner(f.line).line
    assert [type(step.operation).__name__ for step in line.steps] == ["Along", "SoftmaxBeside"]
    with np.errstate(invalid="ignore", divide="ignore"):
        total, parts = Runner(f.line).run([a])
        due = BoundLine(f.line, NUMPY, [a])([a])
    eps = np.finfo(a.dtype).eps
    np.testing.assert_array_equal(total, due[0])
    np.testing.assert_allclose(parts, due[1], rtol=4 * eps, atol=0)
    there = Runner(f.line).run([pytest.importorskip("jax").numpy.asarray(a)])
    np.testing.assert_allclose(np.asarray(there[1]), due[1], rtol=1e-6, atol=0)
    backwards: Any = hb.program(hb.fun(space)(lambda a: (a.softmax(over=at), a.logsumexp(over=at))))
    assert [type(step.operation).__name__ for step in Runner(backwards.line).line.steps] == ["Along", "Along"]


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
