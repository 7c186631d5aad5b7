"""What the rules of models refuse, condition by condition: each by itself, and what is said."""

from pathlib import Path

import pytest

from hilbert import SpaceError
from tests.bad_input import WORDS, first_line

ROWS = [
    line.split(" => ")
    for line in Path(__file__).with_name("refusals.txt").read_text("utf-8").splitlines()
    if " => " in line
]


@pytest.mark.parametrize(("call", "message"), ROWS, ids=[call for call, _ in ROWS])
def test_refused(call: str, message: str) -> None:
    """The message, without the user's line."""
    with pytest.raises(SpaceError) as caught:
        eval(call, dict(WORDS))  # noqa: S307 - rows of the file
    assert first_line(caught.value) == message


def test_rows_are_there() -> None:
    """Each once."""
    assert len({call for call, _ in ROWS}) == len(ROWS) > 200
