"""The worked examples of theory §7 with their numbers, and the claims about terms that the documentation makes."""

import gc
import itertools
import math
import os
import pickle
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import numpy as np
import pytest

import diff.terms.nodes
import linmap.term.nodes
from adjoint import adjoint, grad, jacobian, value_and_grad
from diff import (
    affine,
    bilinear,
    constant,
    cos,
    derivative,
    dot,
    exp,
    fun,
    inner,
    jvp,
    lift,
    log,
    onehot,
    pointfree,
    program,
    select,
    sin,
    tanh,
)
from diff.names import NAMES
from diff.primitives.primitives import BINARY, PRIMITIVES
from hilbert import R32, Elements, Fin, Map, R, SpaceError, Vec, direct_sum
from hilbert.base.term import Term, postorder
from hilbert.program.run.run import Runner
from hilbert.relation import equality, function, geq, leq, pairs, run
from linmap import (
    add,
    cast,
    compose,
    concatenate,
    cumsum,
    curry,
    dup,
    equal,
    fork,
    gather,
    identity,
    inject,
    join,
    linear_map,
    parallel,
    project,
    red,
    rep,
    scale,
    section,
    simplify,
    stack,
    total,
    transpose,
    zero,
    zip_parts,
)
from linmap.contraction import hadamard, matrix_vector
from linmap.contraction import inner as inner_product
from linmap.unitary import assoc, bars, bra, ket, tensor_copower, tensor_matrix


class Pixel:
    """The tag of an axis."""


class Hidden:
    """The tag of another."""


pixel, hidden = Fin(Pixel, 4), Fin(Hidden, 3)
x_space, w_space, b_space = R**pixel, R ** (hidden * pixel), R**hidden
layer = fun(w_space, x_space, b_space)(lambda W, x, b: tanh(W @ x + b))
B2 = fun(R, R)(lambda x1, x2: log(x1) + x1 * x2 - sin(x2))


def square_sum(v: Any) -> Any:
    return v @ v


def vec(*numbers: float) -> list[Vec[Any]]:
    return [R.vec(k) for k in numbers]


# --- appendix A ---


@pytest.mark.parametrize(("x", "slope"), [(4.0, 8.0), (7.0, 14.0)])
def test_leibniz(x: float, slope: float) -> None:
    """A.1: the derivative of x² is 8 at 4 and 14 at 7."""
    square = fun(R)(lambda x: x**2)
    assert str(derivative(square)) == "(2·x ·)"
    assert float(derivative(square).at(R.vec(x))(R.vec(1.0))) == slope
    assert float(grad(square)(R.vec(x))) == slope


def test_jacobi() -> None:
    """A.2: the Jacobian of (x₁+x₂, x₁x₃) at (4, 0, −2) is [[1, 1, 0], [−2, 0, 4]]."""
    f = fun(R, R, R)(lambda x1, x2, x3: (x1 + x2, x1 * x3))
    assert jacobian(f, *vec(4, 0, -2)).tolist() == [[1, 1, 0], [-2, 0, 4]]
    assert str(derivative(f)) == "⟨π₁ + π₂, (x₁·)•π₃ + (·x₃)•π₁⟩"


def test_frechet() -> None:
    """A.3: g'(v) = Δ(map h' (W⋆v+b)) • (W⋆), so g'(v)(dv) = zipWith (·) (map (1 − tanh²) (W⋆v+b)) (W⋆dv)."""
    rng = np.random.default_rng(0)
    W, b, v, dv = w_space.random(rng), b_space.random(rng), x_space.random(rng), x_space.random(rng)
    g = fun(x_space)(lambda v: tanh(W @ v + b))
    expected = (1 - np.tanh(W.array @ v.array + b.array) ** 2) * (W.array @ dv.array)
    np.testing.assert_allclose(derivative(g).at(v)(dv).array, expected, rtol=1e-13)
    np.testing.assert_allclose(jvp(g)(v, dv).array, expected, rtol=1e-13)
    assert str(derivative(g)).splitlines()[0] == "(tanh'(a⋆v+b) ·) • (a⋆)"
    assert str(jvp(g)).splitlines()[0] == "(v, dv) ↦ tanh'(a⋆v+b)·(a⋆dv)"


