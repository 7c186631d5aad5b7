"""Evaluation of a term for many values at once: a leaf may be a *lane*, one vector for each element of an index set.

Maps are lifted: what they are given of one value only is shared. Tags and lengths are the same in all lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from diff.lam.run.evaluate import Evaluator
from diff.lam.run.folding import selected
from diff.lam.term.lam_values import flat, flattened
from diff.lam.term.terms import If
from diff.terms.lift import lift
from diff.terms.lower import program
from diff.trace.expr import Expr, const
from diff.trace.trace import fun
from hilbert import Bool, DirectSum, Index, Type, Vec
from hilbert.base.once import once
from linmap import rep

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass
    from diff.lam.term.lam_values import Value
    from diff.lam.term.terms import Case, Fold
    from diff.terms.program import AnyProgram
    from hilbert.map.map import AnyMap


@final
@frozen(eq=False)
class Lane:
    """An element of V for each element of X, as an expression of V^X."""

    of: Expr[Any]
    space: Type
    """V."""


def spread(leaf: Any, X: Index) -> Expr[Any]:
    """A leaf in V^X, one that is no lane the same for each x."""
    if isinstance(leaf, Lane):
        return leaf.of
    expr = const(leaf) if isinstance(leaf, Vec) else leaf
    made: Expr[Any] = rep(X, leaf.space)(expr)
    return made


class LaneEvaluator(Evaluator):
    """The evaluator for lanes over one index set."""

    def __init__(self, steps: int, X: Index) -> None:
        super().__init__(steps)
        self.X = X

    def primitive(self, op: AnyMap, value: Value, name: str = "") -> Value:
        """op^X of lanes; leaves that are no lanes are shared by all."""
        leaves = flat(value)
        over = tuple(k for k, leaf in enumerate(leaves) if isinstance(leaf, Lane))
        if not over:
            return super().primitive(op, value, name)
        whole = [leaf.of if isinstance(leaf, Lane) else leaf for leaf in leaves]
        return nested_lanes(op.cod, _lifted(program(flattened(op)), self.X, over)(*whole))

    def undecided(self, condition: Value, term: If | Case | Fold, env: dict[int, Value]) -> Pass:
        """A condition that each lane decides: both branches, of which the entries are selected."""
        assert isinstance(term, If), "the tags of values are known"
        if not isinstance(condition, Lane):
            return (yield super().undecided(condition, term, env))
        return (yield self.either(term, env, lambda x, y: self.primitive(_chosen(x.space), (condition, x, y))))


def nested_lanes(space: Type, value: Expr[Any]) -> Value:
    """An expression of V^X, or of the direct sum of such, as nested tuples of lanes of the parts of V."""
    if not isinstance(space, DirectSum):
        return Lane(value, space)
    return tuple(nested_lanes(part, one) for part, one in zip(space.parts, value.split(), strict=True))


@once
def _lifted(p: AnyProgram, X: Index, over: tuple[int, ...]) -> AnyMap:
    made: AnyMap = lift(p, X, over=over) if isinstance(p.dom, DirectSum) else p**X
    return made


def _chosen(V: Type) -> AnyMap:
    """(c, v, w) ↦ v where c holds, else w."""

    def body(c: Any, v: Any, w: Any) -> Any:
        return selected(c, v, w)

    made: AnyMap = fun(Bool, V, V)(body)
    return made
