"""Inputs are never changed and never aliased writeably; NaN, ∞ and integers are treated as numpy treats them."""

from __future__ import annotations

import itertools
import operator
import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import adjoint_affine, check, grad, hessian, jacobian, value_and_grad
from diff import (
    absolute,
    affine,
    cos,
    divide,
    dot,
    exp,
    expm1,
    fun,
    hypot,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    maximum,
    minimum,
    reciprocal,
    register,
    relu,
    select,
    sign,
    sin,
    sqrt,
    square,
    tan,
    tanh,
)
from diff import pow as power_of
from hilbert import R32, Bool, Elements, Fin, R, SpaceError, Vec, Z, direct_sum
from hilbert.relation import function, pairs
from linmap import diagonal, identity, matrix, project, rep, section, sparse, transpose
from linmap.contraction import matrix_vector
from tests.programs import PROGRAMS, point

p, h = Fin.of(4), Fin.of(3)
V, M, labels = R**p, R ** (h * p), Elements(h)


def frozen(v: Vec[Any]) -> bool:
    """Whether no array of a vector can be written to; numpy's scalars cannot."""
    return all(isinstance(a, np.generic) or not a.flags.writeable for a in v.leaves)


# --- inputs are not changed, results cannot be ---


@pytest.mark.parametrize("name", PROGRAMS)
def test_arguments_keep_their_entries(name: str) -> None:
    """f(x), twice, leaves the arrays that x was made of as they were; the results are equal and not writeable."""
    f = PROGRAMS[name]
    given = [np.array(a) for a in point(name, f).leaves]
    before = [a.copy() for a in given]
    x = f.dom.vec(f.dom.pack(iter(given)))
    first, second = f(x), f(x)
    assert frozen(first)
    assert all(a.flags.writeable and np.array_equal(a, b) for a, b in zip(given, before, strict=True))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first.leaves, second.leaves, strict=True))


def test_a_vector_is_a_view_that_cannot_be_written_to() -> None:
    """V.vec(array) copies nothing that fits, leaves the array writeable, and is itself read-only."""
    array = np.arange(4.0)
    v = V.vec(array)
    assert np.shares_memory(v.array, array)
    assert array.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        v.array[0] = 7.0
    array[0] = 7.0  # the owner may write, and it shows: documented in Type.vec
    assert v.array[0] == 7.0


def test_the_arrays_of_a_vector_are_read_only() -> None:
    """So are those of sums, parts, flat forms, random and zero vectors, pickled ones and results."""
    S = direct_sum(V, direct_sum(M, labels**h))
    rng = np.random.default_rng(0)
    s = S.random(rng)
    v = V.random(rng)
    made: list[Vec[Any]] = [s, s[0], s[1], s[1][1], v, V.zeros(), v + v, -v, 2.0 * v, v / 3.0, V.unflat(v.flat())]
    made += V.basis()
    made += [pickle.loads(pickle.dumps(s)), sin(v), maximum(v, v), affine(tanh**p, v)[0], affine(tanh**p, v)[1](v)]
    made += [adjoint_affine(tanh**p, v)[1](v), grad(fun(V)(lambda e: e @ e))(v), rep(h)(R.vec(1.0))]
    made += [identity(V)(v), project(direct_sum(V, R), 0)(direct_sum(V, R).zeros()), diagonal(identity(V))]
    made.append(V.vec([1.0] * 4))
    for vector in made:
        assert frozen(vector)


def test_a_vector_does_not_change() -> None:
    """Neither its space nor its arrays nor what compares it can be set; there are no other attributes."""
    v = (R ** Fin.of(2)).ones()
    for name in ("space", "leaves", "_token", "other"):
        with pytest.raises(SpaceError, match=rf"does not change, so its \.{name} cannot be set"):
            setattr(v, name, v.space)
    assert (v.space, v.array.tolist()) == (R ** Fin.of(2), [1.0, 1.0])


