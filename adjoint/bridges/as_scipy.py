"""Functions as scipy's solvers take them: the value and derivatives for flat arrays.

>>> import numpy as np
>>> from diff import fun
>>> from hilbert import Fin, R
>>> V = R ** Fin.of(2)
>>> s = as_scipy(fun(V, R)(lambda x, k: k * (x @ x)), 3.0, wrt=0)
>>> x = s.x0(V.vec([1.0, 2.0]))
>>> s.fun(x), s.jac(x), s.hessp(x, x)
(15.0, array([ 6., 12.]), array([ 6., 12.]))
>>> s.hess(x).tolist(), print(s.point(x))
[1.0, 2.0] ∈ ℝ^2
([[6.0, 0.0], [0.0, 6.0]], None)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Never, NoReturn, TypeAlias, TypeVar, final, get_args

import numpy as np

from adjoint.bridges.varied import retyped, varied
from adjoint.reverse.adjoint_affine import vjp
from adjoint.reverse.gradient import grad, value_and_grad
from adjoint.reverse.jacobian_program import AnyJacobianProgram, derived, hessian_program, jacobian_program
from adjoint.reverse.wrt import takes_wrt
from diff.compiled.own_runner import keeps_runner
from diff.derive.affine import linearized
from diff.derive.partial_derivative import restricted
from diff.derive.varying_parts import Wrt
from diff.terms import planned_program
from diff.terms.lower import program
from diff.terms.program import AnyProgram
from hilbert import DirectSum, Field, SpaceError, Type, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.attach import overloaded
from hilbert.base.notarray import Refusing
from hilbert.base.once import cached_property, once
from hilbert.errors import shown
from hilbert.map.map import AnyMap, require_map, runner
from hilbert.space.flat_form import DOUBLE, Flat, FlatForm, number_of
from linmap.matrices.made.matrix import cheapest, needs_data
from linmap.matrices.structure.structure import structure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint import _calls
    from diff.terms.linearization import AnyLinearization
    from hilbert.map.map import OnLeaves

X = TypeVar("X", bound=Type)
MatrixForm: TypeAlias = Literal["array", "sparse"]
"""The forms of a matrix that scipy's solvers take."""
SMALL, SHARE = 10_000, 4
"""A matrix is sparse from so many entries on, where at most one of `SHARE` is proved to be other than 0."""


class FlatFunction(Refusing, Generic[X]):
    """A function of flat arrays of double precision: `as_scipy` makes it. Places of sparse matrices are read-only."""

    def __init__(self, f: AnyMap, data: tuple[Any, ...], wrt: Wrt, as_: MatrixForm | None) -> None:
        self.map, self.wrt, self.as_, self._given = f, wrt, as_, data
        self._varied = v = varied(f, wrt)
        self._form, self._results = FlatForm(v.space), FlatForm(f.cod)
        takes_data = v.fixed and not data and v.others is not None
        self._data = None if takes_data else v.data(f, data, "as_scipy")
        self._place = v.place if takes_data else 0

    @property
    def size(self) -> int:
        """The number of entries of x."""
        return self._form.size

    def x0(self, v: Vec[X]) -> Flat:
        """The flat array of a vector of the space that varies; raises SpaceError for another vector."""
        made: Vec[Any] = self._varied.space.vec(v)
        return self._form.joined(made.leaves)

    def point(self, x: Any) -> Vec[X]:
        """The vector whose entries are those of a flat array, copied."""
        space: Any = self._varied.space
        return Vec(space, tuple([freeze(np.array(leaf)) for leaf in self._form.cut(x)]))

    def _at(self, point: Sequence[Any], more: int = 0) -> tuple[list[Any], Sequence[Any]]:
        """The arrays of x and of the data, and what follows x, `more` of them."""
        place, data = self._place, self._data
        stop = place + 1 + more
        rest = (*point[:place], *point[stop:])
        if len(point) < stop or (rest and data is not None):
            raise self._arguments(len(point), more)
        if data is None:
            data = self._varied.data(self.map, rest, "each method takes x and data, which")
        return [*self._form.cut(point[place]), *data], point[place + 1 : stop]

    def _arguments(self, have: int, more: int) -> SpaceError:
        behind = f", and {more} behind it" if more else ""
        data = "" if self._data is not None else ", with the data in the order of f's arguments"
        return SpaceError(f"{self!r} takes a flat array x{behind}{data}; {have} arguments were given")

    def _matrix(self, make: Callable[..., AnyJacobianProgram], d: AnyLinearization, of: AnyMap) -> AnyJacobianProgram:
        """The program of a matrix in the form that was asked for, or that the structure of the derivative proves."""
        wrt = self._varied.wrt if of is self._varied.program else 0
        if self.as_ is not None:
            return make(of, wrt=wrt, as_=self.as_)
        rows, columns = d.cod.dim, d.dom.dim
        if rows * columns >= SMALL and not needs_data(d.body) and cheapest(structure(d)) == "sparse":
            found = make(of, wrt=wrt, as_="sparse")
            if found.pattern.entries * SHARE <= rows * columns:
                return found
        return make(of, wrt=wrt, as_="array")

    @cached_property
    def _run(self) -> OnLeaves:
        return runner(self._varied.program)

    def __call__(self, *_: Never) -> NoReturn:
        """Raise SpaceError: a solver takes one of the methods."""
        solver = "minimize" if isinstance(self, FlatObjective) else "least_squares"
        msg = f"{self!r} is no function itself: write s = as_scipy(f), {solver}(s.fun, s.x0(v), jac=s.jac)"
        raise SpaceError(msg)

    def __repr__(self) -> str:
        return f"as_scipy(f : {self.map.dom} → {self.map.cod}) on {self.size} numbers"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.map, self._given, self.wrt, self.as_)


