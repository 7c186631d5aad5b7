"""Control flow in text: `for`, `while`, `if`, searches, and linear systems by their matrices."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any, assert_never

from attrs import evolve

from diff.numpy_source.body import Body
from diff.numpy_source.slot_names import assigned, user_names
from diff.numpy_source.step_text import word_of
from diff.numpy_source.system_text import System
from diff.python_text.axis_text import reshaped, shape
from diff.python_text.expressions import Node, is_light, is_number, name, put, text, weight
from diff.python_text.scope import Scope, Value, dtype, whole
from hilbert.errors import SpaceError
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.line import restricted
from hilbert.program.run.constant_folding import folded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Step


def flow(body: Body, slot: int, step: Step[Any]) -> tuple[Value, ...]:
    """The results of a step that holds lines, with its statements."""
    operation: Flow = step.operation
    bundle = step.args[0]
    given = body.values[bundle]
    assert isinstance(given, tuple)
    once, names = _free(body, bundle, given), _result_words(body, slot, step)
    match operation:
        case Loop():
            return Rounds(body.scope, operation, given, once, names).written()
        case While():
            return _while(body.scope, operation, given, once)
        case Cond():
            return _branches(body.scope, operation, given, names)
        case Implicit():
            inputs = [body.scope.named(value, "x") for value in given]
            return tuple(Body(body.scope, folded(operation.search().pruned()), inputs, flow).run())
        case Solve(by=by) if by is not None:
            raise SpaceError("source(f): cg has no text in numpy: write solve(A, b), which has")
        case Solve():
            return System(body.scope, operation, given, flow).solved()
        case _:
            assert_never(operation)


def _free(body: Body, bundle: int, given: Sequence[Value]) -> list[bool]:
    """True for each array of a bundle whose variable nobody else reads: what becomes of the array may have it."""
    line = body.line
    if bundle < line.arity or line.reads[bundle] > 1 or not isinstance(body.maker(bundle), Pack):
        return [False] * len(given)
    return [body.is_free(a) for a in line.steps[bundle - line.arity].args]


def _result_words(body: Body, slot: int, step: Step[Any]) -> dict[int, str]:
    """Names for the results of a step: those that the user gave them, or that they have as results of the function."""
    loop = step.operation
    names, results = body.names(slot, step) or assigned(step), len(loop.made.leaves)
    found = dict(enumerate(names)) if len(names) == results else {}
    if isinstance(loop, Loop) and len(names) == 2 and results == loop.states + 1:
        found = {loop.states: names[1]} | ({0: names[0]} if loop.states == 1 else {})
    found = {k: word for k, word in found.items() if word.strip("_")}
    for k, other in enumerate(body.line.steps, body.line.arity):
        if isinstance(other.operation, Unpack) and other.args == (slot,) and k in body.words:
            found[other.operation.k] = body.words[k]
    return found


def _view_of(node: Node) -> str:
    """The name of the variable that an expression is a part of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id.rpartition("_")[2] if isinstance(node, ast.Name) else ""


# --- loops ---


