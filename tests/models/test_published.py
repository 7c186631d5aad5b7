"""The published models: values and derivatives beside JAX, and the counts of lines and entries on docs/models.md."""

from __future__ import annotations

import ast
import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np
import pytest

import hilbert.all as hb
from adjoint.command import main
from docs.examples.published import (
    bal,
    broyden,
    cart_pole,
    darcy,
    deblurring,
    eight_schools,
    garch,
    graph_network,
    hmm,
    minimal_surface,
    negative_binomial,
    neural_ode,
    pinn,
    radon,
)
from hilbert.space.space import Type
from tests.models import published_peers as peers
from tests.models.test_page import lines

ROOT = Path(__file__).parents[2]
FILES = {path.stem: path for path in sorted((ROOT / "docs/examples/published").glob("*.py"))}
RNG = np.random.default_rng(1)


def near(found: Any, due: Any) -> None:
    """The largest difference is 1e-10 of the largest entry at most."""
    a, b = np.asarray(found), np.asarray(due)
    assert a.shape == b.shape
    assert np.isfinite(b).all()
    assert np.max(np.abs(a - b)) <= 1e-10 * np.max(np.abs(b))


def flat(peer: Callable[..., Any], V: hb.Space) -> Callable[[Any], Any]:
    """A function of the arrays of V as one of all entries in a row."""
    shapes = [leaf.shape for leaf in V.zeros().leaves]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]

    def f(x: Any) -> Any:
        return peer(*(part.reshape(shape) for part, shape in zip(jax.numpy.split(x, ends), shapes, strict=True)))

    return f


# --- values and derivatives ---

SCALARS: list[tuple[hb.Map[Any, Any], Callable[..., Any]]] = [
    (eight_schools.log_density, peers.schools_density),
    (radon.loss, peers.radon_loss),
    (negative_binomial.loss, peers.negative_binomial_loss),
    (garch.loss, peers.garch_loss),
    (hmm.loss, peers.hmm_loss),
    (minimal_surface.area, peers.surface_area),
    (pinn.loss, peers.pinn_loss),
    (deblurring.energy, peers.deblurring_energy),
    (graph_network.loss, peers.graph_loss),
    (neural_ode.loss, peers.ode_loss),
]
RESIDUALS: list[tuple[hb.Map[Any, Any], Callable[..., Any], hb.Vec[Any]]] = [
    (broyden.residual, peers.broyden_residual, broyden.start + broyden.V.random(RNG, scale=0.3)),
    (bal.residual, peers.bal_residual, bal.scene + bal.S.random(RNG, scale=0.1)),
    (darcy.imbalance, peers.darcy_imbalance, darcy.imbalance.dom.random(RNG)),
    (darcy.readings, peers.darcy_readings, darcy.V.random(RNG)),
]


@pytest.mark.parametrize(("f", "peer"), SCALARS, ids=[peer.__name__ for _, peer in SCALARS])
def test_value_gradient_and_hessian(f: hb.Map[Any, Any], peer: Callable[..., Any]) -> None:
    """At a random point."""
    p: hb.Vec[Any] = f.dom.random(np.random.default_rng(0), scale=0.5)
    g, x = jax.jit(flat(peer, f.dom)), p.flat()
    near(f(p).array, g(x))
    near(hb.grad(f)(p).flat(), jax.jit(jax.grad(g))(x))
    near(hb.hessian(f, p), jax.jit(jax.hessian(g))(x))
    near(hb.hessian(f, p, as_="sparse").toarray(), hb.hessian(f, p))


@pytest.mark.parametrize(("f", "peer", "at"), RESIDUALS, ids=[peer.__name__ for _, peer, _ in RESIDUALS])
def test_value_jacobian_and_gradient(f: hb.Map[Any, Any], peer: Callable[..., Any], at: hb.Vec[Any]) -> None:
    """The gradient is that of half the squares."""
    g, x = jax.jit(lambda x: flat(peer, f.dom)(x).ravel()), at.flat()
    near(f(at).flat(), g(x))
    near(hb.matrix(hb.derivative(f).at(at), as_="sparse").toarray(), jax.jit(jax.jacfwd(g))(x))
    half: hb.Map[Any, Any] = hb.fun(f.dom)(lambda x: 0.5 * hb.inner(f(x), f(x)))
    near(hb.grad(half)(at).flat(), jax.jit(jax.grad(lambda x: 0.5 * (g(x) @ g(x))))(x))


