"""Functions of one lane, for all lanes at once: each, build, batched.

>>> from hilbert import Fin, R
>>> from diff import const, fun
>>> X, Y = Fin.of(3), Fin.of(2)
>>> f = fun(R ** (Y * X), (R**X) ** Fin.of(4))(lambda W, xs: each(lambda x: W @ x, xs))
>>> print(f)
(W, xs) ↦ [i, j] ↦ Σ_k W[j, k]·xs[i, k]
>>> print(build(lambda x: const((R**X).vec([1.0, 2.0, 4.0]))[x] * 2.0, X))
[2.0, 4.0, 8.0] ∈ ℝ^3
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, final

import numpy as np

from diff.control.bodies import Tree, arguments, built, emitted, powers, slots_of, traced
from diff.terms.lift import lift, positions
from diff.trace.expr import Expr
from hilbert import Copower, DirectSum, Elements, Fin, Index, Map, Product, SpaceError, Type, Vec
from hilbert.base.attach import overloaded
from hilbert.base.once import first
from hilbert.base.sizes import FORMULA, addressable, held
from hilbert.errors import shown
from hilbert.index.index import require_index
from hilbert.map.map import require_map
from hilbert.map.table_forms import formed
from hilbert.program.transform.lifted_line import lifted_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from diff import _calls
    from hilbert.map.map import AnyMap
    from hilbert.program.line.builder import Builder

I = TypeVar("I", bound=Index)
A = TypeVar("A", bound=Type)
B = TypeVar("B", bound=Type)
T = TypeVar("T")
W = TypeVar("W", bound=Type)


@overloaded(lambda: _calls.each)
def each(f: Any, /, *xs: Any, over: Index | None = None) -> Any:
    """(f(x) for each x of xs ∈ V^X) ∈ W^X; of several, f(x, y, …) for xs ∈ V^X, ys ∈ U^X, …

    f is traced once, for one element; what it reads of the function around it is shared by all. The elements of a table
    in ℝ^{X×Y} are its entries; `over=X` takes its rows, and rows in ℝ^Z make a table in ℝ^{X×Z}. Raises SpaceError for
    operands that are no copowers, or over two index sets.
    """
    for x in xs:
        if not isinstance(x, (Expr, Vec)) or not isinstance(x.space, Copower):
            msg = f"each(f, xs) takes xs ∈ V^X, a vector with an element for each of X, not {shown(x)}"
            if isinstance(x, Index):
                msg += "; build(f, X) gives f the elements of X"
            elif isinstance(x, list) or hasattr(x, "dtype"):
                msg += "; data are a vector as V.vec(data)"
            raise SpaceError(msg)
    rows = [x if over is None else _rows(x, over) for x in xs]
    if not xs or any(x.space.index != rows[0].space.index for x in rows):
        which = " and ".join(str(x.space) for x in xs) or "nothing"
        msg = f"each(f, xs, ys) goes over one index set, not over those of {which}"
        raise SpaceError(msg + (_of_rows(xs) or _hint_of_one_size(rows)))
    X = rows[0].space.index
    try:
        made = emitted(lambda b, *stacks: _lanes(b, "each", f, stacks, X), *rows)
    except SpaceError as error:
        if over is None and (hint := _of_rows(xs)):
            error.add_note(f"  the elements of a table are its entries{hint}")
        if arguments(f) > len(xs):
            error.args = (f"{error}; what is shared by all is read from around it: {_shared(len(xs))}",)
        raise
    if rows[0] is xs[0]:
        return made
    return tuple(formed(y, xs[0].space, X) for y in made) if isinstance(made, tuple) else formed(made, xs[0].space, X)


def _hint_of_one_size(rows: Sequence[Any]) -> str:
    """The end of the error where index sets differ, but not in size: bring all vectors over one set by `crop`."""
    sizes = {x.space.index.size for x in rows}  # the hint is for two vectors or more, of one size
    return f"; of as many elements, ys.crop(0, {sizes.pop()}, to=X) is ys over X" if len(rows) > 1 == len(sizes) else ""


def _rows(x: Any, X: Index) -> Any:
    """A table in V^{X×Y} as the family of its rows, in (V^Y)^X."""
    require_index(X, "each(f, xs, over=X)")
    index = x.space.index
    if isinstance(index, Product) and index.left == X:
        return x._within(Copower(Copower(x.space.base, index.right), X))
    if index == X:
        return x
    msg = f"each(f, xs, over={X}) goes over rows of tables in V^{{{X}×Y}}, and over V^{X}, not over {x.space}"
    if len(index.axes) > 2 and index.axes[: len(X.axes)] == X.axes:
        msg += "; of an index set (X×Y)×Z, xs.reshape(X * (Y * Z)) has the rows over X"
    raise SpaceError(msg)


def _shared(count: int) -> str:
    """The text of a call of `each` with a function of more arguments than there are tables."""
    names = "xyz"[:count] if count <= len("xyz") else "x"
    given = ", ".join(names)
    tables = ", ".join(f"{name}s" for name in names)
    return f"each(lambda {given}: f(a, {given}), {tables})"


def _of_rows(xs: Sequence[Any]) -> str:
    """The hint that `over=X` goes over the rows of a table, if there is a table."""
    tables = (x.space.index.left for x in xs if isinstance(x.space.index, Product))
    first = next(tables, None)
    return "" if first is None else f"; over={first} goes over the rows of a table"


@held(FORMULA)
def build(f: Callable[[Expr[Elements[I]]], Expr[W]], X: I) -> Expr[Copower[W, I]]:
    """(f(x) for each element x of X) ∈ W^X: a table by a rule; outside of a traced function a vector.

    Raises SpaceError for an X that is no index set.
    """
    require_index(X, "build(f, X)")
    places = Copower(Elements(X), X).vec(np.arange(addressable(X.size, "build(f, X)")).reshape(X.shape))
    found: Any = emitted(lambda b, elements: _lanes(b, "build", f, (elements,), X), places)
    made: Expr[Copower[W, I]] = found
    return made


def _lanes(b: Builder, what: str, f: Any, stacks: Sequence[Expr[Any]], X: Index) -> Tree:
    """Trace f for one lane, and lift the body over all lanes, which share the slots that it captures."""
    body = traced(b, what, f, [stack.space.base for stack in stacks], tuple(stacks))
    own = slots_of(b, tuple(stacks))
    up = [*(True for _ in own), *(False for _ in body.captured)]
    outputs, varies = lifted_line(b, body.line, X.axes, [*own, *body.captured], up)
    slots = [k if v else b.rep(k, X.axes) for k, v in zip(outputs, varies, strict=True)]
    return built(b, powers(body.spaces, X), iter(slots))


@final
class Batched(Generic[A, B, W, T]):
    """The result of `batched`: f over batches of any size."""

    as_map: ClassVar[str] = "take that of one size, f.of(n)"

    def __init__(self, f: AnyMap, tag: type, over: tuple[int, ...]) -> None:
        self._f, self._tag, self._over = f, tag, over
        self._kept: dict[int, AnyMap] = {}

    def __repr__(self) -> str:
        return f"batched({self._f}, {self._tag.__name__})"

    def of(self, n: int) -> Map[DirectSum[A, Copower[B, Fin[T]]], Copower[W, Fin[T]]]:
        """The map over batches of n, made once."""
        if not isinstance(n, int):
            msg = f"batched(f, {self._tag.__name__}).of(n) takes the size of a batch, not {shown(n)}"
            raise SpaceError(msg)
        found = self._kept.get(n)
        if found is None:
            made: AnyMap = lift(self._f, Fin(self._tag, n), over=self._over)
            found = first(self._kept, n, made)
        return found

    @overloaded(lambda: _calls.Batched___call__)
    def __call__(self: Batched[A, B, W, T], *args: Any) -> Any:
        """The value at parameters and a batch; raises SpaceError for data of another index set."""
        k = self._over[0]
        batch = args[k] if k < len(args) else None
        index = getattr(getattr(batch, "space", None), "index", None)
        if not isinstance(index, Fin) or index.tag is not self._tag:
            what = f"not one over {shown(index)}" if index is not None else f"not {shown(batch)}"
            what = what if k < len(args) else f"and {len(args)} were given: f(parameters, batch), or over=… of batched"
            msg = f"argument {k + 1} of a batched function is over Fin({self._tag.__name__}, n), {what}"
            raise SpaceError(msg)
        return self.of(index.size)(*args)


def batched(f: Map[DirectSum[A, B], W], tag: type[T], *, over: Sequence[int] | None = None) -> Batched[A, B, W, T]:
    """f : A ⊕ B → W over batches Fin(tag, n) of any size n: a lift for each size that is met, kept.

    The parameters A are shared; `over` names the positions that vary, from 0; the second, B, by default. So the last
    batch of an epoch may be short. Raises SpaceError for what is no map, and for a tag that is no class.
    """
    require_map(f, "batched(f, Tag)")
    if not isinstance(tag, type):
        msg = f"batched(f, Tag) takes the class that names the axis of a batch, not {shown(tag)}"
        raise SpaceError(msg)
    return Batched(f, tag, (1,) if over is None else positions(f.dom, over))
