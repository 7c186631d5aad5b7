"""The diagrams that pages show as pictures: `python -m docs.site.pictures` writes them into docs/pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hilbert.all as hb

FOLDER = Path(__file__).parents[1] / "pictures"


class Pixel(hb.Axis):
    """The inputs of a layer."""


class Hidden(hb.Axis):
    """The outputs of a layer."""


def derivative(pixels: int, units: int) -> hb.Linearization[Any, Any, hb.Vector[Hidden]]:
    """The derivative of a layer."""
    inputs, outputs = hb.R ** Pixel.of(pixels), hb.R ** Hidden.of(units)
    weights = hb.R ** (Hidden.of(units) * Pixel.of(pixels))
    return hb.derivative(hb.fun(weights, inputs, outputs)(lambda W, x, b: hb.tanh(W @ x + b)))


def pictures() -> dict[str, str]:
    """The SVG of each picture, black on white, by the name of its file: of the README, and of the quickstart."""
    small = derivative(4, 3)
    drawn = {"layer.svg": derivative(784, 32), "derivative.svg": small, "adjoint.svg": hb.adjoint(small)}
    return {name: on_white(hb.diagram(f).svg) for name, f in drawn.items()}


def on_white(svg: str) -> str:
    """An SVG that is readable on dark pages too, which an image does not take its colour from."""
    page = '<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>'
    return svg.replace("<svg ", '<svg style="color:#000" ', 1).replace("<style>", f"{page}<style>", 1) + "\n"


if __name__ == "__main__":
    for name, svg in pictures().items():
        print(FOLDER / name)
        (FOLDER / name).write_text(svg, "utf-8")
