"""Binding: equality up to names, renaming, substitution; what they say of names and variables, and nothing else does.

Two terms are equal if one walk through both finds the same nodes, and at each binder pairs its variables.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from diff.higher.errors import Place
from diff.higher.former import Former
from diff.higher.open_terms import Name
from diff.higher.terms import AnyTerm, Branch, Fix, Lam, Lit, Pattern, Var, below, fresh, variables
from diff.higher.types import Ty
from hilbert import R, Vec
from hilbert.arrays.namespace import freeze
from hilbert.attach import attach
from hilbert.once import kept, known, once
from hilbert.term import compared, driven, packed, postorder, rebuild, uncollected

if TYPE_CHECKING:
    from collections.abc import Callable

Pass: TypeAlias = Generator[Any, Any, Any]
"""A pass over terms or texts: it yields passes over the parts, and is sent their results (`hilbert.term.driven`)."""


def binder(node: Any) -> Pattern | None:
    """The pattern of a node that binds variables."""
    found: Pattern | None = getattr(node, "pattern", getattr(node, "var", None))
    return found


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


# --- equality up to names ---


@once
def _hash(term: Former) -> int:
    """Of everything but names and numbers of variables; the parts first, so that nothing recurs."""
    with uncollected():
        return _hashed(term)


def _hashed(term: Former) -> int:
    known: dict[int, int] = {}
    stack: list[tuple[Any, Any]] = [(term, None)]
    while stack:
        node, ready = stack.pop()
        if id(node) in known:
            continue
        if ready is None:
            plain, parts = _plain(node)
            ready = hash((type(node), *plain)), parts
            if parts:
                stack.append((node, ready))
                stack.extend((part, None) for part in parts)
                continue
        known[id(node)] = hash((ready[0], *(known[id(part)] for part in ready[1])))
    return known[id(term)]


def _plain(node: Former) -> tuple[list[Any], list[Any]]:
    """What a node says beside its subterms, nothing of a variable and literals by contents; and the subterms."""
    plain: list[Any] = []
    parts: list[Any] = []
    cls: Any = type(node)
    for name in () if cls is Var else compared(cls):
        value = getattr(node, name)
        if isinstance(value, Former):
            parts.append(value)
        elif _is_terms(value):
            parts += value
        elif isinstance(value, Vec):
            plain += value.space, (value.flat() if value.space.is_space else value.array).tobytes()
        else:
            plain.append(value)
    return plain, parts


def _is_terms(value: Any) -> bool:
    return type(value) is tuple and bool(value) and isinstance(value[0], Former)


@final
class _Names:
    """Which bound variables of two terms stand for each other at this point of a walk through both."""

    def __init__(self) -> None:
        self.left: dict[int, object] = {}
        self.right: dict[int, object] = {}
        self.equal: set[tuple[int, int]] = set()

    def bind(self, a: Var, b: Var) -> None:
        if a.number in self.left or b.number in self.right:  # a shared subterm is entered again
            self.equal.clear()
        self.left[a.number] = self.right[b.number] = object()

    def same(self, a: Var, b: Var) -> bool:
        one, other = self.left.get(a.number), self.right.get(b.number)
        return one is other if one or other else a.number == b.number


def _equal(left: Former, right: Former) -> bool:
    """One walk through both; where the parts of a pair are done, its key stands on the stack."""
    names = _Names()
    stack: list[tuple[Any, Any]] = [(left, right)]
    while stack:
        a, b = stack.pop()
        if a is None:
            names.equal.add(b)
            continue
        if type(a) is not type(b):
            return False
        if type(a) is Var:
            if not names.same(a, b) or a.type is not b.type:
                return False
            continue
        key = (id(a), id(b))
        if (a is b and not names.left) or key in names.equal:
            continue
        (plain, mine), (other, yours) = _plain(a), _plain(b)
        if plain != other or len(mine) != len(yours):
            return False
        bound = binder(a)
        if bound is not None:
            first, second = variables(bound), variables(binder(b))  # type: ignore[arg-type]  # of the same class
            if len(first) != len(second):
                return False
            for x, y in zip(first, second, strict=True):
                names.bind(x, y)
        if mine:
            stack.append((None, key))
            stack += zip(reversed(mine), reversed(yours), strict=True)
    return True


# --- renaming and substitution ---


def mapped(term: AnyTerm, step: Callable[[AnyTerm], AnyTerm | None], at: Callable[[Ty], Ty] = lambda ty: ty) -> AnyTerm:
    """The term with `step(t)` for each subterm, from the outside in, where it is not None; types go through `at`.

    Bound variables are met before the term that they are bound in is rebuilt.
    """
    result: AnyTerm = driven(_mapped(term, step, at))
    return result


def _mapped(node: Any, step: Any, at: Any) -> Pass:
    new = step(node)
    if new is not None:
        return new
    values: dict[str, Any] = {}
    changed = False
    cls: Any = type(node)
    for name in _names_of(cls):
        old = value = getattr(node, name)
        if isinstance(old, Former):
            value = _leaf(old, step, at) if type(old) in _LEAVES else (yield _mapped(old, step, at))
        elif _is_terms(old):
            parts = []
            for part in old:
                made = _leaf(part, step, at) if type(part) in _LEAVES else (yield _mapped(part, step, at))
                parts.append(made)
            value = old if all(x is y for x, y in zip(old, parts, strict=True)) else tuple(parts)
        elif name == "type":
            value = at(old)
        elif name == "at" and old:
            value = tuple(map(at, old))
        changed |= value is not old
        values[name] = value
    return cls(**values) if changed else node


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


def _is_equal(self: Former, other: object) -> bool:
    if self is other:
        return True
    if not isinstance(other, Former) or hash(self) != hash(other):
        return False
    with uncollected():
        return _equal(self, other)


def _pickled(term: Former) -> Any:
    """The table of a term: its places and its literals of R, of which there are many, without their classes."""
    with uncollected():
        rows = packed(term, {Place: (_parts, _place)})
        return _unpickled, (tuple([(row[0], *map(_number, row[1:])) if row[0][0] is Lit else row for row in rows]),)


def _unpickled(rows: Any) -> Any:
    """The term of a table, with variables of this process."""
    with uncollected():
        rows = tuple([(row[0], *map(_vector, row[1:])) if row[0][0] is Lit else row for row in rows])
        term = rebuild(rows)
        return term if isinstance(term, (Var, Branch)) else renamed(term)


def _parts(place: Place) -> tuple[str, int, int]:
    return place.file, place.line, place.column


def _place(parts: tuple[str, int, int]) -> Place:
    return Place(*parts)


def _number(value: Any) -> Any:
    if not isinstance(value, Vec) or value.space is not R or type(value.leaves[0]) is not np.ndarray:
        return value
    return float(value.leaves[0])


def _vector(value: Any) -> Any:
    return Vec(R, (freeze(np.asarray(value)),)) if type(value) is float else value


attach(Former, "__eq__", _is_equal)
attach(Former, "__hash__", _hash)
attach(Former, "__reduce__", _pickled)
