"""The file that -o names: what was read is never overwritten, and other texts only when that is asked for."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from adjoint.command.report import UsageError
from adjoint.languages.value_text import files_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Read: TypeAlias = tuple[str, os.stat_result]
"""A file that was read: what it is, and its identity."""
SUFFIX = ".txt"
"""Of the files that all stages are written into."""


def files_read(files: Sequence[str], values: Sequence[str]) -> list[Read]:
    """The files of texts and of values that exist; `-` is the file that the standard input comes from."""
    names = [*((f"the file {name} that is read", name) for name in files)]
    names += [(f"the file of a value, @{name}", name) for word in values for name in files_in(word)]
    found: list[Read] = []
    for what, name in names:
        with suppress(OSError, ValueError, AttributeError):  # none that exists, or no standard input
            found.append((what, os.fstat(sys.stdin.fileno()) if name == "-" else Path(name).stat()))
    return found


def write(text: str, out: str, read: Sequence[Read], *, force: bool, suffixes: Sequence[str] = ()) -> None:
    """Write a text into a file.

    Raises UsageError for a file that was read, or a module that is imported, under whatever name; without `force` for
    another file that exists and has neither the suffix of the files that are written here nor one of `suffixes`.
    """
    path = Path(out)
    try:
        if path.exists():
            state = path.stat()
            for what, other in (*read, *_modules()):
                if os.path.samestat(state, other):
                    raise UsageError(f"cannot write {out}: it is {what}; give -o another name")
            if stat.S_ISREG(state.st_mode) and not force and path.resolve().suffix.lower() not in {SUFFIX, *suffixes}:
                known = " or ".join([SUFFIX, *suffixes])
                what = f"cannot write {out}: it exists, and only files that end in {known} are replaced"
                raise UsageError(f"{what}; give -o another name, or write --force")
        path.write_text(f"{text}\n", "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from error
    except ValueError as error:  # a character that no name has
        raise UsageError(f"cannot write {out}: {error}") from error


def _modules() -> Iterator[Read]:
    """The files of all modules that are imported."""
    for name, module in list(sys.modules.items()):
        file = vars(module).get("__file__") if isinstance(module, ModuleType) else None
        if isinstance(file, str):
            with suppress(OSError, ValueError):  # a part of an archive, or gone
                yield f"the module {name}", Path(file).stat()
