"""With respect to some arguments: the parts of a domain that `wrt` names, by positions or lenses."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from diff import Linearization
from diff.derive.varying_parts import Chosen, Wrt, part, positions
from diff.terms.linearization import AnyLinearization
from hilbert import SpaceError
from hilbert.base.once import once
from hilbert.tracebacks import called
from linmap.term.net import Net

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


def takes_wrt(function: F) -> F:
    """A function that takes `wrt`, and tells those who know JAX so."""

    @wraps(function)
    def told(*args: Any, **options: Any) -> Any:
        if "sparse" in options and "as_" in function.__annotations__:
            msg = f'{function.__name__} has no sparse=: write as_="sparse" for a sparse matrix of scipy'
            raise SpaceError(msg)
        if "argnums" in options:
            msg = f"{function.__name__} has no argnums=: write wrt=k, the position of an argument from 0 on, or a lens"
            raise SpaceError(msg)
        return function(*args, **options)

    return cast("F", called(told))


def restricted(d: AnyLinearization, wrt: Wrt) -> AnyLinearization:
    """The derivative in some parts of the domain: the same net, fed at fewer wires."""
    chosen = positions(d.point, wrt)
    return d if chosen is None else _restricted(d, chosen)


@once
def _restricted(d: AnyLinearization, chosen: Chosen) -> AnyLinearization:
    space, leaves = part(d.point, chosen)
    inputs = tuple(d.body.inputs[k] for k in leaves)
    return Linearization(d.program, Net(space, d.body.cod, inputs, d.body.arcs, d.body.outputs, d.body.wires))
