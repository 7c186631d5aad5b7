"""Products of coefficients that vary with a family: the last sum over it, and contractions with a basis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.index.spec import Spec
from hilbert.program.line.operation import Contract, Move, Scale

if TYPE_CHECKING:
    from diff.jets.taylor_series import TaylorSeries


def summed(series: TaylorSeries, spec: Spec, x: int, y: int) -> int:
    """Σ_d x_d ⋄ y_d; entry by entry, a factor of y that does not vary with d leaves the sum."""
    b, n = series.out, len(series.family)
    operation = b.operation(y)
    if isinstance(operation, Scale):
        return b.scale(operation.k, summed(series, spec, x, b.steps[y - b.arity].args[0]))
    entries = spec.right[n:]
    each = Spec.pointwise(len(entries)).lifted(n, left=True, right=False)
    if {*spec.left} == {*spec.right} and isinstance(operation, Contract):
        first, last = b.steps[y - b.arity].args
        for varies, factor, spread in ((first, last, each), (last, first, each.mirrored)):
            if operation.spec == spread:
                total = summed(series, Spec.of(spec.left, spec.right, entries), x, varies)
                return b.contract(Spec.of(entries, entries, spec.out), total, factor)
    return b.contract(spec, x, y)


def at_basis(series: TaylorSeries, spec: Spec, x: int, y: int, n: int) -> int:
    """x ⋄ y; where one of them is the identity, a contraction with it only renames axes."""
    for unit, other, basis, labels in ((x, y, spec.left, spec.right), (y, x, spec.right, spec.left)):
        is_basis = unit == series.basis and series.out.slots[other].is_field  # elements are no numbers yet
        order = _renamed(basis[:n], basis[n:], labels, spec.out) if is_basis else None
        if order is not None:
            return other if order == tuple(range(len(order))) else series.out.apply(Move(order), other)
    return series.out.contract(spec, x, y)


def _renamed(new: str, old: str, labels: str, out: str) -> tuple[int, ...] | None:
    """The order of axes that a contraction with the identity over (new, old) comes to: labels with other names.

    None where it is more than that.
    """
    if not set(old) <= set(labels) or set(old) & set(out) or set(new) & set(labels):
        return None
    name = dict(zip(new, old, strict=True))
    return tuple(labels.index(name.get(c, c)) for c in out)
