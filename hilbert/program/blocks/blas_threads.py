"""One thread for BLAS while blocks run, so that results do not depend on how many blocks run at once."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCK = Lock()
_limits: list[Any] = []
_users: list[None] = []


@cache
def _libraries() -> Any:
    """The libraries of this process with threads of their own, by threadpoolctl; None where that is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS runs one thread until the last of those who ask at once has left; as it is, where threadpoolctl is missing."""
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
