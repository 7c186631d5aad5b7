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

from hilbert import SpaceError
from hilbert.errors import shown
from hilbert.relation import Full
from linmap.matrices.matrix import As, blocks_plan, cheapest, dense_plan, factor_plan, limit_of, sparse_plan
from linmap.matrices.order import Order
from linmap.matrices.structure import body_of, structure
from linmap.net import wire
from linmap.net.evaluate import tape
from linmap.net.reverse import turned

if TYPE_CHECKING:
    from hilbert.arrays.tape import Instruction, Tape
    from hilbert.space import Leaf
    from linmap.term.nodes import Net


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
    orders: tuple[Order, ...]

    def __str__(self) -> str:
        rows = (("apply", self.apply), ("adjoint", self.adjoint), ("matrix", self.matrix))
        lines = [f"{name:<7}{work}" for name, work in rows]
        orders = [f"order  {order}" for order in self.orders if order.pairs]
        more = [f"       and {len(orders) - SHOWN} more"] if len(orders) > SHOWN else []
        return "\n".join(lines + orders[:SHOWN] + more)


SHOWN = 8
"""How many orders are printed."""


def cost(f: Any, as_: As | None = None, *, limit: int | None = None) -> Cost:
    """The cost of a linear map or of a derivative in the point, from the sizes of its spaces alone.

    `as_` and `limit` are those of `matrix`. Raises SpaceError for a function that is not linear, a form that the
    structure does not allow or that has no matrix (`operator`), or a limit that no order keeps.
    """
    body = body_of(f, "cost")
    limit_of(limit)
    form = cheapest(structure(body)) if as_ is None else as_
    memo = body.memo()
    found: Cost | None = memo.get(("cost", form, limit))
    if found is None:
        found = memo["cost", form, limit] = _cost(body, form, limit)
    return found


def _cost(body: Net, form: As, limit: int | None) -> Cost:
    match form:
        case "array":
            plan = dense_plan(body, limit)
            made, orders = _written(work(plan.tape), body.dom.dim * body.cod.dim), plan.orders
        case "tensor":
            factors = factor_plan(body, limit)
            made, orders = work(factors.tape), factors.orders
        case "sparse":
            sparse = sparse_plan(body, limit)
            made, orders = _written(work(sparse.tape), sparse.pattern.entries), sparse.orders
        case "blocks":
            blocks = blocks_plan(body, limit)
            made, orders = _written(work(blocks.tape), blocks.pattern.entries), blocks.orders
        case _:
            msg = f"cost(f, as_={shown(form)}): a matrix that is made is 'array', 'sparse', 'blocks' or 'tensor'"
            raise SpaceError(msg)
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
        case wire.AddInto():
            return operands[1].size
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
