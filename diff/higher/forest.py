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

from diff.expr import Expr, const
from diff.higher.errors import TermError
from diff.higher.evaluate import STEPS, bind, chosen
from diff.higher.functions import AnyTermFunction, TermFunction
from diff.higher.kinds import Data, Itself, Sequence, to_core
from diff.higher.lanes import Lane, LaneEvaluator, spread
from diff.higher.terms import Case, Fold, If
from diff.higher.values import DiscreteShape, filled, nested, shape_of
from diff.trace import fun
from hilbert import Copower, Fin, Index, R, SpaceError, Type, Vec
from hilbert.errors import shown
from hilbert.term import driven
from linmap import concatenate, gather

if TYPE_CHECKING:
    from collections.abc import Iterable

    from diff.higher.binding import Pass
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
class Group:
    """The nodes of one height, class and shape: their children and what else is in them, field by field."""

    def __init__(self, label: str, shape: DiscreteShape) -> None:
        self.label, self.shape = label, shape
        self.nodes: list[int] = []
        self.columns: list[list[Any]] = []
        """For each leaf of the shape the nodes' children, by number, or vectors."""


@final
class Levels:
    """Trees as groups of nodes, lower ones first; a node that is shared is there once."""

    def __init__(self, kind: Data[Any], trees: list[Any]) -> None:
        if not trees:
            raise TermError("shape", "forest(f, trees) takes one tree at least")
        self.kind = kind
        numbers: dict[int, int] = {}
        nodes: list[Any] = []
        fields = {cls: [(_name(cls, k), of) for k, (_, of) in enumerate(some)] for cls, some in _fields(kind)}
        inner = {cls: [(name, type(of) is Itself) for name, of in some if _recurs(of)] for cls, some in fields.items()}
        stack, shared = list(reversed(trees)), False
        while stack:
            node = stack.pop()
            if id(node) in numbers:
                shared = True
                continue
            some = inner.get(type(node))
            if some is None:
                raise TermError("type", f"{shown(node)} where a value of {kind} is due")
            numbers[id(node)] = len(nodes)
            nodes.append(node)
            for name, single in some:
                if single:
                    stack.append(getattr(node, name))
                else:
                    stack.extend(getattr(node, name))
        order = _children_first(nodes, inner, numbers) if shared else range(len(nodes) - 1, -1, -1)
        self.roots = Fin.of(len(trees))
        self.tops = [numbers[id(tree)] for tree in trees]
        heights = [0] * len(nodes)
        groups: dict[Any, Group] = {}
        for k in order:
            node = nodes[k]
            height, parts, leaves = _row(node, fields[type(node)], numbers, heights)
            heights[k] = height
            key = (height, type(node), parts)
            group = groups.get(key)
            if group is None:
                group = groups[key] = Group(type(node).__name__, _shape(parts))
                group.columns = [[] for _ in leaves]
            group.nodes.append(k)
            for column, leaf in zip(group.columns, leaves, strict=True):
                column.append(leaf)
        self.groups = [groups[key] for key in sorted(groups, key=lambda key: key[0])]
        self.last = _last_uses(self.groups, self.tops, len(nodes))


def _fields(kind: Data[Any]) -> Iterable[tuple[type[Any], Any]]:
    return zip(kind.classes, kind.fields, strict=True)


def _name(cls: type[Any], k: int) -> str:
    """The attribute of field k."""
    name: str = [f.name for f in cls.__attrs_attrs__ if f.init][k]
    return name


def _recurs(kind: Any) -> bool:
    return type(kind) is Itself or (type(kind) is Sequence and type(kind.of) is Itself)


def _children_first(nodes: list[Any], inner: dict[type[Any], Any], numbers: dict[int, int]) -> list[int]:
    """The numbers of the nodes, those of children first, each once."""
    order: list[int] = []
    state = bytearray(len(nodes))  # 0 unseen, 1 open, 2 done
    for top in range(len(nodes)):
        stack = [top]
        while stack:
            k = stack[-1]
            if state[k]:
                stack.pop()
                if state[k] == 1:
                    state[k] = 2
                    order.append(k)
                continue
            state[k] = 1
            for name, single in inner[type(nodes[k])]:
                value = getattr(nodes[k], name)
                stack.extend(numbers[id(one)] for one in ((value,) if single else value))
    return order


