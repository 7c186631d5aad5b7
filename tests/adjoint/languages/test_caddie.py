"""What the specification of caddie says, claim by claim, and its defects with the right numbers."""

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjoint import adjoint, grad
from adjoint.languages import Loaded, Source, load
from adjoint.languages.caddie import load as load_text
from adjoint.languages.stages import STAGES
from adjoint.languages.value_spaces import element, value_of
from diff import derivative, fun, lift, program
from diff.higher import TermError
from hilbert import Fin, R, SpaceError
from linmap import equal, matrix, structure


def read(text: str) -> Loaded:
    return load_text([Source("t.cad", text)])


def value(text: str, *args: Any, name: str = "f") -> Any:
    f = read(text).functions[name].like(args)
    return value_of(f(element(args, f.dom)))


def linear(text: str, args: list[Any], along: list[Any], *, reverse: bool = False) -> Any:
    f = read(text).functions["f"].like(args)
    d = derivative(f)(element(args, f.dom))
    d = adjoint(d) if reverse else d
    return value_of(d(element(along, d.dom)))


def signature(text: str, name: str = "f") -> str:
    return read(text).functions[name].signature


def refused(text: str, *args: Any) -> TermError:
    with pytest.raises(TermError) as caught:
        value(text, *args)
    return caught.value


