"""Composition makes a category with sums and scalings: units, associativity, zeros, linearity (paper §2.2; notes §3).

`k·f` stands in front of what it scales, so that equal terms are found: a scaling leaves compositions and copowers, and
the common factor of a sum, fork, join or product.
"""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

from hilbert.map.combine import Addition, Composition, ElementByElement, Multiple, Pairing, SideBySide
from hilbert.map.map import Map
from linmap.laws.engine.rule import LIKE, NODE, PAIR, PART, TERM, rule
from linmap.term.linear_map import LinMap
from linmap.term.maps import compose, fork, identity, join, parallel
from linmap.term.nodes import Fork, Identity, Join, Parallel, ZeroMap

if TYPE_CHECKING:
    from collections.abc import Callable

Taken = tuple[float | None, list[Any]]


def split(f: Any) -> tuple[float, Any]:
    """Take all scalings off a map f: the number k and the map g, no scaling, with f = k·g."""
    k = 1.0
    while isinstance(f, Multiple):
        k, f = k * f.k, f.of
    return k, f


# --- units, associativity ---


@rule(PART, "(h • g) • f = h • g • f", "notes §3", Composition)
def associativity(f: Any) -> Taken:
    return None, list(f.parts)


@rule(PART, "id • f = f = f • id", "notes §3", Identity)
def unit(f: Identity) -> Taken:
    return None, []


@rule(NODE, "•(f) = f", "", Composition)
def composition_of_one(f: Any) -> Any:
    return f.parts[0] if len(f.parts) == 1 else None


@rule(TERM, "(f + g) + h = f + g + h", "paper §2.2", Addition)
def sum_in_a_sum(f: Any) -> list[Any]:
    return list(f.parts)


@rule(NODE, "+(f) = f", "", Addition)
def sum_of_one(f: Any) -> Any:
    return f.parts[0] if len(f.parts) == 1 else None


# --- zeros ---


@rule(PAIR, "0 • f = 0", "notes §3", ZeroMap, Map)
def zero_after(g: ZeroMap, f: Any) -> Any:
    return ZeroMap(f.dom, g.cod) if f.dom.is_space else None


@rule(PAIR, "g • 0 = 0", "notes §3", LinMap, ZeroMap)
def zero_before(g: Any, f: ZeroMap) -> Any:
    return ZeroMap(f.dom, g.cod)


@rule(TERM, "f + 0 = f", "notes §3", ZeroMap)
def zero_in_a_sum(f: ZeroMap) -> list[Any]:
    return []


@rule(NODE, "⟨0, 0⟩ = [0, 0] = 0 × 0 = 0", "notes §3", (Fork, Join, Parallel))
def all_zero(f: Any) -> Any:
    return ZeroMap(f.dom, f.cod) if all(isinstance(part, ZeroMap) for part in f.parts) else None


# --- scalings ---


@rule(PART, "g • (k·f) = (k·g) • f = k·(g • f)", "paper §6", Multiple, lifts=True)
def scaling_out_of_a_composition(f: Any) -> Taken:
    return f.k, [f.of]


@rule(NODE, "k·(l·f) = (kl)·f, S(a) • S(b) = S(ab)", "notes §3", Multiple)
def scaling_of_a_scaling(f: Any) -> Any:
    k, of = split(f.of)
    return (f.k * k) * of if of is not f.of else None


@rule(NODE, "1·f = f", "paper §2.2", Multiple)
def scaling_by_one(f: Any) -> Any:
    return f.of if f.k == 1.0 else None


@rule(NODE, "0·f = 0", "paper §2.2", Multiple)
def scaling_by_zero(f: Any) -> Any:
    return ZeroMap(f.dom, f.cod) if f.k == 0.0 and f.dom.is_space else None


@rule(NODE, "k·0 = 0", "paper §2.2", Multiple)
def scaling_of_zero(f: Any) -> Any:
    return f.of if isinstance(f.of, ZeroMap) else None


@rule(NODE, "(k·f)^X = k·f^X", "paper §2.1", ElementByElement, lifts=True)
def scaling_out_of_a_copower(f: Any) -> Any:
    k, of = split(f.of)
    return k * of**f.index if of is not f.of else None


def _common(f: Any) -> tuple[float, list[Any]] | None:
    """The factor that all parts have in common."""
    pairs = [split(part) for part in f.parts]
    k = pairs[0][0]
    return (k, [of for _, of in pairs]) if k != 1.0 and all(l == k for l, _ in pairs) else None


@rule(NODE, "k·f + k·g = k·(f + g)", "paper §2.2", Addition)
def common_factor_of_a_sum(f: Any) -> Any:
    found = _common(f)
    return found[0] * type(f)(found[1]) if found else None


