"""Methods along the axes of tables of one to four axes and of nested copowers, of vectors and of expressions."""

from typing import Any, reveal_type

from diff import Expr, fun
from hilbert import R32, Bool, Boolean, Copower, Elements, Fin, Integers, Matrix, Product, R, Scalar, Vector, direct_sum
from hilbert import Z as Whole


class Alpha: ...


class Beta: ...


class Gamma: ...


class Delta: ...


a, b, c, d = Fin(Alpha, 3), Fin(Beta, 2), Fin(Gamma, 5), Fin(Delta, 2)
K, V, W, M = R.vec(1.0), (R**a).ones(), (R**b).ones(), (R ** (a * b)).ones()
T, Q, N = (R ** (a * b * c)).ones(), (R ** (a * b * c * d)).ones(), ((R**b) ** a).ones()
Z, O, E = Whole.vec(1), Bool.vec(True), Elements(a).vec(1)  # noqa: FBT003
ZS, OS, ES = (Whole**a).vec([1, 2, 3]), V > 0.0, (Elements(a) ** a).vec([2, 1, 0])


def of_expressions(
    k: Expr[Scalar],
    v: Expr[Vector[Alpha]],
    w: Expr[Vector[Beta]],
    m: Expr[Matrix[Alpha, Beta]],
    n: Expr[Copower[Vector[Beta], Fin[Alpha]]],
    z: Expr[Integers],
    o: Expr[Boolean],
    e: Expr[Elements[Fin[Alpha]]],
    t: Expr[Copower[Scalar, Product[Product[Fin[Alpha], Fin[Beta]], Fin[Gamma]]]],
    q: Expr[Copower[Scalar, Product[Product[Product[Fin[Alpha], Fin[Beta]], Fin[Gamma]], Fin[Delta]]]],
    zs: Expr[Copower[Integers, Fin[Alpha]]],
    os: Expr[Copower[Boolean, Fin[Alpha]]],
    es: Expr[Copower[Elements[Fin[Alpha]], Fin[Alpha]]],
) -> Expr[Scalar]:
    reveal_type(v.sum())  # N: Expr[Field]
    reveal_type(q.sum(a))  # N: Expr[Any]
    reveal_type(t.sum(a))  # N: Expr[Matrix[Beta, Gamma]]
    reveal_type(t.sum(b))  # N: Expr[Matrix[Alpha, Gamma]]
    reveal_type(t.sum(c))  # N: Expr[Matrix[Alpha, Beta]]
    reveal_type(t.sum(2))  # N: Expr[Matrix[Alpha, Beta]]
    reveal_type(m.sum(a))  # N: Expr[Vector[Beta]]
    reveal_type(m.sum(b))  # N: Expr[Vector[Alpha]]
    reveal_type(n.sum(b))  # N: Expr[Vector[Alpha]]
    reveal_type(n.sum(a))  # N: Expr[Vector[Beta]]
    reveal_type(v.sum(a))  # N: Expr[Field]
    reveal_type(q.argmax(a))  # N: Expr[Any]
    reveal_type(t.argmax(a))  # N: Expr[Copower[Elements[Fin[Alpha]], Product[Fin[Beta], Fin[Gamma]]]]
    reveal_type(t.argmax(b))  # N: Expr[Copower[Elements[Fin[Beta]], Product[Fin[Alpha], Fin[Gamma]]]]
    reveal_type(t.argmax(c))  # N: Expr[Copower[Elements[Fin[Gamma]], Product[Fin[Alpha], Fin[Beta]]]]
    reveal_type(t.argmax(2))  # N: Expr[Copower[Elements[Fin[Gamma]], Product[Fin[Alpha], Fin[Beta]]]]
    reveal_type(m.argmax(a))  # N: Expr[Copower[Elements[Fin[Alpha]], Fin[Beta]]]
    reveal_type(m.argmax(b))  # N: Expr[Copower[Elements[Fin[Beta]], Fin[Alpha]]]
    reveal_type(n.argmax(b))  # N: Expr[Copower[Elements[Fin[Beta]], Fin[Alpha]]]
    reveal_type(n.argmax(a))  # N: Expr[Copower[Elements[Fin[Alpha]], Fin[Beta]]]
    reveal_type(v.argmax())  # N: Expr[Elements[Fin[Alpha]]]
    reveal_type(v.argsort())  # N: Expr[Copower[Elements[Fin[Alpha]], Fin[Alpha]]]
    reveal_type(m.argsort(a))  # N: Expr[Any]
    reveal_type(v.top(2))  # N: Expr[Copower[Elements[Fin[Alpha]], Fin[Anonymous]]]
    reveal_type(v.top(2, to=b))  # N: Expr[Copower[Elements[Fin[Alpha]], Fin[Beta]]]
    reveal_type(m.top(2, a))  # N: Expr[Any]
    reveal_type(k.equals(k))  # N: Expr[Boolean]
    reveal_type(z.equals(z))  # N: Expr[Boolean]
    reveal_type(o.equals(o))  # N: Expr[Boolean]
    reveal_type(e.equals(e))  # N: Expr[Boolean]
    reveal_type(v.equals(v))  # N: Expr[Copower[Boolean, Fin[Alpha]]]
    reveal_type(zs.equals(zs))  # N: Expr[Copower[Boolean, Fin[Alpha]]]
    reveal_type(os.equals(os))  # N: Expr[Copower[Boolean, Fin[Alpha]]]
    reveal_type(es.equals(es))  # N: Expr[Copower[Boolean, Fin[Alpha]]]
    reveal_type(n.equals(n))  # N: Expr[Copower[Copower[Boolean, Fin[Beta]], Fin[Alpha]]]
    reveal_type((n > 0.0).cast(R))  # N: Expr[Copower[Vector[Beta], Fin[Alpha]]]
    reveal_type(os.cast(R))  # N: Expr[Vector[Alpha]]
    reveal_type(o.cast(R))  # N: Expr[Field]
    reveal_type(v.cast(R32))  # N: Expr[Vector[Alpha]]
    reveal_type(v.crop(0, 2))  # N: Expr[Vector[Anonymous]]
    reveal_type(v.crop(0, 2, to=b))  # N: Expr[Vector[Beta]]
    reveal_type(v.concatenate(w))  # N: Expr[Copower[Field, Coproduct[Fin[Alpha], Fin[Beta]]]]
    reveal_type(v.concatenate(w, to=c))  # N: Expr[Vector[Gamma]]
    reveal_type(m.transpose())  # N: Expr[Matrix[Beta, Alpha]]
    reveal_type(m.transpose(b * a))  # N: Expr[Matrix[Beta, Alpha]]
    return k


