"""Nonlinear programs, min f(x) with g(x) = 0 and h(x) ≤ 0, as solvers take them: by callbacks on flat arrays.

>>> import numpy as np
>>> from diff import fun
>>> from hilbert import Fin, R
>>> V = R ** Fin.of(3)
>>> p = nlp(fun(V)(lambda x: x @ x), equal=fun(V)(lambda x: x.sum() - 3.0))
>>> x = np.array([1.0, 2.0, 3.0])
>>> p.objective(x), p.gradient(x), p.constraints(x), p.jacobian(x)
(14.0, array([2., 4., 6.]), array([3.]), array([1., 1., 1.]))
>>> [places.tolist() for places in p.hessianstructure()], p.hessian(x, [5.0], 0.5)
([[0, 1, 2], [0, 1, 2]], array([1., 1., 1.]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, final

import numpy as np
import numpy.typing as npt

from adjoint.bridges.as_scipy import FlatMap, FlatObjective
from adjoint.reverse.jacobian_program import derived
from diff.compiled.compiled_program import Backend, RunsCompiled, machine_program
from diff.terms.lower import program
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, Field, SpaceError, Type, Vec
from hilbert.base.once import cached_property
from hilbert.errors import shown
from hilbert.map.map import AnyMap, Map, require_map
from hilbert.program.line.builder import Builder
from hilbert.space.flat_form import Flat, FlatForm
from linmap.matrices.made.matrix import needs_data
from linmap.matrices.made.patterns import scipy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.terms.linearization import AnyLinearization

V = TypeVar("V", bound=Type)
Places: TypeAlias = tuple[npt.NDArray[np.signedinteger[Any]], npt.NDArray[np.signedinteger[Any]]]
"""The rows and the columns of the entries of a matrix."""


@final
class NonlinearProgram(Generic[V]):
    """min f(x) with g(x) = 0 and h(x) ≤ 0, on flat arrays of double precision: `nlp` makes it.

    `objective`, `gradient`, `constraints`, `jacobian` and `hessian`, with the places of their entries, are the
    callbacks of cyipopt and its like; `conditions` are the constraints as scipy takes them. The constraints are the
    entries of g(x), and then of h(x).
    """

    def __init__(self, f: AnyMap, equal: AnyMap | None, at_most: AnyMap | None) -> None:
        self._parts = parts = [f, *(g for g in (equal, at_most) if g is not None)]
        self._given = f, equal, at_most
        self._backend = backend = next((g.backend for g in parts if isinstance(g, RunsCompiled)), None)
        self.goal: FlatObjective[V] = FlatObjective(_on(f, backend), (), None, "sparse")
        self._limits: FlatMap[V] = FlatMap(_on(_beside(parts[1:], f.dom), backend), (), None, "sparse")
        self._all: FlatMap[V] = FlatMap(_on(_beside(parts, f.dom), backend), (), None, "sparse")
        counts = [0 if g is None else g.cod.dim for g in (equal, at_most)]
        self.upper: Flat = np.zeros(sum(counts))
        self.lower: Flat = np.repeat([0.0, -np.inf], counts)

    @property
    def size(self) -> int:
        """The number of entries of x."""
        return self.goal.size

    @property
    def count(self) -> int:
        """The number of constraints."""
        return len(self.upper)

    def x0(self, v: Vec[V]) -> Flat:
        """The flat array of a vector of the domain; raises SpaceError for another vector."""
        return self.goal.x0(v)

    def point(self, x: Any) -> Vec[V]:
        """The vector whose entries are those of a flat array, copied."""
        return self.goal.point(x)

    def objective(self, x: Any) -> float:
        """f(x)."""
        return self.goal.fun(x)

    def gradient(self, x: Any) -> Flat:
        """The gradient of f at x."""
        return self.goal.jac(x)

    def constraints(self, x: Any) -> Flat:
        """The entries of g(x), and then of h(x)."""
        return self._limits.fun(x)

    def jacobian(self, x: Any) -> Flat:
        """The entries of the constraints' Jacobian that may differ from 0, in the order of `jacobianstructure`."""
        return self._limits.jacobian_entries(x)

    def jacobianstructure(self) -> Places:
        """The rows and the columns of these entries."""
        pattern = self._limits.jacobian_program.pattern
        return _rows(pattern), pattern.indices

    def hessian(self, x: Any, lagrange: Any, obj_factor: float = 1.0) -> Flat:
        """The entries of σ·f″ + Σ λᵢ·cᵢ″ on and below the diagonal, in the order of `hessianstructure`.

        λ are the multipliers of the constraints, `lagrange`, and σ is `obj_factor`.
        """
        return self._all.hessian_entries(x, self._weights(lagrange, obj_factor))[self._lower]

    def hessianstructure(self) -> Places:
        """The rows and the columns of these entries."""
        pattern = self._all.hessian_program.pattern
        return _rows(pattern)[self._lower], pattern.indices[self._lower]

    def jac(self, x: Any) -> Any:
        """The Jacobian of the constraints, a sparse matrix of scipy with the same pattern at each x."""
        return self._limits.jac(x)

    def hess(self, x: Any, lagrange: Any, obj_factor: float = 1.0) -> Any:
        """The matrix σ·f″ + Σ λᵢ·cᵢ″, a sparse one of scipy with the same pattern at each x."""
        return self._all.hess(x, self._weights(lagrange, obj_factor))

    def _moves(self) -> bool:
        """Tell if the places of the entries of the constraints' Jacobian depend on the point."""
        return needs_data(_derived(self._limits.map).body)

    def _weights(self, lagrange: Any, obj_factor: float) -> Flat:
        return np.concatenate(
            [FlatForm(self.goal.map.cod).flat(obj_factor), FlatForm(self._limits.map.cod).flat(lagrange)]
        )

    @cached_property
    def conditions(self) -> list[Any]:
        """The constraints of each kind as scipy's NonlinearConstraint, for `minimize(…, method="trust-constr")`."""
        made = scipy("optimize").NonlinearConstraint
        found = []
        for g, least in zip(self._given[1:], (0.0, -np.inf), strict=True):
            if g is not None:
                c: FlatMap[V] = FlatMap(_on(g, self._backend), (), None, "sparse")
                found.append(made(c.fun, *np.full((2, g.cod.dim), [[least], [0.0]]), jac=c.jac, hess=c.hess))
        return found

    @cached_property
    def _lower(self) -> npt.NDArray[np.intp]:
        pattern = self._all.hessian_program.pattern
        return np.flatnonzero(pattern.indices <= _rows(pattern))

    def __repr__(self) -> str:
        kinds = [f"{what} in {g.cod}" for what, g in zip(("g = 0", "h ≤ 0"), self._given[1:], strict=True) if g]
        return f"nlp(f : {self._given[0].dom} → ℝ{''.join(f', {kind}' for kind in kinds)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return NonlinearProgram, self._given


