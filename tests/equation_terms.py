"""What equations of the laws are about: maps, vectors, index sets and relations, drawn by the equation's signature."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from hilbert import TensorProduct
from tests import function_terms, linear_terms
from tests.redexes import index, relation, space

if TYPE_CHECKING:
    from linmap.laws import Equation
    from tests.strategies import Source


def ingredients(s: Source, e: Equation) -> list[Any]:
    """Maps "f : U ⊸ V", functions "f : U → V", vectors "u ∈ U" or "t ∈ V ⊗ W", index sets "X", relations "R".

    A letter stands for one space throughout.
    """
    spaces: dict[str, Any] = {}
    found: list[Any] = []
    for text in e.maps:
        name, *kind = text.split()
        letters = [sign for sign in kind if sign.isalpha()]
        for letter in letters:
            spaces.setdefault(letter, space(s))
        if "⊸" in kind:
            found.append(linear_terms.between(s, spaces[letters[0]], spaces[letters[1]], 1))
        elif "→" in kind:
            found.append(function_terms.between(s, spaces[letters[0]], spaces[letters[1]], 1))
        elif "∈" in kind:
            found.append(s.vector(reduce(TensorProduct, map(spaces.__getitem__, letters))))
        elif name in {"R", "S"}:
            found.append(relation(s))
        else:
            assert name in {"X", "Y"}
            found.append(index(s))
    return found


def is_of_functions(e: Equation) -> bool:
    """Whether an equation is about functions."""
    return any("→" in text for text in e.maps)
