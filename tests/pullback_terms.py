"""Random well-typed closed terms with the formers of the language of pullbacks, and with functions that have names."""

from __future__ import annotations

from typing import Any

from diff.lam.check.library_names import primitive, sign
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Cov,
    Diff,
    Dual,
    Ev,
    Fix,
    If,
    Jac,
    Lam,
    Let,
    Plus,
    Point,
    Prim,
    Proj,
    Pull,
    Sharp,
    Tuple,
    Var,
    Zero,
    fresh,
    real,
)
from diff.lam.term.types import REAL, Arrow, Ground, Lin, TupleType, Ty, dual
from hilbert import R
from tests.lambda_terms import PLANE, UNARY, Terms

VECTORS = (REAL, REAL, PLANE)
ENDO = Arrow(REAL, REAL)


class Pullbacks(Terms):
    """A source of terms, of which every third or so is of the language of pullbacks."""

    def term(self, ty: Ty, env: tuple[Var, ...], size: int) -> AnyTerm:
        if size > 1 and isinstance(ty, (Ground, Lin)) and self.random.random() < 0.35:
            return self.made(ty, env, size)
        return super().term(ty, env, size)

    def made(self, ty: Ty, env: tuple[Var, ...], size: int) -> AnyTerm:
        r = self.random
        match ty:
            case Ground(space) if space.is_space and r.random() < 0.6:
                return self.vector(ty, env, size)
            case Arrow(Ground(dom), Ground(cod)) if dom == cod and dom.is_space and r.random() < 0.4:  # 𝒥f·t
                name = r.choice(UNARY)
                return Jac(primitive(name, dom), self.term(ty.dom, env, size // 2), name)
            case Lin(dom):
                return self.covector(dom, env, size)
            case _:
                return super().made(ty, env, size)

    def leaf(self, ty: Ty, env: tuple[Var, ...]) -> AnyTerm:
        match ty:
            case Lin(Lin(inner)):
                return Point(self.leaf(inner, env))
            case Lin(Arrow(dom, cod)):
                return Ev(self.leaf(dom, env), self.leaf(dual(cod), env))
            case Lin(dom):
                return Cov(self.leaf(dom, env))
            case _:
                return super().leaf(ty, env)

    def vector(self, ty: Any, env: tuple[Var, ...], size: int) -> AnyTerm:
        """A number or vector."""
        r, half = self.random, size // 2
        match r.randrange(12):
            case 0 | 1 | 6 | 7 | 8:  # ♯c
                return Sharp(self.covector(ty, env, size - 1))
            case 2:  # (𝒥f·t) s
                name = r.choice(UNARY)
                jac = Jac(primitive(name, ty.space), self.term(ty, env, half), name)
                return App(jac, self.term(ty, env, half))
            case 3:  # 𝒟F(a)(u)
                dom = r.choice(VECTORS)
                x = fresh("w", dom)
                function = Lam(x, self.term(ty, (*env, x), half))
                return Diff(function, self.term(dom, env, size // 4), self.term(dom, env, size // 4))
            case 4:  # 0 + t
                return Prim(sign("+", ty.space, ty.space), Tuple((Zero(ty), self.term(ty, env, size - 1))), "+")
            case 5:  # a recursive function, which ends at once
                f, n = fresh("f", ENDO), fresh("n", REAL)
                stop = Prim(primitive("less", R), Tuple((real(0.0), real(1.0))), "less")
                body = Lam(n, If(stop, self.term(REAL, (*env, n), half), App(f, n)))
                value = App(Fix(f, body), self.term(REAL, env, half))
                return value if ty is REAL else Prim(sign("*", R, ty.space), Tuple((value, self.leaf(ty, env))), "*")
            case _:  # let f = λa. t in f s, once or twice
                dom = r.choice(VECTORS)
                a, f = fresh("a", dom), fresh("f", Arrow(dom, ty))
                function = Lam(a, self.term(ty, (a, *env) if r.random() < 0.8 else env, half))
                arg = self.term(dom, env, half) if r.random() < 0.7 else self.leaf(dom, env)
                called: AnyTerm = App(f, arg)
                if dom is ty and r.random() < 0.3:
                    called = App(f, called)
                return Let(f, function, called)

    def covector(self, dom: Ty, env: tuple[Var, ...], size: int) -> AnyTerm:
        """A term of type σ*."""
        r, half = self.random, size // 2
        ty = dual(dom)
        kinds = ["plus", "zero", *["dual"] * 12]
        match dom:
            case Ground():
                kinds += ["pull", "pull", "pull", "cov"]
            case Lin():
                kinds += ["point", "point"]
            case _:
                kinds += ["pull"]
        match r.choice(kinds):
            case "plus":
                return Plus(self.term(ty, env, half), self.term(ty, env, half))
            case "zero":
                return Zero(ty)
            case "cov":
                return Cov(self.term(dom, env, size - 1))
            case "pull":
                return App(self.pull(dom, env, half), self.term(dom, env, half))
            case "point" if isinstance(dom, Lin):
                return Point(self.term(dom.dom, env, size - 1))
            case _:  # (λv. S)*·c
                v, cod = fresh("v", dom), r.choice((*VECTORS, dual(REAL), dual(REAL)))
                body = self.linear(v, REAL if isinstance(cod, Lin) else cod, env, half)
                numbers = [x for x in env if x.type is REAL]
                if numbers and r.random() < 0.5:  # only S moves (16b)
                    V = R if isinstance(cod, Lin) else cod.space
                    body, env = Prim(sign("*", R, V), Tuple((r.choice(numbers), body)), "*"), ()
                if isinstance(cod, Lin):
                    return Dual(v, Cov(body), self.covector(cod, env, half))
                return Dual(v, body, self.term(dual(cod), env, half))

    def pull(self, dom: Ty, env: tuple[Var, ...], size: int) -> Pull:
        """(Ω λx. t)·ω, the 1-form constant, or a pullback."""
        cod = self.random.choice(VECTORS)
        x = fresh("x", dom)
        body = self.term(cod, (x, *env), size)
        if self.random.random() < 0.15:
            return Pull(x, body, self.pull(cod, env, size // 2))
        u = fresh("u", cod)
        return Pull(x, body, Lam(u, self.term(dual(cod), (u, *env), size // 2)))

    def linear(self, v: Any, cod: Any, env: tuple[Var, ...], size: int) -> AnyTerm:
        """A term of a space, linear in v."""
        r, here = self.random, v.type
        if isinstance(here, TupleType):
            k = r.randrange(len(here.parts))
            part = fresh("v", here.parts[k])
            return Let(part, Proj(k, v), self.linear(part, cod, env, size))
        if isinstance(here, Arrow):
            result = fresh("v", here.cod)
            return Let(result, App(v, self.term(here.dom, env, size // 2)), self.linear(result, cod, env, size // 2))
        if isinstance(here, Lin):
            return self.linear_number(Sharp(v), here.dom, cod, env, size)
        return self.linear_number(v, here, cod, env, size)

    def linear_number(self, v: AnyTerm, here: Any, cod: Any, env: tuple[Var, ...], size: int) -> AnyTerm:
        """As `linear`, for a term of a space that is linear already."""
        r = self.random
        if not isinstance(here, Ground):
            return Zero(cod)
        if here is not cod:  # ℝ → ℝ², ℝ² → ℝ
            if here is REAL:
                v = Prim(sign("*", R, cod.space), Tuple((v, self.term(cod, env, size // 2))), "*")
            else:
                inner = primitive("inner", here.space)
                v = Prim(inner, Tuple((self.term(here, env, size // 2), v)), "inner")
            here = cod
        while r.random() < 0.75:
            if r.random() < 0.6:  # 𝒥f
                name = r.choice(UNARY)
                v = App(Jac(primitive(name, here.space), v, name), self.term(here, env, size // 2))
            else:
                v = Prim(sign("-", here.space), v, "-")
        return v
