"""Steps that depend on constants alone are computed once, when a line is bound, unless the result is larger than they.

>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.program.line.builder import Builder
>>> from hilbert.program.line.constant import Const
>>> import numpy as np
>>> leaf = Leaf(Entry("float64"))
>>> b = Builder([leaf])
>>> half = b.scale(0.5, b.literal(Const(np.asarray(6.0), leaf, ("six",))))
>>> line = folded(b.line([b.contract(Spec.scalar(0), half, 0)]))
>>> [type(step.operation).__name__ for step in line.steps]
['Literal', 'Contract']
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from hilbert.arrays.libraries.namespace import freeze
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle
from hilbert.index.spec import Spec  # noqa: F401 - the example's
from hilbert.program.line.constant import Const
from hilbert.program.line.line import Step
from hilbert.program.line.operation import Literal

if TYPE_CHECKING:
    from hilbert.program.line.line import Line

_made = count()
"""Numbers of constants: two that are made are never equal, in whatever lines they stand."""


def constants(line: Line, most: int = 1) -> bytearray:
    """1 for each slot that is a constant of numpy once the line is bound, 0 for others; empty if there is none.

    A step that reads constants only makes one if it is no larger than they are, or than `most`. A constant that repeats
    one number counts as that number: it is not spread out in memory. A bundle of arrays is none.
    """
    found = bytearray(len(line.slots))
    held: dict[int, int] = {}  # the numbers that a constant holds
    for slot, step in enumerate(line.steps, line.arity):
        if type(step.operation) is Literal:
            array = step.operation.value.array
            if type(array) in NUMPY.kinds:
                held[slot] = max(line.slots[slot].size if any(array.strides) else 1, 1)
                found[slot] = 1
        elif (
            held and held.keys() >= {*step.args} and step.operation.is_pure and not isinstance(line.slots[slot], Bundle)
        ):
            size = max(line.slots[slot].size, 1)
            if size <= most or size <= max(held[a] for a in step.args):
                held[slot] = size
                found[slot] = 1
    return found if held else bytearray()


def folded(line: Line, most: int = 1) -> Line:
    """The line with its constants computed; each has at most `most` entries, or is no larger than its operands."""
    found = constants(line, most)
    if not found:
        return line
    made: dict[int, Const] = {}
    steps = list(line.steps)
    for slot, is_made in enumerate(found):
        if not is_made:
            continue
        step = steps[slot - line.arity]
        if isinstance(step.operation, Literal):
            made[slot] = step.operation.value
            continue
        if not made.keys() >= {*step.args}:
            continue
        given, leaf = [made[a] for a in step.args], line.slots[slot]
        kernel = step.operation.bind(NUMPY, [c.leaf for c in given], leaf)
        try:
            array = freeze(np.asarray(kernel.call(*(c.array for c in given))))
        except SpaceError:  # the run raises the error, if it gets here
            continue
        made[slot] = Const(array, leaf, ("made", next(_made)))
        steps[slot - line.arity] = Step(Literal(made[slot]), ())
    return line if steps == [*line.steps] else evolve(line, steps=tuple(steps)).pruned()
