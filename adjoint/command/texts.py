"""Texts in the languages: their functions as the sub-commands ask for them, their errors with the line and a caret."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from adjoint.command.definition import DefinedFunction, MapDefinition
from adjoint.command.report import TextError, TextSpan, UsageError
from adjoint.languages import LANGUAGES
from adjoint.languages.loaded_functions import LoadedValues
from diff.higher import TermError
from hilbert import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from adjoint.languages import LoadedFunction, Source
    from adjoint.languages.loaded_functions import Loaded as Text
    from adjoint.languages.value_text import Value
    from diff.lam.term.term_error import Place
    from hilbert.map.map import AnyMap


@final
@frozen
class Loaded:
    """The functions that texts define."""

    definitions: Mapping[str, DefinedFunction]
    texts: Mapping[str, str]
    text: Text

    @property
    def listed(self) -> Iterable[DefinedFunction]:
        """The functions in the order of the texts."""
        return self.definitions.values()

    def expression(self, source: str) -> str:
        """The value of an expression, as text."""
        with _reported({**self.texts, "-e": source}):
            return self.text.expression(source)


def loader(language: str) -> Callable[..., Loaded]:
    """The loader of the files of a language; it raises TextError for a mistake in one."""

    def load(sources: Sequence[Source], **options: Any) -> Loaded:
        texts = {source.name: source.text for source in sources}
        with _reported(texts):
            found = LANGUAGES[language](sources, **options)
        return Loaded(Definitions(found.functions, texts), texts, found)

    return load


@final
@frozen
class Definitions(Mapping[str, DefinedFunction]):
    """The functions of texts, as the sub-commands ask for them."""

    functions: Mapping[str, LoadedFunction]
    texts: Mapping[str, str]

    def __getitem__(self, name: str) -> DefinedFunction:
        """The function of a name; raises KeyError where there is none, UsageError where there are several."""
        try:
            found = self.functions[name]
        except SpaceError as error:
            raise UsageError(str(error)) from error
        return _definition(found, self.texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)


def _definition(f: LoadedFunction, texts: Mapping[str, str]) -> DefinedFunction:
    place = _span(f.place, texts)
    if isinstance(f, LoadedValues):
        return ValuesDefinition(f, place, texts)

    def like(args: Sequence[Value] | None) -> AnyMap:
        with _reported(texts, f.name):
            return f.like(args)

    def reported(stage: Callable[..., str]) -> Callable[..., str]:
        def run(*args: Any) -> str:
            with _reported(texts):
                return stage(*args)

        return run

    return MapDefinition(f.name, f.signature, place, like, {k: reported(run) for k, run in f.stages().items()})


@final
@frozen
class ValuesDefinition:
    """A definition whose arguments are values of its language."""

    of: LoadedValues
    place: TextSpan
    texts: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its name."""
        return self.of.name

    @property
    def signature(self) -> str:
        """ARGUMENT -> RESULT."""
        return self.of.signature

    @property
    def stages(self) -> Sequence[str]:
        """The stages that it has."""
        return list(self.of.stages())

    def value(self, args: Sequence[Value]) -> Value:
        """The value at the arguments; raises UsageError where they do not fit, TextError where it is not computed."""
        with _reported(self.texts, self.name):
            return self.of.value(args)

    def differential(self, at: Sequence[Value], along: Sequence[Value] | None, *, reverse: bool) -> Value:
        """The derivative at a point along a tangent; its adjoint at a cotangent in reverse, 1.0 by default."""
        with _reported(self.texts, self.name):
            return self.of.differential(at, along, reverse=reverse)

    def stage(self, name: str, at: Sequence[Value] | None) -> str:
        """A stage as text."""
        with _reported(self.texts, self.name):
            return self.of.stages()[name](at, None)

    def verified(self, at: Sequence[Value] | None) -> Sequence[TextError]:
        """The faults of the function and its derivatives at a point, or at one that is drawn."""
        with _reported(self.texts, self.name):
            return [TextError(_span(fault.place, self.texts), fault.message) for fault in self.of.verified(at)]


def _span(place: Place, texts: Mapping[str, str]) -> TextSpan:
    return TextSpan(place.file, texts.get(place.file, ""), place.line, place.column)


@contextmanager
def _reported(texts: Mapping[str, str], of: str | None = None) -> Iterator[None]:
    """Errors that are about a place in a text; with a name, others are about what its function was given."""
    try:
        yield
    except TermError as error:
        raise TextError.of(error, texts) from error
    except SpaceError as error:
        if of is None:
            raise
        raise UsageError(f"{of}: {error}") from error
