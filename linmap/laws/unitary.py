"""Unitary operators, casts and reductions: pairs cancel, composites merge (paper §2.1, §3.2, Thm 6.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from hilbert import Copower, DirectSum, Product, TensorProduct
from linmap.laws.relations import composed, is_empty, is_identity
from linmap.laws.rule import NODE, PAIR, rule
from linmap.term import maps
from linmap.term.nodes import Cast, Identity, Lifted, Reduce, Unitary, Zero

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# --- unitary operators ---


@rule(NODE, "u = id where u moves nothing", "paper §3.2", Unitary)
def unitary_that_moves_nothing(f: Unitary) -> Any:
    return Identity(f.dom) if f.dom == f.cod and f.source == _count(f.source) and all(map(_in_order, f.order)) else None


def _count(items: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(range(len(items)))


def _in_order(axes: tuple[int, ...]) -> bool:
    return axes == _count(axes)


@rule(PAIR, "u* • u = id, v • u is unitary", "paper §3.2, Thm 6.5", Unitary, Unitary)
def composition_of_unitaries(g: Unitary, f: Unitary) -> Any:
    source = tuple(f.source[k] for k in g.source)
    order = tuple(tuple(f.order[k][i] for i in axes) for k, axes in zip(g.source, g.order, strict=True))
    return unitary(f.dom, g.cod, source, order)


@rule(NODE, "u^X is unitary", "paper §3.2", Lifted)
def copower_of_a_unitary(f: Lifted) -> Any:
    u = f.of
    if not isinstance(u, Unitary):
        return None
    n = len(f.index.axes)
    return Unitary(u.name, f.dom, f.cod, u.source, tuple((*range(n), *(k + n for k in axes)) for axes in u.order))


def unitary(dom: Any, cod: Any, source: tuple[int, ...], order: tuple[tuple[int, ...], ...]) -> Unitary:
    """The unitary operator that moves leaves and axes so, under its name in §3.2 if it has one."""
    made = Unitary("rearrange", dom, cod, source, order)
    names = (f.name for f in _named(dom, cod) if evolve(made, name=f.name) == f)
    return evolve(made, name=next(names, made.name))


def _named(dom: Any, cod: Any) -> Iterator[Any]:
    """The operators of §3.2 on a space, as far as its form lets them be."""
    makers: list[Callable[[Any], Any]] = []
    match dom:
        case TensorProduct(left, right):
            makers = [maps.transpose]
            makers += [maps.assoc] if isinstance(left, TensorProduct) else []
            makers += [maps.unassoc] if isinstance(right, TensorProduct) else []
            makers += [maps.distrib] if isinstance(left, (DirectSum, Copower)) else []
            makers += [maps.tensor_copower] if isinstance(left, Copower) and isinstance(right, Copower) else []
            makers += [maps.bars] if cod in (left, right) else []
        case Copower(base, index):
            makers = [maps.curry] if isinstance(index, Product) else []
            makers += [maps.uncurry] if isinstance(base, Copower) else []
            makers += [maps.unzip] if isinstance(base, DirectSum) else []
            makers += [maps.undistrib] if isinstance(base, TensorProduct) else []
        case _:
            pass
    if isinstance(cod, TensorProduct):
        makers += [maps.bra] if cod.right == dom else []
        makers += [maps.ket] if cod.left == dom else []
    for make in makers:
        yield make(dom)


# --- copowers and currying ---


@rule(PAIR, "(f^Y)^X • curry = curry • f^{X×Y}", "paper §2.1, §3.2", Lifted, Unitary)
def copowers_after_curry(g: Any, f: Unitary) -> Any:
    inner = g.of
    if f.name != "curry" or type(inner) is not type(g) or not isinstance(f.dom.index, Product):
        return None
    if (g.index, inner.index) != (f.dom.index.left, f.dom.index.right):
        return None
    both = inner.of**f.dom.index
    return maps.curry(both.cod) @ both


@rule(PAIR, "uncurry • (f^Y)^X = f^{X×Y} • uncurry", "paper §2.1, §3.2", Unitary, Lifted)
def uncurry_after_copowers(g: Unitary, f: Any) -> Any:
    inner = f.of
    if g.name != "uncurry" or type(inner) is not type(f) or not isinstance(g.cod.index, Product):
        return None
    if (f.index, inner.index) != (g.cod.index.left, g.cod.index.right):
        return None
    both = inner.of**g.cod.index
    return both @ maps.uncurry(Copower(Copower(both.dom.base, inner.index), f.index))


# --- casts ---


@rule(NODE, "cast = id into the same field", "", Cast)
def cast_to_the_same(f: Cast) -> Any:
    return Identity(f.dom) if f.dom == f.cod else None


@rule(PAIR, "cast • cast = cast where the middle loses nothing", "", Cast, Cast)
def composition_of_casts(g: Cast, f: Cast) -> Any:
    leaves = zip(f.dom.leaves, f.cod.leaves, g.cod.leaves, strict=True)
    exact = all(b.dtype in {"float64", a.dtype, c.dtype} for a, b, c in leaves)
    return Cast(f.dom, g.cod) if exact else None


@rule(NODE, "cast^X = cast", "paper §2.1", Lifted)
def copower_of_a_cast(f: Lifted) -> Any:
    return Cast(f.dom, f.cod) if isinstance(f.of, Cast) else None


# --- reductions ---


@rule(NODE, "red_id = id", "paper §2.1", Reduce)
def reduction_by_the_identity(f: Reduce) -> Any:
    return Identity(f.dom) if is_identity(f.relation) else None


@rule(NODE, "red_∅ = 0", "paper §2.1", Reduce)
def reduction_by_nothing(f: Reduce) -> Any:
    return Zero(f.dom, f.cod) if is_empty(f.relation) else None


@rule(PAIR, "red_S • red_R = k·red_{S∘R}, Σ • rep = |X|·id", "paper §2.1", Reduce, Reduce)
def composition_of_reductions(g: Reduce, f: Reduce) -> Any:
    if f.base != g.base or f.relation.cod != g.relation.dom:
        return None
    found = composed(g.relation, f.relation)
    if found is None:
        return None
    k, relation = found
    both = Reduce(relation, f.base)
    return both if k == 1 else float(k) * both
