"""Functions on data in a Python file: what `term` makes. Their arguments are written in Python, as `-e` takes them.

>>> from adjoint.command.report import TextSpan
>>> from diff import data, term, variant
>>> from hilbert import R
>>> @variant
... class Nothing:
...     pass
>>> @term(R, data(Nothing))
... def given(x, m):
...     return x
>>> found = DataDefinition("given", TextSpan("model.py", "", 1, 1), given)
>>> found.signature, found.stage("text", None)
('(ℝ, Nothing) -> ℝ', 'λ(⟨x, m⟩ : real * Nothing). x')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, assert_never, final

from attrs import frozen

from adjoint.command.report import TextSpan, UsageError, located
from diff import AnyTermFunction
from diff.datatypes.kinds.kinds import Data, Function, Itself, Sequence
from hilbert import Type

if TYPE_CHECKING:
    from collections.abc import Sequence as Several

    from adjoint.command.report import TextError
    from adjoint.languages.value_text import Value
    from diff.datatypes.kinds.kinds import Kind


@final
@frozen
class DataDefinition:
    """A function on data: its type and its term; values are those of expressions."""

    name: str
    place: TextSpan
    function: AnyTermFunction

    @property
    def signature(self) -> str:
        """(ARGUMENT, …) -> RESULT; raises TextError where the function is no term."""
        with located(self.place):
            kinds = self.function.kinds
            return f"{kind_text(kinds[0] if len(kinds) == 1 else kinds)} -> {kind_text(self.function.result)}"

    @property
    def stages(self) -> Several[str]:
        """The term alone: a program is for arguments of one shape."""
        return ["text"]

    def value(self, args: Several[Value]) -> Value:
        """Raise UsageError: it says how values are asked for."""
        self._in_python(f"{self.name}(…)")

    def differential(self, at: Several[Value], along: Several[Value] | None, *, reverse: bool) -> Value:
        """Raise UsageError: it says how gradients are asked for."""
        self._in_python(f"hb.grad({self.name})(…)")

    def stage(self, name: str, at: Several[Value] | None) -> str:
        """The term."""
        if at is not None:
            raise UsageError(f"{self.name}: this stage is that of the function: it takes no --at")
        with located(self.place):
            return str(self.function.term)

    def verified(self, at: Several[Value] | None) -> Several[TextError]:
        """Raise UsageError: it says how a function is verified."""
        self._in_python(f"hb.verify(hb.program({self.name}, at=…), at={self.name}.at(…).point)")

    def _in_python(self, call: str) -> NoReturn:
        what = f"{self.name} : {self.signature} is a function on data, which are written in Python"
        raise UsageError(f"{what}: hilbert run {self.place.file} -e '{call}'; its stage is text")


def kind_text(kind: Kind) -> str:
    """A kind as an annotation has it: a space, classes, tuples."""
    match kind:
        case tuple():
            return f"({', '.join(map(kind_text, kind))})"
        case Data(classes):
            return " | ".join(cls.__name__ for cls in classes)
        case Sequence(of):
            return f"tuple[{kind_text(of)}, ...]"
        case Function(takes, gives):
            return f"(({', '.join(map(kind_text, takes))}) -> {kind_text(gives)})"
        case Type() | Itself():  # a space prints itself
            return str(kind)
        case _:
            assert_never(kind)