def test_views_of_an_argument_are_read_only_too() -> None:
    """A result that shares memory with the user's array (id, ᵀ, π) cannot be written to."""
    array = np.arange(12.0).reshape(3, 4)
    m = M.vec(array)
    rows: Any = (R**p) ** h
    for result in (identity(M)(m), transpose(R ** (h * p))(m), project(rows, 0)(rows.vec(array))):
        assert np.shares_memory(result.array, array)
        assert frozen(result)


def test_a_matrix_does_not_alias_writeably() -> None:
    """matrix, jacobian and hessian: an array that can be written to shares no memory with a vector."""
    array = np.arange(12.0).reshape(3, 4)
    m, v = M.vec(array), V.vec([1.0, 2.0, 3.0, 4.0])
    for result in (
        matrix(section(matrix_vector(h, p), 0, m), "array"),
        jacobian(fun(V)(lambda e: m @ e), v),
        jacobian(fun(M, V)(lambda n, e: n @ e), m, v, wrt=1),
        hessian(fun(V)(lambda e: (m @ e) @ (m @ e)), v),
        matrix(dot(v), "array"),
    ):
        assert not (result.flags.writeable and np.shares_memory(result, array))
        assert not (result.flags.writeable and np.shares_memory(result, v.array))


def test_flat_is_no_alias() -> None:
    """v.flat() of one array may be a view of it, and is then read-only."""
    v = V.vec(np.arange(4.0))
    flat = v.flat()
    assert not (flat.flags.writeable and np.shares_memory(flat, v.array))


def test_tables_are_copied() -> None:
    """A relation keeps its own table: what is written into the given one does not show."""
    table, both = np.array([0, 1, 2, 0]), np.array([[0, 1], [3, 2]])
    graph, some = function(table, p, h), pairs(both, p, h)
    table[:], both[:] = 2, 0
    assert graph.holds()[1].tolist() == [0, 1, 2, 0]
    assert [side.tolist() for side in some.holds()] == [[0, 3], [1, 2]]


def test_augmented_assignment_makes_a_new_vector() -> None:
    """v += w binds v anew; the vector that it was stays."""
    v = w = V.vec([1.0, 2.0, 3.0, 4.0])
    v += w
    v *= 2.0
    assert w.array.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert v.array.tolist() == [4.0, 8.0, 12.0, 16.0]


def test_a_primitive_cannot_write_into_an_argument() -> None:
    """A user's value function gets the argument read-only."""
    greedy = register("greedy", lambda xp, x: xp.add(x, 1.0, out=x), lambda x, _: x)
    with pytest.raises(ValueError, match="read-only"):
        greedy(V.vec(np.arange(4.0)))


def test_checks_leave_the_point() -> None:
    """check(f, x) does not change x."""
    array = np.array([0.1, 0.2, 0.3, 0.4])
    assert all(check(fun(V)(lambda e: tanh(e) * e), V.vec(array)))
    assert array.tolist() == [0.1, 0.2, 0.3, 0.4]


# --- how arrays may lie in memory ---

LAYOUTS: dict[str, Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]] = {
    "Fortran order": np.asfortranarray,
    "every second": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "transposed": lambda a: a.T.copy().T,
    "read-only": lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),
    "other bytes": lambda a: a.astype(">f8"),
    "single precision": lambda a: a.astype(np.float32),
    "integers": lambda a: a.astype(np.int8),
    "a matrix": np.asmatrix,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_layouts(layout: str) -> None:
    """Strides, order, byte order, precision and subclasses of an array do not matter."""
    plain = np.arange(12.0).reshape(3, 4)
    f = fun(M, V)(lambda m, e: tanh(m @ e) @ (m @ e) + (m * m).sum())
    v = V.vec([0.1, 0.2, 0.3, 0.4])
    given = M.vec(LAYOUTS[layout](plain))
    assert given.array.dtype == np.float64
    assert given.array.shape == (3, 4)
    assert float(f(given, v)) == pytest.approx(float(f(M.vec(plain), v)), rel=1e-14)
    assert np.allclose(grad(f, 0)(given, v).array, grad(f, 0)(M.vec(plain), v).array, rtol=1e-14)


