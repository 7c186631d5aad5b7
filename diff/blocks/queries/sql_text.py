"""Expressions of SQL for scalar values, as DuckDB reads them.

Comparisons with NaN are false, as in numpy: in DuckDB NaN equals itself, and is above all other numbers. Functions
follow IEEE 754 outside of their domains, as the setting `ieee_floating_point_ops` says.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from hilbert.compiled.tree.places import Division
from hilbert.compiled.tree.values import INT, Value, unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hilbert.compiled.tree.places import Place

DEEP = 50
"""The most operations within each other in one expression."""
OPERATIONS = {
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "({0} * {1})",
    "div": "({0} / {1})",
    "neg": "(- {0})",
    "abs": "abs({0})",
    "sqrt": "sqrt({0})",
    "round": "round_even({0}, 0)",
    "not": "(NOT {0})",
    "and": "({0} AND {1})",
    "or": "({0} OR {1})",
    "max": "greatest({0}, {1})",
    "min": "CASE WHEN isnan({0}) THEN {0} WHEN isnan({1}) THEN {1} ELSE least({0}, {1}) END",
    "select": "CASE WHEN {0} THEN {1} ELSE {2} END",
    "cast": "CAST({0} AS DOUBLE)",
    "gt": "({0} > {1} AND NOT isnan({0}))",
    "ge": "({0} >= {1} AND NOT isnan({0}))",
    "lt": "({0} < {1} AND NOT isnan({1}))",
    "le": "({0} <= {1} AND NOT isnan({1}))",
    "eq": "({0} = {1} AND NOT isnan({0}))",
    "ne": "({0} <> {1} OR isnan({0}))",
}
EXACT = {
    "gt": "({0} > {1})",
    "ge": "({0} >= {1})",
    "lt": "({0} < {1})",
    "le": "({0} <= {1})",
    "eq": "({0} = {1})",
    "ne": "({0} <> {1})",
}
"""Comparisons of integers and truth values."""
SAME = ("exp", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
FUNCTIONS = {
    **{name: f"{name}({{0}})" for name in (*SAME, "log2", "log10")},
    "log": "ln({0})",
    "pow": "pow({0}, {1})",
    "atan2": "atan2({0}, {1})",
    "expm1": "CASE WHEN abs({0}) < 0.5e0 THEN 2e0 * tanh({0} / 2e0) / (1e0 - tanh({0} / 2e0)) ELSE exp({0}) - 1e0 END",
    "log1p": "CASE WHEN abs({0}) < 0.5e0 THEN 2e0 * atanh({0} / ({0} + 2e0)) ELSE ln({0} + 1e0) END",
}
"""The functions that DuckDB has, or that are written by these."""


def quoted(name: str) -> str:
    """A name of a column or a table."""
    return '"' + name.replace('"', '""') + '"'


def select(columns: Iterable[str], source: str) -> str:
    """The query of some columns."""
    return f"SELECT {', '.join(columns)} FROM {source}"  # noqa: S608 - columns are expressions of this module


def literal(number: float) -> str:
    """A number; an integer and a truth value as what they are."""
    if isinstance(number, bool):
        return "TRUE" if number else "FALSE"
    if isinstance(number, int):
        return str(number)
    if not math.isfinite(number):
        return f"CAST('{number}' AS DOUBLE)"
    text = repr(float(number))
    return text if "e" in text else text.removesuffix(".0") + "e0"


def template(value: Value) -> str:
    """The text of an operation, {k} for its k-th operand."""
    if value.name == "call":
        return FUNCTIONS[value.args[0]]
    if value.name in EXACT and value.values[0].dtype in {"bool", INT}:
        return EXACT[value.name]
    return OPERATIONS[value.name]


def written(value: Value, known: Callable[[Value], str | None]) -> str:
    """The expression of a value; `known` gives those of entries of arrays, and of values that have names."""
    found = known(value)
    if found is not None:
        return found
    match value.name:
        case "number":
            return literal(value.args[0])
        case "place":
            return written_place(value.args[0], known)
        case _:  # operations on values
            return operation(value, known)


def operation(value: Value, known: Callable[[Value], str | None]) -> str:
    """The expression of an operation on its operands."""
    return template(value).format(*(written(one, known) for one in value.values))


def written_place(place: Place, known: Callable[[Value], str | None]) -> str:
    """The expression of a place."""
    parts = [str(place.offset)] if place.offset or not place.terms else []
    for atom, k in place.terms:
        if isinstance(atom, Division):
            text = f"({written_place(atom.of, known)} {'%' if atom.remainder else '//'} {atom.n})"
        else:
            assert isinstance(atom, Value)
            text = written(atom, known)
        parts.append(text if k == 1 else f"{k} * {text}")
    return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"


def named(roots: Iterable[Value]) -> dict[Value, int]:
    """The values that are to have names, and after how many others in turn each is computed.

    These are values that are written more than once, and one on the way where operations lie deep within each other.
    """
    roots, order, uses = list(roots), dict[Value, None](), dict[Value, int]()
    for root in roots:
        for value in unfinished(root, order):
            order[value] = None
    for value in order:
        if value.values:
            text = template(value)
            for k, one in enumerate(value.values):
                uses[one] = uses.get(one, 0) + text.count(f"{{{k}}}")
    for root in roots:
        uses[root] = uses.get(root, 0) + 1
    found, depth, level = dict[Value, int](), dict[Value, int](), dict[Value, int]()
    for value in order:
        depth[value] = 1 + max((depth[one] for one in value.values), default=-1)
        level[value] = max((level[one] for one in value.values), default=0)
        if value.values and (uses[value] > 1 or depth[value] >= DEEP):
            level[value] += 1
            depth[value] = 0
            found[value] = level[value]
    return found
