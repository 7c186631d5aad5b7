"""Counts which node classes the generated terms have, so that a law that misses one fails."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, final

from diff.terms.nodes import Lift, Power
from hilbert.base.term import Term, children
from linmap.term.nodes import Lifted

if TYPE_CHECKING:
    from hilbert import Map

OCCURRENCES, UNDER_A_COPOWER, BETWEEN_UNEQUAL_SPACES = 50, 10, 10


@final
class Census:
    """How often each node class occurred: at all, under a copower, and with unequal domain and codomain."""

    def __init__(self) -> None:
        self.occurrences, self.lifted, self.unequal = Counter[type](), Counter[type](), Counter[type]()

    def record(self, term: Map[Any, Any]) -> None:
        """Count every node of a term once for each place where it stands."""
        todo: list[tuple[Any, bool]] = [(term, False)]
        while todo:
            node, lifted = todo.pop()
            cls = type(node)
            self.occurrences[cls] += 1
            self.lifted[cls] += lifted
            self.unequal[cls] += node.dom != node.cod
            below = lifted or isinstance(node, (Lifted, Power, Lift))
            todo += [(child, below) for child in children(node) if isinstance(child, Term)]

    def require(self, cls: type, *, unequal: bool = True) -> None:
        """Fail unless the class occurred often enough."""
        least = [(self.occurrences, OCCURRENCES, "in all"), (self.lifted, UNDER_A_COPOWER, "under a copower")]
        least += [(self.unequal, BETWEEN_UNEQUAL_SPACES, "between unequal spaces")] if unequal else []
        for counts, due, where in least:
            assert counts[cls] >= due, f"{cls.__name__} occurred {counts[cls]} times {where}, which is less than {due}"
