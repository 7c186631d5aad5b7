"""Values: vectors (or whatever maps apply to), integers, tuples, constructors with a payload, and functions.

What is discrete of a value is its *shape*: tags, lengths, integers. What is real are its leaves, from left to right.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from diff.lam.term.binding import Pass, each
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import Lam, pattern_type
from diff.terms.elementwise import Elementwise
from diff.terms.lower import program
from diff.terms.program import Program
from diff.trace.expr import Expr, literal
from hilbert import Copower, DirectSum, Fin, Type, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.attach import declared
from hilbert.base.notarray import Applicable
from hilbert.base.once import once
from hilbert.base.term import Term, driven
from hilbert.displayed import Displayed
from hilbert.errors import shown
from hilbert.map.map import AnyMap, OnLeaves, runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from diff.lam.term.types import Ty


@final
@frozen(eq=False, repr=False)
class Tagged(Displayed):
    """ℓ v."""

    label: str
    payload: Value

    @declared
    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self)


@final
@frozen(eq=False)
class Closure:
    """A λ with the values of its free variables, by number."""

    lam: Lam
    values: dict[int, Any] = field(repr=False)

    @property
    def takes(self) -> Ty:
        """The type of the argument."""
        return pattern_type(self.lam.pattern)


@final
@frozen(eq=False)
class Native:
    """A function that is a pass; `of` are the values that it has from elsewhere, `takes` its domain, if known."""

    run: Callable[[Any], Pass]
    of: tuple[Any, ...] = field(default=(), repr=False)
    takes: Ty | None = field(default=None, repr=False)


@final
@frozen(eq=False)
class Stack:
    """A list whose elements have one shape: each leaf has those of all elements, an element of V^n."""

    size: int
    element: Value


Value: TypeAlias = Any
"""A vector, an expression, an integer, a tuple of values, Tagged, Closure, Native or Stack."""
ValueForm: TypeAlias = Vec[Any] | Applicable | int | tuple[Any, ...] | Tagged | Closure | Native | Stack
"""The same as a closed union, for a `match`."""


# --- shape and leaves ---


@final
@frozen(repr=False)
class DiscreteShape(Term):
    """The discrete part of a value as a term, so that it is compared and hashed without recursion: a node and parts.

    `kind` is a space for a leaf, an integer, a label, or the word tuple.
    """

    kind: Any
    parts: tuple[DiscreteShape, ...] = ()

    __eq__ = Term.__eq__
    __hash__ = Term.__hash__


MOST = 1_000_000
"""The vectors in a value, one that stands in several places counted in each."""


def is_ground(value: Value) -> bool:
    """Tell if a value is a leaf that maps apply to."""
    return isinstance(value, (Vec, Applicable))


def shape_of(value: Value) -> tuple[DiscreteShape, list[Any]]:
    """A value's shape and its leaves; raises TermError `type` where a function is in it."""
    leaves: list[Any] = []
    shape: DiscreteShape = driven(_shape(value, leaves, has_functions=False))
    return shape, leaves


def signature(value: Value) -> DiscreteShape:
    """The discrete part of a value; of a function its term and the discrete parts of the values in it.

    Any other value without a space is what it is.
    """
    shape: DiscreteShape = driven(_shape(value, [], has_functions=True))
    return shape


def _shape(value: Value, leaves: list[Any], *, has_functions: bool) -> Pass:
    def inner(part: Value) -> Pass:
        return _shape(part, leaves, has_functions=has_functions)

    match value:
        case tuple():
            parts = yield each(inner, value)
            return DiscreteShape("tuple", tuple(parts))
        case Tagged(label, payload):
            part = yield inner(payload)
            return DiscreteShape(("tag", label), (part,))
        case Stack(size, element):
            part = yield inner(element)
            return DiscreteShape(("stack", size), (part,))
        case int():
            return DiscreteShape(value)
        case Closure(lam, values) if has_functions:
            parts = yield each(inner, values.values())
            return DiscreteShape(lam, tuple(parts))
        case Native() if has_functions:
            return DiscreteShape(value)
        case _ if has_functions and not hasattr(value, "space"):
            return DiscreteShape(("value", id(value)))
        case Closure() | Native():
            message = "a function has no leaves: apply it until a value without functions is reached"
            raise TermError("type", message)
        case _:  # a leaf: whatever maps apply to, and what a reducer has for one
            leaves.append(value)
            if len(leaves) > MOST:
                raise TermError("limit", f"a value of more than {MOST} vectors")
            return DiscreteShape(value.space)


