"""∇_S⟦e⟧ : S ⊸ T, the figure of §5, and the Jacobians ∂f of what is built in, §1."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, assert_never, final

from adjoint.languages.ks.builtin.builtins import BUILT_IN
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.text.typed_terms import Maker, is_discrete
from diff.lam.term.binding import captured, mapped, renamed
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, fresh
from diff.lam.term.types import REAL, TupleType

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.lam.term.binding import Pass


@final
class Nabla:
    """The figure, for a parameter s of type S, or a tuple of such; ∂x of each variable is a variable, or a term."""

    def __init__(self, make: Maker, s: AnyTerm) -> None:
        self.make, self.s = make, s
        self.d: dict[int, AnyTerm] = {s.number: make.call("lmOne", s)} if isinstance(s, Var) else {}

    def zero(self, value: AnyTerm) -> AnyTerm:
        """0 : S ⊸ T, with the shapes of s and of a value."""
        return self.make.call("lmZero", self.s, value)

    def of(self, e: AnyTerm) -> Pass:
        """∇⟦e⟧."""
        make = self.make
        e = ks_term(e)
        match e:
            case Lit() | Name() | Tuple(()):  # k ↦ 0
                return self.zero(e)
            case Var(_, number):  # x ↦ ∂x
                return self.d[number]
            case Tuple(parts):  # (e₁, e₂) ↦ ∇e₁ × ∇e₂
                made = []
                for part in parts:
                    m = yield self.of(part)
                    made.append(m)
                return make.call("lmVCat", *made)
            case Let(pattern, value, body):  # let x = e₁ in e₂ ↦ let ∂x = ∇e₁ in let x = e₁ in ∇e₂
                m = yield self.of(value)
                d = fresh("D", make.type(m))
                self.bind(pattern, d)
                after = yield self.of(body)
                return Let(d, m, Let(pattern, value, after, place=e.place))
            case If(c, then, otherwise):  # if b then e₁ else e₂ ↦ if b then ∇e₁ else ∇e₂
                a = yield self.of(then)
                b = yield self.of(otherwise)
                return If(c, a, b, place=e.place)
            case App(Name("assert") as name, Tuple((c, Lam(_, body)))):  # assert c e ↦ assert c ∇e
                m = yield self.of(body)
                late = Lam(Tuple(()), m)
                return App(Name("assert", (make.type(m),), place=name.place), Tuple((c, late)), place=e.place)
            case App(Name("build"), Tuple((n, Lam(i, body)))):  # build n λi.e ↦ V(build n λi. let ∂i = 0 in ∇e)
                for x in [i] if isinstance(i, Var) else i.parts:
                    assert isinstance(x, Var)
                    self.d[x.number] = self.zero(x)
                m = yield self.of(body)
                return make.call("lmVCatV", make.call("build", n, Lam(i, m)))
            case App(Name("fold"), Tuple((Lam() as f, start, v))):  # fold f a v ↦ lmFold f f′ a v ∘ (∂xs × (∇a × ∇v))
                xs = around(f)
                m = yield self.of(Tuple((xs, Tuple((start, v)))))
                df = yield step(make, f)
                return make.call("lmCompose", make.call("lmFold", f, df, start, v), m)
            case App(Name() as f, arg):  # f(e) ↦ ∂f(e) ∘ ∇e
                if isinstance(arg, Tuple) and any(isinstance(p, Lam) for p in arg.parts):  # alone, it has a name
                    refused(f"{f.name} has no Jacobian as a text", e)
                m = yield self.of(arg)
                is_selection = f.name.startswith("get$")
                of = selection(make, f, arg) if is_selection else make.derived("D", f, arg)
                return make.call("lmCompose", of, m)
            case Lam() | App():  # a lambda elsewhere, or its application
                refused("a lambda is the argument of build or fold here", e)
            case _:
                assert_never(e)

    def bind(self, pattern: Var | Tuple, d: Var) -> None:
        """∂x of the variables of a pattern."""
        if isinstance(pattern, Var):
            self.d[pattern.number] = d
            return
        ty = self.make.type(pattern)
        assert isinstance(ty, TupleType)
        for k, x in enumerate(pattern.parts):
            assert isinstance(x, Var)
            get = Name(f"get${k + 1}${len(ty.parts)}", (ty,), place=x.place)
            self.d[x.number] = self.make.call("lmCompose", selection(self.make, get, pattern), d)


def step(make: Maker, f: Lam) -> Pass:
    """f′ of the function λt. e of a fold: λt. ∇_{(xs, t)}⟦e⟧, where ∂xs = 1 ⋈ 0 and ∂t = 0 ⋈ 1."""
    again = renamed(f)
    assert isinstance(again, Lam)
    xs, t = around(f), again.pattern
    inner = Nabla(make, Tuple((xs, t)))
    first = make.call("lmOne", xs), make.call("lmZero", t, xs)
    second = make.call("lmZero", xs, t), make.call("lmOne", t)
    bound: list[tuple[Var, AnyTerm]] = []
    for x, ends in ((xs, first), (t, second)):
        if isinstance(x, Var) or x.parts:
            value = make.call("lmHCat", *ends)
            bound.append((fresh("D", make.type(value)), value))
            inner.bind(x, bound[-1][0])
    for x in free(f):  # the others have no tangent
        inner.d.setdefault(x.number, inner.zero(x))
    m = yield inner.of(again.body)
    for d, value in reversed(bound):
        m = Let(d, value, m)
    return Lam(again.pattern, m)


def free(f: Lam) -> list[Var]:
    """The free variables of a function, in the order of their first use."""
    found: dict[int, Var] = {}
    numbers = set(captured(f))

    def step(node: AnyTerm) -> None:
        if isinstance(node, Var) and node.number in numbers:
            found.setdefault(node.number, node)

    mapped(f, step)
    return list(found.values())


def around(f: Lam) -> Var | Tuple:
    """xs: the free variables of the function of a fold that have a tangent.

    The notes have s for xs, and ∂x ∘ (1 ⋈ 0) for ∂x in f′. By lmFold f (f′ ∘ (m × 1)) = lmFold f f′ ∘ (m × 1) it is the
    same; so f′ speaks of no map around it, and each cotangent in it has the size of what the fold reads.
    """
    xs = [x for x in free(f) if not is_discrete(x.type)]
    return xs[0] if len(xs) == 1 else Tuple(tuple(xs))


def refused(message: str, e: AnyTerm) -> NoReturn:
    """Raise TermError for a term that the notes' pipeline does not take."""
    raise TermError("type", message, e.place)


