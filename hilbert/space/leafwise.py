"""Leaf by leaf: the paths of a vector's arrays, a function of each of them, initial values (paper §2.2).

>>> from hilbert import Fin, Part, R, Record, Vector, direct_sum
>>> class Unit: ...
>>> class Layer(Record):
...     bias: Part[Vector[Unit]]
>>> P = direct_sum(Layer(bias=R ** Fin(Unit, 2)), R)
>>> print(leaf_spaces(P))
(('0.bias', R ** Fin(Unit, 2)), ('1', R))
>>> print(P.ones().map_leaves(lambda path, v: 2 * v if path.endswith("bias") else v))
((bias: [2.0, 2.0]), 1.0) ∈ Layer(bias: ℝ^Unit2) ⊕ ℝ
"""

from __future__ import annotations

import math
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from hilbert.base.arity import require_taken
from hilbert.base.once import once
from hilbert.base.term import bottom_up
from hilbert.errors import SpaceError, shown
from hilbert.space.space import Copower, Type, require_type, type_of
from hilbert.space.vector import Vec

if TYPE_CHECKING:
    from collections.abc import Callable

V = TypeVar("V", bound=Type)
Rule: TypeAlias = "Callable[[str, Type, np.random.Generator], Any]"  # a text, so that numpy.random is not imported here
"""A function of a leaf's path, space and random numbers that gives the initial value: a vector or an array."""


@once
def leaf_spaces(space: Type) -> tuple[tuple[str, Type], ...]:
    """The path of each leaf, names and positions with dots between, and the space of the leaf alone.

    The leaves of V^X are in the copowers of those of V; the one leaf of a space that is no sum has the path "".
    """
    found: tuple[tuple[str, Type], ...] = bottom_up(space, _leaf_spaces, _below)
    return found


def _below(space: Any) -> list[Any]:
    if space.is_sum:
        return list(space.parts)
    return [space.base] if isinstance(space, Copower) else []


def _leaf_spaces(space: Any, rec: Callable[[Any], Any]) -> tuple[tuple[str, Any], ...]:
    if space.is_sum:
        names = space._part_names or map(str, range(len(space.parts)))
        pairs = zip(names, space.parts, strict=True)
        return tuple((f"{name}.{path}" if path else name, at) for name, part in pairs for path, at in rec(part))
    if isinstance(space, Copower):
        return tuple((path, Copower(at, space.index)) for path, at in rec(space.base))
    if len(space.leaves) == 1:
        return (("", space),)
    return tuple((str(k), type_of(leaf)) for k, leaf in enumerate(space.leaves))  # of V ⊗ W, or none


def require_leaf(path: str, space: Type, made: Any) -> Any:
    """The result of a function on a leaf; raises SpaceError unless it is a vector of the leaf's space."""
    if getattr(made, "space", None) != space:
        msg = f"map_leaves(f): f({path!r}, v) is {shown(made)}, where one of {space}, the space of v, is due"
        raise SpaceError(msg)
    return made


def require_of_leaves(f: Any, of: str) -> None:
    """Raise SpaceError unless f is a function of a path and a leaf, for `map_leaves`."""
    if not callable(f):
        msg = f"map_leaves(f) of {of} takes a function of path and leaf, not {shown(f)}"
        raise SpaceError(msg)
    require_taken("the function of map_leaves(f)", f, ["path", "v"])


def map_leaves(v: Vec[Any], f: Callable[[str, Vec[Any]], Vec[Any]]) -> Vec[Any]:
    """f(path, leaf) in place of each leaf."""
    require_of_leaves(f, shown(v))
    leaves: list[Any] = []
    for (path, space), leaf in zip(leaf_spaces(v.space), v.dense().leaves, strict=True):
        made = f(path, Vec(space, (leaf,)))
        if not isinstance(made, Vec):
            msg = f"map_leaves(f) of {shown(v)}: f({path!r}, v) is {shown(made)}, where a vector of {space} is due"
            raise SpaceError(msg)
        leaves += require_leaf(path, space, made).leaves
    return Vec(v.space, tuple(leaves))


def moved(v: Vec[Any], by: Vec[Any]) -> Vec[Any]:
    """The reals of v and by added, in v's space; discrete parts stay."""
    tangents = v.space.tangent
    if not isinstance(by, Vec) or by.space != tangents:
        msg = f"v.moved(t) takes a tangent of v, which is in {v.space}: a vector of {tangents}, not {shown(by)}"
        raise SpaceError(msg)
    is_real = [leaf.is_field for leaf in v.space.leaves]
    after = iter((Vec(tangents, tuple(compress(v.leaves, is_real))) + by).leaves)
    return Vec(v.space, tuple(next(after) if real else leaf for real, leaf in zip(is_real, v.leaves, strict=True)))


def initial(space: V, rng: np.random.Generator, rule: Rule | None = None) -> Vec[V]:
    """The element of V whose leaves a rule draws, `fan_in` if none is given: rule(path, space of the leaf, rng).

    Raises SpaceError where the result of a rule does not fit.
    """
    if not isinstance(space, Type) or not isinstance(rng, np.random.Generator):
        got = shown(rng if isinstance(space, Type) else space)
        msg = f"initial(V, rng) takes a space and numpy.random.default_rng(seed), not {got}"
        raise SpaceError(msg)
    if rule is not None and not callable(rule):
        msg = f"the rule of initial(V, rng, rule) is a function of path, space and rng, not {shown(rule)}"
        raise SpaceError(msg)
    if rule is not None:
        require_taken("the rule of initial(V, rng, rule)", rule, ["path", "space", "rng"])
    draw = fan_in if rule is None else rule
    leaves: list[Any] = []
    for path, at in leaf_spaces(space):
        try:
            leaves += at.vec(draw(path, at, rng)).leaves
        except SpaceError as error:
            msg = f"initial(V, rng), the leaf {path or 'of V'}: {error}"
            raise SpaceError(msg) from error
    return Vec(space, tuple(leaves))


def fan_in(_path: str, space: Type, rng: np.random.Generator) -> Vec[Any]:
    """The usual rule: 0 for a scalar or a vector; for a matrix, normal entries of variance 1/n.

    n is the size of its last axis, over which a product with a vector adds. Of V^X all components are drawn by the rule
    for V, so that a stack of layers is drawn like its layers. Raises SpaceError for a discrete leaf.
    """
    require_type(space, "fan_in")
    one = space
    while isinstance(one, Copower) and isinstance(one.base, Copower):
        one = one.base
    if len(space.leaves) != 1:
        msg = f"fan_in draws one array, and {space} has {len(space.leaves)}: initial(V, rng) asks it for each of them"
        raise SpaceError(msg)
    axes = one.leaves[0].axes
    if not space.is_space:
        msg = f"no initial value is drawn for the discrete leaf {space}: give a rule, as in initial(V, rng, rule)"
        raise SpaceError(msg)
    if len(axes) < 2:
        return space.zeros()
    return space.random(rng, scale=1.0 / math.sqrt(max(axes[-1].size, 1)))
