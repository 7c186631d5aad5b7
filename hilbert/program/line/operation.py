"""The operations of a straight line on one or two arrays, as data.

A linear operation on one array also says what its adjoint is. Primitives are operations too: see `diff.terms.nodes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.compiled.operations.along_axes import along_axes
from hilbert.compiled.operations.contractions import contracted
from hilbert.compiled.operations.relation_loops import reduced
from hilbert.errors import SpaceError
from hilbert.index.leaf import Bundle, Entry, Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.constant import Const, signed
from hilbert.program.line.step_operation import Operation
from hilbert.relation.relation import AnyRelation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Array, Loops
    from hilbert.index.index import Index
    from hilbert.program.line.external import External


@final
@frozen(repr=False)
class Literal(Operation):
    """A constant; it has no operands."""

    value: Const

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of the constant."""
        return self.value.leaf

    def loops(self, to: Loops, operands: Sequence[Any], result: Leaf) -> Any:
        """The numbers of the constant, in memory unless all are one; of a bundle those of each array."""
        if isinstance(result, Bundle):
            return tuple(to.of(leaf, to.constant(a)) for leaf, a in zip(result.leaves, self.value.array, strict=True))
        if self.value.number is not None and result.size:
            return to.view(result, lambda _: to.number(self.value.array.flat[0].item(), result.dtype))
        return to.of(result, to.constant(np.broadcast_to(self.value.array, result.shape)))

    def lifted(self, n: int) -> Literal:
        """The constant itself, which does not vary."""
        return self


@final
@frozen(repr=False)
class Captured(Operation):
    """A slot of the line around the body that is being traced; an input of the body when it is complete."""

    slot: int


# --- linear operations on one array ---


@final
@frozen(repr=False)
class Scale(Operation):
    """(k ·) for a number k; 0 and −0 are two."""

    k: float = field(eq=signed)

    def by_entry(self, lib: Library, operands: Sequence[Leaf]) -> Kernel | None:
        """k · a."""
        return lib.scale(self.k, operands[0])

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of the operand."""
        return operands[0]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """k · a."""
        return lib.scale(self.k, operands[0])

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """k · a."""
        return to.each(result, lambda at: self.k * operands[0].at(at))

    def lifted(self, n: int) -> Scale:
        """(k ·)^X = (k ·)."""
        return self

    def adjoint(self, source: Leaf) -> Scale:
        """(k ·)* = (k ·)."""
        return self


@final
@frozen(repr=False, cache_hash=True)
class Reduce(Operation):
    """red_R on the axes from `at` on."""

    relation: AnyRelation
    at: int

    def image(self, *operands: Leaf) -> Leaf:
        """The codomain's axes in place of the domain's."""
        (leaf,), r = operands, self.relation
        end = self.at + len(r.dom.axes)
        if leaf.axes[self.at : end] != r.dom.axes:
            msg = f"red_R for R ⊆ {r.dom}×{r.cod} does not apply at axis {self.at} of {leaf}"
            raise SpaceError(msg)
        return Leaf(leaf.entry, leaf.axes[: self.at] + r.cod.axes + leaf.axes[end:])

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The relation's own kernel."""
        return lib.reduce(self.relation, self.at, operands[0])

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """The loops of the relation's form."""
        return reduced(to, self.relation, self.at, operands[0])

    def lifted(self, n: int) -> Reduce:
        """(red_R)^X = red_{id×R}: the axes of R come later."""
        return Reduce(self.relation, self.at + n)

    def adjoint(self, source: Leaf) -> Reduce:
        """red_R* = red_{Rᵀ}."""
        return Reduce(self.relation.T, self.at)


