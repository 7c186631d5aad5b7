"""Terms as Python expressions: `repr`, which evaluates back to an equal term, given `diff.names`.

A subterm that occurs more than once is bound by `:=`, so that the text is linear in the shared size of the term, and so
is one that is nested deeper than Python's parser goes. Vectors are named, not printed: see `hilbert.base.repr_names`.

>>> from hilbert import Fin, R
>>> from linmap import fork, identity, total
>>> X = Fin.of(3)
>>> f = fork(identity(R), 2 * identity(R)) @ total(X)
>>> f
compose(fork(identity(R), 2.0 * identity(R)), red(Full(dom=Fin.of(3), cod=Unit()), R))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, cast, final

from attrs import frozen

from hilbert.base.term import bottom_up, parts, shared_terms
from linmap.term.linear_map import AnyLinMap
from linmap.term.net import Closed, Net
from linmap.term.nodes import (
    Cast,
    Compose,
    Fork,
    Identity,
    Inject,
    Join,
    Lifted,
    Node,
    Own,
    Parallel,
    Project,
    Reduce,
    Scaled,
    Section,
    Sum,
    Unitary,
    ZeroMap,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hilbert import Index
    from hilbert.base.term import Term

SHORT = 24
"""Subterms with a shorter text are repeated, not bound."""
DEEP = 50
"""Python's parser takes up to 200 brackets within each other."""
FLAT = 8
"""Longer sums are nested: Python's parser does not take thousands of terms in a row."""


SUM, PRODUCT, POWER, ATOM = range(4)
"""The ways that a Python expression binds, from the loosest to the tightest."""


@final
@frozen
class PythonText:
    """A Python expression."""

    text: str
    binding: int = ATOM

    def within(self, binding: int) -> str:
        """The expression as an operand, with brackets if it needs them."""
        return self.text if self.binding >= binding else f"({self.text})"


def spell(f: AnyLinMap) -> str:
    """The expression of a linear map."""
    return spelled(f, lambda node, rec: linear(cast("AnyLinMap", node), rec))


def spelled(term: Term, step: Callable[[Term, Callable[[Any], PythonText]], PythonText]) -> str:
    """The expression of a term; `step` gives that of a node from those of its parts."""
    several = shared_terms(term)
    bound: list[str] = []
    depths: dict[int, int] = {}

    def named(node: Term, rec: Callable[[Any], PythonText]) -> PythonText:
        source = step(node, rec)
        depths[id(node)] = 1 + max((depths[id(child)] for child in parts(node)), default=0)
        shared = id(node) in several and len(source.text) > SHORT
        if not shared and depths[id(node)] < DEEP:
            return source
        depths[id(node)] = 0
        name = f"_{len(bound) + 1}"
        bound.append(f"{name} := {source.text}")
        return PythonText(name)

    whole: PythonText = bottom_up(term, named)
    return f"({', '.join(bound)}, {whole.text})[-1]" if bound else whole.text


def _part(space: Any, i: int) -> str:
    """The text that names a part: its lens in a record, elsewhere its position."""
    return str(i if space.names is None else space.lenses[space.names[i]])


def linear(f: AnyLinMap, rec: Callable[[Any], PythonText]) -> PythonText:
    """One node of a linear map."""
    match cast("Node", f):
        case Identity(space):
            return PythonText(f"identity({space!r})")
        case ZeroMap(dom, cod):
            return PythonText(f"zero({dom!r}, {cod!r})")
        case Compose(parts):
            return call("compose", map(rec, reversed(list(parts))))
        case Sum(parts):
            return added([rec(part) for part in parts])
        case Scaled(k, of):
            return multiplied(k, rec(of))
        case Section(contraction, side, datum):
            return PythonText(f"section({contraction!r}, {side}, {datum.name()})")
        case Project(space, i):
            return PythonText(f"project({space!r}, {_part(space, i)})")
        case Inject(space, i):
            return PythonText(f"inject({space!r}, {_part(space, i)})")
        case Fork(parts):
            return call("fork", map(rec, parts))
        case Join(parts):
            return call("join", map(rec, parts))
        case Parallel(parts):
            return call("parallel", map(rec, parts))
        case Reduce(relation, base):
            return PythonText(f"red({relation!r}, {base!r})")
        case Lifted(of, index):
            return raised(rec(of), index)
        case Own(rule, dom, cod, back):
            return PythonText(f"own({rule.name!r}, {dom!r}, {cod!r}, {back})")
        case Unitary() | Cast() | Net() | Closed():
            return PythonText(repr(f))
        case never:
            assert_never(never)


def call(name: str, parts: Iterable[PythonText]) -> PythonText:
    """name(f, g, …)."""
    return PythonText(f"{name}({', '.join(part.text for part in parts)})")


def multiplied(k: float, f: PythonText) -> PythonText:
    """k * f."""
    return PythonText(f"{k!r} * {f.within(POWER)}", PRODUCT)


def raised(f: PythonText, index: Index) -> PythonText:
    """f ** X."""
    return PythonText(f"{f.within(ATOM)} ** {index!r}", POWER)


def added(parts: Sequence[PythonText]) -> PythonText:
    """f + g + …, in halves where there are many."""
    if len(parts) <= FLAT:
        return PythonText(
            " + ".join(part.within(PRODUCT) for part in parts), SUM if len(parts) > 1 else parts[0].binding
        )
    half = len(parts) // 2
    return PythonText(f"({added(parts[:half]).text}) + ({added(parts[half:]).text})", SUM)
