"""The test cases of the Taylor paper's specification (§14): claims in `taylor.lam`, nested and tabulated ones here."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diff import derivative, fun, jvp
from diff.higher import Module, Taylor, call, evaluate, program, run
from diff.higher.__main__ import main
from diff.lam.files.claims import RULES, result_of
from diff.lam.files.type_of_term import type_of
from diff.lam.run.closeness import agree
from diff.lam.run.faa_di_bruno import all_orders, down_closed, tables
from diff.lam.term.lam_values import Stack, Tagged, filled, opened, shape_of, stacked
from diff.lam.term.term_error import TermError
from diff.lam.term.terms import AnyTerm, App, Lam, Let, Prim, Tuple, fresh, real
from diff.lam.term.types import INT, REAL, Ground, TupleType, ground
from diff.lam.text.item_parser import Reader
from diff.lam.text.items import Claim
from diff.terms.untraced_functions import bilinear
from hilbert import Bool, Elements, Fin, R, Vec, direct_sum
from linmap import matrix
from linmap.contraction import scalar
from tests.lambda_terms import size

FILE = Path(__file__).parent / "taylor.lam"
TEXT = FILE.read_text("utf-8")
MODULE = Module()
CLAIMS = list(MODULE.claimed(MODULE.reader.read(TEXT, "taylor.lam")))


def checked(text: str, definitions: str = "") -> AnyTerm:
    """A term of a text."""
    module = Module()
    list(module.read(definitions))
    return module.term(text)[0]


def value_of(text: str, definitions: str = "") -> Any:
    return evaluate(checked(text, definitions))


@pytest.mark.parametrize(("names", "claim"), [pytest.param(*found, id=str(k)) for k, found in enumerate(CLAIMS)])
def test_cases(names: Module, claim: Claim) -> None:
    result = result_of(names, claim, RULES)
    assert result.found is None, result


def test_no_case_is_missing() -> None:
    """Every case of §14 that is a claim has its name in the file (A27, E1, E2, E4, ev2′ and ev3′ of B18 are below)."""
    due = "A1 A2 A4 A5 A7 A8 A10 A11 A13 A14 A16 A17 A19 A20 A22 A23 A24 A25 A26 A27 B2 B3 B5 B6 B8 B9 B11 B12 B14 B15"
    due += " B16 B17 B18 C2 C3 C5 C6 D2 D3 D5 D6 D7 D9 D10 D12 D13 D15 E1 E2 E3"
    found = set(re.findall(r"\b[A-E]\d+\b", " ".join(re.findall(r"--(.*)", TEXT))))
    assert set(due.split()) <= found


def test_false_claims_fail() -> None:
    """Each `taylor` claim fails when its last number is another one."""
    cases = re.sub(r"([0-9.]+)((?:/\d+)?[>\])]+)\n(--|$)", r"77.7\2\n\3", TEXT + "\n")
    report = run(cases, "wrong.lam")
    assert sum(result.found is not None for result in report.results) >= 40


@pytest.mark.parametrize("claim", ["value 3 = 1/0", "value log 0 = -log 0", r"grad (\x. x*x) at 1 = 1/0"])
def test_no_number_is_infinity(claim: str) -> None:
    """Numbers in claims agree if they differ by at most 1e-10 · max(1, |expected|), of finite ones."""
    with np.errstate(divide="ignore"):
        assert not run(claim).holds
        assert run("value 1/0 = 1/0\nvalue log 0 = log 0").holds


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.lam"
    file.write_text("value 1 + 1 = 2\nvalue 2*3 = 7\n", "utf-8")
    assert main([str(file)]) == 1
    assert capsys.readouterr().out == f"{file}:1: ok\n{file}:2: fails: found 6\n1 of 2 claims hold\n"
    file.write_text("value 1 + = 2\n", "utf-8")
    assert main([str(file)]) == 1
    assert capsys.readouterr().err.startswith(f"{file}:1:11: syntax: ")
    file.write_bytes(b"\xef\xbb\xbfvalue 1 = 1\n")  # a byte-order mark is no part of the text
    assert main([str(file)]) == 0
    assert main([str(tmp_path / "none.lam")]) == 2


# --- tables ---


@pytest.mark.parametrize(
    ("k", "order", "slots"),
    [(1, 1, 2), (1, 5, 6), (2, 2, 6), (3, 3, 20), (2, 5, 21), (5, 4, 126), (4, 0, 1), (0, 7, 1)],
)
def test_sizes_of_index_sets(k: int, order: int, slots: int) -> None:
    """|I(k, R)| = binom(R + k, k), in lexicographic order, the value first (§1)."""
    found = all_orders(k, order)
    assert len(found) == slots
    assert list(found) == sorted(found)
    assert found[0] == (0,) * k


def test_order_of_slots() -> None:
    assert ["".join(map(str, a)) for a in all_orders(2, 2)] == ["00", "01", "02", "10", "11", "20"]
    listed = "000 001 002 003 010 011 012 020 021 030 100 101 102 110 111 120 200 201 210 300"
    assert ["".join(map(str, a)) for a in all_orders(3, 3)] == listed.split()


@pytest.mark.parametrize(
    ("alpha", "count", "many", "total"),
    [
        ((1,), 1, 1, 1),
        ((2,), 1, 2, 2),
        ((3,), 1, 3, 5),
        ((4,), 1, 5, 15),
        ((5,), 1, 7, 52),
        ((2,), 2, 5, 6),
        ((3,), 2, 10, 22),
        ((5,), 2, 36, 454),
        ((1, 1), 1, 2, 2),
        ((1, 1), 2, 6, 6),
        ((2, 1), 1, 4, 5),
        ((2, 1), 2, 16, 22),
        ((1, 1, 1), 1, 5, 5),
        ((1, 1, 1), 2, 22, 22),
    ],
)
def test_tables_of_faa_di_bruno(alpha: tuple[int, ...], count: int, many: int, total: int) -> None:
    """The number of admissible tables, and the sum of their coefficients (§3.1)."""
    found = tables(alpha, count)
    assert (len(found), sum(coefficient for coefficient, _, _ in found)) == (many, total)
    for _, beta, factors in found:
        assert tuple(sum(e * gamma[i] for gamma, _, e in factors) for i in range(len(alpha))) == alpha
        assert sum(beta) == sum(e for _, _, e in factors)


@pytest.mark.parametrize("listed", [[(0, 0), (1, 1)], [(1,)], [], [(0,), (0, 1)]])
def test_index_sets_that_are_not_down_closed(listed: list[tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match=r"down-closed|multi-index|empty"):
        down_closed(listed)


# --- polynomial tables of §7 ---

S = {
    1: (0, 1, -1),
    2: (0, 1, -3, 2),
    3: (0, 1, -7, 12, -6),
    4: (0, 1, -15, 50, -60, 24),
    5: (0, 1, -31, 180, -390, 360, -120),
}
H = {
    1: (1, 0, -1),
    2: (0, -2, 0, 2),
    3: (-2, 0, 8, 0, -6),
    4: (0, 16, 0, -40, 0, 24),
    5: (16, 0, -136, 0, 240, 0, -120),
}


@pytest.mark.parametrize(("name", "table"), [("sigmoid", S), ("tanh", H)])
def test_polynomials_in_the_value(name: str, table: dict[int, tuple[int, ...]]) -> None:
    """∂_n ς = S_n(ς), ∂_n tanh = H_n(tanh) (§7)."""
    for x in (-0.75, 0.0, 0.3, 2.0):
        jet = evaluate(App(Taylor.of(1, 5).term(checked(name)), Tuple(tuple(map(real, (x, 1, 0, 0, 0, 0))))))
        y = float(jet[0].array)
        for n, coefficients in table.items():
            due = sum(c * y**k for k, c in enumerate(coefficients))
            assert float(jet[n].array) == pytest.approx(due, rel=1e-11, abs=1e-11)


# --- macro, program and nested derivatives ---

FUNCTIONS = [
    r"\x. twice sin (x*x)",
    r"\x. sum (map (\e. sigmoid (x*e)) [x, 1, x*x])",
    r"\x. (fold (e,k). \s. k (s^2 + e) over [x, 3] from \s. s) 2",
    r"\x. case Just x of {Nothing -> 1 | Just y -> exp y / (1 + y*y)}",
    r"\x. if less(1, 2) then atan2(x, 2) else 0",
    r"\x. hypot(x, 1 + x) * logaddexp(x, 1) - pow(2 + x, x)",
]
DEFINITIONS = """
data Maybe a = Nothing | Just a
def twice f u = f (f u)
def map f l = fold (e, a). f e :: a over l from []
def sum l = fold (e, a). e + a over l from 0
"""


def along_one(step: Any) -> Any:
    return fun(R)(lambda x: step(x, R.vec(1.0)))


@pytest.mark.parametrize("text", FUNCTIONS)
def test_macro_is_nested_derivatives(text: str) -> None:
    """D_(1,3)(t), and three jvp of t's program."""
    term = checked(text, DEFINITIONS)
    found = evaluate(App(Taylor.of(1, 3).term(term), Tuple(tuple(map(real, (0.4, 1, 0, 0))))))
    f: Any = program(term, R.vec(0.0))
    for slot in found:
        assert float(slot.array) == pytest.approx(float(f(R.vec(0.4)).array), rel=1e-10)
        f = along_one(jvp(f))


