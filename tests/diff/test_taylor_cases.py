"""Numbers that Taylor modes have to give: sets of indices, Faà di Bruno, derivatives of operations, weights, plots."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from diff import (
    cos,
    directional,
    exp,
    fun,
    interpolated,
    jet,
    log,
    pow,  # noqa: A004 - the standard name
    power,
    program,
    reciprocal,
    sigmoid,
    sin,
    softplus,
    sqrt,
    tanh,
    taylor,
)
from diff.jets.multiindex import Alpha, directions, indices, interpolation, placed, polarisation
from hilbert import Fin, R, direct_sum
from tests.strategies import of_leaves

# --- sets of multi-indices ---


def test_lexicographic_order() -> None:
    """I(2,2) and I(3,3) as they are printed."""
    assert ["".join(map(str, a)) for a in indices(2, 2)] == ["00", "01", "02", "10", "11", "20"]
    due = "000 001 002 003 010 011 012 020 021 030 100 101 102 110 111 120 200 201 210 300"
    assert ["".join(map(str, a)) for a in indices(3, 3)] == due.split()


@pytest.mark.parametrize(
    ("k", "order", "size"),
    [
        (1, 1, 2),
        (1, 5, 6),
        (2, 2, 6),
        (3, 3, 20),
        (2, 5, 21),
        (5, 4, 126),
        (4, 0, 1),
        (0, 4, 1),
        (10, 4, 1001),
        (5, 8, 1287),
    ],
)
def test_sizes(k: int, order: int, size: int) -> None:
    """|I(k, R)| = binom(R+k, k), in order, each once."""
    found = indices(k, order)
    assert len(found) == size == math.comb(order + k, k)
    assert list(found) == sorted(set(found))
    assert all(len(a) == k and sum(a) <= order for a in found)


# --- the formula of Faà di Bruno ---


@pytest.mark.parametrize(
    ("alpha", "arguments", "total"),
    [
        *[((n,), 1, bell) for n, bell in enumerate((1, 2, 5, 15, 52), 1)],
        ((2,), 2, 6),
        ((3,), 2, 22),
        ((5,), 2, 454),
        ((1, 1), 1, 2),
        ((1, 1), 2, 6),
        ((2, 1), 1, 5),
        ((2, 1), 2, 22),
        ((1, 1, 1), 1, 5),
        ((1, 1, 1), 2, 22),
    ],
)
def test_sums_of_coefficients(alpha: tuple[int, ...], arguments: int, total: int) -> None:
    """g = exp(y₁ + … + y_l) at 0 and u^j_γ = 1: all derivatives are 1, the sums Touchard polynomials at l."""
    f = fun(*[R] * arguments)(lambda *y: exp(sum(y[1:], y[0])))
    J = jet(f, len(alpha), sum(alpha))
    ones = [float(any(a)) for a in indices(len(alpha), sum(alpha)) for _ in range(arguments)]
    found = J(of_leaves(J.dom, list(map(np.asarray, ones)))).split()
    assert float(found[indices(len(alpha), sum(alpha)).index(alpha)]) == pytest.approx(total, rel=1e-14)


# --- derivatives of the basic operations, all orders ---


def falling(r: float, n: int) -> float:
    return math.prod(r - i for i in range(n))


def polynomials(step: Callable[[Any, Any], Any], n: int) -> Any:
    """P_0 = y, P_{m+1} = step(y)·P_m', as coefficients."""
    p = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        p = step(np.polynomial.Polynomial([0.0, 1.0]), p.deriv())
    return p


def of_sigmoid(x: float, n: int) -> float:
    return float(polynomials(lambda y, d: y * (1.0 - y) * d, n)(1.0 / (1.0 + math.exp(-x))))


