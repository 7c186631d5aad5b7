"""Bodies of control flow: Python functions that are traced inside a traced function, or on vectors.

A body takes and gives trees: vectors, or tuples of trees. If all operands are vectors, and no function is being traced,
the operation is traced for their spaces and run.
"""

from __future__ import annotations

import inspect
import re
from itertools import chain, islice
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import frozen

from diff.mistakes.escaped_expressions import TwoFunctionsError, leaked
from diff.trace.error_place import returned, stored
from diff.trace.expr import Expr, OnVectors, literal
from hilbert import Copower, Map, SpaceError, Vec
from hilbert.arrays.libraries.namespace import freeze
from hilbert.errors import is_number, shown
from hilbert.program.line.builder import Builder
from hilbert.program.line.source_line import told
from hilbert.program.planning.contraction_plan import planned
from hilbert.program.run.run import Runner
from hilbert.program.transform.lanes_of_steps import in_lanes_of_steps
from hilbert.tracebacks import tracing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hilbert import Index
    from hilbert.program.line.line import Line

Tree: TypeAlias = Any
"""A value or a tuple of trees; or a space, or a tuple of trees of spaces."""


_TUPLE = ": a state of several vectors is one tuple s"
STATE = {
    "iterate": f"{_TUPLE}, and fold(step, start, (Elements(X) ** X).vec(range(X.size))) gives its step the element x "
    "of X, too, as the index of the round",
    "root": f"{_TUPLE}, write root(lambda s: (…s[0]…, …s[1]…), (v, w))",
    "fixed_point": f"{_TUPLE}, write fixed_point(lambda s: (…s[0]…, …s[1]…), (v, w))",
}
"""The end of an error where the function of a loop or a search takes more than the state."""


def spaces_of(tree: Tree, what: str) -> Tree:
    """The spaces of a tree of values; raises SpaceError for what is no vector."""
    if isinstance(tree, (Expr, Vec)):
        return tree.space
    if isinstance(tree, tuple) and tree:
        return tuple(spaces_of(part, what) for part in tree)
    msg = f"{what} is a vector, or a tuple of vectors, not {shown(tree)}"
    if is_number(tree):
        msg += ": the number as a vector is R.vec(k), one in every entry V.full(k)"
    elif isinstance(tree, list) or hasattr(tree, "dtype"):
        msg += ": data are a vector as V.vec(data), several vectors a tuple"
    raise SpaceError(msg)


def said(spaces: Tree) -> str:
    """A tree of spaces in a message."""
    return f"({', '.join(map(said, spaces))})" if isinstance(spaces, tuple) else str(spaces)


def made_beside(tree: Tree, path: str) -> str:
    """Lines of a message that say where the parts were made which stand in one tuple with the part on a path."""
    if not isinstance(tree, tuple):
        return ""
    *around, _ = [int(k) for k in re.findall(r"\[(\d+)\]", path)] or [0]
    for k in around:
        tree = tree[k] if isinstance(tree, tuple) else tree
    found = [value.builder.made(value.slots[0]) for value in flat(tree) if isinstance(value, Expr) and value.slots]
    return "".join(dict.fromkeys(f"\n  a part of it made at {told(place)}" for place in found if place))


def flat(tree: Tree) -> list[Any]:
    """The values of a tree, in order."""
    return [leaf for part in tree for leaf in flat(part)] if isinstance(tree, tuple) else [tree]


def slots_of(b: Builder, tree: Tree) -> tuple[int, ...]:
    """The slots of a tree of expressions, vectors among them being constants."""
    found: list[int] = []
    for value in flat(tree):
        expr = literal(b, value) if isinstance(value, Vec) else value
        if expr.builder is not b:
            msg = f"{shown(expr)} belongs to another function, or to a body that is complete: return it from there"
            raise TwoFunctionsError(msg + leaked(expr))
        found += expr.slots
    return tuple(found)


def built(b: Builder, spaces: Tree, slots: Iterator[int]) -> Tree:
    """The tree of expressions on some slots."""
    if isinstance(spaces, tuple):
        return tuple(built(b, part, slots) for part in spaces)
    return Expr(b, spaces, tuple(islice(slots, len(spaces.leaves))))


def powers(spaces: Tree, X: Index) -> Tree:
    """V^X for each space of a tree."""
    return tuple(powers(part, X) for part in spaces) if isinstance(spaces, tuple) else Copower(spaces, X)


@final
@frozen
class Body:
    """A body as a line whose inputs are its arguments, then the slots outside that it captures; `result` is a tree."""

    line: Line
    captured: list[int]
    spaces: Tree
    names: tuple[str, ...]
    result: Tree


