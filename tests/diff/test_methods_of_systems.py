"""Systems by a method that the user names: the same solutions and determinants, or an error that says why not."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.arrays.systems.sparse_systems import SparseSystem
from tests.structured_maps import pieces, summed

N = 120
RNG = np.random.default_rng(0)
EVERY = pieces(N, RNG)
MAPS: dict[str, Any] = {
    "chain": summed(N, [EVERY["diagonal"], EVERY["band"]]),
    "blocks": summed(N, [EVERY["blocks"]]),
    "low rank": summed(N, [EVERY["diagonal"], EVERY["rank two"]]),
    "dense": summed(N, [EVERY["dense"]]),
}
ALLOWED: dict[str, list[str]] = {
    "chain": ["full", "band", "sparse", "GMRES"],
    "blocks": ["full", "band", "blocks", "elimination", "sparse", "GMRES"],
    "low rank": ["full", "band", "sparse", "low rank", "GMRES"],
    "dense": ["full", "band", "sparse", "GMRES"],
}
METHODS = ["full", "band", "blocks", "elimination", "sparse", "low rank", "GMRES"]
SAID = {
    "full": "by its matrix",
    "band": "in a band",
    "blocks": "blocks",
    "elimination": "eliminat",
    "sparse": "by sparse LU",
    "low rank": "by Woodbury",
    "GMRES": "by GMRES",
}


def near(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9 * (1.0 + np.abs(b).max()))


@pytest.mark.parametrize("how", METHODS)
@pytest.mark.parametrize("name", MAPS)
def test_every_method(name: str, how: Any) -> None:
    """Solution, inverse and its adjoint, and gradient are those of the method that is found; cost says the method."""
    f = MAPS[name]
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, b, zero = V.random(RNG), V.random(RNG), f.cod.zeros()
    told: Callable[..., Any] = hb.solve(d, how=how)
    if how not in ALLOWED[name]:
        with pytest.raises(SpaceError, match=f"how={re.escape(repr(how))} does not solve this system"):
            told(p, zero, b)
        return
    found = hb.solve(d)
    near(told(p, zero, b).array, found(p, zero, b).array)
    assert SAID[how] in str(hb.cost(told)).splitlines()[-1]
    assert pickle.loads(pickle.dumps(told)) == told
    assert told != found
    inverse = hb.linalg.inverse(d.at(p, zero), how=how)
    near(inverse(b).array, found(p, zero, b).array)
    near(hb.adjoint(inverse)(b).array, hb.adjoint(hb.linalg.inverse(d.at(p, zero)))(b).array)
    slope = hb.grad(hb.fun(V, V)(lambda p, b: told(p, zero, b).sum()))(p, b)
    due = hb.grad(hb.fun(V, V)(lambda p, b: found(p, zero, b).sum()))(p, b)
    near(slope.flat(), due.flat())


DETERMINED: dict[str, list[str]] = {name: [how for how in some if how != "GMRES"] for name, some in ALLOWED.items()}


@pytest.mark.parametrize("how", METHODS)
@pytest.mark.parametrize("name", MAPS)
def test_determinants(name: str, how: Any) -> None:
    """log |det A| by every method, and its gradient, are those of LU of the matrix; otherwise an error says why not."""
    f = MAPS[name]
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, zero = V.random(RNG), f.cod.zeros()
    if how not in DETERMINED[name]:
        with pytest.raises(SpaceError, match=f"how={re.escape(repr(how))} does not solve this system"):
            hb.linalg.logdet(d, how=how)
        with pytest.raises(SpaceError, match=f"how={re.escape(repr(how))} does not solve this system"):
            hb.linalg.logdet(d.at(p, zero), how=how)
        return
    told = hb.linalg.logdet(d, how=how)
    matrix = hb.matrix(d.at(p, zero), "array")
    near(told(p, zero).array, np.linalg.slogdet(matrix)[1])
    assert how != "full" or f"{N}×{N}" in str(hb.program(told))
    near(hb.linalg.logdet(d.at(p, zero), how=how).array, told(p, zero).array)
    slopes = [hb.grad(hb.fun(V)(lambda p, log=log: log(p, zero)))(p).array for log in (told, hb.linalg.logdet(d))]
    near(*slopes)
    assert pickle.loads(pickle.dumps(told)) == told


def test_least_squares() -> None:
    """A method for A* A, of a map with more equations than unknowns."""
    V = hb.R ** hb.Fin.of(N)
    A = hb.derivative(hb.fun(V)(lambda x: (x, 0.3 * x[1:]))).at(V.zeros())
    b = A.cod.random(RNG)
    due = np.linalg.lstsq(hb.matrix(A, "array"), b.flat(), rcond=None)[0]
    for how in (None, "full", "band"):
        near(hb.linalg.lstsq(A, b, how=how).array, due)
    with pytest.raises(SpaceError, match="no sparse matrix plus terms of low rank"):
        hb.linalg.lstsq(A, b, how="low rank")


@pytest.mark.parametrize("what", ["solve", "logdet"])
def test_limits(what: str) -> None:
    """The message of a method has the limit that is passed, in numbers."""
    n = 100_000
    V = hb.R ** hb.Fin.of(n)
    d = hb.derivative(hb.fun(V)(lambda x: 3.0 * x + x.roll(1) - x.roll(317) + x.roll(-n // 3)))
    call: Callable[..., Any] = getattr(hb.linalg, what)
    with pytest.raises(
        SpaceError, match=r"its matrix has 10000000000 entries, and at most 16777216 \(134 MB\) are made"
    ):
        hb.cost(call(d, how="full"))
    with pytest.raises(
        SpaceError, match=r"in a band of \d+ \+ 1 \+ \d+ diagonals its factors have up to \d{9} entries"
    ):
        hb.cost(call(d, how="band"))


def test_why_nothing_is_eliminated() -> None:
    """The message says what the places lack, or how many unknowns are left."""
    V, X = hb.R ** hb.Fin.of(N), hb.Fin.of(N)
    grid, G = hb.Fin.of(20), hb.R ** (hb.Fin.of(20) * hb.Fin.of(20))

    def laplacian(u: Any) -> Any:
        right, below = u[:, 1:].pad(0, 1, over=1, to=grid), u[1:, :].pad(0, 1, over=0, to=grid)
        left, above = u[:, :-1].pad(1, 0, over=1, to=grid), u[:-1, :].pad(1, 0, over=0, to=grid)
        return 5.0 * u - right - below - left - above

    odd = {
        f"{N - 1} of its {2 * N - 1} entries have none at their place across the diagonal": (
            hb.fun(V)(lambda x: x + x[1:].pad(0, 1, to=X))
        ),
        f"{N} of its {N} diagonal entries are 0": hb.fun(V)(lambda x: x.roll(N // 2)),
        r"of 400 unknowns \d+ are left for a matrix in full, and at most 80 may be": hb.fun(G)(laplacian),
    }
    for why, f in odd.items():
        with pytest.raises(SpaceError, match=f"how='elimination' does not solve this system: {why}"):
            hb.cost(hb.solve(hb.derivative(f), how="elimination"))


def test_all_unknowns_are_eliminated(capfd: Any) -> None:
    """Blocks that meet nothing leave no unknown for a matrix in full, and no other way is taken without notice."""
    rng, n, sp = np.random.default_rng(0), 9, scipy_of()
    assert sp is not None
    for k in (1, 3):
        a = np.kron(np.eye(n // k), np.ones((k, k))) * rng.uniform(0.5, 1.0, (n, n)) + 4.0 * np.eye(n)
        rows, cols = np.nonzero(a)
        system = SparseSystem(rows, cols, n, n, sp, how="elimination")
        assert system.way == f"by eliminating {n // k} blocks of {k}"
        assert system.blocks is not None
        b, values = rng.normal(size=(2, n)), a[rows, cols]
        for flipped, m in ((False, a), (True, a.T)):
            np.testing.assert_allclose(system.blocks.made(values).solve(b, flipped), np.linalg.solve(m, b.T).T)
        np.testing.assert_allclose(system.solved(values, b, ""), np.linalg.solve(a, b.T).T)
        np.testing.assert_allclose(system.logdet(values), np.linalg.slogdet(a)[1])
        np.testing.assert_allclose(system.near_inverse(values), np.linalg.inv(a)[cols, rows], atol=1e-14)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("name", MAPS)
def test_explain(name: str) -> None:
    """Every method once: the one that is taken, which is the quickest of those that are looked for, or why not."""
    f = MAPS[name]
    d = hb.derivative(f, wrt=1)
    head, *rows = re.split(r"\n(?!    )", str(hb.explain(hb.solve(d))))[0].splitlines()
    assert head == str(hb.cost(hb.solve(d))).splitlines()[-1]
    found: dict[str, tuple[str, str]] = {row[4:17].strip(): (row[17:28].strip(), row[28:]) for row in rows}
    assert sorted(found) == sorted(METHODS)
    (taken,) = (how for how, (_, text) in found.items() if text.startswith("taken: "))
    assert found[taken][1] == f"taken: {head.split(': ', 1)[1]}"
    looked_for = [how for how, (time, text) in found.items() if time and "; not looked for: " not in text]
    assert min(looked_for, key=lambda how: float(found[how][0].removesuffix(" s"))) == taken
    for how, (time, text) in found.items():
        assert text.startswith("no: ") == (how not in ALLOWED[name])
        assert not time if text.startswith("no: ") or how == "GMRES" else time.endswith(" s")
        if text.startswith("no: "):
            told: Any = how
            with pytest.raises(SpaceError, match=re.escape(text[4:])):
                hb.cost(hb.solve(d, how=told))
        elif how != taken:
            assert SAID[how] in text


def test_explain_of_other_terms() -> None:
    """An inverse, a determinant's derivative and a root have systems, conjugate gradients no other method."""
    f = MAPS["chain"]
    V, d = f.cod, hb.derivative(f, wrt=1)
    A = d.at(V.random(RNG), V.zeros())
    root = hb.fun(V)(lambda s: hb.root(lambda x: x * x * x + 3.0 * x - x.pad(1, 0).crop(0, N, to=V.index) - s, s))
    for term in (hb.linalg.inverse(A), hb.linalg.inverse(d), root):
        assert "taken: in a band" in str(hb.explain(term))
    told = str(hb.explain(hb.solve(d, how="sparse")))
    assert "taken: by sparse LU" in told
    assert told.count("taken") == 1
    assert "taken" not in str(hb.explain(hb.linalg.cg(d)))
    assert str(hb.explain(f)).startswith("nothing to simplify")
    assert "diagonal: by division" in str(hb.explain(hb.linalg.inverse(2.0 * hb.identity(hb.R ** hb.Fin.of(99)))))


