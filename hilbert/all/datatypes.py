"""Functions on the user's own classes: variants, lists and trees."""

from diff import (
    AnyTermFunction,
    TermFunction,
    arrow,
    as_vector,
    case,
    data,
    folded,
    forest,
    on,
    sequence,
    term,
    variant,
)

__all__ = [
    "AnyTermFunction",
    "TermFunction",
    "arrow",
    "as_vector",
    "case",
    "data",
    "folded",
    "forest",
    "on",
    "sequence",
    "term",
    "variant",
]
