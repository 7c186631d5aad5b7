"""Bad input: a wrong space, axis, arity, dtype or shape at a public entrance is a SpaceError, before anything runs.

The message names both sides by their spaces, in the paper's notation, and what would fit; never an array's contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest

from hilbert import SpaceError
from hilbert.program.run.run import Runner
from tests.bad_input import PACKAGES, WORDS, first_line, says, unitary

Rows: TypeAlias = list[tuple[str, str]]
"""The source of a wrong call, and what its message contains; … stands for anything."""

HILBERT: dict[str, Rows] = {
    **{name: [(f"{name}(3.0)", "is a space, and not a function: V.vec(data) is the vector with some entries")]
       for name in ("R", "R32", "Bool", "Z")},
    "Labelled": [
        ("Labelled(Pixel, 3)", "the labels of an index set are a sequence, not 3"),
        ('Labelled(Pixel, ["a", "a"])', "distinct, but 'a' stands twice"),
        ('Labelled(Pixel, ["a", None])', "label 1 of an index set is missing (None, NaN): leave it out, or name it"),
        ("Labelled(Pixel, [np.nan])", "label 0 of an index set is missing"),
    ],
    "Fin": [
        ("Fin(3, 4)", "the tag of an axis is a class …not 3"),
        ("Fin(Pixel, -1)", "integer ≥ 0, not -1"),
        ("Fin(Pixel, 3.0)", "integer ≥ 0, not 3.0"),
        ("Fin(Pixel, True)", "integer ≥ 0, not True"),
        ('Fin.of("3")', "integer ≥ 0, not '3'"),
        ("Fin.of(2**63)", "9223372036854775808 elements are more than positions of 64 bits count"),
        ("Fin.of(np.zeros(3))", "integer ≥ 0, not an array of shape (3,) and dtype float64"),
        ("p.position(4)", "4 is not an element of Pixel4: give an integer from 0 to 3"),
        ("p.position(1.0)", "1.0 is not an element of Pixel4"),
        ("none.position(0)", "0 is not an element of 0: it has none"),
    ],
    "Axis": [
        ("Grey()", "Grey(…) makes nothing: Grey names an axis; write Grey.set for its index set, or Grey.of(n)"),
        ("Grey.of(-1)", "integer ≥ 0, not -1"),
        ("R ** Grey", "an index set, not the class Grey: write R ** Grey.set"),
        ("type('Old', (Grey,), {})", "the axis Old is a subclass of Grey, and axes are classes of their own"),
        ("type('Few', (Axis,), {}, size=2.0)", "integer ≥ 0, not 2.0"),
        ("type('None', (Axis,), {}).set", "the axis None has no size: write None.of(n), or declare one"),
    ],
    "Anonymous": [("Fin(Anonymous, 3.0)", "integer ≥ 0, not 3.0")],
    "Index": [
        ("p * 3", "takes an index set, not 3: write Fin(Tag, n)"),
        ("p + V", "takes an index set, not the space ℝ^Pixel4"),
    ],
    "Product": [
        ("Product(p, 3)", "right side of X × Y or X + Y takes an index set, not 3"),
        ('Product("a", p)', "left side … not 'a'"),
        ("(h * p).position(1)", "1 is not an element of Hidden3×Pixel4: give a pair"),
        ("(h * p).position((1, 1, 1))", "a tuple of 3 is not an element of Hidden3×Pixel4"),
        ("(h * p).position((3, 0))", "3 is not an element of Hidden3"),
    ],
    "Coproduct": [
        ("Coproduct(p, R)", "right side … takes an index set, not the space ℝ"),
        ("(h + p).position(7)", "7 is not an element of Hidden3+Pixel4: give an integer from 0 to 6"),
    ],
    "Unit": [("Unit() * 2", "takes an index set, not 2"), ("Unit().position(1)", "not an element of 𝟏")],
    "Relation": [
        ("relation.full(p, 3)", "a relation takes an index set, not 3"),
        ("relation.function([0, 1], p, h)", "table of a function Pixel4 → Hidden3 has 4 entries, not 2"),
        ("relation.function(p, h, [0, 1])", "function(positions, X, Y) takes its arguments in this order"),
        ("relation.pairs(p, h, [[0, 1]])", "pairs(entries, X, Y) takes its arguments in this order, index sets last"),
        ("relation.columns(p, h, [0], [1])", "columns(sources, targets, X, Y) takes its arguments in this order"),
        ("relation.partial(h, [True] * 3)", "partial(keep, X) takes its arguments in this order, index sets last"),
        ('relation.agreement(h * h, h, "ii->i")', "agreement(labels, X, Y) takes its arguments in this order"),
        ("relation.function([0, 1, 2, 3], p, h)", "position 3 does not lie in Hidden3: give 0 to 2"),
        ("relation.function([0, 1, 2, -1], p, h)", "position -1 does not lie in Hidden3"),
        ("relation.function([0.0, 1.0, 2.0, 1.0], p, h)", "array of integers, not float64"),
        ("relation.function([True] * 4, p, h)", "array of integers, not bool"),
        ("relation.function([[0], [1, 2]], p, h)", "Pixel4 → Hidden3 is an array of integers, not a list of 2"),
        ("relation.function([0] * 4, p, none)", "position 0 does not lie in 0: it has no elements"),
        ("relation.pairs([[0, 1, 2]], p, h)", "pairs of Pixel4×Hidden3 are an array of shape (n, 2)"),
        ("relation.pairs([[0, 3]], p, h)", "targets of pairs of Pixel4×Hidden3: position 3 does not lie in Hidden3"),
        ("relation.pairs([[0], [1, 2]], p, h)", "pairs of Pixel4×Hidden3 is an array of integers"),
        ("relation.run(h, p, 2)", "Hidden3 does not fit into Pixel4 at position 2: give 0 to 1"),
        ("relation.run(h, p, 1.0)", "at position 1.0"),
        ("relation.run(p, h, 0)", "Pixel4 does not fit into Hidden3 …more elements"),
        ("relation.leq(W)", "a relation takes an index set, not the space ℝ^Hidden3"),
    ],
    "Type": [
        ("V**3", "exponent of a copower is an index set, not 3: write (R ** Fin(Pixel, 4)) ** Fin.of(n)"),
        ("V.vec([1.0, 2.0])", "array of shape (2,) is not an element of ℝ^Pixel4: shape (4,) would fit"),
        ("V.vec([[1.0, 2.0], [3.0]])", "a list of 2 is ragged… not an element of ℝ^Pixel4: shape (4,)"),
        ("V.vec(None)", "not an element of ℝ^Pixel4"),
        ('V.vec("abcd")', "not an element of ℝ^Pixel4"),
        ('V.vec(["a"] * 4)', "a list of 4 is not an element of ℝ^Pixel4: float64 of shape (4,) would fit"),
        ("V.vec([True] * 4)", "not an element of ℝ^Pixel4"),
        ("V.vec(np.ones(4, bool))", "dtype bool is not an element of ℝ^Pixel4, which holds float64"),
        ("V.vec(np.ones(4, complex))", "dtype complex128 is not an element of ℝ^Pixel4"),
        ("V.vec(np.array([object()] * 4))", "dtype object is not an element of ℝ^Pixel4"),
        ('V.vec(np.zeros(4, [("a", "f8")]))', "is not an element of ℝ^Pixel4"),
        ('V.vec(np.recarray(4, dtype=[("a", float)]))', "is not an element of ℝ^Pixel4"),
        ('V.unflat(np.recarray(4, dtype=[("a", float)]))', "is not an element of ℝ^Pixel4"),
        ("V.vec(np.ma.masked_array(np.zeros(4), [1, 0, 0, 0]))", "a masked array is not an element of ℝ^Pixel4"),
        ('V.vec(bytearray(b"abcd"))', "a value of type bytearray is not an element of ℝ^Pixel4: …np.frombuffer("),
        ('V.unflat(memoryview(b"abcd"))', "a value of type memoryview is not an element of ℝ^Pixel4: …np.frombuffer("),
        ("V.vec(w)", "a vector of ℝ^Hidden3 is not an element of ℝ^Pixel4"),
        ("V.vec(f)", "not an element of ℝ^Pixel4"),
        ("V.vec([k, k, k, k])", "a list of 4 with a vector of ℝ among it is not an element of ℝ^Pixel4: stack(X, V)"),
        ("(S**none).vec([s, s, s])", "a tuple of 2 would fit, an array for each part, axes of 0 first; stack(X, V)"),
        ("(S**h).vec(np.zeros((3, 7)))", "of (ℝ^Pixel4 ⊕ ℝ^Hidden3)^Hidden3: a tuple of 2 …stack(X, V)(v, w, …)"),
        ("(P**p).vec([(M, w)] * 4)", "a list of 4 is not an element of Layer(…)^Pixel4: a tuple of 2 would fit"),
        ("S.vec((v.array,))", "a tuple of 1 is not an element of ℝ^Pixel4 ⊕ ℝ^Hidden3: a tuple of 2 would fit"),
        ("S.vec(np.zeros(7))", "an array of shape (7,) … is not an element of ℝ^Pixel4 ⊕ ℝ^Hidden3"),
        ("S.vec((v.array, (w.array,)))", "not an element of ℝ^Hidden3"),
        ('S.vec({"a": 1})', "is not an element of ℝ^Pixel4 ⊕ ℝ^Hidden3: a tuple of 2"),
        ("V.unflat(np.zeros(3))", "flat array of shape (3,) is not an element of ℝ^Pixel4: shape (4,)"),
        ("V.unflat([[1.0], [2.0, 3.0]])", "ragged… not an element of ℝ^Pixel4"),
        ("V.unflat(np.zeros(4, complex))", "complex128 is not an element of ℝ^Pixel4"),
        ("direct_sum(R, R32).unflat(np.zeros(2, complex))", "complex128 is not an element of ℝ ⊕ ℝ₃₂"),
        ("V.random(0)", "element of ℝ^Pixel4 is drawn from numpy.random.default_rng(seed), not from 0"),
    ],
    "Space": [("V * 3", "takes a space, not 3"), ("V * h", "takes a space, not the index set Hidden3")],
    "Discrete": [
        ("Bool.zeros()", "zeros needs a vector space, but Bool"),
        ("next((Bool**p).basis())", "basis needs a vector space, but Bool^Pixel4"),
        ("(Bool**p).unflat([True] * 4)", "Bool^Pixel4 has a discrete part and no flat form"),
    ],
    "Boolean": [
        ("(Boolean() ** h).vec([1, 0, 1])", "not an element of Bool^Hidden3: bool of shape (3,) would fit"),
        ("(Bool**h).vec(np.zeros(3))", "dtype float64 is not an element of Bool^Hidden3, which holds bool"),
    ],
    "Integers": [
        ("Integers().vec(1.5)", "1.5 is not an element of ℤ: int64"),
        ("(Z**h).vec(np.zeros(3))", "float64 is not an element of ℤ^Hidden3, which holds int64"),
        ("(Z**h).vec([True] * 3)", "not an element of ℤ^Hidden3"),
        ("(Z**h).vec([10**30] * 3)", "not an element of ℤ^Hidden3"),
    ],
    "Elements": [
        ("Elements(3)", "Elements(X) takes an index set, not 3"),
        ("Elements(V)", "Elements(X) takes an index set, not the space ℝ^Pixel4"),
        ("labels.vec(3)", "entries from 3 to 3 are not elements of Hidden3: integers from 0 to 2 would fit"),
        ("labels.vec(-1)", "entries from -1 to -1 are not elements of Hidden3"),
        ("labels.vec(1.0)", "1.0 is not an element of Hidden3"),
        ("labels.vec(True)", "True is not an element of Hidden3"),
        ("(labels**p).vec(np.zeros(4))", "float64 is not an element of Hidden3^Pixel4, which holds int64"),
        ("Elements(none).vec(0)", "not elements of 0: it has none"),
        ("Elements(none).random(np.random.default_rng(0))", "0 has no elements to draw"),
    ],
    "Field": [
        ('Field("float16")', "a field is 'float64' or 'float32', not 'float16'"),
        ("Field(np.float64)", "a field is 'float64' or 'float32', not the class float64"),
        ("R.vec([1.0])", "shape (1,) is not an element of ℝ: shape () would fit"),
        ("(R32**p).vec(np.zeros(4))", "dtype float64 is not an element of ℝ₃₂^Pixel4, which holds float32"),
        ("(R32**p).vec(np.arange(4))", "dtype int64 is not an element of ℝ₃₂^Pixel4"),
        ("R.vec(1j)", "1j is not an element of ℝ"),
    ],
    "Scalar": [('Scalar("complex")', "a field is 'float64' or 'float32', not 'complex'")],
    "Vector": [("Vector(R, 3)", "exponent of a copower is an index set, not 3")],
    "Matrix": [("Matrix(R, (h, p))", "exponent of a copower is an index set, not a tuple of 2")],
    "Zero": [("Zero().vec((1.0,))", "a tuple of 1 is not an element of 0: a tuple of 0 would fit")],
    "DirectSum": [
        ("DirectSum([R, V])", "a direct sum is of a tuple of spaces, not of a list of 2: write direct_sum"),
        ("DirectSum((R, 3))", "a direct sum takes a space, not 3"),
    ],
    "direct_sum": [
        ("direct_sum(R, p)", "a direct sum takes a space, not the index set Pixel4"),
        ("direct_sum((R, V))", "a direct sum takes a space, not a tuple of 2"),
    ],
    "Record": [
        ("Layer(weights=M)", "the record Layer: bias missing; write Layer(weights=V, bias=V)"),
        ("Layer(weights=M, bias=W, scale=R)", "the record Layer: no part is called scale"),
        ("Layer(M, W)", "parts are given by name, Layer(weights=V, bias=V)"),
        ("Layer(weights=M, bias=w)", "Layer.bias is a space, not a vector of ℝ^Hidden3"),
        ("Layer.space(Pixel=3)", "Layer.space: no size is given for Hidden: write Layer.space(Pixel=…, Hidden=n)"),
        ("Layer.space(Pixel=3, Grey=3)", "Layer.space: no axis is called Grey; its axes are Hidden, Pixel"),
        ("P.of(weights=M.zeros())", "a vector of Layer: bias missing; write P.of(weights=…, bias=…)"),
        ("P.of(weights=M.zeros(), bias=v)", "Layer.bias: a vector of ℝ^Pixel4 is not an element of ℝ^Hidden3"),
        ("P.zeros()[0]", "the parts of the record Layer have no positions: write p[lens], with one of Layer.weights"),
        ("P.zeros().bias", "a vector of Layer(…) has no .bias: write p[Layer.bias]"),
        ("setattr(P, 'bias', W)", "a space is not changed: Layer.bias cannot be set"),
        ("P.scale", "the record Layer has no part scale: it has weights, bias"),
        ("P.zeros().replace(Layer.bias, v)", "Layer.bias is in ℝ^Hidden3, not in ℝ^Pixel4"),
        ("P.zeros().replace(0, w)", "is named by a lens, such as Params.weights, not by 0"),
        ("Fin(Pixel, ('a', 'b'))", "is an integer ≥ 0, not a tuple of 2: for labels write Labelled(Tag, labels)"),
        ("P.zeros().map_leaves(3)", "takes a function of path and leaf, not 3"),
        ("P.zeros().map_leaves(lambda path, v: 3)", "f('weights', v) is 3, where a vector of ℝ^{Hidden3×Pixel4} is"),
    ],
    "Part": [
        ("type('Rate', (Record,), {'__annotations__': {'rate': float}})", "Rate.rate is annotated float: a record has"),
        ("type('Bad', (Record,), {'__annotations__': {'dim': 'Part[Scalar]'}})", "would hide `dim` of every space"),
    ],
    "Lens": [
        ("v[Layer.bias]", "Layer.bias is a part of the record Layer, not of ℝ^Pixel4"),
        ("Layer.bias / 'weights'", "a lens, such as Layer.bias, would fit, not 'weights'"),
        ("grad(fun(P)(lambda p: p[Layer.bias].sum()), 0)", "the parts of the record Layer have no positions"),
    ],
    "initial": [
        ("initial(V, 0)", "initial(V, rng) takes a space and numpy.random.default_rng(seed), not 0"),
        ("initial(3, np.random.default_rng(0))", "takes a space and numpy.random.default_rng(seed), not 3"),
        ("initial(labels, np.random.default_rng(0))", "the leaf of V: no initial value is drawn for the discrete leaf"),
        ("initial(V, np.random.default_rng(0), 3)", "the rule of initial(V, rng, rule) is a function of path, space"),
        ("initial(V, np.random.default_rng(0), lambda path, V, rng: 3.0)", "the leaf of V: an array of shape ()"),
    ],
    "fan_in": [("fan_in('', Z, np.random.default_rng(0))", "no initial value is drawn for the discrete leaf ℤ")],
    "save": [
        ("save('file.npz', v)", "save(v, file) takes a vector, not 'file.npz'"),
        ("save(v, None)", "save(v, file) takes the name of a file, not None"),
    ],
    "load": [
        ("load('file.npz', V)", "load(V, file) takes a space, not 'file.npz'"),
        ("load(V, 3)", "3 is no .npz file that save(v, file) wrote"),
    ],
    "Copower": [
        ("Copower(3, p)", "base of a copower … takes a space, not 3"),
        ("Copower(R, V)", "exponent of a copower is an index set, not the space ℝ^Pixel4"),
    ],
    "TensorProduct": [
        ("TensorProduct(V, None)", "takes a space, not None"),
        ("TensorProduct(V, labels)", "⊗ needs a vector space, but Hidden3"),
        ("V * (R32**p)", "ℝ^Pixel4 ⊗ ℝ₃₂^Pixel4: the factors have different dtypes"),
    ],
    "formal": [
        ("formal(V, [])", "formal tensors are elements of V ⊗ W, not of the space ℝ^Pixel4"),
        ("formal(V * W, [(w, v)])", "tensor of ℝ^Pixel4 ⊗ ℝ^Hidden3 takes a vector of ℝ^Pixel4, not one of ℝ^Hidden3"),
        ("formal(V * W, [v])", "made of pairs (u, v), not of a vector of ℝ^Pixel4"),
        ("formal(V * W, np.array(5.0))", "made of pairs (u, v), not of"),
        ("formal(V * W, [(v, [1.0, 2.0, 3.0])])", "formal takes a vector, not a list of 3"),
        ("formal(V * W, 3)", "made of pairs (u, v), not of 3"),
    ],
    "from_factors": [
        ("from_factors(v, 3)", "from_factors takes a vector, not 3"),
        ("from_factors(S.zeros(), v)", "takes left ∈ V^X and right ∈ W^X, not a vector of ℝ^Pixel4 ⊕ ℝ^Hidden3"),
        ("from_factors(v, w)", "over one index set X, not Pixel4 and Hidden3"),
    ],
    "compress": [
        ("compress(v, 0.0)", "an element of V ⊗ W has terms u ⊗ v, but not one of ℝ^Pixel4"),
        ("compress(v.tensor(w), -1.0)", "the tolerance of compress is a number ≥ 0, not -1.0"),
        ('compress(v.tensor(w), "small")', "a number ≥ 0, not 'small'"),
        ("compress(3, 0.0)", "compress takes a vector, not 3"),
    ],
    "rank": [
        ("rank(3)", "rank takes a vector, not 3"),
        ("rank(v)", "terms u ⊗ v, but not one of ℝ^Pixel4"),
        ("rank((V * W).zeros())", "is no sum of rank-one terms: part of it is dense; see compress"),
    ],
    "Vec": [
        ("v.tensor(3)", "u ⊗ v takes a vector, not 3"),
        ("v.tensor(v32)", "ℝ^Pixel4 ⊗ ℝ₃₂^Pixel4: the factors have different dtypes"),
        ("v.tensor(w) + v", "v + w: v is in ℝ^Pixel4 ⊗ ℝ^Hidden3 but w in ℝ^Pixel4"),
        ("v + w", "v + w: v is in ℝ^Pixel4 but w in ℝ^Hidden3"),
        ("v - v32", "v − w: v is in ℝ^Pixel4 but w in ℝ₃₂^Pixel4"),
        ("v + True", "v + w: v is in ℝ^Pixel4, and the other side is True: a vector of ℝ^Pixel4 would fit"),
        ("v + np.zeros(4)", "v is in ℝ^Pixel4, and the other side is an array of shape (4,)"),
        ("np.zeros(4) + v", "w + v: v is in ℝ^Pixel4, and the other side is an array"),
        ("None + v", "w + v: v is in ℝ^Pixel4, and the other side is None: a vector of ℝ^Pixel4, or a number, would"),
        ("None - v", "w − v: v is in ℝ^Pixel4, and the other side is None"),
        ("v * w", "cannot multiply ℝ^Pixel4 and ℝ^Hidden3"),
        ('"a" * v', "k·v: v is in ℝ^Pixel4, and the other side is 'a'"),
        ("True * v", "k·v: v is in ℝ^Pixel4, and the other side is True"),
        ("np.zeros(4) * v", "k·v: v is in ℝ^Pixel4, and the other side is an array"),
        ("1j * v", "k·v: v is in ℝ^Pixel4, and the other side is 1j"),
        ("v / w", "cannot form ℝ^Pixel4 / ℝ^Hidden3: both sides must be in one space"),
        ("v @ w", "ℝ^Pixel4 @ ℝ^Hidden3: Pixel4 meets Hidden3, but the inner axes must be the same"),
        ("v @ v32", "ℝ^Pixel4 @ ℝ₃₂^Pixel4: both must have one precision; see cast"),
        ("v @ np.zeros(4)", "v @ w: v is in ℝ^Pixel4, and the other side is an array of shape (4,)"),
        ("np.zeros(4) @ v", "w @ v: v is in ℝ^Pixel4, and the other side is an array"),
        ("v @ x", "ℝ^Pixel4 @ Hidden3: @ is for vectors ℝ^X and matrices"),
        ("v @ identity(V)", "the left side is a vector of ℝ^Pixel4: write A(v), or adjoint(A)(v) for v @ A"),
        ("v[:, None]", "v[:, None] for v in ℝ^Pixel4: axes have names…; v.rep(A.space) repeats v along the axes"),
        ("v[..., 0]", "v[..., 0] for v in ℝ^Pixel4: axes have names, so none is inserted or left out"),
        ("v.reshape(2, 2)", "write x.reshape(X), X an index set such as Fin.of(n) or Fin.of(n) * Fin.of(m)"),
        ("v.reshape((2, 2))", "takes an index set, not a tuple of 2: write Fin.of(n) * Fin.of(m) for the shape (n, m)"),
        ("M.ones().crop(1, None)", "is along one axis, and Hidden3×Pixel4 has 2: say which by its index set, over=X"),
        ("M.ones().pad(1, 1)", "is along one axis… by its position, over=0 or over=1"),
        ("M.ones().concatenate(M.ones(), over=h)", "'over': write …v = A.rows().concatenate(B.rows()), uncurry"),
        ("M.ones()[[0, 1]]", "A[a list of 2] for …several positions of an axis: …write A.rows()[x] for A[x, :]"),
        ("M.ones()[:, np.array([0, 1])]", "A.T.rows()[x] for A[:, x], where x = (Elements(X) ** Y).vec(positions)"),
        ("v.T", ".T transposes V^{X×Y}, not ℝ^Pixel4"),
        ("v.inner(w)", "v ⊙ w: v is in ℝ^Pixel4 but w in ℝ^Hidden3"),
        ("v.inner(v.array)", "v ⊙ w takes a vector, not an array"),
        ("x + x", "v + w needs a vector, but Hidden3 has a discrete part"),
        ("2.0 * x", "k·v needs a vector, but Hidden3"),
        ("x.norm()", "v ⊙ w needs a vector, but Hidden3"),
        ("x.flat()", "flat needs a vector, but Hidden3"),
        ("float(v)", "only a vector of dimension 1 is a number, not one of ℝ^Pixel4"),
        ("s[2]", "ℝ^Pixel4 ⊕ ℝ^Hidden3 has 2 parts, so position 2 does not exist: give 0 to 1"),
        ("s[-1]", "position -1 does not exist"),
        ("s[True]", "position True does not exist"),
        ('s["a"]', "position 'a' does not exist"),
        ("v[4]", "position 4 of a vector of ℝ^Pixel4 does not exist: Pixel4 has 4 elements, give -4 to 3"),
        ("list(k)", "an element of ℝ has no parts and no components"),
        ("np.tanh(v)", "numpy's tanh does not apply to a vector of ℝ^Pixel4: give it v.array"),
        ("np.linalg.norm(v)", "numpy's norm does not apply to a vector of ℝ^Pixel4"),
        ("np.asarray(v)", "conversion to an array does not apply to a vector of ℝ^Pixel4"),
        ("np.add(v, 1.0)", "numpy's add does not apply to a vector of ℝ^Pixel4"),
    ],
    "Map": [
        ("f(np.zeros(4))", "argument 1 of f : ℝ^Pixel4 → ℝ^Pixel4 is an array …a vector of ℝ^Pixel4 is due: make"),
        ("f([1.0] * 4)", "is a list of 4, where a vector of ℝ^Pixel4 is due"),
        ("f(w)", "cannot apply f : ℝ^Pixel4 → ℝ^Pixel4 to a vector of ℝ^Hidden3"),
        ("f(v32)", "f : ℝ^Pixel4 → ℝ^Pixel4 to a vector of ℝ₃₂^Pixel4"),
        ("identity(V**h)((R ** (h * p)).zeros())", "is due; they hold the same arrays, and curry(V)(v) maps one to"),
        ("stack(Fin.of(1))(R.vec(1.0))", "is due; a sum of one part takes a tuple of one: write (x,)"),
        ("total(h * p)((V ** h).zeros())", "is due; they hold the same arrays, and uncurry(V)(v) maps one"),
        ("total(h * p) @ identity(V ** h)", "and (ℝ^Pixel4)^Hidden3 is not ℝ^{Hidden3×Pixel4}; they …uncurry(V)"),
        ("identity(direct_sum(R, R) ** h)(direct_sum(W, W).zeros())", "is due; they …and zip_parts maps one"),
        ("identity(direct_sum(W, W))((direct_sum(R, R) ** h).zeros())", "is due; they …and unzip_parts maps one"),
        ("(R ** (h * p)).zeros() + v", "and v ∈ ℝ^Pixel4 write A + v.rep(V), or contract("),
        ("(R ** (h * p)).zeros() / w", "or contract(\"ij,i->ij\", A, v, to=V) for products of entries"),
        ("(R ** (h * p)).zeros() * w", "in one space; nothing is repeated by itself: for A ∈ V = ℝ^{Hidden3×Pixel4}"),
        ("(R ** Labelled.of('ab')).ones() + (R ** Labelled.of('ba')).ones()", "they are printed alike, but their"),
        ("v + (R ** Fin.of(4)).ones()", "they have the same shape, but other index sets"),
        ("fun(V)(lambda x: (x > 0.0) * x)", "cannot multiply Bool^Pixel4 and ℝ^Pixel4: select(c, x) is x where"),
        ("fun(V)(lambda x: (x > 0.0).sum())", "is 0; c.cast(R) is 1 where the condition c holds"),
        ("v[None]", "v[None] for v in ℝ^Pixel4: axes have names, so none is inserted"),
        ("identity(R ** (h * p)) + identity(V ** h)", "must have the same spaces; they …uncurry(V)(v) maps"),
        ("(V ** h).zeros() + (R ** (h * p)).zeros()", "must be in one space; they …and uncurry(V)(v) maps one"),
        ("(R ** (h * p)).vec((V ** h).zeros())", "is not an element of ℝ^{Hidden3×Pixel4}; they …uncurry(V)(v) maps"),
        ("(V * W).vec((R ** (p * h)).zeros())", "linmap.unitary.tensor_matrix, or its adjoint"),
        ("fun(V ** h)(lambda x: x + (R ** (h * p)).zeros())", "sides must be in one space; they …uncurry(V)(v) maps"),
        ("fun(R ** (h * p))(identity(V**h))", "one of (ℝ^Pixel4)^Hidden3 is due; they …curry(V)(v) maps"),
        ("f()", "takes one argument, a vector of ℝ^Pixel4; 0 were given"),
        ("f(v, v)", "takes one argument, …2 were given"),
        ("two(w, v)", "argument 1 is a vector of ℝ^Hidden3 where one of ℝ^Pixel4 is due (it would fit as argument 2)"),
        ("two(v)", "f : ℝ^Pixel4 ⊕ ℝ^Hidden3 → ℝ to a vector of ℝ^Pixel4"),
        ("two(v, w, w)", "takes 2 arguments, or one vector of ℝ^Pixel4 ⊕ ℝ^Hidden3; 3 were given"),
        ("two(v, None)", "argument 2 of f … is None, where a vector of ℝ^Hidden3 is due"),
        ("f + 3", "f + g: f : ℝ^Pixel4 → ℝ^Pixel4, and the other side is 3: a map ℝ^Pixel4 → ℝ^Pixel4 would fit"),
        ("3 + f", "g + f: f : ℝ^Pixel4 → ℝ^Pixel4, and the other side is 3"),
        ("f - v", "f − g: …the other side is a vector of ℝ^Pixel4"),
        ("v.array - f", "g − f: …the other side is an array"),
        ("f + two", "f : ℝ^Pixel4 → ℝ^Pixel4 and g : ℝ^Pixel4 ⊕ ℝ^Hidden3 → ℝ: both must have the same spaces"),
        ('f * "a"', "scales f by a number k, not by 'a'"),
        ("f * f", "scales f by a number k, not by a map ℝ^Pixel4 → ℝ^Pixel4; g @ f composes"),
        ("v * f", "k·v: v is in ℝ^Pixel4, and the other side is a map ℝ^Pixel4 → ℝ^Pixel4"),
        ("f**3", "copower f ** X takes an index set, not 3"),
        ("f @ two", "f : ℝ^Pixel4 ⊕ ℝ^Hidden3 → ℝ but g : ℝ^Pixel4 → ℝ^Pixel4, and ℝ is not ℝ^Pixel4"),
        ("f @ v", "the right side is a vector of ℝ^Pixel4: write A(v) for A : ℝ^Pixel4 → ℝ^Pixel4"),
        ("3 @ f", "g ∘ f: f : ℝ^Pixel4 → ℝ^Pixel4, and the other side is 3: a map on ℝ^Pixel4 would fit"),
        ("np.exp(f)", "numpy's exp does not apply to a map ℝ^Pixel4 → ℝ^Pixel4"),
    ],
}  # fmt: skip

ONE_SPACE = "identity dup add bra ket"
SET_AND_SPACE = "total rep cumsum flip differences stack unstack"
OF_ONE_FORM = {
    "transpose": "V ⊗ W or V^{Y×X}",
    "bars": "ℝ ⊗ V or V ⊗ ℝ",
    "assoc": "(U⊗V)⊗W",
    "unassoc": "U⊗(V⊗W)",
    "distrib": "(⊕ V_x)⊗W or V^X⊗W",
    "undistrib": "⊕ (V_x⊗W) or (V⊗W)^X",
    "zip_parts": "V^X ⊕ W^X",
    "unzip_parts": "(V⊕W)^X",
    "curry": "V^{X×Y}",
    "uncurry": "(V^Y)^X",
    "tensor_copower": "V^X ⊗ W^Y",
    "tensor_matrix": "ℝ^X ⊗ ℝ^Y",
    "split": "V^{X+Y}",
    "pack": "a record P",
    "unpack": "a record P",
}

LINMAP: dict[str, Rows] = {
    "linear_operator": [
        ("linear_operator(3)", "linear_operator needs a linear map at a point, not 3: that of a function f is deriv"),
        ("linear_operator(f)", "derivative(f).at(x), that of an operator linear_map(name, V, W, operator)"),
    ],
    "linear_map": [
        ("linear_map('m', S, V, max, max)", 'between spaces of one array each, and ℝ^Pixel4 ⊕ ℝ^Hidden3 has 2'),
        ("linear_map('m', V, V, 3)", "takes a name and two functions, not 'm', 3 and None"),
        ("linear_map('m', V, V, 3)", "an operator of scipy, PyLops or lineax; linear_operator(A) makes one of a map"),
        ("linear_map('m', 3, V, abs, abs)", 'linear_map takes a space, not 3'),
    ],
    **{
        name: [
            (f"{name}(R)", f"{name}(X) takes an index set, not the space ℝ"),
            (f"{name}(h, V)", f"{name}(X) is over R or R32, not over the space ℝ^Pixel4"),
            (f"{name}(h)(W.zeros())", "to a vector of ℝ^Hidden3: a vector of (ℝ ⊕ ℝ)^Hidden3 is due"),
        ]
        for name in ("fft", "ifft")
    },
    **{
        name: [
            (f"{name}(3)", "takes a space, not 3"),
            (f"{name}(p)", "takes a space, not the index set Pixel4"),
            (f"{name}(labels)", "needs a vector space, but Hidden3 has a discrete part"),
        ]
        for name in ONE_SPACE.split()
    },
    **{
        name: [
            (f"{name}(h, 3)", "takes a space, not 3"),
            (f"{name}(h, labels)", "needs a vector space, but Hidden3"),
            (f"{name}(3)", "takes an index set, not 3"),
            (f"{name}(R)", f"{name}(X, V) takes its arguments in this order…the space ℝ stands too early"),
            (f"{name}(V, h)", f"{name}(X, V) takes its arguments in this order, the space V last, and ℝ where it is"),
            (f"{name}(h, h)", f"{name}(X, V) takes…: the index set Hidden3 stands last"),
            (f"{name}(w)", f"{name}(X, V) …a vector of ℝ^Hidden3…: write {name}(X"),
        ]
        for name in SET_AND_SPACE.split()
    },
    **{
        name: [
            (f"{name}(R)", f"applies to {due}…, not to the space ℝ"),
            (f"{name}(v.array)", f"applies to {due}…, not to an array of shape (4,)"),
        ]
        for name, due in OF_ONE_FORM.items()
    },
    "zero": [
        ("zero(V, 3)", "takes a space, not 3"),
        ("zero(labels, V)", "needs a vector space, but Hidden3"),
    ],
    "scale": [
        ("scale(v, V)", "ℝ × ℝ^Pixel4 → ℝ^Pixel4 fixes a vector of ℝ, not of ℝ^Pixel4"),
        ('scale("k", V)', "scales f by a number k, not by 'k'"),
        ("scale(V, 2.0)", "scale(k, V) takes its arguments in this order, the space V last"),
        ('scale(k, "V")', "takes a space, not 'V'"),
        ('scale(2.0, "V")', "takes a space, not 'V'"),
    ],
    "project": [
        ("project(S, 2)", "ℝ^Pixel4 ⊕ ℝ^Hidden3 has 2 parts, so position 2 does not exist: give 0 to 1"),
        ("project(S, True)", "position True does not exist"),
        ("project(V, 4)", "4 is not an element of Pixel4"),
        ("project(M, 1)", "1 is not an element of Hidden3×Pixel4: give a pair"),
        ("project(p, 0)", "π_i takes a space, not the index set Pixel4"),
        ("project(direct_sum(V, labels), 0)", "π_i needs a vector space, but ℝ^Pixel4 ⊕ Hidden3"),
    ],
    "inject": [
        ("inject(S, -1)", "ℝ^Pixel4 ⊕ ℝ^Hidden3 has 2 parts, so position -1 does not exist"),
        ("inject(V, 1.0)", "1.0 is not an element of Pixel4"),
        ("inject(None, 0)", "ι_i takes a space, not None"),
    ],
    "fork": [
        ("fork()", "give at least one map"),
        ("fork(f, 3)", "takes a map, not 3"),
        ("fork(lin, two)", "one domain, not ℝ^Pixel4 and ℝ^Pixel4 ⊕ ℝ^Hidden3"),
        ("fork(lin, identity(W))", "one domain, not ℝ^Pixel4 and ℝ^Hidden3"),
    ],
    "join": [
        ("join()", "give at least one linear map"),
        ("join(lin, identity(W))", "one codomain, not ℝ^Pixel4 and ℝ^Hidden3"),
        (
            "join(identity(R ** (p * h)), identity((R ** h) ** p))",  # the same arrays, another space
            "one codomain, not ℝ^{Pixel4×Hidden3} and (ℝ^Hidden3)^Pixel4",
        ),
        ("join(lin, f)", "made of linear maps, not of a map ℝ^Pixel4 → ℝ^Pixel4"),
    ],
    "parallel": [
        ("parallel()", "give at least one map"),
        ("parallel(f, V)", "takes a map, not the space ℝ^Pixel4"),
    ],
    "compose": [
        ("compose()", "give at least one map"),
        ("compose([])", "give at least one map"),
        ("compose(3)", "compose takes a map, not 3"),
        ("compose(zero(V, W), zero(W, R))", "f : ℝ^Hidden3 → ℝ but g : ℝ^Pixel4 → ℝ^Hidden3…swap them?"),
        ("compose(lin, 3)", "takes a map, not 3"),
    ],
    "LinMap": [
        ("zero(V, W) @ zero(W, R)", "f : ℝ^Hidden3 → ℝ but g : ℝ^Pixel4 → ℝ^Hidden3…swap them?"),
        ("zero(V, W) + zero(W, V)", "f : ℝ^Pixel4 → ℝ^Hidden3 and g : ℝ^Hidden3 → ℝ^Pixel4"),
        ("lin(w)", "f : ℝ^Pixel4 → ℝ^Pixel4 to a vector of ℝ^Hidden3"),
        ("lin**V", "copower f ** X takes an index set, not the space ℝ^Pixel4"),
        ("3 @ lin", "f : ℝ^Pixel4 → ℝ^Pixel4, and the other side is 3"),
        ("open_net(v)", "open map ℝ^Pixel4 ⊸ ℝ^Pixel4 is not applied….at(point)"),
    ],
    "Net": [
        ("Net(V, V, (5,), (), (0,), V.leaves)", "a net on ℝ^Pixel4 has wires none at its end"),
        ("Net(V, W, (0,), (), (0,), V.leaves)", "a net on ℝ^Hidden3 has wires ℝ^Pixel4 at its end"),
        ("Net(V, 3, (0,), (), (0,), V.leaves)", "a net takes a space, not 3"),
        ("Net(V, V, (0,), (open_net.arcs[0], open_net.arcs[0]), (9,), V.leaves)", "net"),
    ],
    "Contraction": [
        ('Contraction(V, V, R, ((0, 1, 0, Spec.of("i", "i", "")),))', "right leaf 1 does not exist, ℝ^Pixel4 has 1"),
        ('Contraction(V, W, R, ((0, 0, 0, Spec.of("i", "i", "")),))', "label i is both Pixel4 and Hidden3"),
        ('Contraction(V, V, V, ((0, 0, 0, Spec.of("i", "i", "")),))', "ℝ^Pixel4 and ℝ^Pixel4 gives ℝ, not ℝ^Pixel4"),
        ("Contraction(V, 3, R, ())", "a bilinear map takes a space, not 3"),
        ("Contraction(V, V, R, [1])", "tuple of terms (i, j, k, Spec), not a list of 1"),
        ('contraction.labelled("ij,j->i", V, V)', "ij,j->i: ℝ^Pixel4 has 1 axes where ij needs 2"),
        ('contraction.labelled("ii,j->i", M, V)', "a label stands twice"),
        ('contraction.labelled("i,j->i", V, W)', "label j stands in one list only"),
        ('contraction.labelled("i+j", V, V)', "'i+j' is not a contraction of two operands"),
        ("contraction.labelled(3, V, V)", "3 is not a contraction of two operands"),
        ('contraction.labelled("i,i->", V, V, cod=V)', "ℝ^Pixel4 and ℝ^Pixel4 is in ℝ, not in ℝ^Pixel4"),
        ('contraction.labelled("i,i->", S, V)', "space of one array, but ℝ^Pixel4 ⊕ ℝ^Hidden3 has 2"),
        ("contraction.inner(direct_sum(R, R32))", "ℝ ⊕ ℝ₃₂ mixes fields"),
        ("contraction.hadamard(3)", "takes a space, not 3"),
        ("contraction.scalar(labels)", "needs a vector space, but Hidden3"),
        ("contraction.outer(V, v)", "takes a space, not a vector of ℝ^Pixel4"),
        ("contraction.matrix_vector(h, V)", "takes an index set, not the space ℝ^Pixel4"),
        ("contraction.matrix_matrix(h, 3, p)", "takes an index set, not 3"),
        ("contraction.pick(3, V)", "takes an index set, not 3"),
        ("contraction.basis_vector(V)", "takes an index set, not the space ℝ^Pixel4"),
    ],
    "red": [
        ("red(h, V)", "red_R takes a relation, not the index set Hidden3"),
        ("red(lin)", "red_R takes a relation, not a map"),
        ("red(V, relation.leq(h))", "red(relation, V) takes its arguments in this order…the space ℝ^Pixel4"),
        ("red(relation.leq(h), 3)", "takes a space, not 3"),
        ("red(relation.leq(h), R)(v)", "f : ℝ^Hidden3 → ℝ^Hidden3 to a vector of ℝ^Pixel4"),
    ],
    "gather": [
        ("gather([0, 3], h)", "position 3 does not lie in Hidden3: give 0 to 2"),
        ("gather([0, 1], h, rows=p)", "the table of a function Pixel4 → Hidden3 has 4 entries, not 2"),
        ("gather([0.5], h)", "is a one-dimensional array of integers, not float64 of shape (1,)"),
        ("gather([0, 1])", "gather by a table into X takes an index set, not None"),
        ("gather([0, 1], R)", "gather by a table into X takes an index set, not None"),
        ("gather([0, 1], P**h)", "Layer(…)^Hidden3 alone: write gather(table, X, V) with X = Hidden3 and V ="),
        ("gather([0, 1], h)((P**h).zeros())", "map of index sets, such as gather(table, X, V), takes V last: V = L"),
        ("gather([0, 1], h, 3)", "takes a space, not 3"),
        ("gather(relation.leq(h))", "gather takes the relation of a function, but ≤ ⊆ Hidden3×Hidden3 is none"),
        ("gather(relation.equality(h), p)", "by a table Hidden3 → Hidden3 does not fit the index set Pixel4: leave"),
        ("gather(v)", "gather takes elements of X, a vector of Elements(X) ** Y, not a vector of ℝ^Pixel4"),
        ("gather(relation.equality(h), 3)", "by a table Hidden3 → Hidden3 does not fit 3: leave it out"),
        ("gather(x, h)", "gather by a vector of Hidden3 takes no index sets beside it: leave the index set Hidden3"),
        ("gather(x, 3)", "gather by a vector of Hidden3 takes no index sets beside it: leave 3 out"),
        ("gather(R, [0, 1], h)", "gather(indices, X, V) takes its arguments in this order…the space ℝ stands"),
        ("gather(R, relation.equality(h))", "gather(indices, X, V) takes its arguments in this order"),
        ("gather([0, 1], R, h)", "gather(indices, X, V) takes its arguments in this order"),
    ],
    "segment_sum": [
        ("segment_sum([0, 3], h)", "position 3 does not lie in Hidden3: give 0 to 2"),
        ("segment_sum([[0, 1]], h, rows=p)", "is a one-dimensional array of integers, not int64 of shape (1, 2)"),
        ('segment_sum("abc", h)', "is a one-dimensional array of integers"),
        ("segment_sum(relation.full(p, h))", "segment_sum takes the relation of a function"),
        ("segment_sum(v)", "segment_sum takes elements of X, a vector of Elements(X) ** Y"),
        ("segment_sum(x)", "segment_sum takes elements of X, a vector of Elements(X) ** Y, not a vector of Hidden3"),
        ("segment_sum(R, [0, 1], h)", "segment_sum(indices, X, V) takes its arguments in this order"),
    ],
    "group_by": [
        ('group_by([1.0, float("nan")])', "a column of keys has missing entries (None, NaN)"),
        ("group_by([[1], [2]])", "the keys of a column are hashable; a list may become a tuple"),
        ("group_by([1, 2], rows=h)", "a column of 2 entries does not have the rows Hidden3"),
        ("group_by([1], 3)", "the keys of a column are an index set with labels, not 3"),
        ("group_by([1], None, 3)", "takes a space, not 3"),
        ("group_by(R, [1])", "group_by(column, keys, V) takes its arguments in this order"),
    ],
    "permute": [
        ("permute([0, 0, 1], h)", "the order of permute(order, Hidden3) has every element of Hidden3 once"),
        ("permute([0, 1], h)", "the table of a function Hidden3 → Hidden3 has 3 entries, not 2"),
        ("permute(None, h)", "is a one-dimensional array of integers, not object of shape ()"),
        ("permute(R, [0, 1, 2], h)", "permute(order, X, V) takes its arguments in this order"),
    ],
    "pad": [
        ("pad(h, -1, 0)", "the width of padding is an integer ≥ 0, not -1"),
        ("pad(h, 1, 0.5)", "the width of padding is an integer ≥ 0, not 0.5"),
        ("pad(h, 1, 1, to=p)", "pad has 5 elements, but Pixel4 has 4"),
        ("pad(3, 1, 1)", "pad takes an index set, not 3"),
        ("pad(R, h, 1, 1)", "pad(X, before, after, V) takes its arguments in this order"),
    ],
    "crop": [
        ("crop(h, 0, 2, step=0)", "the step of crop is not 0"),
        ("crop(h, 0.5, 2)", "the bounds of crop are integers or None, not 0.5"),
        ("crop(h, 0, 2, step=None)", "the step of crop is an integer, not None"),
        ("crop(h, 0, 2, to=p)", "crop has 2 elements, but Pixel4 has 4"),
        ("crop(h, 0, 2, 1)", "takes a space, not 1"),
        ("crop(R, h, 0, 2)", "crop(X, start, stop, V) takes its arguments in this order"),
    ],
    "roll": [
        ("roll(h, 0.5)", "the step of a rotation is an integer, not 0.5"),
        ("roll(3, 1)", "takes an index set, not 3"),
        ("roll(R, h, 1)", "roll(X, by, V) takes its arguments in this order"),
        ("roll(h, R, 1)", "roll(X, by, V) takes its arguments in this order"),
    ],
    "reshape": [
        ("reshape(h, p)", "Hidden3 of 3 elements has not the shape Pixel4 of 4: reshape keeps their number"),
        ("reshape(3, p)", "reshape takes an index set, not 3"),
        ("reshape(p, V)", "reshape(X, Y, V) takes its arguments in this order"),
        ("reshape(R, p, p)", "reshape(X, Y, V) takes its arguments in this order"),
    ],
    "concatenate": [
        ("concatenate()", "concatenate(X, Y, …, V=V) takes one index set at least"),
        ("concatenate(3)", "concatenate takes an index set, not 3"),
        ("concatenate([v, v])", "takes index sets, not a list of 2: write x.concatenate(y) for vectors"),
        ("concatenate(h, h, to=p)", "concatenate has 6 elements, but Pixel4 has 4"),
        ("concatenate(h, V=labels)", "needs a vector space, but Hidden3"),
        ("concatenate(h, p, R)", "concatenate(X, Y, …, V=V) takes its arguments in this order"),
    ],
    "windows": [
        ("windows(h, 0)", "the width of windows is an integer ≥ 1, not 0"),
        ("windows(h, 2, to=p)", "the 2 windows of width 2 in Hidden3 have |Y| = 2, |K| = 2 in Y×K, not the index set"),
        ("windows(3, 2)", "takes an index set, not 3"),
        ("windows(R, h, 2)", "windows(X, width, V) takes its arguments in this order"),
    ],
    "differences": [("differences(h, to=p)", "differences has 2 elements, but Pixel4 has 4")],
    "sparse": [
        ("sparse([0], [3], [1.0], h, p)", "position 3 does not lie in Hidden3: give 0 to 2"),
        ("sparse([0], [1, 2], [1.0], h, p)", "as many rows as columns and weights of entries, not 1, 2 and 1"),
        ('sparse([0], [1], ["a"], h, p)', "the weights of a sparse matrix are a one-dimensional array of numbers"),
        ("sparse([0], [1], [1.0], h, p, labels)", "needs a vector space, but Hidden3"),
        ("sparse([0], [1], [1.0], V, p)", "sparse(rows, cols, weights, X, Y, V) takes its arguments in this order"),
        ("sparse(h, p, [0], [1], [1.0])", "sparse(rows, cols, weights, X, Y, V) takes its arguments in this order"),
    ],
    "from_scipy": [
        ("from_scipy(np.zeros((2, 3)))", "from_scipy takes a sparse matrix of scipy, not an array"),
        ("from_scipy(3)", "from_scipy takes a sparse matrix of scipy, not 3"),
        ("from_scipy(scipy.sparse.eye(3, 4), h, p)", "X, which stands first, names the columns, and Y the rows"),
        ("from_scipy(R, 3, h, p)", "from_scipy(matrix, X, Y, V) takes its arguments in this order"),
    ],
    "pool": [
        ("pool(h, 0)", "the width of windows is an integer ≥ 1, not 0"),
        ("pool(h, 2, stride=0)", "the stride of windows is an integer ≥ 1, not 0"),
        ("pool(h, 2, to=3)", "takes an index set, not 3"),
        ("pool(R, h, 2)", "pool(X, width, V) takes its arguments in this order"),
    ],
    "section": [
        (
            "section(contraction.inner(V), 0, w)",
            "⊙ : ℝ^Pixel4 × ℝ^Pixel4 → ℝ fixes a vector of ℝ^Pixel4, not of ℝ^Hidden3",
        ),
        ("section(contraction.inner(V), 2, v)", "fixes side 0 or 1, not 2"),
        ("section(contraction.inner(V), 0, v.array)", "a section takes a vector, not an array"),
        ("section(V, 0, v)", "a section takes a bilinear map, not the space ℝ^Pixel4"),
        ("section(contraction.pick(h), 0, w)", "a section needs a vector space, but Hidden3"),
    ],
    "delta": [
        ("delta(contraction.inner(R), 0, w, p)", "fixes a vector of ℝ^Pixel4, not of ℝ^Hidden3"),
        ("delta(3, 0, v, p)", "Δ takes a bilinear map, not 3"),
        ("delta(contraction.inner(R), 0, v, 4)", "Δ takes an index set, not 4"),
    ],
    "cast": [
        ('cast(V, "float32")', "cast(ℝ^Pixel4, field) takes R or R32, not 'float32'"),
        ("cast(V, W)", "takes R or R32, not the space ℝ^Hidden3"),
        ("cast(labels, R32)", "cast needs a vector space, but Hidden3"),
    ],
    "equal": [("equal(3, v)", "equal compares vectors, …not 3"), ("equal(v, V)", "not the space ℝ^Pixel4")],
    "simplify": [("simplify(v)", "simplify takes a linear map, a function or a derivative, not a vector of ℝ^Pixel4")],
    "explain": [("explain(v)", "takes a linear map, a function or a derivative, not a vector of ℝ^Pixel4")],
    "measure": [("measure(v)", "measure takes a linear map, a function or a derivative, not a vector of ℝ^Pixel4")],
    "pattern": [("pattern(f)", "takes a linear map or a derivative, not a map ℝ^Pixel4 → ℝ^Pixel4")],
    "structure": [("structure(f)", "takes a linear map or a derivative, not a map ℝ^Pixel4 → ℝ^Pixel4")],
    "cost": [("cost(v)", "takes a linear map or a derivative, not a vector of ℝ^Pixel4")],
    "linear": [
        ("linear(v)", "linear(t) takes an element of W ⊗ V, not one of ℝ^Pixel4"),
        ("linear(lin)", "linear takes a vector, not a map"),
    ],
    "tensor": [
        ("tensor(f)", "linear map"),
        ("tensor(open_net)", "derivative(f).at(x)"),
        ("tensor(identity(V))", "proves no low rank: …or pass dense=True for an array of 16 entries"),
    ],
    "universal": [
        ("universal(f)", "universal takes a bilinear map"),
        ("universal(contraction.pick(h, V))", "⊗ needs a vector space, but Hidden3"),
    ],
    "matrix": [
        ("matrix(f)", "linear map"),
        ("matrix(open_net)", "derivative(f).at(x)"),
        ('matrix(lin, "csr")', "'csr'…: the forms are 'array', 'sparse', 'blocks', 'tensor' or 'operator'"),
        ("matrix(lin, 3)", "name of a form…not 3"),
    ],
    "factors": [("factors(f)", "linear map"), ("factors(lin)", "no low rank")],
    "diagonal": [
        ("diagonal(zero(V, W))", "V ⊸ V, not of one from ℝ^Pixel4 to ℝ^Hidden3"),
        ("diagonal(f)", "linear map"),
    ],
    "trace": [("trace(zero(V, W))", "from ℝ^Pixel4 to ℝ^Hidden3"), ("trace(V)", "linear map")],
    "gram": [("gram(f)", "linear map"), ("gram(derivative(f))", "in the point of ℝ^Pixel4: f.at(x) is one")],
}  # fmt: skip


UNARY = (
    "absolute acos acosh asin asinh atan atanh cos cosh erf exact_tanh exp expm1 gelu log log1p log2 log10 reciprocal "
    "digamma entr erfc erfcx i0e i1e lgamma log_ndtr log_sigmoid ndtri sinc "
    "relu sigmoid sign sin sinh softplus sqrt square stop_gradient tan tanh"
)
BINARY = "betaln xlogy atan2 divide hypot logaddexp maximum minimum pow"

DIFF: dict[str, Rows] = {
    "as_vector": [
        ("as_vector(v.array)", "as_vector(x) takes a vector, not an array"),
        ("fun(R)(lambda x: as_vector(x))", "an expression of ℝ has no entries while its function is traced"),
    ],
    "arrow": [
        ("arrow(R)", "arrow(V, W) takes the kinds of the arguments and that of the result"),
        ("arrow(3, R)", "arrow(…) takes a space, data(…), sequence(…) or arrow(…), not 3"),
    ],
    "case": [("case(3, 4)", "case(v, on(A, f) | on(B, g)) takes alternatives, not 4")],
    "data": [
        ("data()", "data() takes one class or more"),
        ("data(int)", "data(…) takes attrs classes, such as those under @variant, not the class int"),
    ],
    "folded": [
        ("folded(3, 4, ())", "folded(step, start, items) takes a function, not 3"),
        ("folded(max, 4, 5)", "folded(step, start, items) goes over a tuple, not over 5"),
    ],
    "forest": [("forest(3, [])", "forest(f, trees) takes a function on data, its last argument, not 3")],
    "on": [("on(3, 4)", "on(A, f) takes a class and a function, not 3 and 4")],
    "sequence": [
        ("sequence(3)", "sequence(…) takes a space, data(…), sequence(…) or arrow(…), not 3"),
        ("sequence((R, R))", "not a tuple of 2: tuples of vectors are those of direct_sum(V, W)"),
    ],
    "term": [
        ("term()", "term needs at least one space or set of values"),
        ("term(V, to='x')", "to=…) takes a space, data(…), sequence(…) or a tuple of them, not 'x'"),
        ("term(V, to=[])", "or a tuple of them, not "),
        ("term(3)", "not 3; apply it to the function: term(V)(f)"),
    ],
    "variant": [
        ("variant(3)", "@variant stands before a class, not before 3"),
        ("variant(Fin)", "@variant makes a class frozen, which Fin cannot be"),
    ],
    "cholesky": [
        ('cholesky(v)', 'cholesky takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
        ('cholesky(M.zeros())', 'with the same index set for its rows and columns, not one of ℝ^{Hidden3×Pixel4}'),
    ],
    "det": [
        ('det(M.zeros())', 'det takes a matrix with as many rows as columns, not one of ℝ^{Hidden3×Pixel4}'),
    ],
    "eigh": [
        ('eigh(3)', 'eigh takes a matrix of ℝ^{Y×X} with one axis each, not 3'),
    ],
    "inverse": [
        ('inverse(v)', 'inverse takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
    ],
    "cg": [
        ('cg(v, v)', 'cg takes a linear map, or a derivative, not a vector of ℝ^Pixel4: for a matrix'),
        ('cg(identity(V), v, steps=0)', 'steps=… is a number of steps, from 1 on, not 0'),
    ],
    "lstsq": [
        ('lstsq(v, v)', 'lstsq takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
        ('lstsq(derivative(f), v)', 'lstsq(A, b) takes a linear map at a point, such as d.at(x)'),
    ],
    "logdet": [
        ('logdet(v)', 'logdet takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
    ],
    "expm": [
        ('expm(M.zeros())', 'expm takes a matrix with the same index set for its rows and columns, not one of'),
    ],
    "sqrtm": [
        ('sqrtm(v)', 'sqrtm takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
    ],
    "inv_sqrtm": [
        ('inv_sqrtm(v)', 'inv_sqrtm takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
    ],
    "logm": [
        ('logm(v)', 'logm takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
    ],
    "matrix_function": [
        ('matrix_function(exp, v)', 'matrix_function takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
        ('matrix_function(3, (R ** (p * p)).ones())', 'takes a function f : ℝ → ℝ, not 3'),
    ],
    "qr": [
        ('qr(M.zeros())', 'with at least as many rows as columns, not one of ℝ^{Hidden3×Pixel4}: take A.T'),
    ],
    "svd": [
        ('svd(v)', 'svd takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
    ],
    "solve": [
        ('solve((R ** (p * p)).zeros(), w)', 'takes b in ℝ^Pixel4, or a matrix with its rows, not ℝ^Hidden3'),
    ],
    "solve_triangular": [
        ('solve_triangular(v, v)', 'takes a matrix of ℝ^{Y×X} with one axis each, not ℝ^Pixel4'),
        ('solve_triangular((R ** (p * p)).ones(), v, lower=2)', 'lower=… is True or False, not 2'),
    ],
    "operation": [
        ('operation(3, V, to=V, value=abs)', 'takes a name, spaces, functions, not 3, 1 spaces'),
        ("derivative(operation('o', V, to=V, value=max))", 'operation o has no derivative: give it tangent=…'),
        ("operation('o', 3, to=V, value=abs)", 'operation o takes a space, not 3'),
    ],
    "jet": [
        ('jet(f, 1, -1)', 'the order of a jet is a whole number from 0 on, not -1'),
        ('jet(3, 1, 1)', 'jet takes a map, not 3'),
        ('jet(f, 2, 2, wanted=[(1, 1)])', 'is not down-closed: it has (1, 1) and lacks (0, 1)'),
        ('jet(f, 9, 20)', 'has N = 10015005 slots, and 100000 are the most'),
    ],
    "taylor": [
        ('taylor(f, v, w, 2)', 'argument 2 is a vector of ℝ^Hidden3 where one of ℝ^Pixel4 is due'),
        ('taylor(f, v, v, -1)', 'the order of a Taylor polynomial is a whole number from 0 on, not -1'),
    ],
    "directional": [
        ('directional(f, -1)', 'the order of a derivative is a whole number from 0 on, not -1'),
    ],
    "interpolated": [
        ('interpolated(f, 1, -1)', 'the order of a jet is a whole number from 0 on, not -1'),
    ],
    "laplacian": [
        ('laplacian(3)', 'laplacian takes a map, not 3'),
        ('laplacian(f, wrt=5)', 'has 1 parts, so position 5 does not exist'),
    ],
    "ode_series": [
        ('ode_series(3, 3)', 'ode_series takes a map, not 3'),
    ],
    "ode_solve": [
        ('ode_solve(lin, v, 1.0, tol=-1.0)', 'tol is a number from 2.2e-16, the rounding of ℝ^Pixel4, to 1, not -1.0'),
    ],
    **{
        name: [
            (f"{name}(v, v)", f"{name} takes one argument, not 2"),
            (f"{name}(v.array)", f"{name} takes a vector, not an array of shape (4,)"),
            (f"{name}(2.0)", f"{name} takes a vector, not 2.0"),
            (f"{name}(x)", f"{name} needs a vector space, but Hidden3"),
            (f"{name} @ lin", "→ ℝ^Pixel4 but g : ℝ → ℝ, and ℝ^Pixel4 is not ℝ"),
        ]
        for name in UNARY.split()
    },
    **{
        name: [
            (f"{name}(v)", f"{name} takes two arguments, not 1"),
            (f"{name}(v, w)", f"{name}: argument 2 is in ℝ^Hidden3 where a vector of ℝ^Pixel4 is due"),
            (f"{name}(v, True)", f"{name} takes a vector, not True"),
            (f"{name}(v, v32)", "ℝ₃₂^Pixel4 where a vector of ℝ^Pixel4 is due"),
        ]
        for name in BINARY.split()
    },
    "power": [
        ('power("2")', "power takes a number, not '2'"),
        ("power(v)", "power takes a number, not a vector of ℝ^Pixel4; pow(x, y)"),
        ("power(2.0)(v, v)", "takes one argument, not 2"),
    ],
    "polygamma": [
        ("polygamma(1.5, v)", "polygamma takes an order and a vector, polygamma(1, x), not the order 1.5"),
        ("polygamma(v, 1)", "not the order a vector of ℝ^Pixel4"),
        ("polygamma(-1, v)", "not the order -1"),
        ("polygamma(1, v.array)", "polygamma takes a vector, not an array"),
    ],
    "register": [
        ('register("sin", lambda xp, x: x, lambda x, y: x)', "a primitive named 'sin' is in the table already"),
        ("register(3, lambda xp, x: x, lambda x, y: x)", "takes a string and two functions, not 3, "),
        ('register("a", None, lambda x, y: x)', "'a', None and "),
        (
            'derivative(register("flat", lambda xp, x: x, lambda x, y: "1.0"))',
            "primitive flat is '1.0', where an expression of ℝ",
        ),
        ('derivative(register("none", lambda xp, x: x, lambda x, y: None))', "derivative of primitive none is None"),
        ('derivative(register("away", lambda xp, x: x, lambda x, y: stale(R)) @ sin)', "expression of ℝ"),
    ],
    "fun": [
        ("fun()", "fun needs at least one space"),
        ("fun(V, planned=1)", "fun(V, planned=1)(body): planned is True, or False"),
        ("fun(f)", "fun takes spaces, not a map ℝ^Pixel4 → ℝ^Pixel4"),
        ("fun(lambda v: v)", "fun takes spaces, not …; apply it to the body as in fun(V)(body)"),
        ("fun(Layer)", "fun takes spaces, not the class Layer: Layer.space() makes one"),
        ("fun(p)", "fun takes spaces, not the index set Pixel4"),
        ("fun(V)(3)", "takes a Python function of expressions, not 3"),
        ("fun(V)(v)", "takes a Python function of expressions, not a vector of ℝ^Pixel4"),
        ("fun(V)(lambda a, b: a)", "fun of one space gives one argument to its body, whose parameters are (a, b)"),
        ("fun(S)(lambda a, b: a)", "whose parameters are (a, b): fun.over(V) gives an argument for each part of V"),
        ("fun(V, W)(lambda a: a)", "fun of 2 spaces gives 2 arguments to its body, whose parameters are (a)"),
    ],
    "Expr": [
        ("stale(V) + 1.0", "used after its function was traced (a step into ℝ^Pixel4)"),
        ("sin(stale(V))", "used after its function was traced"),
        ("f(stale(V))", "used after its function was traced"),
    ],
    "Fun": [
        ("f @ 3", "g : ℝ^Pixel4 → ℝ^Pixel4, and the other side is 3"),
        ("f + lin @ zero(W, V)", "g : ℝ^Hidden3 → ℝ^Pixel4: both must have the same spaces"),
        ("f(v, v)", "takes one argument"),
    ],
    "Program": [
        ("program(f)(w)", "to a vector of ℝ^Hidden3"),
        ("Program(V, V, Line((), (), ()))", "a program on ℝ^Pixel4 does not begin with the slots of its argument"),
        ("Program(V, W, Line(V.leaves, (), (0,)))", "a program into ℝ^Hidden3 ends in ℝ^Pixel4"),
        ("Program(V, V, Line(V.leaves, (), (1,)))", "a line of 1 slots has no slot 1 to end in"),
        ("Program(V, V, Line(V.leaves * 2, (Step(sin, (1,)),), (1,)))", "slot 1 of ℝ^Pixel4 reads the slots (1,)"),
        ("Program(V, V, 3)", "a program is a line between two spaces, not 3"),
        ("Program(3, V, Line(V.leaves, (), (0,)))", "a program takes a space, not 3"),
    ],
    "CompiledProgram": [
        ("CompiledProgram(3, V, 3, map=3, backend=3)", "a program takes a space, not 3"),
    ],
    "Linearization": [
        ("derivative(f).at(w)", "f : ℝ^Pixel4 → ℝ^Pixel4 to a vector of ℝ^Hidden3"),
        ("derivative(f).at()", "takes one argument"),
        ("Linearization(f, lin)", "a derivative is a Program and a Net, not a map"),
        ("Linearization(program(lin), open_net)", "refers to slot … of ℝ^Pixel4, which the program does not have"),
    ],
    "Derivative": [("Derivative(3, 3)", "a derivative is a Program and a Net, not 3 and 3")],
    "show": [
        ("show(p)", "show takes a map, a derivative or a vector, not"),
        ("show(f, lines=0)", "show(f, lines=n) takes an integer from 1 on, or None for all of them, not 0"),
        ("show(f, digits=1.5)", "show(f, digits=n) takes an integer from 1 on"),
    ],
    "entry": [
        ("entry('bias', w)", "entry(lens, value) takes a lens, such as Params.weights, not 'bias'"),
        ("entry(Layer.bias, w.array)", "entry(Layer.bias, value) takes a vector or an expression, not an array"),
    ],
    "made": [
        ("made(P, entry(Layer.bias, w))", "weights missing; give an entry(lens, value) for each part"),
        ("made(P, entry(Layer.bias, w), entry(Layer.bias, w))", "Layer.bias is given twice"),
        ("made(P, entry(Layer.bias, v))", "Layer.bias is in ℝ^Hidden3, not in ℝ^Pixel4"),
        ("made(P, w)", "made(P, …) takes entries, entry(lens, value), not a vector of ℝ^Hidden3"),
        ("made(Layer, entry(Layer.bias, w))", "takes a space, not the class Layer"),
    ],
    "const": [
        ("const(v.array)", "const takes a vector, not an array"),
    ],
    "constant": [
        ("constant(v, 3)", "takes a space, not 3"),
        ("constant(v.array, V)", "takes a vector, not an array"),
        ("constant(V, v)", "constant(w, V) takes a vector, not the space ℝ^Pixel4"),
    ],
    "bilinear": [("bilinear(V)", "bilinear takes a bilinear map, not the space ℝ^Pixel4")],
    "inner": [
        ("inner(v, w)", "cannot form ℝ^Pixel4 ⊙ ℝ^Hidden3: both sides must be in one space"),
        ("inner(v, 3)", "inner of a vector of ℝ^Pixel4 and 3: a vector would fit"),
        ("inner(3, 4)", "inner takes vectors, not 3"),
    ],
    "outer": [("outer(v, v.array)", "outer of a vector of ℝ^Pixel4 and an array …: write V.vec(array)")],
    "contract": [
        ('contract("a,a->", v, w)', "contraction a,a->: label a is both Pixel4 and Hidden3"),
        ('contract("ab,b->a", v, v)', "contraction ab,b->a: ℝ^Pixel4 has 1 axes where ab needs 2, operand 1"),
        ('contract("ab,b->a", M, v)', "not the space ℝ^{Hidden3×Pixel4}: the space of the result is named"),
        ('contract("aa,a->a", v, v)', "label a stands twice in aa"),
        ('contract("a,b->a", v, w)', "label b stands in one list only"),
        ('contract("a,a,a->", v, v)', "has labels for 3 operands, and 2 were given"),
        ('contract("->", to=V)', "has labels for 1 operand, and 0 were given"),
        ('contract("a+a", v, v)', "'a+a' is not a contraction: write a list of labels for each operand"),
        ('contract("a,a->", v, v, to=V)', "of ℝ^Pixel4 and ℝ^Pixel4 is in ℝ, not in ℝ^Pixel4"),
        ('contract("a,a->", v, v, to=3)', "takes a space, not 3"),
    ],
    "dot": [
        ("dot(v.array)", "takes a vector, not an array"),
        ("dot(x)", "needs a vector space, but Hidden3"),
        ("dot(v, v)", "dot(a, b, over=X) of a vector of ℝ^Pixel4 and a vector of ℝ^Pixel4 takes the index set X"),
        ("dot(v, w, over=p)", ".dot(Pixel4) of a vector of ℝ^Hidden3: Pixel4 is no factor of its index sets"),
        ("dot(M.zeros(), S.zeros(), over=p)", "for vectors of one array each, not for a vector of ℝ^Pixel4 ⊕"),
        ("dot(v, x, over=p)", "dot needs a vector space, but Hidden3"),
    ],
    "conv": [
        ("conv(v, v)", "conv of a vector of ℝ^Pixel4 with a kernel in ℝ^Pixel4: 1 and 1 axes, where x ∈ ℝ^{X×…×C}"),
        ("conv(3, v)", "conv(x, w) takes vectors, not 3"),
        ("conv(M.zeros(), (R ** (h * h * p)).zeros())", "the channels Pixel4 of x are not the channels Hidden3"),
        ("conv(M.zeros(), (R ** (h * p * h)).zeros(), stride=0)", "the stride of conv is an integer ≥ 1, not 0"),
        ("conv(M.zeros(), (R ** (h * p * h)).zeros(), stride=(1, 2))", "is a number, or one for each of 1 axes, not"),
        ("conv(M.zeros(), (R ** (h * p * h)).zeros(), padding=-1)", 'the padding of conv is a number ≥ 0, "same", or'),
        ("conv(M.zeros(), (R ** (h * p * h)).zeros(), to=p)", "has 1 = 1 places, and Pixel4 does not"),
    ],
    "kept": [("kept(3)", "kept takes vectors, not 3")],
    "planned": [("planned(3)", "planned takes a map, not 3")],
    "sparse_product": [
        ("sparse_product([0], [3], h, p)", "position 3 does not lie in Hidden3: give 0 to 2"),
        ("sparse_product([0], [1, 2], h, p)", "the table of a function 1 → Hidden3 has 1 entries, not 2"),
        ("sparse_product([0], [1], h, p, entries=p)", "the table of a function Pixel4 → Pixel4 has 4 entries, not 1"),
        ("sparse_product([0], [1], h, V)", "sparse_product(rows, cols, X, Y, V) takes its arguments in this order"),
        ("sparse_product(h, p, [0], [1])", "sparse_product(rows, cols, X, Y, V) takes its arguments in this order"),
        ("sparse_product([0], [1], h, 3)", "takes an index set, not 3"),
    ],
    "onehot": [("onehot(v)", "onehot takes an element of an index set, not a vector of ℝ^Pixel4: declare")],
    "select": [
        ("select(True, v)", "select of a vector of ℝ^Pixel4 and True: a vector would fit"),
        ("select(v, v)", "select takes a condition and a vector, not ℝ^Pixel4 and ℝ^Pixel4"),
    ],
    "fold": [
        ("fold(lambda s, x: s, v, k)", "fold(step, start, xs) goes over xs ∈ W^X"),
        ("fold(lambda s: s, v, v)", "fold gives 2 arguments to its function, whose parameters are (s)"),
        ("fold(lambda s, x: x, v, v)", "the step of fold takes a state in ℝ^Pixel4 and gives ℝ: give"),
        ("fold(lambda s, x: s, 1.0, v)", "the start of fold is a vector, or a tuple of vectors, not 1.0"),
        ("fold(lambda s, x: s, v, v, checkpoint=0)", "checkpoint=0: True, or a number of segments from 1 on"),
        ("fold(lambda s, x: s, v, v, reverse=1)", "reverse=… is True or False, not 1"),
        ("fold(3, v, v)", "fold takes a function of expressions, not 3"),
        ("fold(lambda s, x: s, k, v, v)", "fold gives 3 arguments to its function, whose parameters are (s, x)"),
        ("fold(lambda s, x: (M.ones(), w), P.zeros(), v)", "made(P, entry(Layer.weights, …), entry(Layer.bias, …))"),
    ],
    "iterate": [
        ("iterate(lambda s: s, v, 3)", "takes one round for each element of an index set X, not 3: Fin.of(n) has n"),
        ("iterate(lambda c, i: c, v, h)", "fold(step, start, (Elements(X) ** X).vec(range(X.size))) gives its step"),
        ("iterate(lambda a, b: (a, b), (v, w), h)", "(a, b): a state of several vectors is one tuple s"),
        ("iterate(lambda s: 1.0, v, h)", "what iterate gets of its function is a vector"),
    ],
    "while_": [
        ("while_(None, lambda s: s, v)", "both functions of the state, not None"),
        ("while_(lambda s: s.sum() > 0, 3, v, at_most=h)", "both functions of the state, not 3"),
        ("while_(lambda s: s, lambda s: s, v, at_most=h)", "the condition of while_ is one truth value, such as x > 0"),
        ("while_(lambda s: s, lambda s: s, v)", "the condition of while_ is one truth value, such as x > 0, not"),
        ("while_(lambda s: s.sum() > 0, lambda s: s, v, at_most=3)", "an index set X, not 3"),
        ("while_(lambda s: s, lambda s: s, 2, at_most=h)", "the start of while_ is a vector"),
    ],
    "fixed_point": [
        ("fixed_point(lambda x: x.sum(), v)", "the function of fixed_point takes ℝ^Pixel4 and gives ℝ: give an"),
        ("fixed_point(lambda x: x, 3)", "the start of fixed_point is a vector, or a tuple of vectors, not 3"),
        ("fixed_point(lambda x: x, v, at_most=0.5)", "at_most=0.5: a number of rounds from 1 on"),
    ],
    "root": [
        ("root(lambda x: x.sum(), v)", "there must be as many equations as unknowns, 4, in the same precision"),
        ("root(lambda x: x, v, tolerance='a')", "tolerance='a': a number above 0"),
    ],
    "again": [("again(lambda x: x, 3)", "an argument of again is a vector, or a tuple of vectors, not 3")],
    "each": [
        ("each(lambda x: x, k)", "each(f, xs) takes xs ∈ V^X"),
        ("each(lambda x, y: x, v, w)", "each(f, xs, ys) goes over one index set, not over those of ℝ^Pixel4"),
        ("each(lambda: v, v)", "each gives one argument to its function, whose parameters are ()"),
    ],
    "build": [("build(lambda x: x, 3)", "build(f, X)")],
    "batched": [
        ("batched(3, Pixel)", "batched(f, Tag)"),
        ("batched(two, 3)", "batched(f, Tag) takes the class that names the axis of a batch, not 3"),
        ("grad(batched(two, Pixel))", "take that of one size, f.of(n)"),
        ("batched(two, Pixel).of([3])", "batched(f, Pixel).of(n) takes the size of a batch, not a list of 1"),
        ("batched(two, Pixel)(v, w)", "argument 2 of a batched function is over Fin(Pixel, n), not one over"),
    ],
    "where": [
        ("where(v, v, v)", "where takes a condition, such as x > 0, not a vector of ℝ^Pixel4"),
        ("where((Bool**p).vec([True] * 4), v, w)", "where gives ℝ^Pixel4 if the condition holds and ℝ^Hidden3 if not"),
        ("where((Bool**p).vec([True] * 4), lambda: v, lambda: v)", "where with functions takes one condition"),
        ("where((Bool**p).vec([True] * 4), w, w)", "where by Bool^Pixel4 does not fit ℝ^Hidden3"),
    ],
    "lift": [
        ("lift(f, h)", "lift(f, X) takes f : A ⊕ B → W, not one on ℝ^Pixel4: write f ** X"),
        (
            "lift(two, h, over=(2,))",
            "over=(2,) does not name parts of ℝ^Pixel4 ⊕ ℝ^Hidden3: give some of the positions 0 to 1",
        ),
        ("lift(two, h, over=(-1,))", "over=(-1,)"),
        ("lift(two, h, over=())", "over=()"),
        ("lift(two, h, over=1)", "over=1 does not name parts"),
        ("lift(two, h, over=(1.0,))", "over=(1.0,)"),
        ('lift(two, h, over="1")', "over='1'"),
        ("lift(f, h, over=(0,))", "of ℝ^Pixel4: it is no direct sum"),
        ("lift(two, 3)", "lift(f, X) takes an index set, not 3"),
        ("lift(V, h)", "lift(f, X) takes a map, not the space ℝ^Pixel4"),
        ("lift(two, h)(v, w)", "argument 2 is a vector of ℝ^Hidden3 where one of (ℝ^Hidden3)^Hidden3 is due"),
    ],
    "program": [("program(3)", "program takes a map, not 3"), ("program(derivative(f))", "in the point of ℝ^Pixel4")],
    "source": [
        ("source(3)", "program takes a map, not 3"),
        ('source(f, name="two words")', "source(f, name=…) takes a name of Python, not 'two words'"),
    ],
    "diagram": [("diagram(v)", "diagram takes a linear map, a derivative or a function, not a vector of ℝ^Pixel4")],
    "pointfree": [("pointfree(v)", "pointfree takes a map, not a vector of ℝ^Pixel4")],
    "derivative": [
        ("derivative(v)", "derivative takes a map, not a vector of ℝ^Pixel4"),
        ("derivative(derivative(f))", "not a linear map ℝ^Pixel4 ⊸ ℝ^Pixel4 in the point of ℝ^Pixel4"),
    ],
    "affine": [
        ("affine(f, w)", "f : ℝ^Pixel4 → ℝ^Pixel4 to a vector of ℝ^Hidden3"),
        ("affine(f)", "takes one argument"),
        ("affine(3, v)", "takes a map, not 3"),
    ],
    "jvp": [
        ("jvp(3)", "takes a map, not 3"),
        ("jvp(f)(v, w)", "argument 2 is a vector of ℝ^Hidden3 where one of ℝ^Pixel4"),
    ],
}  # fmt: skip

ADJOINT: dict[str, Rows] = {
    "verify": [
        ('verify(3, at=v)', 'verify takes a map, not 3'),
        ('verify(f, at=w)', 'to a vector of ℝ^Hidden3: a vector of ℝ^Pixel4 is due'),
        ('verify(f, at=[])', 'takes a point, or a list of points, and the list is empty'),
    ],
    "adjoint": [
        (
            "adjoint(f)",
            "only linear maps have an adjoint, not a map ℝ^Pixel4 → ℝ^Pixel4; take the adjoint of its derivative",
        ),
        ("adjoint(sin)", "not a map ℝ → ℝ; take the adjoint of its derivative"),
        ("adjoint(program(lin))", "not a map ℝ^Pixel4 → ℝ^Pixel4"),
        ("adjoint(v)", "not a vector of ℝ^Pixel4"),
        ("adjoint(V)", "not the space ℝ^Pixel4"),
    ],
    "adjoint_affine": [
        ("adjoint_affine(f, w)", "to a vector of ℝ^Hidden3"),
        ("adjoint_affine(None, v)", "takes a map, not None"),
    ],
    "hvp": [
        ("hvp(f)", "scalar-valued map, not of f : ℝ^Pixel4 → ℝ^Pixel4; see jacobian and vjp"),
        ("hvp(3)", "hvp takes a map, not 3"),
        ("hvp(two, 2)", "ℝ^Pixel4 ⊕ ℝ^Hidden3 has 2 parts, so position 2 does not exist: give 0 to 1"),
        ("hvp(two)(v, w, w, v)", "argument 3 is a vector of ℝ^Hidden3 where one of ℝ^Pixel4 is due"),
        ("hvp(two)(v, w, v, 1.0)", "argument 4 of f … is 1.0, where a vector of ℝ^Hidden3 is due"),
    ],
    "vjp": [
        ("vjp(3)", "takes a map, not 3"),
        ("vjp(f)(v, w)", "argument 2 is a vector of ℝ^Hidden3 where one of ℝ^Pixel4"),
    ],
    **{
        name: [
            (f"{name}(f)", "scalar-valued map, not of f : ℝ^Pixel4 → ℝ^Pixel4; see jacobian and vjp"),
            (f"{name}(3)", "grad takes a map, not 3"),
            (f"{name}(two, 2)", "ℝ^Pixel4 ⊕ ℝ^Hidden3 has 2 parts, so position 2 does not exist: give 0 to 1"),
            (f"{name}(two, -1)", "position -1 does not exist"),
            (f"{name}(two, 1.0)", "position 1.0 does not exist"),
            (f'{name}(two, "w")', "position 'w' does not exist"),
            (f"({name}(two, 1), {name}(two, True))", "position True does not exist"),
            (f"{name}(two, [0, 0])", "wrt=[0, 0] of a function on ℝ^Pixel4 ⊕ ℝ^Hidden3: name positions or"),
            (f"{name}(two, ())", "name positions or lenses of its parts, one at least"),
            (f"{name}(two, (0, 2))", "has 2 parts, so position 2 does not exist"),
        ]
        for name in ("grad", "value_and_grad")
    },
    "jacobian": [
        ("jacobian(3, v)", "jacobian takes a map, not 3"),
        ("jacobian(f, w)", "to a vector of ℝ^Hidden3"),
        ("jacobian(f, v, sparse=True)", 'jacobian has no sparse=: write as_="sparse" for a sparse matrix of scipy'),
        ("jacobian(f)", "takes the point too, a vector x of ℝ^Pixel4: write jacobian(f, x), not jacobian(f)(x)"),
        ("jacobian(two, v, w, wrt=2)", "has 2 parts, so position 2 does not exist"),
    ],
    "hessian": [
        ("hessian(f, v)", "scalar-valued map, not of f : ℝ^Pixel4 → ℝ^Pixel4"),
        ("hessian(two, v)", "ℝ^Pixel4 ⊕ ℝ^Hidden3 → …to a vector of ℝ^Pixel4"),
    ],
    "JacobianProgram": [
        ("JacobianProgram(3, V, 3, pattern=3)", "a program takes a space, not 3"),
        ("JacobianProgram(V, V, program(f).line, pattern=3)", "a pattern whose arrays are in ℝ^Pixel4, not 3"),
        ("JacobianProgram(V, V, program(f).line, pattern=jacobian_program(f).pattern)", "not that of ℝ^{4×4}: see jac"),
    ],
    "jacobian_program": [
        ("jacobian_program(3)", "jacobian_program takes a map, not 3"),
        ("jacobian_program(f, sparse=True)", 'jacobian_program has no sparse=: write as_="sparse" for a sparse matrix'),
        ('jacobian_program(f, as_="operator")', "as_='operator' has no arrays to compute: write 'array', 'sparse', "),
        ("jacobian_program(f, as_=3)", 'as_=3): the name of a form is "array", "sparse", "blocks" or "tensor"'),
        ("jacobian_program(two, wrt=2)", "has 2 parts, so position 2 does not exist"),
        ("jacobian_program(f, limit=0)", "limit is the number of entries that an intermediate array may have"),
    ],
    "as_scipy": [
        ("as_scipy(3)", "as_scipy takes a map, not 3"),
        ("as_scipy(f, as_='csr')", "as_='csr'): the matrices that scipy takes are \"array\" and \"sparse\""),
        ("as_scipy(f, as_=[])", "the matrices that scipy takes are"),
        ("as_scipy(two, w, wrt=2)", "has 2 parts, so position 2 does not exist"),
        ("as_scipy(two, w, w, wrt=0)", "takes as data ℝ^Hidden3, or a vector of ℝ^Pixel4 ⊕ ℝ^Hidden3"),
        ("as_scipy(two, v)", "takes no data, as all arguments vary: name those that do by wrt="),
        ("as_scipy(f, argnums=0)", "as_scipy has no argnums=: write wrt=k"),
    ],
    "as_jax": [
        ("as_jax(3)", "as_jax takes a map, not 3"),
        ("as_jax(f, rule='both')", "the name of a rule is \"jvp\" or \"vjp\""),
    ],
    "as_torch": [("as_torch(3)", "as_torch takes a map, not 3")],
    "nlp": [
        ("nlp(3)", "nlp takes a map, not 3"),
        ("nlp(f)", "nlp: f is a scalar-valued function, not one into ℝ^Pixel4"),
        ("nlp(two, equal=3)", "nlp: equal takes a map, not 3"),
    ],
    "blocked": [
        ("blocked(3, f.dom)", "blocked takes a map, not 3"),
        ("blocked(f, 3)", "blocked(f, over=X) takes an index set, not 3"),
        ("blocked(f, Fin.of(2), size=0)", "size=0): the elements of a block are a number ≥ 1"),
        ("blocked(f, Fin.of(2), threads=None)", "threads=None): the number of threads is ≥ 1"),
        ("blocked(f, Fin.of(2) * Fin.of(3))", "blocks run along one axis"),
        ("blocked(f, Fin.of(1234))", "no blocks along 1234: no array of the function has this axis"),
        ("blocked(f, (Fin.of(2), Fin.of(2)))", "give an index set, or some that are different"),
    ],
    "distributed": [
        ("distributed(3, f.dom)", "distributed takes a map, not 3"),
        ("distributed(f, 3)", "distributed(f, over=X) takes an index set, not 3"),
    ],
    "parquet": [
        ("parquet(3)", "parquet(path) takes the path of a file or a folder, or a list of paths, not 3"),
    ],
    "laplace": [
        ("laplace(3, v)", "laplace takes a map, not 3"),
        ("laplace(f, v)", "laplace(f, start) takes an f of parameters and latent variables into ℝ"),
    ],
    "levenberg_marquardt": [
        ("levenberg_marquardt(3, v)", "levenberg_marquardt takes a map, not 3"),
        ("levenberg_marquardt(f, 3)", "the start is a vector of"),
        ("levenberg_marquardt(f, v, loss='l1')", "the name of a loss is 'squares', 'huber', 'cauchy'"),
    ],
    "gauss_newton": [("gauss_newton(f, 3)", "the start is a vector of")],
    "minimizer": [
        ("fun(V)(lambda x: minimizer(lambda y: y, x))", "the function of minimizer gives a number"),
        ("minimizer(f, 3)", "the start of minimizer"),
    ],
    "compiled": [
        ("compiled(3)", "compiled takes a map, not 3"),
        ('compiled(f, backend="gcc")', "backend='gcc'): the name of a backend is \"llvm\" or \"interpreter\""),
    ],
    "CompiledJacobianProgram": [
        ("CompiledJacobianProgram(3, V, 3, pattern=3, map=3, backend=3)", "a program takes a space, not 3"),
    ],
    "hessian_program": [
        ("hessian_program(f)", "scalar-valued map, not of f : ℝ^Pixel4 → ℝ^Pixel4"),
        ("hessian_program(3)", "hessian_program takes a map, not 3"),
    ],
    "check": [("check(f, w)", "to a vector of ℝ^Hidden3"), ("check(3, v)", "takes a map, not 3")],
    "check_derivative": [
        ("check_derivative(f)", "takes the point too…write check_derivative(f, x)"),
        ("check_derivative(V, v)", "takes a map, not the space ℝ^Pixel4"),
        ("check_derivative(f, v, seed=-1)", "a seed is an integer ≥ 0, not -1"),
    ],
    "check_adjoint": [
        ("check_adjoint(f)", "takes a linear map, or a function and a point"),
        ("check_adjoint(f, w)", "to a vector of ℝ^Hidden3"),
        ("check_adjoint(lin, star=zero(V, W))", "is a linear map ℝ^Pixel4 ⊸ ℝ^Pixel4, not a map ℝ^Pixel4 → ℝ^Hidden3"),
        ("check_adjoint(lin, star=f)", "is a linear map ℝ^Pixel4 ⊸ ℝ^Pixel4, not a map"),
        ("check_adjoint(lin, samples=0)", "at least one sample, not 0"),
        ('check_adjoint(lin, seed="a")', "a seed is an integer ≥ 0, not 'a'"),
    ],
}  # fmt: skip

TABLE = {"hilbert": HILBERT, "linmap": LINMAP, "diff": DIFF, "adjoint": ADJOINT}
RESULTS = {"SpaceError", "Report", "Checks", "Verification", "Cost", "Compression", "Explanation"}
RESULTS |= {"Source", "TermFunction", "AnyTermFunction", "FlatMap", "FlatObjective", "NonlinearProgram", "Fit"}
RESULTS |= {"PatternFacts"}
"""The error itself, what a check, cost, source, compress, as_scipy, nlp and least squares return,
the type that `term` makes: nothing users make."""


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever runs array operations fails. Maps keep what runs them, so that afterwards it must run again."""
    plain, forbidden = Runner.run, True

    def run(self: Runner, arrays: Any) -> Any:
        return pytest.fail("something was computed") if forbidden else plain(self, arrays)

    monkeypatch.setattr(Runner, "run", run)
    yield
    forbidden = False


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize(
    ("call", "message"),
    [pytest.param(*row, id=row[0]) for names in TABLE.values() for rows in names.values() for row in rows],
)
def test_bad_input(call: str, message: str) -> None:
    """A wrong call raises SpaceError before any array operation runs; the message is short and shows no contents."""
    with pytest.raises(SpaceError) as caught:
        eval(call, dict(WORDS))  # noqa: S307 - rows of the table above
    text = first_line(caught.value)
    assert says(message, text), text
    assert len(text) < 300
    assert "array(" not in text
    assert " at 0x" not in text


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_callable_has_bad_input(package: str) -> None:
    """A new public name comes with rows of the table above."""
    module = PACKAGES[package]
    due = {name for name in module.__all__ if callable(getattr(module, name))} - RESULTS
    assert due - set(TABLE[package]) == set()
    behind = {*unitary.__all__, "Net"} if package == "linmap" else {"Program"}  # in modules of their own
    assert set(TABLE[package]) - set(module.__all__) <= behind
