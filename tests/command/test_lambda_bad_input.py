"""Any text, of any bytes, as one of the λ-language: claims that hold or not, or one located error."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.any_text import LANGUAGE

outcome = LANGUAGE["lam"].outcome


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_bytes(raw: bytes) -> None:
    """Any bytes."""
    outcome(raw)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("deftypvalu x=\\.<>()[]{}|,:*^_+-/@12λ∘\n\t\0"), max_size=80))
def test_characters(text: str) -> None:
    """Any characters of the language, and others."""
    outcome(text.encode())


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(LANGUAGE["lam"].words), max_size=30))
def test_words(words: list[str]) -> None:
    """Any words, as a definition and its value."""
    outcome(f"def k x = {' '.join(words)}\nvalue k 1 = 1".encode())
