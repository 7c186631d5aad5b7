"""docs/vocabulary.md is a table of every operation: each row is run, differentiated, lifted, and compared with JAX."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import diff
import hilbert.all as hb
import linmap
from hilbert import relation
from hilbert.program.line.operation import Literal
from tests.public import PUBLIC

jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX has it so

PAGE = Path(__file__).parents[2] / "docs" / "vocabulary.md"
HEAD = "| Hilbert | spaces | is | on | singular | source | JAX |"
SIZES = [(3, 2), (1, 1), (0, 2), (2, 0)]
"""The sizes of X and Y; the first are those of the page."""
DOMAINS: dict[str, Any] = {
    "": lambda v: v,
    "x > 0": lambda v: np.exp(v / 2.0),
    "x > 1": lambda v: 1.1 + np.exp(v),
    "0 < x < 1": lambda v: 0.5 + 0.4 * np.tanh(v),
    "|x| < 1": lambda v: 0.9 * np.tanh(v),
}
LANGUAGE = frozenset(
    {
        *("arrow", "as_vector", "case", "data", "folded", "forest", "on", "sequence", "term", "variant"),
        *("AnyTermFunction", "TermFunction"),
        *("Derivative", "Expr", "Fun", "Linearization", "affine", "bilinear", "const", "constant", "derivative", "fun"),
        *("CompiledProgram", "diagram", "linear_operator"),
        *("jvp", "lift", "planned", "pointfree", "program", "register", "show", "source", "Source"),
        *("Contraction", "Cost", "PatternFacts", "Explanation"),
        *(
            "LinMap",
            "compose",
            "cost",
            "delta",
            "diagonal",
            "equal",
            "explain",
            "factors",
            "fork",
            "from_scipy",
            "gram",
        ),
        *(
            "join",
            "linear",
            "matrix",
            "measure",
            "parallel",
            "section",
            "simplify",
            "structure",
            "tensor",
            "trace",
            "pattern",
        ),
        *("universal", "gram", "pack", "unpack", "linear_map", "operation", "made", "entry"),
        *("again", "batched", "build", "each", "fixed_point", "fold"),
        *("iterate", "root", "where", "while_"),  # see docs/control-flow.md
        *("directional", "interpolated", "jet", "laplacian", "ode_series", "ode_solve", "taylor"),  # docs/taylor.md
        *(
            "cg",
            "cholesky",
            "det",
            "eigh",
            "inverse",
            "logdet",
            "lstsq",
            "qr",
            "solve",
            "solve_triangular",
            "svd",
            *("expm", "inv_sqrtm", "logm", "matrix_function", "sqrtm"),
        ),  # docs/operations.md
    }
)
"""What makes and reads functions and maps: no operation on vectors."""
METHODS = {
    "apply_map",
    "attributes",
    "builder",
    "functions",
    "instead",
    "map_leaves",
    "operators",
    "replace",
    "slots",
    "space",
}


@dataclass
class Row:
    """A row of the page."""

    ours: str
    spaces: str
    domain: str
    singular: list[tuple[float, float]]
    theirs: str

    def __str__(self) -> str:
        return self.ours

    @property
    def letters(self) -> list[str]:
        """The arguments, in the order in which they occur."""
        tree = ast.parse(self.ours, mode="eval")
        names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in spaces(3, 2)]
        return list(dict.fromkeys(n.id for n in sorted(names, key=lambda n: n.col_offset)))

    @property
    def has_sizes(self) -> bool:
        """Whether it is for the sizes of the page only."""
        return any(c.isdigit() for c in self.spaces) or "([" in self.ours


def rows() -> list[Row]:
    """All rows of the page."""
    found = []
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
        if len(cells) == 9 and cells[1].startswith("`"):
            points = [tuple(map(float, pair.split("↦"))) for pair in cells[5].split(",") if pair]
            found.append(Row(cells[1].strip("`"), cells[2], cells[4], points, cells[7].strip("`")))  # type: ignore[arg-type]
    return found


class Xs:
    """An axis."""


class Ys:
    """An axis."""


ROWS = rows()


@cache
def spaces(n: int, m: int) -> dict[str, hb.Type]:
    """The space of each letter of the page."""
    X, Y = hb.Fin(Xs, n), hb.Fin(Ys, m)
    real: Any = hb.R
    return {
        "k": real, "x": real**X, "y": real**X, "u": real**Y, "A": real ** (X * Y), "B": real ** (X * Y),
        "S": real ** (X * X), "F": (real**Y) ** X, "c": hb.Bool**X, "d": hb.Bool**X, "n": hb.Z**X,
        "i": hb.Elements(X), "e": hb.Elements(X) ** Y, "p": hb.direct_sum(real**X, real**Y),
        "z": hb.direct_sum(real, real) ** X, "m": real ** hb.Fin.of(2),
        "h": real ** (hb.Fin.of(5) * hb.Fin.of(1)),
        "w": real ** (hb.Fin.of(2) * hb.Fin.of(1) * hb.Fin.of(3)),
    }  # fmt: skip


def point(row: Row, n: int, m: int) -> list[hb.Vec[Any]]:
    """Arguments inside the domain, drawn."""
    rng = np.random.default_rng(sum(map(ord, row.ours)))
    found = []
    for letter in row.letters:
        space = spaces(n, m)[letter]
        arrays = []
        for leaf in space.leaves:
            if leaf.is_field:
                arrays.append(DOMAINS[row.domain](rng.standard_normal(leaf.shape)))
            elif leaf.entry.index is not None:
                arrays.append(rng.integers(0, max(leaf.entry.index.size, 1), leaf.shape))
            else:
                arrays.append(rng.integers(0, 2, leaf.shape).astype(leaf.dtype))
        found.append(space.vec(space.pack(iter(arrays))))
    return found


def ours(row: Row, n: int, m: int) -> Any:
    """The function of a row, traced."""
    X, Y = hb.Fin(Xs, n), hb.Fin(Ys, m)
    names = {name: getattr(hb, name) for name in PUBLIC} | {"X": X, "Y": Y, "relation": relation}
    code = compile(row.ours, row.ours, "eval")
    domains = [spaces(n, m)[letter] for letter in row.letters]

    def body(*args: Any) -> Any:
        return eval(code, names | dict(zip(row.letters, args, strict=True)))  # noqa: S307 - our own page

    return hb.fun(*domains)(body)


def theirs(row: Row, n: int, m: int) -> Any:
    """JAX's function of a row, of arrays; its results are flat."""
    names: dict[str, Any] = {"jnp": jnp, "jax": jax, "x_like": range(n), "u_like": range(m)}
    names["pair"] = lambda z: (z.real, z.imag)

    def f(*args: Any) -> Any:
        value = eval(row.theirs, names | dict(zip(row.letters, args, strict=True)))  # noqa: S307 - our own page
        return [jnp.asarray(a) for a in jax.tree.leaves(value)]

    return f


