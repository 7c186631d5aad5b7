"""Linear maps of your own, computed by two functions: one for the map and one for its adjoint.

>>> from hilbert import Fin, R
>>> X = Fin.of(4)
>>> def back(xp, b):
...     return xp.broadcast_to(b[..., None] / 4, (*b.shape, 4))
>>> mean = linear_map("mean", R**X, R, lambda xp, a: xp.mean(a, axis=-1), back)
>>> print(mean, mean((R**X).vec([1.0, 2.0, 3.0, 6.0])))
mean 3.0 ∈ ℝ
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from hilbert import SpaceError, Type
from hilbert.base.arity import require_taken
from hilbert.errors import shown, truth
from hilbert.program.line.external import MapRule, defined, rule_named
from hilbert.space.space import require_space
from linmap.term.nodes import Own

if TYPE_CHECKING:
    from collections.abc import Callable

    from linmap.term.linear_map import LinMap

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


class Operator(Protocol):
    """A matrix A by its products, as the `LinearOperator` of scipy and that of PyLops."""

    def matvec(self, x: Any, /) -> Any:
        """A x."""

    def rmatvec(self, x: Any, /) -> Any:
        """A* x."""


class Transposable(Protocol):
    """A matrix A by its products, as the operators of lineax."""

    def mv(self, x: Any, /) -> Any:
        """A x."""

    def transpose(self) -> Any:
        """The operator of Aᵀ."""


@overload
def linear_map(
    name: str,
    dom: V,
    cod: W,
    forward: Callable[[Any, Any], Any],
    adjoint: Callable[[Any, Any], Any],
    *,
    batched: bool = True,
) -> LinMap[V, W]: ...
@overload
def linear_map(name: str, dom: V, cod: W, forward: Operator | Transposable) -> LinMap[V, W]: ...
def linear_map(name: str, dom: V, cod: W, forward: Any, adjoint: Any = None, *, batched: bool = True) -> LinMap[V, W]:
    """A linear map of your own, V ⊸ W: `forward(xp, a)` on arrays of the library xp, `adjoint(xp, b)` back.

    Both take arrays with any axes in front, with `batched=False` without; what they give is copied. Instead of the two
    an operator may be given: of scipy or PyLops (`matvec`, `rmatvec`, on flat arrays), or of lineax (`mv`, `transpose`,
    on arrays of the spaces' shapes); `linear_operator(A)` is the way back. The map is pickled by its name. That both
    are linear, and adjoint to each other, is for `check_adjoint` to test. Raises SpaceError for spaces of more than one
    array, for what is no function, for a complex operator, and where it is used, for a result of another shape, or a
    complex one.
    """
    require_space(dom, "linear_map")
    require_space(cod, "linear_map")
    if adjoint is None and hasattr(forward, "matvec") and hasattr(forward, "rmatvec"):
        _require_real(name, getattr(forward, "dtype", None))
        forward, adjoint = _of_operator(name, forward, dom, cod), _of_operator(name, forward.H, cod, dom)
        batched = False
    elif adjoint is None and hasattr(forward, "mv") and hasattr(forward, "transpose"):
        forward, adjoint = _of_lineax(name, forward, dom, cod), _of_lineax(name, forward.transpose(), cod, dom)
        batched = False
    if not isinstance(name, str) or not callable(forward) or not callable(adjoint):
        what = f"{shown(name)}, {shown(forward)} and {shown(adjoint)}"
        remedy = (
            ": in their place it takes an operator of scipy, PyLops or lineax; linear_operator(A) makes one of a map"
        )
        raise SpaceError(f"linear_map(name, V, W, forward, adjoint) takes a name and two functions, not {what}{remedy}")
    require_taken(f"the forward function of linear map {name}", forward, ["xp", "a"])
    require_taken(f"the adjoint function of linear map {name}", adjoint, ["xp", "b"])
    return Own(defined(MapRule(name, forward, adjoint, truth(batched, "batched=…"))), dom, cod)


def _of_operator(name: str, operator: Any, V: Any, W: Any) -> Any:
    """The function on arrays of an operator on flat ones; its products are looked at, whatever type it declares."""
    if tuple(operator.shape) != (W.dim, V.dim):
        msg = f"an operator {V} ⊸ {W} has the shape {(W.dim, V.dim)}, not {tuple(operator.shape)}"
        raise SpaceError(msg)
    leaf = W.leaves[0]

    def product(_: Any, a: Any) -> Any:
        try:
            y = operator.matvec(a.reshape(-1))
        except (TypeError, NotImplementedError) as error:  # scipy's, where no rmatvec was given
            msg = f"the operator of linear map {name} does not run, {V} → {W}: {error}: has it a matvec and a rmatvec?"
            raise SpaceError(msg) from error
        _require_real(name, y.dtype)
        return y.reshape(leaf.shape).astype(leaf.dtype)

    return product


def _of_lineax(name: str, operator: Any, V: Any, W: Any) -> Any:
    """The function on arrays of an operator of lineax, whose arrays are of JAX: its result is of the library asked."""
    leaf = W.leaves[0]
    for what, found, space in (("takes", operator.in_structure(), V), ("gives", operator.out_structure(), W)):
        have = getattr(found, "shape", None)
        if have != space.leaves[0].shape:
            due = f"an array of shape {space.leaves[0].shape} is due for {space}"
            raise SpaceError(f"the operator of linear map {shown(name)} {what} {shown(found)}, where {due}")
        _require_real(name, found.dtype)

    def product(xp: Any, a: Any) -> Any:
        y = operator.mv(a)
        return xp.astype(xp.asarray(y), getattr(xp, leaf.dtype)) if hasattr(xp, "astype") else y

    return product


def _require_real(name: Any, dtype: Any) -> None:
    """Raise SpaceError for a complex type: its imaginary part would be lost."""
    if getattr(dtype, "kind", "") == "c":
        msg = f"the operator of linear map {shown(name)} is complex ({dtype}), and all spaces are real: give its real "
        raise SpaceError(f"{msg}and its imaginary part as two maps, or one map of pairs, direct_sum(V, V)")


def own(name: str, V: Any, W: Any, back: bool) -> Own:  # noqa: FBT001 - as repr writes it
    """The linear map of a name, or its adjoint; SpaceError if this process has none."""
    return Own(rule_named(name), V, W, back)
