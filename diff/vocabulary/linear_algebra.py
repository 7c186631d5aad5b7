"""Linear algebra: each operation is a value on arrays, and one rule for its derivative, in the language itself.

The rules are those of Giles, *An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation* (2008), and for QR of Walter and Lehmann (*Optimization Methods and Software* 26, 2011).
Adjoints, lifts and higher derivatives follow.

>>> from hilbert import Fin, R
>>> from diff import derivative, fun
>>> X = Fin.of(2)
>>> f = fun(R ** (X * X), R**X)(lambda A, b: solve(A, b))
>>> A, b = (R ** (X * X)).vec([[2.0, 0.0], [1.0, 4.0]]), (R**X).vec([2.0, 5.0])
>>> print(f(A, b), logdet(A))
[1.0, 1.0] ∈ ℝ^2 2.0794415416798357 ∈ ℝ
>>> print(derivative(f))
(inverse(A) ⋆) • (π₂ − (⋆ solve(A, b))•π₁)
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from diff.terms.untraced_functions import applied
from diff.terms.user_operation import OperationRule, known
from diff.trace.expr import Expr
from diff.vocabulary.determinants import DET, INVERSE
from diff.vocabulary.eager import eager
from diff.vocabulary.operations import contract
from diff.vocabulary.spectra import EIGH, SVD
from hilbert import Copower, DirectSum, Field, Map, Product, SpaceError, Type, Vec
from hilbert.arrays.systems import linear_systems
from hilbert.arrays.systems.methods import Method
from hilbert.base.attach import overloaded
from hilbert.compiled.operations import dense_systems
from hilbert.errors import shown, truth
from hilbert.map.matrix_product import no_matrix
from linmap.term.invertible import Invertible

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff import _calls

F = TypeVar("F", bound="Callable[..., Any]")

# --- matrices, and square ones ---


def _matrix(a: Any, what: str) -> tuple[Any, Any, Field]:
    """Rows, columns and field of a matrix; raises SpaceError for another space."""
    space: Any = a.space if isinstance(a, (Expr, Vec)) else None
    index = space.index if isinstance(space, Copower) and isinstance(space.base, Field) else None
    if not isinstance(index, Product) or len(index.axes) != 2:
        of = shown(a) if space is None else str(space)
        hint = no_matrix(space) or _no_matrix_of_numbers(a, what) or _no_matrix_of_map(a, what)
        raise SpaceError(f"{what} takes a matrix of ℝ^{{Y×X}} with one axis each, not {of}{hint}")
    return index.left, index.right, space.base


def _no_matrix_of_numbers(a: Any, what: str) -> str:
    """The end of an error for an equation with a linear map, or with a sparse matrix of scipy; otherwise empty."""
    if what != "solve":
        return ""
    if isinstance(a, Map):
        return (
            "; write root(lambda p: f(p) - x, x) for the solution p of f(p) = x, f a function, and "
            "solve(derivative(f)) for systems with its derivative"
        )
    return "; write solve(from_scipy(D), x), D a sparse matrix" if hasattr(a, "tocoo") else ""


def _no_matrix_of_map(a: Any, what: str) -> str:
    """The end of an error for a linear map; of another operand a general one."""
    if not isinstance(a, Map):
        return "; see reshape for more axes"
    sample = "lstsq(J, z), z standard normal, has the covariance A⁻¹ of A = J* J; " if what == "cholesky" else ""
    return f'; {sample}(R ** (X * X)).vec(matrix(A, "array")) is the matrix of a linear map A on R ** X'


def require_square(a: Any, what: str, *, same: bool = False) -> tuple[Any, Any, Field]:
    """Y, X and the field of a square matrix; SpaceError for other operands, with `same` also unless Y = X."""
    Y, X, field = _matrix(a, what)
    if Y.size != X.size or (same and Y != X):
        due = "the same index set for its rows and columns" if same else "as many rows as columns"
        raise SpaceError(f"{what} takes a matrix with {due}, not one of {a.space}")
    return Y, X, field


def _right_side(a: Any, b: Any, what: str) -> tuple[Any, bool]:
    """The space of the solution of a x = b, and True if b is a matrix; raises SpaceError where b does not fit."""
    try:
        return _solution(a, b, what)
    except SpaceError as error:
        with suppress(SpaceError):
            _solution(b, a, what)
            error.args = (f"{error}; the arguments 2, 1, in this order, would fit",)
        raise


def _solution(a: Any, b: Any, what: str) -> tuple[Any, bool]:
    Y, X, field = require_square(a, what)
    space = b.space if isinstance(b, (Expr, Vec)) else None
    if space == Copower(field, Y):
        return Copower(field, X), False
    index = space.index if isinstance(space, Copower) and space.base == field else None
    if isinstance(index, Product) and index.left == Y and len(index.axes) == 2:
        return Copower(field, X * index.right), True
    of = shown(b) if space is None else str(space)
    raise SpaceError(
        f"{what}(A, b) for A in {a.space} takes b in {Copower(field, Y)}, or a matrix with its rows, not {of}"
    )


def symmetric(a: Any, what: str) -> tuple[Any, Any, Field]:
    """(A + Aᵀ)/2, whose lower triangle the array libraries read, its index set and its field."""
    X, _, field = require_square(a, what, same=True)
    return 0.5 * (a + a.T), X, field


def _require_none(how: object, what: str) -> None:
    if how is not None:
        raise SpaceError(f"{what}(…, how={shown(how)}) is for linear maps: a matrix takes LU, without how=")


def _run(rule: OperationRule, to: Type, *args: Any) -> Any:
    return applied(rule, [a.space for a in args], to)(*args)


# --- linear systems ---


def _solver(solve: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A solver for matrices on both sides, with axes in front; a matrix that all of these share is factored once."""

    def value(xp: Any, a: Any, b: Any) -> Any:
        *front, n, m = b.shape
        if math.prod(a.shape[:-2]) != 1 or math.prod(front) == 1:
            return solve(xp, a, b)
        k = len(front)
        columns = xp.reshape(xp.permute_dims(b, (k, *range(k), k + 1)), (n, math.prod(front) * m))
        made = xp.reshape(solve(xp, xp.reshape(a, a.shape[-2:]), columns), (n, *front, m))
        return xp.permute_dims(made, (*range(1, k + 1), 0, k + 1))

    return value


