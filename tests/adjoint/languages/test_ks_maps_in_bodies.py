"""Functions that compute with linear maps, and checks in derivatives."""

from __future__ import annotations

import pytest

from adjoint import grad
from adjoint.languages.ks.notes import NAMES
from adjoint.languages.ks.run.ks_functions import KsFunction, load
from adjoint.languages.source_text import Source
from diff import derivative
from diff.lam.term.term_error import TermError
from hilbert import Fin, R, SpaceError

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


@pytest.mark.parametrize("stage", NAMES)
def test_no_stage_derives_records(stage: str) -> None:
    """What [suffwdpass f] keeps has no tangent in a text: a derivative by it is refused; the program's is right."""
    text = """(def f Float (x : Float) (mul x x))
(def g Float (x : Float) (let ((t b) ([suffwdpass f] x)) (add t ([sufrevpass f] 1.0 b))))
(def value Float (x : Float) (get$1$2 ([suffwdpass f] x)))
"""
    run = load([Source("s.ks", text)]).expression
    assert (run("([fwd g] 3.0 1.0)"), run("([rev g] 3.0 1.0)")) == ("8.0", "8.0")
    make = function(text, "g").stages()[stage]
    if stage == "anf" or stage.startswith("CL"):
        assert "g" in load([Source("t.ks", make(None, None))]).functions
        return
    says = f"s.ks:2:65: g computes with the record of a suffwdpass, which the stage {stage} does not derive: apply"
    with pytest.raises(TermError, match=says):
        make(None, None)


def test_a_function_of_a_linear_map_has_texts() -> None:
    """It is no map of the library, and no argument of it is chosen for its text."""
    takes = function(MAPS, "takes")
    stages = takes.stages()
    assert stages["text"](None, None) == "(def takes Float ((m : (LM Float Float)) (x : Float)) (lmApply m x))"
    assert "structure" not in stages
    with pytest.raises(SpaceError, match=r"no value of type .* is chosen or given: write a function that makes one"):
        takes.verified(None)


RETURNED = """(def made (LM Float Float) (x : Float) (lmScale 1.0 (mul x x)))
(def both (Tuple Float (LM Float Float)) (x : Float) (tuple (mul x x) (lmScale 1.0 (mul x x))))
(def cube Float (x : Float) (mul x (mul x x)))
(def takes Float ((m : (LM Float Float)) (x : Float)) (lmApply m x))
(def fixed (LM Float Float) (n : Integer) (lmScale 1.0 (to_float n)))
"""


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("(lmApply ([fwd made] 3.0 1.0) 2.0)", 12.0),
        ("(lmApplyR 2.0 ([fwd made] 3.0 1.0))", 12.0),
        ("(lmApply (lmApply ([D made] 3.0) 1.0) 2.0)", 12.0),
        ("(lmApply ([fwd [fwd made]] (tuple 3.0 1.0) (tuple 1.0 0.0)) 2.0)", 4.0),
        ("(lmApply (get$2$2 ([fwd both] 3.0 1.0)) 2.0)", 12.0),
        ("(get$1$2 ([fwd both] 3.0 1.0))", 6.0),
        ("(lmApply ([fwd [D cube]] 3.0 1.0) 2.0)", 36.0),
        ("(lmApply (lmApply ([D [D cube]] 3.0) 1.0) 2.0)", 36.0),
        ("(lmApply (lmApply ([fwd [D [D cube]]] 3.0 1.0) 1.0) 2.0)", 12.0),
        ("(lmApply (get$2$2 ([fwd [tupled cube]] 3.0 1.0)) 2.0)", 36.0),
        ("(lmApply ([fwd fixed] 3 (tuple)) 2.0)", 0.0),
        ("(get$2$2 ([rev takes] (tuple (lmScale 1.0 2.0) 3.0) 1.0))", 2.0),
    ],
)
def test_the_tangent_of_a_linear_map(expression: str, due: float) -> None:
    """dm ⊙ u is the derivative of m ⊙ u: made(x) ⊙ u = x²·u."""
    assert load([Source("s.ks", RETURNED)]).expression(expression) == f"{due}"


