"""Programs of every kind of kernel, and the places outside numpy's memory where they can run.

`PROGRAMS` has the contractions, those of discrete operands, every form of relation, casts, transpositions, constants,
the whole table of primitives with their derivatives, loops, equations and linear algebra.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from adjoint import grad, value_and_grad, vjp
from diff import (
    again,
    cholesky,
    const,
    contract,
    conv,
    det,
    eigh,
    exp,
    expm,
    fun,
    inner,
    inverse,
    jvp,
    kept,
    lift,
    log,
    logdet,
    onehot,
    operation,
    outer,
    power,
    qr,
    relu,
    select,
    solve,
    solve_triangular,
    sqrtm,
    square,
    svd,
    tanh,
)
from diff.primitives import slope_rows
from diff.primitives.primitives import BINARY, PRIMITIVES
from diff.terms.elementwise import Elementwise
from hilbert import R32, Bool, Elements, Fin, R, Unit, Vec, direct_sum, initial
from hilbert.arrays.libraries import namespace
from hilbert.arrays.libraries.random_entries import drawn
from hilbert.relation import (
    agreement,
    band,
    equality,
    full,
    function,
    geq,
    greater,
    leq,
    less,
    pairs,
    partial,
    reversal,
    rotation,
    run,
    sliding,
    window,
)
from linmap import (
    cast,
    concatenate,
    fft,
    fork,
    identity,
    linear_map,
    red,
    scale,
    split,
    stack,
    transpose,
    unstack,
    zero,
)
from linmap.unitary import tensor_copower
from tests.untyped import each, fixed_point, fold, iterate, root, where, while_


class Pixel:
    """An axis."""


class Hidden:
    """An axis."""


class Batch:
    """An axis."""


wide = Fin.of(11)  # a product is worth another order
p, h, b = Fin(Pixel, 4), Fin(Hidden, 3), Fin(Batch, 3)  # few shapes: JAX compiles each operation for each shape
V, W, M, label = R**p, R**h, R ** (h * p), Elements(h)


# --- programs ---


@fun(direct_sum(M, W), direct_sum(V, label))
def loss(q: Any, z: Any) -> Any:
    """A layer's squared error, and a term that reads one component."""
    (m, c), (x, y) = q.split(), z.split()
    e = tanh(m @ x + c) - onehot(y)
    return e @ e + log(square(c[y]) + 1.0)


per_image = lift(loss, b)
objective = fun(*per_image.dom.parts)(lambda q, z: per_image(q, z).mean())
v0 = V.vec([1.0, 2.0, 3.0, 4.0])

