"""Functions and derivatives compared by contents: value numbering of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never, final

from diff.terms.elementwise import Elementwise
from diff.terms.lower import program
from diff.terms.user_operation import Custom
from hilbert import Unit
from hilbert.index.spec import Spec
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.constant import Const, signed
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal, Move, Reduce, Scale
from hilbert.relation import Full
from linmap.net.equal import MODULUS, const_label, filling_of, net_label, relation_label

if TYPE_CHECKING:
    from collections.abc import Hashable

    from diff.terms.linearization import AnyLinearization
    from diff.terms.program import AnyProgram, Operation
    from hilbert.index.leaf import Leaf
    from hilbert.map.map import AnyMap
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line
    from linmap.net.equal import Numbering
    from linmap.term.datum import Datum


Value: TypeAlias = tuple[float, int]
"""A number times a value known by 128 bits: products with constants are compared by the products of these."""


PRIME = 2**127 - 1
"""The modulus of products of numbers that are drawn."""


@final
class Values:
    """The number of every slot's value.

    A sum does not depend on the order and the brackets of its operands, and neither does a product that sums over
    nothing; numbers, and arrays filled with one, are taken out of products, linear maps and repetitions.
    """

    def __init__(self, p: AnyProgram | Line, numbering: Numbering) -> None:
        self.p, self.alone, self.moved = p, numbering.alone, numbering.moved
        self.numbering = numbering
        self.products: dict[int, int] = {}  # of the number of a product, the product of its factors
        self.values: list[Value] = [(1.0, self.alone(("argument", k))) for k in range(p.arity)]
        for step, leaf in zip(p.steps, p.slots[p.arity :], strict=True):
            self.values.append(self._of_step(step.operation, step.args, leaf))

    def whole(self, slot: int) -> int:
        """The number of a slot's value, its factor in it."""
        return _whole(self.values[slot], self.numbering) % MODULUS

    def factor_of_ones(self, slot: int) -> float | None:
        """k for a slot with k in every entry; None for others."""
        k, n = self.values[slot]
        return k if n == self._ones(self.p.slots[slot]) else None

    def _of_step(self, operation: Operation, args: tuple[int, ...], leaf: Leaf) -> Value:
        given = [self.values[k] for k in args]
        match operation:
            case Literal(value):
                filling = filling_of(value)
                if filling is None:
                    return 1.0, self.alone(("constant", const_label(value)))
                return filling, self._ones(leaf)
            case Add():
                return 1.0, sum(_whole(v, self.numbering) for v in given) % MODULUS
            case Scale(k):
                ((factor, n),) = given
                return k * factor, n
            case Contract(spec):
                return self._product(spec, args, leaf)
            case Reduce(relation, at):
                ((factor, n),) = given
                repeats = isinstance(relation, Full) and isinstance(relation.dom, Unit)
                if repeats and n == self._ones(self.p.slots[args[0]]):
                    return factor, self._ones(leaf)
                return factor, self.alone((relation_label(relation), at, n))
            case Move(order):
                ((factor, n),) = given
                return factor, self.moved(order, n)
            case Cast() | External() as linear:
                ((factor, n),) = given
                return factor, self.alone((linear, n))
            case Pack():
                return 1.0, self.alone(("pack", *map(self.whole, args)))
            case Loop() | Cond() | While() | Implicit() | Solve() as holds:
                ((_, n),) = given
                return 1.0, self.alone((*self._held(holds), n))
            case Elementwise() | Along() | Keep() | Unpack() | Choose() | AnyLane() | Fill() | Custom():
                return 1.0, self.alone((operation, *((signed(k), n) for k, n in given)))  # no factor is taken out
            case _:
                assert_never(operation)

    def _ones(self, leaf: Leaf) -> int:
        """The number of the array of ones."""
        return self.alone(("ones", leaf))

    def _product(self, spec: Spec, args: tuple[int, ...], leaf: Leaf) -> Value:
        """u ⋄ v: v where u is ones along axes that v has; a product of factors in any order where it sums nothing."""
        (k, m), (l, n) = (self.values[a] for a in args)
        left, right = (self.p.slots[a] for a in args)
        if right == leaf and spec.out == spec.right and m == self._ones(left):
            return k * l, n
        if left == leaf and spec.out == spec.left and n == self._ones(right):
            return k * l, m
        spec, origins = self._unmoved(spec, args)
        m, n = (self.values[a][1] for a in origins)
        if spec.contracted:
            return k * l, self.alone((Contract(spec), m, n))
        factors = self._factors(spec.left, spec.out, m) * self._factors(spec.right, spec.out, n) % PRIME
        number = self.alone(("·", leaf, factors))
        self.products[number] = factors
        return k * l, number

    def _factors(self, labels: str, out: str, n: int) -> int:
        """The product of the numbers of an operand's factors, each with the axes of the result that it has."""
        if n in self.products and labels in ("", out):
            return self.products[n]
        return self.alone(("factor", n, tuple(map(out.index, labels))))

    def _unmoved(self, spec: Spec, args: tuple[int, ...]) -> tuple[Spec, tuple[int, ...]]:
        """The contraction on the arrays whose axes were moved for it: Aᵀ⋆x is one on A."""
        left, u = self._origin(spec.left, args[0])
        right, v = self._origin(spec.right, args[1])
        return (spec if (u, v) == args else Spec.of(left, right, spec.out)), (u, v)

    def _origin(self, labels: str, slot: int) -> tuple[str, int]:
        """The array whose axes were moved to a slot's, and its labels; the slot itself for another step's result."""
        p = self.p
        while slot >= p.arity and isinstance((step := p.steps[slot - p.arity]).operation, Move):
            order = step.operation.order
            labels = "".join(labels[order.index(axis)] for axis in range(len(order))) + labels[len(order) :]
            (slot,) = step.args
        return labels, slot

    def _held(self, f: Flow) -> tuple[Hashable, ...]:
        """A step of control flow, the numbers of their results in the place of the lines that it holds."""
        match f:
            case Loop(body, index, states, shared, reverse, _):  # to compute again changes no value
                return "loop", index, states, shared, reverse, self._ends(body)
            case Cond():
                return "where", tuple(map(self._ends, f.lines))
            case While(body, count, search, most):
                return "while", count, search, most, self._ends(body)
            case Implicit(body, count, is_root, tolerance, most, lanes):
                return "equation", count, is_root, tolerance, most, lanes, self._ends(body)
            case Solve(line, count, many, lanes, by):
                return "system", count, many, lanes, by, self._ends(line)
            case never:
                assert_never(never)

    def _ends(self, line: Line) -> tuple[int, ...]:
        """The numbers of the results of a line that a step holds."""
        return tuple(map(Values(line, self.numbering).whole, line.outputs))


def _whole(v: Value, numbering: Numbering) -> int:
    """The number of k·x."""
    k, n = v
    if k in {1.0, -1.0}:
        return n if k == 1.0 else -n
    return numbering.alone(("·", signed(k), n))


def program_label(f: AnyMap, numbering: Numbering) -> Hashable:
    """The contents of a function."""
    p = program(f)
    return "function", p.dom, p.cod, tuple(map(Values(p, numbering).whole, p.outputs))


def linearization_label(f: AnyLinearization, numbering: Numbering) -> Hashable:
    """The contents of a linear map in the point."""
    values = Values(f.program, numbering)

    def datum(d: Datum) -> Hashable:
        return const_label(d) if isinstance(d, Const) else values.whole(d.slot)

    def number_of(d: Datum) -> float | None:
        return filling_of(d) if isinstance(d, Const) else values.factor_of_ones(d.slot)

    return "linearization", f.point, net_label(f.body, numbering, datum, number_of)
