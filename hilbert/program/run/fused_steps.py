"""Fused steps: operations that `hilbert.program.run.fuse` makes of several steps, and that programs do not hold."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, cast, final

from attrs import frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Along, Contract, Reduce
from hilbert.program.line.step_operation import Operation
from hilbert.program.run.bound_line import BoundLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.kernels.library import Library


@final
@frozen(repr=False)
class Subtract(Operation):
    """a − b, instead of a + (−1)·b."""

    def by_entry(self, lib: Library, operands: Sequence[Leaf]) -> Kernel | None:
        """a − b."""
        return lib.subtract()

    def image(self, *operands: Leaf) -> Leaf:
        """The common leaf."""
        return operands[0]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """a − b, in place where an operand dies."""
        return lib.subtract()


@final
@frozen(repr=False)
class Quotient(Operation):
    """a / b, instead of a · (1/b): one array less."""

    product: Contract
    inverse: Operation

    def by_entry(self, lib: Library, operands: Sequence[Leaf]) -> Kernel | None:
        """a / b."""
        return lib.divide()

    def image(self, *operands: Leaf) -> Leaf:
        """The common leaf."""
        return operands[0]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The library's own kernel; where it has none, the inverse and then the product."""
        own = lib.divide()
        if own is not None:
            return own
        inverse, product = self.inverse.bind(lib, operands[1:], result).call, self.product.bind(lib, operands, result)
        return Kernel(lambda a, b: product.call(a, inverse(b)), fresh=product.fresh)


@final
@frozen(repr=False)
class AddInto(Operation):
    """(a, b) ↦ a + red_R(b), or a − red_R(b), for an injective function R, without padding; in place where a dies."""

    places: Reduce
    minus: bool = False

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of a."""
        return operands[0]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The library's own kernel; where it has none, the reduction and then the sum."""
        a, b = operands
        own = lib.add_into(cast("Any", self.places.relation), self.places.at, b, minus=self.minus)
        if own is not None:
            return own
        padded = self.places.bind(lib, [b], a).call
        add = (lib.subtract() if self.minus else lib.add()).call
        return Kernel(lambda x, y: add(x, padded(y)))


@final
@frozen(repr=False)
class Placed(Operation):
    """Inclusions along several axes, instead of an array between zeros for each of them."""

    chain: tuple[Reduce, ...]

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf that the last inclusion gives."""
        return reduce(lambda leaf, f: f.image(leaf), self.chain, operands[0])

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The library's own kernel; where it has none, one inclusion after the other."""
        own = lib.placed({f.at: cast("Any", f.relation) for f in self.chain}, result.shape)
        if own is not None:
            return own
        calls, leaf = list[Callable[[Any], Any]](), operands[0]
        for f in self.chain:
            made = f.image(leaf)
            calls.append(f.bind(lib, [leaf], made).call)
            leaf = made
        return Kernel(lambda a: reduce(lambda v, call: call(v), calls, a))


@final
@frozen(repr=False)
class Weighted(Operation):
    """The product (w, v) with a sparse matrix, instead of a gather, a product and a segment sum."""

    gather: Reduce
    product: Contract
    side: int
    sums: Reduce

    def _gathered(self, v: Leaf) -> Leaf:
        sources = self.gather.relation.T
        return Leaf(v.entry, sources.dom.axes + v.axes[len(sources.cod.axes) :])

    def image(self, *operands: Leaf) -> Leaf:
        """The segments in front of the axes of v behind those of the gather."""
        return self.sums.image(self._gathered(operands[1]))

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The library's own kernel; where it has none, the three one after the other."""
        w, v = operands
        own = lib.weighted(cast("Any", self.gather.relation.T), cast("Any", self.sums.relation), v, result.shape)
        if own is not None:
            return own
        gathered = self._gathered(v)
        f = self.gather.bind(lib, [v], gathered).call
        g = self.product.bind(lib, [w, gathered] if self.side == 0 else [gathered, w], gathered).call
        h = self.sums.bind(lib, [gathered], result).call
        if self.side == 0:
            return Kernel(lambda a, b: h(g(a, f(b))))
        return Kernel(lambda a, b: h(g(f(b), a)))


@final
@frozen(repr=False)
class Exponentials(Operation):
    """x ↦ several of log Σ exp x, softmax x and log softmax x, all of the same exponentials."""

    of: tuple[Along, ...]

    def image(self, *operands: Leaf) -> Bundle:
        """The bundle of the results."""
        return Bundle(tuple(one.image(*operands) for one in self.of))

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The library's kernel, which computes the exponentials once."""
        along, names = self.of[0], " ".join(one.name for one in self.of)
        return Kernel(lib.along(names, along.at, len(along.index.axes), operands[0]).call, fresh=False)


@final
@frozen(repr=False)
class Together(Operation):
    """The output of a line of two inputs, as one step."""

    line: Line

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of the line's output."""
        return self.line.slots[self.line.outputs[0]]

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """A kernel that runs the line."""
        bound = BoundLine(self.line, lib, [])
        return Kernel(lambda a, b: bound([a, b])[0], fresh=False)