TAKING = """(def takes Float ((m : (LM Float Float)) (x : Float)) (lmApply m x))
(def squared Float ((m : (LM Float Float)) (x : Float)) (mul (lmApply m x) (lmApply m (mul x x))))
(def alone Float (m : (LM Float Float)) (lmApply m 3.0))
(def back Float ((m : (LM Float Float)) (x : Float)) (lmApplyR (mul x x) m))
(def after (LM Float Float) ((m : (LM Float Float)) (x : Float)) (lmCompose m (lmScale x x)))
(def each (Vec Float) ((m : (LM (Vec Float) (Vec Float))) (v : Vec Float)) (lmApply m (mul v v)))
(def halved Float ((m : (LM Float Float)) (x : Float)) (if (gt x 0.5) (halved m (mul 0.5 x)) (lmApply m x)))
(def checks Float ((m : (LM Float Float)) (x : Float)) (if (gt x 0.0) (lmApply m x) (assert false x)))
(def makes Float (k : Float) ([fwd takes] (tuple (lmScale 1.0 k) 3.0) (tuple (lmOne 1.0) 1.0)))
"""
AT, ALONG = "(tuple (lmScale 1.0 2.0) 3.0)", "(tuple (lmScale 1.0 5.0) 1.0)"


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        (f"([fwd takes] {AT} {ALONG})", "17.0"),  # dm·x + m·dx
        (f"([fwd takes] {AT} (tuple (lmZero 1.0 1.0) 1.0))", "2.0"),
        (f"([fwd takes] {AT} (tuple (lmScale 1.0 5.0) 0.0))", "15.0"),
        (f"([fwd squared] {AT} {ALONG})", "648.0"),  # of m²·x³
        ("([fwd alone] (lmScale 1.0 2.0) (lmScale 1.0 5.0))", "15.0"),
        (f"([fwd back] {AT} {ALONG})", "57.0"),  # of m·x²
        (f"(lmApply ([fwd after] {AT} {ALONG}) 1.0)", "17.0"),
        (f"(lmApplyR 1.0 ([fwd after] {AT} {ALONG}))", "17.0"),
        (f"(lmApply ([D takes] {AT}) {ALONG})", "17.0"),
        (f"(lmApply (get$2$2 ([tupled takes] {AT})) {ALONG})", "17.0"),
        (
            (
                "([fwd each] (tuple (lmOne (Vec_init 1.0 2.0)) (Vec_init 1.0 2.0))"
                " (tuple (lmScale (Vec_init 1.0 2.0) 3.0) (Vec_init 1.0 1.0)))"
            ),
            "[5.0, 16.0]",
        ),
        ("(makes 2.0)", "5.0"),
        (f"([fwd halved] {AT} {ALONG})", "2.125"),  # decided at the point
        (f"([fwd checks] {AT} {ALONG})", "17.0"),  # a branch that is not taken checks nothing
    ],
)
def test_the_tangent_of_a_linear_map_as_an_argument(expression: str, due: str) -> None:
    """It is given as a linear map: the derivative is that along it, too."""
    assert load([Source("s.ks", TAKING)]).expression(expression) == due


DERIVED = f"""{TAKING}
(def back Float (k : Float) (get$2$2 ([rev takes] (tuple (lmScale 1.0 k) 3.0) 1.0)))
(def splits Float (k : Float) (get$1$2 ([suffwdpass takes] (tuple (lmScale 1.0 k) 3.0))))
(def jacobian Float (k : Float) (lmApply ([D takes] (tuple (lmScale 1.0 k) 3.0)) (tuple (lmOne 1.0) 1.0)))
(def h Float ((k : Float) (x : Float)) (takes (lmScale 1.0 k) x))
"""


