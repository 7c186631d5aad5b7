"""What the tests' programs of KS-Lisp reach: the tables of the parser and the evaluator record what they met.

Each production, each word that is built in, in each mode of differentiation, and each overload of the prelude is in two
programs of different form, or a table says why not.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from adjoint.languages import Source
from adjoint.languages.ks.builtin.builtins import BUILT_IN
from adjoint.languages.ks.run import function_maps
from adjoint.languages.ks.run.evaluate import KsEvaluator
from adjoint.languages.ks.run.ks_functions import KsFunction, load
from adjoint.languages.ks.text import parser, text_scope
from adjoint.languages.ks.text.function_names import Written
from adjoint.languages.ks.text.signatures import PRELUDE, RULES
from adjoint.languages.ks.value.convert import arguments_of
from adjoint.languages.ks.value.ks_values import leaves_of, tangent
from adjoint.languages.ks.value.types import arguments, text
from diff.lam.term.binding import mapped
from diff.lam.term.terms import AnyTerm, Name
from tests.any_text import KS
from tests.ks_programs import PROGRAMS

TEXTS = [*KS, "(edef e Float (Float)) (gdef rev [cos Float])", '(rule "s" (x : Float) (neg (neg x)) x)',
    "(def f (Tuple Float String) (x : Float) (tuple ((lam (y : Float) y) x) \"a\"))",
    "(def f Float (x : Float) (add x ($dummy Float)))",
    "(def f (Tuple Integer Float) (x : Float) ($dummy (Tuple Integer Float)))",
    "(def f Float (x : Float) (if true (assert (gt x 0.0) x) (assert false x)))",
]  # fmt: skip
MODES: dict[str, tuple[str, ...]] = {
    "value": (),
    "fwd": ("fwd",),
    "rev": ("rev",),
    "sufrev": ("sufrev",),
    "split": ("suffwdpass",),
    "fwd of rev": ("fwd", "rev"),
    "rev of rev": ("rev", "rev"),
}
PRINTED = "it prints, and is tested by what it prints"
FOLDS = "test_expression has its value, and `fold` the same derivative; it is written out, element by element"
EXCUSED = {
    "print": PRINTED,
    "$trace": PRINTED,
    "$check": "it is a test of derivatives itself",
    "lmFold": FOLDS,
    "FFold": FOLDS,
    "RFold": FOLDS,
}
UNDERIVED = {"$dummy": "it has no value, and test_productions has it"}
SECOND = {"buildFromSparse", "buildFromSparseTupled"}
"""What has no second derivatives in the tests: they may wait."""


@pytest.fixture
def met(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], set[str]]:
    """What was met, by table and word, with the programs; the program at hand is `met["at", ""]`."""
    found: dict[tuple[str, str], set[str]] = {("at", ""): set()}

    def recorded(table: str, word: str, of: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            found.setdefault((table, word), set()).update(found["at", ""])
            return of(*args, **options)

        return run

    tables: list[dict[str, Any]] = [parser._RULES, text_scope._RULES]
    for table in tables:
        for word, of in list(table.items()):
            monkeypatch.setitem(table, word, recorded("production", word, of))
    for word, row in list(BUILT_IN.items()):
        monkeypatch.setitem(BUILT_IN, word, evolve(row, value=recorded("word", word, row.value)))
    return found


def shape(body: str) -> str:
    """A program without its words: programs that differ in words alone are of one form."""
    return re.sub(r"[^\s()\[\]]+", "x", body)


def run_in(mode: str) -> list[tuple[str, list[list[Any]]]]:
    """The programs that are run in a mode, and their points."""
    return [
        (body, points) for body, _, points in PROGRAMS if not (" of " in mode and any(word in body for word in SECOND))
    ]


def drawn(value: Any, rng: np.random.Generator) -> Any:
    return tangent(lambda v: v.space.vec(rng.standard_normal(v.array.shape)), value)


def followed(f: KsFunction, mode: str, args: list[Any]) -> None:
    """A function, or what is derived of it, at a point."""
    rng, linked, of = np.random.default_rng(0), f.linked, f.callee

    def call(derivations: tuple[str, ...], arg: Any) -> Any:
        callee = linked.scope.named(Written(derivations, of.base, of.of), of.of, f.place)
        return function_maps.call(linked, callee, arg, KsEvaluator(linked))

    x = arguments_of(of.arg, args)
    y = call((), x)
    dx, dy = drawn(x, rng), drawn(y, rng)
    match MODES[mode]:
        case ():
            return
        case ("suffwdpass",):
            call(("sufrevpass",), (dy, call(("suffwdpass",), x)[1]))
        case ("fwd", "rev"):
            call(("fwd", "rev"), ((x, dy), (dx, drawn(y, rng))))
        case ("rev", "rev"):
            call(("rev", "rev"), ((x, dy), dx))
        case (derivation,):
            call((derivation,), (x, dx if derivation == "fwd" else dy))
        case _:
            raise AssertionError(mode)


def test_productions(met: dict[tuple[str, str], set[str]]) -> None:
    """Each form of an expression and of a definition is in two texts."""
    for one in [*TEXTS, *(f"(def f {body})" for body, _, _ in PROGRAMS)]:
        met["at", ""] = {shape(one)}
        load([Source("t.ks", one)])
    productions = [*parser._RULES, *text_scope._RULES]
    assert [word for word in productions if len(met.get(("production", word), ())) < 2] == []


@pytest.mark.parametrize("mode", MODES)
def test_words_in_modes(mode: str, met: dict[tuple[str, str], set[str]]) -> None:
    """Each form of an expression, and each word that is built in, is met in two programs, in each mode."""
    for body, points in run_in(mode):
        met["at", ""] = {shape(body)}
        f = load([Source("t.ks", f"(def f {body})")]).functions["f"]
        assert isinstance(f, KsFunction)
        for args in points:
            if leaves_of(arguments_of(f.callee.arg, args)):
                followed(f, mode, args)
    assert [
        word for word in parser._RULES if word not in UNDERIVED and len(met.get(("production", word), ())) < 2
    ] == []
    excused = EXCUSED.keys() | (SECOND if " of " in mode else set()) | {"$dummy"}
    assert [word for word in BUILT_IN if word not in excused and len(met.get(("word", word), ())) < 2] == []


@pytest.mark.parametrize("mode", MODES)
def test_overloads_of_the_prelude(mode: str) -> None:
    """Each is in two programs that are run in this mode."""
    found: dict[tuple[str, str], set[str]] = {}
    for body, _ in run_in(mode):

        def step(node: AnyTerm, body: str = body) -> None:
            if isinstance(node, Name) and node.at:
                found.setdefault((node.name, text(node.at[0])), set()).add(shape(body))

        function = text_scope.read([Source("t.ks", f"(def f {body})")]).definitions[-1].function
        assert function is not None
        mapped(function, step)
    overloads = [(name, text(arguments(types))) for name, types in PRELUDE]
    assert [one for one in overloads if len(found.get(one, ())) < 2] == []


def test_every_word_has_a_meaning() -> None:
    """What is typed is evaluated."""
    assert {*RULES, *(name for name, _ in PRELUDE), "assert", "$dummy"} == BUILT_IN.keys()
