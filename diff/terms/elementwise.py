"""Primitives and comparisons: operations entry by entry, whose rules stand in an open table (paper §3.4)."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Never, Protocol, TypeAlias, TypeVar, cast, final

from attrs import frozen

from diff.terms.function import Fun
from hilbert import Bool, Boolean, Copower, DirectSum, Field, R, Space, SpaceError, Type, Vec, direct_sum
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.attach import declared, overloaded
from hilbert.base.lazy import load
from hilbert.base.once import once
from hilbert.compiled.operations.primitive_values import entry
from hilbert.errors import is_number, number, shown
from hilbert.index.leaf import Entry, Leaf
from hilbert.map.map import is_symbol
from hilbert.map.vector_operations import difference
from hilbert.program.line.builder import Builder
from hilbert.program.line.step_operation import Operation
from hilbert.program.run.run import Runner
from hilbert.space.direct_sum import Biproduct
from hilbert.space.space import OfSpaces, require_space, type_of
from hilbert.space.vector import require_vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff import _calls
    from hilbert.arrays.kernels.kernel import Kernel
    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Array, Loops
    from hilbert.map.map import OnLeaves

S = TypeVar("S", bound=Space)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


class Value(Protocol):
    """A vector or an expression of a space; discrete types are none."""

    @property
    def space(self) -> OfSpaces:
        """The space."""
        ...


Q = TypeVar("Q", bound=Value)


@frozen
class PrimitiveRule:
    """A row of the table of primitives: value and derivative, element by element.

    `value(xp, params, *arrays)` computes in any array namespace; `ufunc` names the function of numpy that it is, and
    `in_numpy(params)` is a kernel for numpy that is better than both. `derivatives(params, args, y)` gives one
    expression of the language for each argument, in the arguments and the value, or a number; None for a discrete
    result. `formula` is how a step of a row without a public name is written: {0} stands for an argument, and
    {p[0]} and {a[0]} for one in brackets unless it binds as a product, or as a name. `is_finite(params)` says
    that the value and all derivatives are finite at finite arguments. `in_text` is the value as `source` writes it, {0}
    for an argument and {p} for the parameter, or a function of the library whose text is carried along; a user's row
    has none. `is_called` says that compiled programs call the kernel: the value is a function of an array library.
    """

    name: str
    arity: int
    value: Callable[..., Any]
    derivatives: Callable[[tuple[float, ...], tuple[Any, ...], Any], tuple[Any, ...]] | None
    text: str
    domain: str
    ufunc: str | None = None
    in_numpy: Callable[[tuple[float, ...]], Kernel] | None = None
    fresh: bool = True  # whether the value never is a view of an argument
    formula: str | None = None
    after: tuple[str, str] | None = None  # of what row it is applied to the result, and the row that both come to
    is_finite: Callable[[tuple[float, ...]], bool] = lambda _: False
    in_text: str | Callable[..., Any] | None = None
    is_called: bool = False

    @property
    def is_discrete(self) -> bool:
        """Tell if the result holds truth values."""
        return self.derivatives is None


RULES: dict[str, PrimitiveRule] = {}
"""The open table of primitives, filled by `diff.primitives.primitives` and by users."""


def rules() -> dict[str, PrimitiveRule]:
    """The table with the rows that the library has."""
    load("primitives")
    return RULES


@frozen(eq=False, repr=False)
class Elementwise(Fun[V, W], Operation):
    """An operation applied element by element; its rule stands in the table under its name."""

    name: str
    params: tuple[float, ...] = ()

    def by_entry(self, lib: Library, operands: Sequence[Leaf]) -> Kernel | None:
        """The kernel of one of the library's primitives; None for a user's, which may need whole arrays."""
        is_known = self.rule.ufunc is not None or self.rule.in_numpy is not None
        return lib.elementwise(self.rule, self.params) if is_known else None

    @property
    def rule(self) -> PrimitiveRule:
        """The row of the table; SpaceError if this process has none of that name."""
        found = RULES.get(self.name) or rules().get(self.name)
        if found is None:
            msg = f"primitive {self.name!r} is not in the table: register it before it is used or unpickled"
            raise SpaceError(msg)
        return found

    def after(self, inner: Operation | None) -> Primitive | None:
        """The row that the table has for one row after another."""
        rule = RULES.get(self.name)
        if rule is None or rule.after is None or not isinstance(inner, Primitive) or rule.after[0] != inner.name:
            return None
        return Primitive(rule.after[1])

    def on_vectors(self, args: tuple[Vec[Any], ...]) -> Vec[Any]:
        """Element by element on vectors of any one space."""
        space = args[0].space
        for k, arg in enumerate(args):
            if arg.space != space:
                msg = f"{self.name}: argument {k + 1} is in {arg.space} where a vector of {space} is due"
                raise SpaceError(msg + difference(arg.space, space))
        require_space(space, self.name)
        cod, run = _on(space, self, len(args))
        return Vec(cod, tuple(map(freeze, run([leaf for arg in args for leaf in arg.leaves]))))

    def image(self, *operands: Leaf) -> Leaf:
        """The common leaf, of truth values for a comparison; raises SpaceError for entries that p does not apply to."""
        first = operands[0]
        for leaf in operands[1:]:
            if leaf != first:
                msg = f"{self.name} needs arguments of one space, not of {first} and {leaf}"
                raise SpaceError(msg)
        entry = _entry(self, first.entry)
        return first if entry is first.entry else Leaf(entry, first.axes)

    def lifted(self, n: int) -> Elementwise[V, W]:
        """The same, element by element."""
        return self

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The element-wise kernel."""
        return lib.elementwise(self.rule, self.params)

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """The row's value, entry by entry; None for a user's row, which may need whole arrays, and a called one."""
        rule = self.rule
        if rule.in_text is None or rule.is_called:
            return None

        def value(xp: Any, *args: Any) -> Any:
            return rule.value(xp, self.params, *args)

        return to.each(result, lambda at: entry(value, *(a.at(at) for a in operands)))

    @declared
    def __repr__(self) -> str:
        raise NotImplementedError


