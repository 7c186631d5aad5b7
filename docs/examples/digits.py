"""The paper's k-layer network (Ex. 7.1, k = 3) trained on handwritten digits.

The model is a typed function; its derivative is printed as a linear map in the point, its adjoint is computed from that
term, and the gradient that trains it is the adjoint applied to 1. The data are the 1,797 digits of 8×8 pixels that ship
with scikit-learn (UCI, CC BY 4.0); every fifth of them is held out. Sizes and rates were chosen on a fifth of the rest.

    python docs/examples/digits.py [--seed N]
"""

# scikit-learn ships no types, matplotlib and tqdm not all
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import hilbert.all as hb

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Pixel(hb.Axis, size=64):
    """The 64 pixels of an image."""


class First(hb.Axis, size=96):
    """The units of the first hidden layer."""


class Second(hb.Axis, size=48):
    """The units of the second hidden layer."""


class Digit(hb.Axis, size=10):
    """The ten classes."""


class Batch(hb.Axis, size=32):
    """The images of a mini-batch."""


class Image(hb.Axis):
    """The images of a whole set."""


class Layer1(hb.Record):
    """Weights and biases of the first layer."""

    weights: hb.Part[hb.Matrix[First, Pixel]]
    bias: hb.Part[hb.Vector[First]]


class Layer2(hb.Record):
    """Those of the second."""

    weights: hb.Part[hb.Matrix[Second, First]]
    bias: hb.Part[hb.Vector[Second]]


class Layer3(hb.Record):
    """Those of the third."""

    weights: hb.Part[hb.Matrix[Digit, Second]]
    bias: hb.Part[hb.Vector[Digit]]


class Params(hb.Record):
    """The parameters of the network."""

    layer1: hb.Part[Layer1]
    layer2: hb.Part[Layer2]
    layer3: hb.Part[Layer3]


class Labelled(hb.Record):
    """An image and the digit that it shows."""

    image: hb.Part[hb.Vector[Pixel]]
    label: hb.Part[hb.Elements[hb.Fin[Digit]]]


P, Sample, batch = Params.space(), Labelled.space(), Batch.set
Input = Sample.image
EPOCHS, RATE, DECAY = 70, 3e-3, 0.95


# --- the model: g_i(x, W, b) = h_i(W⋆x + b), l(v, y) = (v−y) ⊙ (v−y) ---


@hb.fun(P, Input)
def network(p: hb.Expr[Params], x: hb.Expr[hb.Vector[Pixel]]) -> hb.Expr[hb.Vector[Digit]]:
    """g₃ ∘ g₂ ∘ g₁ with h = tanh, tanh, identity."""
    g1, g2, g3 = p[Params.layer1], p[Params.layer2], p[Params.layer3]
    v1 = hb.tanh(g1[Layer1.weights] @ x + g1[Layer1.bias])
    v2 = hb.tanh(g2[Layer2.weights] @ v1 + g2[Layer2.bias])
    return g3[Layer3.weights] @ v2 + g3[Layer3.bias]


@hb.fun(P, Sample)
def loss(p: hb.Expr[Params], sample: hb.Expr[Labelled]) -> hb.Expr[hb.Scalar]:
    """The paper's squared loss of one image against the one-hot vector of its label."""
    e = network(p, sample[Labelled.image]) - hb.onehot(sample[Labelled.label])
    return e @ e


per_image = hb.lift(loss, batch)  # parameters shared, images and labels vary
objective = hb.fun.over(per_image.dom)(lambda p, samples: per_image(p, samples).mean())
step = hb.value_and_grad(objective, 0)


@hb.fun(P, P, P, P, hb.R, hb.R)
def adam(
    p: hb.Expr[Params],
    g: hb.Expr[Params],
    m: hb.Expr[Params],
    v: hb.Expr[Params],
    c: hb.Expr[hb.Scalar],
    k: hb.Expr[hb.Scalar],
) -> tuple[hb.Expr[Params], hb.Expr[Params], hb.Expr[Params]]:
    """One update of the parameters and of the running means of gradient and squared gradient; k is the step size."""
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * hb.square(g)
    return p - k * hb.divide(m, hb.sqrt(v * c) + 1e-8), m, v


