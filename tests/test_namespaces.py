"""One program, many array libraries: it runs where its arguments live, on JAX and the strict array API as on numpy.

Every kind of kernel runs on each namespace that is installed. Results agree with numpy's, are arrays of that namespace
on the arguments' device, and nothing is converted on the way: while a program runs, a conversion to numpy is an error.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast, get_args

import array_api_strict
import jax
import numpy as np
import pytest
from jax import numpy as jnp

from adjoint import adjoint, check, hessian, jacobian
from diff import derivative, divide, dot, fun, log, program, tanh
from diff.primitives import slope_rows
from diff.primitives.primitives import BINARY, PRIMITIVES
from diff.terms.elementwise import RULES, Elementwise
from diff.terms.user_operation import Custom
from hilbert import R32, R, Relation, SpaceError, Vec
from hilbert.arrays.kernels.library import Library
from hilbert.arrays.libraries import namespace
from hilbert.arrays.libraries.libraries import Cupy
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.program.control.flows import Flow
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.external import External
from hilbert.program.line.operation import (
    COMPUTED,
    FOUND,
    Add,
    Along,
    Cast,
    Contract,
    Keep,
    Literal,
    Move,
    Reduce,
    Scale,
)
from linmap import diagonal, equal, gram, matrix, red, trace
from tests.programs import (
    ASKING,
    PROGRAMS,
    RELATIONS,
    SCALARS,
    M,
    Place,
    V,
    W,
    b,
    close,
    converting_is_an_error,
    demo,
    h,
    label,
    moved,
    operations,
    p,
    point,
    v0,
)
from tests.untyped import each, fixed_point, iterate, root, where

jax.config.update("jax_enable_x64", val=True)

BUILTIN = Literal, Scale, Reduce, Move, Cast, External, Along, Keep, Contract, Add

CPU, OTHER = (array_api_strict.Device(name) for name in ("CPU_DEVICE", "device1"))
Strict = type(array_api_strict.zeros(1))
SPECIAL = {"lgamma": "gammaln", "digamma": "digamma", "betaln": "betaln", "ndtri": "ndtri", "i0e": "i0e", "i1e": "i1e"}
"""Primitives that are special functions of a library, and their names there."""
PLACES = {
    "jax": Place(jnp, type(jnp.zeros(1)), jnp.asarray, np.asarray, segments=True),
    "strict": Place(array_api_strict, Strict, array_api_strict.asarray, np.asarray, segments=False),
    "strict, another device": Place(
        array_api_strict,
        Strict,
        lambda a: array_api_strict.asarray(a, device=OTHER),
        lambda a: np.asarray(a.to_device(CPU)),
        segments=False,
    ),
}
if importlib.util.find_spec("torch"):
    torch: Any = importlib.import_module("torch")
    PLACES["torch"] = Place(torch, torch.Tensor, torch.from_numpy, lambda a: a.numpy(), segments=True)


@pytest.fixture(params=PLACES, scope="module")
def place(request: pytest.FixtureRequest) -> Place:
    """A place outside numpy."""
    return PLACES[request.param]


def test_conversions_are_noticed(place: Place) -> None:
    """What the tests below rely on."""
    a = place.there(np.ones(3))
    attempts: list[Callable[[], Any]] = [
        lambda: np.asarray(a),
        lambda: np.add(a, 1.0),
        lambda: np.sum(a),
        lambda: np.ones(3) @ np.array(a),
        lambda: float(a[0]),
        lambda: namespace.to_numpy(a),
    ]
    with converting_is_an_error(place.kind):
        for attempt in attempts:
            with pytest.raises(AssertionError, match="converted"):
                attempt()


def ran(f: Any, x: Vec[Any], place: Place) -> Vec[Any]:
    """f(x), twice, where nothing may be converted, and the second time nothing may be moved."""
    with converting_is_an_error(place.kind):
        f(x)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Library, "constant", lambda *_: pytest.fail("a constant was moved again"))
            result: Vec[Any] = f(x)
    return result


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_where_their_arguments_live(name: str, place: Place) -> None:
    """f(x) on another namespace is f(x) on numpy; a kernel that is missing there is named."""
    f = PROGRAMS[name]
    x = point(name, f)
    want = f(x)
    try:
        asks = name in ASKING or name == "ndtri"  # which JAX computes with numbers of numpy
        got = f(moved(x, place)) if asks else ran(f, moved(x, place), place)
    except SpaceError as error:
        kernel = f"segment sums have|({SPECIAL.get(name)}|i0e) has"
        missing = f"({kernel}) no kernel in the array namespace {place.library.__name__}"
        assert re.match(missing, str(error)) and not place.segments  # noqa: PT017, PT018 - runs, or names what is missing
    else:
        assert close(place, got, want)


def test_every_form_of_relation_is_reduced() -> None:
    """RELATIONS has all of them."""
    own = {form for form in forms(Relation) if form.__module__.startswith("hilbert.relation.")}
    assert {type(r) for r in RELATIONS.values()} == own


def forms(cls: type[Any]) -> set[type[Any]]:
    """The final classes below a class."""
    below: list[type[Any]] = cls.__subclasses__()
    return set().union(*(forms(c) for c in below)) if below else {cls}


def test_every_primitive_is_run() -> None:
    """SCALARS has the whole table of real primitives."""
    run_here = {name for f in SCALARS.values() for name in names_in(f)}
    slopes = {p.name for p in vars(slope_rows).values() if isinstance(p, Elementwise)}
    due = {p.name for p in PRIMITIVES} | {p.name for p in BINARY} | {"power"} | slopes
    assert due <= {name for name, rule in RULES.items() if rule.derivatives is not None}
    assert due - run_here == set()


def test_every_operation_is_run() -> None:
    """PROGRAMS has all steps that a line can have, and all functions along axes."""
    lines = [program(f).line for f in PROGRAMS.values()]
    due = {*get_args(Flow), *BUILTIN, Pack, Unpack, Choose, AnyLane, Fill, Custom}
    assert due <= {one for line in lines for one in operations(line)}
    along = {step.operation.name for line in lines for step in line.steps if isinstance(step.operation, Along)}
    assert along == {*FOUND, *COMPUTED}


def names_in(f: Any) -> set[str]:
    """The primitives of a program."""
    return {step.operation.name for step in program(f).steps if isinstance(step.operation, Elementwise)}


def test_a_missing_kernel_is_named() -> None:
    """The strict array API has no segment sum: a SpaceError names the kernel, the namespace and those that have one."""
    f = red(RELATIONS["function"], R)
    x = moved(point("", f), PLACES["strict"])
    with pytest.raises(SpaceError, match=r"^segment sums have no kernel in .*array_api_strict: use numpy, cupy"):
        f(x)


def test_the_segment_sum_of_cupy() -> None:
    """On a namespace that is cupy's as far as it goes: cupy.add.at has numpy's meaning."""
    like_cupy = SimpleNamespace(add=np.add, zeros=lambda shape, dtype, device: np.zeros(shape, dtype, device=device))
    rows, targets = np.arange(8.0).reshape(4, 2), np.array([2, 0, 2, 2])
    got = Cupy(cast("Any", like_cupy)).segment_sum(rows, targets, 3)
    assert got.tolist() == NUMPY.segment_sum(rows, targets, 3).tolist() == [[2.0, 3.0], [0.0, 0.0], [10.0, 13.0]]


# --- matrices, vectors, checks ---


HELD: dict[str, Callable[[Any, Any], Any]] = {
    "loop": lambda x, k: iterate(lambda s: tanh(s) * k + x, x, h),
    "lanes": lambda x, k: each(lambda t: iterate(lambda s: tanh(s) * k + t, t, h), x),
    "fixed point": lambda x, k: fixed_point(lambda s: 0.2 * tanh(s) * k + x, x),
    "root": lambda x, k: root(lambda s: s + k * tanh(s) - x, x),
    "branch": lambda x, k: where(k > 0.0, lambda: iterate(lambda s: tanh(s) * k, x, h), lambda: x),
}
"""Derivatives that keep bundles."""


def test_matrices_live_where_the_point_lives(place: Place) -> None:
    """jacobian, hessian, matrix and diagonal are arrays of the namespace, and agree with numpy's."""
    f = fun(V, W)(lambda x, c: tanh(M.vec(np.arange(12.0).reshape(3, 4) / 10) @ x + c))
    g = fun(V)(lambda x: log((x * x).sum() + 1.0))
    x, c = V.vec([0.1, 0.2, 0.3, 0.4]), W.vec([0.3, 0.2, 0.1])
    y, d = moved(x, place), moved(c, place)
    results = [
        (jacobian(f, y, d), jacobian(f, x, c)),
        (hessian(g, y), hessian(g, x)),
        (matrix(gram(derivative(f).at(y, d)), "array"), matrix(gram(derivative(f).at(x, c)), "array")),
        (diagonal(derivative(tanh**p).at(y)).array, np.array(1.0 / np.cosh(x.array) ** 2)),
    ]
    for held in HELD.values():
        k: Any = fun(V, R)(held)
        z = k.dom.vec((x.array, np.asarray(0.5)))
        w = moved(z, place)
        results += [
            (jacobian(k, w), jacobian(k, z)),
            (derivative(k).at(w)(w).array, derivative(k).at(z)(z).array),
            (adjoint(derivative(k).at(w))(k(w)).leaves[0], adjoint(derivative(k).at(z))(k(z)).leaves[0]),
        ]
    for got, want in results:
        assert isinstance(got, place.kind)
        assert np.allclose(place.back(got), want, rtol=1e-12, atol=1e-13)
    assert trace(derivative(tanh**p).at(y)) == pytest.approx(trace(derivative(tanh**p).at(x)), rel=1e-12)


