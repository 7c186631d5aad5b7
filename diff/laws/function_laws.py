"""The laws of functions: laws of linear maps that hold for all functions, constants, functions that are linear.

Beside the rules here, those that stand on the base classes of `hilbert.map.combine` take functions too (paper §3.4–3.6,
§4): (g ∘ f)^X = g^X ∘ f^X, π_i ∘ ⟨f⟩ = f_i, k·f ∘ h = k·(f ∘ h).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import fields

from diff.terms.elementwise import Elementwise
from diff.terms.nodes import Bilinear, Compose, Constant, Fork, Lift, Parallel, Power, Scaled, Sum
from diff.terms.program import AnyProgram, Program
from hilbert import Copower, Map, Vec
from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.libraries.namespace import common_namespace, freeze
from hilbert.base.once import once
from linmap.laws.engine.computed_vectors import scaled, summed, token
from linmap.laws.engine.row_weight import DATA, INNER, WEIGHTS
from linmap.laws.engine.rule import LIKE, NODE, PAIR, PART, rule
from linmap.laws.laws.category import split
from linmap.term import nodes as linear
from linmap.term.linear_map import LinMap

if TYPE_CHECKING:
    from hilbert.index.index import Index

LINEAR: dict[type, type] = {
    Compose: linear.Compose,
    Sum: linear.Sum,
    Scaled: linear.Scaled,
    Fork: linear.Fork,
    Parallel: linear.Parallel,
    Power: linear.Lifted,
}
"""The nodes that are linear if all their parts are, each with the node of linear maps that it is then."""
COMPOSITE = tuple(LINEAR)

WEIGHTS.update({Lift: 2, Constant: 3, Elementwise: 3, Bilinear: 4, Program: 4})


def _parts(f: Any) -> list[Any]:
    return [f.of] if isinstance(f, (Scaled, Power)) else list(f.parts)


def _is_linear(f: Any) -> bool:
    return all(isinstance(part, LinMap) for part in _parts(f))


@once
def _program(p: AnyProgram) -> tuple[int, int]:
    """Steps are rows that refer to slots."""
    return sum(1 + len(step.args) for step in p.steps), 0


DATA[Constant] = lambda f: [f.value]
INNER[Program] = _program
INNER.update(dict.fromkeys(COMPOSITE, lambda f: (0, int(_is_linear(f)))))


# --- functions that are linear ---


@rule(NODE, "a combination of linear maps is a linear map", "paper §3.3", COMPOSITE)
def combination_of_linear_maps(f: Any) -> Any:
    if not _is_linear(f):
        return None
    node: Any = LINEAR[type(f)]
    return node(*(getattr(f, a.name) for a in fields(type(f))))


@rule(NODE, "a program without steps is id or π_i", "paper §3.3", Program)
def program_without_steps(f: AnyProgram) -> Any:
    if not f.dom.is_space:
        return None
    return linear.Identity(f.dom) if f.is_identity else None if f.part is None else linear.Project(f.dom, f.part)


@rule(PART, "id ∘ f = f = f ∘ id", "paper §3", Program)
def unit_on_a_type(f: AnyProgram) -> Any:
    return (None, []) if f.is_identity else None


# --- constants ---


@rule(PAIR, "K_w ∘ f = K_w", "paper §3.4", Constant, Map)
def constant_after(g: Constant, f: Any) -> Any:
    return Constant(f.dom, g.value)


@rule(NODE, "⟨K_u, K_v⟩ = K_(u,v), K_u × K_v = K_(u,v)", "paper §3.4", (Fork, Parallel))
def combination_of_constants(f: Any) -> Any:
    if not all(isinstance(part, Constant) for part in f.parts):
        return None
    vectors = [part.value for part in f.parts]
    leaves = tuple(leaf for v in vectors for leaf in v.leaves)
    return Constant(f.dom, Vec(f.cod, leaves, token("pair", vectors)))


@rule(NODE, "(K_w)^X = K_{rep w}", "paper §3.4, §2.1", (Power, Lift))
def copower_of_a_constant(f: Any) -> Any:
    if not isinstance(f.of, Constant) or any(isinstance(leaf, Formal) for leaf in f.of.value.leaves):
        return None
    return Constant(f.dom, _repeated(f.of.value, f.index))


def _repeated(w: Vec[Any], index: Index) -> Vec[Any]:
    """The constant family: views, where the arrays are numpy's."""
    xp = common_namespace(w.leaves)
    leaves = tuple(freeze(xp.broadcast_to(leaf, index.shape + np.shape(leaf))) for leaf in w.leaves)
    return Vec(Copower(w.space, index), leaves, token(f"rep {index!r}", [w]))


@rule(NODE, "k·K_w = K_{k·w}", "paper §3.4", Scaled, late=True)
def scaling_of_a_constant(f: Scaled) -> Any:
    return Constant(f.dom, scaled(f.k, f.of.value)) if isinstance(f.of, Constant) else None


def _constant(f: Any) -> Any:
    return "constant" if isinstance(split(f)[1], Constant) else None


@rule(LIKE, "k·K_u + l·K_v = K_{ku+lv}", "paper §3.4", late=True, key=_constant)
def sum_of_constants(terms: list[Any]) -> Any:
    pairs = [split(f) for f in terms]
    return Constant(terms[0].dom, summed([(k, f.value) for k, f in pairs]))


# --- bilinear maps with a constant operand ---


@rule(PAIR, "⋄ ∘ ⟨K_u, f⟩ = (u⋄) ∘ f, ⋄ ∘ ⟨f, K_v⟩ = (⋄v) ∘ f", "paper §3.3", Bilinear, Fork)
def bilinear_of_a_constant(g: Bilinear, f: Fork) -> Any:
    for side in (0, 1):
        fixed, free = f.parts[side], f.parts[1 - side]
        if isinstance(fixed, Constant) and free.cod.is_space:
            return linear.Section(g.contraction, side, fixed.value) @ free
    return None


# --- bilinear maps of zeros and multiples ---


@rule(PAIR, "⋄ ∘ ⟨0, f⟩ = ⋄ ∘ ⟨f, 0⟩ = ⋄ ∘ ι_i = 0", "paper §3.1", Bilinear, (Fork, linear.Fork, linear.Inject))
def bilinear_of_zero(g: Bilinear, f: Any) -> Any:
    zero = isinstance(f, linear.Inject) or any(isinstance(part, linear.ZeroMap) for part in f.parts)
    return linear.ZeroMap(f.dom, g.cod) if zero else None


@rule(PAIR, "⋄ ∘ ⟨k·f, l·g⟩ = kl·(⋄ ∘ ⟨f, g⟩)", "paper §3.1", Bilinear, (Fork, linear.Fork))
def scaling_out_of_a_bilinear(g: Bilinear, f: Any) -> Any:
    (k, u), (l, v) = map(split, f.parts)
    return (k * l) * (g @ type(f)((u, v))) if (u, v) != f.parts else None


@rule(PAIR, "⋄ ∘ (k·f) = k²·(⋄ ∘ f)", "paper §3.1", Bilinear, (Scaled, linear.Scaled))
def bilinear_of_a_scaling(g: Bilinear, f: Any) -> Any:
    return (f.k * f.k) * (g @ f.of)


# --- copowers with shared arguments ---


@rule(PAIR, "g^X ∘ lift(f, X) = lift(g ∘ f, X)", "paper §4", (linear.Lifted, Power), Lift)
def copower_of_a_lift(g: Any, f: Lift) -> Any:
    return Lift(g.of @ f.of, f.index, f.over) if g.index == f.index else None
