"""Reductions by windows: stencils, pooling, convolution supports, all windows side by side, and their adjoints.

Sums over windows take about log₂(width) additions of whole arrays: a window of 2w is two windows of w side by side. No
difference of cumulative sums is taken, so that no digits cancel and a NaN stays within its windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hilbert.arrays.kernel import Kernel
from hilbert.arrays.reduced_axes import FRESH, lent

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.arrays.reduced_axes import Place
    from hilbert.relation import Sliding, Window

CONVOLVED = 11
"""numpy convolves with up to so many ones in a single vectorised pass."""
SHORT, LONG = 4, 512
"""Rows shorter than the one are summed entry by entry, than the other by BLAS."""
FEW = 16
"""Up to so many slices are added one by one."""


def window(p: Place, r: Window[Any, Any]) -> Kernel:
    """(red v)_y = Σ_k v[stride·y + offset + dilation·k]."""
    if not r.width or not p.n or not p.m:
        return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
    w, s, d = r.width, r.stride, r.dilation
    low = -r.offset  # zeros in front of X; if negative, what is in front of window 0
    high = s * (p.m - 1) + d * (w - 1) + 1 + r.offset - p.n
    if _is_flat(p) and s == d == 1 and 1 < w <= CONVOLVED and 0 < max(low, high) < w:
        return Kernel(lambda a: _cut_off(p, p.line(a), w, low, high))
    if p.xp is np and SHORT <= w == s and d == p.rows == p.width == 1 and low == 0 and high <= 0:
        return _tiles(p, w)
    few = w.bit_length() + 3 if w > CONVOLVED or not _is_flat(p) else 1
    if few == 1 and w < 2 * s and p.n * np.dtype(p.dtype).itemsize >= FRESH:
        few = 2  # a large intermediate array would cost more than it saves
    fresh = w > 1 or low > 0 or high > 0
    if s == 1 or w > s * few:  # all windows, of those every s-th
        every = p.cut(None, None, s)
        return Kernel(lambda a: p.whole(consecutive(p, p.padded(p.line(a), low, high), w, d)[every]), fresh=fresh)
    apart = _apart(p, w, s, d)
    if low == 0 and high <= 0:
        return Kernel(lambda a: p.whole(apart(p.line(a))), fresh=fresh)
    return Kernel(lambda a: p.whole(apart(p.padded(p.line(a), low, high))), fresh=fresh)


def _tiles(p: Place, w: int) -> Kernel:
    """Windows of a numpy line, one after the other without gaps."""
    used = None if p.m * w == p.n else p.m * w
    if SHORT <= w < LONG:
        ones = np.ones(w, p.dtype)
        return Kernel(lambda a: (a.reshape(-1)[:used].reshape(p.m, w) @ ones).reshape(p.out))
    return Kernel(lambda a: row_sums(a.reshape(-1)[:used].reshape(p.m, w)).reshape(p.out))


def _is_flat(p: Place) -> bool:
    return p.xp is np and p.rows == p.width == 1


def _cut_off(p: Place, v: Any, w: int, low: int, high: int) -> Any:
    """Consecutive windows over the ends of a line in numpy; entry j of the full convolution is the window up to j."""
    seen = v.reshape(-1)[max(-low, 0) : p.n - max(-high, 0)]
    sums = np.convolve(lent(seen), np.ones(w, v.dtype), "full")
    first = w - 1 - max(low, 0)
    return sums[first : first + p.m].reshape(p.out)


def consecutive(p: Place, v: Any, width: int, d: int) -> Any:
    """Sums of `width` entries `d` apart, from every start: from w to 2w or, with one more entry, to 2w + 1."""
    at = p.at
    done, sums = 1, v
    bits = bin(width)[3:]
    if p.xp is np and d == p.width == 1 < width:
        while done < width and 2 * done + 1 <= CONVOLVED and bits:
            done, bits = 2 * done + int(bits[0]), bits[1:]
        sums = _convolved(v, p.rows, done).reshape(*p.before, -1, *p.after)
    for bit in bits:
        length = sums.shape[at]
        sums = sums[p.cut(0, length - d * done)] + sums[p.cut(d * done, length)]
        done *= 2
        if bit == "1":
            length = v.shape[at] - d * done
            sums = _plus(p, sums[p.cut(0, length)], v[p.cut(d * done, None)])
            done += 1
    return sums


def _convolved(v: Any, rows: int, w: int) -> Any:
    """Sums of w consecutive entries within each row of a numpy array."""
    flat = v.reshape(-1)
    length = flat.size // rows
    sums = np.convolve(lent(flat), np.ones(w, v.dtype), "valid")
    step = sums.itemsize
    return as_strided(sums, (rows, length - w + 1), (length * step, step))


def _plus(p: Place, a: Any, b: Any) -> Any:
    """a + b, where a is memory of our own."""
    if p.xp is not np:
        return a + b
    a += b
    return a


def _apart(p: Place, w: int, s: int, d: int) -> Callable[[Any], Any]:
    """The sums of windows that start s apart."""
    if p.xp is np and (w > FEW or (w > 2 and d == 1 and w <= s and not p.after)):
        return lambda v: _summed(p, _windows(p, v, p.m, w, s, d))
    first, *others = [p.cut(d * k, d * k + s * (p.m - 1) + 1, s) for k in range(w)]
    if not others:
        return lambda v: v[first]
    second, *others = others

    def sums(v: Any) -> Any:
        y = v[first] + v[second]
        for cut in others:
            y = _plus(p, y, v[cut])
        return y

    return sums


def _windows(p: Place, v: Any, m: int, w: int, s: int, d: int, *, writeable: bool = False) -> Any:
    """The windows of a numpy array side by side: a view of shape before + (m, w) + after."""
    at, step = p.at, v.strides[p.at]
    shape = (*v.shape[:at], m, w, *v.shape[at + 1 :])
    return as_strided(v, shape, (*v.strides[:at], s * step, d * step, *v.strides[at + 1 :]), writeable=writeable)


def _summed(p: Place, windows: Any) -> Any:
    """The sum of each window."""
    return np.add.reduce(windows, axis=p.at + 1) if p.after else row_sums(windows)


def row_sums(rows: Any) -> Any:
    """Sums along the last axis of a numpy array: `add.reduce` is slow on short rows, and more exact on long ones."""
    n = rows.shape[-1]
    if 1 < n < SHORT:
        sums = rows[..., 0] + rows[..., 1]
        for k in range(2, n):
            sums += rows[..., k]
        return sums
    return rows @ np.ones(n, rows.dtype) if n < LONG else np.add.reduce(rows, axis=-1)


def spread(p: Place, r: Window[Any, Any]) -> Kernel:
    """The adjoint of windows with a stride: v_y is added to all of its window."""
    w, s, d, o = r.width, r.stride, r.dilation, r.offset
    if not w or not p.n or not p.m:
        return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
    span = s * (p.n - 1) + d * (w - 1) + 1
    low, high = o, p.m - o - span  # what Y has around all windows; negative where they are cut off

    def in_numpy(a: Any) -> Any:
        v = p.line(a)
        if w > FEW and (w > s or d > 1):
            return p.whole(p.padded(_stuffed(p, v, w, s, d), low, high))
        inside = low >= 0 and high >= 0
        disjoint = w <= s and d == 1
        if disjoint and w == s and low == high == 0:
            return p.whole(np.repeat(lent(v), s, axis=p.at))
        out = np.zeros(p.made if inside else _length(p, span), v.dtype)
        view = out[p.cut(low, low + span)] if inside else out
        if disjoint:
            _windows(p, view, p.n, w, s, d, writeable=True)[...] = np.expand_dims(v, p.at + 1)
        else:
            for k in range(w):
                view[p.cut(d * k, d * k + s * (p.n - 1) + 1, s)] += v
        return p.whole(out if inside else p.padded(out, low, high))

    return Kernel(in_numpy if p.xp is np else lambda a: p.whole(p.padded(_stuffed(p, p.line(a), w, s, d), low, high)))


def _length(p: Place, length: int) -> tuple[int, ...]:
    return (*p.before, length, *p.after)


def spaced(p: Place, v: Any, s: int) -> Any:
    """The entries along the one axis with s − 1 zeros between them."""
    if s == 1:
        return v
    xp, n = p.xp, v.shape[p.at]
    if xp is np:
        out = np.zeros(_length(p, s * (n - 1) + 1), v.dtype)
        out[p.cut(0, None, s)] = v
        return out
    zeros = xp.broadcast_to(xp.expand_dims(p.zeros(v, n), axis=p.at + 1), (*p.before, n, s - 1, *p.after))
    both = xp.concat([xp.expand_dims(v, axis=p.at + 1), zeros], axis=p.at + 1)
    return xp.reshape(both, _length(p, s * n))[p.cut(0, s * (n - 1) + 1)]


def _stuffed(p: Place, v: Any, w: int, s: int, d: int) -> Any:
    """The adjoint of windows as windows over the entries with zeros between them."""
    edge = d * (w - 1)
    return consecutive(p, p.padded(spaced(p, v, s), edge, edge), w, d)


def side_by_side(p: Place, r: Sliding[Any, Any, Any]) -> Kernel:
    """(y, k) ↦ v[stride·y + offset + dilation·k]: a view in numpy, a gather elsewhere."""
    m, w = r.dom.left.size, r.dom.right.size
    if not m or not w:
        return Kernel(lambda a: p.xp.reshape(p.zeros(a, 0), p.out))
    s, d, o = r.stride, r.dilation, r.offset
    if p.xp is np:
        return Kernel(lambda a: _windows(p, p.line(a)[p.cut(o, None)], m, w, s, d).reshape(p.out), fresh=False)

    def stacked(a: Any) -> Any:
        v = p.line(a)
        parts = [v[p.cut(o + d * k, o + d * k + s * (m - 1) + 1, s)] for k in range(w)]
        return p.xp.reshape(p.xp.stack(parts, axis=p.at + 1), p.out)

    return Kernel(stacked)


def overlaid(p: Place, r: Sliding[Any, Any, Any]) -> Kernel:
    """The adjoint of windows side by side: entry (y, k) is added at stride·y + offset + dilation·k."""
    m, w = r.dom.left.size, r.dom.right.size
    s, d, o = r.stride, r.dilation, r.offset
    if not m or not w:
        return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
    span = s * (m - 1) + d * (w - 1) + 1
    shape = (*p.before, m, w, *p.after)

    def in_numpy(a: Any) -> Any:
        v = np.reshape(a, shape)
        out = np.zeros(p.made, v.dtype)
        view = out[p.cut(o, o + span)]
        if w <= s and d == 1:
            _windows(p, view, m, w, s, d, writeable=True)[...] = v
        elif w <= m:
            for k in range(w):
                view[p.cut(d * k, d * k + s * (m - 1) + 1, s)] += v[p.index(slice(None), k)]
        else:
            for y in range(m):
                view[p.cut(s * y, s * y + d * (w - 1) + 1, d)] += v[p.index(y)]
        return p.whole(out)

    def elsewhere(a: Any) -> Any:
        v = p.xp.reshape(a, shape)
        total: Any = 0
        for k in range(w):
            part = spaced(p, v[p.index(slice(None), k)], s)
            total = total + p.padded(part, o + d * k, p.m - o - d * k - s * (m - 1) - 1)
        return p.whole(total)

    return Kernel(in_numpy if p.xp is np else elsewhere)
