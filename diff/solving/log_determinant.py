"""log |det f| of a linear map, as a function of what f is made of, by the structure that its term proves.

A matrix of few entries is factored sparsely, and its derivative reads the inverse at the places of the entries only; a
sparse matrix S and terms of low rank take the determinant lemma, det(S + UᵀV) = det S · det(id + V S⁻¹ Uᵀ): in one
operation where the matrix in full has room, as it may need.

>>> import numpy as np
>>> from diff import derivative, fun
>>> from hilbert import Fin, R
>>> V = R ** Fin.of(200)
>>> f = fun(V)(lambda x: x * x + x.sum().rep(V))
>>> x = V.vec(np.linspace(1.0, 2.0, 200))
>>> lemma = np.log(2.0 * x.array).sum() + np.log(1.0 + (0.5 / x.array).sum())
>>> print(np.allclose(log_determinant(derivative(f))(x).array, lemma))
True
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.solving.entry_operations import Places, logdet_of
from diff.solving.inverse_map import Site, arrays_of, inverted, require_square
from diff.solving.low_rank_operations import low_rank_logdet_of
from diff.solving.low_rank_plan import LowRankPlan, low_rank_plan
from diff.solving.system_net import TUPLES, tuples
from diff.terms.lift import lift
from diff.terms.linearization import AnyLinearization, Linearization
from diff.terms.lower import program
from diff.terms.program import AnyProgram, Program
from diff.terms.untraced_functions import applied
from diff.trace.trace import fun
from diff.vocabulary.linear_algebra import LOGDET
from hilbert import Copower, Field, Fin, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.arrays.systems.linear_systems import has_room, no_room
from hilbert.arrays.systems.methods import NO_SCIPY, NO_TERMS, TOO_MANY, UNKNOWN, require_method, without
from hilbert.arrays.systems.scipy_modules import scipy_of
from hilbert.base.once import once
from hilbert.index.spec import Spec
from hilbert.program.line.constant import Const
from hilbert.program.line.line import Line
from hilbert.program.line.operation import Reduce
from hilbert.program.run.run import Runner
from hilbert.relation import function
from hilbert.space.space import atom, type_of
from linmap import red, uncurry
from linmap.matrices.made.dense import array_plan
from linmap.matrices.made.matrix_plans import sparse_plan
from linmap.matrices.structure.structure import body_of
from linmap.term import wire
from linmap.term.datum import Ref
from linmap.term.linear_map import AnyLinMap
from linmap.term.net import Arc, Net, elements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert import Type
    from hilbert.arrays.systems.methods import Method
    from hilbert.index.leaf import Leaf
    from linmap.matrices.made.patterns import SparsePattern

FEW, SPARSE = 64, 4
"""The unknowns up to which the matrix is made in full, and the part of its entries up to which it is sparse."""


def log_determinant(f: AnyLinMap | AnyLinearization, how: Method | None = None) -> Any:
    """log |det f|: a number; of a derivative in the point a function of the point. −∞ where f is singular.

    `how` is a method, if not the quickest. Raises SpaceError where f has not as many equations as unknowns, and where
    the structure of f does not allow the method.
    """
    require_square(f, "logdet")
    require_method(how, "logdet")
    if isinstance(f, Linearization):
        return _of_derivative(f, how)
    body = body_of(f, "logdet")
    p = _of_net(body, how)
    (made,) = Runner(p.line).run(arrays_of(f, "logdet"))
    return Vec(p.cod, (freeze(np.asarray(made)),))


@once
def _of_derivative(d: AnyLinearization, how: Method | None) -> AnyProgram:
    return _program(Site.of_derivative(d), d.body, how)


@once
def _of_net(body: Net, how: Method | None) -> AnyProgram:
    return _program(Site.of_net(body), body, how)


def _program(site: Site, body: Net, how: Method | None) -> AnyProgram:
    """The program of the logarithm, on the inputs of a site."""
    b, data = site.b, [site.data[k] for k in site.data]
    field, n = _field(body), body.dom.dim
    is_known = how != "full" and (n > FEW or how is not None) and all(isinstance(d, Const) for d in elements(body))
    lemma = low_rank_plan(body, TUPLES) if is_known and how in {None, "low rank"} else None
    is_listed = is_known and lemma is None and how != "low rank" and tuples(body) <= TUPLES
    plan = sparse_plan(body) if is_listed else None
    if how is not None:
        _require_allowed(how, n, is_known=is_known, has_terms=lemma is not None, is_listed=is_listed)
    if lemma is not None:
        line = lemma.runner.written
        last = _lemma(lemma, field, [type_of(line.slots[k]) for k in line.outputs])
    elif plan is not None and (how is not None or SPARSE * plan.pattern.entries <= n * n):
        line, last = plan.runner.written, _of_entries(plan.pattern, field, how)
    else:
        line = array_plan(body).runner.written
        last = applied(LOGDET, [type_of(line.slots[line.outputs[0]])], field)
    where = b.inline(line, data)
    made = b.inline(last.line, [where[k] for k in line.outputs])
    return Program.of(b, site.dom, [made[k] for k in last.outputs], field, site.names)


def _field(body: Net) -> Field:
    found = atom((*body.dom.leaves, *body.cod.leaves)[0].entry)
    assert isinstance(found, Field)  # a linear map is one between spaces
    return found


def _require_allowed(how: Method, n: int, *, is_known: bool, has_terms: bool, is_listed: bool) -> None:
    """Raise SpaceError where a method gives no determinant of a matrix."""
    if how == "GMRES":
        raise without(how, "it gives no determinant")
    if how == "full" and not has_room(n, 1):
        raise without(how, no_room(n, 1))
    if how != "full" and not is_known:
        raise without(how, UNKNOWN)
    if how != "full" and scipy_of() is None:
        raise without(how, NO_SCIPY)
    if how == "low rank" and not has_terms:
        raise without(how, NO_TERMS)
    if how not in {"full", "low rank"} and not is_listed:
        raise without(how, TOO_MANY)


def _of_entries(pattern: SparsePattern, field: Field, how: Method | None = None) -> AnyProgram:
    """log |det A| of the entries of A at some places."""
    places = _places(pattern, how)
    if how is not None and places.system is not None and not places.system.has_room:
        raise without(how, places.system.no_room)
    return applied(logdet_of(places), [Copower(field, Fin.of(pattern.entries))], field)


def _places(pattern: SparsePattern, how: Method | None = None) -> Places:
    n = pattern.shape[0]
    return Places.of(n, np.repeat(np.arange(n), np.diff(pattern.indptr)), pattern.indices, how)


def _lemma(plan: LowRankPlan, field: Field, spaces: Sequence[Type]) -> AnyProgram:
    """log |det(S + Σ UᵀV)| of the entries of S, and of U and V for each term, in some spaces."""
    n, r = plan.base.shape[0], plan.rank
    V, R = Fin.of(n), Fin.of(r)
    places, start = list[Any](), 0
    for term in plan.terms:
        for first, end in (term.rows, term.cols):
            size = end - first
            index = Fin.of(term.rank * size)
            at = (start + np.arange(term.rank))[:, None] * n + first + np.arange(size)
            places.append((index, red(function(at.ravel(), index, Fin.of(r * n)), field)))
        start += term.rank
    base, one = _of_entries(plan.base, field), Copower(field, R * R).vec(np.eye(r, dtype=field.dtype))
    many, small = lift(_base_solver(plan.base, field), R, over=(1,)), applied(LOGDET, [one.space], field)

    def rows(sides: Sequence[Any], puts: Sequence[Any]) -> Any:
        """All U, or all V, below each other."""
        if len(sides) == 1 and sides[0].space.dim == r * n:
            return sides[0].reshape(R * V)
        put_in = [put(side.reshape(index)) for (index, put), side in zip(puts, sides, strict=True)]
        return functools.reduce(operator.add, put_in).reshape(R * V)

    of_low_rank = low_rank_logdet_of(_places(plan.base), r)

    def lemma(e: Any, *sides: Any) -> Any:
        u, v = (rows(sides[k::2], places[k::2]) for k in (0, 1))
        if has_room(n, 1):
            return applied(of_low_rank, [e.space, u.space, v.space], field)(e, u, v)
        w = many(e, u.rows())
        return base(e) + small(one + v @ uncurry(w.space)(w).T)

    return program(fun(*spaces)(lemma))


def _base_solver(pattern: SparsePattern, field: Field) -> AnyProgram:
    """(e, b) ↦ S⁻¹b, where S has entries e at some places."""
    n = pattern.shape[0]
    V, E = Copower(field, Fin.of(n)), Copower(field, Fin.of(pattern.entries))
    (v,), (e,) = V.leaves, E.leaves
    labels, places = Spec.pointwise(1), np.arange(n)
    rows = np.repeat(places, np.diff(pattern.indptr))
    if np.array_equal(rows, places) and np.array_equal(pattern.indices, places):  # a diagonal
        arcs: tuple[Arc, ...] = (Arc(wire.ContractWith(labels, 0, Ref(0, e)), 0, 1),)
        wires: tuple[Leaf, ...] = (v, v)
    else:
        of_row, of_col = (function(some, E.index, V.index) for some in (rows, pattern.indices))
        arcs, wires = (
            (
                Arc(Reduce(of_col.T, 0), 0, 1),
                Arc(wire.ContractWith(labels, 0, Ref(0, e)), 1, 2),
                Arc(Reduce(of_row, 0), 2, 3),
            ),
            (v, e, e, v),
        )
    net = Net(V, V, (0,), arcs, (len(arcs),), wires)
    return program(inverted(Linearization(Program(E, E, Line((e,), (), (0,)), ("e",)), net)).uncurried)
