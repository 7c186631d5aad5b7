"""The nests of a line: each step says its own; a step that has none is a call of the interpreter's kernel.

Lines within steps, those of loops and branches, are part of the program: a step in one that has no loops makes the
whole outer step a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.compiled.lower.assembled import assemblies
from hilbert.compiled.tree.accesses import accesses
from hilbert.compiled.tree.arrays import Array, Loops, Unmade
from hilbert.compiled.tree.buffers import Buffer
from hilbert.compiled.tree.statements import Called, Product
from hilbert.compiled.tree.values import loads
from hilbert.index.leaf import Bundle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.program.line.line import Line


VIEWS = 32
"""The most steps that are computed where their result is read, one within the other."""


def _step(to: Loops, operation: Any, operands: Sequence[Any], result: Leaf) -> Any:
    """The result of a step; None where it has no loops."""
    made = operation.loops(to, operands, result)
    arrays = [a for a in operands if isinstance(a, Array)]
    if not isinstance(made, Array) or made.buffer is not None or made.whole is not None or not arrays or made in arrays:
        return made
    views = 1 + max(a.views for a in arrays)
    return evolve(made, views=views) if views < VIEWS else to.each(result, made.at)


def within(to: Loops, line: Line, given: Sequence[Any]) -> list[Any]:
    """The outputs of a line inside another; raises Unmade for a step that has no loops."""
    slots = list(given)
    for leaf, step in zip(line.slots[line.arity :], line.steps, strict=True):
        made = _step(to, step.operation, [slots[a] for a in step.args], leaf)
        if made is None:
            raise Unmade(_name(step.operation))
        slots.append(made)
    return [slots[k] for k in line.outputs]


def whole(to: Loops, line: Line) -> tuple[list[Buffer], list[Buffer]]:
    """The buffers of the inputs and of the outputs of a line, whose statements are made."""
    inputs = [Buffer(f"x{k}", leaf.shape, leaf.dtype, "in") for k, leaf in enumerate(line.slots[: line.arity])]
    results = [line.slots[slot] for slot in line.outputs]
    outputs = [Buffer(f"y{k}", leaf.shape, leaf.dtype, "out") for k, leaf in enumerate(results)]
    first = {slot: outputs[k] for k, slot in reversed([*enumerate(line.outputs)])}
    slots: list[Any] = [to.of(leaf, buffer) for leaf, buffer in zip(line.slots, inputs, strict=False)]
    assembled, gone = assemblies(line)
    for slot, step in enumerate(line.steps, line.arity):
        operands, leaf = [slots[a] for a in step.args], line.slots[slot]
        if slot in gone:
            slots.append(None)
            continue
        mark = len(to.statements)
        to.wanted = first.get(slot)
        try:
            assembly = assembled.get(slot)
            made = _step(to, step.operation, operands, leaf) if assembly is None else assembly.loops(to, slots, leaf)
            why = _name(step.operation)
        except Unmade as unmade:
            made, why = None, f"{_name(step.operation)} with {unmade}"
        to.wanted = None
        if made is None:
            del to.statements[mark:]
            made = _called(to, step.operation, operands, [line.slots[a] for a in step.args], leaf, why)
        slots.append(made)
    ends = [slots[slot] for slot in line.outputs]
    for k, (array, buffer) in enumerate(zip(ends, outputs, strict=True)):
        if array.buffer is not buffer and not _turned(to, array, buffer, ends[:k] + ends[k + 1 :]):
            to.wanted = buffer
            to.each(array.leaf, array.at)
    return inputs, outputs


def _turned(to: Loops, array: Array, output: Buffer, others: Sequence[Array]) -> bool:
    """Compute bᵀ·aᵀ into an output, in place of a·b into a work array that is then transposed into the output.

    `array` is the value of the output. The result is True if the statement was replaced: the value must be the
    transpose of a product that a statement made before, and nothing else may read that product. The `others` are the
    other outputs; they are copied after all statements, so that their reads count, too.
    """
    buffer, found = to.lying(array) or (None, [])
    for at, statement in enumerate(to.statements):
        if isinstance(statement, Product) and statement.c is buffer:
            rows = statement.rows
            is_read = any(buffer in accesses(other) for other in to.statements if other is not statement)
            is_read |= any(buffer is load.args[0] for other in others for load in loads(to.entry(other)[1]))
            turned = [*found[rows:], *found[:rows]]
            if is_read or buffer.kind != "work" or turned != [*range(len(found))]:
                return False
            (m, n, k), (ta, tb), (x, y, _) = statement.sizes, statement.transposed, statement.leads
            ends = statement.b, statement.a, output
            to.statements[at] = Product(*ends, (not tb, not ta), (n, m, k), (y, x, m), len(found) - rows)
            return True
    return False


def _called(
    to: Loops, operation: Any, operands: Sequence[Any], leaves: Sequence[Leaf], result: Leaf, why: str
) -> Array | tuple[Array, ...]:
    """A call of the kernel of an operation on arrays in memory."""
    kernel = operation.bind(NUMPY, leaves, result).call
    given = tuple(_in_memory(to, operand) for operand in operands)
    made = result.leaves if isinstance(result, Bundle) else (result,)
    buffers = tuple(to.buffer(leaf.shape, leaf.dtype) for leaf in made)
    for buffer in buffers:
        buffer.is_whole = True
    to.statements.append(Called(kernel, given, buffers, why))
    arrays = tuple(to.of(leaf, buffer) for leaf, buffer in zip(made, buffers, strict=True))
    return arrays if isinstance(result, Bundle) else arrays[0]


def _in_memory(to: Loops, operand: Any) -> Any:
    """The buffer of an array, or those of a bundle."""
    if isinstance(operand, tuple):
        return tuple(_in_memory(to, part) for part in operand)
    buffer = to.stored(operand if operand.whole is None else operand.whole())
    if buffer.is_ordered or buffer.shape != operand.shape:
        buffer = to.stored(to.copied(operand))
    buffer.is_whole = True
    return buffer


def _name(operation: Any) -> str:
    """The name of an operation, as reports say it."""
    return str(getattr(operation, "name", "") or type(operation).__name__.lower())