# --- §2, §3: words and grammar ---


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("5-3", 2.0),
        ("82+2", 84.0),
        ("x -1", 1.0),
        ("x-1", 1.0),
        ("x + -1", 1.0),
        ("-1 + x", 1.0),
        ("2.", 2.0),
        ("x*x+x", 6.0),
        ("x * x * 2 *> 3", 24.0),
        ("2 *> x *> 3", 12.0),
        ("2 *> x * 3", 12.0),
        ("x - 1 - 1", 0.0),
        ("sin cos x", np.sin(np.cos(2.0))),
        ("ln (exp x)", 2.0),
        ("pow 2 x", 4.0),
        ("pow 2.0 x", 4.0),
        ("pow -1.0 x", 0.5),
        ("pow 2 pow 2 x", 16.0),
        ("pi", np.pi),
        ("let pi = 3 in pi end", 3.0),
        ("let x = x + 1 in x * x end", 9.0),
        ("abs (0 - x)", 2.0),
        ("tan x", np.tan(2.0)),
        ("#2 (1, x, 3)", 2.0),
        ("(* a comment **) x (* another * one *)", 2.0),
        ("if x then 1 else 2", 1.0),
        ("if 0 then 1 else 2", 1.0),
        ("if 0 - x then 1 else 2 + x", 4.0),
        ("if 0 - x then 1 else if x - 1 then 5 else 6", 5.0),
        ("(if x then 1 else 2) + 1", 2.0),
        ("dprod ([1, 2, 3], iota 3)", 8.0),
        ("dprod3 ((1, 2, 3), (x, 0, 1))", 5.0),
        ("norm2sq (3, 4)", 25.0),
        ("0", 0.0),
        ("0 + x", 2.0),
        ("dprod (repl 3 x, repl 3 1)", 6.0),
        ("dprod ([1 .. 7, 2], [1, 1, 1])", 9.0),
        ("dprod ([1..4,1], [3..0,-1])", 10.0),
        ("dprod ([0.5 .. 2, 0.5], [1, 1, 1])", 3.0),
    ],
)
def test_reals(body: str, expected: float) -> None:
    assert value(f"fun f x = {body}", 2.0) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("cprod3 ((1, 0, 0), (0, x, 0))", (0.0, 0.0, 2.0)),
        ("cross ([1, 0, 0], [0, x, 0])", [0.0, 0.0, 2.0]),
        ("sprod (x, [1, 2])", [2.0, 4.0]),
        ("(1, 2) + (x, 3)", (3.0, 5.0)),
        ("(1, 2) * (x, 3)", (2.0, 6.0)),
        ("x *> (1, (2, [3]))", (2.0, (4.0, [6.0]))),
        ("0 + (1, x)", (1.0, 2.0)),
        ("[1, 2] * 0 + [x, 4]", [2.0, 4.0]),
        ("0 - [1, x]", [-1.0, -2.0]),
        ("[0, [1, x]]", [[0.0, 0.0], [1.0, 2.0]]),
        ("if x then 0 else [1, x]", [0.0, 0.0]),
        ("if 0 - x then 0 else (1, [1, x])", (1.0, [1.0, 2.0])),
        ("map (fn y => if y then [y, y] else 0) [x, 0 - x]", [[2.0, 2.0], [0.0, 0.0]]),
        ("map (fn y => if y then 0 else [y, y]) [x, 0 - x]", [[0.0, 0.0], [-2.0, -2.0]]),
        ("map (fn y => y * x) [1, 2, 3]", [2.0, 4.0, 6.0]),
        ("map (fn y => (y, x)) [1, 2]", [(1.0, 2.0), (2.0, 2.0)]),
        ("map (fn y => #1 y * #2 y) [(1, 2), (3, x)]", [2.0, 6.0]),
        ("map (fn y => map (fn z => z * y + x) [1, 2]) [1, 10]", [[3.0, 4.0], [12.0, 22.0]]),
        ("map (fn y => 1) [1, 2]", [1.0, 1.0]),
        ("map (fn y => let x = y in if y - 1 then x else 0 end) [0, 1, x]", [0.0, 1.0, 2.0]),
        ("iota 4", [0.0, 1.0, 2.0, 3.0]),
        ("iota 0", []),
        ("repl 2 (x, [1])", [(2.0, [1.0]), (2.0, [1.0])]),
        ("red (to 2 [0, 1] [2]) [1, 2, x]", [2.0, 2.0]),
        ("red (to 2 1 2) [1, 2, x]", [2.0]),
        ("red (to 2 [0, 1] [3]) [1, 2, x]", [0.0, 0.0]),
        ("red (to 2 [0, 1] [2]) ^ T [1, 10, x]", [11.0]),
        ("red (id [0, 2] [0, 1, 2]) [1, 2, x]", [1.0, 2.0]),
        ("red [(1, 2), (3, 0), (1, 0)] [1, 2, x]", [3.0, 1.0]),
        ("red [(1, 2), (1, 2)] [1, 2, x]", [2.0]),
        ("red [(1, 2), (0, 1)] ^ T [10, 20]", [20.0, 10.0]),
        ("red (to 0 [5, 6] [0]) o [(1, 5), (2, 6), (2, 7)] [x]", [2.0, 2.0]),
        ("red ([(1, 5)] o [(0, 1)]) ^ T [x]", [2.0]),
        ("red (id [0 .. 5, 2] [0 .. 5, 1]) (iota 5)", [0.0, 2.0, 4.0]),
        ("red (id [0, 1] [0, 1]) [(1, x), (3, 4)]", [(1.0, 2.0), (3.0, 4.0)]),
        ("let i = [0, 2] in red (id i i) [1, 2, x] end", [1.0, 2.0]),
        ("red (to (1 + 1) ([0, 1] + [1, 0]) [2]) [1, 2, x]", [2.0, 2.0]),
        ("red (to 0 (map (fn i => i + 1) [0, 1]) [0]) [x]", [2.0, 2.0]),
        ("red [(0, 1)] 0 + [x]", [2.0]),
    ],
)
def test_tuples_and_arrays(body: str, expected: Any) -> None:
    assert value(f"fun f x = {body}", 2.0) == expected


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("fun f x = - x", 11, "there is no unary -: write 0 - x"),
        ("fun f x = x / 2", 13, "no word of caddie begins with '/': there is no division, write pow -1.0 y"),
        ("fun f x = 1e3", 11, "1e is no number: numbers have digits and one point only"),
        ("fun f x = .5", 11, "no word of caddie begins with '.': a number begins with a digit"),
        ("fun f x = x'", 12, 'no word of caddie begins with "\'": names have letters, digits and _'),
        ("fun f x = ()", 11, "() is no value: a tuple has two components or more"),
        ("fun f x = []", 11, "an array has an element: repl 0 x is the empty one"),
        ("fun f x = #0 x", 12, "components are counted from 1"),
        ("fun f x = #1000000 x", 12, "expected the number of a component, from 0 to 10000, not '1000000'"),
        ("fun f x y = x", 9, "expected '=': a function has one parameter, which may be a tuple, not 'y'"),
        ("fun f x = x fun f x = x", 17, "f is defined twice, first at t.cad:1:5"),
        ("fun f x = g x fun g x = x", 11, "g is not defined before this place"),
        ("fun f x = f x", 11, "f is not defined before this place"),
        ("fun f x = sinn x", 11, "sinn is not defined before this place; near: sin"),
        ("fun f x = pii", 11, "pii is not defined before this place; near: pi"),
        ("fun g x = x fun f x = g -1", 23, "g is a function, and no value: apply it, as in g (-…)"),
        ("fun f x = sin", 11, "sin is a function, and no value: apply it, as in sin x"),
        ("fun f x = x 2", 11, "x is a variable and no function: it is not applied"),
        (
            "fun f x = 1 + if x then 1 else 2",
            15,
            "expected an expression: an if as an operand stands in brackets",
        ),
        ("fun f x = if x then 1", 22, "expected 'else': a condition has two branches, not the end of the text"),
        ("fun f x = let y = 1 in y", 25, "expected 'end', which closes the let at t.cad:1:11, not the end of the text"),
        ("fun f x = (x", 13, "expected ')' or an operator: the bracket at t.cad:1:11 is open, not the end of the text"),
        (
            "fun f x = [x, 2",
            16,
            "expected ']' or an operator: the bracket at t.cad:1:11 is open, not the end",
        ),
        ("fun f x = map sin x", 15, "expected '(': map (fn x => e) xs, not 'sin'"),
        ("fun f x = repl x 1", 16, "expected a number of elements, not 'x'"),
        ("fun f x = pow x 1", 15, "expected the exponent of pow, a number, not 'x'"),
        ("fun let x = x", 5, "expected the name of a function, which is no word of the language, not 'let'"),
        ("fun f x = x ) x", 13, "expected an operator, 'fun' or the end of the text, not ')'"),
        ("x", 1, "expected 'fun', with which a definition begins, not 'x'"),
        ("fun f x = (* x", 11, "this comment does not end: *) is missing"),
        ("fun f x = red r x", 15, "r is not defined before this place"),
        ("fun f x = red (to 1 [1] [1]) ^ S x", 32, "expected T: r ^ T is the transposed relation, not 'S'"),
        ("fun f x = " + "1" * 201, 11, "a number of 201 characters, more than 200"),
        ("fun f x = x + (1, 2) + 1", 24, "a number is of type real where (real * real) is due"),
        ("fun f x = if x then x else (x, x)", 28, "the result is of type (real * real) where real is due"),
        ("fun f x = x * (x, x)", 15, "a type would contain itself"),
        ("fun f x = #3 (x, x)", 11, "#3 of a term of type ('a * 'a)"),
        ("fun f x = [1, (2, 3)]", 12, "a number is of type real where (real * real) is due"),
        ("fun f x = sin (1, 2)", 15, "the argument of sin is of type ('a * 'b) where real is due"),
        ("fun f x = red (to 1.5 [1] [1]) x", 19, "1.5 is a real where an index is due"),
        ("fun f x = red (to 1 [1] [1]) (sin x)", 31, "the argument is of type real where []'a is due"),
        ("fun f x = 5 + [1, 2]", 11, "a number is of type real where []real is due"),
    ],
)
def test_errors(text: str, column: int, message: str) -> None:
    error = refused(text, 2.0)
    assert error.place is not None
    assert message in error.message
    assert (error.place.line, error.place.column) == (1, column)


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ("x + iota 3", 13, "+ of arrays of 2 and 3 elements: one length is due"),
        ("x * [1, 2, 3]", 13, "* of arrays of 2 and 3 elements"),
        ("dprod (x, iota 3)", 11, "dprod of arrays of 2 and 3 elements"),
        ("cross (x, iota 3)", 11, "cross takes two arrays of 3 elements, not of 2"),
        ("red (to 2 [0] [2]) x", 11, "red reads position 2 of an array of 2"),
        ("red [(0, -1)] x", 11, "red reads position -1 of an array of 2"),
        ("[x, iota 3]", 11, "the elements of an array are of one length, not arrays of 2 and arrays of 3"),
        ("map (fn y => dprod (x, iota 3)) x", 24, "dprod of arrays of 2 and 3 elements"),
        ("map (fn y => y) 0 + map (fn y => y) x", 11, "map over 0, an array of no known length"),
        (
            "let z = 0 in #1 (if dprod (x, x) then (z, x) else (z + 0, x), z + x) end",
            28,
            "0 is an array here, of no known length",
        ),
        ("if dprod (x, x) then iota 2 else iota 3", 11, "where"),
        ("[1 .. 2, 0] + x", 11, "the step of a range is not 0"),
        ("iota 99999999", 16, "expected a number of elements, from 0 to 10000000"),
    ],
)
def test_errors_at_lengths(body: str, column: int, message: str) -> None:
    error = refused(f"fun f x = {body} fun g x = x + [1.0]", [1.0, 2.0])
    assert error.place is not None
    assert message in error.message
    assert error.place.column == column


