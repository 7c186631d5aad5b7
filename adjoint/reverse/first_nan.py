"""The step whose value is the first that is not a number, and the user's line that the step was written on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.program.line.source_line import told
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.program.line.line import Line


def first_nan(line: Line, arrays: Sequence[Any]) -> str | None:
    """The line of the first step that makes a NaN of operands without one; None if there is none, or it is not known.

    Of a loop or a condition it is the line where that stands.
    """
    if any(isinstance(a, Formal) for a in arrays):
        return None
    real = [k for k, leaf in enumerate(line.slots) if leaf.is_field]
    with np.errstate(all="ignore"):
        found = Runner(line.ending(real)).run(arrays)
    nan = {k for k, a in zip(real, found, strict=True) if np.isnan(to_numpy(a)).any()}
    steps = dict(enumerate(line.steps, line.arity))
    for k in sorted(nan):
        operands = list(steps[k].args) if k in steps else []
        for a in operands:  # grows while it is read: what bundles are made of
            operands += steps[a].args if a in steps and not line.slots[a].is_field else ()
        if k in steps and nan.isdisjoint(operands):
            place = steps[k].place
            return None if place is None else told(place)
    return None
