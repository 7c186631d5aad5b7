"""The core's evaluator on values of KS-Lisp: `build` is traced once over lanes, conditions on data become `where`.

Integers are known: plain, or tables over the lanes around. A condition on a table is a mask of constants; one on reals
is a `where`, and in a function that calls itself it is decided at the point at hand. What is not the same for all lanes
(a shape, the depth of a recursion) is computed lane by lane.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve

from adjoint.languages.ks.builtin import effects
from adjoint.languages.ks.value.ks_values import (
    LEAF,
    Arr,
    Items,
    Lane,
    Table,
    UnrolledError,
    Value,
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
from adjoint.languages.ks.value.tensor_lanes import closed, constants_of, lanes_of, require_few, zipped
from diff import const, fold, where
from diff.control.bodies import built, emitted, powers, traced
from diff.lam.run.evaluate import Evaluator
from diff.lam.term.lam_values import Closure, Native
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import If
from diff.trace.expr import Expr, literal, tracing
from hilbert import Copower, DirectSum, R, Type, Vec
from hilbert.base.term import driven
from hilbert.program.line.operation import Captured, Reduce
from hilbert.program.transform.lifted_line import lifted_line
from hilbert.relation import equality
from hilbert.space.space import Bool
from linmap.term.datum import constants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from adjoint.languages.ks.run.text_functions import Linked
    from diff.lam.term.binding import Pass
    from diff.lam.term.term_error import Place
    from diff.lam.term.terms import AnyTerm, Case, Fold, Var
    from hilbert.program.line.builder import Builder

STEPS = 100_000
"""How many functions are entered before an evaluation is given up."""
BODY = 4
"""A body of a `build` or a fold that is traced takes as long as so many of them."""


@final
class KsEvaluator(Evaluator):
    """One evaluation: where it is (lanes, loops, branches), and what must be checked or printed there."""

    def __init__(self, linked: Linked, steps: int = STEPS, point: Callable[[Any], Any] | None = None) -> None:
        super().__init__(steps)
        self.linked, self.point = linked, point
        self.modes: tuple[str, ...] = ()  # in which the program that is traced will be derived, the first one first
        self.lanes: tuple[Lane, ...] = ()
        self.mask: Any = None  # of the lanes that are run, a Table; None for all
        self.branches = 0  # conditions on data around
        self.loops = 0
        self.is_nowhere = False  # whether what is traced is run for no element
        self.recursions = 0
        self.is_local = False  # whether conditions on reals are decided where they can be
        self.pending: list[effects.Effect] = []
        self.effects = set[str]()  # "check" and "write", where some were made steps
        self.place: Place | None = None
        self.words: dict[int, tuple[Var, Value]] = {}  # what those of the text mean, by occurrence

    def free(self, x: Var) -> Value:
        """What a name means."""
        return self.linked.value(x, self)

    def _enter(self, term: AnyTerm) -> None:
        self._spend(1, self.place or term.place)

    def _spend(self, steps: int, place: Place | None) -> None:
        self.left -= steps
        if self.left < 0:
            raise TermError("limit", f"no value after {self.steps} steps", place)

    @contextmanager
    def inside(self, **changed: Any) -> Iterator[None]:
        """Somewhere else; all is as before afterwards, also after an error."""
        here = vars(self)
        before = dict(here)
        here.update(changed)
        try:
            yield
        finally:
            left = self.left
            here.clear()
            here.update(before, left=left)

    # --- constants over lanes ---

    def here(self, table: Table, kind: Type = R) -> Any:
        """The entry of a table in this lane, as a constant of the program."""
        lanes = table.lanes
        space: Type = kind
        for lane in reversed(lanes):
            space = Copower(space, lane.axis)
        array = table.array.astype(np.float64) if kind == R else table.array
        b = lanes[0].outer
        slots = [b.literal(c) for c in constants(space.vec(np.ascontiguousarray(array)))]
        return self.inward(b, slots, lanes, kind)

    def inward(self, b: Builder, slots: Sequence[int], lanes: tuple[Lane, ...], space: Type) -> Any:
        """Slots of a line as they are seen in the body that is traced inside; in some lanes, the elements there."""
        bodies = {id(lane.body) for lane in lanes}
        while b.inner is not None:
            leaves = [b.slots[k] for k in slots]
            b = b.inner
            if id(b) in bodies:
                leaves = [evolve(leaf, axes=leaf.axes[1:]) for leaf in leaves]
            slots = [b.emit(Captured(k), (), leaf) for k, leaf in zip(slots, leaves, strict=True)]
        return Expr(b, space, tuple(slots))

    def of_lane(self, lane: Lane, leaf: Any) -> Any:
        """The element in this lane of a vector over it that is known outside; None where it is not."""
        space = leaf.space.base
        b, slots = leaf.home if isinstance(leaf, Expr) else literal(lane.outer, leaf).home
        while b is not lane.outer and b.inner is not None:
            leaves = [b.slots[k] for k in slots]
            b = b.inner
            slots = tuple([b.emit(Captured(k), (), f) for k, f in zip(slots, leaves, strict=True)])
        if b is not lane.outer:
            return None
        same = Reduce(equality(lane.axis), 0)  # its own slot, since the body may see the whole vector, too
        own = [b.apply(same, k) for k in slots]
        lane.sources.update(zip(own, slots, strict=True))
        return self.inward(b, own, (lane,), space)

    def aligned(self, *values: Value) -> tuple[tuple[Lane, ...], list[Any]]:
        """Constants that are no tensors as arrays over all their lanes."""
        lanes = lanes_of(values)
        arrays = []
        for v in values:
            if isinstance(v, Table):
                shape = [lane.n if lane in v.lanes else 1 for lane in lanes]
                arrays.append(v.array.reshape(shape))
            else:
                arrays.append(np.asarray(v))
        return lanes, arrays

    def running(self, *tables: Value) -> tuple[tuple[Lane, ...], list[Any], Any]:
        """Constants over all their lanes and those of the mask, and where lanes are run."""
        lanes, arrays = self.aligned(*tables, True if self.mask is None else self.mask)
        *found, mask = np.broadcast_arrays(*arrays)
        return lanes, found, mask

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
                with self.inside():
                    return self._over(n, run)
            except UnrolledError as error:
                if error.depth is not None and error.depth < len(self.lanes):
                    raise
        return stacked((n,), [driven(run(k)) for k in range(n)])

    def _over(self, n: int, run: Callable[[Value], Pass]) -> Value:
        self._spend(BODY, self.place)
        found: list[Value] = []
        after: list[effects.Effect] = []

        def emit(b: Builder) -> Any:
            lane = Lane(n, len(self.lanes), b)

            def body() -> Any:
                lane.body = tracing.get()[-1]
                with self.inside(lanes=(*self.lanes, lane), is_nowhere=self.is_nowhere or not n, pending=[]):
                    value = driven(run(lane.index))
                    leaves = effects.tied(self, leaves_of(value))
                    after.extend(self.pending)
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
        """Whether a condition holds, where that is known, the same in all lanes, or decided at the point."""
        if isinstance(condition, bool):
            return condition
        if isinstance(condition, Vec):
            return bool(condition.array)
        if isinstance(condition, Table):
            _, (c,), running = self.running(condition)
            return True if not (running & ~c).any() else None if (running & c).any() else False
        is_decided = self.recursions or (self.is_local and self.is_outside())
        return self.decided(condition) if is_decided else None

    def is_outside(self) -> bool:
        """Whether it is in no lane, loop or branch, where what reals decide is decided at the point at hand."""
        return not (self.lanes or self.loops or self.branches)

    def outside(self, message: str) -> UnrolledError:
        """Of what is computed there: in no lane, so that it is not tried in some of those around."""
        return UnrolledError(message, [lane.index for lane in self.lanes])

    def _either(self, condition: Any, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
        """The values of both branches, each where it is taken."""
        if isinstance(condition, Table):
            if self.recursions:
                raise UnrolledError("a recursion depends on the lane", [condition])
            lanes, (c,), running = self.running(condition)
            masks = [Table(lanes, part) for part in (running & c, running & ~c)]
            return self._where(condition, self.here(condition, Bool), then, otherwise, masks)
        try:
            with self.inside(branches=self.branches + 1):
                return self._where(None, condition, then, otherwise, [self.mask, self.mask])
        except UnrolledError:
            return then() if self.decided(condition) else otherwise()

    def decided(self, condition: Any) -> bool:
        """A condition on data at the point at hand; raises where there is none."""
        if not self.is_outside():
            raise self.outside("a condition is decided at a point")
        return bool(self.probe(condition).array)

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
        after: list[effects.Effect] = []

        def branch(run: Callable[[], Value], mask: Any) -> Callable[[], Any]:
            def traced_branch() -> Any:
                """Run a branch under its mask, tie its effects to its leaves, and keep its value in `found`."""
                with self.inside(mask=mask, pending=[]):
                    value = run()
                    if table is None:  # a condition on data; under a table `_merged` joins truth values
                        value = mapped(lambda v: const(truth(c=v)) if isinstance(v, bool) else v, value)
                    leaves = effects.tied(self, leaves_of(value))
                    after.extend(self.pending)
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
        """What is known of both branches."""
        if isinstance(a, LEAF) and isinstance(b, LEAF):
            return a
        if form(a) == form(b):
            return a
        ours = all(isinstance(v, (bool, int, Table)) for v in (a, b))
        own = [v.own for v in (a, b) if isinstance(v, Table)]
        if table is None or not ours or any(own):
            raise UnrolledError("a condition on data decides what is discrete")
        lanes, (c, x, y) = self.aligned(table, a, b)
        return Table(lanes, np.where(c, x, y))

    # --- loops ---

    def folded(self, f: Value, start: Value, xs: Arr | Items) -> Pass:
        """f (… f (start, x₁) …, xₙ): a loop where the state has one shape, else round by round."""
        if isinstance(xs, Arr) and xs.dims[0] and not self.recursions and not self._is_known_to_vary(f, start, xs):
            try:
                with self.inside():
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
        """Whether a fold was no loop before: one that stands in others is tried once, not by each try of those."""
        return isinstance(f, Closure) and f.lam in self.varying and self._given(f, start, xs) in self.varying[f.lam]

    def _given(self, *values: Value) -> Any:
        """What is discrete where a fold stands."""
        return signature((*values, True if self.mask is None else self.mask))

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

        after: list[effects.Effect] = []

        def step(states: tuple[Any, ...], x: Any) -> Any:
            with self.inside(loops=self.loops + 1, pending=[]):
                item = filled(xs.item, iter(x.split() if len(stacks) > 1 else (x,)))
                value = driven(self.call(f, (filled(start, iter(states)), item)))
                leaves = effects.tied(self, leaves_of(value))
                after.extend(self.pending)
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
