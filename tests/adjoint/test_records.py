"""Functions of records: tracing, derivatives, adjoints, lifting, files; against the same functions of direct sums."""

from __future__ import annotations

import operator
import pickle
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from adjoint import adjoint, check, grad, hessian, jacobian, value_and_grad, vjp
from diff import (
    Expr,
    const,
    derivative,
    entry,
    fun,
    inner,
    jvp,
    lift,
    made,
    onehot,
    planned,
    pointfree,
    program,
    tanh,
)
from diff.trace.record_parts import Known, RecordEntry
from hilbert import (
    Copower,
    DirectSum,
    Elements,
    Fin,
    Matrix,
    Part,
    R,
    Record,
    Scalar,
    SpaceError,
    Vec,
    Vector,
    Z,
    Zero,
    direct_sum,
    initial,
    load,
    save,
)
from linmap import cast, cost, equal, inject, matrix, pack, project, simplify, structure, unpack

jax.config.update("jax_enable_x64", val=True)


class Pixel:
    """An axis."""


class Hidden:
    """Another axis."""


class Depth:
    """The layers of a stack."""


class Sample:
    """A batch."""


class Layer(Record):
    """Weights and biases of one layer."""

    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Inner(Record):
    """A layer within a stack."""

    weights: Part[Matrix[Hidden, Hidden]]
    bias: Part[Vector[Hidden]]


class Params(Record):
    """Records within a record, a stack of them, and a discrete part."""

    encoder: Part[Layer]
    stack: Part[Copower[Inner, Fin[Depth]]]
    label: Part[Elements[Fin[Hidden]]]
    scale: Part[Scalar]


pixel, hidden, depth, sample = Fin(Pixel, 3), Fin(Hidden, 2), Fin(Depth, 2), Fin(Sample, 4)
X, H = R**pixel, R**hidden
L = Layer(weights=R ** (hidden * pixel), bias=H)
K = Inner(weights=R ** (hidden * hidden), bias=H)
P = Params(encoder=L, stack=K**depth, label=Elements(hidden), scale=R)
rng = np.random.default_rng(0)


@fun(P, X)
def model(p: Expr[Params], x: Expr[Vector[Pixel]]) -> Expr[Scalar]:
    h = tanh(p[Params.encoder / Layer.weights] @ x + p[Params.encoder][Layer.bias])
    for one in p[Params.stack]:
        h = tanh(one[Inner.weights] @ h + one[Inner.bias])
    e = p[Params.scale] * h - onehot(p[Params.label])
    return e @ e


Plain: Any = direct_sum(direct_sum(*L.parts), direct_sum(*K.parts) ** depth, Elements(hidden), R)


def plain(q: Any, x: Any) -> Any:
    """The same with positions."""
    W, b = q[0].split()
    h = tanh(W @ x + b)
    Ws, bs = q[1].split()
    for A, c in [(Ws[k], bs[k]) for k in range(2)]:
        h = tanh(A @ h + c)
    e = q[3] * h - onehot(q[2])
    return e @ e


numbered: Any = fun(Plain, X)(plain)
energy = fun(P)(lambda p: model(p, const(X.ones())))
p, x = P.random(rng), X.random(rng)
q = Plain.vec(p.array)


def test_the_same_as_with_positions() -> None:
    """Names change no step: the lines of value and gradient are equal, and so are their results."""
    assert program(model).line == program(numbered).line
    assert planned(grad(model)).line == planned(grad(numbered)).line
    assert float(model(p, x)) == float(numbered(q, x))
    np.testing.assert_array_equal(grad(model)(p, x).flat(), grad(numbered)(q, x).flat())


def test_the_gradient_is_of_the_same_class() -> None:
    """∇f(p) ∈ P', the record with 0 for its discrete part; all lenses take from it what they take from the point."""
    gradient = grad(model, 0)(p, x)
    assert gradient.space == P.tangent == Params(encoder=L, stack=K**depth, label=ZERO, scale=R)
    assert gradient[Params.label].space == ZERO
    assert gradient[Params.stack / Inner.bias].space == H**depth
    whole = grad(model)(p, x)
    assert whole.space == direct_sum(P.tangent, X)
    assert bool(check(model, p, x)[0])
    assert bool(check(model, p, x)[1])


ZERO: Any = Zero()
LENSES: list[Any] = [
    Params.encoder,
    Params.encoder / Layer.bias,
    Params.stack / Inner.weights,
    Params.scale,
    Params.label,
    (Params.scale, Params.encoder / Layer.weights),
    (Params.stack, Params.label, Params.encoder / Layer.bias),
    [Params.encoder / Layer.bias, Params.encoder / Layer.weights],
]


