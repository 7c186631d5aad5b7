"""Records: direct sums whose parts have names, as spaces and as vectors."""

from __future__ import annotations

import copy
import io
import operator
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
import pytest
from hypothesis import given

from diff import fun, pointfree
from diff.names import NAMES
from hilbert import (
    R32,
    Copower,
    Elements,
    Fin,
    Labelled,
    Lens,
    Matrix,
    Part,
    R,
    Record,
    Scalar,
    Space,
    SpaceError,
    Vec,
    Vector,
    Z,
    Zero,
    direct_sum,
    fan_in,
    initial,
    load,
    save,
)
from hilbert.space.leafwise import leaf_spaces
from linmap import equal, identity, inject, pack, project, unpack
from tests.strategies import RECORDS, Source, sources

S = TypeVar("S")
rng_of = np.random.default_rng


class Pixel:
    """An axis."""


class Hidden:
    """Another axis."""


class Layer(Record):
    """Weights and biases."""

    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Other(Record):
    """The same parts."""

    weights: Part[Matrix[Hidden, Pixel]]
    bias: Part[Vector[Hidden]]


class Deep(Layer):
    """One part more."""

    kind: ClassVar[str] = "deep"
    scale: Part[Scalar]


class Net(Record):
    """Records within a record."""

    encoder: Part[Layer]
    stack: Part[Copower[Deep, Fin[Any]]]
    label: Part[Elements[Fin[Hidden]]]


class Generically(Record, Generic[S]):
    """Type checkers have no lenses of it; the run has."""

    part: Part[Vector[S]]


pixel, hidden, depth = Fin(Pixel, 3), Fin(Hidden, 2), Fin.of(4)
W, H = R ** (hidden * pixel), R**hidden
L, D = Layer(weights=W, bias=H), Deep(weights=W, bias=H, scale=R)
N = Net(encoder=L, stack=D**depth, label=Elements(hidden))


def test_a_record_is_nominal() -> None:
    """Equal if of one class with equal parts; a copy and a pickle are equal."""
    assert Layer(weights=W, bias=H) == L
    assert hash(Layer(weights=W, bias=H)) == hash(L)
    others: list[Any] = [Other(weights=W, bias=H), direct_sum(W, H), D, Layer(weights=W, bias=R ** Fin(Hidden, 3)), 3]
    for other in others:
        assert other != L
        assert other != L
    for space in (L, D, N, N**depth, direct_sum(L, N)):
        assert pickle.loads(pickle.dumps(space)) == space
        assert copy.copy(space) == space
    assert pickle.loads(pickle.dumps(Net.encoder / Layer.bias)) == Net.encoder / Layer.bias


@given(sources())
def test_pack_and_unpack_are_unitary(s: Source) -> None:
    """pack • unpack = id, and the norm is kept; a record and the sum of its parts are unequal."""
    parts = tuple(s.space(8, 1) for _ in range(s.integer(0, 3)))
    P = s.one_of(RECORDS[len(parts)]).of_parts(parts)
    v = s.vector(P)
    assert unpack(P)(v).space == direct_sum(*parts)
    assert P not in (direct_sum(*parts), *parts)
    assert equal(pack(P)(unpack(P)(v)), v)
    assert unpack(P)(v).inner(unpack(P)(v)) == v.inner(v)
    assert [equal(v[lens], unpack(P)(v)[k]) for k, lens in enumerate(P.lenses.values())] == [True] * len(parts)


def test_names() -> None:
    """Base classes first; class variables and methods are no parts."""
    assert tuple(Layer.lenses) == Layer.names == ("weights", "bias")
    assert tuple(Deep.lenses) == ("weights", "bias", "scale")
    assert Deep.kind == "deep"
    assert D.scale == R
    assert D.parts == (W, H, R)


def test_two_base_classes() -> None:
    """A class may be reached in two ways; two parts of one name are refused."""

    class Left(Layer):
        left: Part[Scalar]

    class Right(Layer):
        right: Part[Scalar]

    class Both(Left, Right):
        both: Part[Scalar]

    assert sorted(Both.lenses) == ["bias", "both", "left", "right", "weights"]
    assert tuple(Both.lenses)[:2] == ("weights", "bias")
    with pytest.raises(SpaceError, match=r"two base classes of Bad have a part weights"):

        class Bad(Layer, Other):
            pass


