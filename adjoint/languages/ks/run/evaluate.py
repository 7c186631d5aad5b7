"""The core's evaluator on values of KS-Lisp: `build` is traced once over lanes, conditions on data become `where`.

Integers are known: plain, or tables over the lanes around. A condition on a table is a mask of constants; one on reals
is a `where`, and in a function that calls itself it is decided at the point at hand. What is not the same for all lanes
(a shape, the depth of a recursion) is computed lane by lane.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, final

import numpy as np
from attrs import evolve

from adjoint.languages.ks.builtin import effects
from adjoint.languages.ks.builtin.evaluation import Where
from adjoint.languages.ks.value.ks_values import (
    filled,
    form,
    items_of,
    leaves_of,
    mapped,
    outline,
    settled,
    signature,
    stacked,
    truth,
)
from adjoint.languages.ks.value.tensor_lanes import aligned, closed, constants_of, lane_entry, require_few, zipped
from adjoint.languages.ks.value.value_classes import LEAF, Arr, Items, Lane, Table, UnrolledError, Value
from diff import const, fold, where
from diff.control.bodies import built, emitted, powers, traced
from diff.lam.run.evaluate import Evaluator
from diff.lam.term.lam_values import Closure, Native
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import If
from hilbert import Copower, DirectSum, Type, Vec
from hilbert.base.term import driven
from hilbert.program.transform.lifted_line import lifted_line
from hilbert.space.space import Bool
from hilbert.tracebacks import tracing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from weakref import WeakKeyDictionary

    from adjoint.languages.ks.builtin.evaluation import Effect
    from adjoint.languages.ks.text.function_names import Callee
    from adjoint.languages.ks.text.text_scope import Scope
    from diff.lam.term.binding import Pass
    from diff.lam.term.term_error import Place
    from diff.lam.term.terms import AnyTerm, Case, Fold, Var
    from hilbert.program.line.builder import Builder

STEPS = 100_000
"""The functions that are entered before an evaluation is given up."""
BODY = 4
"""A body of a `build` or a fold that is traced takes as long as so many of them."""


class LinkedText(Protocol):
    """The definitions of a text, ready to be evaluated, and the maps that were made of them.

    They call the evaluator and the derivatives, which call them back: this stands below all of these.
    """

    scope: Scope
    is_by_hand: bool
    """True if a derivative is written by hand."""
    maps: dict[Any, Any]
    asked: set[Any]
    last: tuple[Any, Any] | None
    rules: WeakKeyDictionary[Any, tuple[int, Any]]

    def value(self, x: Var, ev: KsEvaluator) -> Value:
        """The value of a name, at the place where its variable stands."""

    def function(
        self, callee: Callee, ev: KsEvaluator, place: Place | None, modes: tuple[str, ...] | None = None
    ) -> Value:
        """A function of the text, of the prelude, or derived from one; opaque where it is by hand in a mode."""


@final
class KsEvaluator(Evaluator):
    """One evaluation: where it is in the program that is traced, and its place in the text."""

    def __init__(self, linked: LinkedText, steps: int = STEPS, point: Callable[[Any], Any] | None = None) -> None:
        super().__init__(steps)
        self.linked, self.point = linked, point
        self.where = Where()
        self.place: Place | None = None
        self.recursions = 0
        self.is_local = False  # whether conditions on reals are decided where they can be
        self.effects = set[str]()
        self.words: dict[int, tuple[Var, Value]] = {}  # what those of the text mean, by occurrence

    def free(self, x: Var) -> Value:
        """The value of a name."""
        return self.linked.value(x, self)

    def _enter(self, term: AnyTerm) -> None:
        self._spend(1, self.place or term.place)

    def _spend(self, steps: int, place: Place | None) -> None:
        self.left -= steps
        if self.left < 0:
            raise TermError("limit", f"no value after {self.steps} steps", place)

    @contextmanager
    def inside(self, where: Where) -> Iterator[None]:
        """Evaluate somewhere else; the evaluation is where it was afterwards, also after an error."""
        before = self.where, self.place, self.recursions
        self.where = where
        try:
            yield
        finally:
            self.where, self.place, self.recursions = before

    # --- lanes ---

    def over(self, n: Value, run: Callable[[Value], Pass], *, apart: bool = False) -> Value:
        """(run i)_i for i < n: all at once, or one by one, as what is no array always is."""
        if isinstance(n, Table):
            raise UnrolledError("a size depends on the lane", [n])
        if n < 0:
            raise TermError("shape", f"a size is not negative, and this one is {n}", self.place)
        require_few(n, self.place)
        if not apart:
            try:
                with self.inside(self.where):
                    return self._over(n, run)
            except UnrolledError as error:
                if error.depth is not None and error.depth < len(self.where.lanes):
                    raise
        return stacked((n,), [driven(run(k)) for k in range(n)])

    def _over(self, n: int, run: Callable[[Value], Pass]) -> Value:
        self._spend(BODY, self.place)
        found: list[Value] = []
        after: list[Effect] = []

        def emit(b: Builder) -> Any:
            around = self.where
            lane = Lane(n, len(around.lanes), b)

            def body() -> Any:
                lane.body = tracing.get()[-1]
                lanes, is_nowhere = (*around.lanes, lane), around.is_nowhere or not n
                with self.inside(evolve(around, lanes=lanes, is_nowhere=is_nowhere, pending=[])):
                    value = driven(run(lane.index))
                    leaves = effects.tied(self, leaves_of(value))
                    after.extend(self.where.pending)
                found.append(closed(lane, value))
                return tuple(leaves)

            traced_body = traced(b, "build", body, [])
            seen = set(traced_body.captured)
            captured = [k if (of := lane.sources.get(k, k)) in seen else of for k in traced_body.captured]
            up = [f != b.slots[k] for f, k in zip(traced_body.line.slots, captured, strict=False)]
            outputs, varies = lifted_line(b, traced_body.line, lane.axis.axes, captured, up)
            slots = [k if v else b.rep(k, lane.axis.axes) for k, v in zip(outputs, varies, strict=True)]
            return built(b, powers(traced_body.spaces, lane.axis), iter(slots))

        leaves = emitted(emit)
        effects.kept(self, leaves, after)
        return Arr((n,), settled(filled(found[0], iter(leaves))))

    # --- conditions ---

    def undecided(self, condition: Value, term: If | Case | Fold, env: dict[int, Value]) -> Pass:
        """A condition that is no vector: known, a table over lanes, or data of the program."""
        assert isinstance(term, If)
        known = self._known(condition)
        if known is not None:  # by this pass, not by one in it: a recursion of any depth is no recursion of Python
            return (yield self.value(term.then if known else term.otherwise, env))

        def branch(taken: AnyTerm) -> Callable[[], Value]:
            return lambda: driven(self.value(taken, dict(env)))

        return self._either(condition, branch(term.then), branch(term.otherwise))

    def chosen(self, condition: Value, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """The value of one of two branches, of which only the one that is taken is computed."""
        known = self._known(condition)
        if known is not None:
            return then() if known else otherwise()
        return self._either(condition, then, otherwise)

    def _known(self, condition: Value) -> bool | None:
        """Tell if a condition holds, where that is known, the same in all lanes, or decided at the point."""
        if isinstance(condition, bool):
            return condition
        if isinstance(condition, Vec):
            return bool(condition.array)
        if isinstance(condition, Table):
            _, (c,), running = self.where.running(condition)
            return True if not (running & ~c).any() else None if (running & c).any() else False
        is_decided = self.recursions or (self.is_local and self.where.is_outside)
        return self.decided(condition) if is_decided else None

    def _either(self, condition: Any, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """The values of both branches, each where it is taken."""
        if isinstance(condition, Table):
            if self.recursions:
                raise UnrolledError("a recursion depends on the lane", [condition])
            lanes, (c,), running = self.where.running(condition)
            masks = [Table(lanes, part) for part in (running & c, running & ~c)]
            return self._where(condition, lane_entry(condition, Bool), then, otherwise, masks)
        mask = self.where.mask
        try:
            with self.inside(evolve(self.where, branches=self.where.branches + 1)):
                return self._where(None, condition, then, otherwise, [mask, mask])
        except UnrolledError:
            return then() if self.decided(condition) else otherwise()

    def decided(self, condition: Any) -> bool:
        """A condition on data at the point at hand; raises where there is none."""
        if not self.where.is_outside:
            raise self.where.outside("a condition is decided at a point")
        return bool(self.probe(condition).array)

    @property
    def has_point(self) -> bool:
        """Tell if conditions on reals can be decided at a point."""
        return self.point is not None

    def probe(self, x: Any) -> Vec[Any]:
        """An expression at the point at hand; raises TermError where there is none."""
        if isinstance(x, Vec):
            return x
        if self.point is None:
            raise TermError("tag", "a condition on reals decides a shape or a recursion here: give a point", self.place)
        found: Vec[Any] = self.point(x)
        return found

    def _where(
        self, table: Table | None, c: Any, then: Callable[[], Value], otherwise: Callable[[], Value], masks: list[Any]
    ) -> Value:
        found: list[Value] = []
        after: list[Effect] = []

        def branch(run: Callable[[], Value], mask: Any) -> Callable[[], Any]:
            def traced_branch() -> Any:
                """Run a branch under its mask, tie its effects to its leaves, and keep its value in `found`."""
                with self.inside(evolve(self.where, mask=mask, pending=[])):
                    value = run()
                    if table is None:  # a condition on data; under a table `_merged` joins truth values
                        value = mapped(lambda v: const(truth(c=v)) if isinstance(v, bool) else v, value)
                    leaves = effects.tied(self, leaves_of(value))
                    after.extend(self.where.pending)
                found.append(value)
                if len(found) == 2 and outline(found[0]) != outline(value):  # both branches are traced
                    raise UnrolledError("a condition on data decides a shape")
                return tuple(leaves)

            return traced_branch

        leaves = where(c, branch(then, masks[0]), branch(otherwise, masks[1]))
        effects.kept(self, leaves, after)
        merged = mapped(lambda a, b: self._merged(table, a, b), found[0], found[1])
        return settled(filled(merged, iter(leaves)))

    def _merged(self, table: Table | None, a: Value, b: Value) -> Value:
        """The value where a condition holds or not, of what is known of both branches."""
        if isinstance(a, LEAF) and isinstance(b, LEAF):
            return a
        if form(a) == form(b):
            return a
        ours = all(isinstance(v, (bool, int, Table)) for v in (a, b))
        own = [v.own for v in (a, b) if isinstance(v, Table)]
        if table is None or not ours or any(own):
            raise UnrolledError("a condition on data decides what is discrete")
        lanes, (c, x, y) = aligned(table, a, b)
        return Table(lanes, np.where(c, x, y))

    # --- loops ---

    def folded(self, f: Value, start: Value, xs: Arr | Items) -> Pass:
        """f (… f (start, x₁) …, xₙ): a loop where the state has one shape, else round by round."""
        if isinstance(xs, Arr) and xs.dims[0] and not self.recursions and not self._is_known_to_vary(f, start, xs):
            try:
                with self.inside(self.where):
                    return self._loop(f, start, xs)
            except UnrolledError as error:
                if error.depth is not None:
                    raise
                if isinstance(f, Closure):
                    self.varying.setdefault(f.lam, set()).add(self._given(f, start, xs))
        state = start
        for x in items_of(xs).items:
            state = yield self.call(f, (state, x))
        return state

    def _is_known_to_vary(self, f: Value, start: Value, xs: Arr) -> bool:
        """Tell if a fold was no loop before: one that stands in others is tried once, not by each try of those."""
        return isinstance(f, Closure) and f.lam in self.varying and self._given(f, start, xs) in self.varying[f.lam]

    def _given(self, *values: Value) -> Any:
        """The discrete parts of values where a fold stands."""
        return signature((*values, True if self.where.mask is None else self.where.mask))

    def _loop(self, f: Value, start: Value, xs: Arr) -> Value:
        first, stacks = leaves_of(start), leaves_of(xs.item)
        shape = form(start)
        is_known = all(isinstance(leaf, LEAF) for leaf in constants_of(xs.item))
        self._spend(BODY, self.place)
        if not first or not stacks or not is_known:
            raise UnrolledError("a loop has a state and elements of reals")
        space: Type = stacks[0].space.base
        if len(stacks) > 1:
            space = DirectSum(tuple([s.space.base for s in stacks]))

        after: list[Effect] = []

        def step(states: tuple[Any, ...], x: Any) -> Any:
            with self.inside(evolve(self.where, loops=self.where.loops + 1, pending=[])):
                item = filled(xs.item, iter(x.split() if len(stacks) > 1 else (x,)))
                value = driven(self.call(f, (filled(start, iter(states)), item)))
                leaves = effects.tied(self, leaves_of(value))
                after.extend(self.where.pending)
                if form(value) != shape:
                    raise UnrolledError("the state of a fold changes its shape")
            return tuple(leaves)

        loop: Any = fold
        made = loop(step, tuple(first), zipped(stacks, Copower(space, stacks[0].space.index)))
        effects.kept(self, tuple(made), after)
        return settled(filled(start, iter(made)))

    def call(self, function: Value, arg: Value) -> Pass:
        """f v."""
        if isinstance(function, (Closure, Native)):
            return (yield super().call(function, arg))
        raise TermError("type", "this is no function", self.place)
