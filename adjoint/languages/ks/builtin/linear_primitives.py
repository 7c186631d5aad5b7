"""The linear-map primitives: what each does (m ⊙ x) and what its transpose does (r ⊙R m), the tables of §§3–4."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from adjoint.languages.ks.builtin import type_rules
from adjoint.languages.ks.builtin.builtin_row import BuiltIn, in_place, of_value
from adjoint.languages.ks.builtin.zeros import zero as zero_of_type
from adjoint.languages.ks.value.ks_values import items_of, plus, scaled, stacked, tangent, zero_like
from adjoint.languages.ks.value.linear_maps import made
from adjoint.languages.ks.value.types import element
from adjoint.languages.ks.value.types import tangent as tangent_type
from adjoint.languages.ks.value.value_classes import Add, Arr, Compose, Items, Linear, Stack, Transpose, Value
from diff import inner
from diff.lam.term.lam_values import Native
from diff.lam.term.term_error import TermError
from diff.lam.term.types import REAL, Arrow, Lin, TupleType, Ty
from hilbert import R
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.ks.builtin.evaluation import Evaluation, Use
    from diff.lam.term.binding import Pass

T = TypeVar("T")


def _sum(values: list[Value], nothing: Callable[[], Value] | None = None) -> Value:
    """The sum of values; that of none, if it is known."""
    if not values and nothing is not None:
        return nothing()
    made = values[0]
    for v in values[1:]:
        made = plus(made, v)
    return made


def _paired(left: Sequence[T], right: Sequence[Value], what: str) -> list[tuple[T, Value]]:
    """Elements in their order; raises TermError `shape` where there are not as many of both."""
    if len(left) != len(right):
        raise TermError("shape", f"{what} of {len(left)} and of {len(right)} elements meet")
    return list(zip(left, right, strict=True))


def compose(v: Value) -> Linear:
    """(m₁ ∘ m₂) ⊙ x = m₁ ⊙ (m₂ ⊙ x); r ⊙R (m₁ ∘ m₂) = (r ⊙R m₁) ⊙R m₂."""
    return made(Compose(*v))


def add(v: Value) -> Linear:
    """(m₁ ⊕ m₂) ⊙ x = m₁ ⊙ x + m₂ ⊙ x, and so its transpose."""
    return made(Add(*v))


def zero(v: Value) -> Linear:
    """0, between the shapes of two values."""
    s, t = v
    return Linear(lambda _: zero_like(t), lambda _: zero_like(s))


def one(_: Value) -> Linear:
    """1."""
    return Linear(lambda x: x, lambda r: r)


def scale(v: Value) -> Linear:
    """S(k) on the shape of a value."""
    _, k = v
    return Linear(lambda x: scaled(k, x), lambda r: scaled(k, r))


def scale_r(v: Value) -> Linear:
    """r ↦ r·v, whose transpose is s ↦ v • s."""
    return Linear(lambda r: scaled(r, tangent(lambda leaf: leaf, v)), lambda s: dot(v, s))


def dot_with(v: Value) -> Linear:
    """s ↦ v • s, whose transpose is r ↦ r·v."""
    return transposed(scale_r(v))


def vertical(ms: Sequence[Linear]) -> Linear:
    """(m₁ × …) ⊙ x = (m₁ ⊙ x, …); (r₁, …) ⊙R (m₁ × …) = r₁ ⊙R m₁ + …"""
    return made(Stack(ms, tuple, lambda r: r, _unknown))


def _unknown() -> Value:
    raise TermError("shape", "the sum of no linear maps")


def transposed(m: Linear) -> Linear:
    """mᵀ."""
    return made(Transpose(m))


def horizontal(ms: Value) -> Linear:
    """(m₁ ⋈ …) = (m₁ᵀ × …)ᵀ."""
    return transposed(vertical(tuple(map(transposed, ms))))


def vertical_vector(ms: Arr | Items, nothing: Callable[[], Value]) -> Linear:
    """V(v) ⊙ x = build (λi. v[i] ⊙ x); r ⊙R V(v) = Σ r[i] ⊙R v[i]."""
    items = items_of(ms).items

    def spread(r: Value) -> Sequence[Value]:
        return [part for _, part in _paired(items, items_of(r).items, "vectors")]

    return made(Stack(items, lambda values: stacked(ms.dims, values), spread, nothing))


def horizontal_vector(ms: Arr | Items, nothing: Callable[[], Value]) -> Linear:
    """H(v) = V(map ᵀ v)ᵀ."""
    return transposed(vertical_vector(Items(ms.dims, tuple(map(transposed, items_of(ms).items))), nothing))


def dot(a: Value, b: Value) -> Value:
    """v • s: the sum over all reals."""
    if isinstance(a, tuple):
        return _sum([R.zeros(), *(dot(x, y) for x, y in zip(a, b, strict=True))])
    if isinstance(a, (Arr, Items)):
        if isinstance(a, Arr) and isinstance(b, Arr):
            return dot(a.item, b.item)
        pairs = _paired(items_of(a).items, items_of(b).items, "vectors")
        return _sum([R.zeros(), *(dot(x, y) for x, y in pairs)])
    return R.zeros() if isinstance(b, tuple) else inner(a, b) if a.space != R else a * b


def _accumulators(ev: Evaluation, f: Value, start: Value, xs: Arr | Items) -> list[Value]:
    """The states before each round, and the last."""
    states = [start]
    for x in items_of(xs).items:
        states.append(driven(ev.call(f, (states[-1], x))))
    return states


def f_fold(ev: Evaluation, v: Value) -> Pass:
    """FFold f acc v f' dacc dv: the tangents of the states, forwards (§11)."""
    f, start, xs, df, dacc, dv = v
    states = _accumulators(ev, f, start, xs)
    pairs = _paired(items_of(xs).items, items_of(dv).items, "a vector and its tangent")
    for acc, (x, dx) in zip(states[:-1], pairs, strict=True):
        dacc = yield ev.call(df, ((acc, x), (dacc, dx)))
    return dacc


