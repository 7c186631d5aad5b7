"""Several primitives as one: a map of what the variables of a term stand for, with a derivative of its own."""

from __future__ import annotations

from typing import Any

from diff.lam.run.evaluate import STEPS, Evaluator
from diff.lam.run.matching import straight
from diff.lam.term.terms import AnyTerm, Prim, Tuple, Var
from diff.lam.term.types import Ground
from diff.trace.expr import const
from diff.trace.trace import fun
from hilbert import Type, Vec
from hilbert.base.once import once
from hilbert.map.map import AnyMap


@once
def composed(term: AnyTerm) -> tuple[AnyMap, tuple[int, ...]] | None:
    """Trace a term of two or more primitives as one map: the map, and the variables that are its arguments in order.

    So a tape has one node and one derivative in place of a node for each primitive. None for other terms.
    """
    steps = straight(term)  # none if the term has other formers than primitives, tuples and projections
    maps = [step.op for step in steps if isinstance(step, Prim)]
    spaces: dict[int, Type] = {}
    for step in steps:
        if isinstance(step, Var):
            if not isinstance(step.type, Ground):
                return None
            spaces[step.number] = step.type.space
        elif isinstance(step, Tuple) and len(step.parts) < 2:  # one part makes no direct sum
            return None
    if len(maps) < 2 or not all(space.is_space for space in (*spaces.values(), *[op.cod for op in maps])):
        return None

    def body(*given: Any) -> Any:
        value = Evaluator(STEPS).at_hand(term, dict(zip(spaces, given, strict=True)))
        return const(value) if isinstance(value, Vec) else value

    whole: AnyMap = fun(*spaces.values())(body)
    return whole, tuple(spaces)