def test_program_is_made_once_for_a_shape() -> None:
    """What is discrete is fixed by the value at hand, what is real stays free."""
    term = checked(r"\l. sum (map sin l)", DEFINITIONS)
    three = value_of("[1, 2, 3]")
    p = program(term, three)
    assert p is program(term, value_of("[4, 5, 6]"))
    assert p is not program(term, value_of("[4, 5]"))
    (numbers,) = shape_of(stacked(three))[1]
    assert float(p(numbers).array) == pytest.approx(np.sin([1, 2, 3]).sum())
    gradient = derivative(p)(numbers)
    assert float(gradient(p.dom.vec([1.0, 0.0, 0.0])).array) == pytest.approx(np.cos(1))


def test_programs_are_of_vectors() -> None:
    """A program has at least one vector as its argument, and no functions in its result."""
    with pytest.raises(TermError, match="a program takes at least one vector, and the value at hand holds none"):
        program(checked(r"\(l : list real). 3"), value_of("([] : list real)"))
    for text in (r"\x y. x*y", r"\x. let s = sin in \y. s (x*y)", r"\(x : real). sin + cos", r"\x. sin + (\y. x*y)"):
        with pytest.raises(TermError, match="the result is a function: take its argument as one more argument"):
            program(checked(text), R.vec(0.0))


