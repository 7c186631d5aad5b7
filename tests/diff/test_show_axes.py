"""Texts say what terms mean: terms of one type with one full text are equal; steps that leave axes alone show them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint import adjoint
from diff import const, cos, derivative, exp, fun, lift, maximum, onehot, outer, program, select, show, sin, tanh
from hilbert import Elements, Fin, R, Vec
from hilbert.relation import sliding
from linmap import cumsum, curry, equal, flip, identity, red, rep, scale, section, total, uncurry
from linmap.contraction import hadamard, scalar
from linmap.net.lower import net
from linmap.term.linear_map import LinMap


class Row: ...


class Column: ...


class Batch: ...


X, Y = Fin.of(2), Fin.of(3)
V = R**X
SPACES: tuple[Any, ...] = (R, V, R**Y, R ** (X * X), R ** (X * Y), V**X)
CONSTANTS: dict[Any, Vec[Any]] = {W: W.random(np.random.default_rng(W.dim)) for W in SPACES}
"""Spaces that are written alike have the same."""
TERMS = 2000


def expression(rng: np.random.Generator, args: list[Any], depth: int) -> Any:
    """A random expression in some others: unary and binary operations, sums along axes, contractions, constants."""
    if depth == 0:
        return args[rng.integers(len(args))]
    x = expression(rng, args, depth - 1)
    y = expression(rng, args, int(rng.integers(depth)))
    index: Any = getattr(x.space, "index", None)
    made: list[Any] = [
        lambda: sin(x), lambda: exp(x), lambda: 2.0 * x, lambda: -x, lambda: x + 1.0, lambda: x * x, lambda: x**2,
        lambda: x.sum(None),
        lambda: x * y, lambda: x + y, lambda: x - y, lambda: x @ y, lambda: x.T, lambda: outer(x, y),
        lambda: x + const(CONSTANTS[x.space]), lambda: x * const(CONSTANTS[x.space]), lambda: select(x > y, x),
        lambda: maximum(x, y), lambda: x.sum(X), lambda: x.cumsum(exclusive=True), lambda: x.roll(1), lambda: x / y,
        lambda: y * x,
        lambda: rep(X, x.space)(x), lambda: uncurry(x.space)(x), lambda: curry(x.space)(x), lambda: x[0],
        lambda: flip(index, x.space.base)(x), lambda: total(index, x.space.base)(x), lambda: 3.0 * x - 2.0 * x,
        lambda: rep(X)(rep(Y)(x)) if x.space == R else tanh(x), lambda: R.vec(2.0) * x,
        lambda: red(sliding(index, 2, stride=2).T, x.space.base)(x),
        lambda: red(sliding(index, 2, dilation=2).T, x.space.base)(x),
    ]  # fmt: skip
    for k in rng.permutation(len(made)):
        try:
            found = made[k]()
        except (ValueError, KeyError, AttributeError, IndexError, TypeError):
            continue  # it does not apply to this space
        if len(found.space.leaves) == 1 and len(found.space.leaves[0].axes) <= 3:
            return found
    return x


def term(seed: int) -> Any:
    """A random function of one or two arguments, lifted up to twice; it, its program, its derivative or the adjoint."""
    rng = np.random.default_rng(seed)
    spaces = [SPACES[k] for k in rng.integers(len(SPACES), size=int(rng.integers(1, 3)))]
    f: Any = fun(*spaces)(lambda *args: expression(rng, list(args), int(rng.integers(1, 4))))
    for _ in range(int(rng.integers(0, 3))):
        over = tuple(k for k in range(2) if rng.integers(2)) or (0,)
        f = lift(f, X, over=over) if len(spaces) > 1 else f**X
    form = rng.integers(5)
    if form < 3:
        return program(f)
    return derivative(f) if form == 3 else adjoint(derivative(f))


def agree(f: Any, g: Any) -> bool:
    """Two functions with the same values: a slice of sin x is sin of the slice, which `equal` does not know."""
    x = f.dom.random(np.random.default_rng(0))
    return bool(np.array_equal(f(x).flat(), g(x).flat()))


def test_equal_text_implies_equal() -> None:
    """Of terms of one type, the same full text ⇒ `equal`. Each space has one constant, so names have one meaning."""
    known: dict[tuple[Any, ...], Any] = {}
    shared = 0
    for seed in range(TERMS):
        f = term(seed)
        point = getattr(f, "point", None)
        text = show(f, lines=None, digits=None)
        before = known.setdefault((type(f).__name__, f.dom, f.cod, point, text), f)
        shared += before is not f
        assert equal(before, f) or agree(before, f), f"{text} of {f.dom} → {f.cod}"
    assert shared > TERMS // 40


LINEAR: list[LinMap[Any, Any]] = [
    rep(X, R**X), rep(X) ** X, total(X, V), total(X) ** X,
    total(X) @ rep(X), total(Y) @ rep(Y), identity(V) - (rep(X) @ total(X)), uncurry(V**X), -identity(V),
]  # fmt: skip


def test_linear_maps() -> None:
    """The same of maps whose types alone do not tell them apart, lowered to nets."""
    for f in map(net, LINEAR):
        for g in map(net, LINEAR):
            if (f.dom, f.cod) == (g.dom, g.cod) and show(f) == show(g):
                assert equal(f, g)
    assert show(net(LINEAR[4])) != show(net(LINEAR[5]))


def test_numbers_are_compared_by_value() -> None:
    """A scaling by 2 and one by the constant 2 print alike, and are equal; a number moves through products."""
    two, c = R.vec(2.0), V.vec([1.0, 2.0])
    assert equal(scale(2.0, V), scale(two, V))
    assert equal(scale(2.0, V), section(scalar(V), 0, two))
    assert equal(fun(V)(lambda x: 2.0 * x), fun(V)(lambda x: two * x))
    assert equal(fun(V)(lambda x: (2.0 * x) * sin(x)), fun(V)(lambda x: 2.0 * (x * sin(x))))
    assert equal(fun(V)(lambda x: (x + c) + x), fun(V)(lambda x: x + (c + x)))
    assert equal(-(section(hadamard(V), 0, c) @ identity(V)), section(hadamard(V), 0, c) @ -identity(V))
    assert not equal(scale(2.0, V), scale(3.0, V))
    assert not equal(fun(V)(lambda x: 2.0 * x), fun(V)(lambda x: 3.0 * x))
    assert not equal(fun(V)(lambda x: x - sin(x)), fun(V)(lambda x: sin(x) - x))
    assert not equal(section(hadamard(V), 0, c), section(hadamard(V), 0, V.vec([2.0, 1.0])))


def test_products_have_no_order() -> None:
    """Brackets in products without sums are not printed, and do not matter; how often a factor stands there does."""
    c = V.vec([1.0, 2.0])
    for W in (R, V):
        f = fun(W, W)(lambda x, y: (x * y) * x)
        assert show(fun(W, W)(lambda x, y: x * (y * x))) == show(f)
        for same in (lambda x, y: x * (y * x), lambda x, y: y * (x * x), lambda x, y: 2.0 * (0.5 * x * (x * y))):
            assert equal(f, fun(W, W)(same))
        for other in (lambda x, y: (x * y) * y, lambda x, y: x * y, lambda x, y: x * y * y * x):
            assert not equal(f, fun(W, W)(other))
    assert equal(fun(R)(lambda x: outer(x * x, x)), fun(R)(lambda x: outer(x, x * x)))
    assert equal(fun(R, V)(lambda k, x: k * (k * x)), fun(R, V)(lambda k, x: (k * k) * x))
    assert not equal(fun(V)(lambda x: outer(x * c, x)), fun(V)(lambda x: outer(x, x * c)))
    assert not equal(fun(V, V)(outer), fun(V, V)(lambda x, y: outer(y, x)))


def test_two_transpositions_are_none() -> None:
    """No text of a function shows them; in products, lifted, and in nets they are equal to none, too."""
    M = R ** (X * Y)
    double: list[Any] = [lambda x: sin(x.T.T), lambda x: x.T.T, lambda x: -2.0 * x.T.T, lambda x: x.T.T.T.T @ x.T]
    single: list[Any] = [sin, lambda x: x, lambda x: -2.0 * x, lambda x: x @ x.T]
    for f, g in ((fun(M)(a), fun(M)(b)) for a, b in zip(double, single, strict=True)):
        assert show(f) == show(g)
        assert equal(f, g)
        assert equal(program(f**X), program(g**X))
        assert equal(derivative(f), derivative(g))
    assert not equal(fun(R ** (X * X))(lambda x: x.T), fun(R ** (X * X))(lambda x: x))
    assert not equal(fun(R ** (X * X))(lambda x: sin(x.T) @ x.T), fun(R ** (X * X))(lambda x: sin(x.T) @ x))
    assert equal(term(109_348), term(107_296))  # as they were found


def row(f: Any) -> str:
    """The text in one line."""
    return " | ".join(line.strip() for line in str(f).splitlines())


def test_pairwise_differences() -> None:
    """Not v ↦ v − v."""
    minus = fun(R, R)(lambda x, y: x - y)
    pairs = lift(lift(minus, X, over=(1,)), X, over=(0,))
    f = fun(V)(lambda v: pairs(v, v))
    assert row(f) == "v ↦ [i, j] ↦ v[i] − v[j]"
    assert row(derivative(f)) == "rep^2 − rep"


def test_a_gram_matrix() -> None:
    """Not exp(xs−xs)."""
    points = R ** Fin(Column, 2)
    kernel = fun(points, points)(lambda x, y: exp(-0.5 * ((x - y) @ (x - y))))
    gram = lift(lift(kernel, X, over=(1,)), X, over=(0,))
    assert row(fun(points**X)(lambda xs: gram(xs, xs))) == "xs ↦ [i, j] ↦ exp(−0.5·‖xs[i]−xs[j]‖²)"


def test_centring_of_rows_and_of_columns() -> None:
    """Two formulas, with the tags for indices where they differ."""
    rows, columns = Fin(Row, 2), Fin(Column, 3)
    M = R ** (rows * columns)
    whole: Any = uncurry((R**columns) ** rows)
    down = fun(M)(lambda u: u - whole(rep(rows, R**columns)(u.sum(rows))))
    across = program(fun(R**columns)(lambda u: u - rep(columns)(u.sum())) ** rows)
    assert row(down) == "u ↦ [i, j] ↦ u[i, j] − Σ_k u[k, j]"
    assert row(across) == "x ↦ [i, j] ↦ x[i, j] − Σ_k x[i, k]"
    product: Any = program(
        lift(fun(R ** (rows * columns), R**columns)(lambda W, x: W @ x), Fin(type("Batch", (), {}), 5), over=(1,))
    )
    assert row(product) == "(W, x) ↦ [batch, row] ↦ Σ_column W[row, column]·x[batch, column]"


def test_two_meanings_of_one_sign() -> None:
    """⊙ of vectors, and of each of a batch."""
    dot = fun(V, V)(lambda x, y: x @ y)
    assert row(program(dot)) == "(x, y) ↦ x⊙y"
    assert row(program(lift(dot, X, over=(0, 1)))) == "(x, y) ↦ [i] ↦ Σ_j x[i, j]·y[i, j]"
    assert row(derivative(lift(dot, X, over=(0, 1)))) == "Δ^2(x⊙)•π₂ + Δ^2(⊙y)•π₁"
    assert row(derivative(lift(dot, X, over=(1,)))) == "(x⊙)^2•π₂ + (y⋆)•π₁"


def test_steps_on_all_axes_print_as_before() -> None:
    """No index where the signs say everything; a shared value is repeated along the axes in front."""
    assert row(fun(R ** (X * Y), R**Y, V)(lambda W, x, b: tanh(W @ x + b))) == "(W, x, b) ↦ tanh(W⋆x+b)"
    assert row(program(lift(fun(V, V)(lambda b, v: v + b), Y, over=(1,)))) == "(b, v) ↦ v + b"
    assert row(fun(R)(lambda x: cos(x) * x)) == "x ↦ (cos x)·x"
    assert row(fun(V, Elements(X))(lambda v, y: v[y] * onehot(y))) == "(v, y) ↦ v[y]·e[y]"


@pytest.mark.parametrize("seed", range(0, TERMS, 97))
def test_texts_have_no_private_characters(seed: int) -> None:
    """Every index has got a name."""
    assert all(ord(c) < 0xE000 or 0x1D000 <= ord(c) < 0x1E000 for c in show(term(seed)))


def test_what_no_text_mentions_has_no_name() -> None:
    """tanh'(x) is computed from tanh x and shows x: entry by entry, too, tanh x gets no line of its own."""
    A: Any = const(CONSTANTS[R ** (X * X)])
    text = str(derivative(fun(R)(lambda x: tanh(A @ rep(X)(x)))))
    assert text.count("where u") == 1
    assert "where u₁ = [i] ↦ tanh'(Σ_j a[i, j]·rep_j(x))" in text


def test_a_step_at_each_element_names_their_axes() -> None:
    """Of a family of rows, the axis of the rows, not that of their entries."""
    rows, columns = Fin(Row, 4), Fin(Column, 3)
    d = derivative(fun(R**columns)(lambda x: cumsum(columns)(sin(x))) ** rows)
    assert str(d) == "scan^Row4 • (cos x ·)"
