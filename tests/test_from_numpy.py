"""docs/from-numpy.md: both columns of the table give the same numbers, on vectors and in a traced function."""

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from tests.public import PUBLIC

PAGE = Path(__file__).parents[1] / "docs" / "from-numpy.md"


class Ps:
    """An axis."""


class Qs:
    """An axis."""


class Ns:
    """An axis."""


p, q, n = hb.Fin(Ps, 2), hb.Fin(Qs, 3), hb.Fin(Ns, 4)
R: Any = hb.R
SPACES: dict[str, Any] = {
    "a": R**q, "b": R**q, "w": R**p, "A": R ** (p * q), "B": R ** (p * q), "C": R ** (p * p), "X": R ** (n * q),
    "i": hb.Elements(q), "ids": hb.Elements(q) ** p,
}  # fmt: skip
rng = np.random.default_rng(0)
VECTORS = {name: V.random(rng) if V.is_space else V.vec(2 if name == "i" else [2, 0]) for name, V in SPACES.items()}
ARRAYS = {name: v.array for name, v in VECTORS.items()}
OURS = {name: getattr(hb, name) for name in PUBLIC} | {"p": p, "q": q, "n": n}
OURS["f"] = hb.fun(R**q)(lambda row: row.softmax())
THEIRS: dict[str, Any] = {"np": np, "functools": functools, "f": lambda row: np.exp(row) / np.exp(row).sum()}


def idioms() -> list[tuple[str, str]]:
    """The rows of the table."""
    found = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = re.findall(r"`([^`]*)`", line)
        if line.startswith("| `") and len(cells) == 2:
            found.append((cells[0], cells[1]))
    return found


def test_sixty_idioms() -> None:
    """The table is found."""
    assert len(idioms()) >= 60


@pytest.mark.parametrize(("theirs", "ours"), idioms(), ids=lambda text: text)
def test_idiom(theirs: str, ours: str) -> None:
    """theirs = ours, and what is traced gives what vectors give."""
    due = np.asarray(eval(theirs, THEIRS | ARRAYS))  # noqa: S307 - our own page
    value = eval(ours, OURS | VECTORS)  # noqa: S307 - our own page
    assert np.allclose(value.array if isinstance(value, hb.Vec) else value, due, rtol=1e-6)
    names = [name for name in SPACES if re.search(rf"\b{name}\b", ours)]
    if not names:
        return
    traced = hb.fun(*(SPACES[name] for name in names))(
        lambda *args: eval(ours, OURS | dict(zip(names, args, strict=True)))  # noqa: S307 - our own page
    )
    assert np.allclose(traced(*(VECTORS[name] for name in names)).array, due, rtol=1e-6)
