"""What is said of a line is the same in a comprehension, in a condition and in a loop, on every Python.

Since Python 3.12 a comprehension has no frame of its own; since 3.12 a condition, and since 3.13 a sequence, has a
place of its own in what is compiled.
"""

from __future__ import annotations

import ast
import linecache
import re
from typing import Any

import jax.numpy as jnp
import pytest

import hilbert.all as hb
from diff.mistakes.user_source import Span
from diff.mistakes.words_of_users import left
from tests.message_lines import apart
from tests.test_mistakes import NAMES, SPACES, gallery

AROUND = {
    "list": "[{text} for _ in (0,)]",
    "set": "{{{text} for _ in (0,)}}",
    "table": "{{0: {text} for _ in (0,)}}",
    "condition": "[0 for _ in (0,) if ({text}) is None]",
    "bound": "[{text} for {names} in [({names})]]",
    "bound twice": "[{text} for {names} in [zip(*[({names})])] for {names} in [[one[0] for one in ({names})]]]",
    "generator in a list": "[list({text} for _ in (0,)) for {names} in [({names})]]",
    "list in a generator": "list([{text} for {names} in [({names})]] for _ in (0,))",
    "function in a list": "[(lambda: {text})() for {names} in [({names})]]",
}


def said(source: str, **names: Any) -> list[str]:
    """The lines of the error of a function in a file."""
    file = f"<{source}>"
    linecache.cache[file] = (len(source), None, [f"{line}\n" for line in source.splitlines()], file)
    with pytest.raises(hb.SpaceError) as caught:
        exec(compile(source, file, "exec"), NAMES | {"SPACES": SPACES, "jnp": jnp} | names)  # noqa: S102 - our own
    return apart(caught.value).replace(file, "FILE").splitlines()


def of_body(body: str, letters: str = "a w k A") -> list[str]:
    names = letters.split()
    spaces = ", ".join(f"SPACES[{name!r}]" for name in names)
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return said(f"@fun({spaces})\ndef body({', '.join(names)}):\n{lines}")


def marked(lines: list[str]) -> str:
    """The expression that is marked on one line."""
    at = next(k for k, line in enumerate(lines) if set(line.strip()) == {"^"})
    return lines[at - 1][lines[at].index("^") : lines[at].rindex("^") + 1]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("text", [text for text, _ in gallery()][::8])
def test_a_mistake_in_a_comprehension(around: str, text: str) -> None:
    """The message, the part that is marked and its operands are those of the same line without a comprehension."""
    letters = [name for name in SPACES if re.search(rf"\b{name}\b", text)]
    head = f"fun({', '.join(f'SPACES[{name!r}]' for name in letters)})(lambda {', '.join(letters)}: "
    plain = said(f"{head}{text})")
    lines = said(f"{head}{AROUND[around].format(text=text, names=', '.join(letters) + ',')})")
    assert lines[0] == plain[0]
    if "    ^" not in "".join(plain):
        return
    assert len(lines) == len(plain)
    assert lines[4:] == plain[4:]
    assert set(lines[3].strip()) == {"^"}


CONDITIONS = [
    ("if k:\n    a = w\nreturn a", "k", "k ∈ ℝ"),
    ("if False:\n    pass\nelif k:\n    a = w\nreturn a", "k", "k ∈ ℝ"),
    ("while k:\n    k = k - 1.0\nreturn k", "k", "k ∈ ℝ"),
    ("assert k, 'a message'\nreturn k", "k", "k ∈ ℝ"),
    ("return a if k else w", "k", "k ∈ ℝ"),
    ("return [one for one in (k,) if one]", "one", "one ∈ ℝ"),
    ("if not k:\n    a = w\nreturn a", "k", "k ∈ ℝ"),
    ("if k > 0.0:\n    a = w\nreturn a", "k > 0.0", "k > 0.0 ∈ Bool"),
    ("for row in A:\n    a = row\nreturn a", "A", None),
    ("return [row for row in A]", "A", None),
    ("return {row for row in A}", "A", None),
    ("return {0: row for row in A}", "A", None),
    ("return list(row for row in A)", "A", None),
    ("return {one + 0.0 for one in (k,)}", "one + 0.0", None),
    ("return {one + 0.0: 1 for one in (k,)}", "one + 0.0: 1", None),
]


