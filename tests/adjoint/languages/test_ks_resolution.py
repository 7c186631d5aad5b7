"""What names of functions mean: their types, with what is derived from them and what is derived by hand."""

from functools import cache

import pytest

from adjoint.languages import Source
from adjoint.languages.ks.text.form_reader import forms
from adjoint.languages.ks.text.parser import function, one_type
from adjoint.languages.ks.text.text_scope import Scope, read
from adjoint.languages.ks.text.typed_terms import Maker
from adjoint.languages.ks.value.types import text
from diff.lam.term.term_error import Place, TermError
from diff.lam.term.terms import App, Name, fresh
from diff.lam.term.types import INT, REAL
from hilbert.base.term import driven

TEXT = """
(def f (Tuple Float Float) (x : Float) (tuple x x))
(edef h Float (Float))
(def [suffwdpass h] (Tuple Float (Tuple Float Integer)) (x : Float) (tuple x (tuple x 1)))
(def [rev h] Float ((x : Float) (dr : Float)) dr)
(def [suffwdpass [rev h]] (Tuple Float (Vec Float)) ((x : Float) (dr : Float)) (tuple dr (Vec_init x)))
(def k Float (x : Float) x)
(def [poly k] (Tuple Float (LM (Tuple Float Float) Float)) ((x : Float) (m : LM (Tuple Float Float) Float)) (tuple x m))
(def mul Float ((b : Bool) (x : Float)) x)
(def steepest Float (x : Float) x)
(def [fwd [rev h]] Float ((p : Tuple Float Float) (dp : Tuple Float Float)) 1.0)
"""
PAIR = "(Tuple Float Float)"
PLAIN = {
    "f": f"Float -> {PAIR}",
    "[D f]": f"Float -> (LM Float {PAIR})",
    "[R f]": f"Float -> (LM {PAIR} Float)",
    "[tupled f]": f"Float -> (Tuple {PAIR} (LM Float {PAIR}))",
    "[fwd f]": f"{PAIR} -> {PAIR}",
    "[rev f]": f"(Tuple Float {PAIR}) -> Float",
    "[sufrev f]": f"(Tuple Float {PAIR}) -> Float",
    "[shape f]": "Float -> (Tuple (Tuple) (Tuple))",
    "[CL f]": f"Float -> {PAIR}",
    "[suffwdpass f]": f"Float -> (Tuple {PAIR} (Record [f Float] Float))",
    "[sufrevpass f]": f"(Tuple {PAIR} (Record [f Float] Float)) -> Float",
    "[fwd [rev f]]": f"(Tuple (Tuple Float {PAIR}) (Tuple Float {PAIR})) -> Float",
    "[rev [fwd f]]": f"(Tuple {PAIR} {PAIR}) -> {PAIR}",
    "[sufrevpass [rev f]]": f"(Tuple Float (Record [rev [f Float]] (Tuple Float {PAIR}))) -> (Tuple Float {PAIR})",
    "[rev h]": f"{PAIR} -> Float",
    "[suffwdpass h]": "Float -> (Tuple Float (Tuple Float Integer))",
    "[sufrevpass h]": "(Tuple Float (Tuple Float Integer)) -> Float",
    "[fwd [sufrevpass h]]": "(Tuple (Tuple Float (Tuple Float Integer)) (Tuple Float (Tuple Float (Tuple)))) -> Float",
    "[suffwdpass [rev h]]": f"{PAIR} -> (Tuple Float (Vec Float))",
    "[sufrevpass [rev h]]": f"(Tuple Float (Vec Float)) -> {PAIR}",
    "[sufrevpass [fwd h]]": f"(Tuple Float (Record [fwd [h Float]] {PAIR})) -> {PAIR}",
    "[sufrevpass [fwd [rev h]]]": (
        f"(Tuple Float (Record [fwd [rev [h Float]]] (Tuple {PAIR} {PAIR}))) -> (Tuple {PAIR} {PAIR})"
    ),
    "[fwd [rev h]]": f"(Tuple {PAIR} {PAIR}) -> Float",
    "[poly f]": f"(Tuple Float (LM Float Float)) -> (Tuple {PAIR} (LM Float {PAIR}))",
    "[poly k]": f"(Tuple Float (LM {PAIR} Float)) -> (Tuple Float (LM {PAIR} Float))",
    "[polyR f]": f"(Tuple Float (LM Float Float)) -> (Tuple {PAIR} (LM {PAIR} Float))",
}
AT = [
    ("[poly f]", f"(Tuple Float (LM {PAIR} Float))", f"(Tuple {PAIR} (LM {PAIR} {PAIR}))"),
    ("[polyR f]", "(Tuple Float (LM Float (Vec Float)))", f"(Tuple {PAIR} (LM {PAIR} (Vec Float)))"),
    ("[rev f]", f"(Tuple Float {PAIR})", "Float"),
    ("[sufrevpass h]", "(Tuple Float (Tuple Float Integer))", "Float"),
    ("[rev [sin Float]]", PAIR, "Float"),
    ("[rev mul]", f"(Tuple {PAIR} Float)", PAIR),
    ("[rev mul]", "(Tuple (Tuple Float (Vec Float)) (Vec Float))", "(Tuple Float (Vec Float))"),
]
REFUSED = [
    ("[D [poly f]]", f"(Tuple Float (LM {PAIR} Float))", r"\[D \[poly f\]\] takes \(Tuple Float \(LM Float Float\)\)"),
    (
        "[D [polyR f]]",
        "(Tuple Float (LM Float (Vec Float)))",
        r"\[D \[polyR f\]\] takes \(Tuple Float \(LM Float Float",
    ),
    ("[rev f]", PAIR, r"\[rev f\] takes \(Tuple Float \(Tuple Float Float\)\), not \(Tuple Float Float\)"),
    ("[fwd f]", "Float", r"which f is \[fwd f\] derived from\? it takes two, not Float"),
    ("[rev mul]", None, r"mul is defined on \(Tuple Bool Float\) and .*Float.*: write \[rev \[mul T\]\]"),
    ("steep", "Float", "steep is not defined before this place; near: steepest"),
    ("[fwd g]", PAIR, "g is not defined before this place; near: gt"),
]


