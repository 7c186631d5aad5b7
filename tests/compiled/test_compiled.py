"""`compiled(f)`: the same function, its derivatives, its errors, plain arrays, threads, pickles."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from docs.examples import convolutional, gmm, heat, kalman, logistic, lstm, transformer
from hilbert.relation import leq

pytest.importorskip("llvmlite")

X = hb.Fin.of(5)
V = hb.R**X
f = hb.fun(V, hb.R)(lambda x, k: (hb.exp(x) * k).sum() + hb.sin(k))
x, k = V.vec([0.1, -0.2, 0.3, 0.7, 1.1]), hb.R.vec(2.0)
c = hb.compiled(f)


def close(a: Any, b: Any) -> bool:
    """All leaves of two vectors agree."""
    return all(np.allclose(one, other, rtol=1e-12) for one, other in zip(a.leaves, b.leaves, strict=True))


# --- the same function ---


def test_values() -> None:
    """Vectors in, vectors out, of the same spaces."""
    assert close(c(x, k), f(x, k))
    assert c(x, k).space == hb.R
    assert str(c) == str(f)
    assert (c.dom, c.cod) == (f.dom, f.cod)


@pytest.mark.parametrize(
    "derive",
    [
        hb.grad,
        hb.value_and_grad,
        hb.vjp,
        hb.jvp,
        lambda g: hb.grad(g, 0),
        lambda g: hb.lift(g, hb.Fin.of(3)),
        lambda g: hb.jacobian_program(g, wrt=0),
        lambda g: hb.hessian_program(g, wrt=0, as_="sparse"),
    ],
)
def test_derivatives_of_a_compiled_function_are_compiled(derive: Any) -> None:
    """They are the derivatives, compiled, and have their values."""
    plain, made = derive(f), derive(c)
    assert made == hb.compiled(plain)
    at = plain.dom.random(np.random.default_rng(0))
    assert close(made(at), plain(at))
    assert made.report.calls == ()


def test_programs_of_jacobians_keep_their_pattern() -> None:
    """The matrix is that of the program."""
    p = hb.hessian_program(f, wrt=0, as_="sparse")
    q = hb.compiled(p)
    assert q.pattern == p.pattern
    assert np.allclose(q.matrix(x, k).toarray(), p.matrix(x, k).toarray())
    assert pickle.loads(pickle.dumps(q)) == q
    assert pickle.loads(pickle.dumps(q)).pattern == p.pattern


def test_linear_maps() -> None:
    """A closed linear map is a function like others."""
    A = hb.red(leq(X))
    assert close(hb.compiled(A)(x), A(x))


def test_inside_of_another_function_it_is_the_function() -> None:
    """Its steps stand in the body."""
    inner: Any = hb.fun(V, hb.R)(lambda x, k: f(x, k) * 2.0)
    outer: Any = hb.fun(V, hb.R)(lambda x, k: c(x, k) * 2.0)
    assert inner == outer


def test_pickle_and_equality() -> None:
    """The program is pickled, and compiled again; backends are told apart."""
    again = pickle.loads(pickle.dumps(c))
    assert again == c
    assert hash(again) == hash(c)
    assert close(again(x, k), f(x, k))
    other = hb.compiled(f, backend="interpreter")
    assert other != c
    assert other.backend == "interpreter"
    assert close(other(x, k), f(x, k))
    assert hb.compiled(c) is c
    assert hb.compiled(c, backend="interpreter") == other


MODELS: dict[str, Any] = {
    "gmm": lambda: gmm.objective(3, 4, 17, 1.0, 2),
    "lstm": lambda: lstm.loss(2, 5, 9),
    "kalman": lambda: kalman.log_likelihood(20),
    "transformer": lambda: transformer.loss,
    "heat": lambda: hb.fun(heat.observed.dom)(lambda u: hb.square(heat.observed(u)).sum()),
    "logistic": lambda: logistic.loss(*logistic.data()),
    "convolutional": lambda: convolutional.loss,
}


@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_docs(name: str) -> None:
    """Value and gradient are the interpreter's, without calls."""
    model = MODELS[name]()
    g = hb.value_and_grad(model, 0) if isinstance(model.dom, hb.DirectSum) else hb.value_and_grad(model)
    made, at = hb.compiled(g), model.dom.random(np.random.default_rng(0), scale=0.3)
    assert made.report.calls == ()
    due, have = g(at), made(at)
    for one, other in zip(due.leaves, have.leaves, strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-11 * max(1.0, float(np.max(np.abs(one), initial=0.0))))


