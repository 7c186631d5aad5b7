"""Labels of sections under laws: in the order before a transposition, in a normal order, of two sections in a row."""

from __future__ import annotations

from functools import cache

from hilbert.index.spec import ALPHABET, Spec


def unmoved(labels: str, order: tuple[int, ...]) -> str:
    """The labels before axes were put into this order."""
    before = [""] * len(labels)
    for label, axis in zip(labels, order, strict=True):
        before[axis] = label
    return "".join(before)


def _fixed(spec: Spec, side: int) -> tuple[str, str, str]:
    """The labels of the datum, of the flow and of the result."""
    return (spec.left, spec.right, spec.out) if side == 0 else (spec.right, spec.left, spec.out)


def normal(spec: Spec, side: int) -> tuple[Spec, tuple[int, ...]]:
    """The same section with its datum on side 0 and the axes of the datum in the order of the result, then the flow.

    The second is the order to put the axes of the datum in.
    """
    datum, flow, out = _fixed(spec, side)
    labels = "".join(c for c in dict.fromkeys(out + flow) if c in datum)
    return Spec.of(labels, flow, out), tuple(datum.index(c) for c in labels)


@cache
def product(outer: Spec, outer_side: int, inner: Spec, inner_side: int) -> tuple[Spec, Spec] | None:
    """For x ↦ u ⋄ (v ⋄' x): the contraction of u with v to w, and that of w with x.

    The labels of w are those of u and v that x or the result has; what only u and v have is summed.
    """
    u, y = (outer.left, outer.right) if outer_side == 0 else (outer.right, outer.left)
    v, x = (inner.left, inner.right) if inner_side == 0 else (inner.right, inner.left)
    names: dict[str, str] = dict(zip(y, inner.out, strict=True))
    free = iter(c for c in ALPHABET if c not in v + x)
    try:
        for c in outer.left + outer.right:
            if c not in names:
                names[c] = next(free)
    except StopIteration:  # more labels than letters
        return None
    u, out = ("".join(names[c] for c in labels) for labels in (u, outer.out))
    w = "".join(dict.fromkeys(c for c in u + v if c in x + out))
    return Spec.of(u, v, w), Spec.of(w, x, out)