def test_declarations_that_are_refused() -> None:
    """The message names the class, the part and the remedy."""
    with pytest.raises(SpaceError, match=r"Bad.rate is annotated float: a record has parts, `rate: Part"):

        class Bad(Record):
            rate: float

    with pytest.raises(SpaceError, match=r"the part Bad2.rate has a value"):

        class Bad2(Record):
            rate: Part[Scalar] = cast("Any", R)

    with pytest.raises(SpaceError, match=r"the part Bad3._rate begins with an underscore"):

        class Bad3(Record):
            _rate: Part[Scalar]

    for name in ("dim", "parts", "vec", "names", "lenses", "of", "tangent", "memo", "zeros"):
        with pytest.raises(SpaceError, match=f"the part Bad4.{name} would hide `{name}` of every space"):
            type("Bad4", (Record,), {"__annotations__": {name: "Part[Scalar]"}})
    with pytest.raises(SpaceError, match=r"Bad5.x is declared by an annotation: write `x: Part\[V\]`"):

        class Bad5(Record):
            x = Part[Scalar]("x")

    with pytest.raises(SpaceError, match=r"Bad6.bias is a part of a base class already"):
        type("Bad6", (Layer,), {"bias": property(lambda _: 0)})


def test_spaces_that_are_refused() -> None:
    """Missing and extra names are listed together."""
    make: Any = Layer
    with pytest.raises(SpaceError, match=r"the record Layer: weights, bias missing; no part is called wieghts; write"):
        make(wieghts=W)
    with pytest.raises(SpaceError, match=r"parts are given by name"):
        make(W, H)
    with pytest.raises(SpaceError, match=r"Layer.bias is a space, not 3"):
        make(weights=W, bias=3)
    with pytest.raises(SpaceError, match=r"a space is not changed: Layer.weights cannot be set"):
        make(weights=W, bias=H).weights = H
    with pytest.raises(SpaceError, match=r"the record Layer has no part offset: it has weights, bias"):
        _ = make(weights=W, bias=H).offset
    assert not hasattr(L, "offset")


def test_lenses() -> None:
    """A lens takes a part of a vector, of parts of parts, of copowers; and says where there is none."""
    n = N.random(rng_of(0))
    assert equal(n[Net.encoder / Layer.bias], n[Net.encoder][Layer.bias])
    assert n[Net.stack / Deep.scale].space == R**depth
    assert equal(n[Net.stack / Layer.weights][2], n[Net.stack][2][Deep.weights])
    many = (N**hidden).random(rng_of(1))
    assert many[Net.stack / Deep.bias].space == (H**depth) ** hidden
    assert equal(many[Net.stack / Deep.bias][1], many[1][Net.stack / Deep.bias])
    assert str(Net.stack / Deep.bias) == "Net.stack / Deep.bias"
    assert (Net.stack / Deep.bias).name == "stack.bias"
    point: Any = n
    composed: Any = operator.truediv
    with pytest.raises(SpaceError, match=r"Deep.scale is no part of the record Layer, whose parts are Layer.weights"):
        point[composed(Net.encoder, Deep.scale)]
    with pytest.raises(SpaceError, match=r"Layer.bias is no part of the record Net, whose parts are Net.encoder"):
        point[Layer.bias]
    with pytest.raises(SpaceError, match=r"Layer.bias is a part of the record Layer, not of Net"):
        point[composed(Net.encoder / Layer.bias, Layer.bias)]
    pair: Any = direct_sum(R, L).zeros()
    with pytest.raises(
        SpaceError,
        match=r": of its part 1, as in x\[1\]\[Layer.bias\]; the gradient in it is grad\(f, 1\)\(x, y\)\[Layer.bias\]",
    ):
        pair[Layer.bias]
    for taken in (0, "encoder"):
        with pytest.raises(SpaceError, match=r"the parts of the record Net have no positions"):
            point[taken]
    many_points: Any = many
    for use in (point.split, many_points.split, point.__iter__):
        with pytest.raises(SpaceError, match=r"the parts of the record Net have no positions"):
            use()


