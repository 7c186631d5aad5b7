"""Derivatives in the point, as terms: a program for the data, and an open net that is the linear map.

The net's data refer to slots of the program: the paper's Term(W × (V ⊸ W)) with its lets (§5). `diff.derive.affine`
makes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar, final

import numpy as np
from attrs import frozen

from diff.terms.elementwise import Elementwise
from diff.terms.program import Program
from hilbert import DirectSum, SpaceError, Type, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.base.attach import declared, overloaded
from hilbert.base.notarray import Applicable, Refusing
from hilbert.base.once import once
from hilbert.base.term import Term
from hilbert.displayed import DisplayedAsFormula
from hilbert.errors import shown
from hilbert.map.map import argument
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Add, Contract
from hilbert.program.run.run import Runner
from hilbert.space.snapshot import is_snapshot, snapshot
from linmap.net.apply import apply_net
from linmap.net.equal import Comparable
from linmap.term.datum import Data
from linmap.term.invertible import Invertible
from linmap.term.linear_map import LinMap
from linmap.term.net import Closed, Net, refs
from linmap.term.protocols import Simplifiable

if TYPE_CHECKING:
    from collections.abc import Hashable

    from diff import _calls
    from hilbert.program.line.line import Line, Step
    from linmap.laws import Rewriting as LawStep
    from linmap.net.equal import Numbering

P = TypeVar("P", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
OF_DERIVATIVES = {
    "T": "adjoint(d)",
    "H": "adjoint(d)",
    "adjoint": "adjoint(d)",
    "transpose": "adjoint(d)",
    "array": 'matrix(d.at(x), "array")',
    "matrix": "matrix(d.at(x))",
    "shape": "(d.cod.dim, d.dom.dim)",
    "jacobian": "jacobian(f, x)",
    "grad": "grad(f)(x)",
    "derivative": "derivative(d.uncurried), for d.uncurried is the function (x, dx) ↦ f'(x)(dx)",
    "compiled": "compiled(d.uncurried)",
}
"""The remedies for attributes that derivatives in the point lack."""
_OF_SUM = "write derivative(f + g), or d.at(x) + e.at(x) at a point"
_OF_MULTIPLE = "write derivative(2.0 * f), or 2.0 * d.at(x) at a point"
_OF_PARTS = "d.at(x) is the linear map at a point, matrix(d.at(x)) its matrix"
SIGNS_OF_DERIVATIVES = {
    "__mul__": ("*", _OF_MULTIPLE),
    "__rmul__": ("*", _OF_MULTIPLE),
    "__truediv__": ("/", _OF_MULTIPLE),
    "__neg__": ("-", "write derivative(-f), or -d.at(x) at a point"),
    "__add__": ("+", _OF_SUM),
    "__radd__": ("+", _OF_SUM),
    "__sub__": ("-", "write derivative(f - g), or d.at(x) - e.at(x) at a point"),
    "__matmul__": ("@", "write derivative(g @ f), or e.at(f(x)) @ d.at(x) at a point"),
    "__rmatmul__": ("@", "write derivative(g @ f), or e.at(f(x)) @ d.at(x) at a point"),
    "__pow__": ("**", "write derivative(f ** X), or d.at(x) ** X at a point"),
    "__len__": ("len()", _OF_PARTS),
    "__iter__": ("a loop over the items", _OF_PARTS),
    "__getitem__": ("the item [k]", _OF_PARTS),
}
"""The signs of operators that derivatives in the point lack, and the remedies for them."""


@final
@frozen(eq=False, repr=False)
class Linearization(DisplayedAsFormula, Term, Simplifiable, Invertible, Comparable, Refusing, Generic[P, V, W]):
    """A linear map V ⊸ W in the point of P: a program on P and an open net whose data are slots of the program."""

    _attributes: ClassVar[dict[str, str]] = OF_DERIVATIVES
    _operators: ClassVar[dict[str, tuple[str, str]]] = SIGNS_OF_DERIVATIVES
    program: Program[P, Any]
    body: Net

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.program, Program) or not isinstance(self.body, Net):
            have = f"{shown(self.program)} and {shown(self.body)}"
            msg = f"a derivative is a Program and a Net, not {have}: see derivative(f)"
            raise SpaceError(msg)
        for ref in refs(self.body):
            if not 0 <= ref.slot < len(self.program.slots) or self.program.slots[ref.slot] != ref.leaf:
                msg = f"the body refers to slot {ref.slot} of {ref.leaf}, which the program does not have"
                raise SpaceError(msg)

    @property
    def point(self) -> P:
        """The space P of the point."""
        space: P = self.program.dom
        return space

    @property
    def dom(self) -> V:
        """V."""
        space: V = self.body.dom
        return space

    @property
    def cod(self) -> W:
        """W."""
        space: W = self.body.cod
        return space

    @property
    def value(self) -> Program[P, Any]:
        """The function itself, with every intermediate result that the linear map needs."""
        return self.program

    @overloaded(lambda: _calls.Linearization_at)
    def at(self: Linearization[P, V, W], *x: Any) -> Any:
        """The linear map at a point: runs the steps that the body needs, and closes the body with the data found."""
        for point in x:
            if isinstance(point, Applicable):
                msg = (
                    "a derivative at an expression is no linear map yet: in a traced function write jvp(f)(x, dx), or "
                )
                raise SpaceError(f"{msg}vjp(f)(x, dy) for its adjoint")
        return self._closed(argument(self.program, x), ())[1]

    __call__ = at  # f'(x)

    def run(self, x: Vec[P]) -> tuple[Vec[Any], LinMap[V, W]]:
        """The value and the linear map at a point."""
        arrays, linear = self._closed(x, self.program.outputs)
        return Vec(self.program.cod, tuple(arrays)), linear

    def _closed(self, x: Vec[P], outputs: tuple[int, ...]) -> tuple[list[Any], LinMap[V, W]]:
        """The arrays of some slots at a point, and the linear map."""
        found, n = refs(self.body), len(outputs)
        x = snapshot(x) if self._holds_arguments else x
        arrays = list(map(freeze, self._compiled(outputs).run(x.leaves)))
        is_written = not is_snapshot(x) and all(isinstance(a, (np.ndarray, np.generic)) for a in (*x.leaves, *arrays))
        token = x.token if is_written else snapshot(x).token
        data = Data.found(arrays[n:], found, self.program, token, is_written=is_written)
        return arrays[:n], Closed(self.body, data)

    @property
    @once
    def _holds_arguments(self) -> bool:
        """Tell if a datum or a value may have the memory of an array of the point."""
        line = self.program.line
        has = [True] * line.arity
        for step in line.steps:
            has.append(any(has[k] for k in step.args) and not _is_new(step, line))
        return any(has[k] for k in (*self.program.outputs, *[ref.slot for ref in refs(self.body)]))

    @once
    def _compiled(self, outputs: tuple[int, ...]) -> Runner:
        return Runner(self.program.line.ending((*outputs, *[ref.slot for ref in refs(self.body)])))

    @property
    @once
    def uncurried(self) -> Program[DirectSum[P, V], W]:
        """P ⊕ V → W, (x, dx) ↦ f'(x)(dx), a function of the language: it differentiates again."""
        dom = DirectSum((self.point, self.dom))
        b = Builder(dom.leaves, fold=True)
        n = len(self.point.leaves)
        where = b.inline(self.program.line, range(n))
        outputs = apply_net(b, self.body, range(n, b.arity), dict(enumerate(where)))
        x = self.program.names[0] if len(self.program.names) == 1 else "x"
        names = (x, f"d{x}" if self.dom == self.point.tangent else "dy")
        return Program.of(b, dom, outputs, self.cod, names)

    @declared
    def label(self, numbering: Numbering) -> Hashable:
        """The contents of the program and the body, for `equal`."""
        raise NotImplementedError

    @declared
    def simplified(self, steps: list[LawStep] | None = None) -> Linearization[P, V, W]:
        """The laws on the body; two element-wise sections in a row become one, whose datum is one more step."""
        raise NotImplementedError

    @declared
    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"Linearization({self.program!r}, {self.body!r})"


AnyLinearization: TypeAlias = Linearization[Any, Any, Any]
"""A linear map between any spaces, in the point of any type."""
Derivative: TypeAlias = Linearization[V, V, W]
"""f' : V → (V ⊸ W), in the point."""
shown.register(Linearization, lambda f: f"a linear map {f.dom} ⊸ {f.cod} in the point of {f.point}")


def _is_new(step: Step[Any], line: Line) -> bool:
    """Tell if a step never gives a view of an operand: a condition may let a whole array through, a primitive too."""
    match step.operation:
        case Contract():
            return all(line.slots[k].is_field for k in step.args)
        case Elementwise() as primitive:
            return primitive.rule.fresh
        case Add():
            return True
        case _:  # one question: no other step is known to make an array of its own
            return False
