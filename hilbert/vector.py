"""Vectors: elements of a space, stored structure-of-arrays, never writeable (paper §2.2).

>>> from hilbert import Fin, R
>>> V = R ** Fin.of(3)
>>> v = V.vec([1.0, 2.0, 2.0])
>>> v.norm(), (2 * v).inner(v), (v + v).array.tolist()
(3.0, 18.0, [2.0, 4.0, 4.0])
"""

from __future__ import annotations

import itertools
import math
import uuid
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    Never,
    Protocol,
    TypeVar,
    TypeVarTuple,
    cast,
    final,
    overload,
)

from hilbert.arrays.namespace import common_namespace, freeze, namespace, to_numpy
from hilbert.errors import SpaceError, integer, number, shown
from hilbert.formal import array as formal
from hilbert.formal.array import Formal, Memo
from hilbert.notarray import NotArray
from hilbert.repr_names import spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hilbert.index import Fin, Index, Product
    from hilbert.space import Copower, DirectSum, Field, OfSpaces, Space, TensorProduct, Type

I = TypeVar("I", bound="Index")
J = TypeVar("J", bound="Index")
K = TypeVar("K", bound="Index")
V = TypeVar("V", bound="Type")
S = TypeVar("S", bound="Space")
T = TypeVar("T", bound="Space")
A = TypeVar("A", bound="Type")
B = TypeVar("B", bound="Type")
C = TypeVar("C", bound="Type")
D = TypeVar("D", bound="Type")
E = TypeVar("E", bound="Type")
F = TypeVar("F", bound="Type")
G = TypeVar("G", bound="Type")
Tag = TypeVar("Tag")
Rest = TypeVarTuple("Rest")
S_co = TypeVar("S_co", bound="Type", covariant=True)
SMALL = 24  # vectors up to this dimension show their entries


class Linear(Protocol[S_co]):
    """What 0 + · ⊙ are defined on, for the type checker: a vector, or an expression, of a space, of no discrete type.

    It takes two members. In `self: Vec[S]` mypy does not look at the bound of S; with `space -> S` alone it accepts
    everything, too, and pyright refuses what is right.
    """

    @property
    def space(self) -> OfSpaces:
        """The space S."""
        ...

    def _require(self, operation: str) -> S_co:
        """S; raises SpaceError for a type that is no space."""
        ...


def _known(v: Linear[S]) -> Vec[S]:
    return cast("Vec[S]", v)  # a method's self is a vector


