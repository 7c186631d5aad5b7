"""The texts of `--help` and `--version`; nothing of the library is imported for them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGES = {
    "check": "hilbert check FILE...",
    "run": "hilbert run FILE [NAME [ARG...]]  or  hilbert run FILE -e EXPR [-e EXPR]...",
    "diff": "hilbert diff FILE NAME --at ARG... [--along ARG...] [--reverse]",
    "show": "hilbert show FILE NAME --stage STAGE [--at ARG...] [-o OUT [--force]]",
    "verify": "hilbert verify FILE [NAME [--at ARG...]]",
}
"""The usage of each sub-command."""
USAGE = "\n".join(["usage:", *(f"  {usage}" for usage in USAGES.values()), "  hilbert SUB-COMMAND --help"])
FILES = """FILE is a Python file (.py), which is executed, and NAME one of its variables that is a function of the
library; or a text of caddie (.cad), KS-Lisp (.ks) or of the λ-language (.lam), and NAME one of its functions. FILE:NAME
may stand for FILE NAME; `-` is the standard input, whose language --lang names (py, lam, cad, ks). Files with commas
between are read in that order, as one. Values of the λ-language are written as in its texts: '(Just 2)', '[1, 2]',
'<1, 2>'. For KS-Lisp, --no-prelude leaves the prelude out, and --steps N ends an evaluation after N calls."""
VALUES = """ARG is a value: 2, -1e-3, inf, nan, true, "text", (), (v, w), (v,), [v, w], nested. A vector is a list of
numbers, a matrix a list of rows, an element of a direct sum a tuple; that of an index set is its position or label.
@x.npy, @x.npz:KEY, @x.json and @x.txt read files, which refer to no others. Several ARGs are one tuple. `--` ends
options: what follows --at -- are values of --at. A number such as -1e-3 is never an option.
A value is printed in the same syntax: what is printed can be given again, bit for bit."""
STATUS = """Exit status: 0; 1 for an error in the text or while it runs, as FILE:LINE:COLUMN: message; 2 for usage."""
HELP = {
    "": f"""hilbert: functions in a file are checked, run, differentiated, shown and verified.

{USAGE}
  hilbert --version

{FILES}

{VALUES}

{STATUS}""",
    "check": f"""{USAGES["check"]}

One line for each function of the files, in the order of the text: NAME : ARGUMENT -> RESULT.

  hilbert check model.py
  hilbert check lesson.cad

{FILES}""",
    "run": f"""{USAGES["run"]}

The value of NAME at the ARGs; or of expressions, in the names of the file. Without NAME, a .ks file
runs main, a .lam file its claims.

  hilbert run model.py loss '[1, 2]' '[0.5, -0.5]' 1
  hilbert run model.py -e 'loss(w, x, y)' -e 'w @ x'
  hilbert run lesson.cad -e 'norm (iota 4)'
  hilbert run notes.ks -e '([rev f2] 1.5 1.0)'
  hilbert run claims.lam
  hilbert run claims.lam fromMaybe 3 '(Just 2)'

{FILES}

{VALUES}""",
    "diff": f"""{USAGES["diff"]}

The derivative of NAME at a point along a tangent; with --reverse its adjoint at a cotangent. Where the result is one
real that is 1.0 if it is left out, and what is printed is the gradient. Tangents of discrete values are ().

  hilbert diff model.py loss --at '[1, 2]' '[0.5, -0.5]' 1 --along '[1, 0]' '[0, 0]' 0
  hilbert diff model.py loss --at '[1, 2]' '[0.5, -0.5]' 1 --reverse

{FILES}

{VALUES}""",
    "show": f"""{USAGES["show"]}

A stage of NAME as a text, never cut; --stage list names the stages.

  text        the function as it was written
  expression  caddie: the expression that the calculus starts from
  pointfree   the function by combinators
  program     its steps, one a line
  python      a module of numpy that computes the function without the library
  derivative  the derivative: at a point with --at
  adjoint     the adjoint of the derivative
  forward     the derivative along a tangent that is an argument
  reverse     the adjoint of the derivative at a cotangent that is an argument
  structure   what is proved of the matrix of the derivative
  diagram     a string diagram, as SVG, of Python; with --at, that of the derivative there
  cost        what a call costs; with --at, what the derivative there costs
  anf, steps, taylor   .lam: the A-normal form, the steps of the pullback at a point, D_(1,1)

-o writes it into a file, never into one that is read. A file that exists is replaced if it ends in .txt, others with
--force only.

  hilbert show model.py loss --stage derivative
  hilbert show model.py:loss --stage structure --at '[1, 2]' '[0.5, -0.5]' 1

{FILES}""",
    "verify": f"""{USAGES["verify"]}

The derivative of NAME, or of each function, against differences, and its adjoint against the derivative; at a point, or
at one that is drawn. The exit status is 1 if one is wrong.

  hilbert verify model.py
  hilbert verify model.py loss --at '[1, 2]' '[0.5, -0.5]' 1

{FILES}""",
}
"""The help of the command, and of each sub-command."""


def answer(words: Sequence[str]) -> str | None:
    """The answer to a command line that asks for help or for the version; None for the others."""
    match words:
        case ["--help" | "-h" | "help", *rest]:
            return HELP[rest[0] if rest and rest[0] in HELP else ""]
        case ["--version", *_]:  # the others do not pay for importlib.metadata, a tenth of `check`
            return f"hilbert {import_module('importlib.metadata').version('hilbert')}"
        case [first, *rest] if first in USAGES and ("--help" in rest or "-h" in rest):
            return HELP[first]
        case _:  # a sub-command is to be followed
            return None
