"""Sums over networks of labelled factors: how bilinear maps and reductions act on formal arrays, factor by factor.

The factors of the operands are connected where they have a label in common; each connected part is contracted by
itself, in the order that the search finds best. The rank labels of the operands stay open as long as they join parts
with axes of the result. So no array has axes of two parts, and the result is a block again, or one plain array.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import field, frozen

from hilbert.arrays.formal.formal_array import block
from hilbert.arrays.kernels.labelled_axes import label_diagonal
from hilbert.arrays.libraries.contraction_order import best, places
from hilbert.arrays.libraries.namespace import dtype_name
from hilbert.index.index import Fin
from hilbert.index.leaf import Entry, Leaf
from hilbert.index.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hilbert.arrays.formal.formal_array import Block, Memo
    from hilbert.arrays.kernels.kernel import Kernel
    from hilbert.arrays.kernels.library import Library


@final
@frozen(eq=False)
class Factor:
    """An array with a label for each axis (an element of X has those of X at the end); `entry` is that of its leaf."""

    array: Any
    labels: str
    entry: Entry = field(kw_only=True)

    @property
    def leaf(self) -> Leaf:
        """The leaf that the array fills, up to the names of its axes."""
        return Leaf(self.entry, tuple(Fin.of(n) for n in self.array.shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the labels."""
        return tuple(self.array.shape) + self.entry.shape


def real(array: Any, labels: str) -> Factor:
    """A factor of a field."""
    return Factor(array, labels, entry=Entry(dtype_name(array)))


# --- one array from many ---


def product(lib: Library, factors: Sequence[Factor], out: str) -> Any:
    """The array over the labels `out` of the product of some factors, summed over all other labels."""
    todo = [_diagonal(lib, f) for f in factors]
    todo = [_summed(lib, f, out, [g for g in todo if g is not f]) for f in todo]
    for pair in _order(tuple(f.labels for f in todo), out, tuple(f.shape for f in todo)):
        a, b = (todo[i] for i in pair)
        todo = [f for i, f in enumerate(todo) if i not in pair]
        todo.append(_pair(lib, a, b, out, todo))
    (last,) = todo
    have = "".join(c for c in out if c in last.labels)
    return last.array if have == last.labels else lib.xp.permute_dims(last.array, tuple(map(last.labels.index, have)))


@lru_cache(maxsize=1024)
def _order(labels: tuple[str, ...], out: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, int], ...]:
    """Pairs of factors to contract, the result goes to the end of the list."""
    number = {c: k for k, c in enumerate(dict.fromkeys("".join(labels)))}
    size = {c: n for have, shape in zip(labels, shapes, strict=True) for c, n in zip(have, shape, strict=True)}
    lists = tuple(tuple(number[c] for c in have) for have in labels)
    pairs = best(lists, tuple(number[c] for c in out if c in number), tuple(size[c] for c in number))
    return places(pairs or (), len(labels))


def _diagonal(lib: Library, f: Factor) -> Factor:
    """Every label once: the entries where axes of one label agree."""
    if len(set(f.labels)) == len(f.labels):
        return f
    return Factor(*label_diagonal(lib.xp, f.array, f.labels), entry=f.entry)


def _summed(lib: Library, f: Factor, out: str, others: Sequence[Factor]) -> Factor:
    """The factor without the labels that only it has."""
    elsewhere = set(out).union(*(g.labels for g in others))
    alone = [c for c in f.labels if c not in elsewhere]
    if not alone or not f.entry.is_field:
        return f
    array = lib.xp.sum(f.array, axis=tuple(map(f.labels.index, alone)))
    return Factor(array, "".join(c for c in f.labels if c not in alone), entry=f.entry)


def _pair(lib: Library, a: Factor, b: Factor, out: str, others: Sequence[Factor]) -> Factor:
    rest = set(out).union(*(f.labels for f in others))
    made = [c for c in dict.fromkeys(a.labels + b.labels) if c in rest]
    made.sort(key=lambda c: out.index(c) if c in out else -1)
    labels = "".join(made)
    kernel = _kernel(lib, Spec.of(a.labels, b.labels, labels), a.leaf, b.leaf)
    entry = a.entry if a.entry.is_field else b.entry
    return Factor(kernel.call(a.array, b.array), labels, entry=entry)


@lru_cache(maxsize=4096)
def _kernel(lib: Library, spec: Spec, left: Leaf, right: Leaf) -> Kernel:
    return lib.contract(spec, left, right)


# --- a block from many ---


def combine(
    lib: Library,
    memo: Memo,
    k: Any,
    factors: Sequence[Factor],
    ranks: dict[str, int],
    out: str,
    *,
    lazy: bool = False,
) -> Block | Any:
    """k · Σ Π factors, with the labels `out`: a block, or a plain array where one part has all axes.

    `ranks` are the sizes of the labels that join the factors of one operand. With `lazy` one of them stays open even
    where one part has all axes.
    """
    parts = [_contracted(lib, memo, group, ranks, out, factors) for group in _connected(factors, ranks)]
    parts = _absorbed(lib, memo, parts, ranks, out, least=2 if lazy else 1)
    numbers = [p.array for p in parts if not p.labels]
    parts = [p for p in parts if p.labels]
    if not parts:
        return _times(k, numbers[1:]) * numbers[0]
    k = _times(k, map(lib.number, numbers))
    groups = sum(any(c not in ranks for c in p.labels) for p in parts)
    if not groups or (groups == 1 and not lazy):
        array = product(lib, parts, out)
        return array if isinstance(k, float) and k == 1.0 else array * k
    inner = [p for p in parts if all(c in ranks for c in p.labels)]
    if len(inner) > 1:  # weights of both operands: one factor without axes
        labels = "".join(c for c in ranks if any(c in p.labels for p in inner))
        parts = [*(p for p in parts if not any(p is q for q in inner)), _made(lib, memo, inner, labels)]
    sizes = {c: n for c, n in ranks.items() if any(c in p.labels for p in parts)}
    return block(k, [_ranked(lib, memo, p, sizes or {"1": 1}, out) for p in parts])


