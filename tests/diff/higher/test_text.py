"""The text of the λ-language: printing and parsing, inference, errors with their code and place."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from diff import sin
from diff.higher import Module, Taylor, TermError, evaluate, run
from diff.lam.check.resolve import Dialect
from diff.lam.run.scalar_partials import partial
from diff.lam.show.show_values import show_value
from diff.lam.term.binding import captured, mapped
from diff.lam.term.former import Former
from diff.lam.term.inductive import LIST, list_of
from diff.lam.term.lam_values import applied
from diff.lam.term.terms import AnyTerm, App, Branch, Con, Lam, Lit, Name, Plus, Prim, Tuple, below, real
from diff.lam.term.types import Arrow, DataType, TupleType, ground, unknown
from diff.lam.text.item_parser import Reader
from diff.lam.text.parser import Parser
from diff.lam.text.tokens import tokens
from hilbert import R, direct_sum
from hilbert.base.term import compared, driven, postorder
from tests.lambda_terms import Terms
from tests.lambda_terms import module as generated_module

DEFINITIONS = r"""
data Maybe a = Nothing | Just a
data Rose a = Node (a * list (Rose a))
data Tree = Leaf real | Fork (Tree * Tree)
data Nat = Zero | Suc Nat
def twice f u = f (f u)
def map f l = fold (e, a). f e :: a over l from []
def sum l = fold (e, a). e + a over l from 0
def fact (n : real) : real = if less(n, 1) then 1 else n * fact (n - 1)
def total t = fold t of {Node <v, rs> -> v + sum rs}
def depth t = fold t of {Leaf x -> 0 | Fork <a, b> -> 1 + a}
def count n = fold n of {Zero -> 0 | Suc k -> k + 1}
prim g <x, y> = <x + 1, 2*x + y^2>
var h : real -> real
"""


def module() -> Module:
    made = Module()
    assert not list(made.read(DEFINITIONS))
    return made


def parsed(text: str, m: Module | None = None) -> AnyTerm:
    reader = (m or module()).reader
    p = Parser(tokens(text, "t.lam"), reader.types, frozenset(reader.names))
    term: AnyTerm = driven(p.term())
    assert p.token.kind == "end", p.token
    return term


VALUES = [
    (r"twice twice (\v. 2*v) 3", "real", "48"),
    (r"map (\x. x*x) [1, 2, -3]", "list real", "[1, 4, 9]"),
    ("fact 5", "real", "120"),
    ("total (Node <1, [Node <2, []>, Node(3, [Node <4, []>])]>)", "real", "10"),
    ("depth (Fork <Fork <Leaf 1, Leaf 2>, Leaf 3>)", "real", "2"),
    ("count (Suc (Suc Zero))", "real", "2"),
    (r"(\(x : R^3). x + x) [|1, 2, 3|]", "R^3", "[|2.0, 4.0, 6.0|]"),
    ("[|[1, 2], [3, 4]|] @ [|1, -1|]", "R^2", "[|-1.0, -1.0|]"),
    ("([|1, 2|] : R^(Pixel:2))", "R^(Pixel:2)", "[|1.0, 2.0|]"),
    ("g <2, 3>", "real * real", "⟨3, 13⟩"),
    ("-2^2", "real", "-4"),
    ("2 - -3", "real", "5"),
    ("sin 0 / 2", "real", "0"),
    ("pi_2 <1, Just 3>", "Maybe real", "Just 3"),
    ("1 :: 2 :: []", "list real", "[1, 2]"),
    ("case [1, 2] of {Nil -> 0 | Cons <x, r> -> x}", "real", "1"),
    ("(2 : int)", "int", "2"),
    ("<Just <1, ()>, true>", "Maybe (real * unit) * bool", "⟨Just ⟨1, ()⟩, true⟩"),
    ("and(less(1, 2), not (equal(1, 2)))", "bool", "true"),
    (r"λx. ⟨x, ς x⟩", "real → real * real", "λx. ⟨x, sigmoid x⟩"),
    (r"let x = 2 in let x = x*x in \x. x", "a → a", None),
    (r"let f = \<h, x>. h x + x in f <\y. f <\w. w, 10*y>, 1>", "real", "21"),
    ("1e-3 + 2.50", "real", "2.501"),
    (r"(\f. <f 1, f 2>) (\x. x + 1)", "real * real", "⟨2, 3⟩"),
    ("(sin : R^3 -> R^3)", "R^3 → R^3", None),
    (r"(\p. pi_1 p) <1, 2>", "real", "1"),
    ("let o = 5 in 7 -o", "real", "2"),
    (r"(\x y. x) 1 2 -- a comment", "real", "1"),
]


@pytest.mark.parametrize(("text", "ty", "value"), VALUES, ids=[t for t, _, _ in VALUES])
def test_types_and_values(text: str, ty: str, value: str | None) -> None:
    m = module()
    assert str(m.general(parsed(text, m))[0]) == ty
    if value is not None:
        assert show_value(evaluate(m.checked(parsed(text, m))[0])) == value


SHOWN = [
    "λ⟨x, y⟩. sin x / y - x*(y + 2)^3",
    "(λ(x : R^3). x + x) [|1.0, 2.0, 3.0|]",
    "case ⟨1, 2⟩ of ⟨x, y⟩ → x - y",
    "let x = 2 in let y = x*x in ⟨x, y, λx1. x1 + y⟩",
    "pull(λx. (λf. f x) (λa. a*x), λ_. cov(1))",
    "dual(λ⟨x, y⟩. x + y, cov(1))",
    "λf. diff(f, 1, 2)",
    "fold (e, k). λs. k (s^2 + e) over [1, 3] from λs. s",
    "fold [1] of {Nil → 0 | Cons x → pi_1 x}",
    "if less ⟨1, 2⟩ then [] else [1]",
    "λx. (-x)^2 - -x^2",
    "λx. 1 - (2 - x) - 3*(x / (2*x))",
    "jac(sin, 1)",
    "λx. ev(x; cov(1))",
    "λx. λu. dv(x, u; cov(1))",
    "λx. eps(x)",
    "Just (Just 1)",
    "Fork ⟨Leaf 1, Leaf (-2)⟩",
    "λl. 1 :: l",
    "(λ(a : real * real). a + a) ⟨1, 0.5⟩",
    "λ(x : real * real). 1",
    "λx. λ(f : bool → real). λy. x*y",
    "λ⟨x, y⟩. 1",
    "λ(⟨x, l⟩ : real * list real). x + 1",
    "λ(l : list real). l",
    "λ⟨x, y⟩. if less ⟨x, y⟩ then not (equal ⟨y, x⟩) else true",
]


@pytest.mark.parametrize("text", SHOWN)
def test_print_after_parse(text: str) -> None:
    """print ∘ parse = id on the readable form, before and after checking."""
    m = module()
    assert str(parsed(text, m)) == text
    assert str(m.checked(parsed(text, m))[0]) == text


SIZES = [*((seed, 40) for seed in range(80)), (280, 10), (19, 100), (138, 100)]
"""Seeds and sizes; the last ones have sums of tuples in functions whose argument is a tuple."""


@pytest.mark.parametrize(("seed", "size"), SIZES)
def test_parse_after_print(seed: int, size: int) -> None:
    """parse ∘ print = id up to names and signs of numbers, as the text shows."""
    m = generated_module()
    terms = Terms(seed)
    ty = terms.type()
    term = terms.term(ty, (), size)
    again, found = m.checked(parsed(str(term), m), ty)
    assert found is ty
    assert str(again) == str(term)


@pytest.mark.parametrize("seed", range(200))
def test_types_after_print(seed: int) -> None:
    """A text alone has the types of its term: they are found, or written."""
    terms = Terms(seed)
    ty = terms.type()
    term = terms.term(ty, (), 20)
    again, found = generated_module().term(str(term))
    assert found is ty
    assert with_signs(again) == with_signs(term)


def with_signs(term: AnyTerm) -> AnyTerm:
    """The term with the negatives of numbers as numbers."""

    def step(node: AnyTerm) -> AnyTerm | None:
        match node:
            case Prim(_, Lit(value), "-"):
                return Lit(-value)
            case _:  # it stays
                return None

    return mapped(mapped(term, step), step)


CODES = [
    ("infinite", r"\x. x x", "1:5"),
    ("unbound", "1 + y", "1:5"),
    ("unbound", "Foo 1", "1:1"),
    ("type", "sin sin", "1:5"),
    ("type", "<1, 2> 3", "1:1"),
    ("type", "pi_3 <1, 2>", "1:1"),
    ("type", r"\x. pi_1 x", "1:5"),
    ("type", "1 + [2]", "1:5"),
    ("type", "if 1 then 2 else 3", "1:4"),
    ("type", "if true then 1 else [2]", "1:21"),
    ("type", "case Just 1 of {Nothing -> 2 | Just x -> [x]}", "1:42"),
    ("type", "[|1, 2|] + [|1, 2, 3|]", None),
    ("type", "(1 : R^2)", "1:2"),
    ("type", "Nothing 1", None),
    ("branches", "case Just 1 of {Nothing -> 2}", "1:1"),
    ("branches", "case Just 1 of {Nothing -> 2 | Nothing -> 3 | Just x -> x}", "1:32"),
    ("branches", "case Just 1 of {Leaf x -> 2}", "1:17"),
    ("shape", "[|[1, 2], [3]|]", "1:1"),
    ("linear", r"dual(\v. v*v, cov(1))", "1:1"),
    ("linear", r"dual(\v. sin v, cov(1))", "1:1"),
    ("syntax", "(1, 2", "1:6"),
    ("syntax", "1 +", "1:4"),
    ("syntax", r"\<x, x>. x", "1:6"),
    ("syntax", "x^y", "1:3"),
    ("syntax", "2 ? 3", "1:3"),
]


@pytest.mark.parametrize(("code", "text", "place"), CODES, ids=[t for _, t, _ in CODES])
def test_errors(code: str, text: str, place: str | None) -> None:
    m = module()
    with pytest.raises(TermError) as caught:
        m.checked(parsed(text, m))
    assert caught.value.code == code, caught.value
    if place:
        assert str(caught.value).startswith(f"t.lam:{place}: "), caught.value


MISMATCHES = [
    ("1:6", r"(\x. x : real -> bool)", "the result is of type real where bool is due"),
    (
        "1:2",
        "([1] : list (list real))",
        "what Cons takes is of type real * list (list real) where list real * list (list real) is due",
    ),
    (
        "1:2",
        "(<1, <2, 3>> : real * (real * bool))",
        "the term is of type real * (real * real) where real * (real * bool) is due",
    ),
    (
        "1:6",
        r"(\f. <f, f 1> : (real -> real) -> bool * bool)",
        "the result is of type (real → real) * real where bool * bool is due",
    ),
    ("1:5", r"((\(x : real). x) : bool -> real)", "the argument is of type bool where real is due"),
    ("1:13", r"(\x. sin x) <1, 2>", "the argument is of type real * real where real is due"),
    ("1:14", r"\x. <pi_1 x, sin x>", "the argument of a primitive is of type ? * ? where real is due"),
    ("1:19", r"(\x. <x, pi_3 x>) <1, 2>", "the argument is of type real * real where ? * ? * ? is due"),
    ("1:3", "g 1", "the argument is of type real where real * real is due"),
    ("1:6", "Cons 1", "what Cons takes is of type real where ? * list ? is due"),
    ("1:18", "let (x : bool) = 1 in x", "the value is of type real where bool is due"),
    ("1:4", "if 1 then 2 else 3", "the condition is of type real where bool is due"),
    ("1:21", "if true then 1 else [2]", "the other branch is of type list real where real is due"),
    (
        "1:44",
        "if true then less([|1, 2|], [|1, 2|]) else [|1, 2|]",
        "the other branch is of type R^2 where Bool^2 is due",
    ),
    ("1:10", "<1, 2> + <1, true>", "a part of + is of type real * bool where real * real is due"),
    ("1:5", "pow <1, [2]>", "the argument of pow is of type list real where real is due"),
    ("1:6", "case 1 of {Nothing -> 1 | Just x -> x}", "what is taken apart is of type real where Maybe ? is due"),
    ("1:6", "fold 1 of {Nil -> 0 | Cons <x, y> -> y}", "what is folded is of type real where list ? is due"),
    ("1:45", "case Just 1 of {Nothing -> true | Just x -> x}", "the branch Just is of type real where bool is due"),
    ("1:32", "case Just 1 of {Nothing -> 1 | Just <x, y> -> x}", "what Just binds is of type ? * ? where real is due"),
    ("1:22", r"pull(\(x : real). x, sin)", "the 1-form is of type real → real where real → real^* is due"),
    ("1:15", r"dual(\x. 2*x, true)", "the covector is of type bool where real^* is due"),
    ("1:25", r"dual(\x. ev(x; cov(1)), cov(1))", "the covector is of type real^* where ((? → real)^*)^* is due"),
    ("1:10", "jac(sin, <1, 2>)", "the direction is of type real * real where real is due"),
    ("1:11", "diff(sin, true, 1)", "the point is of type bool where real is due"),
    ("1:14", "diff(sin, 1, true)", "the direction is of type bool where real is due"),
    ("1:6", "diff(1, 1, 1)", "what is differentiated is of type real where ? → ? is due"),
    ("1:7", "ev(1; 2)", "the covector is of type real where ?^* is due"),
    ("1:7", "dv(1, true; cov(1))", "the direction is of type bool where real is due"),
    ("1:7", "sharp(1)", "the covector is of type real where ?^* is due"),
]


@pytest.mark.parametrize(("place", "text", "said"), MISMATCHES, ids=[t for _, t, _ in MISMATCHES])
def test_a_mismatch_shows_both_types(place: str, text: str, said: str) -> None:
    """What is meant, both types and the place; types that agree at first are not written as one type."""
    m = module()
    with pytest.raises(TermError) as caught:
        m.checked(parsed(text, m))
    assert re.sub(r"\?\d+", "?", str(caught.value)) == f"t.lam:{place}: {said}"


@pytest.mark.parametrize(("place", "text"), [row[:2] for row in MISMATCHES], ids=[t for _, t, _ in MISMATCHES])
def test_a_mismatch_of_a_part_without_a_place(place: str, text: str) -> None:
    """It is at the place of the term around."""
    m = module()
    term = parsed(text, m)
    cls: type = type(term)
    parts = [part for part in below(term) if not isinstance(part, (Branch, Con, Name))]
    if f"t.lam:{place}" in {str(part.place) for part in parts}:
        fields = {name: _without_places(getattr(term, name)) for name in compared(cls)}
        with pytest.raises(TermError) as caught:
            m.checked(evolve(term, **fields))
        assert caught.value.place == term.place


def _without_places(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(map(_without_places, part))
    return evolve(part, place=None) if isinstance(part, Former) and not isinstance(part, (Branch, Con, Name)) else part


ITEMS = [
    ("positive", "data Bad = Bad (Bad -> real)"),
    ("positive", "data Arr a = Arr (a -> real)\ndata Bad = Bad (Arr Bad)"),
    ("recursion", "def loop x = loop x"),
    ("recursion", "data Nest a = Nest (Nest (a * a))"),
    ("unbound", "data T = T b"),
    ("branches", "data T = A | A"),
    ("syntax", "def = 1"),
    ("syntax", "  def x = 1"),
    ("syntax", "value 1 = 1 = 1"),
    ("syntax", "prim p = 3"),
    ("type", r"prim p f = f (f 1)"),
    ("unbound", "prim p x = y"),
]


@pytest.mark.parametrize(("code", "text"), ITEMS)
def test_errors_of_items(code: str, text: str) -> None:
    with pytest.raises(TermError) as caught:
        list(Module().read(text, "t.lam"))
    assert caught.value.code == code, caught.value
    assert re.match(r"t\.lam:\d+:\d+: ", str(caught.value))


CLAIMS = r"""
type twice = (a -> a) -> a -> a
type map = (a -> b) -> list a -> list b
type \x. x = real -> real
type h = real -> real
value map sin [0] = [0]
grad \<x, y>. x*y at <2, 3> = <3, 2>
grad \l. sum (map (\x. x*x) l) at [1, 2] = [2, 4]
grad \(x : R^2). inner(x, x) at [|1, 2|] = [|2, 4|]
value 1 = 1.00000000001
error limit : (\x. x) (let f = 1 in f) + fall 1
error syntax : ) ] ? §
error type : def bad = sin sin
error recursion : def bad x = bad x
error positive : data Bad = Bad (Bad -> real)
"""


def test_claims() -> None:
    report = run(DEFINITIONS + "def fall (n : real) : real = fall (n + 1)\n" + CLAIMS, "t.lam")
    assert report.holds, report


FALSE = r"""
type \x. x + 1 = a -> a
value 1 = 1.0001
value 1 = 1.000000001
value [1] = [1, 1]
value \x. x = \x. x
value map = map
grad \x. x*x at 3 = 7
taylor (1,1) sin at <0, 1> = <0, 2>
taylor {00,11} \x. x at <0, 0> = <0, 0>
error type : 1
error syntax : 1
error unbound : sin sin
reduce 1 = 1
error positive : data Good = Good (real -> Good)
"""


def test_false_claims() -> None:
    report = run(DEFINITIONS + FALSE, "t.lam")
    assert [r.line for r in report.results if r.found is None] == []
    assert "order" in str(report)


def test_free_variables_and_near_names() -> None:
    m = module()
    with pytest.raises(TermError, match=r"t\.lam:1:5: the free variable h has no value"):
        evaluate(m.checked(parsed("1 + h 2", m))[0])
    with pytest.raises(TermError, match="sinn is not bound; near: sin"):
        m.term("sinn 1")


PULLBACKS = r"""
type \c. dual(\v. c * v, cov(1)) = real -> real^*
type pull(\(f : real -> real). f 1, cov(1)) = (real -> real) -> (real -> real)^*
type \f a u. diff(f, a, u) = (a -> b) -> a -> a -> b
type \c. sharp(c) = a^* -> a
type eps(1) = real^*^*
type ev(2; cov(1)) = (real -> real)^*
type \x u. dv(x, u; cov(1)) = a -> a -> (a -> real)^*
type jac(g, <1, 2>) = real * real -> real * real
type zero = a
type cov([|1, 2|]) = (R^2)^*
type \f u. let w = f u in dual(\v. let z = <v, w> in pi_1 z, cov(1)) = (a -> b) -> a -> real^*
error linear : dual(\x. x*x, cov(1))
error linear : dual(\x. let y = x in sin y, cov(1))
error linear : \f. dual(\v. f v, cov(1))
error linear : dual(\<g, v>. g v, cov(1))
type dual(\v. (\z. z + v) v, cov(1)) = real^*
error type : cov(true)
error type : dual(\x. <x, x>, cov(1))
error unbound : jac(nope, 1)
"""


def test_types_of_pullbacks() -> None:
    """The typing rules of the language of pullbacks, and its side condition."""
    report = run(DEFINITIONS + PULLBACKS, "t.lam")
    assert report.holds, report


LINEARITY = r"""
type dual(\x. diff(\z. x * sin z, 2, 1), cov(1)) = real^*
type dual(\x. diff(sin, 2, x), cov(1)) = real^*
type dual(\f. diff(f, 2, 1), cov(1)) = (real -> real)^*
error linear : dual(\x. diff(\z. x * sin z, x, 1), cov(1))
error linear : dual(\x. diff(sin, x, 1), cov(1))
error linear : dual(\x. diff(\z. sin x * z, 2, 1), cov(1))
error linear : dual(\x. diff(\z. x * z, 1, x), cov(1))
type dual(\x. dual(\v. x * v, cov(1)), eps(1)) = real^*
type dual(\x. dual(\v. v, dual(\w. x * w, cov(1))), eps(1)) = real^*
error linear : dual(\x. dual(\v. x * v, dual(\w. x * w, cov(1))), eps(1))
type dual(\x. ev(2; dual(\w. x * w, cov(1))), eps(sin)) = real^*
error linear : dual(\x. ev(x; cov(1)), eps(sin))
error linear : dual(\x. ev(x; dual(\w. x * w, cov(1))), eps(sin))
type dual(\x. dv(1, 2; dual(\w. x * w, cov(1))), eps(sin)) = real^*
error linear : dual(\x. dv(x, 1; dual(\w. x * w, cov(1))), eps(sin))
error linear : dual(\x. dv(1, x; dual(\w. x * w, cov(1))), eps(sin))
type dual(\x. sharp(dual(\w. x * w, cov(1))), cov(1)) = real^*
type dual(\x. eps(x), zero) = real^*
type dual(\x. jac(sin, x) 2, cov(1)) = real^*
error linear : dual(\x. jac(sin, 1) x, cov(1))
error linear : dual(\x. jac(sin, x) x, cov(1))
type dual(\x. (\y. x * y) 2, cov(1)) = real^*
error linear : dual(\x. (\y. x * y) x, cov(1))
error linear : dual(\x. let y = x * x in y, cov(1))
error linear : dual(\x. 1, cov(1))
"""


def test_what_is_linear_in_a_variable() -> None:
    """Lin(X; t): each rule with a term that it takes, and one for each of its conditions that it refuses."""
    report = run(LINEARITY, "t.lam")
    assert report.holds, report


def test_pullbacks_have_no_value_here() -> None:
    with pytest.raises(TermError, match="before it is reduced"):
        evaluate(module().term("pull(\\x. x, cov(1))")[0])
    with pytest.raises(TermError, match="reduce the pullback first"):
        Taylor.of(1, 1).term(module().term("pull(\\x. x, cov(1))")[0])


def test_primitives_that_are_applied_are_no_functions() -> None:
    """g t is one node; a definition of the name, written later, is what the name means then."""
    m = module()
    term, _ = m.term("g (g <1, 2>)")
    assert (type(term), str(term)) == (Prim, "g (g ⟨1, 2⟩)")
    assert not list(m.read("def g x = 4"))
    assert str(m.term("g <1, 2>")[0]) == "let g = λ(x : real * real). 4 in g ⟨1, 2⟩"


def test_definitions_are_local_to_a_module() -> None:
    module()
    with pytest.raises(TermError, match="twice is not bound"):
        Module().checked(parsed("twice sin 1", Module()))


# --- types ---


def test_lists_in_a_chain() -> None:
    """t :: … :: [] is one list with one unknown type of elements, as [t, …] is, also where they do not agree."""
    chain, ty = Module().term("1 :: 2 :: " * 3_000 + "[]")
    whole, other = Module().term("[" + ", ".join(["1, 2"] * 3_000) + "]")
    assert ty is other
    assert show_value(evaluate(chain)) == show_value(evaluate(whole))
    opened = Reader().term("1 :: 2 :: 3 :: []")
    cells = [node for node in postorder(opened, below) if isinstance(node, Con) and node.label == "Cons"]
    assert len({cell.type for cell in cells}) == 1
    said = []
    for text in ("1 :: true :: []", "[1, true]"):
        with pytest.raises(TermError) as caught:
            Module().term(text)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_types_are_one_object() -> None:
    assert ground(direct_sum(R, R)) is TupleType((ground(R), ground(R)))
    assert list_of(ground(R)) is DataType(LIST, (ground(R),))
    assert unknown() is not unknown()
    ty = Arrow(list_of(ground(R)), ground(R))
    assert pickle.loads(pickle.dumps(ty)) is ty


@pytest.mark.parametrize(
    "text", ["real", "R^3 * bool → unit", "(real → real)^* ⊸ Maybe (list real)", "Rose (real * real)"]
)
def test_types_print_as_they_are_read(text: str) -> None:
    assert str(Parser(tokens(text, "t"), module().reader.types, frozenset()).type()) == text


# --- size and depth ---


def deep(n: int) -> list[str]:
    lets = "".join(f"let x{k} = x{k - 1} + 1 in " for k in range(1, n))
    return [
        f"[{', '.join(['1'] * n)}]",
        f"let x0 = 1 in {lets}x{n - 1}",
        "(" * n + "1" + ")" * n,
        "-(" * n + "1" + ")" * n,
        "Fork <Leaf 1, " * n + "Leaf 2" + ">" * n,
        "\\x. " * n + "x",
        "if true then 1 else " * n + "2",
    ]


@pytest.mark.parametrize("k", range(7))
def test_deep_terms(k: int) -> None:
    """Every pass on terms that are 2,000 deep: checking, evaluation, text, equality, hash, pickles."""
    m = module()
    text = deep(2000)[k]
    term, ty = m.checked(parsed(text, m))
    again = pickle.loads(pickle.dumps(term))
    assert again == term
    assert hash(again) == hash(term)
    assert m.checked(parsed(str(term), m))[0] == term
    value = evaluate(term)
    assert str(ty)
    assert show_value(value)


def applied_lambdas(n: int) -> list[str]:
    """Applied λ in each other: each at once, all of them curried, and their body a sum of all variables."""
    binders, numbers = [f"\\x{k}. " for k in range(n)], [f" {k}" for k in range(n)]
    nest = "".join(f"({x}" for x in binders) + f"x{n - 1}" + "".join(f"){k}" for k in reversed(numbers))
    body = " + ".join(f"x{k}" for k in range(n))
    return [nest, f"({''.join(binders)}x{n - 1}){''.join(numbers)}", f"({''.join(binders)}{body}){''.join(numbers)}"]


@pytest.mark.parametrize("k", range(3))
def test_applied_lambdas_make_no_functions(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """n applied λ bind n variables, as n `let`s do: no variables are copied (once quadratic)."""
    n = 1000
    term, _ = Module().term(applied_lambdas(n)[k])
    made: list[Any] = []

    def spy(function: Any) -> tuple[int, ...]:
        made.append(function)
        return captured(function)

    monkeypatch.setattr(import_module("diff.lam.run.evaluate"), "captured", spy)
    assert show_value(evaluate(term)) == str(n * (n - 1) // 2 if k == 2 else n - 1)
    assert not made
    evaluate(Module().term("let f = \\x. x in f 1")[0])
    assert len(made) == 1


def test_arguments_of_shared_functions() -> None:
    """Curried λ that are one object, one applied in the argument of the other, do not see each other's variables."""
    f, ty = Module().term(r"\x y. 10 * x + y")
    assert str(ty) == "real → real → real"

    def at(a: AnyTerm, b: AnyTerm) -> AnyTerm:
        return App(App(f, a), b)

    assert show_value(evaluate(at(real(1.0), at(real(2.0), real(3.0))))) == "33"
    assert show_value(evaluate(at(at(real(2.0), real(3.0)), real(1.0)))) == "231"


