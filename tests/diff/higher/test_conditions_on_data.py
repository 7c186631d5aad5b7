"""`if` on data: both branches are computed, and entries, conditions and the results of functions selected."""

from __future__ import annotations

import numpy as np
import pytest

from diff.higher import Module, TermError, call, evaluate, program, run
from hilbert import R

CLAIMS = r"""
data Maybe a = Nothing | Just a
grad \x. (if less <x, 0> then \y. y else \y. y*y*x) 2 at 1 = 4
grad \x. (if less <x, 0> then \y. y*x else \y. y*y*x) 2 at -1 = 2
grad \x. (if less <x, 0> then \y z. y*x else \y z. y*y*x*z) 2 3 at 1 = 12
grad \x. (\<f, a>. f a) (if less <x, 0> then <\y. y, x> else <\y. y*y*x, 2>) at 1 = 4
grad \x. case (if less <x, 0> then Just (\y. y*x) else Just (\y. y*y*x)) of {Nothing -> 0 | Just f -> f 2} at 1 = 4
grad \x. fold (f, a). f a over (if less <x, 0> then [\y. y*x, \y. y] else [\y. y*y*x, \y. 2*y]) from x at 1 = 12
grad \x. fold (e, a). (if less <e, x> then \y. y*e else \y. y*x) a over [1, 2, 3, 4] from x at 2.5 = 37.5
grad \x. (fold (e, k). if less <e, x> then \y. k (y*e) else \y. k (y*x) over [1, 2, 3] from \y. y*y) x at 2 = 192
grad \x. if (if less <x, 0> then true else less <x, 5>) then x*x else x at 3 = 6
grad \x. if (if less <x, 0> then true else less <x, 5>) then x*x else x at 7 = 1
grad \x. if (if less <0, x> then less <x, 1> else less <x, 5>) then x*x else x at 2 = 1
grad \x. if (if less <0, x> then less <x, 1> else less <x, 5>) then x*x else x at -2 = -4
grad \l. fold (e, a). if (if less <e, 2> then true else less <e, 1>) then e*a else e+a over l from 1 at [1, 3] = [4, 1]
grad \l. case l of {Nil -> 0 | Cons <a, b> -> fold (e, x). e*x over (if less <a, 1> then l else [2, a]) from 1}
  at [1, 4] = [2, 0]
error tag : \x. (if less <x, 0> then Nothing else Just x)
error tag : \x. (if less <x, 0> then [\y. y] else [])
grad \x. if less <x, 0> then 0 else (case Just x of {Nothing -> 0 | Just y -> y}) at 1 = 1
"""


def test_what_a_condition_on_data_selects() -> None:
    """Gradients through conditions whose branches are functions, hold functions, or are conditions."""
    report = run(CLAIMS, "page.lam")
    assert str(report).endswith("17 of 17 claims hold"), str(report)


def test_a_fold_whose_tag_changes() -> None:
    """Over a list of data it is no loop, but written out: its program has the value."""
    module = Module()
    list(module.read("data E = A real | B real"))
    step = "case a of {A y -> B (y + e) | B y -> A (2*y + e)}"
    term, _ = module.term(rf"\l. case (fold (e, a). {step} over l from A 0) of {{A y -> y | B y -> 10*y}}")
    numbers = evaluate(module.term("[1, 2, 3]")[0])
    p = program(term, numbers)
    assert float(p(p.dom.unflat(np.array([1.0, 2.0, 3.0])))) == 90.0
    assert float(call(evaluate(term), numbers)) == 90.0


def test_a_condition_that_decides_a_tag() -> None:
    """The error says where, and what to write; that is a program."""
    module = Module()
    list(module.read("data Maybe a = Nothing | Just a\ndef or0 m = case m of {Nothing -> 0 | Just y -> y*y}"))
    term, _ = module.term(r"\x. or0 (if less <x, 0> then Nothing else Just x)", "page.lam")
    with pytest.raises(TermError, match=r"page.lam:1:10: .*if c then f a else f b for f") as caught:
        program(term, R.vec(1.0))
    assert caught.value.code == "tag"
    term, _ = module.term(r"\x. if less <x, 0> then or0 Nothing else or0 (Just x)")
    p = program(term, R.vec(1.0))
    assert [float(p(R.vec(x)).array) for x in (-2.0, 3.0)] == [0.0, 9.0]
