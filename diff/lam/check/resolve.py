"""The meanings of names, signs and constructors where a term is checked, each at a space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, assert_never, final

from attrs import evolve, frozen

from diff.lam.check import library_names
from diff.lam.check.tuple_components import Components
from diff.lam.term.inductive import instance, is_first_order
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.terms import AnyTerm, Branch, Con, Lam, Name, Prim, Tuple, Var, fresh
from diff.lam.term.types import (
    REAL,
    UNIT,
    Arrow,
    DataType,
    Declaration,
    Ground,
    Int,
    Lin,
    TupleType,
    Ty,
    TypeVariable,
    Unknown,
    ground,
    unknown,
)
from diff.lam.term.unify import Unifier
from hilbert import Bool, SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.map.map import AnyMap

BOOL = Ground(Bool)


@final
@frozen
class Dialect:
    """The differences between the languages whose terms are checked here."""

    generalise: bool = True
    """Tell if a definition may be used at several types."""
    default: Ty = REAL
    """The type in place of one that nothing determines."""
    arity: Callable[[str], int | None] = library_names.arity
    """The number of arguments of the primitive of a name."""
    primitive: Callable[[str, Any], AnyMap] = library_names.primitive
    """The primitive of this name at a space."""
    sign: Callable[..., AnyMap] = library_names.sign
    """The operator at the spaces of its arguments."""
    text: Callable[[Ty], str] = str
    """The text of a type in a message."""
    component: str = "π"
    """The sign of a projection in a message."""
    least: int | None = None
    """The least length of a tuple that is known by its components only; None: its length must be known."""


LAMBDA = Dialect()


class Scope(Protocol):
    """The definitions, constructors and variables that are in scope where a term is checked."""

    def definition(self, name: str) -> tuple[Ty, int] | None:
        """The type of a definition and the number of its parameters."""

    def constructor(self, name: str) -> Declaration | None:
        """The type that a constructor belongs to."""

    def free(self, name: str) -> Var | None:
        """A variable that is declared free."""

    def map(self, name: str) -> AnyMap | None:
        """A primitive that the text defines."""

    def near(self, name: str) -> str:
        """A hint for a name that is unbound."""
        ...


class Resolver:
    """The equations of one item, and what its names stand for."""

    def __init__(self, names: Scope, profile: Dialect = LAMBDA) -> None:
        self.names, self.profile = names, profile
        self.types = Unifier(profile.text)
        self.components = Components(self.types, profile.component, profile.least)

    def arity(self, name: str) -> int | None:
        """The arity of a primitive of the library, where no definition has its name."""
        if self.names.definition(name) or self.names.map(name) or self.names.free(name):
            return None
        return self.profile.arity(name)

    def known(self, ty: Ty | None) -> Ty | None:
        """A type, as far as the text before has determined it."""
        return None if ty is None else self.types.find(ty)

    def named(self, name: str, at: tuple[Ty, ...], hint: Ty | None, place: Place | None) -> tuple[AnyTerm, Ty]:
        """A name that is not applied: a primitive or constructor is a function of its own."""
        definition = self.names.definition(name)
        if definition is not None:
            ty, count = definition
            args = at or tuple(unknown() for _ in range(count))
            return Name(name, args, place=place), instance(ty, args)
        free = self.names.free(name)
        if free is not None:
            return evolve(free, place=place), free.type
        declaration = self.names.constructor(name)
        if declaration is not None:
            data = self.constructed(declaration, hint)
            due = instance(data.declaration.fields[name], data.args, data)
            if due is UNIT:
                return Con(name, data, Tuple(()), place=place), data
            x = fresh("x", due, place)
            return Lam(x, Con(name, data, x, place=place), place=place), Arrow(due, data)
        op = self.names.map(name)
        if op is None:
            count_ = self.profile.arity(name)
            if count_ is None:
                raise TermError("unbound", f"{name} is not bound{self.names.near(name)}", place)
            space = self._space_of_hint(hint, count_)
            op = self.at_space(name, Bool if name in library_names.LOGICAL else space, place)
        x = fresh("x", ground(op.dom), place)
        return Lam(x, Prim(op, x, name, place=place), place=place), Arrow(ground(op.dom), ground(op.cod))

    def _space_of_hint(self, hint: Ty | None, count: int) -> Any:
        """The space that an annotation gives to a primitive that is not applied; ℝ if none does."""
        dom = self.known(hint.dom) if isinstance(hint, Arrow) else None
        if count > 1:
            dom = self.known(dom.parts[0]) if isinstance(dom, TupleType) and dom.parts else None
        return dom.space if isinstance(dom, Ground) else REAL.space

    def map(self, name: str, ty: Ty, place: Place | None) -> AnyMap:
        """The primitive of this name; one of the library is taken at the space of a direction of this type, or at ℝ."""
        op = self.names.map(name)
        if op is not None:
            return op
        if self.profile.arity(name) is None:
            is_defined = self.names.definition(name) is not None
            hint = ": a definition is none, `prim` makes one" if is_defined else self.names.near(name)
            raise TermError("unbound", f"{name} is no primitive{hint}", place)
        space = self.ground(ty, place) if self.profile.arity(name) == 1 else None
        return self.at_space(name, REAL.space if space is None else space, place)

    def at_space(self, name: str, space: Any, place: Place | None) -> AnyMap:
        """The primitive at a space; raises TermError `type` where it has no such space."""
        try:
            return self.profile.primitive(name, space)
        except SpaceError as error:
            raise TermError("type", str(error).split("\n", 1)[0], place) from None  # without the library's line

    def ground(self, ty: Ty, place: Place | None) -> Any:
        """The space of an argument of a primitive: ℝ where it is not known."""
        known = self.types.find(ty)
        if isinstance(known, Unknown):
            self.types.unify(known, self.profile.default, place, "the argument of a primitive")
            known = self.profile.default
        if isinstance(known, Ground):
            return known.space
        return None

    def constructed(self, declaration: Declaration, hint: Ty | None) -> DataType:
        """The type that a constructor makes: the type that is due, if that has these constructors, as D of a type."""
        due = self.known(hint)
        if isinstance(due, DataType) and (
            due.declaration is declaration or due.declaration.labels == declaration.labels
        ):
            return due
        return DataType(declaration, tuple(unknown() for _ in range(declaration.arity)))

    def data(self, ty: Ty, branches: tuple[Branch, ...], place: Place | None) -> DataType:
        """The declared type that branches take apart; raises TermError `branches` unless they are its constructors."""
        labels = [branch.label for branch in branches]
        given = self.types.find(ty)
        declaration = given.declaration if isinstance(given, DataType) else self.names.constructor(labels[0])
        if declaration is None:
            what = f"{labels[0]} is no constructor{self.names.near(labels[0])}"
            raise TermError("unbound" if isinstance(given, Unknown) else "branches", what, branches[0].place)
        seen: set[str] = set()
        for label, branch in zip(labels, branches, strict=True):
            if label not in declaration.fields:
                what = f"{label} is no constructor of {declaration.name}, whose are {', '.join(declaration.labels)}"
                raise TermError("branches", what, branch.place)
            if label in seen:
                raise TermError("branches", f"{label} has two branches", branch.place)
            seen.add(label)
        missing = [label for label in declaration.labels if label not in seen]
        if missing:
            raise TermError("branches", f"no branch for {', '.join(missing)} of {declaration.name}", place)
        if isinstance(given, DataType):
            return given
        return DataType(declaration, tuple(unknown() for _ in range(declaration.arity)))

    def vectors(self, ty: Ty, place: Place | None, *, is_part: bool = False) -> Ty:
        """The type of the vectors that a covector, or a tuple of covectors and numbers, applies to.

        A discrete part stands for itself.
        """
        known = self.types.find(ty)
        match known:
            case TupleType(parts):
                return TupleType(tuple(self.vectors(part, place, is_part=True) for part in parts))
            case Lin(dom, _):
                return dom
            case Ground() | Int() | DataType() | Arrow() | TypeVariable():
                space = self.ground(known, place)
                is_number = is_part or space is None or space.is_space
                if not is_number or not is_first_order(self.types.resolve(ty, {}, lambda u: u)):
                    raise TermError("type", f"cov takes numbers, not {self.types.text(ty)}", place)
                return known
            case _:
                assert_never(known)
