"""The table of what is built in, a row for each function, and the values of those of no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.languages.ks.builtin import effects, integers, linear_primitives, scalars, tensor_builtins, type_rules
from adjoint.languages.ks.builtin.builtin_row import BuiltIn, of_value, of_values
from adjoint.languages.ks.builtin.shapes import shape_of
from adjoint.languages.ks.builtin.zeros import zero
from adjoint.languages.ks.value.ks_values import items_of, leaves_of, plus, real, repeated, scaled, stacked, tangent
from adjoint.languages.ks.value.types import BOOL, element, index_of, order, shape_type
from adjoint.languages.ks.value.types import tangent as tangent_type
from adjoint.languages.ks.value.value_classes import Arr, Items, Value
from adjoint.languages.ks.value.value_syntax import text
from diff import absolute
from diff.lam.term.types import INT, REAL, TupleType
from hilbert import R, Vec
from hilbert.base.escaped_text import put

if TYPE_CHECKING:
    from adjoint.languages.ks.builtin.evaluation import Use
    from diff.lam.term.binding import Pass

_BUILD = "(Tuple Integer (Lam Integer t)), or tuples of Integers for both"
_TENSOR = "(Vec t) or (Tensor n t)"
_DELTA = "(Tuple Integer Integer t)"
_ALIKE = "values of one type"
_OF_ONE = type_rules.same(1, lambda ty: ty)


def delta(use: Use, arg: Value) -> Value:
    """(delta i j e): e if they are equal, else zero."""
    i, j, e = arg
    return tensor_builtins.choose(use.ev, equal(i, j), e, tensor_builtins.zeros(e))


def equal(a: Value, b: Value) -> Value:
    """Tell if two values are equal: of tensors, sizes too."""
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


BUILT_IN: dict[str, BuiltIn] = {
    **scalars.TABLE,
    **linear_primitives.TABLE,
    "build": BuiltIn(tensor_builtins.built, rule=type_rules.build_type, takes=_BUILD, calls=True),
    "sumbuild": BuiltIn(tensor_builtins.sumbuilt, rule=type_rules.sumbuild_type, takes=_BUILD, calls=True),
    "index": BuiltIn(
        tensor_builtins.indexed,
        rule=type_rules.index_type,
        takes="(Tuple Integer (Vec t)), or a tuple of n Integers and (Tensor n t)",
    ),
    "size": BuiltIn(
        of_value(tensor_builtins.size), rule=type_rules.of_tensor(lambda ty: index_of(order(ty))), takes=_TENSOR
    ),
    "sum": BuiltIn(tensor_builtins.summed, rule=type_rules.of_tensor(element), takes=_TENSOR),
    "fold": BuiltIn(
        tensor_builtins.folded,
        rule=type_rules.fold_type,
        takes="(Tuple (Lam (Tuple s t) s) s (Vec t))",
        calls=True,
    ),
    "map": BuiltIn(tensor_builtins.map_over, rule=type_rules.map_type, takes="(Tuple (Lam t u) (Vec t))", calls=True),
    "map2": BuiltIn(
        tensor_builtins.map_over,
        rule=type_rules.map2_type,
        takes="(Tuple (Lam (Tuple t u) r) (Vec t) (Vec u))",
        calls=True,
    ),
    "constVec": BuiltIn(
        lambda use, v: repeated(tensor_builtins.dims_of(use, v[0]), v[1]),
        rule=type_rules.const_vec_type,
        takes="(Tuple Integer t)",
    ),
    "deltaVec": BuiltIn(tensor_builtins.delta_vec, rule=type_rules.delta_vec_type, takes=_DELTA),
    "delta": BuiltIn(delta, rule=type_rules.delta_type, takes=_DELTA),
    "diag": BuiltIn(
        tensor_builtins.diagonal,
        rule=type_rules.diag_type,
        takes="(Tuple Integer Integer (Lam Integer t))",
        calls=True,
    ),
    "Vec_init": BuiltIn(
        lambda use, v: stacked((len(v),), v) if isinstance(use.of, TupleType) else stacked((1,), (v,)),
        rule=type_rules.vec_init_type,
        takes=_ALIKE,
    ),
    "unzip": BuiltIn(lambda use, v: tensor_builtins.unzipped(v, use.of), rule=type_rules.unzip_type),
    "buildFromSparse": BuiltIn(
        tensor_builtins.sparse,
        rule=type_rules.sparse_type,
        takes="(Tuple S Integer (Lam Integer (Tuple Integer t))), S a shape of (Vec t), or tuples of Integers",
        calls=True,
    ),
    "buildFromSparseTupled": BuiltIn(tensor_builtins.sparse_tupled, rule=type_rules.sparse_tupled_type, calls=True),
    "ts_add": BuiltIn(of_values(plus), rule=lambda t: t[0] if len(t) == 2 and t[1] is tangent_type(t[0]) else None),
    "ts_scale": BuiltIn(of_values(scaled), rule=lambda t: t[1] if len(t) == 2 and t[0] is REAL else None),
    "ts_dot": BuiltIn(of_values(linear_primitives.dot), rule=type_rules.same(2, lambda _: REAL)),
    "ts_neg": BuiltIn(of_value(lambda v: scaled(real(-1.0), v)), rule=_OF_ONE),
    "eq": BuiltIn(of_values(equal), rule=type_rules.same(2, lambda _: BOOL), takes=_ALIKE),
    "ne": BuiltIn(
        of_value(lambda v: integers.negated(equal(*v))), rule=type_rules.same(2, lambda _: BOOL), takes=_ALIKE
    ),
    "shape": BuiltIn(lambda use, v: shape_of(v, use.of), rule=lambda t: shape_type(t[0]) if len(t) == 1 else None),
    "print": BuiltIn(printed, rule=lambda _: INT),
    "$trace": BuiltIn(traced, rule=_OF_ONE),
    "$inline": BuiltIn(of_value(lambda v: v), rule=_OF_ONE, partials=lambda *_: [None]),
    "$copydown": BuiltIn(of_value(lambda v: v), rule=_OF_ONE, partials=lambda *_: [None]),
    "$check": BuiltIn(checked, rule=type_rules.check_type, calls=True),
    "assert": BuiltIn(asserted, calls=True),
    "$dummy": BuiltIn(lambda use, _: zero(use.of)),
}
"""All that is built in; the types of `assert` and `$dummy` are found where they are parsed."""
