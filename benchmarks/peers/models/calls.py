"""Calls of Python: f(x) of one `sin` and of ten scalar steps, where the arithmetic takes next to no time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import hilbert.all as hb
from benchmarks.overhead import in_library
from benchmarks.peers.row import CALLS, COMPILED, Call, Calls, Given, Made, Row, jitted, mine
from benchmarks.timing import jax

Body = Callable[[Any, Any], Any]


def one(xp: Any, x: Any) -> Any:
    """sin x."""
    return xp.sin(x)


def row(name: str, body: Body) -> Row:
    """A function of a number, in each library."""

    def function() -> Any:
        return hb.fun(hb.R)(lambda v: body(hb, v))

    def ours(x: Given, made: Made) -> Calls:
        f, at = made(function()), hb.R.vec(x)
        return {"f(x)": Call(lambda: f(at))}

    def on_arrays(x: Given) -> Calls:
        f, at = hb.compiled(function()), np.asarray(x)
        return {"f(x)": Call(lambda: f.on_arrays(at))}

    def by_hand(x: Given) -> Calls:
        at = np.asarray(x)
        return {"f(x)": Call(lambda: body(np, at))}

    def in_jax(x: Given) -> Calls:
        return {"f(x)": jitted(lambda v: body(jax().numpy, v), (x,))}

    def in_python(x: Given) -> Calls:
        return {"f(x)": Call(lambda: body(math, x))}

    forms = mine(ours) | {f"{COMPILED}, arrays": on_arrays}
    peers = forms | {"numpy": by_hand, "jax": in_jax, "python floats": in_python}
    return Row(name, peers, lambda _: 0.7, lambda: 0.7, CALLS, added=("jax", "python floats"))


ROWS = (row("one sin", one), row("ten scalar steps", in_library))