def spaces_of(shape: DiscreteShape) -> list[Type]:
    """The spaces of the leaves."""
    spaces: list[Type] = []
    stack = [shape]
    while stack:
        node = stack.pop()
        if isinstance(node.kind, Type):
            spaces.append(node.kind)
        stack.extend(reversed(node.parts))
    return spaces


def filled(shape: DiscreteShape, leaves: Iterator[Any]) -> Value:
    """The value of a shape with these leaves."""
    return driven(_filled(shape, leaves))


def _filled(shape: DiscreteShape, leaves: Iterator[Any]) -> Pass:
    kind = shape.kind
    if isinstance(kind, Type):
        return next(leaves)
    if isinstance(kind, int):
        return kind
    parts = yield each(lambda part: _filled(part, leaves), shape.parts)
    if kind == "tuple":
        return tuple(parts)
    return Stack(kind[1], parts[0]) if kind[0] == "stack" else Tagged(kind[1], parts[0])


# --- lists whose elements have one shape ---


def stacked(value: Value) -> Value:
    """The value with a stack for each list of two elements or more that are vectors of one shape."""
    return driven(_stacked(value))


def _stacked(value: Value) -> Pass:
    match value:
        case tuple():
            parts = yield each(_stacked, value)
            return tuple(parts)
        case Tagged("Cons"):
            items, end = [], value
            while isinstance(end, Tagged) and end.label == "Cons":
                items.append(end.payload[0])
                end = end.payload[1]
            stack = _stack(items) if isinstance(end, Tagged) and end.label == "Nil" else None
            if stack is not None:
                return stack
            items = yield each(_stacked, items)
            for item in reversed(items):
                end = Tagged("Cons", (item, end))
            return end
        case Tagged(label, payload):
            part = yield _stacked(payload)
            return Tagged(label, part)
        case _:  # the one question is where lists are; leaves, integers and functions hold none
            return value


def _stack(items: list[Value]) -> Stack | None:
    """Elements as one, each leaf with those of all; None where they have no leaves, or several shapes."""
    flats = [flat(item) for item in items]
    if len(items) < 2 or any(type(v) is not Vec for some in flats for v in some):
        return None
    spaces = [[v.space for v in some] for some in flats]
    if not spaces[0] or any(some != spaces[0] for some in spaces):
        return None
    X = Fin.of(len(items))
    leaves = []
    for k, space in enumerate(spaces[0]):
        arrays = [np.stack([some[k].leaves[i] for some in flats]) for i in range(len(space.leaves))]
        leaves.append(Vec(Copower(space, X), tuple(arrays)))
    return Stack(len(items), _refilled(items[0], iter(leaves)))


def _refilled(value: Value, leaves: Iterator[Any]) -> Value:
    return tuple(_refilled(part, leaves) for part in value) if isinstance(value, tuple) else next(leaves)


def side_by_side(leaves: list[Any]) -> Any:
    """Elements of V^n, W^n, … as one of (V ⊕ W ⊕ …)^n."""
    if len(leaves) == 1:
        return leaves[0]
    space = Copower(DirectSum(tuple(leaf.space.base for leaf in leaves)), leaves[0].space.index)
    if all(isinstance(leaf, Vec) for leaf in leaves):
        return Vec(space, tuple(a for leaf in leaves for a in leaf.leaves))
    builder = next(leaf.builder for leaf in leaves if isinstance(leaf, Expr))
    exprs = [literal(builder, leaf) if isinstance(leaf, Vec) else leaf for leaf in leaves]
    return Expr(builder, space, tuple(slot for expr in exprs for slot in expr.slots))


def element(value: Value, k: int) -> Value:
    """Element k of a stack's value."""
    return tuple(element(part, k) for part in value) if isinstance(value, tuple) else value[k]


def opened(value: Value) -> Value:
    """The value with lists for its stacks."""
    return driven(_opened(value))


