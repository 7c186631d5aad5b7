"""Random well-typed closed terms of the λ-language: type-directed, every former, functions up to order 3."""

from __future__ import annotations

from random import Random
from typing import Any

from diff.higher import Module
from diff.lam.check.library_names import primitive, sign
from diff.lam.term.inductive import instance, list_of
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Branch,
    Case,
    Con,
    Fold,
    If,
    Lam,
    Let,
    Lit,
    Plus,
    Prim,
    Proj,
    Tuple,
    Var,
    below,
    fresh,
    real,
    variables,
)
from diff.lam.term.types import REAL, UNIT, Arrow, DataType, Ground, TupleType, Ty
from diff.lam.text.item_parser import Reader
from hilbert import Bool, Fin, R

TEXT = """
data Maybe a = Nothing | Just a
data Rose a = Node (a * list (Rose a))
data Shape = Circle real | Rect (real * real)
"""


def declarations() -> Reader:
    """The types of the generator."""
    reader = Reader()
    list(reader.read(TEXT))
    return reader


TYPES = declarations().types
MAYBE, ROSE, SHAPE = TYPES["Maybe"], TYPES["Rose"], TYPES["Shape"]
PLANE = Ground(R ** Fin.of(2))
UNARY = ("sin", "cos", "exp", "tanh", "sigmoid", "square")
SMALL = (REAL, REAL, PLANE, TupleType((REAL, REAL)), DataType(MAYBE, (REAL,)), list_of(REAL), DataType(SHAPE, ()))
BRANCHED = (DataType(MAYBE, (REAL,)), list_of(REAL), DataType(SHAPE, ()), DataType(ROSE, (REAL,)))


