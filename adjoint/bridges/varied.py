"""A function of what varies: the leaves of a domain that `wrt` names come first, the others follow as data.

>>> from diff import fun
>>> from hilbert import Fin, R
>>> X = R ** Fin.of(2)
>>> f = fun(R, X)(lambda t, x: t * x)
>>> found = varied(f, 1)
>>> found.space, found.others, found.program.dom
(R ** Fin.of(2), (R,), direct_sum(R ** Fin.of(2), R))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from diff.compiled.own_runner import OwnRunner
from diff.derive.varying_parts import Wrt, located, positions
from diff.terms.lower import program
from diff.terms.program import AnyProgram, Program
from hilbert import DirectSum, Lens, SpaceError, Type, Vec
from hilbert.base.once import once
from hilbert.map.map import AnyMap
from hilbert.program.line.builder import Builder
from hilbert.space.space import type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.derive.varying_parts import Chosen


@final
@frozen
class Varied:
    """A function of the space that varies, and then of each leaf of the data: f itself, where nothing is data.

    `place` is the position of what varies among the arguments of f, `others` are the spaces of the other arguments;
    None where a part of an argument varies alone. `fixed` are the leaves of the data, by number among those of f.
    """

    program: AnyMap
    space: Type
    fixed: tuple[int, ...]
    place: int
    others: tuple[Type, ...] | None

    @property
    def wrt(self) -> Any:
        """The position of the part that varies, 0 or None, as derivatives of the program take it."""
        return 0 if self.fixed else None

    def data(self, f: AnyMap, given: Sequence[Any], call: str) -> list[Any]:
        """The arrays of the data: of a vector for each other argument, or of a point of all; SpaceError for others."""
        if self.fixed and len(given) == 1 and isinstance(given[0], Vec) and given[0].space == f.dom:
            return [given[0].leaves[k] for k in self.fixed]
        if self.others is None or len(given) != len(self.others):
            due = self._due(f)
            msg = f"{call} for f : {f.dom} → {f.cod} takes {due}, not {len(given)} arguments"
            raise SpaceError(msg)
        return [a for part, item in zip(self.others, given, strict=True) for a in part.vec(item).leaves]

    def _due(self, f: AnyMap) -> str:
        if not self.fixed:
            return "no data, as all arguments vary: name those that do by wrt="
        point = f"a vector of {f.dom} that has what does not vary"
        return point if self.others is None else f"as data {', '.join(map(str, self.others))}, or {point}"


def varied(f: AnyMap, wrt: Wrt) -> Varied:
    """The function with what varies first. Raises SpaceError for parts that do not exist, or are discrete."""
    _require_arguments(f.dom, wrt)
    chosen = positions(f.dom, wrt)
    if isinstance(f, OwnRunner):
        found = _varied(f.map, chosen)
        own = f.alike(program(found.program))
        return Varied(own, found.space, found.fixed, found.place, found.others)
    return _varied(f, chosen)


def _require_arguments(dom: Type, wrt: Any) -> None:
    """Raise SpaceError for a lens of a record that is one of several arguments: arguments are named by positions."""
    if not dom.is_sum or dom.names:
        return
    for lens in wrt if isinstance(wrt, (tuple, list)) else (wrt,):
        owner = lens.path[0][0] if isinstance(lens, Lens) else ()
        at = next((k for k, part in enumerate(dom.parts) if isinstance(part, owner)), None)
        if at is not None:
            call = ", ".join(f"const(p).replace({lens}, w)" if k == at else f"y{k}" for k in range(len(dom.parts)))
            msg = f"{lens} is a part of argument {at}, and of several arguments wrt names one by position: wrt={at} "
            raise SpaceError(f"{msg}varies all of that record; for the part alone write fun(W)(lambda w: f({call}))")


@once
def _varied(f: AnyMap, chosen: Chosen) -> Varied:
    dom = f.dom
    if chosen is None:
        _require_real(dom, dom)
        return Varied(f, dom, (), 0, ())
    each = [located(dom, one) for one in (chosen if isinstance(chosen, tuple) else (chosen,))]
    space = DirectSum(tuple(part for part, _, _ in each)) if isinstance(chosen, tuple) else each[0][0]
    _require_real(space, dom)
    first = [k for _, start, stop in each for k in range(start, stop)]
    fixed = [k for k in range(len(dom.leaves)) if k not in set(first)]
    if not fixed:
        return Varied(f, dom, (), 0, ()) if first == list(range(len(first))) and space == dom else _all(f, space, first)
    p = program(f)
    p = p.written or p
    kinds = [type_of(dom.leaves[k]) for k in fixed]
    moved = _permuted(p, DirectSum((space, *kinds)), [*first, *fixed])
    return Varied(moved, space, tuple(fixed), *_others(dom, first))


def _all(f: AnyMap, space: Type, order: Sequence[int]) -> Varied:
    """All of the domain varies, as another space or in another order."""
    p = program(f)
    return Varied(_permuted(p.written or p, space, order), space, (), 0, ())


def _permuted(p: AnyProgram, dom: Type, order: Sequence[int]) -> AnyProgram:
    """The program on other slots: slot k of the new domain is slot order[k] of the old."""
    b = Builder(dom.leaves)
    place = {slot: k for k, slot in enumerate(order)}
    where = b.inline(p.line, [place[k] for k in range(p.arity)])
    return Program.of(b, dom, [where[k] for k in p.outputs], p.cod)


def _others(dom: Type, first: Sequence[int]) -> tuple[int, tuple[Type, ...] | None]:
    """The place of what varies among the arguments, and the spaces of the arguments that do not; None if one is cut."""
    place: int | None = None
    others: list[Type] = []
    start, seen = 0, set(first)
    for part in dom.parts if isinstance(dom, DirectSum) else ():
        mine = set(range(start, start := start + len(part.leaves)))
        if mine and mine <= seen:
            place = len(others) if place is None else place
        elif mine & seen:
            return 0, None
        else:
            others.append(part)
    return (0, None) if place is None else (place, tuple(others))


def _require_real(space: Type, dom: Type) -> None:
    if not space.is_space:
        msg = f"as_scipy of a function on {dom}: {space} has a discrete part, and a flat array is of real numbers: "
        raise SpaceError(f"{msg}name the real parts by wrt=, and give the others as data")


def retyped(p: AnyProgram, dom: Type) -> AnyProgram:
    """The program on a domain with the same leaves."""
    return Program(dom, p.cod, p.line)
