"""The stages of a function and of all that it calls, as texts of the language."""

from __future__ import annotations

import textwrap
from copy import copy
from typing import TYPE_CHECKING, Literal, final

from attrs import Factory, frozen

from adjoint.languages.ks.notes.categories import categorical, cl, combinators
from adjoint.languages.ks.notes.jacobian.nabla import Nabla
from adjoint.languages.ks.notes.reverse.anf import normal, shared, unique
from adjoint.languages.ks.notes.reverse.application import Application
from adjoint.languages.ks.notes.reverse.dead_code import needed
from adjoint.languages.ks.notes.reverse.optimise import optimised
from adjoint.languages.ks.notes.reverse.splitting import LARGEST, Passes, split
from adjoint.languages.ks.notes.reverse.tupling import Tupling
from adjoint.languages.ks.notes.reverse.written_builds import built
from adjoint.languages.ks.run.by_hand import warn_unless_linear
from adjoint.languages.ks.text import printer
from adjoint.languages.ks.text.function_names import derived_type
from adjoint.languages.ks.text.typed_terms import Maker
from adjoint.languages.ks.value.types import has_maps, has_records, parts, tangent, text
from diff.lam.term.binding import mapped
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, Lam, Let, Name, Tuple, Var, fresh, variables
from diff.lam.term.types import Lin, TupleType
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjoint.languages.ks.run.text_functions import Linked
    from adjoint.languages.ks.text.function_names import Callee
    from adjoint.languages.ks.text.resolution import Definition
    from diff.lam.term.term_error import Place
    from diff.lam.term.types import Ty


