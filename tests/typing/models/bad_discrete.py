"""Arithmetic on discrete values: elements of index sets, truth values, integers, direct sums with such a part."""

from diff import Expr, fun, inner, outer, select
from hilbert import Bool, Elements, Fin, R, Vector, Z, direct_sum


class A: ...


class Batch: ...


a, batch = Fin(A, 3), Fin(Batch, 2)
X, E, M = R**a, Elements(a), R ** (a * batch)
Pair = direct_sum(X, E)
e, t, n, p, x = E.vec(1), Bool.vec(data=True), Z.vec(3), Pair.vec(([1.0, 2.0, 3.0], 0)), X.zeros()


def bad_vector() -> None:
    e + e  # E: misc, operator


def bad_matrix() -> None:
    fun(M, E)(lambda m, i: m * i)  # E: operator


def bad_nested() -> None:
    fun(direct_sum(X, direct_sum(R, E)))(lambda q: 2.0 * q[1])  # E: arg-type, operator, return-value


def bad_difference() -> None:
    t - t  # E: misc, operator


def bad_multiple() -> None:
    2.0 * n  # E: operator


def bad_quotient() -> None:
    n / 2.0  # E: operator


def bad_negative() -> None:
    -e  # E: misc


def bad_norm() -> None:
    e.norm()  # E: misc


def bad_inner() -> None:
    e.inner(e)  # E: arg-type, misc


def bad_tensor() -> None:
    e.tensor(x)  # E: misc


def bad_tensor_with() -> None:
    x.tensor(e)  # E: type-var


def bad_pair() -> None:
    p + p  # E: misc


def bad_pair_multiple() -> None:
    p * 2.0  # E: operator


def bad_zeros() -> None:
    E.zeros()  # E: misc


def bad_zeros_of_truth_values() -> None:
    Bool.zeros()  # E: misc


def bad_zeros_of_a_part() -> None:
    Pair.zeros()  # E: misc


def bad_basis() -> None:
    list(direct_sum(E, R).basis())  # E: misc


def bad_sum() -> None:
    fun(E)(lambda i: i + i)  # E: misc, operator


def bad_number() -> None:
    fun(E)(lambda i: i + 1.0)  # E: arg-type, operator, return-value


def bad_from_the_right() -> None:
    fun(E)(lambda i: 1.0 - i)  # E: arg-type, operator, return-value


def bad_scalar() -> None:
    fun(E, R)(lambda i, k: k * i)  # E: operator


def bad_scalar_from_the_right() -> None:
    fun(E, R)(lambda i, k: i * k)  # E: operator


def bad_power() -> None:
    fun(E)(lambda i: i**2.0)  # E: operator


def bad_reciprocal() -> None:
    fun(E)(lambda i: 1.0 / i)  # E: arg-type, operator, return-value


def bad_condition() -> None:
    fun(X)(lambda x: -(x @ x > 0.0))  # E: misc


def bad_sum_of_parts() -> None:
    fun(Pair)(lambda q: q + q)  # E: misc, operator


def bad_constant() -> None:
    fun(E)(lambda i: i + e)  # E: misc, operator


def bad_vector_and_element() -> None:
    x + e  # E: operator


def bad_inner_of_elements() -> None:
    fun(E, E)(lambda i, j: inner(i, j))  # E: type-var


def bad_body() -> None:
    @fun(X, E)
    def _(v: Expr[Vector[A]], i: Expr[Elements[Fin[A]]]) -> Expr[Vector[A]]:
        return select(v > 0.0, v) * i  # E: operator


def bad_square() -> None:
    e * e  # E: misc, operator


def bad_exponent() -> None:
    n**2  # E: operator


def bad_number_more() -> None:
    p + 1.0  # E: operator


def bad_number_less() -> None:
    1.0 - e  # E: operator


def bad_number_by() -> None:
    1.0 / n  # E: operator


def bad_ratio() -> None:
    n / n  # E: misc, operator


def bad_entries() -> None:
    e.sum()  # E: arg-type


def bad_mean_of_parts() -> None:
    p.mean()  # E: arg-type


def bad_entries_in_a_body() -> None:
    fun(E)(lambda i: i.sum())  # E: arg-type


def bad_ones() -> None:
    E.ones()  # E: misc


def bad_full() -> None:
    Pair.full(2.0)  # E: misc


def bad_inner_of_vectors() -> None:
    inner(e, e)  # E: type-var


def bad_outer() -> None:
    outer(x, n)  # E: type-var


def bad_selection() -> None:
    select(t, e)  # E: type-var
