"""Vector expressions: what a traced function computes with. Each operation appends a step to the program being traced.

Constants: a vector (`Vec`) that meets an expression is a constant of the program, a Python number is the scalar (or, in
a sum, the array filled with it). A plain array has no space and is refused: write `const(V.vec(array))`.
"""

from __future__ import annotations

import itertools
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic, Literal, Never, NoReturn, TypeVar, TypeVarTuple, cast, final, overload

from diff.builder import Builder
from diff.term import Binary, Comparison, Elementwise, Primitive
from hilbert import (
    Boolean,
    Copower,
    DirectSum,
    Elements,
    Field,
    Fin,
    Index,
    Product,
    Space,
    SpaceError,
    TensorProduct,
    Type,
    Unit,
    Vec,
)
from hilbert.errors import shown
from hilbert.map import Applicable, Map, Unknown
from hilbert.matrices import product_space, transposed_space
from hilbert.relation import Full
from hilbert.space import bracketing, require_space, summands
from hilbert.spec import Spec
from hilbert.vector import Linear, require_vector, span
from linmap import contraction
from linmap.net import wire
from linmap.net.lower import net
from linmap.term.datum import constants, filled
from linmap.term.nodes import LinMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linmap.contraction import Contraction

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
H = TypeVar("H", bound=Index)
S = TypeVar("S", bound=Space)
Z = TypeVar("Z", bound=Space)
T = TypeVar("T")
Truth = TypeVar("Truth", bound="Boolean | Copower[Boolean, Any] | Copower[Copower[Boolean, Any], Any]")
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
C = TypeVar("C", bound=Type)
D = TypeVar("D", bound=Type)
E = TypeVar("E", bound=Type)
F = TypeVar("F", bound=Type)
G = TypeVar("G", bound=Type)
Rest = TypeVarTuple("Rest")

tracing: list[Builder] = []
"""The programs being traced, innermost last."""


