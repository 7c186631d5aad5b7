"""The names of arguments in a program's text, and of the parameters of the bodies in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, cast

from diff.printing.slot_text import subscripted
from hilbert.program.control.branch import Cond
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from linmap.printing.notation import subscript
from linmap.printing.part_text import path

if TYPE_CHECKING:
    from diff.terms.program import AnyProgram
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line


def heads(p: AnyProgram) -> tuple[str, ...]:
    """The names of the arguments, digits at the end as subscripts."""
    parts = p.dom.parts
    if p.names:
        return tuple(subscripted(name) for name in p.names)
    return (
        ("x",)
        if len(parts) == 1 or p.dom.names is not None
        else tuple(f"x{subscript(k + 1)}" for k in range(len(parts)))
    )


def leaf_names(p: AnyProgram) -> list[str]:
    """The names of the leaves of the argument."""
    names = heads(p)
    whole = len(names) != len(p.dom.parts) or (len(names) == 1 and p.dom.names is not None)
    parts = (p.dom,) if whole else p.dom.parts
    pairs = zip(names, parts, strict=True)
    return [head + "".join(map(_key, way)) for head, part in pairs for way in path(part)]


def _key(k: int | str) -> str:
    """₁, or .weights."""
    return f".{k}" if isinstance(k, str) else subscript(k + 1)


def parameters(flow: Flow) -> tuple[str, ...]:
    """The names of the parameters of a step's body: states, then items; those of a condition have none of their own."""
    match flow:
        case Loop() as loop:
            c, items = loop.states, loop.body.arity - loop.states - loop.shared
            own = loop.names or (*(f"s{k + 1}" for k in range(c)), *(f"x{k + 1}" for k in range(items)))
        case While(_, states, names=names):
            own = ("go", *names) if len(names) == states - 1 else ("go", *(f"s{k}" for k in range(1, states)))
        case Cond():
            own = ()
        case Implicit(unknowns=unknowns, names=names):
            own = names or _numbered(unknowns)
        case Solve(unknowns=unknowns):
            own = _numbered(unknowns)
        case never:
            assert_never(never)
    return tuple(map(subscripted, own))


def _numbered(count: int) -> tuple[str, ...]:
    return ("x",) if count == 1 else tuple(f"x{k + 1}" for k in range(count))


def all_names(p: AnyProgram) -> set[str]:
    """The names of arguments, of their parts, and of the parameters of all bodies; nothing else may be called so."""
    found, ahead, seen = {*heads(p), *leaf_names(p)}, [p.line], {id(p.line)}

    def below(line: Line) -> Line:
        if id(line) not in seen:
            seen.add(id(line))
            ahead.append(line)
        return line

    while ahead:
        for step in ahead.pop().steps:
            if isinstance(step.operation, ControlFlow):
                found.update(parameters(cast("Flow", step.operation)))
                step.operation.on_lines(below)
    return found
