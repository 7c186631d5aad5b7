"""Large, deep and broken texts in the four languages, through the command: seconds, megabytes, exit status.

    make texts [ARGS="ks,cad,lam,py PATTERN"]

N is the depth, M the length in characters. What takes more than 20 s of the processor or 2 GB, or shows a mistake
of the library, is marked, and the exit status is then 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

N, M = 10**5, 10**7
SECONDS, MEGABYTES = 20, 2000
MEASURED = """
import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, os.waitstatus_to_exitcode(status))
"""
"""A small process that runs a command, for a minute of the processor; a fork of this one would count as large."""


def nested(before: str, inner: str, after: str, n: int = N) -> str:
    """An expression in brackets of some kind, so many times."""
    return before * n + inner + after * n


def ks(body: str, parameter: str = "(x : Float)", result: str = "Float") -> str:
    """A function of KS-Lisp."""
    return f"(def f {result} {parameter} {body})"


def cad(body: str) -> str:
    """A function of caddie."""
    return f"fun f x = {body}"


def lam(body: str) -> str:
    """A function of the λ-language."""
    return f"def f (x : real) = {body}"


def py(body: str) -> str:
    """A function of Python."""
    return f"import hilbert.all as hb\nf = hb.fun(hb.R)(lambda x: {body})\n"


COMMON = {
    "10 MB of (": "(" * M,
    "10 MB of [": "[" * M,
    "10 MB of )": ")" * M,
    "10 MB of {": "{" * M,
    "10 MB of <": "<" * M,
    '10 MB of "': '"' * M,
    "10 MB of spaces": " " * M,
    "10 MB of lines": "\n" * M,
    "one name of 10 MB": "a" * M,
    "one number of 10 MB": "1" * M,
    "one word of 10 MB of digits and points": "1." * (M // 2),
    "10 MB of NUL": "\0" * M,
    "10 MB of é": "é" * (M // 2),
    "a byte-order mark alone": "\ufeff",
    "nothing": "",
}
TEXTS: dict[str, dict[str, str]] = {
    "ks": {
        **COMMON,
        "brackets": ks(nested("(", "x", ")")),
        "calls": ks(nested("(sin ", "x", ")")),
        "calls, right number of brackets": ks(nested("(sin ", "x", ")", 19_000)),
        "calls of two": ks(nested("(add x ", "x", ")", 19_000)),
        "lets": ks("".join(f"(let (x{k} (mul x 0.5)) " for k in range(N)) + "x" + ")" * N),
        "lets, deep": ks("".join(f"(let (x{k} (mul x 0.5)) " for k in range(19_000)) + "x" + ")" * 19_000),
        "lets of lets": ks("(let (x " * 9_000 + "x" + ") (mul x 0.5))" * 9_000),
        "one let of 10⁵": ks("(let (" + "".join(f"(x{k} (mul x 0.5))" for k in range(N)) + ") x)"),
        "ifs": ks(nested("(if (gt x 0.0) x ", "x", ")", 19_000)),
        "ifs in conditions": ks("(if (gt " * 9_000 + "x" + " 0.0) x 1.0)" * 9_000),
        "tuples": ks(nested("(tuple 1.0 ", "x", ")", 19_000), result="Float"),
        "lambdas": ks(nested("(lam (y : Float) ", "x", ")", 19_000)),
        "builds": ks(nested("(sumbuild 1 (lam (i : Integer) ", "x", "))", 9_000)),
        "asserts": ks(nested("(assert true ", "x", ")", 19_000)),
        "types": ks("x", f"(x : {nested('(Vec ', 'Float', ')')})"),
        "types, deep": ks("1.0", f"(x : {nested('(Vec ', 'Float', ')', 19_000)})"),
        "types of tuples, deep": ks("1.0", f"(x : {nested('(Tuple Float ', 'Float', ')', 19_000)})"),
        "comments": nested("#|", "", "|#") + ks("x"),
        "comments, open": "#|" * (M // 2),
        "one comment of 10 MB": "; " + "a" * M + "\n" + ks("x"),
        "one string of 10 MB": ks(f'(let (s "{"a" * M}") x)'),
        "one string, open": ks('"' + "a" * M),
        "one line of 10 MB": ks("(add " + "x " * (M // 2) + ")"),
        "one line of 1 MB": " ".join(ks("(add x 1.0)").replace(" f ", f" f{k} ") for k in range(M // 450)),
        "one tuple of 10⁵": ks("(let (t (tuple " + "x " * 10**5 + ")) x)"),
        "one vector of 10⁵": ks("(Vec_init " + "x " * 10**5 + ")", result="(Vec Float)"),
        "structured names": ks("([fwd " * 1 + nested("[rev ", "sin", "]") + "] x x)"),
        "recursion without end": ks("(f (add x 1.0))"),
        "recursion of two calls": ks("(add (f x) (f x))"),
        "recursion that doubles": ks("(if (eq i 0) 1.0 (add (f (sub i 1)) (f (sub i 1))))", "(i : Integer)"),
        "a fold that changes type": ks("(fold (lam (t : Tuple Float Float) t) x (Vec_init x))"),
        "a fold of 10⁷": ks("(fold (lam (t : Tuple Float Float) (let ((a b) t) (add a b))) x (constVec 10000000 x))"),
        "a build of 10⁹": ks("(sum (build 1000000000 (lam (i : Integer) x)))"),
        "a build of builds": ks("(sumbuild 100000 (lam (i : Integer) (sumbuild 100000 (lam (j : Integer) x))))"),
        "10⁴ functions": "\n".join(ks("(mul x x)").replace(" f ", f" f{k} ") for k in range(10**4)),
        "200 functions that double": ks("(mul x x)").replace(" f ", " f0 ")
        + "".join(f"(def f{k} Float (x : Float) (f{k - 1} (f{k - 1} x)))" for k in range(1, 200))
        + ks("(f199 x)"),
    },
    "cad": {
        **COMMON,
        "brackets": cad(nested("(", "x", ")")),
        "brackets, deep": cad(nested("(", "x", ")", 19_000)),
        "calls": cad("sin " * N + "x"),
        "lets": cad(nested("let y = x in ", "x", " end")),
        "lets, deep": cad(nested("let y = x in ", "x", " end", 19_000)),
        "lets of lets": cad(nested("let y = ", "x", " in y end", 19_000)),
        "ifs": cad("if x then x else " * N + "x"),
        "ifs in conditions": cad(nested("if ", "x", " then x else x")),
        "ifs in conditions, deep": cad(nested("if ", "x", " then x else x", 19_000)),
        "ifs in branches": cad(nested("if x then ", "x", " else x")),
        "ifs in branches, deep": cad(nested("if x then ", "x", " else x", 19_000)),
        "maps": cad(nested("map (fn y => ", "1", ") [x]")),
        "maps, deep": cad(nested("map (fn y => ", "1", ") [x]", 19_000)),
        "arrays": cad(nested("[", "x", "]", 19_000)),
        "tuples": cad(nested("(1, ", "x", ")", 19_000)),
        "components": cad("#1 " * N + "x"),
        "powers": cad("pow 2 " * N + "x"),
        "a sum": cad("x + " * N + "x"),
        "a product": cad("x * " * N + "x"),
        "multiples": cad("x *> " * N + "x"),
        "relations": cad(f"red {nested('(', '[(1, 2)]', ')')} [x, 1, 2]"),
        "relations, transposed": cad(f"red [(1, 2)] {'^ T ' * N} [x, 1, 2]"),
        "relations, composed": cad(f"red [(1, 1)] {'o [(1, 1)] ' * N} [x, 1, 2]"),
        "comments": nested("(*", "", "*)") + cad("x"),
        "comments, open": "(*" * (M // 2),
        "one comment of 10 MB": "(*" + "a" * M + "*)" + cad("x"),
        "one line of 10 MB": cad("x * " * (M // 4)) + ")",
        "one line of 1 MB": " ".join(f"fun f{k} x = x * x + 1.5" for k in range(M // 300)),
        "one tuple of 10⁵": cad("#1 (" + "x, " * 10**5 + "x)"),
        "one array of 10⁵": cad("dprod ([" + "x, " * 10**5 + "x], [x])"),
        "occurs check": cad("x * (x, x)"),
        "a large array": cad("dprod (repl 10000000 x, repl 10000000 x)"),
        "a large array of arrays": cad("map (fn r => dprod (r, r)) (repl 10000000 (repl 10000000 x))"),
        "a large range": cad("dprod ([0 .. 10000000, 1], repl 10000000 x)"),
        "a large relation": cad("red (to 0 [0 .. 1000000, 1] [0]) ^ T repl 1000000 x"),
        "200 functions that double": "fun f0 x = x * x\n"
        + "".join(f"fun f{k} x = f{k - 1} (f{k - 1} x)\n" for k in range(1, 200))
        + cad("f199 x"),
        "10⁴ functions": "\n".join(f"fun f{k} x = x * x" for k in range(10**4)),
        "pairs of pairs": cad(nested("let x = (x, x) in ", "x", " end", 40)),
    },
    "lam": {
        **COMMON,
        "an item of 10 MB of (": "def f x = " + "(" * M,
        "brackets": lam(nested("(", "x", ")")),
        "brackets, deep": lam(nested("(", "x", ")", 9_000)),
        "calls": lam(nested("sin (", "x", ")", 9_000)),
        "applications": lam("sin " * N + "x"),
        "lambdas": lam("\\y. " * N + "x"),
        "lets": lam("let y = x in " * N + "x"),
        "lets of lets": lam(nested("let y = ", "x", " in y")),
        "ifs": lam("if x > 0 then x else " * N + "x"),
        "ifs in conditions": lam(nested("if ", "true", " then true else false")),
        "cases": "data T = A | B\n" + lam("case A of {A -> " * N + "x" + " | B -> x}" * N),
        "lists": lam(nested("[", "x", "]", 9_000)),
        "tuples": lam(nested("<x, ", "x", ">", 9_000)),
        "a list of 10⁵": lam("[" + "x, " * 10**5 + "x]"),
        "a vector of 10⁵": lam("[|" + "1, " * 10**5 + "1|]"),
        "conses": lam("x :: " * N + "[]"),
        "signs": lam("- " * N + "x"),
        "a sum": lam("x + " * N + "x"),
        "a product": lam("x * " * N + "x"),
        "types": f"def f (x : {nested('(', 'real', ')')}) = x",
        "types, arrows": f"def f (x : {'real -> ' * N}real) = x",
        "types, products": f"def f (x : {'real * ' * N}real) = x",
        "types, lists": f"def f (x : {'list (' * N}real{')' * N}) = x",
        "patterns": f"def f {'<x, ' * N}y{'>' * N} = y",
        "one comment of 10 MB": "-- " + "a" * M + "\n" + lam("x"),
        "one line of 10 MB": lam("x + " * (M // 4) + ")"),
        "occurs check": "def f x = x x",
        "recursion without end": "def f (x : real) : real = f x",
        "10⁴ functions": "\n".join(lam("x * x").replace(" f ", f" f{k} ") for k in range(10**4)),
        "200 functions that double": "def f0 x = x * x\n"
        + "".join(f"def f{k} x = f{k - 1} (f{k - 1} x)\n" for k in range(1, 200))
        + "def f x = f199 x",
        "a type of 10⁵ constructors": f"data T = {' | '.join(f'C{k}' for k in range(N))}",
        "a case of 90,000 branches": f"data T = {' | '.join(f'C{k}' for k in range(90_000))}\n"
        f"def f x = case x of {{{' | '.join(f'C{k} -> {k}' for k in range(90_000))}}}",
        "40 types that double": "def f0 x = <x, x>\n"
        + "".join(f"def f{k} x = f{k - 1} <x, x>\n" for k in range(1, 41)),
        "claims": lam("x") + "\nvalue f 1 = 1" * 10**4,
        "pullbacks": "value " + nested("pull(\\x. x*x, ", "cov(1)", ")", 9_000) + " 3 = 1",
        "open {": "def f x = case x of {",
    },
    "py": {
        **COMMON,
        "brackets": py(nested("(", "x", ")")),
        "calls": py(nested("hb.sin(", "x", ")")),
        "calls, as deep as Python": py(nested("hb.sin(", "x", ")", 90)),
        "a sum": py("x + " * 900 + "x"),
        "a sum, long": py("x + " * N + "x"),
        "lambdas": py("lambda y: " * N + "x"),
        "one comment of 10 MB": "#" + "a" * M + "\n" + py("x"),
        "one string of 10 MB": f's = "{"a" * M}"\n' + py("x"),
        "one string, open": 's = "' + "a" * M,
        "one line of 10 MB": ";".join("a = 1" for _ in range(M // 6)),
        "recursion without end": "import hilbert.all as hb\ndef g(x): return g(x)\nf = hb.fun(hb.R)(g)\n",
        "a trace of 10⁴ steps": "import hilbert.all as hb\ndef g(x):\n  for _ in range(10**4): x = hb.sin(x)\n"
        "  return x\nf = hb.fun(hb.R)(g)\n",
    },
}


def tried(kind: str, name: str, text: str, sub: str, folder: Path) -> bool:
    """One command on one text; whether it keeps the limits."""
    file = folder / f"t.{kind}"
    file.write_text(text, "utf-8")
    arg = "60" if "(i : Integer)" in text[:40] else "3"
    words = [sub, str(file), *(["f", arg] if sub == "run" else [])]
    command = [sys.executable, "-m", "adjoint.command", *words]
    done = subprocess.run([sys.executable, "-c", MEASURED, *command], capture_output=True, text=True, check=False)  # noqa: S603
    said = done.stderr.splitlines()
    used, megabytes, code = (float(word) for word in done.stdout.split())
    is_right = used < SECONDS and megabytes < MEGABYTES and code in (0, 1, 2)
    is_right &= not any("mistake of the library" in line or "Traceback" in line for line in said)
    first = said[0].replace(str(folder), "")[:110] if said else ""
    mark = "ok  " if is_right else "OVER"
    sys.stdout.write(f"{mark} {kind:4}{sub:6}{name:40} {used:6.1f} s {megabytes:6.0f} MB [{code:.0f}] {first}\n")
    sys.stdout.flush()
    return is_right


def main() -> None:
    """Run them."""
    kinds = sys.argv[1].split(",") if sys.argv[1:] else list(TEXTS)
    pattern = sys.argv[2] if sys.argv[2:] else ""
    subs = sys.argv[3].split(",") if sys.argv[3:] else ["check", "run"]
    with tempfile.TemporaryDirectory() as name:
        found = [
            tried(kind, case, text, sub, Path(name))
            for kind in kinds
            for case, text in TEXTS[kind].items()
            if re.search(pattern, case)
            for sub in subs
        ]
    sys.stdout.write(f"{len(found)} runs, {found.count(False)} over\n")
    sys.exit(not all(found))


if __name__ == "__main__":
    main()