class Rounds:
    """A loop: states that each round changes, arrays that all share, a slice of each stack, rows of results."""

    def __init__(
        self, scope: Scope, loop: Loop, given: Sequence[Value], once: Sequence[bool], names: Mapping[int, str]
    ) -> None:
        self.scope, self.loop, self.names = scope, loop, names
        self.body = folded(loop.body)
        self.c, self.whole = loop.states, loop.states + loop.shared
        self.n = math.prod(loop.index.shape)
        self.start, self.once = given[: self.c], once
        self.shared = [scope.named(value, "a") for value in given[self.c : self.whole]]
        self.stacks = [self._stack(value) for value in given[self.whole :]]

    def _stack(self, value: Value) -> Value:
        sizes = self.loop.index.shape
        if not value.whole and is_number(value.node):
            return value
        if len(sizes) == 1:
            return self.scope.named(Value(whole(value), value.leaf), "xs")
        flat = (self.n, *value.shape[len(sizes) :])
        return self.scope.named(Value(reshaped(whole(value), value.shape, flat), value.leaf), "xs")

    def _names_inside(self) -> list[str]:
        """The names of states and slices in the user's function."""
        due = self.c + len(self.body.slots[self.whole : self.body.arity])
        own = [n if n.isidentifier() else "" for n in self.loop.names]
        own = own if len(own) == due else [""] * due
        user = user_names(self.body)
        for k, slot in enumerate(self.body.outputs[: self.c]):
            if not own[k] or own[k][-1].isdigit():
                own[k] = user[slot][0] if slot in user else _view_of(self.start[k].node) or own[k]
        return own

    def written(self) -> tuple[Value, ...]:
        """The statements, and the last states and the rows."""
        inside, body, c = self._names_inside(), self.body, self.c
        with self.scope.together():
            states = [self._state(k, value, inside[k]) for k, value in enumerate(self.start)]
            ends = body.outputs[c:]
            rows = [self._row(k) for k in range(len(ends))]
        turn = next((w for w in "tkji" if w not in self.scope.page.taken), None) or self.scope.page.fresh("t")
        taken = set(self.scope.page.taken)
        self.scope.page.taken.add(turn)
        order = f"reversed(range({self.n}))" if self.loop.reverse else f"range({self.n})"
        self.scope.put(f"for {turn} in {order}:")
        scope = self.scope.inner()
        before = len(scope.lines)
        slices = []
        for k, stack in enumerate(self.stacks):
            leaf = body.slots[self.whole + k]
            if is_number(stack.node):
                slices.append(Value(stack.node, leaf, () if leaf.shape else None))
                continue
            value = Value(put(f"{{0}}[{turn}]", stack.node), leaf)
            if body.reads[self.whole + k] > 1 and inside[c + k]:
                value = scope.assign(value, inside[c + k])
            slices.append(value)
        made = Body(scope, body, [*states, *self.shared, *slices], flow).run()
        for row, value in zip(rows, made[c:], strict=True):
            scope.put(f"{row}[{turn}] = {text(value.node)}")
        self._update(scope, states, made[:c])
        if len(scope.lines) == before:
            scope.put("pass")
        self.scope.lines += scope.lines
        self.scope.page.end(taken)
        sizes = self.loop.index.shape
        results = list(states)
        for row, slot in zip(rows, ends, strict=True):
            leaf = body.slots[slot]
            node = reshaped(name(row), (self.n, *leaf.shape), (*sizes, *leaf.shape))
            results.append(Value(node, leaf.under(self.loop.index.axes)))
        return tuple(results)

    def _state(self, k: int, value: Value, inside: str) -> Value:
        """The variable of a state, which is set to its start unless it is that already."""
        leaf = self.body.slots[k]
        free = self.once[k] and isinstance(value.node, ast.Name) and value.whole
        if free and text(value.node) not in self.scope.page.constants:
            return Value(value.node, leaf)
        word = self.names.get(k) or inside or ("g" if self.loop.reverse else "s")
        node = whole(value)
        return self.scope.assign(Value(node, leaf), word)

    def _row(self, k: int) -> str:
        """The name of the rows of a result, which are set up."""
        leaf = self.body.slots[self.body.outputs[self.c + k]]
        own = self.names.get(self.c + k, "")
        word = self.scope.page.fresh(own or self._row_word(k))
        self.scope.put(f"{word} = np.empty({shape((self.n, *leaf.shape))}{dtype(leaf)})")
        return word

    def _row_word(self, k: int) -> str:
        slot = self.body.outputs[self.c + k]
        inside, user = self._names_inside(), user_names(self.body)
        if slot < self.c and inside[slot]:
            return f"{inside[slot]}s"
        if slot in user:
            return f"{user[slot][0]}s"
        return f"{word_of(self.body.steps[slot - self.body.arity].operation)}s" if slot >= self.body.arity else "rows"

    def _update(self, scope: Scope, states: Sequence[Value], made: Sequence[Value]) -> None:
        """The states after the round."""
        changed = []
        for k, (s, v) in enumerate(zip(states, made, strict=True)):
            if text(s.node) == text(v.node):
                continue
            match v.node:
                case ast.BinOp(ast.Name(word), ast.Add(), more) if word == text(s.node) and self._is_total(k):
                    scope.put(f"{word} += {text(more)}")
                case _:  # any other state
                    changed.append((s.node, whole(v)))
        _set(scope, changed)

    def _is_total(self, k: int) -> bool:
        """Tell if a state is an array of its own that a round does nothing with but add to."""
        start = self.start[k]
        return self.body.reads[k] == 1 and not start.whole and is_number(start.node)


