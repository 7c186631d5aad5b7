"""What the parser of KS-Lisp refuses, form by form: the message, and where it stands."""

import pytest

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.text.text_scope import read
from diff.higher import TermError

PAIR = "(Tuple Float Float)"
F = "(def f Float (x : Float) x) "
THREE = "(Tuple Float Float Float)"
KEPT = "[suffwdpass f] is of type Float -> (Tuple Float Float), not Float"
DUE = "[suffwdpass f] is of type Float -> (Tuple Float (Record [f Float] Float)), not Float"
LET = "let takes bindings and a body: (let (x e) e) or (let ((x e) …) e)"
DERIVED = "foo cannot be derived: D, R, tupled, poly, polyR, fwd, rev, sufrev, suffwdpass, sufrevpass, shape, CL can"
REFUSED = [
    # types
    ("(def f [Vec Float] (x : Float) x)", 8, "expected a type"),
    ("(def f Float (x : ()) 1.0)", 19, "expected a type"),
    ("(def f Float (x : Tuples) 1.0)", 19, "'Tuples' is no type: did you mean Tuple?"),
    ("(def f Float (x : (Tensor)) 1.0)", 20, "'Tensor' is no type"),
    ('(def f Float (x : "Float") 1.0)', 19, "'Float' is no type: did you mean Float?"),
    ("(def f Float (x : 3 Float) 1.0)", 19, "'3' makes no type: Tuple, Vec, Tensor, Lam and LM do"),
    ("(def f Float (x : (Vec Float) Float) 1.0)", 19, "(Vec… makes no type: Tuple, Vec, Tensor, Lam and LM do"),
    ("(def f Float (x : Vec Float Float) 1.0)", 19, "Vec takes 1 type, not 2"),
    ("(def f Float (x : Lam Float) 1.0)", 19, "Lam takes 2 types, not 1"),
    ("(def f (Tensor 2) (x : Float) x)", 9, "Tensor takes 1 type, not 0"),
    ("(def f (Tensor 33 Float) (x : Float) x)", 16, "the order of a tensor is an integer from 1 to 32"),
    ("(def f (Tensor -1 Float) (x : Float) x)", 16, "the order of a tensor is an integer from 1 to 32"),
    ("(def f (Tensor 2.0 Float) (x : Float) x)", 16, "the order of a tensor is an integer from 1 to 32"),
    ("(def f (Tensor Float) (x : Float) x)", 16, "the order of a tensor is an integer from 1 to 32"),
    # parameters and names
    ("(def f Float x 1.0)", 14, "expected parameters, (x : T) or ((x : T) …), not 'x'"),
    ("(def f Float [x : Float] 1.0)", 14, "expected parameters, (x : T) or ((x : T) …), not [x…"),
    ("(def f Float (x : Float y : Float) x)", 19, "'Float' makes no type: Tuple, Vec, Tensor, Lam and LM do"),
    ("(def f Float ((x : Float) y) x)", 27, "expected a parameter, (x : T), not 'y'"),
    ("(def f Float ((x : Float) (y Float)) x)", 27, "expected a parameter, (x : T), not (y…"),
    ("(def f Float ((1 : Float)) x)", 16, "expected the name of a parameter, not '1'"),
    ("(def f Float ((x : Float) (y : Float) (x : Float)) x)", 40, "two parameters are named x"),
    ("(def f Float (x : Float) y)", 26, "y is not defined here"),
    # let
    ("(def f Float (x : Float) (let () x))", 31, "let binds a name at least"),
    ("(def f Float (x : Float) (let x x))", 26, LET),
    ("(def f Float (x : Float) (let ((y x) (z) (t x)) x))", 38, "expected a binding, (x e), not (z…"),
    ("(def f Float (x : Float) (let ((a b) x) a))", 32, "2 names for a value of type Float"),
    ("(def f Float (x : Float) (let ((a b c) (tuple x x)) a))", 32, "3 names for a value of type (Tuple Float Float)"),
    ("(def f Float (x : Float) (let ((a a) (tuple x x)) a))", 32, "a name stands twice in a pattern"),
    ("(def f Float (x : Float) (let (y x) y z))", 39, LET),
    # other forms
    ("(def f Float (x : Float) (if true x))", 26, "if takes a condition and two branches"),
    ("(def f Float (x : Float) (if 1 x x))", 30, "a condition must be of type Bool, not Integer"),
    ("(def f Float (x : Float) (assert x))", 26, "assert takes a condition and a value"),
    ("(def f Float (x : Float) (assert x x))", 34, "a condition must be of type Bool, not Float"),
    ("(def f Float (x : Float) (lam x))", 26, "lam takes a parameter and a body: (lam (x : T) e)"),
    ("(def f Float (x : Float) ($dummy))", 26, "a type is due here"),
    ("(def f Float (x : Float) ((lam (y : Integer) 1.0) x))", 26, "the function takes Integer, not Float"),
    ("(def f Float (x : Float) (1.0 x))", 26, "a value of type Float is applied, and is no function"),
    ('(def f Float (x : Float) ("a" x))', 26, "a value of type String is applied, and is no function"),
    ("(def f Float (x : Float) (lam))", 26, "lam takes a parameter and a body: (lam (x : T) e)"),
    ("(def f Float (x : Float) lam)", 26, "lam is not defined here"),
    # functions
    ("(def (f) Float (x : Float) x)", 6, "expected a function, f, [f T] or [d f], not (f…"),
    ("(def [f] Float (x : Float) x)", 6, "expected a function, f, [f T] or [d f], not [f…"),
    ("(def [[f] Float] Float (x : Float) x)", 7, "expected the name of a function, not [f…"),
    ("(gdef rev (f))", 11, "expected a function, f, [f T] or [d f], not (f…"),
    ("(gdef foo sin)", 7, DERIVED),
    ("(gdef [rev] sin)", 7, "expected what is derived, not [rev…"),
    ("(def build Float (x : Float) x)", 6, "build is built in, and not defined again"),
    ("(def add Float ((x : Float) (y : Float)) x)", 6, "add on (Tuple Float Float) is in the prelude"),
    ("(def sin Float (x : Bool) 1.0) (def f Float (x : Float) (sin 1))", 58, "sin takes Bool or Float, not Integer"),
    ("(def foo Float () 1.0) (def f Float () (fooo))", 41, "fooo is not defined before this place; near: foo"),
    (F + "(def [suffwdpass f] Float (x : Float) x)", 34, f"{DUE} -> Float"),
    (F + f"(def [suffwdpass f] {THREE} (x : Float) (tuple x x x))", 34, f"{DUE} -> {THREE}"),
    (F + "(def [suffwdpass f] (Tuple Bool Float) (x : Float) (tuple true x))", 34, f"{KEPT} -> (Tuple Bool Float)"),
    ("(def [f Bool] Float (x : Float) x)", 6, "[f Bool] takes Bool, not Float"),
    ("(def [rev f] Float ((x : Float) (r : Float)) x)", 6, "f is not defined before this place"),
    # definitions
    ("x", 1, "expected a definition, (def …), (edef …), (gdef …) or (rule …), not 'x'"),
    ("[def f Float (x : Float) x]", 1, "expected a definition, (def …), (edef …), (gdef …) or (rule …), not [def…"),
    ("(def f Float (x : Float))", 1, "def takes a name, a type, parameters and a body: (def f T (x : T) e)"),
    ("(edef f Float)", 1, "edef takes a name, the type of the result and that of the argument: (edef f T T)"),
    ("(edef sin Integer Float)", 7, "sin on Float is built in, with the result Float"),
    ("(gdef rev)", 1, "gdef takes what is derived, and a function: (gdef rev [f T])"),
    ('(rule "a" (x : Float) x)', 1, 'rule takes a name, parameters and two expressions: (rule "name" (x : T) e e)'),
    ("(rule a (x : Float) x x)", 1, 'rule takes a name, parameters and two expressions: (rule "name" (x : T) e e)'),
    ('(rule "a" (x : Float) x 1)', 25, "the right side must be of type Float, not Integer"),
    ("(edef g Float Float) (def g Integer (x : Float) 1)", 27, "g was declared with the result Float at t.ks:1:7"),
    ("(def f Float (x : Float) x) (edef f Float Float)", 35, "f on Float is defined twice, first at t.ks:1:6"),
    ("(def f Float (x : Float) x x)", 28, "def takes a name, a type, parameters and a body: (def f T (x : T) e)"),
    ("(def f Float (x : Float) (if true x x x))", 39, "if takes a condition and two branches"),
    (
        "(def f Float (x : Float) (fold 1 2 3))",
        27,
        "fold takes (Tuple (Lam (Tuple s t) s) s (Vec t)), not (Tuple Integer Integer Integer)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), REFUSED)
def test_refused(text: str, column: int, message: str) -> None:
    """The whole message."""
    with pytest.raises(TermError) as caught:
        load([Source("t.ks", text)])
    assert caught.value.place is not None
    assert (caught.value.message, caught.value.place.line, caught.value.place.column) == (message, 1, column)


@pytest.mark.parametrize(
    "word", ["let", "if", "lam", "tuple", "assert", "$dummy", "def", "edef", "gdef", "rule", "true", "false", ":"]
)
def test_words(word: str) -> None:
    """Words of the language name nothing."""
    with pytest.raises(TermError, match="expected the name of a parameter, not"):
        load([Source("t.ks", f"(def f Float ({word} : Float) 1.0)")])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(def f (Float) (x : (Float)) x)", "Float -> Float"),
        ("(def f Float (x : Vec (Tuple Float)) 1.0)", "(Vec Float) -> Float"),
        ("(def f Float (x : (Tuple)) 1.0)", "(Tuple) -> Float"),
        ("(def f Float () 1.0)", "(Tuple) -> Float"),
        ("(def f Float ((x : Float)) x)", "Float -> Float"),
        ("(def f Float (x : Tensor 32 Float) 1.0)", "(Tensor 32 Float) -> Float"),
        ("(def f Float (x : Tensor 1 Float) 1.0)", "(Vec Float) -> Float"),
        ("(def f Float (g : Lam Float Float) (g 1.0))", "(Lam Float Float) -> Float"),
        ("(def f Float (g : Lam Float Float) (let (g 1.0) g))", "(Lam Float Float) -> Float"),
        ("(def f Float (g : Lam Float Float) (let ((g 1.0)) g))", "(Lam Float Float) -> Float"),
        ("(def f Float (rev : Float) rev)", "Float -> Float"),
        ("(edef f Float (Vec Float))", "(Vec Float) -> Float"),
        ("(edef f Float ((Vec Float)))", "(Vec Float) -> Float"),
        ("(edef f Float (Float Bool))", "(Tuple Float Bool) -> Float"),
        ("(edef f Float ())", "(Tuple) -> Float"),
        ("(edef f Float Bool)", "Bool -> Float"),
        ("(def [D sin] (LM Float Float) (x : Float) (lmScale x (cos x)))", "Float -> (LM Float Float)"),
        ("(edef f Float Float) (def f Float (x : Float) x)", "Float -> Float"),
        ("(edef f Float Float) (edef f Float Float)", "Float -> Float"),
        ("(edef f (Tuple Float) (Tuple Bool Bool))", "(Tuple Bool Bool) -> Float"),
    ],
)
def test_types(text: str, shown: str) -> None:
    """What a definition is of."""
    *_, found = read([Source("t.ks", text)]).table.values()
    assert found.signature == shown
    assert f"({found.kind} {found.name} " in text