# --- appendix B ---


def test_chain() -> None:
    """B.1: (ln ∘ sin)'(x) = (1/sin x ·) • (cos x ·) = (cos x / sin x ·)."""
    f = log @ sin
    assert str(f) == "ln ∘ sin"
    assert str(derivative(f)) == "(1/sin x ·) • (cos x ·)"
    assert str(simplify(derivative(f))) == "(cos x / sin x ·)"
    for x in (0.3, 1.1, 2.9):
        for d in (derivative(f), simplify(derivative(f))):
            assert math.isclose(float(d.at(R.vec(x))(R.vec(1.0))), math.cos(x) / math.sin(x), rel_tol=1e-14)


def test_product_and_sum() -> None:
    """B.2: the paper's last line, and the partials 1/x₁ + x₂ and x₁ − cos x₂."""
    last = "(1/x₁ ·)•π₁ + (x₁·)•π₂ + (·x₂)•π₁ − (cos x₂ ·)•π₂"
    assert str(derivative(B2)) == str(simplify(derivative(B2))) == last
    for x1, x2 in ((0.5, 2.0), (3.0, -1.0)):
        partials = [float(p) for p in grad(B2)(*vec(x1, x2))]
        np.testing.assert_allclose(partials, [1 / x1 + x2, x1 - math.cos(x2)], rtol=1e-14)


def test_unreadable_form() -> None:
    """B.2 composed of combinators, as in the paper's last lines, is the traced function up to the order of sums."""
    V = B2.dom
    terms = log @ project(V, 0) + bilinear(hadamard(R)) - sin @ project(V, 1)
    assert equal(derivative(terms), derivative(B2))
    assert equal(pointfree(B2), B2)


# --- Griewank's example (§8) ---


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of entries of every slot of every line that runs."""
    seen: list[int] = []
    plain = Runner.run

    def recording(self: Runner, arrays: Any) -> list[Any]:
        seen.extend(leaf.size for leaf in self.line.slots)
        return plain(self, arrays)

    monkeypatch.setattr(Runner, "run", recording)
    return seen


def griewank(n: int, m: int, rng: np.random.Generator) -> tuple[Map[Any, Any], Vec[Any], Vec[Any]]:
    """b·sin(aᵀx), a and b."""
    X, Y = Fin.of(n), Fin.of(m)
    a, b = (R**X).random(rng), (R**Y).random(rng)
    return fun(R**X)(lambda x: sin(a @ x) * b), a, b


def test_griewank_is_a_rank_one_tensor() -> None:
    """The matrix of f'(x₀) is c·(b⊗a) with c = cos(aᵀx₀)."""
    f, a, b = griewank(5, 3, np.random.default_rng(1))
    x = f.dom.random(np.random.default_rng(2))
    c = math.cos(a.inner(x))
    np.testing.assert_allclose(jacobian(f, x), c * np.outer(b.array, a.array), rtol=1e-13)
    assert str(derivative(f)).splitlines()[0] == "(·b) • (cos(a⊙x) ·) • (a⊙)"
    assert str(adjoint(derivative(f))).splitlines()[0] == "(a·) • (cos(a⊙x) ·) • (⊙b)"


def test_griewank_without_a_matrix(sizes: list[int]) -> None:
    """n = m = 10⁶: forward d·b with d = c·(a⊙dx), and adjoint, in slots of at most 10⁶ entries."""
    n = m = 10**6
    rng = np.random.default_rng(3)
    f, a, b = griewank(n, m, rng)
    x, dx, dy = f.dom.random(rng), f.dom.random(rng), f.cod.random(rng)
    sizes.clear()
    tracemalloc.start()
    linear = derivative(f).at(x)
    forward, backward = linear(dx), adjoint(linear)(dy)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes
    assert max(sizes) == n
    assert peak < 8 * (8 * n)  # bytes of eight vectors
    c = math.cos(float(a.array @ x.array))
    np.testing.assert_allclose(forward.array, c * (a.array @ dx.array) * b.array, rtol=1e-9)
    np.testing.assert_allclose(backward.array, c * (b.array @ dy.array) * a.array, rtol=1e-9)


