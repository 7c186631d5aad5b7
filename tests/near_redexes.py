"""Terms that look like redexes and are none: a law would apply to them if its side condition were another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import adjoint
from hilbert import R32, Copower, Elements, Fin, R, TensorProduct, Unit, direct_sum
from hilbert.index.spec import Spec
from hilbert.program.line.constant import filled
from hilbert.relation import full, function, geq, leq, pairs, rotation, run
from linmap import cast, cumsum, fork, identity, inject, join, linear, parallel, project, red, section, transpose
from linmap.contraction import Contraction, gather, hadamard, matrix_matrix, outer, pick
from linmap.term import wire
from linmap.term.linear_map import LinMap
from linmap.term.nodes import Fork, Identity, Join, Parallel, Section, Sum, Unitary, ZeroMap
from tests.formal_vectors import formal_vector
from tests.redexes import a_function, a_map, arc, index, maps, mask, number, one, space, stiff

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.relation.relation import AnyRelation
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
    swap = transpose(s.field ** (Fin.of(2) * Fin.of(2)))
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
    R = s.one_of([f, full(X, Y), pairs(np.argwhere(s.rng().integers(0, 2, (X.size, Y.size))), X, Y)])
    S = s.one_of([g.T, g.T, full(Y, Z), leq(Y), geq(Y), rotation(Y, 1), mask(s, Y)])
    return red(S, s.field) @ red(R, s.field)


def _cropped(s: Source) -> Any:
    """Some of the places that a table, an order or a run with gaps fills."""
    X = Fin.of(4)
    some = [function([3, 1], Fin.of(2), X), leq(X), geq(X), rotation(X, 1), run(Fin.of(2), X, 0, 2), full(Unit(), X)]
    R: Any = s.one_of(some)
    return red(run(Fin.of(2), X, s.integer(0, 2)).T, s.field) @ red(R, s.field)


def _casts_that_round(s: Source) -> Any:
    V = R ** index(s)
    f = Section(hadamard(V), 0, V.vec(s.rng().uniform(-1.0, 1.0, V.dim)))
    if s.flag():
        return cast(R32**V.index, R) @ cast(V, R32) @ f
    U = direct_sum(R32**V.index, V)  # its first array loses nothing
    return cast(direct_sum(R32**V.index, R32**V.index), R) @ cast(U, R32) @ inject(U, 1) @ f


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
    return node([ZeroMap(V, V), f, s.one_of([ZeroMap(V, V), g])])


def _with_an_identity(s: Source) -> Any:
    return parallel(Identity(space(s)), s.one_of([a_map(s), ZeroMap(space(s), space(s))]))


def _with_formal_data(s: Source) -> Any:
    """Sections by formal tensors, beside dense ones."""
    V, W = s.field ** index(s), s.field ** index(s)
    f, g = _formal_map(s, V, W), a_map(s, V, W) if s.flag() else _formal_map(s, V, W)
    return one(
        s,
        lambda: f + number(s) * g,
        lambda: number(s) * f,
        lambda: _formal_map(s, W, V) @ f,
        lambda: a_map(s, W, V) @ f @ a_map(s, s.field, V),
        lambda: f ** index(s),
    )


def _formal_map(s: Source, V: Any, W: Any) -> Any:
    return linear(formal_vector(s, TensorProduct(W, V)))


def _at_elements(s: Source) -> Any:
    """Sections by elements of index sets."""
    X, Y = index(s), index(s)
    V = one(s, lambda: s.field, lambda: s.field ** Fin.of(2))
    f = section(gather(X, Y, V), 1, s.vector(Copower(Elements(X), Y)))
    g = section(gather(X, Y, V), 1, s.vector(Copower(Elements(X), Y)))
    back = section(gather(Y, X, V), 1, s.vector(Copower(Elements(Y), X)))
    return one(
        s,
        lambda: f + number(s) * g,
        lambda: number(s) * f,
        lambda: back @ f,
        lambda: number(s) * (cumsum(Y, V) @ f @ stiff(s, s.field, f.dom)),
        lambda: a_map(s, f.cod) @ f @ a_map(s, None, f.dom),
        lambda: section(pick(Y, V), 1, s.vector(Elements(Y))) @ f,
        lambda: f ** index(s),
    )


def _of_one_array(s: Source) -> Any:
    """Sections on one of two arrays, which one and on which side is drawn."""
    X, Y, V = Fin.of(2), index(s), s.field ** Fin.of(2)
    W, M = s.field**Y, s.field ** (Y * X)
    flow = direct_sum(V, V)

    def made() -> Any:
        k, datum = s.integer(0, 1), s.vector(M)
        if s.flag():
            return Section(Contraction(M, flow, W, ((0, k, 0, Spec.of("ij", "j", "i")),)), 0, datum)
        return Section(Contraction(flow, M, W, ((k, 0, 0, Spec.of("j", "ij", "i")),)), 1, datum)

    f = made() + number(s) * made()
    return f @ s.one_of([Identity(flow), a_map(s, None, flow)])


def _scaled_beside_others(s: Source) -> Any:
    """Numbers on a row that other arcs lead to, or that is read elsewhere too."""
    X = Fin.of(2)
    f, g = cumsum(X, s.field), cumsum(X, s.field, reverse=True)
    return one(
        s,
        lambda: number(s) * (number(s) * f + g),
        lambda: number(s) * (g + number(s) * f),
        lambda: fork(number(s) * identity(f.cod), identity(f.cod)) @ (number(s) * f),
        lambda: join(number(s) * f, g) @ fork(number(s) * g, f),
        lambda: number(s) * (f @ (number(s) * identity(f.dom) + g)),
        lambda: fork(identity(f.cod) + g, f) @ f,
        lambda: f @ join(identity(f.dom) + g, f),
    )


def _with_transposed_data(s: Source) -> Any:
    """Sections by square matrices of which the one or the other is transposed."""
    V = s.field ** Fin.of(2)
    M = s.field ** (Fin.of(2) * Fin.of(2))

    def made() -> Any:
        labels, datum = s.one_of(["ij", "ji"]), s.vector(M)
        if s.flag():
            return Section(Contraction(M, V, V, ((0, 0, 0, Spec.of(labels, "j", "i")),)), 0, datum)
        return Section(Contraction(V, M, V, ((0, 0, 0, Spec.of("j", labels, "i")),)), 1, datum)

    f, g = made(), made()
    return one(s, lambda: f + number(s) * g, lambda: f @ g, lambda: f - g, lambda: (f + g) ** index(s))


def _into_another_space(s: Source) -> Any:
    """A section by a scalar that is no multiple of id: V ⊸ K ⊗ V."""
    V = space(s)
    f = section(outer(s.field, V), 0, s.vector(s.field))
    return one(s, lambda: f, lambda: a_map(s, f.cod) @ f, lambda: stiff(s, f.cod, V) @ f @ stiff(s, V, V))


def _with_filled_data(s: Source) -> Any:
    """Arcs by matrices all of whose entries are one number."""
    V = s.field ** Fin.of(2)
    (M,), (leaf,) = (s.field ** (Fin.of(2) * Fin.of(2))).leaves, V.leaves

    def made() -> Any:
        return arc(wire.ContractWith(Spec.of("ij", "j", "i"), 0, filled(number(s), M)), leaf)

    f, g = made(), made()
    return one(s, lambda: number(s) * f, lambda: f + g, lambda: f @ g, lambda: number(s) * (f @ a_map(s, V, V)))


def _starts_and_ends_alone(s: Source) -> Any:
    """h + f • h, ⟨h, f • h⟩, h + h • f, [h, h • f] for compositions h."""
    U, V = space(s), space(s)
    h = stiff(s, U, V)
    f, g = a_map(s, V, V), a_map(s, U, U)
    return one(
        s,
        lambda: Sum([h, number(s) * (f @ h)]),
        lambda: Sum([f @ h, h]),
        lambda: fork(h, f @ h),
        lambda: Sum([number(s) * h, h @ g]),
        lambda: join(h, h @ g),
    )


def _other_places(s: Source) -> Any:
    """Parts that overlap, leave places out, stand in another order, or repeat an element."""
    X, V = Fin.of(4), space(s)
    low, high, every = (red(run(Fin.of(2), X, k), V) for k in (0, 2)), red(run(Fin.of(2), X, 1), V), red(leq(X), V)
    first, second = low
    twice = red(function([1, 1], Fin.of(2), X), V)
    fs = s.one_of([(first, high), (first, first), (second, twice), (first, second), (first, every)])
    f, g = join(*fs), fork(*map(adjoint, fs))
    swapped = join(*fs[::-1])
    alone = [f @ g, g @ f] if fs[1] is not second else [red(run(Fin.of(2), X, 1), V) @ adjoint(first)]
    equal = [swapped @ g, g @ swapped] if swapped.dom == g.cod else []
    return s.one_of([*alone, *equal])


def _with_a_part(s: Source, relation: AnyRelation, k: float = 1.0) -> Any:
    """[f, g] • ⟨f*, k·g*⟩, or taken apart, where f fills the places 0 and 1 of 4."""
    V = space(s)
    f, g = red(run(Fin.of(2), Fin.of(4), 0), V), red(relation, V)
    together, apart = join(f, g), fork(adjoint(f), k * adjoint(g))
    return together @ apart if s.flag() else apart @ together


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
    "places cropped": _cropped,
    "other places": _other_places,
    "a place left free": lambda s: _with_a_part(s, run(Fin.of(1), Fin.of(4), 3)),
    "a place taken twice": lambda s: _with_a_part(s, function([3, 3], Fin.of(2), Fin.of(4))),
    "one in two places": lambda s: _with_a_part(s, pairs([(0, 2), (0, 3)], Fin.of(2), Fin.of(4))),
    "a multiple of a part": lambda s: _with_a_part(s, run(Fin.of(2), Fin.of(4), 2), 2.0),
    "casts that round": _casts_that_round,
    "scaled beside others": _scaled_beside_others,
    "transposed data": _with_transposed_data,
    "scalars into another space": _into_another_space,
    "filled data": _with_filled_data,
    "starts and ends alone": _starts_and_ends_alone,
    "formal data": _with_formal_data,
    "elements as data": _at_elements,
    "one array of several": _of_one_array,
}
