"""Affine interpretation (paper §5, Fig. 1): f^[1](x) = (f x, f' x), the derivative as a term, by recursion over f.

On a symbol, `derivative(f)` is the program with every intermediate result bound to a slot, and a net whose data refer
to those slots: the paper's Term(W × (V ⊸ W)) with its lets. On a value, `affine(f, v)` runs the program and closes the
net.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, TypeVarTuple, final, overload

from attrs import frozen

from diff.builder import Builder
from diff.evaluate import tape
from diff.expr import Expr
from diff.lower import program
from diff.term import Elementwise, Literal, Program
from hilbert import DirectSum, Map, SpaceError, Type, Vec
from hilbert.arrays.namespace import freeze
from hilbert.errors import shown
from hilbert.map import argument, require_map
from hilbert.space import Leaf
from hilbert.spec import Spec
from hilbert.term import Term
from linmap.laws.simplify import Simplifiable
from linmap.net import wire
from linmap.net.equal import Comparable
from linmap.term.datum import Data, Ref
from linmap.term.nodes import Arc, Closed, LinMap, Net, refs

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from linmap.laws import Step as LawStep
    from linmap.net.equal import Numbering

A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
H = TypeVar("H", bound=Type)
J = TypeVar("J", bound=Type)
K = TypeVar("K", bound=Type)
P = TypeVar("P", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Rest = TypeVarTuple("Rest")


@final
@frozen(eq=False, repr=False)
class Pointwise(Term, Simplifiable, Comparable, Generic[P, V, W]):
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

    @overload
    def at(self, x: Vec[P], /) -> LinMap[V, W]: ...
    @overload
    def at(self: Pointwise[DirectSum[A, B], V, W], a: Vec[A], b: Vec[B], /) -> LinMap[V, W]: ...
    @overload
    def at(self: Pointwise[DirectSum[A, B, C], V, W], a: Vec[A], b: Vec[B], c: Vec[C], /) -> LinMap[V, W]: ...
    @overload
    def at(
        self: Pointwise[DirectSum[A, B, C, D], V, W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /
    ) -> LinMap[V, W]: ...
    @overload
    def at(
        self: Pointwise[DirectSum[A, B, C, D, E], V, W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /
    ) -> LinMap[V, W]: ...
    @overload
    def at(
        self: Pointwise[DirectSum[A, B, C, D, E, F], V, W],
        a: Vec[A],
        b: Vec[B],
        c: Vec[C],
        d: Vec[D],
        e: Vec[E],
        g: Vec[F],
        /,
    ) -> LinMap[V, W]: ...
    @overload
    def at(
        self: Pointwise[DirectSum[A, B, C, D, E, F, G], V, W],
        a: Vec[A],
        b: Vec[B],
        c: Vec[C],
        d: Vec[D],
        e: Vec[E],
        f: Vec[F],
        g: Vec[G],
        /,
    ) -> LinMap[V, W]: ...
    @overload
    def at(
        self: Pointwise[DirectSum[A, B, C, D, E, F, G, H], V, W],
        a: Vec[A],
        b: Vec[B],
        c: Vec[C],
        d: Vec[D],
        e: Vec[E],
        f: Vec[F],
        g: Vec[G],
        h: Vec[H],
        /,
    ) -> LinMap[V, W]: ...
    @overload
    def at(
        self: Pointwise[DirectSum[A, B, C, D, E, F, G, H, J], V, W],
        a: Vec[A],
        b: Vec[B],
        c: Vec[C],
        d: Vec[D],
        e: Vec[E],
        f: Vec[F],
        g: Vec[G],
        h: Vec[H],
        j: Vec[J],
        /,
    ) -> LinMap[V, W]: ...
    @overload
    def at(
        self: Pointwise[DirectSum[A, B, C, D, E, F, G, H, J, K], V, W],
        a: Vec[A],
        b: Vec[B],
        c: Vec[C],
        d: Vec[D],
        e: Vec[E],
        f: Vec[F],
        g: Vec[G],
        h: Vec[H],
        j: Vec[J],
        k: Vec[K],
        /,
    ) -> LinMap[V, W]: ...
    def at(self, *x: Any) -> Any:
        """The linear map at a point: runs what it needs of the program, and closes the body with what that computed."""
        return self._closed(argument(self.program, x), ())[1]

    def run(self, x: Vec[P]) -> tuple[Vec[Any], LinMap[V, W]]:
        """The value and the linear map at a point."""
        arrays, linear = self._closed(x, self.program.outputs)
        return Vec(self.program.cod, tuple(arrays)), linear

    def _closed(self, x: Vec[P], outputs: tuple[int, ...]) -> tuple[list[Any], LinMap[V, W]]:
        """The arrays of some slots at a point, and the linear map."""
        found = refs(self.body)
        memo = self.memo()
        key = ("tape", outputs)
        bound = memo.get(key)
        if bound is None:
            bound = memo[key] = tape(self.program, (*outputs, *(ref.slot for ref in found)))
        arrays = list(map(freeze, bound.run(x.leaves)))
        n = len(outputs)
        return arrays[:n], Closed(self.body, Data.found(arrays[n:], found, self.program, x.token))

    @property
    def uncurried(self) -> Program[DirectSum[P, V], W]:
        """P ⊕ V → W, (x, dx) ↦ f'(x)(dx), a function of the language: it differentiates again."""
        memo = self.memo()
        found = memo.get("uncurried")
        if found is None:
            dom = DirectSum((self.point, self.dom))
            b = Builder(dom.leaves, fold=True)
            n = len(self.point.leaves)
            where = b.inline(self.program, range(n))
            outputs = b.apply_net(self.body, range(n, b.arity), where)
            x = self.program.names[0] if len(self.program.names) == 1 else "x"
            names = (x, f"d{x}" if self.dom == self.point.tangent else "dy")
            found = memo["uncurried"] = b.build(dom, outputs, self.cod, names)
        result: Program[DirectSum[P, V], W] = found
        return result

    def label(self, numbering: Numbering) -> Hashable:
        """The contents of the program and the body, for `equal`."""
        from diff.equal import pointwise_label

        return pointwise_label(self, numbering)

    def simplified(self, steps: list[LawStep] | None = None) -> Pointwise[P, V, W]:
        """The laws on the body; two element-wise sections in a row become one, whose datum is one more step."""
        from diff.simplify import simplify_pointwise

        return simplify_pointwise(self, steps)

    def __str__(self) -> str:
        from diff.show import show_pointwise  # printing is a pass over these terms

        return show_pointwise(self)

    def __repr__(self) -> str:
        return f"Pointwise({self.program!r}, {self.body!r})"


