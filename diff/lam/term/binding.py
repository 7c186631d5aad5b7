"""Binding: which variables are free, renaming, substitution."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from operator import is_
from types import GeneratorType
from typing import TYPE_CHECKING, Any, TypeAlias

from diff.lam.term.former import Former
from diff.lam.term.terms import AnyTerm, Fix, Lam, Lit, Name, Pattern, Var, below, fresh, variables
from diff.lam.term.types import Ty
from hilbert.base.once import kept, known, once
from hilbert.base.term import driven, postorder

if TYPE_CHECKING:
    from collections.abc import Callable

Pass: TypeAlias = Generator[Any, Any, Any]
"""A pass over terms or texts: it yields passes over the parts, is sent their results (`hilbert.base.term.driven`)."""


def binder(node: Any) -> Pattern | None:
    """The pattern of a node that binds variables."""
    pattern: Pattern | None = getattr(node, "pattern", getattr(node, "var", None))
    return pattern


# --- free variables of functions ---


@once
def captured(term: Lam | Fix) -> tuple[int, ...]:
    """The numbers of the free variables of a function; on the way those of the functions in it, inner ones first."""
    for node in postorder(term, lambda node: [] if _is_done(node) else below(node)):
        if isinstance(node, (Lam, Fix)) and node is not term and not _is_done(node):
            known(captured, node, _free(node))
    return _free(term)


def _is_done(node: Any) -> bool:
    return isinstance(node, (Lam, Fix)) and kept(captured, node) is not None


def _free(term: Lam | Fix) -> tuple[int, ...]:
    """As `captured`, where the functions in the body know theirs."""
    used: dict[int, None] = {}
    bound: set[int] = set()
    seen: set[int] = set()
    stack: list[Any] = [term]
    while stack:
        node = stack.pop()
        if isinstance(node, Var):
            used[node.number] = None
        elif isinstance(node, (Lam, Fix)) and node is not term:
            used.update(dict.fromkeys(captured(node)))
        elif id(node) not in seen:
            seen.add(id(node))
            pattern = binder(node)
            if pattern is not None:
                bound.update(x.number for x in variables(pattern))
            stack += below(node)
    return tuple(k for k in used if k not in bound)


# --- renaming and substitution ---


def mapped(term: AnyTerm, step: Callable[[AnyTerm], AnyTerm | None], at: Callable[[Ty], Ty] = lambda ty: ty) -> AnyTerm:
    """The term with `step(t)` for each subterm, from the outside in, where it is not None; types go through `at`.

    Bound variables are met before the term that they are bound in is rebuilt.
    """
    result: AnyTerm = driven(_mapped(term, step, at))
    return result


def has_terms(value: Any) -> bool:
    """Tell if a field holds a term, or several."""
    return isinstance(value, Former) or is_terms(value)


def is_terms(value: Any) -> bool:
    """Tell if a field holds several terms."""
    return type(value) is tuple and bool(value) and isinstance(value[0], Former)


def _mapped(node: Any, step: Any, at: Any) -> Pass:
    new = step(node)
    if new is not None:
        return new

    def part(term: Any) -> Any:
        return _leaf(term, step, at) if type(term) in _LEAVES else _mapped(term, step, at)

    return (yield from over_parts(node, part, at))


def over_parts(node: Any, step: Callable[[Any], Any], at: Callable[[Ty], Ty] = lambda ty: ty) -> Pass:
    """The same former with the results of a step on its parts, from left to right, and its types through `at`.

    The step gives the result of a part, or a pass that has this result.
    """
    cls: Any = type(node)
    changed: dict[str, Any] = {}
    for name in _names_of(cls):
        old = value = getattr(node, name)
        if isinstance(old, Former):
            value = step(old)
            value = (yield value) if type(value) is GeneratorType else value
        elif is_terms(old):
            parts = []
            for part in old:
                new = step(part)
                parts.append((yield new) if type(new) is GeneratorType else new)
            value = old if all(map(is_, old, parts)) else tuple(parts)
        elif name == "type":
            value = at(old)
        elif name == "at" and old:
            value = tuple(map(at, old))
        if value is not old:
            changed[name] = value
    return cls(**{name: getattr(node, name) for name in _names_of(cls)} | changed) if changed else node


_LEAVES = {Var, Lit, Name}


def _leaf(node: Any, step: Any, at: Any) -> Any:
    """As `_mapped`, for a term without subterms: most terms are that, and need no generator."""
    new = step(node)
    if new is not None or type(node) is Lit:
        return node if new is None else new
    if type(node) is Name:
        types = tuple(map(at, node.at))
        return node if types == node.at else Name(node.name, types, place=node.place)
    ty = at(node.type)
    return node if ty is node.type else Var(node.name, node.number, ty, place=node.place)


@cache
def _names_of(cls: Any) -> tuple[str, ...]:
    return tuple(f.name for f in cls.__attrs_attrs__)


def each(step: Callable[[Any], Pass], items: Any) -> Pass:
    """The results of a pass on several terms, for passes that are generators: parts = yield each(step, t.parts)."""
    results = []
    for item in items:
        result = yield step(item)
        results.append(result)
    return results


def renamed(term: AnyTerm) -> AnyTerm:
    """The same term with new bound variables."""
    return substitute(term, {})


def substitute(term: AnyTerm, values: dict[int, AnyTerm]) -> AnyTerm:
    """t[s/x] by numbers of variables; what t binds gets new variables, and so does what each copy of s binds."""
    new: dict[int, Var] = {}
    first = set(values)

    def step(node: AnyTerm) -> AnyTerm | None:
        bound = binder(node)
        if bound is not None:
            new.update({x.number: fresh(x.name, x.type, x.place) for x in variables(bound)})
        if not isinstance(node, Var):
            return None
        if node.number in new:
            return new[node.number]
        if node.number not in values:
            return node
        if node.number in first:
            first.discard(node.number)
            return values[node.number]
        return renamed(values[node.number])

    return mapped(term, step)
