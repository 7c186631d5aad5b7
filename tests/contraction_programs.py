"""Programs of contractions: of new, shared and repeated operands, with sums, transpositions, scalings, masks, gathers.

A recipe is drawn once and traced twice: planned, and as it is written. `exact` runs a program in the longest floats.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from attrs import frozen

from diff import Expr, contract, fun, tanh
from diff.terms.elementwise import Elementwise
from hilbert import Bool, Elements, Fin, Index, R, Unit
from hilbert.index.spec import ALPHABET
from hilbert.program.line.operation import Add, Contract, Keep, Literal, Move, Reduce, Scale
from hilbert.relation import Full
from hilbert.space.space import power

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.terms.program import AnyProgram
    from hilbert import Type
Axes = tuple[Index, ...]
T = TypeVar("T")
LARGEST = 10**7
"""Entries of the largest array that a recipe makes."""


class Choices(Protocol):
    """What draws a recipe: Hypothesis, or dice."""

    def one_of(self, items: Sequence[T]) -> T:
        """One of the items."""
        ...

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high."""
        ...

    def flag(self) -> bool:
        """True or False."""
        ...

    def rng(self) -> np.random.Generator:
        """Numbers."""
        ...


class Dice:
    """Choices of a seed, for counts over many recipes."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def one_of(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.integer(0, len(items) - 1)]

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high."""
        return int(self._rng.integers(low, high + 1))

    def flag(self) -> bool:
        """True or False."""
        return bool(self.integer(0, 1))

    def rng(self) -> np.random.Generator:
        """Numbers."""
        return self._rng


def space_of(axes: Axes, base: Any = R) -> Any:
    """base^{axes}."""
    index: Any = None
    for axis in axes:
        index = axis if index is None else index * axis
    return base if index is None else power(base, index)


@frozen
class Recipe:
    """The spaces of the arguments, and what becomes of values, the arguments being the first."""

    spaces: tuple[Type, ...]
    steps: tuple[tuple[Any, ...], ...]

    def traced(self, *, planned: bool) -> AnyProgram:
        """The function of the last value."""
        made: Any = fun(*self.spaces, planned=planned)(self._body)
        return made  # type: ignore[no-any-return]

    def _body(self, *args: Expr[Any]) -> Expr[Any]:
        values: list[Any] = list(args)
        for name, k, *more in self.steps:
            x = values[k]
            match name:
                case "contract":
                    values.append(contract(more[1], x, values[more[0]]))
                case "turn":
                    values.append(contract(more[0], x))
                case "sum":
                    (at,) = more
                    axes = x.space.leaves[0].axes
                    slot = x.builder.apply(Reduce(Full(axes[at], Unit()), at), x.slots[0])
                    values.append(Expr(x.builder, space_of(axes[:at] + axes[at + 1 :]), (slot,)))
                case "scale":
                    values.append(more[0] * x)
                case "add":
                    values.append(x + values[more[0]])
                case _:
                    values.append(tanh(x))
        value: Expr[Any] = values[-1]
        return value

    def point(self, rng: np.random.Generator) -> list[np.ndarray[Any, Any]]:
        """An array for each argument."""
        return [_array(leaf, rng) for space in self.spaces for leaf in space.leaves]


