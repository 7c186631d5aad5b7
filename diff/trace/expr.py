"""Vector expressions, the values of a traced function. Each operation appends a step to the program being traced.

Constants: a vector (`Vec`) that meets an expression is a constant of the program, a Python number is the scalar (or, in
a sum, the array filled with it). A plain array has no space and is refused: write `const(V.vec(array))`.
"""

from __future__ import annotations

import itertools
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, NoReturn, TypeVar, cast, final

from diff.mistakes.axis_hints import its_remedy, one_axis
from diff.mistakes.escaped_expressions import TwoFunctionsError, leaked
from diff.mistakes.other_libraries import refuse_foreign
from diff.mistakes.python_words import of_number, of_operand, of_truth
from diff.terms.elementwise import AnyElementwise, Binary, Comparison, Elementwise, Primitive, booleans, power
from diff.terms.lower import program
from diff.trace.axes import axis, reordering, repeated
from hilbert import Boolean, Copower, DirectSum, Elements, Field, Fin, Index, Product, Space, SpaceError, Type, Unit
from hilbert.base.attach import overloaded
from hilbert.base.notarray import Applicable
from hilbert.base.numpy_names import ARRAYS, OPERATORS, POWER
from hilbert.errors import double, is_number, shown
from hilbert.index.position import ROWS
from hilbert.index.spec import Spec
from hilbert.map.map import AnyMap, Map, misfit
from hilbert.map.matrix_product import product_space, transposed_space
from hilbert.map.vector_operations import difference, is_over
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import filled
from hilbert.relation import Full, reversal, rotation, run
from hilbert.space.direct_sum import flat
from hilbert.space.leafwise import leaf_spaces, require_leaf, require_of_leaves
from hilbert.space.linear import Linear
from hilbert.space.nested_sums import apart, said
from hilbert.space.parts import Lens, lens_for, part_place, place, span
from hilbert.space.space import bracketing, require_space
from hilbert.space.unpacking import visited
from hilbert.space.vector import Number, Vec, require_vector
from hilbert.tracebacks import tracing
from linmap import contraction, relational
from linmap.net.apply import apply_net
from linmap.net.lower import net
from linmap.relational.axis_maps import prefix
from linmap.term import wire
from linmap.term.datum import constants
from linmap.term.linear_map import LinMap
from linmap.term.maps import in_field, red

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from diff import _calls
    from diff._calls import Reductions
    from hilbert.index.position import Key
    from hilbert.relation import Inclusion
    from hilbert.relation.relation import AnyRelation
    from linmap.contraction import Contraction
else:
    from hilbert.space.vector_methods import Reductions

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
H = TypeVar("H", bound=Index)
S = TypeVar("S", bound=Space)
Z = TypeVar("Z", bound=Space)
Truth = TypeVar("Truth", bound="Boolean | Copower[Boolean, Any] | Copower[Copower[Boolean, Any], Any]")
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
A = TypeVar("A", bound=Type)


class OnVectors(Builder):
    """The line of an operation on vectors: messages name their operands (`diff.vocabulary.eager`)."""


