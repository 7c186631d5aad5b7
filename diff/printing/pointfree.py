"""Programs as point-free terms (paper §3): every subterm closed, variables replaced by projections.

>>> from hilbert import Fin, R
>>> from diff import fun, tanh
>>> X, Y = Fin.of(3), Fin.of(2)
>>> print(pointfree(fun(R ** (Y * X), R ** X, R ** Y)(lambda W, x, b: tanh(W @ x + b))))
tanh^2 ∘ ((⋆)∘⟨π₁, π₂⟩ + π₃)
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, TypeVar, assert_never

from diff.terms.elementwise import Elementwise
from diff.terms.lower import program
from diff.terms.nodes import Bilinear, Constant, Power
from diff.terms.program import AnyProgram, Program
from diff.terms.user_operation import Custom
from hilbert import Copower, DirectSum, Map, R, SpaceError, Type, Vec
from hilbert.index.leaf import Bundle, Leaf
from hilbert.map.combine import Composition
from hilbert.map.map import AnyMap, require_map
from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.bundle import Pack, Unpack
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Add, Along, Contract, Keep, Literal
from hilbert.program.transform.emit_loop import emitted
from hilbert.space.direct_sum import Biproduct
from hilbert.space.space import type_of
from linmap.contraction import Contraction
from linmap.term import wire
from linmap.term.maps import fork, identity, zero
from linmap.term.net import Arc, Net
from linmap.term.nodes import Identity, Project, Unitary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.terms.program import Operation

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def pointfree(f: Map[V, W]) -> Map[V, W]:
    """The function as a term of combinators; program(pointfree(p)) computes what p does, step by step.

    A slot that is read once is written in place; one that is read more often is bound by ⟨…⟩ and read by a
    projection. Raises SpaceError for primitives of other fields than ℝ in double precision.
    """
    require_map(f, "pointfree")
    p = program(f)
    return _Terms(p).term()


ARGUMENT = -1


class _Terms:
    """The terms of a program's slots, as functions of an environment: the argument and the bound slots still read.

    So a term has as many projections as steps times slots that are live at once.
    """

    def __init__(self, p: AnyProgram) -> None:
        self.p = p
        self.uses = p.line.reads
        self.env: list[int] = [ARGUMENT]  # the argument, or a bound slot, for each part of the environment
        self.space: Any = p.dom
        self.where: dict[int, int] = {ARGUMENT: 0}  # a place in the environment
        self.layers: list[AnyMap] = []

    def argument(self, k: int) -> AnyMap:
        """The projection to leaf k of the argument."""
        ways: list[AnyMap] = [] if len(self.env) == 1 else [_project(self.space, self.where[ARGUMENT])]
        space: Any = self.p.dom
        while len(space.leaves) > 1 or space.is_sum:
            if not space.is_sum:
                ways.append(_leaf_of(space, k))
                space = type_of(space.leaves[k])
                break
            position = bisect_right(space.offsets, k) - 1
            ways.append(_project(space, position))
            space, k = space.parts[position], k - space.offsets[position]
        return _renamed(_composed(ways, self.space))

    def term(self) -> AnyMap:
        """The term of the program: slots that are read twice are bound, in order, and the others inlined."""
        p = self.p
        bound = [k for k in range(p.arity, len(p.slots)) if self.uses[k] > 1]
        last = self._last(bound)
        for now, k in enumerate(bound):
            if last.get(k, -1) > now:  # else no output needs it
                self._bind(k, [item for item in self.env if last.get(item, -1) > now])
        results = [self._build(k) for k in p.outputs]
        return _composed([*self.layers, _nested(p.cod, results, self.space)], p.dom)

    def _last(self, bound: list[int]) -> dict[int, int]:
        """The term that reads the argument, or a bound slot, last: a bound slot's, by its place, or the result's."""
        p, kept = self.p, set(bound)
        last: dict[int, int] = {}
        for now, roots in [*enumerate([k] for k in bound), (len(bound), list(p.outputs))]:
            stack = [a for k in roots for a in (self._args(k) if now < len(bound) else [k])]
            while stack:
                k = stack.pop()
                if k < p.arity or k in kept:
                    last[ARGUMENT if k < p.arity else k] = now
                else:
                    stack.extend(self._args(k))
        return last

    def _args(self, k: int) -> tuple[int, ...]:
        return self.p.steps[k - self.p.arity].args

    def _bind(self, k: int, kept: list[int]) -> None:
        """Add a layer that keeps the slots that are still read, and binds slot k."""
        new = self._build(k)
        keep = [
            _identity(self.space) if len(self.env) == 1 else _project(self.space, self.where[item]) for item in kept
        ]
        layer = fork(*keep, new) if keep else new
        self.layers.append(layer)
        self.env, self.space = [*kept, k], layer.cod
        self.where = {item: place for place, item in enumerate(self.env)}

    def _part(self, item: int) -> AnyMap:
        """A part of the environment."""
        return _project(self.space, self.where[item]) if len(self.env) > 1 else _identity(self.space)

    def _build(self, root: int) -> AnyMap:
        """The term of a slot, its unbound operands in place; iterative."""
        done: dict[int, AnyMap] = {}
        stack = [root]
        while stack:
            k = stack[-1]
            if k in done:
                stack.pop()
                continue
            if k < self.p.arity:
                done[k] = self.argument(k)
            elif k in self.where:
                done[k] = self._part(k)
            else:
                args = self.p.steps[k - self.p.arity].args
                missing = [a for a in args if a not in done]
                if missing:
                    stack.extend(missing)
                    continue
                done[k] = self._step(k, [done[a] for a in args])
            stack.pop()
        return done[root]

    def _step(self, k: int, args: Sequence[AnyMap]) -> AnyMap:
        p = self.p
        step = p.steps[k - p.arity]
        leaves = [p.slots[a] for a in step.args]
        leaf = p.slots[k]
        operation: Operation = step.operation
        match operation:
            case Literal(value):
                return Constant(self.space, Vec(type_of(leaf), (value.array,)))
            case Contract(spec):
                left, right = leaves
                c = Contraction(type_of(left), type_of(right), type_of(leaf), ((0, 0, 0, spec),))
                return Bilinear(c) @ fork(*args)
            case Add():
                return args[0] + args[1]
            case wire.Scale(factor):
                f = args[0]  # a step of a chain stays one, so that chains are flat
                return factor * f if not isinstance(f, Composition) else _composed([f, factor * identity(f.cod)], f.dom)
            case Elementwise() as primitive if leaf.is_field or _is_plain(primitive, leaves):
                if leaf.is_field and leaf.entry != R.entry:
                    msg = f"{primitive.name} on {leaf} has no point-free form: primitives are maps of ℝ"
                    raise SpaceError(msg)
                lifted: AnyMap = primitive
                if isinstance(space := type_of(leaf), Copower):
                    lifted = Power(primitive, space.index)
                if len(args) == 1:
                    return _composed([args[0], lifted], self.space)
                return _zipped(lifted, leaves, leaf) @ fork(*args)
            case Pack():
                return fork(*args)
            case Unpack(part):
                return _composed([args[0], _project(type_of(leaves[0]), part)], self.space)
            case (Loop() | While() | Cond() | Implicit() | Solve()) as held:
                b = Builder(held.given.leaves)
                made = emitted(b, held, range(b.arity))
                return _composed([args[0], Program.of(b, type_of(held.given), made, type_of(leaf))], self.space)
            case wire.Reduce() | wire.Move() | wire.Cast() | wire.External() as arc if _is_linear(leaves[0], leaf):
                net = Net(type_of(leaves[0]), type_of(leaf), (0,), (Arc(arc, 0, 1),), (1,), (leaves[0], leaf))
                return _composed([args[0], net], self.space)
            case (
                Elementwise()
                | wire.Reduce()
                | wire.Move()
                | wire.Cast()
                | wire.External()
                | Along()
                | Keep()
                | (Choose() | AnyLane() | Fill() | Custom())
            ):  # truth values moved, elements compared: a program of one step
                b = Builder(leaves)
                slot = b.step(operation, tuple(range(len(leaves))))
                dom = type_of(leaves[0]) if len(leaves) == 1 else DirectSum(tuple(map(type_of, leaves)))
                made = list(b.unpack(slot)) if isinstance(leaf, Bundle) else [slot]
                one: AnyMap = Program.of(b, dom, made, type_of(leaf))
                return _composed([args[0], one], self.space) if len(args) == 1 else one @ fork(*args)
            case _:
                assert_never(operation)


def _is_linear(given: Leaf, made: Leaf) -> bool:
    """Tell if a step is an arc of a net: a cast of truth values is none."""
    return given.is_field and made.is_field


def _is_plain(f: Elementwise[Any, Any], leaves: Sequence[Leaf]) -> bool:
    """Tell if operands have the entries that the primitive is a map of: `=` compares others, too."""
    return [leaf.entry for leaf in leaves] == [leaf.entry for leaf in f.dom.leaves]


def _zipped(f: AnyMap, leaves: Sequence[Leaf], leaf: Leaf) -> AnyMap:
    """A lifted primitive of two arguments on two arrays: (ℝ ⊕ ℝ)^X is stored as (ℝ^X, ℝ^X)."""
    if not leaf.axes:
        return f
    dom = DirectSum(tuple(type_of(part) for part in leaves))
    return f @ _same_leaves("zip", dom, f.dom)


def _same_leaves(name: str, dom: Type, cod: Type) -> AnyMap:
    """The same arrays in other brackets: unitary between spaces."""
    if not dom.is_space:
        return Program(dom, cod, Line(dom.leaves, (), tuple(range(len(dom.leaves)))))
    order = tuple(tuple(range(len(leaf.axes))) for leaf in dom.leaves)
    return Unitary(name, dom, cod, tuple(range(len(dom.leaves))), order)


def _project(space: Any, position: int) -> AnyMap:
    if space.is_space:
        return Project(space, position)
    return _wiring(space, space.parts[position], position)


def _identity(space: Any) -> AnyMap:
    if space.is_space:
        return identity(space)
    return Program(space, space, Line(space.leaves, (), tuple(range(len(space.leaves)))))


def _wiring(space: Any, part: Any, position: int) -> AnyMap:
    """A projection of a type that is no space."""
    start = sum(len(p.leaves) for p in space.parts[:position])
    return Program(space, part, Line(space.leaves, (), tuple(range(start, start + len(part.leaves)))))


def _leaf_of(space: Any, k: int) -> AnyMap:
    return Program(space, type_of(space.leaves[k]), Line(space.leaves, (), (k,)))


def _renamed(f: AnyMap) -> AnyMap:
    """f into the space that its one leaf has by itself."""
    space = type_of(f.cod.leaves[0])
    return f if f.cod == space else _composed([f, _same_leaves("uncurry", f.cod, space)], f.dom)


def _composed(parts: Sequence[AnyMap], dom: Any) -> AnyMap:
    """The maps one after the other, the first applied first, without identities; that of `dom` if none is left."""
    moving = [part for part in parts if not isinstance(part, Identity)]
    if not moving:
        return _identity(dom)
    result = moving[0]
    for part in moving[1:]:
        result = part @ result
    return result


def _nested(space: Any, results: list[AnyMap], dom: Any) -> AnyMap:
    """⟨…⟩ around the results, as the codomain's direct sums nest; all are on `dom`."""
    it = iter(results)

    def build(s: Any) -> AnyMap:
        if not s.leaves:
            return zero(dom, s) if dom.is_space else Constant(dom, Vec(s, ()))
        if isinstance(s, Biproduct):
            found = fork(*(build(part) for part in s.parts))
            return found if s.names is None else _composed([found, _same_leaves("pack", found.cod, s)], dom)
        if len(s.leaves) == 1:
            f = next(it)
            return f if f.cod == s else _composed([f, _same_leaves("curry", f.cod, s)], f.dom)
        if isinstance(s, Copower):
            inner = build(DirectSum(tuple(type_of(leaf) for leaf in s.leaves)))
            return _composed([inner, _same_leaves("zip", inner.cod, s)], inner.dom)
        inner = fork(*(next(it) for _ in s.leaves))
        return _composed([inner, _same_leaves("pack", inner.cod, s)], inner.dom)

    return build(space)
