"""Each block of a proved form is drawn once, at its place, by its kind."""

from collections import Counter
from typing import Any

import matplotlib as mpl
import pytest

import hilbert.all as hb
from hilbert import R
from linmap.matrices.structure import matrix_shapes as forms
from linmap.matrices.structure.block_table import text_table

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


class Cell(hb.Axis):
    """Cells in a row."""


class Unknown(hb.Record):
    """Numbers and rows of numbers."""

    mu: hb.Part[hb.Scalar]
    log_sd: hb.Part[hb.Scalar]
    z: hb.Part[hb.Vector[Cell]]


def hessian(size: int) -> Any:
    """The proved form of the Hessian of a chain."""
    P = Unknown.space(Cell=size)

    def energy(p: Any) -> Any:
        z = p[Unknown.z]
        return hb.exp(p[Unknown.log_sd]) * (z[1:] * z[:-1]).sum() + p[Unknown.mu] ** 4

    return hb.structure(hb.derivative(hb.grad(hb.fun(P)(energy))))


def test_blocks_of_a_record_are_a_table() -> None:
    """Rows and columns have the names of the parts; a block of one entry is a number."""
    form = hessian(20)
    assert str(form).splitlines() == [
        "        mu      log_sd      z",
        "mu      number  0           0",
        "log_sd  0       number      dense 1×20",
        "z       0       dense 20×1  sparse 38 of 20·20",
    ]
    html = form._repr_html_()
    assert html.count("<tr>") == 4
    assert "<th>log_sd</th><td>0</td><td>number</td>" in html
    assert form.text().startswith("[scaled, zero, zero; ")


def test_a_wide_table_is_cut() -> None:
    """At most 100 columns of letters and 40 lines; the rest is counted."""
    text = text_table(
        [f"row{k}" for k in range(60)], [f"column{k}" for k in range(30)], [["sparse 80 of 40·41"] * 30] * 60
    )
    lines = text.splitlines()
    assert len(lines) == 40
    assert max(map(len, lines)) <= 100
    assert lines[-1] == "… 26 more columns and 22 more rows"


def test_sparse_blocks_are_drawn_as_their_pattern() -> None:
    """A square for each entry, in the block; the names of the parts stand beside."""
    ax = hessian(20).plot()
    (squares,) = ax.collections
    assert len(squares.get_paths()) == 38
    corners = [path.vertices.min(axis=0).tolist() for path in squares.get_paths()]
    assert min(x for x, _ in corners) == pytest.approx(2 / 3)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["mu", "log_sd", "z"]
    plt.close(ax.figure)
    large = hessian(200_000).plot()
    assert not large.collections
    assert "sparse" in {one.get_gid() for one in large.patches}
    plt.close(large.figure)
