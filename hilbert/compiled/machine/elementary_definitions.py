"""The elementary functions as definitions in LLVM's text, with variants of sine and cosine for vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hilbert.compiled.machine.elementary import FUNCTIONS
from hilbert.compiled.machine.ir_scalars import Scalars
from hilbert.compiled.machine.ir_words import SUFFIX, TYPES, symbol

if TYPE_CHECKING:
    from collections.abc import Iterable

LIBM = ("sin", "cos")
"""Functions that call libm's for large arguments."""
DUMMY = 64
"""So many lanes has no vector."""

TWO = {"pow", "hypot", "atan2"}
"""The functions of two numbers in the machine's library."""


def called(name: str, dtype: str) -> str:
    """The name of a function of numbers in the text."""
    if name in FUNCTIONS:
        return symbol(name, dtype)
    return name + ("f" if dtype == "float32" else "")


def declaration(name: str, dtype: str) -> str:
    """The line that declares a function of the machine's library."""
    t = TYPES[dtype]
    given = ", ".join([t] * (2 if name in TWO else 1))
    return f"declare {t} @{called(name, dtype)}({given}) nounwind willreturn memory(none)"


def definition(name: str, dtype: str, *, has_fma: bool, vector_bits: int = 0) -> str:
    """The text of an elementary function; attributes #0 are the module's; `declarations` has what it calls of libm.

    `vector_bits` says for what vectors a test for large arguments is written: see `_wide`.
    """
    o = Scalars(dtype, has_fma=has_fma)
    text = o.defined(symbol(name, dtype), "alwaysinline #0", FUNCTIONS[name](o, "%x"))
    if name not in LIBM:
        return text
    lanes = vector_bits // int(SUFFIX[dtype][1:]) or DUMMY
    return "\n".join([text, _large(name, dtype, lanes), _wide(name, dtype, lanes, is_dummy=not vector_bits)])


def declarations(names: Iterable[str]) -> list[str]:
    """A line for each function of the machine's library that the definitions of these names call."""
    return [f"declare double @{name}(double)" for name in LIBM if name in names]


def kept(functions: Iterable[tuple[str, str]]) -> list[str]:
    """A line that keeps the variants for vectors, which attributes name only, and their functions; a module has one.

    A function that is not named here loses its argument where all its calls have one constant; its variant has it yet.
    """
    found = [
        f"ptr @{symbol(name, dtype, part)}" for name, dtype in functions if name in LIBM for part in ("large", "wide")
    ]
    start = f"@llvm.compiler.used = appending global [{len(found)} x ptr]"
    return [f'{start} [{", ".join(found)}], section "llvm.metadata"'] if found else []


def _large(name: str, dtype: str, lanes: int) -> str:
    """The function of a large argument: libm's, in float64.

    LLVM's loop vectoriser takes a call in a branch only if there is a variant for vectors under a mask. It is named
    here; where its number of lanes does not fit, the branch is taken lane by lane. The call moves nowhere else: it is
    cold, has by declaration no effects, and no name that LLVM knows.
    """
    o = Scalars(dtype, has_fma=False)
    w = o.wide()
    value = o.narrowed(w.call(name, o.widened("%x")))
    variant = f"_ZGV_LLVM_M{lanes}v_{symbol(name, dtype, 'large')}({symbol(name, dtype, 'wide')})"
    effects = "noinline cold nounwind willreturn memory(none)"
    return o.defined(symbol(name, dtype, "large"), f'{effects} "vector-function-abi-variant"="{variant}"', value)


def _wide(name: str, dtype: str, lanes: int, *, is_dummy: bool) -> str:
    """The variant for vectors: one test for all lanes; if one is large, a loop over them.

    The pass `always-inline`, run after the pipeline, puts it into the loops. Then an entry of sin takes 0.97 ns in
    float64 and 0.42 ns in float32 (AVX-512): 1.14 and 0.67 with a branch for each lane, which is what the dummy gives,
    1.6 and 0.8 if this is called, 0.89 and 0.38 without a test, 9 by libm. A reduction of large arguments without
    branches (Payne & Hanek 1983) would be paid for by all.
    """
    kind = TYPES[dtype]
    vector, mask = f"<{lanes} x {kind}>", f"<{lanes} x i1>"
    function, large = symbol(name, dtype, "wide"), symbol(name, dtype, "large")
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
  %r = call {kind} @{large}({kind} %a)
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
