"""What reduction adds to the values of the λ-language: values that move, covectors, and terms that it stops at.

A covector on a space is stored as the vector that it is the inner product with, on tuples and constructors part by
part, and on dual types, where the normal form is pt(u), as u. On functions it is a sum of evaluations (`Functional`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import field, frozen

from diff.higher.errors import TermError
from diff.higher.inductive import is_first_order, payload
from diff.higher.types import Arrow, DataType, Ground, Int, Lin, TupleType, Ty, dual, mentions
from diff.higher.values import Native, Tagged, Value, summands
from hilbert import Bool
from hilbert.once import once

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.higher.binding import Pass
    from diff.higher.terms import AnyTerm, Pattern
    from hilbert.map import AnyMap


@final
@frozen(eq=False)
class Neutral:
    """A term that reduction stops at: a free variable is applied, or taken apart. Its type is no product."""

    term: AnyTerm
    type: Ty


@final
@frozen(eq=False)
class Pulled:
    """(Ω λp. t)·ω, t : σ, not yet applied."""

    pattern: Pattern
    body: AnyTerm
    values: dict[int, Value] = field(repr=False)
    form: Value
    type: Ty


@final
@frozen(eq=False)
class Jacobian:
    """𝒥f·v, not yet applied."""

    op: AnyMap
    direction: Value
    name: str


@final
@frozen(eq=False)
class Still:
    """A function without what moves at a level."""

    function: Value
    level: int


# --- covectors on functions ---


@final
@frozen(eq=False)
class At:
    """ev(a; c), h ↦ c(h a)."""

    point: Value
    covector: Value


@final
@frozen(eq=False)
class DirectionalCovector:
    """dv(a, u; c), h ↦ c(𝒟h(a)(u))."""

    point: Value
    direction: Value
    covector: Value


@final
@frozen(eq=False)
class Functional:
    """A sum of evaluations."""

    terms: tuple[At | DirectionalCovector, ...] = ()


# --- values that move ---


@final
@frozen(eq=False)
class Out:
    """One result of a node of a tape: a variable of the derivative let series."""

    node: Node
    index: int

    @property
    def type(self) -> Ty:
        """The type of the tangent."""
        return self.node.types[self.index]


@final
@frozen(eq=False)
class DualNumber:
    """v + ε v̇, ε² = 0, for the ε of a level: the later differentiation has the higher level.

    Of a vector the v of the highest level is outermost; of a function the order is free.
    """

    value: Value
    tangent: Out
    level: int


# --- the derivative let series: tangents, linear in those of the start ---


@final
@frozen(eq=False)
class Start:
    """The linear variables: one for each leaf of the point."""

    point: Value
    type: Ty
    types: tuple[Ty, ...]


@final
@frozen(eq=False)
class Linearized:
    """(𝒥f·ż) W(z) (rules 10–15), z by leaves."""

    op: AnyMap
    name: str
    points: tuple[Value, ...]
    tangents: tuple[Out | None, ...]
    types: tuple[Ty, ...]


@final
@frozen(eq=False)
class Summed:
    """ẋ + ẏ."""

    left: Out
    right: Out
    types: tuple[Ty, ...]


@final
@frozen(eq=False)
class Applied:
    """ż a (rule 19a)."""

    function: Out
    point: Value
    result: Value
    types: tuple[Ty, ...]


@final
@frozen(eq=False)
class Stopped:
    """𝒟k(a)(u̇) of a neutral function k; u moves."""

    function: Neutral
    point: Value
    direction: Value
    types: tuple[Ty, ...]


@final
@frozen(eq=False)
class Crossed:
    """𝒟ż(a)(ȧ), linear in ȧ at one level and in ż at a lower one; `point` moves at the higher."""

    function: Out
    lower: int
    point: Value
    result: Value
    types: tuple[Ty, ...]


@final
@frozen(eq=False)
class Section:
    """λu. 𝒟ż(a)(u), linear in ż."""

    function: Out
    point: Value
    types: tuple[Ty, ...]


@final
@frozen(eq=False)
class Turned:
    """(λu. 𝒟ż(a)(u))*·c, linear in ż."""

    function: Out
    point: Value
    covector: Value
    types: tuple[Ty, ...]


Node: TypeAlias = Start | Linearized | Summed | Applied | Stopped | Crossed | Section | Turned
"""The closed union of tangents."""


@final
class Tape:
    """The nodes of one differentiation in the order in which they were made, and their values along a direction."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.nodes: list[Node] = []
        self.forward: dict[Node, list[Value]] = {}

    def add(self, node: Node) -> None:
        """Append a node."""
        self.nodes.append(node)


