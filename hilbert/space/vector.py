"""Vectors: elements of a space, stored structure-of-arrays, never writeable (paper §2.2).

>>> from hilbert import Fin, R
>>> V = R ** Fin.of(3)
>>> v = V.vec([1.0, 2.0, 2.0])
>>> v.norm(), (2 * v).inner(v), (v + v).array.tolist()
(3.0, 18.0, [2.0, 4.0, 4.0])
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, NoReturn, TypeAlias, TypeVar, cast, final

from hilbert.arrays.formal import formal_array as formal
from hilbert.arrays.formal.formal_array import Formal, Memo
from hilbert.arrays.formal.formal_kernels import dense, inner
from hilbert.arrays.libraries.namespace import added, common_namespace, freeze, in_numpy, moved, namespace, to_numpy
from hilbert.base.attach import declared, overloaded
from hilbert.base.notarray import Applicable, NotArray, of_sparse
from hilbert.base.numpy_names import ARRAYS, FUNCTIONS, OPERATORS, of_leaves
from hilbert.base.once import LOCK
from hilbert.base.repr_names import spelled
from hilbert.displayed import DisplayedAsNumbers
from hilbert.errors import SpaceError, fitting, number, shown, written
from hilbert.index.position import slices
from hilbert.space.linear import Linear
from hilbert.space.nested_sums import as_numbers, few, named, said
from hilbert.space.parts import Lens, lens_for, part_place, place, span, summand_slices
from hilbert.space.unpacking import visited
from hilbert.tracebacks import cut, of_two

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from hilbert import _calls
    from hilbert._calls import Reductions
    from hilbert.index.index import Index, Product
    from hilbert.space.space import Boolean, Copower, Elements, Field, Space, TensorProduct, Type

    Whole: TypeAlias = slice[None, None, None]
    """`:` in A[i, :]."""
else:
    from hilbert.space.vector_methods import Reductions

I = TypeVar("I", bound="Index")
W = TypeVar("W", bound="Type")
J = TypeVar("J", bound="Index")
V = TypeVar("V", bound="Type")
S = TypeVar("S", bound="Space")
T = TypeVar("T", bound="Space")
Z = TypeVar("Z", bound="Space")
A = TypeVar("A", bound="Type")
Truth = TypeVar("Truth", bound="Boolean | Copower[Boolean, Any] | Copower[Copower[Boolean, Any], Any]")
Number: TypeAlias = "float | np.floating[Any]"
"""A real number, numpy's of any precision among them."""
SMALL = 24  # vectors up to this dimension show their entries


def _known(v: Linear[S]) -> Vec[S]:
    return cast("Vec[S]", v)  # a method's self is a vector


FIELDS = ("leaves", "space")
"""The slots that type checkers read as properties, which cannot be set."""


