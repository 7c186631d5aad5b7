"""Loops whose rounds give several outputs, of one state or of several."""

from typing import reveal_type

from diff import Expr, fold, fun, iterate, register
from hilbert import Fin, R, Scalar, Vector


class Time: ...


class State: ...


time, state = Fin(Time, 4), Fin(State, 3)
step = register("model_step", lambda xp, x: xp.floor(x), lambda x, y: 0)


@fun(R, R**time)
def pairs(s: Expr[Scalar], xs: Expr[Vector[Time]]) -> Expr[Scalar]:
    last, (products, items) = fold(lambda s, x: (s + x, (s * x, x)), s, xs)
    reveal_type(products)  # N: Expr[Vector[Time]]
    return last + products @ step(items)


@fun(R, R**state, R**time)
def triples(
    s: Expr[Scalar], v: Expr[Vector[State]], xs: Expr[Vector[Time]]
) -> Expr[Scalar]:
    _, (sums, states, items) = fold(
        lambda s, x: (s + x, (s * x, s * v, x)), s, xs, reverse=True
    )
    return sums @ items + states.sum()


@fun(R, R**state, R**time)
def of_two_states(
    s: Expr[Scalar], v: Expr[Vector[State]], xs: Expr[Vector[Time]]
) -> Expr[Scalar]:
    (end, _), (numbers, vectors) = fold(
        lambda s, x: ((s[0] + x, s[1] * x), (s[0] * 1.0, s[1])), (s, v), xs
    )
    return end + numbers.sum() + vectors.sum()


@fun(R)
def rounds(s: Expr[Scalar]) -> Expr[Scalar]:
    last, (values, squares) = iterate(lambda s: (s * 0.5, (s, s * s)), s, time)
    reveal_type(squares)  # N: Expr[Vector[Time]]
    return last + values @ squares


def main() -> None:
    xs, v = (R**time).vec([1.0, 2.0, 3.0, 4.0]), (R**state).ones()
    assert float(pairs(R.vec(1.0), xs)) == 168.0
    assert float(triples(R.vec(1.0), v, xs)) == 175.0
    assert float(of_two_states(R.vec(1.0), v, xs)) == 11 + 14 + 30
    assert float(rounds(R.vec(1.0))) == 0.0625 + 1 + 1 / 8 + 1 / 64 + 1 / 512
