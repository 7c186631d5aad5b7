"""The tree as text of LLVM: one function for each stretch between two calls of the interpreter's kernels.

The function takes a table of addresses: of the inputs, the outputs, the constants and the workspace, one buffer each,
and, last, of the functions of BLAS; one of a long loop takes also the first of the rounds and their end.
Buffers do not overlap, and loops that are marked say so; sums along a loop may be put together in any order, and a
product may be added without being rounded. Nothing else of floating-point arithmetic is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from hilbert.compiled.machine.elementary import FUNCTIONS
from hilbert.compiled.machine.elementary_definitions import called, declaration, declarations, definition, kept
from hilbert.compiled.machine.ir_hints import hints_of
from hilbert.compiled.machine.ir_words import (
    ROUTINES,
    STORED,
    SUFFIX,
    TYPES,
    number_text,
    parameter,
)
from hilbert.compiled.tree.accesses import accesses
from hilbert.compiled.tree.places import Computed, Division, Place, Variable, combined
from hilbert.compiled.tree.statements import For, If, Product, Routine, Store
from hilbert.compiled.tree.values import Value, computed, unfinished

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.machine.llvm_code import Target
    from hilbert.compiled.machine.lowered_line import Part
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Statement

ORDERED = {"gt": "ogt", "ge": "oge", "lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
SIGNED = {"gt": "sgt", "ge": "sge", "lt": "slt", "le": "sle", "eq": "eq", "ne": "ne"}
ROUNDED = {"abs": "fabs", "sqrt": "sqrt", "round": "rint"}
WHOLE = {
    **{name: f"{name} i64 {{}}, {{}}" for name in ("add", "sub", "mul")},
    **{name: f"call i64 @llvm.s{name}.i64(i64 {{}}, i64 {{}})" for name in ("max", "min")},
    "div": "sdiv i64 {}, {}",
    "neg": "sub i64 0, {}",
    **{name: f"icmp {word} {{t}} {{}}, {{}}" for name, word in SIGNED.items()},
}
LINES = {
    **{name: f"f{name} contract {{t}} {{}}, {{}}" for name in ("add", "sub", "mul", "div")},
    "neg": "fneg {t} {}",
    "and": "and i1 {}, {}",
    "or": "or i1 {}, {}",
    "not": "xor i1 {}, true",
    "select": "select i1 {}, {t} {}, {t} {}",
    **{name: f"fcmp {word} {{t}} {{}}, {{}}" for name, word in ORDERED.items()},
    **{name: f"call {{t}} @llvm.{name}imum.{{s}}({{t}} {{}}, {{t}} {{}})" for name in ("max", "min")},
    **{name: f"call {{t}} @llvm.{word}.{{s}}({{t}} {{}})" for name, word in ROUNDED.items()},
}
"""The lines of operations on numbers of a type t, whose suffix is s; `WHOLE` has those on integers."""
CASTS = {"bool": "uitofp", "int64": "sitofp", "float64": "fptrunc", "float32": "fpext"}
"""The words for a change of numbers of a type to floating point numbers."""


@final
class Module:
    """The text of a program: a function for each stretch, and the elementary functions that they use.

    With `calls_functions` elementary functions are called, not written out, where no loop runs several rounds at once.
    """

    def __init__(self, target: Target, *, calls_functions: bool = False) -> None:
        self.target, self.calls_functions = target, calls_functions
        self.calls = 0  # of elementary functions that are not written out
        self.functions: list[str] = []
        self.used: set[tuple[str, str]] = set()
        self.in_vectors: set[tuple[str, str]] = set()  # those that loops over several rounds at once use
        self.metadata: list[str] = []

    def add(self, name: str, part: Part, table: Sequence[Buffer]) -> None:
        """Add the function of a part; `table` are the buffers in memory, in the order of their addresses."""
        self.functions.append(_Function(self, table, in_turns=part.rounds > 1).text(name, part.statements))

    def note(self, text: str) -> int:
        """The number of a new node of metadata, which may name itself as {me}."""
        self.metadata.append(text.replace("{me}", f"!{len(self.metadata)}"))
        return len(self.metadata) - 1

    @property
    def text(self) -> str:
        """The text of the whole."""
        own = [key for key in sorted(self.used) if key[0] in FUNCTIONS]
        lines = [declaration(*key) for key in sorted(self.used) if key not in own]
        lines += declarations({name for name, _ in own})
        bits = dict.fromkeys(self.in_vectors, self.target.vector_bits)
        made = [definition(*key, has_fma=self.target.has_fma, vector_bits=bits.get(key, 0)) for key in own]
        metadata = [f"!{k} = {text}" for k, text in enumerate(self.metadata)]
        attributes = "attributes #0 = { nounwind }"
        return "\n".join([*lines, *kept(own), *made, *self.functions, attributes, *metadata, ""])


@final
class _Function:
    """The text of one function."""

    def __init__(self, module: Module, table: Sequence[Buffer], *, in_turns: bool) -> None:
        self.module, self.table = module, table
        self.ends: tuple[str, str] | None = ("%first", "%end") if in_turns else None  # of the outermost loop
        self.rounds = ["i64 %first", "i64 %end"] if in_turns else []
        self.lines: list[str] = []
        self.count = 0
        self.at: dict[Variable, str] = {}
        self.values: dict[Value, str] = {}
        self.reads: dict[Value, frozenset[Buffer]] = {}  # the buffers that a value is computed from
        self.readers: dict[Buffer, list[Value]] = {}
        self.places: dict[Place | tuple[Buffer, Place], str] = {}  # integers, and addresses
        self.slots: dict[tuple[str, str], str] = {}  # the addresses of numbers
        self.leave: str | None = None  # the end of the loop that a branch may leave
        self.group: int | None = None
        self.totals: frozenset[Buffer] = frozenset()

    def text(self, name: str, statements: Sequence[Statement]) -> str:
        """The definition: the addresses are loaded by one function, and given to the other as what does not overlap."""
        found = {buffer for s in statements for buffer in accesses(s, constants=True)}
        used = [k for k, buffer in enumerate(self.table) if buffer in found]
        local = sorted((b for b in found if b.is_local and b.kind == "work"), key=lambda b: b.name)
        self.body(statements)
        allocated = [f"  %{b.name} = alloca [{max(b.size, 1)} x {STORED[b.dtype]}], align 64" for b in local]
        parameters = ", ".join([*(parameter(self.table[k]) for k in used), "ptr %blas", *self.rounds])
        # not internal: the pass that hands on numbers in place of addresses would make functions of hundreds of them
        core = [f"define void @{name}.core({parameters}) noinline #0 {{", "entry:", *allocated]
        for (of, number), at in self.slots.items():
            core += [f"  {at} = alloca {of}", f"  store {of} {number}, ptr {at}"]
        core += [*self.lines, "  ret void", "}"]
        enter = [f"define void @{name}({', '.join(['ptr %table', *self.rounds])}) #0 {{"]
        addresses = [*used, len(self.table)]
        for k in addresses:
            enter += [f"  %q{k} = getelementptr ptr, ptr %table, i64 {k}", f"  %p{k} = load ptr, ptr %q{k}"]
        given = ", ".join([*(f"ptr %p{k}" for k in addresses), *self.rounds])
        return "\n".join([*core, *enter, f"  call void @{name}.core({given})", "  ret void", "}"])

    # --- statements ---

    def body(self, statements: Sequence[Statement]) -> None:
        """The text of statements, in order."""
        for statement in statements:
            match statement:
                case For():
                    self.loop(statement)
                case Store():
                    self.store(statement)
                case If():
                    self.branch(statement)
                case Product():
                    self.routine(statement.routine)
                case Routine():
                    self.routine(statement)
                case _:  # nests are loops by now, calls stand between functions
                    raise TypeError(statement)

    def inner(self, statements: Sequence[Statement], at: dict[Variable, str]) -> None:
        """The text of statements in a loop or a branch: what is found there is not known behind."""
        kept = self.values, self.places, self.at
        self.values, self.places, self.at = {}, dict(self.places), self.at | at
        self.body(statements)
        self.values, self.places, self.at = kept

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
        before, (first, stop), self.ends = self.label(), self.ends or ("0", str(variable.size)), None
        self.lines += [f"  br label %{before}", f"{before}:", f"  br label %{head}", f"{head}:"]
        counter, place = f"%c{head}", len(self.lines)
        self.lines.append("")
        group = self.group
        if loop.is_parallel:
            self.group, self.totals = self.module.note("distinct !{}"), loop.totals
        self.leave = end if loop.is_search else None
        self.inner(loop.body, {variable: counter})
        hints = hints_of(loop, self.group, self.module.note)
        self.group = group
        last = self.label()
        self.lines += [f"  br label %{last}", f"{last}:"]
        following = self.put(f"add nuw nsw i64 {counter}, 1")
        more = self.put(f"icmp ult i64 {following}, {stop}")
        self.lines[place] = f"  {counter} = phi i64 [ {first}, %{before} ], [ {following}, %{last} ]"
        self.lines += [f"  br i1 {more}, label %{head}, label %{end}{hints}", f"{end}:"]
        self.values = {}

    def branch(self, statement: If) -> None:
        """One of two lists; the loop around is left where it has nothing more to do."""
        leave, self.leave = self.leave, None
        condition = self.value(statement.condition)
        then, otherwise, end = self.label(), leave or self.label(), self.label()
        self.lines += [f"  br i1 {condition}, label %{then}, label %{otherwise}"]
        for label, part in ((then, statement.then), (otherwise, statement.otherwise))[: 1 if leave else 2]:
            self.lines.append(f"{label}:")
            self.inner(part, {})
            self.lines.append(f"  br label %{end}")
        self.lines.append(f"{end}:")
        self.values = {}

    def store(self, store: Store) -> None:
        """A store, of a value put to what is there if there is a monoid."""
        value, dtype = self.value(store.value), store.buffer.dtype
        address = self.address(store.buffer, store.places)
        if store.monoid is not None:
            old = self._loaded(store.buffer, address)
            if store.monoid == "add" and dtype in SUFFIX:  # in any order
                value = self.put(f"fadd reassoc contract {TYPES[dtype]} {old}, {value}")
            else:
                value = self._combined(store.monoid, dtype, old, value)
        if dtype == "bool":
            value = self.put(f"zext i1 {value} to i8")
        self.lines.append(f"  store {STORED[dtype]} {value}, ptr {address}{self._access(store.buffer)}")
        for reader in self.readers.pop(store.buffer, ()):  # what is read from there may be another from here on
            self.values.pop(reader, None)

    def _access(self, buffer: Buffer) -> str:
        return f", !llvm.access.group !{self.group}" if self.group is not None and buffer not in self.totals else ""

    def routine(self, statement: Routine) -> None:
        """A call of BLAS or LAPACK, whose functions take addresses, and have theirs in a table."""
        dtype, given = statement.dtype, list[str]()
        for one in statement.given:
            match one:
                case str(letter):
                    given.append(self.slot("i8", str(ord(letter))))
                case int(size):
                    given.append(self.slot("i32", str(size)))
                case float(factor):
                    given.append(self.slot(TYPES[dtype], number_text(factor, dtype)))
                case (buffer, start):
                    place = f"ptr %{buffer.name}, i64 {self.place(start)}"
                    given.append(self.put(f"getelementptr inbounds {STORED[buffer.dtype]}, {place}"))
                case _:
                    assert_never(one)
        pointer = self.put(f"getelementptr ptr, ptr %blas, i64 {ROUTINES.index(statement.name)}")
        function = self.put(f"load ptr, ptr {pointer}")
        self.lines.append(f"  call void {function}({', '.join(f'ptr {g}' for g in given)})")
        self.values = {}

    def slot(self, type_: str, number: str) -> str:
        """The address of a number that nobody writes."""
        found = self.slots.get((type_, number))
        if found is None:
            self.count += 1
            found = self.slots[type_, number] = f"%e{self.count}"
        return found

    # --- places and values ---

    def address(self, buffer: Buffer, places: tuple[Place, ...]) -> str:
        """The address of an entry."""
        return self.entry(buffer, combined(zip(places, buffer.strides, strict=True)))

    def entry(self, buffer: Buffer, place: Place) -> str:
        """The address of a place in a buffer: so many entries after that of the variables, which others share."""
        found = self.places.get((buffer, place))
        if found is not None:
            return found
        is_affine = all(isinstance(atom, Variable) and k > 0 for atom, k in place.terms)
        if place.terms and place.offset > 0 and is_affine:
            base, at = self.entry(buffer, Place(0, place.terms)), str(place.offset)
        else:
            base, at = f"%{buffer.name}", self.place(place)
        made = self.put(f"getelementptr inbounds {STORED[buffer.dtype]}, ptr {base}, i64 {at}")
        if is_affine:
            self.places[buffer, place] = made
        return made

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
                case Computed():
                    assert isinstance(atom, Value)
                    term = self.value(atom)
                case _:
                    assert_never(atom)
            term = term if k == 1 else self.put(f"mul nsw i64 {term}, {k}")
            total = term if not total else self.put(f"add nsw i64 {total}, {term}")
        if place.offset:
            total = self.put(f"add nsw i64 {total}, {place.offset}")
        if all(isinstance(atom, Variable) for atom, _ in place.terms):
            self.places[place] = total
        return total

    def _loaded(self, buffer: Buffer, address: str) -> str:
        loaded = self.put(f"load {STORED[buffer.dtype]}, ptr {address}{self._access(buffer)}")
        if buffer.dtype == "int32":
            return self.put(f"sext i32 {loaded} to i64")
        return self.put(f"icmp ne i8 {loaded}, 0") if buffer.dtype == "bool" else loaded

    def value(self, value: Value) -> str:
        """The name of a value, whose operations are written if they are not."""
        for top in unfinished(value, self.values):
            self.values[top] = self._operation(top)
            self.reads[top] = read = self._buffers(top)
            for buffer in read:
                self.readers.setdefault(buffer, []).append(top)
        return self.values[value]

    def _buffers(self, top: Value) -> frozenset[Buffer]:
        """The buffers that a value is computed from whose operands are written."""
        own = {top.args[0]} if top.name == "load" and top.args[0].kind != "constant" else set()
        within = (*top.values, *computed(top.places))
        return frozenset(own).union(*(self.reads.get(v, frozenset()) for v in within))

    def _operation(self, top: Value) -> str:
        """The line of text of an operation whose operands are written."""
        args = [self.values[a] for a in top.values]
        match top.name:
            case "number":
                return number_text(top.args[0], top.dtype)
            case "load":
                return self._loaded(top.args[0], self.address(*top.args))
            case "place":
                return self.place(top.args[0])
            case "cast":
                of = top.values[0].dtype
                how = CASTS[of] if top.dtype in SUFFIX else "zext"
                return self.put(f"{how} {TYPES[of]} {args[0]} to {TYPES[top.dtype]}")
            case "call":
                return self._called(top.args[0], top.dtype, args)
            case name:  # those that have a line
                return self._combined(name, top.values[-1].dtype, *args)

    def _combined(self, name: str, of: str, *args: str) -> str:
        """The line of an operation on values of one type."""
        line = LINES[name] if of in SUFFIX or name not in WHOLE else WHOLE[name]
        return self.put(line.format(*args, t=TYPES[of], s=SUFFIX.get(of)))

    def _called(self, function: str, dtype: str, args: Sequence[str]) -> str:
        self.module.used.add((function, dtype))
        if self.group is not None:
            self.module.in_vectors.add((function, dtype))
        is_apart = self.module.calls_functions and self.group is None
        self.module.calls += is_apart
        given = ", ".join(f"{TYPES[dtype]} {a}" for a in args)
        return self.put(f"call {TYPES[dtype]} @{called(function, dtype)}({given}){' noinline' if is_apart else ''}")