@rule(NODE, "⟨k·f, k·g⟩ = k·⟨f, g⟩", "paper §2.1", Pairing)
def common_factor_of_a_fork(f: Any) -> Any:
    found = _common(f)
    return found[0] * fork(*found[1]) if found else None


@rule(NODE, "[k·f, k·g] = k·[f, g]", "paper §2.1", Join)
def common_factor_of_a_join(f: Any) -> Any:
    found = _common(f)
    return found[0] * join(*found[1]) if found else None


@rule(NODE, "(k·f) × (k·g) = k·(f × g)", "paper §2.1", SideBySide)
def common_factor_of_a_product(f: Any) -> Any:
    found = _common(f)
    return found[0] * parallel(*found[1]) if found else None


# --- linearity ---


@rule(LIKE, "k·f + l·f = (k + l)·f", "notes §3", key=lambda f: id(split(f)[1]))
def like_terms(terms: list[Any]) -> Any:
    k, of = sum(split(f)[0] for f in terms), split(terms[0])[1]
    if k == 0.0:
        return ZeroMap(of.dom, of.cod) if of.dom.is_space else None
    return of if k == 1.0 else k * of


@rule(NODE, "k·(f + g) + l·f = (k + l)·f + k·g", "paper §2.2", Addition)
def sum_in_a_scaling(f: Any) -> Any:
    """Write a scaled sum as terms of the sum around it: this pays only where these cancel or are collected."""
    parts = list[Any]()
    for part in f.parts:
        k, of = split(part)
        parts += [k * term for term in of.parts] if type(of) is type(f) and of is not part else [part]
    return type(f)(parts) if len(parts) > len(f.parts) else None


def chain(f: Any) -> list[Any]:
    """The parts of a composition, f₁ first; another map is its own single part."""
    return list(f.parts) if isinstance(f, Composition) else [f]


def scaled_chains(f: Any) -> list[tuple[float, list[Any]]]:
    """k and f₁, …, fₙ for each part k·(fₙ • … • f₁) of f."""
    return [(k, chain(of)) for k, of in map(split, f.parts)]


def scaled(k: float, f: Any) -> Any:
    """k·f; f where k is 1."""
    return f if k == 1.0 else k * f


def chained(parts: list[Any], dom: Any) -> Any:
    """fₙ • … • f₁; the identity for none."""
    return cast("Any", compose(parts[::-1])) if parts else identity(dom)


def common_start(fs: list[list[Any]]) -> int:
    """The number of parts that all of some compositions begin with."""
    n = 0
    while all(len(parts) > n for parts in fs) and all(parts[n] is fs[0][n] for parts in fs):
        n += 1
    return n


def common_end(fs: list[list[Any]]) -> int:
    """The number of linear parts that all of some compositions end with."""
    n = 0
    while all(len(parts) > n for parts in fs) and all(parts[-n - 1] is fs[0][-n - 1] for parts in fs):
        if not isinstance(fs[0][-n - 1], LinMap):
            break
        n += 1
    return n


def behind_a_common_start(f: Any, combine: Callable[..., Any]) -> Any:
    """⟨f • h, g • h⟩ as ⟨f, g⟩ • h, for what combines f and g; scalings stay with their parts."""
    parts = scaled_chains(f)
    n = common_start([of for _, of in parts])
    if not n or all(len(of) == n for _, of in parts):
        return None
    shared = parts[0][1][:n]
    middle = shared[-1].cod
    if not middle.is_space and any(len(of) == n for _, of in parts):  # there is no linear id of a discrete type
        return None
    return chained([*shared, combine(*(scaled(k, chained(of[n:], middle)) for k, of in parts))], f.dom)


def before_a_common_end(f: Any, combine: Callable[..., Any]) -> Any:
    """[h • f, h • g] as h • [f, g], for what combines f and g; scalings stay with their parts."""
    parts = scaled_chains(f)
    n = common_end([of for _, of in parts])
    if not n or all(len(of) == n for _, of in parts):
        return None
    shared = parts[0][1][-n:]
    middle = shared[0].dom
    if not middle.is_space and any(len(of) == n for _, of in parts):
        return None
    return chained([combine(*(scaled(k, chained(of[:-n], middle)) for k, of in parts)), *shared], f.dom)


@rule(NODE, "f • h + g • h = (f + g) • h", "notes §3", Addition)
def common_start_of_a_sum(f: Any) -> Any:
    return behind_a_common_start(f, _added)


@rule(NODE, "h • f + h • g = h • (f + g)", "paper §2.2", Addition)
def common_end_of_a_sum(f: Any) -> Any:
    return before_a_common_end(f, _added)


def _added(*terms: Any) -> Any:
    return reduce(operator.add, terms)
