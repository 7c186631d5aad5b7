"""Sums, products and compositions of many relations or index sets: every question is linear in the number of parts."""

from __future__ import annotations

import operator
import pickle
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import Fin
from hilbert.relation import band, equality, function, geq, leq, pairs, partial
from tests.test_shared_size import calls

if TYPE_CHECKING:
    from collections.abc import Callable

X = Fin.of(3)
PERMUTATIONS = [function(np.roll([0, 2, 1], k), X, X) for k in range(3)]


def leftmost(join: Any, parts: list[Any]) -> Any:
    """((a ∘ b) ∘ c) ∘ …"""
    return reduce(join, parts)


def rightmost(join: Any, parts: list[Any]) -> Any:
    """a ∘ (b ∘ (c ∘ …))."""
    return reduce(lambda later, part: join(part, later), reversed(parts))


PARTS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "sum of orders": (operator.add, lambda _: leq(X)),
    "sum of two forms in turn": (operator.add, lambda k: leq(X) if k % 2 else geq(X)),
    "sum of tables": (operator.add, lambda k: pairs([[k % 3, 1], [1, 1], [2, 0]], X, X)),
    "sum of bands": (operator.add, lambda k: band(X, 0, 1 + k % 2)),
    "composition of permutations": (operator.matmul, lambda k: PERMUTATIONS[k % 3]),
    "composition of functions": (operator.matmul, lambda _: function([1, 0, 1], X, X)),
    "composition of converses": (operator.matmul, lambda _: function([1, 0, 1], X, X).T),
    "composition of subsets": (operator.matmul, lambda _: partial([True, False, True], X)),
    "product of units": (operator.mul, lambda _: equality(hb.Unit())),
    "product of orders on one element": (operator.mul, lambda _: leq(Fin.of(1))),
}


def chain(name: str, way: Any) -> Callable[[int], Any]:
    """n parts joined in one way."""
    join, part = PARTS[name]
    return lambda n: way(join, [part(k) for k in range(n)])


CHAINS = {f"{name}, {way.__name__}": chain(name, way) for name in PARTS for way in (leftmost, rightmost)}
QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "dom": lambda S: (S.dom, S.cod, S.dom == S.cod, hash(S.dom)),
    "size": lambda S: S.size,
    "function": lambda S: (S.is_function, S.is_partial_function),
    "str": str,
    "repr": repr,
    "transpose": lambda S: S.T.T == S,
    "pickle": lambda S: pickle.loads(pickle.dumps(S)) == S and pickle.loads(pickle.dumps(S.dom)) == S.dom,
    "prepared": lambda S: S.prepared,
    "print": lambda S: (str(hb.red(S)), repr(hb.red(S)), str(S.dom), repr(S.dom)),
    "structure": lambda S: str(hb.structure(hb.red(S))),
    "simplify": lambda S: hb.simplify(hb.adjoint(hb.red(S)) @ hb.red(S)),
    "equal": lambda S: hb.equal(hb.red(S), hb.red(S)),
}
ON_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "pairs": lambda S: S.holds(),
    "degrees": lambda S: S.degrees(),
    "picture": lambda S: S.picture(),
    "call": lambda S: hb.red(S)(hb.red(S).dom.ones()),
    "adjoint": lambda S: hb.adjoint(hb.red(S))(hb.red(S).cod.ones()),
    "sparse": lambda S: hb.matrix(hb.red(S), "sparse"),
}


@pytest.mark.parametrize("name", [name for k, name in enumerate(CHAINS) if k % 4 in {0, 3}])
def test_questions_are_linear(name: str) -> None:
    """Making a chain and asking takes at most 13 times the calls for 10 times the parts."""
    make = CHAINS[name]
    asked = QUESTIONS if "on one element" in name else QUESTIONS | ON_ARRAYS
    for what, ask in asked.items():
        ask(make(2))
        small, large = (calls(lambda: ask(make(n))) for n in (10, 100))  # noqa: B023 - called here
        assert large <= 13 * small + 500, what


@pytest.mark.parametrize("name", ["sum of orders, leftmost", "composition of permutations, rightmost"])
def test_thousands_of_parts(name: str) -> None:
    """No question overflows the stack."""
    S = CHAINS[name](2500)
    for ask in (QUESTIONS | ON_ARRAYS).values():
        ask(S)


@pytest.mark.parametrize("name", [name for name in CHAINS if "product" not in name])
def test_chains_mean_their_parts(name: str) -> None:
    """red of a chain is the block-diagonal matrix, or the product of the matrices, of its parts; so are its pairs."""
    n = 20
    join, part = PARTS[name.split(", ", maxsplit=1)[0]]
    matrices = [hb.matrix(hb.red(part(k)), "array") for k in range(n)]
    if join is operator.add:
        due = np.zeros((3 * n, 3 * n))
        for k, block in enumerate(matrices):
            due[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    else:
        due = reduce(np.matmul, matrices)
    S = CHAINS[name](n)
    v = np.arange(1.0, due.shape[1] + 1)
    np.testing.assert_allclose(hb.red(S)(hb.red(S).dom.vec(v)).array, due @ v)
    np.testing.assert_allclose(hb.adjoint(hb.red(S))(hb.red(S).cod.vec(v)).array, due.T @ v)
    np.testing.assert_array_equal(S.degrees(), due.sum(0))
    x, y = S.holds()
    found = np.zeros(due.shape)
    np.add.at(found, (y, x), 1)
    np.testing.assert_array_equal(found, due)
    assert (S.size, S.is_function) == (due.sum(), bool((due.sum(0) == 1).all()))
    assert S.is_partial_function == bool((due.sum(0) <= 1).all())


def test_shared_sums() -> None:
    """S + S, forty times: the pairs of 2⁴⁰ parts are counted in forty steps."""
    S: Any = leq(X)
    for _ in range(40):
        S = S + S
    again: Any = leq(X)
    for _ in range(40):
        again = again + again
    assert S.dom.size == 3 * 2**40
    assert S.size == 6 * 2**40
    assert again == S
    assert pickle.loads(pickle.dumps(S)) == S
    assert not S.is_function


def test_unlike_chains_differ() -> None:
    """Brackets and one part are told apart, and a chain from what is none."""
    made = CHAINS["sum of orders, leftmost"]
    assert made(50) != made(51)
    assert made(50) != CHAINS["sum of orders, rightmost"](50)
    assert made(50) != leq(X)
    assert leq(X) != made(50)
    assert X + X != X * X
    assert X != X + X


def test_a_position_of_a_long_product() -> None:
    """An element of X × (Y × …) is a pair of pairs, read in row-major order."""
    Y: Any = Fin.of(2)
    element: Any = 1
    for _ in range(3000):
        Y, element = Fin.of(1) * Y, (0, element)
    assert Y.position(element) == 1
    with pytest.raises(hb.SpaceError, match="give a pair"):
        Y.position((0, 1))
