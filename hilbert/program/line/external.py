"""A linear operation on one array that a user's functions compute: one for the map, one for its adjoint."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, final
from weakref import WeakValueDictionary

from attrs import evolve, field, frozen

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.libraries.namespace import is_array
from hilbert.errors import SpaceError, shown
from hilbert.index.leaf import Leaf
from hilbert.program.line.step_operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.arrays.kernels.library import Library


@final
@frozen(eq=False)
class MapRule:
    """The functions of a user's linear map: `forward(xp, a)`, `adjoint(xp, b)`; with axes in front if `batched`.

    A rule of the library may only look: `looks(xp, a, place)`, with the place where its step was written, gives back a.
    """

    name: str
    forward: Callable[[Any, Any], Any]
    adjoint: Callable[[Any, Any], Any]
    batched: bool = True
    looks: Callable[[Any, Any, str], Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        if _rules.get(self.name) is not self:
            raise SpaceError(f"the linear map {self.name!r} is pickled by its name, which is now that of another one")
        return rule_named, (self.name,)


_rules: WeakValueDictionary[str, MapRule] = WeakValueDictionary()


def rule_named(name: str) -> MapRule:
    """The rule of a name; SpaceError if this process has none."""
    found = _rules.get(name)
    if found is None:
        raise SpaceError(f"the linear map {name!r} is not there: define it before it is unpickled")
    return found


def defined(rule: MapRule) -> MapRule:
    """Enter the rule under its name."""
    _rules[rule.name] = rule
    return rule


@final
@frozen(repr=False)
class External(Operation):
    """A linear map of a user's, or its adjoint if it goes `back`, behind n axes in front."""

    rule: MapRule
    dom: Leaf
    cod: Leaf
    back: bool = False
    n: int = 0
    place: str = field(default="", eq=False, repr=False)

    @property
    def name(self) -> str:
        """The rule's name, with a star for the adjoint."""
        return f"{self.rule.name}*" if self.back else self.rule.name

    @property
    def key(self) -> Any:
        """The operation and its place, which a rule that looks is told."""
        return self, self.place

    def image(self, *operands: Leaf) -> Leaf:
        """The leaf of the codomain, under the axes in front."""
        (leaf,) = operands
        if leaf.entry != self.dom.entry or leaf.axes[self.n :] != self.dom.axes:
            raise SpaceError(f"the linear map {self.name} applies to {self.dom}, not to {leaf}")
        return self.cod.under(leaf.axes[: self.n])

    def bind(self, lib: Library, operands: Sequence[Leaf], result: Leaf) -> Kernel:
        """The user's function, its result checked."""
        rule, xp, n = self.rule, lib.xp, self.n
        if (look := rule.looks) is not None:
            return Kernel(lambda a: look(xp, lib.whole(a, rule.name), self.place), fresh=False)
        f = rule.adjoint if self.back else rule.forward
        front = operands[0].shape[:n]

        def checked(a: Any, shape: tuple[int, ...]) -> Any:
            y = f(xp, lib.guarded(a))
            if not is_array(y, shape, result.dtype):
                due = f"an array of shape {shape} and dtype {result.dtype}"
                raise SpaceError(f"the linear map {self.name} gives {shown(y)}, where {due} is due")
            return y

        def call(a: Any) -> Any:
            a = xp.asarray(lib.whole(a, f"the linear map {self.name}"))
            if rule.batched or not n:
                return lib.unshared(checked(a, result.shape))
            rows = [checked(a[*at, ...], self.cod.shape) for at in itertools.product(*map(range, front))]
            if not rows:
                return xp.zeros(result.shape, dtype=getattr(xp, result.dtype), device=lib.device(a))
            return xp.reshape(xp.stack([xp.asarray(row) for row in rows]), result.shape)

        return Kernel(call, fresh=False)

    def lifted(self, n: int) -> External:
        """The operation with n more axes in front."""
        return evolve(self, n=self.n + n)

    def front(self, operand: int, axis: int) -> int | None:
        """The axis itself, if it is in front of the map's own."""
        return axis if axis < self.n else None

    def adjoint(self, source: Leaf) -> External:
        """The operation of the other function."""
        return External(self.rule, self.cod, self.dom, not self.back, self.n, self.place)

    def __repr__(self) -> str:
        return f"external({self.rule.name!r}, {self.dom!r}, {self.cod!r}, {self.back}, {self.n})"


def external(name: str, dom: Leaf, cod: Leaf, back: bool, n: int) -> External:  # noqa: FBT001 - as repr writes it
    """The operation of a name; SpaceError if this process has none."""
    return External(rule_named(name), dom, cod, back, n)
