"""Remedies where a traced function returns something that is no expression.

>>> instead_of_result(3.0, None), instead_of_result([1.0], None)
('const(R.vec(3.0)) for a constant', 'a tuple')
"""

from __future__ import annotations

import inspect
from typing import Any

from hilbert.errors import is_number


def instead_of_result(result: Any, body: Any) -> str:
    """The remedy for a result of a function that is traced."""
    if inspect.iscoroutine(result) or inspect.isasyncgen(result):
        if inspect.iscoroutine(result):
            result.close()  # no warning that nobody awaited it
        return "a function without `async`"
    if inspect.isgenerator(result):
        return "`return` in place of `yield`, a tuple of expressions"
    if inspect.isclass(body):
        return f"lambda x: {body.__name__}(…)(x), a function of expressions in place of the class"
    if inspect.isroutine(result):
        return f"its call, x.{result.__name__}()" if inspect.ismethod(result) else "its call, f(x)"
    if isinstance(result, bool):
        return f"const(Bool.vec({result})) for a constant"
    if is_number(result):
        return f"const(R.vec({result})) for a constant"
    if hasattr(result, "dtype"):
        return "const(V.vec(array)) for a constant"
    if result is None:
        return "a `return`, which is missing"
    if isinstance(result, list):
        return "a tuple"
    if isinstance(result, dict):
        return "a tuple, or made(P, entry(Params.weights, …), …) for a record"
    return "const(v) for a vector that is constant"
