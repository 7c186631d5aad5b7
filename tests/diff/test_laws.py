"""Every law over functions: where it applies it keeps value and derivative, lowers the measure, and is found."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, seed, settings

import diff.laws.function_laws
import diff.terms.elementwise
import diff.terms.nodes
import diff.terms.program
from adjoint import adjoint
from diff import affine, const, constant, derivative, fun, inner, sin
from diff.terms.function import Fun
from hilbert import Fin, R, Vec, direct_sum, formal
from hilbert.base.term import postorder
from linmap import cumsum, explain, identity, measure, project, simplify
from linmap.laws import RULES
from linmap.laws.simplify import rewritten
from linmap.term.linear_map import LinMap
from tests.function_redexes import NEAR, REDEXES, planted
from tests.function_terms import function, smooth_function
from tests.oracle import value
from tests.strategies import Source, close, sources

DUE, EXAMPLES, SEEDS = 20, 26, 4


def same_values(s: Source, f: Any, g: Any) -> Any:
    """f(x) = g(x) by definition, at a random point."""
    assert (f.dom, f.cod) == (g.dom, g.cod)
    x = s.vector(f.dom)
    assert close(value(f, x), value(g, x))
    return x


def same_function(s: Source, f: Any, g: Any) -> None:
    """f(x) = g(x), and f'(x)(dx) = g'(x)(dx)."""
    x, dx = same_values(s, f, g), s.vector(f.dom.tangent)
    (_, a), (_, b) = affine(f, x), affine(g, x)
    assert close(a(dx), b(dx))


def steps(s: Source, f: Any) -> list[str]:
    """The laws over functions that `explain` names: each step keeps the values, together they lower the measure."""
    note(f)
    found = explain(f)
    note(found)
    same_function(s, f, found.after)
    assert (found.after is f) == (not found.steps)
    assert measure(found.after) < measure(f) or found.after is f
    for step in found:
        same_values(s, step.before, step.after)
    return [step.law for step in found if not isinstance(step.before, LinMap)]


@settings(max_examples=EXAMPLES)
@given(s=sources(smooth=True, single=False))
def law_in_context(name: str, count: Counter[str], s: Source) -> None:
    """Each step of simplifying a redex in a random context keeps the meaning; the laws are counted."""
    count.update(steps(s, planted(s, REDEXES[name](s))))


@pytest.mark.parametrize("name", REDEXES)
def test_rule(name: str) -> None:
    """Left-hand sides in random contexts; seed after seed until the rule was found 20 times."""
    count = Counter[str]()
    for k in range(SEEDS):
        seed(k)(law_in_context)(name, count)
        if count[name] >= DUE:
            return
    pytest.fail(f"{name} was found {count[name]} times")


@pytest.mark.parametrize("name", NEAR)
@settings(max_examples=12)
@given(s=sources(smooth=True, single=False))
def test_no_redex(name: str, s: Source) -> None:
    """Functions to which a law would apply if its side condition were another keep their meaning."""
    steps(s, planted(s, NEAR[name](s), s.integer(0, 1)))


def test_every_rule_over_functions_is_tested() -> None:
    """Those of `diff.laws.function_laws`, and those of linear maps that stand on the base classes of combinators."""
    over_functions = {
        name for name, rule in RULES.items() if name == "like terms" or any(map(_is_of_functions, rule.on))
    }
    assert set(REDEXES) == over_functions | {"sum of constants"}


HOMES = (diff.terms.nodes, diff.terms.elementwise, diff.terms.program)
FUNCTIONS = [cls for home in HOMES for cls in vars(home).values() if isinstance(cls, type) and issubclass(cls, Fun)]


def _is_of_functions(classes: Any) -> bool:
    """Whether a node of functions is of one of the classes."""
    return any(issubclass(cls, classes) for cls in FUNCTIONS)


@settings(max_examples=120)
@given(sources(smooth=True, single=False))
def test_simplify(s: Source) -> None:
    """Any function: one value and derivative, a lower measure or the same object, nothing left to do, also pickled."""
    f = function(s, 3) if s.flag() else planted(s, REDEXES[s.one_of(list(REDEXES))](s))
    note(f)
    g = simplify(f)
    same_function(s, f, g)
    assert measure(g) < measure(f) or g is f
    assert simplify(g) is g
    again = pickle.loads(pickle.dumps(g))
    assert rewritten(again) is again
    assert rewritten(pickle.loads(pickle.dumps(f))) == g


FIRST, LAST = cumsum(Fin.of(3)), cumsum(Fin.of(3), reverse=True)
COMBINED: dict[type, Fun[Any, Any]] = {
    diff.terms.nodes.Compose: diff.terms.nodes.Compose([FIRST, LAST]),
    diff.terms.nodes.Sum: diff.terms.nodes.Sum([FIRST, LAST]),
    diff.terms.nodes.Scaled: diff.terms.nodes.Scaled(2.0, FIRST),
    diff.terms.nodes.Fork: diff.terms.nodes.Fork([FIRST, LAST]),
    diff.terms.nodes.Parallel: diff.terms.nodes.Parallel([FIRST, LAST]),
    diff.terms.nodes.Power: diff.terms.nodes.Power(FIRST, Fin.of(2)),
}


@pytest.mark.parametrize("cls", diff.laws.function_laws.LINEAR)
def test_a_combination_of_two_linear_maps(cls: type) -> None:
    """Each node of functions, on linear maps, is the node of linear maps: f(x) = g(x)."""
    f = COMBINED[cls]
    g = simplify(f)
    assert isinstance(g, LinMap)
    assert (f.dom, f.cod) == (g.dom, g.cod)
    x = f.dom.unflat(np.arange(1.0, f.dom.dim + 1))
    assert np.array_equal(f(x).flat(), g(x).flat())


@settings(max_examples=60)
@given(sources(smooth=True, single=False))
def test_linear_after_all(s: Source) -> None:
    """A combination of linear maps under functions' nodes becomes a term of the language of linear maps."""
    g = simplify(REDEXES["combination of linear maps"](s))
    assert isinstance(g, LinMap)
    assert not any(isinstance(node, Fun) for node in postorder(g))