def test_a_broadcast_array() -> None:
    """An array that repeats one number is read, and no result is written into it."""
    ones = np.broadcast_to(np.float64(2.0), (3, 4))
    m = M.vec(ones)
    assert (m + m).array.tolist() == [[4.0] * 4] * 3
    assert fun(M)(lambda e: sin(e) * 0.0 + e)(m).array.tolist() == [[2.0] * 4] * 3


# --- scalars ---


def test_scalars() -> None:
    """A scalar is an array or number of shape (), of the field's dtype, wherever it comes from."""
    v = V.vec([1.0, 2.0, 3.0, 4.0])
    single = (R32**p).vec(np.arange(4, dtype=np.float32))
    found = {
        "vec": R.vec(2.0), "zeros": R.zeros(), "random": R.random(np.random.default_rng(0)), "integer": R.vec(1),
        "dot": dot(v)(v), "function": fun(V)(lambda e: e @ e)(v), "primitive": sin(R.vec(1.0)),
        "product": 2.0 * R.vec(3.0), "part": value_and_grad(fun(V)(lambda e: e @ e))(v)[0],
        "constant": fun(V)(lambda e: (e * 0.0).sum() + 3.0)(v),
    }  # fmt: skip
    for name, k in found.items():
        assert np.shape(k.array) == (), name
        assert k.array.dtype == np.float64, name
        assert isinstance(float(k), float), name
    total = fun(R32**p)(lambda e: (e * e).sum())(single)
    assert total.array.dtype == np.float32
    assert float(total) == 14.0
    assert R.vec(2.0).flat().shape == (1,)
    assert Bool.vec(np.True_).array.dtype == bool
    assert labels.vec(2).array.dtype == np.int64


# --- NaN and infinity ---

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1.0, 2.5, 1e308, -1e308, 5e-324, 800.0]
NUMPY: dict[str, tuple[Any, Callable[..., Any]]] = {
    "sin": (sin, np.sin), "cos": (cos, np.cos), "tan": (tan, np.tan), "tanh": (tanh, np.tanh), "exp": (exp, np.exp),
    "expm1": (expm1, np.expm1), "log": (log, np.log), "log2": (log2, np.log2), "log10": (log10, np.log10),
    "log1p": (log1p, np.log1p), "sqrt": (sqrt, np.sqrt), "square": (square, np.square), "absolute": (absolute, np.abs),
    "reciprocal": (reciprocal, np.reciprocal), "sign": (sign, np.sign), "relu": (relu, lambda x: np.maximum(x, 0.0)),
    "maximum": (maximum, np.maximum), "minimum": (minimum, np.minimum), "divide": (divide, np.divide),
    "hypot": (hypot, np.hypot), "logaddexp": (logaddexp, np.logaddexp), "pow": (power_of, np.power),
}  # fmt: skip


