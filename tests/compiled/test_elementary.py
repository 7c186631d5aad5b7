"""Elementary functions as machine code, beside mpmath: for each type, with and without wide vectors and fused steps."""

import ctypes
import math
import platform
import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from mpmath import mp, mpf

from hilbert.compiled.machine.elementary import FUNCTIONS
from hilbert.compiled.machine.elementary_definitions import declarations, definition, kept
from hilbert.compiled.machine.ir_scalars import FORMATS
from hilbert.compiled.machine.ir_words import SUFFIX, TYPES, symbol
from tests.compiled.make_coefficients import FILE, text

llvm = pytest.importorskip("llvmlite.binding")

DTYPES = tuple(FORMATS)
BOUNDS = {
    "exp": 1.0,
    "expm1": 2.5,
    "log": 1.0,
    "log1p": 2.5,
    "tanh": 2.5,
    "sinh": 2.5,
    "cosh": 2.5,
    "sin": 2.5,
    "cos": 2.5,
}
DIGITS = {"float64": (53, -1022), "float32": (24, -126)}
"""Bits of a number and the exponent of the smallest normal one."""


class Features(NamedTuple):
    """A processor: its name for LLVM, what it must have, the bits of a vector, whether there are fused steps."""

    cpu: str
    needed: tuple[str, ...]
    vector_bits: int
    has_fma: bool


X86 = {
    "AVX-512": Features("x86-64-v4", ("avx512f", "avx512dq", "avx512vl", "avx512bw", "avx512cd"), 512, has_fma=True),
    "AVX2": Features("x86-64-v3", ("avx2", "fma", "bmi2"), 256, has_fma=True),
    "AVX2 unfused": Features("x86-64-v3", ("avx2", "fma", "bmi2"), 256, has_fma=False),
    "baseline": Features("x86-64", (), 128, has_fma=False),
}
ALL = X86 if platform.machine().lower() in {"x86_64", "amd64"} else {"host": Features("", (), 128, has_fma=True)}
FEATURES = {n: f for n, f in ALL.items() if all(llvm.get_host_cpu_features().get(x) for x in f.needed)}

LOOP = """
define void @run_{name}(ptr noalias %x, ptr noalias %y, i64 %n) #0 {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %next ]
  %p = getelementptr {type}, ptr %x, i64 %i
  %q = getelementptr {type}, ptr %y, i64 %i
  %a = load {type}, ptr %p
  %r = call {type} @{symbol}({type} %a)
  store {type} %r, ptr %q
  br label %next
next:
  %j = add nuw nsw i64 %i, 1
  %c = icmp slt i64 %j, %n
  br i1 %c, label %loop, label %end
end:
  ret void
}}
"""


class Machine(NamedTuple):
    """The functions of a type as machine code, with what must stay alive, and the text after optimisation."""

    functions: dict[str, Any]
    engine: Any
    text: str

    def __call__(self, name: str, x: Any) -> Any:
        """The function of each entry."""
        x = np.ascontiguousarray(x)
        y = np.empty_like(x)
        if x.size:
            self.functions[name](x.ctypes.data, y.ctypes.data, x.size)
        return y


