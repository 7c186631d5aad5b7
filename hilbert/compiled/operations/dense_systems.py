"""Dense systems: of few unknowns written out (`small_systems`), of more by LAPACK, whose functions scipy has.

LAPACK stores matrices by columns and works in place: A is copied to F with F[j, i] = a_ij. In a list of statements a
matrix is factored once, whatever is asked of it. Axes in front are rounds of a loop. As in numpy, all numbers have 64
bits.

Where a pivot is 0 but for rounding, or a result is not finite, the interpreter has the word (`Loops.doubt`). Without
scipy its kernel is called.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, TypeAlias, final

from attrs import frozen

from hilbert.compiled.operations import small_systems
from hilbert.compiled.operations.contractions import has_scipy
from hilbert.compiled.operations.small_systems import MOST, NEAR, TINY, WIDE, between, negated, written_out
from hilbert.compiled.tree.places import Place
from hilbert.compiled.tree.statements import Routine
from hilbert.index.index import Fin
from hilbert.index.leaf import Entry, Leaf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.compiled.operations.small_systems import Entries
    from hilbert.compiled.tree.arrays import Array, Loops, Places
    from hilbert.compiled.tree.buffers import Buffer
    from hilbert.compiled.tree.statements import Given
    from hilbert.compiled.tree.values import Value

Masks: TypeAlias = "Sequence[tuple[bool, ...]]"
"""For each operand which of the axes in front it has."""
BLOCK = 64
"""The columns that LAPACK inverts at a time."""
STORE = 32
"""The multiplications that take as long as a store."""


def _either(small: Callable[..., Entries]) -> Callable[[Callable[..., Array]], Callable[..., Array | None]]:
    """The operation written out where it is small, and by LAPACK where it is not; None without scipy."""

    def decorated(large: Callable[..., Array]) -> Callable[..., Array | None]:
        def loops(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf, **options: str) -> Array | None:
            if operands[0].shape[-1] <= MOST:
                return written_out(small, small_systems.Given(to, operands, masks, result.axes), result, **options)
            return large(to, operands, masks, result, **options) if has_scipy() else None

        return loops

    return decorated


# --- square matrices in buffers ---


@final
@frozen(eq=False)
class Matrices:
    """Square matrices in a buffer, under the axes in front that it has."""

    to: Loops
    buffer: Buffer

    @property
    def front(self) -> tuple[int, ...]:
        """The sizes of the axes in front."""
        return self.buffer.shape[:-2]

    @property
    def n(self) -> int:
        """The rows of a matrix."""
        return self.buffer.shape[-1]

    def entry(self, *p: Place) -> Value:
        """The entry at places as they stand in the buffer."""
        return self.to.pool.load(self.buffer, p)

    def pivot(self, p: Places) -> Value:
        """The size of an entry of the diagonal: places in front, and its own."""
        return abs(self.entry(*p, p[-1]))

    def at(self, k: Place) -> tuple[Buffer, Place]:
        """Matrix number k."""
        return self.buffer, k * (self.n * self.n)

    def run(self, name: str, given: Callable[[Place], tuple[Given, ...]], *made: Buffer) -> Buffer:
        """Call a function of LAPACK for each matrix; what it says of errors is 0 if there are none."""
        info, count = _fresh(self.to, self.front, "int32"), math.prod(self.front)
        work = max(1, self.n**3 // STORE)

        def call(k: Place) -> None:
            self.to.statements.append(Routine(name, (*given(k), (info, k)), (*made, info), work))

        self.to.rounds(count, call)
        return info

    def trust(self, is_right: Callable[[Places], Value]) -> None:
        """Ask the interpreter where a condition on the places in front and on the diagonal does not hold."""
        self.to.doubt([*self.front, self.n], lambda p: negated(is_right(p)))


@final
@frozen(eq=False)
class Factors:
    """Matrices by columns, factored: P·L·U; the rows that were exchanged, counted from 1, and LAPACK's word."""

    lu: Matrices
    exchanged: Buffer
    info: Buffer


def _by_columns(to: Loops, array: Array) -> Matrices:
    """A copy of matrices by columns."""
    return Matrices(to, _kept(to, array.shape, lambda p: array.at((*p[:-2], p[-1], p[-2]))))


def _lying(to: Loops, array: Array) -> tuple[Buffer, bool] | None:
    """The buffer that matrices are stored in, and True if by columns; None where they are computed."""
    buffer, axes = to.lying(array) or (None, [])
    plain = [*range(len(array.shape))]
    turned = [*plain[:-2], plain[-1], plain[-2]]
    if buffer is None or buffer.dtype != WIDE or buffer.order != (*plain,) or axes not in (plain, turned):
        return None
    return buffer, axes == turned


