"""The words of the tests of bad input: the four packages' public names, and spaces, vectors and maps to misuse."""

from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import scipy
import scipy.sparse

from hilbert import Axis, Matrix, Part, Record, Vector

PACKAGES: dict[str, Any] = {name: importlib.import_module(name) for name in ("hilbert", "linmap", "diff", "adjoint")}
relation: Any = importlib.import_module("hilbert.relation")
contraction: Any = importlib.import_module("linmap.contraction")
unitary: Any = importlib.import_module("linmap.unitary")
elementwise: Any = importlib.import_module("diff.terms.elementwise")
H, L, D, A = PACKAGES.values()  # of no static type: what is done with them is wrong on purpose


class Pixel:
    """The tag of an axis."""


class Hidden:
    """The tag of another axis."""


class Grey(Axis, size=5):
    """An axis with a size."""


class Layer(Record):
    """A record."""

    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


R, R32, Bool, Z = H.R, H.R32, H.Bool, H.Z
p, h, none = H.Fin(Pixel, 4), H.Fin(Hidden, 3), H.Fin.of(0)
V, W, M = R**p, R**h, R ** (h * p)
S, T, labels = H.direct_sum(V, W), V * W, H.Elements(h)
P = Layer(weights=M, bias=W)
v, w, k = V.vec([1.0, 2.0, 3.0, 4.0]), W.vec([1.0, 2.0, 3.0]), R.vec(2.0)
s, v32, x = S.vec((v.array, w.array)), (R32**p).zeros(), labels.vec(1)
f = D.fun(V)(lambda v: D.sin(v))  # noqa: PLW0108 - the argument's name is part of the function
two = D.fun(V, W)(lambda v, w: v @ v + w @ w)
lin, open_net = L.identity(V), D.derivative(f).body


def stale(space: Any) -> Any:
    """An expression of a function that has been traced."""
    kept: list[Any] = []

    def body(e: Any) -> Any:
        kept.append(e)
        return e

    D.fun(space)(body)
    return kept[0]


WORDS: dict[str, Any] = {
    **{name: getattr(package, name) for package in PACKAGES.values() for name in package.__all__},
    **{name: getattr(unitary, name) for name in unitary.__all__},
    "Measure": importlib.import_module("linmap.laws").Measure,
    "Net": importlib.import_module("linmap.term.nodes").Net,
    "Program": importlib.import_module("diff.terms.program").Program,
    "Spec": importlib.import_module("hilbert.index.spec").Spec,
    **{name: getattr(importlib.import_module("hilbert.program.line.line"), name) for name in ("Line", "Step")},
    **globals(),
    "np": np,
    "scipy": scipy,
}
"""What the source of a wrong call may use."""


def says(pattern: str, text: str) -> bool:
    """Whether a message contains a text, in which … stands for anything."""
    return re.search(re.escape(pattern).replace("…", ".*"), text) is not None


def first_line(error: BaseException) -> str:
    """The message of an error without the user's line."""
    return str(error).split("\n  at ", maxsplit=1)[0]
