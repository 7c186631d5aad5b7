"""Forward: the derivative let series of a tape along a direction, 𝒟F(a)(u) (§13.1)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import assert_never

from adjoint.higher.machine.forward_values import TWICE, Mover
from adjoint.higher.value.normal_forms import neutral
from adjoint.higher.value.pullback_values import (
    Applied,
    At,
    Crossed,
    DirectionalCovector,
    DualNumber,
    Functional,
    Linearized,
    Neutral,
    Node,
    Out,
    Section,
    Start,
    Still,
    Stopped,
    Stuck,
    Summed,
    Tape,
    Turned,
)
from adjoint.higher.value.stored_types import leafwise, zero, zero_at
from diff.derive.affine import jvp
from diff.lam.term.binding import Pass
from diff.lam.term.lam_values import Native, Tagged, Value, flat, shaped, summands
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import Diff
from diff.lam.term.types import Arrow, DataType, Ground, Lin, Ty, dual, mentions
from linmap import LinMap


class Pusher(Mover, ABC):
    """Tangents."""

    @abstractmethod
    def gradient(self, function: Value, point: Value, covector: Value, arrow: Arrow) -> Pass:
        """(λu. 𝒟f(a)(u))*·c."""

    def differential(self, function: Value, point: Value, direction: Value, arrow: Ty) -> Pass:
        """𝒟F(a)(u), F : σ → τ (§13.1)."""
        assert isinstance(arrow, Arrow)
        if isinstance(function, Neutral):
            return (yield self._neutral_differential(function, point, direction, arrow))
        tape = self.tape()
        moving = self.lifted(point, arrow.dom, tape)
        start = tape.nodes[0]
        leaves = tape.forward[start] = leaves_of(direction, arrow.dom)
        is_alike = len(leaves) == len(start.types) and _has_tags_of(point, direction)
        if not is_alike or any(map(_is_hidden, leaves, start.types)):
            if self.is_open:
                raise Stuck
            raise TermError("shape", "the direction has other tags, or another length, than the point")
        result = yield self.call(function, moving)
        return (yield self.pushed(tape, result, arrow.cod))

    def _neutral_differential(self, function: Neutral, point: Value, direction: Value, arrow: Arrow) -> Pass:
        """𝒟k(a)(u), k neutral: linear in u; raises Stuck where a moves."""
        level = max(self.levels(direction), default=0)
        if level:
            result = yield self._neutral_differential(function, point, self.still(direction, level), arrow)
            node = Stopped(function, point, direction, self.types(result, arrow.cod))
            self.tapes[level].add(node)
            return self.moved(result, arrow.cod, node, level)
        at = yield self.read(point, arrow.dom)
        along = yield self.read(direction, arrow.dom)
        return neutral(Diff(function.term, at, along), arrow.cod)

    def pushed(self, tape: Tape, value: Value, ty: Ty) -> Pass:
        """The tangent of a value, for the tangents of the start that are on the tape."""
        while len(tape.forward) < len(tape.nodes):
            node = tape.nodes[len(tape.forward)]
            tape.forward[node] = yield self._forward(tape, node)
        return self._tangent(tape, value, ty)

    def _moving_covector(self, tape: Tape, value: Value, arrow: Arrow) -> Functional:
        """The tangent of a covector at functions: that of h ↦ c(h a) is ċ(h a) + c(𝒟h(a)(ȧ))."""
        if isinstance(value, DualNumber):
            moving = self._moving_covector(tape, value.value, arrow)
            own = _pushed(tape, value.tangent).terms if value.level == tape.level else ()
            return Functional((*moving.terms, *own))
        terms: list[At | DirectionalCovector] = []
        for one in value.terms:
            if tape.level not in self.levels(Functional((one,))):
                continue
            if isinstance(one, DirectionalCovector):
                raise Stuck(TWICE)
            point, c = self.still(one.point, tape.level), self.still(one.covector, tape.level)
            terms.append(At(point, self._tangent(tape, one.covector, dual(arrow.cod))))
            if tape.level in self.levels(one.point):
                terms.append(DirectionalCovector(point, self._tangent(tape, one.point, arrow.dom), c))
        return Functional(tuple(terms))

    def _tangent(self, tape: Tape, value: Value, ty: Ty) -> Value:
        """The tangent of a value, once the nodes that it mentions are done."""

        def tangent(leaf: Value, kind: Ty) -> Value:
            if isinstance(kind, Ground):
                moves = isinstance(leaf, DualNumber) and leaf.level == tape.level
                return _pushed(tape, leaf.tangent) if moves else zero(kind)
            has_tags = isinstance(kind, Arrow) and mentions(kind.cod, DataType)  # those of its results
            if tape.level not in self.levels(leaf) and not has_tags:
                return zero(kind)
            if isinstance(kind, Lin) and isinstance(kind.dom, Arrow) and not isinstance(leaf, Neutral):
                return self._moving_covector(tape, leaf, kind.dom)
            if not isinstance(kind, Arrow):
                raise Stuck
            cod = kind.cod

            def run(arg: Value) -> Pass:  # 𝒥(λx. A)(y)(v) = λx. 𝒥(A)(y)(v)
                result = yield self.call(leaf, arg)
                return (yield self.pushed(tape, result, cod))

            moving = leaf
            while isinstance(moving, Still):  # its value stands still there, and what its tangent is made of moves
                moving = moving.function
            return Native(run, (self.still(moving, tape.level), tuple(next(iter(tape.forward.values())))))

        return leafwise(value, ty, tangent)

    def _forward(self, tape: Tape, node: Node) -> Pass:
        """The tangents that a node makes."""
        match node:
            case Start():
                return tape.forward[node]
            case Linearized(op, name, points, tangents):
                spaces = summands(op.dom)
                along = tuple(
                    s.zeros() if t is None else _pushed(tape, t) for s, t in zip(spaces, tangents, strict=True)
                )
                if isinstance(op, LinMap):
                    return flat(self.primitive(op, along, name))
                is_linear = any(isinstance(u, DualNumber) for u in along)  # rule 14, where the points stand still
                if is_linear and not any(isinstance(x, DualNumber) for x in points):
                    return flat(self.jacobian(op, name, shaped(op.dom, iter(along)), shaped(op.dom, iter(points))))
                return flat(self.primitive(jvp(op), (points, along), f"{name}'" if name else ""))
            case Summed(left, right):
                total = yield self.sum(_pushed(tape, left), _pushed(tape, right))
                return [total]
            case Applied(function, point, result):
                image = yield self.call(_pushed(tape, function), point)
                return leaves_of(image, function_type(function.type).cod)
            case Section(function, point):
                f, arrow = _pushed(tape, function), function_type(function.type)
                return [Native(lambda u: self.differential(f, point, u, arrow), (f, point))]
            case Turned(function, point, covector):
                image = yield self.gradient(_pushed(tape, function), point, covector, function_type(function.type))
                return leaves_of(image, function_type(function.type).dom)
            case Crossed(function, lower, point, result):
                arrow = function_type(function.type)
                u = self.still(self._tangent(tape, point, arrow.dom), lower)
                section = Section(function, self.still(point, tape.level), (arrow,))
                self.tapes[lower].add(section)
                return leaves_of(self.applied(zero_at(result, arrow.cod), Out(section, 0), lower, u), arrow.cod)
            case Stopped(stopped, point, direction):
                arrow = function_type(stopped.type)
                u = self._tangent(tape, direction, arrow.dom)
                image = yield self.differential(stopped, point, u, arrow)
                return leaves_of(image, arrow.cod)
            case _:
                assert_never(node)


def function_type(ty: Ty) -> Arrow:
    """The type of a function."""
    assert isinstance(ty, Arrow)
    return ty


def leaves_of(value: Value, ty: Ty) -> list[Value]:
    """The leaves of a value from left to right: vectors, functions and neutral terms, and nothing discrete."""
    leaves: list[Value] = []

    def step(leaf: Value, _: Ty) -> Value:
        leaves.append(leaf)
        return leaf

    leafwise(value, ty, step)
    return leaves


def assembled(result: Value, function: Out, covectors: list[Value]) -> Value:
    """The covector of a function's result from those of its leaves."""
    it = iter(covectors)
    return leafwise(result, function_type(function.type).cod, lambda *_: next(it))


def _has_tags_of(point: Value, direction: Value) -> bool:
    """Compare the constructors of a direction with those of the point, wherever both hold a variant, nowhere else."""
    stack = [(point, direction)]
    while stack:
        a, u = stack.pop()
        if isinstance(a, tuple) and isinstance(u, tuple):
            stack += zip(a, u, strict=True)  # of one type, and so of one length
        elif isinstance(a, Tagged) and isinstance(u, Tagged):
            if a.label != u.label:
                return False
            stack.append((a.payload, u.payload))
    return True


def _is_hidden(leaf: Value, ty: Ty) -> bool:
    """Tell if a neutral variant stands where the parts of one are due."""
    return isinstance(leaf, Neutral) and isinstance(leaf.type, DataType) and not isinstance(ty, DataType)


def _pushed(tape: Tape, out: Out) -> Value:
    return tape.forward[out.node][out.index]
