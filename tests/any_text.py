"""Any text, of any bytes, in a language: a result, or one error with a place in the text; texts that are changed.

`python -m tests.any_text cad|ks|lam 100000 SEED` tries so many changed texts, and counts what came of them.
"""

import random
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

from attrs import frozen

from adjoint.command import lam
from adjoint.command.report import TextError, UsageError
from adjoint.languages import LANGUAGES, LoadedFunction, Source
from adjoint.languages.loaded_functions import LoadedValues
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


LAM = r"""
def twice f u = f (f u)
value twice (\x. x*x) 3 = 81
type twice = (a -> a) -> a -> a

data Maybe a = Nothing | Just a
def from x m = case m of {Nothing -> x | Just y -> y}
value from 2 (Just 3) = 3

def sum l = fold (e, a). e + a over l from 0
value sum [1, 2, 4] = 7
grad sum at [1, 2] = [1, 1]

data Tree = Leaf real | Node (Tree * real * Tree)
def total t = fold t of {Leaf x -> x | Node <l, x, r> -> l*x + r}
value total (Node <Leaf 2, 3, Leaf 4>) = 10

data Nat = Zero | Succ Nat
def power (n : Nat) (x : real) : real = case n of {Zero -> 1 | Succ m -> x * power m x}
value power (Succ (Succ Zero)) 1.5 = 2.25

prim g <x, y> = <x + 1, 2*x + y^2>
reduce pull(\p. g p, cov(1, 0)) <1, 3> = cov(1, 0)

prim mult <a, b> = a*b
def sq a = mult <a, a>
reduce pull(\x. sq x, cov(1)) 3 = cov(6)
value sq 3 = 9

taylor (1, 1) \x y. x*y + sin x
  at <2, 1> <3, 0> = <6.909297426826, 2.583853163453>

def f <x, y> = if less(x, y) then x*y else sin x / y
taylor (2, 1) f at <<1, 1, 0>, <2, 0, 0>> = <2, 2, 0>

var k : real -> real
reduce pull(\x. (\f. f x) (\a. a*x), cov(1)) 3 = cov(6)
error type : 1 2

pair pull(\h. h (h 2), cov(1)) (\a. a*a) with sin = 6.5175769193

def h <x, y> = let <a, b> = <x + y, x*y> in -- a comment
  a^2 - exp b
grad h at <1, 0> = <2, 1>

def flip f x y = f y x
value flip (\a b. a - b) 3 10 = 7
""".strip().split("\n\n")
SIGNS = "( ) < > [ ] { } | , . : -> -o = :: @ ^* _ x 0 -1 2.5 true unit list R^3 pi_1 zero sharp(c)"


@frozen
class Language:
    """Valid texts of a language, and words to put into them."""

    kind: str
    valid: list[str]
    words: list[str]
    spaced: str
    """Signs that are words."""
    tried: Callable[[Any], object]
    """What is done with each function of a text that is accepted."""
    in_lines: bool = False
    """Whether ends of lines are words."""

    def outcome(self, raw: bytes) -> str:
        """`accepted`, or the kind of the error, which must have a place in the text."""
        if self.kind == "lam":
            return _outcome_of_lam(raw)
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
        for sign in (*self.spaced, *("\n" * self.in_lines)):
            text = text.replace(sign, f" {sign} ")
        words = text.split(" ") if self.in_lines else text.split()
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
        return " ".join(words).replace(" \n ", "\n").encode()

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


def _outcome_of_lam(raw: bytes) -> str:
    """That of definitions and claims: each claim holds, fails or has an error."""
    try:
        found = lam.load([Source.of("t.lam", raw)])
    except (TextError, TermError) as told:
        error: Any = told.__cause__ if isinstance(told, TextError) else told
        require_place(error, raw)
        return str(error.code)
    for f in found.definitions.values():
        assert f.signature
        assert f.stage("text", None)
        try:
            f.verified(None)
        except UsageError:  # an argument that has no 0
            continue
        except TextError as error:
            return f"later {error}"[:60]
    found.claims()
    return "accepted"


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
    "lam": Language(
        "lam",
        LAM,
        [
            *(word for text in LAM for word in text.split()),
            *SIGNS.split(),
            *["dual(\\v. v, c)", "\n"],
        ],
        "()[]{},",
        lambda _: None,
        in_lines=True,
    ),
}

PART = 5000
"""So many texts have one seed; what came of all so far is written after them."""

if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)
    kind, number, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    found = Counter[str]()
    for part in range(0, number, PART):
        found += LANGUAGE[kind].counted(min(PART, number - part), seed + part)
        counts = dict(found.most_common())
        sys.stdout.write(f"{kind}, seed {seed}: {found.total()} texts, {counts}\n")
        sys.stdout.flush()
