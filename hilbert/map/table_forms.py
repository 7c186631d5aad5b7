"""ℝ^{Q×K}, (ℝ^K)^Q and ℝ^Q ⊗ ℝ^K hold one array: maps lifted over Q take each of them, and give the same form back.

>>> import hilbert.all as hb
>>> Q, K = hb.Fin.of(2), hb.Fin.of(3)
>>> doubled = hb.fun(hb.R ** K)(lambda x: 2.0 * x)
>>> A = (hb.R ** (Q * K)).ones()
>>> (doubled ** Q)(A).space, (doubled ** Q)(hb.curry(A.space)(A)).space
(R ** (Fin.of(2) * Fin.of(3)), (R ** Fin.of(3)) ** Fin.of(2))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hilbert.base.notarray import Applicable
from hilbert.errors import SpaceError
from hilbert.index.index import Product
from hilbert.map.map import AnyMap, Map
from hilbert.space.direct_sum import DirectSum
from hilbert.space.space import Copower, Field, TensorProduct, Type, power
from hilbert.space.vector import Vec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.index import Index


def with_tables(f: AnyMap, X: Index, args: tuple[Any, ...], over: Sequence[int]) -> Any:
    """Apply f, which is lifted over X at the positions `over`, to arguments, of which the lifted ones may be tables."""
    if len(args) == 1 and type(args[0]) is Vec:
        dom, _, applied = f._ready()
        if args[0].space is dom or _is_power(args[0].space, dom):  # most often
            return applied(args[0].leaves)
    dom = f._ready()[0] if Vec in map(type, args) else f.dom  # known since the first call, where vectors are given
    parts = dom.parts if isinstance(dom, DirectSum) and len(args) == len(dom.parts) else (dom,)
    at = over if len(parts) > 1 else (0,)
    if len(parts) != len(args) or all(_is_due(args[k], parts[k]) for k in at):
        return Map.__call__(f, *args)
    forms = [arg.space if k in at and _is_table(arg, parts[k], X) else None for k, arg in enumerate(args)]
    given = (arg if form is None else arg._within(due) for arg, form, due in zip(args, forms, parts, strict=True))
    value, form = Map.__call__(f, *given), forms[at[0]]
    return value if form is None else formed(value, form, X)


def _is_power(space: Type, due: Type) -> bool:
    """Tell if two spaces are V^X of the same objects V and X."""
    if isinstance(space, Copower) and isinstance(due, Copower):
        return space.base is due.base and space.index is due.index
    return False


def _is_due(arg: Any, due: Type) -> bool:
    """Tell if an argument is in the space that is due."""
    return isinstance(arg, (Vec, Applicable)) and bool(_is_power(arg.space, due) or arg.space == due)


def _is_table(arg: Any, due: Type, X: Index) -> bool:
    """Tell if an argument of one array holds the entries of an element of V^X, in other brackets."""
    if not isinstance(arg, (Vec, Applicable)):
        return False
    space = arg.space
    if len(due.leaves) != 1 or space.leaves != due.leaves or not space.is_space or space == due:
        return False
    match space:
        case Copower(_, _):
            return True
        case TensorProduct(Copower(Field(), index), _):
            return bool(index == X)
        case _:  # no table
            return False


def of_columns(f: AnyMap, x: Any) -> Any:
    """The values of f : ℝ^X → ℝ^Y at the columns of x in ℝ^{X×Z} or (ℝ^Z)^X, in the same form; None for another x."""
    if not isinstance(x, (Vec, Applicable)) or not isinstance(x.space, Copower) or x.space is f.dom:
        return None
    dom, cod, form = f.dom, f.cod, x.space
    if not isinstance(dom, Copower) or not isinstance(dom.base, Field) or form == dom:
        return None
    match form:
        case Copower(Field() as field, Product(X, Z)) if dom.index == X and field == dom.base:
            table: Any = x
        case Copower(Copower(Field() as field, Z), X) if dom.index == X and field == dom.base:
            table = x._within(Copower(field, X * Z))
        case _:  # no table whose columns are in the domain
            return None
    if not isinstance(cod, Field) and not (isinstance(cod, Copower) and isinstance(cod.base, Field)):
        msg = f"A : {dom} → {cod} does not apply to the columns of {form}: its values are no vectors of one array; "
        raise SpaceError(f"{msg}A ** {Z} is A for each row of the transposed table")
    values = (f**Z)(table.T._within(Copower(dom, Z)))
    if isinstance(cod, Field):
        return values
    made = values._within(Copower(cod.base, Z * cod.index)).T
    return made if isinstance(form.base, Field) else made._within(Copower(Copower(cod.base, Z), cod.index))


def formed(value: Any, form: Type, X: Index) -> Any:
    """A value in W^X in the form of an argument: in ℝ^{X×Y} or ℝ^X ⊗ ℝ^Y for W = ℝ^Y; unchanged for other W."""
    base = value.space.base
    if not isinstance(base, Copower) or not isinstance(base.base, Field):
        return value
    if isinstance(form, TensorProduct):
        space: Type = TensorProduct(power(base.base, X), base)
    elif isinstance(form, Copower) and isinstance(form.base, Field):
        space = Copower(base.base, X * base.index)
    else:
        return value
    return value._within(space)
