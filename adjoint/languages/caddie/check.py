"""The types of a text: one for each function, found from all its uses in the texts that are read together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from adjoint.languages.caddie.types import definition, is_number, text
from diff.higher.binding import mapped
from diff.higher.check import Checker
from diff.higher.errors import TermError
from diff.higher.resolve import Dialect
from diff.higher.terms import Name, Var, fresh
from diff.higher.types import INT, REAL, Ty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjoint.languages.caddie.parser import Definition
    from diff.higher.errors import Place
    from diff.higher.terms import AnyTerm
    from diff.higher.types import Declaration

CADDIE = Dialect(generalise=False, arity=lambda _: None, text=text, component="#", least=2)


@final
@frozen(eq=False)
class Checked:
    """A definition, or an expression, whose `itself` is None: its term without unknowns, and its type.

    `uses` are the built-in names in the term, at their types, each with the free variable that is it in `linked`.
    """

    itself: Var | None
    term: AnyTerm
    type: Ty
    linked: AnyTerm
    uses: tuple[tuple[Var, Name], ...]


@final
class BuiltIn:
    """What names stand for: what is defined in a text is a variable."""

    def definition(self, name: str) -> tuple[Ty, int] | None:
        """Its type, and the number of its parameters."""
        return definition(name)

    def constructor(self, name: str) -> Declaration | None:
        """There are none."""

    def free(self, name: str) -> Var | None:
        """There are none."""

    def map(self, name: str) -> None:
        """There are none."""

    def near(self, name: str) -> str:
        """Every name is known here."""
        return ""


def checked(definitions: Sequence[Definition], expression: AnyTerm | None = None) -> list[Checked]:
    """The definitions, and an expression that uses them, with their types; raises TermError."""
    checker = Checker(BuiltIn(), CADDIE)
    open_: list[tuple[Var | None, AnyTerm, Ty]] = []
    for one in definitions:
        term, ty = checker.check(one.function)
        checker.types.unify(one.itself.type, ty, one.place)
        open_.append((one.itself, term, ty))
    if expression is not None:
        open_.append((None, *checker.check(expression)))
    return [_finished(checker, *one) for one in open_]


def _finished(checker: Checker, itself: Var | None, term: AnyTerm, ty: Ty) -> Checked:
    place = itself.place if itself else term.place
    try:
        term, ty = checker.finish(term, ty, lambda _: REAL)
        text(ty)
    except TermError as error:
        raise error.at(place) from None
    uses: dict[tuple[str, tuple[Ty, ...]], tuple[Var, Name]] = {}

    def step(node: Any) -> Any:
        if not isinstance(node, Name):
            return None
        _require_number(node.name, node.at, node.place)
        key = node.name, node.at
        x = uses[key][0] if key in uses else uses.setdefault(key, (fresh(node.name, REAL), node))[0]
        return Var(x.name, x.number, x.type, place=node.place)

    linked = mapped(term, step)
    return Checked(itself, term, ty, linked, tuple(uses.values()))


def _require_number(name: str, at: tuple[Ty, ...], place: Place | None) -> None:
    """Raise TermError for a number where something else is due; 0 is of any type."""
    word, _, constants = name.partition(" ")
    if word == "range":
        numbers = constants.split()
    elif is_number(name) and name != "0":
        numbers = [name]
    else:
        return
    if at[0] is REAL:
        return
    if at[0] is not INT:
        raise TermError("type", f"a number is of type real where {text(at[0])} is due", place)
    wrong = next((one for one in numbers if "." in one), None)
    if wrong is not None:
        raise TermError("type", f"{wrong} is a real where an index is due", place)