def of_vectors() -> None:
    reveal_type(V.sum())  # N: Vec[Field]
    reveal_type(Q.sum(a))  # N: Vec[Any]
    reveal_type(T.sum(a))  # N: Vec[Matrix[Beta, Gamma]]
    reveal_type(T.sum(b))  # N: Vec[Matrix[Alpha, Gamma]]
    reveal_type(T.sum(c))  # N: Vec[Matrix[Alpha, Beta]]
    reveal_type(T.sum(2))  # N: Vec[Matrix[Alpha, Beta]]
    reveal_type(M.sum(a))  # N: Vec[Vector[Beta]]
    reveal_type(M.sum(b))  # N: Vec[Vector[Alpha]]
    reveal_type(N.sum(b))  # N: Vec[Vector[Alpha]]
    reveal_type(N.sum(a))  # N: Vec[Vector[Beta]]
    reveal_type(V.sum(a))  # N: Vec[Field]
    reveal_type(Q.argmax(a))  # N: Vec[Any]
    reveal_type(T.argmax(a))  # N: Vec[Copower[Elements[Fin[Alpha]], Product[Fin[Beta], Fin[Gamma]]]]
    reveal_type(T.argmax(b))  # N: Vec[Copower[Elements[Fin[Beta]], Product[Fin[Alpha], Fin[Gamma]]]]
    reveal_type(T.argmax(c))  # N: Vec[Copower[Elements[Fin[Gamma]], Product[Fin[Alpha], Fin[Beta]]]]
    reveal_type(T.argmax(2))  # N: Vec[Copower[Elements[Fin[Gamma]], Product[Fin[Alpha], Fin[Beta]]]]
    reveal_type(M.argmax(a))  # N: Vec[Copower[Elements[Fin[Alpha]], Fin[Beta]]]
    reveal_type(M.argmax(b))  # N: Vec[Copower[Elements[Fin[Beta]], Fin[Alpha]]]
    reveal_type(N.argmax(b))  # N: Vec[Copower[Elements[Fin[Beta]], Fin[Alpha]]]
    reveal_type(N.argmax(a))  # N: Vec[Copower[Elements[Fin[Alpha]], Fin[Beta]]]
    reveal_type(V.argmax())  # N: Vec[Elements[Fin[Alpha]]]
    reveal_type(V.argsort())  # N: Vec[Copower[Elements[Fin[Alpha]], Fin[Alpha]]]
    reveal_type(M.argsort(a))  # N: Vec[Any]
    reveal_type(V.top(2))  # N: Vec[Copower[Elements[Fin[Alpha]], Fin[Anonymous]]]
    reveal_type(V.top(2, to=b))  # N: Vec[Copower[Elements[Fin[Alpha]], Fin[Beta]]]
    reveal_type(M.top(2, a))  # N: Vec[Any]
    reveal_type(K.equals(K))  # N: Vec[Boolean]
    reveal_type(Z.equals(Z))  # N: Vec[Boolean]
    reveal_type(O.equals(O))  # N: Vec[Boolean]
    reveal_type(E.equals(E))  # N: Vec[Boolean]
    reveal_type(V.equals(V))  # N: Vec[Copower[Boolean, Fin[Alpha]]]
    reveal_type(ZS.equals(ZS))  # N: Vec[Copower[Boolean, Fin[Alpha]]]
    reveal_type(OS.equals(OS))  # N: Vec[Copower[Boolean, Fin[Alpha]]]
    reveal_type(ES.equals(ES))  # N: Vec[Copower[Boolean, Fin[Alpha]]]
    reveal_type(N.equals(N))  # N: Vec[Copower[Copower[Boolean, Fin[Beta]], Fin[Alpha]]]
    reveal_type((N > 0.0).cast(R))  # N: Vec[Copower[Vector[Beta], Fin[Alpha]]]
    reveal_type(OS.cast(R))  # N: Vec[Vector[Alpha]]
    reveal_type(O.cast(R))  # N: Vec[Field]
    reveal_type(V.cast(R32))  # N: Vec[Vector[Alpha]]
    reveal_type(V.crop(0, 2))  # N: Vec[Vector[Anonymous]]
    reveal_type(V.crop(0, 2, to=b))  # N: Vec[Vector[Beta]]
    reveal_type(V.concatenate(W))  # N: Vec[Copower[Field, Coproduct[Fin[Alpha], Fin[Beta]]]]
    reveal_type(V.concatenate(W, to=c))  # N: Vec[Vector[Gamma]]
    reveal_type(M.transpose())  # N: Vec[Matrix[Beta, Alpha]]
    reveal_type(M.transpose(b * a))  # N: Vec[Matrix[Beta, Alpha]]


