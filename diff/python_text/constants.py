"""Constants: numbers and known matrices as expressions, small arrays in the text, others in a file beside the text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from diff.python_text.axis_text import shape
from diff.python_text.expressions import Node, constant, name, put
from diff.python_text.scope import TYPES, Value, filled
from hilbert.arrays.libraries.namespace import to_numpy

if TYPE_CHECKING:
    from diff.python_text.scope import Page
    from hilbert.index.leaf import Leaf
    from hilbert.program.line.constant import Const

SMALL = 64
"""The most entries of an array that is written into the text."""
WIDTH = 88


def literal(page: Page, value: Const) -> Value:
    """The value of a constant."""
    leaf = value.leaf
    number = value.number
    if number is not None:
        return of_number(_entry(number, leaf), leaf)
    array = np.asarray(value.array if type(value.array) is np.ndarray else to_numpy(value.array))
    if not leaf.shape:
        return of_number(array[()].item(), leaf)
    if array.size and (not any(array.strides) or _repeats(array)):
        return of_number(array.flat[0].item(), leaf)
    return Value(array_of(page, array, "C"), leaf)


def _repeats(array: Any) -> bool:
    """Tell if one number stands in every entry, with one sign."""
    return bool((array == array.flat[0]).all()) and (array.dtype.kind != "f" or len({*np.signbit(array).flat}) == 1)


def _entry(number: float, leaf: Leaf) -> float | int | bool:
    return float(number) if leaf.kind == "f" else bool(number) if leaf.kind == "b" else int(number)


def of_number(number: float, leaf: Leaf) -> Value:
    """A number that stands in every entry."""
    return Value(constant(number), leaf, () if leaf.shape else None)


def array_of(page: Page, array: Any, base: str, key: Any = None) -> Node:
    """An array as an expression: a known matrix, or a constant of the module."""
    known = _known(array)
    if known is not None:
        return put(known)
    key = key if key is not None else (str(array.dtype), array.shape, array.tobytes())
    found = page.known.get(key)
    if found is None:
        word = page.apart(base)
        page.constants[word] = array
        found = page.known[key] = name(word)
    return found


def _known(array: Any) -> str | None:
    """The call of numpy that makes an array with a regular pattern."""
    kind = f", dtype={TYPES[str(array.dtype)]}" if str(array.dtype) not in {"float64", "int64"} else ""
    if array.dtype == np.int64:
        return _progression(array)
    if array.dtype.kind != "f" or not array.size:
        return None
    if (array == array.flat[0]).all() and array.size > 1:
        sizes, number = shape(array.shape), array.flat[0].item()
        word = {0.0: f"np.zeros({sizes}", 1.0: f"np.ones({sizes}"}.get(number, f"np.full({sizes}, {number!r}")
        return f"{word}{kind})" if np.isfinite(number) and math.copysign(1.0, number) > 0 else None
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        return None
    n = len(array)
    for made, word in ((np.eye(n), f"np.eye({n}{kind})"), (np.tri(n), f"np.tri({n}{kind})")):
        if (array == made).all():
            return word
        if (array == made.T).all():
            return f"{word}.T"
    return None


def _progression(array: Any) -> str | None:
    if array.ndim != 1 or array.size < 3:
        return None
    first, step = array[0].item(), (array[1] - array[0]).item()
    if step <= 0 or (np.diff(array) != step).any():
        return None
    stop = array[-1].item() + 1
    return (
        f"np.arange({first}, {stop}, {step})"
        if step > 1
        else f"np.arange({first}, {stop})"
        if first
        else (f"np.arange({stop})")
    )


def written(word: str, array: Any) -> str:
    """The statement that makes a small constant."""
    kind = "" if str(array.dtype) in {"float64", "int64", "bool"} else f", dtype={TYPES[str(array.dtype)]}"
    if not array.size:
        return f"{word} = np.zeros({array.shape}, dtype={TYPES[str(array.dtype)]})"
    one = f"{word} = np.array({_listed(array.tolist())}{kind})"
    return one if len(one) <= WIDTH else f"{word} = np.array({_rows(array.tolist(), '    ')}{kind})"


def _listed(entries: Any) -> str:
    if isinstance(entries, list):
        return f"[{', '.join(map(_listed, entries))}]"
    return {float("inf"): "np.inf", -float("inf"): "-np.inf"}.get(
        entries, "np.nan" if math.isnan(entries) else repr(entries)
    )


def _rows(entries: list[Any], indent: str) -> str:
    """A list on several lines."""
    if not isinstance(entries[0], list):
        lines, line = list[str](), indent
        for entry in map(_listed, entries):
            if len(line) + len(entry) + 2 > WIDTH:
                lines.append(line.rstrip())
                line = indent
            line += f"{entry}, "
        return "[\n" + "\n".join([*lines, line.rstrip()]) + f"\n{indent[4:]}]"
    rows = []
    for row in entries:
        short = _listed(row)
        rows.append(indent + (short if len(indent) + len(short) < WIDTH else _rows(row, indent + "    ")) + ",")
    return "[\n" + "\n".join(rows) + f"\n{indent[4:]}]"


__all__ = ["array_of", "filled", "literal", "of_number", "written"]