@final
class Expr(Applicable, Generic[V]):
    """An expression of a space: the slots that hold its leaves in the program being traced."""

    __slots__ = ("builder", "slots", "space")
    instead = "write diff's function of that name, .sum(), @, inner or contract"
    __hash__ = None  # type: ignore[assignment]  # how Python says that == is no equality
    space: V
    builder: Builder
    slots: tuple[int, ...]

    def __init__(self, builder: Builder, space: V, slots: tuple[int, ...]) -> None:
        """Made by tracing: see `fun`."""
        self.builder, self.space, self.slots = builder, space, slots

    # --- vector space ---

    def _require(self, operation: str) -> V:
        """The space, for an operation that needs 0 + · ⊙; raises SpaceError for a type that is no space."""
        require_space(self.space, operation)
        return self.space

    def __add__(self: Linear[S], o: Expr[S] | Vec[S] | float) -> Expr[S]:
        return _add(_known(self), o, 1.0, "+")

    def __radd__(self: Linear[S], o: Vec[S] | float) -> Expr[S]:  # type: ignore[misc]  # self is no vector
        return _add(_known(self), o, 1.0, "+")

    def __sub__(self: Linear[S], o: Expr[S] | Vec[S] | float) -> Expr[S]:
        return _add(_known(self), o, -1.0, "-")

    def __rsub__(self: Linear[S], o: Vec[S] | float) -> Expr[S]:  # type: ignore[misc]  # self is no vector
        return _add(_scaled(_known(self), -1.0), o, 1.0, "-")

    def __neg__(self: Linear[S]) -> Expr[S]:
        return _scaled(_known(self), -1.0)

    @overload
    def __mul__(self: Linear[S], o: Expr[S] | Vec[S] | Expr[Field] | Vec[Field] | float) -> Expr[S]: ...
    @overload
    def __mul__(self: Expr[Field], o: Linear[S]) -> Expr[S]: ...
    def __mul__(self, o: Any) -> Any:
        """k·v for a scalar k, v·w entry by entry for two vectors of one space."""
        if _is_number(o):
            return _scaled(self, float(o))
        other = operand(self, o, "*")
        if other.space == self.space:
            return _hadamard(self, other)
        if isinstance(self.space, Field):
            return bilinear(contraction.scalar(other.space, self.space), self, other)
        if isinstance(other.space, Field):
            return bilinear(contraction.scalar(self.space, other.space), other, self)
        msg = (
            f"cannot multiply {self.space} and {other.space}: * is scalar times vector, or entry by entry in one "
            f"space; see inner, outer, @ and contract"
        )
        raise SpaceError(msg)

    @overload
    def __rmul__(self: Linear[S], o: Vec[S] | Vec[Field] | float) -> Expr[S]: ...
    @overload
    def __rmul__(self: Expr[Field], o: Vec[S]) -> Expr[S]: ...
    def __rmul__(self, o: Any) -> Any:
        return _scaled(self, float(o)) if _is_number(o) else operand(self, o, "*") * self

    def __truediv__(self: Linear[S], o: Expr[S] | Vec[S] | Expr[Field] | Vec[Field] | float) -> Expr[S]:
        """v/k for a scalar k, entry by entry for two vectors of one space."""
        x = _known(self)
        if _is_number(o):
            return x * (1.0 / float(o)) if _exact_reciprocal(float(o)) else elementwise(DIVIDE, x, _fill(x, o))
        other = operand(x, o, "/")
        if isinstance(other.space, Field) and not isinstance(x.space, Field):
            return elementwise(Primitive("reciprocal"), other) * x
        return elementwise(DIVIDE, x, _same(x, other, "/"))

    @overload
    def __rtruediv__(self: Linear[S], o: Vec[S] | float) -> Expr[S]: ...
    @overload
    def __rtruediv__(self: Expr[Field], o: Vec[S]) -> Expr[S]: ...
    def __rtruediv__(self: Any, o: Any) -> Any:
        if not _is_number(o):
            return operand(self, o, "/") / self
        return elementwise(Primitive("reciprocal"), self) if float(o) == 1.0 else _fill(self, o) / self

    def __pow__(self: Linear[S], k: float) -> Expr[S]:
        """Entry by entry, for a constant exponent; see `pow` for one that varies."""
        if not _is_number(k):
            msg = f"the exponent of ** is a number, not {shown(k)}; write pow(x, y) for one that varies"
            raise SpaceError(msg)
        return elementwise(power(float(k)), self)

    def __rpow__(self, k: Never) -> NoReturn:
        msg = f"cannot form k ** x: k is {shown(k)} and x is in {self.space}; write exp(log(k) * x) for a number k > 0"
        raise SpaceError(msg)

    # --- contractions ---

    @overload
    def __matmul__(
        self: Expr[Copower[Field, Product[I, J]]],
        o: Expr[Copower[Field, Product[J, H]]] | Vec[Copower[Field, Product[J, H]]],
    ) -> Expr[Copower[Field, Product[I, H]]]: ...
    @overload
    def __matmul__(
        self: Expr[Copower[Field, Product[I, J]]], o: Expr[Copower[Field, J]] | Vec[Copower[Field, J]]
    ) -> Expr[Copower[Field, I]]: ...
    @overload
    def __matmul__(
        self: Expr[Copower[Field, Fin[T]]], o: Expr[Copower[Field, Fin[T]]] | Vec[Copower[Field, Fin[T]]]
    ) -> Expr[Field]: ...
    def __matmul__(self, o: Any) -> Any:
        """Matrix product, matrix–vector product, inner product of vectors."""
        return _matmul(self, operand(self, o, "@"))

    @overload
    def __rmatmul__(
        self: Expr[Copower[Field, Product[J, H]]], o: Vec[Copower[Field, Product[I, J]]]
    ) -> Expr[Copower[Field, Product[I, H]]]: ...
    @overload
    def __rmatmul__(
        self: Expr[Copower[Field, J]], o: Vec[Copower[Field, Product[I, J]]]
    ) -> Expr[Copower[Field, I]]: ...
    @overload
    def __rmatmul__(self: Expr[Copower[Field, Fin[T]]], o: Vec[Copower[Field, Fin[T]]]) -> Expr[Field]: ...
    def __rmatmul__(self, o: Any) -> Any:
        return _matmul(operand(self, o, "@"), self)

    @property
    def T(self: Expr[Copower[W, Product[I, J]]]) -> Expr[Copower[W, Product[J, I]]]:
        """The transpose of a matrix, V^{X×Y} to V^{Y×X}; SpaceError if the index set is no product."""
        cod, orders = transposed_space(self.space)
        slots = [self.builder.apply(wire.Move(o), slot) for slot, o in zip(self.slots, orders, strict=True)]
        return Expr(self.builder, cod, tuple(slots))

    # --- sums and parts ---

    def sum(self: Expr[Copower[S, I]]) -> Expr[S]:
        """Σ_X of an expression of V^X; SpaceError for a space that is no copower."""
        space: Any = self.space
        if not isinstance(space, Copower):
            msg = f".sum() adds over X in V^X, not {space}"
            raise SpaceError(msg)
        require_space(space, ".sum()")
        f = wire.Reduce(Full(space.index, Unit()), 0)
        return Expr(self.builder, space.base, tuple(self.builder.apply(f, slot) for slot in self.slots))

    def mean(self: Expr[Copower[S, I]]) -> Expr[S]:
        """Σ_X divided by |X|; SpaceError for a space that is no copower, or over the empty set."""
        space: Any = self.space
        total = self.sum()
        size: int = space.index.size
        if not size:
            msg = f"the mean over {space.index} is not defined: it has no elements"
            raise SpaceError(msg)
        return total * (1.0 / size)

    @overload
    def __getitem__(self: Expr[DirectSum[A, *Rest]], i: Literal[0]) -> Expr[A]: ...
    @overload
    def __getitem__(self: Expr[DirectSum[A, B, *Rest]], i: Literal[1]) -> Expr[B]: ...
    @overload
    def __getitem__(self: Expr[DirectSum[A, B, C, *Rest]], i: Literal[2]) -> Expr[C]: ...
    @overload
    def __getitem__(self: Expr[DirectSum[A, B, C, D, *Rest]], i: Literal[3]) -> Expr[D]: ...
    @overload
    def __getitem__(self: Expr[DirectSum[A, B, C, D, E, *Rest]], i: Literal[4]) -> Expr[E]: ...
    @overload
    def __getitem__(self: Expr[DirectSum[A, B, C, D, E, F, *Rest]], i: Literal[5]) -> Expr[F]: ...
    @overload
    def __getitem__(self: Expr[Copower[W, I]], i: Expr[Elements[I]] | Vec[Elements[I]]) -> Expr[W]: ...
    @overload
    def __getitem__(
        self: Expr[Copower[W, I]], i: Expr[Copower[Elements[I], J]] | Vec[Copower[Elements[I], J]]
    ) -> Expr[Copower[W, J]]: ...
    @overload
    def __getitem__(self, i: int) -> Expr[Any]: ...
    def __getitem__(self: Any, i: Any) -> Any:
        """Part i of a direct sum, from 0; v[x] for x ∈ X or x ∈ X^Y found at the point, where v ∈ V^X (see `pick`)."""
        if isinstance(i, (Expr, Vec)):
            return pick(self, i)
        if not isinstance(self.space, DirectSum):
            msg = f"{self.space} has no parts, so x[{shown(i)}] does not exist: [i] takes a part of a direct sum, "
            msg += "v[x] the component of v ∈ V^X at an element x that is an argument"
            raise SpaceError(msg)
        start, stop = span(self.space, i)
        return Expr(self.builder, self.space.parts[i], self.slots[start:stop])

    @overload
    def split(self: Expr[DirectSum[A, B]]) -> tuple[Expr[A], Expr[B]]: ...
    @overload
    def split(self: Expr[DirectSum[A, B, C]]) -> tuple[Expr[A], Expr[B], Expr[C]]: ...
    @overload
    def split(self: Expr[DirectSum[A, B, C, D]]) -> tuple[Expr[A], Expr[B], Expr[C], Expr[D]]: ...
    @overload
    def split(self: Expr[DirectSum[A, B, C, D, E]]) -> tuple[Expr[A], Expr[B], Expr[C], Expr[D], Expr[E]]: ...
    @overload
    def split(
        self: Expr[DirectSum[A, B, C, D, E, F]],
    ) -> tuple[Expr[A], Expr[B], Expr[C], Expr[D], Expr[E], Expr[F]]: ...
    @overload
    def split(self: Expr[DirectSum[A, B, C, D, E, F, G, *Rest]]) -> tuple[Expr[Any], ...]: ...
    @overload
    def split(self: Expr[Copower[DirectSum[A, B], I]]) -> tuple[Expr[Copower[A, I]], Expr[Copower[B, I]]]: ...
    @overload
    def split(
        self: Expr[Copower[DirectSum[A, B, C], I]],
    ) -> tuple[Expr[Copower[A, I]], Expr[Copower[B, I]], Expr[Copower[C, I]]]: ...
    @overload
    def split(
        self: Expr[Copower[DirectSum[A, B, C, D], I]],
    ) -> tuple[Expr[Copower[A, I]], Expr[Copower[B, I]], Expr[Copower[C, I]], Expr[Copower[D, I]]]: ...
    @overload
    def split(
        self: Expr[Copower[DirectSum[A, B, C, D, E], I]],
    ) -> tuple[
        Expr[Copower[A, I]], Expr[Copower[B, I]], Expr[Copower[C, I]], Expr[Copower[D, I]], Expr[Copower[E, I]]
    ]: ...
    @overload
    def split(
        self: Expr[Copower[DirectSum[A, B, C, D, E, F], I]],
    ) -> tuple[
        Expr[Copower[A, I]],
        Expr[Copower[B, I]],
        Expr[Copower[C, I]],
        Expr[Copower[D, I]],
        Expr[Copower[E, I]],
        Expr[Copower[F, I]],
    ]: ...
    @overload
    def split(self: Expr[Copower[DirectSum[A, B, C, D, E, F, G, *Rest], I]]) -> tuple[Expr[Copower[Any, I]], ...]: ...
    @overload
    def split(
        self: Expr[Copower[Copower[DirectSum[A, *Rest], J], I]],
    ) -> tuple[Expr[Copower[Copower[Any, J], I]], ...]: ...
    def split(self: Any) -> Any:
        """All parts of a direct sum; of (V ⊕ W)^X those of V^X ⊕ W^X, which holds the same arrays.

        Raises SpaceError for another space.
        """
        parts = summands(self.space)
        ends = itertools.accumulate((len(part.leaves) for part in parts), initial=0)
        pairs = zip(parts, itertools.pairwise(ends), strict=True)
        return tuple(Expr(self.builder, part, self.slots[start:end]) for part, (start, end) in pairs)

    def __iter__(self) -> Iterator[Expr[Any]]:
        if not isinstance(self.space, DirectSum):
            msg = f"{self.space} has no parts to split"
            raise SpaceError(msg)
        return iter([self[i] for i in range(len(self.space.parts))])

    # --- comparisons: discrete results; mypy does not see that x < y is of the type of y > x ---

    @overload
    def __gt__(self: Expr[Field], o: Expr[Field] | Vec[Field] | float) -> Expr[Boolean]: ...
    @overload
    def __gt__(
        self: Expr[Copower[Field, I]], o: Expr[Copower[Field, I]] | Vec[Copower[Field, I]] | float
    ) -> Expr[Copower[Boolean, I]]: ...
    @overload
    def __gt__(
        self: Expr[Copower[Copower[Field, J], I]],
        o: Expr[Copower[Copower[Field, J], I]] | Vec[Copower[Copower[Field, J], I]] | float,
    ) -> Expr[Copower[Copower[Boolean, J], I]]: ...
    def __gt__(self, o: Any) -> Any:
        return _compare("greater", self, o)

    @overload
    def __ge__(self: Expr[Field], o: Expr[Field] | Vec[Field] | float) -> Expr[Boolean]: ...
    @overload
    def __ge__(
        self: Expr[Copower[Field, I]], o: Expr[Copower[Field, I]] | Vec[Copower[Field, I]] | float
    ) -> Expr[Copower[Boolean, I]]: ...
    @overload
    def __ge__(
        self: Expr[Copower[Copower[Field, J], I]],
        o: Expr[Copower[Copower[Field, J], I]] | Vec[Copower[Copower[Field, J], I]] | float,
    ) -> Expr[Copower[Copower[Boolean, J], I]]: ...
    def __ge__(self, o: Any) -> Any:
        return _compare("greater_equal", self, o)

    @overload
    def __lt__(self: Expr[Field], o: Expr[Field] | Vec[Field] | float) -> Expr[Boolean]: ...
    @overload
    def __lt__(
        self: Expr[Copower[Field, I]], o: Expr[Copower[Field, I]] | Vec[Copower[Field, I]] | float
    ) -> Expr[Copower[Boolean, I]]: ...
    @overload
    def __lt__(
        self: Expr[Copower[Copower[Field, J], I]],
        o: Expr[Copower[Copower[Field, J], I]] | Vec[Copower[Copower[Field, J], I]] | float,
    ) -> Expr[Copower[Copower[Boolean, J], I]]: ...
    def __lt__(self, o: Any) -> Any:
        return _compare("less", self, o)

    @overload
    def __le__(self: Expr[Field], o: Expr[Field] | Vec[Field] | float) -> Expr[Boolean]: ...
    @overload
    def __le__(
        self: Expr[Copower[Field, I]], o: Expr[Copower[Field, I]] | Vec[Copower[Field, I]] | float
    ) -> Expr[Copower[Boolean, I]]: ...
    @overload
    def __le__(
        self: Expr[Copower[Copower[Field, J], I]],
        o: Expr[Copower[Copower[Field, J], I]] | Vec[Copower[Copower[Field, J], I]] | float,
    ) -> Expr[Copower[Copower[Boolean, J], I]]: ...
    def __le__(self, o: Any) -> Any:
        return _compare("less_equal", self, o)

    def __and__(self: Expr[Truth], o: Expr[Truth] | Vec[Truth]) -> Expr[Truth]:
        return elementwise(Comparison("logical_and"), self, o)

    def __rand__(self: Expr[Truth], o: Vec[Truth]) -> Expr[Truth]:
        return elementwise(Comparison("logical_and"), operand(self, o, "&"), self)

    def __or__(self: Expr[Truth], o: Expr[Truth] | Vec[Truth]) -> Expr[Truth]:
        return elementwise(Comparison("logical_or"), self, o)

    def __ror__(self: Expr[Truth], o: Vec[Truth]) -> Expr[Truth]:
        return elementwise(Comparison("logical_or"), operand(self, o, "|"), self)

    def __invert__(self: Expr[Truth]) -> Expr[Truth]:
        return elementwise(Comparison("logical_not"), self)

    def __bool__(self) -> bool:
        msg = f"an expression of {self.space} has no truth value while a function is traced; write select(condition, x)"
        raise SpaceError(msg)

    def __eq__(self, other: object) -> bool:
        msg = f"expressions of {self.space} are not compared by == while a function is traced"
        raise SpaceError(msg)

    def __float__(self) -> float:
        msg = f"an expression of {self.space} has no value while a function is traced; use diff's functions, not math's"
        raise SpaceError(msg)

    def __repr__(self) -> str:
        return f"<expression of {self.space}>"

    # --- application ---

    def apply_map(self, f: Map[Any, W], args: tuple[Any, ...], /) -> Expr[W]:
        """f(*args) as steps of the program being traced."""
        if isinstance(f, Elementwise):
            first, *others = args
            if not isinstance(first, Expr):
                first = _fill(self, first) if _is_number(first) else operand(self, first, f.name)
            rest = [_fill(first, a) if _is_number(a) else operand(first, a, f.name) for a in others]
            return elementwise(f, first, *rest)
        exprs = [operand(self, a, "f(…)") for a in args]
        dom = f.dom
        if len(exprs) == 1:
            (x,) = exprs
            due, space = dom, x.space
            slots = x.slots
        else:
            space = DirectSum(tuple(e.space for e in exprs))
            due, slots = dom, tuple(s for e in exprs for s in e.slots)
        if space != due:
            msg = f"cannot apply f : {dom} → {f.cod} to an expression of {space}: one of {dom} is due"
            raise SpaceError(msg + bracketing(space, dom))
        return Expr(self.builder, f.cod, tuple(apply_to_slots(self.builder, f, slots)))