OLDER = {
    "fwd$f": "[fwd f]",
    "D$f": "[D f]",
    "rev$fwd$f": "[rev [fwd f]]",
    "[CL rev$f]": "[CL [rev f]]",
    "shape$sin": "[shape sin]",
    "[fwd$f (Tuple Float Float)]": "[fwd [f Float]]",
    "[fwd$f Float]": "[fwd$f Float]",
    "fwd$nosuch": "fwd$nosuch",
    "sufrev$f": "sufrev$f",
    "fwd$": "fwd$",
}


@cache
def scope() -> Scope:
    """That of the text, read in the first test."""
    return read([Source("t.ks", TEXT)])


@pytest.mark.parametrize("name", OLDER)
def test_older_spellings(name: str) -> None:
    """They are those of what is derived from a function; other names with a $ are names."""
    assert scope().spelled(driven(function(next(forms(Source("name", name)))))).text == OLDER[name]


def test_a_function_of_an_older_spelling() -> None:
    """Where it is defined before f, it is another function."""
    found = read([Source("t.ks", "(def rev$f Float (x : Float) x)\n(def f Float (x : Float) (rev$f x))")])
    assert [one.name for one in found.definitions] == ["rev$f", "f"]
    assert found.is_function("fwd$rev$f")
    assert not found.is_function("fwd$g")


def typed(name: str, of: str | None = None) -> str:
    """ARGUMENT -> RESULT of a function that is named, at an argument of a type."""
    written = driven(function(next(forms(Source("name", name)))))
    arg = None if of is None else driven(one_type(next(forms(Source("type", of)))))
    callee = scope().resolved(written, arg, Place("name", 1, 1))
    return f"{text(callee.arg)} -> {text(callee.result)}"


@pytest.mark.parametrize("name", PLAIN)
def test_named(name: str) -> None:
    """Where only the function says what is meant."""
    assert typed(name) == PLAIN[name]


@pytest.mark.parametrize(("name", "of", "result"), AT)
def test_at_an_argument(name: str, of: str, result: str) -> None:
    """Where the argument says it: the a of a polymorphic one, an overload, a record."""
    assert typed(name, of) == f"{of} -> {result}"


@pytest.mark.parametrize(("name", "of", "says"), REFUSED)
def test_refused(name: str, of: str | None, says: str) -> None:
    """Where nothing is meant, or several are."""
    with pytest.raises(TermError, match=says):
        typed(name, of)


@pytest.mark.parametrize("written", ["f", "[f Float]"])
def test_known_by_its_name(written: str) -> None:
    """In terms that are made a function has its name alone, also if it was written with its type."""
    make = Maker(read([Source("t.ks", f"(def {written} Integer (x : Float) 1)")]))
    assert make.type(App(Name("f", (REAL,)), fresh("x", REAL))) is INT
