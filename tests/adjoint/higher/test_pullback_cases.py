"""The test cases of the pullback language's specification (§16), as claims in `pullback.lam`."""

from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjoint.higher import differential, pairing, reduce, run
from adjoint.higher.term.claims import RULES, same
from adjoint.higher.value.pullback_values import Neutral
from adjoint.higher.value.stored_types import leafwise
from diff.higher import Module, TermError
from diff.higher.__main__ import main
from diff.lam.files.claims import result_of
from diff.lam.files.type_of_term import type_of
from diff.lam.term.lam_values import on_leaves
from diff.lam.term.terms import fresh
from diff.lam.term.types import INT, REAL, TupleType, dual
from diff.lam.text.items import Claim
from hilbert import R

FILE = Path(__file__).parent / "pullback.lam"
TEXT = FILE.read_text("utf-8")
MODULE = Module()
CLAIMS = list(MODULE.claimed(MODULE.reader.read(TEXT, "pullback.lam")))


@pytest.mark.parametrize(("names", "claim"), [pytest.param(*found, id=str(k)) for k, found in enumerate(CLAIMS)])
def test_cases(names: Module, claim: Claim) -> None:
    result = result_of(names, claim, RULES)
    assert result.found is None, result


def test_no_case_is_missing() -> None:
    """Every case of §16 has its name in the file, and a claim after it."""
    due = "F1 F2 F3 F4 F5 F6 F7 F8 F9 F11 F13 F14 F15 F18 F19 H1 H2 H3 H4 H6 H7 H8 H9 H10 H11 H12 H13 H14 H15 H17"
    due += " H18 H19 H20 H21 H22 H25 H26 H27"
    assert re.findall(r"-- ([FH]\d+)\n(?:reduce|pair|value) ", TEXT) == due.split()


def test_false_claims_fail() -> None:
    """Each claim fails when its last number is another one."""
    false = re.sub(r"^((?:reduce|pair|value|  =).*?)([0-9.]+)(\)*|>\))$", r"\g<1>77.7\3", TEXT, flags=re.MULTILINE)
    report = run(false, "wrong.lam")
    assert sum(r.found is not None for r in report.results) >= len(CLAIMS) - 6


@pytest.mark.parametrize("claim", ["reduce cov(3) = cov(1/0)", "pair cov(1) with 3 = 1/0"])
def test_no_number_of_a_normal_form_is_infinity(claim: str) -> None:
    """Only infinity is."""
    with np.errstate(divide="ignore"):
        assert not run(claim).holds
        assert run("reduce cov(1/0) = cov(1/0)").holds


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (r"\x. sin (k x) = \y. sin (k y)", True),
        (r"\x. sin (k x) = \x. cos (k x)", False),
        ("sin (k 1) = cos (k 1)", False),
        ("cov(1.00000000009) = cov(1)", True),
        ("cov(1.00000000015) = cov(1)", False),
        ("cov(-2.00000000015) = cov(-2)", True),
        ("cov(0.5000000000015) = cov(0.5)", True),
        ("1.00000000015 * k 1 = 1 * k 1", False),
    ],
)
def test_when_normal_forms_are_equal(claim: str, *, holds: bool) -> None:
    """Their primitives are the same, and numbers differ by at most 10⁻¹⁰·max(1, |expected|)."""
    assert run(f"var k : real -> real\nreduce {claim}").holds is holds


def test_a_pullback_in_a_fold() -> None:
    """Each step of a fold has its own element, which its pullback keeps."""
    made = r"fold (e, a). pull(\x. x*e, cov(1)) :: a over [2, 3] from []"
    assert run(f"reduce (let fs = {made} in fold (f, a). f 1 + a over fs from zero) = cov(5)").holds


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "page.lam"
    file.write_text("reduce pull(\\x. x*x, cov(1)) 3 = cov(6)\npair cov(2) with 3 = 7\n", "utf-8")
    assert main([str(file)], run, "adjoint.higher") == 1
    assert capsys.readouterr().out == f"{file}:1: ok\n{file}:2: fails: found 6\n1 of 2 claims hold\n"


def term_of(text: str, definitions: str = "") -> Any:
    module = Module()
    list(module.read(definitions))
    return module.term(text)[0]


# --- what the claims do not say ---


