"""Folds and conditions of an evaluation: element by element, as a loop over a list of one shape, entry by entry."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

from diff.control.loops import fold as loop
from diff.lam.run.matching import bind, chosen, fields, opened_fields, recurring, rests
from diff.lam.term.binding import Pass, captured, each
from diff.lam.term.lam_values import (
    Closure,
    Native,
    Stack,
    Tagged,
    Value,
    filled,
    opened,
    shape_of,
    side_by_side,
    signature,
)
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, Case, Con, Fold, If, Lam, Tuple
from diff.lam.term.types import Arrow, DataType, LeafType, Lin, SelfType, TupleType, Ty, mentions
from diff.vocabulary.operations import select
from hilbert import Bool
from hilbert.base.once import once
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable


MANY = 256
"""The number of cells from which on it is worth while to prepare the step at a cell."""


def selected(c: Any, x: Any, y: Any) -> Any:
    """The entries of x where c holds, else those of y; of conditions, too."""
    return (c & x) | (~c & y) if x.space == Bool else select(c, x) + select(~c, y)


@once
def _step(term: Fold) -> Lam:
    """The step of a fold over a list, as a function of an element and the result for the rest."""
    branch = chosen(term.branches, "Cons")
    return Lam(branch.pattern, branch.body)


class _Varies(Exception):  # noqa: N818 - no error: the fold is unrolled
    """The state of a fold changes its shape."""


class Folds(ABC):
    """The part of an evaluation that is about folds and about conditions on data."""

    varying: dict[AnyTerm, set[Any]]
    """Folds that were no loops, and what was discrete there: one in others is tried once, not by each try of those."""

    @abstractmethod
    def value(self, term: AnyTerm, env: dict[int, Value]) -> Pass:
        """⟦t⟧."""

    @abstractmethod
    def at_hand(self, term: AnyTerm, env: dict[int, Value]) -> Value | None:
        """The value of a term that needs no pass; None for others."""

    def at_once(self, term: AnyTerm, env: dict[int, Value]) -> Value | None:
        """The same, for a term whose value is asked for many times."""
        return self.at_hand(term, env)

    @abstractmethod
    def call(self, function: Value, arg: Value) -> Pass:
        """f v."""

    @abstractmethod
    def plain(self) -> Folds:
        """An evaluator of values that have no class of their own, with all steps left."""

    def constructed(self, term: Con, env: dict[int, Value]) -> Pass:
        """ℓ t; the rest of a list needs no pass of its own."""
        cells: list[tuple[str, list[Value]]] = []
        end: AnyTerm = term
        while isinstance(end, Con) and isinstance(end.arg, Tuple) and end.arg.parts:
            values = []
            for part in end.arg.parts[:-1]:
                known = self.at_hand(part, env)
                values.append((yield self.value(part, env)) if known is None else known)
            cells.append((end.label, values))
            end = end.arg.parts[-1]
        of = end.arg if isinstance(end, Con) else end
        known = self.at_hand(of, env)
        whole = (yield self.value(of, env)) if known is None else known
        whole = Tagged(end.label, whole) if isinstance(end, Con) else whole
        while cells:
            label, values = cells.pop()
            whole = Tagged(label, (*values, whole))
        return whole

    def fold(self, term: Fold, value: Value, env: dict[int, Value]) -> Pass:
        """fold v of {ℓ p → s}: first the parts, then s at their results."""
        start: Value = None
        if isinstance(value, Stack):
            nil = chosen(term.branches, "Nil")
            bind(nil.pattern, (), env)
            start = yield self.value(nil.body, env)
            result = self._looped(term, value, start, env)
            if result is not None:
                return result
            value = opened(value)

        return (yield self._folded(term, start, env, value))

    def _folded(self, term: Fold, start: Value, env: dict[int, Value], one: Value) -> Pass:
        """The same, of a part; the state at the end of a stack is at hand."""
        ty = term.type
        assert isinstance(ty, DataType)
        above: list[tuple[Tagged, int]] = []  # what holds one of its type directly, as the cells of a list do
        while True:
            one = opened(one) if isinstance(one, Stack) else one
            k = rests(ty).get(one.label) if isinstance(one, Tagged) else None
            if k is None:
                break
            above.append((one, k))
            one = one.payload[k]
        if start is not None:
            value = start
        elif isinstance(one, Tagged):
            branch = chosen(term.branches, one.label)
            payload = yield from self._map(fields(ty)[one.label], partial(self._folded, term, start, env), one.payload)
            bind(branch.pattern, payload, env)
            value = yield self.value(branch.body, env)
        else:
            value = yield self.undecided(one, term, env)
        at_hand = self.at_once if len(above) >= MANY else self.at_hand
        while above:
            one, k = above.pop()
            branch = chosen(term.branches, one.label)
            bind(branch.pattern, (*one.payload[:k], value, *one.payload[k + 1 :]), env)
            known = at_hand(branch.body, env)
            value = (yield self.value(branch.body, env)) if known is None else known
        return value

    def _looped(self, term: Fold, stack: Stack, start: Value, env: dict[int, Value]) -> Value | None:
        """A fold over a stack as a loop, from the last element; None where the state is not made of vectors alone."""
        try:
            shape, state = shape_of(start)
        except TermError:  # the state is a function
            return None

        def known() -> Any:
            return shape, signature(tuple([env[k] for k in captured(_step(term))]))

        if not state or (term in self.varying and known() in self.varying[term]):
            return None
        branch = chosen(term.branches, "Cons")
        form, leaves = shape_of(stack.element)

        def step(given: Any, item: Any) -> Any:
            items = item.split() if len(leaves) > 1 else (item,)
            around = dict(env)
            bind(branch.pattern, (filled(form, iter(items)), filled(shape, iter(given))), around)
            found, made = shape_of(driven(self.plain().value(branch.body, around)))
            if found != shape:
                raise _Varies
            return tuple(made)

        try:
            last = loop(step, tuple(state), side_by_side(leaves), reverse=True)
        except _Varies:
            self.varying.setdefault(term, set()).add(known())
            return None
        return filled(shape, iter(last))

    def _map(self, ty: Ty, f: Callable[[Value], Pass], value: Value) -> Pass:
        """F(f) at a value, F(X) a type that speaks of X."""
        match ty:
            case SelfType():
                return (yield f(value))
            case TupleType(parts):
                values = list(value)
                for k in recurring(ty):
                    part = yield (f(values[k]) if isinstance(parts[k], SelfType) else self._map(parts[k], f, values[k]))
                    values[k] = part
                return tuple(values)
            case DataType() if mentions(ty, SelfType):
                part = yield self._map(opened_fields(ty)[value.label], f, value.payload)
                return Tagged(value.label, part)
            case Arrow(dom, cod) if mentions(cod, SelfType):

                def after(arg: Value) -> Pass:
                    result = yield self.call(value, arg)
                    return (yield self._map(cod, f, result))

                return Native(after, (value,), dom)
            case LeafType() | DataType() | Arrow() | Lin():  # X does not occur
                return value
            case _:
                assert_never(ty)

    def undecided(self, condition: Value, term: If | Case | Fold, env: dict[int, Value]) -> Pass:
        """A condition on data: both branches, of which the entries are selected."""
        assert isinstance(term, If), "the tags of values are known"
        return (yield self.either(term, env, lambda x, y: selected(condition, x, y)))

    def either(self, term: If, env: dict[int, Value], merge: Callable[[Value, Value], Value]) -> Pass:
        """Both branches in one: `merge` takes two leaves to one, and of two functions the results at one argument.

        Raises TermError `tag` where their tags or lengths differ.
        """
        a = yield self.value(term.then, dict(env))
        b = yield self.value(term.otherwise, dict(env))

        def both(pair: tuple[Value, Value]) -> Pass:
            match pair:
                case (Closure() | Native()) as f, (Closure() | Native()) as g:

                    def run(arg: Value) -> Pass:
                        x = yield self.call(f, arg)
                        y = yield self.call(g, arg)
                        return (yield both((x, y)))

                    return Native(run, (f, g))
                case tuple() as v, tuple() as w:
                    parts = yield each(both, zip(v, w, strict=True))
                    return tuple(parts)
                case Tagged(label, x), Tagged(other, y) if label == other:
                    part = yield both((x, y))
                    return Tagged(label, part)
                case (Stack(), Tagged()) | (Tagged(), Stack()):
                    return (yield both((opened(pair[0]), opened(pair[1]))))
                case Stack(size, x), Stack(length, y) if size == length:
                    part = yield both((x, y))
                    return Stack(size, part)
                case int(n), int(m) if n == m:
                    return n
                case (Tagged() | Stack() | int(), _):
                    message = "a condition on data decides a tag, a length or an integer: use it in both branches, "
                    message += "if c then f a else f b for f (if c then a else b)"
                    raise TermError("tag", message, term.place)
                case _:  # leaves of one space
                    return merge(*pair)

        return (yield both((a, b)))
