"""Terms as text in their shared size: a subterm that is used more than once gets a name f₁, f₂, … and a line `where`.

One with a short text is written in place, however often; one that others stand deep in gets a name, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hilbert.base.term import bottom_up, parts, shared_terms
from linmap.printing.notation import Doc, Word, render

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.base.term import Term

SHORT = 24
DEEP = 50


class Naming(Protocol):
    """A supply of names that are not taken."""

    def fresh(self, stem: str) -> str:
        """The next of stem₁, stem₂, …"""
        ...


def shared_doc(f: Term, step: Callable[[Term, Callable[[Term], Doc]], Doc], names: Naming, lets: list[str]) -> Doc:
    """The doc of a term; `step` gives that of a node from those of its parts, lines for names are added to `lets`."""
    shared = shared_terms(f)
    depths: dict[int, int] = {}

    def named(node: Term, rec: Callable[[Term], Doc]) -> Doc:
        doc = step(node, rec)
        depth = 1 + max((depths[id(part)] for part in parts(node)), default=0)
        text = render(doc) if depth >= DEEP or id(node) in shared else ""
        if depth < DEEP and len(text) <= SHORT:
            depths[id(node)] = depth
            return doc
        depths[id(node)] = 0
        called = names.fresh("f")
        lets.append(f"where {called} = {text}")
        return Word(called)

    doc: Doc = bottom_up(f, named)
    return doc