@pytest.mark.parametrize(("body", "part", "operand"), CONDITIONS, ids=[row[0] for row in CONDITIONS])
def test_what_a_statement_asks_is_marked(body: str, part: str, operand: str | None) -> None:
    """Of a condition, a loop or a comprehension the part that is asked, and no other line of it."""
    lines = of_body(body)
    assert lines[1].endswith(" in body")
    assert marked(lines) == part
    assert (lines[-1].strip() == operand) or operand is None


FUNCTIONS = [
    ("[f(a) for f in (hb.sin, jnp.sin)]", "f does not apply to an expression of ℝ^Qs3: write hb.sin(x)"),
    ("[f(x) for x, f in zip((a,), [jnp.exp])]", "f does not apply to an expression of ℝ^Qs3: write hb.exp(x)"),
    ("[f(a) for _, f in enumerate((jnp.exp,))]", "f does not apply to an expression of ℝ^Qs3: write hb.exp(x)"),
    ("[f(a) for _, f in TABLE.items()]", "f does not apply to an expression of ℝ^Qs3: write hb.exp(x)"),
    ("[xp.exp(a) for xp in (jnp,)]", "xp.exp does not apply to an expression of ℝ^Qs3: write hb.exp(x)"),
    ("[f(a) for f in (inner,)]", "inner() missing 1 required positional argument: 'b'"),
    ("[f(a, bb=a) for f in (inner,)]", "inner() got an unexpected keyword argument 'bb'; it has b"),
    ("[f(a, w) for fs in ((inner,),) for f in fs]", "cannot form ℝ^Qs3 ⊙ ℝ^Ps2: both sides must be in one space"),
]


@pytest.mark.parametrize(("text", "message"), FUNCTIONS)
def test_functions_that_a_comprehension_runs_through(text: str, message: str) -> None:
    """Which function was called is found among those that the comprehension runs through."""
    lines = said(f"fun(SPACES['a'], SPACES['w'])(lambda a, w: {text})", hb=hb, TABLE={"e": jnp.exp})
    assert lines[0] == message


@pytest.mark.parametrize(
    ("text", "part", "found"),
    [
        ("[f(x) for x in y]", "f(x)", {"x": (1, 2)}),
        ("[x for x in f(x)]", "f(x)", {}),  # the first sequence is of the function around
        ("[[f(x) for x in y] for z in (y, y)]", "f(x)", {"x": (1, 2), "z": ((1, 2), (1, 2))}),
        ("[[f(x) for x in z] for z in (y, y)]", "f(x)", {"x": (1, 2, 1, 2), "z": ((1, 2), (1, 2))}),
        ("[(lambda: f(x))() for x in y]", "f(x)", {}),  # a function has them
        ("(f(x) for x in y)", "f(x)", {}),
        ("[list(z for z in f(x)) for x in y]", "f(x)", {"x": (1, 2)}),  # nor the first sequence of a generator
        ("[f(x) for z in g(y) for x in (z, 3)]", "f(x)", {"x": (None, None), "z": ()}),
        ("{f(x): z for x, *z in (y, y)}", "f(x)", {"x": (), "z": ()}),
    ],
)
def test_names_that_a_comprehension_leaves(text: str, part: str, found: dict[str, tuple[Any, ...]]) -> None:
    """What they may have stood for, as far as looking it up computes nothing."""
    at = text.index(part)
    assert left(Span("", 1, 1, at, at + len(part)), ast.parse(text), {"y": (1, 2), "f": abs, "g": list}) == found
