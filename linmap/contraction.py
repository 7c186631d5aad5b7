"""Bilinear maps as data: sums of labelled contractions between the leaves of their spaces (paper §3.1).

>>> from hilbert import Fin, R
>>> X, Y = Fin.of(3), Fin.of(2)
>>> print(matrix_vector(Y, X).cod, outer(R ** X, R ** Y).cod, inner(R ** X).cod)
ℝ^2 ℝ^3 ⊗ ℝ^2 ℝ
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar, final, overload

from attrs import frozen

from hilbert import Copower, Elements, Field, Index, Product, R, SpaceError, TensorProduct, Type
from hilbert.displayed import DisplayedAsFormula
from hilbert.errors import shown
from hilbert.index.index import require_index
from hilbert.index.leaf import Leaf
from hilbert.index.spec import Spec
from hilbert.program.line.operation import product
from hilbert.space.space import atom, power, require_space, require_type, type_of
from linmap.signs import sign_of

I = TypeVar("I", bound=Index)
J = TypeVar("J", bound=Index)
H = TypeVar("H", bound=Index)
U = TypeVar("U", bound=Type)
V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)


@final
@frozen(cache_hash=True)
class Contraction(DisplayedAsFormula, Generic[U, V, W]):
    """⋄ : U × V →₂ W. `terms` (i, j, k, spec): leaf i of U with leaf j of V adds into leaf k of W."""

    left: U
    right: V
    cod: W
    terms: tuple[tuple[int, int, int, Spec], ...]

    def __attrs_post_init__(self) -> None:
        for space in (self.left, self.right, self.cod):
            require_type(space, "a bilinear map")
        if not isinstance(self.terms, tuple) or not all(map(_is_term, self.terms)):
            msg = f"a bilinear map {self.left} × {self.right} → {self.cod} is a tuple of terms (i, j, k, Spec), not "
            raise SpaceError(msg + shown(self.terms))
        for i, j, k, spec in self.terms:
            for name, place, space in (("left", i, self.left), ("right", j, self.right), ("result", k, self.cod)):
                if not 0 <= place < len(space.leaves):
                    msg = f"contraction {spec}: {name} leaf {place} does not exist, {space} has {len(space.leaves)}"
                    raise SpaceError(msg)
            made = product(spec, self.left.leaves[i], self.right.leaves[j])
            if made != self.cod.leaves[k]:
                msg = f"contraction {spec} of {self.left} and {self.right} gives {made}, not {self.cod.leaves[k]}"
                raise SpaceError(msg)

    def lifted(self, index: I) -> Contraction[Copower[U, I], Copower[V, I], Copower[W, I]]:
        """⋄^X : U^X × V^X →₂ W^X, zipped."""
        n = len(index.axes)
        terms = tuple((i, j, k, spec.lifted(n, left=True, right=True)) for i, j, k, spec in self.terms)
        return Contraction(Copower(self.left, index), Copower(self.right, index), Copower(self.cod, index), terms)

    @property
    def symbol(self) -> str:
        """The sign of the operation: ⋆, ∗, ⊙, ⊗, ·, its labels; for an element x ∈ X, v ! x = v_x and k e x = k·e_x."""
        if not self.terms:
            return "·"
        _, j, _, spec = self.terms[0]
        if self.right.leaves[j].entry.index is not None:
            return "!" if spec.right[-1:] in spec.left else "e"
        return sign_of(spec)[0]

    def __str__(self) -> str:
        return f"({self.symbol})"


AnyContraction: TypeAlias = Contraction[Any, Any, Any]
"""A bilinear map of any spaces."""


def _is_term(term: object) -> bool:
    form = (int, int, int, Spec)
    return isinstance(term, tuple) and len(term) == len(form) and all(map(isinstance, term, form))


def require_contraction(value: object, what: str) -> None:
    """Raise SpaceError unless a value is a bilinear map."""
    if not isinstance(value, Contraction):
        msg = f"{what} takes a bilinear map, not {shown(value)}: see linmap.contraction"
        raise SpaceError(msg)


def _single(space: Type, what: str) -> Leaf:
    require_type(space, what)
    if len(space.leaves) != 1:
        msg = f"{what} needs a space of one array, but {space} has {len(space.leaves)}"
        raise SpaceError(msg)
    return space.leaves[0]


@overload
def labelled(labels: str, U: U, V: V, cod: None = None) -> Contraction[U, V, Any]: ...
@overload
def labelled(labels: str, U: U, V: V, cod: W) -> Contraction[U, V, W]: ...
def labelled(labels: str, U: Any, V: Any, cod: Any = None) -> Any:
    """The bilinear map of a labelled contraction such as "ij,j->i" between two spaces of one array each.

    Raises SpaceError for labels that do not fit the axes, and for a result that is not `cod` where that is given.
    """
    text = labels.replace(" ", "") if isinstance(labels, str) else ""
    parts = re.fullmatch(r"([a-zA-Z]*),([a-zA-Z]*)->([a-zA-Z]*)", text)
    if parts is None:
        msg = f"{shown(labels)} is not a contraction of two operands: write labels like 'ij,j->i'"
        raise SpaceError(msg)
    spec = Spec.of(*parts.groups())
    left, right = _single(U, f"contraction {labels}"), _single(V, f"contraction {labels}")
    made = product(spec, left, right, parts.groups())
    if cod is not None:
        require_type(cod, f"contraction {labels}")
    if cod is not None and cod.leaves != (made,):
        msg = f"contraction {labels} of {U} and {V} is in {made}, not in {cod}"
        raise SpaceError(msg)
    return Contraction(U, V, cod or type_of(made), ((0, 0, 0, spec),))


def inner(V: V, field: Field = R) -> Contraction[V, V, Field]:
    """⊙ : V × V →₂ K, the inner product. `field` is K for the space 0, which has none; SpaceError for mixed fields."""
    require_space(V, "⊙")
    terms = []
    for k, leaf in enumerate(V.leaves):
        labels = Spec.pointwise(len(leaf.axes)).left
        terms.append((k, k, 0, Spec.of(labels, labels, "")))
    return Contraction(V, V, _field(V, field), tuple(terms))


def scalar(V: V, field: Field = R) -> Contraction[Field, V, V]:
    """· : K × V →₂ V, the scalar product; any space. `field` is K for the space 0, which has none of its own."""
    require_space(V, "k·v")
    terms = tuple((0, k, k, Spec.scalar(len(leaf.axes))) for k, leaf in enumerate(V.leaves))
    return Contraction(_field(V, field), V, V, terms)


def hadamard(V: V) -> Contraction[V, V, V]:
    """· : V × V →₂ V, entry by entry (zipWith ·); any space."""
    require_space(V, "the Hadamard product")
    terms = tuple((k, k, k, Spec.pointwise(len(leaf.axes))) for k, leaf in enumerate(V.leaves))
    return Contraction(V, V, V, terms)


def outer(V: V, W: W) -> Contraction[V, W, TensorProduct[V, W]]:
    """⊗ : V × W →₂ V ⊗ W; any spaces."""
    cod = TensorProduct(V, W)
    terms = []
    for i, a in enumerate(V.leaves):
        for j, b in enumerate(W.leaves):
            labels = Spec.pointwise(len(a.axes) + len(b.axes)).left
            left, right = labels[: len(a.axes)], labels[len(a.axes) :]
            terms.append((i, j, i * len(W.leaves) + j, Spec.of(left, right, labels)))
    return Contraction(V, W, cod, tuple(terms))


def matrix_vector(
    Y: I, X: J, field: Field = R
) -> Contraction[Copower[Field, Product[I, J]], Copower[Field, J], Copower[Field, I]]:
    """⋆ : K^{Y×X} × K^X →₂ K^Y, the matrix–vector product."""
    _sets("⋆", Y, X)
    cod: Any = power(field, Y)
    return contraction_over(Copower(field, Y * X), Copower(field, X), len(X.axes), cod)


def matrix_matrix(
    Z: I, Y: J, X: H, field: Field = R
) -> Contraction[Copower[Field, Product[I, J]], Copower[Field, Product[J, H]], Copower[Field, Product[I, H]]]:
    """∗ : K^{Z×Y} × K^{Y×X} →₂ K^{Z×X}, the matrix product."""
    _sets("∗", Z, Y, X)
    left, right = Copower(field, Z * Y), Copower(field, Y * X)
    return contraction_over(left, right, len(Y.axes), Copower(field, Z * X))


def _sets(what: str, *sets: Index) -> None:
    for index in sets:
        require_index(index, what)


def contraction_over(U: U, V: V, shared: int, cod: W) -> Contraction[U, V, W]:
    """∗ into `cod` of two spaces of one array each, the last `shared` axes of U against the first of V."""
    left, right = _single(U, "∗"), _single(V, "∗")
    rows, cols = len(left.axes) - shared, len(right.axes) - shared
    labels = Spec.pointwise(rows + shared + cols).left
    a, b, c = labels[:rows], labels[rows : rows + shared], labels[rows + shared :]
    spec = Spec.of(a + b, b + c, a + c)
    return Contraction(U, V, cod, ((0, 0, 0, spec),))


def tensor_contraction(W: W, V: V, U: U) -> Contraction[TensorProduct[W, V], TensorProduct[V, U], TensorProduct[W, U]]:
    """∗ : (W ⊗ V) × (V ⊗ U) →₂ W ⊗ U, (w⊗v) ∗ (v'⊗u) = (v⊙v')·(w⊗u): the one bilinear constant of §3.1."""
    left, right, cod = TensorProduct(W, V), TensorProduct(V, U), TensorProduct(W, U)
    n, m = len(V.leaves), len(U.leaves)
    terms = []
    for i, w in enumerate(W.leaves):
        for j, v in enumerate(V.leaves):
            for k, u in enumerate(U.leaves):
                labels = Spec.pointwise(len(w.axes) + len(v.axes) + len(u.axes)).left
                a = labels[: len(w.axes)]
                b = labels[len(w.axes) : len(w.axes) + len(v.axes)]
                c = labels[len(w.axes) + len(v.axes) :]
                terms.append((i * n + j, j * m + k, i * m + k, Spec.of(a + b, b + c, a + c)))
    return Contraction(left, right, cod, tuple(terms))


@overload
def pick(X: I) -> Contraction[Copower[Field, I], Elements[I], Field]: ...
@overload
def pick(X: I, V: V) -> Contraction[Copower[V, I], Elements[I], V]: ...
def pick(X: Any, V: Any = R) -> Any:
    """V^X × X →₂ V, (v, x) ↦ v_x: projection at a dynamic element; linear in v."""
    require_index(X, "v_x")
    require_space(V, "v_x")
    return _selecting(Copower(V, X), Elements(X), V, V, (len(X.axes), 0), ("xv", "x", "v"))


@overload
def gather(X: I, Y: J) -> Contraction[Copower[Field, I], Copower[Elements[I], J], Copower[Field, J]]: ...
@overload
def gather(X: I, Y: J, V: V) -> Contraction[Copower[V, I], Copower[Elements[I], J], Copower[V, J]]: ...
def gather(X: Any, Y: Any, V: Any = R) -> Any:
    """V^X × X^Y →₂ V^Y, (v, x) ↦ (v_{x(y)})_y: gather by dynamic indices; linear in v."""
    _sets("v[x]", X, Y)
    require_space(V, "v[x]")
    ends = (len(X.axes), len(Y.axes))
    return _selecting(Copower(V, X), Copower(Elements(X), Y), Copower(V, Y), V, ends, ("xv", "yx", "yv"))


@overload
def segment_sum(X: I, Y: J) -> Contraction[Copower[Field, J], Copower[Elements[I], J], Copower[Field, I]]: ...
@overload
def segment_sum(X: I, Y: J, V: V) -> Contraction[Copower[V, J], Copower[Elements[I], J], Copower[V, I]]: ...
def segment_sum(X: Any, Y: Any, V: Any = R) -> Any:
    """V^Y × X^Y →₂ V^X, (v, x) ↦ Σ_y v_y e_{x(y)}: segment sum by dynamic indices; linear in v."""
    _sets("a segment sum", X, Y)
    require_space(V, "a segment sum")
    ends = (len(X.axes), len(Y.axes))
    return _selecting(Copower(V, Y), Copower(Elements(X), Y), Copower(V, X), V, ends, ("yv", "yx", "xv"))


def _selecting(left: Any, right: Any, cod: Any, V: Any, ends: tuple[int, int], spec: tuple[str, str, str]) -> Any:
    """The contraction of each leaf of V, whose axes are v, with the axes x and y of elements x(y)."""
    terms = []
    for k, leaf in enumerate(V.leaves):
        counts = (*ends, len(leaf.axes))
        labels = iter(Spec.pointwise(sum(counts)).left)
        axes = {ord(name): "".join(islice(labels, count)) for name, count in zip("xyv", counts, strict=True)}
        terms.append((k, 0, k, Spec.of(*(names.translate(axes) for names in spec))))
    return Contraction(left, right, cod, tuple(terms))


def basis_vector(X: I, field: Field = R) -> Contraction[Field, Elements[I], Copower[Field, I]]:
    """K × X →₂ K^X, (k, x) ↦ k·e_x: the one-hot encoding of an element of X, scaled."""
    require_index(X, "e_x")
    labels = Spec.pointwise(len(X.axes)).left
    return Contraction(field, Elements(X), Copower(field, X), ((0, 0, 0, Spec.of("", labels, labels)),))


def _field(V: Type, default: Field = R) -> Field:
    bases = {atom(leaf.entry) for leaf in V.leaves}
    if len(bases) > 1:
        msg = f"{V} mixes fields; cast its parts to one"
        raise SpaceError(msg)
    base = bases.pop() if bases else default
    assert isinstance(base, Field)  # V is a space
    return base