def test_vector_operations_stay(place: Place) -> None:
    """+ − · / flat and unflat give arrays of the namespace; ⊙, ‖·‖ and float are numbers."""
    x = moved(v0, place)
    with converting_is_an_error(place.kind):
        results = [x + x, x - 2.0 * x, -x / 4.0, x.space.unflat(x.flat())]
    expected = [v0 + v0, -v0, v0 / -4.0, v0]
    assert all(close(place, got, want) for got, want in zip(results, expected, strict=True))
    assert (x.inner(x), x.norm()) == (v0.inner(v0), v0.norm())


def test_conversion_into_a_space(place: Place) -> None:
    """The rule of `as_leaf` is the same in every library."""
    assert close(place, V.vec(place.there(np.arange(4))), V.vec(np.arange(4)))
    assert close(place, V.vec(place.there(np.arange(4, dtype=np.float32))), V.vec(np.arange(4)))
    assert close(place, (label**b).vec(place.there(np.array([0, 2, 1]))), (label**b).vec([0, 2, 1]))
    for space, data, what in (
        (V, np.zeros(3), r"shape \(3,\) is not an element of ℝ\^Pixel4: shape \(4,\) would fit"),
        (V, np.zeros(4, bool), r"dtype bool is not an element of ℝ\^Pixel4"),
        (R32**p, np.zeros(4), r"dtype float64 is not an element of ℝ₃₂\^Pixel4, which holds float32"),
        (label**b, np.zeros(3), r"dtype float64 is not an element of Hidden3\^Batch3, which holds int64"),
        (label**b, np.array([0, 3, 1]), r"entries from 0 to 3 are not elements of Hidden3"),
    ):
        with pytest.raises(SpaceError, match=what):
            space.vec(place.there(data))


