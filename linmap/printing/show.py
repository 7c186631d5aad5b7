"""Linear maps in the paper's notation.

Trees print as they were composed, with names f₁, f₂, … for what is shared: see `linmap.printing.shared_text`. A net
prints as • + ⟨⟩ again: a wire that is read once, or whose text is short, is written in place; another gets a name d₁,
d₂, … and a line `where`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast, final

from attrs import define

from hilbert import Copower, TensorProduct, Vec
from hilbert.index.leaf import Bundle, raised
from hilbert.program.line.constant import Const
from hilbert.space.direct_sum import Biproduct
from linmap.net.fold import extended, fold
from linmap.printing.notation import (
    PAGE,
    Bracket,
    Doc,
    Page,
    Times,
    Word,
    line,
    negative,
    render,
    subscript,
    times,
    total,
)
from linmap.printing.relation_text import reduction
from linmap.printing.section_text import section_text
from linmap.printing.shared_text import shared_doc
from linmap.term import wire
from linmap.term.datum import Datum, filling
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
    from collections.abc import Callable, Iterable, Sequence

    from hilbert import Type
    from hilbert.base.term import Chain
    from hilbert.index.leaf import Leaf
    from linmap.term.net import Arc

SIGNS = {
    "transpose": "_ᵀ",
    "bra": "⟨_",
    "ket": "_⟩",
    "unbra": "|_|",
    "unket": "|_|",
    "copower": "zip⊗",
    "uncopower": "unzip⊗",
}
LETTERS = "abcfghklmnpqrst"
SHORT = 24
TWICE = 12
"""A wire that is read more than once gets a name if its text is longer than this."""


MINUS = negative(Word("id"))


class Names:
    """Names for constant vectors a, b, … and for what is bound by a line, u₁, d₁, …, none of them an argument's."""

    def __init__(self, taken: Iterable[str] = (), page: Page = PAGE) -> None:
        self.page = page
        self.number = page.number
        self.hidden = 0  # parts that are left out
        self.taken = set(taken)
        self.reserved: set[str] = set()  # what indices are called
        self.names: dict[Any, str] = {}
        self.counts: dict[str, int] = {}
        self.lines: list[str] = []
        self.opened: set[int] = set()  # bodies of which something has a line

    def of(self, key: Any, what: Any, sign: str = "∈") -> str:
        """The name of a constant; its line says what it is."""
        if key not in self.names:
            letter = next((c for c in LETTERS if c not in self.taken and c not in self.reserved), None)
            self.names[key] = self.fresh("a") if letter is None else letter
            self.taken.add(self.names[key])
            self.lines.append(f"where {self.names[key]} {sign} {what}")
        return self.names[key]

    def fresh(self, stem: str) -> str:
        """The next of stem₁, stem₂, …"""
        k = self.counts[stem] = self.counts.get(stem, 0) + 1
        name = f"{stem}{subscript(k)}"
        return self.fresh(stem) if name in self.taken else name

    def alone(self, name: str) -> str:
        """The name of a parameter, with primes as long as something else is called so."""
        while name in self.taken:
            name += "′"
        self.taken.add(name)
        return name

    def vector(self, v: Vec[Any]) -> str:
        """A scalar's value, the number that fills an array, or a name."""
        if len(v.leaves) == 1 and v.space.is_space:
            found = filling(v.leaves[0])
            if found is not None:
                return self.number(found)
        return self.of(v.token, v.space)

    def const(self, c: Const) -> str:
        """A number's value, or a name."""
        found = c.number if c.number is not None or not c.leaf.is_field else filling(c.array)
        return self.of(c.key, c.leaf) if found is None else self.number(found)

    def shortened(self, parts: Chain[Any], doc: Callable[[Any], Doc], *, backwards: bool = False) -> list[Doc]:
        """The docs of the parts, without those in the middle of a long chain where a page has few lines."""
        if self.page.lines is None or len(parts) <= 2 * SHORT:
            return [doc(part) for part in (reversed(list(parts)) if backwards else parts)]
        ends = [*parts[:SHORT], *parts[-SHORT:]]
        docs = [doc(part) for part in (reversed(ends) if backwards else ends)]
        self.hidden += len(parts) - len(ends)
        return [*docs[:SHORT], Word(f"… {len(parts) - len(ends)} more …"), *docs[SHORT:]]

    def lay(self, doc: str, lets: Sequence[str] = ()) -> str:
        """The page with a line for each definition and each name."""
        return self.page.lay(doc, [*lets, *self.lines], self.hidden)


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


def _over(source: Leaf, count: int) -> str:
    """^X for a map of each element of the axes in front."""
    return raised("", "×".join(map(str, source.axes[:count])), count) if count else ""


Way: TypeAlias = tuple[int | str, ...]
"""Positions of direct sums and names of records, one after the other."""


def path(space: Type) -> list[Way]:
    """For each leaf of a space, what leads to it through direct sums and records."""
    match space:
        case Biproduct():
            keys: Sequence[int | str] = space._part_names or range(len(space.parts))
            return [(key, *rest) for key, part in zip(keys, space.parts, strict=True) for rest in path(part)]
        case Copower(base, _):
            return path(base)
        case TensorProduct() if len(space.leaves) > 1:
            return [(k,) for k in range(len(space.leaves))]
        case _:  # one array, or none
            return [()] * len(space.leaves)


