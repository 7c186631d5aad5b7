"""Terms to programs: every intermediate result is a slot, computed once; copowers are pushed to the leaves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar, assert_never, cast, overload

from diff.terms.elementwise import Elementwise
from diff.terms.lift import lift_program
from diff.terms.nodes import Bilinear, Compose, Constant, Fork, Lift, Node, Parallel, Power, Scaled, Sum
from diff.terms.planned_program import reordered
from diff.terms.program import AnyProgram, Program
from hilbert import Map, SpaceError, Type
from hilbert.base.once import once
from hilbert.base.term import driven
from hilbert.errors import written
from hilbert.map.map import AnyMap, require_map
from hilbert.program.line.builder import Builder
from hilbert.program.line.constant import filled
from linmap.net.apply import apply_net
from linmap.net.lower import net
from linmap.term import wire
from linmap.term.datum import constants
from linmap.term.linear_map import LinMap

if TYPE_CHECKING:
    from collections.abc import Generator

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Slots = tuple[int, ...]


class Shaped(ABC):
    """A function on data: for arguments of each shape it is a function of the library."""

    as_map = "a function on data is one for arguments of one shape, program(f, at=…)"

    @abstractmethod
    def program_at(self, at: Any) -> AnyProgram:
        """The program for all arguments of the shape of these: one value, or a tuple of as many as it takes."""


@overload
def program(f: Map[V, W]) -> Program[V, W]: ...
@overload
def program(f: Shaped, *, at: Any) -> AnyProgram: ...
@written("program(f) of a map, and program(f, at=(v, w)) of a function on data")
def program(f: Any, *, at: Any = None) -> Any:
    """The straight-line program of a function, made once for each term.

    Of a function on data it is that for all arguments of the shape of `at`, on the vectors in them from left to right;
    `at` is one value, or a tuple of all arguments. Raises SpaceError where one is due and not given.
    """
    if isinstance(f, Program):
        return f
    if isinstance(f, Shaped):
        if at is None:
            raise SpaceError(
                "program(f) of a function on data is for arguments of one shape: write program(f, at=value)"
            )
        return f.program_at(at)
    require_map(f, "program")
    return _lowered(f)


def planned(f: Map[V, W]) -> Program[V, W]:
    """The program of a function, its contractions in the order in which they are run, made once for each term.

    Another order than the written one is taken where that saves a quarter of the multiplications and makes no array
    larger than the largest operand, result or intermediate array as written; otherwise the steps are those of
    `program(f)`. Sums of terms, primitives, casts, masks and `kept` values are never crossed.
    """
    require_map(f, "planned")
    return reordered(program(f))


@once
def _lowered(f: Map[V, W]) -> Program[V, W]:
    b = Builder(f.dom.leaves)
    outputs = driven(_lower(b, f, tuple(range(b.arity)), {}))
    return Program.of(b, f.dom, outputs, f.cod, _names(f))


def _names(f: AnyMap) -> tuple[str, ...]:
    """The names of the arguments, for printing, where a traced function comes first."""
    while isinstance(f, (Compose, Lift)):
        f = f.of if isinstance(f, Lift) else f.parts[0]
    return f.names if isinstance(f, Program) else ()


Known = dict[tuple[int, Slots], Slots]


def _lower(b: Builder, f: AnyMap, x: Slots, known: Known) -> Generator[Any, Slots, Slots]:
    """The slots of f applied to slots x; a subterm on the same slots is lowered once."""
    key = (id(f), x)
    if key not in known:
        if isinstance(f, LinMap):
            known[key] = tuple(apply_net(b, net(f), x, {}))
        else:
            known[key] = yield _node(b, cast("Node", f), x, known)
    return known[key]


def _node(b: Builder, f: Node, x: Slots, known: Known) -> Generator[Any, Slots, Slots]:
    match f:
        case Constant(_, value):
            return tuple(b.literal(c) for c in constants(value))
        case Bilinear(c):
            n = len(c.left.leaves)
            out: dict[int, int] = {}
            for i, j, k, spec in c.terms:
                slot = b.contract(spec, x[i], x[n + j])
                out[k] = b.add(out[k], slot) if k in out else slot
            return tuple(out[k] if k in out else b.literal(filled(0.0, leaf)) for k, leaf in enumerate(c.cod.leaves))
        case Compose(parts):
            for part in parts:
                x = yield _lower(b, part, x, known)
            return x
        case Sum(parts):
            total: Slots | None = None
            for part in parts:
                y = yield _lower(b, part, x, known)
                total = y if total is None else tuple(b.add(s, t) for s, t in zip(total, y, strict=True))
            assert total is not None  # a sum has parts
            return total
        case Scaled(k, of):
            y = yield _lower(b, of, x, known)
            return tuple(b.apply(wire.Scale(k), slot) for slot in y)
        case Fork(parts):
            slots: Slots = ()
            for part in parts:
                slots += yield _lower(b, part, x, known)
            return slots
        case Parallel(parts):
            slots, start = (), 0
            for part in parts:
                stop = start + len(part.dom.leaves)
                slots += yield _lower(b, part, x[start:stop], known)
                start = stop
            return slots
        case Power(of, index):
            lifted = lift_program(program(of), index, tuple(range(len(of.dom.parts))))
            made = b.inline(lifted.line, x)
            return tuple([made[k] for k in lifted.outputs])
        case Lift(of, index, over):
            lifted = lift_program(program(of), index, over)
            made = b.inline(lifted.line, x)
            return tuple([made[k] for k in lifted.outputs])
        case Elementwise():
            return (b.step(f, x),)
        case Program():
            where = b.inline(f.line, x)
            return tuple(where[k] for k in f.outputs)
        case _:
            assert_never(f)