@cache
def machine(dtype: str, features: str, *, is_wide: bool = True) -> Machine:
    """A loop for each function; large arguments are found for whole vectors, or lane by lane."""
    f = FEATURES[features]
    bits = f.vector_bits if is_wide else 0
    parts = declarations(FUNCTIONS)
    for name in FUNCTIONS:
        parts += [definition(name, dtype, has_fma=f.has_fma, vector_bits=bits)]
        parts += [LOOP.format(name=name, type=TYPES[dtype], symbol=symbol(name, dtype))]
    parts += kept((name, dtype) for name in FUNCTIONS)
    parts += [f'attributes #0 = {{ nounwind "prefer-vector-width"="{f.vector_bits}" }}']
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple().create_target_machine(cpu=f.cpu, features="", opt=3)
    module = llvm.parse_assembly("\n".join(parts))
    module.triple, module.data_layout = target.triple, str(target.target_data)
    module.verify()
    builder = llvm.create_pass_builder(target, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    inliner = llvm.create_new_module_pass_manager()
    inliner.add_always_inliner_pass()
    inliner.run(module, builder)
    optimised = str(module)
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
    return Machine({n: kind(engine.get_function_address(f"run_{n}")) for n in FUNCTIONS}, engine, optimised)


def neighbours(x: Any, dtype: str, count: int = 2) -> Any:
    """The numbers of the type that are nearest to some numbers."""
    x = np.asarray(x, dtype)
    every = [x]
    for direction in (-np.inf, np.inf):
        y = x
        for _ in range(count):
            y = np.nextafter(y, np.asarray(direction, dtype))
            every.append(y)
    return np.concatenate(every)


def magnitudes(dtype: str, low: float, high: float, count: int, rng: Any) -> Any:
    """Numbers of which all exponents of 2 from `low` to `high` are equally likely, with both signs."""
    size = np.ldexp(rng.uniform(1, 2, count), rng.integers(int(low), int(high), count))
    return (size * rng.choice([-1.0, 1.0], count)).astype(dtype)


@cache
def hardest(dtype: str) -> Any:
    """Numbers up to 2¹⁶ that are next to multiples of π/2, those first that are nearest for their size."""
    with mp.workprec(260):
        half_pi = int(mp.floor(mp.ldexp(mp.pi / 2, 200)))
    multiples = (n * half_pi for n in range(1, 41722))
    pairs = [(m, float(np.dtype(dtype).type(m / (1 << 200)))) for m in multiples]
    pairs.sort(key=lambda pair: abs(pair[0] - (int(pair[1] * (1 << 40)) << 160)))
    return np.array([x for _, x in pairs[:400]], dtype)


def points(name: str, dtype: str) -> Any:
    """Where the function is compared."""
    rng = np.random.default_rng(0)
    digits, least = DIGITS[dtype]
    top = 1 - least
    tiny = magnitudes(dtype, least - digits + 1, -3, 400, rng)
    match name:
        case "exp":
            low, high = (least - digits) * math.log(2), float(np.log(np.finfo(dtype).max))
            edges = [low, least * math.log(2), high, *(np.arange(-200, 200) + 0.5) * math.log(2)]
            x = [rng.uniform(low, high, 1000), rng.uniform(low, low + 40, 500), rng.uniform(-1, 1, 1000), tiny]
            x.append(neighbours([e for e in edges if low <= e < high], dtype))
        case "log":
            near = neighbours([0.5, 1.0, 2.0, math.sqrt(0.5), math.sqrt(2), 2.0**least], dtype, 20)
            x = [abs(magnitudes(dtype, least - digits + 1, top, 1500, rng)), rng.uniform(0.5, 2, 1500), near, 1 + tiny]
        case "expm1":
            high = float(np.log(np.finfo(dtype).max))
            edges = [(k + 0.5) * math.log(2) for k in range(-60, 120)]
            x = [rng.uniform(-45, high, 1000), rng.uniform(-3, 3, 1500), rng.uniform(-0.5, 0.5, 1000), tiny]
            x.append(neighbours(edges, dtype))
        case "log1p":
            near = neighbours([math.sqrt(0.5) - 1, math.sqrt(2) - 1, -0.5, 0.5, 1.0, 3.0], dtype, 20)
            large = abs(magnitudes(dtype, -30, top, 1000, rng))
            x = [rng.uniform(-0.999, 3, 1500), rng.uniform(-0.5, 0.5, 1000), large, near, tiny]
            x.append(neighbours([-1.0], dtype, 30)[31:])
        case "tanh":
            x = [rng.uniform(-22, 22, 1000), rng.uniform(-1, 1, 1500), rng.uniform(-0.2, 0.2, 500), tiny]
        case "sinh" | "cosh":
            high = float(np.log(np.finfo(dtype).max)) + 0.69
            edges = [(k + 0.5) * math.log(2) for k in range(-200, 200)]
            x = [rng.uniform(-high, high, 1000), rng.uniform(-22, 22, 1000), rng.uniform(-1, 1, 1500), tiny]
            x.append(neighbours([e for e in edges if abs(e) < high], dtype))
        case _:
            spread = [rng.uniform(-10, 10, 1000), rng.uniform(-(2**16), 2**16, 1000), tiny]
            x = [*spread, hardest(dtype), neighbours(hardest(dtype)[:60], dtype), magnitudes(dtype, 14, top, 300, rng)]
    return np.concatenate([part.astype(dtype) for part in x])


class Exact(NamedTuple):
    """The function's values: (near + rest·ulp), ulp the distance of the type's numbers at that size."""

    x: Any
    near: Any
    ulp: Any
    rest: Any

    def errors(self, y: Any) -> Any:
        """The distance of y from the values, in ulp."""
        return np.abs((y.astype("float64") - self.near) / self.ulp - self.rest)


@cache
def exact(name: str, dtype: str) -> Exact:
    """By mpmath."""
    digits, least = DIGITS[dtype]
    x = points(name, dtype)
    function: Callable[[Any], Any] = getattr(mp, name)
    rows = []
    with mp.workprec(90):
        for value in map(float, x):
            t = function(mpf(value))
            near = float(t)
            ulp = math.ldexp(1.0, max(math.frexp(near)[1] - 1, least) - digits + 1)
            rows.append((near, ulp, float((t - near) / ulp)))
    return Exact(x, *np.array(rows).T)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors(name: str, dtype: str, features: str) -> None:
    """|f̂(x) − f(x)| ≤ bound · ulp."""
    e = exact(name, dtype)
    errors = e.errors(machine(dtype, features)(name, e.x))
    worst = int(np.argmax(errors))
    assert errors[worst] <= BOUNDS[name], e.x[worst]


inf, nan = math.inf, math.nan
SPECIAL = {
    "exp": ((0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0), (5e-324, 1.0), (1e4, inf), (-1e4, 0.0)),
    "expm1": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -1.0), (1e4, inf), (-1e4, -1.0), (-60.0, -1.0)),
    "log1p": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-1.0, -inf), (-1.5, nan), (-inf, nan)),
    "log": ((0.0, -inf), (-0.0, -inf), (1.0, 0.0), (inf, inf), (-1.0, nan), (-inf, nan)),
    "tanh": ((0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0), (30.0, 1.0), (-1e30, -1.0)),
    "sinh": ((0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf), (1e4, inf), (-1e4, -inf)),
    "cosh": ((0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, inf), (1e4, inf), (-1e4, inf)),
    "sin": ((0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan)),
    "cos": ((0.0, 1.0), (-0.0, 1.0), (inf, nan), (-inf, nan)),
}
EDGES = {
    ("exp", "float64"): ((709.79, inf), (-745.14, 0.0), (-745.13, 5e-324)),
    ("exp", "float32"): ((88.73, inf), (-103.98, 0.0), (-103.97, 2.0**-149)),
    ("sinh", "float64"): ((710.48, inf), (-710.48, -inf)),
    ("sinh", "float32"): ((89.42, inf), (-89.42, -inf)),
    ("cosh", "float64"): ((710.48, inf), (-710.48, inf)),
    ("cosh", "float32"): ((89.42, inf), (-89.42, inf)),
    ("log", "float64"): ((-5e-324, nan),),
    ("log", "float32"): ((-(2.0**-149), nan),),
}
SAME = ("expm1", "log1p", "tanh", "sinh", "sin")
"""f(x) = x for small x."""


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name: str, dtype: str, features: str) -> None:
    """Signed zeros, infinities, NaN, the ends of the range."""
    small = float(np.finfo(dtype).smallest_subnormal)
    pairs = [*SPECIAL[name], *EDGES.get((name, dtype), ()), (nan, nan)]
    if name in SAME:
        pairs += [(k * small, k * small) for k in (-3, -2, -1, 1, 2, 3)]
    x, expected = np.array(pairs, dtype).T
    y = machine(dtype, features)(name, x)
    np.testing.assert_array_equal(y, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(y[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_nan_with_any_bits(name: str, features: str) -> None:
    """The bits of NaN never become those of a number."""
    bits = np.array([random.Random(i).getrandbits(64) | 0x7FF0000000000001 for i in range(64)], "uint64")
    assert np.isnan(machine("float64", features)(name, bits.view("float64"))).all()
    narrow = (bits >> np.uint64(32)).astype("uint32") | np.uint32(0x7F800001)
    assert np.isnan(machine("float32", features)(name, narrow.view("float32"))).all()


def test_large_arguments() -> None:
    """sin 10³⁰⁰, between small arguments and alone."""
    for features in FEATURES:
        for is_wide in (True, False):
            run = machine("float64", features, is_wide=is_wide)
            for x in ([1e300, *[1.0] * 7], [1.0] * 17 + [1e300], [1e300] * 8, [65536.0, 65537.0, 1e6, 1e22]):
                for name in ("sin", "cos"):
                    with mp.workprec(1200):
                        expected = [float(getattr(mp, name)(mpf(v))) for v in x]
                    np.testing.assert_allclose(run(name, np.array(x)), expected, rtol=1e-15)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_entries_stand_alone(name: str, dtype: str, features: str) -> None:
    """An entry in a vector, in the rest of a loop, and with a test for each lane has the same value."""
    x = np.random.default_rng(1).permutation(points(name, dtype))[:203]
    whole = machine(dtype, features)(name, x)
    singly = np.concatenate([machine(dtype, features)(name, part) for part in np.split(x, range(3, 203, 3))])
    np.testing.assert_array_equal(whole, singly)
    if name in {"sin", "cos"}:
        np.testing.assert_array_equal(whole, machine(dtype, features, is_wide=False)(name, x))


def loops(text_: str) -> Iterator[tuple[str, str]]:
    """The names and the text of the loops."""
    for match in re.finditer(r"^define void @run_(\w+)\(.*?^}", text_, re.DOTALL | re.MULTILINE):
        yield match[1], match[0]


@pytest.mark.parametrize("is_wide", [True, False])
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_loops_are_over_vectors(dtype: str, features: str, *, is_wide: bool) -> None:
    """Each loop multiplies vectors as wide as the processor's, and no call of a function of vectors is left in it."""
    lanes = FEATURES[features].vector_bits // int(SUFFIX[dtype][1:])
    found = dict(loops(machine(dtype, features, is_wide=is_wide).text))
    assert found.keys() == FUNCTIONS.keys()
    for body in found.values():
        assert re.search(rf"fmul <{lanes} x {TYPES[dtype]}>", body)
        assert not re.search(r"call [^@]*@wide_\w+(?<!_some)\(", body)


def test_coefficients_are_those_of_the_script() -> None:
    """The numbers of the library are made again."""
    assert FILE.read_text("utf-8") == text()
