"""Tell if two values are one up to rounding, as in every claim."""

from __future__ import annotations

from typing import Any

import numpy as np

from diff.lam.term.binding import Pass
from diff.lam.term.lam_values import Closure, Native, Tagged, Value
from diff.lam.term.term_error import TermError
from hilbert import Vec
from hilbert.base.term import driven

CLOSE = 1e-10
"""|found − expected| ≤ CLOSE · max(1, |expected|)."""


def agree(found: Value, due: Value) -> bool:
    """Tell if two values have one shape and leaves within the tolerance; raises TermError `type` for functions."""
    same: bool = driven(_agree(found, due))
    return same


def _agree(a: Value, b: Value) -> Pass:
    match a, b:
        case ((Closure() | Native()), _):
            raise TermError("type", "functions are not compared: apply them first")
        case tuple(), tuple():
            if len(a) != len(b):
                return False
            for x, y in zip(a, b, strict=True):
                if not (yield _agree(x, y)):
                    return False
            return True
        case Tagged(label, x), Tagged(other, y):
            return label == other and (yield _agree(x, y))
        case Vec(), Vec():
            return are_close(a, b)
        case _:  # asks for parts and vectors: any others are equal or not, as integers
            return bool(a == b)


def are_close(found: Vec[Any], due: Vec[Any]) -> bool:
    """Tell if two vectors are of one space and have entries within the tolerance; what is discrete is equal."""
    if found.space != due.space:
        return False
    if not found.space.is_space:
        return bool(np.array_equal(found.array, due.array))
    x, y = np.asarray(found.array, dtype=float), np.asarray(due.array, dtype=float)
    with np.errstate(invalid="ignore"):
        near = np.isfinite(y) & (np.abs(x - y) <= CLOSE * np.maximum(1.0, np.abs(y)))
    return bool(np.all(near | (x == y) | (np.isnan(x) & np.isnan(y))))