@final
class Expr(Applicable, Reductions, Generic[V]):
    """An expression of a space: the slots that hold its leaves in the program being traced."""

    __slots__ = ("_builder", "_slots", "space")
    _attributes: ClassVar[dict[str, str]] = ARRAYS | {
        "array": "const(v) for constants: an expression has no entries while a function is traced",
        "inner": "inner(x, y)",
    }
    _operators: ClassVar[dict[str, tuple[str, str]]] = OPERATORS
    __hash__ = None  # type: ignore[assignment]  # how Python says that == is no equality
    space: V

    def __init__(self, builder: Builder, space: V, slots: tuple[int, ...]) -> None:
        """Made by tracing: see `fun`."""
        self._builder, self.space, self._slots = builder, space, slots

    if TYPE_CHECKING:  # the field of a class under @variant: it is given as a vector, too

        def __get__(self, value: object, owner: Any = None) -> Expr[V]: ...
        def __set__(self, value: Any, given: Expr[V] | Vec[V]) -> None: ...

    @property
    def builder(self) -> Builder:
        """The program being traced: the body of a loop in it, while that is traced."""
        b = self._builder
        return b if b.inner is None else b.innermost

    @property
    def slots(self) -> tuple[int, ...]:
        """The slots in that program; a body captures the slots of the function around it that it reads."""
        b = self._builder
        return self._slots if b.inner is None else b.seen(self._slots)

    @property
    def home(self) -> tuple[Builder, tuple[int, ...]]:
        """The program or body in which the expression was made, and its slots there."""
        return self._builder, self._slots

    def _instead_of(self, name: str) -> str:
        return lens_for(self.space, name) or its_remedy(self, name)

    def _refuse(self, what: str, name: str = "") -> NoReturn:
        refuse_foreign(self, what, name)

    # --- vector space ---

    def _require(self, operation: str) -> V:
        """The space, for an operation that needs 0 + · ⊙; raises SpaceError for a type that is no space."""
        require_space(self.space, operation)
        return self.space

    @overloaded(lambda: _calls.Expr___add__)
    def __add__(self: Expr[Any], o: Any) -> Any:
        return _add(_known(self), o, 1.0, "+")

    @overloaded(lambda: _calls.Expr___radd__)
    def __radd__(self: Expr[Any], o: Any) -> Any:
        return _add(_known(self), o, 1.0, "+", first=True)

    @overloaded(lambda: _calls.Expr___sub__)
    def __sub__(self: Expr[Any], o: Any) -> Any:
        return _add(_known(self), o, -1.0, "-")

    @overloaded(lambda: _calls.Expr___rsub__)
    def __rsub__(self: Expr[Any], o: Any) -> Any:
        return _add(_negated(_known(self)), o, 1.0, "-", first=True)

    def __pos__(self: Linear[S]) -> Expr[S]:
        return _known(self)

    def __neg__(self: Linear[S]) -> Expr[S]:
        return _negated(_known(self))

    @overloaded(lambda: _calls.Expr___mul__)
    def __mul__(self: Expr[Any], o: Any) -> Any:
        """k·v for a scalar k, v·w entry by entry for two vectors of one space."""
        if is_number(o):
            return _scaled(self, double(o))
        other = operand(self, o, "*")
        if other.space == self.space:
            return _hadamard(self, other)
        if isinstance(self.space, Field):
            return bilinear(contraction.scalar(other.space, self.space), self, other)
        if isinstance(other.space, Field):
            return bilinear(contraction.scalar(self.space, other.space), other, self)
        msg = f"cannot multiply {self.space} and {other.space}: "
        if "b" in {leaf.kind for e in (self, other) for leaf in e.space.leaves}:
            raise SpaceError(f"{msg}select(c, x) is x where the condition c holds, and 0 elsewhere")
        rule = "* is scalar times vector, or entry by entry in one space"
        raise SpaceError(f"{msg}{rule}{difference(self.space, other.space) or '; see inner, outer, @ and contract'}")

    @overloaded(lambda: _calls.Expr___rmul__)
    def __rmul__(self: Expr[Any], o: Any) -> Any:
        return _scaled(self, double(o)) if is_number(o) else operand(self, o, "*", first=True) * self

    def __truediv__(self: Linear[S], o: Expr[S] | Vec[S] | Expr[Field] | Vec[Field] | Number) -> Expr[S]:
        """v/k for a scalar k, entry by entry for two vectors of one space."""
        x = _known(self)
        if is_number(o):
            k = double(o)
            return x * (1.0 / k) if abs(k) in EXACT_RECIPROCALS else elementwise(DIVIDE, x, number_like(x, k))
        other = operand(x, o, "/")
        if isinstance(other.space, Field) and not isinstance(x.space, Field):
            return elementwise(Primitive("reciprocal"), other) * x
        return elementwise(DIVIDE, x, same(x, other, "/"))

    @overloaded(lambda: _calls.Expr___rtruediv__)
    def __rtruediv__(self: Expr[Any], o: Any) -> Any:
        if not is_number(o):
            return operand(self, o, "/", first=True) / self
        return elementwise(Primitive("reciprocal"), self) if double(o) == 1.0 else number_like(self, o) / self

    def __pow__(self: Linear[S], k: Number) -> Expr[S]:
        """Entry by entry, for a constant exponent; see `pow` for one that varies."""
        if not is_number(k):
            raise SpaceError(f"the exponent of ** is a number, not {shown(k)}: {POWER}")
        return elementwise(power(double(k)), self)

    def __rpow__(self, k: Never) -> NoReturn:
        msg = f"cannot form k ** x: k is {shown(k)} and x is in {self.space}; "
        raise SpaceError(f"{msg}write exp(math.log(k) * x) for a number k > 0")

    # --- contractions ---

    @overloaded(lambda: _calls.Expr___matmul__)
    def __matmul__(self: Expr[Any], o: Any) -> Any:
        """Matrix product, matrix–vector product, inner product of vectors."""
        return NotImplemented if isinstance(o, Map) else _matmul(self, operand(self, o, "@"))

    @overloaded(lambda: _calls.Expr___rmatmul__)
    def __rmatmul__(self: Expr[Any], o: Any) -> Any:
        return _matmul(operand(self, o, "@", first=True), self)

    @property
    def T(self: Expr[Copower[W, Product[I, J]]]) -> Expr[Copower[W, Product[J, I]]]:
        """The transpose of a matrix, V^{X×Y} to V^{Y×X}; SpaceError if the index set is no product."""
        cod, orders = transposed_space(self.space)
        slots = [self.builder.apply(wire.Move(o), slot) for slot, o in zip(self.slots, orders, strict=True)]
        return Expr(self.builder, cod, tuple(slots))

    # --- sums, parts and components ---

    @overloaded(lambda: _calls.Expr___getitem__)
    def __getitem__(self: Expr[Any], i: Any) -> Any:
        """π_k: part k of a direct sum, or the component of V^X at a position or label; V^{X×Y} takes A[i, j].

        A lens takes the part of a record that it names, of P^X those of all components.
        Positions count from 0; negative ones from the end, for components. `v[a:b]` is indexed by `Fin.of(b − a)`,
        `A[i, :]` by Y; v[x] for dynamic elements x of X is a gather: linear in v, its adjoint is
        `scatter`. Raises SpaceError for a position, label or element that does not exist.
        """
        if type(i) is Lens:
            part, start, stop = i.at(self.space)
            return Expr(self.builder, part, self.slots[start:stop])
        if isinstance(i, (Expr, Vec)):
            return _gathered(self, operand(self, i, "v[x]"))
        if self.space.parts[:1] != (self.space,):
            start, stop = span(self.space, i)
            return Expr(self.builder, self.space.parts[part_place(self.space, i)], self.slots[start:stop])
        cod, keys = self.space.selection(i)
        axes: tuple[Index, ...] = self.space.index.axes
        slots = self.slots
        for at, (X, key) in reversed(list(enumerate(zip(axes, keys, strict=True)))):
            if key is not None:
                kept = wire.Reduce(_inclusion(X, key).T, at)
                slots = tuple(self.builder.apply(kept, slot) for slot in slots)
        return Expr(self.builder, cod, slots)

    @overloaded(lambda: _calls.Expr_replace)
    def replace(self: Expr[Any], lens: Any, part: Any) -> Any:
        """The same value but for one part of its record; raises SpaceError for a part of another space."""
        other = operand(self, part, "replace")
        start, stop = place(self.space, lens, other.space)
        return Expr(self.builder, self.space, (*self.slots[:start], *other.slots, *self.slots[stop:]))

    def map_leaves(self, f: Callable[[str, Expr[Any]], Expr[Any] | Vec[Any]]) -> Expr[V]:
        """f(path, x) in place of each leaf x, which is in the space of its own; the path is `encoder.bias`, say.

        Raises SpaceError where f gives something else than an expression of that space.
        """
        require_of_leaves(f, f"an expression of {self.space}")
        leaves = zip(leaf_spaces(self.space), self.slots, strict=True)
        made = ((p, V, operand(self, f(p, Expr(self.builder, V, (k,))), "map_leaves")) for (p, V), k in leaves)
        slots = [require_leaf(path, V, x).slots[0] for path, V, x in made]
        return Expr(self.builder, self.space, tuple(slots))

    def scatter(
        self: Expr[Copower[W, J]], ids: Expr[Copower[Elements[I], J]] | Vec[Copower[Elements[I], J]]
    ) -> Expr[Copower[W, I]]:
        """Σ_y v_y e_{ids(y)} for v ∈ V^Y and ids ∈ X^Y: a segment sum, the adjoint of the gather v[ids].

        Linear in v; ids are discrete. Raises SpaceError unless v ∈ V^Y and ids ∈ X^Y.
        """
        a: Expr[Any] = self
        b: Expr[Any] = operand(a, ids, "scatter")
        found = isinstance(b.space, Copower) and isinstance(b.space.base, Elements)
        if not found or not isinstance(a.space, Copower) or a.space.index != b.space.index:
            due = "v ∈ V^Y and an element of X for each y ∈ Y"
            raise SpaceError(f"scatter takes {due}, not v in {a.space} and x in {b.space}")
        return bilinear(contraction.segment_sum(b.space.base.index, a.space.index, a.space.base), a, b)

    def roll(self: Expr[Copower[W, I]], by: int, over: Index | int | None = None) -> Expr[Copower[W, I]]:
        """(v_{x − by mod |X|})_x, as numpy's roll along one axis; see `linmap.roll`."""
        return _along(self, "roll", over, lambda X: rotation(one_axis(self, "roll", X) if X.axes else X, by))

    def flip(self: Expr[Copower[W, I]], over: Index | int | None = None) -> Expr[Copower[W, I]]:
        """The components backwards; see `linmap.flip`."""
        return _along(self, "flip", over, reversal)

    def cumsum(
        self: Expr[Copower[W, I]], over: Index | int | None = None, *, reverse: bool = False, exclusive: bool = False
    ) -> Expr[Copower[W, I]]:
        """(Σ_{y≤x} v_y)_x; from the end if `reverse`, without x itself if `exclusive`; see `linmap.cumsum`."""
        return _along(self, "cumsum", over, lambda X: prefix(X, reverse=reverse, exclusive=exclusive))

    def clip(
        self: Linear[S], low: Expr[S] | Vec[S] | Number | None = None, high: Expr[S] | Vec[S] | Number | None = None
    ) -> Expr[S]:
        """min(max(v, low), high), entry by entry; None is no bound. See `maximum` for the derivative at a bound."""
        x: Any = self if low is None else cast("Any", Binary("maximum"))(_known(self), low)
        return cast("Expr[S]", x if high is None else cast("Any", Binary("minimum"))(_known(x), high))

    @overloaded(lambda: _calls.Expr_cast)
    def cast(self: Expr[Any], field: Field) -> Any:
        """The same numbers in another precision; truth values as 1 and 0, integers as numbers, without a derivative.

        Raises SpaceError for elements of an index set, which are no numbers, and for other things than fields.
        """
        space = in_field(self.space, field, "cast")
        pairs = zip(self.slots, self.space.leaves, strict=True)
        apply, to = self.builder.apply, wire.Cast(field.entry)
        return Expr(self.builder, space, tuple(k if leaf.entry == field.entry else apply(to, k) for k, leaf in pairs))

    @overloaded(lambda: _calls.Expr_concatenate)
    def concatenate(self: Expr[Any], other: Any, *, to: Any = None) -> Any:
        """V^X and V^Y one after the other in V^{X+Y}, or in V^Z for Z = `to`; see `linmap.concatenate`."""
        V, W = _copower(self, "concatenate"), _copower(operand(self, other, "concatenate"), "concatenate")
        f: AnyMap = relational.concatenate(V.index, W.index, V=V.base, to=to)
        return f(self, other)

    def rep(self: Linear[S], V: Z, *, over: Index | int | None = None) -> Expr[Z]:
        """x once for each element of the axes that V has more: b.rep(A.space), so that A + b.rep(A.space) adds it.

        `over` is the new axis, by its position, where V has one of x twice. SpaceError for a V that does not fit.
        """
        x: Any = _known(self)
        slot = x.slots[0] if x.slots else 0
        for X, at in repeated(x, V, over):
            slot = x.builder.apply(wire.Reduce(Full(Unit(), X), at), slot)
        return Expr(x.builder, V, (slot,))

    @overloaded(lambda: _calls.Expr_transpose)
    def transpose(self: Expr[Any], Y: Any = None) -> Any:
        """`T`; or the factors of the index set in another order, x.transpose(Z * X) of V^{X×Z}."""
        if Y is None:
            return self.T
        V = _copower(self, "transpose")
        order = reordering(V.index, Y, str(V))
        inner = [(*order, *range(len(order), len(leaf.axes))) for leaf in V.leaves]
        slots = [self.builder.apply(wire.Move(o), slot) for slot, o in zip(self.slots, inner, strict=True)]
        return Expr(self.builder, Copower(V.base, Y), tuple(slots))

    def reshape(self: Expr[Copower[W, I]], Y: H) -> Expr[Copower[W, H]]:
        """The same entries in V^Y for |X| = |Y|, in the flat orders; see `linmap.reshape`."""
        V = _copower(self, "reshape")
        f: AnyMap = relational.reshape(V.index, Y, V.base)
        return cast("Expr[Copower[W, H]]", f(self))

    def rows(self: Expr[Copower[W, Product[I, J]]]) -> Expr[Copower[Copower[W, J], I]]:
        """The rows of a table in V^{X×Y}, one for each element of X, in (V^Y)^X; see `linmap.curry`."""
        V = _copower(self, "rows")
        if not isinstance(V.index, Product):
            msg = f".rows() is of a table in V^{{X×Y}}, not of {shown(self)}"
            raise SpaceError(msg)
        return self._within(Copower(Copower(V.base, V.index.right), V.index.left))

    @overloaded(lambda: _calls.Expr_split)
    def split(self: Expr[Any]) -> Any:
        """All parts of a direct sum; of (V ⊕ W)^X those of V^X ⊕ W^X, which holds the same arrays.

        Raises SpaceError for another space.
        """
        parts = self.space.summands
        ends = itertools.accumulate((len(part.leaves) for part in parts), initial=0)
        pairs = zip(parts, itertools.pairwise(ends), strict=True)
        return tuple(Expr(self.builder, part, self.slots[start:end]) for part, (start, end) in pairs)

    @overloaded(lambda: _calls.Expr___iter__)
    def __iter__(self: Expr[Any]) -> Iterator[Expr[Any]]:
        this: Any = self
        return iter([this[k] for k in visited(this)])

    def __len__(self) -> int:
        return len(self.space.places)

    # --- comparisons: discrete results; mypy does not see that x < y is of the type of y > x ---

    @overloaded(lambda: _calls.Expr___gt__)
    def __gt__(self: Expr[Any], o: Any) -> Any:
        return _compare("greater", self, o)

    @overloaded(lambda: _calls.Expr___ge__)
    def __ge__(self: Expr[Any], o: Any) -> Any:
        return _compare("greater_equal", self, o)

    @overloaded(lambda: _calls.Expr___lt__)
    def __lt__(self: Expr[Any], o: Any) -> Any:
        return _compare("less", self, o)

    @overloaded(lambda: _calls.Expr___le__)
    def __le__(self: Expr[Any], o: Any) -> Any:
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
        msg = f"an expression of {self.space} has no truth value while a function is traced"
        raise SpaceError(f"{msg}; write {of_truth(self.space.leaves, sys._getframe(1))}")

    def __eq__(self, other: object) -> bool:
        msg = f"expressions of {self.space} are not compared by == while a function is traced; write x.equals(y)"
        raise SpaceError(msg)

    def __abs__(self: Linear[S]) -> Expr[S]:
        """|x|, entry by entry; the length is x.norm()."""
        return elementwise(Primitive("absolute"), _known(self))

    def _within(self, space: W) -> Expr[W]:
        """The same slots as an expression of another space, one of the same leaves."""
        return Expr(self.builder, space, self.slots)

    def __float__(self) -> float:
        what = f"an expression of {self.space} has no value while a function is traced"
        raise SpaceError(f"{what}; {of_number(sys._getframe(1))}")

    def __format__(self, spec: str) -> str:
        if not spec:
            return repr(self)
        msg = f"the format {spec!r} does not apply to {shown(self)}: it has no value while a function is traced"
        raise SpaceError(msg)

    def __repr__(self) -> str:
        return f"<expression of {self.space}>"

    # --- application ---

    def apply_map(self, f: Map[Any, W], args: tuple[Any, ...], /) -> Expr[W]:
        """f(*args) as steps of the program being traced."""
        if isinstance(f, Elementwise):
            first, *others = args
            if not isinstance(first, Expr):
                first = number_like(self, first) if is_number(first) else operand(self, first, f.name)
            rest = [number_like(first, a) if is_number(a) else operand(first, a, f.name) for a in others]
            return elementwise(f, first, *rest)
        exprs = [_argument(self, a) for a in args]
        dom = f.dom
        if len(exprs) == 1:
            (x,) = exprs
            due, space = dom, x.space
            slots = x.slots
        else:
            space = DirectSum(tuple(e.space for e in exprs))
            due, slots = dom, tuple(s for e in exprs for s in e.slots)
        if space != due and (not isinstance(dom, DirectSum) or tuple(e.space for e in exprs) != flat(dom)):
            msg = f"cannot apply f : {dom} → {f.cod} to an expression of {said(space)}: one of {said(dom)} is due"
            end = misfit(f, [e.space for e in exprs]) or bracketing(space, dom)
            raise SpaceError(apart(space, dom) + msg + end)
        return Expr(self.builder, f.cod, tuple(apply_to_slots(self.builder, f, slots)))


