"""The arrays of a Jacobian's matrix as a program of the point: its matrices, lifted, pickled, derived, printed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from adjoint import grad, hessian, hessian_program, jacobian, jacobian_program
from diff import cos, derivative, exp, fun, inner, jvp, lift, sin, tanh
from hilbert import R32, Elements, Fin, R, SpaceError, Vec, direct_sum
from tests.programs import PROGRAMS, point
from tests.untyped import iterate, where

NONE = {"while, lanes"}
"""Programs without a derivative."""
FORMS: tuple[Any, ...] = ("array", "sparse", "blocks", "tensor")
X = Fin.of(4)
V = R**X
RNG = np.random.default_rng(0)


def columns(f: Any, x: Vec[Any]) -> Any:
    """The matrix of f'(x), a column for each basis vector of the tangent: nothing is planned."""
    d = derivative(f).at(x)
    kind = d.dom.leaves[0].dtype if d.dom.leaves else "float64"
    made = [d(d.dom.unflat(row)).flat() for row in np.eye(d.dom.dim, dtype=kind)]
    return np.stack(made, axis=1) if made else np.zeros((d.cod.dim, 0))


def whole(matrix: Any, form: str) -> Any:
    """A matrix in any form as an array."""
    if form == "array":
        return matrix
    if form == "sparse":
        return matrix.toarray()
    if form == "tensor":
        W, U = matrix.space.left, matrix.space.right
        blocks = iter(matrix.dense().leaves)
        rows = [[np.reshape(next(blocks), (a.size, b.size)) for b in U.leaves] for a in W.leaves]
        return np.block(rows) if rows and rows[0] else np.zeros((W.dim, U.dim))
    raise AssertionError(form)


def close(got: Any, due: Any) -> None:
    """Equal up to rounding."""
    scale = max(1.0, float(np.max(np.abs(due), initial=0.0)))
    eps = 1e-4 if np.asarray(got).dtype == "float32" else 1e-9
    np.testing.assert_allclose(got, due, rtol=0, atol=eps * scale)


def cell(f: Any, blocks: Any, due: Any) -> None:
    """A matrix in block layout has the blocks of another; None is 0."""
    d = derivative(f)
    rows, cols = (np.cumsum([0, *(leaf.size for leaf in space.leaves)]) for space in (d.cod, d.dom))
    for i, row in enumerate(blocks):
        for j, block in enumerate(row):
            part = due[rows[i] : rows[i + 1], cols[j] : cols[j + 1]]
            close(np.zeros(part.shape) if block is None else block.toarray(), part)


@pytest.mark.parametrize(
    "name", [name for name in PROGRAMS if name not in NONE and PROGRAMS[name].dom.tangent.dim <= 100]
)
def test_the_matrix_of_the_program(name: str) -> None:
    """p.matrix(x) has the columns f'(x)(e) for all basis vectors e, in every form that has a program."""
    f = PROGRAMS[name]
    x = point(name, f)
    due = columns(f, x)
    made, refused = 0, list[str]()
    for form in FORMS:
        try:
            p = jacobian_program(f, as_=form)
        except SpaceError as error:
            refused.append(str(error))
            continue
        made += 1
        assert p(x).space == p.cod == p.pattern.arrays
        if form == "blocks":
            cell(f, p.matrix(x), due)
        else:
            close(whole(p.matrix(x), form), due)
    assert made + len(refused) == len(FORMS)
    assert all("proves no" in text or "depends on the point" in text for text in refused)


MODELS: dict[str, Any] = {
    "chain": fun(V)(lambda x: sin(x) * x.roll(1) + x),
    "dense": fun(V)(lambda x: tanh(x) * inner(x, x)),
    "sum": fun(V, R)(lambda x, k: (sin(x) * k).concatenate(cos(x))),
    "loop": fun(V)(lambda x: iterate(lambda s: sin(s) + 0.5 * s, x, Fin.of(3))),
    "condition": fun(V)(lambda x: where(x > 0.0, sin(x), x * x)),
    "single": fun(R32**X)(lambda x: exp(x) + x),
    "constant": fun(V)(lambda x: 2.0 * x + x.roll(1)),
    "two": fun(V, V)(lambda x, y: sin(x) * y),
}


