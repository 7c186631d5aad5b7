"""Sources of generated programs: each is the function that it was made of, in numpy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hilbert.all as hb
from tests import contraction_programs, function_terms, linear_terms, loop_programs, support_programs
from tests.source_values import point, same
from tests.strategies import Source, sources

if TYPE_CHECKING:
    from collections.abc import Callable


REFUSED = "has no text in numpy"


def equals(f: Any, seed: int) -> bool:
    """source(f)(x) = f(x) at a random x, where f is not refused; the text imports numpy only."""
    try:
        source = hb.source(f)
    except hb.SpaceError as error:
        assert REFUSED in str(error)  # noqa: PT017 - a refusal is an answer
        return True
    imports = [line for line in source.text.split("\n") if "import" in line.split("#")[0].split()[:1]]
    assert all("numpy" in line for line in imports)
    x = point(f, np.random.default_rng(seed))
    return same(source, x, f(x))


def _derived(s: Source, f: Any) -> Any:
    """f, its derivative, its adjoint, or its gradient."""
    options: list[Callable[[], Any]] = [lambda: f]
    if f.dom.is_space and f.cod.is_space:
        options += [lambda: hb.jvp(f), lambda: hb.vjp(f)]
        if f.cod == hb.R:
            options += [lambda: hb.value_and_grad(f)]
    return s.one_of(options)()


def _contraction(s: Source) -> Any:
    dice = contraction_programs.Dice(s.integer(0, 1 << 20))
    return contraction_programs.recipe(dice, size=4, contractions=4).traced(planned=s.flag())


def _of_records(s: Source) -> Any:
    words = support_programs
    name = s.one_of(list(words.DOMAINS))
    steps = [s.one_of(list(words.ALL)) for _ in range(s.integer(1, 3))]

    def body(x: Any, y: Any) -> Any:
        for step in steps:
            x = words.ALL[step](x)
        return words.BINARY[s.one_of(list(words.BINARY))](x, y)

    return words.function(name, body)


def _loop(s: Source) -> Any:
    return loop_programs.PAIRS[s.one_of(list(loop_programs.PAIRS))](s.integer(0, 4)).loop


KINDS: dict[str, Callable[[Source], Any]] = {
    "functions": function_terms.function,
    "traced": function_terms.traced,
    "linear maps": linear_terms.linear_map,
    "contractions": _contraction,
    "records, branches, loops": _of_records,
    "loops": _loop,
}
"""Generated programs by kind."""


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_a_source_is_its_function(kind: str, data: st.DataObject) -> None:
    """source(f)(x) = f(x), for f generated, and for its derivatives."""
    s = data.draw(sources())
    f = _derived(s, KINDS[kind](s))
    assert equals(f, s.integer(0, 1 << 20))