shown.register(Expr, lambda e: f"a{' vector' * isinstance(e.builder, OnVectors) or 'n expression'} of {said(e.space)}")
DIVIDE = Binary("divide")
EXACT_RECIPROCALS = {2.0**n for n in range(-64, 65)}


def apply_to_slots(b: Builder, f: AnyMap, slots: tuple[int, ...]) -> list[int]:
    """The slots of f applied to slots: a linear map's net, or a function's program, copied in."""
    if isinstance(f, LinMap):
        return apply_net(b, net(f), slots, {})
    p = program(f)
    where = b.inline(p.line, slots)
    return [where[k] for k in p.outputs]


def operand(like: Expr[Any], o: Any, sign: str, *, first: bool = False) -> Expr[Any]:
    """The other operand of an operation with `like`: an expression of the same trace, or a constant vector.

    `first` tells that `o` stands before `like`.
    """
    if isinstance(o, Expr):
        if o.builder is not like.builder:
            msg = f"{sign} of expressions of two functions: pass one function's value to the other as an argument"
            raise TwoFunctionsError(msg + leaked(like, o))
        return o
    if isinstance(o, Vec):
        return literal(like.builder, o)
    left, right = (o, like) if first else (like, o)
    raise SpaceError(f"{sign} of {shown(left)} and {shown(right)}: {of_operand(sign, o)}")