shown.register(Expr, lambda e: f"an expression of {e.space}")
DIVIDE = Binary("divide")


def apply_to_slots(b: Builder, f: Map[Any, Any], slots: tuple[int, ...]) -> list[int]:
    """The slots of f applied to slots: a linear map's net, or a function's program, copied in."""
    if isinstance(f, LinMap):
        return b.apply_net(net(f), slots, ())
    from diff.lower import program  # lowering is a pass over these terms

    p = program(f)
    where = b.inline(p, slots)
    return [where[k] for k in p.outputs]


def power(k: float) -> Primitive:
    """x ↦ x^k for a constant k, by the cheapest primitive."""
    simple = {2.0: "square", -1.0: "reciprocal", 0.5: "sqrt"}.get(k)
    return Primitive(simple) if simple else Primitive("power", (k,))


def _is_number(o: object) -> bool:
    return isinstance(o, Real) and not isinstance(o, bool)


def _exact_reciprocal(k: float) -> bool:
    return abs(k) in {2.0**n for n in range(-64, 65)}


def operand(like: Expr[Any], o: Any, sign: str) -> Expr[Any]:
    """The other operand of an operation with `like`: an expression of the same trace, or a constant vector."""
    if isinstance(o, Expr):
        if o.builder is not like.builder:
            msg = f"{sign} of expressions of two functions: pass one function's value to the other as an argument"
            raise SpaceError(msg)
        return o
    if isinstance(o, Vec):
        return literal(like.builder, o)
    hint = "a plain array has no space: write const(V.vec(array))" if hasattr(o, "dtype") else "a vector would fit"
    msg = f"{sign} of an expression of {like.space} and {shown(o)}: {hint}"
    raise SpaceError(msg)


