"""A-reduction (§8 of the paper): a term as a series of lets of elementary terms, each of which names its parts."""

from __future__ import annotations

from typing import assert_never

from attrs import evolve

from diff.lam.files.type_of_term import type_of
from diff.lam.term.binding import Pass, each, has_terms, over_parts
from diff.lam.term.former import OpenFormer, Strict
from diff.lam.term.terms import (
    AnyTerm,
    App,
    Branch,
    Case,
    Cov,
    Dual,
    Fix,
    Fold,
    If,
    Lam,
    Let,
    Lit,
    Pattern,
    Prim,
    Proj,
    Pull,
    Tuple,
    Var,
    Zero,
    below,
    fresh,
)
from hilbert.base.term import compared, driven


def series(term: AnyTerm) -> tuple[list[tuple[Var, AnyTerm]], Var]:
    """𝒜(P): the bindings and the atom, of a term or of a series of lets."""
    names = _Names({})
    atom = driven(names.atom(term))
    return names.bindings, atom


def a_normal(term: AnyTerm) -> AnyTerm:
    """⌜P⌝: let z₁ = E₁ in … zₙ, which ends in its last binder."""
    normal: AnyTerm = driven(_quoted(term, {}))
    return normal


def is_a_normal(term: AnyTerm) -> bool:
    """Tell if a term is a series of elementary terms."""
    todo = [term]
    while todo:
        one = todo.pop()
        while isinstance(one, Let):
            if not isinstance(one.pattern, Var) or not _has_atoms(one.value):
                return False
            todo += _bodies(one.value)
            one = one.body
        if not _has_atoms(one):
            return False
        todo += _bodies(one)
    return True


def is_elementary(term: AnyTerm) -> bool:
    """Tell if a term is an E of the grammar: its parts are variables, and its bodies series."""
    return _has_atoms(term) and all(map(is_a_normal, _bodies(term)))


def contexts(term: AnyTerm) -> tuple[str, ...]:
    """The fields of the parts that are evaluated first, in order: the contexts of §10."""
    cls: type = type(term)
    match term:
        case Strict():
            return tuple(name for name in compared(cls) if has_terms(getattr(term, name)))
        case Case() | Fold():
            return ("of",)
        case Dual():
            return ("covector",)
        case Pull():
            return ("form",)
        case Let():
            return ("value",)
        case If():
            return ("condition",)
        case Var() | Lit() | Lam() | Fix() | Zero() | OpenFormer():
            return ()
        case _:
            assert_never(term)


def _bodies(term: AnyTerm) -> list[AnyTerm]:
    return [term.body] if isinstance(term, (Lam, Dual, Pull)) else []


def _has_atoms(term: AnyTerm) -> bool:
    """Tell if the parts of a term, but for bodies, are variables."""
    match term:
        case Var() | Lit() | Zero() | Lam() | Fix():
            return True
        case Dual(_, _, atom, point):
            return isinstance(atom, Var) and (point is None or isinstance(point, Var))
        case Pull(_, _, atom):
            return isinstance(atom, Var)
        case Cov(of):
            return isinstance(of, Var) or _is_constant(of)
        case If(of) | Case(of) | Fold(_, of):
            return isinstance(of, Var)
        case Prim(_, Tuple(parts), "+"):
            return all(isinstance(part, Var) for part in parts)
        case Strict():
            return all(isinstance(part, Var) for part in below(term))
        case Let():
            return False
        case OpenFormer():
            raise AssertionError("the term is checked")
        case _:
            assert_never(term)


def _is_constant(term: AnyTerm) -> bool:
    todo = [term]
    while todo:
        one = todo.pop()
        if isinstance(one, Tuple):
            todo += one.parts
        elif not isinstance(one, Lit):
            return False
    return True


def _quoted(term: AnyTerm, atoms: dict[int, Var]) -> Pass:
    names = _Names(dict(atoms))
    atom = yield names.atom(term)
    if not names.bindings or names.bindings[-1][0] is not atom:
        atom = names.name(atom)
    quoted: AnyTerm = atom
    for z, value in reversed(names.bindings):
        quoted = Let(z, value, quoted)
    return quoted


class _Names:
    """The bindings so far, and the atoms that variables of lets stand for."""

    def __init__(self, atoms: dict[int, Var]) -> None:
        self.bindings: list[tuple[Var, AnyTerm]] = []
        self.atoms = atoms

    def name(self, term: AnyTerm) -> Var:
        """z = E."""
        z = fresh("z", type_of(term))
        self.bindings.append((z, term))
        return z

    def let(self, pattern: Pattern, atom: Var) -> None:
        """let p = a: the variables of p stand for a and its components."""
        todo: list[tuple[AnyTerm, AnyTerm]] = [(pattern, atom)]
        while todo:
            one, whole = todo.pop()
            its = whole if isinstance(whole, Var) else self.name(whole)
            if isinstance(one, Tuple):
                todo += reversed([(part, Proj(k, its)) for k, part in enumerate(one.parts)])
            else:
                assert isinstance(one, Var)
                self.atoms[one.number] = its

    def atom(self, term: AnyTerm) -> Pass:
        """𝒜(P), whose bindings are added to those before."""
        while True:
            match term:
                case Var(_, number, _):
                    return self.atoms.get(number, term)
                case Lit() | Zero():
                    return self.name(term)
                case Let(pattern, value, body) | App(Lam(pattern, body), value):  # let-flattening
                    atom = yield self.atom(value)
                    self.let(pattern, atom)
                    term = body
                case Cov(of) if _is_constant(of):
                    return self.name(term)
                case Prim(op, Tuple(parts), "+"):
                    atoms = yield each(self.atom, parts)
                    return self.name(Prim(op, Tuple(tuple(atoms)), "+"))
                case Lam(_, body):
                    body = yield _quoted(body, self.atoms)
                    return self.name(evolve(term, body=body))
                case Dual(_, body, covector, point):
                    spot = None if point is None else (yield self.atom(point))
                    atom = yield self.atom(covector)
                    body = yield _quoted(body, self.atoms)
                    return self.name(evolve(term, body=body, covector=atom, point=spot))
                case Pull(_, body, form):
                    atom = yield self.atom(form)
                    body = yield _quoted(body, self.atoms)
                    return self.name(evolve(term, body=body, form=atom))
                case If(condition, then, otherwise):
                    atom = yield self.atom(condition)
                    then = yield _quoted(then, self.atoms)
                    otherwise = yield _quoted(otherwise, self.atoms)
                    return self.name(If(atom, then, otherwise))
                case Case(of, branches) | Fold(_, of, branches):
                    atom = yield self.atom(of)
                    quoted = yield each(self._branch, branches)
                    return self.name(evolve(term, of=atom, branches=quoted))
                case Fix(_, body):
                    body = yield _quoted(body, self.atoms)
                    return self.name(evolve(term, body=body))
                case Strict():
                    named = yield from over_parts(term, self.atom)
                    return self.name(named)
                case OpenFormer():
                    raise AssertionError("the term is checked")
                case _:
                    assert_never(term)

    def _branch(self, branch: Branch) -> Pass:
        body = yield _quoted(branch.body, self.atoms)
        return evolve(branch, body=body)