def test_attributes() -> None:
    """The name of a part as an attribute says which lens to write; other names are Python's errors."""
    both: list[Any] = [L.zeros(), (L**depth).zeros()]
    for v in both:
        with pytest.raises(SpaceError, match=r"has no .bias: write p\[Layer.bias\]"):
            _ = v.bias
        assert not hasattr(v, "bias")
        with pytest.raises(AttributeError, match=r"'Vec' object has no attribute 'offset'"):
            _ = v.offset
    with pytest.raises(SpaceError, match=r"has no \.shape: write \[leaf.shape for leaf in x\.space\.leaves\]"):
        _ = both[0].shape


def test_tangents_keep_their_places() -> None:
    """0 stands in the place of a discrete part, in records, direct sums and copowers."""
    zero: Any = Zero()
    assert N.tangent == Net(encoder=L, stack=D**depth, label=zero)
    assert (N**depth).tangent == N.tangent**depth
    assert direct_sum(Z, R, N).tangent == direct_sum(Zero(), R, N.tangent)
    assert (direct_sum(R, Z) ** depth).tangent == direct_sum(R, Zero()) ** depth
    assert direct_sum(Z, Z).tangent == direct_sum(Zero(), Zero())
    assert (Z**depth).tangent == Z.tangent == Zero()
    assert L.tangent is L


def test_printing() -> None:
    """Names in the text of spaces and vectors; repr evaluates back."""
    assert str(L) == "Layer(weights: ℝ^{Hidden2×Pixel3}, bias: ℝ^Hidden2)"
    assert str(direct_sum(L, R) * R) == f"({L} ⊕ ℝ) ⊗ ℝ"
    assert str(L * L**depth) == f"{L} ⊗ {L}^4"
    names = globals()
    for space in (L, N, L**depth, direct_sum(L, N), L * R):
        assert eval(repr(space), dict(names)) == space  # noqa: S307 - our own text
    v = D.of(weights=W.ones(), bias=[1.0, 2.0], scale=3.0)
    assert str(v).startswith("(weights: [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], bias: [1.0, 2.0], scale: 3.0) ∈ Deep(")
    assert equal(eval(repr(v), dict(names)), v)  # noqa: S307 - our own text


def test_of() -> None:
    """Vectors, arrays and tuples by name; what does not fit says which part."""
    p = N.of(encoder=L.zeros(), stack=(np.zeros((4, 2, 3)), np.ones((4, 2)), np.zeros(4)), label=1)
    assert p[Net.label].array == 1
    assert equal(L.of(bias=[1.0, 2.0], weights=W.zeros())[Layer.bias], H.vec([1.0, 2.0]))
    with pytest.raises(SpaceError, match=r"Layer.bias: an array of shape \(3,\) is not an element of ℝ\^Hidden2"):
        L.of(weights=W.zeros(), bias=np.zeros(3))
    with pytest.raises(SpaceError, match=r"Layer.bias: a vector of ℝ is not an element of ℝ"):
        L.of(weights=W.zeros(), bias=R.zeros())
    with pytest.raises(SpaceError, match=r"a vector of Layer: bias missing; no part is called b; write P.of"):
        L.of(weights=W.zeros(), b=H.zeros())
    with pytest.raises(SpaceError, match=r"a vector of Layer: bias missing; no part is called a, b; write P.of"):
        L.of(weights=W.zeros(), a=H.zeros(), b=H.zeros())
    with pytest.raises(
        SpaceError, match=r"^Layer.of is of the class, which has no spaces: write P.of\(…\) of a space P"
    ):
        Layer.of(weights=W.zeros(), bias=H.zeros())  # type: ignore[call-arg]
    of_class: Any = Layer
    for made in (
        of_class.zeros,
        of_class.ones,
        lambda: of_class.random(np.random.default_rng(0)),
        lambda: of_class.vec({}),
    ):
        with pytest.raises(SpaceError, match=r"is of the class, which has no spaces: write P\.\w+\(…\) of a space P"):
            made()


def test_a_record_is_not_changed() -> None:
    """Both ways to set a part say which call makes another vector."""
    p: Any = L.zeros()
    with pytest.raises(SpaceError, match=r"or of a record p.replace\(P.a, v\)$"):
        p[Layer.bias] = H.ones()
    with pytest.raises(
        SpaceError, match=r"so its .bias cannot be set: p.replace\(Layer.bias, v\) makes another vector$"
    ):
        p.bias = H.ones()
    with pytest.raises(SpaceError, match=r"a change x\[k\] = … of an expression of Layer.*p.replace\(P.a, v\)\n  at "):
        fun(L)(lambda p: operator.setitem(p, Layer.bias, p[Layer.bias]))  # type: ignore[call-overload]


