"""A recurrent network that predicts the next character of a text: the loss LSTM of ADBench.

Šrajer, Kukelova & Fitzgibbon (2018); all products there are entry by entry. The loop over the text is one step, and its
adjoint one loop back.

    python docs/examples/lstm.py FILE
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np

import hilbert.all as hb


class Bit(hb.Axis):
    """The bits of a character, and the units of a layer."""


class Gate(hb.Axis, size=4):
    """Forget, in, out, change."""


class Depth(hb.Axis):
    """The layers."""


class Time(hb.Axis):
    """The places in the text."""


Bits: TypeAlias = hb.Vector[Bit]


class Layer(hb.Record):
    """A weight and a bias for each gate and unit."""

    weight: hb.Part[hb.Matrix[Gate, Bit]]
    bias: hb.Part[hb.Matrix[Gate, Bit]]


class Memory(hb.Record):
    """The state that a layer keeps from one character to the next."""

    hidden: hb.Part[Bits]
    cell: hb.Part[Bits]


class Net(hb.Record):
    """The parameters."""

    layers: hb.Part[hb.Copower[Layer, hb.Fin[Depth]]]
    into: hb.Part[Bits]
    out: hb.Part[Bits]
    bias: hb.Part[Bits]


Memories: TypeAlias = hb.Copower[Memory, hb.Fin[Depth]]
Text: TypeAlias = hb.Copower[Bits, hb.Fin[Time]]
Loss: TypeAlias = hb.Map[hb.DirectSum[Net, Memories, Text, Text], hb.Scalar]
Cell: TypeAlias = tuple[hb.Expr[Bits], hb.Expr[Bits]]


def remembered(p: hb.Expr[Layer], x: hb.Expr[Bits], hidden: hb.Expr[Bits], cell: hb.Expr[Bits]) -> Cell:
    """A layer's hidden values and cell after the input x."""
    w, b = p[Layer.weight], p[Layer.bias]
    forget, write = hb.sigmoid(x * w[0, :] + b[0, :]), hb.sigmoid(hidden * w[1, :] + b[1, :])
    out, change = hb.sigmoid(x * w[2, :] + b[2, :]), hb.tanh(hidden * w[3, :] + b[3, :])
    cell = cell * forget + write * change
    return out * hb.tanh(cell), cell


def loss(layers: int, bits: int, characters: int) -> Loss:
    """Minus the mean of (bit of the next character)·(its log-probability): Net ⊕ Memory^layers ⊕ text ⊕ text → ℝ."""
    N, M, texts = Net.space(Bit=bits, Depth=layers), Memory.space(Bit=bits), Time.of(characters)

    @hb.fun(N, M ** Depth.of(layers), N.into**texts, N.into**texts)
    def f(
        p: hb.Expr[Net], start: hb.Expr[Memories], text: hb.Expr[Text], following: hb.Expr[Text]
    ) -> hb.Expr[hb.Scalar]:
        def step(state: tuple[Cell, ...], character: hb.Expr[Bits]) -> tuple[tuple[Cell, ...], hb.Expr[Bits]]:
            x, after = character * p[Net.into], list[Cell]()
            for k, (hidden, cell) in enumerate(state):
                after.append(remembered(p[Net.layers][k], x, hidden, cell))
                x = after[-1][0]
            return tuple(after), x * p[Net.out] + p[Net.bias]

        state = tuple((start[k][Memory.hidden], start[k][Memory.cell]) for k in range(layers))
        _, scores = hb.fold(step, state, text)
        likely = hb.each(lambda y, z: z @ y - z.sum() * hb.log(2.0 + hb.exp(y).sum()), scores, following)
        return -likely.sum() / (bits * characters)

    return f


def read(tokens: str) -> tuple[Loss, hb.Vec[hb.DirectSum[Net, Memories, Text, Text]]]:
    """The loss and its arguments of a file of ADBench."""
    layers, characters, bits = map(int, tokens.split()[:3])
    numbers = np.array(tokens.split()[3:], dtype=float)
    weights, ends, memory, text = np.split(numbers, np.cumsum([8 * layers * bits, 3 * bits, 2 * layers * bits]))
    weights, memory, text = weights.reshape(layers, 2, 4, bits), memory.reshape(layers, 2, bits), text.reshape(-1, bits)
    f = loss(layers, bits, characters - 1)
    net = (weights[:, 0], weights[:, 1]), *ends.reshape(3, bits)
    return f, f.dom.vec((net, (memory[:, 0], memory[:, 1]), text[:-1], text[1:]))


def main() -> None:
    """Print the value and the gradient's norm for a file."""
    file = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parents[2] / "tests/data/adbench/lstm_l2_c1024.txt"
    f, point = read(file.read_text("utf-8"))
    value, gradient = hb.value_and_grad(f, 0)(point).split()
    print(f)
    print(f"{float(value):.15g}, gradient of norm {gradient.norm():.15g}")


if __name__ == "__main__":
    main()
