"""The element-wise, structural and reducing kernels: array operations chosen when a program is built.

| kernel | numpy | cupy, JAX, torch, array API |
|---|---|---|
| contract | matmul, vecdot, multiply | matmul, vecdot, multiply |
| element-wise | ufunc, in place where the operand dies | the function of the same name |
| reduce: full, ≤ | sum and broadcast_to, cumulative_sum | the same |
| reduce: labels | linalg.diagonal, sum, broadcast_to, where | the same |
| reduce: slice | basic indexing | basic indexing; writing by concat |
| gather | take, integer indexing | the same |
| segment sum | bincount, add.at | cupy: add.at; JAX: at[].add; torch: index_add; none in the strict array API |

A `Pseudo` namespace brings kernels of its own: `formal_kernels` has those for formal arrays.
"""

from __future__ import annotations

import operator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np
from attrs import frozen

from hilbert.arrays.agree import agreement
from hilbert.arrays.namespace import namespace
from hilbert.errors import SpaceError
from hilbert.relation import Agreement, Converse, Full, Graph, Identity, Inclusion, Order, Pairs
from hilbert.spec import ALPHABET

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.relation import Relation
    from hilbert.space import Leaf
    from hilbert.spec import Spec


@frozen
class Kernel:
    """An array operation, bound to a namespace and to shapes.

    `inplace[k]` is a form that overwrites operand k; `scalar` is a quicker form for numpy's scalars; `fresh` says that
    the result shares no memory with an operand. `broadcasts`: an operand may be smaller and broadcast to the result;
    `repeats`: the result is the operand repeated along new axes in front, so that an operation that broadcasts may
    read the operand itself.
    """

    call: Callable[..., Any]
    inplace: tuple[Callable[..., Any] | None, ...] = ()
    fresh: bool = True
    scalar: Callable[..., Any] | None = None
    broadcasts: bool = False
    repeats: bool = False


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

    def reduce(self, relation: Relation[Any, Any], at: int, leaf: Leaf) -> Kernel:
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
        msg = f"a constant of the map lives in {home.__name__}, its argument in {xp.__name__}: move one of them"
        raise SpaceError(msg)
    device = array_api_compat.device(like)
    return array if array_api_compat.device(array) == device else array_api_compat.to_device(array, device)


def reduce(xp: ModuleType, relation: Relation[Any, Any], at: int, leaf: Leaf) -> Kernel:
    """red_R on the axes of R's domain, which start at axis `at` of the array (§2.2.3); one kernel for each form."""
    if isinstance(xp, Pseudo):
        return xp.reduce(relation, at, leaf)
    before, after = leaf.shape[:at], leaf.shape[at + len(relation.dom.axes) :]
    n, m = relation.dom.size, relation.cod.size
    shape = before + relation.cod.shape + after
    axes = tuple(range(at, at + len(relation.dom.axes)))
    match relation:
        case Identity():
            return Kernel(lambda a: a, fresh=False)
        case Full():
            ones = before + (1,) * len(relation.cod.axes) + after
            if not axes:  # rep: a view
                return Kernel(
                    lambda a: xp.broadcast_to(xp.reshape(a, ones), shape), fresh=False, repeats=not before
                )
            total = _total(xp, axes)
            if not relation.cod.axes:
                return Kernel(total)
            return Kernel(lambda a: xp.broadcast_to(xp.reshape(total(a), ones), shape), fresh=False)
        case Order(_, backwards):
            cut = _line(xp, leaf.shape, before, n, after, at)
            return Kernel(_cumulative(xp, at, cut, shape, backwards=backwards))
        case Converse(Inclusion(_, _, offset)):
            cut = _line(xp, leaf.shape, before, n, after, at)
            if not relation.cod.axes:
                index = (slice(None),) * at + (offset,) + (slice(None),) * len(after)
                return Kernel(lambda a: cut(a)[index], fresh=False)
            index = (slice(None),) * at + (slice(offset, offset + m),) + (slice(None),) * len(after)
            return Kernel(lambda a: xp.reshape(cut(a)[index], shape), fresh=False)
        case Inclusion(_, _, offset):
            return Kernel(_put_run(xp, before, after, n, m, offset, shape))
        case Converse(Graph(_, _, positions)):
            cut = _line(xp, leaf.shape, before, n, after, at)
            rows = Rows(xp, positions.array)
            return Kernel(lambda a: xp.reshape(xp.take(cut(a), rows.like(a), axis=at), shape))
        case Graph(_, _, positions):
            return Kernel(_segments(xp, Rows(xp, positions.array), None, before, n, m, after, shape))
        case Pairs(_, _, sources, targets):
            rows = Rows(xp, sources.array)
            return Kernel(_segments(xp, Rows(xp, targets.array), rows, before, n, m, after, shape))
        case Agreement(_, _, source, target):
            return Kernel(_agreement(xp, relation, source, target, before, after), fresh=False)
        case _:
            msg = f"red_R has no kernel for {type(relation).__name__}"
            raise SpaceError(msg)


