r"""Texts of the λ-language: their definitions as the sub-commands ask for them, and their claims.

>>> from adjoint.languages.source_text import Source
>>> found = load([Source("page.lam", "def twice f u = f (f u)\nvalue twice sin 0 = 0\n")])
>>> found.definitions["twice"].signature
'(a → a) → a → a'
>>> print(found.claims())
page.lam:2: ok
1 of 1 claims hold
>>> found.definitions["twice"].value([r"\x. x*x", "3"])
'81'
>>> found.definitions["twice"].differential([r"\x. x*x", "3"], None, reverse=True)
Traceback (most recent call last):
    ...
adjoint.command.report.UsageError: argument 1 of twice is a function: its derivative is `differential`, in Python

Arguments are written as its grammar has them, `(Just 2)`, and so are results.
"""

from __future__ import annotations

from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from adjoint.checks.verification import verify
from adjoint.command.report import TextError, TextSpan, UsageError
from adjoint.higher.machine.machine import reduce
from adjoint.higher.term.anormal import a_normal
from adjoint.higher.term.claims import RULES
from adjoint.higher.term.steps import steps
from adjoint.languages.value_text import Written
from adjoint.reverse.rules import adjoint
from diff import derivative, show
from diff.datatypes.term.recorded_terms import literals
from diff.lam.files.claims import ClaimsReport, result_of
from diff.lam.files.module import Module
from diff.lam.run.evaluate import evaluate
from diff.lam.run.taylor_macro import Taylor
from diff.lam.run.translate import at_shape
from diff.lam.show.show_values import show_value
from diff.lam.term.inductive import is_first_order, made_of
from diff.lam.term.lam_values import filled, opened, shape_of, spaces_of, stacked
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, Cov, Lam, Let, Name, Number, Pattern, Pull, Tuple, fresh
from diff.lam.term.types import REAL, Arrow, Ground, Param, TupleType, Ty, ground, mentions, space_of
from diff.lam.text.items import Definition, PrimitiveItem
from hilbert import R, SpaceError, Vec
from hilbert.base.lazy import uncollected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adjoint.languages.source_text import Source
    from diff.lam.term.lam_values import DiscreteShape, Value
    from diff.lam.term.term_error import Place
    from diff.lam.text.items import Claim, Item
    from diff.terms.program import AnyProgram


@final
@frozen
class LambdaTexts:
    """The functions that texts of the λ-language define, and the claims in these texts."""

    module: Module
    listed: Sequence[LambdaDefinition]
    texts: Mapping[str, str]
    claimed: Sequence[tuple[Module, Claim]]

    @property
    def definitions(self) -> dict[str, LambdaDefinition]:
        """By their names, the last one of each."""
        return {one.name: one for one in self.listed}

    def expression(self, source: str) -> str:
        """The value of an expression, as text; a term of the language of pullbacks is reduced."""
        with _reported({"-e": source, **self.texts}):
            term, _ = self.module.term(source, "-e")
            try:
                value = evaluate(term)
            except TermError:
                return str(reduce(term))
            return show_value(value)

    def claims(self) -> ClaimsReport:
        """Tell if the claims hold."""
        return ClaimsReport(tuple(result_of(names, claim, RULES) for names, claim in self.claimed))


def loader(_: str) -> Callable[[Sequence[Source]], LambdaTexts]:
    """The loader of the files of the language."""
    return load


def load(sources: Sequence[Source]) -> LambdaTexts:
    """Load texts in this order; raises TextError for a mistake in them."""
    module = Module()
    texts = {source.name: source.text for source in sources}
    listed: list[LambdaDefinition] = []

    def read() -> Iterator[Item]:
        for source in sources:
            for item in module.reader.read(source.text, source.name):
                yield item
                if isinstance(item, (Definition, PrimitiveItem)):  # which the module has now taken in
                    listed.append(
                        LambdaDefinition(item.name, _span(item.place, texts), _type(module, item.name), module, texts)
                    )

    with _reported(texts), uncollected():
        claimed = module.claimed(read())
    return LambdaTexts(module, listed, texts, claimed)


def _type(module: Module, name: str) -> Ty:
    """The type of a definition or a primitive."""
    found = module.definition(name)
    if found is not None:
        return found[0]
    op = module.map(name)
    assert op is not None  # it is a primitive of the module
    return Arrow(ground(op.dom), ground(op.cod))


