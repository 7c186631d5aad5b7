"""Scalar values: a graph of operations on numbers, in which equal values are one object.

A `Pool` makes the values of one program, so that a formula is Python's: `1.0 - y * y`. Zeros and ones that stand in
the program are gone: 0·x is 0 and 1·x is x.

>>> pool = Pool()
>>> x = pool.load(Buffer("x", (), "float64"), ())
>>> print(x * x - 0.0 * x, x * x is x * x)
x[] * x[] True
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, final

from hilbert.compiled.tree.buffers import Buffer
from hilbert.compiled.tree.places import Computed, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

BOOL, INT = "bool", "int64"
EXPONENT = 126
"""Powers of two up to this exponent have an inverse, in float32 too."""
LAWS = ("add", "sub", "mul", "div", "neg", "max", "min", "select")
"""The operations with laws, which the pool has under these names."""
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "=="}

Number: TypeAlias = float | bool


def _operators(name: str) -> tuple[Callable[[Value, Value | float], Value], Callable[[Value, Value | float], Value]]:
    """The methods for an operation of the pool: on a value and another one, and on these two swapped."""
    return (
        lambda self, other: getattr(self.pool, name)(self, self.like(other)),
        lambda self, other: getattr(self.pool, name)(self.like(other), self),
    )


@final
class Value(Computed):
    """An operation on values: `name` says which; `args` are values, or what the operation is about.

    | name | args |
    |---|---|
    | number | the number |
    | load | a buffer, places |
    | place | a place: an integer |
    | add sub mul div max min, gt ge lt le eq ne, and or | two values |
    | neg abs sqrt round not cast | one value |
    | select | a condition and two values |
    | call | the name of a function, values |
    """

    __slots__ = ("_has_calls", "_loads", "args", "dtype", "name", "number", "pool", "values")

    def __init__(self, pool: Pool, name: str, args: tuple[Any, ...], dtype: str) -> None:
        self.pool, self.name, self.args, self.dtype = pool, name, args, dtype
        self.values = tuple([a for a in args if isinstance(a, Value)])
        """The operands; those within places are not among them."""
        self.number: Number | None = args[0] if name == "number" else None
        """The number, if the value is one."""
        self._loads: tuple[Value, ...] | None = None
        self._has_calls: bool | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """The places that the value is about: those of an entry, or the one that it is."""
        found: tuple[Place, ...] = self.args if self.name == "place" else self.args[1] if self.name == "load" else ()
        return found

    # --- formulas ---

    def like(self, other: Value | float) -> Value:
        """A value, or a number of the same dtype."""
        return other if isinstance(other, Value) else self.pool.number(other, self.dtype)

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("sub")
    __mul__, __rmul__ = _operators("mul")
    __truediv__, __rtruediv__ = _operators("div")

    def __neg__(self) -> Value:
        return self.pool.neg(self)

    def __abs__(self) -> Value:
        return self.pool.unary("abs", self)

    def compared(self, how: str, other: Value | float) -> Value:
        """A truth value: how is one of gt ge lt le eq ne. NaN is in no relation but ne."""
        return self.pool.node(how, (self, self.like(other)), BOOL)

    def where(self, then: Value | float, otherwise: Value | float) -> Value:
        """`then` where this truth value holds, `otherwise` elsewhere."""
        dtype = next((v.dtype for v in (then, otherwise) if isinstance(v, Value)), "float64")
        a, b = (v if isinstance(v, Value) else self.pool.number(v, dtype) for v in (then, otherwise))
        return self.pool.select(self, a, b)

    def __str__(self) -> str:
        return _text(self)

    __repr__ = __str__


@final
class Pool:
    """The values of one program; equal values are one."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[Any, Value] = {}

    def node(self, name: str, args: tuple[Any, ...], dtype: str) -> Value:
        """The value of an operation, as it stands."""
        key = (name, args, dtype)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Value(self, name, args, dtype)
        return found

    def again(self, name: str, args: tuple[Any, ...], dtype: str) -> Value:
        """The value of an operation by its laws, if there are any."""
        if name not in LAWS:
            return self.node(name, args, dtype)
        made: Value = getattr(self, name)(*args)
        return made

    def number(self, number: Number, dtype: str) -> Value:
        """A number; 0 and −0 are two, and NaN is one."""
        key = ("number", repr(number), dtype)
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = Value(self, "number", (number,), dtype)
        return found

    def load(self, buffer: Buffer, places: tuple[Place, ...]) -> Value:
        """An entry of a buffer; that of a constant at known places is a number if there are few."""
        if buffer.few is not None and all(p.number is not None for p in places):
            return self.number(buffer.few[tuple(p.offset for p in places)].item(), buffer.dtype)
        return self.node("load", (buffer, places), INT if buffer.dtype == "int32" else buffer.dtype)

    def integer(self, place: Place) -> Value:
        """A place as a value."""
        if place.number is not None:
            return self.number(place.number, INT)
        return self.node("place", (place,), INT)

    # --- operations ---

    def add(self, a: Value, b: Value) -> Value:
        """a + b."""
        x, y = a.number, b.number
        if x is not None and y is not None:
            return self.number(x + y, a.dtype)
        if x == 0:
            return b
        if y == 0:
            return a
        if b.name == "neg":
            return self.sub(a, b.args[0])
        return self.sub(b, a.args[0]) if a.name == "neg" else self.node("add", (a, b), a.dtype)

    def sub(self, a: Value, b: Value) -> Value:
        """a − b."""
        x, y = a.number, b.number
        if x is not None and y is not None:
            return self.number(x - y, a.dtype)
        if y == 0:
            return a
        if x == 0:
            return self.neg(b)
        return self.add(a, b.args[0]) if b.name == "neg" else self.node("sub", (a, b), a.dtype)

    def mul(self, a: Value, b: Value) -> Value:
        """a·b."""
        x, y = a.number, b.number
        if x is not None and y is not None:
            return self.number(x * y, a.dtype)
        if x is not None:
            a, b, x, y = b, a, y, x
        if y == 0:
            return b
        if y == 1:
            return a
        return self.neg(a) if y == -1 else self.node("mul", (a, b), a.dtype)

    def div(self, a: Value, b: Value) -> Value:
        """a/b."""
        x, y = a.number, b.number
        if y == 1:
            return a
        if y is not None and y and math.isfinite(y):
            part, exponent = math.frexp(y)
            if abs(part) == 0.5 and abs(exponent) <= EXPONENT:
                return self.mul(a, self.number(1.0 / y, a.dtype))
        return a if x == 0 else self.node("div", (a, b), a.dtype)

    def neg(self, a: Value) -> Value:
        """−a."""
        if a.number is not None:
            return self.number(-a.number, a.dtype)
        return a.values[0] if a.name == "neg" else self.node("neg", (a,), a.dtype)

    def unary(self, name: str, a: Value) -> Value:
        """abs, sqrt, round or not."""
        return self.node(name, (a,), a.dtype)

    def max(self, a: Value, b: Value) -> Value:
        """The larger one; NaN if one of them is."""
        return a if a is b else self.node("max", (a, b), a.dtype)

    def min(self, a: Value, b: Value) -> Value:
        """The smaller one; NaN if one of them is."""
        return a if a is b else self.node("min", (a, b), a.dtype)

    def logic(self, name: str, a: Value, b: Value) -> Value:
        """a and b, a or b."""
        return self.node(name, (a, b), BOOL)

    def select(self, c: Value, a: Value, b: Value) -> Value:
        """a if the condition c holds, else b."""
        if c.number is not None:
            return a if c.number else b
        return a if a is b else self.node("select", (c, a, b), a.dtype)

    def cast(self, a: Value, dtype: str) -> Value:
        """The number in another precision; of a truth value 0 or 1."""
        if a.dtype == dtype:
            return a
        return self.node("cast", (a,), dtype)

    def call(self, name: str, *args: Value) -> Value:
        """A function of numbers by its name."""
        return self.node("call", (name, *args), args[0].dtype)


