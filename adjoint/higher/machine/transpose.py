"""Backward: a tape's derivative let series transposed (§10.1 of the paper); T(v. S; c) is one sweep from its end."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeAlias, assert_never

from adjoint.higher.machine.paired_values import paired
from adjoint.higher.machine.primitive_adjoints import adjoint_of, moving_part, vjp_of
from adjoint.higher.machine.pushforward import Pusher, assembled, function_type, leaves_of
from adjoint.higher.value.moving_levels import is_neutral_covector
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
    Stopped,
    Stuck,
    Summed,
    Tape,
    Turned,
)
from adjoint.higher.value.stored_types import leafwise, stored, zero
from diff.lam.check.library_names import sign
from diff.lam.term.binding import Pass
from diff.lam.term.inductive import payload
from diff.lam.term.lam_values import Native, Tagged, Value, flat
from diff.lam.term.types import Arrow, DataType, Ground, Int, Lin, Param, SelfType, TupleType, Ty, Unknown, dual
from hilbert import R, Vec
from linmap import LinMap

AT_FUNCTIONS = "the derivative 𝒟h(a)(u), where h moves and u is made of functions that move,"
"""The construct whose covector in these functions is no sum of ev and dv."""
Sums: TypeAlias = "defaultdict[tuple[Node, int], list[Value]]"
"""The covectors of the results of nodes, by node and number of the result: their summands."""


class Transposer(Pusher):
    """Covectors: T(v. S; c)."""

    def transposed(self, tape: Tape, start: Start, results: list[tuple[Value, Ty, Value]]) -> Pass:
        """The covector of the start, from (value, type, covector) of results; raises Stuck at a neutral term."""
        sums: Sums = defaultdict(list)
        yield self._seed(tape, results, sums)
        if any(map(self._is_at_functions, tape.nodes)) and all(isinstance(ty, Ground) for ty in start.types):
            return (yield self._probed(tape, start, results))
        for node in reversed(tape.nodes):
            if node is not start:
                summands = [sums.pop((node, k), ()) for k in range(len(node.types))]
                if any(summands):
                    covectors = yield from self._totals(summands, node.types)
                    self._backward(tape, node, covectors, sums)
        parts = yield from self._totals([sums[start, k] for k in range(len(start.types))], start.types)
        it = iter(parts)
        return leafwise(start.point, start.type, lambda *_: next(it))

    def _is_at_functions(self, node: Node) -> bool:
        """Tell if a node is 𝒟ż(a)(ȧ), a of a type with functions: a covector of ȧ has no normal form."""
        if not isinstance(node, Crossed):
            return False
        dom = function_type(node.function.type).dom
        return not all(isinstance(ty, Ground) for ty in self.types(node.point, dom))

    def _probed(self, tape: Tape, start: Start, results: list[tuple[Value, Ty, Value]]) -> Pass:
        """The covector of a start of vectors, entry by entry: Σ ⟪c, S[e/v]⟫·e over the basis, S pushed forward."""
        along: list[Value] = [zero(ty) for ty in start.types]
        totals: list[Value] = list(along)
        for k, ty in enumerate(start.types):
            assert isinstance(ty, Ground)
            plus, times = sign("+", ty.space, ty.space), sign("*", R, ty.space)
            for e in ty.space.basis():
                one = tape.along(start, [*along[:k], e, *along[k + 1 :]])
                for value, kind, covector in results:
                    tangent = yield self.pushed(one, value, kind)
                    entry = yield paired(self, covector, tangent, kind)
                    totals[k] = self.on_leaves(plus, (totals[k], self.on_leaves(times, (entry, e), "*")), "+")
        it = iter(totals)
        return leafwise(start.point, start.type, lambda *_: next(it))

    def _totals(self, sums: Sequence[Sequence[Value]], types: tuple[Ty, ...]) -> Pass:
        """The covectors of all results of a node."""
        totals = []
        for some, ty in zip(sums, types, strict=True):
            totals.append(some[0] if len(some) == 1 else (yield from self._total(some, ty)))
        return totals

    def _total(self, summands: Sequence[Value], ty: Ty) -> Pass:
        """Σ c, 0 for none; a long sum of evaluations is put together once."""
        if not summands:
            if isinstance(ty, DataType):  # a neutral term, of which 0 has no one shape
                raise Stuck
            return zero(dual(ty))
        if all(isinstance(one, Functional) for one in summands):
            return Functional(tuple(term for one in summands for term in one.terms))
        total = summands[0]
        if {Vec}.issuperset(map(type, summands)):
            plus = sign("+", total.space, total.space)
            for one in summands[1:]:
                total = self.on_leaves(plus, (total, one), "+")
            return total
        for one in summands[1:]:
            total = yield self.sum(total, one)
        return total

    def _seed(self, tape: Tape, results: list[tuple[Value, Ty, Value]], sums: Sums) -> Pass:
        """T(v. S; c) by the form of a result: the first step of the sweep."""
        level, todo = tape.level, list(results)
        while todo:
            value, ty, c = todo.pop()
            kind: Ty = ty if isinstance(value, Neutral) else stored(ty)
            if level not in self.levels(value):
                continue
            if is_neutral_covector(c):
                raise Stuck
            if isinstance(value, DualNumber):
                if value.level == level:
                    _record(sums, value.tangent, c)
                if not isinstance(kind, Ground):
                    todo.append((value.value, kind, c))
                elif value.level > level:
                    raise Stuck
                continue
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
                case _, Ground() | Int() | TupleType() | Lin() | DataType() | Param() | SelfType() | Unknown():
                    raise Stuck  # nothing else moves
                case _:
                    assert_never(kind)

    def _evaluated(self, tape: Tape, term: At | DirectionalCovector, arrow: Arrow, function: Value) -> Pass:
        """A moving evaluation at h: ċ(h a) + c(𝒟h(a)(ȧ)); of dv(a, u; c) the same of 𝒟h(·)(u), and c(𝒟h(a)(u̇))."""
        level = tape.level
        point, covector = self.still(term.point, level), self.still(term.covector, level)
        along, slope = None, function
        if isinstance(term, DirectionalCovector):
            along = self.still(term.direction, level)
            slope = Native(lambda a: self.differential(function, a, along, arrow), (function, along))
        value = yield self.call(slope, point)
        results: list[tuple[Value, Ty, Value]] = [(term.covector, dual(arrow.cod), value)]
        if level in self.levels(term.point):
            back = yield self.gradient(slope, point, covector, arrow)
            results.append((term.point, arrow.dom, back))
        if isinstance(term, DirectionalCovector) and level in self.levels(term.direction):
            back = yield self.gradient(function, point, covector, arrow)
            results.append((term.direction, arrow.dom, back))
        return results

    def _backward(self, tape: Tape, node: Node, covectors: list[Value], sums: Sums) -> None:
        """T of one binding of the derivative let series."""
        match node:
            case Start():  # of another differentiation of the same tape
                pass
            case Linearized(op, _, points, tangents):  # T(v. (𝒥f·A) r; c) = T(v. A; (𝒥(f)(r))* c), rule 5
                if any(map(is_neutral_covector, covectors)):
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
                c = assembled(result, function, covectors)
                _record(sums, function, Functional((At(point, c),)))
            case Section(function, point):  # T(v. 𝒟A(a)(u); c) = T(v. A; dv(a, u; c))
                (c,) = covectors
                if not isinstance(c, Functional):
                    raise Stuck
                ends = ((one.point if isinstance(one, At) else one.direction, one.covector) for one in c.terms)
                _record(sums, function, Functional(tuple(DirectionalCovector(point, *end) for end in ends)))
            case Turned(function, point, covector):  # T(v. (λu. A)*·Z; pt(w)) = T(v. A[w/u]; Z)
                it = iter(covectors)
                along = leafwise(point, function_type(function.type).dom, lambda *_: next(it))
                _record(sums, function, Functional((DirectionalCovector(point, along, covector),)))
            case Crossed(function, lower, point, result):  # T(v. 𝒟F(a)(B); c) = T(v. B; (λu. 𝒟F(a)(u))*·c)
                c = assembled(result, function, covectors)
                dom = function_type(function.type).dom
                at = self.still(point, tape.level)
                types = self.types(at, dom)
                turned = Turned(function, at, self.still(c, lower), tuple(map(_stored_dual, types)))
                self.tapes[lower].add(turned)
                for k, leaf in enumerate(leaves_of(point, dom)):
                    if isinstance(leaf, DualNumber) and leaf.level == tape.level:
                        one = self.perturbed(zero(turned.types[k]), Out(turned, k), lower)
                        _record(sums, leaf.tangent, one)
                        leaf = leaf.value  # noqa: PLW2901 - of a function, what else of it moves
                    if not isinstance(types[k], Ground) and tape.level in self.levels(leaf):
                        raise Stuck(AT_FUNCTIONS)
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


def _stored_dual(ty: Ty) -> Ty:
    """The type as which a covector on a leaf is stored."""
    return stored(dual(ty))


def _record(sums: Sums, out: Out, covector: Value) -> None:
    """Add to the accumulator of a variable of the derivative let series."""
    sums[out.node, out.index].append(covector)
