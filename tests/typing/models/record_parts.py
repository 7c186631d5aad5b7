"""Records in typed models, I: declaring them, their spaces, lenses, parts of vectors and of expressions.

Each function is a model by itself; the revealed types are golden.
"""

from __future__ import annotations

from typing import ClassVar, reveal_type

import numpy as np

from diff import Expr, fun, inner, select, sin, tanh
from hilbert import R32, Copower, Elements, Fin, Lens, Matrix, Part, R, Record, Scalar, Vec, Vector, direct_sum


class Pixel: ...


class Hidden: ...


class Depth: ...


class Sample: ...


class Layer(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Scaled(Layer):
    scale: Part[Scalar]


class Net(Record):
    encoder: Part[Layer]
    stack: Part[Copower[Layer, Fin[Depth]]]
    offset: Part[Scalar]


class Labelled(Record):
    image: Part[Vector[Pixel]]
    label: Part[Elements[Fin[Hidden]]]


class State(Record):
    """A record with what is no part."""

    unit: ClassVar[str] = "m/s"
    position: Part[Vector[Pixel]]
    speed: Part[Vector[Pixel]]

    def moving(self) -> bool:
        return self.dim > 0


pixel, hidden, depth, sample = Fin(Pixel, 3), Fin(Hidden, 2), Fin(Depth, 4), Fin(Sample, 5)
L = Layer(weights=R ** (hidden * pixel), bias=R**hidden)
S = Scaled(weights=L.weights, bias=L.bias, scale=R)
N = Net(encoder=L, stack=L**depth, offset=R)
D = Labelled(image=R**pixel, label=Elements(hidden))
T = State(position=R**pixel, speed=R**pixel)
rng = np.random.default_rng(0)


def model_a_lens_and_a_space() -> None:
    reveal_type(Layer.weights)  # N: Lens[Layer, Matrix[Hidden, Pixel]]
    reveal_type(L.weights)  # N: Matrix[Hidden, Pixel]
    reveal_type(L)  # N: Layer
    reveal_type(L.dim)  # N: int


def model_parts_of_a_vector() -> None:
    p = L.random(rng)
    reveal_type(p)  # N: Vec[Layer]
    reveal_type(p[Layer.weights])  # N: Vec[Matrix[Hidden, Pixel]]
    reveal_type(p[Layer.weights].T @ p[Layer.bias])  # N: Vec[Vector[Pixel]]


def model_parts_of_an_expression() -> None:
    layer = fun(L, R**pixel)(lambda p, x: tanh(p[Layer.weights] @ x + p[Layer.bias]))
    reveal_type(layer)  # N: Map[DirectSum[Layer, Vector[Pixel]], Vector[Hidden]]
    reveal_type(layer(L.zeros(), (R**pixel).ones()))  # N: Vec[Vector[Hidden]]


def model_an_annotated_function() -> None:
    @fun(L, R**pixel)
    def score(p: Expr[Layer], x: Expr[Vector[Pixel]]) -> Expr[Scalar]:
        h = p[Layer.weights] @ x
        reveal_type(h)  # N: Expr[Vector[Hidden]]
        return h @ p[Layer.bias]

    reveal_type(score)  # N: Map[DirectSum[Layer, Vector[Pixel]], Field]


def model_nested_records() -> None:
    n = N.zeros()
    reveal_type(N.encoder.bias)  # N: Vector[Hidden]
    reveal_type(n[Net.encoder])  # N: Vec[Layer]
    reveal_type(n[Net.encoder][Layer.bias])  # N: Vec[Vector[Hidden]]


def model_lenses_compose() -> None:
    reveal_type(Net.encoder / Layer.bias)  # N: Lens[Net, Vector[Hidden]]
    reveal_type(N.zeros()[Net.encoder / Layer.bias])  # N: Vec[Vector[Hidden]]
    reveal_type(fun(N)(lambda n: sin(n[Net.encoder / Layer.bias])))  # N: Map[Net, Vector[Hidden]]


def model_a_stack_of_layers() -> None:
    reveal_type(N.stack)  # N: Copower[Layer, Fin[Depth]]
    reveal_type(Net.stack / Layer.bias)  # N: Lens[Net, Copower[Vector[Hidden], Fin[Depth]]]
    reveal_type(N.zeros()[Net.stack / Layer.bias])  # N: Vec[Copower[Vector[Hidden], Fin[Depth]]]
    reveal_type(N.zeros()[Net.stack][Layer.bias][0])  # N: Vec[Vector[Hidden]]
    reveal_type(N.zeros()[Net.stack][1])  # N: Vec[Layer]


def model_copowers() -> None:
    batch = (D**sample).random(rng)
    reveal_type(batch[Labelled.image])  # N: Vec[Copower[Vector[Pixel], Fin[Sample]]]
    reveal_type(batch[Labelled.label])  # N: Vec[Copower[Elements[Fin[Hidden]], Fin[Sample]]]
    reveal_type(((L**depth) ** sample).zeros()[Layer.bias])  # N: Vec[Copower[Copower[Vector[Hidden], Fin[Depth]], Fin[Sample]]]
    biases = fun((L**depth) ** sample)(lambda z: z[Layer.bias])
    reveal_type(biases)  # N: Map[Copower[Copower[Layer, Fin[Depth]], Fin[Sample]], Copower[Copower[Vector[Hidden], Fin[Depth]], Fin[Sample]]]
    reveal_type(fun(D**sample)(lambda d: d[Labelled.image].sum()))  # N: Map[Copower[Labelled, Fin[Sample]], Field]


def model_a_subclass_has_the_parts_of_its_base() -> None:
    s = S.zeros()
    reveal_type(s[Layer.weights])  # N: Vec[Matrix[Hidden, Pixel]]
    reveal_type(s[Scaled.weights])  # N: Vec[Matrix[Hidden, Pixel]]
    reveal_type(s[Scaled.scale])  # N: Vec[Field]
    reveal_type(Scaled.weights)  # N: Lens[Scaled, Matrix[Hidden, Pixel]]


def model_a_discrete_part() -> None:
    loss = fun(L, D)(lambda p, d: (p[Layer.weights] @ d[Labelled.image])[d[Labelled.label]])
    reveal_type(loss)  # N: Map[DirectSum[Layer, Labelled], Field]
    reveal_type(D.label)  # N: Elements[Fin[Hidden]]


def model_what_is_no_part() -> None:
    reveal_type(State.unit)  # N: str
    reveal_type(T.moving())  # N: bool
    reveal_type(T.zeros()[State.speed])  # N: Vec[Vector[Pixel]]


def model_a_lens_in_a_variable() -> None:
    chosen: Lens[Layer, Vector[Hidden]] = Layer.bias
    reveal_type(S.zeros()[chosen])  # N: Vec[Vector[Hidden]]


def model_a_function_of_a_lens() -> None:
    def norm_of(p: Vec[Layer], lens: Lens[Layer, Vector[Hidden]]) -> float:
        return p[lens].norm()

    reveal_type(norm_of(L.ones(), Layer.bias))  # N: float


def model_vectors_of_a_record_add() -> None:
    p = L.random(rng)
    reveal_type(p - 0.1 * p + L.ones() / 2.0)  # N: Vec[Layer]
    reveal_type(p.inner(p))  # N: float
    reveal_type(fun(L, R)(lambda q, k: k * q + q * q))  # N: Map[DirectSum[Layer, Field], Layer]
    reveal_type(fun(L)(lambda q: inner(q, q)))  # N: Map[Layer, Field]


def model_records_in_sums_and_products() -> None:
    both = direct_sum(L, N)
    reveal_type(both.zeros()[0])  # N: Vec[Layer]
    reveal_type(both.zeros()[1][Net.encoder])  # N: Vec[Layer]
    reveal_type(L * L)  # N: TensorProduct[Layer, Layer]


def model_single_precision() -> None:
    single = Layer(weights=R32 ** (hidden * pixel), bias=R32**hidden)
    reveal_type(single.zeros()[Layer.bias])  # N: Vec[Vector[Hidden]]


def model_a_mask() -> None:
    positive = fun(L)(lambda p: select(p[Layer.bias] > 0.0, p[Layer.bias]))
    reveal_type(positive)  # N: Map[Layer, Vector[Hidden]]


def main() -> None:
    for name, model in list(globals().items()):
        if name.startswith("model_"):
            model()
