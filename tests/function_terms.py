"""Function terms of every node class: `NODES[class](source, depth)` has that class at its root.

The sources are smooth: their vectors are small real numbers, so that compositions stay in a bounded region. Terms are
analytic unless `kinks` are allowed (absolute values, maxima, comparisons), which numerical differentiation may meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff import (
    absolute,
    asinh,
    atan,
    cos,
    entry,
    exp,
    fun,
    inner,
    lift,
    logaddexp,
    made,
    maximum,
    minimum,
    onehot,
    outer,
    program,
    relu,
    select,
    sigmoid,
    sign,
    sin,
    softplus,
    sqrt,
    square,
    tanh,
)
from diff.terms.elementwise import Binary, Comparison, Primitive
from diff.terms.nodes import Bilinear, Compose, Constant, Fork, Lift, Parallel, Power, Scaled, Sum
from diff.terms.program import Program
from hilbert import Copower, DirectSum, Elements, R, Record
from linmap import fork
from linmap.contraction import hadamard, scalar
from tests import linear_terms
from tests.linear_terms import CONTRACTIONS, SCALARS
from tests.strategies import Source

if TYPE_CHECKING:
    from collections.abc import Callable

SMOOTH = (sin, cos, tanh, atan, sigmoid, softplus, asinh, exp, square)
KINKED = (relu, absolute, sign)
BOUNDED = (sin, cos, tanh, atan, sigmoid)
COMPARISONS = ("greater", "greater_equal", "less", "less_equal", "logical_and", "logical_or", "logical_not")


# --- maps between two given spaces ---


def pointwise(s: Source, V: Any) -> Any:
    """A bounded primitive, entry by entry, on any space."""
    return fun(V)(s.one_of(BOUNDED))


def between(s: Source, V: Any, W: Any, depth: int, *, kinks: bool = False) -> Any:
    """A function V → W of at most this depth, on a space or on a type with discrete parts."""

    def rest(dom: Any, cod: Any) -> Any:
        return between(s, dom, cod, depth - 1, kinks=kinks)

    options: list[Callable[[], Any]] = [lambda: pointwise(s, W) @ linear_terms.between(s, V, W, 1)] * 3 * V.is_space
    options.append(lambda: Constant(V, s.vector(W)))
    if depth > 0:
        options += [
            lambda: Sum((rest(V, W), rest(V, W))),
            lambda: Scaled(s.one_of(SCALARS), rest(V, W)),
            lambda: Compose([rest(V, W), pointwise(s, W)]),
            lambda: Compose([fork(rest(V, W), rest(V, W)), Bilinear(hadamard(W))]),
        ]
        if kinks:
            options.append(lambda: _selected(s, rest(V, W)))
        if V.is_sum and V.parts:
            k = s.integer(0, len(V.parts) - 1)
            options.append(lambda: Compose([_part(V, k), rest(V.parts[k], W)]))
        if isinstance(W, DirectSum) and W.parts:
            options.append(lambda: Fork(tuple(rest(V, part) for part in W.parts)))
        if isinstance(W, Record) and W.parts:
            options.append(lambda: Compose([rest(V, DirectSum(W.parts)), _packed(W)]))
        if isinstance(V, DirectSum) and isinstance(W, DirectSum) and len(V.parts) == len(W.parts) > 0:
            pairs = list(zip(V.parts, W.parts, strict=True))
            options.append(lambda: Parallel(tuple(rest(a, b) for a, b in pairs)))
        if isinstance(V, Copower) and isinstance(W, Copower) and V.index == W.index:
            options.append(lambda: Power(rest(V.base, W.base), V.index))
    return s.one_of(options)()


def _part(V: Any, k: int) -> Any:
    """π_k, also where another part is discrete."""
    return fun(V)(lambda v: v[list(V.lenses.values())[k] if isinstance(V, Record) else k])


def _packed(W: Any) -> Any:
    """The record of some parts, as a traced function."""
    return fun(DirectSum(W.parts))(lambda v: made(W, *(entry(lens, v[k]) for k, lens in enumerate(W.lenses.values()))))


def _selected(s: Source, f: Any) -> Any:
    """f where it is greater than a constant, else 0, leaf by leaf."""
    bound = s.vector(s.field)

    def body(x: Any) -> Any:
        y = f(x)
        return relu(y - bound.array.item()) + maximum(y, sin(y))

    return fun(f.dom)(body)


# --- terms with a given class at their root ---


def _types(s: Source) -> Any:
    """A domain: a space, or one beside a discrete part."""
    V = s.space(8)
    return DirectSum((V, Elements(s.index(empty=False)))) if s.one_of([False, False, True]) else V


def _bilinear(s: Source) -> Bilinear:
    c = CONTRACTIONS[s.one_of(list(CONTRACTIONS))](s)
    return Bilinear(c.lifted(s.index(3)) if s.flag() else c)


def _lifted(s: Source, depth: int) -> Any:
    """A function of several arguments, some of which are shared by all elements."""
    options: list[Callable[[], Any]] = [
        lambda: _bilinear(s),
        lambda: traced(s, several=True),
        lambda: between(s, s.sum(8, least=1), s.space(8), depth - 1),
        lambda: Bilinear(scalar(s.space(6))),
    ]
    f = s.one_of(options)()
    n = len(f.dom.parts)
    over = tuple(k for k in range(n) if s.flag()) or (s.integer(0, n - 1),)
    return lift(f, s.index(3), over=over)


def _comparison(s: Source) -> Comparison:
    return Comparison(s.one_of(COMPARISONS))


def _parallel(s: Source, depth: int) -> Parallel:
    n = s.integer(1, 3)
    return Parallel(tuple(between(s, _types(s), s.space(6), depth - 1, kinks=True) for _ in range(n)))


def _sum(s: Source, depth: int) -> Sum:
    V, W = _types(s), s.space()
    return Sum(tuple(between(s, V, W, depth - 1, kinks=True) for _ in range(s.integer(1, 3))))


def _fork(s: Source, depth: int) -> Fork:
    V = _types(s)
    return Fork(tuple(between(s, V, s.space(8), depth - 1, kinks=True) for _ in range(s.integer(1, 3))))


def _compose(s: Source, depth: int) -> Compose:
    V = s.space(8)
    return Compose([between(s, _types(s), V, depth - 1, kinks=True), between(s, V, s.space(8), depth - 1)])


NODES: dict[type, Callable[[Source, int], Any]] = {
    Constant: lambda s, _: Constant(_types(s), s.vector(s.space())),
    Bilinear: lambda s, _: _bilinear(s),
    Compose: _compose,
    Sum: _sum,
    Scaled: lambda s, depth: Scaled(s.one_of(SCALARS), between(s, _types(s), s.space(), depth - 1)),
    Fork: _fork,
    Parallel: _parallel,
    Power: lambda s, depth: Power(between(s, _types(s), s.space(8), depth - 1, kinks=True), s.index(3)),
    Lift: _lifted,
    Primitive: lambda s, _: s.one_of([*SMOOTH, *KINKED]),
    Binary: lambda s, _: s.one_of([logaddexp, maximum, minimum]),
    Comparison: lambda s, _: _comparison(s),
    Program: lambda s, depth: traced(s) if s.flag() else program(between(s, _types(s), s.space(8), depth)),
}
"""For each node class a term that has it at its root; the spaces are its own choice."""


def function(s: Source, depth: int = 2) -> Any:
    """A function with any node class at its root, under a copower now and then."""
    classes = [cls for cls in NODES if s.field == R or cls not in {Primitive, Binary, Comparison}]
    f = NODES[s.one_of(classes)](s, depth)
    return Power(f, s.index(3)) if s.one_of([False, False, True]) else f


def smooth_function(s: Source, depth: int = 3) -> Any:
    """An analytic function between two spaces."""
    return between(s, s.space(12), s.space(12), depth)


# --- pointful functions ---


def _layer(s: Source) -> Any:
    K, X, Y = s.field, s.index(), s.index()
    return fun(K ** (Y * X), K**X, K**Y)(lambda W, x, b: tanh(W @ x + b))


def _product_of_matrices(s: Source) -> Any:
    K, X, Y, Z = s.field, s.index(), s.index(), s.index(3)
    return fun(K ** (Z * Y), K ** (Y * X))(lambda A, B: (A @ sin(B)).T)


def _quotient(s: Source) -> Any:
    return fun(s.space())(lambda x: x / (1.0 + x**2) - 1.0 / (2.0 + cos(x)) + sqrt(x**2 + 1.0))


def _powers(s: Source) -> Any:
    return fun(s.space())(lambda x: x**3 - 2.0 * x**2 + sin(x) + cos(x) * 0.5)


def _mixed(s: Source) -> Any:
    V = s.space(8)
    c = s.vector(V)
    return fun(V, V)(lambda x, y: (x * y - c, sin(x) - y / 2.0, inner(x, y) if V.leaves else x))


def _energy(s: Source) -> Any:
    V = s.copower(12)
    if not V.leaves:  # the sum of no entries is in ℝ
        return fun(V, s.field)(lambda _, k: sin(k))
    return fun(V, s.field)(lambda v, k: k * (v * v).sum() + softplus(v).sum())


def _tensor(s: Source) -> Any:
    return fun(s.space(4), s.space(4))(lambda v, w: outer(sin(v), w))


def _row(s: Source) -> Any:
    V, X = s.space(6), s.index(empty=False)
    return fun(Copower(V, X), Elements(X))(lambda v, x: sin(v[x]) + v[x])


def _label(s: Source) -> Any:
    X = s.index(empty=False)
    return fun(s.field**X, Elements(X))(lambda v, x: exp(v) - onehot(x, s.field))


def _selection(s: Source) -> Any:
    V = s.field ** s.index()
    return fun(V, V)(lambda x, y: select((x > 0.1) & ~(y <= x), x * y) + select(y < 0.5, sin(x)))


def _nested(s: Source) -> Any:
    f, g = _quotient(s), pointwise(s, s.space(8))
    return fun(f.dom, g.dom)(lambda x, y: (f(x) + f(sin(x)), g(g(y))))


ONE_ARGUMENT = (_quotient, _powers)
SEVERAL_ARGUMENTS = (
    _layer,
    _product_of_matrices,
    _mixed,
    _energy,
    _tensor,
    _row,
    _label,
    _selection,
    _nested,
)


def traced(s: Source, *, several: bool = False) -> Any:
    """A program from a Python function; of several arguments if asked for."""
    return s.one_of(SEVERAL_ARGUMENTS if several else ONE_ARGUMENT + SEVERAL_ARGUMENTS)(s)
