"""The functions of a text as maps of the library, one for each lengths of the arrays that they are given."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias, final

from attrs import evolve

from adjoint.languages.caddie.arithmetic import DEEPEST, packed
from adjoint.languages.caddie.array_lengths import found
from adjoint.languages.caddie.built_in import built_in, require_few
from adjoint.languages.caddie.caddie_text import internal, source
from adjoint.languages.caddie.check import Checked, checked
from adjoint.languages.caddie.parser import definitions, expression
from adjoint.languages.caddie.type_spaces import chosen, fitted, open_lengths, space_of
from adjoint.languages.caddie.types import depth, mentions_index, text
from adjoint.languages.loaded_functions import Given, Loaded, LoadedFunction
from adjoint.languages.source_text import Source
from adjoint.languages.stages import STAGES
from adjoint.languages.value_spaces import value_of
from adjoint.languages.value_text import is_tuple
from adjoint.languages.value_text import text as value_text
from diff import const
from diff.lam.run.evaluate import STEPS, Evaluator
from diff.lam.term.lam_values import Native, nested
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.terms import Lam
from diff.lam.term.types import Arrow, DataType, TupleType, Ty
from diff.trace.trace import fun
from hilbert import DirectSum, SpaceError, Type, Vec
from hilbert.base.lazy import uncollected
from hilbert.base.once import first
from hilbert.base.term import driven
from hilbert.errors import raised_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjoint.languages.caddie.parser import Definition
    from adjoint.languages.value_text import Value
    from diff.lam.term.binding import Pass
    from diff.lam.term.terms import Var
    from diff.terms.program import AnyProgram
    from hilbert.map.map import AnyMap

Stage: TypeAlias = "Callable[[Sequence[Value] | None, Vec[Any] | None], str]"
LEAST = 3
"""The length of arrays that is tried first where none is given."""


def load(sources: Sequence[Source]) -> Loaded:
    """The functions of texts, read in their order; raises TermError for a mistake in them."""
    with uncollected():
        open_ = definitions(sources)
        made = checked(open_)
        functions = [CaddieFunction(made, k) for k in range(len(made))]
    return Loaded({f.name: f for f in functions}, lambda source: _expression(source, open_))


def _expression(source: str, known: Sequence[Definition]) -> str:
    """The value of an expression, as text."""
    return value_text(_value_of_expression(expression(Source("-e", source), known), known))


def _value_of_expression(term: Any, known: Sequence[Definition]) -> Value:
    *before, last = checked(known, term)
    place = last.term.place or Place("-e", 1, 1)
    if mentions_index(last.type):
        raise TermError("type", "an index has no value outside of red", place)
    value = _located(lambda: packed(CaddieEvaluator([*before, last]).last()), place)
    return value_of(value)


@final
class CaddieFunction(LoadedFunction):
    """fun name x = body."""

    def __init__(self, of_text: Sequence[Checked], k: int) -> None:
        self._of_text, self._k, self._own = of_text, k, of_text[k]
        itself = self._own.itself
        assert itself is not None
        assert isinstance(self._own.type, Arrow)
        assert itself.place is not None
        self.name, self.place, self.type = itself.name, itself.place, self._own.type
        self._made: dict[Type, AnyProgram] = {}
        self._reached = 0  # how often something built in was applied in the last evaluation

    @property
    def signature(self) -> str:
        """ARGUMENT -> RESULT."""
        return text(self.type)

    @property
    def _known(self) -> Sequence[Checked]:
        """The functions that it may call, and itself."""
        return self._of_text[: self._k + 1]

    def _require_data(self) -> None:
        """Raise TermError for a function that is none of real data."""
        if mentions_index(self.type):
            raise TermError("type", f"{self.name} : {self.signature} has an index, which is a constant", self.place)
        if max(depth(self.type.dom), depth(self.type.cod)) > DEEPEST:
            raise TermError("limit", f"{self.name} has a type that is nested more than {DEEPEST} deep", self.place)

    def of(self, *spaces: Given) -> AnyMap:
        """The map on these spaces, one for each component of a tuple; made once. Raises SpaceError for others."""
        self._require_data()
        dom = self.type.dom
        if not spaces and not open_lengths(dom):
            return self._program(chosen(dom))
        own = tuple([space for space in spaces if isinstance(space, Type)])
        if len(own) < len(spaces):
            raise SpaceError(f"{self.name}.of takes spaces, one for each component of {text(dom)}")
        given = own[0] if len(own) == 1 else DirectSum(own)
        try:
            p = self._program(fitted(dom, given))
        except SpaceError as error:
            raise SpaceError(f"{self.name} : {self.signature}: {error}") from error
        return p if p.dom == given else evolve(p, dom=given)

    def like(self, args: Sequence[Value] | None) -> AnyMap:
        """The map for arguments of the shapes of values; for None of arrays of three or, if need be, more elements."""
        self._require_data()
        dom = self.type.dom
        if args is None:
            return self.sized()[0]
        is_several = isinstance(dom, TupleType) and not (len(args) == 1 and is_tuple(args[0]))
        if not is_several and len(args) != 1:
            raise SpaceError(f"{self.name} takes one argument, {text(dom)}: {len(args)} were given")
        made = self._program(space_of(dom, tuple(args) if is_several else args[0]))
        for leaf in made.line.slots:
            require_few(leaf.size, self.place)
        return made

    def sized(self) -> tuple[AnyProgram, tuple[int, ...]]:
        """The map on arrays of lengths that are chosen, and the lengths in the order of the type."""
        self._require_data()
        dom = self.type.dom

        def made(lengths: Sequence[int]) -> AnyProgram:
            return self._program(chosen(dom, iter(lengths)))

        if not (count := open_lengths(dom)):
            return made(()), ()
        return found(count, list(dict.fromkeys((LEAST, *_lengths(self._known)))), made, lambda: self._reached)

    def stages(self) -> Mapping[str, Callable[[Sequence[Value] | None, Vec[Any] | None], str]]:
        """Its stages as texts; where no point is given, the length that is chosen is said first."""
        function = self._own.term
        assert isinstance(function, Lam)
        name = self.name

        def of_map(stage: Callable[[AnyMap, Vec[Any] | None], str], mark: tuple[str, str] = ("(* ", " *)")) -> Stage:
            def run(at: Sequence[Value] | None, x: Vec[Any] | None) -> str:
                found: tuple[AnyMap, tuple[int, ...]] = self.sized() if at is None else (self.like(at), ())
                f, lengths = found
                said = lengths[:1] if len(set(lengths)) == 1 else lengths
                shown = stage(f, x)
                note = f"arrays of {', '.join(map(str, said))} elements"
                return f"{mark[0]}{note}{mark[1]}\n{shown}" if lengths else shown

            return run

        maps = {k: of_map(stage) for k, stage in STAGES.items() if k not in {"text", "diagram"}}
        maps["python"] = of_map(STAGES["python"], ("# ", ""))
        return {"text": lambda *_: source(name, function), "expression": lambda *_: internal(name, function), **maps}

    def _program(self, dom: Type) -> AnyProgram:
        found = self._made.get(dom)
        return first(self._made, dom, self._traced(dom)) if found is None else found

    def _traced(self, dom: Type) -> AnyProgram:
        def body(*args: Any) -> Any:
            parts = [nested(arg.space, arg) for arg in args]
            evaluator = CaddieEvaluator(self._known)
            try:
                made = packed(evaluator.last(tuple(parts) if isinstance(dom, DirectSum) else parts[0]))
            finally:
                self._reached = evaluator.applied
            return const(made) if isinstance(made, Vec) else made

        with uncollected():
            made = _located(lambda: fun.over(dom)(body), self.place)
        return evolve(made, names=_names(self.type.dom))


def _names(dom: Ty) -> tuple[str, ...]:
    """x1, …, xn for a tuple, xs for an array, x for a number."""
    if isinstance(dom, TupleType):
        return tuple(f"x{k}" for k in range(1, len(dom.parts) + 1))
    return ("xs" if isinstance(dom, DataType) else "x",)


def _lengths(known: Sequence[Checked]) -> list[int]:
    """The lengths that a text may mean: of its literals, and such that its indices are in range."""
    found: dict[int, None] = {}
    last = 0
    for one in known:
        for _, use in one.linked[1].values():
            word, _, constant = use.name.partition(" ")
            if word in {"iota", "repl", "array"}:
                found[int(constant)] = None
            elif re.fullmatch(r"\d+", word):
                last = max(last, int(word))
    return [*sorted(found), *({last + 1: None} if last >= LEAST else {})]


# --- evaluation ---


@final
class CaddieEvaluator(Evaluator):
    """The core's evaluator; free variables are what is built in."""

    def __init__(self, known: Sequence[Checked]) -> None:
        super().__init__(STEPS)
        self.known = known
        self.applied = 0  # how many times something built in was
        self._uses = {x.number: use for one in known for x, use in one.linked[1].values()}

    def free(self, x: Var) -> Value:
        """The value of a built-in name, used at a place."""
        use = self._uses[x.number]
        count, run = built_in(use.name, use.at, self.called)

        def counted(*args: Value) -> Value:
            value = run(*args)
            self.applied += 1
            return value

        return _native(count, counted, x.place)

    def called(self, function: Value, arg: Value) -> Value:
        """f v."""
        return driven(self.call(function, arg))

    def last(self, *args: Value) -> Value:
        """The value of the last of the definitions, which may use those before it; a function's at an argument."""
        env: dict[int, Value] = {}
        value: Value = None
        for one in self.known:
            value = driven(self.value(one.linked[0], env))
            if one.itself is not None:
                env[one.itself.number] = value
        for arg in args:
            value = self.called(value, arg)
        return value


def _native(count: int, run: Callable[..., Value], place: Place | None, *args: Value) -> Value:
    """A built-in name as a value: a function that takes its arguments one after the other."""
    if len(args) == count:
        return _located(lambda: run(*args), place)

    def taken(arg: Value) -> Pass:
        return _native(count, run, place, *args, arg)
        yield  # a pass that has no parts

    return Native(taken)


def _located(made: Callable[[], Any], place: Place | None) -> Any:
    """Run a function; errors of the library are located here, unless they have a place in the text already."""
    try:
        return made()
    except SpaceError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, TermError) and cause.place:
                raise cause from None
            cause = raised_for(cause)
        inner = error.message if isinstance(error, TermError) else str(error).partition("\n")[0]
        code = error.code if isinstance(error, TermError) else "shape"
        raise TermError(code, inner, place) from None
    except RecursionError:
        raise TermError("limit", "nested too deep", place) from None
