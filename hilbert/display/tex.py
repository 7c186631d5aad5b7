r"""Printed text as TeX, for MathJax and KaTeX: word by word and sign by sign, each in one table or rule here.

>>> print(line("(W, x) ↦ tanh(W₁⋆x + b)^Pixel4"))
(W,x)\mapsto \mathrm{tanh}(W_{1}\star x+b)^{\mathrm{Pixel4}}

What no rule knows is written as plain text. A name cannot do more than be read: no character of it is TeX's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SIGNS = {
    "↦": r"\mapsto ", "→": r"\to ", "⊸": r"\multimap ", "↔": r"\leftrightarrow ", "↪": r"\hookrightarrow ",
    "•": r"\bullet ", "∘": r"\circ ", "·": r"\cdot ", "⋆": r"\star ", "∗": r"\ast ", "⊙": r"\odot ", "×": r"\times ",
    "⋄": r"\diamond ", "∇": r"\nabla ", "∂": r"\partial ", "∫": r"\int ", "∞": r"\infty ", "√": r"\surd ",
    "−": "-", "-": "-", "⊕": r"\oplus ", "⊗": r"\otimes ",
    "∈": r"\in ", "∉": r"\notin ", "⊆": r"\subseteq ", "∅": r"\emptyset ", "∀": r"\forall ", "≅": r"\cong ",
    "<": r"\lt ", ">": r"\gt ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "≈": r"\approx ",
    "¬": r"\lnot ", "∧": r"\land ", "∨": r"\lor ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "⟦": r"[\![", "⟧": r"]\!]", "‖": r"\|",
    "⟪": r"\langle\!\langle ", "⟫": r"\rangle\!\rangle ",
    "{": r"\{", "}": r"\}", "…": r"\ldots ", "'": "'", "*": r"{*}", "_": r"\_", "\\": r"\backslash ",
    "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "~": r"\sim ", "^": r"\wedge ",
} | {sign: sign for sign in "()[],+/=!@;|."}  # fmt: skip
"""Signs of the printed language; then those that TeX would take for its own."""
LETTERS = {
    "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "𝟏": r"\mathbf{1}", "𝐧": r"\mathbf{n}",
} | {
    letter: rf"\{name} "
    for letter, name in zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", [
        "alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
        "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "varphi", "chi", "psi", "omega",
        "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
    ], strict=True)
}  # fmt: skip
"""Letters that have a sign of their own."""
DIGITS = str.maketrans("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "01234567890123456789-+")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺"
TOKENS = re.compile(
    rf"""(?P<space>\s+)
    | (?P<number>\d+(?:\.(?!\.)\d*)?(?:e[+−-]?\d+)?(?![^\W_]))
    | (?P<word>[^\W\d{_RAISED}ᵀ_][^\W₀-₉{_RAISED}ᵀ]*[\u0300-\u036f]* | 𝟏)(?P<low>[₀-₉]*)
    | (?P<high>ᵀ | [{_RAISED}]+)
    | (?P<primes>[′'](?=[^\w]|$)[′']*)
    | (?P<raised>\^(?:\{{|−?[\w.]+))
    | (?P<lowered>(?<=[\w\])}}*])_(?:\{{|[^\W_]\w*))
    | (?P<sign>.[\u0300-\u036f]*)""",
    re.VERBOSE,
)
INDEXED = re.compile(
    r"(π|ι|Σ|rep|(?:log_)?softmax|arg(?:max|min|sort)|logsumexp|sum|mean|max|min|prod|norm|var|std|any|all|scan\*?)_(\w*)"
)
"""Words of the printed language that a subscript follows; in other words an underscore is a letter."""
OPERAND = re.compile(r" [\w(⟨\[|‖√¬]")
DEFINITION = re.compile(r"  ( *)where (.*?) (=|∈|⊆|:) (.*)")


def formula(lines: Iterable[str], rest: str = "") -> str:
    """The lines of a printed term, definitions aligned at their signs, and a last line as plain text."""
    rows: list[str] = []
    defined: list[str] = []
    writer = _Line()
    for text in lines:
        if found := DEFINITION.fullmatch(text):
            deeper, name, sign, what = found.groups()  # what stands below the line of a body is in its scope
            head = writer.written(name)
            indent, meaning = r"\quad " * (len(deeper) // 2), SIGNS.get(sign, sign) + writer.written(what)
            defined.append(rf"{indent}\text{{where }}{head}&{meaning}")
        elif defined:
            defined.append(rf"&\quad {writer.written(text.strip())}")
        else:
            indent = r"\quad " if text.startswith(" ") else ""
            rows.append(f"&{indent}{writer.written(text.strip())}")
    if defined:
        rows.append(r"&\begin{aligned}" + r"\\".join(defined) + r"\end{aligned}")
    if rest:
        rows.append(f"&{plain(rest)}")
    if len(rows) == 1 and not defined:
        return rows[0][1:]
    return r"\begin{aligned}" + r"\\".join(rows) + r"\end{aligned}"


def line(text: str) -> str:
    """One line of a printed term."""
    return _Line().written(text)


def plain(text: str) -> str:
    r"""Words as they are: \text{…}, with the characters that TeX has a use for between."""
    pieces = re.split(r"([\\{}$&#%_^~<>])", text)
    return "".join(SIGNS[piece] if k % 2 else rf"\text{{{piece}}}" for k, piece in enumerate(pieces) if piece)


def word(text: str) -> str:
    """A name of several letters, upright."""
    letters = [LETTERS.get(c, r"\_" if c == "_" else c) for c in text]
    is_known = all(c.isascii() or c in LETTERS for c in text)
    return rf"\mathrm{{{''.join(letters)}}}" if is_known else plain(text)


class _Line:
    """The TeX of lines of one text: a group that is open at the end of one is open at the beginning of the next."""

    def __init__(self) -> None:
        self.groups: list[str] = []  # that are open: ^ or _ for a script, nothing for braces that are printed
        self.scripts: set[str] = set()  # those that the last symbol has
        self.applied = False  # if the last word is an operator, which TeX sets off from its operand

    def written(self, text: str) -> str:
        """The TeX of a line."""
        self.scripts = set()
        opened = "".join(f"{{}}{sign}{{" for sign in self.groups if sign)
        body = "".join(self._token(found) for found in TOKENS.finditer(text))
        return opened + body + "}" * sum(map(bool, self.groups))

    def _script(self, sign: str, text: str) -> str:
        """A script, or its opening brace; TeX has no two of a kind on one symbol."""
        before = "{}" if sign in self.scripts else ""
        self.scripts = {sign} if before else self.scripts | {sign}
        return f"{before}{sign}{text}"

    def _token(self, found: re.Match[str]) -> str:
        text, rest = found[0], found.string[found.end() :]
        if found.lastgroup != "space":
            self.applied = False
        match found.lastgroup:
            case "word" | "low":
                return self._word(found["word"], found["low"], rest)
            case "high":
                return self._script("^", r"{\mathsf{T}}" if text == "ᵀ" else f"{{{text.translate(DIGITS)}}}")
            case "primes":
                before, self.scripts = "{}" if "^" in self.scripts else "", self.scripts | {"^"}
                return before + "'" * len(text)
            case "raised" | "lowered":
                return self._opened(text[0], text[1:])
            case "space":
                is_apart = re.search(r"[\w\])}′'…ᵀ]$", found.string[: found.start()]) and OPERAND.match(f" {rest}")
                self.scripts, is_applied = set(), self.applied
                return r"\ " if is_apart and not is_applied else ""
            case "number":
                self.scripts = set()
                digits, e, power = text.partition("e")
                return rf"{digits}\cdot 10^{{{int(power.replace('−', '-'))}}}" if e else digits
            case _:  # the last group of TOKENS: a sign
                return self._sign(text, found.string[: found.start()], rest)

    def _word(self, name: str, low: str, rest: str) -> str:
        self.scripts = set()
        index = ""
        if (indexed := INDEXED.fullmatch(name)) and (indexed[2] or rest.startswith("{")):
            name, index = indexed.groups()
        elif name.endswith("_") and rest.startswith("{"):
            name = name[:-1]
        is_applied = OPERAND.match(rest) is not None and not re.match(r" (of|on|from|by|and|for)\b", rest)
        applied = is_applied or re.match(r"'+\(", rest) is not None  # tanh'(x)
        made = LETTERS.get(name, name) if len(name) == 1 else word(name)
        if name == "Σ":
            self.applied = True
            made = r"\sum " if index or applied or indexed else r"\Sigma "
        elif made.startswith(r"\mathrm") and applied:
            self.applied = True
            made = r"\operatorname" + made.removeprefix(r"\mathrm")
        elif len(name) == 1 and not name.isascii() and name not in LETTERS:
            made = plain(name)
        if index:
            return made + self._opened("_", index + low)
        return made + (self._script("_", f"{{{low.translate(DIGITS)}}}") if low else "")

    def _opened(self, sign: str, text: str) -> str:
        """A script: the group that begins here, or one word or number."""
        if text == "{":
            self.groups.append(sign)
            return self._script(sign, "{")
        before = self._script(sign, "{")
        inner = _Line().written(text)
        return f"{before}{inner}}}"

    def _sign(self, text: str, before: str, rest: str) -> str:
        self.scripts = set()
        if text == "}" and self.groups:
            sign = self.groups.pop()
            self.scripts = set(sign)
            return "}" if sign else r"\}"
        if text == "{":
            if before.endswith("_"):
                self.groups.append("_")
                return self._script("_", "{")
            self.groups.append("")
        if text == ":":
            return ":" if before.endswith(" ") else r"\colon " if rest.startswith(" ") else "{:}"
        if text == "." and (before.endswith(".") or rest.startswith(".")):
            return "{.}"
        return SIGNS.get(text) or plain(text)
