"""The abstract map f : V → W and its operators; `linmap` and `diff` implement them (paper §2.2, §3).

g @ f composes, f + g and f - g add, k * f scales, f ** X is the copower f^X. Each operator asks the map of the higher
language to build the term, so that `linear @ function` is a function and no layer imports the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, NoReturn, Protocol, TypeAlias, TypeGuard, TypeVar

from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.attach import overloaded
from hilbert.base.notarray import Applicable, NotArray
from hilbert.base.once import once
from hilbert.base.term import Term
from hilbert.displayed import DisplayedAsFormula
from hilbert.errors import SpaceError, alike, number, shown
from hilbert.index.index import Index, Product, require_index
from hilbert.map.lacking import OF_MAPS, SIGNS_OF_MAPS, as_record, missing, named_call, of_rows, power_of, record_of
from hilbert.space.direct_sum import DirectSum, flat
from hilbert.space.nested_sums import apart, said, unflattened
from hilbert.space.space import Copower, R, Type, bracketing
from hilbert.space.vector import Vec
from hilbert.tracebacks import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert import _calls

I = TypeVar("I", bound=Index)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
V_co = TypeVar("V_co", bound=Type, covariant=True)
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
OnLeaves: TypeAlias = "Callable[[Sequence[Any]], Sequence[Any]]"
"""A function from the leaves of an argument to those of a result, which are not yet frozen."""


class Symbol(Protocol[V_co, W, T_co]):
    """An operand of a map that is no vector, for the type checker: of a space V, it turns f : V → W into a T.

    An expression of V turns f into an expression of W: thus f(x) is typed without this layer knowing expressions.
    """

    @property
    def space(self) -> V_co:
        """V."""
        ...

    def apply_map(self, f: Map[Any, W], args: tuple[Any, ...], /) -> T_co:
        """f(*args), where one of the arguments is self."""
        ...


Operand: TypeAlias = Vec[V] | Symbol[V, W, T]


class Map(DisplayedAsFormula, Term, NotArray, Generic[V, W]):
    """f : V → W, analytic; `dom` and `cod` are its spaces."""

    __slots__ = ()
    instead = "apply it to a vector, or compose it with a function of hb"
    _attributes: ClassVar[dict[str, str]] = OF_MAPS
    _operators: ClassVar[dict[str, tuple[str, str]]] = SIGNS_OF_MAPS
    language = 0
    """0 for linear maps, 1 for functions: a combination of maps is a term of the highest language among them."""

    @property
    def dom(self) -> V:
        """The domain V."""
        raise TypeError(type(self).__name__)

    @property
    def cod(self) -> W:
        """The codomain W."""
        raise TypeError(type(self).__name__)

    def settle(self) -> None:
        """Cache the spaces while those of the parts are known: asked later, a deep term would overflow the stack."""
        _ = self.dom, self.cod

    @overloaded(lambda: _calls.Map___call__)
    def __call__(self: Map[V, W], *args: Any, **names: Any) -> Any:
        """f(x); f(a, b, c) for a direct sum, f(a, (b, c)) or f(a, b, c) where a part is one. SpaceError for others."""
        if names:
            given = ", ".join(f"{name}=…" for name in names)
            msg = f"f : {self.dom} → {self.cod} takes arguments by position, not {given}: write f(v) or f(v, w)"
            raise SpaceError(msg)
        try:
            try:
                dom, parts, applied = self._memo[READY]
            except (AttributeError, KeyError):
                pass  # the first call
            else:
                if len(args) == 1 and type(args[0]) is Vec and args[0].space is dom:
                    return applied(args[0].leaves)
                leaves = together(parts, args)
                if leaves is not None:
                    return applied(leaves)
            return self._first(args)
        except SpaceError as error:
            cut(error)
            raise

    def _first(self, args: tuple[Any, ...]) -> Any:
        """The result of a first call, and of one on other arguments than vectors of the domain or its parts."""
        if isinstance(self, Columnwise) and len(args) == 1:
            columns = self._of_columns(args[0])
            if columns is not None:
                return columns
        for a in args:
            symbol = None if type(a) is Vec else symbol_among(a)
            if symbol is not None:
                return symbol.apply_map(self, args)
        x = argument(self, args)
        return self._ready()[2](x.leaves)

    @once
    def _ready(self) -> tuple[V, tuple[Type, ...], Callable[[Sequence[Any]], Vec[W]]]:
        """The domain, its parts if it is a direct sum, and the function from leaves of the domain to vectors."""
        return self.dom, self.dom.parts if isinstance(self.dom, DirectSum) else (), self._applied()

    def _applied(self) -> Callable[[Sequence[Any]], Vec[W]]:
        """The function that applies the map to the leaves of vectors of its domain."""
        run, cod = runner(self), self.cod
        if len(cod.leaves) == 1:  # quicker than the general case
            return lambda leaves: Vec(cod, (freeze(*run(leaves)),))
        return lambda leaves: Vec(cod, tuple(map(freeze, run(leaves))))

    def _runner(self) -> OnLeaves:
        """The function from the leaves of vectors of the domain to leaves of the result, not yet read-only."""
        raise TypeError(type(self).__name__)

    def _compose(self, parts: Sequence[AnyMap]) -> AnyMap:
        """fₙ ∘ … ∘ f₁ of two or more parts, f₁ first; raises SpaceError where it is not defined."""
        raise TypeError(type(self).__name__)

    def _sum(self, parts: Sequence[AnyMap]) -> AnyMap:
        raise TypeError(type(self).__name__)

    def _scaled(self, k: float) -> AnyMap:
        raise TypeError(type(self).__name__)

    def _copower(self, index: Index) -> AnyMap:
        raise TypeError(type(self).__name__)

    def _fork(self, parts: Sequence[AnyMap]) -> AnyMap:
        raise TypeError(type(self).__name__)

    def _parallel(self, parts: Sequence[AnyMap]) -> AnyMap:
        raise TypeError(type(self).__name__)

    def __matmul__(self, f: Map[U, V]) -> Map[U, W]:
        if isinstance(f, (Vec, Applicable)):
            msg = f"@ composes maps, and the right side is {shown(f)}: write A(v) for A : {self.dom} → {self.cod}"
            raise SpaceError(msg)
        if not isinstance(f, Map):
            _no_map("g ∘ f", "g", self, f, f"a map into {self.dom} would fit")
        return highest((self, f))._compose((f, self))

    def __add__(self, g: Map[V, W]) -> Map[V, W]:
        if not isinstance(g, Map):
            _no_map("f + g", "f", self, g, f"a map {self.dom} → {self.cod} would fit")
        return highest((self, g))._sum((self, g))

    def __sub__(self, g: Map[V, W]) -> Map[V, W]:
        if not isinstance(g, Map):
            _no_map("f − g", "f", self, g, f"a map {self.dom} → {self.cod} would fit")
        return highest((self, g))._sum((self, g._scaled(-1.0)))

    def __rmatmul__(self, g: Never) -> NoReturn:
        if isinstance(g, (Vec, Applicable)):
            msg = f"@ composes maps, and the left side is {shown(g)}: write A(v), or adjoint(A)(v) for v @ A"
            raise SpaceError(msg)
        _no_map("g ∘ f", "f", self, g, f"a map on {self.cod} would fit")

    def __radd__(self, g: Never) -> NoReturn:
        _no_map("g + f", "f", self, g, f"a map {self.dom} → {self.cod} would fit")

    def __rsub__(self, g: Never) -> NoReturn:
        _no_map("g − f", "f", self, g, f"a map {self.dom} → {self.cod} would fit")

    def __neg__(self) -> Map[V, W]:
        return self._scaled(-1.0)

    def __mul__(self, k: float) -> Map[V, W]:
        return self._scaled(factor(k))

    __rmul__ = __mul__

    def __truediv__(self, k: float) -> Map[V, W]:
        return self._scaled(reciprocal(k))

    def __pow__(self, X: I) -> Map[Copower[V, I], Copower[W, I]]:
        return self._copower(exponent(X))


class Columnwise(Map[V, W]):
    """A map that applies to the columns of a table, too: a linear map."""

    __slots__ = ()

    def _of_columns(self, x: Any, /) -> Any:
        """The table of the values at the columns of a table; None for what is no table of columns in the domain."""
        raise TypeError(type(self).__name__)


AnyMap: TypeAlias = Map[Any, Any]
"""A map between any types."""


@once
def runner(f: AnyMap) -> OnLeaves:
    """The function from the leaves of x to those of f(x), made once."""
    return f._runner()


READY: Any = Map.__dict__["_ready"].__wrapped__
"""The key under which `_ready` is kept, for `__call__` to read."""


def _no_map(what: str, name: str, f: AnyMap, got: Any, fits: str) -> NoReturn:
    msg = f"cannot form {what}: {name} : {f.dom} → {f.cod}, and the other side is {shown(got)}: {fits}"
    raise SpaceError(msg)


shown.register(Map, lambda f: f"a map {f.dom} → {f.cod}")


def require_map(value: Any, what: str) -> None:
    """Raise SpaceError unless a value is a map."""
    if not isinstance(value, Map):
        remedy = getattr(type(value), "as_map", "make one by fun(V)(body)")
        msg = f"{what} takes a map, not {shown(value)}: {remedy}"
        raise SpaceError(msg)


def factor(k: Any) -> float:
    """The number k of k * f; raises SpaceError for anything else."""
    value = number(k)
    if value is None:
        msg = f"k * f scales f by a number k, not by {shown(k)}; g @ f composes"
        raise SpaceError(msg)
    return value


def reciprocal(k: Any) -> float:
    """The number 1/k of f / k; raises SpaceError for anything else, and for 0."""
    value = number(k)
    if not value:
        msg = f"f / k divides f by a number k ≠ 0, not by {shown(k)}"
        raise SpaceError(msg)
    return 1.0 / value


def exponent(X: Any) -> Index:
    """The index set X of f ** X; raises SpaceError for anything else."""
    require_index(X, "the copower f ** X")
    index: Index = X
    return index


def highest(parts: Sequence[AnyMap]) -> AnyMap:
    """A part of the highest language: the one that knows how to combine them all."""
    if not parts:
        msg = "nothing to combine: give at least one map"
        raise SpaceError(msg)
    for part in parts:
        require_map(part, "a combination of maps")
    return max(parts, key=lambda part: part.language)


def _together(args: tuple[Any, ...]) -> Any:
    """A tuple of vectors, or of such tuples, as one of the direct sum of their spaces; another one as it is."""
    parts = [_together(arg) if type(arg) is tuple else arg for arg in args]
    if not all(isinstance(part, Vec) for part in parts):
        return args
    return Vec(DirectSum(tuple(part.space for part in parts)), tuple(leaf for part in parts for leaf in part.leaves))


def is_symbol(arg: Any) -> TypeGuard[Symbol[Any, Any, Any]]:
    """Tell if an argument is an expression, which applies maps to itself."""
    return isinstance(arg, Applicable)


def symbol_among(arg: Any) -> Symbol[Any, Any, Any] | None:
    """An argument that is an expression, or the first one in a tuple."""
    if is_symbol(arg):
        return arg
    symbols = map(symbol_among, arg) if type(arg) is tuple else ()
    return next((symbol for symbol in symbols if symbol is not None), None)


def together(parts: Sequence[Type], args: Sequence[Any]) -> list[Any] | None:
    """The leaves of several vectors, one of each part; None for other arguments, which are looked at closer."""
    if not len(args) == len(parts) > 1:
        return None
    leaves: list[Any] = []
    for a, part in zip(args, parts, strict=True):
        if type(a) is not Vec or not (a.space is part or a.space == part):
            return None
        leaves += a.leaves
    return leaves


def argument(f: AnyMap, args: Sequence[Any], call: str = "") -> Vec[Any]:
    """The one vector of f's domain that some arguments are; raises SpaceError that names the position.

    For a `call(f, x)`, where x is the point, the error says so if there is none.
    """
    dom = f.dom
    if call and not args:
        msg = f"{call} of f : {dom} → {f.cod} takes the point too, a vector x of {dom}: write {call}(f, x), not "
        raise SpaceError(f"{msg}{call}(f)(x)")
    if tuple in map(type, args):
        args = [_together(arg) if type(arg) is tuple else arg for arg in args]
    parts = flat(dom) if isinstance(dom, DirectSum) and len(dom.parts) != len(args) == len(flat(dom)) else dom.parts
    for k, arg in enumerate(args):
        if not isinstance(arg, Vec):
            part = parts[k] if len(args) == len(parts) > 1 else dom
            what = f"argument {k + 1} of f : {dom} → {f.cod} is {shown(arg)}"
            is_list = isinstance(arg, list) and bool(arg) and all(isinstance(item, NotArray) for item in arg)
            remedy = "write f(v, w), not f([v, w])" if is_list else "make it by V.vec(data)"
            if dom.names and len(args) == len(dom.names):
                remedy = f"write f({record_of(dom.names)})"
            elif part.is_sum:
                remedy += unflattened(part, arg)
            raise SpaceError(f"{what}, where a vector of {part} is due: {remedy}")
    if len(args) == 1:
        (x,) = args
        if x.space is not dom and x.space != dom:
            msg = f"cannot apply f : {dom} → {f.cod} to a vector of {said(x.space)}: a vector of {said(dom)} is due"
            raise SpaceError(apart(x.space, dom) + msg + (unfit([x.space], dom) or bracketing(x.space, dom)))
        vector: Vec[Any] = x
        return vector
    if not isinstance(dom, DirectSum) or len(parts) != len(args):
        several = f"{len(parts)} arguments, or one" if isinstance(dom, DirectSum) else "one argument, a"
        msg = f"f : {dom} → {f.cod} takes {several} vector of {dom}; {len(args)} were given"
        msg += misfit(f, [a.space for a in args])
        if isinstance(dom, Copower) and len(dom.base.parts) == len(args):
            over = ", ".join(str(k) for k in range(len(args)))
            msg += f": a function g of {len(args)} arguments at each element is lift(g, X, over=({over}))"
            if all(a.space == Copower(part, dom.index) for a, part in zip(args, dom.base.parts, strict=True)):
                msg += "; zip_parts(direct_sum(v.space, w.space))(v, w) is a vector of pairs"
        raise SpaceError(msg)
    leaves: list[Any] = []
    for k, (arg, part) in enumerate(zip(args, parts, strict=True)):
        if arg.space is not part and arg.space != part:
            hint = [str(j + 1) for j, other in enumerate(parts) if other == arg.space]
            swap = f" (it would fit as argument {', '.join(hint)})" if hint else ""
            msg = f"argument {k + 1} is a vector of {said(arg.space)} where one of {said(part)} is due{swap}: "
            msg += f"f : {dom} → {f.cod}"
            each = "" if hint else misfit(f, [a.space for a in args])
            raise SpaceError(apart(arg.space, part) + msg + (each or alike(arg.space, part)))
        leaves += arg.leaves
    return Vec(dom, tuple(leaves))


def misfit(f: AnyMap, have: Sequence[Type]) -> str:
    """The end of an error for the arguments of a function, as `unfit`; otherwise how the call is written."""
    return unfit(have, f.dom) or named_call(f, have)


def unfit(have: Sequence[Type], want: Type) -> str:
    """The end of an error for arguments that are missing, or fit in another order or with f for each element."""
    absent = missing(have, want)
    if absent:
        return absent
    if len(have) == 1 and isinstance(want, Copower) and want.base.is_sum:
        parts = want.base.parts
        if all(have[0] == Copower(part, want.index) for part in parts):
            more = ", …" * (len(parts) > 2)
            pairs = f"zip_parts(direct_sum(v.space, w.space{more}))(v, w{more})"
            return f"; {pairs} puts {len(parts)} such vectors together, of {want.base} at each element"
    if len(have) == 1 and isinstance(have[0], Copower) and have[0].base.is_sum and want == Copower(R, have[0].index):
        return f"; a map of index sets, such as gather(table, X, V), takes V last: V = {have[0].base}"
    due = want.parts if len(have) > 1 else (want,)
    if len(have) != len(due):
        return ""
    order = [next((k for k, one in enumerate(have) if one == part), -1) for part in due]
    if want.names and sorted(order) == list(range(len(have))):
        return as_record(want.names, in_order=order == sorted(order))
    if sorted(order) == list(range(len(have))):
        return f"; the arguments {', '.join(str(k + 1) for k in order)}, in this order, would fit"
    table = have[0]
    if len(have) == 1 and isinstance(table, Copower) and isinstance(table.index, Product):
        if Copower(table.base, table.index.left) == want:
            return f"; of the columns of a table A, one for each element of K = {table.index.right}: (f ** K)(A.T).T"
        if Copower(Copower(table.base, table.index.left), table.index.right) == want and table.leaves != want.leaves:
            return "; A.T is such a table"
    over = [k for k, one in enumerate(have) if one != due[k]]
    found = {power_of(have[k], due[k]) for k in over}
    places = f"({', '.join(map(str, over))}{',' * (len(over) == 1)})"
    lifted = "f ** X" if len(have) == 1 else f"lift(f, X, over={places})"
    if len(found) != 1 or None in found:
        return of_rows(have[over[0]], due[over[0]], lifted) if len(over) == 1 else ""
    return f"; f for each element of {found.pop()} is {lifted}"
