"""A line computes what its steps say: overwriting dying operands changes no input, constant or live slot."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, note, settings

from diff import absolute, maximum, minimum, relu, sign
from hilbert import Elements, Fin, R, Relation, Unit
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.constant import Const
from hilbert.program.line.line import Line, Step
from hilbert.program.line.operation import Add, Contract, Literal
from hilbert.program.line.step_operation import Operation
from hilbert.program.run.bound_line import FEW, BoundLine
from hilbert.program.run.fused_steps import Subtract
from hilbert.program.run.run import Runner
from hilbert.relation import Full, function, geq, leq, run
from hilbert.space.space import type_of
from linmap.term import wire
from tests.strategies import Source, sources

X, Y, EMPTY = Fin.of(2), Fin.of(3), Fin.of(0)
ELEMENT = Leaf(Elements(X).entry)


def drawn(s: Source, slots: list[Leaf]) -> tuple[Operation, tuple[int, ...], Leaf]:
    """An operation on some of the slots, and the leaf of its result; integers stay integers."""
    a = s.one_of([k for k, leaf in enumerate(slots) if leaf.is_field])
    leaf = slots[a]
    alike = [k for k, other in enumerate(slots) if other == leaf]
    b = s.one_of(alike)
    labels = ALPHABET[: len(leaf.axes)]
    scalars = [k for k, other in enumerate(slots) if other == Leaf(leaf.entry)]
    options: list[Callable[[], tuple[Operation, tuple[int, ...], Leaf]]] = [
        lambda: (Add(), (a, b), leaf),
        lambda: (Subtract(), (a, b), leaf),
        lambda: (Contract(Spec.pointwise(len(leaf.axes))), (a, b), leaf),
        lambda: (s.one_of([maximum, minimum]), (a, b), leaf),
        lambda: (s.one_of([absolute, relu, sign]), (a,), leaf),
        lambda: (wire.Scale(s.one_of([-1.0, 2.0])), (a,), leaf),
        lambda: (Contract(Spec.of(labels, labels, "")), (a, b), Leaf(leaf.entry)),
    ]
    if len(leaf.axes) < 3:  # arrays stay small
        axis = s.one_of([X, Y, EMPTY])
        options.append(lambda: (wire.Reduce(Full(Unit(), axis), 0), (a,), Leaf(leaf.entry, (axis, *leaf.axes))))
    if scalars:
        k = s.one_of(scalars)
        options.append(lambda: (Contract(Spec.scalar(len(leaf.axes))), (k, a), leaf))
        options.append(lambda: (Contract(Spec.of(labels, "", labels)), (a, k), leaf))
    if leaf.axes[:1] == (X,):
        there = Contract(Spec.of(labels, labels[0], labels[1:]))
        options.append(lambda: (there, (a, slots.index(ELEMENT)), Leaf(leaf.entry, leaf.axes[1:])))
    if leaf.axes:
        options.append(lambda: _along_an_axis(s, a, leaf))
        order = tuple(reversed(range(len(leaf.axes))))
        options.append(lambda: (wire.Move(order), (a,), Leaf(leaf.entry, tuple(leaf.axes[k] for k in order))))
    return s.one_of(options)()


def _along_an_axis(s: Source, a: int, leaf: Leaf) -> tuple[Operation, tuple[int, ...], Leaf]:
    at = s.integer(0, len(leaf.axes) - 1)
    axis = leaf.axes[at]
    relations: list[Relation[Any, Any]] = [Full(axis, Unit()), Full(axis, axis), leq(axis), geq(axis)]
    relations.append(run(EMPTY, axis, 0).T)
    if axis.size:
        relations += [function(s.rng().integers(0, 2, axis.size), axis, X), run(Unit(), axis, 0).T]
    relation = s.one_of(relations)
    return wire.Reduce(relation, at), (a,), wire.image(wire.Reduce(relation, at), leaf)


@settings(max_examples=300)
@given(sources())
def test_reuse_of_memory(s: Source) -> None:
    """Each slot holds what its instruction makes of its arguments, however many of them die there; twice over."""
    shapes = [(), (X,), (Y,), (X, Y), (Y, EMPTY)]
    slots = [ELEMENT, *(Leaf(s.field.entry, s.one_of(shapes)) for _ in range(s.integer(1, 3)))]
    inputs = len(slots)
    given_arrays = [s.vector(type_of(leaf)).leaves[0] for leaf in slots]
    steps: list[Step[Any]] = []
    for k in range(s.integer(0, 1)):
        leaf = Leaf(s.field.entry, s.one_of(shapes))
        steps.append(Step(Literal(Const(s.vector(type_of(leaf)).leaves[0], leaf, (k, 0))), ()))
        slots.append(leaf)
    for _ in range(s.integer(0, 12)):
        what, args, leaf = drawn(s, slots)
        steps.append(Step(what, args))
        slots.append(leaf)
    outputs = tuple(s.integer(0, len(slots) - 1) for _ in range(s.integer(0, 3)))
    line = Line(tuple(slots), tuple(steps), outputs)
    note(line)
    due: list[Any] = list(given_arrays)
    runner = Runner(line)
    with np.errstate(all="ignore"):  # products of products may overflow
        for to, step in enumerate(steps, inputs):
            if isinstance(step.operation, Literal):
                due.append(step.operation.value.array)
                continue
            operands = [np.array(due[k]) for k in step.args]
            assert step.operation.image(*(slots[k] for k in step.args)) == slots[to]
            kernel = step.operation.bind(NUMPY, [slots[k] for k in step.args], slots[to])
            result = kernel.call(*operands)
            assert not (kernel.fresh and any(np.shares_memory(result, operand) for operand in operands)), step
            due.append(np.array(result))
        for _ in range(FEW + 2):  # interpreted, and then as one function
            found = runner.run(given_arrays)
            for k, array in zip(outputs, found, strict=True):
                assert np.shape(array) == slots[k].shape
                assert array.dtype == slots[k].dtype
                assert np.array_equal(array, due[k], equal_nan=True), f"slot {k}: {array}, not {due[k]}"
    assert s.unchanged()


def test_outputs_are_gone_through_once() -> None:
    """A line of many outputs is bound without a copy of those before each."""

    class Read(tuple[int, ...]):
        __slots__ = ()
        items = 0

        def __getitem__(self, k: Any) -> Any:
            found = super().__getitem__(k)
            Read.items += len(found) if isinstance(k, slice) else 1
            return found

    n, leaf = 500, Leaf(R.leaves[0].entry)
    steps = tuple([Step(Add(), (0, 0)) for _ in range(n)])
    line = Line((leaf,) * (n + 1), steps, Read([*range(1, n + 1), 1]))
    bound = BoundLine(line, NUMPY, [np.float64(2.0)])
    assert bound([np.float64(2.0)]) == [4.0] * (n + 1)
    assert Read.items <= 4 * n