DERIVATIVES: dict[str, tuple[Any, Callable[[float, int], float]]] = {
    "neg": (lambda x: -x, lambda x, n: (-x, -1.0, 0.0)[min(n, 2)]),
    "reciprocal": (reciprocal, lambda x, n: (-1.0) ** n * math.factorial(n) / x ** (n + 1)),
    "exp": (exp, lambda x, _: math.exp(x)),
    "ln": (log, lambda x, n: (-1.0) ** (n - 1) * math.factorial(n - 1) / x**n if n else math.log(x)),
    "sin": (sin, lambda x, n: math.sin(x + n * math.pi / 2)),
    "cos": (cos, lambda x, n: math.cos(x + n * math.pi / 2)),
    "sqrt": (sqrt, lambda x, n: falling(0.5, n) * x ** (0.5 - n)),
    "pow_-1.5": (power(-1.5), lambda x, n: falling(-1.5, n) * x ** (-1.5 - n)),
    "pow_2.5": (power(2.5), lambda x, n: falling(2.5, n) * x ** (2.5 - n)),
    "pow_3": (power(3.0), lambda x, n: falling(3.0, n) * x ** (3.0 - n)),
    "sigmoid": (sigmoid, of_sigmoid),
    "tanh": (tanh, lambda x, n: float(polynomials(lambda y, d: (1.0 - y * y) * d, n)(math.tanh(x)))),
    "softplus": (softplus, lambda x, n: of_sigmoid(x, n - 1) if n else math.log1p(math.exp(x))),
}


@pytest.mark.parametrize("name", DERIVATIVES)
@pytest.mark.parametrize("x", [0.3, 1.7])
def test_derivatives_of_operations(name: str, x: float) -> None:
    """∂ⁿ, n ≤ 8."""
    p, due = DERIVATIVES[name]
    found = jet(fun(R)(p), 1, 8, given=[0, 1])(R.vec(x), R.vec(1.0)).split()
    np.testing.assert_allclose([float(c) for c in found], [due(x, n) for n in range(9)], rtol=1e-11, atol=1e-9)


def test_derivatives_of_division() -> None:
    """∂_(0,j) = (−1)^j j! x/y^{j+1}, ∂_(1,j) = (−1)^j j!/y^{j+1}, 0 for i ≥ 2; and x^y = exp(y ln x)."""
    x, y = 1.3, 0.7
    one, zero = R.vec(1.0), R.vec(0.0)
    V = direct_sum(R, R)
    at = (V.vec((x, y)), V.vec((0.0, 1.0)), V.vec((1.0, 0.0)))
    assert (one.space, zero.space) == (R, R)
    start = [(0, 0), (0, 1), (1, 0)]
    quotients = jet(fun(R, R)(lambda x, y: x / y), 2, 4, given=start)(*at).split()
    powers = jet(fun(R, R)(pow), 2, 4, given=start)(*at).split()
    defined = jet(fun(R, R)(lambda x, y: exp(y * log(x))), 2, 4, given=start)(*at).split()
    for (i, j), q, p, d in zip(indices(2, 4), quotients, powers, defined, strict=True):
        due = (-1) ** j * math.factorial(j) / y ** (j + 1) * (x if i == 0 else 1.0) if i < 2 else 0.0
        assert float(q) == pytest.approx(due, rel=1e-12, abs=1e-12)
        assert float(p) == pytest.approx(float(d), rel=1e-11)


# --- mixed partials from directions ---


def all_weights(k: int, order: int) -> dict[Alpha, dict[Alpha, Fraction]]:
    """G(α, j) for all α ≠ 0 and j."""
    found = {}
    for alpha in indices(k, order)[1:]:
        beta, places = placed(alpha, order)
        row = dict.fromkeys(directions(k, order), Fraction())
        for place, weight in zip(places, interpolation(len(beta), order)[beta], strict=True):
            row[directions(k, order)[place]] = weight
        found[alpha] = row
    return found


def test_tables_of_interpolation() -> None:
    """G for (k, R) = (2, 2) and (2, 3), in rationals."""
    rows = {
        2: {(0, 1): "1/2 0 0", (1, 0): "0 0 1/2", (0, 2): "1/2 0 0", (1, 1): "-1/4 1 -1/4", (2, 0): "0 0 1/2"},
        3: {
            (1, 0): "0 0 0 1/3",
            (1, 1): "-5/36 1/4 1/4 -5/36",
            (2, 0): "0 0 0 2/9",
            (2, 1): "2/27 -1/3 2/3 -5/27",
            (1, 2): "-5/27 2/3 -1/3 2/27",
            (3, 0): "0 0 0 2/9",
            (0, 1): "1/3 0 0 0",
            (0, 2): "2/9 0 0 0",
            (0, 3): "2/9 0 0 0",
        },
    }
    for order, table in rows.items():
        found = all_weights(2, order)
        assert found.keys() == table.keys()
        for alpha, row in table.items():
            assert list(found[alpha].values()) == list(map(Fraction, row.split()))
            assert list(found[alpha]) == list(directions(2, order))


