"""∇̄⟦e⟧ : (T, S ⊸ T), basic tupling (§6): each variable stands for its value and its derivative together."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from adjoint.languages.ks.making import Maker
from adjoint.languages.ks.notes.nabla import refused, selection
from diff.higher.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, fresh
from diff.higher.types import TupleType

if TYPE_CHECKING:
    from diff.higher.binding import Pass


@final
class Tupling:
    """The figure, for a parameter s of type S; ∂̄x of each variable is a pair."""

    def __init__(self, make: Maker, s: Var) -> None:
        self.make, self.s = make, s
        self.pairs: dict[int, AnyTerm] = {s.number: Tuple((s, make.call("lmOne", s)))}

    def value(self, atom: AnyTerm) -> AnyTerm:
        """What a variable or a constant is: the first of its pair."""
        if isinstance(atom, Tuple):
            return Tuple(tuple(map(self.value, atom.parts)))
        return self.make.component(0, self.pairs[atom.number]) if isinstance(atom, Var) else atom

    def of(self, e: AnyTerm) -> Pass:
        """∇̄⟦e⟧."""
        make = self.make
        match e:
            case Lit() | Name() | Tuple(()):  # k ↦ (k, 0)
                return Tuple((e, make.call("lmZero", self.s, e)))
            case Var(_, number):  # x ↦ ∂̄x
                return self.pairs[number]
            case Tuple(parts):  # (e₁, e₂) ↦ ((t₁, t₂), m₁ × m₂)
                pairs = []
                for part in parts:
                    pair = yield self.of(part)
                    pairs.append(pair)
                values, maps = (tuple(make.component(k, pair) for pair in pairs) for k in (0, 1))
                return Tuple((Tuple(values), make.call("lmVCat", *maps)))
            case Let(Var(name, number), value, body):  # let x = e₁ in e₂ ↦ let ∂̄x = ∇̄e₁ in ∇̄e₂
                pair = yield self.of(value)
                both = fresh(name, make.type(pair))
                self.pairs[number] = both
                after = yield self.of(body)
                return Let(both, pair, after, place=e.place)
            case Let(Tuple() as pattern, value, body):
                pair = yield self.of(value)
                whole = fresh("p", make.type(pair))
                after = yield self._taken(pattern, whole, body)
                return Let(whole, pair, after, place=e.place)
            case If(c, then, otherwise):
                a = yield self.of(then)
                b = yield self.of(otherwise)
                return If(self.value(c), a, b, place=e.place)
            case App(Name("assert"), Tuple((c, Lam(_, body)))):
                pair = yield self.of(body)
                late = Lam(Tuple(()), pair)
                return App(Name("assert", (make.type(pair),)), Tuple((self.value(c), late)), place=e.place)
            case App(Name("build"), Tuple((n, Lam(i, body)))):  # let (r, m) = unzip (build n λi. ∇̄e) in (r, V m)
                for x in [i] if isinstance(i, Var) else i.parts:
                    assert isinstance(x, Var)
                    self.pairs[x.number] = Tuple((x, make.call("lmZero", self.s, x)))
                pair = yield self.of(body)
                rows = make.call("unzip", make.call("build", self.value(n), Lam(i, pair)))
                return make.let("b", rows, self._vertical)
            case App(Name() as f, arg):  # let (a, ma) = ∇̄e; (r, mr) = ∂̄f(a) in (r, mr ∘ ma)
                if isinstance(arg, Lam) or (isinstance(arg, Tuple) and any(isinstance(p, Lam) for p in arg.parts)):
                    refused(f"{f.name} is not tupled", e)
                pair = yield self.of(arg)
                return make.let("a", pair, lambda a: self._called(f, a))
            case _:  # a lambda elsewhere, or its application
                refused("a lambda is the argument of build here", e)

    def _taken(self, pattern: Tuple, whole: Var, body: AnyTerm) -> Pass:
        make = self.make
        value, m = (make.component(k, whole) for k in (0, 1))
        ty = make.type(value)
        assert isinstance(ty, TupleType)
        for k, x in enumerate(pattern.parts):
            assert isinstance(x, Var)
            get = Name(f"get${k + 1}${len(ty.parts)}", (ty,), place=x.place)
            part = make.call("lmCompose", selection(make, get, value), m)
            self.pairs[x.number] = Tuple((make.component(k, value), part))
        return (yield self.of(body))

    def _vertical(self, both: AnyTerm) -> AnyTerm:
        make = self.make
        return Tuple((make.component(0, both), make.call("lmVCatV", make.component(1, both))))

    def _called(self, f: Name, a: AnyTerm) -> AnyTerm:
        make = self.make
        value, m = (make.component(k, a) for k in (0, 1))
        if f.name.startswith("get$"):
            of = selection(make, f, value)
            return Tuple((App(f, value), make.call("lmCompose", of, m)))
        result = make.derived("tupled", f, value)

        def both(r: AnyTerm) -> AnyTerm:
            return Tuple((make.component(0, r), make.call("lmCompose", make.component(1, r), m)))

        return make.let("r", result, both)
