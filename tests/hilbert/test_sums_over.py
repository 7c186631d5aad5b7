"""Direct sums over an index set: parts by label, which are those by position; otherwise as any direct sum."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from adjoint import adjoint, grad, jacobian
from diff import derivative, fun, inner
from hilbert import DirectSum, Fin, Labelled, R, SpaceError, direct_sum, load, save
from linmap import inject, pack, project, unpack
from tests.strategies import Source, same, sources

X = Fin.of(2)


class Part:
    """An axis."""


def labelled(s: Source, *, with_tuples: bool = True) -> tuple[tuple[Any, ...], Any]:
    """Labels of several kinds, and a sum over them."""
    n = s.integer(1, 4)
    pairs: Any = ((1, 2), (3, 4), "c", "e")
    labels = s.one_of([("a", "b", "c", "d"), ("x y", "_", "π", "0"), *[pairs] * with_tuples])[:n]
    make = s.one_of([tuple, list])
    index: Any = Labelled(Part, labels) if s.flag() else Labelled.of(labels)
    spaces = [s.one_of([R, R ** Fin.of(k), direct_sum(R, R ** Fin.of(2)), (R**X) * (R**X)]) for k in range(n)]
    return labels, direct_sum.over(index, make(spaces))


@settings(max_examples=12)
@given(s=sources())
def test_parts_by_label(s: Source) -> None:
    """v["x"] = v[k], π_x = π_k, ι_x = π_x*, Σ ι_x π_x = id; pickle gives V back, and unpack its parts."""
    labels, V = labelled(s)
    v, w = s.vector(V), s.vector(V)
    assert pickle.loads(pickle.dumps(V)) == V
    assert hash(V) == hash(DirectSum(V.parts, over=V._index_set))
    assert direct_sum(*V.parts) != V
    total = V.zeros()
    for k, x in enumerate(labels):
        if isinstance(x, str):
            assert same(v[x], v[k])
        assert project(V, x) == project(V, k)
        assert adjoint(project(V, x)) == inject(V, x)
        assert str(project(V, x)) == f"π_{x}"
        assert f"{x}: " in str(V)
        total = total + inject(V, x)(project(V, x)(v))
    assert same(total, v)
    assert same(pack(V)(unpack(V)(v)), v)
    assert unpack(V).cod == direct_sum(*V.parts)
    assert adjoint(unpack(V)) == pack(V)
    assert (v + w).space == V == V.tangent


@settings(max_examples=8)
@given(s=sources())
def test_gradients_by_label(s: Source) -> None:
    """∂f/∂x by `wrt="x"` is that by position, and the part of ∇f."""
    labels, V = labelled(s, with_tuples=False)
    f: Any = fun(V)(lambda p: inner(p[labels[-1]], p[len(labels) - 1]) * 3.0 + inner(p[0], p[labels[0]]))
    v = s.vector(V)
    whole = grad(f)(v)
    assert whole.space == V
    for k, x in enumerate(labels):
        assert same(grad(f, wrt=x)(v), grad(f, wrt=k)(v))
        assert same(grad(f, wrt=x)(v), whole[k])
    found: Any = grad(f, wrt=labels)
    assert found(v).space == direct_sum(*V.parts)


def test_over_no_names() -> None:
    """Over Fin.of(n) it is the direct sum; over Fin(Tag, n) one of its own, by position."""
    assert direct_sum.over(Fin.of(2), (R, R)) == direct_sum(R, R)
    assert hash(direct_sum.over(Fin.of(2), [R, R])) == hash(direct_sum(R, R))
    assert repr(direct_sum.over(Fin.of(2), (R, R))) == "direct_sum(R, R)"
    V = direct_sum.over(Fin(Part, 2), (R, R))
    assert direct_sum(R, R) != V
    assert (str(V), str(project(V, 1))) == ("⊕Part2(0: ℝ, 1: ℝ)", "π₂")
    one = direct_sum.over(Labelled.of(["a"]), [R])
    assert one.vec((2.0,)).array == (np.array(2.0),)
    assert direct_sum.over(Fin.of(0), ()) == direct_sum()


def test_texts_and_files(tmp_path: Any) -> None:
    """Expressions, derivatives and files name the parts."""
    V = direct_sum.over(Labelled.of(["w", "b"]), (R ** Fin.of(2), R))
    f = fun(V)(lambda p: p["w"] * p["b"])
    assert str(f) == "p ↦ p.b·p.w"
    assert str(derivative(f)) == "(p.b·)•π_w + (·p.w)•π_b"
    v = V.vec(([1.0, 2.0], 3.0))
    np.testing.assert_array_equal(jacobian(f, v), [[3.0, 0.0, 1.0], [0.0, 3.0, 2.0]])
    assert eval(repr(V), {**globals()}) == V  # noqa: S307 - our own
    save(v, tmp_path / "v.npz")
    assert same(load(V, tmp_path / "v.npz"), v)
    a, b = v
    assert same(a, v.split()[0])
    assert same(b, v["b"])


def product_of(V: Any) -> Any:
    return fun(V)(lambda p: p["a"] * p["b"])


def label(name: Any) -> Any:
    """Labels in `wrt=` are for the run: no checker knows them."""
    return name


REFUSED: dict[str, Any] = {
    "'c' is not a label of 2: its labels are 'a', 'b'": lambda V: V.zeros()["c"],
    "'c' is not a label of 2": lambda V: grad(product_of(V), wrt=label("c")),
    "⊕(a: ℝ, b: ℝ) has 2 parts, so position 2 does not exist: give 0 to 1": lambda V: V.zeros()[2],
    "name positions or lenses of its parts, each once": lambda V: jacobian(
        product_of(V), V.zeros(), wrt=label(("a", 0))
    ),
    "ℝ ⊕ ℝ has 2 parts, so position 'a' does not exist": lambda _: direct_sum(R, R).zeros()["a"],
    "v is in ⊕(a: ℝ, b: ℝ) but w in ℝ ⊕ ℝ": lambda V: V.zeros() + direct_sum(R, R).zeros(),
    "is over one axis, Fin or Labelled, not over": lambda _: direct_sum.over(Fin.of(2) * Fin.of(2), [R] * 4),  # type: ignore[call-overload]
    "takes a space for each of 2 elements, in order, not 1 spaces": lambda _: direct_sum.over(Fin.of(2), (R,)),
    "takes a space for each of 2 elements, in order, not the space ℝ": lambda _: direct_sum.over(Fin.of(2), R),  # type: ignore[call-overload]
    "1001 has 1001, more than 1000: where all are one space V, write V ** X": lambda _: direct_sum.over(
        Fin.of(1001), [R] * 1001
    ),
    "a direct sum takes a space, not 3": lambda _: direct_sum.over(Fin.of(2), (R, 3)),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message: str) -> None:
    """What was tried, and what would do."""
    with pytest.raises(SpaceError) as caught:
        REFUSED[message](direct_sum.over(Labelled.of(["a", "b"]), (R, R)))
    assert message in str(caught.value)