def _times(k: Any, numbers: Iterable[Any]) -> Any:
    for number in numbers:
        k = k * number
    return k


def _connected(factors: Sequence[Factor], ranks: dict[str, int]) -> list[list[Factor]]:
    """Groups of factors that labels other than ranks connect, in the order of their first members."""
    groups: list[tuple[set[str], list[int]]] = []
    for i, f in enumerate(factors):
        labels = set(f.labels) - set(ranks)
        members = [i]
        others = []
        for have, inside in groups:
            if have & labels:
                labels, members = labels | have, inside + members
            else:
                others.append((have, inside))
        groups = [*others, (labels, members)]
    groups.sort(key=lambda group: min(group[1]))
    return [[factors[i] for i in sorted(members)] for _, members in groups]


def _contracted(
    lib: Library, memo: Memo, group: list[Factor], ranks: dict[str, int], out: str, factors: Sequence[Factor]
) -> Factor:
    """A group as one factor, over its labels of the result and the ranks that others have too."""
    outside = [f for f in factors if not any(f is g for g in group)]
    inside = set().union(*(f.labels for f in group))
    kept = "".join(c for c in ranks if c in inside and any(c in f.labels for f in outside))
    labels = kept + "".join(c for c in out if c in inside)
    if not any(f.entry.is_field for f in group):  # a selection, or basis vectors: of 1
        dtype = next(f.array.dtype for f in factors if f.entry.is_field)
        group = [*group, real(lib.xp.ones((), dtype=dtype), "")]
    if len(group) == 1 and set(labels) == set(group[0].labels) and len(set(labels)) == len(group[0].labels):
        return group[0]
    return _made(lib, memo, group, labels)


def _made(lib: Library, memo: Memo, factors: Sequence[Factor], labels: str) -> Factor:
    """The product of some factors, once for these arrays."""
    key = ("product", labels, *((f.labels, f.entry) for f in factors))
    array = memo.of(key, tuple(f.array for f in factors), lambda *_: product(lib, factors, labels))
    return real(array, labels)


def _absorbed(
    lib: Library, memo: Memo, parts: list[Factor], ranks: dict[str, int], out: str, *, least: int
) -> list[Factor]:
    """Parts without axes multiplied into each other, and into others if that closes a rank, the larger rank first.

    A part with fewer than `least` ranks is not multiplied into one with axes.
    """
    while True:
        inner = [p for p in parts if p.labels and all(c in ranks for c in p.labels)]
        alone = next((p for p in inner if _alone(p, parts)), None)
        if alone is not None:
            parts = [*(r for r in parts if r is not alone), _made(lib, memo, (alone,), _shared(alone, parts))]
            continue
        pair = _nested(inner) or _closing([p for p in inner if len(p.labels) >= least], parts, ranks)
        if pair is None:
            return parts
        p, q, closed = pair
        have = set(p.labels + q.labels) - set(closed)
        labels = "".join(c for c in ranks if c in have) + "".join(c for c in out if c in have)
        parts = [*(r for r in parts if r is not p and r is not q), _made(lib, memo, (p, q), labels)]


def _shared(p: Factor, parts: Sequence[Factor]) -> str:
    """The labels of a part that others have too."""
    return "".join(c for c in p.labels if any(c in q.labels for q in parts if q is not p))


def _alone(p: Factor, parts: Sequence[Factor]) -> bool:
    """True if some rank of a part is in no other part, so that the rank can be summed."""
    return len(_shared(p, parts)) < len(p.labels)


def _nested(inner: Sequence[Factor]) -> tuple[Factor, Factor, str] | None:
    """Two parts without axes, one over ranks of the other."""
    for p in inner:
        for q in inner:
            if p is not q and set(p.labels) <= set(q.labels):
                return p, q, ""
    return None


def _closing(
    inner: Sequence[Factor], parts: Sequence[Factor], ranks: dict[str, int]
) -> tuple[Factor, Factor, str] | None:
    """A part without axes, the only other part with one of its ranks, and that rank."""
    found: list[tuple[int, int, Factor, Factor, str]] = []
    for p in inner:
        for c in p.labels:
            others = [q for q in parts if q is not p and c in q.labels]
            if len(others) == 1:
                found.append((-ranks[c], int(np.prod(others[0].shape)), p, others[0], c))
    if not found:
        return None
    _, _, p, q, c = min(found, key=lambda choice: choice[:2])
    return p, q, c


def _ranked(lib: Library, memo: Memo, p: Factor, open_: dict[str, int], out: str) -> tuple[Any, tuple[int, ...]]:
    """A part as a factor of a block: the open ranks as one axis in front."""
    axes = [c for c in p.labels if c not in open_]
    places = tuple(map(out.index, axes))
    if p.labels == "".join(open_) + "".join(axes) and len(open_) == 1:
        return p.array, places

    def run(array: Any) -> Any:
        have = [c for c in open_ if c in p.labels]
        array = lib.xp.permute_dims(array, tuple(map(p.labels.index, (*have, *axes))))
        sizes = tuple(array.shape[len(have) :])
        array = lib.xp.reshape(array, tuple(n if c in have else 1 for c, n in open_.items()) + sizes)
        array = lib.xp.broadcast_to(array, (*open_.values(), *sizes))
        return array if len(open_) == 1 else lib.xp.reshape(array, (int(np.prod([*open_.values()])), *sizes))

    return memo.of(("ranked", p.labels, *open_.items()), (p.array,), run), places
