"""Every pass is linear in the shared size of its term: counted in calls of functions and in lengths of texts."""

from __future__ import annotations

import pickle
import sys
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import Elements, Fin, R, direct_sum
from hilbert.base.term import postorder
from hilbert.program.line.builder import Builder
from hilbert.relation import full
from linmap.net.lower import net
from tests.oracle import matrix
from tests.programs import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Callable

X, ONE = Fin.of(3), Fin.of(1)
V = R**X
PLUS, BOTH = hb.add(V), hb.dup(V)
SUM = hb.red(full(X, X))
SCAN = hb.cumsum(X)
SIN = hb.sin**X
ID = hb.identity(V)

SHAPES: dict[str, Callable[[Any, int], Any]] = {
    "fork": lambda f, _: PLUS @ hb.fork(f, f),
    "fork of a multiple": lambda f, k: PLUS @ hb.fork(f, (0.1 + k / 99) * f),
    "fork behind another map": lambda f, _: PLUS @ hb.fork(f @ SCAN, 0.5 * (f @ SCAN)),
    "sum": lambda f, _: 0.25 * f + 0.5 * f,
    "sum in a composition": lambda f, _: ID @ (f + 2.0 * f),
    "multiple": lambda f, _: 0.5 * (f + f),
    "lifted": lambda f, _: hb.total(ONE, V) @ ((f**ONE) + 0.25 * (f**ONE)) @ hb.rep(ONE, V),
    "parallel": lambda f, k: PLUS @ hb.parallel(f, (0.5 - k / 99) * f) @ BOTH,
}
LINEAR = SHAPES | {
    "join": lambda f, k: hb.join(f, 0.1 * f) @ hb.fork(ID, (0.5 + k / 99) * ID),
    "join behind two maps": lambda f, _: hb.join(f, 0.1 * f) @ hb.fork(SCAN, SUM),
    "product between two maps": lambda f, _: PLUS @ hb.parallel(f, 0.1 * f) @ hb.fork(SCAN, SUM),
}
CURVED = SHAPES | {"mixed languages": lambda f, k: PLUS @ hb.fork(f, (SIN if k % 2 else SCAN) @ f)}
TERMS = [(name, SUM, step) for name, step in LINEAR.items()] + [(name, SIN, step) for name, step in CURVED.items()]


def shared(base: Any, step: Callable[[Any, int], Any], depth: int) -> Any:
    """A term of so many levels, each of which has the one below twice."""
    f = base
    for k in range(depth):
        f = step(f, k)
    return f


def linear(f: Any) -> Any:
    """A linear map, or the derivative of a function."""
    return f if isinstance(f, hb.LinMap) else hb.derivative(f)


def again(f: Any) -> bool:
    """Whether a pickle of a term is equal to it."""
    return bool(pickle.loads(pickle.dumps(f)) == f)


PASSES: dict[str, Callable[[Any], Any]] = {
    "apply": lambda f: f(f.dom.zeros()),
    "adjoint": lambda f: hb.adjoint(f)(f.cod.zeros()) if isinstance(f, hb.LinMap) else hb.adjoint(hb.derivative(f)),
    "str": str,
    "show": hb.show,
    "repr": repr,
    "eval": lambda f: eval(repr(f), dict(hb.NAMES)) == f,  # noqa: S307 - our own text
    "hash": hash,
    "== and pickle": again,
    "equal": lambda f: hb.equal(f, f),
    "simplify": hb.simplify,
    "explain": lambda f: str(hb.explain(f)),
    "structure": lambda f: str(hb.structure(linear(f))),
    "cost": lambda f: str(hb.cost(linear(f))),
    "cost of a call": hb.cost,
    "measure": hb.measure,
    "program": hb.program,
    "pointfree": hb.pointfree,
    "simplify pointfree": lambda f: hb.simplify(hb.pointfree(f)),
    "derivative": lambda f: hb.show(hb.simplify(hb.derivative(f))),
}


