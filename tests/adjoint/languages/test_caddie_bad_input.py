"""Any text, of any bytes, gives a result or one located error: no traceback, no overflow of the stack."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint.languages import Source
from adjoint.languages.caddie import load
from diff.higher import TermError
from tests.any_text import CADDIE, LANGUAGE

VALID = CADDIE
WORDS = LANGUAGE["cad"].words
outcome = LANGUAGE["cad"].outcome


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_bytes(raw: bytes) -> None:
    """Any bytes."""
    outcome(raw)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("fun x=()[],.#*+-^>0123 \n\tifthenelsemapredinlt'\"\\é∘"), max_size=80))
def test_characters(text: str) -> None:
    """Any characters of the language, and others."""
    outcome(text.encode())


@settings(max_examples=250, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=30))
def test_words(words: list[str]) -> None:
    """Any words."""
    outcome(f"fun k x = {' '.join(words)}".encode())


@settings(max_examples=250, deadline=None)
@given(
    st.integers(0, 10**6), st.integers(0, 12), st.sampled_from(["", "x", "(", "1", " end ", "#1 ", ", ", "\0", "\r\n"])
)
def test_changed(at: int, cut: int, put: str) -> None:
    """A valid text with something left out and something put in."""
    k = at % len(VALID)
    outcome((VALID[:k] + put + VALID[k + cut :]).encode())


def test_valid() -> None:
    """The text that is changed is valid but for lengths."""
    with pytest.raises(TermError, match="where"):
        load([Source("t.cad", VALID)])
    assert outcome(VALID.replace("[1, 2, iota 3]", "[1, 2, 3]").encode()) == "accepted"


N = 10**4
DEEP = {
    "brackets": "(" * N + "x" + ")" * N,
    "arrays": "[" * 3000 + "x" + "]" * 3000,
    "tuples": "(" * 3000 + "x" + ", 1)" * 3000,
    "functions": "sin " * N + "x",
    "components": "#1 " * 3000 + "x",
    "powers": "pow 2 " * 3000 + "x",
    "lets": "let x = x * x in " * 2000 + "x" + " end" * 2000,
    "values of lets": "let y = " * 2000 + "x" + " in y end" * 2000,
    "conditions": "if x then x else " * N + "x",
    "conditions in conditions": "if " * 2000 + "x" + " then x else x" * 2000,
    "maps": "map (fn y => " * 500 + "1" + ") [x]" * 500,
    "a sum": "x + " * 3000 + "x",
    "multiples": "x *> " * 3000 + "x",
    "pairs of pairs": "let x = (x, x) in " * 40 + "x" + " end" * 40,
    "sums of pairs of pairs": "let x = (x, x) in " * 40 + "let y = x + x in 1" + " end" * 41,
    "relations": "red " + "(" * N + "[(1, 2)]" + ")" * N + " [x, 1, 2]",
    "open brackets": "(" * 10**5,
    "one name": "x" * 10**6,
    "one number": "1" * 10**6,
    "one comment": "(*" + "x" * 10**6,
    "many pairs": "red (to 0 [0 .. 1000000, 1] [0]) ^ T repl 10000000 x",
    "a large array": "dprod (repl 10000000 repl 10000000 x, repl 10000000 repl 10000000 x)",
}


@pytest.mark.parametrize("body", DEEP.values(), ids=DEEP)
def test_deep_and_long(body: str) -> None:
    """A result or an error."""
    outcome(f"fun f x = {body}".encode())


@pytest.mark.parametrize(
    ("body", "column"),
    [
        ("map (fn r => dprod (r, r)) (repl 10000000 (repl 10000000 x))", 39),
        ("map (fn r => dprod (repl 10000000 r, repl 10000000 r)) (repl 10000000 x)", 5),
    ],
)
def test_arrays_beyond_all_machines(body: str, column: int) -> None:
    """Copies are counted, within lanes too, before anything is computed."""
    f = load([Source("t.cad", f"fun f x = {body}")]).f
    with pytest.raises(TermError, match=rf"t\.cad:1:{column}: an array of {10**14} numbers, more than {10**8}"):
        f.like([2.0])


def test_deep_types() -> None:
    """A type is printed as the text of each of its parts: nested too deep it is refused, with its place."""
    with pytest.raises(TermError, match=r"t\.cad:1:5: a type that is nested more than 1000 deep"):
        load([Source("t.cad", "fun f x = " + "(" * 10**4 + "x" + ", x)" * 10**4)])


@pytest.mark.parametrize(("around", "within"), [("(", ", 1.0)"), ("(#1 ", ")")])
def test_deep_tuples(around: str, within: str) -> None:
    """A result, or an argument, nested 200 deep is taken; one that is nested deeper is refused."""
    f = load([Source("t.cad", f"fun f x = {around * 200}x{within * 200}")]).f
    assert f.of()
    g = load([Source("t.cad", f"fun g x = {around * 201}x{within * 201}")]).g
    with pytest.raises(TermError, match=r"t\.cad:1:5: g has a type that is nested more than 200 deep"):
        g.of()


def test_calls_that_double() -> None:
    """200 functions that call the one before twice are checked; a call of the last ends with an error."""
    text = "fun f0 x = x * x\n" + "".join(f"fun f{k} x = f{k - 1} (f{k - 1} x)\n" for k in range(1, 200))
    loaded = load([Source("t.cad", text)])
    assert loaded.f199.signature == "real -> real"
    with pytest.raises(TermError, match="no value after"):
        loaded.f199(1.0)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"fun f x = \xff", "t.cad:1:11: this is not UTF-8"),
        (
            b"fun g p = p * (#2 p)",
            "t.cad:1:5: a type would contain itself: a function is applied to itself, or a list holds itself",
        ),
        (b"fun f x =\r\n  x *\r\n y\r\n", "t.cad:3:2: y is not defined before this place"),
        (b"fun f x = \0", "t.cad:1:11: no word of caddie begins with '\\x00'"),
        ("fun f x =\n\té".encode(), "t.cad:2:2: no word of caddie begins with 'é'"),
    ],
)
def test_places(raw: bytes, message: str) -> None:
    """Lines and columns are counted from 1, columns in code points."""
    with pytest.raises(TermError) as caught:
        load([Source.of("t.cad", raw)])
    assert str(caught.value) == message


def test_byte_order_mark() -> None:
    """It is no part of the text."""
    assert outcome(b"\xef\xbb\xbffun f x = x") == "accepted"
    assert outcome(b"") == "accepted"
