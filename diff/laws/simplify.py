"""Derivatives simplified: the laws of nets, and (a·) • (b·) = (a·b ·) with the product as one more step of the program.

>>> from diff import derivative, log, sin
>>> from linmap import simplify
>>> print(derivative(log @ sin))
(1/sin x ·) • (cos x ·)
>>> print(simplify(derivative(log @ sin)))
(cos x / sin x ·)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from attrs import evolve

from diff.terms.linearization import AnyLinearization, Linearization
from diff.terms.program import AnyProgram, Program
from hilbert.program.line import operation
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const
from linmap.laws import Rewriting
from linmap.laws.engine.section_data import Bench, Constants
from linmap.laws.laws.nets import simplify_net
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.net import Arc, Net, refs

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec
    from hilbert.program.line.line import Line
    from linmap.term.datum import Datum


@final
class ProgramBench(Bench):
    """Data that are slots of a program: a product is a step, where it costs no more than the arc that it saves."""

    def __init__(self, p: AnyProgram) -> None:
        self.p = p
        self.builder = Builder(p.slots[: p.arity])
        self.where = self.builder.inline(p.line, range(p.arity))
        self.known = Constants()

    def slot(self, datum: Datum) -> int:
        """The slot of a datum; a constant gets one."""
        return self.builder.literal(datum) if isinstance(datum, Const) else datum.slot

    def number(self, datum: Datum) -> float | None:
        """The number of a constant, or of a slot that is filled with one number."""
        return self.known.number(datum) if isinstance(datum, Const) else self.builder.filling(self.slot(datum))

    def product(self, spec: Spec, u: Datum, v: Datum, flow: Leaf) -> Datum | None:
        """The contraction as one more step of the program, if it sums nothing and is no larger than the wire."""
        leaf = operation.product(spec, u.leaf, v.leaf)
        if spec.contracted or leaf.size > flow.size:
            return self.known.product(spec, u, v, flow)
        return Ref(self.builder.contract(spec, self.slot(u), self.slot(v)), leaf)

    def scaled(self, k: float, datum: Datum) -> Datum | None:
        """k times a datum, if that is a constant: another would be one more step."""
        return self.known.scaled(k, datum)

    def total(self, u: Datum, v: Datum, *orders: tuple[int, ...]) -> Datum | None:
        """The sum of two data, if both are constants."""
        return self.known.total(u, v, *orders)

    def line(self, data: list[int]) -> Line:
        """The program's line, pruned to its outputs and these slots, which come after the outputs."""
        return self.builder.line([self.where[k] for k in self.p.outputs] + data)


def simplify_linearization(f: AnyLinearization, steps: list[Rewriting] | None = None) -> AnyLinearization:
    """The same linear map in the point, with fewer arcs; the same object if no law applies."""
    bench = ProgramBench(f.program)

    def note(law: str, k: int, before: Net, after: Net) -> None:
        if steps is not None:
            steps.append(
                Rewriting(law, (k,) if k >= 0 else (), _linearization(bench, before), _linearization(bench, after))
            )

    given = _moved(f.body, dict(enumerate(bench.where)))
    body = simplify_net(given, bench, note if steps is not None else None)
    return f if body is given else _linearization(bench, body)


def _moved(body: Net, place: dict[int, int]) -> Net:
    """The net with its references at other slots."""
    arcs = tuple(Arc(wire.at_slots(arc.map, place), arc.src, arc.dst) for arc in body.arcs)
    return Net(body.dom, body.cod, body.inputs, arcs, body.outputs, body.wires)


def _linearization(bench: ProgramBench, body: Net) -> AnyLinearization:
    """A net on the slots of the bench, with the steps that it needs."""
    p, data = bench.p, [ref.slot for ref in refs(body)]
    bound = bench.line(data)
    n = len(p.outputs)
    value: AnyProgram = Program(p.dom, p.cod, evolve(bound, outputs=bound.outputs[:n]), p.names)
    return Linearization(value, _moved(body, dict(zip(data, bound.outputs[n:], strict=True))))
