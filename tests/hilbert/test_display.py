"""What notebooks, IPython and Rich are given: text, mathematics and tables, and nothing that runs or hides."""

import io
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from rich.console import Console

import hilbert.all as hb
from hilbert import R
from hilbert.display.display_methods import LINES
from hilbert.display.lines import wrapped
from hilbert.display.number_table import ARRAYS, MOST
from hilbert.display.tex import TOKENS, formula, line
from hilbert.displayed import Displayed
from hilbert.map.map import Map
from hilbert.relation import function
from tests.rooms import ROOT


class Pixel: ...


class Hidden: ...


X, Y = hb.Fin(Pixel, 4), hb.Fin(Hidden, 3)


class Params(hb.Record):
    W1: hb.Part[hb.Matrix[Hidden, Pixel]]
    b_1: hb.Part[hb.Vector[Hidden]]


P = Params(W1=R ** (Y * X), b_1=R**Y)
layer = hb.fun(P, R**X)(lambda p, x: hb.tanh(p[Params.W1] @ x + p[Params.b_1]))
loss = hb.fun(P, R**X, R**Y)(lambda p, x, t: ((layer(p, x) - t) ** 2).sum())
cell = hb.fun(R ** (Y * Y), (R**Y) ** hb.Fin.of(5))(
    lambda W, xs: hb.fold(lambda s, x: hb.sigmoid(W @ s) * hb.tanh(s + x), hb.const((R**Y).zeros()), xs)
)
quartic = hb.fun(R**X)(lambda x: (x**4).sum() + x.sum() ** 2)
hessian = hb.derivative(hb.grad(quartic))

FORMULAS: dict[str, Any] = {
    "function": layer,
    "gradient": hb.grad(loss),
    "derivative": hb.derivative(layer),
    "adjoint": hb.adjoint(hb.derivative(layer)),
    "loop": hb.derivative(cell),
    "hessian": hessian,
    "composed": hb.compose([hb.sin] * 1000),
    "linear": hb.project(R**X, 2) + hb.total(X),
    "space": layer.dom,
    "record": P,
    "discrete": hb.Elements(X),
    "index": X * Y + hb.Fin.of(2),
    "relation": function([0, 1, 2, 0], X, Y),
}
TEXTS: dict[str, Any] = {
    "structure": hb.structure(hessian),
    "cost": hb.cost(hessian),
    "running": hb.cost(loss),
    "report": hb.check(quartic, (R**X).ones()),
    "verification": hb.verify(quartic, at=(R**X).ones()),
    "explanation": hb.explain(hessian),
    "measure": hb.measure(layer),
    "lens": Params.b_1,
    "source": hb.source(layer),
}
VECTORS: dict[str, Any] = {
    "matrix": (R ** (Y * X)).vec(np.arange(12.0).reshape(3, 4)),
    "record of parts": P.ones(),
    "number": R.vec(-2e-5),
    "formal": (R**X).ones().tensor((R**Y).ones()),
}
ALL = FORMULAS | TEXTS | VECTORS


def forms(value: object, include: list[str] | None = None) -> dict[str, str]:
    """What IPython gives to its front end, by the kind of data."""
    formatter: Any = DisplayFormatter()
    data: dict[str, str] = formatter.format(value, include=include)[0]
    return data


def accepted(tex: str) -> None:
    """Balanced braces and environments, no two scripts of a kind on one symbol, no & outside of `aligned`."""
    assert tex.count(r"\begin{aligned}") == tex.count(r"\end{aligned}")
    bare = re.sub(r"\\([\\{}$&#%_|,! ])", " ", tex)  # signs that are printed, and ends of rows
    assert not re.search(r"[$#%~]", bare)
    assert "&" not in bare or r"\begin{aligned}" in tex
    depth, last = 0, [set[str]()]
    for token in re.finditer(r"\\[A-Za-z]+|[\^_]\{|[{}]|'+|\S", bare):
        text = token[0]
        if text.endswith("{"):
            sign = text[:-1]
            if sign:
                assert sign not in last[-1], tex
                last[-1] = last[-1] | {sign}
            depth += 1
            last.append(set())
        elif text == "}":
            depth -= 1
            last.pop()
            if bare[token.start() - 1] == "{":  # {} begins a new symbol
                last[-1] = set()
        elif text.startswith("'"):
            assert "^" not in last[-1], tex
            last[-1] = last[-1] | {"^"}
        else:
            assert text not in "^_", tex
            last[-1] = set()
        assert depth >= 0, tex
    assert depth == 0, tex