MLP = {
    "objective": objective,
    "gradient": value_and_grad(objective, 0),
}
CONTRACTIONS = {
    "matrix and vector": fun(M, V)(lambda m, x: m @ x),
    "transposed matrix and vector": fun(M, W)(lambda m, x: m.T @ x),
    "matrix and matrix": fun(M, R ** (p * b))(lambda m, n: m @ n),
    "vectors": fun(V, V)(lambda x, y: x @ y),
    "outer": fun(V, W)(outer),
    "pointwise": fun(M, M)(lambda m, n: m * n),
    "scalar": fun(R, M)(lambda k, m: k * m),
    "inner": fun(M, M)(inner),
    "transposed inner": fun(M, R ** (p * h))(lambda m, n: contract("ij,ji->", m, n)),
    "two axes": fun(R ** (h * p * b), R ** (b * p))(lambda m, n: contract("ijk,kj->i", m, n)),
    "groups": fun(M, R ** (h * b * p))(lambda m, n: contract("ij,ikj->ki", m, n)),
    "batch of products": fun(R ** (b * h * p), R ** (b * p * h))(lambda m, n: contract("bij,bjk->bik", m, n)),
    "batch of vectors": fun(R ** (b * h * p), R ** (p * b))(lambda m, n: contract("bij,jb->bi", m, n)),
    "product in the middle": fun(R ** (b * p * h), M)(lambda m, n: contract("bij,ki->bkj", m, n)),
    "product in the middle, groups": fun(M, R ** (b * p * p * h))(lambda n, m: contract("ki,bcij->bckj", n, m)),
    "broadcast": fun(V, W)(lambda x, y: contract("i,j->ji", x, y)),
}
at = fun(W, label)(lambda v, x: v[x])
chosen = fun(Bool, V)(select)
DISCRETE = {
    "pick": at,
    "pick, a batch of elements": lift(at, b, over=(1,)),
    "pick, a batch of vectors": lift(at, b, over=(0,)),
    "pick, a batch of both": lift(at, b, over=(0, 1)),
    "pick of a pair": fun(M, Elements(h * p))(lambda v, x: v[x]),
    "one-hot": fun(label)(onehot) ** b,
    "one-hot of a pair": fun(Elements(h * p))(onehot) ** b,
    "gradient of pick": vjp(lift(at, b, over=(1,))),
    "gradient of pick, a batch of both": vjp(lift(at, b, over=(0, 1))),
    "pick and put": fun(label, W)(lambda x, v: onehot(x) * v),
    "pick and put, pairs": fun(Elements(h * p), M)(lambda x, v: contract("ij,ij->ij", onehot(x), v)),
    "select": chosen,
    "select by axes": fun(Bool**p, R ** (p * h))(select),
    "select, a batch of conditions": lift(chosen, b, over=(0,)),
    "select, a batch of vectors": lift(chosen, b, over=(1,)),
    "gradient of select": vjp(lift(chosen, b, over=(0, 1))),
    "comparisons": fun(V, V)(lambda x, y: (((x > y) & (x < 0.9)) | ~(x <= y), x >= y)),
}
RELATIONS: dict[str, Any] = {
    "full": full(p, h),
    "total": full(p, Unit()),
    "rep": full(Unit(), p),
    "identity": equality(p),
    "function": function([0, 3, 1, 1, 2, 2, 0, 0, 3, 1, 2, 1], h * p, p),
    "converse of a function": function([0, 2, 2, 0], p, h).T,
    "function from the empty set": function([], Fin.of(0), h),
    "run": run(h, p, 1),
    "converse of a run": run(h, p, 1).T,
    "element": run(Unit(), p, 2),
    "converse of an element": run(Unit(), p, 2).T,
    "≤": leq(h * p),
    "≥": geq(p),
    "pairs": pairs([[0, 0], [0, 1], [3, 2]], p, h),
    "no pairs": pairs([], p, h),
    "labels to a diagonal": agreement("i->ii", p, p * p),
    "labels of a diagonal": agreement("ii->i", p * p, p),
    "partial identity": partial([True, False, True, True], p),
    "reversal": reversal(p),
    "every second": run(Fin.of(2), p, 3, -2),
    "converse of every second": run(Fin.of(2), p, 1, 2).T,
    "converse of every second, backwards": run(Fin.of(2), p, 2, -2).T,
    "rotation": rotation(h * p, -5),
    "<": less(p),
    ">": greater(p),
    "band": band(p, 1, 2),
    "windows": window(h * p, 5, stride=3, offset=-1, dilation=2, to=h),
    "converse of windows": window(h * p, 5, stride=3, offset=-1, dilation=2, to=h).T,
    "windows side by side": sliding(h * p, 3, stride=2, offset=1, dilation=2).T,
    "windows laid over each other": sliding(h * p, 3, stride=2, offset=1, dilation=2),
    "product": leq(p) * run(h, p, 1),
    "sum": leq(p) + rotation(h, 1),
    "composition": leq(p) @ run(h, p, 1),
}
field: Any = R
REDUCTIONS: dict[str, Any] = {
    **{f"red of {name}": red(relation, R**b) ** h for name, relation in RELATIONS.items()},
    **{f"red of {name}, one axis": red(RELATIONS[name], field) for name in ("total", "function", "element", "≥")},
}
STRUCTURE = {
    "cast": cast(V, R32),
    "cast back": cast(R32**p, R),
    "transpose": transpose((R**b) ** (h * p)),
    "transpose of ⊗": transpose(V * W),
    "copowers out of ⊗": tensor_copower(V**h * (W**b)),
    "stack": stack(h, V),
    "unstack": unstack(h, V),
    "split": split(R ** (h + p)),
    "concatenate": concatenate(p, h),
    "zero": fork(identity(V), zero(V, W)),
    "scale": scale(-3.0, V) - identity(V),
    "constants": fun(V)(lambda x: (x - v0) * v0 / x + 2.0),
    "negation": fun(V)(lambda x: -x),
}
SCALARS = {
    **{f.name: value_and_grad(f) for f in PRIMITIVES},
    **{f.name: value_and_grad(f) for f in BINARY},
    **{f.name: value_and_grad(f) for f in vars(slope_rows).values() if isinstance(f, Elementwise)},
    "power": value_and_grad(power(2.5)),
    "a vector": relu**p,
    "inverse power": fun(V)(lambda x: x**-1.5),
    "number by vector": fun(V)(lambda x: 3.0 / x),
}
rounds = fun(R ** (p * p), V, V**h)(lambda w, s, xs: fold(lambda s, x: (tanh(w @ s + x), s * x), s, xs)[1].sum())
guarded = fun(R, R)(lambda w, x: where(x > 0.5, lambda: w * log(x), lambda: w * x))
contracted = fun(R ** (p * p), V)(lambda w, a: fixed_point(lambda x: 0.2 * tanh(w @ x) + a, a))
many = R ** Fin.of(600)  # more than a matrix is made for
cubic = fun(R, V)(lambda k, a: root(lambda x: x * x * x + k * x + x - a, a))
CONTROL = {
    "fold": rounds,
    "gradient of fold": grad(rounds),
    "gradient of fold, lifted": lift(grad(rounds), b, over=(1, 2)),
    "no rounds": fun(V)(lambda s: iterate(lambda s: (s * s, s), s, Fin.of(0))),
    "where, lanes": lift(guarded, p),
    "gradient of where, lanes": lift(grad(guarded), p),
    "where by entries": fun(V, V)(lambda x, y: where(x > y, x, y)),
}
EQUATIONS = {
    "fixed point": contracted,
    "gradient of a fixed point": grad(fun.over(contracted.dom)(lambda w, a: contracted(w, a).sum())),
    "root, lanes": lift(cubic, b, over=(1,)),
    "derivative of a root, lanes": jvp(lift(cubic, b, over=(0, 1))),
    "while, lanes": fun(V)(lambda xs: each(lambda x: while_(lambda s: s > 0.1, lambda s: 0.5 * s, x), xs)),
    "root of many unknowns": lift(
        fun(R, many)(lambda k, a: root(lambda x: x * x * x + 20.0 * k * x - a, a)), b, over=(1,)
    ),
}
VALUES_ONLY = {"while, lanes"}
"""Programs without a derivative."""
ASKING = {"where, lanes", "gradient of where, lanes", *EQUATIONS}
"""Programs that ask on the host whether some lane takes a branch, or goes on."""
Q, q = R ** (wide * wide), R**wide
w0 = Q.vec(np.arange(121.0).reshape(11, 11) / 121.0)
PLANNED = {
    "planned chain": fun(Q, Q, q)(lambda a, b, x: contract("ij,jk,k->i", a, b, x) * 2.0),
    "planned sums": fun(Q, Q)(lambda a, b: (a.T @ b).sum()),
    "planned gradient": grad(fun(Q, Q, q)(lambda a, b, x: (a @ b @ tanh(x)).sum())),
    "planned repetitions": grad(fun(Q, q)(lambda a, x: (a @ x).sum())),
    "kept": fun(Q, Q, q)(lambda a, b, x: kept(a @ b) @ x),
    "made at binding": fun(q)(lambda x: (const(w0) @ const(w0).T) @ x),
}
S3 = R ** (b * h * p)
ALONG = {
    "max": fun(S3)(lambda a: a.max(over=p)),
    "min of all": fun(M)(lambda a: a.min()),
    "gradient of max": vjp(fun(S3)(lambda a: a.max(over=h))),
    "argmax of a pair": fun(M)(lambda a: a.argmax()),
    "argmin": fun(S3)(lambda a: a.argmin(over=b)),
    "argsort": fun(S3)(lambda a: a.argsort(over=h)),
    "argsort of a pair": fun(M)(lambda a: a.argsort()),
    "top": fun(S3)(lambda a: a.top(2, over=p)),
    "gradient of sort": vjp(fun(S3)(lambda a: a.sort(over=h))),
    "log Σ exp": fun(S3)(lambda a: a.logsumexp(over=h)),
    "log Σ exp of all": grad(fun(S3)(lambda a: a.logsumexp())),
    "log Σ exp and softmax": fun(S3)(lambda a: (a.logsumexp(over=h), a.softmax(over=h))),
    "log Σ exp and softmax of a pair": fun(M)(lambda a: a.logsumexp() * a.softmax()),
    "log Σ exp of none": fun(R ** (p * Fin.of(0)))(lambda a: a.logsumexp(over=1)),
    "softmax": vjp(fun(S3)(lambda a: a.softmax(over=p))),
    "log softmax": vjp(fun(S3)(lambda a: a.log_softmax(over=h))),
    "log softmax of a pair": fun(M)(lambda a: a.log_softmax()),
    "log softmax of none": fun(R ** (p * Fin.of(0)))(lambda a: a.log_softmax(over=1)),
    "softmax of a pair": fun(M)(lambda a: a.softmax()),
    "softmax of none": fun(R ** (p * Fin.of(0)))(lambda a: a.softmax(over=1)),
    "products": grad(fun(M)(lambda a: a.product(over=p).sum() + a.cumprod(over=h).sum())),
    "casts of truth values": fun(M)(lambda a: (a > 0.5).cast(R)),
    "equal elements": fun(label**b, label**b)(lambda i, j: (i.equals(j), i.differs(0))),
    "convolution": grad(fun(R ** (p * h), R ** (Fin.of(2) * h * b))(lambda x, w: conv(x, w, padding="same").norm())),
    "convolution in blocks": fun(R ** (Fin.of(600) * wide), R ** (Fin.of(20) * wide * h))(conv),
    "Fourier transform": fft(Fin.of(36)),
}
SQUARE, AXES = R ** (p * p), const((R ** (p * p)).vec(np.eye(4)))


