"""Texts of KS-Lisp: a mixture beside the same by `fun`, a convolution by indices beside numpy; long texts, caddie too.

The mixture is that of docs/examples/gmm.py with 1000 points, its gradient in all arguments; the convolution is 5×5 on
64×64. The limits of the others are in seconds, of a machine with nothing else to do.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import grad
from adjoint.languages import Source, load
from adjoint.languages.caddie import load as read_caddie
from adjoint.languages.ks import load as read
from adjoint.languages.ks.notes import NAMES
from adjoint.languages.ks.run.ks_functions import KsFunction
from benchmarks.timing import HAND, OURS, Line, Options, agree, compare
from docs.examples import gmm
from hilbert import Fin, R

TEXTS = Path(__file__).parent / "texts"
FUN = "fun"
DEPTH = 4
"""The depth to which calls are nested in generated functions."""


def lines(options: Options) -> Iterator[Line | str]:
    """Two comparisons, then sizes."""
    yield from mixture(options)
    yield from convolution(options)
    yield from products(10**3 if options.quick else 10**4)
    yield from sizes(400, chained=100 if options.quick else 200, megabytes=1 if options.quick else 10)


def mixture(options: Options) -> Iterator[Line | str]:
    """The gradient of a mixture of Gaussians, in KS-Lisp and by `fun`."""
    d, k, n = 10, 5 if options.quick else 25, 1000
    rng = np.random.default_rng(0)
    D, K, N, B = Fin.of(d), Fin.of(k), Fin.of(n), Fin.of(d * (d - 1) // 2)
    spaces: list[Any] = [R**K, (R**D) ** K, (R**D) ** K, (R**B) ** K, (R**D) ** N]
    arrays = [0.3 * rng.standard_normal(V.zeros().array.shape) for V in spaces]
    xs = [V.vec(a) for V, a in zip(spaces, arrays, strict=True)]
    ours = grad(load(TEXTS / "gmm.ks").objective.of(*spaces))
    objective = gmm.objective(d, k, n, 1.0, 0)
    M, P = objective.dom.parts
    theirs, at = grad(objective), (M.vec(tuple(arrays[:4])), P.vec(arrays[4]))
    candidates: dict[str, Callable[[], Any]] = {FUN: lambda: theirs(*at), OURS: lambda: ours(*xs)}
    agree("mixture", {who: list(call().leaves) for who, call in candidates.items()}, 1e-10)
    yield from compare(f"KS-Lisp: mixture, d = {d}, k = {k}", candidates, options, baseline=FUN, limit=3.0)


def convolution(options: Options) -> Iterator[Line | str]:
    """Windows by index arithmetic, and by numpy's view."""
    rng = np.random.default_rng(0)
    K, V = R ** (Fin.of(5) * Fin.of(5)), R ** (Fin.of(64) * Fin.of(64))
    kernel, image = K.vec(rng.standard_normal((5, 5))), V.vec(rng.standard_normal((64, 64)))
    ours = load(TEXTS / "convolution.ks").convolved.of(K, V)

    def by_hand() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        windows = np.lib.stride_tricks.sliding_window_view(image.array, (5, 5))
        made: np.ndarray[tuple[int, ...], np.dtype[np.float64]] = np.einsum("ijab,ab->ij", windows, kernel.array)
        return made

    candidates = {HAND: by_hand, OURS: lambda: ours(kernel, image)}
    agree("convolution", {HAND: [by_hand()], OURS: [ours(kernel, image).array]}, 1e-10)
    yield from compare("KS-Lisp: convolution 5×5 of 64×64", candidates, options, limit=10.0)


