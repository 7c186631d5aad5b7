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

from diff.expr import Expr, operand
from hilbert import Lens, SpaceError, Type, Vec
from hilbert.errors import shown
from hilbert.leafwise import leaf_spaces
from hilbert.lens import AnyLens, place
from hilbert.space import require_type

A = TypeVar("A", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
A_contra = TypeVar("A_contra", bound=Type, contravariant=True)
X_co = TypeVar("X_co", covariant=True)


@final
@frozen
class Entry(Generic[A_contra, X_co]):
    """A part of a record with its value: see `entry`."""

    lens: AnyLens
    value: X_co


@overload
def entry(lens: Lens[A, W], value: Vec[W]) -> Entry[A, Vec[Any]]: ...
@overload
def entry(lens: Lens[A, W], value: Expr[W]) -> Entry[A, Expr[Any]]: ...
def entry(lens: Any, value: Any) -> Any:
    """The part that a lens names, with its value, for `made`; raises SpaceError for other things."""
    if not isinstance(lens, Lens):
        msg = f"entry(lens, value) takes a lens, such as Params.weights, not {shown(lens)}"
        raise SpaceError(msg)
    if not isinstance(value, (Vec, Expr)):
        msg = f"entry({lens}, value) takes a vector or an expression, not {shown(value)}: P.of(…) takes arrays"
        raise SpaceError(msg)
    return Entry(lens, value)


@overload
def made(space: V, *entries: Entry[V, Vec[Any]]) -> Vec[V]: ...  # type: ignore[overload-overlap]
@overload
def made(space: V, *entries: Entry[V, Vec[Any] | Expr[Any]]) -> Expr[V]: ...
def made(space: Any, *entries: Any) -> Any:
    """The element of a record with these parts, each leaf given once: an expression if a part is one, else a vector.

    Lenses of parts of parts will do: entry(Net.encoder / Layer.bias, b). Raises SpaceError that lists what is missing.
    """
    require_type(space, "made(P, entry(lens, value), …)")
    leaves: list[Any] = [None] * len(space.leaves)
    like = next((e.value for e in entries if isinstance(e, Entry) and isinstance(e.value, Expr)), None)
    for e in entries:
        if not isinstance(e, Entry):
            msg = f"made(P, …) takes entries, entry(lens, value), not {shown(e)}"
            raise SpaceError(msg)
        start, stop = place(space, e.lens, e.value.space)
        if any(leaf is not None for leaf in leaves[start:stop]):
            msg = f"made(P, …) of {space}: {e.lens} is given twice"
            raise SpaceError(msg)
        leaves[start:stop] = e.value.leaves if like is None else operand(like, e.value, "made").slots
    missing = [path for (path, _), leaf in zip(leaf_spaces(space), leaves, strict=True) if leaf is None]
    if missing:
        msg = f"made(P, …) of {space}: {', '.join(missing)} missing; give an entry(lens, value) for each part"
        raise SpaceError(msg)
    return Vec(space, tuple(leaves)) if like is None else Expr(like.builder, space, tuple(leaves))