def test_free_variables_of_functions() -> None:
    """`captured` is what is free; functions inside know theirs as well."""
    term, _ = Module().term(r"\x. let y = x + 1 in \z. (\w. w + y + z) x")
    assert isinstance(term, Lam)
    assert captured(term) == ()
    inner = [node for node in postorder(term, below) if isinstance(node, Lam)]
    assert [len(captured(node)) for node in inner] == [2, 2, 0]


def test_too_many_brackets() -> None:
    with pytest.raises(TermError, match="brackets in each other") as caught:
        parsed("(" * 30_000 + "1" + ")" * 30_000)
    assert caught.value.code == "limit"


@pytest.mark.parametrize("text", ["(2.5 : int)", "(2e0 : int)"])
def test_integers_are_written_with_digits_alone(text: str) -> None:
    """What has a point or an exponent is a real, also where an integer is due."""
    with pytest.raises(TermError, match="real where int is due") as caught:
        Module().checked(parsed(text, Module()))
    assert caught.value.code == "type"


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("(<2, 3> : int * int)", "int * int"),
        (r"\(x : real^3). jac(exp, x)", "R^3 → R^3 → R^3"),
        ("jac(exp, 1)", "real → real"),
    ],
)
def test_types_that_are_known_from_around(text: str, due: str) -> None:
    """Numbers in a tuple are the integers that are due; a primitive is that of the direction's space."""
    assert str(Module().term(text)[1]) == due


