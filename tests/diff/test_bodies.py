"""Bodies of control flow at their edges: what needs nothing of what it is given, and what is said of wrong bodies."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from diff.printing.show_steps import Slots
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.program.line import line
from hilbert.program.line.bundle import Unpack
from tests.untyped import fold, iterate

X, T = hb.Fin.of(2), hb.Fin.of(3)
c = (hb.R**X).vec([1.0, 2.0])
NOTHING: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "fold": (lambda p: hb.again(lambda _: fold(lambda s, x: s + x, hb.R.vec(0.0), hb.const(c)), p), 3.0),
    "constant state": (lambda p: hb.again(lambda p: fold(lambda *_: hb.const(c), hb.const(c), p), p), c.array),
    "iterate": (lambda p: hb.again(lambda _: iterate(lambda s: s * 2.0, hb.const(c), X), p), 4.0 * c.array),
    "one of two states": (lambda p: iterate(lambda s: (s[0] * 2.0, hb.const(c)), (p, hb.const(c)), X)[1], c.array),
    "nested": (lambda p: iterate(lambda s: iterate(lambda s: (s[0], hb.const(c)), (p, s), X)[1], c, X), c.array),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_loop_that_needs_nothing_of_what_it_is_given(name: str) -> None:
    """Its result is a constant, and the derivative 0."""
    body, due = NOTHING[name]
    f, x = hb.fun(hb.R**T)(body), (hb.R**T).ones()
    assert np.array_equal(f(x).array, due)
    assert not hb.jacobian(f, x, as_="array").any()
    assert hb.equal(f, hb.fun(hb.R**T)(body))


def test_an_array_that_a_bundle_has_not() -> None:
    """What takes an array out of a bundle, a step or an arc of a text, says which array there is none of."""
    leaf = Leaf(Entry("float64"), (X,))
    assert Unpack(1).image(Bundle((leaf, leaf))) == leaf
    for k, given in ((2, Bundle((leaf, leaf))), (-1, Bundle((leaf,))), (0, leaf)):
        with pytest.raises(hb.SpaceError, match=rf"^Unpack takes array {k} of a bundle, which .* has not$"):
            Unpack(k).image(given)


def test_notes_of_an_error_are_kept_in_a_body() -> None:
    """What is said of elements of a table is said in a traced function, too."""
    A = (hb.R ** (T * X)).ones()

    def first(table: Any) -> Any:
        return hb.each(lambda row: row[0], table)

    for go in (lambda: first(A), lambda: hb.fun(A.space)(first)):
        with pytest.raises(hb.SpaceError) as caught:
            go()
        (note,) = caught.value.__notes__
        assert "over=3 goes over the rows" in note


@pytest.mark.parametrize("other", [[1.0, 2.0], None, np.ones(2), "x", True, (1, 2)])
def test_where_of_what_is_no_vector(other: Any) -> None:
    """On vectors and in a traced function."""
    for go in (lambda: hb.where(c > 1.0, c, other), lambda: hb.fun(c.space)(lambda x: hb.where(x > 1.0, x, other))):
        with pytest.raises(hb.SpaceError, match="what where chooses is a vector"):
            go()


def nested(kind: str, depth: int, x: Any) -> Any:
    """Loops in loops, branches in branches, equations in equations."""
    if not depth:
        return hb.tanh(x)

    def inside(s: Any) -> Any:
        return nested(kind, depth - 1, s) * 0.1 + hb.sin(x) * hb.cos(x * s) * hb.exp(x * 0.1) * hb.tanh(hb.sin(s * x))

    match kind:
        case "iterate":
            return iterate(inside, x, X, checkpoint=True)
        case "while":
            return hb.while_(lambda s: s < 1.0, lambda s: inside(s) + 1.0, x, at_most=X)
        case "where":
            return hb.where(x > 0.1, lambda: inside(x), lambda: x)
        case _:
            return hb.fixed_point(lambda s: inside(s) * 0.01, x)


@pytest.mark.parametrize("kind", ["iterate", "while", "where", "fixed_point"])
def test_texts_of_nested_bodies_are_written_a_bounded_number_of_times(kind: str) -> None:
    """At most twice in each body around them: not twice for each, and twice again inside."""

    def written(depth: int) -> int:
        f = hb.derivative(hb.fun(hb.R)(lambda x: nested(kind, depth, x)))
        with pytest.MonkeyPatch.context() as patch:
            count, init = 0, Slots.__init__

            def counted(*args: Any, **kwargs: Any) -> None:
                nonlocal count
                count += 1
                init(*args, **kwargs)

            patch.setattr(Slots, "__init__", counted)
            hb.show(f)
        return count

    few, many = written(2), written(8)
    assert many <= 4 * (4 * few)


def test_what_many_states_need_is_found_at_once() -> None:
    """Where each state needs the next, a step of the body is looked at a bounded number of times."""

    def looked_at(n: int) -> int:
        def step(s: Any) -> Any:
            return tuple(hb.tanh(s[i] * s[(i + 1) % n]) for i in range(n))

        with pytest.MonkeyPatch.context() as patch:
            count, push = 0, heapq.heappush

            def counted(heap: list[int], slot: int) -> None:
                nonlocal count
                count += 1
                push(heap, slot)

            patch.setattr(line, "heapq", SimpleNamespace(heappush=counted, heappop=heapq.heappop))
            start = tuple((hb.R**X).full(float(i)) for i in range(n))
            f = hb.fun(hb.R**X)(lambda x: iterate(step, (x, *map(hb.const, start[1:])), T)[0])
            assert len(hb.program(f).steps) < n + 10
        return count

    few, many = looked_at(10), looked_at(40)
    assert 0 < many <= 5 * few


@pytest.mark.parametrize(("lanes", "rounds"), [(1, 4), (2, 4), (4, 4), (3, 2)])
def test_matrices_of_lanes_of_outputs_that_do_not_vary(lanes: int, rounds: int) -> None:
    """Of a loop in segments beside another: dense, sparse and column by column."""
    V = hb.R**X

    def both(y: Any, x: Any) -> Any:
        outputs = iterate(lambda s: (hb.tanh(s) * x, hb.sin(x)), x, hb.Fin.of(rounds), checkpoint=2)[1]
        return iterate(lambda s: hb.tanh(s) + y, y, X), outputs

    f = hb.lift(hb.fun(V, hb.R)(both), hb.Fin.of(lanes), over=(0, 1))
    x = f.dom.unflat(np.linspace(-1.0, 1.0, f.dom.dim))
    d = hb.derivative(f).at(x)
    due = np.stack([d(f.dom.unflat(column)).flat() for column in np.eye(f.dom.dim)], 1)
    np.testing.assert_allclose(hb.matrix(d, "array"), due, atol=1e-12)
    np.testing.assert_allclose(hb.matrix(d, "sparse").toarray(), due, atol=1e-12)


def test_parts_of_two_loops_are_not_one_arc() -> None:
    """The sum of what two loops give, of two states and of one, is simplified as each of them."""

    def both(x: Any, y: Any) -> Any:
        return iterate(lambda s: (s[1], x), (x, x), X)[0] + iterate(lambda p: hb.sin(y) + 0.0 * p, y, X)

    f: Any = hb.fun(hb.R, hb.R)(both)
    x = f.dom.vec((0.3, 0.7))
    for simpler in (hb.simplify(hb.derivative(f)).at(x), hb.simplify(hb.derivative(f).at(x))):
        np.testing.assert_allclose(hb.matrix(simpler, "array"), [[1.0, np.cos(0.7)]], atol=1e-12)
