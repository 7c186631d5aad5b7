"""The paper's signs for labelled contractions.

| sign | contraction | |
|---|---|---|
| `·` | `,->` `,i->i` `i,i->i` | scalar product; entry by entry |
| `⊙` | `i,i->` | inner product |
| `⋆` | `ij,j->i` | matrix–vector product; `Wᵀ⋆` where the matrix is read the other way |
| `∗` | `ij,jk->ik` | matrix product, tensor contraction; `ᵀ` likewise |
| `⊗` | `i,j->ij` | outer product |
| `[bi,bj→ijb]` | anything else | |

A lifted contraction has the sign of the one that it lifts; `lifted_over` tells over which axes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec


@cache
def sign_of(spec: Spec) -> tuple[str, bool, bool, bool]:
    """(sign, left transposed, right transposed, operands swapped) of a contraction."""
    left, right, out = spec.left, spec.right, spec.out
    plain = _blocks(left, right, out)
    if plain and (plain[0] == "⊗" or not any(plain[1:])):
        return plain
    while out and (out[0] in left[:1] or out[0] in right[:1]):
        c = out[0]
        left, right, out = left.removeprefix(c), right.removeprefix(c), out[1:]
        found = _blocks(left, right, out)
        if found:
            return plain if found[3] and plain else found
    return plain or (f"[{str(spec).replace('->', '→')}]", False, False, False)


@cache
def lifted_over(spec: Spec) -> str | None:
    """The operands that have each of the axes that a contraction is lifted over: l, r or b for both; "" for no axes.

    None where the sign does not say which axes are summed.
    """
    sign = sign_of(spec)
    left, right, out = spec.left, spec.right, spec.out
    who = ""
    while _blocks(left, right, out) != sign:
        c = out[:1]
        if not c or not (left.startswith(c) or right.startswith(c)):
            return "" if sign[0].startswith("[") else None
        who += "b" if left.startswith(c) and right.startswith(c) else "l" if left.startswith(c) else "r"
        left, right, out = left.removeprefix(c), right.removeprefix(c), out[1:]
    return who if sign[0] != "∗" or len(left) == len(right) == 2 else None


@cache
def unlifted(spec: Spec) -> tuple[str, bool, bool, bool] | None:
    """The sign of a contraction that is read as lifted over nothing; None if there is none, or it says too little."""
    found = _blocks(spec.left, spec.right, spec.out)
    return None if found and found[0] == "∗" and len(spec.left + spec.right) > 4 else found


def acts_on_all(spec: Spec, left: Leaf, right: Leaf) -> bool:
    """Tell if the sign of a contraction says which axes are summed, and the contraction is lifted over none.

    x[c] is entry by entry, v[y] takes along the axes in front, and e[y] stands alone or in a segment sum.
    """
    if left.is_field and right.is_field:
        return lifted_over(spec) == ""
    hot, of, leaf = (spec.right, spec.left, right) if left.is_field else (spec.left, spec.right, left)
    if leaf.entry.index is None:
        return spec.left == spec.right == spec.out
    y, x = hot[: len(leaf.axes)], hot[len(leaf.axes) :]
    gathers = of.startswith(x) and spec.out == y + of.removeprefix(x)
    return gathers or (of.startswith(y) and spec.out == x + of.removeprefix(y))


def _blocks(left: str, right: str, out: str) -> tuple[str, bool, bool, bool] | None:
    """Signs of contractions without lifted labels."""
    if left == right == out or (not left and right == out) or (not right and left == out):
        return "·", False, False, False
    con = "".join(c for c in left if c in right and c not in out)
    a = "".join(c for c in left if c not in con)
    b = "".join(c for c in right if c not in con)
    if any(c in b for c in a):
        return None
    forms = {a + b: False, b + a: True}
    if out not in forms or (con and (left not in (a + con, con + a) or right not in (con + b, b + con))):
        return None
    sign = "⊗" if not con else "⊙" if not a and not b else "⋆" if not a or not b else "∗"
    swapped = forms[out] and bool(a) and bool(b)
    if sign == "⋆" and not a:  # a vector on the left of a matrix: Mᵀ⋆v
        return sign, False, right == con + b and bool(b), True
    flip_left, flip_right = bool(a) and bool(con) and left == con + a, bool(b) and bool(con) and right == b + con
    if swapped:  # b ∗ a: what was to the right now stands to the left
        flip_left, flip_right = bool(a) and bool(con) and left == a + con, bool(b) and bool(con) and right == con + b
    return sign, flip_left, flip_right, swapped
