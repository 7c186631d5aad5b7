"""Generated programs of caddie, each with its value in plain Python, on floats, tuples and lists.

A type is a letter: `r` a real, `t` a pair, `c` a triple, `a` an array of three reals, `p` of three pairs, `m` of three
arrays. Brackets are written where they are due, and now and then where they are not.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Env = dict[str, Any]
Oracle = Callable[[Env], Any]
EXP, SUM, TERM, PRODUCT, ATOM = range(5)
LEVELS = {"+": (SUM, SUM, TERM), "-": (SUM, SUM, TERM), "*": (PRODUCT, PRODUCT, ATOM), "*>": (TERM, PRODUCT, TERM)}
"""The level of what an operator makes, and those that are due to its left and right."""
OF = {"a": "r", "p": "t", "m": "a"}
"""The elements of arrays."""
LISTED = [("iota 3", [0.0, 1.0, 2.0]), ("[1 .. 2.5, 0.5]", [1.0, 1.5, 2.0]), ("[2 .. -1, -1]", [2.0, 1.0, 0.0])]
"""Constant arrays, and what they are."""
ARRAY = {of: ty for ty, of in OF.items()}
TYPES = "rtcapm"
LARGEST = 100.0
NEAREST = 1e-3
"""How large a value may become, and how near to the point where a condition or |x| changes."""


class UnfitError(Exception):
    """A value is too large, or too near to a kink: another point or program is due."""


class Term(NamedTuple):
    """A text, the level of its outermost sign, and what it is."""

    text: str
    level: int
    value: Oracle

    def at(self, level: int) -> str:
        """Where a term of a level is due."""
        is_signed = self.text.startswith("-") and level == ATOM
        return f"({self.text})" if self.level < level or is_signed else self.text


class Function(NamedTuple):
    """One of the text: its name, the types of its argument and result, and what it is."""

    name: str
    arg: str
    result: str
    value: Oracle
    """What it is where its argument is x."""


class Related(NamedTuple):
    """A relation: its domain and codomain, listed, and its pairs."""

    rows: list[int]
    columns: list[int]
    pairs: set[tuple[int, int]]

    def transposed(self) -> "Related":
        """r ^ T."""
        return Related(self.columns, self.rows, {(j, i) for i, j in self.pairs})

    def after(self, s: "Related") -> "Related":
        """r o s."""
        return Related(s.rows, self.columns, {(i, k) for i, j in s.pairs for m, k in self.pairs if j == m})

    def reduced(self, v: list[Any]) -> list[Any]:
        """red r v."""
        return [total([v[j] for j in sorted(set(self.columns)) if (i, j) in self.pairs], like=v[0]) for i in self.rows]


def pointwise(f: Callable[..., Any], *args: Any) -> Any:
    """Entry by entry, through tuples and lists."""
    first = args[0]
    if isinstance(first, (tuple, list)):
        return type(first)(pointwise(f, *parts) for parts in zip(*args, strict=True))
    found = f(*args)
    if not abs(found) < LARGEST:
        raise UnfitError
    return found


def plus(a: Any, b: Any) -> Any:
    """a + b."""
    return pointwise(lambda x, y: x + y, a, b)


def total(values: Sequence[Any], like: Any) -> Any:
    """Σ of values, zero for none."""
    found = pointwise(lambda _: 0.0, like)
    for one in values:
        found = plus(found, one)
    return found


def times(a: Any, b: Any) -> Any:
    """a * b, entry by entry."""
    return pointwise(lambda x, y: x * y, a, b)


def scaled(k: float, a: Any) -> Any:
    """k *> a."""
    return pointwise(lambda x: k * x, a)


def crossed(a: Any, b: Any) -> Any:
    """a × b."""
    found = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return pointwise(lambda x: x, type(a)(found))


def far(x: float) -> float:
    """A value whose sign matters."""
    if abs(x) < NEAREST:
        raise UnfitError
    return x


def both(f: Callable[..., Any], *parts: Term) -> Oracle:
    """f of the values of terms."""
    return lambda env: f(*(part.value(env) for part in parts))


class Programs:
    """Well-typed programs; `counts` has what is in them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.functions: list[Function] = []
        self.names = 0

    def program(self, n: int) -> tuple[str, Callable[[float, list[float]], Any]]:
        """A text whose last function is f : (real * []real) -> …, with about n nodes, and the value of f."""
        own = []
        for k in range(self.rng.randrange(4)):
            arg, result = self.rng.choice(TYPES), self.rng.choice(TYPES)
            body = self.term(result, self.rng.randrange(2, 8), {"x": arg})
            space = self.rng.choice(["\n", " ", " (* a comment *)\n"])
            own.append(f"fun g{k} y = let x = {self.seen('y', arg)} in {body.text} end{space}")
            self.functions.append(Function(f"g{k}", arg, result, body.value))
        f = self.term(self.rng.choice(TYPES), n, {"x": "r", "xs": "a"})
        text = f"{''.join(own)}fun f p = let x = #1 p in let xs = {self.seen('(#2 p)', 'a')} in {f.text} end end"
        return text, lambda x, xs: f.value({"x": x, "xs": xs})

    def seen(self, x: str, ty: str) -> str:
        """A variable, in a way that says its type."""
        ways = {
            "t": f"(#1 {x}, #2 {x})",
            "c": f"(#1 {x}, #2 {x}, #3 {x})",
            "a": f"{x} + [0, 0, 0]",
            "p": f"map (fn q => (#1 q, #2 q)) {x}",
            "m": f"{x} + repl 3 [0, 0, 0]",
        }
        return ways.get(ty, x)

    def term(self, ty: str, n: int, scope: dict[str, str]) -> Term:
        """A term of a type, with about n nodes."""
        if n <= 1:
            return self.leaf(ty, scope)
        rules = ["let", "if", "sign", "sign", "*>", "#", "zero"]
        rules += {"r": [*NUMBERS, *PRODUCTS], "t": ["tuple"], "c": ["tuple", "cprod3"]}.get(
            ty, ["list", "map", "map", "red", "repl"]
        )
        rules += ["cross", "sprod"] if ty == "a" else []
        rules += ["own"] * 2 if any(f.result == ty for f in self.functions) else []
        rule = self.rng.choice(rules)
        made = self.rule(rule, ty, n - 1, scope)
        self.counts[rule] += 1
        if self.rng.randrange(12):
            return made
        self.counts["brackets"] += 1
        return Term(f"({made.text})", ATOM, made.value)

    def leaf(self, ty: str, scope: dict[str, str]) -> Term:
        """A variable or constants."""
        known = [name for name, one in scope.items() if one == ty]
        if known and self.rng.randrange(4):
            name = self.rng.choice(known)
            return Term(name, ATOM, lambda env: env[name])
        match ty:
            case "r" if not self.rng.randrange(8):
                self.counts["pi"] += 1
                return Term("pi", ATOM, lambda _: math.pi)
            case "r":
                text = self.rng.choice(["2", "-1", "0.5", "-0.25", "1.", f"{self.rng.uniform(-1, 1):.3f}"])
                return Term(text, ATOM, lambda _: float(text))
            case "a" if self.rng.randrange(2):
                word, listed = self.rng.choice(LISTED)
                self.counts[word[:4] if word[0] == "i" else "range"] += 1
                return Term(word, ATOM, lambda _: listed)
            case _:  # of parts
                return self.rule("tuple" if ty in "tc" else "list", ty, 0, scope)

    def rule(self, rule: str, ty: str, n: int, scope: dict[str, str]) -> Term:
        """A term whose outermost form is that of a rule."""
        pick = self.rng.choice
        half = max(1, n // 2)

        def part(other: str = ty, k: int = half, more: dict[str, str] | None = None) -> Term:
            return self.term(other, k, scope | (more or {}))

        match rule:
            case "let":
                other, name = pick(TYPES), self.fresh()
                value, body = part(other), part(more={name: other})
                text = f"let {name} = {value.text} in {body.text} end"
                return Term(text, ATOM, lambda env: body.value({**env, name: value.value(env)}))
            case "if":
                c, x = part("r"), part()
                y = self.nought() if ty in "rtc" and not self.rng.randrange(3) else part()
                text = f"if {c.text} then {x.text} else {y.text}"
                return Term(
                    text, EXP, lambda env: x.value(env) if far(c.value(env)) >= 0 else zero(y.value(env), x, env)
                )
            case "sign":
                sign = pick("+-*")
                self.counts[sign] += 1
                x, y = part(), part()
                f = {"+": plus, "-": lambda a, b: plus(a, scaled(-1.0, b)), "*": times}[sign]
                return self.signed(sign, x, y, f)
            case "*>":
                return self.signed("*>", part("r"), part(), scaled)
            case "zero":
                x = part(ty, n)
                text = pick([f"0 + {x.at(TERM)}", f"{x.at(SUM)} - 0", f"{x.at(SUM)} + 0"])
                return Term(text, SUM, x.value)
            case "#":
                x, first = part(), part(pick(TYPES), 1)
                text = pick([f"#2 ({first.text}, {x.text})", f"#1 ({x.text}, {first.text})"])
                return Term(text, ATOM, x.value)
            case "own":
                own = pick([one for one in self.functions if one.result == ty])
                x = part(own.arg, n)
                return Term(f"{own.name} {x.at(ATOM)}", ATOM, lambda env: own.value({"x": x.value(env)}))
            case "tuple":
                parts = [
                    part("r", max(1, n // len("xy" if ty == "t" else "xyz"))) for _ in ("xy" if ty == "t" else "xyz")
                ]
                return Term(f"({', '.join(p.text for p in parts)})", ATOM, both(lambda *xs: xs, *parts))
            case "list":
                parts = [part(OF[ty], n // 3) for _ in range(3)]
                return Term(f"[{', '.join(p.text for p in parts)}]", ATOM, both(lambda *xs: list(xs), *parts))
            case "map":
                of, name = pick("rta"), self.fresh()
                over, body = part(ARRAY[of]), part(OF[ty], half, {name: of})
                text = f"map (fn {name} => {body.text}) {over.at(ATOM)}"
                return Term(text, ATOM, lambda env: [body.value({**env, name: x}) for x in over.value(env)])
            case "red":
                written, related = self.relation(pick([0, 0, 1, 2]))
                x = part(ty, n)
                return Term(f"red {written} {x.at(ATOM)}", ATOM, lambda env: related.reduced(x.value(env)))
            case "repl":
                x = part(OF[ty], n)
                return Term(f"repl 3 {x.at(ATOM)}", ATOM, lambda env: [x.value(env)] * 3)
            case "cross" | "cprod3":
                return self.product(rule, part(), part(), crossed)
            case "sprod":
                return self.product(rule, part("r"), part(), scaled)
            case "dprod" | "dprod3":
                other = "a" if rule == "dprod" else "c"
                return self.product(rule, part(other), part(other), lambda x, y: total(times(x, y), like=0.0))
            case "norm2sq":
                return self.product(rule, part("r"), part("r"), lambda x, y: pointwise(lambda a: a, x * x + y * y))
            case _:  # of a number
                return self.number(rule, part("r", n))

    def fresh(self) -> str:
        """A name of a variable; few, so that they hide each other."""
        return self.rng.choice("uvwxyz")

    def nought(self) -> Term:
        """0 of any type; of arrays it has no length, and is left out."""
        return Term("0", ATOM, lambda _: None)

    def signed(self, sign: str, x: Term, y: Term, f: Callable[..., Any]) -> Term:
        """x ± y."""
        own, left, right = LEVELS[sign]
        return Term(f"{x.at(left)} {sign} {y.at(right)}", own, both(f, x, y))

    def product(self, name: str, x: Term, y: Term, f: Callable[..., Any]) -> Term:
        """A product of the parts of a pair, which may have a name."""
        pair = f"({x.text}, {y.text})"
        text = self.rng.choice([f"{name} {pair}", f"let pair = {pair} in {name} pair end"])
        return Term(text, ATOM, both(f, x, y))

    def number(self, rule: str, x: Term) -> Term:
        """A function of a real, on an argument where its value is moderate."""
        damped = f"(1.5 + sin {x.at(ATOM)})"
        if rule == "pow":
            exponent = self.rng.choice(["2", "3", "2.0", "-1.0", "0.5"])
            return Term(f"pow {exponent} {damped}", ATOM, both(lambda v: (1.5 + math.sin(v)) ** float(exponent), x))
        f = NUMBERS[rule]
        if rule in ("ln", "exp", "tan"):
            inner = damped if rule != "tan" else f"(0.5 * {damped})"
            k = 0.5 if rule == "tan" else 1.0
            return Term(f"{rule} {inner}", ATOM, both(lambda v: f(k * (1.5 + math.sin(v))), x))
        return Term(f"{rule} {x.at(ATOM)}", ATOM, both(lambda v: f(far(v) if rule == "abs" else v), x))

    # --- relations ---

    def relation(self, depth: int) -> tuple[str, Related]:
        """A relation whose domain has three elements and whose codomain is in {0, 1, 2}, as the argument of red."""
        if not depth:
            return self.simple(range(6), range(3))
        match self.rng.randrange(3):
            case 0:
                text, r = self.simple(range(3), range(6), transposed=True)
                self.counts["^ T"] += 1
                return f"({text} ^ T)" if self.rng.randrange(2) else f"{text} ^ T", r.transposed()
            case 1:
                self.counts["o"] += 1
                (left, r), (right, s) = self.simple(range(6), range(3)), self.simple(range(6), range(6))
                return f"{left} o {right}", r.after(s)
            case _:
                text, r = self.relation(depth - 1)
                return f"({text})", r

    def simple(self, rows: range, columns: range, *, transposed: bool = False) -> tuple[str, Related]:
        """to, id or pairs; three rows, or three columns if it will be transposed."""
        few, many = list(columns), list(rows)
        if transposed:
            few, many = many, few
        three = self.rng.sample(many, 3)
        some = self.rng.sample(few, self.rng.randrange(1, 4))
        own, other = (some, three) if transposed else (three, some)
        rule = self.rng.choice(["to", "id", "pairs"])
        self.counts[rule] += 1
        match rule:
            case "to":
                k = self.rng.choice(other)
                text = f"(to {k} {self.indices(own)} {self.indices(other)})"
                return text, Related(own, other, {(i, k) for i in own})
            case "id":
                text = f"(id {self.indices(own)} {self.indices(other)})"
                return text, Related(own, other, {(i, i) for i in own if i in other})
            case _:
                found = [(i, self.rng.choice(other)) for i in own] + [(self.rng.choice(own), j) for j in other]
                firsts, seconds = list(dict.fromkeys(i for i, _ in found)), list(dict.fromkeys(j for _, j in found))
                return f"[{', '.join(f'({i}, {j})' for i, j in found)}]", Related(firsts, seconds, set(found))

    def indices(self, found: list[int]) -> str:
        """Indices as an array, a range, or one of them."""
        if len(found) == 1 and self.rng.randrange(2):
            return str(found[0])
        if found == list(range(found[0], found[0] + len(found))):
            self.counts["range of indices"] += 1
            return f"[{found[0]} .. {found[-1] + 1}, 1]"
        return f"[{', '.join(map(str, found))}]"


def zero(value: Any, like: Term, env: Env) -> Any:
    """A value, or zeros where it is None."""
    return pointwise(lambda _: 0.0, like.value(env)) if value is None else value


NUMBERS: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "exp": math.exp,
    "ln": math.log,
    "abs": abs,
    "pow": abs,
}
"""Functions of a real; pow takes its exponent besides."""
PRODUCTS = ["dprod", "dprod3", "norm2sq"]
