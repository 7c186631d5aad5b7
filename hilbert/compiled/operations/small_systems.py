"""Small dense systems by loops: elimination with partial pivoting, written out entry by entry.

An entry is a cell: an array over the axes in front of its matrix, and over the columns of a right side. The loops
around cells are merged, so that in a loop, or without one, a cell is a number in a register.

Rows are exchanged by selects, one of them negated: so det A is the product of the pivots. Where a pivot leaves doubt,
being 0 or nearly, or NaN, the interpreter has the word (`Loops.doubt`).
"""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert.compiled.tree.places import Place
from hilbert.index.leaf import Entry, Leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.compiled.tree.arrays import Array, Loops, Places
    from hilbert.compiled.tree.values import Value
    from hilbert.index.index import Index

Cell: TypeAlias = "Callable[[Places], Value]"
"""The value at places along all axes in front and along the columns; some do not matter."""
Masks: TypeAlias = "Sequence[tuple[bool, ...]]"
"""For each operand, which of the axes in front it has."""

MOST = 6
"""Systems of more equations are calls of the interpreter's kernel."""


@final
@frozen(eq=False)
class Cells:
    """The cells over some of the axes: those in front and of columns that are marked."""

    to: Loops
    dtype: str
    axes: tuple[Index, ...]
    mask: tuple[bool, ...]

    def kept(self, at: Cell, dtype: str = "") -> Cell:
        """A cell that is stored."""
        leaf = Leaf(Entry(dtype or self.dtype), tuple(itertools.compress(self.axes, self.mask)))
        made = self.to.each(leaf, lambda own: at(self.full(own)))
        return lambda places: made.at(tuple(itertools.compress(places, self.mask)))

    def full(self, own: Places) -> Places:
        """Places along all axes; 0 along those that are not marked."""
        rest = iter(own)
        return tuple(next(rest) if marked else Place(0) for marked in self.mask)

    def doubt(self, at: Cell) -> None:
        """Ask the interpreter where a truth value holds."""
        sizes = [axis.size for axis in itertools.compress(self.axes, self.mask)]
        self.to.doubt(sizes, lambda own: at(self.full(own)))


@final
@frozen(eq=False)
class Exchange:
    """Rows k and i are exchanged where a condition holds, and row k negated."""

    k: int
    i: int
    where: Cell

    def on(self, cells: Cells, column: list[Cell]) -> None:
        """The same in a column."""
        x, y, c = column[self.k], column[self.i], self.where
        column[self.k] = cells.kept(lambda p: c(p).where(y(p), x(p)))
        column[self.i] = cells.kept(lambda p: c(p).where(-x(p), y(p)))


@final
@frozen(eq=False)
class Less:
    """Row k, times a factor, is taken from row i."""

    k: int
    i: int
    factor: Cell

    def on(self, cells: Cells, column: list[Cell]) -> None:
        """The same in a column."""
        x, y, m = column[self.k], column[self.i], self.factor
        column[self.i] = cells.kept(lambda p: y(p) - m(p) * x(p))


def _eliminated(cells: Cells, a: Sequence[Sequence[Cell]]) -> tuple[list[Exchange | Less], list[list[Cell]]]:
    """What is done to the rows of A, and the columns of the upper triangle that they become."""
    steps: list[Exchange | Less] = []
    upper: list[list[Cell]] = []
    for k in range(len(a)):
        column = [row[k] for row in a]
        for step in steps:
            step.on(cells, column)
        for i in range(k + 1, len(a)):
            larger = functools.partial(_is_larger, column[i], column[k])
            steps.append(Exchange(k, i, cells.kept(larger, "bool")))
            steps[-1].on(cells, column)
        steps += [Less(k, i, cells.kept(functools.partial(_factor, column[i], column[k]))) for i in range(k + 1, len(a))]
        upper.append(column[: k + 1])
    return steps, upper


def _is_larger(y: Cell, x: Cell, p: Places) -> Value:
    return abs(y(p)).compared("gt", abs(x(p)))