def calls(work: Callable[[], Any]) -> int:
    """How many functions a piece of work calls."""
    count = 0

    def note(_: Any, event: str, __: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("name", "base", "step"), TERMS, ids=[f"{name}, {'curved' if base is SIN else 'linear'}" for name, base, _ in TERMS]
)
def test_shared_terms(name: str, base: Any, step: Callable[[Any, int], Any]) -> None:
    """A pass at depth 16 takes at most 3 times the calls at depth 8, where the tree is 2⁸ times as large.

    A copower of a function lifts the program below it: the square of the number of copowers within each other.
    """
    most = 5 if name == "lifted" and base is SIN else 3
    for what, run in PASSES.items():
        small, large = shared(base, step, 8), shared(base, step, 16)
        run(shared(base, step, 2))  # what is loaded or found out once
        assert calls(lambda: run(large)) <= most * calls(lambda: run(small)) + 500, what  # noqa: B023 - called here


@pytest.mark.parametrize("name", LINEAR)
def test_shared_terms_keep_their_meaning(name: str) -> None:
    """net(f) has so many arcs as f has nodes, and f(v) = M·v; also of the adjoint."""
    f = shared(SUM, LINEAR[name], 40)
    assert len(net(f).arcs) <= 14 * 40
    assert len(net(hb.adjoint(f)).arcs) <= 14 * 40
    for g in (shared(SUM, LINEAR[name], 3), hb.adjoint(shared(SCAN, LINEAR[name], 3))):
        v = np.array([1.0, -2.0, 4.0])
        np.testing.assert_allclose(g(V.vec(v)).array, matrix(g) @ v, rtol=1e-12)


@pytest.mark.parametrize("side", ["input", "output"])
def test_sums_with_shared_ends(side: str) -> None:
    """f ← f + f•g, whose sums are flat: a net has so many arcs as the term has parts, from the side that shares f."""
    counts, n = [], 40
    for depth in (n, 2 * n):
        f: Any = SCAN
        for _ in range(depth):
            f = f + (f @ SCAN if side == "input" else SCAN @ f)
        counts.append(len(net(f).arcs))
        if depth == n:
            due = matrix(SCAN) @ np.linalg.matrix_power(np.eye(3) + matrix(SCAN), n)
            np.testing.assert_allclose(hb.matrix(f, "array"), due, rtol=1e-13)
            v = np.array([1.0, -2.0, 4.0])
            np.testing.assert_allclose(f(V.vec(v)).array, due @ v, rtol=1e-13)
            np.testing.assert_allclose(hb.adjoint(f)(V.vec(v)).array, due.T @ v, rtol=1e-13)
    assert counts[0] <= n * n
    assert counts[1] <= 4.5 * counts[0]  # 4 times the parts


def test_explanations_are_cut() -> None:
    """Of many steps `str` has 40 lines, and says how many steps are left; `show` has all of them."""
    f = hb.compose([(2.0 + k) * SCAN for k in range(60)])
    found = hb.explain(f)
    lines = str(found).splitlines()
    assert len(lines) <= 40
    shown = sum(line.startswith("scaling out") for line in lines)
    assert lines[-1] == f"… and {len(found) - shown} more steps: show(explain(f)) has them"
    every = hb.show(found).splitlines()
    assert every[: len(lines) - 1] == lines[:-1]
    assert sum(line.startswith("scaling out of a composition, at") for line in every) == len(found) == 60
    assert hb.show(found, lines=5).splitlines()[-1].endswith("more steps: show(explain(f)) has them")
    short = hb.explain(SCAN @ ID)
    assert str(short) == hb.show(short)


def test_shared_subterms_print_by_name() -> None:
    """A subterm that is used twice, and is longer than 24 characters, is a line; a shorter one is written in place."""
    f = shared(SUM, SHAPES["fork"], 3)
    assert str(shared(SUM, SHAPES["fork"], 1)) == "[id, id] • ⟨red[3×3], red[3×3]⟩"
    assert str(f).splitlines() == [
        "[id, id] • ⟨[id, id] • ⟨f₁, f₁⟩, [id, id] • ⟨f₁, f₁⟩⟩",
        "  where f₁ = [id, id] • ⟨red[3×3], red[3×3]⟩",
    ]


