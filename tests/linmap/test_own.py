# ruff: noqa: ARG005 - functions on arrays are given their library
"""Linear maps of users: as the matrix that they are, in every pass."""

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.sparse import bsr_array, coo_array, csc_matrix, csr_array, dia_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from adjoint import NAMES, adjoint, check_adjoint, grad, hessian, jacobian, verify
from diff import fun, lift, program, show, sin
from hilbert import R32, Bool, Fin, R, SpaceError, direct_sum
from linmap import equal, linear_map, matrix, section, simplify, structure
from linmap.contraction import matrix_vector
from linmap.relational.weighted import from_scipy, sparse

X, Y, Z = Fin.of(4), Fin.of(3), Fin.of(2)
V, W = R**X, R**Y
rng = np.random.default_rng(0)
m = rng.normal(size=(3, 4))
FORMS: dict[str, Any] = {
    "batched": linear_map("mine", V, W, lambda xp, a: a @ m.T, lambda xp, b: b @ m),
    "one by one": linear_map("mineone", V, W, lambda xp, a: m @ a, lambda xp, b: b @ m, batched=False),
    "of scipy": linear_map("scipys", V, W, aslinearoperator(m)),
}
plain: Any = section(matrix_vector(Y, X), 0, (R ** (Y * X)).vec(m))
each = pytest.mark.parametrize("A", FORMS.values(), ids=FORMS)
v, w = V.random(rng), W.random(rng)


@each
def test_values_and_adjoints(A: Any) -> None:
    """It, its adjoint, compositions, sums, copowers."""
    for f, g in (
        (A, plain),
        (adjoint(A), adjoint(plain)),
        (adjoint(A) @ A, adjoint(plain) @ plain),
        (A + A, 2.0 * plain),
    ):
        np.testing.assert_allclose(matrix(f, as_="array"), matrix(g, as_="array"), atol=1e-14)
        np.testing.assert_allclose(matrix(f**Z, as_="array"), matrix(g**Z, as_="array"), atol=1e-14)
        assert check_adjoint(f)
        assert check_adjoint(f**Z)
    assert adjoint(adjoint(A)) == A
    assert simplify(2.0 * A + A) == 3.0 * A


@each
def test_in_functions(A: Any) -> None:
    """Derivatives, Hessians, lifts: as with the matrix."""
    f, g = (fun(V)(lambda x, of=of: sin(of(x)) @ of(x * x)) for of in (A, plain))  # type: ignore[misc]
    assert verify(f, at=v)
    np.testing.assert_allclose(grad(f)(v).array, grad(g)(v).array, atol=1e-13)
    np.testing.assert_allclose(hessian(f, v), hessian(g, v), atol=1e-13)
    many = ((V**Z) ** Y).random(rng)
    np.testing.assert_allclose(((f**Z) ** Y)(many).array, ((g**Z) ** Y)(many).array, atol=1e-13)
    two: Any = lift(fun(R, V)(lambda s, x: A(s * x)), Z)
    assert verify(two, at=(R.vec(2.0), (V**Z).random(rng)))
    np.testing.assert_allclose(jacobian(f, v), jacobian(g, v), atol=1e-13)


@each
def test_texts(A: Any) -> None:
    """It prints by its name, evaluates back, is pickled and compared."""
    name = str(A)
    assert (str(adjoint(A)), str(A**Z), str(structure(A))) == (f"{name}*", f"{name}^2", "dense 3×4")
    f: Any = fun(V)(lambda x: sin(A(x)))
    assert str(f) == f"x ↦ sin {name}(x)"
    assert show(program(f**Z)) == f"x ↦ [i, j] ↦ sin {name}(x[i, ·])[j]"
    for g in (A, adjoint(A), f, program(f**Z)):
        assert eval(repr(g), NAMES) == g  # noqa: S307
        assert pickle.loads(pickle.dumps(g)) == g
        assert equal(g, pickle.loads(pickle.dumps(g)))
    assert not equal(A, adjoint(adjoint(plain)))


def test_a_wrong_adjoint_is_found() -> None:
    """By the dot test."""
    wrong = linear_map("wrong", V, W, lambda xp, a: a @ m.T, lambda xp, b: 2 * b @ m)
    assert not check_adjoint(wrong)


