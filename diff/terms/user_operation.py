"""Operations of users as steps: a value computed by any function of arrays, and a derivative written in the language.

`diff.terms.untraced_functions` makes functions of them.
"""

from __future__ import annotations

import inspect
import itertools
from typing import TYPE_CHECKING, Any, final
from weakref import WeakValueDictionary

import numpy as np
from attrs import evolve, frozen

from hilbert import SpaceError, Type
from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.libraries.namespace import is_array
from hilbert.errors import shown
from hilbert.index.leaf import Bundle, Leaf
from hilbert.program.line.builder import Builder
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hilbert.arrays.kernels.library import Library
    from hilbert.compiled.tree.arrays import Array, Loops
    from hilbert.program.line.line import Line

Masks = tuple[tuple[bool, ...], ...]
"""For each leaf of the arguments, which of the axes in front it has."""


@final
@frozen(eq=False)
class OperationRule:
    """The rule of a user's operation: its value, and its derivative.

    `value(xp, *arguments)` takes an array for each argument, or the tuple tree of a direct sum, with the same axes in
    front of all; if it is not `batched`, without any. What is shared by all of an axis is repeated along it, unless the
    rule `broadcasts`: then that axis has size 1. `tangent(*arguments, value, *tangents)` is an expression. The arrays
    of a value are copied, for a function may keep them and write to them later, unless it makes `fresh` ones.
    """

    name: str
    value: Callable[..., Any]
    tangent: Callable[..., Any] | None
    batched: bool = True
    broadcasts: bool = False
    fresh: bool = False
    made: tuple[Callable[..., OperationRule], tuple[Any, ...]] | None = None
    """The function and arguments that make the rule, if it is the library's and made of something."""
    text: str | None = None
    """The printed form of the step, if not its name."""
    again: OperationRule | None = None
    """The rule that takes its place in its derivative, where one that is differentiated again has another value."""
    in_text: str | tuple[str, str] | Callable[..., Any] | None = None
    """The value as `source` writes it: a template, two if the value on axes in front is another, or the library's
    function whose text is carried along; None for a user's."""
    results: tuple[str, ...] = ()
    """Names for the arrays of the value, where these are several."""
    loops: Callable[..., Any] | None = None
    """The maker of the value in compiled programs, of arrays and masks; None where they call the value itself."""

    def __reduce__(self) -> tuple[Any, ...]:
        if self.made is not None:
            return self.made
        if _rules.get(self.name) is not self:
            raise SpaceError(f"operation {self.name!r} is pickled by its name, which is now that of another one")
        return _named, (self.name,)


_rules: WeakValueDictionary[str, OperationRule] = WeakValueDictionary()


def _named(name: str) -> OperationRule:
    """The rule of a name; SpaceError if this process has none."""
    found = _rules.get(name)
    if found is None:
        raise SpaceError(f"operation {name!r} is not there: define it before it is unpickled")
    return found