def literal(b: Builder, v: Vec[V]) -> Expr[V]:
    """A constant of the program being traced."""
    return Expr(b, v.space, tuple(b.literal(c) for c in constants(v)))


def _fill(x: Expr[V], k: Any) -> Expr[V]:
    space = x._require("a number as a vector")
    return Expr(x.builder, space, tuple(x.builder.literal(filled(float(k), f)) for f in space.leaves))


def _known(x: Linear[S]) -> Expr[S]:
    return cast("Expr[S]", x)  # a method's self is an expression


def _same(a: Expr[V], b: Expr[Any], sign: str) -> Expr[V]:
    if a.space != b.space:
        msg = f"cannot form {a.space} {sign} {b.space}: both sides must be in one space"
        raise SpaceError(msg + bracketing(a.space, b.space))
    return b


def _add(a: Expr[V], o: Any, k: float, sign: str) -> Expr[V]:
    if isinstance(o, Real) and _is_number(o):
        return _add(a, _fill(a, k * float(o)), 1.0, sign)
    b = _same(a, operand(a, o, sign), sign)
    a._require(f"v {sign} w")
    right = b.slots if k == 1.0 else _scaled(b, k).slots
    pairs = zip(a.slots, right, strict=True)
    return Expr(a.builder, a.space, tuple(a.builder.add(x, y) for x, y in pairs))


