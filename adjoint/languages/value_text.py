"""Values as texts: numbers, truth values, texts, tuples and arrays, nested; what is printed reads back, bit for bit.

>>> parse('(2, [1.5, inf], "a b", true)')
(2, [1.5, inf], 'a b', True)
>>> print(text((2, [0.1, -0.0], (1e-7,), ())))
(2, [0.1, -0.0], (1e-07,), ())
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final
from zipfile import BadZipFile, is_zipfile

import numpy as np
from attrs import Factory, define

from hilbert.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Value: TypeAlias = Any
"""A bool, int, float, str, tuple, list, or an array that was read from a file."""
NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|nan)(?![\w.])")
INTEGER = re.compile(r"[+-]?[0-9]+")
WORD = re.compile(r"(?:true|false)(?!\w)")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
FILE = re.compile(r"@[^\s,()\[\]]+")
SPACE = re.compile(r"\s*")
OPEN = {"(": ")", "[": "]"}
MAGIC = b"\x93NUMPY"
"""The first bytes of a .npy file."""
DIGITS = 4000
"""An integer may have so many digits."""
LONGEST = 40
"""A text of so many characters is named in full."""


@final
class Listed(list[Value]):
    """A list of a file, which may have lists where tuples are meant."""

    __slots__ = ()


@final
class Written(str):
    """A value as its language writes it."""

    __slots__ = ()


@final
@define
class Instance:
    """An object of a class of the user, with fields, each a name and a value: Node(left=…, right=…)."""

    name: str
    fields: list[Field]


@final
@define
class Field:
    """A field of an instance."""

    name: str
    value: Value


class ValueTextError(ValueError):
    """A text that is no value; says what is wrong and at which column, counted from 1."""


@define
class _Bracket:
    """An open bracket, and what it holds so far; the whole text is in one that its end closes."""

    end: str
    start: int
    items: list[Value] = Factory(list)
    commas: int = 0

    @property
    def is_complete(self) -> bool:
        """Tell if a comma or the end is due."""
        return len(self.items) > self.commas

    def value(self) -> Value:
        """The value of the list or tuple, when it is closed."""
        if self.end == "]":
            return self.items
        is_value = not self.end or (len(self.items) == 1 and not self.commas)
        return self.items[0] if is_value else tuple(self.items)


def parse(source: str, *, in_file: bool = False) -> Value:
    """The value of a text; raises ValueTextError. A text in a file refers to no other file."""
    if source.startswith("@") and not in_file:  # to the end: names of files may have spaces and brackets
        return _read(source[1:], 1)
    open_brackets = [_Bracket("", 0)]
    at = 0
    while True:
        bracket, at = open_brackets[-1], _space(source, at)
        c = source[at : at + 1]
        if c == bracket.end and (bracket.end or bracket.is_complete):
            open_brackets.pop()
            if not open_brackets:
                return bracket.value()
            open_brackets[-1].items.append(bracket.value())
            at += 1
        elif bracket.is_complete:
            if c != "," or not bracket.end:
                due = (
                    f"a comma or {bracket.end} for the bracket at column {bracket.start + 1}"
                    if bracket.end
                    else "the end"
                )
                raise ValueTextError(_expected(source, at, due))
            bracket.commas += 1
            at += 1
        elif c and c in OPEN:
            open_brackets.append(_Bracket(OPEN[c], at))
            at += 1
        else:
            value, at = _atom(source, at, in_file=in_file)
            bracket.items.append(value)


def files_in(source: str) -> list[str]:
    """The names of the files that a text may refer to."""
    words = [source] if source.startswith("@") else FILE.findall(source)
    return [_path_and_key(word[1:])[0] for word in words]


def _space(source: str, at: int) -> int:
    found = SPACE.match(source, at)
    return found.end() if found else at


def _expected(source: str, at: int, what: str) -> str:
    found = source[at : at + 10].split()
    return f"column {at + 1}: expected {what}, not {json.dumps(found[0]) if found else 'the end'}"


def _atom(source: str, at: int, *, in_file: bool) -> tuple[Value, int]:
    for pattern in (NUMBER, WORD, STRING, FILE):
        found = pattern.match(source, at)
        if found is None:
            continue
        word = found[0]
        if pattern is NUMBER:
            return _number(word, at), found.end()
        if pattern is WORD:
            return word == "true", found.end()
        if pattern is STRING:
            try:
                return json.loads(word, strict=False), found.end()
            except ValueError as error:
                msg = f"column {at + 1}: a text that does not end, or an escape that is none"
                raise ValueTextError(msg) from error
        if in_file:  # it would read any path, and values of values of values
            msg = f"column {at + 1}: {json.dumps(word)} refers to another file: write the value itself"
            raise ValueTextError(msg)
        return _read(word[1:], at + 1), found.end()
    raise ValueTextError(_expected(source, at, "a value"))


def _number(word: str, at: int) -> int | float:
    if not INTEGER.fullmatch(word):
        return float(word)
    if len(word) > DIGITS:
        raise ValueTextError(f"column {at + 1}: an integer of {len(word)} digits")
    return int(word)


def _read(name: str, column: int) -> Value:
    """The value in a file: an array of .npy, a key of .npz, nested lists of .json, or a value of .txt."""
    where = f"column {column}: @{name}"
    try:
        return _contents(name, where)
    except ValueTextError:
        raise
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ValueTextError(f"{where}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except RecursionError as error:
        raise ValueTextError(f"{where}: nested too deep") from error
    except (ValueError, BadZipFile, zlib.error) as error:
        raise ValueTextError(f"{where}: {error}") from error


def _contents(name: str, where: str) -> Value:
    path, key = _path_and_key(name)
    match Path(path).suffix:
        case ".npy":
            return _array(_loaded(path, where), where)
        case ".npz":
            with _loaded(path, where) as arrays:
                if key not in arrays:
                    keys = ", ".join(arrays) or "none"
                    raise ValueTextError(f"{where}: write @{path}:KEY, with a key of the file: {keys}")
                return _array(arrays[key], where)
        case ".json":
            return _listed(json.loads(Path(path).read_text("utf-8-sig")))
        case ".txt":
            try:
                return parse(Path(path).read_text("utf-8-sig"), in_file=True)
            except ValueTextError as error:
                raise ValueTextError(f"{where}: {error}") from error
        case _:  # of no kind that is read
            raise ValueTextError(f"{where}: files that are read end in .npy, .npz:KEY, .json or .txt")


def _path_and_key(name: str) -> tuple[str, str]:
    path, _, key = name.rpartition(":") if ".npz:" in name else (name, "", "")
    return path, key


def _loaded(path: str, where: str) -> Any:
    """The array in a file of numpy's, or several by their keys; raises ValueTextError for another file."""
    kind = Path(path).suffix
    with Path(path).open("rb") as file:
        is_numpy = is_zipfile(file) if kind == ".npz" else file.read(len(MAGIC)) == MAGIC
    if is_numpy:
        return np.load(path, allow_pickle=False)
    raise ValueTextError(f"{where}: it is no {kind} file of numpy, or a part of one")


