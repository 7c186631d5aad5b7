"""The tables of the notes row by row: m ⊙ x, r ⊙R m and mᵀ, and the laws of linear maps."""

import pytest

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.notes.reverse.application import Application
from adjoint.languages.ks.notes.reverse.optimise import optimised
from adjoint.languages.ks.run.ks_functions import KsFunction
from adjoint.languages.ks.text import printer
from adjoint.languages.ks.text.typed_terms import Maker
from adjoint.languages.ks.value.types import tangent
from diff.lam.term.terms import AnyTerm, fresh
from diff.lam.term.types import Lin
from hilbert.base.term import driven

ENDS = {
    "R": "(LM Float Float)",
    "V": "(LM (Vec Float) (Vec Float))",
    "RV": "(LM Float (Vec Float))",
    "VR": "(LM (Vec Float) Float)",
    "RM": "(LM Float (Tensor 2 Float))",
    "MR": "(LM (Tensor 2 Float) Float)",
    "R3": "(LM Float (Tuple (Vec Float) Float Float))",
    "3R": "(LM (Tuple (Vec Float) Float Float) Float)",
    "R2": "(LM Float (Tuple Float (Vec Float)))",
    "2R": "(LM (Tuple Float Float) Float)",
    "S": "(LM (Tuple Integer (Vec Float)) Float)",
    "I": "(LM (Vec Float) Integer)",
}
"""The types of the maps."""
PARAMETERS = "((a : Float) (k : Float) (h : Float) (v : Vec Float) (c : Bool))"


def body(m: str, ends: str) -> tuple[Maker, AnyTerm, AnyTerm]:
    """A map of a text, and the first parameter."""
    f = "(def f Float (x : Float) (sin x))"
    g = load([Source("t.ks", f"{f} (def g {ENDS[ends]} {PARAMETERS} {m})")]).functions["g"]
    assert isinstance(g, KsFunction)
    found = g.linked.scope.definitions[-1].function
    assert found is not None
    return Maker(g.linked.scope), found.body, found.pattern.parts[0]  # type: ignore[union-attr]  # of several parameters


def shown(term: AnyTerm) -> str:
    """On one line."""
    return " ".join(printer.term(term).split())


