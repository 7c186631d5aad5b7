"""Nets in the paper's notation: as • + ⟨⟩ again.

A wire that is read once, or whose text is short, is written in place; another gets a name d₁, d₂, … and a line `where`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from attrs import frozen

from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients
from hilbert.index.leaf import Bundle, raised
from hilbert.program.line.constant import Const
from linmap.net.fold import extended, fold
from linmap.printing.notation import Doc, Word, indented, line, negative, render, subscript, times, total
from linmap.printing.part_text import nested, path, projection
from linmap.printing.relation_text import reduction
from linmap.printing.section_text import section_text
from linmap.printing.text_names import SHORT, Names
from linmap.term import wire
from linmap.term.net import refs

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.index.leaf import Leaf
    from linmap.term.datum import Datum
    from linmap.term.net import Arc, Net

TWICE = 12
"""A wire that is read more than once gets a name if its text is longer than this."""
MINUS = negative(Word("id"))


def net_doc(body: Net, name: Callable[[Datum], str], names: Names, lets: list[str]) -> Doc:
    """The doc of a net; `name` gives the text of a datum, lines for shared wires are appended to `lets`."""
    return _NetText(body, name, names, lets).doc()


def arc_texts(
    body: Net, name: Callable[[Datum], str], names: Names, lets: list[str]
) -> tuple[list[str], dict[int, str]]:
    """The text of each arc, and the names of the wires that have a line in the text of the net."""
    text = _NetText(body, name, names, lets)
    text.doc()
    return [text.arc(arc) for arc in body.arcs], {w: word.text for w, word in text.called.items()}


@final
@frozen
class Flow:
    """The terms that have been added into a wire, None for the identity, and how long their text is."""

    terms: list[Doc | None]
    size: int


@final
class _NetText:
    """The text of a net, wire by wire."""

    def __init__(self, body: Net, name: Callable[[Datum], str], names: Names, lets: list[str]) -> None:
        self.body, self.name, self.names, self.lets = body, name, names, lets
        self.readers, self.ends = _readers(body), {*body.outputs}
        self.called: dict[int, Word] = {}  # wires that have a line
        self.arcs: dict[int, str] = {}

    def doc(self) -> Doc:
        """The doc of the net."""
        body = self.body
        inputs = [Flow([projection(way)], 1) for way in path(body.dom)]
        flows = fold(body, zip(body.inputs, inputs, strict=True), self._behind, _sum)
        outputs = [
            Word("0") if flow is None else self._read(w, flow)[0] or Word("id")
            for w, flow in zip(body.outputs, flows, strict=True)
        ]
        if len(outputs) == 1 and len(body.cod.parts) == 1:
            return outputs[0]
        return nested(body.cod, outputs) if outputs else Word("0")

    def _read(self, w: int, flow: Flow) -> tuple[Doc | None, int]:
        """The doc of a complete wire, None for the identity, and how long it is."""
        if w in self.called:
            return self.called[w], 1
        if flow.terms == [None]:
            return None, flow.size
        doc = total(term or Word("id") for term in flow.terms)
        is_long = flow.size > SHORT or (self.readers[w] > 1 and flow.size > 1 and len(render(doc)) > TWICE)
        if not is_long:
            return doc, flow.size
        self.called[w] = Word(self.names.fresh("d"))
        self.lets.append(f"where {self.called[w].text} = {render(doc)}")
        return self.called[w], 1

    def _behind(self, arc: Arc, flow: Flow) -> Flow:
        """The flow behind an arc; nothing where nobody reads it."""
        if not self.readers[arc.dst]:
            return Flow([], 0)
        source, size = self._read(arc.src, flow)
        doc = self._after(arc, source)
        return Flow([doc], size if doc is source else size + 1)

    def _after(self, arc: Arc, source: Doc | None) -> Doc | None:
        """The doc of an arc after that of its source; None for the identity."""
        if isinstance(arc.map, wire.Scale):
            return times(self.names.number(arc.map.k), source)
        text = self.arc(arc)
        if not text:
            return source
        doc = Word(text)
        return negative(doc) if source == MINUS else doc if source is None else line("•", [doc, source])

    def arc(self, arc: Arc) -> str:
        """The text of an arc alone, written once; nothing for the identity."""
        if id(arc) not in self.arcs:
            self.arcs[id(arc)] = self._arc(arc)
        return self.arcs[id(arc)]

    def _arc(self, arc: Arc) -> str:
        leaf, made = self.body.wires[arc.src], self.body.wires[arc.dst]
        match arc.map:
            case wire.Same():
                return ""
            case wire.Into() | wire.OutOf() if _is_single(leaf) or _is_single(made):  # nothing else is in the bundle
                return ""
            case wire.Scale(k):
                return f"({self.names.number(k)} ·)"
            case wire.ContractWith(spec, side, datum):
                return section_text(spec, side, self.name(datum), datum.leaf, leaf)
            case wire.Reduce(relation, at):
                text = reduction(relation, self.names) + _over(leaf, at)
                if arc.dst not in self.ends and self.names.page.lines is None:
                    text = f"{text}:{made}"  # what is read from it does not tell its space
                return text
            case wire.Move(order):
                return _transposition(order, leaf)
            case wire.Cast():
                return "cast"
            case wire.External() as f:
                return f.name
            case wire.Into(k, _):
                return f"ι{subscript(k + 1)}"
            case wire.OutOf(k):
                return f"π{subscript(k + 1)}"
            case wire.Recur() as f:
                return f"loop{'*' if f.reverse else ''}[{f.index}]({self._body(f)})"
            case wire.Inverse() as f:
                return f"cg({self._body(f)})" if isinstance(f.by, ConjugateGradients) else f"({self._body(f)})⁻¹"
            case never:
                assert_never(never)

    def _body(self, f: wire.Recur | wire.Inverse) -> str:
        """The text of the net that an arc holds; a line says what the arrays of its datum are called."""
        called = [self.names.fresh("c") for _ in f.line.slots]
        computed = [called[k] for k in sorted({d.slot for d in refs(f.body)}) if k >= f.line.arity]
        follows = f", and {', '.join(computed)} of these" if computed else ""
        lines = [f"where ({', '.join(called[: f.line.arity])}) = {self.name(f.datum)}{follows}"] if called else []

        def of_body(d: Datum) -> str:
            return self.names.const(d) if isinstance(d, Const) else called[d.slot]

        inner: list[str] = []
        text = render(net_doc(f.body, of_body, self.names, inner))
        if not inner:
            self.lets += lines
            return text
        whole = self.names.fresh("d")
        self.lets.append(f"where {whole} = {text}\n" + indented("\n".join([*lines, *inner])))
        return whole


def _sum(a: Flow, b: Flow) -> Flow:
    return Flow(extended(a.terms, b.terms), a.size + b.size)


def _transposition(order: tuple[int, ...], leaf: Leaf) -> str:
    """_ᵀ for the last two axes, or the order of all."""
    front = len(order) - 2
    if order == (*range(front), front + 1, front):
        return f"_ᵀ{_over(leaf, front)}"
    return f"_ᵀ[{', '.join(str(k + 1) for k in order)}]"


def _over(source: Leaf, count: int) -> str:
    """^X for a map of each element of the axes in front."""
    return raised("", "×".join(map(str, source.axes[:count])), count) if count else ""


def _is_single(leaf: Leaf) -> bool:
    return isinstance(leaf, Bundle) and len(leaf.leaves) == 1


def _readers(body: Net) -> list[int]:
    """For each wire, how many arcs and outputs that lead to an output read it."""
    readers = [0] * len(body.wires)
    for w in body.outputs:
        readers[w] += 1
    for arc in reversed(body.arcs):
        if readers[arc.dst]:
            readers[arc.src] += 1
    return readers