@pytest.mark.parametrize(
    "expression",
    [
        "([fwd makes] 2.0 1.0)",
        "([fwd back] 2.0 1.0)",
        "([rev back] 2.0 1.0)",
        "([fwd splits] 2.0 1.0)",
        "([fwd jacobian] 2.0 1.0)",
        f"([fwd [fwd takes]] (tuple {AT} {ALONG}) (tuple {ALONG} {ALONG}))",
        f"([fwd [rev takes]] (tuple {AT} 1.0) (tuple {ALONG} 0.0))",
    ],
)
def test_a_derivative_of_the_derivative_along_a_linear_map(expression: str) -> None:
    """A map that is made of what is derived is no constant there: an error with a remedy, and no wrong number."""
    says = r"argument 1 of takes, \(LM Float Float\), depends on what is derived .*of its own, as \(lmScale 1.0 k\)"
    with pytest.raises(TermError, match=says) as caught:
        load([Source("s.ks", DERIVED)]).expression(expression)
    assert caught.value.place is not None


def test_a_function_that_makes_the_map_has_all_derivatives() -> None:
    """That is the remedy of both messages: k·x is derived twice, in both modes."""
    run = load([Source("s.ks", DERIVED)]).expression
    assert (
        run("([fwd [fwd h]] (tuple (tuple 2.0 3.0) (tuple 1.0 0.0)) (tuple (tuple 0.0 1.0) (tuple 0.0 0.0)))") == "1.0"
    )
    assert run("([rev h] (tuple 2.0 3.0) 1.0)") == "(3.0, 2.0)"
    assert run("([rev [rev h]] (tuple (tuple 2.0 3.0) 1.0) (tuple 1.0 0.0))") == "((0.0, 1.0), 3.0)"


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (f"([rev takes] {AT} 1.0)", r"of argument 1 of takes, .* of argument 2 is \(get\$2\$2 \(\[rev takes\] …\)\);"),
        (f"([sufrev takes] {AT} 1.0)", "of argument 1 of takes, "),
        (f"(let ((t b) ([suffwdpass takes] {AT})) ([sufrevpass takes] 1.0 b))", "of argument 1 of takes, "),
        ("([rev alone] (lmScale 1.0 2.0) 1.0)", r"of the argument of alone, \(LM Float Float\), is not computed"),
    ],
)
def test_the_cotangent_of_a_linear_map_is_not_printed(expression: str, message: str) -> None:
    """What is said is not to apply it."""
    with pytest.raises(TermError, match=f"the cotangent {message}.*derive a function that makes the map") as caught:
        load([Source("s.ks", TAKING)]).expression(expression)
    assert caught.value.place is not None


GIVEN = """(def takes Float ((m : (LM Float Float)) (x : Float)) (lmApply m x))
(def calls Float ((f : (Lam Float Float)) (x : Float)) (f x))
(def many Float ((a : (LM (Tuple Float Integer) (Vec Float))) (c : (Tuple Bool String)) (v : Tensor 2 Float)
  (b : (Vec (LM Float Float)))) (sum (lmApply a (tuple 1.0 (tuple)))))
"""


@pytest.mark.parametrize(
    ("name", "expression", "due", "tangent"),
    [
        ("takes", "(takes (lmScale 1.0 2.0) 1.0)", "2.0", "4.0"),
        ("calls", "(calls (lam (a : Float) 1.0) 1.0)", "1.0", "0.0"),
        (
            "many",
            (
                '(many (lmZero (tuple 1.0 2) (constVec 2 1.0)) (tuple true "text") (constVec (tuple 2 2) 1.0)'
                " (constVec 2 (lmScale 1.0 2.0)))"
            ),
            "0.0",
            "0.0",
        ),
    ],
)
def test_a_map_is_given_in_an_expression(name: str, expression: str, due: str, tangent: str) -> None:
    """What the message says to write is run."""
    loaded = load([Source("s.ks", GIVEN)])
    f = loaded.functions[name]
    assert isinstance(f, KsFunction)
    with pytest.raises(SpaceError, match="cannot be given as a value") as caught:
        f.value([1.0, 2.0])
    assert str(caught.value).endswith(f"write an expression, hilbert run FILE -e '{expression}'")
    assert loaded.expression(expression) == due
    with pytest.raises(SpaceError, match=r"cannot be given as a value: .* -e '\(\[fwd \[") as caught:
        f.differential([1.0, 2.0], None, reverse=False)
    assert loaded.expression(str(caught.value).rpartition("-e '")[2].removesuffix("'")) == tangent


