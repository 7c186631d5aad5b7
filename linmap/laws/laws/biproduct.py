"""⊕ is a biproduct: projections, injections, ⟨f, g⟩, [f, g] and f × g meet each other (paper §2.2, §2.1; notes §3)."""

from __future__ import annotations

from typing import Any

from hilbert.map.combine import ElementByElement, Pairing, Selection, SideBySide
from linmap.laws.engine.rule import NODE, PAIR, PART, rule
from linmap.laws.laws.category import before_a_common_end, behind_a_common_start, chained, scaled, scaled_chains
from linmap.term.maps import fork, join, parallel
from linmap.term.nodes import Fork, Identity, Inject, Join, Lifted, Parallel, Project, Sum, ZeroMap


def part_of(f: Any) -> int | None:
    """i for π_i; None for anything else."""
    return f.part if isinstance(f, Selection) else None


# --- projections and injections against what they meet ---


@rule(PAIR, "π_i • ⟨f₁, …, fₙ⟩ = f_i", "paper §2.1", Selection, Pairing)
def projection_of_a_fork(g: Any, f: Any) -> Any:
    i = g.part
    return None if i is None else f.parts[i]


@rule(PAIR, "[g₁, …, gₙ] • ι_i = g_i", "paper §2.1", Join, Inject)
def join_of_an_injection(g: Join, f: Inject) -> Any:
    return g.parts[f.position]


@rule(PAIR, "π_i • ι_i = id, π_j • ι_i = 0", "paper §2.2", Project, Inject)
def projection_of_an_injection(g: Project, f: Inject) -> Any:
    return Identity(f.dom) if g.position == f.position else ZeroMap(f.dom, g.cod)


@rule(PAIR, "π_i • (f₁ × … × fₙ) = f_i • π_i", "paper §2.2", Selection, SideBySide)
def projection_of_a_product(g: Any, f: Any) -> Any:
    i = g.part
    return None if i is None or not f.dom.is_space else f.parts[i] @ Project(f.dom, i)


@rule(PAIR, "(f₁ × … × fₙ) • ι_i = ι_i • f_i", "paper §2.2", Parallel, Inject)
def product_of_an_injection(g: Parallel, f: Inject) -> Any:
    return Inject(g.cod, f.position) @ g.parts[f.position]


# --- forks, joins and products against each other: where the parts become smaller ---


@rule(PAIR, "(f × g) • ⟨h, k⟩ = ⟨f•h, g•k⟩", "notes §3", SideBySide, Pairing)
def product_of_a_fork(g: Any, f: Any) -> Any:
    return fork(*(b @ a for b, a in zip(g.parts, f.parts, strict=True)))


@rule(PAIR, "[f, g] • (h × k) = [f•h, g•k]", "notes §3", Join, Parallel)
def join_of_a_product(g: Join, f: Parallel) -> Any:
    return join(*(b @ a for b, a in zip(g.parts, f.parts, strict=True)))


@rule(PAIR, "(f × g) • (h × k) = (f•h) × (g•k)", "paper §2.2", SideBySide, SideBySide)
def product_of_a_product(g: Any, f: Any) -> Any:
    return parallel(*(b @ a for b, a in zip(g.parts, f.parts, strict=True)))


@rule(PAIR, "[f, g] • ⟨h, k⟩ = f•h + g•k", "notes §3", Join, Pairing)
def join_of_a_fork(g: Join, f: Any) -> Any:
    total = None
    for b, a in zip(g.parts, f.parts, strict=True):
        total = b @ a if total is None else total + b @ a
    return total


# --- what makes an identity, a product, an injection ---


@rule(NODE, "⟨π₁, …, πₙ⟩ = id", "paper §2.2", Fork)
def fork_of_projections(f: Fork) -> Any:
    if f.dom == f.cod and all(isinstance(p, Project) and p.position == k for k, p in enumerate(f.parts)):
        return Identity(f.dom)
    return None


@rule(NODE, "[ι₁, …, ιₙ] = id", "paper §2.2", Join)
def join_of_injections(f: Join) -> Any:
    if f.dom == f.cod and all(isinstance(p, Inject) and p.position == k for k, p in enumerate(f.parts)):
        return Identity(f.dom)
    return None


@rule(NODE, "id × id = id", "paper §2.2", Parallel)
def product_of_identities(f: Parallel) -> Any:
    return Identity(f.dom) if all(isinstance(p, Identity) for p in f.parts) else None


@rule(NODE, "⟨f•π₁, g•π₂⟩ = f × g", "paper §2.1", Pairing)
def fork_on_the_parts(f: Any) -> Any:
    if f.dom.names is not None:  # a record is no direct sum
        return None
    parts = scaled_chains(f)
    starts = [p[0] for _, p in parts]
    if len(f.dom.parts) != len(parts) or any(part_of(s) != k or s.dom != f.dom for k, s in enumerate(starts)):
        return None
    if any(len(p) == 1 and not p[0].cod.is_space for _, p in parts):  # there is no linear id of a discrete type
        return None
    return parallel(*(scaled(k, chained(p[1:], p[0].cod)) for k, p in parts))


