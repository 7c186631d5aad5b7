"""Jets are (k,R)-Taylor representations: those of derivatives along curves, functorial, of every step of programs."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from jax.experimental import jet as jax_jet

from adjoint import grad, hessian, vjp
from diff import (
    const,
    directional,
    fun,
    hypot,
    interpolated,
    jet,
    jvp,
    kept,
    lift,
    pow,  # noqa: A004 - the standard name
    power,
    program,
    select,
    sin,
    sqrt,
    tanh,
    taylor,
)
from diff.jets.multiindex import directions, indices
from diff.primitives.primitives import BINARY, PRIMITIVES
from hilbert import R32, Bool, DirectSum, Elements, Fin, R, SpaceError, Vec, direct_sum
from linmap import LinMap, equal, red
from tests.diff.test_primitives import POINTS, in_jax
from tests.function_terms import between
from tests.programs import CONTRACTIONS, DISCRETE, MLP, RELATIONS, STRUCTURE
from tests.strategies import Source, close, of_leaves, sources

jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX has it so


def curve(f: Any, terms: list[tuple[Any, ...]]) -> Callable[[Any], tuple[Any, ...]]:
    """s ↦ the real leaves of f(Σ terms_n sⁿ/n!), on JAX's arrays; discrete leaves are those of terms_0."""

    def at(s: Any) -> tuple[Any, ...]:
        leaves = list(map(jnp.asarray, terms[0]))
        real = [k for k, leaf in enumerate(f.dom.leaves) if leaf.is_field]
        for n, term in enumerate(terms[1:], 1):
            for k, a in zip(real, term, strict=True):
                leaves[k] = leaves[k] + a * s**n / math.factorial(n)
        found = f(Vec(f.dom, tuple(leaves))).leaves
        return tuple(a for a, leaf in zip(found, f.cod.leaves, strict=True) if leaf.is_field)

    return at


def slope(g: Callable[[Any], Any], s: Any) -> Any:
    """g'(s), by JAX."""
    return jax.jvp(g, (s,), (1.0,))[1]


def derivatives(g: Callable[[Any], Any], order: int) -> list[Any]:
    """g(0), g'(0), …, by JAX."""
    found = []
    for _ in range(order + 1):
        found.append(g(0.0))
        g = partial(slope, g)
    return found


def random_terms(f: Any, order: int, rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """A value, and coefficients for the real leaves."""
    space = f.dom.tangent
    return [f.dom.random(rng).leaves, *(tuple(0.3 * a for a in space.random(rng).leaves) for _ in range(order))]


def jet_of(f: Any, terms: list[tuple[Any, ...]], **options: Any) -> list[tuple[Any, ...]]:
    """The leaves of a jet in one parameter, order by order."""
    J = jet(f, 1, len(terms) - 1, **options)
    y = J(Vec(J.dom, sum(terms, ())))
    return [part.leaves for part in y.split()]


def agree(ours: tuple[Any, ...], theirs: tuple[Any, ...], tolerance: float = 1e-9) -> None:
    for a, b in zip(ours, theirs, strict=True):
        scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=0.0, atol=tolerance * scale)


# --- every entry of the tables ---

by_jax: Any = jax_jet.jet
IN_JET: dict[str, Callable[..., Any]] = {
    "tan": lambda x: jnp.sin(x) / jnp.cos(x),
    "asin": lambda x: jnp.arctan2(x, jnp.sqrt(1.0 - x * x)),
    "acos": lambda x: jnp.arctan2(jnp.sqrt(1.0 - x * x), x),
    "atan": lambda x: jnp.arctan2(x, 1.0),
    "relu": lambda x: jnp.maximum(x, 0.0),
    "softplus": lambda x: jnp.log1p(jnp.exp(x)),
    "logaddexp": lambda x, y: jnp.log(jnp.exp(x) + jnp.exp(y)),
}
"""What JAX's jets have no rule for, by what they have one for."""