def _scaled(a: Expr[V], k: float) -> Expr[V]:
    return Expr(a.builder, a._require("k·v"), tuple(a.builder.scale(k, slot) for slot in a.slots))


def _hadamard(a: Expr[V], b: Expr[V]) -> Expr[V]:
    require_space(a.space, "v·w")
    slots = []
    for x, y, leaf in zip(a.slots, b.slots, a.space.leaves, strict=True):
        slots.append(a.builder.contract(Spec.pointwise(len(leaf.axes)), x, y))
    return Expr(a.builder, a.space, tuple(slots))


def elementwise(p: Elementwise[Any, Any], *args: Any) -> Expr[Any]:
    """A primitive on expressions of one space."""
    first = args[0]
    operands = [_same(first, operand(first, a, p.name), p.rule.text) for a in args]
    columns = zip(*(a.slots for a in operands), strict=True)
    slots = tuple(first.builder.elementwise(p, *column) for column in columns)
    if p.cod.is_space:
        return Expr(first.builder, first.space, slots)
    return Expr(first.builder, _truth(first.space), slots)


def _truth(space: Type) -> Type:
    if isinstance(space, Copower):
        return Copower(_truth(space.base), space.index)
    if isinstance(space, DirectSum):
        return DirectSum(tuple(map(_truth, space.parts)))
    return Boolean()


