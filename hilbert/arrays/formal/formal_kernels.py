"""The kernels of a line whose arrays may be formal: each acts on the factors, and on plain arrays as the dense kernel.

An operation without a rule on factors (an element-wise primitive, a relation between axes of two factors) raises a
SpaceError: nothing becomes dense unless somebody asks. A formal array with one group of axes is a sum of vectors; it is
no larger than its factor and is added up where an operation needs it.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve

from hilbert.arrays.formal.factors import Factor, combine, product, real
from hilbert.arrays.formal.formal_array import Block, Formal, Memo, add, block, divided, mapped, scaled, subtract
from hilbert.arrays.formal.formal_operands import Filled, factors_of, pieces_of, sizes_of, splits
from hilbert.arrays.formal.reshaped import is_reshape, reshaped
from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Library, library
from hilbert.arrays.libraries.libraries import common_library
from hilbert.arrays.libraries.namespace import dtype_name
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.errors import SpaceError
from hilbert.index.index import Fin, Unit
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.relation import Agreement, Composite, Converse, Equality, Full, Inclusion, ProductRelation, agreement, run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.kernel import PrimitiveRow
    from hilbert.relation.relation import AnyRelation

RANKS = "αβ"
"""Labels of the rank axes of two operands; they occur in no contraction that a user writes."""


@final
class FormalKernels(Library):
    """A library beside that of the arrays; `memo` keeps results that leaves share, in each thread for its one run."""

    def __init__(self, base: Library) -> None:
        super().__init__(base.xp)
        self.base = base
        self._of_thread = threading.local()

    @property
    def memo(self) -> Memo:
        """The memo of the run in this thread."""
        try:
            found: Memo = self._of_thread.memo
        except AttributeError:
            found = self._of_thread.memo = Memo()
        return found

    def forget(self) -> None:
        """Clear the memo."""
        self.memo.clear()

    @property
    def inner(self) -> Library:
        """The library of plain arrays: a loop has no rule on factors."""
        return self.base

    def whole(self, array: Any, what: str) -> Any:
        """The plain array; raises SpaceError for a tensor that the user gave."""
        if isinstance(array, Filled):
            return array.array
        return self.settled(array, what) if isinstance(array, Formal) else array

    def copied(self) -> Callable[[Any], Any] | None:
        """The function that copies plain arrays, as their library does; formal ones are never written into."""
        copy = self.base.copied()
        return None if copy is None else lambda a: a if isinstance(a, (Formal, Filled)) else copy(a)

    def operands(self, *arrays: Any) -> tuple[Any, ...]:
        """The operands of a step: a constant filled with one number is formal beside formal arrays, plain elsewhere."""
        formal = any(isinstance(a, Formal) for a in arrays)
        return tuple((a.formal if formal else a.array) if isinstance(a, Filled) else a for a in arrays)

    # --- vector operations ---

    def add(self) -> Kernel:
        """a + b."""

        def run(a: Any, b: Any) -> Any:
            if isinstance(a, Filled) and isinstance(b, Filled):
                return a.of(a.number + b.number)
            a, b = self.operands(a, b)
            return add(a, b, self.memo)

        return Kernel(run)

    def subtract(self) -> Kernel:
        """a − b."""

        def run(a: Any, b: Any) -> Any:
            if isinstance(a, Filled) and isinstance(b, Filled):
                return a.of(a.number - b.number)
            a, b = self.operands(a, b)
            return subtract(a, b, self.memo)

        return Kernel(run)

    def scale(self, k: float, leaf: Leaf | None = None) -> Kernel:
        """k·a."""
        return Kernel(lambda a: a.of(a.number * k) if isinstance(a, Filled) else scaled(a, k))

    def cast(self, dtype: str) -> Kernel:
        """The factors in another precision."""
        cast = self.base.cast(dtype).call

        def one(array: Any) -> Any:
            return self.memo.of(("cast", dtype), (array,), cast)

        def run(a: Any) -> Any:
            (a,) = self.operands(a)
            return evolve(mapped(a, one), dtype=dtype) if isinstance(a, Formal) else cast(a)

        return Kernel(run)

    def constant(self, array: Any, like: Any) -> Any:
        """A constant, moved to where the arguments live."""
        if isinstance(array, Formal):
            return mapped(array, lambda one: self.base.constant(one, like))
        if array.ndim < 2 or any(array.strides) or not array.size or not array.flat[0]:
            return self.base.constant(array, like)
        ones = [self.base.constant(np.ones((1, n), array.dtype), like) for n in array.shape]
        filled = block(float(array.flat[0]), [(one, (k,)) for k, one in enumerate(ones)])
        return Filled(Formal(array.shape, str(array.dtype), (filled,), loose=True))

    # --- operations that need a rule ---

    def elementwise(self, rule: PrimitiveRow, params: tuple[float, ...]) -> Kernel:
        """Apply a primitive to plain arrays: factors have no rule for one, but division by one number is a scaling."""
        plain = self.base.elementwise(rule, params)
        name = rule.name

        def run(*args: Any) -> Any:
            if all(isinstance(a, Filled) for a in args):
                numbers = [np.asarray(a.number, a.formal.dtype) for a in args]
                value = NUMPY.elementwise(rule, params).call(*numbers)
                if value.dtype == numbers[0].dtype:
                    made: Filled = args[0].of(float(value))
                    return made
            if name in {"divide", "quotient"} and isinstance(args[0], Formal) and isinstance(args[1], Filled):
                return divided(args[0], args[1].number)
            args = self.operands(*args)
            return plain.call(*(self.settled(a, name) if isinstance(a, Formal) else a for a in args))

        return Kernel(run)

    def along(self, name: str, at: int, count: int, leaf: Leaf) -> Kernel:
        """Apply a function along axes of plain arrays: factors have no rule for one."""
        plain = self.base.along(name, at, count, leaf).call

        def run(*args: Any) -> Any:
            return plain(*(self.settled(a, name) if isinstance(a, Formal) else a for a in self.operands(*args)))

        return Kernel(run)

    def settled(self, a: Formal, what: str) -> Any:
        """The plain array of a sum of vectors or a loose tensor; raises SpaceError for a tensor that the user gave."""
        if a.loose or all(len(b.grouping) <= 1 for b in a.blocks):
            return dense(a)
        msg = f"{what} has no rule for formal tensors, here of rank {a.rank} on {list(a.shape)}: call .dense() first"
        raise SpaceError(msg)

    def move(self, order: tuple[int, ...]) -> Kernel:
        """The axes in another order: the factors stay where they are."""
        plain = self.base.move(order).call

        def run(a: Any) -> Any:
            (a,) = self.operands(a)
            if not isinstance(a, Formal):
                return plain(a)
            blocks = tuple(
                block(b.k, zip(b.arrays, (tuple(map(order.index, axes)) for axes in b.axes), strict=True))
                for b in a.blocks
            )
            shape = tuple(a.shape[k] for k in order)
            return evolve(a, shape=shape, blocks=blocks, dense=None if a.dense is None else plain(a.dense))

        return Kernel(run)

    def contract(self, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
        """A labelled contraction; of plain arrays, a result larger than both together stays a sum of products."""
        plain = self.base.contract(spec, left, right)
        size = sizes_of(spec.left, left) | sizes_of(spec.right, right)
        shape = tuple(size[c] for c in spec.out)
        ranks = {c: size[c] for c in spec.contracted}
        short = left.is_field and right.is_field and splits(spec) and left.size + right.size < math.prod(shape)
        sides = ((spec.left, spec.right), (spec.right, spec.left))
        widens = [bool(set(one) & set(spec.out) - set(two)) for one, two in sides]

        def run(a: Any, b: Any) -> Any:
            if spec.is_pointwise and isinstance(a, Filled) and isinstance(b, Formal):
                return scaled(b, a.number)
            if spec.is_pointwise and isinstance(b, Filled) and isinstance(a, Formal):
                return scaled(a, b.number)
            a, b = self.operands(a, b)
            formal = (isinstance(a, Formal), isinstance(b, Formal))
            if not any(formal):
                if not short:
                    return plain.call(a, b)
                made = combine(self.base, self.memo, 1.0, [real(a, spec.left), real(b, spec.right)], ranks, spec.out)
                return self._total([made], shape, loose=True)
            # an operand that is a sum of vectors stays one: its leaves may share factors
            pieces = [
                combine(
                    self.base,
                    self.memo,
                    p.k * q.k,
                    [*p.factors, *q.factors],
                    p.ranks | q.ranks,
                    spec.out,
                    lazy=not all(formal) and (p.lazy or q.lazy),
                )
                for p in pieces_of(a, spec.left, RANKS[0], left)
                for q in pieces_of(b, spec.right, RANKS[1], right)
            ]
            # axes that a plain array brings make a value of the program, no tensor that the user gave
            loose = all(x.loose for x in (a, b) if isinstance(x, Formal))
            loose = loose or any(w and not f for w, f in zip(widens, formal, strict=True))
            return self._total(pieces, shape, loose=loose)

        return Kernel(run)

    def reduce(self, relation: AnyRelation, at: int, leaf: Leaf) -> Kernel:
        """red_R: on the factor that has the axes, or on each of several where R splits up."""
        plain = self.base.reduce(relation, at, leaf)
        steps = self._steps(relation, at, leaf)
        width = len(relation.dom.axes)
        before, after = leaf.axes[:at], leaf.axes[at + width :]
        shape = tuple(axis.size for axis in (*before, *relation.cod.axes, *after))

        def run(a: Any) -> Any:
            (a,) = self.operands(a)
            if not isinstance(a, Formal):
                return plain.call(a)
            if isinstance(relation, Equality):
                return a
            if steps:
                for step in steps:
                    a = step.call(a)
                return a
            pieces = [self._reduced(b, relation, at, a) for b in a.blocks]
            pieces += [] if a.dense is None else [plain.call(a.dense)]
            return self._total(pieces, shape, loose=a.loose)

        return Kernel(run)

    def diagonal(self, first: int, second: int, leaf: Leaf) -> Kernel:
        """Take the diagonal by a reduction: its relation says where two axes agree."""
        rest = tuple(k for k in range(len(leaf.axes)) if k not in (first, second))
        axis = leaf.axes[first]
        turned = Leaf(leaf.entry, tuple(leaf.axes[k] for k in (first, second, *rest)))
        front = self.move((first, second, *rest)).call
        agree = self.reduce(agreement("ii->i", axis * axis, axis), 0, turned).call
        back = self.move((*range(1, len(rest) + 1), 0)).call
        return Kernel(lambda a: back(agree(front(a))))

    def _steps(self, relation: AnyRelation, at: int, leaf: Leaf) -> tuple[Kernel, ...]:
        """Reductions one after the other: R × S axis by axis, S ∘ R; none where the relation is one of its own."""
        parts: tuple[tuple[AnyRelation, int], ...]
        match relation:
            case ProductRelation(left, right):
                parts = ((right, at + len(left.dom.axes)), (left, at))
            case Composite(outer, inner_):
                parts = ((inner_, at), (outer, at))
            case Inclusion(Unit(), Y, offset) if len(Y.axes) > 1:  # ι_x, axis by axis
                found = zip(Y.axes, np.unravel_index(offset, Y.shape), strict=True)
                parts = tuple((run(Unit(), axis, int(k)), at) for axis, k in found)[::-1]
            case Converse(Inclusion(Unit(), X, offset)) if len(X.axes) > 1:  # π_x
                found = zip(X.axes, np.unravel_index(offset, X.shape), strict=True)
                parts = tuple((run(Unit(), axis, int(k)).T, at + n) for n, (axis, k) in enumerate(found))[::-1]
            case _:  # every other form is one step
                return ()
        steps: list[Kernel] = []
        for part, place in parts:
            steps.append(self.reduce(part, place, leaf))
            end = place + len(part.dom.axes)
            leaf = Leaf(leaf.entry, leaf.axes[:place] + part.cod.axes + leaf.axes[end:])
        return tuple(steps)

    def _reduced(self, b: Block, relation: AnyRelation, at: int, whole: Formal) -> Any:
        """red_R of one block, whose axes from `at` on are those of R's domain."""
        labels = ALPHABET[: len(whole.shape)]
        width = len(relation.dom.axes)
        before, x, after = labels[:at], labels[at : at + width], labels[at + width :]
        y = ALPHABET[len(labels) : len(labels) + len(relation.cod.axes)]
        factors = [real(array, RANKS[0] + "".join(labels[k] for k in axes)) for array, axes in factors_of(b)]
        if isinstance(relation, Agreement):
            return self._agreeing(b, relation, at, whole)
        holders = [f for f in factors if set(f.labels) & set(x)]
        ranks, lazy = {RANKS[0]: b.rank}, len(b.grouping) <= 1
        out = before + y + after
        if isinstance(relation, Full) or not x:
            ones = isinstance(relation, Full) and not y
            made = [] if ones else [Factor(self._image(relation, factors[0]), y, entry=factors[0].entry)]
            return combine(self.base, self.memo, b.k, [*factors, *made], ranks, out, lazy=lazy)
        if len(holders) != 1 and is_reshape(relation):
            return reshaped(self.base, self.memo, b, at, relation, whole.shape)
        if len(holders) != 1:
            msg = (
                f"red_R for R ⊆ {relation.dom}×{relation.cod} takes axes of {len(holders)} factors of a formal tensor "
                f"on {list(whole.shape)}: it does not split up; call .dense() first"
            )
            raise SpaceError(msg)
        (f,) = holders
        rest = "".join(c for c in f.labels[1:] if c not in x)
        order = tuple(map(f.labels.index, RANKS[0] + x + rest))

        def run(array: Any) -> Any:
            array = self.xp.permute_dims(array, order)
            axes = tuple(Fin.of(n) for n in array.shape[1 + width :])
            leaf = Leaf(f.entry, (Fin.of(b.rank), *relation.dom.axes, *axes))
            return self.base.reduce(relation, 1, leaf).call(array)

        image = self.memo.of(("reduce", relation, order), (f.array,), run)
        new = real(image, RANKS[0] + y + rest)
        factors = [new if g is f else g for g in factors]
        return combine(self.base, self.memo, b.k, factors, ranks, out, lazy=lazy)

    def _agreeing(self, b: Block, relation: Agreement[Any, Any], at: int, whole: Formal) -> Any:
        """Reduce by sharing labels: coordinates that agree get one label, which is summed if the result lacks it."""
        source, target = relation.source, relation.target
        if len(set(target)) < len(target):
            msg = f"the relation {relation} puts a formal tensor on a diagonal: call .dense() first"
            raise SpaceError(msg)
        free = "".join(c for c in ALPHABET if c not in source + target)
        width = len(source)
        before, after = free[:at], free[at : len(whole.shape) - width]
        labels = before + source + after
        xp = self.xp
        factors = [real(array, RANKS[0] + "".join(labels[k] for k in axes)) for array, axes in factors_of(b)]
        for c, axis in zip(target, relation.cod.axes, strict=True):
            if c not in source:
                ones = xp.broadcast_to(xp.ones((1,), dtype=factors[0].array.dtype), (axis.size,))
                factors.append(real(ones, c))
        out = before + target + after
        return combine(self.base, self.memo, b.k, factors, {RANKS[0]: b.rank}, out, lazy=len(b.grouping) <= 1)

    def _image(self, relation: AnyRelation, like: Factor) -> Any:
        """red_R of 1 for R ⊆ 𝟏×Y; of a full relation the ones, because the operand was summed before."""
        xp = self.xp
        if isinstance(relation, Full):
            one = xp.ones((1,) * len(relation.cod.axes), dtype=like.array.dtype)
            return xp.broadcast_to(one, relation.cod.shape)
        leaf = Leaf(like.entry)
        return self.base.reduce(relation, 0, leaf).call(xp.ones((), dtype=like.array.dtype))

    def _total(self, pieces: Sequence[Any], shape: tuple[int, ...], *, loose: bool) -> Any:
        """The sum of blocks and arrays."""
        total: Any = None
        for piece in pieces:
            if isinstance(piece, Block):
                piece = Formal(shape, dtype_name(piece.arrays[0]), (piece,), loose=loose)  # noqa: PLW2901 - the same
            total = piece if total is None else add(total, piece, self.memo)
        return total