# --- §4: types ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fun f x = (#1 x, #3 x)", "(real * real * real) -> (real * real)"),
        ("fun f x = #1 x", "(real * real) -> real"),
        ("fun f x = x", "real -> real"),
        ("fun f x = 2", "real -> real"),
        ("fun f x = 0", "real -> real"),
        ("fun f xs = map (fn y => y * y) xs", "[]real -> []real"),
        ("fun f x = dprod x", "([]real * []real) -> real"),
        ("fun f x = #2 #1 x", "((real * real) * real) -> real"),
        ("fun f x = #1 (#1 x) + #3 (#1 x)", "((real * real * real) * real) -> real"),
        (
            "fun f x = #3 (#2 (#1 x)) + #1 (#2 (#1 x)) + #4 x",
            "((real * (real * real * real)) * real * real * real) -> real",
        ),
        ("fun f x = (#1 (#1 x), #1 x)", "((real * real) * real) -> (real * (real * real))"),
        ("fun f x = x + x fun g y = f [y]", "[]real -> []real"),
        ("fun f x = x + x fun g y = f (y, 1)", "(real * real) -> (real * real)"),
        ("fun f x = #1 x fun g y = f (y, [1], 2)", "(real * []real * real) -> real"),
        ("fun f x = red (to 5 [0, 1] [5]) x", "[]real -> []real"),
        ("fun f x = red [(0, 1)] (map (fn y => (y, y)) x)", "[]real -> [](real * real)"),
        ("fun f x = [[x]]", "real -> [][]real"),
        ("fun f i = red (to i [1] [0]) [1.0, 2]", "int -> []real"),
    ],
)
def test_types(text: str, expected: str) -> None:
    assert signature(text) == expected