def _compare(name: str, a: Expr[Any], o: Any) -> Expr[Any]:
    return elementwise(Comparison(name), a, _fill(a, o) if _is_number(o) else operand(a, o, name))


def bilinear(c: Contraction[Any, Any, W], a: Expr[Any], b: Expr[Any]) -> Expr[W]:
    """A bilinear map of two expressions; raises SpaceError if they are not in its spaces."""
    if a.space != c.left or b.space != c.right:
        msg = f"{c.symbol} : {c.left} × {c.right} → {c.cod} does not apply to {a.space} and {b.space}"
        raise SpaceError(msg)
    out: dict[int, int] = {}
    builder = a.builder
    for i, j, k, spec in c.terms:
        slot = builder.contract(spec, a.slots[i], b.slots[j])
        out[k] = builder.add(out[k], slot) if k in out else slot
    slots = tuple(out[k] if k in out else builder.literal(filled(0.0, leaf)) for k, leaf in enumerate(c.cod.leaves))
    return Expr(builder, c.cod, slots)


def _matmul(a: Expr[Any], b: Expr[Any]) -> Expr[Any]:
    shared, cod = product_space(a.space, b.space)
    return bilinear(contraction.contraction_over(a.space, b.space, shared, cod), a, b)


def _operands(a: Any, b: Any, name: str) -> tuple[Expr[Any], Expr[Any]]:
    """Two operands of which at least one is an expression."""
    if isinstance(a, Expr):
        return a, operand(a, b, name)
    if isinstance(b, Expr):
        return operand(b, a, name), b
    msg = f"{name} applies to expressions of a traced function; one of its arguments must be one"
    raise SpaceError(msg)


