"""A recurrent network by fold: the state is a vector, or several; lanes, conditions, parts that are computed again."""

from typing import reveal_type

import numpy as np

from adjoint import grad
from diff import (
    Expr,
    again,
    batched,
    build,
    each,
    fixed_point,
    fold,
    fun,
    inner,
    iterate,
    log,
    root,
    tanh,
    where,
    while_,
)
from hilbert import Copower, Fin, Matrix, R, Scalar, Vector


class State: ...


class Input: ...


class Time: ...


state, source, time = Fin(State, 3), Fin(Input, 2), Fin(Time, 4)
S, X = R**state, R**source
HERE = S.zeros()


@fun(R ** (state * state), R ** (state * source), S, X**time)
def final(
    a: Expr[Matrix[State, State]],
    b: Expr[Matrix[State, Input]],
    h: Expr[Vector[State]],
    xs: Expr[Copower[Vector[Input], Fin[Time]]],
) -> Expr[Scalar]:
    def step(h: Expr[Vector[State]], x: Expr[Vector[Input]]) -> Expr[Vector[State]]:
        return tanh(a @ h + b @ x)

    def with_output(
        h: Expr[Vector[State]], x: Expr[Vector[Input]]
    ) -> tuple[Expr[Vector[State]], Expr[Scalar]]:
        return tanh(a @ h + b @ x), x @ x

    x0 = xs.sum(over=time)
    last = fold(step, h, xs)
    reveal_type(last)  # N: Expr[Vector[State]]
    end, norms = fold(with_output, h, xs, reverse=True, checkpoint=True)
    reveal_type(norms)  # N: Expr[Vector[Time]]
    masked = fold(
        lambda s, x, c: where(c, lambda: tanh(a @ s + b @ x), lambda: s), h, xs, norms > 0
    )
    reveal_type(masked)  # N: Expr[Vector[State]]
    _, weighted = fold(lambda s, x, k: (s + b @ x, k * x), h, xs, norms)
    reveal_type(weighted)  # N: Expr[Copower[Vector[Input], Fin[Time]]]
    many = iterate(lambda s: tanh(a @ s), h, time)
    reveal_type(many)  # N: Expr[Vector[State]]
    (one, two), _ = fold(
        lambda s, x: ((s[1], tanh(b @ x)), s[0]), (last, end), xs
    )
    reveal_type(two)  # N: Expr[Vector[State]]
    rows = each(lambda x: b @ x, xs)
    reveal_type(rows)  # N: Expr[Copower[Vector[State], Fin[Time]]]
    table = build(lambda t: xs[t] @ xs[t], time)
    reveal_type(table)  # N: Expr[Vector[Time]]
    kept = again(lambda x: tanh(a @ x), many)
    reveal_type(kept)  # N: Expr[Vector[State]]
    guarded = where(norms.sum() > 0, lambda: log(norms).sum(), lambda: norms.sum())
    reveal_type(guarded)  # N: Expr[Field]
    chosen = where(norms > table, norms, table)
    reveal_type(chosen)  # N: Expr[Vector[Time]]
    settled = fixed_point(lambda x: 0.1 * tanh(a @ x) + many, many)
    reveal_type(settled)  # N: Expr[Vector[State]]
    zero = root(lambda x: x * x * x + x - settled, settled)
    reveal_type(zero)  # N: Expr[Vector[State]]
    first, second = root(
        lambda s: (s[0] - s[1].sum() * many, s[1] - x0), (zero, x0)
    )
    reveal_type(second)  # N: Expr[Vector[Input]]
    small = while_(lambda s: s @ s > 1.0, lambda s: 0.5 * s, first)
    reveal_type(small)  # N: Expr[Vector[State]]
    return one @ two + kept @ kept + guarded + chosen.sum() + rows.sum()


class Batch: ...


per_sample = fun(X, X)(inner)
over_batches = batched(per_sample, Batch)


