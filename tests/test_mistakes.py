"""docs/mistakes.md: every mistake of the gallery says what stands beside it, in a traced function, with its place."""

import linecache
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from tests.public import PUBLIC

PAGE = Path(__file__).parents[1] / "docs" / "mistakes.md"


class Ps:
    """An axis."""


class Qs:
    """An axis."""


class Ns:
    """An axis."""


class Layer(hb.Record):
    """A record."""

    weights: hb.Part[hb.Matrix[Ps, Qs]]
    bias: hb.Part[hb.Vector[Ps]]


p, q, n = hb.Fin(Ps, 2), hb.Fin(Qs, 3), hb.Fin(Ns, 4)
R: Any = hb.R
P: Any = Layer(weights=R ** (p * q), bias=R**p)
SPACES: dict[str, Any] = {
    "a": R**q, "b": R**q, "k": R, "w": R**p, "A": R ** (p * q), "B": R ** (p * q), "C": R ** (p * p),
    "D": R ** (p * n * q), "i": hb.Elements(q), "ids": hb.Elements(q) ** p, "c": hb.Bool**q,
    "s": hb.direct_sum(R**p, R**q), "none": R ** hb.Fin.of(0), "z": hb.direct_sum(R, R) ** q,
    "m": R ** (p * q * n), "r": P,
}  # fmt: skip
NAMES: dict[str, Any] = {name: getattr(hb, name) for name in PUBLIC} | {
    "p": p,
    "q": q,
    "n": n,
    "np": np,
    "math": math,
    "Layer": Layer,
    "P": P,
    "Qs": Qs,
}
NAMES["f"] = hb.fun(R**q)(lambda row: row.softmax())
NAMES["g"] = hb.fun(R**q, R**q)(lambda shared, row: shared * row)


def gallery() -> list[tuple[str, str]]:
    """What is written, and the first line of what is said."""
    found = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) == 4 and cells[1].startswith("`"):
            found.append((cells[1].strip("`"), cells[2]))
    return found


def said(text: str) -> list[str]:
    """The lines of the error."""
    letters = [name for name in SPACES if re.search(rf"\b{name}\b", text)]
    source = f"fun({', '.join(f'SPACES[{name!r}]' for name in letters)})(lambda {', '.join(letters)}: {text})"
    file = f"<{text}>"
    linecache.cache[file] = (len(source), None, [source], file)  # as a file of a user's
    with pytest.raises(hb.SpaceError) as caught:
        eval(compile(source, file, "eval"), NAMES | {"SPACES": SPACES})  # noqa: S307 - our own page
    return str(caught.value).splitlines()


def test_a_hundred_mistakes() -> None:
    """The table is found."""
    assert len(gallery()) >= 90


@pytest.mark.parametrize(("text", "message"), gallery(), ids=lambda text: text[:40])
def test_mistake(text: str, message: str) -> None:
    """The first line is the message of the page; the second says where."""
    lines = said(text)
    assert lines[0] == message
    assert len(lines) == 1 or lines[1].strip().startswith("at ")