@final
class Vec(NotArray, Generic[V]):
    """v ∈ V: one read-only array for each leaf of the space. Made by `V.vec`, `V.zeros`, `V.random`, `V.unflat`.

    The arrays of a tensor may be formal, as those of `u.tensor(v)`: see `hilbert.formal.tensors`.

    `==` and `hash` go by identity of the data (a token that travels with the pickle); compare contents with `equal`.
    """

    __slots__ = ("__weakref__", "_token", "leaves", "space")
    instead = "give it v.array, or apply a map of diff"
    space: V
    leaves: tuple[Any, ...]

    def __init__(self, space: V, leaves: tuple[Any, ...], token: int | None = None) -> None:
        """Take arrays that are known to fit; users call `space.vec(data)`, which checks."""
        self.space = space
        self.leaves = leaves
        self._token = token

    @property
    def token(self) -> int:
        """What `==` compares: drawn at random when first asked for."""
        if self._token is None:
            self._token = uuid.uuid4().int
        return self._token

    @property
    def array(self) -> Any:
        """The array, or the tuple tree of arrays of a direct sum; read-only. A formal tensor is multiplied out."""
        return self.space.pack(iter(self.dense().leaves))

    @property
    def is_formal(self) -> bool:
        """Whether some of it is stored as a sum of tensor products."""
        return Formal in map(type, self.leaves)

    def dense(self) -> Vec[V]:
        """The same element with plain arrays only: a formal tensor is multiplied out, and takes dim V·dim W entries."""
        if not self.is_formal:
            return self
        from hilbert.formal.kernels import dense  # kernels are made of spaces

        return Vec(self.space, tuple(freeze(dense(leaf)) for leaf in self.leaves))

    def tensor(self: Linear[S], other: Vec[T]) -> Vec[TensorProduct[S, T]]:
        """u ⊗ v as a formal tensor: the two factors are kept. Raises SpaceError for other things than vectors."""
        from hilbert.formal.tensors import tensor_product  # a pass over vectors

        return tensor_product(_known(self), other)

    def flat(self) -> Any:
        """All entries in one flat array, in storage order; inverse of `space.unflat`. Raises SpaceError if discrete.

        A formal tensor is multiplied out.
        """
        self._require("flat")
        leaves = self.dense().leaves
        xp = common_namespace(leaves)
        if not leaves:
            return xp.zeros((0,))
        return xp.concat([xp.reshape(xp.asarray(leaf), (-1,)) for leaf in leaves])

    def _require(self, operation: str) -> V:
        """The space, for an operation that needs 0 + · ⊙; raises SpaceError for a type that is no space."""
        if not self.space.is_space:
            msg = f"{operation} needs a vector, but {self.space} has a discrete part, whose tangent is 0"
            raise SpaceError(msg)
        return self.space

    def _other(self, other: Any, operation: str, fits: str) -> Any:
        """Leave an operator to an expression; nothing else meets a vector in it."""
        from hilbert.map import Applicable  # maps are made of vectors

        if isinstance(other, Applicable):
            return NotImplemented
        msg = f"cannot form {operation}: v is in {self.space}, and the other side is {shown(other)}: {fits}"
        raise SpaceError(msg)

    def _zip(self, other: Any, sign: str, operation: Callable[[Any, Any], Any]) -> Any:
        if not isinstance(other, Vec):
            return self._other(other, f"v {sign} w", f"a vector of {self.space} would fit")
        if other.space is not self.space and other.space != self.space:
            from hilbert.space import bracketing  # spaces know vectors

            msg = f"cannot form v {sign} w: v is in {self.space} but w in {other.space}; both must be in one space"
            raise SpaceError(msg + bracketing(self.space, other.space))
        self._require(f"v {sign} w")
        pairs = zip(self.leaves, other.leaves, strict=True)
        return Vec(self.space, tuple(freeze(operation(a, b)) for a, b in pairs))

    def __add__(self: Linear[S], other: Vec[S]) -> Vec[S]:
        memo = Memo()
        result: Vec[S] = _known(self)._zip(other, "+", lambda a, b: formal.add(a, b, memo))
        return result

    def __sub__(self: Linear[S], other: Vec[S]) -> Vec[S]:
        memo = Memo()
        result: Vec[S] = _known(self)._zip(other, "−", lambda a, b: formal.subtract(a, b, memo))
        return result

    def __radd__(self, other: Never) -> Any:
        return self._other(other, "w + v", f"a vector of {self.space} would fit; add up many with sum(vs, V.zeros())")

    def __rsub__(self, other: Never) -> Any:
        return self._other(other, "w − v", f"a vector of {self.space} would fit")

    def __neg__(self: Linear[S]) -> Vec[S]:
        v = _known(self)
        return Vec(v._require("−v"), tuple(freeze(formal.scaled(a, -1.0)) for a in v.leaves))

    def __mul__(self: Linear[S], k: float) -> Vec[S]:
        v, factor = _known(self), number(k)
        if factor is None:
            unfit: Vec[S] = v._other(k, "k·v", "a number would fit; see inner")
            return unfit
        return Vec(v._require("k·v"), tuple(freeze(formal.scaled(a, factor)) for a in v.leaves))

    __rmul__ = __mul__

    def __truediv__(self: Linear[S], k: float) -> Vec[S]:
        v, factor = _known(self), number(k)
        if factor is None:
            unfit: Vec[S] = v._other(k, "v/k", "a number would fit")
            return unfit
        return Vec(v._require("v/k"), tuple(freeze(formal.divided(a, factor)) for a in v.leaves))

    def __rtruediv__(self, k: Never) -> Any:
        return self._other(k, "k/v", "divide numbers by vectors entry by entry in a traced function")

    @overload
    def __matmul__(
        self: Vec[Copower[Field, Product[I, J]]], other: Vec[Copower[Field, Product[J, K]]]
    ) -> Vec[Copower[Field, Product[I, K]]]: ...
    @overload
    def __matmul__(
        self: Vec[Copower[Field, Product[I, J]]], other: Vec[Copower[Field, J]]
    ) -> Vec[Copower[Field, I]]: ...
    @overload
    def __matmul__(self: Vec[Copower[Field, Fin[Tag]]], other: Vec[Copower[Field, Fin[Tag]]]) -> Vec[Field]: ...
    def __matmul__(self, other: Any) -> Any:
        """Matrix product, matrix–vector product, inner product of vectors; SpaceError where inner axes differ."""
        if not isinstance(other, Vec):
            return self._other(other, "v @ w", "a vector or a matrix would fit")
        from hilbert.matrices import matrix_product  # made of spaces

        return matrix_product(self, other)

    def __rmatmul__(self, other: Never) -> Any:
        return self._other(other, "w @ v", "a vector or a matrix would fit")

    @property
    def T(self: Vec[Copower[A, Product[I, J]]]) -> Vec[Copower[A, Product[J, I]]]:
        """The transpose of a matrix, V^{X×Y} to V^{Y×X}, without a copy; SpaceError if the index set is no product."""
        from hilbert.matrices import transpose  # made of spaces

        return transpose(self)

    def inner(self: Linear[S], other: Vec[S]) -> float:
        """v ⊙ w: Σ over all entries (of formal tensors: factors). Raises SpaceError for vectors of two spaces."""
        require_vector(other, "v ⊙ w")
        products = _known(self)._zip(other, "⊙", _dot)
        return math.fsum(products.leaves) if all(map(math.isfinite, products.leaves)) else sum(products.leaves)

    def norm(self: Linear[S]) -> float:
        """‖v‖ = √(v ⊙ v), of a formal tensor by orthonormalising its factors."""
        v = _known(self)
        if v.is_formal:
            from hilbert.formal.tensors import norm  # a pass over vectors

            return norm(v)
        return math.sqrt(v.inner(v))

    def __float__(self) -> float:
        if len(self.leaves) != 1 or self.space.dim != 1:
            msg = f"only a vector of dimension 1 is a number, not one of {self.space}"
            raise SpaceError(msg)
        (leaf,) = self.dense().leaves
        return float(namespace(leaf).reshape(leaf, ()))

    @overload
    def __getitem__(self: Vec[DirectSum[A, *Rest]], i: Literal[0]) -> Vec[A]: ...
    @overload
    def __getitem__(self: Vec[DirectSum[A, B, *Rest]], i: Literal[1]) -> Vec[B]: ...
    @overload
    def __getitem__(self: Vec[DirectSum[A, B, C, *Rest]], i: Literal[2]) -> Vec[C]: ...
    @overload
    def __getitem__(self: Vec[DirectSum[A, B, C, D, *Rest]], i: Literal[3]) -> Vec[D]: ...
    @overload
    def __getitem__(self: Vec[DirectSum[A, B, C, D, E, *Rest]], i: Literal[4]) -> Vec[E]: ...
    @overload
    def __getitem__(self: Vec[DirectSum[A, B, C, D, E, F, *Rest]], i: Literal[5]) -> Vec[F]: ...
    @overload
    def __getitem__(self, i: int) -> Vec[Any]: ...
    def __getitem__(self, i: int) -> Any:
        """The component at position i (from 0) of an element of a direct sum; SpaceError if there is none."""
        if self.space in self.space.parts:
            msg = f"{self.space} is no direct sum, so v[{shown(i)}] does not exist: v.array has the entries, "
            raise SpaceError(msg + "project(V, x) the component at x in V^X")
        start, stop = span(self.space, i)
        return Vec(self.space.parts[i], self.leaves[start:stop])

    @overload
    def split(self: Vec[DirectSum[A, B]]) -> tuple[Vec[A], Vec[B]]: ...
    @overload
    def split(self: Vec[DirectSum[A, B, C]]) -> tuple[Vec[A], Vec[B], Vec[C]]: ...
    @overload
    def split(self: Vec[DirectSum[A, B, C, D]]) -> tuple[Vec[A], Vec[B], Vec[C], Vec[D]]: ...
    @overload
    def split(self: Vec[DirectSum[A, B, C, D, E]]) -> tuple[Vec[A], Vec[B], Vec[C], Vec[D], Vec[E]]: ...
    @overload
    def split(self: Vec[DirectSum[A, B, C, D, E, F]]) -> tuple[Vec[A], Vec[B], Vec[C], Vec[D], Vec[E], Vec[F]]: ...
    @overload
    def split(self: Vec[DirectSum[A, B, C, D, E, F, G, *Rest]]) -> tuple[Vec[Any], ...]: ...
    @overload
    def split(self: Vec[Copower[DirectSum[A, B], I]]) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]]]: ...
    @overload
    def split(
        self: Vec[Copower[DirectSum[A, B, C], I]],
    ) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]], Vec[Copower[C, I]]]: ...
    @overload
    def split(
        self: Vec[Copower[DirectSum[A, B, C, D], I]],
    ) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]], Vec[Copower[C, I]], Vec[Copower[D, I]]]: ...
    @overload
    def split(
        self: Vec[Copower[DirectSum[A, B, C, D, E], I]],
    ) -> tuple[Vec[Copower[A, I]], Vec[Copower[B, I]], Vec[Copower[C, I]], Vec[Copower[D, I]], Vec[Copower[E, I]]]: ...
    @overload
    def split(
        self: Vec[Copower[DirectSum[A, B, C, D, E, F], I]],
    ) -> tuple[
        Vec[Copower[A, I]],
        Vec[Copower[B, I]],
        Vec[Copower[C, I]],
        Vec[Copower[D, I]],
        Vec[Copower[E, I]],
        Vec[Copower[F, I]],
    ]: ...
    @overload
    def split(self: Vec[Copower[DirectSum[A, B, C, D, E, F, G, *Rest], I]]) -> tuple[Vec[Copower[Any, I]], ...]: ...
    @overload
    def split(
        self: Vec[Copower[Copower[DirectSum[A, *Rest], J], I]],
    ) -> tuple[Vec[Copower[Copower[Any, J], I]], ...]: ...
    def split(self: Any) -> Any:
        """All parts of an element of a direct sum; of (V ⊕ W)^X those of V^X ⊕ W^X, which holds the same arrays.

        Raises SpaceError for another space.
        """
        from hilbert.space import summands  # spaces know vectors

        parts = summands(self.space)
        ends = itertools.accumulate((len(part.leaves) for part in parts), initial=0)
        pairs = zip(parts, itertools.pairwise(ends), strict=True)
        return tuple(Vec(part, self.leaves[start:end]) for part, (start, end) in pairs)

    def __iter__(self) -> Iterator[Vec[Any]]:
        return iter([self[k] for k in range(len(self.space.parts))])

    def __len__(self) -> int:
        return len(self.space.parts)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Vec) and self.space == other.space and self.token == other.token)

    def __hash__(self) -> int:
        return hash(self.token)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.space, self.leaves, self.token)

    def __str__(self) -> str:
        if self.is_formal:
            from hilbert.formal.text import text  # a pass over vectors

            return f"{text(self)} ∈ {self.space}"
        return f"{self._entries() or self._shapes()} ∈ {self.space}"

    def __repr__(self) -> str:
        if self.is_formal:
            from hilbert.formal.text import source  # a pass over vectors

            return source(self) or self.name()
        entries = self._entries()
        if entries is None:
            return self.name()
        space = repr(self.space)
        return f"{space}.vec({entries})" if space.isidentifier() else f"({space}).vec({entries})"

    def name(self) -> str:
        """A Python expression for this very vector, which evaluates while it is alive: see `hilbert.repr_names`."""
        return spelled(self, f"{self.token:032x}", self._shapes())

    def _entries(self) -> str | None:
        """The entries of a small vector."""
        if self.space.dim > SMALL:
            return None
        return repr(self.space.pack(iter([to_numpy(a).tolist() for a in self.leaves])))

    def _shapes(self) -> str:
        if self.is_formal:
            return ", ".join(map(repr, self.leaves))
        return ", ".join(f"{leaf.dtype}{list(leaf.shape)}" for leaf in self.space.leaves)