def _argument(like: Expr[Any], a: Any) -> Expr[Any]:
    """An argument of a function: a tuple is an element of the direct sum of the spaces of its items."""
    if type(a) is not tuple:
        return operand(like, a, "f(…)")
    parts = [_argument(like, part) for part in a]
    return Expr(like.builder, DirectSum(tuple(e.space for e in parts)), tuple(k for e in parts for k in e.slots))


def literal(b: Builder, v: Vec[V]) -> Expr[V]:
    """A constant of the program being traced: the entries that v has when it first enters."""
    return Expr(b, v.space, tuple(map(b.literal, constants(v, b.entered))))


def number_like(x: Expr[V], k: Any) -> Expr[V]:
    """The number k in every entry of the space of x."""
    space = x._require("a number as a vector")
    return Expr(x.builder, space, tuple(x.builder.literal(filled(double(k), f)) for f in space.leaves))


def _known(x: Linear[S]) -> Expr[S]:
    return cast("Expr[S]", x)  # a method's self is an expression


def same(a: Expr[V], b: Expr[Any], sign: str) -> Expr[V]:
    """The second of two expressions of one space; SpaceError where they are of two."""
    if a.space != b.space:
        msg = f"cannot form {a.space} {sign} {b.space}: both sides must be in one space"
        raise SpaceError(apart(a.space, b.space) + msg + difference(a.space, b.space))
    return b


