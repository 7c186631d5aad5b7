"""At every argument of every entrance, what does not fit is a SpaceError; and the errors that can only come later."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hilbert import SpaceError
from tests.bad_input import (
    R32,
    A,
    Bool,
    D,
    H,
    L,
    M,
    Pixel,
    R,
    S,
    T,
    V,
    W,
    Z,
    contraction,
    elementwise,
    f,
    first_line,
    h,
    k,
    labels,
    lin,
    none,
    open_net,
    p,
    relation,
    s,
    stale,
    two,
    unitary,
    v,
    v32,
    w,
    x,
)

truth = Bool.vec(data=True)


def traced(operation: Callable[..., Any], space: Any) -> Callable[..., Any]:
    """An operation in the body of a traced function of one expression; its other arguments are free."""
    return lambda *args: D.fun(space)(lambda e: operation(e, *args))


def register(*args: Any) -> Any:
    """A primitive that is forgotten at once."""
    before = dict(elementwise.RULES)
    try:
        return D.register(*args)
    finally:
        elementwise.RULES.clear()
        elementwise.RULES.update(before)


def operators(name: str, g: Any) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    """The operators of a map, with something that fits on the other side."""
    return {
        f"{name} +": (lambda a: g + a, (f,)),
        f"+ {name}": (lambda a: a + g, (f,)),
        f"{name} -": (lambda a: g - a, (f,)),
        f"- {name}": (lambda a: a - g, (f,)),
        f"{name} *": (lambda a: g * a, (2.0,)),
        f"* {name}": (lambda a: a * g, (2.0,)),
        f"{name} **": (lambda a: g**a, (h,)),
        f"{name} @": (lambda a: g @ a, (f,)),
        f"@ {name}": (lambda a: a @ g, (f,)),
        f"{name}()": (g, (v,)),
    }


ENTRANCES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    # index sets, spaces, relations
    "Fin": (H.Fin, (Pixel, 3)),
    "Product": (H.Product, (p, h)),
    "Coproduct": (H.Coproduct, (p, h)),
    "X *": (lambda a: p * a, (h,)),
    "X +": (lambda a: p + a, (h,)),
    "position": (p.position, (1,)),
    "position of a pair": ((h * p).position, ((1, 1),)),
    "Copower": (H.Copower, (R, p)),
    "DirectSum": (H.DirectSum, ((R, V),)),
    "direct_sum": (H.direct_sum, (R, V)),
    "TensorProduct": (H.TensorProduct, (V, W)),
    "Elements": (H.Elements, (h,)),
    "Field": (H.Field, ("float32",)),
    "V **": (lambda a: R**a, (p,)),
    "V *": (lambda a: V * a, (W,)),
    "full": (relation.full, (p, h)),
    "equality": (relation.equality, (p,)),
    "run": (relation.run, (h, p, 1)),
    "function": (relation.function, ([0, 0, 1, 2], p, h)),
    "pairs": (relation.pairs, ([[0, 0]], p, h)),
    "leq": (relation.leq, (h,)),
    "geq": (relation.geq, (h,)),
    # vectors
    "V.vec": (V.vec, (np.zeros(4),)),
    "S.vec": (S.vec, ((np.zeros(4), np.zeros(3)),)),
    "R.vec": (R.vec, (1.0,)),
    "labels.vec": (labels.vec, (1,)),
    "Bool.vec": (Bool.vec, (np.True_,)),
    "Z.vec": (Z.vec, (1,)),
    "0.vec": (H.Zero().vec, ((),)),
    "unflat": (V.unflat, (np.zeros(4),)),
    "random": (V.random, (np.random.default_rng(0),)),
    "v +": (lambda a: v + a, (v,)),
    "+ v": (lambda a: a + v, (v,)),
    "v -": (lambda a: v - a, (v,)),
    "- v": (lambda a: a - v, (v,)),
    "v *": (lambda a: v * a, (2.0,)),
    "* v": (lambda a: a * v, (2.0,)),
    "v /": (lambda a: v / a, (2.0,)),
    "v.inner": (v.inner, (v,)),
    "s[]": (lambda a: s[a], (0,)),
    # linear maps
    **operators("linear", lin),
    "identity": (L.identity, (V,)),
    "zero": (L.zero, (V, W)),
    "scale": (L.scale, (2.0, V)),
    "project": (L.project, (S, 0)),
    "inject": (L.inject, (V, 0)),
    "fork": (L.fork, (f, f)),
    "join": (L.join, (lin, lin)),
    "parallel": (L.parallel, (f, f)),
    "compose": (L.compose, (f, f)),
    "compose of a list": (L.compose, ([f, f],)),
    "red": (L.red, (relation.leq(h), R)),
    "total": (L.total, (h, R)),
    "rep": (L.rep, (h, R)),
    "cumsum": (L.cumsum, (h, R)),
    "flip": (L.flip, (h, R)),
    "differences": (L.differences, (h, R)),
    "gather": (L.gather, ([0, 1], h, R)),
    "gather by elements": (L.gather, ((labels**p).vec([0, 1, 2, 2]), R)),
    "gather by an element": (L.gather, (x, R)),
    "segment_sum": (L.segment_sum, ([0, 1], h, R)),
    "group_by": (L.group_by, (["a", "b"], R)),
    "permute": (L.permute, ([1, 0, 2], h, R)),
    "pad": (L.pad, (h, 1, 1, R)),
    "crop": (L.crop, (h, 0, 2, R)),
    "roll": (L.roll, (h, 1, R)),
    "reshape": (L.reshape, (h, h, R)),
    "concatenate": (L.concatenate, (h, p)),
    "windows": (L.windows, (h, 2, R)),
    "pool": (L.pool, (h, 2, R)),
    "sparse": (L.sparse, ([0, 1], [1, 2], [1.0, 2.0], h, p)),
    "dup": (L.dup, (V,)),
    "add": (L.add, (V,)),
    "section": (L.section, (contraction.inner(V), 0, v)),
    "delta": (L.delta, (contraction.inner(R), 0, v, p)),
    "scale by a vector": (L.scale, (k, V)),
    "dot": (D.dot, (v,)),
    "cast": (L.cast, (V, R32)),
    "transpose": (L.transpose, (T,)),
    "transpose of a matrix": (L.transpose, (M,)),
    "bra": (unitary.bra, (V,)),
    "ket": (unitary.ket, (V,)),
    "bars": (unitary.bars, (R * V,)),
    "assoc": (unitary.assoc, (T * V,)),
    "unassoc": (unitary.unassoc, (V * T,)),
    "distrib": (unitary.distrib, (S * V,)),
    "undistrib": (unitary.undistrib, (H.direct_sum(T, W * W),)),
    "zip_parts": (L.zip_parts, (H.direct_sum(W, W),)),
    "unzip_parts": (L.unzip_parts, (H.direct_sum(R, R) ** h,)),
    "curry": (L.curry, (M,)),
    "uncurry": (L.uncurry, (V**h,)),
    "tensor_copower": (unitary.tensor_copower, (T,)),
    "tensor_matrix": (unitary.tensor_matrix, (T,)),
    "stack": (L.stack, (h, R)),
    "unstack": (L.unstack, (h, R)),
    "split": (L.split, (R ** (h + p),)),
    "equal": (L.equal, (v, v)),
    "simplify": (L.simplify, (lin,)),
    "structure": (L.structure, (lin,)),
    "cost": (L.cost, (lin,)),
    "matrix": (L.matrix, (lin, "array")),
    "diagonal": (L.diagonal, (lin,)),
    "trace": (L.trace, (lin,)),
    "gram": (L.gram, (lin,)),
    "factors": (L.factors, (D.dot(v),)),
    "Contraction": (L.Contraction, (V, V, R, contraction.inner(V).terms)),
    "labelled": (contraction.labelled, ("ij,j->i", M, V)),
    "matrix_vector": (contraction.matrix_vector, (h, p)),
    "⊙": (contraction.inner, (V,)),
    "⊗": (contraction.outer, (V, W)),
    "k·v": (contraction.scalar, (V,)),
    "v·w": (contraction.hadamard, (V,)),
    "∗": (contraction.tensor_contraction, (V, W, V)),
    "v_x": (contraction.pick, (h, R)),
    "e_x": (contraction.basis_vector, (h,)),
    "v[x]": (contraction.gather, (h, p, R)),
    "Σ v_y e_x": (contraction.segment_sum, (h, p, R)),
    # functions
    **operators("function", f),
    "two": (two, (v, w)),
    "fun": (D.fun, (V, W)),
    "body": (D.fun(V), (lambda e: e,)),
    "sin": (D.sin, (v,)),
    "divide": (D.divide, (v, v)),
    "power": (D.power, (2.0,)),
    "register": (register, ("new", lambda _, x: x, lambda x, _: x)),
    "sparse_product": (D.sparse_product, ([0, 1], [1, 2], h, p)),
    "bilinear": (D.bilinear, (contraction.inner(V),)),
    "constant": (D.constant, (v, V)),
    "lift": (D.lift, (two, h)),
    "over": (lambda over: D.lift(two, h, over=over), ((0,),)),
    "program": (D.program, (f,)),
    "source": (D.source, (f,)),
    "pointfree": (D.pointfree, (f,)),
    "diagram": (D.diagram, (f,)),
    "derivative": (D.derivative, (f,)),
    "affine": (D.affine, (f, v)),
    "jvp": (D.jvp, (f,)),
    "at a point": (D.derivative(f).at, (v,)),
    # expressions
    "const": (traced(lambda _, a: D.const(a), V), (v,)),
    "e +": (traced(lambda e, a: e + a, V), (v,)),
    "+ e": (traced(lambda e, a: a + e, V), (v,)),
    "e -": (traced(lambda e, a: e - a, V), (v,)),
    "- e": (traced(lambda e, a: a - e, V), (v,)),
    "e *": (traced(lambda e, a: e * a, V), (v,)),
    "* e": (traced(lambda e, a: a * e, V), (k,)),
    "e /": (traced(lambda e, a: e / a, V), (v,)),
    "/ e": (traced(lambda e, a: a / e, R), (1.0,)),
    "e **": (traced(lambda e, a: e**a, V), (2.0,)),
    "e @": (traced(lambda e, a: e @ a, V), (v,)),
    "@ e": (traced(lambda e, a: a @ e, V), (v,)),
    "e <": (traced(lambda e, a: e < a, V), (v,)),
    "e >=": (traced(lambda e, a: e >= a, V), (v,)),
    "e[]": (traced(lambda e, a: e[a], S), (0,)),
    "e &": (traced(lambda e, a: e & a, Bool), (truth,)),
    "& e": (traced(lambda e, a: a & e, Bool), (truth,)),
    "| e": (traced(lambda e, a: a | e, Bool), (truth,)),
    "maximum": (traced(lambda e, a: D.maximum(a, e), V), (v,)),
    "f(e, a)": (traced(two, V), (w,)),
    "inner": (traced(D.inner, V), (v,)),
    "inner of vectors": (D.inner, (v, v)),
    "outer of vectors": (D.outer, (v, v)),
    "contract of vectors": (D.contract, ("i,i->", v, v)),
    "onehot of a label": (D.onehot, (labels.vec(1),)),
    "select from a vector": (D.select, (v > 0.0, v)),
    "outer": (traced(lambda e, a: D.outer(a, e), V), (w,)),
    "contract": (traced(lambda e, text, a, cod: D.contract(text, e, a, to=cod), V), ("i,i->", v, R)),
    "e.scatter": (traced(lambda e, a: e.scatter(a), V), ((labels**p).vec([0, 1, 2, 2]),)),
    "v.scatter": (v.scatter, ((labels**p).vec([0, 1, 2, 2]),)),
    "v.roll": (v.roll, (1,)),
    "v.pad": (v.pad, (1, 1)),
    "v.crop": (v.crop, (1, 3)),
    "v.concatenate": (v.concatenate, (w,)),
    "v.clip": (v.clip, (0.0, 1.0)),
    "v.cast": (v.cast, (R,)),
    "v.max": (v.max, (p,)),
    "v.product": (v.product, (p,)),
    "v.softmax": (v.softmax, (p,)),
    "v.argsort": (v.argsort, (p,)),
    "v.top": (v.top, (2, p)),
    "v.norm": (v.norm, (p,)),
    "v.transpose": (v.transpose, (p,)),
    "v.equals": (v.equals, (v,)),
    "dot over": (lambda a, b, x: D.dot(a, b, over=x), (v, v, p)),
    "conv": (lambda a, b, s: D.conv(a, b, stride=s), (M.zeros(), (R ** (h * p * h)).zeros(), 1)),
    "v.reshape": (v.reshape, (H.Fin.of(4),)),
    "v >": (lambda a: v > a, (v,)),
    "/ v": (lambda a: a / v, (2.0,)),
    "v **": (lambda a: v**a, (2.0,)),
    "Bool &": (lambda a: truth & a, (truth,)),
    "V.full": (V.full, (2.0,)),
    "onehot": (traced(D.onehot, labels), (R,)),
    "select": (traced(D.select, Bool), (v,)),
    # adjoints
    "adjoint": (A.adjoint, (lin,)),
    "adjoint_affine": (A.adjoint_affine, (f, v)),
    "vjp": (A.vjp, (f,)),
    "grad": (A.grad, (two, 0)),
    "value_and_grad": (A.value_and_grad, (two, 0)),
    "hvp": (A.hvp, (two, 0)),
    "jacobian": (A.jacobian, (f, v)),
    "hessian": (A.hessian, (D.sin, k)),
    "blocked": (A.blocked, (f, f.dom.index)),
    "distributed": (A.distributed, (f, f.dom.index)),
    "compiled": (A.compiled, (f,)),
    "gauss_newton": (A.gauss_newton, (f, v)),
    "levenberg_marquardt": (A.levenberg_marquardt, (f, v)),
    "laplace": (A.laplace, (D.fun(f.dom, f.dom)(lambda p, x: (D.exp(p) * x * x).sum()), v)),
    "as_scipy": (A.as_scipy, (f,)),
    "as_jax": (A.as_jax, (f,)),
    "nlp": (A.nlp, (D.sin,)),
    "jacobian_program": (A.jacobian_program, (f,)),
    "hessian_program": (A.hessian_program, (D.sin,)),
    "jacobian wrt": (lambda i: A.jacobian(two, v, w, wrt=i), (0,)),
    "check_adjoint": (A.check_adjoint, (f, v)),
    "star": (lambda g: A.check_adjoint(lin, star=g), (lin,)),
    "samples": (lambda n: A.check_adjoint(lin, samples=n), (2,)),
    "seed": (lambda n: A.check_adjoint(lin, seed=n), (2,)),
    "check_derivative": (A.check_derivative, (f, v)),
    "check": (A.check, (f, v)),
}

NONSENSE: dict[str, Any] = {
    "None": None, "str": "x", "bytes": b"x", "complex": 1j, "object": object(), "dict": {}, "[None]": [None],
    "objects": np.array([object()]), "strings": np.array(["a"]), "lambda": lambda: 0, "class": Pixel, "slice": slice(0),
}  # fmt: skip
"""What is nothing of the library."""

FITS = {
    ("Fin", 0): {"class"}, ("register", 0): {"str"}, ("contract", 2): {"None"}, ("onehot", 0): {"None"},
    ("grad", 1): {"None"}, ("value_and_grad", 1): {"None"}, ("hvp", 1): {"None"},
    ("jacobian wrt", 0): {"None"}, ("over", 0): {"None"}, ("star", 0): {"None"},
    ("matrix", 1): {"None"}, ("crop", 1): {"None"}, ("crop", 2): {"None"},
    ("group_by", 0): {"objects", "strings"}, ("group_by", 1): {"None"}, ("gather", 2): {"None"},
    ("v.crop", 0): {"None"}, ("v.crop", 1): {"None"}, ("v.clip", 0): {"None"}, ("v.clip", 1): {"None"},
    **{(f"v.{name}", 0): {"None"} for name in ("max", "product", "softmax", "argsort", "norm")}, ("v.top", 1): {"None"},
    ("gather by elements", 1): {"None"}, ("gather by an element", 1): {"None"}, ("segment_sum", 2): {"None"},
}  # fmt: skip
"""Where something of it fits all the same."""

OTHERS: dict[str, Any] = {
    "3": 3, "-1": -1, "2.5": 2.5, "True": True, "nan": math.nan, "list": [1, 2], "()": (), "[]": [],
    "ragged": [[1.0], [1.0, 2.0]], "array": np.zeros(3), "0-d": np.zeros(()), "float64": np.float64(2.0),
    "int64": np.int64(2), "complex array": np.zeros(4, complex), "sin": math.sin, "R": R, "V": V, "W": W, "S": S,
    "T": T, "labels": labels, "Bool": Bool, "Bool^p": Bool**p, "R32": R32, "discrete sum": H.direct_sum(R, labels),
    "0": H.Zero(), "empty sum": H.direct_sum(), "h": h, "h*p": h * p, "h+p": h + p, "unit": H.Unit(), "empty": none,
    "v": v, "w": w, "k": k, "s": s, "x": x, "v32": v32, "linear": lin, "function": f, "primitive": D.sin,
    "binary": D.divide, "derivative": D.derivative(f), "open": open_net, "expression": stale(V),
    "contraction": contraction.inner(V), "relation": relation.leq(h), "spaces": (V, V), "Field": H.Field,
}  # fmt: skip
"""What fits somewhere."""


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_nonsense_is_refused(entrance: str) -> None:
    """At every argument of every entrance, what is nothing of the library raises SpaceError and nothing else."""
    call, args = ENTRANCES[entrance]
    call(*args)
    for n, label in ((n, label) for n in range(len(args)) for label in NONSENSE):
        given = (*args[:n], NONSENSE[label], *args[n + 1 :])
        if label in FITS.get((entrance, n), ()):
            call(*given)
        else:
            with pytest.raises(SpaceError):
                pytest.fail(f"argument {n}: {label} gives {call(*given)!r}")


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_what_fits_elsewhere_is_taken_or_refused(entrance: str) -> None:
    """At every argument of every entrance, a value of the library is taken, or raises SpaceError."""
    call, args = ENTRANCES[entrance]
    refused = 0
    for n, label in ((n, label) for n in range(len(args)) for label in OTHERS):
        with warnings.catch_warnings(category=RuntimeWarning, action="ignore"):
            try:
                call(*args[:n], OTHERS[label], *args[n + 1 :])
            except SpaceError as error:
                refused += 1
                assert len(first_line(error)) < 300, label  # noqa: PT017 - taken or refused
            except Exception as error:  # noqa: BLE001 - what must not happen
                pytest.fail(f"argument {n}: {label} raises {error!r}")
    assert refused


# --- errors that come later ---


def test_a_primitive_keeps_shape_and_dtype() -> None:
    """The value of a user's primitive has the argument's shape and dtype, or its first use says so."""
    total = D.register("total", lambda xp, x: xp.sum(x), lambda x, _: x)
    with pytest.raises(SpaceError, match=r"primitive total at an array of shape \(4,\).* is .*must be the argument's"):
        total(v)
    single = D.register("single", lambda _, x: x.astype("float32"), lambda x, _: x)
    with pytest.raises(SpaceError, match=r"primitive single .*dtype float32: shape and dtype must be"):
        single(v)
    number = D.register("number", lambda _, x: math.sin(x), lambda x, _: x)
    with pytest.raises(SpaceError, match=r"primitive number at .*shape and dtype must be"):
        number(k)


def test_a_primitive_that_this_process_does_not_know() -> None:
    """Primitives travel by name: unpickled where it is not registered, one says so when it is used."""
    mine = D.register("mine", lambda _, x: 2.0 * x, lambda x, _: 0.0 * x + 2.0)
    data = pickle.dumps(D.exp @ mine)
    del elementwise.RULES["mine"]
    travelled = pickle.loads(data)
    for use in (lambda: travelled(k), lambda: A.grad(travelled), lambda: str(travelled)):
        with pytest.raises(SpaceError, match="primitive 'mine' is not in the table: register it"):
            use()


def test_a_local_tag_does_not_travel() -> None:
    """The tag of a pickled axis can be imported."""

    class Local:
        """A tag that cannot."""

    with pytest.raises(SpaceError, match=r"Local of axis Local3 cannot be pickled.*at the top level of a module"):
        pickle.dumps(R ** H.Fin(Local, 3))
    assert pickle.loads(pickle.dumps(V)) == V


def test_vectors_leave_their_operators_to_expressions() -> None:
    """k·x, v + x, v − x, v @ x, x / k and c ∧ x of vectors and expressions are steps, on either side."""
    g = D.fun(V)(lambda e: k * e + v - e / k + v * e - (v - e) + (v @ e) * v)
    a = v.array
    assert np.allclose(g(v).array, 2 * a + a - a / 2 + a * a + (a @ a) * a)
    masked = D.fun(V)(lambda e: D.select((Bool**p).vec([True, False, True, True]) & (e > 1.0), e))
    assert masked(v).array.tolist() == [0.0, 0.0, 3.0, 4.0]


def test_a_vector_of_a_direct_sum_unpacks() -> None:
    """a, b = s, as for expressions."""
    a, b = s
    assert (a.space, b.space) == (V, W)
    assert a.array.tolist() == v.array.tolist()
