"""Colours: inputs that are told apart at every output, so that one vector stands for all of a colour.

A. R. Curtis, M. J. D. Powell & J. K. Reid, *J. Inst. Maths Applics* 13, 1974.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linmap.matrices.labelled.columns import Ints, divided
from linmap.matrices.tables.pair_sets import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linmap.matrices.tables.pair_sets import PairSet


def colours(sets: Sequence[PairSet]) -> Ints:
    """A number for each input, so that inputs of one number share an output in none of some sets.

    Greedy, in order; for each output the numbers that are taken are the bits of an integer.
    """
    (n,) = {p.n for p in sets}
    if any(p.is_all for p in sets):
        return np.arange(n)
    start, reads = 0, []
    for p in sets:
        y, x = divided(flat(p), p.n)
        reads.append((x, y + start))
        start += p.m
    x = np.concatenate([inputs for inputs, _ in reads])
    order = np.argsort(x, kind="stable")
    ends = np.cumsum(np.bincount(x, minlength=n)).tolist()
    outputs = np.concatenate([outputs for _, outputs in reads])[order].tolist()
    taken = [0] * start
    made = np.zeros(n, np.int64)
    begin = 0
    for k, end in enumerate(ends):
        some = outputs[begin:end]
        begin = end
        used = 0
        for y in some:
            used |= taken[y]
        bit = ~used & (used + 1)
        for y in some:
            taken[y] |= bit
        made[k] = bit.bit_length() - 1
    return made
