"""What depends on constants alone is computed once, when a line is bound, if it is no larger than what it is made of.

>>> from hilbert.leaf import Entry, Leaf
>>> from hilbert.program.builder import Builder
>>> from hilbert.program.constant import Const
>>> import numpy as np
>>> leaf = Leaf(Entry("float64"))
>>> b = Builder([leaf])
>>> half = b.scale(0.5, b.literal(Const(np.asarray(6.0), leaf, ("six",))))
>>> line = settled(b.line([b.contract(Spec.scalar(0), half, 0)]))
>>> [type(step.operation).__name__ for step in line.steps]
['Literal', 'Contract']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve

from hilbert.arrays.libraries import NUMPY
from hilbert.arrays.namespace import freeze
from hilbert.program.constant import Const
from hilbert.program.line import Step
from hilbert.program.operation import Literal
from hilbert.spec import Spec  # noqa: F401 - the example's

if TYPE_CHECKING:
    from hilbert.program.line import Line


def settled(line: Line) -> Line:
    """The line with constants for the steps that read constants only; of numpy's arrays, which every library takes.

    A constant that repeats one number counts as that number: it is not spread out in memory.
    """
    arity, steps = line.arity, list(line.steps)
    made: dict[int, Const] = {}
    for slot, step in enumerate(line.steps, arity):
        if isinstance(step.operation, Literal):
            if type(step.operation.value.array) in NUMPY.kinds:
                made[slot] = step.operation.value
        elif step.args and all(a in made for a in step.args):
            constants = [made[a] for a in step.args]
            leaf = line.slots[slot]
            if leaf.size <= max(map(_held, constants)):
                kernel = step.operation.bind(NUMPY, [c.leaf for c in constants], leaf)
                array = freeze(np.asarray(kernel.call(*(c.array for c in constants))))
                made[slot] = Const(array, leaf, ("made", slot))
                steps[slot - arity] = Step(Literal(made[slot]), ())
    changed = any(a is not b for a, b in zip(steps, line.steps, strict=True))
    return evolve(line, steps=tuple(steps)).pruned() if changed else line


def _held(c: Const) -> int:
    """The numbers that a constant holds in memory."""
    return c.leaf.size if any(c.array.strides) else 1
