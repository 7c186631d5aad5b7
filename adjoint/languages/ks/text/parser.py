"""Forms → definitions: terms of the core with their types, found from the leaves to the root, overloads by type.

The rules are generators on one trampoline, so that nested brackets do not use Python's stack.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeGuard, assert_never, final

from adjoint.languages.bound_names import Bound
from adjoint.languages.ks.text.form_reader import Atom, Form
from adjoint.languages.ks.text.function_names import DERIVATIONS, Written
from adjoint.languages.ks.text.signatures import WORDS
from adjoint.languages.ks.value.types import ATOMS, BOOL, STRING, applied_type, arguments, component, tensor, text, vec
from diff.lam.term.binding import each
from diff.lam.term.term_error import TermError, near
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var
from diff.lam.term.types import INT, REAL, Arrow, Lin, TupleType, Ty
from hilbert import R

if TYPE_CHECKING:
    from adjoint.languages.ks.text.form_reader import AnyForm
    from adjoint.languages.ks.text.resolution import Resolution
    from diff.lam.term.binding import Pass
    from diff.lam.term.term_error import Place

Typed: TypeAlias = tuple[AnyTerm, Ty]
FORMS = {
    "let": (3, "let takes bindings and a body: (let (x e) e) or (let ((x e) …) e)"),
    "if": (4, "if takes a condition and two branches"),
    "lam": (3, "lam takes a parameter and a body: (lam (x : T) e)"),
    "assert": (3, "assert takes a condition and a value"),
    "def": (5, "def takes a name, a type, parameters and a body: (def f T (x : T) e)"),
    "edef": (4, "edef takes a name, the type of the result and that of the argument: (edef f T T)"),
    "gdef": (3, "gdef takes what is derived, and a function: (gdef rev [f T])"),
    "rule": (5, 'rule takes a name, parameters and two expressions: (rule "name" (x : T) e e)'),
}
"""The number of parts of a form, its head one of them, and the message where it has others."""
DERIVED = 100
"""The most derivations of one name."""
TYPES: dict[str, tuple[int | None, Callable[..., Ty]]] = {
    "Tuple": (None, lambda *parts: arguments(parts)),
    "Vec": (1, vec),
    "Tensor": (1, tensor),
    "Lam": (2, Arrow),
    "LM": (2, Lin),
}
"""The formers of types, and the number of types that each takes; a tensor is made of its order, too."""


def fail(form: AnyForm, message: str) -> NoReturn:
    """Raise TermError for a form that is no text of the language."""
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
    return (yield one_type(forms[0]) if len(forms) == 1 else _compound(forms))


def one_type(form: AnyForm) -> Pass:
    """The type that a form is."""
    if isinstance(form, Atom):
        if form.kind != "name" or form.text not in ATOMS:
            like = get_close_matches(form.text, ATOMS, 1)
            fail(form, f"{described(form)} is no type{f': did you mean {like[0]}?' if like else ''}")
        return ATOMS[form.text]
    if form.bracket != "(" or not form.items:
        fail(form, "expected a type")
    is_one = len(form.items) == 1 and form.head() != "Tuple"
    return (yield one_type(form.items[0]) if is_one else _compound(form.items))


def _compound(forms: list[AnyForm]) -> Pass:
    head, *rest = forms
    word = head.text if isinstance(head, Atom) else ""
    if word not in TYPES:
        fail(head, f"{described(head)} makes no type: Tuple, Vec, Tensor, Lam and LM do")
    due, make = TYPES[word]
    given: list[Any] = []
    if word == "Tensor":
        n = rest.pop(0)
        if not isinstance(n, Atom) or n.kind != "integer" or not 1 <= int(n.text) <= 32:
            fail(n, "the order of a tensor is an integer from 1 to 32")
        given = [int(n.text)]
    if due is not None and len(rest) != due:
        fail(head, f"{word} takes {due} type{'s' * (due > 1)}, not {len(rest)}")
    given += yield each(one_type, rest)
    return make(*given)


# --- expressions ---


@final
class Parser:
    """The grammar of expressions; each name is looked up where it stands."""

    def __init__(self, scope: Resolution) -> None:
        self.scope = scope
        self.bound = Bound()

    def parameters(self, form: AnyForm) -> Pass:
        """(x : T), ((x : T) …) or (): variables, and the pattern that they make."""
        if not isinstance(form, Form) or form.bracket != "(":
            fail(form, f"expected parameters, (x : T) or ((x : T) …), not {described(form)}")
        is_one = bool(form.items) and isinstance(form.items[0], Atom)
        made: dict[str, tuple[Ty, Place]] = {}
        for one in [form] if is_one else form.items:
            if not isinstance(one, Form) or len(one.items) < 3 or getattr(one.items[1], "text", "") != ":":
                fail(one, f"expected a parameter, (x : T), not {described(one)}")
            name = name_of(one.items[0], "the name of a parameter")
            if name in made:
                fail(one.items[0], f"two parameters are named {name}")
            ty = yield type_of(one.items[2:], one)
            made[name] = ty, one.items[0].place
        xs = tuple(self.bound.bind(name, *of) for name, of in made.items())
        return xs, xs[0] if len(xs) == 1 else Tuple(xs, place=form.place)

    def expression(self, form: AnyForm) -> Pass:
        """A term and its type."""
        if isinstance(form, Atom):
            return self._atom(form)
        if form.bracket == "[" or not form.items:
            fail(form, "expected an expression" if form.items else "() is no expression: (tuple) is the empty tuple")
        require_parts(form)
        rule: Callable[[Form], Pass] = _RULES.get(form.head(), Parser._call).__get__(self)
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
            case "name":
                if word in ("true", "false"):
                    return Name(word, place=place), BOOL
                x = self.bound.get(word) or self._unbound(form)
                return Var(x.name, x.number, x.type, place=place), x.type
            case _:
                assert_never(form.kind)

    def _unbound(self, form: Atom) -> NoReturn:
        if self.scope.is_function(form.text):
            what = f"{form.text} is a function, and no value: write (lam (x : T) ({form.text} x))"
            raise TermError("type", what, form.place)
        raise TermError("unbound", f"{form.text} is not defined here{near(form.text, self.bound, 2)}", form.place)

    def _let(self, form: Form) -> Pass:
        made: list[tuple[Any, AnyTerm]] = []
        bound: list[Var] = []
        for pattern, value in self._bindings(form.items[1], form):
            term, ty = yield self.expression(value)
            xs = self._pattern(pattern, ty)
            bound += xs
            made.append((xs[0] if isinstance(pattern, Atom) else Tuple(tuple(xs), place=pattern.place), term))
        term, ty = yield self.expression(form.items[2])
        self.bound.unbind(*bound)
        for names, value in reversed(made):
            term = Let(names, value, term, place=form.place)
        return term, ty

    def _bindings(self, form: AnyForm, whole: Form) -> list[tuple[AnyForm, AnyForm]]:
        """(p e), or ((p e) …), which may look alike: ((a b) (f c)) is one where f is a function and no variable."""
        items = form.items if isinstance(form, Form) else fail(whole, FORMS["let"][1])
        if len(items) == 2 and (isinstance(items[0], Atom) or (_is_names(items[0]) and self._is_value(items[1]))):
            return [(items[0], items[1])]
        for one in items:
            if not isinstance(one, Form) or len(one.items) != 2:
                fail(one, f"expected a binding, (x e), not {described(one)}")
        if not items:
            fail(form, "let binds a name at least")
        return [(one.items[0], one.items[1]) for one in items if isinstance(one, Form)]

    def _is_value(self, form: AnyForm) -> bool:
        """Tell if this is no binding (x e)."""
        if not isinstance(form, Form) or len(form.items) != 2 or not isinstance(form.items[0], Atom):
            return not (isinstance(form, Form) and len(form.items) == 2 and _is_names(form.items[0]))
        word = form.items[0].text
        x = self.bound.get(word)
        if x is not None:
            return isinstance(x.type, Arrow)
        return word in WORDS or word.startswith("get$") or self.scope.is_function(word)

    def _pattern(self, form: AnyForm, ty: Ty) -> list[Var]:
        if isinstance(form, Atom):
            return [self.bound.bind(name_of(form, "the name of a variable"), ty, form.place)]
        names = [name_of(one, "the name of a variable") for one in form.items]
        if not isinstance(ty, TupleType) or len(ty.parts) != len(names):
            raise TermError("type", f"{len(names)} names for a value of type {text(ty)}", form.place)
        if len(set(names)) != len(names):
            fail(form, "a name stands twice in a pattern")
        return [self.bound.bind(n, t, f.place) for n, t, f in zip(names, ty.parts, form.items, strict=True)]

    def _if(self, form: Form) -> Pass:
        condition = yield self._condition(form)
        then, left = yield self.expression(form.items[2])
        otherwise, right = yield self.expression(form.items[3])
        if left is not right:
            what = f"the branches have types {text(left)} and {text(right)}"
            raise TermError("branches", what, form.items[3].place)
        return If(condition, then, otherwise, place=form.place), left

    def lam(self, form: Form) -> Pass:
        """(lam (x : T) e)."""
        xs, pattern = yield self.parameters(form.items[1])
        body, ty = yield self.expression(form.items[2])
        self.bound.unbind(*xs)
        return Lam(pattern, body, place=form.place), Arrow(arguments(tuple(x.type for x in xs)), ty)

    def _condition(self, form: Form) -> Pass:
        condition, ty = yield self.expression(form.items[1])
        require(ty, BOOL, "a condition", form.items[1])
        return condition

    def _tuple(self, form: Form) -> Pass:
        """Expressions as one: a tuple, unless there is one."""
        made = yield each(self.expression, form.items[1:])
        terms = tuple(term for term, _ in made)
        return (terms[0] if len(terms) == 1 else Tuple(terms, place=form.place)), arguments(tuple(ty for _, ty in made))

    def _assert(self, form: Form) -> Pass:
        condition = yield self._condition(form)
        body, made = yield self.expression(form.items[2])
        late = Lam(Tuple(()), body, place=body.place)
        return App(Name("assert", (made,), place=form.place), Tuple((condition, late)), place=form.place), made

    def _dummy(self, form: Form) -> Pass:
        ty = yield type_of(form.items[1:], form)
        return App(Name("$dummy", (ty,), place=form.place), Tuple(()), place=form.place), ty

    def _call(self, form: Form) -> Pass:
        head, place = form.items[0], form.place
        arg, ty = yield self._tuple(form)
        is_value = head.bracket == "(" if isinstance(head, Form) else head.kind != "name" or head.text in self.bound
        if is_value:
            applied, of = yield self.expression(head)
            return App(applied, arg, place=place), applied_type(of, ty, place)
        if isinstance(head, Atom) and head.text.startswith("get$"):
            return App(Name(head.text, (ty,), place=place), arg, place=place), component(head.text, ty, head.place)
        written = self.scope.spelled((yield function(head)))
        made = self.scope.resolved(written, ty, head.place)
        return App(Name(written.text, (ty,), place=place), arg, place=place), made.result


def function(form: AnyForm) -> Pass:
    """f, [f T], [d f], [d [f T]] as it is written."""
    before: list[str] = []
    while _is_derived(form):
        if len(before) == DERIVED:
            raise TermError("limit", f"a function is derived at most {DERIVED} times", form.place)
        before.append(form.head())
        form = form.items[1]
    if isinstance(form, Atom):
        return Written(tuple(before), name_of(form, "a function"), None)
    if form.bracket != "[" or len(form.items) < 2:
        fail(form, f"expected a function, f, [f T] or [d f], not {described(form)}")
    name = name_of(form.items[0], "the name of a function")
    given = yield type_of(form.items[1:], form)
    return Written(tuple(before), name, given)


def _is_derived(form: AnyForm) -> TypeGuard[Form]:
    """Tell if this is [d f], and not [f T] for a function of that name."""
    if not isinstance(form, Form) or form.bracket != "[" or len(form.items) != 2 or form.head() not in DERIVATIONS:
        return False
    inner = form.items[1]
    return inner.text not in ATOMS if isinstance(inner, Atom) else inner.bracket == "["


def _is_names(form: AnyForm) -> bool:
    if not isinstance(form, Form) or form.bracket != "(":
        return False
    return all(isinstance(one, Atom) and one.kind == "name" for one in form.items)


def require_parts(form: Form) -> None:
    """Raise TermError for a form that has not as many parts as are due."""
    due, what = FORMS.get(form.head(), (len(form.items), ""))
    if len(form.items) != due:
        fail(form.items[due] if len(form.items) > due else form, what)  # the first that is too much


def require(ty: Ty, due: Ty, what: str, form: AnyForm) -> None:
    """Raise TermError unless a type is the one that is due."""
    if ty is not due:
        raise TermError("type", f"{what} must be of type {text(due)}, not {text(ty)}", form.place)


_RULES: dict[str, Any] = {
    "let": Parser._let,
    "if": Parser._if,
    "lam": Parser.lam,
    "tuple": Parser._tuple,
    "assert": Parser._assert,
    "$dummy": Parser._dummy,
}
