"""Values as elements of spaces: a real is a number, V ⊕ W a tuple, and so a record; V^X a nested list.

An element of an index set is a position or a label.

>>> from hilbert import Fin, R, direct_sum
>>> pairs = direct_sum(R, R ** Fin.of(2)) ** Fin.of(2)
>>> v = element([[(1, [2, 3]), (4, [5, 6])]], pairs)
>>> v.array[0].tolist(), v.array[1].tolist()
([1.0, 4.0], [[2.0, 3.0], [5.0, 6.0]])
>>> value_of(v)
[(1.0, [2.0, 3.0]), (4.0, [5.0, 6.0])]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from adjoint.languages.value_text import Field as PrintedField
from adjoint.languages.value_text import Instance, Written, described, is_tuple, parts_of, text
from diff import show
from hilbert import Copower, Elements, Field, Map, SpaceError, Type, Vec, Zero
from hilbert.arrays.libraries.namespace import to_numpy
from hilbert.base.term import driven
from hilbert.errors import double, shown
from hilbert.space.direct_sum import Biproduct
from hilbert.space.space import Boolean, TensorProduct, type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjoint.languages.value_text import Value
    from diff.lam.term.binding import Pass


ENTRIES = {"b": "truth values", "i": "whole numbers", "u": "whole numbers", "f": "reals", "U": "texts"}
"""The entries of an array of a file in words, by the kind of its dtype."""
LABELS = "positions or labels"
LIBRARY = {"hilbert", "linmap", "diff", "adjoint"}
"""Objects of classes of these packages print themselves."""


def element(args: Sequence[Value], space: Type) -> Vec[Any]:
    """The arguments of a function as an element of its domain; several are one tuple, none is (). Raises SpaceError."""
    if len(args) == 1 and (is_tuple(args[0]) or not isinstance(space, Biproduct)):
        arrays = _arrays(space, [args[0]])
    elif isinstance(space, Biproduct) and len(args) == len(space.parts):
        arrays = [a for k, part in enumerate(space.parts) for a in _argument(k, args[k], part)]
    elif args or not isinstance(space, Zero):
        due = f"{len(space.parts)} arguments, or one tuple, are" if isinstance(space, Biproduct) else "one argument is"
        given = {0: "none was", 1: "1 was"}.get(len(args), f"{len(args)} were")
        raise SpaceError(f"{due} due, an element of {space}: {given} given")
    else:
        arrays = []
    return space.vec(space.pack(iter([a[0] for a in arrays])))


def _argument(k: int, value: Value, space: Type) -> list[Any]:
    try:
        return _arrays(space, [value])
    except SpaceError as error:
        raise SpaceError(f"argument {k + 1}: {error}") from error


def _arrays(space: Type, items: list[Value]) -> list[Any]:
    """Values, all of one space, as an array for each leaf, the values along its first axis; SpaceError for others."""
    if len(space.leaves) == 1 and len(items) == 1 and isinstance(items[0], np.ndarray):
        return [_read(items[0], space)[None]]
    match space:
        case Zero():
            _tuples(items, 0, space)
            return []
        case Biproduct():
            parts = space.parts
            _tuples(items, len(parts), space)
            return [a for k, part in enumerate(parts) for a in _arrays(part, [item[k] for item in items])]
        case Copower(of, index):
            return _nested(items, tuple(axis.size for axis in index.axes), space, of)
        case TensorProduct():
            if len(space.leaves) == 1:
                return _arrays(type_of(space.leaves[0]), items)
            _tuples(items, len(space.leaves), space)
            of_leaves = [([item[k] for item in items], type_of(leaf)) for k, leaf in enumerate(space.leaves)]
            return [a for column, of in of_leaves for a in _arrays(of, column)]
        case _:  # a type of one entry
            return [_array([_scalar(item, space) for item in items], space)]


def _nested(items: list[Value], sizes: tuple[int, ...], space: Type, entry: Type) -> list[Any]:
    n = len(items)
    for size in sizes:
        for item in items:
            if not isinstance(item, (list, np.ndarray)) or len(item) != size:
                found = f", in which {described(item)} stands where a list of {size} is due" if len(sizes) > 1 else ""
                raise SpaceError(f"an element of {space} is {_lists(sizes)}{found or f', not {described(item)}'}")
        items = [inner for item in items for inner in item]
    return [a.reshape(n, *sizes, *a.shape[1:]) for a in _arrays(entry, items)]


def _lists(sizes: tuple[int, ...]) -> str:
    return f"a list of {sizes[0]}" if len(sizes) == 1 else f"{len(sizes)} nested lists, {'×'.join(map(str, sizes))}"


def _tuples(items: list[Value], n: int, space: Type) -> None:
    for item in items:
        if parts_of(item, n) is None:
            raise SpaceError(f"an element of {space} is a tuple of {n}, not {described(item)}")


def _read(array: Any, space: Type) -> Any:
    """An array of a file."""
    (leaf,) = space.leaves
    of_truth = np.dtype(leaf.dtype).kind == "b"
    kinds, due = ("b", "truth values") if of_truth else ("iuf", "numbers") if leaf.is_field else ("iuU", LABELS)
    if array.dtype.kind not in kinds:
        given = ENTRIES[array.dtype.kind]
        raise SpaceError(f"{shown(array)} is no element of {space}: its entries are {given}, and {due} are due")
    if array.shape != leaf.shape:
        raise SpaceError(f"{shown(array)} is no element of {space}, whose array has shape {leaf.shape}")
    return array


def _array(items: list[Any], space: Type) -> Any:
    """The entries as an array; raises SpaceError for a number beyond single precision where that is due."""
    if not isinstance(space, (Field, Boolean)):
        return np.array(items)
    with np.errstate(over="ignore"):
        array = np.array(items, np.float64).astype(space.dtype)
    for given, made in zip(items, array, strict=True):
        if np.isinf(made) and abs(given) != math.inf:
            raise SpaceError(f"{given} is no element of {space}: it is beyond single precision")
    return array


def _scalar(item: Value, space: Type) -> Any:
    item = item.item() if isinstance(item, np.generic) or (isinstance(item, np.ndarray) and not item.shape) else item
    if isinstance(space, Field):
        fits = isinstance(item, (int, float)) and not isinstance(item, bool)
    elif isinstance(space, Boolean):
        fits = isinstance(item, bool)
    else:
        fits = (isinstance(item, int) and not isinstance(item, bool)) or (
            isinstance(item, str) and isinstance(space, Elements)
        )
    if not fits:
        raise SpaceError(f"{described(item)} is no element of {space}")
    if isinstance(space, Field) and isinstance(item, int):
        double(item)
    return item


def value_of(v: Vec[Any]) -> Value:
    """A vector as a value."""
    return _value(v.space, list(v.dense().leaves), ())


def _value(space: Type, leaves: list[Any], shape: tuple[int, ...]) -> Value:
    """The value, or nested lists of values, of arrays that have the axes of a shape in front."""
    match space:
        case Biproduct():
            found, at = [], 0
            for part in space.parts:
                n = len(part.leaves)
                found.append(_value(part, leaves[at : at + n], shape))
                at += n
            return _zipped(found, shape)
        case Copower(of, index):
            return _value(of, leaves, (*shape, *(axis.size for axis in index.axes)))
        case TensorProduct() if len(leaves) != 1:
            return _zipped(
                [_value(type_of(leaf), [a], shape) for leaf, a in zip(space.leaves, leaves, strict=True)], shape
            )
        case Zero():
            return _zipped([], shape)
        case _:  # one array
            return _listed(to_numpy(leaves[0]))


def _zipped(parts: list[Value], shape: tuple[int, ...]) -> Value:
    """Nested lists of tuples, of a list of nested lists."""
    if not shape:
        return tuple(parts)
    return [_zipped([part[k] for part in parts], shape[1:]) for k in range(shape[0])]


def _listed(array: Any) -> Value:
    if array.dtype == np.float32:  # the fewest digits that read back in single precision
        array = np.array([float(str(x)) for x in array.ravel()]).reshape(array.shape)
    return array.tolist()


def value_of_python(found: Any) -> str:
    """The value of an expression of Python, as text.

    Vectors, numbers, tuples and lists of them are values, values of the user's classes are written as they are made,
    and what the library makes besides prints itself. Raises SpaceError for anything else.
    """
    if isinstance(found, Map):
        return show(found, lines=None, digits=None)
    return text(driven(_plain(found)))


def _plain(found: Any) -> Pass:
    match found:
        case Vec():
            return value_of(found)
        case tuple() | list():
            parts = []
            for part in found:
                value = yield _plain(part)
                parts.append(value)
            return tuple(parts) if isinstance(found, tuple) else parts
        case bool() | int() | float() | str():
            return found
        case np.ndarray() | np.generic() if found.dtype.kind in "biuf":
            return _listed(np.asarray(found))
        case _ if type(found).__module__.partition(".")[0] in LIBRARY:
            return Written(found)
        case _ if attrs.has(type(found)):
            fields = []
            for name in attrs.fields_dict(type(found)):
                value = yield _plain(getattr(found, name))
                fields.append(PrintedField(name, value))
            return Instance(type(found).__name__, fields)
        case _:  # anything else
            raise SpaceError(
                f"{shown(found)} is no value: a value is made of numbers, truth values, texts, vectors and arrays"
            )
