"""Records in typed models, II: building them, functions of them, gradients, and what is done to all leaves.

Each function is a model by itself; the revealed types are golden.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import reveal_type

import numpy as np

from adjoint import adjoint, grad, hessian, jacobian, value_and_grad, vjp
from diff import Expr, derivative, entry, fun, lift, made, sin, tanh
from hilbert import (
    Copower,
    Elements,
    Fin,
    Matrix,
    Part,
    R,
    Record,
    Scalar,
    Vec,
    Vector,
    direct_sum,
    fan_in,
    initial,
    load,
    save,
)
from linmap import inject, pack, project, unpack


class Pixel: ...


class Hidden: ...


class Step: ...


class Sample: ...


class Layer(Record):
    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Deep(Layer):
    readout: Part[Vector[Hidden]]
    scale: Part[Scalar]


class Net(Record):
    encoder: Part[Layer]
    offset: Part[Scalar]


class Labelled(Record):
    image: Part[Vector[Pixel]]
    label: Part[Elements[Fin[Hidden]]]


class State(Record):
    position: Part[Scalar]
    speed: Part[Scalar]


pixel, hidden, sample = Fin(Pixel, 3), Fin(Hidden, 2), Fin(Sample, 5)
W, X, H = R ** (hidden * pixel), R**pixel, R**hidden
L = Layer(weights=W, bias=H)
P = Deep(weights=W, bias=H, readout=H, scale=R)
N = Net(encoder=L, offset=R)
D = Labelled(image=X, label=Elements(hidden))
S = State(position=R, speed=R)
rng = np.random.default_rng(0)
p, q = P.random(rng), P.random(rng)
model = fun(P, X)(lambda p, x: p[Deep.scale] * (tanh(p[Layer.weights] @ x + p[Layer.bias]) @ p[Deep.readout]))
energy = fun(P)(lambda p: model(p, X.ones()))
classify = fun(P, direct_sum(X, Elements(hidden)))(lambda p, s: (p[Deep.weights] @ s[0])[s[1]])


def model_of() -> None:
    reveal_type(L.of(weights=W.zeros(), bias=[1.0, 2.0]))  # N: Vec[Layer]
    reveal_type(N.of(encoder=L.zeros(), offset=1.0))  # N: Vec[Net]


def model_made_of_vectors() -> None:
    reveal_type(made(L, entry(Layer.weights, W.zeros()), entry(Layer.bias, H.ones())))  # N: Vec[Layer]
    reveal_type(made(S, entry(State.speed, R.vec(1.0)), entry(State.position, R.vec(0.0))))  # N: Vec[State]


def model_made_of_expressions() -> None:
    @fun(S, R)
    def step(s: Expr[State], dt: Expr[Scalar]) -> Expr[State]:
        speed = s[State.speed] - dt * sin(s[State.position])
        return made(S, entry(State.position, s[State.position] + dt * speed), entry(State.speed, speed))

    reveal_type(step)  # N: Map[DirectSum[State, Field], State]


def model_made_of_both() -> None:
    f = fun(H)(lambda b: made(L, entry(Layer.weights, W.ones()), entry(Layer.bias, 2.0 * b)))
    reveal_type(f)  # N: Map[Vector[Hidden], Layer]
    g = fun(H)(lambda b: made(N, entry(Net.encoder / Layer.weights, W.ones()), entry(Net.encoder / Layer.bias, b), entry(Net.offset, R.vec(1.0))))
    reveal_type(g)  # N: Map[Vector[Hidden], Net]


def model_made_with_lenses_of_a_base() -> None:
    made_of = made(P, entry(Layer.weights, W.ones()), entry(Layer.bias, H.ones()), entry(Deep.readout, H.ones()), entry(Deep.scale, R.vec(2.0)))
    reveal_type(made_of)  # N: Vec[Deep]


def model_replace() -> None:
    reveal_type(p.replace(Deep.bias, H.zeros()))  # N: Vec[Deep]
    reveal_type(p.replace(Layer.bias, H.zeros()))  # N: Vec[Deep]
    reveal_type(fun(P)(lambda p: p.replace(Deep.scale, 2.0 * p[Deep.scale])))  # N: Map[Deep, Deep]
    reveal_type((L**sample).zeros().replace(Layer.bias, (H**sample).ones()))  # N: Vec[Copower[Layer, Fin[Sample]]]
    reveal_type(fun(L**sample, H**sample)(lambda ls, b: ls.replace(Layer.bias, b)))  # N: Map[DirectSum[Copower[Layer, Fin[Sample]], Copower[Vector[Hidden], Fin[Sample]]], Copower[Layer, Fin[Sample]]]


def model_the_gradient_is_of_the_same_class() -> None:
    reveal_type(grad(energy))  # N: Map[Deep, Deep]
    reveal_type(p - 0.1 * grad(energy)(p))  # N: Vec[Deep]
    reveal_type(grad(energy)(p)[Deep.weights])  # N: Vec[Matrix[Hidden, Pixel]]
    reveal_type(grad(model, 0))  # N: Map[DirectSum[Deep, Vector[Pixel]], Deep]


def model_a_gradient_in_one_part() -> None:
    reveal_type(grad(energy, Deep.readout))  # N: Map[Deep, Vector[Hidden]]
    reveal_type(grad(energy, Layer.weights)(p))  # N: Vec[Matrix[Hidden, Pixel]]
    reveal_type(value_and_grad(energy, Deep.scale))  # N: Map[Deep, DirectSum[Field, Field]]
    reveal_type(vjp(energy, Deep.bias)(p, R.vec(1.0)))  # N: Vec[Vector[Hidden]]


def model_a_gradient_in_several_parts() -> None:
    reveal_type(grad(energy, (Deep.readout, Layer.weights)))  # N: Map[Deep, DirectSum[Vector[Hidden], Matrix[Hidden, Pixel]]]
    reveal_type(grad(energy, (Deep.readout, Deep.scale, Deep.bias)))  # N: Map[Deep, DirectSum[Vector[Hidden], Field, Vector[Hidden]]]
    reveal_type(value_and_grad(energy, (Deep.scale, Deep.bias)))  # N: Map[Deep, DirectSum[Field, DirectSum[Field, Vector[Hidden]]]]
    reveal_type(value_and_grad(energy, (Deep.scale, Deep.bias, Deep.readout))(p)[1][2])  # N: Vec[Vector[Hidden]]


def model_matrices_in_some_parts() -> None:
    assert jacobian(energy, p, wrt=Deep.readout).shape == (1, 2)
    assert hessian(energy, p, wrt=(Deep.readout, Deep.scale)).shape == (3, 3)
    reveal_type(derivative(energy)(p))  # N: LinMap[Deep, Field]
    reveal_type(adjoint(derivative(energy)))  # N: Linearization[Deep, Field, Deep]


def model_linear_maps_of_a_record() -> None:
    reveal_type(project(N, Net.encoder / Layer.bias))  # N: LinMap[Net, Vector[Hidden]]
    reveal_type(inject(P, Layer.bias)(H.ones()))  # N: Vec[Deep]
    reveal_type(pack(L))  # N: LinMap[DirectSum[*tuple[Any, ...]], Layer]
    reveal_type(unpack(L))  # N: LinMap[Layer, DirectSum[*tuple[Any, ...]]]


def model_lifted_with_shared_parameters() -> None:
    many = lift(model, sample)
    reveal_type(many)  # N: Map[DirectSum[Deep, Copower[Vector[Pixel], Fin[Sample]]], Vector[Sample]]
    mean = fun(P, X**sample)(lambda p, xs: many(p, xs).mean())
    reveal_type(value_and_grad(mean, 0)(p, (X**sample).ones()))  # N: Vec[DirectSum[Field, Deep]]


def model_lifted_over_a_batch_of_records() -> None:
    loss = fun(L, D)(lambda l, d: (l[Layer.weights] @ d[Labelled.image])[d[Labelled.label]])
    reveal_type(lift(loss, sample))  # N: Map[DirectSum[Layer, Copower[Labelled, Fin[Sample]]], Vector[Sample]]
    reveal_type(lift(loss, sample)(L.zeros(), (D**sample).random(rng)))  # N: Vec[Vector[Sample]]


def model_tuples_as_arguments() -> None:
    reveal_type(classify(p, (X.ones(), Elements(hidden).vec(1))))  # N: Vec[Field]
    label = Elements(hidden).vec(0)
    reveal_type(fun(P, X)(lambda p, x: classify(p, (x, label))))  # N: Map[DirectSum[Deep, Vector[Pixel]], Field]
    reveal_type(model((p, X.ones())))  # N: Vec[Field]
    reveal_type(fun(P)(lambda p: model((p, X.ones()))))  # N: Map[Deep, Field]
    triple = fun(R, direct_sum(R, R, R))(lambda k, v: k * (v[0] + v[1] * v[2]))
    one = R.vec(1.0)
    reveal_type(triple(one, (one, one, one)))  # N: Vec[Field]
    reveal_type(fun(R)(lambda k: triple(k, (k, one, k))))  # N: Map[Field, Field]


def model_leaf_by_leaf() -> None:
    def decayed(path: str, v: Vec[Copower[Scalar, Fin[Pixel]]]) -> Vec[Copower[Scalar, Fin[Pixel]]]:
        return v if path.endswith("bias") else 0.9 * v

    reveal_type(p.map_leaves(decayed))  # N: Vec[Deep]
    reveal_type(fun(P)(lambda p: p.map_leaves(lambda path, x: tanh(x))))  # N: Map[Deep, Deep]


def model_initial_values_and_files() -> None:
    start = initial(P, rng)
    reveal_type(start)  # N: Vec[Deep]
    reveal_type(initial(N, rng, lambda path, V, rng: V.ones() if path == "offset" else fan_in(path, V, rng)))  # N: Vec[Net]
    with tempfile.TemporaryDirectory() as folder:
        save(start, Path(folder) / "start.npz")
        reveal_type(load(P, Path(folder) / "start.npz"))  # N: Vec[Deep]


def main() -> None:
    for name, one in list(globals().items()):
        if name.startswith("model_"):
            one()