@final
class FlatObjective(FlatFunction[X]):
    """A function into ℝ for the methods of `scipy.optimize.minimize`; each takes x, a flat array.

    Where data were not given to `as_scipy`, each takes them too, in the order of f's arguments, as scipy's `args=` do.
    """

    _attributes: ClassVar[dict[str, str]] = {
        "jacobian_program": "s.jac(x) for the gradient, s.hess(x) for the Hessian, whose program is s.hessian_program",
        "jacobian_entries": "s.jac(x) for the gradient",
        "hessian_entries": "s.hess(x) for the Hessian",
        "grad": "s.jac(x)",
        "gradient": "s.jac(x)",
        "jacobian": "s.jac(x) for the gradient",
        "hessian": "s.hess(x)",
        "hvp": "s.hessp(x, p)",
        "value": "s.fun(x)",
    }

    def fun(self, *point: Any) -> float:
        """The value at x."""
        return number_of(self._run(self._at(point)[0])[0])

    def jac(self, *point: Any) -> Flat:
        """The gradient at x."""
        return self._form.joined(self._gradient(self._at(point)[0]))

    def value_and_grad(self, *point: Any) -> tuple[float, Flat]:
        """The value and the gradient at x, as `minimize(s.value_and_grad, x0, jac=True)` takes both."""
        value, *slope = self._both(self._at(point)[0])
        return number_of(value), self._form.joined(slope)

    def hess(self, *point: Any) -> Any:
        """The matrix of the second derivative at x: an array, or a sparse matrix with the same pattern at each x."""
        return _made(self.hessian_program, self._at(point)[0])

    def hessp(self, *point: Any) -> Flat:
        """The second derivative at x, applied to the direction p that follows x; no matrix is made."""
        leaves, (p,) = self._at(point, 1)
        return self._form.joined(self._along([*leaves, *self._form.cut(p)]))

    @cached_property
    def hessian_program(self) -> AnyJacobianProgram:
        """The program of the Hessian's entries, with its `pattern`."""
        f = self._varied.program
        return self._matrix(hessian_program, derived(_plain(f), self._varied.wrt, twice=True), f)

    @cached_property
    def _gradient(self) -> OnLeaves:
        return runner(grad(self._varied.program, self._varied.wrt))

    @cached_property
    def _both(self) -> OnLeaves:
        return runner(value_and_grad(self._varied.program, self._varied.wrt))

    @cached_property
    def _along(self) -> OnLeaves:
        return runner(_along(grad(self._varied.program, self._varied.wrt), self._varied.wrt))


