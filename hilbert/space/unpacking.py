"""Words of Python on vectors and spaces: `for x in v` and `a, b = v` go through parts or components, V(x) is refused.

>>> from hilbert import Fin, R, SpaceError
>>> try:
...     a, b = (R ** Fin.of(3)).zeros()
... except SpaceError as error:
...     print(error)
a vector of ℝ^3 has 3 components, and 2 names are given for them
"""

from __future__ import annotations

import dis
import sys
from typing import Any, NoReturn

from hilbert.errors import SpaceError, shown

UNPACK, BYTE = dis.opmap["UNPACK_SEQUENCE"], 0xFF


def visited(value: Any) -> range:
    """The places of a value's parts or components; called by its `__iter__`.

    Raises SpaceError for a value that has none, and for a line that gives them another number of names.
    """
    frame = sys._getframe(2)
    code = frame.f_code.co_code
    names = code[frame.f_lasti + 1] if code[frame.f_lasti] == UNPACK else None
    try:
        places: range = value.space.loop
    except SpaceError as error:
        if names is None:
            raise
        what = f"{str(error).partition(': v.array')[0]}: it is one value, and {names} names are given for it"
        raise SpaceError(what + value._instead_of("__iter__")) from error
    if names is not None and names != len(places) & BYTE:
        what = "parts" if value.space.is_sum else "components"
        msg = f"{shown(value)} has {len(places)} {what}, and {names} names are given for them"
        raise SpaceError(msg + (_split(value.space) or value._instead_of("__iter__")))
    return places


def _split(space: Any) -> str:
    """The end of an error for components that have parts, which may be meant: how to split them; otherwise empty."""
    if space.is_sum or not space.base.is_sum:
        return ""
    return f"; its {len(space.base.parts)} parts, over {space.index} each, are those of .split()"


def called(V: Any, *_: Any, **parts: Any) -> NoReturn:
    """V([…]) of a space; raises SpaceError."""
    made = f"P.of({', '.join(f'{name}=…' for name in V.names)})" if parts and V.names else "V.vec(data)"
    msg = f"{str(V)[:200]} is a space, and not a function: {made} is the vector with some entries"
    raise SpaceError(msg)
