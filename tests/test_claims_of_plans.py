"""What is kept between calls and overwritten in them: plans, patterns and memory of one call are right for others."""

from __future__ import annotations

import pickle
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from diff import const, cos, derivative, exp, fun, iterate, log, planned, program, sin
from hilbert import Elements, Fin, R, SpaceError
from hilbert.arrays.libraries.array_api import ArrayAPI
from hilbert.base.once import cached_property
from hilbert.program.planning.multiplications import multiplications
from hilbert.relation import columns, function, partial
from hilbert.relation.function_forms import reversal
from linmap import compose, cost, crop, cumsum, flip, fork, gather, identity, matrix, pad, red, section, segment_sum
from linmap.contraction import hadamard
from linmap.matrices.made.dense import chosen
from linmap.matrices.made.matrix_plans import data_of, sparse_plan
from linmap.matrices.network.arc_products import ArcProducts
from linmap.matrices.network.elimination import ArcsLeft, eliminated
from linmap.matrices.network.network import Network
from linmap.matrices.structure.structure import body_of

RNG = np.random.default_rng(0)
LONG = Fin.of(5000)
"""Arrays of so many entries are overwritten where they die."""

# --- memory ---


def flipped_first(x: Any) -> Any:
    """A view of u is read after u was last read."""
    u = cos(x)
    return flip(LONG)(u) * exp(u)


def flipped_last(x: Any) -> Any:
    """The same in the other order."""
    u = cos(x)
    return exp(u) * flip(LONG)(u)


def read_between(x: Any) -> Any:
    """A view of u is read before and after u was last read."""
    u = cos(x)
    v = flip(LONG)(u)
    return exp(u) * sin(v) + v


def cropped(x: Any) -> Any:
    """A view of a part of u is read after u was last read."""
    u = cos(x)
    part = crop(LONG, 0, 10)(u)
    return (part, exp(u).sum())


@pytest.mark.parametrize("body", [flipped_first, flipped_last, read_between, cropped])
def test_an_array_is_not_overwritten_while_a_view_of_it_is_read(body: Any) -> None:
    """In long arrays as entry by entry, where nothing is overwritten."""
    x = (R**LONG).random(RNG)
    u = np.cos(x.array)
    v = u[::-1]
    due = {
        flipped_first: (v * np.exp(u),),
        flipped_last: (v * np.exp(u),),
        read_between: (np.exp(u) * np.sin(v) + v,),
        cropped: (u[:10], np.exp(u).sum()),
    }[body]
    for found, other in zip(fun(R**LONG)(body)(x).leaves, due, strict=True):
        np.testing.assert_allclose(found, other)


@pytest.mark.parametrize("view", [flip(LONG), crop(LONG, 1, None), crop(LONG, None, None, step=-2)], ids=str)
def test_a_view_of_an_argument_is_not_overwritten(view: Any) -> None:
    """The argument, which a caller may keep, stays."""
    x = (R**LONG).random(RNG)
    before = x.array.copy()
    found = fun(R**LONG)(lambda x: sin(view(x)))(x)
    np.testing.assert_allclose(found.array, np.sin(view(x).array))
    assert np.array_equal(x.array, before)


class Writable(np.ndarray[Any, Any]):
    """An array of a library whose arrays can be written into, always."""


class WritableArrays(ArrayAPI):
    """Its library: results that others see are copied."""

    @classmethod
    def owns(cls, array: Any) -> bool:
        """Writable arrays."""
        return isinstance(array, Writable)

    def copied(self) -> Any:
        """By the array's own method."""
        return lambda array: array.copy()


def test_a_result_that_is_given_twice_is_two_arrays() -> None:
    """Where arrays can be written into, no result shares memory with another, nor with an argument."""
    x = np.arange(4.0).view(Writable)

    def body(x: Any) -> Any:
        u = sin(x)
        return (u, u, x)

    f = fun(R ** Fin.of(4))(body)
    one, other, same = f(f.dom.vec(x)).leaves
    assert type(one) is type(other) is Writable
    assert not np.shares_memory(one, other)
    assert not np.shares_memory(same, x)


