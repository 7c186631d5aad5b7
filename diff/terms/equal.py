"""Functions and derivatives compared by contents: value numbering of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from diff.terms.lower import program
from hilbert import Unit
from hilbert.index.spec import Spec
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack
from hilbert.program.line.constant import Const, signed
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Cast, Contract, Literal, Move, Reduce, Scale
from hilbert.relation import Full
from linmap.net.equal import MODULUS, const_label, filling_of, net_label, relation_label

if TYPE_CHECKING:
    from collections.abc import Hashable

    from diff.derive.affine import AnyLinearization
    from diff.terms.program import AnyProgram
    from hilbert.index.leaf import Leaf
    from hilbert.map.map import AnyMap
    from hilbert.program.line.line import Line
    from linmap.net.equal import Numbering
    from linmap.term.datum import Datum


Value: TypeAlias = tuple[float, int]
"""A number times what has a number of 128 bits: products with constants are compared by the product of these."""


PRIME = 2**127 - 1
"""Products of what is drawn are taken modulo this."""


def numbers(p: AnyProgram | Line, numbering: Numbering) -> list[Value]:
    """The number of every slot's value.

    A sum does not depend on the order and the brackets of its operands, and neither does a product that sums over
    nothing; numbers, and arrays filled with one, are taken out of products, linear maps and repetitions.
    """
    products: dict[int, int] = {}
    values: list[Value] = [(1.0, numbering.alone(("argument", k))) for k in range(p.arity)]
    for to, step in enumerate(p.steps, p.arity):
        args, leaf = [values[k] for k in step.args], p.slots[to]
        match step.operation:
            case Literal(value):
                filling = filling_of(value)
                key = ("constant", const_label(value)) if filling is None else _ones(leaf)
                values.append((1.0 if filling is None else filling, numbering.alone(key)))
            case Add():
                values.append((1.0, sum(_whole(v, numbering) for v in args) % MODULUS))
            case Scale(k):
                values.append((k * args[0][0], args[0][1]))
            case Contract(spec):
                number = args[0][0] * args[1][0]
                for other, (_, n) in ((1, args[0]), (0, args[1])):
                    one = p.slots[step.args[1 - other]]
                    same = p.slots[step.args[other]] == leaf and spec.out == (spec.right if other else spec.left)
                    if same and n == numbering.alone(_ones(one)):
                        values.append((number, args[other][1]))
                        break
                else:
                    spec, origins = _unmoved(p, step.args, spec)
                    ns = values[origins[0]][1], values[origins[1]][1]
                    key = (Contract(spec), *ns)
                    factors = None if spec.contracted else _factors(spec, ns, products, numbering)
                    n = numbering.alone(key if factors is None else ("·", leaf, factors))
                    if factors is not None:
                        products[n] = factors
                    values.append((number, n))
            case Reduce(relation, at):
                k, n = args[0]
                repeats = isinstance(relation, Full) and isinstance(relation.dom, Unit)
                of_ones = repeats and n == numbering.alone(_ones(p.slots[step.args[0]]))
                values.append((k, numbering.alone(_ones(leaf) if of_ones else (relation_label(relation), at, n))))
            case Pack():
                values.append((1.0, numbering.alone(("pack", *(_whole(v, numbering) % MODULUS for v in args)))))
            case Loop(body, index, states, shared, reverse, _):  # to compute again changes no value
                made = _ends(body, numbering)
                values.append((1.0, numbering.alone(("loop", index, states, shared, reverse, made, args[0][1]))))
            case Cond() as cond:
                ends = tuple(_ends(line, numbering) for line in cond.lines)
                values.append((1.0, numbering.alone(("where", ends, args[0][1]))))
            case While(body, count, search, most):
                made = _ends(body, numbering)
                values.append((1.0, numbering.alone(("while", count, search, most, made, args[0][1]))))
            case Implicit(body, count, is_root, tolerance, most, lanes):
                made = _ends(body, numbering)
                key = ("equation", count, is_root, tolerance, most, lanes, made, args[0][1])
                values.append((1.0, numbering.alone(key)))
            case Solve(line, count, many, lanes):
                made = _ends(line, numbering)
                values.append((1.0, numbering.alone(("system", count, many, lanes, made, args[0][1]))))
            case Move(order):
                values.append((args[0][0], numbering.moved(order, args[0][1])))
            case Cast() | External() as linear:
                values.append((args[0][0], numbering.alone((linear, args[0][1]))))
            case operation:  # element by element
                values.append((1.0, numbering.alone((operation, *((signed(k), n) for k, n in args)))))
    return values


def _unmoved(p: AnyProgram | Line, args: tuple[int, ...], spec: Spec) -> tuple[Spec, list[int]]:
    """The contraction on the arrays whose axes were moved for it: Aᵀ⋆x is one on A."""
    labels, origins = [spec.left, spec.right], list(args)
    for side in range(2):
        while origins[side] >= p.arity and isinstance((step := p.steps[origins[side] - p.arity]).operation, Move):
            order, have = step.operation.order, labels[side]
            place = [order.index(axis) for axis in range(len(order))]
            labels[side] = "".join(have[at] for at in place) + have[len(order) :]
            (origins[side],) = step.args
    return (spec if origins == [*args] else Spec.of(labels[0], labels[1], spec.out)), origins


def _ends(line: Line, numbering: Numbering) -> tuple[int, ...]:
    """The numbers of the results of a line that a step holds."""
    inner = numbers(line, numbering)
    return tuple(_whole(inner[k], numbering) % MODULUS for k in line.outputs)


def _factors(spec: Spec, operands: tuple[int, int], products: dict[int, int], numbering: Numbering) -> int:
    """The product of what is drawn for the factors of a product, each with the axes of the result that it has."""
    total = 1
    for labels, n in zip((spec.left, spec.right), operands, strict=True):
        if n in products and labels in ("", spec.out):
            total = total * products[n] % PRIME
        else:
            total = total * numbering.alone(("factor", n, tuple(map(spec.out.index, labels)))) % PRIME
    return total


def _ones(leaf: Leaf) -> Hashable:
    return "ones", leaf


def _whole(v: Value, numbering: Numbering) -> int:
    """The number of k·x."""
    k, n = v
    if k in {1.0, -1.0}:
        return n if k == 1.0 else -n
    return numbering.alone(("·", signed(k), n))


def program_label(f: AnyMap, numbering: Numbering) -> Hashable:
    """The contents of a function."""
    p = program(f)
    values = numbers(p, numbering)
    return "function", p.dom, p.cod, tuple(_whole(values[k], numbering) % MODULUS for k in p.outputs)


def linearization_label(f: AnyLinearization, numbering: Numbering) -> Hashable:
    """The contents of a linear map in the point."""
    values = numbers(f.program, numbering)

    def datum(d: Datum) -> Hashable:
        return const_label(d) if isinstance(d, Const) else _whole(values[d.slot], numbering) % MODULUS

    def number_of(d: Datum) -> float | None:
        if isinstance(d, Const):
            return filling_of(d)
        k, n = values[d.slot]
        return k if n == numbering.alone(_ones(f.program.slots[d.slot])) else None

    return "linearization", f.point, net_label(f.body, numbering, datum, number_of)
