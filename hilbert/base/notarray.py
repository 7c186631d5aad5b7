"""numpy beside vectors, maps and expressions: its operators leave the work to them, its functions are refused.

>>> import numpy as np
>>> from hilbert import Fin, R
>>> v = (R ** Fin.of(2)).vec([1.0, 2.0])
>>> (np.float64(2.0) * v).array.tolist()
[2.0, 4.0]
>>> np.tanh(v)
Traceback (most recent call last):
    ...
hilbert.errors.SpaceError: numpy's tanh does not apply to a vector of ℝ^2: give it v.array, or apply a function of hb
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, final

from hilbert.base.numpy_names import OF_INDEX_SETS, OF_SPACES, SIGNS_OF_INDEX_SETS, SIGNS_OF_SPACES, of_leaves
from hilbert.errors import MissingError, OperatorError, SpaceError, shown

if TYPE_CHECKING:
    from collections.abc import Callable

REFLECTED = {
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "power": "__rpow__",
    "matmul": "__rmatmul__",
    "bitwise_and": "__rand__",
    "bitwise_or": "__ror__",
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
}
"""numpy's names of operators whose right side is not its own → the method that answers for the right side."""


def of_scipy(value: Any) -> str:
    """The remedy where a sparse matrix or a solver of scipy asks a vector for its array; otherwise empty."""
    frame = sys._getframe(1)
    while (module := str(frame.f_globals.get("__name__"))).partition(".")[0] in {"hilbert", "diff", "numpy"}:
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    if not module.startswith("scipy.sparse"):
        return ""
    if module.endswith("_interface"):
        return "write linear_map(name, V, W, D)(x) for an operator D"
    return of_sparse(value, is_solved=module.startswith("scipy.sparse.linalg"))


def of_sparse(value: Any, *, is_solved: bool) -> str:
    """The remedy for a sparse matrix D of scipy beside a vector x: D x, or the solution p of D p = x."""
    axes = [axis for leaf in value.space.leaves for axis in leaf.axes]
    sets = "" if all(str(axis) == str(axis.size) for axis in axes) else ", X, X" if is_solved else ", X, Y"
    where = f", X = {value.space.index}" if sets else ""
    if is_solved:
        return f"write root(lambda p: from_scipy(D{sets})(p) - x, x) for the solution p of D p = x{where}"
    return f"write from_scipy(D{sets})(x) for D x, D a sparse matrix{where}{', and Y for its rows' * bool(sets)}"


@final
class Missing:
    """An attribute whose error says what to write instead; `hasattr` is False."""

    __slots__ = ("name", "remedy")

    def __init__(self, name: str, remedy: str) -> None:
        self.name, self.remedy = name, remedy

    def __get__(self, value: Any, owner: type) -> Any:
        if value is None:
            return self
        msg = f"{shown(value)} has no .{self.name}: write {value._instead_of(self.name) or self.remedy}"
        raise MissingError(msg)


