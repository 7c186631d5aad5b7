"""Labelled products: what brings one into another form keeps the array that it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from attrs import evolve
from hypothesis import given, note, settings
from hypothesis import strategies as st

from diff import Expr, derivative, fun, solve, tanh
from hilbert import Fin, R
from hilbert.index.leaf import Entry, Leaf
from hilbert.relation import band, equality, pairs
from linmap import matrix
from linmap.matrices.labelled.contractor import Contractor
from linmap.matrices.labelled.labelled_products import LabelTable, Link, NetworkFactor, NetworkProduct, uses
from linmap.matrices.network.sum_simplification import listed, settled, tidied
from linmap.matrices.network.to_arrays import contracted, whole
from linmap.matrices.tables.flat_products import by_scattered
from linmap.matrices.tables.tables import tabled
from linmap.term.datum import Ref

REAL = Entry("float64")


def _listed(factor: NetworkFactor | None) -> tuple[NetworkFactor, ...]:
    return () if factor is None else (factor,)


FORMS: dict[str, Callable[[Contractor, NetworkProduct], list[NetworkProduct]]] = {
    "tabled": lambda n, p: [tabled(n, p, ())],
    "tabled in full": lambda n, p: [tabled(n, p, p.open, full=True)],
    "listed": lambda n, p: [listed(n, p)],
    "tidied": lambda n, p: [tidied(n, p)],
    "tidied, listed": lambda n, p: [tidied(n, p, long=True)],
    "contracted": lambda n, p: [contracted(n, p)],
    "scattered": lambda n, p: [evolve(p, factors=_listed(by_scattered(n, p)), links=(), tables=())],
    "whole": lambda n, p: [whole(n, [p])],
    "settled": lambda n, p: settled(n, [p, p], one=True),
}
"""What brings a product into others with the same sum; the last one adds it to itself."""


def relation(dom: Fin[Any], cod: Fin[Any], kind: int) -> Any:
    """A relation between two sets: one of pairs, or a named one where they are equal."""
    if dom == cod and kind:
        return equality(dom) if kind == 1 else band(dom, 1, 0)
    some = [(i, j) for i in range(dom.size) for j in range(cod.size) if (i * 3 + j * 5 + kind) % 3]
    return pairs(some, dom, cod)


@st.composite
def products(draw: st.DrawFn) -> tuple[Contractor, NetworkProduct, list[npt.NDArray[np.float64]]]:
    """A product of some factors, relations and tables, and the arrays of its data; the second factor is known."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=4, max_size=6))
    axes = [Fin.of(size) for size in sizes]
    names = st.integers(0, len(sizes) - 1)
    sides = draw(st.lists(st.lists(names, min_size=1, max_size=2, unique=True), min_size=1, max_size=5))
    seed = np.random.default_rng(draw(st.integers(0, 9)))
    leaves = [Leaf(REAL, tuple(axes[c] for c in side)) for side in sides]
    data = [seed.integers(1, 5, leaf.shape).astype(float) for leaf in leaves]
    n = Contractor([Ref(k, leaf) for k, leaf in enumerate(leaves)], REAL)
    for axis in axes:
        n.label(axis)
    factors = [NetworkFactor(k, tuple(side)) for k, side in enumerate(sides)]
    if draw(st.booleans()) and len(factors) > 1:
        factors[1] = n.constant(data[1], factors[1].labels)
    ends = draw(st.lists(st.tuples(names, names, st.integers(0, 2)).filter(lambda e: e[0] != e[1]), max_size=3))
    links = tuple(Link(relation(axes[a], axes[b], kind), (a,), (b,)) for a, b, kind in ends)
    tables = []
    for labels in draw(st.lists(st.lists(names, min_size=1, max_size=2, unique=True), max_size=3)):
        rows = sorted({tuple(int(seed.integers(sizes[c])) for c in labels) for _ in range(4)})
        columns = tuple(np.array([r[i] for r in rows]) for i in range(len(labels)))
        tables.append(LabelTable(n.label(Fin.of(len(rows))), tuple(labels), columns))
    used = sorted(uses(factors, links, tables))
    opened = draw(st.lists(st.sampled_from(used), max_size=3, unique=True))
    cut = draw(st.integers(0, len(opened)))
    inp = opened[cut:] + draw(st.lists(st.sampled_from(opened[:cut]), max_size=1) if cut else st.just([]))
    p = NetworkProduct(2.0, tuple(factors), links, tuple(opened[:cut]), tuple(inp), tuple(tables))
    return n, p, data


def dense(n: Contractor, p: NetworkProduct, data: list[npt.NDArray[np.float64]]) -> npt.NDArray[np.float64]:
    """The matrix of a product, along the labels of its output and its input: one sum over all labels."""
    arrays = n.runner([f.slot for f in p.factors]).run(data)
    operands: list[Any] = [np.array(p.k), []]
    for f, array in zip(p.factors, arrays, strict=True):
        operands += [array, list(f.labels)]
    for link in p.links:
        pattern = np.zeros((link.relation.dom.size, link.relation.cod.size))
        pattern[link.relation.holds()] = 1.0
        operands += [pattern.reshape([n.sizes[c] for c in link.labels]), list(link.labels)]
    for t in p.tables:
        pattern = np.zeros((t.count, *(n.sizes[c] for c in t.labels)))
        pattern[(np.arange(t.count), *t.columns)] = 1.0
        operands += [pattern, [t.row, *t.labels]]
    ends = [len(n.sizes) + k for k in range(len(p.out + p.inp))]
    for c, end in zip(p.out + p.inp, ends, strict=True):
        operands += [np.eye(n.sizes[c]), [c, end]]
    names = {c: k for k, c in enumerate(dict.fromkeys(c for side in operands[1::2] for c in side))}
    operands[1::2] = [[names[c] for c in side] for side in operands[1::2]]
    made: npt.NDArray[np.float64] = np.einsum(*operands, [names[c] for c in ends])
    return made


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=150)
@given(drawn=products())
def test_forms_of_a_product(form: str, drawn: tuple[Contractor, NetworkProduct, list[npt.NDArray[np.float64]]]) -> None:
    """Tables joined, relations listed, factors contracted: each form of a product is the same array."""
    n, p, data = drawn
    note(str(p))
    due = dense(n, p, data) * (2.0 if form == "settled" else 1.0)
    made = FORMS[form](n, p)
    note(str(made))
    np.testing.assert_allclose(sum((dense(n, q, data) for q in made), 0 * due), due, rtol=1e-12)


def test_a_label_between_factors_of_two_tables() -> None:
    """What two factors share is summed once, though each is read into a table of its own.

    The Jacobian of an entry of a system, in the diagonal of the right side of the system that makes its matrix.
    """
    X = Fin.of(3)
    V, M = R**X, R ** (X * X)
    rng = np.random.default_rng(0)
    a = M.vec(np.eye(3) * 2 + 0.3 * rng.normal(size=(3, 3)))
    c = M.vec(rng.normal(size=(3, 3)))

    def entry(v: Expr[Any]) -> Expr[Any]:
        inner = solve(a, v.diag())
        return solve(a + 0.5 * tanh(inner), c)[2, 1]

    at = derivative(fun(V)(entry)).at(V.vec(rng.normal(size=3)))
    due = [at(e).array for e in V.basis()]
    np.testing.assert_allclose(matrix(at, "sparse").toarray()[0], due, rtol=1e-12)
