"""LLVM's vectors of straight lines are wrong for some code: it is made again without them."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import hilbert.all as hb
from hilbert import SpaceError
from hilbert.compiled.machine import llvm_code, llvm_library
from hilbert.compiled.machine.llvm_code import LINES, UNROLLED, VECTORS, Code, Target, host

TEXT = "define void @run(ptr %table) {\n  ret void\n}\n"


def test_the_gradient_of_a_fold_over_rows_of_four() -> None:
    """LLVM 22 made a vector that is read before it is there, and ended the process."""
    rows, columns = hb.Fin.of(5), hb.Fin.of(4)

    def loss(u: Any, w: Any) -> Any:
        last: Any = hb.fold(lambda s, r: hb.tanh(s + w @ r), w.sum(over=columns), u.rows())
        return last @ last

    f = hb.grad(hb.fun(hb.R ** (rows * columns), hb.R ** (rows * columns))(loss))
    x = f.dom.random(np.random.default_rng(0))
    for found, right in zip(hb.compiled(f)(x).leaves, f(x).leaves, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-14)


def test_code_that_is_not_well_formed_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Broken(llvm_code.Optimised):
        def __init__(self, text: str, target: Target, level: int) -> None:
            super().__init__(text, target, level)
            asked.append(level)
            self.is_broken = level == LINES

        def error(self) -> str:
            return "broken" if getattr(self, "is_broken", False) else super().error()

    monkeypatch.setattr(llvm_code, "Optimised", Broken)
    assert all(Code(TEXT, ["run"], host()).addresses)
    assert asked == [LINES, UNROLLED]


def test_text_that_llvm_refuses() -> None:
    """The words of LLVM are told, and code can be made afterwards."""
    with pytest.raises(RuntimeError, match=r"please report the program with these words: .*expected type"):
        Code("define nothing", ["run"], host())
    with pytest.raises(RuntimeError, match=r"these words: .*(operator|operand)"):
        Code("define void @run(ptr %p) {\n  %x = fadd ptr %p, %p\n  ret void\n}\n", ["run"], host())
    assert all(Code(TEXT, ["run"], host()).addresses)


def asked_of_llvm(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Any]]:
    """The operands of the calls of LLVM, by the name of the function, which are made from now on."""
    own, asked = llvm_library.llvm(), dict[str, list[Any]]()

    def recorded(name: str) -> Any:
        def call(*operands: Any) -> Any:
            asked.setdefault(name, []).append(operands)
            return own[name](*operands)

        return call

    functions = {name: recorded(name) for name in own}
    monkeypatch.setattr(llvm_code, "llvm", lambda: functions)
    return asked


@pytest.mark.parametrize("level", range(LINES + 1))
def test_levels(level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each level does more than the one below; the passes are those of LLVM's first level at most."""
    asked = asked_of_llvm(monkeypatch)
    Code(TEXT, ["run"], host(), level)
    for name, least in (("LoopVectorization", VECTORS), ("LoopUnrolling", UNROLLED), ("SLPVectorization", LINES)):
        ((_, is_asked),) = asked["PTOSet" + name]
        assert is_asked == (level >= least)
    assert asked["CreateTargetMachine"][0][4] == min(level, 3)
    assert asked["buildPerModuleDefaultPipeline"][0][1] == min(level, 1)


@pytest.mark.parametrize(("features", "is_long"), [("+avx2,+avx512f", True), ("+avx2", False)])
def test_long_vectors_are_asked_for(features: str, is_long: bool, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    """LLVM takes vectors of 512 bits, where there are some, only if shorter ones are not preferred."""
    assert (Target("", features).asked == features + ",-prefer-256-bit,-prefer-128-bit") == is_long
    asked = asked_of_llvm(monkeypatch)
    Code(TEXT, ["run"], Target(host().cpu, host().features))
    assert asked["CreateTargetMachine"][0][3] == host().asked.encode()


def test_code_that_nobody_holds_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_of_llvm(monkeypatch)
    code = Code(TEXT, ["run"], host())
    assert "DisposeExecutionEngine" not in asked
    del code
    gc.collect()
    assert len(asked["DisposeExecutionEngine"]) == len(asked["ContextDispose"]) == 1
    llvm_code.Optimised(TEXT, host(), LINES).dispose()
    assert len(asked["DisposeTargetMachine"]) == 1


def test_the_library_of_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without llvmlite, or its functions, an error has the line to install; texts of LLVM are given back."""
    load: Any = llvm_library.llvm
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    with pytest.raises(SpaceError, match=r"pip install .*; the version that is installed does not fit: .*LLVMPY_"):
        load.__wrapped__()
    monkeypatch.setattr(llvm_library, "find_spec", lambda _: None)
    with pytest.raises(SpaceError, match="compiled programs need llvmlite: pip install"):
        load.__wrapped__()
    own, given = load(), list[Any]()
    monkeypatch.setattr(llvm_library, "llvm", lambda: {**own, "DisposeString": given.append})
    for _ in range(2):
        llvm_library.said("GetHostCPUName")
    assert len(given) == 2
