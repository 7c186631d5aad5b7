"""The one evaluator: strict, each right-hand side of a `let` once, and it knows no carrier.

At a primitive the library's map applies to whatever its arguments are: vectors are computed with, expressions of a
traced function become steps of its program. What is discrete is what it is at hand. Functions are closures over the
values of their variables; no Python recursion, so that folds and recursion may be deep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from diff.expr import const
from diff.higher.binding import Pass, captured
from diff.higher.errors import TermError
from diff.higher.terms import (
    AnyTerm,
    App,
    Branch,
    Case,
    Con,
    Cov,
    Diff,
    Dual,
    Dv,
    Ev,
    Fix,
    Fold,
    If,
    Jac,
    Lam,
    Let,
    Lit,
    Name,
    Number,
    Pattern,
    Plus,
    Point,
    Prim,
    Proj,
    Pull,
    Pullbacks,
    Sharp,
    Sign,
    Tuple,
    Typed,
    Var,
    Zero,
)
from diff.higher.types import Arrow, DataType, SelfType, TupleType, Ty, instance, mentions
from diff.higher.values import Closure, Native, Stack, Tagged, Value, applied, filled, opened, shape_of, side_by_side
from diff.loops import fold as loop
from diff.operations import select
from hilbert import SpaceError, Vec
from hilbert.once import once
from hilbert.term import driven, uncollected

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.map import AnyMap

STEPS = 200_000
"""How many functions are entered before an evaluation is given up; folds end by themselves, and do not count."""


def evaluate(term: AnyTerm, values: dict[int, Value] | None = None, steps: int = STEPS) -> Value:
    """The value of a term whose free variables, by number, have these values.

    Raises TermError: `limit` after so many steps, `tag` where data would decide what is discrete.
    """
    with uncollected():
        return driven(Evaluator(steps).value(term, dict(values or {})))


def call(function: Value, *args: Value, steps: int = STEPS) -> Value:
    """A function's value at arguments, one after the other."""
    evaluator = Evaluator(steps)
    for arg in args:
        function = driven(evaluator.call(function, arg))
    return function


class _Varies(Exception):  # noqa: N818 - no error: the fold is unrolled
    """The state of a fold changes its shape."""


