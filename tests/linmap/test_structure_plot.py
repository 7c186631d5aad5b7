"""Each block of a proved form is drawn once, at its place, by its kind."""

from collections import Counter
from typing import Any

import matplotlib as mpl
import pytest

import hilbert.all as hb
from hilbert import R
from linmap.matrices.structure import matrix_shapes as forms

mpl.use("agg")
from matplotlib import pyplot as plt

X = hb.Fin.of(4)
BLOCKS = forms.Blocks((2, 2), (((0, 0), forms.DenseForm((2, 2))), ((1, 1), forms.ScaledForm(2))))


def kinds(form: Any) -> Counter[str]:
    """How many of each kind are drawn, the lines of the grid aside."""
    ax = form.plot()
    found = Counter(str(one.get_gid()) for one in [*ax.lines, *ax.patches])
    plt.close(ax.figure)
    del found["grid"]
    return found


@pytest.mark.parametrize(
    ("form", "due"),
    [
        (forms.ZeroForm(), {}),
        (forms.IdentityForm(4), {"diagonal": 1}),
        (forms.DiagonalForm(4), {"diagonal": 1}),
        (forms.Permutation(4, weighted=False), {"permutation": 1}),
        (forms.DenseForm((2, 3)), {"dense": 1}),
        (forms.SparseForm(3, (4, 4)), {"sparse": 1}),
        (forms.LowRank(1, (4, 4)), {"rank": 1}),
        (forms.SumForm((forms.DiagonalForm(4), forms.LowRank(1, (4, 4)))), {"diagonal": 1, "rank": 1}),
        (forms.BlockDiagonal(5, forms.DenseForm((2, 2))), {"dense": 5}),
        (forms.BlockDiagonal(500, forms.DenseForm((2, 2))), {"dense": 12}),
        (forms.Kronecker((forms.IdentityForm(3), forms.DenseForm((2, 2)))), {"dense": 3}),
        (forms.Kronecker((forms.DenseForm((2, 2)), forms.DenseForm((2, 2)))), {"kronecker": 1}),
        (
            forms.Blocks((2, 2), (((0, 0), forms.DenseForm((2, 2))), ((1, 1), forms.ScaledForm(2)))),
            {"dense": 1, "diagonal": 1},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kinds(form: Any, due: dict[str, int]) -> None:
    """All kinds of forms."""
    assert kinds(form) == due


def test_a_hessian() -> None:
    """A diagonal and a rank: the title is the text."""
    form = hb.structure(hb.derivative(hb.grad(hb.fun(R**X)(lambda x: (x**4).sum() + x.sum() ** 2))))
    ax = form.plot()
    assert ax.get_title() == str(form)
    assert form.plot(ax) is ax
    plt.close(ax.figure)


def test_blocks_stand_at_their_places() -> None:
    """Row and column of a grid; rows run downwards."""
    ax = forms.Blocks((2, 4), (((1, 2), forms.DenseForm((1, 1))),)).plot()
    (patch,) = ax.patches
    assert patch.get_xy().min(axis=0).tolist() == [0.5, 0.5]
    assert patch.get_xy().max(axis=0).tolist() == [0.75, 1.0]
    assert ax.get_ylim() == (1.0, 0.0)
    plt.close(ax.figure)