def heard(call: Callable[[], Any]) -> tuple[Any, set[tuple[type, str]]]:
    """The result of a call, and its warnings; numpy says of scalars that they are scalars."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call()
    return result, {(w.category, str(w.message).replace(" scalar ", " ")) for w in found}


@pytest.mark.parametrize("name", NUMPY)
def test_values_and_warnings_are_numpys(name: str) -> None:
    """p(x) at NaN, ±∞, ±0, negative and huge numbers is numpy's, with numpy's warnings."""
    f, ufunc = NUMPY[name]
    arity = ufunc.nin if isinstance(ufunc, np.ufunc) else 1
    columns = [np.array(c) for c in zip(*((a, b) for a in SPECIAL for b in SPECIAL), strict=True)][:arity]
    space = R ** Fin.of(len(columns[0]))
    want, expected = heard(partial(ufunc, *columns))
    got, said = heard(partial(f, *map(space.vec, columns)))
    assert np.array_equal(got.array, want, equal_nan=True)
    assert np.array_equal(np.signbit(got.array), np.signbit(want))
    assert said == expected


@pytest.mark.parametrize("name", NUMPY)
def test_values_and_warnings_of_scalars_are_numpys(name: str) -> None:
    """So it is number by number."""
    f, ufunc = NUMPY[name]
    arity = ufunc.nin if isinstance(ufunc, np.ufunc) else 1
    for a in SPECIAL:
        args = [np.float64(a), np.float64(0.5)][:arity]
        want, expected = heard(partial(ufunc, *args))
        got, said = heard(partial(f, *map(R.vec, args)))
        assert np.array_equal(got.array, want, equal_nan=True), a
        assert said == expected, a


def test_comparisons_and_logic_of_scalars() -> None:
    """Number by number and truth value by truth value they are those of arrays, which are numpy's."""
    signs: dict[str, Callable[[Any, Any], Any]] = {
        "equal": lambda x, y: x.equals(y),
        "not_equal": lambda x, y: x.differs(y),
        "less": operator.lt,
        "less_equal": operator.le,
        "greater": operator.gt,
        "greater_equal": operator.ge,
    }
    logic: dict[str, Callable[[Any, Any], Any]] = {
        "logical_and": operator.and_,
        "logical_or": operator.or_,
        "logical_xor": lambda c, d: (c & ~d) | (~c & d),
    }
    numbers, truths = [0.0, -0.0, 1.0, -2.5, np.inf, np.nan], [True, False]
    for names, space, entries in ((signs, R, numbers), (logic, Bool, truths)):
        for name, call in names.items():
            f = fun(space, space)(call)
            for a, b in itertools.product(entries, entries):
                found = f(space.vec(a), space.vec(b)).array
                assert found.dtype == bool
                assert bool(found) == bool(getattr(np, name)(a, b)), (name, a, b)


def test_a_gradient_outside_the_domain() -> None:
    """∇ln(0) = ∞ and ∇√(0) = ∞ with numpy's warning, ∇√(−1) = NaN; nothing is hidden."""
    zero, invalid = "divide by zero encountered in", "invalid value encountered in"
    for f, at, slope, messages in (
        (log, 0.0, np.inf, {f"{zero} log", f"{zero} reciprocal"}),
        (log, -1.0, -1.0, {f"{invalid} log"}),
        (sqrt, 0.0, np.inf, {f"{zero} reciprocal"}),
        (sqrt, -1.0, np.nan, {f"{invalid} sqrt"}),
    ):
        result, said = heard(partial(value_and_grad(f), R.vec(at)))
        assert np.array_equal(result[1].array, slope, equal_nan=True)
        assert said == {(RuntimeWarning, message) for message in messages}


def test_nan_passes_through_linear_maps() -> None:
    """A NaN or ∞ in a vector reaches what depends on it, and only that; whether numpy warns depends on the BLAS."""
    v = V.vec([np.nan, 1.0, np.inf, 2.0])
    with np.errstate(invalid="ignore"):
        assert np.array_equal((2.0 * v).array, [np.nan, 2.0, np.inf, 4.0], equal_nan=True)
        assert np.array_equal(rep(h)(dot(v)(V.vec([0.0, 1.0, 0.0, 1.0]))).array, [np.nan] * 3, equal_nan=True)
        assert np.isnan(v.inner(V.vec([1.0, 0.0, 0.0, 0.0])))
        assert np.isnan(v.norm())


def test_selection_hides_what_is_not_selected() -> None:
    """select is no multiplication by 0: a NaN or ∞ that is not selected is gone, from the gradient too."""
    chosen = (Bool**p).vec([False, True, False, True])
    v = V.vec([np.nan, 1.0, np.inf, 2.0])
    f = fun(Bool**p, V)(lambda c, e: select(c, e) @ select(c, e))
    assert float(f(chosen, v)) == 5.0
    assert grad(f, 1)(chosen, v).array.tolist() == [0.0, 2.0, 0.0, 4.0]


