"""Loops in which quotients of places change their value are cut there: what is left has none.

A place that goes around, (i + 63) mod 64, is 63 for the first round and i − 1 for the others: each part of the loop
reads along memory.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve

from hilbert.compiled.tree.accesses import accesses
from hilbert.compiled.tree.places import Division, Place, Variable
from hilbert.compiled.tree.rewriting import Rewriting
from hilbert.compiled.tree.statements import For, If, Product, Store, with_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Pool

PARTS = 4
"""The most parts that a loop is cut into."""


def cut(pool: Pool, statements: list[Statement]) -> list[Statement]:
    """The statements with loops in parts, the outer ones first."""
    made: list[Statement] = []
    for statement in statements:
        if not isinstance(statement, For) or statement.rounds:
            made.append(with_blocks(statement, partial(cut, pool)))
            continue
        variable, body = statement.variable, statement.body
        ends = sorted({0, variable.size, *_ends(statement, variable)})
        if len(ends) == 2 or len(ends) > PARTS + 1:
            made.append(For(variable, cut(pool, body)))
            continue
        for low, high in itertools.pairwise(ends):
            part = Variable(f"{variable.name}_{low}", high - low)
            at = Place.of(part) + low if high - low > 1 else Place(low)
            inner = cut(pool, moved(Rewriting(pool, {variable: at}), body))
            made += [For(part, inner)] if high - low > 1 else inner
    return made


def _ends(loop: For, variable: Variable) -> Iterator[int]:
    """The rounds at which a quotient of a place that moves by one with the variable takes another value."""
    for entries in accesses(loop, constants=True).values():
        for access in entries:
            for place in access.places or ():
                for atom, _ in place.terms:
                    if isinstance(atom, Division) and atom.of.terms == ((variable, 1),):
                        first = -atom.of.offset % atom.n
                        yield from range(first, variable.size, atom.n)


def moved(change: Rewriting, statements: list[Statement]) -> list[Statement]:
    """A copy of statements, changed."""
    made: list[Statement] = []
    for statement in statements:
        copy = with_blocks(statement, partial(moved, change))
        match copy:
            case If():
                copy.condition = change.value(copy.condition)
            case Store(buffer, places, v, monoid):
                copy = Store(buffer, change.places(buffer, places), change.value(v), monoid)
            case Product():
                first, second, third = map(change.place, copy.starts)
                copy = evolve(copy, starts=(first, second, third))
            case _:  # loops and whole arrays
                pass
        made.append(copy)
    return made