LOOP = "(lam (i : Integer) (lmScale a (to_float i)))"
LOOPS = "(lam ((i : Integer) (j : Integer)) (lmScale a (to_float (add i j))))"
ZEROS = "(build (size v) (lam (i : Integer) 0.0))"
APPLIED = [
    ("V", "(lmOne v)", "dx", "dr", "(lmOne v)"),
    ("RV", "(lmZero a v)", ZEROS, "0.0", "(lmZero v a)"),
    ("VR", "(lmZero v a)", "0.0", ZEROS, "(lmZero a v)"),
    ("R", "(lmScale a k)", "(mul k dx)", "(mul k dr)", "(lmScale a k)"),
    ("V", "(lmScale v k)", "(ts_scale k dx)", "(ts_scale k dr)", "(lmScale v k)"),
    (
        "R",
        "(lmCompose (lmScale a k) (lmScale a h))",
        "(let (d (mul h dx)) (mul k d))",
        "(let (r (mul k dr)) (mul h r))",
        "(lmCompose (lmScale a h) (lmScale a k))",
    ),
    (
        "R",
        "(lmAdd (lmScale a k) (lmScale a h))",
        "(add (mul k dx) (mul h dx))",
        "(add (mul k dr) (mul h dr))",
        "(lmAdd (lmScale a k) (lmScale a h))",
    ),
    (
        "R3",
        "(lmVCat (lmZero a v) (lmScale a k) (lmScale a h))",
        f"(tuple {ZEROS} (mul k dx) (mul h dx))",
        "(add (mul k (get$2$3 dr)) (mul h (get$3$3 dr)))",
        "(lmHCat (lmZero v a) (lmScale a k) (lmScale a h))",
    ),
    (
        "3R",
        "(lmHCat (lmZero v a) (lmScale a k) (lmScale a h))",
        "(add (mul k (get$2$3 dx)) (mul h (get$3$3 dx)))",
        f"(tuple {ZEROS} (mul k dr) (mul h dr))",
        "(lmVCat (lmZero a v) (lmScale a k) (lmScale a h))",
    ),
    (
        "RV",
        f"(lmVCatV (build 2 {LOOP}))",
        "(build 2 (lam (i : Integer) (mul (to_float i) dx)))",
        "(sumbuild 2 (lam (i : Integer) (mul (to_float i) (index i dr))))",
        f"(lmHCatV (build 2 {LOOP}))",
    ),
    (
        "VR",
        f"(lmHCatV (build 2 {LOOP}))",
        "(sumbuild 2 (lam (i : Integer) (mul (to_float i) (index i dx))))",
        "(build 2 (lam (i : Integer) (mul (to_float i) dr)))",
        f"(lmVCatV (build 2 {LOOP}))",
    ),
    (
        "RM",
        f"(lmVCatV (build (tuple 2 3) {LOOPS}))",
        "(build (tuple 2 3) (lam ((i : Integer) (j : Integer)) (mul (to_float (add i j)) dx)))",
        "(sumbuild (tuple 2 3) (lam ((i : Integer) (j : Integer)) (mul (to_float (add i j)) (index (tuple i j) dr))))",
        f"(lmHCatV (build (tuple 2 3) {LOOPS}))",
    ),
    (
        "MR",
        f"(lmHCatV (build (tuple 2 3) {LOOPS}))",
        "(sumbuild (tuple 2 3) (lam ((i : Integer) (j : Integer)) (mul (to_float (add i j)) (index (tuple i j) dx))))",
        "(build (tuple 2 3) (lam ((i : Integer) (j : Integer)) (mul (to_float (add i j)) dr)))",
        f"(lmVCatV (build (tuple 2 3) {LOOPS}))",
    ),
    (
        "R",
        "(let (y (add a k)) (lmScale a y))",
        "(let (y (add a k)) (mul y dx))",
        "(let (y (add a k)) (mul y dr))",
        "(let (y (add a k)) (lmScale a y))",
    ),
    (
        "R",
        "(let (d (lmScale a k)) (lmCompose (lmScale a h) d))",
        "(let (d (mul k dx)) (mul h d))",
        "(let (r (mul h dr)) (mul k r))",
        "(let (d (lmScale a k)) (lmCompose d (lmScale a h)))",
    ),
    (
        "R",
        "(if c (lmScale a k) (lmScale a h))",
        "(if c (mul k dx) (mul h dx))",
        "(if c (mul k dr) (mul h dr))",
        "(if c (lmScale a k) (lmScale a h))",
    ),
    ("R", "(assert c (lmScale a k))", "(assert c (mul k dx))", "(assert c (mul k dr))", "(assert c (lmScale a k))"),
    ("R", "([D f] a)", "([fwd [f Float]] a dx)", "([rev [f Float]] a dr)", "(lmTranspose ([D f] a))"),
    ("VR", "(lmDot v)", "(lmApply (lmDot v) dx)", "(lmApplyR dr (lmDot v))", "(lmTranspose (lmDot v))"),
]


@pytest.mark.parametrize(("ends", "m", "forward", "backward", "transposed"), APPLIED)
def test_applied(ends: str, m: str, forward: str, backward: str, transposed: str) -> None:
    """m ⊙ dx, dr ⊙R m, which is the same where variables are written out once, and mᵀ."""
    make, map_, _ = body(m, ends)
    ty = make.type(map_)
    assert isinstance(ty, Lin)
    dx, dr = fresh("dx", tangent(ty.dom)), fresh("dr", tangent(ty.cod))
    assert shown(driven(Application(make).forward(map_, dx))) == forward
    for s in (None, fresh("s", ty.dom)):
        assert shown(driven(Application(make, s).backward(dr, map_))) == backward
    assert shown(driven(Application(make).transposed(map_))) == transposed