def _factor(y: Cell, x: Cell, p: Places) -> Value:
    """y/x, and 0 for x = 0: then y is 0."""
    return x(p).compared("eq", 0.0).where(0.0, y(p) / x(p))


def _divided(cells: Cells, pivots: Sequence[Cell]) -> list[Cell]:
    """1/p for each pivot, which must be a normal number."""
    if pivots:
        cells.doubt(lambda p: _not(_least([abs(pivot(p)) for pivot in pivots]).compared("ge", _tiny(cells.dtype))))
    return [cells.kept(functools.partial(_reciprocal, pivot)) for pivot in pivots]


def _reciprocal(pivot: Cell, p: Places) -> Value:
    return 1.0 / pivot(p)


def _tiny(dtype: str) -> float:
    return float(np.finfo(dtype).tiny)


def _not(value: Value) -> Value:
    return value.pool.unary("not", value)


def _least(values: Sequence[Value]) -> Value:
    """The least one; NaN if one of them is."""
    return functools.reduce(lambda x, y: x.pool.min(x, y), values)


def _substituted(
    cells: Cells, order: Sequence[int], a: Callable[[int, int], Cell], over: Sequence[Cell], y: Sequence[Cell]
) -> list[Cell]:
    """The x with Σ_j a_ij x_j = y_i for a triangular matrix, in an order in which each x_i needs those before it."""
    x = list(y)
    for t, i in enumerate(order):
        pairs = [(a(i, j), x[j]) for j in order[:t]]
        x[i] = cells.kept(functools.partial(_row, y[i], pairs, over[i]))
    return x


def _row(y: Cell, pairs: Sequence[tuple[Cell, Cell]], over: Cell | None, p: Places) -> Value:
    """(y − Σ a·x)/pivot."""
    total = y(p)
    for a, x in pairs:
        total = total - a(p) * x(p)
    return total * over(p) if over is not None else total


# --- operations on arrays with axes in front ---


def solve(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf, part: str = "") -> Array | None:
    """A⁻¹b, for the whole of A, or for its lower or upper part."""
    (a, b), n = operands, len(masks[1])

    def right(i: int) -> Cell:
        return lambda p: b.at((*itertools.compress(p, masks[1]), Place(i), *p[n:]))

    return _solved(to, a, masks[0], right, result, part)