def test_mixed_terms_print_linear_parts_once() -> None:
    """Also a linear subterm of two linear parts of a function."""
    inner = shared(SUM, SHAPES["sum"], 5)
    f = SIN @ (inner @ SCAN) + SIN @ (inner + SCAN)
    assert hb.show(f).count("red[3×3]") <= 2


def chain(n: int) -> Any:
    """sin ∘ … ∘ sin, traced."""

    def body(x: Any) -> Any:
        for _ in range(n):
            x = hb.sin(x)
        return x

    return hb.fun(R)(body)


def recurrence(n: int) -> Any:
    """s₊₂ = s₊₁ · sin s, traced: every value is read twice, and two are live at once."""

    def body(x: Any) -> Any:
        a, b = x, x
        for _ in range(n):
            a, b = b, b * hb.sin(a)
        return b

    return hb.fun(R)(body)


def wide(n: int) -> Any:
    """Σ k · sin(x + k), traced."""

    def body(x: Any) -> Any:
        return sum((float(k + 2) * hb.sin(x + float(k)) for k in range(n)), x)

    return hb.fun(R)(body)


def nested(n: int) -> Any:
    """½ (½ (… + id) + id), a deep term."""
    f = SCAN
    for _ in range(n):
        f = 0.5 * (f + ID)
    return f


def scaled(n: int) -> Any:
    """k (… k (k scan • red) • red …) • red, compositions within multiples within compositions."""
    f = SCAN
    for k in range(n):
        f = (0.5 + 1 / (k + 1)) * (f @ SUM)
    return f


def added(n: int) -> Any:
    """A sum of multiples."""
    f = SCAN
    for k in range(n):
        f = f + (k + 1.5) * (SCAN if k % 2 else hb.roll(X, 1))
    return f


def closed(n: int) -> Any:
    """The derivative of sin ∘ … ∘ sin at a point: each factor is a constant that names its program."""
    f = hb.fun(V)(lambda x: reduce(lambda y, _: hb.sin(y), range(n), x))
    return hb.derivative(f).at(V.vec([0.1, 0.2, 0.3]))


LONG: dict[str, Callable[[int], Any]] = {
    "composition": lambda n: hb.compose([SCAN if k % 3 else hb.roll(X, 1) for k in range(n)]),
    "composition with units": lambda n: hb.compose([SIN if k % 2 else ID for k in range(n)]),
    "composition with scalings": lambda n: hb.compose([2.0 * ID if k % 2 else SCAN for k in range(n)]),
    "projections of forks": lambda n: hb.compose([hb.project(direct_sum(V, V), 0) @ hb.fork(SCAN, SUM)] * n),
    "sum": added,
    "sum with zeros": lambda n: sum([hb.zero(V, V)] * n, SCAN),
    "nested": nested,
    "scaled": scaled,
    "chain": chain,
    "recurrence": recurrence,
    "wide": wide,
}


@pytest.mark.parametrize("name", LONG)
def test_long_terms(name: str) -> None:
    """A pass takes at most 13 times the calls for 10 times the steps or parts."""
    for what, run in PASSES.items():
        small, large = LONG[name](10), LONG[name](100)
        run(LONG[name](2))
        assert calls(lambda: run(large)) <= 13 * calls(lambda: run(small)) + 2000, what  # noqa: B023 - called here


@pytest.mark.parametrize("way", [lambda f: f, hb.adjoint], ids=["forth", "back"])
def test_closed_chains(way: Callable[[Any], Any]) -> None:
    """So it is for derivatives at a point; of another trace of the same function they are equal after as many calls.

    The structure of chains of up to some ten parts is found at once, and of longer ones pair by pair.
    """
    passes = PASSES | {"== of a copy": lambda f: pickle.loads(pickle.dumps(f)) == f}
    for what, run in passes.items():
        small, large = way(closed(20)), way(closed(200))
        run(way(closed(2)))
        if what != "simplify pointfree":  # which makes a composition that is longer by one, n times
            assert calls(lambda: run(large)) <= 13 * calls(lambda: run(small)) + 2000, what  # noqa: B023 - called here