# --- plain arrays ---


def test_arrays() -> None:
    """An array for each leaf; of other dtypes, strides and alignments, too."""
    due = f(x, k).array
    for a in (x.array, np.asarray(x.array)[::-1][::-1], np.repeat(x.array, 2)[::2], x.array.copy()):
        assert np.allclose(c.on_arrays(a, 2), due)
    raw = np.empty(8 * 5 + 1, np.uint8)[1:].view(np.float64)
    raw[...] = x.array
    assert np.allclose(c.on_arrays(raw, 2.0), due)
    assert np.allclose(c.on_arrays(x.array.astype(np.float32), 2.0), due, rtol=1e-6)
    assert np.allclose(c.on_arrays(np.broadcast_to(0.5, 5), 2.0), f(V.vec(np.full(5, 0.5)), k).array)


def test_out() -> None:
    """Results go where they are wanted; without `out` they are fresh."""
    g = hb.compiled(hb.grad(f))
    out = [np.empty(5), np.empty(())]
    made = g.on_arrays(x.array, 2.0, out=out)
    assert all(a is b for a, b in zip(made, out, strict=True))
    assert close(hb.grad(f)(x, k), hb.grad(f).cod.vec((out[0], out[1])))
    one, two = g.on_arrays(x.array, 2.0), g.on_arrays(x.array, 3.0)
    assert not np.shares_memory(one[0], two[0])
    assert not np.allclose(one[0], two[0])


LONG = hb.R ** hb.Fin.of(2000)
double = hb.compiled(hb.fun(LONG)(lambda v: 2.0 * v))
pick = hb.compiled(hb.fun(V, hb.Elements(X))(lambda v, i: v[i]))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: c.on_arrays(x.array), "takes 2 arrays, one for each leaf"),
        (lambda: c.on_arrays(np.zeros(4), 1.0), r"array 0: an array of shape \(4,\) is not an element of ℝ\^5"),
        (lambda: c.on_arrays(np.zeros(5, complex), 1.0), "array 0: an array of dtype complex128"),
        (lambda: pick.on_arrays(x.array, 5), "entries from 5 to 5 are not elements of 5"),
        (lambda: pick.on_arrays(x.array, -1), "entries from -1 to -1 are not elements of 5"),
        (lambda: pick.on_arrays(x.array, 1.5), "array 1: "),
        (lambda: c.on_arrays(x.array, 1.0, out=[]), "out= takes a list of 1 arrays"),
        (lambda: c.on_arrays(np.ones(5, bool), 1.0), "array 0: an array of dtype bool"),
        (lambda: c.on_arrays(np.ma.masked_array(np.ones(5), [True] * 5), 1.0), "array 0: .*masked"),
        (lambda: c.on_arrays([[1.0], [2.0, 3.0]], 1.0), "array 0: "),
        (lambda: c.on_arrays(x.array, 1.0, out=[np.empty(1)]), "out=: array 0 is"),
        (lambda: c.on_arrays(x.array, 1.0, out=[np.empty((), np.float32)]), "out=: array 0 is"),
        (lambda: double.on_arrays(v := np.ones(2000), out=[v]), "shares memory with an argument"),
        (lambda: double.on_arrays(np.ones(2000), out=[np.ones(4000)[::2]]), "does not lie row by row"),
        (lambda: hb.compiled(3), "compiled takes a map, not 3"),  # type: ignore[call-overload]
        (lambda: hb.compiled(f, backend="gcc"), 'the name of a backend is "llvm" or "interpreter"'),  # type: ignore[call-overload]
        (lambda: hb.compiled(f, backend="interpreter").llvm, "a program of the interpreter has no llvm"),
        (lambda: hb.compiled(f, backend="interpreter").report, "a program of the interpreter has no report"),
    ],
)
def test_bad_input(call: Any, text: str) -> None:
    """An error says what is due."""
    with pytest.raises(hb.SpaceError, match=text):
        call()