def _rules(
    name: str,
    solve: Callable[[Any, Any, Any], Any],
    part: Callable[[Any], Any],
    in_text: str,
    loops: Callable[..., Any] = dense_systems.solve,
) -> dict[bool, OperationRule]:
    """x = A⁻¹b for vectors and for matrices b, where only a part of A is read: x' = A⁻¹(b' − A'x)."""
    value = _solver(solve)

    def tangent(a: Any, _: Any, x: Any, da: Any, db: Any) -> Any:
        return inverse(part(a)) @ (db - part(da) @ x)

    text = f"np.linalg.solve({in_text}, {{1}})", f"np.linalg.solve({in_text}, {{1}}[..., None])[..., 0]"
    columns = known(f"{name} of matrices", value, tangent, broadcasts=True, in_text=text[0], loops=loops)
    vectors = known(
        name,
        lambda xp, a, b: value(xp, a, b[..., None])[..., 0],
        tangent,
        broadcasts=True,
        in_text=text,
        loops=loops,
    )
    return {False: vectors, True: columns}


def _triangle(a: Any, *, lower: bool) -> Any:
    """The triangle of a square matrix."""
    mask = np.tril(np.ones((a.space.index.left.size,) * 2, a.space.base.dtype))
    return a * a.space.vec(mask if lower else mask.T)


SOLVE = _rules("solve", linear_systems.solution, lambda a: a, "{0}")
LOWER = _rules(
    "solve_triangular",
    lambda xp, a, b: xp.linalg.solve(xp.tril(a), b),
    lambda a: _triangle(a, lower=True),
    "np.tril({0})",
    partial(dense_systems.solve, part="lower"),
)
UPPER = _rules(
    "upper solve_triangular",
    lambda xp, a, b: xp.linalg.solve(xp.triu(a), b),
    lambda a: _triangle(a, lower=False),
    "np.triu({0})",
    partial(dense_systems.solve, part="upper"),
)


def _of_maps(method: str) -> Callable[[F], F]:
    """An operation on matrices that a method has for linear maps."""

    def taking(operation: F) -> F:
        @wraps(operation)
        def applied(A: Any, *more: Any, **options: Any) -> Any:
            return getattr(A, method)(*more, **options) if isinstance(A, Invertible) else operation(A, *more, **options)

        return cast("F", applied)

    return taking


