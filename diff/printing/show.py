"""Functions and derivatives in the paper's notation.

Terms print point-free, as they were composed. A program prints as its arguments and result, (W, x, b) ↦ tanh(W⋆x+b),
and a derivative as the linear map in the point. A slot is written in place where its definition is short, and gets a
name u₁, u₂, … and a line `where` otherwise, so that a text is linear in the size of what it shows. Replication prints
as nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, cast

import numpy as np

from diff.printing.program_names import all_names, heads
from diff.printing.show_control import scoped
from diff.printing.show_steps import Slots
from diff.terms.elementwise import Elementwise
from diff.terms.linearization import AnyLinearization, Linearization
from diff.terms.nodes import Bilinear, Compose, Constant, Fork, Lift, Node, Parallel, Power, Scaled, Sum
from diff.terms.program import AnyProgram, Program
from hilbert import Copower, SpaceError, Vec
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.base.term import postorder
from hilbert.errors import integer, shown
from hilbert.map.map import AnyMap, Map
from hilbert.program.line.constant import Const
from hilbert.space.nested_sums import named
from linmap.printing.net_text import net_doc
from linmap.printing.notation import PAGE, Bracket, Doc, Listing, Page, Times, Word, line, render, times, total
from linmap.printing.part_text import key_of
from linmap.printing.shared_text import shared_doc
from linmap.printing.show import node_doc
from linmap.printing.show import show as show_linear
from linmap.printing.text_names import Names
from linmap.term import wire
from linmap.term.datum import Datum, Ref
from linmap.term.linear_map import LinMap

if TYPE_CHECKING:
    from collections.abc import Callable


SUM, PRODUCT, APPLICATION, ATOM = range(4)
"""Degrees of how tightly a text binds."""


def show(f: AnyMap | AnyLinearization | Listing | Vec[Any], lines: int | None = None, digits: int | None = None) -> str:
    """The text of a function, a linear map or a derivative, in full; or so many lines, numbers to so many digits.

    `str(f)` is `show(f, lines=40, digits=6)`. Of `explain(f)` these are the lines of its steps. Lines have at most 100
    columns. Of a vector it is the line of its entries. Raises SpaceError for other things, and for numbers of lines or
    digits that are no integers from 1 on.
    """
    for count, what in ((lines, "lines"), (digits, "digits")):
        if count is not None and (integer(count) is None or count < 1):
            msg = f"show(f, {what}=n) takes an integer from 1 on, or None for all of them, not {shown(count)}"
            raise SpaceError(msg)
    if isinstance(f, Listing):
        return f.text(lines)
    sheet = Page(lines, digits)
    if isinstance(f, LinMap):
        return show_linear(f, sheet)
    if isinstance(f, Map):
        return show_function(f, sheet)
    if isinstance(f, Linearization):
        return show_linearization(f, sheet)
    if isinstance(f, Vec):
        return show_vector(f, digits)
    msg = f"show takes a map, a derivative or a vector, not {shown(f)}"
    raise SpaceError(msg)


def show_vector(v: Vec[Any], digits: int | None) -> str:
    """All entries of a vector, so many significant digits of each."""
    if v.is_formal:
        return str(v)

    def rounded(a: Any) -> Any:
        return np.vectorize(lambda k: float(f"{k:.{digits}g}"), otypes=[float])(a) if a.dtype.kind == "f" else a

    arrays = [to_numpy(a) for a in v.leaves]
    entries = v.space.pack(iter([(rounded(a) if digits and a.size else a).tolist() for a in arrays]))
    return f"{named(v.space, entries)} ∈ {v.space}"


def show_function(f: AnyMap, page: Page = PAGE) -> str:
    """The text of a function."""
    names = Names((name for p in postorder(f) if isinstance(p, Program) for name in all_names(p)), page)
    if isinstance(f, Program):
        text, lines = _program(f, names)
        return names.lay(text, lines)
    doc = shared_doc(f, lambda node, rec: _doc(cast("AnyMap", node), rec, names), names, names.lines)
    return names.lay(render(doc))


def _doc(f: AnyMap, rec: Callable[[Any], Doc], names: Names) -> Doc:
    if isinstance(f, LinMap):
        return node_doc(f, rec, names, names.lines)
    match cast("Node", f):
        case Constant(_, value):
            return Word(f"K[{names.vector(value)}]")
        case Bilinear(c):
            return Word(f"({c.symbol})")
        case Compose(parts):
            return line("∘", _one_hot(names.shortened(parts, rec, backwards=True)))
        case Sum(parts):
            return total(names.shortened(parts, rec))
        case Scaled(k, of):
            return times(names.number(k), rec(of), "∘")
        case Fork(parts):
            return Bracket("⟨", tuple(map(rec, parts)), "⟩")
        case Parallel(parts):
            return Times(tuple(map(rec, parts)))
        case Power(of, index):
            return _raised(rec(of), str(index))
        case Lift(of, index, over):
            return _raised(rec(of), f"{index}@{','.join(str(k + 1) for k in over)}")
        case Elementwise() as p:
            return Word(p.rule.text.format(k=names.number(p.params[0])) if p.params else p.rule.text)
        case Program() as p:
            return _wiring(p) or Word(_inline(p, names))
        case never:
            assert_never(never)


def _wiring(p: AnyProgram) -> Doc | None:
    """A program without steps that is the identity or a projection: of a direct sum with a discrete part, say."""
    if p.steps:
        return None
    if p.outputs == tuple(range(p.arity)) and p.dom == p.cod:
        return Word("id")
    space = p.dom.base if isinstance(p.dom, Copower) else p.dom
    start = 0
    for k, part in enumerate(space.parts):
        stop = start + len(part.leaves)
        if p.outputs == tuple(range(start, stop)):
            return Word(f"π{key_of(space, k)}")
        start = stop
    return None


def _one_hot(docs: list[Doc]) -> list[Doc]:
    """(e) ∘ ⟨K[1], f⟩ is e ∘ f."""
    shown: list[Doc] = []
    for doc in docs:
        match doc:
            case Bracket("⟨", (Word("K[1]"), index)) if shown and shown[-1] == Word("(e)"):
                shown[-1:] = [Word("e"), index]
            case _:  # only e and its index change places
                shown.append(doc)
    return shown


def _raised(doc: Doc, exponent: str) -> Doc:
    text = render(doc)
    exponent = exponent if exponent.isalnum() else f"{{{exponent}}}"
    return Word(f"{text}^{exponent}" if isinstance(doc, Word) else f"({text})^{exponent}")


def formula(p: AnyProgram) -> str | None:
    """The result of a program in the names of its arguments, where it is one line."""
    names = Names(all_names(p), PAGE)
    text, lines = _program(p, names, inline=True)
    return None if names.lines or lines else text.partition(" ↦ ")[2]


def show_linearization(f: AnyLinearization, page: Page = PAGE) -> str:
    """The text of a linear map in the point."""
    names = Names(all_names(f.program), page)
    roots = (wire.datum_of(arc.map) for arc in f.body.arcs)
    slots = Slots(f.program, names, (d.slot for d in roots if isinstance(d, Ref)))

    def text(datum: Datum) -> str:
        return names.const(datum) if isinstance(datum, Const) else slots.datum(datum.slot)

    lets: list[str] = []
    doc = net_doc(f.body, text, names, lets)
    return names.lay(render(doc), [*lets, *slots.lines])


def _inline(p: AnyProgram, names: Names) -> str:
    """A program inside a term, in brackets, or its name."""
    text, lines = _program(p, names, inline=True)
    called, lines = scoped(text, heads(p), lines, names)
    names.lines[:0] = lines
    return f"({text})" if called == text else called


def _program(p: AnyProgram, names: Names, *, inline: bool = False) -> tuple[str, list[str]]:
    """Its arguments and its result; and the lines of its definitions."""
    slots = Slots(p, names, p.outputs, p.outputs)
    arguments = ", ".join(heads(p))
    results = [slots.result(k) for k in p.outputs]
    is_tuple = isinstance(p.cod.pack(iter(results)), tuple)
    result = _tree(p.cod, [r.tight for r in results]) if is_tuple or inline else results[0].wide
    head = f"({arguments})" if len(heads(p)) != 1 else arguments
    return f"{head} ↦ {result}", slots.lines


def _tree(space: Any, leaves: list[str]) -> str:
    return named(space, space.pack(iter(leaves)), lambda leaf: leaf or "0")
