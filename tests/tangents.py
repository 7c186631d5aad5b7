"""Numerical differentiation: moving a point along a tangent vector, and the difference of two values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.strategies import of_leaves

if TYPE_CHECKING:
    from hilbert import Map, Vec


def moved(x: Vec[Any], t: float, dx: Vec[Any]) -> Vec[Any]:
    """x + t·dx for a dx in the tangent space of x: the real leaves move, the discrete ones stay."""
    steps = iter(dx.leaves)
    leaves = [a + t * next(steps) if leaf.is_field else a for a, leaf in zip(x.leaves, x.space.leaves, strict=True)]
    return of_leaves(x.space, leaves)


def difference(a: Vec[Any], b: Vec[Any]) -> Vec[Any]:
    """a − b in the tangent space: the real leaves."""
    triples = zip(a.leaves, b.leaves, a.space.leaves, strict=True)
    return of_leaves(a.space.tangent, [p - q for p, q, leaf in triples if leaf.is_field])


def central(f: Map[Any, Any], x: Vec[Any], dx: Vec[Any], h: float = 1e-5) -> Vec[Any]:
    """(f(x + h·dx) − f(x − h·dx)) / 2h, which is f'(x)(dx) up to h²."""
    return difference(f(moved(x, h, dx)), f(moved(x, -h, dx))) / (2.0 * h)