def test_a_cotangent_of_a_map_is_not_asked_for() -> None:
    """`hilbert diff` says so at once; a function that is an argument has none, and its others are computed."""
    functions = load([Source("s.ks", GIVEN)]).functions
    for name, says in (("takes", "the cotangent of argument 1 of takes"), ("calls", "cannot be given as a value")):
        f = functions[name]
        assert isinstance(f, KsFunction)
        with pytest.raises(SpaceError, match=says):
            f.differential([1.0, 2.0], None, reverse=True)


def test_a_record_is_given_in_an_expression() -> None:
    """It has no example."""
    f = load([Source("s.ks", GIVEN)]).functions["[sufrevpass takes]"]
    with pytest.raises(SpaceError, match=r"argument 2 of .*, cannot be given .* …\)'$"):
        f(1.0, 2.0)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("([rev made] 3.0 (lmOne 1.0))", "made returns a linear map, and is not derived in reverse"),
        ("([sufrev both] 3.0 (tuple 1.0 (lmOne 1.0)))", "both returns a linear map, and is not derived in reverse"),
        ("([rev [D cube]] 3.0 (lmOne 1.0))", r"\[D \[cube Float\]\] returns a linear map"),
        ("(let ((m b) ([suffwdpass made] 3.0)) ([sufrevpass made] (lmOne 1.0) b))", "made returns a linear map"),
        (
            "(lmApply (get$1$2 ([rev takes] (tuple (lmScale 1.0 2.0) 3.0) 1.0)) 1.0)",
            "the cotangent of argument 1 of takes",
        ),
    ],
)
def test_a_linear_map_is_not_derived_in_reverse(expression: str, message: str) -> None:
    """No cotangent of one is made up."""
    with pytest.raises(TermError, match=message) as caught:
        load([Source("s.ks", RETURNED)]).expression(expression)
    assert caught.value.place is not None


def test_the_derivative_of_a_linear_map_has_no_text() -> None:
    """It is not printed as (), and verified where it is applied."""
    made = function(RETURNED, "made")
    with pytest.raises(TermError, match="a linear map has no text: apply it with lmApply"):
        made.differential([3.0], [1.0], reverse=False)
    with pytest.raises(TermError, match="made returns a linear map, and is not derived in reverse"):
        made.differential([3.0], None, reverse=True)
    with pytest.raises(SpaceError, match="a linear map is verified where it is applied"):
        made.verified(None)


def test_linear_maps_by_hand() -> None:
    """What is written by hand for a function that returns one is called by its name, not by derivatives of callers."""
    hand = f"{RETURNED}(def [fwd made] (LM Float Float) ((x : Float) (dx : Float)) (lmScale 1.0 (mul 7.0 dx)))"
    calls = load([Source("s.ks", f"{hand}(def calls Float (x : Float) (lmApply (made x) x))")])
    assert calls.expression("(lmApply ([fwd made] 3.0 1.0) 2.0)") == "14.0"
    assert calls.expression("([rev calls] 3.0 1.0)") == "27.0"
    with pytest.raises(TermError, match="made has a derivative by hand, and takes or returns a linear map"):
        calls.expression("([fwd calls] 3.0 1.0)")


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
