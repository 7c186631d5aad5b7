"""Running functions: a program is bound once to the namespace of its arguments, and run."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from diff.lower import program
from diff.plan import reordered
from hilbert import Map, Type, Vec
from hilbert.arrays.namespace import freeze
from hilbert.once import once
from hilbert.program.run import Runner

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.programs import AnyProgram

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def run(f: Map[V, W]) -> Callable[[Vec[V]], Vec[W]]:
    """What applies f to vectors of its domain, made once for each term."""
    call, cod = _compiled(program(f)).run, f.cod
    return lambda x: Vec(cod, tuple(map(freeze, call(x.leaves))))


@once
def _compiled(p: AnyProgram) -> Runner:
    return Runner(reordered(p).line)
