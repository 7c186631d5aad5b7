"""Engines, which run the blocks of a function: executors of threads or processes, Dask, a function like `map`."""

from __future__ import annotations

import os
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hilbert import SpaceError
from hilbert.errors import shown
from hilbert.program.blocks.run_blocks import in_window

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hilbert.program.blocks.run_blocks import Mapped

AHEAD = 4
"""The runs of blocks for each thread of an engine that are submitted at once."""
TASKS = 4
"""The tasks that a worker of Dask keeps."""


def mapped_by(engine: Any, what: str) -> Mapped:
    """The function like `map` that an engine is; raises SpaceError for what is none.

    That is an executor of `concurrent.futures`, a `distributed.Client`, another object whose `submit` gives futures, or
    a function like `map` itself.
    """
    if isinstance(engine, type) and hasattr(engine, "submit"):
        msg = f"{what} takes an executor that is made, such as {engine.__name__}(), not the class"
        raise SpaceError(msg)
    if hasattr(engine, "scheduler_info") and hasattr(engine, "nthreads"):
        return partial(_on_dask, engine)
    if hasattr(engine, "submit"):
        return partial(_submitted, engine)
    if not callable(engine):
        msg = f"{what} takes an executor, a Dask client, or a function like map, not {shown(engine)}"
        raise SpaceError(msg)
    mapped: Mapped = engine
    return mapped


def _submitted(engine: Any, task: Any, rows: Iterable[Any]) -> Iterator[Any]:
    threads = getattr(engine, "_max_workers", None) or os.cpu_count() or 1
    return in_window(engine.submit, task, iter(rows), AHEAD * threads)


def _on_dask(client: Any, task: Any, rows: Iterable[Any]) -> Iterator[Any]:
    """The results by Dask. The task is itself a node of the graph: sent once, and made again where a worker is lost.

    The task travels as bytes: workers send it to each other, and could not pickle classes of the client's `__main__`.
    """
    of = client.submit(_itself, import_module("distributed.protocol.pickle").dumps(task), pure=False)
    submit = partial(client.submit, pure=False)
    return in_window(
        lambda _, row: submit(_apply, of, row), of, iter(rows), AHEAD * max(sum(client.nthreads().values()), 1)
    )


def _itself(task: Any) -> Any:
    return task


@lru_cache(TASKS)
def _read(task: bytes) -> Any:
    return import_module("distributed.protocol.pickle").loads(task)


def _apply(task: bytes, row: Any) -> Any:
    return _read(task)(row)