@pytest.mark.parametrize(("k", "order"), [(1, 5), (2, 4), (3, 3), (4, 2), (3, 5)])
def test_interpolation_is_exact(k: int, order: int) -> None:
    """G(α, ·) recovers ∂^α of every monomial t^β of degree 1 to R: c_r(j) = j^β where r = |β|."""
    for alpha, row in all_weights(k, order).items():
        for beta in indices(k, order):
            if sum(beta) == sum(alpha):
                found = sum(g * math.prod(n**m for n, m in zip(j, beta, strict=True)) for j, g in row.items())
                assert found == (math.prod(map(math.factorial, alpha)) if alpha == beta else 0)


@pytest.mark.parametrize("r", range(1, 7))
def test_polarisation_is_exact(r: int) -> None:
    """Σ weight·Π ε_i over a word of r indices is 1 where each stands once, and 0 otherwise: Dʳ of x₁⋯xᵣ is 1."""
    assert len(polarisation(r)) == 2 ** (r - 1)
    assert sum(weight * math.prod(epsilon) for weight, epsilon in polarisation(r)) == 1
    for other in combinations_with_replacement(range(r), r):  # a product does not depend on the order of a word
        found = sum(weight * math.prod(epsilon[i] for i in other) for weight, epsilon in polarisation(r))
        assert found == (1 if other == tuple(range(r)) else 0)


# --- plots: slots of the arguments, slots of the result ---

ONE, TWO, THREE = (fun(*[R] * n) for n in (1, 2, 3))
CASES: dict[str, tuple[Any, int, int, list[tuple[float, ...]], list[float]]] = {
    "A1": (TWO(lambda x, y: x * y + sin(x)), 1, 1, [(2, 1), (3, 0)], [6.909297426826, 2.583853163453]),
    "A2": (TWO(lambda x, y: x * y + sin(x)), 1, 1, [(2, 0), (3, 1)], [6.909297426826, 2.0]),
    "A4": (TWO(lambda x, y: x**2 * y), 1, 2, [(3, 0, 0), (5, 1, 0)], [45, 9, 0]),
    "A5": (TWO(lambda x, y: x**2 * y), 1, 2, [(3, 1, 0), (5, 1, 0)], [45, 39, 22]),
    "A7": (
        TWO(lambda x, y: x * y),
        1,
        2,
        [(4, 4, 2), (math.sin(2), math.cos(2), -math.sin(2))],
        [3.637189707303, 1.972602361114, -5.147769546029],
    ),
    "A8": (
        TWO(lambda x, y: exp(x * y)),
        2,
        2,
        [(1 / 8, 1 / 2, 0, 1 / 4, 1, 0), (9 / 16, 1 / 2, 2, 1, 0, 0)],
        [1.072843392435, 0.3687899161495, 0.9314040780025, 0.2849740261155, 1.371961349994, 0.6121179219044],
    ),
    "A10": (ONE(sigmoid), 1, 5, [(0, 1, 0, 0, 0, 0)], [1 / 2, 1 / 4, 0, -1 / 8, 0, 1 / 4]),
    "A11": (
        ONE(tanh),
        1,
        5,
        [(0.5, 1, 0, 0, 0, 0)],
        [0.46211715726, 0.7864477329659, -0.7268619813836, -0.5652092882598, 3.952219563725, -3.266686471971],
    ),
    "A13": (ONE(lambda x: 1.0 / (1.0 - x)), 1, 5, [(0.5, 1, 0, 0, 0, 0)], [2, 4, 16, 96, 768, 7680]),
    "A14": (ONE(lambda x: sqrt(1.0 + x)), 1, 5, [(0, 1, 0, 0, 0, 0)], [1, 1 / 2, -1 / 4, 3 / 8, -15 / 16, 105 / 32]),
    "A16": (ONE(lambda x: x * x * x * x * x), 1, 5, [(2, 1, 0, 0, 0, 0)], [32, 80, 160, 240, 240, 120]),
    "A17": (
        ONE(lambda x: sin(x) / x),
        1,
        5,
        [(1, 1, 0, 0, 0, 0)],
        [0.8414709848079, -0.3011686789398, -0.2391336269284, 0.177098574917, 0.1330766851399, -0.1250811198312],
    ),
    "A19": (
        THREE(lambda x, y, z: exp(x + 2.0 * y + 3.0 * z)),
        3,
        3,
        [tuple(float(a == e) for a in indices(3, 3)) for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1))],
        [1.0 ** a[0] * 2.0 ** a[1] * 3.0 ** a[2] for a in indices(3, 3)],
    ),
    "A20": (
        THREE(lambda x, y, z: x / (y + z)),
        3,
        3,
        [tuple(float(a in (e, (0, 0, 0))) for a in indices(3, 3)) for e in ((1, 0, 0), (0, 1, 0), (0, 0, 1))],
        [0.125 * n for n in (4, -2, 2, -3, -2, 2, -3, 2, -3, -3, 4, -2, 2, -2, 2, 2, 0, 0, 0, 0)],
    ),
    "A22": (
        TWO(lambda x, y: log(x**2 + y**2)),
        2,
        2,
        [(3, 0, 0, 1, 0, 0), (4, 1, 0, 0, 0, 0)],
        [3.218875824868, 8 / 25, -14 / 625, 6 / 25, -48 / 625, 14 / 625],
    ),
    "A23": (
        TWO(lambda x, y: (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2),
        2,
        2,
        [(-1.2, 0, 0, 1, 0, 0), (1, 1, 0, 0, 0, 0)],
        [121 / 5, -88, 200, -1078 / 5, 480, 1330],
    ),
    "A24 sin": (ONE(sin), 1, 5, [(0, 1, 2, 3, 0, 0)], [0, 1, 2, 2, -12, -89]),
    "A24 exp": (ONE(exp), 1, 5, [(0, 1, 2, 3, 0, 0)], [1, 1, 3, 10, 37, 171]),
    "A25": (TWO(lambda x, y: x * y), 2, 2, [(2, 3, 5, 7, 11, 13), (1, 2, 3, 4, 5, 6)], [2, 7, 23, 15, 47, 81]),
}


