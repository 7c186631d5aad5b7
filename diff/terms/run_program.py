"""Running functions: a program is bound once to the namespace of its arguments, and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.terms.lower import program
from diff.terms.planned_program import reordered
from hilbert.base.once import once
from hilbert.program.run.run import Runner

if TYPE_CHECKING:
    from diff.terms.function import AnyFun
    from diff.terms.program import AnyProgram
    from hilbert.map.map import OnLeaves


def run(f: AnyFun) -> OnLeaves:
    """The function of leaves that applies f, made once for each term."""
    return _compiled(program(f)).run


@once
def _compiled(p: AnyProgram) -> Runner:
    return Runner(reordered(p).line)