BY_SLOPES = {
    *("log_sigmoid", "erfcx", "log_ndtr", "ndtri", "lgamma", "digamma", "i0e", "i1e", "sinc", "entr", "xlogy", "betaln")
}
"""What JAX's jets have no rule for: up to order 4, by slopes of slopes."""


def curve_of(f: Any, terms: Any) -> Callable[[Any], Any]:
    """s ↦ f(Σ t_n sⁿ/n!, …) of the terms of each argument."""
    return lambda s: f(*(sum(t * s**n / math.factorial(n) for n, t in enumerate(ts)) for ts in terms))


TABLE: dict[str, Any] = {p.name: p for p in PRIMITIVES} | {p.name: p for p in BINARY}


@pytest.mark.parametrize("name", TABLE)
def test_primitives(name: str) -> None:
    """∂ⁿ p(u(s)), n ≤ 6, beside JAX's jets: on numbers, on vectors, and on a space with two axes."""
    p = TABLE[name]
    points = np.asarray(POINTS.get(name, (-1.3, -0.7, 0.3, 1.1)))
    x = [points] if p.rule.arity == 1 else [np.array([0.6, 1.7, 0.8, 1.9]), np.array([1.2, 0.9, 2.1, 0.4])]
    rng = np.random.default_rng(3)
    u = [[0.2 * rng.standard_normal(4) for _ in range(6)] for _ in x]
    if name in BY_SLOPES:
        u = [t[:4] for t in u]
        g = curve_of(in_jax(name), [[jnp.asarray(a), *map(jnp.asarray, t)] for a, t in zip(x, u, strict=True)])
        due = list(map(np.asarray, derivatives(g, 4)))
    else:
        value, series = by_jax(
            IN_JET.get(name) or in_jax(name), list(map(jnp.asarray, x)), [list(map(jnp.asarray, t)) for t in u]
        )
        due = [np.asarray(value), *map(np.asarray, series)]
    for V, shape in ((R, ()), (R ** Fin.of(4), (4,)), (R ** (Fin.of(2) * Fin.of(2)), (2, 2))):
        f = fun(*[V] * p.rule.arity)(p)
        columns = zip(*([a, *t] for a, t in zip(x, u, strict=True)), strict=True)
        terms = [tuple(a[1] if shape == () else a.reshape(shape) for a in column) for column in columns]
        for n, ours in enumerate(jet_of(f, terms)):
            agree(ours, (due[n][1] if shape == () else due[n].reshape(shape),))


SQUARE = R ** (Fin.of(3) * Fin.of(3))
BILINEAR: dict[str, Any] = CONTRACTIONS | {
    "square matrices": fun(SQUARE, SQUARE)(lambda m, n: m @ n),
    "a barrier": fun(SQUARE, SQUARE)(lambda m, n: kept(m.T) @ kept(n)),
}
EINSUM = {
    "matrix and vector": "ij,j->i",
    "transposed matrix and vector": "ij,i->j",
    "matrix and matrix": "ij,jk->ik",
    "vectors": "i,i->",
    "outer": "i,j->ij",
    "pointwise": "ij,ij->ij",
    "scalar": ",ij->ij",
    "inner": "ij,ij->",
    "transposed inner": "ij,ji->",
    "two axes": "ijk,kj->i",
    "groups": "ij,ikj->ki",
    "batch of products": "bij,bjk->bik",
    "batch of vectors": "bij,jb->bi",
    "product in the middle": "bij,ki->bkj",
    "product in the middle, groups": "ki,bcij->bckj",
    "broadcast": "i,j->ji",
    "square matrices": "ij,jk->ik",
    "a barrier": "ji,jk->ik",
}
"""What each contraction is, for JAX."""
OTHERS: dict[str, Any] = DISCRETE | MLP


