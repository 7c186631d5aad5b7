"""Generated texts of caddie: values against plain Python, derivatives against differences and each other, printing."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint import adjoint
from adjoint.languages import Source
from adjoint.languages.caddie import load
from adjoint.languages.spaces import element
from diff import derivative
from hilbert import Vec

Env = dict[str, Any]
Oracle = Callable[[Env], Any]
Term = tuple[str, Oracle]
HELPERS = "fun g p = #1 p * sin (#2 p) + 1 fun h xs = map (fn y => g (y, 2) - y) xs "
margins: list[float] = []


def g(a: Any, b: Any) -> Any:
    return a * np.sin(b) + 1.0


def both(f: Callable[..., Any], *parts: Term) -> Oracle:
    return lambda env: f(*(part[1](env) for part in parts))


def bound(name: str, value: Oracle, body: Oracle) -> Oracle:
    return lambda env: body({**env, name: value(env)})


def condition(c: Oracle, then: Oracle, otherwise: Oracle) -> Oracle:
    def run(env: Env) -> Any:
        value = c(env)
        margins.append(abs(value))
        return then(env) if value >= 0 else otherwise(env)

    return run


@st.composite
def terms(draw: st.DrawFn, ty: str, scope: tuple[tuple[str, str], ...], depth: int) -> Term:
    """An expression of a type (r: a real, t: a pair, a: an array of three) in brackets, and what it is."""

    def part(other: str, more: tuple[tuple[str, str], ...] = ()) -> Term:
        found: Term = draw(terms(other, (*scope, *more), depth - 1))
        return found

    known = [name for name, one in scope if one == ty]
    leaves: dict[str, list[Term]] = {
        "r": [("0.5", lambda _: 0.5), ("-1", lambda _: -1.0), ("0", lambda _: 0.0), ("pi", lambda _: np.pi)],
        "t": [("(1, 2)", lambda _: (1.0, 2.0))],
        "a": [("(iota 3)", lambda _: np.arange(3.0)), ("[1 .. 4, 1]", lambda _: np.arange(1.0, 4.0))],
    }
    if depth == 0:
        made = [*leaves[ty], *((name, lambda env, name=name: env[name]) for name in known)]
        leaf: Term = draw(st.sampled_from(made))
        return leaf
    rules = ["let", "if", "+", "-", "*", "*>", "#", "zero"]
    rules += {"r": ["sin", "exp", "pow", "g", "dprod", "norm2sq", "dprod3"], "t": ["pair", "cprod3"], "a": []}[ty]
    rules += ["list", "map", "red", "pairs", "id", "cross", "sprod", "repl", "h", "T"] if ty == "a" else []
    rule = draw(st.sampled_from(rules))

    def leafwise(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return (lambda x, y: tuple(map(f, x, y))) if ty == "t" else f

    match rule:
        case "let":
            other = draw(st.sampled_from("rta"))
            name = draw(st.sampled_from("uvw"))
            value = part(other)
            scope = tuple(one for one in scope if one[0] != name)
            body = part(ty, ((name, other),))
            return f"let {name} = {value[0]} in {body[0]} end", bound(name, value[1], body[1])
        case "if":
            c, x, y = part("r"), part(ty), part(ty)
            return f"(if {c[0]} then {x[0]} else {y[0]})", condition(c[1], x[1], y[1])
        case "+" | "-" | "*":
            x, y = part(ty), part(ty)
            f = {"+": np.add, "-": np.subtract, "*": np.multiply}[rule]
            return f"({x[0]} {rule} {y[0]})", both(leafwise(f), x, y)
        case "*>" | "sprod":
            k, x = part("r"), part(ty)
            text = f"({k[0]} *> {x[0]})" if rule == "*>" else f"sprod ({k[0]}, {x[0]})"
            return text, both(lambda k, x: tuple(k * one for one in x) if ty == "t" else k * x, k, x)
        case "#":
            x, first = part(ty), part(draw(st.sampled_from("rta")))
            return f"(#2 ({first[0]}, {x[0]}))", x[1]
        case "zero":
            x = part(ty)
            return f"(0 + {x[0]})", x[1]
        case "sin":
            x = part("r")
            return f"(sin {x[0]})".replace("sin -1", "sin (-1)"), both(np.sin, x)
        case "exp":
            x = part("r")
            return f"(exp (cos ({x[0]})))", both(lambda x: np.exp(np.cos(x)), x)
        case "pow":
            x = part("r")
            return f"(pow 1.5 (1 + pow 2 (sin ({x[0]}))))", both(lambda x: (1 + np.sin(x) ** 2) ** 1.5, x)
        case "g":
            x, y = part("r"), part("r")
            return f"(g ({x[0]}, {y[0]}))", both(g, x, y)
        case "dprod":
            x, y = part("a"), part("a")
            return f"(dprod ({x[0]}, {y[0]}))", both(lambda x, y: np.sum(x * y), x, y)
        case "norm2sq":
            x = part("t")
            return f"(norm2sq ({x[0]}))", both(lambda x: x[0] ** 2 + x[1] ** 2, x)
        case "dprod3":
            x, y, z = part("r"), part("r"), part("t")
            text = f"(let s = {z[0]} in dprod3 (({x[0]}, #1 s, 2), ({y[0]}, #2 s, {x[0]})) end)"
            scope = (*scope, ("s", "t"))
            return text, bound("s", z[1], both(lambda x, y, z: x * y + z[0] * z[1] + 2 * x, x, y, z))
        case "pair":
            x, y = part("r"), part("r")
            return f"({x[0]}, {y[0]})", both(lambda x, y: (x, y), x, y)
        case "cprod3":
            x, y = part("r"), part("r")
            text = f"(map_two (cprod3 (({x[0]}, 1, 0), (0, {y[0]}, 2))))".replace("map_two", "two")
            return text, both(lambda x, y: tuple(np.cross((x, 1.0, 0.0), (0.0, y, 2.0))[:2]), x, y)
        case "list":
            parts = [part("r") for _ in range(3)]
            return f"[{', '.join(p[0] for p in parts)}]", both(lambda *xs: np.array(xs, float), *parts)
        case "map":
            name = draw(st.sampled_from("uvw"))
            xs = part("a")
            scope = tuple(one for one in scope if one[0] != name)
            body = part("r", ((name, "r"),))
            return f"(map (fn {name} => {body[0]}) ({xs[0]}))", lambda env: np.array(
                [body[1]({**env, name: x}) for x in xs[1](env)], float
            )
        case "red":
            x = part("a")
            return f"(red (to 1 [0, 2, 5] [1]) ({x[0]}))", both(lambda x: np.array([x[1]] * 3), x)
        case "pairs":
            x = part("a")
            text = f"(red [(0, 2), (7, 0), (5, 1), (0, 1)] ({x[0]}))"
            return text, both(lambda x: np.array([x[1] + x[2], x[0], x[1]]), x)
        case "T":
            x = part("a")
            text = f"(red ([(0, 2), (1, 0), (2, 1), (0, 1)] ^ T o id [0 .. 3, 1] [0, 1, 2]) ({x[0]}))"
            return text, both(lambda x: np.array([x[1], x[0] + x[2], x[0]]), x)
        case "id":
            x = part("a")
            return f"(red (id [2, 0, 1] [0, 1]) ({x[0]}))", both(lambda x: np.array([0.0, x[0], x[1]]), x)
        case "cross":
            x, y = part("a"), part("a")
            return f"(cross ({x[0]}, {y[0]}))", both(np.cross, x, y)
        case "repl":
            x = part("r")
            return f"(repl 3 ({x[0]}))", both(lambda x: np.full(3, x), x)
        case _:  # h
            x = part("a")
            return f"(h ({x[0]}))", both(lambda x: g(x, 2.0) - x, x)


TWO = "fun two v = (#1 v, #1 #2 (1, (#2 v, #3 v)))\n"
quarters = st.integers(-8, 8).map(lambda n: n / 4)
points = st.tuples(quarters.map(lambda x: x + 0.31), st.lists(quarters.map(lambda x: x - 0.17), min_size=3, max_size=3))
bodies = st.tuples(st.sampled_from("rta"), st.integers(1, 4)).flatmap(
    lambda drawn: terms(drawn[0], (("x", "r"), ("xs", "a")), drawn[1])
)


def flat(value: Any) -> np.ndarray[Any, Any]:
    return np.concatenate([np.ravel(part) for part in value]) if isinstance(value, tuple) else np.ravel(value)


@settings(max_examples=120, deadline=None)
@given(bodies, points, st.integers(0, 2**32 - 1))
def test_generated(term: Term, at: tuple[float, list[float]], seed: int) -> None:
    """f, f' and (f')* of a text, and the text of its text."""
    body, oracle = term
    text = f"{HELPERS}{TWO}fun f p = let x = #1 p in let xs = #2 p + [0, 0, 0] in {body} end end"
    loaded = load([Source("t.cad", text)])
    rng = np.random.default_rng(seed)
    f = loaded.f.like(at)
    x = element(at, f.dom)

    def expected(v: Any) -> np.ndarray[Any, Any]:
        return flat(oracle({"x": v[0], "xs": np.array(v[1:])}))

    here = np.array([at[0], *at[1]])
    margins.clear()
    due = expected(here)
    far = min(margins, default=1.0) > 1e-3
    scale = max(1.0, float(np.abs(due).max()))
    assert np.allclose(f(x).flat(), due, rtol=1e-11, atol=1e-11 * scale)
    linear = derivative(f)(x)
    dx = linear.dom.random(rng)
    moved: Vec[Any] = linear(dx)
    step = 1e-5 / max(1.0, dx.norm())
    differences = (expected(here + step * dx.flat()) - expected(here - step * dx.flat())) / (2 * step)
    if far and scale < 1e3:
        bound_ = 1e-5 * max(1.0, float(np.abs(differences).max()), scale) ** 2
        assert np.allclose(moved.flat(), differences, atol=bound_, rtol=1e-5)
    dy = linear.cod.random(rng)
    left, right = moved.inner(dy), dx.inner(adjoint(linear)(dy))
    assert abs(left - right) <= 1e-11 * max(1.0, moved.norm() * dy.norm(), dx.norm() * adjoint(linear)(dy).norm())
    stages = loaded.f.stages()
    printed = "\n".join(one.stages()["text"](None, None) for one in loaded.functions.values())
    again = load([Source("t.cad", printed)])
    assert again.f.stages()["text"](None, None) == stages["text"](None, None)
    assert again.f.like(at)(x).flat().tobytes() == f(x).flat().tobytes()
    assert stages["expression"](None, None).startswith("fun f p = ")
