"""Special functions of scipy, an extra, on numpy's arrays."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable


@cache
def scipy_function(name: str) -> Callable[..., Any]:
    """The function of `scipy.special` of that name, in the precision of its last argument; SpaceError without scipy."""
    try:
        from scipy import special  # imported where it is first needed: it takes a while to load
    except ImportError:
        msg = f'{name} of numpy\'s arrays needs scipy: pip install "hilbert[special]"'
        raise SpaceError(msg) from None
    function = getattr(special, name)
    return lambda *args: function(*args).astype(args[-1].dtype, copy=False)