def branched(n: int) -> Any:
    """where(x > n, sin x, where(x > n − 1, …)): branches within branches."""

    def body(x: Any) -> Any:
        return hb.where(x > float(n), lambda: hb.sin(x), lambda: hb.fun(R)(branched(n - 1))(hb.cos(x)) if n else x)

    return body


def test_branches_within_branches() -> None:
    """A derivative of branches n deep takes n² calls: each body has the arcs of all in it."""
    small, large = hb.fun(R)(branched(8)), hb.fun(R)(branched(32))
    hb.derivative(hb.fun(R)(branched(2)))
    assert calls(lambda: hb.derivative(large)) <= 14 * calls(lambda: hb.derivative(small))


def rerun(n: int) -> Any:
    """sin(again(y ↦ sin(again(…, y)), x)): parts that are computed again, within each other."""
    return lambda x: hb.sin(hb.again(rerun(n - 1), x)) if n else hb.sin(x)


@pytest.mark.parametrize(("times", "most"), [(1, 6), (2, 18)])
def test_reruns_within_reruns(times: int, most: int) -> None:
    """A gradient of reruns n deep takes n calls, that of the gradient n²: what is live is found once for each body."""

    def derived(n: int) -> int:
        f = hb.fun(R)(rerun(n))

        def work() -> None:
            g: Any = f
            for _ in range(times):
                g = hb.grad(g)

        return calls(work)

    derived(2)
    assert derived(16) <= most * derived(4)


@pytest.mark.parametrize("make", LONG.values(), ids=list(LONG))
def test_long_texts(make: Callable[[int], Any]) -> None:
    """So are the lengths of texts and the number of nodes of the point-free term."""
    small, large = make(20), make(200)
    assert len(hb.show(large)) <= 13 * len(hb.show(small)) + 100
    assert len(repr(large)) <= 13 * len(repr(small)) + 100
    assert len(postorder(hb.pointfree(large))) <= 13 * len(postorder(hb.pointfree(small))) + 100


def test_terms_of_thousands_of_parts() -> None:
    """No pass overflows the stack."""
    for make in (nested, scaled, chain):
        f = make(1_500)
        for run in PASSES.values():
            run(f)


# --- direct sums ---


def test_the_parts_of_a_vector() -> None:
    """list(v) is linear in the number of parts, and so is a function of so many arguments."""
    small, large = (direct_sum(*[R] * n).zeros() for n in (80, 800))
    assert calls(lambda: list(large)) <= 13 * calls(lambda: list(small))
    assert len(list(direct_sum(*[R] * 8000).zeros())) == 8000


def deep(n: int) -> Any:
    """((… ⊕ ℝ) ⊕ ℝ) ⊕ ℝ."""
    space: Any = V
    for _ in range(n):
        space = direct_sum(space, R)
    return space


def test_nested_direct_sums() -> None:
    """Spaces, vectors, maps and functions of direct sums 400 deep: made, compared, printed, pickled, applied."""
    S = deep(400)
    assert deep(400) == S
    assert deep(399) != S
    assert hash(deep(400)) == hash(S)
    assert S.dim == 403
    assert str(S).count("⊕") == repr(S).count("direct_sum") == 400
    assert pickle.loads(pickle.dumps(S)) == S
    v = S.random(np.random.default_rng(0))
    assert S.vec(v.array).flat().tolist() == v.flat().tolist()
    assert S.vec((v[0], v[1])).flat().tolist() == v.flat().tolist()
    double = hb.fun(S)(lambda x: x + x)
    assert double(v).flat().tolist() == (2 * v.flat()).tolist()
    for f in (double, hb.identity(S), 2 * hb.identity(S)):
        assert again(f)
        assert str(f)
        assert repr(f)
    assert str(hb.derivative(double))
    assert hb.pointfree(double).cod == S


def test_the_tangent_of_a_nested_sum() -> None:
    """The parts that are real, however deep."""
    space: Any = Elements(X)
    for _ in range(400):
        space = direct_sum(space, R)
    assert space.tangent.dim == 400
    assert space != deep(400)


