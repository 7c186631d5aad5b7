"""Records: functions of them, gradients and linear maps."""

from __future__ import annotations

from adjoint import grad, jacobian, value_and_grad, vjp
from diff import Expr, fun, lift, tanh
from hilbert import Copower, Fin, Matrix, Part, R, Record, Scalar, Vector, direct_sum
from linmap import inject, project


class Pixel: ...


class Hidden: ...


class Sample: ...


class Layer(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Other(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Deep(Layer):
    scale: Part[Scalar]


class Net(Record):
    encoder: Part[Layer]
    stack: Part[Copower[Layer, Fin[Sample]]]
    offset: Part[Scalar]


pixel, hidden, sample = Fin(Pixel, 3), Fin(Hidden, 2), Fin(Sample, 5)
W, T, X, H = R ** (hidden * pixel), R ** (pixel * hidden), R**pixel, R**hidden
L, O = Layer(weights=W, bias=H), Other(weights=W, bias=H)
D = Deep(weights=W, bias=H, scale=R)
N = Net(encoder=L, stack=L**sample, offset=R)

model = fun(L, X)(lambda p, x: tanh(p[Layer.weights] @ x + p[Layer.bias]))
energy = fun(L)(lambda p: p[Layer.bias] @ p[Layer.bias])
pair = fun(L, direct_sum(X, R))(lambda p, s: s[1] * (p[Layer.weights] @ s[0]))


def bad_vector() -> None:
    """A function of a record takes no vector of another record."""
    model(O.zeros(), X.zeros())  # E: arg-type


def bad_direct_sum() -> None:
    """A function of a record takes no vector of the direct sum of its parts."""
    energy(direct_sum(W, H).zeros())  # E: arg-type


def bad_parts() -> None:
    """A function of a record takes one argument, not its parts."""
    energy(W.zeros(), H.zeros())  # E: call-overload


def bad_tuple() -> None:
    """A function of a record takes no tuple of its parts."""
    fun(W, H)(lambda w, b: energy((w, b)))  # E: call-overload


def bad_subclass() -> None:
    """A function of a record takes no vector of a subclass."""
    energy(D.zeros())  # E: arg-type


def bad_order() -> None:
    """Arguments stand in their order."""
    model(X.zeros(), L.zeros())  # E: arg-type


def bad_nested() -> None:
    """A function of a record takes no batch of records."""
    energy((L**sample).zeros())  # E: arg-type


def bad_annotation() -> None:
    """The body of a function has the record of its space."""
    @fun(O)  # E: arg-type
    def energy_of(p: Expr[Layer]) -> Expr[Scalar]:
        return p[Layer.bias] @ p[Layer.bias]


def bad_tuple_order() -> None:
    """A tuple is an argument where its items are the parts of a direct sum: in order."""
    pair(L.zeros(), (R.vec(1.0), X.zeros()))  # E: arg-type


def bad_tuple_short() -> None:
    """A tuple is an argument where its items are the parts of a direct sum: all of them."""
    pair(L.zeros(), (X.zeros(),))  # E: arg-type


def bad_matrix() -> None:
    """A tuple is an argument where its items are the parts of a direct sum: in a function, too."""
    fun(L, X)(lambda p, x: pair(p, (x, x)))  # E: arg-type


def bad_lifted() -> None:
    """Lifted functions share their parameters."""
    lift(model, sample)((L**sample).zeros(), (X**sample).zeros())  # E: arg-type


def bad_gradient_class() -> None:
    """The gradient of a function of a record is of its class."""
    O.zeros() - grad(energy)(L.zeros())  # E: operator


def bad_wrt_lens() -> None:
    """`wrt` takes a lens of the record."""
    grad(energy, Other.bias)  # E: misc


def bad_wrt_lenses() -> None:
    """`wrt` takes a lens of the record: each of several."""
    grad(energy, (Layer.bias, Other.weights))  # E: arg-type


def bad_wrt_position() -> None:
    """`wrt` takes lenses of a record, no positions."""
    grad(energy, 0)  # E: arg-type


def bad_value_and_grad() -> None:
    """`wrt` takes a lens of the record: also for the value and the gradient."""
    value_and_grad(energy, Other.bias)  # E: misc


def bad_vjp() -> None:
    """`wrt` takes a lens of the record: also for vjp."""
    vjp(energy, Other.bias)  # E: misc


def bad_gradient_part() -> None:
    """A gradient in a part is in the space of the part."""
    grad(energy, Layer.bias)(L.zeros()) + X.zeros()  # E: operator


def bad_gradient_parts() -> None:
    """A gradient in several parts has them in order."""
    grad(energy, (Layer.bias, Layer.weights))(L.zeros())[0] + W.zeros()  # E: operator


def bad_no_scalar() -> None:
    """A gradient is of a function with values in ℝ."""
    grad(fun(L)(lambda p: p[Layer.bias]), Layer.bias)  # E: index


def bad_project() -> None:
    """`project` takes a lens of the record."""
    project(L, Other.bias)  # E: misc


def bad_inject() -> None:
    """`inject` of a part takes a vector of the part."""
    inject(L, Layer.bias)(X.zeros())  # E: arg-type


def bad_wrt_text() -> None:
    """`wrt` is a lens, no string."""
    jacobian(energy, L.zeros(), wrt="bias")  # E: arg-type