def test_division_warns_as_numpy_does() -> None:
    """v / 0 is ±∞ or NaN with numpy's warnings, for vectors and in functions; so does overflow of a product."""
    array = np.array([1.0, -1.0, 0.0, np.inf])
    v = V.vec(array)
    zero = np.float64(0.0)
    want, expected = heard(lambda: array / zero)
    for call in (lambda: v / 0.0, lambda: fun(V)(lambda e: e / 0.0)(v), lambda: fun(V)(lambda e: e / V.zeros())(v)):
        got, said = heard(call)
        assert np.array_equal(got.array, want, equal_nan=True)
        assert said == expected
    huge = V.vec([1e308] * 4)
    assert heard(lambda: 10.0 * huge)[1] == heard(lambda: 10.0 * huge.array)[1] != set()
    assert heard(lambda: fun(V)(lambda e: 10.0 * e)(huge))[1] == heard(lambda: 10.0 * huge.array)[1]


# --- the one rule of conversion (hilbert.arrays.libraries.namespace.as_leaf) ---

SINGLE = R32**p
TAKEN: list[tuple[Any, Any]] = [
    *((V, np.arange(4, dtype=d)) for d in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">f8")),
    *((SINGLE, np.arange(4, dtype=d)) for d in ("i1", "i2", "u1", "u2", "f2", "f4")),
    *((Z**p, np.arange(4, dtype=d)) for d in ("i1", "i2", "i4", "i8", "u1", "u2", "u4")),
    *((labels**h, np.arange(3, dtype=d)) for d in ("i1", "i4", "i8", "u4")),
    (Bool**p, np.array([True, False, True, True])),
    (V, [1, 2, 3, 4]), (V, (1.0, 2, 3.5, 4)), (V, range(4)), (SINGLE, [1, 2, 3, 4]), (SINGLE, [0.1, 0.2, 0.3, 0.4]),
    (Z**p, [1, -2, 3, 4]), (labels**h, [2, 1, 0]), (Bool**p, [True, False, True, True]), (R, 1), (R, 2.5), (R32, 2.5),
    (R, np.float32(2.5)), (R, np.int64(3)), (R, np.array(2.5)), (R, float("nan")), (labels, 2), (labels, np.int32(2)),
    (Z, -7), (M, [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]), (R ** Fin.of(0), []),
    (R ** (Fin.of(0) * p), np.zeros((0, 4))),
]  # fmt: skip
REFUSED: list[tuple[Any, Any]] = [
    *((V, np.ones(4, d)) for d in ("?", "c8", "c16", "U1", "S1", "O", "M8[s]", "m8[s]")),
    *((SINGLE, np.ones(4, d)) for d in ("?", "i4", "i8", "u4", "u8", "f8", "c8")),
    *((Z**p, np.ones(4, d)) for d in ("?", "u8", "f4", "f8")),
    *((labels**h, np.ones(3, d)) for d in ("?", "u8", "f8", "O")),
    *((Bool**p, np.ones(4, d)) for d in ("i1", "i8", "f8", "U1")),
    (V, [True, False, True, True]), (V, ["1", "2", "3", "4"]), (V, [1j, 0, 0, 0]), (V, [None] * 4), (V, [10**400] * 4),
    (Z**p, [1.0, 2.0, 3.0, 4.0]), (Z**p, [True] * 4), (Z**p, [2**70] * 4), (labels**h, [0.0, 1.0, 2.0]),
    (labels**h, [True] * 3), (labels**h, [0, 1, 3]), (labels**h, [-1, 0, 1]), (Bool**p, [1, 0, 1, 1]),
    (R, True), (R, "1"), (R, None), (R, [1.0]), (R, np.True_), (R, np.datetime64("2020-01-01")),
    (labels, True), (labels, 1.0), (labels, "1"), (Z, 1.5),
]  # fmt: skip


@pytest.mark.parametrize(("space", "data"), TAKEN, ids=str)
def test_what_is_converted(space: Any, data: Any) -> None:
    """Arrays where numpy's safe casting allows; Python's numbers and lists of them take the space's dtype."""
    (leaf,) = space.leaves
    v = space.vec(data)
    assert v.array.dtype == leaf.dtype
    assert np.shape(v.array) == leaf.shape
    assert np.array_equal(v.array, np.asarray(data, leaf.dtype), equal_nan=leaf.is_field)
    assert frozen(v)


