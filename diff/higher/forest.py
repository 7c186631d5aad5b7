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

The results of a level are put beside those of lower ones that are still needed; children are gathered by fixed tables,
so that the adjoint is a sum by segments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from diff.expr import const
from diff.higher.errors import TermError
from diff.higher.evaluate import STEPS, bind, chosen
from diff.higher.functions import AnyTermFunction, TermFunction
from diff.higher.kinds import Data
from diff.higher.lanes import Lane, LaneEvaluator, spread
from diff.higher.levels import Levels
from diff.higher.terms import Case, Fold, If
from diff.higher.values import DiscreteShape, filled, nested, shape_of
from diff.trace import fun
from hilbert import Copower, Fin, Index, SpaceError, Type, Vec
from hilbert.arrays.namespace import freeze
from hilbert.errors import shown
from hilbert.term import driven
from linmap import concatenate, gather

if TYPE_CHECKING:
    from collections.abc import Iterable

    from diff.higher.binding import Pass
    from diff.higher.levels import Ints
    from diff.higher.values import Value
    from hilbert.map import AnyMap


def forest(f: AnyTermFunction, trees: Iterable[Any]) -> AnyMap:
    """forest(f, trees) : params → W^N, the results of f at N trees, which are its last argument.

    The arguments before are its domain. Raises TermError for a function without data, or whose other arguments are no
    vectors; `tag` for one that does more with the trees than one fold.
    """
    if not isinstance(f, TermFunction) or not isinstance(f.kinds[-1], Data):
        raise TermError("type", f"forest(f, trees) takes a function on data, its last argument, not {shown(f)}")
    spaces: Any = f.kinds[:-1]
    if not spaces or not all(isinstance(kind, Type) for kind in spaces):
        raise TermError("type", f"forest({f.name}, trees): what stands before the trees are vectors")
    if not hasattr(trees, "__iter__"):
        raise TermError("type", f"forest({f.name}, trees) takes several trees, [tree] for one, not {shown(trees)}")
    levels = Levels(f.kinds[-1], list(trees))
    if not isinstance(f.result, Type):
        raise TermError("type", f"forest({f.name}, trees): the results are vectors of one space")

    def body(*params: Any) -> Any:
        evaluator = ForestEvaluator(levels)
        function = driven(evaluator.value(f.term, {}))
        args = (*(nested(kind, one) for kind, one in zip(spaces, params, strict=True)), levels)
        (leaf, *more) = shape_of(driven(evaluator.call(function, args)))[1]
        if more:
            raise TermError(
                "type", f"forest({f.name}, trees): the results are vectors of one space, and no direct sums"
            )
        return spread(leaf, levels.roots)

    try:
        made: AnyMap = fun(*spaces)(body)
    except SpaceError as error:
        if isinstance(error.__cause__, TermError):  # it is about the trees, and no line of the user
            raise error.__cause__ from None
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
        return (yield self._levels(condition, term, env))

    def _levels(self, levels: Levels, term: Fold, env: dict[int, Value]) -> Pass:
        pool = Pool(levels.last)
        for g, group in enumerate(levels.groups):
            X: Index = Fin.of(len(group.nodes))
            leaves = [_stacked(one, X) if isinstance(one, tuple) else pool.at(one, X) for one in group.columns]
            branch = chosen(term.branches, group.label)
            inner, self.X = dict(env), X
            bind(branch.pattern, filled(group.shape, iter(leaves)), inner)
            result = yield self.value(branch.body, inner)
            pool.add(g, group.nodes, result, X)
        self.X = levels.roots
        return pool.at(levels.tops, self.X)


def _stacked(column: tuple[Vec[Any], ...], X: Index) -> Value:
    """Vectors of one space as a lane."""
    space = column[0].space
    arrays = tuple(_beneath([v.leaves[k] for v in column]) for k in range(len(space.leaves)))
    return Lane(const(Vec(Copower(space, X), arrays)), space)


def _beneath(arrays: list[Any]) -> Any:
    """np.stack, of which this is the quick way."""
    shape = arrays[0].shape
    return freeze(np.concatenate(arrays).reshape(len(arrays), *shape) if shape else np.array(arrays))


@final
class Pool:
    """The results at nodes that are still needed: an expression of V^n for each leaf of a result."""

    def __init__(self, last: Ints) -> None:
        self.last = last
        self.numbers = np.empty(0, np.int64)
        self.places = np.empty(len(last), np.int64)
        """Where the result at a node is."""
        self.shape: DiscreteShape | None = None
        self.leaves: list[Lane] = []

    def at(self, nodes: Ints, X: Index) -> Value:
        """The results at some nodes, as lanes over X."""
        assert self.shape is not None  # lower levels come first
        positions = self.places[nodes]
        return filled(self.shape, iter([_gathered(leaf, positions, X) for leaf in self.leaves]))

    def add(self, g: int, nodes: Ints, result: Value, X: Index) -> None:
        """Put the results at group g beside those needed later; raises TermError for those of another shape."""
        shape, found = shape_of(result)
        new = [Lane(spread(leaf, X), leaf.space) for leaf in found]
        if self.shape is not None and shape != self.shape:
            raise TermError("shape", "forest(f, trees): the results at all nodes must have one shape")
        kept = self.numbers[self.last[self.numbers] > g]
        if kept.size:
            Y: Index = Fin.of(len(kept))
            old = [_gathered(leaf, self.places[kept], Y) for leaf in self.leaves]
            new = [_beside(a, b, Y, X) for a, b in zip(old, new, strict=True)]
        self.shape, self.leaves, self.numbers = shape, new, np.concatenate([kept, nodes])
        self.places[self.numbers] = np.arange(len(self.numbers))


def _gathered(leaf: Lane, positions: Ints, X: Index) -> Lane:
    index = leaf.of.space.index
    if len(positions) == index.size and (positions[:-1] < positions[1:]).all():
        return leaf
    made: Any = gather(positions, index, leaf.space, rows=X)
    return Lane(made(leaf.of), leaf.space)


def _beside(a: Lane, b: Lane, X: Index, Y: Index) -> Lane:
    made: Any = concatenate(X, Y, V=a.space, to=Fin.of(X.size + Y.size))
    return Lane(made(a.of, b.of), a.space)
