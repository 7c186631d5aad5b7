"""The command line: help and the version are told at once; for a sub-command the library is imported."""

from __future__ import annotations

import gc
import io
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from adjoint.command.help import answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

INTERRUPTED, CLOSED = 130, 141
SUBCOMMANDS = "adjoint.command.subcommands"


def main(words: Sequence[str] | None = None) -> int:
    """Follow the words of a command line; the exit status: 0, 1 for an error in a text, 2 for one in the words."""
    given = sys.argv[1:] if words is None else list(words)
    if sys.stdout is None:  # it was closed before the start
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    with _buffered(), _escaped():
        return _answered(given)


def _answered(given: Sequence[str]) -> int:
    """Help, or what a sub-command does; the exit status."""
    try:
        told = answer(given)
        if told is not None:
            sys.stdout.write(f"{told}\n")
        status: int = 0 if told is not None else _followed(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget()
        return CLOSED
    except OSError as error:
        _forget()
        sys.stderr.write(f"hilbert: cannot write the result: {error.strerror}\n")
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


@contextmanager
def _buffered() -> Iterator[None]:
    """Write to a buffer of lines where Python was told to use none: what a write leaves over would not be written."""
    out = sys.stdout
    raw = getattr(out, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        yield
        return
    buffered = io.BufferedWriter(raw)
    sys.stdout = lines = io.TextIOWrapper(buffered, out.encoding, out.errors, line_buffering=True)
    try:
        yield
    finally:  # who calls this from Python has the same stream again, open
        sys.stdout = out
        lines.detach()
        buffered.detach()


@contextmanager
def _escaped() -> Iterator[None]:
    """Write what the encoding of the output has no characters for, and halves of characters, as escapes."""
    out = sys.stdout
    if not isinstance(out, io.TextIOWrapper):
        yield
        return
    before = out.errors
    out.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        out.reconfigure(errors=before)


def _followed(given: Sequence[str]) -> int:
    """Exempt imported objects from the search for garbage, now and later."""
    if SUBCOMMANDS not in sys.modules:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            import_module(SUBCOMMANDS)
            gc.freeze()
        finally:
            if was_enabled:
                gc.enable()
    status: int = import_module(SUBCOMMANDS).followed(given)
    return status


def _forget() -> None:
    """Discard the output that Python still writes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
