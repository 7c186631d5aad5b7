"""Any text, of any bytes, in a language: a result, or one error with a place in the text; texts that are changed.

`python -m tests.any_text cad|ks 100000 SEED` tries so many changed texts, and counts what came of them.
"""

import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable

from attrs import frozen

from adjoint.languages import LANGUAGES, LoadedFunction, Source
from adjoint.languages.loaded import LoadedValues
from diff.higher import TermError
from tests.ks_programs import PROGRAMS

CADDIE = """fun g p = #1 p * sin (#2 p) (* a comment *)
fun h xs = map (fn y => if y - 1 then g (y, 2.5) else pow -1.0 y) xs
fun f a = let s = #1 a *> #2 a + [1, 2, iota 3] in (red (to 5 [0, 1] [5]) ^ T o [(1, 2)] h s, 0) end
"""
KS = [
    *(f"(def f {body})" for body, _, _ in PROGRAMS),
    '(rule "r" (x : Float) (mul x x) (pow x 2)) (def f Float (x : Float) (mul (sin x) (sin x)))',
    "(def f Float (x : Float) (mul x x)) (def [rev f] Float ((x : Float) (dr : Float)) (mul (add x x) dr))",
    "(edef e Float (Float)) (gdef fwd [sin Float]) (def f Float (x : Float) ([fwd sin] x x))",
]


@frozen
class Language:
    """Valid texts of a language, and words to put into them."""

    kind: str
    valid: list[str]
    words: list[str]
    spaced: str
    """Signs that are words."""
    tried: Callable[[LoadedFunction], object]
    """What is done with each function of a text that is accepted."""

    def outcome(self, raw: bytes) -> str:
        """`accepted`, or the kind of the error, which must have a place in the text."""
        try:
            loaded = LANGUAGES[self.kind]([Source.of(f"t.{self.kind}", raw)], **self.options)
        except TermError as error:
            require_place(error, raw)
            return error.code
        for f in loaded.functions.values():
            assert "->" in f.signature
            assert f.stages()["text"](None, None)
            try:
                self.tried(f)
            except TermError as error:
                require_place(error, raw)
                return f"later {error.code}"
        return "accepted"

    @property
    def options(self) -> dict[str, int]:
        """Fewer steps of evaluation, where there are any."""
        return {"steps": 2000} if self.kind == "ks" else {}

    def changed(self, rng: random.Random) -> bytes:
        """A valid text with a few words changed, or as it is."""
        text = rng.choice(self.valid)
        for sign in self.spaced:
            text = text.replace(sign, f" {sign} ")
        words = text.split()
        for _ in range(rng.choice((0, 0, 1, 1, 1, 2))):
            at = rng.randrange(len(words))
            match rng.randrange(4):
                case 0:
                    words[at] = rng.choice(self.words)
                case 1:
                    words.insert(at, rng.choice(self.words))
                case 2:
                    del words[at]
                case _:  # the last of four
                    other = rng.randrange(len(words))
                    words[at], words[other] = words[other], words[at]
            words = words or ["x"]
        return " ".join(words).encode()

    def counted(self, number: int, seed: int) -> Counter[str]:
        """What comes of so many changed texts; the text of an exception is written."""
        rng, found = random.Random(seed), Counter[str]()
        for _ in range(number):
            raw = self.changed(rng)
            try:
                found[self.outcome(raw)] += 1
            except Exception:
                sys.stdout.write(f"{raw.decode()}\n")
                raise
        return found


def require_place(error: TermError, raw: bytes) -> None:
    """The place is in the text."""
    lines = re.split("\r\n|\r|\n", raw.decode("utf-8-sig", errors="replace"))
    assert error.place is not None
    assert 1 <= error.place.line <= len(lines)
    assert 1 <= error.place.column <= len(lines[error.place.line - 1]) + 1
    assert error.message


def _verified(f: LoadedFunction) -> object:
    assert isinstance(f, LoadedValues)
    return f.verified(None)


CADDIE_VALID = [
    CADDIE.replace("[1, 2, iota 3]", "[1, 2, 3]"),
    "fun g p = #1 p * sin (#2 p)",
    "fun k x = let y = x * x in if y - 2 then y + 2 else pow 2 y end",
    "fun m xs = map (fn y => exp y + dprod ( xs , xs )) xs",
]
LANGUAGE = {
    "cad": Language(
        "cad",
        CADDIE_VALID,
        [
            *CADDIE.split(),
            *[
                "(",
                ")",
                "[",
                "]",
                ",",
                "..",
                "^",
                "T",
                "o",
                "-",
                "0",
                "1",
                "#2",
                "x",
                "id",
                "norm2sq",
                "dprod",
                "repl 2",
            ],
        ],
        "[],",
        lambda f: f.like(None),
    ),
    "ks": Language(
        "ks",
        KS,
        [
            *(word for text in KS for word in text.split()),
            *["(", ")", "[", "]", ":", "f", "1", "0", "-1", "2.5", "true", '"a"', "#|", "|#", ";", "get$1$2"],
        ],
        "()",
        _verified,
    ),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)
    kind, number, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    found = LANGUAGE[kind].counted(number, seed)
    sys.stdout.write(f"{kind}, seed {seed}: {dict(found.most_common())}\n")