@final
@frozen
class Stages:
    """The stages of one definition."""

    make: Maker
    one: Definition
    a: Ty
    """The argument type of the function that the stage is of."""
    passes: Passes = Factory(dict)
    """The two passes of the functions before this one."""

    @property
    def callee(self) -> Callee:
        """The function that is defined."""
        return self.one.callee

    def anf(self) -> tuple[Var, AnyTerm]:
        """A-normal form, of one parameter."""
        function = self.one.function
        assert function is not None
        if isinstance(function.pattern, Var):
            s, body = function.pattern, function.body
        else:
            s = fresh("s", self.callee.arg)
            body = Let(function.pattern, s, function.body) if function.pattern.parts else function.body
        return s, normal(self.make, built(self.make, body))

    def jacobian(self, *, simple: bool) -> tuple[Var, AnyTerm]:
        """∂f."""
        s, body = self.anf()
        m = driven(Nabla(self.make, s).of(body))
        return s, optimised(self.make, m, s) if simple else m

    def _categorical(self, how: str) -> str:
        """The term of CL as a comment, and what it is converted back to."""
        function = self.one.function
        assert function is not None
        around = tuple(variables(function.pattern))
        c = categorical.converted(built(self.make, function.body), around, prunes=bool(how))
        shown = cl.shown(c)
        if how == "pointfree":
            c, shown = combinators.pointfree(c), combinators.shown(c)
        t = around[0] if len(around) == 1 else Tuple(around)
        body = categorical.back(self.make, c, t)
        comment = "\n".join(f"; {line}" for line in textwrap.wrap(f"{self.one.name} = {shown}", 110))
        return f"{comment}\n{_definition(self.one.name, text(self.callee.result), around, body)}"

    def _split(self, _how: str) -> str:
        """The two passes of reverse mode."""
        make, callee, base = self.make, self.callee, self._base
        s, body = self.anf()
        first, second, dt, b = split(make, self.passes, s, body, callee.result)
        names = [make.name(callee.derived(kind, base, b.type), f"[{kind} {base}]") for kind in PASSES]
        if parts(b.type) <= LARGEST:
            self.passes[callee.identity] = names[0], names[1]
        forward = _definition(names[0].name, text(TupleType((callee.result, b.type))), (s,), first)
        return f"{forward}\n{_definition(names[1].name, text(tangent(callee.arg)), (dt, b), second)}"

    def _polymorphic(self, kind: Literal["poly", "polyR"]) -> str:
        """∂̄f or ∂̄_R f, at a = S of the function that the stage is of."""
        x, body = self.anf()
        (_, m), result = map(_parts, derived_type(kind, self.callee.arg, self.callee.result, self.a))
        both = (x, fresh("m", m))
        pair = driven(Tupling(self.make, kind, *both).of(body))
        name = f"[{kind} [{self.callee.base} {text(self.callee.of)}]]"
        return _definition(name, text(TupleType(result)), both, pair)

    def _require_derivable(self, stage: str) -> None:
        """Raise TermError for a function that computes with linear maps or records: none has a derivative by one."""

        def step(node: AnyTerm) -> None:
            if isinstance(node, App):
                of = node.function.at[0] if isinstance(node.function, Name) else self.make.type(node.arg)
                for ty in (of, self.make.type(node)):
                    require(ty, node.place)
                if isinstance(node.function, Name) and node.function.name.startswith("[") and has_records(of):
                    refuse("the record of a suffwdpass", node.place)

        def require(ty: Ty, place: Place | None) -> None:
            if has_maps(ty, linear=True):
                refuse("linear maps", place)

        def refuse(what: str, place: Place | None) -> None:
            said = f"{self.one.name} computes with {what}, which the stage {stage} does not derive"
            remedy = f"apply [fwd {self.one.name}] or [rev {self.one.name}] in the program"
            raise TermError("type", f"{said}: {remedy}", place or self.one.place)

        function = self.one.function
        assert function is not None
        require(self.callee.arg, self.one.place)
        require(self.callee.result, self.one.place)
        mapped(function.body, step)

    # --- stages as definitions; `how` is what stands behind the name of a stage, as in fwd-opt ---

    def written(self, stage: str) -> str:
        """The definition of a stage."""
        name, _, how = stage.partition("-")
        if name not in VALUES:
            self._require_derivable(stage)
        return _WRITTEN[name](self, how)

    @property
    def _base(self) -> str:
        return f"[{self.callee.base} {text(self.callee.of)}]"

    def _normal(self, _how: str) -> str:
        x, body = self.anf()
        return _definition(self.one.name, text(self.callee.result), (x,), body)

    def _tupled(self, _how: str) -> str:
        x, body = self.anf()
        pair = driven(Tupling(self.make, "tupled", x).of(body))
        s, t = self.callee.arg, self.callee.result
        return _definition(f"[tupled {self._base}]", text(TupleType((t, Lin(s, t)))), (x,), pair)

    def _tupled_at_any_space(self, _how: str) -> str:
        return f"{self._polymorphic('poly')}\n{self._polymorphic('polyR')}"

    def _jacobian(self, how: str) -> str:
        x, m = self.jacobian(simple=bool(how))
        ty = Lin(self.callee.arg, self.callee.result)
        return _definition(f"[D {self._base}]", text(ty), (x,), needed(m) if how else m)

    def _transposed(self, how: str) -> str:
        x, m = self.jacobian(simple=bool(how))
        back = driven(Application(self.make).transposed(m))
        ty = Lin(self.callee.result, self.callee.arg)
        return _definition(f"[R {self._base}]", text(ty), (x,), needed(back) if how else back)

    def _forward(self, how: str) -> str:
        x, m = self.jacobian(simple=bool(how))
        dx = fresh("dx", tangent(self.callee.arg))
        dy = driven(Application(self.make).forward(m, dx))
        return self._applied("fwd", self.callee.result, (x, dx), dy, how)

    def _reverse(self, how: str) -> str:
        x, m = self.jacobian(simple=bool(how))
        dr = fresh("dr", tangent(self.callee.result))
        dx = driven(Application(self.make, x if how else None).backward(dr, m))
        return self._applied("rev", self.callee.arg, (x, dr), dx, how)

    def _applied(self, name: str, of: Ty, parameters: tuple[Var, Var], body: AnyTerm, how: str) -> str:
        """The definition of [fwd f] or [rev f], whose value is a tangent of a type."""
        if how:
            body = shared(self.make, body) if how == "cse" else needed(body)
        return _definition(f"[{name} {self._base}]", text(tangent(of)), parameters, body)