# --- §12: what the original gets wrong ---


def test_derivative_of_map() -> None:
    """1: (dxs)ᵢ ↦ p'(xsᵢ)·dxsᵢ, diagonal in both modes."""
    text = "fun f xs = map (fn y => y * y * y) xs"
    assert linear(text, [[1.0, 2.0]], [[1.0, 10.0]]) == [3.0, 120.0]
    assert linear(text, [[1.0, 2.0]], [[1.0, 10.0]], reverse=True) == [3.0, 120.0]


def test_map_with_an_environment() -> None:
    """1: the environment is replicated; the adjoint of that is a sum."""
    text = "fun g p = #1 p * #2 p fun f a = map (fn y => g (y, #1 a) + #2 a) (#3 a)"
    assert value(text, 2.0, 1.0, [3.0, 4.0]) == [7.0, 9.0]
    assert linear(text, [2.0, 1.0, [3.0, 4.0]], [[1.0, 10.0]], reverse=True) == (43.0, 11.0, [2.0, 20.0])
    assert linear(text, [2.0, 1.0, [3.0, 4.0]], [1.0, 1.0, [1.0, 0.0]]) == [6.0, 5.0]


def test_norm2sq() -> None:
    """2, 7: x² + y², with the derivative 2x·dx + 2y·dy."""
    text = "fun f x = norm2sq x"
    assert value(text, 3.0, 4.0) == 25.0
    assert linear(text, [3.0, 4.0], [1.0, 10.0]) == 86.0
    assert linear(text, [3.0, 4.0], [1.0], reverse=True) == (6.0, 8.0)