class Terms:
    """One source of terms."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def type(self, order: int = 2) -> Ty:
        """A type, of functions up to this order."""
        r = self.random
        kind = r.randrange(8)
        if kind == 0 and order:
            return Arrow(self.type(order - 1), self.type(order))
        if kind == 1:
            return TupleType(tuple(self.type(order) for _ in range(r.choice((0, 2, 3))))) if order else REAL
        return r.choice(SMALL)

    def number(self) -> float:
        """A number whose powers stay small."""
        return self.random.randrange(-8, 9) / 8

    def term(self, ty: Ty, env: tuple[Var, ...], size: int) -> AnyTerm:
        """A term of this type whose free variables are among `env`, of about this size."""
        r = self.random
        usable = [x for x in env if x.type is ty]
        if usable and r.random() < (0.5 if size > 1 else 0.9):
            return r.choice(usable)
        if size <= 1:
            return self.leaf(ty, env)
        functions = [x for x in env if isinstance(x.type, Arrow) and x.type.cod is ty]
        tuples = [(x, k) for x in env if isinstance(x.type, TupleType) for k, p in enumerate(x.type.parts) if p is ty]
        match r.randrange(10):
            case 0:
                pattern, value = self.bound(env, size // 2)
                return Let(pattern, value, self.term(ty, (*env, *_variables(pattern)), size // 2))
            case 1:
                dom = self.type(2)
                x = fresh("a", dom)
                function = Lam(x, self.term(ty, (*env, x), size // 2))
                return App(function, self.term(dom, env, size // 2))
            case 2 if functions:
                f: Any = r.choice(functions)
                return App(f, self.term(f.type.dom, env, size // 2))
            case 3 if tuples:
                x, k = r.choice(tuples)
                return Proj(k, x)
            case 3:
                other, k = self.type(0), r.randrange(2)
                return Proj(k, self.term(TupleType((ty, other) if k == 0 else (other, ty)), env, size - 1))
            case 4:
                return self.case(ty, env, size)
            case 5:
                return self.fold(ty, env, size)
            case 6:
                less = primitive("less", R)
                condition = Prim(less, Tuple((self.closed_number(), self.closed_number())), "less")
                return If(condition, self.term(ty, env, size // 3), self.term(ty, env, size // 3))
            case 7 | 8 | 9 if isinstance(ty, (TupleType, Arrow)) and _adds(ty):
                return Plus(self.term(ty, env, size // 2), self.term(ty, env, size // 2))
            case _:
                return self.made(ty, env, size)

    def closed_number(self) -> AnyTerm:
        return real(self.number())

    def bound(self, env: tuple[Var, ...], size: int) -> tuple[Any, AnyTerm]:
        """A pattern and a term for it."""
        ty = self.type()
        value = self.term(ty, env, size)
        if isinstance(ty, TupleType) and ty.parts and self.random.random() < 0.7:
            return Tuple(tuple(fresh("p", part) for part in ty.parts)), value
        return fresh("x", ty), value

    def case(self, ty: Ty, env: tuple[Var, ...], size: int) -> AnyTerm:
        data: Any = self.random.choice(BRANCHED)
        branches = []
        for label, field in data.declaration.cases:
            pattern = self.pattern(instance(field, data.args, data))
            branches.append(Branch(label, pattern, self.term(ty, (*env, *_variables(pattern)), size // 4)))
        return Case(self.term(data, env, size // 3), branches)

    def fold(self, ty: Ty, env: tuple[Var, ...], size: int) -> AnyTerm:
        data: Any = self.random.choice(BRANCHED)
        branches = []
        for label, field in data.declaration.cases:
            pattern = self.pattern(instance(field, data.args, ty))
            branches.append(Branch(label, pattern, self.term(ty, (*env, *_variables(pattern)), size // 5)))
        return Fold(data, self.term(data, env, size // 4), branches)

    def pattern(self, ty: Ty) -> Any:
        return Tuple(tuple(fresh("q", p) for p in ty.parts)) if isinstance(ty, TupleType) else fresh("q", ty)

    def leaf(self, ty: Ty, env: tuple[Var, ...]) -> AnyTerm:
        """A small term."""
        match ty:
            case Ground(space):
                if space == Bool:
                    return Lit(Bool.vec(self.random.random() < 0.5))
                return Lit(space.vec([self.number() for _ in range(space.dim)] if space != R else self.number()))
            case TupleType(parts):
                return Tuple(tuple(self.leaf(part, env) for part in parts))
            case Arrow(dom, cod):
                x = fresh("y", dom)
                return Lam(x, self.leaf(cod, (*env, x)))
            case DataType(declaration, args):
                label, field = declaration.cases[0]
                return Con(label, ty, self.leaf(instance(field, args, ty), env))
            case _:
                raise AssertionError(ty)

    def made(self, ty: Ty, env: tuple[Var, ...], size: int) -> AnyTerm:
        """A term that ends in what makes its type."""
        r = self.random
        match ty:
            case Ground(space) if space.is_space:
                kind = r.randrange(5)
                if kind == 0:
                    name = r.choice(UNARY)
                    return Prim(primitive(name, space), self.term(ty, env, size - 1), name)
                if kind == 1:
                    return Prim(sign("-", space), self.term(ty, env, size - 1), "-")
                text = r.choice("+-*") if kind < 4 else r.choice("+*")
                both = Tuple((self.term(ty, env, size // 2), self.term(ty, env, size // 2)))
                return Prim(sign(text, space, space), both, text)
            case TupleType(parts):
                return Tuple(tuple(self.term(part, env, size // max(1, len(parts))) for part in parts))
            case Arrow(dom, cod):
                pattern = self.pattern(dom)
                return Lam(pattern, self.term(cod, (*env, *_variables(pattern)), size - 1))
            case DataType(declaration, args):
                label, field = r.choice(declaration.cases)
                due = instance(field, args, ty)
                return Con(label, ty, Tuple(()) if due is UNIT else self.term(due, env, size // 2))
            case _:
                return self.leaf(ty, env)


def _variables(pattern: Any) -> tuple[Var, ...]:
    return tuple(variables(pattern))


def _adds(ty: Ty) -> bool:
    """Whether + is defined at a type: no data in it, and no truth values."""
    match ty:
        case Ground(space):
            return space.is_space
        case TupleType(parts):
            return all(map(_adds, parts))
        case Arrow(_, cod):
            return _adds(cod)
        case _:
            return False


def module() -> Module:
    """A module with the declared types of the generator."""
    made = Module()
    list(made.read(TEXT))
    return made


def size(term: AnyTerm) -> int:
    """The number of nodes, each occurrence counted; patterns are not."""
    total, stack = 0, [term]
    while stack:
        node: Any = stack.pop()
        total += not isinstance(node, Branch)
        pattern = getattr(node, "pattern", getattr(node, "var", None))
        stack.extend(part for part in below(node) if part is not pattern)
    return total
