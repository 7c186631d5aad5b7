"""Traces, tokens, derived facts and runs from many threads at once: the same as from one."""

from __future__ import annotations

import copy
import os
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import Fin, R, Vec
from hilbert.base.once import LOCK, Remembering, cached_property, once
from hilbert.base.term import Chain
from hilbert.relation import geq, leq
from linmap.matrices.network.network import network
from linmap.matrices.structure.structure import body_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

THREADS = 8
X = Fin.of(3)
V = R**X


@pytest.fixture(autouse=True)
def _switching() -> Iterator[None]:
    """Threads change places as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], Any]) -> list[Any]:
    """work(k) for k < THREADS, all started at the same moment."""
    ready = threading.Barrier(THREADS)

    def run(k: int) -> Any:
        ready.wait()
        return work(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def asked(x: Any, question: Callable[[Any], Any]) -> list[Any]:
    """question(x) from every thread."""
    return together(lambda _: question(x))


def traced(k: int) -> Any:
    """x ↦ ((x + c₀)·c₁ + …) with constants of its own."""
    cs = [V.vec([float(k), float(j), 1.0]) for j in range(6)]

    def body(x: Any) -> Any:
        for j, c in enumerate(cs):
            x = x * hb.const(c) if j % 2 else hb.sin(x) + hb.const(c)
        return x

    return hb.fun(V)(body)


def test_traces() -> None:
    """A constant lands in the program of its own thread: values equal those of a single thread."""
    rounds = 6
    x = V.vec([1.0, 2.0, 3.0])
    due = {k: traced(k)(x).array for k in range(THREADS * rounds)}

    def work(t: int) -> list[tuple[int, Any]]:
        return [(k, traced(k)(x).array) for k in range(t, THREADS * rounds, THREADS)]

    for found in together(work):
        for k, array in found:
            np.testing.assert_array_equal(array, due[k])


def test_a_trace_inside_a_trace_ends() -> None:
    """After an error in an inner body the outer function goes on with its own constants."""
    c = V.ones()

    def body(x: Any) -> Any:
        with pytest.raises(ValueError, match="inner"):
            hb.fun(V)(broken)
        return x + hb.const(c)

    def broken(_: Any) -> Any:
        raise ValueError("inner")

    np.testing.assert_array_equal(hb.fun(V)(body)(V.zeros()).array, 1.0)
    assert isinstance(hb.const(c), Vec)


def test_tokens() -> None:
    """A vector has one token, whoever asks first; pickles of it are equal."""
    for _ in range(25):
        assert len(set(asked(V.ones(), lambda v: v.token))) == 1
    v = V.ones()
    assert all(w == v for w in together(lambda _: pickle.loads(pickle.dumps(v))))


class Noted(Remembering):
    """Something that facts are derived of."""


@once
def fact(_: Noted) -> object:
    """A new object each time that it is computed."""
    return object()


@once
def fact_of_two(_: Noted, __: int) -> object:
    """The same with an argument."""
    return object()


class Holder:
    """Something with a property that is computed once."""

    @cached_property
    def fact(self) -> object:
        """A new object each time that it is computed."""
        return object()


def test_derived_facts() -> None:
    """What is derived once is one object in all threads."""
    for _ in range(15):
        for found in (
            asked(Noted(), fact),
            asked(Noted(), lambda x: fact_of_two(x, 1)),
            asked(Holder(), lambda h: h.fact),
        ):
            assert all(one is found[0] for one in found)


def test_the_lock_is_not_held_while_a_fact_is_found() -> None:
    """Two facts that wait for each other in two threads are found."""
    here = threading.Barrier(2, timeout=10)

    @once
    def waiting(_: Noted) -> int:
        return here.wait()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(waiting, [Noted(), Noted()])) == [0, 1]
    assert LOCK.acquire(blocking=False)
    LOCK.release()


def test_chains_grow() -> None:
    """Versions of one chain that several threads append to keep their own items."""
    for _ in range(20):
        base: Chain[Any] = Chain(["base"])

        def work(k: int, base: Chain[Any] = base) -> list[Any]:
            grown = base
            for j in range(4):
                grown = grown.appended(Chain(["same", (k, j)]))
            return list(grown)

        for k, found in enumerate(together(work)):
            assert found == ["base", *(item for j in range(4) for item in ("same", (k, j)))]


def test_one_function_from_many_threads() -> None:
    """Values, gradients, matrices, texts, pickles and laws of one fresh term, asked for at once."""
    Q = (R ** (X * X)).random(np.random.default_rng(0))
    x = V.vec([1.0, -1.0, 0.5])

    def made() -> Any:
        return hb.fun(V)(lambda v: hb.tanh(Q @ v) @ v + (hb.cumsum(X)(v) @ v))

    def work(f: Any) -> tuple[Any, ...]:
        d = hb.derivative(f)
        linear = d.at(x)
        return (
            float(f(x).array),
            hb.grad(f)(x).array.tolist(),
            hb.hessian(f, x).tolist(),
            hb.matrix(linear, as_="sparse").toarray().tolist(),
            hb.adjoint(linear)(R.vec(2.0)).array.tolist(),
            str(hb.simplify(d)),
            hash(pickle.loads(pickle.dumps(f))) == hash(f),
            copy.copy(x) == x,
        )

    due = work(made())
    for _ in range(3):
        f = made()
        assert all(found == due for found in asked(f, work))


def test_formal_tensors_from_many_threads() -> None:
    """One map applied to formal tensors in several threads: a run shares nothing with another."""
    rng = np.random.default_rng(0)
    f = hb.transpose(V * V)
    pairs = [(V.random(rng), V.random(rng)) for _ in range(THREADS)]
    due = [f(a.tensor(b)).array for a, b in pairs]

    def work(k: int) -> Any:
        a, b = pairs[k]
        for _ in range(20):
            found = f(a.tensor(b)).array
        return found

    for found, array in zip(together(work), due, strict=True):
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("same", [True, False])
def test_questions_about_a_matrix(*, same: bool) -> None:
    """All forms of the matrix of a fresh map, asked for at once, share one network; later answers are right, too."""

    def cost(f: Any) -> str:
        return str(hb.cost(f, "sparse")) + str(hb.cost(f, "blocks"))

    def sparse(f: Any) -> Any:
        return hb.matrix(f, as_="sparse").toarray()

    questions: list[Callable[[Any], Any]] = [
        sparse,
        lambda f: hb.matrix(f, as_="array"),
        lambda f: [cell.toarray() for row in hb.matrix(f, as_="blocks") for cell in row],
        lambda f: hb.diagonal(f).array,
        hb.trace,
        lambda f: str(hb.structure(f)),
        cost,
        lambda f: sparse(hb.gram(f)),
    ]
    for n in range(4, 64, 12):
        Z, Y = Fin.of(n), Fin.of(3)
        W = R**Z
        table = [(7 * i + n) % 3 for i in range(n)]

        def made(Z: Any = Z, Y: Any = Y, W: Any = W, table: Any = table) -> Any:
            """x ↦ a sum of two orders, summed by a table and read again, in eight summands."""

            def body(x: Any) -> Any:
                y = 0.5 * hb.red(leq(Z))(x) + hb.red(geq(Z))(x)
                y = hb.gather(table, Y)(hb.segment_sum(table, Y)(y))
                for k in range(8):
                    y = y + W.vec(np.arange(Z.size) % 5 + k) * x.roll(k)
                return y

            return hb.derivative(hb.fun(W)(body)).at(W.zeros())

        due = [question(made()) for question in questions]
        f = made()
        for rounds in range(2):
            found = together(lambda k, f=f, rounds=rounds: questions[rounds if same else k](f))  # type: ignore[misc]
            for k in range(THREADS):
                np.testing.assert_array_equal(found[k], due[rounds if same else k])
        for question, answer in zip(questions, due, strict=True):
            np.testing.assert_array_equal(question(f), answer)


def test_a_forked_process_does_not_wait_for_threads_that_it_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was forked while a thread was at work on a matrix asks for it, too."""
    f = hb.cumsum(X) @ hb.cumsum(X)
    body = body_of(f, "the test")
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with network(body).lock:
            held.set()
            done.wait()

    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    monkeypatch.setattr("os.getpid", lambda: -1)  # as in a child
    found: list[str] = []
    child = threading.Thread(target=lambda: found.append(str(hb.structure(f))), daemon=True)
    child.start()
    child.join(timeout=30)
    done.set()
    assert found == ["sparse, 6 of 3·3 entries"]


@pytest.mark.filterwarnings("ignore:os.fork", "ignore:This process")  # of JAX, and of Python from 3.12 on
def test_a_forked_process_finds_the_lock_free() -> None:
    """A fork waits for the thread that holds the lock; one by the thread that holds it has it, and lets it go."""
    held = threading.Event()

    def hold() -> None:
        with LOCK:
            held.set()
            time.sleep(0.2)

    def in_the_child(free: Callable[[], bool]) -> bool:
        child = os.fork()
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        os._exit(0 if free() else 1)

    def elsewhere() -> bool:
        free: list[bool] = []
        LOCK.release()
        other = threading.Thread(target=lambda: free.append(LOCK.acquire(timeout=5)))
        other.start()
        other.join()
        return free == [True]

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    assert in_the_child(lambda: LOCK.acquire(timeout=5))
    thread.join()
    with LOCK:
        assert in_the_child(elsewhere)
    assert LOCK.acquire(timeout=5)
    LOCK.release()
