"""The cost of a linear map before it is run: operations, bytes moved, the largest array, and memory (theory §9).

Views (replication, other orders of axes) move nothing. The memory is that of the arrays that a run makes and holds at
once, at most: neither arguments nor constants.

>>> from hilbert import Fin, R
>>> from linmap import total
>>> print(cost(total(Fin.of(1000))))
apply         1e+03 flops      8008 bytes   largest array         1   memory         8 bytes
adjoint           0 flops         0 bytes   largest array      1000   memory         0 bytes
matrix            0 flops      8000 bytes   largest array      1000   memory      8000 bytes
time   elimination 0 s, forward 0.0012 s, adjoint 1.2e-06 s
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, final, get_args, overload

from attrs import frozen

from hilbert import SpaceError
from hilbert.base.once import once
from hilbert.base.sizes import held
from hilbert.displayed import Displayed
from hilbert.errors import shown
from hilbert.program.run.fuse import fused
from linmap.matrices.labelled.accumulation_order import Accumulation
from linmap.matrices.made.dense import dense_plan, predicted
from linmap.matrices.made.matrix import As, cheapest
from linmap.matrices.made.matrix_plans import NARROW, blocks_plan, factor_plan, limit_of, sparse_plan
from linmap.matrices.made.predicted_work import Work, whole_work
from linmap.matrices.made.systems import systems
from linmap.matrices.structure.structure import body_of, structure
from linmap.net.apply import ordered
from linmap.term.net import turned
from linmap.term.protocols import Elsewhere, Runs

if TYPE_CHECKING:
    from hilbert.program.line.line import Line
    from linmap.term.net import Net


@final
@frozen
class Cost(Displayed):
    """The work of applying a linear map, of applying its adjoint, and of making its matrix in a form.

    `orders` are the contractions of the matrix, each with its order and what forward and adjoint mode would cost. For
    an array `seconds` has the predicted times of its three plans, of which the quickest is run; the work is that of
    elimination. `systems` says how the linear systems are solved that the map and its adjoint hold.
    """

    apply: Work
    adjoint: Work
    matrix: Work
    form: str
    orders: tuple[Accumulation, ...]
    seconds: tuple[tuple[str, float], ...] = ()
    systems: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = (("apply", self.apply), ("adjoint", self.adjoint), ("matrix", self.matrix))
        lines = [f"{name:<7}{work}" for name, work in rows]
        orders = [f"order  {order}" for order in self.orders if order.pairs]
        more = [f"       and {len(orders) - SHOWN} more"] if len(orders) > SHOWN else []
        if self.seconds:
            lines.append("time   " + ", ".join(f"{plan} {time:.2g} s" for plan, time in self.seconds))
        return "\n".join([*lines, *orders[:SHOWN], *more, *(f"system {system}" for system in self.systems)])


SHOWN = 8
"""The number of orders that are printed."""
listing = held("structure(f) counts the entries, and lists none")
"""A plan that lists the entries of a matrix: a limit on intermediate arrays makes them no fewer."""


@overload
def cost(f: Runs | Elsewhere) -> Any: ...
@overload
def cost(f: Any, as_: As | None = None, *, limit: int | None = None) -> Cost: ...
@held(NARROW)
def cost(f: Any, as_: As | None = None, *, limit: int | None = None) -> Any:
    """The cost of a linear map or of a derivative in the point, from the sizes of its spaces alone.

    Of a function it is the work of a call, as it is written and as it runs: see `diff.planned`; in blocks, or on data,
    with the memory of a block. `as_` and `limit` are those of `matrix`. Raises SpaceError for a function that is not
    linear, a form that the structure does not allow or that has no matrix (`operator`), or a limit that no order keeps.
    """
    if isinstance(f, Runs | Elsewhere) and as_ is None and limit is None:
        return f.costed()
    body = body_of(f, "cost")
    limit_of(limit)
    if as_ is not None and not isinstance(as_, str):
        msg = f"cost(f, as_) takes the name of a form, not {shown(as_)}: the cost depends on spaces, not on entries"
        raise SpaceError(msg)
    form = cheapest(structure(body)) if as_ is None else as_
    return _cost(body, form, limit)


@once
def _cost(body: Net, form: As, limit: int | None) -> Cost:
    seconds: tuple[tuple[str, float], ...] = ()
    if form not in get_args(As) or form == "operator":  # given by users
        msg = f"cost(f, as_={shown(form)}): a matrix that is made is 'array', 'sparse', 'blocks' or 'tensor'"
        raise SpaceError(msg)
    match form:
        case "array":
            seconds = () if limit is not None else predicted(body)
            plan = dense_plan(body, limit)
            made, orders = _written(whole_work(plan.parts.line), body.dom.dim * body.cod.dim), plan.orders
        case "tensor":
            factors = factor_plan(body, limit)
            made, orders = whole_work(factors.runner.line), factors.orders
        case "sparse":
            sparse = listing(sparse_plan)(body, limit)
            made, orders = _written(whole_work(sparse.parts.line), sparse.pattern.entries), sparse.orders
        case "blocks":
            blocks = listing(blocks_plan)(body, limit)
            made, orders = _written(whole_work(blocks.parts.line), blocks.pattern.entries), blocks.orders
        case _:
            assert_never(form)
    there, back = applied(body), applied(turned(body))
    return Cost(whole_work(there), whole_work(back), made, form, orders, seconds, systems([there, back]))


def applied(body: Net) -> Line:
    """The line that a call of the net runs."""
    return fused(ordered(body))


def _written(w: Work, entries: int) -> Work:
    """The work of a form's arrays, and of writing its entries."""
    return Work(w.flops, w.bytes + 8 * entries, max(w.largest, entries), w.memory + 8 * entries)
