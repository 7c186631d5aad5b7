"""The language of analytic functions (paper §3): terms that users compose, each checked against its spaces.

Linear maps are functions too: a term of this language may have linear maps as parts. `diff.lower` gives terms meaning
as programs; `diff.show` prints them in the paper's notation.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Never, Protocol, TypeAlias, TypeVar, cast, final, overload

from attrs import field, frozen

from hilbert import Bool, Boolean, Copower, DirectSum, Field, Map, R, Space, SpaceError, Type, Vec, direct_sum
from hilbert.combine import (
    Addition,
    Composition,
    ElementByElement,
    Multiple,
    Pairing,
    Selection,
    SideBySide,
    joint,
    same_type,
)
from hilbert.errors import number, shown
from hilbert.index import Index
from hilbert.leaf import Leaf
from hilbert.map import AnyMap
from hilbert.notarray import Applicable
from hilbert.once import once
from hilbert.program import operation
from hilbert.program.builder import Builder
from hilbert.program.line import Line, Step
from hilbert.program.operation import Builtin
from hilbert.space import OfSpaces, require_space, require_type, type_of
from hilbert.term import Chain, as_chain, as_tuple, merged
from hilbert.vector import require_vector
from linmap.contraction import AnyContraction
from linmap.net.equal import Comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from diff.expr import Expr
    from hilbert.arrays.kernel import Kernel
    from hilbert.arrays.library import Library
    from linmap.net.equal import Numbering

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


class Fun(Map[V, W], Comparable):
    """f : V → W, an analytic function as a term."""

    __slots__ = ()
    language = 1

    def label(self, numbering: Numbering) -> Hashable:
        """The contents of the program, for `equal`."""
        from diff.equal import program_label

        return program_label(self, numbering)

    def _runner(self) -> Callable[[Vec[V]], Vec[W]]:
        from diff.evaluate import run  # evaluation is a pass over these terms

        return run(self)

    def _compose(self, parts: Sequence[AnyMap]) -> AnyFun:
        inner, outer = parts
        joint(inner, outer)
        return merged(Compose, inner, outer)

    def _sum(self, parts: Sequence[AnyMap]) -> AnyFun:
        f, g = parts
        same_type(f, g)
        return merged(Sum, f, g)

    def _scaled(self, k: float) -> Fun[V, W]:
        return Scaled(k, self)

    def _copower(self, index: Index) -> AnyFun:
        return Power(self, index)

    def _fork(self, parts: Sequence[AnyMap]) -> AnyFun:
        return Fork(parts)

    def _parallel(self, parts: Sequence[AnyMap]) -> AnyFun:
        return Parallel(parts)

    def __str__(self) -> str:
        from diff.show import show_function  # printing is a pass over these terms

        return show_function(self)

    def __repr__(self) -> str:
        from diff.repr_text import spell  # so is spelling

        return spell(self)


AnyFun: TypeAlias = Fun[Any, Any]
"""A function between any types."""


def _maps(_: Any, __: Any, parts: Any) -> None:
    if not len(parts):
        msg = "nothing to combine: give at least one map"
        raise SpaceError(msg)
    for part in parts:
        if not isinstance(part, Map):
            msg = f"a function is made of maps, not of {shown(part)}"
            raise SpaceError(msg)


@final
@frozen(eq=False, repr=False)
class Constant(AnyFun):
    """K_w : V → W, v ↦ w (§3.4)."""

    dom: Any
    value: Vec[Any]

    @property
    def cod(self) -> Any:
        """The space of w."""
        return self.value.space


@final
@frozen(eq=False, repr=False)
class Bilinear(AnyFun):
    """⋄ : U ⊕ V → W, a bilinear map given by labelled contractions (§3.1)."""

    contraction: AnyContraction

    @property
    def dom(self) -> Any:
        """U ⊕ V."""
        return DirectSum((self.contraction.left, self.contraction.right))

    @property
    def cod(self) -> Any:
        """W."""
        return self.contraction.cod


@final
@frozen(eq=False, repr=False)
class Compose(Composition, AnyFun):
    """fₙ ∘ … ∘ f₁; `parts` are in the order of application, f₁ first."""

    parts: Chain[AnyMap] = field(converter=as_chain, validator=_maps)


@final
@frozen(eq=False, repr=False)
class Sum(Addition, AnyFun):
    """f₁ + … + fₙ, that is (+) ∘ ⟨f₁, …, fₙ⟩."""

    parts: Chain[AnyMap] = field(converter=as_chain, validator=_maps)

    def __attrs_post_init__(self) -> None:
        Addition.__attrs_post_init__(self)
        require_space(self.cod, "f + g")


@final
@frozen(eq=False, repr=False)
class Scaled(Multiple, AnyFun):
    """k·f, that is (k·) ∘ f."""

    k: float = field(converter=float)
    of: AnyMap

    def __attrs_post_init__(self) -> None:
        require_space(self.of.cod, "k·f")
        self.settle()


@final
@frozen(eq=False, repr=False)
class Fork(Pairing, AnyFun):
    """⟨f₁, …, fₙ⟩ : U → ⊕ V_y."""

    parts: tuple[AnyMap, ...] = field(converter=as_tuple, validator=_maps)


@final
@frozen(eq=False, repr=False)
class Parallel(SideBySide, AnyFun):
    """f₁ × … × fₙ = Π_x f_x : ⊕ V_x → ⊕ W_x."""

    parts: tuple[AnyMap, ...] = field(converter=as_tuple, validator=_maps)


@final
@frozen(eq=False, repr=False)
class Power(ElementByElement, AnyFun):
    """f^X : V^X → W^X, element by element."""

    of: AnyMap
    index: Index


@final
@frozen(eq=False, repr=False)
class Lift(AnyFun):
    """f with the arguments at positions `over` varying over X, the others shared: A ⊕ B^X → W^X."""

    of: AnyMap
    index: Index
    over: tuple[int, ...]

    @property
    def dom(self) -> Any:
        """⊕ of A_i^X for the positions in `over`, of A_i for the others."""
        parts = self.of.dom.parts
        return DirectSum(tuple(Copower(p, self.index) if k in self.over else p for k, p in enumerate(parts)))

    @property
    def cod(self) -> Any:
        """W^X."""
        return Copower(self.of.cod, self.index)


@frozen
class PrimitiveRule:
    """A row of the table of primitives: value and derivative, element by element.

    `value(xp, params, *arrays)` computes in any array namespace; `ufunc` names the function of numpy that it is, and
    `in_numpy(params)` is a kernel for numpy that is better than both. `derivatives(params, args, y)` gives one
    expression of the language for each argument, in the arguments and the value; None for a discrete result.
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

    @property
    def is_discrete(self) -> bool:
        """Whether the result holds truth values."""
        return self.derivatives is None


