"""simplify: keeps the meaning, lowers the measure, is idempotent, returns what it does not change, meets adjoints."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, note, settings

from adjoint import adjoint
from hilbert import R32, Copower, Elements, Fin, R, SpaceError, direct_sum
from hilbert.base.term import bottom_up, postorder
from hilbert.base.term import parts as subterms
from hilbert.map.combine import Addition, Composition
from linmap import (
    cast,
    compose,
    cumsum,
    equal,
    explain,
    fork,
    identity,
    measure,
    parallel,
    project,
    roll,
    section,
    simplify,
)
from linmap.contraction import gather, hadamard, inner, labelled, matrix_matrix, matrix_vector
from linmap.laws.engine.engine import Simplifier
from linmap.laws.engine.shared_term import Shared, rebuilt
from linmap.laws.simplify import rewritten
from linmap.net.lower import net
from linmap.term.net import Net
from linmap.term.nodes import Compose, Scaled, Sum
from tests.linear_terms import is_exact, linear_map
from tests.oracle import matrix
from tests.redexes import NETS, REDEXES, planted
from tests.strategies import Source, sources

if TYPE_CHECKING:
    from collections.abc import Callable

X = Fin.of(3)
V = R**X


def any_term(s: Source) -> Any:
    """A random term, or two redexes planted in one."""
    if s.flag():
        return linear_map(s, 3)
    redexes = [*REDEXES.values(), *NETS.values()]
    f, g = (s.one_of(redexes)(s) for _ in range(2))
    return planted(s, parallel(f, g) if s.flag() else f)


@settings(max_examples=200)
@given(sources(single=False))
def test_simplify(s: Source) -> None:
    """One matrix, a lower measure, nothing left to do, also after a pickle, and an adjoint of the same size."""
    f = any_term(s)
    note(f)
    g = simplify(f)
    a, b = matrix(f), matrix(g)
    scale = max(1.0, float(np.max(np.abs(a), initial=0.0)))
    assert np.allclose(a, b, rtol=0, atol=(1e-10 if is_exact(f) else 1e-3) * scale)
    assert measure(g) < measure(f) or g is f
    assert simplify(g) is g
    again = pickle.loads(pickle.dumps(g))
    assert rewritten(again) is again
    assert rewritten(pickle.loads(pickle.dumps(f))) == g
    assert measure(adjoint(g)) == measure(g)


@settings(max_examples=150)
@given(sources(single=False))
def test_explain_replays(s: Source) -> None:
    """Each step rewrites what stands at its position, and the last one leaves the simplified term.

    Equal subterms are rewritten together, also those that arise later: their steps are replayed only once.
    """
    f = any_term(s)
    found = explain(f)
    assert found.after == simplify(f)
    if any(isinstance(step.before, Net) for step in found):
        return  # their positions are wires
    term, known = f, dict[Any, Any]()
    for step in found:
        if known.get(step.before) == step.after:
            continue
        old, new = located(term, step, known)
        if new != old:
            known[old] = new
        term = replaced(term, known)
    assert term == found.after


def located(term: Any, step: Any, known: dict[Any, Any]) -> tuple[Any, Any]:
    """The node that a step changes, and what it becomes.

    The parts of a composition that is still being rewritten may together be a term that was rewritten elsewhere.
    """
    way = [term]
    for k in step.position:
        below = subterms(way[-1])
        if k < len(below):
            way.append(below[k])
    if len(way) == len(step.position) + 1 and way[-1] in (step.before, replaced(step.before, known)):
        return way[-1], step.after
    parent, k = way[len(step.position) - 1], step.position[-1]
    parts, before = list(parent.parts), list(step.before.parts)
    if isinstance(parent, Composition):
        assert parts[k : k + len(before)] == before
        parts[k : k + len(before)] = [step.after]
    else:
        assert isinstance(parent, Addition)
        assert parts[k] == before[0]
        for part in before:
            parts.remove(part)
        parts.insert(k, step.after)
    return parent, type(parent)(parts)


def replaced(term: Any, known: dict[Any, Any]) -> Any:
    """The term after all steps so far, wherever what they rewrote stands or comes to stand."""

    def step(node: Any, rec: Any) -> Any:
        below = subterms(node)
        now = list(map(rec, below))
        made = node if all(a is b for a, b in zip(now, below, strict=True)) else rebuilt(node, now)
        return replaced(known[made], known) if made in known else made

    return bottom_up(term, step)


# --- particular terms ---


@settings(max_examples=150)
@given(sources(single=False))
def test_the_size_is_kept(s: Source) -> None:
    """The size and the weight that a pass keeps while it rewrites are those of the term that it returns."""
    f = any_term(s)
    note(f)
    for late in (False, True):
        passes = Simplifier(f)
        f = passes.run(late=late)
        due = measure(f)
        assert (passes.shared.size, passes.shared.weight) == (due.size, due.weight)


def test_what_the_measure_counts() -> None:
    """Size: rows, references and vectors of a term, each once; weight: what its rows compute."""
    u = section(hadamard(V), 0, V.vec([1.0, 2.0, 3.0]))
    terms = identity(V), cumsum(X), u, u @ cumsum(X), 2 * cumsum(X)
    assert [(measure(f).size, measure(f).weight) for f in terms] == [(1, 1), (1, 3), (3, 4), (7, 8), (3, 5)]


def test_shared_scalings_are_as_deep_as_their_deepest_use() -> None:
    """A subterm that is used twice counts once in the measure."""
    f = cumsum(X) @ (2 * cumsum(X, reverse=True))
    assert measure(f).depth == 1
    assert measure(fork(f, f)).depth == 2
    assert measure(fork(f, cumsum(X) @ f)).depth == 2
    assert measure(fork(f, cumsum(X) @ (f + cumsum(X)))).depth == 4


def test_nothing_to_do() -> None:
    """The same object, and no steps."""
    f = fork(cumsum(X), cumsum(X, reverse=True)) @ cumsum(X)
    assert simplify(f) is f
    assert not explain(f).steps


def test_what_is_undone_is_no_step() -> None:
    """(id + scan) • roll is no smaller: the common start of the sum was tried, and is not listed."""
    f = roll(X, 1) + cumsum(X) @ roll(X, 1)
    assert simplify(f) is f
    assert not explain(f).steps


def test_fork_of_projections() -> None:
    """⟨π₁, π₂⟩ = id."""
    W = direct_sum(V, R)
    assert simplify(fork(project(W, 0), project(W, 1))) == identity(W)


def test_a_difference_of_equals() -> None:
    """f − f = 0, also where scalings stand inside, and terms are collected."""
    f, g = cumsum(X), cumsum(X, reverse=True)
    assert str(simplify(f @ (2 * g) - 2 * f @ g)) == "0"
    assert str(simplify(3 * f - (f + g) - f + g)) == "scan"


def test_low_rank_stays() -> None:
    """(·b) • (⊙a) is not multiplied out: b ⊗ a would be larger than both."""
    a, b = V.vec([1.0, 2.0, 3.0]), (R ** Fin.of(4)).vec([1.0, 1.0, 2.0, 2.0])
    column = section(labelled(",i->i", R, b.space), 1, b)
    f = column @ section(inner(V), 1, a)
    assert simplify(f) is f
    assert str(simplify(2 * f)).count("where") == 2


def test_a_chain_of_matrices() -> None:
    """(A⋆) • (B⋆) is one matrix, the product of the two."""
    rng = np.random.default_rng(0)
    A, B = (rng.integers(-3, 4, (3, 3)).astype(float) for _ in range(2))
    f, g = (section(matrix_vector(X, X), 0, (R ** (X * X)).vec(M)) for M in (A, B))
    assert (simplify(f @ g).datum.array == A @ B).all()  # type: ignore[attr-defined]


def test_shared_parts_stay_shared() -> None:
    """A composition that is used twice is not copied into both its users, nor is its factor."""
    h = 2 * cumsum(X) @ cumsum(X, reverse=True)
    f = fork(h, cumsum(X) @ h, cumsum(X, reverse=True) @ h)
    assert measure(simplify(f)) <= measure(f)
    assert sum(isinstance(node, Scaled) for node in postorder(simplify(f))) == 1


def test_data_that_are_used_once_are_computed() -> None:
    """k·(u⋄) and (v⋄) • (u⋄) are one section each; two words that share both (u⋄) and (v⋄) keep them."""
    u, v = (section(hadamard(V), 0, V.vec(entries)) for entries in ([1.0, 2.0, 3.0], [2.0, 1.0, 1.0]))
    for f, entries in ((3.0 * u, [3.0, 6.0, 9.0]), (v @ u, [2.0, 2.0, 3.0])):
        made: Any = simplify(f)
        assert made.datum.array.tolist() == entries
    words = fork(v @ u @ cumsum(X), v @ u @ cumsum(X, reverse=True))
    assert measure(simplify(words)) == measure(words)


def test_many_paths() -> None:
    """A term of 2ⁿ paths is simplified in a number of steps linear in n: fₙ = (scan + scan*)ⁿ."""
    counts = []
    for n in (15, 30):
        f: Any = cumsum(X)
        for _ in range(n):
            f = cumsum(X) @ f + cumsum(X, reverse=True) @ f
        found = explain(f)
        assert measure(found.after) < measure(f)
        assert str(found.after).count("+") == n
        counts.append(len(found))
    assert counts[1] < 2.1 * counts[0]


def test_cast_that_rounds_stays() -> None:
    """ℝ → ℝ₃₂ → ℝ loses digits, ℝ₃₂ → ℝ → ℝ₃₂ does not."""
    low, high = cast(R**X, R32), cast(R32**X, R)
    assert simplify(high @ low) == high @ low
    assert simplify(low @ high) == identity(R32**X)
    mixed, single = direct_sum(R32**X, R**X), direct_sum(R32**X, R32**X)
    assert simplify(cast(single, R) @ cast(mixed, R32)) == cast(single, R) @ cast(mixed, R32)


def test_unequal_copies() -> None:
    """A simplified term has the same data after a pickle: they are named by where they come from."""
    f = 2 * section(hadamard(V), 0, V.vec([1.0, 2.0, 3.0])) @ section(hadamard(V), 0, V.vec([4.0, 5.0, 6.0]))
    g = pickle.loads(pickle.dumps(f))
    assert simplify(f) == rewritten(g)
    assert equal(simplify(f), section(hadamard(V), 0, V.vec([8.0, 20.0, 36.0])))


def test_data_are_told_apart() -> None:
    """Different laws on the same vectors, or other numbers or sides, make data that are not equal."""
    Y = Fin.of(3)
    W = R ** (Y * Y)
    u, v = W.vec(np.arange(9.0).reshape(3, 3)), W.vec(np.ones((3, 3)))
    product = matrix_matrix(Y, Y, Y)
    f, g = section(product, 0, u), section(product, 0, v)
    h = section(product, 0, u + v)
    maps = [
        2 * f,
        3 * f,
        f + g,
        f + 2 * g,
        2 * f + g,
        f @ g,
        g @ f,
        h @ f,
        f @ h,
        f + h,
        g + h,
        section(hadamard(W), 0, u) @ g,
        2 * g,
    ]
    maps += [f + section(product, 1, v), section(product, 1, u) + g, section(product, 1, u) @ section(product, 1, v)]
    found = [simplify(f) for f in maps]
    assert len(set(found)) == len(maps)
    nets = [net(f) for f in maps]
    assert len({simplify(f) for f in nets}) == len(nets)
    for before, after in zip([*maps, *nets], [*found, *map(simplify, nets)], strict=True):
        assert (matrix(before) == matrix(after)).all()


def test_elements_are_not_scaled() -> None:
    """k·(scan • f • (u ·)) = scan • f • (ku ·) where f gathers by elements: they are no vector."""
    W, E = R ** Fin.of(1), Elements(Fin.of(3))
    f = section(gather(Fin.of(3), Fin.of(1)), 1, Copower(E, Fin.of(1)).vec([2]))
    u = section(hadamard(V), 0, V.vec([1.0, 2.0, 3.0]))
    for g in (2 * (cumsum(W.index) @ f @ cumsum(X) @ u), 2 * (cumsum(W.index) @ f @ cumsum(X))):
        assert measure(simplify(g)) <= measure(g)
        assert (matrix(simplify(g)) == matrix(g)).all()


def test_other_things() -> None:
    """A vector has no laws."""
    functions: tuple[Any, ...] = (simplify, explain, measure)
    for g in functions:
        with pytest.raises(SpaceError, match="takes a linear map, a function or a derivative"):
            g(V.zeros())


LARGE: dict[str, Callable[[int], Any]] = {
    "reductions": lambda n: compose([cumsum(X), cumsum(X, reverse=True)] * (n // 2)),
    "identities": lambda n: compose([identity(V)] * n),
    "scalings": lambda n: Compose(
        [Scaled(1.0 + 1.0 / n, cumsum(X) if k % 2 else cumsum(X, reverse=True)) for k in range(n)]
    ),
    "copowers": lambda n: Compose([cumsum(X) ** X, cumsum(X, reverse=True) ** X] * (n // 2)),
    "nested": lambda n: nested(n // 2),
    "like terms": lambda n: Sum([float(k) * cumsum(X) for k in range(n)]),
}


def nested(n: int) -> Any:
    """2·(2·(… + id) + id)."""
    f: Any = cumsum(X)
    for _ in range(n):
        f = 2 * (f + identity(V))
    return f


@pytest.mark.parametrize("name", LARGE)
def test_large(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of parts, no recursion; the number of look-ups and changes of rows is linear in that of the parts."""
    calls = Counter[str]()
    for method in ("_set", "find", "below"):
        monkeypatch.setattr(Shared, method, counted(getattr(Shared, method), calls))
    counts = []
    for n in (500, 5_000):
        calls.clear()
        simplify(LARGE[name](n))
        counts.append(calls.total())
    assert counts[1] < 11 * counts[0]


def counted(function: Callable[..., Any], calls: Counter[str]) -> Callable[..., Any]:
    """The function, its calls counted."""

    def called(*args: Any) -> Any:
        calls[function.__name__] += 1
        return function(*args)

    return called
