"""Small dense systems by loops: elimination with partial pivoting, written out entry by entry.

An entry is a cell: an array over the axes in front of its matrix, and over the columns of a right side. The loops
around cells are merged, so that in a loop, or without one, a cell is a number in a register.

Rows are exchanged by selects, one of them negated: so det A is the product of the pivots. Where these leave doubt, for
one is NaN, or 0 but for rounding, the interpreter has the word (`Loops.doubt`). As in numpy, all numbers have 64 bits.
"""

from __future__ import annotations

import functools
import itertools
import math
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
from attrs import frozen

from hilbert.compiled.tree.places import Place
from hilbert.index.leaf import Entry, Leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hilbert.compiled.tree.arrays import Array, Loops, Places
    from hilbert.compiled.tree.values import Value
    from hilbert.index.index import Index

Cell: TypeAlias = "Callable[[Places], Value]"
"""The value at places along all axes in front and along the columns; some do not matter."""
Entries: TypeAlias = "dict[tuple[int, ...], Cell]"
"""The cells of a vector or a matrix, a row of it, or a number, by their indices."""
Step: TypeAlias = "Callable[[Cells, list[Cell]], None]"
"""A step of elimination: what is done to each column."""

MOST = 6
"""Systems of more equations are left to LAPACK."""
NEAR = 1e-14
"""A pivot that is so small a part of the numbers above it may be 0 but for rounding."""
WIDE, TINY = "float64", float(np.finfo(np.float64).tiny)


@final
@frozen(eq=False)
class Cells:
    """The cells over some of the axes: those in front and of columns that are marked."""

    to: Loops
    axes: tuple[Index, ...]
    mask: tuple[bool, ...]

    def kept(self, at: Cell, dtype: str = WIDE) -> Cell:
        """A cell that is stored."""
        leaf = Leaf(Entry(dtype), tuple(itertools.compress(self.axes, self.mask)))
        made = self.to.each(leaf, lambda own: at(self.full(own)))
        return lambda places: made.at(tuple(itertools.compress(places, self.mask)))

    def full(self, own: Places) -> Places:
        """Places along all axes; 0 along those that are not marked."""
        rest = iter(own)
        return tuple(next(rest) if marked else Place(0) for marked in self.mask)

    def trust(self, *conditions: Cell) -> None:
        """Ask the interpreter where one of the conditions does not hold."""
        if conditions:
            sizes = [axis.size for axis in itertools.compress(self.axes, self.mask)]
            self.to.doubt(sizes, lambda own: negated(_all(c(self.full(own)) for c in conditions)))


def negated(value: Value) -> Value:
    """Not the truth value."""
    return value.pool.unary("not", value)


def _all(values: Iterable[Value]) -> Value:
    return functools.reduce(lambda x, y: x.pool.logic("and", x, y), values)


# --- elimination: what is done to rows, and cells that it makes ---


def _exchange(k: int, i: int, where: Cell, cells: Cells, column: list[Cell]) -> None:
    """Rows k and i exchanged in a column where a condition holds, and row k negated."""
    x, y = column[k], column[i]
    column[k] = cells.kept(lambda p: where(p).where(y(p), x(p)))
    column[i] = cells.kept(lambda p: where(p).where(-x(p), y(p)))


def _subtract(k: int, i: int, factor: Cell, cells: Cells, column: list[Cell]) -> None:
    """Row k times a factor taken from row i in a column."""
    x, y = column[k], column[i]
    column[i] = cells.kept(lambda p: y(p) - factor(p) * x(p))


def _is_larger(y: Cell, x: Cell, p: Places) -> Value:
    return abs(y(p)).compared("gt", abs(x(p)))


def _ratio(y: Cell, x: Cell, p: Places) -> Value:
    """y/x, and 0 for x = 0: then y is 0."""
    return x(p).compared("eq", 0.0).where(0.0, y(p) / x(p))


