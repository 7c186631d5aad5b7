# ruff: noqa: E501 - a row for each program
"""What the tests' programs of caddie reach: the table of what is built in, and the terms, record what they met.

Each program has the value of an independent numpy function, and its derivative, forwards and backwards, and second
derivative those of differences and of each other, at two points. Each word and each former is in two programs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adjoint import adjoint, grad
from adjoint.languages import Source
from adjoint.languages.caddie import built_in, load
from adjoint.languages.caddie.parser import definitions
from adjoint.languages.value_spaces import element
from diff import derivative
from diff.lam.term.binding import mapped
from diff.lam.term.terms import AnyTerm, App, Let, Proj, Tuple, Var

V, W = [0.5, -1.25, 2.0], [1.5, 0.25, -0.75]
PROGRAMS: list[tuple[str, Callable[..., Any], list[list[Any]]]] = [
    ("fun f x = ln (#1 x * cos (#2 x))", lambda x, y: np.log(x * np.cos(y)), [[2.0, 0.5], [1.0, -0.25]]),
    ("fun f x = let y = ln #2 x in y * y - tan (#1 x) end", lambda x, y: np.log(y) ** 2 - np.tan(x), [[0.5, 2.0], [0.25, 3.0]]),
    ("fun f x = abs (sin x) + tan x * exp x", lambda x: abs(np.sin(x)) + np.tan(x) * np.exp(x), [[0.5], [-0.75]]),
    ("fun f v = dprod (map (fn y => exp (cos (abs y))) v, v)", lambda v: v @ np.exp(np.cos(abs(v))), [[V], [W]]),
    ("fun f x = pow 3 (sin x) - pi * x", lambda x: np.sin(x) ** 3 - np.pi * x, [[0.5], [2.0]]),
    ("fun f v = dprod (map (fn y => pow 2.0 y + pi) v, [1, 2, 3])", lambda v: (v**2 + np.pi) @ [1, 2, 3], [[V], [W]]),
    ("fun g p = #1 p * sin (#2 p) fun f x = g (x, g (x, 2))", lambda x: x * np.sin(x * np.sin(2)), [[0.5], [2.0]]),
    ("fun h y = y * y fun f v = dprod (map (fn y => h (h y)) v, v) + h (0 + 2)", lambda v: v**4 @ v + 4, [[V], [W]]),
    ("fun f p = norm2sq (#1 p *> (sin (#1 p), #2 p))", lambda x, y: (x * np.sin(x)) ** 2 + (x * y) ** 2, [[0.5, 2.0], [1.5, -1.0]]),
    ("fun f p = let s = sprod (#1 p, #2 p) in norm2sq (#1 p, dprod (s, 2 *> s)) end", lambda k, v: k**2 + (2 * k**2 * (v @ v)) ** 2, [[0.5, V], [-1.5, W]]),
    ("fun f p = dprod (sprod (#1 p, cross (#2 p, [1, 0, 2])), #2 p + [1, 2, 3])", lambda k, v: k * np.cross(v, [1, 0, 2]) @ (np.arange(1, 4) + v), [[0.5, V], [-1.5, W]]),
    ("fun f v = let c = cross (v * v, v) in dprod (c, c) end", lambda v: sum(np.cross(v * v, v) ** 2), [[V], [W]]),
    ("fun f p = dprod3 (cprod3 ((#1 p, #2 p, 1), (2, #1 p, #2 p)), (#2 p, 1, #1 p))", lambda x, y: np.cross([x, y, 1], [2, x, y]) @ [y, 1, x], [[0.5, 2.0], [1.5, -1.0]]),
    ("fun f x = let t = (x, sin x, 2) in dprod3 (t, cprod3 ((1, x, x * x), t + t)) + dprod3 (t, t) end", lambda x: x**2 + np.sin(x) ** 2 + 4, [[0.5], [2.0]]),
    ("fun f x = if x - 1 then x * x else sin x", lambda x: x * x if x >= 1 else np.sin(x), [[0.5], [2.0]]),
    ("fun f p = dprod (map (fn y => if #1 p - y then y * #1 p else exp y) (#2 p), #2 p)", lambda k, v: np.where(k >= v, v * k, np.exp(v)) @ v, [[1.0, V], [-1.0, W]]),
    ("fun f v = let w = red (to 5 [0, 1, 2] [5]) ^ T v in dprod (w, repl 1 2) end", lambda v: 2 * sum(v), [[V], [W]]),
    ("fun f v = let w = red [(0, 2), (1, 0), (0, 1)] ^ T o (id [0 .. 3, 1] [0, 1, 2]) v in dprod (w, w) end", lambda v: v[1] ** 2 + 2 * v[0] ** 2, [[V], [W]]),
    ("fun f v = let w = red (id [2, 0, 1] [0, 1]) v in dprod (w, w * w) end", lambda v: v[0] ** 3 + v[1] ** 3, [[V], [W]]),
    ("fun f v = let w = red [(0, 2), (1, 0), (0, 1)] v in dprod (w, w) end", lambda v: (v[2] + v[1]) ** 2 + v[0] ** 2, [[V], [W]]),
    ("fun f v = let w = red (to 1 [0, 2] [1]) o (id [0, 1, 2] [0, 1, 2]) v in dprod (w, w) end", lambda v: 2 * v[1] ** 2, [[V], [W]]),
    ("fun f v = dprod (v * iota 3, repl 3 (dprod (v, [1 .. 4, 1])))", lambda v: (v @ [0, 1, 2]) * (v @ [1, 2, 3]), [[V], [W]]),
    ("fun f x = dprod (iota 4, map (fn y => sin (x * y)) (iota 4))", lambda x: np.arange(4) @ np.sin(x * np.arange(4)), [[0.5], [2.0]]),
    ("fun f x = dprod ([x, 2, x * x], [0 .. 3, 1])", lambda x: 2 + 2 * x * x, [[0.5], [2.0]]),
]  # fmt: skip
FORMERS: dict[str, Callable[[AnyTerm], bool]] = {
    "let": lambda e: isinstance(e, Let),
    "#": lambda e: isinstance(e, Proj),
    "tuple": lambda e: isinstance(e, Tuple) and len(e.parts) > 1,
    "own function": lambda e: isinstance(e, App) and isinstance(e.function, Var),
}


def numpy_of(oracle: Callable[..., Any], args: list[Any]) -> Any:
    return oracle(*(np.array(x) if isinstance(x, list) else x for x in args))


@pytest.mark.parametrize(("text", "oracle", "points"), PROGRAMS, ids=[text for text, _, _ in PROGRAMS])
def test_modes(text: str, oracle: Callable[..., Any], points: list[list[Any]]) -> None:
    """Value, derivative, adjoint, and derivative of the gradient."""
    loaded, rng = load([Source("t.cad", text)]), np.random.default_rng(0)
    for args in points:
        at = tuple(args) if len(args) > 1 else args[0]
        f = loaded.f.like((at,))
        x = element((at,), f.dom)
        np.testing.assert_allclose(f(x).array, numpy_of(oracle, args), rtol=1e-12, atol=1e-12)
        linear, gradient = derivative(f)(x), grad(f)
        dx = f.dom.random(rng)
        step = 1e-5 / max(1.0, dx.norm())
        moved = float(linear(dx).array)
        differences = (f(x + step * dx) - f(x - step * dx)).array / (2 * step)
        np.testing.assert_allclose(moved, differences, rtol=1e-6, atol=1e-6)
        back = adjoint(linear)(f.cod.vec(1.0))
        assert abs(back.inner(dx) - moved) <= 1e-12 * max(1.0, back.norm() * dx.norm())
        second = derivative(gradient)(x)(dx).flat()
        slopes = (gradient(x + step * dx) - gradient(x - step * dx)).flat() / (2 * step)
        np.testing.assert_allclose(second, slopes, rtol=1e-6, atol=1e-5)
    stages = loaded.f.stages()
    for name in ("forward", "reverse"):
        assert "↦" in stages[name](None, None)


def test_words_and_formers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each word that is built in is run, and each former stands, in two programs."""
    met: dict[str, set[str]] = {}
    at = ""

    def recorded(word: str, run: Callable[..., Any]) -> Callable[..., Any]:
        def ran(*args: Any) -> Any:
            met.setdefault(word, set()).add(at)
            return run(*args)

        return ran

    for word, (count, run) in list(built_in.RUN.items()):
        monkeypatch.setitem(built_in.RUN, word, (count, recorded(word, run)))
    for text, _, points in PROGRAMS:
        at = text
        loaded = load([Source("t.cad", text)])
        args = points[0]
        loaded.f.like((tuple(args) if len(args) > 1 else args[0],))

        def step(e: AnyTerm, text: str = text) -> None:
            for name, holds in FORMERS.items():
                if holds(e):
                    met.setdefault(name, set()).add(text)

        for one in definitions([Source("t.cad", text)]):
            mapped(one.function, step)
    assert [word for word in (*built_in.RUN, *FORMERS) if len(met.get(word, ())) < 2] == []
