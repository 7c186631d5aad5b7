"""ℝ^{Q×K}, (ℝ^K)^Q and ℝ^Q ⊗ ℝ^K hold one array: what is lifted over Q takes each, and gives its own form back.

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
from hilbert.map.map import AnyMap, Map
from hilbert.space.direct_sum import DirectSum
from hilbert.space.space import Copower, Field, TensorProduct, Type, power
from hilbert.space.vector import Vec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.index.index import Index


def with_tables(f: AnyMap, X: Index, args: tuple[Any, ...], over: Sequence[int]) -> Any:
    """f, which is lifted over X at the positions `over`, at arguments, of which these may be tables."""
    given, form = _regrouped(args, f.dom, over, X)
    value = Map.__call__(f, *given)
    return value if form is None else formed(value, form, X)


def _regrouped(args: Sequence[Any], dom: Type, over: Sequence[int], X: Index) -> tuple[list[Any], Type | None]:
    """The arguments in the forms that are due at the positions that vary, and the form of the first of them.

    None where it is the one that is due.
    """
    parts = dom.parts if isinstance(dom, DirectSum) and len(args) == len(dom.parts) else (dom,)
    if len(parts) != len(args):
        return list(args), None
    found, forms = list(args), list[Type | None]()
    for k in over if len(parts) > 1 else (0,):
        arg, due = args[k], parts[k]
        if isinstance(arg, (Vec, Applicable)) and arg.space != due and _is_table(arg.space, due, X):
            forms.append(arg.space)
            found[k] = arg._within(due)
        else:
            forms.append(None)
    return found, forms[0] if forms else None


def _is_table(space: Type, due: Type, X: Index) -> bool:
    """Whether a space of one array holds what V^X does, in other brackets."""
    if len(due.leaves) != 1 or space.leaves != due.leaves or not space.is_space:
        return False
    match space:
        case Copower(_, _):
            return True
        case TensorProduct(Copower(Field(), index), _):
            return bool(index == X)
        case _:  # no table
            return False


def formed(value: Any, form: Type, X: Index) -> Any:
    """A value in W^X in the form of an argument: in ℝ^{X×Y} or ℝ^X ⊗ ℝ^Y for W = ℝ^Y; the same for other W."""
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
