"""Remedies in errors: for attributes and operators that maps lack, and for arguments that do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.index.index import Index, Product
from hilbert.space.nested_sums import FEW, is_plain, said
from hilbert.space.space import Copower, Type

if TYPE_CHECKING:
    from collections.abc import Sequence

OF_MAPS = {
    "T": "adjoint(A) for the adjoint of a linear map",
    "H": "adjoint(A) for the adjoint of a linear map",
    "shape": "A.dom and A.cod, the spaces of A; (A.cod.dim, A.dom.dim) is the shape of matrix(A)",
    "grad": "grad(f)(x)",
    "gradient": "grad(f)(x)",
    "backward": "grad(f)(x)",
    "value_and_grad": "value_and_grad(f)(x)",
    "derivative": "derivative(f)",
    "diff": "derivative(f)",
    "jacobian": "jacobian(f, x)",
    "hessian": "hessian(f, x)",
    "jvp": "jvp(f)(x, dx)",
    "vjp": "vjp(f)(x, dy)",
    "adjoint": "adjoint(A) for the adjoint of a linear map, vjp(f)(x, dy) of a function",
    "transpose": "adjoint(A) for the adjoint of a linear map",
    "at": "f(x), or derivative(f).at(x) for the derivative there",
    "apply": "f(x)",
    "array": 'matrix(A, "array") of a linear map A',
    "space": "f.dom and f.cod, its two spaces",
    "domain": "f.dom",
    "codomain": "f.cod",
    "dim": "f.dom.dim and f.cod.dim",
    "vmap": "f ** X, or lift(f, X) with the first argument shared",
    "compile": "compiled(f)",
    "jit": "compiled(f)",
    "on_arrays": "compiled(f).on_arrays(a, …), a function of plain arrays",
}
"""The remedies for attributes that maps lack."""
_ITEMS_OF_MAPS = (
    "f.dom.parts are the spaces of its arguments, f.cod.parts those of its result, f(x)[k] is a part of that"
)
SIGNS_OF_MAPS = {
    "__len__": ("len()", _ITEMS_OF_MAPS),
    "__iter__": ("a loop over the items", _ITEMS_OF_MAPS),
    "__getitem__": ("the item [k]", _ITEMS_OF_MAPS),
    "__rtruediv__": ("the quotient k /", "write fun(V)(lambda x: 1.0 / f(x))"),
    "__rpow__": ("the power k **", "write f ** X for f at each element of an index set X"),
    "__xor__": ("^", "write f ** X for f at each element of an index set X"),
}
"""The signs of operators that maps lack, and the remedies for them."""


def missing(have: Sequence[Type], want: Type) -> str:
    """The end of an error for arguments of a direct sum that fit, but are too few; otherwise empty."""
    parts = want.parts if want.is_sum and want.names is None else ()
    rest = list(have)
    absent = [k for k, part in enumerate(parts, 1) if not (rest and rest[0] == part and rest.pop(0))]
    if rest or not have or not absent:
        return ""
    places = f"arguments {', '.join(map(str, absent))} are" if len(absent) > 1 else f"argument {absent[0]} is"
    return f"; {places} missing, of {' and '.join(said(parts[k - 1]) for k in absent)}"


def of_rows(have: Type, want: Type, lifted: str) -> str:
    """The end of an error for ℝ^{(X×Y)×Z} where f takes ℝ^{Y×Z}: `lifted` is f for each element; otherwise empty."""
    if not (isinstance(have, Copower) and isinstance(want, Copower)) or have.base != want.base:
        return ""
    axes, few = have.index.axes, want.index.axes
    if len(axes) != len(few) + 1 or axes[1:] != few:
        return ""
    return f"; f for each element of X = {axes[0]} is {lifted}, of v.reshape(X * Y) with Y = {want.index}"


def record_of(names: Sequence[str]) -> str:
    """The text of a vector of a record."""
    return f"P.of({', '.join(f'{name}=…' for name in names)})"


def as_record(names: Sequence[str], *, in_order: bool) -> str:
    """The end of an error for arguments that are the parts of the record that is due."""
    if not in_order:
        return f"; write f({record_of(names)})"
    parts = ("v", "v, w", "v, w, …")[min(len(names), 3) - 1]
    data = f"({parts})" if len(names) > 1 else f"({parts},)"
    return f"; write f(P.vec({data})) for vectors of its parts, f(pack(P)({parts})) in a body"


def power_of(space: Type, base: Type) -> Index | None:
    """X where a space is V^X for that V, or a table of rows in it."""
    if not isinstance(space, Copower):
        return None
    X: Index = space.index
    if isinstance(X, Product) and Copower(space.base, X.right) == base:
        X = X.left
    elif space.base != base:
        return None
    return X


def named_call(f: Any, have: Sequence[Type]) -> str:
    """The call of a function whose arguments have names, for vectors that do not fit them; otherwise empty.

    An argument that is several vectors, which are not given as one, is written as a tuple.
    """
    names, parts = getattr(f, "names", ()), f.dom.parts
    if not len(names) == len(parts) > 1:
        return ""
    given = [[name] if part in have else _given(name, part) for name, part in zip(names, parts, strict=True)]
    fits = len(have) == len(parts) and not any(
        len(some) > 1 and space in part.parts for some, space, part in zip(given, have, parts, strict=True)
    )
    if fits or len(have) == 1:
        return ""
    call = ", ".join(f"({', '.join(some)})" if len(some) > 1 else one for one, some in zip(names, given, strict=True))
    spaces = [space for part, some in zip(parts, given, strict=True) for space in (part.parts if some[1:] else (part,))]
    each = zip((name for some in given for name in some), spaces, strict=True)
    return f"; write f({call}), with {', '.join(f'{name} in {said(space)}' for name, space in each)}"


def _given(name: str, space: Type) -> list[str]:
    """The names of the vectors that an argument is made of."""
    few = is_plain(space) and 1 < len(space.parts) <= FEW
    return [f"{name}{k}" for k in range(1, len(space.parts) + 1)] if few else [name]