def test_replace() -> None:
    """One part is another, all others are the same arrays."""
    p: Any = D.random(rng_of(0))
    q = p.replace(Layer.bias, H.ones())
    assert equal(q[Deep.bias], H.ones())
    assert q.leaves[0] is p.leaves[0]
    many = (L**depth).zeros().replace(Layer.bias, (H**depth).ones())
    assert equal(many[3][Layer.bias], H.ones())
    with pytest.raises(SpaceError, match=r"Layer.bias is in ℝ\^Hidden2, not in ℝ"):
        p.replace(Layer.bias, R.zeros())
    with pytest.raises(SpaceError, match=r"a part of Deep.* is named by a lens, such as Params.weights, not by 'bias'"):
        p.replace("bias", H.zeros())


def test_long_spaces_differ_at_a_path() -> None:
    """A message about two long spaces begins with the first part in which they differ; not if both are short."""
    net: Any = Net(encoder=L, stack=D**depth, label=Elements(hidden)).tangent
    other = net.of_parts((L.of_parts((W, R**pixel)), *net.parts[1:]))
    due = "at encoder.bias ℝ^Hidden2, not ℝ^Pixel3: "
    f, g = identity(net), identity(other)
    layer: Any = L
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: net.zeros() + other.zeros(), f"{due}cannot form v + w: v is in Net("),
        (lambda: other.vec(net.zeros()), f"{due}a vector of Net("),
        (lambda: g(net.zeros()), f"{due}cannot apply f : Net("),
        (
            lambda: fun(other, other)(lambda v, w: v + w)(other.zeros(), net.zeros()),
            f"{due}argument 2 is a vector of Net(",
        ),
        (lambda: g @ f, f"{due}cannot compose g ∘ f: f : Net("),
        (lambda: g + f, "at encoder.bias ℝ^Pixel3, not ℝ^Hidden2: cannot add f : Net("),
        (lambda: (net**depth).zeros() + (other**depth).zeros(), f"{due}cannot form v + w"),
        (lambda: fun(net, other)(lambda v, w: v + w), f"{due}cannot form Net("),
        (lambda: fun(net)(lambda v: g(2.0 * v)), f"{due}cannot apply f : Net("),
        (lambda: direct_sum(R, net).zeros() + direct_sum(R, other).zeros(), "at [1].encoder.bias ℝ^Hidden2, not"),
        (lambda: layer.zeros() + Other(weights=W, bias=H).zeros(), "cannot form v + w: v is in Layer("),
        (lambda: layer.zeros() + direct_sum(R, R).zeros(), "cannot form v + w: v is in Layer("),
    ]
    for refused, text in cases:
        with pytest.raises(SpaceError) as caught:
            refused()
        assert str(caught.value).startswith(text)


def test_paths() -> None:
    """Names and positions with dots; each leaf in its own space, in a copower in that of its components."""
    V = direct_sum(N, R**hidden, Zero(), L * R)
    assert leaf_spaces(V) == (
        ("0.encoder.weights", W),
        ("0.encoder.bias", H),
        ("0.stack.weights", W**depth),
        ("0.stack.bias", H**depth),
        ("0.stack.scale", R**depth),
        ("0.label", Elements(hidden)),
        ("1", H),
        ("3.0", W),
        ("3.1", H),
    )
    assert leaf_spaces(R) == (("", R),)