@final
@frozen(repr=False)
class Custom(Operation):
    """An operation of a user's as a step: on the leaves of its arguments, each with some of `n` axes in front."""

    rule: OperationRule
    arguments: tuple[Type, ...]
    cod: Type
    n: int = 0
    masks: Masks = ()

    @property
    def name(self) -> str:
        """The name of the operation's rule."""
        return self.rule.text or self.rule.name

    def derived(self, times: int = 1) -> Custom:
        """The operation that takes its place in a derivative of this order."""
        rule = self.rule
        for _ in range(times):
            rule = rule.again or rule
        return self if rule is self.rule else evolve(self, rule=rule)

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves of the arguments, without axes in front."""
        return tuple(leaf for space in self.arguments for leaf in space.leaves)

    def axes(self, operands: Sequence[Leaf]) -> tuple[Any, ...]:
        """The axes in front; raises SpaceError for operands that do not fit."""
        axes: list[Any] = [None] * self.n
        masks = self.masks or ((),) * len(self.leaves)
        for have, due, mask in zip(operands, self.leaves, masks, strict=True):
            front = have.axes[: sum(mask)]
            if have.entry != due.entry or have.axes[sum(mask) :] != due.axes:
                raise SpaceError(f"operation {self.rule.name} takes {due}, not {have}")
            for k, axis in zip(itertools.compress(range(self.n), mask), front, strict=True):
                if axes[k] not in (None, axis):
                    raise SpaceError(f"operation {self.rule.name} is lifted over {axes[k]}, not over {axis}")
                axes[k] = axis
        return tuple(axes)

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of the result, or the bundle of its leaves, under the axes in front."""
        axes = self.axes(operands)
        made = [leaf.under(axes) for leaf in self.cod.leaves]
        return made[0] if len(made) == 1 else Bundle(tuple(made))

    @property
    def is_pure(self) -> bool:
        """Tell if the operation is the library's: code of a user runs where a program gets to it, and each time."""
        return self.rule.fresh

    def partly(self, n: int, up: tuple[bool, ...]) -> Custom:
        """Under n more axes, which only some operands have."""
        masks = self.masks or ((),) * len(self.leaves)
        more = tuple((u,) * n + mask for u, mask in zip(up, masks, strict=True))
        return evolve(self, n=self.n + n, masks=more)

    def front(self, operand: int, axis: int) -> int | None:
        """The axis in front that an operand's axis is; the operand may have some of them only."""
        masks = self.masks or ((),) * len(self.leaves)
        have = [k for k, has in enumerate(masks[operand]) if has]
        return have[axis] if axis < len(have) else None

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The user's function on arrays, its result checked."""
        return Kernel(Call(self, lib, operands, result), fresh=False, pure=self.is_pure)

    def loops(self, to: Loops, operands: Sequence[Array], result: Leaf) -> Any:
        """Those of the rule, if it has some."""
        if self.rule.loops is None:
            return None
        return self.rule.loops(to, operands, self.masks or ((),) * len(operands), result)

    def __repr__(self) -> str:
        lifted = f", {self.n}, {self.masks}" if self.n else ""
        return f"custom({self.rule.name!r}, {self.arguments!r}, {self.cod!r}{lifted})"


def custom(name: str, arguments: tuple[Type, ...], cod: Type, n: int = 0, masks: Masks = ()) -> Custom:
    """The step of an operation by its name, as it is printed by repr; SpaceError if this process has none."""
    return Custom(_named(name), arguments, cod, n, masks)


def _shaped(xp: Any, array: Any, shape: tuple[int, ...]) -> Any:
    return array if array.shape == shape else xp.reshape(array, shape)