FOLDS = {
    "squares": r"\l. fold (e, a). e*e + a over l from 0",
    "pairs": r"\l. fold (<x, y>, <a, b>). <x*b + a, y + sin b> over l from <1, 2>",
    "captured": r"\<x, l>. fold (e, a). e*x + a*a over l from x",
    "reversed twice": r"\l. fold (e, a). e*e + a over (fold (e, a). e :: a over l from []) from 0",
    "a growing state": r"\l. fold (e, a). (fold (x, y). x + y over a from e) :: a over l from []",
    "functions": r"\l. (fold (e, f). \x. f (e*x + 1) over l from \x. x*x) 0.5",
    "two lists": r"\<l, m>. fold (e, a). e*a + (fold (x, y). x*y over m from 1) over l from 1",
}
ARGUMENTS = {
    "pairs": "[<1, 0.5>, <2, 0.25>, <0.5, 3>]",
    "captured": "<2, [0.1, 0.2, 0.3]>",
    "two lists": "<[0.1, 0.2, 0.3], [1.5, 2, 2.5]>",
}


@pytest.mark.parametrize("name", FOLDS)
def test_folds_over_elements_of_one_shape(name: str) -> None:
    """The program, whose lists are stacked, is the evaluator, and so is its derivative."""
    term = checked(FOLDS[name])
    at = value_of(ARGUMENTS.get(name, "[0.5, 0.25, 2]"))
    p = program(term, at)
    shape, leaves = shape_of(stacked(at))
    due = shape_of(call(evaluate(term), at))[1]
    assert np.allclose(p(*leaves).flat(), np.concatenate([v.flat() for v in due]))
    point = leaves[0] if len(leaves) == 1 else Vec(p.dom, tuple(part for leaf in leaves for part in leaf.leaves))
    x, v = point.flat(), np.linspace(-1.0, 1.0, point.flat().size) + 0.25

    def value(s: float) -> Any:
        moved: Any = p.dom.unflat(x + s * v)
        parts = [moved] if len(leaves) == 1 else list(moved.split())
        values = shape_of(call(evaluate(term), opened(filled(shape, iter(parts)))))[1]
        return np.concatenate([one.flat() for one in values])

    slope = derivative(p)(point)(p.dom.unflat(v)).flat()
    assert np.allclose(slope, (value(1e-6) - value(-1e-6)) / 2e-6, atol=1e-6)


