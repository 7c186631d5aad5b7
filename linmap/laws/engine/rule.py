"""Laws: an oriented rule makes a term smaller; an equation is true and used in no direction.

Both stand in tables under their names; `diff` adds the laws of functions when it is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final

from attrs import field, frozen

from hilbert.base.lazy import load
from hilbert.base.once import LOCK

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
Classes: TypeAlias = "type | tuple[type, ...]"

NODE, PART, PAIR = "node", "part of a composition", "neighbours in a composition"
TERM, LIKE = "term of a sum", "terms of a sum that are alike"
ARC, ARCS, NET = "atom, or arc of a net", "neighbouring atoms, or arcs of a net", "net"
BESIDE = "atoms that are alike, or arcs of a net side by side"


@final
@frozen
class Rule:
    """An oriented law: a small function from a term to a smaller one with the same meaning, or to None.

    `kind` says what the function takes: a node; one part of a composition, to give a factor and the parts that replace
    it; the neighbours (g, f) of g • f; one term of a sum, to give the terms that replace it; the terms of a sum that
    have one `key`; or arcs (see `linmap.laws.laws.wires`). `on` are the classes that it takes. A `late` rule computes
    with data: it is tried when no other applies, and only where an operand is used nowhere else. A rule that `lifts`
    moves a scaling out. `derived` is the same law where it stands in terms (see `linmap.laws.laws.atoms`).
    """

    name: str
    formula: str
    source: str
    kind: str
    function: Callable[..., Any]
    late: bool = False
    lifts: bool = False
    key: Callable[[Any], Any] | None = None
    on: tuple[Classes, ...] = ()
    derived: list[Rule] = field(factory=list)

    def takes(self, *classes: type) -> bool:
        """Tell if the function takes nodes of these classes."""
        return len(classes) == len(self.on) and all(map(issubclass, classes, self.on))


@final
@frozen
class Equation:
    """A law that is used in no direction: `left` and `right` are functions of the `maps`, such as "f : U → V^X"."""

    name: str
    formula: str
    source: str
    maps: tuple[str, ...]
    left: Callable[..., Any]
    right: Callable[..., Any]


RULES: dict[str, Rule] = {}
EQUATIONS: dict[str, Equation] = {}
_found: dict[tuple[Any, ...], tuple[Rule, ...]] = {}


def rule(
    kind: str,
    formula: str,
    source: str,
    *on: Classes,
    late: bool = False,
    lifts: bool = False,
    key: Callable[[Any], Any] | None = None,
) -> Callable[[F], F]:
    """The decorator that declares a function as a rule, under its name with spaces, and gives the function back."""

    def declared(function: F) -> F:
        declare(Rule(named(function), formula, source, kind, function, late, lifts, key, on))
        return function

    return declared


def named(function: Callable[..., Any]) -> str:
    """The name of a rule: that of its function."""
    return function.__name__.replace("_", " ").strip()


def declare(made: Rule) -> None:
    """Put a rule into the table."""
    with LOCK:
        RULES[made.name] = made
        _found.clear()


def equation(
    formula: str, source: str, *maps: str, name: str, left: Callable[..., Any], right: Callable[..., Any]
) -> None:
    """Declare an equation."""
    EQUATIONS[name] = Equation(name, formula, source, maps, left, right)


def rules(kind: str, *classes: type, late: bool) -> tuple[Rule, ...]:
    """The rules of a kind for nodes of these classes, in the order of their declaration."""
    key = (kind, late, *classes)
    found = _found.get(key)
    if found is None:
        load("laws")
        with LOCK:
            every = [r for law in RULES.values() for r in (law, *law.derived)]
            chosen = [r for r in every if r.kind == kind and (late or not r.late) and r.takes(*classes)]
            found = _found[key] = tuple(chosen)
    return found