def _agreement(
    xp: ModuleType, relation: Any, source: str, target: str, before: tuple[int, ...], after: tuple[int, ...]
) -> Callable[[Any], Any]:
    """Labels for all axes: those of the relation, and one for each other axis."""
    free = [c for c in ALPHABET if c not in source + target]
    head, tail = "".join(free[: len(before)]), "".join(free[len(before) : len(before) + len(after)])
    sizes = dict(zip(source + target, relation.dom.shape + relation.cod.shape, strict=True))
    sizes |= dict(zip(head + tail, before + after, strict=True))
    return lambda a: agreement(xp, head + source + tail, head + target + tail, sizes, a)


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


def _total(xp: ModuleType, axes: tuple[int, ...]) -> Callable[[Any], Any]:
    if xp is np:
        where = axes[0] if len(axes) == 1 else axes
        return lambda a: np.add.reduce(a, axis=where)
    return lambda a: xp.sum(a, axis=axes)


def _line(
    xp: ModuleType, have: tuple[int, ...], before: tuple[int, ...], n: int, after: tuple[int, ...], at: int
) -> Callable[[Any], Any]:
    """The axes of the domain as one axis."""
    if len(have) == at + 1 + len(after):
        return lambda a: a
    shape = (*before, n, *after)
    return lambda a: xp.reshape(a, shape)


def _cumulative(
    xp: ModuleType, at: int, cut: Callable[[Any], Any], shape: tuple[int, ...], *, backwards: bool
) -> Callable[[Any], Any]:
    """Sums along the flat order of the domain, which `cut` makes one axis."""
    cumulative = np.cumsum if xp is np else xp.cumulative_sum
    if not backwards:
        return lambda a: xp.reshape(cumulative(cut(a), axis=at), shape)
    return lambda a: xp.reshape(xp.flip(cumulative(xp.flip(cut(a), axis=at), axis=at), axis=at), shape)


def _put_run(
    xp: ModuleType,
    before: tuple[int, ...],
    after: tuple[int, ...],
    n: int,
    m: int,
    offset: int,
    shape: tuple[int, ...],
) -> Callable[[Any], Any]:
    line = (*before, n, *after)
    at = len(before)
    index = (slice(None),) * at + (slice(offset, offset + n),)
    whole = (*before, m, *after)

    def in_numpy(a: Any) -> Any:
        out = np.zeros(whole, a.dtype)
        out[index] = np.reshape(a, line)
        return out.reshape(shape)

    def by_concat(a: Any) -> Any:
        middle = xp.reshape(a, line)
        sides = [(*before, offset, *after), (*before, m - offset - n, *after)]
        low, high = (zeros(xp, s, middle) for s in sides)
        return xp.reshape(xp.concat([low, middle, high], axis=at), shape)

    return in_numpy if xp is np else by_concat


def _segments(
    xp: ModuleType,
    targets: Rows,
    sources: Rows | None,
    before: tuple[int, ...],
    n: int,
    m: int,
    after: tuple[int, ...],
    shape: tuple[int, ...],
) -> Callable[[Any], Any]:
    """Σ of rows by target: axes (before, n, after) → (before, m, after)."""
    head, tail = int(np.prod(before)), int(np.prod(after))

    def run(a: Any) -> Any:
        rows = xp.reshape(a, (head, n, tail))
        rows = xp.reshape(rows, (n, tail)) if head == 1 else xp.reshape(xp.permute_dims(rows, (1, 0, 2)), (n, -1))
        if sources is not None:
            rows = xp.take(rows, sources.like(a), axis=0)
        sums = segment_sum(xp, rows, targets.like(a), m)
        if head != 1:
            sums = xp.permute_dims(xp.reshape(sums, (m, head, tail)), (1, 0, 2))
        return xp.reshape(sums, shape)

    if not n or not head or not tail:
        return lambda a: zeros(xp, shape, a)
    return run


def zeros(xp: ModuleType, shape: tuple[int, ...], like: Any) -> Any:
    """Zeros with the dtype of an array, where it lives."""
    if xp is np:
        return np.zeros(shape, like.dtype)
    return xp.zeros(shape, dtype=like.dtype, device=array_api_compat.device(like))


def segment_sum(xp: ModuleType, rows: Any, targets: Any, size: int) -> Any:
    """out[targets[k]] += rows[k] for rows of shape (n, r): the one kernel that namespaces do differently."""
    width = rows.shape[1]
    if xp is np:
        if width == 1 and rows.dtype == np.float64 and targets.size:  # bincount of nothing counts integers
            return np.bincount(targets, weights=rows[:, 0], minlength=size)[:, None]
        out = np.zeros((size, width), rows.dtype)
        if width == 1:
            np.add.at(out[:, 0], targets, rows[:, 0])
        else:
            np.add.at(out, targets, rows)
        return out
    if array_api_compat.is_jax_array(rows):
        return zeros(xp, (size, width), rows).at[targets].add(rows)
    if array_api_compat.is_torch_array(rows):
        return rows.new_zeros((size, width)).index_add(0, targets, rows)
    if array_api_compat.is_cupy_array(rows):
        out = zeros(xp, (size, width), rows)
        xp.add.at(out, targets, rows)
        return out
    msg = f"segment sums have no kernel in the array namespace {xp.__name__}: use numpy, cupy, JAX or torch"
    raise SpaceError(msg)
