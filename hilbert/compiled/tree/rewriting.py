"""Rewriting: statements, values and places with other places in place of variables, or with axes left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from attrs import evolve

from hilbert.compiled.tree.places import Computed, Division, Place, Variable
from hilbert.compiled.tree.statements import For, If, Product, Store
from hilbert.compiled.tree.values import Value, unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Atom
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Pool


@final
class Rewriting:
    """The change of values by places for variables, by the places of a buffer that are kept, and by known entries.

    Answers are kept, so that the change of many values is linear in the values that are seen.
    """

    def __init__(
        self,
        pool: Pool,
        variables: Mapping[Variable, Place],
        kept: Callable[[Buffer, tuple[Place, ...]], tuple[Place, ...]] = lambda _, places: places,
        known: Callable[[Buffer, tuple[Place, ...]], Value | None] = lambda *_: None,
    ) -> None:
        self.pool, self.variables, self.kept, self.known = pool, variables, kept, known
        self._known: dict[Value, Value] = {}
        self._places: dict[Place, Place] = {}

    def place(self, place: Place) -> Place:
        """The place, changed."""
        if not place.terms:
            return place
        found = self._places.get(place)
        if found is None:
            found = self._places[place] = place.over(self._atom)
        return found

    def places(self, buffer: Buffer, places: tuple[Place, ...]) -> tuple[Place, ...]:
        """The places of an entry of a buffer that are kept, changed."""
        return tuple([self.place(p) if p.terms else p for p in self.kept(buffer, places)])

    def value(self, value: Value) -> Value:
        """The value, changed."""
        for top in unfinished(value, self._known):
            self._known[top] = self._again(top)
        return self._known[value]

    def statements(self, statements: Sequence[Statement]) -> list[Statement]:
        """A copy of statements, changed; calls of functions, which take whole arrays, stay."""
        return [*map(self._statement, statements)]

    def _statement(self, statement: Statement) -> Statement:
        match statement:
            case For(variable, body, rounds):
                return For(variable, self.statements(body), rounds)
            case If(condition, then, otherwise):
                return If(self.value(condition), self.statements(then), self.statements(otherwise))
            case Store(buffer, places, value, monoid):
                return Store(buffer, self.places(buffer, places), self.value(value), monoid)
            case Product():
                return evolve(statement, starts=tuple(self.places(*end) for end in statement.ends))
            case _:  # whole arrays
                return statement

    def _atom(self, atom: Atom) -> Atom | int | Place:
        match atom:
            case Variable():
                return self.variables.get(atom, atom)
            case Division(of, n, remainder):
                inner = self.place(of)
                return inner.modulo(n) if remainder else inner.divided(n)
            case Computed():
                assert isinstance(atom, Value)
                value = self.value(atom)
                if value.number is not None:
                    return int(value.number)
                found: Place | Value = value.args[0] if value.name == "place" else value
                return found
            case _:
                assert_never(atom)

    def _again(self, top: Value) -> Value:
        """The value of the same operation on changed operands."""
        pool, known = self.pool, self._known
        match top.name:
            case "number":
                return top
            case "load":
                found = self.known(*top.args)
                return pool.load(top.args[0], self.places(*top.args)) if found is None else found
            case "place":
                return pool.integer(self.place(top.args[0]))
            case _:  # on values, and perhaps the name of a function
                return pool.again(top.name, tuple(known[a] if isinstance(a, Value) else a for a in top.args), top.dtype)
