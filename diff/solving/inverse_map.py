"""The inverse of a linear map, or of a derivative in the point, as a term of the same kind.

A net for it has one arc, which undoes the net of the map. So it has an adjoint, (A⁻¹)* = (A*)⁻¹, and derivatives in
what A is made of: (A⁻¹)' = −A⁻¹ A' A⁻¹.

>>> from hilbert import Fin, R
>>> from linmap import identity, rep, total
>>> X = Fin.of(3)
>>> A = 2.0 * identity(R**X) + rep(X) @ total(X)
>>> print(inverted(A), inverted(A)((R**X).ones()).array.round(12).tolist())
((2 ·) + rep•Σ)⁻¹ [0.2, 0.2, 0.2]

"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import evolve, frozen

from diff.derive.equation_derivative import undone
from diff.terms.linearization import AnyLinearization, Linearization
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, SpaceError, Vec
from hilbert.arrays.kernels.library import Arrays
from hilbert.arrays.systems.methods import require_method
from hilbert.base.once import once
from hilbert.index.leaf import Bundle
from hilbert.program.line.builder import Builder
from hilbert.space.space import type_of
from linmap.matrices.made.matrix_plans import data_of
from linmap.matrices.structure.structure import body_of, positive
from linmap.net.lower import transposed
from linmap.term import wire
from linmap.term.datum import Data, Ref
from linmap.term.linear_map import AnyLinMap
from linmap.term.net import Arc, Closed, Net, refs
from linmap.term.nodes import Compose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hilbert.arrays.systems.methods import By, Method
    from hilbert.index.leaf import Leaf


def inverted(f: AnyLinMap | AnyLinearization, how: Method | None = None) -> Any:
    """f⁻¹ : W ⊸ V of f : V ⊸ W; of a derivative in the point that in the point. `how` is a method, if not the quickest.

    Raises SpaceError where V and W have different dimensions. A singular map is an error where the inverse is applied.
    """
    require_square(f, "inverse")
    require_method(how, "inverse")
    return _inverse(f, how)


def solved(f: AnyLinMap | AnyLinearization, b: Any = None, how: Method | None = None) -> Any:
    """f⁻¹ b; of a derivative in the point, the function (x, b) ↦ f(x)⁻¹ b. Raises SpaceError as `inverted` does."""
    require_square(f, "solve")
    require_method(how, "solve")
    return solution(f, b, "solve", how)


def solution(f: AnyLinMap | AnyLinearization, b: Any, what: str, by: By | None = None) -> Any:
    """The solution of a square system, as `solved`; the way to solve is searched for, or told `by` its name."""
    if isinstance(f, Linearization):
        if b is not None:
            way = f"{what}(d)(x, b) is at the point x, or {what}(d.at(x), b)"
            msg = f"{what}(d, b) of a derivative d in the point: {way}"
            raise SpaceError(msg)
        p = _inverse(f, by).uncurried
        return Program(p.dom, p.cod, p.line, (p.names[0], "b"))
    if b is None:
        hint = "; inverse(A) is the linear map b ↦ A⁻¹b" if what == "solve" else ""
        msg = f"{what}(A, b) takes the right side b, too{hint}"
        raise SpaceError(msg)
    return _inverse(f, by)(b)


def _inverse(f: AnyLinMap | AnyLinearization, by: By | None = None) -> Any:
    if isinstance(f, Linearization):
        return _of_derivative(f, by)
    body, proved = body_of(f, "inverse"), positive(f)
    if not refs(body):
        return Closed(_of_constants(body, by, proved), Data(()))
    of = _of_net(body, by, proved)
    return of.at(Vec(of.point, tuple(arrays_of(f, "inverse"))))


def fitted(f: AnyLinMap | AnyLinearization, b: Any = None, how: Method | None = None) -> Any:
    """The x for which |f(x) − b| is least, by the structure of f* f, and once more for what is left.

    `how` is a method for f* f, if not the quickest. Raises SpaceError for a derivative in the point, and where f* f is
    singular.
    """
    if isinstance(f, Linearization) or b is None:
        msg = "lstsq(A, b) takes a linear map at a point, such as d.at(x) of a derivative d, and a right side"
        raise SpaceError(msg)
    require_method(how, "lstsq")
    back = transposed(f)
    square = inverted(Compose([f, back]), how)
    x = square(back(b))
    return x + square(back(b - f(x)))


def require_square(f: AnyLinMap | AnyLinearization, what: str) -> None:
    """Raise SpaceError unless a linear map has as many equations as unknowns."""
    if f.dom.dim != f.cod.dim:
        msg = f"{what} is of a map with as many equations as unknowns, not of one from {f.dom} to {f.cod}"
        raise SpaceError(msg + _in_one_argument(f))


def _in_one_argument(f: AnyLinMap | AnyLinearization) -> str:
    """The end of an error for a derivative in several arguments, one of which has as many unknowns; otherwise empty."""
    found = [k for k, part in enumerate(f.dom.parts) if part.dim == f.cod.dim]
    if not isinstance(f, Linearization) or f.dom.names is not None or not found:
        return ""
    ways = " or ".join(f"derivative(f, wrt={k})" for k in found)
    return f"; write {ways} for the unknowns in one argument of f alone"


def arrays_of(f: AnyLinMap, what: str) -> list[Any]:
    """The arrays that the data of a closed map are made of; raises SpaceError for an open map."""
    return [a for array in data_of(f, what) for a in (array.parts if isinstance(array, Arrays) else (array,))]


@once
def _of_derivative(d: AnyLinearization, by: By | None) -> AnyLinearization:
    return _in_the_point(Site.of_derivative(d), d.body, by, proved=positive(d))


@once
def _of_net(body: Net, by: By | None, proved: bool) -> AnyLinearization:  # noqa: FBT001 - see once
    return _in_the_point(Site.of_net(body), body, by, proved=proved)


@once
def _of_constants(body: Net, by: By | None, proved: bool) -> Net:  # noqa: FBT001 - see once
    return _net(body, undone(Builder([]), body, {}, by, positive=proved))


@final
@frozen(eq=False)
class Site:
    """A line under construction in which the data of a net stand: the space of its inputs, and slots.

    `values` are the slots of the value of a function into `cod`, `data` has those that the references of the net mean.
    """

    b: Builder
    dom: Any
    cod: Any
    names: tuple[str, ...]
    values: Sequence[int]
    data: dict[int, int]

    @staticmethod
    def of_derivative(d: AnyLinearization) -> Site:
        """The value of a function, and the data of its derivative."""
        p, read = d.program, [ref.slot for ref in refs(d.body)]
        b = Builder(p.line.slots[: p.arity], fixed=p.line.fixed)
        value = p.line.ending([*p.outputs, *read])
        where = b.inline(value, range(b.arity))
        ends = [where[k] for k in value.outputs]
        n = len(p.outputs)
        return Site(b, p.dom, p.cod, p.names, ends[:n], dict(zip(read, ends[n:], strict=True)))

    @staticmethod
    def of_net(body: Net) -> Site:
        """The arrays of the data as inputs, which are the value, too."""
        found = refs(body)
        leaves = [leaf for ref in found for leaf in _leaves(ref.leaf)]
        b, start, data = Builder(leaves), 0, dict[int, int]()
        for ref in found:
            count = len(_leaves(ref.leaf))
            data[ref.slot] = b.pack(range(start, start + count)) if isinstance(ref.leaf, Bundle) else start
            start += count
        spaces = tuple(map(type_of, leaves))
        dom: Any = spaces[0] if len(spaces) == 1 else DirectSum(spaces)
        return Site(b, dom, dom, (), range(len(leaves)), data)


def _leaves(leaf: Leaf) -> tuple[Leaf, ...]:
    return leaf.leaves if isinstance(leaf, Bundle) else (leaf,)


def _in_the_point(site: Site, body: Net, by: By | None, *, proved: bool) -> AnyLinearization:
    """The inverse of a net, in the point at which its data are found."""
    arc = undone(site.b, body, site.data, by, positive=proved)
    datum = [arc.datum.slot] if isinstance(arc.datum, Ref) else []
    line = site.b.line([*site.values, *datum])
    arc = evolve(arc, datum=Ref(line.outputs[-1], arc.datum.leaf)) if datum else arc
    value: AnyProgram = Program(site.dom, site.cod, evolve(line, outputs=line.outputs[: len(site.values)]), site.names)
    return Linearization(value, _net(body, arc))


def _net(body: Net, arc: wire.Inverse) -> Net:
    """The net from the outputs of a body to its inputs, by an arc that undoes the body."""
    given, made = arc.given.leaves, arc.made.leaves
    n = len(given)
    arcs = [Arc(wire.Into(k, arc.given), k, n) for k in range(n)]
    arcs += [Arc(arc, n, n + 1), *(Arc(wire.OutOf(k), n + 1, n + 2 + k) for k in range(len(made)))]
    wires = (*given, arc.given, arc.made, *made)
    return Net(body.cod, body.dom, tuple(range(n)), tuple(arcs), tuple(range(n + 2, len(wires))), wires)