def products(n: int) -> Iterator[Line | str]:
    """[rev f] of products of numbers, and of ten times as many, traced anew: by a fold, and by a recursion."""
    text = (
        "(def by_fold Float (v : Vec Float)"
        " (fold (lam (t : Tuple Float Float) (mul (get$1$2 t) (get$2$2 t))) 1.0 v))\n"
        "(def by_recursion Float ((i : Integer) (v : Vec Float))"
        " (if (eq i (size v)) 1.0 (mul (index i v) (by_recursion (add i 1) v))))"
    )
    for name, before, most, rounds, limit in (("by_fold", [], 10 * n, 11, 13), ("by_recursion", [0], n, 3, 25)):
        taken: list[list[float]] = []
        for count in (most // 10, most):
            at = [*before, [1.0 + 0.5 / (k + 1) ** 2 for k in range(count)]]
            times = []
            for _ in range(rounds):
                f = read([Source("t.ks", text)]).functions[name]  # anew: a trace is kept for each shape
                assert isinstance(f, KsFunction)
                start = time.process_time()
                f.differential(at, None, reverse=True)
                times.append(time.process_time() - start)
            taken.append(sorted(times))
        middle = rounds // 2
        spread = " and ".join(f"{t[middle]:.2f} s ({t[0]:.2f} to {t[-1]:.2f})" for t in taken)
        ratio, said = taken[1][middle] / taken[0][middle], name.replace("_", " ")
        yield f"rev of a product {said}, {most // 10} and {most}: {spread}, {ratio:.1f} × (≤ {limit})"


def sizes(functions: int, *, chained: int, megabytes: int) -> Iterator[Line | str]:
    """Checking, all derivatives at a point, all stages of the notes; one time each, in seconds."""
    start = time.process_time()
    loaded = read([Source("t.ks", generated(functions))])
    yield f"check of {functions} functions: {time.process_time() - start:.2f} s (≤ 2)"
    start = time.process_time()
    for f in loaded.functions.values():
        assert isinstance(f, KsFunction)
        f.differential([0.5, [1.0, -2.0, 0.3]], [1.0, [1.0, 1.0, 1.0]], reverse=False)
        f.differential([0.5, [1.0, -2.0, 0.3]], None, reverse=True)
    yield f"fwd and rev of {functions} functions: {time.process_time() - start:.2f} s (≤ 10)"
    start = time.process_time()
    last = read([Source("t.ks", chain(chained))]).functions[f"f{chained - 1}"]
    assert isinstance(last, KsFunction)
    size = sum(len(last.stages()[name](None, None)) for name in NAMES)
    yield f"all stages of {chained} functions: {time.process_time() - start:.2f} s, {size / 1e6:.1f} MB (≤ 30)"
    text = generated(4500 * megabytes)
    start = time.process_time()
    read([Source("t.ks", text)])
    yield f"check of {len(text) / 1e6:.1f} MB: {time.process_time() - start:.1f} s (≤ 60)"
    text = generated_caddie(6000 * megabytes)
    start = time.process_time()
    read_caddie([Source("t.cad", text)])
    yield f"check of {len(text) / 1e6:.1f} MB of caddie: {time.process_time() - start:.1f} s"


def chain(n: int) -> str:
    """Functions that call the one before twice."""
    calls = (f"(def f{k} Float (x : Float) (add (f{k - 1} x) (f{k - 1} (mul 0.5 x))))" for k in range(1, n))
    return "\n".join(["(def f0 Float (x : Float) (mul 0.5 x))", *calls])


def generated(n: int, seed: int = 0) -> str:
    """Functions with let, if, a build or a fold, and calls of two before them, nested at most DEPTH deep."""
    rng = random.Random(seed)  # noqa: S311 - a text for timing
    texts = ["(def f0 Float ((x : Float) (v : Vec Float)) (mul x (sum v)))"]
    depths = [0]
    for k in range(1, n):
        a, b = (rng.choice([j for j in range(max(0, k - 60), k) if depths[j] < DEPTH] or [0]) for _ in range(2))
        depths.append(1 + max(depths[a], depths[b]))
        c = f"{rng.uniform(-1, 1):.3f}"
        built = "(sumbuild (size v) (lam (i : Integer) (mul (index i v) (sin (mul y (index i v))))))"
        folded = f"(fold (lam (t : Tuple Float Float) (let ((p q) t) (tanh (add p (mul y q))))) {c} v)"
        texts.append(
            f"(def f{k} Float ((x : Float) (v : Vec Float))\n"
            f"  (let ((y (mul {c} x))\n"
            f"        (z {built if k % 2 else folded})\n"
            f"        (w (if (gt z 0.0) (f{a} y v) (f{b} z v))))\n"
            f"    (add w (mul z y))))"
        )
    return "\n".join(texts)


def generated_caddie(n: int, seed: int = 0) -> str:
    """The same of caddie: with let, if, a map or a built-in function."""
    rng = random.Random(seed)  # noqa: S311 - a text for timing
    texts = ["fun f0 x = #1 x * dprod (#2 x, #2 x)"]
    depths = [0]
    for k in range(1, n):
        a, b = (rng.choice([j for j in range(max(0, k - 60), k) if depths[j] < DEPTH] or [0]) for _ in range(2))
        depths.append(1 + max(depths[a], depths[b]))
        mapped = "dprod (#2 x, map (fn u => sin (y * u)) (#2 x))"
        texts.append(
            f"fun f{k} x =\n"
            f"  let y = {rng.uniform(0, 1):.3f} * #1 x in\n"
            f"  let z = {mapped if k % 2 else 'norm2sq (#1 x, y + 1.0)'} in\n"
            f"  let w = if z then f{a} (y, #2 x) else f{b} (z, #2 x) in\n"
            f"  w + z * y\n"
            f"  end end end"
        )
    return "\n".join(texts)
