"""The element-wise and structural kernels: array operations chosen when a program is built.

| kernel | numpy | cupy, JAX, torch, array API |
|---|---|---|
| contract | matmul, vecdot, multiply | matmul, vecdot, multiply |
| element-wise | ufunc, in place where the operand dies | the function of the same name |
| reduce | see `hilbert.arrays.reduction` | |

A `Pseudo` namespace brings kernels of its own: `formal_kernels` has those for formal arrays.
"""

from __future__ import annotations

import operator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np
from attrs import frozen

from hilbert.arrays.namespace import library, namespace
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.leaf import Leaf
    from hilbert.relation.base import AnyRelation
    from hilbert.spec import Spec


@frozen
class Kernel:
    """An array operation, bound to a namespace and to shapes.

    `inplace[k]` is a form that overwrites operand k; `scalar` is a quicker form for numpy's scalars; `fresh` says that
    the result shares no memory with an operand. `broadcasts`: an operand may be smaller and broadcast to the result;
    `repeats`: the result is the operand repeated along new axes in front, so that an operation that broadcasts may
    read the operand itself. `into(a, out)` writes the result into an array of numpy, where a reduction can; there the
    axes of the relation's codomain are one axis.
    """

    call: Callable[..., Any]
    inplace: tuple[Callable[..., Any] | None, ...] = ()
    fresh: bool = True
    scalar: Callable[..., Any] | None = None
    broadcasts: bool = False
    repeats: bool = False
    into: Callable[[Any, Any], Any] | None = None


class Pseudo(ModuleType):
    """What stands for an array namespace and has kernels of its own."""

    def add(self) -> Kernel:
        """a + b."""
        raise TypeError(type(self).__name__)

    def subtract(self) -> Kernel:
        """a − b."""
        raise TypeError(type(self).__name__)

    def scale(self, k: float) -> Kernel:
        """k·a."""
        raise TypeError(type(self).__name__)

    def move(self, order: tuple[int, ...]) -> Kernel:
        """The axes in another order."""
        raise TypeError(type(self).__name__)

    def cast(self, dtype: str) -> Kernel:
        """The same numbers in another precision."""
        raise TypeError(type(self).__name__)

    def reduce(self, relation: AnyRelation, at: int, leaf: Leaf) -> Kernel:
        """red_R on the axes from `at` on."""
        raise TypeError(type(self).__name__)

    def contract(self, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
        """A labelled contraction."""
        raise TypeError(type(self).__name__)

    def elementwise(self, name: str, rule: Callable[[ModuleType], Kernel]) -> Kernel:
        """A primitive whose kernel for a namespace is rule(xp)."""
        raise TypeError(type(self).__name__)

    def constant(self, array: Any, like: Any) -> Any:
        """A constant, moved to where `like` is."""
        raise TypeError(type(self).__name__)


def add(xp: ModuleType) -> Kernel:
    """a + b."""
    if isinstance(xp, Pseudo):
        return xp.add()
    return _arithmetic(np.add, operator.add) if xp is np else Kernel(operator.add, broadcasts=True)


def subtract(xp: ModuleType) -> Kernel:
    """a - b."""
    if isinstance(xp, Pseudo):
        return xp.subtract()
    return _arithmetic(np.subtract, operator.sub) if xp is np else Kernel(operator.sub, broadcasts=True)


def multiply(xp: ModuleType) -> Kernel:
    """a · b, element by element."""
    return _arithmetic(np.multiply, operator.mul) if xp is np else Kernel(operator.mul, broadcasts=True)


def _arithmetic(ufunc: np.ufunc, plain: Callable[[Any, Any], Any]) -> Kernel:
    """A binary ufunc of numpy; on scalars Python's operator takes a tenth of its time."""
    overwriting = (lambda a, b: ufunc(a, b, out=a), lambda a, b: ufunc(a, b, out=b))
    return Kernel(ufunc, overwriting, scalar=plain, broadcasts=True)


def scale(xp: ModuleType, k: float) -> Kernel:
    """k · a for a number k."""
    if isinstance(xp, Pseudo):
        return xp.scale(k)
    if k == -1.0:
        return Kernel(np.negative, (lambda a: np.negative(a, out=a),)) if xp is np else Kernel(lambda a: -a)
    if xp is np:
        return Kernel(lambda a: a * k, (lambda a: np.multiply(a, k, out=a),))
    return Kernel(lambda a: a * k)


def move(xp: ModuleType, order: tuple[int, ...]) -> Kernel:
    """The axes in another order: a view."""
    if isinstance(xp, Pseudo):
        return xp.move(order)
    return Kernel(lambda a: xp.permute_dims(a, order), fresh=False)


def cast(xp: ModuleType, dtype: str) -> Kernel:
    """The same numbers in another precision."""
    if isinstance(xp, Pseudo):
        return xp.cast(dtype)
    target = getattr(xp, dtype)
    return Kernel(lambda a: a.astype(target)) if xp is np else Kernel(lambda a: xp.astype(a, target))


def constant(xp: ModuleType, array: Any, like: Any) -> Any:
    """A constant of the program, moved once to where the arguments live; `like` is one of them."""
    if isinstance(xp, Pseudo):
        return xp.constant(array, like)
    home = namespace(array)
    if home is np:
        return array if xp is np else xp.asarray(np.array(array), device=array_api_compat.device(like))
    if home is not xp:
        msg = f"a constant of the map lives in {library(home)}, its argument in {library(xp)}: move one of them"
        raise SpaceError(msg)
    device = array_api_compat.device(like)
    return array if array_api_compat.device(array) == device else array_api_compat.to_device(array, device)


class Rows:
    """Positions as an array of the namespace, moved to the arguments' device once."""

    __slots__ = ("_here", "_host", "_xp")

    def __init__(self, xp: ModuleType, host: Any) -> None:
        self._xp, self._host = xp, host
        self._here = host if xp is np else None

    def like(self, a: Any) -> Any:
        """The positions, on the device of `a`."""
        if self._here is None:
            self._here = constant(self._xp, self._host, a)
        return self._here


def zeros(xp: ModuleType, shape: tuple[int, ...], like: Any) -> Any:
    """Zeros with the dtype of an array, where it lives."""
    if xp is np:
        return np.zeros(shape, like.dtype)
    return xp.zeros(shape, dtype=like.dtype, device=array_api_compat.device(like))
