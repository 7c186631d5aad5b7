"""The text of each operation on arrays; of control flow see `flow_text`."""

from __future__ import annotations

import ast
import math
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

from diff.numpy_source.contractions_in_text import contraction
from diff.numpy_source.discrete_in_text import discrete
from diff.numpy_source.relations_in_text import reduction
from diff.python_text import helpers
from diff.python_text.axis_text import permuted, reshaped, shape
from diff.python_text.carried import carried
from diff.python_text.constants import literal
from diff.python_text.expressions import (
    Node,
    added,
    constant,
    holes,
    is_light,
    name,
    put,
    reads_variable,
    text,
    times,
)
from diff.python_text.scope import TYPES, Scope, Value, Values, placed, spread, whole
from diff.terms.elementwise import Elementwise
from diff.terms.user_operation import Custom
from hilbert import SpaceError
from hilbert.index.leaf import Bundle
from hilbert.program.line.choice import AnyLane, Choose, Fill
from hilbert.program.line.external import External
from hilbert.program.line.operation import Add, Along, Cast, Contract, Keep, Literal, Move, Reduce, Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff.terms.elementwise import AnyElementwise
    from hilbert.index.leaf import Leaf
    from hilbert.index.spec import Spec
    from hilbert.program.line.operation import Builtin

    ArrayStep = AnyElementwise | Builtin | Choose | AnyLane | Fill | Custom


def array_step(scope: Scope, step: ArrayStep, given: Sequence[Value], leaf: Leaf, word: str) -> Values:
    """The value of a step on arrays, with the statements that it needs; raises SpaceError for a user's operation."""
    match step:
        case Elementwise():
            return _elementwise(scope, step, given, leaf)
        case Literal(value):
            return literal(scope.page, value)
        case Scale(k):
            return _scaled(k, given[0], leaf)
        case Add():
            return _sum(scope, given[0], given[1], leaf)
        case Contract(spec):
            return _contracted(scope, spec, given, leaf)
        case Reduce(relation, at):
            return reduction(scope, relation, at, given[0], leaf)
        case Move(order):
            return Value(permuted(whole(given[0]), order), leaf)
        case Cast():
            return Value(_cast(given[0], leaf), leaf)
        case Keep():
            return given[0]
        case Along():
            return _along(scope, step, given[0], leaf)
        case Choose():
            return _chosen(given[0], given[1], given[2], leaf)
        case AnyLane(at, when):
            return _any(given[0], at, leaf, when=when)
        case Fill(at, when):
            return _lanes(scope, given[0], given[1], at, leaf, when=when)
        case External():
            if step.rule.looks is None:
                raise refused(step.rule.name, "linear map")
            return given[0]
        case Custom():
            return _custom(scope, step, given, leaf, word)
        case _:
            assert_never(step)


def _scaled(k: float, value: Value, leaf: Leaf) -> Value:
    """A number times an array; a mean, if it is a sum of as many."""
    if value.summed and abs(k * value.summed - 1.0) < ROUNDING:
        return Value(_mean(value.node), leaf)
    return Value(times(constant(float(k)), value.node), leaf, value.have)


ROUNDING = 1e-15
"""The largest distance from 1 of a product with a reciprocal."""


def _sum(scope: Scope, a: Value, b: Value, leaf: Leaf) -> Value:
    """The sum of two arrays; of two with parts between zeros the parts."""
    if a.parts and b.parts:
        return Value(a.node, leaf, parts=a.parts + b.parts)
    a, b = placed(scope, a, "y"), placed(scope, b, "y")
    return Value(added(a.node, b.node), leaf, spread(leaf, a.actual, b.actual))


def _contracted(scope: Scope, spec: Spec, given: Sequence[Value], leaf: Leaf) -> Value:
    """A contraction of numbers, or with truth values or elements."""
    left, right = given
    if not left.leaf.is_field or not right.leaf.is_field:
        return discrete(scope, spec, left, right, leaf)
    if spec.contracted:
        left, right = _factor(scope, left), _factor(scope, right)
    return contraction(spec, left, right, leaf)


def _mean(total: Node) -> Node:
    """The sum of some numbers, divided by how many there are."""
    return (
        put(text(total).replace("np.sum(", "np.mean(", 1)) if text(total).startswith("np.sum(") else _of_method(total)
    )


def _of_method(total: Node) -> Node:
    assert isinstance(total, ast.Call)
    assert isinstance(total.func, ast.Attribute)
    return ast.Call(ast.Attribute(total.func.value, "mean"), total.args, total.keywords)


