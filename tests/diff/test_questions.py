"""Whatever is asked of a derivative is answered, or refused with a SpaceError: nothing else is ever raised."""

from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import given

from adjoint import adjoint
from diff import derivative, pointfree
from hilbert import R, SpaceError
from linmap import cost, diagonal, explain, factors, gram, matrix, measure, simplify, structure, tensor, trace
from tests.function_terms import function
from tests.strategies import Source, sources

FORMS: tuple[Any, ...] = ("array", "sparse", "blocks", "tensor", "operator")
ALWAYS: dict[str, Callable[[Any], Any]] = {
    "structure": structure,
    "cost": cost,
    "explain": explain,
    "simplify": simplify,
    "measure": measure,
    "str": str,
    "repr": repr,
    "hash": hash,
}
AT_A_POINT: dict[str, Callable[[Any], Any]] = {"matrix": matrix, "array": partial(matrix, as_="array")}
SOMETIMES: dict[str, Callable[[Any], Any]] = {
    "diagonal": diagonal,
    "trace": trace,
    "gram": gram,
    "factors": factors,
    "tensor": tensor,
    **{f"as {form}": partial(matrix, as_=form) for form in FORMS},
    **{f"cost as {form}": partial(cost, as_=form) for form in FORMS},
}


@given(sources())
def test_questions(s: Source) -> None:
    """Of a derivative, of it at a point, and of the adjoints of both."""
    f = function(s, 3)
    d = derivative(f)
    x = s.vector(f.dom)
    at = d.at(x)
    if s.field == R:  # primitives compose in double precision only
        assert pointfree(f)(x).space == f(x).space
    for term in (d, adjoint(d), at, adjoint(at)):
        for ask in ALWAYS.values():
            assert str(ask(term))
        for ask in AT_A_POINT.values() if term in (at, adjoint(at)) else ():
            ask(term)
        for ask in SOMETIMES.values():
            answered(ask, term)


def answered(ask: Callable[[Any], Any], term: Any) -> None:
    """Ask, and let it be refused."""
    try:
        ask(term)
    except SpaceError as error:
        assert str(error)  # noqa: PT017 - taken or refused
