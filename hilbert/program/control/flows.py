"""The closed union of the steps that hold lines: each pass takes them apart by one `match`."""

from __future__ import annotations

from typing import TypeAlias

from hilbert.program.control.branch import Cond
from hilbert.program.control.equation_step import Implicit, Solve
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While

Flow: TypeAlias = Loop | While | Cond | Implicit | Solve
