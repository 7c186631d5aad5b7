"""Programs that run as machine code, made by `compiled`: the same functions with another runner.

The code is made when it is first asked for, once for each line: equal lines share it while one of some last hundred.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeVar, final

import numpy as np
from attrs import field, frozen

from diff.compiled.own_runner import OwnRunner
from diff.terms.planned_program import reordered
from diff.terms.program import AnyProgram, Program
from hilbert import SpaceError, Type, Vec
from hilbert.arrays.formal.formal_array import Formal
from hilbert.arrays.kernels.library import find, library
from hilbert.arrays.libraries.namespace import as_leaf
from hilbert.arrays.libraries.numpy_library import NUMPY
from hilbert.base.once import LOCK, once
from hilbert.compiled.machine.compiled_line import CompiledLine, Report
from hilbert.compiled.machine.emitted_calls import Ends
from hilbert.compiled.machine.llvm_library import llvm
from hilbert.errors import shown
from hilbert.map.map import runner
from hilbert.program.line.operation import Literal as Constant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hilbert.index.leaf import Leaf
    from hilbert.map.map import OnLeaves
    from hilbert.program.line.line import Line

V = TypeVar("V", bound=Type)
W = TypeVar("W", bound=Type)
Backend: TypeAlias = Literal["llvm", "interpreter"]
KEPT = 128
"""The lines whose code is kept for others that are equal."""
PLAIN = frozenset({np.ndarray, np.float64, float})
"""Types of arguments that are arrays as they are, or have no memory that can be written into."""
_codes: OrderedDict[tuple[Line, bool], CompiledLine] = OrderedDict()


def code_of(line: Line, *, often: bool = False) -> CompiledLine:
    """The machine code of a line; SpaceError where llvmlite is missing, or the line holds what is no array of numpy."""
    key = line, often
    with LOCK:
        found = _codes.get(key)
        if found is not None:
            _codes.move_to_end(key)
            return found
    for step in line.steps:
        if isinstance(step.operation, Constant) and type(step.operation.value.array) is Formal:
            msg = "a program with formal tensors among its constants is not compiled: it has no arrays for them"
            raise SpaceError(msg)
    made = CompiledLine(line, often=often)
    with LOCK:
        _codes[key] = made
        while len(_codes) > KEPT:
            _codes.popitem(last=False)
    return made


def code_of_block(line: Line) -> CompiledLine:
    """The machine code of the line of a block, which runs once for each block."""
    return code_of(line, often=True)


class RunsCompiled(OwnRunner):
    """A program with a runner of machine code; `map` is the function that is compiled."""

    __slots__ = ()
    backend: Backend
    line: Line
    dom: Any
    cod: Any

    @property
    @once
    def _code(self) -> CompiledLine:
        return code_of(reordered(self.map).line if type(self.map) is Program else self.line)

    def alike(self, p: AnyProgram) -> AnyProgram:
        """Another program on the same backend."""
        return machine_program(p, self.backend)

    @property
    def report(self) -> Report:
        """The make of the code; SpaceError for a program of the interpreter, which has none."""
        return self._only("report").report

    @property
    def reruns(self) -> int:
        """The calls so far that the interpreter ran again, as a pivot of a small system was in doubt."""
        return self._only("reruns").reruns

    @property
    def llvm(self) -> str:
        """The code as text of LLVM, before it is optimised; SpaceError for a program of the interpreter."""
        return self._only("llvm").text

    def _only(self, what: str) -> CompiledLine:
        if self.backend != "llvm":
            msg = f"a program of the interpreter has no {what}: write compiled(f) without backend="
            raise SpaceError(msg)
        return self._code

    def _runner(self) -> OnLeaves:
        if self.backend != "llvm":
            return runner(self.map)
        return self._code.emitted(Ends(_abroad, self._are_arrays, names={"kinds": NUMPY.kinds}))

    def _applied(self) -> Callable[[Sequence[Any]], Vec[Any]]:
        if self.backend != "llvm":
            return self.map._applied()
        names = {"kinds": NUMPY.kinds, "vector": Vec, "cod": self.cod}
        return self._code.emitted(Ends(_abroad, self._are_arrays, "vector(cod, ({}))", is_frozen=True, names=names))

    @property
    def _are_arrays(self) -> list[str]:
        """The conditions that the leaves of a vector are arrays of numpy."""
        return [f"type(a{k}) in kinds" for k in range(len(self.dom.leaves))]

    @property
    @once
    def _on_arrays(self) -> Callable[..., tuple[Any, ...]]:
        """The function from plain arrays to plain arrays; of the right dtype and shape they are taken as they are."""
        leaves = self.dom.leaves
        ends = Ends(
            lambda arrays: _checked(arrays, leaves),
            ["False" if not leaf.is_field else _fits(k, leaf) for k, leaf in enumerate(leaves)],
            "({})",
            names={"array": np.ndarray, "number": np.float64} | {leaf.dtype: np.dtype(leaf.dtype) for leaf in leaves},
        )
        return self._code.emitted(ends)

    def on_arrays(self, *arrays: Any, out: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """The results for arrays of numpy, one for each leaf of the argument: an array for each leaf of the result.

        They are fresh, or those of `out`. Raises SpaceError for arrays of other shapes, or of dtypes that do not
        convert, for positions outside their index set, and for an `out` that is no memory of its own.
        """
        is_code = self.backend == "llvm"
        if not is_code or (out is not None and not PLAIN.issuperset(map(type, arrays))):
            arrays = tuple(_checked(arrays, self.dom.leaves))
        out = None if out is None else _own(out, self.cod.leaves, arrays)
        if is_code:
            return self._on_arrays(arrays, out)
        found = [np.asarray(a) for a in self._runner()(arrays)]
        if out is None:
            return tuple(np.array(a) for a in found)
        for target, a in zip(out, found, strict=True):
            target[...] = a
        return tuple(out)


@final
@frozen(eq=False, repr=False)
class CompiledProgram(RunsCompiled, Program[V, W]):
    """A function as machine code: see `compiled`."""

    map: AnyProgram = field(kw_only=True)
    backend: Backend = field(kw_only=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompiledProgram):
            return False
        return self.backend == other.backend and self.map == other.map

    def __hash__(self) -> int:
        return hash((self.backend, self.map))

    def __reduce__(self) -> tuple[Any, ...]:
        return machine_program, (self.map, self.backend)


@singledispatch
def machine_program(p: AnyProgram, backend: Backend) -> AnyProgram:
    """The program with another runner; one object for each program and backend."""
    return _made(p, backend)


@once
def _made(p: AnyProgram, backend: Backend) -> AnyProgram:
    if backend == "llvm":
        llvm()
    return CompiledProgram(p.dom, p.cod, p.line, p.names, p.written, map=p, backend=backend)


def _fits(k: int, leaf: Leaf) -> str:
    """The condition that array k needs no further look; Python's numbers are in double precision."""
    there = f"type(a{k}) is array and a{k}.dtype is {leaf.dtype} and a{k}.shape == {leaf.shape}"
    is_number = leaf.dtype == "float64" and not leaf.axes
    return f"({there} or type(a{k}) is float or type(a{k}) is number)" if is_number else there