def _add(a: Expr[V], o: Any, k: float, sign: str, *, first: bool = False) -> Expr[V]:
    if is_number(o):
        number = k * double(o)
        space = a._require("a number as a vector")  # sum() adds to 0
        return _add(a, number_like(a, number), 1.0, sign) if number else Expr(a.builder, space, a.slots)
    b = operand(a, o, sign, first=first)
    a, b = _spread(a, b.space), _spread(b, a.space)
    same(b, a, sign) if first else same(a, b, sign)
    a._require(f"v {sign} w")
    right = b.slots if k == 1.0 else _negated(b).slots
    return Expr(a.builder, a.space, tuple(map(a.builder.add, a.slots, right)))


def _spread(k: Expr[Any], space: Type) -> Expr[Any]:
    """A scalar as the vector of another space with it in every entry; everything else as it is."""
    if not is_over(space, k.space):
        return k
    (slot,) = k.slots
    return Expr(k.builder, space, tuple(k.builder.rep(slot, leaf.axes) for leaf in space.leaves))


def _negated(a: Expr[V]) -> Expr[V]:
    return Expr(a.builder, a._require("−v"), tuple(map(a.builder.negated, a.slots)))


def _scaled(a: Expr[V], k: float) -> Expr[V]:
    return Expr(a.builder, a._require("k·v"), tuple(map(partial(a.builder.scale, k), a.slots)))


