"""Tupling (§6): each variable stands for its value and a linear map together.

The basic form, ∇̄⟦e⟧ : (T, S ⊸ T), composes with what a call gives. The polymorphic ones, ∇̄_a⟦e⟧ : (T, a ⊸ T) and its
transpose (T, T ⊸ a), give a call the pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, assert_never, final

from adjoint.languages.ks.notes.jacobian.nabla import around, free, refused, selection, step
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.text.typed_terms import Maker
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, fresh
from diff.lam.term.types import TupleType

if TYPE_CHECKING:
    from diff.lam.term.binding import Pass

Kind: TypeAlias = Literal["tupled", "poly", "polyR"]


@final
class Tupling:
    """The figures, for a parameter s and a map m with it, none in the basic form; ∂̄x of each variable is a pair."""

    def __init__(self, make: Maker, kind: Kind, s: Var, m: Var | None = None) -> None:
        self.make, self.kind, self.s = make, kind, s
        self.m: AnyTerm = make.call("lmOne", s) if m is None else m
        self.pairs: dict[int, AnyTerm] = {s.number: Tuple((s, self.m))}

    def _after(self, of: AnyTerm, m: AnyTerm) -> AnyTerm:
        """of ∘ m; of a transpose, m ∘ ofᵀ, where `of` is transposed already."""
        return self.make.call("lmCompose", *((m, of) if self.kind == "polyR" else (of, m)))

    def _zero(self, value: AnyTerm) -> AnyTerm:
        """0 with the shape of a value; its other end is that of m."""
        if self.kind == "tupled":
            return self.make.call("lmZero", self.s, value)
        ends = (value, self.s) if self.kind == "polyR" else (self.s, value)
        return self._after(self.make.call("lmZero", *ends), self.m)

    def _selection(self, get: Name, value: AnyTerm, m: AnyTerm) -> AnyTerm:
        return self._after(selection(self.make, get, value, is_transposed=self.kind == "polyR"), m)

    def value(self, atom: AnyTerm) -> AnyTerm:
        """The value of a variable, the first of its pair, or of a constant."""
        if isinstance(atom, Tuple):
            return Tuple(tuple(map(self.value, atom.parts)))
        return self.make.component(0, self.pairs[atom.number]) if isinstance(atom, Var) else atom

    def of(self, e: AnyTerm) -> Pass:
        """∇̄⟦e⟧."""
        make = self.make
        e = ks_term(e)
        match e:
            case Lit() | Name() | Tuple(()):  # k ↦ (k, 0)
                return Tuple((e, self._zero(e)))
            case Var(_, number):  # x ↦ ∂̄x
                return self.pairs[number]
            case Tuple(parts):  # (e₁, e₂) ↦ ((t₁, t₂), m₁ × m₂), transposed m₁ ⋈ m₂
                pairs = []
                for part in parts:
                    pair = yield self.of(part)
                    pairs.append(pair)
                values, maps = (tuple(make.component(k, pair) for pair in pairs) for k in (0, 1))
                return Tuple((Tuple(values), make.call("lmHCat" if self.kind == "polyR" else "lmVCat", *maps)))
            case Let(Var(name, number), value, body):  # let x = e₁ in e₂ ↦ let ∂̄x = ∇̄e₁ in ∇̄e₂
                pair = yield self.of(value)
                both = fresh(name, make.type(pair))
                self.pairs[number] = both
                after = yield self.of(body)
                return Let(both, pair, after, place=e.place)
            case Let(pattern, value, body):
                assert isinstance(pattern, Tuple)
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
                    self.pairs[x.number] = Tuple((x, self._zero(x)))
                pair = yield self.of(body)
                rows = make.call("unzip", make.call("build", self.value(n), Lam(i, pair)))
                return make.let("b", rows, self._vector)
            case App(Name("fold"), Tuple((Lam() as f, start, v))):  # (fold f a v, lmFold f f′ a v ∘ (mxs × (ma × mv)))
                pair = yield self.of(Tuple((around(f), Tuple((start, v)))))
                df = yield step(make, f)
                made = make.let("a", pair, lambda a: self._folded(f, df, a))
                for x in free(f):  # by its value
                    value = self.value(x)
                    made = made if value == x else Let(x, value, made)
                return made
            case App(Name() as f, arg):
                if isinstance(arg, Tuple) and any(isinstance(p, Lam) for p in arg.parts):  # alone, it has a name
                    refused(f"{f.name} is not tupled", e)
                pair = yield self.of(arg)
                if self.kind != "tupled" and not f.name.startswith("get$"):  # f(e) ↦ ∂̄f(∇̄e)
                    return make.derived(self.kind, f, pair)
                return make.let("a", pair, lambda a: self._called(f, a))
            case Lam() | App():  # a lambda elsewhere, or its application
                refused("a lambda is the argument of build or fold here", e)
            case _:
                assert_never(e)

    def _taken(self, pattern: Tuple, whole: Var, body: AnyTerm) -> Pass:
        make = self.make
        value, m = (make.component(k, whole) for k in (0, 1))
        ty = make.type(value)
        assert isinstance(ty, TupleType)
        for k, x in enumerate(pattern.parts):
            assert isinstance(x, Var)
            get = Name(f"get${k + 1}${len(ty.parts)}", (ty,), place=x.place)
            self.pairs[x.number] = Tuple((make.component(k, value), self._selection(get, value, m)))
        return (yield self.of(body))

    def _vector(self, both: AnyTerm) -> AnyTerm:
        """(r, V m), transposed (r, H m)."""
        make = self.make
        name = "lmHCatV" if self.kind == "polyR" else "lmVCatV"
        return Tuple((make.component(0, both), make.call(name, make.component(1, both))))

    def _folded(self, f: AnyTerm, df: AnyTerm, a: AnyTerm) -> AnyTerm:
        """The value of a fold, and its map after those of what it reads."""
        make = self.make
        given = make.component(1, make.component(0, a))
        start, v = (make.component(k, given) for k in (0, 1))
        m = make.call("lmFold", f, df, start, v)
        of = make.call("lmTranspose", m) if self.kind == "polyR" else m
        return Tuple((make.call("fold", f, start, v), self._after(of, make.component(1, a))))

    def _called(self, f: Name, a: AnyTerm) -> AnyTerm:
        """let (a, ma) = ∇̄e; (r, mr) = ∂̄f(a) in (r, mr ∘ ma)."""
        make = self.make
        value, m = (make.component(k, a) for k in (0, 1))
        if f.name.startswith("get$"):
            return Tuple((App(f, value), self._selection(f, value, m)))
        result = make.derived("tupled", f, value)
        return make.let("r", result, lambda r: Tuple((make.component(0, r), self._after(make.component(1, r), m))))