def _factored(to: Loops, array: Array) -> Factors:
    """The factors of matrices."""

    def make() -> Factors:
        to.wanted = None
        f = _by_columns(to, array)
        exchanged = _fresh(to, (*f.front, f.n), "int32")
        given = lambda k: (f.n, f.n, f.at(k), f.n, (exchanged, k * f.n))  # noqa: E731
        return Factors(f, exchanged, f.run("dgetrf", given, f.buffer, exchanged))

    return to.once(("factors", array), make)


def _regular(to: Loops, array: Array) -> Factors:
    """The factors; the interpreter is asked where a pivot may be 0 but for rounding."""

    def make() -> Factors:
        found = _factored(to, array)
        f = found.lu

        def above(p: Places, inner: Places) -> Value:
            (i,), is_above = inner, to.pool.integer(inner[0]).compared("le", to.pool.integer(p[-1]))
            return is_above.where(NEAR * abs(f.entry(*p, i)), 0.0)

        near = to.total(_leaf((*f.front, f.n)), [f.n], above)
        f.trust(lambda p: between(f.pivot(p), near.at(p) + TINY))
        return found

    return to.once(("regular", array), make)


def _inverted(to: Loops, array: Array) -> Matrices:
    """The inverses, by columns."""

    def make() -> Matrices:
        lies = _lying(to, array)
        if lies is not None and lies[0] in to.triangles:
            made = _by_columns(to, array)
            made.trust(lambda p: between(made.pivot(p), TINY))
            letter = "U" if lies[1] else "L"
            made.run("dtrtri", lambda k: (letter, "N", made.n, made.at(k), made.n), made.buffer)
        else:
            found = _regular(to, array)
            made = Matrices(to, _kept(to, array.shape, lambda p: found.lu.entry(*p)))
            n, work = made.n, _fresh(to, (made.n * (1 if made.n <= BLOCK else BLOCK),), WIDE)
            given = lambda k: (n, made.at(k), n, (found.exchanged, k * n), (work, Place(0)), work.size)  # noqa: E731
            made.run("dgetri", given, made.buffer, work)
        _trust(to, made.buffer)
        return made

    return to.once(("inverse", array), make)


def _trust(to: Loops, buffer: Buffer) -> None:
    """Ask the interpreter where an entry is not finite: a sum is not."""
    found = to.total(_leaf(()), buffer.shape, lambda _, p: abs(to.pool.load(buffer, p)))
    to.doubt((), lambda _: negated(found.at(()).compared("lt", math.inf)))


def _own(p: Places, mask: tuple[bool, ...]) -> Places:
    """Of places of the result those in front that an operand has, and those behind them."""
    return (*itertools.compress(p, mask), *p[len(mask) :])


def _read(to: Loops, result: Leaf, mask: tuple[bool, ...], at: Callable[[Places], Value]) -> Array:
    """A result that is read at the matrix's own places."""
    return to.view(result, lambda p: to.pool.cast(at(_own(p, mask)), result.dtype))


def _leaf(shape: Sequence[int], dtype: str = WIDE) -> Leaf:
    return Leaf(Entry(dtype), tuple(map(Fin.of, shape)))


def _kept(to: Loops, shape: Sequence[int], at: Callable[[Places], Value]) -> Buffer:
    """A buffer of one's own."""
    buffer = to.copied(to.view(_leaf(shape), lambda p: to.pool.cast(at(p), WIDE))).buffer
    assert buffer is not None
    buffer.is_whole = True
    return buffer


def _fresh(to: Loops, shape: Sequence[int], dtype: str) -> Buffer:
    """A buffer that only LAPACK writes."""
    to.wanted = None
    buffer = to.buffer(tuple(shape), dtype)
    buffer.is_whole = True
    return buffer


# --- operations ---