def at(f: Any) -> Vec[Any]:
    """A point of a domain."""
    v: Vec[Any] = f.dom.random(RNG)
    return v


@pytest.mark.parametrize("form", ["array", "sparse", "blocks"])
@pytest.mark.parametrize("name", MODELS)
def test_a_batch_of_points_gives_a_batch_of_arrays(name: str, form: Any) -> None:
    """(p ** Y)(xs) has p(x) for each x."""
    p = jacobian_program(MODELS[name], as_=form)
    Y = Fin.of(3)
    each = [at(p) for _ in range(3)]
    stacked = [np.stack(leaves) for leaves in zip(*(x.leaves for x in each), strict=True)]
    found = (p**Y)((p.dom**Y).vec((p.dom**Y).pack(iter(stacked))))
    for k, x in enumerate(each):
        for many, one in zip(found.leaves, p(x).leaves, strict=True):
            np.testing.assert_allclose(many[k], one, rtol=1e-6)


@pytest.mark.parametrize("form", FORMS[:3])
@pytest.mark.parametrize("name", MODELS)
def test_a_pickle_is_the_same_program(name: str, form: Any) -> None:
    """loads(dumps(p)) == p, with the same arrays and the same matrices."""
    p = jacobian_program(MODELS[name], as_=form)
    q = pickle.loads(pickle.dumps(p))
    x = at(p)
    assert q == p
    assert repr(q.pattern) == repr(p.pattern)
    assert all(np.array_equal(a, b) for a, b in zip(q(x).leaves, p(x).leaves, strict=True))
    if form == "sparse":
        assert (q.matrix(x) != p.matrix(x)).nnz == 0


@pytest.mark.parametrize("form", ["array", "sparse", "blocks"])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "single"])
def test_the_derivative_of_the_program_is_a_second_derivative(name: str, form: Any) -> None:
    """p'(x)(v), put in place, has the columns f''(x)(e, v)."""
    p = jacobian_program(MODELS[name], as_=form)
    x, v, h = at(p), at(p), 1e-6
    found = jvp(p)(x, v)
    assert found.space == p.cod
    for got, after, before in zip(found.leaves, p(x + h * v).leaves, p(x - h * v).leaves, strict=True):
        np.testing.assert_allclose(got, (after - before) / (2.0 * h), rtol=1e-6, atol=1e-6)


def entry(p: Any, k: int) -> Any:
    """The function of the point that gives entry k."""
    return fun(V)(lambda y: p(y)[k])


def test_the_gradient_of_an_entry() -> None:
    """∇(x ↦ the entry k of p(x)) is that of a second derivative: f(x) = x³ has 6x."""
    p = jacobian_program(fun(V)(lambda x: x * x * x), as_="sparse")
    x = at(p)
    for k in range(4):
        np.testing.assert_allclose(grad(entry(p, k))(x).array, 6.0 * x.array * (np.arange(4) == k))


def stage(x: Any, u: Any, y: Any) -> Any:
    """The cost of a stage of a cart-pole, and the multipliers times the state after a step of the midpoint rule."""

    def slope(_: Any, angle: Any, speed: Any, turning: Any) -> Any:
        s, c = sin(angle), cos(angle)
        across = (u + 0.3 * s * (turning * turning - 9.81 * c)) / (1.3 - 0.3 * c * c)
        return speed, turning, across, 2.0 * (9.81 * s - across * c)

    states = x.split()
    half = [a + 0.01 * k for a, k in zip(states, slope(*states), strict=True)]
    end = [a + 0.02 * k for a, k in zip(states, slope(*half), strict=True)]
    return sum(a * a for a in states) + 0.1 * u * u + sum(a * b for a, b in zip(y.split(), end, strict=True))


