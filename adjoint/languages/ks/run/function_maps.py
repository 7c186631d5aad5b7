"""A function at an argument as a map of the library on its reals, traced once for all arguments of its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve, frozen

from adjoint.languages.ks.builtin import effects
from adjoint.languages.ks.run.evaluate import KsEvaluator
from adjoint.languages.ks.run.map_arguments import not_derived
from adjoint.languages.ks.run.probe import Probe
from adjoint.languages.ks.value.ks_values import filled, form, has_function, is_real, leaves_of, linear_maps, mapped
from adjoint.languages.ks.value.packing import reals
from adjoint.languages.ks.value.tensor_lanes import constants_of
from adjoint.languages.ks.value.value_classes import LEAF, Table, UnrolledError, Value
from diff import fun
from diff.lam.term.term_error import TermError
from diff.mistakes.escaped_expressions import is_of_two_functions
from hilbert import SpaceError, Vec
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.run.evaluate import LinkedText
    from adjoint.languages.ks.text.function_names import Callee
    from hilbert.map.map import AnyMap

MODES = {"fwd": ("fwd",), "rev": ("rev",), "sufrev": ("suffwdpass", "sufrev", "rev")}
"""The modes of a program, each with what is written by hand for it: the first there is."""


@frozen(eq=False)
class Mapped:
    """A function on the reals of its arguments of one shape, and its result, whose leaves are those of the map."""

    map: AnyMap
    result: Value
    is_at_point: bool
    """True if a condition was decided at the point."""
    effects: set[str]
    """"check" and "write", where it checks or prints something: then its value is computed with its derivative."""
    is_partial: bool
    """True if the result has truth values or indices that are found from reals, which are 0 here."""


def by_name(linked: LinkedText, derivation: str, callee: Callee) -> Callee | None:
    """The function that is written by hand for [d f]."""
    one = linked.scope.table.get(((derivation, *callee.derivations), callee.base, callee.of))
    return one.callee if one is not None and one.function is not None else None


def written(linked: LinkedText, mode: str, callee: Callee) -> Callee | None:
    """The function that is written by hand for a mode."""
    found = (by_name(linked, derivation, callee) for derivation in MODES.get(mode, ()))
    return next((one for one in found if one is not None), None)


def call(
    linked: LinkedText, callee: Callee, arg: Value, ev: KsEvaluator, modes: tuple[str, ...] | None = None
) -> Value:
    """The value of a function; it is opaque where it is by hand in one of the modes, those of the program if None."""
    return driven(ev.call(linked.function(callee, ev, ev.place, modes), arg))


@final
@frozen
class Tracing:
    """The purpose of a map that is traced."""

    mode: str | None
    """The derivation that is taken of the map, whose results then are reals alone; None for the value."""
    decides: bool = True
    """True if conditions that must be decided are decided at the argument, which is not there for its shape only."""
    is_local: bool = False
    """True if all conditions are: the map is for its argument only, and a branch that is not taken is not traced."""


def as_map(linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator, how: Tracing) -> Mapped:
    """A function as a traced map on the leaves of an argument, kept for all of this form if it decides nothing."""
    mode = how.mode
    modes = () if mode is None else (mode, *ev.where.modes)
    # the modes change a body only where something is by hand, `is_local` only where a condition is decided (not kept)
    key = None if has_function(x) else (callee.identity, modes if linked.is_by_hand else mode, form(x))
    found = linked.maps.get(key) if key is not None else None
    if found is not None:
        known: Mapped = found
        return known

    def run(arg: Value, inside: KsEvaluator) -> Value:
        return call(linked, callee, arg, inside, modes[:1])  # opaque only if written by hand for `mode`

    made = traced(linked, callee, run, x, ev, how)
    if key is not None and not made.is_at_point:
        linked.maps[key] = made
    return made


def traced(
    linked: LinkedText,
    callee: Callee,
    run: Callable[[Value, KsEvaluator], Value],
    x: Value,
    ev: KsEvaluator,
    how: Tracing,
) -> Mapped:
    """A computation on a value, as a map on its leaves, for a function."""
    mode, constants = how.mode, constants_of(x)
    if any(isinstance(c, Table) and c.lanes for c in constants):
        message = "an integer that depends on the lane is an argument of a function that is derived"
        raise UnrolledError(message, constants)
    probes: list[Probe] = []
    given = leaves_of(x)

    def point(c: Any) -> Any:
        if not probes:
            probes.append(Probe([leaf if isinstance(leaf, Vec) else ev.probe(leaf) for leaf in given]))
        return probes[0](c)

    values: list[Value] = []
    is_partial: list[bool] = []
    inside = KsEvaluator(linked, ev.steps, point if how.decides else None)
    inside.left, inside.is_local = ev.left, how.is_local

    def body(*leaves: Any) -> Any:
        inside.where = evolve(inside.where, modes=() if mode is None else (mode, *ev.where.modes))
        inside.place = ev.place
        result = run(filled(x, iter(leaves)), inside)
        is_partial.append(mode is not None and len(reals(result)) < len(leaves_of(result)))
        if mode is not None:
            result = mapped(lambda v: 0 if isinstance(v, LEAF) and not is_real(v) else v, result)
        made = effects.tied(inside, leaves_of(result))
        values.append(result)
        return made[0] if len(made) == 1 else tuple(made)

    try:
        f = fun(*(leaf.space for leaf in given))(body)
    except SpaceError as error:
        if linear_maps(x) and is_of_two_functions(error):
            raise TermError("linear", not_derived(callee)) from None
        raise
    return Mapped(f, values[0], bool(probes), inside.effects, is_partial[0])


def map_at(linked: LinkedText, callee: Callee, x: Value, ev: KsEvaluator, mode: str) -> Mapped:
    """The map for an argument: for that only the first time; then for all of its shape, where there is one.

    The last one that is for its argument only is that of the other modes there, where nothing is written by hand.
    """
    key, leaves = (callee.identity, (mode, *ev.where.modes), form(x)), leaves_of(x)
    is_at_point = all(isinstance(leaf, Vec) for leaf in leaves)
    here = None
    if is_at_point:
        values = [np.asarray(a).tobytes() for leaf in leaves for a in leaf.leaves]
        here = callee.identity, key[1] if linked.is_by_hand else None, key[2], values
    if here is not None and linked.last is not None and linked.last[0] == here:
        linked.asked.add(key)
        last: Mapped = linked.last[1]
        return last
    if not is_at_point or key in linked.asked:
        try:
            return as_map(linked, callee, x, ev, Tracing(mode))
        except SpaceError:
            if key not in linked.asked:
                raise
    linked.asked.add(key)
    made = as_map(linked, callee, x, ev, Tracing(mode, is_local=True))
    if here is not None and not made.effects and not has_function(x):
        linked.last = here, made
    return made
