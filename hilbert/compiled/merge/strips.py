"""A product, a loop over its rows and a product that sums over them, in strips of rows that stay in the cache.

    c = a·b; for i: d[i] = f(c[i]); e = dᵀ·g

is done for some rows of c and d at a time: there is never memory for all of their rows.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING

from attrs import evolve

from hilbert.compiled.lower.expanded import around
from hilbert.compiled.tree.accesses import accesses, writes
from hilbert.compiled.tree.places import Place, Variable
from hilbert.compiled.tree.rewriting import Rewriting
from hilbert.compiled.tree.statements import For, Product, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.compiled.tree.accesses import Accesses
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Statement
    from hilbert.compiled.tree.values import Pool

CACHE = 3 << 16
"""The entries of a strip: a cache of the second level has room for them and some more."""
ROWS = 16
"""The least rows of a strip: products of fewer are slow."""


def in_strips(pool: Pool, statements: Sequence[Statement]) -> list[Statement]:
    """The statements, with such products and loops in strips where c and d are larger than the cache."""
    if not any(isinstance(statement, Product) for statement in statements):
        return [*statements]
    found = [accesses(statement) for statement in statements]
    uses = Counter(buffer for touched in found for buffer in touched)
    made = [[statement] for statement in statements]
    for at, loop in enumerate(statements):
        if not isinstance(loop, For):
            continue
        products = [(k, s) for k, s in enumerate(statements) if isinstance(s, Product) and made[k]]
        near = [(k, s) for k, s in products if _is_free(found[k], found[k + 1 : at] or found[at + 1 : k])]
        before = [(k, s) for k, s in near if k < at and s.c in found[at]]
        behind = [(k, s) for k, s in near if k > at and (s.a in found[at] or s.b in found[at])]
        if len(before) == len(behind) == 1 and (new := _stripped(pool, before[0][1], loop, behind[0][1], uses)):
            made[before[0][0]], made[at], made[behind[0][0]] = [], new, []
    return [*itertools.chain(*made)]


def _is_free(product: Accesses, others: Sequence[Accesses]) -> bool:
    """Tell if a product may stand on the other side of some statements."""
    shared = [(buffer, entries) for other in others for buffer, entries in other.items() if buffer in product]
    return not any(writes(entries) or writes(product[buffer]) for buffer, entries in shared)


def _stripped(pool: Pool, first: Product, loop: For, last: Product, uses: Counter[Buffer]) -> list[Statement] | None:
    """The loop over strips, behind the statements that the loop needs; None where the three do not fit together."""
    found, i, n = accesses(loop), loop.variable, loop.variable.size
    d = last.a if last.a in found else last.b
    other = last.b if d is last.a else last.a
    row = first.sizes[1] + (last.sizes[0] if d is last.a else last.sizes[1])
    by = max((k for k in range(ROWS, n) if not n % k and k * row <= CACHE), default=0)
    is_by_rows = not loop.rounds and (first.rows, first.sizes[0], first.transposed[0]) == (1, n, False)
    is_sum = last.transposed == (True, False) and last.sizes[2] == n
    if not (by and is_by_rows and is_sum) or n * row <= CACHE or other in found or last.c in found:
        return None
    for buffer in (first.c, d):
        if buffer.kind != "work" or uses[buffer] != 2 or buffer not in found:
            return None
        if any(access.places is None or access.places[0].variable != i for access in found[buffer]):
            return None
    if any(writes(entries) for buffer, entries in found.items() if buffer in {first.a, first.b}):
        return None
    strip, part = Variable(f"{i.name}_strip", n // by), Variable(f"{i.name}_part", by)
    for buffer in (first.c, d):
        buffer.shape = (by, *buffer.shape[1:])

    def kept(buffer: Buffer, places: tuple[Place, ...]) -> tuple[Place, ...]:
        return (Place.of(part), *places[1:]) if buffer is first.c or buffer is d else places

    at = Place.of(strip) * by
    (_, n1, k1), (m2, n2, _) = first.sizes, last.sizes
    before = evolve(first, sizes=(by, n1, k1), starts=((at,), (), ()))
    rows = For(part, Rewriting(pool, {i: Place.of(part) + at}, kept).statements(loop.body))
    behind = evolve(last, sizes=(m2, n2, by), starts=((), (at,), ()) if d is last.a else ((at,), (), ()), adds=True)
    return [*_zeros(pool, last.c), For(strip, [before, rows, behind])]


def _zeros(pool: Pool, buffer: Buffer) -> list[Statement]:
    """The loops that fill a buffer with zeros."""
    axes = [Variable(f"z{k}", n) for k, n in enumerate(buffer.shape)]
    zero = pool.number(0.0, buffer.dtype)
    return around([axes[k] for k in buffer.order], [Store(buffer, tuple(map(Place.of, axes)), zero)])