LAWS = [
    ("R", "(lmCompose (lmOne a) (lmScaleR k))", "(lmScaleR k)"),
    ("R", "(lmCompose (lmScaleR k) (lmOne a))", "(lmScaleR k)"),
    ("R", "(lmCompose (lmZero v k) (lmVCatV (build 2 (lam (i : Integer) (lmOne a)))))", "(lmZero a k)"),
    ("R", "(lmCompose (lmScale a k) (lmZero a h))", "(lmZero a h)"),
    ("R", "(lmCompose (lmDot v) (lmZero a v))", None),
    ("R", "(lmCompose (lmScale a k) (lmScale a h))", "(lmScale a (mul k h))"),
    ("R", "(lmCompose (lmScale a 1.0) (lmScale a h))", "(lmScale a h)"),
    ("R", "(lmCompose (lmScale a k) (lmScale a 1.0))", "(lmScale a k)"),
    ("R", "(lmCompose (lmScale a k) (lmScaleR h))", None),
    ("R", "(lmCompose (lmScaleR h) (lmScale a k))", None),
    (
        "R",
        "(lmCompose (lmHCat (lmScaleR a) (lmScaleR k) (lmScaleR h)) (lmVCat (lmDot a) (lmDot k) (lmDot h)))",
        (
            "(lmAdd (lmAdd (lmCompose (lmScaleR a) (lmDot a)) (lmCompose (lmScaleR k) (lmDot k)))"
            " (lmCompose (lmScaleR h) (lmDot h)))"
        ),
    ),
    ("R", "(lmAdd (lmZero a k) (lmScaleR k))", "(lmScaleR k)"),
    ("R", "(lmAdd (lmScaleR k) (lmZero a k))", "(lmScaleR k)"),
    ("R", "(lmAdd (lmScale a k) (lmScale a h))", "(lmScale a (add k h))"),
    ("R", "(lmAdd (lmOne a) (lmScale a h))", "(lmScale a (add 1.0 h))"),
    ("R", "(lmAdd (lmScale a h) (lmOne a))", "(lmScale a (add h 1.0))"),
    ("V", "(lmAdd (lmScale v h) (lmOne v))", None),
    ("R", "(lmAdd (lmScale a h) (lmScaleR h))", None),
    (
        "2R",
        "(lmAdd (lmHCat (lmScale a k) (lmZero h k)) (lmHCat (lmScale a h) (lmScale h k)))",
        "(lmHCat (lmScale a (add k h)) (lmScale h k))",
    ),
    ("R2", "(lmVCat (lmZero a h) (lmZero a v))", "(lmZero a (tuple h v))"),
    ("R2", "(lmVCat (lmScale a h) (lmZero a v))", None),
    ("2R", "(lmHCat (lmZero a h) (lmZero k h))", None),
    ("R", "(if c (lmZero a h) (lmZero a h))", "(lmZero a h)"),
    ("R", "(if c (lmZero a h) (lmZero a k))", None),
    ("R", "(if c (lmOne a) (lmOne a))", None),
    ("R", "(assert c (lmCompose (lmOne a) (lmScaleR k)))", "(assert c (lmScaleR k))"),
    (
        "RV",
        "(lmVCatV (build 2 (lam (i : Integer) (lmCompose (lmOne a) (lmScaleR k)))))",
        "(lmVCatV (build 2 (lam (i : Integer) (lmScaleR k))))",
    ),
    ("R", "(let (d (lmOne a)) (lmCompose (lmScaleR k) d))", "(lmScaleR k)"),
    ("R", "(let (d (lmScale a k)) (lmCompose (lmScale a h) d))", "(lmScale a (mul h k))"),
    (
        "R",
        "(let (d (lmScale a (sin k))) (lmCompose (lmScale a h) d))",
        "(let (k (sin k)) (lmScale a (mul h k)))",
    ),
    ("R", "(let (d (lmScaleR k)) (lmCompose (lmScale a k) d))", None),
    ("R", "(let (y (sin k)) (lmCompose (lmOne a) (lmScaleR y)))", "(let (y (sin k)) (lmScaleR y))"),
    ("R", "([D f] a)", None),
    ("2R", "([D mul] (tuple a k))", "(lmHCat (lmScale a k) (lmScale k a))"),
    ("2R", "([D div] (tuple a k))", "(lmHCat (lmScale a (div 1.0 k)) (lmScale k (neg (div a (mul k k)))))"),
    ("2R", "([D sub] (tuple a k))", "(lmHCat (lmOne a) (lmScale k -1.0))"),
    ("VR", "([D sum] v)", "(lmHCatV (build (size v) (lam (i : Integer) (lmOne (index i v)))))"),
    (
        "S",
        "([D index] (tuple 1 v))",
        (
            "(lmHCat (lmZero 1 (index 1 v)) (lmHCatV (build (size v) (lam (i : Integer)"
            " (if (eq 1 i) (lmOne (index 1 v)) (lmZero (index i v) (index 1 v)))))))"
        ),
    ),
    ("I", "([D size] v)", "(lmZero v (size v))"),
]


@pytest.mark.parametrize(("ends", "m", "due"), LAWS)
def test_laws(ends: str, m: str, due: str | None) -> None:
    """What a linear map is by the laws, itself where none is said, and the Jacobians of §1."""
    make, map_, s = body(m, ends)
    assert shown(optimised(make, map_, s)) == (due or m)
