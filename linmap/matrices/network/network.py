"""A linear map as sums of labelled products: what its term proves about every block of its matrix.

A net is a graph with a linear map on each arc. Its matrix is what is left when the inner wires are eliminated one by
one (Griewank & Walther, *Evaluating Derivatives*, ch. 9 and 10; Naumann, *Mathematical Programming* 99, 2004): where
wire w goes, each pair of an arc s → w and an arc w → d adds their composition to the arc s → d. An arc carries a
*form*, a short sum of products (`linmap.matrices.network.sum_simplification`); nothing is probed and no datum is looked
at. Paths are never multiplied out: there may be exponentially many of them, where the pairs of arcs are few.

In which order wires go is said in `linmap.matrices.network.elimination`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from hilbert.base.once import first, once
from linmap.matrices.network.arc_products import ArcProducts
from linmap.matrices.network.elimination import eliminated
from linmap.matrices.network.inverse_patterns import InversePattern
from linmap.matrices.network.loop_patterns import LoopPattern
from linmap.term import wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linmap.matrices.network.loop_patterns import Lanes
    from linmap.term.datum import Datum
    from linmap.term.net import Net


class Network(ArcProducts):
    """The products of every block of a net.

    Where only `patterns` are asked for, sums of relations on diagonals are united, and their factors are not computed;
    `exact` ones are listed also where they fill most of a block.
    """

    def __init__(
        self,
        body: Net,
        limit: int | None = None,
        found: Mapping[Datum, Any] | None = None,
        *,
        patterns: bool = False,
        exact: bool = False,
    ) -> None:
        super().__init__(body, loop_pattern, limit, found)
        self.patterns, self.is_exact = patterns, exact
        self.blocks = eliminated(self)


def network(body: Net, limit: int | None = None) -> Network:
    """The network of a net, made once; no contraction makes an intermediate array with more entries than the limit.

    A forked process makes one of its own: a thread that it has not may have been at work on that of its parent.
    """
    return _network(body, limit, os.getpid())


@once
def _network(body: Net, limit: int | None, _: int) -> Network:
    with np.errstate(all="ignore"):
        return Network(body, limit)


LARGE = 2**11
"""The entries of a wire from which on patterns have a network of their own."""


def pattern_network(body: Net) -> Network:
    """The network for the pattern of a matrix: for small wires, whose pairs are quickly listed, the matrix's own."""
    is_large = max((leaf.size for leaf in body.wires), default=0) >= LARGE
    return _pattern_network(body, os.getpid()) if is_large else network(body)


@once
def _pattern_network(body: Net, _: int) -> Network:
    return Network(body, patterns=True)


def loop_pattern(f: wire.Recur | wire.Inverse, lanes: tuple[Lanes, Lanes]) -> LoopPattern | InversePattern:
    """The pattern of a loop without lanes, or of an inverse, found once."""
    found = _loop_patterns(f.body, os.getpid())
    key = None if isinstance(f, wire.Inverse) else (f.states, f.fed, f.index, f.reverse, lanes)
    if key in found:
        return found[key]
    n = _round(f.body, os.getpid())
    if isinstance(f, wire.Inverse):
        return first(found, key, InversePattern(n, n.blocks, f))
    return first(found, key, LoopPattern(n, n.blocks, f, lanes))


@once
def _round(body: Net, _: int) -> Network:
    with np.errstate(all="ignore"):
        return Network(body, patterns=True, exact=True)


@once
def _loop_patterns(_: Net, __: int) -> dict[Any, LoopPattern | InversePattern]:
    """The patterns of the loops that have a net as their body."""
    return {}
