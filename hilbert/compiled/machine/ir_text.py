"""The tree as text of LLVM: one function for each stretch between two calls of the interpreter's kernels.

The function takes a table of addresses: of the inputs, the outputs, the constants and the workspace, one buffer each.
Buffers do not overlap, and loops that are marked say so; sums along a loop may be put together in any order, and a
product may be added without being rounded. Nothing else of floating-point arithmetic is changed.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, final

from attrs import define, field

from hilbert.compiled.machine.elementary import FUNCTIONS
from hilbert.compiled.machine.ir_scalars import constant, declarations, definition, kept, symbol
from hilbert.compiled.merge.accesses import accesses
from hilbert.compiled.tree.places import Division, Place, Variable
from hilbert.compiled.tree.statements import For, If, Product, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.machine.machine import Target
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Value

TYPES = {"float64": "double", "float32": "float", "bool": "i1", "int64": "i64"}
SUFFIX = {"float64": "f64", "float32": "f32"}
STORED = TYPES | {"bool": "i8"}
BYTES = {"float64": 8, "float32": 4, "bool": 1, "int64": 8}
FLOATS = {"gt": "ogt", "ge": "oge", "lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
INTS = {"gt": "sgt", "ge": "sge", "lt": "slt", "le": "sle", "eq": "eq", "ne": "ne"}
ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul", "div": "div"}
TWO = {"pow", "hypot", "atan2", "llvm.maximum", "llvm.minimum"}
"""The functions of two numbers."""


@final
@define
class Module:
    """The text of a program: a function for each stretch, and what they use."""

    target: Target
    functions: list[str] = field(factory=list)
    used: set[tuple[str, str]] = field(factory=set)
    metadata: list[str | None] = field(factory=list)

    def add(self, name: str, statements: Sequence[Statement], table: Sequence[Buffer]) -> None:
        """Add the function of a stretch; `table` are the buffers in memory, in the order of their addresses."""
        self.functions.append(_Function(self, table).text(name, statements))

    @property
    def text(self) -> str:
        """The text of the whole."""
        own = [key for key in sorted(self.used) if key[0] in FUNCTIONS]
        lines = [_declaration(*key) for key in sorted(self.used) if key not in own]
        for dtype in sorted({dtype for _, dtype in own}):
            lines += declarations([name for name, of in own if of == dtype], dtype)
        made = [definition(*key, has_fma=self.target.has_fma, vector_bits=self.target.vector_bits) for key in own]
        metadata = [f"!{k} = {text}" for k, text in enumerate(self.metadata)]
        width = self.target.vector_bits or 128
        attributes = f'attributes #0 = {{ nounwind "prefer-vector-width"="{width}" }}'
        return "\n".join([*dict.fromkeys(lines), *kept(own), *made, *self.functions, attributes, *metadata, ""])

    def note(self, text: str | None) -> int:
        """The number of a node of metadata."""
        self.metadata.append(text)
        return len(self.metadata) - 1


@final
class _Function:
    """The text of one function."""

    def __init__(self, module: Module, table: Sequence[Buffer]) -> None:
        self.module, self.table = module, table
        self.lines: list[str] = []
        self.count = 0
        self.at: dict[Variable, str] = {}
        self.values: dict[Value, str] = {}
        self.places: dict[Place, str] = {}
        self.entry: list[str] = []
        self.group: int | None = None
        self.is_foreign = False  # a function of the machine's library is called

    def text(self, name: str, statements: Sequence[Statement]) -> str:
        """The definition: the addresses are loaded by one function, and given to the other as what does not overlap."""
        found = {buffer for s in statements for buffer in accesses(s, constants=True)}
        used = [k for k, buffer in enumerate(self.table) if buffer in found]
        local = sorted((b for b in found if b.is_local and b.kind == "work"), key=lambda b: b.name)
        self.body(statements)
        allocated = [
            f"  %{b.name} = alloca [{max(b.size, 1)} x {STORED[b.dtype]}], align 64" for b in local
        ]
        parameters = ", ".join([*(_parameter(self.table[k]) for k in used), "ptr %blas"])
        core = [f"define internal void @{name}.core({parameters}) noinline #0 {{", "entry:", *allocated]
        core += [*self.entry, *self.lines, "  ret void", "}"]
        enter = [f"define void @{name}(ptr %table, ptr %blas) #0 {{"]
        for k in used:
            enter += [f"  %q{k} = getelementptr ptr, ptr %table, i64 {k}", f"  %p{k} = load ptr, ptr %q{k}"]
        given = ", ".join([f"ptr %p{k}" for k in used] + ["ptr %blas"])
        return "\n".join([*core, *enter, f"  call void @{name}.core({given})", "  ret void", "}"])

    # --- statements ---

    def body(self, statements: Sequence[Statement]) -> None:
        """The text of statements, in order."""
        for statement in statements:
            match statement:
                case For():
                    if statement.variable.size:
                        self.loop(statement)
                case Store():
                    self.store(statement)
                case If():
                    self.branch(statement)
                case Product():
                    self.product(statement)
                case _:
                    raise TypeError(statement)

    def put(self, text: str) -> str:
        """A line of text with a new name for its result."""
        self.count += 1
        self.lines.append(f"  %e{self.count} = {text}")
        return f"%e{self.count}"

    def label(self) -> str:
        """A new label."""
        self.count += 1
        return f"L{self.count}"

    def loop(self, loop: For) -> None:
        """A loop that counts up, with what is known of its rounds."""
        variable, head, end = loop.variable, self.label(), self.label()
        before = self.label()
        self.lines += [f"  br label %{before}", f"{before}:", f"  br label %{head}", f"{head}:"]
        counter, place = f"%c{head}", len(self.lines)
        self.lines.append("")
        outer, self.at[variable] = self.at.get(variable), counter
        self.values, places, group = {}, self.places, self.group
        self.places = dict(places)
        if loop.is_parallel:
            self.group = self.module.note("distinct !{}")
        before_it, self.is_foreign = self.is_foreign, False
        self.body(loop.body)
        hints = ""
        if loop.is_parallel:
            assert self.group is not None
            hints = f", !llvm.loop !{self.hints(variable.size, self.group)}"
        self.is_foreign |= before_it
        self.group = group
        last = self.label()
        self.lines += [f"  br label %{last}", f"{last}:"]
        following = self.put(f"add nuw nsw i64 {counter}, 1")
        more = self.put(f"icmp ult i64 {following}, {variable.size}")
        self.lines[place] = f"  {counter} = phi i64 [ 0, %{before} ], [ {following}, %{last} ]"
        self.lines += [f"  br i1 {more}, label %{head}, label %{end}{hints}", f"{end}:"]
        self.values, self.places = {}, places
        if outer is None:
            del self.at[variable]
        else:
            self.at[variable] = outer

    def hints(self, size: int, group: int) -> int:
        """The number of the node that says what is known of a loop whose rounds do not meet."""
        note = self.module.note
        hints = [note(f'!{{!"llvm.loop.parallel_accesses", !{group}}}')]
        if size >= 8 and not self.is_foreign:  # LLVM says on stderr what it cannot do
            hints.append(note('!{!"llvm.loop.vectorize.enable", i1 true}'))
            if size % 8 and size < 256:
                hints.append(note('!{!"llvm.loop.vectorize.predicate.enable", i1 true}'))
        me = note(None)
        self.module.metadata[me] = f"distinct !{{!{me}, {', '.join(f'!{h}' for h in hints)}}}"
        return me

    def branch(self, statement: If) -> None:
        """One of two lists."""
        condition = self.value(statement.condition)
        then, otherwise, end = self.label(), self.label(), self.label()
        self.lines += [f"  br i1 {condition}, label %{then}, label %{otherwise}"]
        for label, part in ((then, statement.then), (otherwise, statement.otherwise)):
            self.lines.append(f"{label}:")
            values, places, self.values, self.places = self.values, self.places, {}, dict(self.places)
            self.body(part)
            self.values, self.places = values, places
            self.lines.append(f"  br label %{end}")
        self.lines.append(f"{end}:")
        self.values = {}

    def store(self, store: Store) -> None:
        """A store, of a value put to what is there if there is a monoid."""
        value, dtype = self.value(store.value), store.buffer.dtype
        address = self.address(store.buffer, store.places)
        if store.monoid is not None:
            old = self._loaded(dtype, address)
            value = self._put_together(store.monoid, dtype, old, value)
        if dtype == "bool":
            value = self.put(f"zext i1 {value} to i8")
        self.lines.append(f"  store {STORED[dtype]} {value}, ptr {address}{self._access}")
        self.values = {}  # what is read from memory may be another from here on

    def _put_together(self, monoid: str, dtype: str, a: str, b: str) -> str:
        t = TYPES[dtype]
        if monoid == "add":
            return self.put(f"add i64 {a}, {b}" if dtype == "int64" else f"fadd reassoc contract {t} {a}, {b}")
        if monoid in {"or", "and"}:
            return self.put(f"{monoid} i1 {a}, {b}")
        return self._intrinsic(f"{monoid}imum", dtype, a, b)

    @property
    def _access(self) -> str:
        return f", !llvm.access.group !{self.group}" if self.group is not None else ""

    def product(self, statement: Product) -> None:
        """A call of BLAS: what is stored by rows is the transpose of what it takes."""
        m, n, k = statement.sizes
        ta, tb = statement.transposed
        dtype = statement.c.dtype
        t = TYPES[dtype]

        def slot(type_: str, number: str) -> str:
            self.count += 1
            place = f"%e{self.count}"
            self.entry += [f"  {place} = alloca {type_}", f"  store {type_} {number}, ptr {place}"]
            return place

        one, zero = _number(1.0, dtype), _number(0.0, dtype)
        letters = [slot("i8", "84" if flag else "78") for flag in (tb, ta)]
        sizes = [slot("i32", str(size)) for size in (n, m, k)]
        ldb, lda, ldc = (slot("i32", str(size)) for size in (k if tb else n, m if ta else k, n))
        given = [*letters, *sizes, slot(t, one), self.base(statement.b), ldb]
        given += [self.base(statement.a), lda, slot(t, zero), self.base(statement.c), ldc]
        table = 0 if dtype == "float64" else 1
        pointer = self.put(f"getelementptr ptr, ptr %blas, i64 {table}")
        function = self.put(f"load ptr, ptr {pointer}")
        self.lines.append(f"  call void {function}({', '.join(f'ptr {g}' for g in given)})")
        self.values = {}

    # --- places and values ---

    @staticmethod
    def base(buffer: Buffer) -> str:
        """The name of a buffer's address."""
        return f"%{buffer.name}"

    def address(self, buffer: Buffer, places: tuple[Place, ...]) -> str:
        """The address of an entry."""
        flat = Place(0)
        for place, stride in zip(places, buffer.strides, strict=True):
            flat += place * stride
        return self.put(
            f"getelementptr inbounds {STORED[buffer.dtype]}, ptr {self.base(buffer)}, i64 {self.place(flat)}"
        )

    def place(self, place: Place) -> str:
        """The integer that a place is."""
        if not place.terms:
            return str(place.offset)
        found = self.places.get(place)
        if found is not None:
            return found
        total = ""
        for atom, k in place.terms:
            match atom:
                case Variable():
                    term = self.at[atom]
                case Division(of, n, remainder):
                    term = self.put(f"{'urem' if remainder else 'udiv'} i64 {self.place(of)}, {n}")
                case _:
                    term = self.value(atom)
            term = term if k == 1 else self.put(f"mul nsw i64 {term}, {k}")
            total = term if not total else self.put(f"add nsw i64 {total}, {term}")
        if place.offset:
            total = self.put(f"add nsw i64 {total}, {place.offset}")
        if all(isinstance(atom, Variable) for atom, _ in place.terms):
            self.places[place] = total
        return total

    def _loaded(self, dtype: str, address: str) -> str:
        loaded = self.put(f"load {STORED[dtype]}, ptr {address}{self._access}")
        return self.put(f"icmp ne i8 {loaded}, 0") if dtype == "bool" else loaded

    def value(self, value: Value) -> str:
        """The name of a value, whose operations are written if they are not."""
        waiting = [value]
        while waiting:
            top = waiting[-1]
            if top in self.values or top.name == "number":
                waiting.pop()
                continue
            left = [a for a in top.values if a not in self.values and a.name != "number"]
            if left:
                waiting += reversed(left)
                continue
            waiting.pop()
            self.values[top] = self._operation(top)
        return self._name(value)

    def _name(self, value: Value) -> str:
        return _number(value.args[0], value.dtype) if value.name == "number" else self.values[value]

    def _intrinsic(self, name: str, dtype: str, *args: str) -> str:
        self.module.used.add((f"llvm.{name}", dtype))
        t = TYPES[dtype]
        return self.put(f"call {t} @llvm.{name}.{SUFFIX[dtype]}({', '.join(f'{t} {a}' for a in args)})")

    def _operation(self, top: Value) -> str:
        """The line of text of an operation whose operands are written."""
        dtype, t = top.dtype, TYPES[top.dtype]
        if top.name == "load":
            return self._loaded(dtype, self.address(*top.args))
        if top.name == "place":
            return self.place(top.args[0])
        args = [self._name(a) for a in top.values]
        of = top.values[0].dtype
        match top.name:
            case "add" | "sub" | "mul" | "div":
                if dtype == "int64":
                    return self.put(f"{'sdiv' if top.name == 'div' else top.name} i64 {args[0]}, {args[1]}")
                return self.put(f"f{top.name} contract {t} {args[0]}, {args[1]}")
            case "neg":
                return self.put(f"sub i64 0, {args[0]}" if dtype == "int64" else f"fneg {t} {args[0]}")
            case "max" | "min":
                return self._intrinsic(f"{top.name}imum", dtype, *args)
            case "abs":
                return self._intrinsic("fabs", dtype, *args)
            case "sqrt":
                return self._intrinsic("sqrt", dtype, *args)
            case "round":
                return self._intrinsic("rint", dtype, *args)
            case "gt" | "ge" | "lt" | "le" | "eq" | "ne":
                how = f"fcmp {FLOATS[top.name]}" if of in SUFFIX else f"icmp {INTS[top.name]}"
                return self.put(f"{how} {TYPES[of]} {args[0]}, {args[1]}")
            case "and" | "or":
                return self.put(f"{top.name} i1 {args[0]}, {args[1]}")
            case "not":
                return self.put(f"xor i1 {args[0]}, true")
            case "select":
                return self.put(f"select i1 {args[0]}, {t} {args[1]}, {t} {args[2]}")
            case "cast":
                return self._cast(of, dtype, args[0])
            case "call":
                self.module.used.add((top.args[0], dtype))
                self.is_foreign |= top.args[0] not in FUNCTIONS
                name = called(top.args[0], dtype)
                return self.put(f"call {t} @{name}({', '.join(f'{t} {a}' for a in args)})")
            case _:
                raise TypeError(top.name)

    def _cast(self, of: str, to: str, value: str) -> str:
        a, b = TYPES[of], TYPES[to]
        if of == "bool":
            return self.put(f"uitofp i1 {value} to {b}" if to in SUFFIX else f"zext i1 {value} to {b}")
        if of == "int64":
            return self.put(f"sitofp i64 {value} to {b}")
        return self.put(f"{'fptrunc' if to == 'float32' else 'fpext'} {a} {value} to {b}")


