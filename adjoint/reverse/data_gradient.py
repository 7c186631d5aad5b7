"""Gradients of functions on data, as values of the user's own classes.

>>> from hilbert import R, Scalar
>>> from diff import Expr, data, term, variant
>>> from adjoint import grad
>>> @variant
... class Nothing:
...     pass
>>> @variant
... class Just:
...     value: Expr[Scalar]
>>> @term(R, data(Nothing, Just, value=R))
... def loss(missing: Expr[Scalar], m: Nothing | Just) -> Expr[Scalar]:
...     match m:
...         case Nothing():
...             return missing * missing
...         case Just(value):
...             return value * missing
>>> grad(loss)(R.vec(3.0), Just(R.vec(2.0)))
(R.vec(2.0), Just(value=R.vec(3.0)))
>>> grad(loss, 0)(R.vec(3.0), Nothing())
R.vec(6.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, ParamSpec, final, overload

from diff.datatypes.term.instance import Form
from diff.datatypes.term.term_functions import AnyTermFunction
from diff.higher import TermError
from hilbert import DirectSum, Field
from hilbert.base.once import once
from hilbert.errors import integer, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.map.map import AnyMap

P = ParamSpec("P")
Q = ParamSpec("Q")


@final
class DataGradient(Generic[P, Q]):
    """The gradient of a function on data into ℝ: see `grad` and `value_and_grad`."""

    def __init__(self, of: AnyTermFunction, wrt: int | None, made: Callable[..., Any], name: str) -> None:
        self.of, self.wrt, self._made, self._name = of, wrt, made, name

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any: ...
    @overload
    def __call__(self, *args: Q.args, **kwargs: Q.kwargs) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The gradient at these arguments, each part of the class of its argument; one alone without a tuple."""
        at = self.of.at(*args, **kwargs)
        p = at.program
        if not isinstance(p.cod, Field):
            raise TermError("type", f"{self._name} of {self.of.name}: its result is in {p.cod}, and a gradient is of ℝ")
        is_both = self._name == "value_and_grad"
        if self.wrt is None or at.positions(self.wrt):
            found = _derived(at.form, self._made, self.wrt)(*at.operands)
            value, slope = found.split() if is_both else (None, found)
        else:  # there is no vector in the argument
            value, slope = p(*at.operands) if is_both else None, DirectSum(()).zeros()
        made = at.form.value(self.wrt, slope)
        return made if value is None else (value, made)

    def __repr__(self) -> str:
        return f"{self._name}({self.of!r}{'' if self.wrt is None else f', {self.wrt}'})"


@once
def _derived(form: Form, made: Callable[..., AnyMap], k: int | None) -> AnyMap:
    """grad or value_and_grad of the program at a shape, with respect to argument k."""
    if k is None:
        return made(form.program)
    places = form.positions(k)
    return made(form.program, places[0] if len(places) == 1 else tuple(places))


def gradient_on_data(f: AnyTermFunction, wrt: Any, made: Callable[..., Any], name: str) -> Any:
    """∇f, or its part for argument `wrt`; raises TermError for what is no position of an argument."""
    k = None if wrt is None else integer(wrt)
    if wrt is not None and (k is None or not 0 <= k < len(f.kinds)):
        raise TermError("type", f"{name}(f, {shown(wrt)}): {f.name} has the arguments 0 to {len(f.kinds) - 1}")
    return DataGradient(f, k, made, name)