# --- point-free terms ---


@pytest.mark.parametrize("name", PROGRAMS)
def test_simplified_point_free_terms(name: str) -> None:
    """simplify(pointfree(f)) and explain(pointfree(f)) exist for every program, those with discrete parts too."""
    f = hb.pointfree(PROGRAMS[name])
    assert hb.simplify(f).dom == f.dom
    assert hb.explain(f).after == hb.simplify(f)


def test_a_gather_by_an_argument_is_simplified() -> None:
    """sin(v)[i] has an identity of a discrete type beside a linear part."""
    f = hb.fun(V, Elements(X))(lambda v, i: hb.sin(v)[i])
    g = hb.simplify(hb.pointfree(f))
    v, i = V.vec([1.0, 2.0, 3.0]), Elements(X).vec(2)
    assert float(g(v, i)) == float(f(v, i)) == np.sin(3.0)


# --- repr ---


def test_repr_where_languages_mix() -> None:
    """eval(repr(f)) == f, however compositions and sums of linear maps and functions are bracketed."""
    A, B = SCAN, hb.roll(X, 1)
    terms = [
        SIN @ (A @ B),
        (SIN @ A) @ B,
        A @ (B @ SIN),
        (A @ SIN) @ B,
        hb.compose(A, B, SIN, A, B),
        (A + B) + SIN,
        A + (B + SIN),
        SIN + A + B,
        SIN + (A + B),
        sum([A, B, A, B, A, B, A, B, A], SIN),
        A + (B + (A + (B + (A + (B + (A + (B + (A + SIN)))))))),
    ]
    for f in terms:
        assert eval(repr(f), dict(hb.NAMES)) == f  # noqa: S307 - our own text


def test_traced_functions_evaluate_back() -> None:
    """eval(repr(f), NAMES) == f for functions that were traced, and for their derivatives."""
    for f in (chain(3), recurrence(3), hb.grad(recurrence(2)), hb.derivative(wide(3))):
        assert eval(repr(f), dict(hb.NAMES)) == f  # noqa: S307 - our own text


def branches(depth: int) -> Any:
    """Conditions one after the other."""

    def one(k: int, x: Any) -> Any:
        return hb.where(x > float(k % 3) - 1.0, lambda: hb.sin(x) + 0.1, lambda: 1.1 * x)

    def body(x: Any) -> Any:
        for k in range(depth):
            x = one(k, x)
        return x

    return hb.fun(R)(body)


def sparse(depth: int) -> Any:
    """The matrix of the derivative of so many."""
    return hb.matrix(hb.derivative(branches(depth)).at(R.vec(0.3)), as_="sparse")


def test_branches_in_sequence() -> None:
    """A sparse Jacobian of twice as many takes at most three times the calls."""
    assert calls(lambda: sparse(60)) < 3 * calls(lambda: sparse(30))
    np.testing.assert_allclose(sparse(16).toarray(), matrix(hb.derivative(branches(16)).at(R.vec(0.3))), rtol=1e-12)
    lanes: Any = hb.derivative(branches(16) ** X).at(V.vec([0.3, -0.5, 2.0]))
    np.testing.assert_allclose(hb.matrix(lanes, as_="sparse").toarray(), matrix(lanes), rtol=1e-12)
    assert str(hb.structure(lanes)) == "diagonal"


@pytest.mark.parametrize("lifted", [lambda f, Y: f**Y, lambda f, Y: hb.lift(f, Y, over=(0,))], ids=["power", "lift"])
def test_a_lift_of_many_results_is_written_once(
    lifted: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not once for each result."""
    calls = list[int]()
    inline = Builder.inline

    def counted(self: Builder, line: Any, args: Any) -> Any:
        calls.append(1)
        return inline(self, line, args)

    def several(x: Any, y: Any) -> Any:
        return tuple(float(k + 2) * x * y for k in range(50))

    f: Any = hb.fun(R, R)(several)
    monkeypatch.setattr(Builder, "inline", counted)
    hb.program(lifted(f, Fin.of(4)))
    assert len(calls) <= 2
