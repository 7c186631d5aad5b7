"""Data by name: the name of an array in a `repr`, which evaluates back as long as the array is alive.

>>> from hilbert import Fin, R
>>> v = (R ** Fin.of(100)).zeros()
>>> repr(v).startswith("named('"), eval(repr(v)) == v
(True, True)
"""

from __future__ import annotations

import hashlib
from typing import Any
from weakref import WeakValueDictionary

from hilbert.errors import SpaceError

_live: WeakValueDictionary[str, Any] = WeakValueDictionary()


def spelled(datum: Any, name: str, what: str) -> str:
    """named('…', 'float64[3, 4]'), which evaluates to the datum; `what` is its dtype and shape."""
    _live[name] = datum
    return f"named({name!r}, {what!r})"


def named(name: str, what: str) -> Any:
    """The live datum of a name that a `repr` has given; raises SpaceError if it is gone, or was in another process."""
    try:
        return _live[name]
    except KeyError:
        msg = f"the array {name} ({what}) is not alive in this process: pickle keeps arrays, repr only names them"
        raise SpaceError(msg) from None


def derived_token(name: str) -> int:
    """The token of a datum that is made from others: the same whenever it is made."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=16).digest(), "big")
