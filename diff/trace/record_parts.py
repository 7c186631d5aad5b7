"""Records made of their parts: `made(P, entry(Params.weights, w), …)`, typed part by part.

>>> from hilbert import Part, R, Record, Scalar
>>> from diff import fun
>>> class State(Record):
...     position: Part[Scalar]
...     speed: Part[Scalar]
>>> S = State(position=R, speed=R)
>>> moved = lambda s: entry(State.position, s[State.position] + s[State.speed])
>>> step = fun(S)(lambda s: made(S, moved(s), entry(State.speed, s[State.speed])))
>>> print(step, "|", step(S.of(position=1.0, speed=2.0)))
s ↦ (position: s.position+s.speed, speed: s.speed) | (position: 3.0, speed: 2.0) ∈ State(position: ℝ, speed: ℝ)
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, final, overload

from attrs import frozen

from diff.trace.expr import Expr, operand
from hilbert import Lens, SpaceError, Type, Vec
from hilbert.errors import shown
from hilbert.space.leafwise import leaf_spaces
from hilbert.space.parts import AnyLens, place
from hilbert.space.space import require_type

A = TypeVar("A", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
A_contra = TypeVar("A_contra", bound=Type, contravariant=True)


@frozen
class RecordEntry(Generic[A_contra]):
    """A part of a record of class A with its value, a vector or an expression: see `entry`."""

    lens: AnyLens
    value: Vec[Any] | Expr[Any]


@final
@frozen
class Known(RecordEntry[A_contra]):
    """The same with a vector."""


@overload
def entry(lens: Lens[A, W], value: Vec[W]) -> Known[A]: ...
@overload
def entry(lens: Lens[A, W], value: Expr[W]) -> RecordEntry[A]: ...
def entry(lens: Any, value: Any) -> Any:
    """The part that a lens names, with its value, for `made`; raises SpaceError for other things."""
    if not isinstance(lens, Lens):
        msg = f"entry(lens, value) takes a lens, such as Params.weights, not {shown(lens)}"
        raise SpaceError(msg)
    if not isinstance(value, (Vec, Expr)):
        msg = f"entry({lens}, value) takes a vector or an expression, not {shown(value)}: P.of(…) takes arrays"
        raise SpaceError(msg)
    return Known(lens, value) if isinstance(value, Vec) else RecordEntry(lens, value)


@overload
def made(space: V, *entries: Known[V]) -> Vec[V]: ...  # type: ignore[overload-overlap]
@overload
def made(space: V, *entries: RecordEntry[V]) -> Expr[V]: ...
def made(space: Any, *entries: Any) -> Any:
    """The element of a record with these parts, each leaf given once: an expression if a part is one, else a vector.

    Lenses of parts of parts will do: entry(Net.encoder / Layer.bias, b). Raises SpaceError that lists what is missing.
    """
    require_type(space, "made(P, entry(lens, value), …)")
    leaves: list[Any] = [None] * len(space.leaves)
    like: Expr[Any] | None = next((e.value for e in entries if isinstance(getattr(e, "value", None), Expr)), None)
    for e in entries:
        if not isinstance(e, RecordEntry):
            msg = f"made(P, …) takes entries, entry(lens, value), not {shown(e)}"
            raise SpaceError(msg)
        start, stop = place(space, e.lens, e.value.space)
        if any(leaf is not None for leaf in leaves[start:stop]):
            msg = f"made(P, …) of {space}: {e.lens} is given twice"
            raise SpaceError(msg)
        given: Any = e.value if like is None else operand(like, e.value, "made")
        leaves[start:stop] = given.leaves if like is None else given.slots
    missing = [path for (path, _), leaf in zip(leaf_spaces(space), leaves, strict=True) if leaf is None]
    if missing:
        msg = f"made(P, …) of {space}: {', '.join(missing)} missing; give an entry(lens, value) for each part"
        raise SpaceError(msg)
    return Vec(space, tuple(leaves)) if like is None else Expr(like.builder, space, tuple(leaves))