def test_what_is_stacked() -> None:
    """Lists of vectors, or of tuples of these, of one shape; none that holds an integer. A stack may end a list."""
    pairs = value_of("[<1, 2>, <3, 4>, <5, 6>]")
    f = value_of(r"\(l : list (real * real)). fold (<a, b>, s). a*b - s over l from 0")
    assert isinstance(stacked(pairs), Stack)
    assert float(call(f, stacked(pairs)).array) == float(call(f, pairs).array) == 20.0
    ends = stacked(value_of("[2, 3]"))
    assert str(opened(Tagged("Cons", (R.vec(1.0), ends)))) == str(value_of("[1, 2, 3]"))
    items = Tagged("Cons", ((R.vec(1.0), 1), Tagged("Cons", ((R.vec(2.0), 2), Tagged("Nil", ())))))
    assert isinstance(stacked(items), Tagged)


def test_an_evaluation_that_does_not_end() -> None:
    """It is given up after 100,000 calls, at its place."""
    with pytest.raises(TermError, match=r"<text>:1:27: no value after 100000 steps") as error:
        value_of("loop 0", "def loop : real -> real = \\x. loop (x + 1)\n")
    assert error.value.code == "limit"


def test_what_is_counted_of_a_recursion() -> None:
    """A definition that calls itself is looked up, and called: two steps."""
    module = Module()
    list(module.read("def count (n : real) : real = if less(n, 1) then 0 else 1 + count (n - 1)"))
    assert float(evaluate(module.term("count 100")[0], steps=250)) == 100.0
    with pytest.raises(TermError, match="no value after 150 steps"):
        evaluate(module.term("count 100")[0], steps=150)


def test_steps_of_a_fold_do_not_depend_on_the_length() -> None:
    term = checked(FOLDS["squares"])
    lists = [value_of(f"[{', '.join(str(k % 7) + '.5' for k in range(n))}]") for n in (10, 2000)]
    few, many = (program(term, one) for one in lists)
    assert len(few.steps) == len(many.steps) <= 5
    (numbers,) = shape_of(stacked(lists[1]))[1]
    row = matrix(derivative(many)(numbers), "array")
    assert np.allclose(row.ravel(), 2.0 * numbers.array)


def test_types_that_have_no_derivatives() -> None:
    """D(V) = V^N of spaces; truth values, elements of index sets and integers are as they are."""
    element = Ground(Elements(Fin.of(3)))
    kinds = TupleType((Ground(Bool), REAL, element, INT))
    assert Taylor.of(1, 2).type(kinds) == TupleType((Ground(Bool), TupleType((REAL,) * 3), element, INT))


@pytest.mark.parametrize("text", [r"sin - cos", r"(\x. <x, x>) 1 - <1, 2>", r"\(f : real -> real). f - f"])
def test_differences_are_of_vectors(text: str) -> None:
    """Sums are of all that a space is made of; what else has no difference is refused, and is no sum."""
    with pytest.raises(TermError, match="- applies to vectors, not to one of type"):
        checked(text)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (r"\<c, l>. if less(c, 1) then l else [5, 6]", ["<2, [3, 4]>", "[5, 6]", "<0, [3, 4]>", "[3, 4]"]),
        (r"\<c, l>. if less(c, 1) then [5, 6] else l", ["<2, [3, 4]>", "[3, 4]", "<0, [3, 4]>", "[5, 6]"]),
    ],
)
def test_conditions_select_lists_that_are_stacked_and_not(text: str, due: list[str]) -> None:
    """One side is the argument, in one array, and the other is written out."""
    term = checked(text)
    p = program(term, value_of(due[0]))
    for at, result in zip(due[::2], due[1::2], strict=True):
        assert agree(tuple(p(*shape_of(stacked(value_of(at)))[1]).split()), tuple(shape_of(value_of(result))[1]))