def definite(a: Any) -> Any:
    """A positive definite matrix."""
    return a @ a.T + AXES


def of_eigenvectors(a: Any, x: Any) -> Any:
    """Whatever the signs of the columns."""
    w, u = eigh(definite(a))
    return exp(-w) * square(u.T @ x)


def of_singular_vectors(a: Any, x: Any) -> Any:
    """Whatever the signs of the columns."""
    u, s, v = svd(a + AXES)
    return (u.T @ x) * s * (v @ x)


def of_an_orthonormal_basis(a: Any, x: Any) -> Any:
    """Whatever the signs of the columns."""
    q, r = qr(a + AXES)
    return square(q.T @ x) + square(r).sum(over=1)


hyperbola = operation(
    "hyperbola of the programs", V, to=V, value=lambda xp, x: xp.sqrt(x * x + 1.0), tangent=lambda x, y, dx: x / y * dx
)
one_by_one = operation(
    "hyperbola of the programs, one by one",
    V,
    to=V,
    value=lambda xp, x: xp.sqrt(x * x + 1.0),
    tangent=lambda x, y, dx: x / y * dx,
    batched=False,
)
backwards = linear_map(
    "backwards, of the programs", V, V, lambda xp, x: xp.flip(x, axis=-1), lambda xp, x: xp.flip(x, axis=-1)
)
slowly = linear_map("doubled, of the programs", V, V, lambda _, x: 2.0 * x, lambda _, x: 2.0 * x, batched=False)
none = Fin.of(0)
solved = fun(SQUARE, V)(lambda a, x: solve(definite(a), x))
ALGEBRA = {
    "solve, a shared matrix": lift(solved, b, over=(1,)),
    "solve, a matrix for each": lift(solved, b, over=(0, 1)),
    "gradient of solve": vjp(solved),
    "solve_triangular": vjp(fun(SQUARE, V)(lambda a, x: solve_triangular(definite(a), x))),
    "inverse": vjp(fun(SQUARE)(lambda a: inverse(definite(a)))),
    "det": value_and_grad(fun(SQUARE)(lambda a: det(definite(a)))),
    "logdet": value_and_grad(fun(SQUARE)(lambda a: logdet(definite(a)))),
    "cholesky": vjp(fun(SQUARE)(lambda a: cholesky(definite(a)))),
    "expm": vjp(fun(SQUARE)(expm)),
    "sqrtm": vjp(fun(SQUARE)(lambda a: sqrtm(definite(a)))),
    "eigh": vjp(fun(SQUARE, V)(of_eigenvectors)),
    "qr": vjp(fun(SQUARE, V)(of_an_orthonormal_basis)),
    "svd": vjp(fun(SQUARE, V)(of_singular_vectors)),
    "an operation": vjp(hyperbola),
    "an operation, lifted": hyperbola**b,
    "an operation, one by one": vjp(one_by_one**b),
    "an operation, of none": one_by_one**none,
    "a linear map": vjp(backwards**b),
    "a linear map, one by one": slowly**b,
    "a linear map, of none": slowly**none,
    "checkpoints": grad(fun(V)(lambda s: iterate(lambda s: tanh(s) * v0, s, Fin.of(7), checkpoint=True).sum())),
    "again": grad(fun(V)(lambda s: again(lambda s: tanh(s) * s, s).sum())),
}
PROGRAMS: dict[str, Any] = {
    **ALGEBRA,
    **MLP,
    **ALONG,
    **CONTRACTIONS,
    **DISCRETE,
    **REDUCTIONS,
    **STRUCTURE,
    **SCALARS,
    **CONTROL,
    **EQUATIONS,
    **PLANNED,
}


