"""The statements of a line: step by step, each written where it is read, or under a name."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, final

from diff.numpy_source.slot_names import user_names
from diff.numpy_source.step_text import array_step, word_of
from diff.python_text.expressions import is_light, text, weight
from diff.python_text.line_breaks import WIDTH
from diff.python_text.scope import HEAVY, Scope, Value, Values, placed, whole
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.operation import Add, Literal, Reduce
from hilbert.relation import Inclusion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hilbert.program.line.line import Line, Step


FlowText: TypeAlias = "Callable[[Body, int, Step[Any]], tuple[Value, ...]]"
"""The text of a step that holds lines, in a body: it writes bodies itself."""


@final
class Body:
    """A line in a scope; `words` has the names of some slots, as far as they are known before.

    Of the `whole` function the inputs are variables that may be set anew.
    """

    def __init__(
        self,
        scope: Scope,
        line: Line,
        inputs: Sequence[Value],
        flow: FlowText,
        words: Mapping[int, str] = MappingProxyType({}),
        *,
        is_whole: bool = False,
    ) -> None:
        self.scope, self.line, self.flow, self.words = scope, line, flow, dict(words)
        self.own = set(range(line.arity)) if is_whole else set[int]()  # the slots with a variable of their own
        self.user = user_names(line)
        taken = ((step.args[0], step.operation.k) for step in line.steps if isinstance(step.operation, Unpack))
        self.taken = Counter(taken)  # how often an array is taken out of a bundle
        self.values: list[Values] = list(inputs)

    def run(self) -> list[Value]:
        """Write all steps; the values of the outputs."""
        for slot, step in enumerate(self.line.steps, self.line.arity):
            self.values.append(self._step(slot, step))
        return [self.one(slot) for slot in self.line.outputs]

    def one(self, slot: int) -> Value:
        """The value of a slot that is no bundle."""
        found = self.values[slot]
        assert isinstance(found, Value)
        return found

    def _step(self, slot: int, step: Step[Any]) -> Values:
        match step.operation:
            case Pack():
                return self._packed(slot, step)
            case Unpack(k):
                found = self.values[step.args[0]]
                assert isinstance(found, tuple)
                if isinstance(self.maker(step.args[0]), ControlFlow) and self.taken[step.args[0], k] == 1:
                    self.own.add(slot)
                return found[k]
            case ControlFlow():
                return self.flow(self, slot, step)
            case Literal():
                return array_step(self.scope, step.operation, [], self.line.slots[slot], "c")
            case _:  # arrays to an array, or to several
                return self._settled(slot, step)

    def maker(self, slot: int) -> Any:
        """The operation that makes a slot."""
        return self.line.steps[slot - self.line.arity].operation

    def is_free(self, slot: int) -> bool:
        """Tell if a slot has a variable of its own that nobody reads again: another value may have the variable."""
        return slot in self.own and self.line.reads[slot] == 1

    def _packed(self, slot: int, step: Step[Any]) -> tuple[Value, ...]:
        """The arrays of a bundle; those of one that is read several times have names."""
        if self.line.reads[slot] > 1:
            for a in step.args:
                self.values[a] = self.scope.named(self.one(a), "x")
        return tuple(self.one(a) for a in step.args)

    def word(self, slot: int, step: Step[Any]) -> str:
        """A name for the result of a step."""
        names = self.names(slot, step)
        if names:
            return names[0]
        return "g" if self.scope.page.is_derived and step.place is None else word_of(step.operation)

    def names(self, slot: int, step: Step[Any]) -> tuple[str, ...]:
        """The names that the user gave the results of a step, or that they have in the result of the function."""
        if slot in self.words:
            return (self.words[slot],)
        return self.user.get(slot, ())

    def _settled(self, slot: int, step: Step[Any]) -> Values:
        """A step, its operands written out as long as the line stays short."""
        leaf, word = self.line.slots[slot], self.word(slot, step)
        args = list(step.args)
        while True:
            mark = self.scope.mark()
            given = [self.one(a) for a in args]
            made = array_step(self.scope, step.operation, given, leaf, word)
            if (isinstance(made, tuple) or self._fits(made, word)) and self.scope.is_short_since(mark):
                break
            self.scope.back_to(mark)
            if not self._shortened(args):
                made = array_step(self.scope, step.operation, given, leaf, word)
                break
        names = self.names(slot, step)
        if isinstance(made, tuple):
            return made
        if made.parts:
            if self._is_added(slot) and not names:
                return made
            self.own.add(slot)
            return placed(self.scope, made, names[0] if names else word)
        if self.line.outputs == (slot,):  # what is returned
            names = ()
        if is_light(made.node) or (not names and self.line.reads[slot] == 1 and weight(made.node) <= HEAVY):
            return made
        self.own.add(slot)
        return self.scope.assign(Value(whole(made), made.leaf) if slot in self.words else made, word)

    def _is_added(self, slot: int) -> bool:
        """Tell if what reads a slot, once, adds it to something or puts it between zeros."""
        if self.line.reads[slot] != 1 or slot in self.line.outputs:
            return False
        reader = next(step.operation for step in self.line.steps if slot in step.args)
        return isinstance(reader, Add) or (isinstance(reader, Reduce) and isinstance(reader.relation, Inclusion))

    def _fits(self, made: Value, word: str) -> bool:
        room = WIDTH - len(self.scope.indent) - max(len(word) + 3, len("return "))
        return weight(made.node) <= HEAVY + 1 and len(text(made.node)) <= room

    def _shortened(self, args: Sequence[int]) -> bool:
        """Give the heaviest operand a name; False where each has one, or needs none."""
        open_ = [a for a in args if not is_light(self.one(a).node)]
        if not open_:
            return False
        slot = max(open_, key=lambda a: weight(self.one(a).node))
        step = self.line.steps[slot - self.line.arity] if slot >= self.line.arity else None
        word = self.word(slot, step) if step is not None else "x"
        self.values[slot] = self.scope.assign(self.one(slot), word)
        self.own.add(slot)
        return True