@final
@frozen
class LambdaDefinition:
    """def or prim NAME."""

    name: str
    place: TextSpan
    type: Ty
    module: Module
    file_texts: Mapping[str, str]

    @property
    def signature(self) -> str:
        """Its type."""
        return str(self.type)

    @property
    def stages(self) -> Sequence[str]:
        """The stages that it has, at some arguments."""
        args, result = self._arrows()
        into_real = len(args) == 1 and (result is REAL or isinstance(result, Param))
        on_vectors = any(isinstance(part, (Ground, Param)) for one in args for part in made_of(one)) and all(
            map(is_first_order, (*args, result))
        )
        steps, maps = ["steps"] * into_real, ["program", "adjoint"] * on_vectors
        return ["text", "anf", *steps, "taylor", *maps]

    def _arrows(self) -> tuple[list[Ty], Ty]:
        """The types of the arguments that it takes one after the other, and of the result."""
        args, ty = [], self.type
        while isinstance(ty, Arrow):
            args.append(ty.dom)
            ty = ty.cod
        return args, ty

    # --- arguments ---

    def _read(self, words: Sequence[Any], what: str, due: Sequence[Ty | None]) -> list[tuple[AnyTerm, Ty]]:
        """The terms that are written, of types that are due; raises UsageError where one is none."""
        found = []
        for k, (word, ty) in enumerate(zip_longest(words, due[: len(words)]), 1):
            try:
                found.append(self.module.checked(self.module.reader.term(str(word), f"{what} {k}"), ty))
            except TermError as error:
                raise UsageError(f"{what} {k} of {self.name}, {str(word)[:40]}: {error.message}") from error
        return found

    def _due(self, count: int, *, of_result: bool = False) -> list[Ty | None]:
        """The types of so many arguments, or of so many parts of the result; None for those that are open."""
        args, result = self._arrows()
        found = [result] if of_result else args
        if count > len(found) == 1 and isinstance(found[0], TupleType):
            found = [*found[0].parts]
        return [None if mentions(one, Param) else one for one in found]

    def _applied(self, args: Sequence[AnyTerm]) -> AnyTerm:
        """The definition at arguments: one after the other where its type has so many arrows, else at their tuple."""
        made: AnyTerm = Name(self.name)
        if len(args) <= len(self._arrows()[0]):
            for arg in args:
                made = App(made, arg)
            return made
        return App(made, Tuple(tuple(args)))

    def value(self, args: Sequence[Any]) -> Written:
        """The value at the arguments, as text."""
        terms = [term for term, _ in self._read(args, "argument", self._due(len(args)))]
        with _reported(self.file_texts, self.name):
            return Written(show_value(evaluate(self.module.checked(self._applied(terms))[0])))

    def _function(self, at: Sequence[Any] | None) -> tuple[AnyTerm, Value]:
        """λ⟨x, …⟩. f x …, and the value of its argument; 0 for what is not given. Raises UsageError for functions."""
        given = self._zeros() if at is None else self._read(at, "argument", self._due(len(at)))
        if not given:
            raise UsageError(f"{self.name} is no function of arguments: it has no derivative")
        for k, (_, ty) in enumerate(given, 1):
            if not is_first_order(ty):
                what = f"argument {k} of {self.name} is a function"
                raise UsageError(f"{what}: its derivative is `differential`, in Python")
        xs = [fresh("x", ty) for _, ty in given]
        with _reported(self.file_texts, self.name):
            values = [evaluate(term) for term, _ in given]
            pattern: Pattern = xs[0] if len(xs) == 1 else Tuple(tuple(xs))
            term, _ = self.module.checked(Lam(pattern, self._applied(xs)))
        return term, values[0] if len(values) == 1 else tuple(values)

    def _zeros(self) -> list[tuple[AnyTerm, Ty]]:
        """0 for each argument that is real; raises UsageError for others."""
        found, _ = self._arrows()
        zero = [_zero(one) for one in found]
        if None in zero:
            raise UsageError(f"{self.name} : {self.signature}: at which arguments? write --at")
        return [(term, one) for term, one in zip(zero, found, strict=True) if term is not None]

    def _program(self, at: Sequence[Any] | None) -> tuple[AnyProgram, Any, DiscreteShape, DiscreteShape]:
        """The program for arguments, these as a point, and the shapes of argument and result."""
        term, value = self._function(at)
        with _reported(self.file_texts, self.name):
            shape, leaves = shape_of(stacked(value))
            p, result = at_shape(term, shape)
            return p, _joined(leaves, p.dom), shape, result

    # --- what is asked ---

    def differential(self, at: Sequence[Any], along: Sequence[Any] | None, *, reverse: bool) -> Written:
        """The derivative along a tangent; its adjoint at a cotangent in reverse, by default 1 of ℝ."""
        p, x, shape, result = self._program(at)
        given, due = (result, shape) if reverse else (shape, result)
        if along is None and reverse and spaces_of(given) == [R]:
            along = ["1"]
        what = "cotangent" if reverse else "tangent"
        if along is None:
            raise UsageError(f"along which {what} of {self.name}? write --along with a value of the same shape")
        values = [evaluate(term) for term, _ in self._read(along, what, self._due(len(along), of_result=reverse))]
        found, leaves = shape_of(stacked(values[0] if len(values) == 1 else tuple(values)))
        if found != given:
            of = "result" if reverse else "point"
            raise UsageError(f"the {what} of {self.name} is a value of the shape of its {of}")
        with _reported(self.file_texts, self.name):
            linear = derivative(p)(x)
            linear = adjoint(linear) if reverse else linear
            made = linear(_joined(leaves, linear.dom))
        parts = [made] if len(spaces_of(due)) == 1 else made.split()
        return Written(show_value(opened(filled(due, iter(parts)))))

    def stage(self, name: str, at: Sequence[Any] | None) -> str:
        """A stage as text."""
        with _reported(self.file_texts, self.name):
            match name:
                case "text":
                    definition = self.module.definitions.get(self.name)
                    return str(definition.term if definition else self._linked())
                case "anf":
                    return str(_a_normal(self._linked()))
                case "taylor":
                    return str(Taylor.of(1, 1).term(self._linked()))
                case "steps":
                    return "\n".join(map(str, steps(self._pullback(at))))
                case "program":
                    return show(self._program(at)[0], lines=None, digits=None)
                case _:  # the adjoint
                    p, x, _, _ = self._program(at)
                    d: Any = derivative(p) if at is None else derivative(p)(x)
                    return show(adjoint(d), lines=None, digits=None)

    def _pullback(self, at: Sequence[Any] | None) -> AnyTerm:
        """The pullback of [1]* along a function of one argument into ℝ, at a point."""
        given = [] if at is None else self._read(at, "argument", self._due(len(at)))
        if len(given) != 1:
            raise UsageError(f"the steps of {self.name} are those at one argument: write --at with one value")
        ((point, ty),) = given
        x = fresh("x", ty)
        _, of = self.module.checked(Lam(x, self._applied([x])))
        if not isinstance(of, Arrow) or of.cod is not REAL:
            raise UsageError(f"the steps of {self.name} : {self.signature} are those of a function into real")
        return self.module.checked(App(Pull(x, self._applied([x]), Cov(Number("1"))), point))[0]

    def _linked(self) -> AnyTerm:
        return self.module.checked(Name(self.name))[0]

    def verified(self, at: Sequence[Any] | None) -> Sequence[TextError]:
        """The faults of the derivative of the program at a point, 0 unless it is given."""
        p, x, _, _ = self._program(at)
        with _reported(self.file_texts, self.name):
            found = verify(p, at=x)
        return [] if found else [TextError(self.place, f"{self.name}: {found}")]