def _row(node: Any, fields: Any, numbers: dict[int, int], heights: list[int]) -> tuple[int, Any, list[Any]]:
    """A node's height, what is discrete of its fields, and their leaves: numbers of children, or vectors."""
    height = 0
    parts: list[Any] = []
    leaves: list[Any] = []
    for name, of in fields:
        value = getattr(node, name)
        if type(of) is Itself:
            child = numbers[id(value)]
            height = max(height, heights[child] + 1)
            parts.append(None)
            leaves.append(child)
        elif _recurs(of):
            children = [numbers[id(one)] for one in value]
            height = max([height, *(heights[child] + 1 for child in children)])
            parts.append(len(children))
            leaves += children
        elif isinstance(of, Type) and len(of.leaves) == 1:
            if not isinstance(value, (Expr, Vec)):
                raise TermError("type", f"{shown(value)} where a vector of {of} is due")
            if value.space is not of and value.space != of:
                raise TermError("shape", f"a vector of {value.space} where one of {of} is due")
            parts.append(of)
            leaves.append(value)
        else:
            shape, found = shape_of(to_core(of, value))
            parts.append(shape)
            leaves += found
    return height, tuple(parts), leaves


LEAF = DiscreteShape(R)
"""The shape of a child's result, whatever its space is: a leaf."""


def _shape(parts: tuple[Any, ...]) -> DiscreteShape:
    """What is discrete of a payload, a child being a leaf."""
    made = []
    for part in parts:
        if part is None:
            made.append(LEAF)
        elif isinstance(part, int):
            some = DiscreteShape(("tag", "Nil"), (DiscreteShape("tuple"),))
            for _ in range(part):
                some = DiscreteShape(("tag", "Cons"), (DiscreteShape("tuple", (LEAF, some)),))
            made.append(some)
        else:
            made.append(DiscreteShape(part) if isinstance(part, Type) else part)
    return made[0] if len(made) == 1 else DiscreteShape("tuple", tuple(made))


def _last_uses(groups: list[Group], tops: list[int], count: int) -> list[int]:
    """For each node the last group that it is a child in; beyond all for a tree."""
    last = [-1] * count
    for g, group in enumerate(groups):
        for column in group.columns:
            for leaf in column:
                if type(leaf) is int:
                    last[leaf] = g
    for top in tops:
        last[top] = len(groups)
    return last


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
        pool = Pool()
        for g, group in enumerate(levels.groups):
            X: Index = Fin.of(len(group.nodes))
            leaves = [pool.at(column, X) if type(column[0]) is int else _stacked(column, X) for column in group.columns]
            branch = chosen(term.branches, group.label)
            inner, self.X = dict(env), X
            bind(branch.pattern, filled(group.shape, iter(leaves)), inner)
            result = yield self.value(branch.body, inner)
            pool.add(group.nodes, result, X, [k for k in pool.numbers if levels.last[k] > g])
        self.X = levels.roots
        return pool.at(levels.tops, self.X)


def _stacked(column: list[Any], X: Index) -> Value:
    """Vectors of one space as a lane."""
    space = column[0].space
    arrays = tuple(np.stack([v.leaves[k] for v in column]) for k in range(len(space.leaves)))
    return Lane(const(Vec(Copower(space, X), arrays)), space)


@final
class Pool:
    """The results at nodes that are still needed: an expression of V^n for each leaf of a result."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.shape: DiscreteShape | None = None
        self.leaves: list[Lane] = []

    def at(self, nodes: list[int], X: Index) -> Value:
        """The results at some nodes, as lanes over X."""
        assert self.shape is not None  # lower levels come first
        where = {k: at for at, k in enumerate(self.numbers)}
        positions = [where[k] for k in nodes]
        return filled(self.shape, iter([_gathered(leaf, positions, X) for leaf in self.leaves]))

    def add(self, nodes: list[int], result: Value, X: Index, kept: list[int]) -> None:
        """Put the results of a level beside those that are kept; raises TermError for those of another shape."""
        shape, found = shape_of(result)
        new = [Lane(spread(leaf, X), leaf.space) for leaf in found]
        if self.shape is not None and shape != self.shape:
            raise TermError("shape", "forest(f, trees): the results at all nodes must have one shape")
        if kept:
            where = {k: at for at, k in enumerate(self.numbers)}
            Y: Index = Fin.of(len(kept))
            old = [_gathered(leaf, [where[k] for k in kept], Y) for leaf in self.leaves]
            new = [_beside(a, b, Y, X) for a, b in zip(old, new, strict=True)]
        self.shape, self.leaves, self.numbers = shape, new, [*kept, *nodes]


def _gathered(leaf: Lane, positions: list[int], X: Index) -> Lane:
    index = leaf.of.space.index
    if positions == list(range(index.size)):
        return leaf
    made: Any = gather(positions, index, leaf.space, rows=X)
    return Lane(made(leaf.of), leaf.space)


def _beside(a: Lane, b: Lane, X: Index, Y: Index) -> Lane:
    made: Any = concatenate(X, Y, V=a.space, to=Fin.of(X.size + Y.size))
    return Lane(made(a.of, b.of), a.space)
