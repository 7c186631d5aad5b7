"""Running functions: a program is bound once to the namespace of its arguments, and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.lower import program
from diff.plan import reordered
from hilbert.once import once
from hilbert.program.run import Runner

if TYPE_CHECKING:
    from diff.base import AnyFun
    from diff.programs import AnyProgram
    from hilbert.map import OnLeaves


def run(f: AnyFun) -> OnLeaves:
    """What applies f to the leaves of vectors of its domain, made once for each term."""
    return _compiled(program(f)).run


@once
def _compiled(p: AnyProgram) -> Runner:
    return Runner(reordered(p).line)