@settings(max_examples=60)
@given(sources(smooth=True, single=False))
def test_derivatives(s: Source) -> None:
    """A simplified derivative, and its adjoint, are those of f at every point and not larger; nothing is left to do."""
    f = smooth_function(s) if s.flag() else planted(s, REDEXES[s.one_of(list(REDEXES))](s))
    note(f)
    d = derivative(f)
    g, back = simplify(d), simplify(adjoint(d))
    assert measure(g) < measure(d) or g is d
    assert simplify(g) is g
    for _ in range(2):
        x, dx, dy = s.vector(f.dom), s.vector(f.dom.tangent), s.vector(f.cod.tangent)
        df = affine(f, x)[1]
        assert close(g.at(x)(dx), df(dx))
        assert close(back.at(x)(dy), adjoint(df)(dy))


def test_formal_constants_stay() -> None:
    """(K_w)^X is not written out where w has a formal array."""
    V = R ** Fin.of(2)
    w = formal(V * V, [(V.vec([1.0, 2.0]), V.vec([3.0, 4.0]))])
    mixed = Vec(direct_sum(V * V, R), (*w.leaves, *R.vec(5.0).leaves))
    for f in (constant(w, R) ** Fin.of(3), constant(mixed, R) ** Fin.of(3)):
        assert simplify(f) is f


def test_programs_without_steps() -> None:
    """Those that give all of the argument, or one part of it, are linear maps; others stay."""
    V, W = R ** Fin.of(2), R ** Fin.of(3)
    assert simplify(fun(V)(lambda x: x)) == identity(V)
    assert simplify(fun(V, W)(lambda *parts: parts[1])) == project(direct_sum(V, W), 1)
    assert simplify(fun(V, V)(lambda x, y: (x, y))) == identity(direct_sum(V, V))
    for f in (fun(V)(lambda x: (x, x)), fun(V, V)(lambda x, y: (y, x)), fun(V, W, V)(lambda *parts: parts[:2])):
        assert simplify(f) is f


def test_data_are_multiplied_on_wires_that_are_as_large() -> None:
    """(c⊙) • (cos x ·) = (c·cos x ⊙); (c ·) • (cos x ·) stays where it widens a number."""
    V = R ** Fin.of(3)
    c = V.vec([1.0, 2.0, 3.0])
    narrow: Any = fun(V)(lambda x: inner(const(c), sin(x)))
    wide: Any = fun(R)(lambda x: sin(x) * const(c))
    for f, x, count in ((narrow, V.vec([0.1, 0.2, 0.3]), 1), (wide, R.vec(0.5), 2)):
        d = derivative(f)
        g = simplify(d)
        assert len(g.body.arcs) == count
        assert np.allclose(g.at(x)(x).flat(), d.at(x)(x).flat())
