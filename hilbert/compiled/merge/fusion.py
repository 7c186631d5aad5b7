"""Loops over one variable are merged where nothing stands between them, and no round of one needs another of the other.

Two loops may be one if every buffer that one writes and the other touches has an axis along which both stand at the
loop's own place or in its strip, always: then a round meets only the same round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from hilbert.compiled.tree.accesses import accesses, width, writes
from hilbert.compiled.tree.statements import For, If, Store, inside

if TYPE_CHECKING:
    from hilbert.compiled.tree.accesses import Accesses
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Variable
    from hilbert.compiled.tree.statements import Statement

APART = {"max", "min"}
"""Monoids whose totals are vectors only in loops of their own."""
LONG = 500
"""Loops are not merged to more statements: the compiler's time grows faster than they do."""
BACK = 64
"""So many loops over a variable are tried, the last ones first."""


def fused(statements: list[Statement]) -> list[Statement]:
    """The statements with loops merged, those of most work first, and what is within them."""
    work: dict[Variable, list[int]] = {}
    for statement in statements:
        if isinstance(statement, For) and not statement.rounds:
            work.setdefault(statement.variable, []).append(work_of(statement))
    for variable in sorted(work, key=lambda v: sum(work[v]), reverse=True):
        if len(work[variable]) > 1:
            for only_next in (True, False):
                statements = _merged(statements, variable, only_next=only_next)
    for statement in statements:
        if isinstance(statement, For):
            statement.body = fused(statement.body)
        elif isinstance(statement, If):
            statement.then, statement.otherwise = fused(statement.then), fused(statement.otherwise)
    return statements


def work_of(statement: Statement) -> int:
    """The number of stores that a statement makes."""
    total, waiting = 0, [(statement, 1)]
    while waiting:
        top, n = waiting.pop()
        if isinstance(top, For):
            waiting += [(inner, n * top.variable.size) for inner in top.body]
        elif isinstance(top, If):
            waiting += [(inner, n) for inner in top.then + top.otherwise]
        else:
            total += n
    return total


@final
class _Cluster:
    """A statement, or loops that are merged; `before` are the numbers of the clusters before it, as bits."""

    __slots__ = ("accesses", "before", "is_apart", "size", "statement")

    def __init__(self, statement: Statement, found: Accesses, before: int, *, is_apart: bool) -> None:
        self.statement, self.accesses, self.before, self.is_apart = statement, found, before, is_apart
        self.size = sum(1 for _ in inside([statement]))


def _merged(statements: list[Statement], variable: Variable, *, only_next: bool) -> list[Statement]:
    """Each loop over the variable joins the last one that it may join, if no third statement must stand between.

    With `only_next` the one must read or write over what the other has written.
    """
    clusters: list[_Cluster] = []
    touched: dict[Buffer, list[int]] = {}
    written: dict[Buffer, list[int]] = {}
    loops: list[int] = []
    for statement in statements:
        found = accesses(statement)
        needs = 0
        for buffer, entries in found.items():
            for k in (touched if writes(entries) else written).get(buffer, ()):
                needs |= 1 << k
        before = needs
        for k in _numbers(needs):
            before |= clusters[k].before
        where = None
        if isinstance(statement, For) and not statement.rounds and statement.variable == variable:
            is_apart, size = _is_apart(statement), sum(1 for _ in inside([statement]))
            for k in reversed(loops[-BACK:]):
                cluster = clusters[k]
                if only_next and not needs >> k & 1:
                    continue
                between = any(clusters[p].before >> k & 1 for p in _numbers(needs & ~(1 << k)))
                fits = cluster.is_apart == is_apart and cluster.size + size <= LONG
                if fits and not between and _fit(cluster.accesses, found, variable):
                    where = k
                    break
            if where is None:
                loops.append(len(clusters))
        if where is None:
            where = len(clusters)
            clusters.append(
                _Cluster(statement, found, before, is_apart=isinstance(statement, For) and _is_apart(statement))
            )
        else:
            _join(clusters, where, statement, found, before & ~(1 << where))
        for buffer, entries in found.items():
            touched.setdefault(buffer, []).append(where)
            if writes(entries):
                written.setdefault(buffer, []).append(where)
    return [clusters[k].statement for k in _ordered([cluster.before for cluster in clusters])]


def _join(clusters: list[_Cluster], k: int, statement: Statement, found: Accesses, more: int) -> None:
    cluster = clusters[k]
    assert isinstance(cluster.statement, For)
    assert isinstance(statement, For)
    cluster.statement = For(cluster.statement.variable, cluster.statement.body + statement.body)
    for buffer, entries in found.items():
        cluster.accesses.setdefault(buffer, []).extend(entries)
    cluster.before |= more
    cluster.size += sum(1 for _ in inside([statement]))
    for other in clusters:
        if other.before >> k & 1:
            other.before |= more


def _is_apart(loop: For) -> bool:
    return any(
        isinstance(s, Store) and s.monoid in APART and all(p.variable != loop.variable for p in s.places)
        for s in inside(loop.body)
    )


def _fit(first: Accesses, second: Accesses, variable: Variable) -> bool:
    """Tell if two loops over a variable may be merged."""
    small, large = (first, second) if len(first) < len(second) else (second, first)
    for buffer in small:
        if buffer not in large or not (writes(first[buffer]) or writes(second[buffer])):
            continue
        entries = first[buffer] + second[buffer]
        if not any(width([access.places for access in entries], k, variable) for k in range(len(buffer.shape))):
            return False
    return True


def _numbers(bits: int) -> list[int]:
    """The numbers of the bits that are set."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def _ordered(before: list[int]) -> list[int]:
    """The numbers, each behind those before it, otherwise as they stand."""
    order: list[int] = []
    placed = 0
    for k in range(len(before)):
        waiting = [k]
        while waiting:
            top = waiting[-1]
            if placed >> top & 1:
                waiting.pop()
                continue
            left = _numbers(before[top] & ~placed & ~(1 << top))
            if left:
                waiting += reversed(left)
            else:
                placed |= 1 << top
                order.append(top)
                waiting.pop()
    return order
