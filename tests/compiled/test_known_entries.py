"""Entries that are numbers, entries that nobody reads, and arrays in pieces: the outputs stay, the work goes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import hilbert.all as hb
from benchmarks.peers.arrays import bundle, mixture
from diff.terms.lower import planned
from hilbert import Fin
from hilbert.compiled.lower.assembled import assemblies
from hilbert.compiled.machine.compiled_line import CompiledLine
from hilbert.compiled.merge.known_entries import settled
from hilbert.compiled.tree.places import Place, Variable
from hilbert.compiled.tree.statements import For, If, Store, inside
from hilbert.index.leaf import Entry, Leaf
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Add, Reduce
from hilbert.program.run.run import Runner
from hilbert.relation import Inclusion, function
from tests.compiled.test_merging import Case, J, N, i, loop, same

K = Variable("k", 2)
k = Place.of(K)


def kept(c: Case, *statements: For | Store | If) -> list[Any]:
    """The statements that are left, which leave the same."""
    due = c.left([statements])
    made = settled(c.to.pool, [*statements])
    assert same(due, c.left([made]))
    return made


def stores(statements: list[Any]) -> list[Store]:
    """All stores."""
    return [s for s in inside(statements) if isinstance(s, Store)]


def test_zeros_of_a_matrix_are_gone() -> None:
    """Of a column that is 0 no product is left, and nobody stores it."""
    c = Case()
    a, y = c.buffer(N, 2, is_output=False), c.buffer(N)
    filled = [c.put(a, i, 0, value=c.to.number(0.0, "float64")), c.put(a, i, 1, value=c.at(c.x, i))]
    (store,) = stores(
        kept(c, *map(loop, filled), loop(c.put(y, i, value=c.at(a, i, 0) * c.at(c.y, i) + c.at(a, i, 1))))
    )[1:]
    assert store.value is c.at(a, i, 1)


@pytest.mark.parametrize("of", ["two numbers", "a total", "a variable place", "a later round", "an output"])
def test_entries_that_vary(of: str) -> None:
    """An entry is no number if another one is stored, too, or put to it; outputs are stored whatever they are."""
    c = Case()
    a, y = c.buffer(2, N, is_output=of == "an output"), c.buffer(N)
    two = c.to.number(2.0, "float64")
    more = {
        "two numbers": [loop(c.put(a, 0, i, value=two))],
        "a total": [loop(c.put(a, 0, i, value=two, monoid="add"))],
        "a variable place": [For(K, [loop(c.put(a, k, i, value=c.at(c.x, i)))])],
    }.get(of, [])
    read = c.put(y, i, value=c.at(a, 0, i) + c.at(c.x, i))
    again = [c.put(a, 0, i, value=c.at(y, i))] if of == "a later round" else []
    begin = loop(c.put(a, 0, i, value=c.to.number(0.0, "float64")))
    made = kept(c, begin, *more, For(J, [loop(read, *again)], rounds=True))
    assert c.at(a, 0, i) in read.value.values
    assert stores(made)[0].buffer is a


def test_what_a_branch_asks_is_stored() -> None:
    """Conditions read entries; a loop or a branch without statements is gone."""
    c = Case()
    a, b, y = c.buffer(is_output=False), c.buffer(N, is_output=False), c.buffer(N)
    ask = c.at(a).compared("gt", 0.0)
    branch = If(ask, [loop(c.put(y, i, value=c.at(c.x, i)))], [loop(c.put(b, i, value=c.at(c.x, i)))])
    made = settled(c.to.pool, [c.put(a, value=c.at(c.x, 0)), branch, If(ask, [c.put(b, 0, value=c.at(c.y, 0))], [])])
    assert [type(s) for s in made] == [Store, If]
    assert made[1] is branch
    assert not branch.otherwise


@pytest.mark.parametrize("seed", range(40))
def test_statements_at_random(seed: int) -> None:
    """Numbers, totals and sums stored at numbered entries of rows, in loops over two variables."""
    rng = np.random.default_rng(seed)
    c = Case()
    own = [c.buffer(N, 3, is_output=bool(k)) for k in (0, 0, 0, 1)]
    numbers = [c.to.number(x, "float64") for x in (0.0, 0.0, 1.0, 2.0)]
    begin = [loop(*(c.put(b, i, k, value=numbers[rng.integers(4)]) for b in own for k in range(3)))]
    for _ in range(int(rng.integers(4, 16))):

        def entry() -> tuple[Any, Any, int]:
            return own[rng.integers(4)], i if rng.random() < 0.9 else i * -1 + (N - 1), int(rng.integers(3))

        value = numbers[rng.integers(4)] if rng.random() < 0.3 else c.at(*entry()) * c.at(*entry()) + c.at(c.x, i)
        begin.append(loop(c.put(*entry(), value=value, monoid="add" if rng.random() < 0.3 else None)))
    kept(c, *begin)


# --- programs ---


@pytest.mark.parametrize(("d", "k", "n", "words"), [(10, 12, 400, 1), (10, 12, 401, 1), (20, 25, 400, 5 * 20)])
def test_mixtures(d: int, k: int, n: int, words: int) -> None:
    """The docs' mixture keeps less than so many numbers for each point and component.

    With few coordinates they are all in one loop, for two points at once if their number is even; with many there are
    products of matrices for each component, which are made one after the other.
    """
    f = mixture.example(mixture.drawn(d, k, n))
    line = planned(hb.grad(f, 0)).line
    made = CompiledLine(line)
    given = [np.asarray(a) for a in f.dom.random(np.random.default_rng(0), scale=0.3).leaves]
    for found, due in zip(made(given), Runner(line).run(given), strict=True):
        assert np.allclose(found, due, rtol=1e-10, atol=1e-10)
    assert made.report.bytes < words * n * k * 8


@pytest.mark.parametrize("is_moved", [True, False])
@pytest.mark.parametrize("of", ["pieces", "a gap", "pieces that overlap", "a piece twice", "one read elsewhere"])
def test_a_sum_of_pieces(of: str, *, is_moved: bool) -> None:
    """Pieces that fill an array are stored at their places; others are added up."""
    starts = {"a gap": (0, 8), "pieces that overlap": (0, 5)}.get(of, (0, 6))
    leaves = [Leaf(Entry("float64"), axes) for axes in [(Fin.of(2), Fin.of(3)), (Fin.of(4),)]]
    whole = Fin.of(12 if of == "a gap" else 10)
    b = Builder(leaves)
    first, second = (
        b.step(Reduce(Inclusion(axes, whole, start, 1), 0), (slot,))
        for slot, (axes, start) in enumerate(zip((Fin.of(2) * Fin.of(3), Fin.of(4)), starts, strict=True))
    )
    total = b.step(Add(), (first, first if of == "a piece twice" else second))
    order = function(np.random.default_rng(0).permutation(whole.size), whole, whole)
    made = b.step(Reduce(order.T, 0), (total,)) if is_moved else total
    line = b.line([made, second] if of == "one read elsewhere" else [made])
    assert bool(assemblies(line)[0]) == (of == "pieces")
    given = [np.arange(1.0, 7.0).reshape(2, 3), np.arange(7.0, 11.0)]
    for found, due in zip(CompiledLine(line)(given), Runner(line).run(given), strict=True):
        assert np.array_equal(found, due)


def test_entries_read_twice_are_no_pieces() -> None:
    """A table that is no permutation reads an array that is stored."""
    n, leaf = Fin.of(4), Leaf(Entry("float64"), (Fin.of(2),))
    b = Builder([leaf, leaf])
    first, second = (b.step(Reduce(Inclusion(Fin.of(2), n, 2 * slot, 1), 0), (slot,)) for slot in range(2))
    total = b.step(Add(), (first, second))
    line = b.line([b.step(Reduce(function(np.array([3, 0, 3, 1]), n, n).T, 0), (total,))])
    (found,) = CompiledLine(line)([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    assert np.array_equal(found, [4.0, 1.0, 4.0, 2.0])


def test_the_jacobian_of_bundle_adjustment_has_no_workspace() -> None:
    """The entries of a CSR matrix are stored at their places as they are computed."""
    p = hb.jacobian_program(bundle.residuals(bundle.drawn(7, 40, 333)), as_="sparse")
    assert CompiledLine(planned(p).line, level=0).report.bytes == 0