@pytest.mark.parametrize(
    ("parameters", "bound"),
    [
        (f"(p : {PAIR})", "((a b) p)"),
        (f"(p : {PAIR})", "((a b) (tuple p))"),
        (f"(p : Tuple {PAIR} Float)", "((a b) (get$1$2 p))"),
        (f"(p : Vec {PAIR})", "((a b) (sum p))"),
        ("(p : Float)", "((a b) (two p))"),
        ("(p : Float)", "((a b) ([two Float] p))"),
        (f"(g : Lam (Tuple) {PAIR})", "((a b) (g))"),
        (f"(g : Lam Float {PAIR})", "((a b) (g 1.0))"),
        (f"(g : Lam Float (Lam {PAIR} {PAIR}))", "((a b) ((g 1.0) 2.0 3.0))"),
        (f"(p : {PAIR})", "(((a b) p))"),
        (f"(p : {PAIR})", "(((a b) p) (c a))"),
        (f"(p : {PAIR})", "((c p) ((a b) c))"),
        (f"(p : {PAIR})", "((c p) ((a b) (tuple c)))"),
        ("(p : Float)", "((b p) (a b))"),
        ("(p : Float)", "((b p) (a p))"),
        ("(p : Float)", "((b p) (a (sin p)))"),
        ("(two : Float)", "((a two) (b two))"),
        ("(p : Float)", "((a p) (b (two p)))"),
    ],
)
def test_bindings(parameters: str, bound: str) -> None:
    """One binding of several names, or several bindings, which may look alike."""
    two = f"(def two {PAIR} (x : Float) (tuple x x))"
    scope = read([Source("t.ks", f"{two} (def f Float {parameters} (let {bound} a))")])
    assert scope.definitions[-1].name == "f"
