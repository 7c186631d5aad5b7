"""What the rules of models refuse, condition by condition: each by itself, and what is said.

`python -m tests.test_refusals` writes what is said now into the file, for the difference to be read.
"""

from pathlib import Path

import pytest

from hilbert import SpaceError
from tests.bad_input import WORDS, first_line

FILE = Path(__file__).with_name("refusals.txt")
ROWS = [line.split(" => ") for line in FILE.read_text("utf-8").splitlines() if " => " in line]


def said(call: str) -> str:
    """The message of the error that a call raises, without the user's line."""
    with pytest.raises(SpaceError) as caught:
        eval(call, dict(WORDS))  # noqa: S307 - rows of the file
    return first_line(caught.value)


@pytest.mark.parametrize(("call", "message"), ROWS, ids=[call for call, _ in ROWS])
def test_refused(call: str, message: str) -> None:
    """The message."""
    assert said(call) == message


def test_rows_are_there() -> None:
    """Each once."""
    assert len({call for call, _ in ROWS}) == len(ROWS) > 200


if __name__ == "__main__":
    lines = FILE.read_text("utf-8").splitlines()
    calls = [line.partition(" => ")[0] if " => " in line else None for line in lines]
    FILE.write_text(
        "".join(f"{call} => {said(call)}\n" if call else f"{line}\n" for call, line in zip(calls, lines, strict=True)),
        "utf-8",
    )
