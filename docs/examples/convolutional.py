"""A convolutional network on handwritten digits: two convolutions, the second one by steps of two, and a dense layer.

The data are the 1,797 digits of 8×8 pixels that ship with scikit-learn (UCI, CC BY 4.0); every fifth of them is held
out.

    python docs/examples/convolutional.py
"""

# scikit-learn ships no types
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import load_digits

import hilbert.all as hb


class Row(hb.Axis, size=8):
    """The eight rows of an image."""


class Column(hb.Axis, size=8):
    """Its columns."""


class Down(hb.Axis, size=3):
    """The rows of a window."""


class Across(hb.Axis, size=3):
    """Its columns."""


class Grey(hb.Axis, size=1):
    """The one channel of an image."""


class Edge(hb.Axis, size=8):
    """The channels after the first convolution."""


class Stroke(hb.Axis, size=16):
    """Those after the second."""


class Digit(hb.Axis, size=10):
    """The ten classes."""


class Batch(hb.Axis, size=32):
    """The images of a mini-batch."""


Grid: TypeAlias = hb.Product[hb.Fin[Row], hb.Fin[Column]]
Window: TypeAlias = hb.Product[hb.Fin[Down], hb.Fin[Across]]
Image: TypeAlias = hb.Copower[hb.Field, hb.Product[Grid, hb.Fin[Grey]]]


class Params(hb.Record):
    """Two kernels with biases, and a matrix from all places and strokes to the digits."""

    edges: hb.Part[hb.Copower[hb.Field, hb.Product[hb.Product[Window, hb.Fin[Grey]], hb.Fin[Edge]]]]
    edge_bias: hb.Part[hb.Vector[Edge]]
    strokes: hb.Part[hb.Copower[hb.Field, hb.Product[hb.Product[Window, hb.Fin[Edge]], hb.Fin[Stroke]]]]
    stroke_bias: hb.Part[hb.Vector[Stroke]]
    dense: hb.Part[hb.Copower[hb.Field, hb.Product[hb.Fin[Digit], hb.Product[Grid, hb.Fin[Stroke]]]]]
    bias: hb.Part[hb.Vector[Digit]]


class Labelled(hb.Record):
    """An image and the digit that it shows."""

    image: hb.Part[Image]
    label: hb.Part[hb.Elements[hb.Fin[Digit]]]


coarse, edge, stroke, batch = Row.of(4) * Column.of(4), Edge.set, Stroke.set, Batch.set
Sample, P = Labelled.space(), Params.space(Row=4, Column=4)  # those of the dense layer, the only places in it
Input = Sample.image


# --- the model ---


@hb.fun(P, Input)
def network(p: hb.Expr[Params], x: hb.Expr[Image]) -> hb.Expr[hb.Vector[Digit]]:
    """8×8 grey pixels → 8×8 places of edges → 4×4 places of strokes → ten scores."""
    h = hb.conv(x, p[Params.edges], padding="same")
    h = hb.relu(h + p[Params.edge_bias].rep(h.space))
    g = hb.conv(h, p[Params.strokes], stride=2, padding=1, to=coarse)
    g = hb.relu(g + p[Params.stroke_bias].rep(g.space))
    return p[Params.dense] @ g + p[Params.bias]


@hb.fun(P, Sample)
def loss(p: hb.Expr[Params], sample: hb.Expr[Labelled]) -> hb.Expr[hb.Scalar]:
    """The cross-entropy −ln softmax(scores)_label."""
    return -network(p, sample[Labelled.image]).log_softmax()[sample[Labelled.label]]


per_image = hb.lift(loss, batch)
objective = hb.fun.over(per_image.dom)(lambda p, samples: per_image(p, samples).mean())


# --- the training ---


def start(path: str, V: Any, rng: np.random.Generator) -> hb.Vec[Any]:
    """Normal entries of variance 2/n, where a result is the sum of n products; 0 for biases."""
    inputs = {"edges": 9, "strokes": 9 * edge.size, "dense": coarse.size * stroke.size}
    drawn: hb.Vec[Any] = V.random(rng, scale=(2 / inputs[path]) ** 0.5) if path in inputs else V.zeros()
    return drawn


def main() -> None:
    """Print the network, train it, and ask it for the digits that were held out."""
    print(network, end="\n\n")
    data: Any = load_digits()
    x, y = data.images[..., None] / 16.0, data.target
    held = np.arange(len(x)) % 5 == 4
    rng = np.random.default_rng(0)
    p, step = hb.initial(P, rng, start), hb.value_and_grad(objective, 0)
    speed, training, samples = P.zeros(), np.flatnonzero(~held), Sample**batch
    for epoch in range(1, 11):
        order, losses = rng.permutation(training), list[float]()
        for first in range(0, len(order) - batch.size + 1, batch.size):
            rows = order[first : first + batch.size]
            value, gradient = step(p, samples.vec((x[rows], y[rows]))).split()
            speed = 0.9 * speed - 0.02 * gradient
            p = p + speed
            losses.append(float(value))
        print(f"epoch {epoch:2}: cross-entropy {np.mean(losses):.4f}")
    scores = hb.batched(network, Batch)(p, (Input ** Batch.of(int(held.sum()))).vec(x[held])).array
    print(f"held-out accuracy: {np.mean(scores.argmax(axis=1) == y[held]):.1%}")


if __name__ == "__main__":
    main()
