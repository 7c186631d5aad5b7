"""Functions on data for arguments of one shape: their program, and values as points of its domain and back.

The program and the layout of a shape are kept, so that a call at a known shape only reads its arguments, in one pass.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, final

import numpy as np

from diff.datatypes.kinds.conversion import from_core
from diff.datatypes.kinds.kinds import Kind
from diff.datatypes.kinds.layout import Key, Maker
from diff.lam.run.translate import at_shape
from diff.lam.term.lam_values import DiscreteShape, filled, opened, spaces_of
from diff.lam.term.term_error import TermError
from diff.trace.expr import Expr
from hilbert import DirectSum, Type, Vec
from hilbert.base.once import Remembering, once
from hilbert.errors import integer, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from diff.lam.term.terms import AnyTerm
    from diff.terms.program import AnyProgram


@final
class Form(Remembering):
    """A function on data at one shape of its arguments; `key` is None for arguments that hold expressions."""

    def __init__(
        self, term: AnyTerm, kinds: tuple[Kind, ...], gives: Kind, shape: DiscreteShape, key: Key | None
    ) -> None:
        self.term, self.kinds, self.gives, self.shape, self.key = term, kinds, gives, shape, key
        self._runs = _runs(shape)
        self._is_listed = any(count for count, _ in self._runs)
        self._is_plain = key is not None and all(space.is_space for space in spaces_of(shape))

    @property
    def program(self) -> AnyProgram:
        """The program on the vectors in the arguments, from left to right."""
        return at_shape(self.term, self.shape)[0]

    @property
    def spaces(self) -> list[Type]:
        """The spaces of the vectors in the arguments, which are the parts of the domain."""
        return spaces_of(self.shape)

    @once
    def positions(self, k: int) -> range:
        """The positions of the vectors in argument k among the parts of the domain."""
        counts = [len(spaces_of(shape)) for shape in self._shapes]
        return range(sum(counts[:k]), sum(counts[: k + 1]))

    @property
    def _shapes(self) -> tuple[DiscreteShape, ...]:
        return (self.shape,) if len(self.kinds) == 1 else self.shape.parts

    def point(self, vectors: Sequence[Any]) -> Vec[Any]:
        """The vectors in the arguments as an element of the domain: those of a list are stacked."""
        arrays = tuple(chain.from_iterable([v.leaves for v in vectors]))
        return Vec(self.program.dom, tuple(self._stacked(arrays)) if self._is_listed else arrays)

    def _stacked(self, arrays: tuple[Any, ...]) -> Iterator[Any]:
        at = 0
        for count, width in self._runs:
            end = at + max(count, 1) * width
            if count:
                yield from (np.stack(arrays[at + k : end : width]) for k in range(width))
            else:
                yield from arrays[at:end]
            at = end

    def _opened(self, arrays: Iterator[Any], runs: list[tuple[int, int]]) -> Iterator[Any]:
        """The inverse of `_stacked`."""
        for count, width in runs:
            some = [next(arrays) for _ in range(width)]
            if count:
                yield from (array[i, ...] for i in range(count) for array in some)
            else:
                yield from some

    def value(self, k: int | None, v: Any) -> Any:
        """An element of the domain as the arguments, or of the parts that argument k is, as that argument."""
        shape = self.shape if k is None else self._shapes[k]
        if isinstance(v, Vec) and self._is_plain:
            maker, runs = self._maker(k)
            arrays = iter(v.leaves)
            return maker.made(self._opened(arrays, runs) if runs else arrays)
        kinds = self.kinds if k is None else (self.kinds[k],)
        return values(kinds[0] if len(kinds) == 1 else kinds, shape, v)

    @once
    def _maker(self, k: int | None) -> tuple[Maker, list[tuple[int, int]]]:
        assert self.key is not None  # of a plain form
        key = iter(self.key)
        if k is None:
            return Maker(
                self.kinds[0] if len(self.kinds) == 1 else self.kinds, key
            ), self._runs if self._is_listed else []
        made = [Maker(kind, key) for kind in self.kinds[: k + 1]][k]
        runs = _runs(self._shapes[k])
        return made, runs if any(count for count, _ in runs) else []


def _runs(shape: DiscreteShape) -> list[tuple[int, int]]:
    """The arrays of a shape's leaves in runs: (0, their number), or a list's length and the number in an element."""
    found: list[tuple[int, int]] = []
    stack = [shape]
    while stack:
        node = stack.pop()
        if isinstance(node.kind, tuple) and node.kind[0] == "stack":
            found.append((node.kind[1], sum(len(space.leaves) for space in spaces_of(node))))
        elif isinstance(node.kind, (int, str, tuple)):
            stack.extend(reversed(node.parts))
        elif found and not found[-1][0]:
            found[-1] = (0, found[-1][1] + len(node.kind.leaves))
        else:
            found.append((0, len(node.kind.leaves)))
    return found


def values(kind: Kind, shape: DiscreteShape, v: Any) -> Any:
    """A vector or expression, or the direct sum of several, as the leaves of a value."""
    leaves = [v] if len(spaces_of(shape)) == 1 else v.split()
    return from_core(kind, opened(filled(shape, iter(leaves))))


@final
class Instance:
    """A function on data for arguments of one shape: its program, and the arguments as points of its domain."""

    __slots__ = ("_vectors", "form")

    def __init__(self, form: Form, vectors: list[Any]) -> None:
        self.form, self._vectors = form, vectors

    @property
    def shape(self) -> DiscreteShape:
        """The discrete shape of the arguments."""
        return self.form.shape

    @property
    def program(self) -> AnyProgram:
        """The program on the vectors in the arguments, from left to right. Made once for each shape."""
        return self.form.program

    @property
    def point(self) -> Vec[Any]:
        """The arguments as an element of the domain of the program."""
        return self.form.point(self._vectors)

    @property
    def operands(self) -> tuple[Any, ...]:
        """The operands for maps on the domain: the point, or the leaves of arguments that hold expressions."""
        return tuple(self._vectors) if self.form.key is None else (self.point,)

    def positions(self, k: int) -> range:
        """The positions of the vectors in argument k among the parts of the domain."""
        return self.form.positions(self._place(k))

    def arguments(self, v: Any) -> Any:
        """An element of the domain as values of the classes of the arguments; a tuple where there are several."""
        return self.form.value(None, _element(v, self.program.dom, "at.arguments(v)"))

    def argument(self, k: int, v: Any) -> Any:
        """An element of the parts of the domain that argument k is, as a value of its kind."""
        parts = [self.form.spaces[i] for i in self.positions(k)]
        space = parts[0] if len(parts) == 1 else DirectSum(tuple(parts))
        return self.form.value(self._place(k), _element(v, space, f"at.argument({k}, v)"))

    def result(self, w: Any) -> Any:
        """An element of the codomain as a result of the function."""
        _element(w, self.program.cod, "at.result(w)")
        return values(self.form.gives, at_shape(self.form.term, self.form.shape)[1], w)

    def _place(self, k: Any) -> int:
        """The number of an argument; raises TermError for what is none."""
        found, count = integer(k), len(self.form.kinds)
        if found is None or not 0 <= found < count:
            raise TermError("type", f"an argument is one of 0 to {count - 1}, not {shown(k)}")
        return found


def _element(v: Any, space: Type, what: str) -> Any:
    """The element itself; raises TermError for what is none of the space."""
    if not isinstance(v, (Vec, Expr)):
        raise TermError("type", f"{what} takes a vector of {space}, not {shown(v)}")
    if v.space != space:
        raise TermError("shape", f"{what} takes a vector of {space}, not {shown(v)}")
    return v
