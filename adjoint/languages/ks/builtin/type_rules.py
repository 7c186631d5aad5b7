"""The types of what is polymorphic: a rule for each kind of built-in function, None for types that it does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from adjoint.languages.ks.value.types import (
    element,
    index_of,
    is_shape,
    order,
    rank,
    tangent,
    tensor,
    vec,
)
from diff.lam.term.types import INT, REAL, Arrow, Lin, TupleType, Ty

if TYPE_CHECKING:
    from collections.abc import Callable

Types: TypeAlias = tuple[Ty, ...]
Rule: TypeAlias = "Callable[[Types], Ty | None]"


def build_type(t: Types) -> Ty | None:
    """(build n f): a tensor of n elements f(i)."""
    match t:
        case (index, Arrow(dom, cod)) if dom is index and rank(index):
            return tensor(rank(index), cod)
        case _:  # types that it does not take
            return None


def sumbuild_type(t: Types) -> Ty | None:
    """(sumbuild n f): an element f(i)."""
    made = build_type(t)
    return None if made is None else element(made)


def index_type(t: Types) -> Ty | None:
    """(index i v): an element of v."""
    return element(t[1]) if len(t) == 2 and order(t[1]) and index_of(order(t[1])) is t[0] else None


def of_tensor(result: Callable[[Ty], Ty]) -> Callable[[Types], Ty | None]:
    """The rule of a function of one tensor."""
    return lambda t: result(t[0]) if len(t) == 1 and order(t[0]) else None


def fold_type(t: Types) -> Ty | None:
    """(fold f a v): the state a, for f : (a, b) → a and a vector v of b."""
    match t:
        case (Arrow(TupleType((a, b)), cod), start, over) if cod is a is start and over is vec(b):
            return a
        case _:  # types that it does not take
            return None


def map_type(t: Types) -> Ty | None:
    """(map f v): a tensor of elements f(v[i])."""
    match t:
        case (Arrow(dom, cod), over) if order(over) and element(over) is dom:
            return tensor(order(over), cod)
        case _:  # types that it does not take
            return None


def map2_type(t: Types) -> Ty | None:
    """(map2 f v w): a tensor of elements f(v[i], w[i])."""
    match t:
        case (Arrow(TupleType((a, b)), cod), x, y) if order(x) == order(y) > 0 and (element(x), element(y)) == (a, b):
            return tensor(order(x), cod)
        case _:  # types that it does not take
            return None


def const_vec_type(t: Types) -> Ty | None:
    """(constVec n e): a tensor of n elements e."""
    return tensor(rank(t[0]), t[1]) if len(t) == 2 and rank(t[0]) else None


def delta_vec_type(t: Types) -> Ty | None:
    """(deltaVec n i e): a tensor of n elements like e."""
    return tensor(rank(t[0]), t[2]) if len(t) == 3 and rank(t[0]) and t[0] is t[1] else None


def delta_type(t: Types) -> Ty | None:
    """(delta i j e): e."""
    return t[2] if len(t) == 3 and rank(t[0]) and t[0] is t[1] else None


def diag_type(t: Types) -> Ty | None:
    """(diag n m f): a matrix of elements f(i)."""
    match t:
        case (a, b, Arrow(dom, cod)) if a is b is dom is INT:
            return vec(vec(cod))
        case _:  # types that it does not take
            return None


def vec_init_type(t: Types) -> Ty | None:
    """(Vec_init e …): a vector of elements e."""
    return vec(t[0]) if t and all(one is t[0] for one in t) else None


def unzip_type(t: Types) -> Ty | None:
    """(unzip v): a tuple of tensors, for a tensor of tuples."""
    if len(t) != 1 or not order(t[0]):
        return None
    of = element(t[0])
    return TupleType(tuple(tensor(order(t[0]), part) for part in of.parts)) if isinstance(of, TupleType) else None


def sparse_type(t: Types) -> Ty | None:
    """(buildFromSparse shape n f): a tensor of that shape of the second components of f(i)."""
    match t:
        case (shape, n, Arrow(dom, TupleType((at, of)))) if rank(at) and dom is n and rank(n):
            made = tensor(rank(at), of)
            return made if shape is at or is_shape(shape, made) else None
        case _:  # types that it does not take
            return None


def sparse_tupled_type(t: Types) -> Ty | None:
    """(buildFromSparseTupled (tuple shape …) n f): a tensor for each shape."""
    match t:
        case (TupleType(shapes), n, Arrow(dom, TupleType(parts))) if dom is n and rank(n) and len(shapes) == len(parts):
            made = [sparse_type((shape, n, Arrow(dom, part))) for shape, part in zip(shapes, parts, strict=True)]
            found = tuple(one for one in made if one is not None)
            return TupleType(found) if len(found) == len(made) else None
        case _:  # types that it does not take
            return None


def lm_apply_type(t: Types) -> Ty | None:
    """(lmApply m dx): a tangent of the codomain."""
    match t:
        case (Lin(dom, cod), along) if along is tangent(dom):
            return tangent(cod)
        case _:  # types that it does not take
            return None


def lm_apply_r_type(t: Types) -> Ty | None:
    """(lmApplyR dr m): a tangent of the domain."""
    match t:
        case (along, Lin(dom, cod)) if along is tangent(cod):
            return tangent(dom)
        case _:  # types that it does not take
            return None


def lm_compose_type(t: Types) -> Ty | None:
    """(lmCompose m₁ m₂): from the domain of m₂ to the codomain of m₁."""
    match t:
        case (Lin(inner, cod), Lin(dom, middle)) if tangent(inner) is tangent(middle):
            return Lin(dom, cod)
        case _:  # types that it does not take
            return None


def lm_vcat_type(t: Types) -> Ty | None:
    """(lmVCat m …): from one domain to the tuple of the codomains."""
    doms = [f.dom for f in t if isinstance(f, Lin)]
    if len(doms) != len(t) or not t or any(dom is not doms[0] for dom in doms):
        return None
    return Lin(doms[0], TupleType(tuple(f.cod for f in t if isinstance(f, Lin))))


def lm_hcat_type(t: Types) -> Ty | None:
    """(lmHCat m …): from the tuple of the domains to one codomain."""
    cods = [f.cod for f in t if isinstance(f, Lin)]
    if len(cods) != len(t) or not t or any(cod is not cods[0] for cod in cods):
        return None
    return Lin(TupleType(tuple(f.dom for f in t if isinstance(f, Lin))), cods[0])


def lm_vectors_type(t: Types, *, vertical: bool) -> Ty | None:
    """(lmVCatV v), (lmHCatV v), of a tensor of linear maps: to, or from, tensors."""
    of = element(t[0]) if len(t) == 1 and order(t[0]) else None
    if not isinstance(of, Lin):
        return None
    n = order(t[0])
    return Lin(of.dom, tensor(n, of.cod)) if vertical else Lin(tensor(n, of.dom), of.cod)


def lm_fold_type(t: Types) -> Ty | None:
    """(lmFold f f′ a v): from s, a and v to a, for f′ : (a, b) → ((s, (a, b)) ⊸ a)."""
    match t:
        case (Arrow(TupleType((a, b)), c), Arrow(TupleType((a1, b1)), Lin(TupleType((s, _)), _)), a2, over) if (
            a is c is a1 is a2 and b is b1 and over is vec(b)
        ):
            return Lin(TupleType((s, TupleType((a, over)))), a)
        case _:  # types that it does not take
            return None


def f_fold_type(t: Types) -> Ty | None:
    """(FFold f a v f′ da dv): a tangent of a."""
    match t:
        case (Arrow(TupleType((a, b)) as pair, c), a2, over, Arrow(TupleType((p, dp)), da), da2, dover) if (
            a is c is a2 and over is vec(b) and p is pair and dp is tangent(pair)
        ):
            return da if da is tangent(a) is da2 and dover is tangent(over) else None
        case _:  # types that it does not take
            return None


def r_fold_type(t: Types) -> Ty | None:
    """(RFold f f′ a v dr): ds, and tangents of a and of v."""
    match t:
        case (Arrow(TupleType((a, b)) as pair, c), Arrow(TupleType((p, dr)), TupleType((ds, dp))), a2, over, dr2) if (
            a is c is a2 and over is vec(b) and p is pair and dr is dr2 is tangent(a) and dp is tangent(pair)
        ):
            return TupleType((ds, TupleType((dr, tangent(over)))))
        case _:  # types that it does not take
            return None


def same(count: int, result: Callable[[Ty], Ty]) -> Callable[[Types], Ty | None]:
    """The rule of a function of so many arguments of one type."""
    return lambda t: result(t[0]) if len(t) == count and all(one is t[0] for one in t) else None


def check_type(t: Types) -> Ty | None:
    """($check f rev s ds dt): a number."""
    match t:
        case (Arrow(s, cod), Arrow(TupleType((s1, dt)), ds), s2, ds2, dt2) if s is s1 is s2 and dt is dt2:
            return REAL if ds is ds2 is tangent(s) and dt is tangent(cod) else None
        case _:  # types that it does not take
            return None