shown.register(Pointwise, lambda f: f"a linear map {f.dom} ⊸ {f.cod} in the point of {f.point}")
Derivative: TypeAlias = Pointwise[V, V, W]
"""f' : V → (V ⊸ W), in the point."""


def derivative(f: Map[V, W]) -> Pointwise[V, V, W]:
    """f' in the point: Figure 1 on a symbol, by the five rules of Theorem 4.1; its size is linear in that of f."""
    require_map(f, "derivative")
    memo = f.memo()
    found: Pointwise[V, V, W] | None = memo.get("derivative")
    if found is None:
        found = memo["derivative"] = _derivative(program(f))
    return found


def _derivative(p: Program[Any, Any]) -> Pointwise[Any, Any, Any]:
    """Every intermediate value is bound to a slot; wire k of the body is the differential of slot k."""
    b = Builder(p.slots[: p.arity])
    m = list(range(b.arity))  # slot of p → slot of the bound program
    arcs: list[Arc] = []
    done = set[int]()  # the slots that have their arcs; a step may stand already, as the datum of an earlier one
    for step in p.steps:
        args = tuple(m[k] for k in step.args)
        y = b.step(step.operation, args)
        m.append(y)
        if y in done or not b.slots[y].is_field:
            continue  # discrete: tangent 0
        done.add(y)
        match step.operation:
            case Literal():  # K_w'(v) = 0                                       Thm 4.1 (2)
                pass
            case wire.Contract(spec):  # ⋄'(u,v) = (u⋄)•π₂ + (⋄v)•π₁             Thm 4.1 (4)
                u, v = args
                if b.slots[v].is_field:
                    arcs.append(Arc(wire.Section(spec, 0, Ref(u, b.slots[u])), v, y))
                if b.slots[u].is_field:
                    arcs.append(Arc(wire.Section(spec, 1, Ref(v, b.slots[v])), u, y))
            case wire.Add():  # (+) is linear                                    Thm 4.1 (3)
                arcs += [Arc(wire.Same(), k, y) for k in args]
            case Elementwise() as primitive:  # p'(x) = (d ·), lifted: Δ(map p' x)
                for k, d in zip(args, _partials(b, primitive, args, y), strict=True):
                    if b.filling(d) != 0.0:
                        spec = Spec.pointwise(len(b.slots[y].axes))
                        arcs.append(Arc(wire.Section(spec, 0, Ref(d, b.slots[d])), k, y))
            case linear:  # h'(v) = h                                            Thm 4.1 (3)
                arcs.append(Arc(linear, args[0], y))
    return _pruned(b, p, m, arcs)


def _partials(b: Builder, p: Elementwise[Any, Any], args: tuple[int, ...], y: int) -> list[int]:
    """The slots of the partial derivatives: their program, copied in."""
    partials = _traced_partials(p, b.slots[y])
    where = b.inline(partials, (*args, y))
    return [where[k] for k in partials.outputs]


