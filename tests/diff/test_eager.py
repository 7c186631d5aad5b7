"""An operation on vectors is the operation on expressions: one value, one error, in every array library."""

from __future__ import annotations

import doctest
import importlib
import math
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from diff import Expr, contract, exp, fun, hypot, inner, maximum, onehot, outer, select
from diff.terms.elementwise import RULES
from diff.trace import trace
from diff.vocabulary import eager
from hilbert import R32, Bool, Elements, Fin, Labelled, R, SpaceError, Vec, direct_sum
from hilbert.base.attach import attached
from hilbert.tracebacks import tracing

jax.config.update("jax_enable_x64", val=True)
ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = ["docs.examples.bundle", "docs.examples.digits"]
X, Y = Fin.of(3), Fin.of(2)
V, M = R**X, R ** (Y * X)


@pytest.fixture(autouse=True)
def table() -> Iterator[None]:
    """The table of primitives is afterwards what it was: pages register some."""
    before = dict(RULES)
    yield
    RULES.clear()
    RULES.update(before)


def compared(run: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whether each body that is traced while something runs is, on random vectors, what was traced: a text for each."""
    rng, found = np.random.default_rng(0), list[str]()
    plain = trace.Tracer.__call__

    def comparing(self: Any, body: Any, /) -> Any:
        f = plain(self, body)
        if (
            not tracing.get() and body.__module__ != "diff.datatypes.forest.forest"
        ):  # a body inside a body may read its expressions
            found.append(difference(body, f, [space.random(rng) for space in self._arguments]))
        return f

    with monkeypatch.context() as patch:
        patch.setattr(trace.Tracer, "__call__", comparing)
        run()
    return found


def difference(body: Callable[..., Any], f: Any, point: list[Any]) -> str:
    """What tells a body on vectors from the traced function; nothing, if all is well."""
    with warnings.catch_warnings(category=RuntimeWarning, action="ignore"):
        try:
            due = leaves(f(*point))
        except SpaceError as refused:  # as a page shows
            try:
                body(*point)
            except SpaceError as error:
                return "" if str(error).split(":")[0] == str(refused).split(":")[0] else f"{f}: {error!r}"
            return f"{f}: {refused!r} for expressions only"
        try:
            value = leaves(body(*point))
        except Exception as error:  # noqa: BLE001 - a page's examples hide it
            return f"{f}: {error!r}"
    same = len(due) == len(value) and all(
        np.allclose(a, b, 1e-9, 1e-12, equal_nan=True) for a, b in zip(due, value, strict=True)
    )
    return "" if same else f"{f}: {value} instead of {due}"


def blocks(page: Path) -> None:
    """Run the code of a page; what its examples print is another test."""
    name = f"bodies of {page.name}"  # not the name of the other test: warnings are told once for a place
    test = doctest.DocTestParser().get_doctest(page.read_text("utf-8"), {"__name__": "__main__"}, name, None, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=lambda _: None, clear_globs=False)


def leaves(value: Any) -> list[Any]:
    """The arrays of a vector, of a tuple of vectors, or of a number."""
    if isinstance(value, float):  # the norm of a vector
        return [np.asarray(value)]
    return list(value.dense().leaves) if isinstance(value, Vec) else [a for part in value for a in leaves(part)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_body_in_the_documentation(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every body of a page runs on vectors, too."""
    found = compared(lambda: blocks(page), monkeypatch)
    assert [text for text in found if text] == []
    if page.stem in {"higher", "pullbacks", "caddie", "ks"}:  # their bodies are terms
        return
    assert found or "fun(" not in page.read_text("utf-8").replace("(fun(", "(")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_body_in_the_examples(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every body that an example traces when it is imported runs on vectors, too."""
    sys.modules.pop(name, None)
    found = compared(lambda: importlib.import_module(name), monkeypatch)
    assert found
    assert [text for text in found if text] == []


def test_vectors_have_the_methods_of_expressions() -> None:
    """A vector has the public methods of an expression, with their documentation."""
    own = {"apply_map", "attributes", "builder", "functions", "home", "instead", "slots", "split"}
    assert {name for name in dir(Expr) if not name.startswith("_")} - own <= set(dir(Vec))
    method: Any = attached(Vec, "sum")
    assert method is vars(Vec)["sum"]
    assert method.__doc__
    assert method.__qualname__ == "Vec.sum"


def test_without_diff() -> None:
    """hilbert alone adds, scales and takes components; the rest says what to import."""
    code = (
        "from hilbert import *\nv = (R ** Fin.of(2)).ones()\nprint((2 * v + 1)[0], len(v))\n"
        "try: v * v\nexcept SpaceError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.splitlines() == [
        "3.0 ∈ ℝ 2",
        "this operation (multiplied) comes with diff: write import diff, or import hilbert.all as hb",
    ]


def unpacked(v: Any) -> Any:
    a, b, c = v
    return a * b + c


v, w = V.vec([1.0, -2.0, 3.0]), V.vec([0.5, 4.0, 2.0])
m, k, y = M.vec([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), R.vec(2.0), Elements(X).vec(2)
ys = (Elements(X) ** Y).vec([2, 2])
OPERATIONS: dict[str, tuple[Callable[..., Any], tuple[Vec[Any], ...], Any]] = {
    "v * w": (lambda v, w: v * w, (v, w), v.array * w.array),
    "v / w": (lambda v, w: v / w, (v, w), v.array / w.array),
    "k * v": (lambda k, v: k * v, (k, v), 2 * v.array),
    "v * k": (lambda v, k: v * k, (v, k), 2 * v.array),
    "v / k": (lambda v, k: v / k, (v, k), v.array / 2),
    "v + 1": (lambda v: v + 1, (v,), v.array + 1),
    "1 + v": (lambda v: 1 + v, (v,), v.array + 1),
    "v - 1": (lambda v: v - 1, (v,), v.array - 1),
    "1 - v": (lambda v: 1 - v, (v,), 1 - v.array),
    "3 / v": (lambda v: 3 / v, (v,), 3 / v.array),
    "v ** 2": (lambda v: v**2, (v,), v.array**2),
    "w ** 0.5": (lambda w: w**0.5, (w,), np.sqrt(w.array)),
    "v > w": (lambda v, w: v > w, (v, w), v.array > w.array),
    "v >= 1": (lambda v: v >= 1, (v,), v.array >= 1),
    "1 < v": (lambda v: 1 < v, (v,), v.array > 1),  # noqa: SIM300 - the number on the left
    "v <= w": (lambda v, w: v <= w, (v, w), v.array <= w.array),
    "&": (lambda v: (v > -1) & (v < 2), (v,), [True, False, False]),
    "|": (lambda v: (v < -1) | (v > 2), (v,), [False, True, True]),
    "~": (lambda v: ~(v > 2), (v,), [True, True, False]),
    "A @ x": (lambda m, v: m @ v, (m, v), m.array @ v.array),
    "A.T": (lambda m: m.T, (m,), m.array.T),
    "sum": (lambda m: m.sum(), (m,), 21.0),
    "mean": (lambda m: m.mean(), (m,), 3.5),
    "sum over X": (lambda m: m.sum(X), (m,), [6.0, 15.0]),
    "sum over Y": (lambda m: m.sum(Y), (m,), [5.0, 7.0, 9.0]),
    "mean over X": (lambda m: m.mean(X), (m,), [2.0, 5.0]),
    "inner": (inner, (v, w), v.array @ w.array),
    "outer": (outer, (v, w), np.outer(v.array, w.array)),
    "contract": (lambda m, v: contract("ij,j->i", m, v), (m, v), m.array @ v.array),
    "contract into": (lambda m, v: contract("ij,j->i", m, v, to=R**Y), (m, v), m.array @ v.array),
    "select": (lambda v: select(v > 0, v), (v,), [1.0, 0.0, 3.0]),
    "onehot": (onehot, (y,), [0.0, 0.0, 1.0]),
    "v[y]": (lambda v, y: v[y], (v, y), 3.0),
    "v[ys]": (lambda v, y: v[y], (v, ys), [3.0, 3.0]),
    "scatter": (lambda w, y: w[y].scatter(y), (w, ys), [0.0, 0.0, 4.0]),
    "roll": (lambda v: v.roll(1), (v,), np.roll(v.array, 1)),
    "flip": (lambda v: v.flip(), (v,), v.array[::-1]),
    "cumsum": (lambda v: v.cumsum(), (v,), np.cumsum(v.array)),
    "cumsum back": (lambda v: v.cumsum(reverse=True, exclusive=True), (v,), [1.0, 3.0, 0.0]),
    "pad": (lambda v: v.pad(1, 2), (v,), np.pad(v.array, (1, 2))),
    "reshape": (lambda m: m.reshape(Fin.of(6)), (m,), m.array.ravel()),
    "maximum": (lambda v: maximum(v, 0.5), (v,), np.maximum(v.array, 0.5)),
    "hypot": (lambda v: hypot(3.0, v), (v,), np.hypot(3.0, v.array)),
    "v[0]": (lambda v: v[0], (v,), 1.0),
    "v[-1]": (lambda v: v[-1], (v,), 3.0),
    "v[1:]": (lambda v: v[1:], (v,), [-2.0, 3.0]),
    "v[::-2]": (lambda v: v[::-2], (v,), [3.0, 1.0]),
    "A[1, :]": (lambda m: m[1, :], (m,), [4.0, 5.0, 6.0]),
    "A[:, 0:2]": (lambda m: m[:, 0:2], (m,), [[1.0, 2.0], [4.0, 5.0]]),
    "a, b, c = v": (unpacked, (v,), 1.0),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_on_vectors_and_traced(name: str) -> None:
    """f(v) is the traced f at v, of one space; and what numpy says."""
    f, point, due = OPERATIONS[name]
    traced = fun(*(a.space for a in point))(f)
    found = f(*point)
    assert found.space == traced.cod
    np.testing.assert_array_equal(found.array, traced(*point).array)
    if due is not None:
        np.testing.assert_allclose(found.array, due, rtol=1e-15)


@pytest.mark.parametrize("name", OPERATIONS)
def test_on_arrays_of_jax(name: str) -> None:
    """The result lives where the operands do."""
    f, point, _ = OPERATIONS[name]
    there = [a.space.vec(jax.numpy.asarray(a.array)) for a in point]
    found = f(*there)
    assert isinstance(found.array, jax.Array)
    np.testing.assert_allclose(found.array, f(*point).array, rtol=1e-12)


@pytest.mark.parametrize("name", [name for name in OPERATIONS if len(OPERATIONS[name][1]) == 2])
def test_a_vector_beside_an_expression(name: str) -> None:
    """Each operand may be a constant of the function, on either side."""
    f, (a, b), _ = OPERATIONS[name]
    due = f(a, b).array
    np.testing.assert_allclose(fun(a.space)(lambda e: f(e, b))(a).array, due, rtol=1e-15)
    np.testing.assert_allclose(fun(b.space)(lambda e: f(a, e))(b).array, due, rtol=1e-15)


def test_formal_tensors_stay_formal() -> None:
    """(u⊗v)·(u⊗v) and Σ(u⊗v) are computed on the factors."""
    t: Any = v.tensor(w)
    assert (t * t).is_formal
    np.testing.assert_allclose((t * t).array, np.outer(v.array, w.array) ** 2)
    np.testing.assert_allclose(float(t.sum()), v.array.sum() * w.array.sum())
    np.testing.assert_allclose((t + 1).array, np.outer(v.array, w.array) + 1)
    np.testing.assert_array_equal((t.dense() > 1).array, np.outer(v.array, w.array) > 1)


def test_single_precision_stays() -> None:
    """A number takes the field of the vector."""
    x: Any = (R32**X).vec(np.asarray([1.0, 2.0, 3.0], np.float32))
    for found in (x * x, x + 1, 1 / x, x**2, x.sum(), x.mean(), maximum(x, 0.1), x.roll(1), 0.1 - x):
        assert found.array.dtype == np.float32


def test_numbers_are_data() -> None:
    """Many numbers are one traced operation; exponents and other parameters are one each, and not all are kept."""
    x: Any = (R**X).vec([1.0, 2.0, 3.0])
    for number in range(200):
        _ = x > number
        _ = (number + 1) / x
    two: Any = eager._table([x.space, x.space], ())
    assert 1 <= two.cache_info().currsize <= 2
    for exponent in range(eager.SIZE + 50):
        _ = x**exponent
    one: Any = eager._table([x.space], ())
    assert one.cache_info().currsize == eager.SIZE


def test_the_cache_tells_parameters_apart() -> None:
    """1, True and 1.0 are equal and mean three things."""
    assert v.roll(1).array.tolist() == [3.0, 1.0, -2.0]
    with pytest.raises(SpaceError, match="not True"):
        v.roll(by=True)
    with pytest.raises(SpaceError, match=r"not 1\.0"):
        v.roll(1.0)  # type: ignore[arg-type]


def test_many_threads() -> None:
    """Operations that are traced at the same time do not disturb each other, nor a function that is being traced."""
    wrong: list[int] = []

    def work(n: int) -> None:
        x = (R ** Fin.of(n)).full(2.0)
        sums = [float((x * x + exp(x.roll(1))).sum()) for _ in range(20)]
        wrong.extend(n for found in sums if found != pytest.approx(n * (4.0 + math.exp(2.0))))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(100, 116)]
    for thread in threads:
        thread.start()
    assert fun(V)(lambda x: x * (w * w))(v).array.tolist() == (v * w * w).array.tolist()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_truth_of_a_vector() -> None:
    """One Bool is true or false; anything else has no truth value."""
    assert bool(Bool.vec(data=True))
    assert not bool(Bool.vec(data=False))
    assert not (k > 3.0)
    for value in (v, k, v > 0, direct_sum(Bool, Bool).vec((True, True)), y, (R ** Fin.of(0)).zeros()):
        with pytest.raises(SpaceError, match="has no truth value"):
            bool(value)


def test_sum_of_everything() -> None:
    """Σ over all entries of all parts; of no entries it is 0; of two fields it is refused."""
    S = direct_sum(V, R, R ** Fin.of(0))
    assert float(S.vec(([1.0, 2.0, 3.0], 4.0, [])).sum()) == 10.0
    assert float(S.vec(([1.0, 2.0, 3.0], 4.0, [])).mean()) == 2.5
    assert float((R ** Fin.of(0)).zeros().sum()) == 0.0
    with pytest.raises(SpaceError, match="adds over one field"):
        direct_sum(R, R32).zeros().sum()
    nested = (R**X) ** Y
    x = nested.vec(m.array)
    assert x.sum(X).array.tolist() == [6.0, 15.0]
    assert x.sum(Y).array.tolist() == [5.0, 7.0, 9.0]
    city = Labelled.of(["Bergen", "Turku"])
    three: Any = (R ** (X * Y * city)).vec(np.arange(12.0).reshape(3, 2, 2))
    for axis, index in enumerate((X, Y, city)):
        assert three.sum(index).array.tolist() == three.array.sum(axis=axis).tolist()


@pytest.mark.parametrize(
    "given", [memoryview(bytearray(b"abc")), [1], {}, np.ones(2)], ids=["view", "list", "dict", "array"]
)
def test_arguments_without_a_hash(given: Any) -> None:
    """They are refused as others are."""
    with pytest.raises(SpaceError, match="the step of a rotation is an integer"):
        (R ** Fin.of(3)).ones().roll(given)