@overloaded(lambda: _calls.solve)
@_of_maps("solved")
@eager
def solve(A: Any, b: Any = None, *, how: Method | None = None) -> Any:
    """A⁻¹b for A ∈ ℝ^{Y×X}, |X| = |Y|, and b ∈ ℝ^Y or ℝ^{Y×Z}, by LU; in ℝ^X or ℝ^{X×Z}.

    For a linear map A and b in its codomain the system is solved by the structure of A. Of a derivative d in the point,
    `solve(d)` is the function (x, b) ↦ d(x)⁻¹b. Lifted over b alone, A is factored once. `how` is a method for a map,
    where that which is estimated to be the quickest is not to be taken. Raises SpaceError for other spaces, where A is
    singular, and where the structure of A does not allow the method.
    """
    _require_none(how, "solve")
    return _system(SOLVE, "solve", A, b)


@overloaded(lambda: _calls.solve_triangular)
@eager
def solve_triangular(A: Any, b: Any, *, lower: bool = True) -> Any:
    """As `solve`, where only the lower triangle of A is read, or the upper one; the other has gradient 0."""
    truth(lower, "lower=…")
    return _system(LOWER if lower else UPPER, "solve_triangular", A, b)


def _system(rules: dict[bool, OperationRule], what: str, A: Any, b: Any) -> Any:
    space, is_matrix = _right_side(A, b, what)
    return _run(rules[is_matrix], space, A, b)


@overloaded(lambda: _calls.lstsq)
@_of_maps("fitted")
@eager
def lstsq(A: Any, b: Any, *, how: Method | None = None) -> Any:
    """The x for which |A x − b| is least, for A ∈ ℝ^{Y×X} of full rank, |Y| ≥ |X|, by QR.

    For a linear map A the equations A* A x = A* b are solved by their structure, and once more for what is left, so
    that few digits are lost, by the method `how` if there is one. Raises SpaceError for other spaces, and where A has
    not full rank.
    """
    _require_none(how, "lstsq")
    Y, X, field = _matrix(A, "lstsq")
    space = b.space if isinstance(b, (Expr, Vec)) else None
    rows = space.index if isinstance(space, Copower) and space.base == field else None
    if Y.size < X.size or rows is None or rows.axes[:1] != Y.axes:
        of = shown(b) if space is None else str(space)
        msg = f"lstsq(A, b) takes A with as many rows as columns, or more, and b in {Copower(field, Y)}, or a matrix "
        raise SpaceError(f"{msg}with its rows, not A in {A.space} and {of}")
    q, r = qr(A).split()
    return solve_triangular(r, q.T @ b, lower=False)


@overloaded(lambda: _calls.inverse)
@_of_maps("inverted")
@eager
def inverse(A: Any, *, how: Method | None = None) -> Any:
    """A⁻¹ ∈ ℝ^{X×Y} of A ∈ ℝ^{Y×X}; raises SpaceError for other spaces, and where A is singular.

    Of a linear map, or a derivative in the point, it is one again, which solves a system where it is applied, by the
    method `how` if there is one.
    """
    _require_none(how, "inverse")
    Y, X, field = require_square(A, "inverse")
    return _run(INVERSE, field ** (X * Y), A)


@overloaded(lambda: _calls.det)
@eager
def det(A: Any) -> Any:
    """The determinant; its derivative is tr(adj(A)·A'), at singular matrices, too, as is the second one.

    A third derivative is an error where A is singular.
    """
    return _run(DET, require_square(A, "det")[2], A)


LOGDET = known(
    "logdet",
    linear_systems.logdet,
    lambda a, _, da: contract("ij,ji->", inverse(a), da),
    in_text="np.linalg.slogdet({0})[1]",
    loops=dense_systems.logdet,
)


@overloaded(lambda: _calls.logdet)
@_of_maps("log_determinant")
@eager
def logdet(A: Any, *, how: Method | None = None) -> Any:
    """log |det A|; −∞ where A is singular.

    For a linear map by its structure, or by the method `how`; of a derivative in the point it is a function of the
    point.
    """
    _require_none(how, "logdet")
    return _run(LOGDET, require_square(A, "logdet")[2], A)