def unfinished(value: Value, done: Container[Value]) -> Iterator[Value]:
    """The values that a value is made of, operands first, but for those that are done; each is done when it is met."""
    waiting = [value]
    while waiting:
        top = waiting[-1]
        left = [] if top in done else [a for a in top.values if a not in done]
        if left:
            waiting += reversed(left)
            continue
        waiting.pop()
        if top not in done:
            yield top


def computed(places: Iterable[Place]) -> list[Value]:
    """The values that places are computed from."""
    return [v for place in places if place.terms for v in place.atoms if isinstance(v, Value)]


def loads(value: Value) -> tuple[Value, ...]:
    """The loads that a value is made of, those in its places too; each once. The answer is kept."""
    if value._loads is None:
        value._loads = tuple(_loads(value))
    return value._loads


def has_calls(value: Value) -> bool:
    """Tell if functions are called to compute a value. The answer is kept."""
    if value._has_calls is None:
        for part in unfinished(value, done := set[Value]()):
            part._has_calls = part.name == "call" or any(a._has_calls for a in part.values)
            done.add(part)
    return bool(value._has_calls)


def _loads(value: Value) -> Iterator[Value]:
    seen, waiting = set[Value](), [value]
    while waiting:
        top = waiting.pop()
        if top in seen:
            continue
        seen.add(top)
        if top.name == "load":
            yield top
        waiting += [*computed(top.places), *top.values]


def _text(value: Value) -> str:
    match value.name:
        case "number":
            return repr(value.args[0])
        case "load":
            return f"{value.args[0].name}[{', '.join(map(str, value.args[1]))}]"
        case "place":
            return str(value.args[0])
        case name if name in SIGNS:
            operands = [f"({a})" if a.name in SIGNS and a.name != "mul" else str(a) for a in value.args]
            return f" {SIGNS[name]} ".join(operands)
        case "call":
            return f"{value.args[0]}({', '.join(map(str, value.args[1:]))})"
        case _:  # those that are written as functions
            return f"{value.name}({', '.join(map(str, value.args))})"