def test_single_precision_that_stays_single() -> None:
    """JAX without double precision has no element of ℝ: a SpaceError says so instead of rounding."""
    jax.config.update("jax_enable_x64", val=False)
    try:
        with pytest.warns(UserWarning, match="float64"), pytest.raises(SpaceError, match=r"no element of ℝ\^Pixel4"):
            V.vec(jnp.zeros(4))
    finally:
        jax.config.update("jax_enable_x64", val=True)


def test_libraries_are_not_mixed(place: Place) -> None:
    """Vectors of two libraries in one call, or a constant of one and an argument of another, are a SpaceError."""
    x = moved(v0, place)
    two = fun(V, V)(lambda x, y: x @ y)
    with pytest.raises(SpaceError, match=rf"different array libraries: .*{place.library.__name__}.*move them to one"):
        two(x, v0)
    with pytest.raises(SpaceError, match=rf"lives in {place.library.__name__}, its argument in numpy: move one of"):
        dot(x)(v0)
    with pytest.raises(SpaceError, match=rf"lives in {place.library.__name__}, its argument in numpy: move one of"):
        fun(V)(lambda e: e * x)(v0)


def test_products_stay_where_their_vectors_live(place: Place) -> None:
    """a @ b and a.T."""
    w = (R ** (h * p)).random(np.random.default_rng(0))
    a, x = moved(w, place), moved(v0, place)
    with converting_is_an_error(place.kind):
        products: list[Vec[Any]] = [a @ x, a.T @ (a @ x), x @ x]
    wanted: list[Vec[Any]] = [w @ v0, w.T @ (w @ v0), v0 @ v0]
    assert all(close(place, got, want) for got, want in zip(products, wanted, strict=True))


def test_a_library_goes_by_the_name_that_users_import() -> None:
    """Not by that of its wrapper."""
    names = [Library(xp).name for xp in (np, jnp, importlib.import_module("array_api_compat.numpy"))]
    assert names == ["numpy", "jax.numpy", "numpy"]


def test_constants_stay_or_move_once(place: Place) -> None:
    """A constant of the namespace stays as it is; one of numpy's is moved to the arguments' device, once."""
    x, c = moved(v0, place), moved(v0, place)
    f = fun(V)(lambda e: divide(e * c, v0))
    assert close(place, ran(f, x, place), v0)


def test_constants_follow_the_device() -> None:
    """One program on two devices of a library: each has its own copy of the constants."""
    f = fun(V)(lambda e: e * v0 + 1.0)
    for name in ("strict", "strict, another device", "strict"):
        (array,) = f(moved(v0, PLACES[name])).leaves
        assert array.device == (OTHER if "another" in name else CPU)
    elsewhere = moved(v0, PLACES["strict, another device"])
    (array,) = fun(V)(lambda e: e * elsewhere)(moved(v0, PLACES["strict"])).leaves
    assert array.device == CPU


def test_checks_run_where_the_point_lives(place: Place) -> None:
    """check(f, x) draws its directions in the library of x."""
    f = fun(V)(lambda e: tanh(e) * e)
    assert all(check(f, moved(v0, place)))
    assert check(f, v0)[0].numbers[0][1] == pytest.approx(check(f, moved(v0, place))[0].numbers[0][1], rel=1e-2)


def test_contents_are_compared_across_libraries() -> None:
    """`equal` compares contents, wherever they live."""
    assert equal(moved(v0, PLACES["jax"]), v0)
    assert equal(adjoint(dot(moved(v0, PLACES["jax"]))), adjoint(dot(v0)))


# --- the demo ---


def test_the_gradient_of_the_digits_demo_on_jax() -> None:
    """A mini-batch of digits: loss and gradient on JAX's arrays are numpy's."""
    step, x = demo()
    place = PLACES["jax"]
    assert close(place, ran(step, moved(x, place), place), step(x))
