"""Loops beside the same rounds written out: pairs of functions that must not differ, for any number of rounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from diff import Expr, again, const, exp, fun, select, sin, tanh
from hilbert import Bool, Copower, Elements, Fin, R, Type, direct_sum
from hilbert.map.map import AnyMap
from linmap import roll
from tests.untyped import fold, iterate


class Pair(NamedTuple):
    """A function with loops, and the same without."""

    loop: AnyMap
    unrolled: AnyMap


S, P = Fin.of(3), Fin.of(2)
V, W = R**S, R ** (S * S)
Body = Callable[..., Any]
NO = Bool.vec(data=False)


def _pair(spaces: tuple[Type, ...], loop: Body, unrolled: Body) -> Pair:
    return Pair(fun(*spaces)(loop), fun(*spaces)(unrolled))


def recurrent(n: int) -> Pair:
    """A state, shared weights, no stacks."""

    def step(w: Any, s: Any) -> Any:
        return tanh(w @ s + s)

    def unrolled(w: Any, s: Any) -> Any:
        for _ in range(n):
            s = step(w, s)
        return s

    return _pair((W, V), lambda w, s: iterate(lambda t: step(w, t), s, Fin.of(n)), unrolled)


def _folded(n: int, step: Body, *, reverse: bool) -> Body:
    def unrolled(w: Any, s: Any, xs: Any) -> Any:
        ys: dict[int, Any] = {}
        for k in range(n)[::-1] if reverse else range(n):
            s, ys[k] = step(w, s, xs[k])
        total = s
        for k in range(n):  # as a sum that tells the places apart
            total = total + (k + 1.0) * ys[k]
        return total

    return unrolled


def _weighted(n: int, step: Body, **options: Any) -> Body:
    places = (R ** Fin.of(n)).vec([k + 1.0 for k in range(n)])

    def loop(w: Any, s: Any, xs: Any) -> Any:
        last, ys = fold(lambda t, x: step(w, t, x), s, xs, **options)
        return fold(lambda t, z: t + z[1] * z[0], last, _zipped(ys, const(places)))

    return loop


def _zipped(ys: Any, ks: Any) -> Any:
    space = Copower(direct_sum(ys.space.base, R), ks.space.index)
    return Expr(ys.builder, space, (*ys.slots, *ks.slots))


def outputs(n: int, *, reverse: bool = False) -> Pair:
    """Outputs that are stacked, and a second loop that reads them, with a constant stack."""

    def step(w: Any, s: Any, x: Any) -> Any:
        t = sin(w @ s) + x * s
        return t, t * x + exp(-s * s)

    spaces = (W, V, V ** Fin.of(n))
    return _pair(spaces, _weighted(n, step, reverse=reverse), _folded(n, step, reverse=reverse))


def nested(n: int) -> Pair:
    """A loop in a loop that captures the state of the outer one."""

    def inner_step(w: Any, s: Any, t: Any, x: Any) -> Any:
        return sin(w @ t) * s + x

    def unrolled(w: Any, s: Any, xs: Any) -> Any:
        for _ in range(2):
            t = s
            for k in range(n):
                t = inner_step(w, s, t, xs[k])
            s = tanh(s + t)
        return s

    def loop(w: Any, s: Any, xs: Any) -> Any:
        return iterate(lambda s: tanh(s + fold(lambda t, x: inner_step(w, s, t, x), s, xs)), s, P)

    return _pair((W, V, V ** Fin.of(n)), loop, unrolled)


def tuples(n: int) -> Pair:
    """A state of vectors and a truth value, one of them the same in all rounds; a result that nobody reads."""
    X = Fin.of(3)

    def unrolled(w: Any, s: Any) -> Any:
        flip = const(NO)
        for _ in range(n):
            s = sin(w @ s) + select(flip, w @ (w @ roll(X, 1)(s)))
            flip = ~flip
        return s

    def loop(w: Any, s: Any) -> Any:
        def step(state: Any) -> Any:
            s, flip, same = state
            t = sin(w @ s) + select(flip, w @ (w @ roll(X, 1)(s)))
            return (t, ~flip, same), t * same

        (last, _, _), _ = iterate(step, (s, const(NO), w @ s), Fin.of(n))
        return last

    return _pair((W, V), loop, unrolled)


def elements(n: int) -> Pair:
    """Discrete slices: rows picked one after the other."""
    X = Elements(S)

    def step(w: Any, s: Any, k: Any) -> Any:
        return s * sin(w[k]) + s[k] * s

    def unrolled(w: Any, s: Any, ks: Any) -> Any:
        for k in range(n):
            s = step(w, s, ks[k])
        return s

    return _pair((V**S, V, X ** Fin.of(n)), lambda w, s, ks: fold(lambda t, k: step(w, t, k), s, ks), unrolled)


def side_by_side(n: int) -> Pair:
    """Two stacks at once, one of them discrete."""
    X, N = Elements(S), Fin.of(n)

    def step(s: Any, x: Any, k: Any) -> Any:
        return sin(s) * x + s[k] * x

    def unrolled(s: Any, xs: Any, ks: Any) -> Any:
        for k in range(n):
            s = step(s, xs[k], ks[k])
        return s

    return _pair((V, V**N, X**N), lambda s, xs, ks: fold(step, s, xs, ks), unrolled)


def checkpointed(n: int, *, reverse: bool = False) -> Pair:
    """Segments that are computed again, with a rest, and a part that is."""

    def step(w: Any, s: Any, x: Any) -> Any:
        t = again(lambda s: sin(w @ s) + x * s, s)
        return t, t * x + exp(-s * s)

    def unrolled_step(w: Any, s: Any, x: Any) -> Any:
        t = sin(w @ s) + x * s
        return t, t * x + exp(-s * s)

    spaces = (W, V, V ** Fin.of(n))
    options: Any = {"reverse": reverse, "checkpoint": 3 if n > 3 else True}
    return _pair(spaces, _weighted(n, step, **options), _folded(n, unrolled_step, reverse=reverse))


PAIRS: dict[str, Callable[[int], Pair]] = {
    "recurrent": recurrent,
    "outputs": outputs,
    "reverse": lambda n: outputs(n, reverse=True),
    "nested": nested,
    "tuples": tuples,
    "elements": elements,
    "side by side": side_by_side,
    "checkpointed": checkpointed,
    "checkpointed backwards": lambda n: checkpointed(n, reverse=True),
}
