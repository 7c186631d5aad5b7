"""Every function term means what its definition says, and its derivative is the limit of its differences."""

from typing import Any, get_args, get_origin

import pytest
from hypothesis import given, note, settings

from diff import affine, derivative
from diff.terms.elementwise import Elementwise, Primitive
from diff.terms.nodes import Node, Power
from tests.census import Census
from tests.function_terms import NODES
from tests.oracle import value
from tests.strategies import Source, close, sources
from tests.tangents import central

ONE_SPACE = {Primitive}
"""The node classes that have one space only: p : K → K by definition. Every other class must join unequal spaces."""


def check(s: Source, f: Any) -> None:
    """f(x) by definition, f^[1](x) = (f x, f' x), and f'(x)(dx) by central differences; x does not change."""
    note(f)
    x, dx = s.vector(f.dom), s.vector(f.dom.tangent)
    found, linear = affine(f, x)
    assert found.space == f.cod
    assert linear.dom == f.dom.tangent
    assert linear.cod == f.cod.tangent
    assert close(f(x), value(f, x)), f"{f(x)} is not {value(f, x)}"
    assert close(found, f(x))
    assert linear == derivative(f).at(x)
    assert close(linear(dx), central(f, x, dx), 1e-5), f"{linear(dx)} is not {central(f, x, dx)}"
    assert s.unchanged()


@settings(max_examples=60)
@given(s=sources(smooth=True, single=False))
def law_of_nodes(cls: type, census: Census, s: Source) -> None:
    """A function and its copower are what the oracle says, and are counted."""
    f = NODES[cls](s, 3)
    for g in (f, Power(f, s.index(3))):
        census.record(g)
        check(s, g)


@pytest.mark.parametrize("cls", NODES)
def test_nodes(cls: type) -> None:
    """Every node class, alone and under a copower; a class that occurs too seldom is an error of this test."""
    census = Census()
    law_of_nodes(cls, census)
    census.require(cls, unequal=cls not in ONE_SPACE)


def test_every_node_class_is_generated() -> None:
    """The generators make the members of the closed union, where an element-wise operation has three kinds."""
    members = {get_origin(member) or member for member in get_args(Node)}
    assert set(NODES) == (members - {Elementwise}) | set(Elementwise.__subclasses__())
