"""What an error says of an array that memory does not hold: once, by the innermost function that has a remedy."""

import pytest

from hilbert.base.sizes import held
from hilbert.errors import AllocationError


@held("write less")
def inner() -> None:
    raise MemoryError


@held("write nothing")
def outer() -> None:
    inner()


def test_the_innermost_remedy_is_told() -> None:
    """The functions around it have remedies of their own, which are for what they make themselves."""
    with pytest.raises(AllocationError) as caught:
        outer()
    assert str(caught.value) == "there is not enough memory: write less"
