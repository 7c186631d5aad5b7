"""String diagrams of linear maps, derivatives and functions.

>>> from hilbert import Fin, R
>>> from diff import derivative, fun, tanh
>>> X, Y = Fin.of(3), Fin.of(2)
>>> layer = fun(R ** (Y * X), R ** X, R ** Y)(lambda W, x, b: tanh(W @ x + b))
>>> print(diagram(derivative(layer)))
3 boxes, 3 wires in, 1 out
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, field, frozen

from diff.diagrams.drawing import drawn
from diff.diagrams.picture import Part, Picture
from diff.printing.program_names import all_names, leaf_names
from diff.printing.show_steps import Slots
from diff.terms.elementwise import Elementwise
from diff.terms.linearization import AnyLinearization, Linearization
from diff.terms.lower import program
from hilbert import Map, SpaceError
from hilbert.errors import path_of, shown
from hilbert.program.line.bundle import Unpack
from hilbert.program.line.constant import Const
from hilbert.program.line.operation import Add, Contract, Literal
from linmap.net.lower import net
from linmap.printing.net_text import arc_texts
from linmap.printing.notation import Page, subscript
from linmap.printing.part_text import path
from linmap.printing.relation_text import reduction
from linmap.printing.text_names import Names
from linmap.signs import sign_of
from linmap.term import wire
from linmap.term.datum import Datum, Ref
from linmap.term.linear_map import LinMap

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    from hilbert.map.map import AnyMap
    from linmap.term.net import Net


@final
@frozen
class Diagram:
    """A string diagram as SVG, which a notebook shows."""

    svg: str = field(repr=False)
    boxes: int
    wires_in: int
    wires_out: int

    def __str__(self) -> str:
        boxes, wires = ("" if n == 1 else suffix for n, suffix in ((self.boxes, "es"), (self.wires_in, "s")))
        return f"{self.boxes} box{boxes}, {self.wires_in} wire{wires} in, {self.wires_out} out"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython's signature
        printer.text(str(self))

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the SVG into a file; the path of the file. Raises SpaceError for the name of a file of another kind."""
        file = path_of(path, "diagram(f).write(file)")
        if file.suffix.lower() not in {"", ".svg"}:
            kind, other = file.suffix[1:], file.with_suffix(".svg").name
            msg = f"a diagram is written as SVG, not into {shown(file.name)}: write {other!r}; a browser, inkscape or "
            raise SpaceError(f"{msg}rsvg-convert makes {kind.upper()} of SVG")
        file.write_text(self.svg, "utf-8")
        return file


def diagram(f: AnyMap | AnyLinearization) -> Diagram:
    """The string diagram of a linear map, of a derivative in the point, or of a function.

    Boxes are operations with their data, wires are labelled with spaces; a dot copies, + adds. Of more than 40 boxes
    one remains for each name that the printed text gives a line. Raises SpaceError for other things.
    """
    if isinstance(f, Linearization):
        picture = _derivative(f)
    elif isinstance(f, LinMap):
        names = Names(page=Page(lines=40))
        picture = _net(net(f), lambda datum: _constant(datum, names), names)
    elif isinstance(f, Map):
        picture = _function(f)
    else:
        msg = f"diagram takes a linear map, a derivative or a function, not {shown(f)}"
        raise SpaceError(msg)
    picture = picture.live().folded()
    boxes = sum(bool(part.text) for part in picture.parts)
    return Diagram(drawn(picture), boxes, len(picture.given), len(picture.results))


def _constant(datum: Datum, names: Names) -> str:
    return names.const(datum) if isinstance(datum, Const) else f"u{subscript(datum.slot)}"


def _derivative(f: AnyLinearization) -> Picture:
    names = Names(all_names(f.program), Page(lines=40))
    roots = (wire.datum_of(arc.map) for arc in f.body.arcs)
    slots = Slots(f.program, names, (d.slot for d in roots if isinstance(d, Ref)))
    picture = _net(f.body, lambda d: names.const(d) if isinstance(d, Const) else slots.datum(d.slot), names)
    return evolve(picture, lines=(*picture.lines, *slots.lines))


def _net(body: Net, name: Callable[[Datum], str], names: Names) -> Picture:
    lets: list[str] = []
    texts, called = arc_texts(body, name, names, lets)
    parts = tuple(Part(text, (arc.src,), arc.dst) for text, arc in zip(texts, body.arcs, strict=True))
    given = dict(zip(body.inputs, _ways(body.dom, "v"), strict=True))
    spaces = dict(enumerate(map(str, body.wires)))
    return Picture(given, parts, body.outputs, _ways(body.cod, "w"), spaces, called, tuple(lets))


def _function(f: AnyMap) -> Picture:
    p = program(f)
    names = Names(all_names(p), Page(lines=40))
    slots = Slots(p, names, p.outputs, p.outputs)
    lined = {line.split()[1] for line in slots.lines}
    given = dict(enumerate(leaf_names(p)))
    parts, called = list[Part](), dict[int, str]()
    for k, step in enumerate(p.steps, p.arity):
        text = slots.texts.get(k)
        if text is not None and text.tight in lined:
            called[k] = text.tight
        if isinstance(step.operation, Add):
            parts += [Part("", (a,), k) for a in step.args]
        else:
            parts.append(Part(_label(step.operation, names), step.args, k))
    spaces = dict(enumerate(map(str, p.slots)))
    return Picture(given, tuple(parts), p.outputs, _ways(p.cod, "w"), spaces, called, tuple(slots.lines))


def _ways(space: Any, name: str) -> tuple[str, ...]:
    """v₁, v.weights: for each array of a space the way to its part."""
    keys = [[f".{key}" if isinstance(key, str) else subscript(key + 1) for key in way] for way in path(space)]
    return tuple(name + "".join(way) for way in keys)


def _label(operation: Any, names: Names) -> str:
    """The text of a step alone."""
    match operation:
        case Literal(value):
            return names.const(value)
        case Elementwise() as p:
            return p.rule.text if p.rule.formula is None and not p.params else p.name
        case Contract(spec):
            return sign_of(spec)[0]
        case wire.Scale(k):
            return f"{names.number(k)} ·"
        case wire.Reduce(relation, _):
            return reduction(relation, names)
        case wire.Move():
            return "_ᵀ"
        case Unpack(part):
            return f"π{subscript(part + 1)}"
        case _:  # what has a name of its own, else that of its class: a loop, a condition
            return str(getattr(operation, "name", "") or type(operation).__name__.lower())
