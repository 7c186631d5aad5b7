"""A function on trees for many trees at once: the fold runs level by level, all nodes of one height together.

>>> from hilbert import R, Scalar
>>> from diff import Expr, data, tanh, term, variant
>>> @variant
... class Leaf:
...     value: Expr[Scalar]
>>> @variant
... class Node:
...     left: "Leaf | Node"
...     right: "Leaf | Node"
>>> @term(R, data(Leaf, Node, value=R))
... def total(w: Expr[Scalar], t: Leaf | Node) -> Expr[Scalar]:
...     match t:
...         case Leaf(value):
...             return w * value
...         case Node(left, right):
...             return total(w, left) + total(w, right)
>>> one, two = Leaf(R.vec(1.0)), Leaf(R.vec(2.0))
>>> print(forest(total, [Node(one, two), Node(two, Node(one, two)), one])(R.vec(10.0)))
[30.0, 50.0, 10.0] ∈ ℝ^3

The results of a level are put by fixed tables where the next one reads them, between those of the leaves that it reads,
so that the adjoint gathers.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from diff.control.bodies import traced
from diff.datatypes.forest.leaf_lanes import Lane, LaneEvaluator, spread
from diff.datatypes.forest.node_levels import Levels
from diff.datatypes.forest.visits import Table
from diff.datatypes.kinds.kinds import Data
from diff.datatypes.kinds.misfits import misfit
from diff.datatypes.term.term_functions import AnyTermFunction, TermFunction
from diff.lam.run.evaluate import STEPS, Evaluator
from diff.lam.run.matching import bind, chosen
from diff.lam.term.lam_values import Closure, DiscreteShape, Native, filled, flat, nested, shape_of
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import Branch, Case, Fold, If
from diff.trace.expr import Expr, const, literal
from diff.trace.trace import fun
from hilbert import Copower, Fin, Index, SpaceError, Type, Vec
from hilbert.base.lazy import uncollected
from hilbert.base.term import driven
from hilbert.errors import raised_for, shown
from hilbert.program.line.operation import Reduce
from hilbert.program.transform.lifted_line import lifted_line
from hilbert.relation import Converse, Graph, Inclusion
from hilbert.relation.relation import table
from hilbert.tracebacks import tracing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from diff.control.bodies import Body
    from diff.datatypes.forest.node_levels import Group, Level
    from diff.datatypes.forest.visits import Ints
    from diff.lam.term.binding import Pass
    from diff.lam.term.lam_values import Value
    from hilbert.map.map import AnyMap
    from hilbert.program.line.builder import Builder
    from hilbert.relation.relation import AnyRelation


def forest(f: AnyTermFunction, trees: Iterable[Any]) -> AnyMap:
    """forest(f, trees) : params → W^N, the results of f at N trees, which are its last argument.

    The arguments before are its domain. Raises TermError for a function without data, or whose other arguments are no
    vectors; `tag` for one that does more with the trees than one fold.
    """
    if not isinstance(f, TermFunction) or not isinstance(f.kinds[-1], Data):
        raise TermError("type", f"forest(f, trees) takes a function on data, its last argument, not {shown(f)}")
    spaces: Any = f.kinds[:-1]
    if not spaces:
        message = f"forest({f.name}, trees) is a map of what stands before the trees, and {f.name} takes trees alone: "
        raise TermError("type", f"{message}call it with each, or give it a vector before them")
    if not all(isinstance(kind, Type) for kind in spaces):
        raise TermError("type", f"forest({f.name}, trees): what stands before the trees are vectors")
    if not hasattr(trees, "__iter__"):
        raise TermError("type", f"forest({f.name}, trees) takes several trees, [tree] for one, not {shown(trees)}")
    some = list(trees)
    with uncollected():
        try:
            levels = Levels(f.kinds[-1], some)
        except (TermError, TypeError):  # of what is no tuple of parts
            found = misfit([f.kinds[-1]] * len(some), some, [f"trees[{k}]" for k in range(len(some))])
            if found is None:
                raise
            wrong = found[1].message
            whole = "" if wrong.startswith("trees[") else f"trees[{found[0]}]: "
            raise TermError(found[1].code, f"forest({f.name}, trees): {whole}{wrong}") from None
        return _forest(f, levels, spaces)


def _forest(f: AnyTermFunction, levels: Levels, spaces: Any) -> AnyMap:
    one_space = f"forest({f.name}, trees): the results are vectors of one space"
    if not isinstance(f.result, Type):
        what = "several" if isinstance(f.result, tuple) else "functions or data"
        remedy = "make a function of the same arguments that gives one vector of what it gives"
        raise TermError("type", f"{one_space}, and {f.name} gives {what}: {remedy}")

    def body(*params: Any) -> Any:
        evaluator = ForestEvaluator(levels)
        function = driven(evaluator.value(f.term, {}))
        args = (*(nested(kind, one) for kind, one in zip(spaces, params, strict=True)), levels)
        (leaf, *more) = shape_of(driven(evaluator.call(function, args)))[1]
        if more:
            raise TermError("type", f"{one_space}, and no direct sums")
        return spread(leaf, levels.roots)

    try:
        made: AnyMap = fun(*spaces)(body)
    except SpaceError as error:
        first = raised_for(error)
        if isinstance(first, TermError):  # it is about the trees, and no line of the user
            raise first from None
        raise
    return made


@final
class ForestEvaluator(LaneEvaluator):
    """The evaluator with a forest for the last argument: its fold gives a lane over the trees."""

    def __init__(self, levels: Levels) -> None:
        super().__init__(STEPS, levels.roots)

    def undecided(self, condition: Value, term: If | Case | Fold, env: dict[int, Value]) -> Pass:
        """The fold of the forest, level by level."""
        if not isinstance(condition, Levels):
            return (yield super().undecided(condition, term, env))
        if not isinstance(term, Fold):
            message = "forest(f, trees): f takes the trees apart without calling itself: it is no fold"
            raise TermError("tag", message, term.place)
        return self._levels(condition, term, env)

    def _levels(self, levels: Levels, term: Fold, env: dict[int, Value]) -> Value:
        b = tracing.get()[-1]
        b.place, watch, b.watch = b.watch and b.watch(), b.watch, None  # what is done at no node is of one line
        known: dict[Any, Algebra] = {}

        def results(group: Group, children: Iterator[Column]) -> Column:
            X = numbered(len(group.nodes))
            columns = [_stacked(b, one, X) if isinstance(one, Table) else next(children) for one in group.columns]
            given = [lane for column in columns for lane in column.lanes]
            key = group.label, group.shape, tuple(lane.space for lane in given)
            if key not in known:
                known[key] = algebra(b, chosen(term.branches, group.label), group.shape, columns, env)
            return Column(known[key].shape, known[key].over(b, X, given))

        pool = Pool(b, levels, [results(some.group, iter(())) for some in levels.leaves])
        for level in levels.levels[:-1]:
            children = iter(pool.read(level))
            for group in level.groups:
                pool.add(group.nodes, results(group, children))
        b.place, b.watch = None, watch
        return pool.read(levels.levels[-1])[0].value()


@final
@frozen(eq=False)
class Column:
    """Values of one shape, one at each node: for each leaf of the shape a lane with those of all nodes."""

    shape: DiscreteShape
    lanes: list[Lane]

    def value(self, leaves: Iterable[Any] | None = None) -> Value:
        """The value with these leaves, or with lanes."""
        return filled(self.shape, iter(self.lanes if leaves is None else leaves))


@final
class AtNode(Evaluator):
    """The evaluator of the body of a fold at one node."""

    def primitive(self, op: AnyMap, value: Value, name: str = "") -> Value:
        """op(v); raises TermError `tag` where v is of all trees."""
        if any(isinstance(leaf, Lane) for leaf in flat(value)):
            raise TermError("tag", "forest(f, trees): the results of one fold are used at the nodes of another")
        return super().primitive(op, value, name)


@final
@frozen(eq=False)
class Algebra:
    """The body of a fold at a node of one class: traced once, and lifted over the nodes of each level."""

    body: Body
    shape: DiscreteShape

    def over(self, b: Builder, X: Index, given: list[Lane]) -> list[Lane]:
        """The results at all nodes of a level."""
        slots = [slot for lane in given for slot in lane.of.slots]
        varies = [True] * len(slots) + [False] * len(self.body.captured)
        around = b.place
        found, up = lifted_line(b, self.body.line, (X,), [*slots, *self.body.captured], varies)
        b.place = around
        made = iter([slot if moves else b.rep(slot, (X,)) for slot, moves in zip(found, up, strict=True)])
        return [Lane(Expr(b, Copower(V, X), tuple(islice(made, len(V.leaves)))), V) for V in self.body.spaces]


def algebra(b: Builder, branch: Branch, shape: DiscreteShape, columns: list[Column], env: dict[int, Value]) -> Algebra:
    """A branch of a fold, traced for nodes of one shape. Raises TermError for results without vectors."""
    given = [lane.space for column in columns for lane in column.lanes]
    form: list[DiscreteShape] = []

    def body(*leaves: Any) -> Any:
        some = iter(leaves)
        inner = dict(env)
        parts = [column.value(some) for column in columns]
        bind(branch.pattern, filled(shape, iter(parts)), inner)
        value = driven(AtNode(STEPS).value(branch.body, inner))
        if isinstance(value, (Closure, Native)):
            message = "the results at the nodes are vectors, and these are functions: take one tree at a time"
            raise TermError("type", f"forest(f, trees): {message}")
        found, made = shape_of(value)
        if not made:
            raise TermError("shape", "forest(f, trees): the results at the nodes are vectors")
        form.append(found)
        return tuple(const(v) if isinstance(v, Vec) else v for v in made)

    return Algebra(traced(b, "forest", body, given), form[0])


@lru_cache(maxsize=1024)
def numbered(n: int) -> Index:
    """The index set of n nodes, the same for the groups of this size."""
    return Fin.of(n)


def _stacked(b: Builder, table: Table, X: Index) -> Column:
    """Vectors of one space, one at each node."""
    lane = literal(b, Vec(Copower(table.space, X), table.arrays))
    return Column(DiscreteShape(table.space), [Lane(lane, table.space)])


@final
class Pool:
    """The results that are still to be read: an expression of V^n for each leaf of a result."""

    def __init__(self, b: Builder, levels: Levels, leaves: list[Column]) -> None:
        self.b, self.is_leaf = b, levels.is_leaf
        self.place = np.empty(levels.count, np.int64)
        """The place of each node among the sources of the present level."""
        self.held: list[tuple[Ints, Column]] = []
        self.shape: DiscreteShape | None = None
        self.all = numbered(levels.places)
        parts = [
            self._put(self._gathered(self._checked(one), some.numbers, len(some.group.nodes)), some.places, self.all)
            for some, one in zip(levels.leaves, leaves, strict=True)
        ]
        self.leaves = self._sum(parts)
        """The results at leaves, where levels read them, one level after the other; 0 elsewhere."""
        self.start = 0

    def read(self, level: Level) -> list[Column]:
        """The results at the nodes of each column: parts of one table, in which each of the sources stands once."""
        sources = numbered(len(level.sources))
        self.place[level.sources] = np.arange(len(level.sources))
        parts = [self._put(column, self.place[nodes], sources) for nodes, column in self.held]
        if self.is_leaf[level.sources[: level.read]].any():
            leaves = self._part(self.leaves, self.start, numbered(level.read))
            parts.append(self._put(leaves, np.arange(level.read), sources))
        self.start += level.read
        wanted = [*level.columns, level.kept] if level.kept.size else [*level.columns]
        results, n = self._sum(parts), sum(map(len, wanted))
        if n > len(level.sources):  # some are read several times
            results = self._gathered(results, self.place[np.concatenate(wanted)], len(level.sources))
        start, found = 0, list[Column]()
        for nodes in wanted:
            found.append(self._part(results, start, numbered(len(nodes))))
            start += len(nodes)
        self.held = [(level.kept, found.pop())] if level.kept.size else []
        return found

    def add(self, nodes: Ints, made: Column) -> None:
        """Hold the results at a group; raises TermError for those of another shape than others."""
        self.held.append((nodes, self._checked(made)))

    def _checked(self, made: Column) -> Column:
        if self.shape is not None and made.shape is not self.shape and made.shape != self.shape:
            raise TermError("shape", "forest(f, trees): the results at all nodes must have one shape")
        self.shape = made.shape
        return made

    def _put(self, column: Column, places: Ints, Y: Index) -> Column:
        """The values at different places, 0 elsewhere."""
        X, n, start = numbered(len(places)), len(places), int(places[0])
        if places[-1] == start + n - 1 and (places == np.arange(start, start + n)).all():
            return column if X == Y else self._mapped(column, Inclusion(X, Y, start), Y)
        return self._mapped(column, Graph(X, Y, table(places)), Y)

    def _gathered(self, column: Column, places: Ints, n: int) -> Column:
        """The values that stand at places, of n."""
        if len(places) == n and (places == np.arange(n)).all():
            return column
        X = numbered(len(places))
        return self._mapped(column, Converse(Graph(X, numbered(n), table(places))), X)

    def _part(self, column: Column, start: int, X: Index) -> Column:
        """The values from a place on."""
        Y = column.lanes[0].of.space.index
        return column if X == Y else self._mapped(column, Converse(Inclusion(X, Y, start)), X)

    def _sum(self, some: list[Column]) -> Column:
        """The sum at each element."""
        lanes = list(some[0].lanes)
        for column in some[1:]:
            for k, (one, other) in enumerate(zip(lanes, column.lanes, strict=True)):
                slots = tuple(map(self.b.add, one.of.slots, other.of.slots))
                lanes[k] = Lane(Expr(self.b, one.of.space, slots), one.space)
        return Column(some[0].shape, lanes)

    def _mapped(self, column: Column, relation: AnyRelation, X: Index) -> Column:
        """The values at the elements of X that a relation sums over."""
        step = Reduce(relation, 0)
        lanes = [
            Lane(Expr(self.b, Copower(lane.space, X), tuple(self.b.apply(step, k) for k in lane.of.slots)), lane.space)
            for lane in column.lanes
        ]
        return Column(column.shape, lanes)