def test_conditions_on_data_select() -> None:
    term = checked(r"\x. if less(x, 1) then <x, 2> else <3, x*x>")
    p = program(term, R.vec(0.0))
    assert agree(tuple(p(R.vec(0.5)).split()), value_of("<0.5, 2>"))
    assert agree(tuple(p(R.vec(2.0)).split()), value_of("<3, 4>"))
    with pytest.raises(ValueError, match="use it in both branches"):
        program(checked(r"\x. if less(x, 1) then [x] else []"), R.vec(0.0))


def test_jets_of_spaces() -> None:
    """D(V) = V^N: linear, bilinear and other maps between spaces (§6.6)."""
    text = r"\(x : R^2) (m : R^(3 x 2)). tanh (m @ x) * inner(x, x)"
    jets: Any = [
        [[0.5, -1.0], [1.0, 2.0], [0.0, 1.0]],
        [[[1, 2], [3, 4], [0.5, 6]], [[0, 1], [1, 0], [1, 1]], [[1, 0], [0, 1], [0, 0]]],
    ]
    spelled = " ".join("<" + ", ".join(f"[|{str(slot)[1:-1]}|]" for slot in jet) + ">" for jet in jets)
    found = value_of_jet(text, spelled)
    t = np.linspace(-1e-3, 1e-3, 3)

    def at(s: float) -> Any:
        x, A = ((np.array(j[0]) + s * np.array(j[1]) + s * s / 2 * np.array(j[2])) for j in jets)
        return np.tanh(A @ x) * (x @ x)

    values = np.array([at(s) for s in t])
    h = t[1] - t[0]
    due = [values[1], (values[2] - values[0]) / (2 * h), (values[2] - 2 * values[1] + values[0]) / h**2]
    for slot, expected in zip(found, due, strict=True):
        np.testing.assert_allclose(slot.array, expected, rtol=1e-3, atol=1e-3)


def value_of_jet(text: str, jets: str) -> Any:
    module = Module()
    (claim,) = Reader().read(f"taylor (1,2) {text} at {jets} = 0")
    assert isinstance(claim, Claim)
    macro = Taylor.of(1, 2)
    term, ty = module.checked(claim.terms[0])
    made = macro.term(term)
    for jet in claim.terms[1:-1]:
        made = App(made, module.checked(jet, macro.type(ty.dom))[0])  # type: ignore[union-attr]
        ty = ty.cod  # type: ignore[union-attr]
    return evaluate(made)


FIGURES = {
    r"\x. x + 2": "λx. case ⟨x, ⟨2, 0, 0⟩⟩ of ⟨⟨x0_0, x0_1, x0_2⟩, ⟨x1_0, x1_1, x1_2⟩⟩ → "
    "⟨x0_0 + x1_0, x0_1 + x1_1, x0_2 + x1_2⟩",
    r"\x. x * x": "λx. case ⟨x, x⟩ of ⟨⟨x0_0, x0_1, x0_2⟩, ⟨x1_0, x1_1, x1_2⟩⟩ → "
    "⟨x0_0*x1_0, x0_0*x1_1 + x0_1*x1_0, x0_0*x1_2 + 2*(x0_1*x1_1) + x0_2*x1_0⟩",
    "exp": "λx. case x of ⟨x0_0, x0_1, x0_2⟩ → let d = ∂1 exp x0_0 in let d1 = ∂2 exp x0_0 in "
    "⟨exp x0_0, x0_1*d, x0_2*d + x0_1*x0_1*d1⟩",
    r"\x. less(x, 1)": "λx. case ⟨x, ⟨1, 0, 0⟩⟩ of ⟨⟨x0_0, x0_1, x0_2⟩, ⟨x1_0, x1_1, x1_2⟩⟩ → less ⟨x0_0, x1_0⟩",
}


