"""The forms of matrices that a term can prove, with their texts."""

from __future__ import annotations

import math
import textwrap
from typing import Any, TypeAlias, assert_never, final

from attrs import field, frozen

from hilbert.base.attach import declared
from hilbert.displayed import Displayed
from linmap.matrices.structure.block_table import html_table, is_named, part_names, text_table

COLUMNS = 100
"""Texts are broken into lines of this length."""
GRID = 64
"""Up to so many blocks zeros are written, too."""
LINES = 40
"""Longer texts are cut."""


@frozen
class MatrixShape(Displayed):
    """The base class of the forms that a matrix can be proved to have; symmetric and positive, perhaps."""

    is_positive: bool = field(default=False, eq=False, repr=False, kw_only=True)

    def text(self) -> str:
        """The form in words, on one line."""
        raise TypeError(type(self).__name__)

    @property
    def _sign(self) -> str:
        """The word for the sign in the text; multiples of an identity are one number, and say nothing."""
        return ", positive" if self.is_positive and not isinstance(self, (IdentityForm, ScaledForm)) else ""

    @declared
    def plot(self, ax: Any = None) -> Any:
        """A picture of the blocks by matplotlib, each drawn by its kind; the axes are the result."""
        raise NotImplementedError

    @declared
    def _places(self) -> Any:
        """The rows and the columns of the entries, where the form knows its net and they are not too many, or None."""
        raise NotImplementedError

    def __str__(self) -> str:
        text = self.text() + self._sign
        if len(text) <= COLUMNS:
            return text
        lines = textwrap.wrap(text, COLUMNS, break_on_hyphens=False)
        if len(lines) <= LINES:
            return "\n".join(lines)
        return "\n".join([*lines[: LINES - 1], f"… and {len(lines) - LINES + 1} more lines"])


@final
@frozen
class ZeroForm(MatrixShape):
    """A matrix of zeros."""

    def text(self) -> str:
        """In words."""
        return "zero"


@final
@frozen
class IdentityForm(MatrixShape):
    """The identity matrix of a size."""

    size: int

    def text(self) -> str:
        """In words."""
        return "identity"


@final
@frozen
class ScaledForm(MatrixShape):
    """A number times the identity matrix."""

    size: int

    def text(self) -> str:
        """In words."""
        return "scaled"


@final
@frozen
class DiagonalForm(MatrixShape):
    """A diagonal matrix; some of its entries are 0 where there are `entries` others, exactly."""

    size: int
    entries: int | None = None

    def text(self) -> str:
        """In words."""
        return "diagonal" if self.entries is None else f"diagonal, {self.entries} of {self.size} entries"

    @property
    def stored(self) -> int:
        """The number of entries that may differ from 0."""
        return self.size if self.entries is None else self.entries


@final
@frozen
class Permutation(MatrixShape):
    """One entry in each row and column: axes in another order, with weights if `weighted`."""

    size: int
    weighted: bool

    def text(self) -> str:
        """In words."""
        return "weighted permutation" if self.weighted else "permutation"


@final
@frozen
class LowRank(MatrixShape):
    """A matrix of at most this rank, as two factors."""

    rank: int
    shape: tuple[int, int]

    def text(self) -> str:
        """In words."""
        return f"rank {self.rank}"


@final
@frozen
class SparseForm(MatrixShape):
    """A matrix whose entries lie on the pairs of relations: `entries` pairs, or at most so many if not `exact`.

    `body` is the net that the form was found of, for pictures.
    """

    entries: int
    shape: tuple[int, int]
    exact: bool = True
    body: Any = field(default=None, eq=False, repr=False, kw_only=True)

    def text(self) -> str:
        """In words."""
        most = "" if self.exact else "at most "
        return f"sparse, {most}{self.entries} of {self.shape[0]}·{self.shape[1]} entries"


@final
@frozen
class DenseForm(MatrixShape):
    """A matrix of which nothing else is known."""

    shape: tuple[int, int]

    def text(self) -> str:
        """In words."""
        return f"dense {self.shape[0]}×{self.shape[1]}"


@final
@frozen
class Kronecker(MatrixShape):
    """A ⊗ B ⊗ …, up to the order of axes; with an identity it is a matrix of equal blocks on a diagonal."""

    parts: tuple[Form, ...]

    def text(self) -> str:
        """In words."""
        return " ⊗ ".join(f"({p.text()})" if _is_bracketed(p) else p.text() for p in self.parts)


def _is_bracketed(p: Form) -> bool:
    """Tell if the text of a factor stands in brackets."""
    return isinstance(p, (SumForm, SparseForm)) or (isinstance(p, DiagonalForm) and p.entries is not None)


