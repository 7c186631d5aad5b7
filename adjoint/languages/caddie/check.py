"""The types of a text: one for each function, found from all its uses in the texts that are read together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from adjoint.languages.caddie.types import definition, is_number, text
from diff.lam.check.check import Checker
from diff.lam.check.resolve import Dialect
from diff.lam.term.binding import mapped
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import Name, Var, fresh
from diff.lam.term.types import INT, REAL, Ty, Unknown
from hilbert.base.once import cached_property

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjoint.languages.caddie.parser import Definition
    from diff.lam.term.terms import AnyTerm
    from diff.lam.term.types import Declaration

CADDIE = Dialect(generalise=False, arity=lambda _: None, text=text, component="#", least=2)


@final
@frozen(eq=False, slots=False)
class Checked:
    """A definition, or an expression, whose `itself` is None: its term without unknowns, and its type."""

    itself: Var | None
    term: AnyTerm
    type: Ty

    @cached_property
    def linked(self) -> tuple[AnyTerm, dict[tuple[str, tuple[Ty, ...]], tuple[Var, Name]]]:
        """The term with a free variable for each built-in name at each of its types, and these variables.

        The core's evaluator refuses names, and asks `CaddieEvaluator.free` for the value of a variable by its number.
        Made on demand: `check` of a long text has no use of this term.
        """
        uses: dict[tuple[str, tuple[Ty, ...]], tuple[Var, Name]] = {}

        def step(node: Any) -> Any:
            if not isinstance(node, Name):
                return None  # `mapped` goes on below the node
            key = node.name, node.at  # the types at which the name is used
            # REAL is a placeholder: the evaluator does not read the type of a free variable
            x = uses[key][0] if key in uses else uses.setdefault(key, (fresh(node.name, REAL), node))[0]
            return Var(x.name, x.number, x.type, place=node.place)

        return mapped(self.term, step), uses


@final
class BuiltIn:
    """The meaning of names where a text is checked: a definition of a text is a variable."""

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
    open_.reverse()
    return [_finished(checker, *open_.pop()) for _ in range(len(open_))]  # no term is kept twice


def _finished(checker: Checker, itself: Var | None, term: AnyTerm, ty: Ty) -> Checked:
    place = itself.place if itself else term.place
    names: list[Name] = []

    def seen(node: AnyTerm) -> None:
        if isinstance(node, Name):
            names.append(node)

    try:
        term, ty = checker.finish(term, ty, _as_real, seen)
        text(ty)
    except TermError as error:
        raise error.at(place) from None
    for name in names:
        _require_number(name, checker)
    return Checked(itself, term, ty)


def _as_real(_: Unknown) -> Ty:
    """The type of a number, for a type that is not determined."""
    return REAL


def _require_number(name: Name, checker: Checker) -> None:
    """Raise TermError for a number where something else is due; 0 is of any type."""
    word, _, constants = name.name.partition(" ")
    if word == "range":
        numbers = constants.split()
    elif is_number(word) and word != "0":
        numbers = [word]
    else:
        return
    due = checker.types.find(name.at[0])
    if due is REAL or isinstance(due, Unknown):
        return
    if due is not INT:
        due = checker.types.resolve(due, {}, _as_real)
        raise TermError("type", f"a number is of type real where {text(due)} is due", name.place)
    wrong = next((one for one in numbers if "." in one), None)
    if wrong is not None:
        raise TermError("type", f"{wrong} is a real where an index is due", name.place)
