"""The class of all linear maps f : V ⊸ W: its operators make terms, passes over terms run and print it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from hilbert import Copower, Map, Type, Vec
from hilbert.base.attach import declared, overloaded
from hilbert.base.notarray import Applicable
from hilbert.index.index import Index
from hilbert.map.map import AnyMap, Columnwise, OnLeaves, exponent, factor, reciprocal
from hilbert.map.table_forms import of_columns
from linmap.term.invertible import Invertible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linmap import _calls

I = TypeVar("I", bound=Index)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


class LinMap(Columnwise[V, W], Invertible):
    """f : V ⊸ W, a continuous linear map as a term."""

    __slots__ = ()
    language = 0

    # --- passes over terms, and combinations of linear maps, whose nodes are in linmap.term.nodes ---

    @declared
    def _runner(self) -> OnLeaves:
        raise NotImplementedError

    @declared
    def _compose(self, parts: Sequence[AnyMap]) -> AnyLinMap:
        raise NotImplementedError

    @declared
    def _sum(self, parts: Sequence[AnyMap]) -> AnyLinMap:
        raise NotImplementedError

    @declared
    def _scaled(self, k: float) -> LinMap[V, W]:
        raise NotImplementedError

    @declared
    def _copower(self, index: Index) -> AnyLinMap:
        raise NotImplementedError

    @declared
    def _fork(self, parts: Sequence[AnyMap]) -> AnyLinMap:
        raise NotImplementedError

    @declared
    def _parallel(self, parts: Sequence[AnyMap]) -> AnyLinMap:
        raise NotImplementedError

    def _of_columns(self, x: Any, /) -> Any:
        """A x_z for each z, of x in ℝ^{X×Z} or (ℝ^Z)^X where A is on ℝ^X; None for anything else."""
        return of_columns(self, x)

    @overloaded(lambda: _calls.LinMap___matmul__)
    def __matmul__(self: LinMap[V, W], f: Any) -> Any:  # type: ignore[override]  # other maps do not take vectors
        """A ∘ f of a map f; A @ v is A(v), as for a matrix."""
        anything: Any = self
        return anything(f) if isinstance(f, (Vec, Applicable)) else super().__matmul__(f)

    @overload
    def __add__(self, g: LinMap[V, W]) -> LinMap[V, W]: ...
    @overload
    def __add__(self, g: Map[V, W]) -> Map[V, W]: ...
    def __add__(self, g: Any) -> Any:
        return super().__add__(g)

    @overload
    def __sub__(self, g: LinMap[V, W]) -> LinMap[V, W]: ...
    @overload
    def __sub__(self, g: Map[V, W]) -> Map[V, W]: ...
    def __sub__(self, g: Any) -> Any:
        return super().__sub__(g)

    def __neg__(self) -> LinMap[V, W]:
        return self._scaled(-1.0)

    def __mul__(self, k: float) -> LinMap[V, W]:
        return self._scaled(factor(k))

    __rmul__ = __mul__

    def __truediv__(self, k: float) -> LinMap[V, W]:
        return self._scaled(reciprocal(k))

    def __pow__(self, X: I) -> LinMap[Copower[V, I], Copower[W, I]]:
        return self._copower(exponent(X))

    @declared
    def __str__(self) -> str:
        raise NotImplementedError

    @declared
    def __repr__(self) -> str:
        raise NotImplementedError


AnyLinMap: TypeAlias = LinMap[Any, Any]
"""A linear map between any spaces."""
