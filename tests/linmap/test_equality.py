"""Equality of terms is structural: it survives rebuilding and pickling, and agrees with hash."""

import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, note, settings

import linmap
from hilbert import Fin, R
from hilbert.base.term import packed, rebuild
from linmap import cumsum, fork, identity, inject, scale, section, total
from linmap.contraction import inner
from tests.linear_terms import NODES, SCALARS, between, linear_map
from tests.strategies import Source, same, sources


@pytest.mark.parametrize("cls", NODES)
@settings(max_examples=12)
@given(s=sources())
def test_pickle(cls: type, s: Source) -> None:
    """loads(dumps(f)) = f, with the same hash, spaces and values; so is the term that its table makes."""
    f = NODES[cls](s, 3)
    note(f)
    v = s.vector(f.dom)
    for found in (pickle.loads(pickle.dumps(f)), rebuild(packed(f))):
        assert found == f
        assert hash(found) == hash(f)
        assert found.dom == f.dom
        assert found.cod == f.cod
        assert same(found(v), f(v))


@given(sources(single=False))
def test_equal_terms_have_equal_hashes(s: Source) -> None:
    """f = g implies hash f = hash g; f = f; f = g iff g = f."""
    V, W = s.space(4, 1), s.space(4, 1)
    f, g = between(s, V, W, 1), between(s, V, W, 1)
    assert f == f  # noqa: PLR0124 - reflexive
    assert (f == g) == (g == f)
    assert f != g or hash(f) == hash(g)


@given(sources(single=False))
def test_composition_and_sum_are_associative(s: Source) -> None:
    """(h • g) • f = h • (g • f) and (f + g) + h = f + (g + h), by ==."""
    V = s.space()
    f, g, h = linear_map_on(s, V), linear_map_on(s, V), linear_map_on(s, V)
    assert (h @ g) @ f == h @ (g @ f)
    assert hash((h @ g) @ f) == hash(h @ (g @ f))
    assert (f + g) + h == f + (g + h)


def linear_map_on(s: Source, V: Any) -> Any:
    """An endomorphism."""
    return between(s, V, V, 1)


@given(sources(single=False))
def test_different_terms_differ(s: Source) -> None:
    """Changing a space, a number, a position, a vector or the order makes another term."""
    V, X = s.sum(least=1), Fin.of(3)
    f = linear_map(s)
    k = s.one_of(SCALARS)
    u = s.vector(V)
    pairs: list[tuple[Any, Any]] = [
        (identity(V), identity(V**X)),
        (scale(k, V), scale(k + 1.0, V)),
        (inject(R**X, 0), inject(R**X, 1)),
        (cumsum(X, V), total(X, V)),
        (f, f**X),
        (fork(f, 2 * f), fork(2 * f, f)),
        (f + 2 * f, 2 * f + f),
        (section(inner(V), 1, u), section(inner(V), 1, V.vec(u.array))),
    ]
    for a, b in pairs:
        assert a != b


def test_equality_is_not_by_address() -> None:
    """A term that is built twice is equal, and shared subterms are compared once: 2¹⁰⁰ paths."""

    def tower() -> linmap.LinMap[Any, Any]:
        f: linmap.LinMap[Any, Any] = scale(0.5, R)
        for _ in range(100):
            f = f @ (f + f)
        return f

    assert tower() == tower()
    assert hash(tower()) == hash(tower())


def test_pickle_in_another_process() -> None:
    """A term that is pickled here, loaded and pickled again in another process is equal to itself."""
    X = Fin.of(3)
    v = (R**X).vec([1.0, 2.0, 4.0])
    f = section(inner(R**X), 1, v) @ cumsum(X) + total(X)
    code = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"
    done = subprocess.run(  # noqa: S603 - this interpreter, a constant program
        [sys.executable, "-c", code], input=pickle.dumps((f, v)), stdout=subprocess.PIPE, check=True, timeout=60
    )
    found, w = pickle.loads(done.stdout)
    assert found == f
    assert w == v
    assert same(found(v), f(v))
