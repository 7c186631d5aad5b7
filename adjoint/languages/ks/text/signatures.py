"""The types of what is built in: the prelude, a table, and what is polymorphic, by rules.

>>> from adjoint.languages.ks.value.types import text
>>> print(text(built_in("index", TupleType((INT, vec(REAL))))), built_in("add", TupleType((REAL, INT))))
Float None
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from adjoint.languages.ks.value.types import (
    BOOL,
    arguments,
    element,
    index_of,
    is_shape,
    order,
    rank,
    shape_type,
    tangent,
    tensor,
    vec,
)
from diff.lam.term.types import INT, REAL, Arrow, Lin, TupleType, Ty

if TYPE_CHECKING:
    from collections.abc import Callable

Types: TypeAlias = tuple[Ty, ...]
_REALS, _MATRIX = vec(REAL), tensor(2, REAL)


def _each(names: str, *rows: tuple[Types, Ty]) -> dict[tuple[str, Types], Ty]:
    return {(name, args): made for name in names.split() for args, made in rows}


PRELUDE: dict[tuple[str, Types], Ty] = {
    **_each("to_float", ((INT,), REAL)),
    **_each("bool_to_float", ((BOOL,), REAL)),
    **_each("not", ((BOOL,), BOOL)),
    **_each("and or", ((BOOL, BOOL), BOOL)),
    **_each("neg", ((REAL,), REAL), ((INT,), INT)),
    **_each("add sub mul div", ((REAL, REAL), REAL), ((INT, INT), INT)),
    **_each("gt lt gte lte", ((REAL, REAL), BOOL), ((INT, INT), BOOL)),
    **_each("log exp sin cos tanh cosh sqrt erf lgamma digamma abs", ((REAL,), REAL)),
    **_each("exp", ((_REALS,), _REALS)),
    **_each("add sub mul", ((_REALS, _REALS), _REALS)),
    **_each("sub", ((_REALS, REAL), _REALS)),
    **_each("mul", ((REAL, _REALS), _REALS), ((_MATRIX, _REALS), _REALS), ((vec(_REALS), _REALS), _REALS)),
    **_each("dot", ((_REALS, _REALS), REAL)),
    **_each("max", ((REAL, REAL), REAL), ((_REALS,), REAL)),
    **_each("imax", ((_REALS,), INT)),
    **_each("pow", ((REAL, INT), REAL)),
    **_each("pi", ((), REAL)),
    **_each("$ranhashdoub", ((INT,), REAL)),
}
"""The result of each function of the prelude, by its name and the types of its arguments."""


def _build(t: Types) -> Ty | None:
    match t:
        case (index, Arrow(dom, cod)) if dom is index and rank(index):
            return tensor(rank(index), cod)
        case _:  # what it does not take
            return None


def _sumbuild(t: Types) -> Ty | None:
    made = _build(t)
    return None if made is None else element(made)


def _index(t: Types) -> Ty | None:
    return element(t[1]) if len(t) == 2 and order(t[1]) and index_of(order(t[1])) is t[0] else None


def _of_tensor(result: Callable[[Ty], Ty]) -> Callable[[Types], Ty | None]:
    return lambda t: result(t[0]) if len(t) == 1 and order(t[0]) else None


def _fold(t: Types) -> Ty | None:
    match t:
        case (Arrow(TupleType((a, b)), cod), start, over) if cod is a is start and over is vec(b):
            return a
        case _:  # what it does not take
            return None


def _map(t: Types) -> Ty | None:
    match t:
        case (Arrow(dom, cod), over) if order(over) and element(over) is dom:
            return tensor(order(over), cod)
        case _:  # what it does not take
            return None


def _map2(t: Types) -> Ty | None:
    match t:
        case (Arrow(TupleType((a, b)), cod), x, y) if order(x) == order(y) > 0 and (element(x), element(y)) == (a, b):
            return tensor(order(x), cod)
        case _:  # what it does not take
            return None


def _const_vec(t: Types) -> Ty | None:
    return tensor(rank(t[0]), t[1]) if len(t) == 2 and rank(t[0]) else None


def _delta_vec(t: Types) -> Ty | None:
    return tensor(rank(t[0]), t[2]) if len(t) == 3 and rank(t[0]) and t[0] is t[1] else None


def _delta(t: Types) -> Ty | None:
    return t[2] if len(t) == 3 and rank(t[0]) and t[0] is t[1] else None


def _diag(t: Types) -> Ty | None:
    match t:
        case (a, b, Arrow(dom, cod)) if a is b is dom is INT:
            return vec(vec(cod))
        case _:  # what it does not take
            return None


def _vec_init(t: Types) -> Ty | None:
    return vec(t[0]) if t and all(one is t[0] for one in t) else None


def _unzip(t: Types) -> Ty | None:
    if len(t) != 1 or not order(t[0]):
        return None
    of = element(t[0])
    return TupleType(tuple(tensor(order(t[0]), part) for part in of.parts)) if isinstance(of, TupleType) else None


def _sparse(t: Types) -> Ty | None:
    match t:
        case (shape, n, Arrow(dom, TupleType((at, of)))) if rank(at) and dom is n and rank(n):
            made = tensor(rank(at), of)
            return made if shape is at or is_shape(shape, made) else None
        case _:  # what it does not take
            return None


def _sparse_tupled(t: Types) -> Ty | None:
    match t:
        case (TupleType(shapes), n, Arrow(dom, TupleType(parts))) if dom is n and rank(n) and len(shapes) == len(parts):
            made = [_sparse((shape, n, Arrow(dom, part))) for shape, part in zip(shapes, parts, strict=True)]
            found = tuple(one for one in made if one is not None)
            return TupleType(found) if len(found) == len(made) else None
        case _:  # what it does not take
            return None


def _lm_apply(t: Types) -> Ty | None:
    match t:
        case (Lin(dom, cod), along) if along is tangent(dom):
            return tangent(cod)
        case _:  # what it does not take
            return None


def _lm_apply_r(t: Types) -> Ty | None:
    match t:
        case (along, Lin(dom, cod)) if along is tangent(cod):
            return tangent(dom)
        case _:  # what it does not take
            return None


def _lm_compose(t: Types) -> Ty | None:
    match t:
        case (Lin(inner, cod), Lin(dom, middle)) if tangent(inner) is tangent(middle):
            return Lin(dom, cod)
        case _:  # what it does not take
            return None


def _lm_vcat(t: Types) -> Ty | None:
    doms = [f.dom for f in t if isinstance(f, Lin)]
    if len(doms) != len(t) or not t or any(dom is not doms[0] for dom in doms):
        return None
    return Lin(doms[0], TupleType(tuple(f.cod for f in t if isinstance(f, Lin))))


def _lm_hcat(t: Types) -> Ty | None:
    cods = [f.cod for f in t if isinstance(f, Lin)]
    if len(cods) != len(t) or not t or any(cod is not cods[0] for cod in cods):
        return None
    return Lin(TupleType(tuple(f.dom for f in t if isinstance(f, Lin))), cods[0])


def _lm_vectors(t: Types, *, vertical: bool) -> Ty | None:
    of = element(t[0]) if len(t) == 1 and order(t[0]) else None
    if not isinstance(of, Lin):
        return None
    n = order(t[0])
    return Lin(of.dom, tensor(n, of.cod)) if vertical else Lin(tensor(n, of.dom), of.cod)


def _lm_fold(t: Types) -> Ty | None:
    match t:
        case (Arrow(TupleType((a, b)), c), Arrow(TupleType((a1, b1)), Lin(TupleType((s, _)), _)), a2, over) if (
            a is c is a1 is a2 and b is b1 and over is vec(b)
        ):
            return Lin(TupleType((s, TupleType((a, over)))), a)
        case _:  # what it does not take
            return None


def _f_fold(t: Types) -> Ty | None:
    match t:
        case (Arrow(TupleType((a, b)) as pair, c), a2, over, Arrow(TupleType((p, dp)), da), da2, dover) if (
            a is c is a2 and over is vec(b) and p is pair and dp is tangent(pair)
        ):
            return da if da is tangent(a) is da2 and dover is tangent(over) else None
        case _:  # what it does not take
            return None


def _r_fold(t: Types) -> Ty | None:
    match t:
        case (Arrow(TupleType((a, b)) as pair, c), Arrow(TupleType((p, dr)), TupleType((ds, dp))), a2, over, dr2) if (
            a is c is a2 and over is vec(b) and p is pair and dr is dr2 is tangent(a) and dp is tangent(pair)
        ):
            return TupleType((ds, TupleType((dr, tangent(over)))))
        case _:  # what it does not take
            return None


def _same(count: int, result: Callable[[Ty], Ty]) -> Callable[[Types], Ty | None]:
    return lambda t: result(t[0]) if len(t) == count and all(one is t[0] for one in t) else None


def _check(t: Types) -> Ty | None:
    match t:
        case (Arrow(s, cod), Arrow(TupleType((s1, dt)), ds), s2, ds2, dt2) if s is s1 is s2 and dt is dt2:
            return REAL if ds is ds2 is tangent(s) and dt is tangent(cod) else None
        case _:  # what it does not take
            return None


RULES: dict[str, Callable[[Types], Ty | None]] = {
    "build": _build,
    "sumbuild": _sumbuild,
    "index": _index,
    "size": _of_tensor(lambda ty: index_of(order(ty))),
    "sum": _of_tensor(element),
    "fold": _fold,
    "map": _map,
    "map2": _map2,
    "constVec": _const_vec,
    "deltaVec": _delta_vec,
    "delta": _delta,
    "diag": _diag,
    "Vec_init": _vec_init,
    "unzip": _unzip,
    "buildFromSparse": _sparse,
    "buildFromSparseTupled": _sparse_tupled,
    "ts_add": lambda t: t[0] if len(t) == 2 and t[1] is tangent(t[0]) else None,
    "ts_scale": lambda t: t[1] if len(t) == 2 and t[0] is REAL else None,
    "ts_dot": _same(2, lambda _: REAL),
    "ts_neg": _same(1, lambda ty: ty),
    "eq": _same(2, lambda _: BOOL),
    "ne": _same(2, lambda _: BOOL),
    "shape": lambda t: shape_type(t[0]) if len(t) == 1 else None,
    "print": lambda _: INT,
    "$trace": _same(1, lambda ty: ty),
    "$inline": _same(1, lambda ty: ty),
    "$copydown": _same(1, lambda ty: ty),
    "$check": _check,
    "lmApply": _lm_apply,
    "lmApplyR": _lm_apply_r,
    "lmCompose": _lm_compose,
    "lmAdd": _same(2, lambda ty: ty),
    "lmZero": lambda t: Lin(*t) if len(t) == 2 else None,
    "lmOne": lambda t: Lin(t[0], t[0]) if len(t) == 1 else None,
    "lmScale": lambda t: Lin(t[0], t[0]) if len(t) == 2 and t[1] is REAL else None,
    "lmScaleR": lambda t: Lin(REAL, t[0]) if len(t) == 1 else None,
    "lmDot": lambda t: Lin(t[0], REAL) if len(t) == 1 else None,
    "lmVCat": _lm_vcat,
    "lmHCat": _lm_hcat,
    "lmVCatV": lambda t: _lm_vectors(t, vertical=True),
    "lmHCatV": lambda t: _lm_vectors(t, vertical=False),
    "lmFold": _lm_fold,
    "lmTranspose": lambda t: Lin(t[0].cod, t[0].dom) if len(t) == 1 and isinstance(t[0], Lin) else None,
    "FFold": _f_fold,
    "RFold": _r_fold,
}
"""The type of the result for those of the arguments, None where they do not fit."""
TAKES = {
    **dict.fromkeys(("build", "sumbuild"), "(Tuple Integer (Lam Integer t)), or tuples of Integers for both"),
    "index": "(Tuple Integer (Vec t)), or a tuple of n Integers and (Tensor n t)",
    **dict.fromkeys(("size", "sum"), "(Vec t) or (Tensor n t)"),
    "fold": "(Tuple (Lam (Tuple s t) s) s (Vec t))",
    "map": "(Tuple (Lam t u) (Vec t))",
    "map2": "(Tuple (Lam (Tuple t u) r) (Vec t) (Vec u))",
    "constVec": "(Tuple Integer t)",
    **dict.fromkeys(("delta", "deltaVec"), "(Tuple Integer Integer t)"),
    "diag": "(Tuple Integer Integer (Lam Integer t))",
    "buildFromSparse": "(Tuple S Integer (Lam Integer (Tuple Integer t))), S a shape of (Vec t), or tuples of Integers",
    **dict.fromkeys(("Vec_init", "eq", "ne"), "values of one type"),
    "lmApply": "(Tuple (LM s t) ds), ds a tangent of s",
    "lmApplyR": "(Tuple dt (LM s t)), dt a tangent of t",
    "lmCompose": "(Tuple (LM t u) (LM s t))",
}
"""What some of them take, as messages say it."""
WORDS = frozenset(
    ["let", "if", "lam", "tuple", "assert", "$dummy", "def", "edef", "gdef", "rule", "true", "false", ":"]
)
"""Names that are none."""
NAMES = frozenset([*RULES, *(name for name, _ in PRELUDE)])
_VARIADIC = {"Vec_init", "print"}
_PRELUDE: dict[tuple[str, Ty], Ty] = {(name, arguments(types)): made for (name, types), made in PRELUDE.items()}


def is_of_prelude(name: str, arg: Ty) -> bool:
    """Whether the prelude has a function of this name on this type."""
    return (name, arg) in _PRELUDE


def built_in(name: str, arg: Ty) -> Ty | None:
    """The type of the result of what is built in; None where there is nothing of this name on this type."""
    found = _PRELUDE.get((name, arg))
    if found is not None or name not in RULES:
        return found
    several = arg.parts if isinstance(arg, TupleType) else (arg,)
    forms: list[Types] = [several] if name in _VARIADIC else [(arg,), several]
    return next((made for made in map(RULES[name], forms) if made is not None), None)


def known(name: str) -> list[Types]:
    """The argument types that the prelude has for a name."""
    return [types for one, types in PRELUDE if one == name]
