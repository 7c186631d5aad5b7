"""Terms are equal up to the names and numbers of what they bind, and are hashed and pickled so.

Two terms are equal if one walk through both finds the same nodes, and at each binder pairs its variables.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from diff.lam.term.binding import binder, is_terms, renamed
from diff.lam.term.former import Former
from diff.lam.term.term_error import Place
from diff.lam.term.terms import Branch, Lit, Var, variables
from hilbert import R, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.lazy import uncollected
from hilbert.base.once import once
from hilbert.base.term import compared, packed, rebuild


@once
def hash_of(term: Former) -> int:
    """The hash of a term without names and numbers of variables; parts come first, so that Python does not recur."""
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
            plain, parts = data_and_parts(node)
            ready = hash((type(node), *plain)), parts
            if parts:
                stack.append((node, ready))
                stack.extend((part, None) for part in parts)
                continue
        known[id(node)] = hash((ready[0], *(known[id(part)] for part in ready[1])))
    return known[id(term)]


def data_and_parts(node: Former) -> tuple[list[Any], list[Any]]:
    """The plain data of a node, none of a variable and literals by contents, and its subterms."""
    plain: list[Any] = []
    parts: list[Any] = []
    cls: Any = type(node)
    for name in () if cls is Var else compared(cls):
        value = getattr(node, name)
        if isinstance(value, Former):
            parts.append(value)
        elif is_terms(value):
            parts += value
        elif isinstance(value, Vec):
            plain += value.space, (value.flat() if value.space.is_space else value.array).tobytes()
        else:
            plain.append(value)
    return plain, parts


@final
class _Names:
    """The pairs of bound variables that stand for each other at this point of a walk through two terms."""

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
        (plain, mine), (other, yours) = data_and_parts(a), data_and_parts(b)
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


def is_equal(self: Former, other: object) -> bool:
    """Tell if two terms are equal up to the names of their variables."""
    if self is other:
        return True
    if not isinstance(other, Former) or hash(self) != hash(other):
        return False
    with uncollected():
        return _equal(self, other)


def pickled(term: Former) -> Any:
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
