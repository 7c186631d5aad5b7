"""What a package attaches to another's classes, or adds to its tables, is there at its first use in a new process."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import hilbert.all as hb
from tests.each_first import modules

ROOT = Path(__file__).parents[1]
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
PROGRAMS = {
    "hilbert": """
from hilbert import Fin, R
from hilbert.relation import leq
X = Fin.of(3)
v = (R ** X).vec([3.0, 0.0, 4.0])
assert v.norm() == 5.0 and str(v.tensor(v)) and str(leq(X).picture()) and (leq(X) * leq(X)).T
try:
    v * v
except ValueError as error:
    assert "comes with diff" in str(error)
try:
    R(1.0)
except ValueError as error:
    assert "is a space, and not a function" in str(error)
""",
    "vectors": """
import diff
from hilbert import Fin, Labelled, R
X = Fin.of(3)
v = (R ** X).vec([3.0, 0.0, 4.0])
assert str(v * v) == "[9.0, 0.0, 16.0] ∈ ℝ^3" and v.max().array == 4.0 and (v > 3.5).array.tolist() == [0, 0, 1]
""",
    "linear maps": """
from hilbert import Fin, R
from linmap import cost, explain, fork, identity, measure, rep, scale, simplify, structure, total
X = Fin.of(3)
f = 2.0 * (identity(R ** X) + identity(R ** X))
assert str(simplify(f)) == "(4 ·)" and "size" in str(measure(f)) and len(explain(f)) and str(structure(f)) and cost(f)
""",
    "measure": """
from diff import cos, fun, sin
from hilbert import Fin, R
from linmap import measure
f = fun(R)(cos) @ fun(R)(sin)
assert str(measure(f)) == MEASURE
""",
    "signatures": """
import inspect
import hilbert.all as hb
X = hb.Fin.of(3)
v = (hb.R ** X).ones()
methods = [getattr(hb.Vec, name) for name in ("sum", "max", "norm", "tensor")]
before = [(inspect.signature(f), f.__doc__, f.__annotations__, f.__qualname__) for f in methods]
v.sum(), v.max(), v.norm(), v.tensor(v)
after = [getattr(hb.Vec, name) for name in ("sum", "max", "norm", "tensor")]
assert not any(f is g for f, g in zip(methods, after))
assert before == [(inspect.signature(f), f.__doc__, f.__annotations__, f.__qualname__) for f in after]
""",
    "laws": """
from linmap.laws import EQUATIONS, RULES
before, first = len(RULES), list(RULES)
import hilbert.all as hb
assert hb.laws.RULES is RULES and len(RULES) > before and any("functions" in name for name in EQUATIONS)
assert list(RULES)[:before] == first and hb.simplify(2 * hb.sin + 3 * hb.sin)
""",
    "order of laws": """
import hilbert.all as hb
hb.simplify(hb.derivative(hb.sin))
assert list(hb.laws.RULES) == ORDER
""",
    "functions": """
import hilbert.all as hb
X = hb.Fin.of(3)
f = hb.fun(hb.R ** (X * X), hb.R ** (X * X), hb.R ** X)(lambda A, B, x: A @ B @ x)
assert "order" in str(hb.cost(f)) and hb.explain(f).orders and eval(repr(f), hb.NAMES) == f
g = hb.derivative(hb.fun(hb.R ** X)(lambda x: hb.sin(hb.cos(x))))
assert hb.simplify(g) and "•" in str(g) and hb.show(hb.explain(g))
""",
    "equations": """
import hilbert.all as hb
f = hb.fun(hb.R)(lambda a: hb.root(lambda x: x * x * x + x - a, a))
assert abs(hb.grad(f)(hb.R.vec(2.0)).array - 0.25) < 1e-12 and str(f)
""",
    "data": """
import tempfile, hilbert.all as hb
@hb.variant
class Leaf:
    label: hb.Expr[hb.Scalar]
tree = hb.data(Leaf, label=hb.R)
@hb.term(tree)
def square(t):
    match t:
        case Leaf(x):
            return x * x
leaf = Leaf(hb.R.vec(3.0))
assert hb.grad(square)(leaf).label.array == 6.0
file = tempfile.mkdtemp() + "/t.npz"
tree.save(leaf, file)
assert tree.load(file).label.array == 3.0
""",
    "terms of the λ-language": """
from diff.lam.term.terms import Lam, fresh
x, y = fresh("x"), fresh("y")
assert Lam(x, x) == Lam(y, y) and str(Lam(x, x))
""",
    "pickles": """
import pickle
f, g = pickle.loads(PICKLE)
x = f.dom.vec([1.0, 2.0])
assert str(f) and str(g) and str(f(x)) and str(g.at(x)) and repr(f)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_a_new_process(name: str) -> None:
    """Each program imports what it needs, and no more, before it uses something of another package."""
    V = hb.R ** hb.Fin.of(2)
    f = hb.fun(V)(lambda x: hb.tanh(x) @ x)
    given = {
        "PICKLE": repr(pickle.dumps((f, hb.derivative(f)))),
        "ORDER": repr(list(hb.laws.RULES)),
        "MEASURE": repr(str(hb.laws.measure(hb.fun(hb.R)(hb.cos) @ hb.fun(hb.R)(hb.sin)))),
    }
    code = "".join(f"{key} = {value}\n" for key, value in given.items()) + PROGRAMS[name]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=ENV, check=False)  # noqa: S603
    assert ran.returncode == 0, ran.stderr


def test_each_module_may_be_the_first() -> None:
    """A module of each room is imported in a process that has imported no other; `tests.each_first` does so of all."""
    rooms = {name.rpartition(".")[0]: name for name in modules()}
    run = [sys.executable, "-m", "tests.each_first", *rooms.values()]
    ran = subprocess.run(run, cwd=ROOT, env=ENV, capture_output=True, text=True, check=False)  # noqa: S603
    assert ran.returncode == 0, ran.stderr


THREADS = """
import sys, threading
sys.setswitchinterval(1e-6)
import hilbert.all as hb
errors, barrier = [], threading.Barrier(8)
def work(k):
    try:
        barrier.wait()
        X = hb.Fin.of(3)
        v = (hb.R ** X).vec([1.0, 2.0, 3.0])
        f = hb.fun(hb.R ** X)(lambda x: hb.sin(x).softmax() @ x)
        parts = [lambda: v * v, lambda: hb.grad(f)(v), lambda: hb.simplify(hb.derivative(f)), lambda: hb.cost(f)]
        for part in parts[k % 4:]:
            part()
    except BaseException as error:
        errors.append(repr(error))
threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not errors, errors
"""


def test_first_uses_at_once() -> None:
    """Eight threads that use names, methods and tables for the first time at one moment all find them."""
    ran = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, env=ENV, check=False)  # noqa: S603
    assert ran.returncode == 0, ran.stderr
