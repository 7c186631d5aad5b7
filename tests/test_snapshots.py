"""Nothing changes under a function: what became part of one is a snapshot, and what is an argument is viewed.

Each entrance makes a function of what a buffer holds, and gives what it computes; the buffer is then overwritten.
"""

from __future__ import annotations

import pickle
from functools import partial as partially
from typing import TYPE_CHECKING, Any

import array_api_strict as strict
import jax
import numpy as np
import pytest
from jax import numpy as jnp
from scipy.sparse import coo_array, csr_array

import hilbert.all as hb
from diff.lam.term.terms import Lit
from hilbert import R32, Elements, Fin, Labelled, R
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.relation import columns, function, pairs, partial
from hilbert.space.snapshot import snapshot
from linmap.contraction import hadamard, inner
from linmap.relational.weighted import from_scipy, sparse
from linmap.term.nodes import Section
from tests.untyped import each, fold, iterate

if TYPE_CHECKING:
    from collections.abc import Callable

jax.config.update("jax_enable_x64", val=True)

X = Fin.of(3)
V, B = R**X, hb.Boolean() ** X
select: Any = hb.select
w = V.vec([0.5, -1.0, 2.0])
NEW = (0.0, 7.0)
"""What a buffer is overwritten with; both are positions, weights and numbers."""


def traced(body: Callable[[Any, Any], Any]) -> Callable[[Any], Callable[[], Any]]:
    """A traced function with a constant."""

    def entrance(buffer: Any) -> Callable[[], Any]:
        f = hb.fun(V)(lambda x: body(x, V.vec(buffer)))
        return lambda: f(w)

    return entrance


def of_map(made: Callable[[Any], Any]) -> Callable[[Any], Callable[[], Any]]:
    """A map that is made of a buffer, applied."""

    def entrance(buffer: Any) -> Callable[[], Any]:
        f = made(buffer)
        return lambda: f(w)

    return entrance


def composed(f: Any, g: Any) -> Any:
    return f @ g


ENTRANCES: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "const": traced(lambda x, c: hb.const(c) * x),
    "implicit constant": traced(lambda x, c: x * c + c),
    "folded": traced(lambda x, c: hb.const(c) @ x + hb.exp(hb.const(c)).sum()),
    "in a loop": traced(lambda x, c: iterate(lambda y: y * c + hb.sin(c), x, Fin.of(3))),
    "in lanes": traced(lambda x, c: each(lambda k: k * c.sum() + hb.exp(hb.const(c)).sum(), x)),
    "in a fold": traced(lambda x, c: fold(lambda a, k: a * k + c, x, x)),
    "in a branch": traced(lambda x, c: hb.where(x.sum() > 0.0, lambda: x * c, lambda: x)),
    "component": traced(lambda x, c: x * c[1] + c[::-1]),
    "constant map": of_map(lambda a: hb.constant(V.vec(a), V)),
    "section": of_map(lambda a: Section(hadamard(V), 0, V.vec(a))),
    "composed": of_map(lambda a: composed(hb.exp**X, Section(hadamard(V), 1, V.vec(a)))),
    "functional": of_map(lambda a: Section(inner(V), 1, V.vec(a))),
    "formal constant": of_map(lambda a: hb.linear(V.vec(a).tensor(V.vec(a)))),
    "dense tensor": of_map(lambda a: hb.linear((V * V).vec(np.outer([1.0, 2.0, 3.0], a)))),
    "differential at a point": of_map(lambda a: hb.derivative(hb.fun(V)(lambda x: x * hb.exp(x))).at(V.vec(a))),
    "affine interpretation": of_map(lambda a: hb.affine(hb.fun(V)(lambda x: x * x[::-1]), V.vec(a))[1]),
    "adjoint at a point": of_map(lambda a: hb.adjoint(hb.derivative(hb.fun(V)(lambda x: x * x)).at(V.vec(a)))),
    "λ-term": of_map(lambda a: partially(lambda lit, _: lit.value, Lit(V.vec(a)))),
    "sparse": of_map(lambda a: sparse([0, 1, 2], [1, 2, 0], a, X, X)),
    "scipy, csr": of_map(lambda a: from_scipy(csr_array((a, [0, 1, 2], [0, 1, 2, 3])), X, X)),
    "scipy, coo": of_map(lambda a: from_scipy(coo_array((a, ([0, 1, 2], [2, 1, 0]))), X, X)),
    "mask of values": traced(lambda x, c: select(B.vec(c.array > 0.0), x)),
}
"""Functions of buffers of three numbers."""
TABLES: dict[str, Callable[[Any], Any]] = {
    "function": lambda a: hb.red(function(a, X, X)),
    "gather": lambda a: hb.red(function(a, X, X).T),
    "pairs": lambda a: hb.red(pairs(np.stack([a, a], 1), X, X)),
    "columns": lambda a: hb.red(columns(a, a, X, X)),
    "elements": lambda a: hb.fun(V)(lambda x: x[hb.const((Elements(X) ** X).vec(a))]),
    "rows of a matrix": lambda a: sparse(a, a, [1.0, 2.0, 3.0], X, X),
    "labels": lambda a: hb.red(function(Labelled.of(a).at([2, 1, 0]).array, X, X)),
}
"""Maps of buffers of three positions."""


