"""Sentences of the documentation with a number, a never or an always: each is run, and stands there word by word."""

from __future__ import annotations

import inspect
import operator
import re
import tomllib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import hilbert.all as hb
from adjoint import check_derivative, grad
from adjoint.reverse.rules import _adjoint
from diff import contract, derivative, fun, inner, lift, pointfree, program, show, sin, tanh
from diff.derive.affine import _arcs
from hilbert import R32, Fin, R, SpaceError, TensorProduct, Unit, direct_sum
from hilbert.program.line.operation import Contract
from linmap import compose, cumsum, dup, equal, fork, identity, join, rep, structure, total
from linmap.contraction import hadamard
from linmap.net.lower import net
from linmap.term import wire
from linmap.term.maps import section

ROOT = Path(__file__).parents[1]
RNG = np.random.default_rng(0)
X, Y = Fin.of(3), Fin.of(4)


@cache
def text(page: str) -> str:
    """A page as one line."""
    return " ".join((ROOT / page).read_text("utf-8").split())


def says(page: str, sentence: str) -> None:
    """The page has this sentence."""
    assert sentence in text(page), f"{page} no longer says: {sentence}"


# --- README ---


def test_one_match_for_each_theorem() -> None:
    says("README.md", "Theorem 4.1 and Figure 1 share one `match`, Theorem 6.5 is another.")
    for f in (_arcs, _adjoint):
        assert len(re.findall(r"^ +match ", inspect.getsource(inspect.unwrap(f)), re.MULTILINE)) == 1


def test_version_of_python() -> None:
    says("README.md", "`python3`, version 3.11 or later")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert settings["project"]["requires-python"] == ">=3.11"


def test_a_million_elements_are_one_operation() -> None:
    says("README.md", "a copower over 10⁶ elements is one array operation")
    assert len(program(sin ** Fin.of(10**6)).steps) == 1
    assert len(net(cumsum(X) ** Fin.of(10**6)).arcs) == 1


def test_digits() -> None:
    says("README.md", "on 1,797 handwritten digits")
    datasets = pytest.importorskip("sklearn.datasets")
    assert datasets.load_digits().data.shape == (1797, 64)


SECONDS = {"ms": 1e-3, "s": 1.0}


def test_first_calls_beside_jax() -> None:
    """The figures of the README are those of the table."""
    table = (ROOT / "docs/benchmarks.md").read_text("utf-8").partition("| beside JAX, value and gradient |")[2]
    rows = [line.strip("| ").split(" | ") for line in table.partition("\n\n")[0].splitlines()[2:]]
    firsts = [re.findall(r"([\d.]+) (m?s) \((?:ours|jax)\)", next(c for c in row if "(ours);" in c)) for row in rows]
    times = [[float(number) * SECONDS[unit] for number, unit in first] for first in firsts]
    ours, theirs = zip(*times, strict=True)
    later, compiled = ([float(row[column]) for row in rows] for column in (5, 6))
    assert len(rows) == 20
    says("README.md", f"twenty models take {min(ours) * 1e3:.0f} to {max(ours) * 1e3:.0f} ms here, and ")
    says("README.md", f"{min(theirs) * 1e3:.0f} ms to {max(theirs):.1f} s in JAX")
    says("README.md", f"which takes {np.median([b / a for a, b in times]):.0f} times as long in the median")
    says("README.md", f"Later calls take {min(later):.1f} to {max(later):.0f} times JAX's")
    says("README.md", f"compiled, the models take {min(compiled):.2f} to {max(compiled):.1f} times JAX's time")


def test_sparse_hessians_beside_specialists() -> None:
    says("README.md", "takes CasADi 3.5 times as long, and JAX with blocks by hand 5 times")
    says("docs/benchmarks.md", "| cart-pole, N = 2,000 | CasADi 3.5 (scalars), 9 (mapped); JAX with blocks by hand 5 |")
    says("README.md", "of 50 stages CasADi needs 0.14 of our time")
    says("docs/benchmarks.md", "| cart-pole, N = 50 | CasADi 0.14 (scalars)")