def called(name: str, dtype: str) -> str:
    """The name of a function of numbers in the text."""
    if name in FUNCTIONS:
        return symbol(name, dtype)
    return name + ("f" if dtype == "float32" else "")


def _number(number: float | bool, dtype: str) -> str:
    """A number as LLVM writes it; those of 32 bits are written as the double that they are."""
    if dtype == "bool":
        return "true" if number else "false"
    if dtype == "int64":
        return str(int(number))
    if dtype == "float32":
        try:
            (number,) = struct.unpack("<f", struct.pack("<f", number))
        except OverflowError:
            number = float("inf") if number > 0 else float("-inf")
    return constant(number)


def _parameter(buffer: Buffer) -> str:
    """The parameter of a buffer's address; those of users' arrays are multiples of the size of an entry."""
    own = buffer.kind in {"constant", "work"}
    return f"ptr noalias nocapture align {8 if own else BYTES[buffer.dtype]} %{buffer.name}"


def _declaration(name: str, dtype: str) -> str:
    """The line that declares a function of the machine's library, or one of LLVM's."""
    t = TYPES[dtype]
    given = ", ".join([t] * (2 if name in TWO else 1))
    if name.startswith("llvm."):
        return f"declare {t} @{name}.{SUFFIX[dtype]}({given})"
    return f"declare {t} @{called(name, dtype)}({given}) nounwind willreturn memory(none)"