def entries(v: Any) -> Any:
    return np.asarray(to_numpy(v.array)).copy()


@pytest.mark.parametrize("name", ENTRANCES)
@pytest.mark.parametrize("new", NEW)
def test_functions_hold_snapshots(name: str, new: float) -> None:
    """f(w) is bit for bit what it was, whether or not f ran before the buffer changed."""
    buffer = 1.0 + np.random.default_rng(len(name)).random(3)
    due = entries(ENTRANCES[name](buffer.copy())())
    ran, fresh = ENTRANCES[name](buffer), ENTRANCES[name](buffer)
    ran()
    buffer[:] = new
    assert entries(ran()).tobytes() == entries(fresh()).tobytes() == due.tobytes()


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_copied(name: str) -> None:
    """Positions, masks and labels stay what was checked."""
    buffer = np.array([0, 2, 1])
    f = TABLES[name](buffer)
    due = entries(f(w))
    buffer[:] = 1
    assert entries(f(w)).tolist() == due.tolist()


def test_masks_are_copied() -> None:
    """`partial` and truth values."""
    keep = np.array([True, False, True])
    f, c = hb.red(partial(keep, X)), B.vec(keep)
    g = hb.fun(V)(lambda x: select(c, x))
    keep[:] = True
    assert f(w).array.tolist() == g(w).array.tolist() == [0.5, 0.0, 2.0]


def test_arguments_are_viewed() -> None:
    """A call reads what is there, also where the vector has become a constant elsewhere."""
    buffer = np.ones(3)
    v = V.vec(buffer)
    f = hb.fun(V)(lambda x: hb.const(v) @ x)
    buffer[:] = 2.0
    assert float(f(v)) == 6.0
    assert v.array.tolist() == [2.0, 2.0, 2.0]
    assert float(hb.fun(V)(lambda x: hb.const(v) @ x)(v)) == 12.0  # entered when the buffer held twos


@pytest.mark.parametrize("like", [np.ones(3), strict.ones(3), np.broadcast_to(np.ones(1), 3), np.ones((3, 2)).T[0]])
def test_one_copy_for_ten_functions(like: Any) -> None:
    """All hold the arrays of one snapshot, and are equal."""
    v = V.vec(like)
    maps = [Section(hadamard(V), 0, v) for _ in range(10)]
    assert len({id(f.datum.leaves[0]) for f in maps}) == 1
    assert maps[0].datum.leaves[0] is not v.leaves[0]
    assert all(f == maps[0] for f in maps)
    assert snapshot(snapshot(v)) is snapshot(v) == v


