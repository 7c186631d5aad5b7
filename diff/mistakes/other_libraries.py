"""Functions of other libraries that a user's line applies to expressions: which one it is, and what to write.

>>> from diff.mistakes.other_libraries import of_function
>>> of_function("logsumexp"), of_function("tanh"), of_function("atan2")
('write x.logsumexp()', 'write hb.tanh(x)', 'write atan2(x, y)')
"""

from __future__ import annotations

import ast
import difflib
import dis
import inspect
import re
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from diff.mistakes.user_source import span_of
from diff.mistakes.words_of_users import may_stand_for, names_of
from diff.terms.elementwise import rules
from hilbert.base.notarray import of_scipy
from hilbert.base.numpy_names import FUNCTIONS, OWN
from hilbert.errors import SpaceError, shown
from hilbert.tracebacks import is_users

if TYPE_CHECKING:
    from types import FrameType

    from diff.mistakes.words_of_users import Names


KEYWORDS = {
    "axis": "axes have names, over=X, or positions, over=0",
    "dim": "axes have names, over=X, or positions, over=0",
    "keepdims": "x.rep(V) repeats the result along the axes that V has more",
    "argnums": "wrt=k, or wrt=(k, l)",
    "has_aux": "f gives one number; what else it computes is a function of its own",
    "in_axes": "lift(f, X, over=(k, l)) names the arguments that vary",
    "static_argnums": "what is no vector is no argument: the function reads it from around it",
}
"""Remedies for arguments of numpy's and JAX's functions, by their names."""
OPEN = "an expression has no entries while a function is traced; write functions of hb, .sum(), @, inner or contract"
"""The remedy where an array is asked for, and it is not seen what for."""
STORED = "nothing is written into numpy's arrays: put numbers together by stack(X)(a, b), one for each element of X, "
STORED += "vectors of V by stack(X, V)(v, w), or build(f, X) where f(x) is the entry at x"
"""The remedy for out[k] = x, where out is an array."""


def of_function(*names: str) -> str:
    """The remedy for a function of another library, by its name there: of several names, the first that is known."""
    for name in names:
        if name in FUNCTIONS:
            return f"write {FUNCTIONS[name]}"
        if rule := rules().get(name):
            return f"write hb.{name}({', '.join('xyz'[: rule.arity])})"
    return f"there is none of that name here; write {OWN}" if any(names) else OPEN


def refuse_foreign(value: Any, what: str, name: str) -> NoReturn:
    """Raise SpaceError for a function of another library that numpy calls `name`, or for a conversion to an array."""
    frame = _users_frame()
    if not name and is_stored(frame):
        msg = f"{shown(value)} is not stored in an array: {STORED}"
        raise SpaceError(msg)
    if not name and (remedy := of_scipy(value)):
        msg = f"{what} does not apply to {shown(value)}: {remedy}"
        raise SpaceError(msg)
    written, called = _called_in_line(frame) or ("", "")
    if not name or not called or called == name:
        said = what if name or not called else written
        remedy = (not name and not called and value._instead_of("__array__")) or of_function(name or called)
    else:  # a function that calls numpy's
        said, remedy = written, of_function(called, written.rpartition(".")[2], name)
    msg = f"{said} does not apply to {shown(value)}: {remedy}"
    raise SpaceError(msg)


def of_keyword(text: str, function: Any) -> str:
    """The remedy where Python says that a function, if it is known, has no argument of a name."""
    found = re.search(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'$", text)
    match found and found.groups():
        case (_, keyword) if keyword in KEYWORDS:
            return f": {KEYWORDS[keyword]}"
        case (name, keyword) if name == getattr(function, "__name__", ""):
            near = difflib.get_close_matches(keyword, inspect.signature(function).parameters, n=1)
            return f"; it has {near[0]}" if near else ""
        case _:  # something else, or a function that is not known
            return ""


def _called_in_line(frame: FrameType | None) -> tuple[str, str] | None:
    """The function of another library that the line of a user's frame calls: as it is written, and its name."""
    if frame is None:
        return None
    call = call_at(span_of(frame.f_code, frame.f_lasti, frame.f_lineno).segment())
    return None if call is None else foreign(call, names_of(frame))


def _users_frame() -> FrameType | None:
    """The innermost frame of the users' functions."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_stored(frame: FrameType | None) -> bool:
    """Tell if a frame is at an assignment `out[k] = x`."""
    return frame is not None and frame.f_code.co_code[frame.f_lasti] == dis.opmap["STORE_SUBSCR"]


def call_at(segment: str | None) -> ast.Call | None:
    """The call that a part of a file is."""
    try:
        node = ast.parse(f"({segment})", mode="eval").body
    except SyntaxError:
        return None
    return node if isinstance(node, ast.Call) else None


def foreign(call: ast.Call, names: Names) -> tuple[str, str] | None:
    """The function that a call of a user's is of, if that is one of another library: as it is written, and its name."""
    node: ast.expr = call
    while isinstance(node, ast.Call):  # also what such a function returns: `jax.vmap(f)(x)`
        node = node.func
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    found = may_stand_for(node.value if isinstance(node, ast.Attribute) else node, names)
    at = next((k for k, value in enumerate(found) if foreign_module(value)), None)
    if at is None:
        return None
    written = ast.unparse(node)
    return written, str(getattr(may_stand_for(node, names)[at], "__name__", written.rpartition(".")[2]))


def foreign_module(value: Any) -> str | None:
    """The module of another library that a value is, or that it comes from."""
    module = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
    if module is None or is_ours(module) or is_users(getattr(module, "__file__", None) or ""):
        return None
    return module.__name__


def is_ours(value: Any) -> bool:
    """Tell if a function, a class or a module is of this library."""
    module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return str(module).partition(".")[0] in {"hilbert", "linmap", "diff", "adjoint"}