def operations(line: Any) -> Iterator[type]:
    """The classes of the operations of a line, and of the lines that its steps hold."""
    for step in line.steps:
        yield type(step.operation)
        for field in ("body", "then", "otherwise", "equation", "search", "line"):
            inner = getattr(step.operation, field, None)
            if hasattr(inner, "steps"):
                yield from operations(inner)


def demo() -> tuple[Any, Vec[Any]]:
    """The training step of docs/examples/digits.py, loss and gradient, and a mini-batch of digits."""
    path = Path(__file__).parent.parent / "docs" / "examples" / "digits.py"
    found = importlib.util.spec_from_file_location("digits_example", path)
    assert found is not None
    assert found.loader is not None
    digits = importlib.util.module_from_spec(found)
    found.loader.exec_module(digits)
    (images, labels), _ = digits.load()
    size, params = digits.batch.size, initial(digits.P, np.random.default_rng(0))
    return digits.step, digits.step.dom.vec((params.array, (images[:size], labels[:size])))


# --- places ---


class Place(NamedTuple):
    """Where arrays can live: a library, a device of it, its type of arrays, and the way there and back."""

    library: Any
    kind: type
    there: Callable[[Any], Any]
    back: Callable[[Any], Any]
    segments: bool


def point(name: str, f: Any) -> Vec[Any]:
    """An argument where every primitive is defined."""
    rng = np.random.default_rng(0)
    low = 1.1 if name in {"acosh", "sqrt(x^2-1)"} else 0.1
    arrays = [
        rng.uniform(low, low + 0.8, leaf.shape).astype(leaf.dtype) if leaf.is_field else drawn(rng, leaf)
        for leaf in f.dom.leaves
    ]
    x: Vec[Any] = f.dom.vec(f.dom.pack(iter(arrays)))
    return x