def _parts(ty: Ty) -> tuple[Ty, ...]:
    assert isinstance(ty, TupleType)
    return ty.parts


def _definition(name: str, result: str, parameters: tuple[Var, ...], body: AnyTerm) -> str:
    """Print a definition, with a name of its own for each variable."""
    pattern = parameters[0] if len(parameters) == 1 else Tuple(parameters)
    lam = unique(Lam(pattern, body))
    assert isinstance(lam, Lam)  # `unique` changes names only
    return printer.function(name, result, lam)


_WRITTEN: dict[str, Callable[[Stages, str], str]] = {
    "anf": Stages._normal,
    "jacobian": Stages._jacobian,
    "fwd": Stages._forward,
    "transposed": Stages._transposed,
    "rev": Stages._reverse,
    "tupled": Stages._tupled,
    "polymorphic": Stages._tupled_at_any_space,
    "split": Stages._split,
    "CL": Stages._categorical,
}
"""The definition of each stage, by its name."""
VALUES = frozenset(["anf", "CL"])
"""Stages that are no derivatives."""
PASSES = ("suffwdpass", "sufrevpass")
BY_HAND = ("fwd", "rev", "sufrev", *PASSES)


def stage(linked: Linked, one: Definition, name: str) -> str:
    """A stage of a function and all that it calls, in the order of the text."""
    scope = copy(linked.scope)
    scope.callees = dict(scope.callees)  # what the stage derives is not known outside of it
    make, passes = Maker(scope), Passes()
    is_value = name.partition("-")[0] in VALUES
    wanted = _called(linked, one, derives=not is_value)
    for each in linked.scope.table.values():
        if id(each) in wanted and each is not one and not each.callee.derivations and not is_value:
            warn_unless_linear(linked, each.callee, "sufrev" if name == "split" else name.partition("-")[0], name)
    lines: list[str] = []
    for each in linked.scope.definitions:
        if id(each) not in wanted:
            continue
        if each.callee.derivations or each.function is None:
            lines.append(printer.definition(each))
            continue
        if not is_value:
            lines.append(printer.definition(each))
            hands = {d.callee.derivations[0]: d for d in _by_hand(linked, each)}
            mode = name.partition("-")[0]
            if all(kind in hands for kind in PASSES):
                first, second = (make.name(hands[kind].callee, hands[kind].name) for kind in PASSES)
                passes[each.callee.identity] = first, second
            if mode in hands or (hands and each is not one and mode not in ("fwd", "rev")):  # what is by hand is it
                continue
        lines.append(Stages(make, each, one.callee.arg, passes).written(name))
    declared = [printer.definition(d) for d in linked.scope.table.values() if d.function is None and id(d) in wanted]
    return "\n".join([*declared, *lines])


def _by_hand(linked: Linked, one: Definition) -> list[Definition]:
    """The derivatives of a function that are written by hand."""
    table = linked.scope.table
    keys = [((kind, *one.callee.derivations), one.callee.base, one.callee.of) for kind in BY_HAND]
    return [table[key] for key in keys if key in table and table[key].function is not None]


def _called(linked: Linked, one: Definition, *, derives: bool) -> set[int]:
    """A definition and all that it calls; with the derivatives by hand of those, and what they call."""
    found, stack = set[int](), [one]
    while stack:
        each = stack.pop()
        if id(each) in found:
            continue
        found.add(id(each))
        stack += _by_hand(linked, each) if derives else []
        for callee in linked.called(each.function) if each.function is not None else ():
            own = None if callee is None else linked.scope.table.get(((), callee.base, callee.of))
            hand = None if callee is None else linked.scope.defined(callee)
            stack += [d for d in (own, hand) if d is not None]
    return found
