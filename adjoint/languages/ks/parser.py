"""Forms → definitions: terms of the core with their types, found from the leaves to the root, overloads by type.

The rules are generators on one trampoline, so that nested brackets do not use Python's stack.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, final

from adjoint.languages.ks.names import DERIVATIONS, Written
from adjoint.languages.ks.reader import Atom, Form
from adjoint.languages.ks.signatures import NAMES, WORDS
from adjoint.languages.ks.types import ATOMS, BOOL, STRING, arguments, tensor, text
from diff.higher.errors import TermError
from diff.higher.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, fresh
from diff.higher.types import INT, REAL, Arrow, Lin, TupleType, Ty
from hilbert import R

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.reader import AnyForm
    from adjoint.languages.ks.scope import Scope
    from diff.higher.binding import Pass
    from diff.higher.errors import Place

Typed: TypeAlias = tuple[AnyTerm, Ty]


def fail(form: AnyForm, message: str) -> NoReturn:
    """What stands here is no text of the language."""
    raise TermError("syntax", message, form.place)


def described(form: AnyForm) -> str:
    """A form in a message."""
    if isinstance(form, Form):
        return f"{form.bracket}{form.head()[:40]}…"
    return f"'{form.text[:40]}'"


def name_of(form: AnyForm, what: str) -> str:
    """The name that stands here."""
    if not isinstance(form, Atom) or form.kind != "name" or form.text in WORDS:
        fail(form, f"expected {what}, not {described(form)}")
    return form.text


# --- types ---


def type_of(forms: list[AnyForm], place: AnyForm) -> Pass:
    """The type that some forms are: one, or those of a compound type without its brackets."""
    if not forms:
        fail(place, "a type is due here")
    if len(forms) == 1:
        return (yield _type(forms[0]))
    return (yield _compound(forms))


def _type(form: AnyForm) -> Pass:
    if isinstance(form, Atom):
        if form.kind != "name" or form.text not in ATOMS:
            near = get_close_matches(form.text, ATOMS, 1)
            fail(form, f"{described(form)} is no type{f': did you mean {near[0]}?' if near else ''}")
        return ATOMS[form.text]
    if form.bracket != "(" or not form.items:
        fail(form, "expected a type")
    if len(form.items) == 1 and form.head() != "Tuple":
        return (yield _type(form.items[0]))
    return (yield _compound(form.items))


def _compound(forms: list[AnyForm]) -> Pass:
    head, *rest = forms
    word = head.text if isinstance(head, Atom) else ""
    if word == "Tensor":
        n = rest[0] if rest else head
        if not isinstance(n, Atom) or n.kind != "integer" or not 1 <= int(n.text) <= 32:
            fail(n, "the order of a tensor is an integer from 1 to 32")
        rest = rest[1:]
    due = {"Vec": 1, "Tensor": 1, "Lam": 2, "LM": 2}.get(word)
    if due is None and word != "Tuple":
        fail(head, f"{described(head)} makes no type: Tuple, Vec, Tensor, Lam and LM do")
    if due is not None and len(rest) != due:
        fail(head, f"{word} takes {due} type{'s' * (due > 1)}, not {len(rest)}")
    parts: list[Ty] = []
    for one in rest:
        part = yield _type(one)
        parts.append(part)
    match word:
        case "Tuple":
            return arguments(tuple(parts))
        case "Vec":
            return tensor(1, parts[0])
        case "Tensor":
            return tensor(int(forms[1].text), parts[0])  # type: ignore[union-attr]  # an atom, as was seen above
        case "Lam":
            return Arrow(parts[0], parts[1])
        case _:  # LM, of the words that were let through above
            return Lin(parts[0], parts[1])


# --- expressions ---


@final
class Parser:
    """The grammar of expressions; each name is looked up where it stands."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.bound: dict[str, Var] = {}

    def bind(self, name: str, ty: Ty, place: Place) -> tuple[Var, Var | None]:
        """A variable for a name, and what the name stood for before."""
        old = self.bound.get(name)
        x = self.bound[name] = fresh(name, ty, place)
        return x, old

    def unbind(self, bindings: list[tuple[Var, Var | None]]) -> None:
        """Let names stand for what they stood for before."""
        for x, old in reversed(bindings):
            if old is None:
                del self.bound[x.name]
            else:
                self.bound[x.name] = old

    def parameters(self, form: AnyForm) -> Pass:
        """(x : T), ((x : T) …) or (): bindings, and the pattern that they make."""
        if not isinstance(form, Form) or form.bracket != "(":
            fail(form, f"expected parameters, (x : T) or ((x : T) …), not {described(form)}")
        is_one = bool(form.items) and isinstance(form.items[0], Atom)
        made: list[tuple[str, Ty, Place]] = []
        for one in [form] if is_one else form.items:
            if not isinstance(one, Form) or len(one.items) < 3 or getattr(one.items[1], "text", "") != ":":
                fail(one, f"expected a parameter, (x : T), not {described(one)}")
            name = name_of(one.items[0], "the name of a parameter")
            if any(name == other for other, _, _ in made):
                fail(one.items[0], f"two parameters are named {name}")
            ty = yield type_of(one.items[2:], one)
            made.append((name, ty, one.items[0].place))
        bindings = [self.bind(*one) for one in made]
        xs = tuple(x for x, _ in bindings)
        return bindings, xs[0] if len(xs) == 1 else Tuple(xs, place=form.place)

    def expression(self, form: AnyForm) -> Pass:
        """A term and its type."""
        if isinstance(form, Atom):
            return self._atom(form)
        if form.bracket == "[" or not form.items:
            fail(form, "expected an expression" if form.items else "() is no expression: (tuple) is the empty tuple")
        rule: Callable[[Form], Pass] | None = _RULES.get(form.head(), Parser._call).__get__(self)
        assert rule is not None
        return (yield rule(form))

    def _atom(self, form: Atom) -> Typed:
        word, place = form.text, form.place
        match form.kind:
            case "integer":
                return Lit(int(word), place=place), INT
            case "float":
                return Lit(R.vec(float(word)), place=place), REAL
            case "string":
                return Name(json.dumps(word, ensure_ascii=False), place=place), STRING
            case _:  # a name; the reader makes no other atoms
                if word in ("true", "false"):
                    return Name(word, place=place), BOOL
                x = self.bound.get(word)
                if x is None:
                    self._unbound(form)
                return Var(x.name, x.number, x.type, place=place), x.type

    def _unbound(self, form: Atom) -> NoReturn:
        if form.text in NAMES or self.scope.overloads(form.text):
            what = f"{form.text} is a function, and no value: write (lam (x : T) ({form.text} x))"
            raise TermError("type", what, form.place)
        near = get_close_matches(form.text, self.bound, 2)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise TermError("unbound", f"{form.text} is not defined here{hint}", form.place)

    def _let(self, form: Form) -> Pass:
        if len(form.items) != 3 or not isinstance(form.items[1], Form):
            fail(form, "let takes bindings and a body: (let (x e) e) or (let ((x e) …) e)")
        made: list[tuple[Any, AnyTerm]] = []
        old: list[tuple[Var, Var | None]] = []
        for pattern, value in self._bindings(form.items[1]):
            term, ty = yield self.expression(value)
            bindings = self._pattern(pattern, ty)
            old += bindings
            xs = tuple(x for x, _ in bindings)
            made.append((xs[0] if isinstance(pattern, Atom) else Tuple(xs, place=pattern.place), term))
        term, ty = yield self.expression(form.items[2])
        self.unbind(old)
        for xs, value in reversed(made):
            term = Let(xs, value, term, place=form.place)
        return term, ty

    def _bindings(self, form: Form) -> list[tuple[AnyForm, AnyForm]]:
        """(p e), or ((p e) …), which may look alike: ((a b) (f c)) is one where f is a function and no variable."""
        items = form.items
        if len(items) == 2 and (isinstance(items[0], Atom) or (_is_names(items[0]) and self._is_value(items[1]))):
            return [(items[0], items[1])]
        for one in items:
            if not isinstance(one, Form) or len(one.items) != 2:
                fail(one, f"expected a binding, (x e), not {described(one)}")
        if not items:
            fail(form, "let binds a name at least")
        return [(one.items[0], one.items[1]) for one in items if isinstance(one, Form)]

    def _is_value(self, form: AnyForm) -> bool:
        """Whether this is no binding (x e)."""
        if not isinstance(form, Form) or len(form.items) != 2 or not isinstance(form.items[0], Atom):
            return not (isinstance(form, Form) and len(form.items) == 2 and _is_names(form.items[0]))
        word = form.items[0].text
        x = self.bound.get(word)
        if x is not None:
            return isinstance(x.type, Arrow)
        return word in WORDS or word in NAMES or word.startswith("get$") or bool(self.scope.overloads(word))

    def _pattern(self, form: AnyForm, ty: Ty) -> list[tuple[Var, Var | None]]:
        if isinstance(form, Atom):
            return [self.bind(name_of(form, "the name of a variable"), ty, form.place)]
        names = [name_of(one, "the name of a variable") for one in form.items]
        if not isinstance(ty, TupleType) or len(ty.parts) != len(names):
            raise TermError("type", f"{len(names)} names for a value of type {text(ty)}", form.place)
        if len(set(names)) != len(names):
            fail(form, "a name stands twice in a pattern")
        return [self.bind(n, t, f.place) for n, t, f in zip(names, ty.parts, form.items, strict=True)]

    def _if(self, form: Form) -> Pass:
        if len(form.items) != 4:
            fail(form, "if takes a condition and two branches")
        condition, ty = yield self.expression(form.items[1])
        require(ty, BOOL, "a condition", form.items[1])
        then, left = yield self.expression(form.items[2])
        otherwise, right = yield self.expression(form.items[3])
        if left is not right:
            what = f"the branches have types {text(left)} and {text(right)}"
            raise TermError("branches", what, form.items[3].place)
        return If(condition, then, otherwise, place=form.place), left

    def lam(self, form: Form) -> Pass:
        """(lam (x : T) e)."""
        if len(form.items) != 3:
            fail(form, "lam takes a parameter and a body: (lam (x : T) e)")
        bindings, pattern = yield self.parameters(form.items[1])
        body, ty = yield self.expression(form.items[2])
        self.unbind(bindings)
        return Lam(pattern, body, place=form.place), Arrow(arguments(tuple(x.type for x, _ in bindings)), ty)

    def _several(self, forms: list[AnyForm]) -> Pass:
        """Expressions, as one: a tuple unless there is one."""
        terms, types = [], []
        for one in forms:
            term, ty = yield self.expression(one)
            terms.append(term)
            types.append(ty)
        return terms, tuple(types)

    def _tuple(self, form: Form) -> Pass:
        terms, types = yield self._several(form.items[1:])
        return (terms[0] if len(terms) == 1 else Tuple(tuple(terms), place=form.place)), arguments(types)

    def _assert(self, form: Form) -> Pass:
        if len(form.items) != 3:
            fail(form, "assert takes a condition and a value")
        condition, ty = yield self.expression(form.items[1])
        require(ty, BOOL, "a condition", form.items[1])
        body, made = yield self.expression(form.items[2])
        late = Lam(Tuple(()), body, place=body.place)
        return App(Name("assert", (made,), place=form.place), Tuple((condition, late)), place=form.place), made

    def _dummy(self, form: Form) -> Pass:
        ty = yield type_of(form.items[1:], form)
        return App(Name("$dummy", (ty,), place=form.place), Tuple(()), place=form.place), ty

    def _call(self, form: Form) -> Pass:
        head, *rest = form.items
        terms, types = yield self._several(rest)
        arg = terms[0] if len(terms) == 1 else Tuple(tuple(terms), place=form.place)
        ty = arguments(types)
        if isinstance(head, Atom):
            x = self.bound.get(head.text)
            if x is not None:
                f = Var(x.name, x.number, x.type, place=head.place)
                return App(f, arg, place=form.place), _applied(x.type, ty, form)
            if head.kind != "name":
                fail(head, f"{described(head)} is applied, and is no function")
            if head.text.startswith("get$"):
                return App(Name(head.text, (ty,), place=form.place), arg, place=form.place), _component(head, ty)
        elif head.bracket == "(":
            applied, of = yield self.expression(head)
            return App(applied, arg, place=form.place), _applied(of, ty, form)
        written = yield function(head)
        made = self.scope.resolved(written, ty, head.place)
        return App(Name(written.text, (ty,), place=form.place), arg, place=form.place), made.result


