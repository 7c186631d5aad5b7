"""The values that reduction adds to those of the λ-language: moving ones, covectors, and terms that it stops at.

A covector on a space is stored as the vector that it is the inner product with, on tuples and constructors part by
part, and on dual types, where the normal form is pt(u), as u. On functions it is a sum of evaluations (`Functional`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, final

from attrs import field, frozen

from diff.lam.term.lam_values import Closure, Native, Value, ValueForm
from diff.lam.term.types import Ty

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm, Pattern
    from hilbert.map.map import AnyMap


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


FunctionValue: TypeAlias = Closure | Native | Pulled | Jacobian | Still | Neutral | DualNumber
"""The closed union of what is applied."""
AnyValue: TypeAlias = FunctionValue | Functional | ValueForm
"""The closed union of values, for a `match`."""


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

    def along(self, start: Start, direction: list[Value]) -> Tape:
        """The same nodes, these and those to come, along another direction."""
        tape = Tape(self.level)
        tape.nodes, tape.forward = self.nodes, {start: direction}
        return tape


class Stuck(Exception):  # noqa: N818 - no error of the user's
    """A derivative does not reduce: a neutral term stands where a value is needed, or a covector has no normal form.

    Of the latter the message says which construct it is.
    """