# --- docs/limits.md ---


def test_equality_of_vectors() -> None:
    says("docs/limits.md", "False for two vectors that merely have the same entries, and `v == 0` is always False")
    for V in (R, R**X, direct_sum(R, R**X), TensorProduct(R**X, R**Y), R32 ** (X * Y)):
        zero: Any = V.zeros()
        assert zero != 0
        assert zero != 0.0
        assert zero != V.zeros()
        assert zero == zero  # noqa: PLR0124 - one object


@pytest.mark.parametrize("wrong", [lambda v: v % 2, lambda v: v // 2, int])
def test_operators_of_whole_numbers(wrong: Any) -> None:
    says("docs/limits.md", "`v % k`, `v // k` and `int(v)` are type errors, which say what to write")
    says("docs/limits.md", "for the whole number of a scalar v write `int(float(v))`")
    with pytest.raises(TypeError, match="is not defined: ") as error:
        wrong(R.vec(3.0))
    assert isinstance(error.value, SpaceError)
    assert int(float(R.vec(3.0))) == 3


def test_loops_without_a_bound() -> None:
    says("docs/limits.md", "`while_` without `at_most` has no derivative.")
    halved = hb.fun(R)(lambda x: hb.while_(lambda s: s > 1.0, lambda s: s / 2.0, x))
    assert float(halved(R.vec(6.0))) == 0.75
    with pytest.raises(SpaceError, match="no derivative"):
        hb.grad(halved)


def test_a_composition_and_a_sum_are_flat() -> None:
    says("docs/notes.md", "`f = f @ f`, repeated k times, has 2^k parts. `f = g @ f + f` has k + 1 summands")
    f: Any = cumsum(X)
    s: Any = identity(R**X)
    for k in range(1, 7):
        f = f @ f
        s = cumsum(X) @ s + s
        assert (len(list(f.parts)), len(s.parts)) == (2**k, k + 1)


def test_words_of_different_maps() -> None:
    says(
        "docs/notes.md",
        "a sum over 2^k different products p…f…a, mirrored like palindromes, and no smaller net computes them",
    )
    V = R**X
    p, q, a, b = (section(hadamard(V), 0, V.random(RNG)) @ cumsum(X) for _ in range(4))
    sizes = []
    f: Any = identity(V)
    for _ in range(5):
        f = join(p @ f, q @ f) @ fork(a, b)
        sizes.append(len(net(f).arcs))
    assert all(2.0 <= after / before <= 3.0 for before, after in pairwise(sizes[1:]))


@pytest.mark.parametrize("deeper", [lambda V: direct_sum(V, R), lambda V: direct_sum(R, V)])
def test_depth_of_repr(deeper: Any) -> None:
    says("docs/limits.md", "Python's parser reads back a `repr` of some 100 brackets in each other, not of 300.")
    V: Any = R
    for _ in range(100):
        V = deeper(V)
    assert eval(repr(V), dict(hb.NAMES)) == V  # noqa: S307
    for _ in range(250):
        V = deeper(V)
    with pytest.raises((SyntaxError, MemoryError, RecursionError)):
        eval(repr(V), dict(hb.NAMES))  # noqa: S307


def test_one_element_as_an_exponent() -> None:
    says("docs/limits.md", "`R ** Unit()` is stored as `R` is, but it is another space")
    V: Any = R ** Unit()
    assert V != R
    assert V.leaves == R.leaves
    assert total(X).cod == R
    assert rep(X).dom == R


def test_integers_are_rounded() -> None:
    says("docs/limits.md", "**Integers above 2⁵³** are rounded when they become vectors, as numpy does.")
    assert float(R.vec(2**53)) == 2**53
    assert float(R.vec(2**53 + 1)) == 2**53


def test_planned_in_pointfree() -> None:
    says("docs/limits.md", "`pointfree` forgets `planned=False`")
    A, B, V = R ** (Fin.of(30) * Fin.of(40)), R ** (Fin.of(40) * Fin.of(50)), R ** Fin.of(50)
    f: Any = fun(A, B, V, planned=False)(lambda a, b, x: a @ b @ x)

    def largest(g: Any) -> int:
        return max(leaf.size for leaf in derivative(g).program.slots[3:])

    assert largest(f) == 30 * 50
    assert largest(pointfree(f)) < 30 * 50


@pytest.mark.parametrize(("error", "found"), [(1e-2, True), (1e-5, False)])
def test_errors_in_single_precision(error: float, found: bool) -> None:  # noqa: FBT001 - a table
    says(
        "docs/limits.md",
        "errors of the derivative below some ten times the rounding are not found; in single precision",
    )
    name = f"sin_off_by_{error}"
    wrong = hb.register(name, lambda xp, x: xp.sin(x), lambda x, _: (1.0 + error) * hb.cos(x))
    f = fun(R32**X)(lambda x: wrong(x) + x)
    assert bool(check_derivative(f, (R32**X).vec([0.3, 0.5, 0.7]))) != found


# --- docs/arrays.md ---


def test_one_library_for_a_call() -> None:
    says("docs/arrays.md", "numpy arrays without axes, such as `R.vec(2.0)`, go with any library")
    f = fun(R32, R32**X)(lambda k, x: k * x)
    found = f(R32.vec(2.0), (R32**X).vec(jnp.ones(3, "float32")))
    assert isinstance(found.array, jnp.ndarray)


def test_nothing_given_is_written_into() -> None:
    says("docs/arrays.md", "never with arguments, constants, or results that you hold")
    c = (R**X).random(RNG)
    f: Any = fun(R**X)(lambda x: tanh(2.0 * (x + c) - c) * x)
    given = np.array([1.0, 2.0, 3.0])
    v, before = (R**X).vec(given), c.array.copy()
    first = f(v)
    kept = first.array.copy()
    for _ in range(3):
        f(first + v)
        grad(fun(R**X)(lambda x: f(x).sum()))(v)
    assert given.tolist() == [1.0, 2.0, 3.0]
    assert np.array_equal(c.array, before)
    assert np.array_equal(first.array, kept)


# --- docs/notation.md and docs/notes.md ---


def test_texts_that_are_cut() -> None:
    says("docs/notation.md", "of a composition or a sum of more than 48 parts the first and the last 24 are shown")
    for n, more in ((48, None), (49, 1), (60, 12)):
        f = compose([k * cumsum(X) for k in map(float, range(2, 2 + n))])
        assert (f"… {more} more …" in str(f)) == (more is not None)
    says("docs/notation.md", "`show(f, lines=10, digits=3)` as much of it as you ask for")
    assert len(show(f, lines=2).splitlines()) <= 2


def test_names_of_values() -> None:
    says("docs/notation.md", "An intermediate value of a printed function gets a name u₁, u₂, …, with a line")
    says("docs/notation.md", "- its text is longer than 24 characters")

    def named(n: int) -> bool:
        argument = "x" * n
        f = fun(R, R)(eval(f"lambda {argument}, y: (sin({argument}) * y, tanh(sin({argument}) * y))"))  # noqa: S307
        return "where" in show(f)

    lengths = [n for n in range(1, 40) if not named(n)]
    assert lengths == list(range(1, len(lengths) + 1))  # short texts stand in place, long ones get names
    assert len(f"(sin {'x' * len(lengths)})·y") == 24
    says("docs/notation.md", "and is used as a whole: `where u₁ = [i] ↦ ‖y[i]‖²`")
    norms = fun(R**Y)(lambda y: inner(y, y)) ** X
    assert "\n  where u₁ = [i] ↦ ‖y[i]‖²" in show(derivative(fun(norms.dom)(lambda y: sin(norms(y)) * norms(y))))


def test_arcs_of_a_derivative() -> None:
    says("docs/notes.md", "The net of n contractions, primitives, sums and linear maps has at most 2n arcs.")

    def body(x: Any) -> Any:
        a, b = x, x
        for _ in range(60):
            a, b = b, b * sin(a)
        return b

    f = fun(R)(body)
    assert len(derivative(f).body.arcs) <= 2 * len(program(f).steps)


def test_the_gradient_of_a_batch_is_one_contraction() -> None:
    says("docs/notes.md", "This is why back-propagation's `bi,bj->ij` comes out by itself")
    many = lift(fun(R ** (Y * X), R**X)(lambda W, x: W @ x), Fin.of(5))
    back = hb.vjp(many, 0)
    (found,) = [step.operation for step in program(back).steps if isinstance(step.operation, Contract)]
    assert found.spec.contracted
    assert len(found.spec.out) == 2


# --- docs/structure.md, docs/quickstart.md, docs/tensors.md ---


def test_vectors_are_not_changed() -> None:
    says("docs/quickstart.md", "Vectors are never changed in place.")
    v = w = (R**X).vec([1.0, 2.0, 3.0])
    inplace: Any = (operator.iadd, operator.isub, operator.imul, operator.itruediv)
    for f in inplace:
        v = f(v, 2.0)
    assert w.array.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises((ValueError, TypeError)):
        w.array[0] = 5.0
    with pytest.raises((TypeError, SpaceError, AttributeError)):
        w[0] = 5.0  # type: ignore[index]


def test_sums_of_low_rank() -> None:
    says("docs/structure.md", "U•Q + U•P has the rank of U, as the common factor is taken out")
    says("docs/structure.md", "a sum of other low-rank maps has the sum of their ranks")
    W, K = Fin.of(20), Fin.of(2)
    U: Any
    V: Any
    U, V = ((R ** (W * K)).random(RNG) for _ in range(2))
    P, Q = ((R ** (K * W)).random(RNG) for _ in range(2))
    f = derivative(fun(R**W)(lambda x: U @ sin(P @ x) + U @ sin(Q @ x)))
    g = derivative(fun(R**W)(lambda x: U @ sin(P @ x) + V @ sin(Q @ x)))
    assert str(structure(f)) == "rank 2"
    assert str(structure(g)) in {"rank 4", "rank 2 + rank 2"}


@pytest.mark.parametrize(("units", "same"), [(8, True), (400, False)])
def test_equal_tensors(units: int, same: bool) -> None:  # noqa: FBT001 - a table
    says("docs/tensors.md", "if `‖s − t‖` is at most some units in the last place of the sum of the norms of all terms")
    u, v = (R**X).vec([1.0, 0.0, 0.0]), (R**Y).vec([1.0, 0.0, 0.0, 0.0])
    t = u.tensor(v)
    s = ((1.0 + units * np.finfo(float).eps) * u).tensor(v)
    assert equal(s, t) == same


def test_products_of_any_number() -> None:
    """No limit is left that there is not: contractions take any number of operands."""
    assert "two operands" not in text("docs/limits.md")
    A, B, x = (V.random(RNG) for V in (R ** (X * Y), R ** (Y * X), R**X))
    found = contract("ij,jk,k->i", A, B, x, to=R**X)
    np.testing.assert_allclose(found.array, A.array @ B.array @ x.array)


def test_shared_flow_is_joined_once() -> None:
    says("docs/notes.md", "such a subterm is also computed once: `[f, k·f]` = `f • [id, k·id]`")
    f = cumsum(X) @ section(hadamard(R**X), 0, (R**X).random(RNG))
    for g in (join(f, 2.0 * f), dup(R**X) @ f, fork(f, f)):
        assert sum(isinstance(arc.map, wire.ContractWith) for arc in net(g).arcs) == 1
