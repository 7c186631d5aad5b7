"""Rules: calls that look like the left side are rewritten, in programs and stages, in all that stands after them."""

import pytest

from adjoint.languages import Loaded, Source
from adjoint.languages.ks import load
from adjoint.languages.ks.text import printer
from adjoint.languages.ks.text.text_scope import read as read_scope
from diff.higher import TermError


def read(text: str) -> Loaded:
    return load([Source("t.ks", text)])


def rewritten(text: str, name: str = "f") -> str:
    """The last definition in A-normal form."""
    return " ".join(read(text).functions[name].stages()["anf"](None, None).split())


END = '(rule "end" (f : Lam Integer Float) (sum (build (add 2 1) f)) 0.0)\n'
SUM = '(rule "sum" ((n : Integer) (f : Lam Integer Float)) (sum (build n f)) (mul 3.0 (sum (build (add n 1) f))))\n'
TURN = '(rule "turn" ((x : Float) (y : Float)) (add x y) (add y x))\n'
DOUBLE = '(rule "double" (x : Float) (add x x) (mul 2.0 x))\n'


@pytest.mark.parametrize(
    ("rules", "body", "made"),
    [
        (DOUBLE, "(add y y)", "(mul 2.0 y)"),
        (DOUBLE, "(add y 1.0)", "(add y 1.0)"),
        (DOUBLE, "(to_float (add 1 1))", "(let (t (add 1 1)) (to_float t))"),
        (DOUBLE, "(add (sin y) (sin y))", "(let (x (sin y)) (mul 2.0 x))"),
        (DOUBLE, "(add (add y y) (add y y))", "(let (x (mul 2.0 y)) (mul 2.0 x))"),
        (f'{DOUBLE}(rule "four" (x : Float) (mul 2.0 x) (mul 4.0 x))', "(add y y)", "(mul 4.0 y)"),
        (f'(rule "one" (x : Float) (add x x) (neg x))\n{DOUBLE}', "(add y y)", "(neg y)"),
        ('(rule "zero" () (mul 0.0 0.0) 0.0)', "(add y (mul 0.0 0.0))", "(add y 0.0)"),
        (
            '(rule "const" ((n : Integer) (x : Float)) (build n (lam (i : Integer) x)) (constVec n x))',
            "(sum (build 2 (lam (k : Integer) y)))",
            "(let (t (build 2 (lam (i : Integer) y))) (sum t))",
        ),
        (
            f"{END}{SUM}",
            "(sum (build 2 (lam (k : Integer) y)))",
            "(mul 3.0 0.0)",
        ),
        (
            '(rule "if" ((b : Bool) (x : Float)) (neg (if b x x)) (sin x))',
            "(neg (if (gt y 1.0) y y))",
            "(let (b (gt y 1.0)) (sin y))",
        ),
        (
            '(rule "let" (x : Float) (sin (let (z x) (mul z z))) (cos x))',
            "(sin (let (x 5.0) (mul x x)))",
            "(cos 5.0)",
        ),
        ('(rule "first" (p : Tuple Float Float) (get$1$2 p) 7.0)', "(get$1$2 (tuple y y))", "(let (p (tuple y y)) 7.0)"),  # noqa: E501
        ('(rule "[exp Float]" (x : Float) ([exp Float] (log x)) x)', "(exp (log y))", "y"),
    ],
)  # fmt: skip
def test_rewritten(rules: str, body: str, made: str) -> None:
    """Innermost first; the first rule that fits; up to names; by let; again on what was made."""
    assert rewritten(f"{rules}\n(def f Float (y : Float) {body})") == f"(def f Float (y : Float) {made})"


def test_constants_are_not_bound_variables() -> None:
    """A variable of a rule stands for no term with a variable that is bound inside of the left side."""
    rule = '(rule "const" ((n : Integer) (x : Float)) (build n (lam (i : Integer) x)) (constVec n x))\n'
    text = f"{rule}(def f (Vec Float) (y : Float) (build 2 (lam (i : Integer) (mul y (to_float i)))))"
    assert read(text).f(3.0) == [0.0, 3.0]


def test_capture() -> None:
    """What a variable stands for keeps its meaning under the binders of the right side."""
    rule = '(rule "r" (x : Float) (sin x) (let (y 2.0) (add x y)))\n'
    assert read(f"{rule}(def f Float (y : Float) (sin (mul y y)))").f(3.0) == 11.0
    assert read(f"{rule}(def f Float (y : Float) (add (sin y) (sin (neg y))))").f(3.0) == 4.0


def test_programs() -> None:
    """Values, derivatives and expressions have the right side; the text stays as it was written."""
    text = '(rule "wrong" (x : Float) (sin x) (mul 5.0 x))\n(def f Float (x : Float) (mul x (sin x)))'
    loaded = read(text)
    assert loaded.f(2.0) == 20.0
    assert loaded.expression("([rev f] 2.0 1.0)") == "20.0"
    assert loaded.expression("(sin 2.0)") == "10.0"
    assert loaded.functions["f"].stages()["text"](None, None) == "(def f Float (x : Float) (mul x (sin x)))"
    for stage in ("anf", "fwd", "rev-cse", "CL"):
        assert "sin" not in loaded.functions["f"].stages()[stage](None, None)


def test_order() -> None:
    """A rule holds for what stands after it: a definition of its right side is not rewritten."""
    text = "(def square Float (x : Float) (mul x x))\n"
    rule = '(rule "square" (x : Float) (mul x x) (square x))\n'
    after = "(def f Float (x : Float) (mul x x))"
    assert read(f"{text}{rule}{after}").f(3.0) == 9.0
    assert rewritten(f"{text}{rule}{after}").endswith("(def f Float (x : Float) (square x))")


def test_deep() -> None:
    """Linear in the text, and no use of the stack."""
    deep = "(sin " * 15_000 + "x" + ")" * 15_000
    text = f'(rule "r" (x : Float) (sin x) (cos x))\n(def f Float (x : Float) {deep})'
    assert "sin" not in printer.definition(read_scope([Source("t.ks", text)]).definitions[-1])


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ('(rule "r" (x : Float) x x)', (1, 23), "the left side of a rule is the call of a function by name"),
        ('(rule "r" (x : Float) (sin x) 1)', (1, 31), "the right side must be of type Float, not Integer"),
        ('(rule "r" (x : Float) (sin x) y)', (1, 31), "y is not defined here"),
        ('(rule "r" ((x : Float) (y : Float)) (sin x) (add x y))', (1, 45), "y is not on the left side of this rule"),
        ('(rule "r" (x : Float) (sin 1) x)', (1, 24), "sin takes Float"),
        ("(rule r (x : Float) (sin x) x)", (1, 1), "rule takes a name, parameters and two expressions"),
        ('(rule ("r") (x : Float) (sin x) x)', (1, 1), "rule takes a name, parameters and two expressions"),
        (
            f"{TURN}(def f Float (x : Float)\n  (neg (add x 1.0)))",
            (3, 8),
            "rules do not end here: the rule turn at t.ks:1:7 is applied again and again",
        ),
        (
            '(rule "grow" (x : Float) (sin x) (add (sin x) (sin x)))\n(def f Float (x : Float) (sin x))',
            (2, 26),
            "rules do not end here: the rule grow",
        ),
    ],
)  # fmt: skip
def test_refused(text: str, place: tuple[int, int], message: str) -> None:
    """An ill-typed rule, a free name, and rules that do not end."""
    with pytest.raises(TermError) as caught:
        read(text)
    assert caught.value.place is not None
    assert (caught.value.place.line, caught.value.place.column) == place
    assert caught.value.message.startswith(message)