def _factor(scope: Scope, value: Value) -> Value:
    """A factor of a product of matrices: one that is a product itself has a name, for both are read from the left."""
    is_product = isinstance(value.node, ast.BinOp) and isinstance(value.node.op, ast.Mult | ast.Div)
    return scope.assign(value, "g") if is_product else value


def refused(what: str, kind: str = "operation") -> SpaceError:
    """The error for an operation whose value is a function of Python, as a user's is."""
    return SpaceError(
        f"source(f): the {kind} {what!r} is a function of Python, which has no text in numpy: write what it computes "
        "by the vocabulary, or take the source of a function without it"
    )


def applied(scope: Scope, written: Any, given: Sequence[Node]) -> Node:
    """A template or a function of the library on operands, those with names that are read more than once."""
    if isinstance(written, str):
        read = holes(written)
        given = [node if read.count(k) < 2 else _light(scope, node) for k, node in enumerate(given)]
        return put(written, *given)
    more = {}
    if isinstance(written, partial):
        written, more = written.func, written.keywords
    marks = [*(f"{{{k}}}" for k in range(len(given))), *(f"{key}={value!r}" for key, value in more.items())]
    return put(f"{carried(scope.page, written)}({', '.join(marks)})", *given)


def _light(scope: Scope, node: Node) -> Node:
    if is_light(node):
        return node
    word = scope.page.fresh("x")
    scope.put(f"{word} = {text(node)}")
    return name(word)


def _elementwise(scope: Scope, step: AnyElementwise, given: Sequence[Value], leaf: Leaf) -> Value:
    written = step.rule.in_text
    if written is None:
        raise refused(step.name, "primitive")
    if step.name == "greater" and text(given[1].node) == HUGE and leaf.shape == given[0].shape:
        return Value(put("{0} == np.inf", given[0].node), leaf, given[0].have)
    if step.rule.is_called:
        scope.page.imports.add("import scipy.special")
    if callable(written) and step.params:
        written = partial(written, k=step.params[0])
    if isinstance(written, str):
        written = written.replace("{p}", text(constant(step.params[0])) if step.params else "")
    node = applied(scope, written, [value.node for value in given])
    if leaf.dtype == "float32" and not any(reads_variable(value.node) for value in given):
        node = put("np.float32({0})", node)  # numbers of Python become 64 bits in numpy's functions
    return Value(node, leaf, spread(leaf, *(value.actual for value in given)))


HUGE = "1.7976931348623157e+308"
"""The largest number: greater is infinity alone."""


def _cast(value: Value, leaf: Leaf) -> Node:
    kind = TYPES[leaf.dtype]
    if not leaf.shape:
        return put(f"{kind}({{0}})", value.node)
    return put(f"{{0}}.astype({kind})", whole(value))


def _along(scope: Scope, step: Along, value: Value, leaf: Leaf) -> Value:
    """A function along axes: those of elements along one axis, which several are made."""
    n, node, sizes = len(step.index.axes), whole(value), value.shape
    before, after = sizes[: step.at], sizes[step.at + n :]
    flat = (*before, math.prod(sizes[step.at : step.at + n]), *after)
    is_alone = len(flat) == 1
    match step.name:
        case "argmax" | "argmin" as word:
            node = reshaped(node, sizes, flat)
            return Value(put(f"np.{word}({{0}}{'' if is_alone else f', axis={step.at}'})", node), leaf)
        case "argsort":
            node = reshaped(node, sizes, flat)
            axis = "" if step.at == len(flat) - 1 else f"axis={step.at}, "
            return Value(reshaped(put(f'np.argsort({{0}}, {axis}kind="stable")', node), flat, leaf.shape), leaf)
        case word:  # of numbers: `Along` checks names
            axis = str(step.at) if n == 1 else str(tuple(range(step.at, step.at + n)))
            function = {"logsumexp": helpers.logsumexp, "softmax": helpers.softmax, "log_softmax": helpers.log_softmax}
            return Value(put(f"{carried(scope.page, function[word])}({{0}}, {axis})", node), leaf)


def _condition(c: Value, rank: int) -> Node:
    """A condition that broadcasts to so many axes, of which its own come first."""
    more = rank - len(c.shape)
    node = whole(c)
    if not c.shape or not more:
        return node
    return put(f"{{0}}[{'..., None' if more == 1 else ', '.join([':'] * len(c.shape) + ['None'] * more)}]", node)


