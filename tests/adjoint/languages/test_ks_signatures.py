"""What is built in, by the types that it takes: each rule, and what it refuses."""

import pytest

from adjoint.languages import Source
from adjoint.languages.ks.text.form_reader import forms
from adjoint.languages.ks.text.parser import one_type
from adjoint.languages.ks.text.signatures import RULES, built_in
from adjoint.languages.ks.value.types import arguments, text
from diff.lam.term.types import Ty
from hilbert.base.term import driven

I2, F2, M = "(Tuple Integer Integer)", "(Tuple Float Float)", "(Tensor 2 Float)"
V, W = "(Vec Float)", "(Vec Integer)"
IF = "(Lam Integer Float)"
STEP = f"(Lam {F2} Float)"
MAPS = f"(Vec (LM Float {F2}))"
AB = "(Tuple Float Bool)"
CHECKED = f"(Lam (Tuple Float {V}) Float)"
TAKEN = {
    "build": [(f"Integer {IF}", V), (f"{I2} (Lam {I2} Bool)", "(Tensor 2 Bool)")],
    "sumbuild": [(f"Integer {IF}", "Float"), (f"{I2} (Lam {I2} {V})", V)],
    "index": [(f"Integer {V}", "Float"), (f"{I2} (Tensor 2 Bool)", "Bool")],
    "size": [(V, "Integer"), (M, I2)],
    "sum": [(V, "Float"), (f"(Tensor 2 {V})", V), (W, "Integer")],
    "fold": [(f"(Lam {AB} Float) Float (Vec Bool)", "Float")],
    "map": [("(Lam Float Bool) (Vec Float)", "(Vec Bool)"), (f"(Lam Float Bool) {M}", "(Tensor 2 Bool)")],
    "map2": [
        (f"(Lam {AB} Integer) {V} (Vec Bool)", W),
        (f"(Lam {AB} Integer) {M} (Tensor 2 Bool)", "(Tensor 2 Integer)"),
    ],
    "constVec": [("Integer Float", V), (f"{I2} {V}", f"(Tensor 2 {V})")],
    "deltaVec": [("Integer Integer Float", V), (f"{I2} {I2} Bool", "(Tensor 2 Bool)")],
    "delta": [("Integer Integer Float", "Float"), (f"{I2} {I2} {V}", V)],
    "diag": [(f"Integer Integer {IF}", f"(Vec {V})")],
    "Vec_init": [("Float", V), ("Float Float Float", V), (f"{F2}", V)],
    "unzip": [(f"(Vec {AB})", f"(Tuple {V} (Vec Bool))"), (f"(Tensor 2 {F2})", f"(Tuple {M} {M})")],
    "buildFromSparse": [
        ("Integer Integer (Lam Integer (Tuple Integer Float))", V),
        (f"{I2} Integer (Lam Integer (Tuple {I2} Float))", M),
        ("(Vec Tuple) Integer (Lam Integer (Tuple Integer Bool))", "(Vec Bool)"),
        (f"(Tensor 2 Tuple) Integer (Lam Integer (Tuple {I2} Float))", M),
        (f"(Vec Integer) Integer (Lam Integer (Tuple Integer {V}))", f"(Vec {V})"),
        (f"(Vec (Vec (Tuple))) Integer (Lam Integer (Tuple Integer {V}))", f"(Vec {V})"),
        (
            f"(Vec (Tuple Integer Tuple)) Integer (Lam Integer (Tuple Integer (Tuple {V} Float)))",
            f"(Vec (Tuple {V} Float))",
        ),
    ],
    "buildFromSparseTupled": [
        (
            f"(Tuple Integer {I2}) Integer (Lam Integer (Tuple (Tuple Integer Float) (Tuple {I2} Bool)))",
            f"(Tuple {V} (Tensor 2 Bool))",
        )
    ],
    "ts_add": [("Float Float", "Float"), ("(Tuple Integer Float) (Tuple (Tuple) Float)", "(Tuple Integer Float)")],
    "ts_scale": [(f"Float {V}", V)],
    "ts_dot": [(f"{V} {V}", "Float")],
    "ts_neg": [(V, V)],
    "eq": [("String String", "Bool")],
    "ne": [(f"{V} {V}", "Bool")],
    "shape": [(V, "Integer"), (f"(Vec {V})", W)],
    "print": [("", "Integer"), ("Float String", "Integer")],
    "$trace": [(V, V)],
    "$inline": [(F2, F2)],
    "$copydown": [("Bool", "Bool")],
    "$check": [
        (
            (
                f"{CHECKED} (Lam (Tuple (Tuple Float {V}) Float) (Tuple Float {V}))"
                f" (Tuple Float {V}) (Tuple Float {V}) Float"
            ),
            "Float",
        )
    ],
    "lmApply": [(f"(LM Integer {V}) (Tuple)", V), (f"(LM {V} Integer) {V}", "(Tuple)")],
    "lmApplyR": [(f"Float (LM {V} Float)", V), (f"(Tuple) (LM {V} Integer)", V), ("Float (LM Bool Float)", "(Tuple)")],
    "lmCompose": [
        (f"(LM {V} Float) (LM Integer {V})", "(LM Integer Float)"),
        ("(LM Bool Float) (LM Float Integer)", "(LM Float Float)"),
    ],
    "lmAdd": [(f"(LM {V} Float) (LM {V} Float)", f"(LM {V} Float)")],
    "lmZero": [(f"{V} Integer", f"(LM {V} Integer)")],
    "lmOne": [(V, f"(LM {V} {V})")],
    "lmScale": [(f"{V} Float", f"(LM {V} {V})")],
    "lmScaleR": [(V, f"(LM Float {V})")],
    "lmDot": [(V, f"(LM {V} Float)")],
    "lmVCat": [(f"(LM {V} Float) (LM {V} Bool)", f"(LM {V} (Tuple Float Bool))")],
    "lmHCat": [(f"(LM Float {V}) (LM Bool {V})", f"(LM (Tuple Float Bool) {V})")],
    "lmVCatV": [
        (MAPS, f"(LM Float (Vec {F2}))"),
        ("(Tensor 2 (LM Bool Float))", f"(LM Bool {M})"),
    ],
    "lmHCatV": [
        (MAPS, f"(LM {V} {F2})"),
        ("(Tensor 2 (LM Float Bool))", f"(LM {M} Bool)"),
    ],
    "lmFold": [
        (
            f"(Lam {AB} Float) (Lam {AB} (LM (Tuple String {AB}) Float)) Float (Vec Bool)",
            "(LM (Tuple String (Tuple Float (Vec Bool))) Float)",
        )
    ],
    "lmTranspose": [(f"(LM {V} Bool)", f"(LM Bool {V})")],
    "FFold": [
        (
            f"(Lam {AB} Float) Float (Vec Bool) (Lam (Tuple {AB} (Tuple Float (Tuple))) Float) Float (Vec (Tuple))",
            "Float",
        )
    ],
    "RFold": [
        (
            f"(Lam {AB} Float) (Lam (Tuple {AB} Float) (Tuple {V} (Tuple Float (Tuple)))) Float (Vec Bool) Float",
            f"(Tuple {V} (Tuple Float (Vec (Tuple))))",
        )
    ],
}
REFUSED = {
    "build": ["Float (Lam Float Float)", "Integer (Lam Float Float)", "Integer Float", IF],
    "sumbuild": ["Integer (Lam Float Float)"],
    "index": [f"Float {V}", f"{I2} {V}", "Integer Float", f"Integer {M}", V, f"Integer {V} {V}"],
    "size": ["Float", f"{V} {V}"],
    "sum": ["Float", f"{V} {V}"],
    "fold": [
        f"(Lam {AB} Bool) Float (Vec Bool)",
        f"(Lam {AB} Float) Bool (Vec Bool)",
        f"(Lam {AB} Float) Float (Tensor 2 Bool)",
        f"(Lam {AB} Float) Float {V}",
        "(Lam Float Float) Float (Vec Bool)",
    ],
    "map": [f"(Lam Bool Float) {V}", "(Lam Float Float) Float", f"Float {V}"],
    "map2": [
        f"(Lam {AB} Integer) {V} (Tensor 2 Bool)",
        f"(Lam {AB} Integer) (Vec Bool) {V}",
        f"(Lam {AB} Integer) {V} {V}",
        f"(Lam {F2} Float) Float Float",
        f"(Lam Float Float) {V} {V}",
    ],
    "constVec": ["Float Float", "Integer", "Integer Float Float"],
    "deltaVec": ["Float Float Float", f"Integer {I2} Float", "Integer Integer"],
    "delta": ["Float Float Float", f"Integer {I2} Float", "Integer Integer"],
    "diag": [
        f"Integer Float {IF}",
        f"Float Integer {IF}",
        "Integer Integer (Lam Float Float)",
        "Integer Integer Float",
        "Float Float (Lam Float Float)",
    ],
    "Vec_init": ["Float Integer", "Integer Float Float", ""],
    "unzip": [F2, V, f"(Vec {F2}) (Vec {F2})"],
    "buildFromSparse": [
        f"Integer Integer (Lam Integer (Tuple {I2} Float))",
        f"{I2} Integer (Lam Integer (Tuple Integer Float))",
        "Integer Float (Lam Float (Tuple Integer Float))",
        "Integer Integer (Lam Float (Tuple Integer Float))",
        "Float Integer (Lam Integer (Tuple Float Float))",
        f"Integer Integer {IF}",
        "(Vec Float) Integer (Lam Integer (Tuple Integer Float))",
        "(Vec Integer) Integer (Lam Integer (Tuple Integer Float))",
        "(Tensor 2 Tuple) Integer (Lam Integer (Tuple Integer Float))",
        f"(Vec Tuple) Integer (Lam Integer (Tuple Integer {V}))",
        f"(Vec (Tuple Integer)) Integer (Lam Integer (Tuple Integer (Tuple {V} Float)))",
    ],
    "buildFromSparseTupled": [
        "(Tuple Integer Integer) Integer (Lam Integer (Tuple (Tuple Integer Float) (Tuple Float Bool)))",
        "(Tuple Integer Integer) Integer (Lam Integer (Tuple (Tuple Integer Float)))",
        "(Tuple Integer Integer) Integer (Lam Float (Tuple (Tuple Integer Float) (Tuple Integer Bool)))",
        "(Tuple Integer Integer) Float (Lam Float (Tuple (Tuple Integer Float) (Tuple Integer Bool)))",
        "Integer Integer (Lam Integer (Tuple Integer Float))",
    ],
    "ts_add": ["Integer Integer", "Float", "Float Float Float"],
    "ts_scale": ["Integer Float", "Float", "Float Float Float"],
    "ts_dot": ["Float Integer", "Float", "Float Float Float"],
    "eq": ["Float Integer", "Float", "Float Float Float"],
    "ne": ["Float Integer", "Float", "Float Float Float"],
    "$check": [
        f"{CHECKED} (Lam (Tuple (Tuple Float {V}) Float) (Tuple Float {V})) (Tuple Float {V}) (Tuple Float {V}) {V}",
        f"{CHECKED} (Lam (Tuple (Tuple Float {V}) Float) (Tuple Float {V})) (Tuple Float {V}) Float Float",
        f"{CHECKED} (Lam (Tuple (Tuple Float {V}) Float) Float) (Tuple Float {V}) Float Float",
        f"{CHECKED} (Lam (Tuple Float Float) (Tuple Float {V})) (Tuple Float {V}) (Tuple Float {V}) Float",
        f"(Lam Float Integer) (Lam {F2} Float) Float Float Float",
        "(Lam Integer Float) (Lam (Tuple Integer Float) Integer) Integer Integer Float",
    ],
    "lmApply": [f"(LM {V} Float) Float", f"(LM Integer {V}) Integer", V, f"{V} (LM {V} Float)"],
    "lmApplyR": [f"{V} (LM {V} Float)", f"Integer (LM {V} Integer)", f"(LM {V} Float) Float"],
    "lmCompose": [f"(LM {V} Float) (LM {V} Float)", "(LM Float Float)", "Float Float"],
    "lmAdd": ["(LM Float Float) (LM Float Integer)", "(LM Float Float)"],
    "lmZero": ["Float", "Float Float Float"],
    "lmScale": ["Float Integer", "Float", "Float Float Float"],
    "lmVCat": ["(LM Float Float) (LM Integer Float)", "(LM Float Float) Float", "Float", ""],
    "lmHCat": ["(LM Float Float) (LM Float Integer)", "(LM Float Float) Float", "Float", ""],
    "lmVCatV": [V, "(LM Float Float)", f"{MAPS} {MAPS}"],
    "lmHCatV": [V, "(LM Float Float)", f"{MAPS} {MAPS}"],
    "lmTranspose": ["Float", "(LM Float Float) (LM Float Float)"],
}
PAIR = f"(Lam {AB} Float)"
LM, FF, RF = ("lmFold", "FFold", "RFold")
FOLDS = {
    LM: [PAIR, f"(Lam {AB} (LM (Tuple String {AB}) Float))", "Float", "(Vec Bool)"],
    FF: [PAIR, "Float", "(Vec Bool)", f"(Lam (Tuple {AB} (Tuple Float (Tuple))) Float)", "Float", "(Vec (Tuple))"],
    RF: [PAIR, f"(Lam (Tuple {AB} Float) (Tuple {V} (Tuple Float (Tuple))))", "Float", "(Vec Bool)", "Float"],
}
"""The arguments of folds; and others, of which each alone makes them refused."""
OTHERS = [
    *((LM, 0, one) for one in (f"(Lam {AB} Bool)", "(Lam (Tuple Bool Bool) Float)", f"(Lam {F2} Float)", IF)),
    *((LM, 1, f"(Lam {AB} {one})") for one in ("Float", "(LM Float Float)")),
    *((LM, 1, f"(Lam {one} (LM (Tuple String {AB}) Float))") for one in (F2, "(Tuple Bool Bool)", "Float")),
    (LM, 2, "Bool"),
    (LM, 3, V),
    *((FF, 0, one) for one in (f"(Lam {AB} Bool)", "(Lam (Tuple Bool Bool) Float)", f"(Lam {F2} Float)", IF)),
    (FF, 1, "Bool"),
    (FF, 2, V),
    *((FF, 3, f"(Lam (Tuple {one}) Float)") for one in (f"{F2} (Tuple Float (Tuple))", f"{AB} {AB}")),
    *((FF, 3, one) for one in (f"(Lam (Tuple {AB} (Tuple Float (Tuple))) Bool)", "(Lam Float Float)")),
    (FF, 4, "Bool"),
    (FF, 5, "(Vec Bool)"),
    *((RF, 0, one) for one in (f"(Lam {AB} Bool)", "(Lam (Tuple Bool Bool) Float)", f"(Lam {F2} Float)", IF)),
    *((RF, 1, f"(Lam (Tuple {one}) (Tuple {V} (Tuple Float (Tuple))))") for one in (f"{F2} Float", f"{AB} Bool")),
    *((RF, 1, f"(Lam (Tuple {AB} Float) {one})") for one in (f"(Tuple {V} {AB})", "Float")),
    (RF, 2, "Bool"),
    (RF, 3, V),
    (RF, 4, "Bool"),
]


def typed(types: str) -> Ty:
    """The type of some arguments."""
    return arguments(tuple(driven(one_type(form)) for form in forms(Source("types", types))))


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name: str) -> None:
    """The type of the result."""
    for types, result in TAKEN[name]:
        found = built_in(name, typed(types))
        assert found is not None, types
        assert text(found) == result, types


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """What a rule does not take."""
    for types in REFUSED[name]:
        assert built_in(name, typed(types)) is None, types


@pytest.mark.parametrize("name", FOLDS)
def test_folds(name: str) -> None:
    """Folds and their derivatives take no other type in any place."""
    assert built_in(name, typed(" ".join(FOLDS[name]))) is not None
    for k, other in [(k, other) for one, k, other in OTHERS if one == name]:
        types = [*FOLDS[name]]
        types[k] = other
        assert built_in(name, typed(" ".join(types))) is None, types


def test_every_rule() -> None:
    """There is no other rule."""
    assert TAKEN.keys() == RULES.keys()
