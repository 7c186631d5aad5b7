# ruff: noqa: E501 - a row for each program
"""Programs of KS-Lisp: parameters and body of f, what numpy says of its value, and two points."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def softmax_sum(v: Any) -> Any:
    return np.log(np.sum(np.exp(v)))


def convolved(k: Any, m: Any) -> Any:
    return np.array(
        [
            [sum(k[a] * m[i + a, j] for a in range(len(k))) for j in range(m.shape[1])]
            for i in range(len(m) - len(k) + 1)
        ]
    )


def recurrent(w: Any, v: Any) -> Any:
    s = 0.5
    for x in v:
        s = np.tanh(w * s + x)
    return s


ERF = np.vectorize(math.erf)
A, B = [0.5, -1.25, 2.0], [1.5, 0.25, -0.75]
M, N = [[1.0, 2.0, 0.5], [-1.0, 0.25, 3.0]], [[0.5, 0.5, 1.0], [2.0, -3.0, 1.5]]
PROGRAMS: list[tuple[str, Callable[..., Any] | None, list[list[Any]]]] = [
    ("Float (x : Float) (let (y (mul x x)) (let (z (add x y)) (mul y z)))", lambda x: x**3 + x**4, [[1.5], [-0.5]]),
    ("Float (x : Float) (div (sub (sin x) (cos x)) (exp (neg x)))", lambda x: (np.sin(x) - np.cos(x)) * np.exp(x), [[0.3], [2]]),
    ("Float (x : Float) (add (log x) (mul (sqrt x) (tanh (erf x))))", lambda x: np.log(x) + np.sqrt(x) * np.tanh(math.erf(x)), [[0.3], [2.0]]),
    ("Float (x : Float) (add (abs x) (pow x 3))", lambda x: abs(x) + x**3, [[0.3], [-2.0]]),
    ("Float (x : Float) (add (lgamma x) (digamma x))", None, [[0.3], [2.0]]),
    ("Float ((x : Float) (y : Float)) (max (mul x y) (cosh x))", lambda x, y: max(x * y, np.cosh(x)), [[0.3, 1.0], [2.0, 4.0]]),
    ("(Tuple Float Float) ((x : Float) (y : Float)) (tuple (mul x y) (sub x y))", lambda x, y: (x * y, x - y), [[0.3, 1.0], [2.0, 4.0]]),
    ("Float (p : Tuple Float (Tuple Float Float)) (let ((a b) p) (let ((c d) b) (mul a (add c d))))", lambda a, b: a * sum(b), [[0.3, (1.0, 2.0)], [1.0, (2.0, -1.0)]]),
    ("Float (x : Float) (if (gt x 0.0) (sin x) (cos x))", lambda x: np.sin(x) if x > 0 else np.cos(x), [[0.3], [-2.0]]),
    ("Float (x : Float) (if (and (lt x 1.0) (not (lte x -1.0))) (mul x x) 1.0)", lambda x: x * x if -1 < x < 1 else 1.0, [[0.3], [-2.0]]),
    ("Float (x : Float) (assert (gte x 0.0) (sqrt x))", np.sqrt, [[0.3], [2.0]]),
    ("Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (mul (index i v) (index i v)))))", lambda v: np.sum(v**2), [[A], [B]]),
    ("Float (v : Vec Float) (sumbuild (sub (size v) 1) (lam (i : Integer) (mul (index i v) (index (add i 1) v))))", lambda v: np.sum(v[1:] * v[:-1]), [[A], [B]]),
    ("(Vec Float) (v : Vec Float) (build (size v) (lam (i : Integer) (if (eq i 1) (exp (index i v)) (mul (to_float i) (index i v)))))", lambda v: np.where(np.arange(len(v)) == 1, np.exp(v), np.arange(len(v)) * v), [[A], [B]]),
    ("(Vec Float) (v : Vec Float) (map (lam (x : Float) (if (gt x 0.0) (log x) 0.0)) v)", lambda v: np.array([np.log(x) if x > 0 else 0.0 for x in v]), [[A], [B]]),
    ("(Vec Float) ((v : Vec Float) (w : Vec Float)) (map2 (lam (t : Tuple Float Float) (mul (get$1$2 t) (get$2$2 t))) v w)", lambda v, w: v * w, [[A, B], [B, A]]),
    ("Float (v : Vec Float) (log (sum (exp v)))", softmax_sum, [[A], [B]]),
    ("Float ((v : Vec Float) (w : Vec Float)) (dot v (add w (mul (sub v w) v)))", lambda v, w: v @ (w + (v - w) * v), [[A, B], [B, A]]),
    ("(Vec Float) ((k : Float) (v : Vec Float)) (sub (mul k v) k)", lambda k, v: k * v - k, [[0.5, A], [2.0, B]]),
    ("(Vec Float) ((m : Tensor 2 Float) (v : Vec Float)) (mul m v)", lambda m, v: m @ v, [[M, A], [N, B]]),
    ("(Vec Float) ((m : Vec (Vec Float)) (v : Vec Float)) (mul m v)", lambda m, v: m @ v, [[M, A], [N, B]]),
    ("Float (v : Vec Float) (add (max v) (index (imax v) v))", lambda v: 2 * np.max(v), [[A], [B]]),
    ("Float ((w : Float) (v : Vec Float)) (fold (lam (t : Tuple Float Float) (tanh (add (mul w (get$1$2 t)) (get$2$2 t)))) 0.5 v)", recurrent, [[0.5, A], [-1.0, B]]),
    ("Float (v : Vec Float) (fold (lam (t : Tuple Float Float) (let ((a x) t) (if (gt a x) a x))) -100.0 v)", np.max, [[A], [B]]),
    ("(Vec Float) (v : Vec Float) (fold (lam (t : Tuple (Vec Float) Float) (let ((a x) t) (build (add 1 (size a)) (lam (i : Integer) (if (eq i 0) x (mul x (index (sub i 1) a))))))) (Vec_init 1.0) v)", None, [[A], [B]]),
    ("(Tensor 2 Float) ((k : Vec Float) (m : Tensor 2 Float)) (build (tuple (sub (get$1$2 (size m)) 1) (get$2$2 (size m))) (lam ((i : Integer) (j : Integer)) (sumbuild 2 (lam (a : Integer) (mul (index a k) (index (tuple (add i a) j) m))))))", convolved, [[[0.5, 2.0], M], [[1.0, -1.0], N]]),
    ("Float ((i : Integer) (v : Vec Float)) (if (eq i (size v)) 1.0 (mul (index i v) (f (add i 1) v)))", lambda i, v: np.prod(v[i:]), [[0, A], [1, B]]),
    ("Float (x : Float) (if (lt x 1.0) (mul x x) (f (div x 2.0)))", lambda x: (x / 2 ** max(0, math.floor(math.log2(x)) + 1)) ** 2, [[10.0], [3.0]]),
    ("(Vec (Vec Float)) (v : Vec Float) (build (size v) (lam (i : Integer) (build (add i 1) (lam (j : Integer) (mul (index i v) (index j v))))))", lambda v: [list(v[i] * v[: i + 1]) for i in range(len(v))], [[A], [B]]),
    ("Float (v : Vec (Vec Float)) (sumbuild (size v) (lam (i : Integer) (sum (index i v))))", lambda v: sum(map(sum, v)), [[[[1.0], [2.0, 3.0], []]], [[[1.0, 4.0], []]]]),
    ("(Vec (Tuple Float Float)) (v : Vec Float) (build (size v) (lam (i : Integer) (tuple (index i v) (sin (index i v)))))", lambda v: [(x, np.sin(x)) for x in v], [[A], [B]]),
    ("(Tuple (Vec Float) (Vec Float)) (v : Vec (Tuple Float Float)) (unzip v)", lambda v: (np.array([x for x, _ in v]), np.array([y for _, y in v])), [[[(1.0, 2.0), (3.0, 4.0)]], [[(0.5, 1.0)]]]),
    ("(Vec Float) (x : Float) (deltaVec 4 2 (mul x x))", lambda x: np.array([0, 0, x * x, 0]), [[0.5], [2.0]]),
    ("(Vec Float) (x : Float) (deltaVec 4 7 (mul x x))", lambda _: np.zeros(4), [[0.5], [2.0]]),
    ("(Vec Float) (x : Float) (constVec 3 (exp x))", lambda x: np.full(3, np.exp(x)), [[0.5], [2.0]]),
    ("(Vec Float) (v : Vec Float) (build 3 (lam (i : Integer) (delta i 1 (index i v))))", lambda v: np.array([0, v[1], 0]), [[A], [B]]),
    ("(Vec (Vec Float)) (v : Vec Float) (diag (size v) (size v) (lam (i : Integer) (sin (index i v))))", lambda v: np.diag(np.sin(v)), [[A], [B]]),
    ("(Vec Float) (v : Vec Float) (buildFromSparse 2 (size v) (lam (i : Integer) (tuple (div i 2) (mul (index i v) (index i v)))))", lambda v: np.array([v[0] ** 2 + v[1] ** 2, v[2] ** 2]), [[A], [B]]),
    ("(Tensor 2 Float) (v : Vec Float) (buildFromSparse (tuple 2 2) (size v) (lam (i : Integer) (tuple (tuple (div i 2) 1) (mul (index i v) (index i v)))))", lambda v: np.array([[0.0, v[0] ** 2 + v[1] ** 2], [0.0, v[2] ** 2]]), [[A], [B]]),
    ("(Tuple (Vec Float) (Vec Float)) (v : Vec Float) (buildFromSparseTupled (tuple 2 3) (size v) (lam (i : Integer) (tuple (tuple (div i 2) (index i v)) (tuple i (sin (index i v))))))", lambda v: (np.array([v[0] + v[1], v[2]]), np.sin(v)), [[A], [B]]),
    ("Float (v : Vec Float) (ts_dot (tuple 2.0 v) (tuple 3.0 (ts_scale 2.0 (ts_neg (ts_add v v)))))", lambda v: 6 - 4 * v @ v, [[A], [B]]),
    ("Float (x : Float) ($inline ($copydown (mul x x)))", lambda x: x * x, [[0.5], [2.0]]),
    ("Float (x : Float) (lmApply (lmCompose (lmScale 1.0 x) (lmAdd (lmOne 1.0) (lmScale 1.0 3.0))) (sin x))", lambda x: x * 4 * np.sin(x), [[0.5], [2.0]]),
    ("(Tuple Float Float) (x : Float) (lmApplyR x (lmHCat (lmScale 1.0 3.0) (lmScale 1.0 x)))", lambda x: (3 * x, x * x), [[0.5], [2.0]]),
    ("Float (x : Float) (lmApplyR (tuple x 2.0) (lmVCat (lmScale 1.0 3.0) (lmScale 1.0 x)))", lambda x: 5 * x, [[0.5], [2.0]]),
    ("(Vec Float) (v : Vec Float) (lmApply (lmVCatV (build (size v) (lam (i : Integer) (lmScale 1.0 (index i v))))) (index 0 v))", lambda v: v * v[0], [[A], [B]]),
    ("(Vec Float) (v : Vec Float) (lmApplyR (index 0 v) (lmHCatV (build (size v) (lam (i : Integer) (lmScale 1.0 (index i v))))))", lambda v: v * v[0], [[A], [B]]),
    ("Float (v : Vec Float) (lmApply (lmDot v) (lmApply (lmScaleR v) (index 1 v)))", lambda v: v @ v * v[1], [[A], [B]]),
    ("Float (x : Float) (lmApply (lmTranspose (lmScale 1.0 x)) (lmApply (lmZero x 2.0) x))", lambda _: 0.0, [[0.5], [2.0]]),
    ("Float (x : Float) (mul 2.0 ([rev [sin Float]] x (mul x x)))", lambda x: 2 * np.cos(x) * x * x, [[0.5], [2.0]]),
    ("(Vec Float) (v : Vec Float) (build (size v) (lam (i : Integer) ([fwd [tanh Float]] (index i v) 1.0)))", lambda v: 1 / np.cosh(v) ** 2, [[A], [B]]),
    ("(Tuple Integer Float Bool) ((i : Integer) (x : Float)) (tuple (mul i (size (constVec i x))) (mul (to_float i) (bool_to_float (gt i 1))) (ne i 2))", lambda i, _: (i * i, float(i * (i > 1)), i != 2), [[2, 0.5], [3, 1.0]]),
    # each word of the language once more, in another form
    ("Float ((x : Float) (v : Vec Float)) (let (w (map (lam (y : Float) (mul x (erf y))) v)) (add (max w) (dot w w)))", lambda x, v: max(x * ERF(v)) + sum((x * ERF(v)) ** 2), [[0.5, A], [2.0, B]]),
    ("(Vec Float) ((x : Float) (v : Vec Float)) (map2 (lam ((a : Float) (b : Float)) (max (mul a x) b)) (exp v) (sub v x))", lambda x, v: np.maximum(np.exp(v) * x, v - x), [[0.5, A], [-2.0, B]]),
    ("Float ((i : Integer) (v : Vec Float)) (let (n (neg (sub i (size v)))) (if (and (gte n 0) (or (lte i 2) (not (gt i 1)))) (mul (cosh (index 0 v)) (to_float (mul n i))) (pow (abs (index 1 v)) 2)))", lambda i, v: np.cosh(v[0]) * (len(v) - i) * i if len(v) >= i else abs(v[1]) ** 2, [[1, A], [5, B]]),
    ("Float ((i : Integer) (x : Float)) (if (or (lt (neg i) -3) (gte i 9)) (neg x) (mul x (bool_to_float (lte (mul i 2) 4))))", lambda i, x: -x if i > 3 or i >= 9 else x * (2 * i <= 4), [[5, 0.5], [2, 2.0]]),
    ("(Tuple Float Float) ((x : Float) (y : Float)) (tuple (mul (neg x) (bool_to_float (gte x y))) (if (lte x y) (lgamma (exp y)) (digamma (exp x))))", None, [[0.3, 1.0], [2.0, 0.5]]),
    ("(Vec Float) ((v : Vec Float) (m : Tensor 2 Float) (r : Vec (Vec Float))) (mul 2.0 (sub (add (mul m v) (mul r v)) (mul (mul m v) (mul r v))))", lambda v, m, r: 2 * (m @ v + r @ v - (m @ v) * (r @ v)), [[A, M, N], [B, N, M]]),
    ("Float (v : Vec Float) (mul (index (imax v) (mul v v)) (add (pi) ($ranhashdoub 3)))", None, [[A], [B]]),
    ("Float (x : Float) (sin (mul x (pi)))", lambda x: np.sin(x * np.pi), [[0.3], [2.1]]),
    ("Float (x : Float) (mul x ($ranhashdoub (size (Vec_init x x))))", None, [[0.3], [2.1]]),
    ("(Vec Float) (x : Float) (build 3 (lam (i : Integer) (delta i (sub 2 i) (add x (to_float i)))))", lambda x: np.array([0, x + 1, 0]), [[0.5], [2.0]]),
    ("(Vec (Vec Float)) ((x : Float) (n : Integer)) (diag n 2 (lam (k : Integer) (mul x (to_float (add k 1)))))", lambda x, n: np.eye(n, 2) * [x, 2 * x], [[0.5, 3], [2.0, 2]]),
    ("Float (v : Vec Float) (let ((a b) (unzip (build (size v) (lam (i : Integer) (tuple (sin (index i v)) (if (lt i 9) (index i v) 0.0)))))) (dot a b))", lambda v: np.sin(v) @ v, [[A], [B]]),
    ("Float (v : Vec Float) (let (w (buildFromSparse 3 (size v) (lam (i : Integer) (tuple (sub 2 i) (mul (index i v) 2.0))))) (dot w w))", lambda v: 4 * v @ v, [[A], [B]]),
    ("Float (v : Vec Float) (let ((a b) (buildFromSparseTupled (tuple 3 3) (size v) (lam (i : Integer) (tuple (tuple i (index i v)) (tuple (sub 2 i) (exp (index i v))))))) (dot a b))", lambda v: v @ np.exp(v[::-1]), [[A], [B]]),
    ("(Tuple Float (Vec Float)) ((x : Float) (v : Vec Float)) (ts_add (ts_scale x (tuple x v)) (ts_neg (tuple (ts_dot v v) v)))", lambda x, v: (x * x - v @ v, x * v - v), [[0.5, A], [2.0, B]]),
    ("Float (x : Float) (if (ne (shape (Vec_init x x)) 2) 0.0 ($inline (mul x ($copydown (sin x)))))", lambda x: x * np.sin(x), [[0.5], [2.0]]),
    ("Float ((x : Float) (v : Vec Float)) (if (ne (shape v) 5) (mul x (sum v)) x)", lambda x, v: x * np.sum(v), [[0.5, A], [2.0, B]]),
    ("Float ((x : Float) (y : Float)) (lmApply (lmCompose (lmHCat (lmScale 1.0 x) (lmZero 1.0 1.0)) (lmVCat (lmAdd (lmOne 1.0) (lmScale 1.0 y)) (lmOne 1.0))) (mul x y))", lambda x, y: x * (1 + y) * x * y, [[0.5, 1.0], [2.0, -3.0]]),
    ("(Vec Float) ((x : Float) (v : Vec Float)) (lmApply (lmTranspose (lmCompose (lmDot v) (lmScale v 2.0))) x)", lambda x, v: 2 * x * v, [[0.5, A], [2.0, B]]),
    ("Float (v : Vec Float) (lmApply (lmTranspose (lmVCatV (build 2 (lam (i : Integer) (lmScaleR (index i v)))))) (Vec_init 1.0 (index 0 v)))", lambda v: v[0] + v[1] * v[0], [[A], [B]]),
    ("Float (v : Vec Float) (lmApply (lmHCatV (build (size v) (lam (i : Integer) (lmDot (index i v))))) (sub v 1.0))", lambda v: v @ (v - 1), [[A], [B]]),
    ("Float (v : Vec Float) (sumbuild 2 (lam (i : Integer) (assert (lt i 2) (mul (index i v) (index i v)))))", lambda v: v[:2] @ v[:2], [[A], [B]]),
    ("Float ((i : Integer) (v : Vec Float)) (dot v (deltaVec (size v) (div i 2) (mul (index 1 v) (to_float i))))", lambda i, v: v[i // 2] * v[1] * i, [[5, A], [2, B]]),
    ("(Vec Float) (v : Vec Float) (build (size v) (lam (i : Integer) (mul (to_float (div (mul i i) 2)) (sin (index i v)))))", lambda v: np.array([0, 0, 2]) * np.sin(v), [[A], [B]]),
    ("Float (x : Float) (let ((a b) (if (gt x 0.0) (tuple (sin x) x) (tuple x (mul x x)))) (mul a b))", lambda x: np.sin(x) * x if x > 0 else x**3, [[0.5], [-2.0]]),
    ("Float (x : Float) (let ((a b) (fold (lam (s : Tuple (Tuple Float Float) Float) (let ((t e) s) (let ((p q) t) (tuple (mul p e) (mul q p))))) (tuple x 1.0) (Vec_init x 2.0))) (mul a b))", lambda x: 2 * x**2 * x**3, [[0.5], [-2.0]]),
    ("Float (p : Tuple Float Float) (mul p)", lambda a, b: a * b, [[0.5, -2.0], [1.0, 3.0]]),
    ("Float ((p : Tuple Float Integer) (q : Tuple (Vec Float) (Vec Float)) (r : Tuple Integer (Vec Float))) (mul (pow p) (mul (dot q) (add (index r) (sum (add q)))))", lambda p, q, r: p[0] ** p[1] * np.dot(*q) * (r[1][r[0]] + sum(q[0] + q[1])), [[(0.5, 3), (A, B), (1, A)], [(2.0, 2), (B, A), (0, B)]]),
]  # fmt: skip
