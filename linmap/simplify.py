"""The laws of linear maps, applied: units, zeros, scalings, biproducts, composition (paper §2.2, §3.2–3.3, §4).

Each law makes a term smaller or leaves its size; a term to which none applies is returned as the same object.

>>> from hilbert import Fin, R, direct_sum
>>> from linmap import fork, identity, project
>>> V = direct_sum(R ** Fin.of(3), R)
>>> print(simplify(fork(project(V, 0), project(V, 1))))
id
>>> print(simplify(2 * (identity(R) + identity(R))))
(4 ·)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from hilbert import Space, SpaceError, Type
from hilbert.errors import shown
from hilbert.map import Map
from hilbert.relation import Identity as IdentityRelation
from hilbert.term import bottom_up
from linmap import wire
from linmap.term import (
    Arc,
    Compose,
    Fork,
    Identity,
    Inject,
    Join,
    Lifted,
    LinMap,
    Net,
    Node,
    Parallel,
    Project,
    Reduce,
    Scaled,
    Sum,
    Unitary,
    Zero,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
S = TypeVar("S", bound="Simplifiable")


class Simplifiable:
    """A linear map in the point: something other than a linear map that has laws and a structure."""

    __slots__ = ()
    body: Net

    def simplified(self: S) -> S:
        """A smaller term with the same meaning, or this object."""
        raise TypeError(type(self).__name__)


@overload
def simplify(f: LinMap[V, W]) -> LinMap[V, W]: ...
@overload
def simplify(f: S) -> S: ...
def simplify(f: Any) -> Any:
    """A smaller term with the same meaning; the same object if no law applies. Idempotent.

    Laws hold for finite values: 0 • f is 0 even where f would give NaN. Raises SpaceError for other things than linear
    maps and derivatives.
    """
    if isinstance(f, Simplifiable):
        return f.simplified()
    if not isinstance(f, LinMap):
        hint = "; simplify its derivative(f)" if isinstance(f, Map) else ""
        msg = f"simplify takes a linear map, not {shown(f)}{hint}"
        raise SpaceError(msg)
    return bottom_up(f, _simplified)


def _simplified(node: LinMap[Any, Any], rec: Callable[[Any], LinMap[Any, Any]]) -> LinMap[Any, Any]:
    """One node whose parts are simple already."""
    match cast("Node", node):
        case Compose(parts):
            return _kept(node, compose([rec(part) for part in parts]))
        case Sum(parts):
            return _kept(node, add([rec(part) for part in parts]))
        case Scaled(k, of):
            return _kept(node, scaled(k, rec(of)))
        case Fork(parts):
            return _kept(node, fork(tuple(map(rec, parts))))
        case Join(parts):
            return _kept(node, join(tuple(map(rec, parts))))
        case Parallel(parts):
            return _kept(node, parallel(tuple(map(rec, parts))))
        case Lifted(of, index):
            return _kept(node, lifted(rec(of), index))
        case Reduce(IdentityRelation(), _):  # red_id = id
            return Identity(node.dom)
        case Net() as body:
            return simplify_net(body)
        case _:
            return node


def _kept(old: LinMap[Any, Any], new: LinMap[Any, Any]) -> LinMap[Any, Any]:
    """The old object where nothing changed."""
    return old if new == old else new


def compose(parts: Iterable[LinMap[Any, Any]]) -> LinMap[Any, Any]:
    """fₙ • … • f₁ of simple parts, f₁ first: neighbours are merged until no law applies."""
    todo = list(parts)[::-1]
    dom, cod = todo[-1].dom, todo[0].cod
    factor = 1.0
    done: list[LinMap[Any, Any]] = []
    while todo:
        f = todo.pop()
        match f:
            case Identity():  # id • f = f = f • id
                continue
            case Zero():  # 0 • f = 0 = f • 0
                return Zero(dom, cod)
            case Compose(inner):  # (h • g) • f = h • g • f
                todo.extend(reversed(list(inner)))
                continue
            case Scaled(k, of):  # g • (k·f) = k·(g • f)
                factor *= k
                todo.append(of)
                continue
            case _:
                pass
        merged = _pair(f, done[-1]) if done else None
        if merged is None:
            done.append(f)
        else:
            done.pop()
            todo.append(merged)
    if not done:
        return scaled(factor, Identity(dom))
    return scaled(factor, done[0] if len(done) == 1 else Compose(done))


def _pair(g: LinMap[Any, Any], f: LinMap[Any, Any]) -> LinMap[Any, Any] | None:
    """g • f as one simple term, if a law says so."""
    match g, f:
        case Project(_, i), Fork(parts):  # π_i • ⟨f⟩ = f_i
            return parts[i]
        case Join(parts), Inject(_, i):  # [g] • ι_i = g_i
            return parts[i]
        case Project(_, i), Inject(_, j):  # π_i • ι_j = id or 0
            return Identity(cast("Space", g.cod)) if i == j else Zero(f.dom, g.cod)
        case Parallel(gs), Fork(fs):  # (f × g) • ⟨h, k⟩ = ⟨f • h, g • k⟩
            return fork(tuple(compose([b, a]) for a, b in zip(gs, fs, strict=True)))
        case Join(gs), Parallel(fs):  # [g, h] • (f × k) = [g • f, h • k]
            return join(tuple(compose([b, a]) for a, b in zip(gs, fs, strict=True)))
        case Parallel(gs), Parallel(fs):
            return parallel(tuple(compose([b, a]) for a, b in zip(gs, fs, strict=True)))
        case Project(_, i), Parallel(fs):  # π_i • (f × g) = f_i • π_i
            return compose([Project(f.dom, i), fs[i]])
        case Parallel(gs), Inject(_, i):  # (f × g) • ι_i = ι_i • f_i
            return compose([gs[i], Inject(g.cod, i)])
        case Lifted(b, X), Lifted(a, Y) if X == Y:  # g^X • f^X = (g • f)^X
            return lifted(compose([a, b]), X)
        case Unitary(_, _, cod, after, outer), Unitary(_, dom, _, before, inner) if cod == dom:  # f* • f = id
            source = tuple(before[k] for k in after)
            order = tuple(tuple(inner[k][i] for i in o) for k, o in zip(after, outer, strict=True))
            if source == tuple(range(len(source))) and all(o == tuple(range(len(o))) for o in order):
                return Identity(dom)
            return None
        case _:
            return None


def add(parts: Iterable[LinMap[Any, Any]]) -> LinMap[Any, Any]:
    """f₁ + … + fₙ of simple parts; f + 0 = f, k·f + l·f = (k+l)·f."""
    flat: list[LinMap[Any, Any]] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Sum) else (part,))
    factors: dict[LinMap[Any, Any], float] = {}
    for part in flat:
        k, of = (part.k, part.of) if isinstance(part, Scaled) else (1.0, part)
        if not isinstance(of, Zero):
            factors[of] = factors.get(of, 0.0) + k
    kept = [scaled(k, f) for f, k in factors.items() if k != 0.0]
    if not kept:
        return Zero(flat[0].dom, flat[0].cod)
    return kept[0] if len(kept) == 1 else Sum(kept)


def scaled(k: float, f: LinMap[Any, Any]) -> LinMap[Any, Any]:
    """k·f of a simple f; 1·f = f, 0·f = 0, k·(l·f) = (kl)·f."""
    if isinstance(f, Scaled):
        k, f = k * f.k, f.of
    if k == 1.0 or isinstance(f, Zero):
        return f
    return Zero(f.dom, f.cod) if k == 0.0 else Scaled(k, f)


def fork(parts: tuple[LinMap[Any, Any], ...]) -> LinMap[Any, Any]:
    """⟨f₁, …, fₙ⟩ of simple parts; ⟨π₁, …, πₙ⟩ = id, ⟨0, …, 0⟩ = 0."""
    f = Fork(parts)
    dom, cod = f.dom, f.cod
    if dom == cod and all(isinstance(p, Project) and p.position == k for k, p in enumerate(parts)):
        return Identity(dom)
    return Zero(dom, cod) if all(isinstance(p, Zero) for p in parts) else f


def join(parts: tuple[LinMap[Any, Any], ...]) -> LinMap[Any, Any]:
    """[g₁, …, gₙ] of simple parts; [ι₁, …, ιₙ] = id, [0, …, 0] = 0."""
    f = Join(parts)
    dom, cod = f.dom, f.cod
    if dom == cod and all(isinstance(p, Inject) and p.position == k for k, p in enumerate(parts)):
        return Identity(dom)
    return Zero(dom, cod) if all(isinstance(p, Zero) for p in parts) else f


def parallel(parts: tuple[LinMap[Any, Any], ...]) -> LinMap[Any, Any]:
    """f₁ × … × fₙ of simple parts; id × id = id, 0 × 0 = 0."""
    f = Parallel(parts)
    if all(isinstance(p, Identity) for p in parts):
        return Identity(f.dom)
    return Zero(f.dom, f.cod) if all(isinstance(p, Zero) for p in parts) else f


def lifted(f: LinMap[Any, Any], index: Any) -> LinMap[Any, Any]:
    """f^X of a simple f; id^X = id, 0^X = 0, (k·f)^X = k·f^X."""
    whole = Lifted(f, index)
    match f:
        case Identity():
            return Identity(whole.dom)
        case Zero():
            return Zero(whole.dom, whole.cod)
        case Scaled(k, of):
            return scaled(k, lifted(of, index))
        case _:
            return whole


def simplify_net(f: Net) -> Net:
    """The laws on a net; data are kept, so that sections merge only in a derivative (`Pointwise.simplified`)."""
    arcs, _ = rewrite(f, lambda _outer, _inner: None)
    return f if arcs == f.arcs else Net(f.dom, f.cod, f.inputs, arcs, f.outputs, f.wires)


def rewrite(f: Net, merge: Callable[[wire.Section, wire.Section], wire.Wire | None]) -> tuple[tuple[Arc, ...], bool]:
    """The arcs after the laws, and whether a merge was made.

    A wire with one arc in and one arc out is a composition: scalings multiply, identities go, and two element-wise
    sections are merged by `merge`. Arcs that no input reaches, or that reach no output, are 0 and go.
    """
    arcs: list[Arc | None] = list(f.arcs)
    ends = set(f.inputs) | set(f.outputs)
    into: dict[int, list[int]] = {}
    out: dict[int, list[int]] = {}
    merged_any = False
    alive = set(f.inputs)
    for k, arc in enumerate(f.arcs):
        if arc.src not in alive:
            arcs[k] = None
            continue
        alive.add(arc.dst)
    needed = set(f.outputs)
    for k in range(len(arcs) - 1, -1, -1):
        arc_ = arcs[k]
        if arc_ is not None:
            if arc_.dst not in needed:
                arcs[k] = None
            else:
                needed.add(arc_.src)
    for k, kept in enumerate(arcs):
        if kept is not None:
            into.setdefault(kept.dst, []).append(k)
            out.setdefault(kept.src, []).append(k)
    for k in range(len(arcs)):
        arc_ = arcs[k]
        while arc_ is not None and arc_.src not in ends and len(into[arc_.src]) == 1 and len(out[arc_.src]) == 1:
            j = into[arc_.src][0]
            inner = arcs[j]
            assert inner is not None  # `into` lists kept arcs
            both = _fused(arc_.map, inner.map, merge)
            if both is None:
                break
            merged_any |= isinstance(arc_.map, wire.Section) and isinstance(inner.map, wire.Section)
            arcs[j] = None
            arcs[k] = arc_ = Arc(both, inner.src, arc_.dst)
            out[inner.src][out[inner.src].index(j)] = k
    return tuple(arc for arc in arcs if arc is not None), merged_any


def _fused(
    g: wire.Wire, f: wire.Wire, merge: Callable[[wire.Section, wire.Section], wire.Wire | None]
) -> wire.Wire | None:
    """g • f as one wire map, if a law says so."""
    match g, f:
        case wire.Same(), _:
            return f
        case _, wire.Same():
            return g
        case wire.Scale(a), wire.Scale(b):  # (a·) • (b·) = (ab ·)
            return wire.Scale(a * b)
        case wire.Move(outer), wire.Move(inner):
            order = tuple(inner[k] for k in outer)
            return wire.Same() if order == tuple(range(len(order))) else wire.Move(order)
        case wire.Section(spec, _, _), wire.Section(spec2, _, _) if spec == spec2 and spec.is_pointwise:
            return merge(g, f)
        case _:
            return None