@pytest.mark.parametrize("name", ALL)
def test_forms(name: str) -> None:
    """Each object has the four methods; a notebook shows a formula, or a table, or the text."""
    value = ALL[name]
    assert isinstance(value, Displayed)
    data = forms(value)
    assert data.pop("text/plain") == str(value)
    shown = {"formula": ["text/latex"], "text": ["text/html"], "numbers": ["text/html", "text/latex"]}
    assert sorted(data) == shown[value._displays] == shown[kind(name)]
    if "text/latex" in data:
        tex = data["text/latex"]
        assert tex.startswith(r"$\displaystyle ")
        assert tex.endswith("$")
        accepted(tex[1:-1])
        assert tex.count(r"\\") <= LINES + 1
    if name in TEXTS:
        assert data["text/html"].startswith("<pre>")


def kind(name: str) -> str:
    """The way that an object is displayed."""
    return "formula" if name in FORMULAS else "text" if name in TEXTS else "numbers"


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("(W, x) ↦ tanh(W₁⋆x+b)", r"(W,x)\mapsto \mathrm{tanh}(W_{1}\star x+b)"),
        ("ℝ^{Pixel4×(Y3+2)} ⊕ ℝ₃₂^H", r"\mathbb{R}^{\mathrm{Pixel4}\times (\mathrm{Y3}+2)}\oplus \mathbb{R}_{32}^{H}"),
        ("(cos x)·x₁² + sin(y)", r"(\operatorname{cos}x)\cdot x_{1}^{2}+\mathrm{sin}(y)"),
        ("tanh'(u₁)²ᵀ", r"\operatorname{tanh}'(u_{1})^{2}{}^{\mathsf{T}}"),
        ("π_my_part₁ • ι₂", r"\pi _{\mathrm{my\_part}_{1}}\bullet \iota _{2}"),
        ("Σ_{i, k} W_out[j]·x[k]", r"\sum _{i,k}\ \mathrm{W\_out}[j]\cdot x[k]"),
        ("Σ • π₁", r"\Sigma \bullet \pi _{1}"),
        ("log_softmax_k(A[i, k])[j]", r"\mathrm{log\_softmax}_{k}(A[i,k])[j]"),
        ("red[aᵀ]_i(x[i])", r"\mathrm{red}[a^{\mathsf{T}}]_{i}(x[i])"),
        ("(_ᵀ∗x) ∘ (_^3)", r"(\_^{\mathsf{T}}\ast x)\circ (\_^{3})"),
        ("1e−05·x^−0.5", r"1\cdot 10^{-5}\cdot x^{-0.5}"),
        ("s ↦ s′, band(−1..1)", r"s\mapsto s',\mathrm{band}(-1{.}{.}1)"),
        ("⟨bias: f⟩ : ℝ^{H1:4}", r"\langle \mathrm{bias}\colon f\rangle :\mathbb{R}^{\mathrm{H1}{:}4}"),
        ("été + 名前", r"\text{été}+\text{名前}"),
        (r"a$b & c\d#%~<e>", r"a\$b\&c\backslash d\#\%\sim \lt e\gt "),
    ],
)
def test_signs(text: str, tex: str) -> None:
    """Words, scripts and signs, each in TeX's way; no character of a name is TeX's."""
    assert line(text) == tex
    accepted(tex)


