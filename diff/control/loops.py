"""Loops: a step that is traced once, whatever the number of rounds.

>>> from hilbert import Fin, R
>>> from diff import fun, tanh
>>> X = Fin.of(1000)
>>> f = fun(R, R)(lambda w, s: iterate(lambda s: tanh(w * s), s, X))
>>> print(f)
(w, s) ↦ iterate[1000](s ↦ tanh(w·s), s)
>>> len(f.steps)
3
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from diff.control.bodies import (
    Body,
    Tree,
    built,
    emitted,
    flat,
    made_beside,
    parameters,
    powers,
    said,
    slots_of,
    spaces_of,
    traced,
)
from diff.control.branches import where
from diff.trace.error_place import returned
from diff.trace.expr import Expr
from hilbert import Bool, Copower, DirectSum, Index, Product, SpaceError, Unit, Vec
from hilbert.base.attach import overloaded
from hilbert.errors import integer, shown, truth, written
from hilbert.program.control.loop import Loop
from hilbert.program.control.while_loop import While
from hilbert.program.line.builder import Builder
from hilbert.program.line.choice import TRUTH
from hilbert.program.line.line import restricted
from hilbert.program.transform.checkpoints import segmented
from hilbert.program.transform.emit_loop import emitted as step_of
from hilbert.program.transform.emit_loop import looped
from hilbert.space.nested_sums import apart, split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diff import _calls


@overloaded(lambda: _calls.fold)
@written("fold(step, start, xs), of the rows of a table fold(step, start, A.rows())")
def fold(
    step: Any, start: Any, xs: Any, ys: Any = None, *, reverse: bool = False, checkpoint: bool | int = False
) -> Any:
    """s ↦ step(s, x) for each x of xs ∈ W^X in turn, from the last one if `reverse`: the last state.

    With ys over the same index set the step is step(s, x, y); each of the two may hold conditions or elements.
    Where `step` gives a state and an output, fold gives the last state and the outputs, in Z^X. State and output are a
    vector each, or a tuple of vectors. The elements of a table in ℝ^{X×Y} are its entries; `A.rows()` are its rows. The
    step is traced once; it may read what stands around it. With `checkpoint` the derivative keeps the states between
    segments, √|X| or so many of them, and computes the rounds of a segment again. Raises
    SpaceError for a state of another space than the one before it, for an xs that is no element of a copower, and for
    xs and ys over two index sets.
    """
    operands = (xs,) if ys is None else (xs, ys)
    for x in operands:
        if not isinstance(x, (Expr, Vec)) or not isinstance(x.space, Copower):
            msg = f"fold(step, start, xs) goes over xs ∈ W^X, an element of X after the other, not over {shown(x)}"
            if isinstance(x, (Index, range)):
                msg += "; iterate(step, start, X) makes a round for each element of X, without data"
            elif isinstance(x, (tuple, list)):
                msg += "; fold(step, start, xs, ys) goes over two, and gives step(s, x, y) an element of each"
            raise SpaceError(msg)
        if x.space.index != xs.space.index:
            msg = f"fold(step, start, xs, ys) goes over one index set, not over those of {xs.space} and {x.space}"
            raise SpaceError(msg)
    truth(reverse, "reverse=…")
    return _looped("fold", step, start, operands, xs.space.index, reverse=reverse, checkpoint=checkpoint)


@overloaded(lambda: _calls.iterate)
@written("iterate(step, start, X)")
def iterate(step: Any, start: Any, X: Any, *, checkpoint: bool | int = False) -> Any:
    """s ↦ step(s), |X| times: the last state, and the outputs in Z^X where `step` gives a state and an output.

    The state is a vector, or a tuple of vectors; see `fold` for `checkpoint` and for errors.
    """
    if not isinstance(X, Index):
        msg = f"iterate(step, start, X) takes one round for each element of an index set X, not {shown(X)}: "
        raise SpaceError(f"{msg}Fin.of(n) has n")
    return _looped("iterate", step, start, (), X, reverse=False, checkpoint=checkpoint)


def _looped(what: str, step: Any, start: Tree, xs: tuple[Any, ...], X: Index, *, reverse: bool, checkpoint: Any) -> Any:
    spaces_of(start, f"the start of {what}")
    count = _segments(checkpoint, X.size)

    def emit(b: Builder, first: Tree, *stacks: Expr[Any]) -> Tree:
        """The step traced, and the loop as steps of the program being traced."""
        states = spaces_of(first, f"the start of {what}")
        try:
            body = traced(b, what, step, (states, *(stack.space.base for stack in stacks)), (first, *stacks))
        except SpaceError as error:
            error.args = (f"{error}{''.join(_rows(stack.space) for stack in stacks)}",)
            raise
        results = _results(what, step, states, body, X)
        before, captured = slots_of(b, first), tuple(body.captured)
        n, m = len(before), body.line.arity - len(captured)
        line = restricted(body.line, [*range(n), *range(m, body.line.arity), *range(n, m)])
        loop = Loop(line, X, n, len(captured), reverse, names=body.names)
        given = (*before, *captured, *slots_of(b, stacks))
        return built(b, results, iter(segmented(b, loop, given, count) if count else looped(b, loop, given)))

    return emitted(emit, start, *xs)


def _rows(V: Any) -> str:
    """The hint in an error of the step where fold goes over a table: its entries are the elements, not its rows."""
    return (
        f"; fold goes over the entries of xs ∈ {V}: over its rows with xs.rows()"
        if isinstance(V.index, Product)
        else ""
    )


def _segments(checkpoint: Any, n: int) -> int:
    """The number of segments that are computed again, 0 for none; raises SpaceError for what is no such number."""
    if isinstance(checkpoint, bool):
        return max(1, math.isqrt(n)) if checkpoint else 0
    count = integer(checkpoint)
    if count is None or count < 1:
        msg = f"checkpoint={shown(checkpoint)}: True, or a number of segments from 1 on"
        raise SpaceError(msg)
    return min(count, max(n, 1))


def _results(what: str, step: Any, states: Tree, body: Body, X: Index | None) -> Tree:
    """The spaces of the results of a loop; raises SpaceError where the state changes its space."""
    found = body.spaces
    if found == states:
        return states
    if X is not None and isinstance(found, tuple) and len(found) == 2 and found[0] == states:
        return states, powers(found[1], X)
    msg = f"the step of {what} takes a state in {said(states)} and gives {said(found)}: give a state of the same "
    msg += f"space{', or a pair of such a state and an output' if X is not None else ''}"
    if isinstance(found, DirectSum) and found.parts == states:
        raise SpaceError(f"{msg}: for an element s of the direct sum return s.split(){returned(step)}")
    names = getattr(states, "names", None)
    if names and found == states.parts:
        parts = ", ".join(f"entry({type(states).__name__}.{name}, …)" for name in names)
        raise SpaceError(f"{msg}: of a record return made(P, {parts}){returned(step)}")
    after, state = found, body.result
    if X is not None and isinstance(found, tuple) and len(found) == 2:  # with an output, unless that is farther
        after, state = max((found[0], state[0]), (found, state), key=lambda pair: len(split(pair[0], states)[0]))
    raise SpaceError(f"{apart(after, states)}{msg}{returned(step)}{made_beside(state, split(after, states)[0])}")


@overloaded(lambda: _calls.while_)
@written("while_(condition, step, start, at_most=X)")
def while_(condition: Any, step: Any, start: Any, *, at_most: Any = None) -> Any:
    """s ↦ step(s) as long as condition(s) holds, for at most |X| rounds where at_most is X: the last state.

    A later round costs one test. The derivative is that of the rounds that were made; without `at_most` there is none,
    only the value, after as many rounds as it takes. Lifted, each lane stops by itself. The state is a vector, or a
    tuple of vectors; see `iterate` for errors.
    """
    for part in (condition, step):
        if not callable(part):
            msg = f"while_ takes a condition and a step, both functions of the state, not {shown(part)}"
            raise SpaceError(msg)
    parameters("while_", condition, 1, "condition")
    parameters("while_", step, 1, "step")
    spaces_of(start, "the start of while_")
    if at_most is not None:
        if not isinstance(at_most, Index):
            msg = "while_(condition, step, start, at_most=X) ends after one round for each element of an index set X"
            raise SpaceError(f"{msg}, not {shown(at_most)}: Fin.of(n) has n")

        def guarded(state: Any) -> Any:
            return where(_condition(condition(state)), lambda: step(state), lambda: state)

        return iterate(guarded, start, at_most)

    def emit(b: Builder, first: Tree) -> Tree:
        """Emit the loop; its first state is the condition, asked at the start and at the end of each round."""
        states = spaces_of(first, "the start of while_")
        asked = traced(b, "while_", lambda state: _condition(condition(state)), (states,), first)
        body = traced(b, "while_", step, (states,), first)
        _results("while_", step, states, body, None)
        captured = tuple(dict.fromkeys((*body.captured, *asked.captured)))
        n = len(leaves := [leaf for space in flat(states) for leaf in space.leaves])
        inner = Builder([TRUTH, *leaves, *(b.slots[k] for k in captured)], fixed=body.line.fixed)
        at = {k: 1 + n + i for i, k in enumerate(captured)}

        def done(some: Body, given: Sequence[int]) -> list[int]:
            where = inner.inline(some.line, [*given, *(at[k] for k in some.captured)])
            return [where[k] for k in some.line.outputs]

        after = done(body, range(1, 1 + n))
        loop = While(inner.line([*done(asked, after), *after]), 1 + n, names=body.names)
        before = slots_of(b, first)
        goes = b.inline(asked.line, [*before, *asked.captured])[asked.line.outputs[0]]
        return built(b, states, iter(step_of(b, loop, (goes, *before, *captured))[1:]))

    return emitted(emit, start)


def _condition(c: Any) -> Any:
    """The condition itself; raises SpaceError for what is no condition."""
    if not isinstance(c, Expr) or c.space != Bool:
        msg = f"the condition of while_ is one truth value, such as x > 0, not {shown(c)}"
        raise SpaceError(msg)
    return c


@overloaded(lambda: _calls.again)
def again(f: Any, /, *args: Any) -> Any:
    """f(*args): the derivative keeps the arguments, and computes what it needs of f again.

    So a large intermediate array does not live from the value to the gradient. Raises SpaceError for what is no vector.
    """
    spaces_of(args, "an argument of again")

    def emit(b: Builder, *given: Expr[Any]) -> Tree:
        body = traced(b, "again", f, [x.space for x in given], given)
        loop = Loop(body.line, Unit(), 0, body.line.arity, again=True)
        return built(b, body.spaces, iter(looped(b, loop, (*slots_of(b, given), *body.captured))))

    return emitted(emit, *args)