class Evaluator:
    """One evaluation: it counts its steps. What a reducer does otherwise is the methods without an underscore."""

    def __init__(self, steps: int) -> None:
        self.steps = self.left = steps

    def _enter(self, term: AnyTerm) -> None:
        self.left -= 1
        if self.left < 0:
            raise TermError("limit", f"no value after {self.steps} steps", term.place)

    def value(self, term: AnyTerm, env: dict[int, Value]) -> Pass:
        """⟦t⟧; `env` has the variables of one activation, and a `let` adds to it."""
        while True:
            match term:
                case Var(_, number, _):
                    return env[number] if number in env else self.free(term)
                case Lit(value):
                    return value
                case Prim(op, arg, name):
                    given = _at_hand(arg, env)
                    if given is None:
                        given = yield self.value(arg, env)
                    try:
                        return self.primitive(op, given, name)
                    except TermError as error:
                        raise error.at(term.place) from error
                    except SpaceError as error:
                        raise TermError("shape", str(error), term.place) from error
                case Lam():
                    return Closure(term, {k: env[k] for k in captured(term) if k in env})
                case App():
                    calls, f = spine(term)
                    if not isinstance(f, Lam):
                        f = yield self.value(f, env)
                    while calls:
                        if not isinstance(f, (Lam, Closure)):
                            value = yield self.value(calls.pop().arg, env)
                            f = yield self.call(f, value)
                            continue
                        lam, inner = (f, env) if isinstance(f, Lam) else (f.lam, dict(f.values))
                        given = []
                        while True:  # λ directly in λ makes no functions between
                            one = calls.pop()
                            value = yield self.value(one.arg, env)
                            self._enter(one)
                            given.append((lam.pattern, value))
                            if not calls or not isinstance(lam.body, Lam):
                                break
                            lam = lam.body
                        for pattern, value in given:
                            bind(pattern, value, inner)
                        if not calls:
                            term, env = lam.body, inner
                            break
                        f = yield self.value(lam.body, inner)
                    else:
                        return f
                case Let(pattern, of, body):
                    value = yield self.value(of, env)
                    bind(pattern, value, env)
                    term = body
                case Tuple(parts):
                    values = []
                    for part in parts:
                        known = _at_hand(part, env)
                        values.append((yield self.value(part, env)) if known is None else known)
                    return tuple(values)
                case Proj(index, of):
                    value = yield self.value(of, env)
                    return value[index]
                case If(condition, then, otherwise):
                    c = yield self.value(condition, env)
                    if not isinstance(c, Vec):
                        return (yield self.undecided(c, term, env))
                    term = then if bool(c.array) else otherwise
                case Con(label, _, arg):
                    value = yield self.value(arg, env)
                    return Tagged(label, value)
                case Case(of, branches):
                    value = yield self.value(of, env)
                    value = opened(value) if isinstance(value, Stack) else value
                    if not isinstance(value, Tagged):
                        return (yield self.undecided(value, term, env))
                    branch = chosen(branches, value.label)
                    bind(branch.pattern, value.payload, env)
                    term = branch.body
                case Fold(_, of, _):
                    value = yield self.value(of, env)
                    return (yield self._fold(term, value, env))
                case Fix(var, body):
                    closed = {k: env[k] for k in captured(term) if k in env}

                    def unrolled(arg: Value, term: Fix = term, closed: dict[int, Value] = closed) -> Pass:
                        self._enter(term)
                        f = yield self.value(term.body, dict(closed))
                        return (yield self.call(f, arg))

                    closed[var.number] = Native(unrolled, tuple(closed.values()))
                    term, env = body, dict(closed)
                case Plus(left, right):
                    a = yield self.value(left, env)
                    b = yield self.value(right, env)
                    return (yield self.sum(a, b))
                case Pull() | Dual() | Jac() | Cov() | Diff() | Sharp() | Point() | Ev() | Dv() | Zero():
                    return (yield self.pullback(term, env))
                case Name() | Number() | Sign() | Typed():
                    message = f"{type(term).__name__} is open: check the term first"
                    raise TermError("unbound", message, term.place)
                case _:
                    assert_never(term)

    def free(self, x: Var) -> Value:
        """The value of a free variable; it has none."""
        raise TermError("unbound", f"the free variable {x.name} has no value", x.place)

    def primitive(self, op: AnyMap, value: Value, name: str = "") -> Value:
        """op(v)."""
        return applied(op, value)

    def pullback(self, term: Pullbacks, env: dict[int, Value]) -> Pass:
        """The value of a former of the language of pullbacks; it has none."""
        raise TermError("type", "a term of the language of pullbacks has no value before it is reduced", term.place)

    def call(self, function: Value, arg: Value) -> Pass:
        """f v."""
        if isinstance(function, Native):
            return (yield function.run(arg))
        self._enter(function.lam)
        env = dict(function.values)
        bind(function.lam.pattern, arg, env)
        return (yield self.value(function.lam.body, env))

    def _fold(self, term: Fold, value: Value, env: dict[int, Value]) -> Pass:
        """fold v of {ℓ p → s}: first the parts, then s at their results."""
        ty = term.type
        assert isinstance(ty, DataType)

        if isinstance(value, Stack):
            made = yield self._looped(term, value, env)
            if made is not None:
                return made
            value = opened(value)

        def fold(one: Value) -> Pass:
            one = opened(one) if isinstance(one, Stack) else one
            if not isinstance(one, Tagged):
                return (yield self.undecided(one, term, env))
            branch = chosen(term.branches, one.label)
            payload = yield self._map(fields(ty)[one.label], fold, one.payload)
            bind(branch.pattern, payload, env)
            return (yield self.value(branch.body, env))

        return (yield fold(value))

    def _looped(self, term: Fold, stack: Stack, env: dict[int, Value]) -> Pass:
        """A fold over a stack as a loop, from the last element; None where the state is not made of vectors alone."""
        first = chosen(term.branches, "Nil")
        inner = dict(env)
        bind(first.pattern, (), inner)
        start = yield self.value(first.body, inner)
        try:
            shape, state = shape_of(start)
        except TermError:  # the state is a function
            return None
        if not state:
            return None
        branch = chosen(term.branches, "Cons")
        form, leaves = shape_of(stack.element)

        def step(given: Any, item: Any) -> Any:
            before = filled(shape, iter(given if len(state) > 1 else (given,)))
            items = item.split() if len(leaves) > 1 else (item,)
            around = dict(env)
            bind(branch.pattern, (filled(form, iter(items)), before), around)
            found, made = shape_of(driven(Evaluator(self.steps).value(branch.body, around)))
            if found != shape:
                raise _Varies
            exprs = [const(v) if isinstance(v, Vec) else v for v in made]
            return tuple(exprs) if len(state) > 1 else exprs[0]

        try:
            given = tuple(state) if len(state) > 1 else state[0]
            last = loop(step, given, side_by_side(leaves), reverse=True)
        except _Varies:
            return None
        return filled(shape, iter(last if len(state) > 1 else (last,)))

    def _map(self, ty: Ty, f: Callable[[Value], Pass], value: Value) -> Pass:
        """F(f) at a value, F(X) a type that speaks of X."""
        match ty:
            case SelfType():
                return (yield f(value))
            case TupleType(parts):
                values = list(value)
                for k in _recurring(ty):
                    made = yield (f(values[k]) if isinstance(parts[k], SelfType) else self._map(parts[k], f, values[k]))
                    values[k] = made
                return tuple(values)
            case DataType() if mentions(ty, SelfType):
                made = yield self._map(_opened(ty)[value.label], f, value.payload)
                return Tagged(value.label, made)
            case Arrow(_, cod) if mentions(cod, SelfType):

                def after(arg: Value) -> Pass:
                    result = yield self.call(value, arg)
                    return (yield self._map(cod, f, result))

                return Native(after, (value,))
            case _:  # X does not occur
                return value

    def undecided(self, condition: Value, term: If | Case | Fold, env: dict[int, Value]) -> Pass:
        """A condition on data: both branches, of which the entries are selected."""
        assert isinstance(term, If), "the tags of values are known"
        a = yield self.value(term.then, env)
        b = yield self.value(term.otherwise, env)
        shape, mine = shape_of(a)
        other, yours = shape_of(b)
        if shape != other:
            message = "a condition on data decides a tag or a length: both branches must have one shape (write `where`)"
            raise TermError("tag", message, term.place)
        both = zip(mine, yours, strict=True)
        return filled(shape, iter([select(condition, x) + select(~condition, y) for x, y in both]))

    def sum(self, a: Value, b: Value) -> Pass:
        """v + w at any type."""
        if isinstance(a, tuple):
            parts = []
            for x, y in zip(a, b, strict=True):
                part = yield self.sum(x, y)
                parts.append(part)
            return tuple(parts)
        if isinstance(a, (Closure, Native)):

            def pointwise(arg: Value) -> Pass:
                x = yield self.call(a, arg)
                y = yield self.call(b, arg)
                return (yield self.sum(x, y))

            return Native(pointwise, (a, b))
        return a + b