def main() -> None:
    p = final.dom.random(np.random.default_rng(0))
    gradient = grad(final)(p)
    reveal_type(gradient[2])  # N: Vec[Vector[State]]
    values = over_batches(X.zeros(), (X ** Fin(Batch, 5)).zeros())
    reveal_type(values)  # N: Vec[Vector[Batch]]
    total = fold(lambda s, x: s + x, X.zeros(), (X**time).zeros())
    reveal_type(total)  # N: Vec[Vector[Input]]
    paired = fold(lambda s, x, k: s + k * x, X.zeros(), (X**time).zeros(), (R**time).zeros())
    reveal_type(paired)  # N: Vec[Vector[Input]]
    _, halves = fold(lambda s, x, k: (s + k * x, 0.5 * k), X.zeros(), (X**time).zeros(), (R**time).zeros())
    reveal_type(halves)  # N: Vec[Vector[Time]]
    (both, products), seen = fold(
        lambda s, x: ((s[0] + x, s[1] * x), s[0] @ x), (X.zeros(), X.ones()), (X**time).zeros()
    )
    reveal_type(products)  # N: Vec[Vector[Input]]
    reveal_type(seen)  # N: Vec[Vector[Time]]
    sums, _ = fold(lambda s, x: (s[0] + x, s[1] * x), (X.zeros(), X.ones()), (X**time).zeros())
    reveal_type(sums)  # N: Vec[Vector[Input]]
    _, turned = iterate(lambda s: (s[1], s[0] + s[1]), (X.zeros(), X.zeros()), time)
    reveal_type(turned)  # N: Vec[Vector[Input]]
    (_, _), norms = iterate(lambda s: ((s[0], 0.5 * s[1]), s[1] @ s[1]), (X.zeros(), S.zeros()), time)
    reveal_type(norms)  # N: Vec[Vector[Time]]
    nearer = where(total @ total > 1.0, lambda: total, lambda: 2.0 * total)
    reveal_type(nearer)  # N: Vec[Vector[Input]]
    pair = where(total @ total > 1.0, lambda: (total, both), lambda: (both, total))
    reveal_type(pair)  # N: tuple[Vec[Vector[Input]], Vec[Vector[Input]]]
    table = (R ** (state * source)).zeros()
    rows = each(lambda r: r.sum(), table, over=state)
    reveal_type(rows)  # N: Vec[Vector[State]]
    scaled = each(lambda r: 2.0 * r, table, over=state)
    reveal_type(scaled)  # N: Vec[Matrix[State, Input]]
    norms_of = fun(table.space)(lambda a: each(lambda r: r @ r, a, over=state))
    reveal_type(norms_of)  # N: Map[Matrix[State, Input], Vector[State]]
    traced = fun(table.space, S)(lambda a, h: where(h @ h > 0.0, lambda: norms_of(a), lambda: HERE))
    reveal_type(traced)  # N: Map[DirectSum[Matrix[State, Input], Vector[State]], Vector[State]]
    softened = fun(table.space)(lambda a: each(lambda r: r.softmax(), a, over=state))
    reveal_type(softened)  # N: Map[Matrix[State, Input], Matrix[State, Input]]
    along_rows = fold(lambda s, r: s + r, X.zeros(), table.rows())
    reveal_type(along_rows)  # N: Vec[Vector[Input]]
    traced_rows = fun(table.space)(lambda a: fold(lambda s, r: s + r, X.zeros(), a.rows()))
    reveal_type(traced_rows)  # N: Map[Matrix[State, Input], Vector[Input]]
    squares = each(lambda r: (r * r, r.sum()), table, over=state)
    reveal_type(squares)  # N: Any
    products_of_rows = each(inner, table, table, over=state)
    reveal_type(products_of_rows)  # N: Any
    half = fixed_point(lambda s: 0.5 * s, total)
    reveal_type(half)  # N: Vec[Vector[Input]]


if __name__ == "__main__":
    main()