def _opened(value: Value) -> Pass:
    match value:
        case tuple():
            parts = yield each(_opened, value)
            return tuple(parts)
        case Stack(size, inner):
            end = Tagged("Nil", ())
            for k in range(size - 1, -1, -1):
                end = Tagged("Cons", (element(inner, k), end))
            return end
        case Tagged("Cons"):
            items, end = [], value
            while isinstance(end, Tagged) and end.label == "Cons":
                items.append(end.payload[0])
                end = end.payload[1]
            items = yield each(_opened, items)
            end = yield _opened(end)
            for item in reversed(items):
                end = Tagged("Cons", (item, end))
            return end
        case Tagged(label, payload):
            part = yield _opened(payload)
            return Tagged(label, part)
        case _:  # the one question is where lists are; leaves, integers and functions hold none
            return value


# --- tuples of leaves and direct sums ---


def flat(value: Value) -> list[Any]:
    """The leaves of nested tuples."""
    if not isinstance(value, tuple):
        return [value]
    if tuple not in map(type, value):
        return list(value)
    leaves: list[Any] = []
    stack = list(reversed(value))
    while stack:
        part = stack.pop()
        if type(part) is tuple:
            stack.extend(reversed(part))
        else:
            leaves.append(part)
    return leaves


def nested(space: Type, value: Value) -> Value:
    """A vector or expression of a direct sum as tuples of those of its parts."""
    if not isinstance(space, DirectSum):
        return value
    parts: tuple[Any, ...] = value.split()
    return tuple(map(nested, space.parts, parts)) if _is_deep(space) else parts


@once
def _is_deep(space: DirectSum[Any]) -> bool:
    """Tell if direct sums are among the parts of one."""
    return any(isinstance(part, DirectSum) for part in space.parts)


def shaped(space: Type, leaves: Iterator[Value]) -> Value:
    """Leaves as nested tuples of the form of a direct sum: the inverse of `flat`."""
    return tuple([shaped(part, leaves) for part in space.parts]) if isinstance(space, DirectSum) else next(leaves)


def summands(space: Type) -> tuple[Type, ...]:
    """The parts of a direct sum of direct sums, none of which is one."""
    return tuple(s for part in space.parts for s in summands(part)) if isinstance(space, DirectSum) else (space,)


@once
def flattened(op: AnyMap) -> AnyMap:
    """The map on the direct sum of the summands of its domain, which applies to as many leaves."""
    parts = summands(op.dom)
    if op.dom.parts == parts or isinstance(op, Elementwise):
        return op
    p = program(op)
    return Program(parts[0] if len(parts) == 1 else DirectSum(parts), p.cod, p.line)


def applied(op: AnyMap, value: Value) -> Value:
    """op(v), of any leaves that maps apply to; tuples stand for elements of direct sums."""
    return on_leaves(op, flat(value))


def on_leaves(op: AnyMap, leaves: Sequence[Value]) -> Value:
    """op at the element of its domain that has these leaves; vectors are not put together and taken apart."""
    spaces, run, made = _on_vectors(op)
    if len(leaves) == len(spaces):
        arrays: list[Any] = []
        for leaf, space in zip(leaves, spaces, strict=True):
            if type(leaf) is not Vec or not (leaf.space is space or leaf.space == space):
                break
            arrays += leaf.leaves
        else:
            return made(tuple(map(freeze, run(arrays))))
    return nested(op.cod, flattened(op)(*leaves))


@once
def _on_vectors(op: AnyMap) -> tuple[tuple[Type, ...], OnLeaves, Callable[[tuple[Any, ...]], Value]]:
    """The spaces of a map's leaves, what computes the arrays of its result, and what makes vectors of them."""
    cod = op.cod
    if not isinstance(cod, DirectSum):
        return summands(op.dom), runner(op), lambda arrays: Vec(cod, arrays)
    parts, is_deep = summands(cod), _is_deep(cod)
    ends = list(accumulate(len(part.leaves) for part in parts))
    places = [(part, slice(end - len(part.leaves), end)) for part, end in zip(parts, ends, strict=True)]

    def made(arrays: tuple[Any, ...]) -> Value:
        vectors = [Vec(part, arrays[place]) for part, place in places]
        return shaped(cod, iter(vectors)) if is_deep else tuple(vectors)

    return summands(op.dom), runner(op), made


def program_type(op: AnyMap, dom: Type, cod: Type) -> AnyMap:
    """A program on the leaves of a domain as one on the domain."""
    return Program(dom, cod, program(op).line)


shown.register(Closure, lambda _: "a function of terms")
shown.register(Native, lambda _: "a function of terms")
shown.register(Tagged, lambda value: f"a value {value.label} …")
