"""Functions and derivatives in the paper's notation.

Terms print point-free, as they were composed. A program prints as its arguments and result, (W, x, b) ↦ tanh(W⋆x+b), and a
derivative as the linear map in the point. A slot is written in place where its definition is short, and gets a name u₁,
u₂, … and a line `where` otherwise, so that a text is linear in the size of what it shows. Replication prints as nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, cast

from hilbert import Copower, Elements, Unit
from hilbert.map import Map
from hilbert.relation import Full
from hilbert.space import Boolean
from hilbert.term import bottom_up
from linmap import wire
from linmap.datum import Const, Datum
from linmap.notation import Atom, Bracket, Doc, Times, line, operator, page, render, total
from linmap.show import SHORT, Names, linear_doc, net_doc, number, path, reduction, subscript
from linmap.term import LinMap
from diff.term import (
    Bilinear,
    Compose,
    Constant,
    Elementwise,
    Fork,
    Lift,
    Literal,
    Node,
    Parallel,
    Power,
    Program,
    Scaled,
    Sum,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from diff.affine import Pointwise

SUM, PRODUCT, APPLICATION, ATOM = range(4)
"""How tightly a text binds."""


def show(f: Map[Any, Any]) -> str:
    """The text of a function: at most 40 lines of 100 columns."""
    names = Names()
    if isinstance(f, Program):
        return _program(f, names)
    doc = bottom_up(f, lambda node, rec: _doc(node, rec, names))
    return page(render(doc), names.lines)


def _doc(f: Map[Any, Any], rec: Callable[[Any], Doc], names: Names) -> Doc:
    if isinstance(f, LinMap):
        return linear_doc(f, names, names.lines)
    match cast("Node", f):
        case Constant(_, value):
            return Atom(f"K[{names.vector(value)}]")
        case Bilinear(c):
            return Atom(f"({c.symbol})")
        case Compose(parts):
            return line("∘", _shortened(parts, rec, backwards=True))
        case Sum(parts):
            return total(_shortened(parts, rec))
        case Scaled(k, of):
            return line("∘", [Atom(f"({number(k)} ·)"), rec(of)])
        case Fork(parts):
            return Bracket("⟨", tuple(map(rec, parts)), "⟩")
        case Parallel(parts):
            return Times(tuple(map(rec, parts)))
        case Power(of, index):
            return _raised(rec(of), str(index))
        case Lift(of, index, over):
            return _raised(rec(of), f"{index}@{','.join(str(k + 1) for k in over)}")
        case Elementwise() as p:
            return Atom(p.rule.text if not p.params else f"(_^{number(p.params[0])})")
        case Program() as p:
            return _wiring(p) or Atom(f"({_program(p, names, inline=True)})")
        case never:
            assert_never(never)


def _wiring(p: Program[Any, Any]) -> Doc | None:
    """A program without steps that is the identity or a projection: of a direct sum with a discrete part, say."""
    if p.steps:
        return None
    if p.outputs == tuple(range(p.arity)) and p.dom == p.cod:
        return Atom("id")
    space = p.dom.base if isinstance(p.dom, Copower) else p.dom
    start = 0
    for k, part in enumerate(space.parts):
        stop = start + len(part.leaves)
        if p.outputs == tuple(range(start, stop)):
            return Atom(f"π{subscript(k + 1)}")
        start = stop
    return None


def _shortened(parts: Any, rec: Callable[[Any], Doc], *, backwards: bool = False) -> list[Doc]:
    shown = list(parts) if len(parts) <= 2 * SHORT else [*parts[:SHORT], *parts[-SHORT:]]
    docs = [rec(part) for part in (reversed(shown) if backwards else shown)]
    if len(shown) < len(parts):
        docs.insert(SHORT, Atom(f"… {len(parts) - len(shown)} more …"))
    return docs


def _raised(doc: Doc, exponent: str) -> Doc:
    text = render(doc)
    exponent = exponent if exponent.isalnum() else f"{{{exponent}}}"
    return Atom(f"{text}^{exponent}" if isinstance(doc, Atom) else f"({text})^{exponent}")


def show_pointwise(f: Pointwise[Any, Any, Any]) -> str:
    """The linear map in the point: at most 40 lines of 100 columns."""
    names = Names()
    roots = [arc.map.datum for arc in f.body.arcs if isinstance(arc.map, wire.Section)]
    slots = Slots(f.program, names, (d.slot for d in roots if not isinstance(d, Const)))

    def text(datum: Datum) -> str:
        return names.const(datum) if isinstance(datum, Const) else slots.datum(datum.slot)

    lets: list[str] = []
    doc = net_doc(f.body, text, lets)
    return page(render(doc), [*lets, *slots.lines, *names.lines])


def _program(p: Program[Any, Any], names: Names, *, inline: bool = False) -> str:
    slots = Slots(p, names, p.outputs)
    heads = _heads(p)
    arguments = ", ".join(heads)
    results = [slots.text(k, whole=True) for k in p.outputs]
    result = results[0] if len(results) == 1 else _tree(p.cod, results)
    head = f"({arguments})" if len(heads) != 1 else arguments
    text = f"{head} ↦ {result}"
    if not inline:
        return page(text, [*slots.lines, *names.lines])
    names.lines[:0] = slots.lines
    return text


def _tree(space: Any, leaves: list[str]) -> str:
    def build(tree: Any) -> str:
        return f"({', '.join(map(build, tree))})" if isinstance(tree, tuple) else tree

    return build(space.pack(iter(leaves)))


def _heads(p: Program[Any, Any]) -> tuple[str, ...]:
    """The names of the arguments, digits at the end as subscripts."""
    parts = p.dom.parts
    if p.names:
        return tuple(_subscripted(name) for name in p.names)
    return ("x",) if len(parts) == 1 else tuple(f"x{subscript(k + 1)}" for k in range(len(parts)))


def _subscripted(name: str) -> str:
    stem = name.rstrip("0123456789")
    return stem + subscript(int(name[len(stem) :])) if stem and stem != name else name


def _leaf_names(p: Program[Any, Any]) -> list[str]:
    heads = _heads(p)
    parts = p.dom.parts if len(heads) == len(p.dom.parts) else (p.dom,)
    return [head + "".join(subscript(k + 1) for k in way) for head, part in zip(heads, parts, strict=True) for way in path(part)]


class Slots:
    """The texts of a program's slots, as far as `roots` need them."""

    def __init__(self, p: Program[Any, Any], names: Names, roots: Iterable[int]) -> None:
        self.p, self.names = p, names
        self.lines: list[str] = []
        self.texts: dict[int, tuple[str, int]] = {k: (name, ATOM) for k, name in enumerate(_leaf_names(p))}
        roots = set(roots)
        needed = set(roots)
        for k in range(len(p.steps) - 1, -1, -1):
            if p.arity + k in needed:
                needed.update(p.steps[k].args)
        self.whole: dict[int, str] = {}
        outer = roots - {a for k in needed if k >= p.arity for a in p.steps[k - p.arity].args}
        for k in sorted(k for k in needed if k >= p.arity):
            text, binding = self._step(k)
            if len(text) > SHORT and not self._trivial(k):
                self.whole[k] = text
                if k in outer and k in p.outputs:
                    continue
                name = f"u{subscript(len(self.lines) + 1)}"
                self.lines.append(f"where {name} = {text}")
                text, binding = name, ATOM
            self.texts[k] = (text, binding)

    def _trivial(self, k: int) -> bool:
        operation = self.p.steps[k - self.p.arity].operation
        return isinstance(operation, Literal) or self._is_rep(operation)

    @staticmethod
    def _is_rep(operation: Any) -> bool:
        return isinstance(operation, wire.Reduce) and isinstance(operation.relation, Full) and isinstance(
            operation.relation.dom, Unit
        )

    def text(self, k: int, *, whole: bool = False) -> str:
        """The text of a slot: its name if it has one, or (for a result) its definition."""
        return self.whole[k] if whole and k in self.whole and k not in self.texts else self.texts[k][0]

    def datum(self, k: int) -> str:
        """The text of a slot inside a section: a sum is bracketed."""
        text, _ = self.texts[k]
        bracketed = isinstance(self._operation(k), wire.Add) and not text.startswith("u")
        return f"({text})" if bracketed else text

    def _bound(self, k: int, binding: int) -> str:
        text, own = self.texts[k]
        return text if own >= binding else f"({text})"

    def _operation(self, k: int) -> Any:
        return self.p.steps[k - self.p.arity].operation if k >= self.p.arity else None

    def _step(self, k: int) -> tuple[str, int]:
        step = self.p.steps[k - self.p.arity]
        args = step.args
        match step.operation:
            case Literal(value):
                text = self.names.const(value)
                return text, SUM if text.startswith("−") else ATOM
            case Elementwise() as p:
                return self._elementwise(p, args)
            case wire.Contract(spec):
                return self._contract(spec, *args)
            case wire.Add():
                left, right = args
                minus = self._operation(right)
                if isinstance(minus, wire.Scale) and minus.k == -1.0:
                    inner = self.p.steps[right - self.p.arity].args[0]
                    return f"{self._bound(left, SUM)}−{self._bound(inner, PRODUCT)}", SUM
                text = self._bound(right, SUM)
                return f"{self._bound(left, SUM)}{'' if text.startswith('−') else '+'}{text}", SUM
            case wire.Scale(-1.0):
                return f"−{self._bound(args[0], PRODUCT)}", SUM
            case wire.Scale(factor):
                text = f"{number(factor)}·{self._bound(args[0], PRODUCT)}"
                return text, SUM if factor < 0 else PRODUCT
            case wire.Reduce(relation, _) as operation:
                if self._is_rep(operation):
                    return self.texts[args[0]]
                return f"{reduction(relation)} {self._bound(args[0], ATOM)}", APPLICATION
            case wire.Move():
                return f"{self._bound(args[0], ATOM)}ᵀ", ATOM
            case wire.Cast():
                return f"cast {self._bound(args[0], ATOM)}", APPLICATION
            case never:
                assert_never(never)

    def _elementwise(self, p: Elementwise[Any, Any], args: tuple[int, ...]) -> tuple[str, int]:
        name = p.rule.text
        if len(args) == 2:  # noqa: PLR2004 - binary
            if name in {">", "≥", "<", "≤", "∧", "∨"}:
                return f"{self._bound(args[0], PRODUCT)} {name} {self._bound(args[1], PRODUCT)}", SUM
            if name == "/":
                return f"{self._bound(args[0], PRODUCT)} / {self._bound(args[1], APPLICATION)}", PRODUCT
            return f"{name}({self.texts[args[0]][0]}, {self.texts[args[1]][0]})", APPLICATION
        (x,) = args
        match p.name:
            case "reciprocal":
                return f"1/{self._bound(x, APPLICATION)}", PRODUCT
            case "square":
                return f"{self._bound(x, ATOM)}²", ATOM
            case "power":
                return f"{self._bound(x, ATOM)}^{number(p.params[0])}", ATOM
            case "absolute":
                return f"|{self.texts[x][0]}|", ATOM
        if name.endswith("'"):  # a derivative in terms of the value: shown in terms of the argument
            inner = self._operation(x)
            if isinstance(inner, Elementwise) and inner.name == p.name[:-1]:
                return f"{inner.rule.text}'({self.texts[self.p.steps[x - self.p.arity].args[0]][0]})", ATOM
            return f"({name}∘{p.name[:-1]}⁻¹)({self.texts[x][0]})", ATOM
        text, binding = self.texts[x]
        return (f"{name} {text}" if binding == ATOM and not text.startswith("(") else f"{name}({text})"), APPLICATION

    def _contract(self, spec: Any, left: int, right: int) -> tuple[str, int]:
        for this, other in ((left, right), (right, left)):
            base = self.p.slots[this].base
            if isinstance(base, Boolean):
                return f"{self._bound(other, ATOM)}[{self.texts[this][0]}]", ATOM
            if isinstance(base, Elements):
                one = self._operation(other)
                if isinstance(one, Literal) and one.value.number == 1.0:
                    return f"e[{self.texts[this][0]}]", ATOM
                return f"{self._bound(other, ATOM)}[{self.texts[this][0]}]", ATOM
        sign, flip_left, flip_right, swapped = operator(spec)
        if sign == "·":
            for this, other in ((left, right), (right, left)):
                if getattr(self._operation(other), "name", "") == "reciprocal":
                    below = self.p.steps[other - self.p.arity].args[0]
                    return f"{self._bound(this, PRODUCT)} / {self._bound(below, APPLICATION)}", PRODUCT
        a = self._bound(left, APPLICATION if sign != "·" else PRODUCT)
        b = self._bound(right, APPLICATION if sign != "·" else PRODUCT)
        a = f"{self._bound(left, ATOM)}ᵀ" if flip_left else a
        b = f"{self._bound(right, ATOM)}ᵀ" if flip_right else b
        return (f"{b}{sign}{a}" if swapped else f"{a}{sign}{b}"), PRODUCT