def test_primitives_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """§15: the 12-fold square takes 12 products forward and 12 transposed ones, and nothing else."""
    counted: Counter[str] = Counter()

    def counting(op: Any, leaves: Any) -> Any:
        counted[str(op.cod)] += 1
        return on_leaves(op, leaves)

    monkeypatch.setattr(import_module("adjoint.higher.machine.forward_values"), "on_leaves", counting)
    text = "pull(\\x0. " + "".join(f"let x{k} = mult <x{k - 1}, x{k - 1}> in " for k in range(1, 13)) + "x12, cov(1)) 1"
    assert str(reduce(term_of(text, "prim mult <a, b> = a*b"))) == "cov(4096)"
    assert counted.pop("ℝ ⊕ ℝ") == 12  # (𝒥mult)*
    assert counted.pop("ℝ") == 12 + 12  # mult, and the sum of two covectors
    assert not counted


LISTS = """data Row = End | Row (int * real * Row)
data Bits = Last real | Bit (bool * Bits)
data Nat = O | S Nat
data Two = None | Both (real * real)
"""

SHOWN = [
    (r"pull(\l. l (\m n. m + n) 0, w) (\f d. f 1 d)", "dual(λv. v (λm. λn. m + n) 0, w 1)"),
    (r"pull(\x. k x, cov(1)) 0.4", "dual(λv. diff(k, 0.4, v), cov(1))"),
    (r"pull(\x. z*x*x, cov(1)) 3", "dual(λv. z*v*3 + z*3*v, cov(1))"),
    (r"pull(\x. let a = sin (z*x) in a*a, cov(1)) 3", None),
    (r"pull(\x. \y. sin (x*y), \f. eta f) 2", "dual(λv. λx. jac(sin, v*x) (2*x), eta (λx. sin (2*x)))"),
    (r"\x. z + x", "λx. z + x"),
    (r"(\f x. f (f x)) k", "λx. k (k x)"),
    (r"pull(\x. x, w)", "pull(λx. x, w)"),
    (r"case u of {Nothing -> z | Just x -> x}", "case u of {Nothing → z | Just x → x}"),
    (r"(\y. case u of {Nothing -> y | Just x -> x + y}) 2", "case u of {Nothing → 2 | Just x → x + 2}"),
    (r"if less(z, 1) then 2 else z", "if less ⟨z, 1⟩ then 2 else z"),
    (r"pull(\x. sharp(pull(\y. k (y*x), cov(1)) x), cov(1)) 2", None),
    (r"sharp(w 2)", "sharp(w 2)"),
    (r"case sharp(eta2) of <x, y> -> x*y", "pi_1 sharp(eta2)*pi_2 sharp(eta2)"),
    (r"w 2 + cov(3)", "w 2 + cov(3)"),
    (r"diff(k, 2, 3) + 1", "diff(k, 2, 3) + 1"),
    (r"(\<x, y>. x*y) diff(pair, 2, 3)", "pi_1 diff(pair, 2, 3)*pi_2 diff(pair, 2, 3)"),
    (r"case diff(of_two, <1, 2>, <3, 4>) of x -> x*x", None),
    (r"pull(\x. diff(k, x, 2), cov(1)) 3", "pull(λx. diff(k, x, 2), λ_. cov(1)) 3"),
    (r"pull(\x. diff(k, x, x), cov(1)) 3", "pull(λx. diff(k, x, x), λ_. cov(1)) 3"),
    (r"pull(\x. diff(k, 2, x), cov(1)) 3", "dual(λv. diff(k, 2, v), cov(1))"),
    (
        r"pull(\x. diff(pair, 2, x), \y. cov(1, 2)) 3",
        "dual(λv. let d = diff(pair, 2, v) in ⟨pi_1 d, pi_2 d⟩, cov(1, 2))",
    ),
    (
        r"pull(\y. sharp(pull(\x. diff(k, y, x), cov(1)) 3), cov(1)) 2",
        "pull(λy. sharp(pull(λx. diff(k, y, x), λ_. cov(1)) 3), λ_. cov(1)) 2",
    ),
    (r"pull(\(f : Maybe real -> real). f (Just 2) * 3, w) (\m. 1)", "dual(λv. v (Just 2)*3, w 3)"),
    (r"pull(\(f : real -> real). f (f 2), w) (\x. x*x)", "dual(λv. let d = v 2 in d*4 + 4*d + v 4, w 16)"),
    ("bidual", "bidual"),
    (r"diff(\x. exp x, 3, z)", "exp' ⟨3, z⟩"),
    (
        r"pull(\f. pull(\x. f x, cov(1)) 2, w2) (\y. y*y)",
        "dual(λv. cov(sharp(dual(λu. diff(v, 2, u), cov(1)))), w2 cov(4))",
    ),
    (r"diff(\f. f 2 + f 3, \x. x, sin)", "1.0504174348855"),
]
FREE = "data Maybe a = Nothing | Just a\nvar z : real\nvar k : real -> real\nvar w : real -> real^*\n"
FREE += "var u : Maybe real\nvar eta : (real -> real) -> (real -> real)^*\nvar eta2 : (real * real)^*"
FREE += "\nvar w2 : real^* -> real^*^*\nvar pair : real -> real * real\nvar of_two : real * real -> real"
FREE += "\nvar bidual : real^*^*"


