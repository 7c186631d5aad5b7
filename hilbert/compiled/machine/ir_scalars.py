"""Scalar operations as lines of text of LLVM.

Values are names of LLVM (`%v1`) or constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

from hilbert.compiled.machine.elementary_coefficients import FLOAT32, FLOAT64, Coefficients
from hilbert.compiled.machine.ir_words import SUFFIX, TYPES, number_text, symbol

if TYPE_CHECKING:
    from collections.abc import Callable


class Format(NamedTuple):
    """A type of floating point numbers (IEEE 754): fraction bits, the bias of exponents, the bits of √½."""

    digits: int
    bias: int
    half_root: int
    exp_range: tuple[float, float]
    """exp is 0 below and ∞ above."""
    tanh_range: float
    """tanh is 1 above."""
    coefficients: Coefficients

    @property
    def one(self) -> int:
        """The bits of 1."""
        return self.bias << self.digits

    @property
    def unit(self) -> float:
        """The number from which on neighbours differ by 1."""
        return 2.0**self.digits

    @property
    def shifter(self) -> float:
        """A number that, when added, rounds to whole numbers and leaves these in the lowest bits."""
        return 1.5 * self.unit

    @property
    def smallest(self) -> float:
        """The smallest normal number."""
        return 2.0 ** (1 - self.bias)


FORMATS = {
    "float64": Format(52, 1023, 0x3FE6A09E667F3BCD, (-746.0, 710.0), 20.0, FLOAT64),
    "float32": Format(23, 127, 0x3F3504F3, (-105.0, 89.0), 10.0, FLOAT32),
}


def _line(text: str) -> Callable[..., str]:
    """The operation that appends a line, where t is the type of numbers, n that of integers, s the suffix of t."""

    def appended(self: Scalars, *values: str | int) -> str:
        return self.line(text.format(*values, t=self.type, n=self.whole, s=self.suffix))

    return appended


@final
class Scalars:
    """Operations on scalars: numbers of one type, integers of the same width, conditions. Each appends its line.

    Comparisons of NaN are false; integers are taken modulo 2 to the width.
    """

    def __init__(self, dtype: str, *, has_fma: bool, lines: list[str] | None = None) -> None:
        self.dtype, self.has_fma = dtype, has_fma
        self.lines: list[str] = [] if lines is None else lines
        self.type, self.suffix, self.format = TYPES[dtype], SUFFIX[dtype], FORMATS[dtype]
        self.whole = f"i{self.suffix[1:]}"

    def line(self, text: str) -> str:
        """A line, and the name of its value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, value: float) -> str:
        """A constant, rounded to the type."""
        return number_text(value, self.dtype)

    def integer(self, value: int) -> str:
        """A constant, modulo 2 to the width, as LLVM prints it: with a sign."""
        width = int(self.whole[1:])
        value %= 1 << width
        return str(value - (1 << width) if value >> (width - 1) else value)

    add, sub = _line("fadd {t} {}, {}"), _line("fsub {t} {}, {}")
    mul, div = _line("fmul {t} {}, {}"), _line("fdiv {t} {}, {}")
    abs, copysign = _line("call {t} @llvm.fabs.{s}({t} {})"), _line("call {t} @llvm.copysign.{s}({t} {}, {t} {})")
    less, greater, equal = (_line(f"fcmp {how} {{t}} {{}}, {{}}") for how in ("olt", "ogt", "oeq"))
    select, select_bits = _line("select i1 {}, {t} {}, {t} {}"), _line("select i1 {}, {n} {}, {n} {}")
    bits, from_bits = _line("bitcast {t} {} to {n}"), _line("bitcast {n} {} to {t}")
    add_bits, and_bits, xor_bits = _line("add {n} {}, {}"), _line("and {n} {}, {}"), _line("xor {n} {}, {}")
    shift_left, shift_right = _line("shl {n} {}, {}"), _line("lshr {n} {}, {}")
    is_odd, call = _line("trunc {n} {} to i1"), _line("call {t} @{}({t} {})")
    _fused = _line("call {t} @llvm.fma.{s}({t} {}, {t} {}, {t} {})")

    def fma(self, a: str, b: str, c: str) -> str:
        """a·b + c, rounded once if the target has an instruction for it."""
        return self._fused(a, b, c) if self.has_fma else self.add(self.mul(a, b), c)

    def wide(self) -> Scalars:
        """The operations of float64, which append to the same lines."""
        return Scalars("float64", has_fma=self.has_fma, lines=self.lines)

    def widened(self, a: str) -> str:
        """A number as float64."""
        return a if self.type == "double" else self.line(f"fpext {self.type} {a} to double")

    def narrowed(self, a: str) -> str:
        """A number of float64, rounded to this type."""
        return a if self.type == "double" else self.line(f"fptrunc double {a} to {self.type}")

    def unless(self, condition: str, value: str, name: str, x: str) -> str:
        """A branch: the value, or where the condition holds, which is rare, that of the function of large arguments."""
        self.lines += [f"  br i1 {condition}, label %large, label %end", "large:"]
        other = self.call(symbol(name, self.dtype, "large"), x)
        self.lines += ["  br label %end", "end:"]
        return self.line(f"phi {self.type} [ {value}, %entry ], [ {other}, %large ]")

    def defined(self, name: str, attributes: str, result: str) -> str:
        """The text of a function of %x that has the lines."""
        head = f"define internal {self.type} @{name}({self.type} %x) {attributes} {{\nentry:"
        return "\n".join([head, *self.lines, f"  ret {self.type} {result}", "}"])
