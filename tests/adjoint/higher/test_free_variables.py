"""What free variables stop: the normal form as text, which is a term of the same value once they are given."""

from __future__ import annotations

import pytest

from adjoint.higher import reduce
from adjoint.higher.term.claims import same
from diff.higher import Module
from diff.lam.term.terms import Dual
from diff.lam.term.types import Arrow

DATA = "data Maybe a = Nothing | Just a\n"
GIVEN = {  # each free variable, its type, and what it may be
    "z": ("real", "0.5"),
    "k": ("real -> real", r"\x. x*x*x + x"),
    "kk": ("real -> real -> real", r"\x. \y. x*x*y"),
    "two": ("real * real -> real", r"\<x, y>. x*x*y"),
    "pair": ("real -> real * real", r"\x. <x*x, sin x>"),
    "nest": ("real -> ((real -> real) * real) * real", r"\x. <<\y. x*y, x*x>, sin x>"),
    "count": ("real -> int * real", r"\x. <(2 : int), x*x>"),
    "tried": ("real -> bool * real", r"\x. <true, x*x>"),
    "some": ("real -> real * Maybe real", r"\x. <x*x, Just (sin x)>"),
    "may": ("real -> Maybe real", r"\x. Just (x*x)"),
    "many": ("real -> list real", r"\x. [x, x*x]"),
    "plane": ("R^2 -> real", r"\x. inner(x, x)"),
    "c": ("real^*", "cov(3)"),
    "c2": ("(real * real)^*", "cov(3, 5)"),
    "w": ("real -> real^*", r"\x. cov(x*x)"),
    "w2": ("real * real -> (real * real)^*", r"\<x, y>. cov(x*y, x)"),
    "wp": ("real -> (real * real)^*", r"\x. cov(x*x, x)"),
    "wr": ("R^2 -> (R^2)^*", r"\x. cov(x)"),
    "wm": ("Maybe real -> (Maybe real)^*", r"\m. cov(m)"),
    "wl": ("list real -> (list real)^*", r"\l. cov(l)"),
    "wf": ("(real -> real) -> (real -> real)^*", r"\f. ev(f 1; cov(f 2))"),
    "wb": ("real * (real -> real) -> (real * (real -> real))^*", r"\<x, f>. cov(x, ev(x; cov(f 2)))"),
    "wc": ("real^* -> real^*^*", r"\u. eps(sharp(u)*2)"),
}
NODES = [
    (r"pull(\x. sin x, w) z", "dual(λv. jac(sin, v) z, w (sin z))"),
    (r"pull(\x. -x, w) z", "dual(λv. -v, w (-z))"),
    (r"pull(\x. x + x, w) z", "dual(λv. v + v, w (z + z))"),
    (r"pull(\x. x + z, w) 3", "dual(λv. v, w (3 + z))"),
    (r"pull(\x. z + x, w) 3", "dual(λv. v, w (z + 3))"),
    (r"pull(\x. x - z, w) 3", "dual(λv. v - zero, w (3 - z))"),
    (r"pull(\x. z - x, w) 3", "dual(λv. zero - v, w (z - 3))"),
    (r"pull(\x. x*x, w) z", "dual(λv. v*z + z*v, w (z*z))"),
    (r"pull(\x. x*z, w) 3", "dual(λv. v*z, w (3*z))"),
    (r"pull(\x. z*x, w) 3", "dual(λv. z*v, w (z*3))"),
    (r"pull(\x. atan2(x, x), w) z", "dual(λv. jac(atan2, ⟨v, v⟩) ⟨z, z⟩, w (atan2 ⟨z, z⟩))"),
    (r"pull(\x. atan2(x, z), w) 3", "dual(λv. jac(atan2, ⟨v, zero⟩) ⟨3, z⟩, w (atan2 ⟨3, z⟩))"),
    (r"pull(\x. atan2(z, x), w) 3", "dual(λv. jac(atan2, ⟨zero, v⟩) ⟨z, 3⟩, w (atan2 ⟨z, 3⟩))"),
    (r"pull(\x. k (k x), w) 3", "dual(λv. diff(k, k 3, diff(k, 3, v)), w (k (k 3)))"),
    (r"pull(\x. kk x, wf) 3", "dual(λv. diff(kk, 3, v), wf (kk 3))"),
    (r"pull(\x. kk x x, w) 3", "dual(λv. diff(kk 3, 3, v) + diff(kk, 3, v) 3, w (kk 3 3))"),
    (r"pull(\x. two <x, z>, w) 3", "dual(λv. diff(two, ⟨3, z⟩, ⟨v, zero⟩), w (two ⟨3, z⟩))"),
    (r"pull(\x. diff(k, x, 2), w) 3", None),
    (
        r"pull(\x. let d = diff(k, 2, x) in d*d, w) 3",
        "dual(λv. let d = diff(k, 2, v) in d*diff(k, 2, 3) + diff(k, 2, 3)*d, w (diff(k, 2, 3)*diff(k, 2, 3)))",
    ),
    (r"pull(\f. f (f z), w) k", "dual(λv. diff(k, k z, v z) + v (k z), w (k (k z)))"),
    (r"pull(\(f : real -> real). diff(f, z, 1), w) (\x. x)", "dual(λv. (λu. diff(v, z, u)) 1, w 1)"),
    (r"pull(\(f : real -> real). diff(f, 2, z), w) (\x. x)", "dual(λv. (λu. diff(v, 2, u)) z, w (z + 0))"),
    (
        r"pull(\f. pull(\x. f x, cov(1)) 2, wc) (\y. y*y)",
        "dual(λv. cov(sharp(dual(λu. diff(v, 2, u), cov(1)))), wc cov(4))",
    ),
    (r"jac(sin, z) 2", "jac(sin, z) 2"),
    (r"jac(sin, 2) z", "jac(sin, 2) z"),
    (r"pull(\x. jac(sin, x) z, w) 3", "dual(λv. jac(sin, v) z, w (jac(sin, 3) z))"),
    (r"pull(\x. jac(sin, x) 2, w) z", "dual(λv. jac(sin, v) 2, w (jac(sin, z) 2))"),
]
NAMES = [
    (r"pull(\x. let a = sin x in a*a, w) z", "dual(λv. let d = jac(sin, v) z in d*sin z + sin z*d, w (sin z*sin z))"),
    (
        r"pull(\x. let a = sin x in let b = z*(a + a) in b*b + a, w) 0",
        ("dual(λv. let d = jac(sin, v) 0 in let d1 = z*(d + d) in d1*(z*0) + z*0*d1 + d, w (z*0*(z*0) + 0))"),
    ),
    (
        r"pull(\x. \y. let a = sin (x*y) in a*a, wf) 3",
        "dual(λv. λx. let d = jac(sin, v*x) (3*x) in d*sin (3*x) + sin (3*x)*d, wf (λx. sin (3*x)*sin (3*x)))",
    ),
    (
        r"pull(\x. let b = sin x in \y. let a = b*y in a*a + b, wf) z",
        (
            "dual(λv. let d = jac(sin, v) z in λx. let d1 = d*x in d1*(sin z*x) + sin z*x*d1 + d, "
            "wf (λx. sin z*x*(sin z*x) + sin z))"
        ),
    ),
]
COMPONENTS = [
    (
        r"pull(\(f : real -> list real). case f 2 of {Nil -> [] | Cons <a, r> -> r}, wl) (\y. 1 :: many y)",
        "pull(λf. case f 2 of {Nil → [] | Cons ⟨a, r⟩ → r}, wl) (λy. 1 :: many y)",
    ),
    (
        r"pull(\x. case nest x of <<f, y>, a> -> y, w) 3",
        "dual(λv. pi_2 (pi_1 diff(nest, 3, v)), w (pi_2 (pi_1 (nest 3))))",
    ),
    (r"pull(\x. case nest x of <<f, y>, a> -> a, w) 3", "dual(λv. pi_2 diff(nest, 3, v), w (pi_2 (nest 3)))"),
    (r"pull(\x. case nest x of <<f, y>, a> -> f y, w) 3", None),
    (r"pull(\x. case count x of <n, y> -> y, cov(1)) 3", "dual(λv. pi_2 diff(count, 3, v), cov(1))"),
    (r"pull(\x. case tried x of <b, y> -> y, cov(1)) 3", "dual(λv. pi_2 diff(tried, 3, v), cov(1))"),
    (r"pull(\x. case some x of <y, m> -> y, cov(1)) 3", "dual(λv. pi_1 diff(some, 3, v), cov(1))"),
    (r"pull(\x. case some x of <y, m> -> m, wm) 3", "pull(λx. case some x of ⟨y, m⟩ → m, wm) 3"),
    (r"pull(\x. may x, wm) 3", "dual(λv. diff(may, 3, v), wm (may 3))"),
]
RESULTS = [
    (r"pull(\x. 2, w) 3", "cov(0)"),
    (r"pull(\x. <x, 2>, w2) 3", "dual(λv. ⟨v, zero⟩, w2 ⟨3, 2⟩)"),
    (r"pull(\x. <z, x>, w2) 3", "dual(λv. ⟨zero, v⟩, w2 ⟨z, 3⟩)"),
    (r"pull(\f. f, wf) sin", "dual(λv. v, wf (λx. sin x))"),
    (r"pull(\x. <2, \y. x*y>, wb) 3", "dual(λv. ⟨zero, λx. v*x⟩, wb ⟨2, λx. 3*x⟩)"),
    (r"pull(\x. (\y. x*y) + k, wf) 3", "dual(λv. λx. v*x, wf (λx. 3*x + k x))"),
    (r"pull(\x. jac(sin, x) + k, wf) 3", "dual(λv. λx. jac(sin, v) x, wf (λx. jac(sin, 3) x + k x))"),
    (
        r"pull(\<f, x>. f x, wf) <\a. \b. a*b, 3>",
        "dual(λ(⟨v, v1⟩ : (real → real → real) * real). v 3 + (λx. v1*x), wf (λx. 3*x))",
    ),
    (r"pull(\x. cov(k x), wc) 2", "dual(λv. cov(diff(k, 2, v)), wc cov(k 2))"),
    (r"pull(\x. w x, wc) 3", "dual(λv. diff(w, 3, v), wc (w 3))"),
    (r"pull(\x. cov(x, 2*x), \_. pt(<z, 1>)) 3", None),
]
PATTERNS = [
    (r"pull(\<x, <y, n>>. x*y + n, w) <z, <2, 3>>", "dual(λ⟨v, ⟨v1, v2⟩⟩. v*2 + z*v1 + v2, w (z*2 + 3))"),
    (r"pull(\<x, y>. <y, x>, \_. c2) <z, 2>", "dual(λ⟨v, v1⟩. ⟨v1, v⟩, c2)"),
    (
        r"pull(\(x : R^2). plane x, w) [|1, 2|]",
        "dual(λ(v : R^2). diff(plane, [|1.0, 2.0|], v), w (plane [|1.0, 2.0|]))",
    ),
    (r"pull(\<b, x>. x*x, w) <true, 3>", "pull(λ⟨b, x⟩. x*x, w) ⟨true, 3⟩"),
    (r"pull(\l. fold (e, a). e*a over l from 1, w) [2, 3]", None),
    (r"pull(\<m, x>. x*x, cov(1)) <may 2, 3>", "pull(λ⟨m, x⟩. x*x, λ_. cov(1)) ⟨may 2, 3⟩"),
]
SUMS = [
    ("w 2 + cov(3)", "w 2 + cov(3)"),
    ("cov(3) + w 2", "cov(3) + w 2"),
    ("c + w 2", "c + w 2"),
    ("ev(2; cov(1)) + wf k", "ev(2; cov(1)) + wf k"),
    ("wf k + ev(2; cov(1))", "wf k + ev(2; cov(1))"),
    ("k + sin", "λx. k x + sin x"),
    ("sin + k", "λx. sin x + k x"),
    ("jac(sin, 1) + k", "λx. jac(sin, 1) x + k x"),
    ("k + jac(sin, 1)", "λx. k x + jac(sin, 1) x"),
    (r"pull(\x. x*x, cov(1)) + w", "λx. dual(λv. v*x + x*v, cov(1)) + w x"),
    (r"w + pull(\x. x*x, cov(1))", "λx. w x + dual(λv. v*x + x*v, cov(1))"),
]
CONDITIONS = [
    (r"(\y. if less(z, y) then y*2 else y) 3", "if less ⟨z, 3⟩ then 3*2 else 3"),
    (r"let y = k z in case may z of {Nothing -> y | Just x -> x + y}", None),
    (r"(\n. case n of {Nothing -> z | Just x -> x}) (may 2)", "case may 2 of {Nothing → z | Just x → x}"),
    (r"let f = \y. y + z in fold (e, a). f e + a over many 2 from z", None),
    (r"pull(\x. case may x of {Nothing -> x | Just y -> y}, cov(1)) 3", None),
    (r"pull(\x. case may z of {Nothing -> x | Just y -> y*x}, cov(1)) 3", None),
    (r"diff(\x. if less(z, x) then x*x else x, 3, 1)", None),
]
TAGS = [
    (r"diff(\(m : Maybe real). m, may z, may 2)", "diff(λ(m : Maybe real). m, may z, may 2)"),
    (r"diff(\(m : Maybe real). m, may z, Just 2)", "diff(λ(m : Maybe real). m, may z, Just 2)"),
    (r"diff(\(m : Maybe real). m, Just 2, may z)", "diff(λ(m : Maybe real). m, Just 2, may z)"),
    (r"diff(\m. case m of {Nothing -> 0 | Just y -> y*y}, Just 2, may z)", None),
]
VALUES = [
    (r"(\y. \x. k y + y + x) z", "λx. k z + z + x"),
    (r"(\y. \x. y*y*x) 2", "λx. 2*2*x"),
    (r"(\y. \x. k (y + y)*x) (k z)", "let y = k z in λx. k (y + y)*x"),
]
COVECTORS = [
    (r"sharp(c)*2", "sharp(c)*2"),
    (r"case sharp(wp 3) of <a, b> -> a*b", "pi_1 sharp(wp 3)*pi_2 sharp(wp 3)"),
    (r"pull(\x. x * sharp(w 2), cov(1)) 3", "dual(λv. v*sharp(w 2), cov(1))"),
    (r"pull(\x. sharp(w x), cov(1)) 3", "pull(λx. sharp(w x), λ_. cov(1)) 3"),
    (r"pull(\x. case sharp(wp x) of <a, b> -> a*b, cov(1)) 3", None),
    (r"diff(\x. x*sharp(w x), 3, 1)", "diff(λx. x*sharp(w x), 3, 1)"),
]
SHOWN = [  # these are not read again: derivatives of primitives have no names, and λv no type
    (r"diff(\x. x + x, 3, z)", "z + z"),
    (r"diff(\x. sharp(pull(\y. y*y, \_. cov(k 1)) x), 3, 1)", "pi_1 (prim ⟨⟨⟨3, 3⟩, k 1⟩, ⟨⟨1, 1⟩, 0⟩⟩)"),
    (r"pull(\x. jac(sin, z) x, cov(1)) 3", "dual(λv. jac(sin', ⟨v, zero⟩) ⟨3, z⟩, cov(1))"),
    (r"pull(\x. jac(sin, x) x, cov(1)) z", "dual(λv. jac(sin', ⟨v, v⟩) ⟨z, z⟩, cov(1))"),
    (r"diff(\y. diff(\x. jac(sin, x) y, 2, 3), z, 1)", "sin'' ⟨⟨z, 3⟩, ⟨1, 0⟩⟩"),
    (r"diff(\y. diff(\x. jac(sin, y) x, 2, 3), z, 1)", "sin''' ⟨⟨⟨2, z⟩, ⟨3, 0⟩⟩, ⟨⟨0, 1⟩, ⟨0, 0⟩⟩⟩"),
    (r"diff(\x. x*x, 3, z)", "*' ⟨⟨3, 3⟩, ⟨z, z⟩⟩"),
    (
        r"pull(\(f : real -> real * real). case f 2 of <a, b> -> a*b, w) (\y. <y, z*y>)",
        "dual(λv. let d = v 2 in pi_1 d*(z*2) + 2*pi_2 d, w (2*(z*2)))",
    ),
    (
        r"pull(\(f : real -> real * (real * real)). case f 2 of <a, <b, d>> -> a*d, w) (\y. <y, <z, z*y>>)",
        "dual(λv. let d = v 2 in pi_1 d*(z*2) + 2*pi_2 (pi_2 d), w (2*(z*2)))",
    ),
    (r"pull(\x. Just (x*x), wm) 3", "dual(λv. Just (v*3 + 3*v), wm (Just 9))"),
]


