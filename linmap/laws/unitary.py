"""Unitary operators and casts in copowers (paper §2.1, §3.2); alone and in a row see `linmap.laws.wires`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from hilbert import Copower, Product, Record, TensorProduct
from hilbert.biproduct import Biproduct
from hilbert.combine import ElementByElement
from linmap import unitary as operators
from linmap.laws.rule import NODE, PAIR, rule
from linmap.term.nodes import Cast, Lifted, Unitary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
