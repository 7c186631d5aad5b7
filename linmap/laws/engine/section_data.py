"""Arithmetic of rules on the data of sections: constants of nets, vectors of terms; `diff` adds slots of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from hilbert import Vec
from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.libraries.libraries import common_library
from hilbert.arrays.libraries.namespace import common_namespace, freeze
from hilbert.base.once import once
from hilbert.base.repr_names import derived_token
from hilbert.base.term import Term
from hilbert.index.leaf import Leaf
from hilbert.program.line import operation
from hilbert.program.line.constant import Const, filled
from hilbert.space.space import type_of

if TYPE_CHECKING:
    from hilbert.index.spec import Spec
    from linmap.term.datum import Datum


class Bench:
    """The questions and operations that rules may use on data; each gives None where there is no answer or result."""

    def number(self, datum: Datum) -> float | None:
        """The number that stands in every entry, if that is known."""
        raise TypeError(type(self).__name__)

    def product(self, spec: Spec, u: Datum, v: Datum, flow: Leaf) -> Datum | None:
        """The contraction of two data as a datum, where it is worth its while on a wire of leaf `flow`."""
        raise TypeError(type(self).__name__)

    def scaled(self, k: float, datum: Datum) -> Datum | None:
        """k times a datum."""
        raise TypeError(type(self).__name__)

    def total(self, u: Datum, v: Datum, *orders: tuple[int, ...]) -> Datum | None:
        """The sum of two data, their axes put into these orders first."""
        raise TypeError(type(self).__name__)


class Constants(Bench):
    """Data that are known: a product is computed where it is no larger than the larger operand."""

    def number(self, datum: Datum) -> float | None:
        """The number of a filled array, or of one without axes; None for other data."""
        if not isinstance(datum, Const):
            return None
        if datum.number is not None:
            return datum.number
        return None if datum.leaf.axes or isinstance(datum.array, Formal) else float(datum.array)

    def product(self, spec: Spec, u: Datum, v: Datum, flow: Leaf) -> Datum | None:
        """The contraction of two constants, computed once, if the result is no larger than the larger of them."""
        if not (isinstance(u, Const) and isinstance(v, Const) and _plain(u) and _plain(v)):
            return None
        leaf = operation.product(spec, u.leaf, v.leaf)
        if leaf.size > max(u.leaf.size, v.leaf.size):
            return None
        kernel = common_library((u.array, v.array)).contract(spec, u.leaf, v.leaf)
        return Const(freeze(kernel.call(u.array, v.array)), leaf, ("product", str(spec), _told(u), _told(v), 0, 0))

    def scaled(self, k: float, datum: Datum) -> Datum | None:
        """k times a constant, computed once."""
        if not isinstance(datum, Const) or not _plain(datum):
            return None
        if datum.number is not None:
            return filled(k * datum.number, datum.leaf)
        return Const(freeze(k * datum.array), datum.leaf, ("times", k, _told(datum), 0, 0))

    def total(self, u: Datum, v: Datum, *orders: tuple[int, ...]) -> Datum | None:
        """The sum of two constants, computed once."""
        if not (isinstance(u, Const) and isinstance(v, Const) and _plain(u) and _plain(v)):
            return None
        xp = common_namespace((u.array, v.array))
        arrays = [xp.permute_dims(d.array, order) for d, order in zip((u, v), orders, strict=True)] if orders else []
        left, right = arrays or (u.array, v.array)
        leaf = Leaf(u.leaf.entry, tuple(u.leaf.axes[k] for k in orders[0])) if orders else u.leaf
        return Const(freeze(left + right), leaf, ("total", *orders, _told(u), _told(v), 0, 0))


@final
class Vectors(Constants):
    """Leaves of vectors, formal ones among them: these are scaled and added, not multiplied."""

    def scaled(self, k: float, datum: Datum) -> Datum | None:
        """k times a leaf, as vectors are scaled."""
        if not isinstance(datum, Const) or not datum.leaf.is_field:
            return None
        return Const((k * _vector(datum)).leaves[0], datum.leaf, ("times", k, _told(datum), 0, 0))

    def total(self, u: Datum, v: Datum, *orders: tuple[int, ...]) -> Datum | None:
        """The sum of two leaves, as vectors are added, where their axes stand in one order."""
        if orders or not (isinstance(u, Const) and isinstance(v, Const) and u.leaf.is_field):
            return super().total(u, v, *orders)
        return Const((_vector(u) + _vector(v)).leaves[0], u.leaf, ("total", _told(u), _told(v), 0, 0))


def _told(datum: Const) -> Any:
    """A constant's key as a part of another key: a token if the constant is made of others, so that no key grows."""
    return derived_token(_spelled(datum.key)) if datum.key[0] in {"product", "times", "total"} else datum.key


def _spelled(part: Any) -> str:
    """The text of a key in which the program that a constant comes from has a token: its text is as long as itself."""
    if isinstance(part, tuple):
        return f"({', '.join(map(_spelled, part))})"
    return _token(part) if isinstance(part, Term) else repr(part)


@once
def _token(term: Any) -> str:
    return f"{derived_token(repr(term)):032x}"


def _plain(datum: Const) -> bool:
    """Tell if a constant is an array of numbers: no truth values, no indices, no formal tensor."""
    return datum.leaf.is_field and not isinstance(datum.array, Formal)


def _vector(datum: Const) -> Vec[Any]:
    return Vec(type_of(datum.leaf), (datum.array,))