def dense(a: Any) -> Any:
    """The plain array: all blocks multiplied out and added up; a plain array is returned as it is."""
    if not isinstance(a, Formal):
        return a
    labels = ALPHABET[: len(a.shape)]
    total = a.dense
    for b in a.blocks:
        lib = library(b.arrays[0])
        factors = [real(array, RANKS[0] + "".join(labels[k] for k in axes)) for array, axes in factors_of(b)]
        array = product(lib, factors, labels)
        array = array if isinstance(b.k, float) and b.k == 1.0 else array * b.k
        total = array if total is None else total + array
    return total


def inner(a: Any, b: Any) -> float:
    """a ⊙ b by the Gram matrices of the factors; a plain operand is contracted with the factors of the other."""
    labels = ALPHABET[: len(a.shape)]
    leaf = Leaf(Entry(dtype_name(a)), tuple(Fin.of(n) for n in a.shape))
    kernels = FormalKernels(common_library((a, b)))
    return float(kernels.contract(Spec.of(labels, labels, ""), leaf, leaf).call(a, b))


def finished(a: Any) -> Any:
    """A result as the user gets it: formal arrays are kept from now on."""
    if isinstance(a, Filled):
        return a.array
    return evolve(a, loose=False) if isinstance(a, Formal) and a.loose else a
