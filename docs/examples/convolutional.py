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


class Row:
    """The eight rows of an image."""


class Column:
    """Its columns."""


class Down:
    """The rows of a window."""


class Across:
    """Its columns."""


class Grey:
    """The one channel of an image."""


class Edge:
    """The channels after the first convolution."""


class Stroke:
    """Those after the second."""


class Digit:
    """The ten classes."""


class Batch:
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


fine, coarse = hb.Fin(Row, 8) * hb.Fin(Column, 8), hb.Fin(Row, 4) * hb.Fin(Column, 4)
window, grey = hb.Fin(Down, 3) * hb.Fin(Across, 3), hb.Fin(Grey, 1)
edge, stroke, digit, batch = hb.Fin(Edge, 8), hb.Fin(Stroke, 16), hb.Fin(Digit, 10), hb.Fin(Batch, 32)
Input = hb.R ** (fine * grey)
Sample = Labelled(image=Input, label=hb.Elements(digit))
P = Params(
    edges=hb.R ** (window * grey * edge),
    edge_bias=hb.R**edge,
    strokes=hb.R ** (window * edge * stroke),
    stroke_bias=hb.R**stroke,
    dense=hb.R ** (digit * (coarse * stroke)),
    bias=hb.R**digit,
)


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
    scores = hb.batched(network, Batch)(p, (Input ** hb.Fin(Batch, int(held.sum()))).vec(x[held])).array
    print(f"held-out accuracy: {np.mean(scores.argmax(axis=1) == y[held]):.1%}")


if __name__ == "__main__":
    main()