def check(text: str, due: str | None) -> None:
    """The normal form, read again, is the term: of the same type, and of the same value where all is given."""
    free, given = Module(), Module()
    assert not list(free.read(DATA + "".join(f"var {name} : {ty}\n" for name, (ty, _) in GIVEN.items())))
    assert not list(given.read(DATA + "".join(f"def {name} : {ty} = {one}\n" for name, (ty, one) in GIVEN.items())))
    term, ty = free.term(text)
    made = str(reduce(term))
    assert due is None or made == due
    again = made.translate(str.maketrans("λ⟨⟩", "\\<>")).replace("→", "->")
    assert free.term(again)[1] is ty
    one, other = (f"({it}) 2" if isinstance(ty, Arrow) else it for it in (again, text))  # functions at a point
    assert same(reduce(given.term(one)[0]), reduce(given.term(other)[0]))


@pytest.mark.parametrize(("text", "due"), NODES, ids=[text for text, _ in NODES])
def test_nodes(text: str, due: str | None) -> None:
    """Each node of the derivative let series has a term."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), NAMES, ids=[text for text, _ in NAMES])
def test_names(text: str, due: str | None) -> None:
    """What is used twice has a name, under the λ where it is used."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), COMPONENTS, ids=[text for text, _ in COMPONENTS])
