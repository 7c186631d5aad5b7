"""Affine interpretation (paper §5, Fig. 1): f^[1](x) = (f x, f' x), the derivative as a term, by recursion over f.

The rule of a step is a case of `linearized` (Thm 4.1): constants, products (`Contract`), sums, linear maps, primitives.

On a symbol, `derivative(f)` is the program with every intermediate result bound to a slot, and a net whose data refer
to those slots: the paper's Term(W × (V ⊸ W)) with its lets. On a value, `affine(f, v)` runs the program and closes the
net.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, final

import numpy as np
from attrs import evolve, frozen

from diff.derive.axis_derivative import along
from diff.derive.branch_derivative import derived as derived_condition
from diff.derive.equation_derivative import derived as derived_equation
from diff.derive.equation_derivative import mask
from diff.derive.finite_slopes import marked
from diff.derive.loop_derivative import derived as derived_loop
from diff.derive.loop_derivative import without_bound
from diff.derive.norm_derivative import of_norm
from diff.derive.primitive_partials import partial_arcs
from diff.derive.user_operation_derivative import derived as derived_custom
from diff.terms.elementwise import Elementwise
from diff.terms.lower import planned, program
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program, as_program
from diff.terms.user_operation import Custom
from diff.trace.expr import Expr
from hilbert import DirectSum, Map, SpaceError, Type, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.attach import declared, overloaded
from hilbert.base.once import once
from hilbert.base.term import Term
from hilbert.errors import shown
from hilbert.index.leaf import Bundle, Leaf
from hilbert.map.map import AnyMap, argument, require_map
from hilbert.program.control.branch import AnyLane, Choose, Cond, Fill
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.external import External
from hilbert.program.line.line import Step
from hilbert.program.line.operation import Add, Along, Contract, Keep, Literal
from hilbert.program.run.run import Runner
from hilbert.program.transform.emit_loop import emitted as step_of
from hilbert.space.snapshot import is_snapshot, snapshot
from hilbert.space.space import type_of
from linmap.net.apply import apply_net
from linmap.net.equal import Comparable
from linmap.net.fold import live_arcs
from linmap.term import wire
from linmap.term.datum import Data, Datum, Ref
from linmap.term.linear_map import LinMap
from linmap.term.net import Arc, Closed, Net, refs
from linmap.term.protocols import Simplifiable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from diff import _calls
    from diff.terms.nodes import Operation
    from hilbert.program.line.line import Line
    from linmap.laws import Rewriting as LawStep
    from linmap.net.equal import Numbering

P = TypeVar("P", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@final
@frozen(eq=False, repr=False)
class Linearization(Term, Simplifiable, Comparable, Generic[P, V, W]):
    """A linear map V ⊸ W in the point of P: a program on P and an open net whose data are slots of the program."""

    program: Program[P, Any]
    body: Net

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.program, Program) or not isinstance(self.body, Net):
            have = f"{shown(self.program)} and {shown(self.body)}"
            msg = f"a derivative is a Program and a Net, not {have}: see derivative(f)"
            raise SpaceError(msg)
        for ref in refs(self.body):
            if not 0 <= ref.slot < len(self.program.slots) or self.program.slots[ref.slot] != ref.leaf:
                msg = f"the body refers to slot {ref.slot} of {ref.leaf}, which the program does not have"
                raise SpaceError(msg)

    @property
    def point(self) -> P:
        """The space P of the point."""
        space: P = self.program.dom
        return space

    @property
    def dom(self) -> V:
        """V."""
        space: V = self.body.dom
        return space

    @property
    def cod(self) -> W:
        """W."""
        space: W = self.body.cod
        return space

    @property
    def value(self) -> Program[P, Any]:
        """The function itself, with every intermediate result that the linear map needs."""
        return self.program

    @overloaded(lambda: _calls.Linearization_at)
    def at(self: Linearization[P, V, W], *x: Any) -> Any:
        """The linear map at a point: runs what it needs of the program, and closes the body with what that computed."""
        if Expr in map(type, x):
            msg = "a derivative at an expression is no linear map yet: in a traced function write jvp(f)(x, dx), or "
            raise SpaceError(f"{msg}vjp(f)(x, dy) for its adjoint")
        return self._closed(argument(self.program, x), ())[1]

    __call__ = at  # f'(x)

    def run(self, x: Vec[P]) -> tuple[Vec[Any], LinMap[V, W]]:
        """The value and the linear map at a point."""
        arrays, linear = self._closed(x, self.program.outputs)
        return Vec(self.program.cod, tuple(arrays)), linear

    def _closed(self, x: Vec[P], outputs: tuple[int, ...]) -> tuple[list[Any], LinMap[V, W]]:
        """The arrays of some slots at a point, and the linear map."""
        found, n = refs(self.body), len(outputs)
        x = snapshot(x) if self._holds_arguments else x
        arrays = list(map(freeze, self._compiled(outputs).run(x.leaves)))
        is_written = not is_snapshot(x) and all(isinstance(a, (np.ndarray, np.generic)) for a in (*x.leaves, *arrays))
        token = x.token if is_written else snapshot(x).token
        data = Data.found(arrays[n:], found, self.program, token, is_written=is_written)
        return arrays[:n], Closed(self.body, data)

    @property
    @once
    def _holds_arguments(self) -> bool:
        """Tell if a datum or a value may have the memory of an array of the point."""
        line = self.program.line
        has = [True] * line.arity
        for step in line.steps:
            has.append(any(has[k] for k in step.args) and not _is_new(step, line))
        return any(has[k] for k in (*self.program.outputs, *[ref.slot for ref in refs(self.body)]))

    @once
    def _compiled(self, outputs: tuple[int, ...]) -> Runner:
        return Runner(self.program.line.ending((*outputs, *[ref.slot for ref in refs(self.body)])))

    @property
    @once
    def uncurried(self) -> Program[DirectSum[P, V], W]:
        """P ⊕ V → W, (x, dx) ↦ f'(x)(dx), a function of the language: it differentiates again."""
        dom = DirectSum((self.point, self.dom))
        b = Builder(dom.leaves, fold=True)
        n = len(self.point.leaves)
        where = b.inline(self.program.line, range(n))
        outputs = apply_net(b, self.body, range(n, b.arity), dict(enumerate(where)))
        x = self.program.names[0] if len(self.program.names) == 1 else "x"
        names = (x, f"d{x}" if self.dom == self.point.tangent else "dy")
        return Program.of(b, dom, outputs, self.cod, names)

    @declared
    def label(self, numbering: Numbering) -> Hashable:
        """The contents of the program and the body, for `equal`."""
        raise NotImplementedError

    @declared
    def simplified(self, steps: list[LawStep] | None = None) -> Linearization[P, V, W]:
        """The laws on the body; two element-wise sections in a row become one, whose datum is one more step."""
        raise NotImplementedError

    @declared
    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"Linearization({self.program!r}, {self.body!r})"