def _abroad(leaves: Sequence[Any]) -> NoReturn:
    """Raise SpaceError for arrays of other libraries."""
    other = next(a for a in leaves if type(a) not in NUMPY.kinds)
    what = "formal tensors" if isinstance(other, Formal) else f"arrays of {library(other).name}"
    msg = f"compiled code runs on numpy's arrays, not on {what}"
    if library(other).name.startswith("jax"):
        msg += ": use jax.jit of the function itself"
    raise SpaceError(msg)


def _checked(arrays: Sequence[Any], leaves: Sequence[Leaf]) -> list[Any]:
    """Arrays as they fit the leaves, by the rule of vectors; raises SpaceError for others."""
    if len(arrays) != len(leaves):
        due = ", ".join(f"{leaf.dtype}{list(leaf.shape)}" for leaf in leaves)
        msg = f"on_arrays takes {len(leaves)} arrays, one for each leaf ({due}), not {len(arrays)}"
        raise SpaceError(msg)
    made = []
    for k, (a, leaf) in enumerate(zip(arrays, leaves, strict=True)):
        found = find(a)
        if found not in {None, NUMPY}:
            _abroad([a])
        try:
            made.append(as_leaf(a, leaf))
        except SpaceError as error:
            msg = f"on_arrays, array {k}: {error}"
            raise SpaceError(msg) from error
    return made


def _own(out: Sequence[Any], leaves: Sequence[Leaf], given: Sequence[Any]) -> list[Any]:
    """The arrays of `out`; SpaceError unless each can be written into, fits and shares no memory with others."""
    made = list(out)
    if isinstance(out, np.ndarray) or len(made) != len(leaves):
        msg = f"out= takes a list of {len(leaves)} arrays, one for each leaf of the result, not {shown(out)}"
        raise SpaceError(msg)
    for k, (a, leaf) in enumerate(zip(made, leaves, strict=True)):
        if type(a) is not np.ndarray or a.shape != leaf.shape or a.dtype != np.dtype(leaf.dtype):
            msg = f"out=: array {k} is {shown(a)}, where {leaf.dtype}{list(leaf.shape)} is due"
            raise SpaceError(msg)
        if not (a.flags.writeable and a.flags.c_contiguous and a.flags.aligned):
            msg = f"out=: array {k} cannot be written into, or does not lie row by row: give np.empty({leaf.shape})"
            raise SpaceError(msg)
        others = [*(b for b in given if type(b) is np.ndarray), *made[:k]]
        if any(a is b for b in others) or (
            any(b.base is not None for b in (a, *others)) and any(np.may_share_memory(a, b) for b in others)
        ):
            msg = f"out=: array {k} shares memory with an argument or with another result: give one of its own"
            raise SpaceError(msg)
    return made
