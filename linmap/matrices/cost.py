"""What a linear map costs before it is run: operations, bytes moved and the largest array (theory §9).

Views (replication, other orders of axes) move nothing.

>>> from hilbert import Fin, R
>>> from linmap import total
>>> print(cost(total(Fin.of(1000))))
apply         1e+03 flops      8008 bytes   largest array         1
adjoint           0 flops         0 bytes   largest array      1000
matrix            0 flops      8000 bytes   largest array      1000
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final, overload

import numpy as np
from attrs import frozen

from hilbert import SpaceError
from hilbert.errors import shown
from hilbert.once import once
from hilbert.program.fuse import fused
from hilbert.program.operation import Add, AddInto, Contract, Literal, Move, Reduce, Scale, Subtract, Weighted
from hilbert.relation import Full
from linmap.laws.explain import Runs
from linmap.matrices.forms import blocks_plan, dense_plan, factor_plan, limit_of, sparse_plan
from linmap.matrices.matrix import As, cheapest
from linmap.matrices.order import Accumulation
from linmap.matrices.structure import body_of, structure
from linmap.net.apply import line
from linmap.net.reverse import turned

if TYPE_CHECKING:
    from hilbert.leaf import Leaf
    from hilbert.program.line import Line
    from hilbert.program.operation import Operation
    from linmap.term.nets import Net


@final
@frozen
class Work:
    """Floating-point operations, bytes read and written, and entries of the largest array that is made."""

    flops: int
    bytes: int
    largest: int

    def __str__(self) -> str:
        return f"{self.flops:>12.3g} flops {self.bytes:>9} bytes   largest array {self.largest:>9}"


@final
@frozen
class Cost:
    """The work of applying a linear map, of applying its adjoint, and of making its matrix in a form.

    `orders` are the contractions of the matrix, each with its order and what forward and adjoint mode would cost.
    """

    apply: Work
    adjoint: Work
    matrix: Work
    form: str
    orders: tuple[Accumulation, ...]

    def __str__(self) -> str:
        rows = (("apply", self.apply), ("adjoint", self.adjoint), ("matrix", self.matrix))
        lines = [f"{name:<7}{work}" for name, work in rows]
        orders = [f"order  {order}" for order in self.orders if order.pairs]
        more = [f"       and {len(orders) - SHOWN} more"] if len(orders) > SHOWN else []
        return "\n".join(lines + orders[:SHOWN] + more)


SHOWN = 8
"""How many orders are printed."""


@overload
def cost(f: Runs) -> Any: ...
@overload
def cost(f: Any, as_: As | None = None, *, limit: int | None = None) -> Cost: ...
def cost(f: Any, as_: As | None = None, *, limit: int | None = None) -> Any:
    """The cost of a linear map or of a derivative in the point, from the sizes of its spaces alone.

    Of a function it is the work of a call, as it is written and as it runs: see `diff.planned`. `as_` and `limit` are
    those of `matrix`. Raises SpaceError for a function that is not linear, a form that the
    structure does not allow or that has no matrix (`operator`), or a limit that no order keeps.
    """
    if isinstance(f, Runs) and as_ is None and limit is None:
        return f.costed()
    body = body_of(f, "cost")
    limit_of(limit)
    form = cheapest(structure(body)) if as_ is None else as_
    return _cost(body, form, limit)


@once
def _cost(body: Net, form: As, limit: int | None) -> Cost:
    match form:
        case "array":
            plan = dense_plan(body, limit)
            made, orders = _written(work(plan.runner.line), body.dom.dim * body.cod.dim), plan.orders
        case "tensor":
            factors = factor_plan(body, limit)
            made, orders = work(factors.runner.line), factors.orders
        case "sparse":
            sparse = sparse_plan(body, limit)
            made, orders = _written(work(sparse.runner.line), sparse.pattern.entries), sparse.orders
        case "blocks":
            blocks = blocks_plan(body, limit)
            made, orders = _written(work(blocks.runner.line), blocks.pattern.entries), blocks.orders
        case _:  # given by users
            msg = f"cost(f, as_={shown(form)}): a matrix that is made is 'array', 'sparse', 'blocks' or 'tensor'"
            raise SpaceError(msg)
    return Cost(work(applied(body)), work(applied(turned(body))), made, form, orders)


def applied(body: Net) -> Line:
    """What a call of the net runs."""
    return fused(line(body))


def _written(w: Work, entries: int) -> Work:
    """The work of a form's arrays, and of writing its entries."""
    return Work(w.flops, w.bytes + 8 * entries, max(w.largest, entries))


def work(line: Line) -> Work:
    """The work of one run of a line."""
    flops = moved = largest = 0
    for step, result in zip(line.steps, line.slots[line.arity :], strict=True):
        if isinstance(step.operation, Literal):
            continue
        operands = [line.slots[k] for k in step.args]
        flops += _flops(step.operation, operands, result)
        if not isinstance(step.operation, Move) and not _is_rep(step.operation):
            moved += sum(_bytes(leaf) for leaf in (*operands, result))
        largest = max(largest, result.size)
    return Work(flops, moved, largest)


def _flops(operation: Operation, operands: list[Leaf], result: Leaf) -> int:
    match operation:
        case Contract(spec) if all(leaf.is_field for leaf in operands):
            labels = dict(zip(spec.left, operands[0].shape, strict=True))
            labels |= dict(zip(spec.right, operands[1].shape, strict=True))
            return (2 if spec.contracted else 1) * math.prod(labels.values())
        case AddInto():
            return operands[1].size
        case Weighted(gather, _, _, _):
            return 2 * operands[0].size * operands[1].size // int(gather.relation.dom.size)
        case Reduce():
            return 0 if _is_rep(operation) else operands[0].size
        case Add() | Subtract() | Scale() | Contract():
            return result.size
        case _:  # moves and casts; the open table of primitives is not counted
            return 0


def _is_rep(operation: Operation) -> bool:
    """Whether a step replicates: a view."""
    match operation:
        case Reduce(Full(dom, _), _):
            return not dom.axes
        case _:  # no other operation repeats
            return False


def _bytes(leaf: Leaf) -> int:
    return leaf.size * np.dtype(leaf.dtype).itemsize
