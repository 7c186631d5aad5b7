"""python -m diff.higher FILE …: run the claims of texts; exit 1 if one fails, 2 if a file cannot be read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from diff.higher import run
from diff.lam.files.claims import ClaimsReport
from diff.lam.term.term_error import TermError
from hilbert import SpaceError
from hilbert.base.escaped_text import in_line, put
from hilbert.errors import visible


def main(files: list[str], run: Callable[[str, str], ClaimsReport] = run, command: str = "diff.higher") -> int:
    """Print a line for each claim, and how many hold."""
    if not files:
        print(f"usage: python -m {command} FILE …", file=sys.stderr)  # noqa: T201 - a command prints
        return 2
    worst = 0
    for file in files:
        try:
            text = Path(file).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            _complain(file, f"{error}")
            return 2
        try:
            report = run(text, file)
        except TermError as error:
            _complain(f"{error.place or file}", f"{error.code}: {error.message}")
            worst = 1
            continue
        except SpaceError as error:  # of the library, which knows no places
            _complain(file, f"{error}")
            worst = 1
            continue
        put(f"{report}\n")
        worst = max(worst, not report.holds)
    return worst


def _complain(place: str, message: str) -> None:
    print(f"{in_line(place)}: {visible(message)}", file=sys.stderr)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
