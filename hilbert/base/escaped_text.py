r"""Texts that are shown: control characters are escaped, so that none moves a cursor or clears a screen.

>>> from hilbert.errors import visible
>>> print(visible("a\x1b[2Jb\x9b \u2115"), in_line("m\n.py"))
a\u001b[2Jb\u009b ℕ m\n.py
"""

from __future__ import annotations

import sys

from hilbert.errors import visible


def in_line(text: str) -> str:
    """A name in one line of a message: tabs and ends of lines are escaped, too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def put(text: str) -> None:
    """Write into the standard output; on a terminal with control characters escaped."""
    sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