@pytest.mark.parametrize("wrt", LENSES, ids=str)
def test_gradients_in_some_parts(wrt: Any) -> None:
    """∇_w f, f' and f″ in w are what the lenses take of the whole ones."""
    several = isinstance(wrt, (tuple, list))
    lenses = wrt if several else (wrt,)
    spans = [lens.at(P.tangent) for lens in lenses]
    ends = np.cumsum([0, *(leaf.size for leaf in P.tangent.leaves)])
    kept = [k for _, start, stop in spans for k in range(ends[start], ends[stop])]
    parts: tuple[Any, ...] = tuple(found for found, _, _ in spans)
    space: Any = parts[0]
    if several:
        space = DirectSum(parts)
    whole = grad(energy)(p).flat()
    found = grad(energy, wrt)(p)
    assert found.space == space
    np.testing.assert_allclose(found.flat(), whole[kept], rtol=1e-12)
    np.testing.assert_allclose(value_and_grad(energy, wrt)(p)[1].flat(), whole[kept], rtol=1e-12)
    np.testing.assert_allclose(vjp(energy, wrt)(p, R.vec(1.0)).flat(), whole[kept], rtol=1e-12)
    np.testing.assert_allclose(jacobian(energy, p, wrt=wrt), whole[None, kept], rtol=1e-12)
    np.testing.assert_allclose(hessian(energy, p, wrt=wrt), hessian(energy, p)[np.ix_(kept, kept)], atol=1e-12)


def test_what_wrt_does_not_take() -> None:
    """Parts of other records, positions, parts within others."""
    wrong: Any = grad
    for wrt, text in (
        (Layer.bias, "Layer.bias is no part of the record Params"),
        (0, "the parts of the record Params have no positions"),
        ((Params.encoder, Params.encoder / Layer.bias), "name positions or lenses of its parts, each once"),
        ((Params.scale, Params.scale), "each once"),
        ((), "one at least"),
    ):
        with pytest.raises(SpaceError, match=text):
            wrong(energy, wrt)
    with pytest.raises(SpaceError, match="is a part of the record Params, not of"):
        wrong(model, Params.scale)


def test_every_pass_takes_records() -> None:
    """Pickles, equality, point-free terms, lifting, simplify, structure, cost, text."""
    derived = derivative(model)
    for term in (model, derived, adjoint(derived), grad(model), derived.at(p, x), jvp(model)):
        assert pickle.loads(pickle.dumps(term)) == term
        assert "encoder.bias" in str(term) or "π_encoder" in str(term) or "bias: " in str(term)
    assert equal(program(pointfree(model)), model)
    assert equal(model, fun(P, X)(model))
    linear = derived.at(p, x)
    assert equal(adjoint(adjoint(linear)), linear)
    dense = matrix(linear, as_="array")
    assert dense.shape == (1, P.tangent.dim + 3)
    np.testing.assert_allclose(matrix(simplify(linear), as_="array"), dense, rtol=1e-12)
    assert structure(linear) is not None
    assert "flops" in str(cost(model))
    assert "p.encoder.weights⋆x" in str(model)


def test_lifting_shares_and_batches_records() -> None:
    """lift(f, X) and f ** X on records are the functions of each."""
    xs = (X**sample).random(rng)
    many = lift(model, sample)(p, xs)
    np.testing.assert_allclose(many.array, [float(model(p, xs[k])) for k in range(4)], rtol=1e-12)
    ps = (P**sample).random(rng)
    each = lift(model, sample, over=(0,))(ps, x)
    np.testing.assert_allclose(each.array, [float(model(ps[k], x)) for k in range(4)], rtol=1e-12)
    every = (energy**sample)(ps)
    np.testing.assert_allclose(every.array, [float(energy(ps[k])) for k in range(4)], rtol=1e-12)
    mean = fun(P, X**sample)(lambda p, xs: lift(model, sample)(p, xs).mean())
    due = sum((grad(model, 0)(p, xs[k]) for k in range(4)), P.tangent.zeros()) * 0.25
    np.testing.assert_allclose(grad(mean, 0)(p, xs).flat(), due.flat(), rtol=1e-10)


