"""LLVM's functions in the shared library of llvmlite, called by ctypes.

The library loads in 6 ms. llvmlite's own modules, which build and read LLVM's objects in Python, take 40 ms more, and
nothing of them is called here. The names and types of the functions are those of `llvmlite.binding` 0.47 to 0.50.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, c_bool, c_char_p, c_int, c_uint64, c_void_p
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hilbert.errors import SpaceError

if TYPE_CHECKING:
    from collections.abc import Callable

_PREFIX: Final = "LLVMPY_"
_FILES: Final = {"darwin": "libllvmlite.dylib", "win32": "llvmlite.dll"}
_OBJECT, _TEXT, _SAID = c_void_p, c_char_p, POINTER(c_char_p)
_FUNCTIONS: Final[dict[str, tuple[Any, ...]]] = {
    # the processor
    "InitializeNativeTarget": (None,),
    "InitializeNativeAsmPrinter": (None,),
    "GetHostCPUName": (None, _SAID),
    "GetHostCPUFeatures": (c_int, _SAID),
    "GetDefaultTargetTriple": (None, _SAID),
    "GetTargetFromTriple": (_OBJECT, _TEXT, _SAID),
    # target, triple, processor, features, level, relocation, code model, print, just in time, name of the ABI
    "CreateTargetMachine": (_OBJECT, _OBJECT, *[_TEXT] * 3, c_int, *[_TEXT] * 2, c_int, c_int, _TEXT),
    "CreateTargetMachineData": (_OBJECT, _OBJECT),
    "CopyStringRepOfTargetData": (None, _OBJECT, _SAID),
    "DisposeTargetData": (None, _OBJECT),
    "DisposeTargetMachine": (None, _OBJECT),
    # a module
    "ContextCreate": (_OBJECT,),
    "ContextDispose": (None, _OBJECT),
    "ParseAssembly": (_OBJECT, _OBJECT, _TEXT, _SAID),
    "SetTarget": (None, _OBJECT, _TEXT),
    "SetDataLayout": (None, _OBJECT, _TEXT),
    "VerifyModule": (c_bool, _OBJECT, _SAID),
    # passes
    "CreatePipelineTuningOptions": (_OBJECT,),
    "PTOSetLoopVectorization": (None, _OBJECT, c_bool),
    "PTOSetLoopUnrolling": (None, _OBJECT, c_bool),
    "PTOSetSLPVectorization": (None, _OBJECT, c_bool),
    "DisposePipelineTuningOptions": (None, _OBJECT),
    "CreatePassBuilder": (_OBJECT, _OBJECT, _OBJECT),
    "DisposePassBuilder": (None, _OBJECT),
    "CreateNewModulePassManager": (_OBJECT,),
    "buildPerModuleDefaultPipeline": (_OBJECT, _OBJECT, c_int),
    "module_AddAlwaysInlinerPass": (None, _OBJECT),
    "RunNewModulePassManager": (None, _OBJECT, _OBJECT, _OBJECT),
    "DisposeNewModulePassManger": (None, _OBJECT),
    # code in memory
    "CreateMCJITCompiler": (_OBJECT, _OBJECT, _OBJECT, c_bool, _SAID),
    "FinalizeObject": (None, _OBJECT),
    "GetFunctionAddress": (c_uint64, _OBJECT, _TEXT),
    "DisposeExecutionEngine": (None, _OBJECT),
    "DisposeString": (None, _TEXT),
}
"""The type of the result and those of the arguments of each function."""


@cache
def llvm() -> dict[str, Callable[..., Any]]:
    """The functions by their names, ready for this processor.

    Raises SpaceError, with the line to install, where llvmlite is missing or has other functions.
    """
    spec = find_spec("llvmlite")
    msg = 'compiled programs need llvmlite: pip install "hilbert[compiled]"'
    if spec is None or not spec.submodule_search_locations:
        raise SpaceError(msg)
    file = Path(spec.submodule_search_locations[0], "binding", _FILES.get(sys.platform, "libllvmlite.so"))
    try:
        loaded = ctypes.CDLL(str(file))
        functions = {name: getattr(loaded, _PREFIX + name) for name in _FUNCTIONS}
    except (OSError, AttributeError) as error:
        msg = f"{msg}; the version that is installed does not fit: {error}"
        raise SpaceError(msg) from error
    for name, (result, *arguments) in _FUNCTIONS.items():
        functions[name].restype, functions[name].argtypes = result, arguments
    functions["InitializeNativeTarget"]()
    functions["InitializeNativeAsmPrinter"]()
    return functions


def said(name: str, *operands: Any) -> tuple[Any, str]:
    """The result of a function, and the text that the function leaves."""
    functions, text = llvm(), c_char_p()
    result = functions[name](*operands, ctypes.byref(text))
    words = (text.value or b"").decode()
    if text:
        functions["DisposeString"](text)
    return result, words