@final
@frozen
class BlockDiagonal(MatrixShape):
    """One block of a form for each of `count` values that input and output share."""

    count: int
    block: Form

    def text(self) -> str:
        """In words."""
        return f"{self.count} blocks, each {self.block.text()}"


@final
@frozen
class SumForm(MatrixShape):
    """A sum of matrices of these forms."""

    parts: tuple[Form, ...]

    def text(self) -> str:
        """In words."""
        return " + ".join(p.text() for p in self.parts)


@final
@frozen
class Blocks(MatrixShape):
    """A matrix of blocks, for the leaves of the codomain and of the domain: those that are not 0, by their places.

    `body` is the net that the form was found of, for the names of the parts and pictures.
    """

    shape: tuple[int, int]
    entries: tuple[tuple[tuple[int, int], Form], ...]
    body: Any = field(default=None, eq=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        """A table where parts have names, or the words of a line are too many."""
        rows, cols = self.shape
        is_empty = rows * cols > max(GRID, 4 * len(self.entries))
        if self.body is None or (is_empty and (not self._is_named or cols > GRID)):
            return super().__str__()
        if self._is_named or len(self.text()) > COLUMNS:
            return text_table(*self._table) + self._sign.replace(", ", "\n")
        return self.text() + self._sign

    def _repr_html_(self) -> str:
        return html_table(*self._table)

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the rows and the columns of blocks: parts of records, or numbers."""
        if self.body is None:
            return tuple(tuple(str(k + 1) for k in range(n)) for n in self.shape)  # type: ignore[return-value]
        return part_names(self.body.cod), part_names(self.body.dom)

    @property
    def _is_named(self) -> bool:
        return is_named(self.body.cod) or is_named(self.body.dom)

    @property
    def _table(self) -> tuple[tuple[str, ...], tuple[str, ...], list[list[str]]]:
        found = dict(self.entries)
        rows, cols = self.shape
        cells = [[_cell(found[o, i]) if (o, i) in found else "0" for i in range(cols)] for o in range(rows)]
        return *self.names, cells

    def text(self) -> str:
        """In words, row by row; of a large grid that is mostly 0 the places, from 1, and their blocks."""
        rows, cols = self.shape
        if rows * cols > max(GRID, 4 * len(self.entries)):
            blocks = "; ".join(f"{o + 1},{i + 1}: {e.text()}" for (o, i), e in self.entries)
            return f"{len(self.entries)} of {rows}·{cols} blocks [{blocks}]"
        found = dict(self.entries)
        grid = [[found.get((o, i), ZeroForm()).text() for i in range(cols)] for o in range(rows)]
        return f"[{'; '.join(map(', '.join, grid))}]"


def stored(form: Form) -> int:
    """The number of entries that a form allows, at most."""
    match form:
        case ZeroForm():
            return 0
        case IdentityForm(size) | ScaledForm(size) | Permutation(size):
            return size
        case DiagonalForm():
            return form.stored
        case LowRank(_, (rows, cols)) | DenseForm((rows, cols)):
            return rows * cols
        case SparseForm(entries):
            return entries
        case Kronecker(parts):
            return math.prod(map(stored, parts))
        case BlockDiagonal(count, block):
            return count * stored(block)
        case SumForm(parts):
            return sum(map(stored, parts))
        case Blocks(_, entries):
            return sum(stored(entry) for _, entry in entries)
        case never:
            assert_never(never)


def has_low_rank(form: Form) -> bool:
    """Tell if a form, a term of a sum, or a block is of low rank."""
    blocks = [entry for _, entry in form.entries] if isinstance(form, Blocks) else []
    parts = form.parts if isinstance(form, SumForm) else blocks
    return isinstance(form, LowRank) or any(map(has_low_rank, parts))


def _cell(form: Form) -> str:
    """The text of a block in a table."""
    if isinstance(form, SparseForm):
        rows, cols = form.shape
        return f"sparse {'' if form.exact else '≤ '}{form.entries} of {rows}·{cols}"
    if isinstance(form, DenseForm):
        return "number" if form.shape == (1, 1) else form.text()
    if isinstance(form, (IdentityForm, ScaledForm, DiagonalForm, Permutation)) and form.size == 1:
        return "number"
    return form.text()


Form: TypeAlias = (
    ZeroForm
    | IdentityForm
    | ScaledForm
    | DiagonalForm
    | Permutation
    | LowRank
    | SparseForm
    | DenseForm
    | Kronecker
    | BlockDiagonal
    | SumForm
    | Blocks
)
