"""Several primitives as one: a map of what the variables of a term stand for, with a derivative of its own."""

from __future__ import annotations

from typing import Any

from diff.expr import const
from diff.higher.evaluate import STEPS, Evaluator
from diff.higher.matching import straight
from diff.higher.terms import AnyTerm, Prim, Tuple, Var
from diff.higher.types import Ground
from diff.trace import fun
from hilbert import Type, Vec
from hilbert.map import AnyMap
from hilbert.once import once


@once
def composed(term: AnyTerm) -> tuple[AnyMap, tuple[int, ...]] | None:
    """The map of a term of two or more primitives, and the variables of which it is one; None for other terms."""
    steps = straight(term)
    maps = [step.op for step in steps if isinstance(step, Prim)]
    spaces: dict[int, Type] = {}
    for step in steps:
        if isinstance(step, Var):
            if not isinstance(step.type, Ground):
                return None
            spaces[step.number] = step.type.space
        elif isinstance(step, Tuple) and len(step.parts) < 2:  # no direct sum
            return None
    if len(maps) < 2 or not all(space.is_space for space in (*spaces.values(), *[op.cod for op in maps])):
        return None

    def body(*given: Any) -> Any:
        value = Evaluator(STEPS).at_hand(term, dict(zip(spaces, given, strict=True)))
        return const(value) if isinstance(value, Vec) else value

    made: AnyMap = fun(*spaces.values())(body)
    return made, tuple(spaces)
