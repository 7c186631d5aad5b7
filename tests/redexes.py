"""Terms to which a given law applies: for each rule of linear maps the left-hand side of its formula, in contexts.

Spaces are small and never of dimension 0, and the maps in between are dense, so that no other law comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import adjoint
from hilbert import R32, Copower, Fin, R, TensorProduct, Unit, Zero, direct_sum
from hilbert.index.spec import Spec
from hilbert.program.line.constant import filled
from hilbert.relation import equality, full, function, leq, pairs, partial, rotation, run, sliding
from hilbert.space.space import type_of
from linmap import (
    cast,
    cumsum,
    curry,
    fork,
    inject,
    join,
    parallel,
    project,
    red,
    rep,
    scale,
    section,
    total,
    transpose,
    uncurry,
)
from linmap.contraction import Contraction, hadamard, matrix_vector
from linmap.net.lower import net
from linmap.term import wire
from linmap.term.linear_map import LinMap
from linmap.term.net import Arc, Net, turned
from linmap.term.nodes import Cast, Compose, Fork, Identity, Join, Parallel, Scaled, Section, Sum, Unitary, ZeroMap
from tests.linear_terms import dense

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.strategies import Source

NUMBERS = (-2.0, -1.0, 0.5, 3.0)


def one(s: Source, *options: Callable[[], Any]) -> Any:
    """What one of the options gives."""
    chosen: Callable[[], Any] = s.one_of(options)
    return chosen()


# --- what redexes are made of ---


def index(s: Source) -> Fin[Any]:
    """𝐧 with 1 to 3 elements."""
    return Fin.of(s.size(3, 1))


def space(s: Source, depth: int = 1) -> Any:
    """A space of dimension 1 to 9."""
    match s.one_of(["vector", "vector", "field", "matrix", *["sum", "copower"] * depth]):
        case "field":
            return s.field
        case "matrix":
            return s.field ** (Fin.of(2) * index(s))
        case "sum":
            return several(s)
        case "copower":
            return Copower(direct_sum(s.field, s.field ** Fin.of(2)) if s.flag() else s.field ** index(s), Fin.of(2))
        case _:
            return s.field ** index(s)


def several(s: Source) -> Any:
    """V ⊕ W."""
    return direct_sum(*(s.field ** index(s) if s.flag() else s.field for _ in range(s.integer(2, 3))))


def small(s: Source) -> Any:
    """A space of dimension 1 to 3."""
    return s.one_of([s.field ** Fin.of(2), direct_sum(s.field, s.field ** Fin.of(2)), s.field ** Fin.of(3)])


def maps(s: Source, n: int = 1, dom: Any = None, cod: Any = None) -> list[Any]:
    """Dense maps, on a domain or into a codomain that they share if it is given."""
    return [dense(s, dom or space(s), cod or space(s)) for _ in range(n)]


def a_map(s: Source, dom: Any = None, cod: Any = None) -> Any:
    """A dense map."""
    return maps(s, 1, dom, cod)[0]


def number(s: Source) -> float:
    """A number that is neither 0 nor 1."""
    return s.one_of(NUMBERS)


def stiff(s: Source, dom: Any, cod: Any) -> Any:
    """A map that no section absorbs: with a cumulative sum in it."""
    X = Fin.of(2)
    return a_map(s, s.field**X, cod) @ cumsum(X, s.field) @ a_map(s, dom, s.field**X)


def sum_of_maps(s: Source, n: int = 2) -> Any:
    """f + g of dense maps that are no sections alone."""
    V, W = space(s), space(s)
    return Sum([stiff(s, V, W) for _ in range(n)])


def matrix(s: Source, rows: Any, columns: Any) -> Any:
    """(A⋆)."""
    return section(matrix_vector(rows, columns, s.field), 0, s.vector(s.field ** (rows * columns)))


def diagonal_map(s: Source, V: Any) -> Any:
    """(u ·)."""
    return Section(hadamard(V), s.integer(0, 1), s.vector(V))


def relation(s: Source) -> Any:
    """A relation between sets of 1 to 3 elements."""
    X, Y = index(s), index(s)
    f = function(s.rng().integers(0, Y.size, X.size), X, Y)
    some = np.argwhere(s.rng().integers(0, 2, (X.size, Y.size)))
    return s.one_of([pairs(some, X, Y), f, f.T, full(X, Y), leq(X), mask(s, X), rotation(X, 1)])


def mask(s: Source, X: Any) -> Any:
    """The identity on a subset of X."""
    return partial(s.rng().integers(0, 2, X.size).astype(bool), X)


def one_leaf(s: Source) -> Any:
    """A vector space of one array."""
    return s.field ** (index(s) * index(s)) if s.flag() else s.field ** index(s)


# --- redexes ---


def _scaled_parts(s: Source, node: Any, *, dom: Any = None, cod: Any = None) -> Any:
    k = number(s)
    return node(*(k * f for f in maps(s, 2, dom, cod)))


def _like_terms(s: Source) -> Any:
    f = a_map(s)
    l = s.one_of([number(s), -1.0])
    return Sum([f, a_map(s, f.dom, f.cod), l * f]) if s.flag() else Sum([f, l * f])


def _sum_in_a_scaling(s: Source) -> Any:
    f, g, h = sum_of_maps(s, 3).parts
    return Sum([f, -1.0 * Sum([f, g]), h])


def _common_start(s: Source, node: Any, *, alike: bool) -> Any:
    h = a_map(s)
    W = space(s)
    parts = maps(s, 2, h.cod, W if alike else None)
    return node(*(number(s) * f @ h if s.flag() else f @ h for f in parts))


def _common_end(s: Source, node: Any, *, alike: bool) -> Any:
    h = a_map(s)
    V = space(s)
    parts = maps(s, 2, V if alike else None, h.dom)
    return node(*(number(s) * (h @ f) if s.flag() else h @ f for f in parts))


def _sum(*parts: Any) -> Any:
    return Sum(parts)


def _projected(s: Source, f: Any) -> Any:
    return project(f.cod, s.integer(0, len(f.cod.parts) - 1)) @ f


def _injected(s: Source, f: Any) -> Any:
    return f @ inject(f.dom, s.integer(0, len(f.dom.parts) - 1))


def _projection_of_an_injection(s: Source) -> Any:
    V = several(s)
    return project(V, s.integer(0, len(V.parts) - 1)) @ inject(V, s.integer(0, len(V.parts) - 1))


def _product_of_a_fork(s: Source) -> Any:
    f, g = maps(s, 2, space(s))
    return parallel(Identity(f.cod), a_map(s, g.cod)) @ fork(f, g)


def _join_of_a_product(s: Source) -> Any:
    f, g = maps(s, 2, None, space(s))
    return join(f, Identity(f.cod)) @ parallel(a_map(s, None, f.dom), g)


def _product_of_a_product(s: Source) -> Any:
    f, g = maps(s, 2)
    return parallel(a_map(s, f.cod), Identity(g.cod)) @ parallel(f, g)


def _join_of_a_fork(s: Source) -> Any:
    V, W = space(s), space(s)
    return join(a_map(s, V, W), Identity(W)) @ fork(a_map(s, W, V), a_map(s, W, W))


def _associativity(s: Source) -> Any:
    inner = stiff(s, space(s), space(s))
    return Compose([inner, cumsum(Fin.of(2), inner.cod, reverse=True) @ rep(Fin.of(2), inner.cod)])


def _unit(s: Source) -> Any:
    f = a_map(s)
    return Compose([f, Identity(f.cod), a_map(s, f.cod)])


def _sum_in_a_sum(s: Source) -> Any:
    f = sum_of_maps(s)
    return Sum([f, stiff(s, f.dom, f.cod)])


def _zero_after(s: Source) -> Any:
    f = a_map(s)
    return ZeroMap(f.cod, space(s)) @ f


def _zero_before(s: Source) -> Any:
    g = a_map(s)
    return g @ ZeroMap(space(s), g.dom)


def _zero_in_a_sum(s: Source) -> Any:
    f = a_map(s)
    return Sum([f, ZeroMap(f.dom, f.cod), stiff(s, f.dom, f.cod)])


def _all_zero(s: Source) -> Any:
    V = space(s)
    node: Any = s.one_of([Fork, Join, Parallel])
    return node([ZeroMap(V, V), ZeroMap(V, V)])


def _out_of_a_composition(s: Source) -> Any:
    f = a_map(s)
    return a_map(s, f.cod) @ (number(s) * f)


def _projections(s: Source) -> Any:
    V = several(s)
    return fork(*(project(V, k) for k in range(len(V.parts))))


def _injections(s: Source) -> Any:
    V = several(s)
    return join(*(inject(V, k) for k in range(len(V.parts))))


def _on_the_parts(s: Source) -> Any:
    V = several(s)
    return fork(*(number(s) * a_map(s, part) @ project(V, k) for k, part in enumerate(V.parts)))


def _into_the_parts(s: Source) -> Any:
    V = several(s)
    return join(*(inject(V, k) @ a_map(s, None, part) for k, part in enumerate(V.parts)))


def _with_zeros(s: Source, node: Any, *, dom: Any = None, cod: Any = None) -> Any:
    parts = maps(s, 2, dom, cod)
    k = s.integer(0, 1)
    parts[k] = ZeroMap(parts[k].dom, parts[k].cod)
    parts[1 - k] = stiff(s, parts[1 - k].dom, parts[1 - k].cod)
    return node(*parts)


def _with_zeros_inside(s: Source, node: Any, *, dom: Any = None, cod: Any = None) -> Any:
    parts = maps(s, 2, dom, cod)
    k = s.integer(0, 1)
    parts[k] = ZeroMap(parts[k].dom, parts[k].cod)
    f = node(*parts)
    return a_map(s, f.cod) @ f @ a_map(s, None, f.dom)


def _sum_of_injections(s: Source) -> Any:
    V, U = several(s), space(s)
    places = [s.integer(0, len(V.parts) - 1) for _ in range(2)] + [0, 1]
    return Sum([inject(V, k) @ a_map(s, U, V.parts[k]) for k in places])


def _sum_of_projections(s: Source) -> Any:
    V, W = several(s), space(s)
    places = [s.integer(0, len(V.parts) - 1) for _ in range(2)] + [0, 1]
    return Sum([number(s) * a_map(s, V.parts[k], W) @ project(V, k) for k in places])


def _composition_of_copowers(s: Source) -> Any:
    X, f = index(s), a_map(s)
    return _stiff_copower(s, f.cod, X) @ _stiff_copower(s, f.dom, X, f.cod)


def _stiff_copower(s: Source, V: Any, X: Any, W: Any = None) -> Any:
    return stiff(s, V, W or space(s)) ** X


def _copowers_after_curry(s: Source) -> Any:
    X, Y, f = index(s), index(s), stiff(s, space(s), space(s))
    return (f**Y) ** X @ curry(f.dom ** (X * Y))


def _uncurry_after_copowers(s: Source) -> Any:
    X, Y, f = index(s), index(s), stiff(s, space(s), space(s))
    return uncurry((f.cod**Y) ** X) @ (f**Y) ** X


def _unitaries(s: Source) -> Any:
    f = transpose(TensorProduct(small(s), small(s)))
    return transpose(f.cod) @ f if s.flag() else _turned_on(s, _rotation(s))


def _turned_on(s: Source, f: Unitary) -> Any:
    X, Y, Z = f.cod.index.axes
    return Unitary("rearrange", f.cod, s.field ** (Y * X * Z), (0,), ((1, 0, 2),)) @ f


def _unitary(s: Source) -> Any:
    """A unitary operator that moves axes or leaves, on a space of dimension 1 or more."""
    V = TensorProduct(small(s), small(s))
    return s.one_of([transpose(V), transpose(s.field ** (Fin.of(2) * index(s))), _rotation(s)])


def _rotation(s: Source) -> Unitary:
    """Three axes, turned."""
    X, Y, Z = index(s), Fin.of(2), index(s)
    return Unitary("rearrange", s.field ** (X * Y * Z), s.field ** (Z * X * Y), (0,), ((2, 0, 1),))


def _cast_to_the_same(s: Source) -> Any:
    V = space(s)
    return Cast(V, V)


def _moves_nothing(s: Source) -> Any:
    V = space(s)
    order = tuple(tuple(range(len(leaf.axes))) for leaf in V.leaves)
    return Unitary("rearrange", V, V, tuple(range(len(V.leaves))), order)


def _trivial(s: Source) -> Any:
    V = space(s)
    return one(s, lambda: dense(s, V, Zero()), lambda: dense(s, Zero(), V), lambda: total(Fin.of(0), V))


def _casts(s: Source) -> Any:
    X = index(s)
    return cast(R**X, R32) @ cast(R32**X, R)


def _reductions(s: Source) -> Any:
    V = space(s)
    S, R = relations_in_a_row(s)
    if s.flag():
        X = Fin.of(s.integer(2, 3))
        return one(
            s,
            lambda: red(rotation(X, 1), V) @ red(rotation(X, s.integer(1, X.size - 1)), V),
            lambda: rep(X, V) @ total(X, V) @ rep(X, V) @ total(index(s), V),
            lambda: red(S * equality(X), s.field) @ red(R * leq(X), s.field),
            lambda: red(S * S, s.field) @ red(R * R, s.field),
            lambda: red(S + S, V) @ red(R + R, V),
        )
    return red(S, V) @ red(R, V)


def relations_in_a_row(s: Source) -> tuple[Any, Any]:
    """Relations S, R for which red_S • red_R is one reduction, perhaps some times."""
    X, Y, Z = (Fin.of(s.integer(2, 3)) for _ in range(3))
    f, g = a_function(s, X, Y), a_function(s, Y, Z)
    low, high = run(Fin.of(2), Fin.of(3), s.integer(0, 1)), run(Fin.of(2), Fin.of(3), s.integer(0, 1))
    long = run(Fin.of(3), Fin.of(7), s.one_of([0, 2]), 2)
    slide = sliding(Fin.of(4), 2)
    chosen: tuple[Any, Any] = s.one_of(
        [
            (full(Y, Z), full(X, Y)),
            (g, f),
            (f.T, g.T),
            (full(Y, Z), f),
            (f.T, full(Z, Y)),
            (low.T, high),
            (run(Fin.of(3), Fin.of(4), 1), low),
            (run(Fin.of(3), Fin.of(5), 4, -2), low),
            (run(Fin.of(4), Fin.of(9), 0, 2), run(Fin.of(2), Fin.of(4), 3, -3)),
            (long.T, long),
            (low.T, run(Fin.of(3), Fin.of(4), s.integer(0, 1)).T),
            (run(Fin.of(2), Fin.of(6), s.integer(0, 4)).T, run(Fin.of(3), Fin.of(6), s.integer(0, 3))),
            (run(Fin.of(3), Fin.of(6), s.integer(0, 3)).T, run(Fin.of(2), Fin.of(6), s.integer(0, 4))),
            (run(Fin.of(3), Fin.of(4), s.integer(0, 1)).T, run(Fin.of(2), Fin.of(4), s.integer(0, 2))),
            (a_function(s, Fin.of(3), Y), low),
            (high, a_function(s, Y, Fin.of(2))),
            (mask(s, X), mask(s, X)),
            (full(Y, Z), rotation(Y, 1)),
            (rotation(Y, 1), full(X, Y)),
            (full(Fin.of(4), Z), slide),
            (slide.T, full(Z, Fin.of(4))),
        ]
    )
    return chosen


def a_function(s: Source, X: Any, Y: Any) -> Any:
    return function(s.rng().integers(0, Y.size, X.size), X, Y)


def _identity_relation(s: Source) -> Any:
    V, one = space(s), Fin.of(1)
    X = index(s)
    every = partial(np.ones(X.size, dtype=bool), X)
    itself = function(range(X.size), X, X)
    same = [equality(X), run(X, X, 0), run(X, X, 0).T, itself, leq(one), full(one, one), rotation(X, 0), every]
    return red(s.one_of([*same, equality(X) * every, equality(X) + every]), V)


def empty_relation(s: Source) -> Any:
    """A relation that relates nothing."""
    X = index(s)
    none, never = pairs([], X, index(s)), partial(np.zeros(X.size, dtype=bool), X)
    return s.one_of([none, never, none * relation(s), relation(s) * never, none + never])


def into_places(s: Source) -> list[Any]:
    """Reductions that put one element in each place: a stack, runs one after the other, the parts of a permutation."""
    V, n, m = space(s), s.integer(2, 3), s.integer(1, 3)
    X = Fin.of(n + m)
    order = s.rng().permutation(n + m)
    two = run(Fin.of(n), X, m + n - 1, -1), run(Fin.of(m), X, 0)
    mixed = function(order[:n], Fin.of(n), X), function(order[n:], Fin.of(m), X)
    swapped = function(range(m, m + n), Fin.of(n), X), run(Fin.of(m), X, 0)
    some: Any = s.one_of([two, two[::-1], mixed, swapped, tuple(run(Unit(), X, k) for k in range(n + m))])
    return [red(r, V) for r in some]


def _together(s: Source) -> Any:
    fs = into_places(s)
    return join(*fs) @ fork(*map(adjoint, fs))


def _taken_apart(s: Source) -> Any:
    fs = into_places(s)
    fs = fs[: s.integer(2, len(fs))]
    return fork(*map(adjoint, fs)) @ join(*fs)


def _section_by_a_scalar(s: Source) -> Any:
    return scale(s.vector(s.field), space(s))


def _scalar_in_a_composition(s: Source) -> Any:
    """Two sections by one scalar: alone each is as small as it can be."""
    k, V, W = s.field.vec(number(s)), s.field ** Fin.of(2), s.field ** Fin.of(3)
    return parallel(scale(k, V) @ cumsum(V.index, s.field), scale(k, W) @ cumsum(W.index, s.field))


def _nothing(s: Source) -> Any:
    V, W = space(s), space(s)
    return Section(Contraction(s.field, V, W, ()), 0, s.vector(s.field))


def _section_of_terms(s: Source) -> Any:
    """A section on spaces of several arrays, on either side."""
    V = several(s)
    return a_map(s, V) if s.flag() else diagonal_map(s, V)


def _section(s: Source) -> Any:
    return one(s, lambda: _section_of_terms(s), lambda: matrix(s, index(s), index(s)))


def _apart(s: Source, f: Any) -> Any:
    """Beside another map, so that it is part of no composition."""
    return parallel(f, stiff(s, space(s), space(s)))


def _section_after(s: Source) -> Any:
    f = _unitary(s)
    return one(s, lambda: a_map(s, f.cod), lambda: diagonal_map(s, f.cod)) @ f


def _section_before(s: Source) -> Any:
    f = _unitary(s)
    return f @ one(s, lambda: a_map(s, None, f.dom), lambda: diagonal_map(s, f.dom))


def _sections(s: Source) -> Any:
    X, Y, Z = index(s), index(s), Fin.of(1)
    V = one_leaf(s)
    W = several(s)
    return one(
        s,
        lambda: matrix(s, X, Y) @ matrix(s, Y, Y),
        lambda: matrix(s, Z, X) @ matrix(s, X, Y),
        lambda: diagonal_map(s, V) @ diagonal_map(s, V),
        lambda: diagonal_map(s, W) @ diagonal_map(s, W),
        lambda: matrix(s, X, Y) @ diagonal_map(s, s.field**Y),
        lambda: diagonal_map(s, s.field**X) @ matrix(s, X, Y),
        lambda: a_map(s, W, s.field) @ a_map(s, s.field, W),
        lambda: matrix(s, X, Y) @ a_map(s, s.field, s.field**Y),
    )


def _sum_of_sections(s: Source) -> Any:
    X, Y = index(s), index(s)
    V, W = s.field**Y, s.field**X
    f = matrix(s, X, Y)
    return one(
        s,
        lambda: f + number(s) * matrix(s, X, Y),
        lambda: f + dense(s, V, W) - dense(s, V, W),
        lambda: diagonal_map(s, V) - diagonal_map(s, V),
    )


REDEXES: dict[str, Callable[[Source], LinMap[Any, Any]]] = {
    "associativity": _associativity,
    "unit": _unit,
    "composition of one": lambda s: Compose([a_map(s)]),
    "sum in a sum": _sum_in_a_sum,
    "sum of one": lambda s: _apart(s, Sum([a_map(s)])),
    "zero after": _zero_after,
    "zero before": _zero_before,
    "zero in a sum": _zero_in_a_sum,
    "all zero": _all_zero,
    "trivial space": _trivial,
    "scaling out of a composition": _out_of_a_composition,
    "scaling of a scaling": lambda s: number(s) * (number(s) * a_map(s)),
    "scaling by one": lambda s: Scaled(1.0, a_map(s)),
    "scaling by zero": lambda s: Scaled(0.0, a_map(s)),
    "scaling of zero": lambda s: number(s) * ZeroMap(space(s), space(s)),
    "scaling out of a copower": lambda s: (number(s) * stiff(s, space(s), space(s))) ** index(s),
    "common factor of a sum": lambda s: _scaled_parts(s, _sum, dom=space(s), cod=space(s)),
    "common factor of a fork": lambda s: _scaled_parts(s, fork, dom=space(s)),
    "common factor of a join": lambda s: _scaled_parts(s, join, cod=space(s)),
    "common factor of a product": lambda s: _scaled_parts(s, parallel),
    "like terms": _like_terms,
    "sum in a scaling": _sum_in_a_scaling,
    "common start of a sum": lambda s: _common_start(s, _sum, alike=True),
    "common end of a sum": lambda s: _common_end(s, _sum, alike=True),
    "projection of a fork": lambda s: _projected(s, fork(*maps(s, 2, space(s)))),
    "join of an injection": lambda s: _injected(s, join(*maps(s, 2, None, space(s)))),
    "projection of an injection": _projection_of_an_injection,
    "projection of a product": lambda s: _projected(s, parallel(*maps(s, 2))),
    "product of an injection": lambda s: _injected(s, parallel(*maps(s, 2))),
    "product of a fork": _product_of_a_fork,
    "join of a product": _join_of_a_product,
    "product of a product": _product_of_a_product,
    "join of a fork": _join_of_a_fork,
    "fork of projections": _projections,
    "join of injections": _injections,
    "product of identities": lambda s: parallel(Identity(space(s)), Identity(space(s))),
    "fork on the parts": _on_the_parts,
    "join into the parts": _into_the_parts,
    "fork with zeros": lambda s: _with_zeros(s, fork, dom=space(s)),
    "fork with zeros in a composition": lambda s: _with_zeros_inside(s, fork, dom=space(s)),
    "join with zeros": lambda s: _with_zeros(s, join, cod=space(s)),
    "join with zeros in a composition": lambda s: _with_zeros_inside(s, join, cod=space(s)),
    "common start of a fork": lambda s: _common_start(s, fork, alike=False),
    "common end of a join": lambda s: _common_end(s, join, alike=False),
    "parts put together": _together,
    "parts taken apart": _taken_apart,
    "sum of injections": _sum_of_injections,
    "sum of projections": _sum_of_projections,
    "copower of an identity": lambda s: Identity(space(s)) ** index(s),
    "copower of zero": lambda s: ZeroMap(space(s), space(s)) ** index(s),
    "composition of copowers": _composition_of_copowers,
    "unitary that moves nothing": _moves_nothing,
    "composition of unitaries": _unitaries,
    "copower of a unitary": lambda s: _unitary(s) ** index(s),
    "copowers after curry": _copowers_after_curry,
    "uncurry after copowers": _uncurry_after_copowers,
    "cast to the same": _cast_to_the_same,
    "composition of casts": _casts,
    "copower of a cast": lambda s: cast(space(s), R if s.field == R32 else R32) ** index(s),
    "reduction by the identity": _identity_relation,
    "reduction by nothing": lambda s: red(empty_relation(s), space(s)),
    "composition of reductions": _reductions,
    "section by a scalar": _section_by_a_scalar,
    "section by a scalar in a composition": _scalar_in_a_composition,
    "section of nothing": _nothing,
    "copower of a section": lambda s: _section(s) ** index(s),
    "section after a unitary": _section_after,
    "unitary after a section": _section_before,
    "scaling into a section": lambda s: _apart(s, number(s) * _section(s)),
    "scaling into a composition": lambda s: number(s) * stiff(s, space(s), space(s)),
    "sum of sections": _sum_of_sections,
    "composition of sections": _sections,
}
"""For each rule of linear maps a term that it rewrites."""

# --- nets ---


def arc(f: Any, leaf: Any) -> Net:
    """A net of one arc."""
    image = wire.image(f, leaf)
    return Net(type_of(leaf), type_of(image), (0,), (Arc(f, 0, 1),), (1,), (leaf, image))


def _equal(f: Any) -> Any:
    """An equal term that is another object, so that nets do not share its arcs."""
    return Section(f.contraction, f.side, f.datum)


def _section_of_one_leaf(s: Source) -> Any:
    return matrix(s, index(s), index(s))


def _narrowing(s: Source) -> Any:
    """A section into a space that is not larger, so that a number comes after it."""
    return one(
        s, lambda: matrix(s, Fin.of(1), index(s)), lambda: _section_of_terms(s), lambda: diagonal_map(s, space(s))
    )


def _equal_out(s: Source) -> Any:
    h = _section_of_one_leaf(s)
    return fork(cumsum(h.cod.index, s.field) @ h, cumsum(h.cod.index, s.field, reverse=True) @ _equal(h))


def _equal_into(s: Source) -> Any:
    h = _section_of_one_leaf(s)
    return join(h @ cumsum(h.dom.index, s.field), _equal(h) @ cumsum(h.dom.index, s.field, reverse=True))


def _along(s: Source) -> Any:
    f = cumsum(index(s), space(s))
    return number(s) * (f @ (number(s) * Identity(f.dom)))


def _side_by_side(s: Source) -> Any:
    V, k = space(s), number(s)
    return one(
        s,
        lambda: k * Identity(V) + number(s) * Identity(V),
        lambda: Identity(V) - Identity(V),
    )


def _unmoved(leaf: Any) -> Any:
    return arc(wire.Move(tuple(range(len(leaf.axes)))), leaf)


def _filled(s: Source) -> Any:
    leaf = s.one_of([one_leaf(s), s.field]).leaves[0]
    return arc(wire.ContractWith(Spec.pointwise(len(leaf.axes)), s.integer(0, 1), filled(number(s), leaf)), leaf)


def _of_nothing(s: Source) -> Any:
    return s.one_of([total(Fin.of(0), space(s)), rep(Fin.of(0), space(s))])


def _turns(s: Source) -> Any:
    return net(_turned_on(s, _rotation(s)))


def _array(s: Source) -> Any:
    return one_leaf(s).leaves[0]


def _with_a_wire(s: Source, f: Net) -> Net:
    return Net(f.dom, f.cod, f.inputs, f.arcs, f.outputs, (*f.wires, *one_leaf(s).leaves))


NETS: dict[str, Callable[[Source], LinMap[Any, Any]]] = {
    "trivial space": lambda s: net(_of_nothing(s)),
    "arc by zero": lambda s: net(0 * a_map(s)),
    "arc by one": lambda s: net(1 * a_map(s)),
    "section by a scalar": lambda s: one(s, lambda: _filled(s), lambda: net(_section_by_a_scalar(s))),
    "reduction by the identity": lambda s: net(_identity_relation(s)),
    "reduction by nothing": lambda s: net(red(empty_relation(s), space(s))),
    "unitary that moves nothing": lambda s: _unmoved(_array(s)),
    "cast to the same": lambda s: arc(wire.Cast(s.field.entry), _array(s)),
    "arcs by numbers": lambda s: net(number(s) * (number(s) * Identity(space(s)))),
    "composition of unitaries": _turns,
    "composition of casts": lambda s: net(_casts(s)),
    "composition of reductions": lambda s: net(_reductions(s)),
    "section after a unitary": lambda s: net(_section_after(s)),
    "unitary after a section": lambda s: net(_section_before(s)),
    "composition of sections": lambda s: net(_sections(s)),
    "scaling into a section": lambda s: net(number(s) * _narrowing(s)),
    "section after a scaling": lambda s: turned(net(number(s) * _narrowing(s))),
    "dead arcs": lambda s: net(_projected(s, fork(*maps(s, 2, space(s))))),
    "dead wires": lambda s: _with_a_wire(s, net(a_map(s))),
    "arcs that carry on": lambda s: net(_on_the_parts(s)),
    "numbers side by side": lambda s: net(_side_by_side(s)),
    "sum of sections": lambda s: net(_sum_of_sections(s)),
    "equal arcs out of a wire": lambda s: net(_equal_out(s)),
    "equal arcs into a wire": lambda s: net(_equal_into(s)),
    "numbers along a row": lambda s: net(_along(s)),
    "net that is the identity": lambda s: net(Identity(space(s))),
    "net that is zero": lambda s: net(ZeroMap(space(s), space(s))),
}
"""For each rule of nets a net that it rewrites."""

# --- contexts ---


def _after(s: Source, f: Any) -> Any:
    X = index(s)
    return cumsum(X, f.cod) @ rep(X, f.cod) @ f


def _before(s: Source, f: Any) -> Any:
    X = index(s)
    return f @ total(X, f.dom) @ cumsum(X, f.dom, reverse=True)


def planted(s: Source, f: LinMap[Any, Any], depth: int | None = None) -> LinMap[Any, Any]:
    """A larger term with this one somewhere in it; often the term alone."""
    depth = s.integer(0, 2) if depth is None else depth
    if not depth:
        return f
    contexts = [
        lambda: _after(s, f),
        lambda: _before(s, f),
        lambda: parallel(stiff(s, space(s), space(s)), f),
        lambda: f ** index(s),
    ]
    if {leaf.entry for V in (f.dom, f.cod) for leaf in V.leaves} == {s.field.entry}:
        contexts += [
            lambda: f + stiff(s, f.dom, f.cod),
            lambda: fork(f, stiff(s, f.dom, space(s))),
            lambda: join(stiff(s, space(s), f.cod), f),
        ]
    return planted(s, one(s, *contexts), depth - 1)
