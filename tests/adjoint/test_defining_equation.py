"""f* is the adjoint of f: f(v) ⊙ w = v ⊙ f*(w), exactly on small integers (Prop. 6.3)."""

from typing import Any

import pytest
from hypothesis import given, note, settings

from adjoint import adjoint, adjoint_affine, vjp
from diff import affine, derivative, jvp
from linmap.net.lower import net
from linmap.term.nodes import Lifted
from tests import function_terms
from tests.linear_terms import CONTRACTIONS, NODES, UNITARIES, is_exact, section
from tests.strategies import Source, agree, sources


def check(s: Source, f: Any) -> None:
    """The equation for a linear term, and for its net."""
    note(f)
    v, w = s.vector(f.dom), s.vector(f.cod)
    for g in (f, net(f)):
        back = adjoint(g)
        assert (back.dom, back.cod) == (f.cod, f.dom)
        a, b = g(v).inner(w), v.inner(back(w))
        assert agree(a, b, g(v).norm() * w.norm(), exact=is_exact(f)), f"f(v) ⊙ w = {a}, but v ⊙ f*(w) = {b}"


@pytest.mark.parametrize("cls", NODES)
@settings(max_examples=25)
@given(s=sources())
def test_every_node_class(cls: type, s: Source) -> None:
    """Every node class of the linear language, alone and under a copower."""
    f = NODES[cls](s, 3)
    check(s, f)
    check(s, Lifted(f, s.index(3)))


@pytest.mark.parametrize("name", CONTRACTIONS)
@settings(max_examples=10)
@given(s=sources())
def test_every_section(name: str, s: Source) -> None:
    """The sections of every bilinear map on either side, and Δ of a family of them."""
    c = CONTRACTIONS[name](s)
    check(s, section(s, c))
    check(s, section(s, c.lifted(s.index(3))))


@pytest.mark.parametrize("name", UNITARIES)
@settings(max_examples=10)
@given(s=sources())
def test_every_unitary_operator(name: str, s: Source) -> None:
    """The unitary operators of §3.2."""
    check(s, UNITARIES[name](s))


@pytest.mark.parametrize("cls", function_terms.NODES)
@settings(max_examples=15)
@given(s=sources(smooth=True, single=False))
def test_every_derivative(cls: type, s: Source) -> None:
    """f'(x)(v) ⊙ w = v ⊙ (f'(x))*(w), for the term, the term in the point, jvp and vjp, and under a copower."""
    f = function_terms.NODES[cls](s, 3)
    for g in (f, f ** s.index(3)):
        note(g)
        x = s.vector(g.dom)
        linear = affine(g, x)[1]
        v, w = s.vector(linear.dom), s.vector(linear.cod)
        due = linear(v).inner(w)
        scale = 1e-10 * max(1.0, linear(v).norm() * w.norm())
        pullbacks = [adjoint(linear)(w), adjoint(derivative(g)).at(x)(w), adjoint_affine(g, x)[1](w), vjp(g)(x, w)]
        for back in pullbacks:
            assert abs(v.inner(back) - due) <= scale
        assert abs(jvp(g)(x, v).inner(w) - due) <= scale