def test_arrays_of_jax() -> None:
    """The error names `jax.jit`."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - its own signature
    with pytest.raises(hb.SpaceError, match=r"not on arrays of jax.*jax\.jit"):
        c(V.vec(jax.numpy.zeros(5)), hb.R.vec(jax.numpy.asarray(1.0)))


def test_without_llvmlite() -> None:
    """The error says what to install."""
    code = "import sys; sys.modules['llvmlite'] = None; sys.modules['llvmlite.binding'] = None\n"
    code += "import hilbert.all as hb\ntry:\n    hb.compiled(hb.fun(hb.R)(hb.sin))\n"
    code += "except hb.SpaceError as e:\n    print(e)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert ran.stdout.strip() == 'compiled programs need llvmlite: pip install "hilbert[compiled]"', ran.stderr


# --- calls ---


def test_threads() -> None:
    """Calls side by side have workspaces of their own."""
    loop = hb.fun(LONG)(lambda v: hb.iterate(lambda s: hb.tanh(s * v + 0.1), v, hb.Fin.of(20)).sum())
    g = hb.compiled(hb.grad(loop))
    points = [LONG.vec(np.full(2000, 0.01 * n)) for n in range(40)]
    alone = [g(p).array for p in points]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert all(map(np.array_equal, alone, (v.array for v in pool.map(g, points))))


FORKED = """
import os, threading, time
import hilbert.all as hb
V = hb.R ** hb.Fin.of(5)
old = hb.compiled(hb.fun(V)(lambda x: hb.tanh(x) @ x))
old(V.ones())
stop = []
def work():
    k = 0
    while not stop:
        k += 1
        hb.compiled(hb.fun(V)(lambda x: hb.cos(x * float(k)) @ x))(V.ones())
threading.Thread(target=work, daemon=True).start()
for k in range(3):
    time.sleep(0.05)
    child = os.fork()
    if not child:
        old(V.ones())
        hb.compiled(hb.fun(V)(lambda x: hb.sin(x * (0.1 + k)) @ x))(V.ones())
        os._exit(0)
    print(os.waitpid(child, 0)[1])
