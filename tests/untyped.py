"""Loops and branches without types: mypy reads each function that they are given once for every overload around it.

Models by users (`docs/examples`, `tests/typing`) have the types; tests of what is computed need none.
"""

from typing import Any

import diff

batched: Any = diff.batched
build: Any = diff.build
each: Any = diff.each
fixed_point: Any = diff.fixed_point
fold: Any = diff.fold
iterate: Any = diff.iterate
root: Any = diff.root
where: Any = diff.where
while_: Any = diff.while_
