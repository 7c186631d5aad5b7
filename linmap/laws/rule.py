"""What a law is: an oriented rule, which makes a term smaller, or an equation, which is true and used in no direction.

Both stand in tables under their names; `diff` adds the laws of functions when it is imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, final

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")
Classes: TypeAlias = "type | tuple[type, ...]"

NODE, PART, PAIR = "node", "part of a composition", "neighbours in a composition"
TERM, LIKE = "term of a sum", "terms of a sum that are alike"
WIRE, WIRES, NET = "arc of a net", "neighbouring arcs of a net", "net"


@final
@frozen
class Rule:
    """An oriented law: a small function from a term to a smaller one with the same meaning, or to None.

    `kind` says what the function takes: a node; one part of a composition, to give a factor and the parts that replace
    it; the neighbours (g, f) of g • f; one term of a sum, to give the terms that replace it; the terms of a sum that
    have one `key`. `on` are the classes that it takes. A `late` rule computes with data: it is tried when no other
    applies, and only where an operand is used nowhere else. A rule that `lifts` moves a scaling out.
    """

    name: str
    formula: str
    source: str
    kind: str
    function: Callable[..., Any]
    late: bool = False
    lifts: bool = False
    key: Callable[[Any], Any] | None = None
    on: list[tuple[Classes, ...]] = field(factory=list)

    def takes(self, *classes: type) -> bool:
        """Whether the function takes nodes of these classes."""
        return any(all(map(issubclass, classes, on)) for on in self.on) if classes else not self.on


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
    """Declare the rule whose function follows; its name is that of the function."""

    def declared(function: F) -> F:
        name = function.__name__.replace("_", " ").strip()
        made = Rule(name, formula, source, kind, function, late, lifts, key)
        RULES[name] = made
        if on:
            made.on.append(on)
        _found.clear()
        return function

    return declared


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
        chosen = [r for r in RULES.values() if r.kind == kind and (late or not r.late) and r.takes(*classes)]
        found = _found[key] = tuple(chosen)
    return found
