"""What a linear map costs before it is run: operations, bytes moved and the largest array (theory §9).

Views (replication, other orders of axes) move nothing.

>>> from hilbert import Fin, R
>>> from linmap import total
>>> print(cost(total(R, Fin.of(1000))))
apply         1e+03 flops      8008 bytes   largest array         1
adjoint           0 flops         0 bytes   largest array      1000
matrix            0 flops      8000 bytes   largest array      1000
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from hilbert.relation import Full
from linmap import wire
from linmap.evaluate import tape
from linmap.matrix import cheapest, dense_plan, factor_plan, sparse_plan
from linmap.order import Order
from linmap.structure import body_of, structure
from linmap.turn import turned

if TYPE_CHECKING:
    from hilbert.arrays.tape import Instruction, Tape
    from hilbert.space import Leaf
    from linmap.term import Net


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
    """The work of applying a linear map, of applying its adjoint, and of making its matrix in the cheapest form."""

    apply: Work
    adjoint: Work
    matrix: Work
    form: str
    orders: tuple[Order, ...]

    def __str__(self) -> str:
        rows = (("apply", self.apply), ("adjoint", self.adjoint), ("matrix", self.matrix))
        return "\n".join(f"{name:<7}{work}" for name, work in rows)


def cost(f: Any) -> Cost:
    """The cost of a linear map or of a derivative in the point, from the sizes of its spaces alone.

    Raises SpaceError for a function that is not linear.
    """
    body = body_of(f, "cost")
    memo = body.memo()
    found: Cost | None = memo.get("cost")
    if found is None:
        found = memo["cost"] = _cost(body)
    return found


def _cost(body: Net) -> Cost:
    form = cheapest(structure(body))
    if form == "array":
        plan = dense_plan(body)
        made = _written(work(plan.tape), body.dom.dim * body.cod.dim)
        orders = plan.orders
    elif form == "tensor":
        factors = factor_plan(body)
        made, orders = work(factors.tape), factors.orders
    else:
        sparse = sparse_plan(body)
        made = _written(work(sparse.tape), sparse.pattern.entries)
        orders = sparse.orders
    return Cost(work(tape(body)), work(tape(turned(body))), made, form, orders)


def _written(w: Work, entries: int) -> Work:
    """The work of a form's arrays, and of writing its entries."""
    return Work(w.flops, w.bytes + 8 * entries, max(w.largest, entries))


def work(t: Tape) -> Work:
    """The work of one run of a tape."""
    flops = moved = largest = 0
    for step in t.code:
        operands = [t.slots[k] for k in step.args]
        result = t.slots[step.to]
        flops += _flops(step, operands, result)
        if not isinstance(step.operation, wire.Move) and not _is_rep(step):
            moved += sum(_bytes(leaf) for leaf in (*operands, result))
        largest = max(largest, result.size)
    return Work(flops, moved, largest)


def _flops(step: Instruction, operands: list[Leaf], result: Leaf) -> int:
    match step.operation:
        case wire.Contract(spec) if all(leaf.is_field for leaf in operands):
            labels = dict(zip(spec.left, operands[0].shape, strict=True))
            labels |= dict(zip(spec.right, operands[1].shape, strict=True))
            return (2 if spec.contracted else 1) * math.prod(labels.values())
        case wire.Weighted(gather, _, _, _):
            return 2 * operands[0].size * operands[1].size // int(gather.relation.dom.size)
        case wire.Reduce():
            return 0 if _is_rep(step) else operands[0].size
        case wire.Add() | wire.Subtract() | wire.Scale() | wire.Contract():
            return result.size
        case _:
            return 0


def _is_rep(step: Instruction) -> bool:
    """Whether a step replicates: a view."""
    match step.operation:
        case wire.Reduce(Full(dom, _), _):
            return not dom.axes
        case _:
            return False


def _bytes(leaf: Leaf) -> int:
    return leaf.size * np.dtype(leaf.dtype).itemsize