AnyLinearization: TypeAlias = Linearization[Any, Any, Any]
"""A linear map between any spaces, in the point of any type."""


shown.register(Linearization, lambda f: f"a linear map {f.dom} ⊸ {f.cod} in the point of {f.point}")
Derivative: TypeAlias = Linearization[V, V, W]
"""f' : V → (V ⊸ W), in the point."""


def derivative(f: Map[V, W]) -> Linearization[V, V, W]:
    """f' in the point: Figure 1 on a symbol, by the five rules of Theorem 4.1; its size is linear in that of f.

    It is taken of planned(f): contractions are put in order before they are derived.
    """
    require_map(f, "derivative")
    return linearized(planned(f))


@once
def linearized(p: AnyProgram) -> AnyLinearization:
    """Every intermediate value is bound to a slot; wire k of the body is the differential of slot k."""
    b = Builder(p.slots[: p.arity], fixed=p.line.fixed)
    m = list(range(b.arity))  # slot of p → slot of the bound program
    arcs: list[Arc] = []
    done = set[int]()  # the slots that have their arcs; a step may stand already, as the datum of an earlier one
    stops: dict[int, Step[Any]] = {}  # the arcs that stand for a derivative that is not there
    sure: dict[int, tuple[int, ...]] = {}  # what is finite where these are
    loops: dict[int, tuple[Loop, tuple[int, ...]]] = {}  # the linear loops' arcs: the loop, and what it is given
    own: dict[int, Leaf] = {}  # wires that are no slots: inside of a step's derivative, numbered from −1 down

    def fresh(leaf: Leaf) -> int:
        own[-1 - len(own)] = leaf
        return -len(own)

    for step in p.steps:
        b.place = step.place
        args = tuple(m[k] for k in step.args)
        held = _of_several(b, step.operation, args, fresh)
        if held is not None:
            made, found = held
            m.append(b.pack(made) if isinstance(p.slots[len(m)], Bundle) else made[0])
            if isinstance(step.operation, While):
                stops |= {id(arc): step for arc in found}
            given = b.unpack(args[0]) if isinstance(step.operation, (Loop, Cond)) else ()
            if isinstance(step.operation, Cond):  # what a branch gives is taken to be finite: the condition guards it
                sure |= dict.fromkeys(made, given)
            if isinstance(step.operation, Loop):
                loops |= {id(arc): (step.operation, given) for arc in found if isinstance(arc.map, wire.Recur)}
            arcs += found if done.isdisjoint(made) else []
            done.update(made)
            continue
        leaf = p.slots[len(m)]
        y = b.step(step.operation, args) if isinstance(step.operation, Unpack) else b.emit(step.operation, args, leaf)
        m.append(y)
        if y in done or not b.slots[y].is_field:
            continue  # discrete: tangent 0
        done.add(y)
        match step.operation:
            case Literal():  # K_w'(v) = 0                                       Thm 4.1 (2)
                pass
            case Contract(spec):  # ⋄'(u,v) = (u⋄)•π₂ + (⋄v)•π₁             Thm 4.1 (4)
                u, v = args
                if b.slots[v].is_field:
                    arcs.append(Arc(wire.ContractWith(spec, 0, _datum(b, u)), v, y))
                if b.slots[u].is_field:
                    arcs.append(Arc(wire.ContractWith(spec, 1, _datum(b, v)), u, y))
            case Add():  # (+) is linear                                    Thm 4.1 (3)
                arcs += [Arc(wire.Same(), k, y) for k in args]
            case Keep():  # id'(v) = id: what is kept is the value
                arcs.append(Arc(wire.Same(), args[0], y))
            case Along() as f:
                arcs += along(b, f, args[0], y, done)
            case Elementwise() as f if found := of_norm(b, f, args, y, fresh, sure):  # of the length of a vector
                arcs += found
            case Elementwise() as primitive:  # p'(x) = (d ·), lifted: Δ(map p' x)
                arcs += [
                    Arc(f, k, y) for k, f in zip(args, partial_arcs(b, primitive, args, y, sure), strict=True) if f
                ]
            case Choose():  # each through its mask
                for when, k in ((True, args[1]), (False, args[2])):
                    free = (False, _is_lane_of(b, args[0], k))
                    arcs.append(Arc(mask(b, args[0], b.slots[y], when=when, free=free), k, y))
            case Fill(_, when):  # what is filled is not seen
                arcs.append(Arc(mask(b, args[0], b.slots[y], when=when, free=(True, False)), args[1], y))
            case Pack() | Unpack() | AnyLane() | Loop() | Cond() | While() | Implicit() | Solve() | Custom():  # done
                raise AssertionError(y)
            case External(rule) if rule.looks:  # the identity; what flows through a derivative it has seen at the point
                arcs.append(Arc(wire.Same(), args[0], y))
            case linear:  # h'(v) = h                                            Thm 4.1 (3)
                arcs.append(Arc(linear, args[0], y))
    arcs = _live(p, m, arcs, b, stops)
    return _pruned(b, p, m, marked(b, arcs, sure, loops), own)