@pytest.mark.parametrize(("text", "due"), SHOWN, ids=[text for text, _ in SHOWN])
def test_free_variables_stop(text: str, due: str | None) -> None:
    """A term with free variables reduces as far as they allow, and no further; reducing again changes nothing."""
    term = reduce(term_of(text, FREE))
    if due is not None:
        assert str(term).startswith(due)
    assert reduce(term) == term


BAD = [
    ("shape", r"dual(\(l : list real). 1*0, cov(1))", "there is no 0 of list real"),
    ("type", r"cov(\x. x)", "cov takes numbers"),
    (
        "type",
        r"pull(\x. x, \(y : R^2). cov(1, 1))",
        r"the result is of type \(real \* real\)\^\* where R\^2\^\* is due",
    ),
    ("type", r"dual(\(v : R^2). v, cov(1))", "the covector is of type"),
    ("type", "diff(3, 2, 1)", "1:6: what is differentiated is of type real"),
    ("type", r"pull(\(m : list (real -> real)). 1, cov(1)) [sin]", "it holds functions"),
]


@pytest.mark.parametrize(("code", "text", "message"), BAD)
def test_errors(code: str, text: str, message: str) -> None:
    with pytest.raises(TermError, match=message) as caught:
        reduce(term_of(text))
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (r"pull(\h. h 2 * h 3 + h (1 + 1), cov(1)) (\a. a*a)", "ev(2; cov(10)) + ev(3; cov(4))"),
        (r"pull(\h. h 2 - h (3 - 1) + h 1, cov(1)) sin", "ev(1; cov(1))"),
        (r"pull(\h. h (h 2), cov(1)) (\a. 2)", "ev(2; cov(1))"),
        (r"pull(\h. case h 2 of <a, b> -> a, cov(1)) (\x. <x, x>)", "ev(2; cov(1, 0))"),
        (r"pull(\h. case h 2 of <a, b> -> a - a, cov(1)) (\x. <x, x>)", "zero"),
        (r"(\y. <y, y>) (zero : (real -> real)^*)", "⟨zero, zero⟩"),
    ],
)
def test_evaluations_at_one_number_are_one(text: str, due: str) -> None:
    """c(h a) + d(h a) = (c + d)(h a), and is left out where that is 0."""
    assert str(reduce(term_of(text))) == due


def test_a_function_that_moves_and_has_captured_what_moves() -> None:
    """f x of both: λb. x·b² has the tangent of f, and that of x, which is 2²."""
    text = r"pull(\(f, x). f x, \_. ev(2; cov(1))) ((\a. \b. a*b*b), 3)"
    assert str(reduce(term_of(text))) == "cov(ev(3; ev(2; cov(1))), 4)"


def test_neutral_covectors_are_leaves_of_their_type() -> None:
    """What stands for a covector has the type σ*, and is not taken apart as a σ is; a value of σ* is."""
    ty = dual(TupleType((REAL, REAL)))
    seen: list[Any] = []

    def step(value: Any, kind: Any) -> Any:
        seen.append((value, kind))
        return value

    one = Neutral(fresh("c", ty), ty)
    two = R.vec(2.0), R.vec(3.0)
    assert leafwise((one, two, 5), TupleType((ty, ty, INT)), step) == (one, two, 5)
    assert seen == [(one, ty), (two[0], REAL), (two[1], REAL)]


