"""The adjoint calculus (paper §6.2, Theorem 6.5): every construct has its adjoint construct in the same language.

f* : W ⊸ V is the adjoint of f : V ⊸ W iff f(v) ⊙ w = v ⊙ f*(w). No datum changes, no vector needs to exist: adjoints
are taken of terms. f** = f holds by ==.

>>> from hilbert import Fin, R
>>> from linmap import total
>>> print(adjoint(total(Fin.of(3))))
rep
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never, cast

from diff import Linearization
from hilbert import SpaceError
from hilbert.base.attach import overloaded
from hilbert.base.term import bottom_up
from hilbert.errors import shown
from hilbert.map.map import Map
from linmap.contraction import Contraction
from linmap.term.linear_map import AnyLinMap, LinMap
from linmap.term.net import Closed, Net, turned
from linmap.term.nodes import (
    Cast,
    Compose,
    Fork,
    Identity,
    Inject,
    Join,
    Lifted,
    Node,
    Own,
    Parallel,
    Project,
    Reduce,
    Scaled,
    Section,
    Sum,
    Unitary,
    ZeroMap,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint import _calls


_PAIRS = (
    ("zip", "unzip"),
    ("bra", "unbra"),
    ("ket", "unket"),
    ("assoc", "unassoc"),
    ("distrib", "undistrib"),
    ("curry", "uncurry"),
    ("copower", "uncopower"),
    ("matrix", "unmatrix"),
    ("transpose", "transpose"),
    ("pack", "unpack"),
    ("rearrange", "rearrange"),
)
INVERSE = dict(_PAIRS) | {b: a for a, b in _PAIRS}


@overloaded(lambda: _calls.adjoint)
def adjoint(f: Any) -> Any:
    """f* : W ⊸ V, of a linear map or of a derivative in the point; raises SpaceError for a map that is not linear."""
    if isinstance(f, Linearization):
        return Linearization(f.program, turned(f.body))
    if not isinstance(f, LinMap):
        hint = "; take the adjoint of its derivative(f)" if isinstance(f, Map) else ""
        msg = f"only linear maps have an adjoint, not {shown(f)}{hint}"
        raise SpaceError(msg)
    return bottom_up(f, _adjoint)


def _adjoint(node: AnyLinMap, rec: Callable[[Any], Any]) -> AnyLinMap:
    """Theorem 6.5, line by line."""
    match cast("Node", node):
        case Identity() as f:  # id* = id
            return f
        case ZeroMap(dom, cod):  # 0* = 0
            return ZeroMap(cod, dom)
        case Compose(parts):  # (g • f)* = f* • g*
            return Compose([rec(part) for part in reversed(list(parts))])
        case Sum(parts):  # (f + g)* = f* + g*
            return Sum([rec(part) for part in parts])
        case Scaled(k, of):  # (k·f)* = k·f*
            return Scaled(k, rec(of))
        case Section(c, 0, v):  # (v∗)* = (vᵀ∗)
            terms = tuple((i, k, j, spec.section_adjoint(0)) for i, j, k, spec in c.terms)
            return Section(Contraction(c.left, c.cod, c.right, terms), 0, v)
        case Section(c, _, w):  # (∗w)* = (∗wᵀ)
            terms = tuple((k, j, i, spec.section_adjoint(1)) for i, j, k, spec in c.terms)
            return Section(Contraction(c.cod, c.right, c.left, terms), 1, w)
        case Project(space, i):  # π_i* = ι_i
            return Inject(space, i)
        case Inject(space, i):  # ι_i* = π_i
            return Project(space, i)
        case Fork(parts):  # ⟨f_y⟩* = [f_y*]
            return Join(tuple(map(rec, parts)))
        case Join(parts):  # [g_x]* = ⟨g_x*⟩
            return Fork(tuple(map(rec, parts)))
        case Parallel(parts):  # (Π f_x)* = Π f_x*, (Δ f)* = Δ(f*)
            return Parallel(tuple(map(rec, parts)))
        case Reduce(relation, base):  # red_R* = red_{Rᵀ}
            return Reduce(relation.T, base)
        case Unitary(name, dom, cod, source, order):  # unitary: f* = f⁻¹
            back = sorted(range(len(source)), key=source.__getitem__)
            inverse = tuple(tuple(sorted(range(len(o)), key=o.__getitem__)) for o in (order[k] for k in back))
            return Unitary(INVERSE[name], cod, dom, tuple(back), inverse)
        case Lifted(of, index):  # (f^X)* = (f*)^X
            return Lifted(rec(of), index)
        case Cast(dom, cod):
            return Cast(cod, dom)
        case Own(rule, dom, cod, back):  # its other function
            return Own(rule, cod, dom, not back)
        case Net() as body:
            return turned(body)
        case Closed(body, data):
            return Closed(turned(body), data)
        case never:
            assert_never(never)
