"""The functions of a text: their values and derivatives at values, as maps of the library, and their stages."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, final
from warnings import warn

import numpy as np
from attrs import evolve

from adjoint.languages.ks.notes import NAMES
from adjoint.languages.ks.run import derivatives, verify
from adjoint.languages.ks.run import function_maps as maps
from adjoint.languages.ks.run.evaluate import STEPS, KsEvaluator
from adjoint.languages.ks.run.map_arguments import no_cotangent, not_given
from adjoint.languages.ks.run.text_functions import Linked
from adjoint.languages.ks.text import printer
from adjoint.languages.ks.text.form_reader import too_large
from adjoint.languages.ks.text.function_names import Written
from adjoint.languages.ks.text.resolution import Definition
from adjoint.languages.ks.text.text_scope import Scope, read
from adjoint.languages.ks.value import convert
from adjoint.languages.ks.value.ks_values import leaves_of, real
from adjoint.languages.ks.value.packing import packed_space
from adjoint.languages.ks.value.types import has_maps, is_real, tangent, text
from adjoint.languages.ks.value.value_classes import Value
from adjoint.languages.ks.value.value_syntax import plain
from adjoint.languages.ks.value.value_syntax import text as value_text
from adjoint.languages.loaded_functions import Fault, Given, Loaded, LoadedValues
from adjoint.languages.source_text import Source
from adjoint.languages.stages import STAGES
from adjoint.languages.value_spaces import value_of
from diff import program
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.types import Ground, TupleType
from diff.terms.program import Program
from diff.trace.expr import Expr
from hilbert import DirectSum, R, SpaceError, Type, Vec
from hilbert.base.lazy import uncollected
from hilbert.base.term import driven
from hilbert.errors import is_number, raised_for
from hilbert.program.line.builder import Builder
from hilbert.program.line.operation import Reduce
from hilbert.relation import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from adjoint.languages.ks.text.function_names import Callee
    from diff.terms.program import AnyProgram
    from hilbert.map.map import AnyMap

T = TypeVar("T")
LOCAL = {"derivative", "adjoint", "structure", "cost"}
"""Stages that are of the linear map at a point, if there is one."""
CHOSEN = f"vectors of {convert.LENGTH} elements, integers are {convert.INTEGER}"
"""The sizes where none are given."""
PIPELINE = "adjoint.languages.ks.notes.pipeline"
"""The module that makes the stages of the notes; imported when one is shown."""
SEED = 0
"""Points that are not given are drawn with this seed."""


def load(sources: Sequence[Source], *, prelude: bool = True, steps: int = STEPS) -> Loaded:
    """The functions of texts, read in their order; raises TermError for a mistake in them."""
    scope = read(sources, prelude=prelude)
    linked = Linked(scope)

    def expression(source: str) -> str:
        term, _ = scope.expression(Source("-e", source))
        ev = KsEvaluator(linked, steps)
        found = evaluated(lambda: driven(ev.value(linked.term(term), {})), term.place)
        return evaluated(lambda: value_text(found), term.place)

    return Loaded(Functions(linked, steps), expression)


def evaluated(made: Callable[[], T], place: Place | None) -> T:
    """Run a function; errors of the library are located here, unless they have a place in the text already."""
    try:
        with np.errstate(all="ignore"), uncollected():
            return made()
    except SpaceError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, TermError) and cause.place:
                raise cause from None
            cause = raised_for(cause)
        if isinstance(error, TermError):
            raise error.at(place) from None
        raise TermError("shape", str(error).partition("\n")[0], place) from None
    except RecursionError:
        raise TermError("limit", "nested too deep", place) from None


@final
class Functions(Mapping[str, LoadedValues]):
    """The functions that are defined, in order; any that is named, [f T] and [rev f] too, is found."""

    def __init__(self, linked: Linked, steps: int) -> None:
        self.linked, self.steps = linked, steps
        self._found: dict[str, KsFunction] = {}
        for one in linked.scope.definitions:
            name = one.name if linked.scope.names[one.name] == 1 else one.callee.named
            self._found.setdefault(name, KsFunction(linked, one, steps))

    def __getitem__(self, name: str) -> KsFunction:
        """The function of a name; raises KeyError where there is none."""
        scope: Scope = self.linked.scope
        if name in self._found:
            return self._found[name]
        try:
            callee = scope.function(Source("NAME", name))
        except TermError as error:
            if error.code == "type":  # several are named, or none of that type
                raise SpaceError(error.message) from None
            raise KeyError(name) from error
        kind = own.kind if (own := scope.defined(callee)) else "gdef"
        one = Definition(kind, name, callee, None, scope.place(callee))
        return KsFunction(self.linked, one, self.steps)

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


@final
class KsFunction(LoadedValues):
    """def name T params body, or what is derived from one."""

    def __init__(self, linked: Linked, one: Definition, steps: int) -> None:
        self.linked, self.one, self.steps = linked, one, steps
        self.name, self.place = one.name, one.place

    @property
    def callee(self) -> Callee:
        """The name and type that it is called by."""
        return self.one.callee

    @property
    def signature(self) -> str:
        """ARGUMENT -> RESULT."""
        return self.one.signature

    def _evaluator(self) -> KsEvaluator:
        ev = KsEvaluator(self.linked, self.steps)
        ev.place = self.place
        return ev

    def _called(self, x: Value) -> Value:
        return maps.call(self.linked, self.callee, x, self._evaluator())

    def given(self, args: Sequence[Any]) -> Value:
        """Arguments as its argument; raises SpaceError for others."""
        self._require_shallow()
        if has_maps(self.callee.arg):
            raise SpaceError(not_given(self.callee))
        return convert.arguments_of(self.callee.arg, args)

    def _drawn(self) -> Value:
        """An argument that is chosen."""
        self._require_shallow()
        return evaluated(lambda: convert.drawn(self.callee.arg, np.random.default_rng(SEED)), self.place)

    def _require_shallow(self) -> None:
        evaluated(lambda: convert.require_shallow(self.callee.arg, self.callee.result), self.place)

    def value(self, args: Sequence[Any]) -> Any:
        """The value at arguments."""
        x = self.given(args)
        return evaluated(lambda: plain(self._called(x)), self.place)

    def differential(self, at: Sequence[Any], along: Sequence[Any] | None, *, reverse: bool) -> Any:
        """The derivative at a point along a tangent; its adjoint at a cotangent in reverse, 1.0 by default."""
        callee = self.callee
        if has_maps(callee.arg):
            is_missing = reverse and has_maps(callee.arg, linear=True)
            kind = "rev" if reverse else "fwd"
            raise SpaceError(no_cotangent(callee) if is_missing else not_given(callee.derived(kind, "")))
        x = self.given(at)
        if reverse:
            evaluated(lambda: derivatives.require_reversible(callee), self.place)
        if along is None:
            if not reverse or not isinstance(callee.result, Ground):
                what, ty = ("cotangent", callee.result) if reverse else ("tangent", callee.arg)
                raise SpaceError(f"along which {what}? write --along with one of type {text(tangent(ty))}")
            dt: Value = real(1.0)
        else:
            ty = tangent(callee.result if reverse else callee.arg)
            dt = convert.arguments_of(ty, along)
            if not reverse:
                convert.require_shape(x, dt)
        run = derivatives.backward if reverse else derivatives.forward
        try:
            return evaluated(lambda: plain(run(self.linked, callee, (x, dt), self._evaluator())), self.place)
        except TermError:
            if along is not None and reverse:  # whether the cotangent is what is wrong
                convert.require_shape(evaluated(lambda: self._called(x), self.place), dt)
            raise

    def verified(self, at: Sequence[Any] | None) -> Sequence[Fault]:
        """The faults of the function, of those derived from it, and of it as derived from another."""
        callee, scope = self.callee, self.linked.scope
        if has_maps(callee.result, linear=True):
            what = "a linear map is verified where it is applied: write a function that does, by lmApply"
            raise TermError("type", what, self.place)
        x = None if at is None else self.given(at)
        asked: list[tuple[Callee, Value | None, Sequence[str]]] = [(callee, x, list(verify.FOUND_BY))]
        kind, *rest = callee.derivations or [""]
        if kind in verify.FOUND_BY:
            of = scope.named(Written(tuple(rest), callee.base, callee.of), callee.of, self.place)
            point = None if x is None or kind == "sufrevpass" else x if kind == "suffwdpass" else x[0]
            asked.insert(0, (of, point, [kind]))
        found: dict[Fault, None] = {}
        errors: list[TermError] = []
        for f, point, kinds in asked:
            try:
                made = self._faults(f, point)
            except TermError as error:
                errors.append(error)
            else:
                found |= {fault: None for derivation in kinds for fault in made.get(derivation, ())}
        if errors and not found:
            raise errors[0]
        return list(found)

    def _faults(self, callee: Callee, at: Value | None) -> Mapping[str, Sequence[Fault]]:
        """The faults at a point, or at one that is drawn: an error of the value there is `limit`."""
        rng = np.random.default_rng(SEED)
        self._require_shallow()
        try:
            x = convert.drawn(callee.arg, rng) if at is None else at
        except TermError as error:
            raise error.at(self.place) from None
        except SpaceError as error:
            raise TermError("type", str(error), self.place) from None
        try:
            y = evaluated(lambda: verify.value(self.linked, callee, x, self._evaluator), self.place)
        except TermError as error:
            if at is not None or error.code != "shape":
                raise
            chosen = "the point was drawn" if convert.is_sized(callee.arg) else CHOSEN
            raise TermError("limit", f"{error.message} ({chosen}: others are given by --at)", error.place) from None
        return evaluated(lambda: verify.faults(self.linked, callee, x, y, rng, self._evaluator), self.place)

    # --- maps ---

    def like(self, args: Sequence[Any] | None) -> AnyMap:
        """The map on the reals of arguments of the shapes of values; for None of shapes that are chosen."""
        if args is None:
            return self._map(self._drawn()).map
        return self._map(self.given(args), decides=True).map

    def _map(self, x: Value, *, decides: bool = False) -> maps.Mapped:
        if not leaves_of(x):
            raise TermError("type", f"{self.name} has no real argument here: it is no map", self.place)
        ev = self._evaluator()
        how = maps.Tracing("rev", decides=decides)
        return evaluated(lambda: maps.as_map(self.linked, self.callee, x, ev, how), self.place)

    def of(self, *spaces: Given) -> AnyMap:
        """The map on these spaces, one for each component of a tuple; of one that is discrete its value.

        Raises SpaceError if they do not fit.
        """
        ty = self.callee.arg
        if not spaces:
            if not convert.is_sized(ty):
                raise SpaceError(f"{self.name} : {self.signature}: which sizes? give a space for each argument")
            return self._map(self._drawn()).map
        try:
            x = convert.zeros_at(ty, spaces)
        except SpaceError as error:
            raise SpaceError(f"{self.name} : {self.signature}: {error}") from error
        own = tuple([space for space in spaces if isinstance(space, Type)])
        dom = own[0] if len(own) == 1 else DirectSum(own)
        made = self._map(x).map
        return made if dom == made.dom else _on(dom, program(made))

    def __call__(self, *args: Any) -> Any:
        """The value at vectors and expressions as a map, else at numbers, lists and tuples as such values.

        Beside vectors and expressions a number may stand for a Float, and the value of what is discrete. At vectors
        alone a recursion that reals decide is decided.
        """
        if not any(isinstance(arg, (Vec, Expr)) for arg in args):
            return self.value(args)
        ty = self.callee.arg
        types = ty.parts if isinstance(ty, TupleType) and len(ty.parts) == len(args) else (ty,) * len(args)
        pairs = zip(types, args, strict=True)
        given = [R.vec(x) if isinstance(one, Ground) and is_number(x) else x for one, x in pairs]
        vectors = [x for x in given if isinstance(x, (Vec, Expr))]
        try:
            f = self.of(*[x.space if isinstance(x, (Vec, Expr)) else x for x in given])
        except TermError as error:
            if error.code != "tag" or any(isinstance(x, Expr) for x in given):
                raise
            f = self.like([value_of(x) if isinstance(x, Vec) else x for x in given])  # as it is decided at the point
            f = _on(packed_space(vectors), program(f))
        return f(*vectors)

    def stages(self) -> Mapping[str, Callable[[Sequence[Any] | None, Vec[Any] | None], str]]:
        """Its stages as texts, at a point if there is one."""

        def of_map(stage: Callable[[AnyMap, Vec[Any] | None], str], *, is_local: bool, mark: str) -> Any:
            def run(at: Sequence[Any] | None, _: Any) -> str:
                x = self._drawn() if at is None else self.given(at)
                with self._chosen(at):
                    made = self._map(x, decides=at is not None)
                note = "; at this point\n" if made.is_at_point else self._note(at)
                note = note.replace("; ", mark, 1)
                return evaluated(
                    lambda: note + stage(made.map, self._point(at, made.map) if is_local else None), self.place
                )

            return run

        def of_text(stage: Callable[[], str]) -> Any:
            def run(at: Sequence[Any] | None, _: Any) -> str:
                if at is not None:
                    self.given(at)
                return evaluated(stage, self.place)

            return run

        def of_notes(name: str) -> Any:
            def made() -> str:
                found: str = import_module(PIPELINE).stage(self.linked, self.one, name)
                if (why := too_large(found)) is not None:
                    what = f"the stage {name} of {self.name} is too large to be read back: it has {why}"
                    warn(f"{what}; [fwd {self.name}] and [rev {self.name}] need no text", stacklevel=2)
                return found

            return of_text(made)

        notes = {} if self.callee.derivations else {name: of_notes(name) for name in NAMES}
        written = of_text(lambda: printer.definition(self.one, written=True))
        made: dict[str, Any] = {"text": written} if self.one.kind != "gdef" or self.one.callee.derivations else {}
        maps = {
            k: of_map(stage, is_local=k in LOCAL, mark="# " if k == "python" else "; ")
            for k, stage in STAGES.items()
            if k not in {"text", "diagram"}
        }
        return {**made, **notes, **(maps if self._has_reals() else {})}

    def _has_reals(self) -> bool:
        """Tell if there are reals among the arguments, and no functions, so that it is a map."""
        return is_real(self.callee.arg) and not has_maps(self.callee.arg)

    def _note(self, at: Sequence[Any] | None) -> str:
        """The first line of a stage, on sizes that were chosen."""
        return "" if at is not None or convert.is_sized(self.callee.arg) else f"; {CHOSEN}\n"

    @contextmanager
    def _chosen(self, at: Sequence[Any] | None) -> Iterator[None]:
        """An error inside may be one of sizes that were chosen, which it then says."""
        try:
            yield
        except TermError as error:
            if at is not None or convert.is_sized(self.callee.arg):
                raise
            raise TermError(error.code, f"{error.message} ({CHOSEN}: others are given by --at)", error.place) from None

    def _point(self, at: Sequence[Any] | None, f: AnyMap) -> Vec[Any] | None:
        if at is None:
            return None
        leaves = leaves_of(self.given(at))
        return Vec(f.dom, tuple(a for leaf in leaves for a in leaf.leaves))


def _on(dom: Type, f: AnyProgram) -> AnyProgram:
    """A function on a space whose axes have tags or labels, or stand in other products."""
    b = Builder(dom.leaves)
    slots = list(range(b.arity))
    for k, (given, due) in enumerate(zip(dom.leaves, f.dom.leaves, strict=True)):
        for at, (have, axis) in enumerate(zip(given.axes, due.axes, strict=True)):
            if have != axis:
                slots[k] = b.apply(Reduce(run(have, axis, 0), at), slots[k])
    where = b.inline(f.line, slots)
    return evolve(Program.of(b, dom, [where[k] for k in f.line.outputs], f.cod), names=f.names)