MOVING = [  # an entry of a covector of functions that moves, and the same number by 𝒟
    (
        r"pull(\(g : real -> real). pull(\(h : real -> real). h (h (g 2)), \_. cov(1)) sin, \_. eps(cos)) sin",
        r"pull(\(g : real -> real). diff(\(h : real -> real). h (h (g 2)), sin, cos), cov(1)) sin",
    ),
    (
        r"pull(\y. (ev(y; cov(1)) : (real -> real)^*), \_. eps(sin)) 3",
        r"pull(\y. sin y, cov(1)) 3",
    ),
    (
        r"pull(\y. (dv(y, y*y; cov(1)) : (real -> real)^*), \_. eps(sin)) 3",
        r"pull(\y. diff(sin, y, y*y), cov(1)) 3",
    ),
    (
        r"pull(\(g : real -> real). pull(\(h : real -> real). diff(h, g 2, g 1), \_. cov(1)) sin, \_. eps(cos)) sin",
        r"pull(\(g : real -> real). diff(\(h : real -> real). diff(h, g 2, g 1), sin, cos), cov(1)) sin",
    ),
    (
        r"pull(\x. pull(\(f : (real -> real) -> real). f (\y. x*y), \_. cov(1)) (\f. f 2), \_. eps(\f. f (f 3))) 2",
        r"pull(\x. diff(\(f : (real -> real) -> real). f (\y. x*y), \f. f 2, \f. f (f 3)), cov(1)) 2",
    ),
    (
        r"pull(\y. (ev(y*y; cov(y)) : (real -> real)^*), \_. eps(sin)) 3",
        r"pull(\y. y * sin (y*y), cov(1)) 3",
    ),
    (
        r"pull(\y. (dv(2, 3; cov(y*y)) : (real -> real)^*), \_. eps(sin)) 3",
        r"pull(\y. y*y * diff(sin, 2, 3), cov(1)) 3",
    ),
]


@pytest.mark.parametrize(("text", "by_diff"), MOVING, ids=[text for text, _ in MOVING])
def test_covectors_of_functions_that_move(text: str, by_diff: str) -> None:
    """Moving ev(a; c) and dv(a, u; c) are transposed in all that moves of them."""
    assert same(reduce(term_of(text)), reduce(term_of(by_diff)))


def test_a_functional_that_differentiates_its_function() -> None:
    """Twice: the message has the number along one direction, d/ds F(g + s·u) at 0, which reduces."""
    module = Module()
    assert not list(module.read(r"def ff f = diff(\y. diff(f, y, 1), 0.3, 1)"))
    term = module.term(r"diff(ff, \x. x^3, \x. x^2)")[0]
    functional, at = module.term("ff")[0], module.term(r"\x. x^3")[0]
    for made in (lambda: reduce(term), lambda: differential(functional, at)):
        with pytest.raises(TermError, match=r"differentiates f itself, diff") as caught:
            made()
    remedy = caught.value.message.partition("where t differentiates f itself, ")[2]
    for name, text in ((r"(\f. t)", "ff"), ("g x", "x^3"), ("u x", "x^2")):
        remedy = remedy.replace(name, text)
    assert remedy == r"diff(\s. ff (\x. x^3 + s*x^2), 0, 1)"
    assert same(reduce(module.term(remedy)[0]), module.term("2")[0])


SUMS = [
    (r"pull(\x. jac(sin, x) + jac(sin, 1), \f. ev(2; cov(1))) 3", "cov(-0.4161468365471424)"),
    (r"pull(\x. jac(sin, 1) + jac(sin, x), \f. ev(2; cov(1))) 3", "cov(-0.4161468365471424)"),
    (r"pull(\x. (\y. x*y) + sin, \k. dual(\(h : real -> real). h 5, cov(1))) 3", "cov(5)"),
    (r"pull(\x. sin + (\y. x*y), \k. dual(\(h : real -> real). h 5, cov(1))) 3", "cov(5)"),
    (r"pull(\x. let f = (\y. x*y) + sin in pull(\y. f y, cov(1)) x, \_. eps(1)) 3", "cov(0.8588799919401328)"),
]


@pytest.mark.parametrize(("text", "due"), SUMS)
def test_sums_of_functions_that_move(text: str, due: str) -> None:
    """Each summand's free variables move, whichever it is."""
    assert str(reduce(term_of(text))) == due


def test_pairs_have_the_same_tags() -> None:
    """A direction at a variant has its tags: ⟪c, d⟫ is an error where it has not."""
    covector = term_of(r"pull(\m. case m of {Nothing -> 0 | Just x -> x*x}, cov(1)) (Just 3)", FREE)
    assert float(pairing(covector, term_of("Just 2", FREE))) == 12.0
    with pytest.raises(TermError, match="a covector at Just is paired with a direction at Nothing") as caught:
        pairing(covector, term_of("(Nothing : Maybe real)", FREE))
    assert caught.value.code == "shape"


