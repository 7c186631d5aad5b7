"""Machine code from text of LLVM, by llvmlite: verified, optimised for this processor, kept in memory."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any, final

from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Sequence


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


@cache
def host() -> tuple[str, str]:
    """The name of this processor, and its features."""
    llvm = binding()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@final
class Code:
    """The functions of a module in memory; they live as long as this object does."""

    def __init__(self, text: str, names: Sequence[str], level: int = 3, target: tuple[str, str] | None = None) -> None:
        llvm = binding()
        cpu, features = target or host()
        machine = llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu, features=features, opt=level, jit=True
        )
        module = llvm.parse_assembly(text)
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
        tuning = llvm.create_pipeline_tuning_options(speed_level=level)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = level > 1
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self.functions = {name: kind(self._engine.get_function_address(name)) for name in names}


@cache
def blas() -> Any:
    """The addresses of the matrix products of scipy's BLAS, for 64 and 32 bits; None where scipy is missing."""
    try:
        from scipy.linalg import cython_blas
    except ImportError:
        return None
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype = ctypes.c_char_p
    python.PyCapsule_GetName.argtypes = [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    capsules = [cython_blas.__pyx_capi__[name] for name in ("dgemm", "sgemm")]
    found = [python.PyCapsule_GetPointer(c, python.PyCapsule_GetName(c)) for c in capsules]
    return (ctypes.c_void_p * 2)(*found)