@cache
def _traced_partials(p: Elementwise[Any, Any], leaf: Leaf) -> Program[Any, Any]:
    """The partial derivatives in the arguments and the value, written in the language itself; traced once."""
    rule = p.rule
    assert rule.derivatives is not None  # its result is real
    b = Builder([leaf] * (rule.arity + 1))
    exprs = [Expr(b, leaf.space, (k,)) for k in range(b.arity)]
    partials = rule.derivatives(p.params, tuple(exprs[:-1]), exprs[-1])
    for partial in partials:
        mine = isinstance(partial, Expr) and partial.builder is b
        if not mine or [b.slots[k].axes for k in partial.slots] != [leaf.axes]:
            msg = (
                f"the derivative of primitive {p.name} is {shown(partial)}, "
                f"where an expression of {leaf} in its argument and its value is due"
            )
            raise SpaceError(msg)
    outputs = [partial.slots[0] for partial in partials]
    dom = DirectSum((leaf.space,) * b.arity)
    return b.build(dom, outputs, _of_leaves([b.slots[k] for k in outputs]))


def _pruned(b: Builder, p: Program[Any, Any], m: list[int], arcs: list[Arc]) -> Pointwise[Any, Any, Any]:
    """Arcs that no input reaches or no output's differential needs are 0 and go, with the data that only they read."""
    outputs = tuple(m[k] for k in p.outputs)
    moving = {k for k in range(b.arity) if b.slots[k].is_field}
    for arc in arcs:
        if arc.src in moving:
            moving.add(arc.dst)
    wires = [k for k in outputs if b.slots[k].is_field]
    live = set(wires)
    kept = []
    for arc in reversed(arcs):
        if arc.dst in live and arc.src in moving:
            live.add(arc.src)
            kept.append(arc)
    used = {arc.map.datum.slot for arc in kept if isinstance(arc.map, wire.Section) and isinstance(arc.map.datum, Ref)}
    data = sorted(used)
    flow = sorted(live | {k for k in range(b.arity) if b.slots[k].is_field})
    bound = b.build(p.dom, [*outputs, *data], _of_leaves([*p.cod.leaves, *(b.slots[k] for k in data)]), p.names)
    slot = dict(zip(data, bound.outputs[len(outputs) :], strict=True))
    number = {k: i for i, k in enumerate(flow)}

    def renumbered(f: wire.Wire) -> wire.Wire:
        if isinstance(f, wire.Section) and isinstance(f.datum, Ref):
            return wire.Section(f.spec, f.side, Ref(slot[f.datum.slot], f.datum.leaf))
        return f

    body = Net(
        p.dom.tangent,
        p.cod.tangent,
        tuple(number[k] for k in range(b.arity) if b.slots[k].is_field),
        tuple(Arc(renumbered(a.map), number[a.src], number[a.dst]) for a in reversed(kept)),
        tuple(number[k] for k in wires),
        tuple(b.slots[k] for k in flow),
    )
    value: Program[Any, Any] = Program(p.dom, p.cod, bound.steps, bound.outputs[: len(outputs)], bound.slots, p.names)
    return Pointwise(value, body)


def _of_leaves(leaves: Sequence[Any]) -> Type:
    return DirectSum(tuple(leaf.space for leaf in leaves))


@overload
def affine(f: Map[V, W], x: Vec[V], /) -> tuple[Vec[W], LinMap[V, W]]: ...
@overload
def affine(f: Map[DirectSum[A, B], W], a: Vec[A], b: Vec[B], /) -> tuple[Vec[W], LinMap[DirectSum[A, B], W]]: ...
@overload
def affine(
    f: Map[DirectSum[A, B, C], W], a: Vec[A], b: Vec[B], c: Vec[C], /
) -> tuple[Vec[W], LinMap[DirectSum[A, B, C], W]]: ...
@overload
def affine(
    f: Map[DirectSum[A, B, C, D], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], /
) -> tuple[Vec[W], LinMap[DirectSum[A, B, C, D], W]]: ...
@overload
def affine(
    f: Map[DirectSum[A, B, C, D, E], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], /
) -> tuple[Vec[W], LinMap[DirectSum[A, B, C, D, E], W]]: ...
@overload
def affine(
    f: Map[DirectSum[A, B, C, D, E, F], W], a: Vec[A], b: Vec[B], c: Vec[C], d: Vec[D], e: Vec[E], g: Vec[F], /
) -> tuple[Vec[W], LinMap[DirectSum[A, B, C, D, E, F], W]]: ...
@overload
def affine(
    f: Map[DirectSum[A, B, C, D, E, F, G, *Rest], W],
    a: Vec[A],
    b: Vec[B],
    c: Vec[C],
    d: Vec[D],
    e: Vec[E],
    g: Vec[F],
    h: Vec[G],
    /,
    *more: Vec[Any],
) -> tuple[Vec[W], LinMap[DirectSum[A, B, C, D, E, F, G, *Rest], W]]: ...
def affine(f: Map[Any, Any], *x: Any) -> Any:
    """f^[1](x) = (f x, f' x), both at a point: Figure 1 on a value. Raises SpaceError for a point of another space."""
    d = derivative(f)
    return d.run(argument(f, x))


def jvp(f: Map[V, W]) -> Program[DirectSum[V, V], W]:
    """V ⊕ V → W, (x, dx) ↦ f'(x)(dx), a function of the language."""
    return derivative(f).uncurried
