"""The derivative let series as a term: the S of (λv. S)*·c, where c or a point is neutral and T cannot go on."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from adjoint.higher.machine.transpose import Transposer
from adjoint.higher.value.normal_forms import with_lets
from adjoint.higher.value.product_components import component, leaf_pattern, shaped, way
from adjoint.higher.value.pullback_values import (
    Applied,
    Crossed,
    DualNumber,
    Linearized,
    Neutral,
    Node,
    Out,
    Section,
    Start,
    Stopped,
    Stuck,
    Summed,
    Tape,
    Turned,
)
from adjoint.higher.value.stored_types import stored
from diff.lam.check.library_names import sign
from diff.lam.files.type_of_term import type_of
from diff.lam.term.binding import Pass, mapped
from diff.lam.term.inductive import payload
from diff.lam.term.lam_values import Tagged, Value, summands
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Con,
    Cov,
    Diff,
    Dual,
    Jac,
    Lam,
    Plus,
    Prim,
    Sharp,
    Tuple,
    Var,
    Zero,
    fresh,
    variables,
)
from diff.lam.term.types import Arrow, DataType, Ground, Int, Lin, Param, SelfType, TupleType, Ty, Unknown, dual, ground
from diff.terms.nodes import Bilinear
from linmap import LinMap


class Bodies(Transposer):
    """Tangents read back."""

    def body(self, tape: Tape, start: Start, result: Value, ty: Ty) -> Pass:
        """(p, S): the tangent of a result as a term in the variables of a pattern."""
        pattern = leaf_pattern(start.type)
        names = variables(pattern)
        if len(names) != len(start.types):
            raise Stuck
        series = _Series(self, tape, start, names)
        body = yield series.scope(result, ty, 1)
        return pattern, body


class _Series:
    """One tape as nested lets; a node that is used once stands where it is used."""

    def __init__(self, machine: Bodies, tape: Tape, start: Start, names: list[Var]) -> None:
        self.machine, self.tape, self.start, self.names = machine, tape, start, names
        self.variables: dict[Node, Var] = {}
        self.uses: Counter[Node] = Counter()

    def scope(self, value: Value, ty: Ty, first: int) -> Pass:
        """let … in S: the tangent of a value, with the nodes from the first on that it needs."""
        body: AnyTerm = yield self._tangent(value, ty)
        terms: dict[Node, AnyTerm] = {}
        for node in reversed(self.tape.nodes[first:]):
            if self.uses[node]:
                terms[node] = yield self._node(node)
        return self._bound(terms, body)

    def _bound(self, terms: dict[Node, AnyTerm], body: AnyTerm) -> AnyTerm:
        """Bind the terms of nodes, the last node first, in a term: by a let, or in its place one that is used once."""
        inlined: dict[int, AnyTerm] = {}
        lets: list[tuple[Var, AnyTerm]] = []

        def inline(term: AnyTerm) -> AnyTerm | None:
            return inlined.get(term.number, term) if isinstance(term, Var) else None

        for node, term in reversed(terms.items()):
            x, whole = self.variables[node], mapped(term, inline)
            if self.uses.pop(node) == 1:  # what stands under this λ is not needed outside
                inlined[x.number] = whole
            else:
                lets.append((x, whole))
        return with_lets(lets, mapped(body, inline))

    def _out(self, out: Out | None, ty: Ty) -> AnyTerm:
        if out is None:
            return Zero(ty)
        if out.node is self.start:
            return _as_stored(self.names[out.index], out.type)
        self.uses[out.node] += 1
        whole = _result(out.node)
        if out.node not in self.variables:
            self.variables[out.node] = fresh("d", whole)
        term: AnyTerm = self.variables[out.node]
        for k in way(whole, out.index):
            term = component(term, k)
        return _as_stored(term, out.type)

    def _tangent(self, value: Value, ty: Ty) -> Pass:
        """The tangent of a value."""
        level, kind = self.tape.level, ty if isinstance(value, Neutral) else stored(ty)
        if isinstance(value, DualNumber) and value.level == level:
            term = self._out(value.tangent, kind)
            if isinstance(ty, Lin) and value.tangent.type is not ty:
                if ty.dom is not kind:
                    raise Stuck
                return Cov(term)
            if isinstance(kind, Ground) or level not in self.machine.levels(value.value):
                return term
            inner = yield self._tangent(value.value, ty)
            return Plus(term, inner)
        if level not in self.machine.levels(value):
            return Zero(ty)
        match value, kind:
            case tuple(), TupleType(parts) if not isinstance(ty, Lin):
                made = []
                for one, part in zip(value, parts, strict=True):
                    term = yield self._tangent(one, part)
                    made.append(term)
                return Tuple(tuple(made))
            case Tagged(label, one), DataType() if not isinstance(ty, Lin):
                inner = yield self._tangent(one, payload(kind, label))
                return Con(label, kind, inner)
            case _, Arrow(dom, cod):  # rule 18: λx. S'
                first = len(self.tape.nodes)
                x = fresh("x", dom)
                result = yield self.machine.call(value, self.machine.free(x))
                body = yield self.scope(result, cod, first)
                return Lam(x, body)
            case _, Ground() | Int() | TupleType() | Lin() | DataType() | Param() | SelfType() | Unknown():
                raise Stuck  # such as a covector that moves
            case _:
                assert_never(kind)

    def _node(self, node: Node) -> Pass:
        """The right-hand side of one binding."""
        read = self.machine.read
        match node:
            case Linearized(op, name, points, tangents):
                spaces = summands(op.dom)
                along = [self._out(t, Ground(space)) for t, space in zip(tangents, spaces, strict=True)]
                if isinstance(op, LinMap):
                    known = [term for term, t in zip(along, tangents, strict=True) if t is not None]
                    return known[0] if name == "+" and len(known) == 1 else Prim(op, shaped(op.dom, along), name)
                at = []
                for point, space in zip(points, spaces, strict=True):
                    term = yield read(point, Ground(space))
                    at.append(term)
                if isinstance(op, Bilinear) and len(tangents) == 2:  # B(u̇, v) + B(u, v̇)
                    both = [(along[0], at[1]), (at[0], along[1])]
                    terms: list[AnyTerm] = [
                        Prim(op, Tuple(pair), name) for pair, t in zip(both, tangents, strict=True) if t is not None
                    ]
                    return terms[0] if len(terms) == 1 else _plus(terms[0], terms[1], ground(op.cod))
                return App(Jac(op, shaped(op.dom, along), name), shaped(op.dom, at))
            case Summed(left, right, (ty,)):
                return _plus(self._out(left, ty), self._out(right, ty), ty)
            case Applied(function, point, _):
                at_ = yield read(point, _dom(function.type))
                return App(self._out(function, function.type), at_)
            case Stopped(stopped, point, direction):
                at_ = yield read(point, _dom(stopped.type))
                moved = yield self._tangent(direction, _dom(stopped.type))
                return Diff(stopped.term, at_, moved)
            case Section(function, point):
                u = fresh("u", _dom(function.type))
                body = yield self._along(function, point, u)
                return Lam(u, body)
            case Turned(function, point, covector):
                arrow = function.type
                assert isinstance(arrow, Arrow)
                u = fresh("u", arrow.dom)
                body = yield self._along(function, point, u)
                c = yield read(covector, dual(arrow.cod))
                return Dual(u, body, c)
            case Crossed() | Start() | Summed():
                raise Stuck
            case _:
                assert_never(node)

    def _along(self, function: Out, point: Value, direction: Var) -> Pass:
        """𝒟ż(a)(u); where ż is λu. 𝒟ẏ(b)(u), which is linear in u, this is 𝒟ẏ(b)(u)."""
        while isinstance(section := function.node, Section):
            function, point = section.function, section.point
        at = yield self.machine.read(point, direction.type)
        return Diff(self._out(function, function.type), at, direction)


def _as_stored(term: AnyTerm, ty: Ty) -> AnyTerm:
    """A tangent as the tape has it: of a covector the vector that it is the inner product with."""
    own = type_of(term)
    if own is ty:
        return term
    if not isinstance(own, Lin) or own.dom is not ty:
        raise Stuck
    return Sharp(term)


def _plus(left: AnyTerm, right: AnyTerm, ty: Ty) -> AnyTerm:
    if isinstance(ty, Ground):
        return Prim(sign("+", ty.space, ty.space), Tuple((left, right)), "+")
    return Plus(left, right)


def _dom(ty: Ty) -> Ty:
    assert isinstance(ty, Arrow)
    return ty.dom


def _result(node: Node) -> Ty:
    """The type of what a node makes."""
    match node:
        case Linearized(op):
            return ground(op.cod)
        case Applied(function) | Crossed(function):
            assert isinstance(function.type, Arrow)
            return function.type.cod
        case Stopped(stopped):
            assert isinstance(stopped.type, Arrow)
            return stopped.type.cod
        case Turned(function):
            return dual(_dom(function.type))
        case Summed() | Section():
            return node.types[0]
        case Start():
            return node.type
        case _:
            assert_never(node)
