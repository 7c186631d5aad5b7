"""Convolutions: all windows side by side, which are views in numpy, and one contraction with the kernel.

>>> import hilbert.all as hb
>>> X, C, O, K = hb.Fin.of(5), hb.Fin.of(2), hb.Fin.of(3), hb.Fin.of(3)
>>> x, w = (hb.R ** (X * C)).ones(), (hb.R ** (K * C * O)).ones()
>>> hb.conv(x, w).array[:, 0].tolist(), hb.conv(x, w, padding="same").array[:, 0].tolist()
([6.0, 6.0, 6.0], [4.0, 6.0, 6.0, 6.0, 4.0])
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from diff.trace.expr import Expr
from diff.vocabulary.eager import eager
from hilbert import Fin, Index, SpaceError
from hilbert.base.attach import overloaded
from hilbert.errors import integer, shown
from hilbert.index.index import require_index
from hilbert.index.spec import Spec
from hilbert.program.line.operation import Reduce
from hilbert.relation import run, sliding
from hilbert.relation.relation_checks import whole
from hilbert.space.space import type_of

if TYPE_CHECKING:
    from diff import _calls


@overloaded(lambda: _calls.conv)
@eager
def conv(x: Any, w: Any, *, stride: Any = 1, dilation: Any = 1, padding: Any = 0, to: Any = None) -> Any:
    """(Σ_{k,c} x_{stride·y + dilation·k − before, c} · w_{k,c,o})_{y,o}: x ∈ ℝ^{X×…×C}, w ∈ ℝ^{K×…×C×O} give ℝ^{Y×…×O}.

    The kernel is not turned round, as in deep learning. `stride`, `dilation` and `padding` are a number for all axes or
    one for each; `padding` counts the zeros on both sides, or is a pair, or "same" for as many places as strides.
    `to` is Y × …; without it, axes whose places stay keep their index set. Raises SpaceError where axes do not fit.
    """
    n = _axes(x, w)
    (image,), (kernel,) = x.space.leaves, w.space.leaves
    strides, dilations = _amounts(stride, n, "stride"), _amounts(dilation, n, "dilation")
    around = _paddings(padding, n, [axis.size for axis in image.axes], kernel.shape, strides, dilations)
    b, slot = x.builder, x.slots[0]
    target: list[Index] = []
    for X, K_, s, d, (low, high) in zip(image.axes[:n], kernel.axes[:n], strides, dilations, around, strict=True):
        count = max((X.size + low + high - 1 - d * (K_.size - 1)) // s + 1, 0)
        target.append(X if count == X.size else Fin.of(count))
        if not K_.size:
            msg = f"conv of {shown(x)} with a kernel in {w.space}: it has no offsets along {K_}"
            raise SpaceError(msg)
    Y = _named(to, target, x)
    for k, (low, high) in enumerate(around):
        if low or high:
            X = image.axes[k]
            slot = b.apply(Reduce(run(X, Fin.of(X.size + low + high), low), k), slot)
    for k in reversed(range(n)):
        windows = sliding(
            b.slots[slot].axes[k],
            kernel.axes[k].size,
            stride=strides[k],
            dilation=dilations[k],
            to=Y[k] * kernel.axes[k],
        )
        slot = b.apply(Reduce(windows.T, k), slot)
    letters = iter(Spec.pointwise(2 * n + 2).left)
    places, offsets = [next(letters) for _ in range(n)], [next(letters) for _ in range(n)]
    c, o = letters
    spec = Spec.of(
        "".join(p + q for p, q in zip(places, offsets, strict=True)) + c,
        "".join(offsets) + c + o,
        "".join(places) + o,
    )
    slot = b.contract(spec, slot, w.slots[0])
    return Expr(b, type_of(b.slots[slot]), (slot,))


def _axes(x: Any, w: Any) -> int:
    """The number of axes along which the windows lie."""
    for value in (x, w):
        if not isinstance(value, Expr):
            msg = f"conv(x, w) takes vectors, not {shown(value)}"
            raise SpaceError(msg)
    fits = "x ∈ ℝ^{X×…×C} and w ∈ ℝ^{K×…×C×O} would fit, C the channels of x and O those of the result"
    have = f"conv of {shown(x)} with a kernel in {w.space}"
    if len(x.space.leaves) != 1 or len(w.space.leaves) != 1 or not (x.space.is_space and w.space.is_space):
        msg = f"{have}: {fits}"
        raise SpaceError(msg)
    image, kernel = x.space.leaves[0].axes, w.space.leaves[0].axes
    n = len(image) - 1
    if n < 1 or len(kernel) != n + 2:
        msg = f"{have}: {len(image)} and {len(kernel)} axes, where {fits}"
        raise SpaceError(msg)
    if image[n] != kernel[n]:
        msg = f"{have}: the channels {image[n]} of x are not the channels {kernel[n]} of the kernel; {fits}"
        raise SpaceError(msg)
    return n


def _amounts(given: Any, n: int, name: str) -> list[int]:
    """The strides or dilations of a convolution, one for each axis; raises SpaceError for another number of them."""
    each = given if isinstance(given, tuple) else (given,) * n
    if len(each) != n:
        msg = f"the {name} of conv is a number, or one for each of {n} axes, not {shown(given)}"
        raise SpaceError(msg)
    return [whole(k, f"the {name} of conv", least=1) for k in each]


def _paddings(
    given: Any, n: int, sizes: list[int], kernel: tuple[int, ...], strides: list[int], dilations: list[int]
) -> list[tuple[int, int]]:
    """The zeros before and after each axis."""
    if isinstance(given, str) and given == "same":
        places = [-(-size // s) for size, s in zip(sizes[:n], strides, strict=True)]
        missing = [
            max((m - 1) * s + d * (k - 1) + 1 - size, 0)
            for m, s, d, k, size in zip(places, strides, dilations, kernel[:n], sizes[:n], strict=True)
        ]
        return [(k // 2, k - k // 2) for k in missing]
    each = given if isinstance(given, tuple) else (given,) * n
    pairs = [tuple(map(integer, k if isinstance(k, tuple) else (k, k))) for k in each]
    fit = [(a, b) for a, b in (pair for pair in pairs if len(pair) == 2) if a is not None and b is not None]
    if not len(fit) == len(pairs) == n or any(min(pair) < 0 for pair in fit):
        msg = f'the padding of conv is a number ≥ 0, "same", or for each of {n} axes a number or a pair of numbers, '
        raise SpaceError(f"{msg}not {shown(given)}")
    return fit


def _named(to: Any, target: list[Index], x: Any) -> list[Index]:
    """The axes of the result."""
    if to is None:
        return target
    require_index(to, "conv(x, w, to=Y)")
    if [axis.size for axis in to.axes] != [axis.size for axis in target]:
        sizes = "×".join(str(axis.size) for axis in target)
        msg = f"conv of {shown(x)} has {sizes} = {math.prod(axis.size for axis in target)} places, and {to} does not"
        raise SpaceError(msg)
    return list(to.axes)