def at_plots(f: Any, k: int, order: int, plots: list[tuple[float, ...]], **options: Any) -> list[float]:
    """The slots of the result for these slots of each argument."""
    J = jet(f, k, order, **options)
    found = J(of_leaves(J.dom, [np.asarray(float(plot[n])) for n in range(len(plots[0])) for plot in plots]))
    return [float(part) for part in found.split()]


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    """1e-11, relative to the largest slot."""
    f, k, order, plots, due = CASES[name]
    np.testing.assert_allclose(at_plots(f, k, order, plots), due, rtol=1e-11, atol=1e-11 * max(map(abs, due)))


SQUAREFREE = [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a26() -> None:
    """⟨z₁, z₂⟩·⟨y₁, y₂⟩ over {0,1}²."""
    f = fun(R, R, R, R)(lambda z1, z2, y1, y2: z1 * y1 + z2 * y2)
    plots: list[tuple[float, ...]] = [(1, 2, 3, 4), (2, 1, 0, 5), (5, 6, 7, 8), (1, -1, 2, 3)]
    assert at_plots(f, 2, 2, plots, wanted=SQUAREFREE) == [7, 15, 26, 73]


def test_a27() -> None:
    """J(1,1) of J(1,1) is the jet over {0,1}², the outer one first."""
    f = fun(R, R)(lambda x, y: exp(x * sin(y)))
    due = [5.381364516489, 33.60389866906, 54.29067749557, 86.0058657405]
    found = at_plots(f, 2, 2, [(2, 1, 3, 0), (1, 5, 7, 0)], wanted=SQUAREFREE)
    np.testing.assert_allclose(found, due, rtol=1e-11)
    twice: Any = jet(program(jet(f, 1, 1)), 1, 1)
    slots = [2, 1, 1, 5, 3, 7, 0, 0]  # (u00, u10), then (u01, u11) of x and y
    nested = twice(of_leaves(twice.dom, [np.asarray(float(a)) for a in slots]))
    np.testing.assert_allclose([float(a) for a in nested.leaves], due, rtol=1e-11)


def test_e1() -> None:
    """x³ + 2x²y + 5xy² + 7y³ at (1,1): coefficients along (0,3) … (3,0), and all slots of the jet."""
    f = TWO(lambda x, y: x**3 + 2.0 * x**2 * y + 5.0 * x * y**2 + 7.0 * y**3)
    V = f.dom
    x = V.vec((1.0, 1.0))
    due = {(0, 3): [15, 99, 234, 189], (1, 2): [15, 78, 137, 81], (2, 1): [15, 57, 74, 33], (3, 0): [15, 36, 45, 27]}
    for j, coefficients in due.items():
        found = taylor(f, x, V.vec(tuple(map(float, j))), 3)
        np.testing.assert_allclose([float(c) for c in found], coefficients, rtol=1e-13)
    y = interpolated(f, 2, 3)(x, V.vec((0.0, 1.0)), V.vec((1.0, 0.0)))
    np.testing.assert_allclose([float(c) for c in y.split()], [15, 33, 52, 42, 12, 14, 10, 10, 4, 6], rtol=1e-12)


def test_e2() -> None:
    """∂_x∂_y∂_z of xyz + x²y is 1, and ∂_x∂_y 5, by polarisation."""
    f = THREE(lambda x, y, z: x * y * z + x**2 * y)
    V = f.dom
    x = V.vec((1.0, 2.0, 3.0))
    last = {(1, 1, 1): 2.0, (1, 1, -1): 0.0, (1, -1, 1): -2.0, (1, -1, -1): 0.0}
    for v, c in last.items():
        assert float(taylor(f, x, V.vec(tuple(map(float, v))), 3)[3]) == pytest.approx(c, abs=1e-13)
    e = [V.vec(tuple(row)) for row in np.eye(3).tolist()]
    for way in (False, True):
        assert float(directional(f, 3, polarised=way)(x, *e)) == pytest.approx(1.0, rel=1e-13)
        assert float(directional(f, 2, polarised=way)(x, e[0], e[1])) == pytest.approx(5.0, rel=1e-13)


def test_e3() -> None:
    """xyz over {0,1}³."""
    f = THREE(lambda x, y, z: x * y * z)
    corner = list(product((0, 1), repeat=3))
    plots = [tuple(v * (a == (0, 0, 0)) + (a == e) for a in corner) for v, e in zip((2.0, 3.0, 5.0), EYE, strict=True)]
    assert at_plots(f, 3, 3, plots, wanted=corner) == [30, 6, 10, 2, 15, 3, 5, 1]


EYE = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


IN_INPUTS = [
    0.475562207433,
    -0.01483113334323,
    -0.004351921963879,
    0.007182670685319,
    0.001988499913481,
    -0.0011941406756,
]
ALL_ONES = [0.475562207433, 0.4412347457024, 0.4427578392963]


def test_b16_and_b17() -> None:
    """The paper's network: (2,2) in the inputs, and (1,2) along all parameters."""
    X, H, Y = Fin.of(2), Fin.of(2), Fin.of(2)

    def network(x: Any, W: Any, b: Any, U: Any, c: Any, w: Any, d: Any) -> Any:
        return sigmoid(w @ sigmoid(U @ sigmoid(W @ x + b) + c) + d)

    net = fun(R**X, R ** (H * X), R**H, R ** (Y * H), R**Y, R**Y, R)(network)
    values = (
        [1.0, -0.5],
        [[0.5, -0.25], [-0.3, 0.8]],
        [0.1, 0.0],
        [[1.0, -1.0], [0.3, 0.5]],
        [0.2, -0.4],
        [0.7, -1.2],
        0.05,
    )
    V = net.dom
    x = V.vec(values)
    zeros = [np.zeros(leaf.shape) for leaf in V.leaves]

    def direction(k: int, value: Any) -> Any:
        return of_leaves(V, [np.asarray(value) if i == k else a for i, a in enumerate(zeros)])

    inputs = jet(net, 2, 2, given=[(0, 0), (0, 1), (1, 0)])(x, direction(0, [0.0, 1.0]), direction(0, [1.0, 0.0]))
    np.testing.assert_allclose([float(c) for c in inputs.split()], IN_INPUTS, rtol=1e-9)
    ones = of_leaves(V, [a if k == 0 else a + 1.0 for k, a in enumerate(zeros)])
    along = jet(net, 1, 2, given=[0, 1])(x, ones)
    np.testing.assert_allclose([float(c) for c in along.split()], ALL_ONES, rtol=1e-11)