def test_scaling_in_reverse() -> None:
    """3: the cotangent of the scalar is dy·v."""
    assert linear("fun f x = #1 x *> (#2 x, #3 x)", [2.0, 3.0, 5.0], [(7.0, 11.0)], reverse=True) == (76.0, 14.0, 22.0)
    assert linear("fun f x = sprod x", [2.0, [3.0, 5.0]], [[7.0, 11.0]], reverse=True) == (76.0, [14.0, 22.0])


def test_cross_product_in_reverse() -> None:
    """4: the adjoint of (v ×) is (× v), and conversely."""
    v, w, dy = (1.0, 2.0, 3.0), (4.0, -5.0, 6.0), (0.5, 1.5, -2.0)
    expected = (tuple(np.cross(w, dy)), tuple(np.cross(dy, v)))
    assert linear("fun f x = cprod3 x", [v, w], [dy], reverse=True) == expected
    lists = tuple(map(list, expected))
    assert linear("fun f x = cross x", [list(v), list(w)], [list(dy)], reverse=True) == lists


def test_sums_of_many() -> None:
    """5: a 4-tuple that uses x four times, in reverse."""
    assert linear("fun f x = (x, x * x, x + x, 3 * x)", [2.0], [(1.0, 10.0, 100.0, 1000.0)], reverse=True) == 3241.0


def test_abs_and_tan() -> None:
    """6: they have derivatives."""
    assert linear("fun f x = abs x", [-2.0], [3.0]) == -3.0
    assert linear("fun f x = tan x", [0.5], [1.0]) == pytest.approx(1.0 / np.cos(0.5) ** 2)


def test_expressions() -> None:
    """7: values of expressions are those of functions."""
    text = read("fun f x = norm2sq x")
    assert text.expression("f (3, 4)") == "25.0"
    assert text.expression("(1, 2) * (3, 4)") == "(3.0, 8.0)"
    assert text.expression("red (to 1 [0, 0] [1]) [5, 6]") == "[6.0, 6.0]"


def test_relations_transpose() -> None:
    """9: pairs have a transpose, and the adjoint of red is the adjoint, back to the positions."""
    pairs = "fun f x = red [(1, 2), (3, 0), (1, 0)] x"
    assert linear(pairs, [[1.0, 2.0, 3.0]], [[1.0, 10.0]], reverse=True) == [11.0, 0.0, 1.0]
    to = "fun f x = red (to 1 [5, 6] [1]) x"
    assert linear(to, [[1.0, 2.0, 3.0]], [[1.0, 10.0]], reverse=True) == [0.0, 11.0, 0.0]


def test_values_and_derivatives_share() -> None:
    """10: 40 lets of x·x grow by a constant each, in all stages."""
    for stage in ("derivative", "adjoint", "forward", "reverse", "text", "expression"):
        sizes = {}
        for n in (10, 20, 40):
            lets = "".join(f"let x{k + 1} = x{k} * x{k} in " for k in range(n))
            text = f"fun f x0 = {lets}x{n}{' end' * n}"
            sizes[n] = len(read(text).functions["f"].stages()[stage](None, None))
        assert sizes[40] - sizes[20] <= 2.6 * (sizes[20] - sizes[10])


def test_zero_is_a_value() -> None:
    """11: 0 stands for zeros of the type that is due."""
    text = "fun f x = (0, x) + (x, 0)"
    assert value(text, 2.0) == (2.0, 2.0)
    assert linear(text, [2.0], [(3.0, 4.0)], reverse=True) == 7.0


# --- functions of the library ---


def test_the_example() -> None:
    """ln(x₁·cos x₂): the adjoint at 1 is (1/x₁, −tan x₂)."""
    f = read("fun f x = ln (#1 x * cos (#2 x))").f.of()
    g = grad(f)(R.vec(2.0), R.vec(0.5))
    assert g.flat() == pytest.approx([0.5, -np.tan(0.5)], rel=1e-14)