def arrays(v: hb.Vec[Any]) -> Any:
    """The arrays of an argument, as JAX's function takes them."""
    return jax.tree.map(jnp.asarray, v.array)


def close(found: Any, due: Any) -> bool:
    """Whether two lists of arrays agree to 1e-10."""
    return len(found) == len(due) and all(
        np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-10, atol=1e-10, equal_nan=True)
        for a, b in zip(found, due, strict=True)
    )


def weights(space: hb.Type) -> hb.Vec[Any]:
    """Numbers that tell the entries of a result apart."""
    rng = np.random.default_rng(7)
    return space.vec(space.pack(iter([rng.uniform(0.5, 1.5, leaf.shape).astype(leaf.dtype) for leaf in space.leaves])))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_spaces(row: Row) -> None:
    """The spaces of a row are what is written; Xs and Ys of sizes 3 and 2 are X and Y."""
    f = ours(row, 3, 2)
    assert f"{f.dom} → {f.cod}".replace("Xs3", "X").replace("Ys2", "Y") == row.spaces


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_values(row: Row) -> None:
    """f(x) is JAX's, also for index sets of one and of no elements; what has no value is refused."""
    for n, m in SIZES[: 1 if row.has_sizes else None]:
        try:
            args = point(row, n, m)
            value = ours(row, n, m)(*args)
        except hb.SpaceError:
            assert 0 in {n, m}
            continue
        with warnings.catch_warnings(category=UserWarning, action="ignore"):
            assert close(value.leaves, jax.jit(theirs(row, n, m))(*map(arrays, args))), (n, m)


