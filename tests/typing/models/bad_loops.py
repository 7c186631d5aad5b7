"""Loops, lanes and conditions whose spaces do not fit."""

from diff import Expr, again, batched, each, fixed_point, fold, fun, inner, iterate, root, tanh, where, while_
from hilbert import Bool, Boolean, Copower, Fin, R, Scalar, Vector


class State: ...


class Input: ...


class Time: ...


class Batch: ...


state, source, time = Fin(State, 3), Fin(Input, 2), Fin(Time, 4)
S, X = R**state, R**source
HERE, GIVEN = S.zeros(), X.zeros()


class Rounds:
    @staticmethod
    def step(h: Expr[Vector[State]], x: Expr[Vector[Input]]) -> Expr[Vector[State]]:
        return (h + HERE) * (x @ GIVEN)

    @staticmethod
    def into_input(h: Expr[Vector[State]], x: Expr[Vector[Input]]) -> Expr[Vector[Input]]:
        return (x + GIVEN) * (h @ HERE)

    @staticmethod
    def square(h: Expr[Vector[State]]) -> Expr[Vector[State]]:
        return tanh(h + HERE)

    @staticmethod
    def length(h: Expr[Vector[State]]) -> Expr[Scalar]:
        return h @ h


over_batches = batched(fun(R**source, R**source)(inner), Batch)


def bad_vector() -> None:
    fun(X, X**time)(lambda x, xs: fold(Rounds.step, x, xs))  # E: arg-type


def bad_matrix() -> None:
    fun(R ** (state * state), X**time)(lambda w, xs: fold(Rounds.step, w, xs))  # E: arg-type


def bad_nested() -> None:
    fun(S, S**time)(lambda h, xs: fold(Rounds.step, h, xs))  # E: arg-type


def bad_result() -> None:
    fun(S, X**time)(lambda h, xs: fold(Rounds.into_input, h, xs))  # E: arg-type


def bad_stack() -> None:
    fun(S)(lambda h: fold(Rounds.step, h, h))  # E: arg-type


def bad_iterate() -> None:
    fun(S)(lambda h: iterate(Rounds.length, h, time))  # E: arg-type


def bad_start() -> None:
    fun(X)(lambda x: iterate(Rounds.square, x, time))  # E: arg-type


def bad_rounds() -> None:
    fun(S)(lambda h: iterate(Rounds.square, h, 5))  # E: call-overload


def bad_lanes() -> None:
    fun(X**time)(lambda xs: each(Rounds.square, xs))  # E: arg-type


def bad_lane() -> None:
    fun(R)(lambda h: each(Rounds.length, h))  # E: arg-type


def bad_again() -> None:
    fun(X)(lambda x: again(Rounds.square, x))  # E: arg-type


def bad_mask() -> None:
    fun(Copower(Bool, state), S)(lambda c, h: where(c, lambda: h, lambda: h))  # E: arg-type


def bad_branches() -> None:
    def body(c: Expr[Boolean], h: Expr[Vector[State]], x: Expr[Vector[Input]]) -> Expr[Vector[State]]:
        return where(c, lambda: h, lambda: x)  # E: arg-type, return-value

    fun(Bool, S, X)(body)


def bad_values() -> None:
    def body(
        c: Expr[Copower[Boolean, Fin[State]]], h: Expr[Vector[State]], x: Expr[Vector[Input]]
    ) -> Expr[Vector[State]]:
        return where(c, h, x)  # E: arg-type

    fun(Copower(Bool, state), S, X)(body)


def bad_condition() -> None:
    fun(S)(lambda h: where(h, h, h))  # E: arg-type


def bad_batch() -> None:
    over_batches((R**source).zeros(), ((R**source) ** time).zeros())  # E: arg-type


def bad_fixed_point() -> None:
    fun(S)(lambda h: fixed_point(Rounds.length, h))  # E: arg-type


def bad_point() -> None:
    fun(X)(lambda x: fixed_point(Rounds.square, x))  # E: arg-type


def bad_root() -> None:
    fun(X)(lambda x: root(Rounds.square, x))  # E: arg-type


def bad_while() -> None:
    fun(S)(lambda h: while_(Rounds.length, Rounds.square, h))  # E: arg-type
