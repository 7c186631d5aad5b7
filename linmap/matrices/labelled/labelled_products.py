"""Labelled products: the summands of the matrix of a linear map.

A *product* is a network of factors, relations and tables over labels, which stand for axes: equal labels are summed, or
shared as in a contraction; the labels of the input's and of the output's axes are open. A label that is open on both
sides is an identity along that axis (a diagonal, if a factor has it too); a *link* is a relation between the labels of
its two sides; a *table* is a list of distinct tuples of labels, with a label of its own for the rows, by which factors
have a value, or a dense block, for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from attrs import field, frozen

from hilbert.base.once import cached_property
from linmap.matrices.labelled.columns import Ints, Labels, sample

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hilbert.relation.relation import AnyRelation


@final
@frozen
class NetworkFactor:
    """An array of the line with a label for each axis (an element of X has those of X at the end)."""

    slot: int
    labels: Labels


@final
@frozen
class Link:
    """A relation between the labels `x` of its domain and `y` of its codomain."""

    relation: AnyRelation
    x: Labels
    y: Labels

    @property
    def labels(self) -> Labels:
        """The labels of both sides."""
        return self.x + self.y


@final
@frozen(eq=False)
class PairList:
    """The pairs of a relation: columns for the axes of both sides, and for each side if its tuples ascend strictly."""

    columns: tuple[Ints, ...]
    once: tuple[bool, bool]


@final
@frozen(eq=False, slots=False)
class LabelTable:
    """Distinct tuples of labels, one for each value of the label `row`; sorted by its labels in their order."""

    row: int
    labels: Labels
    columns: tuple[Ints, ...] = field(repr=False)

    @property
    def count(self) -> int:
        """The number of tuples."""
        return len(self.columns[0])

    @cached_property
    def contents(self) -> Contents:
        """The columns, without the names of the labels."""
        return Contents(self.columns)


@final
class Contents:
    """The columns of a table, compared by what they hold; looked up by a few of their numbers."""

    __slots__ = ("columns", "sample")

    def __init__(self, columns: tuple[Ints, ...]) -> None:
        self.columns = columns
        self.sample = tuple(map(sample, columns))

    def __hash__(self) -> int:
        return hash(self.sample)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Contents) or self.sample != other.sample:
            return False
        return all(a is b or np.array_equal(a, b) for a, b in zip(self.columns, other.columns, strict=True))


@final
@frozen(slots=False)
class NetworkProduct:
    """k · Π factors · Π links · Π tables, summed over the labels that are not open; factors in flow order."""

    k: float
    factors: tuple[NetworkFactor, ...]
    links: tuple[Link, ...]
    out: Labels
    inp: Labels
    tables: tuple[LabelTable, ...] = ()

    @cached_property
    def open(self) -> Labels:
        """The open labels, each once: those of the output, then the others of the input."""
        return tuple(dict.fromkeys(self.out + self.inp))

    @property
    def is_related(self) -> bool:
        """True if a relation or a table restricts the labels."""
        return bool(self.links or self.tables)

    @property
    def is_plain(self) -> bool:
        """True if the product does nothing but scale and transpose."""
        return not self.length and len(self.out) == len(self.inp) and set(self.out) == set(self.inp)

    @property
    def length(self) -> int:
        """The number of factors, links and tables."""
        return len(self.factors) + len(self.links) + len(self.tables)

    @cached_property
    def pattern(self) -> ProductPattern:
        """Labels, relations and tables without slots and coefficient: products of one pattern can be added."""
        return ProductPattern(self)

    def but(
        self,
        *,
        k: float | None = None,
        factors: tuple[NetworkFactor, ...] | None = None,
        links: tuple[Link, ...] | None = None,
        out: Labels | None = None,
        inp: Labels | None = None,
        tables: tuple[LabelTable, ...] | None = None,
    ) -> NetworkProduct:
        """The product with some fields changed. `attrs.evolve` would take ten times as long: 5 % of an elimination."""
        return NetworkProduct(
            self.k if k is None else k,
            self.factors if factors is None else factors,
            self.links if links is None else links,
            self.out if out is None else out,
            self.inp if inp is None else inp,
            self.tables if tables is None else tables,
        )


Blocks: TypeAlias = dict[tuple[int, int], list[NetworkProduct]]
"""For each output and input the products of their block, where it is not 0; by inputs."""


def bonds(p: NetworkProduct) -> list[tuple[int, Labels]]:
    """The cuts of a product in two, each as the number of factors before the cut, and the labels across it."""
    found = []
    for k in range(len(p.factors) + 1):
        inner = {c for f in p.factors[:k] for c in f.labels} | set(p.inp)
        outer = {c for f in p.factors[k:] for c in f.labels} | set(p.out)
        found.append((k, tuple(sorted(inner & outer))))
    return found


def uses(*parts: Iterable[NetworkFactor | Link | LabelTable]) -> set[int]:
    """The labels of some factors, links and tables."""
    return {c for group in parts for part in group for c in part.labels}


class LabelNames:
    """Names for labels by where they first stand: equal for products that are one up to the names of their labels."""

    def __init__(self, p: NetworkProduct) -> None:
        self.names: dict[int, int] = {}
        self(p.out + p.inp)

    def __call__(self, labels: Labels) -> Labels:
        """The names of some labels."""
        names = self.names
        return tuple([names.setdefault(c, len(names)) for c in labels])


class ProductPattern:
    """A product without its data and its number, for comparison: ends, relations and tables by `names` of labels.

    `labels` are those of the factors, named likewise. Equal relations are one object in one network.
    """

    __slots__ = ("labels", "names", "shape")

    def __init__(self, p: NetworkProduct) -> None:
        names = LabelNames(p)
        ends = (len(p.out), names(p.out + p.inp))
        links = tuple([(id(link.relation), names(link.labels)) for link in p.links]) if p.links else ()
        tables = tuple([(t.contents, names(t.labels), names((t.row,))) for t in p.tables]) if p.tables else ()
        self.shape: tuple[Any, ...] = (ends, links, tables)
        self.labels = [names(f.labels) for f in p.factors]
        self.names = names.names
