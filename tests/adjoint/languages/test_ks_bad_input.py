"""Any text, of any bytes, gives a result or one located error: no traceback, no overflow of the stack."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint.command import lam
from adjoint.command.report import TextError
from adjoint.languages import Source, caddie, ks
from diff.higher import TermError
from tests.any_text import LANGUAGE

outcome = LANGUAGE["ks"].outcome


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_bytes(raw: bytes) -> None:
    """Any bytes."""
    outcome(raw)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from('(def f Float (x : Float) (add x 1.0))[]";#|\\\n\té∘$-'), max_size=80))
def test_characters(text: str) -> None:
    """Any characters of the language."""
    outcome(text.encode())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", LANGUAGE)
@pytest.mark.parametrize("seed", range(4))
def test_changed_words(kind: str, seed: int) -> None:
    """Valid texts with words changed: at least a fifth is accepted, and a fifth refused."""
    counts = LANGUAGE[kind].counted(100, seed)
    assert counts["accepted"] >= 20
    assert counts.total() - counts["accepted"] >= 20


DEEP = 10**5


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10**6,
        "(" * DEEP + ")" * DEEP,
        "[" * DEEP,
        "#|" * DEEP,
        '"' + "a" * 10**6,
        "a" * 10**6,
        "; " + "a" * 10**6,
        "(def f Float (x : Float) " + "(sin " * DEEP + "x" + ")" * DEEP + ")",
        "(def f Float (x : Float) " + "(assert true " * 15000 + "x" + ")" * 15000 + ")",
        "(def f Float (x : Float) " + "(sin " * 3000 + "x" + ")" * 3000 + ")",
        "(def f Float (x : Float) " + "".join(f"(let (x{k} (mul x 0.5)) " for k in range(2000)) + "x" + ")" * 2001,
        "(def f Float (x : " + "(Vec " * DEEP + "Float" + ")" * DEEP + ") 1.0)",
        "(def f Float (x : " + "(Vec " * 5000 + "Float" + ")" * 5000 + ") 1.0)",
        "(def f (Vec Float) (x : Float) (Vec_init " + "x " * 3000 + "))",
        "(def f Float (x : Float) (add x 1.0)\r\n)\r\n",
        "\ufeff(def f Float (x : Float) x)",
        "(def f Float (x : Float) \0)",
        "(def f Float (x : Float) (f x))",
        "",
    ],
)  # fmt: skip
def test_large(text: str) -> None:
    """Deep, long, odd: in a few seconds each."""
    start = time.process_time()
    outcome(text.encode())
    assert time.process_time() - start < 20


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (ks.load, "(def f Float (x : Float) (add " + "x " * 400_000),
        (caddie.load, "fun f x = " + "x * " * 200_000),
        (lam.load, "def f x = " + "(" * 400_000),
    ],
)
def test_too_many_words(read: Callable[[list[Source]], object], text: str) -> None:
    """A definition of any language has so many words at most."""
    with pytest.raises((TermError, TextError), match="a definition of more than 400000 words"):
        read([Source("t", text)])


def test_not_utf8() -> None:
    """At the line and column where it begins."""
    assert outcome(b"(def f\n \xff") == "syntax"


@pytest.mark.parametrize(
    ("body", "start", "end"),
    [
        ("(f " + "x " * 1000 + ")", "f takes Float, not (Tuple Float ", "Float Float)"),
        ("(pow " + "x " * 1000 + ")", "pow takes (Tuple Float Integer), not (Tuple ", " Float)"),
        ("(if (tuple " + "x " * 1000 + ") x x)", "a condition must be of type Bool, not (Tuple ", " Float Float)"),
    ],
)
def test_messages_are_cut(body: str, start: str, end: str) -> None:
    """In the middle: what was due is at the start, and a remedy at the end."""
    with pytest.raises(TermError) as caught:
        ks.load([Source("t.ks", f"(def f Float (x : Float) {body})")])
    message = caught.value.message
    assert message.startswith(start)
    assert message.endswith(end)
    assert " … " in message
    assert len(message) < 2000


@pytest.mark.parametrize(
    "form",
    [
        "(gdef rev {})",
        "(edef {} Float (Float))",
        "(def {} Float (x : Float) x)",
        "(def g Float (x : Float) ({} x 1.0))",
    ],
)
def test_how_often_a_function_is_derived(form: str) -> None:
    """A hundred times; their types are no longer than the text."""
    start = time.process_time()
    name = "[rev " * 15_000 + "f" + "]" * 15_000
    with pytest.raises(TermError, match="a function is derived at most 100 times") as caught:
        ks.load([Source("t.ks", f"(def f Float (x : Float) x){form.format(name)}")])
    assert caught.value.code == "limit"
    assert time.process_time() - start < 5
    many = [f"(def f Float (x : Float) x){form.format('[CL ' * n + 'f' + ']' * n)}" for n in (100, 101)]
    with pytest.raises(TermError, match="a function is derived at most 100 times"):
        ks.load([Source("t.ks", many[1])])
    try:
        ks.load([Source("t.ks", many[0])])
    except TermError as error:  # of another mistake
        assert "at most 100 times" not in error.message  # noqa: PT017 - there may be none
    name = "[CL " * 99 + "f" + "]" * 99
    ks.load([Source("t.ks", f"(def f Float (x : Float) x)(gdef rev {name})")])
