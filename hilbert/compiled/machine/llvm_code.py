"""Machine code from text of LLVM, by llvmlite: verified, optimised for this processor, kept in memory."""

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
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from hilbert.compiled.machine.ir_words import ROUTINES
from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Sequence


COMPILING = RLock()
"""Held while LLVM works: a process that is forked meanwhile would find its lock taken for ever."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=COMPILING.acquire, after_in_parent=COMPILING.release, after_in_child=COMPILING.release)


@cache
def binding() -> Any:
    """llvmlite's binding; SpaceError with the line to install where it is missing."""
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        msg = 'compiled programs need llvmlite: pip install "hilbert[compiled]"'
        raise SpaceError(msg) from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@final
@frozen
class Target:
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


@cache
def host() -> Target:
    """The processor that this process runs on."""
    llvm = binding()
    return Target(llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


VECTORS, UNROLLED, LINES = 2, 3, 4
"""The levels from which on the compiler makes vectors of a loop's rounds, writes out short loops, and makes vectors of
statements that stand side by side. Loops around many calls of functions take half a minute to be written out."""


@final
class Code:
    """The functions of a module in memory; they live as long as this object does."""

    def __init__(self, text: str, names: Sequence[str], target: Target, level: int = LINES) -> None:
        with COMPILING:
            self._engine = self._made(text, target, level)
            self.addresses = [self._engine.get_function_address(name) for name in names]

    @classmethod
    def _made(cls, text: str, target: Target, level: int) -> Any:
        """The engine that holds the code.

        LLVM's vectors of straight lines (SLP) are wrong for some; code that is not well-formed would end the process.
        """
        module, machine = cls._optimised(text, target, level)
        try:
            module.verify()
        except RuntimeError:
            module, machine = cls._optimised(text, target, min(level, UNROLLED))
            module.verify()
        engine = binding().create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return engine

    @staticmethod
    def _optimised(text: str, target: Target, level: int) -> tuple[Any, Any]:
        """The module after all passes, and the machine that it is for.

        The passes are those of LLVM's first level: those of its third take half as long again, and gain nothing.
        """
        llvm = binding()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=target.cpu, features=target.features, opt=min(level, 3), jit=True
        )
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
        tuning = llvm.create_pipeline_tuning_options(speed_level=min(level, 1))
        tuning.loop_vectorization = level >= VECTORS
        tuning.loop_unrolling = level >= UNROLLED
        tuning.slp_vectorization = level >= LINES
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        inliner = llvm.create_new_module_pass_manager()  # the vectors of sines: see `elementary_definitions`
        inliner.add_always_inliner_pass()
        inliner.run(module, builder)
        return module, machine


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
