"""Machine code from text of LLVM: verified, optimised for this processor, kept in memory."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder
from importlib.util import module_from_spec
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, final
from weakref import finalize

from hilbert.compiled.machine.ir_words import ROUTINES
from hilbert.compiled.machine.llvm_library import llvm, said

if TYPE_CHECKING:
    from collections.abc import Sequence


COMPILING = RLock()
"""Held while LLVM works: a process that is forked meanwhile would find its lock taken for ever."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=COMPILING.acquire, after_in_parent=COMPILING.release, after_in_child=COMPILING.release)


@final
class Target(NamedTuple):
    """A processor: its name and its features, as LLVM says them."""

    cpu: str
    features: str

    @property
    def has_fma(self) -> bool:
        """Tell if a product may be added without being rounded, by one instruction."""
        return not self.features or "+fma," in f"{self.features},"

    @property
    def vector_bits(self) -> int:
        """The bits of a vector; 0 where they are not known."""
        have = set(self.features.split(","))
        return 512 if "+avx512f" in have else 256 if "+avx2" in have else 128 if "+sse2" in have else 0

    @property
    def asked(self) -> str:
        """The features, with vectors of 512 bits where there are some: LLVM prefers shorter ones for many processors.

        A wish of each function (`prefer-vector-width`) takes 2.5 ms, to read the features again.
        """
        return self.features + (",-prefer-256-bit,-prefer-128-bit" if self.vector_bits == 512 else "")


@cache
def host() -> Target:
    """The processor that this process runs on."""
    features = said("GetHostCPUFeatures")[1]
    return Target(said("GetHostCPUName")[1], ",".join(sorted(features.split(","), key=lambda word: word[1:])))


VECTORS, UNROLLED, LINES = 2, 3, 4
"""The levels from which on the compiler makes vectors of a loop's rounds, writes out short loops, and makes vectors of
statements that stand side by side. Loops around many calls of functions take half a minute to be written out."""


@final
class Code:
    """The functions of a module in memory; they live as long as this object does."""

    def __init__(self, text: str, names: Sequence[str], target: Target, level: int = LINES) -> None:
        call = llvm()
        with COMPILING:
            engine, context = _engine(text, target, level)
            self._disposal = finalize(self, _dispose, engine, context)
            self._disposal.atexit = False  # another thread may run the code until the process ends
            call["FinalizeObject"](engine)
            self.addresses = [call["GetFunctionAddress"](engine, name.encode()) for name in names]


def _dispose(engine: int, context: int) -> None:
    """Give back the memory of code."""
    llvm()["DisposeExecutionEngine"](engine)
    llvm()["ContextDispose"](context)


def _engine(text: str, target: Target, level: int) -> tuple[int, int]:
    """The engine that makes the code, and its context.

    LLVM's vectors of straight lines (SLP) are wrong for some; code that is not well-formed would end the process.
    """
    module = Optimised(text, target, level)
    if module.error():
        module.dispose()
        module = Optimised(text, target, min(level, UNROLLED))
        _accepted(module.error())
    is_arm = module.triple.startswith((b"aarch64", b"arm64"))  # there llvmlite's memory keeps pieces of code near
    engine, error = said("CreateMCJITCompiler", module.module, module.machine, is_arm)
    _accepted(error)
    return engine, module.context


def _accepted(error: str) -> None:
    """Raise RuntimeError if LLVM says an error of a text."""
    if error:
        msg = f"LLVM refuses the code of this program; please report the program with these words: {error}"
        raise RuntimeError(msg)


class Optimised:
    """A module after all passes, in a context of its own, and the machine that the module is for.

    The passes are those of LLVM's first level: those of its third take half as long again, and gain nothing.
    """

    def __init__(self, text: str, target: Target, level: int) -> None:
        call = llvm()
        self.triple = said("GetDefaultTargetTriple")[1].encode()
        processor, error = said("GetTargetFromTriple", self.triple)
        _accepted(error)
        cpu, features = target.cpu.encode(), target.asked.encode()
        machine = (processor, self.triple, cpu, features, min(level, 3), b"default", b"jitdefault", 0, 1, b"")
        self.machine = call["CreateTargetMachine"](*machine)
        self.context = call["ContextCreate"]()
        self.module, error = said("ParseAssembly", self.context, text.encode())
        _accepted(error)
        layout = call["CreateTargetMachineData"](self.machine)
        call["SetTarget"](self.module, self.triple)
        call["SetDataLayout"](self.module, said("CopyStringRepOfTargetData", layout)[1].encode())
        call["DisposeTargetData"](layout)
        _accepted(self.error())
        tuning = call["CreatePipelineTuningOptions"]()
        call["PTOSetLoopVectorization"](tuning, level >= VECTORS)
        call["PTOSetLoopUnrolling"](tuning, level >= UNROLLED)
        call["PTOSetSLPVectorization"](tuning, level >= LINES)
        builder = call["CreatePassBuilder"](self.machine, tuning)
        inliner = call["CreateNewModulePassManager"]()  # the vectors of sines: see `elementary_definitions`
        call["module_AddAlwaysInlinerPass"](inliner)
        for passes in (call["buildPerModuleDefaultPipeline"](builder, min(level, 1)), inliner):
            call["RunNewModulePassManager"](passes, self.module, builder)
            call["DisposeNewModulePassManger"](passes)
        call["DisposePassBuilder"](builder)
        call["DisposePipelineTuningOptions"](tuning)

    def error(self) -> str:
        """The errors that LLVM finds in the module; none in one that is well-formed."""
        return said("VerifyModule", self.module)[1]

    def dispose(self) -> None:
        """Give back the memory of a module that no engine has."""
        llvm()["ContextDispose"](self.context)
        llvm()["DisposeTargetMachine"](self.machine)


def blas() -> Any:
    """The addresses of ROUTINES, which scipy has: it is there where a program calls them. One thread looks them up."""
    with COMPILING:
        return _blas()


@cache
def _blas() -> Any:
    table = {**_of_scipy("cython_lapack").__pyx_capi__, **_of_scipy("cython_blas").__pyx_capi__}
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetName.argtypes = [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    found = [python.PyCapsule_GetPointer(table[name], python.PyCapsule_GetName(table[name])) for name in ROUTINES]
    return (ctypes.c_void_p * len(found))(*found)


def _of_scipy(name: str) -> Any:
    """A module of scipy.linalg, alone where it is a file of machine code: the package takes 0.1 s to load."""
    import scipy

    full = f"scipy.linalg.{name}"
    folder = Path(scipy.__path__[0], "linalg")
    spec = FileFinder(str(folder), (ExtensionFileLoader, EXTENSION_SUFFIXES)).find_spec(full)
    if full in sys.modules or spec is None or spec.loader is None:
        return import_module(full)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.pop(full, None)  # an import of the package puts the module there, and into the package
    return module
