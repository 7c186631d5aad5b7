"""Jets: partial derivatives of all orders at once, as programs again (Huot, Staton, Vákár, §2).

>>> from hilbert import R
>>> from diff import fun, sin
>>> f = fun(R, R)(lambda x, y: x * x * y + sin(x))
>>> x, v, w = map(f.dom.vec, [(0.0, 1.0), (1.0, 0.0), (0.0, 1.0)])
>>> print(*taylor(f, x, v, 3))  # s² + s − s³/6
0.0 ∈ ℝ 1.0 ∈ ℝ 1.0 ∈ ℝ -0.16666666666666666 ∈ ℝ
>>> print(directional(f, 3)(x, v, v, w))  # ∂₁∂₁∂₂ x²y
2.0 ∈ ℝ
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from diff.derive.varying_parts import Moving, Wrt, moving
from diff.jets.multiindex import (
    MOST,
    Alpha,
    count,
    directions,
    factorial,
    index_set,
    indices,
    interpolation,
    placed,
    polarisation,
    require_down_closed,
    require_few_weights,
)
from diff.jets.series import Series
from diff.jets.taylor_series import Coefficients
from diff.terms.lower import program
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, Fin, Map, SpaceError, Type
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.attach import overloaded
from hilbert.base.once import once
from hilbert.base.repr_names import derived_token
from hilbert.errors import truth
from hilbert.index.leaf import Leaf
from hilbert.index.spec import ALPHABET, Spec
from hilbert.map.map import AnyMap, require_map
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import Const

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from diff import _calls

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@overloaded(lambda: _calls.jet)
def jet(f: Any, k: int, order: int, *, given: Any = None, wanted: Any = None, wrt: Wrt = None) -> Any:
    """jet(f, k, R) : ⊕_α V → ⊕_α W takes the jet of t ↦ u(t) at 0 to that of t ↦ f(u(t)), t ∈ ℝᵏ.

    Entries are partial derivatives ∂^α, not divided by α!, in lexicographic order of α ∈ ℕᵏ with |α| ≤ R; the value,
    α = 0, is the first. `wanted` is another down-closed set of α, and `given` are the α whose entries in the argument
    may be other than 0, all of those wanted if it is left out. A discrete part of V stands at α = 0 only, and so do
    the parts that do not vary, if `wrt` names those that do, by a position or several.

    Raises SpaceError for k or R below 0, for what is no multi-index of order ≤ R, for a set that is not down-closed,
    and for more than 10⁵ slots.
    """
    require_map(f, "jet")
    k, order = count(k, "the number k of parameters of a jet"), count(order, "the order of a jet")
    ends = indices(k, order) if wanted is None else index_set(wanted, k, order, "wanted=…")
    require_down_closed(ends, "wanted=…")
    starts = ends if given is None else index_set(given, k, order, "given=…")
    return _jet(program(f), starts, ends, moving(f.dom, wrt))


@overloaded(lambda: _calls.taylor)
def taylor(f: AnyMap, x: Any, direction: Any, order: int, *, wrt: Wrt = None) -> Any:
    """The coefficients c₀, …, c_R of s ↦ f(x + s·v) = Σ c_n sⁿ + O(s^{R+1}), a vector of W each: divided by n!.

    With `wrt` v is a direction in one part of V, or in several, and the others are constant. In the body of a traced
    function x and v may be expressions. Raises SpaceError for an order below 0 or above 10⁵, for vectors of other
    spaces, and for a position that does not exist.
    """
    require_map(f, "taylor")
    series = _taylor(program(f), count(order, "the order of a Taylor polynomial"), moving(f.dom, wrt))
    parts: tuple[Any, ...] = series(x, direction).split()
    return parts


@overloaded(lambda: _calls.directional)
def directional(f: Any, r: int, *, polarised: bool = False) -> Any:
    """V ⊕ V^r → W, (x, v₁, …, vᵣ) ↦ Dʳf(x)[v₁, …, vᵣ], the r-th derivative as an r-linear map; r = 1 is `jvp`.

    It is the last slot of a jet in r parameters, over {0, 1}^r: 3^r products for each of f. With `polarised` it comes
    from the r-th Taylor coefficients along the 2^{r−1} directions v₁ ± v₂ ± … ± vᵣ, one array operation for all of
    them: fewer steps, and their rounding. Raises SpaceError for r < 0 and r > 16.
    """
    require_map(f, "directional")
    r = count(r, "the order of a derivative")
    if r >= MOST.bit_length():
        msg = f"the derivative of order {r} in {r} directions has N = 2^{r} slots, and {MOST} are the most"
        raise SpaceError(msg)
    return _directional(program(f), r, polarised=truth(polarised, "polarised=…") and r > 1)


def interpolated(f: Map[V, W], k: int, order: int) -> Map[Any, Any]:
    """jet(f, k, R, given={0, e₁, …, e_k}), the same map, from Taylor coefficients along directions.

    They are along the j ∈ ℕᵏ with |j| = R. It is one family of jets in one parameter, and rational weights: few steps,
    on arrays that are binom(k+R−1, R) times as large, and rounding that grows with R. Raises SpaceError as `jet` does,
    and for more than 2·10⁷ weights, or weights that are sums of more than 10⁷ rationals.
    """
    require_map(f, "interpolated")
    k, order = count(k, "the number k of parameters of a jet"), count(order, "the order of a jet")
    indices(k, order)  # not too many
    require_few_weights(k, order)
    return _interpolated(program(f), k, order)


@once
def _jet(p: AnyProgram, given: tuple[Alpha, ...], wanted: tuple[Alpha, ...], moves: Moving) -> AnyProgram:
    def built(q: AnyProgram) -> AnyProgram:
        b, dom, inputs = _argument(q, given, moves)
        series = Series(q, b, wanted, {key: b.scale(1.0 / factorial(key[1]), slot) for key, slot in inputs})
        outputs = [b.scale(factorial(alpha), series.output(k, alpha)) for k, alpha in _leaves(q.cod, wanted)]
        return Program.of(b, dom, outputs, _sum(q.cod, wanted), _names(given))

    return derived(p, built)


@once
def _taylor(p: AnyProgram, order: int, moves: Moving) -> AnyProgram:
    def built(q: AnyProgram) -> AnyProgram:
        b, dom, inputs = _argument(q, [(0,), (1,)], moves)
        series = Series(q, b, indices(1, order), dict(inputs))
        outputs = [series.output(k, alpha) for k, alpha in _leaves(q.cod, indices(1, order))]
        return Program.of(b, dom, outputs, _sum(q.cod, indices(1, order)), ("x", "v"))

    return derived(p, built)


@once
def _directional(p: AnyProgram, r: int, *, polarised: bool) -> AnyProgram:
    def built(q: AnyProgram) -> AnyProgram:
        starts = [(0,) * r, *_units(r)]
        b, dom, inputs = _argument(q, starts, moving(q.dom, None))
        cod = q.cod if r == 0 else q.cod.tangent
        if polarised:
            rows = [epsilon for _, epsilon in polarisation(r)]
            along = DirectionFamily(q, b, r, r, rows, f"polarisation({r})", dict(inputs))
            weights = [float(weight) for weight, _ in polarisation(r)]
            outputs = [along.total(k, r, weights, 0) for k, _ in _leaves(q.cod, [starts[-1]])]
        else:
            series = Series(q, b, sorted(product((0, 1), repeat=r)), dict(inputs))
            outputs = [series.output(k, alpha) for k, alpha in _leaves(q.cod, [(1,) * r])]
        return Program.of(b, dom, outputs, cod, ("x", *(f"v{n}" for n in range(1, r + 1))))

    return derived(p, built)


@once
def _interpolated(p: AnyProgram, k: int, order: int) -> AnyProgram:
    ends = indices(k, order)
    starts = [alpha for alpha in ends if sum(alpha) <= 1]
    exact = [interpolation(m, order) for m in range(1, min(k, order) + 1)]
    rows = {beta: np.array(row, float) for table in exact for beta, row in table.items()}

    def weights(alpha: Alpha) -> NDArray[np.float64]:
        row = np.zeros(len(directions(k, order)))
        beta, places = placed(alpha, order)
        row[places] = rows[beta]
        return row

    def built(q: AnyProgram) -> AnyProgram:
        b, dom, inputs = _argument(q, starts, moving(q.dom, None))
        along = DirectionFamily(q, b, k, order, directions(k, order), f"interpolation({k}, {order})", dict(inputs))
        outputs = [
            along.total(leaf, sum(alpha), weights(alpha), place) if any(alpha) else along.series.output(leaf, (0,))
            for place, alpha in enumerate(ends)
            for leaf, _ in _leaves(q.cod, [alpha])
        ]
        return Program.of(b, dom, outputs, _sum(q.cod, ends), _names(starts))

    return derived(p, built)


@final
class DirectionFamily:
    """Taylor coefficients along Σ_i row_i·v_i for each of some rows, one array operation for all."""

    def __init__(
        self,
        p: AnyProgram,
        b: Builder,
        k: int,
        order: int,
        rows: Sequence[Sequence[float]],
        name: str,
        inputs: Coefficients,
    ) -> None:
        self.b, self.axis, self.token = b, Fin.of(len(rows)), derived_token(name)
        given: Coefficients = {(i, (0,)): inputs[i, (0,) * k] for i in range(p.arity)}
        for i, leaf in enumerate(p.dom.leaves):
            terms = []
            for place, unit in enumerate(_units(k)):
                if (i, unit) in inputs:
                    column = self._numbers([row[place] for row in rows], leaf, place)
                    labels = ALPHABET[: len(leaf.axes) + 1]
                    terms.append(b.contract(Spec.of(labels[0], labels[1:], labels), column, inputs[i, unit]))
            if terms:
                given[i, (1,)] = reduce(b.add, terms)
        self.series = Series(p, b, indices(1, order), given, family=self.axis.axes)

    def _numbers(self, values: Sequence[float] | NDArray[np.float64], leaf: Leaf, place: int) -> int:
        leaf = Leaf(leaf.entry, self.axis.axes)
        return self.b.literal(Const(freeze(np.asarray(values, leaf.dtype)), leaf, (self.token, place)))

    def total(self, k: int, order: int, weights: Sequence[float] | NDArray[np.float64], place: int) -> int:
        """Σ_j weight_j·c_r(j) for leaf k of the result."""
        slot = self.series.output(k, (order,))
        leaf = self.b.slots[slot]
        labels = ALPHABET[: len(leaf.axes)]
        row = self._numbers(weights, leaf, -1 - place)
        return self.b.contract(Spec.of(labels[0], labels, labels[1:]), row, slot)


def _argument(
    p: AnyProgram, alphas: Sequence[Alpha], moves: Moving
) -> tuple[Builder, DirectSum[Any], list[tuple[tuple[int, Alpha], int]]]:
    """A line on ⊕_α V, and which of its inputs are which coefficients of the leaves of V."""
    dom = _sum(p.dom, alphas, moves)
    b = Builder(dom.leaves, fold=True, fixed=p.line.fixed)
    return b, dom, [(key, slot) for slot, key in enumerate(_leaves(p.dom, alphas, moves))]


def _sum(space: Type, alphas: Iterable[Alpha], moves: Moving | None = None) -> DirectSum[Any]:
    """⊕_α V; parts that are discrete, or do not move, stand at α = 0 only."""
    moved = (moves or moving(space, None)).space
    parts: tuple[Any, ...] = tuple(moved if any(alpha) else space for alpha in alphas)
    return DirectSum(parts)


def _leaves(space: Type, alphas: Iterable[Alpha], moves: Moving | None = None) -> Iterator[tuple[int, Alpha]]:
    """The leaves of ⊕_α V as pairs (number of a leaf of V, α), in the order of `_sum(space, alphas, moves).leaves`."""
    moved = (moves or moving(space, None)).leaves  # all real leaves, unless `moves` says which of them vary
    for alpha in alphas:
        for i in moved if any(alpha) else range(len(space.leaves)):
            yield i, alpha


def _units(k: int) -> list[Alpha]:
    """e₁, …, e_k."""
    return [tuple(int(i == j) for i in range(k)) for j in range(k)]


def _names(alphas: Sequence[Alpha]) -> tuple[str, ...]:
    """x₀, x₁, … for one parameter."""
    return tuple(f"x{alpha[0]}" for alpha in alphas) if alphas and len(alphas[0]) == 1 else ()
