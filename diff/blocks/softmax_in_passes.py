"""Softmax along an index set X as steps that run in passes over X: exp(x − logsumexp x), entry by entry.

>>> from hilbert.index.index import Fin
>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.program.line.builder import line_of
>>> X = Fin.of(5)
>>> line = line_of([Leaf(Entry("float64"), (X,))], Along("softmax", X, 0), 0)
>>> print([str(getattr(step.operation, "name", step.operation)) for step in without_softmax(line, X).steps])
['logsumexp', 'operation.Reduce(Full(dom=Unit(), cod=Fin.of(5)), 0)', 'operation.Scale(-1.0)', 'operation.Add()', 'exp']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diff.primitives.primitives import exp
from hilbert.index.index import Unit
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Along, Reduce
from hilbert.relation.plain_forms import Full

if TYPE_CHECKING:
    from hilbert.index.index import Index
    from hilbert.program.line.line import Line


def without_softmax(line: Line, index: Index) -> Line:
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
            case Along("softmax" | "log_softmax" as name, along, at) if along == index:
                total = b.step(Along("logsumexp", along, at), args)
                less = b.scale(-1.0, b.step(Reduce(Full(Unit(), along), at), (total,)))
                difference = b.add(args[0], less)
                where.append(b.step(exp, (difference,)) if name == "softmax" else difference)
            case operation:  # as it is
                where.append(b.step(operation, args))
    return b.line([where[k] for k in line.outputs])