def bind(pattern: Pattern, value: Value, env: dict[int, Value]) -> None:
    """Give the variables of a pattern the parts of a value."""
    if isinstance(pattern, Var):
        env[pattern.number] = value
        return
    stack: list[tuple[Any, Value]] = [(pattern, value)]
    while stack:
        one, part = stack.pop()
        if isinstance(one, Var):
            env[one.number] = part
        else:
            stack.extend(zip(one.parts, part, strict=True))


def _at_hand(term: AnyTerm, env: dict[int, Value]) -> Value | None:
    """The value of a variable, or of a tuple of such, which needs no pass; None for others."""
    if type(term) is Var:
        return env.get(term.number)
    if type(term) is not Tuple:
        return None
    values = []
    for part in term.parts:
        known = env.get(part.number) if type(part) is Var else None
        if known is None:
            return None
        values.append(known)
    return tuple(values)


def chosen(branches: tuple[Branch, ...], label: str) -> Branch:
    """The branch of a label."""
    return next(branch for branch in branches if branch.label == label)


def spine(term: AnyTerm) -> tuple[list[App], AnyTerm]:
    """The applications in f s₁ … sₙ, the last one first, and f."""
    calls: list[App] = []
    while isinstance(term, App):
        calls.append(term)
        term = term.function
    return calls, term


@once
def _recurring(ty: TupleType) -> tuple[int, ...]:
    """The parts that speak of X."""
    return tuple(k for k, part in enumerate(ty.parts) if mentions(part, SelfType))


@once
def fields(ty: DataType) -> dict[str, Ty]:
    """What each constructor takes, with X where the type recurs."""
    return {label: instance(field, ty.args) for label, field in ty.declaration.cases}


@once
def _opened(ty: DataType) -> dict[str, Ty]:
    """What each constructor takes, for a type whose arguments speak of X: its own recursion is the type itself.

    X of an outer type and of this one are kept apart by opening this one.
    """
    return {label: instance(field, ty.args, ty) for label, field in ty.declaration.cases}
