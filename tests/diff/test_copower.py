"""f^X is f on every element of X, and lift(f, X) is f on every element with its other arguments shared."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings

import hilbert.all as hb
from diff import derivative, fun, lift, program, tanh
from hilbert import DirectSum, Fin, R, Vec
from tests.function_terms import function, traced
from tests.strategies import Source, close, elements, gathered, sources


@settings(max_examples=150)
@given(sources(smooth=True))
def test_element_by_element(s: Source) -> None:
    """(f^X v)_x = f(v_x), and ((f^X)^Y v)_yx = f(v_yx)."""
    f = function(s)
    note(f)
    g = f ** s.index(3)
    h = g ** s.index(3)
    v, w = s.vector(g.dom), s.vector(h.dom)
    assert close(g(v), gathered(g.cod, [f(part) for part in elements(v)]))
    rows = [gathered(g.cod, [f(part) for part in elements(row)]) for row in elements(w)]
    assert close(h(w), gathered(h.cod, rows))


def on_lane(f: Any, x: Vec[Any], over: tuple[int, ...], lane: int) -> Vec[Any]:
    """f with element `lane` of the arguments that vary and all of the others."""
    parts = [elements(x[k])[lane] if k in over else x[k] for k in range(len(f.dom.parts))]
    value: Vec[Any] = f(*parts) if len(parts) > 1 else f(f.dom.vec((parts[0].array,)))
    return value


@settings(max_examples=150)
@given(sources(smooth=True))
def test_shared_arguments(s: Source) -> None:
    """lift(f, X, over=…)(a, b)_x = f(a, b_x), for any choice of the arguments that vary."""
    f = traced(s, several=True)
    note(f)
    n = len(f.dom.parts)
    over = tuple(k for k in range(n) if s.flag()) or (n - 1,)
    X = s.index(3)
    g = lift(f, X, over=over)
    x = s.vector(g.dom)
    assert close(g(x), gathered(g.cod, [on_lane(f, x, over, lane) for lane in range(X.size)]))


@given(sources(smooth=True))
def test_lifting_a_lifted_function(s: Source) -> None:
    """lift(lift(f, X), Y) = lift of f over Y and X: the same parameters for every element of both."""
    f = traced(s, several=True)
    note(f)
    last = len(f.dom.parts) - 1
    X, Y = s.index(3), s.index(3)
    inner = lift(f, X, over=(last,))
    g = lift(inner, Y, over=(last,))
    x = s.vector(g.dom)
    assert close(g(x), gathered(g.cod, [on_lane(inner, x, (last,), lane) for lane in range(Y.size)]))


@given(sources(smooth=True))
def test_everything_varies(s: Source) -> None:
    """lift over all positions is f^X, up to zip."""
    f = traced(s, several=True)
    X = s.index(3)
    g = lift(f, X, over=range(len(f.dom.parts)))
    x = s.vector((f**X).dom)
    assert isinstance(g.dom, DirectSum)
    assert close(g(g.dom.vec(x.array)), (f**X)(x))


@given(sources(smooth=True))
def test_size_does_not_depend_on_the_index_set(s: Source) -> None:
    """f^X, its derivative and its adjoint have as many steps for |X| = 300 as for |X| = 3: there is no loop over X."""
    f = function(s)
    note(f)
    sizes = []
    for n in (3, 300):
        p = program(f ** Fin.of(n))
        d = derivative(f ** Fin.of(n))
        sizes.append((len(p.line.steps), len(p.steps), len(d.program.steps), len(d.body.arcs)))
    assert sizes[0] == sizes[1]


def test_a_lifted_layer_has_the_steps_of_the_layer() -> None:
    """map tanh (W⋆x + b) over a batch is a contraction, a replication, a sum and a tanh; its derivative shares W."""
    X, Y, batch = Fin.of(5), Fin.of(4), Fin.of(7)
    layer = fun(R ** (Y * X), R**X, R**Y)(lambda W, x, b: tanh(W @ x + b))
    lifted = lift(layer, batch, over=(1,))
    assert len(program(layer).steps) == 3
    assert len(program(lifted).steps) == 4
    largest = max(leaf.size for leaf in derivative(lifted).program.slots)
    assert largest == batch.size * X.size


class Down:
    """Rows."""


class Across:
    """Columns."""


DOWN, ACROSS = hb.Fin(Down, 3), hb.Fin(Across, 4)


@pytest.mark.parametrize(
    "f",
    [
        hb.fun(hb.R**ACROSS)(lambda v: hb.sin(v) * v.sum()),
        hb.cumsum(ACROSS),
        hb.total(ACROSS),
        hb.differences(ACROSS),
        hb.identity(hb.R**ACROSS),
    ],
    ids=["function", "cumsum", "total", "differences", "identity"],
)
def test_what_is_lifted_takes_tables(f: Any) -> None:
    """A table in each of its three forms, also in a traced function; what does not fit is refused."""
    family = (hb.R**ACROSS) ** DOWN
    table, tensor = hb.R ** (DOWN * ACROSS), hb.TensorProduct(hb.R**DOWN, hb.R**ACROSS)
    entries = np.random.default_rng(0).normal(size=(3, 4))
    lifted = f**DOWN
    due = np.stack([f((hb.R**ACROSS).vec(row)).array for row in entries])
    np.testing.assert_allclose(lifted(family.vec(entries)).array, due, rtol=1e-14)
    for V in (table, tensor):
        np.testing.assert_allclose(lifted(V.vec(entries)).array, due, rtol=1e-14)
        np.testing.assert_allclose(hb.fun(V)(lambda a: 2.0 * lifted(a))(V.vec(entries)).array, 2.0 * due, rtol=1e-14)
    if due.ndim == 2:
        assert lifted(table.vec(entries)).space == hb.R ** (DOWN * lifted.cod.base.index)
    with pytest.raises(hb.SpaceError, match="is due"):
        lifted((hb.R ** (ACROSS * DOWN)).vec(entries.T))


def test_a_table_over_another_set_is_refused() -> None:
    """Rows of the right space over another set, and a tensor that splits the axes elsewhere, are no tables."""
    row, other = hb.R**ACROSS, Fin.of(5)
    f: Any = hb.fun(row)(lambda v: 2.0 * v)
    with pytest.raises(hb.SpaceError, match="is due"):
        (f**DOWN)((row**other).ones())
    split = hb.TensorProduct(hb.R**other, hb.R ** (DOWN * ACROSS))
    with pytest.raises(hb.SpaceError, match="is due"):
        (f ** (other * DOWN))(split.ones())