def _a_normal(term: AnyTerm) -> AnyTerm:
    """λp. ⌜t⌝ of a definition λp. t, the definitions that it uses being `let`s of t."""
    lets: list[Let] = []
    while isinstance(term, Let) and term.body is not term.pattern:
        lets.append(term)
        term = term.body
    if lets and term == lets[-1].pattern:
        term = lets.pop().value
    body = term.body if isinstance(term, Lam) else term
    for one in reversed(lets):
        body = Let(one.pattern, one.value, body)
    return Lam(term.pattern, a_normal(body)) if isinstance(term, Lam) else a_normal(body)


def _zero(ty: Ty) -> AnyTerm | None:
    """The term of 0 of a type that is a vector space (of a direct sum, a tuple of literals); None for another type."""
    space = space_of(ty)
    return literals(space, space.zeros()) if space is not None and space.is_space else None


def _joined(leaves: list[Any], space: Any) -> Any:
    return leaves[0] if len(leaves) == 1 else Vec(space, tuple(part for leaf in leaves for part in leaf.leaves))


def _span(place: Place, texts: Mapping[str, str]) -> TextSpan:
    return TextSpan(place.file, texts.get(place.file, ""), place.line, place.column)


@contextmanager
def _reported(texts: Mapping[str, str], of: str | None = None) -> Iterator[None]:
    """Errors that are about a place in a text; with a name, others are about what its definition was given."""
    try:
        yield
    except SpaceError as error:
        if isinstance(error, TermError) and (of is None or (error.place and error.place.file in texts)):
            raise TextError.of(error, texts) from error
        if of is None:
            raise
        raise UsageError(f"{of}: {getattr(error, 'message', error)}") from error