def _array(array: Any, where: str) -> Any:
    if isinstance(array, np.ndarray) and array.dtype.kind == "c":
        raise ValueTextError(f"{where}: complex numbers are not taken: give the real and the imaginary part")
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufU":
        raise ValueTextError(f"{where}: its entries are no numbers, truth values or texts")
    return array


def _listed(value: Value) -> Value:
    return Listed(map(_listed, value)) if isinstance(value, list) else value


def is_tuple(value: Value) -> bool:
    """Tell if a value is a tuple, or what stands for one in a file: a list, or an axis of an array."""
    return isinstance(value, (tuple, Listed)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def parts_of(value: Value, n: int) -> Sequence[Value] | None:
    """The parts of a tuple of n, None for any other value."""
    return value if is_tuple(value) and len(value) == n else None


def described(value: Value) -> str:
    """A value in the words of a message."""
    if isinstance(value, str) and len(value) <= LONGEST:
        return json.dumps(value, ensure_ascii=False)
    return text(value) if isinstance(value, bool) else shown(value)


def text(value: Value) -> str:
    """A value as it is written; a real has a point, an exponent, inf or nan, in the fewest digits that read back."""
    return "".join(_pieces(value))


def _pieces(value: Value) -> Iterator[str]:
    stack: list[Any] = [iter((value,))]
    ends: list[str] = []
    first = [True]
    while stack:
        for item in stack[-1]:
            if not first[-1]:
                yield ", "
            first[-1] = False
            if isinstance(item, Field):
                yield f"{item.name}="
                item = item.value  # noqa: PLW2901 - what stands behind the sign
            if isinstance(item, Instance):
                yield f"{item.name}("
                ends.append(")")
                stack.append(iter(item.fields))
                first.append(True)
                break
            if isinstance(item, (tuple, list)):
                yield "(" if isinstance(item, tuple) else "["
                ends.append((",)" if len(item) == 1 else ")") if isinstance(item, tuple) else "]")
                stack.append(iter(item))
                first.append(True)
                break
            yield _one(item)
        else:
            stack.pop()
            first.pop()
            if ends:
                yield ends.pop()


def _one(value: str | float) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Written():
            return value
        case str():
            return json.dumps(value, ensure_ascii=False)
        case int():
            return str(value)
        case float():
            return repr(float(value))
        case _:
            assert_never(value)