@final
class PartName:
    """The name of a part of some record as an attribute: its error says which lens to write; other values lack it.

    A `__getattr__` would do the same, and make every attribute of vectors slower.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: Any, owner: type) -> Any:
        remedy = "" if value is None else value._instead_of(self.name)
        if remedy:
            msg = f"{shown(value)} has no .{self.name}: write {remedy}"
            raise MissingError(msg)
        for cls in owner.__mro__[owner.__mro__.index(NotArray) + 1 :]:  # a primitive is an operation, too
            if self.name in vars(cls):
                found = vars(cls)[self.name]
                return found.__get__(value, owner) if hasattr(found, "__get__") else found
        msg = f"{owner.__name__!r} object has no attribute {self.name!r}"
        raise AttributeError(msg, name=self.name, obj=owner if value is None else value)


def _refused(name: str, sign: str, remedy: str) -> Callable[..., NoReturn]:
    """A method for an operator whose error says what to write instead."""

    def refused(self: Any, *_: Any) -> NoReturn:
        msg = f"{sign} of {shown(self)} is not defined: {self._instead_of(name) or remedy}"
        raise OperatorError(msg)

    refused.__name__ = refused.__qualname__ = name
    return refused


def _true(self: Any) -> bool:  # noqa: ARG001 - a method
    return True


def _is_refused(cls: type, name: str) -> bool:
    """Tell if what a class has under a name is an error with a remedy only."""
    home = next((base for base in cls.__mro__ if name in vars(base)), None)
    return home is not None and isinstance(vars(home)[name], (Missing, PartName))


class Refusing:
    """Something that lacks attributes and operators which numbers, arrays or its own neighbours have: errors say so.

    `hasattr` is False for such an attribute, and its error an AttributeError; that of an operator is a TypeError. What
    has no length is true nevertheless.
    """

    __slots__ = ()
    _attributes: ClassVar[dict[str, str]] = {}
    """The remedies for attributes, by name."""
    _operators: ClassVar[dict[str, tuple[str, str]]] = {}
    """Operators, by their methods: the sign, and the remedy."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Give a class with such a table a member that refuses each of its names; type checkers see none."""
        super().__init_subclass__(**options)
        for name, remedy in vars(cls).get("_attributes", {}).items():
            if not hasattr(cls, name):
                setattr(cls, name, Missing(name, remedy))
        own: dict[str, tuple[str, str]] = vars(cls).get("_operators", {})
        for name, (sign, remedy) in own.items():
            if name not in vars(cls):
                setattr(cls, name, _refused(name, sign, remedy))
        if "__len__" in own and "__bool__" not in vars(cls):
            setattr(cls, "__bool__", _true)  # noqa: B010 - no type checker knows it

    def _instead_of(self, name: str) -> str:
        """The remedy for an attribute that only some values of the class might be expected to have; else empty."""
        return ""

    def __dir__(self) -> list[str]:
        """The names of what is there, as editors complete them."""
        return [name for name in super().__dir__() if not _is_refused(type(self), name)]


class SpaceRemedies(Refusing):
    """The remedies for attributes and operators that a space or a discrete type lacks."""

    __slots__ = ()
    _attributes: ClassVar[dict[str, str]] = OF_SPACES
    _operators: ClassVar[dict[str, tuple[str, str]]] = SIGNS_OF_SPACES

    def _instead_of(self, name: str) -> str:
        return of_leaves(self, "V", name)


class IndexRemedies(Refusing):
    """The remedies for attributes and operators that an index set lacks."""

    __slots__ = ()
    _attributes: ClassVar[dict[str, str]] = OF_INDEX_SETS
    _operators: ClassVar[dict[str, tuple[str, str]]] = SIGNS_OF_INDEX_SETS


class NotArray(Refusing):
    """Something that meets numpy's arrays and numbers in operators and is no array itself."""

    __slots__ = ()
    instead = ""
    """The remedy in the error for a function of numpy."""
    functions: ClassVar[dict[str, str]] = {}
    """The remedies for single functions of numpy, by name."""

    def _refuse(self, what: str, name: str = "") -> NoReturn:
        remedy = self.functions.get(name)
        if not name and (of_sparse := of_scipy(self)):
            msg = f"{what} does not apply to {shown(self)}: {of_sparse}"
            raise SpaceError(msg)
        msg = f"{what} does not apply to {shown(self)}: {f'write {remedy}' if remedy else self.instead}"
        raise SpaceError(msg)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        self._refuse("numpy's conversion to an array")

    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        if sys._getframe(1).f_globals.get("__name__") == "matplotlib.cbook":  # drops a ValueError, and with it the text
            msg = f"matplotlib does not plot {shown(self)}: write v.array of a vector v"
            raise TypeError(msg)
        self._refuse(f"numpy's {function.__name__}", function.__name__)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        answer = getattr(self, REFLECTED.get(ufunc.__name__, ""), None)
        is_reflected = inputs[-1] is self and not isinstance(inputs[0], NotArray)
        if answer is None or method != "__call__" or options or not is_reflected:
            self._refuse(f"numpy's {ufunc.__name__}", ufunc.__name__)
        result = answer(inputs[0])
        return self._refuse(f"numpy's {ufunc.__name__}", ufunc.__name__) if result is NotImplemented else result


class Applicable(NotArray):
    """Something other than a vector to which a map applies: the expressions of a traced function."""

    __slots__ = ()
    space: Any

    def _within(self, space: Any) -> Any:
        """The same as an expression of another space of the same leaves."""
        raise TypeError(type(self).__name__)


def refuse_part(name: str) -> None:
    """Let the name of a part of a record, as an attribute of vectors and expressions, raise an error with its lens."""
    if name not in vars(NotArray):
        setattr(NotArray, name, PartName(name))
