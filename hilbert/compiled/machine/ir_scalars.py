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
        """Whether `fma` is rounded once."""
        return self._has_fma

    def _line(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def _intrinsic(self, name: str, *values: str) -> str:
        return self._line(f"call {self.type} @llvm.{name}.{self.suffix}({', '.join(f'{self.type} {v}' for v in values)})")

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
        """A branch: the value, or the call of a function that is taken to be rare.

        The function `large_…` has no effects, and no name that LLVM knows; so the vectoriser leaves the loop a loop over
        vectors, and calls it for single entries behind tests.
        """
        self.lines += [f"  br i1 {condition}, label %large, label %end", "large:"]
        other = self._line(f"call {self.type} @{large(name, self.dtype)}({self.type} {x})")
        self.lines += ["  br label %end", "end:"]
        return self._line(f"phi {self.type} [ {value}, %entry ], [ {other}, %large ]")


def symbol(name: str, dtype: str) -> str:
    """The name of a function's definition."""
    return f"k_{name}" + ("" if dtype == "float64" else "_f32")


def large(name: str, dtype: str) -> str:
    """The name of the function for what the definition leaves out."""
    return f"large_{name}" + ("" if dtype == "float64" else "_f32")


def definition(name: str, dtype: str, *, has_fma: bool) -> str:
    """The text of an elementary function; attributes #0 are the module's, and `declarations` has what it calls."""
    o = IrScalars(dtype, has_fma=has_fma)
    value = FUNCTIONS[name](o, "%x")
    head = f"define internal {o.type} @{symbol(name, dtype)}({o.type} %x) alwaysinline #0 {{\nentry:"
    text = "\n".join([head, *o.lines, f"  ret {o.type} {value}", "}"])
    return text if name not in {"sin", "cos"} else text + "\n" + _large(name, dtype)


def _large(name: str, dtype: str) -> str:
    """The function of a large argument: libm's, in float64."""
    o = IrScalars(dtype, has_fma=False)
    value = o.narrowed(o._line(f"call double @{name}(double {o.widened('%x')})"))
    head = f'define internal {o.type} @{large(name, dtype)}({o.type} %x) noinline cold nounwind willreturn memory(none) "vector-function-abi-variant"="_ZGV_LLVM_M64v_{large(name, dtype)}(wide_{large(name, dtype)})" {{'
    return "\n".join([head, *o.lines, f"  ret {o.type} {value}", "}"])


def declarations(names: Iterable[str], dtype: str) -> list[str]:
    """A line for each function that the definitions of these names call."""
    kind, _, suffix = TYPES[dtype]
    arguments = {"fabs": 1, "copysign": 2, "fma": 3}
    lines = [f"declare {kind} @llvm.{name}.{suffix}({', '.join([kind] * n)})" for name, n in arguments.items()]
    return lines + [f"declare double @{name}(double)" for name in names if name in {"sin", "cos"}]
