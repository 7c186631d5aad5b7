"""Values: vectors or expressions of the library, tuples of them, integers and lists of integers; their arithmetic.

An array of reals is an element of a copower V^X. The zero of an array whose length is not known yet is NOUGHT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final

from diff import each
from diff.lam.term.binding import Pass
from diff.lam.term.term_error import TermError
from diff.lam.term.types import Arrow, DataType, Ground, Int, LeafType, Lin, TupleType, Ty
from diff.trace.expr import Expr
from hilbert import Copower, DirectSum, Fin, R, Type, Vec
from hilbert.base.term import bottom_up, driven
from linmap import identity, rep, reshape, stack

if TYPE_CHECKING:
    from collections.abc import Callable

Value: TypeAlias = Any
MOST = 10**5
"""The leaves that a tuple may have."""
DEEPEST = 200
"""The depth of tuples and arrays in a result."""


@final
class Nought:
    """The zero of an array whose length is not known."""


NOUGHT = Nought()


def packed(value: Value) -> Any:
    """A value as one vector or expression: a tuple as an element of a direct sum; raises TermError for a NOUGHT."""
    made = driven(_packed(value, [MOST], DEEPEST))
    if made is NOUGHT:
        raise TermError("shape", "0 is an array here, of no known length: write repl n 0.0")
    if isinstance(made, (int, list)):
        raise TermError("type", "an index is no real: it is a constant of the text")
    return made


def _packed(value: Value, left: list[int], deep: int) -> Pass:
    _count(left)
    if not isinstance(value, tuple):
        return value
    if not deep:
        raise TermError("limit", f"a tuple nested more than {DEEPEST} deep")
    parts = []
    for part in value:
        made = yield _packed(part, left, deep - 1)
        parts.append(made)
    odd = next((part for part in parts if not isinstance(part, (Vec, Expr))), None)
    return identity(DirectSum(tuple(part.space for part in parts)))(*parts) if odd is None else odd


def length(v: Value) -> int:
    """The number of elements of an array."""
    n: int = len(v) if isinstance(v, list) else v.space.index.size
    return n


def zero(ty: Ty) -> Value:
    """0 of a type."""

    def step(node: Ty, rec: Any) -> Value:
        match node:
            case Ground():
                return R.zeros()
            case Int():
                return 0
            case TupleType(parts):
                return tuple(map(rec, parts))
            case LeafType() | DataType() | Arrow() | Lin():  # an array
                return NOUGHT
            case _:
                assert_never(node)

    return bottom_up(ty, step)


def stacked(items: list[Value]) -> Value:
    """An array of its elements, at least one of which has a known length."""
    known = next((item for item in items if not has_nought(item)), None)
    parts = [packed(item if known is None else filled(item, known)) for item in items]
    other = next((part for part in parts if not _is_alike(part.space, parts[0].space)), None)
    if other is not None:
        sizes = f"{_kind(parts[0].space)} and {_kind(other.space)}"
        raise TermError("shape", f"the elements of an array are of one length, not {sizes}")
    n, of = Fin.of(len(parts)), parts[0].space
    parts = [brought(part, of) for part in parts]
    return stack(n, of)(*parts) if len(parts) > 1 else rep(n, of)(parts[0])


def _count(left: list[int]) -> None:
    """One part more of a tuple."""
    left[0] -= 1
    if left[0] < 0:
        raise TermError("limit", f"a tuple of more than {MOST} parts")


def has_nought(value: Value) -> bool:
    """Tell if a NOUGHT is in it."""
    stack, left = [value], [MOST]
    while stack:
        _count(left)
        node = stack.pop()
        if node is NOUGHT:
            return True
        stack.extend(node if isinstance(node, tuple) else ())
    return False


def filled(value: Value, like: Value) -> Value:
    """The value with zeros of the shape of another in place of NOUGHT."""
    if not has_nought(value):
        return value
    return plus(value, _each_leaf(lambda v: v if v is NOUGHT else v.space.zeros(), like))


def _kind(space: Type) -> str:
    return f"arrays of {space.index.size}" if isinstance(space, Copower) else "tuples of arrays"


# --- arithmetic, leaf by leaf ---


def _each_leaf(f: Callable[..., Value], *values: Value) -> Value:
    """f at each leaf of tuples of one form."""
    return driven(_leafwise(f, values, [MOST]))


def _leafwise(f: Callable[..., Value], values: tuple[Value, ...], left: list[int]) -> Pass:
    _count(left)
    kind = next((type(v) for v in values if isinstance(v, (tuple, list))), None)
    if kind is None:
        return f(*values)
    if kind is list:  # of indices
        known = next(v for v in values if v is not NOUGHT)
        nought = _each_leaf(lambda _: 0, known) if len(values) > 1 else known
        values = tuple(nought if v is NOUGHT else v for v in values)
    if len({len(v) for v in values}) > 1:
        raise TermError("shape", f"arrays of {' and '.join(str(len(v)) for v in values)} elements: one length is due")
    made = []
    for parts in zip(*values, strict=True):
        part = yield _leafwise(f, parts, left)
        made.append(part)
    return kind(made)


def fitting(sign: str, f: Callable[[Any, Any], Any]) -> Callable[[Value, Value], Value]:
    """An operation on two leaves, of one space but for the names of axes; integers are constants."""

    def run(a: Any, b: Any) -> Any:
        if isinstance(a, int) or a.space == b.space:
            return f(a, b)
        if not _is_alike(a.space, b.space):
            raise TermError("shape", f"{sign} of {_lengths(a, b)}: one length is due")
        return f(a, renamed(b, a.space))

    return run


def _is_alike(V: Type, W: Type) -> bool:
    """Tell if two spaces differ in the names of their axes only."""
    return [leaf.shape for leaf in V.leaves] == [leaf.shape for leaf in W.leaves]


def renamed(v: Any, space: Any) -> Any:
    """An array with the axes of a space of the same lengths."""
    if isinstance(space, DirectSum):
        return packed(tuple(map(renamed, v.split(), space.parts)))
    if space == v.space:
        return v
    if v.space.base != space.base:
        v = each(lambda x: renamed(x, space.base), v)
    return v if v.space.index == space.index else reshape(v.space.index, space.index, space.base)(v)


def brought(v: Any, space: Any) -> Any:
    """A value with the axes of a space, where they are of its lengths; else the value as it is."""
    return renamed(v, space) if v.space != space and _is_alike(v.space, space) else v


def _lengths(a: Any, b: Any) -> str:
    if length(a) != length(b):
        return f"arrays of {length(a)} and {length(b)} elements"
    return "arrays whose elements are arrays of unequal lengths"


def plus(a: Value, b: Value) -> Value:
    """a + b; NOUGHT is neutral."""
    add = fitting("+", lambda x, y: x + y)
    return _each_leaf(lambda x, y: y if x is NOUGHT else x if y is NOUGHT else add(x, y), a, b)


def minus(a: Value, b: Value) -> Value:
    """a − b."""
    subtract = fitting("-", lambda x, y: x - y)
    return _each_leaf(lambda x, y: x if y is NOUGHT else -y if x is NOUGHT else subtract(x, y), a, b)


def times(a: Value, b: Value) -> Value:
    """a · b, entry by entry; NOUGHT absorbs."""
    multiply = fitting("*", lambda x, y: x * y)
    return _each_leaf(lambda x, y: NOUGHT if x is NOUGHT or y is NOUGHT else multiply(x, y), a, b)


def scaled(k: Value, v: Value) -> Value:
    """k · v, for a number k."""

    def leaf(x: Value) -> Value:
        if isinstance(x, int):
            raise TermError("type", "an index is not multiplied by a real")
        return x if x is NOUGHT else k * x

    return _each_leaf(leaf, v)