@final
class Call:
    """An operation bound to an array library, and to the leaves of its operands."""

    def __init__(self, of: Custom, lib: Library, operands: Sequence[Leaf], result: Leaf) -> None:
        self.of, self.lib = of, lib
        axes = of.axes(operands)
        self.front = tuple(axis.size for axis in axes)
        masks = of.masks or ((),) * len(operands)
        self.shapes = [
            (*(n if m else 1 for n, m in zip(self.front, mask, strict=True)), *leaf.shape)
            for mask, leaf in zip(masks, of.leaves, strict=True)
        ]
        self.due = result.leaves if isinstance(result, Bundle) else (result,)
        self.single = not isinstance(result, Bundle)

    def __call__(self, *arrays: Any) -> Any:
        """The result's array, or all of them."""
        rule, xp, n = self.of.rule, self.lib.xp, len(self.front)
        given = [self.lib.whole(a, f"operation {rule.name}") for a in arrays]
        given = [_shaped(xp, xp.asarray(a), shape) for a, shape in zip(given, self.shapes, strict=True)]
        if n and not (rule.batched and rule.broadcasts):
            leaves = self.of.leaves
            given = [xp.broadcast_to(a, (*self.front, *f.shape)) for a, f in zip(given, leaves, strict=True)]
        given = [self.lib.guarded(a) for a in given]
        if rule.batched:
            made = self._leaves(given, self.front)
            made = made if rule.fresh else list(map(self.lib.unshared, made))
        else:
            made = self._each(given)
        return made[0] if self.single else Arrays(made)

    def _leaves(self, arrays: Sequence[Any], front: tuple[int, ...]) -> list[Any]:
        """The arrays of the value; raises SpaceError for another shape or dtype than is due."""
        rule, cod = self.of.rule, self.of.cod
        try:
            value = rule.value(self.lib.xp, *self._packed(arrays))
        except np.linalg.LinAlgError as error:
            given = " ⊕ ".join(map(str, self.of.leaves))
            raise SpaceError(f"operation {self.of.name}: {error}, at a point of {given}, for {cod}") from error
        except Exception as error:
            error.add_note(f"  in the value of operation {self.of.name}")
            raise
        if rule.fresh:  # the library's gives what it says
            return list(value) if isinstance(value, tuple) else [value]
        try:
            found = cod.unpack(value)
        except SpaceError as error:
            raise SpaceError(f"the value of operation {rule.name} is no element of {cod}: {error}") from error
        for a, leaf in zip(found, self.of.cod.leaves, strict=True):
            shape = (*front, *leaf.shape)
            if not is_array(a, shape, leaf.dtype):
                due = f"an array of shape {shape} and dtype {leaf.dtype}"
                hint = f"; {len(front)} of the axes stand in front: write axis=-1 for the last, or batched=False"
                text = f"the value of operation {rule.name} is {shown(a)}, where {due} is due"
                raise SpaceError(text + (hint if front else ""))
        return list(found)

    def _packed(self, arrays: Sequence[Any]) -> Iterator[Any]:
        """The tree of each argument."""
        rest = iter(arrays)
        for space in self.of.arguments:
            yield space.pack(rest)

    def _each(self, arrays: Sequence[Any]) -> list[Any]:
        """Element by element of the axes in front."""
        xp = self.lib.xp
        rows = [self._leaves([a[*at, ...] for a in arrays], ()) for at in itertools.product(*map(range, self.front))]
        if not rows:
            device = next((self.lib.device(a) for a in arrays), None)
            return [xp.zeros(leaf.shape, dtype=getattr(xp, leaf.dtype), device=device) for leaf in self.due]
        columns = [xp.stack([xp.asarray(a) for a in column]) for column in zip(*rows, strict=True)]
        return [xp.reshape(a, leaf.shape) for a, leaf in zip(columns, self.due, strict=True)]


def defined(rule: OperationRule) -> OperationRule:
    """Register a rule under its name, in place of a former one, and return it."""
    _rules[rule.name] = rule
    return rule


def known(
    name: str,
    value: Callable[..., Any],
    tangent: Callable[..., Any] | None,
    *,
    broadcasts: bool = False,
    made: tuple[Callable[..., OperationRule], tuple[Any, ...]] | None = None,
    text: str | None = None,
    again: OperationRule | None = None,
    in_text: str | tuple[str, str] | None = None,
    results: tuple[str, ...] = (),
    loops: Callable[..., Any] | None = None,
) -> OperationRule:
    """The rule of a name, for operations of the library itself; a value that is a function of a module has its text."""
    return defined(
        OperationRule(
            name,
            value,
            tangent,
            broadcasts=broadcasts,
            fresh=True,
            made=made,
            text=text,
            again=again,
            in_text=in_text or (value if inspect.unwrap(value).__closure__ is None else None),
            results=results,
            loops=loops,
        )
    )


def emit(b: Builder, step: Custom, args: Sequence[int]) -> list[int]:
    """The slots of the result."""
    slot = b.emit(step, tuple(args), step.image(*(b.slots[k] for k in args)))
    return list(b.unpack(slot)) if isinstance(b.slots[slot], Bundle) else [slot]


def in_derivatives(line: Line, order: int) -> Line:
    """A line with the operations that take the places of its own in derivatives of an order."""
    steps = [step.operation for step in line.steps]
    if not any(isinstance(operation, Custom) and operation.rule.again for operation in steps):
        return line
    made = [operation.derived(order) if isinstance(operation, Custom) else operation for operation in steps]
    changed = [evolve(step, operation=operation) for step, operation in zip(line.steps, made, strict=True)]
    return evolve(line, steps=tuple(changed))