def test_loading(tmp_path: Path) -> None:
    (tmp_path / "a.cad").write_text("fun f x = x * x", "utf-8")
    (tmp_path / "b.cad").write_text("fun g x = f x + 1", "utf-8")
    both = load(tmp_path / "a.cad", tmp_path / "b.cad")
    assert list(both.functions) == ["f", "g"]
    assert {"f", "g"} <= set(dir(both))
    assert repr(both.g) == "<g : real -> real>"
    assert float(both.g(3)) == 10.0
    X = Fin.of(4)
    lifted = lift(fun(R, R)(lambda a, x: a * both.g(x)), X)
    assert lifted(R.vec(2.0), (R**X).vec([0.0, 1.0, 2.0, 3.0])).array.tolist() == [2.0, 4.0, 10.0, 20.0]
    assert str(structure(derivative(both.f.of()))) == "scaled"
    with pytest.raises(AttributeError, match="no function h: there are f, g"):
        _ = both.h
    with pytest.raises(SpaceError, match="load reads files of one language"):
        load(tmp_path / "a.cad", tmp_path / "b.txt")
    with pytest.raises(SpaceError, match="load reads files of one language"):
        load()


def test_named_axes() -> None:
    """Arrays may have names of axes, and a matrix is an array of arrays."""

    class Row: ...

    class Column: ...

    f = read("fun f A = dprod (map (fn r => dprod (r, r)) A, map (fn r => 1) A)").f
    V = R ** (Fin(Row, 2) * Fin(Column, 3))
    assert f.of(V).dom == V
    assert grad(f.of(V))(V.ones()).array.tolist() == [[2.0] * 3] * 2
    assert f.of(V) is f.of(V) or equal(f.of(V), f.of(V))
    rows = (R ** Fin(Column, 3)) ** Fin(Row, 2)
    assert float(f(rows.ones())) == 6.0
    g = read("fun f v = (v + [1, 2], #1 (v, v + [0, 1]) * v) fun h m = m + [[1, 2]]")
    W = R ** Fin(Row, 2)
    assert [p.array.tolist() for p in g.f(W.ones()).split()] == [[2.0, 3.0], [1.0, 1.0]]
    M = R ** (Fin(Row, 1) * Fin(Column, 2))
    assert g.h(M.ones()).array.tolist() == [[2.0, 3.0]]


def test_literals_have_the_axes_of_what_they_meet() -> None:
    """In a cross product and in the branches of a condition, as in a sum."""

    class Row: ...

    V = R ** Fin(Row, 3)
    found = read("""
        fun turned v = cross (v, [1, 2, 3])
        fun clipped p = if #1 p then #2 p + [1, 2, 3] else [4, 5, 6]
        fun both p = if #1 p then (#2 p, [[1, 2, 3], #2 p]) else ([0, 0, 1], [cross (#2 p, [1, 2, 3]), [1, 2, 3]])
    """)
    v = V.vec([1.0, 0.0, 2.0])
    assert found.turned.of(V).cod == V
    assert found.turned(v).array.tolist() == [-4.0, -1.0, 2.0]
    clipped = found.clipped.of(R, V)
    assert clipped.cod == V
    assert clipped(R.vec(1.0), v).array.tolist() == [2.0, 2.0, 5.0]
    assert clipped(R.vec(-1.0), v).array.tolist() == [4.0, 5.0, 6.0]
    first, second = found.both(R.vec(-1.0), v).split()
    assert first.space == V
    assert second.array.tolist() == [[-4.0, -1.0, 2.0], [1.0, 2.0, 3.0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.of(R), "f : (real * []real) -> []real: ℝ is no space for (real * []real)"),
        (lambda f: f.of(), "is no space for"),
        (lambda f: f.of(3), "f.of takes spaces, one for each component of (real * []real)"),
        (lambda f: f([1.0], [2.0]), "real is due, not a list of 1"),
        (lambda f: f(1.0), "(real * []real) is due, not a tuple of 1"),
        (lambda f: f(2.0, [[1.0]]), "real is due, not a list of 1"),
        (lambda f: f(2.0, ["a"]), 'real is due, not "a"'),
        (lambda f: f(R.vec(2.0), [1.0]), "f takes vectors and expressions, or plain values, and not both"),
    ],
)
def test_wrong_arguments(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(SpaceError) as caught:
        call(read("fun f x = sprod x").f)
    assert message in str(caught.value)


def test_unequal_rows() -> None:
    with pytest.raises(SpaceError, match="the elements of an array are of one length"):
        read("fun f x = map (fn r => dprod (r, r)) x").f([[1.0], [1.0, 2.0]])
    assert read("fun f x = map (fn r => dprod (r, r)) x").f([]).array.tolist() == []


def test_steps_do_not_depend_on_lengths() -> None:
    f = read("fun f a = map (fn y => if y - #1 a then y * y else #1 a) (#2 a)").f
    assert len(program(f.of(R, R ** Fin.of(3))).steps) == len(program(f.of(R, R ** Fin.of(10**6))).steps)


def test_garbage_is_not_searched_for_while_a_program_is_made() -> None:
    """It would be more often, and for longer, the more conditions stand in each other."""
    f = read(f"fun f x = {'if ' * 500}x{' then x else x' * 500}").f
    found: list[str] = []
    gc.collect()
    gc.callbacks.append(lambda phase, _: found.append(phase))
    try:
        f.of()
    finally:
        gc.callbacks.pop()
    assert found.count("start") <= 2  # after it, at the most
    assert gc.isenabled()


def test_condition_is_exact() -> None:
    """Only the branch that is taken has a derivative, also where the other one has none."""
    f = read("fun f xs = map (fn y => if y - 1 then pow 0.5 (y - 1) else 0) xs").f
    V = R ** Fin.of(3)
    m = matrix(derivative(f.of(V))(V.vec([0.0, 2.0, 5.0])), "array")
    assert m.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.25]]