def nlp(
    f: Map[V, Field], *, equal: Map[V, Any] | None = None, at_most: Map[V, Any] | None = None
) -> NonlinearProgram[V]:
    """The program min f(x) with `equal`(x) = 0 and `at_most`(x) ≤ 0 in each entry, with sparse derivatives.

    Patterns are fixed. Where a function is compiled, all derivatives are. Raises SpaceError for functions of different
    domains, an f that is not into ℝ, discrete parts, and places of entries that depend on the point; the matrices
    need scipy.
    """
    maps: dict[str, AnyMap | None] = {"f": f, "equal": equal, "at_most": at_most}
    require_map(f, "nlp")
    if not f.dom.is_space:
        msg = f"nlp: f is on {f.dom}, which has a discrete part, and a solver varies real numbers: give such a part as "
        raise SpaceError(f"{msg}a constant of f, as in fun(V)(lambda x: g(const(i), x))")
    for name, g in maps.items():
        if g is None and name != "f":
            continue
        require_map(g, f"nlp: {name}")
        assert g is not None
        if g.dom != f.dom:
            raise SpaceError(f"nlp: f is on {f.dom}, and {name} on {g.dom}: all functions have one domain")
        if not g.cod.is_space or (name == "f" and not isinstance(g.cod, Field)):
            due = "a scalar-valued function" if name == "f" else "a function into a space"
            raise SpaceError(f"nlp: {name} is {due}, not one into {g.cod}")
    made: NonlinearProgram[V] = NonlinearProgram(f, equal, at_most)
    if made._moves():
        name = next(name for name, g in maps.items() if g and name != "f" and needs_data(_derived(g).body))
        msg = (
            f"nlp: which entries of the Jacobian of {name} can differ from 0 depends on the point, as that of x.max() "
        )
        msg += "does: a solver takes fixed places; x.max() ≤ k is x - k ≤ 0 in each entry, and x.logsumexp() is a "
        raise SpaceError(f"{msg}smooth bound of x.max()")
    return made


def _derived(f: AnyMap) -> AnyLinearization:
    return derived(getattr(f, "map", f), None)


def _on(f: AnyMap, backend: Backend | None) -> AnyMap:
    """The function on a backend, if some function is."""
    return f if backend is None or isinstance(f, RunsCompiled) else machine_program(program(f), backend)


def _beside(maps: Sequence[AnyMap], dom: Type) -> AnyProgram:
    """x ↦ (f₁(x), f₂(x), …), a function of x once, in which equal steps are one."""
    b = Builder(dom.leaves)
    outputs: list[int] = []
    for f in maps:
        p = program(getattr(f, "map", f))
        p = p.written or p
        where = b.inline(p.line, range(b.arity))
        outputs += [where[k] for k in p.outputs]
    return Program.of(b, dom, outputs, DirectSum(tuple(f.cod for f in maps)))


def _rows(pattern: Any) -> npt.NDArray[np.signedinteger[Any]]:
    return np.repeat(np.arange(pattern.shape[0], dtype=pattern.indices.dtype), np.diff(pattern.indptr))


shown.register(NonlinearProgram, repr)
