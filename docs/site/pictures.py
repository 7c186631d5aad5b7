"""The diagrams and the plots that pages show: `python -m docs.site.pictures` writes them into docs/pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hilbert.all as hb
from docs.site.speeds import PAGE, drawn, measured

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


def residual() -> hb.Map[hb.Vector[Hidden], hb.Vector[Hidden]]:
    """A step that is added to its argument."""
    return hb.fun(hb.R ** Hidden.of(3))(lambda x: x + 0.5 * hb.sin(hb.tanh(x)))


class Site(hb.Axis, size=12):
    """The sites of a field."""


class Theta(hb.Record):
    """A field, and the strength by which a site depends on the one before."""

    field: hb.Part[hb.Vector[Site]]
    strength: hb.Part[hb.Scalar]


def blocks() -> Any:
    """The structure of the Hessian of a chain and of a number, in blocks."""

    @hb.fun(Theta.space())
    def loss(p: hb.Expr[Theta]) -> hb.Expr[hb.Scalar]:
        x = p[Theta.field]
        return hb.exp(x).sum() + hb.square(x[1:] - p[Theta.strength] * x[:-1]).sum()

    return hb.structure(hb.derivative(hb.grad(loss)))


def plot(path: Path) -> None:
    """Write the plot of that structure."""
    axes = blocks().plot()
    axes.figure.set_size_inches(3.6, 3.6)
    axes.figure.savefig(path, dpi=100, bbox_inches="tight", metadata={"Software": None})


def pictures() -> dict[str, str]:
    """The SVG of each diagram, and of the times beside peers, black on white, by the name of its file."""
    small = derivative(4, 3)
    diagrams: dict[str, Any] = {
        "layer.svg": derivative(784, 32),
        "derivative.svg": small,
        "adjoint.svg": hb.adjoint(small),
    }
    diagrams["residual.svg"] = residual()
    made = {name: hb.diagram(f).svg for name, f in diagrams.items()}
    made["speed.svg"] = drawn(measured(PAGE.read_text("utf-8")))
    return {name: on_white(svg) for name, svg in made.items()}


def on_white(svg: str) -> str:
    """An SVG that is readable on dark pages too, which an image does not take its colour from."""
    page = '<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>'
    return svg.replace("<svg ", '<svg style="color:#000" ', 1).replace("<style>", f"{page}<style>", 1) + "\n"


if __name__ == "__main__":
    for name, svg in pictures().items():
        print(FOLDER / name)
        (FOLDER / name).write_text(svg, "utf-8")
    plot(FOLDER / "structure.png")
