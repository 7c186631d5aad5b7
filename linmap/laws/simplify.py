"""Simplification: the rules of `linmap.laws`, applied until none makes the term smaller (paper §5).

>>> from hilbert import Fin, R, direct_sum
>>> from linmap import fork, identity, project
>>> V = direct_sum(R ** Fin.of(3), R)
>>> print(simplify(fork(project(V, 0), project(V, 1))))
id
>>> print(simplify(2 * (identity(R) + identity(R))))
(4 ·)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from hilbert import SpaceError, Type
from hilbert.base.once import known, once
from hilbert.errors import shown
from hilbert.map.map import Map
from linmap.laws.engine.engine import Simplifier
from linmap.term.protocols import Simplifiable

if TYPE_CHECKING:
    from linmap.term.linear_map import LinMap
    from linmap.term.protocols import Rewriting

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
S = TypeVar("S", bound="Simplifiable")


@overload
def simplify(f: LinMap[V, W]) -> LinMap[V, W]: ...
@overload
def simplify(f: Map[V, W]) -> Map[V, W]: ...
@overload
def simplify(f: S) -> S: ...
def simplify(f: Any) -> Any:
    """A term with the same meaning and a lower `measure`; the same object if no law applies. Idempotent.

    f is a linear map, a function, or a derivative. Laws hold for finite values: 0 • f is 0 even where f would give NaN.
    Raises SpaceError for other things.
    """
    require_term(f, "simplify")
    return _simplified(f)


@once
def _simplified(f: Any) -> Any:
    found = rewritten(f)
    known(_simplified, found, found)
    return found


def require_term(f: object, name: str) -> None:
    """Raise SpaceError for what has no laws: anything but a linear map, a function or a derivative."""
    if not isinstance(f, (Map, Simplifiable)):
        msg = f"{name} takes a linear map, a function or a derivative, not {shown(f)}"
        raise SpaceError(msg)


def rewritten(f: Any, steps: list[Rewriting] | None = None) -> Any:
    """The simplified term, its steps recorded if there is a list for them."""
    if isinstance(f, Simplifiable):
        return f.simplified(steps)
    late = False
    passes = Simplifier(f, steps)
    while True:
        f = passes.run(late=late)
        if passes.changed:
            passes = Simplifier(f, steps)
        elif late:
            return f
        else:
            late = True
