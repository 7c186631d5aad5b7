"""The recurrent network of ADBench (LSTM), 1,024 characters of 14 bits: its gradient in all parameters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.peers.row import LISTED, Call, Calls, Given, Made, Row, jitted, mine
from benchmarks.timing import jax

GRADIENT = "gradient"


def given(layers: int, characters: int, bits: int) -> Callable[[Path | None], Given]:
    """Weights and biases (layer, gate, bit), the three vectors at the ends, memory, and the text."""

    def read(path: Path | None) -> Given:
        sizes = 8 * layers * bits, 3 * bits, 2 * layers * bits, characters * bits
        if path is None:
            rng = np.random.default_rng(0)
            numbers = rng.standard_normal(sum(sizes))
            numbers[-sizes[3] :] = rng.integers(0, 2, sizes[3])
        else:
            numbers = np.array(path.read_text("utf-8").split()[3:], dtype=float)
        parts = np.split(numbers[: sum(sizes)], np.cumsum(sizes[:3]))
        weights, memory = parts[0].reshape(layers, 2, 4, bits), parts[2].reshape(layers, 2, bits)
        net = weights[:, 0].copy(), weights[:, 1].copy(), *parts[1].reshape(3, bits).copy()
        return net, (memory[:, 0].copy(), memory[:, 1].copy()), parts[3].reshape(characters, bits)

    return read


def ours(given: Given, made: Made) -> Calls:
    """docs/examples/lstm.py."""
    from docs.examples import lstm

    net, memory, text = given
    layers, _, bits = net[0].shape
    f = lstm.loss(layers, bits, len(text) - 1)
    slope, at = made(hb.grad(f, 0)), f.dom.vec((net_of(net), memory, text[:-1], text[1:]))
    return {GRADIENT: Call(lambda: slope(at))}


def net_of(net: Any) -> Any:
    """Weights and biases side by side, as records have them."""
    return net[:2], *net[2:]


def in_jax(given: Given) -> Calls:
    """A scan over the text; the four gates of a layer are one array."""
    found = jax()
    xp = found.numpy

    def loss(net: Any, memory: Any, text: Any) -> Any:
        weight, bias, into, out, last = net

        def step(state: Any, character: Any) -> Any:
            x, after = character * into, []
            for w, b, (h, c) in zip(weight, bias, state, strict=True):
                gates = xp.stack([x, h, x, h]) * w + b
                forget, write, give = found.nn.sigmoid(gates[:3])
                kept = c * forget + write * xp.tanh(gates[3])
                x = give * xp.tanh(kept)
                after.append((x, kept))
            return after, x

        _, seen = found.lax.scan(step, list(zip(*memory, strict=True)), text[:-1])
        scores = seen * out + last
        likely = scores - xp.log(2 + xp.exp(scores).sum(1, keepdims=True))
        return -(text[1:] * likely).mean()

    return {GRADIENT: jitted(loss, given, lambda jax, f: jax.grad(f))}


PEERS = {**mine(ours), "jax": in_jax}


def row(layers: int) -> Row:
    """A file of ADBench."""
    file, small = f"lstm/lstm_l{layers}_c1024.txt", given(layers, 5, 3)
    return Row(f"LSTM l{layers}", PEERS, given(layers, 1024, 14), lambda: small(None), LISTED, file=file)


ROWS = (row(2), row(4))
