"""The calls of machine code as functions of Python: a line of text for each array.

Small arrays are copied into the workspace and out of it; of a large one the code is given the address.
"""

from __future__ import annotations

import ctypes
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from hilbert.compiled.tree.statements import Called
from hilbert.program.calls.emitted_line import Emitted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hilbert.compiled.tree.buffers import Buffer


@final
class Function(NamedTuple):
    """A function of the code, called once for each turn of a long loop."""

    call: Callable[..., None]
    rounds: int
    turn: int

    @staticmethod
    def at(address: int, rounds: int, turn: int) -> Function:
        """The function at an address: of a table, and of the rounds of a turn if there are several."""
        ends = [ctypes.c_int64, ctypes.c_int64] if rounds > 1 else []
        return Function(ctypes.CFUNCTYPE(None, ctypes.c_void_p, *ends)(address), rounds, turn)


@final
class Plan(NamedTuple):
    """A call: the buffers of inputs and outputs, which of all these are small, and the steps.

    `names` has what the text calls: `pop` and `push` take a workspace from the free ones and put it back, `workspace`
    makes one more; `fit` makes an input k lie as the code reads it; `again` runs the inputs another way, where the
    results of the code are in doubt.
    """

    inputs: Sequence[Buffer]
    outputs: Sequence[Buffer]
    is_small: Sequence[bool]
    steps: Sequence[Function | Called]
    has_doubts: bool
    names: Mapping[str, Callable[..., Any]]


@final
class Ends(NamedTuple):
    """The views that a call takes of its arguments, and the arrays that it makes of its results.

    Argument k, named `a{k}`, is taken as it is where its condition in `accepted` holds; if one does not hold, or the
    number of arguments is wrong, `fitted` makes others of them all, or raises. `result` is the text around the results.
    """

    fitted: Callable[[Sequence[Any]], Sequence[Any]]
    accepted: Sequence[str] = ()
    result: str = "[{}]"
    is_frozen: bool = False
    """True if the results become read-only; then they are never written `out`."""
    names: Mapping[str, Any] = MappingProxyType({})
    """The values that the conditions and the result name."""


def emitted(plan: Plan, ends: Ends) -> Callable[..., Any]:
    """The function of the arrays of the inputs, and of `out`, arrays for the outputs, unless results are read-only."""
    first, small = len(plan.inputs), plan.is_small
    takes, gives = [f"a{k}" for k in range(first)], [f"v{k}" for k in range(len(plan.outputs))]
    names = {**plan.names, **ends.names, "fitted": ends.fitted}
    names |= {"empty": np.empty, "address": ctypes.addressof, "bytes_of": ctypes.c_char.from_buffer}
    text = [f"def line(given{'' if ends.is_frozen else ', out'}):", f" if len(given) != {first}:"]
    text += ["  given = fitted(given)", f" {_tuple(takes)} = given"]
    if ends.accepted:
        text += [f" if not ({' and '.join(ends.accepted)}):", f"  {_tuple(takes)} = fitted(given)"]
    text += [" try:", "  w = pop()", " except IndexError:", "  w = workspace()"]
    places = [f"p{k}" for k, is_small in enumerate(small) if is_small]
    text.append(f" {_tuple(['at', 'table', 'doubt', *places])} = w.parts")
    for k, buffer in enumerate(plan.inputs):
        if small[k]:
            text.append(f" p{k}[{'...' if buffer.shape else '()'}] = a{k}")
        else:
            text.append(f" a{k} = fit({k}, a{k}); table[{k}] = a{k}.ctypes.data")
    for k, buffer in enumerate(plan.outputs):
        names[f"d{k}"] = np.dtype(buffer.dtype)
        if not small[first + k]:
            fresh, given = f"empty({buffer.shape}, d{k})", f"out is None or out[{k}] is None"
            text.append(f" v{k} = {fresh}{'' if ends.is_frozen else f' if {given} else out[{k}]'}")
            text.append(f" table[{first + k}] = address(bytes_of(v{k}))")
    large = ", ".join(f"{k}: {name}" for k, name in enumerate([*takes, *gives]) if not small[k])
    for k, step in enumerate(plan.steps):
        if isinstance(step, Called):
            names[f"run{k}"] = step
            when = " if not doubt:" if plan.has_doubts else ""  # a kernel is not given numbers in doubt
            text.append(f"{when} w.call(run{k}, {{{large}}})")
            continue
        names[f"run{k}"] = step.call
        if step.rounds == 1:
            text.append(f" run{k}(at)")
        else:
            text.append(f" for k in range(0, {step.rounds}, {step.turn}):")
            text.append(f"  run{k}(at, k, min(k + {step.turn}, {step.rounds}))")
    text += [f" {line}" for line in _end(plan, ends, takes, gives)]
    call = Emitted("\n".join([*text, ""]), [], names).call
    call.__defaults__ = None if ends.is_frozen else (None,)
    return call


def _end(plan: Plan, ends: Ends, takes: Sequence[str], gives: Sequence[str]) -> list[str]:
    """The lines after the run: small results are copied, and the workspace is free again."""
    first = len(takes)
    small = [k for k in range(len(gives)) if plan.is_small[first + k]]
    made = [f"v{k} = p{first + k}{'()' if plan.outputs[k].shape else '[()]'}" for k in small]
    made.append("push(w)")
    if small and not ends.is_frozen:
        made.append("if out is not None:")
        made += [f" if out[{k}] is not None: out[{k}][...] = v{k}; v{k} = out[{k}]" for k in small]
    if plan.has_doubts:
        again = f"{_tuple(gives)} = again({_tuple(takes)}, {'None' if ends.is_frozen else 'out'})"
        made = ["if doubt:", " push(w)", f" {again}", "else:", *(f" {line}" for line in made)]
    if ends.is_frozen:
        made += [f"v{k}.setflags(False)" for k, buffer in enumerate(plan.outputs) if buffer.shape]
    return [*made, f"return {ends.result.format(''.join(f'{v}, ' for v in gives))}"]


def _tuple(names: Sequence[str]) -> str:
    return f"({''.join(f'{name}, ' for name in names)})"