def test_lagrangian_of_optimal_control() -> None:
    """Effort and constraints of a random path, their derivatives, and the Hessian of the Lagrangian."""
    program, rng = cart_pole.program, np.random.default_rng(0)
    x, multipliers = rng.normal(size=program.size), rng.normal(size=program.count)

    def lagrangian(x: Any) -> Any:
        return 2.0 * peers.cart_pole_effort(x) + multipliers @ peers.cart_pole_constraints(x)

    near(program.objective(x), peers.cart_pole_effort(x))
    near(program.gradient(x), jax.grad(peers.cart_pole_effort)(x))
    near(program.constraints(x), peers.cart_pole_constraints(x))
    near(program.jac(x).toarray(), jax.jit(jax.jacfwd(peers.cart_pole_constraints))(x))
    near(program.hess(x, multipliers, 2.0).toarray(), jax.jit(jax.hessian(lagrangian))(x))


def test_rotation_zero() -> None:
    """A camera that is not turned, where Rodrigues' formula is 0/0, has the derivative of its limit."""
    rotation, *rest = bal.scene.leaves
    at = bal.S.vec(((np.zeros_like(rotation), *rest[:3]), rest[3]))
    due = jax.jit(jax.jacfwd(lambda x: flat(peers.bal_residual, bal.S)(x).ravel()))(at.flat())
    near(hb.jacobian(bal.residual, at), due)


# --- what is written ---

CONVERSIONS = {
    *("asarray", "astype", "cast", "const", "named", "reshape", "ravel", "rep", "rows", "flat", "unflat", "flatten"),
    *("tolist", "to_numpy", "float", "int", "squeeze", "expand_dims", "broadcast_to", "pack", "unpack"),
}
"""Calls that do no mathematics: they only change the form of data, or repeat data."""
IGNORED = re.compile(r"# *(type:|pyright:|mypy:|noqa)")
KINDS = ("declaration", "data", "model", "glue")


