"""A file as the sub-commands see it: its functions by their names, and values of expressions."""

# pyright: reportReturnType=false
# a protocol says what its methods give, and gives nothing

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np
from attrs import frozen

from adjoint.command.report import TextError, TextSpan, UsageError, located
from adjoint.languages.value_spaces import element, value_of
from adjoint.reverse.rules import adjoint
from diff import derivative
from hilbert import Field, SpaceError, Type, Vec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from adjoint.languages.value_text import Value
    from hilbert.map.map import AnyMap

SEED = 0
"""Points that are not given are drawn with this seed."""
VERIFICATION = "adjoint.checks.verification"
"""The module that verifies a map; imported when a map is verified."""


class DefinedFunction(Protocol):
    """A function that a file defines; its arguments are one tuple where there are several."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def place(self) -> TextSpan:
        """Its place in the text."""

    @property
    def signature(self) -> str:
        """ARGUMENT -> RESULT."""

    @property
    def stages(self) -> Sequence[str]:
        """The stages that it has."""

    def value(self, args: Sequence[Value]) -> Value:
        """The value at the arguments; raises UsageError where they do not fit, TextError where it is not computed."""

    def differential(self, at: Sequence[Value], along: Sequence[Value] | None, *, reverse: bool) -> Value:
        """The derivative at a point along a tangent; its adjoint at a cotangent in reverse, by default 1.0 of ℝ."""

    def stage(self, name: str, at: Sequence[Value] | None) -> str:
        """A stage as text."""

    def verified(self, at: Sequence[Value] | None) -> Sequence[TextError]:
        """The faults of the function and its derivatives at a point, or at one that is drawn."""


class Loaded(Protocol):
    """The functions that files define."""

    @property
    def definitions(self) -> Mapping[str, DefinedFunction]:
        """The functions by their names, in the order of the text."""

    @property
    def listed(self) -> Iterable[DefinedFunction]:
        """All functions that are written, in the order of the text: also those whose name is given anew."""

    def expression(self, source: str) -> str:
        """The value of an expression, as text."""


@final
@frozen
class MapDefinition:
    """A definition that is a map of the library, for arguments of given shapes or, with None, of shapes it chooses."""

    name: str
    signature: str
    place: TextSpan
    map: Callable[[Sequence[Value] | None], AnyMap]
    texts: Mapping[str, Callable[[Sequence[Value] | None, Vec[Any] | None], str]]
    """The stages: with the arguments at hand, and the point that they are."""

    @property
    def stages(self) -> Sequence[str]:
        """The stages that it has."""
        return list(self.texts)

    def value(self, args: Sequence[Value]) -> Value:
        """The value at the arguments; raises UsageError where they do not fit, TextError where it is not computed."""
        f = self._map(args)
        x = point(args, f.dom, self.name)
        with located(self.place):
            return value_of(f(x))

    def differential(self, at: Sequence[Value], along: Sequence[Value] | None, *, reverse: bool) -> Value:
        """The derivative at a point along a tangent; its adjoint at a cotangent in reverse, by default 1.0 of ℝ."""
        f = self._map(at)
        x = point(at, f.dom, self.name)
        with located(self.place):
            linear = derivative(f)(x)
            linear = adjoint(linear) if reverse else linear
        what = "cotangent" if reverse else "tangent"
        if along is None and reverse and isinstance(linear.dom, Field):
            along = [1.0]
        if along is None and linear.dom.leaves:
            raise UsageError(f"along which {what} of {self.name}? write --along with an element of {linear.dom}")
        dx = point(along or (), linear.dom, f"the {what} of {self.name}")
        with located(self.place):
            return value_of(linear(dx))

    def stage(self, name: str, at: Sequence[Value] | None) -> str:
        """A stage as text."""
        x = None if at is None else point(at, self._map(at).dom, self.name)
        with located(self.place):
            return self.texts[name](at, x)

    def verified(self, at: Sequence[Value] | None) -> Sequence[TextError]:
        """The faults of the function and its derivative at a point, or at one that is drawn."""
        f = self._map(at)
        with located(self.place):
            x = _drawn(f, self.name) if at is None else None
        # not located: a point that does not fit is a mistake of the command, not of the text
        x = point(at or (), f.dom, self.name) if x is None else x
        with located(self.place):
            report = import_module(VERIFICATION).verify(f, at=x)  # true if nothing is wrong
        return [] if report else [TextError(self.place, f"{self.name}: {report}")]

    def _map(self, at: Sequence[Value] | None) -> AnyMap:
        with located(self.place):
            return self.map(at)


def point(args: Sequence[Value], space: Type, of: str) -> Vec[Any]:
    """The arguments of a function as an element of its domain; raises UsageError where they are none."""
    try:
        return element(args, space)
    except SpaceError as error:
        raise UsageError(f"{of}: {error}") from error


def _drawn(f: AnyMap, name: str) -> Vec[Any]:
    """A point where the value is finite."""
    rng, space = np.random.default_rng(SEED), f.dom
    with np.errstate(all="ignore"):
        for tried in (space.random(rng), _positive(space, rng)):
            if all(np.isfinite(a).all() for a in f(tried).leaves):
                return tried
    raise UsageError(f"{name} is not finite where it was tried: give a point by --at")


def _positive(space: Type, rng: np.random.Generator) -> Vec[Any]:
    """A point whose real entries are between 0 and 1."""
    pairs = zip(space.random(rng).leaves, space.leaves, strict=True)
    return Vec(space, tuple(abs(np.tanh(a)) if leaf.is_field else a for a, leaf in pairs))
