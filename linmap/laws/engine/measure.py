"""The measure that every rule lowers: the size of the shared term, its weight, and how deep the scalings stand.

>>> from hilbert import R
>>> from linmap import fork, identity, project
>>> f = fork(identity(R), 2 * identity(R))
>>> print(measure(f))
size 6, weight 4, depth 1
>>> measure(project(f.cod, 0) @ f) > measure(identity(R))
True
"""

from __future__ import annotations

from typing import Any, final

from attrs import frozen

from hilbert import SpaceError
from hilbert.base.term import Term, parts
from hilbert.displayed import Displayed
from hilbert.errors import shown
from linmap.laws.engine.shared_term import Shared


@final
@frozen(order=True)
class Measure(Displayed):
    """Compared in this order.

    `size` is the number of distinct subterms, vectors, wires, arcs and steps, and of the references between them;
    `weight` tells what computes from what does not, see `linmap.laws.engine.row_weight`; `depth` is the sum over all
    scalings of the number of other subterms on the longest way to them.
    """

    size: int
    weight: int
    depth: int

    def __str__(self) -> str:
        return f"size {self.size}, weight {self.weight}, depth {self.depth}"


def measure(f: Any) -> Measure:
    """The measure of a linear map, a function, or a derivative; raises SpaceError for other things."""
    if not isinstance(f, Term):
        msg = f"measure takes a linear map, a function or a derivative, not {shown(f)}"
        raise SpaceError(msg)
    shared = Shared()
    root = shared.intern(f)
    shared.acquire(root)
    return Measure(shared.size, shared.weight, _depth(root))


def _depth(root: Term) -> int:
    depths: dict[int, int] = {id(root): 0}
    total = 0
    for node in _from_the_top(root):
        scaling = hasattr(node, "k") and hasattr(node, "of")
        total += depths[id(node)] * scaling
        below = depths[id(node)] + (not scaling)
        for child in parts(node):
            depths[id(child)] = max(depths.get(id(child), 0), below)
    return total


def _from_the_top(root: Term) -> list[Term]:
    """Every row once, before the rows that it uses."""
    seen, order = set[int](), list[Term]()
    stack: list[tuple[Term, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((child, False) for child in parts(node))
    return order[::-1]