def test_moved() -> None:
    """v + t in what is real; labels and arrays of them stay; t is a tangent, and nothing else."""
    X = Fin.of(3)
    V: Any = direct_sum(R**X, Elements(X), direct_sum(Elements(X) ** Fin.of(2), R), Elements(X) ** Fin.of(4))
    v = V.vec(([1.0, 2.0, 3.0], 2, ([0, 1], 4.0), [2, 2, 1, 0]))
    t = V.tangent.vec(([1.0, 0.0, -1.0], (), ((), 0.5), ()))
    assert equal(v.moved(t), V.vec(([2.0, 2.0, 2.0], 2, ([0, 1], 4.5), [2, 2, 1, 0])))
    assert equal(v.moved(V.tangent.zeros()), v)
    pairs: Any = direct_sum(R, Elements(X)) ** Fin.of(2)
    w = pairs.vec(([1.0, 3.0], [2, 0]))
    assert equal(w.moved(pairs.tangent.ones()), pairs.vec(([2.0, 4.0], [2, 0])))
    x = (R**X).vec([1.0, 2.0, 3.0])
    assert equal(x.moved(-0.5 * x), 0.5 * x)
    for wrong in (x, v, 3.0):
        with pytest.raises(SpaceError, match=r"v.moved\(t\) takes a tangent of v, which is in .*: a vector of .* 0"):
            v.moved(cast("Any", wrong))


def test_map_leaves() -> None:
    """f of each leaf with its path; the space stays; what is no vector of the leaf's space is refused."""
    v: Any = N.random(rng_of(0))
    seen: list[str] = []

    def doubled(path: str, leaf: Vec[Any]) -> Vec[Any]:
        seen.append(path)
        return leaf if path == "label" else 2.0 * leaf

    w = v.map_leaves(doubled)
    assert seen == ["encoder.weights", "encoder.bias", "stack.weights", "stack.bias", "stack.scale", "label"]
    assert w.space == N
    assert equal(w[Net.stack], 2.0 * v[Net.stack])
    assert equal(w[Net.label], v[Net.label])
    with pytest.raises(SpaceError, match=r"f\('encoder.weights', v\) is 1.0, where a vector of"):
        v.map_leaves(lambda _, leaf: leaf.norm() * 0 + 1.0)
    with pytest.raises(SpaceError, match=r"where one of ℝ.*, the space of v, is due"):
        v.map_leaves(lambda *_: R.zeros())
    with pytest.raises(SpaceError, match="the space of v, is due"):
        H.ones().map_leaves(lambda *_: (R ** Fin.of(H.dim)).ones())  # as many numbers, of other axes
    for wrong in (lambda _: H.ones(), lambda _path, v, _more: v):
        with pytest.raises(SpaceError, match=r"the function of map_leaves\(f\) takes"):
            H.ones().map_leaves(cast("Any", wrong))
    tensor = H.ones().tensor(H.ones())
    assert equal(tensor.map_leaves(lambda _, leaf: leaf), tensor.dense())


def test_initial() -> None:
    """0 but for matrices, whose entries have variance 1/n for the last axis; components by the rule for one."""
    wide, starts = Fin(Pixel, 400), cast("Any", initial)
    P = direct_sum(
        Layer(weights=R ** (hidden * wide), bias=H), R, Layer(weights=R ** (hidden * wide), bias=H) ** Fin.of(50)
    )
    v = initial(P, rng_of(0))
    weights, stacked = v[0][Layer.weights].array, v[2][Layer.weights].array
    assert abs(weights.std() * 20.0 - 1.0) < 0.1
    assert abs(stacked.std() * 20.0 - 1.0) < 0.01
    assert not v[0][Layer.bias].array.any()
    assert not v[2][Layer.bias].array.any()
    assert not float(v[1])
    again = initial(P, rng_of(0))
    assert equal(v, again)

    def rule(path: str, V: Any, rng: np.random.Generator) -> Any:
        return V.ones() if path.endswith("bias") else fan_in(path, V, rng)

    assert initial(P, rng_of(0), rule)[2][Layer.bias].array.all()
    assert initial(Layer(weights=R32 ** (hidden * pixel), bias=R32**hidden), rng_of(0)).leaves[0].dtype == "float32"
    with pytest.raises(SpaceError, match=r"the leaf label: no initial value is drawn for the discrete leaf Hidden2"):
        initial(N, rng_of(0))
    with pytest.raises(SpaceError, match=r"the leaf of V: an array of shape"):
        initial(H, rng_of(0), lambda *_: [1.0])
    with pytest.raises(SpaceError, match=r"takes a space"):
        starts(H, np.random)
    with pytest.raises(
        SpaceError, match=r"^the rule of initial\(V, rng, rule\) takes \(path, space, rng\), not \(path\)$"
    ):
        starts(H, rng_of(0), lambda path: H.zeros())  # noqa: ARG005


