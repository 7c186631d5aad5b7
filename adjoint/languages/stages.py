"""The stages of a function, each as a text that is never cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from adjoint.affine import vjp
from adjoint.rules import adjoint
from diff import derivative, jvp, pointfree, program, show
from diff.show_steps import leaf_names
from hilbert import SpaceError
from hilbert.program.operation import Contract, Literal
from hilbert.space import type_of
from linmap import cost, structure

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert import Vec
    from hilbert.map import AnyMap
    from hilbert.program.operation import Operation

T = TypeVar("T")


def _full(f: Any) -> str:
    return show(f, lines=None, digits=None)


def _at(f: AnyMap, x: Vec[Any] | None) -> Any:
    """The derivative, in the point or at one."""
    d = derivative(f)
    return d if x is None else d(x)


def without_point(f: T, x: Vec[Any] | None) -> T:
    """What is that of the function; raises SpaceError where a point is given."""
    if x is not None:
        raise SpaceError("this stage is that of the function: it takes no --at")
    return f


def _steps(f: AnyMap) -> str:
    """One line for each slot: what it is made by, from which slots, and its type; the results last."""
    p = program(f)
    names = [*leaf_names(p), *(f"u{k + 1}" for k in range(len(p.steps)))]
    types = [type_of(leaf) for leaf in p.slots]
    lines = [f"{name} : {kind}" for name, kind in zip(names[: p.arity], types, strict=False)]
    for name, step, kind in zip(names[p.arity :], p.steps, types[p.arity :], strict=True):
        made = " ".join([_operation(step.operation), *(names[a] for a in step.args)])
        lines.append(f"{name} = {made} : {kind}")
    return "\n".join([*lines, f"return {', '.join(names[k] for k in p.outputs)}"])


def _operation(operation: Operation) -> str:
    match operation:
        case Literal():
            return "constant"
        case Contract(spec):
            return f"contract[{spec}]"
        case _:  # as it is written in Python
            return repr(operation).removeprefix("operation.")


STAGES: dict[str, Callable[[AnyMap, Vec[Any] | None], str]] = {
    "text": lambda f, x: _full(without_point(f, x)),
    "pointfree": lambda f, x: _full(pointfree(without_point(f, x))),
    "derivative": lambda f, x: _full(_at(f, x)),
    "adjoint": lambda f, x: _full(adjoint(_at(f, x))),
    "forward": lambda f, x: _full(jvp(without_point(f, x))),
    "reverse": lambda f, x: _full(vjp(without_point(f, x))),
    "program": lambda f, x: _steps(without_point(f, x)),
    "structure": lambda f, x: str(structure(_at(f, x))),
    "cost": lambda f, x: str(cost(f)) if x is None else str(cost(_at(f, x))),
}
"""The stages by their names; with a point, those of the derivative are of the linear map there."""
