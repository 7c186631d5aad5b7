"""m ⊙ x, r ⊙R m and mᵀ on terms: the tables of §§3–4; what they do not know is applied by lmApply and lmApplyR."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from adjoint.languages.ks.notes.jacobian.nabla import around
from adjoint.languages.ks.notes.reverse.cotangents import Cotangents
from adjoint.languages.ks.text.function_names import Written
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.text.typed_terms import Maker
from adjoint.languages.ks.value.types import tangent
from diff.lam.term.term_error import Place
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Pattern, Tuple, Var, fresh, pattern_type
from diff.lam.term.types import Lin

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.binding import Pass


@final
class Application:
    """The tables; `vectors` are m ⊙ x of variables m, and `maps` what they stand for.

    For r ⊙R m each variable is written out wherever it occurs, as in the notes; or, where the s is given that maps are
    from, once, for the sum of what comes to it.
    """

    def __init__(self, make: Maker, s: AnyTerm | None = None) -> None:
        self.make = make
        self.cotangents = None if s is None else Cotangents(make, s, self._back)
        self.vectors: dict[int, Var] = {}
        self.maps: dict[int, AnyTerm] = {}

    def forward(self, m: AnyTerm, x: AnyTerm) -> Pass:
        """m ⊙ x."""
        make, m = self.make, ks_term(m)
        match m:
            case Var(_, number) if number in self.vectors:
                return self.vectors[number]
            case Let(Var(_, number, Lin()), of, body):  # all maps of ∇_S are applied to one ds
                v = yield self.forward(of, x)
                dx = self.vectors[number] = fresh("d", make.type(v))
                after = yield self.forward(body, x)
                return Let(dx, v, after)
            case Let(pattern, value, body):
                after = yield self.forward(body, x)
                return Let(pattern, value, after)
            case If(c, a, b):
                left = yield self.forward(a, x)
                right = yield self.forward(b, x)
                return If(c, left, right)
            case App(Name("assert"), Tuple((c, Lam(_, body)))):
                v = yield self.forward(body, x)
                return make.asserted(c, v)
            case App(Name("lmCompose"), Tuple((m1, m2))):  # m₁ ⊙ (m₂ ⊙ x)
                v = yield self.forward(m2, x)
                return (yield self._with("d", v, lambda y: self.forward(m1, y)))
            case App(Name("lmAdd"), Tuple((m1, m2))):  # m₁⊙x + m₂⊙x
                a = yield self.forward(m1, x)
                b = yield self.forward(m2, x)
                return make.added(a, b)
            case App(Name("lmZero"), Tuple((_, t))):  # 0
                return make.zero(t)
            case App(Name("lmOne")):  # x
                return x
            case App(Name("lmScale"), Tuple((_, k))):  # k·x
                return make.scaled(k, x)
            case App(Name("lmVCat"), Tuple(ms)):  # (m₁⊙x, …)
                parts = yield self._several(ms, lambda one, _: self.forward(one, x))
                return Tuple(tuple(parts))
            case App(Name("lmHCat"), Tuple(ms)):  # m₁⊙x₁ + m₂⊙x₂ + …
                parts = yield self._several(ms, lambda one, k: self.forward(one, make.component(k, x)))
                return _sum(make, parts)
            case App(Name("lmVCatV"), App(Name("build"), Tuple((n, Lam(i, body))))):  # build n λi. m⊙x
                v = yield self.forward(body, x)
                return make.call("build", n, Lam(i, v))
            case App(Name("lmHCatV"), App(Name("build"), Tuple((n, Lam(i, body))))):  # Σᵢ m⊙x[i]
                v = yield self.forward(body, make.call("index", i, x))
                return make.call("sumbuild", n, Lam(i, v))
            case App(Name("lmFold"), Tuple((f, Lam(p, body), start, v))):  # FFold f a v (λ(t, dt). f′ ⊙ (ds, dt)) da dv
                t, da, dv = _whole(p), make.component(0, make.component(1, x)), make.component(1, make.component(1, x))
                dt, ds = fresh("dt", tangent(t.type)), fresh("ds", make.type(make.component(0, x)))
                d = yield self.forward(body, Tuple((ds, dt)))
                found = make.call("FFold", f, start, v, Lam(Tuple((t, dt)), _opened(p, t, d)), da, dv)
                return Let(ds, make.component(0, x), found)
            case App(Name(name, at), e) if name.startswith("[D "):  # [fwd f] (e, x)
                return make.derived("fwd", inner(make, name, at), e, x)
            case Var() | App() | Lit() | Name() | Tuple() | Lam():  # the table has no row for it: applied as it is
                return make.call("lmApply", m, x)
            case _:
                assert_never(m)

    def backward(self, r: AnyTerm, m: AnyTerm) -> Pass:
        """r ⊙R m."""
        return (yield self._back(r, m) if self.cotangents is None else self.cotangents.of(r, m))

    def _back(self, r: AnyTerm, m: AnyTerm) -> Pass:
        make, m = self.make, ks_term(m)
        match m:
            case Var(_, number) if number in self.maps:  # ∂x is written out
                return (yield self.backward(r, self.maps[number]))
            case Let(Var(_, number, Lin()), of, body):
                self.maps[number] = of
                return (yield self.backward(r, body))
            case Let(pattern, value, body):
                after = yield self.backward(r, body)
                return Let(pattern, value, after)
            case If(c, a, b):
                left = yield self.backward(r, a)
                right = yield self.backward(r, b)
                return If(c, left, right)
            case App(Name("assert"), Tuple((c, Lam(_, body)))):
                v = yield self.backward(r, body)
                return make.asserted(c, v)
            case App(Name("lmCompose"), Tuple((m1, m2))):  # (r ⊙R m₁) ⊙R m₂
                v = yield self.backward(r, m1)
                return (yield self._with("r", v, lambda y: self.backward(y, m2)))
            case App(Name("lmAdd"), Tuple((m1, m2))):  # r⊙R m₁ + r⊙R m₂
                a = yield self.backward(r, m1)
                b = yield self.backward(r, m2)
                return make.added(a, b)
            case App(Name("lmZero"), Tuple((s, _))):  # 0
                return make.zero(s)
            case App(Name("lmOne")):  # r
                return r
            case App(Name("lmScale"), Tuple((_, k))):  # k·r
                return make.scaled(k, r)
            case App(Name("lmVCat"), Tuple(ms)):  # r₁ ⊙R m₁ + r₂ ⊙R m₂ + …
                parts = yield self._several(ms, lambda one, k: self.backward(make.component(k, r), one))
                return _sum(make, parts)
            case App(Name("lmHCat"), Tuple(ms)):  # (r ⊙R m₁, …)
                parts = yield self._several(ms, lambda one, _: self.backward(r, one))
                return Tuple(tuple(parts))
            case App(Name("lmVCatV"), App(Name("build"), Tuple((n, Lam(i, body))))):  # Σᵢ r[i] ⊙R m
                v = yield self.backward(make.call("index", i, r), body)
                return make.call("sumbuild", n, Lam(i, v))
            case App(Name("lmHCatV"), App(Name("build"), Tuple((n, Lam(i, body))))):  # build n λi. r ⊙R m
                v = yield self.backward(r, body)
                return make.call("build", n, Lam(i, v))
            case App(Name("lmFold"), Tuple((Lam() as f, Lam(p, body), start, v))):  # RFold f (λ(t, dr). dr ⊙R f′) a v r
                t, dr = _whole(p), fresh("dr", make.type(r))
                within = self if self.cotangents is None else Application(make, Tuple((around(f), p)))
                d = yield within.backward(dr, body)
                return make.call("RFold", f, Lam(Tuple((t, dr)), _opened(p, t, d)), start, v, r)
            case App(Name(name, at), e) if name.startswith("[D "):  # [rev f] (e, r)
                return make.derived("rev", inner(make, name, at), e, r)
            case Var() | App() | Lit() | Name() | Tuple() | Lam():  # the table has no row for it: applied as it is
                return make.call("lmApplyR", r, m)
            case _:
                assert_never(m)

    def transposed(self, m: AnyTerm) -> Pass:
        """mᵀ."""
        make, m = self.make, ks_term(m)
        match m:
            case Var(name, number, ty):
                if number not in self.vectors:
                    assert isinstance(ty, Lin)
                    self.vectors[number] = fresh(name, Lin(ty.cod, ty.dom))
                return self.vectors[number]
            case Let(Var(_, _, Lin()) as d, of, body):
                t = yield self.transposed(of)
                x = yield self.transposed(d)
                after = yield self.transposed(body)
                return Let(x, t, after)
            case Let(pattern, value, body):
                after = yield self.transposed(body)
                return Let(pattern, value, after)
            case If(c, a, b):
                left = yield self.transposed(a)
                right = yield self.transposed(b)
                return If(c, left, right)
            case App(Name("assert"), Tuple((c, Lam(_, body)))):
                v = yield self.transposed(body)
                return make.asserted(c, v)
            case App(Name("lmCompose"), Tuple((m1, m2))):  # m₂ᵀ ∘ m₁ᵀ
                parts = yield self._several((m2, m1), lambda one, _: self.transposed(one))
                return make.call("lmCompose", *parts)
            case App(Name("lmAdd"), Tuple(ms)):  # m₁ᵀ ⊕ m₂ᵀ
                parts = yield self._several(ms, lambda one, _: self.transposed(one))
                return make.call("lmAdd", *parts)
            case App(Name("lmZero"), Tuple((s, t))):  # 0
                return make.call("lmZero", t, s)
            case App(Name("lmOne" | "lmScale")):  # themselves
                return m
            case App(Name("lmVCat" | "lmHCat" as name), Tuple(ms)):  # (m₁ × m₂)ᵀ = m₁ᵀ ⋈ m₂ᵀ, and back
                parts = yield self._several(ms, lambda one, _: self.transposed(one))
                return make.call("lmHCat" if name == "lmVCat" else "lmVCat", *parts)
            case App(Name("lmVCatV" | "lmHCatV" as name), App(Name("build"), Tuple((n, Lam(i, body))))):
                t = yield self.transposed(body)  # V(v)ᵀ = H(map ᵀ v), and back
                return make.call("lmHCatV" if name == "lmVCatV" else "lmVCatV", make.call("build", n, Lam(i, t)))
            case App() | Lit() | Name() | Tuple() | Lam():  # the table has no row for a call of [D f], or lmFold
                return make.call("lmTranspose", m)
            case _:
                assert_never(m)

    def _with(self, name: str, value: AnyTerm, body: Callable[[AnyTerm], Pass]) -> Pass:
        """let x = value in body(x), unless it is a variable already."""
        if isinstance(value, (Var, Tuple)):
            return (yield body(value))
        x = fresh(name, self.make.type(value))
        made = yield body(x)
        return Let(x, value, made)

    def _several(self, ms: tuple[AnyTerm, ...], step: Callable[[AnyTerm, int], Pass]) -> Pass:
        made = []
        for k, one in enumerate(ms):
            part = yield step(one, k)
            made.append(part)
        return made


def _whole(pattern: Pattern) -> Var:
    """A variable for what a pattern matches."""
    return pattern if isinstance(pattern, Var) else fresh("t", pattern_type(pattern))


def _opened(pattern: Pattern, t: Var, e: AnyTerm) -> AnyTerm:
    """let pattern = t in e."""
    return e if pattern is t else Let(pattern, t, e)


def _sum(make: Maker, parts: list[AnyTerm]) -> AnyTerm:
    made = parts[0]
    for part in parts[1:]:
        made = make.added(made, part)
    return made


def inner(make: Maker, name: str, at: tuple[object, ...]) -> Name:
    """The f of [D f]."""
    callee = make.scope.callees[name, at[0]]  # type: ignore[index]  # the types of arguments
    if len(callee.derivations) == 1:
        return Name(callee.base, (callee.of,))
    written = Written(callee.derivations[1:], callee.base, callee.of)
    found = make.scope.resolved(written, None, Place(name, 1, 1))
    return Name(written.text, (found.arg,))