def test_a_group_that_goes_on_in_the_next_line() -> None:
    """A script is closed at the end of a line, and opened again."""
    assert formula(["ℝ^{A×", "    B} ⊕ ℝ"]) == (
        r"\begin{aligned}&\mathbb{R}^{A\times }\\&\quad {}^{B}\oplus \mathbb{R}\end{aligned}"
    )


def test_definitions_are_aligned() -> None:
    """At their signs; what is left out is said in words."""
    made = formula(["x ↦ u₁", "  where u₁ = a·x", "      + b", "  where a ∈ ℝ^2"], "… 7 more lines of a_b")
    assert made == (
        r"\begin{aligned}&x\mapsto u_{1}\\"
        r"&\begin{aligned}\text{where }u_{1}&=a\cdot x\\&\quad +b\\\text{where }a&\in \mathbb{R}^{2}\end{aligned}\\"
        r"&\text{… 7 more lines of a}\_\text{b}\end{aligned}"
    )


def printed() -> set[str]:
    """Lines with signs of the printed language, of the pages and the library."""
    files = [*(ROOT / "docs").glob("*.md"), *(ROOT / "diff").rglob("*.py"), *(ROOT / "linmap").rglob("*.py")]
    return {one for path in files for one in path.read_text("utf-8").split("\n") if re.search("[↦•∘⊕⋆ℝ]", one)}


def test_any_line_is_a_formula() -> None:
    """Whatever stands in it, whole or wrapped; no character is skipped. (KaTeX took all of these, too.)"""
    lines = printed()
    assert len(lines) > 1200
    for text in lines:
        accepted(line(text))
        accepted(formula(wrapped(text, 60)))
    assert all("".join(t[0] for t in TOKENS.finditer(text)) == text for text in lines)


def test_long_terms_end_after_twenty_lines() -> None:
    """The last line says how many more there are."""

    def body(x: Any) -> Any:
        for k in range(2, 60):
            x = hb.tanh(k * x) * x + hb.exp(x * x)
        return x

    f = hb.fun(R**X)(body)
    count = len(hb.show(f, digits=6).split("\n"))
    assert count > 50
    tex = f._repr_latex_()
    assert tex is not None
    found = re.search(r"&\\text\{… (\d+) more lines and (\d+) more definitions: print\(f\) shows more of them\}", tex)
    assert found
    assert LINES - 1 + int(found[1]) + int(found[2]) == count  # each definition has a line
    accepted(tex[1:-1])
    rows = re.sub(r"\\(begin|end)\{aligned\}", "", tex).count(r"\\") + 1
    assert rows == LINES
    wide = hb.direct_sum(*[R ** (X * Y)] * 500)._repr_latex_()
    assert wide is not None
    assert wide.count(r"\\") == LINES - 1


@pytest.mark.parametrize(
    "V",
    [
        R ** hb.Fin.of(1000),
        R ** (hb.Fin.of(50) * hb.Fin.of(60)),
        R ** (hb.Fin.of(9) * X * hb.Fin.of(11)),
        hb.direct_sum(*[R] * 300),
        R ** hb.Fin.of(0),
        R,
        hb.direct_sum(),
        hb.direct_sum(R ** hb.Fin.of(150), P),
    ],
)
def test_at_most_two_hundred_numbers(V: Any) -> None:
    """Those that are shown and those that are said to be left out are all of the arrays that are shown."""
    table = V.ones()._repr_html_()
    shown = table.count("<td>1</td>")
    assert shown <= MOST
    left = sum(map(int, re.findall(r"… (\d+) more numbers", table)))
    arrays = sum(map(int, re.findall(r"… (\d+) more arrays", table)))
    count = table.count("<table>")
    assert count <= ARRAYS
    assert count + arrays == len(V.leaves)
    assert shown + left == sum(leaf.size for leaf in V.leaves[:count])