REFUSED = ("mean", "max", "min", "argmax", "argmin", "top", "[", "curry")


@pytest.mark.parametrize("row", [row for row in ROWS if not row.has_sizes], ids=str)
def test_of_no_elements(row: Row) -> None:
    """Only what has no meaning for the empty set is refused."""
    letters, f = set(row.letters), None
    try:
        point(row, 0, 0)
        f = ours(row, 0, 0)
    except hb.SpaceError:
        assert letters & {"i", "e"} or any(name in row.ours for name in REFUSED)
    if f is not None:
        assert f(*point(row, 0, 0)).space == f.cod


def is_smooth(row: Row) -> bool:
    """Whether there is something to differentiate, in double precision."""
    f = ours(row, 3, 2)
    return bool(f.cod.is_space and f.dom.tangent.dim and "₃₂" not in row.spaces)


SMOOTH = [row for row in ROWS if is_smooth(row)]


@pytest.mark.parametrize("row", SMOOTH, ids=str)
def test_gradients(row: Row) -> None:
    """∇(w ⊙ f) is JAX's."""
    for n, m in SIZES[: 1 if row.has_sizes else 2]:
        try:
            f = ours(row, n, m)
        except hb.SpaceError:
            continue
        if not f.dom.tangent.dim:
            continue
        args, w = point(row, n, m), weights(f.cod)
        objective = hb.fun(*f.dom.parts if len(args) > 1 else (f.dom,))(lambda *a, f=f, w=w: hb.inner(f(*a), w))
        found = hb.grad(objective)(*args)
        real = [k for k, v in enumerate(args) if v.space.is_space]

        def scalar(*some: Any, row: Row = row, n: int = n, m: int = m, w: Any = w, args: Any = args) -> Any:
            full = list(map(arrays, args))
            for k, a in zip([k for k, v in enumerate(args) if v.space.is_space], some, strict=True):
                full[k] = a
            return sum(jnp.vdot(a, b) for a, b in zip(theirs(row, n, m)(*full), w.leaves, strict=True)) + 0.0

        due = jax.jit(jax.grad(scalar, tuple(range(len(real)))))(*(arrays(args[k]) for k in real))
        assert close(found.leaves, jax.tree.leaves(due)), (n, m)