def _hadamard(a: Expr[V], b: Expr[V]) -> Expr[V]:
    require_space(a.space, "v·w")
    slots = []
    for x, y, leaf in zip(a.slots, b.slots, a.space.leaves, strict=True):
        slots.append(a.builder.contract(Spec.pointwise(len(leaf.axes)), x, y))
    return Expr(a.builder, a.space, tuple(slots))


def elementwise(p: AnyElementwise, *args: Any) -> Expr[Any]:
    """A primitive on expressions of one space."""
    first = args[0]
    operands = [same(first, operand(first, a, p.name), p.rule.text) for a in args]
    columns = zip(*(a.slots for a in operands), strict=True)
    slots = tuple(map(partial(first.builder.step, p), columns))  # no frame between a step and the user's line
    if p.cod.is_space:
        return Expr(first.builder, first.space, slots)
    return Expr(first.builder, booleans(first.space), slots)


def _compare(name: str, a: Expr[Any], o: Any) -> Expr[Any]:
    p = Comparison(name)
    return elementwise(p, a, number_like(a, o) if is_number(o) else operand(a, o, p.rule.text))


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


def _inclusion(X: Index, key: Key) -> Inclusion[Any, Any]:
    """The element at a position, or a run of elements, as a subset of X."""
    if isinstance(key, range):
        return run(Fin.of(len(key)), X, key.start if key else 0, key.step if len(key) > 1 else 1)
    assert key is not None
    return run(Unit(), X, key)


