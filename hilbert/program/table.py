"""The closed table of operations that lines are made of, beside those that a library above adds."""

from __future__ import annotations

from typing import TypeAlias

from hilbert.program.external import External
from hilbert.program.operation import Add, Cast, Contract, Keep, Literal, Move, Reduce, Scale

Unary: TypeAlias = Scale | Reduce | Move | Cast | External
"""Linear operations on one array."""
Builtin: TypeAlias = Literal | Unary | Keep | Contract | Add
"""The operations that programs are made of, beside primitives, operations of users, and control flow."""