@pytest.mark.parametrize("row", SMOOTH, ids=str)
def test_derivatives(row: Row) -> None:
    """f' is the limit of differences, f'* its adjoint; so for the gradient of w ⊙ f."""
    if row.ours.startswith("stop_gradient"):
        pytest.skip("its derivative is 0 by intention")
    f, args = ours(row, 3, 2), point(row, 3, 2)
    w = weights(f.cod)
    objective = hb.fun(*f.dom.parts if len(args) > 1 else (f.dom,))(lambda *a: hb.inner(f(*a), w))
    assert all(hb.check(f, *args))
    assert hb.check_derivative(hb.grad(objective), *args)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_lifted_twice(row: Row) -> None:
    """(f^P)^Q is f for each q ∈ Q and p ∈ P."""
    f = ours(row, 3, 2)
    P, Q = hb.Fin.of(2), hb.Fin.of(3)
    lifted = (f**P) ** Q
    points = [point(Row(row.ours + " " * k, row.spaces, row.domain, [], ""), 3, 2) for k in range(6)]
    whole = [[leaf for v in args for leaf in v.leaves] for args in points]
    stacked = [np.stack(leaves).reshape(3, 2, *leaves[0].shape) for leaves in zip(*whole, strict=True)]
    value = lifted(lifted.dom.vec(lifted.dom.pack(iter(stacked))))
    for k, args in enumerate(points):
        due = f(*args).leaves
        assert close([leaf[k // 2, k % 2] for leaf in value.leaves], due)


@pytest.mark.parametrize("row", [row for row in SMOOTH if row.singular], ids=str)
def test_singular_points(row: Row) -> None:
    """The gradient of Σ f where every entry is at a singular point."""
    for at, due in row.singular:
        f = ours(row, 1, 1)
        total = hb.fun(*f.dom.parts if len(row.letters) > 1 else (f.dom,))(lambda *a, f=f: f(*a).sum())
        args = [v.space.full(at) for v in point(row, 1, 1)]
        with warnings.catch_warnings(category=RuntimeWarning, action="ignore"):
            found = hb.grad(total)(*args)
        if len(row.letters) == 1:
            expected = due if "product" not in row.ours else 1.0
            assert np.array_equal(found.flat(), np.full(found.space.dim, expected), equal_nan=True)
        else:
            assert np.isnan(found.flat()).any() if np.isnan(due) else (found.flat() == due).all()


def test_ties_go_to_the_first() -> None:
    """Of equal entries the first is the largest and the least, and gets the derivative; orders are stable."""
    V = hb.R ** hb.Fin.of(4)
    v = V.vec([2.0, 1.0, 2.0, 1.0])
    assert [int(w.array) for w in (v.argmax(), v.argmin())] == [0, 1]
    assert v.argsort().array.tolist() == [1, 3, 0, 2]
    assert v.top(3).array.tolist() == [0, 2, 1]
    assert hb.grad(hb.fun(V)(lambda x: x.max()))(v).array.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert hb.grad(hb.fun(V)(lambda x: x.min()))(v).array.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_nothing_overflows() -> None:
    """ln Σ exp and softmax of large, of infinite and of no entries."""
    V = hb.R ** hb.Fin.of(2)
    large = V.vec([1000.0, 1000.0])
    assert float(large.logsumexp()) == pytest.approx(1000.0 + np.log(2.0))
    assert large.softmax().array.tolist() == [0.5, 0.5]
    assert V.vec([-np.inf, 0.0]).softmax().array.tolist() == [0.0, 1.0]
    assert float(V.vec([-np.inf, 3.0]).logsumexp()) == 3.0
    assert float(V.vec([np.inf, 3.0]).logsumexp()) == np.inf
    assert float((hb.R ** hb.Fin.of(0)).zeros().logsumexp()) == -np.inf


def test_products_at_zeros() -> None:
    """The derivatives of a product are right where one, two and three factors are 0."""
    V = hb.R ** hb.Fin.of(5)
    f = hb.fun(V)(lambda x: x.product())
    for zeros in range(4):
        v = V.vec([0.0] * zeros + [2.0] * (5 - zeros))
        assert np.allclose(hb.grad(f)(v).array, jax.jit(jax.grad(jnp.prod))(jnp.asarray(v.array)))
        assert np.allclose(hb.hessian(f, v), jax.jit(jax.hessian(jnp.prod))(jnp.asarray(v.array)))


def test_every_operation_has_a_row() -> None:
    """Each public name of diff and linmap, and each method of expressions, stands on the page or is no operation."""
    text = " ".join(row.ours for row in ROWS) + " | "
    words = set(re.findall(r"\w+", text))
    public = set(diff.__all__) | set(linmap.__all__)
    assert public - LANGUAGE - words == set()
    assert public >= LANGUAGE
    methods = {name for name in dir(hb.Expr) if not name.startswith("_")} - METHODS
    missing = {name for name in vars(hb.Expr) if name in methods and vars(hb.Expr)[name] is not None}
    assert {name for name in missing if callable(getattr(hb.Expr, name))} - words == set()


def test_the_page_has_tables() -> None:
    """The tables are found."""
    assert PAGE.read_text("utf-8").count(HEAD) == 5
    assert len(ROWS) >= 120


@pytest.mark.parametrize("n", [2, 3, 8, 10, 63, 65])
def test_steps_of_products(n: int) -> None:
    """As many as the page says."""
    halvings = math.ceil(math.log2(n))

    def steps(body: Callable[[Any], Any]) -> int:
        return sum(
            not isinstance(step.operation, Literal) for step in hb.program(hb.fun(hb.R ** hb.Fin.of(n))(body)).steps
        )

    assert 3 * halvings - 2 <= steps(lambda x: x.product()) <= 5 * halvings
    assert steps(lambda x: x.cumprod()) == 5 * halvings
