"""No writeable array that is handed out shares memory with a plan, a constant or an input."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import array_api_strict
import attrs
import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.csgraph
import scipy.sparse.linalg
from hypothesis import given, settings

import hilbert.all as hb
from diff.terms.elementwise import Elementwise
from hilbert import Copower, Fin, R, SpaceError, Vec, direct_sum, relation
from hilbert.map.map import Map
from linmap.contraction import matrix_vector
from linmap.term.net import Net, refs
from tests.linear_terms import between
from tests.public import PUBLIC
from tests.strategies import Source, sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

X, Y = Fin.of(3), Fin.of(2)
V, W = R**X, R**Y
RNG = np.random.default_rng(0)
x, y = V.vec([1.0, -2.0, 0.5]), W.vec([0.25, 3.0])
A, Q = (R ** (Y * X)).random(RNG), (R ** (X * X)).random(RNG)
TENSOR = x.tensor(y) + x.tensor(2 * y)
BOTH = direct_sum(V, W)
PAIR = BOTH.vec((x, y))
ROWS, COLS = np.array([0, 1, 1]), np.array([2, 0, 1])
PLACES = [(2, 0), (0, 1), (1, 1)]
CSR = scipy.sparse.csr_array(np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0]]))
STAR = matrix_vector(Y, X)
section = hb.section(STAR, 0, A)
square = hb.section(matrix_vector(X, X), 0, Q)
quadratic = hb.fun(V)(lambda v: 0.5 * (v @ (Q @ v)))
layer = hb.fun(V, W)(lambda v, b: hb.tanh(A @ v + b))
moved = hb.fun(V, W)(lambda v, b: (b, v))
one_step = hb.affine(layer, x, y)[1]

POSITIVE = (R ** (X * X)).vec(Q.array @ Q.array.T + np.eye(3))


def itself(_: Any, a: Any) -> Any:
    """A value that is the array that it is given."""
    return a


identity_of_arrays = hb.operation("itself", V, to=V, value=itself)


class Weights(hb.Record):
    """A record."""

    bias: hb.Part[Any]


RECORD = Weights(bias=V)
TYPES = {name for name in PUBLIC if isinstance(getattr(hb, name), type)}
VALUES = {"NAMES", "entry", "Derivative", "R", "R32", "Bool", "Z", "Vector", "Matrix", "Scalar", "AnyTermFunction"}
"""Names of spaces and of types; none has an array."""
TEXTS = {"pattern", "cost", "diagram", "explain", "measure", "rank", "show", "source", "structure", "equal", "trace"}
"""Functions that give numbers and texts."""
CHECKED = {"check", "check_adjoint", "check_derivative", "load", "parquet", "register", "save", "verify"}
"""Functions that give reports, read and write files, and the one that changes the table of primitives."""

FOREIGN = {"as_torch"}
"""What needs a library that is not installed with the tests; `make test-torch` has its tests."""
DATA = {"arrow", "data", "on", "sequence", "variant"}
"""What makes sets of values, classes and alternatives; none has an array."""


@hb.variant
class Leaf:
    """A vector."""

    vector: Any


@hb.variant
class Node:
    """Two trees."""

    left: Leaf | Node
    right: Leaf | Node


def product(p: Any, t: Leaf | Node) -> Any:
    """A fold of a tree."""
    match t:
        case Leaf(w):
            return (p * w).sum()
        case Node(left, right):
            return scaled(p, left) + scaled(p, right)


TREES: Any = hb.data(Leaf, Node, vector=V)
scaled: Any = hb.term(V, TREES)(product)
MAPS: dict[str, Callable[[], Any]] = {
    "as_vector": lambda: hb.as_vector(Leaf(x).vector),
    "case": lambda: hb.case(Leaf(x), hb.on(Leaf, lambda leaf: leaf.vector + leaf.vector)),
    "folded": lambda: hb.folded(lambda e, s: e + s, x, (x, x)),
    "forest": lambda: hb.forest(scaled, [Leaf(x), Leaf(x)])(x),
    "term": lambda: hb.grad(scaled, 0)(x, Leaf(x)),
    "add": lambda: hb.add(V),
    "adjoint": lambda: hb.adjoint(section),
    "affine": lambda: hb.affine(layer, x, y),
    "adjoint_affine": lambda: hb.adjoint_affine(layer, x, y),
    "bilinear": lambda: hb.bilinear(STAR),
    "cast": lambda: hb.cast(V, hb.R32),
    "compose": lambda: hb.compose(section, square),
    "compress": lambda: hb.compress(TENSOR, 0.1),
    "concatenate": lambda: hb.concatenate(X, Y),
    "constant": lambda: hb.constant(y, V),
    "crop": lambda: hb.crop(X, 1, 3),
    "cumsum": lambda: hb.cumsum(X),
    "curry": lambda: hb.curry(A.space),
    "delta": lambda: hb.delta(STAR, 0, (A.space**Y).random(np.random.default_rng(1)), Y),
    "derivative": lambda: hb.derivative(layer).at(PAIR),
    "diagonal": lambda: hb.diagonal(square),
    "differences": lambda: hb.differences(X),
    "direct_sum": lambda: hb.direct_sum(V, W).zeros(),
    "dot": lambda: hb.dot(x),
    "dup": lambda: hb.dup(V),
    "factors": lambda: hb.factors(section),
    "flip": lambda: hb.flip(X),
    "fork": lambda: hb.fork(section, square),
    "formal": lambda: hb.formal(TENSOR.space, [(x, y)]),
    "from_factors": lambda: hb.from_factors(Copower(V, Y).ones(), Copower(W, Y).ones()),
    "from_scipy": lambda: hb.from_scipy(CSR),
    "fun": lambda: layer(x, y),
    "const": lambda: hb.fun(V)(lambda v: v + hb.const(x))(x),
    "contract": lambda: hb.contract("yx,x->y", A, x),
    "conv": lambda: hb.conv(A, A.reshape(hb.Fin.of(1) * X * Y)),
    "fft": lambda: hb.fft(X),
    "ifft": lambda: hb.ifft(X),
    "gather": lambda: hb.gather(COLS, X),
    "grad": lambda: hb.grad(quadratic)(x),
    "gram": lambda: hb.gram(section),
    "group_by": lambda: hb.group_by(ROWS, Fin.of(2)),
    "hessian": lambda: (hb.hessian(quadratic, x), hb.hessian(quadratic, x, blocks=True)),
    "identity": lambda: hb.identity(V),
    "inject": lambda: hb.inject(BOTH, 0),
    "inner": lambda: hb.inner(x, x),
    "blocked": lambda: hb.blocked(hb.grad(hb.fun(V)(lambda v: v @ v)), over=V.index)(x),
    "gauss_newton": lambda: hb.gauss_newton(hb.fun(V)(lambda v: hb.exp(v) - 2.0), x).point,
    "levenberg_marquardt": lambda: hb.levenberg_marquardt(hb.fun(V)(lambda v: hb.exp(v) - 2.0), x).point,
    "laplace": lambda: hb.laplace(hb.fun(V, V)(lambda p, v: (hb.exp(p) * v * v).sum()), x)(x),
    "minimizer": lambda: hb.fun(V)(lambda p: hb.minimizer(lambda v: ((v - p) * (v - p)).sum(), p))(x),
    "compiled": lambda: hb.compiled(hb.grad(quadratic))(x),
    "distributed": lambda: hb.distributed(hb.grad(hb.fun(V)(lambda v: v @ v)), over=V.index)(data={"v": x.array}),
    "as_scipy": lambda: (
        s := hb.as_scipy(quadratic),
        *(given(x.array) for given in (s.value_and_grad, s.jac, s.hess)),
        hb.as_scipy(layer, y, wrt=0).fun(x.array),
    )[1:],
    "as_jax": lambda: hb.as_jax(layer, rule="vjp"),
    "nlp": lambda: [
        getattr(hb.nlp(quadratic, equal=square), name)(x.array) for name in ("gradient", "jacobian", "jac")
    ],
    "linear_operator": lambda: hb.linear_operator(section) @ x.array,
    "jacobian_program": lambda: (
        hb.jacobian_program(layer)(x, y),
        *(hb.jacobian_program(layer, as_=form).matrix(x, y) for form in ("array", "sparse")),
    ),
    "hessian_program": lambda: hb.hessian_program(quadratic, as_="sparse").matrix(x),
    "jacobian": lambda: (
        hb.jacobian(layer, x, y),
        hb.jacobian(moved, x, y, blocks=True),
        hb.jacobian(layer, x, y, wrt=1),
    ),
    "join": lambda: hb.join(section, hb.identity(W)),
    "jvp": lambda: hb.jvp(quadratic)(x, x),
    "kept": lambda: hb.fun(V)(lambda v: hb.kept(A @ v))(x),
    "planned": lambda: hb.planned(hb.program(layer)),
    "again": lambda: hb.again(lambda x: x * x, x),
    "batched": lambda: hb.batched(hb.fun(V, V)(lambda a, b: a * b), object)(x, (V ** Fin(object, 2)).ones()),
    "build": lambda: hb.build(lambda k: hb.const(x)[k], X),
    "each": lambda: hb.each(lambda x: x, x),
    "fold": lambda: hb.fold(lambda s, x: (s, x), x, x),
    "fixed_point": lambda: hb.fixed_point(lambda s: 0.5 * s, x),
    "root": lambda: hb.root(lambda s: s - x, x),
    "iterate": lambda: hb.iterate(lambda s: s, x, Fin.of(0)),
    "where": lambda: hb.where(x > 0.0, x, x),
    "while_": lambda: hb.while_(lambda s: s.sum() > 1e9, lambda s: s, x, at_most=Fin.of(2)),
    "lift": lambda: hb.lift(layer, Y, over=(1,))(x, Copower(W, Y).ones()),
    "linear": lambda: hb.linear(TENSOR),
    "matrix": lambda: [
        hb.matrix(f, as_=form) for f in (section, square, one_step) for form in ("array", "sparse", "blocks")
    ],
    "onehot": lambda: hb.onehot(hb.Elements(X).vec(1)),
    "outer": lambda: hb.outer(x, y),
    "pad": lambda: hb.pad(X, 1, 1),
    "parallel": lambda: hb.parallel(section, square),
    "permute": lambda: hb.permute([2, 0, 1], X),
    "pointfree": lambda: hb.pointfree(layer),
    "pool": lambda: hb.pool(X, 1),
    "polygamma": lambda: hb.polygamma(1, x * x + 1.0),
    "pow": lambda: hb.pow(x * x, x),
    "power": lambda: hb.power(2.0),
    "program": lambda: hb.program(layer),
    "project": lambda: hb.project(BOTH, 0),
    "red": lambda: hb.red(relation.pairs(PLACES, X, Y)),
    "rep": lambda: hb.rep(X),
    "reshape": lambda: hb.reshape(X * Y, Fin.of(6)),
    "roll": lambda: hb.roll(X, 1),
    "scale": lambda: hb.scale(2.0, V),
    "section": lambda: hb.section(STAR, 1, x),
    "segment_sum": lambda: hb.segment_sum(ROWS, Fin.of(2)),
    "select": lambda: hb.select(x > 0.0, x),
    "simplify": lambda: (hb.simplify(square @ (2 * hb.identity(V))), hb.simplify(layer)),
    "sparse": lambda: hb.sparse(ROWS, COLS, [1.0, 2.0, 3.0], X, Y),
    "sparse_product": lambda: hb.sparse_product(ROWS, COLS, X, Y),
    "split": lambda: hb.split(R ** (X + Y)),
    "stack": lambda: hb.stack(X),
    "tensor": lambda: (hb.tensor(section), hb.tensor(section, dense=True), hb.tensor(one_step, dense=True)),
    "cg": lambda: hb.cg(2.0 * hb.identity(V), x),
    "cholesky": lambda: hb.cholesky(POSITIVE),
    "det": lambda: hb.det(POSITIVE),
    "eigh": lambda: hb.eigh(POSITIVE),
    "expm": lambda: hb.expm(POSITIVE),
    "inv_sqrtm": lambda: hb.inv_sqrtm(POSITIVE),
    "inverse": lambda: hb.inverse(POSITIVE),
    "logdet": lambda: hb.logdet(POSITIVE),
    "lstsq": lambda: hb.lstsq(POSITIVE, POSITIVE),
    "logm": lambda: hb.logm(POSITIVE),
    "matrix_function": lambda: hb.matrix_function(hb.exp, POSITIVE),
    "qr": lambda: hb.qr(POSITIVE),
    "solve": lambda: hb.solve(POSITIVE, x),
    "solve_triangular": lambda: hb.solve_triangular(POSITIVE, x),
    "sqrtm": lambda: hb.sqrtm(POSITIVE),
    "svd": lambda: hb.svd(POSITIVE),
    "operation": lambda: identity_of_arrays(x),
    "linear_map": lambda: hb.linear_map("itself", V, V, itself, itself),
    "directional": lambda: hb.directional(quadratic, 1)(x, x),
    "interpolated": lambda: hb.interpolated(quadratic, 1, 2)(x, x),
    "jet": lambda: hb.jet(quadratic, 1, 1)(x, x),
    "laplacian": lambda: hb.laplacian(quadratic)(x),
    "ode_series": lambda: hb.ode_series(hb.fun(V)(lambda v: Q @ v), 2)(x),
    "ode_solve": lambda: hb.ode_solve(hb.fun(V)(lambda v: Q @ v), x, 0.1),
    "taylor": lambda: hb.taylor(quadratic, x, x, 2),
    "made": lambda: hb.made(RECORD, hb.entry(Weights.bias, x)),
    "initial": lambda: hb.initial(RECORD, np.random.default_rng(0)),
    "fan_in": lambda: hb.initial(RECORD, np.random.default_rng(0), hb.fan_in),
    "pack": lambda: hb.pack(RECORD),
    "unpack": lambda: hb.unpack(RECORD),
    "total": lambda: hb.total(X),
    "transpose": lambda: hb.transpose(A.space),
    "uncurry": lambda: hb.uncurry((R**X) ** Y),
    "universal": lambda: hb.universal(STAR),
    "unstack": lambda: hb.unstack(X),
    "unzip_parts": lambda: hb.unzip_parts(BOTH**Y),
    "value_and_grad": lambda: hb.value_and_grad(quadratic)(x),
    "hvp": lambda: hb.hvp(hb.fun(V)(lambda x: x @ x))(x, x),
    "vjp": lambda: hb.vjp(layer)(PAIR, y),
    "named": lambda: (x.named(hb.Fin.of(X.size)), A.times(x)),
    "windows": lambda: hb.windows(X, 2),
    "zero": lambda: hb.zero(V, W),
    "zip_parts": lambda: hb.zip_parts(direct_sum(V, V)),
    "methods of vectors": lambda: (x.flat(), PAIR.flat(), x.array, PAIR.array, A.T, -x, x + 0.0, A @ x, TENSOR.dense()),
    "methods of spaces": lambda: (BOTH.unflat(np.ones(5)), V.basis(), V.ones(), V.full(2.0), BOTH.zeros()),
    "relations": lambda: [
        relation.function(COLS, X, X).holds(),
        relation.leq(X).holds(),
        relation.pairs(PLACES, X, Y).holds(),
    ],
}


def calls() -> dict[str, Callable[[], Any]]:
    """A call of every public function that gives arrays; element-wise ones on a vector or two."""
    found = dict(MAPS)
    for name in PUBLIC:
        f = getattr(hb, name)
        if isinstance(f, Elementwise) and name not in found:
            found[name] = partial(f, *[x] * f.rule.arity)
    return found


def arrays(value: Any, seen: dict[int, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Every array that is reached from a result by items and public attributes, also those that a map gives."""
    if id(value) in seen or isinstance(value, (str, int, float, type)) or value is None:
        return
    seen[id(value)] = value  # kept, so that no other object has its id
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from arrays(item, seen)
    elif scipy.sparse.issparse(value):
        yield from (value.data, value.indices, value.indptr)
    elif isinstance(value, Vec):
        yield from arrays((value.leaves, value.array), seen)
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            if not field.name.startswith("_"):
                yield from arrays(getattr(value, field.name), seen)
        is_open = isinstance(value, Net) and refs(value)
        if isinstance(value, Map) and not isinstance(value, Elementwise) and not is_open:
            yield from arrays(value(value.dom.ones()) if value.dom.is_space else None, seen)


