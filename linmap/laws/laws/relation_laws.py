"""Relations composed where one relation says what two reductions in a row do (paper §2.1, beyond).

red_S • red_R counts the ways from x to z; it is k·red_{S∘R} where there are k ways, or none, between any two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, cast

import numpy as np

from hilbert.base.repr_names import derived_token
from hilbert.base.two_sided import folded, parts
from hilbert.relation import (
    Agreement,
    Composite,
    Converse,
    Equality,
    Full,
    Function,
    Graph,
    Inclusion,
    Order,
    Pairs,
    Partial,
    ProductRelation,
    Rotation,
    Sliding,
    SumRelation,
    Window,
    table,
)

if TYPE_CHECKING:
    from hilbert.relation import Form
    from hilbert.relation.function_forms import AnyGraph, Directed
    from hilbert.relation.relation import AnyRelation

Found: TypeAlias = "tuple[int, AnyRelation] | None"


def is_identity(relation: AnyRelation) -> bool:
    """Tell if the form of a relation shows that it is {(x, x)}."""
    if relation.dom != relation.cod:
        return False
    form = cast("Form", relation)
    match form:
        case Equality():
            return True
        case Full():
            return bool(form.dom.size == 1)
        case Order():
            return form.dom.size == 1 and not form.strict
        case Inclusion(_, _, _, stride):
            return stride == 1 or form.dom.size == 1
        case Converse(of):
            return isinstance(of, Inclusion) and is_identity(of)
        case Rotation(_, by):
            return not by
        case Partial(_, keep):
            return bool(keep.array.all())
        case ProductRelation() | SumRelation():
            return all(map(is_identity, parts(form, ProductRelation, SumRelation)))
        case Graph(_, _, table_):
            return table_.prepare("identity", lambda: bool((table_.array == np.arange(len(table_.array))).all()))
        case Window() | Sliding() | Pairs() | Agreement() | Composite():
            return False
        case _:
            assert_never(form)


def is_empty(relation: AnyRelation) -> bool:
    """Tell if the form of a relation shows that nothing is related."""
    if not (relation.dom.size and relation.cod.size):
        return True
    form = cast("Form", relation)
    match form:
        case Pairs(_, _, sources):
            return not sources.array.size
        case Partial(_, keep):
            return not keep.array.any()
        case ProductRelation() | SumRelation():
            return bool(folded(form, is_empty, _is_empty_of))
        case Equality() | Full() | Order() | Graph() | Inclusion() | Rotation():
            return False
        case Window() | Sliding() | Converse() | Agreement() | Composite():
            return False
        case _:
            assert_never(form)


def _is_empty_of(relation: AnyRelation, parts: list[bool]) -> bool:
    if not (relation.dom.size and relation.cod.size):
        return True
    return any(parts) if isinstance(relation, ProductRelation) else isinstance(relation, SumRelation) and all(parts)


def one_relation(S: AnyRelation, R: AnyRelation) -> Found:
    """k and S∘R such that red_S • red_R = k·red_{S∘R}, where the forms allow it: by the form of S, what R may be."""
    if isinstance(R, Equality):
        return 1, S
    form = cast("Form", S)
    match form:
        case Equality():
            return 1, R
        case Full(middle, Z):
            if isinstance(R, Full):
                return middle.size, Equality(Z) if R.dom == Z and Z.size == 1 else Full(R.dom, Z)
            return (1, Full(R.dom, Z)) if isinstance(R, Function) else None  # one way on from each x
        case Rotation(X, by):
            if isinstance(R, Rotation):
                return 1, Rotation(X, (by + R.by) % max(X.size, 1))
            return (1, Full(R.dom, X)) if isinstance(R, Full) else None
        case Partial(X, keep):
            if not isinstance(R, Partial):
                return None
            return 1, Partial(X, table(keep.array & R.keep.array, derived_token(f"both {keep.token} {R.keep.token}")))
        case ProductRelation() | SumRelation():
            return _side_by_side(form, R) if type(R) is type(form) and form.dom == R.cod else None
        case Graph() | Inclusion():
            if isinstance(form, Graph) and R == form.T and form.dom.size == form.cod.size and _is_injective(form):
                return 1, Equality(form.cod)  # a permutation, back and there
            if isinstance(form, Inclusion) and R == form.T and form.dom.size == form.cod.size:
                return 1, Equality(form.cod)  # a run of all elements
            return (1, _after(form, R)) if isinstance(R, (Graph, Inclusion)) else None
        case Converse(of):
            return _back(of, R)
        case Order() | Window() | Sliding() | Pairs() | Agreement() | Composite():
            return None
        case _:
            assert_never(form)


def _side_by_side(S: AnyRelation, R: AnyRelation) -> Found:
    """(S₁×S₂) ∘ (R₁×R₂) = (S₁∘R₁) × (S₂∘R₂), and so for + where there are as many ways in both."""
    made: list[tuple[int, AnyRelation]] = []
    waiting: list[tuple[Any, Any, bool]] = [(S, R, False)]
    while waiting:
        outer, inner, is_ready = waiting.pop()
        kind = type(outer)
        if is_ready:
            (k, first), (n, second) = made[-2:]
            if kind is SumRelation and k != n:
                return None
            made[-2:] = [(k if kind is SumRelation else k * n, kind(first, second))]
        elif kind is type(inner) and kind in {ProductRelation, SumRelation}:
            pairs = zip(outer.sides, inner.sides, strict=True)
            waiting += [(outer, inner, True), *((one, other, False) for one, other in reversed([*pairs]))]
        else:
            found = one_relation(outer, inner)
            if found is None:
                return None
            made.append(found)
    return made[0]


def _back(g: Directed[Any, Any], R: AnyRelation) -> Found:
    """k and gᵀ∘R."""
    if isinstance(R, Full):  # one way back from each z
        return (1, Full(R.dom, g.dom)) if isinstance(g, Function) else None
    if isinstance(R, Converse) and isinstance(R.of, (Graph, Inclusion)) and isinstance(g, (Graph, Inclusion)):
        return 1, _after(R.of, g).T  # (S∘R)ᵀ = Rᵀ∘Sᵀ
    if isinstance(g, Graph) and g == R:  # an injective function, and back
        return (1, Equality(R.dom)) if _is_injective(g) else None
    if not (isinstance(g, Inclusion) and isinstance(R, Inclusion)):
        return None
    if g == R:
        return 1, Equality(R.dom)
    return (1, _overlap(R, g)) if R.stride == g.stride == 1 else None


def _is_injective(g: AnyGraph) -> bool:
    """Tell if no two elements go to one."""
    table_ = g.positions
    return table_.prepare("injective", lambda: len(np.unique(table_.array)) == len(table_.array))


def _after(g: Any, f: Any) -> Any:
    """The graph of g ∘ f."""
    if isinstance(g, Inclusion) and isinstance(f, Inclusion):
        return Inclusion(f.dom, g.cod, g.offset + g.stride * f.offset, g.stride * f.stride)
    positions = g.holds()[1][f.holds()[1]]
    return Graph(f.dom, g.cod, table(positions, derived_token(f"{_name(g)} {_name(f)}")))


def _name(f: Any) -> str:
    return f"graph {f.positions.token}" if isinstance(f, Graph) else f"run {f.offset} {f.stride}"


def _overlap(f: Inclusion[Any, Any], g: Inclusion[Any, Any]) -> AnyRelation:
    """{(x, z) : f(x) = g(z)} of two runs, which is a run where one lies in the other."""
    X, Z = f.dom, g.dom
    shift = f.offset - g.offset
    if 0 <= shift <= Z.size - X.size:
        return Inclusion(X, Z, shift)
    if 0 <= -shift <= X.size - Z.size:
        return Converse(Inclusion(Z, X, -shift))
    x = np.arange(max(0, -shift), max(0, min(X.size, Z.size - shift)))
    tables = [table(entries, derived_token(f"overlap {shift} {side}")) for side, entries in enumerate((x, x + shift))]
    return Pairs(X, Z, *tables)
