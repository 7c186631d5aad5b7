"""What is built in, on values: `PLAIN` takes values, `PASSES` calls functions that it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from adjoint.languages.ks.builtin import effects, integers, linear_primitives, scalars, tensor_builtins
from adjoint.languages.ks.builtin.shapes import shape_of
from adjoint.languages.ks.builtin.tensor_builtins import Use
from adjoint.languages.ks.builtin.zeros import zero
from adjoint.languages.ks.value.ks_values import items_of, leaves_of, plus, real, repeated, scaled, stacked, tangent
from adjoint.languages.ks.value.types import element
from adjoint.languages.ks.value.types import tangent as tangent_type
from adjoint.languages.ks.value.value_classes import Arr, Items, Value
from adjoint.languages.ks.value.value_syntax import text
from diff import absolute
from diff.lam.term.types import Arrow, Lin, TupleType, Ty
from hilbert import R, Vec
from hilbert.base.escaped_text import put

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.builtin.evaluation import Evaluation
    from diff.lam.term.binding import Pass

T = TypeVar("T")


def delta(use: Use, arg: Value) -> Value:
    """(delta i j e): e if they are equal, else zero."""
    i, j, e = arg
    return tensor_builtins.choose(use.ev, equal(i, j), e, tensor_builtins.zeros(e))


def equal(a: Value, b: Value) -> Value:
    """Whether two values are equal: of tensors, sizes too."""
    if isinstance(a, tuple):
        made: Value = True
        for x, y in zip(a, b, strict=True):
            made = integers.both(made, equal(x, y))
        return made
    if isinstance(a, (Arr, Items)):
        if a.dims != b.dims:
            return False
        if all(isinstance(x, Vec) for v in (a, b) for x in leaves_of(v)):
            return text(a) == text(b)
        return equal(items_of(a).items, items_of(b).items)
    if isinstance(a, str):
        return a == b
    return integers.compare("eq", a, b)


def asserted(use: Use, arg: Value) -> Pass:
    """(assert c e)."""
    condition, late = arg
    effects.demand(use.ev, condition, "the assertion does not hold")
    return (yield use.ev.call(late, ()))


def traced(use: Use, v: Value) -> Value:
    """($trace v)."""
    return effects.written(use.ev, v, lambda found: effects.to_error(f"Trace[{text(found)}]"))


def printed(use: Use, v: Value) -> Value:
    """(print v …): texts raw, an argument of type Bool 1 or 0."""
    several = v if isinstance(use.of, TupleType) else (v,)

    def write(found: Value) -> None:
        put("".join(map(_said, found)))

    effects.written(use.ev, tuple(several), write)
    return 0


def _said(v: Value) -> str:
    return v if isinstance(v, str) else str(int(v)) if isinstance(v, bool) else text(v)


def checked(use: Use, arg: Value) -> Pass:
    """($check f rev s ds dt): the relative difference of ⟨f(s+ds)−f(s), dt⟩ and ⟨rev(s, dt), ds⟩."""
    f, rev, s, ds, dt = arg
    there = yield use.ev.call(f, plus(s, ds))
    here = yield use.ev.call(f, s)
    back = yield use.ev.call(rev, (s, dt))
    difference = plus(tangent(lambda v: v, there), scaled(real(-1.0), tangent(lambda v: v, here)))
    a, b = linear_primitives.dot(difference, dt), linear_primitives.dot(back, ds)
    off, size_ = absolute(a - b), absolute(a) + absolute(b)
    return use.ev.chosen(integers.compare("eq", off, R.zeros()), R.zeros, lambda: off / size_)


def _ends(ty: Ty) -> tuple[Ty, Ty]:
    """The tangent types of the domain and the codomain of a tensor of linear maps.

    Their zeros are the sums over an empty tensor: the transpose of lmVCatV sums in the first, lmHCatV in the second.
    """
    linear = element(ty)
    assert isinstance(linear, Lin)
    return tangent_type(linear.dom), tangent_type(linear.cod)


def _around(use: Use) -> Ty:
    """δs, of f′ in lmFold f f′ a v or RFold f f′ a v dr."""
    step = use.part(1)
    assert isinstance(step, Arrow)
    pair = tangent_type(step.cod.dom) if isinstance(step.cod, Lin) else step.cod
    assert isinstance(pair, TupleType)
    return pair.parts[0]


def _placed(f: Callable[[Evaluation, Value], T]) -> Callable[[Use, Value], T]:
    return lambda use, v: f(use.ev, v)


VALUES: dict[str, Callable[[Value], Value]] = {
    **scalars.PURE,
    **linear_primitives.PLAIN,
    "size": tensor_builtins.size,
    "eq": lambda v: equal(*v),
    "ne": lambda v: integers.negated(equal(*v)),
    "ts_add": lambda v: plus(*v),
    "ts_scale": lambda v: scaled(*v),
    "ts_dot": lambda v: linear_primitives.dot(*v),
    "ts_neg": lambda v: scaled(real(-1.0), v),
    "$inline": lambda v: v,
    "$copydown": lambda v: v,
}
"""The value of each at its argument."""
PLAIN: dict[str, Callable[[Use, Value], Value]] = {
    **{name: _placed(f) for name, f in scalars.PRELUDE.items()},
    "index": tensor_builtins.indexed,
    "sum": tensor_builtins.summed,
    "constVec": lambda use, v: repeated(tensor_builtins.dims_of(use, v[0]), v[1]),
    "deltaVec": tensor_builtins.delta_vec,
    "delta": delta,
    "Vec_init": lambda use, v: stacked((len(v),), v) if isinstance(use.of, TupleType) else stacked((1,), (v,)),
    "unzip": lambda use, v: tensor_builtins.unzipped(v, use.of),
    "shape": lambda use, v: shape_of(v, use.of),
    "lmVCatV": lambda use, v: linear_primitives.vertical_vector(v, lambda: zero(_ends(use.of)[0])),
    "lmHCatV": lambda use, v: linear_primitives.horizontal_vector(v, lambda: zero(_ends(use.of)[1])),
    "lmFold": lambda use, v: linear_primitives.lm_fold(use.ev, v, lambda: zero(_around(use))),
    "print": printed,
    "$trace": traced,
    "$dummy": lambda use, _: zero(use.of),
}
"""The same of those that depend on where they are evaluated, or on the type."""
PASSES: dict[str, Callable[[Use, Value], Pass]] = {
    "build": tensor_builtins.built,
    "sumbuild": tensor_builtins.sumbuilt,
    "map": tensor_builtins.map_over,
    "map2": tensor_builtins.map_over,
    "fold": tensor_builtins.folded,
    "diag": tensor_builtins.diagonal,
    "buildFromSparse": tensor_builtins.sparse,
    "buildFromSparseTupled": tensor_builtins.sparse_tupled,
    "assert": asserted,
    "$check": checked,
    "FFold": _placed(linear_primitives.f_fold),
    "RFold": lambda use, v: linear_primitives.r_fold(use.ev, v, lambda: zero(_around(use))),
}
"""The same of those that call functions."""
