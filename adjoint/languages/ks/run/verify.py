"""Tests of derivatives, the library's and those by hand, against differences and against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve, frozen

from adjoint.languages.ks.builtin import effects, linear_primitives
from adjoint.languages.ks.run import derivatives, function_maps
from adjoint.languages.ks.run.by_hand import is_external
from adjoint.languages.ks.value.ks_values import is_real, leaves_of, plus, scaled, tangent
from adjoint.languages.ks.value.ks_values import real as number
from adjoint.languages.ks.value.value_classes import Value
from adjoint.languages.loaded_functions import Fault
from diff.lam.term.term_error import TermError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjoint.languages.ks.run.evaluate import KsEvaluator
    from adjoint.languages.ks.run.text_functions import Linked
    from adjoint.languages.ks.text.function_names import Callee

STEP = 6e-6
"""Of central differences: the cube root of the rounding unit."""
CLOSE = 1e-6
"""The relative error of differences."""
EQUAL = 1e-10
"""The relative difference of two derivatives."""
FOUND_BY = {
    "fwd": ("fwd",),
    "rev": ("rev",),
    "sufrev": ("sufrev", "sufrevpass", "rev"),
    "suffwdpass": ("sufrevpass", "sufrev", "rev"),
    "sufrevpass": ("sufrevpass", "sufrev", "rev"),
}
"""Each derivation with those that it may be made of: the first that there is."""


def value(linked: Linked, callee: Callee, x: Value, evaluator: Callable[[], KsEvaluator]) -> Value | None:
    """The value, which differences are of; None of a function without a body, or without reals at a point.

    Raises TermError where it is not finite.
    """
    if not leaves_of(x) or is_external(linked, callee):
        return None
    y = function_maps.call(linked, callee, x, evaluator())
    if not all(np.isfinite(leaf.array).all() for leaf in leaves_of(y) if is_real(leaf)):
        raise TermError("shape", "the value is not finite where it was tried")
    return y


def faults(
    linked: Linked,
    callee: Callee,
    x: Value,
    y: Value | None,
    rng: np.random.Generator,
    evaluator: Callable[[], KsEvaluator],
) -> Mapping[str, Sequence[Fault]]:
    """The faults at a point, of this value, of each function that is derived from one.

    Raises TermError for a function without a body where nothing is found.
    """
    if not leaves_of(x):
        return {}
    dx = _drawn(x, rng)
    if y is None:
        return _of_external(linked, callee, x, dx, rng, evaluator)
    dy = _drawn(y, rng)
    if not leaves_of(dx) or not leaves_of(dy):
        return {}
    at = _Point(linked, callee, x, dx, dy, evaluator)
    made = at.faults(y)
    for more in ((scaled(-1.0, dx), scaled(-1.0, dy)), (_drawn(x, rng), _drawn(y, rng))):
        if not any(made.values()):  # what is by hand may be right along one of them
            with effects.quiet():
                made = evolve(at, dx=more[0], dy=more[1]).faults(y)
    return made


def _of_external(
    linked: Linked,
    callee: Callee,
    x: Value,
    dx: Value,
    rng: np.random.Generator,
    evaluator: Callable[[], KsEvaluator],
) -> Mapping[str, Sequence[Fault]]:
    """Of a function without a value: those in reverse are compared with [fwd f], where that is by hand."""
    forward = function_maps.by_name(linked, "fwd", callee)
    if forward is not None:
        dy = _drawn(function_maps.call(linked, forward, (x, dx), evaluator()), rng)
        at = _Point(linked, callee, x, dx, dy, evaluator)
        found = at.pairings(is_external=True)
        if wrong := at.apart(found):  # it may be [fwd f] that is
            return at.by_derivation(found, {"fwd": next(iter(wrong.values())), **wrong}, [])
    raise TermError("unbound", f"{callee.base} is declared, and has no body: there is no value to compare with")


@final
@frozen
class _Point:
    """A function at a point, along a tangent and a cotangent."""

    linked: Linked
    callee: Callee
    x: Value
    dx: Value
    dy: Value
    evaluator: Callable[[], KsEvaluator]

    def faults(self, y: Value) -> Mapping[str, Sequence[Fault]]:
        """The faults of each function that is derived, for this value."""
        found = self.pairings()
        wrong = self.off(found, y) or self.apart(found)
        return self.by_derivation(found, wrong, self.of_first_pass(y))

    def pairings(self, *, is_external: bool = False) -> dict[str, float]:
        """⟨∂f(x)·dx, dy⟩ by each derivative that is not made of another one; by those by hand of what has no body."""
        linked, callee, ev = self.linked, self.callee, self.evaluator
        forward, back = (self.x, self.dx), (self.x, self.dy)
        made: dict[str, Value] = {}
        if self._hand("fwd") or not is_external:
            made["fwd"] = linear_primitives.dot(derivatives.forward(linked, callee, forward, ev()), self.dy)
        if self._hand("rev") or not is_external:
            made["rev"] = linear_primitives.dot(derivatives.backward(linked, callee, back, ev()), self.dx)
        first, whole = self._hand("suffwdpass"), self._hand("sufrev")
        if first is not None and self._hand("sufrevpass"):
            made["sufrevpass"] = linear_primitives.dot(
                derivatives.reversed_by(linked, first, callee, back, ev()), self.dx
            )
        if whole is not None:
            made["sufrev"] = linear_primitives.dot(self._call(whole, back), self.dx)
        elif not (first or self._hand("rev") or is_external):
            made["sufrev"] = linear_primitives.dot(derivatives.split_reverse(linked, callee, back, ev()), self.dx)
        values = {derivation: float(value.array) for derivation, value in made.items()}
        if whole is None and values.get("sufrev") == values.get("rev"):  # the same computation
            values.pop("sufrev", None)
        return values

    def off(self, found: Mapping[str, float], y: Value) -> dict[str, Fault]:
        """Those that are not near the differences."""
        step = scaled(number(STEP), self.dx)
        there, before = (self._call(self.callee, plus(self.x, scaled(number(sign), step))) for sign in (1.0, -1.0))
        slopes = [linear_primitives.dot(tangent(lambda v: v, value), self.dy) for value in (there, before)]
        due = float((slopes[0] - slopes[1]).array) / (2.0 * STEP)
        size = max(abs(due), _size(self.dx) * _size(self.dy) * 1e-3, 1e-9)
        near = CLOSE * 10.0 * size + 1e-10 * _size(y) / STEP
        return {
            derivation: self._fault(derivation, f"gives {of!r} where differences of {self._name} give {due!r}")
            for derivation, of in found.items()
            if not abs(of - due) <= near
        }

    def apart(self, found: Mapping[str, float]) -> dict[str, Fault]:
        """Faults of derivatives in reverse whose pairing is not that of [fwd f]; of [fwd f] if only this is by hand."""
        forward, least = found["fwd"], max(_size(self.dx) * _size(self.dy) * 1e-3, 1e-9)  # a pairing may cancel to 0
        wrong: dict[str, Fault] = {}
        for derivation, pairing in found.items():
            if not abs(pairing - forward) <= EQUAL * max(abs(forward), least):
                blames_forward = self._hand("fwd") is not None and self._hand(derivation) is None
                accused, other = ("fwd", derivation) if blames_forward else (derivation, "fwd")
                values = f"{found[accused]!r}, not {found[other]!r}"
                wrong[accused] = self._fault(accused, f"is not the transpose of {self._named(other)}: {values}")
        return wrong

    def of_first_pass(self, y: Value) -> list[Fault]:
        """The faults of a suffwdpass by hand, but for its record."""
        first = self._hand("suffwdpass")
        if first is None:
            return []
        off = plus(self._call(first, self.x)[0], scaled(number(-1.0), y))
        is_same = float(linear_primitives.dot(off, off).array) ** 0.5 <= EQUAL * max(_size(y), 1.0)
        wrong = [] if is_same else [f"gives another value than {self._name}"]
        if self._hand("sufrevpass") is None:
            wrong.append(f"needs a {self.callee.derived('sufrevpass', '').key}: write it, too")
        return [self._fault("suffwdpass", what) for what in wrong]

    def by_derivation(
        self, found: Mapping[str, float], wrong: Mapping[str, Fault], of_first_pass: Sequence[Fault]
    ) -> Mapping[str, Sequence[Fault]]:
        """The faults of each function that is derived: of one that is made of another, its faults."""
        made: dict[str, list[Fault]] = {}
        for derivation, ways in FOUND_BY.items():
            way = next((k for k in ways if k in found), derivation)
            made[derivation] = [wrong[way]] if way in wrong else []
        made["suffwdpass"] += of_first_pass
        return made

    def _call(self, of: Callee, arg: Value) -> Value:
        return function_maps.call(self.linked, of, arg, self.evaluator())

    def _hand(self, derivation: str) -> Callee | None:
        return function_maps.by_name(self.linked, derivation, self.callee)

    @property
    def _name(self) -> str:
        return self.linked.scope.listed(self.callee)

    def _named(self, derivation: str) -> str:
        """[d f], as it is listed where it is by hand."""
        hand = self._hand(derivation)
        return f"[{derivation} {self.callee.key}]" if hand is None else self.linked.scope.listed(hand)

    def _fault(self, derivation: str, what: str) -> Fault:
        """A fault at the place of its definition: one by hand, or the function."""
        scope, hand, name = self.linked.scope, self._hand(derivation), self._named(derivation)
        if hand is None:
            return Fault(scope.place(self.callee), f"{self._name}: {name} {what}")
        after = f" after {self._named('suffwdpass')}" if derivation == "sufrevpass" else ""
        return Fault(scope.place(hand), f"{name}{after}, written by hand, {what}")


def _drawn(value: Value, rng: np.random.Generator) -> Value:
    """A tangent at a value."""

    def leaf(v: Any) -> Any:
        return v.space.vec(np.asarray(rng.standard_normal(v.array.shape)))

    return tangent(leaf, value)


def _size(value: Value) -> float:
    return max((float(np.abs(leaf.array).max(initial=0.0)) for leaf in leaves_of(value) if is_real(leaf)), default=0.0)