def inner(a: Expr[S] | Vec[S], b: Expr[S] | Vec[S]) -> Expr[Field]:
    """v ⊙ w in any space."""
    x, y = _operands(a, b, "inner")
    return bilinear(contraction.inner(x.space), x, _same(x, y, "⊙"))


def outer(a: Expr[S] | Vec[S], b: Expr[Z] | Vec[Z]) -> Expr[TensorProduct[S, Z]]:
    """v ⊗ w, an expression of V ⊗ W."""
    x, y = _operands(a, b, "outer")
    return bilinear(contraction.outer(x.space, y.space), x, y)


@overload
def contract(labels: str, a: Expr[Any] | Vec[Any], b: Expr[Any] | Vec[Any], cod: None = None) -> Expr[Any]: ...
@overload
def contract(labels: str, a: Expr[Any] | Vec[Any], b: Expr[Any] | Vec[Any], cod: W) -> Expr[W]: ...
def contract(labels: str, a: Any, b: Any, cod: Any = None) -> Any:
    """A labelled contraction such as contract("ij,j->i", W, x); the result is in ℝ^{axes of the labels} or in `cod`."""
    x, y = _operands(a, b, "contract")
    return bilinear(contraction.labelled(labels, x.space, y.space, cod), x, y)


@overload
def pick(v: Unknown, x: Unknown) -> Any: ...
@overload
def pick(v: Expr[Copower[W, I]] | Vec[Copower[W, I]], x: Expr[Elements[I]] | Vec[Elements[I]]) -> Expr[W]: ...
@overload
def pick(
    v: Expr[Copower[W, I]] | Vec[Copower[W, I]], x: Expr[Copower[Elements[I], J]] | Vec[Copower[Elements[I], J]]
) -> Expr[Copower[W, J]]: ...
def pick(v: Any, x: Any) -> Any:
    """pick : V^X × X → V, v_x; or V^X × X^Y → V^Y, (v_{x(y)})_y: a gather by elements found at the point, linear in v.

    Written v[x], too. Raises SpaceError unless v ∈ V^X and x is an element of X, or one for each y ∈ Y. Its derivative
    in v is the gather, the adjoint of that a segment sum (`scatter`); x is discrete.
    """
    a, b = _operands(v, x, "pick")
    if isinstance(a.space, Copower):
        X = a.space.index
        if b.space == Elements(X):
            return bilinear(contraction.pick(a.space.base, X), a, b)
        if isinstance(b.space, Copower) and b.space.base == Elements(X):
            return bilinear(contraction.gather(a.space.base, X, b.space.index), a, b)
    msg = f"v[x] takes v ∈ V^X and an element x of X, or one for each y ∈ Y, not v in {a.space} and x in {b.space}"
    raise SpaceError(msg)


