# ruff: noqa: ARG001, ARG005 - rules and values take their arguments by position
"""Operations of users: what follows from a value and a rule, and what is refused."""

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adjoint import NAMES, check, grad, hessian, jacobian
from diff import (
    again,
    cholesky,
    const,
    contract,
    cos,
    derivative,
    fold,
    fun,
    inner,
    jvp,
    lift,
    operation,
    pointfree,
    program,
    show,
    sin,
    where,
)
from hilbert import R32, Bool, Copower, Elements, Fin, Map, R, SpaceError, Vec, direct_sum
from linmap import cost, equal, structure

X, Y, Z = Fin.of(3), Fin.of(2), Fin.of(4)
V = R**X
rng = np.random.default_rng(0)
v, w = V.random(rng), V.random(rng)


def product(xp: Any, a: Any, b: Any) -> Any:
    """A value of two arguments."""
    return a * xp.sin(b)


def product_rule(a: Any, b: Any, y: Any, da: Any, db: Any) -> Any:
    """Its tangent."""
    return da * sin(b) + a * cos(b) * db


twisted: Any = operation("twisted", V, V, to=V, value=product, tangent=product_rule)
plain: Any = fun(V, V)(lambda a, b: a * sin(b))
slow: Any = operation("twisted slowly", V, V, to=V, value=product, tangent=product_rule, batched=False)
wide: Any = operation("twisted widely", V, V, to=V, value=product, tangent=product_rule, broadcasts=True)
both: Any = operation(
    "both",
    V,
    direct_sum(R, V),
    to=direct_sum(V, R),
    value=lambda xp, a, b: (a * b[0][..., None], xp.sum(a * b[1], axis=-1)),
    tangent=lambda a, b, y, da, db: (da * b[0] + a * db[0], inner(da, b[1]) + inner(a, db[1])),
)
both_plain: Any = fun(V, direct_sum(R, V))(lambda a, b: (a * b[0], inner(a, b[1])))


def same(f: Any, g: Any, *x: Vec[Any]) -> None:
    """Values, derivatives and second derivatives of two functions agree at a point."""
    point = f.dom.vec(x)
    for left, right, at in ((f, g, (point,)), (jvp(f), jvp(g), (point, point)), (grad_of(f), grad_of(g), (point,))):
        np.testing.assert_allclose(left(*at).flat(), right(*at).flat(), rtol=1e-13, atol=1e-13)


def grad_of(f: Any) -> Any:
    """The gradient of ‖f‖², which has a second derivative of f in its own."""
    return grad(fun.over(f.dom)(lambda *x: inner(y := f(*x), y)))


@pytest.mark.parametrize("f", [twisted, slow, wide], ids=["batched", "element by element", "broadcasting"])
def test_as_the_traced_function(f: Any) -> None:
    """Values, derivatives of both orders, Jacobian, Hessian; the checks hold."""
    same(f, plain, v, w)
    assert check(f, v, w)
    assert check(grad_of(f), v, w)
    np.testing.assert_allclose(jacobian(f, v, w), jacobian(plain, v, w), atol=1e-14)
    g, h = (fun(V, V)(lambda a, b, of=of: inner(of(a, b), a)) for of in (f, plain))  # type: ignore[misc]
    np.testing.assert_allclose(hessian(g, v, w), hessian(h, v, w), atol=1e-14)