def _of_several(
    b: Builder, operation: Operation, args: tuple[int, ...], fresh: Callable[[Leaf], int]
) -> tuple[list[int], list[Arc]] | None:
    """The slots and the arcs of a step whose derivative takes several arcs; None for other steps."""
    match operation:
        case Loop() as loop:  # the linear loop, over the body's derivative
            return derived_loop(b, loop, b.unpack(args[0]), linearized(as_program(loop.body)), fresh)
        case Cond() as cond:  # both branches, between masks
            return derived_condition(b, cond, b.unpack(args[0]), [linearized(as_program(k)) for k in cond.lines], fresh)
        case Implicit() | Solve() as equation:  # by the implicit function theorem
            return derived_equation(b, equation, b.unpack(args[0]), lambda k: linearized(as_program(k)), fresh)
        case While():  # it has a value only: arcs that must not be needed
            given = b.unpack(args[0])
            made = step_of(b, operation, given)
            starts, ends = ([k for k in some if b.slots[k].is_field] for some in (given, made))
            return made, [Arc(wire.Same(), k, y) for y in ends for k in starts]
        case Custom() as custom:  # its rule, which is proved to be linear
            return derived_custom(b, custom, args, fresh)
        case _:  # see `linearized`
            return None


def _is_new(step: Step[Any], line: Line) -> bool:
    """Tell if a step never gives a view of an operand: a condition may let a whole array through, a primitive too."""
    match step.operation:
        case Contract():
            return all(line.slots[k].is_field for k in step.args)
        case Elementwise() as primitive:
            return primitive.rule.fresh
        case other:  # no other step is known to be new
            return isinstance(other, Add)


