"""One thread for BLAS while blocks run, so that results do not depend on how many blocks run at once.

OpenBLAS takes a number of threads from the first thread of a process only: calls from other threads leave it as it is.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCK = Lock()
_limits: list[Any] = []
_users: list[None] = []


def _libraries() -> Any:
    """The libraries of BLAS that are loaded, by threadpoolctl; None where that is not installed."""
    return _loaded(len(sys.modules))


@lru_cache(1)
def _loaded(modules: int) -> Any:  # noqa: ARG001 - a module that is imported later may bring a library of its own
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS runs one thread until the last of those who ask has left; where threadpoolctl is missing, as before."""
    if _libraries() is None:
        yield
        return
    with _LOCK:
        if not _users:
            _limits.append(_libraries().limit(limits=1))
        _users.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _users.pop()
            if not _users:
                _limits.pop().restore_original_limits()