def glue(source: str, tree: ast.Module) -> Iterator[int]:
    """The lines that convert, that make a vector of an array with a name, or that hide a type."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in CONVERSIONS:
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr="vec"), args=[ast.Name()]):
                yield node.lineno
            case ast.Attribute(attr="array" | "newaxis") | ast.Name(id="Any"):
                yield node.lineno
            case _:
                pass
    yield from (k for k, line in enumerate(source.splitlines(), 1) if IGNORED.search(line))


def kind(node: ast.stmt, module: ModuleType) -> str:
    """The kind of a statement of a model, by the values of the names that the statement defines."""
    match node:
        case ast.ClassDef() | ast.AnnAssign():
            return "declaration"
        case ast.FunctionDef():
            return "model"
        case ast.Assign(targets=[target]):
            names = [name.id for name in ast.walk(target) if isinstance(name, ast.Name)]
            values = [getattr(module, name) for name in names]
            declared = [isinstance(value, Type | hb.Index) for value in values]
            if any(declared):
                assert all(declared), f"line {node.lineno} declares and defines"
                return "declaration"
            return "model" if any(isinstance(value, hb.Map | hb.NonlinearProgram) for value in values) else "data"
        case _:
            raise AssertionError(f"line {node.lineno} is no declaration, no datum and no function")


def counted(name: str, source: str) -> Counter[str]:
    """The lines of a model by kind; glue counts as nothing else."""
    tree, module = ast.parse(source), importlib.import_module(f"docs.examples.published.{name}")
    imports = (ast.Import, ast.ImportFrom)
    body = [node for node in tree.body[1:] if not isinstance(node, imports)]
    found = Counter(dict.fromkeys(KINDS, 0))
    converted = set(glue(source, tree))
    for node in body:
        inside = sum(k in converted for k in range(node.lineno, (node.end_lineno or 0) + 1))
        found[kind(node, module)] += lines(source, [node]) - inside
    found["glue"] = len(converted)
    return found


COUNTS = {name: counted(name, path.read_text("utf-8")) for name, path in FILES.items()}


def test_there_are_fourteen() -> None:
    assert len(FILES) == 14
    assert all("main" not in path.read_text("utf-8") for path in FILES.values())


@pytest.mark.parametrize("name", FILES)
def test_a_line_of_glue_at_most(name: str) -> None:
    assert COUNTS[name]["glue"] <= 1


def test_lines_of_declarations() -> None:
    """In all fourteen together."""
    assert sum(count["declaration"] for count in COUNTS.values()) <= 110


@pytest.mark.parametrize(
    "line",
    [
        "x = np.asarray(y)",
        "x = y.astype(float)",
        "x = V.vec(y)",
        "x = hb.const(v)",
        "x = y  # type: ignore[index]",
        "x = y.array",
    ],
)
def test_glue_is_seen(line: str) -> None:
    """Also within a model, where the line is counted once."""
    source = FILES["broyden"].read_text("utf-8")
    assert counted("broyden", source)["glue"] == 0
    with_it = source.replace("    z = x.pad(1, 1)\n", f"    z = x.pad(1, 1)\n    {line}\n")
    assert counted("broyden", with_it) == COUNTS["broyden"] + Counter(glue=1)


# --- docs/models.md ---

PAGE = (ROOT / "docs/models.md").read_text("utf-8")
ROWS = re.findall(
    r"^\| \[.*?\]\(examples/published/(\w+)\.py\)[^|]* \| (\d+) \| (\d+) \| (\d+) \| (.*?) \|$", PAGE, re.MULTILINE
)


def test_rows() -> None:
    """Each model has a row with its lines of declarations, data and model."""
    assert {row[0] for row in ROWS} == FILES.keys()
    for name, *numbers, _ in ROWS:
        assert [COUNTS[name][of] for of in KINDS[:3]] == [int(number) for number in numbers]
    assert "No line converts, reshapes or repeats an array" in PAGE
    assert not any(count["glue"] for count in COUNTS.values())


def entries(name: str) -> tuple[str, int, int, int]:
    """The kind of the matrix of a model, the number of its entries, and its shape."""
    module = importlib.import_module(f"docs.examples.published.{name}")
    if name == "cart_pole":
        found: Any = module.program.hess(np.ones(module.program.size), np.ones(module.program.count), 1.0)
        return "Hessian", found.nnz, *found.shape
    if name in {"broyden", "bal", "darcy"}:
        f = module.imbalance if name == "darcy" else module.residual
        at = f.dom.random(RNG)
        found = hb.jacobian(f, at, wrt=1, as_="sparse") if name == "darcy" else hb.jacobian(f, at, as_="sparse")
        return "Jacobian", found.nnz, *found.shape
    (f,) = (f for f, peer in SCALARS if f"published/{name}.py" in (peer.__doc__ or ""))
    found = hb.hessian(f, f.dom.random(RNG), as_="sparse")
    return "Hessian", found.nnz, *found.shape


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_entries(row: tuple[str, ...]) -> None:
    """The numbers of the last column."""
    kind, *numbers = re.findall(r"^(\w+): ([\d,]+) of ([\d,]+)·([\d,]+) entries", row[-1])[0]
    assert (kind, *(int(number.replace(",", "")) for number in numbers)) == entries(row[0])


def most(matrix: Any) -> int:
    """The most entries in a row."""
    return int(np.diff(matrix.indptr).max())


def test_what_derivatives_show() -> None:
    """The other claims of the last column."""
    area, energy = minimal_surface.area, deblurring.energy
    assert most(hb.hessian(area, area.dom.random(RNG), as_="sparse")) == 7
    assert most(hb.hessian(energy, energy.dom.random(RNG), as_="sparse")) == 81
    assert most(hb.jacobian(bal.residual, bal.scene, as_="sparse")) == 12
    assert hb.jacobian(darcy.imbalance, darcy.imbalance.dom.random(RNG), wrt=0, as_="sparse").nnz == 1216
    assert (cart_pole.program.count, cart_pole.program.jac(np.ones(cart_pole.program.size)).nnz) == (168, 888)
    losses: tuple[Any, ...] = (garch.loss, hmm.loss, neural_ode.loss)
    for loss in losses:
        text = str(hb.grad(loss))
        assert (text.count("fold["), text.count("fold*[")) == (1, 1)
    assert "ψ" in str(hb.grad(negative_binomial.loss))
    assert re.search(r"e\[\w\]ᵀ⋆u.\[\w\]", str(hb.grad(graph_network.loss)))
    assert "where u₅ = −(tanh u₁)⊙(tanh'(u₁)·u₄)" in str(pinn.residual)
    shifted: tuple[tuple[Any, Any], ...] = (
        (eight_schools.log_density, eight_schools.Unknown),
        (radon.loss, radon.Unknown),
    )
    for f, record in shifted:
        assert str(hb.structure(hb.derivative(hb.grad(f, record.offset)))).endswith(" diagonal")


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The line of the page prints the derivative."""
    (line,) = re.findall(r"^    hilbert (show docs/examples/published/.*)$", PAGE, re.MULTILINE)
    monkeypatch.chdir(ROOT)
    assert main(line.split()) == 0
    assert "where d₁ = (tanh'(u₁) ·) • " in capsys.readouterr().out
