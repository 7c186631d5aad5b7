"""Every law: where it applies it keeps the meaning, lowers the measure, and is found; every equation holds."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, note, seed, settings

from linmap import explain, measure
from linmap.laws import RULES
from linmap.laws.engine.rule import ARC, ARCS, BESIDE, NET
from linmap.net.lower import net
from linmap.term.net import Net
from tests.linear_terms import is_exact
from tests.near_redexes import NEAR
from tests.oracle import matrix
from tests.redexes import NETS, REDEXES, planted
from tests.strategies import Source, sources

if TYPE_CHECKING:
    from collections.abc import Callable

DUE, EXAMPLES, SEEDS = 20, 28, 4


def same_meaning(f: Any, g: Any) -> bool:
    """Whether two maps have one matrix: exactly but for the rounding of halves, and of single precision."""
    a, b = matrix(f), matrix(g)
    scale = max(1.0, float(np.max(np.abs(a), initial=0.0)))
    tolerance = 1e-10 if is_exact(f) and is_exact(g) else 1e-3
    return (f.dom, f.cod) == (g.dom, g.cod) and bool(np.allclose(a, b, rtol=0, atol=tolerance * scale))


def steps(f: Any) -> list[str]:
    """What `explain` says of f: every step keeps the meaning, and together they lower the measure. The laws taken."""
    note(f)
    found = explain(f)
    g = found.after
    note(found)
    assert same_meaning(f, g)
    assert (g is f) == (not found.steps)
    assert measure(g) < measure(f) or g is f
    for step in found:
        assert same_meaning(step.before, step.after), step
    return [step.law for step in found]


@pytest.mark.parametrize("name", REDEXES)
def test_rule(name: str) -> None:
    """Left-hand sides in random contexts; seed after seed until the rule was found 20 times."""
    is_found(name, REDEXES[name])


@pytest.mark.parametrize("name", NETS)
def test_rule_of_nets(name: str) -> None:
    """The same for the arcs of nets, among them the laws that atoms have in terms."""
    is_found(name, NETS[name])


@settings(max_examples=EXAMPLES)
@given(s=sources())
def law_in_context(redex: Callable[[Source], Any], count: Counter[str], s: Source) -> None:
    """Each step of simplifying a redex in a random context keeps the meaning; the laws are counted."""
    count.update(steps(planted(s, redex(s))))


def is_found(name: str, redex: Callable[[Source], Any]) -> None:
    """Whether a rule is found, and each step keeps the meaning."""
    count = Counter[str]()
    for k in range(SEEDS):
        seed(k)(law_in_context)(redex, count)
        if count[name] >= DUE:
            return
    pytest.fail(f"{name} was found {count[name]} times")


@pytest.mark.parametrize("name", NEAR)
@settings(max_examples=10)
@given(s=sources())
def test_no_redex(name: str, s: Source) -> None:
    """Terms to which a law would apply if its side condition were another keep their meaning, as trees and as nets."""
    f = NEAR[name](s)
    for g in (f, net(f)):
        steps(planted(s, g, s.integer(0, 1)))


def test_every_rule_of_linear_maps_is_tested() -> None:
    """Those of functions have their own test."""
    laws = [law for law in RULES.values() if not law.function.__module__.startswith("diff")]
    every = [law for stated in laws for law in (stated, *stated.derived)]
    of_nets = {law.name for law in every if law.kind in {ARC, ARCS, BESIDE, NET} or Net in law.on}
    assert set(NETS) == of_nets
    assert set(REDEXES) == {law.name for law in every if law.kind not in {ARC, ARCS, BESIDE, NET}} - {
        law.name for law in every if Net in law.on
    }