def r_fold(ev: Evaluation, v: Value, nothing: Callable[[], Value]) -> Pass:
    """RFold f f' acc v dr: (ds, (dacc, dv)), backwards over the states that were kept (§11)."""
    f, df, start, xs, dr = v
    items = items_of(xs).items
    states = _accumulators(ev, f, start, xs)
    back: list[Value] = [None] * len(items)
    ds: Value = None
    for k in range(len(items) - 1, -1, -1):
        more, (dr, back[k]) = yield ev.call(df, ((states[k], items[k]), dr))
        ds = more if ds is None else plus(ds, more)
    return (nothing() if ds is None else ds), (dr, stacked(xs.dims, back))


def lm_fold(ev: Evaluation, v: Value, nothing: Callable[[], Value]) -> Linear:
    """lmFold f f' acc v : (s, (a, Vec b)) ⊸ a, by FFold and RFold of the maps that f' gives."""
    f, df, start, xs = v

    def along(x: Value) -> Value:
        ds, (dacc, dv) = x
        step = Native(lambda given: _applied(ev, df, given[0], lambda m: m.apply((ds, given[1]))))
        return driven(f_fold(ev, (f, start, xs, step, dacc, dv)))

    def back(dr: Value) -> Value:
        step = Native(lambda given: _applied(ev, df, given[0], lambda m: m.transposed(given[1])))
        return driven(r_fold(ev, (f, step, start, xs, dr), nothing))

    return Linear(along, back)


def _applied(ev: Evaluation, df: Value, t: Value, by: Callable[[Linear], Value]) -> Pass:
    m = yield ev.call(df, t)
    return by(m)


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


def _several(v: Value) -> tuple[Value, ...]:
    return v if isinstance(v, tuple) else (v,)


TABLE: dict[str, BuiltIn] = {
    "lmApply": BuiltIn(
        of_value(lambda v: v[0].apply(v[1])),
        rule=type_rules.lm_apply_type,
        takes="(Tuple (LM s t) ds), ds a tangent of s",
    ),
    "lmApplyR": BuiltIn(
        of_value(lambda v: v[1].transposed(v[0])),
        rule=type_rules.lm_apply_r_type,
        takes="(Tuple dt (LM s t)), dt a tangent of t",
    ),
    "lmCompose": BuiltIn(of_value(compose), rule=type_rules.lm_compose_type, takes="(Tuple (LM t u) (LM s t))"),
    "lmAdd": BuiltIn(of_value(add), rule=type_rules.same(2, lambda ty: ty)),
    "lmZero": BuiltIn(of_value(zero), rule=lambda t: Lin(*t) if len(t) == 2 else None),
    "lmOne": BuiltIn(of_value(one), rule=lambda t: Lin(t[0], t[0]) if len(t) == 1 else None),
    "lmScale": BuiltIn(of_value(scale), rule=lambda t: Lin(t[0], t[0]) if len(t) == 2 and t[1] is REAL else None),
    "lmScaleR": BuiltIn(of_value(scale_r), rule=lambda t: Lin(REAL, t[0]) if len(t) == 1 else None),
    "lmDot": BuiltIn(of_value(dot_with), rule=lambda t: Lin(t[0], REAL) if len(t) == 1 else None),
    "lmVCat": BuiltIn(of_value(lambda v: vertical(_several(v))), rule=type_rules.lm_vcat_type),
    "lmHCat": BuiltIn(of_value(lambda v: horizontal(_several(v))), rule=type_rules.lm_hcat_type),
    "lmVCatV": BuiltIn(
        lambda use, v: vertical_vector(v, lambda: zero_of_type(_ends(use.of)[0])),
        rule=lambda t: type_rules.lm_vectors_type(t, vertical=True),
    ),
    "lmHCatV": BuiltIn(
        lambda use, v: horizontal_vector(v, lambda: zero_of_type(_ends(use.of)[1])),
        rule=lambda t: type_rules.lm_vectors_type(t, vertical=False),
    ),
    "lmFold": BuiltIn(
        lambda use, v: lm_fold(use.ev, v, lambda: zero_of_type(_around(use))), rule=type_rules.lm_fold_type
    ),
    "lmTranspose": BuiltIn(
        of_value(transposed),
        rule=lambda t: Lin(t[0].cod, t[0].dom) if len(t) == 1 and isinstance(t[0], Lin) else None,
    ),
    "FFold": BuiltIn(in_place(f_fold), rule=type_rules.f_fold_type, calls=True),
    "RFold": BuiltIn(
        lambda use, v: r_fold(use.ev, v, lambda: zero_of_type(_around(use))), rule=type_rules.r_fold_type, calls=True
    ),
}
"""The linear-map primitives, and folds of maps."""
