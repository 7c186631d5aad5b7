"""What a text defines: its functions by name and argument type, in order, and what a call in it means."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, NoReturn, final

from attrs import frozen

from adjoint.languages.ks.names import DERIVATIONS, Callee, Written, derived_type, polymorphic, underlying
from adjoint.languages.ks.parser import Parser, described, fail, function, name_of, require, type_of
from adjoint.languages.ks.reader import Atom, Form, forms
from adjoint.languages.ks.rules import Rule, Rules
from adjoint.languages.ks.signatures import NAMES, RULES, built_in, is_of_prelude, known
from adjoint.languages.ks.types import arguments, text
from diff.higher.errors import Place, TermError
from diff.higher.terms import Lam
from diff.higher.types import DataType, TupleType, Ty
from hilbert.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.ks.parser import Typed
    from adjoint.languages.ks.reader import AnyForm
    from adjoint.languages.source import Source
    from diff.higher.binding import Pass

Identity = tuple[tuple[str, ...], str, Ty]


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


@final
class Scope:
    """The definitions so far."""

    def __init__(self, *, prelude: bool = True) -> None:
        self.prelude = prelude
        self.definitions: list[Definition] = []
        self.table: dict[Identity, Definition] = {}
        self.callees: dict[tuple[str, Ty], Callee] = {}
        self.rules = Rules(self)
        self._opened: set[tuple[str, Ty]] = set()

    def overloads(self, name: str) -> list[Ty]:
        """The argument types that definitions have for a name."""
        return [of for derivations, base, of in self.table if base == name and not derivations]

    # --- what a name means ---

    def resolved(self, written: Written, arg: Ty | None, place: Place) -> Callee:
        """What a call means; raises TermError where nothing of this name takes such an argument."""
        if arg is not None:
            found = self.callees.get((written.text, arg))
            if found is not None:
                return found
        found = self.named(written, self._base(written, arg, place), place, arg)
        if arg is not None and found.arg is not arg:
            what = f"{written.text} takes {text(found.arg)}, not {text(arg)}"
            raise TermError("type", what, place)
        self.callees[written.text, found.arg] = found
        return found

    def _base(self, written: Written, arg: Ty | None, place: Place) -> Ty:
        """The argument type of the function that others are derived from."""
        if written.given is not None:
            return written.given
        of = arg
        for derivation in written.derivations if of is not None else ():
            assert of is not None
            kept = of.parts[1] if isinstance(of, TupleType) and len(of.parts) == 2 else None
            if derivation == "sufrevpass" and isinstance(kept, DataType) and kept.declaration.name.startswith("Record"):
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
        what = f"{written.base} is defined on {' and '.join(map(text, types))}: write [{written.base} T]"
        raise TermError("type", what, place)

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
        is_open = name in RULES or self.prelude or (name, of) in self._opened
        result = built_in(name, of) if is_open else None
        if result is not None:
            return Callee((), name, of, of, result)
        types = [*self.overloads(name), *(map(arguments, known(name)) if is_open else ())]
        if types:
            due = " or ".join(map(text, types[:8]))
            raise TermError("type", f"{name} takes {due}, not {text(of)}", place)
        if name in RULES:
            raise TermError("type", f"{name} does not take {text(of)}", place)
        return self._unbound(name, place)

    def _unbound(self, name: str, place: Place) -> NoReturn:
        names = [*(base for _, base, _ in self.table), *NAMES]
        near = get_close_matches(name, names, 3)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise TermError("unbound", f"{name} is not defined before this place{hint}", place)

    # --- definitions ---

    def read(self, source: Source) -> None:
        """Take the definitions of a text in; raises TermError at the first that is wrong."""
        for form in forms(source):
            word = form.head() if isinstance(form, Form) and form.bracket == "(" else ""
            rule: Callable[[Scope, Form], Pass] | None = _RULES.get(word)
            if rule is None or not isinstance(form, Form):
                fail(form, f"expected a definition, (def …), (edef …), (gdef …) or (rule …), not {described(form)}")
            driven(rule(self, form))

    def _add(self, one: Definition) -> None:
        found = self.table.get(one.callee.identity)
        if found is None or (found.kind != "def" and one.kind == "def"):
            self.table[one.callee.identity] = one
            self.callees[one.name, one.callee.arg] = one.callee

    def _def(self, form: Form) -> Pass:
        if len(form.items) != 5:
            fail(form, "def takes a name, a type, parameters and a body: (def f T (x : T) e)")
        head = form.items[1]
        written = yield function(head)
        result = yield type_of([form.items[2]], form.items[2])
        parser = Parser(self)
        _, pattern = yield parser.parameters(form.items[3])
        arg = arguments(tuple(x.type for x in parser.bound.values()))
        callee = self._defined(written, arg, result, head)
        one = Definition("def", written.text, callee, None, head.place)
        self._add(one)
        body, ty = yield parser.expression(form.items[4])
        require(ty, result, "the body", form.items[4])
        whole = Lam(pattern, body, place=head.place)
        rewritten = Lam(pattern, self.rules.rewritten(body), place=head.place)
        made = Definition("def", written.text, callee, rewritten, head.place, whole)
        self.table[callee.identity] = made
        self.definitions.append(made)

    def _defined(self, written: Written, arg: Ty, result: Ty, head: AnyForm) -> Callee:
        """What a definition is of; raises TermError where there is one already, or the type is not the one due."""
        name, derivations = written.base, written.derivations
        if name in RULES:
            fail(head, f"{name} is built in, and not defined again")
        if not derivations and self.prelude and is_of_prelude(name, arg):
            fail(head, f"{name} on {text(arg)} is in the prelude")
        if derivations:
            of = self._base(written, arg, head.place)
            due = self.named(written, of, head.place, arg)
            whole = (due.arg, due.result)
            if derivations[0] == "suffwdpass" and isinstance(result, TupleType) and len(result.parts) == 2:
                whole = derived_type("suffwdpass", *self._under(written, of, head), result.parts[1])
            if (arg, result) != whole:
                what = f"{' -> '.join(map(text, whole))}, not {text(arg)} -> {text(result)}"
                raise TermError("type", f"{written.text} is of type {what}", head.place)
            callee = Callee(derivations, name, of, arg, result)
        else:
            if written.given is not None and written.given is not arg:
                raise TermError("type", f"{written.text} takes {text(written.given)}, not {text(arg)}", head.place)
            callee = Callee((), name, arg, arg, result)
        found = self.table.get(callee.identity)
        if found is not None and found.kind == "def":
            fail(head, f"{written.text} on {text(arg)} is defined twice, first at {found.place}")
        if found is not None and found.callee.result is not result:
            fail(head, f"{written.text} was declared with the result {text(found.callee.result)} at {found.place}")
        return callee

    def _under(self, written: Written, of: Ty, head: AnyForm) -> tuple[Ty, Ty]:
        inner = self.named(Written(written.derivations[1:], written.base, of), of, head.place)
        return inner.arg, inner.result

    def _edef(self, form: Form) -> Pass:
        if len(form.items) != 4:
            fail(form, "edef takes a name, the type of the result and that of the argument: (edef f T T)")
        head, given = form.items[1], form.items[3]
        written = yield function(head)
        result = yield type_of([form.items[2]], form.items[2])
        if isinstance(given, Form) and (not given.items or isinstance(given.items[0], Form) or _is_several(given)):
            parts = []
            for one in given.items:
                part = yield type_of([one], one)
                parts.append(part)
            arg = arguments(tuple(parts))
        else:
            arg = yield type_of([given], given)
        if written.derivations or "$" in written.base[1:]:
            return  # of a derived function: it is derived here
        ours = built_in(written.base, arg)
        if ours is not None and ours is not result:
            fail(head, f"{written.base} on {text(arg)} is built in, with the result {text(ours)}")
        if ours is not None:
            self._opened.add((written.base, arg))
            return
        callee = self._defined(written, arg, result, head)
        self._add(Definition("edef", written.text, callee, None, head.place))

    def _gdef(self, form: Form) -> Pass:
        if len(form.items) != 3:
            fail(form, "gdef takes what is derived, and a function: (gdef rev [f T])")
        derivation = name_of(form.items[1], "what is derived")
        if derivation not in DERIVATIONS:
            fail(form.items[1], f"{derivation} cannot be derived: {', '.join(DERIVATIONS)} can")
        inner = yield function(form.items[2])
        written = Written((derivation, *inner.derivations), inner.base, inner.given)
        callee = self.named(written, self._base(inner, None, form.items[2].place), form.items[2].place)
        self.definitions.append(Definition("gdef", written.text, callee, None, form.place))

    def _rule(self, form: Form) -> Pass:
        if len(form.items) != 5 or not isinstance(form.items[1], Atom) or form.items[1].kind != "string":
            fail(form, 'rule takes a name, parameters and two expressions: (rule "name" (x : T) e e)')
        name, parser = form.items[1], Parser(self)
        bindings, _ = yield parser.parameters(form.items[2])
        left, ty = yield parser.expression(form.items[3])
        right, other = yield parser.expression(form.items[4])
        require(other, ty, "the right side", form.items[4])
        self.rules.add(Rule(name.text, tuple(x for x, _ in bindings), left, right, name.place))

    # --- expressions, and names, that stand alone ---

    def expression(self, source: Source) -> Typed:
        """The one expression of a text."""
        found = list(forms(source))
        if len(found) != 1:
            where = found[1].place if found else Place(source.name, 1, 1)
            raise TermError("syntax", f"one expression is due, not {len(found)}", where)
        term, ty = driven(Parser(self).expression(found[0]))
        return self.rules.rewritten(term), ty

    def function(self, source: Source) -> Callee:
        """The function that a text names: f, [f T], [d f]; raises TermError where there is none, or several are."""
        found = list(forms(source))
        if len(found) != 1:
            raise TermError("syntax", "the name of one function is due")
        written: Written = driven(function(found[0]))
        return self.resolved(written, None, found[0].place)

    def defined(self, callee: Callee) -> Definition | None:
        """The definition of a function of the text."""
        return self.table.get(callee.identity)


def _is_several(form: Form) -> bool:
    """Whether these are several types, and not one compound type without a name for it."""
    return len(form.items) > 1 and form.head() not in ("Tuple", "Vec", "Tensor", "Lam", "LM")


def read(sources: Sequence[Source], *, prelude: bool = True) -> Scope:
    """The definitions of texts, in their order."""
    scope = Scope(prelude=prelude)
    for source in sources:
        scope.read(source)
    return scope


_RULES: dict[str, Callable[[Scope, Form], Pass]] = {
    "def": Scope._def,
    "edef": Scope._edef,
    "gdef": Scope._gdef,
    "rule": Scope._rule,
}
