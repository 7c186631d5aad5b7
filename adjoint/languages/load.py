"""Files of the languages, loaded from Python."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjoint.languages.source_text import Source
from hilbert import SpaceError
from hilbert.base.lazy import uncollected

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.loaded_functions import Loaded


def _loader(package: str) -> Callable[..., Loaded]:
    """Make the function that imports a language when it is first called, and loads sources in this language."""

    def load_sources(sources: Sequence[Source], **options: Any) -> Loaded:
        with uncollected():  # an import is quicker without searches for cyclic garbage
            module = import_module(package)
        made: Loaded = module.load(sources, **options)
        return made

    return load_sources


LANGUAGES = {"cad": _loader("adjoint.languages.caddie"), "ks": _loader("adjoint.languages.ks")}
"""The loaders of texts, by the ending of their files; a language is imported when one is loaded."""


def load(*files: str | Path, language: str | None = None) -> Loaded:
    """Load files in this order; the language is that of their ending unless it is given.

    Raises SpaceError, with file, line and column, for a mistake in a text, and OSError for a file that cannot be read.
    """
    kinds = {language or Path(file).suffix.removeprefix(".") for file in files}
    if len(kinds) != 1 or not kinds <= set(LANGUAGES):
        what = f"not {' and '.join(sorted(map(repr, kinds)))}" if kinds else "and there is no file"
        raise SpaceError(f"load reads files of one language, {' or '.join(LANGUAGES)}, {what}")
    return LANGUAGES[kinds.pop()]([Source.of(str(file), Path(file).read_bytes()) for file in files])