@final
class FlatMap(FlatFunction[X]):
    """A function into a space for `least_squares`, `root`, `NonlinearConstraint` and `solve_ivp`; x is a flat array.

    Where data were not given to `as_scipy`, each method takes them too, in the order of f's arguments.
    """

    _attributes: ClassVar[dict[str, str]] = {
        "grad": "s.jac(x) for the Jacobian",
        "gradient": "s.jac(x) for the Jacobian",
        "value_and_grad": "s.fun(x) for the value, s.jac(x) for the Jacobian",
        "jacobian": "s.jac(x)",
        "hessian": "s.hess(x, v) for the second derivative of v·f",
        "hessp": "s.hess(x, v) for the second derivative of v·f",
        "hvp": "s.hess(x, v) for the second derivative of v·f",
        "value": "s.fun(x)",
    }

    def fun(self, *point: Any) -> Flat:
        """The value at x, flat."""
        return self._results.joined(self._run(self._at(point)[0]))

    def jac(self, *point: Any) -> Any:
        """The Jacobian at x: an array, or a sparse matrix with the same pattern at each x."""
        return _made(self.jacobian_program, self._at(point)[0])

    def hess(self, *point: Any) -> Any:
        """The second derivative at x of v·f for the multipliers v that follow x, as `NonlinearConstraint` takes it."""
        leaves, (v,) = self._at(point, 1)
        return _made(self.hessian_program, [*leaves, *self._results.cut(v)])

    def jacobian_entries(self, *point: Any) -> Flat:
        """The entries of the Jacobian at x, in the order of `jacobian_program.pattern`; no matrix of scipy is made."""
        p = self.jacobian_program
        return FlatForm(p.cod).joined(runner(p)(self._at(point)[0]))

    def hessian_entries(self, *point: Any) -> Flat:
        """The entries of `hess(x, v)`, in the order of `hessian_program.pattern`."""
        leaves, (v,) = self._at(point, 1)
        p = self.hessian_program
        return FlatForm(p.cod).joined(runner(p)([*leaves, *self._results.cut(v)]))

    @cached_property
    def jacobian_program(self) -> AnyJacobianProgram:
        """The program of the Jacobian's entries, with its `pattern`."""
        f = self._varied.program
        return self._matrix(jacobian_program, derived(_plain(f), self._varied.wrt), f)

    @cached_property
    def hessian_program(self) -> AnyJacobianProgram:
        """The program of the entries of Σ vᵢ·fᵢ″ for what varies, the data and v."""
        f = _weighted(self._varied.program, self._varied.wrt)
        return self._matrix(jacobian_program, derived(_plain(f), 0), f)


@overloaded(lambda: _calls.as_scipy)
@takes_wrt
def as_scipy(f: AnyMap, *data: Any, wrt: Wrt = None, as_: MatrixForm | None = None) -> Any:
    """The function for scipy's solvers: `.fun`, `.jac`, `.hess` and others on flat arrays, `.x0(v)` and `.point(x)`.

    `wrt` names what varies; `data` are the other arguments of f in their order (vectors, or arrays for these), or one
    vector of the whole domain that has them. Without data each method takes them beside x, in the order of f's
    arguments. Matrices are sparse where f proves few entries, always with `as_="sparse"`, and never with
    `as_="array"`. Of a compiled function the derivatives are compiled. Raises SpaceError for what is no function
    between spaces, a discrete part among what varies, and data of other spaces; `as_="sparse"` needs scipy.
    """
    require_map(f, "as_scipy")
    if as_ is not None and (not isinstance(as_, str) or as_ not in get_args(MatrixForm)):
        msg = f'as_scipy(f, as_={shown(as_)}): the matrices that scipy takes are "array" and "sparse"'
        raise SpaceError(msg)
    if not f.cod.is_space:
        msg = f"as_scipy of f : {f.dom} → {f.cod}: its result is discrete, and a solver takes real numbers"
        raise SpaceError(msg)
    return (FlatObjective if isinstance(f.cod, Field) else FlatMap)(f, data, wrt, as_)


def _plain(f: AnyMap) -> AnyMap:
    """The function that was compiled: what it proves is asked of it."""
    found: AnyMap = getattr(f, "map", f)
    return found


def _made(p: AnyJacobianProgram, leaves: Sequence[Any]) -> Any:
    """The matrix for the arrays of a point, in double precision; entries that are an argument's are copied."""
    matrix = p.at_leaves([*map(freeze, leaves)])
    return matrix if matrix.dtype == DOUBLE else matrix.astype(np.float64)


@keeps_runner
def _along(f: AnyMap, wrt: Any) -> AnyProgram:
    """(x, data, dx) ↦ f'(x, data)(dx), the derivative in x."""
    return _pushed(program(f), wrt)


@once
def _pushed(p: AnyProgram, wrt: Any) -> AnyProgram:
    return planned_program.derived(p, lambda q: restricted(linearized(q), wrt).uncurried)


@keeps_runner
def _weighted(f: AnyMap, wrt: Any) -> AnyProgram:
    """(x, data, v) ↦ (f'(x, data))*(v) in x, on a direct sum of x, the data and v."""
    p: AnyProgram = vjp(f, wrt)
    return p if wrt is None else retyped(p, DirectSum((*f.dom.parts, f.cod)))


shown.register(FlatFunction, repr)
