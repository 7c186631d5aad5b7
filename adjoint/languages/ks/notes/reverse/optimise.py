"""The laws of §3 on terms of linear maps, and of arithmetic; ∂f of what is built in is written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from adjoint.languages.ks.notes.jacobian.nabla import around, jacobian
from adjoint.languages.ks.notes.reverse.application import inner
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.text.typed_terms import Maker
from diff.lam.term.binding import renamed
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, fresh, real
from diff.lam.term.types import REAL, Lin
from hilbert.base.term import driven

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass


_ONE = real(1.0)


@final
class Optimiser:
    """The laws; all maps are from one space, that of s."""

    def __init__(self, make: Maker, s: AnyTerm) -> None:
        self.make, self.s = make, s
        self.known: dict[int, AnyTerm] = {}

    def of(self, m: AnyTerm) -> Pass:
        """The term simplified, from its leaves to its root."""
        make, m = self.make, ks_term(m)
        match m:
            case Var(_, number):
                return renamed(self.known[number]) if number in self.known else m
            case Let(Var(_, number, Lin()) as d, value, body):
                made = yield self.of(value)
                if _is(made, "lmOne", "lmZero"):
                    self.known[number] = made
                    return (yield self.of(body))
                if _is(made, "lmScale"):  # its factor is bound
                    x, k = _parts(made)
                    name = k if isinstance(k, (Var, Lit)) else fresh("k", REAL)
                    self.known[number] = make.call("lmScale", x, name)
                    after = yield self.of(body)
                    return after if name is k else Let(name, k, after)  # type: ignore[arg-type]  # a new variable
                after = yield self.of(body)
                return Let(d, made, after)
            case Let(pattern, value, body):
                after = yield self.of(body)
                return Let(pattern, value, after, place=m.place)
            case If(c, a, b):
                left = yield self.of(a)
                right = yield self.of(b)
                return left if _is(left, "lmZero") and left == right else If(c, left, right)
            case App(Name("assert") as f, Tuple((c, Lam(p, body)))):
                made = yield self.of(body)
                return App(f, Tuple((c, Lam(p, made))))
            case App(Name("lmVCatV" | "lmHCatV" as name), App(Name("build"), Tuple((n, Lam(i, body))))):
                made = yield self.of(body)
                return make.call(name, make.call("build", n, Lam(i, made)))
            case App(Name("lmFold"), Tuple((Lam() as f, Lam(p, body), start, v))):
                made = yield Optimiser(make, Tuple((around(f), p))).of(body)
                return make.call("lmFold", f, Lam(p, made), start, v)
            case App(Name("lmCompose" | "lmAdd" | "lmVCat" | "lmHCat" as name), Tuple(ms)):
                parts = []
                for one in ms:
                    part = yield self.of(one)
                    parts.append(part)
                return self._made(name, parts)
            case App(Name(name, at), e) if name.startswith("[D "):
                found = jacobian(make, inner(make, name, at), e)
                return m if found is None else (yield self.of(found))
            case App() | Lit() | Name() | Tuple() | Lam():  # no law changes the parts of lmZero, lmOne and lmScale
                return m
            case _:
                assert_never(m)

    def _made(self, name: str, parts: list[AnyTerm]) -> AnyTerm:
        match name:
            case "lmCompose":
                return self.composed(*parts)
            case "lmAdd":
                return self.added(*parts)
            case "lmVCat" if all(_is(part, "lmZero") for part in parts):  # 0 × … × 0 = 0
                return self.make.call("lmZero", self.s, Tuple(tuple(_parts(part)[1] for part in parts)))
            case _:  # a concatenation
                return self.make.call(name, *parts)

    def composed(self, a: AnyTerm, b: AnyTerm) -> AnyTerm:
        """a ∘ b, simplified at its root; a and b are simple already."""
        make = self.make
        if _is(a, "lmOne"):  # 1∘m = m
            return b
        if _is(b, "lmOne"):  # m∘1 = m
            return a
        if _is(a, "lmZero"):  # 0∘m = 0
            return make.call("lmZero", self.s, _parts(a)[1])
        if _is(b, "lmZero") and _is(a, "lmScale"):  # S(k)∘0 = 0: S stays in its space, so that b has the shapes
            return b
        if _is(a, "lmScale") and _is(b, "lmScale"):  # S(a)∘S(b) = S(a·b)
            x, k = _parts(b)
            return make.call("lmScale", x, times(make, _parts(a)[1], k))
        if _is(a, "lmHCat") and _is(b, "lmVCat"):  # (m₁⋈m₂)∘(n₁×n₂) = (m₁∘n₁)⊕(m₂∘n₂)
            pairs = list(zip(_parts(a), _parts(b), strict=True))
            made = self.composed(*pairs[0])
            for pair in pairs[1:]:
                made = self.added(made, self.composed(*pair))
            return made
        return make.call("lmCompose", a, b)

    def added(self, a: AnyTerm, b: AnyTerm) -> AnyTerm:
        """a ⊕ b."""
        make = self.make
        if _is(a, "lmZero"):  # 0⊕m = m
            return b
        if _is(b, "lmZero"):  # m⊕0 = m
            return a
        scalars = [_factor(m) for m in (a, b)]
        if all(k is not None for k in scalars):  # S(a)⊕S(b) = S(a+b), and 1 = S(1)
            x = _parts(a)[0]
            if make.type(x) is REAL:
                return make.call("lmScale", x, make.call("add", *scalars))  # type: ignore[arg-type]  # not None
        if _is(a, "lmHCat") and _is(b, "lmHCat"):  # (p₁⋈…)⊕(q₁⋈…) = (p₁⊕q₁)⋈…
            return make.call("lmHCat", *(self.added(p, q) for p, q in zip(_parts(a), _parts(b), strict=True)))
        return make.call("lmAdd", a, b)


def _is(m: AnyTerm, *names: str) -> bool:
    return isinstance(m, App) and isinstance(m.function, Name) and m.function.name in names


def _parts(m: AnyTerm) -> tuple[AnyTerm, ...]:
    assert isinstance(m, App)
    return m.arg.parts if isinstance(m.arg, Tuple) else (m.arg,)


def _factor(m: AnyTerm) -> AnyTerm | None:
    """k of S(k)."""
    if _is(m, "lmScale"):
        return _parts(m)[1]
    return _ONE if _is(m, "lmOne") else None


def times(make: Maker, a: AnyTerm, b: AnyTerm) -> AnyTerm:
    """a·b; 1·b = b."""
    if a == _ONE:
        return b
    return a if b == _ONE else make.call("mul", a, b)


def optimised(make: Maker, m: AnyTerm, s: AnyTerm) -> AnyTerm:
    """A linear map simplified."""
    made: AnyTerm = driven(Optimiser(make, s).of(m))
    return made
