"""Generated programs: values against plain Python, derivatives against differences and each other, the notes' stages.

    make programs [ARGS="2000 SEED"]

tries so many of KS-Lisp, and counts what was in them.
"""

import random
import re
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

from adjoint.languages import Source
from adjoint.languages.ks import load
from adjoint.languages.ks.notes import NAMES
from adjoint.languages.ks.run.ks_functions import KsFunction
from adjoint.languages.ks.text.text_scope import read as read_scope
from adjoint.languages.ks.value.convert import arguments_of
from diff.higher import TermError
from tests import ks_oracle

UNARY = ["sin", "cos", "tanh", "neg", "erf"]
BINARY = ["add", "sub", "mul"]
COUNTS: Counter[str] = Counter()


class Programs:
    """Well-typed expressions over variables of a few types; values stay moderate."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.names = 0

    def fresh(self) -> str:
        """A name that is not in use."""
        self.names += 1
        return f"x{self.names}"

    def float(self, n: int, reals: list[str], vectors: list[str], indices: list[str]) -> str:
        """An expression of type Float with about n nodes."""
        pick = self.rng.choice
        if n <= 1:
            leaves = [*reals, f"{self.rng.uniform(-1, 1):.3f}"]
            if vectors and indices:
                leaves += [f"(index {pick(indices)} {pick(vectors)})"] * 2
            return pick(leaves)
        half = max(1, (n - 1) // 2)

        def again(k: int = half, **more: list[str]) -> str:
            given = {"reals": reals, "vectors": vectors, "indices": indices} | more
            return self.float(k, **given)

        def pair() -> str:
            both = f"(tuple {again()} {again()})"
            return f"(if (gt {again(1)} 0.123) {both} (tuple {again(1)} {again(1)}))" if self.rng.randrange(2) else both

        match self.rng.randrange(13):
            case 0 | 1:
                return f"({pick(UNARY)} {again(n - 1)})"
            case 2 | 3 | 4:
                return f"({pick(BINARY)} {again()} {again()})"
            case 5:
                x = self.fresh()
                return f"(let ({x} {again()}) {again(reals=[*reals, x])})"
            case 6:
                a, b = self.fresh(), self.fresh()
                return f"(let (({a} {b}) {pair()}) {again(reals=[*reals, a, b])})"
            case 7:
                return f"(if (gt {again(1)} 0.123) {again()} {again()})"
            case 8 if vectors:
                return f"(sum {self.vector(half, reals, vectors, indices)})"
            case 9 if vectors:
                i = self.fresh()
                inner = again(indices=[*indices, i])
                return f"(mul 0.3 (sumbuild (size {pick(vectors)}) (lam ({i} : Integer) {inner})))"
            case 10 if vectors:
                a, b = self.fresh(), self.fresh()
                body = self.float(half, [*reals, a, b], vectors, indices)
                t = self.fresh()
                step = f"(lam ({t} : Tuple Float Float) (let (({a} {b}) {t}) (tanh {body})))"
                return f"(fold {step} {again(1)} {pick(vectors)})"
            case 11:  # the arguments have one name
                x = self.fresh()
                return f"(let ({x} {pair()}) ({pick([*BINARY, 'g'] if vectors else BINARY)} {x}))"
            case _:  # a call of one defined before, where there is one
                return f"({'g' if vectors else 'add'} {again()} {again()})"

    def vector(self, n: int, reals: list[str], vectors: list[str], indices: list[str]) -> str:
        """An expression of type (Vec Float), as long as the vectors are."""
        pick = self.rng.choice
        v = pick(vectors)
        match self.rng.randrange(5):
            case 0 if n <= 1:
                return v
            case 1:
                x = self.fresh()
                return f"(map (lam ({x} : Float) {self.float(n, [*reals, x], vectors, indices)}) {v})"
            case 2:
                return f"({pick(BINARY)} {v} {pick(vectors)})"
            case 3:
                return f"(constVec (size {v}) {self.float(n, reals, vectors, indices)})"
            case _:  # by the index, with a case of its own
                i = self.fresh()
                inner = [*indices, i]
                other = self.float(1, reals, vectors, inner)
                body = self.float(n, reals, vectors, inner)
                return f"(build (size {v}) (lam ({i} : Integer) (if (lt {i} 2) {body} {other})))"

    def text(self, n: int) -> str:
        """Two functions."""
        g = self.float(4, ["p", "q"], [], [])
        body = self.float(n, ["x"], ["v"], [])
        return (
            f"(def g Float ((p : Float) (q : Float)) {g})\n(def f Float ((x : Float) (v : Vec Float)) {body})"
            if self.rng.randrange(3)
            else f"(def g Float ((p : Float) (q : Float)) {g})\n"
            f"(def f (Vec Float) ((x : Float) (v : Vec Float)) {self.vector(n, ['x'], ['v'], [])})"
        )


def require_right(text: str, rng: np.random.Generator) -> None:
    """Derivatives at two points; print ∘ parse; the notes' stages, for what they take."""
    loaded = load([Source("t.ks", text)])
    f = loaded.functions["f"]
    assert isinstance(f, KsFunction)
    COUNTS.update(word for word in re.findall(r"\((\w+) ", text) if not re.fullmatch(r"x\d+|[pqxv]", word))
    printed = "\n".join(one.stages()["text"](None, None) for one in loaded.functions.values())
    first, again = (read_scope([Source("t.ks", one)]).definitions for one in (text, printed))
    assert [one.function for one in first] == [one.function for one in again]
    points = [[float(rng.uniform(-1, 1)), rng.uniform(-1, 1, 3).tolist()] for _ in range(2)]
    for args in points:
        due = ks_oracle.function(text)(*args)
        np.testing.assert_allclose(f.value(args), due, rtol=1e-12, atol=1e-12, err_msg=text)
        assert not f.verified(args), text
    back = loaded.functions["[rev f]"]
    assert isinstance(back, KsFunction)
    name = NAMES[int(rng.integers(len(NAMES)))]
    stage = load([Source("s.ks", f.stages()[name](None, None))]).functions["f"]
    assert isinstance(stage, KsFunction)
    x = arguments_of(f.callee.arg, points[0])
    value = f.value(points[0])
    dy = value if isinstance(value, list) else [1.0]
    along = [dy] if isinstance(value, list) else dy
    assert x is not None
    for reverse in (False, True):
        given = along if reverse else [1.0, [0.5, -1.0, 2.0]]
        found, due = (one.differential(points[0], given, reverse=reverse) for one in (stage, f))
        np.testing.assert_allclose(np.hstack(flat(found)), np.hstack(flat(due)), rtol=1e-9, atol=1e-9, err_msg=text)


def flat(value: Any) -> list[Any]:
    """The numbers of a value."""
    return [x for part in value for x in flat(part)] if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize("seed", range(30))
def test_generated(seed: int) -> None:
    """Programs of 5 to 40 nodes."""
    programs, rng = Programs(seed), np.random.default_rng(seed)
    for n in (5, 15, 40):
        require_right(programs.text(n), rng)


if __name__ == "__main__":
    number, seed = int(sys.argv[1]), int(sys.argv[2])
    refused = 0
    for k in range(number):
        text = Programs(seed * 10**6 + k).text(5 + k % 96)
        try:
            require_right(text, np.random.default_rng(k))
        except TermError as error:
            refused += 1
            sys.stdout.write(f"{error}\n{text}\n")
        except Exception:
            sys.stdout.write(f"{text}\n")
            raise
    sys.stdout.write(f"seed {seed}: {number} programs, {refused} refused, {dict(COUNTS)}\n")
