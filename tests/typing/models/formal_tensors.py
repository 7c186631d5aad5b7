"""Formal tensors: u ⊗ v is typed by the spaces of its factors, and so are V ⊸ W and W ⊗ V."""

from typing import reveal_type

import numpy as np

from hilbert import Fin, R, compress, formal, from_factors
from linmap import linear, tensor, transpose, universal
from linmap.contraction import inner
from linmap.unitary import assoc


class Row: ...


class Col: ...


class Term: ...


row, col, term = Fin(Row, 4), Fin(Col, 3), Fin(Term, 2)
V, W = R**row, R**col


def main() -> None:
    rng = np.random.default_rng(0)
    u, v = V.random(rng), W.random(rng)
    t = u.tensor(v)
    reveal_type(t)  # N: Vec[TensorProduct[Vector[Row], Vector[Col]]]
    reveal_type(2 * t - t.dense())  # N: Vec[TensorProduct[Vector[Row], Vector[Col]]]
    reveal_type(t.tensor(u))  # N: Vec[TensorProduct[TensorProduct[Vector[Row], Vector[Col]], Vector[Row]]]
    reveal_type(assoc(t.tensor(u).space)(t.tensor(u)))  # N: Vec[TensorProduct[Vector[Row], TensorProduct[Vector[Col], Vector[Row]]]]
    s = from_factors((V**term).random(rng), (W**term).random(rng))
    reveal_type(s)  # N: Vec[TensorProduct[Vector[Row], Vector[Col]]]
    reveal_type(formal(V * W, [(u, v)]))  # N: Vec[TensorProduct[Vector[Row], Vector[Col]]]
    f = linear(s)
    reveal_type(f)  # N: LinMap[Vector[Col], Vector[Row]]
    reveal_type(tensor(f))  # N: Vec[TensorProduct[Vector[Row], Vector[Col]]]
    reveal_type(compress(s + t, 1e-9)[0])  # N: Vec[TensorProduct[Vector[Row], Vector[Col]]]
    reveal_type(linear(transpose(t.space)(t))(u))  # N: Vec[Vector[Col]]
    trace = universal(inner(V))
    reveal_type(trace)  # N: LinMap[TensorProduct[Vector[Row], Vector[Row]], Field]
    assert np.isclose(float(trace(u.tensor(u))), u.inner(u))
    assert np.allclose(f(v).array, s.array @ v.array)
    assert np.isclose(u.inner(f(v)), s.inner(t))
