"""Loops whose states are made of entries taken one by one: matrices in every form are those of the values on a basis.

A relation to the place of no axis takes an entry, and one from there puts it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hilbert.all as hb
from adjoint import adjoint, grad, hessian, jacobian
from diff import const, derivative, fun, inner, sin
from hilbert import R, Vec
from hilbert.relation import shift
from linmap import matrix, red, stack, structure
from linmap.matrices.structure.structure import (
    Blocks,
    DenseForm,
    DiagonalForm,
    IdentityForm,
    LowRank,
    Permutation,
    ScaledForm,
    SparseForm,
    ZeroForm,
)
from tests.untyped import fold, iterate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Term: TypeAlias = Any
"""An entry by its number, or an operation and the terms that it takes."""
FEW = settings(max_examples=15)
RNG = np.random.default_rng


class Row: ...


class Column: ...


class Pair(hb.Record):
    prey: hb.Part[hb.Scalar]
    hunter: hb.Part[hb.Scalar]


class Vectors(hb.Record):
    first: hb.Part[hb.Vector[Row]]
    second: hb.Part[hb.Vector[Column]]


# --- states, their entries, and what puts entries together ---


class State(NamedTuple):
    """A space, the number of its entries, the entries of an element, and an element with some entries."""

    space: Any
    size: int
    entries: Callable[[Any], list[Any]]
    of: Callable[[Sequence[Any]], Any]


def on_line(n: int) -> State:
    X = hb.Fin(Row, n)
    return State(R**X, n, lambda z: [z[i] for i in range(n)], lambda e: stack(X, R)(*e))


def on_grid(n: int, m: int) -> State:
    X = hb.Fin(Row, n) * hb.Fin(Column, m)
    put = stack(hb.Fin.of(n * m), R)
    return State(R**X, n * m, lambda z: [z[i, j] for i in range(n) for j in range(m)], lambda e: put(*e).reshape(X))


def in_rows(n: int, m: int) -> State:
    X, Y = hb.Fin(Row, n), hb.Fin(Column, m)

    def of(e: Sequence[Any]) -> Any:
        return stack(X, R**Y)(*[stack(Y, R)(*e[i * m : (i + 1) * m]) for i in range(n)])

    return State((R**Y) ** X, n * m, lambda z: [z[i][j] for i in range(n) for j in range(m)], of)


def of_scalars() -> State:
    P = Pair(prey=R, hunter=R)

    def of(e: Sequence[Any]) -> Any:
        return hb.made(P, hb.entry(Pair.prey, e[0]), hb.entry(Pair.hunter, e[1]))

    return State(P, 2, lambda z: [z[Pair.prey], z[Pair.hunter]], of)


def of_vectors(n: int, m: int) -> State:
    X, Y = hb.Fin(Row, n), hb.Fin(Column, m)
    P = Vectors(first=R**X, second=R**Y)

    def entries(z: Any) -> list[Any]:
        return [*[z[Vectors.first][i] for i in range(n)], *[z[Vectors.second][j] for j in range(m)]]

    def of(e: Sequence[Any]) -> Any:
        first, second = stack(X, R)(*e[:n]), stack(Y, R)(*e[n:])
        return hb.made(P, hb.entry(Vectors.first, first), hb.entry(Vectors.second, second))

    return State(P, n + m, entries, of)


STATES: dict[str, State] = {
    "two entries": on_line(2),
    "three entries": on_line(3),
    "two axes": on_grid(2, 2),
    "rows": in_rows(2, 3),
    "a record of scalars": of_scalars(),
    "a record of vectors": of_vectors(2, 3),
}


# --- steps ---


def terms(size: int) -> st.SearchStrategy[Term]:
    """Products and sums of some entries, sines, multiples, and numbers added."""

    def larger(some: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
        return st.one_of(st.tuples(st.sampled_from("*+"), some, some), st.tuples(st.sampled_from("~/1"), some))

    return st.recursive(st.integers(0, size - 1), larger, max_leaves=3)


def value(t: Term, e: Sequence[Any]) -> Any:
    """The value of a term at some entries."""
    match t:
        case int():
            return e[t]
        case "*", a, b:
            return value(a, e) * value(b, e)
        case "+", a, b:
            return value(a, e) + value(b, e)
        case "~", a:
            return sin(value(a, e))
        case "/", a:
            return 0.5 * value(a, e)
        case _:
            return value(t[1], e) + 1.0


# --- the law ---


def vector(space: Any, entries: Any) -> Any:
    """The vector with these entries, leaf by leaf."""
    ends = np.cumsum([leaf.size for leaf in space.leaves])[:-1]
    return Vec(space, tuple(a.reshape(x.shape) for a, x in zip(np.split(entries, ends), space.leaves, strict=True)))


def flat(v: Any) -> Any:
    return np.concatenate([np.ravel(np.asarray(leaf)) for leaf in v.leaves])


def columns(f: Any) -> Any:
    """The matrix of a linear map from its values on basis vectors."""
    return np.array([flat(f(vector(f.dom, unit))) for unit in np.eye(f.dom.dim)]).T


def cut(m: Any, cod: Any, dom: Any) -> list[list[Any]]:
    """The blocks of a matrix, for each pair of leaves."""
    rows, cols = ([np.cumsum([leaf.size for leaf in space.leaves])[:-1]] for space in (cod, dom))
    return [np.split(row, cols[0], axis=1) for row in np.split(m, rows[0])]


def permits(form: Any, m: Any) -> bool:
    """Tell if a matrix has a form."""
    match form:
        case ZeroForm():
            return not np.any(m)
        case IdentityForm(k) | ScaledForm(k):
            return bool(m.shape == (k, k) and np.allclose(m, m[0, 0] * np.eye(k)))
        case DiagonalForm(k):
            return bool(m.shape == (k, k) and np.array_equal(m, np.diag(np.diag(m))))
        case Permutation(k):
            return bool(m.shape == (k, k) and max((m != 0.0).sum(0).max(), (m != 0.0).sum(1).max()) <= 1)
        case LowRank(rank, shape):
            return bool(m.shape == shape and np.linalg.matrix_rank(m, tol=1e-9) <= rank)
        case SparseForm(entries, shape):
            return bool(m.shape == shape and np.count_nonzero(m) <= entries)
        case DenseForm(shape):
            return bool(m.shape == shape)
        case _:  # sums and Kronecker products of forms
            return True


def agree(f: Any, due: Any, x: Any) -> None:
    """Compare the Jacobian at x in every form with a matrix, and what is proved of it."""

    def close(m: Any, other: Any) -> None:
        np.testing.assert_allclose(m, other, rtol=1e-9, atol=1e-9 * (1.0 + abs(due).max()))

    d = derivative(f).at(x)
    close(jacobian(f, x), due)
    close(jacobian(f, x, as_="sparse").toarray(), due)
    close(np.block([list(row) for row in jacobian(f, x, blocks=True)]), due)
    blocks = cut(due, f.cod, f.dom)
    for row, other in zip(jacobian(f, x, as_="blocks"), blocks, strict=True):
        for made, block in zip(row, other, strict=True):
            close(np.zeros_like(block) if made is None else made.toarray(), block)
    close(matrix(adjoint(d), "sparse").toarray(), due.T)
    form = structure(derivative(f))
    if isinstance(form, Blocks):
        found = dict(form.entries)
        assert all(permits(found.get((i, j), ZeroForm()), b) for i, row in enumerate(blocks) for j, b in enumerate(row))
    assert permits(form, due)


def follows(loop: Callable[..., Any], *spaces: Any, twice: bool = True) -> Any:
    """Hold the law for a function, which is returned, and if `twice` for the gradient of a number made of its value."""
    f = fun(*spaces)(loop)
    x = f.dom.random(RNG(0))
    agree(f, columns(derivative(f).at(x)), x)
    if not twice:
        return f
    weights = const(f.cod.random(RNG(1)))
    number = fun(*spaces)(lambda *z: inner(f(*z), weights))
    slope = grad(number)
    due = columns(derivative(slope).at(x))
    agree(slope, due, x)
    np.testing.assert_allclose(hessian(number, x), due, rtol=1e-9, atol=1e-9 * (1.0 + abs(due).max()))
    return f


@FEW
@given(st.data(), st.sampled_from(list(STATES)), st.integers(1, 3))
def test_iterates(data: st.DataObject, name: str, rounds: int) -> None:
    """Each round puts together terms in the entries of the state."""
    s = STATES[name]
    made = data.draw(st.tuples(*[terms(s.size)] * s.size))

    def step(z: Any) -> Any:
        return s.of([value(t, s.entries(z)) for t in made])

    follows(lambda z: iterate(step, z, hb.Fin.of(rounds)), s.space)


@FEW
@given(st.data(), st.sampled_from(list(STATES)), st.integers(1, 3), st.booleans())
def test_folds(data: st.DataObject, name: str, rounds: int, reverse: bool) -> None:  # noqa: FBT001
    """Rounds read a number each, and make one."""
    s = STATES[name]
    made = data.draw(st.tuples(*[terms(s.size + 1)] * (s.size + 1)))

    def step(z: Any, x: Any) -> Any:
        *state, out = (value(t, [*s.entries(z), x]) for t in made)
        return s.of(state), out

    follows(lambda z, xs: fold(step, z, xs, reverse=reverse), s.space, R ** hb.Fin.of(rounds))


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_prey_and_hunters(name: str, order: int, rounds: int) -> None:
    """Steps of Runge and Kutta for the equations of Lotka and Volterra, against differences, too."""
    s = STATES[name]

    def slope(z: Any) -> Any:
        e = s.entries(z)
        signs = [1.0 if i % 2 == 0 else -1.0 for i in range(s.size)]
        return s.of([sign * (e[i] * (1.0 - e[(i + 1) % s.size])) for i, sign in enumerate(signs)])

    def step(z: Any) -> Any:
        a = slope(z)
        b = slope(z + 0.05 * a)
        if order == 2:
            return z + 0.1 * b
        c = slope(z + 0.05 * b)
        return z + (0.1 / 6.0) * (a + 2.0 * b + 2.0 * c + slope(z + 0.1 * c))

    f = follows(lambda z: iterate(step, z, hb.Fin.of(rounds)), s.space, twice=order * s.size <= 6)
    x = f.dom.random(RNG(0))
    units = 1e-5 * np.eye(s.size)
    forth, back = ([flat(f(vector(f.dom, flat(x) + h))) for h in steps] for steps in (units, -units))
    np.testing.assert_allclose(jacobian(f, x), (np.array(forth) - np.array(back)).T / 2e-5, rtol=1e-6, atol=1e-8)


# --- forms ---


def test_what_one_entry_proves() -> None:
    """A row with one entry is no permutation, and each entry of a round is counted."""
    s, t = on_line(2), on_grid(2, 3)

    def found(space: Any, f: Any) -> str:
        return str(structure(derivative(fun(space)(f))))

    assert found(s.space, lambda z: z[0]) == found(s.space, lambda z: z[1]) == "sparse, 1 of 1·2 entries"
    assert found(t.space, lambda z: z[0, 0]) == "sparse, 1 of 1·6 entries"
    assert found(t.space, lambda z: z[0, :]) == "identity ⊗ (sparse, 1 of 1·2 entries)"
    assert found(s.space, lambda z: s.of([z[0], 0.0 * z[0]])) == "sparse, 1 of 2·2 entries"

    def iterated(step: Any, rounds: int) -> str:
        return found(s.space, lambda z: iterate(step, z, hb.Fin.of(rounds)))

    assert iterated(lambda z: s.of([z[0] * z[1], z[0] * z[1]]), 1) == "dense 2×2"
    assert iterated(lambda z: s.of([z[1], sin(z[0])]), 2) == "diagonal"
    assert iterated(lambda z: s.of([z[0], z[0] * z[1]]), 3) == "sparse, 3 of 2·2 entries"


def test_an_entry_that_was_not_put() -> None:
    """Of two numbers put side by side, each is found at its own place alone."""
    s, p = on_line(2), of_scalars()

    def swapped(z: Any) -> Any:
        return p.of([sin(e) for e in s.entries(s.of(p.entries(z)))[::-1]])

    found = [str(structure(derivative(fun(p.space)(lambda z, k=k: iterate(swapped, z, hb.Fin.of(k)))))) for k in (1, 2)]
    assert found == ["        prey    hunter\nprey    0       number\nhunter  number  0", "diagonal"]


def test_a_block_of_nothing() -> None:
    """A relation without pairs leaves 0, whatever the other axes have."""
    X, Y = hb.Fin(Row, 3), hb.Fin(Column, 2)
    none = red(shift(Y, 2))
    f: Any = fun(R ** (X * Y))(lambda z: hb.each(none, z.roll(1, over=X), over=X))
    assert structure(derivative(f)) == ZeroForm()
