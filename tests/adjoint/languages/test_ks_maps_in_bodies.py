"""Functions that compute with linear maps, and checks in derivatives."""

from __future__ import annotations

import pytest

from adjoint import grad
from adjoint.languages.ks.functions import KsFunction, load
from adjoint.languages.ks.notes import NAMES
from adjoint.languages.source import Source
from diff import derivative
from diff.higher.errors import TermError
from hilbert import Fin, R

MAPS = """(def f Float (x : Float) (let (mm (lmScale x x)) (lmApply mm x)))
(def h Float (x : Float) (add (lmApplyR x (lmDot (mul x x))) 1.0))
(def two Float (x : Float)
  (lmApply (lmCompose (lmScale x x) (lmHCat (lmOne x) (lmZero x x))) (tuple x 1.0)))
(def made (LM Float Float) (x : Float) (lmScale 1.0 x))
(def takes Float ((m : (LM Float Float)) (x : Float)) (lmApply m x))
(def calls Float (x : Float) (takes (made x) x))
"""
CHECKS = """(def u Float (x : Float) (assert (gt x 0.0) x))
(def v Float (v : Vec Float) (sum (build (size v) (lam (i : Integer) (assert (gt (index i v) 0.0) (index i v))))))
(def w Float (v : Vec Float)
  (sum (map (lam (x : Float) (if (gt x 0.0) (assert (gt x 0.5) x) 0.0)) v)))
(def fo Float (v : Vec Float) (fold (lam ((a : Float) (b : Float)) (assert (gt b 0.0) (mul a b))) 1.0 v))
"""


def function(text: str, name: str) -> KsFunction:
    found = load([Source("s.ks", text)]).functions[name]
    assert isinstance(found, KsFunction)
    return found


@pytest.mark.parametrize("name", ["f", "h", "two", "made", "takes", "calls"])
@pytest.mark.parametrize("stage", NAMES)
def test_no_stage_derives_linear_maps(name: str, stage: str) -> None:
    """A value is a text that is read again; a derivative is refused, where the map is."""
    make = function(MAPS, name).stages()[stage]
    if stage == "anf" or stage.startswith("CL"):
        text = make(None, None)
        assert name in load([Source("t.ks", text)]).functions
        return
    with pytest.raises(
        TermError, match=f"computes with linear maps, which the stage {stage} does not derive"
    ) as caught:
        make(None, None)
    assert caught.value.place is not None


def test_a_function_of_a_linear_map_has_texts() -> None:
    """It is no map of the library, and no argument of it is chosen for its text."""
    takes = function(MAPS, "takes")
    stages = takes.stages()
    assert stages["text"](None, None) == "(def takes Float ((m : (LM Float Float)) (x : Float)) (lmApply m x))"
    assert "structure" not in stages
    with pytest.raises(TermError, match=r"no value of type .* is chosen or given: write a function that makes one"):
        takes.verified(None)


def test_a_record_has_no_text() -> None:
    """The message says what it is for."""
    run = load([Source("s.ks", CHECKS)]).expression
    with pytest.raises(TermError, match=r"the record of suffwdpass has no text: .*\(\[sufrevpass f\] dt b\)"):
        run("([suffwdpass u] 3.0)")
    assert run("(let ((y b) ([suffwdpass u] 3.0)) ([sufrevpass u] 1.0 b))") == "1.0"


@pytest.mark.parametrize(("name", "good", "bad"), [("v", 1.0, -0.2), ("w", 1.0, 0.2), ("fo", 1.0, -0.2)])
def test_a_derivative_checks_in_loops(name: str, good: float, bad: float) -> None:
    """The gradient alone makes the checks of the value."""
    space = R ** Fin.of(2)
    f = function(CHECKS, name).of(space)
    assert grad(f)(space.vec([good, 1.0])).array.tolist() == [1.0, 1.0]
    with pytest.raises(TermError, match="the assertion does not hold"):
        grad(f)(space.vec([1.0, bad]))


def test_a_derivative_checks() -> None:
    """So does the derivative at a point, and the second."""
    f = function(CHECKS, "u").of()
    bad = R.vec(-1.0)
    assert derivative(f).at(R.vec(2.0))(R.vec(3.0)).array == 3.0
    with pytest.raises(TermError, match="the assertion does not hold"):
        derivative(f).at(bad)(R.vec(1.0))
    with pytest.raises(TermError, match="the assertion does not hold"):
        grad(f)(bad)