# --- Ex. 7.1 ---


def test_layer() -> None:
    """The paper's g_i' in the order of arguments, its adjoint, and its point-free form."""
    assert str(layer) == "(W, x, b) ↦ tanh(W⋆x+b)"
    assert str(pointfree(layer)) == "tanh^Hidden3 ∘ ((⋆)∘⟨π₁, π₂⟩ + π₃)"
    assert str(derivative(layer)) == "(tanh'(W⋆x+b) ·) • ((W⋆)•π₂ + (⋆x)•π₁ + π₃)"
    assert str(simplify(derivative(layer))) == str(derivative(layer))
    assert str(adjoint(derivative(layer))) == "⟨(⊗x) • d₁, (Wᵀ⋆) • d₁, d₁⟩\n  where d₁ = (tanh'(W⋆x+b) ·)"


def test_squared_loss() -> None:
    """l = (⊙) ∘ dup ∘ (π₁ − π₂), whose gradient in v is 2(v − y)."""
    V = direct_sum(b_space, b_space)
    terms = bilinear(inner_product(b_space)) @ dup(b_space) @ (project(V, 0) - project(V, 1))
    traced = fun(b_space, b_space)(lambda v, y: inner(v - y, v - y))
    assert str(terms) == "(⊙) ∘ ⟨id, id⟩ ∘ (π₁ − π₂)"
    assert str(derivative(traced)) == "((v−y) ⊙)•(π₁ − π₂) + (⊙ (v−y))•(π₁ − π₂)"
    assert equal(terms, traced)
    v, y = b_space.vec([1.0, 2.0, 3.0]), b_space.vec([0.0, 2.0, 5.0])
    assert grad(traced, 0)(v, y).array.tolist() == [2.0, 0.0, -4.0]


def network(*sizes: int) -> Map[Any, Any]:
    """N_k(x, W₁, b₁, …, W_k, b_k, y) with h = tanh in all layers but the last."""
    axes = [Fin.of(n) for n in sizes]
    spaces: list[Any] = [R ** axes[0]]
    for before, after in itertools.pairwise(axes):
        spaces += [R ** (after * before), R**after]

    def body(x: Any, *rest: Any) -> Any:
        *params, y = rest
        for k in range(0, len(params), 2):
            x = params[k] @ x + params[k + 1]
            x = tanh(x) if k + 2 < len(params) else x
        return inner(x - y, x - y)

    return fun(*spaces, R ** axes[-1])(body)


def layers(*sizes: int) -> Map[Any, Any]:
    """l ∘ g_k ∘ … ∘ g₁ of the paper's combinators: each layer passes the later layers' parameters on."""
    axes = [Fin.of(n) for n in sizes]
    tail: list[Any] = [R ** axes[-1]]
    for before, after in reversed(list(itertools.pairwise(axes))):
        tail = [R ** (after * before), R**after, *tail]
    whole: Map[Any, Any] | None = None
    for k, (before, after) in enumerate(itertools.pairwise(axes)):
        V = direct_sum(R**before, *tail)
        p = [project(V, i) for i in range(len(V.parts))]
        inside = bilinear(matrix_vector(after, before)) @ fork(p[1], p[0]) + p[2]
        g = fork(tanh**after @ inside if k + 2 < len(axes) else inside, *p[3:])
        whole = g if whole is None else g @ whole
        tail = tail[2:]
    V = direct_sum(R ** axes[-1], *tail)
    loss: Map[Any, Any] = bilinear(inner_product(R ** axes[-1])) @ dup(R ** axes[-1]) @ (project(V, 0) - project(V, 1))
    assert whole is not None
    return loss @ whole