@final
@frozen(repr=False)
class Move(Operation):
    """The axes in another order: the transposition part of a unitary map."""

    order: tuple[int, ...]

    def image(self, *operands: Leaf) -> Leaf:
        """The axes in that order."""
        return Leaf(operands[0].entry, tuple(operands[0].axes[k] for k in self.order))

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """A kernel for the view."""
        return lib.move(self.order)

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """A view."""
        return to.view(result, lambda at: operands[0].at(tuple(at[self.order.index(k)] for k in range(len(at)))))

    def lifted(self, n: int) -> Move:
        """The lifted axes stay in front."""
        return Move((*range(n), *(k + n for k in self.order)))

    def adjoint(self, source: Leaf) -> Move:
        """Unitary: f* = f⁻¹."""
        return Move(tuple(sorted(range(len(self.order)), key=self.order.__getitem__)))


@final
@frozen(repr=False)
class Cast(Operation):
    """The same numbers in another precision."""

    entry: Entry

    def by_entry(self, lib: Library, operands: Sequence[Leaf]) -> Kernel | None:
        """The kernel of the conversion."""
        return lib.cast(self.entry.dtype)

    def image(self, *operands: Leaf) -> Leaf:
        """The same axes, the entries in the other precision."""
        return Leaf(self.entry, operands[0].axes)

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The kernel of the conversion."""
        return lib.cast(self.entry.dtype)

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """The conversion of each entry."""
        return to.each(result, lambda at: to.pool.cast(operands[0].at(at), result.dtype))

    def lifted(self, n: int) -> Cast:
        """The same conversion."""
        return self

    def adjoint(self, source: Leaf) -> Cast:
        """Back to the precision of the source."""
        return Cast(source.entry)


@final
@frozen(repr=False)
class Keep(Operation):
    """The same array: a barrier that no contraction is moved across (`hilbert.program.planning.contraction_plan`)."""

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of the operand."""
        return operands[0]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The array itself."""
        return Kernel(lambda a: a, fresh=False)

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """The array itself."""
        return operands[0]

    def lifted(self, n: int) -> Keep:
        """The same barrier."""
        return self


# --- functions along axes ---


@final
@frozen(repr=False)
class Along(Operation):
    """A function of the entries along the axes of X, from axis `at` on; the entries along other axes are side by side.

    `name` is one of those of `FOUND`, elements of X, and of `COMPUTED`, numbers; see
    `hilbert.arrays.kernels.over_axis`.
    """

    name: str
    index: Index
    at: int

    def image(self, *operands: Leaf) -> Leaf:
        """Elements of X or numbers, one for each entry or one for all; raises SpaceError for a maximum of none."""
        (leaf,), n = operands, len(self.index.axes)
        if leaf.axes[self.at : self.at + n] != self.index.axes or not leaf.is_field:
            msg = f"{self.name} along {self.index} does not apply at axis {self.at} of {leaf}"
            raise SpaceError(msg)
        if self.name in {"argmax", "argmin"} and not self.index.size:
            msg = f"{self.name} along {self.index} is not defined: it has no elements"
            raise SpaceError(msg)
        entry = Entry("int64", self.index) if self.name in FOUND else leaf.entry
        one = self.name in {"argmax", "argmin", "logsumexp"}
        return Leaf(entry, leaf.axes[: self.at] + leaf.axes[self.at + n :] if one else leaf.axes)

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The library's kernel."""
        return lib.along(self.name, self.at, len(self.index.axes), operands[0])

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """The loops of the function."""
        return along_axes(to, self.name, self.at, len(self.index.axes), operands[0], result)

    def lifted(self, n: int) -> Along:
        """The axes of X come later."""
        return Along(self.name, self.index, self.at + n)


FOUND, COMPUTED = ("argmax", "argmin", "argsort"), ("logsumexp", "softmax", "log_softmax")
"""The functions whose results are elements of X, found along its axes, and those that compute numbers."""

# --- operations on two arrays ---


