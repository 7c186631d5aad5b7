"""Values of expressions of a function that is being traced, at a point.

Each step is run once: what small steps give is kept from one question to the next, so that many conditions that are
decided one after the other take the time of the function, not of its square.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from adjoint.languages.ks.builtin.effects import quiet
from hilbert import Vec
from hilbert.index.leaf import Bundle
from hilbert.program.line.builder import Builder
from hilbert.program.planning.contraction_plan import planned
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.trace.expr import Expr
    from hilbert.index.leaf import Leaf

SMALL = 64
"""Entries of an array that is kept. Larger ones are made again, in the order that is best for what is asked."""


@final
class Probe:
    """The function's arguments have these values."""

    def __init__(self, at: Sequence[Vec[Any]]) -> None:
        self.known: dict[int, Any] = dict(enumerate(a for x in at for a in x.leaves))

    def __call__(self, of: Expr[Any]) -> Vec[Any]:
        """The value of an expression."""
        slots, steps, arity = of.builder.slots, of.builder.steps, of.builder.arity
        needed, stack = set[int](), list(of.slots)
        while stack:
            k = stack.pop()
            if k not in self.known and k not in needed:
                needed.add(k)
                stack += steps[k - arity].args
        order = sorted(needed)
        given = sorted({a for k in order for a in steps[k - arity].args if a in self.known})
        b = Builder([slots[k] for k in given], fixed=of.builder.fixed)
        where = {k: at for at, k in enumerate(given)}
        for k in order:
            step = steps[k - arity]
            where[k] = b.emit(step.operation, tuple([where[a] for a in step.args]), slots[k])
        kept = [k for k in order if k in of.slots or _is_small(slots[k])]
        with quiet():
            found = Runner(planned(b.line(where[k] for k in kept))).run([self.known[k] for k in given])
        self.known.update(zip(kept, found, strict=True))
        return Vec(of.space, tuple([self.known[k] for k in of.slots]))


def _is_small(leaf: Leaf) -> bool:
    return not isinstance(leaf, Bundle) and leaf.size <= SMALL
