"""Array libraries: the services and kernels that the steps of a program need, and the library that an array belongs to.

A `Library` is a class for each array library, and one object for each of its namespaces. All that differs between
libraries (arrays, devices, constants, read-only results, fast kernels) is a method of the class; `libraries` has all
classes. cupy, torch and JAX are never imported here: an array brings its own namespace with it.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, ClassVar, cast

import array_api_compat
import numpy as np

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.base.once import LOCK, cached_property, first
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from types import ModuleType
    from typing import Self

    from hilbert.arrays.kernels.kernel import PrimitiveRow
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec
    from hilbert.relation import Inclusion
    from hilbert.relation.function_forms import AnyGraph
    from hilbert.relation.relation import AnyRelation


class Compound:
    """A stand-in for an array that is made of arrays: a formal array, a bundle."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Any, ...]:
        """The arrays."""
        raise TypeError(type(self).__name__)


class Arrays(tuple[Any, ...], Compound):
    """The arrays of a bundle."""

    __slots__ = ()

    @property
    def parts(self) -> tuple[Any, ...]:
        """The arrays; those of formal ones, and of bundles in it, too."""
        return tuple(part for a in self for part in (a.parts if isinstance(a, Compound) else (a,)))


class Library:
    """An array library, by the functions of the array API in its namespace `xp`; a subclass overrides some.

    A class that defines `owns` is asked for each type of array, the one defined last first.
    """

    kinds: ClassVar[frozenset[type]] = frozenset()
    """Types whose arrays are this library's for sure."""
    is_host: ClassVar[bool] = False
    """True if the arrays are numpy's, in memory that can be written into and viewed with any strides."""
    has_scalars: ClassVar[bool] = False
    """True if a[()] of an array without axes is quicker than the array."""

    def __init__(self, xp: ModuleType) -> None:
        self.xp = xp

    def __init_subclass__(cls) -> None:
        if "owns" in vars(cls):
            with LOCK:
                _classes.insert(0, cls)
                _known.clear()
                freezing.clear()

    @classmethod
    def owns(cls, array: Any) -> bool:
        """Tell if something is an array of this library; the answer is kept for its type."""
        return False

    @classmethod
    def namespace(cls, array: Any) -> ModuleType:
        """The array namespace of an array."""
        return array_api_compat.array_namespace(array)

    @classmethod
    def of(cls, xp: ModuleType) -> Self:
        """The one object for a namespace."""
        found = _made.get((cls, xp))
        return cast("Self", found or first(_made, (cls, xp), cast("Library", cls(xp))))

    @cached_property
    def name(self) -> str:
        """The name of the namespace, as a user imports it."""
        return self.xp.__name__.removeprefix("array_api_compat.")

    # --- arrays: devices, copies, constants ---

    def device(self, array: Any) -> Any:
        """The device that holds an array; of a bundle, that of its first array."""
        return array_api_compat.device(array.parts[0] if isinstance(array, Arrays) and array else array)

    def home(self, arrays: Sequence[Any]) -> Hashable:
        """The key that a program is bound under for these arrays: the library and the device."""
        return self, self.device(arrays[0])

    def zeros(self, shape: tuple[int, ...], like: Any) -> Any:
        """Zeros with the dtype of an array, where it lives."""
        return self.xp.zeros(shape, dtype=like.dtype, device=self.device(like))

    def from_host(self, array: Any, like: Any) -> Any:
        """An array of numpy's, copied to where `like` is."""
        return self.xp.asarray(np.array(array), device=self.device(like))

    def to_host(self, array: Any) -> Any:
        """The array in numpy, a copy or a view."""
        return np.asarray(array)

    def constant(self, array: Any, like: Any) -> Any:
        """A constant of the program, moved once to where the arguments live; `like` is one of them."""
        home = library(array)
        if home is self:
            here, there = self.device(array), self.device(like)
            return array if here == there else array_api_compat.to_device(array, there)
        if home.is_host:
            return self.from_host(array, like)
        msg = f"a constant of the map lives in {home.name}, its argument in {self.name}: move one of them"
        raise SpaceError(msg)

    def freezing(self, kind: type) -> Callable[[Any], Any] | None:
        """The function that makes arrays of a type read-only, which the caller owns; None if there is none."""
        return None

    def guarded(self, array: Any) -> Any:
        """The array for a function that might write into it, without harm: a copy, where no view is read-only."""
        return self.xp.asarray(array, copy=True)

    def unshared(self, array: Any) -> Any:
        """An array that a user's function gave, and may write into later, as one that nobody else holds."""
        return self.xp.asarray(array, copy=True)

    def snapshot(self, array: Any) -> Any:
        """The array itself, if it is known that nobody writes into its memory; else a copy."""
        return self.unshared(array)

    def unchanged(self, kept: Any, now: Any) -> bool:
        """Tell if an array still has the entries of its copy, NaN and the sign of 0 among them."""
        xp = self.xp
        alike = (kept == now) & (xp.signbit(kept) == xp.signbit(now))
        return bool(xp.all(alike | (xp.isnan(kept) & xp.isnan(now))))

    def copied(self) -> Callable[[Any], Any] | None:
        """The function that copies a result that shares memory with other arrays; None if arrays are read-only."""
        xp = self.xp

        def copy(a: Any) -> Any:
            return Arrays([copy(part) for part in a]) if isinstance(a, Arrays) else xp.asarray(a, copy=True)

        return copy

    def bounds(self, array: Any) -> tuple[int, int] | None:
        """The least and the largest of some integers; None where they are not known yet."""
        return int(self.xp.min(array)), int(self.xp.max(array))

    def number(self, array: Any) -> Any:
        """An array without axes as a factor of other arrays: nothing is copied off a device."""
        return array

    def same(self, a: Any, b: Any) -> bool:
        """True if two read-only arrays are known to be views of the same memory."""
        return a is b

    def triangle(self, array: Any) -> Any:
        """The upper triangle of the QR decomposition of a matrix."""
        return self.xp.linalg.qr(array)[1]

    def forget(self) -> None:
        """Let go of the results that a run kept for its arrays."""

    # --- loops ---

    scans: ClassVar[bool] = False
    """True if the library runs the rounds of a loop itself: see `scan`."""

    @property
    def inner(self) -> Library:
        """The library of the arrays inside a loop."""
        return self

    def whole(self, array: Any, what: str) -> Any:
        """The plain array of an operand, for a step that has no rule on formal arrays."""
        return array

    def rows(self, n: int, leaf: Leaf, like: Any) -> Any:
        """A place for the results of n rounds, row by row."""
        return [None] * n

    def stacked(self, rows: Any, leaf: Leaf, like: Any) -> Any:
        """The rows as one array."""
        if rows:
            return self.xp.stack([self.xp.asarray(row) for row in rows])
        dtype, device = getattr(self.xp, leaf.dtype), None if like is None else self.device(like)
        return self.xp.zeros((0, *leaf.shape), dtype=dtype, device=device)

    def branch(self, condition: Any, then: Callable[[], list[Any]], otherwise: Callable[[], list[Any]]) -> list[Any]:
        """The result of the one of two functions that the condition picks; the other function is not run."""
        return then() if condition else otherwise()

    def is_known(self, array: Any) -> bool:
        """Tell if the entries of an array may be looked at now."""
        return True

    def holds(self, condition: Any) -> bool:
        """Tell if a condition is known to hold somewhere."""
        return bool(self.xp.any(self.xp.asarray(condition)))

    def repeat(
        self, round_: Callable[[list[Any]], list[Any]], states: list[Any], shared: list[Any], most: int
    ) -> list[Any]:
        """The states after rounds, as long as the first one holds somewhere; at most so many if that is not 0."""
        count = 0
        while self.holds(states[0]) and (count < most or not most):
            states = round_([*states, *shared])
            count += 1
        return states

    def scan(
        self, round_: Any, states: list[Any], shared: list[Any], stacks: list[Any], n: int, *, reverse: bool
    ) -> list[Any]:
        """The last states and the stacks of the results of each round."""
        raise TypeError(type(self).__name__)

    # --- kernels ---

    def add(self) -> Kernel:
        """a + b."""
        return Kernel(operator.add, broadcasts=True)

    def subtract(self) -> Kernel:
        """a − b."""
        return Kernel(operator.sub, broadcasts=True)

    def divide(self) -> Kernel | None:
        """a / b in one operation, if the library does it in place; None otherwise."""
        return None

    def multiply(self) -> Kernel:
        """a · b, element by element."""
        return Kernel(operator.mul, broadcasts=True)

    def scale(self, k: float, leaf: Leaf | None = None) -> Kernel:
        """k · a for a number k; `leaf` is that of a, if it is known."""
        return Kernel(operator.neg) if k == -1.0 else Kernel(lambda a: a * k)

    def move(self, order: tuple[int, ...]) -> Kernel:
        """The axes in another order: a view where the library has them."""
        xp = self.xp
        return Kernel(lambda a: xp.permute_dims(a, order), fresh=False)

    def stored(self, order: tuple[int, ...]) -> Kernel:
        """The axes in another order, in memory too where the library lays arrays out."""
        return self.move(order)

    def cast(self, dtype: str) -> Kernel:
        """The same numbers in another precision."""
        xp, target = self.xp, getattr(self.xp, dtype)
        return Kernel(lambda a: xp.astype(a, target))

    def elementwise(self, rule: PrimitiveRow, params: tuple[float, ...]) -> Kernel:
        """A primitive with its parameters."""
        xp, value = self.xp, rule.value
        if rule.arity == 1:
            return Kernel(lambda a: value(xp, params, a), fresh=rule.fresh)
        return Kernel(lambda a, b: value(xp, params, a, b), fresh=rule.fresh)

    def special(self, name: str) -> Callable[..., Any]:
        """The special function of that name (scipy's) on arrays; raises SpaceError where none is installed."""
        raise TypeError(type(self).__name__)

    def contract(self, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
        """out[o] = Σ left[l]·right[r], a labelled contraction."""
        raise TypeError(type(self).__name__)

    def reduce(self, relation: AnyRelation, at: int, leaf: Leaf) -> Kernel:
        """red_R on the axes of R's domain, which start at axis `at` of the array."""
        raise TypeError(type(self).__name__)

    def along(self, name: str, at: int, count: int, leaf: Leaf) -> Kernel:
        """A function of the entries along so many axes from axis `at` on."""
        raise TypeError(type(self).__name__)

    def diagonal(self, first: int, second: int, leaf: Leaf) -> Kernel:
        """An array's diagonal along two of its axes, which go, while the diagonal's axis comes last."""
        order = (*(k for k in range(len(leaf.axes)) if k not in (first, second)), first, second)
        xp = self.xp
        return Kernel(lambda a: xp.linalg.diagonal(xp.permute_dims(a, order)))

    def add_into(self, relation: Inclusion[Any, Any] | AnyGraph, at: int, leaf: Leaf, *, minus: bool) -> Kernel | None:
        """(a, b) ↦ a ± red_R(b) for b of a leaf and an injective function R, where one step is quicker; else None."""
        return None

    def placed(self, places: Mapping[int, Inclusion[Any, Any]], shape: tuple[int, ...]) -> Kernel | None:
        """The inclusions along several axes, by their places, at once; None where the library has none."""
        return None

    def weighted(self, sources: AnyGraph, targets: AnyGraph, leaf: Leaf, out: tuple[int, ...]) -> Kernel | None:
        """(w, v) ↦ Σ w_k v_{x(k)} over y(k) = y, where that is quicker than gather, product and sum; else None."""
        return None

    # --- for reductions ---

    def between(self, v: Any, at: int, low: int, high: int) -> Any:
        """v with so many zeros in front and behind along an axis."""
        front, behind = (self.zeros((*v.shape[:at], n, *v.shape[at + 1 :]), v) for n in (low, high))
        return self.xp.concat([front, v, behind], axis=at)


class Rows:
    """Positions as an array of the library, moved to the arguments' device once."""

    __slots__ = ("_here", "_host", "_lib")

    def __init__(self, lib: Library, host: Any) -> None:
        self._lib, self._host = lib, host
        self._here: Any = None

    def like(self, a: Any) -> Any:
        """The positions, on the device of `a`."""
        if self._here is None:
            moved = self._lib.constant(self._host, a)
            with LOCK:
                self._here = moved if self._here is None else self._here
        return self._here


_classes: list[type[Library]] = []
_known: dict[type, Library | None] = {}
freezing: dict[type, Callable[[Any], Any] | None] = {}
"""The functions that make arrays read-only, by type, for the types that were asked for."""
_made: dict[tuple[type[Library], ModuleType], Library] = {}


def find(array: Any) -> Library | None:
    """The library of an array; None for any other object."""
    kind = type(array)
    try:
        return _known[kind]
    except KeyError:
        owner = next((cls for cls in _classes if cls.owns(array)), None)
        return first(_known, kind, None if owner is None else owner.of(owner.namespace(array)))


def library(array: Any) -> Library:
    """The library of an array; raises TypeError for any other object."""
    found = find(array)
    if found is None:
        msg = f"{type(array).__name__} is no array of a library that is known here"
        raise TypeError(msg)
    return found