def test_results_that_are_made_early_and_read_late_are_made_late() -> None:
    """Twelve rotations that are added up one after the other: two or three arrays at once, not twelve."""
    X = Fin.of(10**5)

    def body(x: Any) -> Any:
        parts = [x.roll(k + 1) for k in range(12)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    f, v = fun(R**X)(body), (R**X).ones()
    f(v)
    tracemalloc.start()
    f(v)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * 10**5


# --- what is kept ---


def test_a_product_with_a_sparse_matrix_is_kept_for_both_tables() -> None:
    """Two gathers of one size before one segment sum: each has its own pattern."""
    edges, nodes, sums = Fin.of(9000), Fin.of(500), Fin.of(600)
    targets = function(np.sort(RNG.integers(0, 600, 9000)), edges, sums)
    w, v = (R**edges).random(RNG), (R**nodes).random(RNG)

    def check(sources: Any) -> None:
        f = fun(w.space, v.space)(lambda w, v: segment_sum(targets)(w * gather(sources)(v)))
        due = np.bincount(targets.positions.array, w.array * v.array[sources.positions.array], 600)
        np.testing.assert_allclose(f(w, v).array, due)

    check(function(RNG.integers(0, 500, 9000), edges, nodes))
    check(function(RNG.integers(0, 500, 9000), edges, nodes))


def test_a_plan_at_elements_is_kept_for_their_values_in_their_order() -> None:
    """The same elements in another order have another plan; at other points with the same it is the same object."""
    X, Q = Fin.of(4), Fin.of(3)
    f = derivative(fun(R**X, Elements(X) ** Q)(lambda v, i: sin(v[i])))
    plans = []
    for positions in ([0, 1, 3], [3, 1, 0], [1, 0, 3]):
        for v in ((R**X).zeros(), (R**X).ones()):
            at = f.at(v, (Elements(X) ** Q).vec(positions))
            due = np.cos(v.array)[positions, None] * np.eye(4)[positions]
            np.testing.assert_allclose(matrix(at, "sparse").toarray(), due)
            plans.append(sparse_plan(body_of(at, "matrix"), None, data_of(at, "matrix")))
    assert plans[0] is plans[1] is not plans[2]


def test_a_property_that_all_threads_compute_at_once_is_one_object() -> None:
    """Eight threads compute it before any has kept it; all get what the first one kept."""
    inside = threading.Barrier(8, timeout=10)

    class Holder:
        """Something with a property."""

        @cached_property
        def fact(self) -> object:
            """A new object, when all are here."""
            inside.wait()
            return object()

    holder = Holder()
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: holder.fact, range(8)))
    assert found == {holder.fact}


# --- what is planned ---


def test_a_chain_that_is_worth_another_order_is_planned_beside_a_small_one() -> None:
    """(AB)x of matrices 2×100 stays as written; that of matrices 100×100 does not, whichever comes first."""
    small = (R ** (Fin.of(2) * Fin.of(100)), R ** (Fin.of(100) * Fin.of(2)), R ** Fin.of(2))
    large = (R ** (Fin.of(100) * Fin.of(100)), R ** (Fin.of(100) * Fin.of(100)), R ** Fin.of(100))
    flops = []
    for spaces in ((*large, *small), (*small, *large)):
        found: Any = cost(fun(*spaces)(lambda a, b, x, A, B, y: (a @ b @ x, A @ B @ y)))
        assert found.run.flops < found.written.flops / 10
        flops.append(found.run.flops)
    assert flops[0] == flops[1]


def test_steps_around_a_chain_in_another_order_keep_their_lines() -> None:
    """What numpy raises names the line of the step, also where others of the program were put in another order."""
    M, V = R ** (Fin.of(30) * Fin.of(30)), R ** Fin.of(30)

    def body(a: Any, b: Any, x: Any) -> Any:
        y = a @ b @ x
        return log(y)

    f = fun(M, M, V)(body)
    assert planned(f) is not program(f)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
        f(M.random(RNG), M.random(RNG), V.zeros())
    assert caught.value.__notes__ == [f"  computed by {__file__}:{body.__code__.co_firstlineno + 2} in body"]


def test_a_loop_multiplies_once_for_each_round() -> None:
    """Ten rounds of a matrix 30×30 are 9,000 multiplications."""
    X = Fin.of(30)
    A = (R ** (X * X)).random(RNG)
    f = fun(R**X)(lambda x: iterate(lambda y: const(A) @ y, x, Fin.of(10)))
    assert multiplications(program(f).line) == 10 * 30 * 30


def test_what_an_application_costs_is_what_it_runs() -> None:
    """A difference is one step, and is counted as one: it costs what a sum does."""
    X = Fin.of(30)
    found: Any = cost(fork(cumsum(X) - red(reversal(X)), identity(R**X)))
    added: Any = cost(fork(cumsum(X) + red(reversal(X)), identity(R**X)))
    assert found.apply.flops == added.apply.flops


def test_a_function_that_runs_as_written_does_so_when_it_is_read_back() -> None:
    """planned=False is a part of the value, and of the pickle."""
    M, V = R ** (Fin.of(30) * Fin.of(30)), R ** Fin.of(30)
    f = fun(M, M, V, planned=False)(lambda a, b, x: a @ b @ x)
    back = pickle.loads(pickle.dumps(f))
    assert back == f
    assert back.line.fixed
    one: Any = cost(f)
    other: Any = cost(back)
    assert other.run.flops == one.run.flops == one.written.flops


def test_paddings_of_one_axis_are_one_after_the_other() -> None:
    """Those of other axes are done at once."""
    X = Fin.of(3)
    f = fun(R**X)(lambda x: pad(Fin.of(5), 1, 2)(pad(X, 1, 1)(sin(x))))
    assert f((R**X).ones()).array.tolist() == [0.0, 0.0, *[np.sin(1.0)] * 3, 0.0, 0.0, 0.0]


