"""Passes that pause the search for cyclic garbage leave it as it was."""

import gc

import pytest

from adjoint.higher import reduce
from diff.higher import Module, TermError
from hilbert.base.lazy import uncollected


def test_collection_is_as_before() -> None:
    """Nested, after an error, and where it was off."""
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), uncollected():
        raise ZeroDivisionError
    assert gc.isenabled()
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_passes_that_end_in_an_error_turn_it_on_again() -> None:
    term, _ = Module().term(r"(\x. x + 1) 2")
    reduce(term)
    assert gc.isenabled()
    with pytest.raises(TermError):
        Module().term("f (1")
    assert gc.isenabled()
    with pytest.raises(TermError):
        reduce(term, steps=0)
    assert gc.isenabled()
