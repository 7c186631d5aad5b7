"""Equations: true, tested, and oriented in no direction; read from left to right they expand a term.

Spaces are U, V, W, index sets X, Y, relations R; `⊸` is a linear map, `∈` a vector.
"""

from __future__ import annotations

from typing import Any

from hilbert.relation import equality, full, less
from linmap.contraction import hadamard, inner, tensor_contraction
from linmap.laws.engine.rule import equation
from linmap.relational import cumsum
from linmap.term.maps import add, dup, fork, inject, join, parallel, project, red, rep, section, total
from linmap.unitary import curry, uncurry, unzip_parts, zip_parts


def _blocks(f: Any, g: Any) -> Any:
    """ι₁•f•π₁ + ι₂•g•π₂."""
    whole = parallel(f, g)
    first: Any = inject(whole.cod, 0) @ f @ project(whole.dom, 0)
    return first + inject(whole.cod, 1) @ g @ project(whole.dom, 1)


def _contraction(t: Any) -> Any:
    """(t ∗) for t ∈ V ⊗ V."""
    V = t.space.left
    return section(tensor_contraction(V, V, V), 0, t)


# --- sums ---

equation(
    "f + g = g + f",
    "paper §2.2",
    "f : U ⊸ V",
    "g : U ⊸ V",
    name="sums commute",
    left=lambda f, g: f + g,
    right=lambda f, g: g + f,
)

# --- distribution ---

equation(
    "h • (f + g) = h•f + h•g",
    "paper §2.2",
    "f : U ⊸ V",
    "g : U ⊸ V",
    "h : V ⊸ W",
    name="distribution over a sum before",
    left=lambda f, g, h: h @ (f + g),
    right=lambda f, g, h: h @ f + h @ g,
)
equation(
    "(f + g) • h = f•h + g•h",
    "paper §2.2",
    "f : V ⊸ W",
    "g : V ⊸ W",
    "h : U ⊸ V",
    name="distribution over a sum after",
    left=lambda f, g, h: (f + g) @ h,
    right=lambda f, g, h: f @ h + g @ h,
)
equation(
    "h • [f, g] = [h•f, h•g]",
    "notes §3",
    "f : U ⊸ W",
    "g : V ⊸ W",
    "h : W ⊸ V",
    name="distribution over a join",
    left=lambda f, g, h: h @ join(f, g),
    right=lambda f, g, h: join(h @ f, h @ g),
)
equation(
    "⟨f, g⟩ • h = ⟨f•h, g•h⟩",
    "notes §3",
    "f : V ⊸ U",
    "g : V ⊸ W",
    "h : W ⊸ V",
    name="distribution over a fork",
    left=lambda f, g, h: fork(f, g) @ h,
    right=lambda f, g, h: fork(f @ h, g @ h),
)
equation(
    "(f + g)^X = f^X + g^X",
    "paper §2.1",
    "f : U ⊸ V",
    "g : U ⊸ V",
    "X",
    name="copower of a sum",
    left=lambda f, g, X: (f + g) ** X,
    right=lambda f, g, X: f**X + g**X,
)
equation(
    "3·(f + g) = 3·f + 3·g",
    "paper §2.2",
    "f : U ⊸ V",
    "g : U ⊸ V",
    name="distribution of a scaling",
    left=lambda f, g: 3 * (f + g),
    right=lambda f, g: 3 * f + 3 * g,
)

# --- the biproduct ---

equation(
    "[⟨f, g⟩, ⟨h, k⟩] = ⟨[f, h], [g, k]⟩",
    "paper §2.1",
    "f : U ⊸ V",
    "g : U ⊸ W",
    "h : W ⊸ V",
    "k : W ⊸ W",
    name="interchange of fork and join",
    left=lambda f, g, h, k: join(fork(f, g), fork(h, k)),  # pyright: ignore[reportArgumentType]  # linear, if they are
    right=lambda f, g, h, k: fork(join(f, h), join(g, k)),
)
equation(
    "⟨f + g, h + k⟩ = ⟨f, h⟩ + ⟨g, k⟩",
    "notes §3",
    "f : U ⊸ V",
    "g : U ⊸ V",
    "h : U ⊸ W",
    "k : U ⊸ W",
    name="interchange of fork and sum",
    left=lambda f, g, h, k: fork(f + g, h + k),
    right=lambda f, g, h, k: fork(f, h) + fork(g, k),
)
equation(
    "[f + g, h + k] = [f, h] + [g, k]",
    "notes §3",
    "f : U ⊸ W",
    "g : U ⊸ W",
    "h : V ⊸ W",
    "k : V ⊸ W",
    name="interchange of join and sum",
    left=lambda f, g, h, k: join(f + g, h + k),
    right=lambda f, g, h, k: join(f, h) + join(g, k),
)
equation(
    "(f + g) × (h + k) = f × h + g × k",
    "paper §2.2",
    "f : U ⊸ V",
    "g : U ⊸ V",
    "h : V ⊸ W",
    "k : V ⊸ W",
    name="interchange of product and sum",
    left=lambda f, g, h, k: parallel(f + g, h + k),
    right=lambda f, g, h, k: parallel(f, h) + parallel(g, k),
)
equation(
    "f × g = ι₁•f•π₁ + ι₂•g•π₂",
    "paper §2.2",
    "f : U ⊸ V",
    "g : V ⊸ W",
    name="product by projections and injections",
    left=parallel,
    right=_blocks,
)

