"""The steps that hold lines as text: loops, conditions, equations; the slots that a body captures stand in place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from diff.printing.program_names import parameters
from diff.printing.slot_text import APPLICATION, ATOM, SlotTexts, Text
from diff.terms.program import as_program
from hilbert.arrays.systems.conjugate_gradients import ConjugateGradients
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack
from hilbert.program.transform.lifted_line import equation
from linmap.printing.notation import indented, subscript

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line
    from linmap.printing.text_names import Names

WORDS = re.compile(r"(?<![\w.])[^\W\d]\w*′*")
"""The names in a text; p alone of p.w."""


def held(slots: SlotTexts, operation: Flow, bundle: int) -> Text:
    """The text of a step on a bundle; while it is only asked what that mentions, its bodies are not written."""
    step = _Held(slots, bundle, len(operation.given.leaves))
    return step.text(operation) if slots.final else Text("…", APPLICATION)


def parted(lines: Sequence[str], own: Iterable[str]) -> tuple[list[str], list[str]]:
    """The definitions that do without some names, and those that need the names or one another of these."""
    free, bound, known = list[str](), list[str](), set(own)
    for line in lines:
        if known.isdisjoint(WORDS.findall(line)):
            free.append(line)
        else:
            bound.append(line)
            known.add(line.split()[1])
    return free, bound


def scoped(text: str, own: Iterable[str], lines: Sequence[str], names: Names) -> tuple[str, list[str]]:
    """The text of a function with parameters `own`, and the lines that stand outside of it.

    Definitions that need a parameter stand below a line of the function, which gets a name f₁, f₂, … then.
    """
    free, bound = parted(lines, own)
    if not bound:
        return text, free
    called = names.fresh("f")
    return called, [*free, "\n".join([f"where {called} = {text}", *(indented(line) for line in bound)])]


class _Held:
    """A step, with the texts of what its bundle is made of."""

    def __init__(self, slots: SlotTexts, bundle: int, count: int) -> None:
        self.slots = slots
        made_here = isinstance(slots.operation(bundle), Pack)
        self.given = slots.p.steps[bundle - slots.arity].args if made_here else ()
        self.texts = [slots.texts[k] for k in self.given] or [Text(f"x{subscript(k + 1)}", ATOM) for k in range(count)]

    def text(self, operation: Flow) -> Text:
        """The text of a step that holds lines."""
        own = parameters(operation)
        match operation:
            case Loop(states=states, shared=shared) as loop:
                kind = ("fold" if len(own) > states else "iterate") + ("*" if loop.reverse else "")
                kind = f"{kind}[{loop.index}]"
                body = self._body(loop.body, own, self.texts[states : states + shared], at=states)
                operands = [body, *self._tight(0, states), *self._tight(states + shared, loop.body.arity)]
            case While(round_, states):
                kind = "while"
                operands = [self._body(round_, own, self.texts[states:]), *self._tight(0, states)]
            case Cond() as cond:
                c, *captured = self.texts
                bodies = [self._condition(k, captured) for k in cond.lines]
                kind, operands = "where", [*(self._tight(0, 1) or [c.tight]), *bodies]
            case Implicit(unknowns=unknowns) as f:
                body = self._body(equation(f), own, self.texts[unknowns:])
                kind, operands = f.of, [body, *self._tight(0, unknowns)]
            case Solve(line):
                ends = len(line.outputs)
                body = self._body(line, own, self.texts[ends:])
                kind = f"cg({body})" if isinstance(operation.by, ConjugateGradients) else f"({body})⁻¹"
                operands = self._tight(0, ends) or [text.tight for text in self.texts[:ends]]
            case never:
                assert_never(never)
        return Text(f"{kind}({', '.join(operands)})", APPLICATION)

    def _tight(self, start: int, stop: int) -> list[str]:
        return [self.slots.texts[k].tight for k in self.given[start:stop]]

    def _body(self, line: Line, own: Sequence[str], captured: Sequence[Text], at: int | None = None) -> str:
        """s ↦ …, with the captures behind the first `at` names, which avoid those of the captures."""
        taken = {word for text in captured for word in WORDS.findall(text.tight)}
        names = list[str]()
        for name in own:
            while name in taken:
                name += "′"  # noqa: PLW2901
            names.append(name)
        place = len(names) if at is None else at
        mine = [Text(name, ATOM) for name in names]
        text, lines = self._result(line, [*mine[:place], *captured, *mine[place:]])
        head = names[0] if len(names) == 1 else f"({', '.join(names)})"
        text, lines = scoped(f"{head} ↦ {text}", names, lines, self.slots.names)
        self.slots.lines += lines
        return text

    def _condition(self, line: Line, captured: Sequence[Text]) -> str:
        text, lines = self._result(line, captured)
        self.slots.lines += lines
        return text

    def _result(self, line: Line, inputs: Sequence[Text]) -> tuple[str, list[str]]:
        body = as_program(line)
        inner = self.slots.of_body(body, inputs)
        results = ", ".join(inner.result(k).tight for k in body.outputs)
        return results if len(body.outputs) == 1 else f"({results})", inner.lines
