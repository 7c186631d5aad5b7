"""Loops over one variable are merged where nothing stands between them, and no round of one needs another of the other.

Two loops may be one if, in every buffer that one writes and the other touches, a round meets only the same round: along
some axis both stand at the loop's own place or in its strip, always, or at places that are never the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from hilbert.compiled.tree.accesses import accesses, is_own, writes
from hilbert.compiled.tree.statements import For, If, Routine, Store, blocks, inside, on_blocks

if TYPE_CHECKING:
    from hilbert.compiled.tree.accesses import Accesses
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.places import Variable
    from hilbert.compiled.tree.statements import Statement

APART = {"max", "min"}
"""Monoids whose totals are vectors only in loops of their own."""
LONG = 2000
"""Loops are not merged to more statements: the compiler's time grows faster than they do."""
BACK = 64
"""So many loops over a variable are tried, the last ones first."""


def fused(statements: list[Statement]) -> list[Statement]:
    """The statements with loops merged, those of most work first, and what is within them."""
    clusters = _Clusters(statements)
    work: dict[Variable, list[int]] = {}
    for statement in statements:
        if isinstance(statement, For):
            work.setdefault(statement.variable, []).append(work_of(statement))
    for variable in sorted(work, key=lambda v: sum(work[v]), reverse=True):
        if len(work[variable]) > 1:
            for only_next in (True, False):
                clusters.merge(variable, only_next=only_next)
    return [on_blocks(cluster.statement, fused) for cluster in clusters.order]


def work_of(statement: Statement) -> int:
    """The number of stores that a statement makes."""
    within = sum(work_of(inner) for block in blocks(statement) for inner in block)
    match statement:
        case For(variable):
            return variable.size * within
        case If():
            return within
        case Routine():
            return statement.work
        case _:  # one nest of stores
            return 1


@final
class _Cluster:
    """A statement, or loops that are merged.

    `needs` are the numbers of the clusters that it meets and that stand before it, `before` those of all before it, as
    bits.
    """

    __slots__ = ("accesses", "before", "is_apart", "needs", "number", "size", "statement", "variable")

    def __init__(self, number: int, statement: Statement, found: Accesses, needs: int, before: int) -> None:
        self.number, self.statement, self.accesses = number, statement, found
        self.needs, self.before = needs, before
        self.size = sum(1 for _ in inside([statement]))
        self.is_apart = isinstance(statement, For) and _is_apart(statement)
        self.variable = statement.variable if isinstance(statement, For) else None


@final
class _Clusters:
    """The clusters of a list of statements: by their numbers, and in order. What each touches is asked once."""

    def __init__(self, statements: list[Statement]) -> None:
        self.numbered: list[_Cluster] = []
        touched: dict[Buffer, int] = {}
        written: dict[Buffer, int] = {}
        for number, statement in enumerate(statements):
            found, needs = accesses(statement), 0
            for buffer, entries in found.items():
                is_written = writes(entries)
                needs |= (touched if is_written else written).get(buffer, 0)
                for of in (touched, written) if is_written else (touched,):
                    of[buffer] = of.get(buffer, 0) | 1 << number
            self.numbered.append(_Cluster(number, statement, found, needs, self._closed(needs)))
        self.order = [*self.numbered]
        self.into = [*range(len(statements))]  # the numbers of the clusters that statements are in

    def merge(self, variable: Variable, *, only_next: bool) -> None:
        """Join each loop over the variable to the last one that it may join.

        With `only_next` the one must read or write over what the other has written.
        """
        loops: list[_Cluster] = []
        reached: list[_Cluster] = []
        changed = 0
        for cluster in self.order:
            if cluster.before & changed:
                self._ask_again(cluster)
            if cluster.variable == variable:
                for other in reversed(loops[-BACK:]):
                    if (cluster.needs >> other.number & 1 or not only_next) and self._may_join(other, cluster):
                        self._join(other, cluster, reached)
                        changed |= 1 << other.number | 1 << cluster.number
                        break
                else:
                    loops.append(cluster)
            if self.into[cluster.number] == cluster.number:
                reached.append(cluster)
        if changed:
            self.order = self._ordered(reached)

    def _ask_again(self, cluster: _Cluster) -> None:
        """Find anew what stands before a cluster, once clusters before it are joined."""
        cluster.needs = sum(1 << k for k in {self.into[k] for k in _numbers(cluster.needs)})
        cluster.before = self._closed(cluster.needs)

    def _closed(self, needs: int) -> int:
        """The clusters and those before them."""
        before = needs
        for k in _numbers(needs):
            before |= self.numbered[k].before
        return before

    def _may_join(self, first: _Cluster, second: _Cluster) -> bool:
        """Tell if two loops over a variable may be merged, and no third statement must stand between them."""
        if first.is_apart != second.is_apart or first.size + second.size > LONG:
            return False
        if any(self.numbered[k].before >> first.number & 1 for k in _numbers(second.needs & ~(1 << first.number))):
            return False
        assert isinstance(first.statement, For)
        return _fit(first.accesses, second.accesses, first.statement.variable)

    def _ordered(self, clusters: list[_Cluster]) -> list[_Cluster]:
        """The clusters, each behind those before it, otherwise as they stand."""
        places = {cluster.number: k for k, cluster in enumerate(clusters)}
        order: list[_Cluster] = []
        placed = 0
        for cluster in clusters:
            waiting = [] if placed >> cluster.number & 1 else [cluster]
            while waiting:
                top = waiting[-1]
                left = top.before & ~placed
                if left:
                    behind = sorted(_numbers(left), key=places.__getitem__, reverse=True)
                    waiting += [self.numbered[k] for k in behind]
                    continue
                waiting.pop()
                if not placed >> top.number & 1:
                    placed |= 1 << top.number
                    order.append(top)
        return order

    def _join(self, first: _Cluster, second: _Cluster, reached: list[_Cluster]) -> None:
        """Append a loop's body to that of another one, and tell those behind it that were reached."""
        assert isinstance(first.statement, For)
        assert isinstance(second.statement, For)
        first.statement = For(first.statement.variable, first.statement.body + second.statement.body)
        for buffer, entries in second.accesses.items():
            first.accesses.setdefault(buffer, []).extend(entries)
        first.size += second.size - 1
        self.into[second.number] = first.number
        more = second.before & ~(1 << first.number)
        first.needs |= second.needs & ~(1 << first.number)
        first.before |= more
        for other in reached:
            if other.before >> first.number & 1:
                other.before |= more


def _is_apart(loop: For) -> bool:
    return any(
        isinstance(s, Store) and s.monoid in APART and all(loop.variable not in p.variables for p in s.places)
        for s in inside(loop.body)
    )


def _fit(first: Accesses, second: Accesses, variable: Variable) -> bool:
    """Tell if two loops over a variable may be merged."""
    small, large = (first, second) if len(first) < len(second) else (second, first)
    for buffer in small:
        if buffer not in large or not (writes(first[buffer]) or writes(second[buffer])):
            continue
        if not is_own(first[buffer] + second[buffer], len(buffer.shape), variable):
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
