"""Logistic regression by Newton's method, with the Hessian AᵀDA + 1 as one matrix product.

The data are the 569 tumours of 30 measurements that ship with scikit-learn (UCI, CC BY 4.0).

    python docs/examples/logistic.py
"""

# scikit-learn ships no types
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import hilbert.all as hb


class Feature:
    """The measurements, and a constant."""


class Case:
    """The tumours."""


case, feature = hb.Fin(Case, 569), hb.Fin(Feature, 31)


def loss(A: hb.Vec[hb.Matrix[Case, Feature]], y: hb.Vec[hb.Vector[Case]]) -> hb.Map[hb.Vector[Feature], hb.Scalar]:
    """−Σ log σ(y_i·(A⋆w)_i) + ‖w‖²/2 for labels y_i = ±1."""
    return hb.fun(hb.R**feature)(lambda w: hb.softplus(-y * (A @ w)).sum() + 0.5 * (w @ w))


def data() -> tuple[hb.Vec[hb.Matrix[Case, Feature]], hb.Vec[hb.Vector[Case]]]:
    """Standardised measurements with a column of ones, and labels."""
    cancer: Any = load_breast_cancer()
    x = (cancer.data - cancer.data.mean(axis=0)) / cancer.data.std(axis=0)
    rows = np.c_[x, np.ones(len(x))]
    return (hb.R ** (case * feature)).vec(rows), (hb.R**case).vec(2.0 * cancer.target - 1.0)


def main() -> None:
    """Print the second derivative, what its matrix costs, and Newton's steps."""
    A, y = data()
    f = loss(A, y)
    slope = hb.grad(f)
    second = hb.derivative(slope)
    print(f, second, hb.cost(second, "array"), sep="\n\n", end="\n\n")
    w = f.dom.zeros()
    for _ in range(10):
        print(f"loss {float(f(w)):.12f}, gradient {slope(w).norm():.1e}")
        w = w - f.dom.vec(np.linalg.solve(hb.hessian(f, w), slope(w).array))
    print(f"{np.mean((A @ w).array * y.array > 0):.1%} of the cases on the right side")


if __name__ == "__main__":
    main()