def test_network_of_combinators() -> None:
    """Ex. 7.1: the point-free network of the paper is the traced one, and so are derivative and adjoint."""
    f, g = network(4, 5, 3, 2), layers(4, 5, 3, 2)
    assert equal(f, g)
    assert equal(derivative(f), derivative(g))
    assert equal(adjoint(derivative(f)), adjoint(derivative(g)))
    assert equal(program(pointfree(f)), f)


def test_backpropagation() -> None:
    """(N₂')* applied to 1 is back-propagation as written by hand."""
    f = network(4, 5, 2)
    rng = np.random.default_rng(4)
    point = f.dom.random(rng)
    x, W1, b1, W2, b2, y = (part.array for part in point)
    h = np.tanh(W1 @ x + b1)
    e = 2 * (W2 @ h + b2 - y)
    d = (1 - h * h) * (W2.T @ e)
    by_hand = (W1.T @ d, np.outer(d, x), d, np.outer(e, h), e, -e)
    value, linear = affine(f, point)
    for gradient in (adjoint(linear)(R.vec(1.0)), grad(f)(point), value_and_grad(f)(point)[1]):
        for ours, theirs in zip(gradient.array, by_hand, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert math.isclose(float(value), float((W2 @ h + b2 - y) @ (W2 @ h + b2 - y)), rel_tol=1e-13)


def test_batch_without_products_of_all_axes(sizes: list[int]) -> None:
    """A lifted layer's gradient makes no array of size batch × out × in: the batch is summed inside contractions."""
    n, m, count = Fin.of(40), Fin.of(30), Fin.of(50)
    V = direct_sum(R ** (m * n), R**m)
    one = fun(V, R**n)(lambda p, x: square_sum(tanh(p[0] @ x + p[1])))
    many = lift(one, count)
    mean = fun(*many.dom.parts)(lambda p, x: many(p, x).mean())
    rng = np.random.default_rng(5)
    p, x = (part.random(rng) for part in mean.dom.parts)
    sizes.clear()
    gradient = grad(mean, 0)(p, x)
    assert max(sizes) == max(40 * 30, 50 * 40, 50 * 30)
    (W, b), data = p.array, x.array
    h = np.tanh(data @ W.T + b)
    d = 2 / 50 * h * (1 - h * h)
    np.testing.assert_allclose(gradient.array[0], d.T @ data, rtol=1e-12)
    np.testing.assert_allclose(gradient.array[1], d.sum(axis=0), rtol=1e-12)


# --- terms as data ---

MODEL = """
from hilbert import Fin, R
from diff import fun, tanh

class Pixel: ...
class Hidden: ...

pixel, hidden = Fin(Pixel, 4), Fin(Hidden, 3)
layer = fun(R ** (hidden * pixel), R ** pixel, R ** hidden)(lambda W, x, b: tanh(W @ x + b))
"""
WRITE = """
import gc, pickle, sys
from adjoint import adjoint
from diff import derivative
from hilbert import Vec
from model import layer

star = adjoint(derivative(layer))
assert not [v for v in gc.get_objects() if isinstance(v, Vec)]
sys.stdout.buffer.write(pickle.dumps(star))
"""
READ = """
import pickle, sys

star = pickle.load(sys.stdin.buffer)
W, x, b = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]], [0.5, -1.0, 0.0, 2.0], [0.0, 0.0, 0.0]
back = star.at(star.point.vec((W, x, b)))(star.dom.vec([1.0, 0.0, 1.0]))
sys.stdout.reconfigure(encoding="utf-8")
print(star)
print(back[1].array.tolist())
"""


def test_an_adjoint_travels(tmp_path: Path) -> None:
    """adjoint(derivative(f)) is built without a vector in existence, pickled, printed and run in another process."""
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    root = str(Path(__file__).parent.parent)
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), root])}

    def python(code: str, data: bytes = b"") -> bytes:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, input=data, capture_output=True, env=env, check=False)  # noqa: S603 - our own
        assert not done.returncode, done.stderr.decode()
        return done.stdout

    *text, numbers = python(READ, python(WRITE)).decode().splitlines()
    assert text == str(adjoint(derivative(layer))).splitlines()
    slopes = 1 - np.tanh([0.5, 2.0]) ** 2
    np.testing.assert_allclose(eval(numbers), [slopes[0], 0.0, slopes[1], slopes[1]], rtol=1e-14)  # noqa: S307