@pytest.mark.parametrize("f", [twisted, slow, wide], ids=["batched", "element by element", "broadcasting"])
@pytest.mark.parametrize("over", [(0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("further", [None, (0,), (1,), (0, 1)], ids=str)
def test_lifted(f: Any, over: tuple[int, ...], further: tuple[int, ...] | None) -> None:
    """Under one and two lifts, in every choice of arguments."""
    pair: list[Any] = [lift(f, Y, over=over), lift(plain, Y, over=over)]
    if further:
        pair = [lift(g, Z, over=further) for g in pair]
    x = [part.random(rng) for part in pair[0].dom.parts]
    same(*pair, *x)
    assert check(pair[0], *x)


@pytest.mark.parametrize("over", [(0,), (1,), (0, 1)], ids=str)
def test_several_results(over: tuple[int, ...]) -> None:
    """Of a direct sum, on a direct sum: the tuple tree of arrays."""
    x = (v, direct_sum(R, V).random(rng))
    same(both, both_plain, *x)
    pair: list[Any] = [lift(f, Y, over=over) for f in (both, both_plain)]
    same(*pair, *(part.random(rng) for part in pair[0].dom.parts))
    first: Any = fun(V, direct_sum(R, V))(lambda a, b: both(a, b)[0])
    assert check(first, *x)


def test_in_a_loop() -> None:
    """A step of a loop may be one."""
    f: Any = fun(V, V**Z)(lambda s, xs: fold(lambda s, x: twisted(s, x), s, xs))  # noqa: PLW0108
    g: Any = fun(V, V**Z)(lambda s, xs: fold(lambda s, x: plain(s, x), s, xs))  # noqa: PLW0108
    same(f, g, v, (V**Z).random(rng))


def test_other_libraries() -> None:
    """The value is computed in the arguments' library, also inside jit."""
    expected = grad_of(plain)(v, w).flat()
    given = [V.vec(array_api_strict.asarray(np.asarray(x.array))) for x in (v, w)]
    np.testing.assert_allclose(np.asarray(grad_of(twisted)(*given).flat()), expected, rtol=1e-14)
    with jax.enable_x64(True):  # noqa: FBT003
        found = jax.jit(lambda a, b: grad_of(twisted)(V.vec(a), V.vec(b)).flat())(*map(jnp.asarray, (v.array, w.array)))
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_discrete_arguments_and_results() -> None:
    """The tangent of a discrete argument is None; a discrete result has none."""
    pick: Any = operation(
        "picked",
        V,
        Elements(X),
        to=R,
        value=lambda xp, a, i: xp.take_along_axis(a, i[..., None], axis=-1)[..., 0],
        tangent=lambda a, i, y, da, di: da[i] if di is None else y,
    )
    f: Any = fun(V, Elements(X))(lambda a, i: pick(a * a, i))
    i = Elements(X).vec(1)
    np.testing.assert_allclose(jacobian(f, v, i), [[0.0, 2 * v.array[1], 0.0]])
    positive: Any = operation("positive", V, to=Bool**X, value=lambda xp, a: a > 0.0)
    g: Any = fun(V)(lambda a: (positive(a), a))
    assert positive(v).array.tolist() == (v.array > 0).tolist()
    assert check(g, v)


@pytest.mark.parametrize("over", [(0,), (1,), (0, 1)], ids=str)
def test_lifted_beside_a_discrete_argument(over: tuple[int, ...]) -> None:
    """The axes of a tangent are those of its argument, which stands behind one that has none."""
    pick: Any = operation(
        "picked behind",
        Elements(X),
        V,
        to=R,
        value=lambda xp, i, a: xp.take_along_axis(a, i[..., None], axis=-1)[..., 0],
        tangent=lambda i, a, y, di, da: da[i],
    )
    f: Any = lift(fun(Elements(X), V)(lambda i, a: pick(i, a * a)), Z, over=over)
    g: Any = lift(fun(Elements(X), V)(lambda i, a: (a * a)[i]), Z, over=over)
    i = (Elements(X) ** Z).vec(np.array([0, 2, 1, 2])) if 0 in over else Elements(X).vec(2)
    a = (V**Z).random(rng) if 1 in over else v
    np.testing.assert_allclose(jacobian(f, i, a), jacobian(g, i, a))


@pytest.mark.parametrize("asarray", [np.asarray, array_api_strict.asarray])
def test_elements_are_arrays(asarray: Any) -> None:
    """Of one element of the axes in front, too, and of a number: arrays of the library, without axes."""
    given: list[Any] = []

    def value(xp: Any, a: Any, k: Any) -> Any:
        given.extend((a, k))
        return a * k

    f: Any = lift(operation("one by one", V, R, to=V, value=value, batched=False), Z, over=(0, 1))
    a, k = (V**Z).random(rng), (R**Z).random(rng)
    found = f((V**Z).vec(asarray(a.array)), (R**Z).vec(asarray(k.array)))
    np.testing.assert_allclose(np.asarray(found.array), a.array * k.array[:, None])
    assert {(type(x), x.shape) for x in given} == {(type(asarray(0.0)), (3,)), (type(asarray(0.0)), ())}


def test_single_precision() -> None:
    """It stays single."""
    f: Any = operation("halved", R32**X, to=R32**X, value=lambda xp, a: a / 2, tangent=lambda a, y, da: 0.5 * da)
    x = (R32**X).vec(np.array([1, 2, 3], np.float32))
    assert f(x).array.dtype == np.float32
    assert check(f, x)


def test_texts_and_comparisons() -> None:
    """It prints by its name, its repr and its pickle give it back, and equal operations are equal."""
    f: Any = fun(V, V)(lambda a, b: twisted(2.0 * a, b) + b)
    assert str(f) == "(a, b) ↦ twisted(2·a, b) + b"
    assert str(program(lift(f, Y, over=(1,)))) == "(a, b) ↦ u₁ + b\n  where u₁ = [i, j] ↦ twisted(2·a[·], b[i, ·])[j]"
    assert eval(repr(f), NAMES) == f  # noqa: S307
    assert pickle.loads(pickle.dumps(f)) == f
    assert equal(f, fun(V, V)(lambda a, b: b + twisted(2.0 * a, b)))
    assert not equal(f, fun(V, V)(lambda a, b: b + slow(2.0 * a, b)))
    assert equal(program(pointfree(f)), f)
    assert str(structure(derivative(f))) == "[diagonal, diagonal]"
    assert str(cost(f)).startswith("written")
    assert show(derivative(f)) == "(· sin b)•(2 ·)•π₁ + (2·a·cos b ·)•π₂ + π₂"


def test_a_new_operation_of_a_name() -> None:
    """A name may be given again, as when a cell of a notebook runs twice; the first is no longer pickled by it."""

    def times(k: int) -> Map[Copower[Any, Any], Any]:
        return operation("again", V, to=V, value=lambda xp, a: k * a, tangent=lambda a, y, da: k * da)

    first, second = times(2), times(3)
    assert first(v).array.tolist() == (2 * v.array).tolist()
    assert second(v).array.tolist() == (3 * v.array).tolist()
    assert pickle.loads(pickle.dumps(second)) == second
    with pytest.raises(SpaceError, match="is now that of another"):
        pickle.dumps(first)


Wrong = Callable[..., Any]
TANGENTS: list[tuple[Wrong, str]] = [
    (lambda a, b, y, da, db: da * db, "not linear in the tangents: two of them are multiplied"),
    (lambda a, b, y, da, db: da * da + db, "not linear"),
    (lambda a, b, y, da, db: a / db, "not linear in the tangents: divide is applied to one"),
    (lambda a, b, y, da, db: sin(da), "not linear in the tangents: sin is applied to one"),
    (lambda a, b, y, da, db: again(lambda u: 2.0 * u, da), "a loop, a condition or an equation takes one"),
    (lambda a, b, y, da, db: da + db + V.ones(), r"a constant of ℝ\^3, which does not depend on them, is added"),
    (lambda a, b, y, da, db: da + a, "an argument of ℝ\\^3, which does not depend on them, is added"),
    (lambda a, b, y, da, db: a * b, "does not depend on the tangents, and is not 0"),
    (lambda a, b, y, da, db: da.sum(), "an expression of ℝ, where an expression of ℝ\\^3 is due"),
    (lambda a, b, y, da, db: 1.0, "is 1.0, where an expression of ℝ\\^3 is due"),
    (lambda a, b, y, da, db: None, "is None, where"),
    (lambda a, b, y, da, db: (da, db), "ℝ\\^3 ⊕ ℝ\\^3, where an expression of ℝ\\^3 is due"),
]
VALUES: list[tuple[Wrong, str]] = [
    (lambda xp, a, b: np.ma.masked_less(a * b, 1.0), "is a masked array of shape \\(3,\\): fill it first"),
    (lambda xp, a, b: xp.sum(a), "where an array of shape \\(3,\\) and dtype float64 is due"),
    (lambda xp, a, b: a.astype("float32"), "float32, where"),
    (lambda xp, a, b: (a, b), "is no element of ℝ\\^3|where an array"),
    (lambda xp, a, b: None, "None, where"),
]


@pytest.mark.parametrize(("tangent", "message"), TANGENTS)
def test_wrong_tangents(tangent: Wrong, message: str) -> None:
    """A rule that is not linear, or not in its space, is refused when a derivative is first taken."""
    f = operation("wrong tangent", V, V, to=V, value=product, tangent=tangent)
    assert f(v, w).space == V
    with pytest.raises(SpaceError, match=message):
        derivative(f)


def test_a_part_of_a_tangent_is_an_expression() -> None:
    """The rule of a result in a direct sum gives a tuple of expressions: a number among them is refused."""
    f = operation(
        "half", V, to=direct_sum(V, R), value=lambda xp, a: (a, a[..., 0]), tangent=lambda a, y, da: (da, 1.0)
    )
    with pytest.raises(
        SpaceError, match=r"the tangent of operation half is .*, where an expression of ℝ\^3 ⊕ ℝ is due"
    ):
        derivative(f)


def test_functions_of_other_arguments() -> None:
    """value(xp, x, …) and tangent(x, …, y, dx, …): functions of so many arguments, when the operation is made."""
    two: Any = lambda x, dx: dx  # noqa: E731 - what users write
    with pytest.raises(SpaceError, match=r"^the tangent of operation two takes \(x, y, dx\), not \(x, dx\)$"):
        operation("two", V, to=V, value=lambda _, x: x, tangent=two)
    with pytest.raises(SpaceError, match=r"^the value of operation two takes \(xp, x1, x2\), not \(x, dx\)$"):
        operation("two", V, V, to=V, value=two)
    last: Any = lambda *xs: xs[-1]  # noqa: E731
    assert operation("last", V, V, to=V, value=last, tangent=last)(v, w).array.tolist() == w.array.tolist()


@pytest.mark.parametrize(("value", "message"), VALUES)
def test_wrong_values(value: Wrong, message: str) -> None:
    """A value of another shape or dtype is refused when it is computed."""
    f = operation("wrong value", V, V, to=V, value=value, tangent=product_rule)
    with pytest.raises(SpaceError, match=message):
        f(v, w)


def test_refused() -> None:
    """What is no operation; one without a derivative; one that writes into its argument."""
    untyped: Any = operation
    name: Any = 3
    with pytest.raises(SpaceError, match="takes a name, spaces, functions"):
        untyped(name, V, to=V, value=product)
    with pytest.raises(SpaceError, match="takes a name, spaces, functions"):
        untyped("none", to=V, value=product)
    number: Any = 3
    with pytest.raises(SpaceError):
        untyped("no space", number, to=V, value=product)
    bare = operation("bare", V, to=V, value=lambda xp, a: a)
    with pytest.raises(SpaceError, match="bare has no derivative: give it tangent="):
        derivative(bare)

    def writing(xp: Any, a: Any) -> Any:
        a += 1
        return a

    with pytest.raises(ValueError, match="read-only"):
        operation("writing", V, to=V, value=writing)(v)


def test_shared_arguments_have_size_one() -> None:
    """An operation that broadcasts is given what is shared once; others are given it repeated."""
    seen: list[tuple[Any, ...]] = []

    def value(xp: Any, a: Any, b: Any) -> Any:
        seen.append((a.shape, b.shape))
        return a * b

    for broadcasts, due in ((True, ((1, 3), (2, 3))), (False, ((2, 3), (2, 3)))):
        f = operation("seen", V, V, to=V, value=value, broadcasts=broadcasts)
        lift(f, Y, over=(1,))(v, (V**Y).random(rng))
        assert seen[-1] == due


def test_zero_tangents() -> None:
    """A rule may be 0, and 0 of some results; contractions of labels are linear."""
    flat: Any = operation("floor", V, to=V, value=lambda xp, a: xp.floor(a), tangent=lambda a, y, da: 0.0)
    np.testing.assert_array_equal(jacobian(flat, v), np.zeros((3, 3)))
    gram: Any = operation(
        "gram",
        V,
        to=R ** (X * X),
        value=lambda xp, a: a[..., :, None] * a[..., None, :],
        tangent=lambda a, y, da: contract("i,j->ij", a, da) + contract("i,j->ij", da, a),
    )
    assert check(gram, v)
    assert check(lift(fun(V, V)(lambda a, b: gram(a) @ b), Z, over=(0,)), (V**Z).random(rng), v)


def test_sizes() -> None:
    """Empty arguments, and empty axes in front."""
    for n, m in itertools.product((0, 1), (0, 1, 2)):
        space = R ** Fin.of(n)
        f = operation("sized", space, to=space, value=lambda xp, a: 2 * a, tangent=lambda a, y, da: 2.0 * da)
        for g in (f, operation("sized", space, to=space, value=lambda xp, a: 2 * a, batched=False)):
            x = (space ** Fin.of(m)).random(rng)
            np.testing.assert_array_equal((g ** Fin.of(m))(x).array, 2 * x.array)


def test_a_value_that_forgets_the_axes_in_front_is_told_so() -> None:
    """Only where it is lifted; an error inside of a value names the operation."""
    summed: Any = operation("summed", V, to=R, value=lambda xp, x: xp.sum(x), tangent=lambda x, y, dx: dx.sum())
    assert summed(V.ones()).array == 3.0
    with pytest.raises(SpaceError, match="1 of the axes stand in front: write axis=-1 for the last, or batched=False"):
        (summed**Y)((V**Y).ones())
    shaped: Any = operation("shaped", V, to=V, value=lambda xp, x: xp.reshape(x, (5,)), tangent=lambda x, y, dx: dx)
    with pytest.raises(ValueError, match="reshape") as caught:
        shaped(V.ones())
    assert "in the value of operation shaped" in "".join(caught.value.__notes__)


def test_a_wrong_tangent_is_told_with_its_line() -> None:
    """Of another space, with an error in it, and one that is not linear: where it was written."""

    def summed(x: Any, y: Any, dx: Any) -> Any:
        return dx.sum()  # in another space

    def transposed(x: Any, y: Any, dx: Any) -> Any:
        return dx @ dx.T  # an error

    rules = {
        "where an expression of .* is due": (summed, "return dx.sum()  # in another space"),
        "transposes": (transposed, "return dx @ dx.T  # an error"),
        "not linear": (lambda x, y, dx: dx * dx, "lambda x, y, dx: dx * dx"),
    }
    for message, (rule, line) in rules.items():
        f: Any = operation("doubled wrongly", V, to=V, value=lambda xp, x: 2 * x, tangent=rule)
        with pytest.raises(SpaceError, match=message) as caught:
            derivative(f)
        assert f"at {__file__}:" in str(caught.value)
        assert line in str(caught.value)


def test_an_operation_of_constants_runs_where_it_is_due() -> None:
    """Code of the user is called where a branch is taken, at each call, and not when a program is made."""
    called: list[float] = []

    def value(_: Any, x: Any) -> Any:
        called.append(float(x))
        return 2.0 * x

    twice: Any = operation("twice, and says so", R, to=R, value=value)
    f: Any = fun(R)(lambda x: where(x > 0.0, lambda: x, lambda: twice(const(R.vec(3.0)))))
    assert [float(f(R.vec(x))) for x in (1.0, 2.0, -1.0, -2.0)] == [1.0, 2.0, 6.0, 6.0]
    assert called == [3.0, 3.0]


def test_library_operations_of_constants_fail_where_they_are_due() -> None:
    """A matrix that has no Cholesky factor matters in the branch that is taken."""
    X = Fin.of(2)
    wrong = (R ** (X * X)).vec([[1.0, 2.0], [2.0, 1.0]])
    f: Any = fun(R)(lambda x: where(x > 0.0, lambda: x, lambda: x * cholesky(const(wrong))[0, 0]))
    assert float(f(R.vec(2.0))) == 2.0
    with pytest.raises(SpaceError, match="cholesky"):
        f(R.vec(-2.0))