@pytest.mark.parametrize("how", ["lu", 3, True, ["full"]])
def test_no_method(how: Any) -> None:
    """A name that is none is an error with the names."""
    a = 2.0 * hb.identity(hb.R ** hb.Fin.of(3))
    for call in (
        lambda: hb.solve(a, a.dom.ones(), how=how),
        lambda: hb.linalg.inverse(a, how=how),
        lambda: hb.linalg.logdet(a, how=how),
        lambda: hb.linalg.lstsq(a, a.dom.ones(), how=how),
    ):
        with pytest.raises(SpaceError, match=r"how=…\) is None, 'full', .* or 'GMRES', not"):
            call()


def test_lanes() -> None:
    """Lifted, each row is solved by the method."""
    f = MAPS["chain"]
    V, d, Z = f.cod, hb.derivative(f, wrt=1), hb.Fin.of(3)
    rows, p = (V**Z).random(RNG), (V**Z).random(RNG)
    found, told = (hb.solve(d, how=how) for how in (None, "band"))
    some: Any = lambda solve: hb.lift(hb.fun(V, V)(lambda p, b: solve(p, V.zeros(), b)), Z, over=(0, 1))  # noqa: E731
    near(some(told)(p, rows).array, some(found)(p, rows).array)


def test_a_method_does_not_give_way() -> None:
    """Where a method cannot run at a point, the error says so; without a name another method is taken."""
    V = hb.R ** hb.Fin.of(N)
    keep = V.vec((np.arange(N) > 0).astype(float))
    d = hb.derivative(hb.fun(V, V)(lambda p, x: p * x + x.sum() * p.space.ones()), wrt=1)
    b = V.random(RNG)
    assert np.isfinite(hb.solve(d)(keep, V.zeros(), b).array).all()
    with pytest.raises(SpaceError, match=r"how='low rank' .* its matrix is singular"):
        hb.solve(d, how="low rank")(keep, V.zeros(), b)


def test_under_jit() -> None:
    """Under jit no number is known: a method that reads numbers is refused, the matrix in full is none of these."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", val=True)
    f = MAPS["chain"]
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, b = V.random(RNG), V.random(RNG)
    for how in (None, "full", "band"):
        solve: Any = hb.solve(d, how=how)
        run = jax.jit(hb.as_jax(hb.fun(V, V)(lambda p, b, solve=solve: solve(p, V.zeros(), b))))
        if how == "band":
            with pytest.raises(SpaceError, match="under jit none is known: leave how= out"):
                run(p.array, b.array)
        else:
            near(np.asarray(run(p.array, b.array)), hb.solve(d)(p, V.zeros(), b).array)


def test_gmres_that_is_told_makes_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The map is applied, whatever the structure proves and however quick its matrix is."""
    f = MAPS["chain"]
    V, d = f.cod, hb.derivative(f, wrt=1)
    p, b = V.random(RNG), V.random(RNG)
    due = hb.solve(d)(p, V.zeros(), b).array
    monkeypatch.setattr("hilbert.program.transform.run_linear_system._Solver._in_full", None)
    near(hb.solve(d, how="GMRES")(p, V.zeros(), b).array, due)
