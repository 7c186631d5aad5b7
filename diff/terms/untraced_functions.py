"""Functions that are not made by tracing: constants and bilinear maps (paper §3.1, §3.4), operations of users.

>>> from hilbert import Fin, R
>>> from linmap.contraction import matrix_vector
>>> X, Y = Fin.of(3), Fin.of(2)
>>> print(constant(R.vec(2.0), R), bilinear(matrix_vector(Y, X)))
K[2] (⋆)
>>> from diff import derivative, inner
>>> X = Fin.of(3)
>>> def tangent(x, y, dx):
...     return (dx - inner(y, dx) * y) * (1.0 / (x @ x) ** 0.5)
>>> unit = operation(
...     "unit", R**X, to=R**X, value=lambda xp, x: x / xp.linalg.vector_norm(x, axis=-1, keepdims=True), tangent=tangent
... )
>>> print(unit((R**X).vec([3.0, 0.0, 4.0])))
[0.6, 0.0, 0.8] ∈ ℝ^3
>>> print(derivative(unit))
(1/√(x⊙x) ·) • (id − (· unit(x))•(unit(x) ⊙))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from diff.terms.nodes import Bilinear, Constant
from diff.terms.program import AnyProgram, Program
from diff.terms.user_operation import Custom, OperationRule, defined, emit
from hilbert import DirectSum, R, SpaceError, Type
from hilbert.base.arity import require_taken
from hilbert.base.attach import overloaded
from hilbert.errors import shown, truth
from hilbert.program.line.builder import Builder
from hilbert.space.space import require_type
from hilbert.space.vector import require_vector
from linmap import identity, parallel, red
from linmap.contraction import require_contraction, scalar
from linmap.relational.entries import table_of
from linmap.term.maps import in_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff import _calls
    from diff.terms.function import Fun
    from hilbert import Vec
    from linmap import Contraction

U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


def constant(w: Vec[W], V: V) -> Fun[V, W]:
    """K_w : V → W, v ↦ w; raises SpaceError unless V is a type and w a vector."""
    require_vector(w, "constant(w, V)")
    require_type(V, "constant(w, V)")
    return Constant(V, w)


def bilinear(c: Contraction[U, V, W]) -> Fun[DirectSum[U, V], W]:
    """⋄ : U ⊕ V → W, a bilinear map as its contraction (see `linmap.contraction`); SpaceError for other things."""
    require_contraction(c, "bilinear")
    return Bilinear(c)


@overloaded(lambda: _calls.sparse_product)
def sparse_product(rows: Any, cols: Any, X: Any, Y: Any, V: Any = R, *, entries: Any = None) -> Any:
    """sparse_product : ℝ^K ⊕ V^X → V^Y, (w, v) ↦ (Σ w_k·v_{cols[k]} over rows[k] = y)_y, bilinear.

    A sparse matrix whose entries w are an argument: `entries` is K, one for each of its pairs; rows are elements of Y,
    columns of X. Raises SpaceError for elements outside X or Y, and for unequal lengths.
    """
    in_order("sparse_product(rows, cols, X, Y, V)", V, X, Y, tables=(rows, cols))
    target = table_of(rows, Y, entries, "sparse_product")
    source = table_of(cols, X, target.dom, "sparse_product")
    c = scalar(V)
    gathered = parallel(identity(c.left**target.dom), red(source.T, V))
    return red(target, V) @ bilinear(c.lifted(target.dom)) @ gathered


@overloaded(lambda: _calls.operation)
def operation(
    name: str,
    /,
    *spaces: Type,
    to: Type,
    value: Any,
    tangent: Any = None,
    batched: bool = True,
    broadcasts: bool = False,
) -> Any:
    """An operation of your own, A ⊕ B ⊕ … → C: its value on arrays, and its derivative as an expression.

    `value(xp, a, b, …)` takes arrays of the library xp, with the same axes in front of all (with `batched=False` it is
    called element by element of these axes), and gives that of the result; of a direct sum the tuple tree.
    `tangent(a, b, …, y, da, db, …)` gives dy as an expression, linear in da, db, …, which is proved when the derivative
    is first taken; for a discrete argument the tangent is None. Adjoint, lift and higher derivatives follow.
    It is pickled by its name. What `value` gives is copied: it may keep the array. Raises SpaceError for what is no
    space and no function, and where it is used: for a value of another shape, a tangent of another space or one that
    is not linear, and for a derivative without `tangent`.
    """
    for space in (*spaces, to):
        require_type(space, f"operation {name}")
    if not isinstance(name, str) or not callable(value) or not (tangent is None or callable(tangent)) or not spaces:
        what = f"{shown(name)}, {len(spaces)} spaces, {shown(value)} and {shown(tangent)}"
        raise SpaceError(f"operation(name, A, …, to=C, value=…, tangent=…) takes a name, spaces, functions, not {what}")
    xs = [f"x{k}" for k, _ in enumerate(spaces, 1)] if len(spaces) > 1 else ["x"]
    require_taken(f"the value of operation {name}", value, ["xp", *xs])
    require_taken(f"the tangent of operation {name}", tangent, [*xs, "y", *(f"d{x}" for x in xs)])
    given = truth(batched, "batched=…"), truth(broadcasts, "broadcasts=…")
    return applied(defined(OperationRule(name, value, tangent, *given)), spaces, to)


def applied(rule: OperationRule, arguments: Sequence[Type], cod: Type) -> AnyProgram:
    """The operation between some types, as a function."""
    dom: Type = DirectSum(tuple(arguments)) if len(arguments) > 1 else arguments[0]
    b = Builder(dom.leaves)
    return Program.of(b, dom, emit(b, Custom(rule, tuple(arguments), cod), range(b.arity)), cod)