def overwritten(result: Any, kept: list[Any]) -> None:
    """Write into everything that can be written into; what was reached is kept alive."""
    kept.append(result)
    for a in arrays(result, {}):
        kept.append(a)
        if a.flags.writeable:
            a[...] = 77 if a.dtype.kind != "b" else ~a


def snapshot(result: Any) -> list[bytes]:
    """The contents of the arrays."""
    return [a.tobytes() for a in arrays(result, {})]


def test_the_table_is_complete() -> None:
    """Every public name is called, or has no arrays."""
    assert set(PUBLIC) <= set(calls()) | TYPES | VALUES | TEXTS | CHECKED | DATA | FOREIGN


def test_writing_into_results_changes_no_other_result() -> None:
    """f(x) = f(x), whatever was written into the arrays of all the results between."""
    made = calls()
    with np.errstate(all="ignore"):
        before = {name: snapshot(call()) for name, call in made.items()}
        kept: list[Any] = []
        for call in made.values():
            overwritten(call(), kept)
        for name, call in made.items():
            assert snapshot(call()) == before[name], name
    assert len(kept) > 300


FORMS: tuple[Any, ...] = ("array", "sparse", "blocks")


@settings(max_examples=60, deadline=None)
@given(sources())
def test_matrices_are_fresh(s: Source) -> None:
    """The matrices, factors, diagonal and values of a term after all arrays of the first ones were written into."""
    f = between(s, s.space(), s.space(), 3)
    v = s.vector(f.dom)

    def results() -> list[Any]:
        made: list[Any] = [hb.matrix(f, as_=form) for form in FORMS]
        made += [hb.tensor(f, dense=True), f(v), hb.adjoint(f)(f.cod.ones())]
        with suppress(SpaceError):  # input and output share an axis
            made.append(hb.factors(f))
        return made

    first = results()
    before, kept = snapshot(first), list[Any]()
    writeable = [a for m in first[:2] for a in arrays(m, {}) if a.dtype.kind == "f"]
    assert all(a.flags.writeable for a in writeable)
    overwritten(first, kept)
    assert snapshot(results()) == before


