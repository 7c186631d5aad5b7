"""Backward: the derivative let series of a tape transposed (§10.1 of the paper), one accumulator for each variable.

T(v. S; c) is one sweep over the tape from its end. `pushed` is the same series along a direction: 𝒟F(a)(u).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from adjoint.higher.backward import adjoint_of, moving_part, vjp_of
from adjoint.higher.moving import Mover
from adjoint.higher.reader import neutral
from adjoint.higher.values import (
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
    Stopped,
    Stuck,
    Summed,
    Tape,
    Turned,
    leafwise,
    stored,
    zero,
    zero_at,
)
from diff.affine import jvp
from diff.higher.binding import Pass
from diff.higher.errors import TermError
from diff.higher.operators import primitive, sign
from diff.higher.terms import Diff
from diff.higher.types import Arrow, DataType, Ground, Lin, TupleType, Ty, dual, payload
from diff.higher.values import Native, Tagged, Value, flat, summands
from hilbert import R, Vec
from linmap import LinMap

Sums: TypeAlias = "defaultdict[tuple[Node, int], list[Value]]"
"""The covectors of the results of nodes, by node and number of the result: their summands."""


class Transposer(Mover):
    """Covectors."""

    # --- reverse: T(v. S; c) ---

    def transposed(self, tape: Tape, start: Start, results: list[tuple[Value, Ty, Value]]) -> Pass:
        """The covector of the start, from (value, type, covector) of results; raises Stuck at a neutral term."""
        sums: Sums = defaultdict(list)
        yield self._seed(tape, results, sums)
        for node in reversed(tape.nodes):
            if node is not start:
                found = [sums.pop((node, k), ()) for k in range(len(node.types))]
                if any(found):
                    covectors = yield from self._totals(found, node.types)
                    self._backward(tape, node, covectors, sums)
        parts = yield from self._totals([sums[start, k] for k in range(len(start.types))], start.types)
        it = iter(parts)
        return leafwise(start.point, start.type, lambda *_: next(it))

    def _totals(self, sums: Sequence[Sequence[Value]], types: tuple[Ty, ...]) -> Pass:
        """The covectors of all results of a node."""
        made = []
        for some, ty in zip(sums, types, strict=True):
            made.append(some[0] if len(some) == 1 else (yield from self._total(some, ty)))
        return made

    def _total(self, summands: Sequence[Value], ty: Ty) -> Pass:
        """Σ c, 0 for none; a long sum of evaluations is put together once."""
        if not summands:
            return zero(dual(ty))
        if all(isinstance(one, Functional) for one in summands):
            return Functional(tuple(term for one in summands for term in one.terms))
        total = summands[0]
        for one in summands[1:]:
            total = yield self.sum(total, one)
        return total

    def _seed(self, tape: Tape, results: list[tuple[Value, Ty, Value]], sums: Sums) -> Pass:
        """T(v. S; c) by the form of a result: the first step of the sweep."""
        level, todo = tape.level, list(results)
        while todo:
            value, ty, c = todo.pop()
            kind: Ty = ty if isinstance(value, Neutral) else stored(ty)
            if isinstance(value, DualNumber):
                if _is_neutral(c):
                    raise Stuck
                if value.level == level:
                    _record(sums, value.tangent, c)
                if not isinstance(kind, Ground):
                    todo.append((value.value, kind, c))
                elif value.level > level:
                    raise Stuck
                continue
            if level not in self.levels(value):
                continue
            if _is_neutral(c):
                raise Stuck
            match value, kind:
                case tuple(), TupleType(parts):  # T(v. ⟨A, B⟩; (c₁, c₂)) = T(v.A; c₁) + T(v.B; c₂)
                    todo.extend(zip(value, parts, c, strict=True))
                case Tagged(label, inner), DataType():
                    todo.append((inner, payload(kind, label), c.payload))
                case Functional(terms), Lin(Arrow() as arrow, _):  # c is a function
                    for term in terms:
                        todo += yield self._evaluated(tape, term, arrow, c)
                case _, Arrow(_, cod):  # T(v. λx. A; ev(a; c)) = T(v. A[a/x]; c)
                    if not isinstance(c, Functional):
                        raise Stuck
                    for term in c.terms:
                        if isinstance(term, At):
                            result = yield self.call(value, term.point)
                        else:  # T(v. λx. A; dv(a, u; c)) = T(v. Jac(x. A; a; u); c)
                            result = yield self.differential(value, term.point, term.direction, kind)
                        todo.append((result, cod, term.covector))
                case _:  # nothing else moves
                    raise Stuck

    def _evaluated(self, tape: Tape, term: At | DirectionalCovector, arrow: Arrow, function: Value) -> Pass:
        """A moving evaluation at a function u: ev(a; c) is bilinear, ċ(u a) + c(𝒟u(a)(ȧ))."""
        if isinstance(term, DirectionalCovector) and tape.level in self.levels((term.point, term.direction)):
            raise Stuck
        level = tape.level
        if isinstance(term, DirectionalCovector):
            value = yield self.differential(function, term.point, term.direction, arrow)
            return [(term.covector, dual(arrow.cod), value)]
        value = yield self.call(function, self.still(term.point, level))
        found: list[tuple[Value, Ty, Value]] = [(term.covector, dual(arrow.cod), value)]
        if level in self.levels(term.point):
            still = self.still(term.covector, level)
            back = yield self.gradient(function, self.still(term.point, level), still, arrow)
            found.append((term.point, arrow.dom, back))
        return found

    def _backward(self, tape: Tape, node: Node, covectors: list[Value], sums: Sums) -> None:
        """T of one binding of the derivative let series."""
        match node:
            case Start():  # of another differentiation of the same tape
                pass
            case Linearized(op, _, points, tangents):  # T(v. (𝒥f·A) r; c) = T(v. A; (𝒥(f)(r))* c), rule 5
                if any(map(_is_neutral, covectors)):
                    raise Stuck
                if isinstance(op, LinMap):
                    back = flat(self.on_leaves(adjoint_of(op), covectors))
                    places = range(len(tangents))
                else:
                    if any(isinstance(point, Neutral) for point in points):
                        raise Stuck
                    wrt, places = moving_part(op, tuple([t is not None for t in tangents]))
                    back = flat(self.on_leaves(vjp_of(op, wrt), (*points, *covectors)))
                for k, one in zip(places, back, strict=True):
                    tangent = tangents[k]
                    if tangent is not None:
                        _record(sums, tangent, one)
            case Summed(left, right):  # T(v. A + B; c) = T(v. A; c) + T(v. B; c)
                _record(sums, left, covectors[0])
                _record(sums, right, covectors[0])
            case Applied(function, point, result):  # T(v. A Q; c) = T(v. A; ev(Q; c))
                c = _assembled(result, function, covectors)
                _record(sums, function, Functional((At(point, c),)))
            case Section(function, point):  # T(v. 𝒟A(a)(u); c) = T(v. A; dv(a, u; c))
                (c,) = covectors
                if not isinstance(c, Functional):
                    raise Stuck
                ends = ((one.point if isinstance(one, At) else one.direction, one.covector) for one in c.terms)
                _record(sums, function, Functional(tuple(DirectionalCovector(point, *end) for end in ends)))
            case Turned(function, point, covector):  # T(v. (λu. A)*·Z; pt(w)) = T(v. A[w/u]; Z)
                it = iter(covectors)
                along = leafwise(point, _function(function.type).dom, lambda *_: next(it))
                _record(sums, function, Functional((DirectionalCovector(point, along, covector),)))
            case Crossed(function, lower, point, result):  # T(v. 𝒟F(a)(B); c) = T(v. B; (λu. 𝒟F(a)(u))*·c)
                c = _assembled(result, function, covectors)
                dom = _function(function.type).dom
                at = self.still(point, tape.level)
                types = self.types(at, dom)
                if not all(isinstance(ty, Ground) for ty in types):
                    raise Stuck
                turned = Turned(function, at, self.still(c, lower), types)
                self.tapes[lower].add(turned)
                for k, leaf in enumerate(_leaves(point, dom)):
                    if isinstance(leaf, DualNumber) and leaf.level == tape.level:
                        one = self.perturbed(zero(types[k]), Out(turned, k), lower)
                        _record(sums, leaf.tangent, one)
            case Stopped():
                raise Stuck
            case _:
                assert_never(node)

    def gradient(self, function: Value, point: Value, covector: Value, arrow: Arrow) -> Pass:
        """(λu. 𝒟f(a)(u))*·c."""
        tape = self.tape()
        moving = self.lifted(point, arrow.dom, tape)
        start: Any = tape.nodes[0]
        result = yield self.call(function, moving)
        return (yield self.transposed(tape, start, [(result, arrow.cod, covector)]))

    # --- forward: 𝒟F(a)(u) ---

    def differential(self, function: Value, point: Value, direction: Value, arrow: Ty) -> Pass:
        """𝒟F(a)(u), F : σ → τ (§13.1)."""
        assert isinstance(arrow, Arrow)
        if isinstance(function, Neutral):
            return (yield self._neutral_differential(function, point, direction, arrow))
        tape = self.tape()
        moving = self.lifted(point, arrow.dom, tape)
        start = tape.nodes[0]
        leaves = tape.forward[start] = _leaves(direction, arrow.dom)
        if len(leaves) != len(start.types) or any(map(_is_hidden, leaves, start.types)):
            if self.is_open:
                raise Stuck
            raise TermError("shape", "the direction has other tags, or another length, than the point")
        result = yield self.call(function, moving)
        return (yield self.pushed(tape, result, arrow.cod))

    def _neutral_differential(self, function: Neutral, point: Value, direction: Value, arrow: Arrow) -> Pass:
        """𝒟k(a)(u), k neutral: linear in u."""
        level = max(self.levels(direction), default=0)
        if self.levels(point) - {0} if not level else level in self.levels(point):
            raise Stuck
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

    def _tangent(self, tape: Tape, value: Value, ty: Ty) -> Value:
        """The tangent of a value, once the nodes that it mentions are done."""

        def tangent(leaf: Value, kind: Ty) -> Value:
            if isinstance(kind, Ground):
                moves = isinstance(leaf, DualNumber) and leaf.level == tape.level
                return _pushed(tape, leaf.tangent) if moves else zero(kind)
            if tape.level not in self.levels(leaf):
                return zero(kind)
            if not isinstance(kind, Arrow):
                raise Stuck
            cod = kind.cod

            def run(arg: Value) -> Pass:  # 𝒥(λx. A)(y)(v) = λx. 𝒥(A)(y)(v)
                result = yield self.call(leaf, arg)
                return (yield self.pushed(tape, result, cod))

            return Native(run, (self.still(leaf, tape.level), tuple(tape.forward[tape.nodes[0]])))

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
                return flat(self.primitive(jvp(op), (points, along), f"{name}'" if name else ""))
            case Summed(left, right):
                total = yield self.sum(_pushed(tape, left), _pushed(tape, right))
                return [total]
            case Applied(function, point, result):
                made = yield self.call(_pushed(tape, function), point)
                return _leaves(made, _function(function.type).cod)
            case Section(function, point):
                f, arrow = _pushed(tape, function), _function(function.type)
                return [Native(lambda u: self.differential(f, point, u, arrow), (f, point))]
            case Turned(function, point, covector):
                made = yield self.gradient(_pushed(tape, function), point, covector, _function(function.type))
                return _leaves(made, _function(function.type).dom)
            case Crossed(function, lower, point, result):
                arrow = _function(function.type)
                u = self.still(self._tangent(tape, point, arrow.dom), lower)
                section = Section(function, self.still(point, tape.level), (arrow,))
                self.tapes[lower].add(section)
                return _leaves(self.applied(zero_at(result, arrow.cod), Out(section, 0), lower, u), arrow.cod)
            case Stopped(stopped, point, direction):
                arrow = _function(stopped.type)
                u = self._tangent(tape, direction, arrow.dom)
                made = yield self.differential(stopped, point, u, arrow)
                return _leaves(made, arrow.cod)
            case _:
                assert_never(node)

    # --- pairing ---

    def paired(self, covector: Value, direction: Value, ty: Ty) -> Pass:
        """⟪c, d⟫ of values that do not move, d : σ."""
        total: Value = R.vec(0.0)
        todo = [(covector, direction, ty)]
        while todo:
            c, d, kind = todo.pop()
            match c, d, kind:
                case Functional(terms), _, Arrow(_, cod):
                    for term in terms:
                        if isinstance(term, At):  # ⟪ev(a; c), d⟫ = ⟪c, d a⟫
                            value = yield self.call(d, term.point)
                        else:  # ⟪dv(a, u; c), d⟫ = ⟪c, 𝒟d(a)(u)⟫
                            value = yield self.differential(d, term.point, term.direction, kind)
                        todo.append((term.covector, value, cod))
                case _, Functional(), Lin(Arrow() as arrow, _):  # ⟪pt(u), φ⟫ = φ(u)
                    todo.append((d, c, arrow))
                case tuple(), tuple(), _:
                    kind = stored(kind)
                    assert isinstance(kind, TupleType)
                    todo.extend(zip(c, d, kind.parts, strict=True))
                case Tagged(label, x), Tagged(other, y), _:
                    if label != other:
                        raise TermError("shape", f"a covector at {label} is paired with a direction at {other}")
                    kind = stored(kind)
                    assert isinstance(kind, DataType)
                    todo.append((x, y, payload(kind, label)))
                case int(), _, _:
                    pass
                case Vec(), Vec(), _:
                    if c.space.is_space:
                        total = self.primitive(
                            sign("+", R, R), (total, self.primitive(primitive("inner", c.space), (c, d)))
                        )
                case _:  # a free variable
                    raise Stuck
        return total


def _record(sums: Sums, out: Out, covector: Value) -> None:
    """Add to the accumulator of a variable of the derivative let series."""
    sums[out.node, out.index].append(covector)


def _is_neutral(value: Value) -> bool:
    """Whether a covector is a neutral term, also one that moves."""
    while isinstance(value, DualNumber):
        value = value.value
    return isinstance(value, Neutral) and isinstance(value.type, Lin)


def _function(ty: Ty) -> Arrow:
    assert isinstance(ty, Arrow)
    return ty


def _leaves(value: Value, ty: Ty) -> list[Value]:
    """The leaves from left to right."""
    found: list[Value] = []

    def step(leaf: Value, _: Ty) -> Value:
        found.append(leaf)
        return leaf

    leafwise(value, ty, step)
    return found


def _assembled(result: Value, function: Out, covectors: list[Value]) -> Value:
    """The covector of a function's result from those of its leaves."""
    it = iter(covectors)
    return leafwise(result, _function(function.type).cod, lambda *_: next(it))


def _is_hidden(leaf: Value, ty: Ty) -> bool:
    """Whether a neutral variant stands where the parts of one are due."""
    return isinstance(leaf, Neutral) and isinstance(leaf.type, DataType) and not isinstance(ty, DataType)


def _pushed(tape: Tape, out: Out) -> Value:
    return tape.forward[out.node][out.index]