def moved(v: Vec[Any], place: Place) -> Vec[Any]:
    """A vector of numpy's, moved."""
    arrays = [place.there(np.array(a)) for a in v.leaves]
    there: Vec[Any] = v.space.vec(v.space.pack(iter(arrays)))
    return there


def close(place: Place, got: Vec[Any], want: Vec[Any]) -> bool:
    """Whether two vectors agree to rounding, the first being of the namespace."""
    return got.space == want.space and all(map(functools.partial(_close, place), got.leaves, want.leaves))


def _close(place: Place, got: Any, want: Any) -> bool:
    eps = 1e-12 if want.dtype == np.float64 else 1e-5
    same = str(got.dtype).rpartition(".")[2] == str(want.dtype) and tuple(got.shape) == want.shape
    return isinstance(got, place.kind) and same and np.allclose(place.back(got), want, rtol=eps, atol=eps)


# --- nothing is converted ---

OURS = [sys.modules[name] for name in sys.modules if name.split(".")[0] in {"hilbert", "linmap", "diff", "adjoint"}]


@contextmanager
def converting_is_an_error(kind: Any) -> Iterator[None]:
    """Arrays of a type that become numpy's or Python's numbers, or are sliced backwards, raise AssertionError."""

    def refuse(*args: Any, **_: Any) -> Any:
        msg = f"an array was converted: {type(args[0]).__name__}"
        raise AssertionError(msg)

    def answered(_: Any, ask: Any, __: Any, args: Any, options: Any) -> Any:
        """numpy.shape and the like only ask."""
        return ask._implementation(*args, **options) if ask in {np.ndim, np.shape, np.result_type} else refuse(*args)

    def careful(convert: Callable[..., Any]) -> Callable[..., Any]:
        return lambda a, *args, **options: refuse(a) if isinstance(a, kind) else convert(a, *args, **options)

    entries = kind.__getitem__

    def forward(a: Any, index: Any) -> Any:
        for part in index if isinstance(index, tuple) else (index,):
            assert not (isinstance(part, slice) and (part.step or 1) < 0), "torch has no slices that go backwards"
        return entries(a, index)

    methods = ["__array__", "__array_ufunc__", "__float__", "__int__", "__bool__"]
    methods += [name for name in ("__complex__", "item", "tolist", "numpy", "__dlpack__") if hasattr(kind, name)]
    with pytest.MonkeyPatch.context() as patch:
        for name in methods:
            patch.setattr(kind, name, refuse, raising=False)
        patch.setattr(kind, "__array_function__", answered, raising=False)
        patch.setattr(kind, "__getitem__", forward)
        for name in ("asarray", "array", "ascontiguousarray", "copy"):
            patch.setattr(np, name, careful(getattr(np, name)))
        for module in OURS:
            if hasattr(module, "to_numpy"):
                patch.setattr(module, "to_numpy", careful(namespace.to_numpy))
        yield
