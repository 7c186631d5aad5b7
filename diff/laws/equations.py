"""Equations of functions: true, tested, and oriented in no direction.

`→` is a function, `⊸` a linear map, `∈` a vector (paper §3.4–3.6, §4).
"""

from __future__ import annotations

from typing import Any

from diff.terms.lift import lift
from diff.terms.nodes import Bilinear, Constant
from linmap.contraction import hadamard
from linmap.laws.engine.rule import equation
from linmap.term.maps import fork, parallel, rep
from linmap.unitary import curry, uncurry, zip_parts


def _product(f: Any, g: Any) -> Any:
    """⋄ ∘ ⟨f, g⟩ for the entry-by-entry product."""
    return Bilinear(hadamard(f.cod)) @ fork(f, g)


equation(
    "(f + g) ∘ h = f∘h + g∘h",
    "paper §3.4",
    "f : V → W",
    "g : V → W",
    "h : U → V",
    name="functions: distribution over a sum after",
    left=lambda f, g, h: (f + g) @ h,
    right=lambda f, g, h: f @ h + g @ h,
)
equation(
    "h ∘ (f + g) = h∘f + h∘g for a linear h",
    "paper §3.3",
    "f : U → V",
    "g : U → V",
    "h : V ⊸ W",
    name="functions: distribution over a sum before",
    left=lambda f, g, h: h @ (f + g),
    right=lambda f, g, h: h @ f + h @ g,
)
equation(
    "⟨f, g⟩ ∘ h = ⟨f∘h, g∘h⟩",
    "paper §3.3",
    "f : V → U",
    "g : V → W",
    "h : W → V",
    name="functions: distribution over a fork",
    left=lambda f, g, h: fork(f, g) @ h,
    right=lambda f, g, h: fork(f @ h, g @ h),
)
equation(
    "f ∘ K_w = K_{f(w)}",
    "paper §3.4",
    "f : V → W",
    "w ∈ V",
    name="function of a constant",
    left=lambda f, w: f @ Constant(w.space, w),
    right=lambda f, w: Constant(w.space, f(w)),
)
equation(
    "⋄ ∘ ⟨f + g, h⟩ = ⋄ ∘ ⟨f, h⟩ + ⋄ ∘ ⟨g, h⟩",
    "paper §3.1",
    "f : U → V",
    "g : U → V",
    "h : U → V",
    name="bilinear of a sum",
    left=lambda f, g, h: _product(f + g, h),
    right=lambda f, g, h: _product(f, h) + _product(g, h),
)
equation(
    "(f + g)^X = f^X + g^X",
    "paper §4",
    "f : U → V",
    "g : U → V",
    "X",
    name="functions: copower of a sum",
    left=lambda f, g, X: (f + g) ** X,
    right=lambda f, g, X: f**X + g**X,
)
equation(
    "⟨f, g⟩^X = zip ∘ ⟨f^X, g^X⟩",
    "paper §4",
    "f : U → V",
    "g : U → W",
    "X",
    name="functions: copower of a fork",
    left=lambda f, g, X: fork(f, g) ** X,
    right=lambda f, g, X: zip_parts(fork(f**X, g**X).cod) @ fork(f**X, g**X),
)
equation(
    "zip ∘ (f^X × g^X) = (f × g)^X ∘ zip",
    "paper §4",
    "f : U → V",
    "g : V → W",
    "X",
    name="functions: zip is natural",
    left=lambda f, g, X: zip_parts(parallel(f**X, g**X).cod) @ parallel(f**X, g**X),
    right=lambda f, g, X: parallel(f, g) ** X @ zip_parts(parallel(f**X, g**X).dom),
)
equation(
    "f^X ∘ rep = rep ∘ f",
    "paper §2.1",
    "f : U → V",
    "X",
    name="functions: rep is natural",
    left=lambda f, X: f**X @ rep(X, f.dom),
    right=lambda f, X: rep(X, f.cod) @ f,
)
equation(
    "uncurry ∘ (f^Y)^X ∘ curry = f^{X×Y}",
    "paper §3.2",
    "f : U → V",
    "X",
    "Y",
    name="functions: copowers by currying",
    left=lambda f, X, Y: uncurry((f.cod**Y) ** X) @ (f**Y) ** X @ curry(f.dom ** (X * Y)),
    right=lambda f, X, Y: f ** (X * Y),
)
equation(
    "lift(⋄, X) ∘ ⟨f^X, g^X⟩ = (⋄ ∘ ⟨f, g⟩)^X",
    "paper §4",
    "f : U → V",
    "g : U → V",
    "X",
    name="lift of all arguments",
    left=lambda f, g, X: lift(Bilinear(hadamard(f.cod)), X, over=(0, 1)) @ fork(f**X, g**X),
    right=lambda f, g, X: _product(f, g) ** X,
)
equation(
    "lift(⋄, X) ∘ (f × g^X) = lift(⋄, X) ∘ ((rep ∘ f) × g^X)",
    "paper §4",
    "f : U → V",
    "g : U → V",
    "X",
    name="lift with a shared argument",
    left=lambda f, g, X: lift(Bilinear(hadamard(f.cod)), X, over=(1,)) @ parallel(f, g**X),
    right=lambda f, g, X: lift(Bilinear(hadamard(f.cod)), X, over=(0, 1)) @ parallel(rep(X, f.cod) @ f, g**X),
)