def _set(scope: Scope, changed: Sequence[tuple[Node, Node]]) -> None:
    """Variables set to expressions: one after the other where no later one reads an earlier one, else at once."""
    waiting = list(changed)
    while waiting:
        free = next(
            (
                k
                for k, (s, _) in enumerate(waiting)
                if not any(_reads(v, s) for j, (_, v) in enumerate(waiting) if j != k)
            ),
            None,
        )
        if free is None:
            line = f"{', '.join(text(s) for s, _ in waiting)} = {', '.join(text(v) for _, v in waiting)}"
            if len(line) + len(scope.indent) > 88:
                waiting = [(s, v if is_light(v) else _kept(scope, s, v)) for s, v in waiting]
                line = f"{', '.join(text(s) for s, _ in waiting)} = {', '.join(text(v) for _, v in waiting)}"
            scope.put(line)
            return
        s, v = waiting.pop(free)
        scope.put(f"{text(s)} = {text(v)}")


def _kept(scope: Scope, s: Node, v: Node) -> Node:
    word = scope.page.fresh(f"new_{text(s)}")
    scope.put(f"{word} = {text(v)}")
    return name(word)


def _reads(node: Node, variable: Node) -> bool:
    word = text(variable)
    return any(isinstance(part, ast.Name) and part.id == word for part in ast.walk(node))


def _while(scope: Scope, loop: While, given: Sequence[Value], once: Sequence[bool]) -> tuple[Value, ...]:
    """Rounds as long as the first state holds somewhere; of a search at most so many."""
    if loop.search:
        loop, given, once = _without_residual(loop, given, once)
    body, c = folded(loop.body), loop.states
    inside = ["go", *loop.names]
    inside += ["x"] * (c - len(inside))
    states = []
    for k, value in enumerate(given[:c]):
        node, leaf = whole(value), body.slots[k]
        if once[k] and isinstance(node, ast.Name) and text(node) not in scope.page.constants:
            states.append(Value(node, leaf))
        elif k or not loop.search or body.reads[k]:
            states.append(scope.assign(Value(node, leaf), inside[k]))
        else:  # the first round of a search is due
            states.append(Value(name(scope.page.fresh(inside[k])), leaf))
    shared = [scope.named(value, "a") for value in given[c:]]
    go = states[0]
    holds = text(go.node) if not go.shape else f"np.any({text(go.node)})"
    scope.put(f"for _ in range({loop.most}):" if loop.most else f"while {holds}:")
    inner = scope.inner()
    made = Body(inner, body, [*states, *shared], flow).run()
    changed = [(s.node, whole(v)) for s, v in zip(states, made, strict=True) if text(s.node) != text(v.node)]
    _set(inner, changed)
    if loop.most:
        inner.put(f"if not {holds}:")
        inner.put("    break")
    scope.lines += inner.lines
    if loop.most:
        scope.put("else:")
        what = loop.search or "the end of the loop"
        scope.put(f'    raise ArithmeticError("{what} is not found in {loop.most} rounds")')
    return (states[0], states[0], *states[1:]) if loop.search else tuple(states)


def _without_residual(
    loop: While, given: Sequence[Value], once: Sequence[bool]
) -> tuple[While, Sequence[Value], Sequence[bool]]:
    """A search without its second state, which tells messages how far away the end is."""
    body = loop.body.ending(slot for k, slot in enumerate(loop.body.outputs) if k != 1)
    kept = [k for k in range(body.arity) if k != 1]
    smaller = evolve(loop, body=restricted(body, kept), states=loop.states - 1)
    return smaller, [given[k] for k in kept], [once[k] for k in kept]


def _branches(scope: Scope, cond: Cond, given: Sequence[Value], names: Mapping[int, str]) -> tuple[Value, ...]:
    """One of two lines; where both are expressions, a conditional one."""
    condition, *captured = given
    inputs = [scope.named(value, "a") for value in captured]
    parts = []
    for line in map(folded, cond.lines):
        inner = scope.inner()
        parts.append((inner, Body(inner, line, inputs, flow).run()))
    leaves = cond.made.leaves
    (first, then), (second, otherwise) = parts
    if (
        len(leaves) == 1
        and not first.lines
        and not second.lines
        and weight(then[0].node) + weight(otherwise[0].node) < 6
    ):
        node = put("{1} if {0} else {2}", condition.node, whole(then[0]), whole(otherwise[0]))
        return (scope.assign(Value(node, leaves[0]), names.get(0, "y")),)
    words = [scope.page.fresh(names.get(k, "y")) for k in range(len(leaves))]
    scope.put(f"if {text(condition.node)}:")
    for inner, made in parts:
        for word, value in zip(words, made, strict=True):
            inner.put(f"{word} = {text(whole(value))}")
        scope.lines += inner.lines or [inner.indent + "pass"]
        if inner is first:
            scope.put("else:")
    return tuple(Value(name(word), leaf) for word, leaf in zip(words, leaves, strict=True))