@pytest.mark.parametrize("name", BILINEAR)
def test_contractions(name: str) -> None:
    """Leibniz: (u ⋄ w)⁽ⁿ⁾ = Σ binom(n, i) u⁽ⁱ⁾ ⋄ w⁽ⁿ⁻ⁱ⁾, n ≤ 6; and of u ⋄ u, half of it twice."""
    f = BILINEAR[name]
    rng = np.random.default_rng(5)
    u, w = ([part.random(rng) for _ in range(7)] for part in f.dom.parts)
    found = jet_of(f, [a.leaves + b.leaves for a, b in zip(u, w, strict=True)])
    for n, ours in enumerate(found):
        due = sum((math.comb(n, i) * f(u[i], w[n - i]).array for i in range(n + 1)), 0.0)
        agree(ours, (due,))
    if f.dom.parts[0] == f.dom.parts[1]:
        square = fun(f.dom.parts[0])(lambda x: f(x, x))
        for n, ours in enumerate(jet_of(square, [a.leaves for a in u])):
            agree(ours, (sum((math.comb(n, i) * f(u[i], u[n - i]).array for i in range(n + 1)), 0.0),))


@pytest.mark.parametrize("name", BILINEAR)
def test_contractions_in_jax(name: str) -> None:
    """∂ⁿ (u(s) ⋄ w(s)) and ∂ⁿ (tanh u(s) ⋄ w(s)), n ≤ 6, beside JAX's jets of `einsum`."""
    f, spec = BILINEAR[name], EINSUM[name]
    rng = np.random.default_rng(7)
    terms = random_terms(f, 6, rng)
    first, *others = ([jnp.asarray(a) for a in term] for term in terms)
    series = [list(column) for column in zip(*others, strict=True)]
    curved = fun(*f.dom.parts)(lambda u, w: f(tanh(u), w))
    for ours, theirs in (
        (f, lambda u, w: jnp.einsum(spec, u, w)),
        (curved, lambda u, w: jnp.einsum(spec, jnp.tanh(u), w)),
    ):
        value, slots = by_jax(theirs, first, series)
        for n, found in enumerate(jet_of(ours, terms)):
            agree(found, ([value, *slots][n],))


@pytest.mark.parametrize("name", OTHERS)
def test_discrete_operands(name: str) -> None:
    """Masks, elements of index sets, comparisons, and a network with its gradient: n ≤ 2, by JAX along curves."""
    f = OTHERS[name]
    terms = random_terms(f, 2, np.random.default_rng(5))
    found = jet_of(f, terms)
    real = [k for k, leaf in enumerate(f.cod.leaves) if leaf.is_field]
    for n, theirs in enumerate(derivatives(curve(f, terms), 2)):
        agree(tuple(found[n][k] for k in real) if n == 0 else found[n], theirs)


