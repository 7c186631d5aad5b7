"""A transformer block: causal attention of several heads, and two dense layers, each behind a normalisation.

It is trained to give the mean of all tokens so far.

    python docs/examples/transformer.py
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

import hilbert.all as hb


class Token(hb.Axis, size=24):
    """The places of a text."""


class Feature(hb.Axis, size=32):
    """The features that describe a token."""


class Key(hb.Axis, size=8):
    """The features that a head compares."""


class Heads(hb.Axis, size=4):
    """The heads."""


class Hidden(hb.Axis, size=64):
    """The units between the two dense layers."""


class Norm(hb.Record):
    """The scale and the shift of a normalisation."""

    scale: hb.Part[hb.Vector[Feature]]
    shift: hb.Part[hb.Vector[Feature]]


class Head(hb.Record):
    """The matrices of a head."""

    query: hb.Part[hb.Matrix[Key, Feature]]
    key: hb.Part[hb.Matrix[Key, Feature]]
    value: hb.Part[hb.Matrix[Key, Feature]]
    out: hb.Part[hb.Matrix[Feature, Key]]


class Block(hb.Record):
    """The parameters."""

    before: hb.Part[Norm]
    heads: hb.Part[hb.Copower[Head, hb.Fin[Heads]]]
    between: hb.Part[Norm]
    up: hb.Part[hb.Matrix[Hidden, Feature]]
    bias: hb.Part[hb.Vector[Hidden]]
    down: hb.Part[hb.Matrix[Feature, Hidden]]


Text: TypeAlias = hb.Matrix[Token, Feature]

token, feature = Token.set, Feature.set
X, P = hb.R ** (token * feature), Block.space()
FUTURE = (hb.R ** (token * token)).vec(np.triu(np.full((token.size, token.size), -np.inf), 1))


# --- the model ---


def normalised(p: hb.Expr[Norm], x: hb.Expr[Text]) -> hb.Expr[Text]:
    """Mean 0 and variance 1 in each row, then scaled and shifted."""
    z = x.add(-x.mean(over=feature))
    deviation = hb.sqrt((z * z).mean(over=feature) + 1e-6)
    return z.times(1.0 / deviation).times(p[Norm.scale]).add(p[Norm.shift])


def attention(h: hb.Expr[Head], x: hb.Expr[Text]) -> hb.Expr[Text]:
    """The values that one head adds: values, weighted by how well keys fit queries, of the tokens so far."""
    q, k, v = x @ h[Head.query].T, x @ h[Head.key].T, x @ h[Head.value].T
    scores = q @ k.T / math.sqrt(Key.set.size) + FUTURE
    return scores.softmax(over=1) @ v @ h[Head.out].T


@hb.fun(P, X)
def block(p: hb.Expr[Block], x: hb.Expr[Text]) -> hb.Expr[Text]:
    """x ↦ y + dense(norm y) with y = x + Σ_h attention_h(norm x)."""
    y = normalised(p[Block.before], x)
    x = x + hb.each(lambda h: attention(h, y), p[Block.heads]).sum(over=Heads.set)
    y = normalised(p[Block.between], x)
    return x + hb.gelu((y @ p[Block.up].T).add(p[Block.bias])) @ p[Block.down].T


# --- the training ---


@hb.fun(P, X, X)
def loss(p: hb.Expr[Block], x: hb.Expr[Text], y: hb.Expr[Text]) -> hb.Expr[hb.Scalar]:
    """The mean squared error."""
    return hb.square(block(p, x) - y).mean()


def start(path: str, V: Any, rng: np.random.Generator) -> hb.Vec[Any]:
    """Scales are 1."""
    return V.ones() if path.endswith("scale") else hb.fan_in(path, V, rng)


def main() -> None:
    """Print the block, and its loss in training."""
    rng = np.random.default_rng(0)
    p, step = hb.initial(P, rng, start), hb.value_and_grad(loss, 0)
    print(block, end="\n\n")
    m, v = P.zeros(), P.zeros()
    for k in range(1, 301):
        x = X.random(rng)
        means = X.vec(np.cumsum(x.array, axis=0) / np.arange(1, token.size + 1)[:, None])
        value, g = step(p, x, means).split()
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        p = p - 3e-3 / (1 - 0.9**k) * hb.divide(m, hb.sqrt(v / (1 - 0.99**k)) + 1e-8)
        if k % 60 == 0:
            print(f"{k:3}: loss {float(value):.5f}")


if __name__ == "__main__":
    main()
