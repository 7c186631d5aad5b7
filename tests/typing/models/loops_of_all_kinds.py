"""Loops on vectors and on expressions: one state and several, with outputs and without; lanes; equations."""

from typing import TypeAlias, reveal_type

from diff import Expr, again, batched, const, each, fixed_point, fold, fun, inner, iterate, root, while_
from hilbert import Boolean, Copower, Fin, R, Scalar, Vector


class State: ...


class Time: ...


class Batch: ...


state, time = Fin(State, 3), Fin(Time, 4)
S = R**state
T = S**time
s, xs = S.ones(), T.ones()


def added(h: Expr[Vector[State]], x: Expr[Vector[State]]) -> Expr[Vector[State]]:
    return h + x


def shown(h: Expr[Vector[State]], x: Expr[Vector[State]]) -> tuple[Expr[Vector[State]], Expr[Scalar]]:
    return h + x, h @ x


def halved(h: Expr[Vector[State]]) -> Expr[Vector[State]]:
    return 0.5 * h


def norm_too(h: Expr[Vector[State]]) -> tuple[Expr[Vector[State]], Expr[Scalar]]:
    return 0.5 * h, h @ h


Pair: TypeAlias = tuple[Expr[Vector[State]], Expr[Vector[State]]]


def swapped(p: Pair) -> Pair:
    return p[1], 0.5 * p[0]


def swapped_with(p: Pair, a: Expr[Vector[State]]) -> Pair:
    return p[1], p[0] + a


def swapped_and_shown(p: Pair) -> tuple[Pair, Expr[Scalar]]:
    return swapped(p), p[0] @ p[1]


def is_large(p: Pair) -> Expr[Boolean]:
    return p[0] @ p[0] > 1.0


over_batch = batched(fun(S, S)(inner), Batch)
many = (S ** Fin(Batch, 2)).ones()


def lanes(h: Expr[Vector[State]]) -> Expr[Copower[Vector[State], Fin[Batch]]]:
    return h.rep(many.space)


@fun(S, T)
def all_kinds(
    h: Expr[Vector[State]], x: Expr[Copower[Vector[State], Fin[Time]]]
) -> Expr[Scalar]:
    reveal_type(fold(added, h, x))  # N: Expr[Vector[State]]
    reveal_type(fold(shown, h, x))  # N: tuple[Expr[Vector[State]], Expr[Vector[Time]]]
    two = fold(swapped_with, (h, h), x)
    reveal_type(two)  # N: tuple[Expr[Vector[State]], Expr[Vector[State]]]
    reveal_type(iterate(halved, h, time))  # N: Expr[Vector[State]]
    reveal_type(iterate(norm_too, h, time))  # N: tuple[Expr[Vector[State]], Expr[Vector[Time]]]
    turned = iterate(swapped, (h, h), time)
    reveal_type(turned)  # N: tuple[Expr[Vector[State]], Expr[Vector[State]]]
    (_, last), norms = iterate(swapped_and_shown, (h, h), time)
    reveal_type(last)  # N: Expr[Vector[State]]
    reveal_type(norms)  # N: Expr[Vector[Time]]
    reveal_type(while_(lambda v: v @ v > 1.0, halved, h))  # N: Expr[Vector[State]]
    pair = while_(is_large, swapped, (h, h))
    reveal_type(pair)  # N: tuple[Expr[Vector[State]], Expr[Vector[State]]]
    reveal_type(again(halved, h))  # N: Expr[Vector[State]]
    reveal_type(again(added, h, s))  # N: Expr[Vector[State]]
    reveal_type(again(lambda a, b, c: a + b + c, h, s, h))  # N: Expr[Vector[State]]
    reveal_type(each(halved, x))  # N: Expr[Copower[Vector[State], Fin[Time]]]
    reveal_type(each(norm_too, x))  # N: tuple[Expr[Copower[Vector[State], Fin[Time]]], Expr[Vector[Time]]]
    reveal_type(each(added, x, xs))  # N: Expr[Copower[Vector[State], Fin[Time]]]
    reveal_type(each(inner, xs, x))  # N: Expr[Vector[Time]]
    reveal_type(each(lambda a, b, c: a @ b + b @ c, x, xs, x))  # N: Expr[Vector[Time]]
    reveal_type(each(lambda a, b, c: a @ b + b @ c, xs, x, xs))  # N: Expr[Vector[Time]]
    reveal_type(each(lambda a, b, c: a @ b + b @ c, xs, xs, x))  # N: Expr[Vector[Time]]
    reveal_type(each(lambda a, b, c, d: a @ b + c @ d, x, xs, x, xs))  # N: Expr[Vector[Time]]
    reveal_type(each(lambda a, b, c, d: a @ b + c @ d, xs, x, xs, x))  # N: Expr[Vector[Time]]
    reveal_type(each(lambda a, b, c, d: a @ b + c @ d, xs, xs, x, xs))  # N: Expr[Vector[Time]]
    reveal_type(each(lambda a, b, c, d: a @ b + c @ d, xs, xs, xs, x))  # N: Expr[Vector[Time]]
    reveal_type(fixed_point(lambda v: 0.5 * v + h, h))  # N: Expr[Vector[State]]
    fixed = fixed_point(swapped, (h, h))
    reveal_type(fixed)  # N: tuple[Expr[Vector[State]], Expr[Vector[State]]]
    reveal_type(root(lambda v: v - h, h))  # N: Expr[Vector[State]]
    reveal_type(root(lambda v: v - h, const(h.space.zeros())))  # N: Expr[Vector[State]]
    both = root(swapped, (h, h))
    reveal_type(both)  # N: tuple[Expr[Vector[State]], Expr[Vector[State]]]
    joined = root(lambda p: p[0] - h, (h,))
    reveal_type(joined)  # N: tuple[Expr[Vector[State]]]
    reveal_type(over_batch(h, many))  # N: Expr[Vector[Batch]]
    reveal_type(over_batch(s, lanes(h)))  # N: Expr[Vector[Batch]]
    return h @ h


def main() -> None:
    reveal_type(fold(added, s, xs))  # N: Vec[Vector[State]]
    reveal_type(fold(shown, s, xs))  # N: tuple[Vec[Vector[State]], Vec[Vector[Time]]]
    reveal_type(iterate(halved, s, time))  # N: Vec[Vector[State]]
    reveal_type(iterate(norm_too, s, time))  # N: tuple[Vec[Vector[State]], Vec[Vector[Time]]]
    reveal_type(while_(lambda v: v @ v > 1.0, halved, s))  # N: Vec[Vector[State]]
    reveal_type(again(halved, s))  # N: Vec[Vector[State]]
    reveal_type(again(added, s, s))  # N: Vec[Vector[State]]
    reveal_type(each(halved, xs))  # N: Vec[Copower[Vector[State], Fin[Time]]]
    reveal_type(each(added, xs, xs))  # N: Vec[Copower[Vector[State], Fin[Time]]]
    reveal_type(each(lambda a, b, c: a @ b + b @ c, xs, xs, xs))  # N: Vec[Vector[Time]]
    reveal_type(each(lambda a, b, c, d: a @ b + c @ d, xs, xs, xs, xs))  # N: Vec[Vector[Time]]
    reveal_type(fixed_point(halved, s))  # N: Vec[Vector[State]]
    reveal_type(root(halved, s))  # N: Vec[Vector[State]]
    reveal_type(over_batch(s, many))  # N: Vec[Vector[Batch]]
    assert float(all_kinds(s, xs)) == 3.0
