"""What is no jet is refused by a message that names it; nothing runs away."""

import math
import time
from typing import Any

import pytest

import diff.jets.series_orders
from diff import directional, fun, interpolated, jet, sin, taylor
from diff.jets.multiindex import index_set, indices, pairs
from diff.jets.series import Series
from diff.terms.elementwise import Binary
from diff.terms.program import Program
from hilbert import Bool, DirectSum, Fin, R, SpaceError, direct_sum
from hilbert.program.line.line import Line, Step
from hilbert.program.run.fused_steps import Subtract

V = R ** Fin.of(2)
any_jet: Any = jet
any_taylor: Any = taylor
any_directional: Any = directional
f: Any = fun(V)(lambda x: sin(x) @ x)
REFUSED: dict[str, tuple[Any, str]] = {
    "no map": (lambda: any_jet(sin(R.vec(1.0)), 1, 1), "jet takes a map"),
    "order": (lambda: any_jet(f, 1, -1), "the order of a jet is a whole number from 0 on, not -1"),
    "no order": (lambda: any_jet(f, 1, 1.5), "not 1.5"),
    "parameters": (
        lambda: any_jet(f, -2, 1),
        "the number k of parameters of a jet is a whole number",
    ),
    "slots": (lambda: any_jet(f, 10, 10), "N = 184756 slots, and 100000 are the most"),
    "more wanted": (lambda: any_jet(f, 1, 10**6, wanted=range(10**5 + 1)), "has N > 100000 slots"),
    "more given": (
        lambda: any_jet(f, 1, 10**6, wanted=[0], given=iter(range(10**9))),
        "has N > 100000 slots",
    ),
    "more slots": (lambda: any_jet(f, 1, 10**9), "N = 1000000001 slots"),
    "many slots": (lambda: any_jet(f, 10**6, 10**6), r"N = about 10\^602\d{3} slots"),
    "huge numbers": (lambda: any_jet(f, 900, 10**100), r"N = about 10\^"),
    "long indices": (lambda: any_jet(f, 50_000, 1), "N = 50001 slots"),
    "products": (lambda: any_jet(f, 1, 99_999), "beyond double precision"),
    "wanted": (lambda: any_jet(f, 1, 2, wanted=3), "wanted=… is a set of multi-indices in 1 parameters, not 3"),
    "holes": (
        lambda: any_jet(f, 2, 2, wanted=[(0, 0), (1, 1)]),
        r"it has \(1, 1\) and lacks \(0, 1\)",
    ),
    "no value": (lambda: any_jet(f, 1, 2, wanted=[(1,)]), r"it has \(1,\) and lacks \(0,\)"),
    "nothing": (lambda: any_jet(f, 1, 2, wanted=[]), "wanted=… is empty"),
    "length": (lambda: any_jet(f, 2, 2, wanted=[(0,)]), r"a multi-index in 2 parameters is a tuple of 2 whole numbers"),
    "negative": (
        lambda: any_jet(f, 1, 2, given=[(-1,)]),
        "a multi-index in 1 parameters is a whole number from 0 on, not",
    ),
    "words": (lambda: any_jet(f, 2, 2, given=["01"]), "from 0 on, not '01'"),
    "above": (lambda: any_jet(f, 1, 2, given=[0, 3]), r"\(3,\) has order 3, above order=2: give order=3"),
    "factorial": (lambda: any_jet(f, 1, 171), r"α! for α = \(171,\) is beyond double precision"),
    "taylor": (
        lambda: any_taylor(f, V.zeros(), V.zeros(), -1),
        "from 0 on, not -1",
    ),
    "direction": (
        lambda: any_taylor(f, V.zeros(), R.vec(1.0), 2),
        "argument 2 is a vector of ℝ where",
    ),
    "derivative": (lambda: any_directional(f, -1), "the order of a derivative"),
    "many directions": (lambda: any_directional(f, 17), r"N = 2\^17 slots"),
    "way": (lambda: any_directional(f, 2, polarised=1), "polarised=… is True or False"),
    "weights": (lambda: interpolated(f, 5, 16), "has .* weights, sums of.*are the most: take a lower order"),
    "weights alone": (lambda: interpolated(f, 8, 8), "has .* weights, sums of.*are the most: take a lower order"),
    "rationals": (lambda: interpolated(f, 2, 60), "sums of some 19378968 rationals"),
    "family": (lambda: interpolated(f, 30, 30), "N = "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """Within a second."""
    make, said = REFUSED[name]
    start = time.process_time()
    with pytest.raises(SpaceError, match=said):
        make()
    assert time.process_time() - start < 10.0


def test_about_how_many_slots() -> None:
    """The power of ten is that of the binomial coefficient: to the nearest, or below where the number is made."""
    for k, order in [(n, 7 * n % 3000 + 1001) for n in range(1001, 6000, 211)] + [(1001, 10**18), (10**18, 1001)]:
        assert _power(k, order) == round(math.log10(math.comb(k + order, order)))
    for k, order in ((1000, 10**20), (10**20, 30), (1000, 1000)):
        assert abs(_power(k, order) - math.log10(math.comb(k + order, order))) <= 1.0


def _power(k: int, order: int) -> float:
    with pytest.raises(SpaceError, match=r"N = about 10\^[\d.e+]+ slots") as caught:
        indices(k, order)
    return float(str(caught.value).partition("10^")[2].split(" ")[0])


@pytest.mark.parametrize(("k", "order", "least"), [(4, 310, 2 * 10**6), (310, 4, 2 * 10**6), (400, 500, 10**299)])
def test_numbers_beyond_double_precision(k: int, order: int, least: int) -> None:
    """As parameters and orders of a jet they are refused as others are, by a short message."""
    assert _power(10**k, 10**order) >= least


def test_the_most_slots() -> None:
    """Of one parameter 10⁵ indices may be wanted, and none more; at order 1 those of 3161 parameters, 10⁷ numbers."""
    assert len(index_set(range(10**5), 1, 10**6, "wanted")) == 10**5
    with pytest.raises(SpaceError, match="has N > 100000 slots"):
        index_set(range(10**5 + 1), 1, 10**6, "wanted")
    assert len(indices(3161, 1)) == 3162
    for k, order in ((3162, 1), (10**20, 1)):
        with pytest.raises(SpaceError, match=f"N = {k + 1} slots, and 100000 are the most"):
            indices(k, order)


def test_weights_are_found_once() -> None:
    """The 3,003 · 1,001 weights of order 10 in 5 parameters are found in seconds: permuted, a row is the same."""
    start = time.process_time()
    assert len(interpolated(fun(R)(sin), 5, 10).cod.parts) == 3003
    assert time.process_time() - start < 5.0


def test_sets_that_are_not_down_closed() -> None:
    """Of all sets of α ∈ ℕ² with |α| ≤ 2 those are refused in which some γ ≤ α is missing, at either place."""
    every = indices(2, 2)
    taken = 0
    for n in range(1, 2 ** len(every)):
        wanted = [alpha for k, alpha in enumerate(every) if n >> k & 1]
        if all(gamma in wanted for alpha in wanted for gamma, _ in pairs(alpha)):
            taken += 1
            assert jet(fun(R)(sin), 2, 2, wanted=wanted).cod == DirectSum((R,) * len(wanted))
        else:
            with pytest.raises(SpaceError, match="is not down-closed"):
                jet(fun(R)(sin), 2, 2, wanted=wanted)
    assert taken == 13  # the Catalan number 14, without the empty set


def test_products_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A jet that would take more than 10⁷ products (here 10⁵) says so, where it is one slot of many."""
    assert diff.jets.series_orders.MOST == 10**7
    monkeypatch.setattr(diff.jets.series_orders, "MOST", 10**5)
    with pytest.raises(SpaceError, match="takes more than 100000 products"):
        taylor(f, V.zeros(), V.ones(), 2_000)


def test_what_is_linear_has_long_jets() -> None:
    """The jet of a linear map is the map, slot by slot: 10⁴ of them."""
    J = jet(fun(V)(lambda x: x.sum()), 1, 100)
    assert len(J.dom.parts) == 101
    assert len(taylor(fun(V)(lambda x: x.sum()), V.zeros(), V.ones(), 10_000)) == 10_001


def test_a_step_without_a_jet() -> None:
    """A kind of step that the library does not have is named; where it is constant, its value is all there is."""
    leaf = R.leaves[0]
    line = Line((leaf, leaf, leaf), (Step(Subtract(), (0, 1)),), (2,))
    difference: Any = Program(direct_sum(R, R), R, line)
    with pytest.raises(AssertionError, match="Subtract"):
        jet(difference, 1, 1)
    constant = jet(difference, 1, 1, given=[0])
    assert [float(c) for c in constant(constant.dom.vec(((3.0, 1.0),))).split()] == [2.0, 0.0]


def test_one_slot() -> None:
    """Order 0 and no parameters: the function itself, on a direct sum of one part."""
    for k, order in ((3, 0), (0, 3), (0, 0)):
        J = jet(f, k, order)
        assert len(J.dom.parts) == len(J.cod.parts) == 1
        assert len(interpolated(f, k, order).cod.parts) == 1
        assert float(J(J.dom.vec(([1.0, 2.0],))).leaves[0]) == pytest.approx(float(f(V.vec([1.0, 2.0]))))


def test_what_is_discrete_goes_through() -> None:
    """A function of truth values only: the derivatives are of the space 0."""
    J = jet(fun(Bool)(lambda c: c & c), 1, 2)
    assert len(J.dom.leaves) == len(J.cod.leaves) == 1


def test_names_that_stand_in_the_code() -> None:
    """The pass and the table of primitives are where the documentation says."""
    assert Series.__module__ == "diff.jets.series"
    assert Binary("divide").rule.derivatives is not None
