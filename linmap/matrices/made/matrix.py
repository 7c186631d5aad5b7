"""Matrices of linear maps, in the form that their structure proves: dense, sparse, low rank, operator (theory §9).

The arrays of a form are computed by a line that is built once for each term: a new point pays for arithmetic only. A
sparse matrix is written entry by entry from its pattern, never by way of a dense one. scipy is an extra: only the forms
`sparse` and `operator` need it.

>>> from hilbert import Fin, R
>>> from linmap import scale
>>> matrix(scale(3.0, R ** Fin.of(2)), as_="array").tolist()
[[3.0, 0.0], [0.0, 3.0]]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never, get_args

from hilbert import SpaceError
from hilbert.base.once import once
from hilbert.base.sizes import held
from hilbert.errors import shown
from hilbert.program.line.constant import Const
from linmap.matrices.made.dense import array_plan, dense
from linmap.matrices.made.linear_tensors import refusal, tensor, tensor_plan
from linmap.matrices.made.matrix_plans import NARROW, blocks_plan, data_of, limit_of, linear_operator, sparse_plan
from linmap.matrices.structure.matrix_shapes import (
    BlockDiagonal,
    Blocks,
    DenseForm,
    DiagonalForm,
    Form,
    IdentityForm,
    Kronecker,
    LowRank,
    Permutation,
    ScaledForm,
    SparseForm,
    SumForm,
    ZeroForm,
)
from linmap.matrices.structure.structure import body_of, structure
from linmap.term.net import elements

if TYPE_CHECKING:
    from linmap.matrices.made.matrix_plans import MatrixPlan
    from linmap.term.linear_map import AnyLinMap
    from linmap.term.net import Net

As: TypeAlias = Literal["array", "sparse", "blocks", "tensor", "operator"]
FORMS = "'array', 'sparse', 'blocks', 'tensor' or 'operator'"


ENTRIES = 'as_="sparse" has the entries alone that its structure leaves'
WITHOUT = "diagonal(d), trace(d) and d(v) of d = derivative(f).at(x) need no matrix"
"""The advice in the error for a matrix that memory does not hold."""


@held(f"{ENTRIES}, and {WITHOUT}")
def matrix(f: AnyLinMap, as_: As | None = None, *, limit: int | None = None) -> Any:
    """The matrix of a closed linear map in the standard bases, of shape (dim W, dim V), in one of five forms.

    `array`: a dense array. `sparse`: a scipy CSR array with exactly the entries that the term proves may differ from 0.
    `blocks`: the same in block layout, for each leaf of W and each leaf of V a scipy BSR array, None where it is 0.
    `tensor`: an element of W ⊗ V in as few rank-one terms as the term proves. `operator`: a scipy LinearOperator that
    applies the map, with its spaces as `dom` and `cod`. Without `as_` the cheapest form that the structure allows.
    Contractions are made in the order with the fewest operations; with a `limit`, in the best one whose intermediate
    arrays have at most so many entries. The result shares no memory that may be written into with anything else; sparse
    matrices of one map may share their index arrays, which are read-only: take S.copy() where the pattern is to change.
    Raises SpaceError for an open map, a form that the structure does not allow, or a limit that no order keeps.
    """
    data = data_of(f, "matrix")
    if as_ is not None and not isinstance(as_, str):
        msg = f"matrix(f, as_) takes the name of a form, {FORMS}, not {shown(as_)}"
        raise SpaceError(msg)
    limit_of(limit)
    form = cheapest(structure(f)) if as_ is None else as_
    if form not in get_args(As):  # given by users
        msg = f"matrix(f, as_={shown(form)}): the forms are {FORMS}"
        raise SpaceError(msg)
    match form:
        case "array":
            return dense(f, data, limit)
        case "sparse" | "blocks":
            return _listed(f, data, form, limit)
        case "tensor":
            return tensor(f, limit=limit)
        case "operator" if limit is None:
            return linear_operator(f)
        case "operator":
            msg = "an operator applies the map and contracts nothing: it takes no limit"
            raise SpaceError(msg)
        case _:
            assert_never(form)


@held(WITHOUT)
def _listed(f: AnyLinMap, data: list[Any], form: Literal["sparse", "blocks"], limit: int | None) -> Any:
    plan = (sparse_plan if form == "sparse" else blocks_plan)(body_of(f, "matrix"), limit, data)
    return plan.pattern.matrix(plan.at(data))


@held(f"{ENTRIES}, and {WITHOUT}")
def plan_of(body: Net, form: As, limit: int | None = None) -> MatrixPlan[Any]:
    """The plan of a form for all data; raises SpaceError where it needs some of them, and as `matrix` does."""
    match form:
        case "array":
            return array_plan(body, limit)
        case "sparse":
            return held(WITHOUT)(sparse_plan)(body, limit)
        case "blocks":
            return held(WITHOUT)(blocks_plan)(body, limit)
        case "tensor":
            plan = held(NARROW)(tensor_plan)(body, limit)
            if isinstance(plan, str):
                raise refusal(body, plan)
            return plan
        case _:  # an operator, or what users give
            msg = f"as_={shown(form)} has no arrays to compute: write 'array', 'sparse', 'blocks' or 'tensor'"
            raise SpaceError(msg)


@once
def needs_data(body: Net) -> bool:
    """Tell if the places of entries depend on data: a relation that is found at the point is listed there."""
    return any(not isinstance(d, Const) for d in elements(body))


def cheapest(s: Form) -> As:
    """The form that the structure suggests: sparse where some block has few entries."""
    if isinstance(s, LowRank):
        return "tensor"
    if isinstance(s, DenseForm) or (isinstance(s, (Blocks, SumForm, Kronecker, BlockDiagonal)) and not _thin(s)):
        return "array"
    return "sparse"


def _thin(s: Form) -> bool:
    """Tell if some factor or block of a form has few entries."""
    match s:
        case Blocks():
            return len(s.entries) < math.prod(s.shape) or any(_thin(e) for _, e in s.entries)
        case SumForm(parts):
            return all(_thin(p) for p in parts)
        case Kronecker(parts):
            return any(_thin(p) for p in parts)
        case DenseForm() | LowRank():
            return False
        case (
            ZeroForm() | IdentityForm() | ScaledForm() | DiagonalForm() | Permutation() | SparseForm() | BlockDiagonal()
        ):
            return True
        case _:
            assert_never(s)
