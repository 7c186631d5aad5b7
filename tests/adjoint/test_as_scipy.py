"""Functions in scipy's solvers: values and derivatives on flat arrays, beside numpy's and scipy's own."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.sparse

import hilbert.all as hb
from hilbert import SpaceError

minimize: Any = scipy.optimize.minimize
N = 6
V = hb.R ** hb.Fin.of(N)
START = np.array([1.3, 0.7, 0.8, 1.9, 1.2, 0.9])
valley = hb.fun(V)(lambda x: (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())
KINDS = {"interpreted": valley, "compiled": hb.compiled(valley)}
SECOND = {"Newton-CG", "trust-constr", "trust-ncg", "trust-exact", "trust-krylov", "dogleg"}
FREE = {"Nelder-Mead", "Powell", "COBYLA", "COBYQA"}
METHODS = sorted(SECOND | FREE | {"CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP"})


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_those_of_scipy(kind: str) -> None:
    """Values, gradients, Hessians and their products of Rosenbrock's function, which scipy has, too."""
    s, p = hb.as_scipy(KINDS[kind]), np.linspace(-1.0, 2.0, N)
    assert s.fun(START) == pytest.approx(scipy.optimize.rosen(START), rel=1e-14)
    assert type(s.fun(START)) is float
    np.testing.assert_allclose(s.jac(START), scipy.optimize.rosen_der(START), rtol=1e-13)
    value, slope = s.value_and_grad(START)
    assert value == pytest.approx(s.fun(START), rel=1e-15)
    np.testing.assert_allclose(slope, s.jac(START), rtol=1e-13)
    np.testing.assert_allclose(s.hess(START), scipy.optimize.rosen_hess(START), rtol=1e-13)
    np.testing.assert_allclose(s.hessp(START, p), scipy.optimize.rosen_hess_prod(START, p), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_minimize(method: str) -> None:
    """Each ends at the minimum, with the derivatives that it takes; from near it where it looks at values alone."""
    s = hb.as_scipy(valley)
    options: dict[str, Any] = {} if method in FREE else {"jac": s.jac}
    options |= {"hess": s.hess} if method in SECOND else {}
    start = np.ones(N) + (0.05 if method in {"COBYLA", "dogleg"} else 0.2)
    more = {"rhobeg": 0.05, "tol": 1e-4, "maxiter": 500} if method == "COBYLA" else {}
    more |= {"maxiter": 50_000, "maxfev": 50_000} if method == "Nelder-Mead" else {}
    found = minimize(s.fun, start, method=method, options=more, **options)
    if method == "COBYLA":  # creeps along the valley
        assert found.fun < 0.5 * s.fun(start)
        return
    np.testing.assert_allclose(found.x, 1.0, atol=2e-2 if method in FREE else 2e-3)
    if method in {"Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"}:
        found = minimize(s.value_and_grad, start, jac=True, hessp=s.hessp, method=method)
        np.testing.assert_allclose(found.x, 1.0, atol=2e-3)


def test_sparse_hessians_in_minimize() -> None:
    """From 100 unknowns on the Hessian is sparse with one pattern, and the methods of Newton's kind take it."""
    W = hb.R ** hb.Fin.of(200)
    f = hb.fun(W)(lambda x: (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())
    s, start = hb.as_scipy(f), np.full(200, 1.1)
    H = s.hess(start)
    assert scipy.sparse.issparse(H)
    assert H.nnz == 598
    np.testing.assert_allclose(H.toarray(), scipy.optimize.rosen_hess(start), rtol=1e-13)
    assert s.hess(start + 1.0).indices is H.indices
    assert s.hess(start + 1.0).data is not H.data
    for method in ("Newton-CG", "trust-constr", "trust-ncg", "trust-krylov"):
        second = {"hess": s.hess} if method in {"Newton-CG", "trust-constr"} else {"hessp": s.hessp}
        found = minimize(s.fun, start, jac=s.jac, method=method, **second)
        np.testing.assert_allclose(found.x, 1.0, atol=0.1)
    dense = hb.as_scipy(f, as_="array")
    assert type(dense.hess(start)) is np.ndarray
    found = minimize(dense.fun, start, jac=dense.jac, hess=dense.hess, method="trust-exact")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-4)


def test_a_matrix_with_many_entries_is_an_array() -> None:
    """Of 200×200 entries, those of a product of vectors are all there; as_="sparse" says otherwise."""
    W = hb.R ** hb.Fin.of(200)
    f = hb.fun(W)(lambda x: (x @ x) ** 2)
    x = np.linspace(0.0, 1.0, 200)
    due = 4 * (x @ x) * np.eye(200) + 8 * np.outer(x, x)
    assert type(hb.as_scipy(f).hess(x)) is np.ndarray
    np.testing.assert_allclose(hb.as_scipy(f).hess(x), due, atol=1e-12)
    np.testing.assert_allclose(hb.as_scipy(f, as_="sparse").hess(x).toarray(), due, atol=1e-12)


Line = hb.R ** hb.Fin.of(40)
curve = hb.fun(hb.R, hb.R, Line, Line)(lambda a, b, t, y: a * hb.exp(b * t) - y)
T = np.linspace(0.0, 1.0, 40)
Y = 2.0 * np.exp(-1.5 * T)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
@pytest.mark.parametrize("f", [curve, hb.compiled(curve)], ids=["interpreted", "compiled"])
def test_least_squares_with_data(f: Any, method: Any) -> None:
    """A fit of two parameters to data, which are given as arrays, as vectors, or in one point."""
    s = hb.as_scipy(f, T, Y, wrt=(0, 1))
    found = scipy.optimize.least_squares(s.fun, [1.0, 0.0], s.jac, method=method)
    np.testing.assert_allclose(found.x, [2.0, -1.5], rtol=1e-7)
    point = curve.dom.vec((9.0, 9.0, T, Y))
    for other in (hb.as_scipy(f, Line.vec(T), Line.vec(Y), wrt=(0, 1)), hb.as_scipy(f, point, wrt=(0, 1))):
        np.testing.assert_array_equal(other.fun(found.x), s.fun(found.x))
    x = np.array([1.5, -0.5])
    np.testing.assert_allclose(s.jac(x), np.stack([np.exp(x[1] * T), x[0] * T * np.exp(x[1] * T)], 1), rtol=1e-13)


def test_sparse_least_squares() -> None:
    """A band of residuals: the Jacobian is sparse, and trf solves by lsmr."""
    W = hb.R ** hb.Fin.of(300)
    s = hb.as_scipy(hb.fun(W)(lambda x: 3.0 * x + hb.sin(x.roll(1)) - 1.0))
    assert s.jac(np.zeros(300)).nnz == 600
    found = scipy.optimize.least_squares(s.fun, np.zeros(300), s.jac, method="trf")
    assert abs(s.fun(found.x)).max() < 1e-6


@pytest.mark.parametrize("method", ["hybr", "lm"])
def test_root(method: str) -> None:
    """Both methods of root that take a Jacobian."""
    s = hb.as_scipy(hb.fun(V)(lambda x: x + 0.1 * hb.sin(x.roll(1)) - 1.0))
    found = scipy.optimize.root(s.fun, np.zeros(N), jac=s.jac, method=method)
    assert abs(s.fun(found.x)).max() < 1e-9
    for free in ("krylov", "broyden1", "df-sane"):
        assert scipy.optimize.root(s.fun, np.zeros(N), method=free).success


def test_constraints_of_scipy() -> None:
    """On the circle x·x = 2 the sum is least at −(1, 1): the Hessian of a constraint is that of v·g."""
    W = hb.R ** hb.Fin.of(2)
    f, g = hb.as_scipy(hb.fun(W)(lambda x: x.sum())), hb.as_scipy(hb.fun(W)(lambda x: (x @ x, x[0] * x[1])))
    np.testing.assert_allclose(g.hess(np.array([1.0, 2.0]), [3.0, 5.0]), [[6.0, 5.0], [5.0, 6.0]])
    circle = hb.as_scipy(hb.fun(W)(lambda x: x @ x))
    for method, more in (("trust-constr", {"hess": f.hess}), ("SLSQP", {})):
        second = {"hess": lambda x, v: v[0] * circle.hess(x)} if more else {}
        limit = scipy.optimize.NonlinearConstraint(circle.fun, 2.0, 2.0, jac=circle.jac, **second)
        found = minimize(f.fun, [1.0, -0.5], jac=f.jac, constraints=[limit], method=method, **more)
        np.testing.assert_allclose(found.x, [-1.0, -1.0], atol=1e-3)


@pytest.mark.parametrize("method", ["BDF", "Radau", "LSODA"])
def test_differential_equations(method: Any) -> None:
    """A stiff equation that depends on the time: f takes t and x, in its own order, and a rate behind them by args."""
    X = hb.R ** hb.Fin.of(2)
    A = (hb.R ** (hb.Fin.of(2) * hb.Fin.of(2))).vec([[-100.0, 1.0], [0.0, -1.0]])
    f = hb.fun(hb.R, X, hb.R)(lambda t, x, k: A @ x + hb.cos(t) * k * (x * 0.0 + 1.0))
    s = hb.as_scipy(f, wrt=1)
    options: dict[str, Any] = {"method": method, "args": (1.0,), "rtol": 1e-8, "atol": 1e-10}
    mine = scipy.integrate.solve_ivp(s.fun, (0.0, 1.0), [1.0, 1.0], jac=s.jac, **options)

    def plain(t: float, x: Any, k: float) -> Any:
        return A.array @ x + np.cos(t) * k

    due = scipy.integrate.solve_ivp(plain, (0.0, 1.0), [1.0, 1.0], jac=lambda *_: A.array, **options)
    np.testing.assert_allclose(mine.y[:, -1], due.y[:, -1], rtol=1e-9)
    np.testing.assert_array_equal(s.jac(0.0, np.ones(2), 1.0), A.array)


def test_a_sparse_jacobian_in_an_integrator() -> None:
    """Heat on 150 points by BDF, with the sparse Jacobian of every call."""
    X = hb.R ** hb.Fin.of(150)
    s = hb.as_scipy(hb.fun(hb.R, X)(lambda t, x: 50.0 * (x.roll(1) + x.roll(-1) - 2.0 * x) + 0.0 * t), wrt=1)
    start = np.sin(2 * np.pi * np.arange(150) / 150)
    assert scipy.sparse.issparse(s.jac(0.0, start))
    rate = 100.0 * (1 - np.cos(2 * np.pi / 150))
    found = scipy.integrate.solve_ivp(s.fun, (0.0, 1.0), start, jac=s.jac, method="BDF", rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.y[:, -1], np.exp(-rate) * start, atol=1e-4)


class Theta(hb.Record):
    """Parameters of a line."""

    slope: hb.Part[hb.Scalar]
    shift: hb.Part[hb.Scalar]


def test_a_lens_varies() -> None:
    """One part of a record varies, the point has the other; the gradient is that of grad(f, wrt=lens)."""
    P = Theta(slope=hb.R, shift=hb.R)
    f = hb.fun(P)(lambda p: (p[Theta.slope] - 2.0) ** 2 * p[Theta.shift])
    s = hb.as_scipy(f, P.vec((5.0, 3.0)), wrt=Theta.slope)
    assert (s.fun([4.0]), s.jac(np.array([4.0])).tolist(), s.hess([4.0]).tolist()) == (12.0, [12.0], [[6.0]])
    assert s.point([1.0]).space == hb.R
    whole = hb.as_scipy(f)
    assert whole.x0(P.vec((1.0, 2.0))).tolist() == [1.0, 2.0]
    assert whole.point([1.0, 2.0])[Theta.shift].array == 2.0
    swapped = hb.as_scipy(f, wrt=(Theta.shift, Theta.slope))
    assert swapped.jac([3.0, 4.0]).tolist() == [4.0, 12.0]


def test_single_precision_and_parts() -> None:
    """Leaves of both precisions: flat arrays are of double precision, what is computed is not."""
    S = hb.direct_sum(hb.R32 ** hb.Fin.of(2), hb.R)
    f = hb.fun.over(S)(lambda a, b: hb.cast(hb.R32, hb.R)((a * a).sum()) * b)
    s, x = hb.as_scipy(f), np.array([1.0, 2.0, 3.0])
    assert s.fun(x) == 15.0
    assert s.jac(x).tolist() == [6.0, 12.0, 5.0]
    assert s.jac(x).dtype == s.hess(x).dtype == s.hessp(x, x).dtype == np.float64
    np.testing.assert_allclose(s.hess(x), [[6.0, 0.0, 2.0], [0.0, 6.0, 4.0], [2.0, 4.0, 0.0]])
    alone = hb.as_scipy(hb.fun(hb.R32 ** hb.Fin.of(150))(lambda x: x * x))
    J = alone.jac(np.ones(150))
    assert J.dtype == np.float64
    assert J.nnz == 150


def test_discrete_data() -> None:
    """A truth value among the data, in any place; among what varies it is refused."""
    f = hb.fun(hb.Bool, hb.R)(lambda c, x: hb.where(c, lambda: x * x, lambda: -x))
    assert hb.as_scipy(f, True, wrt=1).jac([3.0]).tolist() == [6.0]  # noqa: FBT003 - an argument of f
    assert hb.as_scipy(f, wrt=1).jac(False, [3.0]).tolist() == [-1.0]  # noqa: FBT003
    with pytest.raises(SpaceError, match="has a discrete part, and a flat array is of real numbers: name the real"):
        hb.as_scipy(f)
    with pytest.raises(SpaceError, match="has a discrete part"):
        hb.as_scipy(f, 1.0, wrt=0)


@pytest.mark.parametrize("f", [hb.fun(V)(lambda x: x), hb.compiled(hb.fun(V)(lambda x: x))], ids=["plain", "compiled"])
def test_results_are_copies(f: Any) -> None:
    """scipy writes into x and into results, and keeps both: nothing of a result changes with them."""
    s, x = hb.as_scipy(f), START.copy()
    y, v, J, x0 = s.fun(x), s.point(x), s.jac(x), s.x0(V.vec(START))
    for array in (x, J, x0):
        array[...] = 7.0
    np.testing.assert_array_equal(y, START)
    np.testing.assert_array_equal(v.array, START)
    np.testing.assert_array_equal(s.jac(x), np.eye(N))
    constant = hb.as_scipy(hb.fun(V)(lambda _: hb.const(V.vec(START))))
    constant.fun(x)[...] = 0.0
    np.testing.assert_array_equal(constant.fun(x), START)


def test_other_flat_arrays() -> None:
    """Lists, integers, single precision and arrays with strides convert; complex ones and other shapes do not."""
    s = hb.as_scipy(valley)
    due = s.jac(np.arange(6.0))
    wide = np.zeros(12)
    wide[::2] = np.arange(6.0)
    for x in (list(range(6)), np.arange(6), np.arange(6, dtype=np.float32), wide[::2]):
        np.testing.assert_array_equal(s.jac(x), due)
    for bad, says in (
        (START + 1j, "a flat array of 6 real numbers is due, for ℝ^6, not one of dtype complex128"),
        (START[:5], "not one of shape (5,)"),
        (START[None], "not one of shape (1, 6)"),
        (START > 1, "not one of dtype bool"),
        ("text", "not one of dtype <U4"),
        ([[1.0], 2.0], "a flat array of 6 real numbers is due"),
        (V.vec(START), "a flat array of 6 real numbers is due, for ℝ^6, not a vector of ℝ^6"),
    ):
        with pytest.raises(SpaceError) as error:
            s.fun(bad)
        assert says in str(error.value)
    assert hb.as_scipy(hb.fun(hb.R)(lambda x: x * x)).fun(3) == 9.0


def test_refusals() -> None:
    """A wrong number of arguments, data that do not fit, a space of nothing."""
    s = hb.as_scipy(curve, T, Y, wrt=(0, 1))
    for call, says in (
        (s.fun, "takes a flat array x; 0 arguments were given"),
        (lambda: s.fun([1.0, 2.0], T), "takes a flat array x; 2 arguments were given"),
        (lambda: hb.as_scipy(valley).hessp(START), "takes a flat array x, and 1 behind it; 1 arguments were given"),
        (lambda: hb.as_scipy(curve, wrt=(0, 1)).fun([1.0, 2.0], T), "takes as data ℝ^40, ℝ^40, or a vector of ℝ ⊕"),
        (lambda: hb.as_scipy(curve, T, wrt=(0, 1)), "takes as data ℝ^40, ℝ^40, or a vector of ℝ ⊕ ℝ"),
        (lambda: hb.as_scipy(curve, T[1:], Y, wrt=(0, 1)), "shape (40,) would fit"),
        (lambda: hb.as_scipy(curve, T, Y), "takes no data, as all arguments vary: name those that do by wrt="),
        (lambda: hb.as_scipy(curve, curve.dom.zeros()), "takes no data, as all arguments vary"),
        (lambda: hb.as_scipy(valley).x0(Line.zeros()), "is not an element of ℝ^6"),
    ):
        with pytest.raises(SpaceError) as error:
            call()
        assert says in str(error.value), str(error.value)


def test_pickled() -> None:
    """A pickle has the function and the data: solvers with workers send it."""
    s = pickle.loads(pickle.dumps(hb.as_scipy(curve, T, Y, wrt=(0, 1))))
    assert repr(s) == "as_scipy(f : ℝ ⊕ ℝ ⊕ ℝ^40 ⊕ ℝ^40 → ℝ^40) on 2 numbers"
    np.testing.assert_array_equal(s.fun([2.0, -1.5]), 2.0 * np.exp(-1.5 * T) - Y)
    fun = pickle.loads(pickle.dumps(hb.as_scipy(valley).fun))
    assert fun(np.ones(N)) == 0.0


def test_a_pattern_that_depends_on_the_point() -> None:
    """Positions found at the point: an array by default, and as_="sparse" says why not."""
    W, k = hb.R ** hb.Fin.of(120), hb.Elements(hb.Fin.of(120))
    s = hb.as_scipy(hb.fun(W, k)(lambda x, i: x * x[i]), 5, wrt=0)
    J = s.jac(np.ones(120))
    assert type(J) is np.ndarray
    assert J.sum() == 240.0
    with pytest.raises(SpaceError, match="which entries there are depends on the point"):
        hb.as_scipy(hb.fun(W, k)(lambda x, i: x * x[i]), 5, wrt=0, as_="sparse").jac(np.ones(120))


def test_no_unknowns_and_linear_maps() -> None:
    """A space of dimension 0, and a linear map."""
    none = hb.as_scipy(hb.fun(hb.R ** hb.Fin.of(0))(lambda x: x.sum() + 2.0))
    assert (none.fun([]), none.jac([]).shape, none.hess([]).shape) == (2.0, (0,), (0, 0))
    total = hb.as_scipy(hb.gather([1, 0, 1], hb.Fin.of(2)))
    assert total.fun([1.0, 2.0]).tolist() == [2.0, 1.0, 2.0]
    assert total.jac([1.0, 2.0]).tolist() == [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    assert total.hess([1.0, 2.0], [1.0, 1.0, 1.0]).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_sparse_entries_that_are_an_argument_are_copied() -> None:
    """The solver may write into a matrix whose entries are the multipliers: these stay as they are."""
    half = hb.as_scipy(hb.fun(hb.R ** hb.Fin.of(3))(lambda x: 0.5 * x * x), as_="sparse")
    multipliers = np.array([1.0, 2.0, 3.0])
    made = half.hess(np.zeros(3), multipliers)
    made.data[...] = 0.0
    assert multipliers.tolist() == [1.0, 2.0, 3.0]
    multipliers[...] = 4.0
    assert made.data.tolist() == [0.0, 0.0, 0.0]


def test_flat_arrays_are_not_masked() -> None:
    """Masked entries are no numbers: they are refused, as in vectors."""
    s, masked = hb.as_scipy(valley), np.ma.array(START, mask=START > 1.0)
    for call in (s.fun, s.jac, s.point):
        with pytest.raises(SpaceError, match=r"not a masked array of shape \(6,\): fill it first"):
            call(masked)


@pytest.mark.parametrize("factor", ["a", None, [1.0, 2.0]])
def test_the_factor_of_the_goal_is_a_number(factor: Any) -> None:
    """What is no number is refused with the space that is due, as the multipliers are."""
    p = hb.nlp(valley)
    for call in (p.hessian, p.hess):
        with pytest.raises(SpaceError, match="a flat array of 1 real numbers is due, for ℝ, not"):
            call(START, [], factor)


def test_matrices_as_arrays() -> None:
    """With as_="array" a Hessian of many unknowns is an array, for solvers that take no sparse matrices."""
    W = hb.R ** hb.Fin.of(177)
    bowl = hb.fun(W)(lambda x: ((x - 1.0) ** 2).sum() + 0.1 * ((x[1:] - x[:-1]) ** 2).sum())
    sparse, s = hb.as_scipy(bowl), hb.as_scipy(bowl, as_="array")
    start = s.x0(W.zeros())
    assert scipy.sparse.issparse(sparse.hess(start))
    np.testing.assert_allclose(np.linalg.inv(s.hess(start)) @ sparse.hess(start).toarray(), np.eye(177), atol=1e-12)
    found = minimize(s.fun, start, jac=s.jac, hess=s.hess, method="trust-exact")
    np.testing.assert_allclose(found.x, 1.0, atol=1e-6)


def test_bounds_of_a_vector() -> None:
    """Bounds are vectors of the space, some of their entries infinite."""
    s = hb.as_scipy(hb.fun(V)(lambda x: ((x + 1.0) ** 2).sum()))
    low = s.x0(V.vec([0.5, -np.inf, -np.inf, -np.inf, -np.inf, 0.0]))
    bounds: Any = scipy.optimize.Bounds(low, np.inf)
    found = minimize(s.value_and_grad, START, jac=True, bounds=bounds)
    np.testing.assert_allclose(found.x, [0.5, -1.0, -1.0, -1.0, -1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize(("f", "solver"), [(valley, "minimize"), (hb.fun(V)(hb.sin), "least_squares")])
def test_no_function_itself(f: Any, solver: str) -> None:
    """A solver that is given the object says which of its methods it takes."""
    s: Any = hb.as_scipy(f)
    with pytest.raises(SpaceError, match=rf"write s = as_scipy\(f\), {solver}\(s.fun, s.x0\(v\), jac=s.jac\)"):
        minimize(s, START)
