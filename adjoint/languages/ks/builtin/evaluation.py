"""The part of the evaluator of ks programs that its built-in functions use, as a protocol.

The evaluator calls a built-in function, such as `map` or `fold`, with its arguments; the built-in function needs the
evaluator to call the function that it was given for each element. So each would have to import the other. To avoid
this, built-in functions import this module: `Evaluation` lists what they may call, and the evaluator has these members.
`Where` says in which loops, branches and lanes (elements that are computed at once) of the program a call stands.
"""

# pyright: reportReturnType=false
# a protocol says what its methods give, and gives nothing

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, final

import numpy as np
from attrs import Factory, frozen

from adjoint.languages.ks.value.tensor_lanes import aligned
from adjoint.languages.ks.value.value_classes import Arr, Items, Lane, Table, UnrolledError, Value
from diff.lam.term.types import TupleType

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.binding import Pass
    from diff.lam.term.term_error import Place
    from diff.lam.term.types import Ty
    from hilbert import Vec

Effect: TypeAlias = "Callable[[Any], Any]"
"""A step that a leaf goes through."""


@final
@frozen(eq=False)
class Where:
    """A place in the program that is traced: the lanes, loops and branches around."""

    modes: tuple[str, ...] = ()
    """In which the program will be derived, the first one first."""
    lanes: tuple[Lane, ...] = ()
    mask: Table | None = None
    """Of the lanes that are run; None for all."""
    branches: int = 0
    """Conditions on data around."""
    loops: int = 0
    is_nowhere: bool = False
    """True if what is traced is run for no element."""
    pending: list[Effect] = Factory(list)
    """Filled while a body is traced: what must be checked or printed there."""

    @property
    def is_outside(self) -> bool:
        """Tell if it is in no lane, loop or branch, where what reals decide is decided at the point at hand."""
        return not (self.lanes or self.loops or self.branches)

    def outside(self, message: str) -> UnrolledError:
        """Of what is computed there: in no lane, so that it is not tried in some of those around."""
        return UnrolledError(message, [lane.index for lane in self.lanes])

    def running(self, *tables: Value) -> tuple[tuple[Lane, ...], list[Any], Any]:
        """Constants over all their lanes and those of the mask, and where lanes are run."""
        lanes, arrays = aligned(*tables, True if self.mask is None else self.mask)
        *found, mask = np.broadcast_arrays(*arrays)
        return lanes, found, mask


class Evaluation(Protocol):
    """One evaluation: its place, and functions that are called in it."""

    where: Where
    place: Place | None
    """In the text."""
    effects: set[str]
    """"check" and "write", where some were made steps."""

    @property
    def has_point(self) -> bool:
        """Tell if conditions on reals can be decided at a point."""

    def call(self, function: Value, arg: Value) -> Pass:
        """f v."""

    def over(self, n: Value, run: Callable[[Value], Pass], *, apart: bool = False) -> Value:
        """(run i)_i for i < n: all at once, or one by one, as what is no array always is."""

    def chosen(self, condition: Value, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """The value of one of two branches, of which only the one that is taken is computed."""

    def folded(self, f: Value, start: Value, xs: Arr | Items) -> Pass:
        """f (… f (start, x₁) …, xₙ): a loop where the state has one shape, else round by round."""

    def probe(self, x: Any) -> Vec[Any]:
        """An expression at the point at hand; raises TermError where there is none."""


@final
@frozen
class Use:
    """One use of a name: the type of its argument, where it is evaluated, and its place."""

    of: Ty
    ev: Evaluation
    place: Place | None

    def part(self, k: int) -> Ty:
        """The type of an argument."""
        assert isinstance(self.of, TupleType)
        return self.of.parts[k]