# --- the data ---


def load() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """(images, labels) to train on, and those held out: the rows with index ≡ 4 mod 5."""
    data: Any = load_digits()
    x, y = data.data / 16.0, data.target
    held = np.arange(len(x)) % 5 == 4
    return (x[~held], y[~held]), (x[held], y[held])


def accuracy(p: hb.Vec[Params], x: Array, y: Array) -> float:
    """The share of images whose largest output is their label."""
    images = Image.of(len(x))
    scores: Array = hb.lift(network, images)(p, (Input**images).vec(x)).array
    return float((scores.argmax(axis=1) == y).mean())


def train(seed: int, x: Array, y: Array, *, quiet: bool = False) -> tuple[hb.Vec[Params], list[float]]:
    """The trained parameters, and the mean loss of each epoch."""
    rng = np.random.default_rng(seed)
    samples = Sample**batch
    p, m, v = hb.initial(P, rng), P.zeros(), P.zeros()
    curve: list[float] = []
    count = 0
    with tqdm(range(EPOCHS), unit="epoch", disable=quiet) as epochs:
        for epoch in epochs:
            order = rng.permutation(len(x))
            losses: list[float] = []
            rate = RATE * DECAY**epoch
            for start in range(0, len(x) - batch.size + 1, batch.size):
                rows = order[start : start + batch.size]
                value, gradient = step(p, samples.vec((x[rows], y[rows]))).split()
                count += 1
                correction = hb.R.vec(1.0 / (1.0 - 0.99**count))
                size = hb.R.vec(rate / (1.0 - 0.9**count))
                p, m, v = adam(p, gradient, m, v, correction, size).split()
                losses.append(float(value))
            curve.append(float(np.mean(losses)))
            epochs.set_postfix(loss=f"{curve[-1]:.4f}")
    return p, curve


# --- the program ---


def main() -> None:
    """Print the terms, train, and write the results into demo-output/."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    seed = parser.parse_args().seed
    started = time.perf_counter()
    print("Spaces")
    for name, space in (("Input", Input), ("Sample", Sample), ("Params", P), ("Batch", Sample**batch)):
        print(f"  {name} = {space}")
    derived = hb.derivative(loss)
    star = hb.adjoint(derived)
    for title, term in (
        ("The network, point-free: Params ⊕ Input → ℝ^Digit", hb.pointfree(network)),
        ("The loss of one image, point-free: Params ⊕ Sample → ℝ", hb.pointfree(loss)),
        ("Its derivative in the point (p, sample): Params ⊕ (Input, 0) ⊸ ℝ", derived),
        ("The adjoint, back-propagation: ℝ ⊸ Params ⊕ (Input, 0)", star),
    ):
        print(f"\n{title}\n{term}")
    print()
    (x, y), (held_x, held_y) = load()
    p, curve = train(seed, x, y)
    print(f"epoch {EPOCHS} of {EPOCHS}: mean loss {curve[-1]:.5f}, training accuracy: {100 * accuracy(p, x, y):.1f} %")
    print(f"held-out accuracy: {100 * accuracy(p, held_x, held_y):.1f} %")
    write(curve, str(star))
    print(f"{time.perf_counter() - started:.1f} s; loss curve and adjoint term are in demo-output/")


def write(curve: list[float], term: str) -> None:
    """demo-output/loss.png and demo-output/adjoint.txt."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # after the backend is chosen

    out = Path("demo-output")
    out.mkdir(exist_ok=True)
    (out / "adjoint.txt").write_text(term + "\n", encoding="utf-8")
    figure, axes = plt.subplots(figsize=(6, 4))
    axes.semilogy(range(1, len(curve) + 1), curve)
    axes.set(xlabel="epoch", ylabel="mean squared loss", title="Ex. 7.1 on handwritten digits")
    axes.grid(visible=True, alpha=0.3)
    figure.tight_layout()
    figure.savefig(out / "loss.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
