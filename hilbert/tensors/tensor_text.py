"""Formal tensors as text: a⊗b + … in the paper's notation, and as an expression that evaluates back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.arrays.libraries.namespace import common_namespace
from hilbert.space.space import TensorProduct
from hilbert.space.vector import SMALL
from hilbert.tensors.rank_one_sums import as_rows, families

if TYPE_CHECKING:
    from hilbert.space.vector import Vec
    from hilbert.tensors.rank_one_sums import Family

LETTERS = "abcdeghpqruvwxyz"
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def text(t: Vec[Any]) -> str:
    """a⊗b + … with the number of terms; a pair of letters stands for the factors of one family."""
    if not isinstance(t.space, TensorProduct):
        return ", ".join(map(repr, t.leaves))
    found, rest = families(t)
    letters = zip(LETTERS[::2], LETTERS[1::2], strict=True)
    parts = [_sum(f, a, b) for f, (a, b) in zip(found, letters, strict=False)]
    if len(parts) < len(found):
        parts.append("…")
    if rest is not None:
        parts.append("dense")
    return f"{' + '.join(parts) or '0'} (rank {sum(f.rank for f in found)})".replace("+ −", "− ")


def _sum(f: Family[Any, Any], a: str, b: str) -> str:
    """k·(a₁⊗b₁ + … + aᵣ⊗bᵣ)."""

    def term(n: int) -> str:
        place = str(n).translate(SUBSCRIPTS)
        return f"{a}{place}⊗{b}{place}"

    terms = [term(n) for n in range(1, f.rank + 1)] if f.rank > 1 else [f"{a}⊗{b}"]
    terms = terms if len(terms) <= 3 else [terms[0], "…", terms[-1]]
    k = float(f.k)
    if k == 1.0:
        return " + ".join(terms)
    sign = f"{k:.6g}·".replace("-", "−") if k != -1.0 else "−"
    return sign + (f"({' + '.join(terms)})" if len(terms) > 1 else terms[0])


def source(t: Vec[Any]) -> str | None:
    """A Python expression for a small tensor, which evaluates to an equal one; None where it would be long."""
    if not isinstance(t.space, TensorProduct):
        return None
    found, rest = families(t)
    width = t.space.left.dim + t.space.right.dim
    if rest is not None or sum(f.rank for f in found) * width > SMALL:
        return None
    pairs = []
    for f in found:
        left, right = (as_rows(common_namespace(w.leaves), w, f if w is f.left else None) for w in (f.left, f.right))
        pairs += [(t.space.left.unflat(u), t.space.right.unflat(v)) for u, v in zip(left, right, strict=True)]
    return f"formal({t.space!r}, {pairs!r})"