def test_components(text: str, due: str | None) -> None:
    """Of what a function gives its components are taken."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), RESULTS, ids=[text for text, _ in RESULTS])
def test_results(text: str, due: str | None) -> None:
    """The tangent has the form of the result."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), PATTERNS, ids=[text for text, _ in PATTERNS])
def test_patterns(text: str, due: str | None) -> None:
    """The variables are those of the leaves of the point, where there are such."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), SUMS, ids=[text for text, _ in SUMS])
def test_sums(text: str, due: str | None) -> None:
    """Of covectors, and pointwise of functions."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), CONDITIONS, ids=[text for text, _ in CONDITIONS])
def test_conditions(text: str, due: str | None) -> None:
    """What is not decided stays, with what its variables stand for."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), TAGS, ids=[text for text, _ in TAGS])
def test_unknown_tags(text: str, due: str | None) -> None:
    """Derivatives stay where a tag of the point or of the direction is not known."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), VALUES, ids=[text for text, _ in VALUES])
def test_what_stands_for_a_variable(text: str, due: str | None) -> None:
    """Atoms are put in; what else is used twice has a name."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), COVECTORS, ids=[text for text, _ in COVECTORS])
def test_free_covectors(text: str, due: str | None) -> None:
    """A covector as a vector, sharp(c), is a number where it does not move."""
    check(text, due)


@pytest.mark.parametrize(("text", "due"), SHOWN, ids=[text for text, _ in SHOWN])
def test_what_is_only_shown(text: str, due: str) -> None:
    """Derivatives of primitives at neutral terms, components of what moves, variants."""
    free = Module()
    assert not list(free.read(DATA + "".join(f"var {name} : {ty}\n" for name, (ty, _) in GIVEN.items())))
    assert str(reduce(free.term(text)[0])).startswith(due)


def test_a_dual_map_keeps_the_tags_of_its_point() -> None:
    """On functions whose results are variants: 0 among their tangents has the tags of the point."""
    free = Module()
    assert not list(free.read(DATA + "".join(f"var {name} : {ty}\n" for name, (ty, _) in GIVEN.items())))
    made = reduce(free.term(r"pull(\(f : real -> Maybe real). f 2, wm) (\y. may y)")[0])
    assert isinstance(made, Dual)
    assert (str(made.body), str(made.point)) == ("v 2", "λy. may y")
