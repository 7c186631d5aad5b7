"""Loops in which quotients of places change their value are cut there: what is left has none.

A place that goes around, (i + 63) mod 64, is 63 for the first round and i − 1 for the others: each part of the loop
reads along memory.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING

from hilbert.compiled.tree.accesses import accesses
from hilbert.compiled.tree.places import Division, Place, Variable
from hilbert.compiled.tree.rewriting import Rewriting
from hilbert.compiled.tree.statements import For, on_blocks

if TYPE_CHECKING:
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Pool

PARTS = 4
"""The most parts that a loop is cut into."""


def cut(pool: Pool, statements: list[Statement]) -> list[Statement]:
    """The statements with loops in parts, the outer ones first."""
    made: list[Statement] = []
    for statement in statements:
        if not isinstance(statement, For) or statement.rounds or not 2 < len(ends := _ends(statement)) <= PARTS + 1:
            made.append(on_blocks(statement, partial(cut, pool)))
            continue
        variable, body = statement.variable, statement.body
        for low, high in itertools.pairwise(ends):
            part = Variable(f"{variable.name}_{low}", high - low)
            at = Place.of(part) + low if high - low > 1 else Place(low)
            inner = cut(pool, Rewriting(pool, {variable: at}).statements(body))
            made += [For(part, inner)] if high - low > 1 else inner
    return made


def _ends(loop: For) -> list[int]:
    """The ends of a loop, and the rounds at which a quotient of a place that moves by one takes another value."""
    variable = loop.variable
    ends = {0, variable.size}
    for entries in accesses(loop, constants=True).values():
        for atom, _ in (term for access in entries for place in access.places or () for term in place.terms):
            if isinstance(atom, Division) and atom.of.terms == ((variable, 1),):
                ends |= {*range(-atom.of.offset % atom.n, variable.size, atom.n)}
    return sorted(ends)
