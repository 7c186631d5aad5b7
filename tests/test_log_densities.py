"""docs/log-densities.md: each density is scipy's, and each log volume is that of a Jacobian by differences."""

import doctest
import inspect
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import hilbert.all as hb
from hilbert.all import R

PAGE = Path(__file__).parents[1] / "docs" / "log-densities.md"


@cache
def page() -> dict[str, Any]:
    """The names that the code of the page defines."""
    names: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text("utf-8")):
        if not example.source.startswith("print("):
            exec(compile(example.source, PAGE.name, "exec"), names)  # noqa: S102 - our own page
    return names


DENSITIES: dict[str, tuple[tuple[float, ...], Any]] = {
    "normal": ((0.3, 1.0, 2.5), stats.norm.logpdf),
    "student_t": ((0.3, 3.5, 1.0, 2.5), stats.t.logpdf),
    "gamma": ((0.7, 2.5, 3.0), lambda y, a, r: stats.gamma.logpdf(y, a, scale=1.0 / r)),
    "beta": ((0.7, 2.5, 0.4), stats.beta.logpdf),
    "poisson": ((4.0, 2.5), stats.poisson.logpmf),
    "negative_binomial": ((4.0, 2.5, 1.3), lambda y, m, k: stats.nbinom.logpmf(y, k, k / (k + m))),
    "binomial": ((4.0, 9.0, -0.6), lambda y, n, x: stats.binom.logpmf(y, n, 1.0 / (1.0 + np.exp(-x)))),
    "von_mises": ((0.7, -1.0, 5.0), lambda y, m, k: stats.vonmises.logpdf(y, k, loc=m)),
}


@pytest.mark.parametrize("name", DENSITIES)
def test_densities(name: str) -> None:
    """The value is that of scipy.stats, and the slope in each parameter that of scipy's values by differences."""
    point, theirs = DENSITIES[name]
    f: Any = hb.fun(*[R] * len(point))(page()[name])
    at = [R.vec(x) for x in point]
    assert float(f(*at)) == pytest.approx(float(theirs(*point)), rel=1e-12)
    assert len(inspect.signature(page()[name]).parameters) == len(point)
    for k in range({"binomial": 2}.get(name, 1), len(point)):
        up, down = ([x + h * (j == k) for j, x in enumerate(point)] for h in (1e-5, -1e-5))
        assert float(hb.grad(f, k)(*at)) == pytest.approx(float(theirs(*up) - theirs(*down)) / 2e-5, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("name", "y"), [("poisson", 0.0), ("negative_binomial", 0.0), ("gamma", 0.0), ("beta", 0.0)])
def test_at_the_ends(name: str, y: float) -> None:
    """An observation of 0 has a log density, and gradients in the parameters, where scipy has one."""
    point, theirs = DENSITIES[name]
    at = (y, *(1.0 for _ in point[1:]))
    f: Any = hb.fun(*[R] * len(point))(page()[name])
    assert float(f(*map(R.vec, at))) == pytest.approx(float(theirs(*at)), rel=1e-12, abs=1e-15)


def test_densities_of_vectors() -> None:
    """Dirichlet, and a normal distribution by its Cholesky factor."""
    V = R ** hb.Fin.of(3)
    p, a = np.array([0.2, 0.5, 0.3]), np.array([0.7, 2.0, 3.5])
    assert float(hb.fun(V, V)(page()["dirichlet"])(V.vec(p), V.vec(a))) == pytest.approx(stats.dirichlet.logpdf(p, a))
    y, mean = np.array([0.3, -1.0, 2.0]), np.array([0.1, 0.2, 0.3])
    S = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.2], [0.1, -0.2, 0.7]])
    M = R ** (V.index * V.index)
    found = hb.fun(V, V, M)(page()["multivariate_normal"])(V.vec(y), V.vec(mean), M.vec(np.linalg.cholesky(S)))
    assert float(found) == pytest.approx(stats.multivariate_normal.logpdf(y, mean, S))


@pytest.mark.parametrize("name", ["exp", "softplus", "interval", "proportions", "covariance"])
def test_log_volumes(name: str) -> None:
    """log_volume(f)(x) is ln |det f'(x)|, and so are its gradients those of that number by differences."""
    V = page()["E"] if name == "covariance" else R ** hb.Fin.of(3)
    bodies = {"exp": hb.exp, "softplus": hb.softplus, "interval": lambda x: page()["interval"](x, -1.0, 3.0)}
    f = hb.fun(V)(bodies.get(name) or page()[name])
    volume = page()["log_volume"](f)

    def due(x: Any) -> float:
        h = 1e-5
        columns = [(f(V.vec(x + h * e)).array - f(V.vec(x - h * e)).array) / (2.0 * h) for e in np.eye(3)]
        return float(np.linalg.slogdet(np.array(columns).T)[1])

    x = np.array([0.4, -1.0, 0.7])
    assert float(volume(V.vec(x))) == pytest.approx(due(x), rel=1e-7, abs=1e-7)
    slopes = [(due(x + 1e-3 * e) - due(x - 1e-3 * e)) / 2e-3 for e in np.eye(3)]
    np.testing.assert_allclose(hb.grad(volume)(V.vec(x)).array, slopes, atol=1e-4)


def test_structure_makes_a_sum_of_logarithms() -> None:
    """No matrix is made of a diagonal or triangular Jacobian."""
    V = R ** hb.Fin.of(3)
    for body in (hb.softplus, page()["proportions"]):
        assert "logdet" not in str(page()["log_volume"](hb.fun(V)(body)))
    assert "logdet" in str(page()["log_volume"](hb.fun(page()["E"])(page()["covariance"])))


def test_proportions_add_up() -> None:
    """The proportions of 0 are equal, and those of any x are positive with a sum below 1."""
    V = R ** hb.Fin.of(4)
    f = hb.fun(V)(page()["proportions"])
    np.testing.assert_allclose(f(V.zeros()).array, 0.2)
    found = f(V.vec([3.0, -40.0, 5.0, -2.0])).array
    assert found.min() > 0.0
    assert found.sum() < 1.0