def _array(leaf: Any, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    if leaf.kind == "f":
        return np.asarray(rng.standard_normal(leaf.shape))
    top = 2 if leaf.kind == "b" else math.prod(leaf.entry.shape)
    return np.asarray(rng.integers(0, top, leaf.shape)).astype(str(leaf.dtype))


def recipe(s: Choices, size: int = 300, contractions: int = 8) -> Recipe:
    """2 to 8 contractions on axes of 1 to 300."""
    pool = [Fin.of(s.integer(1, size)) for _ in range(3)]
    arguments: list[tuple[Type, Axes]] = []
    steps: list[tuple[Any, ...]] = []
    made: list[Axes] = []

    def argument(space: Type, axes: Axes) -> int:
        arguments.append((space, axes))
        return -len(arguments)  # arguments are numbered when all are known

    def real() -> int:
        """A new argument, or one that is there."""
        old = [-k for k, (space, _) in enumerate(arguments, 1) if space.is_space]
        if old and s.integer(0, 3) == 3:
            return s.one_of(old)
        axes = tuple(s.one_of(pool) for _ in range(s.integer(0, 2)))
        return argument(space_of(axes), axes)

    def axes_of(k: int) -> Axes:
        return arguments[-k - 1][1] if k < 0 else made[k]

    def step(name: str, k: int, *more: Any, axes: Axes) -> int:
        steps.append((name, k, *more))
        made.append(axes)
        return len(made) - 1

    first = tuple(s.one_of(pool) for _ in range(s.integer(1, 2)))
    now = argument(space_of(first), first)
    for _ in range(s.integer(2, contractions)):
        shared = made and s.integer(0, 5) == 5
        other = s.integer(0, len(made) - 1) if shared else real()
        labels, axes = _labels(s, axes_of(now), axes_of(other))
        if math.prod(axis.size for axis in axes) > LARGEST or len(axes) > 3:
            other, labels, axes = now, _pointwise(axes_of(now)), axes_of(now)
        now = step("contract", now, other, labels, axes=axes)
        for _ in range(s.integer(0, 2)):
            axes = axes_of(now)
            names = ["scale", "tanh", "add"] + ["sum", "move", "mask", "gather"] * bool(axes)
            match s.one_of(names):
                case "sum":
                    at = s.integer(0, len(axes) - 1)
                    now = step("sum", now, at, axes=axes[:at] + axes[at + 1 :])
                case "scale":
                    now = step("scale", now, s.one_of([2.0, -0.5]), axes=axes)
                case "add":
                    now = step("add", now, argument(space_of(axes), axes), axes=axes)
                case "move":
                    own = ALPHABET[: len(axes)]
                    now = step("turn", now, f"{own}->{own[::-1]}", axes=axes[::-1])
                case "mask":
                    own = ALPHABET[: len(axes)]
                    mask = argument(space_of(axes[:1], Bool), axes[:1])
                    now = step("contract", now, mask, f"{own},{own[0]}->{own}", axes=axes)
                case "gather":
                    own, new = ALPHABET[: len(axes)], s.one_of(pool)
                    rows = argument(space_of((new,), Elements(axes[0])), (new,))
                    now = step("contract", now, rows, f"{own},z{own[0]}->z{own[1:]}", axes=(new, *axes[1:]))
                case _:
                    now = step("tanh", now, axes=axes)
    n = len(arguments)

    def place(k: int) -> int:
        return -k - 1 if k < 0 else n + k

    placed = tuple(
        (name, place(k), *(place(more[0]), *more[1:])) if name in {"contract", "add"} else (name, place(k), *more)
        for name, k, *more in steps
    )
    return Recipe(tuple(space for space, _ in arguments), placed)


def _pointwise(axes: Axes) -> str:
    own = ALPHABET[: len(axes)]
    return f"{own},{own}->{own}"


def _labels(s: Choices, left: Axes, right: Axes) -> tuple[str, Axes]:
    """Labels of a contraction, and the axes of its result: most axes that can meet do, most that meet are summed."""
    a = ALPHABET[: len(left)]
    b, new = "", ALPHABET[len(left) :]
    for axis in right:
        meets = [c for c, other in zip(a, left, strict=True) if other == axis and c not in b]
        b += s.one_of(meets) if meets and s.integer(0, 4) else new[len(b)]
    axes = dict(zip(a + b, left + right, strict=True))
    out = "".join(c for c in axes if not (c in a and c in b) or s.integer(0, 3) == 3)
    return f"{a},{b}->{out}", tuple(axes[c] for c in out)


def exact(p: AnyProgram, arrays: Sequence[Any], *, absolute: bool = False) -> list[Any]:
    """The results in the longest floats; with `absolute` a bound on what rounding errors are proportional to."""
    slots: list[Any] = []
    for array in arrays:
        real = array.dtype.kind == "f"
        slots.append(np.abs(array.astype(np.longdouble)) if absolute and real else array)
        if real and not absolute:
            slots[-1] = array.astype(np.longdouble)
    for step, leaf in zip(p.steps, p.slots[p.arity :], strict=True):
        args = [slots[k] for k in step.args]
        match step.operation:
            case Literal(value):
                slots.append(np.abs(value.array) if absolute else value.array)
            case Contract(spec):
                operands = [_dense(a, p.slots[k]) for a, k in zip(args, step.args, strict=True)]
                slots.append(np.einsum(str(spec), *operands))
            case Add():
                slots.append(args[0] + args[1])
            case Scale(k):
                slots.append((abs(k) if absolute else k) * args[0])
            case Move(order):
                slots.append(np.transpose(args[0], order))
            case Reduce(Full(dom, _) as full, at):
                n = len(dom.axes)
                total = np.sum(args[0], axis=tuple(range(at, at + n)))
                total = np.expand_dims(total, tuple(range(at, at + len(full.cod.axes))))
                slots.append(np.broadcast_to(total, leaf.shape))
            case Keep():
                slots.append(args[0])
            case Elementwise() as primitive if primitive.name == "tanh":
                slots.append(args[0] if absolute else np.tanh(args[0]))
            case other:
                raise NotImplementedError(other)
    return [slots[k] for k in p.outputs]


def _dense(array: Any, leaf: Any) -> Any:
    """Elements of an index set as their one-hot vectors."""
    if leaf.entry.index is None:
        return array
    n = leaf.entry.index.size
    return np.eye(n)[array].reshape(*np.shape(array), *leaf.entry.shape)
