"""The methods that IPython, notebooks and Rich ask for: see `hilbert.displayed`. None runs a program.

A display that fails hides nothing: there is a warning with the error, and the next simpler form, in the end `repr`.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any, final

from hilbert.display.lines import wrapped
from hilbert.display.number_table import number_table, safe
from hilbert.display.tex import formula
from hilbert.errors import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hilbert.displayed import Displayed

LINES = 20
"""A formula has so many lines."""
LEFT_OUT = re.compile(r"  … (\d+) more lines( and \d+ more definitions|):.*")
FULL = "print(f) shows more of them"


@final
class Shown:
    """A text that is its own `repr`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def pretty(value: Displayed, printer: Any, cycle: bool) -> None:  # noqa: ARG001, FBT001 - IPython's signature
    """Print the text; within a list its lines stand below each other."""
    text = _tried(lambda: visible(str(value)), "str", value)
    for k, line in enumerate((repr(value) if text is None else text).split("\n")):
        if k:
            printer.break_()
        printer.text(line)


def latex(value: Displayed) -> str | None:
    """The text as mathematics, in at most 20 lines."""
    return None if value._displays == "text" else _tried(lambda: _formula(visible(str(value))), "TeX", value)


def html(value: Displayed) -> str | None:
    """The text, or a table of numbers, with no character that HTML or MathJax takes for its own."""
    if value._displays == "formula":
        return None
    if value._displays == "numbers":
        return _tried(lambda: number_table(value), "HTML", value)
    return _tried(lambda: f"<pre>{safe(str(value))}</pre>", "HTML", value)


def rich(value: Displayed) -> Iterator[Any]:
    """The text, set between < and > behind the name of the class."""
    text = _tried(lambda: visible(str(value)), "str", value)
    yield Shown(repr(value) if text is None else text)


def _formula(text: str) -> str:
    lines = [line for whole in text.split("\n") for line in wrapped(whole)]
    rest = ""
    if len(lines) > LINES:
        cut = LEFT_OUT.fullmatch(lines[-1])
        count = len(lines) - LINES + 1 + (int(cut[1]) - 1 if cut else 0)
        lines, rest = lines[: LINES - 1], f"… {count} more lines{cut[2] if cut else ''}: {FULL}"
    elif lines[-1].startswith("  … "):
        lines, rest = lines[:-1], lines[-1].strip()
    return rf"$\displaystyle {formula(lines, rest)}$"


def _tried(make: Callable[[], str], what: str, value: object) -> str | None:
    """A text, or a warning that says why there is none."""
    try:
        return make()
    except Exception as error:  # noqa: BLE001 - a display may not hide a value
        told = f"no {what} of this {type(value).__name__}: {type(error).__name__}: {error}"
        warnings.warn(told, RuntimeWarning, stacklevel=3)
        return None