@rule(NODE, "[ι₁•f, ι₂•g] = f × g", "paper §2.1", Join)
def join_into_the_parts(f: Join) -> Any:
    if f.cod.names is not None:  # a record is no direct sum
        return None
    parts = scaled_chains(f)
    ends = [p[-1] for _, p in parts]
    if len(f.cod.parts) != len(parts) or any(not isinstance(e, Inject) or e.position != k for k, e in enumerate(ends)):
        return None
    return parallel(*(scaled(k, chained(p[:-1], p[-1].dom)) for k, p in parts))


@rule(NODE, "⟨f, 0⟩ = ι₁ • f", "paper §2.1", Fork)
def fork_with_zeros(f: Fork) -> Any:
    kept = [k for k, part in enumerate(f.parts) if not isinstance(part, ZeroMap)]
    return Inject(f.cod, kept[0]) @ f.parts[kept[0]] if len(kept) == 1 and len(f.parts) > 1 else None


@rule(PART, "g • ⟨f, 0⟩ = g • ι₁ • f", "paper §2.1", Fork)
def fork_with_zeros_in_a_composition(f: Fork) -> Any:
    made = fork_with_zeros(f)
    return None if made is None else (None, list(made.parts))


@rule(NODE, "[f, 0] = f • π₁", "paper §2.1", Join)
def join_with_zeros(f: Join) -> Any:
    kept = [k for k, part in enumerate(f.parts) if not isinstance(part, ZeroMap)]
    return f.parts[kept[0]] @ Project(f.dom, kept[0]) if len(kept) == 1 and len(f.parts) > 1 else None


@rule(PART, "[f, 0] • g = f • π₁ • g", "paper §2.1", Join)
def join_with_zeros_in_a_composition(f: Join) -> Any:
    made = join_with_zeros(f)
    return None if made is None else (None, list(made.parts))


@rule(NODE, "⟨f•h, g•h⟩ = ⟨f, g⟩ • h", "notes §3", Pairing)
def common_start_of_a_fork(f: Any) -> Any:
    return behind_a_common_start(f, fork)


@rule(NODE, "[h•f, h•g] = h • [f, g]", "notes §3", Join)
def common_end_of_a_join(f: Join) -> Any:
    return before_a_common_end(f, join)


# --- sums that are a fork or a join ---


@rule(NODE, "ι₁•f + ι₂•g = ⟨f, g⟩", "paper §2.1", Sum)
def sum_of_injections(f: Sum) -> Any:
    parts = scaled_chains(f)
    space = f.cod
    if not all(isinstance(p[-1], Inject) and p[-1].space == space for _, p in parts) or space.names is not None:
        return None
    rows: list[Any] = [None] * len(space.parts)
    for k, p in parts:
        i, term = p[-1].position, scaled(k, chained(p[:-1], p[-1].dom))
        rows[i] = term if rows[i] is None else rows[i] + term
    return fork(*(ZeroMap(f.dom, part) if row is None else row for row, part in zip(rows, space.parts, strict=True)))


@rule(NODE, "f•π₁ + g•π₂ = [f, g]", "paper §2.1", Sum)
def sum_of_projections(f: Sum) -> Any:
    parts = scaled_chains(f)
    space = f.dom
    if not all(isinstance(p[0], Project) and p[0].space == space for _, p in parts) or space.names is not None:
        return None
    columns: list[Any] = [None] * len(space.parts)
    for k, p in parts:
        i, term = p[0].position, scaled(k, chained(p[1:], p[0].cod))
        columns[i] = term if columns[i] is None else columns[i] + term
    return join(*(ZeroMap(part, f.cod) if col is None else col for col, part in zip(columns, space.parts, strict=True)))


# --- copowers ---


@rule(NODE, "id^X = id", "paper §2.1", Lifted)
def copower_of_an_identity(f: Lifted) -> Any:
    return Identity(f.dom) if isinstance(f.of, Identity) else None


@rule(NODE, "0^X = 0, f^∅ = 0", "paper §2.1", Lifted)
def copower_of_zero(f: Lifted) -> Any:
    return ZeroMap(f.dom, f.cod) if isinstance(f.of, ZeroMap) or not f.index.size else None


@rule(PAIR, "g^X • f^X = (g • f)^X", "paper §4", ElementByElement, ElementByElement)
def composition_of_copowers(g: Any, f: Any) -> Any:
    return (g.of @ f.of) ** g.index if g.index == f.index else None