def test_equal_means_equal_entries() -> None:
    """A snapshot of what was written since is another constant; NaN and −0 are entries as others."""
    buffer = np.array([np.nan, -0.0, 1.0])
    v = V.vec(buffer)
    f = Section(hadamard(V), 0, v)
    assert Section(hadamard(V), 0, v) == f == pickle.loads(pickle.dumps(f))
    buffer[1] = 0.0
    assert Section(hadamard(V), 0, v) != f
    own: Any = hb.register("the argument itself", lambda _, x: x, lambda _, y: 0.0 * y + 1.0)
    yes = (hb.Bool**V.index).vec([True] * 3)
    for body in (
        lambda x: x * x,
        hb.sin,
        lambda x: hb.stop_gradient(x) * hb.sin(x),
        lambda x: hb.sin(hb.square(own(x))) * own(x),
        lambda x: hb.select(yes, x) * hb.sin(x),
        lambda x: hb.select(x.sum() > -9.0, x) * hb.sin(x),
    ):  # data are the point, new arrays, and views of the point
        g = hb.fun(V)(body)
        D, buffer[1] = hb.derivative(g), 0.0
        before: Any = D.at(v)
        assert D.at(v) == before == pickle.loads(pickle.dumps(before)) == hb.affine(g, v)[1]
        assert not any(np.shares_memory(a, buffer) for a in before.data.arrays)
        buffer[1] = 2.0
        assert D.at(v) != before
        assert before(V.ones()).array[1] == D.at(V.vec([1.0, 0.0, 1.0]))(V.ones()).array[1]


def test_large_vectors_are_compared_too() -> None:
    """Bit by bit, strided ones as well."""
    U, table = R ** Fin.of(10_000), np.zeros((10_000, 2))
    v = U.vec(table[:, 1])
    first = snapshot(v)
    assert snapshot(v) is first
    table[:, 0] = 1.0  # beside it
    assert snapshot(v) is first
    table[9999, 1] = -0.0
    assert snapshot(v) is not first


FIXED: dict[str, Callable[[], Any]] = {
    "a list": lambda: V.vec([1.0, 2.0, 3.0]),
    "converted": lambda: V.vec(np.array([1, 2, 3])),
    "zeros": V.zeros,
    "ones": V.ones,
    "random": lambda: V.random(np.random.default_rng(0)),
    "of a basis": lambda: next(V.basis()),
    "computed": lambda: w + w,
    "a value": lambda: hb.exp(w),
    "bytes": lambda: V.vec(np.frombuffer(bytes(24))),
    "a view of bytes": lambda: V.vec(np.frombuffer(memoryview(bytes(24)))),
    "JAX": lambda: (R32**X).vec(jnp.ones(3, "float32")),
    "a part": lambda: V.vec([1.0, 2.0, 3.0])[1:],
    "integers": lambda: (hb.Integers() ** X).vec(np.array([1, 2, 3])),
}


@pytest.mark.parametrize("name", FIXED)
def test_what_nobody_writes_into_is_not_copied(name: str) -> None:
    """No owner of the memory is writeable."""
    v = FIXED[name]()
    assert snapshot(v) is v


def test_a_view_of_a_writeable_owner_is_copied() -> None:
    """A read-only view tells nothing: somewhere in its chain of `.base` someone can write."""
    for owner in (np.ones(6), np.frombuffer(bytearray(48))):
        view = owner[::2]
        view.flags.writeable = False
        windows = np.lib.stride_tricks.sliding_window_view(owner, 3)[1]
        for a in (view, windows):
            v = V.vec(a)
            assert not np.shares_memory(snapshot(v).array, owner)
    memory: Any
    for memory in (np.ones(3), bytearray(24)):
        shown = np.frombuffer(memoryview(memory).toreadonly())
        assert not np.shares_memory(snapshot(V.vec(shown)).array, shown)
    repeated = snapshot((R ** Fin.of(1_000)).vec(np.broadcast_to(np.ones(1), 1_000))).array
    assert repeated.strides == (0,)  # one number is stored


def test_a_vector_enters_a_trace_once() -> None:
    """What changes while a function is traced does not enter by halves."""
    buffer = np.ones(3)
    v = V.vec(buffer)

    def body(x: Any) -> Any:
        y = x * v
        buffer[:] = 5.0
        return y + v

    assert hb.fun(V)(body)(w).array.tolist() == [1.5, 0.0, 3.0]
