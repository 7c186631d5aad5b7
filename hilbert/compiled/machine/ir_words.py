"""The words of LLVM for types, numbers, names and parameters."""

from __future__ import annotations

import ctypes
import struct
from typing import TYPE_CHECKING

from hilbert.compiled.tree.buffers import BYTES, Buffer

if TYPE_CHECKING:
    from hilbert.compiled.tree.values import Number

TYPES = {"float64": "double", "float32": "float", "bool": "i1", "int64": "i64"}
SUFFIX = {"float64": "f64", "float32": "f32"}
STORED = TYPES | {"bool": "i8", "int32": "i32"}
"""The types in memory; integers of 32 bits are those that LAPACK writes."""
ROUTINES = ("dgemm", "sgemm", "dgetrf", "dgetrs", "dgetri", "dpotrf", "dtrtrs", "dtrtri")
"""The functions of BLAS, two, and LAPACK that are called by their addresses, in the order of these."""


def symbol(name: str, dtype: str, kind: str = "k") -> str:
    """The name of a function's definition; of that of `large` arguments, and of vectors with some, which are `wide`."""
    return f"{kind}_{name}" + ("" if dtype == "float64" else "_f32")


def number_text(number: Number, dtype: str) -> str:
    """A number as LLVM writes it; those of 32 bits are written as the double that they are."""
    if dtype == "bool":
        return "true" if number else "false"
    if dtype == "int64":
        return str(int(number))
    if dtype == "float32":
        number = ctypes.c_float(number).value
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    return f"0x{bits:016X}"


def parameter(buffer: Buffer) -> str:
    """The parameter of a buffer's address; those of users' arrays are multiples of the size of an entry."""
    own = buffer.kind in {"constant", "work"}
    return f"ptr noalias nocapture align {8 if own else BYTES[buffer.dtype]} %{buffer.name}"