def _is_lane_of(b: Builder, c: int, slot: int) -> bool:
    """Whether a slot is what a branch gives that is run if some lane takes it by condition c."""
    if not isinstance(b.operation(slot), Unpack):
        return False
    (made,) = b.steps[slot - b.arity].args
    if not isinstance(b.operation(made), Cond):
        return False
    some = b.unpack(b.steps[made - b.arity].args[0])[0]
    return isinstance(b.operation(some), AnyLane) and b.steps[some - b.arity].args == (c,)


def _datum(b: Builder, slot: int) -> Datum:
    """A slot as a datum; constant elements of an index set are known: entries of the derivative depend on them."""
    operation = b.operation(slot)
    if isinstance(operation, Literal) and operation.value.leaf.entry.index is not None:
        return operation.value
    return Ref(slot, b.slots[slot])


def _live(p: AnyProgram, m: list[int], arcs: list[Arc], b: Builder, stops: dict[int, Step[Any]]) -> list[Arc]:
    """The arcs that some input reaches and some output's differential needs: the others are 0."""
    inputs = [k for k in range(b.arity) if b.slots[k].is_field]
    wires = [m[k] for k in p.outputs if p.slots[k].is_field]
    kept = live_arcs(arcs, inputs, wires)
    for arc in kept if stops else ():
        if id(arc) in stops:
            raise without_bound(stops[id(arc)])
    return kept


def _pruned(b: Builder, p: AnyProgram, m: list[int], kept: list[Arc], own: dict[int, Leaf]) -> AnyLinearization:
    """The data that the arcs do not read go."""
    outputs = tuple(m[k] for k in p.outputs)
    inputs = [k for k in range(b.arity) if b.slots[k].is_field]
    wires = [k for k in outputs if b.slots[k].is_field]
    found = [wire.datum_of(arc.map) for arc in kept]
    data = sorted({datum.slot for datum in found if isinstance(datum, Ref)})
    flow = sorted({*inputs, *wires, *[arc.src for arc in kept], *[arc.dst for arc in kept]})
    bound = b.line([*outputs, *data])
    slot = dict(zip(data, bound.outputs[len(outputs) :], strict=True))
    number = {k: i for i, k in enumerate(flow)}
    if any(k != i for found in (slot, number) for k, i in found.items()):  # some slots or wires are gone
        kept = [Arc(wire.at_slots(a.map, slot), number[a.src], number[a.dst]) for a in kept]
    body = Net(
        p.dom.tangent,
        p.cod.tangent,
        tuple([number[k] for k in inputs]),
        tuple(kept),
        tuple([number[k] for k in wires]),
        tuple([own[k] if k < 0 else b.slots[k] for k in flow]),
    )
    value: AnyProgram = Program(p.dom, p.cod, evolve(bound, outputs=bound.outputs[: len(outputs)]), p.names)
    return Linearization(value, body)


def _of_leaves(leaves: Sequence[Any]) -> Type:
    return DirectSum(tuple(type_of(leaf) for leaf in leaves))


@overloaded(lambda: _calls.affine)
def affine(f: AnyMap, *x: Any) -> Any:
    """f^[1](x) = (f x, f' x), both at a point: Figure 1 on a value. Raises SpaceError for a point of another space."""
    d = derivative(f)
    return d.run(argument(f, x))


def jvp(f: Map[V, W]) -> Program[DirectSum[V, V], W]:
    """V ⊕ V → W, (x, dx) ↦ f'(x)(dx), a function of the language."""
    require_map(f, "jvp")
    return _jvp(program(f))


@once
def _jvp(p: AnyProgram) -> AnyProgram:
    return derived(p, lambda q: linearized(q).uncurried)
