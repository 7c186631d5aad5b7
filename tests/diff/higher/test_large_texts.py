"""Many constructors, and names that are defined anew, take time in proportion; what doubles is refused unwritten."""

import operator
import random
from collections.abc import Callable
from functools import partial
from time import process_time

import pytest

from adjoint.higher.term.claims import RULES
from diff.lam.files.claims import result_of
from diff.lam.files.module import Module
from diff.lam.run.evaluate import evaluate
from diff.lam.run.translate import program
from diff.lam.show.show_values import show_value
from diff.lam.term.term_error import TermError
from hilbert import R

N = 30_000
DOUBLED = "".join(f" let a{k} = <a{k - 1}, a{k - 1}> in" for k in range(1, 41))
BOXED = "".join(f" let a{k} = P <a{k - 1}, a{k - 1}> in" for k in range(1, 41))


def module(text: str) -> Module:
    made = Module()
    assert not list(made.read(text, "t.lam"))
    return made


def test_constructors() -> None:
    """A declaration of many constructors, a case of all, and each of them once: a second or two, not minutes."""
    labels = [f"C{k}" for k in range(N)]
    branches = " | ".join(f"{label} -> {k}" for k, label in enumerate(labels))
    start = process_time()
    made = module(
        f"data T = {' | '.join(labels)}\ndef f x = case x of {{{branches}}}\ndef g x = [{', '.join(labels)}]\n"
    )
    assert process_time() - start < 15
    assert made.definition("f") is not None
    with pytest.raises(TermError, match=r"T has two constructors C1"):
        module("data T = C1 | C2 | C1")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("def f0 x = <x, x>\n" + "".join(f"def f{k} x = f{k - 1} <x, x>\n" for k in range(1, 41)), "t.lam:16:1"),
        (f"def f a0 ={DOUBLED} a40", "t.lam:1:1"),
        (f"prim f a0 ={DOUBLED} a40", "t.lam:1:1"),
    ],
)
def test_types_that_double(text: str, place: str) -> None:
    """A definition of a type of too many parts is refused where it stands, also where each is small beside the last."""
    with pytest.raises(TermError, match=f"^{place}: a type of more than 100000 parts$"):
        module(text)


def test_messages_of_types_that_double() -> None:
    """A message does not write them, nor does a term."""
    with pytest.raises(TermError, match="not to one of type a type of more than 100000 parts"):
        module(f"def f a0 ={DOUBLED} sin a40")
    term, _ = module(f"def k (a0 : real) ={DOUBLED} (\\x. 2*a0) a40").term("k")
    with pytest.raises(TermError, match=r"^a type of more than 100000 parts"):
        str(term)


def test_values_that_double() -> None:
    """A value that holds itself many times is not written, and makes no program."""
    made = module(f"data P a = P (a * a)\ndef g (a0 : real) ={BOXED} a40")
    with pytest.raises(TermError, match=r"^a value of more than 1000000 parts$"):
        show_value(evaluate(made.term("g 1")[0]))
    with pytest.raises(TermError, match="a value of more than 1000000 vectors"):
        program(made.term("g")[0], R.vec(1.0))


def test_names_that_are_defined_anew() -> None:
    """What used a name before keeps what it stood for, at a cost in proportion to those that use it."""
    rounds = 3000
    lines = ["def f x = x", "def g x = f x + 1", *(f"def f x = g x + {k}" for k in range(rounds)), "def h x = f x"]
    start = process_time()
    made = module("\n".join(lines))
    assert process_time() - start < 15
    assert show_value(evaluate(made.term("h 1")[0])) == f"{rounds + 1}"
    assert show_value(evaluate(made.term("g 1")[0])) == "2"


def test_texts_that_give_names_anew() -> None:
    """Values of random texts, in which definitions and primitives replace each other, are those of closures."""
    rng = random.Random(0)
    for _ in range(40):
        meaning: dict[str, Callable[[float], float]] = {}
        lines: list[str] = []
        for _ in range(rng.randrange(2, 25)):
            name, k = rng.choice("abcd"), rng.randrange(1, 9)
            others = [one for one in meaning if one != name]
            kind = rng.random()
            if kind < 0.2:
                lines.append(f"prim {name} x = x*{k}")
                meaning[name] = partial(operator.mul, k)
            elif others and kind < 0.8:
                f, g = rng.choice(others), rng.choice(others)
                lines.append(f"def {name} x = {f} ({g} x) + {k}")
                meaning[name] = partial(composed, meaning[f], meaning[g], k)
            else:
                lines.append(f"def {name} x = x + {k}")
                meaning[name] = partial(operator.add, k)
            asked = rng.choice(list(meaning))
            lines.append(f"value {asked} 1 = {meaning[asked](1.0)}")
        made = Module()
        claimed = made.claimed(made.reader.read("\n".join(lines)))
        assert [found for names, claim in claimed if (found := result_of(names, claim, RULES).found)] == [], lines


def composed(f: Callable[[float], float], g: Callable[[float], float], k: float, x: float) -> float:
    """f(g(x)) + k."""
    return f(g(x)) + k
