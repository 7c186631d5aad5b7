"""Built-in functions of caddie, on values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen

from adjoint.languages.caddie import position_relations
from adjoint.languages.caddie.arithmetic import (
    NOUGHT,
    Value,
    brought,
    filled,
    fitting,
    has_nought,
    length,
    minus,
    packed,
    plus,
    scaled,
    stacked,
    times,
    zero,
)
from adjoint.languages.caddie.types import is_number
from diff import absolute, const, cos, each, exp, inner, log, sin, tan, where
from diff.lam.term.lam_values import Tagged, nested
from diff.lam.term.term_error import TermError
from diff.lam.term.types import INT, Int, TupleType, Ty
from hilbert import Fin, R, Vec
from linmap import rep, roll

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.term_error import Place
    from hilbert import Type

LARGEST = 10**8
"""The numbers in one array, copies included."""


@final
@frozen
class Use:
    """One use of a built-in name: its constants, the types that it is used at, and how a function is called."""

    constants: tuple[str, ...]
    at: tuple[Ty, ...]
    call: Callable[[Value, Value], Value]


# --- products of vectors ---


def dot(a: Value, b: Value) -> Value:
    """Σ aᵢbᵢ of two arrays of one length."""
    if a is NOUGHT or b is NOUGHT:
        return R.zeros()
    return fitting("dprod", inner)(a, b)


def dot3(a: Value, b: Value) -> Value:
    """Σ aᵢbᵢ of two triples."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross3(a: Value, b: Value) -> Value:
    """a × b of two triples."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def cross(a: Value, b: Value) -> Value:
    """a × b of two arrays of three."""
    if a is NOUGHT or b is NOUGHT:
        return (R ** Fin.of(3)).zeros()
    for v in (a, b):
        if length(v) != 3:
            raise TermError("shape", f"cross takes two arrays of 3 elements, not of {length(v)}")
    b = brought(b, a.space)
    after, before = roll(a.space.index, -1), roll(a.space.index, 1)
    return after(a) * before(b) - before(a) * after(b)


# --- arrays ---


def mapped_over(use: Use, f: Value, xs: Value) -> Value:
    """map f xs: all elements at once; what f reads besides is shared."""
    if xs is NOUGHT:
        raise TermError("shape", "map over 0, an array of no known length: write repl n 0.0")
    if isinstance(xs, list):
        made = [use.call(f, x) for x in xs]
        return made if not made or isinstance(made[0], (int, list)) else stacked(made)
    of = xs.space.base

    def body(x: Any) -> Any:
        made = packed(use.call(f, nested(of, x)))
        return const(made) if isinstance(made, Vec) else made

    return each(body, xs)


def listed(use: Use, chain: Value) -> Value:
    """[x, y, …]."""
    items: list[Value] = []
    while chain.label == "Cons":
        item, chain = chain.payload
        items.append(item)
    return items if _is_index(use.at[0]) else stacked(items)


def repeated(use: Use, v: Value) -> Value:
    """repl n v."""
    n = int(use.constants[0])
    if _is_index(use.at[0]):
        return [v] * n
    of = packed(v)
    for leaf in of.space.leaves:
        require_few(n * leaf.size)
    return rep(Fin.of(n), of.space)(of)


def require_few(n: int, place: Place | None = None) -> None:
    """Raise TermError for an array of more numbers than any machine works on in a moment."""
    if n > LARGEST:
        raise TermError("limit", f"an array of {n} numbers, more than {LARGEST}", place)


def _is_index(ty: Ty) -> bool:
    """Tell if elements of a type are constants: indices, and tuples and arrays of them."""
    while True:
        match ty:
            case Int():
                return True
            case TupleType((first, *_)):
                ty = first
            case _:  # one question: of what the first part is
                return False


def ranged(use: Use) -> Value:
    """[from .. to, step], `to` excluded."""
    start, stop, step = map(float, use.constants)
    if step == 0.0:
        raise TermError("shape", "the step of a range is not 0")
    n = max(0, -int(-(stop - start) // step))
    if n > position_relations.MOST:
        raise TermError("limit", f"a range of {n} elements")
    if use.at[0] is INT:
        return [int(start + k * step) for k in range(n)]
    return (R ** Fin.of(n)).vec([start + k * step for k in range(n)])


def reduced(use: Use, r: position_relations.Listed, v: Value) -> Value:
    """red r v."""
    if v is NOUGHT:
        of = packed(zero(use.at[0]))
        return rep(Fin.of(len(r.rows)), of.space)(of)
    if isinstance(v, list):
        raise TermError("type", "red takes an array of reals, not of indices")
    return position_relations.reduction(r, v.space.index, v.space.base)(v)


def chosen(use: Use, c: Value, then: Value, otherwise: Value) -> Value:
    """if c then … else …: the first where c ≥ 0; only the branch that is taken is computed."""
    if isinstance(c, Vec):
        return use.call(then if bool(c.array >= 0.0) else otherwise, ())
    spaces: list[Type] = []  # of the branches; the other one has the axes of the first

    def branch(thunk: Value, other: Value) -> Any:
        value = use.call(thunk, ())
        if has_nought(value):  # an array of the length of the other branch
            like = use.call(other, ())
            value = like if has_nought(like) else filled(value, like)  # refused below where that has none either
        whole = packed(value)
        spaces.append(whole.space)
        return brought(whole, spaces[0])

    found = where(c >= 0.0, lambda: branch(then, otherwise), lambda: branch(otherwise, then))
    return nested(found.space, found)


PRIMITIVES: dict[str, Callable[[Value], Value]] = {
    "abs": absolute,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "exp": exp,
    "ln": log,
}
"""Functions of a real."""


def _one(f: Callable[[Value], Value]) -> tuple[int, Callable[..., Value]]:
    return 1, lambda _, x: f(x)


def _pair(f: Callable[[Value, Value], Value]) -> tuple[int, Callable[..., Value]]:
    return 1, lambda _, x: f(*x)


def _two(f: Callable[[Value, Value], Value]) -> tuple[int, Callable[..., Value]]:
    return 2, lambda _, x, y: f(x, y)


def _consed(_: Use, item: Value, rest: Value) -> Value:
    return Tagged("Cons", (item, rest))


RUN: dict[str, tuple[int, Callable[..., Value]]] = {
    "+": _two(plus),
    "-": _two(minus),
    "*": _two(times),
    "*>": _two(scaled),
    **{name: _one(f) for name, f in PRIMITIVES.items()},
    "pow": (1, lambda use, x: x ** float(use.constants[0])),
    "pi": (0, lambda _: R.vec(math.pi)),
    "dprod": _pair(dot),
    "sprod": _pair(scaled),
    "dprod3": _pair(dot3),
    "cprod3": _pair(cross3),
    "cross": _pair(cross),
    "norm2sq": _pair(lambda x, y: x * x + y * y),
    "map": (2, mapped_over),
    "red": (2, reduced),
    "if": (3, chosen),
    "::": (2, _consed),
    "[]": (0, lambda _: Tagged("Nil", ())),
    "array": (1, listed),
    "iota": (0, lambda use: (R ** Fin.of(int(use.constants[0]))).vec(np.arange(float(use.constants[0])))),
    "repl": (1, repeated),
    "range": (0, ranged),
    "to": (3, lambda _, k, rows, cols: position_relations.to(k, rows, cols)),
    "id": (2, lambda _, rows, cols: position_relations.same(rows, cols)),
    "pairs": (1, lambda _, entries: position_relations.pairs(entries)),
    "^": (1, lambda _, r: position_relations.transposed(r)),
    "o": (2, lambda _, r, s: position_relations.composed(r, s)),
}
"""The number of arguments that each takes, and its value at them."""


def built_in(name: str, at: tuple[Ty, ...], call: Callable[[Value, Value], Value]) -> tuple[int, Callable[..., Value]]:
    """The arity of what is built in, and its value at arguments."""
    word, *constants = name.split(" ")
    if is_number(name):
        return 0, lambda: zero(at[0]) if word == "0" else int(word) if at[0] is INT else R.vec(float(word))
    count, run = RUN[word]
    use = Use(tuple(constants), at, call)
    return count, lambda *args: run(use, *args)