def _copower(x: Expr[Any], name: str) -> Copower[Any, Any]:
    if not isinstance(x.space, Copower):
        msg = f".{name}() is for vectors of V^X, not for {shown(x)}"
        is_number = name == "concatenate" and isinstance(x.space, Field)
        raise SpaceError(f"{msg}: k.rep(R ** Fin.of(1)) is a number k as such a vector" if is_number else msg)
    return x.space


def _along(x: Expr[V], name: str, over: Any, relation: Callable[[Index], AnyRelation]) -> Expr[V]:
    """red_R along the index set of a copower, or along the axis that `over` is."""
    if over is None:
        space, anything = _copower(x, name), cast("Any", x)
        result: Expr[V] = red(relation(space.index), space.base)(anything)
        return result
    where = axis(x, over, name, f".{name}() is along the whole index set")
    step = wire.Reduce(relation(where.index), where.at)
    return Expr(x.builder, x.space, tuple(x.builder.apply(step, slot) for slot in x.slots))


def _gathered(v: Expr[Any], x: Expr[Any]) -> Expr[Any]:
    """v_x for v ∈ V^X and x ∈ X, or (v_{x(y)})_y for x ∈ X^Y: linear in v."""
    if isinstance(v.space, Copower):
        X = v.space.index
        if x.space == Elements(X):
            return bilinear(contraction.pick(X, v.space.base), v, x)
        if isinstance(x.space, Copower) and x.space.base == Elements(X):
            return bilinear(contraction.gather(X, x.space.index, v.space.base), v, x)
    msg = f"v[x] takes v ∈ V^X and an element x of X, or one for each y ∈ Y, not v in {v.space} and x in {x.space}"
    if len(x.space.leaves) == 1 and x.space.leaves[0].kind == "b":
        msg = f"{msg}; a condition selects by select(c, v)"
    elif isinstance(v.space, Copower) and len(v.space.index.axes) > 1:
        msg = f"{msg}; {ROWS}"
    raise SpaceError(msg)


def const(v: Vec[V]) -> Expr[V]:
    """A vector as a constant of the function being traced; outside of one, v itself. The map is constant(w, V).

    Raises SpaceError for other things than vectors.
    """
    require_vector(v, "const")
    here = tracing.get()
    return cast("Expr[V]", literal(here[-1], v) if here else v)  # a body that is run on vectors computes with vectors
