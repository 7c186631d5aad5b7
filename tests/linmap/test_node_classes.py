"""The generators miss no node class of the language."""

from typing import get_args

from linmap.term.nodes import Node
from tests.linear_terms import NODES


def test_every_node_class_is_generated() -> None:
    """The keys of the generators are the members of the closed union."""
    assert set(NODES) == set(get_args(Node))