def _eliminated(cells: Cells, a: Sequence[Sequence[Cell]]) -> tuple[list[Step], list[list[Cell]]]:
    """The steps on the rows of A, and the columns of the upper triangle that the rows become."""
    steps, upper = list[Step](), list[list[Cell]]()
    for k, column in enumerate([row[j] for row in a] for j in range(len(a))):
        for step in steps:
            step(cells, column)
        below = range(k + 1, len(a))
        for i in below:
            steps.append(partial(_exchange, k, i, cells.kept(partial(_is_larger, column[i], column[k]), "bool")))
            steps[-1](cells, column)
        steps += [partial(_subtract, k, i, cells.kept(partial(_ratio, column[i], column[k]))) for i in below]
        upper.append(column[: k + 1])
    return steps, upper


def _is_regular(column: Sequence[Cell], p: Places) -> Value:
    """True if the last entry of a column is a normal number, and not 0 but for rounding."""
    *above, pivot = (abs(cell(p)) for cell in column)
    return pivot.compared("ge", sum((NEAR * entry for entry in above), pivot.pool.number(TINY, WIDE)))


def _row(y: Cell, pairs: Sequence[tuple[Cell, Cell]], over: Cell | None, p: Places) -> Value:
    """y − Σ a·x, times 1/pivot if that is given."""
    total = functools.reduce(lambda rest, pair: rest - pair[0](p) * pair[1](p), pairs, y(p))
    return total if over is None else total * over(p)


def between(x: Value, least: Value | float) -> Value:
    """True for a finite number of at least some size."""
    return x.pool.logic("and", x.compared("ge", least), x.compared("lt", math.inf))


def _is_normal(x: Value) -> Value:
    return between(abs(x), TINY)


# --- operations: the cells of their results ---


@final
@frozen(eq=False)
class Given:
    """The operands, which of the axes in front each has, and the axes of the result."""

    to: Loops
    operands: Sequence[Array]
    masks: Sequence[tuple[bool, ...]]
    axes: tuple[Index, ...]

    @property
    def size(self) -> range:
        """The rows of the matrix."""
        return range(self.operands[0].shape[-1])

    @property
    def matrix(self) -> list[list[Cell]]:
        """The cells of the matrix."""
        return [[partial(self.entry, 0, (i, j)) for j in self.size] for i in self.size]

    @property
    def cells(self) -> Cells:
        """The cells over the axes in front that the matrix has."""
        return Cells(self.to, self.axes[: len(self.masks[0])], self.masks[0])

    def entry(self, k: int, index: tuple[int, ...], p: Places) -> Value:
        """An entry of an operand at places in front, an index, and places along columns if it has some."""
        array, mask = self.operands[k], self.masks[k]
        n, columns = len(mask), len(array.shape) - sum(mask) - len(index)
        at = (*itertools.compress(p, mask), *map(Place, index), *p[n : n + columns])
        return self.to.pool.cast(array.at(at), WIDE)


def written_out(found: Callable[..., Entries], given: Given, result: Leaf, **options: str) -> Array:
    """The result of an operation, cell by cell."""
    to, n = given.to, len(given.masks[0])
    made = to.buffer(result.shape, result.dtype)

    def put(index: tuple[int, ...], cell: Cell, p: Places) -> tuple[Places, Value]:
        return (*p[:n], *map(Place, index), *p[n:]), to.pool.cast(cell(p), result.dtype)

    for index, cell in found(given, **options).items():
        to.put_into(made, result.shape[:n] + result.shape[n + len(index) :], partial(put, index, cell))
    return to.of(result, made)


def solve(given: Given, part: str = "") -> Entries:
    """A⁻¹b for the whole of A, or for its lower or upper part."""
    return _solved(given, [partial(given.entry, 1, (i,)) for i in given.size], part)


def inverse(given: Given) -> Entries:
    """A⁻¹: its columns solve A·x = e."""
    n, unit, load = len(given.masks[0]), given.to.constant(np.eye(len(given.size))), given.to.pool.load
    return _solved(given, [partial(lambda i, p: load(unit, (Place(i), p[n])), i) for i in given.size])