def stage(rng: np.random.Generator, X: Fin[Any], Y: Fin[Any]) -> Any:
    """A sum of two relations of a few pairs, one of them weighted."""
    one, other = (
        red(columns(rng.integers(0, X.size, n), rng.integers(0, Y.size, n), X, Y)) for n in rng.integers(2, 7, 2)
    )
    return section(hadamard(R**Y), 0, (R**Y).random(rng)) @ one + other


def stored(n: ArcProducts, blocks: Any) -> int:
    """How many numbers are stored: entries of factors, tuples of tables, pairs of relations."""
    found = [p for products in blocks.values() for p in products]
    entries: int = sum(n.entries(f) for p in found for f in p.factors)
    tuples: int = sum(t.count * len(t.labels) for p in found for t in p.tables)
    related: int = sum(link.relation.size for p in found for link in p.links)
    return entries + tuples + related


ORDERS = [
    ([4, 6, 7, 7, 3], 3, "forward"),
    ([3, 7, 7, 6, 4], 0, "adjoint"),
    ([4, 6, 7, 7, 3], 24, "forward"),  # as an array; in another order a table, without numbers but its tuples
    ([4, 6, 7, 6, 4], 10, "adjoint"),  # the same
]


@pytest.mark.parametrize(("sizes", "seed", "best"), ORDERS)
def test_wires_are_eliminated_in_the_order_that_stores_the_fewest_numbers(
    sizes: list[int], seed: int, best: str
) -> None:
    """From the inputs, from the outputs, or by Markowitz's rule, which is not the best for these."""
    rng = np.random.default_rng(seed)
    sets = [Fin.of(size) for size in sizes]
    body = body_of(compose([stage(rng, X, Y) for X, Y in pairwise(sets)][::-1]), "structure")
    numbers = {}
    for way in ("forward", "adjoint", "Markowitz"):
        graph = ArcsLeft(Network(body))
        wires = graph.wires()
        for w in {"forward": wires, "adjoint": wires[::-1], "Markowitz": graph.cheapest_first(wires)}[way]:
            graph.eliminate(w)
        numbers[way] = stored(graph.n, graph.result())
    n = Network(body)
    assert stored(n, eliminated(n)) == numbers[best] == min(numbers.values()) < numbers["Markowitz"]


def test_what_comes_to_a_narrow_wire_is_added_up_there() -> None:
    """A product with A, a rotation, two sums and the factor cos' for arrays 3×40; the rest takes vectors.

    Behind the wire, where each part has its own product with C, it would be one more.
    """
    X, Y = Fin.of(40), Fin.of(3)
    A, B = ((R ** (Y * X)).random(RNG) for _ in range(2))
    C = (R ** (X * Y)).random(RNG)

    def body(x: Any) -> Any:
        u = x + x.roll(1)
        return C @ cos(A @ (u * sin(u)) + B @ x)

    found: Any = cost(derivative(fun(R**X)(body)), "tensor")
    assert found.matrix.flops == 5 * 3 * 40 + 2 * 40


def test_a_limit_holds_for_each_array_of_a_plan() -> None:
    """Σ x·(Mx): the derivative sums the rows of M, each times an entry of x."""
    X = Fin.of(20)
    M = (R ** (X * X)).random(RNG)
    d = derivative(fun(R**X)(lambda x: (x * (M @ x)).sum())).at((R**X).random(RNG))
    np.testing.assert_allclose(matrix(d, "array", limit=400), matrix(d, "array"), rtol=1e-10)
    with pytest.raises(SpaceError, match="within 399 entries: the smallest found needs 400"):
        matrix(d, "array", limit=399)


def test_a_pass_is_run_on_the_fewer_vectors() -> None:
    """A Jacobian of few outputs is made by its adjoint on their basis, one of few inputs by the map on theirs."""
    W: Any = (R ** (Fin.of(2) * Fin.of(20))).random(RNG)
    wide = derivative(fun(R ** Fin.of(20))(lambda x: sin(W @ sin(x))))
    tall = derivative(fun(R ** Fin.of(2))(lambda x: sin(W.T @ sin(x))))
    assert chosen(body_of(wide, "matrix")) == "adjoint"
    assert chosen(body_of(tall, "matrix")) == "forward"


# --- relations ---


def test_pairs_of_sets_whose_product_has_no_numbers() -> None:
    """Pairs that differ in one place only are two; those that are given twice are one."""
    X = Fin.of(2**40)
    sources, targets = columns([7, 5, 5, 7, 5], [2, 1, 2, 2, 1], X, X).holds()
    assert list(zip(sources.tolist(), targets.tolist(), strict=True)) == [(5, 1), (5, 2), (7, 2)]


def test_a_mask_stays_its_owners() -> None:
    """A selection has a copy: what is written into the mask later does not show, and may be written."""
    mask = np.array([True, False, True])
    found = partial(mask, Fin.of(3))
    mask[:] = False
    assert found.size == 2
