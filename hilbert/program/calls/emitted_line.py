"""The calls of a bound line, and the rounds of a loop, as one function of Python: a call is a line of its text.

A line of a traceback is then a step. The text names slots (`v3`), operations and constants, so that lines of the same
shape share their code; a long line is cut into functions of at most `PART` calls, which share a list of slots.
"""

from __future__ import annotations

import linecache
import operator
from functools import lru_cache, partial
from itertools import count
from types import FunctionType
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.arrays.kernels.kernel import inlined, output

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from types import CodeType, TracebackType

    from hilbert.program.calls.schedule import Call

PART = 500
"""The most calls of one function."""
SHORT = 1 << 15
"""The most characters of a text whose code is kept for other lines."""
SYMBOLS = {
    operator.add: "{0} + {1}",
    operator.sub: "{0} - {1}",
    operator.mul: "{0} * {1}",
    operator.truediv: "{0} / {1}",
    operator.neg: "-{0}",
    operator.lt: "{0} < {1}",
    operator.le: "{0} <= {1}",
    operator.eq: "{0} == {1}",
    operator.ne: "{0} != {1}",
    operator.and_: "{0} & {1}",
    operator.or_: "{0} | {1}",
}
"""Operators that are written out: a call of one would cost as much as the operator."""
OF = {id(f): symbol for f, symbol in SYMBOLS.items()}
_files = count()


@final
class Emitted:
    """The function `line` of a text, and for each line of the text the slot that the line computes."""

    __slots__ = ("call", "slots", "text")

    def __init__(self, text: str, slots: list[int], values: dict[str, Any]) -> None:
        code = _kept(text) if len(text) <= SHORT else _compiled(text)
        scope = {**values, "__name__": __name__}  # the module that filters of warnings see
        exec(code, scope)  # noqa: S102 - a text of names made here
        made: dict[str, Any] = {
            name: scope.pop(name) for name in code.co_names
        }  # a function in its own scope would be a cycle
        self.call = FunctionType(made.pop("line").__code__, {**scope, **made})
        self.slots, self.text = slots, text

    def slot_of(self, error: BaseException) -> int | None:
        """The slot whose step raised an error, by the first lines of the traceback that belong to this text.

        `linecache` is given the text, so that tracebacks show these lines.
        """
        file = self.call.__code__.co_filename
        linecache.cache[file] = len(self.text), None, self.text.splitlines(keepends=True), file
        found, at = None, error.__traceback__
        while at is not None and not self._owns(at):
            at = at.tb_next
        while at is not None and self._owns(at):
            found, at = self.slots[at.tb_lineno], at.tb_next
        return None if found is None or found < 0 else found

    def _owns(self, at: TracebackType) -> bool:
        return at.tb_frame.f_code.co_filename == self.call.__code__.co_filename


def _compiled(text: str) -> CodeType:
    return compile(text, f"<hilbert line {next(_files)}>", "exec", dont_inherit=True)


_kept = lru_cache(256)(_compiled)