@pytest.mark.parametrize(
    "text",
    [
        "fun f a = dprod (map (fn y => if y - #1 a then y * y else #1 a * sin y) (#2 a), #2 a)",
        "fun f a = #1 a *> map (fn y => (y, exp y)) (#2 a)",
    ],
)
def test_text_at_two_lengths_is_the_same(text: str) -> None:
    """The stages of terms do not say lengths."""
    f = read(text).f
    for stage in ("derivative", "adjoint", "forward", "reverse"):
        shown = f.stages()[stage](None, None)
        first, _, rest = shown.partition("\n")
        assert first == "(* arrays of 3 elements *)"
        V = f.of(*(s if not hasattr(s, "index") else R ** Fin.of(5) for s in f.like(None).dom.parts))
        assert STAGES[stage](V, None) == rest


@pytest.mark.parametrize(
    ("body", "lengths"),
    [
        ("dprod (#1 x, iota 5) + dprod (#2 x, iota 3)", "5, 3"),
        ("dprod (red (to 5 [1,2,3] [5,1,2]) (#1 x), #2 x)", "6, 3"),
        ("red [(1,2),(3,4)] (#1 x) + #2 x", "5, 2"),
        ("(#1 x + iota 4, #2 x + iota 2)", "4, 2"),
        ("dprod (cross (#1 x, #2 x), #3 x) + dprod (#4 x, iota 7)", "3, 3, 3, 7"),
        ("(#1 x + #2 x + iota 5, #3 x + #4 x + iota 4, #5 x)", "5, 5, 4, 4"),
        ("map (fn r => dprod (r, [1.0, 2.0, 4.0, 5.0])) (#1 x) + (#2 x + iota 7)", "7, 4, 7"),
    ],
)
def test_lengths_that_fit_are_chosen(body: str, lengths: str) -> None:
    """Each array has one of its own, where one for all does not fit."""
    f = read(f"fun f x = {body}").f
    assert f.stages()["adjoint"](None, None).startswith(f"(* arrays of {lengths} elements *)\n")


def test_lengths_that_do_not_fit() -> None:
    """The message is of the lengths that got furthest, and says what may be given, unless no length is the cause."""
    several = read("fun f x = map (fn y => y * y) (#1 x) + (#2 x + (#1 x + iota 12)) + iota 11").f
    with pytest.raises(TermError, match=r"of 12 and 11 elements: one length is due \(no lengths were found .* --at\)"):
        several.stages()["adjoint"](None, None)
    none = read("fun f x = iota 3 + iota 4 + #1 x + #2 x").f
    with pytest.raises(TermError, match=r"of 3 and 4 elements: one length is due$"):
        none.stages()["adjoint"](None, None)