@pytest.mark.parametrize(
    ("covector", "direction", "due"),
    [
        (
            r"pull(\l. fold l of {End -> 0 | Row <n, x, a> -> x*x + a}, cov(1)) (Row <2, 3, Row <1, 5, End>>)",
            "Row <4, 1, Row <3, 2, End>>",
            26.0,
        ),
        (
            r"pull(\b. fold b of {Last x -> x*x | Bit <b, a> -> if b then a*2 else a}, cov(1)) (Bit <true, Last 3>)",
            "Bit <false, Last 2>",
            24.0,
        ),
        ("dv(2, 3; cov(5))", r"\x. x*x*x", 180.0),
        ("cov(2, 3)", "<5, 7>", 31.0),
        ("cov([|2, 3|])", "[|5, 7|]", 31.0),
    ],
)
def test_pairs_of_data(covector: str, direction: str, due: float) -> None:
    """The sum over numbers; what is discrete counts for nothing."""
    assert float(pairing(term_of(covector, LISTS), term_of(direction, LISTS))) == due


def test_pairs_are_closed() -> None:
    with pytest.raises(TermError, match="free variable"):
        pairing(term_of("w 1", FREE), term_of("1"))
    with pytest.raises(TermError, match="a covector is paired with a direction"):
        pairing(term_of("1"), term_of("1"))


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("jac(less, <1, 2>) <3, 4>", "false"),
        (r"diff(\x. less(x, 1), 2, 3)", "false"),
        (r"diff(\x. <x*x, less(x, 1)>, 2, 3)", "⟨12, false⟩"),
        (r"pull(\x. if jac(less, <x, 2>) <3, 4> then x else x*x, cov(1)) 3", "cov(6)"),
    ],
)
def test_what_is_discrete_does_not_move(text: str, due: str) -> None:
    """Of truth values any element is the tangent."""
    assert str(reduce(term_of(text))) == due


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (r"pull(\x. q <<x, 2>, x>, cov(1)) 3", "cov(12)"),
        (r"pull(\x. q <<2, x>, 5>, cov(1)) 3", "cov(10)"),
        (r"pull(\x. q <<2, 5>, x>, cov(1)) 3", "cov(10)"),
        (r"pull(\<x, y>. q <<x, y>, 5>, cov(1)) <3, 2>", "cov(10, 15)"),
    ],
)
def test_parts_of_an_argument_that_move(text: str, due: str) -> None:
    """Of a primitive whose argument has parts in parts: any of its numbers may move."""
    assert str(reduce(term_of(text, "prim q <<a, b>, c> = a*b*c"))) == due


N = 3000
ONES = ", ".join(["1"] * N)
CHURCH = r"(fold (e, k). \f d. k f (f e d) over l from \f d. d) (\m n. m*m + n) 0"
LONG = [
    r"pull(\x. " + "sin (" * N + "x" + ")" * N + ", cov(1)) 1",
    r"pull(\x0. " + "".join(f"let x{k} = x{k - 1} * 1 in " for k in range(1, N)) + f"x{N - 1}, cov(1)) 1",
    rf"pull(\l. fold (e, a). e*e + a over l from 0, cov(1)) [{ONES}]",
    rf"pull(\l. {CHURCH}, cov(1)) [{ONES}]",
    r"pull(\h. " + "h (" * N + "1" + ")" * N + r", cov(1)) (\a. a)",
]


@pytest.mark.parametrize("k", range(5))
def test_long_terms(k: int) -> None:
    """No recursion: thousands of steps, list elements and applications of one function."""
    assert str(reduce(term_of(LONG[k])))


