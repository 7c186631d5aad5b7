"""Loops over one variable are merged where nothing stands between them, and no round of one needs another of the other.

Two loops may be one if, in every buffer that one writes and the other touches, a round meets only the same round: along
some axis both stand at the loop's own place or in its strip, always, or at places that are never the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from hilbert.compiled.tree.accesses import accesses, is_own, writes
from hilbert.compiled.tree.statements import For, If, Routine, Store, blocks, inside, on_blocks
from hilbert.compiled.tree.values import computed, has_calls

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


TRIED = 16
"""The rounds that a search within others is taken to have."""


def work_of(statement: Statement) -> int:
    """The number of stores that a statement makes."""
    within = sum(work_of(inner) for block in blocks(statement) for inner in block)
    match statement:
        case For(variable):
            return within * (min(variable.size, TRIED) if statement.is_search else variable.size)
        case If():
            return within
        case Routine():
            return statement.work
        case _:  # one nest of stores
            return 1


@final
class _Cluster:
    """A statement, or loops that are merged; sets of statements are their numbers as bits.

    `own` are the statements of the cluster, `needs` the statements in front whose buffers the cluster touches too, so
    that the order matters, and `before` all statements that have to stand in front of the cluster. A loop that `puts`
    values to places which are read is no loop over vectors, so that no loop that `calls` functions joins it.
    """

    __slots__ = ("accesses", "before", "calls", "is_apart", "needs", "own", "puts", "size", "statement", "variable")

    def __init__(self, number: int, statement: Statement, found: Accesses, needs: int) -> None:
        self.own, self.statement, self.accesses, self.needs, self.before = 1 << number, statement, found, needs, 0
        self.size = sum(1 for _ in inside([statement]))
        self.is_apart = isinstance(statement, For) and _is_apart(statement)
        self.variable = statement.variable if isinstance(statement, For) else None
        stores = [s for s in inside([statement]) if isinstance(s, Store)]
        self.puts = any(s.monoid is not None and bool(computed(s.places)) for s in stores)
        self.calls = any(has_calls(s.value) for s in stores)


@final
class _Clusters:
    """The clusters of some statements: by the numbers of these, and in order; each is asked for its buffers once."""

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
            self.numbered.append(_Cluster(number, statement, found, needs))
            self._close(self.numbered[-1])
        self.order = [*self.numbered]

    def merge(self, variable: Variable, *, only_next: bool) -> None:
        """Join each loop over the variable to the last one that it may join.

        With `only_next` the one must read or write over what the other has written.
        """
        loops: list[_Cluster] = []
        reached: list[_Cluster] = []
        changed = 0
        for cluster in self.order:
            if cluster.before & changed:
                self._close(cluster)
            if cluster.variable == variable:
                for other in reversed(loops[-BACK:]):
                    if (cluster.needs & other.own or not only_next) and self._may_join(other, cluster):
                        self._join(other, cluster, reached)
                        changed |= other.own
                        break
                else:
                    loops.append(cluster)
            if not cluster.own & changed:
                reached.append(cluster)
        self.order = reached

    def _of(self, numbers: int) -> set[_Cluster]:
        """The clusters that hold statements."""
        found = set[_Cluster]()
        while numbers:
            found.add(cluster := self.numbered[numbers.bit_length() - 1])
            numbers &= ~cluster.own
        return found

    def _close(self, cluster: _Cluster) -> None:
        """Find the statements before a cluster: those that the cluster needs, and the statements before these."""
        cluster.before = 0
        for other in self._of(cluster.needs):
            cluster.before |= other.own | other.before

    def _may_join(self, first: _Cluster, second: _Cluster) -> bool:
        """Tell if two loops over a variable may be merged, and no third statement must stand between them."""
        if first.is_apart != second.is_apart or first.size + second.size > LONG:
            return False
        if (first.puts and second.calls) or (second.puts and first.calls):
            return False
        if any(other.before & first.own for other in self._of(second.needs & ~first.own)):
            return False
        assert isinstance(first.statement, For)
        return _fit(first.accesses, second.accesses, first.statement.variable)

    def _join(self, first: _Cluster, second: _Cluster, reached: list[_Cluster]) -> None:
        """Append a loop's body to the body of the first one, which then stands behind all that both of them need."""
        assert isinstance(first.statement, For)
        assert isinstance(second.statement, For)
        first.statement = For(first.statement.variable, first.statement.body + second.statement.body)
        for buffer, entries in second.accesses.items():
            first.accesses.setdefault(buffer, []).extend(entries)
        first.size += second.size - 1
        first.puts, first.calls = first.puts or second.puts, first.calls or second.calls
        self.numbered = [first if cluster is second else cluster for cluster in self.numbered]
        first.own |= second.own
        first.needs = (first.needs | second.needs) & ~first.own
        first.before = (first.before | second.before) & ~first.own
        at = reached.index(first)
        behind = reached[at + 1 :]
        reached[at:] = [c for c in behind if c.own & first.before]
        reached += [first, *(c for c in behind if not c.own & first.before)]
        for other in behind:
            if other.before & first.own:
                other.before |= first.own | first.before


def _is_apart(loop: For) -> bool:
    totals = (s for s in inside(loop.body) if isinstance(s, Store) and s.monoid in APART)
    return any(all(loop.variable not in p.variables for p in s.places) for s in totals)


def _fit(first: Accesses, second: Accesses, variable: Variable) -> bool:
    """Tell if two loops over a variable may be merged."""
    shared = [b for b in first.keys() & second.keys() if writes(first[b]) or writes(second[b])]
    return all(is_own(first[b] + second[b], len(b.shape), variable) for b in shared)
