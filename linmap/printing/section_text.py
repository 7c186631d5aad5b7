"""Sections of contractions as text: (u⋆), (⋆v), lifted over axes (u⋆)^X, and Δ^X(u⋆) of a family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.index.leaf import raised
from linmap.signs import acts_on_all, lifted_over, sign_of, unlifted

if TYPE_CHECKING:
    from hilbert.index.leaf import Entry, Leaf
    from hilbert.index.spec import Spec


def is_atom(text: str) -> bool:
    """Tell if the text of a datum is one name: then a section is set without a space."""
    plain = text.replace("ᵀ", "").replace(".", "")  # p.weights is one name
    return "·" not in plain and (plain.isidentifier() or (plain[:1].isalpha() and plain.isalnum()))


def transposed(text: str) -> str:
    """The text of a transposed name or bracket; twice is none."""
    return text[:-1] if text.endswith("ᵀ") else f"{text}ᵀ"


def section_text(spec: Spec, side: int, datum: str, known_leaf: Leaf, flow_leaf: Leaf) -> str:
    """(u⋆), (⋆v), (Wᵀ⋆); ρ[c] for a Boolean that selects, π[x] and ι[x] for a dynamic element.

    (u⋆)^X is (u⋆) for each x ∈ X, Δ^X(u⋆) for each another u; where no sign says which axes are summed, labels do.
    """
    operands = (known_leaf, flow_leaf) if side == 0 else (flow_leaf, known_leaf)
    text = _section_text(spec, side, datum, known_leaf.entry)
    if acts_on_all(spec, *operands) or (known_leaf.kind == "b" and not known_leaf.axes):  # one condition for all
        return text
    who = lifted_over(spec) if known_leaf.is_field else None
    over = raised("", "×".join(map(str, flow_leaf.axes[: len(who or "")])), len(who or ""))
    if who and set(who) == {"r" if side == 0 else "l"}:
        return text + over
    if known_leaf.is_field and unlifted(spec):  # lifted in the datum only: a product with a larger array
        return _section_text(spec, side, datum, known_leaf.entry, unlifted(spec))
    if who and set(who) == {"b"}:
        return f"Δ{over}{text}"
    labels = f"[{str(spec).replace('->', '→')}]"
    return f"({datum} {labels})" if side == 0 else f"({labels} {datum})"


def _section_text(
    spec: Spec, side: int, datum: str, kind: Entry, sign_and_flips: tuple[str, bool, bool, bool] | None = None
) -> str:
    if kind.dtype == "bool":
        return f"ρ[{datum}]"
    if kind.index is not None:
        hot, other = (spec.left, spec.right) if side == 0 else (spec.right, spec.left)
        return f"π[{datum}]" if hot and hot[-1] in other else f"ι[{datum}]"
    sign, flip_left, flip_right, swapped = sign_and_flips or sign_of(spec)
    flips = (flip_left, flip_right)
    known, flow = flips[side], flips[1 - side]
    text = datum
    if known:
        text = transposed(text if is_atom(text) else f"({text})")
    stands_left = (side == 0) != swapped
    hole = "_ᵀ" if flow else ""
    gap = "" if is_atom(text) else " "
    if stands_left:
        return f"({text}{gap}{sign}{hole})"
    return f"({hole}{sign}{gap}{text})"