def test_parts_are_named() -> None:
    """An array stands below the way to its part, its dtype and its shape."""
    V = hb.direct_sum(P**X, R)
    table = V.ones()._repr_html_()
    assert table is not None
    assert re.findall("<p><code>(.*?)</code></p>", table) == [
        "[0].W1: float64[4, 3, 4]",
        "[0].b_1: float64[4, 3]",
        "[1]: float64[]",
    ]
    assert "<td>-2e-05</td>" in str(VECTORS["number"]._repr_html_())
    assert "<td>True</td>" in str((hb.Bool**X).vec([True] * 4)._repr_html_())


def test_names_are_escaped() -> None:
    """Nothing in a name is read as HTML or as a formula."""
    Evil: type[Any] = type("<b>$x$\x1b\\", (), {})
    V = R ** hb.Fin(Evil, 3)
    table = str(V.ones()._repr_html_())
    assert "<b>" not in table
    assert not re.search(r"\$[^<]|\x1b|\\", table)
    tex = str(V._repr_latex_())
    accepted(tex[1:-1])
    assert "\x1b" not in tex


def test_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """To display is no call of a map, and no function is traced."""
    traced = []

    def body(x: Any) -> Any:
        traced.append(x)
        return hb.tanh(x).sum()

    f = hb.fun(R**X)(body)
    monkeypatch.setattr(Map, "__call__", None)
    monkeypatch.setattr(Map, "_ready", None)
    count = len(traced)
    for value in [*ALL.values(), f]:
        forms(value)
    assert len(traced) == count


def test_a_tracer_has_no_numbers() -> None:
    """Inside of jit a vector shows its space and shape."""
    seen = []

    def double(x: Any) -> Any:
        v = (hb.R32**X).vec(x)
        seen.append((str(v._repr_html_()), str(v._repr_latex_())))
        return (2 * v).array

    jax.jit(double)(np.ones(4, np.float32))
    table, tex = seen[0]
    assert "float32[4]" in table
    assert "<td>" not in table
    assert r"\mathbb{R}_{32}" in tex


class Broken(Displayed):
    """Something that cannot be printed."""

    def __str__(self) -> str:
        raise ZeroDivisionError("no text")

    def __repr__(self) -> str:
        return "Broken()"


def test_an_error_hides_nothing() -> None:
    """There is a warning, and the `repr`; each form by itself."""
    with pytest.warns(RuntimeWarning, match="no str of this Broken: ZeroDivisionError: no text"):
        assert forms(Broken(), ["text/plain"]) == {"text/plain": "Broken()"}
    with pytest.warns(RuntimeWarning, match="no HTML of this Broken"):
        assert Broken()._repr_html_() is None
    with pytest.warns(RuntimeWarning, match="no str of this Broken"):
        assert rich(Broken()) == "<Broken Broken()>\n"


def rich(value: object) -> str:
    """What Rich prints."""
    out = io.StringIO()
    Console(file=out, width=120, color_system=None).print(value)
    return out.getvalue()


def test_rich() -> None:
    """The class, and the text."""
    assert rich(hb.grad(quartic)) == f"<Program {hb.grad(quartic)}>\n"
    assert rich([R**X]) == "[<Copower ℝ^Pixel4>]\n"


def test_within_a_list() -> None:
    """IPython prints the texts of objects in lists, lines below each other."""
    data = forms([hb.adjoint(hb.derivative(layer)), R**X])
    first, second, last = data["text/plain"].split("\n")
    assert first.startswith("[⟨")
    assert second.startswith("   where d₁ =")
    assert last == " ℝ^Pixel4]"


def test_repr_and_pickling_stay() -> None:
    """Displaying adds nothing to either."""
    space = R ** hb.Fin.of(2)
    for value in (space, hb.identity(space), space.ones(), hb.cost(hb.identity(space))):
        before, saved = repr(value), pickle.dumps(value)
        forms(value)
        assert (repr(value), pickle.dumps(value)) == (before, saved)
        assert pickle.loads(saved) == value