def projection(way: Way) -> Doc | None:
    """π₁, π₂•π₁, π_weights, …; None for the whole."""
    if not way:
        return None
    return line("•", [Word(f"π{key(k)}") for k in reversed(way)])


def key(k: int | str) -> str:
    """₁, or _weights: what tells a part in the signs π and ι."""
    return f"_{k}" if isinstance(k, str) else subscript(k + 1)


def key_of(space: Any, position: int) -> str:
    """The same for a part of a direct sum or of a record."""
    return key(position if space._part_names is None else space._part_names[position])


def nested(space: Type, docs: list[Doc]) -> Doc:
    """⟨…⟩ around the leaves of a space, as its direct sums nest."""
    it = iter(docs)

    def build(s: Any) -> Doc:
        match s:
            case Biproduct():
                return Bracket("⟨", tuple(build(part) for part in s.parts), "⟩", s.names)
            case Copower(base, _):
                return build(base)
            case _ if len(s.leaves) == 1:
                return next(it)
            case _ if not s.leaves:
                return Word("0")
            case _:  # a tensor product: in the order of its arrays
                return Bracket("⟨", tuple(next(it) for _ in s.leaves), "⟩")

    return build(space)


def net_doc(body: Net, name: Callable[[Datum], str], names: Names, lets: list[str]) -> Doc:
    """The doc of a net; `name` gives the text of a datum, lines for shared wires are appended to `lets`."""
    readers, ends = _readers(body), set(body.outputs)

    def read(w: int, flow: Flow) -> Doc | None:
        """What flows out of a wire; None is the identity."""
        if len(flow.terms) == 1 and flow.terms[0] is None:
            return None
        doc = total(t or Word("id") for t in flow.terms)
        if flow.size > SHORT or (readers[w] > 1 and flow.size > 1 and len(render(doc)) > TWICE):
            called = Word(names.fresh("d"))
            lets.append(f"where {called.text} = {render(doc)}")
            flow.terms, flow.size = [called], 1
            return called
        return doc

    def act(arc: Arc, flow: Flow) -> Flow:
        if not readers[arc.dst]:
            return Flow([], 0)  # read by nobody
        source = read(arc.src, flow)
        match arc.map:
            case wire.Same():
                return Flow([source], flow.size)
            case wire.Into() | wire.OutOf() if _is_single(body.wires[arc.src]) or _is_single(body.wires[arc.dst]):
                return Flow([source], flow.size)  # nothing else is in the bundle
            case wire.Scale(k):
                doc = times(names.number(k), source)
            case f:  # sections and single steps: as a text on the left
                text = Word(_wire_text(f, body.wires[arc.src], name, names, lets))
                if arc.dst not in ends and names.page.lines is None and isinstance(f, wire.Reduce):
                    text = Word(f"{text.text}:{body.wires[arc.dst]}")  # what is read from it does not tell its space
                doc = negative(text) if source == MINUS else text if source is None else line("•", [text, source])
        return Flow([doc], flow.size + 1)

    def add(a: Flow, b: Flow) -> Flow:
        return Flow(extended(a.terms, b.terms), a.size + b.size)

    inputs: list[Flow] = [Flow([projection(way)], 1) for way in path(body.dom)]
    flows = fold(body, zip(body.inputs, inputs, strict=True), act, add)
    outputs = [
        Word("0") if flow is None else read(w, flow) or Word("id") for w, flow in zip(body.outputs, flows, strict=True)
    ]
    if len(outputs) == 1 and len(body.cod.parts) == 1:
        return outputs[0]
    return nested(body.cod, outputs) if outputs else Word("0")


@final
@define
class Flow:
    """The terms that have been added into a wire, None for the identity, and how long their text is."""

    terms: list[Doc | None]
    size: int


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


def _wire_text(f: wire.Wire, source: Leaf, name: Callable[[Datum], str], names: Names, lets: list[str]) -> str:
    match f:
        case wire.Same():
            return "id"
        case wire.Scale(k):
            return f"({names.number(k)} ·)"
        case wire.ContractWith(spec, side, datum):
            return section_text(spec, side, name(datum), datum.leaf, source)
        case wire.Reduce(relation, at):
            return reduction(relation, names) + _over(source, at)
        case wire.Move(order):
            front = len(order) - 2
            if order == (*range(front), front + 1, front):
                return f"_ᵀ{_over(source, front)}"
            return f"_ᵀ[{', '.join(str(k + 1) for k in order)}]"
        case wire.Cast():
            return "cast"
        case wire.External():
            return f.name
        case wire.Into(k, _):
            return f"ι{subscript(k + 1)}"
        case wire.OutOf(k):
            return f"π{subscript(k + 1)}"
        case wire.Recur(body, line, datum=datum) | wire.Inverse(body, line, datum=datum):
            called = [names.fresh("c") for _ in line.slots]
            again = ", ".join(called[k] for k in sorted({d.slot for d in refs(body)}) if k >= line.arity)
            follows = f", and {again} of these" if again else ""
            if called:
                lets.append(f"where ({', '.join(called[: line.arity])}) = {name(datum)}{follows}")

            def of_body(d: Datum) -> str:
                return names.const(d) if isinstance(d, Const) else called[d.slot]

            text = render(net_doc(body, of_body, names, lets))
            if isinstance(f, wire.Inverse):
                return f"({text})⁻¹"
            return f"loop{'*' if f.reverse else ''}[{f.index}]({text})"
        case _:
            assert_never(f)
