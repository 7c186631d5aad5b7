"""Forms → what a text defines: its functions, in order, and its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from adjoint.languages.ks.text.form_reader import Atom, Form, forms
from adjoint.languages.ks.text.function_names import DERIVATIONS, Callee, Written
from adjoint.languages.ks.text.parser import (
    FORMS,
    TYPES,
    Parser,
    described,
    fail,
    function,
    name_of,
    one_type,
    require,
    require_parts,
)
from adjoint.languages.ks.text.resolution import Definition, Resolution
from adjoint.languages.ks.text.rewrite_rules import Rule, Rules
from adjoint.languages.ks.text.signatures import built_in
from adjoint.languages.ks.value.types import arguments, text
from diff.lam.term.binding import each
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.terms import Lam
from hilbert.base.lazy import uncollected
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.ks.text.form_reader import AnyForm
    from adjoint.languages.ks.text.parser import Typed
    from adjoint.languages.source_text import Source
    from diff.lam.term.binding import Pass


@final
class Scope(Resolution):
    """The definitions so far."""

    def __init__(self, *, prelude: bool = True) -> None:
        super().__init__(prelude=prelude)
        self.definitions: list[Definition] = []
        self.rules = Rules(self)

    def read(self, source: Source) -> None:
        """Take the definitions of a text in; raises TermError at the first that is wrong."""
        for form in forms(source):
            word = form.head() if isinstance(form, Form) and form.bracket == "(" else ""
            rule: Callable[[Scope, Form], Pass] | None = _RULES.get(word)
            if rule is None or not isinstance(form, Form):
                fail(form, f"expected a definition, (def …), (edef …), (gdef …) or (rule …), not {described(form)}")
            require_parts(form)
            driven(rule(self, form))

    def _def(self, form: Form) -> Pass:
        head = form.items[1]
        written = self.spelled((yield function(head)))
        result = yield one_type(form.items[2])
        parser = Parser(self)
        _, pattern = yield parser.parameters(form.items[3])
        arg = arguments(tuple(x.type for x in parser.bound.values()))
        callee = self.defining(written, arg, result, head.place)
        self.add(Definition("def", written.text, callee, None, head.place))
        body, ty = yield parser.expression(form.items[4])
        require(ty, result, "the body", form.items[4])
        whole = Lam(pattern, body, place=head.place)
        rewritten = Lam(pattern, self.rules.rewritten(body), place=head.place)
        made = Definition("def", written.text, callee, rewritten, head.place, whole)
        self.table[callee.identity] = made
        self._list(made)

    def _edef(self, form: Form) -> Pass:
        head, given = form.items[1], form.items[3]
        written = self.spelled((yield function(head)))
        result = yield one_type(form.items[2])
        items = given.items if isinstance(given, Form) and given.bracket == "(" else [given]
        parts = yield each(one_type, [given] if isinstance(given, Form) and given.head() in TYPES else items)
        arg = arguments(tuple(parts))
        if written.derivations or "$" in written.base[1:]:
            return  # of a derived function: it is derived here
        ours = built_in(written.base, arg)
        if ours is not None and ours is not result:
            fail(head, f"{written.base} on {text(arg)} is built in, with the result {text(ours)}")
        if ours is not None:
            self.opened.add((written.base, arg))
            return
        callee = self.defining(written, arg, result, head.place)
        self.add(Definition("edef", written.text, callee, None, head.place))

    def _gdef(self, form: Form) -> Pass:
        derivation = name_of(form.items[1], "what is derived")
        if derivation not in DERIVATIONS:
            fail(form.items[1], f"{derivation} cannot be derived: {', '.join(DERIVATIONS)} can")
        inner = self.spelled((yield function(form.items[2])))
        written = Written((derivation, *inner.derivations), inner.base, inner.given)
        callee = self.named(written, self.base(inner, None, form.items[2].place), form.items[2].place)
        self._list(Definition("gdef", written.text, callee, None, form.place))

    def _list(self, one: Definition) -> None:
        self.definitions.append(one)
        self.names[one.name] += 1

    def _rule(self, form: Form) -> Pass:
        name, parser = form.items[1], Parser(self)
        if not isinstance(name, Atom) or name.kind != "string":
            fail(form, FORMS["rule"][1])
        xs, _ = yield parser.parameters(form.items[2])
        left, ty = yield parser.expression(form.items[3])
        right, other = yield parser.expression(form.items[4])
        require(other, ty, "the right side", form.items[4])
        self.rules.add(Rule(name.text, xs, left, right, name.place))

    # --- expressions, and names, that stand alone ---

    def expression(self, source: Source) -> Typed:
        """The one expression of a text."""
        term, ty = driven(Parser(self).expression(_only(source, "one expression is due")))
        return self.rules.rewritten(term), ty

    def function(self, source: Source) -> Callee:
        """The function that a text names: f, [f T], [d f]; raises TermError where there is none, or several are."""
        form = _only(source, "the name of one function is due")
        return self.resolved(self.spelled(driven(function(form))), None, form.place)


def _only(source: Source, what: str) -> AnyForm:
    """The one form of a text."""
    found = list(forms(source))
    if len(found) != 1:
        where = found[1].place if found else Place(source.name, 1, 1)
        raise TermError("syntax", f"{what}, not {len(found)}", where)
    return found[0]


def read(sources: Sequence[Source], *, prelude: bool = True) -> Scope:
    """The definitions of texts, in their order."""
    scope = Scope(prelude=prelude)
    with uncollected():
        for source in sources:
            scope.read(source)
    return scope


_RULES: dict[str, Callable[[Scope, Form], Pass]] = {
    "def": Scope._def,
    "edef": Scope._edef,
    "gdef": Scope._gdef,
    "rule": Scope._rule,
}
