"""The tree of a compiled program as C: a function that takes memory for each buffer, so that sanitizers see accesses.

Values are computed as the machine code computes them, before the choices that they stand in. Memory is filled with bits
that are NaN, no place and no truth value; axes are axes of C, so that a place outside one is found inside a buffer too.
Parallel loops run from their last round to their first where `backwards` is set. `c_printer.h` has what is called.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from attrs import define, field

from hilbert.compiled.tree.accesses import accesses
from hilbert.compiled.tree.places import Division, Variable
from hilbert.compiled.tree.statements import For, If, Product, Routine, Store
from hilbert.compiled.tree.values import SIGNS, Value, unfinished

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Place
    from hilbert.compiled.tree.statements import Given, Statement

TYPES = {"float64": "double", "float32": "float", "bool": "_Bool", "int64": "int64_t", "int32": "int32_t"}
WORDS = SIGNS | {"ne": "!=", "and": "&", "or": "|"}


def printed(name: str, statements: Sequence[Statement], takes: Sequence[Buffer], gives: Sequence[Buffer]) -> str:
    """The function of some statements, which reads some buffers from its input and writes some to its output."""
    found = {b: None for s in statements for b in accesses(s, constants=True)}
    to = _Function()
    for b in dict.fromkeys([*takes, *gives, *found]):
        axes = "".join(f"[{b.shape[k]}]" for k in b.order)
        dtype, make = TYPES[b.dtype], "taken" if b in takes else "fresh"
        to.lines.append(f"{dtype} (*const {b.name}){axes} = {make}({b.size} * sizeof({dtype}));")
    to.body(statements)
    to.lines += [f"given({b.name}, {b.size} * sizeof({TYPES[b.dtype]}));" for b in gives]
    return "\n".join([f"void {name}(void) {{", *to.lines, "}\n"])


@define
class _Function:
    """The lines of a function, and the names of the values of a statement."""

    lines: list[str] = field(factory=list)
    names: dict[Value, str] = field(factory=dict)

    def body(self, statements: Iterable[Statement]) -> None:
        """The lines of statements; each knows only its own values."""
        for statement in statements:
            self.names = {}
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """The lines of a statement."""
        self.lines.append("{")
        match statement:
            case For(variable, body, _, is_parallel):
                i, n = variable.name, variable.size
                at = f"backwards ? {n - 1} - {i}_at : {i}_at" if is_parallel else f"{i}_at"
                self.lines += [f"for (int64_t {i}_at = 0; {i}_at < {n}; {i}_at++) {{", f"const int64_t {i} = {at};"]
                self.body(body)
            case If(condition, then, otherwise):
                self.lines.append(f"if ({self.value(condition)}) {{")
                self.body(then)
                self.lines.append("} else {")
                self.body(otherwise)
            case Store(buffer, places, value, monoid):
                new, to = self.value(value), self.entry(buffer, places)
                put = new if monoid is None else _operation(monoid, buffer.dtype, [to, new])
                self.lines.append(f"{{ {to} = {put};")
            case Routine(name, given):
                self.lines.append(f"{{ {name}({', '.join(map(self.argument, given))});")
            case _:
                assert isinstance(statement, Product)
                self.product(statement)
        self.lines.append("}}")

    def product(self, s: Product) -> None:
        """A product as loops over flat memory."""
        (m, n, k), (ta, tb), t = s.sizes, s.transposed, TYPES[s.c.dtype]
        a, b, c = (f"(({t} *){buffer.name})[{self.place(at)} + " for buffer, at in s.flat)
        a += f"h * {s.leads[0]} + i]" if ta else f"i * {s.leads[0]} + h]"
        b += f"j * {s.leads[1]} + h]" if tb else f"h * {s.leads[1]} + j]"
        c += f"i * {s.leads[2]} + j]"
        self.lines += [
            f"for (int64_t i = 0; i < {m}; i++) for (int64_t j = 0; j < {n}; j++) {{ {t} sum = 0;",
            f"for (int64_t h = 0; h < {k}; h++) sum += {a} * {b};",
            f"{c} = sum{f' + {c}' if s.adds else ''};",
        ]

    def argument(self, one: Given) -> str:
        """A letter, a size or an address."""
        match one:
            case str(letter):
                return f"'{letter}'"
            case (buffer, start):
                return f"({TYPES[buffer.dtype]} *){buffer.name} + {self.place(start)}"
            case number:
                return str(number)

    def entry(self, buffer: Buffer, places: tuple[Place, ...]) -> str:
        """The entry of a buffer."""
        return f"(*{buffer.name})" + "".join(f"[{self.place(places[k])}]" for k in buffer.order)

    def place(self, place: Place) -> str:
        """The integer that a place is."""
        terms = [str(place.offset)]
        for atom, k in place.terms:
            if isinstance(atom, Variable):
                term = atom.name
            elif isinstance(atom, Division):
                term = f"{'rest' if atom.remainder else 'whole'}({self.place(atom.of)}, {atom.n})"
            else:
                assert isinstance(atom, Value)
                term = self.value(atom)
            terms.append(f"{k} * {term}")
        return " + ".join(terms)

    def value(self, value: Value) -> str:
        """The name of a value; it is computed before, and so are its operands."""
        for top in unfinished(value, self.names):
            text = self.text(top)
            self.names[top] = name = f"e{len(self.names)}"
            self.lines.append(f"const {TYPES[top.dtype]} {name} = {text};")
        return self.names[value]

    def text(self, top: Value) -> str:
        """An operation on values that have names."""
        match top.name:
            case "number":
                return _number(top.args[0], top.dtype)
            case "load":
                return self.entry(*top.args)
            case "place":
                return self.place(top.args[0])
            case name:
                args = [self.names[a] for a in top.values]
                return _operation(top.args[0] if name == "call" else name, top.dtype, args)


def _operation(name: str, dtype: str, args: list[str]) -> str:
    if name in WORDS:
        return f"{args[0]} {WORDS[name]} {args[1]}"
    if name == "select":
        return f"{args[0]} ? {args[1]} : {args[2]}"
    own = {"neg": "-", "not": "!", "cast": f"({TYPES[dtype]})", "max": "max_", "min": "min_"}
    function = {"abs": "fabs", "round": "rint"}.get(name, name) + ("f" if dtype == "float32" else "")
    return f"{own.get(name, function)}({', '.join(args)})"


def _number(number: Any, dtype: str) -> str:
    text = "NAN" if number != number else "INFINITY" if number > 0 else "-INFINITY"  # noqa: PLR0124 - NaN
    return f"({TYPES[dtype]})({float(number).hex() if math.isfinite(number) else text})"