AnyElementwise: TypeAlias = Elementwise[Any, Any]
"""An element-wise operation."""


@once
def _on(space: Type, p: AnyElementwise, arity: int) -> tuple[Type, OnLeaves]:
    """The space of the results on so many vectors of a space, and what computes their leaves."""
    n = len(space.leaves)
    b = Builder(space.leaves * arity)
    outputs = [b.step(p, tuple(k + n * j for j in range(arity))) for k in range(n)]
    return space if p.cod.is_space else booleans(space), Runner(b.line(outputs)).run


@cache
def _entry(p: AnyElementwise, entry: Entry) -> Entry:
    """The entries of the result."""
    due = p.dom.leaves[0].entry
    if p.name in {"equal", "not_equal"}:  # of any entries
        return Bool.entry
    if entry.is_field != due.is_field or (not due.is_field and entry != due):
        msg = f"{p.name} applies to entries of {due}, not of {entry}"
        if p.name.startswith("logical_") and entry.is_field:
            msg += ": &, | and ~ bind before comparisons, write (x > k) & (x < l)"
        raise SpaceError(msg)
    return p.cod.entry if p.cod == Bool else entry


def booleans(space: Type) -> Type:
    """The type with a Bool for each entry of a space."""
    if isinstance(space, Copower):
        return Copower(booleans(space.base), space.index)
    if isinstance(space, Biproduct):
        made: Type = space._form.of_parts(tuple(map(booleans, space.parts)))
        return made
    leaves = tuple(type_of(Leaf(Bool.entry, leaf.axes)) for leaf in space.leaves)
    return leaves[0] if len(leaves) == 1 else DirectSum(leaves)


@cache
def power(k: float) -> Primitive:
    """x ↦ x^k for a constant k, by the cheapest primitive."""
    simple = {2.0: "square", -1.0: "reciprocal", 0.5: "sqrt"}.get(k)
    return Primitive(simple) if simple else Primitive("power", (k,))


@final
@frozen(eq=False, repr=False)
class Primitive(Elementwise[Field, Field]):
    """p : K → K. It composes (`log @ sin`, `sin ** X`) and applies to expressions and vectors of any space."""

    @property
    def dom(self) -> Field:
        """K."""
        return R

    @property
    def cod(self) -> Field:
        """K."""
        return R

    def __call__(self, x: Q, /, *more: Never) -> Q:  # type: ignore[override]  # it takes every space
        """Element by element; raises SpaceError for more than one argument."""
        if more:
            msg = f"{self.name} takes one argument, not {1 + len(more)}"
            raise SpaceError(msg)
        value: Any = x.apply_map(self, (x,)) if is_symbol(x) else self.on_vectors(_vectors(self, (x,)))
        return cast("Q", value)


@final
@frozen(eq=False, repr=False)
class Binary(Elementwise[DirectSum[Field, Field], Field]):
    """p : K ⊕ K → K, element by element on two arguments of one space."""

    @property
    def dom(self) -> DirectSum[Field, Field]:
        """K ⊕ K."""
        return direct_sum(R, R)

    @property
    def cod(self) -> Field:
        """K."""
        return R

    @overloaded(lambda: _calls.Binary___call__)
    def __call__(self: Binary, *args: Any) -> Any:  # type: ignore[override]  # it takes two of any one space
        """Element by element; raises SpaceError unless there are two arguments of one space."""
        if len(args) == 1 and isinstance(args[0], Vec) and args[0].space == self.dom:
            return self.on_vectors((args[0][0], args[0][1]))
        if len(args) != 2:
            msg = f"{self.name} takes two arguments, not {len(args)}"
            raise SpaceError(msg)
        traced = [a for a in args if is_symbol(a)]
        if traced:
            return traced[0].apply_map(self, args)
        like = next((a for a in args if isinstance(a, Vec)), None)
        numbers = [None if isinstance(a, Vec) else number(a) for a in args]
        filled = [a if k is None or like is None else like.filled(k) for a, k in zip(args, numbers, strict=True)]
        return self.on_vectors(_vectors(self, filled))


@final
@frozen(eq=False, repr=False)
class Comparison(Elementwise[Any, Boolean]):
    """A comparison or logical operation: element by element into Bool; its tangent is 0."""

    @property
    def dom(self) -> Any:
        """K ⊕ K, Bool or Bool ⊕ Bool."""
        base = Bool if self.name.startswith("logical") else R
        return base if self.rule.arity == 1 else direct_sum(base, base)

    @property
    def cod(self) -> Boolean:
        """Bool."""
        return Bool


def _vectors(p: AnyElementwise, args: Sequence[Any]) -> tuple[Vec[Any], ...]:
    for arg in args:
        if is_number(arg) and hasattr(math, p.name):
            msg = f"{p.name} takes a vector, not {shown(arg)}: write math.{p.name} for a number, R.vec(k) for a vector"
            raise SpaceError(msg)
        require_vector(arg, p.name)
    return tuple(args)