@final
class Vec(DisplayedAsNumbers, NotArray, Reductions, Generic[V]):
    """v ∈ V: one read-only array for each leaf of the space. Made by `V.vec`, `V.zeros`, `V.random`, `V.unflat`.

    The arrays of a tensor may be formal, as those of `u.tensor(v)`: see `hilbert.tensors.formal_tensors`.

    `==` and `hash` go by identity of the data (a token that travels with the pickle); compare contents with `equal`.
    """

    __slots__ = ("__weakref__", "_snapshot", "_token", *FIELDS)
    instead = "give it v.array, or apply a function of hb"
    functions = FUNCTIONS
    _attributes: ClassVar[dict[str, str]] = ARRAYS
    _operators: ClassVar[dict[str, tuple[str, str]]] = OPERATORS
    _token: int
    if TYPE_CHECKING:

        @property
        def space(self) -> V:
            """The space that the vector is an element of."""
            ...

        @property
        def leaves(self) -> tuple[Any, ...]:
            """The arrays, one for each leaf of the space."""
            ...

    else:

        def __setattr__(self, name: str, value: object) -> NoReturn:
            """Raise SpaceError: a vector is never changed."""
            lens = getattr(self.space, "lenses", {}).get(name)
            made = "V.vec(data) makes" if lens is None else f"p.replace({lens}, v) makes"
            msg = f"{shown(self)} does not change, so its .{name} cannot be set: {made} another vector"
            raise SpaceError(msg)

    def __init__(self, space: V, leaves: tuple[Any, ...], token: int | None = None) -> None:
        """Take a tuple of arrays that are known to fit; users call `space.vec(data)`, which checks."""
        if type(leaves) is not tuple:
            msg = "a vector is made by V.vec(data), where V is a space such as R ** Fin.of(n)"
            raise SpaceError(msg)
        _set_space(self, space)
        _set_leaves(self, leaves)
        if token is not None:
            _set_token(self, token)

    @property
    def token(self) -> int:
        """The number that `==` compares: drawn at random when first asked for."""
        if not hasattr(self, "_token"):
            drawn = uuid.uuid4().int
            with LOCK:
                if not hasattr(self, "_token"):
                    _set_token(self, drawn)
        return self._token

    @property
    def array(self) -> Any:
        """The array, or the tuple tree of arrays of a direct sum; read-only. A formal tensor is multiplied out."""
        return self.space.pack(iter(self.dense().leaves))

    @property
    def is_formal(self) -> bool:
        """True if some array is stored as a sum of tensor products."""
        return Formal in map(type, self.leaves)

    def dense(self) -> Vec[V]:
        """The same element with plain arrays only: a formal tensor is multiplied out, and takes dim V·dim W entries."""
        if not self.is_formal:
            return self
        return Vec(self.space, tuple(freeze(dense(leaf)) for leaf in self.leaves))

    @declared
    def tensor(self: Linear[S], other: Vec[T]) -> Vec[TensorProduct[S, T]]:
        """u ⊗ v as a formal tensor: the two factors are kept. Raises SpaceError for other things than vectors."""
        raise NotImplementedError

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
            raise SpaceError(msg + as_numbers(self.space))
        return self.space

    def _other(self, other: Any, operation: str, fits: str) -> Any:
        """Leave an operator to an expression; raise SpaceError for any other operand."""
        if isinstance(other, Applicable):
            return NotImplemented
        what = f"cannot form {operation}: v is in {self.space}, and the other side is {shown(other)}"
        is_sparse = hasattr(other, "tocoo") and self.space.leaves
        msg = f"{what}: {of_sparse(self, is_solved=False) if is_sparse else fitting(other, fits)}"
        raise SpaceError(msg)

    @declared
    def _zip_apart(self, other: Vec[Any], sign: str, operation: Callable[[Any, Any], Any]) -> Any:
        """Combine a scalar and a vector; raises SpaceError for other vectors of two spaces."""
        raise NotImplementedError

    def _zip(self, other: Any, sign: str, operation: Callable[[Any, Any], Any]) -> Any:
        if not isinstance(other, Vec):
            return self._other(other, f"v {sign} w", f"a vector of {self.space} would fit")
        if other.space is not self.space and other.space != self.space:
            return self._zip_apart(other, sign, operation)
        self._require(f"v {sign} w")
        for a, b in zip(self.leaves, other.leaves, strict=True):
            if type(a) is not type(b):
                common_namespace((a, b))
        pairs = zip(self.leaves, other.leaves, strict=True)
        return Vec(self.space, tuple(freeze(operation(a, b)) for a, b in pairs))

    def _shifted(self, k: float, sign: str) -> Vec[Any]:
        """v + k, a number in every entry."""
        self._require(f"v {sign} k")
        if self.is_formal:
            v: Vec[Space] = cast("Vec[Space]", self)
            return v + v.filled(k)
        return Vec(self.space, tuple(freeze(a + k) for a in self.leaves))

    def _instead_of(self, name: str) -> str:
        return lens_for(self.space, name) or of_leaves(self.space, "x.space", name)

    def filled(self, k: float) -> Vec[V]:
        """The vector of the same space with k in every entry, in the array library of this one."""
        self._require("a number as a vector")
        full = self.space.full(k)
        if in_numpy(self.leaves):
            return full
        plain = [part for a in self.leaves for part in (a.parts if isinstance(a, Formal) else (a,))]
        return Vec(self.space, tuple(freeze(moved(a, plain[0])) for a in full.leaves))

    @overloaded(lambda: _calls.Vec___add__)
    @of_two
    def __add__(self: Vec[Any], other: Any) -> Any:
        """v + w; a scalar or a number is added to every entry."""
        if type(other) is not Vec and (k := number(other)) is not None:
            return self._shifted(k, "+")
        memo = Memo()
        return self._zip(other, "+", lambda a, b: formal.add(a, b, memo))

    @overloaded(lambda: _calls.Vec___sub__)
    @of_two
    def __sub__(self: Vec[Any], other: Any) -> Any:
        """v − w; a scalar or a number is taken from every entry."""
        if type(other) is not Vec and (k := number(other)) is not None:
            return self._shifted(-k, "−")
        memo = Memo()
        return self._zip(other, "−", lambda a, b: formal.subtract(a, b, memo))

    @of_two
    def __radd__(self: Linear[S], other: Number) -> Vec[S]:
        v, k = _known(self), number(other)
        if k is None:
            unfit: Vec[S] = v._other(other, "w + v", f"a vector of {v.space}, or a number, would fit")
            return unfit
        return v._shifted(k, "+")

    @of_two
    def __rsub__(self: Linear[S], other: Number) -> Vec[S]:
        v, k = _known(self), number(other)
        if k is None:
            unfit: Vec[S] = v._other(other, "w − v", f"a vector of {v.space}, or a number, would fit")
            return unfit
        return (-v)._shifted(k, "−")

    def __pos__(self: Linear[S]) -> Vec[S]:
        return _known(self)

    def __neg__(self: Linear[S]) -> Vec[S]:
        v: Any = self
        try:
            return Vec(v._require("−v"), tuple(freeze(formal.scaled(a, -1.0)) for a in v.leaves))
        except SpaceError as error:
            cut(error)
            raise

    @overloaded(lambda: _calls.Vec___mul__)
    @of_two
    def __mul__(self: Vec[Any], k: Any) -> Any:
        """k·v for a number or scalar k, v·w entry by entry for two vectors of one space."""
        if type(k) is Vec:
            return self._multiplied(k)
        factor = k if type(k) is float else number(k)
        if factor is None:
            return self._other(k, "k·v", "a number or a vector would fit")
        return Vec(self._require("k·v"), tuple(freeze(formal.scaled(a, factor)) for a in self.leaves))

    if TYPE_CHECKING:

        def __rmul__(self: Linear[S], k: Number) -> Vec[S]: ...

    else:
        __rmul__ = __mul__

    @declared
    def _multiplied(self, other: Vec[Any]) -> Vec[Any]:
        raise NotImplementedError

    @of_two
    def __truediv__(self: Linear[S], k: Vec[S] | Vec[Field] | Number) -> Vec[S]:
        """v/k for a number or scalar k, v/w entry by entry for two vectors of one space."""
        v, factor = _known(self), k if type(k) is float else None if type(k) is Vec else number(k)
        if factor is None:
            fits = "a number or a vector would fit"
            quotient: Vec[S] = v._divided(k) if isinstance(k, Vec) else v._other(k, "v/k", fits)
            return quotient
        return Vec(v._require("v/k"), tuple(freeze(formal.divided(a, factor)) for a in v.leaves))

    @declared
    def _divided(self, other: Vec[Any]) -> Vec[Any]:
        raise NotImplementedError

    @declared
    def __rtruediv__(self: Linear[S], k: Number) -> Vec[S]:
        """k/v, entry by entry, for a number k."""
        raise NotImplementedError

    @declared
    def __pow__(self: Linear[S], k: Number) -> Vec[S]:
        """v^k, entry by entry, for a number k; see `pow` for an exponent that varies."""
        raise NotImplementedError

    @declared
    def __rpow__(self, k: Never) -> NoReturn:
        raise NotImplementedError

    @declared
    def __abs__(self: Linear[S]) -> Vec[S]:
        """|v|, entry by entry; the length is v.norm()."""
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec___matmul__)
    @declared
    def __matmul__(self: Vec[Any], other: Any) -> Any:
        """Matrix product, matrix–vector product, inner product of vectors; SpaceError where inner axes differ."""
        raise NotImplementedError

    @of_two
    def __rmatmul__(self, other: Never) -> Any:
        return self._other(other, "w @ v", "a vector or a matrix would fit")

    @property
    def T(self: Vec[Copower[A, Product[I, J]]]) -> Vec[Copower[A, Product[J, I]]]:
        """The transpose of a matrix, V^{X×Y} to V^{Y×X}, without a copy; SpaceError if the index set is no product."""
        return self._transposed()

    @declared
    def _transposed(self) -> Vec[Any]:
        """The transpose; see `T`."""
        raise NotImplementedError

    @of_two
    def inner(self: Linear[S], other: Vec[S]) -> float:
        """v ⊙ w: Σ over all entries (of formal tensors: factors). Raises SpaceError for vectors of two spaces."""
        require_vector(other, "v ⊙ w")
        products = _known(self)._zip(other, "⊙", _dot)
        return added(products.leaves)

    @overloaded(lambda: _calls.Vec_norm)
    @declared
    def norm(self: Vec[Any], over: Any = None) -> Any:
        """‖v‖ = √(v ⊙ v), of a formal tensor by orthonormalising its factors; along an axis a vector of norms."""
        raise NotImplementedError

    @declared
    def _normed(self, over: Any, **options: Any) -> Any:
        """The norms along an axis."""
        raise NotImplementedError

    def _within(self, space: W) -> Vec[W]:
        return Vec(space, self.leaves)  # one of the same leaves

    def __float__(self) -> float:
        if len(self.leaves) != 1 or self.space.dim != 1:
            msg = f"only a vector of dimension 1 is a number, not one of {self.space}"
            raise SpaceError(msg)
        (leaf,) = self.dense().leaves
        return float(namespace(leaf).reshape(leaf, ()))

    def __round__(self, digits: int = 0) -> float:
        """The rounded number that a vector of dimension 1 is; raises SpaceError for another."""
        if len(self.leaves) == 1 and self.space.dim == 1:
            return round(float(self), digits)
        msg = f"{shown(self)} is no number to round: write show(v, digits=3) to print it, or round its v.array"
        raise SpaceError(msg)

    def __format__(self, spec: str) -> str:
        """The number that a vector of dimension 1 is, in Python's format; without one, the text of any vector."""
        if not spec:
            return str(self)
        if len(self.leaves) == 1 and self.space.dim == 1:
            return format(float(self), spec)
        msg = f"the format {spec!r} does not apply to {shown(self)}: write show(v, digits=3), or v.array"
        raise SpaceError(msg)

    @overloaded(lambda: _calls.Vec___getitem__)
    @of_two
    def __getitem__(self: Vec[Any], i: Any) -> Any:
        """π_k: part k of a direct sum, or the component of V^X at a position or label; V^{X×Y} takes A[i, j].

        A lens takes the part of a record that it names, of P^X those of all components.
        Positions count from 0; negative ones from the end, for components. `v[a:b]` is indexed by `Fin.of(b − a)`,
        `A[i, :]` by Y; v[x] for dynamic elements x of X is a gather. Raises SpaceError for a position,
        label or element that does not exist.
        """
        if type(i) is Lens:
            part, start, stop = i.at(self.space)
            return Vec(part, self.leaves[start:stop])
        if isinstance(i, (Vec, Applicable)):
            return self._component(i)
        space = self.space
        parts = space.parts
        if not (len(parts) == 1 and parts[0] is space):  # a direct sum
            start, stop = span(space, i)
            return Vec(parts[part_place(space, i)], self.leaves[start:stop])
        cod, keys = space.selection(i)
        if not in_numpy(self.leaves):
            return self._component(i)
        here = slices(keys)
        return Vec(cod, tuple(freeze(leaf[here]) for leaf in self.leaves))

    @declared
    def _component(self, i: Any) -> Vec[Any]:
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec_replace)
    @written("p.replace(Layer.bias, v), with the lens of a part of the record Layer")
    def replace(self: Vec[Any], lens: Any, part: Any) -> Any:
        """The same vector but for one part of its record; raises SpaceError for a part of another space."""
        if isinstance(part, Applicable):
            msg = f"replace of {shown(self)} takes a vector, not {shown(part)}: write const(p).replace({lens}, x)"
            raise SpaceError(msg)
        require_vector(part, f"p.replace({lens}, v)")
        start, stop = place(self.space, lens, part.space)
        return Vec(self.space, (*self.leaves[:start], *part.leaves, *self.leaves[stop:]))

    @declared
    def moved(self, by: Vec[Any]) -> Vec[V]:
        """v + t for a tangent t, in V or the space of gradients: discrete parts of v stay; SpaceError for others."""
        raise NotImplementedError

    @declared
    def map_leaves(self, f: Callable[[str, Vec[Any]], Vec[Any]]) -> Vec[V]:
        """f(path, v) for each leaf v, path `encoder.bias` say; SpaceError unless it is a vector of the space of v."""
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec_split)
    def split(self: Vec[Any]) -> Any:
        """All parts of an element of a direct sum; of (V ⊕ W)^X those of V^X ⊕ W^X, which holds the same arrays.

        Raises SpaceError for another space.
        """
        leaves = self.leaves
        return tuple([Vec(part, leaves[where]) for part, where in summand_slices(self.space)])

    @overloaded(lambda: _calls.Vec___iter__)
    def __iter__(self: Vec[Any]) -> Iterator[Vec[Any]]:
        this: Any = self
        return iter([this[k] for k in visited(this)])

    def __len__(self) -> int:
        return len(self.space.places)

    def __bool__(self) -> bool:
        """The value of one Bool; raises SpaceError for everything else."""
        if len(self.leaves) == 1 and self.space.leaves[0].kind == "b" and not self.space.leaves[0].axes:
            return bool(self.leaves[0])
        truths = any(leaf.kind == "b" for leaf in self.space.leaves)
        of_entries = "write v.array.any() or v.array.all(), or select(c, x) for an if in each entry"
        remedy = of_entries if truths else "compare it, as in v.norm() > 0.0"
        msg = f"{shown(self)} has no truth value: {remedy}"
        raise SpaceError(msg)

    # --- attached by diff: an operation on vectors is the operation on expressions, see diff.vocabulary.eager ---

    @declared
    def scatter(self: Vec[Copower[W, J]], ids: Vec[Copower[Elements[I], J]]) -> Vec[Copower[W, I]]:
        """Σ_y v_y e_{ids(y)} for v ∈ V^Y and ids ∈ X^Y: a segment sum, the adjoint of the gather v[ids]."""
        raise NotImplementedError

    @declared
    def roll(self: Vec[Copower[W, I]], by: int, over: Index | int | None = None) -> Vec[Copower[W, I]]:
        """(v_{x − by mod |X|})_x, as numpy's roll along one axis; see `linmap.roll`."""
        raise NotImplementedError

    @declared
    def flip(self: Vec[Copower[W, I]], over: Index | int | None = None) -> Vec[Copower[W, I]]:
        """The components backwards; see `linmap.flip`."""
        raise NotImplementedError

    @declared
    def cumsum(
        self: Vec[Copower[W, I]], over: Index | int | None = None, *, reverse: bool = False, exclusive: bool = False
    ) -> Vec[Copower[W, I]]:
        """(Σ_{y≤x} v_y)_x; from the end if `reverse`, without x itself if `exclusive`; see `linmap.cumsum`."""
        raise NotImplementedError

    @declared
    def clip(self: Linear[S], low: Vec[S] | Number | None = None, high: Vec[S] | Number | None = None) -> Vec[S]:
        """min(max(v, low), high), entry by entry; None is no bound. See `maximum` for the derivative at a bound."""
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec_cast)
    @declared
    def cast(self: Vec[Any], field: Field) -> Any:
        """The same numbers in another precision; truth values as 1 and 0, integers as numbers, without a derivative."""
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec_concatenate)
    @declared
    def concatenate(self: Vec[Any], other: Any, *, to: Any = None) -> Any:
        """V^X and V^Y one after the other in V^{X+Y}, or in V^Z for Z = `to`; see `linmap.concatenate`."""
        raise NotImplementedError

    @declared
    def rep(self: Linear[S], V: Z, *, over: Index | int | None = None) -> Vec[Z]:
        """v once for each element of the axes that V has more; `over` is the new one where V has one of v twice."""
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec_transpose)
    @declared
    def transpose(self: Vec[Any], Y: Any = None) -> Any:
        """`T`; or the factors of the index set in another order, v.transpose(Z * X) of V^{X×Z}."""
        raise NotImplementedError

    @declared
    def reshape(self: Vec[Copower[W, I]], Y: J) -> Vec[Copower[W, J]]:
        """The same entries in V^Y for |X| = |Y|, in the flat orders; see `linmap.reshape`."""
        raise NotImplementedError

    @declared
    def rows(self: Vec[Copower[W, Product[I, J]]]) -> Vec[Copower[Copower[W, J], I]]:
        """The rows of a table in V^{X×Y}, one for each element of X, in (V^Y)^X; see `linmap.curry`."""
        raise NotImplementedError

    # --- comparisons: mypy does not see that x < y is of the type of y > x ---

    @overloaded(lambda: _calls.Vec___gt__)
    @declared
    def __gt__(self: Vec[Any], o: Any) -> Any:
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec___ge__)
    @declared
    def __ge__(self: Vec[Any], o: Any) -> Any:
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec___lt__)
    @declared
    def __lt__(self: Vec[Any], o: Any) -> Any:
        raise NotImplementedError

    @overloaded(lambda: _calls.Vec___le__)
    @declared
    def __le__(self: Vec[Any], o: Any) -> Any:
        raise NotImplementedError

    @declared
    def __and__(self: Vec[Truth], o: Vec[Truth]) -> Vec[Truth]:
        raise NotImplementedError

    @declared
    def __or__(self: Vec[Truth], o: Vec[Truth]) -> Vec[Truth]:
        raise NotImplementedError

    @declared
    def __invert__(self: Vec[Truth]) -> Vec[Truth]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Vec) and self.space == other.space and self.token == other.token)

    def __hash__(self) -> int:
        return hash(self.token)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.space, self.leaves, self.token)

    def __str__(self) -> str:
        if self.is_formal:
            return f"{self._tensor_text()} ∈ {self.space}"
        entries = self._entries()
        return f"{self._summary() if entries is None else named(self.space, entries)} ∈ {self.space}"

    def __repr__(self) -> str:
        if self.is_formal:
            return self._tensor_source() or self.name()
        entries = self._entries()
        if entries is None:
            return self.name()
        space = repr(self.space)
        return f"{space}.vec({entries!r})" if space.isidentifier() else f"({space}).vec({entries!r})"

    @declared
    def _tensor_text(self) -> str:
        """A formal tensor in the paper's notation."""
        raise NotImplementedError

    @declared
    def _tensor_source(self) -> str | None:
        """A Python expression for a small formal tensor."""
        raise NotImplementedError

    def name(self) -> str:
        """A Python expression for this very vector, which evaluates while the vector lives (`base.repr_names`)."""
        return spelled(self, f"{self.token:032x}", self._shapes())

    def _entries(self) -> Any:
        """The tuple tree of nested lists of a small vector; None for larger vectors, and for tracers."""
        if self.space.dim > SMALL:
            return None
        try:
            return self.space.pack(iter([to_numpy(a).tolist() for a in self.leaves]))
        except TypeError:  # a tracer of JAX has no entries yet
            return None

    def _summary(self) -> str:
        """The parts of a larger vector: single numbers and a few as they are, the shapes of longer arrays."""
        return named(self.space, self.space.pack(map(few, self.space.leaves, self.leaves)), str)

    def _shapes(self) -> str:
        dense = (f"{leaf.dtype}{list(leaf.shape)}" for leaf in self.space.leaves)
        return ", ".join(map(repr, self.leaves) if self.is_formal else dense)


_set_space, _set_leaves, _set_token = (vars(Vec)[name].__set__ for name in ("space", "leaves", "_token"))
"""The setters of the slots of a new vector: half as fast again as `object.__setattr__`."""
Vec.__init__.__defaults__ = (None,) * 3  # for the error of Vec(data); type checkers know no defaults


def _dot(a: Any, b: Any) -> float:
    if isinstance(a, Formal) or isinstance(b, Formal):
        return inner(a, b)
    xp = common_namespace((a, b))
    return float(xp.vecdot(xp.reshape(xp.asarray(a), (-1,)), xp.reshape(xp.asarray(b), (-1,))))


def _rebuild(space: Any, leaves: tuple[Any, ...], token: int) -> Vec[Any]:
    return Vec(space, tuple(map(freeze, leaves)), token)


shown.register(Vec, lambda v: f"a vector of {said(v.space)}")


def require_vector(value: Any, what: str) -> None:
    """Raise SpaceError unless a value is a vector."""
    if not isinstance(value, Vec):
        msg = f"{what} takes a vector, not {shown(value)}: make one by V.vec(data)"
        raise SpaceError(msg)
