"""The steps that hold lines as text: loops, conditions, equations; the slots that a body captures stand in place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from diff.printing.slot_text import APPLICATION, ATOM, SlotTexts, Text, subscripted
from diff.terms.program import as_program
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack
from hilbert.program.transform.lifted_line import equation
from linmap.printing.notation import subscript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line

WORDS = re.compile(r"[^\W\d]\w*′*")
"""The names in a text."""


def held(slots: SlotTexts, operation: Flow, bundle: int) -> Text:
    """The text of a step on a bundle; while it is only asked what that mentions, its bodies are not written."""
    step = _Held(slots, bundle, len(operation.given.leaves))
    return step.text(operation) if slots.final else Text("…", APPLICATION)


class _Held:
    """A step, with the texts of what its bundle is made of."""

    def __init__(self, slots: SlotTexts, bundle: int, count: int) -> None:
        self.slots = slots
        made_here = isinstance(slots.operation(bundle), Pack)
        self.given = slots.p.steps[bundle - slots.arity].args if made_here else ()
        self.texts = [slots.bound(k, ATOM) for k in self.given] or [f"x{subscript(k + 1)}" for k in range(count)]

    def text(self, operation: Flow) -> Text:
        """The text of a step that holds lines."""
        match operation:
            case Loop() as loop:
                kind, operands = self._loop(loop)
            case While(round_, states, names=names):
                own = ("go", *names) if len(names) == states - 1 else ("go", *(f"s{k}" for k in range(1, states)))
                kind, operands = "while", [self._body(round_, own, self.texts[states:]), *self._tight(0, states)]
            case Cond() as cond:
                c, *captured = self.texts
                bodies = [self._result(k, captured) for k in cond.lines]
                kind, operands = "where", [*(self._tight(0, 1) or [c]), *bodies]
            case Implicit(unknowns=unknowns, names=names) as f:
                body = self._body(equation(f), names or _numbered(unknowns), self.texts[unknowns:])
                kind, operands = f.of, [body, *self._tight(0, unknowns)]
            case Solve(line, unknowns):
                ends = len(line.outputs)
                kind = f"({self._body(line, _numbered(unknowns), self.texts[ends:])})⁻¹"
                operands = self._tight(0, ends) or self.texts[:ends]
            case never:
                assert_never(never)
        return Text(f"{kind}({', '.join(operands)})", APPLICATION)

    def _loop(self, loop: Loop) -> tuple[str, list[str]]:
        """fold[X] of (s, x) ↦ …, start, xs."""
        c, whole, count = loop.states, loop.states + loop.shared, loop.body.arity
        own = loop.names or (*(f"s{k + 1}" for k in range(c)), *(f"x{k + 1}" for k in range(count - whole)))
        kind = ("fold" if whole < count else "iterate") + ("*" if loop.reverse else "")
        body = self._body(loop.body, own, self.texts[c:whole], at=c)
        return f"{kind}[{loop.index}]", [body, *self._tight(0, c), *self._tight(whole, count)]

    def _tight(self, start: int, stop: int) -> list[str]:
        return [self.slots.texts[k].tight for k in self.given[start:stop]]

    def _body(self, line: Line, own: Sequence[str], captured: Sequence[str], at: int | None = None) -> str:
        """s ↦ …, with the captures behind the first `at` names, which avoid those of the captures.

        Where something of the body has a line of its own, no other body or function has parameters of these names: it
        is written again then, once, and knows it whenever a body around it is.
        """
        taken, page, lines = set(WORDS.findall(" ".join(captured))), self.slots.names, self.slots.lines
        names = [f"{name}′" if name in taken else name for name in map(subscripted, own)]
        place = len(names) if at is None else at

        def written() -> str:
            head = names[0] if len(names) == 1 else f"({', '.join(names)})"
            return f"{head} ↦ {self._result(line, [*names[:place], *captured, *names[place:]])}"

        if id(line) not in page.opened:
            before, counts, others = len(lines), dict(page.counts), set(page.taken)
            text = written()
            if len(lines) == before:
                return text
            page.opened.add(id(line))
            del lines[before:]
            page.counts, page.taken = counts, others.union(page.names.values())
        names = [page.alone(name) for name in names]
        return written()

    def _result(self, line: Line, inputs: Sequence[str]) -> str:
        body = as_program(line, tuple(inputs))
        inner = self.slots.of_body(body)
        results = ", ".join(inner.result(k).tight for k in body.outputs)
        self.slots.lines += inner.lines
        return results if len(body.outputs) == 1 else f"({results})"


def _numbered(count: int) -> tuple[str, ...]:
    return ("x",) if count == 1 else tuple(f"x{k + 1}" for k in range(count))
