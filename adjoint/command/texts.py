"""Texts in the languages: their functions as the sub-commands ask for them, their errors with the line and a caret."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from adjoint.command.definition import MapDefinition
from adjoint.command.report import TextError, TextSpan, UsageError
from adjoint.languages import LANGUAGES
from diff.higher import TermError
from hilbert import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adjoint.languages import LoadedFunction, Source
    from adjoint.languages.loaded import Loaded as Text
    from adjoint.languages.values import Value
    from hilbert.map import AnyMap


@final
@frozen
class Loaded:
    """What texts define."""

    definitions: Mapping[str, MapDefinition]
    texts: Mapping[str, str]
    text: Text

    def expression(self, source: str) -> str:
        """The value of an expression, as text."""
        with _reported({**self.texts, "-e": source}):
            return self.text.expression(source)


def loader(language: str) -> Callable[[Sequence[Source]], Loaded]:
    """What loads the files of a language; raises TextError for a mistake in one."""

    def load(sources: Sequence[Source]) -> Loaded:
        texts = {source.name: source.text for source in sources}
        with _reported(texts):
            found = LANGUAGES[language](sources)
        return Loaded({name: _definition(f, texts) for name, f in found.functions.items()}, texts, found)

    return load


def _definition(f: LoadedFunction, texts: Mapping[str, str]) -> MapDefinition:
    def like(args: Sequence[Value] | None) -> AnyMap:
        with _reported(texts):
            try:
                return f.like(args)
            except TermError:
                raise
            except SpaceError as error:
                raise UsageError(f"{f.name}: {error}") from error

    def reported(stage: Callable[..., str]) -> Callable[..., str]:
        def run(*args: Any) -> str:
            with _reported(texts):
                return stage(*args)

        return run

    place = TextSpan(f.place.file, texts[f.place.file], f.place.line, f.place.column)
    return MapDefinition(f.name, f.signature, place, like, {k: reported(run) for k, run in f.stages().items()})


@contextmanager
def _reported(texts: Mapping[str, str]) -> Iterator[None]:
    """Errors that are about a place in a text."""
    try:
        yield
    except TermError as error:
        raise TextError.of(error, texts) from error