def test_the_variance_is_that_of_the_last_axis() -> None:
    """Of three axes, too, and of one element; ℝ^X in stacks of stacks is a vector, which is 0."""
    last = {n: R ** (Fin.of(40) * Fin.of(50) * Fin.of(n)) for n in (1, 4)}
    for n, space in last.items():
        assert abs(initial(space, rng_of(0)).array.std() * np.sqrt(n) - 1.0) < 0.05
    assert initial(R ** (hidden * Fin.of(0)), rng_of(0)).array.shape == (2, 0)
    assert not initial(((R**hidden) ** depth) ** depth, rng_of(0)).array.any()
    assert initial((W**depth) ** depth, rng_of(0)).array.all()


@given(sources())
def test_save_and_load(s: Source) -> None:
    """load(V, save(v)) = v, for all spaces."""
    V = s.space()
    v = s.vector(V)
    file = FOLDER / "v.npz"
    save(v, file)
    assert equal(load(V, str(file)), v)
    stream = io.BytesIO()
    save(v, cast("Any", stream))
    stream.seek(0)
    assert equal(load(V, cast("Any", stream)), v)
    assert not stream.closed  # it is the caller's


FOLDER = Path()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> None:
    global FOLDER  # noqa: PLW0603 - Hypothesis calls a test many times, with one folder
    FOLDER = tmp_path


def test_all_that_is_wrong_with_a_file_is_listed_at_once(tmp_path: Path) -> None:
    """Missing, extra and mis-shaped keys, and dtypes."""
    file = tmp_path / "p.npz"
    p = D.random(rng_of(0))
    save(p, file)
    with np.load(file) as arrays:
        assert sorted(arrays) == ["bias", "scale", "weights"]
    Q = Layer(weights=R ** (hidden * Fin(Pixel, 4)), bias=R32**hidden)
    with pytest.raises(SpaceError) as caught:
        load(direct_sum(Q, R), file)
    for part in (
        "0.weights is missing",
        "0.bias is missing",
        "1 is missing",
        "weights is too many",
        "scale is too many",
    ):
        assert part in str(caught.value)
    with pytest.raises(SpaceError) as caught:
        load(Q, file)
    for part in (
        r"weights is float64[2, 3] where float64[2, 4] of ℝ^{Hidden2×Pixel4} is due",
        "bias is float64[2] where float32[2] of ℝ₃₂^Hidden2 is due",
        "scale is too many",
    ):
        assert part in str(caught.value)
    P = Net(encoder=L, stack=D**depth, label=Elements(Fin(Hidden, 9)))
    save(P.random(rng_of(0)).replace(Net.label, Elements(Fin(Hidden, 9)).vec(8)), file)
    with pytest.raises(SpaceError, match=r"p\.npz is no vector of .*: label: .*not elements"):
        load(N, file)
    (tmp_path / "text").write_text("no archive")
    for what in (tmp_path / "text", np.float64(3.0)):
        with pytest.raises(SpaceError, match=rf"{what if isinstance(what, Path) else 3.0} is no .npz file that save"):
            cast("Any", load)(D, what)
    with pytest.raises(FileNotFoundError):
        load(D, tmp_path / "nothing.npz")
    labels = Elements(Labelled.of(["a", "b"])) ** hidden
    save((Z**hidden).vec([0, 5]), file)
    with pytest.raises(SpaceError, match=r"not an element|no element|elements"):
        load(labels, file)


def test_a_damaged_file_is_no_archive(tmp_path: Path) -> None:
    """An empty file, a part of one, or one with a changed byte is refused, whatever is wrong with it."""
    whole, damaged = tmp_path / "whole.npz", tmp_path / "damaged.npz"
    np.savez_compressed(whole, **{path: leaf for (path, _), leaf in zip(leaf_spaces(D), D.ones().leaves, strict=True)})
    data = whole.read_bytes()
    assert equal(load(D, whole), D.ones())
    changed = [bytes([*data[:k], data[k] ^ 1 << k % 8, *data[k + 1 :]]) for k in range(len(data))]
    refused = 0
    for content in (*(data[:k] for k in range(len(data))), *changed):
        damaged.write_bytes(content)
        try:
            load(D, damaged)
        except SpaceError:
            refused += 1
    assert refused >= 1.5 * len(data)  # some bytes say nothing: dates, for example
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("a.npy", "no array")
    with pytest.raises(SpaceError, match=r"is no \.npz file that save"):
        load(D, damaged)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)})
    with zipfile.ZipFile(damaged, "w") as archive:
        archive.writestr("a.npy", header.getvalue())
    with pytest.raises(MemoryError, match=r"100000000000000 entries .* is more than memory holds"):
        load(D, damaged)