def test_values_of_free_variables() -> None:
    """They are given by number; what the term binds is not added to them."""
    x, y = fresh("x", ground(R)), fresh("y", ground(R))
    values: dict[int, Any] = {x.number: R.vec(3.0)}
    assert [float(v) for v in evaluate(Let(y, x, Tuple((y, x))), values)] == [3.0, 3.0]
    assert list(values) == [x.number]
    with pytest.raises(TermError, match="the free variable x has no value"):
        evaluate(x)


AT_ORDER_0 = {
    r"\x. sin x": "λx. let x0_0 = x in sin x0_0",
    r"\x. g x": "λx. case x of ⟨x0_0, x1_0⟩ → g ⟨x0_0, x1_0⟩",
    r"\x. less(x, 1)": "λx. case ⟨x, 1⟩ of ⟨x0_0, x1_0⟩ → less ⟨x0_0, x1_0⟩",
}


@pytest.mark.parametrize("text", AT_ORDER_0)
def test_the_macro_at_order_0(text: str) -> None:
    """D_(k,0) is the term again: a jet is a value, and no tuple of one."""
    module = Module()
    assert not list(module.read("prim g <x, y> = <x + 1, 2*x + y^2>"))
    term, ty = module.term(text)
    made = Taylor.of(1, 0).term(term)
    assert str(made) == AT_ORDER_0[text]
    assert type_of(made) is ty


@pytest.mark.parametrize("text", FIGURES)
def test_macro_as_text(text: str) -> None:
    """The figure (§6.2): linear maps slot by slot, products by Leibniz, others by form A, one let for each β."""
    assert str(Taylor.of(1, 2).term(checked(text))) == FIGURES[text]


def test_derivatives_that_are_zero_are_left_out() -> None:
    """∂_n of a polynomial ends."""
    text = str(Taylor.of(1, 4).term(checked(r"\x. x^2")))
    assert "∂3" not in text
    assert " 0*" not in text


# --- A27, B18, E3, E4 ---


def test_nested_first_orders() -> None:
    """A27: D_(1,1) twice."""
    once = Taylor.of(1, 1)
    twice = once.term(once.term(checked(r"\x y. exp (x * sin y)")))
    found = evaluate(App(App(twice, checked("<<2, 1>, <3, 0>>")), checked("<<1, 5>, <7, 0>>")))
    assert agree(found, value_of("<<5.381364516489, 33.60389866906>, <54.29067749557, 86.0058657405>>"))


def test_derivatives_of_functionals_are_not_unique() -> None:
    """B18: ev1′ is the macro's; ev2′ and ev3′ differ on `swap`, which is no jet of a function, not on a family."""
    a = 3.0
    ev1 = Taylor.of(1, 1).term(checked(r"\r f. f r"))
    ev1 = App(ev1, Tuple((real(a), real(1.0))))
    ev2 = r"\f. <pi_1 (f <3, 0>), pi_2 (f <3, 0>) + D>"
    ev3 = checked(r"\(f : real * real -> real * real). <pi_1 (f <3, 0>), pi_2 (f <3, 1>)>")
    swap, family = checked(r"\<r, s>. <s, r>"), checked(r"\<y, z>. <3*y, y + 3*z>")
    # ∂_r π₁ f(r, 0) at 3: 0 for swap, 3 for the family
    two = {id(swap): ev2.replace("D", "0"), id(family): ev2.replace("D", "3")}
    for function, one, others in ((swap, "<1, 3>", "<0, 3>"), (family, "<9, 6>", "<9, 6>")):
        assert agree(evaluate(App(ev1, function)), value_of(one))
        assert agree(evaluate(App(ev3, function)), value_of(others))
        second = checked(two[id(function)].replace(r"\f", r"\(f : real * real -> real * real)"))
        assert agree(evaluate(App(second, function)), value_of(others))


