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

from typing import TYPE_CHECKING, Any, TypeVar, overload

from diff.bodies import Tree, built, emitted, powers, said, slots_of, spaces_of, traced
from diff.expr import Expr
from hilbert import Copower, Index, SpaceError, Type, Vec
from hilbert.errors import shown, truth
from hilbert.program.line import restricted
from hilbert.program.loop import Loop
from hilbert.program.looped import looped

if TYPE_CHECKING:
    from collections.abc import Callable

    from hilbert.program.builder import Builder

I = TypeVar("I", bound=Index)
S = TypeVar("S", bound=Type)
W = TypeVar("W", bound=Type)
Z = TypeVar("Z", bound=Type)
States = TypeVar("States", bound=tuple[Any, ...])


@overload
def fold(  # type: ignore[overload-overlap]  # a vector is no expression
    step: Callable[[Expr[S], Expr[W]], Expr[S]], start: Vec[S], xs: Vec[Copower[W, I]], *, reverse: bool = False
) -> Vec[S]: ...
@overload
def fold(
    step: Callable[[Expr[S], Expr[W]], Expr[S]],
    start: Expr[S] | Vec[S],
    xs: Expr[Copower[W, I]] | Vec[Copower[W, I]],
    *,
    reverse: bool = False,
) -> Expr[S]: ...
@overload
def fold(  # type: ignore[overload-overlap]  # likewise
    step: Callable[[Expr[S], Expr[W]], tuple[Expr[S], Expr[Z]]],
    start: Vec[S],
    xs: Vec[Copower[W, I]],
    *,
    reverse: bool = False,
) -> tuple[Vec[S], Vec[Copower[Z, I]]]: ...
@overload
def fold(
    step: Callable[[Expr[S], Expr[W]], tuple[Expr[S], Expr[Z]]],
    start: Expr[S] | Vec[S],
    xs: Expr[Copower[W, I]] | Vec[Copower[W, I]],
    *,
    reverse: bool = False,
) -> tuple[Expr[S], Expr[Copower[Z, I]]]: ...
@overload
def fold(
    step: Callable[[States, Expr[W]], States],
    start: States,
    xs: Expr[Copower[W, I]] | Vec[Copower[W, I]],
    *,
    reverse: bool = False,
) -> States: ...
@overload
def fold(
    step: Callable[[States, Expr[W]], tuple[States, Expr[Z]]],
    start: States,
    xs: Expr[Copower[W, I]] | Vec[Copower[W, I]],
    *,
    reverse: bool = False,
) -> tuple[States, Expr[Copower[Z, I]]]: ...
def fold(step: Any, start: Any, xs: Any, *, reverse: bool = False) -> Any:
    """s ↦ step(s, x) for each x of xs ∈ W^X in turn, from the last one if `reverse`: the last state.

    Where `step` gives a state and an output, fold gives the last state and the outputs, in Z^X. The state is a vector,
    or a tuple of vectors. The step is traced once; it may read what stands around it. Raises SpaceError for a state of
    another space than the one before it, and for an xs that is no element of a copower.
    """
    if not isinstance(xs, (Expr, Vec)) or not isinstance(xs.space, Copower):
        msg = f"fold(step, start, xs) goes over xs ∈ W^X, an element of X after the other, not over {shown(xs)}"
        raise SpaceError(msg)
    truth(reverse, "reverse=…")
    return _looped("fold", step, start, xs, xs.space.index, reverse=reverse)


@overload
def iterate(step: Callable[[Expr[S]], Expr[S]], start: Vec[S], X: Index) -> Vec[S]: ...
@overload
def iterate(step: Callable[[Expr[S]], Expr[S]], start: Expr[S], X: Index) -> Expr[S]: ...
@overload
def iterate(
    step: Callable[[Expr[S]], tuple[Expr[S], Expr[Z]]], start: Vec[S], X: I
) -> tuple[Vec[S], Vec[Copower[Z, I]]]: ...
@overload
def iterate(
    step: Callable[[Expr[S]], tuple[Expr[S], Expr[Z]]], start: Expr[S], X: I
) -> tuple[Expr[S], Expr[Copower[Z, I]]]: ...
@overload
def iterate(step: Callable[[States], States], start: States, X: Index) -> States: ...
@overload
def iterate(
    step: Callable[[States], tuple[States, Expr[Z]]], start: States, X: I
) -> tuple[States, Expr[Copower[Z, I]]]: ...
def iterate(step: Any, start: Any, X: Any) -> Any:
    """s ↦ step(s), |X| times: the last state, and the outputs in Z^X where `step` gives a state and an output.

    The state is a vector, or a tuple of vectors; see `fold`, with its errors.
    """
    if not isinstance(X, Index):
        msg = f"iterate(step, start, X) takes one round for each element of an index set X, not {shown(X)}: "
        raise SpaceError(f"{msg}Fin.of(n) has n")
    return _looped("iterate", step, start, None, X, reverse=False)


def _looped(what: str, step: Any, start: Tree, xs: Any, X: Index, *, reverse: bool) -> Any:
    spaces_of(start, f"the start of {what}")

    def emit(b: Builder, first: Tree, *stacks: Expr[Any]) -> Tree:
        """The step traced, and the loop as steps of the program being traced."""
        states = spaces_of(first, f"the start of {what}")
        body = traced(b, what, step, (states, *(stack.space.base for stack in stacks)))
        results = _results(what, states, body.spaces, X)
        before, captured = slots_of(b, first), tuple(body.captured)
        n, m = len(before), body.line.arity - len(captured)
        line = restricted(body.line, [*range(n), *range(m, body.line.arity), *range(n, m)])
        loop = Loop(line, X, n, len(captured), reverse, body.names)
        return built(b, results, iter(looped(b, loop, (*before, *captured, *slots_of(b, stacks)))))

    return emitted(emit, start) if xs is None else emitted(emit, start, xs)


def _results(what: str, states: Tree, found: Tree, X: Index) -> Tree:
    """The spaces of what a loop gives; raises SpaceError where the state changes its space."""
    if found == states:
        return states
    if isinstance(found, tuple) and len(found) == 2 and found[0] == states:
        return states, powers(found[1], X)
    msg = (
        f"the step of {what} takes a state in {said(states)} and gives {said(found)}: give a state of the same space, "
    )
    raise SpaceError(f"{msg}or a pair of such a state and an output")
