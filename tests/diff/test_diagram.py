"""String diagrams: each box, wire and end of a net is drawn once, in layers, and large nets by their names."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from IPython.lib.pretty import pretty

import hilbert.all as hb
from diff.diagrams.diagram import _function
from diff.diagrams.drawing import _Drawing
from diff.diagrams.picture import MOST, Part, Picture
from hilbert import R
from tests.untyped import iterate

X, Y = hb.Fin.of(4), hb.Fin.of(3)
layer = hb.fun(R ** (Y * X), R**X, R**Y)(lambda W, x, b: hb.tanh(W @ x + b))
loss = hb.fun(R ** (Y * X), R**X, R**Y)(lambda W, x, t: ((layer(W, x, t) - t) ** 2).sum())


def deep(x: Any) -> Any:
    """A body of many steps."""
    for k in range(2, 30):
        x = hb.tanh(k * x) * x + hb.exp(x * x)
    return x


long = hb.fun(R**X)(deep)
MAPS: dict[str, Any] = {
    "derivative": hb.derivative(layer),
    "adjoint": hb.adjoint(hb.derivative(layer)),
    "function": layer,
    "gradient": hb.grad(loss),
    "hessian": hb.derivative(hb.grad(hb.fun(R**X)(lambda x: (x**4).sum()))),
    "loop": hb.derivative(hb.fun(R, R**X)(lambda w, xs: hb.fold(lambda s, x: hb.tanh(w * s + x), w, xs))),
    "linear": hb.fork(hb.project(R**X, 2), hb.total(X)),
    "identity": hb.identity(R**X),
    "zero": hb.zero(R**X, R**Y),
    "nothing": hb.zero(hb.Zero(), R**Y),
    "branch": hb.fun(R)(lambda x: hb.where(x > 0.0, lambda: hb.sin(x), lambda: x)),
    "composed": hb.compose([hb.sin] * 500),
    "long": long,
    "long derivative": hb.derivative(long),
}


def drawn(svg: str) -> ET.Element:
    """The tree of an SVG."""
    return ET.fromstring(svg)  # noqa: S314 - our own


@pytest.mark.parametrize("name", MAPS)
def test_what_is_drawn(name: str) -> None:
    """The text is XML, the boxes are those that are counted, everything lies inside of the picture."""
    made = hb.diagram(MAPS[name])
    tree = drawn(made.svg)
    width, height = (float(tree.attrib[key]) for key in ("width", "height"))
    rects = [one for one in tree if one.tag.endswith("rect")]
    assert made.boxes <= len(rects) <= made.boxes + made.wires_out  # a result that nothing reaches is 0
    for one in rects:
        x, y, w = (float(one.attrib[key]) for key in ("x", "y", "width"))
        assert 0 <= x <= x + w <= width + 1
        assert 0 <= y <= height
    assert made.wires_in == len(MAPS[name].dom.leaves)
    assert made.wires_out == len(MAPS[name].cod.leaves)
    assert made._repr_svg_() == made.svg
    assert "nan" not in made.svg


def test_boxes_and_wires() -> None:
    """The data stand in boxes, the spaces along wires."""
    svg = hb.diagram(hb.derivative(layer)).svg
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", svg)
    assert {"(⋆x)", "(W⋆)", "(tanh&#x27;(W⋆x+b) ·)", "+", "v₁", "v₂", "v₃"} <= set(texts)
    assert {"ℝ^{3×4}", "ℝ^4", "ℝ^3"} <= set(texts)
    both = hb.diagram(hb.adjoint(hb.derivative(layer))).svg
    assert both.count('class="d"') == 2  # copies


@pytest.mark.parametrize("name", ["long", "long derivative"])
def test_large_pictures_are_folded(name: str) -> None:
    """A box for each name of the printed text, which is its title."""
    made = hb.diagram(MAPS[name])
    names = set(re.findall(r"^  where ([ud][₀-₉]+) =", hb.show(MAPS[name], digits=6), re.MULTILINE))
    shown = set(re.findall(r"</title>([ud][₀-₉]+)</text>", made.svg))
    assert len(shown) > 10
    assert shown <= names
    assert made.boxes < MOST * 3
    assert "<title>where " in made.svg


def test_a_picture_keeps_what_it_draws() -> None:
    """A fold keeps which named value is made of which."""
    parts = tuple(Part("f", (k,), k + 1) for k in range(50))
    picture = Picture({0: "x"}, parts, (50,), ("",), {}, {10: "a", 30: "b"}, ("where a = f f", "where b = f a"))
    assert [(p.text, p.reads, p.title) for p in picture.folded().parts] == [
        ("a", (0,), "where a = f f"),
        ("b", (10,), "where b = f a"),
        ("…", (30,), ""),
    ]
    assert picture.live() == picture


def test_layers() -> None:
    """A wire runs to a later layer, and nodes of a layer do not lie on each other."""
    picture = Picture(
        {0: "x", 1: "y"},
        (Part("f", (0,), 2), Part("g", (2, 1), 3), Part("h", (0, 3), 4), Part("k", (), 5), Part("m", (5, 4), 6)),
        (6, 3),
        ("a", "b"),
        {},
        {},
        (),
    )
    made = _Drawing(picture)
    assert all(made.x[a] < made.x[b] for a, b, _ in made.wires)
    for some in made.layers:
        rows = sorted((made.y[k], made.nodes[k].kind == "bend") for k in some)
        assert all(b - a > (13 if passes or goes_on else 40) for (a, passes), (b, goes_on) in pairwise(rows))


def test_names_are_escaped(tmp_path: Path) -> None:
    """A tag may have any name; the file is what the notebook shows."""
    Evil: type[Any] = type("<b>&\x1b", (), {})
    made = hb.diagram(hb.total(hb.Fin(Evil, 3)))
    assert "<b>" not in made.svg
    drawn(made.svg)
    assert made.write(tmp_path / "f.svg").read_text("utf-8") == made.svg


def test_in_a_terminal() -> None:
    """IPython prints the text of a diagram, as `print` does."""
    assert pretty(hb.diagram(layer)) == str(hb.diagram(layer))  # type: ignore[no-untyped-call]


def test_no_blank_stripes() -> None:
    """Wires that pass lie close together, and no stripe over the whole width is empty."""
    V = R ** hb.Fin.of(4)

    def body(*xs: Any) -> Any:
        total = xs[0]
        for a, b in pairwise(xs):
            total = total + hb.sin(a) * hb.exp(b - a) + hb.tanh(a @ b) * a
        return total.sum()

    drawing = _Drawing(_function(hb.grad(hb.fun(*[V] * 12)(body), 0)).live().folded())
    rows = sorted(drawing.y.values())
    assert all(b - a <= 44.0 + 1e-9 for a, b in pairwise(rows))
    assert drawing.height == pytest.approx(rows[-1] + 26.0)
    for some in drawing.layers:
        bends = [drawing.y[k] for k in some if drawing.nodes[k].kind == "bend"]
        assert all(b - a > 1e-9 for a, b in pairwise(sorted(bends)))


def test_a_loop_box_has_the_names_of_the_formula() -> None:
    """The arrays of a round are called c₁, …, c₃ in the box, as in the text."""
    f = hb.fun(R, R)(lambda w, s: iterate(lambda x: hb.tanh(w * x), s, hb.Fin.of(3)))
    d = hb.derivative(f)
    assert set(re.findall("c[₀-₉]+", hb.diagram(d).svg)) <= set(re.findall("c[₀-₉]+", str(d)))