def function(form: AnyForm) -> Pass:
    """f, [f T], [d f], [d [f T]] as it is written."""
    if isinstance(form, Atom):
        return Written((), name_of(form, "a function"), None)
        yield
    before: list[str] = []
    while True:
        if form.bracket != "[" or len(form.items) < 2:
            fail(form, f"expected a function, f, [f T] or [d f], not {described(form)}")
        head, inner = form.head(), form.items[1]
        if head not in DERIVATIONS or len(form.items) != 2:
            break
        if isinstance(inner, Atom) and inner.text not in ATOMS:
            return Written((*before, head), name_of(inner, "a function"), None)
        if isinstance(inner, Atom) or inner.bracket != "[":
            break
        before.append(head)
        form = inner
    name = name_of(form.items[0], "the name of a function")
    given = yield type_of(form.items[1:], form)
    return Written(tuple(before), name, given)


def _is_names(form: AnyForm) -> bool:
    if not isinstance(form, Form) or form.bracket != "(":
        return False
    return all(isinstance(one, Atom) and one.kind == "name" for one in form.items)


def require(ty: Ty, due: Ty, what: str, form: AnyForm) -> None:
    """Raise TermError unless a type is the one that is due."""
    if ty is not due:
        raise TermError("type", f"{what} must be of type {text(due)}, not {text(ty)}", form.place)


def _applied(function: Ty, arg: Ty, form: Form) -> Ty:
    if not isinstance(function, Arrow):
        raise TermError("type", f"a value of type {text(function)} is applied, and is no function", form.place)
    if function.dom is not arg:
        raise TermError("type", f"the function takes {text(function.dom)}, not {text(arg)}", form.place)
    return function.cod


def _component(head: Atom, ty: Ty) -> Ty:
    """The type of a component, which is counted from 1."""
    i, _, n = head.text.removeprefix("get$").partition("$")
    if not (i.isdigit() and n.isdigit() and len(i) + len(n) < 12 and 1 <= int(i) <= int(n)):
        fail(head, f"{head.text} is no selection: get$i$n takes component i of n, counted from 1")
    if not isinstance(ty, TupleType) or len(ty.parts) != int(n):
        raise TermError("type", f"{head.text} takes a tuple of {int(n)}, not {text(ty)}", head.place)
    return ty.parts[int(i) - 1]


_RULES: dict[str, Any] = {
    "let": Parser._let,
    "if": Parser._if,
    "lam": Parser.lam,
    "tuple": Parser._tuple,
    "assert": Parser._assert,
    "$dummy": Parser._dummy,
}
