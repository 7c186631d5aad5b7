"""Terms that look like redexes and are none: a law would apply to them if its side condition were another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert import R32, Copower, Fin, R, direct_sum
from hilbert.relation import full, geq, leq, pairs, rotation
from hilbert.spec import Spec
from linmap import cast, fork, inject, join, parallel, project, red, section, transpose_matrix
from linmap.contraction import Contraction, hadamard, matrix_matrix
from linmap.term import Fork, Identity, Join, LinMap, Parallel, Section, Sum, Unitary, Zero
from tests.redexes import a_function, a_map, index, maps, mask, one, space, stiff

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.strategies import Source


def _twice(s: Source) -> Any:
    """V ⊕ V."""
    V = space(s)
    return direct_sum(V, V)


def _scaled_differently(s: Source) -> Any:
    V, W = space(s), space(s)
    node: Any = s.one_of([Sum, Fork, Join, Parallel])
    return node([s.one_of([2.0, 1.0]) * a_map(s, V, W), 3.0 * a_map(s, V, W)])


def _different_starts(s: Source) -> Any:
    V = space(s)
    parts = [stiff(s, V, V) for _ in range(2)]
    return one(s, lambda: Sum(parts), lambda: fork(*parts), lambda: join(*parts))


def _square_product(s: Source, side: int) -> Any:
    """(A∗), (∗A) on matrices of 2 rows and 2 columns."""
    X = Fin.of(2)
    return section(matrix_matrix(X, X, X, s.field), side, s.vector(s.field ** (X * X)))  # type: ignore[call-overload]


def _products(s: Source) -> Any:
    f, g = _square_product(s, s.integer(0, 1)), _square_product(s, s.integer(0, 1))
    swap = transpose_matrix(Fin.of(2), Fin.of(2), s.field)
    return one(s, lambda: f + g, lambda: f @ g, lambda: f @ swap @ g, lambda: swap @ f - g, lambda: f + f @ swap)


def _scalar_and_more(s: Source) -> Any:
    """A section by a scalar that also swaps arrays or axes, or uses one twice."""
    K, X, k = s.field, Fin.of(2), s.vector(s.field)
    V, M = direct_sum(K, K), s.field ** (X * X)
    plain, turned = Spec.of("", "", ""), Spec.of("", "ij", "ji")
    return one(
        s,
        lambda: Section(Contraction(K, V, V, ((0, 0, 1, plain), (0, 1, 0, plain))), 0, k),
        lambda: Section(Contraction(V, K, V, ((0, 0, 1, plain), (1, 0, 0, plain))), 1, k),
        lambda: Section(Contraction(K, V, V, ((0, 0, 0, plain), (0, 0, 1, plain))), 0, k),
        lambda: Section(Contraction(K, V, V, ((0, 0, 0, plain), (0, 0, 0, plain), (0, 1, 1, plain))), 0, k),
        lambda: Section(Contraction(K, M, M, ((0, 0, 0, turned),)), 0, k),
        lambda: Section(Contraction(M, K, M, ((0, 0, 0, Spec.of("ij", "", "ji")),)), 1, k),
    )


def _swaps(s: Source) -> Any:
    """Unitary operators between equal arrays, one of them or two in a row."""
    V, M = _twice(s), s.field ** (Fin.of(2) * Fin.of(2) * Fin.of(2))
    n = len(V.parts[0].leaves)
    order = tuple(tuple(range(len(leaf.axes))) for leaf in V.leaves)
    swap = Unitary("rearrange", V, V, (*range(n, 2 * n), *range(n)), order)
    turn, back = (Unitary("rearrange", M, M, (0,), (axes,)) for axes in ((2, 0, 1), (1, 2, 0)))
    return one(s, lambda: swap, lambda: turn, lambda: turn @ turn, lambda: back @ turn, lambda: a_map(s, M) @ turn)


def _copowers_after_a_swap(s: Source) -> Any:
    """(f²)² after or before a unitary operator that is no currying."""
    X, f = Fin.of(2), stiff(s, s.field, s.field)
    V = Copower(Copower(s.field, X), X)
    swap = Unitary("rearrange", V, V, (0,), ((1, 0),))
    lifted = (f**X) ** X
    return lifted @ swap if s.flag() else swap @ lifted


def _counted(s: Source) -> Any:
    """Reductions in a row of which most count some pairs twice."""
    X, Y, Z = index(s), index(s), index(s)
    f, g = a_function(s, X, Y), a_function(s, Z, Y)
    R = s.one_of([f, full(X, Y), pairs(X, Y, np.argwhere(s.rng().integers(0, 2, (X.size, Y.size))))])
    S = s.one_of([g.T, g.T, full(Y, Z), leq(Y), geq(Y), rotation(Y, 1), mask(s, Y)])
    return red(S, s.field) @ red(R, s.field)


def _casts_that_round(s: Source) -> Any:
    V = R ** index(s)
    f = Section(hadamard(V), 0, V.vec(s.rng().uniform(-1.0, 1.0, V.dim)))
    return cast(R32**V.index, R) @ cast(V, R32) @ f


def _places(s: Source) -> tuple[int, int]:
    """Not (0, 1)."""
    return 1, s.integer(0, 1)


def _other_projections(s: Source) -> Any:
    """In another order, or not all of them."""
    V = _twice(s)
    places = _places(s)
    if s.flag():
        V, places = direct_sum(*V.parts, s.field), (0, 1)
    return fork(*(project(V, k) for k in places))


def _other_injections(s: Source) -> Any:
    V = _twice(s)
    places = _places(s)
    if s.flag():
        V, places = direct_sum(*V.parts, s.field), (0, 1)
    return join(*(inject(V, k) for k in places))


def _on_some_parts(s: Source) -> Any:
    """As many maps as parts but one."""
    V = direct_sum(space(s), space(s), space(s))
    if s.flag():
        return fork(*(a_map(s, V.parts[k]) @ project(V, k) for k in (0, 1)))
    return join(*(inject(V, k) @ a_map(s, None, V.parts[k]) for k in (0, 1)))


def _on_other_parts(s: Source) -> Any:
    V, W = _twice(s), space(s)
    node: Any = s.one_of([Fork, Sum])
    return node([a_map(s, V.parts[0], W) @ project(V, k) for k in _places(s)])


def _into_other_parts(s: Source) -> Any:
    V, W = _twice(s), space(s)
    node: Any = s.one_of([Join, Sum])
    return node([inject(V, k) @ a_map(s, W, V.parts[0]) for k in _places(s)])


def _with_more_parts(s: Source) -> Any:
    """⟨0, f, 0⟩, ⟨0, f, g⟩, and joins."""
    V = space(s)
    f, g = maps(s, 2, V, V)
    node: Any = s.one_of([Fork, Join])
    return node([Zero(V, V), f, s.one_of([Zero(V, V), g])])


def _with_an_identity(s: Source) -> Any:
    return parallel(Identity(space(s)), s.one_of([a_map(s), Zero(space(s), space(s))]))


NEAR: dict[str, Callable[[Source], LinMap[Any, Any]]] = {
    "projections in another order": _other_projections,
    "injections in another order": _other_injections,
    "some of the parts": _on_some_parts,
    "forks and sums on other parts": _on_other_parts,
    "joins and sums into other parts": _into_other_parts,
    "different factors": _scaled_differently,
    "different starts and ends": _different_starts,
    "zeros and more": _with_more_parts,
    "products with an identity": _with_an_identity,
    "products from both sides": _products,
    "scalars that move": _scalar_and_more,
    "unitary operators that move": _swaps,
    "copowers after a swap": _copowers_after_a_swap,
    "reductions that count": _counted,
    "casts that round": _casts_that_round,
}
