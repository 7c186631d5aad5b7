"""Reductions by windows: stencils, pooling, convolution supports, all windows side by side, and their adjoints.

Sums over windows take about log₂(width) additions of whole arrays: a window of 2w is two windows of w side by side. No
difference of cumulative sums is taken, so that no digits cancel and a NaN stays within its windows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from hilbert.arrays.kernels.kernel import Kernel
from hilbert.arrays.kernels.library import Library
from hilbert.arrays.kernels.reduced_axes import FRESH, lent

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.arrays.kernels.reduced_axes import ReducedAxes
    from hilbert.relation import Sliding, Window

CONVOLVED = 11
"""numpy convolves with up to so many ones in a single vectorised pass."""
SHORT, LONG = 4, 512
"""Rows shorter than the one are summed entry by entry, than the other by BLAS."""
SMALL = 256
"""Arrays of up to so many entries cost calls, not numbers (measured)."""
FEW = 16
"""Up to so many slices are added one by one."""


class Windows(Library):
    """Windows by slices, for arrays that nobody writes into."""

    def window(self, p: ReducedAxes, r: Window[Any, Any]) -> Kernel:
        """(red v)_y = Σ_k v[stride·y + offset + dilation·k]."""
        if not r.width or not p.n or not p.m:
            return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
        w, s, d = r.width, r.stride, r.dilation
        low, high = _around(p, r)
        fresh = w > 1 or low > 0 or high > 0
        if s == 1 or w > s * self.passes(p, r):  # all windows, of those every s-th
            every = p.cut(None, None, s)
            return Kernel(
                lambda a: p.whole(self.consecutive(p, p.padded(p.line(a), low, high), w, d)[every]), fresh=fresh
            )
        apart = self.apart(p, w, s, d)
        if low == 0 and high <= 0:
            return Kernel(lambda a: p.whole(apart(p.line(a))), fresh=fresh)
        return Kernel(lambda a: p.whole(apart(p.padded(p.line(a), low, high))), fresh=fresh)

    def passes(self, p: ReducedAxes, r: Window[Any, Any]) -> int:
        """About how many passes over the array the sums of all windows take."""
        return r.width.bit_length() + 3

    def consecutive(self, p: ReducedAxes, v: Any, width: int, d: int) -> Any:
        """Sums of `width` entries `d` apart, from every start."""
        return self.doubled(p, v, v, 1, bin(width)[3:], d)

    def doubled(self, p: ReducedAxes, v: Any, sums: Any, done: int, bits: str, d: int) -> Any:
        """Sums of more entries from sums of `done` entries: of twice as many for each bit, of one more for each 1."""
        for bit in bits:
            length = sums.shape[p.at]
            sums = sums[p.cut(0, length - d * done)] + sums[p.cut(d * done, length)]
            done *= 2
            if bit == "1":
                length = v.shape[p.at] - d * done
                sums = self.plus(sums[p.cut(0, length)], v[p.cut(d * done, None)])
                done += 1
        return sums

    def plus(self, a: Any, b: Any) -> Any:
        """a + b, where a is memory of our own."""
        return a + b

    def apart(self, p: ReducedAxes, w: int, s: int, d: int) -> Callable[[Any], Any]:
        """The sums of windows that start s apart."""
        first, *others = [p.cut(d * k, d * k + s * (p.m - 1) + 1, s) for k in range(w)]
        if not others:
            return lambda v: v[first]
        second, *others = others

        def sums(v: Any) -> Any:
            y = v[first] + v[second]
            for cut in others:
                y = self.plus(y, v[cut])
            return y

        return sums

    def spread(self, p: ReducedAxes, r: Window[Any, Any]) -> Kernel:
        """The adjoint of windows with a stride: v_y is added to all of its window."""
        if not r.width or not p.n or not p.m:
            return Kernel(lambda a: p.whole(p.zeros(a, p.m)))
        low, high = _outside(p, r)
        return Kernel(lambda a: p.whole(p.padded(self.stuffed(p, p.line(a), r), low, high)))

    def stuffed(self, p: ReducedAxes, v: Any, r: Window[Any, Any]) -> Any:
        """The adjoint of windows as windows over the entries with zeros between them."""
        edge = r.dilation * (r.width - 1)
        return self.consecutive(p, p.padded(self.spaced(p, v, r.stride), edge, edge), r.width, r.dilation)

    def spaced(self, p: ReducedAxes, v: Any, s: int) -> Any:
        """The entries along the one axis with s − 1 zeros between them."""
        if s == 1:
            return v
        xp, n = self.xp, v.shape[p.at]
        zeros = xp.broadcast_to(xp.expand_dims(p.zeros(v, n), axis=p.at + 1), (*p.before, n, s - 1, *p.after))
        both = xp.concat([xp.expand_dims(v, axis=p.at + 1), zeros], axis=p.at + 1)
        return xp.reshape(both, _length(p, s * n))[p.cut(0, s * (n - 1) + 1)]

    def side_by_side(self, p: ReducedAxes, r: Sliding[Any, Any, Any]) -> Kernel:
        """(y, k) ↦ v[stride·y + offset + dilation·k]: the windows stacked."""
        m, w = r.dom.left.size, r.dom.right.size
        if not m or not w:
            return Kernel(lambda a: p.xp.reshape(p.zeros(a, 0), p.out))
        s, d, o = r.stride, r.dilation, r.offset

        def stacked(a: Any) -> Any:
            v = p.line(a)
            parts = [v[p.cut(o + d * k, o + d * k + s * (m - 1) + 1, s)] for k in range(w)]
            return p.xp.reshape(p.xp.stack(parts, axis=p.at + 1), p.out)

        return Kernel(stacked)

    def overlaid(self, p: ReducedAxes, r: Sliding[Any, Any, Any]) -> Kernel:
        """The adjoint of windows side by side: entry (y, k) is added at stride·y + offset + dilation·k."""
        m, w = r.dom.left.size, r.dom.right.size
        s, d, o = r.stride, r.dilation, r.offset
        if not m or not w:
            return Kernel(lambda a: p.whole(p.zeros(a, p.m)))

        def call(a: Any) -> Any:
            v = p.xp.reshape(a, (*p.before, m, w, *p.after))
            total: Any = 0
            for k in range(w):
                part = self.spaced(p, v[p.index(slice(None), k)], s)
                total = total + p.padded(part, o + d * k, p.m - o - d * k - s * (m - 1) - 1)
            return p.whole(total)

        return Kernel(call)


class NumpyWindows(Windows):
    """Windows as strided views, convolutions and sums in place."""

    def window(self, p: ReducedAxes, r: Window[Any, Any]) -> Kernel:
        """As for any library, but over the ends of a line by a convolution, and without gaps by rows of a matrix."""
        w, s, d = r.width, r.stride, r.dilation
        low, high = _around(p, r)
        if w and p.n and p.m and _is_flat(p):
            if s == d == 1 and 1 < w <= CONVOLVED and 0 < max(low, high) < w:
                return Kernel(lambda a: _cut_off(p, p.line(a), w, low, high))
            if SHORT <= w == s and d == 1 and low == 0 and high <= 0:
                return _tiles(p, w)
        return super().window(p, r)

    def passes(self, p: ReducedAxes, r: Window[Any, Any]) -> int:
        """About how many passes over the array all windows take: one convolution for a few entries of a line."""
        if r.width > CONVOLVED or not _is_flat(p):
            return super().passes(p, r)
        large = r.width < 2 * r.stride and p.n * np.dtype(p.dtype).itemsize >= FRESH
        return 2 if large else 1  # a large intermediate array would cost more than it saves

    def consecutive(self, p: ReducedAxes, v: Any, width: int, d: int) -> Any:
        """Sums from every start; the first entries by a convolution: w becomes 2w or, with one more entry, 2w + 1."""
        if not d == p.width == 1 < width:
            return super().consecutive(p, v, width, d)
        done, bits = 1, bin(width)[3:]
        while done < width and 2 * done + 1 <= CONVOLVED and bits:
            done, bits = 2 * done + int(bits[0]), bits[1:]
        return self.doubled(p, v, _convolved(v, p.rows, done).reshape(*p.before, -1, *p.after), done, bits, d)

    def plus(self, a: Any, b: Any) -> Any:
        """a + b in place, where a is memory of our own."""
        a += b
        return a

    def apart(self, p: ReducedAxes, w: int, s: int, d: int) -> Callable[[Any], Any]:
        """The sums of windows that start s apart; of many entries along a strided view."""
        if w > FEW or (w > 2 and d == 1 and w <= s and not p.after):
            return lambda v: _summed(p, _windows(p, v, p.m, w, s, d))
        return super().apart(p, w, s, d)

    def spread(self, p: ReducedAxes, r: Window[Any, Any]) -> Kernel:
        """The adjoint: repetition where windows tile, assignment to a strided view if disjoint, else sums of slices."""
        w, s, d = r.width, r.stride, r.dilation
        if not w or not p.n or not p.m or (w > FEW and (w > s or d > 1)):
            return super().spread(p, r)
        low, high = _outside(p, r)
        span = _span(r, p.n)
        inside = low >= 0 and high >= 0
        disjoint = w <= s and d == 1
        if disjoint and w == s and low == high == 0:
            return Kernel(lambda a: p.whole(np.repeat(lent(p.line(a)), s, axis=p.at)))

        def call(a: Any) -> Any:
            v = p.line(a)
            out = np.zeros(p.made if inside else _length(p, span), v.dtype)
            view = out[p.cut(low, low + span)] if inside else out
            if disjoint:
                _windows(p, view, p.n, w, s, d, writeable=True)[...] = np.expand_dims(v, p.at + 1)
            else:
                for k in range(w):
                    view[p.cut(d * k, d * k + s * (p.n - 1) + 1, s)] += v
            return p.whole(out if inside else p.padded(out, low, high))

        return Kernel(call)

    def spaced(self, p: ReducedAxes, v: Any, s: int) -> Any:
        """The entries along the one axis as every s-th of an array of zeros."""
        if s == 1:
            return v
        out = np.zeros(_length(p, s * (v.shape[p.at] - 1) + 1), v.dtype)
        out[p.cut(0, None, s)] = v
        return out

    def side_by_side(self, p: ReducedAxes, r: Sliding[Any, Any, Any]) -> Kernel:
        """The windows as a view."""
        m, w = r.dom.left.size, r.dom.right.size
        if not m or not w:
            return super().side_by_side(p, r)
        s, d, o = r.stride, r.dilation, r.offset
        return Kernel(lambda a: _windows(p, p.line(a)[p.cut(o, None)], m, w, s, d).reshape(p.out), fresh=False)

    def overlaid(self, p: ReducedAxes, r: Sliding[Any, Any, Any]) -> Kernel:
        """Assign where windows are disjoint; else add slices, one for each entry of a window or one for each window."""
        m, w = r.dom.left.size, r.dom.right.size
        s, d, o = r.stride, r.dilation, r.offset
        if not m or not w:
            return super().overlaid(p, r)
        span = s * (m - 1) + d * (w - 1) + 1

        def call(a: Any) -> Any:
            v = np.reshape(a, (*p.before, m, w, *p.after))
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

        return Kernel(call)


def _around(p: ReducedAxes, r: Window[Any, Any]) -> tuple[int, int]:
    """The numbers of zeros in front of X and behind; if negative, of entries before window 0 and behind the last."""
    return -r.offset, r.stride * (p.m - 1) + r.dilation * (r.width - 1) + 1 + r.offset - p.n


def _span(r: Window[Any, Any], windows: int) -> int:
    """The number of entries that so many windows cover together."""
    return r.stride * (windows - 1) + r.dilation * (r.width - 1) + 1


def _outside(p: ReducedAxes, r: Window[Any, Any]) -> tuple[int, int]:
    """The numbers of entries of Y in front of all windows of the adjoint, and behind; negative if they are cut off."""
    return r.offset, p.m - r.offset - _span(r, p.n)


def _length(p: ReducedAxes, length: int) -> tuple[int, ...]:
    return (*p.before, length, *p.after)


# --- in numpy ---


def _is_flat(p: ReducedAxes) -> bool:
    return p.rows == p.width == 1


def _tiles(p: ReducedAxes, w: int) -> Kernel:
    """Windows of a line, one after the other without gaps."""
    used = None if p.m * w == p.n else p.m * w
    if SHORT <= w < LONG:
        ones = np.ones(w, p.dtype)
        return Kernel(lambda a: (a.reshape(-1)[:used].reshape(p.m, w) @ ones).reshape(p.out))
    return Kernel(lambda a: row_sums(a.reshape(-1)[:used].reshape(p.m, w)).reshape(p.out))


def _cut_off(p: ReducedAxes, v: Any, w: int, low: int, high: int) -> Any:
    """Consecutive windows over the ends of a line; entry j of the full convolution is the window up to j."""
    seen = v.reshape(-1)[max(-low, 0) : p.n - max(-high, 0)]
    sums = np.convolve(lent(seen), np.ones(w, v.dtype), "full")
    first = w - 1 - max(low, 0)
    return sums[first : first + p.m].reshape(p.out)


def _convolved(v: Any, rows: int, w: int) -> Any:
    """Sums of w consecutive entries within each row."""
    flat = v.reshape(-1)
    length = flat.size // rows
    sums = np.convolve(lent(flat), np.ones(w, v.dtype), "valid")
    step = sums.itemsize
    return as_strided(sums, (rows, length - w + 1), (length * step, step))


def _windows(p: ReducedAxes, v: Any, m: int, w: int, s: int, d: int, *, writeable: bool = False) -> Any:
    """The windows of an array side by side: a view of shape before + (m, w) + after."""
    at, step = p.at, v.strides[p.at]
    shape = (*v.shape[:at], m, w, *v.shape[at + 1 :])
    return as_strided(v, shape, (*v.strides[:at], s * step, d * step, *v.strides[at + 1 :]), writeable=writeable)


def _summed(p: ReducedAxes, windows: Any) -> Any:
    """The sum of each window."""
    return np.add.reduce(windows, axis=p.at + 1) if p.after else row_sums(windows)


def row_sums(rows: Any) -> Any:
    """Sums along the last axis: `add.reduce` is slow on short rows, and more exact on long ones."""
    n = rows.shape[-1]
    if 1 < n < SHORT:
        sums = rows[..., 0] + rows[..., 1]
        for k in range(2, n):
            sums += rows[..., k]
        return sums
    return rows @ np.ones(n, rows.dtype) if n < LONG else np.add.reduce(rows, axis=-1)
