"""Linear maps in the paper's notation.

Trees print as they were composed, with names f₁, f₂, … for what is shared: see `linmap.printing.shared_text`. Nets are
written in `linmap.printing.net_text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, cast

from hilbert.program.line.constant import Const
from linmap.printing.net_text import net_doc
from linmap.printing.notation import PAGE, Bracket, Doc, Page, Times, Word, line, render, subscript, times, total
from linmap.printing.part_text import key_of
from linmap.printing.relation_text import reduction
from linmap.printing.section_text import section_text
from linmap.printing.shared_text import shared_doc
from linmap.printing.text_names import Names
from linmap.term.datum import Datum
from linmap.term.linear_map import AnyLinMap
from linmap.term.net import Closed, Net, refs
from linmap.term.nodes import (
    Cast,
    Compose,
    Fork,
    Identity,
    Inject,
    Join,
    Lifted,
    Node,
    Own,
    Parallel,
    Project,
    Reduce,
    Scaled,
    Section,
    Sum,
    Unitary,
    ZeroMap,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SIGNS = {
    "transpose": "_ᵀ",
    "bra": "⟨_",
    "ket": "_⟩",
    "unbra": "|_|",
    "unket": "|_|",
    "copower": "zip⊗",
    "uncopower": "unzip⊗",
}


def show(f: AnyLinMap, page: Page = PAGE) -> str:
    """The text of a linear map."""
    names = Names(page=page)
    lets: list[str] = []
    doc = linear_doc(f, names, lets)
    return names.lay(render(doc), lets)


def linear_doc(f: AnyLinMap, names: Names, lets: list[str]) -> Doc:
    """The doc of a linear map, to stand in a larger one; lines for shared wires are appended to `lets`."""
    return shared_doc(f, lambda node, rec: node_doc(cast("AnyLinMap", node), rec, names, lets), names, lets)


def node_doc(f: AnyLinMap, rec: Callable[[Any], Doc], names: Names, lets: list[str]) -> Doc:
    """The doc of one node of a linear map."""
    match cast("Node", f):
        case Identity():
            return Word("id")
        case ZeroMap():
            return Word("0")
        case Compose(parts):
            return line("•", names.shortened(parts, rec, backwards=True))
        case Sum(parts):
            return total(names.shortened(parts, rec))
        case Scaled(k, Identity()):
            return times(names.number(k), None)
        case Scaled(k, of):
            return times(names.number(k), rec(of))
        case Section(c, side, datum):
            if not c.terms:
                return Word("0")
            i, j, _, spec = c.terms[0]
            leaves = (c.left.leaves[i], c.right.leaves[j])
            return Word(section_text(spec, side, names.vector(datum), leaves[side], leaves[1 - side]))
        case Project(space, i):
            return Word(f"π{key_of(space, i)}")
        case Inject(space, i):
            return Word(f"ι{key_of(space, i)}")
        case Fork(parts):
            return Bracket("⟨", tuple(map(rec, parts)), "⟩")
        case Join(parts):
            return Bracket("[", tuple(map(rec, parts)), "]")
        case Parallel(parts):
            return Times(tuple(map(rec, parts)))
        case Reduce(relation, _):
            return Word(reduction(relation, names))
        case Unitary(name):
            return Word(SIGNS.get(name, name))
        case Lifted(of, index):
            exponent = str(index)
            exponent = exponent if exponent.isalnum() else f"{{{exponent}}}"
            doc = rec(of)
            text = render(doc)
            return Word(f"{text}^{exponent}" if isinstance(doc, Word) else f"({text})^{exponent}")
        case Cast():
            return Word("cast")
        case Own() as own:
            return Word(own.operation.name)
        case Net() as body:
            return net_doc(body, lambda datum: _datum(datum, names), names, lets)
        case Closed(body, data):
            known: dict[Datum, Const] = dict(zip(refs(body), data, strict=True))
            return net_doc(body, lambda datum: _datum(known.get(datum, datum), names), names, lets)
        case never:
            assert_never(never)


def _datum(datum: Datum, names: Names) -> str:
    return names.const(datum) if isinstance(datum, Const) else f"u{subscript(datum.slot)}"