stop.append(1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_processes_compile() -> None:
    """A process that is forked while another thread compiles runs what is there, and compiles."""
    run = [sys.executable, "-c", FORKED]
    ran = subprocess.run(run, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - ours
    assert ran.stdout.split() == ["0", "0", "0"], ran.stderr


def test_signed_zeros() -> None:
    """Those of sign and of a slope of |x| are numpy's."""
    at = hb.R.vec(-0.0)
    for g in (hb.fun(hb.R)(hb.sign), hb.grad(hb.fun(hb.R)(hb.absolute))):
        assert np.signbit(hb.compiled(g)(at).array) == np.signbit(g(at).array)


def test_compilers_say_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """A loop that LLVM cannot make of vectors is no reason to write on the standard error."""
    T = hb.Fin.of(40)
    W = hb.R ** hb.Fin.of(40)
    f = hb.fun(W)(lambda u: hb.iterate(lambda s: s + 0.1 * (s.roll(1) - s * s * s), u, T).sum())
    hb.compiled(hb.grad(f))(W.ones())
    angles = hb.fun(W)(lambda u: (hb.acos(u * 0.5) * hb.cumsum(hb.Fin.of(40))(u)).max())
    hb.compiled(hb.grad(angles))(W.ones())
    assert capfd.readouterr().err == ""


def test_memory_is_flat() -> None:
    """Calls keep nothing."""
    run = hb.compiled(hb.value_and_grad(f))
    run(x, k)
    gc.collect()
    tracemalloc.start()
    for _ in range(200):
        run(x, k)
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20_000):
        run(x, k)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 20_000


INTERRUPTED = """
import signal
import hilbert.all as hb
T = hb.Fin.of(10**12)
f = hb.compiled(hb.fun(hb.R)(lambda x: hb.iterate(lambda s: hb.sin(s) + x, x, T)))
g = hb.compiled(hb.fun(hb.R)(lambda x: hb.iterate(lambda s: hb.sin(s) + x, x, hb.Fin.of(30_000_000))))
print(g(hb.R.vec(0.25)).array.round(3))
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    f(hb.R.vec(0.5))
except KeyboardInterrupt:
    print("seen")
"""


def test_signals_are_seen_in_long_loops() -> None:
    """A loop of 10¹² rounds is left; one of several turns has its value."""
    run = [sys.executable, "-c", INTERRUPTED]
    ran = subprocess.run(run, capture_output=True, text=True, check=False, timeout=120)  # noqa: S603 - ours
    assert ran.stdout.split() == ["1.171", "seen"], ran.stderr


def test_steps_without_loops_are_calls() -> None:
    """They are counted, and have the interpreter's values and errors."""
    g = hb.fun(V)(lambda v: (v.sort() * hb.exp(v)).sum())
    made = hb.compiled(g)
    assert made.report.calls == ("argsort",)
    assert close(made(x), g(x))


def test_singular_systems_are_errors() -> None:
    """The error of the interpreter, with the place."""
    M = hb.R ** (X * X)
    solve = hb.fun(M, V)(hb.solve)
    with pytest.raises(hb.SpaceError) as plain:
        solve(M.vec(np.ones((5, 5))), x)
    compiled = hb.compiled(solve)
    compiled(M.vec(np.eye(5)), x)
    assert compiled.reruns == 0
    with pytest.raises(hb.SpaceError) as made:
        compiled(M.vec(np.ones((5, 5))), x)
    assert compiled.reruns == 1
    assert str(made.value) == str(plain.value)


def test_sine_of_a_constant() -> None:
    """The compiler knows that of ∞, and takes the argument of what computes large ones away."""
    for field in hb.R, hb.R32:
        for k in 1.0, 1e6, np.inf:
            f = hb.fun(field)(lambda x, k=k: x + hb.sin(0.0 * x + k))  # type: ignore[misc]
            with np.errstate(invalid="ignore"):
                np.testing.assert_allclose(hb.compiled(f)(field.ones()).array, f(field.ones()).array, rtol=1e-6)


@pytest.mark.parametrize("k", np.arange(-5.0, 5.5, 0.5))
@pytest.mark.parametrize("field", [hb.R, hb.R32], ids=["double", "single"])
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:overflow")
def test_powers(field: Any, k: float) -> None:
    """Products and roots have the value of pow, also at ±0, ±∞, NaN and negative numbers, with its sign."""
    x = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, -1.0, 2.0, 1e300, 0.3], "f4" if field == hb.R32 else "f8")
    V = field ** hb.Fin.of(len(x))
    f = hb.fun(V)(lambda y: y ** float(k))
    found, due = hb.compiled(f)(V.vec(x)).array, f(V.vec(x)).array
    np.testing.assert_allclose(found, due, rtol=8.0 * np.finfo(x.dtype).eps)
    assert np.array_equal(np.signbit(found)[due == 0.0], np.signbit(due)[due == 0.0])


def test_kernels_in_branches_within_branches() -> None:
    """A kernel of the interpreter is given lanes that take both branches, and copies of one in place of the others."""

    def root_of(xp: Any, a: Any) -> Any:
        assert np.all(np.asarray(a) > 0.0)
        return xp.sqrt(a)

    lib: Any = hb
    root = lib.operation("root of positive", hb.R, to=hb.R, value=root_of)

    def branch(x: Any) -> Any:
        return lib.where(x > 0.0, lambda: lib.where(x * x > 2.0, lambda: root(x), lambda: x), lambda: -x)

    W = lib.R ** hb.Fin.of(4)
    choice = lib.fun(W)(lambda v: lib.each(branch, v))
    at = W.vec([-3.0, 2.0, 0.5, 5.0])
    np.testing.assert_allclose(hb.compiled(choice)(at).array, [3.0, np.sqrt(2.0), 0.5, np.sqrt(5.0)])
