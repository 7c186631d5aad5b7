"""The functions of numbers that a program may call: ours, written once, and those of the machine's library."""

from __future__ import annotations

FUNCTIONS: dict[str, object] = {}
TWO = {"pow", "hypot", "atan2", "llvm.maximum", "llvm.minimum"}
LIBRARY = {
    *("exp", "log", "tanh", "sin", "cos", "expm1", "log1p", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh"),
    *("acosh", "atanh", "log2", "log10", "erf", "pow", "hypot", "atan2"),
}
"""The functions of the machine's library."""


def definition(name: str, dtype: str, *, has_fma: bool) -> str:
    """The text of one of our functions."""
    raise KeyError(name)


def declaration(name: str, dtype: str) -> str:
    """The line that declares a function of the library, or one of LLVM's."""
    t, suffix = ("double", "f64") if dtype == "float64" else ("float", "f32")
    given = ", ".join([t] * (2 if name in TWO else 1))
    if name.startswith("llvm."):
        return f"declare {t} @{name}.{suffix}({given})"
    return f"declare {t} @{name}{'f' if dtype == 'float32' else ''}({given}) nounwind willreturn memory(none)"