@_either(small_systems.solve)
def solve(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf, part: str = "") -> Array:
    """A⁻¹b for the whole of A, or for its lower or upper part: for each matrix all of its right sides at once."""
    a, b = operands
    front, axes, n = len(masks[0]), range(len(result.shape)), a.shape[-1]
    own = [k for k in axes[:front] if masks[0][k]]
    order = [*own, *(k for k in axes if k != front and k not in own), front]
    columns = math.prod(result.shape[k] for k in order[len(own) : -1])

    def right(p: Places) -> Value:
        return to.pool.cast(b.at(_own(p, masks[1])), WIDE)

    back = [order.index(k) for k in axes]
    x = _kept(to, [result.shape[k] for k in order], lambda p: right(tuple(p[k] for k in back)))
    if part:
        buffer, is_turned = _lying(to, a) or (_kept(to, a.shape, a.at), False)
        buffer.is_whole = True
        lies = Matrices(to, buffer)
        form = ("U" if is_turned == (part == "upper") else "L", "N" if is_turned else "T", "N")
        lies.trust(lambda p: between(lies.pivot(p), TINY))
        lies.run("dtrtrs", lambda k: (*form, n, columns, lies.at(k), n, (x, k * (columns * n)), n), x)
    else:
        f = _regular(to, a)
        given = lambda k: ("N", n, columns, f.lu.at(k), n, (f.exchanged, k * n), (x, k * (columns * n)), n)  # noqa: E731
        f.lu.run("dgetrs", given, x)
    _trust(to, x)
    return _read(to, result, (True,) * front, lambda p: to.pool.load(x, tuple(p[k] for k in order)))


@_either(small_systems.inverse)
def inverse(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array:
    """A⁻¹, read by columns."""
    found = _inverted(to, operands[0])
    return _read(to, result, masks[0], lambda p: found.entry(*p[:-2], p[-1], p[-2]))


@_either(small_systems.adjugate)
def adjugate(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array:
    """Det A·A⁻¹; where A is nearly singular, the interpreter knows another way."""
    (a, det_a), wide = operands, Leaf(Entry(WIDE), result.axes)
    found = inverse(to, [a], masks[:1], wide)
    assert found is not None
    to.doubt(det_a.shape, lambda p: negated(between(abs(to.pool.cast(det_a.at(p), WIDE)), TINY)))

    def at(p: Places) -> Value:
        factor = to.pool.cast(det_a.at(_own(p[:-2], masks[1])), WIDE)
        return to.pool.cast(factor * found.at(p), result.dtype)

    return to.view(result, at)


@_either(small_systems.det)
def det(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array:
    """± exp Σ log |pivot|, as numpy has it; 0 if there is a pivot that is 0."""
    found, pool = _factored(to, operands[0]), to.pool
    f = found.lu

    def changes(p: Places, k: Places) -> Value:
        """The signs that a pivot changes: 1 if it is negative, and 1 if rows were exchanged for it."""
        moved = pool.load(found.exchanged, (*p, *k)).compared("ne", pool.integer(k[0] + 1))
        return pool.cast(moved, "int64") + pool.cast(f.entry(*p, *k, *k).compared("lt", 0.0), "int64")

    logs = _logs(f)
    signs = to.total(_leaf(f.front, "int64"), [f.n], changes)

    def at(p: Places) -> Value:
        size, odd = pool.call("exp", logs.at(p)), pool.integer(to.place(signs.at(p)).modulo(2)).compared("ne", 0)
        return pool.load(found.info, p).compared("ne", 0).where(0.0, odd.where(-size, size))

    made = to.each(_leaf(f.front), at)
    to.doubt(f.front, lambda p: negated(abs(made.at(p)).compared("lt", math.inf)))
    return _read(to, result, masks[0], made.at)


@_either(small_systems.logdet)
def logdet(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array:
    """Σ log |pivot|."""
    return _read(to, result, masks[0], _logs(_regular(to, operands[0]).lu).at)


def _logs(f: Matrices) -> Array:
    """Σ log |pivot|."""
    return f.to.total(_leaf(f.front), [f.n], lambda p, k: f.to.pool.call("log", f.pivot((*p, *k))))


@_either(small_systems.cholesky)
def cholesky(to: Loops, operands: Sequence[Array], masks: Masks, result: Leaf) -> Array:
    """L with L·Lᵀ = A, in place of the lower triangle of A, which LAPACK takes to be the upper one."""

    def lower(p: Places) -> Value:
        i, j = map(to.pool.integer, p[-2:])
        return j.compared("le", i).where(to.pool.cast(operands[0].at(_own(p, masks[0])), WIDE), 0.0)

    buffer = _kept(to, result.shape, lower)
    found = Matrices(to, buffer)
    info = found.run("dpotrf", lambda k: ("U", found.n, found.at(k), found.n), buffer)
    found.trust(lambda p: found.pivot(p).compared("lt", math.inf))
    to.triangles.add(buffer)
    to.doubt(found.front, lambda p: to.pool.load(info, p).compared("ne", 0))
    return _read(to, result, (True,) * len(found.front), lambda p: found.entry(*p))
