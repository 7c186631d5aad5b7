"""Functions as Python expressions: `repr`, which evaluates back to an equal function; see `linmap.printing.term_repr`.

>>> from hilbert import Fin, R
>>> from diff import log, sin
>>> log @ sin + (sin @ sin)
compose(log, sin) + compose(sin, sin)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, cast

from diff.primitives import primitives
from diff.terms.elementwise import AnyElementwise, Elementwise, Primitive
from diff.terms.nodes import Bilinear, Compose, Constant, Fork, Lift, Node, Parallel, Power, Scaled, Sum
from diff.terms.program import Program
from linmap.printing.term_repr import FLAT, PythonText, added, call, linear, multiplied, raised, spelled
from linmap.term.linear_map import LinMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.map.map import AnyMap


def spell(f: AnyMap) -> str:
    """The expression of a function."""
    return spelled(f, lambda node, rec: _source(cast("AnyMap", node), rec))


def _source(f: AnyMap, rec: Callable[[Any], PythonText]) -> PythonText:
    if isinstance(f, LinMap):
        return linear(f, rec)
    match cast("Node", f):
        case Constant(dom, value):
            return PythonText(f"constant({value.name()}, {dom!r})")
        case Bilinear(contraction):
            return PythonText(f"bilinear({contraction!r})")
        case Compose(parts):
            return call("compose", map(rec, reversed(list(parts))))
        case Sum(parts):
            texts = [rec(part) for part in parts]
            if _is_regrouped([isinstance(part, LinMap) for part in parts]):
                return PythonText(f"nodes.Sum([{', '.join(text.text for text in texts)}])")
            return added(texts)
        case Scaled(k, of):
            return multiplied(k, rec(of))
        case Fork(parts):
            return call("fork", map(rec, parts))
        case Parallel(parts):
            return call("parallel", map(rec, parts))
        case Power(of, index):
            return raised(rec(of), index)
        case Lift(of, index, over):
            return PythonText(f"lift({rec(of).text}, {index!r}, over={over!r})")
        case Elementwise() | Program():
            return PythonText(repr(f))
        case never:
            assert_never(never)


def _is_regrouped(linear_parts: list[bool]) -> bool:
    """Tell if operators, which add two terms at a time, would add linear maps first, and make a linear map of them."""
    return any(linear_parts) and (len(linear_parts) > FLAT or (len(linear_parts) > 2 and all(linear_parts[:2])))


def primitive(p: AnyElementwise) -> str:
    """The public name of a primitive, or its place in the table."""
    if isinstance(p, Primitive) and p.name == "power":
        return f"power({p.params[0]!r})"
    public = p.name.isidentifier() and not p.params and isinstance(getattr(primitives, p.name, None), Elementwise)
    return p.name if public else f"{type(p).__name__}({p.name!r}{f', {p.params!r}' if p.params else ''})"
