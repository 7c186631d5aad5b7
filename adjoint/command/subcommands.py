"""The sub-commands: results on stdout, errors on stderr, the exit status at the end."""

from __future__ import annotations

import sys
import warnings
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjoint.command.arguments import Asked, asked
from adjoint.command.help import USAGE
from adjoint.command.output_file import files_read, write
from adjoint.command.report import TextError, UsageError, complain, complain_at, say
from adjoint.languages.source_text import Source
from adjoint.languages.value_text import ValueTextError, parse, text
from diff.lam.term.term_error import TermError
from hilbert.base.lazy import uncollected
from hilbert.errors import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.command.definition import DefinedFunction, Loaded
    from adjoint.languages.value_text import Value

LANGUAGES = {
    "py": "adjoint.command.python",
    "lam": "adjoint.command.lam",
    "cad": "adjoint.command.texts",
    "ks": "adjoint.command.texts",
}
"""The module that loads the files of a language; imported when such a file is read."""
DIGITS = 12
"""The digits that a number of steps may have."""
USAGE_STATUS = 2


def followed(words: Sequence[str]) -> int:
    """Follow a sub-command; the exit status: 0, 1 for an error in a text, 2 for one in the words."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warned
            return _status(words)
    except OSError:  # of the output: files are read where they are named
        raise
    except UsageError as error:
        complain(f"hilbert: {cut(str(error))}")
        return USAGE_STATUS
    except TextError as error:
        complain_at(error.report())
        return 1
    except MemoryError as error:
        complain(f"hilbert: there is not enough memory: {error}")
        return 1
    except Exception as error:  # noqa: BLE001 - a mistake of this library; no traceback is shown
        complain(f"hilbert: a mistake of the library, please report it: {type(error).__name__}: {error}")
        return 1


def _warned(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    complain(f"hilbert: {category.__name__}: {message}")


def _status(words: Sequence[str]) -> int:
    if not words:
        raise UsageError(f"which sub-command?\n{USAGE}")
    first, *rest = words
    follow = SUBCOMMANDS.get(first)
    if follow is None:
        near = get_close_matches(first, SUBCOMMANDS, 1)
        raise UsageError(f"no sub-command {first}{f': did you mean {near[0]}?' if near else ''}\n{USAGE}")
    return follow(asked(first, rest))


# --- sub-commands ---


def _check(of: Asked) -> int:
    status = 0
    for file in of.files:
        try:
            for found in _loaded(file, of).listed:
                say(f"{found.name} : {found.signature}")
        except TextError as error:
            complain_at(error.report())
            status = max(status, 1)
        except UsageError as error:
            complain(f"hilbert: {cut(str(error))}")
            status = USAGE_STATUS
    return status


def _run(of: Asked) -> int:
    args = _values(of.arguments, "argument", of)
    loaded = _loaded(of.file, of)
    if of.expressions:
        for source in of.expressions:
            say(loaded.expression(source))
        return 0
    if not of.name and (claims := getattr(loaded, "claims", None)):
        report = claims()
        say(str(report))
        return 0 if report.holds else 1
    if not of.name and "main" in loaded.definitions:  # what it prints is its result
        loaded.definitions["main"].value(())
        return 0
    say(text(_found(loaded, of).value(args)))
    return 0


def _diff(of: Asked) -> int:
    at, along = _values(of.at or (), "--at", of), None if of.along is None else _values(of.along, "--along", of)
    found = _found(_loaded(of.file, of), of)
    say(text(found.differential(at, along, reverse=of.reverse)))
    return 0


def _show(of: Asked) -> int:
    at = None if of.at is None else _values(of.at, "--at", of)
    read = files_read(of.file.split(","), of.at or ())
    found = _found(_loaded(of.file, of), of)
    if of.stage not in ("list", *found.stages):
        raise UsageError(f"no stage {of.stage}: there are {', '.join(found.stages)}")
    shown = "\n".join(found.stages) if of.stage == "list" else found.stage(of.stage, at)
    if of.output is None:
        say(shown)
        return 0
    suffixes = [".ks"] if of.file.endswith(".ks") else []  # the stages of the notes are KS-Lisp
    write(shown, of.output, read, force=of.is_forced, suffixes=suffixes)
    return 0


def _verify(of: Asked) -> int:
    at = None if of.at is None else _values(of.at, "--at", of)
    loaded = _loaded(of.file, of)
    functions = [(of.name, _found(loaded, of))] if of.name else loaded.definitions.items()
    told: set[str] = set()  # a fault of a function is one of what is derived from it
    for name, function in functions:
        for report in _faults(name, function, at, is_alone=bool(of.name)):
            if report not in told:
                complain_at(report)
            told.add(report)
    return 1 if told else 0


def _faults(name: str, function: DefinedFunction, at: Sequence[Value] | None, *, is_alone: bool) -> list[str]:
    """The faults of a function; say that it is verified, or why it is not, where there are none."""
    faults: Sequence[TextError]
    try:
        faults = function.verified(at)
    except (UsageError, TextError) as error:
        if at is None and _may_be_right(error):
            say(f"{name} : not verified: {error}")
            return []
        if is_alone or isinstance(error, UsageError):
            raise
        faults = [error]  # the other functions are verified all the same
    if not faults:
        say(f"{name} : verified")
    return [fault.report() for fault in faults]


def _may_be_right(error: UsageError | TextError) -> bool:
    """Tell if an error is of the point that was chosen, or of a function that has no value or no derivative."""
    if isinstance(error, UsageError):
        return True
    return isinstance(error.__cause__, TermError) and error.__cause__.code in ("limit", "type", "unbound")


SUBCOMMANDS: dict[str, Callable[[Asked], int]] = {
    "check": _check,
    "run": _run,
    "diff": _diff,
    "show": _show,
    "verify": _verify,
}


# --- files, names, values ---


def _loaded(file: str, of: Asked) -> Loaded:
    """The functions that a file defines, or a list of files with commas between."""
    language = of.language
    sources, kinds = [], []
    for name in file.split(","):
        if not name:
            raise UsageError(f"a file without a name{f' in {file}' * bool(file)}")
        kind = language or Path(name).suffix.removeprefix(".")
        if kind not in LANGUAGES:
            what = f"no language {language}:" if language else f"which language is {name}?"
            raise UsageError(f"{what} --lang is one of {', '.join(LANGUAGES)}")
        kinds.append(kind)
        try:
            raw = _standard_input() if name == "-" else Path(name).read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {name}: {error.strerror}") from error
        try:
            sources.append(Source.of(name, raw))
        except TermError as error:
            raise TextError.of(error, {name: raw.decode(errors="replace")}) from error
    if len(set(kinds)) > 1:
        raise UsageError(f"files of one language can be read together, not {file}")
    options = _options(kinds[0], of)
    with uncollected():
        module = import_module(LANGUAGES[kinds[0]])
    found: Loaded = module.loader(kinds[0])(sources, **options)
    return found


def _standard_input() -> bytes:
    if sys.stdin is None:  # it was closed before the start
        raise UsageError("cannot read -: there is no standard input")
    return sys.stdin.buffer.read()


def _options(kind: str, of: Asked) -> dict[str, Any]:
    """The options of a loader; raises UsageError for options of another language."""
    found: dict[str, Any] = {} if of.has_prelude else {"prelude": False}
    if of.steps is not None:
        if not of.steps.isdigit() or len(of.steps) > DIGITS or not int(of.steps):
            raise UsageError(f"--steps takes a number of steps, not {of.steps[:40]}")
        found["steps"] = int(of.steps)
    if found and kind != "ks":
        raise UsageError(f"--no-prelude and --steps are for texts of KS-Lisp, not for .{kind}")
    return found


def _found(loaded: Loaded, of: Asked) -> DefinedFunction:
    """The function that is asked for; raises UsageError, with near names, where the file has none."""
    names = list(loaded.definitions)
    if of.name in loaded.definitions:
        return loaded.definitions[of.name]
    if not of.name:
        raise UsageError(f"which function of {of.file}? it defines {', '.join(names) or 'none'}")
    near = get_close_matches(of.name, names, 3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it defines {', '.join(names) or 'none'}"
    raise UsageError(f"{of.file} defines no function {of.name}: {hint}")


def _values(words: Sequence[str], what: str, of: Asked) -> list[Value]:
    """The values that are written; of the λ-language, which has values of its own, the words."""
    if (of.language or Path(of.file).suffix.removeprefix(".")) == "lam":
        return list(words)
    values: list[Value] = []
    for k, word in enumerate(words, 1):
        try:
            values.append(parse(word))
        except ValueTextError as error:
            raise UsageError(f"{what} {k}, {word[:40]}: {error}") from error
    return values