# --- factorizations ---


def _cholesky(xp: Any, a: Any) -> Any:
    return xp.linalg.cholesky(a)


def _cholesky_tangent(a: Any, y: Any, da: Any) -> Any:
    """L' = L·Φ(L⁻¹A'L⁻ᵀ), Φ the lower triangle with half of the diagonal."""
    inv = inverse(y)
    mask = np.tril(np.ones((a.space.index.left.size,) * 2)) - np.eye(a.space.index.left.size) / 2
    return y @ ((inv @ da @ inv.T) * a.space.vec(mask.astype(a.space.base.dtype)))


def _qr(xp: Any, a: Any) -> Any:
    """Q and R of A, with a positive diagonal of R, so that both factors are functions of A."""
    q, r = xp.linalg.qr(a)
    signs = xp.sign(xp.linalg.diagonal(r))
    signs = xp.where(signs == 0, xp.ones_like(signs), signs)
    return q * signs[..., None, :], signs[..., :, None] * r


def _qr_tangent(_: Any, y: Any, da: Any) -> Any:
    """With C = QᵀA'R⁻¹ and X its skew part below the diagonal: Q' = A'R⁻¹ − Q(C − X), R' = (C − X)R."""
    q, r = y.split()
    moved = da @ inverse(r)
    c = q.T @ moved
    below = _triangle(c, lower=True) - c * c.space.vec(np.eye(c.space.index.left.size, dtype=c.space.base.dtype))
    upper = c - (below - below.T)
    return moved - q @ upper, upper @ r


CHOLESKY = known(
    "cholesky",
    _cholesky,
    _cholesky_tangent,
    in_text="np.linalg.cholesky({0})",
    loops=dense_systems.cholesky,
)
QR = known("qr", _qr, _qr_tangent, results=("q", "r"))


@overloaded(lambda: _calls.cholesky)
@eager
def cholesky(A: Any) -> Any:
    """L, lower triangular with positive diagonal, L Lᵀ = (A + Aᵀ)/2; raises SpaceError where that is not positive."""
    of, X, field = symmetric(A, "cholesky")
    return _run(CHOLESKY, field ** (X * X), of)


@overloaded(lambda: _calls.eigh)
@eager
def eigh(A: Any) -> Any:
    """(w, U) with (A + Aᵀ)/2 = U·diag(w)·Uᵀ, w ascending, the columns of U orthonormal; take it apart by `.split()`.

    The signs of the columns are the array library's. Where two eigenvalues are equal or close, that of U has no
    derivative, which warns; the first two of w are right in functions that are symmetric in these, as their sum.
    """
    of, X, field = symmetric(A, "eigh")
    return _run(EIGH, DirectSum((Copower(field, X), field ** (X * X))), of)


@overloaded(lambda: _calls.qr)
@eager
def qr(A: Any) -> Any:
    """(Q, R) with A = QR for A ∈ ℝ^{Y×X}, |Y| ≥ |X|: orthonormal columns, upper triangular with positive diagonal.

    Where A has not full rank there is no derivative: R⁻¹ is an error for a 0 on the diagonal of R, and any number where
    rounding leaves another one there. Raises SpaceError for a matrix with more columns than rows.
    """
    Y, X, field = _matrix(A, "qr")
    if Y.size < X.size:
        raise SpaceError(f"qr takes a matrix with at least as many rows as columns, not one of {A.space}: take A.T")
    return _run(QR, DirectSum((field ** (Y * X), field ** (X * X))), A)


@overloaded(lambda: _calls.svd)
@eager
def svd(A: Any) -> Any:
    """(U, s, V) with A = U·diag(s)·Vᵀ for A ∈ ℝ^{Y×X}: U ∈ ℝ^{Y×Z}, s ∈ ℝ^Z descending, V ∈ ℝ^{X×Z}, Z the smaller.

    The signs of the columns are the array library's. Where two singular values are equal, or one is 0, there is no
    derivative: that of U and V warns, those of s are as those of w in `eigh`; where one is 0, on one side.
    """
    Y, X, field = _matrix(A, "svd")
    Z = X if X.size <= Y.size else Y
    return _run(SVD, DirectSum((field ** (Y * Z), Copower(field, Z), field ** (X * Z))), A)