def inverse(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array | None:
    """A⁻¹."""
    unit = to.constant(np.eye(result.shape[-1], dtype=result.dtype))
    n = len(masks[0])
    return _solved(to, operands[0], masks[0], lambda i: lambda p: to.pool.load(unit, (Place(i), *p[n:])), result)


def _solved(
    to: Loops,
    a: Array,
    mask: tuple[bool, ...],
    right: Callable[[int], Cell],
    result: Leaf,
    part: str = "",
) -> Array | None:
    n, front = a.shape[-1], len(mask)
    if n > MOST:
        return None
    made = to.buffer(result.shape, result.dtype)
    axes = result.axes[:front] + result.axes[front + 1 :]
    of_a, of_x = Cells(to, result.dtype, axes, mask), Cells(to, result.dtype, axes, (True,) * len(axes))
    entries, y = _square(a, mask), [right(i) for i in range(n)]
    if part:
        over = _divided(of_a, [entries[i][i] for i in range(n)])
        order = range(n) if part == "lower" else range(n)[::-1]
        x = _substituted(of_x, order, lambda i, j: entries[i][j], over, y)
    else:
        steps, upper = _eliminated(of_a, entries)
        over = _divided(of_a, [column[-1] for column in upper])
        for step in steps:
            step.on(of_x, y)
        x = _substituted(of_x, range(n)[::-1], lambda i, j: upper[j][i], over, y)
    for i, cell in enumerate(x):
        to.put_into(
            made,
            [axis.size for axis in axes],
            functools.partial(lambda i, cell, p: ((*p[:front], Place(i), *p[front:]), cell(p)), i, cell),
            None,
            begins=False,
        )
    return to.of(result, made)


def det(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array | None:
    """The product of the pivots, if it stays within the normal numbers on its way, or one is 0."""
    pivots = _pivots(to, operands[0], masks[0], result)
    if not pivots:
        return None if pivots is None else to.view(result, lambda _: to.number(1.0, result.dtype))
    wanted, to.wanted = to.wanted, None
    cells = Cells(to, result.dtype, result.axes, masks[0])
    products = [pivots[0]]
    for pivot in pivots[1:]:
        products.append(cells.kept(functools.partial(lambda x, y, p: x(p) * y(p), products[-1], pivot)))
    least = cells.kept(lambda p: _least([abs(pivot(p)) for pivot in pivots]))

    def is_doubtful(p: Places) -> Value:
        sizes, pool = [abs(product(p)) for product in products], to.pool
        low, high = _least(sizes), functools.reduce(pool.max, sizes)
        normal = pool.logic("and", low.compared("ge", _tiny(cells.dtype)), high.compared("lt", float("inf")))
        return _not(pool.logic("or", normal, least(p).compared("eq", 0.0)))

    cells.doubt(is_doubtful)
    to.wanted = wanted
    return to.each(result, lambda p: least(p).compared("eq", 0.0).where(0.0, products[-1](p)))


def logdet(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array | None:
    """Σ log |p| for the pivots p."""
    pivots = _pivots(to, operands[0], masks[0], result)
    if pivots is None:
        return None
    zero = to.number(0.0, result.dtype)
    return to.each(result, lambda p: sum((to.pool.call("log", abs(pivot(p))) for pivot in pivots), zero))


def _pivots(to: Loops, a: Array, mask: tuple[bool, ...], result: Leaf) -> list[Cell] | None:
    """The pivots of a matrix; None for a large one."""
    if a.shape[-1] > MOST:
        return None
    wanted, to.wanted = to.wanted, None
    upper = _eliminated(Cells(to, result.dtype, result.axes, mask), _square(a, mask))[1]
    to.wanted = wanted
    return [column[-1] for column in upper]


def cholesky(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array | None:
    """L with L·Lᵀ = A, column by column: l_ij = (a_ij − Σ_k l_ik l_jk) / l_jj."""
    (array,), (mask,), n = operands, masks, result.shape[-1]
    if n > MOST:
        return None
    made = to.buffer(result.shape, result.dtype)
    cells, a = Cells(to, result.dtype, result.axes[:-2], mask), _square(array, mask)
    lower: list[list[Cell]] = [[] for _ in range(n)]
    squares: list[Cell] = []
    zero = to.number(0.0, result.dtype)

    def rest(i: int, j: int) -> Cell:
        return functools.partial(_row, a[i][j], [*zip(lower[i][:j], lower[j][:j], strict=True)], None)

    def place(i: int, j: int, p: Places) -> tuple[Places, Value]:
        return (*p, Place(i), Place(j)), lower[i][j](p) if j <= i else zero

    for j in range(n):
        squares.append(cells.kept(rest(j, j)))
        root = cells.kept(functools.partial(lambda square, p: to.pool.unary("sqrt", square(p)), squares[-1]))
        for i in range(j + 1, n):
            lower[i].append(cells.kept(functools.partial(lambda x, y, p: x(p) / y(p), rest(i, j), root)))
        lower[j].append(root)
    if squares:
        cells.doubt(lambda p: _not(_least([square(p) for square in squares]).compared("gt", 0.0)))
    sizes = [axis.size for axis in cells.axes]
    for i, j in itertools.product(range(n), repeat=2):
        to.put_into(made, sizes, functools.partial(place, i, j), None, begins=False)
    return to.of(result, made)


def _square(array: Array, mask: tuple[bool, ...]) -> list[list[Cell]]:
    """The cells of a square matrix."""
    n = array.shape[-1]

    def cell(i: int, j: int, p: Places) -> Value:
        return array.at((*itertools.compress(p, mask), Place(i), Place(j)))

    return [[functools.partial(cell, i, j) for j in range(n)] for i in range(n)]
