"""Values that are not known while a function is run on symbols: what looks into them is refused."""

from __future__ import annotations

from typing import Any, NoReturn, final

from diff.datatypes.kinds.kinds import Kind, Sequence
from diff.datatypes.term.symbol_lines import recordings
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, Var


class Symbol:
    """A value that is not known while a function is run on symbols: it may be passed on, and not be looked into."""

    __slots__ = ("kind", "var")

    def __init__(self, kind: Kind, var: Var) -> None:
        self.kind, self.var = kind, var

    def term(self) -> AnyTerm:
        """The variable that it is."""
        return self.var

    def _refuse(self, what: str) -> NoReturn:
        many = (
            "; folded(step, start, items) goes over the items of a sequence" if isinstance(self.kind, Sequence) else ""
        )
        message = f"{what} of a value of {self.kind} that is not known while its function is traced: "
        raise TermError("tag", f"{message}write case(v, on(A, …) | on(B, …)) to take it apart{many}")

    @property
    def __class__(self) -> Any:
        """Asked for by `isinstance` and by patterns; afterwards, by who describes an error."""
        if recordings.get():
            self._refuse("the class")
        return type(self)

    @__class__.setter
    def __class__(self, cls: Any) -> None:
        self._refuse("another class")

    def __bool__(self) -> bool:  # noqa: PLE0304
        self._refuse("the truth")

    def __iter__(self) -> Any:
        self._refuse("the items")

    def __len__(self) -> int:  # noqa: PLE0303
        self._refuse("the length")

    def __getitem__(self, key: Any) -> Any:
        self._refuse("an item")

    def __eq__(self, other: object) -> bool:
        return self is other or self._refuse("the equality")

    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not recordings.get():  # asked for by Python's own machinery, or by an error's text
            raise AttributeError(name)
        self._refuse(f"the field {name}")


class TakenApart(Exception):  # noqa: N818 - no error: the function is run for each class
    """A function looks into its argument."""


@final
class WholeSymbol(Symbol):
    """The data that a function is given, as long as it only passes them on."""

    __slots__ = ()

    def _refuse(self, what: str) -> NoReturn:
        raise TakenApart
