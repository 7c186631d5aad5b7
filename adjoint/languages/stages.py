"""The stages of a function, each as a text that is never cut."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, cast

from adjoint.reverse.adjoint_affine import vjp
from adjoint.reverse.rules import adjoint
from diff import derivative, diagram, jvp, pointfree, program, show, source
from diff.printing.program_names import leaf_names
from diff.printing.show_steps import Slots
from diff.terms.program import Program
from hilbert import DirectSum, SpaceError
from hilbert.program.control.control_flow import ControlFlow
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.operation import Contract, Literal
from hilbert.space.space import type_of
from linmap import cost, structure
from linmap.printing.notation import indented, subscript
from linmap.printing.text_names import Names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff.terms.program import AnyProgram
    from hilbert import Vec
    from hilbert.map.map import AnyMap
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Step
    from hilbert.program.line.step_operation import Operation

UNKNOWN = re.compile(r"\b[uf][₀-₉]+")
"""The names of slots and bodies in formulas; among steps they are u1, f1."""


def _full(f: Any) -> str:
    return show(f, lines=None, digits=None)


def _at(f: AnyMap, x: Vec[Any] | None) -> Any:
    """The derivative, in the point or at one."""
    d = derivative(f)
    return d if x is None else d(x)


def _steps(f: AnyMap) -> str:
    """One line for each slot: what it is made by, from which slots, and its type; the results last."""
    p = program(f)
    names = [*leaf_names(p), *(f"u{k + 1}" for k in range(len(p.steps)))]
    types = [type_of(leaf) for leaf in p.slots]
    lines = [f"{name} : {kind}" for name, kind in zip(names[: p.arity], types, strict=False)]
    for name, step, kind in zip(names[p.arity :], p.steps, types[p.arity :], strict=True):
        made, *where = _made(p, step, names)
        lines += [f"{name} = {made} : {kind}", *(indented(line) for line in where)]
    return "\n".join([*lines, f"return {', '.join(names[k] for k in p.outputs)}"])


def _made(p: AnyProgram, step: Step[Any], names: Sequence[str]) -> list[str]:
    """A step on slots with these names, and what its text calls by a name of its own."""
    given = [names[a] for a in step.args]
    match step.operation:
        case Pack():
            return [f"({', '.join(given)}{',' if len(given) == 1 else ''})"]
        case Unpack(k):
            return [f"π{subscript(k + 1)} {given[0]}"]
        case ControlFlow() as flow:
            return _held(p, cast("Flow", flow), step.args[0], names)
        case _:  # asks for bundles and lines: every other step is an array operation
            return [" ".join([_operation(step.operation), *given])]


def _held(p: AnyProgram, operation: Flow, bundle: int, names: Sequence[str]) -> list[str]:
    """A loop, a condition or an equation, as it prints; what has a line of its own follows the slots of the program."""
    maker = None if bundle < p.arity else p.steps[bundle - p.arity]
    packed = maker is not None and isinstance(maker.operation, Pack)
    leaves = operation.given.leaves
    given = [names[a] for a in maker.args] if packed and maker else [f"{names[bundle]}.{k}" for k in range(len(leaves))]
    b = Builder(leaves)
    slot = b.step(operation, (b.pack(range(b.arity)),))
    made = b.unpack(slot)
    dom, cod = (DirectSum(tuple(type_of(some.slots[k]) for k in of)) for some, of in ((b, range(b.arity)), (b, made)))
    page = Names()
    page.counts["u"] = len(p.steps)
    slots = Slots(Program.of(b, dom, made, cod, tuple(given)), page, (slot,), (slot,))
    text = slots.whole.get(slot) or slots.texts[slot]
    return [
        UNKNOWN.sub(lambda name: unicodedata.normalize("NFKC", name[0]), line) for line in (text.wide, *slots.lines)
    ]


def _operation(operation: Operation) -> str:
    match operation:
        case Literal():
            return "constant"
        case Contract(spec):
            return f"contract[{spec}]"
        case _:  # as it is written in Python
            return repr(operation).removeprefix("operation.")


def in_numpy(f: AnyMap, name: str = "f") -> str:
    """The module of numpy that computes f; raises SpaceError where constants need a file of their own."""
    made = source(f, name=name)
    if made.constants:
        raise SpaceError(
            f"the module of {name} reads {', '.join(made.constants)} of more than 64 entries from a file beside it: "
            "write both from Python, by source(f).write(folder)"
        )
    return made.text.rstrip("\n")


STAGES: dict[str, Callable[[AnyMap, Vec[Any] | None], str]] = {
    "text": lambda f, _: _full(f),
    "pointfree": lambda f, _: _full(pointfree(f)),
    "derivative": lambda f, x: _full(_at(f, x)),
    "adjoint": lambda f, x: _full(adjoint(_at(f, x))),
    "forward": lambda f, _: _full(jvp(f)),
    "reverse": lambda f, _: _full(vjp(f)),
    "program": lambda f, _: _steps(f),
    "python": lambda f, _: in_numpy(f),
    "structure": lambda f, x: str(structure(_at(f, x))),
    "diagram": lambda f, x: diagram(f if x is None else _at(f, x)).svg,
    "cost": lambda f, x: str(cost(f)) if x is None else str(cost(_at(f, x))),
}
"""The stages by their names; with a point, those of the derivative are of the linear map there, others the same."""
