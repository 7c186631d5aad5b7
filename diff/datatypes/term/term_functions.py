"""Functions on data: Python functions that are terms, too, and their programs for arguments of one shape.

See `diff.datatypes.term.term_decorator`.
"""

from __future__ import annotations

import inspect
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeAlias, TypeVar, final, overload

from diff.datatypes.kinds.conversion import fault, from_core, to_core
from diff.datatypes.kinds.kinds import Data, Kind, type_of
from diff.datatypes.kinds.layout import Key, reader, taken
from diff.datatypes.kinds.misfits import misfit, nothing
from diff.datatypes.term.instance import Form, Instance
from diff.datatypes.term.recorded_terms import packed
from diff.datatypes.term.symbol_lines import recordings
from diff.datatypes.term.symbolic import current
from diff.datatypes.term.traced_terms import Traced, parameters
from diff.lam.run.evaluate import call, evaluate
from diff.lam.term.lam_values import shape_of, stacked
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App
from diff.terms.function import OnData
from diff.terms.lower import Shaped
from hilbert import SpaceError, Type
from hilbert.base.once import first, kept
from hilbert.displayed import Displayed
from hilbert.errors import shown
from hilbert.tracebacks import tracing

if TYPE_CHECKING:
    from collections.abc import Callable

    from diff.terms.program import AnyProgram

P = ParamSpec("P")
Q = ParamSpec("Q")
X = TypeVar("X")
Y = TypeVar("Y")


@final
class TermFunction(Displayed, Traced, Shaped, OnData, Generic[P, Q, X, Y]):
    """A Python function on data, which is also a term: see `term`."""

    def __init__(self, body: Callable[..., Any], kinds: tuple[Kind, ...], to: Kind | None) -> None:
        if not callable(body) or not isinstance(kinds, tuple):
            given = f"{shown(body)} and {shown(kinds)}"
            raise SpaceError(f"TermFunction takes a function and a tuple of kinds, not {given}: write @term(…)")
        super().__init__(body, kinds, to)
        self._reader, self._forms = reader(kinds), dict[Key, Form]()
        self._vectors = [(k, kind) for k, kind in enumerate(kinds) if isinstance(kind, Type)]
        update_wrapper(self, body)

    def __repr__(self) -> str:
        made = kept(TermFunction._traced, self)
        gives = self._to if made is None else made[1]
        kinds = self.kinds if len(self.kinds) != 1 else self.kinds[0]
        return f"<{self.name} : {type_of(kinds)} → {'…' if gives is None else type_of(gives)}>"

    def __reduce__(self) -> str:
        """By the name under which its module has it, as Python's functions are pickled."""
        return self.body.__qualname__

    # --- as a Python function ---

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> X: ...
    @overload
    def __call__(self, *args: Q.args, **kwargs: Q.kwargs) -> Y: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The value at data, by the Python function itself; on expressions and symbols that of the term.

        Raises TermError: `shape` for a vector of another space, `type` for what is none; in a body `recursion` for a
        call of itself on what is no part of its argument or with other arguments.
        """
        if kwargs or len(args) != len(self.kinds):
            args = self._positional(args, kwargs)
        if not tracing.get():
            for k, kind in self._vectors[: len(args)]:
                space = getattr(args[k], "space", None)
                if space is not kind and space != kind:
                    self._require_kinds(args)
            try:
                found = self.body(*args)
            except RecursionError:  # data that are deeper than Python's stack: the evaluator has none
                return self.evaluated(*args)
            if found is None:
                some = [type(arg) for arg, kind in zip(args, self.kinds, strict=False) if isinstance(kind, Data)]
                raise nothing(self.name, self.kinds, some[-1] if some else None)
            return found
        if not recordings.get():
            return self.evaluated(*args)
        if len(args) != len(self.kinds):
            raise TermError("type", f"{self.name} takes {len(self.kinds)} arguments, not {len(args)}")
        running = self._running()
        if running is not None:
            return self._again(running, args)
        return current().call(self.kinds, args, self.result, lambda parts: App(self.term, packed(parts)))

    def _require_kinds(self, args: tuple[Any, ...]) -> None:
        """Raise TermError for the first argument that is not of its kind, with the way to what does not fit."""
        names = parameters(self.body, len(self.kinds))
        found = misfit(self.kinds, args, names)
        if found is None:
            return
        k, wrong = found
        fits = [str(j + 1) for j, kind in enumerate(self.kinds) if j != k and fault(kind, args[k]) is None]
        is_whole = fault(self.kinds[k], args[k]) is not None
        what = f"argument {k + 1} of {self.name}{f', {names[k]}' if is_whole else ''}"
        if is_whole and fits:  # which is the remedy
            swapped = f"{what} (it would fit as argument {', '.join(fits)}): {wrong.message.partition(': ')[0]}"
            raise TermError(wrong.code, swapped)
        raise TermError(wrong.code, f"{what}: {wrong.message}")

    def _positional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        try:
            return inspect.signature(self.body).bind(*args, **kwargs).args
        except TypeError as error:
            due, given = len(self.kinds), len(args) + len(kwargs)
            what = f"{self.name}({', '.join(parameters(self.body, due))})"
            why = f"{what}: {error}" if due == given else f"{what} takes {due} arguments, not {given}"
            raise TermError("type", why) from None

    def evaluated(self, *args: Any) -> Any:
        """The value of the term at data, which may hold expressions of a traced function."""
        return from_core(self.result, call(evaluate(self.term), self._argument(args)))

    def _argument(self, args: tuple[Any, ...]) -> Any:
        if len(args) != len(self.kinds):
            raise TermError("type", f"{self.name} takes {len(self.kinds)} arguments, not {len(args)}")
        try:
            values = to_core(self.kinds, args)
        except TermError:
            self._require_kinds(args)
            raise
        return values[0] if len(args) == 1 else values

    # --- as a term ---

    @property
    def term(self) -> AnyTerm:
        """λ⟨x, …⟩. t. Raises TermError, with the line of the body, for what is no term."""
        return self._traced()[0]

    @property
    def result(self) -> Kind:
        """The kind of its results."""
        return self._traced()[1]

    # --- as a program ---

    def at(self, *args: Any, **kwargs: Any) -> Instance:
        """The function for all arguments of the shape of these. Raises TermError for arguments of other kinds."""
        if kwargs or len(args) != len(self.kinds):
            args = self._positional(args, kwargs)
        try:
            read = taken(self._reader, args)
        except TermError:
            self._require_kinds(args)
            raise
        if read is None:  # arguments of other kinds, or with expressions in them
            shape, leaves = shape_of(stacked(self._argument(args)))
            return Instance(Form(self.term, self.kinds, self.result, shape, None), leaves)
        key, vectors = read
        form = self._forms.get(key)
        if form is None:
            shape, _ = shape_of(stacked(self._argument(args)))
            form = first(self._forms, key, Form(self.term, self.kinds, self.result, shape, key))
        return Instance(form, vectors)

    def program_at(self, at: Any) -> AnyProgram:
        """See `diff.program`."""
        return self.at(*(at if isinstance(at, tuple) and len(self.kinds) != 1 else (at,))).program


AnyTermFunction: TypeAlias = TermFunction[..., ..., Any, Any]
"""A function on data of any arguments."""
