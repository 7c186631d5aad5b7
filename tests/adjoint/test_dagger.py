"""The adjoint is an involution that turns compositions round, by == on terms: f** = f, (g • f)* = f* • g* (Thm 6.5)."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, note, settings

from adjoint import adjoint
from diff import affine, derivative
from hilbert import Copower, TensorProduct
from hilbert.relation import full
from linmap import (
    add,
    assoc,
    bars,
    curry,
    distrib,
    dup,
    fork,
    identity,
    inject,
    join,
    ket,
    parallel,
    project,
    red,
    rep,
    scan,
    suffix,
    total,
    transpose,
    unassoc,
    uncurry,
    undistrib,
    unzip,
    zero,
    zip_,
)
from linmap.net.lower import net
from linmap.term.nodes import Lifted
from tests import function_terms
from tests.linear_terms import NODES, SCALARS, UNITARIES, between, linear_map
from tests.strategies import FORMS, Source, sources


@pytest.mark.parametrize("cls", NODES)
@settings(max_examples=20)
@given(s=sources())
def test_involution(cls: type, s: Source) -> None:
    """f** = f for trees, nets and closed maps, with the same hash."""
    f = NODES[cls](s, 3)
    note(f)
    for g in (f, Lifted(f, s.index(3)), net(f)):
        assert adjoint(adjoint(g)) == g
        assert hash(adjoint(adjoint(g))) == hash(g)


@settings(max_examples=100)
@given(sources(smooth=True))
def test_involution_on_derivatives(s: Source) -> None:
    """f'** = f', at a point and in the point."""
    f = function_terms.function(s)
    note(f)
    d = derivative(f)
    linear = affine(f, s.vector(f.dom))[1]
    assert adjoint(adjoint(d)) == d
    assert hash(adjoint(adjoint(d))) == hash(d)
    assert adjoint(adjoint(linear)) == linear
    assert (adjoint(d).dom, adjoint(d).cod, adjoint(d).point) == (d.cod, d.dom, d.point)


@given(sources())
def test_of_compounds(s: Source) -> None:
    """(g•f)* = f*•g*, (f+g)* = f*+g*, (k·f)* = k·f*, ⟨f,g⟩* = [f*,g*], (f×g)* = f*×g*, (f^X)* = (f*)^X."""
    U, V, W, X = s.space(8), s.space(8), s.space(8), s.index(3)
    f, g, h = between(s, U, V, 1), between(s, V, W, 1), between(s, U, V, 1)
    k = s.one_of(SCALARS)
    assert adjoint(g @ f) == adjoint(f) @ adjoint(g)
    assert adjoint(f + h) == adjoint(f) + adjoint(h)
    assert adjoint(k * f) == k * adjoint(f)
    assert adjoint(fork(f, h)) == join(adjoint(f), adjoint(h))
    assert adjoint(join(g, g)) == fork(adjoint(g), adjoint(g))
    assert adjoint(parallel(f, g)) == parallel(adjoint(f), adjoint(g))
    assert adjoint(f**X) == adjoint(f) ** X


@given(sources())
def test_of_constants(s: Source) -> None:
    """id* = id, 0* = 0, π* = ι, rep* = Σ, dup* = +, scan* = suffix sums, red_R* = red_{Rᵀ}."""
    V, W, S, X = s.space(), s.space(), s.sum(least=1), s.index()
    i = s.integer(0, len(S.parts) - 1)
    relation = s.relation()
    assert adjoint(identity(V)) == identity(V)
    assert adjoint(zero(V, W)) == zero(W, V)
    assert adjoint(project(S, i)) == inject(S, i)
    assert adjoint(inject(S, i)) == project(S, i)
    assert adjoint(rep(V, X)) == total(V, X)
    assert adjoint(total(V, X)) == rep(V, X)
    assert adjoint(dup(V)) == add(V)
    assert adjoint(scan(V, X)) == suffix(V, X)
    assert adjoint(red(relation, V)) == red(relation.T, V)
    assert adjoint(red(full(X, X), V)) == red(full(X, X), V)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=10)
@given(s=sources())
def test_of_reductions(form: str, s: Source) -> None:
    """red_R* = red_{Rᵀ} for every form of relation."""
    relation, V = FORMS[form](s), s.space(6)
    assert adjoint(red(relation, V)) == red(relation.T, V)


BACK: dict[str, Callable[[Any], Any]] = {
    "transpose": transpose,
    "bra": bars,
    "ket": bars,
    "assoc": unassoc,
    "unassoc": assoc,
    "distrib of a sum": undistrib,
    "distrib of a copower": undistrib,
    "zip of copowers": unzip,
    "zip of sums": unzip,
    "unzip of a copower": zip_,
    "curry": uncurry,
    "uncurry": curry,
}


@pytest.mark.parametrize("name", BACK)
@settings(max_examples=10)
@given(s=sources())
def test_of_unitary_operators(name: str, s: Source) -> None:
    """The adjoint of a unitary operator is the named operator that goes back, on its codomain: zip* = unzip."""
    if name == "distrib of a sum":
        f: Any = distrib(TensorProduct(s.sum(8, least=1), s.space(4, 1)))
    elif name == "ket":  # the bars of ℝ ⊗ ℝ go either way
        f = ket(s.copower())
    elif name == "unzip of a copower":
        f = unzip(Copower(s.sum(8, least=1), s.index()))
    else:
        f = UNITARIES[name](s)
    back = BACK[name](f.cod)
    assert adjoint(f) == back, f"{adjoint(f)!r} is not {back!r}"
    assert adjoint(back) == f


@given(sources())
def test_of_a_net_turns_the_arcs(s: Source) -> None:
    """net(f)* has the wires and as many arcs as net(f), with inputs and outputs exchanged."""
    body = net(linear_map(s))
    back = net(adjoint(body))
    assert back.wires == body.wires
    assert (back.inputs, back.outputs) == (body.outputs, body.inputs)
    assert [(arc.dst, arc.src) for arc in reversed(back.arcs)] == [(arc.src, arc.dst) for arc in body.arcs]
