"""The words of a sub-command. A word that begins with - and a digit, a point, inf or nan is a number, never an option.

>>> of = asked("diff", ["model.py:f", "--at", "-1e-3", "2", "--along", "(1, 0)"])
>>> of.file, of.name, of.at, of.along
('model.py', 'f', ['-1e-3', '2'], ['(1, 0)'])
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import Factory, define

from adjoint.command.help import USAGES
from adjoint.command.report import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

STDIN = re.compile("-(?:$|[:,])")
NUMBER = re.compile(r"-(?:[\d.]|inf\b|nan\b)")
TAKES = {
    "--at": "values",
    "--along": "values",
    "--reverse": "",
    "--stage": "word",
    "-o": "word",
    "--force": "",
    "-e": "words",
    "--lang": "word",
    "--no-prelude": "",
    "--steps": "word",
}
"""The words that an option takes: values up to the next option, one word, one word each time it stands, or none."""
OF_FILES = ("--lang", "--no-prelude", "--steps")
OPTIONS = {
    "check": OF_FILES,
    "run": ("-e", *OF_FILES),
    "diff": ("--at", "--along", "--reverse", *OF_FILES),
    "show": ("--stage", "--at", "-o", "--force", *OF_FILES),
    "verify": ("--at", *OF_FILES),
}
"""The options of a sub-command."""


@define
class Asked:
    """The words of a sub-command, read."""

    subcommand: str
    words: list[str] = Factory(list)
    given: dict[str, list[str]] = Factory(dict)
    file: str = ""
    name: str = ""

    @property
    def files(self) -> list[str]:
        """All files, of `check`."""
        return self.words

    @property
    def arguments(self) -> list[str]:
        """The arguments of the function, of `run`."""
        return self.words

    @property
    def language(self) -> str | None:
        """Of --lang."""
        return self._word("--lang")

    @property
    def has_prelude(self) -> bool:
        """Tell if --no-prelude is not there."""
        return "--no-prelude" not in self.given

    @property
    def steps(self) -> str | None:
        """Of --steps."""
        return self._word("--steps")

    @property
    def stage(self) -> str:
        """Of --stage."""
        return self._word("--stage") or ""

    @property
    def output(self) -> str | None:
        """Of -o."""
        return self._word("-o")

    @property
    def is_forced(self) -> bool:
        """Tell if --force is there."""
        return "--force" in self.given

    @property
    def at(self) -> list[str] | None:
        """Of --at."""
        return self.given.get("--at")

    @property
    def along(self) -> list[str] | None:
        """Of --along."""
        return self.given.get("--along")

    @property
    def reverse(self) -> bool:
        """Tell if --reverse is there."""
        return "--reverse" in self.given

    @property
    def expressions(self) -> list[str]:
        """Of each -e."""
        return self.given.get("-e", [])

    def _word(self, option: str) -> str | None:
        return self.given[option][0] if option in self.given else None


def asked(subcommand: str, words: list[str]) -> Asked:
    """Read the words after a sub-command; raises UsageError."""
    of = Asked(subcommand)
    rest = iter(words)
    into = of.words
    for word in rest:
        if word == "--":
            (of.words if into else into).extend(rest)  # of an option that has no value yet
        elif not word.startswith("-") or STDIN.match(word) or NUMBER.match(word):
            into.append(word)
        else:
            into = _option(of, word, rest)
    if subcommand != "check":
        _named(of)
    _complete(of)
    return of


def _option(of: Asked, word: str, rest: Iterator[str]) -> list[str]:
    """Take an option in; where the words go that follow it."""
    option, equals, value = word.partition("=")
    known = OPTIONS[of.subcommand]
    if option not in known:
        near = get_close_matches(option, known, 1)
        raise _usage(of, f"no option {option}{f': did you mean {near[0]}?' if near else ''}")
    takes = TAKES[option]
    if option in of.given and takes != "words":
        raise _usage(of, f"{option} stands twice")
    found = of.given.setdefault(option, [])
    if takes == "values":
        found += [value] if equals else []
        return found
    if takes:
        after = value if equals else next(rest, None)
        if after is None:
            raise _usage(of, f"nothing stands after {option}")
        found.append(after)
    elif equals:
        raise _usage(of, f"{option} takes no value")
    return of.words


def _named(of: Asked) -> None:
    """Take the file and the name off the words; FILE:NAME is FILE NAME."""
    if not of.words:
        raise _usage(of, "which FILE?")
    of.file = of.words.pop(0)
    head, name = _file_and_name(of.file)
    if name:
        of.file, of.name = head, name
    elif of.words and not of.expressions:
        of.name = of.words.pop(0)


def _file_and_name(word: str) -> tuple[str, str]:
    """FILE and NAME of FILE:NAME, where a name may have colons, too; the name is empty where the word is a file."""
    colons = [k for k, c in enumerate(word) if c == ":"]
    if not colons or Path(word).exists():
        return word, ""
    for k in colons:
        if all(one == "-" or Path(one).exists() for one in word[:k].split(",")):
            return word[:k], word[k + 1 :]
    return word[: colons[-1]], word[colons[-1] + 1 :]


def _complete(of: Asked) -> None:
    """Raise UsageError where something is missing, or too much."""
    if of.subcommand == "check" and not of.words:
        raise _usage(of, "which FILE?")
    if of.subcommand == "run" and of.expressions and (of.words or of.name):
        raise _usage(of, "either NAME and its arguments, or -e")
    if of.subcommand in ("diff", "show", "verify") and of.words:
        raise _usage(of, f"{of.words[0]} is too much{': write it after --at' if of.subcommand != 'show' else ''}")
    if of.subcommand == "diff" and of.at is None:
        raise _usage(of, "at which point? write --at")
    if of.subcommand == "show" and not of.stage:
        raise _usage(of, "which stage? write --stage list to see them")
    if of.is_forced and of.output is None:
        raise _usage(of, "--force is about the file of -o")


def _usage(of: Asked, message: str) -> UsageError:
    return UsageError(f"{of.subcommand}: {message}\nusage: {USAGES[of.subcommand]}")
