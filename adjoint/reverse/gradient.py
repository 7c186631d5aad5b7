"""Gradients as functions of the language (paper §6.1, Prop. 6.4): ∇f(v) = (f'(v))*(1), one application of the adjoint.

>>> from hilbert import R
>>> from diff import fun, sin
>>> f = fun(R)(lambda x: x * sin(x))
>>> df = grad(f)
>>> round(float(df(R.vec(2.0))), 12), round(float(grad(df)(R.vec(2.0))), 12)
(0.077003753731, -2.650888526746)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from adjoint.reverse.wrt import takes_wrt
from diff import program
from diff.compiled.own_runner import keeps_runner
from diff.derive.affine import linearized
from diff.derive.partial_derivative import restricted
from diff.derive.varying_parts import Chosen, Wrt, part, positions
from diff.terms.function import OnData
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, Field, SpaceError
from hilbert.base.attach import overloaded
from hilbert.base.once import once
from hilbert.map.map import AnyMap, require_map
from hilbert.program.line.builder import Builder
from linmap.net.apply import apply_net
from linmap.term.net import turned

if TYPE_CHECKING:
    from adjoint import _calls


@overloaded(lambda: _calls.grad)
@takes_wrt
@keeps_runner
def grad(f: Any, wrt: Wrt = None) -> Any:
    """∇f : V → V of f : V → K, or its part at position or lens `wrt`; the gradient in a discrete part is in 0.

    Several, `grad(f, (0, 2))`, give the direct sum of these parts. Of a function on data it takes the arguments, and
    gives values of their classes; `wrt` is an argument's position. Raises SpaceError for a map that is not
    scalar-valued, or a part that does not exist.
    """
    if isinstance(f, OnData):
        return f._gradient(wrt, grad, "grad")
    return _gradient(*_scalar(f, wrt, "grad"))


@overloaded(lambda: _calls.value_and_grad)
@takes_wrt
@keeps_runner
def value_and_grad(f: Any, wrt: Wrt = None) -> Any:
    """V → K ⊕ V, x ↦ (f x, ∇f(x)), sharing what both need; `wrt` and errors as for `grad`."""
    if isinstance(f, OnData):
        return f._gradient(wrt, value_and_grad, "value_and_grad")
    return _with_value(*_scalar(f, wrt, "value_and_grad"))


@overloaded(lambda: _calls.hvp)
@takes_wrt
@keeps_runner
def hvp(f: AnyMap, wrt: Wrt = None) -> AnyProgram:
    """V ⊕ V → V, (x, v) ↦ ∇²f(x)·v, the derivative of the gradient of f : V → K in the direction v; no matrix is made.

    Of f(x, y) it is called as `hvp(f)(x, y, v, w)`. `wrt` takes one part of V, or several, for v and the result. Raises
    SpaceError for a map that is not scalar-valued, or a part that does not exist.
    """
    return _hvp(*_scalar(f, wrt, "hvp"))


@once
def _hvp(p: AnyProgram, chosen: Chosen) -> AnyProgram:
    def curvature(q: AnyProgram) -> AnyProgram:
        found: AnyProgram = restricted(linearized(_built(q, chosen, with_value=False)), chosen).uncurried
        return evolve(found, names=(found.names[0], "v"))

    return derived(p, curvature)


def of_scalar(f: AnyMap, wrt: Wrt) -> AnyProgram:
    """∇f of a map into ℝ, whose second derivative is the Jacobian of this; SpaceError for others."""
    return _gradient(*_scalar(f, wrt, "grad"))


def _scalar(f: AnyMap, wrt: Wrt, name: str) -> tuple[AnyProgram, Chosen]:
    """The program of a scalar-valued map, and the parts that vary; SpaceError for others."""
    require_map(f, name)
    chosen = positions(f.dom, wrt)
    if not isinstance(f.cod, Field):
        msg = f"the gradient is of a scalar-valued map, not of f : {f.dom} → {f.cod}; see jacobian and vjp"
        raise SpaceError(msg)
    return program(f), chosen


@once
def _gradient(p: AnyProgram, chosen: Chosen) -> AnyProgram:
    return derived(p, lambda q: _built(q, chosen, with_value=False))


@once
def _with_value(p: AnyProgram, chosen: Chosen) -> AnyProgram:
    return derived(p, lambda q: _built(q, chosen, with_value=True))


def _built(f: AnyProgram, chosen: Chosen, *, with_value: bool) -> AnyProgram:
    d = linearized(f)
    p, body = d.program, turned(d.body)
    b = Builder(p.slots[: p.arity], fold=True)
    where = b.inline(p.line, range(b.arity))
    one = b.number(1.0, f.cod.leaves[0])
    whole = apply_net(b, body, [one], dict(enumerate(where)))
    space, leaves = part(f.dom, chosen)
    outputs = [whole[k] for k in leaves]
    if not with_value:
        return Program.of(b, f.dom, outputs, space, p.names)
    return Program.of(b, f.dom, [*(where[k] for k in p.outputs), *outputs], DirectSum((f.cod, space)), p.names)
