"""Functions to which a given law applies: for each rule over functions the left-hand side of its formula, in contexts.

The functions in between are bounded and not linear, so that no other law comes first. Sources are smooth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff import atan, cos, fun, lift, sigmoid, sin, tanh
from diff.terms.nodes import Bilinear, Compose, Constant, Fork, Lift, Parallel, Power, Scaled, Sum
from hilbert import DirectSum, Elements, Fin
from linmap import curry, join, parallel, project, uncurry
from linmap.contraction import hadamard, labelled
from linmap.term import nodes as linear
from tests.redexes import index, number, one, several, space
from tests.redexes import maps as linear_maps
from tests.redexes import stiff as linear_map

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.strategies import Source

# --- what redexes are made of ---


def bend(s: Source, V: Any = None, W: Any = None) -> Any:
    """A bounded function, entry by entry, after a linear map."""
    V = V or space(s)
    W = W or space(s)
    return entrywise(s, W) @ linear_maps(s, 1, V, W)[0]


def bends(s: Source, n: int = 2, dom: Any = None, cod: Any = None) -> list[Any]:
    """Functions on a domain or into a codomain that they share if it is given."""
    return [bend(s, dom, cod) for _ in range(n)]


def entrywise(s: Source, V: Any) -> Any:
    """A bounded function V → V."""
    return fun(V)(s.one_of((sin, cos, tanh, atan, sigmoid)))


def constant(s: Source, V: Any = None, W: Any = None) -> Constant:
    """K_w : V → W."""
    return Constant(V or space(s), s.vector(W or space(s)))


def one_curved(s: Source, V: Any, W: Any) -> list[Any]:
    """Two maps V → W, of which one at least is no linear map."""
    f, g = bend(s, V, W), one(s, lambda: bend(s, V, W), lambda: linear_map(s, V, W))
    return [f, g] if s.flag() else [g, f]


def mixed(s: Source) -> Any:
    """V ⊕ Elements(X), which is no space."""
    return DirectSum((space(s), Elements(index(s))))


def part(V: Any, k: int) -> Any:
    """π_k as a program."""
    return fun(*V.parts)(lambda *parts: parts[k])


def a_projection(s: Source, V: Any, k: int) -> Any:
    """π_k as a program, or as a linear map where there is one."""
    return project(V, k) if V.is_space and s.flag() else part(V, k)


def _projected(s: Source, f: Any) -> Any:
    return a_projection(s, f.cod, s.integer(0, len(f.cod.parts) - 1)) @ f


def _factored(s: Source, node: Any, V: Any = None, W: Any = None) -> Any:
    k = number(s)
    return node([k * bend(s, V, W), k * bend(s, V, W)])


# --- the laws of linear maps that hold for functions ---


def _associativity(s: Source) -> Any:
    f = bend(s)
    g = bend(s, f.cod)
    return Compose([f, g @ entrywise(s, g.dom)])


def _zero_after(s: Source) -> Any:
    f = one(s, lambda: bend(s), lambda: entrywise(s, space(s)), lambda: constant(s))
    return linear.ZeroMap(f.cod, space(s)) @ f


def _out_of_a_composition(s: Source) -> Any:
    f = number(s) * bend(s)
    g = linear_map(s, f.cod, space(s)) @ f
    return g @ bend(s, None, g.dom) if s.flag() else g


def _sum_in_a_scaling(s: Source) -> Any:
    V, W = space(s), space(s)
    f, g, h = bends(s, 3, V, W)
    return Sum([f, -1.0 * Sum([f, g]), h])


def _sum_in_a_sum(s: Source) -> Any:
    V, W = space(s), space(s)
    return Sum([bend(s, V, W), Sum(bends(s, 2, V, W))])


def _like_terms(s: Source) -> Any:
    V, W = space(s), space(s)
    f, k = bend(s, V, W), s.one_of([number(s), -1.0])
    return Sum([f, bend(s, V, W), k * f]) if s.flag() else Sum([f, k * f])


def _common_start(s: Source, node: Any, *, alike: bool) -> Any:
    h = bend(s)
    h, W = bend(s, h.cod) @ h, space(s)
    parts = [one_curved(s, h.cod, W if alike else space(s))[k] for k in (0, 1)]
    return node([number(s) * (f @ h) if s.flag() else f @ h for f in parts])


def _common_end(s: Source) -> Any:
    V, h = space(s), linear_map(s, space(s), space(s))
    return Sum([number(s) * (h @ f) if s.flag() else h @ f for f in bends(s, 2, V, h.dom)])


def _projection_of_a_fork(s: Source) -> Any:
    V = mixed(s) if s.flag() else space(s)
    if not V.is_space:
        return _projected(s, Fork([constant(s, V), part(V, 0), part(V, 1)]))
    node: Any = Fork if s.flag() else linear.Fork
    return _projected(s, node(bends(s, 2, V) if node is Fork else linear_maps(s, 2, V)))


def _projection_of_a_product(s: Source) -> Any:
    return _projected(s, Parallel(bends(s, 2)))


def _product_of_a_fork(s: Source) -> Any:
    f, g = bends(s, 2, space(s))
    return parallel(linear.Identity(f.cod), linear_map(s, g.cod, space(s))) @ Fork((f, g))


def _product_of_a_product(s: Source) -> Any:
    f, g = bends(s, 2)
    if s.flag():
        return Parallel([bend(s, f.cod), linear.Identity(g.cod)]) @ Parallel([f, g])
    return parallel(linear_map(s, f.cod, space(s)), linear.Identity(g.cod)) @ Parallel([f, g])


def _join_of_a_fork(s: Source) -> Any:
    U, V, W = space(s), space(s), space(s)
    return join(linear_map(s, V, W), linear.Identity(W)) @ Fork((bend(s, U, V), bend(s, U, W)))


def _on_the_parts(s: Source) -> Any:
    V: Any = several(s) if s.flag() else DirectSum((space(s), space(s)))
    parts = [bend(s, W) @ a_projection(s, V, k) for k, W in enumerate(V.parts)]
    return Fork([number(s) * f if s.flag() else f for f in parts])


def _copowers(s: Source) -> Any:
    X, f = index(s), bend(s)
    g = bend(s, f.cod) if s.flag() else linear_map(s, f.cod, space(s))
    return g**X @ f**X if s.flag() else f**X @ linear_map(s, space(s), f.dom) ** X


def _copowers_after_curry(s: Source) -> Any:
    X, Y, f = index(s), index(s), bend(s)
    return (f**Y) ** X @ curry(f.dom ** (X * Y))


def _uncurry_after_copowers(s: Source) -> Any:
    X, Y, f = index(s), index(s), bend(s)
    return uncurry((f.cod**Y) ** X) @ (f**Y) ** X


# --- the laws of functions alone ---


def _all_linear(s: Source) -> Any:
    V, W = space(s), space(s)
    f, g = linear_map(s, V, W), linear_map(s, V, W)
    return one(
        s,
        lambda: Compose([f, linear_map(s, W, space(s))]),
        lambda: Sum([f, g]),
        lambda: Scaled(number(s), f),
        lambda: Fork([f, g]),
        lambda: Parallel([f, g]),
        lambda: Power(f, index(s)),
    )


def _no_steps(s: Source) -> Any:
    V = several(s)
    return one(
        s,
        lambda: fun(space(s))(lambda x: x),
        lambda: part(V, s.integer(0, len(V.parts) - 1)),
        lambda: fun(*V.parts)(lambda *parts: parts),
    )


def _unit_on_a_type(s: Source) -> Any:
    V = mixed(s)
    same = fun(*V.parts)(lambda *parts: parts)
    f = fun(*V.parts)(lambda v, x: (sin(v), x))
    g = part(V, 0)
    return one(s, lambda: g @ same, lambda: g @ f @ same, lambda: g @ same @ f)


def _constant_after(s: Source) -> Any:
    f = one(s, lambda: bend(s), lambda: linear_map(s, space(s), space(s)), lambda: part(mixed(s), s.integer(0, 1)))
    return Compose([f, Constant(f.cod, s.vector(space(s)))])


def _constants(s: Source) -> Any:
    V = mixed(s) if s.flag() else space(s)
    return Fork([constant(s, V), constant(s, V)]) if s.flag() else Parallel([constant(s, V), constant(s)])


def _copower_of_a_constant(s: Source) -> Any:
    if s.flag():
        return Power(constant(s), index(s))
    return Lift(constant(s, several(s)), index(s), (s.integer(0, 1),))


def _sum_of_constants(s: Source) -> Any:
    V, W = space(s), space(s)
    f, g = (number(s) * constant(s, V, W) if s.flag() else constant(s, V, W) for _ in range(2))
    return Sum([f, bend(s, V, W), g]) if s.flag() else Sum([f, g])


def _bilinear_of_a_constant(s: Source) -> Any:
    X, Y, K = index(s), index(s), s.field
    c = one(
        s,
        lambda: labelled("ij,j->i", K ** (X * Y), K**Y),
        lambda: hadamard(space(s)),
        lambda: labelled("i,j->ij", K**X, K**Y),
    )
    V = space(s)
    parts = [constant(s, V, c.left), bend(s, V, c.right)]
    if s.flag():
        parts = [bend(s, V, c.left), constant(s, V, c.right)]
    return Bilinear(c) @ Fork(parts)


def _a_bilinear(s: Source) -> Any:
    """Ready to be composed with a fork of functions."""
    X, Y, K = index(s), index(s), s.field
    return one(s, lambda: hadamard(space(s)), lambda: labelled("ij,j->i", K ** (X * Y), K**Y))


def _with_a_zero(s: Source) -> Any:
    c, V = _a_bilinear(s), space(s)
    zero = s.integer(0, 1)
    spaces = (c.left, c.right)
    curved = s.flag()
    parts = [
        linear.ZeroMap(V, W) if k == zero else bend(s, V, W) if curved else linear_map(s, V, W)
        for k, W in enumerate(spaces)
    ]
    return Bilinear(c) @ (Fork(parts) if curved else linear.Fork(parts))


def _bilinear_of_multiples(s: Source) -> Any:
    c, V = _a_bilinear(s), space(s)
    parts = [3.0 * bend(s, V, c.left), s.one_of([-2.0, -1.0, 0.5]) * bend(s, V, c.right)]
    return Parallel([Bilinear(c) @ Fork(parts), bend(s)])


def _bilinear_of_a_multiple(s: Source) -> Any:
    c = hadamard(space(s))
    f = bend(s, None, DirectSum((c.left, c.right)))
    return Parallel([Bilinear(c) @ (number(s) * f), bend(s)])


def _copower_of_a_lift(s: Source) -> Any:
    V = several(s)
    f: Any = lift(bend(s, V), index(s), over=(s.integer(0, len(V.parts) - 1),))
    g = one(s, lambda: bend(s, f.of.cod), lambda: linear_map(s, f.of.cod, space(s)))
    return g**f.index @ f


REDEXES: dict[str, Callable[[Source], Any]] = {
    "associativity": _associativity,
    "composition of one": lambda s: Parallel([Compose([entrywise(s, space(s))]), bend(s)]),
    "sum in a sum": _sum_in_a_sum,
    "sum of one": lambda s: Parallel([Sum([bend(s)]), bend(s)]),
    "zero after": _zero_after,
    "scaling out of a composition": _out_of_a_composition,
    "scaling of a scaling": lambda s: number(s) * (number(s) * bend(s)),
    "scaling by one": lambda s: Scaled(1.0, bend(s)),
    "scaling by zero": lambda s: Scaled(0.0, bend(s)),
    "scaling of zero": lambda s: Scaled(number(s), linear.ZeroMap(space(s), space(s))),
    "scaling out of a copower": lambda s: (number(s) * bend(s)) ** index(s),
    "common factor of a sum": lambda s: _factored(s, Sum, space(s), space(s)),
    "common factor of a fork": lambda s: _factored(s, Fork, space(s)),
    "common factor of a product": lambda s: _factored(s, Parallel),
    "like terms": _like_terms,
    "sum in a scaling": _sum_in_a_scaling,
    "common start of a sum": lambda s: _common_start(s, Sum, alike=True),
    "common end of a sum": _common_end,
    "common start of a fork": lambda s: _common_start(s, Fork, alike=False),
    "projection of a fork": _projection_of_a_fork,
    "projection of a product": _projection_of_a_product,
    "product of a fork": _product_of_a_fork,
    "product of a product": _product_of_a_product,
    "join of a fork": _join_of_a_fork,
    "fork on the parts": _on_the_parts,
    "composition of copowers": _copowers,
    "copowers after curry": _copowers_after_curry,
    "uncurry after copowers": _uncurry_after_copowers,
    "combination of linear maps": _all_linear,
    "program without steps": _no_steps,
    "unit on a type": _unit_on_a_type,
    "constant after": _constant_after,
    "combination of constants": _constants,
    "copower of a constant": _copower_of_a_constant,
    "scaling of a constant": lambda s: number(s) * constant(s),
    "sum of constants": _sum_of_constants,
    "bilinear of a constant": _bilinear_of_a_constant,
    "bilinear of zero": _with_a_zero,
    "scaling out of a bilinear": _bilinear_of_multiples,
    "bilinear of a scaling": _bilinear_of_a_multiple,
    "copower of a lift": _copower_of_a_lift,
}
"""For each rule over functions a function that it rewrites."""

# --- what looks like a redex and is none ---


def _other_parts(s: Source) -> Any:
    W = space(s)
    V = DirectSum((W, W))
    places = (1, s.integer(0, 1))
    return one(
        s,
        lambda: Fork([bend(s, W) @ a_projection(s, V, k) for k in places]),
        lambda: Fork([a_projection(s, V, k) for k in places]),
        lambda: fun(W, W)(lambda x, y: (y, x)),
        lambda: fun(W)(lambda x: (x, x)),
        lambda: fun(W, W, W)(lambda *parts: parts[1:]),
        lambda: part(V, 1) @ fun(W, W)(lambda *parts: (parts[1], parts[1])),
        lambda: part(V, 1) @ fun(W, W)(lambda x, y: (y, x)) @ part(DirectSum((V, V)), 0),
    )


def _partly_linear(s: Source) -> Any:
    V, W = space(s), space(s)
    node: Any = s.one_of([Sum, Fork, Parallel])
    return node(one_curved(s, V, W))


def _partly_constant(s: Source) -> Any:
    V, W = space(s), space(s)
    node: Any = s.one_of([Sum, Fork, Parallel])
    parts = [constant(s, V, W), bend(s, V, W)]
    return node(parts if s.flag() else parts[::-1])


def _different_factors(s: Source) -> Any:
    V, W = space(s), space(s)
    node: Any = s.one_of([Sum, Fork, Parallel])
    return node([s.one_of([2.0, 1.0]) * bend(s, V, W), 3.0 * bend(s, V, W)])


def _scaled_before(s: Source) -> Any:
    """A scaling that no function lets through."""
    f = number(s) * linear_map(s, space(s), space(s))
    return linear_map(s, f.cod, f.cod) @ entrywise(s, f.cod) @ f


def _lifts_apart(s: Source) -> Any:
    """(g^X)^Y after lift(f, Y), in which X is not Y, and after one over nothing."""
    V, X = several(s), index(s)
    f: Any = lift(bend(s, V, s.field**X), X, over=(s.integer(0, 1),))
    return one(s, lambda: (entrywise(s, s.field) ** X) ** X @ f, lambda: entrywise(s, f.cod) @ f)


def _square(s: Source) -> Any:
    """A bilinear map that is not symmetric, of constants and functions on both sides."""
    X = Fin.of(2)
    c, V = labelled("ij,jk->ik", s.field ** (X * X), s.field ** (X * X)), space(s)
    parts: list[Any] = [constant(s, V, c.left), s.one_of([2.0, 3.0]) * bend(s, V, c.right)]
    return Bilinear(c) @ Fork(parts if s.flag() else parts[::-1])


def _starts_on_a_type(s: Source) -> Any:
    """⟨h, f ∘ h⟩ and sums, where the codomain of h is no space, so that there is no id."""
    V = mixed(s)
    step = fun(*V.parts)(lambda v, x: (sin(v), x))
    h = Compose([step, fun(*V.parts)(lambda v, x: (cos(v), x)), step, step])
    f, g = (entrywise(s, V.parts[0]) @ part(V, 0) @ h for _ in range(2))
    return one(s, lambda: Fork([h, f]), lambda: Fork([f, h]), lambda: Fork([f, g]), lambda: Sum([f, part(V, 0) @ h]))


def _on_a_type(s: Source) -> Any:
    """Where 0 would be due, but the domain is no space."""
    V = mixed(s)
    f = entrywise(s, V.parts[0]) @ part(V, 0)
    return one(
        s,
        lambda: Sum([f, -1.0 * f]),
        lambda: Scaled(0.0, f),
        lambda: linear.ZeroMap(f.cod, space(s)) @ f,
        lambda: Sum([f, linear.ZeroMap(f.cod, f.cod) @ f]),
    )


NEAR: dict[str, Callable[[Source], Any]] = {
    "other parts": _other_parts,
    "partly linear": _partly_linear,
    "partly constant": _partly_constant,
    "different factors": _different_factors,
    "scaled before a function": _scaled_before,
    "lifts and copowers": _lifts_apart,
    "common starts on a type": _starts_on_a_type,
    "zeros on a type": _on_a_type,
    "bilinear maps that are not symmetric": _square,
}
"""Functions to which a law would apply if its side condition were another."""

# --- contexts ---


def planted(s: Source, f: Any, depth: int | None = None) -> Any:
    """A larger function with this one somewhere in it; often the function alone."""
    depth = s.integer(0, 2) if depth is None else depth
    if not depth:
        return f
    contexts: list[Callable[[], Any]] = [
        lambda: entrywise(s, f.cod) @ f,
        lambda: Parallel([bend(s), f]),
        lambda: Power(f, index(s)),
        lambda: Sum([f, bend(s, f.dom, f.cod)]),
        lambda: Fork([f, bend(s, f.dom)]),
    ]
    if not f.dom.is_space:
        contexts = contexts[:3]
    elif f.dom.leaves:
        contexts.append(lambda: f @ entrywise(s, f.dom))
    if not f.cod.is_space:
        contexts = [lambda: Parallel([bend(s), f])]
    return planted(s, one(s, *contexts), depth - 1)
