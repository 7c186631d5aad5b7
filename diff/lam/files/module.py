"""A text as definitions: what its names stand for, and its terms, closed and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from attrs import evolve

from diff.lam.check import library_names
from diff.lam.check.check import Checker
from diff.lam.check.resolve import LAMBDA, Dialect
from diff.lam.files.linking import Checked, linked, nodes
from diff.lam.run.translate import program
from diff.lam.term.binding import mapped
from diff.lam.term.former import Former
from diff.lam.term.inductive import LIST
from diff.lam.term.lam_values import nested, program_type
from diff.lam.term.term_error import TermError, near
from diff.lam.term.terms import AnyTerm, Fix, Lam, Name, Prim, Tuple, Var, fresh, require_term
from diff.lam.term.types import Arrow, Declaration, Param, TupleType, Ty, Unknown, ground, space_of
from diff.lam.term.unify import require_short
from diff.lam.text.item_parser import Reader
from diff.lam.text.items import Claim, Declared, Definition, Free, PrimitiveItem
from hilbert.base.lazy import uncollected

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from diff.lam.text.items import Item
    from hilbert.map.map import AnyMap


@final
class Module:
    """The definitions of one or several texts."""

    def __init__(self, profile: Dialect = LAMBDA) -> None:
        self.profile = profile
        self.reader = Reader()
        self.definitions: dict[str, Checked] = {}
        self.constructors: dict[str, Declaration] = dict.fromkeys(LIST.labels, LIST)
        self.maps: dict[str, AnyMap] = {}
        self.variables: dict[str, Var] = {}
        self._users: dict[str, set[str]] | None = None  # of a definition, those that use it; when it is first asked for

    def copy(self) -> Module:
        """A module with the same names; items that are added to the copy are in it only."""
        module = Module(self.profile)
        module.reader.types, module.reader.names = dict(self.reader.types), set(self.reader.names)
        module.definitions, module.constructors = dict(self.definitions), dict(self.constructors)
        module.maps, module.variables = dict(self.maps), dict(self.variables)
        return module

    # --- what names stand for ---

    def definition(self, name: str) -> tuple[Ty, int] | None:
        """The type of a definition and the number of its parameters."""
        definition = self.definitions.get(name)
        return (definition.type, definition.arity) if definition else None

    def constructor(self, name: str) -> Declaration | None:
        """The type that a constructor belongs to."""
        return self.constructors.get(name)

    def free(self, name: str) -> Var | None:
        """A variable that is declared free."""
        return self.variables.get(name)

    def map(self, name: str) -> AnyMap | None:
        """A primitive that the text defines."""
        return self.maps.get(name)

    def near(self, name: str) -> str:
        """Names like this one, as a hint."""
        known = (*self.definitions, *self.constructors, *self.maps, *self.variables, *library_names.names())
        return near(name, known)

    # --- reading ---

    def read(self, text: str, file: str = "<text>") -> Iterator[Claim]:
        """Take in the items of a text, and give its claims in order; raises TermError for mistakes in the others."""
        for item in self.reader.read(text, file):
            if isinstance(item, Claim):
                yield item
            else:
                self.add(item)

    def claimed(self, items: Iterable[Item]) -> list[tuple[Module, Claim]]:
        """Take in items; their claims, each with the names that it is about: where one is given anew, those before."""
        claims: list[tuple[Module, Claim]] = []
        waiting: list[Claim] = []
        for item in items:
            if isinstance(item, Claim):
                waiting.append(item)
                continue
            if waiting and self._is_known(item):
                before = self.copy()
                claims += [(before, claim) for claim in waiting]
                waiting = []
            self.add(item)
        return [*claims, *((self, claim) for claim in waiting)]

    def _is_known(self, item: Item) -> bool:
        """Tell if an item gives a name anew."""
        if isinstance(item, Declared):
            return any(label in self.constructors for label in item.declaration.labels)
        tables: tuple[Container[str], ...] = (self.definitions, self.maps, self.variables, library_names.names())
        return not isinstance(item, Claim) and any(item.name in table for table in tables)

    def add(self, item: Item) -> None:
        """Take in one item; nothing is changed if it is refused. Items that use its name keep the former meaning."""
        with uncollected():
            self._add(item)

    def _add(self, item: Item) -> None:
        match item:
            case Declared(declaration, place):
                for label in declaration.labels:
                    other = self.constructors.get(label)
                    if other is not None and other is not LIST and other.name != declaration.name:
                        raise TermError("branches", f"{label} is a constructor of {other.name} already", place)
                self.constructors.update(dict.fromkeys(declaration.labels, declaration))
            case Free(name, ty, place):
                variable = fresh(name, self._closed(ty), place)
                self._forget(name)
                self.variables[name] = variable
            case Definition():
                self._define(item)
            case PrimitiveItem():
                self._primitive(item)
            case Claim():  # claims are run, not taken in
                pass
            case _:
                assert_never(item)

    def _define(self, item: Definition) -> None:
        checker = Checker(self, self.profile)
        itself = item.recursive
        term, due = item.term, item.type
        if itself is not None and itself.number in _numbers(term):
            if due is None or not item.is_annotated:
                message = f"{item.name} calls itself: annotate its arguments and its result"
                raise TermError("recursion", message, item.place)
            itself = evolve(itself, type=due)
            term = Fix(itself, _typed(term, itself), place=item.place)
        term, ty = checker.check(term, due)
        parameters: dict[Unknown, Ty] = {}
        generalise = self.profile.generalise and not _has_free(term, self.variables)
        checker.components.settle()
        general = checker.types.resolve(
            ty, {}, lambda u: parameters.setdefault(u, Param(len(parameters))) if generalise else self.profile.default
        )
        require_short(general, item.place)
        term, _ = checker.finish(term, ty, lambda u: parameters.get(u, self.profile.default))
        self._forget(item.name)
        self._keep(item.name, Checked(term, general, len(parameters)))

    def _primitive(self, item: PrimitiveItem) -> None:
        checker = Checker(self, self.profile)
        open_, found = checker.check(item.term)
        term, ty = checker.finish(open_, found, lambda _: self.profile.default)
        require_short(ty, item.place)
        dom = space_of(ty.dom) if isinstance(ty, Arrow) else None
        cod = space_of(ty.cod) if isinstance(ty, Arrow) else None
        if dom is None or cod is None or not dom.is_space:
            message = f"a primitive is a function of vectors; {item.name} is of type {ty}: write def"
            raise TermError("type", message, item.place)
        if _has_free(term, self.variables):
            raise TermError("unbound", f"the primitive {item.name} has a free variable", item.place)
        zero = nested(dom, dom.zeros())
        op = program_type(program(linked(term, self.definitions), zero), dom, cod)
        self._forget(item.name)
        self.maps[item.name] = op
        if item.patterns > 1:
            self._keep(item.name, _in_turn(op, item))

    def _forget(self, name: str) -> None:
        """Free a name for a new meaning; definitions that use the old one find it under a name that no text has."""
        self.maps.pop(name, None)
        self.variables.pop(name, None)
        old = self.definitions.pop(name, None)
        if old is None:
            return
        key = f"{name} {len(self.definitions)}"  # no text has a space in a name, and definitions only become more

        def step(node: AnyTerm) -> AnyTerm | None:
            return evolve(node, name=key) if isinstance(node, Name) and node.name == name else None

        if self._users is None:  # the first name that this module gives anew
            self._users = {}
            for user, one in (*self.definitions.items(), (name, old)):
                self._note(user, one)
        for used in _names(old.term):
            self._users[used].discard(name)
        for user in self._users.pop(name, ()):
            one = self.definitions[user]
            self._keep(user, evolve(one, term=mapped(one.term, step)))
        self._keep(key, old)

    def _keep(self, name: str, one: Checked) -> None:
        """Store a definition under a name, and note the names that its term uses."""
        self.definitions[name] = one
        self._note(name, one)

    def _note(self, user: str, one: Checked) -> None:
        """Enter a definition among the users of each name in its term, once `_forget` has asked for users."""
        if self._users is not None:
            for used in _names(one.term):
                self._users.setdefault(used, set()).add(user)

    def _closed(self, ty: Ty) -> Ty:
        return Checker(self, self.profile).types.resolve(ty, {}, lambda _: self.profile.default)

    # --- terms ---

    def term(self, text: str, file: str = "<text>") -> tuple[AnyTerm, Ty]:
        """A term that is written with the names of this module, closed and checked, and its type; raises TermError."""
        with uncollected():
            return self.checked(self.reader.term(text, file))

    def checked(self, term: AnyTerm, due: Ty | None = None) -> tuple[AnyTerm, Ty]:
        """A term of this text without open nodes and names, and its type; what nothing determines is the default."""
        require_term(term, "Module().checked(t)")
        checker = Checker(self, self.profile)
        made, ty = checker.check(term, due)
        done, found = checker.finish(made, ty, lambda _: self.profile.default)
        require_short(found, term.place)
        return linked(done, self.definitions), found

    def general(self, term: AnyTerm) -> tuple[Ty, int]:
        """The most general type of a term, and the number of its parameters."""
        require_term(term, "Module().general(t)")
        checker = Checker(self, self.profile)
        _, ty = checker.check(term)
        parameters: dict[Unknown, Ty] = {}
        checker.components.settle()
        general = checker.types.resolve(ty, {}, lambda u: parameters.setdefault(u, Param(len(parameters))))
        return general, len(parameters)


def _names(term: AnyTerm) -> set[str]:
    """The names that a term uses."""
    return {node.name for node in nodes(term) if isinstance(node, Name)}


def _in_turn(op: AnyMap, item: PrimitiveItem) -> Checked:
    """A primitive of several patterns as a function that takes its arguments one after the other."""
    whole = ground(op.dom)
    assert isinstance(whole, TupleType)
    xs = tuple(fresh("x", part, item.place) for part in whole.parts)
    term: AnyTerm = Prim(op, Tuple(xs, place=item.place), item.name, place=item.place)
    ty = ground(op.cod)
    for x in reversed(xs):
        term, ty = Lam(x, term, place=item.place), Arrow(x.type, ty)
    return Checked(term, ty, 0)


def _numbers(term: Former) -> set[int]:
    return {node.number for node in nodes(term) if isinstance(node, Var)}


def _has_free(term: AnyTerm, variables: dict[str, Var]) -> bool:
    return bool(variables) and not _numbers(term).isdisjoint(x.number for x in variables.values())


def _typed(term: AnyTerm, x: Var) -> AnyTerm:
    """The term with this type at the variable's occurrences."""

    def step(node: AnyTerm) -> AnyTerm | None:
        if isinstance(node, Var):
            return evolve(node, type=x.type) if node.number == x.number else node
        return None

    return mapped(term, step)