class Text:
    """The text of a line's function under construction, and the values that the text names."""

    def __init__(
        self, steps: Sequence[Call], constants: Mapping[int, Any], numbers: Sequence[int], words: Callable[[int], str]
    ) -> None:
        self.values: dict[str, Any] = {}
        self.lines: list[str] = []
        self.slots = [-1]  # lines are counted from 1
        self._names: dict[int, str] = {}
        self._steps, self._constants, self._numbers, self._words = steps, constants, numbers, words
        self.is_long = len(steps) > PART
        self.into: dict[int, str] = {}
        """The arrays that results of ufuncs are written into, by slot."""

    def ufuncs(self) -> set[int]:
        """The slots of results of ufuncs that can be written into other arrays."""
        return set() if self.is_long else {to for call, _, to, _ in self._steps if type(call) is np.ufunc}

    def put(self, line: str, slot: int = -1) -> None:
        """Add a line, which computes a slot."""
        self.lines.append(line)
        self.slots.append(slot)

    def name(self, value: Any, word: str) -> str:
        """The name of a value; one that is named already keeps its name."""
        found = self._names.get(id(value))
        if found is None:
            word = word if type(value) is FunctionType else getattr(value, "__name__", word)
            plain = word.isascii() and word.isidentifier()  # Python writes other letters in a form of its own
            found = f"{word if plain else 'step'}_{len(self.values)}"
            self._names[id(value)], self.values[found] = found, value
        return found

    def local(self, slot: int) -> str:
        """A slot within a function."""
        return self.name(self._constants[slot], f"c{slot}") if slot in self._constants else f"v{slot}"

    def place(self, slot: int) -> str:
        """A slot of the main function: of a long line, an entry of the list that its parts share."""
        return f"env[{slot}]" if self.is_long and slot not in self._constants else self.local(slot)

    def parts(self, outputs: Iterable[int]) -> None:
        """Add the functions of the parts of a long line."""
        last = {slot: k for k, step in enumerate(self._steps) for slot in step[1]}
        last |= dict.fromkeys(outputs, len(self._steps))
        for start in range(0, len(self._steps) if self.is_long else 0, PART):
            end = min(start + PART, len(self._steps))
            self._part(start // PART, self._steps[start:end], {slot for slot, k in last.items() if k >= end})

    def _part(self, number: int, steps: Sequence[Call], later: Container[int]) -> None:
        made, given = dict[int, None](), dict[int, None]()
        dead = {slot for _, _, _, died in steps for slot in died}
        for step in steps:
            given |= dict.fromkeys(k for k in step[1] if k not in made and k not in self._constants)
            made[step[2]] = None
        self.put(f"def part{number}(env):")
        for k in given:
            self.put(f"    v{k} = env[{k}]" + (f"; env[{k}] = None" if k in dead else ""))
        for step in steps:
            self.put(f"    {self.statement(step, self.local)}", step[2])
        for k in made:
            if k in later:
                self.put(f"    env[{k}] = v{k}")

    def begin(self, arguments: Iterable[str], whole: int, slots: int, into: int = 0) -> None:
        """Add the head of the main function: numbers among the first `whole` slots are taken as scalars.

        The last `into` slots are arguments, too.
        """
        self.put(f"def line({', '.join(arguments)}):")
        for k in self._numbers:
            if k < whole:
                self.put(f"    v{k} = v{k}[()]")
        if self.is_long:
            ends = [f"v{k}" for k in range(slots - into, slots)]
            given = [*(f"v{k}" for k in range(whole)), f"*[None] * {slots - into - whole}", *ends]
            self.put(f"    env = [{', '.join(given)}]")

    def body(self, indent: str) -> None:
        """Add the calls, or the calls of the parts."""
        if self.is_long:
            for k in range(-(-len(self._steps) // PART)):
                self.put(f"{indent}part{k}(env)")
        else:
            for step in self._steps:
                self.put(indent + self.statement(step, self.local), step[2])

    def statement(self, step: Call, place: Callable[[int], str]) -> str:
        """A call; the slots that nobody reads again are emptied."""
        call, args, to, dead = step
        text = f"{place(to)} = {self._expression(call, [place(k) for k in args], to)}"
        return text + "".join(f"; {place(k)} = None" for k in dead)

    def _expression(self, call: Callable[..., Any], args: list[str], to: int) -> str:
        symbol = OF.get(id(call))
        if symbol is not None:
            return symbol.format(*args)
        if isinstance(call, partial) and id(call.func) in OF and len(call.args) == 1 and not call.keywords:
            return OF[id(call.func)].format(self.name(call.args[0], f"k{to}"), *args)
        written = inlined(call)
        if written is not None:
            text, names = written
            return text.format(*args, **{word: self.name(value, word) for word, value in names.items()})
        into = [f"{output(call)}{self.into[to]}"] if to in self.into else []
        return f"{self.name(call, self._words(to))}({', '.join([*args, *into])})"

    def done(self) -> Emitted:
        """The function `line` of the text."""
        return Emitted("\n".join([*self.lines, ""]), self.slots, self.values)


def straight(t: Text, inputs: int, slots: int, outputs: Sequence[int], into: int = 0) -> Emitted:
    """The function of the inputs, and of arrays in the last `into` slots, that gives the list of the outputs."""
    t.parts(outputs)
    t.begin([f"v{k}" for k in (*range(inputs), *range(slots - into, slots))], inputs, slots, into)
    t.body("    ")
    t.put(f"    return [{', '.join(map(t.place, outputs))}]")
    return t.done()


@frozen
class Round:
    """The shape of a loop: the number of states and of other arrays, of stacks, and the slots that a round ends in."""

    states: int
    shared: int
    stacks: int
    after: tuple[int, ...]
    rows: tuple[int, ...]
    reverse: bool


def rounds(t: Text, of: Round, slots: int, arrays: Container[int], *, by_item: bool) -> Emitted:
    """The function of an order of rounds, states, shared arrays, stacks and rows that gives the list of last states.

    Stacks are read by iteration, in the order of the rounds, or `by_item`, with all axes. A ufunc of numpy writes its
    result, one of the `arrays`, into the row itself.
    """
    t.parts((*of.after, *of.rows))
    whole, given = of.states + of.shared, range(of.states + of.shared, of.states + of.shared + of.stacks)
    start, stacks = [f"v{k}" for k in range(whole)], [f"xs{k}" for k in given]
    rows = [f"rows{j}" for j in range(len(of.rows))]
    t.begin(["order", *start, *stacks, *rows], whole, slots)
    over = {t.place(k): stack for k, stack in zip(given, stacks, strict=True)}
    if by_item:
        t.put("    for t in order:")
        for place, stack in over.items():
            t.put(f"        {place} = {stack}[t, ...]")
    else:
        t.into = {k: f"r{k}" for k in t.ufuncs() if k in of.rows and k in arrays}
        over |= {name: rows[of.rows.index(k)] for k, name in t.into.items()}
        turned = "[::-1]" if of.reverse else ""
        t.put(f"    for {', '.join(['t', *over])} in zip(order, {', '.join(f'{v}{turned}' for v in over.values())}):")
    t.body("        ")
    written = {of.rows.index(k) for k in t.into}
    for j, (row, k) in enumerate(zip(rows, of.rows, strict=True)):
        if j not in written:
            t.put(f"        {row}[t] = {t.place(k)}")
    moved = [(t.place(k), t.place(to)) for k, to in enumerate(of.after) if k != to]
    if moved:
        t.put(f"        {', '.join([a for a, _ in moved])} = {', '.join([b for _, b in moved])}")
    t.put("        pass")
    ends = [f"{t.place(k)}.copy()" if t.into and k in arrays else t.place(k) for k in range(of.states)]
    t.put(f"    return [{', '.join(ends)}]")  # a state may be a row, and a copy does not hold all rows
    return t.done()
