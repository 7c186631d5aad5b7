"""Definitions as texts that are read back: comments aside, what is printed is what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.value.types import text as type_text
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, variables
from hilbert.base.term import driven

if TYPE_CHECKING:
    from adjoint.languages.ks.text.resolution import Definition
    from diff.lam.term.binding import Pass

Form: TypeAlias = "str | list[Any]"
"""A word, or forms between round brackets."""
WIDTH = 110
"""A form that is longer stands on several lines."""


def definition(one: Definition, *, written: bool = False) -> str:
    """(def f T (x : T) e), and the like, before rules are applied if it is to be as it was written."""
    callee = one.callee
    if one.kind == "gdef":
        return f"(gdef {callee.derivations[0]} {one.name.partition(' ')[2].removesuffix(']')})"
    if one.function is None:
        return f"(edef {one.name} {type_text(callee.result)} {type_text(callee.arg)})"
    return function(one.name, type_text(callee.result), (one.written if written else None) or one.function)


def function(name: str, result: str, lam: Lam) -> str:
    """(def f T (x : T) e)."""
    return laid_out(["def", name, result, _parameters(lam.pattern), driven(_form(lam.body))])


def term(of: AnyTerm) -> str:
    """A term as it is written."""
    return laid_out(driven(_form(of)))


def _parameters(pattern: Any) -> Form:
    if isinstance(pattern, Var):
        return [pattern.name, ":", type_text(pattern.type)]
    return [[x.name, ":", type_text(x.type)] for x in variables(pattern)]


def _form(node: AnyTerm) -> Pass:
    node = ks_term(node)
    match node:
        case Var(name) | Name(name):
            return name
        case Lit(value):
            return str(value) if isinstance(value, int) else real(float(value.array))
        case Let(pattern, value, body):
            made = yield _form(value)
            after = yield _form(body)
            return ["let", [_pattern(pattern), made], after]
        case If(condition, then, otherwise):
            parts = yield _several((condition, then, otherwise))
            return ["if", *parts]
        case Lam(pattern, body):
            made = yield _form(body)
            return ["lam", _parameters(pattern), made]
        case Tuple(parts):
            forms = yield _several(parts)
            return ["tuple", *forms]
        case App(Name("assert"), Tuple((condition, Lam(_, body)))):
            forms = yield _several((condition, body))
            return ["assert", *forms]
        case App(Name("$dummy", (ty,))):
            return ["$dummy", type_text(ty)]
        case App(head, Tuple(parts)):
            forms = yield _several((head, *parts))
            return forms
        case App(head, arg):
            forms = yield _several((head, arg))
            return forms
        case _:
            assert_never(node)


def _several(nodes: Any) -> Pass:
    found = []
    for node in nodes:
        made = yield _form(node)
        found.append(made)
    return found


def _pattern(pattern: Any) -> Form:
    return pattern.name if isinstance(pattern, Var) else [x.name for x in variables(pattern)]


def real(x: float) -> str:
    """A number that is read back."""
    return repr(x) if abs(x) != float("inf") else f"{'-' if x < 0 else ''}1e999"


# --- layout ---


def laid_out(form: Form) -> str:
    """A form on one line if it is short, else each of its parts on a line of its own."""
    flat = _flat(form)
    out: list[str] = []
    stack: list[tuple[Form, int, str]] = [(form, 0, "")]
    while stack:
        one, indent, ending = stack.pop()
        made = flat.get(id(one)) if isinstance(one, list) else str(one)
        if made is not None and (isinstance(one, str) or indent + len(made) <= WIDTH):
            out.append(f"{'  ' * min(indent, 40)}{made}{ending}")
            continue
        head: list[str] = []
        rest = list(one)
        while rest and (isinstance(rest[0], str) or (flat[id(rest[0])] and not head)):
            word = rest.pop(0)
            head.append(word if isinstance(word, str) else flat[id(word)] or "")
        first = f"{'  ' * min(indent, 40)}({' '.join(head)}"
        if not rest:
            out.append(f"{first}){ending}")
            continue
        out.append(first)
        parts = [(part, indent + 1, "") for part in rest]
        parts[-1] = (parts[-1][0], indent + 1, f"){ending}")
        stack.extend(reversed(parts))
    return "\n".join(out)


def _flat(form: Form) -> dict[int, str | None]:
    """Each form in round brackets on one line, None where that is too long."""
    found: dict[int, str | None] = {}
    stack: list[tuple[Form, bool]] = [(form, False)]
    while stack:
        one, done = stack.pop()
        if isinstance(one, str):
            continue
        if not done:
            stack.append((one, True))
            stack.extend((part, False) for part in one)
            continue
        parts = [part if isinstance(part, str) else found[id(part)] for part in one]
        if None in parts:
            found[id(one)] = None
            continue
        made = f"({' '.join(map(str, parts))})"
        found[id(one)] = made if len(made) <= WIDTH else None
    return found
