"""loads(dumps(f)) = f for every function, program and derivative, also in another process; no vector need exist."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, note, settings

from adjoint import adjoint, grad
from diff import derivative, fixed_point, fun, iterate, program, sin, tanh
from hilbert import Fin, R
from hilbert.base.once import cached_property
from hilbert.index.spec import Spec
from hilbert.program.control.loop import Loop
from linmap.term.net import Inverse, Recur
from tests.function_terms import NODES
from tests.strategies import Source, close, same, sources


@pytest.mark.parametrize("cls", NODES)
@settings(max_examples=12)
@given(s=sources(smooth=True, single=False))
def test_functions(cls: type, s: Source) -> None:
    """Equality, hash, spaces and values survive, for the tree, its program, its derivative and the adjoint of that."""
    f = NODES[cls](s, 3)
    note(f)
    x = s.vector(f.dom)
    for term in (f, program(f)):
        found = pickle.loads(pickle.dumps(term))
        assert found == term
        assert hash(found) == hash(term)
        assert (found.dom, found.cod) == (f.dom, f.cod)
        assert same(found(x), term(x))
    for pointwise in (derivative(f), adjoint(derivative(f))):
        found = pickle.loads(pickle.dumps(pointwise))
        v = s.vector(pointwise.dom)
        assert found == pointwise
        assert hash(found) == hash(pointwise)
        assert same(found.at(x)(v), pointwise.at(x)(v))


@given(sources(smooth=True))
def test_closed_derivative(s: Source) -> None:
    """The derivative at a point is pickled with its data; derivatives of two functions at one point differ."""
    V = s.space(12)
    f, g = fun(V)(sin), fun(V)(lambda x: sin(x) * 2.0 + x)
    x, dx = s.vector(V), s.vector(V)
    linear = derivative(f).at(x)
    found = pickle.loads(pickle.dumps(linear))
    assert found == linear
    assert hash(found) == hash(linear)
    assert close(found(dx), linear(dx))
    if V.leaves:
        assert linear != derivative(g).at(x)
        assert linear != derivative(f).at(s.vector(V))


def test_derivatives_of_two_functions_with_one_body_differ() -> None:
    """sin' and tanh' at a point are both (d ·) with d in slot 2, and are not equal."""
    x = R.vec(0.3)
    assert derivative(sin).at(x) != derivative(tanh).at(x)
    assert derivative(sin).at(x) == derivative(sin).at(x)


def test_in_another_process() -> None:
    """adjoint(derivative(f)) and grad(f) are built without any vector, pickled, run elsewhere, and come back equal."""
    X, Y = Fin.of(3), Fin.of(2)
    layer = fun(R ** (Y * X), R**X, R**Y)(lambda W, x, b: tanh(W @ x + b))
    loss = fun(layer.dom)(lambda p: (layer(p) * layer(p)).sum())
    made = (layer, loss, adjoint(derivative(layer)), grad(loss))
    code = (
        "import pickle, sys\n"
        "layer, loss, back, g = pickle.load(sys.stdin.buffer)\n"
        "x = layer.dom.unflat([0.1 * k for k in range(layer.dom.dim)])\n"
        "y = layer.cod.unflat([1.0, 2.0])\n"
        "results = [v.flat().tolist() for v in (layer(x), g(x), back.at(x)(y))]\n"
        "sys.stdout.buffer.write(pickle.dumps(((layer, loss, back, g), results)))\n"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, a constant program
        [sys.executable, "-c", code], input=pickle.dumps(made), stdout=subprocess.PIPE, check=True, timeout=60
    )
    found, results = pickle.loads(done.stdout)
    assert found == made
    x = layer.dom.unflat([0.1 * k for k in range(layer.dom.dim)])
    back = adjoint(derivative(layer)).at(x)(layer.cod.unflat([1.0, 2.0]))
    assert results == [v.flat().tolist() for v in (layer(x), grad(loss)(x), back)]


def held(kind: type, f: Any) -> Any:
    """The step of a kind in a function's program, or in the net of a derivative."""
    every = [arc.map for arc in f.body.arcs] if hasattr(f, "body") else [s.operation for s in program(f).line.steps]
    return next(one for one in every if type(one) is kind)


def looped(f: Any = sin) -> Any:
    """A loop of three rounds."""
    return fun(R)(lambda x: iterate(f, x, Fin.of(3)))


MADE: list[Callable[[], Any]] = [
    lambda: Spec.of("ij", "j", "i"),
    lambda: program(looped()).line,
    lambda: held(Loop, looped()),
    lambda: held(Recur, derivative(looped())),
    lambda: held(Inverse, derivative(fun(R)(lambda x: fixed_point(lambda u: 0.3 * sin(u) + x, x)))),
    lambda: R ** Fin.of(7),
]


@pytest.mark.parametrize("made", MADE)
def test_what_was_found_since_is_not_pickled(made: Callable[[], Any]) -> None:
    """Another thread may find it meanwhile: a dictionary that changes is not what is pickled."""
    one = made()
    before = pickle.dumps(one)
    found = [name for name, place in vars(type(one)).items() if isinstance(place, cached_property)]
    assert found
    assert not [name for name in found if name.encode() in before]
    for name in found:
        getattr(one, name)
    assert pickle.dumps(one) == before
    assert pickle.loads(before) == one