# --- ∂f of what is built in ---


def selection(make: Maker, get: Name, arg: AnyTerm, *, is_transposed: bool = False) -> AnyTerm:
    """∂π_{i,n}(p) = 0 ⋈ … ⋈ 1 ⋈ … ⋈ 0, and its transpose 0 × … × 1 × … × 0."""
    k, n = (int(word) for word in get.name.split("$")[1:])
    parts = [make.component(j, arg) for j in range(n)]
    one = parts[k - 1]
    name, ends = ("lmVCat", lambda x: (one, x)) if is_transposed else ("lmHCat", lambda x: (x, one))
    return make.call(name, *(make.call("lmOne", x) if x is one else make.call("lmZero", *ends(x)) for x in parts))


def jacobian(make: Maker, name: Name, arg: AnyTerm) -> AnyTerm | None:
    """∂f(arg) as a term, for what the table has; None for others, which stay calls of [D f]."""
    call = App(name, arg)
    ty = make.type(call)
    if is_discrete(ty):
        return make.call("lmZero", arg, call)
    of = make.type(arg)
    parts = [make.component(k, arg) for k in range(len(of.parts))] if isinstance(of, TupleType) else [arg]
    if ty is REAL and all(make.type(part) is REAL for part in parts):
        found = factors(make, name.name, parts)
        if found is None:
            return None
        scales = [_scale(make, x, k) for x, k in zip(parts, found, strict=True)]
        return scales[0] if len(scales) == 1 else make.call("lmHCat", *scales)
    rule = _JACOBIANS.get(name.name)
    return None if rule is None else rule(make, call, arg)


def _of_sum(make: Maker, _: App, v: AnyTerm) -> AnyTerm:
    """∂ sum v = H(build (size v) λi. 1)."""
    return make.call("lmHCatV", make.built(v, lambda i: make.call("lmOne", make.call("index", i, v))))


def _of_element(make: Maker, call: App, arg: AnyTerm) -> AnyTerm:
    """∂ index i v = 0 ⋈ H(build (size v) λj. if i = j then 1 else 0)."""
    i, v = make.component(0, arg), make.component(1, arg)

    def entry(j: Var) -> AnyTerm:
        one, zero = make.call("lmOne", call), make.call("lmZero", make.call("index", j, v), call)
        return If(make.call("eq", i, j), one, zero)

    return make.call("lmHCat", make.call("lmZero", i, call), make.call("lmHCatV", make.built(v, entry)))


_JACOBIANS: dict[str, Callable[[Maker, App, AnyTerm], AnyTerm]] = {"sum": _of_sum, "index": _of_element}
"""∂f of what is built in on tensors."""


def _scale(make: Maker, x: AnyTerm, k: AnyTerm | None) -> AnyTerm:
    """S(k), and 1 for None."""
    return make.call("lmOne", x) if k is None else make.call("lmScale", x, k)


def factors(make: Maker, name: str, parts: list[AnyTerm]) -> list[AnyTerm | None] | None:
    """The partial derivatives of a function of reals, None for 1; None where the table has none."""
    row = BUILT_IN.get(name)
    if row is None or row.partials is None or not row.takes_reals(len(parts)):
        return None
    return row.partials(make.call, *parts)
