"""Scalar operations as lines of text of LLVM, and the elementary functions as definitions made of them.

Values are names of LLVM (`%v1`) or constants.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, final

from hilbert.compiled.machine.elementary import FORMATS, FUNCTIONS, Format

if TYPE_CHECKING:
    from collections.abc import Iterable

TYPES = {"float64": ("double", "i64", "f64"), "float32": ("float", "i32", "f32")}
"""The names of a type of numbers, of integers of its width, and the suffix of its intrinsic functions."""
LIBM = ("sin", "cos")
"""Functions that call libm's for large arguments."""
DUMMY = 64
"""So many lanes has no vector."""
KINDS = {"lt": "olt", "gt": "ogt", "eq": "oeq"}


def constant(value: float) -> str:
    """The text of a number, which is exact in the type that it is used at: the bits of float64."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return f"0x{bits:016X}"


@final
class IrScalars:
    """Operations on scalars that append their line; see `Scalars`."""

    def __init__(self, dtype: str, *, has_fma: bool, lines: list[str] | None = None) -> None:
        self.dtype, self._has_fma = dtype, has_fma
        self.lines: list[str] = [] if lines is None else lines
        self.type, self.whole, self.suffix = TYPES[dtype]

    @property
    def format(self) -> Format:
        """The type."""
        return FORMATS[self.dtype]

    @property
    def has_fma(self) -> bool:
        """True if `fma` is rounded once."""
        return self._has_fma

    def _line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _intrinsic(self, name: str, *values: str) -> str:
        return self._line(
            f"call {self.type} @llvm.{name}.{self.suffix}({', '.join(f'{self.type} {v}' for v in values)})"
        )

    def call(self, name: str, a: str) -> str:
        """A call of a function of one number."""
        return self._line(f"call {self.type} @{name}({self.type} {a})")

    def number(self, value: float) -> str:
        """A constant, rounded to the type."""
        (rounded,) = struct.unpack("f", struct.pack("f", value)) if self.type == "float" else (value,)
        return constant(rounded)

    def integer(self, value: int) -> str:
        """A constant, modulo 2 to the width, as LLVM prints it: with a sign."""
        width = int(self.whole[1:])
        value %= 1 << width
        return str(value - (1 << width) if value >> (width - 1) else value)

    def add(self, a: str, b: str) -> str:
        """a + b."""
        return self._line(f"fadd {self.type} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        """a − b."""
        return self._line(f"fsub {self.type} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        """a·b."""
        return self._line(f"fmul {self.type} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        """a/b."""
        return self._line(f"fdiv {self.type} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a·b + c, rounded once if the target has an instruction for it."""
        return self._intrinsic("fma", a, b, c) if self.has_fma else self.add(self.mul(a, b), c)

    def abs(self, a: str) -> str:
        """The number without its sign."""
        return self._intrinsic("fabs", a)

    def copysign(self, a: str, b: str) -> str:
        """The size of the first with the sign of the second."""
        return self._intrinsic("copysign", a, b)

    def compare(self, kind: str, a: str, b: str) -> str:
        """A condition, false of NaN."""
        return self._line(f"fcmp {KINDS[kind]} {self.type} {a}, {b}")

    def select(self, condition: str, a: str, b: str) -> str:
        """A number by a condition."""
        return self._line(f"select i1 {condition}, {self.type} {a}, {self.type} {b}")

    def select_bits(self, condition: str, a: str, b: str) -> str:
        """An integer by a condition."""
        return self._line(f"select i1 {condition}, {self.whole} {a}, {self.whole} {b}")

    def bits(self, a: str) -> str:
        """A number's bits as an integer."""
        return self._line(f"bitcast {self.type} {a} to {self.whole}")

    def from_bits(self, i: str) -> str:
        """The number of these bits."""
        return self._line(f"bitcast {self.whole} {i} to {self.type}")

    def add_bits(self, i: str, j: str) -> str:
        """i + j."""
        return self._line(f"add {self.whole} {i}, {j}")

    def and_bits(self, i: str, j: str) -> str:
        """The bits that both have."""
        return self._line(f"and {self.whole} {i}, {j}")

    def xor_bits(self, i: str, j: str) -> str:
        """The bits that one has."""
        return self._line(f"xor {self.whole} {i}, {j}")

    def shift_left(self, i: str, by: int) -> str:
        """i·2ᵇ."""
        return self._line(f"shl {self.whole} {i}, {by}")

    def shift_right(self, i: str, by: int) -> str:
        """⌊i/2ᵇ⌋ of an integer without sign."""
        return self._line(f"lshr {self.whole} {i}, {by}")

    def is_odd(self, i: str) -> str:
        """The lowest bit."""
        return self._line(f"trunc {self.whole} {i} to i1")

    def wide(self) -> IrScalars:
        """The operations of float64, which append to the same lines."""
        return IrScalars("float64", has_fma=self.has_fma, lines=self.lines)

    def widened(self, a: str) -> str:
        """A number as float64."""
        return a if self.type == "double" else self._line(f"fpext {self.type} {a} to double")

    def narrowed(self, a: str) -> str:
        """A number of float64, rounded to this type."""
        return a if self.type == "double" else self._line(f"fptrunc double {a} to {self.type}")

    def unless(self, condition: str, value: str, name: str, x: str) -> str:
        """A branch: the value, or a call of `large_…`, which is taken to be rare."""
        self.lines += [f"  br i1 {condition}, label %large, label %end", "large:"]
        other = self.call(large(name, self.dtype), x)
        self.lines += ["  br label %end", "end:"]
        return self._line(f"phi {self.type} [ {value}, %entry ], [ {other}, %large ]")

    def defined(self, name: str, attributes: str, result: str) -> str:
        """The text of a function of %x that has the lines."""
        head = f"define internal {self.type} @{name}({self.type} %x) {attributes} {{\nentry:"
        return "\n".join([head, *self.lines, f"  ret {self.type} {result}", "}"])


