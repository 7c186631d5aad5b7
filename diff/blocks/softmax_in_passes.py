"""Softmax along an index set X as steps that run in passes over X: e/Σ e, for e = exp(x − logsumexp x).

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.program.line.builder import line_of
>>> X = Fin.of(5)
>>> line = line_of([Leaf(Entry("float64"), (X,))], Along("softmax", X, 0), 0)
>>> len(without_softmax(line, [X]).steps)
9
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.primitives.primitives import exp, log, reciprocal
from hilbert.index.index import Unit
from hilbert.index.spec import Spec
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Along, Reduce
from hilbert.relation.plain_forms import Full

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.terms.elementwise import Primitive
    from hilbert.index.index import Index
    from hilbert.program.line.line import Line


def _along(b: Builder, f: Primitive, total: int, along: Index, at: int, share: int) -> int:
    """f of a total, times shares along X."""
    many = b.step(Reduce(Full(Unit(), along), at), (b.step(f, (total,)),))
    return b.contract(Spec.pointwise(len(b.slots[share].axes)), many, share)


def without_softmax(line: Line, family: Sequence[Index]) -> Line:
    """The line whose softmax and log_softmax along X are written by logsumexp; the line itself where it has none.

    Within loops and branches they are left as they are: no total is known there.
    """
    names = {"softmax", "log_softmax"}
    if not any(isinstance(s.operation, Along) and s.operation.name in names for s in line.steps):
        return line
    b = Builder(line.slots[: line.arity], fixed=line.fixed)
    where = list(range(line.arity))
    for step in line.steps:
        args, b.place = tuple([where[a] for a in step.args]), step.place
        match step.operation:
            case Along("softmax" | "log_softmax" as name, along, at) if along in family:
                total = b.step(Along("logsumexp", along, at), args)
                less = b.scale(-1.0, b.step(Reduce(Full(Unit(), along), at), (total,)))
                first = b.add(args[0], less)
                share = b.step(exp, (first,))  # as exact as the logarithm is: the sum of the shares is nearly 1
                whole = b.step(Reduce(Full(along, Unit()), at), (share,))
                if name == "softmax":
                    where.append(_along(b, reciprocal, whole, along, at, share))
                else:
                    rest = b.scale(-1.0, b.step(Reduce(Full(Unit(), along), at), (b.step(log, (whole,)),)))
                    where.append(b.add(first, rest))
            case operation:  # as it is
                where.append(b.step(operation, args))
    return b.line([where[k] for k in line.outputs])