def test_a_vector_is_seen_by_the_check_above() -> None:
    """The check that no vector exists can fail."""
    v = R.vec(1.0)
    assert any(found is v for found in gc.get_objects())


@pytest.mark.parametrize("x", [-2.0, 0.3, 1.7])
def test_third_derivative(x: float) -> None:
    """(exp g)‴ = (g′³ + 3·g′·g″ + g‴)·exp g for g = x·sin x, by the same rules three times."""
    f = fun(R)(lambda x: exp(x * sin(x)))
    s, c = math.sin(x), math.cos(x)
    g1, g2, g3 = s + x * c, 2 * c - x * s, -3 * s - x * c
    expected = (g1**3 + 3 * g1 * g2 + g3) * math.exp(x * s)
    by_gradients = grad(grad(grad(f)))(R.vec(x))
    by_derivative = derivative(grad(grad(f))).at(R.vec(x))(R.vec(1.0))
    third = f
    for _ in range(3):
        third = jvp(third) @ fork(identity(R), constant(R.vec(1.0), R))
    for result in (by_gradients, by_derivative, third(R.vec(x))):
        assert math.isclose(float(result), expected, rel_tol=1e-10)


def recurrence(n: int) -> Map[Any, Any]:
    """s₀ = x, s₁ = sin x, s₊₂ = s₊₁·sin s; its derivative has exponentially many paths."""

    def body(x: Any) -> Any:
        s, t = x, sin(x)
        for _ in range(n):
            s, t = t, t * sin(s)
        return t

    return fun(R)(body)


def test_shared_flow() -> None:
    """60 steps: the gradient has a few hundred steps, the derivative's body a few hundred arcs."""
    f = recurrence(60)
    gradient = program(grad(f))
    assert len(gradient.steps) < 10 * 60
    assert len(derivative(f).body.arcs) < 5 * 60
    s, ds, t, dt = 0.9, 1.0, math.sin(0.9), math.cos(0.9)
    for _ in range(60):
        s, ds, t, dt = t, dt, t * math.sin(s), dt * math.sin(s) + t * math.cos(s) * ds
    assert math.isclose(float(gradient(R.vec(0.9))), dt, rel_tol=1e-10)


def test_long_terms_print_on_a_page() -> None:
    """A term of any length prints on at most 40 lines of 100 columns."""
    f = compose([sin, cos] * 1500)
    for term in (f, derivative(f), adjoint(derivative(f)), grad(f), program(f), pointfree(f), recurrence(60)):
        lines = str(term).splitlines()
        assert len(lines) <= 40
        assert max(map(len, lines)) <= 100


# --- repr evaluates back ---