@pytest.mark.parametrize(("space", "data"), REFUSED, ids=str)
def test_what_is_refused(space: Any, data: Any) -> None:
    """Everything else is a SpaceError that names the space."""
    with pytest.raises(SpaceError) as caught:
        space.vec(data)
    (leaf,) = space.leaves
    assert str(leaf) in str(caught.value) or f"are not elements of {leaf.entry}" in str(caught.value)


@pytest.mark.parametrize("of", [bytes, bytearray, memoryview])
def test_bytes_are_no_numbers(of: Callable[[bytes], Any]) -> None:
    """Neither as data, nor in a list, a flat array, weights or a table: they are read by np.frombuffer, as said."""
    data, numbers = of(b"\x00\x01\x02\x03"), np.frombuffer(of(b"\x00\x01\x02\x03"), np.uint8)
    taken: list[Callable[[Any], Any]] = [
        V.vec,
        V.unflat,
        lambda a: (R ** (Fin.of(2) * p)).vec([a, a]),
        lambda a: direct_sum(V, V).vec((a, a)),
        lambda a: sparse([0, 1, 2, 3], [0, 1, 2, 3], a, p, p),
        lambda a: function(a, p, p),
    ]
    for take in taken:
        with pytest.raises(SpaceError, match=rf"a value of type {of.__name__}\b.* np\.frombuffer\(data, dtype\)"):
            take(data)
        assert take(numbers) is not None
    assert V.vec(numbers).array.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_numbers_of_every_size() -> None:
    """Large integers, fractions and unsigned integers are numbers; so is an array of numpy's without axes."""
    V = R ** Fin.of(2)
    assert R.vec(2**63).array == 2.0**63
    assert R.vec(Fraction(1, 2)).array == 0.5
    assert V.vec([2**70, Fraction(1, 4)]).array.tolist() == [2.0**70, 0.25]
    assert V.vec([np.uint8(1), np.uint8(2)]).array.tolist() == [1.0, 2.0]
    v, k = V.vec([1.0, 2.0]), np.array(2.0)
    bodies: list[Callable[[Any], Any]] = [lambda x: x * k, lambda x: k + x, lambda x: x / k, lambda x: x > k]
    for body in bodies:
        traced: Any = fun(V)(body)
        assert traced(v).array.tolist() == body(v).array.tolist()


def test_arrays_of_sums_that_need_no_conversion() -> None:
    """An array of the right dtype and shape is viewed, in flat and nested sums, read-only; discrete ones are copied."""
    V, X = R ** Fin.of(2), Fin.of(3)
    a, b, i = np.array([1.0, 2.0]), np.array(3.0), np.array(2)
    flat, nested = direct_sum(V, R), direct_sum(direct_sum(V, R), R)
    for space, data in [(flat, (a, b)), (flat, [a, b]), (nested, ((a, b), b))]:
        v: Any = space.vec(data)
        assert all(np.shares_memory(one, other) for one, other in zip(v.leaves, (a, b, b), strict=False))
        assert not any(leaf.flags.writeable for leaf in v.leaves)
    assert a.flags.writeable
    found: Any = direct_sum(V, Elements(X)).vec((a, i))
    assert [np.shares_memory(*two) for two in zip(found.leaves, (a, i), strict=True)] == [True, False]
    with pytest.raises(SpaceError, match="is not an element of"):
        direct_sum(V, Elements(X)).vec((a,))
    assert (flat ** Fin.of(2)).vec((np.ones((2, 2)), a)).array[1].tolist() == [1.0, 2.0]
    for data in [(a, b, b), (a,), ((a, b), b), (b, a), (a, a)]:
        with pytest.raises(SpaceError, match="is not an element of"):
            flat.vec(data)
    with pytest.raises(SpaceError, match="is not an element of"):
        nested.vec((a, b, b))


def test_sums_keep_to_one_library() -> None:
    """v + w of two array libraries is refused, as v * w is."""
    V = R32 ** Fin.of(2)
    v, w = V.ones(), V.vec(jnp.ones(2, "float32"))
    sums: list[Callable[[], Any]] = [lambda: v + w, lambda: w - v, lambda: v * w]
    for mixed in sums:
        with pytest.raises(SpaceError, match="different array libraries"):
            mixed()
