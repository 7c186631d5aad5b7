"""Operands of unknown type: the result is of unknown type, too, and both checkers say so without an error."""

from typing import Any, reveal_type

import hilbert.all as hb

layer = hb.fun(hb.R, hb.R)(lambda x, y: x * y)


def body(a: Any, b: Any) -> None:
    by_inner = hb.inner(a, b)
    by_outer = hb.outer(a, b)
    by_labels = hb.contract("ij,j->i", a, b)
    chosen = hb.select(a, b)
    by_dot = hb.dot(a, b, over=a)
    convolved = hb.conv(a, b, stride=2)
    applied = layer(a, b)
    reveal_type(by_inner)  # N: Any
    reveal_type(by_outer)  # N: Any
    reveal_type(by_labels)  # N: Any
    reveal_type(chosen)  # N: Any
    reveal_type(by_dot)  # N: Any
    reveal_type(convolved)  # N: Any
    reveal_type(applied)  # N: Any


def main() -> None:
    assert float(layer(hb.R.vec(1.0), hb.R.vec(2.0))) == 2.0
