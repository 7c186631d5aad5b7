"""Coefficients of linear loops: c₁⊙(c₂⊙x) is (c₁⊙c₂)⊙x where only x depends on the round before.

The products of coefficients can then leave the rounds (`hilbert.program.control.distributed_loop`): one product of a
round is left. In the derivative of a recurrent cell most products are such. Values change by rounding.

>>> from hilbert.index.leaf import Entry, Leaf
>>> from hilbert.index.spec import Spec
>>> x, product = Leaf(Entry("float64")), Spec.scalar(0)
>>> b = Builder([x, x, x])  # a state s and two slices: s ↦ a·(b·s) + s
>>> after = b.add(b.contract(product, 1, b.contract(product, 2, 0)), 0)
>>> [step.args for step in with_coefficients(b.line([after]), 1).steps]
[(1, 2), (3, 0), (4, 0)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Add, Contract, Move, Reduce, Scale

if TYPE_CHECKING:
    from hilbert.index.spec import Spec
    from hilbert.program.line.line import Line, Step

SMALL = 1 << 10
"""The most entries of a coefficient: a larger product costs more than the call that is saved."""


@final
@frozen
class Multiple:
    """coefficient ⊙ base, both slots of the line under construction, by a product of entries."""

    coefficient: int
    base: int
    spec: Spec


def with_coefficients(body: Line, states: int) -> Line | None:
    """The body with products of coefficients apart; None for a body that is not linear in its first states."""
    fed = [k < states for k in range(body.arity)]
    b = Builder(body.slots[: body.arity], fixed=body.fixed)
    where, forms = list(range(body.arity)), dict[int, Multiple]()
    for step in body.steps:
        count = sum(fed[a] for a in step.args)
        if not _is_linear(step, count):
            return None
        b.place = step.place
        args = [where[a] for a in step.args]
        form = _multiple(b, step, args, [fed[a] for a in step.args], forms) if count else None
        if form is None:
            where.append(b.step(step.operation, tuple(args)))
        else:
            where.append(b.contract(form.spec, form.coefficient, form.base))
            forms[where[-1]] = form
        fed.append(count > 0)
    return b.line(where[k] for k in body.outputs).pruned()


def _is_linear(step: Step[Any], count: int) -> bool:
    """Tell if a step is linear in the operands that depend on states; `count` operands do."""
    match step.operation:
        case Add() | Scale() | Move() | Reduce():
            return True
        case Contract():
            return count < 2
        case _:  # any other operation, of numbers that no state feeds
            return not count


def _multiple(
    b: Builder, step: Step[Any], args: list[int], fed: list[bool], forms: dict[int, Multiple]
) -> Multiple | None:
    """The result of a step on a state-fed operand as a multiple of a slot that costs no more; None for other steps."""
    match step.operation:
        case Contract(spec) if spec.is_pointwise and b.slots[args[0]] == b.slots[args[1]]:
            c, x = args if fed[1] else args[::-1]
            if b.slots[c].size > SMALL or not b.slots[c].is_field:
                return None
            inner = forms.get(x)
            return Multiple(b.contract(spec, c, inner.coefficient), inner.base, spec) if inner else Multiple(c, x, spec)
        case Scale(k) if args[0] in forms:
            inner = forms[args[0]]
            return Multiple(b.scale(k, inner.coefficient), inner.base, inner.spec)
        case Add() if all(a in forms for a in args) and len({forms[a].base for a in args}) == 1:
            one, other = (forms[a] for a in args)
            return Multiple(b.add(one.coefficient, other.coefficient), one.base, one.spec)
        case _:  # no product of entries
            return None