def test_the_dense_matrix_and_the_values_may_be_written_into() -> None:
    """matrix, jacobian, hessian: an array of one's own; CSR arrays share their pattern, read-only."""
    H = hb.hessian(quadratic, x)
    again = H.copy()
    H += 10 * np.eye(3)
    np.testing.assert_array_equal(hb.hessian(quadratic, x), again)
    for f in (section, square, hb.roll(X, 1), hb.identity(V), one_step):
        S, T = hb.matrix(f, as_="sparse"), hb.matrix(f, as_="sparse")
        assert S.data.flags.writeable
        assert not S.indices.flags.writeable
        assert not S.indptr.flags.writeable
        due = T.toarray()
        S.data[:] = 0.0
        np.testing.assert_array_equal(T.toarray(), due)
        np.testing.assert_array_equal(hb.matrix(f, as_="sparse").toarray(), due)


def test_scipy_takes_the_shared_pattern() -> None:
    """Solvers and graph algorithms run on matrices whose index arrays are read-only."""
    n = Fin.of(6)
    laplacian = 3 * hb.identity(R**n) - hb.roll(n, 1) - 0.5 * hb.roll(n, -1)
    S, b = hb.matrix(laplacian, as_="sparse"), np.arange(6.0)
    sla, graph = scipy.sparse.linalg, scipy.sparse.csgraph
    for solve in (sla.spsolve, lambda M, r: sla.splu(M.tocsc()).solve(r), lambda M, r: sla.gmres(M, r, rtol=1e-12)[0]):
        np.testing.assert_allclose(S @ solve(S, b), b, atol=1e-8)
    assert graph.connected_components(S)[0] == 1
    for algorithm in (graph.reverse_cuthill_mckee, graph.minimum_spanning_tree, graph.dijkstra, graph.laplacian):
        algorithm(abs(S))
    assert sla.norm(S) == pytest.approx(np.linalg.norm(S.toarray()))


def test_results_are_fresh_where_arrays_cannot_be_read_only() -> None:
    """f(x) shares no memory with x, a constant or another result, for libraries without read-only arrays."""
    u = V.vec(array_api_strict.asarray([1.0, 2.0, 3.0]))
    swap = hb.fun(V, V)(lambda a, b: (b, a, a, hb.const(x)))
    for f, args in ((hb.identity(V), (u,)), (swap, (u, u)), (hb.roll(X, 0), (u,))):
        first = f(*args)
        due = [np.asarray(a).copy() for a in first.leaves]
        for a in first.leaves:
            a[...] = 5.0
        np.testing.assert_array_equal(np.asarray(u.leaves[0]), [1.0, 2.0, 3.0])
        for a, b in zip(f(*args).leaves, due, strict=True):
            np.testing.assert_array_equal(np.asarray(a), b)