RULES: dict[str, PrimitiveRule] = {}
"""The open table of primitives, filled by `diff.primitives` and by users."""


@frozen(eq=False, repr=False)
class Elementwise(Fun[V, W], operation.Operation):
    """An operation applied element by element; its rule stands in the table under its name."""

    name: str
    params: tuple[float, ...] = ()

    @property
    def rule(self) -> PrimitiveRule:
        """The row of the table; SpaceError if this process has none of that name."""
        try:
            return RULES[self.name]
        except KeyError:
            msg = f"primitive {self.name!r} is not in the table: register it before it is used or unpickled"
            raise SpaceError(msg) from None

    def on_vectors(self, args: tuple[Vec[Any], ...]) -> Vec[Any]:
        """Element by element on vectors of any one space."""
        space = args[0].space
        for k, arg in enumerate(args):
            if arg.space != space:
                msg = f"{self.name}: argument {k + 1} is in {arg.space} where a vector of {space} is due"
                raise SpaceError(msg)
        require_space(space, self.name)
        return self._on(space, len(args))(*args)

    @once
    def _on(self, space: Type, arity: int) -> AnyProgram:
        """The program on so many vectors of a space."""
        n = len(space.leaves)
        dom: Type = DirectSum((space,) * arity) if arity > 1 else space
        b = Builder(dom.leaves)
        outputs = [b.step(self, tuple(k + n * j for j in range(arity))) for k in range(n)]
        return Program.of(b, dom, outputs, space if self.cod.is_space else booleans(space))

    def image(self, *operands: Leaf) -> Leaf:
        """The common leaf, of truth values for a comparison; raises SpaceError for entries that p does not apply to."""
        first = operands[0]
        for leaf in operands[1:]:
            if leaf != first:
                msg = f"{self.name} needs arguments of one space, not of {first} and {leaf}"
                raise SpaceError(msg)
        return _image(self, first)

    def lifted(self, n: int) -> Elementwise[V, W]:
        """The same, element by element."""
        return self

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The element-wise kernel."""
        return lib.elementwise(self.rule, self.params)

    def __repr__(self) -> str:
        from diff.repr_text import primitive

        return primitive(self)


AnyElementwise: TypeAlias = Elementwise[Any, Any]
"""An element-wise operation."""


@cache
def _image(p: AnyElementwise, leaf: Leaf) -> Leaf:
    due = p.dom.leaves[0]
    if leaf.is_field != due.is_field or leaf.kind != due.kind:
        msg = f"{p.name} applies to entries of {due}, not of {leaf.entry}"
        raise SpaceError(msg)
    return Leaf(p.cod.entry, leaf.axes) if p.cod == Bool else leaf


def booleans(space: Type) -> Type:
    """The type with a Bool for each entry of a space."""
    if isinstance(space, Copower):
        return Copower(booleans(space.base), space.index)
    if isinstance(space, DirectSum):
        return DirectSum(tuple(map(booleans, space.parts)))
    leaves = tuple(type_of(Leaf(Bool.entry, leaf.axes)) for leaf in space.leaves)
    return leaves[0] if len(leaves) == 1 else DirectSum(leaves)


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
        value: Any = x.apply_map(self, (x,)) if isinstance(x, Applicable) else self.on_vectors(_vectors(self, (x,)))
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

    @overload  # type: ignore[override]  # it takes two of any one space
    def __call__(self, x: Expr[S], y: Expr[S] | Vec[S] | float, /) -> Expr[S]: ...
    @overload
    def __call__(self, x: Vec[S] | float, y: Expr[S], /) -> Expr[S]: ...
    @overload
    def __call__(self, x: Vec[S], y: Vec[S] | float, /) -> Vec[S]: ...
    @overload
    def __call__(self, x: float, y: Vec[S], /) -> Vec[S]: ...
    def __call__(self, *args: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]  # likewise
        """Element by element; raises SpaceError unless there are two arguments of one space."""
        if len(args) == 1 and isinstance(args[0], Vec) and args[0].space == self.dom:
            return self.on_vectors((args[0][0], args[0][1]))
        if len(args) != 2:
            msg = f"{self.name} takes two arguments, not {len(args)}"
            raise SpaceError(msg)
        traced = [a for a in args if isinstance(a, Applicable)]
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
        require_vector(arg, p.name)
    return tuple(args)


Operation: TypeAlias = AnyElementwise | Builtin
"""The operations of a program."""


@final
@frozen(eq=False, repr=False)
class Program(Selection[V, W], Fun[V, W]):
    """A straight line between spaces: its inputs are the leaves of the argument, its outputs those of the result.

    `names` are those of the arguments, for printing only.
    """

    dom: Any
    cod: Any
    line: Line
    names: tuple[str, ...] = field(default=(), eq=False)

    def __attrs_post_init__(self) -> None:
        for space in (self.dom, self.cod):
            require_type(space, "a program")
        if not isinstance(self.line, Line):
            msg = f"a program is a line between two spaces, not {shown(self.line)}"
            raise SpaceError(msg)
        if self.slots[: self.arity] != self.dom.leaves:
            msg = f"a program on {self.dom} does not begin with the slots of its argument"
            raise SpaceError(msg)
        have = tuple(self.slots[k] for k in self.outputs)
        if have != self.cod.leaves:
            msg = f"a program into {self.cod} ends in {', '.join(map(str, have)) or 'no slots'}"
            raise SpaceError(msg)

    @staticmethod
    def of(b: Builder, dom: Type, outputs: Iterable[int], cod: Type, names: tuple[str, ...] = ()) -> AnyProgram:
        """What has been built, as a program that ends in these slots."""
        return Program(dom, cod, b.line(outputs), names)

    @property
    def slots(self) -> tuple[Leaf, ...]:
        """The leaves of the argument, then of each step's result."""
        return self.line.slots

    @property
    def steps(self) -> tuple[Step[Operation], ...]:
        """The steps, in order."""
        return self.line.steps

    @property
    def outputs(self) -> tuple[int, ...]:
        """The slots of the result."""
        return self.line.outputs

    @property
    def arity(self) -> int:
        """The number of slots that hold the argument."""
        return self.line.arity

    @property
    def is_identity(self) -> bool:
        """Whether it has no steps and gives its argument."""
        return not self.steps and self.dom == self.cod and self.outputs == tuple(range(self.arity))

    @property
    def part(self) -> int | None:
        """i for a program without steps that gives part i of its argument; None for another."""
        if self.steps or not isinstance(self.dom, DirectSum):
            return None
        start = 0
        for k, part in enumerate(self.dom.parts):
            stop = start + len(part.leaves)
            if part == self.cod and self.outputs == tuple(range(start, stop)):
                return k
            start = stop
        return None

    def __reduce__(self) -> tuple[Any, ...]:
        return Program, (self.dom, self.cod, self.line, self.names)

    def __repr__(self) -> str:
        return f"Program({self.dom!r}, {self.cod!r}, {self.line!r}, {self.names!r})"


AnyProgram: TypeAlias = Program[Any, Any]
"""A program between any types."""


Node: TypeAlias = (
    Constant | Bilinear | Compose | Sum | Scaled | Fork | Parallel | Power | Lift | AnyElementwise | AnyProgram
)
