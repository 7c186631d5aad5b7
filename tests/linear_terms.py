"""Linear terms of every node class: `NODES[class](source, depth)` has it at its root, `between` joins any spaces.

The fixed operands of sections come from `CONTRACTIONS`, the unitary operators from `UNITARIES`.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import adjoint
from diff import affine
from diff.terms.nodes import Bilinear
from hilbert import R32, Bool, Copower, DirectSum, R, Record, TensorProduct, Unit, direct_sum
from hilbert.index.spec import ALPHABET, Spec
from hilbert.program.line.operation import product
from hilbert.relation import full, leq
from hilbert.space.space import type_of
from linmap import curry, fork, pack, transpose, uncurry, unpack, unzip_parts, zip_parts
from linmap import linear_map as own_map
from linmap.contraction import (
    Contraction,
    basis_vector,
    hadamard,
    inner,
    matrix_matrix,
    matrix_vector,
    outer,
    pick,
    scalar,
    tensor_contraction,
)
from linmap.net.lower import net
from linmap.term.linear_map import LinMap
from linmap.term.maps import cast
from linmap.term.net import Closed, Net
from linmap.term.nodes import (
    Cast,
    Compose,
    Fork,
    Identity,
    Inject,
    Join,
    Lifted,
    Own,
    Parallel,
    Project,
    Reduce,
    Scaled,
    Section,
    Sum,
    Unitary,
    ZeroMap,
)
from linmap.unitary import assoc, bars, bra, distrib, ket, tensor_copower, tensor_matrix, unassoc, undistrib
from tests.strategies import RECORDS, Source, contraction

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert import Type

SCALARS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0)


# --- maps between two given spaces ---


def dense(s: Source, V: Type, W: Type) -> Section:
    """The map of a matrix in W ⊗ V or V ⊗ W, leaf by leaf: there is one between any two spaces."""
    n, m = len(W.leaves), len(V.leaves)
    left = s.flag()
    terms = []
    for i in range(n):
        for j in range(m):
            a, b = len(W.leaves[i].axes), len(V.leaves[j].axes)
            rows, columns = ALPHABET[:a], ALPHABET[a : a + b]
            if left:
                terms.append((i * m + j, j, i, Spec.of(rows + columns, columns, rows)))
            else:
                terms.append((j, j * n + i, i, Spec.of(columns, columns + rows, rows)))
    if left:
        c: Contraction[Any, Any, Any] = Contraction(TensorProduct(W, V), V, W, tuple(terms))
        return Section(c, 0, s.vector(c.left))
    c = Contraction(V, TensorProduct(V, W), W, tuple(terms))
    return Section(c, 1, s.vector(c.right))


def closed(s: Source, V: Any, W: Any, depth: int) -> Closed:
    """The derivative at a point of x ↦ f(x)·g(x), entry by entry: a closed net."""
    f, g = between(s, V, W, depth - 1), between(s, V, W, depth - 1)
    _, linear = affine(Bilinear(hadamard(W)) @ fork(f, g), s.vector(V))
    assert isinstance(linear, Closed)
    return linear


def through(s: Source, V: Any, W: Any, depth: int) -> Compose:
    """g • f for an f whose codomain is its own choice."""
    f = out_of(s, V)
    return Compose([f, between(s, f.cod, W, depth - 1)])


def between(s: Source, V: Any, W: Any, depth: int) -> LinMap[Any, Any]:
    """A linear map V ⊸ W of at most this depth."""
    options: list[Callable[[], LinMap[Any, Any]]] = [*[lambda: dense(s, V, W)] * 4, lambda: ZeroMap(V, W)]
    if V == W:
        options.append(lambda: Identity(V))
    if V.is_sum and W in V.parts:
        options.append(lambda: Project(V, V.parts.index(W)))
    if depth > 0:
        d = depth - 1
        options += [
            lambda: through(s, V, W, depth),
            lambda: Sum((between(s, V, W, d), between(s, V, W, d))),
            lambda: Scaled(s.one_of(SCALARS), between(s, V, W, d)),
            lambda: net(between(s, V, W, d)),
            lambda: closed(s, V, W, depth),
        ]
        if isinstance(V, DirectSum) and V.parts:
            options.append(lambda: Join(tuple(between(s, part, W, d) for part in V.parts)))
        if isinstance(W, DirectSum) and W.parts:
            options.append(lambda: Fork(tuple(between(s, V, part, d) for part in W.parts)))
        if isinstance(V, Record):
            options.append(lambda: between(s, DirectSum(V.parts), W, d) @ unpack(V))
        if isinstance(W, Record):
            options.append(lambda: pack(W) @ between(s, V, DirectSum(W.parts), d))
        if isinstance(V, DirectSum) and isinstance(W, DirectSum) and len(V.parts) == len(W.parts) > 0:
            pairs = list(zip(V.parts, W.parts, strict=True))
            options.append(lambda: Parallel(tuple(between(s, a, b, d) for a, b in pairs)))
        if isinstance(V, Copower) and isinstance(W, Copower) and V.index == W.index:
            options.append(lambda: Lifted(between(s, V.base, W.base, d), V.index))
    return s.one_of(options)()


def out_of(s: Source, V: Any) -> LinMap[Any, Any]:
    """A linear map on V into a space of its own choice."""
    options: list[Callable[[], LinMap[Any, Any]]] = [
        lambda: dense(s, V, s.space(8, 1)),
        lambda: _fixed(s, outer(V, s.space(3, 1)), 1),
        lambda: _injection(s, V),
        lambda: Reduce(full(Unit(), s.index(3)), V),
    ]
    if V.leaves:  # the space 0 has no field of its own
        options += [
            lambda: _fixed(s, inner(V), s.integer(0, 1)),
            lambda: _fixed(s, scalar(V), 0),
            lambda: bra(V) if s.flag() else ket(V),
        ]
    if V.is_sum and V.parts:
        options.append(lambda: Project(V, s.integer(0, len(V.parts) - 1)))
    if isinstance(V, Copower):
        options += [lambda: Reduce(full(V.index, s.index(3)), V.base), lambda: Reduce(leq(V.index), V.base)]
        if V.index.size:
            options.append(lambda: _fixed(s, pick(V.index, V.base), 1))
    if isinstance(V, TensorProduct):
        options.append(lambda: transpose(V))
    return s.one_of(options)()


def _fixed(s: Source, c: Contraction[Any, Any, Any], side: int) -> Section:
    return Section(c, side, s.vector(c.left if side == 0 else c.right))


def _injection(s: Source, V: Any) -> Inject:
    parts = [s.space(6, 1) for _ in range(s.integer(0, 2))]
    position = s.integer(0, len(parts))
    whole = DirectSum((*parts[:position], V, *parts[position:]))
    return Inject(s.one_of(RECORDS[len(whole.parts)]).of_parts(whole.parts) if s.flag() else whole, position)


# --- sections ---


def _labelled(s: Source, kind: str) -> Contraction[Any, Any, Any]:
    spec, left, right = contraction(s, kind)
    return Contraction(type_of(left), type_of(right), type_of(product(spec, left, right)), ((0, 0, 0, spec),))


def _select(s: Source) -> Contraction[Any, Any, Any]:
    V = s.copower()
    truth: Any = Copower(Bool, V.index)
    n = len(V.index.axes)
    terms = []
    for k, leaf in enumerate(V.leaves):
        labels = ALPHABET[: len(leaf.axes)]
        terms.append((0, k, k, Spec.of(labels[:n], labels, labels)))
    return Contraction(truth, V, V, tuple(terms))


CONTRACTIONS: dict[str, Callable[[Source], Contraction[Any, Any, Any]]] = {
    "inner": lambda s: inner(s.space(), s.field),
    "scalar": lambda s: scalar(s.space(), s.field),
    "hadamard": lambda s: hadamard(s.space()),
    "outer": lambda s: outer(s.space(6), s.space(6)),
    "matrix times vector": lambda s: matrix_vector(s.index(), s.index(), s.field),
    "matrix times matrix": lambda s: matrix_matrix(s.index(), s.index(), s.index(3), s.field),
    "tensor contraction": lambda s: tensor_contraction(s.space(4), s.space(4), s.space(4)),
    "pick": lambda s: pick(s.index(empty=False), s.space(8)),
    "basis vector": lambda s: basis_vector(s.index(empty=False), s.field),
    "select": _select,
    "labels": lambda s: _labelled(s, "real"),
    "labels with a Boolean": lambda s: _labelled(s, "bool"),
    "labels with an element": lambda s: _labelled(s, "element"),
}
"""Bilinear maps of every kind; one operand of some is discrete."""


def section(s: Source, c: Contraction[Any, Any, Any]) -> Section:
    """The bilinear map with one operand fixed; the discrete one where there is one."""
    sides = [side for side, free in enumerate((c.right, c.left)) if free.is_space]
    return _fixed(s, c, s.one_of(sides))


def _section(s: Source) -> Section:
    c = CONTRACTIONS[s.one_of(list(CONTRACTIONS))](s)
    return section(s, c.lifted(s.index(3)) if s.flag() else c)


# --- unitary operators ---


def _sums(s: Source) -> Any:
    rows, columns = s.integer(1, 3), s.integer(1, 2)
    return direct_sum(*(direct_sum(*(s.space(4, 1) for _ in range(columns))) for _ in range(rows)))


def _copowers(s: Source) -> Any:
    X = s.index()
    return direct_sum(*(Copower(s.space(6, 1), X) for _ in range(s.integer(1, 3))))


def _tensors(s: Source) -> Any:
    right = s.space(4, 1)
    return direct_sum(*(TensorProduct(s.space(4, 1), right) for _ in range(s.integer(1, 3))))


def _product_copower(s: Source) -> Any:
    return Copower(s.space(6, 1), s.index(3) * s.index(3))


UNITARIES: dict[str, Callable[[Source], LinMap[Any, Any]]] = {
    "transpose": lambda s: transpose(s.tensor()),
    "transpose of a matrix": lambda s: transpose(s.space(4, 1) ** (s.index() * s.index())),
    "bra": lambda s: bra(s.space()),
    "ket": lambda s: ket(s.space()),
    "bars of a bra": lambda s: bars(TensorProduct(s.field, s.space())),
    "bars of a ket": lambda s: bars(TensorProduct(s.space(), s.field)),
    "assoc": lambda s: assoc(TensorProduct(s.tensor(9), s.space(4, 1))),
    "unassoc": lambda s: unassoc(TensorProduct(s.space(4, 1), s.tensor(9))),
    "distrib of a sum": lambda s: distrib(TensorProduct(s.sum(8), s.space(4, 1))),
    "distrib of a copower": lambda s: distrib(TensorProduct(s.copower(8), s.space(4, 1))),
    "undistrib of a sum": lambda s: undistrib(_tensors(s)),
    "undistrib of a copower": lambda s: undistrib(Copower(s.tensor(9), s.index())),
    "zip of copowers": lambda s: zip_parts(_copowers(s)),
    "zip of sums": lambda s: zip_parts(_sums(s)),
    "unzip of a copower": lambda s: unzip_parts(Copower(s.sum(8), s.index())),
    "unzip of sums": lambda s: unzip_parts(_sums(s)),
    "curry": lambda s: curry(_product_copower(s)),
    "uncurry": lambda s: uncurry(Copower(Copower(s.space(6, 1), s.index(3)), s.index(3))),
    "tensor of copowers": lambda s: tensor_copower(TensorProduct(s.copower(6, 1), s.copower(6, 1))),
    "tensor of vectors": lambda s: tensor_matrix(TensorProduct(s.field ** s.index(), s.field ** s.index())),
}


def _unitary(s: Source) -> LinMap[Any, Any]:
    f = UNITARIES[s.one_of(list(UNITARIES))](s)
    return adjoint(f) if s.flag() else f


# --- a term with a given class at its root ---


def _cast(s: Source) -> LinMap[Any, Any]:
    return cast(s.space(), R if s.field == R32 else R32)


def _sum_of_maps(s: Source, depth: int) -> Sum:
    V, W = s.space(), s.space()
    return Sum(tuple(between(s, V, W, depth - 1) for _ in range(s.integer(1, 3))))


def _fork(s: Source, depth: int) -> Fork:
    V = s.space()
    return Fork(tuple(between(s, V, s.space(8), depth - 1) for _ in range(s.integer(1, 3))))


def _join(s: Source, depth: int) -> Join:
    W = s.space()
    return Join(tuple(between(s, s.space(8), W, depth - 1) for _ in range(s.integer(1, 3))))


def _parallel(s: Source, depth: int) -> Parallel:
    return Parallel(tuple(between(s, s.space(8), s.space(8), depth - 1) for _ in range(s.integer(1, 3))))


def _project(s: Source) -> Project:
    V = s.sum(least=1)
    return Project(V, s.integer(0, len(V.parts) - 1))


NODES: dict[type[LinMap[Any, Any]], Callable[[Source, int], LinMap[Any, Any]]] = {
    Identity: lambda s, _: Identity(s.space()),
    ZeroMap: lambda s, _: ZeroMap(s.space(), s.space()),
    Compose: lambda s, depth: through(s, s.space(), s.space(), depth),
    Sum: _sum_of_maps,
    Scaled: lambda s, depth: Scaled(s.one_of(SCALARS), between(s, s.space(), s.space(), depth - 1)),
    Section: lambda s, _: _section(s),
    Project: lambda s, _: _project(s),
    Inject: lambda s, _: _injection(s, s.space(8)),
    Fork: _fork,
    Join: _join,
    Parallel: _parallel,
    Reduce: lambda s, _: Reduce(s.relation(), s.space(6)),
    Unitary: lambda s, _: _unitary(s),
    Lifted: lambda s, depth: Lifted(between(s, s.space(8), s.space(8), depth - 1), s.index(3)),
    Cast: lambda s, _: _cast(s),
    Own: lambda s, _: _own(s),
    Net: lambda s, depth: net(linear_map(s, depth - 1)),
    Closed: lambda s, depth: closed(s, s.space(), s.space(), depth),
}
"""For each node class a term that has it at its root; the spaces are its own choice."""


def _own(s: Source) -> LinMap[Any, Any]:
    """A map of a user's, or its adjoint: what a matrix of whole numbers does."""
    X, Y = s.index(4), s.index(4)
    n, m = X.size, Y.size
    matrix = np.arange(n * m, dtype=s.field.leaves[0].dtype).reshape(m, n) % 5 - 2

    def forward(xp: Any, a: Any) -> Any:
        front = a.shape[: a.ndim - len(X.axes)]
        flat = xp.reshape(a, (*front, 1, n))
        return xp.reshape(xp.sum(flat * xp.asarray(matrix), axis=-1), (*front, *(k.size for k in Y.axes)))

    def back(xp: Any, b: Any) -> Any:
        front = b.shape[: b.ndim - len(Y.axes)]
        flat = xp.reshape(b, (*front, 1, m))
        return xp.reshape(xp.sum(flat * xp.asarray(matrix.T), axis=-1), (*front, *(k.size for k in X.axes)))

    f = own_map(f"own {n}×{m} {next(COUNT)}", s.field**X, s.field**Y, forward, back)
    return adjoint(f) if s.flag() else f


COUNT = itertools.count()


def linear_map(s: Source, depth: int = 2) -> LinMap[Any, Any]:
    """A linear map with any node class at its root, under a copower now and then."""
    f = NODES[s.one_of(list(NODES))](s, depth) if depth > 0 else dense(s, s.space(), s.space())
    return Lifted(f, s.index(3)) if s.flag() else f


def is_exact(f: LinMap[Any, Any]) -> bool:
    """Whether everything is computed in double precision: small integers then have no rounding."""
    return all(leaf.dtype == "float64" for leaf in net(f).wires)