def traced(outer: Builder, what: str, body: Callable[..., Any], given: Sequence[Tree], values: Tree = ()) -> Body:
    """A body traced once, inside the program being traced; raises SpaceError for what is no such function.

    The body takes elements of the given spaces. `values` are the operands outside: those that the body gets in the
    first round, or tables whose elements it gets; messages say where they were made.
    """
    names = parameters(what, body, len(given))
    leaves = [[leaf for space in flat(tree) for leaf in space.leaves] for tree in given]
    inner = Builder([leaf for some in leaves for leaf in some], fixed=outer.fixed)
    inner.watch, inner.came = outer.watch, [outer.made(slot) for slot in slots_of(outer, values)]
    slots = iter(range(inner.arity))
    args = [built(inner, tree, slots) for tree in given]
    outer.inner, around = inner, tracing.set((*tracing.get(), inner))
    try:
        result = _called(body, args)
        try:
            spaces = spaces_of(result, f"what {what} gets of {_name(body)}")
        except SpaceError as error:
            raise SpaceError(f"{error}{returned(body)}") from None
        line, captured = inner.body(slots_of(inner, result))
    finally:
        outer.inner, inner.traced = None, True
        tracing.reset(around)
    each = (_numbered(name, len(some)) for name, some in zip(names, leaves, strict=True))
    return Body(in_lanes_of_steps(line), captured, spaces, tuple(chain.from_iterable(each)), result)


def _called(body: Callable[..., Any], args: Sequence[Tree]) -> Any:
    """The result of a body; raises the library's own error where numpy hides it as the cause of a ValueError."""
    try:
        return body(*args)
    except ValueError as error:
        if text := stored(error):
            raise SpaceError(text).with_traceback(error.__traceback__) from error
        raise


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return (name,) if count == 1 else tuple(f"{name}{k + 1}" for k in range(count))


def _name(body: Any) -> str:
    name = getattr(body, "__name__", "<lambda>")
    return "its function" if name == "<lambda>" else name


def arguments(body: Any) -> int:
    """The least number of arguments that a function takes: a map takes one for each part of its domain."""
    if isinstance(body, Map):
        return len(body.dom.parts) if body.dom.names is None else 1
    if not callable(body):
        return 0
    try:
        parameters = inspect.signature(body).parameters.values()
    except (TypeError, ValueError):  # no function, or a builtin that does not tell
        return 0
    return sum(p.default is p.empty and p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD} for p in parameters)


def _is_plain(code: CodeType) -> bool:
    """Tell if a function has no parameters but *args and **kwargs."""
    return not code.co_argcount and not code.co_kwonlyargcount


def parameters(what: str, body: Any, count: int, role: str = "function") -> tuple[str, ...]:
    """The names of the parameters; raises SpaceError unless there are so many."""
    if not callable(body):
        msg = f"{what} takes a function of expressions, not {shown(body)}"
        raise SpaceError(msg)
    if not count and type(body) is FunctionType and not vars(body) and _is_plain(body.__code__):
        return ()  # a branch of a condition: its signature is not asked for, which takes longer than what it does
    try:
        signature = inspect.signature(body)
    except (TypeError, ValueError):  # a builtin that does not tell
        return ("x",) * count
    try:
        signature.bind(*range(count))
    except TypeError as error:
        given = "one argument" if count == 1 else f"{count} arguments"
        msg = f"{what} gives {given} to its {role}, whose parameters are {signature}"
        takes_more = len(signature.parameters) > count or what == "iterate"
        raise SpaceError(msg + (STATE.get(what, "") if takes_more else "")) from error
    names = tuple(signature.parameters)
    return names if len(names) == count else ("x",) * count


def emitted(emit: Callable[..., Tree], *given: Tree) -> Tree:
    """emit(b, *given) on the program being traced, with vectors as constants; else emit traced on vectors, and run."""
    spaces = [spaces_of(tree, "an operand") for tree in given]
    values = [value for tree in given for value in flat(tree)]
    exprs = [value for value in values if isinstance(value, Expr)]
    around = tracing.get()
    b = exprs[0].builder if exprs else around[-1] if around else None
    if b is not None:
        return emit(b, *(built(b, of, iter(slots_of(b, tree))) for of, tree in zip(spaces, given, strict=True)))
    b = OnVectors([leaf for v in values for leaf in v.space.leaves])
    slots = iter(range(b.arity))
    result = emit(b, *(built(b, of, slots) for of in spaces))
    run = Runner(planned(b.line(slots_of(b, result)))).run
    arrays = map(freeze, run([leaf for v in values for leaf in v.leaves]))
    return _vectors(result, iter(list(arrays)))


def _vectors(tree: Tree, arrays: Iterator[Any]) -> Tree:
    if isinstance(tree, tuple):
        return tuple(_vectors(part, arrays) for part in tree)
    return Vec(tree.space, tuple(islice(arrays, len(tree.space.leaves))))