def test_lenses_of_copowers_in_functions() -> None:
    """(P^X)[lens] ∈ V^X for expressions, and its derivative."""
    f = fun(P**sample)(lambda ps: ps[Params.scale] @ ps[Params.encoder / Layer.bias].sum(hidden))
    ps = (P**sample).random(rng)
    due = sum(float(ps[k][Params.scale]) * ps[k][Params.encoder / Layer.bias].array.sum() for k in range(4))
    assert float(f(ps)) == pytest.approx(due)
    gradient = grad(f)(ps)
    assert gradient.space == P.tangent**sample
    assert equal(gradient[Params.stack], ((K**depth) ** sample).zeros())
    np.testing.assert_allclose(gradient[Params.scale].array, ps[Params.encoder / Layer.bias].array.sum(axis=1))
    untyped: Any = fun(L**sample)
    swapped = untyped(lambda ls: ls.replace(Layer.bias, 2.0 * ls[Layer.bias]))
    assert equal(swapped((L**sample).ones())[Layer.bias], (H**sample).full(2.0))


def test_made() -> None:
    """Entries in any order and at any depth; what is missing, double or of another space is said."""
    W, b = L.weights.random(rng), H.random(rng)
    due = L.of(weights=W, bias=b)
    replaced: Any = due.replace
    making: Any = made
    assert equal(made(L, entry(Layer.bias, b), entry(Layer.weights, W)), due)
    kinds: list[type] = [type(entry(Layer.bias, b))]

    def body(b: Any) -> Any:
        kinds.append(type(entry(Layer.bias, b)))
        return b

    fun(H)(body)
    assert kinds == [Known, RecordEntry]  # with a vector, and with an expression
    nested = fun(H)(
        lambda b: making(
            P,
            entry(Params.encoder / Layer.bias, b),
            entry(Params.encoder / Layer.weights, W),
            entry(Params.stack, (K**depth).zeros()),
            entry(Params.label, Elements(hidden).vec(1)),
            entry(Params.scale, b @ b),
        )
    )
    assert nested.cod == P
    assert equal(nested(b)[Params.encoder], due)
    assert float(nested(b)[Params.scale]) == pytest.approx(b.inner(b))
    assert grad(energy @ nested).cod == H
    with pytest.raises(SpaceError, match="weights missing; give an entry"):
        made(L, entry(Layer.bias, b))
    with pytest.raises(SpaceError, match=r"Layer.bias is given twice"):
        made(L, entry(Layer.bias, b), entry(Layer.bias, b))
    with pytest.raises(SpaceError, match=r"Params.encoder is given twice"):  # its second leaf is there
        making(P, entry(Params.encoder / Layer.bias, b), entry(Params.encoder, due))
    with pytest.raises(SpaceError, match=r"made\(P, …\) takes entries, entry\(lens, value\), not a vector"):
        making(L, W)
    with pytest.raises(SpaceError, match=r"P.of\(bias=…\) makes a vector of numbers, .* made\(P, entry\(Layer.weights"):
        fun(H)(lambda b: const(L.of(weights=W, bias=b)))
    with pytest.raises(SpaceError, match=r"takes a vector, not an expression of ℝ\^Hidden2: write const\(p\).replace"):
        fun(H)(lambda b: replaced(Layer.bias, b))


def test_functions_of_records_map_leaves() -> None:
    """An optimiser is one function of each leaf."""
    clipped = fun(L)(lambda p: p.map_leaves(lambda path, v: v if path == "bias" else tanh(v)))
    l = L.random(rng)
    assert equal(clipped(l)[Layer.bias], l[Layer.bias])
    assert equal(clipped(l)[Layer.weights], tanh(l[Layer.weights]))
    mapped: Any = Expr.map_leaves
    with pytest.raises(SpaceError, match=r"f\('weights', v\) is an expression of ℝ, where one of"):
        fun(L)(lambda p: mapped(p, lambda _, v: v.sum()))


def test_tuples_are_arguments() -> None:
    """f(a, (b, c)) where a direct sum is due, of vectors and of expressions, at any depth."""
    f: Any = fun(R, direct_sum(X, direct_sum(R, Z)))(lambda k, s: k * s[0].sum() * s[1][0])
    k, n = R.vec(2.0), Z.vec(1)
    assert float(f(k, (x, (k, n)))) == pytest.approx(4.0 * x.array.sum())
    assert float(f((k, (x, (k, n))))) == float(f(k, (x, (k, n))))
    g: Any = fun(R, X)(lambda k, x: f(k, (x, (k, n))))
    assert float(g(k, x)) == float(f(k, (x, (k, n))))
    slope: Any = derivative(f)
    assert slope.at(k, (x, (k, n))).dom == direct_sum(R, direct_sum(X, direct_sum(R, Zero())))
    for wrong in ((x, k), (x, (k,)), (k, x), (x, (k, 3.0))):
        with pytest.raises(SpaceError, match="argument 2"):
            f(k, wrong)
        with pytest.raises(SpaceError, match="an expression of"):
            fun(R)(lambda k: f(k, wrong))  # noqa: B023 - traced at once
    square: Any = fun(L)(lambda l: inner(l, l))
    with pytest.raises(SpaceError, match=r"pack\(P\)\(v\) maps one to the other"):
        square((L.weights.zeros(), H.zeros()))


