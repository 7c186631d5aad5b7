"""Reverse mode in two passes (§7), on terms: the first gives the value and a record, the second does no primal work.

The second pass of a scope is written in the variables of the first; those that it reads, and that the scope binds, are
its record. Each value is bound once, so that what a variable stands for is added up where it is bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, assert_never, final

from adjoint.languages.ks.notes.jacobian.nabla import factors, refused
from adjoint.languages.ks.notes.jacobian.numbering import Numbering
from adjoint.languages.ks.notes.reverse.anf import shared
from adjoint.languages.ks.notes.reverse.pass_scopes import Backward, Call, Entry, Forward, lets, opened, packed, record
from adjoint.languages.ks.run.function_maps import MODES
from adjoint.languages.ks.text.term_union import ks_term
from adjoint.languages.ks.text.typed_terms import Maker, is_discrete
from adjoint.languages.ks.value.types import BOOL, element, indices, order, tangent, vec
from diff.lam.term.terms import AnyTerm, App, If, Lam, Let, Lit, Name, Tuple, Var, fresh, real, variables
from diff.lam.term.types import INT, REAL, UNIT, TupleType
from hilbert.base.term import driven

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjoint.languages.ks.notes.reverse.pass_scopes import Back, Bindings, Branch
    from diff.lam.term.binding import Pass
    from diff.lam.term.terms import Pattern
    from diff.lam.term.types import Ty

LARGEST = 200
"""Records of more parts are not kept: what a call gives is then computed again by its reverse."""
Passes: TypeAlias = dict[Any, tuple[Name, Name]]
"""The two passes of functions, by what they are told by."""
_PASSED = ("$trace", "$inline", "$copydown")
"""Functions whose value is their argument."""


@final
class Splitting:
    """The figure; `passes` has the two passes of the functions that are called."""

    def __init__(self, make: Maker, passes: Passes) -> None:
        self.make, self.passes = make, passes
        self.numbers = Numbering()

    # --- scopes ---

    def of(self, e: AnyTerm, scope: Forward) -> Pass:
        """FWD⟦e⟧ in a scope; its value, a variable or a constant or a tuple of such."""
        while True:
            e = ks_term(e)
            match e:
                case Var() | Lit() | Name() | Tuple():
                    return e
                case Let(pattern, value, body):
                    yield self._bound(pattern, value, scope)
                    e = body
                case App(Name("assert"), Tuple((c, Lam(_, body)))):
                    self._hold(c, scope)
                    e = body
                case If() | Lam() | App():  # a step, which is bound
                    x = fresh("t", self.make.type(e))
                    yield self._bound(x, e, scope)
                    return x
                case _:
                    assert_never(e)

    def _hold(self, c: AnyTerm, scope: Forward) -> None:
        """A condition is asserted in the first pass, before what is bound after it."""
        self._bind(fresh("u", UNIT), App(Name("assert", (UNIT,)), Tuple((c, Lam(Tuple(()), Tuple(()))))), scope)

    def back(self, value: AnyTerm, dt: AnyTerm, scope: Forward) -> Pass:
        """REV of a scope, from the cotangent of its value."""
        after = Backward()
        self._give(value, dt, after)
        for pattern, step in reversed(scope.steps):
            found = [after.cotangents.pop(x.number, None) for x in variables(pattern)]
            if any(one is not None for one in found):
                pairs = zip(variables(pattern), found, strict=True)
                parts = [one[1] if one is not None else self.zero(x, scope) for x, one in pairs]
                yield step(parts[0] if isinstance(pattern, Var) else Tuple(tuple(parts)), after)
        return after

    def _give(self, atom: AnyTerm, d: AnyTerm, to: Backward) -> None:
        """Add a cotangent to those of the variables in an atom."""
        if is_discrete(self.make.type(atom)):
            return
        if isinstance(atom, Tuple):
            for k, part in enumerate(atom.parts):
                self._give(part, self.make.component(k, d), to)
        elif not isinstance(atom, Lit):
            assert isinstance(atom, Var)
            if atom.number in to.cotangents:
                d = self.make.added(to.cotangents[atom.number][1], d)
            to.cotangents[atom.number] = atom, self._name("d", d, to.bindings)

    def _name(self, name: str, value: AnyTerm, to: Bindings) -> AnyTerm:
        """A variable for a value, or for each of a tuple, unless it is one, or a number."""
        if isinstance(value, (Var, Lit)):
            return value
        if isinstance(value, Tuple):
            return Tuple(tuple(self._name(name, part, to) for part in value.parts))
        x = fresh(name, self.make.type(value))
        to.append((x, value))
        return x

    def _kept(self, value: AnyTerm, scope: Forward) -> AnyTerm:
        """A variable for a value of the first pass, which is found once."""
        if isinstance(value, (Var, Lit)):
            return value
        number = self.numbers.of(value)
        if number not in scope.known:
            scope.known[number] = x = fresh("k", self.make.type(value))
            self._bind(x, value, scope)
        return scope.known[number]

    def _bind(self, pattern: Pattern, value: AnyTerm, scope: Forward) -> None:
        """let pattern = value in a scope: equal values have equal numbers."""
        scope.bind(pattern, value)
        self.numbers.bound(pattern, value)

    def _size(self, v: AnyTerm, scope: Forward) -> AnyTerm:
        """The size of a tensor, found in the scope that the tensor is bound in."""
        return self._kept(self.make.call("size", v), scope.of(v))

    def zero(self, like: AnyTerm, scope: Forward) -> AnyTerm:
        """The zero cotangent of a value: of a vector of reals, by its size."""
        make, ty = self.make, self.make.type(like)
        if order(ty) and element(ty) is REAL:
            return make.call("constVec", self._size(like, scope), real(0.0))
        if isinstance(ty, TupleType) and ty.parts and not is_discrete(ty):
            return Tuple(tuple(self.zero(make.component(k, like), scope) for k in range(len(ty.parts))))
        return make.zero(like)

    # --- steps ---

    def _bound(self, pattern: Pattern, value: AnyTerm, scope: Forward) -> Pass:
        """let pattern = value, and the way back through it."""
        step: Back
        value = ks_term(value)
        match value:
            case Var() | Lit() | Name() | Tuple():
                step = self._plain(lambda d, to: self._give(value, d, to))
            case App(Name("assert"), Tuple((c, Lam(_, body)))):  # its record is that of what is asserted
                self._hold(c, scope)
                value = yield self.of(body, scope)
                step = self._plain(lambda d, to: self._give(value, d, to))
            case If(c, then, otherwise):
                left, right = Forward(scope), Forward(scope)
                a = yield self.of(then, left)
                b = yield self.of(otherwise, right)
                value = If(c, lets(left.bindings, a), lets(right.bindings, b))
                step = self._chosen(c, ((a, left), (b, right)), Entry(scope, len(scope.bindings)))
            case App(Name("build"), Tuple((n, Lam(i, body) as lam))):
                within = Forward(scope, variables(i))
                self.numbers.entered(lam)
                r = yield self.of(body, within)
                value = self.make.call("build", n, Lam(i, lets(within.bindings, r)))
                step = self._built(n, i, (r, within), Entry(scope, len(scope.bindings)))
            case App(Name("fold"), Tuple((Lam(t, body) as lam, start, v))):
                within = Forward(scope, variables(t))
                self.numbers.entered(lam)
                r = yield self.of(body, within)
                value = self.make.call("fold", Lam(t, lets(within.bindings, r)), start, v)
                step = self._folded(t, (start, v), (r, within), Entry(scope, len(scope.bindings)))
            case App(Name() as f, arg):
                if isinstance(arg, Tuple) and any(isinstance(p, Lam) for p in arg.parts):  # alone, it has a name
                    refused(f"{f.name} is not split", value)
                value, step = self._called(f, arg, scope, value)
            case Lam() | App() | Let():  # a lambda elsewhere, or its application
                refused("a lambda is the argument of build or fold here", value)
            case _:
                assert_never(value)
        self._bind(pattern, value, scope)
        scope.steps.append((pattern, step))
        if isinstance(pattern, Var):
            scope.known.setdefault(self.numbers.of(value), pattern)

    def _plain(self, give: Callable[[AnyTerm, Backward], None]) -> Back:
        def step(d: AnyTerm, to: Backward) -> Pass:
            give(d, to)
            return
            yield

        return step

    def _called(self, f: Name, arg: AnyTerm, scope: Forward, value: AnyTerm) -> tuple[AnyTerm, Back]:
        """The value of a call, and the way back: by its second pass, or by the figure of §1."""
        make = self.make
        callee = make.scope.callees.get((f.name, f.at[0]))
        if callee is not None and callee.identity in self.passes and not is_discrete(make.type(value)):
            first, second = self.passes[callee.identity]
            both = App(first, arg)
            pair = fresh("p", make.type(both))
            self._bind(pair, both, scope)
            record = make.component(1, pair)

            def through(d: AnyTerm, to: Backward) -> None:
                kept = self._kept(record, scope)
                self._give(arg, self._name("d", App(second, Tuple((d, kept))), to.bindings), to)

            return make.component(0, pair), self._plain(through)

        of = make.type(arg)
        parts = [make.component(k, arg) for k in range(len(of.parts))] if isinstance(of, TupleType) else [arg]
        call = Call(f, arg, tuple(parts), value, scope)
        return value, self._plain(lambda d, to: self._give(arg, self._argument_cotangent(call, d, to), to))

    def _argument_cotangent(self, call: Call, d: AnyTerm, to: Backward) -> AnyTerm:
        """The cotangent of an argument: by hand, by partial derivatives, by the table, or by the reverse of a call."""
        make, f, scope = self.make, call.function, call.scope
        if f.name.startswith("get$"):
            at = int(f.name.split("$")[1])
            zeros = [self.zero(part, scope) for part in call.parts]
            return Tuple((*zeros[: at - 1], d, *zeros[at:]))
        callee = make.scope.callees.get((f.name, f.at[0]))
        if callee is not None and make.scope.has_derivative(callee, MODES):
            return self._name("d", make.derived("sufrev", f, call.arg, d), to.bindings)
        types = [make.type(part) for part in call.parts]
        if make.type(call.value) is REAL and f.name not in _PASSED and {*types} <= {REAL, INT, BOOL}:
            ks = self._factors(f, list(call.parts), scope)
            ds = [d if k is None else make.call("mul", self._kept(k, scope), d) for k in ks]
            return packed([one if ty is REAL else Tuple(()) for ty, one in zip(types, ds, strict=True)])
        rule = _COTANGENTS.get(f.name)
        found = None if rule is None else rule(self, call, d, to)
        return self._name("d", make.derived("rev", f, call.arg, d), to.bindings) if found is None else found

    def _of_sum(self, call: Call, d: AnyTerm, _: Backward) -> AnyTerm:
        """The cotangent of a sum at each element."""
        return self.make.call("constVec", self._size(call.arg, call.scope), d)

    def _of_exponentials(self, call: Call, d: AnyTerm, to: Backward) -> AnyTerm:
        """The cotangent of exp v, of a vector: exp v · d."""
        return self._name("d", self.make.call("mul", self._kept(call.value, call.scope), d), to.bindings)

    def _of_element(self, call: Call, d: AnyTerm, _: Backward) -> AnyTerm | None:
        """The cotangent of an element that is a real, at its index."""
        if self.make.type(call.value) is not REAL:
            return None
        i, v = call.parts
        return Tuple((self.make.zero(i), self.make.call("deltaVec", self._size(v, call.scope), i, d)))

    def _factors(self, f: Name, parts: list[AnyTerm], scope: Forward) -> list[AnyTerm | None]:
        """The partial derivatives of a function of reals, found in the first pass."""
        make = self.make
        if all(make.type(part) is REAL for part in parts):
            found = factors(make, f.name, parts)
            if found is not None:
                return [k if k is None else driven(self._shared(k, scope)) for k in found]
        made: list[AnyTerm | None] = []
        for k, part in enumerate(parts):
            along = [real(float(j == k)) if make.type(x) is REAL else Tuple(()) for j, x in enumerate(parts)]
            of = parts[0] if len(parts) == 1 else Tuple(tuple(parts))
            given = along[0] if len(parts) == 1 else Tuple(tuple(along))
            made.append(make.derived("fwd", f, of, given) if make.type(part) is REAL else real(0.0))
        return made

    def _shared(self, e: AnyTerm, scope: Forward) -> Pass:
        """A term with a variable for each part that has steps."""
        match e:
            case App(f, Tuple(parts)):
                atoms = []
                for part in parts:
                    made = yield self._shared(part, scope)
                    atoms.append(self._kept(made, scope))
                return App(f, Tuple(tuple(atoms)))
            case App(f, arg):
                made = yield self._shared(arg, scope)
                return App(f, self._kept(made, scope))
            case _:  # one question: the parts of a call alone may have steps
                return e

    # --- scopes in scopes ---

    def _chosen(self, c: AnyTerm, branches: tuple[Branch, Branch], at: Entry) -> Back:
        """Of two branches: the record of the one that is not taken is a dummy."""

        def step(d: AnyTerm, to: Backward) -> Pass:
            backs = []
            for value, one in branches:
                back = yield self.back(value, d, one)
                backs.append(back)
            xs = list({x.number: x for back in backs for x, _ in back.cotangents.values()}.values())
            if not xs:
                return
            ends = [self._end(xs, back, one) for back, (_, one) in zip(backs, branches, strict=True)]
            kept = [record(one, end) for end, (_, one) in zip(ends, branches, strict=True)]
            bs = [fresh("b", self.make.type(packed(one))) for one in kept]
            firsts = []
            for k, (value, one) in enumerate(branches):
                parts = [self.make.dummy(b.type) for b in bs]
                firsts.append(lets(one.bindings, Tuple((value, *parts[:k], packed(kept[k]), *parts[k + 1 :]))))
            at.replace(If(c, *firsts), bs)
            self._taken(xs, If(c, *map(opened, kept, bs, ends)), to)

        return step

    def _built(self, n: AnyTerm, i: Pattern, branch: Branch, at: Entry) -> Back:
        """Of elements: a tensor of records, and a sum of cotangents."""
        make, (value, within) = self.make, branch

        def step(d: AnyTerm, to: Backward) -> Pass:
            back = yield self.back(value, make.call("index", i, d), within)
            xs = [x for x, _ in back.cotangents.values()]
            if not xs:
                return
            end = self._end(xs, back, within)
            kept = record(within, end)
            body = lets(within.bindings, Tuple((value, packed(kept))) if kept else value)
            rows = make.call("build", n, Lam(i, body))
            if kept:
                both = make.call("unzip", rows)
                b = fresh("b", make.type(make.component(1, both)))
                at.replace(both, [b])
                end = opened(kept, make.call("index", i, b), end)
            else:
                at.replace(rows, [])
            whole = make.call("sumbuild", n, Lam(i, end))
            if any(indices(x.type) for x in xs):  # a sum of no tensors has no size
                zeros = packed([self.zero(x, at.scope) for x in xs])
                whole = If(self.make.has_no_elements(n), zeros, whole)
            self._taken(xs, whole, to)

        return step

    def _folded(self, t: Pattern, given: tuple[AnyTerm, AnyTerm], branch: Branch, at: Entry) -> Back:
        """Of states: a vector of records, the last one first, and a fold over it, which has the cotangents so far."""
        make, (value, within), (start, v) = self.make, branch, given

        def step(d: AnyTerm, to: Backward) -> Pass:
            dr = fresh("d", make.type(d))
            back = yield self.back(value, dr, within)
            dt = self._cotangent(t, back, within)
            xs = [x for x, _ in back.cotangents.values() if all(x.number != own.number for own in variables(t))]
            sums = [fresh("d", tangent(x.type)) for x in xs]
            rows = fresh("d", tangent(make.type(v)))
            more = [make.added(y, self._cotangent(x, back, within)) for y, x in zip(sums, xs, strict=True)]
            parts = make.component(0, dt), *more, make.prepended(make.component(1, dt), rows)
            end = lets(back.bindings, Tuple(parts))
            kept = record(within, end, variables(t))
            b = fresh("b", make.type(packed(kept)))
            bs = fresh("b", vec(b.type))
            whole = fresh("s", TupleType((make.type(start), bs.type)))
            x = fresh("x", element(make.type(v)))
            after = Tuple((value, make.prepended(packed(kept), make.component(1, whole))))
            first = Let(t, Tuple((make.component(0, whole), x)), lets(within.bindings, after))
            both = Tuple((start, make.dummy(bs.type)))
            at.replace(make.call("fold", Lam(Tuple((whole, x)), first), both, v), [bs])
            state = Tuple((dr, *sums, rows))
            so_far = fresh("s", make.type(state))
            second = Lam(Tuple((so_far, b)), Let(state, so_far, opened(kept, b, end)))
            zeros = [self.zero(x, at.scope) for x in xs]
            begin = Tuple((d, *zeros, make.dummy(rows.type)))
            self._taken([start, *xs, v], make.call("fold", second, begin, bs), to)

        return step

    def _cotangent(self, x: AnyTerm, back: Backward, scope: Forward) -> AnyTerm:
        """The cotangent of a variable in a scope, zero where there is none."""
        if isinstance(x, Tuple):
            return Tuple(tuple([self._cotangent(part, back, scope) for part in x.parts]))
        assert isinstance(x, Var)
        return back.cotangents[x.number][1] if x.number in back.cotangents else self.zero(x, scope)

    def _end(self, xs: list[Var], back: Backward, scope: Forward) -> AnyTerm:
        """The cotangents of variables in a scope, zero where there is none."""
        return lets(back.bindings, packed([self._cotangent(x, back, scope) for x in xs]))

    def _taken(self, xs: Sequence[AnyTerm], value: AnyTerm, to: Backward) -> None:
        """Give each value its part of the cotangents."""
        ys = tuple(fresh("d", tangent(self.make.type(x))) for x in xs)
        to.bindings.append((ys[0] if len(ys) == 1 else Tuple(ys), value))
        for x, y in zip(xs, ys, strict=True):
            self._give(x, y, to)


def split(make: Maker, passes: Passes, s: Var, e: AnyTerm, t: Ty) -> tuple[AnyTerm, AnyTerm, Var, Var]:
    """(first, second, dt, b): (e, record) by s; ds by dt, of e, and b, the record; TermError for a misplaced lambda."""
    figure, scope = Splitting(make, passes), Forward()
    value = driven(figure.of(e, scope))
    dt = fresh("dt", tangent(t))
    back: Backward = driven(figure.back(value, dt, scope))
    end = lets(back.bindings, back.cotangents[s.number][1] if s.number in back.cotangents else figure.zero(s, scope))
    kept = record(scope, end, [s])
    b = fresh("b", make.type(packed(kept)))
    first = lets(scope.bindings, Tuple((value, packed(kept))))
    return shared(make, first), shared(make, opened(kept, b, end)), dt, b


_COTANGENTS: dict[str, Callable[[Splitting, Call, AnyTerm, Backward], AnyTerm | None]] = {
    **dict.fromkeys(_PASSED, lambda _figure, _call, d, _to: d),
    "sum": Splitting._of_sum,
    "index": Splitting._of_element,
    "exp": Splitting._of_exponentials,
    "add": lambda _figure, _call, d, _to: Tuple((d, d)),  # of two vectors
}
"""The cotangent of the argument of what is built in, of no function of reals; None where the reverse is called."""