LINEAR: dict[str, Any] = {name: red(relation, R) for name, relation in RELATIONS.items()} | {
    name: h for name, h in STRUCTURE.items() if isinstance(h, LinMap)
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_maps(name: str) -> None:
    """Linear steps apply to each coefficient: h(u)_n = h(u_n)."""
    h = LINEAR[name]
    terms = random_terms(h, 3, np.random.default_rng(6))
    for ours, term in zip(jet_of(h, terms), terms, strict=True):
        agree(ours, h(Vec(h.dom, term)).leaves, 1e-6 if "cast" in name else 1e-9)


@given(sources(smooth=True, single=False))
def test_functions_along_curves(s: Source) -> None:
    """Functions of every combinator: slot n is the n-th derivative of s ↦ f(Σ u_n sⁿ/n!), n ≤ 3, by nested `jvp`."""
    V, W = s.space(8, 1), s.space(8, 1)
    f = between(s, V, W, 2)
    u: Any = [s.vector(V) for _ in range(4)]
    curve: Any = fun(R)
    g: Any = curve(lambda t: f(u[0] + t * (u[1] + t * (0.5 * u[2] + t * ((1.0 / 6.0) * u[3])))))
    for ours in jet(f, 1, 3)(*u).split():
        assert close(ours, g(R.vec(0.0)), 1e-8)
        g = jvp(g) @ fun(R)(lambda t: (t, const(R.vec(1.0))))


# --- laws ---


def two_parameters(order: int = 3) -> tuple[Any, Vec[Any]]:
    """A function, and a jet of its argument in two parameters."""
    X = Fin.of(3)
    f = fun(R**X, R)(lambda x, k: (tanh(k * x) @ sin(x), x * sqrt(k * k + 1.0)))
    J = jet(f, 2, order)
    return f, J.dom.random(np.random.default_rng(7))


@given(sources(smooth=True, single=False))
def test_functor(s: Source) -> None:
    """J(g ∘ f) = J(g) ∘ J(f), J(id) = id, J⟨f, g⟩ = ⟨J f, J g⟩ at (2,2)."""
    U, V, W = s.space(6, 1), s.space(6, 1), s.space(6, 1)
    f, g = between(s, U, V, 1), between(s, V, W, 1)
    x = s.vector(jet(f, 2, 2).dom)
    assert close(jet(g @ f, 2, 2)(x), jet(g, 2, 2)(jet(f, 2, 2)(x)), 1e-8)
    assert close(jet(fun(U)(lambda u: u), 2, 2)(x), x)


def test_truncation_and_restriction() -> None:
    """A smaller set of indices gives the same slots, whatever the others are."""
    f, x = two_parameters()
    J = jet(f, 2, 3)
    y = dict(zip(indices(2, 3), J(x).split(), strict=True))
    u = dict(zip(indices(2, 3), x.split(), strict=True))
    box = [(a, b) for a in range(2) for b in range(3)]
    for smaller in (indices(2, 2), indices(2, 0), box, [(0, 0), (1, 0), (2, 0), (3, 0)]):
        K = jet(f, 2, 3, wanted=smaller)
        z = K(of_leaves(K.dom, [a for alpha in sorted(smaller) for a in u[alpha].leaves]))
        for alpha, part in zip(sorted(smaller), z.split(), strict=True):
            assert close(part, y[alpha], 1e-13)


def test_given() -> None:
    """Coefficients that are not given are 0."""
    f, x = two_parameters()
    start = [(0, 0), (0, 1), (2, 0)]
    u = dict(zip(indices(2, 3), x.split(), strict=True))
    zeros = [u[a].leaves if a in start else tuple(0.0 * leaf for leaf in u[a].leaves) for a in indices(2, 3)]
    some = jet(f, 2, 3, given=start)
    whole = jet(f, 2, 3)
    z = some(of_leaves(some.dom, [leaf for a in start for leaf in u[a].leaves]))
    assert close(z, whole(of_leaves(whole.dom, sum(zeros, ()))), 1e-13)
    assert len(program(some).steps) < len(program(whole).steps)
    at_zero = jet(fun(R)(lambda x: sin(x + 1.0)), 1, 2, given=[1])
    assert [float(c) for c in at_zero(at_zero.dom.vec((2.0,))).split()] == pytest.approx(
        [math.sin(1.0), 2.0 * math.cos(1.0), -4.0 * math.sin(1.0)]
    )


def test_permutation_and_linear_change_of_parameters() -> None:
    """Exchanging t₁ and t₂ exchanges α₁ and α₂; along t = s·(a, b) that of order n is Σ_{|α|=n} aᵅ¹bᵅ² of x's."""
    f, x = two_parameters()
    J = jet(f, 2, 3)
    swap = [indices(2, 3).index((b, a)) for a, b in indices(2, 3)]
    swapped = of_leaves(J.dom, [leaf for k in swap for leaf in x.split()[k].leaves])
    y, z = J(x).split(), J(swapped).split()
    assert all(close(y[k], z[n], 1e-12) for n, k in enumerate(swap))
    weights = {a: 0.5 ** a[0] * (-2.0) ** a[1] * math.comb(sum(a), a[0]) for a in indices(2, 3)}

    def along(parts: Any, n: int) -> Any:
        return sum(
            (weights[a] * part for a, part in zip(indices(2, 3), parts, strict=True) if sum(a) == n), 0.0 * parts[0]
        )

    line = jet(f, 1, 3)(*(along(x.split(), n) for n in range(4)))
    assert all(close(part, along(y, n), 1e-11) for n, part in enumerate(line.split()))


def test_constants_go_to_constants() -> None:
    """J f (c, 0, …) = (f(c), 0, …)."""
    f, x = two_parameters(2)
    value, *rest = x.split()
    J = jet(f, 2, 2)
    y = J(of_leaves(J.dom, [*value.leaves, *(0.0 * leaf for part in rest for leaf in part.leaves)])).split()
    assert close(y[0], f(value), 1e-14)
    assert all(not np.any(leaf) for part in y[1:] for leaf in part.leaves)


def test_the_first_slot_is_jvp_and_the_last_is_the_hessian() -> None:
    """(1,1) is jvp; the last slot of {0,1}² with directions e_i, e_j is H_ij; so is directional, and jvp of jvp."""
    X = Fin.of(3)
    f = fun(R**X)(lambda x: (sin(x) * x) @ tanh(x) + (x @ x) ** 1.5)
    x, v = (R**X).vec([0.3, -0.8, 1.1]), (R**X).vec([1.0, 2.0, -0.5])
    assert close(jet(f, 1, 1)(x, v)[1], jvp(f)(x, v), 1e-13)
    H = hessian(f, x)
    corner = jet(f, 2, 2, given=[(0, 0), (0, 1), (1, 0)], wanted=[(0, 0), (0, 1), (1, 0), (1, 1)])
    for i, e in enumerate((R**X).basis()):
        for j, d in enumerate((R**X).basis()):
            for found in (corner(x, e, d)[3], directional(f, 2)(x, e, d), directional(f, 2, polarised=True)(x, e, d)):
                assert float(found) == pytest.approx(H[i, j], abs=1e-11)


@pytest.mark.parametrize("r", range(6))
def test_derivatives_of_order_r(r: int) -> None:
    """Dʳf(x)[v₁, …, vᵣ] by a jet over {0,1}ʳ, by polarisation, and by r nested derivatives of t ↦ f(x + Σ tᵢvᵢ)."""
    X = Fin.of(2)
    f = fun(R**X, R)(lambda x, k: tanh(k * x) + sin(x) * (x @ x))
    rng = np.random.default_rng(r)
    x, *v = (f.dom.random(rng) for _ in range(r + 1))

    def along(*t: Any) -> Any:
        leaves = [a + sum((s * w.leaves[k] for s, w in zip(t, v, strict=True)), 0.0) for k, a in enumerate(x.leaves)]
        return f(Vec(f.dom, tuple(map(jnp.asarray, leaves)))).leaves[0]

    g = along
    for i in range(r):
        g = lambda *t, g=g, i=i: jax.jvp(lambda s: g(*t[:i], s, *t[i + 1 :]), (t[i],), (1.0,))[1]  # noqa: E731
    due = np.asarray(g(*[0.0] * r))
    D = directional(f, r)
    assert D.cod == f.cod
    np.testing.assert_allclose(D(of_leaves(D.dom, [a for w in (x, *v) for a in w.leaves])).array, due, atol=1e-10)
    polar = directional(f, r, polarised=True)
    np.testing.assert_allclose(polar(of_leaves(D.dom, [a for w in (x, *v) for a in w.leaves])).array, due, atol=1e-8)


@pytest.mark.parametrize(("k", "order"), [(1, 4), (2, 3), (3, 3), (2, 5), (2, 0), (0, 2)])
def test_interpolation_gives_the_jet(k: int, order: int) -> None:
    """The jet of t ↦ x + Σ tᵢvᵢ directly, and from Taylor coefficients along directions."""
    X = Fin.of(2)
    f = fun(R**X, Bool)(lambda x, c: (tanh(x) * (x @ x), select(c, sin(x @ x))))
    start = [alpha for alpha in indices(k, order) if sum(alpha) <= 1]
    direct, family = jet(f, k, order, given=start), interpolated(f, k, order)
    assert (direct.dom, direct.cod) == (family.dom, family.cod)
    x = direct.dom.random(np.random.default_rng(k))
    assert close(direct(x), family(x), 1e-8)


def test_taylor_coefficients_are_divided() -> None:
    """c_n = ∂ⁿ/n!, on vectors and in a traced function."""
    X = Fin.of(2)
    f = fun(R**X)(lambda x: sin(x) * x)
    x, v = (R**X).vec([0.2, 0.9]), (R**X).vec([1.0, -2.0])
    c = taylor(f, x, v, 5)
    J = jet(f, 1, 5, given=[0, 1])(x, v).split()
    assert all(close(math.factorial(n) * c[n], J[n], 1e-12) for n in range(6))
    inside = fun(R**X, R**X)(lambda x, v: taylor(f, x, v, 5)[4])
    assert close(inside(x, v), c[4], 1e-14)
    assert close(fun(R**X)(lambda x: taylor(f, x, v, 2)[2])(x), c[2], 1e-14)


def test_mixed_modes() -> None:
    """The gradient of slot R of the jet of f, in slot m of its argument, is binom(R, m) times slot R − m of J(∇f)."""
    X = Fin.of(3)
    f = fun(R**X)(lambda x: tanh(x) @ sin(x) + (x @ x) * x[0])
    order = 4
    J, G = jet(f, 1, order), jet(grad(f), 1, order)
    x = J.dom.random(np.random.default_rng(2))
    last = fun.over(J.dom)(lambda *u: J(*u)[order])
    for m, part in enumerate(grad(last)(x).split()):
        assert close(part, math.comb(order, m) * G(x).split()[order - m], 1e-11)


def test_a_jet_is_a_program() -> None:
    """It lifts, differentiates, prints, and compares; one function has one jet."""
    X = Fin.of(3)
    f = fun(R**X)(lambda x: sin(x) @ x)
    J: Any = jet(f, 1, 2)
    assert jet(f, 1, 2) is J
    assert equal(jet(fun(R**X)(lambda y: sin(y) @ y), 1, 2), J)
    assert str(J).startswith("(x₀, x₁, x₂) ↦ ((sin x₀)⊙x₀, ")
    xs = [(R**X).random(np.random.default_rng(k)) for k in range(3)]
    many = lift(J, Fin.of(2), over=(0, 1, 2))
    stacked = many.dom.vec(tuple(np.stack([x.array, 2.0 * x.array]) for x in xs))
    assert np.allclose(many(stacked).leaves[2][0], J(*xs).leaves[2])
    pulled = vjp(J)(J.dom.vec(tuple(x.array for x in xs)), J.cod.vec((0.0, 0.0, 1.0)))
    assert np.allclose(pulled.split()[2].array, grad(f)(xs[0]).array)


def test_discrete_parts_stand_at_0_only() -> None:
    """Elements and truth values have a value, and no derivatives, in the argument and in the result."""
    X = Fin.of(3)
    f = fun(R**X, Elements(X), Bool)(lambda x, i, c: (select(c, sin(x)[i] * x), x > 0.0))
    J = jet(f, 1, 2)
    assert J.dom == direct_sum(f.dom, R**X, R**X) or J.dom == DirectSum((f.dom, f.dom.tangent, f.dom.tangent))
    x = J.dom.random(np.random.default_rng(1))
    terms = [part.leaves for part in x.split()]
    found = J(x).split()
    for n, theirs in enumerate(derivatives(curve(f, terms), 2)):
        agree(found[n].leaves[:1], theirs)
    assert found[1].space == f.cod.tangent
    v = J.dom.parts[1].random(np.random.default_rng(2))
    value = f.dom.vec(tuple(terms[0]))
    for D in (directional(f, 2), directional(f, 2, polarised=True)):
        assert D.cod == f.cod.tangent
        assert close(D(value, v, v), jet(f, 1, 2, given=[0, 1])(value, v)[2], 1e-11)
    assert directional(f, 0).cod == f.cod


def test_parts_that_vary() -> None:
    """With `wrt` the other parts have a value only: the slots are those with zeros in their place, in fewer steps."""
    X, H = Fin.of(3), Fin.of(4)
    f = fun(R ** (H * X), R**X, R**H)(lambda W, x, b: tanh(W @ x + b) @ b)
    whole = jet(f, 1, 3)
    u: list[tuple[Any, ...]] = [f.dom.random(np.random.default_rng(n)).split() for n in range(4)]
    for wrt in (0, 1, 2, (1, 2), (2, 0)):
        places = [wrt] if isinstance(wrt, int) else list(wrt)
        some = jet(f, 1, 3, wrt=wrt)
        chosen = [term[k] for term in u[1:] for k in places]
        y = some(of_leaves(some.dom, [a for part in (*u[0], *chosen) for a in part.leaves]))
        zeros = [a if n == 0 or k in places else 0.0 * a for n, term in enumerate(u) for k, a in enumerate(term)]
        assert close(y, whole(of_leaves(whole.dom, [leaf for a in zeros for leaf in a.leaves])), 1e-12)
        assert len(program(some).steps) < len(program(whole).steps)
    x = f.dom.vec(tuple(a.array for a in u[0]))
    c = taylor(f, x, u[1][1], 3, wrt=1)
    J = jet(f, 1, 3, given=[0, 1], wrt=1)(x, u[1][1]).split()
    assert all(close(math.factorial(n) * c[n], J[n], 1e-12) for n in range(4))
    with pytest.raises(SpaceError, match="each once"):
        jet(f, 1, 2, wrt=(1, 1))
    with pytest.raises(SpaceError, match="3"):
        jet(f, 1, 2, wrt=3)


def test_single_precision_stays() -> None:
    """Jets on ℝ₃₂ are of ℝ₃₂."""
    V = R32 ** Fin.of(2)
    f = fun(V)(lambda x: tanh(x) * sin(x))
    for g in (jet(f, 1, 3), interpolated(f, 2, 2), directional(f, 3, polarised=True)):
        y = g(g.dom.random(np.random.default_rng(0)))
        assert {leaf.dtype for leaf in y.leaves} == {np.dtype("float32")}
        assert {slot.dtype for slot in program(g).slots} == {"float32"}


@pytest.mark.parametrize(
    ("name", "x", "due"),
    [
        ("absolute", 0.0, (0.0, 0.0, 0.0)),
        ("relu", 0.0, (0.0, 0.0, 0.0)),
        ("relu", 2.0, (2.0, 3.0, 5.0)),
        ("sign", 0.0, (0.0, 0.0, 0.0)),
    ],
)
def test_kinks(name: str, x: float, due: tuple[float, ...]) -> None:
    """At a kink the derivative is the one of the table, at all orders."""
    (p,) = [p for p in PRIMITIVES if p.name == name]
    found = jet(fun(R)(p), 1, 2)(R.vec(x), R.vec(3.0), R.vec(5.0))
    assert tuple(map(float, found.split())) == due


@pytest.mark.parametrize("k", [0.0, 1.0, 2.0, 3.0, 5.0])
def test_whole_powers_at_0(k: float) -> None:
    """x^k for a natural number k has all derivatives at 0: those of order k are k!, the others 0."""
    J = jet(fun(R)(power(k)), 1, 6, given=[0, 1])
    assert [float(c) for c in J(R.vec(0.0), R.vec(1.0)).split()] == [
        math.factorial(int(k)) * (n == k) for n in range(7)
    ]


def test_gradients_of_powers_at_0() -> None:
    """(x^k)' = 0 at 0 for k > 1, where the exponent is a number and where it varies."""
    assert float(grad(fun(R)(power(1.5)))(R.vec(0.0))) == 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        assert float(grad(fun(R, R)(pow), 0)(R.vec(0.0), R.vec(2.0))) == 0.0


# --- cost ---

OPEN = {"lgamma", "digamma", "betaln", "sinc"}
"""Rows with a new function for each order: see docs/taylor.md."""
SHAPES: dict[str, Any] = {
    **{p.name: fun(R)(p) for p in PRIMITIVES if p.name not in OPEN},
    **{p.name: fun(R, R)(p) for p in BINARY if p.name not in OPEN},
    "x/(1+x²)": fun(R)(lambda x: x / (1.0 + x * x)),
    "hypot(x, x²)": fun(R)(lambda x: hypot(x, x * x)),
    "x^x": fun(R)(lambda x: pow(x, x)),
    "x^-1.5": fun(R)(lambda x: x**-1.5),
}


@pytest.mark.parametrize("name", SHAPES)
def test_quadratic_in_the_order(name: str) -> None:
    """Twice the order takes at most 4.5 times the steps: every row of the table closes."""
    short, long = (len(program(jet(SHAPES[name], 1, order)).steps) for order in (16, 32))
    assert long <= 4.5 * short


def test_a_row_that_does_not_close_is_still_right() -> None:
    """x^7.5 makes a new power at each order, seven in all."""
    c = taylor(fun(R)(power(7.5)), R.vec(2.0), R.vec(1.0), 9)
    due = [math.gamma(8.5) / math.gamma(8.5 - n) / math.factorial(n) * 2.0 ** (7.5 - n) for n in range(8)]
    assert [float(a) for a in c[:8]] == pytest.approx(due, rel=1e-13)


def test_nothing_of_order_1_for_constant_parts() -> None:
    """W₂·tanh(W₁·x) in x: each coefficient takes two products with a matrix, and the value of tanh(W·c) is one step."""
    X, H = Fin.of(4), Fin.of(5)
    W, U, c = (R ** (H * X)).ones(), (R ** (X * H)).ones(), (R**X).ones()
    f = fun(R**X)(lambda x: U @ tanh(W @ x))
    within: Any = tanh(U @ (W @ c))
    g = fun(R**X)(lambda x: U @ tanh(W @ x + W @ within))
    for order in (1, 3, 6):
        J, K = program(jet(f, 1, order)), program(jet(g, 1, order))
        matrices = [step for step in J.steps if any(len(J.slots[k].axes) == 2 for k in step.args)]
        assert len(matrices) == 2 * (order + 1)
        assert len(K.steps) - len(J.steps) == len(program(g).steps) - len(program(f).steps)


def test_long_programs() -> None:
    """10⁴ steps pass, in time that is linear: no recursion."""

    def body(x: Any) -> Any:
        for _ in range(5000):
            x = sin(x) * 0.9
        return x

    p = program(fun(R)(body))
    J = program(jet(p, 1, 2))
    assert len(J.steps) <= 20 * len(p.steps)


def contractions(g: Any) -> int:
    """The products of a program."""
    return sum(type(step.operation).__name__ == "Contract" for step in program(g).steps)


@pytest.mark.parametrize(("k", "order", "products"), [(2, 4, 171), (3, 3, 187), (1, 6, 87)])
def test_derivatives_are_summed_in_the_parameter_of_least_order(k: int, order: int, products: int) -> None:
    """A coefficient at α is a sum over γ ≤ α with γᵢ > 0: it has the fewest terms where αᵢ is least."""
    assert contractions(jet(fun(R)(lambda x: tanh(x * sin(x))), k, order)) <= products


@pytest.mark.parametrize(
    ("k", "order", "slots", "products", "family", "along"),
    [
        (1, 5, 6, 21, 1, 21),
        (2, 2, 6, 15, 3, 18),
        (3, 3, 20, 84, 10, 100),
        (2, 5, 21, 126, 6, 126),
        (5, 2, 21, 66, 15, 90),
        (5, 4, 126, 1001, 70, 1050),
        (3, 8, 165, 3003, 45, 2025),
        (5, 8, 1287, 43758, 495, 22275),
    ],
)
def test_products_are_counted(k: int, order: int, slots: int, products: int, family: int, along: int) -> None:
    """The (k,R)-jet of a product forms the pairs γ ≤ α; a family of (1,R)-jets (R+1)(R+2)/2 a direction (13.4)."""
    f = fun(R, R)(lambda x, y: x * y)
    assert len(indices(k, order)) == slots
    assert contractions(jet(f, k, order)) == products
    assert len(directions(k, order)) == family
    assert family * contractions(jet(f, 1, order)) == along


def test_directions_have_names() -> None:
    """The point is x, and the directions are v₁ to v_r, where the program is printed."""
    assert str(directional(fun(R)(lambda x: sin(x) * x), 2)).startswith("(x, v₁, v₂) ↦ ")