equation(
    "⟨f, g⟩ = (f × g) • dup",
    "paper §2.1",
    "f : U ⊸ V",
    "g : U ⊸ W",
    name="fork by dup",
    left=fork,
    right=lambda f, g: parallel(f, g) @ dup(f.dom),
)
equation(
    "[f, g] = (+) • (f × g)",
    "paper §2.1",
    "f : U ⊸ W",
    "g : V ⊸ W",
    name="join by add",
    left=join,
    right=lambda f, g: add(f.cod) @ parallel(f, g),
)
equation(
    "f + g = (+) • ⟨f, g⟩",
    "paper §2.1",
    "f : U ⊸ V",
    "g : U ⊸ V",
    name="sum by add",
    left=lambda f, g: f + g,
    right=lambda f, g: add(f.cod) @ fork(f, g),
)

# --- copowers, reductions and unitary operators are natural ---

equation(
    "Σ • f^X = f • Σ",
    "paper §2.1",
    "f : U ⊸ V",
    "X",
    name="total is natural",
    left=lambda f, X: total(X, f.cod) @ f**X,
    right=lambda f, X: f @ total(X, f.dom),
)
equation(
    "f^X • rep = rep • f",
    "paper §2.1",
    "f : U ⊸ V",
    "X",
    name="rep is natural",
    left=lambda f, X: f**X @ rep(X, f.dom),
    right=lambda f, X: rep(X, f.cod) @ f,
)
equation(
    "scan • f^X = f^X • scan",
    "paper §2.1",
    "f : U ⊸ V",
    "X",
    name="scan is natural",
    left=lambda f, X: cumsum(X, f.cod) @ f**X,
    right=lambda f, X: f**X @ cumsum(X, f.dom),
)
equation(
    "f^Y • red_R = red_R • f^X",
    "paper §2.1",
    "f : U ⊸ V",
    "R",
    name="reductions are natural",
    left=lambda f, R: f**R.cod @ red(R, f.dom),
    right=lambda f, R: red(R, f.cod) @ f**R.dom,
)
equation(
    "(red_R)^X = red_{id×R} by currying",
    "paper §4",
    "f : U ⊸ V",
    "X",
    "R",
    name="copower of a reduction",
    left=lambda f, X, R: uncurry((f.cod**R.cod) ** X) @ (red(R, f.cod) @ f**R.dom) ** X @ curry(f.dom ** (X * R.dom)),
    right=lambda f, X, R: red(equality(X) * R, f.cod) @ f ** (X * R.dom),
)
equation(
    "red_{R×S} = red_{R×id} • red_{id×S}",
    "paper §2.1",
    "f : U ⊸ V",
    "R",
    "S",
    name="reduction by a product",
    left=lambda f, R, S: red(R * S, f.cod) @ f ** (R.dom * S.dom),
    right=lambda f, R, S: red(R * equality(S.cod), f.cod) @ red(equality(R.dom) * S, f.cod) @ f ** (R.dom * S.dom),
)
equation(
    "red_{X×Y} = rep_Y • Σ_X",
    "paper §2.1",
    "f : U ⊸ V",
    "X",
    "Y",
    name="reduction by all pairs",
    left=lambda f, X, Y: red(full(X, Y), f.cod) @ f**X,
    right=lambda f, X, Y: rep(Y, f.cod) @ total(X, f.cod) @ f**X,
)
equation(
    "scan = red_< + id",
    "paper §2.1",
    "f : U ⊸ V",
    "X",
    name="scan without its diagonal",
    left=lambda f, X: cumsum(X, f.cod) @ f**X,
    right=lambda f, X: red(less(X), f.cod) @ f**X + f**X,
)
equation(
    "⟨f, g⟩^X = zip • ⟨f^X, g^X⟩",
    "paper §3.2",
    "f : U ⊸ V",
    "g : U ⊸ W",
    "X",
    name="copower of a fork",
    left=lambda f, g, X: fork(f, g) ** X,
    right=lambda f, g, X: zip_parts(fork(f**X, g**X).cod) @ fork(f**X, g**X),
)
equation(
    "[f, g]^X • zip = [f^X, g^X]",
    "paper §3.2",
    "f : U ⊸ W",
    "g : V ⊸ W",
    "X",
    name="copower of a join",
    left=lambda f, g, X: join(f, g) ** X @ zip_parts(join(f**X, g**X).dom),
    right=lambda f, g, X: join(f**X, g**X),
)
equation(
    "zip • (f^X × g^X) = (f × g)^X • zip",
    "paper §3.2",
    "f : U ⊸ V",
    "g : V ⊸ W",
    "X",
    name="zip is natural",
    left=lambda f, g, X: zip_parts(parallel(f**X, g**X).cod) @ parallel(f**X, g**X),
    right=lambda f, g, X: parallel(f, g) ** X @ zip_parts(parallel(f**X, g**X).dom),
)
equation(
    "unzip • (f × g)^X • zip = f^X × g^X",
    "paper §3.2",
    "f : U ⊸ V",
    "g : V ⊸ W",
    "X",
    name="copower of a product",
    left=lambda f, g, X: (
        unzip_parts((parallel(f, g) ** X).cod) @ parallel(f, g) ** X @ zip_parts(parallel(f**X, g**X).dom)
    ),
    right=lambda f, g, X: parallel(f**X, g**X),
)
equation(
    "uncurry • (f^Y)^X • curry = f^{X×Y}",
    "paper §3.2",
    "f : U ⊸ V",
    "X",
    "Y",
    name="copowers by currying",
    left=lambda f, X, Y: uncurry((f.cod**Y) ** X) @ (f**Y) ** X @ curry(f.dom ** (X * Y)),
    right=lambda f, X, Y: f ** (X * Y),
)
equation(
    "Σ_X • (Σ_Y)^X • curry = Σ_{X×Y}",
    "paper §2.1",
    "f : U ⊸ V",
    "X",
    "Y",
    name="total by currying",
    left=lambda f, X, Y: f @ total(X, f.dom) @ total(Y, f.dom) ** X @ curry(f.dom ** (X * Y)),
    right=lambda f, X, Y: f @ total(X * Y, f.dom),
)
equation(
    "scan + scan* = rep • Σ + id",
    "paper §2.1, §6",
    "f : U ⊸ V",
    "X",
    name="scan in both directions",
    left=lambda f, X: f**X @ (cumsum(X, f.dom) + cumsum(X, f.dom, reverse=True)),
    right=lambda f, X: f**X @ rep(X, f.dom) @ total(X, f.dom) + f**X,
)

# --- sections ---

equation(
    "(u ·) = (· u)",
    "paper §3.1",
    "u ∈ U",
    name="the entry-by-entry product commutes",
    left=lambda u: section(hadamard(u.space), 0, u),
    right=lambda u: section(hadamard(u.space), 1, u),
)
equation(
    "((u + v) ·) = (u ·) + (v ·)",
    "paper §3.1",
    "u ∈ U",
    "v ∈ U",
    name="sections are linear in their datum",
    left=lambda u, v: section(hadamard(u.space), 0, u + v),
    right=lambda u, v: section(hadamard(u.space), 0, u) + section(hadamard(u.space), 0, v),
)
equation(
    "(u ⊙) = (⊙ u)",
    "paper §2",
    "u ∈ U",
    name="the inner product commutes",
    left=lambda u: section(inner(u.space), 0, u),
    right=lambda u: section(inner(u.space), 1, u),
)
equation(
    "((t ∗ t') ∗) = (t ∗) • (t' ∗)",
    "paper §3.1",
    "t ∈ V ⊗ V",
    "u ∈ V ⊗ V",
    name="contraction is associative",
    left=lambda t, u: _contraction(_contraction(t)(u)),
    right=lambda t, u: _contraction(t) @ _contraction(u),
)
