r"""Control characters as escapes: a text that is shown moves no cursor and clears no screen.

>>> print(visible("a\x1b[2Jb\x9b \u2115"))
a\u001b[2Jb\u009b ℕ
"""

from __future__ import annotations

import re
import sys

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""U+0000–001F and 007F–009F, but for tabs and the ends of lines."""


def visible(text: str) -> str:
    """The text with its control characters as escapes, which read back in the texts of values."""
    return CONTROL.sub(_escape, text)


def in_line(text: str) -> str:
    """A name in one line of a message: tabs and ends of lines are escaped, too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def put(text: str) -> None:
    """Write into the standard output: as it is, and on a terminal visibly."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
