"""Typed terms: calls by name and argument, the type of each term found once."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never, final

from adjoint.languages.ks.text.function_names import Written
from adjoint.languages.ks.text.signatures import built_in
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.value.types import BOOL, STRING, element, index_of, order, tangent
from diff.lam.term.binding import mapped
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, fresh, pattern_type, real, variables
from diff.lam.term.types import INT, REAL, Arrow, Ground, Lin, TupleType, Ty
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.text.function_names import Callee
    from adjoint.languages.ks.text.resolution import Resolution
    from diff.lam.term.binding import Pass


@final
class Maker:
    """Terms in a scope."""

    def __init__(self, scope: Resolution) -> None:
        self.scope = scope
        self._types: dict[int, tuple[AnyTerm, Ty]] = {}

    def type(self, term: AnyTerm) -> Ty:
        """The type of a term."""
        found = self._types.get(id(term))
        made: Ty = driven(self._type(term)) if found is None else found[1]
        return made

    def _type(self, term: AnyTerm) -> Pass:
        found = self._types.get(id(term))
        if found is not None:
            return found[1]
        term = ks_term(term)
        match term:
            case Var(_, _, ty):
                made = ty
            case Lit(value):
                made = INT if isinstance(value, int) else REAL
            case Name(name):
                made = BOOL if name in ("true", "false") else STRING
            case Tuple(parts):
                types = []
                for part in parts:
                    ty = yield self._type(part)
                    types.append(ty)
                made = TupleType(tuple(types))
            case Let(_, _, body) | If(_, body, _):
                made = yield self._type(body)
            case Lam(pattern, body):
                ty = yield self._type(body)
                made = Arrow(pattern_type(pattern), ty)
            case App(Name(name, (arg, *_))):
                made = self._result(name, arg, term)
            case App(function):
                ty = yield self._type(function)
                made = ty.cod
            case _:
                assert_never(term)
        self._types[id(term)] = term, made
        return made

    def _result(self, name: str, arg: Ty, term: AnyTerm) -> Ty:
        if name in ("assert", "$dummy"):
            return arg
        if name.startswith("get$"):
            assert isinstance(arg, TupleType)
            return arg.parts[int(name.split("$")[1]) - 1]
        callee = self.scope.callees.get((name, arg))
        made = built_in(name, arg) if callee is None else callee.result
        if made is None:
            raise TermError("type", f"{name} is not known", term.place)
        return made

    # --- making ---

    def call(self, name: str, *args: AnyTerm) -> AnyTerm:
        """(name arg …), of what is built in."""
        arg = args[0] if len(args) == 1 else Tuple(args)
        return App(Name(name, (self.type(arg),)), arg)

    def derived(self, derivation: str, of: Name, *args: AnyTerm) -> AnyTerm:
        """([d f] arg …), of the function that a name stands for."""
        base = self.scope.callees.get((of.name, of.at[0]))
        derivations, name, given = base.identity if base is not None else ((), of.name, of.at[0])
        arg = args[0] if len(args) == 1 else Tuple(args)
        written = Written((derivation, *derivations), name, given)
        callee = self.scope.named(written, given, of.place, self.type(arg))  # type: ignore[arg-type]  # terms of a text have places
        return App(self.name(callee, written.text), arg)

    def name(self, callee: Callee, text: str) -> Name:
        """A function by this name."""
        self.scope.callees[text, callee.arg] = callee
        return Name(text, (callee.arg,))

    def let(self, name: str, value: AnyTerm, body: Callable[[AnyTerm], AnyTerm]) -> AnyTerm:
        """let x = value in body(x); of a variable or a number, body(value)."""
        if isinstance(value, (Var, Lit)):
            return body(value)
        x = fresh(name, self.type(value))
        return Let(x, value, body(x))

    def lam(self, name: str, ty: Ty, body: Callable[[Var], AnyTerm]) -> AnyTerm:
        """λx. body(x)."""
        x = fresh(name, ty)
        return Lam(x, body(x))

    def component(self, k: int, of: AnyTerm) -> AnyTerm:
        """The k-th component, from 0."""
        if isinstance(of, Tuple):
            return of.parts[k]
        ty = self.type(of)
        assert isinstance(ty, TupleType)
        return App(Name(f"get${k + 1}${len(ty.parts)}", (ty,)), of)

    def added(self, a: AnyTerm, b: AnyTerm) -> AnyTerm:
        """a + b, of tangents; 0 + b = b."""
        if _is_zero(a) or _is_zero(b):
            return b if _is_zero(a) else a
        ty = self.type(a)
        if isinstance(ty, TupleType):
            if not ty.parts:
                return a
            return self._opened(a, lambda a: self._opened(b, lambda b: self._added(len(ty.parts), a, b)))
        return self.call("add", a, b) if isinstance(ty, Ground) else self.call("ts_add", a, b)

    def _opened(self, value: AnyTerm, body: Callable[[AnyTerm], AnyTerm]) -> AnyTerm:
        """body of a value whose components are at hand: of a tuple, or a variable."""
        return body(value) if isinstance(value, Tuple) else self.let("r", value, body)

    def _added(self, n: int, a: AnyTerm, b: AnyTerm) -> AnyTerm:
        return Tuple(tuple([self.added(self.component(k, a), self.component(k, b)) for k in range(n)]))

    def scaled(self, k: AnyTerm, v: AnyTerm) -> AnyTerm:
        """k·v, of a tangent."""
        return self.call("mul" if isinstance(self.type(v), Ground) else "ts_scale", k, v)

    def zero(self, like: AnyTerm) -> AnyTerm:
        """The zero tangent at a value."""
        ty = self.type(like)
        if isinstance(ty, Ground):
            return real(0.0)
        if isinstance(ty, TupleType):
            return Tuple(tuple(self.zero(self.component(k, like)) for k in range(len(ty.parts))))
        if order(ty):
            return self.built(like, lambda i: self.zero(self.call("index", i, like)))
        return Tuple(())

    def asserted(self, c: AnyTerm, e: AnyTerm) -> AnyTerm:
        """(assert c e)."""
        return App(Name("assert", (self.type(e),)), Tuple((c, Lam(Tuple(()), e))))

    def dummy(self, ty: Ty) -> AnyTerm:
        """A value of a type, which nobody reads; tensors have no elements."""
        if isinstance(ty, TupleType):
            return Tuple(tuple(map(self.dummy, ty.parts)))
        if isinstance(ty, Lin):
            return self.call("lmZero", self.dummy(ty.dom), self.dummy(ty.cod))
        if order(ty):
            n = index_of(order(ty))
            return self.call("build", self.dummy(n), self.lam("i", n, lambda _: self.dummy(element(ty))))
        return App(Name("$dummy", (ty,)), Tuple(())) if ty is not INT else Lit(0)

    def built(self, like: AnyTerm, body: Callable[[Var], AnyTerm]) -> AnyTerm:
        """A tensor of the size of another."""
        return self.call("build", self.call("size", like), self.index_lam(like, body))

    def has_no_elements(self, n: AnyTerm) -> AnyTerm:
        """Tell if a tensor of a size has no elements."""
        ty = self.type(n)
        sizes = [self.component(k, n) for k in range(len(ty.parts))] if isinstance(ty, TupleType) else [n]
        found = self.call("eq", sizes[0], Lit(0))
        for size in sizes[1:]:
            found = self.call("or", found, self.call("eq", size, Lit(0)))
        return found

    def prepended(self, e: AnyTerm, v: AnyTerm) -> AnyTerm:
        """e before the elements of a vector."""

        def element(i: Var, e: AnyTerm) -> AnyTerm:
            return If(self.call("eq", i, Lit(0)), e, self.call("index", self.call("sub", i, Lit(1)), v))

        n = self.call("add", self.call("size", v), Lit(1))
        return self.let("e", e, lambda e: self.call("build", n, self.lam("i", INT, lambda i: element(i, e))))

    def index_lam(self, like: AnyTerm, body: Callable[[Var], AnyTerm]) -> AnyTerm:
        """λi. body(i), over the indices of a tensor."""
        return self.lam("i", index_of(order(self.type(like))), body)


def _is_zero(e: AnyTerm) -> bool:
    """Tell if a term is 0.0, or a tensor of such."""
    while isinstance(e, App) and isinstance(e.function, Name) and e.function.name == "build":
        assert isinstance(e.arg, Tuple)
        if not isinstance(e.arg.parts[1], Lam):
            return False
        e = e.arg.parts[1].body
    return isinstance(e, Lit) and not isinstance(e.value, int) and not e.value.array


def reads(e: AnyTerm) -> set[int]:
    """The variables that are read: more often than they are bound."""
    counts: dict[int, int] = {}

    def step(node: AnyTerm) -> None:
        if isinstance(node, Var):
            counts[node.number] = counts.get(node.number, 0) + 1
        elif isinstance(node, (Let, Lam)):
            for x in variables(node.pattern):
                counts[x.number] = counts.get(x.number, 0) - 1

    mapped(e, step)
    return {number for number, count in counts.items() if count > 0}


def is_discrete(ty: Ty) -> bool:
    """Tell if a type has no tangent but zero."""
    return tangent(ty) is TupleType(()) and not isinstance(ty, (Arrow, Lin))
