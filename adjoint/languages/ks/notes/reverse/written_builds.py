"""Maps, constant and diagonal tensors and sums, of which the figure does not speak, written with build and sum."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from adjoint.languages.ks.text.typed_terms import Maker
from adjoint.languages.ks.value.types import order, shape_type
from diff.lam.term.binding import mapped, renamed
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Name, Tuple, Var, real
from diff.lam.term.types import INT, REAL, UNIT

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.types import Ty

NAMES = {"map", "map2", "constVec", "diag", "sumbuild", "dot", "buildFromSparse", "buildFromSparseTupled"}


def built(make: Maker, e: AnyTerm) -> AnyTerm:
    """The term without them."""

    def step(node: AnyTerm) -> AnyTerm | None:
        if not (isinstance(node, App) and isinstance(node.function, Name) and node.function.name in NAMES):
            return None
        found = _written(make, node.function.name, node.arg)
        return None if found is None else mapped(found, step)

    return mapped(e, step)


def _written(make: Maker, name: str, arg: AnyTerm) -> AnyTerm | None:
    if not isinstance(arg, Tuple):
        return None
    match name, arg.parts:
        case "map", (Lam(Var() as x, body), v):
            return make.let("v", v, lambda v: make.built(v, lambda i: Let(x, make.call("index", i, v), body)))
        case "map2", (Lam(pattern, body), v, w):

            def pair(v: AnyTerm, w: AnyTerm) -> AnyTerm:
                def element(i: Var) -> AnyTerm:
                    both = Tuple((make.call("index", i, v), make.call("index", i, w)))
                    return Let(pattern, both, body)

                return make.built(v, element)

            return make.let("v", v, lambda v: make.let("w", w, lambda w: pair(v, w)))
        case "constVec", (n, e):
            ty: Ty = make.type(n)
            return make.let("e", e, lambda e: make.call("build", n, make.lam("i", ty, lambda _: renamed(e))))
        case "diag", (n, m, Lam(Var() as i, body)) if make.type(body) is REAL:

            def row(m: AnyTerm) -> AnyTerm:
                entry = make.lam("j", INT, lambda j: If(make.call("eq", i, j), body, real(0.0)))
                return make.call("build", n, Lam(i, make.call("build", m, entry)))

            return make.let("m", m, row)
        case "sumbuild", (n, f):
            return make.call("sum", make.call("build", n, f))
        case "dot", (v, w):

            def product(v: AnyTerm, w: AnyTerm) -> AnyTerm:
                return make.built(v, lambda i: make.call("mul", make.call("index", i, v), make.call("index", i, w)))

            return make.let("v", v, lambda v: make.let("w", w, lambda w: make.call("sum", product(v, w))))
        case "buildFromSparse", (n, m, f) if _is_of_scalars(make, n, f):
            return make.let("n", n, lambda n: make.let("m", m, lambda m: _gathered(make, n, m, f, lambda pair: pair)))
        case "buildFromSparseTupled", (Tuple(shapes), m, f) if all(
            _is_of_scalars(make, n, f, k) for k, n in enumerate(shapes)
        ):

            def gathered(m: AnyTerm) -> AnyTerm:
                some = [_gathered(make, n, m, f, partial(make.component, k)) for k, n in enumerate(shapes)]
                return Tuple(tuple(some))

            return make.let("m", m, gathered)
        case _:  # as it is
            return None


def _is_of_scalars(make: Maker, n: AnyTerm, f: AnyTerm, *at: int) -> bool:
    """Tell if a shape is a size, or one of a tensor of scalars: a sum over no index has no size of its own."""
    if not order(make.type(n)):
        return True
    entry: Any = make.type(f)
    entry = entry.cod
    for k in (*at, 1):
        entry = entry.parts[k]
    return shape_type(entry) is UNIT


def _gathered(make: Maker, n: AnyTerm, m: AnyTerm, f: AnyTerm, pair: Callable[[AnyTerm], AnyTerm]) -> AnyTerm:
    """build n (λk. sumbuild m (λi. let (j, v) = pair(f i) in delta k j v)), each v where it belongs."""
    assert isinstance(f, Lam)

    def entry(k: Var) -> AnyTerm:
        again = renamed(f)
        assert isinstance(again, Lam)

        def added(p: AnyTerm) -> AnyTerm:
            return make.call("delta", k, make.component(0, p), make.component(1, p))

        body = make.let("p", again.body, lambda p: added(pair(p)))
        return make.call("sum", make.call("build", m, Lam(again.pattern, body)))

    size = make.call("size", n) if order(make.type(n)) else n
    return make.call("build", size, make.lam("k", make.type(size), entry))
