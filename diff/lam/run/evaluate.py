"""The one evaluator: strict, each right-hand side of a `let` once, and it knows no carrier.

At a primitive the library's map applies to whatever its arguments are: vectors are computed with, expressions of a
traced function become steps of its program. What is discrete is what it is at hand. Functions are closures over the
values of their variables; no Python recursion, so that folds and recursion may be deep.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_never

from diff.lam.run.folding import Folds
from diff.lam.run.matching import bind, chosen, spine, straight
from diff.lam.term.binding import Pass, captured
from diff.lam.term.former import OpenFormer, PullbackFormer
from diff.lam.term.lam_values import Closure, Native, Stack, Tagged, Value, applied, opened
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import App, Case, Con, Fix, Fold, If, Lam, Let, Lit, Plus, Prim, Proj, Tuple, Var, Zero
from diff.lam.term.types import Arrow
from hilbert import SpaceError, Vec
from hilbert.base.lazy import uncollected
from hilbert.base.term import driven

if TYPE_CHECKING:
    from diff.lam.term.terms import AnyTerm, Pullbacks
    from hilbert.map.map import AnyMap

STEPS = 100_000
"""The number of function calls after which an evaluation is given up; folds end by themselves, and do not count."""


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


class Evaluator(Folds):
    """One evaluation: it counts its steps. What a reducer does otherwise is the methods without an underscore.

    A value may be one that moves, of the machine of pullbacks: no value is asked for its space here.
    """

    def __init__(self, steps: int) -> None:
        self.steps = self.left = steps
        self.varying = {}

    def _enter(self, term: AnyTerm) -> None:
        self.left -= 1
        if self.left < 0:
            raise TermError("limit", f"no value after {self.steps} steps", term.place)

    def value(self, term: AnyTerm, env: dict[int, Value]) -> Pass:
        """⟦t⟧; `env`, the variables of one activation, is changed: what the term binds is added to it."""
        while True:
            match term:
                case Var(_, number, _):
                    return env[number] if number in env else self.free(term)
                case Lit(value):
                    return value
                case Prim(op, arg, name):
                    known = self.at_hand(term, env)
                    if known is not None:
                        return known
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
                    if type(f) is Var:
                        f = env[f.number] if f.number in env else self.free(f)
                    elif type(f) is not Lam:
                        f = yield self.value(f, env)
                    while calls:
                        if not isinstance(f, (Lam, Closure)):
                            arg = calls.pop().arg
                            known = self.at_hand(arg, env)
                            value = (yield self.value(arg, env)) if known is None else known
                            f = yield f.run(value) if type(f) is Native else self.call(f, value)
                            continue
                        lam, inner = (f, env) if isinstance(f, Lam) else (f.lam, dict(f.values))
                        given = []
                        while True:  # λ directly in λ makes no functions between
                            one = calls.pop()
                            known = self.at_hand(one.arg, env)
                            value = (yield self.value(one.arg, env)) if known is None else known
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
                    known = self.at_hand(of, env)
                    value = (yield self.value(of, env)) if known is None else known
                    bind(pattern, value, env)
                    term = body
                case Tuple(parts):
                    values = []
                    for part in parts:
                        known = self.at_hand(part, env)
                        values.append((yield self.value(part, env)) if known is None else known)
                    return tuple(values)
                case Proj(index, of):
                    value = yield self.value(of, env)
                    return value[index]
                case If(condition, then, otherwise):
                    known = self.at_hand(condition, env)
                    c = (yield self.value(condition, env)) if known is None else known
                    if not isinstance(c, Vec):
                        return (yield self.undecided(c, term, env))
                    term = then if bool(c.array) else otherwise
                case Con():
                    return (yield self.constructed(term, env))
                case Case(of, branches):
                    known = self.at_hand(of, env)
                    value = (yield self.value(of, env)) if known is None else known
                    value = opened(value) if isinstance(value, Stack) else value
                    if not isinstance(value, Tagged):
                        return (yield self.undecided(value, term, env))
                    branch = chosen(branches, value.label)
                    bind(branch.pattern, value.payload, env)
                    term = branch.body
                case Fold(_, of, _):
                    value = yield self.value(of, env)
                    return (yield self.fold(term, value, env))
                case Fix(var, body):
                    closed = {k: env[k] for k in captured(term) if k in env}

                    def unrolled(arg: Value, term: Fix = term, closed: dict[int, Value] = closed) -> Pass:
                        self._enter(term)
                        f = yield self.value(term.body, dict(closed))
                        return (yield self.call(f, arg))

                    takes = var.type.dom if isinstance(var.type, Arrow) else None
                    closed[var.number] = Native(unrolled, tuple(closed.values()), takes)
                    term, env = body, dict(closed)
                case Plus(left, right):
                    a = yield self.value(left, env)
                    b = yield self.value(right, env)
                    return (yield self.sum(a, b))
                case PullbackFormer() | Zero():
                    return (yield self.pullback(term, env))
                case OpenFormer():
                    message = f"{type(term).__name__} is open: check the term first"
                    raise TermError("unbound", message, term.place)
                case _:
                    assert_never(term)

    def at_hand(self, term: AnyTerm, env: dict[int, Value]) -> Value | None:
        """The value of a variable, a literal or a straight term, which needs no pass; None for others."""
        if type(term) is Var:
            return env.get(term.number)
        if type(term) is Lit:
            return term.value
        values: list[Any] = []
        step: Any = term
        try:
            for step in straight(term):
                kind = type(step)
                if kind is Var:
                    values.append(env[step.number] if step.number in env else self.free(step))
                elif kind is Lit:
                    values.append(step.value)
                elif kind is Prim:
                    values[-1] = self.primitive(step.op, values[-1], step.name)
                elif kind is Proj:
                    values[-1] = values[-1][step.index]
                else:
                    start = len(values) - len(step.parts)
                    values[start:] = [tuple(values[start:])]
        except TermError as error:
            raise error.at(step.place) from error
        except SpaceError as error:
            raise TermError("shape", str(error), step.place) from error
        return values[0] if values else None

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

    def plain(self) -> Folds:
        """An evaluator of values that have no class of their own, with all steps left."""
        evaluator = Evaluator(self.steps)
        evaluator.varying = self.varying
        return evaluator

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

            return Native(pointwise, (a, b), a.takes)
        return a + b
