"""The functions that names stand for: overloads by the type of the argument, and functions derived from these."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NoReturn, TypeAlias, final

from attrs import frozen

from adjoint.languages.ks.text.function_names import (
    OLDER,
    Callee,
    Written,
    derived_type,
    polymorphic,
    structured,
    underlying,
)
from adjoint.languages.ks.text.signatures import NAMES, PRELUDE, RULES, TAKES, built_in, is_of_prelude, known
from adjoint.languages.ks.value.types import arguments, is_record, text
from diff.lam.term.term_error import Place, TermError, near
from diff.lam.term.types import TupleType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from diff.lam.term.terms import Lam
    from diff.lam.term.types import Ty

Identity: TypeAlias = "tuple[tuple[str, ...], str, Ty]"


@final
@frozen(eq=False)
class Definition:
    """def f, edef f, which has no body, or gdef f, which is derived."""

    kind: str
    name: str
    callee: Callee
    function: Lam | None
    """With the rules before it; `written` is without them."""
    place: Place
    written: Lam | None = None

    @property
    def signature(self) -> str:
        """ARGUMENT -> RESULT."""
        return f"{text(self.callee.arg)} -> {text(self.callee.result)}"


class Resolution:
    """The functions so far."""

    def __init__(self, *, prelude: bool) -> None:
        self.prelude = prelude
        self.table: dict[Identity, Definition] = {}
        self.callees: dict[tuple[str, Ty], Callee] = {}
        self.opened: set[tuple[str, Ty]] = set()
        self.names: Counter[str] = Counter()
        self.bases: set[str] = set()

    def is_function(self, name: str) -> bool:
        """Tell if a name is one of a function."""
        return self._is_plain(name) or bool(self.spelled(Written((), name, None)).derivations)

    def _is_plain(self, name: str) -> bool:
        return name in self.bases or name in NAMES

    def spelled(self, written: Written) -> Written:
        """[fwd f] for the older spelling fwd$f, where f is a function, and fwd$f is none."""
        derivations, base, given = written.derivations, written.base, written.given
        while not self._is_plain(base):
            derivation, _, base = base.partition("$")
            given = underlying(derivation, given) if given is not None else None
            if derivation not in OLDER or not base or (given is None) != (written.given is None):
                return written
            derivations = (*derivations, derivation)
        return Written(derivations, base, given)

    def overloads(self, name: str) -> list[Ty]:
        """The argument types that definitions have for a name."""
        return [of for derivations, base, of in self.table if base == name and not derivations]

    def resolved(self, written: Written, arg: Ty | None, place: Place) -> Callee:
        """The function of a call; raises TermError where none of this name takes such an argument."""
        if arg is not None:
            found = self.callees.get((written.text, arg))
            if found is not None:
                return found
        found = self.named(written, self.base(written, arg, place), place, arg)
        if arg is not None and found.arg is not arg:
            what = f"{written.text} takes {text(found.arg)}, not {text(arg)}"
            raise TermError("type", what, place)
        self.callees[written.text, found.arg] = found
        return found

    def base(self, written: Written, arg: Ty | None, place: Place) -> Ty:
        """The argument type of the function that others are derived from."""
        if written.given is not None:
            return written.given
        of = arg
        for derivation in written.derivations if of is not None else ():
            assert of is not None
            kept = of.parts[1] if isinstance(of, TupleType) and len(of.parts) == 2 else None
            if derivation == "sufrevpass" and is_record(kept):
                of = kept.args[0]
                continue
            inner = underlying(derivation, of)
            if inner is None:
                how = "write [sufrevpass [f T]]" if derivation == "sufrevpass" else f"it takes two, not {text(of)}"
                raise TermError("type", f"which {written.base} is {written.text} derived from? {how}", place)
            of = inner
        if of is not None:
            return of
        types = [*self.overloads(written.base), *map(arguments, known(written.base))]
        if len(types) == 1:
            return types[0]
        if not types:
            self._unbound(written.base, place)
        what = f"{written.base} is defined on {' and '.join(map(text, types))}"
        raise TermError("type", f"{what}: write {structured(written.derivations, f'[{written.base} T]')}", place)

    def named(self, written: Written, of: Ty, place: Place, arg: Ty | None = None) -> Callee:
        """The function of a name on a type, and what is derived from it; `arg` tells at which a it is polymorphic."""
        found = self._plain(written.base, of, place)
        for k in range(len(written.derivations) - 1, -1, -1):
            derivations = written.derivations[k:]
            hand = self.table.get((derivations, written.base, of))
            name = Written(derivations[1:], written.base, of).text
            free = self._free(derivations, written.base, of, arg if k == 0 else None)
            found = hand.callee if hand else found.derived(derivations[0], name, free)
        return found

    def _free(self, derivations: tuple[str, ...], base: str, of: Ty, arg: Ty | None) -> Ty | None:
        """The a of a polymorphic function, or the type of the record of a suffwdpass that is written by hand."""
        if derivations[0] in ("poly", "polyR"):
            return polymorphic(arg, is_reverse=derivations[0] == "polyR")
        hand = self.table.get((("suffwdpass", *derivations[1:]), base, of))
        result = hand.callee.result if hand else None
        return result.parts[1] if isinstance(result, TupleType) else None

    def _plain(self, name: str, of: Ty, place: Place) -> Callee:
        found = self.table.get(((), name, of))
        if found is not None:
            return found.callee
        is_open = name in RULES or self.prelude or (name, of) in self.opened
        result = built_in(name, of) if is_open else None
        if result is not None:
            return Callee((), name, of, of, result)
        types = [*self.overloads(name), *(map(arguments, known(name)) if is_open else ())]
        if types:
            due = " or ".join(map(text, types[:8]))
            raise TermError("type", f"{name} takes {due}, not {text(of)}", place)
        if name in RULES:
            takes = f"takes {TAKES[name]}, not" if name in TAKES else "does not take"
            raise TermError("type", f"{name} {takes} {text(of)}", place)
        if rows := known(name):
            row = next((row for row in rows if arguments(row) is of), rows[0])
            due = f"(edef {name} {text(PRELUDE[name, row])} ({' '.join(map(text, row))}))"
            what = f"{name} is not declared before this place: without the prelude a text declares it itself, {due}"
            raise TermError("unbound", what, place)
        return self._unbound(name, place)

    def _unbound(self, name: str, place: Place) -> NoReturn:
        hint = near(name, [*self.bases, *NAMES])
        raise TermError("unbound", f"{name} is not defined before this place{hint}", place)

    # --- definitions ---

    def listed(self, callee: Callee) -> str:
        """The name that a function is asked for by: with the argument type of f where several are written so."""
        one = self.defined(callee)
        if one is None:
            return callee.key
        return one.name if self.names[one.name] < 2 else callee.named

    def place(self, callee: Callee) -> Place:
        """The place where a function is defined, or the one that it is derived from."""
        one = self.defined(callee) or self.table.get(((), callee.base, callee.of))
        return one.place if one is not None else Place("", 1, 1)

    def defined(self, callee: Callee) -> Definition | None:
        """The definition of a function of the text."""
        return self.table.get(callee.identity)

    def has_derivative(self, callee: Callee, derivations: Iterable[str]) -> bool:
        """Tell if one of the derivatives of a function is in the text."""
        return any(((d, *callee.derivations), callee.base, callee.of) in self.table for d in derivations)

    def add(self, one: Definition) -> None:
        """Take a definition in, for itself and later ones; one that was declared before is of the same type."""
        self.table[one.callee.identity] = one
        if not one.callee.derivations:  # by its name alone in stages, also where it is written [f T]
            self.callees[one.callee.base, one.callee.arg] = one.callee
            self.bases.add(one.callee.base)

    def defining(self, written: Written, arg: Ty, result: Ty, place: Place) -> Callee:
        """The function of a new definition; raises TermError where it is defined, or of another type."""
        name, derivations = written.base, written.derivations
        if name in RULES:
            raise TermError("syntax", f"{name} is built in, and not defined again", place)
        if not derivations and self.prelude and is_of_prelude(name, arg):
            raise TermError("syntax", f"{name} on {text(arg)} is in the prelude", place)
        if derivations:
            of = self.base(written, arg, place)
            due = self.named(written, of, place, arg)
            whole = (due.arg, due.result)
            if derivations[0] == "suffwdpass" and isinstance(result, TupleType) and len(result.parts) == 2:
                whole = derived_type("suffwdpass", *self._under(written, of, place), result.parts[1])
            if (arg, result) != whole:
                what = f"{' -> '.join(map(text, whole))}, not {text(arg)} -> {text(result)}"
                raise TermError("type", f"{written.text} is of type {what}", place)
            callee = Callee(derivations, name, of, arg, result)
        else:
            if written.given is not None and written.given is not arg:
                raise TermError("type", f"{written.text} takes {text(written.given)}, not {text(arg)}", place)
            callee = Callee((), name, arg, arg, result)
        found = self.table.get(callee.identity)
        if found is not None and found.kind == "def":
            raise TermError("syntax", f"{written.text} on {text(arg)} is defined twice, first at {found.place}", place)
        if found is not None and found.callee.result is not result:
            what = f"{written.text} was declared with the result {text(found.callee.result)} at {found.place}"
            raise TermError("syntax", what, place)
        return callee

    def _under(self, written: Written, of: Ty, place: Place) -> tuple[Ty, Ty]:
        inner = self.named(Written(written.derivations[1:], written.base, of), of, place)
        return inner.arg, inner.result