def main() -> None:
    pairs = direct_sum(R**a, R)
    reveal_type(pairs.ones().cast(R32))  # N: Vec[DirectSum[Vector[Alpha], Field]]
    single = fun(pairs)(lambda p: p.cast(R32))
    reveal_type(single)  # N: Map[DirectSum[Vector[Alpha], Field], DirectSum[Vector[Alpha], Field]]
    of_vectors()
    values = (K, V, W, M, N, Z, O, E, T, Q, ZS, OS, ES)
    traced: Any = fun  # of more spaces than it has types for
    made = traced(*(v.space for v in values))(of_expressions)
    assert made.cod == R


def of_norms() -> None:
    reveal_type(V.norm())  # N: float
    reveal_type(Q.norm(a))  # N: Vec[Any]
    reveal_type(T.norm(a))  # N: Vec[Matrix[Beta, Gamma]]
    reveal_type(T.norm(b))  # N: Vec[Matrix[Alpha, Gamma]]
    reveal_type(T.norm(c))  # N: Vec[Matrix[Alpha, Beta]]
    reveal_type(T.norm(2))  # N: Vec[Matrix[Alpha, Beta]]
    reveal_type(M.norm(a))  # N: Vec[Vector[Beta]]
    reveal_type(M.norm(b))  # N: Vec[Vector[Alpha]]
    reveal_type(N.norm(b))  # N: Vec[Vector[Alpha]]
    reveal_type(N.norm(a))  # N: Vec[Vector[Beta]]
    reveal_type(V.norm(a))  # N: Vec[Field]
