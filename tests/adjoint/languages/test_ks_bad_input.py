"""Any text, of any bytes, gives a result or one located error: no traceback, no overflow of the stack.

`python -m tests.adjoint.languages.test_ks_bad_input 100000 SEED` tries so many texts, and counts what came of them.
"""

import random
import sys
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.functions import KsFunction
from diff.higher import TermError
from tests.ks_programs import PROGRAMS

VALID = [f"(def f {body})" for body, _, _ in PROGRAMS]
WORDS = [
    *(word for text in VALID for word in text.split()),
    *["(", ")", "[", "]", ":", "f", "1", "0", "-1", "2.5", "true", '"a"', "#|", "|#", ";", "get$1$2"],
]


def require_place(error: TermError, raw: bytes) -> None:
    lines = raw.decode("utf-8-sig", errors="replace").split("\n")
    assert error.place is not None
    assert 1 <= error.place.line <= len(lines)
    assert 1 <= error.place.column <= len(lines[error.place.line - 1]) + 1
    assert error.message


def outcome(raw: bytes) -> str:
    """`accepted`, or the kind of the error, which must have a place in the text."""
    try:
        loaded = load([Source.of("t.ks", raw)], steps=2000)
    except TermError as error:
        require_place(error, raw)
        return error.code
    for f in loaded.functions.values():
        assert isinstance(f, KsFunction)
        assert "->" in f.signature
        assert f.stages()["text"](None, None)
        try:
            f.verified(None)
        except TermError as error:
            require_place(error, raw)
            return f"later {error.code}"
    return "accepted"


def mutated(rng: random.Random) -> bytes:
    """A valid text with a few words changed, or as it is."""
    words = rng.choice(VALID).replace("(", " ( ").replace(")", " ) ").split()
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2))):
        at = rng.randrange(len(words))
        match rng.randrange(4):
            case 0:
                words[at] = rng.choice(WORDS)
            case 1:
                words.insert(at, rng.choice(WORDS))
            case 2:
                del words[at]
            case _:  # the last of four
                other = rng.randrange(len(words))
                words[at], words[other] = words[other], words[at]
        words = words or ["x"]
    return " ".join(words).encode()


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
@pytest.mark.parametrize("seed", range(4))
def test_mutations(seed: int) -> None:
    """Valid texts with words changed: at least a fifth is accepted, and a fifth refused."""
    rng = random.Random(seed)
    counts = Counter(outcome(mutated(rng)) for _ in range(100))
    assert counts["accepted"] >= 20
    assert sum(counts.values()) - counts["accepted"] >= 20


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


def test_not_utf8() -> None:
    """At the line and column where it begins."""
    assert outcome(b"(def f\n \xff") == "syntax"


if __name__ == "__main__":
    number, seed = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    for _ in range(number):
        raw = mutated(rng)
        try:
            found[outcome(raw)] += 1
        except Exception:
            sys.stdout.write(f"{raw.decode()}\n")
            raise
    sys.stdout.write(f"seed {seed}: {dict(found)}\n")
