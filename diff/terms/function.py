"""The class of all functions f : V → W: its operators make terms, passes over terms run and print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from hilbert import Map, Space, Type
from hilbert.base.attach import declared
from hilbert.index.index import Index
from hilbert.map.map import AnyMap, OnLeaves
from linmap.net.equal import Comparable
from linmap.term.protocols import Runs

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from linmap.net.equal import Numbering

S = TypeVar("S", bound=Space)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


class Fun(Map[V, W], Comparable, Runs):
    """f : V → W, an analytic function as a term."""

    __slots__ = ()
    language = 1

    @declared
    def label(self, numbering: Numbering) -> Hashable:
        """The contents of the program, for `equal`."""
        raise NotImplementedError

    # --- passes over terms, and combinations of functions, whose nodes are in diff.terms.nodes ---

    @declared
    def _runner(self) -> OnLeaves:
        raise NotImplementedError

    @declared
    def _compose(self, parts: Sequence[AnyMap]) -> AnyFun:
        raise NotImplementedError

    @declared
    def _sum(self, parts: Sequence[AnyMap]) -> AnyFun:
        raise NotImplementedError

    @declared
    def _scaled(self, k: float) -> Fun[V, W]:
        raise NotImplementedError

    @declared
    def _copower(self, index: Index) -> AnyFun:
        raise NotImplementedError

    @declared
    def _fork(self, parts: Sequence[AnyMap]) -> AnyFun:
        raise NotImplementedError

    @declared
    def _parallel(self, parts: Sequence[AnyMap]) -> AnyFun:
        raise NotImplementedError

    @declared
    def __str__(self) -> str:
        raise NotImplementedError

    @declared
    def __repr__(self) -> str:
        raise NotImplementedError


AnyFun: TypeAlias = Fun[Any, Any]
"""A function between any types."""


class OnData:
    """A function on data, which is no map: `adjoint` attaches its gradient."""

    __slots__ = ()

    @declared
    def _gradient(self, wrt: Any, gradient: Any, name: str) -> Any:
        raise NotImplementedError