CELLS = """\
import hilbert.all as hb
f = hb.fun(hb.R, hb.R)(lambda x, y: hb.sin(x) * y); f
hb.derivative(f)
hb.R ** hb.Fin.of(3)
(hb.R ** hb.Fin.of(3)).vec([1.0, 2.0, 3.0])
hb.cost(hb.derivative(f))
hb.structure(hb.identity(hb.R ** hb.Fin.of(3)))
"""
SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(history_length=0)
shell.history_manager.enabled = False
for cell in sys.stdin.read().splitlines():
    shell.run_cell(cell).raise_error()
"""
NOTEBOOK = """
import json, sys
import nbformat
from nbclient import NotebookClient
from nbformat import v4
book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in sys.stdin.read().splitlines()])
NotebookClient(book, timeout=120, kernel_name="python3").execute()
print(json.dumps([[dict(output.data) for output in cell.outputs] for cell in book.cells]))
"""


def ran(script: str, given: str, folder: Path) -> str:
    """What a script of Python prints."""
    env = os.environ | {"IPYTHONDIR": str(folder), "JUPYTER_PLATFORM_DIRS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, input=given, env=env, cwd=folder, capture_output=True, text=True, check=True)  # noqa: S603
    return run.stdout


def test_in_a_shell_of_ipython(tmp_path: Path) -> None:
    """The answer to a line is the text."""
    out = re.sub("\x1b\\[[0-9;]*m", "", ran(SHELL, CELLS, tmp_path))
    assert "(x, y) ↦ (sin x)·y" in out
    assert "[1.0, 2.0, 3.0] ∈ ℝ^3" in out
    assert "identity" in out
    assert "Program(" not in out


def test_in_a_plain_terminal(tmp_path: Path) -> None:
    """Python's own answer is the `repr`, as before; `print` has the text."""
    out = ran("import code; code.interact(banner='')", CELLS + "print(f)\n", tmp_path)
    assert "Program(" in out
    assert "(R ** Fin.of(3)).vec([1.0, 2.0, 3.0])" in out
    assert "(x, y) ↦ (sin x)·y" in out


def test_in_a_notebook(tmp_path: Path) -> None:
    """Formulas, tables and text, as a front end receives them."""
    cells = json.loads(ran(NOTEBOOK, CELLS, tmp_path))
    f, derivative, space, vector, cost, structure = [outputs[0] for outputs in cells[1:]]
    assert f["text/latex"] == r"$\displaystyle (x,y)\mapsto (\operatorname{sin}x)\cdot y$"
    assert "text/html" not in f
    assert "text/latex" in derivative
    assert space == {"text/plain": "ℝ^3", "text/latex": r"$\displaystyle \mathbb{R}^{3}$"}
    assert vector["text/html"].count("<td>") == 3
    assert cost["text/html"].startswith("<pre>apply")
    assert structure == {"text/plain": "identity", "text/html": "<pre>identity</pre>"}


def test_larger_vectors_by_parts() -> None:
    """A record of 177 numbers shows its scalars with six digits, and the shapes of its longer arrays."""

    class County(hb.Axis): ...

    class Radon(hb.Record):
        mu: hb.Part[hb.Scalar]
        slope: hb.Part[hb.Vector[County]]
        few: hb.Part[hb.Scalar]

    P = Radon.space(County=175)
    v = P.vec((1 / 3, [0.0] * 175, 2.0))
    assert str(v) == f"(mu: 0.333333, slope: float64[175], few: 2.0) ∈ {P}"
    assert str((R ** hb.Fin.of(100)).zeros()) == "float64[100] ∈ ℝ^100"


def test_definitions_of_a_body_in_tex() -> None:
    """A definition below another one is a definition, too, moved to the right."""
    f = hb.fun(R)(lambda s: hb.iterate(lambda x: x + hb.tanh(hb.sin(hb.cos(x * s + x) * x) + s), s, hb.Fin.of(3)))
    assert str(f).count("    where u₁") == 1
    tex = str(f._repr_latex_())
    assert r"\\\quad \text{where }u_{1}&=" in tex
