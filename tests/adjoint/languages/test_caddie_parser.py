"""What the parser of caddie refuses, production by production: the message, and where it stands."""

import pytest

from adjoint.languages import Source
from adjoint.languages.caddie import load, parser
from diff.higher import TermError

PARAMETER = "the parameter of f: a function takes one, which may be a tuple"
ATOM = "expected an expression"
END = "the end of the text"
OPEN = "or an operator: the bracket at t.cad:1:{} is open"
REFUSED = [
    # definitions
    ("fun 2 x = x", 5, "expected the name of a function, not '2'"),
    ("fun f 2 = x", 7, f"expected {PARAMETER}, not '2'"),
    ("fun f map = x", 7, f"expected {PARAMETER}, which is no word of the language, not 'map'"),
    ("fun f = x", 7, f"expected {PARAMETER}, not '='"),
    # exp and term
    ("fun f x = if x else 1", 16, "expected 'then', not 'else'"),
    ("fun f x = x +", 14, f"{ATOM}, not {END}"),
    ("fun f x = x *", 14, f"{ATOM}, not {END}"),
    ("fun f x = x *> if x then 1 else 2", 16, f"{ATOM}: an if as an operand stands in brackets, not 'if'"),
    # let and map
    ("fun f x = let 2 = x in x end", 15, "expected the name of a variable, not '2'"),
    ("fun f x = let y x in x end", 17, "expected '=', not 'x'"),
    ("fun f x = let y = x y end", 19, "x is a variable and no function: it is not applied"),
    ("fun f x = let y = x, y end", 20, "expected 'in', not ','"),
    ("fun f x = map (x => x) x", 16, "expected 'fn', not 'x'"),
    ("fun f x = map (fn 2 => x) x", 19, "expected the name of a variable, not '2'"),
    ("fun f x = map (fn y = x) x", 21, "expected '=>', not '='"),
    ("fun f x = map (fn y => y, x) x", 25, "expected ')', not ','"),
    ("fun f x = map (fn y => y) + x", 27, "there is no unary +: write 0 + x"),
    # brackets and arrays
    ("fun f x = (x, x", 16, f"expected ')' {OPEN.format(11)}, not {END}"),
    ("fun f x = (x, x]", 16, f"expected ')' {OPEN.format(11)}, not ']'"),
    ("fun f x = [x)", 13, f"expected ']' {OPEN.format(11)}, not ')'"),
    ("fun f x = [1 .. x, 1]", 17, "expected the end of a range, a number, not 'x'"),
    ("fun f x = [1 .. 2]", 18, "expected ',': a range is [from .. to, step], not ']'"),
    ("fun f x = [1 .. 2, x]", 20, "expected the step of a range, a number, not 'x'"),
    ("fun f x = [1 .. 2, 1, 3]", 21, "expected ']', not ','"),
    ("fun f x = [x .. 2, 1]", 12, "the start of a range is a number"),
    ("fun f x = [1 + 1 .. 2, 1]", 12, "the start of a range is a number"),
    # what stands before an atom
    ("fun f x = sin", 11, "sin is a function, and no value: apply it, as in sin x"),
    ("fun f x = (sin)", 12, "sin is a function, and no value: apply it, as in sin x"),
    ("fun f x = sin + x", 11, "sin is a function, and no value: apply it, as in sin (+…)"),
    ("fun f x = iota x", 16, "expected a number of elements, not 'x'"),
    ("fun f x = iota 1.5", 16, "expected a number of elements, from 0 to 10000000, not '1.5'"),
    ("fun f x = #x x", 12, "expected the number of a component, not 'x'"),
    ("fun f x = #-1 x", 12, "expected the number of a component, from 0 to 10000, not '-1'"),
    ("fun f x = pow - 1 x", 15, "there is no unary -: write 0 - x"),
    # relations
    ("fun f x = red (to 1 [1]) x", 24, f"{ATOM}, not ')'"),
    ("fun f x = red (id [1] [1] [1]) x", 27, "expected ')': the bracket at t.cad:1:15 is open, not '['"),
    ("fun f x = red (to 1 [1] [1] x", 29, "expected ')': the bracket at t.cad:1:15 is open, not 'x'"),
    ("fun f x = red (to 1 [1] [1])", 29, f"{ATOM}, not {END}"),
    ("fun f x = red [(1, 1)] ^ x", 26, "expected T: r ^ T is the transposed relation, not 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "column", "message"), REFUSED)
def test_refused(text: str, column: int, message: str) -> None:
    """The whole message."""
    with pytest.raises(TermError) as caught:
        load([Source("t.cad", text)])
    assert caught.value.place is not None
    assert (caught.value.message, caught.value.place.line, caught.value.place.column) == (message, 1, column)


def test_expressions() -> None:
    """An expression ends where the text does."""
    loaded = load([Source("t.cad", "fun f x = x + 1")])
    assert loaded.expression("f 1") == "2.0"
    for text, column in (("1 2", 3), ("f 1 fun g x = x", 5)):
        with pytest.raises(TermError, match="expected an operator or the end of the expression, not") as caught:
            loaded.expression(text)
        assert caught.value.place is not None
        assert caught.value.place.column == column


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fun f r = red r [1.0]", "[](int * int) -> []real"),
        ("fun f to = red (to) [1.0]", "[](int * int) -> []real"),
        ("fun f id = red (id ^ T) [1.0]", "[](int * int) -> []real"),
        ("fun f o = red o [1.0]", "[](int * int) -> []real"),
        ("fun to x = [(0, 0)] fun f x = red (to x) [1.0]", "real -> []real"),
        ("fun id x = [(0, 0)] fun f x = red (id x) [1.0]", "real -> []real"),
        ("fun T x = x fun f x = red (id 1 1) ^ T x", "[]real -> []real"),
        ("fun f x = red (to 1 [1] 1) x", "[]real -> []real"),
        ("fun f x = red ((id [1] [1]) o [(1, 1)]) x", "[]real -> []real"),
        ("fun f x = let x = x in x end", "real -> real"),
        ("fun f x = map (fn x => x) x", "[]real -> []real"),
        ("fun f pi = sin pi", "real -> real"),
        ("fun sin x = [x] fun f x = sin x", "real -> []real"),
    ],
)
def test_names(text: str, shown: str) -> None:
    """A parameter, a variable or a function of one's own by the name of what is built in."""
    assert load([Source("t.cad", text)]).functions["f"].signature == shown


@pytest.mark.parametrize(("before", "inside", "after"), [("", "x", ""), ("red ", "id 1 1", " x")])
def test_many_brackets(monkeypatch: pytest.MonkeyPatch, before: str, inside: str, after: str) -> None:
    """As many as one likes stand one after another, and only so many in each other."""
    monkeypatch.setattr(parser, "DEEPEST", 5)

    def read(n: int, times: int) -> None:
        one = f"{before}{'(' * n}{inside}{')' * n}{after}"
        parser.definitions([Source("t.cad", f"fun f x = {' + '.join([one] * times)}")])

    read(4, 7)
    with pytest.raises(TermError, match="nested more than 5 deep"):
        read(5, 1)
