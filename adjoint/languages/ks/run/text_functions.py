"""The functions of a text as values: each name of a body is a variable that stands for what it means."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, final
from weakref import WeakKeyDictionary

from adjoint.languages.ks.builtin.builtins import BUILT_IN
from adjoint.languages.ks.builtin.evaluation import Use
from adjoint.languages.ks.run import derivatives
from adjoint.languages.ks.run.by_hand import by_hand, opaque
from adjoint.languages.ks.text.function_names import Callee
from diff.lam.term.binding import Pass, mapped
from diff.lam.term.lam_values import Closure, Native
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import Name, Var, fresh
from diff.lam.term.types import REAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.run.evaluate import KsEvaluator
    from adjoint.languages.ks.text.resolution import Definition
    from adjoint.languages.ks.text.text_scope import Scope
    from adjoint.languages.ks.value.value_classes import Value
    from diff.lam.term.term_error import Place
    from diff.lam.term.terms import AnyTerm, Lam
    from diff.lam.term.types import Ty


@final
class Linked:
    """The definitions of a scope, ready to be evaluated."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._names: dict[int, Name] = {}
        self._variables: dict[tuple[Any, ...], Var] = {}
        self._terms: dict[int, tuple[AnyTerm, AnyTerm]] = {}
        self._recursive: dict[int, bool] = {}
        self.maps: dict[Any, Any] = {}
        self.asked: set[Any] = set()
        self.last: tuple[Any, Any] | None = None
        self.rules: WeakKeyDictionary[Any, tuple[int, Any]] = WeakKeyDictionary()  # for how many modes, and the next
        self.is_by_hand = any(one.callee.derivations and one.function is not None for one in scope.definitions)

    def term(self, term: AnyTerm) -> Any:
        """A term with variables for the names in it, one for each name at each type, so that closures stay small."""
        found = self._terms.get(id(term))
        if found is None:
            found = self._terms[id(term)] = (term, mapped(term, self._variable))
        return found[1]

    def _variable(self, node: AnyTerm) -> Any:
        if not isinstance(node, Name):
            return None
        key = node.name, node.at
        if key not in self._variables:
            self._variables[key] = fresh(node.name, REAL)
            self._names[self._variables[key].number] = node
        x = self._variables[key]
        return Var(x.name, x.number, x.type, place=node.place)

    def value(self, x: Var, ev: KsEvaluator) -> Value:
        """The value of a name, at the place where its variable stands."""
        known = ev.words.get(id(x))
        if known is not None and known[0] is x:
            return known[1]
        node, place = self._names[x.number], x.place
        word = node.name
        if word.startswith('"'):
            return json.loads(word)
        if word in ("true", "false"):
            return word == "true"
        if word.startswith("get$"):
            k = int(word.split("$")[1]) - 1
            return _native(lambda v: v[k], place, ev)
        callee = self.scope.callees.get((word, node.at[0]))
        value = self._built_in(word, node.at[0], ev, place) if callee is None else self.function(callee, ev, place)
        if callee is None or not (callee.derivations or self.is_by_hand):  # what is derived depends on the mode
            ev.words[id(x)] = x, value
        return value

    def _built_in(self, word: str, of: Ty, ev: KsEvaluator, place: Place | None) -> Value:
        row, use = BUILT_IN[word], Use(of, ev, place)
        if not row.calls:
            return _native(lambda v: row.value(use, v), place, ev)

        def passed(v: Value) -> Pass:
            ev.place = place
            return (yield row.value(use, v))

        return Native(passed)

    def function(
        self, callee: Callee, ev: KsEvaluator, place: Place | None, modes: tuple[str, ...] | None = None
    ) -> Value:
        """A function of the text, of the prelude, or derived from one; opaque where it is by hand in a mode."""
        if self.is_by_hand and by_hand(self, callee, ev.where.modes if modes is None else modes):
            return _native(lambda v: opaque(self, callee, v, ev), place, ev)
        own = self.scope.defined(callee)
        if own is not None and own.function is not None:
            return self.body(own, ev, place)
        if callee.derivations:
            return derivatives.derived(self, callee, ev, place)
        if own is not None:
            raise TermError("unbound", f"{callee.base} is declared, and has no body: it cannot be called", place)
        return self._built_in(callee.base, callee.of, ev, place)

    def body(self, one: Definition, ev: KsEvaluator, place: Place | None) -> Value:
        """A definition as a function."""
        assert one.function is not None
        term: Lam = self.term(one.function)
        closure = Closure(term, {})
        if not self.is_recursive(one):
            return closure

        def run(arg: Value) -> Pass:
            ev.recursions += 1
            ev.place = place
            value = yield ev.call(closure, arg)
            ev.recursions -= 1
            return value

        return Native(run)

    def is_recursive(self, one: Definition) -> bool:
        """Tell if a definition calls itself."""
        found = self._recursive.get(id(one))
        if found is None:
            assert one.function is not None
            found = self._recursive[id(one)] = any(
                callee is not None and callee.base == one.callee.base and callee.of is one.callee.of
                for callee in self.called(one.function)
            )
        return found

    def called(self, term: AnyTerm) -> list[Callee | None]:
        """The functions of the text that a term calls."""
        found: list[Callee | None] = []

        def step(node: AnyTerm) -> None:
            if isinstance(node, Name) and node.at:
                found.append(self.scope.callees.get((node.name, node.at[0])))

        mapped(term, step)
        return found


def _native(run: Callable[[Value], Value], place: Place | None, ev: KsEvaluator) -> Native:
    """A built-in function as a value; its errors are located."""

    def taken(arg: Value) -> Pass:
        ev.place = place
        try:
            return run(arg)
        except TermError as error:
            raise error.at(place) from None
        yield

    return Native(taken)