def test_refused() -> None:
    """Spaces of several arrays, no functions, results of another shape or precision."""
    identity: Any = lambda xp, a: a  # noqa: E731
    with pytest.raises(SpaceError, match="spaces of one array each, and ℝ ⊕ ℝ has 2"):
        linear_map("no", direct_sum(R, R), R, identity, identity)
    with pytest.raises(SpaceError, match="takes a name and two functions"):
        linear_map("no", V, V, identity)
    with pytest.raises(SpaceError):
        linear_map("no", Bool**X, V, identity, identity)
    with pytest.raises(SpaceError, match=r"has the shape \(3, 4\), not \(4, 3\)"):
        linear_map("no", V, W, aslinearoperator(m.T))
    with pytest.raises(SpaceError, match=r"no gives an array of shape \(4,\).*where an array of shape \(3,\)"):
        linear_map("no", V, W, identity, identity)(v)
    with pytest.raises(SpaceError, match=r"no\* gives an array of shape \(3,\).*where an array of shape \(4,\)"):
        adjoint(linear_map("no", V, W, lambda xp, a: a @ m.T, identity))(w)
    with pytest.raises(SpaceError, match=r"dtype float64.*where .* dtype float32"):
        linear_map("no", R32**X, R32**X, lambda xp, a: a.astype("float64"), identity)((R32**X).ones())
    first = linear_map("again", V, V, identity, identity)
    second = linear_map("again", V, V, identity, identity)
    assert pickle.loads(pickle.dumps(second)) == second != first
    with pytest.raises(SpaceError, match="is now that of another"):
        pickle.dumps(first)


class TurnsComplex:
    """An operator that says it is real; its products there, or back, are not."""

    shape, dtype = (3, 4), np.dtype(float)

    def __init__(self, there: complex, back: complex) -> None:
        self.there, self.back = there, back

    def matvec(self, x: Any) -> Any:
        """A x."""
        return self.there * (m @ x)

    def rmatvec(self, x: Any) -> Any:
        """A* x."""
        return self.back * (m.T @ x)

    @property
    def H(self) -> Any:
        """The adjoint."""
        turned = TurnsComplex(self.back, self.there)
        turned.shape = self.shape[::-1]
        turned.matvec, turned.rmatvec = self.rmatvec, self.matvec  # type: ignore[method-assign]
        return turned


@pytest.mark.parametrize(
    "operator", [aslinearoperator(1j * m), aslinearoperator(m.astype(complex)), TurnsComplex(1, 1)]
)
@pytest.mark.parametrize("k", [1j, 1.0 + 0j])
def test_complex_operators_are_refused(operator: Any, k: complex) -> None:
    """At once, or at the first product; an imaginary part of 0 is one."""
    if isinstance(operator, TurnsComplex):
        there, back = (linear_map("turns", V, W, TurnsComplex(*ks)) for ks in ((k, 1.0), (1.0, k)))
        np.testing.assert_allclose(adjoint(there)(w).array, w.array @ m)
        for f, x in ((there, v), (adjoint(back), w)):
            with pytest.raises(SpaceError, match=r"linear map 'turns' is complex .complex128., and all"):
                f(x)
    else:
        with pytest.raises(SpaceError, match=r"is complex .complex128., and all spaces are real: give its real"):
            linear_map("complexes", V, W, operator)


@pytest.mark.parametrize("form", [csr_array, coo_array, csc_matrix, dia_array, bsr_array])
def test_complex_matrices_are_refused(form: Any) -> None:
    """Of scipy in each format, and weights; their real parts are not."""
    for k in (1j, 1.0 + 0j):
        with pytest.raises(SpaceError, match=r"is complex, and all spaces are real: .* A.real and A.imag"):
            from_scipy(form(k * m))
        with pytest.raises(SpaceError, match="numbers, not complex128"):
            sparse([0, 1], [1, 2], k * np.ones(2), X, Y)
    np.testing.assert_array_equal(matrix(from_scipy(form(m)), as_="array"), m)


def test_an_operator_without_adjoint() -> None:
    """Scipy's operator knows no adjoint unless it is given one: that is said where the adjoint is used."""
    V = R ** Fin.of(3)
    f = linear_map("without adjoint", V, V, LinearOperator((3, 3), matvec=lambda x: x, dtype=float))
    assert np.array_equal(f(V.ones()).array, np.ones(3))
    with pytest.raises(SpaceError, match=r"linear map without adjoint does not run.*has it a matvec and a rmatvec"):
        adjoint(f)(V.ones())
