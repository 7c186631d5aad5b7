"""The numbers of the elementary functions, made with mpmath.

    python -m tests.compiled.make_coefficients

writes `hilbert/compiled/machine/elementary_coefficients.py`. A polynomial is the best one in the sense of Chebyshev,
max |weight·(g − p)| → min, by the second algorithm of Remez on a grid; its coefficients are rounded to the type.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from mpmath import matrix, mp, mpf

FILE = Path(__file__).parents[2] / "hilbert" / "compiled" / "machine" / "elementary_coefficients.py"
BITS = {"float64": 53, "float32": 24}
HEAD = '''"""Numbers of the elementary functions; `python -m tests.compiled.make_coefficients` writes them.

Polynomials begin with the highest power.
"""

from __future__ import annotations

from typing import NamedTuple


class Coefficients(NamedTuple):
    """The numbers in the formulas of `elementary.py` that depend on the type."""

    log2_e: float
    """1/ln 2."""
    ln2: tuple[float, float]
    """ln 2 as a sum; n times the first is exact for each exponent n."""
    exp: tuple[float, ...]
    """P in eʳ ≈ 1 + r + r²·P(r), |r| ≤ ½ ln 2."""
    log: tuple[float, ...]
    """L in ln(1 + s) − ln(1 − s) ≈ 2s + s·z·L(z), z = s², √½ ≤ (1 + s)/(1 − s) ≤ √2."""
    sin: tuple[float, ...]
    """S in sin r ≈ r + r·q·S(q), q = r², |r| ≤ π/4."""
    cos: tuple[float, ...]
    """C in cos r ≈ 1 − q/2 + q²·C(q)."""
    two_over_pi: float
    """2/π."""
    half_pi: tuple[float, ...]
    """π/2 as a sum of rounded parts, for multiplications that are not rounded."""
    half_pi_short: tuple[float, ...]
    """π/2 as a sum in float64; n times each part but the last is exact for n < 2¹⁶."""
'''


class Polynomial(NamedTuple):
    """What is approximated: g on an interval, with a weight; how many coefficients it takes in float64 and float32."""

    g: Callable[[Any], Any]
    weight: Callable[[Any], Any]
    interval: Callable[[Any], tuple[Any, Any]]
    counts: dict[str, int]


SLACK = {"float64": 1 + 2.0**-13, "float32": 1 + 2.0**-8}
"""Arguments are reduced by a rounded quotient, so that they pass the ends of the interval by so much."""


def around(half: Any) -> Callable[[Any], tuple[Any, Any]]:
    """[−a, a]."""
    return lambda slack: (-half() * slack, half() * slack)


def squares(end: Any) -> Callable[[Any], tuple[Any, Any]]:
    """[0, a²]."""
    return lambda slack: (mpf(0), (end() * slack) ** 2)


POLYNOMIALS = {
    "exp": Polynomial(
        lambda r: (mp.exp(r) - 1 - r) / r**2,
        lambda r: r**2 * mp.exp(-r),
        around(lambda: mp.log(2) / 2),
        {"float64": 10, "float32": 5},
    ),
    "log": Polynomial(
        lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z,
        lambda z: z / 2,
        squares(lambda: (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)),
        {"float64": 7, "float32": 3},
    ),
    "sin": Polynomial(
        lambda q: (mp.sin(mp.sqrt(q)) / mp.sqrt(q) - 1) / q,
        lambda q: q,
        squares(lambda: mp.pi / 4),
        {"float64": 6, "float32": 3},
    ),
    "cos": Polynomial(
        lambda q: (mp.cos(mp.sqrt(q)) - 1 + q / 2) / q**2,
        lambda q: q**2,
        squares(lambda: mp.pi / 4),
        {"float64": 6, "float32": 3},
    ),
}


def rounded(value: Any, bits: int) -> float:
    """The number of so many bits that is nearest."""
    return float(mp.mpf(value, prec=bits, rounding="n"))


def cut(value: Any, bits: int) -> float:
    """The number of so many bits towards zero."""
    return float(mp.mpf(value, prec=bits, rounding="d"))


def value(coefficients: list[Any], t: Any) -> Any:
    """The polynomial, by Horner's rule."""
    total = mpf(0)
    for c in coefficients:
        total = total * t + c
    return total


def best(p: Polynomial, slack: float, count: int) -> tuple[list[Any], Any]:
    """The coefficients, the highest power first, and the largest weighted error: Remez's exchange of all extrema."""
    a, b = p.interval(slack)
    size = 24 * count
    grid = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (2 * j + 1) / (2 * size)) for j in range(size)]
    values, weights = [p.g(t) for t in grid], [p.weight(t) for t in grid]
    reference = [(2 * i + 1) * size // (2 * count + 2) for i in range(count + 1)]
    while True:
        rows = [
            [grid[j] ** k for k in reversed(range(count))] + [(-1) ** i / weights[j]] for i, j in enumerate(reference)
        ]
        *coefficients, level = mp.lu_solve(matrix(rows), matrix([values[j] for j in reference]))
        errors = [w * (v - value(coefficients, t)) for t, v, w in zip(grid, values, weights, strict=True)]
        found = alternating(errors, count + 1)
        if found == reference or max(map(abs, errors)) < abs(level) * mpf("1.001"):
            return coefficients, abs(level)
        reference = found


def alternating(errors: list[Any], count: int) -> list[int]:
    """The places of the extrema of so many neighbouring runs of one sign."""
    runs: list[int] = []
    for j, e in enumerate(errors):
        if runs and errors[runs[-1]] * e > 0:
            if abs(e) > abs(errors[runs[-1]]):
                runs[-1] = j
        else:
            runs.append(j)
    while len(runs) > count:
        runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
    return runs


def parts(value: Any, bits: list[int], last: int) -> tuple[float, ...]:
    """A number as a sum: parts of so many bits, cut, and the rest, rounded."""
    found = []
    for n in bits:
        found.append(cut(value, n))
        value -= found[-1]
    return (*found, rounded(value, last))


def made(dtype: str) -> dict[str, float | tuple[float, ...]]:
    """The coefficients for a type."""
    bits = BITS[dtype]
    polynomials = {
        name: tuple(rounded(c, bits) for c in best(p, SLACK[dtype], p.counts[dtype])[0])
        for name, p in POLYNOMIALS.items()
    }
    half = mp.pi / 2
    first, second = rounded(half, bits), rounded(half - rounded(half, bits), bits)
    return {
        "log2_e": rounded(1 / mp.log(2), bits),
        "ln2": parts(mp.log(2), [{53: 42, 24: 16}[bits]], bits),
        **polynomials,
        "two_over_pi": rounded(2 / mp.pi, bits),
        "half_pi": (first, second, rounded(half - first - second, bits)),
        "half_pi_short": parts(half, [37] * {53: 3, 24: 1}[bits], 53),
    }


def text() -> str:
    """The module, as the formatter would have it."""
    lines = [HEAD]
    with mp.workprec(400):
        for dtype in BITS:
            lines.append(f"\n{dtype.upper()} = Coefficients(")
            for name, value in made(dtype).items():
                if isinstance(value, float):
                    lines.append(f"    {name}={value!r},")
                    continue
                row = f"    {name}=({', '.join(map(repr, value))}),"
                if len(row) <= 120:
                    lines.append(row)
                else:
                    lines += [f"    {name}=(", *(f"        {v!r}," for v in value), "    ),"]
            lines.append(")")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
