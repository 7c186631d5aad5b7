"""Copowers of functions, with shared arguments: f ** X and lift(f, X) (paper §4, data parallelism).

The steps themselves are lifted in `hilbert.program.transform.lifted_line`.

Since ∘, Π, linear maps and bilinear maps all commute with (·)^X, the copower is pushed to the leaves: a lifted program
has the steps of the program, on arrays with more axes. A slot that does not depend on the lifted arguments is computed
once; a contraction reads it as it is, and only where arrays must have the same axes is it replicated (a view).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from diff.terms.nodes import Lift
from diff.terms.planned_program import derived
from diff.terms.program import AnyProgram, Program
from hilbert import Copower, DirectSum, Index, SpaceError, Type
from hilbert.base.attach import overloaded
from hilbert.base.once import once
from hilbert.errors import integer, shown, written
from hilbert.index.index import require_index
from hilbert.map.map import AnyMap, require_map
from hilbert.program.line.builder import Builder
from hilbert.program.transform.lifted_line import lifted_line
from hilbert.space.direct_sum import Biproduct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff import _calls


@overloaded(lambda: _calls.lift)
@written("lift(f, X), or f ** X for f of one argument")
def lift(f: AnyMap, X: Index, *, over: Sequence[int] | None = None) -> AnyMap:
    """f : A ⊕ B → W with the parameters A shared by all of X and the data B varying: A ⊕ B^X → W^X.

    `over` names the positions that vary, from 0, where there are not just two. Raises SpaceError for a domain that is
    no direct sum (of a record, too, f ** X lifts f in its one argument) and for positions that do not exist.
    """
    require_map(f, "lift(f, X)")
    require_index(X, "lift(f, X)")
    parts = f.dom.parts if isinstance(f.dom, DirectSum) else ()
    if over is None:
        if len(parts) != 2:  # parameters and data
            name = "name the positions that vary by over=(…)" if parts else "write f ** X"
            msg = f"lift(f, X) takes f : A ⊕ B → W, not one on {f.dom}: {name}"
            raise SpaceError(msg)
        over = (1,)
    found = positions(f.dom, over)
    if isinstance(f, Program) and f.backend is not None:
        return f.alike(lift_program(f, X, found))
    return Lift(f, X, found)


def positions(dom: Type, over: Any) -> tuple[int, ...]:
    """The parts of a domain that vary, in order; raises SpaceError for what is no tuple of different positions."""
    parts = dom.parts if isinstance(dom, DirectSum) else ()
    given = [integer(k) for k in over] if isinstance(over, (tuple, list, range)) else []
    found = sorted({k for k in given if k is not None and 0 <= k < len(parts)})
    if not found or len(found) != len(given):
        alone = "it is no direct sum; f ** X lifts f in its one argument"
        due = f"give some of the positions 0 to {len(parts) - 1}, as in over=(0,)" if parts else alone
        msg = f"over={over if isinstance(over, (int, tuple)) else shown(over)} does not name parts of {dom}: {due}"
        raise SpaceError(msg)
    return tuple(found)


@once
def lift_program(p: AnyProgram, X: Index, over: tuple[int, ...]) -> AnyProgram:
    """The program on lifted leaves; parts of the domain that are not in `over` are shared.

    An order that was planned for one element need not be good for all: see `diff.terms.planned_program.derived`.
    """
    return _on_leaves(p, X, over) if p.written is None else derived(p, lambda q: _on_leaves(q, X, over))


def _on_leaves(p: AnyProgram, X: Index, over: tuple[int, ...]) -> AnyProgram:
    parts = p.dom.parts
    up = [k in over for k, part in enumerate(parts) for _ in part.leaves]
    spaces = tuple(Copower(part, X) if k in over else part for k, part in enumerate(parts))
    dom: Type = DirectSum(spaces) if isinstance(p.dom, Biproduct) else spaces[0]
    return _lifted(p, X, up, dom)


def _lifted(p: AnyProgram, X: Index, up: list[bool], dom: Type) -> AnyProgram:
    b = Builder(dom.leaves, fixed=p.line.fixed)
    outputs, varies = lifted_line(b, p.line, X.axes, range(b.arity), up)
    slots = (k if up else b.rep(k, X.axes) for k, up in zip(outputs, varies, strict=True))
    return Program.of(b, dom, slots, Copower(p.cod, X), p.names)
