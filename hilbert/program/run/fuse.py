"""Steps that are better done together: norms, exponentials, differences, sums with padded arrays, sparse products.

Of long arrays also quotients, and sums of squares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from hilbert.arrays.kernels.reduced_axes import SMALL
from hilbert.arrays.kernels.segments import makes_rows, profile
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.line import Step
from hilbert.program.line.operation import Add, Contract, Reduce, Scale
from hilbert.program.run.fused_steps import AddInto, Placed, Quotient, Subtract, Together, Weighted
from hilbert.program.run.norms import norm
from hilbert.program.run.shared_exponentials import shared_exponentials
from hilbert.program.run.windowed_products import correlated
from hilbert.relation import Converse, Full, Graph, Inclusion
from hilbert.relation.function_forms import AnyGraph, Sliding

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.program.line.line import Line

    Maker = Callable[[int], Step[Any] | None]
    """The step into a slot that nothing else reads; None for others."""


def fused(line: Line) -> Line:
    """The same results with fewer steps; an array that only the steps replaced have read is not made."""
    line = shared_exponentials(line)
    arity, steps = line.arity, list(line.steps)

    def alone(slot: int) -> Step[Any] | None:
        return steps[slot - arity] if slot >= arity and line.reads[slot] == 1 else None

    def written(slot: int) -> Step[Any] | None:
        """The same in the line as given, before steps are fused."""
        return line.steps[slot - arity] if slot >= arity and line.reads[slot] == 1 else None

    def made(slot: int) -> Step[Any] | None:
        """The step into a slot, whoever else reads the slot."""
        return line.steps[slot - arity] if slot >= arity else None

    for k, step in enumerate(steps):
        match step.operation:
            case operation if getattr(operation, "name", "") in {"sqrt", "length"}:
                steps[k] = norm(step, made) or step
            case Add():
                steps[k] = _difference(step, alone, written) or _added_into(step, written, alone) or step
            case Contract(spec) if spec.left == spec.right == spec.out and line.slots[k + arity].size >= LONG:
                steps[k] = _quotient(step, alone, line) or step
            case Reduce(Full()) if not line.slots[k + arity].axes:
                steps[k] = _of_squares(step, alone, line) or step
            case Reduce(Inclusion()):
                steps[k] = _placed(step, alone) or step
            case Reduce(Sliding() | Converse(Inclusion())):
                one = correlated(step, written, line)
                steps[k] = step if one is None else Step(Together(fused(one[0])), one[1])
            case Reduce(Graph() as targets, 0) as sums:
                steps[k] = _weighted(step, sums, targets, alone, line) or step
            case _:  # no other step is fused with those before
                pass
    return line if steps == [*line.steps] else evolve(line, steps=tuple(steps)).pruned()


LONG = 1 << 13
"""Entries from which an array that is not made saves time; rounding differs."""
NEGATIVE = Scale(-1.0)


def _quotient(step: Step[Any], alone: Maker, line: Line) -> Step[Any] | None:
    """a · (1/b) as a / b, entry by entry; a truth value chooses, and is no factor."""
    for a, b in (step.args, step.args[::-1]):
        inverse = alone(b)
        if inverse and getattr(inverse.operation, "name", "") == "reciprocal" and line.slots[a].is_field:
            return Step(Quotient(step.operation, inverse.operation), (a, *inverse.args), step.place)
    return None


def _of_squares(step: Step[Any], alone: Maker, line: Line) -> Step[Any] | None:
    """The sum of the squares of a long array as the product with itself."""
    squares = alone(step.args[0])
    if squares is None or getattr(squares.operation, "name", "") != "square":
        return None
    (x,) = squares.args
    leaf = line.slots[x]
    labels = ALPHABET[: len(leaf.axes)]
    is_long = leaf.is_field and leaf.size >= LONG
    return Step(Contract(Spec.of(labels, labels, "")), (x, x), step.place) if is_long else None


def _difference(step: Step[Any], alone: Maker, written: Maker) -> Step[Any] | None:
    """a + (−1)·b as a − b, on the entries alone that are not 0 where b is between or among zeros."""
    for a, b in (step.args, step.args[::-1]):
        negated = alone(b)
        if negated and negated.operation == NEGATIVE:
            padded = written(negated.args[0])
            places = _among_zeros(padded)
            if padded and places:
                return Step(AddInto(places, minus=True), (a, padded.args[0]))
            return Step(Subtract(), (a, negated.args[0]))
    return None


def _placed(last: Step[Any], alone: Maker) -> Step[Any] | None:
    """Inclusions along several axes, one after the other, as one step."""
    before = alone(last.args[0])
    match before.operation if before else None:
        case Placed(chain):
            pass
        case Reduce(Inclusion()) as first if _is_between_zeros(first):
            chain = (first,)
        case _:  # something else is between zeros
            return None
    if before is None or not _is_between_zeros(last.operation) or last.operation.at in {f.at for f in chain}:
        return None
    return Step(Placed((*chain, last.operation)), before.args)


def _is_between_zeros(f: Reduce) -> bool:
    """Tell if an inclusion of one axis into one puts zeros around its operand; a reversal does not, and is a view."""
    r = f.relation
    return len(r.dom.axes) == len(r.cod.axes) == 1 and r.dom.size < r.cod.size


def _added_into(step: Step[Any], written: Maker, alone: Maker) -> Step[Any] | None:
    """The sum with an array between or among zeros as one step that touches only the entries that are not these."""
    for a, b in (step.args, step.args[::-1]):
        padded = written(b)
        places = _among_zeros(padded)
        if padded and places:
            inside = alone(padded.args[0])
            if inside and inside.operation == NEGATIVE:
                return Step(AddInto(places, minus=True), (a, inside.args[0]))
            return Step(AddInto(places), (a, padded.args[0]))
    return None


def _among_zeros(step: Step[Any] | None) -> Reduce | None:
    """The operation of a step that puts entries between or among zeros; None for another one."""
    match step.operation if step else None:
        case Reduce(Inclusion(dom, cod), _) as places if dom.size < cod.size:
            return places
        case Reduce(Graph() as function, _) as places if _is_scarce(function):
            return places
        case _:  # nothing is saved without zeros
            return None


def _is_scarce(f: AnyGraph) -> bool:
    """Tell if a function puts entries among many zeros, no two at one place."""
    return SMALL <= f.cod.size > f.dom.size and profile(f.positions, f.cod.size).injective


def _weighted(last: Step[Any], sums: Reduce, targets: AnyGraph, alone: Maker, line: Line) -> Step[Any] | None:
    """A segment sum of weighted entries of a gather as the product with a sparse matrix, where that is quicker."""
    product = alone(last.args[0])
    if product is None or not isinstance(product.operation, Contract):
        return None
    spec = product.operation.spec
    for side in (0, 1):
        w, v = product.args if side == 0 else product.args[::-1]
        weights, rows = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
        first = alone(v)
        match first.operation if first else None:
            case Reduce(Converse(Graph() as sources), 0) as gather if first:
                pass
            case _:  # only a gather by a table is fused
                continue
        zipped = spec.out == rows and weights == rows[: len(weights)] and len(weights) == len(sources.dom.axes)
        if zipped and line.slots[w].is_field and sources.dom == targets.dom and makes_rows(sources, targets):
            return Step(Weighted(gather, product.operation, side, sums), (w, first.args[0]))
    return None
