"""The primitives of texts: the table of the documentation has them all, at their types, and each has a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from diff.higher import Module, TermError, evaluate
from diff.lam.check.library_names import arity, names
from hilbert import Vec

PAGE = Path(__file__).parents[3] / "docs" / "higher.md"


def test_the_table_is_complete() -> None:
    """docs/higher.md lists each primitive at the type that the checker infers."""
    rows: dict[str, list[str]] = {}
    for name in names():
        written = f"{name} x" if arity(name) == 1 else f"{name} <x, y>"
        rows.setdefault(str(Module().term(f"\\z. {name} z")[1]), []).append(f"`{written}`")
    table = "\n".join(f"| `{ty}` | {', '.join(some)} |" for ty, some in rows.items())
    assert table in PAGE.read_text(encoding="utf-8"), f"docs/higher.md should have this table:\n{table}"


@pytest.mark.parametrize("name", names())
def test_each_has_a_value(name: str) -> None:
    truth = str(Module().term(f"\\z. {name} z")[1]).startswith("bool")
    x, y = ("true", "false") if truth else ("2" if name == "acosh" else "0.5", "0.25")
    found = evaluate(Module().term(f"{name} {x}" if arity(name) == 1 else f"{name} <{x}, {y}>")[0])
    assert isinstance(found, Vec)
    assert len(names()) == len(set(names()))


def test_a_primitive_of_conditions() -> None:
    """One on what is discrete is refused at its place; the definition that the error asks for is one."""
    text = "prim g <x, (b : bool)> = if b then x*x else x"
    with pytest.raises(TermError, match=r"page.lam:1:1: .* g is of type real \* bool → real: write def") as found:
        list(Module().read(text, "page.lam"))
    assert found.value.code == "type"
    module = Module()
    list(module.read(text.replace("prim", "def")))
    assert float(evaluate(module.term("g <3, true>")[0]).array) == 9.0