@final
@frozen(repr=False, cache_hash=True)
class Contract(Operation):
    """A labelled contraction of two arrays."""

    spec: Spec

    def by_entry(self, lib: Library, operands: Sequence[Leaf]) -> Kernel | None:
        """The kernel of a product of entries, or with a number; None for conditions, which choose."""
        are_along = {self.spec.left, self.spec.right} <= {"", self.spec.out}
        return lib.multiply() if are_along and all(leaf.is_field for leaf in operands) else None

    def image(self, *operands: Leaf) -> Leaf:
        """The axes of the result's labels."""
        left, right = operands
        return product(self.spec, left, right)

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The planned contraction."""
        return lib.contract(self.spec, operands[0], operands[1])

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """A total of products."""
        return contracted(to, self.spec, operands[0], operands[1], result)

    def lifted(self, n: int) -> Contract:
        """The contraction with n more labels, which both operands and the result have."""
        return Contract(self.spec.lifted(n, left=True, right=True))

    def partly(self, n: int, up: tuple[bool, ...]) -> Contract:
        """Lift the operands marked in `up`; the others get no axis."""
        return Contract(self.spec.lifted(n, left=up[0], right=up[1]))


@final
@frozen(repr=False)
class Add(Operation):
    """a + b."""

    def by_entry(self, lib: Library, operands: Sequence[Leaf]) -> Kernel | None:
        """a + b."""
        return lib.add()

    def image(self, *operands: Leaf) -> Leaf:
        """The common leaf."""
        a, b = operands
        if a != b:
            msg = f"cannot add {a} and {b}: both must be in one space"
            raise SpaceError(msg)
        return a

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """a + b, in place where an operand dies."""
        return lib.add()

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """a + b."""
        a, b = operands
        return to.each(result, lambda at: a.at(at) + b.at(at))

    def lifted(self, n: int) -> Add:
        """The same sum."""
        return self


def labelled(leaf: Leaf) -> tuple[Index, ...]:
    """The axes that the labels of a contraction's operand stand for; an element of X has those of X at the end."""
    index = leaf.entry.index
    return leaf.axes if index is None else leaf.axes + index.axes


def product(spec: Spec, left: Leaf, right: Leaf, written: tuple[str, ...] = ()) -> Leaf:
    """The leaf of a contraction's result; raises SpaceError where an axis does not fit its label.

    `written` are the labels as a user wrote them, for messages: those of the spec are canonical.
    """
    if left is right and spec.left == spec.right == spec.out and len(spec.out) == len(left.axes) and left.is_field:
        return left  # entry by entry, most often
    first, second = labelled(left), labelled(right)
    if len(first) != len(spec.left) or len(second) != len(spec.right):
        raise SpaceError(_misfit(spec, left, right, written))
    for i, j in spec.met:
        if first[i] is not second[j] and first[i] != second[j]:
            raise SpaceError(_misfit(spec, left, right, written))
    entry = left.entry if left.is_field else right.entry
    if not entry.is_field or (right.is_field and right.entry != entry):
        raise SpaceError(_misfit(spec, left, right, written))
    both = first + second
    made = tuple([both[k] for k in spec.taken])
    for leaf in (left, right):
        if leaf.axes == made and leaf.entry == entry:
            return leaf
    return Leaf(entry, made)


def _misfit(spec: Spec, left: Leaf, right: Leaf, written: tuple[str, ...]) -> str:
    """The message for two leaves that cannot be contracted."""
    names = written or (spec.left, spec.right, spec.out)
    text = f"contraction {names[0]},{names[1]}->{names[2]}"
    axes: dict[str, Index] = {}
    for labels, leaf in zip(names, (left, right), strict=False):
        have = labelled(leaf)
        if len(have) != len(labels):
            return f"{text}: {leaf} has {len(have)} axes where {labels or 'none'} needs {len(labels)}"
        for label, axis in zip(labels, have, strict=True):
            if axes.setdefault(label, axis) != axis:
                return f"{text} of {left} and {right}: label {label} is both {axes[label]} and {axis}"
    return f"{text} of {left} and {right}: the operands have no field in common; cast one of them"


Unary: TypeAlias = "Scale | Reduce | Move | Cast | External"
"""Linear operations on one array."""
Builtin: TypeAlias = "Literal | Unary | Along | Keep | Contract | Add"
"""The operations that programs are made of, beside primitives, operations of users, and control flow."""
