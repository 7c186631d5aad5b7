"""Affine interpretation (paper §5, Fig. 1): f^[1](x) = (f x, f' x), the derivative as a term, by recursion over f.

On a symbol, `derivative(f)` is the program with every intermediate result bound to a slot, and a net whose data refer
to those slots (`diff.terms.linearization`). On a value, `affine(f, v)` runs the program and closes the net.

`_arcs` is Theorem 4.1. Before it, `_derive` sends steps of control flow and operations of users, which have a
derivative of several arcs, to their files; `diff.derive.tangents` keeps what is known of slots and arcs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, assert_never, overload

from diff.compiled.own_runner import keeps_runner
from diff.derive.axis_derivative import along
from diff.derive.branch_derivative import by_masks
from diff.derive.branch_derivative import derived as derived_condition
from diff.derive.equation_derivative import derived as derived_equation
from diff.derive.loop_derivative import derived as derived_loop
from diff.derive.loop_derivative import derived_without_bound
from diff.derive.partial_derivative import restricted
from diff.derive.primitive_partials import partial_arcs
from diff.derive.tangents import Tangents
from diff.derive.user_operation_derivative import derived as derived_custom
from diff.terms.elementwise import AnyElementwise, Elementwise
from diff.terms.linearization import AnyLinearization, Linearization
from diff.terms.lower import planned, program
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program, as_program
from diff.terms.user_operation import Custom
from hilbert import DirectSum, Map, Type
from hilbert.base.attach import overloaded
from hilbert.base.once import once
from hilbert.errors import written
from hilbert.index.leaf import Bundle
from hilbert.map.map import AnyMap, argument, require_map
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal, Move, Reduce, Scale
from linmap.term import wire
from linmap.term.net import Arc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from diff import _calls
    from diff.derive.varying_parts import Wrt
    from diff.terms.program import Operation
    from hilbert.program.control.flows import Flow
    from hilbert.program.line.line import Line, Step
    from hilbert.program.line.operation import Builtin

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@overload
def derivative(f: Map[V, W]) -> Linearization[V, V, W]: ...
@overload
def derivative(f: Map[V, W], *, wrt: Wrt) -> Linearization[V, Any, W]: ...
def derivative(f: Map[V, W], *, wrt: Wrt = None) -> Linearization[V, Any, W]:
    """f' in the point: Figure 1 on a symbol, by the five rules of Theorem 4.1; its size is linear in that of f.

    With `wrt`, a position of an argument or a lens of a record, the partial derivative: on that part alone. It is taken
    of planned(f): contractions are put in order before they are derived.
    """
    require_map(f, "derivative")
    return restricted(linearized(planned(f)), wrt)


@once
def linearized(p: AnyProgram) -> AnyLinearization:
    """The derivative of a program as it is written: of every step the slot of its value, and arcs that end there."""
    t = Tangents(p)
    for step in p.steps:
        t.b.place = step.place
        t.slots.append(_derive(t, step))
    return t.linearization()


def _derive(t: Tangents, step: Step[Operation]) -> int:
    """The slot of a step's value in the line that is built; arcs lead to it from now on."""
    b, leaf, args = t.b, t.p.slots[len(t.slots)], tuple([t.slots[k] for k in step.args])
    match step.operation:
        case Loop() | Cond() | Implicit() | Solve() | While() | Custom() as f:
            results, arcs = _several(t, f, args, step)
            t.add(results, arcs)
            return b.pack(results) if isinstance(leaf, Bundle) else results[0]
        case Unpack():  # of what is packed here, it is the slot itself
            return b.step(step.operation, args)
        case Pack() | AnyLane():  # a bundle has no differential of its own, a truth value has none
            return b.emit(step.operation, args, leaf)
        case Choose() | Fill() as f:
            y = b.emit(f, args, leaf)
            t.arcs += by_masks(b, f, args, y) if t.claim(y) else ()
            return y
        case f:  # Theorem 4.1, as the type of f says
            y = b.emit(f, args, leaf)
            t.arcs += _arcs(t, f, args, y) if t.claim(y) else ()
            return y


def _arcs(t: Tangents, f: Builtin | AnyElementwise, args: tuple[int, ...], y: int) -> Iterable[Arc]:
    """The arcs from x to y = f(x): Theorem 4.1, whose rule (1), (g ∘ f)' = g' • f', is that arcs meet in slots."""
    match f:
        case Literal():  # K_w'(v) = 0                                      Thm 4.1 (2)
            return ()
        case Contract(spec):  # ⋄'(u,v) = (u⋄)•π₂ + (⋄v)•π₁                 Thm 4.1 (4)
            u, v = args
            return Arc(wire.ContractWith(spec, 0, t.datum(u)), v, y), Arc(wire.ContractWith(spec, 1, t.datum(v)), u, y)
        case Add():  # (+) is linear                                        Thm 4.1 (3)
            return [Arc(wire.Same(), k, y) for k in args]
        case Elementwise() as p:  # p'(x) = (d ·), lifted: Δ(map p' x)      Thm 4.1 (5)
            return partial_arcs(t, p, args, y)
        case Along():  # log Σ exp, softmax
            return along(t, f, args[0], y)
        case Keep():  # id is linear: what is kept is the value
            return [Arc(wire.Same(), args[0], y)]
        case External(rule) if rule.looks:  # id, too: what flows through a derivative it has seen at the point
            return [Arc(wire.Same(), args[0], y)]
        case Scale() | Reduce() | Move() | Cast() | External() as h:  # h'(v) = h      Thm 4.1 (3)
            return [Arc(h, args[0], y)]
        case never:
            assert_never(never)


def _several(
    t: Tangents, f: Flow | Custom, args: tuple[int, ...], step: Step[Operation]
) -> tuple[list[int], list[Arc]]:
    """The slots of the results of a step that may have several, and the arcs of its derivative."""
    match f:
        case Loop():  # the linear loop, over the body's derivative
            return derived_loop(t, f, t.b.unpack(args[0]), _of_line(f.body))
        case Cond():  # both branches, between masks
            return derived_condition(t, f, t.b.unpack(args[0]), [_of_line(line) for line in f.lines])
        case Implicit() | Solve():  # by the implicit function theorem
            return derived_equation(t, f, t.b.unpack(args[0]), _of_line)
        case While():  # it has a value only: arcs that must not be needed
            return derived_without_bound(t, step, t.b.unpack(args[0]))
        case Custom():  # its rule, which is proved to be linear
            return derived_custom(t, f, args)
        case never:
            assert_never(never)


def _of_line(line: Line) -> AnyLinearization:
    """The derivative of the body of a step."""
    return linearized(as_program(line))


@overloaded(lambda: _calls.affine)
def affine(f: AnyMap, *x: Any) -> Any:
    """f^[1](x) = (f x, f' x), both at a point: Figure 1 on a value. Raises SpaceError for a point of another space."""
    d = derivative(f)
    return d.run(argument(f, x))


@keeps_runner
@written("jvp(f)(x, dx)")
def jvp(f: Map[V, W]) -> Program[DirectSum[V, V], W]:
    """V ⊕ V → W, (x, dx) ↦ f'(x)(dx), a function of the language."""
    require_map(f, "jvp")
    return _jvp(program(f))


@once
def _jvp(p: AnyProgram) -> AnyProgram:
    return derived(p, lambda q: linearized(q).uncurried)