@pytest.mark.parametrize(
    "text", ["eps(u)", "eps(eps(u))", "eps(cov(u))", "sharp(eps(u))", "eps(k u)", "eps(c)", "eps(k)"]
)
def test_covectors_of_free_variables_keep_their_type(text: str) -> None:
    """pt(u) is stored as u, and is read as a covector of its own type."""
    term = term_of(text, "var u : real\nvar k : real -> real\nvar c : real^*")
    assert type_of(reduce(term)) is type_of(term)


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (
            r"pull(\l. fold l of {End -> 0 | Row <n, x, a> -> x*x + a}, cov(1)) (Row <(2 : int), 3, Row <1, 5, End>>)",
            "cov(Row ⟨2, 6, Row ⟨1, 10, End⟩⟩)",
        ),
        (
            r"pull(\b. fold b of {Last x -> x*x | Bit <b, a> -> if b then a*2 else a}, cov(1)) (Bit <true, Last 3>)",
            "cov(Bit ⟨true, Last 12⟩)",
        ),
        (r"pull(\<n, x>. fold n of {O -> x*x | S a -> a*2}, cov(1)) <S (S O), 3>", "cov(S (S O), 24)"),
        (r"pull(\t. case t of {None -> 1 | Both <a, b> -> a*b}, cov(1)) (Both <2, 3>)", "cov(Both ⟨3, 2⟩)"),
        (
            r"pull(\l. fold (<b, e>, a). if b then e*e + a else a over l from 0, cov(1)) [<true, 2>, <false, 3>]",
            "cov([⟨true, 4⟩, ⟨false, 0⟩])",
        ),
    ],
)
def test_covectors_on_data(text: str, due: str) -> None:
    """Numbers stand in the places of numbers; what is discrete stays, and so do the tags."""
    assert str(reduce(term_of(text, LISTS))) == due


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("sin", "λx. sin x"),
        (r"\x. x*x", "λx. x*x"),
        ("jac(sin, 2)", "jac(sin, 2)"),
        ("sin + cos", "λx. sin x + cos x"),
        (r"pull(\x. x*x, cov(1))", "pull(λx. x*x, λ_. cov(1))"),
        ("pt(jac(sin, 2))", "eps(jac(sin, 2))"),
        ("<jac(sin, 2), 1>", "⟨jac(sin, 2), 1⟩"),
        ("ev(3; cov(2))", "ev(3; cov(2))"),
        ("(zero : (real -> real)^*)", "zero"),
    ],
)
def test_points_of_functions(text: str, due: str) -> None:
    """pt(u) is stored as u, and read as pt(u), whatever the function."""
    term = term_of(f"pt({text})")
    assert str(reduce(term)) == f"eps({due})"
    assert type_of(reduce(term)) is type_of(term)


def test_pairing_of_an_evaluation_and_a_functional() -> None:
    """⟪pt(u), φ⟫ = φ(u), at both orders of the two."""
    assert float(pairing(term_of(r"pt(\(x : real). x*x)"), term_of("ev(3; cov(2))")).array) == 18.0
    assert float(pairing(term_of("ev(3; cov(2))"), term_of(r"\(x : real). x*x")).array) == 18.0


def test_the_tangent_of_a_functional_that_stays() -> None:
    """𝒟(λx. ⟨x², φ⟩)(a)(u) = ⟨2au, 0⟩."""
    assert str(reduce(term_of(r"diff(\(x : real). <x*x, ev(1; cov(1))>, 2, 3)"))) == "⟨12, zero⟩"


def test_a_free_function_and_one_that_moves() -> None:
    """k y + f(y) along f: the derivative of a term that has no value and of one that moves is of both."""
    term = term_of(r"pull(\f. diff(f, 2, 1), cov(1)) (\x. k x)", "var k : real -> real")
    assert str(reduce(term)) == "dv(2, 1; cov(1))"


@pytest.mark.parametrize("text", [r"diff(\x. diff(k, x, x), 2, 1)", r"pull(\x. diff(k, x, x), \_. cov(1)) 2"])
def test_a_free_function_whose_argument_moves_twice(text: str) -> None:
    """Its second derivative is no term: what asks for it stays."""
    term = term_of(text, "var k : real -> real")
    assert str(reduce(term)) == str(term)


@pytest.mark.parametrize("of", ["m x", "c"])
def test_derivatives_at_unknown_tags_stay(of: str) -> None:
    """A tag that is a free variable's stops a derivative, which is then the term itself."""
    text = rf"diff(\x. case {of} of {{Nothing -> 0 | Just y -> y*x}}, 2, 1)"
    term = term_of(text, "data Maybe a = Nothing | Just a\nvar m : real -> Maybe real\nvar c : Maybe real")
    assert reduce(term) == term


def test_a_direction_has_the_tags_of_the_point() -> None:
    """As many numbers under other tags are no direction."""
    m = Module()
    list(m.read("data E = A real | B real\n"))
    f = r"\m. case m of {A x -> x*x | B x -> x}"
    assert str(reduce(m.term(f"diff({f}, A 1, A 2)")[0])) == "4"
    for text in (f"diff({f}, A 1, B 2)", r"diff(\p. case p of <m, y> -> y, <B 1, 2>, <A 1, 0>)"):
        with pytest.raises(TermError, match="the direction has other tags, or another length, than the point"):
            reduce(m.term(text)[0])