def _dot(a: Any, b: Any) -> float:
    if isinstance(a, Formal) or isinstance(b, Formal):
        from hilbert.formal.kernels import inner  # kernels are made of spaces

        return inner(a, b)
    xp = common_namespace((a, b))
    return float(xp.vecdot(xp.reshape(xp.asarray(a), (-1,)), xp.reshape(xp.asarray(b), (-1,))))


def _rebuild(space: Any, leaves: tuple[Any, ...], token: int) -> Vec[Any]:
    return Vec(space, tuple(map(freeze, leaves)), token)


shown.register(Vec, lambda v: f"a vector of {v.space}")


def require_vector(value: Any, what: str) -> None:
    """Raise SpaceError unless a value is a vector."""
    if not isinstance(value, Vec):
        msg = f"{what} takes a vector, not {shown(value)}: make one by V.vec(data)"
        raise SpaceError(msg)


def span(space: Type, i: int) -> tuple[int, int]:
    """The leaves of part i of a direct sum, as a range; raises SpaceError if there is no such part."""
    parts = space.parts
    place = integer(i)
    if place is None or not 0 <= place < len(parts):
        due = f"give 0 to {len(parts) - 1}" if parts else "it has none"
        msg = f"{space} has {len(parts)} parts, so position {shown(i)} does not exist: {due}"
        raise SpaceError(msg)
    start = sum(len(part.leaves) for part in parts[:place])
    return start, start + len(parts[place].leaves)