def linear_terms() -> Iterator[Any]:
    """Linear maps of every node class and every form of relation."""
    rng = np.random.default_rng(6)
    V = direct_sum(x_space, b_space)
    T = x_space * b_space
    W = w_space.random(rng)
    by_hand: list[Any] = [
        identity(V),
        zero(V, R),
        project(V, 1) @ inject(V, 1),
        fork(project(V, 1), project(V, 0)),
        join(identity(x_space), 2 * identity(x_space)),
        parallel(identity(R), -identity(R)),
        section(matrix_vector(hidden, pixel), 0, W) ** Fin.of(3),
        2 * (3 * (identity(V) + scale(2.0, V))),
        (scale(2.0, V) + identity(V)) ** hidden,
        cast(V, R32),
        dot(x_space.random(rng)),
        scale(R.vec(3.0), V),
        gather(Elements(pixel).vec(2)),
        stack(hidden),
    ]
    relations: list[Any] = [
        function([0, 1, 2, 0], pixel, hidden),
        function([0, 1, 2, 0], pixel, hidden).T,
        leq(pixel),
        geq(pixel),
        equality(pixel),
        pairs([(0, 1), (3, 2)], pixel, hidden),
        run(hidden, pixel, 1),
    ]
    unitary: list[Any] = [
        transpose(T),
        bra(x_space),
        ket(x_space),
        bars(R * x_space),
        tensor_copower(T),
        tensor_matrix(T),
        zip_parts(direct_sum(R**hidden, R**hidden)),
        curry(R ** (hidden * pixel)),
        assoc((R * x_space) * b_space),
        concatenate(pixel, hidden),
        linear_map("twice", x_space, x_space, lambda _, a: 2 * a, lambda _, a: 2 * a),
    ]
    for f in [*by_hand, *(red(r, R) for r in relations), total(pixel), rep(pixel), *unitary]:
        yield f
        yield adjoint(f)
    _, closed = affine(layer, *(part.random(rng) for part in layer.dom.parts))
    yield from (closed, adjoint(closed) @ closed, closed**hidden)
    deep: Any = cumsum(pixel)
    for _ in range(500):
        deep = 0.5 * (2.0 * deep)
    yield from (deep, sum((scale(float(k), R) for k in range(1000)), identity(R)))


def functions() -> Iterator[Any]:
    """Functions of every node class, programs and linear maps in the point."""

    def loss(p: Any, z: Any) -> Any:
        return square_sum(tanh(p[0] @ z[0] + p[1]) - onehot(z[1]))

    model = fun(direct_sum(w_space, b_space), direct_sum(x_space, Elements(hidden)))(loss)
    chosen = fun(x_space)(lambda x: select(x > 0.5, x**3))
    many = lift(model, Fin.of(16))
    twice: Any = sin
    for _ in range(40):
        twice = add(R) @ fork(twice, twice)
    yield from (*PRIMITIVES, *BINARY, *(step.operation for step in program(chosen).steps if not step.args[1:]))
    yield from (log @ sin, sin**pixel, layer, model, many, lift(layer, pixel, over=(1,)), chosen, twice)
    yield from (constant(R.vec(2.0), R), bilinear(matrix_vector(hidden, pixel)), -(2 * sin) + cos, parallel(sin, cos))
    yield from (pointfree(layer), pointfree(model), pointfree(chosen), fork(sin, cos), compose([sin, cos] * 500))
    yield from (jvp(many), grad(B2), value_and_grad(fun(R)(lambda x: x * sin(x))), fun(R)(lambda x: x < 1.0))
    yield from (derivative(many), adjoint(derivative(many)), simplify(derivative(log @ sin)))


def classes(*unions: Any) -> set[type]:
    """The node classes of the languages."""
    return {get_origin(cls) or cls for union in unions for cls in get_args(union)}


def test_repr_evaluates_back() -> None:
    """eval(repr(f)) == f, for every node class of both languages."""
    names = NAMES | {"Pixel": Pixel, "Hidden": Hidden}
    seen: set[type] = set()
    for f in [*linear_terms(), *functions()]:
        assert eval(repr(f), dict(names)) == f, str(f)  # noqa: S307
        assert pickle.loads(pickle.dumps(f)) == f
        if isinstance(f, Term):
            seen.update(cls for node in postorder(f) for cls in type(node).__mro__)
    assert classes(linmap.term.nodes.Node, diff.terms.nodes.Node) <= seen


def test_a_vector_that_is_gone_is_refused() -> None:
    """repr names arrays and does not keep them."""
    f = dot(x_space.zeros())
    text = repr(f)
    assert eval(text, dict(NAMES | {"Pixel": Pixel})) == f  # noqa: S307
    del f
    gc.collect()
    with pytest.raises(SpaceError, match="not alive in this process"):
        eval(text, dict(NAMES | {"Pixel": Pixel}))  # noqa: S307