class Stuck(Exception):  # noqa: N818 - no error of the user's
    """A derivative does not reduce, because a neutral term stands where a value is needed."""


# --- types of what is stored ---


def is_discrete(op: AnyMap, name: str) -> bool:
    """Whether all results of a primitive are discrete: these do not move. Raises TermError `type` where some are."""
    if op.cod.is_space:
        return False
    if any(space.is_space for space in summands(op.cod)):
        raise TermError("type", f"{name or op} has discrete and real results, and no derivative")
    return True


@once
def stored(ty: Ty) -> Ty:
    """The type as which values are stored: σ* as σ, but where functions are.

    Raises TermError `type` for covectors on variants that hold functions.
    """
    while isinstance(ty, Lin):
        dom = ty.dom
        match dom:
            case Ground() | Int():
                return dom
            case TupleType(parts):
                return TupleType(tuple(map(dual, parts)))
            case DataType():
                if not is_first_order(dom):
                    raise TermError("type", f"there are no covectors on {dom}: it holds functions")
                return dom
            case Lin(inner):
                ty = inner
            case _:  # functions
                return ty
    return ty


def leafwise(value: Value, ty: Ty, step: Callable[[Value, Ty], Value]) -> Value:
    """The value with `step(v, σ)` for its leaves, from left to right; what is discrete stays."""
    results: list[Value] = []
    todo: list[tuple[Any, Ty | None]] = [(value, ty)]
    while todo:  # what to visit; without a type, how many results make a tuple, or the label of the last one
        one, of = todo.pop()
        kind = _kind(one, of)
        match kind:
            case None if isinstance(one, str):
                results[-1] = Tagged(one, results[-1])
            case None:
                results[len(results) - one :] = [tuple(results[len(results) - one :])]
            case Ground(space):
                results.append(step(one, kind) if space.is_space else one)
            case TupleType(parts) if type(one) is tuple:
                todo.append((len(one), None))
                todo.extend(zip(reversed(one), reversed(parts), strict=True))
            case DataType() if isinstance(one, Tagged):
                todo.append((one.label, None))
                todo.append((one.payload, payload(kind, one.label)))
            case Int():
                results.append(one)
            case _:  # a function, or a neutral term
                results.append(step(one, kind))
    return results[0]


def _kind(value: Any, ty: Ty | None) -> Ty | None:
    """The type as which a value is stored; σ* stays for functions, and where a neutral term stands."""
    return stored(ty) if isinstance(ty, Lin) and not isinstance(value, Neutral) else ty


def zero(ty: Ty) -> Value:
    """0 : σ; raises TermError `shape` at variants, where 0 has no one shape."""
    kind = stored(ty)
    match kind:
        case Ground(space) if space.is_space:
            return space.zeros()
        case TupleType(parts):
            return tuple(map(zero, parts))
        case Arrow(_, cod):

            def constant(_: Value) -> Pass:
                return zero(cod)
                yield

            return Native(constant)
        case Lin():
            return Functional()
        case Ground(space):  # what is discrete does not move: any element will do
            return space.vec(False if space == Bool else 0)
        case Int():
            return 0
        case _:  # variants
            raise TermError("shape", f"there is no 0 of {ty} before its tags and lengths are known")


def zero_at(point: Value, ty: Ty) -> Value:
    """0 among the tangents at a point: its tags and lengths are those of the point.

    Raises Stuck where a neutral term stands for a variant.
    """

    def leaf(one: Value, kind: Ty) -> Value:
        if isinstance(kind, Arrow) and mentions(kind.cod, DataType):
            return one  # what is linear has one derivative everywhere
        if isinstance(kind, DataType):
            raise Stuck
        return zero(kind)

    return leafwise(point, ty, leaf)
