"""Unitary operators: of parts, and in copowers; casts there (paper §2.1, §3.2). Atoms: see `linmap.laws.wires`."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import evolve

from hilbert import Copower, Product, Record, TensorProduct
from hilbert.map.combine import ElementByElement
from hilbert.relation import Graph, Inclusion
from hilbert.space.direct_sum import Biproduct
from linmap import unitary as operators
from linmap.laws.engine.rule import NODE, PAIR, rule
from linmap.term.nodes import Cast, Fork, Identity, Join, Lifted, Reduce, Unitary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Places: TypeAlias = Inclusion[Any, Any] | Graph[Any, Any]
"""The forms of relations that put each element in a place: a run of places, or a table of them."""
LONG = 10**7
"""Places of more elements are not written out to see whether two are one."""

# --- unitary operators ---


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
            makers = [operators.transpose]
            makers += [operators.assoc] if isinstance(left, TensorProduct) else []
            makers += [operators.unassoc] if isinstance(right, TensorProduct) else []
            makers += [operators.distrib] if isinstance(left, (Biproduct, Copower)) else []
            makers += [operators.tensor_copower] if isinstance(left, Copower) and isinstance(right, Copower) else []
            makers += [operators.bars] if cod in (left, right) else []
        case Copower(base, index):
            makers = [operators.curry] if isinstance(index, Product) else []
            makers += [operators.uncurry] if isinstance(base, Copower) else []
            makers += [operators.unzip_parts] if isinstance(base, Biproduct) else []
            makers += [operators.undistrib] if isinstance(base, TensorProduct) else []
        case Record():
            makers = [operators.unpack]
        case _:  # on other spaces only bra and ket have names
            pass
    if isinstance(cod, Record):
        makers += [lambda _: operators.pack(cod)]
    if isinstance(cod, TensorProduct):
        makers += [operators.bra] if cod.right == dom else []
        makers += [operators.ket] if cod.left == dom else []
    for make in makers:
        yield make(dom)


# --- parts put side by side, and taken apart ---


@rule(PAIR, "[f₁, …, fₙ] • ⟨f₁*, …, fₙ*⟩ = id where the f_k put one element in each place", "paper §3.2", Join, Fork)
def parts_put_together(g: Join, f: Fork) -> Any:
    """Reduce `stack • unstack` and `concatenate • split` to the identity."""
    places = _places(g, f)
    full = places is not None and sum(r.dom.size for r in places) == places[0].cod.size
    return Identity(f.dom) if full else None


@rule(PAIR, "⟨f₁*, …, fₙ*⟩ • [f₁, …, fₙ] = id where no two f_k share a place", "paper §3.2", Fork, Join)
def parts_taken_apart(g: Fork, f: Join) -> Any:
    """Reduce `unstack • stack` and `split • concatenate` to the identity."""
    return None if _places(f, g) is None else Identity(f.dom)


def _places(together: Join, apart: Fork) -> list[Places] | None:
    """The relations of a join of reductions, if no two elements go to one place, and the fork is its adjoint."""
    if len(together.parts) != len(apart.parts):
        return None
    found = []
    for f, g in zip(together.parts, apart.parts, strict=True):
        if not (isinstance(f, Reduce) and isinstance(g, Reduce) and isinstance(f.relation, (Inclusion, Graph))):
            return None
        if g.relation != f.relation.T:
            return None
        found.append(f.relation)
    return found if _are_disjoint(found) else None


def _are_disjoint(relations: Sequence[Places]) -> bool:
    """Tell if no two elements go to one place; no also for long runs with gaps, whose places are not written out."""
    runs = [r for r in relations if isinstance(r, Inclusion)]
    if len(runs) == len(relations) and all(abs(r.stride) == 1 or r.dom.size <= 1 for r in runs):
        ends = sorted(sorted((r.offset, r.offset + r.stride * (r.dom.size - 1))) for r in runs if r.dom.size)
        return all(a[1] < b[0] for a, b in pairwise(ends))
    if sum(r.dom.size for r in relations) > LONG:
        return False
    places = np.concatenate([r.holds()[1] for r in relations])
    return len(np.unique(places)) == len(places)


# --- copowers and currying ---


@rule(PAIR, "(f^Y)^X • curry = curry • f^{X×Y}", "paper §2.1, §3.2", ElementByElement, Unitary)
def copowers_after_curry(g: Any, f: Unitary) -> Any:
    inner = g.of
    if f.name != "curry" or type(inner) is not type(g) or not isinstance(f.dom.index, Product):
        return None
    if (g.index, inner.index) != (f.dom.index.left, f.dom.index.right):
        return None
    both = inner.of**f.dom.index
    return operators.curry(both.cod) @ both


@rule(PAIR, "uncurry • (f^Y)^X = f^{X×Y} • uncurry", "paper §2.1, §3.2", Unitary, ElementByElement)
def uncurry_after_copowers(g: Unitary, f: Any) -> Any:
    inner = f.of
    if g.name != "uncurry" or type(inner) is not type(f) or not isinstance(g.cod.index, Product):
        return None
    if (f.index, inner.index) != (g.cod.index.left, g.cod.index.right):
        return None
    both = inner.of**g.cod.index
    return both @ operators.uncurry(Copower(Copower(both.dom.base, inner.index), f.index))


@rule(NODE, "cast^X = cast", "paper §2.1", Lifted)
def copower_of_a_cast(f: Lifted) -> Any:
    return Cast(f.dom, f.cod) if isinstance(f.of, Cast) else None