def test_three_nested_first_orders() -> None:
    """E3: the squarefree jet with three parameters is three nested D_(1,1)."""
    once = Taylor.of(1, 1)
    term = once.term(once.term(once.term(checked(r"\x y z. x*y*z"))))
    jets = ["<<<2,0>,<0,0>>,<<1,0>,<0,0>>>", "<<<3,0>,<1,0>>,<<0,0>,<0,0>>>", "<<<5,1>,<0,0>>,<<0,0>,<0,0>>>"]
    for jet in jets:
        term = App(term, checked(jet))
    assert agree(evaluate(term), value_of("<<<30, 6>, <10, 2>>, <<15, 3>, <5, 1>>>"))


@pytest.mark.parametrize("orders", [(1, 1), (1, 2), (2, 2), (1, 5)], ids=str)
def test_size_is_affine_in_depth(orders: tuple[int, int]) -> None:
    """E4: D of the d-fold sine has a constant number of nodes for each level."""
    sizes = []
    for depth in range(1, 6):
        term = checked("\\x. " + "sin (" * depth + "x" + ")" * depth)
        sizes.append(size(Taylor.of(*orders).term(term)))
    steps = {b - a for a, b in pairwise(sizes)}
    assert len(steps) == 1
    assert steps.pop() <= {(1, 1): 13, (1, 2): 29, (2, 2): 57, (1, 5): 216}[orders]


def test_sums_that_are_too_long() -> None:
    """At one parameter there is a summand for each partition of the order; 2,436 at order 26."""
    assert [len(tables((n,), 1)) for n in (1, 2, 3, 4, 5, 20, 25)] == [1, 2, 3, 5, 7, 627, 1958]
    with pytest.raises(TermError, match="more than 2000 terms"):
        tables((26,), 1)


def test_what_is_refused_before_it_is_written() -> None:
    """Long sums of a product, and those of a sine, at their places; a linear map has one term in each slot."""
    for orders, text, message in (
        ((2, 31), r"\x. x*x", r"1:6: the coefficients of \*, written out, have more than 50000 terms"),
        ((1, 26), r"\x. sin x", r"1:5: ∂\^\(26,\) of a primitive, written out, is a sum of more than 2000 terms"),
    ):
        with pytest.raises(TermError, match=message) as caught:
            Taylor.of(*orders).term(checked(text))
        assert caught.value.code == "limit"
    assert str(Taylor.of(2, 31).term(checked(r"\x. -x")))


@pytest.mark.parametrize(("orders", "text"), [((2, 300), r"\x. x*x"), ((2, 31), r"\x. x*x"), ((7, 6), r"\x. sin x")])
def test_sums_that_are_too_many(orders: tuple[int, int], text: str) -> None:
    """They are refused before they are written, and where they would be said."""
    term = checked(text)
    start = time.process_time()
    with pytest.raises(TermError, match=r"1:\d: the coefficients of \S+, .* more than 50000 terms") as caught:
        Taylor.of(*orders).term(term)
    assert caught.value.code == "limit"
    assert time.process_time() - start < 10.0


def test_a_number_times_a_pair_of_vectors() -> None:
    """D_(1,1)(k·⟨v, w⟩) = ⟨⟨kv, k̇v + kv̇⟩, ⟨kw, k̇w + kẇ⟩⟩."""
    V = direct_sum(R, R ** Fin.of(2))
    k, v, w = fresh("k", ground(R)), fresh("v", ground(R)), fresh("w", ground(R ** Fin.of(2)))
    pair = Tuple((v, w))
    term = Lam(Tuple((k, pair)), Prim(bilinear(scalar(V)), Tuple((k, pair)), "·"))
    two = (R ** Fin.of(2)).vec
    jets = ((R.vec(2.0), R.vec(0.5)), ((R.vec(3.0), R.vec(1.0)), (two([1.0, -1.0]), two([4.0, 2.0]))))
    (a, da), (b, db) = call(evaluate(Taylor.of(1, 1).term(term)), jets)
    assert (float(a.array), float(da.array)) == (6.0, 3.5)
    assert (b.array.tolist(), db.array.tolist()) == ([2.0, -2.0], [8.5, 3.5])