def symbol(name: str, dtype: str) -> str:
    """The name of a function's definition."""
    return f"k_{name}" + ("" if dtype == "float64" else "_f32")


def large(name: str, dtype: str) -> str:
    """The name of the function of large arguments."""
    return symbol(name, dtype).replace("k_", "large_", 1)


def wide(name: str, dtype: str) -> str:
    """The name of the function of vectors with large arguments among them."""
    return symbol(name, dtype).replace("k_", "wide_", 1)


def definition(name: str, dtype: str, *, has_fma: bool, vector_bits: int = 0) -> str:
    """The text of an elementary function; attributes #0 are the module's, and `declarations` has what it calls.

    `vector_bits` says for what vectors a test for large arguments is written: see `_wide`.
    """
    o = IrScalars(dtype, has_fma=has_fma)
    text = o.defined(symbol(name, dtype), "alwaysinline #0", FUNCTIONS[name](o, "%x"))
    if name not in LIBM:
        return text
    lanes = _lanes(dtype, vector_bits)
    return "\n".join([text, _large(name, dtype, lanes), _wide(name, dtype, lanes, is_dummy=not vector_bits)])


def declarations(names: Iterable[str], dtype: str) -> list[str]:
    """A line for each function that the definitions of these names call; the lines of two types may share some."""
    kind, _, suffix = TYPES[dtype]
    arguments = {"fabs": 1, "copysign": 2, "fma": 3}
    lines = [f"declare {kind} @llvm.{name}.{suffix}({', '.join([kind] * n)})" for name, n in arguments.items()]
    return lines + [f"declare double @{name}(double)" for name in names if name in LIBM]


def kept(functions: Iterable[tuple[str, str]]) -> list[str]:
    """A line that keeps what the definitions of these names and types mention in attributes only; a module has one."""
    found = [f"ptr @{wide(name, dtype)}" for name, dtype in functions if name in LIBM]
    start = f"@llvm.compiler.used = appending global [{len(found)} x ptr]"
    return [f'{start} [{", ".join(found)}], section "llvm.metadata"'] if found else []


def _lanes(dtype: str, vector_bits: int) -> int:
    return vector_bits // int(TYPES[dtype][1][1:]) or DUMMY


def _large(name: str, dtype: str, lanes: int) -> str:
    """The function of a large argument: libm's, in float64.

    LLVM's loop vectoriser takes a call in a branch only if there is a variant for vectors under a mask. It is named
    here; where its number of lanes does not fit, the branch is taken lane by lane. The call moves nowhere else: it is
    cold, has by declaration no effects, and no name that LLVM knows.
    """
    o = IrScalars(dtype, has_fma=False)
    w = o.wide()
    value = o.narrowed(w.call(name, o.widened("%x")))
    variant = f"_ZGV_LLVM_M{lanes}v_{large(name, dtype)}({wide(name, dtype)})"
    effects = "noinline cold nounwind willreturn memory(none)"
    return o.defined(large(name, dtype), f'{effects} "vector-function-abi-variant"="{variant}"', value)


def _wide(name: str, dtype: str, lanes: int, *, is_dummy: bool) -> str:
    """The variant for vectors: one test for all lanes; if one is large, a loop over them.

    The pass `always-inline`, run after the pipeline, puts it into the loops. Then an entry of sin takes 0.97 ns in
    float64 and 0.42 ns in float32 (AVX-512): 1.14 and 0.67 with a branch for each lane, which is what the dummy gives,
    1.6 and 0.8 if this is called, 0.89 and 0.38 without a test, 9 by libm. A reduction of large arguments without
    branches (Payne & Hanek 1983) would be paid for by all.
    """
    kind = TYPES[dtype][0]
    vector, mask, function = f"<{lanes} x {kind}>", f"<{lanes} x i1>", wide(name, dtype)
    if is_dummy:
        return f"declare {vector} @{function}({vector}, {mask})"
    return f"""\
define internal {vector} @{function}({vector} %x, {mask} %is_large) alwaysinline #0 {{
entry:
  %bits = bitcast {mask} %is_large to i{lanes}
  %any = icmp ne i{lanes} %bits, 0
  br i1 %any, label %some, label %end
some:
  %r = call {vector} @{function}_some({vector} %x, {mask} %is_large)
  br label %end
end:
  %v = phi {vector} [ poison, %entry ], [ %r, %some ]
  ret {vector} %v
}}
define internal {vector} @{function}_some({vector} %x, {mask} %is_large) noinline cold #0 {{
entry:
  br label %lane
lane:
  %i = phi i64 [ 0, %entry ], [ %j, %next ]
  %v = phi {vector} [ poison, %entry ], [ %w, %next ]
  %c = extractelement {mask} %is_large, i64 %i
  br i1 %c, label %large, label %next
large:
  %a = extractelement {vector} %x, i64 %i
  %r = call {kind} @{large(name, dtype)}({kind} %a)
  %u = insertelement {vector} %v, {kind} %r, i64 %i
  br label %next
next:
  %w = phi {vector} [ %v, %lane ], [ %u, %large ]
  %j = add i64 %i, 1
  %d = icmp eq i64 %j, {lanes}
  br i1 %d, label %end, label %lane
end:
  ret {vector} %w
}}"""