def lagrangian(n: int) -> Any:
    """The sum over N stages."""
    space = direct_sum(R, R, R, R)
    many: Any = lift(fun(space, R, space)(stage), Fin.of(n), over=(0, 1, 2))
    return fun.over(many.dom)(lambda x, u, y: many(x, u, y).sum())


def test_the_hessian_of_a_cart_pole() -> None:
    """The program's matrix, hessian's and the columns of the gradient's derivative agree; all share their indices."""
    f = lagrangian(5)
    p = hessian_program(f, as_="sparse", wrt=(0, 1))
    x = f.dom.random(RNG)
    found, by_hessian = p.matrix(x), hessian(f, x, wrt=(0, 1), as_="sparse")
    assert found.indices is by_hessian.indices
    assert not found.indices.flags.writeable
    assert found.data.flags.writeable
    assert np.array_equal(found.data, by_hessian.data)
    close(found.toarray(), columns(grad(f), x)[:25, :25])
    assert p.pattern.entries == len(p(x).array) == found.nnz
    line = p.line
    assert line.slots[line.outputs[0]] == p.cod.leaves[0]
    found.data[:] = 0.0
    assert p.matrix(x).data.any()


def test_wrt_and_what_the_program_is_called() -> None:
    """`wrt` restricts columns; arguments keep their names."""
    f = fun(V, V)(lambda x, y: sin(x) * y)
    p = jacobian_program(f, as_="sparse", wrt=1)
    x = at(f)
    assert str(p) == "(x, y) ↦ sin x"
    assert np.array_equal(p.matrix(x).toarray(), jacobian(f, x, wrt=1))
    assert np.array_equal(p.matrix(x[0], x[1]).toarray(), jacobian(f, x, wrt=1))


def test_single_precision_stays() -> None:
    """The arrays of a matrix have the precision of the spaces, constants too."""
    f = fun(R32**X)(lambda x: x * x + 2.0 * x + x.roll(1))
    x = at(f)
    assert jacobian_program(f, as_="sparse")(x).array.dtype == jacobian(f, x, as_="sparse").dtype == np.float32


@pytest.mark.parametrize("form", FORMS[:3])
@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
@pytest.mark.parametrize("name", ["chain", "dense", "constant", "loop"])
def test_arrays_of_other_libraries(library: str, form: Any, name: str) -> None:
    """p(x) has arrays of the library of x, and jacobian the same matrices as at numpy's point."""
    jax, xp = pytest.importorskip("jax"), pytest.importorskip(library)
    with jax.enable_x64(True):  # noqa: FBT003
        _check_elsewhere(MODELS[name], xp, form)


def _check_elsewhere(f: Any, xp: Any, form: Any) -> None:
    p, x = jacobian_program(f, as_=form), at(f)
    there = f.dom.vec(xp.asarray(np.array(x.array)))
    found = p(there)
    for a, b in zip(found.leaves, p(x).leaves, strict=True):
        assert isinstance(a, type(there.array))
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-12)
    if form == "array":
        assert isinstance(jacobian(f, there), type(there.array))
    if form == "sparse":
        np.testing.assert_allclose(jacobian(f, there, as_=form).data, p(x).array, rtol=1e-12)


def test_what_has_no_program() -> None:
    """An operator has no arrays; entries that are found at the point are listed there."""
    E = Elements(X) ** Fin.of(3)
    f = fun(V, E)(lambda v, i: sin(v[i]))
    with pytest.raises(SpaceError, match="no arrays to compute"):
        jacobian_program(f, as_="operator")
    for form in ("sparse", "blocks"):
        with pytest.raises(SpaceError, match="which entries there are depends on the point"):
            jacobian_program(f, as_=form)
    x = (V.ones(), E.vec([0, 2, 2]))
    assert jacobian(f, *x, as_="sparse").nnz == 3
    close(jacobian_program(f, as_="array").matrix(*x), jacobian(f, *x))
    with pytest.raises(SpaceError, match="proves no low rank"):
        jacobian_program(MODELS["dense"], as_="tensor")
    with pytest.raises(SpaceError, match="no order keeps"):
        jacobian_program(fun(V)(lambda x: A @ tanh(B @ x)), limit=1)


