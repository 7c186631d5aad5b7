"""The Laplacian, by jets of order 2 along a basis, summed as they are made.

Δf(x) = Σ_d D²f(x)[e_d, e_d]. The coefficient of order 2 enters each step linearly: so the sum over d moves inside it,
and what is carried is a value, a family of first coefficients and one sum.

>>> from hilbert import Fin, R
>>> from diff import fun
>>> f = fun(R ** Fin.of(3))(lambda x: (x @ x) * (x @ x))
>>> print(laplacian(f)((R ** Fin.of(3)).vec([1.0, 0.0, 2.0])))  # Δ|x|⁴ = 4(n+2)|x|²
100.0 ∈ ℝ
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from diff.derive.varying_parts import Wrt, moving
from diff.jets.series import Series
from diff.jets.taylor_series import Coefficients
from diff.terms.lower import program
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program
from hilbert import Map, SpaceError, Type
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.once import once
from hilbert.base.repr_names import derived_token
from hilbert.base.sizes import held
from hilbert.map.map import require_map
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const
from hilbert.space.space import require_space

if TYPE_CHECKING:
    from hilbert.index.leaf import Leaf

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@held(
    "the Laplacian carries the derivatives along all directions at once; "
    "of a function to numbers, trace(derivative(grad(f)).at(x)) takes what the structure of its Hessian needs"
)
def laplacian(f: Map[V, W], wrt: Wrt = None) -> Map[V, W]:
    """Δf : V → W, x ↦ Σ_d D²f(x)[e_d, e_d] over the standard basis of V, or of its parts at the positions `wrt`.

    One pass for each real array of V, with the steps of values shared; its cost is dim V times that of f, and no
    Hessian is made. Raises SpaceError for a position that does not exist, parts without a real entry, and a discrete W.
    """
    require_map(f, "laplacian")
    require_space(f.cod, "laplacian")
    chosen = moving(f.dom, wrt).leaves
    if not chosen:
        msg = f"the Laplacian of f : {f.dom} → {f.cod} is over real parts of the domain, and there is none"
        raise SpaceError(msg)
    return _laplacian(program(f), chosen)


@once
def _laplacian(p: AnyProgram, chosen: tuple[int, ...]) -> AnyProgram:
    def built(q: AnyProgram) -> AnyProgram:
        b = Builder(q.dom.leaves, fold=True, fixed=q.line.fixed)
        totals: list[int] = []
        for i in chosen:
            leaf = q.dom.leaves[i]
            basis = _basis(b, leaf)
            given: Coefficients = {(k, (0,)): k for k in range(q.arity)}
            given[i, (1,)] = basis
            series = Series(q, b, [(0,), (1,), (2,)], given, family=leaf.axes, collapsed=True, basis=basis)
            found = [b.scale(2.0, series.output(k, (2,))) for k in range(len(q.outputs))]
            totals = [b.add(x, y) for x, y in zip(totals, found, strict=True)] if totals else found
        return Program.of(b, q.dom, totals, q.cod, q.names)

    return derived(p, built)


def _basis(b: Builder, leaf: Leaf) -> int:
    """The vectors of the standard basis, a family over the axes of a leaf: a matrix that is the identity."""
    if not leaf.axes:
        return b.number(1.0, leaf)
    array = np.eye(leaf.size, dtype=leaf.dtype).reshape(leaf.shape * 2)
    return b.literal(Const(freeze(array), leaf.under(leaf.axes), (derived_token("identity"), 0)))
