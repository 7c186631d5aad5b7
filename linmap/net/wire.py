"""Linear maps between leaves: what the arcs of a net, and the linear steps of a program, do to one array.

Each is data with its codomain (`image`), its lifting over more axes and its kernel.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast, final

import numpy as np
from attrs import evolve, fields, frozen

from hilbert import Elements, Field, SpaceError
from hilbert.arrays import contract as _contract
from hilbert.arrays import kernel, reduction, segments
from hilbert.relation import Relation
from hilbert.space import Leaf
from hilbert.spec import Spec
from linmap.term.datum import Datum

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from hilbert.arrays.kernel import Kernel
    from hilbert.index import Index


class _Wire:
    __slots__ = ()

    def __repr__(self) -> str:
        cls: Any = type(self)
        return f"wire.{cls.__name__}({', '.join(repr(getattr(self, f.name)) for f in fields(cls))})"


@final
@frozen(repr=False)
class Same(_Wire):
    """The identity."""


@final
@frozen(repr=False)
class Scale(_Wire):
    """(k ·) for a number k."""

    k: float

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """k · a."""
        return kernel.scale(xp, self.k)


@final
@frozen(repr=False)
class Section(_Wire):
    """A labelled contraction with one operand fixed: side 0 is (u⋄), side 1 is (⋄v)."""

    spec: Spec
    side: int
    datum: Datum


@final
@frozen(repr=False)
class Reduce(_Wire):
    """red_R on the axes from `at` on."""

    relation: Relation[Any, Any]
    at: int

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The relation's own kernel."""
        return reduction.reduce(xp, self.relation, self.at, operands[0])


@final
@frozen(repr=False)
class Move(_Wire):
    """The axes in another order: the transposition part of a unitary map."""

    order: tuple[int, ...]

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """A view."""
        return kernel.move(xp, self.order)


@final
@frozen(repr=False)
class Cast(_Wire):
    """The same numbers in another field."""

    field: Field

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """A conversion."""
        return kernel.cast(xp, self.field.dtype)


@final
@frozen(repr=False)
class Contract(_Wire):
    """The bilinear operation of two arrays that a section fixes one side of."""

    spec: Spec

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The planned contraction."""
        return _contract.contract(xp, self.spec, operands[0], operands[1])


@final
@frozen(repr=False)
class Add(_Wire):
    """a + b."""

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """a + b, in place where an operand dies."""
        return kernel.add(xp)


@final
@frozen(repr=False)
class Subtract(_Wire):
    """a − b: what the tape makes of a + (−1)·b."""

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """a − b, in place where an operand dies."""
        return kernel.subtract(xp)


@final
@frozen(repr=False)
class AddInto(_Wire):
    """(a, b) ↦ a + red_R(b) for an inclusion R: what the tape makes of padding and a sum; in place where a dies."""

    inclusion: Reduce

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """In numpy only what b covers is touched; elsewhere one after the other."""
        a, b = operands
        if xp is np:
            return reduction.add_into(cast("Any", self.inclusion.relation), self.inclusion.at, b)
        padded = self.inclusion.bind(xp, [b], a).call
        add = kernel.add(xp).call
        return kernel.Kernel(lambda x, y: add(x, padded(y)))


@final
@frozen(repr=False)
class Weighted(_Wire):
    """The product (w, v) with a sparse matrix: what the tape makes of a gather, a product and a segment sum."""

    gather: Reduce
    product: Contract
    side: int
    sums: Reduce

    def bind(self, xp: ModuleType, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The product in numpy; elsewhere the three one after the other."""
        w, v = operands
        sources: Any = self.gather.relation.T
        if xp is np:
            return segments.weighted(sources, cast("Any", self.sums.relation), v, result.shape)
        gathered = Leaf(v.base, sources.dom.axes + v.axes[len(sources.cod.axes) :])
        f = self.gather.bind(xp, [v], gathered).call
        g = self.product.bind(xp, [w, gathered] if self.side == 0 else [gathered, w], gathered).call
        h = self.sums.bind(xp, [gathered], result).call
        if self.side == 0:
            return kernel.Kernel(lambda a, b: h(g(a, f(b))))
        return kernel.Kernel(lambda a, b: h(g(f(b), a)))


Unary: TypeAlias = Scale | Reduce | Move | Cast
Wire: TypeAlias = Same | Scale | Section | Reduce | Move | Cast


def labelled(leaf: Leaf) -> tuple[Index, ...]:
    """The axes that the labels of a contraction's operand stand for; an element of X has those of X at the end."""
    return leaf.axes + (leaf.base.index.axes if isinstance(leaf.base, Elements) else ())


@cache
def product(spec: Spec, left: Leaf, right: Leaf) -> Leaf:
    """The leaf of a contraction's result; raises SpaceError where an axis does not fit its label."""
    axes: dict[str, Index] = {}
    for labels, leaf in ((spec.left, left), (spec.right, right)):
        have = labelled(leaf)
        if len(have) != len(labels):
            msg = f"contraction {spec}: {leaf} has {len(have)} axes where {labels or 'none'} needs {len(labels)}"
            raise SpaceError(msg)
        for label, axis in zip(labels, have, strict=True):
            if axes.setdefault(label, axis) != axis:
                msg = f"contraction {spec} of {left} and {right}: label {label} is both {axes[label]} and {axis}"
                raise SpaceError(msg)
    fields = {leaf.base for leaf in (left, right) if leaf.is_field}
    if len(fields) != 1:
        msg = f"contraction {spec} of {left} and {right}: the operands have no field in common; cast one of them"
        raise SpaceError(msg)
    return Leaf(fields.pop(), tuple(axes[label] for label in spec.out))


def image(f: Wire, leaf: Leaf) -> Leaf:
    """The codomain of a wire map on a leaf; raises SpaceError where the leaf is not in its domain."""
    match f:
        case Same() | Scale():
            return leaf
        case Section(spec, side, datum):
            return product(spec, datum.leaf, leaf) if side == 0 else product(spec, leaf, datum.leaf)
        case Reduce(relation, at):
            end = at + len(relation.dom.axes)
            if leaf.axes[at:end] != relation.dom.axes:
                msg = f"red_R for R ⊆ {relation.dom}×{relation.cod} does not apply at axis {at} of {leaf}"
                raise SpaceError(msg)
            return Leaf(leaf.base, leaf.axes[:at] + relation.cod.axes + leaf.axes[end:])
        case Move(order):
            return Leaf(leaf.base, tuple(leaf.axes[k] for k in order))
        case Cast(field):
            return Leaf(field, leaf.axes)
        case _:
            assert_never(f)


def lifted(f: Wire, n: int, *, datum_too: bool = False) -> Wire:
    """f^X for n axes X in front; the data are shared by all of X unless they are lifted too (then Δ of a family)."""
    match f:
        case Same() | Scale() | Cast():
            return f
        case Section(spec, side, _):
            up = [True, True]
            up[side] = datum_too
            return evolve(f, spec=spec.lifted(n, left=up[0], right=up[1]))
        case Reduce(relation, at):
            return Reduce(relation, at + n)
        case Move(order):
            return Move((*range(n), *(k + n for k in order)))
        case _:
            assert_never(f)