WIDE = Fin.of(50)
A, B = ((R**space).random(RNG) for space in (X * WIDE, WIDE * X))


def test_programs_with_other_places_differ() -> None:
    """x² and ‖x‖² beside 0 have the same entries at other places: neither patterns nor programs are equal."""
    f, g = fun(V)(lambda x: x * x), fun(V)(lambda x: (x * x).sum() * V.vec([1.0, *[0.0] * (V.dim - 1)]))
    one, other = jacobian_program(f, as_="sparse"), jacobian_program(g, as_="sparse")
    turned = evolve(one.pattern, indices=one.pattern.indices[::-1].copy())
    moved = type(one)(one.dom, one.cod, one.line, pattern=turned)
    assert one.pattern != turned
    assert one != moved
    assert one != other
    same = type(one)(one.dom, one.cod, one.line, pattern=evolve(one.pattern, indices=one.pattern.indices.copy()))
    assert one == same
    assert hash(one) == hash(same)
    assert pickle.loads(pickle.dumps(moved)) == moved


def numbers(matrix: Any, form: str) -> Any:
    """The array of numbers of a matrix with one block."""
    return matrix if form == "array" else matrix.data if form == "sparse" else matrix[0][0].data


@pytest.mark.parametrize("form", FORMS[:3])
@pytest.mark.parametrize("name", ["chain", "constant"])
def test_matrices_are_their_owners(name: str, form: Any) -> None:
    """What is written into a matrix is seen in no other one, nor in the vector that it was made of."""
    p = jacobian_program(MODELS[name], as_=form)
    x = at(p)
    v = p(x)
    makers: list[Callable[[], Any]] = [lambda: p.matrix(x), lambda: p.pattern.matrix(v.leaves)]
    for make in makers:
        one, other = numbers(make(), form), numbers(make(), form)
        due = other.copy()
        one[:] = 7.0
        assert np.array_equal(other, due)
        assert np.array_equal(np.ravel(v.leaves[0]), np.ravel(due))
        assert np.array_equal(numbers(make(), form), due)


def test_programs_with_blocks_at_other_places_differ() -> None:
    """The same blocks in other rows or columns are another matrix, and another program."""
    p = jacobian_program(MODELS["chain"], as_="blocks")
    (cell,) = p.pattern.cells
    others: list[dict[str, Any]] = [{"indices": cell.indices[::-1].copy()}, {"indptr": cell.indptr[::-1].copy()}]
    for places in others:
        turned = evolve(p.pattern, cells=(evolve(cell, **places),))
        assert turned != p.pattern
        assert type(p)(p.dom, p.cod, p.line, pattern=turned) != p
    same = evolve(p.pattern, cells=(evolve(cell, indices=cell.indices.copy()),))
    assert same == p.pattern
    assert type(p)(p.dom, p.cod, p.line, pattern=same) == p


def test_a_pattern_of_other_arrays_is_refused() -> None:
    """A program that is made by hand has the pattern of its results."""
    p, other = (jacobian_program(MODELS[name], as_="sparse") for name in ("chain", "sum"))
    patterns: list[Any] = [other.pattern, None]
    for pattern in patterns:
        with pytest.raises(SpaceError, match="the program of a matrix has a pattern whose arrays are in"):
            type(p)(p.dom, p.cod, p.line, pattern=pattern)


def test_a_truth_value_is_no_position() -> None:
    """`wrt=True` is not `wrt=1`, also after that was asked for."""
    f = MODELS["two"]
    assert jacobian_program(f, wrt=1).pattern.shape == (4, 4)
    told: Any = True
    with pytest.raises(SpaceError, match="True"):
        jacobian_program(f, wrt=told)


def test_a_pickle_has_the_names_of_arguments() -> None:
    """They are printed."""
    p = jacobian_program(MODELS["two"], as_="sparse", wrt=0)
    assert str(pickle.loads(pickle.dumps(p))) == str(p) == "(x, y) ↦ (cos x)·y"
