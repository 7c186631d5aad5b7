"""Operands of unknown type: the result is of unknown type, too, and both checkers say so without an error."""

from typing import Any, reveal_type

import hilbert.all as hb

layer = hb.fun(hb.R, hb.R)(lambda x, y: x * y)


def body(a: Any, b: Any) -> None:
    reveal_type(hb.inner(a, b))  # N: Any
    reveal_type(hb.outer(a, b))  # N: Any
    reveal_type(hb.contract("ij,j->i", a, b))  # N: Any
    reveal_type(hb.select(a, b))  # N: Any
    reveal_type(hb.dot(a, b, over=a))  # N: Any
    reveal_type(hb.conv(a, b, stride=2))  # N: Any
    reveal_type(layer(a, b))  # N: Any


def main() -> None:
    assert float(layer(hb.R.vec(1.0), hb.R.vec(2.0))) == 2.0