def test_a_part_called_file(tmp_path: Path) -> None:
    """Keys are any names."""

    class Odd(Record):
        file: Part[Scalar]
        args: Part[Scalar]

    P = Odd(file=R, args=R)
    save(P.ones(), tmp_path / "odd.npz")
    assert equal(load(P, tmp_path / "odd.npz"), P.ones())


def test_generic_classes_have_lenses_when_they_run() -> None:
    """Type checkers refuse them: docs/limits.md."""
    P: Any = Generically(part=H)
    lens: Any = vars(Generically)["lenses"]["part"]
    assert equal(P.ones()[lens], H.ones())


def test_deep_records() -> None:
    """Records within each other, hundreds deep: equality, pickles, text, paths without recursion."""

    class Inner(Record):
        below: Part[Space]

    Inner.__qualname__, Inner.__module__ = "DEEP", __name__
    globals()["DEEP"] = Inner
    P: Any = R
    Q: Any = R
    for _ in range(2000):
        P, Q = Inner(below=P), Inner(below=Q)
    assert P == Q
    assert pickle.loads(pickle.dumps(P)) == P
    assert str(P).count("below: ") == 2000
    ((path, space),) = leaf_spaces(P)
    assert path.count("below") == 2000
    assert space == R
    assert P.tangent == P
    assert float(P.ones().flat()[0]) == 1.0


def test_records_of_a_function_are_not_pickled() -> None:
    """The message says which class, also inside other spaces."""

    class Local(Record):
        part: Part[Scalar]

    for space in (Local(part=R), direct_sum(R, Local(part=R)), Local(part=R) ** hidden):
        with pytest.raises(SpaceError, match=r"the record .*Local cannot be pickled: it is not importable"):
            pickle.dumps(space)
    with pytest.raises(SpaceError, match=r"the record .*Local cannot be pickled"):
        pickle.dumps(Local.part)

    class Outer(Record):
        pair: Part[Pair]

    class Inner(Record):
        local: Part[Local]

    lenses: list[Any] = [Outer.pair / Pair.a, Inner.local / Local.part]
    for lens in lenses:
        with pytest.raises(SpaceError, match=r"cannot be pickled"):
            pickle.dumps(lens)
    two: Any = Lens(Pair.a.path + Local.part.path)  # the second class, too
    with pytest.raises(SpaceError, match=r"the record .*Local cannot be pickled"):
        pickle.dumps(two)


class Pair(Record):
    a: Part[Scalar]
    b: Part[Vector[Any]]


def test_the_text_of_what_picks_a_part() -> None:
    """It names the part by its lens, and evaluates to the same term."""
    P = Pair(a=R, b=R ** Fin.of(3))
    for f in (project(P, Pair.a), inject(P, Pair.b), pointfree(fun(P)(lambda p: p[Pair.a] * p[Pair.b]))):
        assert eval(repr(f), dict(NAMES, Pair=Pair)) == f  # noqa: S307 - ours


def test_parts_named_as_operations_are() -> None:
    """A name says which lens to write; primitives, which are operations of lines, keep what that name is there."""
    from diff.terms.elementwise import Comparison, Primitive
    from hilbert.base.notarray import refuse_part
    from hilbert.program.line.step_operation import Operation

    names = [name for name in vars(Operation) if not name.startswith("_")]
    classes = (Comparison, Primitive)
    before = [{name: getattr(cls, name) for name in names} for cls in classes]
    for name in names:
        refuse_part(name)
    assert [{name: getattr(cls, name) for name in names} for cls in classes] == before
    v = (R ** Fin.of(2)).vec([1.0, -1.0])
    assert (v > 0.0).array.tolist() == fun(v.space)(lambda x: x > 0.0)(v).array.tolist() == [True, False]