def test_linear_maps_of_records() -> None:
    """π and ι by lenses, pack and unpack; f* = f⁻¹ for the latter."""
    Q = Params(encoder=L, stack=K**depth, label=ZERO, scale=R)
    v, b = Q.random(rng), H.random(rng)
    lens = Params.encoder / Layer.bias
    projected: Any = project
    packed: Any = pack
    assert equal(project(Q, lens)(v), v[lens])
    assert equal(inject(Q, lens)(b), Q.zeros().replace(lens, b))
    assert adjoint(project(Q, lens)) == inject(Q, lens)
    assert adjoint(pack(Q)) == unpack(Q)
    assert simplify(pack(Q) @ unpack(Q)).dom == Q
    assert equal(pack(Q)(unpack(Q)(v)), v)
    assert cast(L, R).cod == L
    with pytest.raises(SpaceError, match="leads through the copower"):
        project(Q, Params.stack / Inner.bias)
    with pytest.raises(SpaceError, match="have no positions"):
        projected(Q, 0)
    with pytest.raises(SpaceError, match="pack applies to a record P"):
        packed(direct_sum(R, R))


def test_masks_are_records() -> None:
    """A comparison has the class of what is compared."""
    greater: Any = operator.gt
    positive: Any = fun(L)(lambda l: greater(l, 0.0))
    mask = positive(L.of(weights=np.ones((2, 3)), bias=[1.0, -1.0]))
    assert isinstance(mask.space, Layer)
    assert mask[Layer.bias].array.tolist() == [True, False]


def test_the_parts_of_a_record_are_arguments() -> None:
    """fun.over(P) gives the body an argument for each part."""
    f = fun.over(L)(lambda W, b: b @ (W @ x + b))
    l = L.random(rng)
    assert f.dom == L
    assert float(f(l)) == pytest.approx(float(fun(L)(lambda l: inner(l[Layer.bias], layer(l)))(l)))


def layer(l: Expr[Layer]) -> Expr[Vector[Hidden]]:
    """Without a bend."""
    return l[Layer.weights] @ x + l[Layer.bias]


def test_from_parameters_to_a_file_and_back(tmp_path: Path) -> None:
    """Params → gradient → step → save → load → gradient, with nested records and a discrete part; against JAX."""

    def rule(path: str, V: Any, rng: Any) -> Any:
        return 1 if path == "label" else initial(V, rng)

    start = initial(P, np.random.default_rng(3), rule).replace(Params.scale, R.vec(1.5))
    step: Any = value_and_grad(model, 0)

    def descended(p: Any) -> tuple[float, Vec[Any], Vec[Any]]:
        value, gradient = step(p, x).split()
        moved = p
        for lens in (Params.encoder, Params.stack, Params.scale):
            moved = moved.replace(lens, p[lens] - 0.1 * gradient[lens])
        return float(value), moved, gradient

    values = []
    here: Any = start
    for _ in range(20):
        value, here, _ = descended(here)
        values.append(value)
    assert values[-1] < 0.5 * values[0]
    save(here, tmp_path / "params.npz")
    with np.load(tmp_path / "params.npz") as arrays:
        assert sorted(arrays) == ["encoder.bias", "encoder.weights", "label", "scale", "stack.bias", "stack.weights"]
    again: Any = load(P, tmp_path / "params.npz")
    assert equal(again, here)
    value, _, gradient = descended(again)
    assert value < values[-1]

    def by_jax(W: Any, b: Any, Ws: Any, bs: Any, scale: Any) -> Any:
        h = jax.numpy.tanh(W @ x.array + b)
        for k in range(2):
            h = jax.numpy.tanh(Ws[k] @ h + bs[k])
        e = scale * h - jax.numpy.eye(2)[int(again[Params.label].array)]
        return e @ e

    leaves = [a for k, a in enumerate(again.leaves) if k != 4]
    due = jax.jit(jax.grad(by_jax, argnums=tuple(range(5))))(*map(jax.numpy.asarray, leaves))
    for found, expected in zip(gradient.leaves, due, strict=True):
        np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-10, atol=1e-12)
