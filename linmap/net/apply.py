"""Application: a net becomes a line of array operations, which runs once or is copied into a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert import SpaceError
from hilbert.base.once import once
from hilbert.program.line.builder import Builder
from hilbert.program.planning.contraction_plan import planned
from hilbert.program.run.run import Runner
from linmap.net.apply_recur import flowing
from linmap.net.lower import net
from linmap.term.datum import Ref
from linmap.term.net import Closed, Net, refs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hilbert.map.map import OnLeaves
    from hilbert.program.line.line import Line
    from linmap.net.loop_masks import Masks
    from linmap.term.datum import Datum
    from linmap.term.linear_map import AnyLinMap


def run(f: AnyLinMap) -> OnLeaves:
    """The function that applies f to the leaves of vectors of its domain, made once for each term.

    Raises SpaceError if f still refers to a point: close it with `.at(point)`.
    """
    body = f.body if isinstance(f, Closed) else net(f)
    data = f.data.arrays if isinstance(f, Closed) else ()
    if len(refs(body)) != len(data):
        msg = f"an open map {body.dom} ⊸ {body.cod} is not applied: it refers to a point; close it with .at(point)"
        raise SpaceError(msg)
    call = _compiled(body).run
    return (lambda arrays: call([*arrays, *data])) if data else call


@once
def _compiled(body: Net) -> Runner:
    return Runner(ordered(body))


@once
def ordered(body: Net) -> Line:
    """The net as the line that is run: contractions stand in a cheaper order than they are written in, if there is one.

    A net that refers to a point keeps its order: it was derived from a program that is planned, or is not to be.
    """
    made = line(body)
    return made if refs(body) else planned(made)


def line(body: Net) -> Line:
    """The net as a line; its inputs are the argument's leaves and then the data that it refers to."""
    found = refs(body)
    n = len(body.inputs)
    b = Builder([*(body.wires[w] for w in body.inputs), *(ref.leaf for ref in found)])
    return b.line(apply_net(b, body, range(n), {ref.slot: n + k for k, ref in enumerate(found)}))


def apply_net(
    b: Builder, body: Net, args: Sequence[int], where: Mapping[int, int], masks: Masks | None = None
) -> list[int]:
    """Apply an open linear map to slots of a line; slot `where[k]` holds what the body's reference k points to.

    Argument k is 0 outside of `masks[k]`. Raises SpaceError for a reference that is nowhere.
    """

    def at(datum: Datum) -> int:
        if not isinstance(datum, Ref):
            return b.literal(datum)
        if datum.slot not in where:
            msg = f"an open map {body.dom} ⊸ {body.cod} is no function: close it with .at(point)"
            raise SpaceError(msg)
        return where[datum.slot]

    flow = zip(body.inputs, args, strict=True)
    slots = flowing(b, body, flow, at, masks)
    return [b.number(0.0, body.wires[w]) if k is None else k for k, w in zip(slots, body.outputs, strict=True)]
