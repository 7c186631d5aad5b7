"""The one error of the library: something does not fit the space it is meant for."""

from __future__ import annotations


class SpaceError(ValueError):
    """A space, axis, arity, dtype or shape that does not fit; the message names both sides and what would fit."""