def test_sums_of_functions_that_are_checked_again() -> None:
    """A term that was checked has the same value when it is checked once more: left and right stay."""
    term, _ = Module().term(r"\(x : real). 10*x")
    other, _ = Module().term(r"\(x : real). x*x")
    again, _ = Module().checked(Plus(term, other))
    assert show_value(evaluate(App(again, real(3.0)))) == "39"


def test_deep_recursion() -> None:
    m = Module()
    list(m.read("def up (n : real) : real = if less(n, 1) then 0 else 1 + up (n - 1)"))
    assert show_value(evaluate(m.checked(parsed("up 5000", m))[0])) == "5000"
    with pytest.raises(TermError) as caught:
        evaluate(m.checked(parsed("up 5000", m))[0], steps=1000)
    assert caught.value.code == "limit"


def test_a_let_is_evaluated_once() -> None:
    """A chain of doublings has a value in linear time."""
    text = "let x0 = 1 in " + "".join(f"let x{k} = x{k - 1} + x{k - 1} in " for k in range(1, 60)) + "x59"
    assert show_value(evaluate(module().checked(parsed(text))[0])) == repr(float(2**59))


def test_primitives_are_applied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No right-hand side is computed twice, before and after D: primitives are counted."""
    counted: Counter[str] = Counter()

    def counting(op: Any, value: Any) -> Any:
        counted[str(op)] += 1
        return applied(op, value)

    monkeypatch.setattr(import_module("diff.lam.run.evaluate"), "applied", counting)
    m = module()
    term, _ = m.term("let x = sin 1 in let f = (let y = cos x in \\z. y + z) in f (f (x + x))")
    evaluate(term)
    assert (counted["sin"], counted["cos"]) == (1, 1)
    counted.clear()
    evaluate(Taylor.of(2, 3).term(term))
    assert (counted["sin"], counted["cos"]) == (1, 1)
    assert max(counted[str(partial(sin, (k,)))] for k in range(2, 4)) <= 2  # sin and cos have one derivative


def test_inference_is_not_exponential() -> None:
    """Types that double: shared, they are resolved once."""
    text = "let x0 = 1 in " + "".join(f"let x{k} = <x{k - 1}, x{k - 1}> in " for k in range(1, 40)) + "0"
    assert str(module().checked(parsed(text))[1]) == "real"


def test_reader_takes_several_texts() -> None:
    reader = Reader()
    list(reader.read("data T = A"))
    assert list(reader.read("def x = A"))


def test_sample_file() -> None:
    assert (Path(__file__).parent / "taylor.lam").read_text("utf-8").startswith("--")
    assert Tuple(()) == Tuple(())


def test_profile_without_generalising() -> None:
    """A language whose definitions have one type each: what is open is the default."""
    module = Module(Dialect(generalise=False))
    list(module.read("def twice f u = f (f u)"))
    assert str(module.term("twice")[1]) == "(real → real) → real → real"
    with pytest.raises(TermError, match="is due"):
        module.term("twice twice")
