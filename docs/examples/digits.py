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
from typing import Any, TypeAlias, TypeVar

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import hilbert.all as hb

S = TypeVar("S")
T = TypeVar("T")
Layer: TypeAlias = hb.DirectSum[hb.Matrix[S, T], hb.Vector[S]]
Layers: TypeAlias = "hb.DirectSum[Layer[First, Pixel], Layer[Second, First], Layer[Digit, Second]]"
Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Pixel:
    """The 64 pixels of an image."""


class First:
    """The units of the first hidden layer."""


class Second:
    """The units of the second hidden layer."""


class Digit:
    """The ten classes."""


class Batch:
    """The images of a mini-batch."""


class Image:
    """The images of a whole set."""


pixel, first, second = hb.Fin(Pixel, 64), hb.Fin(First, 96), hb.Fin(Second, 48)
digit, batch = hb.Fin(Digit, 10), hb.Fin(Batch, 32)
Input, Label = hb.R**pixel, hb.Elements(digit)
Layer1 = hb.direct_sum(hb.R ** (first * pixel), hb.R**first)
Layer2 = hb.direct_sum(hb.R ** (second * first), hb.R**second)
Layer3 = hb.direct_sum(hb.R ** (digit * second), hb.R**digit)
Params = hb.direct_sum(Layer1, Layer2, Layer3)
EPOCHS, RATE, DECAY = 70, 3e-3, 0.95


# --- the model: g_i(x, W, b) = h_i(W⋆x + b), l(v, y) = (v−y) ⊙ (v−y) ---


@hb.fun(Params, Input)
def network(p: hb.Expr[Layers], x: hb.Expr[hb.Vector[Pixel]]) -> hb.Expr[hb.Vector[Digit]]:
    """g₃ ∘ g₂ ∘ g₁ with h = tanh, tanh, identity."""
    layer1, layer2, layer3 = p.split()
    W1, b1 = layer1.split()
    W2, b2 = layer2.split()
    W3, b3 = layer3.split()
    return W3 @ hb.tanh(W2 @ hb.tanh(W1 @ x + b1) + b2) + b3


@hb.fun(Params, hb.direct_sum(Input, Label))
def loss(
    p: hb.Expr[Layers], sample: hb.Expr[hb.DirectSum[hb.Vector[Pixel], hb.Elements[hb.Fin[Digit]]]]
) -> hb.Expr[hb.Scalar]:
    """The paper's squared loss of one image against the one-hot vector of its label."""
    x, y = sample.split()
    e = network(p, x) - hb.onehot(y)
    return e @ e


per_image = hb.lift(loss, batch)  # parameters shared, images and labels vary
objective = hb.fun.over(per_image.dom)(lambda p, samples: per_image(p, samples).mean())
step = hb.value_and_grad(objective, 0)


@hb.fun(Params, Params, Params, Params, hb.R, hb.R)
def adam(
    p: hb.Expr[Layers],
    g: hb.Expr[Layers],
    m: hb.Expr[Layers],
    v: hb.Expr[Layers],
    c: hb.Expr[hb.Scalar],
    k: hb.Expr[hb.Scalar],
) -> tuple[hb.Expr[Layers], hb.Expr[Layers], hb.Expr[Layers]]:
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


def initial(rng: np.random.Generator) -> hb.Vec[Layers]:
    """Random weights of variance 1/fan-in, biases 0."""
    layers: list[tuple[Array, Array]] = []
    for layer in Params.parts:
        shape: tuple[int, int] = layer.parts[0].leaves[0].shape
        layers.append((rng.standard_normal(shape) / np.sqrt(shape[1]), np.zeros(shape[0])))
    return Params.vec(tuple(layers))


def accuracy(p: hb.Vec[Layers], x: Array, y: Array) -> float:
    """The share of images whose largest output is their label."""
    images = hb.Fin(Image, len(x))
    scores: Array = hb.lift(network, images)(p, (Input**images).vec(x)).array
    return float((scores.argmax(axis=1) == y).mean())


def train(seed: int, x: Array, y: Array, *, quiet: bool = False) -> tuple[hb.Vec[Layers], list[float]]:
    """The trained parameters, and the mean loss of each epoch."""
    rng = np.random.default_rng(seed)
    samples = per_image.dom.parts[1]
    p, m, v = initial(rng), Params.zeros(), Params.zeros()
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
    for name, space in (("Input", Input), ("Label", Label), ("Params", Params), ("Batch", per_image.dom.parts[1])):
        print(f"  {name} = {space}")
    derived = hb.derivative(loss)
    star = hb.adjoint(derived)
    for title, term in (
        ("The network, point-free: Params ⊕ Input → ℝ^Digit", hb.pointfree(network)),
        ("The loss of one image, point-free: Params ⊕ (Input ⊕ Label) → ℝ", hb.pointfree(loss)),
        ("Its derivative in the point (p, (x, y)): Params ⊕ Input ⊸ ℝ", derived),
        ("The adjoint, back-propagation: ℝ ⊸ Params ⊕ Input", star),
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