def adjugate(given: Given) -> Entries:
    """Det A·A⁻¹ of a matrix and its determinant; where A is nearly singular, the interpreter knows another way."""
    det = partial(given.entry, 1, ())
    Cells(given.to, given.cells.axes, given.masks[1]).trust(lambda p: _is_normal(det(p)))
    return {i: partial(lambda row, p: det(p) * row(p), row) for i, row in inverse(given).items()}


def _solved(given: Given, y: list[Cell], part: str = "") -> Entries:
    """The rows of A⁻¹y: elimination, unless A is a triangle, and substitution."""
    n, of_a, a = len(given.masks[0]), given.cells, given.matrix
    axes = given.axes[:n] + given.axes[n + 1 :]
    of_x = Cells(given.to, axes, (True,) * len(axes))
    if part:
        of_a.trust(*(partial(lambda pivot, p: _is_normal(pivot(p)), a[i][i]) for i in given.size))
    else:
        steps, upper = _eliminated(of_a, a)
        of_a.trust(*(partial(_is_regular, column) for column in upper))
        for step in steps:
            step(of_x, y)
        a = [[column[i] if i < len(column) else column[-1] for column in upper] for i in given.size]
    x: Entries = {}
    for i in given.size if part == "lower" else reversed(given.size):
        over = of_a.kept(partial(lambda pivot, p: 1.0 / pivot(p), a[i][i]))
        x[i,] = of_x.kept(partial(_row, y[i], [(a[i][j], cell) for (j, *_), cell in x.items()], over))
    if part and x:  # the interpreter exchanges rows of a triangle where an entry is large
        none = given.to.number(0.0, WIDE)
        of_x.trust(lambda p: sum((abs(cell(p)) for cell in x.values()), none).compared("lt", math.inf))
    return x


def det(given: Given) -> Entries:
    """The product of the pivots, which must be normal on its way, unless one of them is 0."""
    cells, products = given.cells, list[Cell]()
    pivots = [column[-1] for column in _eliminated(cells, given.matrix)[1]]
    for pivot in pivots:
        products.append(cells.kept(partial(lambda x, y, p: x(p) * y(p), products[-1], pivot)) if products else pivot)
    if not pivots:
        return {(): lambda _: given.to.number(1.0, WIDE)}
    regular = cells.kept(lambda p: _all(pivot(p).compared("ne", 0.0) for pivot in pivots), "bool")
    normal = cells.kept(lambda p: _all(_is_normal(product(p)) for product in products), "bool")
    cells.trust(lambda p: given.to.pool.logic("or", normal(p), negated(regular(p))))
    return {(): lambda p: regular(p).where(products[-1](p), 0.0)}


def logdet(given: Given) -> Entries:
    """Σ log |pivot|."""
    cells, pool = given.cells, given.to.pool
    upper = _eliminated(cells, given.matrix)[1]
    cells.trust(*(partial(_is_regular, column) for column in upper))
    return {(): lambda p: sum((pool.call("log", abs(column[-1](p))) for column in upper), pool.number(0.0, WIDE))}


def cholesky(given: Given) -> Entries:
    """L with L·Lᵀ = A, column by column: l_ij = (a_ij − Σ_k l_ik·l_jk) / l_jj."""
    cells, a, pool = given.cells, given.matrix, given.to.pool
    made: Entries = {(i, j): lambda _: pool.number(0.0, WIDE) for i in given.size for j in given.size}

    def rest(i: int, j: int, p: Places) -> Value:
        return _row(a[i][j], [(made[i, k], made[j, k]) for k in range(j)], None, p)

    for j in given.size:
        square = cells.kept(partial(rest, j, j))
        cells.trust(partial(lambda square, p: square(p).compared("gt", 0.0), square))
        root = cells.kept(partial(lambda square, p: pool.unary("sqrt", square(p)), square))
        for i in given.size[j + 1 :]:
            made[i, j] = cells.kept(partial(lambda rest, root, p: rest(p) / root(p), partial(rest, i, j), root))
        made[j, j] = root
    return made