def scatter(
    v: Expr[Copower[W, J]] | Vec[Copower[W, J]], x: Expr[Copower[Elements[I], J]] | Vec[Copower[Elements[I], J]]
) -> Expr[Copower[W, I]]:
    """scatter : V^Y × X^Y → V^X, Σ_y v_y e_{x(y)}: a segment sum by elements found at the point, linear in v.

    Raises SpaceError unless v ∈ V^Y and x ∈ X^Y. Its derivative in v is the segment sum, the adjoint of that a gather
    (`pick`); x is discrete.
    """
    a, b = _operands(v, x, "scatter")
    found = isinstance(b.space, Copower) and isinstance(b.space.base, Elements)
    if not found or not isinstance(a.space, Copower) or a.space.index != b.space.index:
        msg = f"scatter takes v ∈ V^Y and an element of X for each y ∈ Y, not v in {a.space} and x in {b.space}"
        raise SpaceError(msg)
    return bilinear(contraction.segment_sum(a.space.base, b.space.base.index, a.space.index), a, b)


def onehot(x: Expr[Elements[I]], field: Field | None = None) -> Expr[Copower[Field, I]]:
    """e_x ∈ ℝ^X for an element x ∈ X that is found at the point."""
    if not isinstance(x, Expr) or not isinstance(x.space, Elements):
        msg = f"onehot takes an element of an index set, not {shown(x)}: declare the argument as Elements(X)"
        raise SpaceError(msg)
    if field is not None and not isinstance(field, Field):
        msg = f"onehot of an element of {x.space} is over R or R32, not over {shown(field)}"
        raise SpaceError(msg)
    c = contraction.basis_vector(x.space.index, field or Field())
    one = Expr(x.builder, c.left, (x.builder.number(1.0, c.left.leaves[0]),))
    return bilinear(c, one, x)


@overload
def select(c: Unknown, x: Unknown) -> Any: ...
@overload
def select(c: Expr[Boolean], x: Expr[V]) -> Expr[V]: ...
@overload
def select(c: Expr[Copower[Boolean, I]], x: Expr[Copower[V, I]]) -> Expr[Copower[V, I]]: ...
@overload
def select(
    c: Expr[Copower[Copower[Boolean, J], I]], x: Expr[Copower[Copower[V, J], I]]
) -> Expr[Copower[Copower[V, J], I]]: ...
def select(c: Expr[Any], x: Expr[Any]) -> Expr[Any]:
    """x where the condition holds, 0 elsewhere: selection, not multiplication, so a NaN that is not selected is gone.

    The condition is a Bool, or one Bool for each element of X where x is in V^X.
    """
    a, b = _operands(c, x, "select")
    lead = len(a.space.leaves[0].axes) if len(a.space.leaves) == 1 else -1
    if lead < 0 or a.space.leaves[0].base != Boolean() or not b.space.is_space:
        msg = f"select takes a condition and a vector, not {a.space} and {b.space}"
        raise SpaceError(msg)
    slots = []
    for slot, leaf in zip(b.slots, b.space.leaves, strict=True):
        if leaf.axes[:lead] != a.space.leaves[0].axes:
            msg = f"select by {a.space} does not fit {b.space}: its index set must come first"
            raise SpaceError(msg)
        labels = Spec.pointwise(len(leaf.axes)).left
        slots.append(b.builder.contract(Spec.of(labels[:lead], labels, labels), a.slots[0], slot))
    return Expr(b.builder, b.space, tuple(slots))


def const(v: Vec[V]) -> Expr[V]:
    """A vector as a constant of the function being traced; SpaceError outside of one."""
    require_vector(v, "const")
    if not tracing:
        msg = "const(v) stands in the body of a traced function; the constant map is constant(V, w)"
        raise SpaceError(msg)
    return literal(tracing[-1], v)


def number_like(x: Expr[V], k: float) -> Expr[V]:
    """The number k in every entry of the space of x."""
    return _fill(x, k)