def _chosen(c: Value, a: Value, b: Value, leaf: Leaf) -> Value:
    rank = len(leaf.shape)
    have = spread(leaf, (*c.shape, *(1,) * (rank - len(c.shape))), a.actual, b.actual)
    if not (a.whole or b.whole) and leaf.dtype != "float64":
        return Value(put("np.where({0}, {1}, {2})", _condition(c, rank), whole(a), whole(b)), leaf)
    return Value(put("np.where({0}, {1}, {2})", _condition(c, rank), a.node, b.node), leaf, have)


def _any(c: Value, at: int, leaf: Leaf, *, when: bool) -> Value:
    rank = len(c.shape)
    node = whole(c) if c.leaf.kind == "b" else put("{0} != 0", whole(c))
    if rank == at:
        return Value(node if when else put("~{0}" if rank else "not {0}", node), leaf)
    axes = "" if not at else f", axis={at if rank == at + 1 else tuple(range(at, rank))}"
    none = "not np.all({0})" if not at else f"~np.all({{0}}{axes})"
    return Value(put(f"np.any({{0}}{axes})" if when else none, node), leaf)


def _lanes(scope: Scope, c: Value, a: Value, at: int, leaf: Leaf, *, when: bool) -> Value:
    taken = whole(c) if when else put("~{0}", whole(c))
    return Value(put(f"{carried(scope.page, helpers.lanes_filled)}({{0}}, {{1}}, {at})", taken, whole(a)), leaf)


def _custom(scope: Scope, step: Custom, given: Sequence[Value], leaf: Leaf, word: str) -> Values:
    """An operation of the library, as linear algebra has them; its operands have the axes in front, or 1 for each."""
    written = step.rule.in_text
    if written is None:
        raise refused(step.rule.name)
    if isinstance(written, tuple):
        written = written[1 if step.n else 0]
    front = [axis.size for axis in step.axes([value.leaf for value in given])]
    nodes = [_in_front(step, k, value, front) for k, value in enumerate(given)]
    made = applied(scope, written, nodes)
    if not isinstance(leaf, Bundle):
        return Value(made, leaf)
    words = [scope.page.fresh(base) for base in (step.rule.results or [word] * len(leaf.leaves))]
    scope.put(f"{', '.join(words)} = {text(made)}")
    return tuple(Value(name(one), part) for one, part in zip(words, leaf.leaves, strict=True))


def _in_front(step: Custom, k: int, value: Value, front: Sequence[int]) -> Node:
    mask = step.masks[k] if step.masks else ()
    node = whole(value)
    if all(mask):
        return node
    own = step.leaves[k].shape
    if step.rule.broadcasts:
        marks = [":" if there else "None" for there in mask]
        while marks and marks[0] == "None" and not any(mask):
            marks.pop(0)
        return put(f"{{0}}[{', '.join(marks)}]", node) if marks else node
    marks = [":" if there else "None" for there in mask]
    if any(mask):
        node = put(f"{{0}}[{', '.join(marks)}]", node)
    return put(f"np.broadcast_to({{0}}, {shape((*front, *own))})", node)


WORDS = {
    Contract: "z",
    Add: "s",
    Scale: "y",
    Reduce: "r",
    Move: "y",
    Cast: "y",
    Choose: "y",
    AnyLane: "some",
    Fill: "lanes",
    Along: "along",
    Custom: "m",
}
"""Names of results by their operations."""
FUNCTIONS = {
    "tanh": "h",
    "log": "log_x",
    "sqrt": "r",
    "square": "y",
    "divide": "q",
    "sigmoid": "gate",
    "length": "norm",
}
FUNCTIONS |= {
    "reciprocal": "q",
    "relu": "h",
    "gelu": "h",
    "tan": "y",
    "log1p": "log_x",
    "atan": "angle",
    "atan2": "angle",
}
"""Names of values of primitives, where the first letter does not do."""


def word_of(operation: Any) -> str:
    """A name for the result of an operation."""
    if isinstance(operation, Elementwise):
        rule = operation.rule
        if rule.is_discrete:
            return "mask"
        return FUNCTIONS.get(rule.name, rule.name[0]) if rule.name.isidentifier() else "slope"
    if isinstance(operation, Along):
        return {"logsumexp": "lse", "softmax": "p", "log_softmax": "log_p", "argsort": "order"}.get(
            operation.name, "best"
        )
    return WORDS.get(type(operation), "y")
