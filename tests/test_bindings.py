"""The line that binds a name, as far as a source tells: one binding, in a function around the line."""

import ast

import pytest

from diff.mistakes.bindings import line_bound


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a = 1\n    return a + b", 2),
        ("a: int = 1\n    return a", 2),
        ("(a, *c), d = x\n    return a", 2),
        ("for a in x:\n        return a", 2),
        ("c = x\n    return [a for a in enumerate(c)]", 2),
        ("c = x\n    return [a for d in c for a in d]", None),  # d is of that line, too
        ("c, e = x\n    return [a for _, a in zip(c, e)]", 2),
        ("c = x\n    e = x\n    return [a for _, a in zip(c, e)]", None),  # of two lines
        ("a = 1\n    a = 2\n    return a", None),
        ("if x:\n        a = 1\n    return (a := 3)", None),
        ("def g():\n        a = 1\n    return a", None),  # the name of another function
        ("a = 1\n    return (lambda: a)()", 2),
        ("a = 1\n    return (lambda a: a)(x)", None),
        ("return [a for a in a]", None),
        ("return [a for b in a for a in b]", None),
        ("return x", None),  # a parameter
        ("return a", None),  # a global name
    ],
)
def test_lines(source: str, found: int | None) -> None:
    """Of `a` (`x` in one) in the last line of a function."""
    tree = ast.parse(f"def f(x):\n    {source}")
    last = source.count("\n") + 2
    assert line_bound("x" if source == "return x" else "a", tree, last) == found
    assert line_bound("a", ast.Module([], []), last) is None
