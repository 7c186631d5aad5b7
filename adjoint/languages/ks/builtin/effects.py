"""Checks, and what is printed: at once where all is known, else as steps of the program that a value goes through."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from adjoint.languages.ks.value.ks_values import filled, leaves_of, mapped, truth
from adjoint.languages.ks.value.tensor_lanes import lane_entry
from adjoint.languages.ks.value.value_classes import LEAF, Table, UnrolledError, Value
from diff import const, operation
from diff.lam.term.term_error import TermError
from hilbert import R, Vec
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.space.space import Bool
from hilbert.tracebacks import tracing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adjoint.languages.ks.builtin.evaluation import Effect, Evaluation
    from diff.lam.term.term_error import Place

_numbers = count()
_is_quiet: ContextVar[bool] = ContextVar("_is_quiet", default=False)
"""True if a program is run to decide a condition: what it writes is written when it is run for its value."""


@contextmanager
def quiet() -> Iterator[None]:
    """Programs that are run here write nothing."""
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def tied(ev: Evaluation, leaves: list[Any]) -> list[Any]:
    """The leaves of a result after what is pending, as expressions; a number where there are none."""
    made = [const(leaf) if isinstance(leaf, Vec) else leaf for leaf in leaves] or [const(R.zeros())]
    for effect in ev.where.pending:
        made[0] = effect(made[0])
    return made


def kept(ev: Evaluation, leaves: tuple[Any, ...], done: list[Effect]) -> None:
    """Keep what a body has checked or printed, whether or not its value is read."""
    if done and not isinstance(leaves[0], Vec):
        ev.where.pending.append(lambda leaf: after(leaf, leaves[0]))


def demand(ev: Evaluation, condition: Value, message: str) -> None:
    """Raise TermError unless a condition holds: now if it is known, else when the program runs."""
    if ev.where.is_nowhere:
        return
    place = ev.place
    if isinstance(condition, Vec):
        condition = bool(condition.array)
    if isinstance(condition, (bool, np.bool_)) and (condition or not ev.where.branches):
        if not condition:
            raise TermError("shape", message, place)
        return
    if isinstance(condition, Table):
        _, (holds,), mask = ev.where.running(condition)
        bad = mask & ~holds
        if not bad.any():
            return
        if not ev.where.branches:
            raise TermError("shape", message, place)
        condition = lane_entry(condition, Bool)
    ev.effects.add("check")
    ev.where.pending.append(lambda leaf: _checked(message, place, leaf)(_data(condition), leaf))


def _data(condition: Value) -> Any:
    return condition if isinstance(condition, LEAF) else const(Bool.vec(bool(condition)))


def _checked(message: str, place: Place | None, leaf: Any) -> Any:
    """(c, v) ↦ v, where c holds; its derivative is 1 where c holds, so that it checks the same."""

    def value(_: Any, c: Any, v: Any) -> Any:
        _require(c, message, place)
        return v

    return operation(
        f"check {next(_numbers)}",
        Bool,
        leaf.space,
        to=leaf.space,
        value=value,
        tangent=lambda *args: _passed(message, place)(args[0]) * args[-1],
    )


def _passed(message: str, place: Place | None) -> Any:
    """c ↦ 1, where c holds."""

    def value(xp: Any, c: Any) -> Any:
        _require(c, message, place)
        return xp.astype(c, xp.float64)

    return operation(f"check {next(_numbers)}", Bool, to=R, value=value, tangent=lambda *_: 0.0)


def _require(c: Any, message: str, place: Place | None) -> None:
    if not np.all(to_numpy(c)):
        raise TermError("shape", message, place)


def written(ev: Evaluation, value: Value, write: Callable[[Value], None]) -> Value:
    """The value, after something is written of it: for each lane that is run, in their order."""
    if ev.where.is_nowhere:
        return value
    leaves = [leaf for leaf in leaves_of(value) if not isinstance(leaf, Vec)]
    if not ev.where.lanes and not leaves and not ev.where.branches and not ev.where.loops and not tracing.get():
        if not _is_quiet.get():
            write(value)
        return value
    if ev.where.branches or ev.where.loops:
        not_at_once(ev)
    return _stepped(ev, value, write)


def not_at_once(ev: Evaluation) -> NoReturn:
    """Raise for what is printed in a body where it is computed one by one: of a fold, or under a condition on reals.

    What is the same in all rounds is run once there, and lanes that do not take a branch are filled with one that does.
    """
    if ev.where.branches and not ev.has_point and ev.where.modes:
        raise TermError("tag", "what is printed under a condition on reals is printed at a point only", ev.place)
    raise ev.where.outside("what is printed is printed one by one")


def _stepped(ev: Evaluation, value: Value, write: Callable[[Value], None]) -> Value:
    """The same as a step of the program, which the first real of the value goes through: once for each lane.

    In a branch the lanes where it is not taken are filled with what is in one that is run, its indices too.
    """
    parts: list[Any] = []
    mapped(parts.append, value)
    varies = [p for p in parts if isinstance(p, LEAF) or (isinstance(p, Table) and p.lanes)]
    if any(isinstance(p, Table) and p.own for p in varies):
        raise UnrolledError("tensors of integers are printed one by one")
    data = [lane_entry(p) if isinstance(p, Table) else const(p) if isinstance(p, Vec) else p for p in varies]
    lanes = ev.where.lanes
    given = [*data, *(lane_entry(lane.index) for lane in lanes)] or [const(R.zeros())]
    active = const(truth(c=True)) if ev.where.mask is None else lane_entry(ev.where.mask, Bool)
    first = next((k for k, p in enumerate(varies) if isinstance(p, LEAF)), 0)

    def run(_: Any, c: Any, *arrays: Any) -> Any:
        """Write the value of each active lane, in the order of lanes; return the first real as given."""
        if _is_quiet.get():
            return arrays[first]
        is_run, *hosts = map(to_numpy, (c, *arrays))
        # lanes that do not take a branch are filled from one that does, indices too: hence a table, each lane once
        by_lane = {lane(at, hosts): at for at in map(tuple, np.argwhere(is_run))}
        for _, at in sorted(by_lane.items()):
            rest = iter([(x, a[at]) for x, a in zip(data, hosts, strict=False)])  # behind stand the indices of lanes
            write(mapped(lambda p, rest=rest: known(p, rest), value))
        return arrays[first]

    def lane(at: tuple[int, ...], given: list[Any]) -> tuple[int, ...]:
        outer = at[: len(at) - len(lanes)]  # of a program that is lifted
        return (*outer, *[int(index[at]) for index in given[len(data) :]])

    def known(p: Any, rest: Iterator[tuple[Any, Any]]) -> Value:
        if not isinstance(p, LEAF) and not (isinstance(p, Table) and p.lanes):
            return p
        x, a = next(rest)
        if isinstance(p, Table):
            return bool(a) if p.array.dtype.kind == "b" else int(a)
        return x.space.vec(a)

    step = operation(
        f"write {next(_numbers)}",
        Bool,
        *(x.space for x in given),
        to=given[first].space,
        value=run,
        tangent=lambda *args: args[len(given) + 3 + first],
    )
    ev.effects.add("write")
    through = step(active, *given)
    ev.where.pending.append(lambda leaf: after(leaf, through))  # also where nothing reads the value
    leaves = leaves_of(value)
    return filled(value, iter([through, *leaves[1:]])) if leaves else value


def after(leaf: Any, other: Any) -> Any:
    """A leaf, after something else was computed."""
    step = operation(
        f"after {next(_numbers)}",
        leaf.space,
        other.space,
        to=leaf.space,
        value=lambda *args: args[1],
        tangent=lambda *args: args[3],
    )
    return step(leaf, other)


def to_error(text: str) -> None:
    """A line of stderr, after what was said before."""
    sys.stdout.flush()
    sys.stderr.write(f"{text}\n")
