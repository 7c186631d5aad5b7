"""Cases of the figures and the tables of KS-Lisp, one by one."""

import pytest

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.notes import NAMES
from adjoint.languages.ks.notes.jacobian.numbering import Numbering
from adjoint.languages.ks.run.ks_functions import KsFunction
from adjoint.languages.ks.text import printer
from adjoint.languages.ks.text.signatures import built_in
from adjoint.languages.ks.text.typed_terms import Maker
from adjoint.languages.ks.value.types import BOOL, tangent, vec
from diff.higher import TermError
from diff.lam.term.terms import App, Lam, Name, Tuple, fresh, real
from diff.lam.term.types import INT, REAL, Arrow, TupleType


def function(text: str, *, prelude: bool = True) -> KsFunction:
    found = load([Source("t.ks", text)], prelude=prelude).functions["f"]
    assert isinstance(found, KsFunction)
    return found


@pytest.mark.parametrize("k", [1, 2, 3])
def test_selection_of_three(k: int) -> None:
    """∂π_{k,3} is 1 at the k-th place, in each stage."""
    f = function(f"(def f Float (p : Tuple Float Float Float) (sin (get${k}$3 p)))")
    at, along = [(0.25, 0.5, 0.75)], [(1.0, 10.0, 100.0)]
    due = f.differential(at, along, reverse=False), f.differential(at, None, reverse=True)
    assert [x != 0.0 for x in due[1]] == [j == k for j in (1, 2, 3)]
    for name in NAMES:
        stage = function(f.stages()[name](None, None))
        found = stage.differential(at, along, reverse=False), stage.differential(at, None, reverse=True)
        assert found[0] == pytest.approx(due[0], rel=1e-14), name
        assert found[1] == pytest.approx(due[1], rel=1e-14), name


def test_categorical_constant() -> None:
    """K(k) : () ⇒ R takes the empty environment as it is."""
    f = function("(def f Float () 3.0)")
    for name in ("CL", "CL-pruned"):
        assert f.stages()[name](None, None).startswith("; f = K(3.0)\n")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("(def f Float (x : Float) ())", 26, r"\(\) is no expression: \(tuple\) is the empty tuple"),
        ("(def f Float (x : Float) [x])", 26, "expected an expression"),
        ("(def f Float (x :) x)", 14, r"expected a parameter, \(x : T\), not"),
        ("(def f Float (x Float Float) x)", 14, r"expected a parameter, \(x : T\), not"),
        ('(def "f" Float (x : Float) x)', 6, "expected a function, not 'f'"),
        ("(def f Float (let : Float) 1.0)", 15, "expected the name of a parameter, not 'let'"),
        ("(def f Float (x : Float) (let (1.0 x) x))", 32, "expected the name of a variable, not '1.0'"),
        ("(gdef rev nosuch)", 11, "nosuch is not defined before this place"),
        ("(gdef rev add)", 11, r"add is defined on .* and .*: write \[add T\]"),
        ("(def f Float (x : Float) (nosuch x))", 27, "nosuch is not defined before this place"),
    ],
)
def test_messages(text: str, column: int, message: str) -> None:
    """What is wrong, where it stands."""
    with pytest.raises(TermError, match=message) as caught:
        load([Source("t.ks", text)])
    assert caught.value.place is not None
    assert caught.value.place.column == column


def test_without_the_prelude() -> None:
    """What is typed by rule needs no declaration; the prelude does."""
    assert function("(def f (Vec Float) () (build 2 (lam (i : Integer) 1.0)))", prelude=False).value([]) == [1.0, 1.0]
    with pytest.raises(TermError, match=r"sin is not declared .*, \(edef sin Float \(Float\)\)"):
        function("(def f Float (x : Float) (sin x))", prelude=False)


def test_type_of_a_fold_in_reverse() -> None:
    """RFold f f' acc v dr : (δs, (δa, Vec δb))."""
    a, b, s = TupleType((REAL, INT)), BOOL, vec(REAL)
    pair, over = TupleType((a, b)), vec(b)
    step = Arrow(TupleType((pair, tangent(a))), TupleType((s, tangent(pair))))
    found = built_in("RFold", TupleType((Arrow(pair, a), step, a, over, tangent(a))))
    assert found is TupleType((s, TupleType((tangent(a), tangent(over)))))


def test_sums_of_tangents() -> None:
    """0 + b = b = b + 0, of reals and of tensors of zeros; another constant is added."""
    make = Maker(function("(def f Float (x : Float) x)").linked.scope)
    x, v = fresh("x", REAL), fresh("v", vec(REAL))
    nothing = make.zero(v)
    assert make.added(real(0.0), x) is make.added(x, real(0.0)) is x
    assert make.added(nothing, v) is make.added(v, nothing) is v
    ones = make.built(v, lambda _: real(1.0))
    for a, b in ((real(1.0), x), (x, real(-1.0)), (ones, v), (v, ones)):
        assert printer.term(make.added(a, b)).split()[0] in ("(add", "(ts_add")
    both = make.added(Tuple((x, nothing)), Tuple((real(0.0), v)))
    assert isinstance(both, Tuple)
    assert both.parts == (x, v)


def test_integers_around_a_fold_are_no_part_of_its_map() -> None:
    """f′ is over the variables that have a tangent: of an integer ∂x is 0."""
    f = function(
        "(def f Float ((n : Integer) (x : Float) (v : Vec Float))"
        " (fold (lam ((a : Float) (b : Float)) (mul (pow a n) (mul b x))) 1.0 v))"
    )
    text = " ".join(f.stages()["jacobian"](None, None).split())
    assert "(lmHCat (lmOne x) (lmZero (tuple a$2 b$2) x))" in text
    assert "(tuple n x)" not in text


def test_keys_of_binders() -> None:
    """Steps that bind are told apart by what they read, in their hash too; equal ones have one key."""
    xs = [fresh("x", REAL) for _ in range(2)]

    def built(k: int) -> App:
        return App(Name("build", ()), Tuple((xs[k], Lam(fresh("i", INT), App(Name("sin", (REAL,)), xs[k])))))

    numbers = Numbering()
    first, other, again = (numbers.of(built(k)) for k in (0, 1, 0))
    assert first == again != other


def test_the_record_tells_the_function() -> None:
    """[sufrevpass f] of an overloaded f is found by its record, and by nothing else."""
    text = "(def f Float (x : Float) (mul x x)) (def f Float ((x : Float) (y : Float)) (mul x y))"
    loaded = load([Source("t.ks", text)])
    one = "(let ((t b) ([suffwdpass f] 3.0)) ([sufrevpass f] 1.0 b))"
    two = "(let ((t b) ([suffwdpass f] 3.0 4.0)) ([sufrevpass f] 1.0 b))"
    assert (loaded.expression(one), loaded.expression(two)) == ("6.0", "(4.0, 3.0)")
    by_the_pass = one.replace("[sufrevpass f]", "[CL [sufrevpass f]]")
    assert loaded.expression(by_the_pass) == "6.0"
    with pytest.raises(TermError, match=r"write \[sufrevpass \[f T\]\]"):
        loaded.expression("([sufrevpass f] 1.0 2.0)")
    with pytest.raises(TermError, match=r"it takes two, not Float"):
        loaded.expression("([rev f] 1.0)")


def test_definition_with_its_type() -> None:
    """(def [f T] …) is a definition of f on T, and on no other type."""
    assert function("(def [f Float] Float (x : Float) (mul x x))").value([3.0]) == 9.0
    with pytest.raises(TermError, match=r"\[f Integer\] takes Integer, not Float"):
        function("(def [f Integer] Float (x : Float) x)")
